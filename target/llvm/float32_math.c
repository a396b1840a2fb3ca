/* float32_math.c -- exponentials, logarithms, tanh and erf of float32 as straight-line arithmetic,
 * so that loops over them vectorize.
 *
 * Each is a reduction of the argument to a small interval and a minimax polynomial there (computed
 * for this file by Remez exchange, weighted by the result, so the error is relative). Errors, over
 * all of float32 and with fused multiply-adds or without, are below 2 units in the last place:
 * `make math` measures them. Infinities, NaN and subnormals come out as from libm. */
#include "target/llvm/float32.h"

/* ---- exponentials ---- */

/* Adding it leaves the nearest integer in the low bits of the sum. */
#define ROUNDER      0x1.8p23
#define ROUNDER_BITS 0x4b400000

/* 2^n for n in the exponent's range. */
static LLVMValueRef power_of_two(Math m, LLVMValueRef n) {
  LLVMValueRef biased = LLVMBuildAdd(m.b, n, word(m, 127), "");
  return from_bits(m, LLVMBuildShl(m.b, biased, word(m, 23), ""));
}

/* One instruction does it for a whole register of AVX-512, with the same result. */
static bool has_scalef(Math m) {
  return m.t.lanes == 16 && m.t.bits == 32 && target_has(m.g->target, "avx512f", (Span){0});
}

static LLVMValueRef scalef(Math m, LLVMValueRef y, LLVMValueRef rounded) {
  enum { AS_THE_REGISTER_SAYS = 4 };
  static const char name[] = "llvm.x86.avx512.mask.scalef.ps.512";
  unsigned id = LLVMLookupIntrinsicID(name, sizeof name - 1);
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(m.g->out, id, NULL, 0);
  LLVMValueRef all = LLVMConstAllOnes(type_int(m.g, 16));
  LLVMValueRef args[] = {y, sub(m, rounded, num(m, ROUNDER)), y, all,
                         const_i32(m.g, AS_THE_REGISTER_SAYS)};
  return LLVMBuildCall2(m.b, LLVMGlobalGetValueType(fn), fn, args, 5, "");
}

/* y * 2^n, n being rounded by adding ROUNDER; in two steps: either may leave the range that the
 * other brings it back to. */
static LLVMValueRef scale(Math m, LLVMValueRef y, LLVMValueRef rounded) {
  if (has_scalef(m)) return scalef(m, y, rounded);
  LLVMValueRef n = minus(m, bits_of(m, rounded), word(m, ROUNDER_BITS));
  LLVMValueRef half = LLVMBuildAShr(m.b, n, word(m, 1), "");
  LLVMValueRef rest = LLVMBuildSub(m.b, n, half, "");
  return mul(m, mul(m, y, power_of_two(m, half)), power_of_two(m, rest));
}

/* e^r * 2^n for a small r; n was rounded by adding ROUNDER. */
static LLVMValueRef exp_of_reduced(Math m, LLVMValueRef r, LLVMValueRef rounded) {
  LLVMValueRef p = POLY(m, r, 0.499999934476, 0.166665206313, 0.0416683880787, 0.00836871691635,
                        0.00138145972371);
  LLVMValueRef y = add(m, mad(m, p, mul(m, r, r), r), num(m, 1.0));
  return scale(m, y, rounded);
}

static LLVMValueRef exp_of(Math m, LLVMValueRef x) {
  x = clamp(m, x, -104.0, 89.0); /* beyond: 0 and infinity */
  LLVMValueRef rounded = mad(m, x, num(m, 0x1.715476p0), num(m, ROUNDER));
  LLVMValueRef n = sub(m, rounded, num(m, ROUNDER));
  /* ln 2 in two parts; the first has few bits, so n times it is exact. */
  LLVMValueRef r = mad(m, n, num(m, -0.693359375), x);
  r = mad(m, n, num(m, 2.12194440054690583e-4), r);
  return exp_of_reduced(m, r, rounded);
}

