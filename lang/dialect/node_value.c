/* node_value.c -- IR nodes as values of the language: operators, attributes and subscripts build
 * IR. */
#include "ir/arith/arith.h"
#include "lang/dialect/node_class.h"

static const struct {
  AstOp op;
  NodeKind scalar;    /* NK_COUNT: by intrinsic */
  const char *intrin; /* of scalars */
  const char *relax;  /* operator on graph values, or NULL */
} operators[] = {
    {AST_ADD, NK_Add, NULL, "add"},
    {AST_SUB, NK_Sub, NULL, "subtract"},
    {AST_MUL, NK_Mul, NULL, "multiply"},
    {AST_DIV, NK_Div, NULL, "divide"},
    {AST_FLOORDIV, NK_FloorDiv, NULL, "floor_divide"},
    {AST_MOD, NK_FloorMod, NULL, "mod"},
    {AST_POW, NK_COUNT, "pow", "power"},
    {AST_SHL, NK_COUNT, "shift_left", NULL},
    {AST_SHR, NK_COUNT, "shift_right", NULL},
    {AST_BITAND, NK_COUNT, "bitwise_and", NULL},
    {AST_BITOR, NK_COUNT, "bitwise_or", NULL},
    {AST_BITXOR, NK_COUNT, "bitwise_xor", NULL},
    {AST_EQ, NK_EQ, NULL, NULL},
    {AST_NE, NK_NE, NULL, NULL},
    {AST_LT, NK_LT, NULL, "less"},
    {AST_LE, NK_LE, NULL, "less_equal"},
    {AST_GT, NK_GT, NULL, "greater"},
    {AST_GE, NK_GE, NULL, "greater_equal"},
};
enum { OPERATORS = sizeof operators / sizeof *operators };

static int find_operator(AstOp op) {
  for (int i = 0; i < OPERATORS; i++)
    if (operators[i].op == op) return i;
  return -1;
}

static bool is_relax_value(Value v) { return v.type == &type_node && node_is_relax(v.node); }

static Value call_op_by_name(const char *name, int n, const Value *operands, Span span) {
  return value_call_with(op_value(name), n, operands, span);
}

/* The scalar that a graph value is, as an expression; other values as they are. */
static Value as_scalar(Value v) {
  if (value_is_node(v, NK_PrimValue)) return value_node(AS(PrimValue, v.node)->value);
  Node *scalar = value_is_node(v, NK_RelaxVar) ? graph_scalar(v.node) : NULL;
  return scalar ? value_node(scalar) : v;
}

/* A number beside a scalar whose value is not known takes its dtype. */
static Value beside_scalar(Value number, Value other, Span span) {
  Node *info = is_relax_value(other) ? sinfo_of(other.node) : NULL;
  bool is_number = number.type == &type_int || number.type == &type_float;
  if (!is_number || !IS(PrimStructInfo, info)) return number;
  Node *x = expr_cast(AS(PrimStructInfo, info)->elem, to_expr(number, span), span);
  return value_node(to_relax(value_node(x), span));
}

/* The fields of a graph value of tuple type. */
static NodeVec tuple_fields(Value v, Span span) {
  Node *n = to_relax(v, span);
  if (IS(Tuple, n)) return AS(Tuple, n)->fields;
  NodeVec out = {0};
  for (int i = 0; i < AS(TupleStructInfo, sinfo_of(n))->fields.len; i++)
    vec_push(&out, value_get_item(value_node(n), value_int(i), span).node);
  return out;
}

static bool is_tuple_value(Value v) {
  if (v.type == &type_tuple || v.type == &type_list) return true;
  return is_relax_value(v) && IS(TupleStructInfo, sinfo_of(v.node));
}

static Value joined_tuples(Value a, Value b, Span span) {
  NodeVec fields = tuple_fields(a, span), more = tuple_fields(b, span);
  for each (Node *, f, &more) vec_push(&fields, *f);
  return value_node(to_relax(value_node(MAKE(Tuple, span, VOID_TYPE, .fields = fields)), span));
}

