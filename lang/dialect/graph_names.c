/* graph_names.c -- names under R. and I.: types, values, calls, module information. */
#include "lang/builtin/tensor.h"
#include "lang/dialect/tensor_names.h"
#include <stdlib.h>

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

/* ---- types ---- */

static bool is_text(Value v) { return v.type == &type_str || v.type == &type_dtype; }

/* Position of `text` ("cuda:1", "vdevice:3", "llvm") among the module's virtual devices, or a
 * device by itself. */
static Node *vdevice_arg(Value v, Span span) {
  if (value_is_none(v)) return NULL;
  if (value_is_node(v, NK_VDevice)) return v.node;
  const char *text = value_as_text(v, "vdevice", span), *colon = strchr(text, ':');
  const char *kind = colon ? str_intern_n(text, (size_t)(colon - text)) : str_intern(text);
  int64_t nth = colon ? strtol(colon + 1, NULL, 10) : 0;
  Node *found = find_vdevice(kind, nth);
  return found ? found
               : MAKE(VDevice, span, VOID_TYPE, .target = kind, .id = (int)nth, .scope = "global");
}

Value r_tensor(BuiltinCall *call) {
  Value shape = ARG(0), dtype = ARG(1);
  /* R.Tensor("float32"): the only argument is the dtype. */
  if (is_text(shape) && value_is_none(dtype)) dtype = shape, shape = value_none();
  DataType t = value_is_none(dtype) || (is_text(dtype) && str_same(value_to_str(dtype), ""))
                   ? VOID_TYPE
                   : to_dtype(dtype, SPAN(1));
  int ndim = (int)value_as_int(ARG(3), "ndim", SPAN(3));
  Node *device = vdevice_arg(ARG(2), SPAN(2));
  if (value_is_none(shape) || shape.type == &type_ellipsis)
    return value_node(
        MAKE(TensorStructInfo, call->span, VOID_TYPE, .elem = t, .ndim = ndim, .vdevice = device));
  Node *dims = to_shape(shape, SPAN(0));
  int known = IS(ShapeExpr, dims) ? AS(ShapeExpr, dims)->values.len
                                  : AS(ShapeStructInfo, sinfo_of(dims))->ndim;
  if (ndim >= 0 && known >= 0 && ndim != known)
    raise_code(E0405, call->span, "the shape has %d dims, but ndim is %d", known, ndim);
  return value_node(MAKE(TensorStructInfo, call->span, VOID_TYPE, .shape = dims, .elem = t,
                         .ndim = known, .vdevice = device));
}

Value r_shape_type(BuiltinCall *call) {
  int ndim = (int)value_as_int(ARG(1), "ndim", SPAN(1));
  if (value_is_none(ARG(0)))
    return value_node(MAKE(ShapeStructInfo, call->span, VOID_TYPE, .ndim = ndim));
  NodeVec dims = AS(ShapeExpr, to_shape(ARG(0), SPAN(0)))->values;
  return value_node(MAKE(ShapeStructInfo, call->span, VOID_TYPE, .known = true, .values = dims,
                         .ndim = dims.len));
}

Value r_tuple_type(BuiltinCall *call) {
  ValueVec fields = *value_items(ARG(0));
  if (fields.len == 1 && (fields.at[0].type == &type_list || fields.at[0].type == &type_tuple))
    fields = *value_items(fields.at[0]);
  NodeVec infos = {0};
  for each (Value, v, &fields) vec_push(&infos, to_sinfo(*v, call->span));
  return value_node(sinfo_tuple(infos, call->span));
}

Value r_prim(BuiltinCall *call) {
  Node *value = NULL;
  if (ARG(1).type == &type_str) value = dim_from_text(value_text(ARG(1)), SPAN(1));
  else if (!value_is_none(ARG(1))) value = to_expr(ARG(1), SPAN(1));
  if (!value && value_is_none(ARG(0)))
    raise("TypeError", call->span, "R.Prim needs a dtype or a value");
  DataType t = value_is_none(ARG(0)) ? value->dtype : to_dtype(ARG(0), SPAN(0));
  return value_node(MAKE(PrimStructInfo, call->span, VOID_TYPE, .elem = t, .value = value));
}

