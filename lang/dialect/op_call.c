/* op_call.c -- calls of graph operators: R.add(x, y). Arguments are bound to the parameters of the
 * definition, and become operands and attributes. */
#include "lang/dialect/op.h"
#include "lang/builtin/tensor.h"
#include "lang/value/object.h"

/* ---- attributes ---- */

static _Noreturn void unfit(const OpParam *p, const char *want, Value v, Span span) {
  raise("TypeError", span, "'%s' must be %s, found %s", p->name, want, value_type_name(v));
}

/* A graph value that stands for a plain one: R.prim_value(1), R.str("x"). */
static Value plain_value(Value v) {
  if (value_is_node(v, NK_PrimValue)) v = value_node(AS(PrimValue, v.node)->value);
  if (value_is_node(v, NK_StringValue)) return value_str(AS(StringValue, v.node)->value);
  if (value_is_node(v, NK_IntImm) || value_is_node(v, NK_FloatImm)) return from_attr(v.node);
  return v;
}

static bool is_scalar_expr(Value v) { return v.type == &type_node && node_is_expr(v.node); }

static Node *int_list(const OpParam *p, Value v, Span span) {
  ValueVec items = {0};
  if (value_is_node(v, NK_ShapeExpr) || value_is_node(v, NK_Tuple)) items = value_to_vec(v, span);
  else if (v.type == &type_list || v.type == &type_tuple) items = *value_items(v);
  else vec_push(&items, v);
  NodeVec out = {0};
  for each (Value, x, &items) {
    Value item = plain_value(*x);
    bool dim = is_scalar_expr(item) && dtype_is_int(item.node->dtype);
    if (item.type != &type_int && !dim) unfit(p, "an int or a list of ints", v, span);
    vec_push(&out, to_attr(item, span));
  }
  return MAKE(Array, span, VOID_TYPE, .items = out);
}

static Node *index_map(Value v, Span span) {
  if (v.type == &type_node) return v.node;
  Value make = value_get_attr(tensor_namespace(), str_intern("index_map"), span);
  CallArgs args = {.span = span};
  vec_push(&args.positional, v);
  vec_push(&args.names, str_intern("index_dtype"));
  vec_push(&args.named, value_str("int64"));
  return value_call(make, &args).node;
}

Node *op_attr_node(const OpParam *p, Value v, Span span) {
  bool empty_dtype = p->kind == PARAM_DTYPE && v.type == &type_str &&
                     (!*value_text(v) || str_same(value_text(v), "void"));
  if (value_is_none(v) || empty_dtype) return to_attr(value_none(), span);
  if (p->kind != PARAM_ATTR && p->kind != PARAM_DTYPE) v = plain_value(v);
  switch (p->kind) {
  case PARAM_INTS: return int_list(p, v, span);
  case PARAM_INT:
    if (v.type != &type_int && !is_scalar_expr(v)) unfit(p, "an int", v, span);
    break;
  case PARAM_FLOAT:
    if (v.type == &type_int) return to_attr(value_float((double)v.integer), span);
    if (v.type != &type_float && !is_scalar_expr(v)) unfit(p, "a float", v, span);
    break;
  case PARAM_BOOL:
    if (v.type == &type_int) return to_attr(value_bool(v.integer != 0), span);
    if (v.type != &type_bool) unfit(p, "a bool", v, span);
    break;
  case PARAM_TEXT:
    if (v.type != &type_str) unfit(p, "text", v, span);
    break;
  case PARAM_DTYPE: return string_imm(dtype_text(to_dtype(v, span)), span);
  case PARAM_INDEX_MAP: return index_map(v, span);
  default:
    if (value_is_node(v, NK_ShapeExpr))
      return MAKE(Array, span, VOID_TYPE, .items = AS(ShapeExpr, v.node)->values);
  }
  return to_attr(v, span);
}

/* ---- operands ---- */

/* A tuple of scalars: of ints, expressions and R.prim_value; or a variable of tuple type. */
static Node *prims(const OpParam *p, Value v, Span span) {
  if (v.type == &type_node && node_is_relax(v.node) && IS(TupleStructInfo, sinfo_of(v.node)))
    return v.node;
  bool many = v.type == &type_list || v.type == &type_tuple || value_is_node(v, NK_ShapeExpr);
  ValueVec items = {0}, out = {0};
  if (many) items = value_to_vec(v, span);
  else vec_push(&items, v);
  for each (Value, x, &items) {
    Node *prim = to_relax(plain_value(*x), span);
    if (!IS(PrimStructInfo, sinfo_of(prim))) unfit(p, "a list of scalars", *x, span);
    vec_push(&out, value_node(prim));
  }
  return to_relax(value_tuple(out), span);
}

