/* small_float.c -- bfloat16, floats of 8 bits and less and, where the machine has no conversions,
 * float16 as bits: to float32 and from it, rounded to nearest even.
 *
 * Both ways are branch-free, so that loops over them vectorize; target/small_float.h tells how. */
#include "target/llvm/codegen.h"
#include "target/small_float.h"

typedef struct Words {
  Gen *g;
  DataType u32, f32; /* with the lanes of the value */
} Words;

static Words words_of(Gen *g, DataType t) {
  return (Words){g, dtype_with_lanes(DTYPE_OF(UINT, 32), t.lanes),
                 dtype_with_lanes(FLOAT32, t.lanes)};
}

static LLVMValueRef word(Words w, uint32_t value) { return const_int(w.g, w.u32, value); }

static LLVMValueRef as_float(Words w, LLVMValueRef bits) {
  return LLVMBuildBitCast(w.g->b, bits, type_of(w.g, w.f32), "");
}

static LLVMValueRef as_bits(Words w, LLVMValueRef f) {
  return LLVMBuildBitCast(w.g->b, f, type_of(w.g, w.u32), "");
}

static LLVMValueRef above(Words w, LLVMValueRef a, uint32_t limit) {
  return LLVMBuildICmp(w.g->b, LLVMIntUGT, a, word(w, limit), "");
}

static LLVMValueRef widen_any(Words w, LLVMValueRef code, SmallFloat f) {
  LLVMBuilderRef b = w.g->b;
  LLVMValueRef sign = LLVMBuildAnd(b, code, word(w, f.sign), "");
  LLVMValueRef size = LLVMBuildAnd(b, code, word(w, f.size), "size");
  LLVMValueRef shifted = LLVMBuildShl(b, size, word(w, f.drop), "");
  LLVMValueRef scale = as_float(w, word(w, f.scale));
  LLVMValueRef value = as_bits(w, LLVMBuildFMul(b, as_float(w, shifted), scale, ""));
  /* Codes from the top exponent on, or the top code (e4m3fn), are infinite or NaN. */
  LLVMValueRef special = LLVMBuildOr(b, shifted, word(w, 0x7f800000), "");
  value = LLVMBuildSelect(b, above(w, size, f.last), special, value, "");
  if (f.zero_is_nan) {
    LLVMValueRef is_nan = LLVMBuildICmp(b, LLVMIntEQ, code, word(w, f.nan), "");
    value = LLVMBuildSelect(b, is_nan, word(w, 0x7fc00000), value, "");
  }
  sign = LLVMBuildShl(b, sign, word(w, f.up), "sign");
  return as_float(w, LLVMBuildOr(b, value, sign, ""));
}

/* ---- powers of two: 0 is 2^-127, a subnormal float32 ---- */

static LLVMValueRef widen_power(Words w, LLVMValueRef code) {
  LLVMBuilderRef b = w.g->b;
  LLVMValueRef bits = LLVMBuildShl(b, code, word(w, 23), "");
  LLVMValueRef is_least = LLVMBuildICmp(b, LLVMIntEQ, code, word(w, 0), "");
  bits = LLVMBuildSelect(b, is_least, word(w, 0x400000), bits, "");
  return as_float(w, LLVMBuildSelect(b, above(w, code, 254), word(w, 0x7fc00000), bits, ""));
}

/* Ties go up, to the even one of the numbers 1 and 2; below 2^-127 there is nothing. What is less
 * than 0 or too large is NaN. */
static LLVMValueRef narrow_power(Words w, LLVMValueRef bits) {
  LLVMBuilderRef b = w.g->b;
  LLVMValueRef code = LLVMBuildAdd(b, bits, word(w, 0x400000), "");
  code = LLVMBuildLShr(b, code, word(w, 23), "");
  LLVMValueRef is_least = LLVMBuildICmp(b, LLVMIntULT, bits, word(w, 0x600000), "");
  code = LLVMBuildSelect(b, is_least, word(w, 0), code, "");
  code = LLVMBuildSelect(b, above(w, bits, 0x7f800000), word(w, 255), code, "");
  LLVMValueRef minus_zero = LLVMBuildICmp(b, LLVMIntEQ, bits, word(w, 0x80000000), "");
  return LLVMBuildSelect(b, minus_zero, word(w, 0), code, "");
}

