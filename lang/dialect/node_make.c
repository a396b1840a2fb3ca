/* node_make.c -- what makes nodes from script whose dtype or struct info follows from their parts:
 * tir.Var("n", "int64"), relax.Call(op, args), relax.Function(params, body). */
#include "lang/dialect/graph_stmt.h"
#include "lang/dialect/node_class.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

static Node *need(Value v, NodeKind kind, const char *what, Span span) {
  if (value_is_node(v, kind)) return v.node;
  if (v.type == &type_poison) raise(ERROR_POISONED, span, "an earlier error");
  raise("TypeError", span, "%s must be a %s, found %s", what, node_kind_name(kind),
        value_type_name(v));
}

static NodeVec need_all(Value v, NodeKind kind, const char *what, Span span) {
  NodeVec out = {0};
  ValueVec items = value_to_vec(v, span);
  for each (Value, x, &items) vec_push(&out, need(*x, kind, what, span));
  return out;
}

static Node *attrs_arg(Value v, Span span) {
  return value_is_none(v) ? NULL : dict_from_value(v, span);
}

/* ---- tensor programs ---- */

/* type: a dtype, or a tvm.ir.PointerType. */
static Node *var_of_type(const char *name, Value type, Span span) {
  Value elem = value_find_attr(type, str_intern("element_type"), span);
  if (!elem.type) return var_new(name, to_dtype(type, span), span);
  Value scope = value_get_attr(type, str_intern("storage_scope"), span);
  return pointer_var_new(name, to_dtype(elem, span),
                         str_intern(value_as_text(scope, "storage_scope", span)), span);
}

static Value new_var(BuiltinCall *call, bool is_size) {
  const char *name = value_as_text(ARG(0), "the name of a variable", SPAN(0));
  Node *n = var_of_type(str_intern(name), ARG(1), SPAN(1));
  AS(Var, n)->is_size = is_size;
  return value_node(n);
}
Value tir_var(BuiltinCall *call) { return new_var(call, false); }
Value tir_size_var(BuiltinCall *call) { return new_var(call, true); }

/* tir.IterVar((0, n), "i", tir.IterVar.DataPar): a Range, or where it begins and ends; a variable,
 * or the name of a new one. */
Value tir_iter_var(BuiltinCall *call) {
  bool ends = ARG(0).type == &type_tuple || ARG(0).type == &type_list;
  NodeVec pair = ends ? to_exprs(ARG(0), SPAN(0)) : (NodeVec){0};
  if (ends && pair.len != 2)
    raise("ValueError", SPAN(0), "a domain begins and ends: 2 values are needed, not %d", pair.len);
  Node *dom = ends                    ? range_between(pair.at[0], pair.at[1], SPAN(0))
              : value_is_none(ARG(0)) ? NULL
                                      : need(ARG(0), NK_Range, "'dom' of IterVar", SPAN(0));
  DataType t = dom ? AS(Range, dom)->extent->dtype : INT32;
  Node *var = ARG(1).type == &type_str ? var_new(value_text(ARG(1)), t, SPAN(1))
                                       : need(ARG(1), NK_Var, "'var' of IterVar", SPAN(1));
  int64_t kind = value_as_int(ARG(2), "'iter_type' of IterVar", SPAN(2));
  if (kind < 0 || kind >= ITER_KINDS)
    raise("ValueError", SPAN(2),
          "'iter_type' is IterVar.DataPar, CommReduce, Ordered, Opaque or ThreadIndex");
  const char *tag = value_as_text(ARG(3), "'thread_tag' of IterVar", SPAN(3));
  return value_node(MAKE(IterVar, call->span, VOID_TYPE, .dom = dom, .var = var,
                         .iter_kind = (IterKind)kind, .thread_tag = *tag ? str_intern(tag) : NULL));
}

