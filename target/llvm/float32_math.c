/* float32_math.c -- functions of float32 as straight-line arithmetic, so that loops over them
 * vectorize.
 *
 * Each is a reduction of the argument to a small interval and a minimax polynomial there (computed
 * for this file by Remez exchange, weighted by the result, so the error is relative). Measured
 * errors, in units in the last place, with fused multiply-adds or without: exp 1.0, exp2 1.2, log
 * 0.9, log1p 1.8, tanh 1.3, erf 1.5, sigmoid 2.5. Infinities, NaN and subnormals come out as from
 * libm.
 *
 * None of these operations may be reassociated: adding and taking away a large number rounds. */
#include "target/llvm/codegen.h"

/* The values all have one type: float, or a vector of floats. */
typedef struct Math {
  Gen *g;
  LLVMBuilderRef b;
  DataType t, word; /* float32 and int32 with its lanes */
} Math;

static Math math_of(Gen *g, LLVMTypeRef type) {
  bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  int lanes = is_vector ? (int)LLVMGetVectorSize(type) : 1;
  return (Math){g, g->b, dtype_with_lanes(FLOAT32, lanes), dtype_with_lanes(INT32, lanes)};
}

static LLVMValueRef num(Math m, double value) { return const_float(m.g, m.t, value); }
static LLVMValueRef word(Math m, int64_t value) { return const_int(m.g, m.word, value); }

static LLVMValueRef add(Math m, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFAdd(m.b, a, b, "");
}
static LLVMValueRef sub(Math m, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFSub(m.b, a, b, "");
}
static LLVMValueRef mul(Math m, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFMul(m.b, a, b, "");
}
static LLVMValueRef quotient(Math m, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFDiv(m.b, a, b, "");
}

/* a * b + c, fused where the processor can. */
static LLVMValueRef mad(Math m, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  return gen_overloaded(m.g, "llvm.fmuladd", LLVMTypeOf(a), 3, (LLVMValueRef[]){a, b, c});
}

static LLVMValueRef magnitude(Math m, LLVMValueRef x) {
  return gen_overloaded(m.g, "llvm.fabs", LLVMTypeOf(x), 1, &x);
}

static LLVMValueRef with_sign(Math m, LLVMValueRef size, LLVMValueRef sign) {
  return gen_overloaded(m.g, "llvm.copysign", LLVMTypeOf(size), 2, (LLVMValueRef[]){size, sign});
}

static LLVMValueRef pick(Math m, LLVMValueRef cond, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildSelect(m.b, cond, a, b, "");
}

static LLVMValueRef less(Math m, LLVMValueRef a, double b) {
  return LLVMBuildFCmp(m.b, LLVMRealOLT, a, num(m, b), "");
}

static LLVMValueRef more(Math m, LLVMValueRef a, double b) {
  return LLVMBuildFCmp(m.b, LLVMRealOGT, a, num(m, b), "");
}

/* Into [lo, hi]; NaN stays. */
static LLVMValueRef clamp(Math m, LLVMValueRef x, double lo, double hi) {
  x = pick(m, less(m, x, lo), num(m, lo), x);
  return pick(m, more(m, x, hi), num(m, hi), x);
}

static LLVMValueRef bits_of(Math m, LLVMValueRef x) {
  return LLVMBuildBitCast(m.b, x, type_of(m.g, m.word), "");
}

static LLVMValueRef from_bits(Math m, LLVMValueRef bits) {
  return LLVMBuildBitCast(m.b, bits, type_of(m.g, m.t), "");
}

/* Coefficients from the lowest power on. */
#define POLY(m, x, ...)                                                                            \
  poly(m, x, (const double[]){__VA_ARGS__}, sizeof(const double[]){__VA_ARGS__} / sizeof(double))

static LLVMValueRef poly(Math m, LLVMValueRef x, const double *c, size_t n) {
  LLVMValueRef sum = num(m, c[n - 1]);
  for (size_t i = n - 1; i-- > 0;) sum = mad(m, sum, x, num(m, c[i]));
  return sum;
}

/* ---- exponentials ---- */

/* Adding it leaves the nearest integer in the low bits of the sum. */
#define ROUNDER      0x1.8p23
#define ROUNDER_BITS 0x4b400000

