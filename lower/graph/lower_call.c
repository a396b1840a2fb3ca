/* lower_call.c -- calls of a graph function in host code: tensor programs directly, everything else
 * by the packed convention. */
#include "ir/analysis/flops.h"
#include "lower/graph/graph_impl.h"
#include "lower/memory/memory.h"

/* ---- tensors ---- */

static Node *product(Host *h, NodeVec dims) {
  Node *n = int_imm(INT64, 1, h->span);
  for each (Node *, d, &dims) n = expr_mul(n, *d);
  return n;
}

static Node *dims_array(Host *h, NodeVec dims) {
  return host_array(h, "shape", INT64, dims.len ? dims : NODES(int_imm(INT64, 0, h->span)));
}

/* A call that gives something of the frame; of a device, its numbers come second. */
static Node *on_device(Host *h, const char *on_cpu, const char *there, NodeVec args) {
  return h->device.is_device ? host_call(h, there, HANDLE, host_on_device(h, 1, args))
                             : host_call(h, on_cpu, HANDLE, args);
}

HostValue *graph_new_tensor(GraphLower *g, NodeVec dims, DataType elem, bool as_object,
                            const char *name) {
  Host *h = g->host;
  HostValue *v = NEW(HostValue, .kind = HOST_TENSOR, .dims = dims, .elem = elem);
  v->data = pointer_var_new(str_format("%s_data", name), elem, "global", h->span);
  if (as_object) {
    Node *shape = dims_array(h, dims);
    NodeVec args =
        NODES(h->frame, host_int(h, dims.len), shape, host_int(h, dtype_dlpack_code(elem)),
              host_int(h, elem.bits), host_int(h, elem.lanes));
    v->object = host_object(h, name, on_device(h, "tvms_frame_tensor", "tvms_device_tensor", args));
    host_let_var(h, v->data, host_call(h, "tvms_tensor_address", HANDLE, NODES(v->object)));
    return v;
  }
  Node *nbytes = expr_mul(product(h, dims), int_imm(INT64, dtype_nbytes(elem), h->span));
  Node *memory =
      host_object(h, str_format("%s_memory", name),
                  on_device(h, "tvms_frame_alloc", "tvms_device_alloc", NODES(h->frame, nbytes)));
  host_let_var(h, v->data, memory);
  return v;
}

/* The tensor as an object: what is workspace or constant so far is copied into one. */
static Node *tensor_object(GraphLower *g, HostValue *v, Node **type) {
  Host *h = g->host;
  *type = v->type ? v->type : host_int(h, TVMS_TENSOR);
  if (v->object) return v->object;
  HostValue *copy = graph_new_tensor(g, v->dims, v->elem, true, "copy");
  Node *nbytes = expr_mul(product(h, v->dims), int_imm(INT64, dtype_nbytes(v->elem), h->span));
  NodeVec args = NODES(copy->data, v->data, nbytes);
  if (h->device.is_device) host_check(h, host_call(h, "tvms_device_copy", INT32, args));
  else host_add(h, stmt_evaluate(host_call(h, "memcpy", HANDLE, args), h->span));
  return copy->object;
}

