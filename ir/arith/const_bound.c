/* const_bound.c -- the least and greatest value an integer expression can take: interval
 * arithmetic. */
#include "ir/arith/arith_impl.h"

int64_t ext_clamp(__int128 x) {
  if (x <= (__int128)INT64_MIN) return ARITH_NEG_INF;
  if (x >= (__int128)INT64_MAX) return ARITH_POS_INF;
  return (int64_t)x;
}

static bool is_inf(int64_t x) { return x == ARITH_NEG_INF || x == ARITH_POS_INF; }

ConstBound bound_add(ConstBound a, ConstBound b) {
  int64_t lo = a.lo == ARITH_NEG_INF || b.lo == ARITH_NEG_INF ? ARITH_NEG_INF
                                                              : ext_clamp((__int128)a.lo + b.lo);
  int64_t hi = a.hi == ARITH_POS_INF || b.hi == ARITH_POS_INF ? ARITH_POS_INF
                                                              : ext_clamp((__int128)a.hi + b.hi);
  return (ConstBound){lo, hi};
}

/* Product of extended integers; infinity times 0 is 0, as a bound of products is. */
static __int128 ext_mul(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (is_inf(a) || is_inf(b)) return (a < 0) == (b < 0) ? (__int128)INT64_MAX : (__int128)INT64_MIN;
  return (__int128)a * b;
}

static ConstBound hull(__int128 a, __int128 b, __int128 c, __int128 d) {
  __int128 lo = a < b ? a : b, hi = a > b ? a : b, lo2 = c < d ? c : d, hi2 = c > d ? c : d;
  return (ConstBound){ext_clamp(lo < lo2 ? lo : lo2), ext_clamp(hi > hi2 ? hi : hi2)};
}

static ConstBound bound_mul(ConstBound a, ConstBound b) {
  return hull(ext_mul(a.lo, b.lo), ext_mul(a.lo, b.hi), ext_mul(a.hi, b.lo), ext_mul(a.hi, b.hi));
}

ConstBound bound_scale(ConstBound a, int64_t k) { return bound_mul(a, (ConstBound){k, k}); }

static int64_t ext_floor_div(int64_t a, int64_t b) {
  if (is_inf(a)) return (a < 0) == (b < 0) ? ARITH_POS_INF : ARITH_NEG_INF;
  if (is_inf(b)) return (a < 0) != (b < 0) && a ? -1 : 0;
  return a == INT64_MIN && b == -1 ? ARITH_POS_INF : floor_div(a, b);
}

static const ConstBound everything = {ARITH_NEG_INF, ARITH_POS_INF};

/* b does not contain 0. */
static ConstBound bound_floor_div(ConstBound a, ConstBound b) {
  if (b.lo <= 0 && b.hi >= 0) return everything;
  return hull(ext_floor_div(a.lo, b.lo), ext_floor_div(a.lo, b.hi), ext_floor_div(a.hi, b.lo),
              ext_floor_div(a.hi, b.hi));
}

static ConstBound bound_floor_mod(ConstBound a, ConstBound b) {
  if (b.lo > 0) {
    if (a.lo >= 0 && a.hi < b.lo) return a;
    return (ConstBound){0, a.lo >= 0 && a.hi < b.hi - 1 ? a.hi
                           : b.hi == ARITH_POS_INF      ? ARITH_POS_INF
                                                        : b.hi - 1};
  }
  if (b.hi < 0) return (ConstBound){b.lo == ARITH_NEG_INF ? ARITH_NEG_INF : b.lo + 1, 0};
  return everything;
}

/* The sign of a truncated remainder is that of the dividend. */
static ConstBound bound_trunc_mod(ConstBound a, ConstBound b) {
  int64_t size = b.hi == ARITH_POS_INF || b.lo == ARITH_NEG_INF ? ARITH_POS_INF
                                                                : (b.hi > -b.lo ? b.hi : -b.lo) - 1;
  return (ConstBound){a.lo >= 0               ? 0
                      : size == ARITH_POS_INF ? ARITH_NEG_INF
                                              : -size,
                      a.hi <= 0 ? 0 : size};
}

