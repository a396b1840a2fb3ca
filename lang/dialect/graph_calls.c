/* graph_calls.c -- forms of call whose result type is part of the call: R.call_tir and its family,
 * packed functions, closures. */
#include "lang/dialect/tensor_names.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

/* ---- calls ---- */

static NodeVec tuple_args(Value v, Span span) {
  NodeVec out = {0};
  if (v.type == &type_tuple || v.type == &type_list) {
    for each (Value, x, value_items(v)) vec_push(&out, to_relax(*x, span));
    return out;
  }
  Node *x = to_relax(v, span);
  if (IS(Tuple, x)) return AS(Tuple, x)->fields;
  vec_push(&out, x);
  return out;
}

/* The operands of call_tir as one tuple; a variable of tuple type stands for itself. */
static Node *args_tuple(Value v, Span span) {
  if (v.type == &type_node && node_is_relax(v.node) && IS(TupleStructInfo, sinfo_of(v.node)))
    return v.node;
  NodeVec fields = tuple_args(v, span);
  ValueVec values = {0};
  for each (Node *, f, &fields) vec_push(&values, value_node(*f));
  return to_relax(value_tuple(values), span);
}

/* Types as a list; a tuple of several stands for the list of its fields. */
NodeVec to_sinfos(Value v, Span span) {
  NodeVec out = {0};
  if (v.type == &type_list || v.type == &type_tuple) {
    for each (Value, x, value_items(v)) vec_push(&out, to_sinfo(*x, span));
  } else if (!value_is_none(v)) {
    Node *one = to_sinfo(v, span);
    if (IS(TupleStructInfo, one) && AS(TupleStructInfo, one)->fields.len)
      return AS(TupleStructInfo, one)->fields;
    vec_push(&out, one);
  }
  return out;
}

bool call_has_outputs(const Node *op) {
  return IS(Op, op) && (str_begins(AS(Op, op)->name, "relax.call_tir") ||
                        str_same(AS(Op, op)->name, "relax.call_dps_packed"));
}

/* What a tensor program is called with: operands, outputs (but for those in place), symbolic
 * variables. */
static void check_tir_call(Node *gvar, Node *args, NodeVec outs, Node *tir_vars, Span span) {
  if (!IS(FuncStructInfo, sinfo_of(gvar)) || !AS(FuncStructInfo, sinfo_of(gvar))->known ||
      !IS(Tuple, args) || is_unchecked())
    return;
  FuncStructInfo *f = AS(FuncStructInfo, sinfo_of(gvar));
  NodeVec given = {0};
  for each (Node *, a, &AS(Tuple, args)->fields) vec_push(&given, sinfo_of(*a));
  int inputs = given.len;
  for each (Node *, o, &outs) vec_push(&given, *o);
  int scalars = tir_vars ? AS(ShapeExpr, tir_vars)->values.len : 0;
  if (given.len + scalars != f->params.len)
    raise_code(E0406, span, "'%s' takes %d arguments, but the call gives %d inputs and %d outputs",
               AS(GlobalVar, gvar)->name, f->params.len, inputs + scalars, outs.len);
  for (int i = 0; i < given.len && scalars == 0; i++) {
    const char *why = NULL;
    if (!IS(TensorStructInfo, f->params.at[i]) || !IS(TensorStructInfo, given.at[i])) continue;
    TensorStructInfo *want = AS(TensorStructInfo, f->params.at[i]),
                     *got = AS(TensorStructInfo, given.at[i]);
    bool ranks = want->ndim >= 0 && got->ndim >= 0 && want->ndim != got->ndim;
    bool dtypes = !dtype_is_void(want->elem) && !dtype_is_void(got->elem) &&
                  !dtype_equal(want->elem, got->elem);
    if (ranks || dtypes)
      raise_code(E0407, span, "argument %d of '%s' must be %s, but is %s", i + 1,
                 AS(GlobalVar, gvar)->name, ir_print(f->params.at[i], NULL),
                 ir_print(given.at[i], NULL));
    (void)why;
  }
  if (!scalars)
    sinfo_of_call_result(sinfo_of(gvar), given, span); /* raises where dims contradict */
}

