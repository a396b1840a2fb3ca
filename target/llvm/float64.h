/* float64.h -- the functions of float64 that devices have (float64_*.c), on the operations of
 * float32.h. */
#ifndef TARGET_LLVM_FLOAT64_H
#define TARGET_LLVM_FLOAT64_H

#include "target/llvm/float32.h"

/* The type is double, or a vector of doubles. */
static inline Math double_math(Gen *g, LLVMTypeRef type) {
  return math_in_double(math_of(g, type));
}

LLVMValueRef double_exp(Math m, LLVMValueRef x);
LLVMValueRef double_log(Math m, LLVMValueRef x);
LLVMValueRef double_log1p(Math m, LLVMValueRef x);
/* x * 2^n for a word n of at most a few thousand, in steps that stay in range. */
LLVMValueRef double_raised(Math m, LLVMValueRef x, LLVMValueRef n);

#endif
