/* float32.h -- arithmetic on values of one type, for the functions of float32 (float32_*.c).
 *
 * None of these operations may be reassociated: adding and taking away a large number rounds. */
#ifndef TARGET_LLVM_FLOAT32_H
#define TARGET_LLVM_FLOAT32_H

#include "target/llvm/codegen.h"

/* The values all have one type: float, or a vector of floats. */
typedef struct Math {
  Gen *g;
  LLVMBuilderRef b;
  DataType t, word; /* float32 and int32 with its lanes; or float64 and int64 */
} Math;

static inline Math math_of(Gen *g, LLVMTypeRef type) {
  bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  int lanes = is_vector ? (int)LLVMGetVectorSize(type) : 1;
  return (Math){g, g->b, dtype_with_lanes(FLOAT32, lanes), dtype_with_lanes(INT32, lanes)};
}
/* The same lanes in double. */
static inline Math math_in_double(Math m) {
  return (Math){m.g, m.b, dtype_with_lanes(FLOAT64, m.t.lanes), dtype_with_lanes(INT64, m.t.lanes)};
}

static inline LLVMValueRef num(Math m, double value) { return const_float(m.g, m.t, value); }
static inline LLVMValueRef word(Math m, int64_t value) { return const_int(m.g, m.word, value); }

static inline LLVMValueRef add(Math m, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFAdd(m.b, a, b, "");
}
static inline LLVMValueRef sub(Math m, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFSub(m.b, a, b, "");
}
static inline LLVMValueRef mul(Math m, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFMul(m.b, a, b, "");
}
static inline LLVMValueRef quotient(Math m, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFDiv(m.b, a, b, "");
}

/* a * b + c, fused where the processor can. */
static inline LLVMValueRef mad(Math m, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  return gen_overloaded(m.g, "llvm.fmuladd", LLVMTypeOf(a), 3, (LLVMValueRef[]){a, b, c});
}

static inline LLVMValueRef magnitude(Math m, LLVMValueRef x) {
  return gen_overloaded(m.g, "llvm.fabs", LLVMTypeOf(x), 1, &x);
}

static inline LLVMValueRef with_sign(Math m, LLVMValueRef size, LLVMValueRef sign) {
  return gen_overloaded(m.g, "llvm.copysign", LLVMTypeOf(size), 2, (LLVMValueRef[]){size, sign});
}

static inline LLVMValueRef pick(Math m, LLVMValueRef cond, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildSelect(m.b, cond, a, b, "");
}

static inline LLVMValueRef less(Math m, LLVMValueRef a, double b) {
  return LLVMBuildFCmp(m.b, LLVMRealOLT, a, num(m, b), "");
}

static inline LLVMValueRef more(Math m, LLVMValueRef a, double b) {
  return LLVMBuildFCmp(m.b, LLVMRealOGT, a, num(m, b), "");
}

/* Into [lo, hi]; NaN stays. */
static inline LLVMValueRef clamp(Math m, LLVMValueRef x, double lo, double hi) {
  x = pick(m, less(m, x, lo), num(m, lo), x);
  return pick(m, more(m, x, hi), num(m, hi), x);
}

static inline LLVMValueRef bits_of(Math m, LLVMValueRef x) {
  return LLVMBuildBitCast(m.b, x, type_of(m.g, m.word), "");
}

static inline LLVMValueRef from_bits(Math m, LLVMValueRef bits) {
  return LLVMBuildBitCast(m.b, bits, type_of(m.g, m.t), "");
}

/* Coefficients from the lowest power on. */
#define POLY(m, x, ...)                                                                            \
  poly(m, x, (const double[]){__VA_ARGS__}, sizeof(const double[]){__VA_ARGS__} / sizeof(double))

static inline LLVMValueRef poly(Math m, LLVMValueRef x, const double *c, size_t n) {
  LLVMValueRef sum = num(m, c[n - 1]);
  for (size_t i = n - 1; i-- > 0;) sum = mad(m, sum, x, num(m, c[i]));
  return sum;
}

/* Of words. */
static inline LLVMValueRef bit_and(Math m, LLVMValueRef a, int64_t mask) {
  return LLVMBuildAnd(m.b, a, word(m, mask), "");
}
static inline LLVMValueRef plus(Math m, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildAdd(m.b, a, b, "");
}
static inline LLVMValueRef minus(Math m, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildSub(m.b, a, b, "");
}
static inline LLVMValueRef shift_left(Math m, LLVMValueRef a, int bits) {
  return LLVMBuildShl(m.b, a, word(m, bits), "");
}
static inline LLVMValueRef shift_right(Math m, LLVMValueRef a, int bits) {
  return LLVMBuildLShr(m.b, a, word(m, bits), "");
}
static inline LLVMValueRef float_of(Math m, LLVMValueRef a) {
  return LLVMBuildSIToFP(m.b, a, type_of(m.g, m.t), "");
}
static inline LLVMValueRef is_equal(Math m, LLVMValueRef a, double b) {
  return LLVMBuildFCmp(m.b, LLVMRealOEQ, a, num(m, b), "");
}
static inline LLVMValueRef is_word(Math m, LLVMValueRef a, int64_t b) {
  return LLVMBuildICmp(m.b, LLVMIntEQ, a, word(m, b), "");
}

/* The parts of log(x) of a positive finite number x = 2^exponent * (1 + f), with 1 + f between
 * sqrt(1/2) and sqrt(2): log(1 + f) = f - square / 2 + rest. */
typedef struct LogParts {
  LLVMValueRef exponent, f, square, rest;
} LogParts;
LogParts float32_log_parts(Math m, LLVMValueRef x);
/* x = 2^exponent * mantissa as said above; the exponent is a word. */
LLVMValueRef float32_mantissa(Math m, LLVMValueRef x, LLVMValueRef *exponent);

#endif