/* The tensor for as long as a call takes: memory without an object is described, not copied. */
static Node *tensor_lent(GraphLower *g, HostValue *v, Node **type) {
  Host *h = g->host;
  if (v->object) return tensor_object(g, v, type);
  *type = host_int(h, TVMS_DLTENSOR);
  NodeVec args = NODES(h->frame, v->data, host_int(h, v->dims.len), dims_array(h, v->dims),
                       host_int(h, dtype_dlpack_code(v->elem)), host_int(h, v->elem.bits),
                       host_int(h, v->elem.lanes));
  return host_object(h, "lent", on_device(h, "tvms_frame_view", "tvms_device_view", args));
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
  case HOST_TENSOR: *bits = host_bits(h, tensor_object(g, v, type)); break;
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

void graph_lent(GraphLower *g, HostValue *v, Node **bits, Node **type, Span span) {
  if (v->kind == HOST_TENSOR) *bits = host_bits(g->host, tensor_lent(g, v, type));
  else graph_packed(g, v, bits, type, span);
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

/* The dims as checked: numbers and bound variables, about which no later check must ask. */
static NodeVec bind_and_check(GraphLower *g, DimCheck check) {
  DimCheckVec later = {0};
  host_bind_dims(g->host, check, &g->bound, g->later ? g->later : &later);
  if (g->later) return check.actual;
  host_check_dims(g->host, &later, &g->bound);
  return graph_dims(g, check.dims);
}

static HostValue *with_dims(const HostValue *v, NodeVec dims) {
  HostValue *out = NEW(HostValue);
  *out = *v;
  out->dims = dims;
  return out;
}

/* The pointer as a variable, over which a buffer can lie. */
static Node *pointer_to(Host *h, const char *what, DataType elem, Node *pointer) {
  if (IS(Var, pointer)) return pointer;
  Node *var = pointer_var_new(str_format("%s_at", what), elem, "global", h->span);
  host_let_var(h, var, pointer);
  return var;
}

static Node *value_on_device(Host *h, NodeVec args) {
  NodeVec all = NODES(h->frame);
  for each (Node *, a, &args) vec_push(&all, *a);
  return host_call(h, "tvms_value_device_tensor", HANDLE, host_on_device(h, all.len, all));
}

/* How messages name a value that is matched: while parameters are, it is one of these. */
static const char *phrase_of(GraphLower *g, const char *what) {
  return value_phrase(what, g->later != NULL);
}

static HostValue *tensor_from(GraphLower *g, Node *bits, Node *type, TensorStructInfo *t,
                              const char *what) {
  Host *h = g->host;
  int code = dtype_is_void(t->elem) ? 255 : dtype_dlpack_code(t->elem);
  const char *phrase = phrase_of(g, what);
  NodeVec args =
      NODES(bits, type, host_text(h, str_format("%s: %s", h->name, phrase)), host_int(h, t->ndim),
            host_int(h, code), host_int(h, t->elem.bits), host_int(h, t->elem.lanes));
  Node *found = h->device.is_device ? value_on_device(h, args)
                                    : host_call(h, "tvms_value_tensor", HANDLE, args);
  HostValue *v = tensor_of_object(g, host_object(h, what, found), t, what);
  v->type = host_let(h, str_format("%s_type", what),
                     host_load(h, pointer_to(h, what, INT32, type), INT32, 0));
  NodeVec dims;
  if (sinfo_tensor_shape(&t->node, &dims))
    v->dims = bind_and_check(
        g, (DimCheck){.what = phrase, .tensor = v->object, .dims = dims, .actual = v->dims});
  return v;
}

static HostValue *shape_from(GraphLower *g, Node *object, ShapeStructInfo *s, const char *what) {
  Host *h = g->host;
  HostValue *v = NEW(HostValue, .kind = HOST_SHAPE, .object = object);
  if (s->ndim < 0)
    return NEW(HostValue, .kind = HOST_VALUE, .bits = host_bits(h, object),
               .type = host_int(h, TVMS_SHAPE));
  host_check(h, host_call(h, "tvms_check_shape", INT32,
                          NODES(host_text(h, h->name), host_text(h, phrase_of(g, what)), object,
                                host_int(h, s->ndim))));
  for (int i = 0; i < s->ndim; i++)
    vec_push(&v->dims,
             host_let(h, str_format("%s_%d", what, i),
                      host_call(h, "tvms_shape_dim", INT64, NODES(object, host_int(h, i)))));
  if (s->known)
    v->dims = bind_and_check(
        g, (DimCheck){
               .what = phrase_of(g, what), .dims = s->values, .actual = v->dims, .is_shape = true});
  return v;
}

HostValue *graph_unpacked(GraphLower *g, Node *bits, Node *type, Node *sinfo, const char *what) {
  Host *h = g->host;
  const char *phrase = phrase_of(g, what);
  NodeVec check = NODES(host_text(h, h->name), host_text(h, phrase), bits, type, host_int(h, 0));
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
    if (s->value)
      bind_and_check(g,
                     (DimCheck){.what = phrase, .dims = NODES(s->value), .actual = NODES(scalar)});
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
    Node *kind, *object = tensor_lent(g, v, &kind);
    Node *bits = host_array(h, "cast", INT64, NODES(host_bits(h, object))),
         *type = host_array(h, "cast_type", INT32, NODES(kind));
    bool ranks_known =
        v->dims.len == t->ndim && (dtype_is_void(t->elem) || dtype_equal(t->elem, v->elem));
    if (!ranks_known) return graph_unpacked(g, bits, type, sinfo, what);
    if (!sinfo_tensor_shape(sinfo, &dims)) return v;
    return with_dims(v, bind_and_check(g, (DimCheck){.what = phrase_of(g, what),
                                                     .tensor = object,
                                                     .dims = dims,
                                                     .actual = v->dims}));
  }
  if (v->kind == HOST_SHAPE && IS(ShapeStructInfo, sinfo) &&
      v->dims.len == AS(ShapeStructInfo, sinfo)->ndim) {
    if (!AS(ShapeStructInfo, sinfo)->known) return v;
    dims = AS(ShapeStructInfo, sinfo)->values;
    return with_dims(v, bind_and_check(g, (DimCheck){.what = phrase_of(g, what),
                                                     .dims = dims,
                                                     .actual = v->dims,
                                                     .is_shape = true}));
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
                   AS(GlobalVar, c->op)->name, b->shape.len, dtype_text(b->elem), v->dims.len,
                   dtype_text(v->elem));
    DimCheck check = {
        .what = value_phrase(b->name, true), .is_shape = true, .dims = b->shape, .actual = v->dims};
    vec_push(&checks, check);
  }
  host_check_dims(g->host, &checks, bound);
}

