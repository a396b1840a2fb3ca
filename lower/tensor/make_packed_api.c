/* make_packed_api.c -- tensor programs become kernels over pointers; the public ones get an entry
 * with the calling convention of packed functions, which checks dtypes, ranks and dims.
 *
 * In:  PrimFuncs with buffers beside their parameters; their bodies may be flat already.
 * Out: f becomes a kernel without a symbol, so that calls by GlobalVar stay direct; f_packed is the
 * entry. */
#include "lower/lower_impl.h"

static Node *make_kernel(PrimFunc *f) {
  NodeVec params = kernel_params(f), none = {0};
  for (int i = 0; i < params.len; i++) vec_push(&none, (Node *)NULL);
  Node *attrs = dict_with(f->attrs, "global_symbol", NULL);
  return MAKE(PrimFunc, f->node.span, VOID_TYPE, .sinfo = f->sinfo, .params = params,
              .buffers = none, .ret_dtype = f->ret_dtype, .attrs = attrs, .body = f->body);
}

static const char *param_name(PrimFunc *f, int i) {
  return f->buffers.at[i] ? AS(Buffer, f->buffers.at[i])->name : AS(Var, f->params.at[i])->name;
}

static const char *signature_text(PrimFunc *f) {
  Str s = {0};
  str_add_char(&s, '(');
  for (int i = 0; i < f->params.len; i++) {
    str_printf(&s, "%s%s: ", i ? ", " : "", param_name(f, i));
    if (!f->buffers.at[i]) {
      str_add(&s, dtype_text(f->params.at[i]->dtype));
      continue;
    }
    Buffer *b = AS(Buffer, f->buffers.at[i]);
    str_add(&s, "Tensor((");
    for (int k = 0; k < b->shape.len; k++)
      str_printf(&s, "%s%s", k ? ", " : "", ir_print(b->shape.at[k], NULL));
    str_printf(&s, "%s), %s)", b->shape.len == 1 ? "," : "", dtype_text(b->elem));
  }
  str_add_char(&s, ')');
  return str_text(&s);
}

/* The scalar argument as a let of the parameter's name. */
static void bind_scalar(Host *h, PrimFunc *f, int i, Map *bound) {
  Node *p = f->params.at[i];
  int type = dtype_is_float(p->dtype)    ? TVMS_FLOAT
             : dtype_is_handle(p->dtype) ? TVMS_PTR
             : dtype_is_bool(p->dtype)   ? TVMS_BOOL
                                         : TVMS_INT;
  host_check(
      h, host_call(h, "tvms_arg_type", INT32,
                   NODES(host_text(h, h->name), host_text(h, value_phrase(AS(Var, p)->name, true)),
                         h->args, h->types, host_int(h, i), host_int(h, type))));
  Node *value = type == TVMS_FLOAT ? host_call(h, "tvms_arg_float", FLOAT64,
                                               NODES(h->args, h->types, host_int(h, i)))
                : type == TVMS_PTR
                    ? host_call(h, "tvms_arg_object", HANDLE, NODES(h->args, host_int(h, i)))
                    : host_call(h, "tvms_arg_int", INT64, NODES(h->args, h->types, host_int(h, i)));
  map_set(bound, p, host_let(h, AS(Var, p)->name, expr_cast(p->dtype, value, h->span)));
}

typedef struct ArgDims {
  NodeVec *actual;
} ArgDims;

static Node *dim_of_arg(void *context, int param, int axis) {
  return ((ArgDims *)context)->actual[param].at[axis];
}

