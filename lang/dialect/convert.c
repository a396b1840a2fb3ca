/* convert.c -- values of the script to IR nodes, and attribute values back. */
#include "lang/dialect/dialect_impl.h"
#include "lang/value/big_int.h"
#include "lang/builtin/tensor.h"
#include "target/runtime/tvms.h"

const char *value_type_name(Value v) {
  if (!v.type) return "nothing";
  if (v.type == &type_node) return node_kind_name(v.node->kind);
  return v.type->name;
}

static _Noreturn void cannot(Value v, const char *want, Span span) {
  if (v.type == &type_poison) raise(ERROR_POISONED, span, "an earlier error");
  raise("TypeError", span, "expected %s, found %s", want, value_type_name(v));
}

/* T.vscale() * k */
static bool is_scaled(Node *n) {
  return is_intrin_call(n, "vscale") || (IS(Mul, n) && (is_intrin_call(AS(Mul, n)->a, "vscale") ||
                                                        is_intrin_call(AS(Mul, n)->b, "vscale")));
}

/* A[0:4] where a value is needed: a vector of as many elements as the one open axis has. */
static Node *region_load(Node *node, Span span) {
  BufferRegion *r = AS(BufferRegion, node);
  NodeVec at = {0};
  for each (Node *, range, &r->region) {
    Range *x = AS(Range, *range);
    int64_t n;
    if (!expr_is_const_int(x->extent, &n) && is_scaled(x->extent)) {
      int lanes = lanes_of_value(value_node(x->extent), span);
      vec_push(&at, MAKE(Ramp, span, dtype_with_lanes(x->min->dtype, lanes), .base = x->min,
                         .stride = int_imm(x->min->dtype, 1, span), .lanes = lanes));
      continue;
    }
    if (!expr_is_const_int(x->extent, &n) || n < 1 || n > INT16_MAX)
      raise("TypeError", span,
            "a slice used as a value needs a constant, positive number of elements");
    vec_push(&at, n == 1 ? x->min
                         : MAKE(Ramp, span, dtype_with_lanes(x->min->dtype, (int)n), .base = x->min,
                                .stride = int_imm(x->min->dtype, 1, span), .lanes = (int)n));
  }
  return expr_load(r->buffer, at, span);
}

/* A buffer of one element stands for it. */
static bool is_one_element(const Node *n) {
  if (!IS(Buffer, n) || !tensor) return false;
  const Buffer *b = (const Buffer *)(const void *)n;
  for each (Node *, d, &b->shape)
    if (!expr_is_one(*d)) return false;
  return b->shape.len > 0;
}

static Node *only_element(Node *buffer, Span span) {
  NodeVec zeros = {0};
  for each (Node *, d, &AS(Buffer, buffer)->shape) vec_push(&zeros, int_imm((*d)->dtype, 0, span));
  return expr_load(buffer, zeros, span);
}

_Noreturn static void too_large(Value v, Span span) {
  raise("OverflowError", span,
        "%s does not fit in int64, the dtype of a bare int; T.uint64(...) holds up to 2**64 - 1",
        value_repr(v));
}

Node *to_expr(Value v, Span span) {
  if (v.type == &type_bool) return int_imm(BOOL, v.boolean, span);
  if (v.type == &type_big) too_large(v, span);
  if (v.type == &type_int)
    return int_imm(v.integer == (int32_t)v.integer ? INT32 : INT64, v.integer, span);
  if (v.type == &type_float) return float_imm(FLOAT32, v.real, span);
  if (v.type == &type_str) return string_imm(value_text(v), span);
  if (is_dtype(v)) return string_imm(dtype_text(to_dtype(v, span)), span);
  if (v.type == &type_open) return open_call(v, &(CallArgs){.span = span});
  if (v.type == &type_node) {
    Node *n = v.node;
    if (node_is_expr(n)) return n;
    if (IS(BufferRegion, n)) return region_load(n, span);
    if (is_one_element(n)) return only_element(n, span);
    if (IS(PrimValue, n)) return AS(PrimValue, n)->value;
    if (IS(IterVar, n)) return AS(IterVar, n)->var;
    if (IS(RelaxVar, n) && graph_scalar(n)) return graph_scalar(n);
    if (IS(Buffer, n))
      raise("TypeError", span,
            "buffer '%s' is not a value; index it, or use '.data' for its pointer",
            AS(Buffer, n)->name);
  }
  cannot(v, "a scalar expression", span);
}

