/* compare.c -- comparisons, minima and maxima: decided by bounds and facts, or made smaller. */
#include "ir/arith/arith_impl.h"

static Node *decided(int truth, Node *e) {
  return truth < 0 ? e : int_imm(dtype_element(e->dtype), truth, e->span);
}

/* x - y >= margin by intervals alone; for all integer dtypes. */
static int compare_bounds(ConstBound x, ConstBound y, int64_t margin) {
  bool lo_known = x.lo > ARITH_NEG_INF && y.hi < ARITH_POS_INF;
  bool hi_known = x.hi < ARITH_POS_INF && y.lo > ARITH_NEG_INF;
  if (lo_known && (__int128)x.lo - y.hi >= margin) return 1;
  return hi_known && (__int128)x.hi - y.lo < margin ? 0 : -1;
}

typedef struct Sides {
  Analyzer *analyzer;
  Node *x, *y;
  Linear lx, ly;
  bool exact; /* the forms may be used */
} Sides;

static Sides sides_of(Analyzer *a, Node *e) {
  Sides s = {.analyzer = a, .x = as_binary(e)->a, .y = as_binary(e)->b};
  s.exact = is_signed_index(s.x->dtype) && exact_form(a, s.x, true, &s.lx) &&
            exact_form(a, s.y, true, &s.ly);
  return s;
}

static bool is_by_symbol(Analyzer *a, Node *e, NodeKind kind) {
  if (e->kind != kind || IS(IntImm, as_binary(e)->b)) return false;
  Node *divisor = as_binary(e)->b;
  return arith_const_bound(a, divisor).lo >= 0 && is_nonzero(a, divisor);
}

/* m * y - p >= margin, by forms; `negate`: p - m * y. */
static int compare_product(Analyzer *a, Node *m, Node *y, Node *p, int64_t margin, bool negate) {
  Linear lm, lp;
  Node *product = arith_binary(NK_Mul, m, y, p->span);
  if (!exact_form(a, product, true, &lm) || !exact_form(a, p, true, &lp)) return -1;
  return negate ? compare_forms(a, &lp, &lm, margin) : compare_forms(a, &lm, &lp, margin);
}

/* x - y >= margin where one is a quotient or a rest by a positive m that is no number:
 * p // m >= z is p >= m * z, p // m < z is p < m * z, and p % m < m. */
static int compare_quotient(Analyzer *a, Node *x, Node *y, int64_t margin) {
  Node *of_x = int_imm(x->dtype, margin, x->span), *of_y = int_imm(x->dtype, 1 - margin, x->span);
  if (is_by_symbol(a, x, NK_FloorDiv))
    return compare_product(a, as_binary(x)->b, arith_binary(NK_Add, y, of_x, y->span),
                           as_binary(x)->a, 0, true);
  if (is_by_symbol(a, y, NK_FloorDiv))
    return compare_product(a, as_binary(y)->b, arith_binary(NK_Add, x, of_y, x->span),
                           as_binary(y)->a, 1, false);
  bool is_rest = is_by_symbol(a, y, NK_FloorMod) && same_term(as_binary(y)->b, x);
  return is_rest && margin <= 1 ? 1 : -1;
}

/* x - y >= margin (1), not (0), or not known; `swap`: y - x. */
static int at_least(Sides *s, int64_t margin, bool swap) {
  ConstBound x = arith_const_bound(s->analyzer, s->x), y = arith_const_bound(s->analyzer, s->y);
  int truth = swap ? compare_bounds(y, x, margin) : compare_bounds(x, y, margin);
  if (truth >= 0 || !s->exact) return truth;
  truth = swap ? compare_forms(s->analyzer, &s->ly, &s->lx, margin)
               : compare_forms(s->analyzer, &s->lx, &s->ly, margin);
  if (truth >= 0) return truth;
  return swap ? compare_quotient(s->analyzer, s->y, s->x, margin)
              : compare_quotient(s->analyzer, s->x, s->y, margin);
}