Value r_object(BuiltinCall *call) {
  (void)call;
  return value_node(sinfo_object());
}

Value r_callable(BuiltinCall *call) {
  bool known = !value_is_none(ARG(0));
  NodeVec params = {0};
  if (known)
    for each (Value, v, value_items(ARG(0))) vec_push(&params, to_sinfo(*v, SPAN(0)));
  Node *ret = value_is_none(ARG(1)) ? sinfo_object() : to_sinfo(ARG(1), SPAN(1));
  bool pure = value_is_none(ARG(2)) ? known : value_truth(ARG(2), SPAN(2));
  return value_node(MAKE(
      FuncStructInfo, call->span, VOID_TYPE, .known = known, .params = params, .ret = ret,
      .is_pure = pure,
      .derive_func = value_is_none(ARG(3)) ? NULL : value_as_text(ARG(3), "derive_func", SPAN(3))));
}

/* ---- functions and blocks ---- */

Value r_func_attr(BuiltinCall *call) {
  GraphBuilder *g = need_graph("func_attr", call->span);
  if (g->attrs) raise_code(E0508, call->span, "the function has an R.func_attr already");
  g->attrs = dict_from_value(ARG(0), SPAN(0));
  return value_none();
}

Value r_dataflow(BuiltinCall *call) {
  need_graph("dataflow", call->span);
  return value_frame(NEW(Frame, .kind = FRAME_DATAFLOW));
}

Value r_output(BuiltinCall *call) {
  GraphBuilder *g = need_graph("output", call->span);
  if (!g->in_dataflow)
    raise_code(E0506, call->span, "R.output stands only inside a dataflow block");
  for each (Value, v, value_items(ARG(0))) {
    if (v->type == &type_poison) continue;
    if (!value_is_node(*v, NK_RelaxVar))
      raise_code(E0417, call->span, "R.output takes variables of the block, found %s",
                 value_type_name(*v));
    if (!AS(RelaxVar, v->node)->is_dataflow)
      raise_code(E0417, call->span, "'%s' is not bound in this dataflow block",
                 AS(RelaxVar, v->node)->name);
    AS(RelaxVar, v->node)->is_dataflow = false;
    vec_push(&g->outputs, v->node);
  }
  g->has_output = true;
  return value_none();
}

Value r_match_cast(BuiltinCall *call) {
  need_graph("match_cast", call->span);
  return value_node(MAKE(MatchCast, call->span, VOID_TYPE, .value = to_relax(ARG(0), SPAN(0)),
                         .sinfo = to_sinfo(ARG(1), SPAN(1))));
}

Value r_match_shape(BuiltinCall *call) {
  need_graph("match_shape", call->span);
  Node *x = to_relax(ARG(0), SPAN(0)), *info = sinfo_of(x), *dims = to_shape(ARG(1), SPAN(1));
  int n = AS(ShapeExpr, dims)->values.len;
  if (IS(ShapeStructInfo, info))
    info = MAKE(ShapeStructInfo, call->span, VOID_TYPE, .known = true,
                .values = AS(ShapeExpr, dims)->values, .ndim = n);
  else
    info = MAKE(TensorStructInfo, call->span, VOID_TYPE, .shape = dims, .ndim = n,
                .elem = IS(TensorStructInfo, info) ? AS(TensorStructInfo, info)->elem : VOID_TYPE);
  return value_node(MAKE(MatchCast, call->span, VOID_TYPE, .value = x, .sinfo = info));
}

/* ---- values ---- */

/* Numbers are int32, float32 and bool by default; lists and tensors keep their own dtype unless one
 * is given. */
Value r_const(BuiltinCall *call) {
  DataType t = value_is_none(ARG(1)) ? VOID_TYPE : to_dtype(ARG(1), SPAN(1));
  return value_node(constant_of_value(ARG(0), t, call->span));
}

