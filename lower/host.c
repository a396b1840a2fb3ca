/* host.c -- writing host functions: lets, checks, stack arrays, calls of the runtime. */
#include "lower/lower_impl.h"

Host host_new(const char *name, Span span) {
  return (Host){.name = name,
                .span = span,
                .self = var_new("self", HANDLE, span),
                .args = var_new("args", HANDLE, span),
                .types = var_new("types", HANDLE, span),
                .count = var_new("n", INT32, span),
                .ret = var_new("ret", HANDLE, span),
                .ret_type = var_new("ret_type", HANDLE, span)};
}

void host_add(Host *h, Node *stmt) {
  vec_push(&h->items, stmt);
  vec_push(&h->open, false);
}

void host_wrap(Host *h, Node *wrapper) {
  vec_push(&h->items, wrapper);
  vec_push(&h->open, true);
}

Node *host_body(Host *h) {
  Node *rest = NULL;
  NodeVec run = {0}; /* statements since the last wrapper, backwards */
  for (int i = h->items.len - 1; i >= -1; i--) {
    if (i >= 0 && !h->open.at[i]) {
      vec_push(&run, h->items.at[i]);
      continue;
    }
    NodeVec stmts = {0};
    for (int k = run.len - 1; k >= 0; k--) vec_push(&stmts, run.at[k]);
    if (rest) vec_push(&stmts, rest);
    rest = stmt_seq(stmts, h->span);
    run = (NodeVec){0};
    if (i >= 0) {
      *stmt_rest(h->items.at[i]) = rest;
      rest = h->items.at[i];
    }
  }
  return rest;
}

void host_let_var(Host *h, Node *var, Node *value) {
  host_wrap(h, MAKE(LetStmt, h->span, VOID_TYPE, .value = value, .var = var));
}

Node *host_let(Host *h, const char *name, Node *value) {
  Node *var = var_new(name, value->dtype, h->span);
  host_let_var(h, var, value);
  return var;
}

Node *host_text(Host *h, const char *text) { return string_imm(text, h->span); }
Node *host_int(Host *h, int64_t value) { return int_imm(INT32, value, h->span); }

Node *host_call(Host *h, const char *symbol, DataType result, NodeVec args) {
  NodeVec all = NODES(string_imm(symbol, h->span));
  for each (Node *, a, &args) vec_push(&all, *a);
  return expr_call("call_extern", result, all, h->span);
}

/* return -1, after freeing the frame */
static Node *failure(Host *h) {
  Node *status =
      h->frame ? host_call(h, "tvms_frame_fail", INT32, NODES(h->frame)) : host_int(h, -1);
  return stmt_evaluate(expr_call("ret", INT32, NODES(status), h->span), h->span);
}

void host_check(Host *h, Node *status) {
  Node *failed = expr_binary(NK_NE, status, host_int(h, 0), h->span);
  host_add(h, MAKE(IfThenElse, h->span, VOID_TYPE, .cond = failed, .then = failure(h)));
}

Node *host_object(Host *h, const char *name, Node *handle) {
  Node *var = host_let(h, name, handle);
  Node *failed = expr_call("isnullptr", BOOL, NODES(var), h->span);
  host_add(h, MAKE(IfThenElse, h->span, VOID_TYPE, .cond = failed, .then = failure(h)));
  return var;
}

/* ---- memory ---- */

/* `n` elements at a pointer, as a buffer. */
static Node *array_view(Host *h, Node *pointer, DataType elem, int n) {
  return MAKE(Buffer, h->span, VOID_TYPE, .name = AS(Var, pointer)->name, .elem = elem,
              .data = pointer, .align = dtype_nbytes(elem), .shape = NODES(host_int(h, n)),
              .offset_factor = 1);
}

Node *host_array(Host *h, const char *name, DataType elem, NodeVec values) {
  int n = values.len ? values.len : 1;
  Node *pointer = pointer_var_new(name, elem, "global", h->span);
  host_wrap(h, MAKE(Allocate, h->span, VOID_TYPE, .extents = NODES(host_int(h, n)), .elem = elem,
                    .var = pointer));
  Node *view = array_view(h, pointer, elem, n);
  for (int i = 0; i < values.len; i++)
    host_add(h, stmt_store(view, NODES(host_int(h, i)), values.at[i], h->span));
  return pointer;
}

Node *host_load(Host *h, Node *pointer, DataType elem, int index) {
  return expr_load(array_view(h, pointer, elem, index + 1), NODES(host_int(h, index)), h->span);
}

void host_store(Host *h, Node *pointer, DataType elem, int index, Node *value) {
  host_add(h, stmt_store(array_view(h, pointer, elem, index + 1), NODES(host_int(h, index)), value,
                         h->span));
}

