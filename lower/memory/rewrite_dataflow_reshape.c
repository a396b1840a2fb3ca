/* rewrite_dataflow_reshape.c -- kernels that only copy a range of one tensor become views of it.
 *
 * reshape, flatten, expand_dims, squeeze, a slice along the outer axis, split along it: whatever
 * the operator was, the tensor program shows that it copies. A value that leaves the function, or
 * that a packed function may change, stays a tensor of its own. */
#include "lower/memory/size_proof.h"

typedef struct Views {
  const Target *target;
  Node *module;
  Aliases aliases;
  SizeFacts sizes;
} Views;

/* Operands, outputs and handed-over variables of a call_tir, in the order of the parameters. */
static NodeVec arguments_of(RelaxCall *c) {
  NodeVec args = {0};
  Node *given = c->args.at[1];
  if (!IS(Tuple, given)) return args;
  for each (Node *, a, &AS(Tuple, given)->fields) vec_push(&args, *a);
  for each (Node *, s, &c->sinfo_args) vec_push(&args, memory_var("out", *s, c->node.span));
  if (c->args.len > 2)
    for each (Node *, v, &AS(ShapeExpr, c->args.at[2])->values)
      vec_push(&args, memory_number(*v, c->node.span));
  return args;
}

static bool any_in(const Map *set, NodeVec roots) {
  for each (Node *, r, &roots)
    if (map_has(set, *r)) return true;
  return false;
}

static bool may_share(Views *v, Node *source, Node *result) {
  return IS(RelaxVar, source) && !map_has(&v->aliases.opaque, result) &&
         !map_has(&v->aliases.leaves, result) &&
         !any_in(&v->aliases.opaque, alias_roots(&v->aliases, source));
}

/* A kernel may copy what surely lies in its operand, or what does so if the caller keeps his word
 * (the last row of n: there must be one). Only the former is a view. */
static bool is_inside(Views *v, Node *source, Node *sinfo, Node *begin) {
  Node *end = expr_add(begin, memory_nbytes(sinfo));
  return size_within(&v->sizes, int_imm(INT64, 0, begin->span), begin) &&
         size_within(&v->sizes, end, memory_nbytes(sinfo_of(source)));
}

/* Output `out` of the call as a view of one of its operands; NULL if it is none. */
static Node *view_of(Views *v, RelaxCall *c, PrimFunc *f, NodeVec args, Node *result, int out) {
  KernelParts parts;
  int operands = AS(Tuple, c->args.at[1])->fields.len;
  if (!kernel_copies(f, operands + out, &parts) || parts.len != 1) return NULL;
  Node *source = args.at[parts.at[0].param];
  if (!may_share(v, source, result)) return NULL;
  Map bound = {0};
  if (!kernel_call_dims(f, args, &bound)) return NULL;
  Node *sinfo = c->sinfo_args.at[out];
  int nbytes = dtype_nbytes(AS(TensorStructInfo, sinfo)->elem);
  Node *begin = expr_mul(substitute(parts.at[0].from, &bound), int_imm(INT64, nbytes, (Span){0}));
  bool fits = is_inside(v, source, sinfo, begin) && memory_may_begin(v->target, begin);
  if (!fits) return NULL;
  return memory_view(source, sinfo, begin, c->node.span);
}

static bool rewrite_call(Views *v, Node *binding, NodeVec *out) {
  RelaxCall *c = AS(RelaxCall, AS(VarBinding, binding)->value);
  Node *var = AS(VarBinding, binding)->var, *callee = c->args.at[0];
  Node *found = IS(GlobalVar, callee) ? module_find(v->module, AS(GlobalVar, callee)->name) : NULL;
  NodeVec args = arguments_of(c), views = {0}, fields = {0}, infos = {0};
  if (!IS(PrimFunc, found) || args.len != AS(PrimFunc, found)->params.len) return false;
  for (int i = 0; i < c->sinfo_args.len; i++) {
    Node *view = view_of(v, c, AS(PrimFunc, found), args, var, i);
    if (!view) return false;
    vec_push(&views, view);
  }
  if (views.len == 1) {
    vec_push(out, memory_bind(var, views.at[0]));
    return true;
  }
  for (int i = 0; i < views.len; i++) {
    RelaxVar field = *AS(RelaxVar, var);
    field.name = str_format("%s_%d", field.name, i);
    field.sinfo = sinfo_of(views.at[i]);
    vec_push(&fields, gc_copy(&field, sizeof field));
    vec_push(&infos, field.sinfo);
    vec_push(out, memory_bind(fields.at[i], views.at[i]));
  }
  vec_push(out,
           memory_bind(var, MAKE(Tuple, binding->span, VOID_TYPE,
                                 .sinfo = sinfo_tuple(infos, binding->span), .fields = fields)));
  return true;
}

static void rewrite(Bindings *b, NodeVec bindings, NodeVec *out) {
  for each (Node *, n, &bindings) {
    bool is_call = IS(VarBinding, *n) && is_op_call(AS(VarBinding, *n)->value, "relax.call_tir");
    if (!is_call || !rewrite_call(b->context, *n, out)) vec_push(out, *n);
  }
}

Node *pass_rewrite_dataflow_reshape(Node *function, const PassContext *context) {
  Views v = {context->target,
             context->module,
             memory_aliases(context->module, function),
             {.f = AS(Function, function), .arith = memory_analyzer(AS(Function, function))}};
  Bindings b = {rewrite, &v};
  return memory_rewrite(&b, function);
}
