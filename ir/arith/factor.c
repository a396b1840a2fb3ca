/* factor.c -- products of a number and symbolic terms: extents and scales of iteration maps. */
#include "ir/arith/arith_impl.h"
#include "ir/arith/iter_map.h"

Factor factor_int(int64_t k) { return (Factor){.k = k}; }

bool factor_is(const Factor *f, int64_t k) { return !f->terms.len && f->k == k; }

/* A cast that keeps the value is the value. */
static Node *without_cast(Node *e) {
  while (IS(Cast, e)) {
    Node *v = AS(Cast, e)->value;
    bool widens = dtype_is_int(v->dtype) && dtype_is_int(e->dtype) &&
                  v->dtype.code == e->dtype.code && v->dtype.bits <= e->dtype.bits;
    if (!widens) return e;
    e = v;
  }
  return e;
}

/* 16 x + 16 is 16 (x + 1): the number goes to `out`. */
static Node *without_divisor(Node *e, Factor *out) {
  Linear l;
  int64_t g;
  if ((!IS(Add, e) && !IS(Sub, e)) || !arith_linear(e, &l) || !l.terms.len) return e;
  g = gcd_of(linear_gcd(&l), l.constant);
  if (g <= 1 || __builtin_mul_overflow(out->k, g, &out->k)) return e;
  l.constant /= g;
  for (int i = 0; i < l.coeffs.len; i++) l.coeffs.at[i] /= g;
  return linear_expr(&l, e->dtype, e->span);
}

static bool collect(Analyzer *facts, Node *e, Factor *out, int depth) {
  int64_t k;
  e = without_divisor(without_cast(e), out);
  if (expr_is_const_int(e, &k)) return !__builtin_mul_overflow(out->k, k, &out->k);
  if (IS(Mul, e) && depth)
    return collect(facts, AS(Mul, e)->a, out, depth - 1) &&
           collect(facts, AS(Mul, e)->b, out, depth - 1);
  vec_push(&out->terms, e);
  return arith_const_bound(facts, e).lo >= 0;
}

Factor factor_of(Analyzer *facts, Node *e) {
  Factor f = {.k = 1};
  if (collect(facts, e, &f, 16)) return f;
  return (Factor){.k = 1, .terms = NODES(without_cast(e))};
}

/* Takes a term that equals `t` out of the vector. */
static bool take(NodeVec *terms, Node *t) {
  for (int i = 0; i < terms->len; i++) {
    if (!terms->at[i] || !node_equal(terms->at[i], t, false, NULL)) continue;
    terms->at[i] = NULL;
    return true;
  }
  return false;
}

static NodeVec copied(NodeVec v) {
  NodeVec out = {0};
  for each (Node *, n, &v) vec_push(&out, *n);
  return out;
}

bool factor_divide(const Factor *a, const Factor *b, Factor *out) {
  if (!b->k || a->k % b->k != 0 || (b->k == -1 && a->k == INT64_MIN)) return false;
  NodeVec rest = copied(a->terms);
  for each (Node *, t, &b->terms)
    if (!take(&rest, *t)) return false;
  *out = factor_int(a->k / b->k);
  for each (Node *, t, &rest)
    if (*t) vec_push(&out->terms, *t);
  return true;
}

bool factor_equal(const Factor *a, const Factor *b) {
  Factor q;
  return factor_divide(a, b, &q) && factor_is(&q, 1);
}

bool factor_mul(const Factor *a, const Factor *b, Factor *out) {
  Factor f = {.terms = copied(a->terms)};
  for each (Node *, t, &b->terms) vec_push(&f.terms, *t);
  bool fits = !__builtin_mul_overflow(a->k, b->k, &f.k);
  *out = f;
  return fits;
}

bool factor_at_least(const Factor *a, const Factor *b) {
  Factor x = *a, y = *b;
  x.k = y.k = 1;
  return a->k >= b->k && factor_equal(&x, &y);
}

Node *factor_expr(const Factor *f, DataType t, Span span) {
  Node *e = NULL;
  for each (Node *, term, &f->terms) {
    Node *x = expr_cast(t, *term, span);
    e = e ? expr_mul(e, x) : x;
  }
  Node *k = int_imm(t, f->k, span);
  return !e ? k : f->k == 1 ? e : expr_mul(e, k);
}
