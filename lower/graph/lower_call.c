/* lower_call.c -- calls of a graph function in host code: tensor programs directly, everything else
 * by the packed convention. */
#include "lower/graph/graph_impl.h"

/* ---- tensors ---- */

static Node *product(Host *h, NodeVec dims) {
  Node *n = int_imm(INT64, 1, h->span);
  for each (Node *, d, &dims) n = expr_mul(n, *d);
  return n;
}

static Node *dims_array(Host *h, NodeVec dims) {
  return host_array(h, "shape", INT64, dims.len ? dims : NODES(int_imm(INT64, 0, h->span)));
}

HostValue *graph_new_tensor(GraphLower *g, NodeVec dims, DataType elem, bool as_object,
                            const char *name) {
  Host *h = g->host;
  HostValue *v = NEW(HostValue, .kind = HOST_TENSOR, .dims = dims, .elem = elem);
  v->data = pointer_var_new(str_format("%s_data", name), elem, "global", h->span);
  if (as_object) {
    Node *shape = dims_array(h, dims);
    Node *made = host_call(h, "tvms_frame_tensor", HANDLE,
                           NODES(h->frame, host_int(h, dims.len), shape,
                                 host_int(h, dtype_dlpack_code(elem)), host_int(h, elem.bits),
                                 host_int(h, elem.lanes)));
    v->object = host_object(h, name, made);
    host_let_var(h, v->data, host_call(h, "tvms_tensor_address", HANDLE, NODES(v->object)));
    return v;
  }
  Node *nbytes = expr_mul(product(h, dims), int_imm(INT64, dtype_nbytes(elem), h->span));
  Node *memory = host_object(h, str_format("%s_memory", name),
                             host_call(h, "tvms_frame_alloc", HANDLE, NODES(h->frame, nbytes)));
  host_let_var(h, v->data, memory);
  return v;
}

/* The tensor as an object: what is workspace or constant so far is copied into one. */
static Node *tensor_object(GraphLower *g, HostValue *v) {
  if (v->object) return v->object;
  Host *h = g->host;
  HostValue *copy = graph_new_tensor(g, v->dims, v->elem, true, "copy");
  Node *nbytes = expr_mul(product(h, v->dims), int_imm(INT64, dtype_nbytes(v->elem), h->span));
  host_add(h, stmt_evaluate(host_call(h, "memcpy", HANDLE, NODES(copy->data, v->data, nbytes)),
                            h->span));
  return copy->object;
}

/* ---- the packed convention ---- */

static void packed_tuple(GraphLower *g, HostValue *v, Node **bits, Span span) {
  Host *h = g->host;
  NodeVec values = {0}, types = {0};
  for each (HostValue *, f, &v->fields) {
    Node *b, *t;
    graph_packed(g, *f, &b, &t, span);
    vec_push(&values, b);
    vec_push(&types, t);
  }
  Node *va = host_array(h, "fields", INT64, values),
       *ta = host_array(h, "field_types", INT32, types);
  *bits = host_bits(h, host_object(h, "tuple",
                                   host_call(h, "tvms_frame_tuple", HANDLE,
                                             NODES(h->frame, host_int(h, v->fields.len), va, ta))));
}

void graph_packed(GraphLower *g, HostValue *v, Node **bits, Node **type, Span span) {
  Host *h = g->host;
  switch (v->kind) {
  case HOST_TENSOR:
    *bits = host_bits(h, tensor_object(g, v)), *type = host_int(h, TVMS_TENSOR);
    break;
  case HOST_SHAPE: {
    Node *object = v->object;
    if (!object)
      object =
          host_object(h, "shape_value",
                      host_call(h, "tvms_frame_shape", HANDLE,
                                NODES(h->frame, host_int(h, v->dims.len), dims_array(h, v->dims))));
    *bits = host_bits(h, object), *type = host_int(h, TVMS_SHAPE);
    break;
  }
  case HOST_SCALAR:
    *bits = host_bits(h, v->scalar);
    *type = host_int(h, dtype_is_float(v->scalar->dtype)  ? TVMS_FLOAT
                        : dtype_is_bool(v->scalar->dtype) ? TVMS_BOOL
                                                          : TVMS_INT);
    break;
  case HOST_STRING:
    *bits = host_bits(h, host_let(h, "text", host_text(h, v->text))), *type = host_int(h, TVMS_STR);
    break;
  case HOST_NONE: *bits = int_imm(INT64, 0, span), *type = host_int(h, TVMS_NONE); break;
  case HOST_TUPLE: packed_tuple(g, v, bits, span), *type = host_int(h, TVMS_TUPLE); break;
  case HOST_VALUE: *bits = v->bits, *type = v->type; break;
  }
}

