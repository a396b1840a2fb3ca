/* lower_device_kernel_launch.c -- calls of device functions become calls of the runtime.
 *
 * In:  host functions that call functions with attribute tvms.device (after SplitHostDevice).
 * Out: tvms_device_launch with the numbers of blocks and threads, which the launches at the head of
 * the function give, the bytes of shared memory that is told at launch, and for devices that want
 * it the bytes behind each pointer; memory that a host
 * function allocates, and constants that it hands over, are the device's. The argument `source`
 * names the function: who writes device code puts the text there. */
#include "lower/device/device.h"

typedef struct LowerLaunch {
  Node *module;
  LowerDevice device;
  Node *frame; /* of a function that allocates; NULL until it does */
} LowerLaunch;

/* return with the error that is set */
static void check(Host *h, Node *failed) {
  Node *leave =
      stmt_evaluate(expr_call("tvm_throw_last_error", HANDLE, (NodeVec){0}, h->span), h->span);
  host_add(h, MAKE(IfThenElse, h->span, VOID_TYPE, .cond = failed, .then = leave));
}

/* ---- launches ---- */

/* The bits of a scalar as an int64, its bytes in front. */
static Node *scalar_bits(Host *h, Node *value) {
  DataType t = value->dtype;
  if (dtype_is_float(t))
    value = expr_call("reinterpret", DTYPE_OF(UINT, t.bits), NODES(value), h->span);
  return expr_cast(INT64, value, h->span);
}

typedef struct Sizes {
  Node *pointer, *nbytes; /* the largest of its buffers, as far as that is known */
} Sizes;

static WalkResult note_size(Walker *w, Node *n) {
  Sizes *s = w->context;
  if (!IS(Buffer, n)) return WALK_ON;
  Buffer *b = AS(Buffer, n);
  int64_t known, most;
  if (b->data != s->pointer || b->shape.len != 1) return WALK_PRUNE;
  Node *size = expr_cast(INT64, b->shape.at[0], n->span);
  size = expr_mul(size, int_imm(INT64, dtype_nbytes(b->elem), n->span));
  bool smaller = s->nbytes && expr_is_const_int(size, &known) &&
                 expr_is_const_int(s->nbytes, &most) && known <= most;
  if (!smaller) s->nbytes = size;
  return WALK_PRUNE;
}