/* A device works on after a launch. */
static void wait_for_device(Host *h) {
  NodeVec none = {0};
  if (h->device.is_device)
    host_check(h, host_call(h, "tvms_device_wait", INT32, host_on_device(h, 0, none)));
}

static Node *profile_begin(GraphLower *g) {
  if (!g->profile) return NULL;
  wait_for_device(g->host);
  return host_let(g->host, "begin", host_call(g->host, "tvms_profile_begin", INT64, (NodeVec){0}));
}

/* Bytes are those of all tensors; arithmetic is counted where loops have known extents. */
static void profile_end(GraphLower *g, Node *begin, PrimFunc *f, const char *name,
                        HostValueVec values) {
  if (!begin) return;
  Host *h = g->host;
  wait_for_device(h);
  Node *bytes = int_imm(INT64, 0, h->span);
  for each (HostValue *, v, &values)
    if ((*v)->kind == HOST_TENSOR)
      bytes = expr_add(bytes, expr_mul(product(h, (*v)->dims),
                                       int_imm(INT64, dtype_nbytes((*v)->elem), h->span)));
  Map none = {0};
  Flops flops = flops_of(g->module, &f->node, &none);
  Node *operations = float_imm(FLOAT64, flops.known ? flops.operations : 0, h->span);
  host_add(h, stmt_evaluate(host_call(h, "tvms_profile_end", VOID_TYPE,
                                      NODES(host_text(h, name), begin, bytes, operations)),
                            h->span));
}

/* The kernel by its name, with pointers and scalars: nothing is asked at run time but what is not
 * known of the tensors. */
static HostValue *call_kernel(GraphLower *g, RelaxCall *c, PrimFunc *f) {
  Host *h = g->host;
  HostValueVec values = {0};
  for each (Node *, a, &c->args) vec_push(&values, graph_operand(g, *a));
  const char *name = AS(GlobalVar, c->op)->name;
  if (values.len != f->params.len)
    error_raisef("LowerError", c->node.span, "'%s' takes %d arguments, the call gives %d", name,
                 f->params.len, values.len);
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
          AS(Var, params.at[i])->name, name);
    vec_push(&args, value);
  }
  check_tensors(g, c, f, values, &bound);
  Node *begin = profile_begin(g),
       *call = MAKE(Call, h->span, f->ret_dtype, .op = c->op, .args = args);
  if (!dtype_is_void(f->ret_dtype))
    return NEW(HostValue, .kind = HOST_SCALAR, .scalar = host_let(h, name, call));
  host_add(h, stmt_evaluate(call, h->span));
  profile_end(g, begin, f, name, values);
  return NEW(HostValue, .kind = HOST_TUPLE);
}

/* ---- packed calls ---- */

/* How a value is handed over: graph_packed if the callee may keep it, else graph_lent. */
typedef void HandOver(GraphLower *g, HostValue *v, Node **bits, Node **type, Span span);

