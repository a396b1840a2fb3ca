/* linear.c -- the canonical linear form of integer expressions: constant + sum of coefficient *
 * term.
 *
 * Coefficients are computed with checks; a form that does not fit, or has too many terms to be
 * worth the search for equal ones, is refused. */
#include "ir/arith/arith_impl.h"
#include "ir/support/stack.h"

enum { MAX_TERMS = 48, MAX_NODES = 2000 };

/* ---- terms ---- */

/* The factors of a product, in order. */
static void gather_factors(Node *e, NodeVec *out) {
  if (IS(Mul, e) && is_signed_index(e->dtype)) {
    gather_factors(AS(Mul, e)->a, out);
    gather_factors(AS(Mul, e)->b, out);
  } else vec_push(out, e);
}

static bool same_factors(Node *a, Node *b) {
  NodeVec fa = {0}, fb = {0};
  gather_factors(a, &fa);
  gather_factors(b, &fb);
  if (fa.len != fb.len) return false;
  for each (Node *, f, &fa) {
    int i = 0;
    while (i < fb.len && !(fb.at[i] && node_equal(*f, fb.at[i], false, NULL))) i++;
    if (i == fb.len) return false;
    fb.at[i] = NULL;
  }
  return true;
}

bool same_term(Node *a, Node *b) {
  if (a == b) return true;
  if (a->kind != b->kind || !dtype_equal(a->dtype, b->dtype) || a->kind == NK_Var) return false;
  return node_equal(a, b, false, NULL) || (IS(Mul, a) && same_factors(a, b));
}

bool linear_add_term(Linear *l, Node *term, int64_t coeff) {
  for (int i = 0; i < l->terms.len; i++)
    if (same_term(l->terms.at[i], term))
      return !__builtin_add_overflow(l->coeffs.at[i], coeff, &l->coeffs.at[i]);
  if (l->terms.len == MAX_TERMS) return false;
  vec_push(&l->terms, term);
  vec_push(&l->coeffs, coeff);
  return true;
}

