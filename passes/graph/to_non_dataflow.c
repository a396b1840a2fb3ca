/* to_non_dataflow.c -- dataflow blocks become plain blocks, their variables plain variables. Blocks
 * that then stand side by side are one. */
#include "passes/passes.h"

static Node *merged(Node *n) {
  SeqExpr seq = *AS(SeqExpr, n);
  NodeVec blocks = {0}, bindings = {0};
  for each (Node *, b, &seq.blocks)
    for each (Node *, x, &AS(BindingBlock, *b)->bindings) vec_push(&bindings, *x);
  if (bindings.len) {
    Span span = seq.blocks.at[0]->span;
    vec_push(&blocks, MAKE(BindingBlock, span, VOID_TYPE, .bindings = bindings));
  }
  seq.blocks = blocks;
  return gc_copy(&seq, sizeof seq);
}

static Node *rewrite(Mutator *m, Node *n) {
  n = mutate_children(m, n);
  if (IS(RelaxVar, n) && AS(RelaxVar, n)->is_dataflow) {
    RelaxVar v = *AS(RelaxVar, n);
    v.is_dataflow = false;
    return gc_copy(&v, sizeof v);
  }
  if (IS(BindingBlock, n) && AS(BindingBlock, n)->is_dataflow) {
    BindingBlock b = *AS(BindingBlock, n);
    b.is_dataflow = false;
    return gc_copy(&b, sizeof b);
  }
  if (IS(SeqExpr, n) && AS(SeqExpr, n)->blocks.len > 1) return merged(n);
  return n;
}

Node *pass_to_non_dataflow(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return mutate_children(&m, n);
}
