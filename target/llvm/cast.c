/* cast.c -- conversions between dtypes, and between memory and registers. */
#include "target/llvm/codegen.h"

LLVMValueRef gen_splat(Gen *g, LLVMValueRef scalar, int lanes) {
  if (lanes == 1) return scalar;
  LLVMTypeRef vector = LLVMVectorType(LLVMTypeOf(scalar), (unsigned)lanes);
  LLVMValueRef one =
      LLVMBuildInsertElement(g->b, LLVMGetPoison(vector), scalar, const_i32(g, 0), "");
  LLVMValueRef mask = LLVMConstNull(LLVMVectorType(type_int(g, 32), (unsigned)lanes));
  return LLVMBuildShuffleVector(g->b, one, LLVMGetPoison(vector), mask, "splat");
}

LLVMValueRef gen_from_memory(Gen *g, LLVMValueRef v, DataType t) {
  if (dtype_is_bool(t)) return gen_to_bool(g, v, dtype_with_lanes(UINT8, t.lanes));
  if (dtype_is_int(t) && t.bits < 8) return LLVMBuildTrunc(g->b, v, type_of(g, t), "");
  return v;
}

LLVMValueRef gen_to_memory(Gen *g, LLVMValueRef v, DataType t) {
  LLVMTypeRef type = type_in_memory(g, t);
  if (dtype_is_int(t) && t.bits < 8)
    return t.code == DTYPE_INT ? LLVMBuildSExt(g->b, v, type, "")
                               : LLVMBuildZExt(g->b, v, type, "");
  return dtype_is_bool(t) ? LLVMBuildZExt(g->b, v, type, "") : v;
}

static LLVMTypeRef half_bits(Gen *g, DataType t) {
  return type_of(g, dtype_with_lanes(DTYPE_OF(UINT, 16), t.lanes));
}

LLVMValueRef gen_widen(Gen *g, LLVMValueRef v, DataType t) {
  if (!lowered_is_small_float(t)) return v;
  if (t.code != DTYPE_FLOAT) return small_float_widen(g, v, t);
  if (!g->half_by_bits) return LLVMBuildFPExt(g->b, v, type_of(g, type_compute(t)), "");
  return small_float_widen(g, LLVMBuildBitCast(g->b, v, half_bits(g, t), ""), t);
}

LLVMValueRef gen_narrow(Gen *g, LLVMValueRef v, DataType t) {
  if (!lowered_is_small_float(t)) return v;
  bool is_half = t.code == DTYPE_FLOAT; /* LLVM makes sums of float16 of what is widened for them */
  if (!is_half && gen_device_narrows(g, t)) return gen_device_narrow(g, v, t);
  if (!is_half) return small_float_narrow(g, v, t);
  if (!g->half_by_bits) return LLVMBuildFPTrunc(g->b, v, type_of(g, t), "");
  return LLVMBuildBitCast(g->b, small_float_narrow(g, v, t), type_of(g, t), "");
}

LLVMValueRef gen_to_bool(Gen *g, LLVMValueRef v, DataType from) {
  if (dtype_is_bool(from)) return v;
  v = gen_widen(g, v, from);
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(v));
  if (dtype_is_float(from)) return LLVMBuildFCmp(g->b, LLVMRealUNE, v, zero, "");
  return LLVMBuildICmp(g->b, LLVMIntNE, v, zero, "");
}

static bool is_signed(DataType t) { return t.code == DTYPE_INT; }

/* A double as a float32 that rounds to any smaller format as the double itself would: towards zero
 * where that is inexact, with the last bit set ("round to odd"). */
static LLVMValueRef round_to_odd(Gen *g, LLVMValueRef v, DataType from) {
  DataType u32 = dtype_with_lanes(DTYPE_OF(UINT, 32), from.lanes);
  LLVMTypeRef f32 = type_of(g, dtype_with_lanes(FLOAT32, from.lanes));
  LLVMTypeRef word = type_of(g, u32);
  LLVMValueRef near = LLVMBuildFPTrunc(g->b, v, f32, "");
  LLVMValueRef back = LLVMBuildFPExt(g->b, near, LLVMTypeOf(v), "");
  LLVMValueRef size_back = gen_overloaded(g, "llvm.fabs", LLVMTypeOf(v), 1, &back);
  LLVMValueRef size = gen_overloaded(g, "llvm.fabs", LLVMTypeOf(v), 1, &v);
  LLVMValueRef outward = LLVMBuildFCmp(g->b, LLVMRealOGT, size_back, size, "");
  LLVMValueRef inexact = LLVMBuildFCmp(g->b, LLVMRealONE, back, v, "");
  LLVMValueRef bits = LLVMBuildBitCast(g->b, near, word, "");
  bits = LLVMBuildSub(g->b, bits, LLVMBuildZExt(g->b, outward, word, ""), "");
  bits = LLVMBuildOr(g->b, bits, LLVMBuildZExt(g->b, inexact, word, ""), "");
  return LLVMBuildBitCast(g->b, bits, f32, "");
}