Node *to_expr_for(Value v, DataType t, Span span) {
  if (v.type != &type_float || !dtype_is_float(t)) return to_expr(v, span);
  return float_imm(dtype_element(t), v.real, span);
}

NodeVec to_operands(int n, const Value *values, Span span) {
  NodeVec out = {0};
  DataType t = VOID_TYPE;
  for (int i = 0; i < n; i++) {
    vec_push(&out, to_expr(values[i], span));
    bool decides = values[i].type != &type_float && dtype_is_float(out.at[i]->dtype);
    if (decides && dtype_is_void(t)) t = out.at[i]->dtype;
  }
  for (int i = 0; i < n; i++)
    if (values[i].type == &type_float) out.at[i] = to_expr_for(values[i], t, span);
  return out;
}

ValueVec items_or_one(Value v) {
  if (v.type == &type_tuple || v.type == &type_list) return *value_items(v);
  ValueVec one = {0};
  vec_push(&one, v);
  return one;
}

NodeVec to_dims(Value v, Span span) {
  NodeVec out = {0};
  if (v.type != &type_tuple && v.type != &type_list) return to_exprs(v, span);
  for each (Value, x, value_items(v))
    vec_push(&out, x->type == &type_str ? dim_from_text(value_text(*x), span) : to_expr(*x, span));
  return out;
}

NodeVec to_exprs(Value v, Span span) {
  NodeVec out = {0};
  v = value_plain(v); /* a ShapeTuple is a tuple */
  if (v.type == &type_tuple || v.type == &type_list) {
    for each (Value, x, value_items(v)) vec_push(&out, to_expr(*x, span));
  } else if (value_is_node(v, NK_ShapeExpr)) {
    return AS(ShapeExpr, v.node)->values;
  } else {
    vec_push(&out, to_expr(v, span));
  }
  return out;
}

void check_int_fits(DataType t, int64_t value, Span span) {
  bool any = dtype_is_bool(t) || (t.code == DTYPE_UINT && t.bits == 64);
  if (!any && (value < dtype_min_int(t) || value > dtype_max_int(t)))
    raise_code(E0504, span, "%lld does not fit in %s", (long long)value, dtype_text(t));
}

bool is_dtype(Value v) {
  DataType t;
  return v.type == &type_dtype || value_is_numpy_dtype(v, &t);
}

