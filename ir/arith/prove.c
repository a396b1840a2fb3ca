/* prove.c -- is a linear form never negative? By bounds, and by facts that are added up so that
 * terms without a bound cancel. */
#include "ir/arith/arith_impl.h"

/* A proof adds at most so many facts, and tries so many in all. */
enum { MAX_DEPTH = 4, MAX_TRIES = 150 };

/* The term whose least value is the least: one without a bound, else the widest. -1: no terms. */
static int worst_term(Analyzer *a, const Linear *l) {
  int worst = -1;
  __int128 least = 0;
  for (int i = 0; i < l->terms.len; i++) {
    ConstBound b = bound_scale(arith_const_bound(a, l->terms.at[i]), l->coeffs.at[i]);
    if (worst < 0 || b.lo < least) worst = i, least = b.lo;
  }
  return worst;
}

static int find_term(const Linear *l, Node *term) {
  for (int i = 0; i < l->terms.len; i++)
    if (same_term(l->terms.at[i], term)) return i;
  return -1;
}

static bool is_nonneg(Analyzer *a, const Linear *l, int depth, int *tries);

/* Is l never negative, given that f is not? The term at w of l, at `at` of f, cancels.
 * r = m * l - n * f, with m and n positive and the term gone. l is an integer: it is not negative
 * if m * l > -m, and so if r > -m. */
static bool follows(Analyzer *a, const Linear *l, int w, const Linear *f, int at, int depth,
                    int *tries) {
  int64_t k = l->coeffs.at[w], c = f->coeffs.at[at];
  if (!c || (c < 0) != (k < 0) || k == INT64_MIN || c == INT64_MIN) return false;
  int64_t g = gcd_of(k, c), m = (c < 0 ? -c : c) / g, n = (k < 0 ? -k : k) / g;
  Linear rest;
  ++*tries;
  return linear_combine(l, m, f, -n, &rest) &&
         !__builtin_add_overflow(rest.constant, m - 1, &rest.constant) &&
         is_nonneg(a, &rest, depth + 1, tries);
}

/* The term at w, x // c with c > 0, may be replaced: 0 <= x - c * (x // c) < c. */
static bool follows_from_dividend(Analyzer *a, const Linear *l, int w, const Linear *x, int64_t c,
                                  int depth, int *tries) {
  Linear f, quotient = {0};
  if (!linear_add_term(&quotient, l->terms.at[w], 1)) return false;
  bool up = l->coeffs.at[w] > 0; /* c * (x // c) - x + c - 1, or x - c * (x // c) */
  if (!linear_combine(&quotient, up ? c : -c, x, up ? -1 : 1, &f) ||
      (up && __builtin_add_overflow(f.constant, c - 1, &f.constant)))
    return false;
  int at = find_term(&f, l->terms.at[w]);
  return at >= 0 && follows(a, l, w, &f, at, depth, tries);
}

static bool is_quotient(Node *e, int64_t *c) {
  return IS(FloorDiv, e) && expr_is_const_int(as_binary(e)->b, c) && *c > 0;
}

/* x // (c d) is (x // d) // c, too, which stands beside it. */
static bool follows_from_quotient(Analyzer *a, const Linear *l, int w, int depth, int *tries) {
  int64_t c, d;
  Node *term = l->terms.at[w];
  Linear x;
  if (!is_quotient(term, &c)) return false;
  for each (Node *, other, &l->terms) {
    bool is_finer = *other != term && is_quotient(*other, &d) && d < c && c % d == 0 &&
                    same_term(as_binary(*other)->a, as_binary(term)->a);
    if (!is_finer) continue;
    x = (Linear){0};
    if (linear_add_term(&x, *other, 1) && follows_from_dividend(a, l, w, &x, c / d, depth, tries))
      return true;
  }
  return exact_form(a, as_binary(term)->a, true, &x) &&
         follows_from_dividend(a, l, w, &x, c, depth, tries);
}

static bool is_nonneg(Analyzer *a, const Linear *l, int depth, int *tries) {
  if (linear_bound(a, l).lo >= 0) return true;
  if (depth == MAX_DEPTH) return false;
  int w = worst_term(a, l);
  if (w < 0) return false;
  for (int i = a->facts.len - 1; i >= 0 && *tries < MAX_TRIES; i--) {
    const Fact *f = &a->facts.at[i];
    int at = f->dead ? -1 : find_term(&f->form, l->terms.at[w]);
    if (at >= 0 && follows(a, l, w, &f->form, at, depth, tries)) return true;
  }
  for (int i = 0; i < l->terms.len && *tries < MAX_TRIES; i++)
    if (follows_from_quotient(a, l, i, depth, tries)) return true;
  return false;
}

bool linear_is_nonneg(Analyzer *a, const Linear *l) {
  int tries = 0;
  return is_nonneg(a, l, 0, &tries);
}

static bool has_factor(Node *product, Node *e) {
  if (same_term(product, e)) return true;
  return IS(Mul, product) &&
         (has_factor(AS(Mul, product)->a, e) || has_factor(AS(Mul, product)->b, e));
}