static Node *extern_func(Value v, Span span) {
  if (v.type == &type_poison) raise(ERROR_POISONED, span, "an earlier error");
  if (v.type == &type_node && node_is_relax(v.node)) return v.node;
  Node *info = MAKE(FuncStructInfo, span, VOID_TYPE, .ret = sinfo_object());
  return MAKE(ExternFunc, span, VOID_TYPE, .sinfo = info,
              .symbol = value_as_text(v, "the name of a function", span));
}

/* The types of the outputs, each a tensor; `name` is that of the call. */
static NodeVec output_infos(BuiltinCall *call, Value out, Value out_ty, Span span) {
  bool told = !value_is_none(out) || !value_is_none(out_ty);
  NodeVec outs = to_sinfos(value_is_none(out) ? out_ty : out, span);
  const char *name = call->builtin->name;
  if (!outs.len && !(told && str_same(name, "call_dps_packed"))) /* it may write to its operands */
    raise("TypeError", call->span, "R.%s needs out_sinfo, the type of what the function writes",
          name);
  return outs;
}

static void need_tensors(NodeVec outs, Span span) {
  for each (Node *, o, &outs)
    if (!IS(TensorStructInfo, *o))
      raise("TypeError", span, "an output must be a tensor with a shape, found %s",
            ir_print(*o, NULL));
}

static bool is_c_function(Value func) {
  return func.type == &type_str && strchr(value_text(func), '(');
}

static Value dps_call(BuiltinCall *call, Value func, Value args, NodeVec outs) {
  Span span = call->span;
  if (is_c_function(func))
    return call_c_function(func, tuple_args(args, span), outs, call->env, span);
  return value_node(relax_call(op_get("relax.call_dps_packed"),
                               NODES(extern_func(func, span), args_tuple(args, span)), NULL, outs,
                               span));
}

static Value tir_call(BuiltinCall *call, const char *op, Value func, Value args, NodeVec outs,
                      Value tir_vars, Node *attrs) {
  if (func.type == &type_poison) raise(ERROR_POISONED, call->span, "an earlier error");
  bool is_variable = value_is_node(func, NK_RelaxVar);
  if (!value_is_node(func, NK_GlobalVar) && !is_variable)
    raise("TypeError", SPAN(0), "R.%s takes a function of the module such as cls.f, found %s",
          call->builtin->name, value_type_name(func));
  need_tensors(outs, call->span);
  NodeVec operands = NODES(func.node, args_tuple(args, call->span));
  Node *vars = value_is_none(tir_vars) ? NULL : to_shape(tir_vars, call->span);
  bool is_local = str_same(op, "relax.dist.call_tir_local_view"); /* shapes of one worker's part */
  if (!is_variable && !is_local && !dict_get(attrs, "inplace_indices"))
    check_tir_call(func.node, operands.at[1], outs, vars, call->span);
  if (vars) vec_push(&operands, vars);
  return value_node(relax_call(op_get(op), operands, attrs, outs, call->span));
}

/* (f, args, (n, m), dtype="float32"): the shape and the dtype of the output. */
static NodeVec output_of_shape(Value shape, Value dtype, Span span) {
  CallArgs args = {.positional = {.at = (Value[]){shape, dtype}, .len = 2}, .span = span};
  Value tensor_type = value_get_attr(graph_namespace(), str_intern("Tensor"), span);
  return to_sinfos(value_call(tensor_type, &args), span);
}

/* The spelling of early 2023 calls library functions by it, too. */
Value r_call_tir(BuiltinCall *call) {
  NodeVec outs = value_is_none(ARG(5)) ? output_infos(call, ARG(2), ARG(4), SPAN(2))
                                       : output_of_shape(ARG(2), ARG(5), call->span);
  if (ARG(0).type == &type_str || value_is_node(ARG(0), NK_ExternFunc))
    return dps_call(call, ARG(0), ARG(1), outs);
  return tir_call(call, "relax.call_tir", ARG(0), ARG(1), outs, ARG(3), NULL);
}

