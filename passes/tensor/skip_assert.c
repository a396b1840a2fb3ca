/* skip_assert.c -- asserts are dropped; what stands after them stays. */
#include "passes/tensor/tensor.h"

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  return IS(AssertStmt, n) ? mutate(m, AS(AssertStmt, n)->body) : mutate_children(m, n);
}

Node *pass_skip_assert(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