/* Lets for data pointers and dims of all tensor arguments; their checks. */
static void bind_tensors(Host *h, PrimFunc *f, Map *bound) {
  DimCheckVec checks = {0};
  ArgDims dims = {NEW_ARRAY(NodeVec, f->params.len + 1)};
  for (int i = 0; i < f->params.len; i++) {
    if (!f->buffers.at[i]) continue;
    Buffer *b = AS(Buffer, f->buffers.at[i]);
    Node *t = host_tensor_arg(h, i, b->name, b->shape.len, b->elem);
    for (int k = 0; k < b->shape.len; k++)
      vec_push(&dims.actual[i],
               host_let(h, str_format("%s_%d", b->name, k),
                        host_call(h, "tvms_tensor_dim", INT64, NODES(t, host_int(h, k)))));
    host_bind_dims(h,
                   (DimCheck){.what = value_phrase(b->name, true),
                              .tensor = t,
                              .dims = b->shape,
                              .actual = dims.actual[i]},
                   bound, &checks);
    Node *data =
        pointer_var_new(str_format("%s_data", b->name), b->elem, buffer_scope(&b->node), h->span);
    host_let_var(h, data, host_call(h, "tvms_tensor_address", HANDLE, NODES(t)));
    map_set(bound, b->data, data);
  }
  kernel_bind_dims(f, dim_of_arg, &dims, bound);
  host_check_dims(h, &checks, bound);
}

static Node *make_entry(PrimFunc *f, Node *global, const char *symbol, LowerDevice device) {
  Host h = host_new(symbol, f->node.span);
  h.device = device;
  Map bound = {0};
  host_check(&h, host_call(&h, "tvms_arg_count", INT32,
                           NODES(host_text(&h, symbol), h.count, host_int(&h, f->params.len))));
  for (int i = 0; i < f->params.len; i++)
    if (!f->buffers.at[i]) bind_scalar(&h, f, i, &bound);
  bind_tensors(&h, f, &bound);
  NodeVec params = kernel_params(f), args = {0};
  for each (Node *, p, &params) {
    Node *value = map_get(&bound, *p);
    if (!value)
      error_raisef(
          "LowerError", f->node.span,
          "'%s' of %s can't be told from the arguments: no buffer has it as a whole dimension",
          AS(Var, *p)->name, symbol);
    vec_push(&args, value);
  }
  Node *call = MAKE(Call, h.span, f->ret_dtype, .op = global, .args = args);
  if (dtype_is_void(f->ret_dtype)) host_add(&h, stmt_evaluate(call, h.span));
  else {
    Node *value = host_let(&h, "result", call);
    int type = dtype_is_float(value->dtype)  ? TVMS_FLOAT
               : dtype_is_bool(value->dtype) ? TVMS_BOOL
                                             : TVMS_INT;
    host_store(&h, h.ret, INT64, 0, host_bits(&h, value));
    host_store(&h, h.ret_type, INT32, 0, host_int(&h, type));
  }
  host_add(&h, stmt_evaluate(expr_call("ret", INT32, NODES(host_int(&h, 0)), h.span), h.span));
  return host_function(&h, host_body(&h), symbol, signature_text(f));
}

Node *pass_make_packed_api(Node *module, const PassContext *context) {
  IRModule *m = AS(IRModule, module);
  LowerDevice device = lower_device(context->target);
  Node *out = module;
  for each (Node *, f, &m->functions)
    if (IS(Function, *f))
      error_raisef("LowerError", (*f)->span,
                   "a graph function is left: run LowerGraphFunction first");
  for (int i = 0; i < m->functions.len; i++) {
    Node *f = m->functions.at[i], *global = m->globals.at[i];
    if (!IS(PrimFunc, f) || dict_get(AS(PrimFunc, f)->attrs, "tvms.packed")) continue;
    const char *symbol = func_symbol(f);
    out = module_with(out, global, make_kernel(AS(PrimFunc, f)));
    if (!symbol) continue;
    const char *name = module_fresh_name(out, str_format("%s_packed", symbol));
    Node *entry = MAKE(GlobalVar, f->span, VOID_TYPE, .sinfo = sinfo_object(), .name = name);
    out = module_with(out, entry, make_entry(AS(PrimFunc, f), global, symbol, device));
  }
  return out;
}
