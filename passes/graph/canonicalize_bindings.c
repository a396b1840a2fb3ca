/* canonicalize_bindings.c -- drops aliases of variables, and fields taken from tuples that are
 * known.
 *
 * `y = x` goes, and y is x from there on, unless y is what a dataflow block gives out and x is not.
 */
#include "passes/passes.h"

typedef struct Canon {
  Map aliases; /* RelaxVar to the expression that stands for it */
  Map tuples;  /* RelaxVar to the Tuple bound to it */
} Canon;

static Node *known_field(Canon *c, Node *n) {
  TupleGetItem *t = AS(TupleGetItem, n);
  Node *tuple = IS(Tuple, t->tuple) ? t->tuple : map_get(&c->tuples, t->tuple);
  return tuple ? AS(Tuple, tuple)->fields.at[t->index] : NULL;
}

static Node *binding(Mutator *m, Node *n) {
  Canon *c = m->context;
  VarBinding b = *AS(VarBinding, n);
  b.value = mutate(m, b.value);
  if (IS(TupleGetItem, b.value) && known_field(c, b.value)) b.value = known_field(c, b.value);
  if (IS(Tuple, b.value)) map_set(&c->tuples, b.var, b.value);
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
  if (IS(RelaxVar, n)) return map_has(&c->aliases, n) ? map_get(&c->aliases, n) : n;
  if (!IS(SeqExpr, n)) return mutate_children(m, n);
  SeqExpr s = *AS(SeqExpr, mutate_children(m, n));
  NodeVec blocks = {0}; /* without those that became empty */
  for each (Node *, b, &s.blocks)
    if (AS(BindingBlock, *b)->bindings.len) vec_push(&blocks, *b);
  s.blocks = blocks;
  return gc_copy(&s, sizeof s);
}

Node *pass_canonicalize_bindings(Node *n, const PassContext *context) {
  (void)context;
  Canon c = {0};
  Mutator m = {.rewrite = rewrite, .context = &c};
  return mutate_children(&m, n);
}
