/* types.c -- dtypes as LLVM types, and constants of them. */
#include "target/llvm/codegen.h"
#include "target/small_float.h"
#include <llvm-c/Target.h>

LLVMTypeRef type_int(Gen *g, unsigned bits) { return LLVMIntTypeInContext(g->context, bits); }

static unsigned pointer_bytes(Gen *g) { return LLVMPointerSize(LLVMGetModuleDataLayout(g->out)); }

LLVMTypeRef type_size(Gen *g) { return type_int(g, pointer_bytes(g) * 8); }

void type_check_stored(Gen *g, DataType t, Span span) {
  type_check(t, span);
  if (dtype_is_handle(t) && pointer_bytes(g) != 8)
    error_raisef("CompileError", span, "a buffer of pointers needs a machine of 64 bits");
}

LLVMTypeRef type_ptr(Gen *g) { return LLVMPointerTypeInContext(g->context, 0); }

void type_check(DataType t, Span span) {
  if (t.lanes < 1)
    error_raisef("CompileError", span, "%s: the llvm target has no scalable vectors",
                 dtype_text(t));
  if (dtype_is_custom(t) || (dtype_is_mini_float(t) && !small_float_known(t)))
    error_raisef("CompileError", span, "the llvm target has no %s", dtype_text(t));
}

LLVMTypeRef type_lanes(LLVMTypeRef scalar, DataType t) {
  type_check(t, (Span){0});
  return t.lanes == 1 ? scalar : LLVMVectorType(scalar, (unsigned)t.lanes);
}

DataType type_compute(DataType t) {
  return lowered_is_small_float(t) ? dtype_with_lanes(FLOAT32, t.lanes) : t;
}

static LLVMTypeRef scalar_type(Gen *g, DataType t) {
  type_check(t, (Span){0});
  switch ((DTypeCode)t.code) {
  case DTYPE_INT:
  case DTYPE_UINT: return type_int(g, t.bits);
  case DTYPE_BOOL: return type_int(g, 1);
  case DTYPE_HANDLE: return type_ptr(g);
  case DTYPE_BFLOAT: return type_int(g, 16);
  case DTYPE_FLOAT:
    return t.bits == 16   ? LLVMHalfTypeInContext(g->context)
           : t.bits == 32 ? LLVMFloatTypeInContext(g->context)
                          : LLVMDoubleTypeInContext(g->context);
  case DTYPE_VOID: return LLVMVoidTypeInContext(g->context);
  default:
    if (dtype_is_mini_float(t)) return type_int(g, 8);
    break;
  }
  BUG("no LLVM type for %s", dtype_text(t));
}

LLVMTypeRef type_of(Gen *g, DataType t) { return type_lanes(scalar_type(g, t), t); }

static bool is_stored_as_byte(DataType t) {
  return dtype_is_bool(t) || (dtype_is_int(t) && t.bits < 8);
}

LLVMTypeRef type_in_memory(Gen *g, DataType t) {
  return is_stored_as_byte(t) ? type_lanes(type_int(g, 8), t) : type_of(g, t);
}

static LLVMValueRef const_splat(LLVMValueRef scalar, int lanes) {
  if (lanes == 1) return scalar;
  LLVMValueRef *all = NEW_ARRAY(LLVMValueRef, lanes);
  for (int i = 0; i < lanes; i++) all[i] = scalar;
  return LLVMConstVector(all, (unsigned)lanes);
}

LLVMValueRef const_int(Gen *g, DataType t, int64_t value) {
  if (dtype_is_float(t)) return const_float(g, t, (double)value);
  return const_splat(LLVMConstInt(scalar_type(g, t), (uint64_t)value, true), t.lanes);
}

LLVMValueRef const_float(Gen *g, DataType t, double value) {
  DataType scalar = dtype_element(t);
  LLVMTypeRef type = scalar_type(g, scalar);
  bool as_bits = lowered_is_small_float(t) && t.code != DTYPE_FLOAT;
  LLVMValueRef one = as_bits ? LLVMConstInt(type, dtype_float_to_bits(scalar, value), false)
                             : LLVMConstReal(type, value);
  return const_splat(one, t.lanes);
}

LLVMValueRef const_i32(Gen *g, int64_t value) {
  return LLVMConstInt(type_int(g, 32), (uint64_t)value, true);
}

LLVMValueRef const_i64(Gen *g, int64_t value) {
  return LLVMConstInt(type_int(g, 64), (uint64_t)value, true);
}

LLVMValueRef const_text(Gen *g, const char *text) {
  const char *key = str_intern(text);
  LLVMValueRef old = map_get(&g->strings, key);
  if (old) return old;
  LLVMValueRef bytes = LLVMConstStringInContext2(g->context, text, strlen(text), false);
  LLVMValueRef global = LLVMAddGlobal(g->out, LLVMTypeOf(bytes), "text");
  LLVMSetInitializer(global, bytes);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
  map_set(&g->strings, key, global);
  return global;
}
