/* divide.c -- quotients and remainders: what is divisible is split off, what is small vanishes.
 *
 * All identities are those of floor division of integers, so the dividend must be exact. Each
 * rewrite makes the dividend of the division that is left smaller, or leaves none. */
#include "ir/arith/arith_impl.h"

static Node *by_const(Analyzer *a, NodeKind kind, const Linear *l, int64_t c, DataType t,
                      Span span);

static void put(Linear *l, Node *term, int64_t coeff) {
  vec_push(&l->terms, term);
  vec_push(&l->coeffs, coeff);
}

static bool is_nothing(const Linear *l) { return !l->terms.len && !l->constant; }

/* l == divisor * quotient + rest: what the divisor divides goes to the quotient. */
static void split_by(const Linear *l, int64_t divisor, Linear *quotient, Linear *rest) {
  *quotient = *rest = (Linear){0};
  for (int i = 0; i < l->terms.len; i++) {
    int64_t k = l->coeffs.at[i];
    if (k % divisor == 0) put(quotient, l->terms.at[i], k / divisor);
    else put(rest, l->terms.at[i], k);
  }
  rest->constant = floor_mod(l->constant, divisor);
  quotient->constant = floor_div(l->constant, divisor);
}

static Node *quotient_node(NodeKind kind, const Linear *l, int64_t c, DataType t, Span span) {
  return arith_binary(kind, linear_expr(l, t, span), int_imm(t, c, span), span);
}

/* q + r, where the sum is the quotient of something that fits. */
static Node *plus(const Linear *q, Node *r, DataType t, Span span) {
  if (is_nothing(q)) return r;
  return expr_is_zero(r) ? linear_expr(q, t, span)
                         : arith_binary(NK_Add, linear_expr(q, t, span), r, span);
}

/* The largest g > 1 below `limit` that divides c and some coefficient; 1 if there is none. */
static int64_t next_factor(const Linear *l, int64_t c, int64_t limit) {
  int64_t best = 1;
  for each (int64_t, k, &l->coeffs) {
    int64_t g = gcd_of(*k, c);
    if (g > best && g < limit) best = g;
  }
  return best;
}

/* (g x + r) // (g d) is x // d, and the remainder g (x % d) + r, if 0 <= r < g. */
static Node *by_factor(Analyzer *a, NodeKind kind, const Linear *l, int64_t c, DataType t,
                       Span span) {
  for (int64_t g = next_factor(l, c, c); g > 1; g = next_factor(l, c, g)) {
    Linear x, r;
    split_by(l, g, &x, &r);
    ConstBound b = linear_bound(a, &r);
    if (b.lo < 0 || b.hi >= g) continue; /* x is exact as g x + r is */
    Node *inner = by_const(a, kind, &x, c / g, t, span);
    if (!inner) inner = quotient_node(kind, &x, c / g, t, span);
    if (kind == NK_FloorDiv) return inner;
    Node *scaled = arith_binary(NK_Mul, inner, int_imm(t, g, span), span);
    return is_nothing(&r) ? scaled : arith_binary(NK_Add, scaled, linear_expr(&r, t, span), span);
  }
  return NULL;
}

/* (x // m + k) // c is (x + k m) // (m c): without k always, else where that is exact by its
 * bounds. */
static Node *of_quotient(Analyzer *a, const Linear *l, int64_t c, DataType t, Span span) {
  Node *term = l->terms.len == 1 && l->coeffs.at[0] == 1 ? l->terms.at[0] : NULL;
  int64_t m, whole, shift;
  Linear x;
  if (!term || !IS(FloorDiv, term) || !expr_is_const_int(AS(FloorDiv, term)->b, &m) || m < 1 ||
      __builtin_mul_overflow(m, c, &whole) || whole > dtype_max_int(t) ||
      __builtin_mul_overflow(m, l->constant, &shift) ||
      !exact_form(a, AS(FloorDiv, term)->a, false, &x) ||
      __builtin_add_overflow(x.constant, shift, &x.constant))
    return NULL;
  if (shift && !(bound_fits(linear_bound(a, &x), t) && linear_fits(&x, t))) return NULL;
  Node *out = by_const(a, NK_FloorDiv, &x, whole, t, span);
  return out ? out : quotient_node(NK_FloorDiv, &x, whole, t, span);
}