/* Calls by name, address or object with these values; pointers to the result's bits and type. */
static void packed_call(GraphLower *g, const char *symbol, Node *callee, HandOver *hand_over,
                        HostValueVec values, bool writes, Node **ret, Node **ret_type) {
  Host *h = g->host;
  NodeVec bits = {0}, types = {0};
  for each (HostValue *, v, &values) {
    Node *b, *t;
    hand_over(g, *v, &b, &t, h->span);
    vec_push(&bits, b);
    vec_push(&types, t);
  }
  Node *args = host_array(h, "call_args", INT64, bits),
       *arg_types = host_array(h, "call_types", INT32, types);
  *ret = host_array(h, "call_ret", INT64, NODES(int_imm(INT64, 0, h->span)));
  *ret_type = host_array(h, "call_ret_type", INT32, NODES(host_int(h, TVMS_NONE)));
  NodeVec all = NODES(h->frame, callee, args, arg_types, host_int(h, values.len), *ret, *ret_type);
  if (h->device.is_device && !str_same(symbol, "tvms_call_direct")) {
    symbol = str_format("%s_from_device", symbol);
    vec_push(&all, host_int(h, writes));
  }
  host_check(h, host_call(h, symbol, INT32, all));
}

static HostValueVec values_of(GraphLower *g, NodeVec args, int from) {
  HostValueVec out = {0};
  for (int i = from; i < args.len; i++) vec_push(&out, graph_operand(g, args.at[i]));
  return out;
}

/* A packed function by its name, or a function value. */
static HostValue *call_object(GraphLower *g, Node *callee, HostValueVec values, HandOver *hand_over,
                              bool writes, Node *sinfo, const char *name) {
  Node *ret, *type;
  Host *h = g->host;
  if (IS(ExternFunc, callee)) {
    packed_call(g, "tvms_call_packed", host_text(h, AS(ExternFunc, callee)->symbol), hand_over,
                values, writes, &ret, &type);
    return graph_unpacked(g, ret, type, sinfo, name);
  }
  HostValue *f = graph_operand(g, callee);
  if (f->kind != HOST_VALUE)
    error_raisef("LowerError", callee->span, "only a function can be called");
  Node *bits = host_array(h, "callee", INT64, NODES(f->bits)),
       *kind = host_array(h, "callee_type", INT32, NODES(f->type));
  host_check(h, host_call(h, "tvms_arg_type", INT32,
                          NODES(host_text(h, h->name), host_text(h, "a callee"), bits, kind,
                                host_int(h, 0), host_int(h, TVMS_FUNC))));
  packed_call(g, "tvms_call_func", expr_call("reinterpret", HANDLE, NODES(f->bits), h->span),
              hand_over, values, writes, &ret, &type);
  return graph_unpacked(g, ret, type, sinfo, name);
}

static HostValue *call_extern(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  bool writes = !str_same(AS(Op, c->op)->name, "relax.call_pure_packed");
  return call_object(g, c->args.at[0], values_of(g, c->args, 1), graph_packed, writes, sinfo, name);
}

/* It writes to what it is given, and keeps nothing. */
static HostValue *call_dps_packed(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  if (c->sinfo_args.len)
    error_raisef("LowerError", c->node.span,
                 "a call does not say yet where it writes: run CallTIRRewrite first");
  call_object(g, c->args.at[0], operands(g, c->args.at[1]), graph_lent, true, sinfo, name);
  return NEW(HostValue, .kind = HOST_TUPLE);
}

static HostValue *invoke_closure(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  return call_object(g, c->args.at[0], operands(g, c->args.at[1]), graph_packed, false, sinfo,
                     name);
}

/* A function of the module with its last arguments, which it keeps. */
HostValue *graph_closure(GraphLower *g, Node *function, HostValueVec captured) {
  Host *h = g->host;
  NodeVec bits = {0}, types = {0};
  if (!IS(GlobalVar, function) ||
      !IS(Function, module_find(g->module, AS(GlobalVar, function)->name)))
    error_raisef("LowerError", function->span,
                 "only a graph function of the module can be a value; R.call_tir calls a tensor "
                 "program");
  for each (HostValue *, v, &captured) {
    Node *b, *t;
    graph_packed(g, *v, &b, &t, h->span);
    vec_push(&bits, b);
    vec_push(&types, t);
  }
  Node *made = host_call(h, "tvms_frame_closure", HANDLE,
                         NODES(h->frame, expr_call("address_of", HANDLE, NODES(function), h->span),
                               host_int(h, captured.len), host_array(h, "captured", INT64, bits),
                               host_array(h, "captured_types", INT32, types)));
  return NEW(HostValue, .kind = HOST_VALUE, .bits = host_bits(h, host_object(h, "closure", made)),
             .type = host_int(h, TVMS_FUNC));
}