Value r_prim_value(BuiltinCall *call) {
  if (ARG(0).type == &type_int || ARG(0).type == &type_float)
    return value_node(to_relax(ARG(0), SPAN(0)));
  return value_node(to_relax(value_node(to_expr(ARG(0), SPAN(0))), SPAN(0)));
}
Value r_str(BuiltinCall *call) {
  return value_node(to_relax(value_str(value_as_text(ARG(0), "the text", SPAN(0))), call->span));
}
Value r_dtype(BuiltinCall *call) {
  return value_node(to_relax(value_dtype(to_dtype(ARG(0), SPAN(0))), call->span));
}
Value r_shape(BuiltinCall *call) { return value_node(to_shape(ARG(0), SPAN(0))); }
Value r_tuple(BuiltinCall *call) {
  ValueVec fields = *value_items(ARG(0));
  return value_node(to_relax(value_tuple(fields), call->span));
}
Value r_tuple_get_item(BuiltinCall *call) {
  return value_get_item(value_node(to_relax(ARG(0), SPAN(0))), ARG(1), call->span);
}
Value r_extern_func(BuiltinCall *call) {
  Node *info = value_is_none(ARG(1))
                   ? MAKE(FuncStructInfo, call->span, VOID_TYPE, .ret = sinfo_object())
                   : to_sinfo(ARG(1), SPAN(1));
  return value_node(MAKE(ExternFunc, call->span, VOID_TYPE, .sinfo = info,
                         .symbol = value_as_text(ARG(0), "the name of a function", SPAN(0))));
}

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

static NodeVec sinfo_list(Value v, Span span) {
  NodeVec out = {0};
  if (v.type == &type_list || v.type == &type_tuple) {
    for each (Value, x, value_items(v)) vec_push(&out, to_sinfo(*x, span));
  } else if (!value_is_none(v)) {
    Node *one = to_sinfo(v, span);
    if (IS(TupleStructInfo, one)) return AS(TupleStructInfo, one)->fields;
    vec_push(&out, one);
  }
  return out;
}

/* What a tensor program is called with: operands, outputs (but for those in place), symbolic
 * variables. */
