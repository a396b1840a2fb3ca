/* graph_names.c -- names under R. and I.: types, values, module information. Calls: graph_calls.c;
 * devices: place.c. */
#include "lang/builtin/tensor.h"
#include "lang/dialect/tensor_names.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

/* ---- types ---- */

static bool is_text(Value v) { return v.type == &type_str || is_dtype(v); }

/* -1: unknown. */
static int rank_arg(BuiltinCall *call, int i) {
  int64_t ndim = value_as_int(ARG(i), "ndim", SPAN(i));
  if (ndim < -1 || ndim > INT16_MAX)
    raise("ValueError", SPAN(i), "ndim must be a number of dimensions, or -1 for any, found %lld",
          (long long)ndim);
  return (int)ndim;
}

Value r_tensor(BuiltinCall *call) {
  Value shape = ARG(0), dtype = ARG(1);
  /* R.Tensor("float32"): the only argument is the dtype. */
  if (is_text(shape) && value_is_none(dtype)) dtype = shape, shape = value_none();
  DataType t = value_is_none(dtype) || (is_text(dtype) && str_same(value_to_str(dtype), ""))
                   ? VOID_TYPE
                   : to_dtype(dtype, SPAN(1));
  int ndim = rank_arg(call, 3);
  Node *device = vdevice_of(ARG(2), SPAN(2));
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
  int ndim = rank_arg(call, 1);
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
  if (fields.len && fields.at[0].type == &type_node && node_is_relax(fields.at[0].node))
    return value_node(to_relax(value_tuple(fields), call->span)); /* relax.Tuple([x, y]) */
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
  ValueVec given = items_or_one(ARG(0));
  if (known)
    for each (Value, v, &given) vec_push(&params, to_sinfo(*v, SPAN(0)));
  Node *ret = value_is_none(ARG(1)) ? sinfo_object() : to_sinfo(ARG(1), SPAN(1));
  bool pure = value_is_none(ARG(2)) ? known : value_truth(ARG(2), SPAN(2));
  return value_node(MAKE(
      FuncStructInfo, call->span, VOID_TYPE, .known = known, .params = params, .ret = ret,
      .is_pure = pure,
      .derive_func = value_is_none(ARG(3)) ? NULL : value_as_text(ARG(3), "derive_func", SPAN(3))));
}

/* ---- functions and blocks ---- */

/* The call with the arguments as they are bound. */
static Value call_of_builder(const char *home, BuiltinCall *call) {
  const Builtin *b = call->builtin;
  CallArgs args = {.span = call->span};
  if (*b->signature == '*') args.positional = *value_items(ARG(0));
  else
    for (int i = 0; i < signature_parse(b->signature)->params.len; i++)
      vec_push(&args.positional, ARG(i));
  return value_call(library_attr(home, b->name), &args);
}

Value by_builder(BuiltinCall *call) {
  static const char *const home = "tvm.script.ir_builder.relax";
  bool there = !graph && library_is_loaded(home);
  return there ? call_of_builder(home, call) : value_absent();
}

Value r_of_builder(BuiltinCall *call) {
  Value built = by_builder(call);
  if (!built.type)
    raise_code(E0506, call->span, "R.%s stands only in a frame of an IRBuilder",
               call->builtin->name);
  return built;
}

Value r_func_attr(BuiltinCall *call) {
  Value built = by_builder(call);
  if (built.type) return built;
  GraphBuilder *g = need_graph("func_attr", call->span);
  if (g->attrs) raise_code(E0508, call->span, "the function has an R.func_attr already");
  g->attrs = dict_from_value(ARG(0), SPAN(0));
  return value_none();
}

Value r_dataflow(BuiltinCall *call) {
  Value built = by_builder(call);
  if (built.type) return built;
  need_graph("dataflow", call->span);
  return value_frame(NEW(Frame, .kind = FRAME_DATAFLOW));
}