/* What computes a shape is bound to a variable first: struct info may name it then. */
static Node *shape_operand(const OpParam *p, Value v, Span span) {
  bool computed = v.type == &type_node && node_is_relax(v.node) && !IS(ShapeExpr, v.node) &&
                  !IS(RelaxVar, v.node) && IS(ShapeStructInfo, sinfo_of(v.node));
  if (computed && graph) return graph_emit(graph_normalize(v.node), NULL, span);
  if (v.type == &type_int || is_scalar_expr(v)) unfit(p, "a tuple of dims", v, span);
  Node *shape = to_shape(v, span);
  int64_t dim;
  if (IS(ShapeExpr, shape))
    for each (Node *, d, &AS(ShapeExpr, shape)->values)
      if (expr_is_const_int(*d, &dim) && dim < (p->kind == PARAM_OPEN_SHAPE ? -1 : 0))
        raise("ValueError", span, "'%s' must have no negative dim, found %lld", p->name,
              (long long)dim);
  return shape;
}

/* R.tuple() stands for an operand that is left out. */
static bool is_left_out(Value v) {
  return value_is_none(v) || (value_is_node(v, NK_Tuple) && !AS(Tuple, v.node)->fields.len);
}

static Node *operand_node(const OpParam *p, Value v, Span span) {
  bool optional = p->kind != PARAM_ANY && value_is_none(p->otherwise);
  if (value_is_none(v) || (optional && is_left_out(v))) return MAKE(None, span, VOID_TYPE);
  switch (p->kind) {
  case PARAM_SHAPE:
  case PARAM_OPEN_SHAPE: return shape_operand(p, v, span);
  case PARAM_PRIMS: return prims(p, v, span);
  case PARAM_DTYPE_VALUE:
    return to_relax(v.type == &type_str ? value_dtype(to_dtype(v, span)) : v, span);
  case PARAM_TENSOR:
  case PARAM_TENSOR_OR_PRIM:
    if (v.type == &type_poison) raise(ERROR_POISONED, span, "an earlier error");
    if (v.type != &type_node && v.type != &type_tensor)
      raise_code(E0509, span, "'%s' must be a tensor, found %s; write R.const(value, dtype)",
                 p->name, value_type_name(v));
    return to_relax(v, span);
  case PARAM_PRIM: {
    Node *prim = to_relax(v, span);
    if (!IS(PrimStructInfo, sinfo_of(prim))) unfit(p, "a scalar", v, span);
    return prim;
  }
  default: return to_relax(v, span);
  }
}

/* ---- binding ---- */

static int find_param(const OpDefinition *d, const char *name) {
  for (int i = 0; i < d->params.len; i++)
    if (str_same(d->params.at[i].name, name)) return i;
  return -1;
}

