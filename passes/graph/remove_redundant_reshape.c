/* remove_redundant_reshape.c -- a reshape of a reshape is one; one to the same shape is none.
 *
 * In:  R.reshape in graph functions, before LegalizeOps. Out: what is left of them; reshapes in
 * between that others use stay, until DeadCodeElimination. */
#include "passes/passes.h"

typedef struct Reshapes {
  Map sources; /* RelaxVar to what it is a reshape of */
  Map same;    /* RelaxVar to the one that it equals */
} Reshapes;

static Node *source_of(Reshapes *r, Node *n) {
  for (Node *s; IS(RelaxVar, n) && (s = map_get(&r->sources, n)); n = s) continue;
  return n;
}

static bool same_shape(Node *a, Node *b) {
  NodeVec x, y;
  if (!sinfo_tensor_shape(sinfo_of(a), &x) || !sinfo_tensor_shape(sinfo_of(b), &y) ||
      x.len != y.len)
    return false;
  for (int i = 0; i < x.len; i++)
    if (!node_equal(x.at[i], y.at[i], false, NULL)) return false;
  return true;
}

static Node *binding(Mutator *m, Node *n) {
  Reshapes *r = m->context;
  VarBinding b = *AS(VarBinding, n);
  b.value = mutate(m, b.value);
  if (IS(RelaxCall, b.value) && AS(RelaxCall, b.value)->op == op_get("relax.reshape")) {
    RelaxCall c = *AS(RelaxCall, b.value);
    Node *source = source_of(r, c.args.at[0]);
    NodeVec args = NODES(source);
    for (int i = 1; i < c.args.len; i++) vec_push(&args, c.args.at[i]);
    bool none = same_shape(source, b.var);
    if (none && IS(RelaxVar, source) && AS(RelaxVar, b.var)->is_dataflow) {
      map_set(&r->same, b.var, source);
      return NULL;
    }
    if (!none) map_set(&r->sources, b.var, source);
    if (source != c.args.at[0]) {
      c.args = args;
      b.value = gc_copy(&c, sizeof c);
    }
    if (none) b.value = source;
  }
  return b.value == AS(VarBinding, n)->value ? n : gc_copy(&b, sizeof b);
}

static Node *rewrite(Mutator *m, Node *n) {
  Reshapes *r = m->context;
  if (IS(Var, n)) return n;
  if (IS(RelaxVar, n)) return map_has(&r->same, n) ? map_get(&r->same, n) : n;
  if (IS(VarBinding, n)) return binding(m, n);
  n = mutate_children(m, n);
  if (IS(BindingBlock, n)) r->sources = (Map){0}; /* what is local to it ends */
  return n;
}

Node *pass_remove_redundant_reshape(Node *n, const PassContext *context) {
  (void)context;
  Reshapes r = {0};
  Mutator m = {.rewrite = rewrite, .context = &r};
  return mutate_children(&m, n);
}
