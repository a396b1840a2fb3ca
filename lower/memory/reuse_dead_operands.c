/* reuse_dead_operands.c -- a kernel writes over an operand that is not needed after it.
 *
 * In:  y = alloc; relu(x, y), where x is not used any more and the kernel reads each element of x
 *      only to write the same element of y.
 * Out: y = view(x); relu_inplace(y), a kernel with one buffer for both: so whatever plans the loops
 *      sees that they are one. */
#include "lower/memory/memory.h"

typedef struct Reuse {
  Node *module; /* with the kernels made so far */
  Liveness *live;
  Map made;  /* "kernel in out", interned, to the GlobalVar of the kernel in place */
  Map fresh; /* roots that nothing has written yet: to their binding */
} Reuse;

static bool is_dead_after(Reuse *r, Node *binding, Node *root) {
  NodeVec *dead = map_get(&r->live->dead, binding);
  for (int i = 0; dead && i < dead->len; i++)
    if (dead->at[i] == root) return true;
  return false;
}

static bool leaves_function(Reuse *r, Node *root) {
  return map_has(&r->live->aliases.opaque, root) || map_has(&r->live->aliases.leaves, root);
}

/* Is `operand` all of a root's memory, not needed after the call, and of no other operand? */
static bool can_be_overwritten(Reuse *r, Node *binding, RelaxCall *c, int operand, Node *result) {
  Aliases *a = &r->live->aliases;
  NodeVec roots = alias_roots(a, c->args.at[operand]);
  Node *root = roots.len == 1 ? roots.at[0] : NULL;
  if (!root || !map_has(&r->live->index, root) || leaves_function(r, root)) return false;
  if (!is_dead_after(r, binding, root)) return false;
  if (!node_equal(memory_nbytes(sinfo_of(root)), memory_nbytes(sinfo_of(result)), false, NULL))
    return false;
  for (int i = 0; i < c->args.len; i++) {
    NodeVec others = alias_roots(a, c->args.at[i]);
    for each (Node *, o, &others)
      if (i != operand && *o == root) return false;
  }
  return true;
}

static Node *kernel_for(Reuse *r, Node *global, PrimFunc *f, int in, int out) {
  const char *name = AS(GlobalVar, global)->name;
  const char *key = str_intern(str_format("%s %d %d", name, in, out));
  Node *made = map_get(&r->made, key);
  if (made) return made;
  const char *fresh = module_fresh_name(r->module, str_format("%s_inplace", name));
  made = MAKE(GlobalVar, global->span, VOID_TYPE, .sinfo = sinfo_object(), .name = fresh);
  r->module = module_with(r->module, made, kernel_in_place(f, in, out));
  map_set(&r->made, key, made);
  return made;
}

typedef struct Emit {
  Reuse *reuse;
  NodeVec *out;
} Emit;

/* Allocations wait until something mentions them. */
static WalkResult emit_waiting(Walker *w, Node *n) {
  Emit *e = w->context;
  Node *waiting = IS(RelaxVar, n) ? map_get(&e->reuse->fresh, n) : NULL;
  if (!waiting) return WALK_ON;
  map_remove(&e->reuse->fresh, n);
  vec_push(e->out, waiting);
  return WALK_ON;
}

static void emit_operands(Reuse *r, Node *value, NodeVec *out) {
  Emit e = {r, out};
  Walker w = {.enter = emit_waiting, .context = &e};
  walk(&w, value);
}

/* The call in place, with the view before it; false if it can't be. */
static bool rewrite_call(Reuse *r, Node *binding, NodeVec *out) {
  RelaxCall *c = AS(RelaxCall, AS(VarBinding, binding)->value);
  Node *found = IS(GlobalVar, c->op) ? module_find(r->module, AS(GlobalVar, c->op)->name) : NULL;
  if (!IS(PrimFunc, found) || c->args.len != AS(PrimFunc, found)->params.len) return false;
  PrimFunc *f = AS(PrimFunc, found);
  for (int to = 0; to < c->args.len; to++) {
    Node *result = c->args.at[to];
    if (!map_has(&r->fresh, result) || leaves_function(r, result)) continue;
    for (int from = 0; from < to; from++) {
      Node *operand = c->args.at[from];
      if (!IS(RelaxVar, operand) || map_has(&r->fresh, operand)) continue;
      if (!can_be_overwritten(r, binding, c, from, result)) continue;
      if (!kernel_writes_in_place(f, from, to)) continue;
      RelaxCall copy = *c;
      copy.op = kernel_for(r, c->op, f, from, to);
      copy.args = (NodeVec){0};
      for (int i = 0; i < c->args.len; i++)
        if (i != to) vec_push(&copy.args, i == from ? result : c->args.at[i]);
      Node *view =
          memory_view(operand, sinfo_of(result), int_imm(INT64, 0, c->node.span), c->node.span);
      vec_push(out, memory_bind(result, view));
      map_remove(&r->fresh, result);
      emit_operands(r, &copy.node, out);
      vec_push(out, memory_bind(AS(VarBinding, binding)->var, gc_copy(&copy, sizeof copy)));
      return true;
    }
  }
  return false;
}

static void rewrite(Bindings *b, NodeVec bindings, NodeVec *out) {
  Reuse *r = b->context;
  r->fresh = (Map){0};
  for each (Node *, n, &bindings) {
    Node *value = IS(MatchCast, *n) ? AS(MatchCast, *n)->value : AS(VarBinding, *n)->value;
    if (IS(VarBinding, *n) && is_op_call(value, "relax.builtin.alloc_tensor")) {
      map_set(&r->fresh, AS(VarBinding, *n)->var, *n);
      continue;
    }
    if (IS(VarBinding, *n) && IS(RelaxCall, value) && rewrite_call(r, *n, out)) continue;
    emit_operands(r, value, out);
    vec_push(out, *n);
  }
  for (int i = 0; i < r->fresh.len; i++)
    if (r->fresh.at[i].key) vec_push(out, (Node *)r->fresh.at[i].value);
}

Node *pass_reuse_dead_operands(Node *module, const PassContext *context) {
  (void)context;
  Reuse r = {.module = module};
  IRModule *m = AS(IRModule, module);
  for (int i = 0; i < m->functions.len; i++) {
    if (!IS(Function, m->functions.at[i])) continue;
    r.live = memory_liveness(r.module, m->functions.at[i]);
    Bindings b = {rewrite, &r};
    Node *f = memory_rewrite(&b, m->functions.at[i]);
    if (f != m->functions.at[i]) r.module = module_with(r.module, m->globals.at[i], f);
  }
  return r.module;
}