Value r_call_tir_local_view(BuiltinCall *call) {
  return tir_call(call, "relax.dist.call_tir_local_view", ARG(0), ARG(1),
                  output_infos(call, ARG(2), ARG(4), SPAN(2)), ARG(3), NULL);
}

Value r_call_tir_with_grad(BuiltinCall *call) {
  const char *name = value_as_text(ARG(3), "te_grad_name", SPAN(3));
  Node *attrs = dict_with(dict_new(), "te_grad_name", string_imm(name, SPAN(3)));
  if (!value_is_none(ARG(4)))
    attrs = dict_with(attrs, "te_grad_kwargs", dict_from_value(ARG(4), SPAN(4)));
  return tir_call(call, "relax.call_tir_with_grad", ARG(0), ARG(1),
                  output_infos(call, ARG(2), ARG(6), SPAN(2)), ARG(5), attrs);
}

/* One index or a list of them as an attribute. */
static Node *index_list(Value v, Span span) {
  Value many = v.type == &type_int ? value_tuple_of(1, v) : v;
  return to_attr(value_list(value_to_vec(many, span)), span);
}

Value r_call_tir_inplace(BuiltinCall *call) {
  Node *attrs = dict_with(dict_new(), "inplace_indices", index_list(ARG(2), SPAN(2)));
  return tir_call(call, "relax.call_tir_inplace", ARG(0), ARG(1),
                  output_infos(call, ARG(3), ARG(5), SPAN(3)), ARG(4), attrs);
}

Value r_call_dps_packed(BuiltinCall *call) {
  return dps_call(call, ARG(0), ARG(1), output_infos(call, ARG(2), ARG(3), SPAN(2)));
}

/* R.call_dps((n, m), f, [x, w]): the dtype is what the tensor program says of its last parameter.
 */
Value r_call_dps(BuiltinCall *call) {
  DataType t = to_dtype(ARG(3), SPAN(3));
  Node *shape = to_shape(ARG(0), SPAN(0));
  Node *info = ARG(1).type == &type_node ? sinfo_of(ARG(1).node) : NULL;
  if (IS(FuncStructInfo, info) && AS(FuncStructInfo, info)->params.len &&
      IS(TensorStructInfo, vec_last(&AS(FuncStructInfo, info)->params)))
    t = AS(TensorStructInfo, vec_last(&AS(FuncStructInfo, info)->params))->elem;
  Node *out = MAKE(TensorStructInfo, call->span, VOID_TYPE, .shape = shape, .elem = t,
                   .ndim = IS(ShapeExpr, shape) ? AS(ShapeExpr, shape)->values.len : -1);
  if (ARG(1).type == &type_str || value_is_node(ARG(1), NK_ExternFunc))
    return dps_call(call, ARG(1), ARG(2), NODES(out));
  return tir_call(call, "relax.call_tir", ARG(1), ARG(2), NODES(out), value_none(), NULL);
}

Value r_emit(BuiltinCall *call) {
  Value built = by_builder(call);
  if (built.type) return built;
  need_graph("emit", call->span);
  Node *value = graph_normalize(to_relax(ARG(0), SPAN(0)));
  return value_node(graph_emit(value, NULL, call->span));
}

/* R.emit_with_ty("relax.memory.alloc_storage", (...), (R.Object,)) */
Value r_emit_with_type(BuiltinCall *call) {
  const char *name = value_as_text(ARG(0), "the name of an operator", SPAN(0));
  return value_node(relax_call(op_get(str_intern(name)), tuple_args(ARG(1), call->span), NULL,
                               to_sinfos(ARG(2), SPAN(2)), call->span));
}