static Value relax_operator(int row, Value a, Value b, Span span) {
  const char *name = operators[row].relax;
  AstOp op = operators[row].op;
  if (!name)
    raise("TypeError", span, "'%s' has no meaning on tensors%s", ast_op_text(op),
          op == AST_EQ || op == AST_NE ? "; write R.equal or R.not_equal" : "");
  Value operands[] = {beside_scalar(a, b, span), beside_scalar(b, a, span)};
  for (int i = 0; i < 2; i++)
    if (!is_relax_value(operands[i]))
      raise("TypeError", span,
            "'%s' on tensors needs two graph expressions, but the %s one is %s; write "
            "R.const(value, dtype)",
            ast_op_text(op), i ? "right" : "left", value_type_name(operands[i]));
  return call_op_by_name(name, 2, operands, span);
}

static Node *scalar_operator(int row, Node *a, Node *b, Span span) {
  if (operators[row].scalar != NK_COUNT) return expr_binary(operators[row].scalar, a, b, span);
  const char *name = operators[row].intrin;
  bool bools = dtype_is_bool(a->dtype) && dtype_is_bool(b->dtype);
  if (bools && operators[row].op == AST_BITAND) return expr_binary(NK_And, a, b, span);
  if (bools && operators[row].op == AST_BITOR) return expr_binary(NK_Or, a, b, span);
  /* The intrinsics take operands of one dtype: an immediate adapts to the other side. */
  if (IS(IntImm, b) && !dtype_equal(a->dtype, b->dtype)) b = expr_cast(a->dtype, b, span);
  else if (IS(IntImm, a) && !dtype_equal(a->dtype, b->dtype)) a = expr_cast(b->dtype, a, span);
  return expr_call(name, a->dtype, NODES(a, b), span);
}

bool value_is_rewriter(Value v) {
  return value_is_node(v, NK_IRModule) && dict_get(AS(IRModule, v.node)->attrs, "relax.rewriter");
}

/* An R.rewriter as the object of tvm.relax.dpl. */
Value rewriter_object(Value rewriter, Span span) {
  Value class = library_attr("tvm.relax.dpl", "PatternMatchingRewriter");
  return value_call_with(value_get_attr(class, str_intern("from_module"), span), 1, &rewriter,
                         span);
}

/* Both operands of an operator, one of which is a node. */
static Value node_operator(AstOp op, Value a, Value b, Span span) {
  if (op == AST_BITOR && value_is_rewriter(a))
    return value_binary(op, rewriter_object(a, span), b, span);
  int row = find_operator(op);
  if (value_is_node(a, NK_Layout) || value_is_node(b, NK_Layout))
    return layout_operator(op, a, b, span);
  if (value_is_none(b) && op == AST_BITOR && tensor) /* T.Buffer(...) | None */
    return map_set(&tensor->optionals, a.node, a.node), a;
  if (row < 0) return value_absent();
  if (op == AST_ADD && is_tuple_value(a) && is_tuple_value(b)) return joined_tuples(a, b, span);
  Value x_scalar = as_scalar(a), y_scalar = as_scalar(b);
  if (!is_relax_value(x_scalar) && !is_relax_value(y_scalar)) a = x_scalar, b = y_scalar;
  if (is_relax_value(a) || is_relax_value(b)) return relax_operator(row, a, b, span);
  NodeVec x = to_operands(2, (Value[]){a, b}, span);
  Node *n = scalar_operator(row, x.at[0], x.at[1], span);
  bool bits =
      IS(Call, n) && IS(IntImm, x.at[0]) && IS(IntImm, x.at[1]); /* of constants: computed */
  return value_node(bits ? arith_simplify(arith_new(), n) : n);
}

static bool node_is_expr_value(Value v) {
  if (v.type != &type_node) return false;
  bool stands_for_one = IS(BufferRegion, v.node) ||
                        (IS(Buffer, v.node) && tensor && map_has(&tensor->scalars, v.node));
  return node_is_expr(v.node) || IS(IterVar, v.node) || (tensor && stands_for_one);
}
static bool is_struct_info_value(Value v) { return v.type == &type_node && node_is_sinfo(v.node); }

static Value node_compare(AstOp op, Value a, Value b, Span span) {
  bool shapes = value_is_node(a, NK_ShapeExpr) || value_is_node(b, NK_ShapeExpr);
  if (shapes && (op == AST_EQ || op == AST_NE))
    return value_bool(value_equal(a, b) == (op == AST_EQ));
  bool graph_value = is_relax_value(a) || is_relax_value(b);
  bool other = !graph_value && !(node_is_expr_value(a) || node_is_expr_value(b));
  bool not_scalar = is_struct_info_value(a) || other || (graph_value && !graph) ||
                    value_is_none(b) || value_is_none(a) || b.type == &type_str ||
                    a.type == &type_str;
  if (not_scalar && (op == AST_EQ || op == AST_NE))
    return value_bool(value_equal(a, b) == (op == AST_EQ));
  return node_operator(op, a, b, span);
}