static bool add_constant(Linear *l, int64_t value, int64_t scale) {
  int64_t product;
  return !__builtin_mul_overflow(value, scale, &product) &&
         !__builtin_add_overflow(l->constant, product, &l->constant);
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

/* ---- gathering ---- */

typedef struct Gather {
  Analyzer *analyzer; /* NULL: casts and let-bound variables are terms */
  bool expand;
  Linear *out;
  int *nodes; /* that may still be looked at: expressions may share their parts */
} Gather;

static bool gather(Gather *g, Node *e, int64_t scale);
static bool gather_all(Analyzer *a, Node *e, bool expand, int *nodes, Linear *out);

static bool gather_scaled(Gather *g, Node *e, int64_t scale, int64_t k) {
  int64_t next;
  return !__builtin_mul_overflow(scale, k, &next) && gather(g, e, next);
}

/* (a + b) * (c + d), multiplied out. */
static bool gather_product(Gather *g, Node *e, int64_t scale) {
  Linear x, y;
  if (!gather_all(g->analyzer, as_binary(e)->a, true, g->nodes, &x) ||
      !gather_all(g->analyzer, as_binary(e)->b, true, g->nodes, &y))
    return false;
  for (int i = -1; i < x.terms.len; i++)
    for (int j = -1; j < y.terms.len; j++) {
      int64_t k, p = i < 0 ? x.constant : x.coeffs.at[i], q = j < 0 ? y.constant : y.coeffs.at[j];
      if (__builtin_mul_overflow(p, q, &k)) return false;
      if (!k) continue;
      if (i < 0 && j < 0) {
        if (!add_constant(g->out, k, scale)) return false;
        continue;
      }
      if (__builtin_mul_overflow(k, scale, &k)) return false;
      Node *a = i < 0 ? NULL : x.terms.at[i], *b = j < 0 ? NULL : y.terms.at[j];
      Node *term = a && b ? MAKE(Mul, e->span, e->dtype, .a = a, .b = b) : a ? a : b;
      if (!linear_add_term(g->out, term, k)) return false;
    }
  return true;
}

static bool gather_mul(Gather *g, Node *e, int64_t scale) {
  Binary *b = as_binary(e);
  int64_t value;
  if (expr_is_const_int(b->b, &value)) return gather_scaled(g, b->a, scale, value);
  if (expr_is_const_int(b->a, &value)) return gather_scaled(g, b->b, scale, value);
  return g->expand ? gather_product(g, e, scale) : linear_add_term(g->out, e, scale);
}

/* A wider cast of an exact sum is the sum of wider casts. */
static bool gather_cast(Gather *g, Node *e, int64_t scale) {
  Node *value = AS(Cast, e)->value;
  Linear inner;
  bool widens =
      is_signed_index(value->dtype) && value->dtype.bits < e->dtype.bits && is_ring(value->kind);
  if (!widens || !g->analyzer || !exact_form(g->analyzer, value, g->expand, &inner))
    return linear_add_term(g->out, e, scale);
  if (!add_constant(g->out, inner.constant, scale)) return false;
  for (int i = 0; i < inner.terms.len; i++) {
    int64_t k;
    Node *term = expr_cast(e->dtype, inner.terms.at[i], e->span);
    if (__builtin_mul_overflow(inner.coeffs.at[i], scale, &k) || !linear_add_term(g->out, term, k))
      return false;
  }
  return true;
}

static bool gather_var(Gather *g, Node *e, int64_t scale) {
  VarInfo *info = g->analyzer && g->expand ? var_info(g->analyzer, e) : NULL;
  bool opened = info && info->value && dtype_equal(info->value->dtype, e->dtype);
  return opened ? gather(g, info->value, scale) : linear_add_term(g->out, e, scale);
}

static bool gather(Gather *g, Node *e, int64_t scale) {
  int64_t value;
  if (--*g->nodes < 0 || stack_is_low()) return false;
  if (expr_is_const_int(e, &value)) return add_constant(g->out, value, scale);
  if (!is_signed_index(e->dtype)) return linear_add_term(g->out, e, scale);
  Binary *b = as_binary(e);
  switch (e->kind) {
  case NK_Add: return gather(g, b->a, scale) && gather(g, b->b, scale);
  case NK_Sub: return gather(g, b->a, scale) && gather_scaled(g, b->b, scale, -1);
  case NK_Mul: return gather_mul(g, e, scale);
  case NK_Cast: return gather_cast(g, e, scale);
  case NK_Var: return gather_var(g, e, scale);
  default: return linear_add_term(g->out, e, scale);
  }
}

static bool gather_all(Analyzer *a, Node *e, bool expand, int *nodes, Linear *out) {
  Gather g = {a, expand, out, nodes};
  *out = (Linear){0};
  if (!gather(&g, e, 1)) return false;
  drop_zeros(out);
  return true;
}

bool linear_of(Analyzer *a, Node *e, bool expand, Linear *out) {
  int nodes = MAX_NODES;
  return gather_all(a, e, expand, &nodes, out);
}

bool arith_linear(Node *e, Linear *out) { return linear_of(NULL, e, false, out); }

/* ---- forms ---- */

static bool add_scaled(Linear *out, const Linear *x, int64_t k) {
  if (!add_constant(out, x->constant, k)) return false;
  for (int i = 0; i < x->terms.len; i++) {
    int64_t c;
    if (__builtin_mul_overflow(x->coeffs.at[i], k, &c) || !linear_add_term(out, x->terms.at[i], c))
      return false;
  }
  return true;
}

bool linear_combine(const Linear *x, int64_t kx, const Linear *y, int64_t ky, Linear *out) {
  *out = (Linear){0};
  if (!add_scaled(out, x, kx) || !add_scaled(out, y, ky)) return false;
  drop_zeros(out);
  return true;
}

int64_t linear_gcd(const Linear *l) {
  int64_t g = 0;
  for each (int64_t, k, &l->coeffs) g = gcd_of(g, *k);
  return g;
}

bool linear_fits(const Linear *l, DataType t) {
  ConstBound all = bound_of_dtype(t);
  if (l->constant < all.lo || l->constant > all.hi) return false;
  for each (int64_t, k, &l->coeffs)
    if (*k < all.lo || *k > all.hi) return false;
  return true;
}

static Node *scaled(Node *term, int64_t k, Span span) {
  return k == 1 ? term : arith_binary(NK_Mul, term, int_imm(term->dtype, k, span), span);
}

/* Positive terms lead, so that no minus has to; the constant comes last. */
Node *linear_expr(const Linear *l, DataType t, Span span) {
  Node *sum = NULL;
  int64_t least = dtype_min_int(t);
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < l->terms.len; i++) {
      Node *term = expr_cast(t, l->terms.at[i], span);
      int64_t k = l->coeffs.at[i];
      bool added = k > 0 || k == least;
      if (added != (pass == 0)) continue;
      if (!sum) sum = scaled(term, k, span);
      else if (added) sum = arith_binary(NK_Add, sum, scaled(term, k, span), span);
      else sum = arith_binary(NK_Sub, sum, scaled(term, -k, span), span);
    }
  if (!sum) return int_imm(t, l->constant, span);
  if (l->constant < 0 && l->constant > least)
    return arith_binary(NK_Sub, sum, int_imm(t, -l->constant, span), span);
  return arith_binary(NK_Add, sum, int_imm(t, l->constant, span), span);
}

