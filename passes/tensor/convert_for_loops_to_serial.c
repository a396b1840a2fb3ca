/* convert_for_loops_to_serial.c -- parallel loops run one step after the other. */
#include "passes/tensor/tensor.h"

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  if (!IS(For, n) || AS(For, n)->loop_kind != LOOP_PARALLEL) return n;
  For f = *AS(For, n);
  f.loop_kind = LOOP_SERIAL;
  return gc_copy(&f, sizeof f);
}

Node *pass_convert_for_loops_to_serial(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