static Node *without_cast(Node *n) { return IS(Cast, n) ? AS(Cast, n)->value : n; }

/* Is `a == b` of two variables: one and the same? */
static bool compares_vars(Node *n, bool *same) {
  if (!IS(EQ, n) && !IS(NE, n)) return false;
  Node *a = IS(EQ, n) ? AS(EQ, n)->a : AS(NE, n)->a, *b = IS(EQ, n) ? AS(EQ, n)->b : AS(NE, n)->b;
  *same = (a == b) == IS(EQ, n);
  if (a == b) return true;
  Node *x = without_cast(a), *y = without_cast(b); /* of two widths */
  return IS(Var, x) && IS(Var, y) && x != y;
}

static bool is_unknown(Node *n) {
  return node_is_expr(n) || (graph && node_is_relax(n) && !IS(Function, n));
}

/* Outside of programs, what is known now is decided now. */
static bool decided(Value v, bool *truth) {
  int64_t value;
  if (tensor || v.type != &type_node) return false;
  if (compares_vars(v.node, truth)) return true;
  *truth = !expr_is_const_int(v.node, &value) || value != 0;
  return !is_unknown(v.node) || expr_is_const_int(v.node, &value);
}

static Value node_unary(AstOp op, Value a, Span span) {
  bool truth;
  if (op == AST_NOT && decided(a, &truth)) return value_bool(!truth);
  if (is_relax_value(a)) {
    if (op == AST_NEG) return call_op_by_name("negative", 1, &a, span);
    raise("TypeError", span, "unary '%s' has no meaning on tensors", ast_op_text(op));
  }
  Node *x = to_expr(a, span);
  switch (op) {
  case AST_NEG: return value_node(expr_neg(x, span));
  case AST_POS: return a;
  case AST_NOT: return value_node(expr_not(x, span));
  default: return value_node(expr_call("bitwise_not", x->dtype, NODES(x), span));
  }
}

static Value node_logical(AstOp op, Value a, Value b, Span span) {
  bool truth;
  if (decided(a, &truth)) return truth == (op == AST_AND) ? b : a;
  NodeKind kind = op == AST_AND ? NK_And : NK_Or;
  return value_node(expr_binary(kind, to_expr(a, span), to_expr(b, span), span));
}

/* `a if c else b` of a program: known when it is read, or chosen when it runs. */
static Value node_select(Value c, Value a, Value b, Span span) {
  int64_t known;
  if (!tensor || expr_is_const_int(c.node, &known)) return value_absent();
  Value args[] = {c, a, b};
  return value_call_with(value_get_attr(tensor_namespace(), str_intern("if_then_else"), span), 3,
                         args, span);
}

static bool node_truth(Value v, Span span) {
  int64_t value;
  bool same;
  if (compares_vars(v.node, &same)) return same;
  if (expr_is_const_int(v.node, &value)) return value != 0;
  if (is_unknown(v.node))
    raise("TypeError", span, "the truth of '%s' is not known before the program runs",
          ir_print(v.node, NULL));
  return true;
}

static void node_repr(Value v, Str *out) { str_add(out, ir_print(v.node, NULL)); }

/* A shape is equal to a sequence of its dims, too. */
static bool shape_same(NodeVec dims, const ValueVec *items) {
  if (dims.len != items->len) return false;
  for (int i = 0; i < dims.len; i++) {
    int64_t dim;
    bool is_const = expr_is_const_int(dims.at[i], &dim);
    bool same = is_const && items->at[i].type == &type_int
                    ? items->at[i].integer == dim
                    : value_equal(value_node(dims.at[i]), items->at[i]);
    if (!same) return false;
  }
  return true;
}

static bool node_same(Value a, Value b) {
  if (b.type == &type_tuple || b.type == &type_list)
    return IS(ShapeExpr, a.node) && shape_same(AS(ShapeExpr, a.node)->values, value_items(b));
  return a.node == b.node || (a.type == b.type && node_equal(a.node, b.node, false, NULL));
}