/* tir.Add(a, b): the node itself, not folded. The class's name is the builtin's. */
Value tir_operator(BuiltinCall *call) {
  int kind = NK_Add;
  while (!str_same(node_kind_name((NodeKind)kind), call->builtin->name)) kind++;
  NodeVec x = to_operands(2, call->args, call->span);
  Node *a = x.at[0], *b = x.at[1];
  if (!dtype_equal(a->dtype, b->dtype)) {
    if (IS(IntImm, b) || IS(FloatImm, b)) b = expr_cast(a->dtype, b, call->span);
    else if (IS(IntImm, a) || IS(FloatImm, a)) a = expr_cast(b->dtype, a, call->span);
    else
      raise_code(E0310, call->span, "%s: dtypes differ: %s and %s", call->builtin->name,
                 dtype_text(a->dtype), dtype_text(b->dtype));
  }
  bool gives_bool = kind >= NK_EQ && kind <= NK_Or;
  DataType t = gives_bool ? dtype_with_lanes(BOOL, a->dtype.lanes) : a->dtype;
  Binary node = {{(uint16_t)kind, t, call->span}, a, b};
  return value_node(gc_copy(&node, sizeof node));
}

Value tir_buffer_load(BuiltinCall *call) {
  Node *buffer = need(ARG(0), NK_Buffer, "the buffer of a load", SPAN(0));
  Node *n = expr_load(buffer, to_exprs(ARG(1), SPAN(1)), call->span);
  if (!value_is_none(ARG(2))) AS(BufferLoad, n)->predicate = mask_of(ARG(2), n->dtype, SPAN(2));
  return value_node(n);
}

static Node *body_arg(BuiltinCall *call, int i, const char *class) {
  bool is_stmt = ARG(i).type == &type_node && node_family(ARG(i).node->kind) == FAMILY_STMT;
  if (!is_stmt)
    raise("TypeError", SPAN(i), "'body' of %s must be a statement, found %s", class,
          value_type_name(ARG(i)));
  return ARG(i).node;
}

Value tir_allocate(BuiltinCall *call) {
  Node *var = need(ARG(0), NK_Var, "'buffer_var' of Allocate", SPAN(0));
  Node *cond = value_is_none(ARG(3)) ? NULL : to_expr(ARG(3), SPAN(3));
  return value_node(MAKE(Allocate, call->span, VOID_TYPE, .extents = to_exprs(ARG(2), SPAN(2)),
                         .cond = expr_is_one(cond) ? NULL : cond, .elem = to_dtype(ARG(1), SPAN(1)),
                         .var = var, .annotations = attrs_arg(ARG(5), SPAN(5)),
                         .body = body_arg(call, 4, "Allocate")));
}

/* The data tells the shape; a list takes that of `extents`. */
Value tir_allocate_const(BuiltinCall *call) {
  Node *var = need(ARG(0), NK_Var, "'buffer_var' of AllocateConst", SPAN(0));
  Node *data = constant_of_value(ARG(3), to_dtype(ARG(1), SPAN(1)), SPAN(3));
  return value_node(MAKE(AllocateConst, call->span, VOID_TYPE, .data = AS(Constant, data)->data,
                         .var = var, .annotations = attrs_arg(ARG(5), SPAN(5)),
                         .body = body_arg(call, 4, "AllocateConst")));
}

/* A value of IR has the buffer's dtype already: what a script builds says its casts. */
Value tir_buffer_store(BuiltinCall *call) {
  Buffer *buffer = AS(Buffer, need(ARG(0), NK_Buffer, "'buffer' of BufferStore", SPAN(0)));
  Node *value = to_expr_for(ARG(1), buffer->elem, SPAN(1));
  if (ARG(1).type == &type_node && !dtype_equal(dtype_element(value->dtype), buffer->elem))
    raise("TypeError", SPAN(1), "the buffer '%s' holds %s, found %s: cast it",
          buffer->name ? buffer->name : "", dtype_text(buffer->elem), dtype_text(value->dtype));
  Node *store = stmt_store(&buffer->node, to_exprs(ARG(2), SPAN(2)), value, call->span);
  return value_node(predicated_store(store, ARG(3), SPAN(3)));
}