/* ---- values from outside ---- */

static HostValue *tensor_of_object(GraphLower *g, Node *object, TensorStructInfo *t,
                                   const char *what) {
  Host *h = g->host;
  HostValue *v = NEW(HostValue, .kind = HOST_TENSOR, .object = object, .elem = t->elem);
  for (int k = 0; k < t->ndim; k++)
    vec_push(&v->dims,
             host_let(h, str_format("%s_%d", what, k),
                      host_call(h, "tvms_tensor_dim", INT64, NODES(object, host_int(h, k)))));
  v->data = pointer_var_new(str_format("%s_data", what), dtype_is_void(t->elem) ? UINT8 : t->elem,
                            "global", h->span);
  host_let_var(h, v->data, host_call(h, "tvms_tensor_address", HANDLE, NODES(object)));
  return v;
}

static void bind_and_check(GraphLower *g, DimCheck check) {
  DimCheckVec later = {0};
  host_bind_dims(g->host, check, &g->bound, &later);
  host_check_dims(g->host, &later, &g->bound);
}

static HostValue *tensor_from(GraphLower *g, Node *bits, Node *type, TensorStructInfo *t,
                              const char *what) {
  Host *h = g->host;
  int code = dtype_is_void(t->elem) ? 255 : dtype_dlpack_code(t->elem);
  Node *found =
      host_call(h, "tvms_value_tensor", HANDLE,
                NODES(bits, type, host_text(h, what), host_int(h, t->ndim), host_int(h, code),
                      host_int(h, t->elem.bits), host_int(h, t->elem.lanes)));
  HostValue *v = tensor_of_object(g, host_object(h, what, found), t, what);
  NodeVec dims;
  if (sinfo_tensor_shape(&t->node, &dims))
    bind_and_check(g, (DimCheck){what, v->object, dims, v->dims});
  return v;
}

static HostValue *shape_from(GraphLower *g, Node *object, ShapeStructInfo *s, const char *what) {
  Host *h = g->host;
  HostValue *v = NEW(HostValue, .kind = HOST_SHAPE, .object = object);
  if (s->ndim < 0)
    return NEW(HostValue, .kind = HOST_VALUE, .bits = host_bits(h, object),
               .type = host_int(h, TVMS_SHAPE));
  host_check(
      h, host_call(h, "tvms_check_shape", INT32,
                   NODES(host_text(h, h->name), host_text(h, what), object, host_int(h, s->ndim))));
  for (int i = 0; i < s->ndim; i++)
    vec_push(&v->dims,
             host_let(h, str_format("%s_%d", what, i),
                      host_call(h, "tvms_shape_dim", INT64, NODES(object, host_int(h, i)))));
  if (s->known) bind_and_check(g, (DimCheck){what, NULL, s->values, v->dims});
  return v;
}

/* The pointer as a variable, over which a buffer can lie. */
static Node *pointer_to(Host *h, const char *what, DataType elem, Node *pointer) {
  if (IS(Var, pointer)) return pointer;
  Node *var = pointer_var_new(str_format("%s_at", what), elem, "global", h->span);
  host_let_var(h, var, pointer);
  return var;
}

