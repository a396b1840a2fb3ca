/* place_concat_operands.c -- what is to be joined is written where the whole wants it.
 *
 * In:  a = alloc; f(x, a); b = alloc; g(x, b); c = alloc; concat(a, b, c), where the kernel
 * `concat` copies its operands one behind the other, as a concat along the outer axis does. Out: c
 * = alloc; a = view(c, 0); f(x, a); b = view(c, ...); g(x, b). */
#include "lower/memory/memory.h"

/* Where an operand lies in its whole. */
typedef struct Claim {
  Node *whole, *offset; /* in bytes */
} Claim;

typedef struct Join {
  const Target *target;
  Node *module;
  Aliases aliases;
  Map entry_dims; /* variables that are known where the function begins */
  /* Of the list of bindings at hand: */
  Map allocs;  /* root to its binding */
  Map claims;  /* root to its Claim */
  Map dropped; /* calls that have nothing left to do */
  Map emitted; /* roots whose binding stands already */
} Join;

static WalkResult stop_at_new_var(Walker *w, Node *n) {
  return IS(Var, n) && !map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

static bool is_known_at_entry(Join *j, Node *sinfo) {
  Walker w = {.enter = stop_at_new_var, .context = &j->entry_dims};
  return walk(&w, sinfo);
}

/* The root whose memory the operand is all of, if it can be placed; else NULL. */
static Node *root_to_place(Join *j, Node *operand) {
  NodeVec roots = alias_roots(&j->aliases, operand);
  Node *root = roots.len == 1 ? roots.at[0] : NULL;
  bool can_be = root && map_has(&j->allocs, root) && !map_has(&j->claims, root) &&
                !map_has(&j->aliases.opaque, root);
  if (!can_be) return NULL;
  bool is_all = root == operand || node_equal(memory_nbytes(sinfo_of(root)),
                                              memory_nbytes(sinfo_of(operand)), false, NULL);
  return is_all ? root : NULL;
}

static void claim_operands(Join *j, RelaxCall *c) {
  Node *found = IS(GlobalVar, c->op) ? module_find(j->module, AS(GlobalVar, c->op)->name) : NULL;
  KernelParts parts;
  if (!IS(PrimFunc, found) || c->args.len != AS(PrimFunc, found)->params.len) return;
  PrimFunc *f = AS(PrimFunc, found);
  int out = c->args.len - 1;
  while (out > 0 && !f->buffers.at[out]) out--;
  Node *whole = c->args.at[out];
  if (!map_has(&j->allocs, whole) || map_has(&j->aliases.opaque, whole)) return;
  if (!is_known_at_entry(j, sinfo_of(whole))) return;
  if (!kernel_copies(f, out, &parts) || parts.len < 2) return;
  Map bound = {0}, seen = {0};
  NodeVec roots = {0};
  if (!kernel_call_dims(f, c->args, &bound)) return;
  for each (KernelPart, p, &parts) {
    Node *root = root_to_place(j, c->args.at[p->param]);
    if (!root || root == whole || map_has(&seen, root)) return;
    map_set(&seen, root, root);
    vec_push(&roots, root);
  }
  int nbytes = dtype_nbytes(AS(TensorStructInfo, sinfo_of(whole))->elem);
  NodeVec offsets = {0};
  for each (KernelPart, p, &parts) {
    Node *at = expr_mul(substitute(p->to, &bound), int_imm(INT64, nbytes, c->node.span));
    if (!memory_may_begin(j->target, at)) return;
    vec_push(&offsets, at);
  }
  for (int i = 0; i < parts.len; i++)
    map_set(&j->claims, roots.at[i], NEW(Claim, whole, offsets.at[i]));
  map_set(&j->dropped, c, c);
}

static void emit_root(Join *j, Node *root, NodeVec *out) {
  if (map_has(&j->emitted, root)) return;
  map_set(&j->emitted, root, root);
  Node *binding = map_get(&j->allocs, root);
  Claim *claim = map_get(&j->claims, root);
  if (!claim) return vec_push(out, binding), (void)0;
  emit_root(j, claim->whole, out);
  vec_push(out, memory_bind(
                    root, memory_view(claim->whole, sinfo_of(root), claim->offset, binding->span)));
}

static void rewrite(Bindings *b, NodeVec bindings, NodeVec *out) {
  Join *j = b->context;
  j->allocs = j->claims = j->dropped = j->emitted = (Map){0};
  for each (Node *, n, &bindings) {
    if (!IS(VarBinding, *n)) continue;
    VarBinding *v = AS(VarBinding, *n);
    if (is_op_call(v->value, "relax.builtin.alloc_tensor")) map_set(&j->allocs, v->var, *n);
    else if (IS(RelaxCall, v->value)) claim_operands(j, AS(RelaxCall, v->value));
  }
  for each (Node *, n, &bindings) {
    Node *var = IS(VarBinding, *n) ? AS(VarBinding, *n)->var : NULL;
    if (var && map_has(&j->dropped, AS(VarBinding, *n)->value)) continue;
    if (var && map_has(&j->allocs, var)) emit_root(j, var, out);
    else vec_push(out, *n);
  }
}

static WalkResult note_var(Walker *w, Node *n) {
  if (IS(Var, n)) map_set(w->context, n, n);
  return WALK_ON;
}

Node *pass_place_concat_operands(Node *function, const PassContext *context) {
  Join j = {.target = context->target,
            .module = context->module,
            .aliases = memory_aliases(context->module, function)};
  Walker w = {.enter = note_var, .context = &j.entry_dims};
  for each (Node *, p, &AS(Function, function)->params) walk(&w, sinfo_of(*p));
  Bindings b = {rewrite, &j};
  return memory_rewrite(&b, function);
}