static WalkResult stop_at_own(Walker *w, Node *n) {
  return IS(Var, n) && !map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

/* The bytes that a kernel sees behind a pointer, by its parameters; 0: not known. */
static Node *bytes_behind(PrimFunc *kernel, Node *pointer, Map *params, Span span) {
  Sizes s = {.pointer = pointer};
  Walker w = {.enter = note_size, .context = &s}, own = {.enter = stop_at_own, .context = params};
  walk(&w, kernel->body);
  bool known = s.nbytes && walk(&own, s.nbytes);
  return known ? substitute(s.nbytes, params) : int_imm(INT64, 0, span);
}

static Node *dims_of(Host *h, PrimFunc *kernel, NodeVec args) {
  Map bound = {0};
  Node *dims[LAUNCH_AXES];
  NodeVec out = {0};
  for (int i = 0; i < args.len; i++) map_set(&bound, kernel->params.at[i], args.at[i]);
  for (int i = 0; i < LAUNCH_AXES; i++) dims[i] = int_imm(INT64, 1, h->span);
  for (Node *n = kernel->body; is_launch(n); n = AS(AttrStmt, n)->body)
    dims[launch_axis(launch_tag(n))] =
        expr_cast(INT64, substitute(AS(AttrStmt, n)->value, &bound), h->span);
  for (int i = 0; i < LAUNCH_AXES; i++) vec_push(&out, dims[i]);
  vec_push(&out, int_imm(INT64, lower_dynamic_shared(kernel).nbytes, h->span));
  for (int i = 0; h->device.takes_sizes && i < args.len; i++)
    vec_push(&out, dtype_is_handle(args.at[i]->dtype)
                       ? bytes_behind(kernel, kernel->params.at[i], &bound, h->span)
                       : int_imm(INT64, 0, h->span));
  return host_array(h, "dims", INT64, out);
}

static Node *lower_launch(LowerLaunch *l, Call *call, PrimFunc *kernel) {
  Host host = host_new("", call->node.span), *h = &host;
  NodeVec values = {0}, sizes = {0};
  h->device = l->device;
  for (int i = 0; i < call->args.len; i++) {
    Node *arg = call->args.at[i];
    bool is_pointer = dtype_is_handle(arg->dtype);
    vec_push(&values, is_pointer ? host_bits(h, arg) : scalar_bits(h, arg));
    vec_push(&sizes, host_int(h, is_pointer ? 0 : (arg->dtype.bits + 7) / 8));
  }
  Node *source = expr_call("address_of", HANDLE, NODES(call->op), h->span);
  NodeVec args = NODES(source, host_text(h, AS(GlobalVar, call->op)->name),
                       host_int(h, call->args.len), host_array(h, "values", INT64, values),
                       host_array(h, "sizes", INT32, sizes), dims_of(h, kernel, call->args));
  Node *status = host_call(h, "tvms_device_launch", INT32, host_on_device(h, 0, args));
  check(h, expr_binary(NK_NE, status, host_int(h, 0), h->span));
  return host_body(h);
}

/* ---- memory ---- */

static Node *bind_memory(Node *var, Node *pointer, Node *body) {
  Host host = host_new("", body->span), *h = &host;
  host_let_var(h, var, pointer);
  check(h, expr_call("isnullptr", BOOL, NODES(var), h->span));
  host_add(h, body);
  return host_body(h);
}

static Node *lower_allocate(Mutator *m, Allocate *a) {
  LowerLaunch *l = m->context;
  Host host = host_new("", a->node.span), *h = &host;
  h->device = l->device;
  if (!l->frame) l->frame = var_new("frame", HANDLE, h->span);
  Node *nbytes = int_imm(INT64, dtype_nbytes(a->elem), h->span);
  for each (Node *, e, &a->extents) nbytes = expr_mul(nbytes, expr_cast(INT64, *e, h->span));
  Node *memory =
      host_call(h, "tvms_device_alloc", HANDLE, host_on_device(h, 1, NODES(l->frame, nbytes)));
  return bind_memory(a->var, memory, mutate(m, a->body));
}

static Node *lower_constant(Mutator *m, AllocateConst *c) {
  LowerLaunch *l = m->context;
  Host host = host_new("", c->node.span), *h = &host;
  h->device = l->device;
  AllocateConst copy = *c;
  copy.var = pointer_var_new("constant", c->data->elem, "global", h->span);
  Node *there = host_call(
      h, "tvms_device_constant", HANDLE,
      host_on_device(h, 0, NODES(copy.var, int_imm(INT64, (int64_t)c->data->nbytes, h->span))));
  copy.body = bind_memory(c->var, there, mutate(m, c->body));
  return gc_copy(&copy, sizeof copy);
}

static bool calls_device(LowerLaunch *l, Node *n, PrimFunc **kernel) {
  Node *value = IS(Evaluate, n) ? AS(Evaluate, n)->value : NULL;
  if (!IS(Call, value) || !IS(GlobalVar, AS(Call, value)->op)) return false;
  Node *f = module_find(l->module, AS(GlobalVar, AS(Call, value)->op)->name);
  if (!is_device_function(f)) return false;
  *kernel = AS(PrimFunc, f);
  return true;
}

/* What AnnotateDeviceRegions left with the host. */
static bool is_of_host(const Allocate *a) {
  const char *scope = AS(Var, a->var)->scope;
  return scope && str_same(scope, "local");
}

static Node *rewrite(Mutator *m, Node *n) {
  PrimFunc *kernel;
  if (node_is_expr(n)) return n;
  if (IS(Allocate, n) && !is_of_host(AS(Allocate, n))) return lower_allocate(m, AS(Allocate, n));
  if (IS(AllocateConst, n)) return lower_constant(m, AS(AllocateConst, n));
  if (!calls_device(m->context, n, &kernel)) return mutate_children(m, n);
  return lower_launch(m->context, AS(Call, AS(Evaluate, n)->value), kernel);
}

static WalkResult find_call(Walker *w, Node *n) {
  PrimFunc *kernel;
  return calls_device(w->context, n, &kernel) ? WALK_STOP : WALK_ON;
}

/* What the function allocated is given back at its end, and by who leaves it with an error. */
static Node *with_frame(LowerLaunch *l, Node *body) {
  Host host = host_new("", body->span), *h = &host;
  host_let_var(h, l->frame, host_call(h, "tvms_frame_begin", HANDLE, (NodeVec){0}));
  check(h, expr_call("isnullptr", BOOL, NODES(l->frame), h->span));
  host_add(h, body);
  Node *end = host_call(h, "tvms_frame_fail", INT32, NODES(l->frame));
  host_add(h, stmt_evaluate(end, h->span));
  return host_body(h);
}

Node *pass_lower_device_kernel_launch(Node *n, const PassContext *context) {
  PrimFunc f = *AS(PrimFunc, n);
  LowerLaunch l = {.module = context->module, .device = lower_device(context->target)};
  Walker w = {.enter = find_call, .context = &l};
  if (!l.device.is_device || is_device_function(n) || walk(&w, f.body)) return n;
  Mutator m = {.rewrite = rewrite, .context = &l};
  f.body = mutate(&m, f.body);
  if (l.frame) f.body = with_frame(&l, f.body);
  return gc_copy(&f, sizeof f);
}
