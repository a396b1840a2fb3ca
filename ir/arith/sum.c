/* sum.c -- sums and products as canonical linear forms. */
#include "ir/arith/arith_impl.h"

/* The place of coeff * term; -1 if it is not in the form with just that coefficient. */
static int find_exactly(const Linear *l, Node *term, int64_t coeff) {
  for (int i = 0; i < l->terms.len; i++)
    if (l->coeffs.at[i] == coeff && same_term(l->terms.at[i], term)) return i;
  return -1;
}

/* Is y - x a multiple of c, whatever the variables are? */
static bool is_congruent(Analyzer *a, Node *y, Node *x, int64_t c) {
  Linear ly, lx, d;
  if (!exact_form(a, y, false, &ly) || !exact_form(a, x, false, &lx) || !linear_sub(&ly, &lx, &d))
    return false;
  for each (int64_t, k, &d.coeffs)
    if (*k % c) return false;
  return d.constant % c == 0;
}

/* The term (y // c) * c beside k * (x % c), where y % c is the same. */
static int find_congruent(Analyzer *a, const Linear *l, Node *mod, int64_t k, int64_t c) {
  int64_t divisor, scaled;
  if (mod->kind != NK_FloorMod || c < 2 || __builtin_mul_overflow(k, c, &scaled)) return -1;
  for (int i = 0; i < l->terms.len; i++) {
    Node *t = l->terms.at[i];
    if (t->kind != NK_FloorDiv || l->coeffs.at[i] != scaled) continue;
    bool fits = expr_is_const_int(as_binary(t)->b, &divisor) && divisor == c;
    if (fits && is_congruent(a, as_binary(t)->a, as_binary(mod)->a, c)) return i;
  }
  return -1;
}

/* The term (x // m) * m, or what of it is a term, beside k * (x % m). *whole: x, or what stands for
 * it in the quotient. */
static int find_quotient(Analyzer *a, const Linear *l, Node *mod, int64_t k, Node **whole) {
  Node *x = *whole = as_binary(mod)->a, *m = as_binary(mod)->b;
  NodeKind kind = mod->kind == NK_FloorMod ? NK_FloorDiv : NK_Div;
  Node *quotient = arith_binary(kind, x, m, mod->span);
  int64_t c, scaled;
  if (expr_is_const_int(m, &c)) {
    int i = c && !__builtin_mul_overflow(k, c, &scaled) ? find_exactly(l, quotient, scaled) : -1;
    if (i < 0 && (i = find_congruent(a, l, mod, k, c)) >= 0) *whole = as_binary(l->terms.at[i])->a;
    return i;
  }
  int i = find_exactly(l, arith_binary(NK_Mul, quotient, m, mod->span), k);
  return i >= 0 && is_nonzero(a, m) ? i : -1;
}

static Linear without_terms(const Linear *l, int i, int j) {
  Linear rest = {.constant = l->constant};
  for (int n = 0; n < l->terms.len; n++) {
    if (n == i || n == j) continue;
    vec_push(&rest.terms, l->terms.at[n]);
    vec_push(&rest.coeffs, l->coeffs.at[n]);
  }
  return rest;
}

/* (x // m) * m + x % m is x. */
static bool join_quotient(Analyzer *a, Linear *l) {
  for (int i = 0; i < l->terms.len; i++) {
    Node *mod = l->terms.at[i], *whole;
    if (mod->kind != NK_FloorMod && mod->kind != NK_Mod) continue;
    int64_t k = l->coeffs.at[i];
    int q = find_quotient(a, l, mod, k, &whole);
    Linear x, sum;
    if (q < 0 || !linear_of(NULL, whole, false, &x)) continue;
    Linear rest = without_terms(l, i, q);
    if (!linear_combine(&rest, 1, &x, k, &sum)) continue;
    *l = sum;
    return true;
  }
  return false;
}

/* k * x - k * c * (x // c) is k * (x % c), where the sum has all that x is made of. */
static bool take_remainder(Analyzer *a, Linear *l) {
  for (int i = 0; i < l->terms.len; i++) {
    Node *quotient = l->terms.at[i];
    int64_t c, k = l->coeffs.at[i];
    if (quotient->kind != NK_FloorDiv || !expr_is_const_int(as_binary(quotient)->b, &c) || c < 2 ||
        k % c || k == INT64_MIN)
      continue;
    k = -(k / c);
    Linear x, sum, rest = without_terms(l, i, i);
    bool has_all = exact_form(a, as_binary(quotient)->a, false, &x) && x.terms.len;
    for (int n = 0; has_all && n < x.terms.len; n++) {
      int64_t scaled;
      has_all = !__builtin_mul_overflow(x.coeffs.at[n], k, &scaled) &&
                find_exactly(&rest, x.terms.at[n], scaled) >= 0;
    }
    if (!has_all || !linear_combine(&rest, 1, &x, -k, &sum)) continue;
    Node *mod =
        arith_binary(NK_FloorMod, as_binary(quotient)->a, as_binary(quotient)->b, quotient->span);
    if (!linear_add_term(&sum, mod, k)) continue;
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
  while (join_quotient(a, &l) || take_remainder(a, &l)) continue;
  if (!linear_fits(&l, e->dtype)) return e;
  Node *out = linear_expr(&l, e->dtype, e->span);
  return node_equal(out, e, false, NULL) ? e : out;
}
