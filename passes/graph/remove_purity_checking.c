/* remove_purity_checking.c -- pure functions are marked so that nobody checks them any more, and
 * calls that only state purity become plain calls.
 *
 * In:  graph functions. Out: pure ones have the attribute relax.force_pure; call_pure_packed is
 * call_packed, invoke_pure_closure is invoke_closure. Local functions are marked, too. */
#include "passes/passes.h"

static const struct {
  const char *pure, *plain;
} forms[] = {{"relax.call_pure_packed", "relax.call_packed"},
             {"relax.invoke_pure_closure", "relax.invoke_closure"}};

static Node *plain_call(Node *n) {
  RelaxCall c = *AS(RelaxCall, n);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (c.op == op_get(forms[i].pure)) {
      c.op = op_get(forms[i].plain);
      return gc_copy(&c, sizeof c);
    }
  return n;
}

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(Var, n) || IS(RelaxVar, n)) return n;
  n = mutate_children(m, n);
  if (IS(RelaxCall, n)) return plain_call(n);
  bool marks = IS(Function, n) && AS(Function, n)->is_pure &&
               !dict_get_int(AS(Function, n)->attrs, "relax.force_pure", 0);
  return marks ? func_with_attr(n, "relax.force_pure", int_imm(BOOL, 1, n->span)) : n;
}

Node *pass_remove_purity_checking(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return mutate(&m, n);
}
