/* canonicalize_bindings.c -- drops aliases of variables, and fields taken from tuples that are
 * known.
 *
 * `y = x` goes, and y is x from there on, unless y is what a dataflow block gives out and x is not.
 */
#include "passes/passes.h"

typedef struct Canon {
  Map aliases; /* RelaxVar to the expression that stands for it */
  Map tuples;  /* RelaxVar to the Tuple bound to it */
  Map local;   /* the same for tuples of variables that end with the dataflow block */
} Canon;

static WalkResult stop_at_dataflow(Walker *w, Node *n) {
  (void)w;
  return IS(RelaxVar, n) && AS(RelaxVar, n)->is_dataflow ? WALK_STOP : WALK_ON;
}

static bool mentions_dataflow(Node *n) {
  Walker w = {.enter = stop_at_dataflow};
  return !walk(&w, n);
}

static Node *known_tuple(Canon *c, Node *n) {
  if (IS(Tuple, n)) return n;
  Node *local = map_get(&c->local, n);
  return local ? local : map_get(&c->tuples, n);
}

static Node *known_field(Canon *c, Node *n) {
  Node *tuple = known_tuple(c, AS(TupleGetItem, n)->tuple);
  return tuple ? AS(Tuple, tuple)->fields.at[AS(TupleGetItem, n)->index] : NULL;
}

static Node *binding(Mutator *m, Node *n) {
  Canon *c = m->context;
  VarBinding b = *AS(VarBinding, n);
  b.value = mutate(m, b.value);
  if (IS(TupleGetItem, b.value) && known_field(c, b.value)) b.value = known_field(c, b.value);
  if (IS(Tuple, b.value))
    map_set(mentions_dataflow(b.value) ? &c->local : &c->tuples, b.var, b.value);
  bool alias = IS(RelaxVar, b.value) &&
               (AS(RelaxVar, b.var)->is_dataflow || !AS(RelaxVar, b.value)->is_dataflow);
  if (alias) {
    map_set(&c->aliases, b.var, b.value);
    return NULL;
  }
  return b.value == AS(VarBinding, n)->value ? n : gc_copy(&b, sizeof b);
}

static Node *rewrite(Mutator *m, Node *n) {
  Canon *c = m->context;
  if (IS(VarBinding, n)) return binding(m, n);
  if (IS(BindingBlock, n)) {
    n = mutate_children(m, n);
    c->local = (Map){0};
    return n;
  }
  if (IS(RelaxVar, n)) return map_has(&c->aliases, n) ? map_get(&c->aliases, n) : n;
  return mutate_children(m, n);
}

Node *pass_canonicalize_bindings(Node *n, const PassContext *context) {
  (void)context;
  Canon c = {0};
  Mutator m = {.rewrite = rewrite, .context = &c};
  return mutate_children(&m, n);
}
