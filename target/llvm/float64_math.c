/* float64_math.c -- functions of float64 as straight-line arithmetic, for devices, which have no
 * library: exponentials, logarithms and what is made of them. Arguments are reduced to small
 * intervals, where series of Taylor are cut off below the last bit.
 *
 * Errors are some units in the last place; of pow they grow with the logarithm of the result. */
#include "target/llvm/float64.h"

/* Coefficients of odd or even series, in terms of the square. */
#define FACTORIALS                                                                                 \
  1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,             \
      1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800

#define LN2      0.69314718055994530942
#define LN2_HIGH 0x1.62e42feep-1 /* with few bits: products with exponents are exact */
#define LN2_LOW  0x1.a39ef35793c76p-33

static LLVMValueRef nearest(Math m, LLVMValueRef x) {
  return gen_overloaded(m.g, "llvm.roundeven", LLVMTypeOf(x), 1, &x);
}

static LLVMValueRef root(Math m, LLVMValueRef x) {
  return gen_overloaded(m.g, "llvm.sqrt", LLVMTypeOf(x), 1, &x);
}

/* ---- exponentials ---- */

static LLVMValueRef power_of_two(Math m, LLVMValueRef n) {
  return from_bits(m, shift_left(m, plus(m, n, word(m, 1023)), 52));
}

LLVMValueRef double_raised(Math m, LLVMValueRef x, LLVMValueRef n) {
  enum { STEPS = 4 };
  LLVMValueRef part = LLVMBuildAShr(m.b, n, word(m, 2), ""), rest = n;
  for (int i = 0; i < STEPS; i++) {
    LLVMValueRef by = i + 1 < STEPS ? part : rest;
    x = mul(m, x, power_of_two(m, by));
    rest = minus(m, rest, by);
  }
  return x;
}

/* e^r * 2^n for a small r, in two steps: either may leave the range of exponents. */
static LLVMValueRef scaled(Math m, LLVMValueRef r, LLVMValueRef n) {
  LLVMValueRef y = POLY(m, r, FACTORIALS);
  LLVMValueRef whole = LLVMBuildFPToSI(m.b, n, type_of(m.g, m.word), "");
  LLVMValueRef half = LLVMBuildAShr(m.b, whole, word(m, 1), "");
  return mul(m, mul(m, y, power_of_two(m, half)), power_of_two(m, minus(m, whole, half)));
}

/* The result of NaN is NaN: the clamped one is not converted to an integer that means nothing. */
static LLVMValueRef keep_nan(Math m, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef is_nan = LLVMBuildFCmp(m.b, LLVMRealUNO, x, x, "");
  return pick(m, is_nan, x, y);
}

static LLVMValueRef inside(Math m, LLVMValueRef x, double lo, double hi) {
  LLVMValueRef is_nan = LLVMBuildFCmp(m.b, LLVMRealUNO, x, x, "");
  return clamp(m, pick(m, is_nan, num(m, 0), x), lo, hi);
}

LLVMValueRef double_exp(Math m, LLVMValueRef x) {
  LLVMValueRef c = inside(m, x, -760, 720), n = nearest(m, mul(m, c, num(m, 1 / LN2)));
  LLVMValueRef r = mad(m, n, num(m, -LN2_LOW), mad(m, n, num(m, -LN2_HIGH), c));
  return keep_nan(m, x, scaled(m, r, n));
}

LLVMValueRef float64_exp(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return double_exp(double_math(g, type), args[0]);
}

LLVMValueRef float64_exp2(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  LLVMValueRef c = inside(m, args[0], -1080, 1030), n = nearest(m, c);
  return keep_nan(m, args[0], scaled(m, mul(m, sub(m, c, n), num(m, LN2)), n));
}

LLVMValueRef float64_exp10(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  LLVMValueRef c = inside(m, args[0], -330, 310);
  LLVMValueRef n = nearest(m, mul(m, c, num(m, 3.32192809488736234787)));
  LLVMValueRef r = mad(m, n, num(m, -0x1.3441350900000p-2), c);
  r = mad(m, n, num(m, -0x1.ef3fde623e256p-35), r);
  return keep_nan(m, args[0], scaled(m, mul(m, r, num(m, 2.30258509299404568402)), n));
}

LLVMValueRef float64_sigmoid(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  LLVMValueRef e = double_exp(m, LLVMBuildFNeg(m.b, args[0], ""));
  return quotient(m, num(m, 1), add(m, num(m, 1), e));
}

/* ---- logarithms ---- */