static ConstBound dtype_bound(DataType t) {
  if (dtype_is_bool(t)) return (ConstBound){0, 1};
  if (!dtype_is_int(t)) return everything;
  ConstBound b = {dtype_min_int(t), dtype_max_int(t)};
  return t.bits >= 64 ? (ConstBound){t.code == DTYPE_UINT ? 0 : ARITH_NEG_INF, ARITH_POS_INF} : b;
}

static ConstBound bound_of_var(Analyzer *a, Node *v) {
  ConstBound *known = map_get(&a->bounds, v);
  if (known) return *known;
  Node *value = map_get(&a->values, v);
  if (value) return arith_const_bound(a, value);
  ConstBound b = dtype_bound(v->dtype);
  if (AS(Var, v)->is_size && b.lo < 0) b.lo = 0;
  return b;
}

static ConstBound bound_of_binary(Analyzer *a, Node *e) {
  Binary *n = (Binary *)(void *)e;
  ConstBound x = arith_const_bound(a, n->a), y = arith_const_bound(a, n->b);
  switch (e->kind) {
  case NK_Add: return bound_add(x, y);
  case NK_Sub: return bound_add(x, bound_scale(y, -1));
  case NK_Mul: return bound_mul(x, y);
  case NK_FloorDiv: return bound_floor_div(x, y);
  case NK_FloorMod: return bound_floor_mod(x, y);
  case NK_Div: return x.lo >= 0 && y.lo > 0 ? bound_floor_div(x, y) : everything;
  case NK_Mod: return bound_trunc_mod(x, y);
  case NK_Min: return (ConstBound){x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi};
  case NK_Max: return (ConstBound){x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
  default: return (ConstBound){0, 1};
  }
}

static ConstBound join(ConstBound x, ConstBound y) {
  return (ConstBound){x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
}

/* A result that might leave the dtype wraps to who knows what. */
static ConstBound within_dtype(ConstBound b, DataType t) {
  ConstBound all = dtype_bound(t);
  bool fits = (b.lo >= all.lo && b.hi <= all.hi) || t.bits >= 64;
  return fits ? b : all;
}

ConstBound arith_const_bound(Analyzer *a, Node *e) {
  int64_t value;
  if (expr_is_const_int(e, &value))
    return e->dtype.code == DTYPE_UINT && value < 0 ? dtype_bound(e->dtype)
                                                    : (ConstBound){value, value};
  if (!dtype_is_int(e->dtype) && !dtype_is_bool(e->dtype)) return everything;
  if (node_is_binary(e->kind)) return within_dtype(bound_of_binary(a, e), e->dtype);
  switch (e->kind) {
  case NK_Var: return bound_of_var(a, e);
  case NK_Select:
    return join(arith_const_bound(a, AS(Select, e)->then),
                arith_const_bound(a, AS(Select, e)->orelse));
  case NK_Broadcast: return arith_const_bound(a, AS(Broadcast, e)->value);
  case NK_Ramp: {
    ConstBound base = arith_const_bound(a, AS(Ramp, e)->base),
               stride = arith_const_bound(a, AS(Ramp, e)->stride);
    return within_dtype(bound_add(base, bound_mul(stride, (ConstBound){0, AS(Ramp, e)->lanes - 1})),
                        e->dtype);
  }
  case NK_Cast: {
    DataType from = AS(Cast, e)->value->dtype;
    if (!dtype_is_int(from) && !dtype_is_bool(from)) return dtype_bound(e->dtype);
    return within_dtype(arith_const_bound(a, AS(Cast, e)->value), e->dtype);
  }
  case NK_Call:
    if (is_intrin_call(e, "if_then_else"))
      return join(arith_const_bound(a, AS(Call, e)->args.at[1]),
                  arith_const_bound(a, AS(Call, e)->args.at[2]));
    if (is_intrin_call(e, "likely")) return arith_const_bound(a, AS(Call, e)->args.at[0]);
    return dtype_bound(e->dtype);
  default: return dtype_bound(e->dtype);
  }
}

ConstBound linear_bound(Analyzer *a, const Linear *l) {
  ConstBound sum = {l->constant, l->constant};
  for (int i = 0; i < l->terms.len; i++)
    sum = bound_add(sum, bound_scale(arith_const_bound(a, l->terms.at[i]), l->coeffs.at[i]));
  return sum;
}