Value range_from_min_extent(BuiltinCall *call) {
  NodeVec x = to_operands(2, call->args, call->span);
  return value_node(MAKE(Range, call->span, VOID_TYPE, .min = x.at[0], .extent = x.at[1]));
}

Value tir_let(BuiltinCall *call) {
  Node *var = need(ARG(0), NK_Var, "what a let defines", SPAN(0)), *body = to_expr(ARG(2), SPAN(2));
  Node *value = to_expr_for(ARG(1), var->dtype, SPAN(1));
  if (!dtype_equal(value->dtype, var->dtype))
    raise("TypeError", SPAN(1), "'%s' is of %s, but its value of %s", AS(Var, var)->name,
          dtype_text(var->dtype), dtype_text(value->dtype));
  return value_node(MAKE(Let, call->span, body->dtype, .value = value, .var = var, .body = body));
}

/* The callee: an Op, a function of the module, or the name of an intrinsic. */
Value tir_call(BuiltinCall *call) {
  Value op = ARG(1);
  if (op.type == &type_str) {
    const char *name = value_text(op);
    op = value_node(op_get(strncmp(name, "tir.", 4) ? str_format("tir.%s", name) : name));
  }
  if (!value_is_node(op, NK_Op) && !value_is_node(op, NK_GlobalVar))
    raise("TypeError", SPAN(1), "the callee must be an Op or a function of a module, found %s",
          value_type_name(op));
  return value_node(MAKE(Call, call->span, to_dtype(ARG(0), SPAN(0)), .op = op.node,
                         .args = to_exprs(ARG(2), SPAN(2)), .attrs = attrs_arg(ARG(3), SPAN(3))));
}

Value tir_reduce(BuiltinCall *call) {
  Node *reducer = need(ARG(0), NK_CommReducer, "the combiner", SPAN(0));
  NodeVec sources = to_exprs(ARG(1), SPAN(1));
  int64_t index = value_as_int(ARG(4), "the value_index", SPAN(4));
  if (index < 0 || index >= sources.len)
    raise("IndexError", SPAN(4), "value_index is %lld, but there are %d sources", (long long)index,
          sources.len);
  NodeVec axes = {0};
  ValueVec rdom = value_to_vec(ARG(2), SPAN(2));
  for each (Value, v, &rdom) vec_push(&axes, axis_of_reduce(*v, SPAN(2)));
  NodeVec init = value_is_none(ARG(5)) ? (NodeVec){0} : to_exprs(ARG(5), SPAN(5));
  return value_node(MAKE(Reduce, call->span, sources.at[index]->dtype, .reducer = reducer,
                         .axes = axes, .sources = sources, .cond = to_expr(ARG(3), SPAN(3)),
                         .value_index = (int)index, .init = init));
}

/* The arguments of T.Buffer, with the name third. */
Value tir_buffer(BuiltinCall *call) {
  enum { NAME = 2, GIVEN = 11, TAKEN = BUFFER_ARGS_TAKEN };
  Value args[TAKEN];
  Span spans[TAKEN];
  BuiltinCall plain = *call;
  plain.args = args;
  plain.spans = spans;
  for (int from = 0, to = 0; to < TAKEN; from++) {
    if (from == NAME) continue;
    args[to] = from < GIVEN ? ARG(from) : value_none();
    spans[to++] = from < GIVEN ? SPAN(from) : call->span;
  }
  Node *buffer = buffer_from_args(&plain, 0);
  name_fresh(value_node(buffer),
             str_intern(value_as_text(ARG(NAME), "the name of a buffer", SPAN(NAME))));
  return value_node(buffer);
}