/* Equal (1), different (0), or not known. */
static int are_equal(Sides *s) {
  int ge = at_least(s, 0, false), le = at_least(s, 0, true);
  if (ge == 0 || le == 0) return 0;
  if (ge == 1 && le == 1) return 1;
  Linear d;
  if (!s->exact || !linear_sub(&s->lx, &s->ly, &d)) return -1;
  Modular m = linear_modular(s->analyzer, &d); /* 0 must be of its kind */
  return m.coeff > 1 && m.base != 0 ? 0 : -1;
}

/* ---- smaller forms ---- */

static Linear part_of(const Linear *l, bool positive, int64_t g) {
  Linear out = {0};
  for (int i = 0; i < l->terms.len; i++) {
    int64_t k = l->coeffs.at[i] / g;
    if ((k > 0) != positive) continue;
    vec_push(&out.terms, l->terms.at[i]);
    vec_push(&out.coeffs, positive ? k : -k);
  }
  return out;
}

/* Is the new side exact because one of the old sides is? */
static bool side_is_exact(const Sides *s, const Linear *l, DataType t) {
  return linear_fits(l, t) && (derived_is_exact(s->analyzer, l, &s->lx, t) ||
                               derived_is_exact(s->analyzer, l, &s->ly, t));
}

static Node *make_sides(const Sides *s, NodeKind kind, Linear *x, Linear *y, DataType t, Node *e) {
  if (!side_is_exact(s, x, t) || !side_is_exact(s, y, t)) return e;
  return arith_binary(kind, linear_expr(x, t, e->span), linear_expr(y, t, e->span), e->span);
}

/* f >= 0 with coprime coefficients and c its constant: as N < P + (c + 1) or N <= P, whichever has
 * no constant, with the constant on the side where it is positive. */
static Node *make_order(const Sides *s, const Linear *f, int64_t g, DataType t, Node *e) {
  Linear p = part_of(f, true, g), n = part_of(f, false, g);
  int64_t c = floor_div(f->constant, g);
  if (c == ARITH_POS_INF || c <= -ARITH_POS_INF) return e;
  if (!p.terms.len) { /* N <= c */
    p.constant = c + 1;
    return make_sides(s, NK_LT, &n, &p, t, e);
  }
  if (!n.terms.len) { /* -c <= P */
    n.constant = -c;
    return make_sides(s, NK_GE, &p, &n, t, e);
  }
  if (c == 0) return make_sides(s, NK_LE, &n, &p, t, e);
  if (c > 0) p.constant = c + 1;
  else n.constant = -c - 1;
  return make_sides(s, NK_LT, &n, &p, t, e);
}

static Node *make_equation(const Sides *s, const Linear *f, int64_t g, DataType t, Node *e) {
  if (f->constant % g) return e;
  Linear p = part_of(f, true, g), n = part_of(f, false, g);
  int64_t c = f->constant / g;
  if (c == INT64_MIN) return e;
  if (!p.terms.len) return p.constant = c, make_sides(s, e->kind, &n, &p, t, e);
  if (!n.terms.len || c < 0) n.constant = -c;
  else p.constant = c;
  return make_sides(s, e->kind, &p, &n, t, e);
}

/* Is there something to cancel: a term or a constant on both sides, or a common factor? */
static bool is_reducible(const Sides *s, const Linear *d, int64_t g) {
  bool constants = s->lx.constant && s->ly.constant;
  return g > 1 || constants || d->terms.len < s->lx.terms.len + s->ly.terms.len ||
         (s->lx.terms.len && s->lx.constant && !s->ly.terms.len) ||
         (s->ly.terms.len && s->ly.constant && !s->lx.terms.len);
}

/* f >= 0 as (f - small terms) / k >= 0: with terms that are multiples of k, and others that
 * together stay between two multiples of k which follow each other. */
