/* vector.c -- vectors that are a ramp (base + lane * stride) or one value in all lanes. */
#include "ir/arith/arith_impl.h"

static Node *ramp(Node *base, Node *stride, int lanes, Span span) {
  if (expr_is_zero(stride)) return expr_broadcast(base, lanes, span);
  return MAKE(Ramp, span, dtype_with_lanes(base->dtype, lanes), .base = base, .stride = stride,
              .lanes = lanes);
}

/* A vector as base and stride; false for other vectors. */
static bool as_ramp(Node *v, Node **base, Node **stride) {
  if (IS(Ramp, v)) {
    *base = AS(Ramp, v)->base;
    *stride = AS(Ramp, v)->stride;
    return (*base)->dtype.lanes == 1 && (*stride)->dtype.lanes == 1;
  }
  if (!IS(Broadcast, v)) return false;
  *base = AS(Broadcast, v)->value;
  *stride = int_imm((*base)->dtype, 0, v->span);
  return (*base)->dtype.lanes == 1;
}

static Node *simplified(Analyzer *a, NodeKind kind, Node *x, Node *y, Span span) {
  return arith_simplify(a, arith_binary(kind, x, y, span));
}

/* A sum of ramps is one, whatever wraps; so is a ramp times a scalar. */
static Node *ring_of_ramps(Analyzer *a, Node *e, Node *x[2], Node *y[2]) {
  Span s = e->span;
  int lanes = e->dtype.lanes;
  if (e->kind != NK_Mul)
    return ramp(simplified(a, e->kind, x[0], y[0], s), simplified(a, e->kind, x[1], y[1], s), lanes,
                s);
  if (!expr_is_zero(x[1]) && !expr_is_zero(y[1])) return e;
  Node *stride = expr_is_zero(y[1]) ? simplified(a, NK_Mul, x[1], y[0], s)
                                    : simplified(a, NK_Mul, y[1], x[0], s);
  return ramp(simplified(a, NK_Mul, x[0], y[0], s), stride, lanes, s);
}

/* ramp // c and ramp % c: each lane divides alike if the stride is a multiple of c; all lanes have
 * one quotient if they stay within a multiple of c. The ramp must not wrap. */
static Node *divided_ramp(Analyzer *a, Node *e, Node *base, Node *stride, int64_t c) {
  int64_t step, lanes = e->dtype.lanes;
  DataType t = base->dtype;
  if (c < 1 || lanes < 1 || !expr_is_const_int(stride, &step) || !is_signed_index(t)) return e;
  Linear l, last;
  if (!exact_form(a, base, false, &l) || __builtin_mul_overflow(step, lanes - 1, &step)) return e;
  last = l;
  if (__builtin_add_overflow(l.constant, step, &last.constant) || !linear_is_exact(a, &last, t))
    return e;
  expr_is_const_int(stride, &step);
  Node *by = int_imm(t, c, e->span), *first = simplified(a, e->kind, base, by, e->span);
  if (step % c == 0) {
    Node *rest = int_imm(t, e->kind == NK_FloorDiv ? step / c : 0, e->span);
    return ramp(first, rest, (int)lanes, e->span);
  }
  /* base % c lies in r + multiples of g: with the last lane it stays below c, or it is not known.
   */
  ConstBound r = bound_meet((ConstBound){0, c - 1},
                            arith_const_bound(a, simplified(a, NK_FloorMod, base, by, e->span)));
  __int128 lo = r.lo + (step < 0 ? (__int128)step * (lanes - 1) : 0),
           hi = r.hi + (step > 0 ? (__int128)step * (lanes - 1) : 0);
  if (lo < 0 || hi >= c) return e;
  return e->kind == NK_FloorDiv ? expr_broadcast(first, (int)lanes, e->span)
                                : ramp(first, stride, (int)lanes, e->span);
}