/* buffer_map: a dict from handle parameters to buffers. A parameter may also be a buffer itself. */
Value tir_prim_func(BuiltinCall *call) {
  NodeVec params = {0}, buffers = {0};
  ValueVec given = value_to_vec(ARG(0), SPAN(0));
  if (!value_is_none(ARG(3)) && ARG(3).type != &type_dict)
    raise("TypeError", SPAN(3), "buffer_map must be a dict, found %s", value_type_name(ARG(3)));
  for each (Value, v, &given) {
    Node *buffer = NULL, *param;
    Value of = value_find_attr(*v, str_intern("asobject"), SPAN(0)); /* a pointer of ir_builder */
    if (of.type) *v = value_call_with(of, 0, NULL, SPAN(0));
    if (value_is_node(*v, NK_Buffer)) {
      buffer = v->node;
      param = var_new(str_format("%s_handle", AS(Buffer, buffer)->name), HANDLE, call->span);
    } else {
      param = need(*v, NK_Var, "a parameter of a PrimFunc", SPAN(0));
      Value b = value_is_none(ARG(3)) ? value_absent() : value_dict_get(ARG(3), *v);
      if (b.type) buffer = need(b, NK_Buffer, "an item of buffer_map", SPAN(3));
    }
    vec_push(&params, param);
    vec_push(&buffers, buffer);
  }
  bool is_stmt = ARG(1).type == &type_node && node_family(ARG(1).node->kind) == FAMILY_STMT;
  if (!is_stmt)
    raise("TypeError", SPAN(1), "the body of a PrimFunc must be a statement, found %s",
          value_type_name(ARG(1)));
  DataType ret = value_is_none(ARG(2)) ? returned_dtype(ARG(1).node) : to_dtype(ARG(2), SPAN(2));
  Node *attrs = value_is_none(ARG(4)) ? dict_new() : dict_from_value(ARG(4), SPAN(4));
  return value_node(MAKE(PrimFunc, call->span, VOID_TYPE, .sinfo = sinfo_object(), .params = params,
                         .buffers = buffers, .ret_dtype = ret, .attrs = attrs,
                         .body = ARG(1).node));
}

/* ---- graph expressions ---- */

static Value new_graph_var(BuiltinCall *call, bool is_dataflow) {
  const char *name = value_as_text(ARG(0), "the name of a variable", SPAN(0));
  Node *info = value_is_none(ARG(1)) ? sinfo_object() : to_sinfo(ARG(1), SPAN(1));
  return value_node(MAKE(RelaxVar, call->span, VOID_TYPE, .sinfo = info, .name = str_intern(name),
                         .is_dataflow = is_dataflow));
}
Value relax_var(BuiltinCall *call) { return new_graph_var(call, false); }
Value relax_dataflow_var(BuiltinCall *call) { return new_graph_var(call, true); }

Value ir_global_var(BuiltinCall *call) {
  const char *name = value_as_text(ARG(0), "the name of a function", SPAN(0));
  Node *info = value_is_none(ARG(1)) ? sinfo_object() : to_sinfo(ARG(1), SPAN(1));
  return value_node(
      MAKE(GlobalVar, call->span, VOID_TYPE, .sinfo = info, .name = str_intern(name)));
}

Value ir_op(BuiltinCall *call) {
  const char *name = value_as_text(ARG(0), "the name of an operator", SPAN(0));
  bool is_builtin = strncmp(name, "tir.", 4) == 0 || strncmp(name, "tirx.", 5) == 0;
  if (is_builtin && intrin_find(builtin_of_op(name)))
    return value_node(op_get(str_format("tir.%s", builtin_of_op(name))));
  bool known = op_info(name) != NULL || relax_is_call_form(str_intern(name));
  if (!known) raise("ValueError", SPAN(0), "there is no operator '%s'", name);
  return value_node(op_get(name));
}

Value relax_tuple(BuiltinCall *call) {
  NodeVec fields = {0};
  ValueVec items = value_to_vec(ARG(0), SPAN(0));
  for each (Value, v, &items) vec_push(&fields, to_relax(*v, SPAN(0)));
  return value_node(
      to_relax(value_node(MAKE(Tuple, call->span, VOID_TYPE, .fields = fields)), call->span));
}

