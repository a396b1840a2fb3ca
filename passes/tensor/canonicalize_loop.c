/* canonicalize_loop.c -- loops run from 0 on, by steps of 1.
 *
 * In:  loops that start anywhere, also symbolic; a loop by larger steps is one by 1 whose body
 * begins with a let of what the text calls its variable. Out: both are written out where they are
 * used. */
#include "ir/arith/arith.h"
#include "passes/tensor/tensor.h"

static Node *replaced(Node *body, Node *var, Node *value) {
  Map map = {0};
  map_set(&map, var, value);
  return substitute(body, &map);
}

/* The body without a let that only counts the loop's steps in another way. */
static Node *without_counter(Node *body, Node *var) {
  while (IS(LetStmt, body)) {
    LetStmt *l = AS(LetStmt, body);
    bool counts = dtype_is_int(l->value->dtype) && mentions_node(l->value, var) &&
                  expr_effect(l->value) == EFFECT_PURE;
    if (!counts) break;
    body = replaced(l->body, l->var, arith_simplify(arith_new(), l->value));
  }
  return body;
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  if (!IS(For, n)) return n;
  For f = *AS(For, n);
  f.body = without_counter(f.body, f.var);
  if (!expr_is_zero(f.min)) {
    f.body = replaced(f.body, f.var, expr_add(f.var, f.min));
    f.min = int_imm(f.var->dtype, 0, n->span);
  }
  return f.body == AS(For, n)->body ? n : gc_copy(&f, sizeof f);
}

Node *pass_canonicalize_loop(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