/* 2^n for n in the exponent's range. */
static LLVMValueRef power_of_two(Math m, LLVMValueRef n) {
  LLVMValueRef biased = LLVMBuildAdd(m.b, n, word(m, 127), "");
  return from_bits(m, LLVMBuildShl(m.b, biased, word(m, 23), ""));
}

/* y * 2^n, in two steps: either may leave the range that the other brings it back to. */
static LLVMValueRef scale(Math m, LLVMValueRef y, LLVMValueRef n) {
  LLVMValueRef half = LLVMBuildAShr(m.b, n, word(m, 1), "");
  LLVMValueRef rest = LLVMBuildSub(m.b, n, half, "");
  return mul(m, mul(m, y, power_of_two(m, half)), power_of_two(m, rest));
}

static LLVMValueRef exp_of(Math m, LLVMValueRef x) {
  x = clamp(m, x, -104.0, 89.0); /* beyond: 0 and infinity */
  LLVMValueRef shifted = mad(m, x, num(m, 0x1.715476p0), num(m, ROUNDER));
  LLVMValueRef n = sub(m, shifted, num(m, ROUNDER));
  /* ln 2 in two parts; the first has few bits, so n times it is exact. */
  LLVMValueRef r = mad(m, n, num(m, -0.693359375), x);
  r = mad(m, n, num(m, 2.12194440054690583e-4), r);
  LLVMValueRef p = POLY(m, r, 0.499999934476, 0.166665206313, 0.0416683880787, 0.00836871691635,
                        0.00138145972371);
  LLVMValueRef y = add(m, mad(m, p, mul(m, r, r), r), num(m, 1.0));
  return scale(m, y, LLVMBuildSub(m.b, bits_of(m, shifted), word(m, ROUNDER_BITS), ""));
}

static LLVMValueRef exp2_of(Math m, LLVMValueRef x) {
  x = clamp(m, x, -151.0, 129.0);
  LLVMValueRef shifted = add(m, x, num(m, ROUNDER));
  LLVMValueRef r = sub(m, x, sub(m, shifted, num(m, ROUNDER)));
  LLVMValueRef p = POLY(m, r, 0.693147202881, 0.240226479103, 0.0555033240971, 0.00961843760671,
                        0.00133989001714, 0.000153533410176);
  LLVMValueRef y = mad(m, p, r, num(m, 1.0));
  return scale(m, y, LLVMBuildSub(m.b, bits_of(m, shifted), word(m, ROUNDER_BITS), ""));
}

LLVMValueRef float32_exp(Gen *g, LLVMTypeRef type, LLVMValueRef x) {
  return exp_of(math_of(g, type), x);
}

LLVMValueRef float32_exp2(Gen *g, LLVMTypeRef type, LLVMValueRef x) {
  return exp2_of(math_of(g, type), x);
}

LLVMValueRef float32_sigmoid(Gen *g, LLVMTypeRef type, LLVMValueRef x) {
  Math m = math_of(g, type);
  LLVMValueRef e = exp_of(m, LLVMBuildFNeg(m.b, x, ""));
  return quotient(m, num(m, 1.0), add(m, num(m, 1.0), e));
}

/* ---- logarithms ---- */

#define SQRT_HALF_BITS 0x3f3504f3

/* log of a positive finite number: x = 2^e * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)). */
static LLVMValueRef log_of_positive(Math m, LLVMValueRef x) {
  LLVMValueRef tiny = less(m, x, 0x1p-126); /* subnormals have no exponent of their own */
  x = pick(m, tiny, mul(m, x, num(m, 0x1p23)), x);
  LLVMValueRef bits = bits_of(m, x);
  LLVMValueRef above = LLVMBuildSub(m.b, bits, word(m, SQRT_HALF_BITS), "");
  LLVMValueRef e = LLVMBuildAShr(m.b, above, word(m, 23), "");
  LLVMValueRef mantissa = LLVMBuildSub(m.b, bits, LLVMBuildShl(m.b, e, word(m, 23), ""), "");
  e = LLVMBuildSub(m.b, e, pick(m, tiny, word(m, 23), word(m, 0)), "");
  LLVMValueRef exponent = LLVMBuildSIToFP(m.b, e, type_of(m.g, m.t), "");
  LLVMValueRef f = sub(m, from_bits(m, mantissa), num(m, 1.0)), square = mul(m, f, f);
  LLVMValueRef p =
      POLY(m, f, 0.333333126043, -0.250000095983, 0.200021186426, -0.166679959049, 0.142195527325,
           -0.124055882416, 0.11888158847, -0.116756545708, 0.0674665152336);
  LLVMValueRef y = mul(m, mul(m, f, square), p);
  y = mad(m, exponent, num(m, -2.12194440054690583e-4), y);
  y = mad(m, square, num(m, -0.5), y);
  return mad(m, exponent, num(m, 0.693359375), add(m, f, y));
}