LLVMValueRef float32_exp10(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = math_of(g, type);
  LLVMValueRef x = args[0];
  x = clamp(m, x, -46.0, 39.0);
  LLVMValueRef rounded = mad(m, x, num(m, 0x1.a934fp1), num(m, ROUNDER));
  LLVMValueRef n = sub(m, rounded, num(m, ROUNDER));
  LLVMValueRef r = mad(m, n, num(m, -0x1.344p-2), x); /* log10(2) in two parts */
  r = mad(m, n, num(m, -4.6050389811952137e-6), r);
  return exp_of_reduced(m, mul(m, r, num(m, 2.30258509299404568)), rounded);
}

/* 2^(x - n) for the nearest n, which is rounded by adding ROUNDER. */
static LLVMValueRef exp2_of_rest(Math m, LLVMValueRef x, LLVMValueRef rounded) {
  LLVMValueRef r = sub(m, x, sub(m, rounded, num(m, ROUNDER)));
  LLVMValueRef p = POLY(m, r, 0.693147202881, 0.240226479103, 0.0555033240971, 0.00961843760671,
                        0.00133989001714, 0.000153533410176);
  return mad(m, p, r, num(m, 1.0));
}

static LLVMValueRef exp2_of(Math m, LLVMValueRef x) {
  x = clamp(m, x, -151.0, 129.0);
  LLVMValueRef rounded = add(m, x, num(m, ROUNDER));
  return scale(m, exp2_of_rest(m, x, rounded), rounded);
}

/* Of each lane by itself. */
static LLVMValueRef by_lanes(Math m, const char *intrinsic, LLVMValueRef x) {
  if (m.t.lanes == 1) return gen_intrinsic(m.g, intrinsic, 1, &x);
  LLVMValueRef out = LLVMGetPoison(LLVMTypeOf(x));
  for (int i = 0; i < m.t.lanes; i++) {
    LLVMValueRef index = const_i32(m.g, i), lane = LLVMBuildExtractElement(m.b, x, index, "");
    lane = gen_intrinsic(m.g, intrinsic, 1, &lane);
    out = LLVMBuildInsertElement(m.b, out, lane, index, "");
  }
  return out;
}

/* By an instruction of NVIDIA's GPUs, which is right to 2^-22 of the result; subnormal: 0. */
static LLVMValueRef exp2_of_device(Math m, LLVMValueRef x) {
  return by_lanes(m, "llvm.nvvm.ex2.approx.ftz.f", x);
}

/* 2^x for -100 < x < 1, where no step leaves the range of normal numbers. */
static LLVMValueRef exp2_of_small(Math m, LLVMValueRef x) {
  if (m.g->is_device) return exp2_of_device(m, x);
  LLVMValueRef rounded = add(m, x, num(m, ROUNDER)), y = exp2_of_rest(m, x, rounded);
  if (has_scalef(m)) return scalef(m, y, rounded);
  LLVMValueRef n = minus(m, bits_of(m, rounded), word(m, ROUNDER_BITS));
  return mul(m, y, power_of_two(m, n));
}

LLVMValueRef float32_exp(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return exp_of(math_of(g, type), args[0]);
}

LLVMValueRef float32_exp2(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return exp2_of(math_of(g, type), args[0]);
}

/* By q = e^-|x| / (1 + e^-|x|), which never overflows: of a positive x it is 1 - q. */
LLVMValueRef float32_sigmoid(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = math_of(g, type);
  LLVMValueRef x = args[0];
  LLVMValueRef e = exp_of(m, LLVMBuildFNeg(m.b, magnitude(m, x), ""));
  LLVMValueRef part = quotient(m, e, add(m, e, num(m, 1.0)));
  LLVMValueRef q = mad(m, LLVMBuildFNeg(m.b, e, ""), part, e);
  return pick(m, more(m, x, 0.0), sub(m, num(m, 1.0), q), q);
}

/* ---- logarithms ---- */

#define SQRT_HALF_BITS 0x3f3504f3