static HostValue *make_closure(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  (void)sinfo, (void)name;
  return graph_closure(g, c->args.at[0], operands(g, c->args.at[1]));
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

/* A tensor or a shape of which too little is known for a program; NULL: none. */
static Node *unknown_operand(NodeVec args) {
  NodeVec dims;
  for each (Node *, a, &args) {
    Node *info = sinfo_of(*a),
         *inner = IS(Tuple, *a) ? unknown_operand(AS(Tuple, *a)->fields) : NULL;
    bool is_tensor = IS(TensorStructInfo, info);
    if (inner) return inner;
    if (is_tensor &&
        (!sinfo_tensor_shape(info, &dims) || dtype_is_void(AS(TensorStructInfo, info)->elem)))
      return *a;
    if (IS(ShapeStructInfo, info) && !AS(ShapeStructInfo, info)->known) return *a;
  }
  return NULL;
}

/* An operator that no program computes is the packed function of its name: operands, then
 * attributes. */
static HostValue *call_operator(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  const char *op = AS(Op, c->op)->name;
  const OpInfo *info = op_info(op);
  Node *unknown = info && !info->is_packed ? unknown_operand(c->args) : NULL;
  if (unknown)
    error_raisef(
        "LowerError", c->node.span,
        "operator R.%s can't be compiled for an operand that is %s: R.match_cast tells its "
        "rank and dtype",
        op + 6, ir_print(sinfo_of(unknown), NULL));
  if (!info || !info->is_packed)
    error_raisef("LowerError", c->node.span,
                 "operator R.%s has no compute for these operands, so it can't be compiled%s",
                 op + 6,
                 info && info->legalize ? "; where dims of operands can't be related, R.match_cast "
                                          "tells which are equal"
                                        : "");
  HostValueVec values = values_of(g, c->args, 0);
  for each (const char *, key, &info->attrs)
    vec_push(&values, attr_value(g, dict_get(c->attrs, *key)));
  Node *ret, *type;
  packed_call(g, "tvms_call_packed", host_text(g->host, op), graph_packed, values, !info->is_pure,
              &ret, &type);
  return graph_unpacked(g, ret, type, sinfo, name);
}

/* ---- calls by their sort ---- */

static HostValue *call_global(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  Node *callee = module_find(g->module, AS(GlobalVar, c->op)->name), *ret, *type;
  if (IS(PrimFunc, callee)) return call_kernel(g, c, AS(PrimFunc, callee));
  if (IS(ExternFunc, callee))
    return call_object(g, callee, values_of(g, c->args, 0), graph_packed, true, sinfo, name);
  packed_call(g, "tvms_call_direct", expr_call("address_of", HANDLE, NODES(c->op), g->host->span),
              graph_lent, values_of(g, c->args, 0), false, &ret, &type);
  return graph_unpacked(g, ret, type, sinfo, name);
}

/* Forms of call that are no operators with a compute. */
static const struct {
  const char *op;
  HostValue *(*call)(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name);
} forms[] = {
    {"relax.call_dps_packed", call_dps_packed},
    {"relax.call_packed", call_extern},
    {"relax.call_pure_packed", call_extern},
    {"relax.call_inplace_packed", call_extern},
    {"relax.make_closure", make_closure},
    {"relax.invoke_closure", invoke_closure},
    {"relax.invoke_pure_closure", invoke_closure},
    {"relax.builtin.alloc_tensor", graph_alloc_tensor},
    {"relax.memory.alloc_storage", graph_alloc_storage},
    {"relax.memory.alloc_tensor", graph_place_tensor},
    {"relax.memory.view", graph_view},
    {"relax.memory.kill_tensor", graph_kill_tensor},
};

HostValue *graph_call(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  if (IS(GlobalVar, c->op)) return call_global(g, c, sinfo, name);
  if (!IS(Op, c->op))
    return call_object(g, c->op, values_of(g, c->args, 0), graph_packed, true, sinfo, name);
  const char *op = AS(Op, c->op)->name;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (str_same(forms[i].op, op)) return forms[i].call(g, c, sinfo, name);
  if (str_begins(op, "relax.call_tir"))
    error_raisef("LowerError", c->node.span,
                 "a call does not say yet where it writes: run CallTIRRewrite first");
  return call_operator(g, c, sinfo, name);
}