HostValue *graph_unpacked(GraphLower *g, Node *bits, Node *type, Node *sinfo, const char *what) {
  Host *h = g->host;
  NodeVec check = NODES(host_text(h, h->name), host_text(h, what), bits, type, host_int(h, 0));
  switch (sinfo->kind) {
  case NK_TensorStructInfo: return tensor_from(g, bits, type, AS(TensorStructInfo, sinfo), what);
  case NK_ShapeStructInfo:
    vec_push(&check, host_int(h, TVMS_SHAPE));
    host_check(h, host_call(h, "tvms_arg_type", INT32, check));
    return shape_from(
        g, host_let(h, what, host_call(h, "tvms_arg_object", HANDLE, NODES(bits, host_int(h, 0)))),
        AS(ShapeStructInfo, sinfo), what);
  case NK_PrimStructInfo: {
    PrimStructInfo *s = AS(PrimStructInfo, sinfo);
    bool is_float = dtype_is_float(s->elem);
    vec_push(&check, host_int(h, is_float                 ? TVMS_FLOAT
                                 : dtype_is_bool(s->elem) ? TVMS_BOOL
                                                          : TVMS_INT));
    host_check(h, host_call(h, "tvms_arg_type", INT32, check));
    NodeVec place = NODES(bits, type, host_int(h, 0));
    Node *x = is_float ? host_call(h, "tvms_arg_float", FLOAT64, place)
                       : host_call(h, "tvms_arg_int", INT64, place);
    Node *scalar = host_let(h, what, expr_cast(s->elem, x, h->span));
    if (s->value) bind_and_check(g, (DimCheck){what, NULL, NODES(s->value), NODES(scalar)});
    return NEW(HostValue, .kind = HOST_SCALAR, .scalar = scalar);
  }
  case NK_TupleStructInfo:
    if (!AS(TupleStructInfo, sinfo)->fields.len) return NEW(HostValue, .kind = HOST_TUPLE);
    break;
  default: break;
  }
  bits = pointer_to(h, what, INT64, bits);
  type = pointer_to(h, what, INT32, type);
  Node *b = host_let(h, what, host_load(h, bits, INT64, 0)),
       *t = host_let(h, str_format("%s_type", what), host_load(h, type, INT32, 0));
  return NEW(HostValue, .kind = HOST_VALUE, .bits = b, .type = t);
}

HostValue *graph_match(GraphLower *g, HostValue *v, Node *sinfo, const char *what) {
  Host *h = g->host;
  NodeVec dims;
  if (v->kind == HOST_TENSOR && IS(TensorStructInfo, sinfo)) {
    TensorStructInfo *t = AS(TensorStructInfo, sinfo);
    Node *object = tensor_object(g, v);
    Node *bits = host_array(h, "cast", INT64, NODES(host_bits(h, object))),
         *type = host_array(h, "cast_type", INT32, NODES(host_int(h, TVMS_TENSOR)));
    bool ranks_known =
        v->dims.len == t->ndim && (dtype_is_void(t->elem) || dtype_equal(t->elem, v->elem));
    if (!ranks_known) return graph_unpacked(g, bits, type, sinfo, what);
    if (sinfo_tensor_shape(sinfo, &dims))
      bind_and_check(g, (DimCheck){what, object, dims, v->dims});
    return v;
  }
  if (v->kind == HOST_SHAPE && IS(ShapeStructInfo, sinfo) &&
      v->dims.len == AS(ShapeStructInfo, sinfo)->ndim) {
    if (AS(ShapeStructInfo, sinfo)->known)
      bind_and_check(g, (DimCheck){what, NULL, AS(ShapeStructInfo, sinfo)->values, v->dims});
    return v;
  }
  Node *bits, *type;
  graph_packed(g, v, &bits, &type, h->span);
  return graph_unpacked(g, host_array(h, "cast", INT64, NODES(bits)),
                        host_array(h, "cast_type", INT32, NODES(type)), sinfo, what);
}

/* ---- calls of tensor programs ---- */

typedef struct KernelArgs {
  HostValueVec values;
} KernelArgs;

