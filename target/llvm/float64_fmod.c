/* float64_fmod.c -- the remainder of a division, exactly, for devices: the divisor times the
 * largest power of two that fits is taken away until the rest is smaller; a loop for each lane. */
#include "target/llvm/float64.h"

/* The exponent of a positive number, of subnormals too. */
static LLVMValueRef exponent(Math m, LLVMValueRef x) {
  LLVMValueRef tiny = less(m, x, 0x1p-1022);
  LLVMValueRef bits = bits_of(m, pick(m, tiny, mul(m, x, num(m, 0x1p54)), x));
  return minus(m, shift_right(m, bits, 52), pick(m, tiny, word(m, 54), word(m, 0)));
}

static LLVMValueRef of_scalars(Math m, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef size = magnitude(m, x), d = magnitude(m, y);
  LLVMValueRef valid = LLVMBuildAnd(m.b, less(m, size, __builtin_inf()), more(m, d, 0), "");
  LLVMValueRef first = pick(m, valid, size, num(m, 0));
  LLVMBasicBlockRef before = LLVMGetInsertBlock(m.b), head = gen_block(m.g, "rest"),
                    body = gen_block(m.g, "take"), done = gen_block(m.g, "remainder");
  LLVMBuildBr(m.b, head);
  LLVMPositionBuilderAtEnd(m.b, head);
  LLVMValueRef r = LLVMBuildPhi(m.b, LLVMTypeOf(x), "");
  LLVMValueRef fits = LLVMBuildFCmp(m.b, LLVMRealOGE, r, d, "");
  LLVMBuildCondBr(m.b, LLVMBuildAnd(m.b, fits, valid, ""), body, done);
  LLVMPositionBuilderAtEnd(m.b, body);
  LLVMValueRef t = double_raised(m, d, minus(m, exponent(m, r), exponent(m, d)));
  LLVMValueRef large = LLVMBuildFCmp(m.b, LLVMRealOGT, t, r, "");
  LLVMValueRef next = sub(m, r, pick(m, large, mul(m, t, num(m, 0.5)), t));
  LLVMBuildBr(m.b, head);
  LLVMAddIncoming(r, (LLVMValueRef[]){first, next},
                  (LLVMBasicBlockRef[]){before, LLVMGetInsertBlock(m.b)}, 2);
  LLVMPositionBuilderAtEnd(m.b, done);
  LLVMValueRef nothing = LLVMBuildFCmp(m.b, LLVMRealUNO, x, y, "");
  nothing = LLVMBuildOr(m.b, nothing, LLVMBuildNot(m.b, valid, ""), "");
  return pick(m, nothing, num(m, __builtin_nan("")), with_sign(m, r, x));
}

LLVMValueRef float64_fmod(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
    return of_scalars(double_math(g, type), args[0], args[1]);
  Math one = double_math(g, LLVMGetElementType(type));
  LLVMValueRef out = LLVMGetPoison(type);
  for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
    LLVMValueRef at = const_i32(g, i), x = LLVMBuildExtractElement(g->b, args[0], at, "");
    LLVMValueRef v = of_scalars(one, x, LLVMBuildExtractElement(g->b, args[1], at, ""));
    out = LLVMBuildInsertElement(g->b, out, v, at, "");
  }
  return out;
}