Node *host_bits(Host *h, Node *value) {
  if (dtype_is_float(value->dtype)) value = expr_cast(FLOAT64, value, h->span);
  if (dtype_is_int(value->dtype) || dtype_is_bool(value->dtype))
    return expr_cast(INT64, value, h->span);
  return expr_call("reinterpret", INT64, NODES(value), h->span);
}

/* ---- arguments ---- */

NodeVec host_on_device(Host *h, int at, NodeVec args) {
  NodeVec out = {0};
  for (int i = 0; i <= args.len; i++) {
    if (i == at) {
      vec_push(&out, host_int(h, h->device.type));
      vec_push(&out, host_int(h, h->device.id));
    }
    if (i < args.len) vec_push(&out, args.at[i]);
  }
  return out;
}

Node *host_tensor_arg(Host *h, int index, const char *param, int ndim, DataType elem) {
  int code = dtype_is_void(elem) ? 255 : dtype_dlpack_code(elem);
  NodeVec args =
      NODES(host_text(h, h->name), host_text(h, param), h->args, h->types, host_int(h, index),
            host_int(h, ndim), host_int(h, code), host_int(h, elem.bits), host_int(h, elem.lanes));
  Node *arg = h->device.is_device ? host_call(h, "tvms_arg_device_tensor", HANDLE,
                                              host_on_device(h, args.len, args))
                                  : host_call(h, "tvms_arg_tensor", HANDLE, args);
  return host_object(h, param, arg);
}

void host_bind_dims(Host *h, DimCheck check, Map *bound, DimCheckVec *later) {
  /* The value keeps its own dims: it may outlive the scope of what is bound here. */
  NodeVec actual = {0};
  for each (Node *, d, &check.actual) vec_push(&actual, *d);
  check.actual = actual;
  for (int i = 0; i < check.dims.len; i++) {
    Node *dim = check.dims.at[i];
    if (!IS(Var, dim) || map_has(bound, dim)) continue;
    Node *var = var_new(AS(Var, dim)->name, dim->dtype, h->span);
    host_let_var(h, var, expr_cast(dim->dtype, check.actual.at[i], h->span));
    map_set(bound, dim, var);
    check.actual.at[i] = var; /* equal to itself: no check at run time */
  }
  vec_push(later, check);
}

/* The same number before it was made wider. */
static Node *without_widening(Node *n) {
  bool widens = IS(Cast, n) && dtype_is_int(n->dtype) &&
                n->dtype.code == AS(Cast, n)->value->dtype.code &&
                n->dtype.bits >= AS(Cast, n)->value->dtype.bits;
  return widens ? AS(Cast, n)->value : n;
}

/* The extent that bound a dim, and two equal numbers, need no check at run time. */
static bool is_trivial(Node *want, Node *have) {
  int64_t a, b;
  want = without_widening(want);
  have = without_widening(have);
  return node_equal(want, have, false, NULL) ||
         (expr_is_const_int(want, &a) && expr_is_const_int(have, &b) && a == b);
}

/* A scalar, or a dim of a shape. */
static const char *what_of(const DimCheck *c, int axis) {
  return c->is_shape ? str_format("dimension %d of %s", axis, c->what) : c->what;
}

void host_check_dims(Host *h, const DimCheckVec *checks, const Map *bound) {
  for each (const DimCheck, c, checks) {
    for (int i = 0; i < c->dims.len; i++) {
      Node *dim = substitute(c->dims.at[i], bound);
      if (is_trivial(dim, c->actual.at[i])) continue;
      Node *want = expr_cast(INT64, dim, h->span);
      Node *text = host_text(h, ir_print(c->dims.at[i], NULL));
      NodeVec args = c->tensor ? NODES(host_text(h, h->name), host_text(h, c->what), c->tensor,
                                       host_int(h, i), want, text)
                               : NODES(host_text(h, h->name), host_text(h, what_of(c, i)), want,
                                       expr_cast(INT64, c->actual.at[i], h->span), text);
      host_check(h, host_call(h, c->tensor ? "tvms_check_dim" : "tvms_check_value", INT32, args));
    }
  }
}

Node *host_function(Host *h, Node *body, const char *symbol, const char *signature) {
  Node *attrs = dict_with(dict_new(), "tvms.packed", int_imm(INT32, 1, h->span));
  if (symbol) attrs = dict_with(attrs, "global_symbol", string_imm(symbol, h->span));
  if (signature) attrs = dict_with(attrs, "tvms.signature", string_imm(signature, h->span));
  NodeVec params = NODES(h->self, h->args, h->types, h->count, h->ret, h->ret_type), none = {0};
  for (int i = 0; i < params.len; i++) vec_push(&none, (Node *)NULL);
  return MAKE(PrimFunc, h->span, VOID_TYPE, .params = params, .buffers = none, .ret_dtype = INT32,
              .attrs = attrs, .body = body);
}