LLVMValueRef float32_mantissa(Math m, LLVMValueRef x, LLVMValueRef *exponent) {
  LLVMValueRef tiny = less(m, x, 0x1p-126); /* subnormals have no exponent of their own */
  x = pick(m, tiny, mul(m, x, num(m, 0x1p23)), x);
  LLVMValueRef bits = bits_of(m, x);
  LLVMValueRef above = minus(m, bits, word(m, SQRT_HALF_BITS));
  LLVMValueRef e = LLVMBuildAShr(m.b, above, word(m, 23), "");
  *exponent = minus(m, e, pick(m, tiny, word(m, 23), word(m, 0)));
  return from_bits(m, minus(m, bits, shift_left(m, e, 23)));
}

LogParts float32_log_parts(Math m, LLVMValueRef x) {
  LLVMValueRef e, f = sub(m, float32_mantissa(m, x, &e), num(m, 1.0)), square = mul(m, f, f);
  LLVMValueRef p =
      POLY(m, f, 0.333333126043, -0.250000095983, 0.200021186426, -0.166679959049, 0.142195527325,
           -0.124055882416, 0.11888158847, -0.116756545708, 0.0674665152336);
  return (LogParts){float_of(m, e), f, square, mul(m, mul(m, f, square), p)};
}

/* What a logarithm of x is where x is not positive and finite. */
static LLVMValueRef log_edges(Math m, LLVMValueRef x, LLVMValueRef y) {
  y = pick(m, less(m, x, __builtin_inf()), y, x); /* infinity and NaN are their own logarithms */
  y = pick(m, less(m, x, 0.0), num(m, __builtin_nan("")), y);
  return pick(m, is_equal(m, x, 0.0), num(m, -__builtin_inf()), y);
}

/* log(x), to which a small number is added before it is rounded. */
static LLVMValueRef log_of(Math m, LLVMValueRef x, LLVMValueRef more_of_it) {
  LogParts l = float32_log_parts(m, x);
  LLVMValueRef y = mad(m, l.exponent, num(m, -2.12194440054690583e-4), l.rest);
  if (more_of_it) y = add(m, y, more_of_it);
  y = mad(m, l.square, num(m, -0.5), y);
  return log_edges(m, x, mad(m, l.exponent, num(m, 0.693359375), add(m, l.f, y)));
}

LLVMValueRef float32_log(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return log_of(math_of(g, type), args[0], NULL);
}

/* log(x) * k + exponent * c, with k and c in two parts: the products of the first ones, which have
 * 12 bits, are exact. */
static LLVMValueRef log_times(Math m, LLVMValueRef x, double k, double k_rest, double c,
                              double c_rest) {
  LogParts l = float32_log_parts(m, x);
  LLVMValueRef half = mul(m, l.square, num(m, 0.5)), sum = sub(m, l.f, half);
  LLVMValueRef high = from_bits(m, bit_and(m, bits_of(m, sum), -0x1000));
  LLVMValueRef low = add(m, sub(m, sub(m, l.f, high), half), l.rest);
  LLVMValueRef small = mul(m, add(m, low, high), num(m, k_rest));
  small = mad(m, low, num(m, k), small);
  if (c_rest != 0) small = mad(m, l.exponent, num(m, c_rest), small);
  LLVMValueRef y = mad(m, high, num(m, k), small);
  return log_edges(m, x, mad(m, l.exponent, num(m, c), y));
}

LLVMValueRef float32_log2(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return log_times(math_of(g, type), args[0], 0x1.716p0, -1.7605286103659264e-4, 1.0, 0.0);
}

LLVMValueRef float32_log10(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  return log_times(math_of(g, type), args[0], 0x1.bccp-2, -3.1689971748172349e-5, 0x1.344p-2,
                   4.6050389811952137e-6);
}