/* Constants are equal by what they are. */
static uint64_t node_value_hash(Value v) {
  if (IS(IntImm, v.node) || IS(FloatImm, v.node) || IS(StringImm, v.node))
    return value_hash(from_attr(v.node), v.node->span);
  return (uint64_t)(uintptr_t)v.node * 0x9e3779b97f4a7c15u;
}

/* ---- subscripts ---- */

/* A slice of an axis as a Range; open ends are 0 and the extent. */
static Node *slice_range(SliceObject *s, Node *extent, Span span) {
  Node *zero = int_imm(extent->dtype, 0, span);
  Node *lo = value_is_none(s->start) ? zero : to_expr(s->start, span);
  Node *hi = value_is_none(s->stop) ? extent : to_expr(s->stop, span);
  return range_between(lo, hi, span);
}

static Node *vector_index(Node *base, int lanes, Span span) {
  return MAKE(Ramp, span, dtype_with_lanes(base->dtype, lanes), .base = base,
              .stride = int_imm(base->dtype, 1, span), .lanes = lanes);
}

/* lo:hi:step of one axis as a vector index. */
static Node *slice_ramp(SliceObject *s, Node *extent, Span span) {
  Range *r = AS(Range, slice_range(s, extent, span));
  int64_t step = value_as_int(s->step, "the step of a slice", span), n;
  if (!expr_is_const_int(r->extent, &n) && step == 1)
    return vector_index(r->min, lanes_of_value(value_node(r->extent), span), span);
  if (!expr_is_const_int(r->extent, &n) || n <= 0 || step <= 0 || (n + step - 1) / step > INT16_MAX)
    raise("TypeError", span,
          "a slice used as a vector needs a constant, positive number of elements");
  int lanes = (int)((n + step - 1) / step);
  if (lanes == 1) return r->min;
  return MAKE(Ramp, span, dtype_with_lanes(r->min->dtype, lanes), .base = r->min,
              .stride = int_imm(r->min->dtype, step, span), .lanes = lanes);
}

static void check_rank(Buffer *b, int given, Span span) {
  if (given == b->shape.len) return;
  raise_code(E0312, span, "buffer '%s' has %d dimension%s, but %d %s given", b->name ? b->name : "",
             b->shape.len, b->shape.len == 1 ? "" : "s", given,
             given == 1 ? "index is" : "indices are");
}

/* In today's dialect, fewer indices than dimensions are a region over the rest. */
static void take_whole_axes(Buffer *b, ValueVec *items) {
  static SliceObject whole = {
      .start = {.type = &type_none}, .stop = {.type = &type_none}, .step = {.type = &type_none}};
  if (!tensor || !tensor->is_today || !items->len) return;
  ValueVec all = {0};
  for each (Value, v, items) vec_push(&all, *v);
  while (all.len < b->shape.len) vec_push(&all, value_of(&type_slice, &whole));
  *items = all;
}

/* A[i, j]: a load; with slices a region, or with a step a vector load. */
static Value buffer_item(Node *buffer, Value index, Span span) {
  Buffer *b = AS(Buffer, buffer);
  ValueVec items = {0};
  if (index.type == &type_tuple || index.type == &type_list) items = *value_items(index);
  else vec_push(&items, index);
  if (items.len < b->shape.len) take_whole_axes(b, &items);
  check_rank(b, items.len, span);
  bool region = false;
  for each (Value, v, &items)
    region |= v->type == &type_slice && value_is_none(((SliceObject *)v->object)->step);
  NodeVec out = {0};
  for (int i = 0; i < items.len; i++) {
    Value v = items.at[i];
    SliceObject *slice = v.type == &type_slice ? v.object : NULL;
    Node *x;
    if (region && slice) x = slice_range(slice, b->shape.at[i], span);
    else if (region) {
      Node *at = to_expr(v, span);
      x = MAKE(Range, span, VOID_TYPE, .min = at, .extent = int_imm(at->dtype, 1, span));
    } else x = slice ? slice_ramp(slice, b->shape.at[i], span) : to_expr(v, span);
    vec_push(&out, x);
  }
  if (region)
    return value_node(MAKE(BufferRegion, span, VOID_TYPE, .buffer = buffer, .region = out));
  return value_node(expr_load(buffer, out, span));
}

