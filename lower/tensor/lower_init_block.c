/* lower_init_block.c -- the init of a reduction block runs where all its reduction variables are at
 * their start. */
#include "lower/lower_impl.h"

static Node *at_start(Block *b) {
  Node *cond = int_imm(BOOL, 1, b->node.span);
  for each (Node *, v, &b->iter_vars) {
    IterVar *iter = AS(IterVar, *v);
    if (iter->iter_kind != ITER_REDUCE) continue;
    cond = expr_and(cond, expr_binary(NK_EQ, iter->var, AS(Range, iter->dom)->min, b->node.span));
  }
  return cond;
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n)) return n;
  n = mutate_children(m, n);
  if (!IS(Block, n) || !AS(Block, n)->init) return n;
  Block b = *AS(Block, n);
  Node *cond = at_start(&b), *init = b.init;
  if (!expr_is_one(cond))
    init = MAKE(IfThenElse, init->span, VOID_TYPE, .cond = cond, .then = init);
  b.body = stmt_seq(NODES(init, b.body), b.node.span);
  b.init = NULL;
  return gc_copy(&b, sizeof b);
}

Node *pass_lower_init_block(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return mutate_children(&m, n);
}