/* relax.Call(op, args, attrs, sinfo_args): the node itself. */
Value r_call(BuiltinCall *call) {
  NodeVec operands = tuple_args(ARG(1), call->span);
  Node *attrs = value_is_none(ARG(2)) ? NULL : dict_from_value(ARG(2), SPAN(2));
  return value_node(relax_call(to_relax(ARG(0), SPAN(0)), operands, attrs,
                               to_sinfos(ARG(3), SPAN(3)), call->span));
}

/* ---- calls of packed functions and closures ---- */

static Value first_given(Value a, Value b) { return value_is_none(a) ? b : a; }

/* R.call_packed("f", x, 1, None): the operands follow the function. */
static Value packed_call(BuiltinCall *call, const char *op, Value sinfos, Node *attrs) {
  NodeVec operands = NODES(extern_func(ARG(0), SPAN(0)));
  for each (Value, v, value_items(ARG(1)))
    vec_push(&operands,
             value_is_none(*v) ? MAKE(None, call->span, VOID_TYPE) : to_relax(*v, call->span));
  return value_node(
      relax_call(op_get(op), operands, attrs, to_sinfos(sinfos, call->span), call->span));
}

static Node *extra_attrs(Value extra, Value type_key, Span span) {
  bool any = extra.type && value_dict_len(extra);
  Node *attrs = any ? dict_from_value(extra, span) : NULL;
  if (value_is_none(type_key)) return attrs;
  return dict_with(attrs ? attrs : dict_new(), "attrs_type_key", to_attr(type_key, span));
}

Value r_call_packed(BuiltinCall *call) {
  return packed_call(call, "relax.call_packed", first_given(first_given(ARG(2), ARG(3)), ARG(4)),
                     extra_attrs(ARG(6), ARG(5), call->span));
}

Value r_call_pure_packed(BuiltinCall *call) {
  return packed_call(call, "relax.call_pure_packed", first_given(ARG(2), ARG(3)),
                     extra_attrs(ARG(5), ARG(4), call->span));
}

Value r_call_inplace_packed(BuiltinCall *call) {
  Node *attrs = dict_with(dict_new(), "inplace_indices", index_list(ARG(2), SPAN(2)));
  return packed_call(call, "relax.call_inplace_packed", first_given(ARG(3), ARG(4)), attrs);
}

/* Forms whose operands are one tuple: R.invoke_closure(f, (x,), sinfo_args=...). */
static Value tuple_call(BuiltinCall *call, const char *op, Node *func, NodeVec infos) {
  NodeVec operands = NODES(func, args_tuple(ARG(1), call->span));
  return value_node(relax_call(op_get(op), operands, NULL, infos, call->span));
}

Value r_call_builtin_with_ctx(BuiltinCall *call) {
  return tuple_call(call, "relax.call_builtin_with_ctx", extern_func(ARG(0), SPAN(0)),
                    to_sinfos(first_given(ARG(2), ARG(3)), call->span));
}

Value r_invoke_closure(BuiltinCall *call) {
  return tuple_call(call, str_format("relax.%s", call->builtin->name), to_relax(ARG(0), SPAN(0)),
                    to_sinfos(first_given(ARG(2), ARG(3)), call->span));
}

static bool is_type(Value v) {
  if (v.type == &type_list && value_items(v)->len) v = value_items(v)->at[0];
  return v.type == &type_annotation || (v.type == &type_node && node_is_sinfo(v.node));
}

/* The function is a method of the module, found when the call is made. Its operands follow, or are
 * one tuple; a type after them is that of the result. */
Value r_call_py_func(BuiltinCall *call) {
  ValueVec given = *value_items(ARG(1));
  Value out = first_given(first_given(ARG(2), ARG(3)), ARG(4));
  if (value_is_none(out) && given.len && is_type(vec_last(&given))) out = vec_pop(&given);
  Value operands = given.len == 1 ? given.at[0] : value_tuple(given);
  NodeVec args = NODES(to_relax(ARG(0), SPAN(0)), args_tuple(operands, call->span));
  return value_node(relax_call(op_get("relax.call_py_func"), args, NULL,
                               output_infos(call, out, out, call->span), call->span));
}