static _Noreturn void unknown_argument(const OpDefinition *d, const char *name, Span span) {
  StrVec names = {0};
  for each (const OpParam, p, &d->params) vec_push(&names, p->name);
  const char *near = str_near(name, names.at, names.len);
  raise_code(E0501, span, "R.%s has no argument '%s'%s%s%s", op_short_name(&d->info), name,
             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* The value given for each parameter, or its default; for *rest a list. */
static ValueVec bind_params(const OpDefinition *d, CallArgs *args) {
  const char *op = op_short_name(&d->info);
  ValueVec given = {0};
  int at = 0;
  vec_reserve(&given, d->params.len);
  for each (const OpParam, p, &d->params) {
    Value v = value_absent();
    if (p->kind == PARAM_REST) {
      ValueVec rest = {0};
      while (at < args->positional.len) vec_push(&rest, args->positional.at[at++]);
      if (rest.len) v = value_list(rest);
    } else if (at < args->positional.len) v = args->positional.at[at++];
    vec_push(&given, v);
  }
  if (at < args->positional.len)
    raise_code(E0502, args->span, "R.%s takes %d argument%s, %d are given", op, d->params.len,
               d->params.len == 1 ? "" : "s", args->positional.len);
  for (int i = 0; i < args->names.len; i++) {
    int k = find_param(d, args->names.at[i]);
    if (k < 0) unknown_argument(d, args->names.at[i], args->span);
    if (given.at[k].type)
      raise("TypeError", args->span, "R.%s: '%s' is given twice", op, args->names.at[i]);
    given.at[k] = args->named.at[i];
  }
  for (int i = 0; i < given.len; i++) {
    const OpParam *p = &d->params.at[i];
    if (!given.at[i].type) given.at[i] = p->otherwise;
    if (!given.at[i].type && p->kind == PARAM_REST) given.at[i] = value_list((ValueVec){0});
    if (!given.at[i].type) raise_code(E0502, args->span, "R.%s needs '%s'", op, p->name);
    if (given.at[i].type == &type_poison) raise(ERROR_POISONED, args->span, "an earlier error");
  }
  return given;
}

/* ---- the call ---- */

static void add_rest(NodeVec *operands, Value rest, Span span) {
  bool many = rest.type == &type_list || rest.type == &type_tuple;
  if (!many && !value_is_none(rest)) return (void)(vec_push(operands, to_relax(rest, span)), 0);
  if (!many) return;
  for each (Value, v, value_items(rest)) {
    if (v->type != &type_list) vec_push(operands, to_relax(*v, span));
    else
      for each (Value, x, value_items(*v)) vec_push(operands, to_relax(*x, span));
  }
}

typedef struct Making {
  const OpDefinition *definition;
  CallArgs *args;
  Value result;
} Making;

static void make_call(void *context) {
  Making *m = context;
  const OpDefinition *d = m->definition;
  Span span = m->args->span;
  ValueVec given = bind_params(d, m->args);
  if (!value_is_none(d->sugar)) {
    m->result = value_call_with(d->sugar, given.len, given.at, span);
    return;
  }
  if (!value_is_none(d->normalize)) {
    given = value_to_vec(value_call_with(d->normalize, given.len, given.at, span), span);
    REQUIRE(given.len == d->params.len, "%s: normalize gives %d values", d->info.name, given.len);
  }
  NodeVec operands = {0}, attrs = {0};
  StrVec keys = {0};
  int n = d->info.attrs.len;
  vec_reserve(&operands, given.len - n);
  vec_reserve(&attrs, n);
  vec_reserve(&keys, n);
  for (int i = 0; i < d->params.len; i++) {
    const OpParam *p = &d->params.at[i];
    bool left_out = false;
    if (p->kind == PARAM_REST) {
      add_rest(&operands, given.at[i], span);
    } else if (is_operand_kind(p->kind)) {
      vec_push(&operands, operand_node(p, given.at[i], span));
      left_out = IS(None, vec_last(&operands));
    } else {
      vec_push(&keys, p->name);
      vec_push(&attrs, op_attr_node(p, given.at[i], span));
      left_out = IS(None, vec_last(&attrs));
    }
    if (left_out && !p->otherwise.type)
      raise("TypeError", span, "'%s' must be given, found None", p->name);
  }
  while (operands.len && IS(None, vec_last(&operands))) operands.len--;
  Node *dict = n ? dict_make(keys, attrs) : NULL;
  m->result = value_node(relax_call(d->op, operands, dict, (NodeVec){0}, span));
}

/* The definition's normalize(...) turns the values of all parameters into those of the normal form;
 * sugar(...) makes the graph value itself, of other operators. Errors of both are about the call,
 * not about the library. */
static Value call_op(Value f, CallArgs *args) {
  OpDefinition *d = definition_of(f.object);
  Making m = {.definition = d, .args = args};
  Error *e = op_run_rule(make_call, &m);
  if (!e) return m.result;
  if (str_same(e->kind, ERROR_INTERNAL) || str_same(e->kind, ERROR_POISONED)) error_raise(e);
  bool named = strncmp(e->text, "R.", 2) == 0;
  const char *text = named ? e->text : str_format("R.%s: %s", op_short_name(&d->info), e->text);
  error_raise(NEW(Error, .kind = e->kind, .code = e->code, .text = text, .span = args->span));
}

static void op_repr(Value v, Str *out) { str_printf(out, "R.%s", op_short_name(v.object)); }
static Value op_attr(Value v, const char *name, Span span) {
  (void)span;
  const OpInfo *info = v.object;
  if (str_same(name, "__doc__")) return value_str(info->doc);
  if (!str_same(name, "__name__")) return value_absent();
  const char *dot = strrchr(info->name, '.');
  return value_str(dot ? dot + 1 : info->name);
}
const ValueType type_op = {
    .name = "operator", .repr = op_repr, .call = call_op, .get_attr = op_attr};
