/* small_float.c -- bfloat16 and float8 as bits: to float32 and from it, rounded to nearest even.
 *
 * Both ways are branch-free, so that loops over them vectorize. A small float's bits, shifted to
 * where float32 has its mantissa, are a float32 that is too small by a power of two; a product
 * corrects that, subnormals included. Narrowing adds the rounding to the bits; where the result is
 * subnormal, a float32 addition of a large enough power of two rounds instead. */
#include "target/llvm/codegen.h"

typedef struct Format {
  int mantissa, bias;
  bool has_infinity; /* else the topmost code alone is NaN */
} Format;

static Format format_of(DataType t) {
  switch ((DTypeCode)t.code) {
  case DTYPE_BFLOAT: return (Format){7, 127, true};
  case DTYPE_FLOAT8_E4M3: return (Format){3, 7, false};
  case DTYPE_FLOAT8_E5M2: return (Format){2, 15, true};
  default: BUG("%s has no format", dtype_text(t));
  }
}

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

static LLVMValueRef widen_float8(Words w, LLVMValueRef code, Format f) {
  LLVMBuilderRef b = w.g->b;
  LLVMValueRef sign =
      LLVMBuildShl(b, LLVMBuildAnd(b, code, word(w, 0x80), ""), word(w, 24), "sign");
  LLVMValueRef size = LLVMBuildAnd(b, code, word(w, 0x7f), "size");
  LLVMValueRef shifted = LLVMBuildShl(b, size, word(w, (uint32_t)(23 - f.mantissa)), "");
  LLVMValueRef scale = as_float(w, word(w, (uint32_t)(127 + 127 - f.bias) << 23));
  LLVMValueRef value = as_bits(w, LLVMBuildFMul(b, as_float(w, shifted), scale, ""));
  /* Codes from the top exponent on (e5m2), or the top code (e4m3fn), are infinite or NaN. */
  uint32_t last_finite = f.has_infinity ? 0x7b : 0x7e;
  LLVMValueRef special = LLVMBuildOr(b, shifted, word(w, 0x7f800000), "");
  value = LLVMBuildSelect(b, above(w, size, last_finite), special, value, "");
  return as_float(w, LLVMBuildOr(b, value, sign, ""));
}

LLVMValueRef small_float_widen(Gen *g, LLVMValueRef bits, DataType t) {
  Words w = words_of(g, t);
  LLVMValueRef code = LLVMBuildZExt(g->b, bits, type_of(g, w.u32), "");
  if (t.code == DTYPE_BFLOAT) return as_float(w, LLVMBuildShl(g->b, code, word(w, 16), ""));
  return widen_float8(w, code, format_of(t));
}

/* The bits of |x|, rounded to the format's mantissa and moved down: as if there were no smallest
 * exponent. */
static LLVMValueRef round_normal(Words w, LLVMValueRef size, Format f) {
  LLVMBuilderRef b = w.g->b;
  uint32_t drop = (uint32_t)(23 - f.mantissa);
  LLVMValueRef odd = LLVMBuildAnd(b, LLVMBuildLShr(b, size, word(w, drop), ""), word(w, 1), "odd");
  LLVMValueRef half = word(w, (1u << (drop - 1)) - 1);
  LLVMValueRef rounded = LLVMBuildAdd(b, LLVMBuildAdd(b, size, half, ""), odd, "");
  uint32_t rebias = (uint32_t)(127 - f.bias) << f.mantissa;
  return LLVMBuildSub(b, LLVMBuildLShr(b, rounded, word(w, drop), ""), word(w, rebias), "normal");
}

/* |x| + 2^k with k such that the last bit of the sum is the format's smallest subnormal. */
static LLVMValueRef round_subnormal(Words w, LLVMValueRef size, Format f) {
  uint32_t magic = (uint32_t)(127 - f.bias + 23 - f.mantissa + 1) << 23;
  LLVMValueRef sum = LLVMBuildFAdd(w.g->b, as_float(w, size), as_float(w, word(w, magic)), "");
  return LLVMBuildSub(w.g->b, as_bits(w, sum), word(w, magic), "subnormal");
}

static LLVMValueRef narrow_size(Words w, LLVMValueRef size, DataType t, Format f) {
  LLVMBuilderRef b = w.g->b;
  LLVMValueRef normal = round_normal(w, size, f);
  if (t.code == DTYPE_BFLOAT) {
    LLVMValueRef quiet = word(w, 0x7fc0);
    return LLVMBuildSelect(b, above(w, size, 0x7f800000), quiet, normal, "");
  }
  uint32_t smallest_normal = (uint32_t)(127 - f.bias + 1) << 23;
  LLVMValueRef small = LLVMBuildICmp(b, LLVMIntULT, size, word(w, smallest_normal), "");
  LLVMValueRef code = LLVMBuildSelect(b, small, round_subnormal(w, size, f), normal, "");
  uint32_t nan = dtype_float_to_bits(dtype_element(t), __builtin_nan("")) & 0x7f;
  uint32_t overflow = f.has_infinity ? 0x7c : nan;
  uint32_t last_finite = f.has_infinity ? 0x7b : 0x7e;
  code = LLVMBuildSelect(b, above(w, code, last_finite), word(w, overflow), code, "");
  return LLVMBuildSelect(b, above(w, size, 0x7f800000), word(w, nan), code, "");
}

LLVMValueRef small_float_narrow(Gen *g, LLVMValueRef f32, DataType t) {
  Words w = words_of(g, t);
  LLVMValueRef bits = as_bits(w, f32);
  LLVMValueRef sign = LLVMBuildLShr(g->b, LLVMBuildAnd(g->b, bits, word(w, 0x80000000), ""),
                                    word(w, 32u - t.bits), "sign");
  LLVMValueRef size = LLVMBuildAnd(g->b, bits, word(w, 0x7fffffff), "size");
  LLVMValueRef code = LLVMBuildOr(g->b, narrow_size(w, size, t, format_of(t)), sign, "");
  return LLVMBuildTrunc(g->b, code, type_of(g, t), "");
}
