/* annotate_irregular_loop.c -- loops that jumps leave, or whose steps they end, say so.
 *
 * Out: the annotation irregular_loop_mark on each loop whose body holds a break or continue of it,
 * or a return. Passes of the user's own may so tell which loops must stay as they are. */
#include "passes/tensor/tensor.h"

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  if (!IS(For, n) || !stmt_jumps_out(AS(For, n)->body)) return n;
  For f = *AS(For, n);
  f.annotations = dict_with(f.annotations, "irregular_loop_mark", int_imm(INT32, 1, n->span));
  return gc_copy(&f, sizeof f);
}

Node *pass_annotate_irregular_loop(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
