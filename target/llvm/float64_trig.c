/* float64_trig.c -- functions of angles of float64 as straight-line arithmetic, for devices; and
 * the remainder of a division.
 *
 * Angles are reduced by three parts of pi / 2, which fused multiply-adds do exactly up to 2^52; of
 * larger ones, whose neighbours are whole turns apart, the result is some number that can be one.
 */
#include "target/llvm/float64.h"

#define PI     3.14159265358979323846
#define PI_2   1.57079632679489661923
#define PI_2_1 0x1.921fb54442d18p+0
#define PI_2_2 0x1.1a62633145c07p-54
#define PI_2_3 -0x1.f1976b7ed8fbcp-110

typedef struct Turn {
  LLVMValueRef sine, cosine, quadrant;
} Turn;

static Turn turned(Math m, LLVMValueRef x) {
  LLVMValueRef n = mul(m, x, num(m, 1 / PI_2));
  n = gen_overloaded(m.g, "llvm.roundeven", LLVMTypeOf(n), 1, &n);
  LLVMValueRef r = mad(m, n, num(m, -PI_2_1), x);
  r = mad(m, n, num(m, -PI_2_3), mad(m, n, num(m, -PI_2_2), r));
  r = clamp(m, r, -PI_2 / 2, PI_2 / 2);
  LLVMValueRef z = mul(m, r, r);
  LLVMValueRef s = POLY(m, z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                        1.0 / 6227020800, -1.0 / 1307674368000);
  LLVMValueRef c = POLY(m, z, -0.5, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800,
                        1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000);
  LLVMValueRef small = clamp(m, n, -0x1p62, 0x1p62);
  return (Turn){mad(m, mul(m, r, z), s, r), mad(m, z, c, num(m, 1)),
                LLVMBuildFPToSI(m.b, small, type_of(m.g, m.word), "")};
}

static LLVMValueRef sine(Math m, const Turn *t, int quarters) {
  LLVMValueRef q = plus(m, t->quadrant, word(m, quarters));
  LLVMValueRef even = is_word(m, bit_and(m, q, 1), 0);
  LLVMValueRef y = pick(m, even, t->sine, t->cosine);
  LLVMValueRef sign = shift_left(m, bit_and(m, q, 2), 62);
  return from_bits(m, LLVMBuildXor(m.b, bits_of(m, y), sign, ""));
}

/* Infinite angles have no sine. */
static LLVMValueRef of_finite(Math m, LLVMValueRef x, LLVMValueRef y) {
  return pick(m, less(m, magnitude(m, x), __builtin_inf()), y, sub(m, x, x));
}

LLVMValueRef float64_sin(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  Turn t = turned(m, args[0]);
  LLVMValueRef y = pick(m, is_equal(m, args[0], 0), args[0], sine(m, &t, 0)); /* of -0 too */
  return of_finite(m, args[0], y);
}

LLVMValueRef float64_cos(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  Turn t = turned(m, args[0]);
  return of_finite(m, args[0], sine(m, &t, 1));
}

LLVMValueRef float64_tan(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  Turn t = turned(m, args[0]);
  LLVMValueRef y = quotient(m, sine(m, &t, 0), sine(m, &t, 1));
  return of_finite(m, args[0], pick(m, is_equal(m, args[0], 0), args[0], y));
}

/* ---- their inverses ---- */

/* Of a number that is not negative: by its inverse beyond 1, then by the tangent of a difference
 * from pi / 4 beyond tan(pi / 8). */
static LLVMValueRef atan_of(Math m, LLVMValueRef size) {
  enum { TERMS = 21 };
  double terms[TERMS];
  for (int n = 0; n < TERMS; n++) terms[n] = (n % 2 ? -1.0 : 1.0) / (2 * n + 1);
  LLVMValueRef one = num(m, 1), large = more(m, size, 1);
  LLVMValueRef x = pick(m, large, quotient(m, one, size), size), near = more(m, x, 0.41421356);
  LLVMValueRef d = quotient(m, sub(m, x, one), add(m, x, one));
  LLVMValueRef t = pick(m, near, d, x);
  LLVMValueRef y = mul(m, t, poly(m, mul(m, t, t), terms, TERMS));
  y = pick(m, near, add(m, y, num(m, PI_2 / 2)), y);
  return pick(m, large, sub(m, num(m, PI_2), y), y);
}

LLVMValueRef float64_atan(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  return with_sign(m, atan_of(m, magnitude(m, args[0])), args[0]);
}

/* sqrt((1 - x) / (1 + x)): the tangent of half of the angle whose cosine is x. */
static LLVMValueRef half_tangent(Math m, LLVMValueRef x) {
  LLVMValueRef r = quotient(m, sub(m, num(m, 1), x), add(m, num(m, 1), x));
  return gen_overloaded(m.g, "llvm.sqrt", LLVMTypeOf(r), 1, &r);
}

LLVMValueRef float64_acos(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  return mul(m, num(m, 2), atan_of(m, half_tangent(m, args[0])));
}

LLVMValueRef float64_asin(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  LLVMValueRef x = args[0], size = magnitude(m, x), one = num(m, 1);
  LLVMValueRef c = mul(m, sub(m, one, size), add(m, one, size));
  c = gen_overloaded(m.g, "llvm.sqrt", LLVMTypeOf(c), 1, &c);
  return with_sign(m, atan_of(m, quotient(m, size, c)), x);
}

LLVMValueRef float64_atan2(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = double_math(g, type);
  LLVMValueRef y = magnitude(m, args[0]), x = magnitude(m, args[1]);
  LLVMValueRef same = LLVMBuildFCmp(m.b, LLVMRealOEQ, x, y, ""); /* both 0, both infinite */
  LLVMValueRef ratio = pick(m, same, num(m, 1), quotient(m, y, x));
  ratio = pick(m, is_equal(m, y, 0), y, ratio);
  LLVMValueRef is_nan = LLVMBuildFCmp(m.b, LLVMRealUNO, x, y, "");
  LLVMValueRef angle = pick(m, is_nan, add(m, x, y), atan_of(m, ratio));
  LLVMValueRef sign = bit_and(m, bits_of(m, args[1]), INT64_MIN);
  angle = pick(m, is_word(m, sign, 0), angle, sub(m, num(m, PI), angle));
  return with_sign(m, angle, args[0]);
}
