/* float32_trig.c -- sine and cosine of float32 as straight-line arithmetic.
 *
 * Every argument is reduced by the method of Payne and Hanek ("Radian reduction for trigonometric
 * functions", 1983): of the product of its mantissa and 2 / pi only the bits are computed that make
 * out the quadrant and what lies beyond it. So large arguments are as exact as small ones. */
#include "target/llvm/float32.h"

/* A word of zeros, and the first 224 bits of 2 / pi. */
static const uint32_t two_over_pi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                       0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
enum { WINDOWS = 5 }; /* of four words: the exponent says which one */

static LLVMValueRef wide(Math m, LLVMValueRef a) {
  return LLVMBuildZExt(m.b, a, type_of(m.g, math_in_double(m).word), "");
}
static LLVMValueRef narrow(Math m, LLVMValueRef a) {
  return LLVMBuildTrunc(m.b, a, type_of(m.g, m.word), "");
}

/* Words i and i + 1 of the bits of 2 / pi from bit `start` on, as one shifted by what start is
 * beyond a whole word. */
static LLVMValueRef window(Math m, LLVMValueRef start, int i) {
  LLVMValueRef which = shift_right(m, start, 5), v[2];
  for (int k = 0; k < 2; k++) {
    v[k] = word(m, two_over_pi[i + k]);
    for (int w = 1; w < WINDOWS; w++)
      v[k] = pick(m, is_word(m, which, w), word(m, two_over_pi[i + k + w]), v[k]);
  }
  LLVMValueRef args[] = {v[0], v[1], start};
  return gen_overloaded(m.g, "llvm.fshl", type_of(m.g, m.word), 3, args);
}

/* x * 2 / pi modulo 4, in units of 2^-62, for a finite x of at least pi / 4. */
static LLVMValueRef quarter_turns(Math m, LLVMValueRef size) {
  Math d = math_in_double(m);
  LLVMValueRef bits = bits_of(m, size);
  LLVMValueRef mantissa = LLVMBuildOr(m.b, bit_and(m, bits, 0x7fffff), word(m, 0x800000), "");
  LLVMValueRef start = minus(m, shift_right(m, bits, 23), word(m, 127 - 7));
  LLVMValueRef high = LLVMBuildMul(m.b, mantissa, window(m, start, 0), "");
  LLVMValueRef middle = LLVMBuildMul(m.b, wide(m, mantissa), wide(m, window(m, start, 1)), "");
  LLVMValueRef low = LLVMBuildMul(m.b, wide(m, mantissa), wide(m, window(m, start, 2)), "");
  return plus(d, plus(d, shift_left(d, wide(m, high), 32), middle), shift_right(d, low, 32));
}

/* The angle from the nearest multiple of pi / 2, and the number of that one modulo 4. pi / 2 is
 * taken in two parts, and the quarter turns in three, so that the greatest product is exact. */
static LLVMValueRef reduce(Math m, LLVMValueRef size, LLVMValueRef *quadrant) {
  LLVMValueRef turns = quarter_turns(m, size);
  LLVMValueRef low = narrow(m, turns), high = narrow(m, shift_right(math_in_double(m), turns, 32));
  high = plus(m, high, shift_right(m, low, 31)); /* low is taken with its sign */
  *quadrant = shift_right(m, plus(m, high, word(m, 1 << 29)), 30);
  high = minus(m, high, shift_left(m, *quadrant, 30));
  LLVMValueRef top = bit_and(m, plus(m, high, word(m, 1 << 17)), -(1 << 18));
  LLVMValueRef a = mul(m, float_of(m, top), num(m, 0x1p-30));
  LLVMValueRef b = mul(m, float_of(m, minus(m, high, top)), num(m, 0x1p-30));
  LLVMValueRef rest = mad(m, float_of(m, low), num(m, 0x1p-62), b);
  LLVMValueRef small = mul(m, a, num(m, -4.4544551033807687e-6));
  small =
      mad(m, rest, num(m, -4.37113900018624283e-8), small); /* what float32 pi / 2 is too large */
  small = mad(m, rest, num(m, 1.57079632679489662), small);
  return mad(m, a, num(m, 0x1.922p0), small);
}

/* sin(x + quarter * pi / 2) */
static LLVMValueRef sine(Gen *g, LLVMTypeRef type, LLVMValueRef x, int quarter) {
  Math m = math_of(g, type);
  LLVMValueRef size = magnitude(m, x), near = less(m, size, 0x1.921fb6p-1), quadrant;
  LLVMValueRef t = pick(m, near, size, reduce(m, size, &quadrant));
  quadrant = pick(m, near, word(m, 0), quadrant);
  if (quarter) quadrant = plus(m, quadrant, word(m, quarter));
  LLVMValueRef z = mul(m, t, t);
  LLVMValueRef p = POLY(m, z, -0.166666546059, 0.00833216052645, -0.000195152506062);
  LLVMValueRef s = mad(m, mul(m, t, z), p, t);
  LLVMValueRef q = POLY(m, z, 0.0416666456766, -0.00138873159355, 2.44331198771e-5);
  LLVMValueRef c = mad(m, mul(m, z, z), q, mad(m, z, num(m, -0.5), num(m, 1.0)));
  LLVMValueRef y = pick(m, is_word(m, bit_and(m, quadrant, 1), 0), s, c);
  LLVMValueRef sign = shift_left(m, bit_and(m, quadrant, 2), 30);
  if (!quarter) sign = LLVMBuildXor(m.b, sign, bit_and(m, bits_of(m, x), INT32_MIN), "");
  y = from_bits(m, LLVMBuildXor(m.b, bits_of(m, y), sign, ""));
  return pick(m, less(m, size, __builtin_inf()), y, sub(m, x, x));
}

LLVMValueRef float32_sin(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return sine(g, type, args[0], 0);
}

LLVMValueRef float32_cos(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return sine(g, type, args[0], 1);
}