/* log(x) = exponent * ln 2 + log(mantissa), the mantissa between sqrt(1/2) and sqrt(2). */
static LLVMValueRef log_of_mantissa(Math m, LLVMValueRef x, LLVMValueRef *exponent) {
  LLVMValueRef tiny = less(m, x, 0x1p-1022);
  x = pick(m, tiny, mul(m, x, num(m, 0x1p54)), x);
  LLVMValueRef bits = bits_of(m, x), above = minus(m, bits, word(m, 0x3fe6a09e667f3bcd));
  LLVMValueRef e = LLVMBuildAShr(m.b, above, word(m, 52), "");
  LLVMValueRef f = sub(m, from_bits(m, minus(m, bits, shift_left(m, e, 52))), num(m, 1));
  *exponent = float_of(m, minus(m, e, pick(m, tiny, word(m, 54), word(m, 0))));
  LLVMValueRef s = quotient(m, f, add(m, f, num(m, 2))), z = mul(m, s, s);
  LLVMValueRef p = POLY(m, z, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15,
                        2.0 / 17, 2.0 / 19, 2.0 / 21);
  LLVMValueRef half = mul(m, mul(m, f, f), num(m, 0.5)); /* log = f - (half - s * (half + z * p)) */
  return sub(m, f, sub(m, half, mul(m, s, mad(m, z, p, half))));
}

static LLVMValueRef edges(Math m, LLVMValueRef x, LLVMValueRef y) {
  y = pick(m, less(m, x, __builtin_inf()), y, x);
  y = pick(m, less(m, x, 0), num(m, __builtin_nan("")), y);
  return pick(m, is_equal(m, x, 0), num(m, -__builtin_inf()), y);
}

static LLVMValueRef log_scaled(Math m, LLVMValueRef x, double unit, double high, double low) {
  LLVMValueRef e, l = mul(m, log_of_mantissa(m, x, &e), num(m, unit));
  return edges(m, x, mad(m, e, num(m, high), mad(m, e, num(m, low), l)));
}

LLVMValueRef double_log(Math m, LLVMValueRef x) { return log_scaled(m, x, 1, LN2_HIGH, LN2_LOW); }

LLVMValueRef float64_log(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return double_log(double_math(g, type), args[0]);
}

LLVMValueRef float64_log2(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return log_scaled(double_math(g, type), args[0], 1 / LN2, 1, 0);
}

LLVMValueRef float64_log10(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return log_scaled(double_math(g, type), args[0], 0.43429448190325182765, 0x1.3441350900000p-2,
                    0x1.ef3fde623e256p-35);
}

/* Of u = 1 + x as rounded, and what was rounded away. */
LLVMValueRef double_log1p(Math m, LLVMValueRef x) {
  LLVMValueRef u = add(m, x, num(m, 1)), lost = sub(m, x, sub(m, u, num(m, 1)));
  LLVMValueRef large = more(m, x, 0x1p53);
  LLVMValueRef y = add(m, double_log(m, u), quotient(m, lost, u));
  y = pick(m, large, double_log(m, x), y);
  y = pick(m, is_equal(m, u, 1), x, y);
  return pick(m, is_equal(m, x, -1), num(m, -__builtin_inf()), y);
}

LLVMValueRef float64_log1p(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return double_log1p(double_math(g, type), args[0]);
}

/* ---- powers ---- */

static LLVMValueRef is_whole(Math m, LLVMValueRef y) {
  LLVMValueRef cut = gen_overloaded(m.g, "llvm.trunc", LLVMTypeOf(y), 1, &y);
  return LLVMBuildFCmp(m.b, LLVMRealOEQ, cut, y, "");
}

LLVMValueRef float64_pow(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  LLVMValueRef x = args[0], y = args[1], size = magnitude(m, x);
  LLVMValueRef power = double_exp(m, mul(m, y, double_log(m, size)));
  power = pick(m, is_equal(m, size, 1), num(m, 1), power);
  LLVMValueRef whole = is_whole(m, y), halves = is_whole(m, mul(m, y, num(m, 0.5)));
  LLVMValueRef odd = LLVMBuildAnd(m.b, whole, LLVMBuildNot(m.b, halves, ""), "");
  LLVMValueRef signed_power = with_sign(m, power, x);
  power = pick(m, odd, signed_power, power);
  LLVMValueRef finite = less(m, size, __builtin_inf());
  LLVMValueRef no_root = LLVMBuildAnd(m.b, less(m, x, 0), LLVMBuildNot(m.b, whole, ""), "");
  power = pick(m, LLVMBuildAnd(m.b, no_root, finite, ""), num(m, __builtin_nan("")), power);
  return pick(m, is_equal(m, y, 0), num(m, 1), power);
}

/* ---- hyperbolic functions ---- */

/* e^x / 2: of large x by halves, since e^x may overflow. */
static LLVMValueRef half_exp(Math m, LLVMValueRef size) {
  LLVMValueRef e = double_exp(m, mul(m, size, num(m, 0.5)));
  return mul(m, mul(m, e, num(m, 0.5)), e);
}