Value r_output(BuiltinCall *call) {
  Value built = by_builder(call);
  if (built.type) return built;
  GraphBuilder *g = need_graph("output", call->span);
  if (!g->in_dataflow)
    raise_code(E0506, call->span, "R.output stands only inside a dataflow block");
  for each (Value, v, value_items(ARG(0))) {
    if (v->type == &type_poison) continue;
    if (v->type == &type_node && node_is_expr(v->node)) { /* the name of a scalar: no variable */
      vec_push(&g->outputs, v->node);
      continue;
    }
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

/* Nested lists can't tell the axes inside an empty one: shape= does. */
static Node *with_shape(Node *constant, Value shape, Span span) {
  const ConstData *d = AS(Constant, constant)->data;
  ValueVec items = value_to_vec(shape, span);
  VEC(int64_t) dims = {0};
  int64_t n = dtype_nbytes(d->elem);
  for each (Value, v, &items) {
    vec_push(&dims, value_as_int(*v, "a dimension", span));
    if (vec_last(&dims) < 0 || __builtin_mul_overflow(n, vec_last(&dims), &n))
      raise("ValueError", span, "a constant can't have a dimension of %lld",
            (long long)vec_last(&dims));
  }
  if ((size_t)n != d->nbytes)
    raise("ValueError", span, "a constant of %lld bytes is given %lld", (long long)n,
          (long long)d->nbytes);
  return constant_of_bytes(d->elem, dims.len, dims.at, d->bytes, span);
}

/* Numbers are int32, float32 and bool by default; lists and tensors keep their own dtype unless one
 * is given. */
Value r_const(BuiltinCall *call) {
  DataType t = value_is_none(ARG(1)) ? VOID_TYPE : to_dtype(ARG(1), SPAN(1));
  Value x = ARG(0);
  if (x.type == &type_str) x = value_float(to_special(x, t, SPAN(0)));
  Node *constant = constant_of_value(x, t, call->span);
  return value_node(value_is_none(ARG(2)) ? constant : with_shape(constant, ARG(2), SPAN(2)));
}

/* R.dist.const(1.0, R.DTensor(...)): the constant has the type that is given. */
Value r_dist_const(BuiltinCall *call) {
  Node *info = to_sinfo(ARG(1), SPAN(1));
  if (!IS(TensorStructInfo, info))
    raise("TypeError", SPAN(1), "expected R.DTensor(...), found %s", ir_print(info, NULL));
  Constant copy =
      *AS(Constant, constant_of_value(ARG(0), AS(TensorStructInfo, info)->elem, call->span));
  copy.sinfo = info;
  return value_node(gc_copy(&copy, sizeof copy));
}

/* An int is int64, as it is among operands; a float is float32, which it is not there. */
Value r_prim_value(BuiltinCall *call) {
  if (ARG(0).type == &type_int) return value_node(to_relax(ARG(0), SPAN(0)));
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

/* ---- I ---- */

Value i_module_attrs(BuiltinCall *call) {
  ModuleBuilder *m = need_module("module_attrs", call->span);
  m->attrs = dict_from_value(ARG(0), SPAN(0));
  return value_none();
}

Value i_module_get_attr(BuiltinCall *call) {
  ModuleBuilder *m = need_module("module_get_attr", call->span);
  return from_attr(dict_get(m->attrs, value_as_text(ARG(0), "the key of an attribute", SPAN(0))));
}

Value i_module_set_attr(BuiltinCall *call) {
  ModuleBuilder *m = need_module("module_set_attr", call->span);
  const char *key = value_as_text(ARG(0), "the key of an attribute", SPAN(0));
  if (dict_get(m->attrs, key) && !value_truth(ARG(2), SPAN(2)))
    raise("ValueError", call->span, "the module has an attribute '%s' already", key);
  m->attrs = dict_with(m->attrs, key, to_attr(ARG(1), SPAN(1)));
  return value_none();
}

Value i_global_var(BuiltinCall *call) {
  const char *name = value_as_text(ARG(0), "the name of a function", SPAN(0));
  return value_node(MAKE(GlobalVar, call->span, VOID_TYPE, .sinfo = sinfo_object(), .name = name));
}

Value i_op(BuiltinCall *call) {
  const char *name = value_as_text(ARG(0), "the name of an operator", SPAN(0));
  return value_node(op_get(str_intern(name)));
}

Value i_module_global_infos(BuiltinCall *call) {
  ModuleBuilder *m = need_module("module_global_infos", call->span);
  m->global_infos = dict_from_value(ARG(0), SPAN(0));
  return value_none();
}
