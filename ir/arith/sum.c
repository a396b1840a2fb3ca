/* sum.c -- sums and products as canonical linear forms. */
#include "ir/arith/arith_impl.h"

static void remove_term(Linear *l, int i) {
  for (int k = i + 1; k < l->terms.len; k++) {
    l->terms.at[k - 1] = l->terms.at[k];
    l->coeffs.at[k - 1] = l->coeffs.at[k];
  }
  l->terms.len = --l->coeffs.len;
}

/* The place of coeff * term; -1 if it is not in the form with just that coefficient. */
static int find_exactly(const Linear *l, Node *term, int64_t coeff) {
  for (int i = 0; i < l->terms.len; i++)
    if (l->coeffs.at[i] == coeff && same_term(l->terms.at[i], term)) return i;
  return -1;
}

/* The term (x // m) * m, or what of it is a term, beside k * (x % m). */
static int find_quotient(Analyzer *a, const Linear *l, Node *mod, int64_t k) {
  Node *x = as_binary(mod)->a, *m = as_binary(mod)->b;
  NodeKind kind = mod->kind == NK_FloorMod ? NK_FloorDiv : NK_Div;
  Node *quotient = arith_binary(kind, x, m, mod->span);
  int64_t c, scaled;
  if (expr_is_const_int(m, &c))
    return c && !__builtin_mul_overflow(k, c, &scaled) ? find_exactly(l, quotient, scaled) : -1;
  ConstBound b = arith_const_bound(a, m);
  if (b.lo <= 0 && b.hi >= 0) return -1;
  return find_exactly(l, arith_binary(NK_Mul, quotient, m, mod->span), k);
}

/* (x // m) * m + x % m is x. */
static bool join_quotient(Analyzer *a, Linear *l) {
  for (int i = 0; i < l->terms.len; i++) {
    Node *mod = l->terms.at[i];
    if (mod->kind != NK_FloorMod && mod->kind != NK_Mod) continue;
    int64_t k = l->coeffs.at[i];
    int q = find_quotient(a, l, mod, k);
    Linear x, sum, rest = *l;
    if (q < 0 || !linear_of(NULL, as_binary(mod)->a, false, &x)) continue;
    rest.terms = (NodeVec){0};
    rest.coeffs.at = NULL;
    rest.coeffs.len = rest.coeffs.cap = 0;
    for (int j = 0; j < l->terms.len; j++) {
      vec_push(&rest.terms, l->terms.at[j]);
      vec_push(&rest.coeffs, l->coeffs.at[j]);
    }
    remove_term(&rest, i > q ? i : q);
    remove_term(&rest, i > q ? q : i);
    if (!linear_combine(&rest, 1, &x, k, &sum)) continue;
    *l = sum;
    return true;
  }
  return false;
}

/* The shortest of the ways to see it: as it stands, multiplied out, with casts opened. */
static bool shortest_form(Analyzer *a, Node *e, Linear *out) {
  Linear other;
  if (!linear_of(NULL, e, false, out)) return false;
  if (linear_of(NULL, e, true, &other) && other.terms.len < out->terms.len) *out = other;
  if (linear_of(a, e, false, &other) && other.terms.len < out->terms.len) *out = other;
  return true;
}

Node *simplify_sum(Analyzer *a, Node *e) {
  Linear l;
  if (!shortest_form(a, e, &l)) return e;
  while (join_quotient(a, &l)) continue;
  if (!linear_fits(&l, e->dtype)) return e;
  Node *out = linear_expr(&l, e->dtype, e->span);
  return node_equal(out, e, false, NULL) ? e : out;
}
