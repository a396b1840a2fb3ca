/* te_tensor.c -- tensors of te as values: A[i, j], A(i, j), A + B, A.op.axis. */
#include "lang/dialect/te.h"

/* A[i] of a tensor of more dims: the indices so far. */
typedef struct TeSlice {
  Value tensor;
  ValueVec indices;
} TeSlice;

static Value te_get_item(Value v, Value index, Span span);

static Value slice_get_item(Value v, Value index, Span span) {
  TeSlice *s = v.object;
  ValueVec all = {0}, more = items_or_one(index);
  for each (Value, x, &s->indices) vec_push(&all, *x);
  for each (Value, x, &more) vec_push(&all, *x);
  return te_get_item(s->tensor, value_tuple(all), span);
}

static void slice_repr(Value v, Str *out) {
  TeSlice *s = v.object;
  str_printf(out, "%s%s", value_repr(s->tensor), value_repr(value_list(s->indices)));
}

static const ValueType type_te_slice = {
    .name = "part of a te.Tensor", .get_item = slice_get_item, .repr = slice_repr};

/* Indices take the dtype of the dims; fewer than there are dims are the start of more. */
static Value te_get_item(Value v, Value index, Span span) {
  Buffer *b = AS(Buffer, te_of(v)->buffer);
  ValueVec given = items_or_one(index), at = {0};
  if (given.len && given.len < b->shape.len)
    return value_of(&type_te_slice, NEW(TeSlice, .tensor = v, .indices = given));
  for each (Value, x, &given) {
    bool scalar = x->type == &type_int || (x->type == &type_node && node_is_expr(x->node));
    Node *i = scalar && at.len < b->shape.len ? to_expr(*x, span) : NULL;
    bool cast = i && dtype_is_int(i->dtype) && i->dtype.lanes == 1;
    Value item = cast ? value_node(expr_cast(b->shape.at[at.len]->dtype, i, span)) : *x;
    vec_push(&at, item);
  }
  return value_get_item(value_node(&b->node), value_tuple(at), span);
}

static Value constant_dims_as_ints(NodeVec shape) {
  ValueVec dims = {0};
  for each (Node *, d, &shape) {
    int64_t n;
    vec_push(&dims, expr_is_const_int(*d, &n) ? value_int(n) : value_node(*d));
  }
  return value_tuple(dims);
}

/* ---- the operation that gives a tensor: A.op.axis ---- */

static Value axes_value(const Stage *s, IterKind kind) {
  ValueVec out = {0};
  for (int i = 0; s && i < s->axes.len; i++)
    if (AS(IterVar, s->axes.at[i])->iter_kind == kind) vec_push(&out, value_node(s->axes.at[i]));
  return value_list(out);
}

/* The tensors that a stage reads, in order. */
typedef struct Reads {
  Map seen;
  ValueVec tensors;
} Reads;
static WalkResult note_read(Walker *w, Node *n) {
  Reads *r = w->context;
  if (!IS(BufferLoad, n)) return WALK_ON;
  Node *buffer = AS(BufferLoad, n)->buffer;
  if (map_has(&r->seen, buffer)) return WALK_ON;
  map_set(&r->seen, buffer, buffer);
  vec_push(&r->tensors, te_value(buffer, te_stage_of(buffer)));
  return WALK_ON;
}
static Value input_tensors(const Stage *s) {
  Reads r = {0};
  Walker w = {.enter = note_read, .context = &r};
  for (int i = 0; s && i < s->bodies.len; i++) walk(&w, s->bodies.at[i]);
  return value_list(r.tensors);
}

static Value op_get_attr(Value v, const char *name, Span span) {
  (void)span;
  TeTensor *t = te_of(v);
  ValueVec bodies = {0};
  if (str_same(name, "name"))
    return value_str(t->stage ? t->stage->name : AS(Buffer, t->buffer)->name);
  if (str_same(name, "axis")) return axes_value(t->stage, ITER_SPATIAL);
  if (str_same(name, "reduce_axis")) return axes_value(t->stage, ITER_REDUCE);
  if (str_same(name, "input_tensors")) return input_tensors(t->stage);
  if (str_same(name, "num_outputs")) return value_int(t->stage ? t->stage->buffers.len : 1);
  if (!str_same(name, "body")) return value_absent();
  for (int i = 0; t->stage && i < t->stage->bodies.len; i++)
    vec_push(&bodies, value_node(t->stage->bodies.at[i]));
  return value_list(bodies);
}
static void op_repr(Value v, Str *out) {
  str_printf(out, "%s(%s)", te_of(v)->stage ? "te.ComputeOp" : "te.PlaceholderOp",
             value_text(op_get_attr(v, "name", (Span){0})));
}
static const ValueType type_te_op = {
    .name = "te.Operation", .repr = op_repr, .get_attr = op_get_attr};

/* ---- tensors ---- */

static int output_number(const TeTensor *t) {
  for (int i = 0; t->stage && i < t->stage->buffers.len; i++)
    if (t->stage->buffers.at[i] == t->buffer) return i;
  return 0;
}

static Value te_get_attr(Value v, const char *name, Span span) {
  Buffer *b = AS(Buffer, te_of(v)->buffer);
  if (str_same(name, "ndim")) return value_int(b->shape.len);
  if (str_same(name, "op")) return value_of(&type_te_op, v.object);
  if (str_same(name, "value_index")) return value_int(output_number(te_of(v)));
  if (te_in_operator() && str_same(name, "shape")) return constant_dims_as_ints(b->shape);
  return value_find_attr(value_node(&b->node), name, span);
}

static void te_repr(Value v, Str *out) {
  Buffer *b = AS(Buffer, te_of(v)->buffer);
  str_printf(out, "te.Tensor(%s, %s)", b->name, dtype_text(b->elem));
}

/* A(i, j) is A[i, j]. */
static Value te_call(Value f, CallArgs *args) {
  if (args->names.len)
    raise("TypeError", args->span, "a tensor of te takes indices, by position only");
  return te_get_item(f, value_tuple(args_copy(args)->positional), args->span);
}

/* A + B, A * 2: what topi computes for it. */
static Value te_operator(AstOp op, Value a, Value b, Span span) {
  static const struct {
    AstOp op;
    const char *name;
  } rows[] = {{AST_ADD, "add"},    {AST_SUB, "subtract"},          {AST_MUL, "multiply"},
              {AST_DIV, "divide"}, {AST_FLOORDIV, "floor_divide"}, {AST_MOD, "floor_mod"},
              {AST_POW, "power"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].op == op) {
      Value f = value_get_attr(topi_namespace(), str_intern(rows[i].name), span);
      return value_call_with(f, 2, (Value[]){a, b}, span);
    }
  return value_absent();
}

static Value te_unary(AstOp op, Value a, Span span) {
  if (op == AST_POS) return a;
  if (op != AST_NEG)
    raise("TypeError", span, "bad operand type for unary %s: 'te.Tensor'", ast_op_text(op));
  return value_call_with(value_get_attr(topi_namespace(), str_intern("negative"), span), 1, &a,
                         span);
}

static bool te_same(Value a, Value b) {
  return b.type == a.type && te_of(a)->buffer == te_of(b)->buffer;
}
static uint64_t te_hash(Value v) { return (uint64_t)(uintptr_t)te_of(v)->buffer >> 4; }

const ValueType type_te = {.name = "te.Tensor",
                           .repr = te_repr,
                           .get_item = te_get_item,
                           .get_attr = te_get_attr,
                           .call = te_call,
                           .binary = te_operator,
                           .unary = te_unary,
                           .equal = te_same,
                           .hash = te_hash};
