/* remove_assume.c -- what T.assume says is dropped: no pass after this one asks. */
#include "passes/tensor/tensor.h"

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  bool assumes = IS(Evaluate, n) && is_intrin_call(AS(Evaluate, n)->value, "assume");
  return assumes ? stmt_evaluate(int_imm(INT32, 0, n->span), n->span) : mutate_children(m, n);
}

Node *pass_remove_assume(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