LLVMValueRef small_float_widen(Gen *g, LLVMValueRef bits, DataType t) {
  Words w = words_of(g, t);
  LLVMValueRef code = LLVMBuildZExt(g->b, bits, type_of(g, w.u32), "");
  if (t.code == DTYPE_BFLOAT) return as_float(w, LLVMBuildShl(g->b, code, word(w, 16), ""));
  SmallFloat f = small_float_of(t);
  return f.is_power ? widen_power(w, code) : widen_any(w, code, f);
}

/* The bits of |x|, rounded to the format's mantissa and moved down: as if there were no smallest
 * exponent. */
static LLVMValueRef round_normal(Words w, LLVMValueRef size, SmallFloat f) {
  LLVMBuilderRef b = w.g->b;
  LLVMValueRef drop = word(w, f.drop);
  LLVMValueRef odd = LLVMBuildAnd(b, LLVMBuildLShr(b, size, drop, ""), word(w, 1), "odd");
  LLVMValueRef rounded = LLVMBuildAdd(b, LLVMBuildAdd(b, size, word(w, f.half), ""), odd, "");
  return LLVMBuildSub(b, LLVMBuildLShr(b, rounded, drop, ""), word(w, f.rebias), "normal");
}

/* |x| + 2^k with k such that the last bit of the sum is the format's smallest subnormal. */
static LLVMValueRef round_subnormal(Words w, LLVMValueRef size, SmallFloat f) {
  LLVMValueRef magic = word(w, f.magic);
  LLVMValueRef sum = LLVMBuildFAdd(w.g->b, as_float(w, size), as_float(w, magic), "");
  return LLVMBuildSub(w.g->b, as_bits(w, sum), magic, "subnormal");
}

static LLVMValueRef narrow_size(Words w, LLVMValueRef size, DataType t, SmallFloat f) {
  LLVMBuilderRef b = w.g->b;
  LLVMValueRef code = round_normal(w, size, f);
  LLVMValueRef is_nan = above(w, size, 0x7f800000);
  if (t.code == DTYPE_BFLOAT) return LLVMBuildSelect(b, is_nan, word(w, f.nan), code, "");
  LLVMValueRef small = LLVMBuildICmp(b, LLVMIntULT, size, word(w, f.normal), "");
  code = LLVMBuildSelect(b, small, round_subnormal(w, size, f), code, "");
  code = LLVMBuildSelect(b, above(w, code, f.last), word(w, f.over), code, "");
  return LLVMBuildSelect(b, is_nan, word(w, f.nan), code, "");
}

LLVMValueRef small_float_narrow(Gen *g, LLVMValueRef f32, DataType t) {
  Words w = words_of(g, t);
  SmallFloat f = small_float_of(t);
  LLVMBuilderRef b = g->b;
  LLVMValueRef bits = as_bits(w, f32);
  LLVMValueRef sign =
      LLVMBuildAnd(b, LLVMBuildLShr(b, bits, word(w, f.up), ""), word(w, f.sign), "sign");
  LLVMValueRef size = LLVMBuildAnd(b, bits, word(w, 0x7fffffff), "size");
  LLVMValueRef code = f.is_power ? narrow_power(w, bits) : narrow_size(w, size, t, f);
  if (f.zero_is_nan) {
    LLVMValueRef is_zero = LLVMBuildICmp(b, LLVMIntEQ, code, word(w, 0), "");
    sign = LLVMBuildSelect(b, is_zero, word(w, 0), sign, "");
  }
  code = LLVMBuildOr(b, code, sign, "");
  DataType out = {DTYPE_UINT, t.bits < 8 ? 8 : t.bits, t.lanes};
  return LLVMBuildTrunc(b, code, type_of(g, out), "");
}
