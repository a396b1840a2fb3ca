/* to_non_dataflow.c -- dataflow blocks become plain blocks, their variables plain variables. */
#include "passes/passes.h"

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
  return n;
}

Node *pass_to_non_dataflow(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return mutate_children(&m, n);
}
