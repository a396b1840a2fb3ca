/* linear.c -- the canonical linear form of integer expressions: constant + sum of coefficient *
 * term.
 *
 * Index arithmetic is taken not to overflow its dtype, as everywhere in this folder; the
 * coefficients themselves are computed with checks, and a form that does not fit is refused. */
#include "ir/arith/arith_impl.h"

static bool add_term(Linear *l, Node *term, int64_t coeff) {
  for (int i = 0; i < l->terms.len; i++)
    if (l->terms.at[i] == term || node_equal(l->terms.at[i], term, false, NULL))
      return !__builtin_add_overflow(l->coeffs.at[i], coeff, &l->coeffs.at[i]);
  vec_push(&l->terms, term);
  vec_push(&l->coeffs, coeff);
  return true;
}

static bool gather(Node *e, int64_t scale, Linear *l) {
  int64_t value, next;
  if (expr_is_const_int(e, &value)) {
    int64_t product;
    return !__builtin_mul_overflow(value, scale, &product) &&
           !__builtin_add_overflow(l->constant, product, &l->constant);
  }
  Binary *b = (Binary *)(void *)e;
  if (!is_signed_index(e->dtype)) return add_term(l, e, scale);
  switch (e->kind) {
  case NK_Add: return gather(b->a, scale, l) && gather(b->b, scale, l);
  case NK_Sub:
    return gather(b->a, scale, l) && !__builtin_mul_overflow(scale, -1, &next) &&
           gather(b->b, next, l);
  case NK_Mul:
    if (expr_is_const_int(b->b, &value))
      return !__builtin_mul_overflow(scale, value, &next) && gather(b->a, next, l);
    if (expr_is_const_int(b->a, &value))
      return !__builtin_mul_overflow(scale, value, &next) && gather(b->b, next, l);
    return add_term(l, e, scale);
  default: return add_term(l, e, scale);
  }
}

/* Terms whose coefficients cancelled are dropped. */
static void drop_zeros(Linear *l) {
  int n = 0;
  for (int i = 0; i < l->terms.len; i++) {
    if (!l->coeffs.at[i]) continue;
    l->terms.at[n] = l->terms.at[i];
    l->coeffs.at[n++] = l->coeffs.at[i];
  }
  l->terms.len = l->coeffs.len = n;
}

bool arith_linear(Node *e, Linear *out) {
  *out = (Linear){0};
  if (!gather(e, 1, out)) return false;
  drop_zeros(out);
  return true;
}

bool linear_sub(const Linear *x, const Linear *y, Linear *out) {
  *out = (Linear){0};
  if (__builtin_sub_overflow(x->constant, y->constant, &out->constant)) return false;
  for (int i = 0; i < x->terms.len; i++)
    if (!add_term(out, x->terms.at[i], x->coeffs.at[i])) return false;
  for (int i = 0; i < y->terms.len; i++)
    if (y->coeffs.at[i] == INT64_MIN || !add_term(out, y->terms.at[i], -y->coeffs.at[i]))
      return false;
  drop_zeros(out);
  return true;
}

static Node *scaled(Node *term, int64_t k, Span span) {
  return k == 1 ? term : expr_binary(NK_Mul, term, int_imm(term->dtype, k, span), span);
}

Node *linear_expr(const Linear *l, DataType t, Span span) {
  Node *sum = NULL;
  for (int pass = 0; pass < 2; pass++) /* a positive term leads, so that no minus has to */
    for (int i = 0; i < l->terms.len; i++) {
      Node *term = expr_cast(t, l->terms.at[i], span);
      int64_t k = l->coeffs.at[i];
      bool positive = k > 0 || k == INT64_MIN;
      if (positive != (pass == 0)) continue;
      if (!sum) sum = scaled(term, k, span);
      else if (positive) sum = expr_binary(NK_Add, sum, scaled(term, k, span), span);
      else sum = expr_binary(NK_Sub, sum, scaled(term, -k, span), span);
    }
  Node *c = int_imm(t, l->constant, span);
  if (!sum) return c;
  if (l->constant < 0 && l->constant > dtype_min_int(t))
    return expr_binary(NK_Sub, sum, int_imm(t, -l->constant, span), span);
  return expr_binary(NK_Add, sum, c, span);
}
