/* atomic.c -- atomic operations on memory, of GPUs and of the CPUs that simulate them:
 * T.cuda.atomic_add and T.cuda.atomic_cas, and CUDA's functions by T.call_extern. */
#include "target/llvm/codegen.h"
#include "target/atomic.h"

static LLVMAtomicRMWBinOp operation(AtomicOp op, DataType t) {
  bool is_float = dtype_is_float(t), is_signed = t.code == DTYPE_INT;
  switch (op) {
  case ATOMIC_ADD: return is_float ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd;
  case ATOMIC_SUB: return is_float ? LLVMAtomicRMWBinOpFSub : LLVMAtomicRMWBinOpSub;
  case ATOMIC_AND: return LLVMAtomicRMWBinOpAnd;
  case ATOMIC_OR: return LLVMAtomicRMWBinOpOr;
  case ATOMIC_XOR: return LLVMAtomicRMWBinOpXor;
  case ATOMIC_MAX:
    return is_float    ? LLVMAtomicRMWBinOpFMax
           : is_signed ? LLVMAtomicRMWBinOpMax
                       : LLVMAtomicRMWBinOpUMax;
  case ATOMIC_MIN:
    return is_float    ? LLVMAtomicRMWBinOpFMin
           : is_signed ? LLVMAtomicRMWBinOpMin
                       : LLVMAtomicRMWBinOpUMin;
  default: return LLVMAtomicRMWBinOpXchg;
  }
}

static LLVMValueRef swap(Gen *g, DataType t, LLVMValueRef at, LLVMValueRef expected,
                         LLVMValueRef value) {
  LLVMTypeRef word = type_of(g, DTYPE_OF(UINT, t.bits));
  expected = LLVMBuildBitCast(g->b, expected, word, "");
  value = LLVMBuildBitCast(g->b, value, word, "");
  LLVMValueRef pair = LLVMBuildAtomicCmpXchg(g->b, at, expected, value, LLVMAtomicOrderingMonotonic,
                                             LLVMAtomicOrderingMonotonic, false);
  return LLVMBuildBitCast(g->b, LLVMBuildExtractValue(g->b, pair, 0, ""), type_of(g, t), "");
}

LLVMValueRef gen_atomic(Gen *g, Call *n) {
  Atomic a;
  if (!atomic_of(n, &a)) return NULL;
  DataType t = a.value->dtype;
  atomic_check(n, &a);
  LLVMValueRef at = gen_expr(g, a.pointer), value = gen_expr(g, a.value), old;
  if (a.op == ATOMIC_CAS)
    old = swap(g, t, at, value, gen_cast(g, gen_expr(g, a.swapped), a.swapped->dtype, t));
  else
    old =
        LLVMBuildAtomicRMW(g->b, operation(a.op, t), at, value, LLVMAtomicOrderingMonotonic, false);
  return gen_cast(g, old, t, n->node.dtype);
}
