/* analyzer.c -- facts about variables, and what can be proved from them. */
#include "ir/arith/arith_impl.h"

Analyzer *arith_new(void) { return NEW(Analyzer, .depth = 0); }

void arith_bind_range(Analyzer *a, Node *var, Node *min, Node *extent) {
  ConstBound lo = arith_const_bound(a, min), n = arith_const_bound(a, extent);
  ConstBound last = bound_add(bound_add(lo, n), (ConstBound){-1, -1});
  map_set(&a->bounds, var, NEW(ConstBound, lo.lo, last.hi));
  map_remove(&a->values, var);
  if (expr_is_one(extent)) arith_bind_value(a, var, min);
  /* What holds beside the numbers: min <= var < min + extent. */
  if (!is_signed_index(var->dtype)) return;
  arith_enter(a, expr_binary(NK_GE, var, min, var->span));
  arith_enter(a, expr_binary(NK_LT, var, expr_binary(NK_Add, min, extent, var->span), var->span));
}

void arith_bind_value(Analyzer *a, Node *var, Node *value) {
  if (dtype_is_int(var->dtype) && expr_effect(value) == EFFECT_PURE)
    map_set(&a->values, var, value);
}

/* x >= y as a fact. */
static void add_fact(Analyzer *a, Node *x, Node *y, int64_t margin) {
  Linear lx, ly, form;
  if (!is_signed_index(x->dtype) || !arith_linear(x, &lx) || !arith_linear(y, &ly) ||
      !linear_sub(&lx, &ly, &form))
    return;
  if (__builtin_sub_overflow(form.constant, margin, &form.constant) || !form.terms.len) return;
  Fact f = {form};
  vec_push(&a->facts, f);
}

static void assume(Analyzer *a, Node *cond) {
  Binary *b = (Binary *)(void *)cond;
  switch (cond->kind) {
  case NK_And: assume(a, b->a), assume(a, b->b); break;
  case NK_GE: add_fact(a, b->a, b->b, 0); break;
  case NK_GT: add_fact(a, b->a, b->b, 1); break;
  case NK_LE: add_fact(a, b->b, b->a, 0); break;
  case NK_LT: add_fact(a, b->b, b->a, 1); break;
  case NK_EQ: add_fact(a, b->a, b->b, 0), add_fact(a, b->b, b->a, 0); break;
  case NK_Call:
    if (is_intrin_call(cond, "likely")) assume(a, AS(Call, cond)->args.at[0]);
    break;
  default: break;
  }
}

int arith_enter(Analyzer *a, Node *cond) {
  int mark = a->facts.len;
  assume(a, cond);
  return mark;
}

void arith_leave(Analyzer *a, int mark) { a->facts.len = mark; }

/* A form is >= 0 if its bound says so, or if it exceeds one that is. */
bool linear_is_nonneg(Analyzer *a, const Linear *l) {
  if (linear_bound(a, l).lo >= 0) return true;
  for (int i = a->facts.len - 1; i >= 0; i--) {
    Linear rest;
    if (linear_sub(l, &a->facts.at[i].form, &rest) && linear_bound(a, &rest).lo >= 0) return true;
  }
  return false;
}

bool arith_can_prove(Analyzer *a, Node *cond) {
  int64_t value;
  return expr_is_const_int(arith_simplify(a, cond), &value) && value;
}

bool arith_can_prove_equal(Analyzer *a, Node *x, Node *y) {
  if (x == y) return true;
  if (!dtype_is_int(x->dtype) || !dtype_is_int(y->dtype)) return node_equal(x, y, false, NULL);
  int64_t p, q;
  if (expr_is_const_int(x, &p) && expr_is_const_int(y, &q)) return p == q;
  Linear lx, ly, d;
  Node *sx = arith_simplify(a, x), *sy = arith_simplify(a, expr_cast(x->dtype, y, y->span));
  if (!arith_linear(sx, &lx) || !arith_linear(sy, &ly) || !linear_sub(&lx, &ly, &d)) return false;
  return !d.terms.len && !d.constant;
}

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

bool arith_can_prove_different(Analyzer *a, Node *x, Node *y) {
  if (x == y || !dtype_is_int(x->dtype) || !dtype_is_int(y->dtype)) return false;
  Linear lx, ly, d;
  Node *sx = arith_simplify(a, x), *sy = arith_simplify(a, expr_cast(x->dtype, y, y->span));
  if (!arith_linear(sx, &lx) || !arith_linear(sy, &ly) || !linear_sub(&lx, &ly, &d)) return false;
  ConstBound b = linear_bound(a, &d);
  if (b.lo > 0 || b.hi < 0) return true;
  /* All coefficients share a factor that the constant lacks: never 0. */
  uint64_t g = 0;
  for each (int64_t, k, &d.coeffs) g = gcd(g, *k < 0 ? 0 - (uint64_t)*k : (uint64_t)*k);
  uint64_t c = d.constant < 0 ? 0 - (uint64_t)d.constant : (uint64_t)d.constant;
  return g > 1 && c % g != 0;
}