/* log(u) for u = 1 + x as rounded, and what was rounded away: log(u + c) is log(u) + c / u. */
LLVMValueRef float32_log1p(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = math_of(g, type);
  LLVMValueRef x = args[0];
  LLVMValueRef one = num(m, 1.0), u = add(m, x, one);
  LLVMValueRef lost =
      pick(m, more(m, x, 1.0), sub(m, one, sub(m, u, x)), sub(m, x, sub(m, u, one)));
  LLVMValueRef y = log_of(m, u, quotient(m, lost, u));
  y = pick(m, is_equal(m, u, 1.0), x, y);
  y = pick(m, is_equal(m, x, -1.0), num(m, -__builtin_inf()), y);
  return pick(m, less(m, x, __builtin_inf()), y, x);
}

/* ---- tanh and erf: odd functions, a polynomial near 0 and an exponential from there on ---- */

LLVMValueRef float32_tanh(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = math_of(g, type);
  LLVMValueRef x = args[0];
  LLVMValueRef size = magnitude(m, x), square = mul(m, x, x);
  LLVMValueRef p = POLY(m, square, -0.333333308027, 0.13333206008, -0.0539467630173,
                        0.0217007030019, -0.00817739775357, 0.00214296144633);
  LLVMValueRef near = mad(m, mul(m, x, square), p, x);
  LLVMValueRef e = exp_of(m, add(m, size, size));
  LLVMValueRef tail = quotient(m, num(m, 2.0), add(m, e, num(m, 1.0)));
  LLVMValueRef far = sub(m, num(m, 1.0), tail);
  return with_sign(m, pick(m, less(m, size, 0.625), near, far), x); /* of -0 too */
}

/* The smaller one; of NaN it may be the bound. */
static LLVMValueRef at_most(Math m, LLVMValueRef x, double bound) {
  LLVMValueRef args[] = {x, num(m, bound)};
  if (m.g->is_device) return gen_overloaded(m.g, "llvm.minnum", LLVMTypeOf(x), 2, args);
  return pick(m, more(m, x, bound), args[1], x);
}

/* From 1 on: 1 - 2^R(|x|), where R approximates the binary logarithm of 1 - erf. Of 2^R, which is
 * 0.16 at most, the first 21 bits are enough. */
LLVMValueRef float32_erf(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = math_of(g, type);
  LLVMValueRef x = args[0];
  LLVMValueRef size = magnitude(m, x), square = mul(m, x, x);
  LLVMValueRef p = POLY(m, square, 0.128379165727, -0.376126258242, 0.112835851485, -0.026853811931,
                        0.00518832767868, -0.000801019356926, 7.8538611801e-5);
  LLVMValueRef near = mad(m, x, p, x);
  LLVMValueRef r =
      POLY(m, at_most(m, size, 4.0), -0.000492738188589, -1.6260458849, -0.920648552618,
           -0.148751458613, 0.0315055975174, -0.00425255483097, 0.000268886597333);
  LLVMValueRef far = bits_of(m, sub(m, num(m, 1.0), exp2_of_small(m, r)));
  LLVMValueRef sign = bit_and(m, bits_of(m, x), INT32_MIN);
  far = from_bits(m, LLVMBuildOr(m.b, far, sign, ""));
  return pick(m, LLVMBuildFCmp(m.b, LLVMRealOGE, size, num(m, 1.0), ""), far, near);
}

/* 0.5 + 0.5 * erf(x), for devices: from e = 2^Q(|x|), which is half of 1 - erf(|x|), in half as
 * many steps as by erf. Of large negative x, where the sum would cancel, it is nearer to the exact
 * value. */
LLVMValueRef float32_half_of_erf(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  Math m = math_of(g, type);
  LLVMValueRef x = args[0];
  LLVMValueRef q = POLY(m, magnitude(m, x), -1.0, -1.6279093663, -0.918406635933, -0.148510499716,
                        0.028241990481, -0.000605002068927, -0.00177347239967, 0.000655731154368,
                        -0.000120891941179, 1.18444397957e-5, -4.88288512925e-7);
  LLVMValueRef e = exp2_of_device(m, q);
  return pick(m, less(m, x, 0.0), e, sub(m, num(m, 1.0), e));
}