static bool is_at_least_one(Analyzer *a, Node *e) {
  Linear l;
  return exact_form(a, e, true, &l) && !__builtin_sub_overflow(l.constant, 1, &l.constant) &&
         linear_is_nonneg(a, &l);
}

/* A loop over m * n that has a step tells that neither is 0. */
static bool is_factor_of_nonzero(Analyzer *a, Node *e) {
  for each (Fact, f, &a->facts) {
    if (f->dead) continue;
    for each (Node *, t, &f->form.terms)
      if (IS(Mul, *t) && has_factor(*t, e) && is_at_least_one(a, *t)) return true;
  }
  return false;
}

bool is_nonzero(Analyzer *a, Node *e) {
  ConstBound b = arith_const_bound(a, e);
  if (b.lo > 0 || b.hi < 0) return true;
  return is_at_least_one(a, e) || is_factor_of_nonzero(a, e);
}

int compare_forms(Analyzer *a, const Linear *x, const Linear *y, int64_t margin) {
  Linear d, opposite, zero = {0};
  if (!linear_sub(x, y, &d) || __builtin_sub_overflow(d.constant, margin, &d.constant)) return -1;
  if (linear_is_nonneg(a, &d)) return 1;
  if (!linear_sub(&zero, &d, &opposite) ||
      __builtin_sub_overflow(opposite.constant, 1, &opposite.constant))
    return -1;
  return linear_is_nonneg(a, &opposite) ? 0 : -1; /* d <= -1 */
}

/* ---- conditions that were assumed as they stand ---- */

static NodeKind negated(NodeKind kind) {
  switch (kind) {
  case NK_EQ: return NK_NE;
  case NK_NE: return NK_EQ;
  case NK_LT: return NK_GE;
  case NK_LE: return NK_GT;
  case NK_GT: return NK_LE;
  case NK_GE: return NK_LT;
  default: return NK_COUNT;
  }
}

static bool is_negation(Node *x, Node *y) {
  if (IS(Not, x)) return node_equal(AS(Not, x)->a, y, false, NULL);
  if (IS(Not, y)) return node_equal(AS(Not, y)->a, x, false, NULL);
  if (!node_is_binary(x->kind) || !node_is_binary(y->kind) || negated(x->kind) != y->kind)
    return false;
  Binary *p = as_binary(x), *q = as_binary(y);
  bool ordered = dtype_is_int(p->a->dtype) || x->kind == NK_EQ || x->kind == NK_NE; /* not of NaN */
  return ordered && node_equal(p->a, q->a, false, NULL) && node_equal(p->b, q->b, false, NULL);
}

int condition_known(Analyzer *a, Node *cond) {
  if (IS(IntImm, cond)) return -1;
  for each (Fact, f, &a->facts) {
    if (f->dead || !f->cond) continue;
    if (node_equal(f->cond, cond, false, NULL)) return 1;
    if (is_negation(f->cond, cond)) return 0;
  }
  return -1;
}

/* ---- questions from outside ---- */

bool arith_can_prove(Analyzer *a, Node *cond) {
  int64_t value;
  return expr_is_const_int(arith_simplify(a, cond), &value) && value;
}

static bool is_int(const Node *n) { return dtype_is_int(n->dtype); }

/* The forms of both, in one dtype. */
static bool both_forms(Analyzer *a, Node *x, Node *y, bool exact, Linear *lx, Linear *ly) {
  if (!is_int(x) || !is_int(y) || x->dtype.lanes != y->dtype.lanes) return false;
  Node *sx = arith_simplify(a, x), *sy = arith_simplify(a, expr_cast(x->dtype, y, y->span));
  if (exact) return exact_form(a, sx, true, lx) && exact_form(a, sy, true, ly);
  return linear_of(a, sx, true, lx) && linear_of(a, sy, true, ly);
}

bool arith_can_prove_equal(Analyzer *a, Node *x, Node *y) {
  if (x == y) return !content_of(a, x).state;
  if (content_of(a, x).state || content_of(a, y).state) return false;
  int64_t p, q;
  if (expr_is_const_int(x, &p) && expr_is_const_int(y, &q)) return p == q;
  Linear lx, ly, d;
  if (!both_forms(a, x, y, false, &lx, &ly)) return node_equal(x, y, false, NULL);
  if (linear_sub(&lx, &ly, &d) && !d.terms.len && !d.constant) return true;
  if (!both_forms(a, x, y, true, &lx, &ly)) return false;
  return compare_forms(a, &lx, &ly, 0) == 1 && compare_forms(a, &ly, &lx, 0) == 1;
}

bool arith_can_prove_different(Analyzer *a, Node *x, Node *y) {
  if (x == y) return false;
  Linear lx, ly, d;
  if (!both_forms(a, x, y, true, &lx, &ly) || !linear_sub(&lx, &ly, &d)) return false;
  if (compare_forms(a, &lx, &ly, 1) == 1 || compare_forms(a, &ly, &lx, 1) == 1) return true;
  Modular m = linear_modular(a, &d); /* never 0 if 0 is not of its kind */
  return m.coeff ? m.base != 0 : d.constant != 0 && !d.terms.len;
}