static Node *dim_of_value(void *context, int param, int axis) {
  HostValue *v = ((KernelArgs *)context)->values.at[param];
  return axis < v->dims.len ? v->dims.at[axis] : int_imm(INT64, 0, (Span){0});
}

static void add_outputs(GraphLower *g, RelaxCall *c, HostValueVec *all, HostValueVec *outs,
                        bool as_object, const char *name) {
  for each (Node *, s, &c->sinfo_args) {
    NodeVec dims;
    if (!sinfo_tensor_shape(*s, &dims))
      error_raisef("LowerError", c->node.span, "the shape of what the call writes is not known");
    const char *out_name = c->sinfo_args.len > 1 ? str_format("%s_%d", name, outs->len) : name;
    HostValue *v = graph_new_tensor(g, graph_dims(g, dims), AS(TensorStructInfo, *s)->elem,
                                    as_object, out_name);
    vec_push(all, v);
    vec_push(outs, v);
  }
}

static HostValueVec operands(GraphLower *g, Node *args) {
  HostValue *v = graph_operand(g, args);
  if (v->kind == HOST_TUPLE) return v->fields;
  if (v->kind == HOST_VALUE)
    error_raisef("LowerError", args->span,
                 "the operands of a tensor program must be known one by one");
  HostValueVec one = {0};
  vec_push(&one, v);
  return one;
}

static HostValue *results(HostValueVec outs) {
  if (outs.len == 1) return outs.at[0];
  return NEW(HostValue, .kind = HOST_TUPLE, .fields = outs);
}

/* The argument for one parameter: a pointer, or a scalar. */
static Node *kernel_arg(GraphLower *g, PrimFunc *f, int i, HostValue *v) {
  bool is_buffer = f->buffers.at[i] != NULL;
  if (is_buffer && v->kind == HOST_TENSOR) return v->data;
  if (!is_buffer && v->kind == HOST_SCALAR)
    return expr_cast(f->params.at[i]->dtype, v->scalar, g->host->span);
  error_raisef("LowerError", g->host->span, "argument %d of a tensor program must be a %s", i + 1,
               is_buffer ? "tensor" : "scalar");
}

/* What the kernel takes for granted of its tensors: what is not known to hold is asked at run time.
 */
static void check_tensors(GraphLower *g, RelaxCall *c, PrimFunc *f, HostValueVec values,
                          const Map *bound) {
  DimCheckVec checks = {0};
  for (int i = 0; i < f->params.len; i++) {
    if (!f->buffers.at[i]) continue;
    Buffer *b = AS(Buffer, f->buffers.at[i]);
    HostValue *v = values.at[i];
    bool other = !dtype_is_void(v->elem) && !dtype_equal(v->elem, b->elem);
    if (other || v->dims.len != b->shape.len)
      error_raisef("LowerError", c->node.span,
                   "argument %d of '%s' must have %d dimensions of %s, but has %d of %s", i + 1,
                   AS(GlobalVar, c->args.at[0])->name, b->shape.len, dtype_text(b->elem),
                   v->dims.len, dtype_text(v->elem));
    DimCheck check = {.param = b->name, .dims = b->shape, .actual = v->dims};
    vec_push(&checks, check);
  }
  host_check_dims(g->host, &checks, bound);
}