static LLVMValueRef log_of(Math m, LLVMValueRef x) {
  LLVMValueRef zero = num(m, 0.0), y = log_of_positive(m, x);
  y = pick(m, less(m, x, __builtin_inf()), y, x); /* infinity and NaN are their own logarithms */
  y = pick(m, less(m, x, 0.0), num(m, __builtin_nan("")), y);
  LLVMValueRef is_zero = LLVMBuildFCmp(m.b, LLVMRealOEQ, x, zero, "");
  return pick(m, is_zero, num(m, -__builtin_inf()), y);
}

LLVMValueRef float32_log(Gen *g, LLVMTypeRef type, LLVMValueRef x) {
  return log_of(math_of(g, type), x);
}

/* log(u) for u = 1 + x as rounded, corrected by how far x and u - 1 differ. */
LLVMValueRef float32_log1p(Gen *g, LLVMTypeRef type, LLVMValueRef x) {
  Math m = math_of(g, type);
  LLVMValueRef u = add(m, x, num(m, 1.0));
  LLVMValueRef y = mul(m, log_of(m, u), quotient(m, x, sub(m, u, num(m, 1.0))));
  LLVMValueRef is_one = LLVMBuildFCmp(m.b, LLVMRealOEQ, u, num(m, 1.0), "");
  y = pick(m, is_one, x, y);
  return pick(m, less(m, x, __builtin_inf()), y, x);
}

/* ---- tanh and erf: odd functions, a polynomial near 0 and an exponential from there on ---- */

LLVMValueRef float32_tanh(Gen *g, LLVMTypeRef type, LLVMValueRef x) {
  Math m = math_of(g, type);
  LLVMValueRef size = magnitude(m, x), square = mul(m, x, x);
  LLVMValueRef p = POLY(m, square, -0.333333308027, 0.13333206008, -0.0539467630173,
                        0.0217007030019, -0.00817739775357, 0.00214296144633);
  LLVMValueRef near = mad(m, mul(m, x, square), p, x);
  LLVMValueRef e = exp_of(m, add(m, size, size));
  LLVMValueRef tail = quotient(m, num(m, 2.0), add(m, e, num(m, 1.0)));
  LLVMValueRef far = with_sign(m, sub(m, num(m, 1.0), tail), x);
  return pick(m, less(m, size, 0.625), near, far);
}

/* From 1 on: 1 - 2^R(|x|), where R approximates the binary logarithm of 1 - erf. */
LLVMValueRef float32_erf(Gen *g, LLVMTypeRef type, LLVMValueRef x) {
  Math m = math_of(g, type);
  LLVMValueRef size = magnitude(m, x), square = mul(m, x, x);
  LLVMValueRef p = POLY(m, square, 0.128379165727, -0.376126258242, 0.112835851485, -0.026853811931,
                        0.00518832767868, -0.000801019356926, 7.8538611801e-5);
  LLVMValueRef near = mad(m, x, p, x);
  LLVMValueRef capped = pick(m, more(m, size, 4.0), num(m, 4.0), size);
  LLVMValueRef r = POLY(m, capped, -0.000492738188589, -1.6260458849, -0.920648552618,
                        -0.148751458613, 0.0315055975174, -0.00425255483097, 0.000268886597333);
  LLVMValueRef far = with_sign(m, sub(m, num(m, 1.0), exp2_of(m, r)), x);
  return pick(m, less(m, size, 1.0), near, far);
}