ConstBound linear_bound(Analyzer *a, const Linear *l) {
  ConstBound sum = {l->constant, l->constant};
  for (int i = 0; i < l->terms.len; i++)
    sum = bound_add(sum, bound_scale(arith_const_bound(a, l->terms.at[i]), l->coeffs.at[i]));
  return sum;
}

bool is_index_scale(ConstBound b, DataType t) {
  int64_t most = (int64_t)1 << (t.bits / 2 + 4 < t.bits - 2 ? t.bits / 2 + 4 : t.bits - 2);
  return b.lo >= -most && b.hi <= most;
}

static bool leaves_room(ConstBound b, DataType t) {
  int64_t most = (int64_t)1 << (t.bits - 2);
  return b.lo >= -most && b.hi <= most;
}

bool linear_is_exact(Analyzer *a, const Linear *l, DataType t) {
  if (bound_fits(linear_bound(a, l), t)) return true;
  ConstBound numbers = {l->constant, l->constant};
  bool symbol = false;
  for (int i = 0; i < l->terms.len; i++) {
    Content c = content_of(a, l->terms.at[i]);
    int64_t k = l->coeffs.at[i];
    if (c.data || !is_index_scale((ConstBound){k, k}, t) || (c.symbol && c.large)) return false;
    symbol |= c.symbol;
    if (!c.symbol)
      numbers = bound_add(numbers, bound_scale(arith_const_bound(a, l->terms.at[i]), k));
  }
  return symbol && leaves_room(numbers, t);
}

/* Below `from` and above the least number, or the other way round. */
bool derived_is_exact(Analyzer *a, const Linear *l, const Linear *from, DataType t) {
  ConstBound b = linear_bound(a, l), all = bound_of_dtype(t);
  Linear d;
  if (bound_fits(b, t)) return true;
  if (l->terms.len == 1 && l->coeffs.at[0] == 1 && !l->constant) return true;
  bool lo = t.bits < 64 ? b.lo >= all.lo : b.lo > all.lo,
       hi = b.hi < ARITH_POS_INF && b.hi <= all.hi;
  lo = lo || (linear_sub(l, from, &d) && linear_is_nonneg(a, &d));
  return lo && (hi || (linear_sub(from, l, &d) && linear_is_nonneg(a, &d)));
}

bool product_is_exact(Analyzer *a, Node *e) {
  Node *x = as_binary(e)->a, *y = as_binary(e)->b;
  if (bound_fits(bound_mul(arith_const_bound(a, x), arith_const_bound(a, y)), e->dtype))
    return true;
  Content c = content_of(a, e);
  return c.symbol && !c.data && !c.large;
}

bool exact_form(Analyzer *a, Node *e, bool expand, Linear *out) {
  if (!linear_of(a, e, expand, out)) return false;
  bool itself =
      out->terms.len == 1 && out->terms.at[0] == e && out->coeffs.at[0] == 1 && !out->constant;
  return itself || linear_is_exact(a, out, e->dtype);
}
