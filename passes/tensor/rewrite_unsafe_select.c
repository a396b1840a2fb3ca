/* rewrite_unsafe_select.c -- a T.Select with an arm that may fail where it is not chosen (a load, a
 * division) becomes T.if_then_else, which evaluates the chosen arm only.
 *
 * Not: choices by lane, which evaluate both arms in any case. */
#include "passes/tensor/tensor.h"

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  if (!IS(Select, n)) return n;
  Select *s = AS(Select, n);
  if (s->cond->dtype.lanes != 1 || (!expr_may_fail(s->then) && !expr_may_fail(s->orelse))) return n;
  return expr_call("if_then_else", n->dtype, NODES(s->cond, s->then, s->orelse), n->span);
}

Node *pass_rewrite_unsafe_select(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
