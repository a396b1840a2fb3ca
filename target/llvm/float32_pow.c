/* float32_pow.c -- powers of float32 as straight-line arithmetic.
 *
 * The logarithm of the base is multiplied by up to 150 before it becomes an exponent, so it needs 8
 * bits more than a float32 has: the way from logarithm to power is computed in double. */
#include "target/llvm/float32.h"

static LLVMValueRef to_double(Math m, LLVMValueRef x) {
  return LLVMBuildFPExt(m.b, x, type_of(m.g, math_in_double(m).t), "");
}

/* log2 of a positive finite number, in double: of its mantissa by the series of atanh. */
static LLVMValueRef log2_of(Math m, LLVMValueRef x) {
  Math d = math_in_double(m);
  LLVMValueRef e, mantissa = to_double(m, float32_mantissa(m, x, &e));
  LLVMValueRef one = num(d, 1.0);
  LLVMValueRef s = quotient(d, sub(d, mantissa, one), add(d, mantissa, one));
  LLVMValueRef p = POLY(d, mul(d, s, s), 2.88539008179008629, 0.961796673341681977,
                        0.577083584976405733, 0.411672718714383551, 0.340730107406234729);
  return mad(d, s, p, float_of(d, e));
}

/* Adding it leaves the nearest integer in the low bits of the sum. */
#define ROUNDER 0x1.8p52

/* 2^z of a double, as a float32; NaN stays. */
static LLVMValueRef exp2_of(Math m, LLVMValueRef z) {
  Math d = math_in_double(m);
  z = clamp(d, z, -160.0, 130.0);
  LLVMValueRef rounded = add(d, z, num(d, ROUNDER));
  LLVMValueRef r = sub(d, z, sub(d, rounded, num(d, ROUNDER)));
  LLVMValueRef p = POLY(d, r, 1.00000000055504802, 0.693147205767071421, 0.240226468860902521,
                        0.0555032871193974786, 0.00961848924370845438, 0.00133999575870043363,
                        0.000153457891093737786);
  LLVMValueRef power = shift_left(d, plus(d, bits_of(d, rounded), word(d, 1023)), 52);
  return LLVMBuildFPTrunc(m.b, mul(d, p, from_bits(d, power)), type_of(m.g, m.t), "");
}

static LLVMValueRef whole(Math m, LLVMValueRef y) {
  LLVMValueRef cut = gen_overloaded(m.g, "llvm.trunc", LLVMTypeOf(y), 1, &y);
  return LLVMBuildFCmp(m.b, LLVMRealOEQ, cut, y, "");
}

/* The sign, and the cases of C's pow that no logarithm tells. */
LLVMValueRef float32_pow(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = math_of(g, type);
  LLVMValueRef x = args[0], y = args[1], size = magnitude(m, x);
  Math d = math_in_double(m);
  LLVMValueRef finite = less(m, size, __builtin_inf()), l = log2_of(m, size);
  l = pick(m, finite, l, to_double(m, size)); /* of infinity and NaN */
  l = pick(m, is_equal(m, size, 0.0), num(d, -__builtin_inf()), l);
  LLVMValueRef power = exp2_of(m, mul(d, l, to_double(m, y)));
  power = pick(m, is_equal(m, size, 1.0), num(m, 1.0), power); /* 1^inf; 1^NaN */

  LLVMValueRef is_whole = whole(m, y), half = mul(m, y, num(m, 0.5));
  LLVMValueRef is_odd = LLVMBuildAnd(m.b, is_whole, LLVMBuildNot(m.b, whole(m, half), ""), "");
  LLVMValueRef sign = bit_and(m, bits_of(m, x), INT32_MIN);
  sign = pick(m, is_odd, sign, word(m, 0));
  power = from_bits(m, LLVMBuildOr(m.b, bits_of(m, power), sign, ""));

  LLVMValueRef no_root = LLVMBuildAnd(m.b, less(m, x, 0.0), LLVMBuildNot(m.b, is_whole, ""), "");
  no_root = LLVMBuildAnd(m.b, no_root, finite, "");
  power = pick(m, no_root, num(m, __builtin_nan("")), power);
  return pick(m, is_equal(m, y, 0.0), num(m, 1.0), power);
}