static void check_tir_call(Node *gvar, Node *args, NodeVec outs, Node *tir_vars, Span span) {
  if (!IS(FuncStructInfo, sinfo_of(gvar)) || !AS(FuncStructInfo, sinfo_of(gvar))->known ||
      !IS(Tuple, args))
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

static Value tir_call(BuiltinCall *call, const char *op, Value func, Value args, NodeVec outs,
                      Value tir_vars, Node *attrs) {
  if (func.type == &type_poison) raise(ERROR_POISONED, call->span, "an earlier error");
  if (!value_is_node(func, NK_GlobalVar))
    raise("TypeError", SPAN(0), "R.%s takes a function of the module such as cls.f, found %s",
          op + 6, value_type_name(func));
  if (!outs.len)
    raise("TypeError", call->span, "R.%s needs out_sinfo, the type of what the function writes",
          op + 6);
  for each (Node *, o, &outs)
    if (!IS(TensorStructInfo, *o))
      raise("TypeError", call->span, "an output must be a tensor with a shape, found %s",
            ir_print(*o, NULL));
  NodeVec operands = NODES(func.node, args_tuple(args, call->span));
  Node *vars = value_is_none(tir_vars) ? NULL : to_shape(tir_vars, call->span);
  if (!attrs) check_tir_call(func.node, operands.at[1], outs, vars, call->span);
  if (vars) vec_push(&operands, vars);
  return value_node(relax_call(op_get(op), operands, attrs, outs, call->span));
}

static Value first_given(Value a, Value b) { return value_is_none(a) ? b : a; }

Value r_call_tir(BuiltinCall *call) {
  Value out = first_given(ARG(2), ARG(4));
  NodeVec outs;
  if (!value_is_none(ARG(5))) { /* (f, args, (n, m), dtype="float32") */
    CallArgs tensor_args = {.positional = {.at = (Value[]){out, ARG(5)}, .len = 2},
                            .span = call->span};
    outs =
        sinfo_list(value_call(value_get_attr(graph_namespace(), str_intern("Tensor"), call->span),
                              &tensor_args),
                   call->span);
  } else outs = sinfo_list(out, SPAN(2));
  return tir_call(call, "relax.call_tir", ARG(0), ARG(1), outs, ARG(3), NULL);
}

Value r_call_tir_inplace(BuiltinCall *call) {
  Node *attrs = dict_with(
      dict_new(), "inplace_indices",
      to_attr(value_list(value_to_vec(ARG(2).type == &type_int ? value_tuple_of(1, ARG(2)) : ARG(2),
                                      SPAN(2))),
              SPAN(2)));
  return tir_call(call, "relax.call_tir_inplace", ARG(0), ARG(1),
                  sinfo_list(first_given(ARG(3), ARG(5)), SPAN(3)), ARG(4), attrs);
}

static Node *extern_func(Value v, Span span) {
  if (v.type == &type_node && node_is_relax(v.node)) return v.node;
  Node *info = MAKE(FuncStructInfo, span, VOID_TYPE, .ret = sinfo_object());
  return MAKE(ExternFunc, span, VOID_TYPE, .sinfo = info,
              .symbol = value_as_text(v, "the name of a function", span));
}

static Value dps_call(Value func, Value args, NodeVec outs, Span span) {
  if (!outs.len)
    raise("TypeError", span,
          "R.call_dps_packed needs out_sinfo, the type of what the function writes");
  return value_node(relax_call(op_get("relax.call_dps_packed"),
                               NODES(extern_func(func, span), args_tuple(args, span)), NULL, outs,
                               span));
}

Value r_call_dps_packed(BuiltinCall *call) {
  return dps_call(ARG(0), ARG(1), sinfo_list(first_given(ARG(2), ARG(3)), SPAN(2)), call->span);
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
    return dps_call(ARG(1), ARG(2), NODES(out), call->span);
  return tir_call(call, "relax.call_tir", ARG(1), ARG(2), NODES(out), value_none(), NULL);
}

static Value packed_call(BuiltinCall *call, const char *op, Value sinfos, Value extra) {
  NodeVec operands = NODES(extern_func(ARG(0), SPAN(0)));
  for each (Value, v, value_items(ARG(1))) vec_push(&operands, to_relax(*v, call->span));
  Node *attrs = extra.type && value_dict_len(extra) ? dict_from_value(extra, call->span) : NULL;
  return value_node(
      relax_call(op_get(op), operands, attrs, sinfo_list(sinfos, call->span), call->span));
}
Value r_call_packed(BuiltinCall *call) {
  return packed_call(call, "relax.call_packed", first_given(first_given(ARG(2), ARG(3)), ARG(4)),
                     ARG(6));
}
Value r_call_pure_packed(BuiltinCall *call) {
  return packed_call(call, "relax.call_pure_packed", first_given(ARG(2), ARG(3)), ARG(4));
}

/* ---- I ---- */

Value i_module_attrs(BuiltinCall *call) {
  ModuleBuilder *m = need_module("module_attrs", call->span);
  m->attrs = dict_from_value(ARG(0), SPAN(0));
  return value_none();
}

Value i_module_global_infos(BuiltinCall *call) {
  ModuleBuilder *m = need_module("module_global_infos", call->span);
  m->global_infos = dict_from_value(ARG(0), SPAN(0));
  return value_none();
}

Value i_vdevice(BuiltinCall *call) {
  const char *target =
      value_is_none(ARG(0))
          ? ""
          : AS(TargetAttr, t_target(&(BuiltinCall){.args = (Value[]){ARG(0), value_none()},
                                                   .spans = call->spans,
                                                   .span = call->span})
                               .node)
                ->text;
  return value_node(MAKE(VDevice, call->span, VOID_TYPE, .target = target,
                         .id = (int)value_as_int(ARG(1), "vdevice_id", SPAN(1)),
                         .scope = value_as_text(ARG(2), "memory_scope", SPAN(2))));
}

Value i_dummy_global_info(BuiltinCall *call) {
  return value_node(MAKE(DummyGlobalInfo, call->span, VOID_TYPE));
}