static bool drop_small_terms(Analyzer *a, int64_t k, const Linear *f, Linear *out) {
  Linear small = {.constant = f->constant};
  *out = (Linear){0};
  for (int i = 0; i < f->terms.len; i++) {
    bool is_multiple = f->coeffs.at[i] % k == 0;
    Linear *to = is_multiple ? out : &small;
    vec_push(&to->terms, f->terms.at[i]);
    vec_push(&to->coeffs, is_multiple ? f->coeffs.at[i] / k : f->coeffs.at[i]);
  }
  if (!small.terms.len || !out->terms.len) return false;
  ConstBound b = linear_bound(a, &small);
  if (b.lo <= ARITH_NEG_INF || b.hi >= ARITH_POS_INF) return false;
  out->constant = floor_div(b.lo, k);
  return out->constant == floor_div(b.hi, k);
}

/* The same comparison of fewer terms, or `e`. */
static Node *coarser_order(const Sides *s, const Linear *f, DataType t, Node *e) {
  Linear coarse;
  for (int i = 0; i < f->coeffs.len; i++) {
    int64_t k = f->coeffs.at[i];
    if (k == INT64_MIN || (k >= -1 && k <= 1)) continue;
    if (!drop_small_terms(s->analyzer, k < 0 ? -k : k, f, &coarse)) continue;
    return make_order(s, &coarse, linear_gcd(&coarse), t, e);
  }
  return e;
}

static Node *smaller_compare(Analyzer *a, Node *e) {
  Binary *b = as_binary(e);
  DataType t = b->a->dtype;
  Sides s = {.analyzer = a, .x = b->a, .y = b->b};
  Linear d, f;
  if (!is_signed_index(t) || !exact_form(a, s.x, false, &s.lx) || !exact_form(a, s.y, false, &s.ly))
    return e;
  if (!linear_sub(&s.lx, &s.ly, &d) || !d.terms.len) return e;
  int64_t g = linear_gcd(&d);
  bool is_equation = e->kind == NK_EQ || e->kind == NK_NE,
       reduces = g >= 1 && is_reducible(&s, &d, g);
  if (is_equation) return reduces ? make_equation(&s, &d, g, t, e) : e;
  bool greater = e->kind == NK_GE || e->kind == NK_GT,
       strict = e->kind == NK_GT || e->kind == NK_LT;
  Linear zero = {0};
  f = d;
  if (!greater && !linear_sub(&zero, &d, &f)) return e;
  if (strict && __builtin_sub_overflow(f.constant, 1, &f.constant)) return e;
  Node *coarse = coarser_order(&s, &f, t, e);
  return coarse != e || !reduces ? coarse : make_order(&s, &f, g, t, e);
}

Node *simplify_compare(Analyzer *a, Node *e) {
  if (e->dtype.lanes != 1 || !dtype_is_int(as_binary(e)->a->dtype)) return e;
  Sides s = sides_of(a, e);
  int truth = -1;
  switch (e->kind) {
  case NK_GE: truth = at_least(&s, 0, false); break;
  case NK_GT: truth = at_least(&s, 1, false); break;
  case NK_LE: truth = at_least(&s, 0, true); break;
  case NK_LT: truth = at_least(&s, 1, true); break;
  default:
    truth = are_equal(&s);
    if (truth >= 0 && e->kind == NK_NE) truth = !truth;
  }
  return truth >= 0 ? decided(truth, e) : smaller_compare(a, e);
}

Node *simplify_extreme(Analyzer *a, Node *e) {
  if (!dtype_is_int(e->dtype) || e->dtype.lanes != 1) return e;
  Sides s = sides_of(a, e);
  bool is_max = e->kind == NK_Max;
  if (at_least(&s, 0, false) == 1) return is_max ? s.x : s.y;
  if (at_least(&s, 0, true) == 1) return is_max ? s.y : s.x;
  bool number_first = IS(IntImm, as_binary(e)->a) && !IS(IntImm, as_binary(e)->b);
  return number_first ? expr_binary(e->kind, as_binary(e)->b, as_binary(e)->a, e->span) : e;
}