static Value tuple_item(Node *tuple, Value index, Span span) {
  int64_t i = value_as_int(index, "the index of a tuple", span);
  TupleStructInfo *info =
      IS(TupleStructInfo, sinfo_of(tuple)) ? AS(TupleStructInfo, sinfo_of(tuple)) : NULL;
  if (info && i < 0) i += info->fields.len;
  if (i < 0 || (info && i >= info->fields.len))
    raise_code(E0408, span, "index %ld is out of range for a tuple of %d", (long)i,
               info ? info->fields.len : 0);
  if (IS(Tuple, tuple)) return value_node(AS(Tuple, tuple)->fields.at[i]);
  Node *field = info ? info->fields.at[i] : sinfo_object();
  return value_node(
      MAKE(TupleGetItem, span, VOID_TYPE, .sinfo = field, .tuple = tuple, .index = (int)i));
}

static const char *function_name(Value index, Span span) {
  if (value_is_node(index, NK_GlobalVar)) return AS(GlobalVar, index.node)->name;
  return value_as_text(index, "the name of a function", span);
}

/* Nodes that are sequences of their parts. */
static const NodeVec *parts_of(const Node *n) {
  if (IS(ShapeExpr, n)) return &AS(ShapeExpr, n)->values;
  return IS(SeqStmt, n) ? &AS(SeqStmt, n)->stmts : NULL;
}

static Value part_of(Value v, const NodeVec *parts, Value index, Span span) {
  if (index.type == &type_slice)
    return value_get_item(value_tuple(value_to_vec(v, span)), index, span);
  int64_t i = value_as_int(index, "the index of a part", span);
  if (i < 0) i += parts->len;
  if (i < 0 || i >= parts->len)
    raise("IndexError", span, "a %s of %d parts has no index %ld", node_kind_name(v.node->kind),
          parts->len, (long)i);
  return value_node(parts->at[i]);
}

static Value node_get_item(Value v, Value index, Span span) {
  Node *n = v.node;
  if (IS(Buffer, n)) return buffer_item(n, index, span);
  const NodeVec *parts = parts_of(n);
  if (parts) return part_of(v, parts, index, span);
  if (IS(Array, n) || IS(Dict, n)) return value_get_item(from_attr(n), index, span);
  if (node_is_relax(n)) return tuple_item(n, index, span);
  if (IS(IRModule, n)) {
    const char *name = function_name(index, span);
    Node *f = module_find(n, name);
    NodeVec all = AS(IRModule, n)->functions;
    if (!f && all.len == 1 && str_same(name, "main")) f = all.at[0]; /* as of a Schedule of it */
    if (f) return value_node(f);
    raise("KeyError", span, "the module has no function '%s'", name);
  }
  raise("TypeError", span, "a value of kind %s has no items", node_kind_name(n->kind));
}

/* Is `x` the name of a function of a module, an item of a tuple or array, a key of a dict? */
static bool node_contains(Value v, Value x, Span span) {
  if (IS(IRModule, v.node)) return module_find(v.node, function_name(x, span)) != NULL;
  return value_contains(from_attr(v.node), x, span);
}

static void node_del_item(Value v, Value index, Span span) {
  if (!IS(IRModule, v.node)) raise("TypeError", span, "a node can't be changed");
  module_remove(v.node, function_name(index, span), span);
}

static void node_set_item(Value v, Value index, Value x, Span span) {
  if (IS(IRModule, v.node)) {
    const char *name = str_intern(function_name(index, span));
    bool is_function = x.type == &type_node &&
                       (IS(PrimFunc, x.node) || IS(Function, x.node) || IS(ExternFunc, x.node));
    if (!is_function)
      raise("TypeError", span, "a module holds functions of IR, found %s", value_type_name(x));
    bool named = value_is_node(index, NK_GlobalVar);
    return module_set(v.node, named ? index.node : global_for(name, x.node), x.node);
  }
  raise("TypeError", span,
        IS(Buffer, v.node) ? "a store to a buffer stands only inside a prim_func"
                           : "a node can't be changed (found %s)",
        node_kind_name(v.node->kind));
}

static int64_t node_length(Value v, Span span) {
  Node *n = v.node;
  if (IS(Array, n)) return AS(Array, n)->items.len;
  const NodeVec *parts = parts_of(n);
  if (parts) return parts->len;
  if (IS(Tuple, n)) return AS(Tuple, n)->fields.len;
  if (node_is_relax(n) && IS(TupleStructInfo, sinfo_of(n)))
    return AS(TupleStructInfo, sinfo_of(n))->fields.len;
  raise("TypeError", span, "a value of kind %s has no length", node_kind_name(n->kind));
}