DataType to_dtype(Value v, Span span) {
  DataType t;
  if (v.type == &type_dtype) {
    DataType *p = v.object;
    return *p;
  }
  if (value_is_numpy_dtype(v, &t)) return t;
  if (v.type == &type_tensor_dtype) return AS(TensorStructInfo, sinfo_of(v.object))->elem;
  if (value_is_node(v, NK_DataTypeImm)) return AS(DataTypeImm, v.node)->value;
  if (value_is_node(v, NK_PrimStructInfo)) return AS(PrimStructInfo, v.node)->elem;
  if (v.type != &type_str) cannot(v, "a dtype such as \"float32\"", span);
  if (!dtype_parse(value_text(v), &t)) {
    static const char *const known[] = {
        "int8",   "int16",  "int32",   "int64",         "uint8",      "uint16",
        "uint32", "uint64", "float16", "float32",       "float64",    "bfloat16",
        "bool",   "handle", "void",    "float8_e4m3fn", "float8_e5m2"};
    const char *near = str_near(value_text(v), known, sizeof known / sizeof *known);
    raise_code(E0503, span, "'%s' is not a dtype%s%s%s", value_text(v),
               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
  return t;
}

/* ---- graph values ---- */

static Node *prim_value(Node *e, Span span) {
  Node *info = MAKE(PrimStructInfo, span, VOID_TYPE, .elem = e->dtype, .value = e);
  return MAKE(PrimValue, span, VOID_TYPE, .sinfo = info, .value = e);
}

static Node *tuple_node(NodeVec fields, Span span) {
  NodeVec infos = {0};
  for each (Node *, f, &fields) vec_push(&infos, sinfo_of(*f) ? sinfo_of(*f) : sinfo_object());
  return MAKE(Tuple, span, VOID_TYPE, .sinfo = sinfo_tuple(infos, span), .fields = fields);
}

Node *to_relax(Value v, Span span) {
  stack_check(span);
  if (v.type == &type_bool) return prim_value(to_expr(v, span), span);
  if (v.type == &type_float) return prim_value(float_imm(FLOAT64, v.real, span), span);
  if (v.type == &type_big) too_large(v, span);
  if (v.type == &type_int) return prim_value(int_imm(INT64, v.integer, span), span);
  if (v.type == &type_str)
    return MAKE(StringValue, span, VOID_TYPE, .sinfo = sinfo_object(), .value = value_text(v));
  if (is_dtype(v))
    return MAKE(DataTypeImm, span, VOID_TYPE, .sinfo = sinfo_object(), .value = to_dtype(v, span));
  if (v.type == &type_tensor) return constant_node(v, span);
  if (v.type == &type_tuple || v.type == &type_list) {
    NodeVec fields = {0};
    for each (Value, x, value_items(v)) vec_push(&fields, to_relax(*x, span));
    return tuple_node(fields, span);
  }
  if (v.type == &type_node) {
    Node *n = v.node;
    if (IS(Tuple, n) && !sinfo_of(n)) return tuple_node(AS(Tuple, n)->fields, n->span);
    if (node_is_relax(n)) return n;
    if (node_is_expr(n)) return prim_value(n, span);
  }
  cannot(v, "a graph expression", span);
}

static Node *graph_dim(Node *d, Span span) {
  if (!dtype_is_int(d->dtype))
    raise("TypeError", span, "a dimension must be an integer, found %s", dtype_text(d->dtype));
  return expr_cast(INT64, d, span);
}

/* Dims of graph tensors are int64. */
static NodeVec graph_dims(Value v, Span span) {
  NodeVec out = {0};
  if (v.type != &type_tuple && v.type != &type_list) {
    NodeVec dims = to_exprs(v, span);
    vec_reserve(&out, dims.len);
    for each (Node *, d, &dims) vec_push(&out, graph_dim(*d, span));
    return out;
  }
  vec_reserve(&out, value_items(v)->len);
  for each (Value, x, value_items(v)) {
    if (x->type == &type_int) vec_push(&out, int_imm(INT64, x->integer, span));
    else if (x->type == &type_str)
      vec_push(&out, graph_dim(dim_from_text(value_text(*x), span), span));
    else vec_push(&out, graph_dim(to_expr(*x, span), span));
  }
  return out;
}

Node *to_shape(Value v, Span span) {
  if (value_is_node(v, NK_ShapeExpr)) return v.node;
  if (value_is_node(v, NK_RelaxVar)) {
    if (IS(ShapeStructInfo, sinfo_of(v.node))) return v.node;
    raise("TypeError", span, "expected a shape, found a variable of %s",
          ir_print(sinfo_of(v.node), NULL));
  }
  NodeVec dims = graph_dims(v, span);
  Node *info =
      MAKE(ShapeStructInfo, span, VOID_TYPE, .known = true, .values = dims, .ndim = dims.len);
  return MAKE(ShapeExpr, span, VOID_TYPE, .sinfo = info, .values = dims);
}

Node *to_sinfo(Value v, Span span) {
  stack_check(span);
  if (value_is_none(v)) return sinfo_tuple((NodeVec){0}, span);
  if (v.type == &type_node && node_is_sinfo(v.node)) return v.node;
  if (v.type == &type_dtype)
    return MAKE(PrimStructInfo, span, VOID_TYPE, .elem = to_dtype(v, span));
  if (v.type == &type_tuple || v.type == &type_list) {
    NodeVec fields = {0};
    for each (Value, x, value_items(v)) vec_push(&fields, to_sinfo(*x, span));
    return sinfo_tuple(fields, span);
  }
  /* R.Tensor without parentheses: called with nothing. */
  if (v.type == &type_annotation) return to_sinfo(value_call_with(v, 0, NULL, span), span);
  cannot(v, "a type such as R.Tensor((n, 4), \"float32\")", span);
}

/* ---- attributes ---- */

const char *attr_key(Value key, Span span) {
  return dict_key(value_as_text(key, "the key of an attribute", span));
}

Node *dict_from_value(Value dict, Span span) {
  if (dict.type != &type_dict) cannot(dict, "a dict of attributes", span);
  Node *out = dict_new();
  for (int i = 0; i < value_dict_len(dict); i++) {
    Value key, x;
    value_dict_entry(dict, i, &key, &x);
    out = dict_with(out, attr_key(key, span), to_attr(x, span));
  }
  return out;
}

bool value_is_target(Value v, Span span) {
  return v.type == &type_instance && library_is_loaded("tvm.target") &&
         value_is_instance(v, library_attr("tvm.target", "Target"), span);
}

static Node *target_attr(Value v, Span span) {
  Value host = value_get_attr(v, str_intern("host"), span);
  const char *of_host = value_is_none(host) ? NULL : str_intern(value_to_str(host));
  return MAKE(TargetAttr, span, VOID_TYPE, .text = str_intern(value_to_str(v)), .host = of_host);
}

Node *to_attr(Value v, Span span) {
  stack_check(span);
  if (value_is_none(v)) return MAKE(None, span, VOID_TYPE);
  if (v.type == &type_bool) return int_imm(BOOL, v.boolean, span);
  if (v.type == &type_big) too_large(v, span);
  if (v.type == &type_int)
    return int_imm(v.integer == (int32_t)v.integer ? INT32 : INT64, v.integer, span);
  if (v.type == &type_float) return float_imm(FLOAT64, v.real, span);
  if (v.type == &type_str) return string_imm(value_text(v), span);
  if (is_dtype(v)) return string_imm(dtype_text(to_dtype(v, span)), span);
  if (v.type == &type_dict) return dict_from_value(v, span);
  if (v.type == &type_tuple || v.type == &type_list) {
    NodeVec items = {0};
    for each (Value, x, value_items(v)) vec_push(&items, to_attr(*x, span));
    return MAKE(Array, span, VOID_TYPE, .items = items, .is_tuple = false);
  }
  if (v.type == &type_node) return v.node;
  if (value_is_target(v, span)) return target_attr(v, span);
  cannot(v, "an attribute value (a number, text, a list, a dict)", span);
}

static Value target_value(TargetAttr *t) {
  Value args[] = {value_str(t->text), t->host ? value_str(t->host) : value_none()};
  return value_call_with(library_attr("tvm.target", "Target"), 2, args, t->node.span);
}

Value int_of_imm(const Node *n) {
  int64_t value = AS(IntImm, n)->value;
  return n->dtype.code == DTYPE_UINT ? big_from_uint64((uint64_t)value) : value_int(value);
}

Value from_attr(Node *n) {
  if (!n || IS(None, n)) return value_none();
  stack_check(n->span);
  if (IS(IntImm, n) && dtype_is_bool(n->dtype)) return value_bool(AS(IntImm, n)->value != 0);
  if (IS(IntImm, n)) return int_of_imm(n);
  if (IS(FloatImm, n)) return value_float(AS(FloatImm, n)->value);
  if (IS(StringImm, n)) return value_str(AS(StringImm, n)->value);
  if (IS(Array, n)) {
    ValueVec items = {0};
    for each (Node *, x, &AS(Array, n)->items) vec_push(&items, from_attr(*x));
    return value_list(items);
  }
  if (IS(Dict, n)) {
    Dict *d = AS(Dict, n);
    Value out = value_attrs();
    for (int i = 0; i < d->keys.len; i++)
      value_dict_set(out, value_str(d->keys.at[i]), from_attr(d->values.at[i]), n->span);
    return out;
  }
  return IS(TargetAttr, n) ? target_value(AS(TargetAttr, n)) : value_node(n);
}

/* ---- dtypes as values ---- */

static void dtype_repr(Value v, Str *out) {
  str_printf(out, "T.%s", dtype_text(to_dtype(v, (Span){0})));
}

double to_special(Value text, DataType t, Span span) {
  static const struct {
    const char *name;
    double value;
  } specials[] = {{"inf", __builtin_inf()}, {"-inf", -__builtin_inf()}, {"nan", __builtin_nan("")}};
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
    if (!str_same(value_text(text), specials[i].name)) continue;
    if (dtype_is_float(t)) return specials[i].value;
    raise("TypeError", span, "%s has no %s", dtype_text(t), specials[i].name);
  }
  raise("ValueError", span, "expected a number, \"inf\", \"-inf\" or \"nan\", found \"%s\"",
        value_text(text));
}

static Value dtype_call(Value f, CallArgs *args) {
  DataType t = to_dtype(f, args->span);
  if (args->positional.len > 1)
    raise_code(E0502, args->span, "T.%s takes one value at most, %d are given", dtype_text(t),
               args->positional.len);
  bool is_size = false;
  const char *scope = NULL;
  for (int i = 0; i < args->names.len; i++) {
    if (str_same(args->names.at[i], "is_size_var"))
      is_size = value_truth(args->named.at[i], args->span);
    else if (str_same(args->names.at[i], "storage_scope"))
      scope = value_as_text(args->named.at[i], "storage_scope", args->span);
    else if (!str_same(args->names.at[i], "dtype"))
      raise_code(E0501, args->span, "T.%s has no argument '%s'", dtype_text(t), args->names.at[i]);
  }
  if (!args->positional.len || value_is_none(args->positional.at[0]))
    return value_node(
        MAKE(Var, args->span, t, .elem = VOID_TYPE, .scope = scope, .is_size = is_size));
  Value x = args->positional.at[0];
  if (x.type == &type_str)
    return value_node(float_imm(t, to_special(x, t, args->span), args->span));
  if (x.type == &type_big && (dtype_is_int(t) || dtype_is_float(t))) {
    uint64_t bits;
    if (dtype_is_float(t))
      return value_node(float_imm(t, big_to_double(x, args->span), args->span));
    if (t.code != DTYPE_UINT || t.bits != 64 || !big_as_uint64(x, &bits))
      raise("OverflowError", args->span, "%s does not fit in %s", value_repr(x), dtype_text(t));
    return value_node(int_imm(t, (int64_t)bits, args->span));
  }
  if (x.type == &type_int && dtype_is_int(t)) {
    check_int_fits(t, x.integer, args->span);
    return value_node(int_imm(t, x.integer, args->span));
  }
  if (x.type == &type_int && dtype_is_float(t))
    return value_node(float_imm(t, (double)x.integer, args->span));
  if (x.type == &type_float && dtype_is_float(t))
    return value_node(float_imm(t, x.real, args->span));
  return value_node(expr_cast(t, to_expr(x, args->span), args->span));
}

/* T.float32[8] as an annotation: memory of a thread. */
static Value dtype_item(Value v, Value index, Span span) {
  if (!tensor)
    raise("TypeError", span, "T.%s[...] stands only in a prim_func", dtype_text(to_dtype(v, span)));
  NodeVec shape = to_exprs(index, span);
  for each (Node *, d, &shape)
    if (!dtype_is_int((*d)->dtype))
      raise("TypeError", span, "a dimension must be an integer, found %s",
            IS(StringImm, *d) ? "text" : dtype_text((*d)->dtype));
  Node *buffer = buffer_new(NULL, to_dtype(v, span), shape, "local", span);
  return value_frame(NEW(Frame, .kind = FRAME_WRAP, .wrapper = allocation_of(buffer, NULL),
                         .bound = value_node(buffer)));
}

static bool dtype_same(Value a, Value b) {
  if (b.type == &type_str || a.type == &type_str) {
    const char *x = a.type == &type_str ? value_text(a) : dtype_text(to_dtype(a, (Span){0}));
    const char *y = b.type == &type_str ? value_text(b) : dtype_text(to_dtype(b, (Span){0}));
    return str_same(x, y);
  }
  return a.type == b.type && dtype_equal(to_dtype(a, (Span){0}), to_dtype(b, (Span){0}));
}

const ValueType type_dtype = {.name = "dtype",
                              .repr = dtype_repr,
                              .call = dtype_call,
                              .get_item = dtype_item,
                              .equal = dtype_same};

Value value_dtype(DataType t) {
  return value_of(&type_dtype, NEW(DataType, t.code, t.bits, t.lanes));
}