/* x % m is x modulo every divisor of m; coefficients count modulo c. */
static bool reduce_modulo(Analyzer *a, Linear *l, int64_t c, DataType t) {
  Linear out = {.constant = l->constant};
  bool changed = false;
  for (int i = 0; i < l->terms.len; i++) {
    Node *term = l->terms.at[i];
    int64_t k = l->coeffs.at[i], m, product;
    Linear x, sum;
    bool opens = IS(FloorMod, term) && expr_is_const_int(AS(FloorMod, term)->b, &m) && m > 0 &&
                 !__builtin_mul_overflow(k, m, &product) && product % c == 0 &&
                 exact_form(a, AS(FloorMod, term)->a, false, &x);
    if (opens && linear_combine(&out, 1, &x, k, &sum)) out = sum;
    else if (k >= c || k <= -c) {
      if (floor_mod(k, c) && !linear_add_term(&out, term, floor_mod(k, c))) return false;
    } else if (!linear_add_term(&out, term, k)) return false;
    changed |= opens || k >= c || k <= -c;
  }
  if (!changed || !linear_fits(&out, t) || !derived_is_exact(a, &out, l, t)) return false;
  *l = out;
  return true;
}

/* l // c or l % c for c > 1 and an exact l. NULL: nothing is known that would simplify it. */
static Node *by_const(Analyzer *a, NodeKind kind, const Linear *l, int64_t c, DataType t,
                      Span span) {
  Linear now = *l, q, r;
  bool reduced = kind == NK_FloorMod && reduce_modulo(a, &now, c, t);
  split_by(&now, c, &q, &r);
  ConstBound b = linear_bound(a, &r);
  bool finite = b.lo > ARITH_NEG_INF && b.hi < ARITH_POS_INF;
  if (finite && floor_div(b.lo, c) == floor_div(b.hi, c)) {
    int64_t k = floor_div(b.lo, c);
    if (kind == NK_FloorDiv) q.constant += k;
    else r.constant -= k * c;
    return linear_expr(kind == NK_FloorDiv ? &q : &r, t, span);
  }
  Modular m = linear_modular(a, &r);
  if (kind == NK_FloorMod && m.coeff && m.coeff % c == 0)
    return int_imm(t, floor_mod(m.base, c), span);
  if (!derived_is_exact(a, &r, l, t)) return NULL;
  Node *smaller = by_factor(a, kind, &r, c, t, span);
  if (!smaller && kind == NK_FloorDiv) smaller = of_quotient(a, &r, c, t, span);
  if (!smaller && is_nothing(&q) && !reduced) return NULL;
  if (!smaller) smaller = quotient_node(kind, &r, c, t, span);
  return kind == NK_FloorDiv ? plus(&q, smaller, t, span) : smaller;
}

/* ---- by an expression ---- */

static void gather_factors(Node *e, NodeVec *out) {
  if (IS(Mul, e)) {
    gather_factors(AS(Mul, e)->a, out);
    gather_factors(AS(Mul, e)->b, out);
  } else vec_push(out, e);
}

/* term / divisor, if all factors of the divisor are among those of the term; else NULL. */
static Node *without_factors(Node *term, Node *divisor) {
  NodeVec have = {0}, want = {0};
  gather_factors(term, &have);
  gather_factors(divisor, &want);
  for each (Node *, w, &want) {
    int i = 0;
    while (i < have.len && !(have.at[i] && same_term(have.at[i], *w))) i++;
    if (i == have.len) return NULL;
    have.at[i] = NULL;
  }
  Node *rest = NULL;
  for each (Node *, h, &have)
    if (*h) rest = rest ? arith_binary(NK_Mul, rest, *h, term->span) : *h;
  return rest ? rest : int_imm(term->dtype, 1, term->span);
}

/* Is the value of the product the product of its factors? */
static bool is_true_product(Analyzer *a, Node *e) {
  if (!IS(Mul, e)) return true;
  return product_is_exact(a, e) && is_true_product(a, AS(Mul, e)->a) &&
         is_true_product(a, AS(Mul, e)->b);
}