static void call_kernel(GraphLower *g, RelaxCall *c, HostValueVec values) {
  Host *h = g->host;
  Node *global = c->args.at[0], *found = module_find(g->module, AS(GlobalVar, global)->name);
  if (!IS(PrimFunc, found))
    error_raisef("LowerError", c->node.span, "'%s' is no tensor program",
                 AS(GlobalVar, global)->name);
  PrimFunc *f = AS(PrimFunc, found);
  if (c->args.len > 2) /* symbolic variables come after the outputs */
    for each (Node *, v, &AS(ShapeExpr, c->args.at[2])->values)
      vec_push(&values, NEW(HostValue, .kind = HOST_SCALAR, .scalar = graph_dim(g, *v)));
  if (values.len != f->params.len)
    error_raisef("LowerError", c->node.span, "'%s' takes %d arguments, the call gives %d",
                 AS(GlobalVar, global)->name, f->params.len, values.len);
  KernelArgs known = {values};
  Map bound = {0};
  NodeVec args = {0}, params = kernel_params(f);
  for (int i = 0; i < f->params.len; i++) {
    vec_push(&args, kernel_arg(g, f, i, values.at[i]));
    if (!f->buffers.at[i]) map_set(&bound, f->params.at[i], args.at[i]);
  }
  kernel_bind_dims(f, dim_of_value, &known, &bound);
  for (int i = f->params.len; i < params.len; i++) {
    Node *value = map_get(&bound, params.at[i]);
    if (!value)
      error_raisef(
          "LowerError", c->node.span,
          "'%s' of '%s' can't be told from the arguments: no buffer has it as a whole dimension",
          AS(Var, params.at[i])->name, AS(GlobalVar, global)->name);
    vec_push(&args, value);
  }
  check_tensors(g, c, f, values, &bound);
  host_add(h,
           stmt_evaluate(MAKE(Call, h->span, f->ret_dtype, .op = global, .args = args), h->span));
}

static HostValue *call_tir(GraphLower *g, RelaxCall *c, bool as_object, const char *name) {
  HostValueVec values = {0}, outs = {0}, given = operands(g, c->args.at[1]);
  for each (HostValue *, v, &given) vec_push(&values, *v);
  add_outputs(g, c, &values, &outs, as_object, name);
  call_kernel(g, c, values);
  return results(outs);
}

/* Output i overwrites operand inplace_indices[i]; -1 is a new tensor. */
static HostValue *call_tir_inplace(GraphLower *g, RelaxCall *c, bool as_object, const char *name) {
  HostValueVec values = {0}, outs = {0}, made = {0}, given = operands(g, c->args.at[1]);
  NodeVec indices = AS(Array, dict_get(c->attrs, "inplace_indices"))->items;
  for each (HostValue *, v, &given) vec_push(&values, *v);
  for (int i = 0; i < indices.len; i++) {
    int64_t at = -1;
    expr_is_const_int(indices.at[i], &at);
    if (at >= 0 && at < given.len) {
      vec_push(&outs, given.at[at]);
      continue;
    }
    RelaxCall one = *c;
    one.sinfo_args = NODES(c->sinfo_args.at[i]);
    add_outputs(g, &one, &values, &made, as_object, str_format("%s_%d", name, i));
    vec_push(&outs, vec_last(&made));
  }
  call_kernel(g, c, values);
  return results(outs);
}

/* ---- packed calls ---- */

/* Calls by name or address with these values; pointers to the result's bits and type. */
static void packed_call(GraphLower *g, const char *symbol, Node *callee, HostValueVec values,
                        Node **ret, Node **ret_type) {
  Host *h = g->host;
  NodeVec bits = {0}, types = {0};
  for each (HostValue *, v, &values) {
    Node *b, *t;
    graph_packed(g, *v, &b, &t, h->span);
    vec_push(&bits, b);
    vec_push(&types, t);
  }
  Node *args = host_array(h, "call_args", INT64, bits),
       *arg_types = host_array(h, "call_types", INT32, types);
  *ret = host_array(h, "call_ret", INT64, NODES(int_imm(INT64, 0, h->span)));
  *ret_type = host_array(h, "call_ret_type", INT32, NODES(host_int(h, TVMS_NONE)));
  host_check(h, host_call(h, symbol, INT32,
                          NODES(h->frame, callee, args, arg_types, host_int(h, values.len), *ret,
                                *ret_type)));
}

static HostValueVec values_of(GraphLower *g, NodeVec args, int from) {
  HostValueVec out = {0};
  for (int i = from; i < args.len; i++) vec_push(&out, graph_operand(g, args.at[i]));
  return out;
}