static Value node_iter(Value v, Span span) {
  int64_t n = node_length(v, span);
  ValueVec items = {0};
  for (int64_t i = 0; i < n; i++) vec_push(&items, node_get_item(v, value_int(i), span));
  return value_iter(value_list(items), span);
}

/* What a tensor program returns, as far as its declaration tells. */
static DataType call_dtype(Node *callee) {
  Node *info = sinfo_of(callee),
       *ret = IS(FuncStructInfo, info) ? AS(FuncStructInfo, info)->ret : NULL;
  return IS(PrimStructInfo, ret) ? AS(PrimStructInfo, ret)->elem : VOID_TYPE;
}

/* An R.rewriter called with what it is to rewrite. */
static Value apply_rewriter(Value rewriter, CallArgs *args) {
  Value apply = value_get_attr(pattern_namespace(), str_intern("apply_rewriter"), args->span);
  if (args->positional.len != 1 || args->named.len)
    raise("TypeError", args->span, "a rewriter takes one module or function");
  Value both[] = {rewriter, args->positional.at[0]};
  return value_call_with(apply, 2, both, args->span);
}

/* f(x) of a module function or a function value. */
static Value node_call(Value f, CallArgs *args) {
  Node *n = f.node;
  if (value_is_rewriter(f)) return apply_rewriter(f, args);
  if (IS(Var, n) || IS(Buffer, n) || !node_is_relax(n))
    raise("TypeError", args->span, "'%s' can't be called", ir_print(n, NULL));
  if (args->named.len)
    raise("TypeError", args->span, "a call of a function takes arguments by position only");
  NodeVec operands = {0};
  if (tensor) {
    for each (Value, a, &args->positional) vec_push(&operands, to_expr(*a, args->span));
    return value_node(MAKE(Call, args->span, call_dtype(n), .op = n, .args = operands));
  }
  for each (Value, a, &args->positional) vec_push(&operands, to_relax(*a, args->span));
  return value_node(relax_call(n, operands, NULL, (NodeVec){0}, args->span));
}

static Value class_of_node(Value v) { return node_class_of(v.node); }

Value node_get_attr(Value v, const char *name, Span span); /* node_attr.c */
void node_attr_names(Value v, StrVec *out);

const ValueType type_node = {
    .name = "node",
    .truth = node_truth,
    .repr = node_repr,
    .class_of = class_of_node,
    .get_attr = node_get_attr,
    .attr_names = node_attr_names,
    .get_item = node_get_item,
    .set_item = node_set_item,
    .del_item = node_del_item,
    .contains = node_contains,
    .call = node_call,
    .binary = node_operator,
    .compare = node_compare,
    .unary = node_unary,
    .logical = node_logical,
    .select = node_select,
    .length = node_length,
    .iter = node_iter,
    .equal = node_same,
    .hash = node_value_hash,
};

/* ---- poison ---- */

static _Noreturn void poisoned(Span span) { raise(ERROR_POISONED, span, "an earlier error"); }
static bool poison_truth(Value v, Span span) {
  (void)v;
  poisoned(span);
}
static Value poison_attr(Value v, const char *name, Span span) {
  (void)v, (void)name;
  poisoned(span);
}
static Value poison_item(Value v, Value index, Span span) {
  (void)v, (void)index;
  poisoned(span);
}
static void poison_set_item(Value v, Value index, Value x, Span span) {
  (void)v, (void)index, (void)x;
  poisoned(span);
}
static Value poison_call(Value f, CallArgs *args) {
  (void)f;
  poisoned(args->span);
}
static Value poison_operator(AstOp op, Value a, Value b, Span span) {
  (void)op, (void)a, (void)b;
  poisoned(span);
}
static Value poison_unary(AstOp op, Value a, Span span) {
  (void)op, (void)a;
  poisoned(span);
}
static Value poison_iter(Value v, Span span) {
  (void)v;
  poisoned(span);
}
static int64_t poison_length(Value v, Span span) {
  (void)v;
  poisoned(span);
}

const ValueType type_poison = {
    .name = "name whose definition failed",
    .truth = poison_truth,
    .get_attr = poison_attr,
    .get_item = poison_item,
    .set_item = poison_set_item,
    .call = poison_call,
    .binary = poison_operator,
    .compare = poison_operator,
    .unary = poison_unary,
    .logical = poison_operator,
    .iter = poison_iter,
    .length = poison_length,
};