/* l == divisor * quotient + rest, for a divisor that is k times a product. */
static bool split_by_product(Analyzer *a, const Linear *l, Node *product, int64_t k,
                             Linear *quotient, Linear *rest) {
  *quotient = (Linear){0};
  *rest = (Linear){.constant = l->constant};
  for (int i = 0; i < l->terms.len; i++) {
    int64_t c = l->coeffs.at[i];
    Node *term = l->terms.at[i];
    Node *others = c % k == 0 && is_true_product(a, term) ? without_factors(term, product) : NULL;
    if (!others) put(rest, term, c);
    else if (expr_is_one(others)) quotient->constant += c / k;
    else if (!linear_add_term(quotient, others, c / k)) return false;
  }
  return true;
}

/* 0 <= rest < divisor? */
static bool is_remainder(Analyzer *a, const Linear *rest, Node *divisor, DataType t, Span span) {
  Linear r, d, room;
  if (!linear_of(a, linear_expr(rest, t, span), true, &r) || !exact_form(a, divisor, true, &d))
    return false;
  if (!linear_is_nonneg(a, &r) || !linear_sub(&d, &r, &room)) return false;
  return !__builtin_sub_overflow(room.constant, 1, &room.constant) && linear_is_nonneg(a, &room);
}

static Node *by_expr(Analyzer *a, Node *e, const Linear *l) {
  Node *divisor = as_binary(e)->b;
  DataType t = e->dtype;
  Linear d, quotient, rest;
  int64_t k = 1;
  Node *product = divisor;
  if (linear_of(NULL, divisor, false, &d) && d.terms.len == 1 && !d.constant && d.coeffs.at[0] > 0)
    product = d.terms.at[0], k = d.coeffs.at[0];
  if (!split_by_product(a, l, product, k, &quotient, &rest)) return e;
  bool is_div = e->kind == NK_FloorDiv;
  if (is_nothing(&rest) ? is_nonzero(a, divisor) : is_remainder(a, &rest, divisor, t, e->span))
    return linear_expr(is_div ? &quotient : &rest, t, e->span);
  bool useful = !is_nothing(&quotient) && derived_is_exact(a, &rest, l, t);
  if (!useful || !is_nonzero(a, divisor)) return e;
  Node *smaller = arith_binary(e->kind, linear_expr(&rest, t, e->span), divisor, e->span);
  return is_div ? plus(&quotient, smaller, t, e->span) : smaller;
}

/* ---- truncation ---- */

/* Truncation and floor agree where nothing is negative, and where the divisor divides. */
static Node *truncated(Analyzer *a, Node *e) {
  Binary *b = as_binary(e);
  bool is_div = e->kind == NK_Div;
  if (arith_const_bound(a, b->a).lo >= 0 && arith_const_bound(a, b->b).lo >= 1) {
    Node *floors = arith_binary(is_div ? NK_FloorDiv : NK_FloorMod, b->a, b->b, e->span);
    return kind_divides(floors->kind) ? simplify_division(a, floors) : floors;
  }
  int64_t c;
  Linear l, q, r;
  if (!expr_is_const_int(b->b, &c) || c < 1 || !exact_form(a, b->a, false, &l)) return e;
  split_by(&l, c, &q, &r);
  if (!is_nothing(&r)) return e;
  return is_div ? linear_expr(&q, e->dtype, e->span) : int_imm(e->dtype, 0, e->span);
}

Node *simplify_division(Analyzer *a, Node *e) {
  Binary *b = as_binary(e);
  int64_t c;
  Linear l;
  if (!is_signed_index(e->dtype)) return e;
  if (e->kind == NK_Div || e->kind == NK_Mod) return truncated(a, e);
  if (!exact_form(a, b->a, false, &l)) return e;
  if (!expr_is_const_int(b->b, &c)) return by_expr(a, e, &l);
  if (c <= 1) return e;
  Node *out = by_const(a, e->kind, &l, c, e->dtype, e->span);
  return out && !node_equal(out, e, false, NULL) ? out : e;
}