/* A comparison that all lanes decide alike. */
static Node *decided_vector(Analyzer *a, Node *e, Node *x, Node *y) {
  ConstBound p = arith_const_bound(a, x), q = arith_const_bound(a, y);
  bool known =
      p.lo > ARITH_NEG_INF && p.hi < ARITH_POS_INF && q.lo > ARITH_NEG_INF && q.hi < ARITH_POS_INF;
  if (!known) return e;
  int truth = -1;
  switch (e->kind) {
  case NK_LT: truth = p.hi < q.lo ? 1 : p.lo >= q.hi ? 0 : -1; break;
  case NK_LE: truth = p.hi <= q.lo ? 1 : p.lo > q.hi ? 0 : -1; break;
  case NK_GT: truth = p.lo > q.hi ? 1 : p.hi <= q.lo ? 0 : -1; break;
  case NK_GE: truth = p.lo >= q.hi ? 1 : p.hi < q.lo ? 0 : -1; break;
  case NK_EQ: truth = p.hi < q.lo || q.hi < p.lo ? 0 : -1; break;
  case NK_NE: truth = p.hi < q.lo || q.hi < p.lo ? 1 : -1; break;
  default: return e;
  }
  return truth < 0 ? e : expr_broadcast(int_imm(BOOL, truth, e->span), e->dtype.lanes, e->span);
}

static Node *vector_binary(Analyzer *a, Node *e) {
  Node *p = as_binary(e)->a, *q = as_binary(e)->b, *x[2], *y[2];
  int64_t c;
  if (IS(Broadcast, p) && IS(Broadcast, q)) {
    Node *value = simplified(a, e->kind, AS(Broadcast, p)->value, AS(Broadcast, q)->value, e->span);
    return expr_broadcast(value, e->dtype.lanes, e->span);
  }
  bool ints = dtype_is_int(p->dtype);
  if (ints && e->kind >= NK_EQ && e->kind <= NK_GE) return decided_vector(a, e, p, q);
  if (!ints || !as_ramp(p, &x[0], &x[1]) || !as_ramp(q, &y[0], &y[1])) return e;
  if (is_ring(e->kind)) return ring_of_ramps(a, e, x, y);
  bool divides = e->kind == NK_FloorDiv || e->kind == NK_FloorMod;
  return divides && expr_is_splat_int(q, &c) ? divided_ramp(a, e, x[0], x[1], c) : e;
}

/* A cast of a ramp is a ramp if no lane wraps before it. */
static Node *vector_cast(Analyzer *a, Node *e) {
  Node *v = AS(Cast, e)->value, *base, *stride;
  DataType t = dtype_element(e->dtype);
  if (IS(Broadcast, v))
    return expr_broadcast(arith_simplify(a, expr_cast(t, AS(Broadcast, v)->value, e->span)),
                          e->dtype.lanes, e->span);
  bool ints = v->dtype.code == DTYPE_INT && t.code == DTYPE_INT && t.bits >= v->dtype.bits;
  if (!IS(Ramp, v) || !ints || !as_ramp(v, &base, &stride)) return e;
  ConstBound b = arith_const_bound(a, base), s = arith_const_bound(a, stride);
  ConstBound all = bound_add(b, bound_mul(s, (ConstBound){0, v->dtype.lanes - 1}));
  if (v->dtype.lanes < 1 || !bound_fits(all, dtype_element(v->dtype))) return e;
  return ramp(arith_simplify(a, expr_cast(t, base, e->span)),
              arith_simplify(a, expr_cast(t, stride, e->span)), e->dtype.lanes, e->span);
}

Node *simplify_vector(Analyzer *a, Node *e) {
  if (node_is_binary(e->kind)) return vector_binary(a, e);
  if (IS(Cast, e)) return vector_cast(a, e);
  if (IS(Ramp, e) && expr_is_zero(AS(Ramp, e)->stride) && AS(Ramp, e)->base->dtype.lanes == 1)
    return expr_broadcast(AS(Ramp, e)->base, e->dtype.lanes, e->span);
  return e;
}