static HostValue *call_extern(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  Node *callee = c->args.at[0], *ret, *type;
  if (!IS(ExternFunc, callee))
    error_raisef("LowerError", c->node.span,
                 "call_packed of a function value can't be compiled; name the function");
  packed_call(g, "tvms_call_packed", host_text(g->host, AS(ExternFunc, callee)->symbol),
              values_of(g, c->args, 1), &ret, &type);
  return graph_unpacked(g, ret, type, sinfo, name);
}

static HostValue *call_dps_packed(GraphLower *g, RelaxCall *c, const char *name) {
  Node *callee = c->args.at[0], *ret, *type;
  if (!IS(ExternFunc, callee))
    error_raisef("LowerError", c->node.span,
                 "call_dps_packed of a function value can't be compiled; name the function");
  HostValueVec values = {0}, outs = {0}, given = operands(g, c->args.at[1]);
  for each (HostValue *, v, &given) vec_push(&values, *v);
  add_outputs(g, c, &values, &outs, true, name);
  packed_call(g, "tvms_call_packed", host_text(g->host, AS(ExternFunc, callee)->symbol), values,
              &ret, &type);
  return results(outs);
}

static HostValue *attr_value(GraphLower *g, Node *n) {
  HostValue *v = NEW(HostValue, .kind = HOST_TUPLE);
  switch (n->kind) {
  case NK_StringImm: return NEW(HostValue, .kind = HOST_STRING, .text = AS(StringImm, n)->value);
  case NK_IntImm:
  case NK_FloatImm: return NEW(HostValue, .kind = HOST_SCALAR, .scalar = n);
  case NK_Array:
    for each (Node *, x, &AS(Array, n)->items) vec_push(&v->fields, attr_value(g, *x));
    return v;
  default: return NEW(HostValue, .kind = HOST_NONE);
  }
}

/* An operator that no program computes is the packed function of its name: operands, then
 * attributes. */
static HostValue *call_operator(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  const char *op = AS(Op, c->op)->name;
  const OpInfo *info = op_info(op);
  if (!info || !info->is_packed)
    error_raisef("LowerError", c->node.span,
                 "operator R.%s has no compute for these operands, so it can't be compiled",
                 op + 6);
  HostValueVec values = values_of(g, c->args, 0);
  for each (const char *, key, &info->attrs)
    vec_push(&values, attr_value(g, dict_get(c->attrs, *key)));
  Node *ret, *type;
  packed_call(g, "tvms_call_packed", host_text(g->host, op), values, &ret, &type);
  return graph_unpacked(g, ret, type, sinfo, name);
}

HostValue *graph_call(GraphLower *g, RelaxCall *c, Node *sinfo, bool as_object, const char *name) {
  Node *ret, *type;
  if (IS(GlobalVar, c->op)) {
    Node *callee = module_find(g->module, AS(GlobalVar, c->op)->name);
    if (IS(ExternFunc, callee))
      packed_call(g, "tvms_call_packed", host_text(g->host, AS(ExternFunc, callee)->symbol),
                  values_of(g, c->args, 0), &ret, &type);
    else
      packed_call(g, "tvms_call_direct",
                  expr_call("address_of", HANDLE, NODES(c->op), g->host->span),
                  values_of(g, c->args, 0), &ret, &type);
    return graph_unpacked(g, ret, type, sinfo, name);
  }
  if (!IS(Op, c->op))
    error_raisef("LowerError", c->node.span,
                 "a call of a function value can't be compiled; call a function of the module");
  const char *op = AS(Op, c->op)->name;
  if (str_same(op, "relax.call_tir") || str_same(op, "relax.call_tir_with_grad"))
    return call_tir(g, c, as_object, name);
  if (str_same(op, "relax.call_tir_inplace")) return call_tir_inplace(g, c, as_object, name);
  if (str_same(op, "relax.call_dps_packed")) return call_dps_packed(g, c, name);
  if (str_same(op, "relax.call_packed") || str_same(op, "relax.call_pure_packed") ||
      str_same(op, "relax.call_inplace_packed"))
    return call_extern(g, c, sinfo, name);
  return call_operator(g, c, sinfo, name);
}
