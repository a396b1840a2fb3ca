/* renormalize_split_pattern.c -- digits of an index in one form: (x // a) % b, not (x % (a * b)) //
 * a.
 *
 * Both are equal for floor division by positive constants. */
#include "passes/tensor/tensor.h"

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  Binary *divide = (Binary *)(void *)n;
  if (!IS(FloorDiv, n) || !IS(FloorMod, divide->a)) return n;
  Binary *modulo = (Binary *)(void *)divide->a;
  int64_t a, all;
  if (!expr_is_const_int(divide->b, &a) || !expr_is_const_int(modulo->b, &all) || a <= 0 ||
      all <= 0 || all % a)
    return n;
  Node *digits = expr_floordiv(modulo->a, divide->b);
  return expr_floormod(digits, int_imm(n->dtype, all / a, n->span));
}

Node *pass_renormalize_split_pattern(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