static LLVMValueRef sinh_of(Math m, LLVMValueRef x) {
  LLVMValueRef size = magnitude(m, x), z = mul(m, x, x);
  LLVMValueRef p = POLY(m, z, 1.0, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880, 1.0 / 39916800,
                        1.0 / 6227020800, 1.0 / 1307674368000);
  LLVMValueRef h = half_exp(m, size);
  LLVMValueRef far = sub(m, h, quotient(m, num(m, 0.25), h));
  return pick(m, less(m, size, 0.5), mul(m, x, p), with_sign(m, far, x));
}

static LLVMValueRef cosh_of(Math m, LLVMValueRef x) {
  LLVMValueRef h = half_exp(m, magnitude(m, x));
  return add(m, h, quotient(m, num(m, 0.25), h));
}

LLVMValueRef float64_sinh(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return sinh_of(double_math(g, type), args[0]);
}

LLVMValueRef float64_cosh(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return cosh_of(double_math(g, type), args[0]);
}

LLVMValueRef float64_tanh(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  LLVMValueRef x = args[0], c = clamp(m, x, -30, 30); /* beyond: 1 */
  return keep_nan(m, x, quotient(m, sinh_of(m, c), cosh_of(m, c)));
}

LLVMValueRef float64_asinh(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  LLVMValueRef x = args[0], size = magnitude(m, x), z = mul(m, size, size);
  LLVMValueRef r = root(m, add(m, z, num(m, 1)));
  LLVMValueRef near = double_log1p(m, add(m, size, quotient(m, z, add(m, r, num(m, 1)))));
  LLVMValueRef far = add(m, double_log(m, size), num(m, LN2));
  return with_sign(m, pick(m, more(m, size, 0x1p28), far, near), x);
}

LLVMValueRef float64_acosh(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  LLVMValueRef x = args[0], t = sub(m, x, num(m, 1));
  LLVMValueRef r = root(m, mad(m, t, t, add(m, t, t)));
  LLVMValueRef far = add(m, double_log(m, x), num(m, LN2));
  LLVMValueRef y = pick(m, more(m, x, 0x1p28), far, double_log1p(m, add(m, t, r)));
  return pick(m, less(m, x, 1), num(m, __builtin_nan("")), y);
}

LLVMValueRef float64_atanh(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  LLVMValueRef size = magnitude(m, args[0]);
  LLVMValueRef ratio = quotient(m, add(m, size, size), sub(m, num(m, 1), size));
  return with_sign(m, mul(m, double_log1p(m, ratio), num(m, 0.5)), args[0]);
}

LLVMValueRef float64_hypot(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  LLVMValueRef a = magnitude(m, args[0]), b = magnitude(m, args[1]);
  LLVMValueRef swap = LLVMBuildFCmp(m.b, LLVMRealOGT, b, a, "");
  LLVMValueRef large = pick(m, swap, b, a), small = pick(m, swap, a, b);
  LLVMValueRef r = quotient(m, small, large);
  LLVMValueRef y = mul(m, large, root(m, mad(m, r, r, num(m, 1))));
  y = pick(m, is_equal(m, large, 0), small, y);
  LLVMValueRef infinite =
      LLVMBuildOr(m.b, is_equal(m, a, __builtin_inf()), is_equal(m, b, __builtin_inf()), "");
  return pick(m, infinite, num(m, __builtin_inf()), y);
}

/* ---- erf ---- */

/* Below 2 the series of Taylor, beyond the continued fraction of 1 - erf. */
LLVMValueRef float64_erf(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  enum { TERMS = 44, LEVELS = 40 };
  Math m = double_math(g, type);
  LLVMValueRef x = args[0], size = magnitude(m, x);
  LLVMValueRef c = clamp(m, size, 0, 6), z = mul(m, c, c);
  double terms[TERMS], factorial = 1;
  for (int n = 0; n < TERMS; n++, factorial *= n)
    terms[n] = (n % 2 ? -1 : 1) * 1.12837916709551257390 / (factorial * (2 * n + 1));
  LLVMValueRef near = mul(m, c, poly(m, z, terms, TERMS));
  LLVMValueRef d = c; /* x + (1/2) / (x + (2/2) / (x + (3/2) / ...)) */
  for (int n = LEVELS; n > 0; n--) d = add(m, c, quotient(m, num(m, n * 0.5), d));
  LLVMValueRef e = mul(m, double_exp(m, LLVMBuildFNeg(m.b, z, "")), num(m, 0.56418958354775628695));
  LLVMValueRef far = sub(m, num(m, 1), quotient(m, e, d));
  return keep_nan(m, x, with_sign(m, pick(m, less(m, c, 2), near, far), x));
}