static LLVMValueRef float_to_float(Gen *g, LLVMValueRef v, DataType from, DataType to) {
  if (lowered_is_small_float(to)) {
    v = from.bits == 64 ? round_to_odd(g, v, from) : gen_widen(g, v, from);
    return gen_device_narrows(g, to) ? gen_device_narrow(g, v, to) : gen_narrow(g, v, to);
  }
  v = gen_widen(g, v, from);
  LLVMTypeRef type = type_of(g, to);
  if (LLVMTypeOf(v) == type) return v;
  return to.bits == 64 ? LLVMBuildFPExt(g->b, v, type, "") : LLVMBuildFPTrunc(g->b, v, type, "");
}

static LLVMValueRef int_to_float(Gen *g, LLVMValueRef v, DataType from, DataType to) {
  DataType through = to;
  if (lowered_is_small_float(to))
    through =
        dtype_with_lanes(from.bits > 16 && to.code != DTYPE_FLOAT ? FLOAT64 : FLOAT32, to.lanes);
  LLVMTypeRef type = type_of(g, through);
  v = is_signed(from) ? LLVMBuildSIToFP(g->b, v, type, "") : LLVMBuildUIToFP(g->b, v, type, "");
  return float_to_float(g, v, through, to);
}

/* The nearest number in reach, NaN as 0, by operations that vectors have: LLVM takes vectors apart
 * for its own intrinsic. Up to 16 bits, both ends are floats. */
static LLVMValueRef float_to_short(Gen *g, LLVMValueRef v, DataType float_, DataType to) {
  DataType scalar = dtype_element(to), word = dtype_with_lanes(INT32, to.lanes);
  LLVMValueRef low = const_float(g, float_, (double)dtype_min_int(scalar)),
               high = const_float(g, float_, (double)dtype_max_int(scalar));
  LLVMValueRef above = LLVMBuildFCmp(g->b, LLVMRealOGT, v, low, "");
  LLVMValueRef x = LLVMBuildSelect(g->b, above, v, low, "");
  LLVMValueRef below = LLVMBuildFCmp(g->b, LLVMRealOLT, x, high, "");
  x = LLVMBuildSelect(g->b, below, x, high, "");
  x = LLVMBuildFPToSI(g->b, x, type_of(g, word), "");
  if (is_signed(to)) { /* what is unsigned has 0 at its low end */
    LLVMValueRef is_nan = LLVMBuildFCmp(g->b, LLVMRealUNO, v, v, "");
    x = LLVMBuildSelect(g->b, is_nan, const_int(g, word, 0), x, "");
  }
  return LLVMBuildTrunc(g->b, x, type_of(g, to), "");
}

static LLVMValueRef float_to_int(Gen *g, LLVMValueRef v, DataType from, DataType to) {
  v = gen_widen(g, v, from);
  if (to.bits <= 16) return float_to_short(g, v, type_compute(from), to);
  LLVMTypeRef types[] = {type_of(g, to), LLVMTypeOf(v)};
  const char *name = is_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->out, id, types, 2);
  return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, &v, 1, "");
}

static LLVMValueRef int_to_int(Gen *g, LLVMValueRef v, DataType from, DataType to) {
  LLVMTypeRef type = type_of(g, to);
  int width = dtype_is_bool(from) ? 1 : from.bits;
  if (width == to.bits) return v;
  if (width > to.bits) return LLVMBuildTrunc(g->b, v, type, "");
  return is_signed(from) ? LLVMBuildSExt(g->b, v, type, "") : LLVMBuildZExt(g->b, v, type, "");
}

static LLVMValueRef cast_handle(Gen *g, LLVMValueRef v, DataType from, DataType to) {
  DataType word = dtype_with_lanes(INT64, from.lanes);
  if (dtype_is_handle(to)) {
    v = gen_cast(g, v, from, word);
    return LLVMBuildIntToPtr(g->b, v, type_of(g, to), "");
  }
  v = LLVMBuildPtrToInt(g->b, v, type_of(g, word), "");
  return gen_cast(g, v, word, to);
}

LLVMValueRef gen_cast(Gen *g, LLVMValueRef v, DataType from, DataType to) {
  if (from.lanes == 1 && to.lanes > 1) {
    v = gen_splat(g, v, to.lanes);
    from.lanes = to.lanes;
  }
  REQUIRE(from.lanes == to.lanes, "a cast from %s to %s", dtype_text(from), dtype_text(to));
  if (dtype_equal(from, to) || dtype_is_void(to)) return v;
  if (dtype_is_bool(to)) return gen_to_bool(g, v, from);
  if (dtype_is_handle(from) || dtype_is_handle(to)) return cast_handle(g, v, from, to);
  if (dtype_is_float(from))
    return dtype_is_float(to) ? float_to_float(g, v, from, to) : float_to_int(g, v, from, to);
  return dtype_is_float(to) ? int_to_float(g, v, from, to) : int_to_int(g, v, from, to);
}
