/* interval.c -- arithmetic of intervals, computed in 128 bits and clamped to the infinities. */
#include "ir/arith/arith_impl.h"

int64_t bound_clamp(__int128 x) {
  if (x <= (__int128)INT64_MIN) return ARITH_NEG_INF;
  if (x >= (__int128)INT64_MAX) return ARITH_POS_INF;
  return (int64_t)x;
}

static const ConstBound everything = {ARITH_NEG_INF, ARITH_POS_INF};

static bool is_inf(int64_t x) { return x == ARITH_NEG_INF || x == ARITH_POS_INF; }

ConstBound bound_add(ConstBound a, ConstBound b) {
  bool no_lo = a.lo == ARITH_NEG_INF || b.lo == ARITH_NEG_INF;
  bool no_hi = a.hi == ARITH_POS_INF || b.hi == ARITH_POS_INF;
  return (ConstBound){no_lo ? ARITH_NEG_INF : bound_clamp((__int128)a.lo + b.lo),
                      no_hi ? ARITH_POS_INF : bound_clamp((__int128)a.hi + b.hi)};
}

/* Product of extended integers; infinity times 0 is 0, as a bound of products is. */
static __int128 ext_mul(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (is_inf(a) || is_inf(b)) return (a < 0) == (b < 0) ? (__int128)INT64_MAX : (__int128)INT64_MIN;
  return (__int128)a * b;
}

static ConstBound hull(__int128 a, __int128 b, __int128 c, __int128 d) {
  __int128 lo = a < b ? a : b, hi = a > b ? a : b, lo2 = c < d ? c : d, hi2 = c > d ? c : d;
  return (ConstBound){bound_clamp(lo < lo2 ? lo : lo2), bound_clamp(hi > hi2 ? hi : hi2)};
}

ConstBound bound_mul(ConstBound a, ConstBound b) {
  return hull(ext_mul(a.lo, b.lo), ext_mul(a.lo, b.hi), ext_mul(a.hi, b.lo), ext_mul(a.hi, b.hi));
}

ConstBound bound_scale(ConstBound a, int64_t k) { return bound_mul(a, (ConstBound){k, k}); }

ConstBound bound_join(ConstBound a, ConstBound b) {
  return (ConstBound){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

/* Of two that both hold. Where they contradict each other (dead code), the first. */
ConstBound bound_meet(ConstBound a, ConstBound b) {
  ConstBound m = {a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
  return m.lo <= m.hi ? m : a;
}

ConstBound bound_of_dtype(DataType t) {
  if (dtype_is_bool(t)) return (ConstBound){0, 1};
  if (!dtype_is_int(t)) return everything;
  return (ConstBound){dtype_min_int(t), dtype_max_int(t)}; /* of 64 bits: the infinities */
}

bool bound_fits(ConstBound b, DataType t) {
  ConstBound all = bound_of_dtype(t);
  if (t.bits < 64) return b.lo >= all.lo && b.hi <= all.hi;
  return b.hi < ARITH_POS_INF && b.lo > ARITH_NEG_INF && b.lo >= all.lo;
}

/* ---- division: quotients by 0 are 0, or an error ---- */

static int64_t ext_floor_div(int64_t a, int64_t b) {
  if (is_inf(a)) return (a < 0) == (b < 0) ? ARITH_POS_INF : ARITH_NEG_INF;
  if (is_inf(b)) return a && (a < 0) != (b < 0) ? -1 : 0;
  return floor_div(a, b); /* neither is INT64_MIN */
}

static int64_t ext_trunc_div(int64_t a, int64_t b) {
  if (is_inf(a)) return (a < 0) == (b < 0) ? ARITH_POS_INF : ARITH_NEG_INF;
  return is_inf(b) ? 0 : a / b;
}

/* Corner values suffice: a quotient is monotone in each operand while the divisor keeps its sign.
 */
static ConstBound divide(ConstBound a, ConstBound b, int64_t (*by)(int64_t, int64_t)) {
  if (b.lo <= 0 && b.hi >= 0) {
    ConstBound zero = {0, 0}, r = zero;
    if (b.lo < 0) r = bound_join(r, divide(a, (ConstBound){b.lo, -1}, by));
    if (b.hi > 0) r = bound_join(r, divide(a, (ConstBound){1, b.hi}, by));
    return r;
  }
  return hull(by(a.lo, b.lo), by(a.lo, b.hi), by(a.hi, b.lo), by(a.hi, b.hi));
}

ConstBound bound_floor_div(ConstBound a, ConstBound b) { return divide(a, b, ext_floor_div); }
ConstBound bound_trunc_div(ConstBound a, ConstBound b) { return divide(a, b, ext_trunc_div); }

/* By a positive constant, while all values have one quotient, the remainders are in order. */
static bool one_quotient(ConstBound a, ConstBound b) {
  bool finite = !is_inf(a.lo) && !is_inf(a.hi) && b.lo == b.hi && b.lo > 0 && !is_inf(b.hi);
  return finite && floor_div(a.lo, b.lo) == floor_div(a.hi, b.lo);
}

ConstBound bound_floor_mod(ConstBound a, ConstBound b) {
  if (one_quotient(a, b)) return (ConstBound){floor_mod(a.lo, b.lo), floor_mod(a.hi, b.lo)};
  ConstBound r = {0, 0};
  if (b.hi > 0) r.hi = b.hi == ARITH_POS_INF ? b.hi : b.hi - 1;
  if (b.lo < 0) r.lo = b.lo == ARITH_NEG_INF ? b.lo : b.lo + 1;
  /* x % y is at most x if neither is negative. */
  if (a.lo >= 0 && b.lo >= 0 && a.hi < r.hi) r.hi = a.hi;
  return r;
}

/* The sign of a truncated remainder is that of the dividend, and it is no larger than it. */
ConstBound bound_trunc_mod(ConstBound a, ConstBound b) {
  __int128 size = b.hi > 0 ? b.hi : 0, down = -(__int128)b.lo;
  if (down > size) size = down;
  size -= size > 0;
  bool unknown = is_inf(b.lo) || is_inf(b.hi);
  ConstBound r = {unknown ? ARITH_NEG_INF : bound_clamp(-size),
                  unknown ? ARITH_POS_INF : bound_clamp(size)};
  int64_t lo = a.lo < 0 ? a.lo : 0, hi = a.hi > 0 ? a.hi : 0;
  return (ConstBound){r.lo > lo ? r.lo : lo, r.hi < hi ? r.hi : hi};
}