/* The node itself, also of a tuple whose fields are known. */
Value relax_tuple_get_item(BuiltinCall *call) {
  Node *tuple = to_relax(ARG(0), SPAN(0)), *info = sinfo_of(tuple);
  int64_t index = value_as_int(ARG(1), "the index of a tuple", SPAN(1));
  int fields = IS(TupleStructInfo, info) ? AS(TupleStructInfo, info)->fields.len : INT32_MAX;
  if (index < 0 || index >= fields)
    raise("IndexError", SPAN(1), "index %lld is out of range for a tuple of %d", (long long)index,
          fields);
  Node *field =
      IS(TupleStructInfo, info) ? AS(TupleStructInfo, info)->fields.at[index] : sinfo_object();
  return value_node(MAKE(TupleGetItem, call->span, VOID_TYPE, .sinfo = field, .tuple = tuple,
                         .index = (int)index));
}

Value relax_call_new(BuiltinCall *call) {
  Node *op = to_relax(ARG(0), SPAN(0));
  NodeVec args = {0};
  ValueVec items = value_to_vec(ARG(1), SPAN(1));
  for each (Value, v, &items) vec_push(&args, to_relax(*v, SPAN(1)));
  NodeVec infos = to_sinfos(ARG(3), SPAN(3));
  if (infos.len == 1 && IS(TupleStructInfo, infos.at[0]) && call_has_outputs(op))
    infos = AS(TupleStructInfo, infos.at[0])->fields;
  return value_node(relax_call(op, args, attrs_arg(ARG(2), SPAN(2)), infos, call->span));
}

static Node *as_seq(Value v, Span span) {
  Node *n = to_relax(v, span);
  if (IS(SeqExpr, n)) return n;
  return MAKE(SeqExpr, n->span, VOID_TYPE, .sinfo = sinfo_of(n), .body = n);
}

Value relax_if(BuiltinCall *call) {
  Node *then = as_seq(ARG(1), SPAN(1)), *orelse = as_seq(ARG(2), SPAN(2));
  return value_node(MAKE(RelaxIf, call->span, VOID_TYPE,
                         .sinfo = sinfo_join(sinfo_of(then), sinfo_of(orelse)),
                         .cond = to_relax(ARG(0), SPAN(0)), .then = then, .orelse = orelse));
}

Value relax_seq_expr(BuiltinCall *call) {
  NodeVec blocks = need_all(ARG(0), NK_BindingBlock, "a block", SPAN(0));
  Node *body = to_relax(ARG(1), SPAN(1));
  if (!graph_is_leaf(body) && !IS(Tuple, body))
    raise("TypeError", SPAN(1), "the body of a SeqExpr must be a variable or a constant, found %s",
          node_kind_name(body->kind));
  return value_node(MAKE(SeqExpr, call->span, VOID_TYPE, .sinfo = sinfo_of(body),
                         .blocks = blocks_normal(blocks), .body = body));
}

Value relax_dataflow_block(BuiltinCall *call) {
  NodeVec bindings = {0};
  ValueVec items = value_to_vec(ARG(0), SPAN(0));
  for each (Value, v, &items) {
    if (!value_is_node(*v, NK_VarBinding) && !value_is_node(*v, NK_MatchCast))
      raise("TypeError", SPAN(0), "expected bindings, found %s", value_type_name(*v));
    vec_push(&bindings, v->node);
  }
  return value_node(
      MAKE(BindingBlock, call->span, VOID_TYPE, .is_dataflow = true, .bindings = bindings));
}

Value relax_function(BuiltinCall *call) {
  NodeVec params = need_all(ARG(0), NK_RelaxVar, "a parameter of a Function", SPAN(0));
  Node *body = as_seq(ARG(1), SPAN(1));
  Node *ret = sinfo_of_result(params, body);
  if (!value_is_none(ARG(2))) ret = sinfo_finer(to_sinfo(ARG(2), SPAN(2)), ret);
  bool pure = value_truth(ARG(3), SPAN(3));
  Node *attrs = value_is_none(ARG(4)) ? dict_new() : dict_from_value(ARG(4), SPAN(4));
  return value_node(MAKE(Function, call->span, VOID_TYPE,
                         .sinfo = sinfo_function(params, ret, pure, call->span), .params = params,
                         .ret_sinfo = ret, .is_pure = pure, .attrs = attrs, .body = body));
}
