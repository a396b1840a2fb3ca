/* math.c -- the functions of floating-point mathematics: one table from names to what computes
 * them.
 *
 * Small floats are computed in float32 and rounded. Where the table has a formula for float32
 * (float32_*.c), it is used for float32; vectors of functions of libm are computed lane by lane,
 * and LLVM does the same to its own intrinsics that the processor has no instruction for. */
#include "target/llvm/codegen.h"

typedef enum {
  BY_INSTRUCTION, /* an intrinsic that every machine has instructions for: "llvm.floor" */
  BY_LLVM,        /* an intrinsic overloaded on the type: "llvm.exp" */
  BY_LIBM,        /* a C function: "tanh" for double, "tanhf" for float */
  BY_FORMULA      /* a function of this file */
} How;

static LLVMValueRef one_of(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return LLVMConstReal(type, 1.0);
  unsigned n = LLVMGetVectorSize(type);
  LLVMValueRef *ones = NEW_ARRAY(LLVMValueRef, n);
  for (unsigned i = 0; i < n; i++) ones[i] = LLVMConstReal(LLVMGetElementType(type), 1.0);
  return LLVMConstVector(ones, n);
}

static LLVMValueRef rsqrt(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  LLVMValueRef root = gen_fp(g, gen_overloaded(g, "llvm.sqrt", type, 1, args));
  return gen_fp(g, LLVMBuildFDiv(g->b, one_of(type), root, ""));
}

static LLVMValueRef sigmoid(Gen *g, LLVMTypeRef type, LLVMValueRef *args) {
  LLVMValueRef minus = LLVMBuildFNeg(g->b, args[0], "");
  LLVMValueRef e = gen_fp(g, gen_overloaded(g, "llvm.exp", type, 1, &minus));
  LLVMValueRef sum = gen_fp(g, LLVMBuildFAdd(g->b, one_of(type), e, ""));
  return gen_fp(g, LLVMBuildFDiv(g->b, one_of(type), sum, ""));
}

static const struct {
  const char *name;
  int args;
  How how;
  const char *by; /* of LLVM or libm */
  MathFormula *formula, *float32;
} functions[] = {
    {"exp", 1, BY_LLVM, "llvm.exp", NULL, float32_exp},
    {"exp2", 1, BY_LLVM, "llvm.exp2", NULL, float32_exp2},
    {"exp10", 1, BY_LLVM, "llvm.exp10", NULL, float32_exp10},
    {"log", 1, BY_LLVM, "llvm.log", NULL, float32_log},
    {"log2", 1, BY_LLVM, "llvm.log2", NULL, float32_log2},
    {"log10", 1, BY_LLVM, "llvm.log10", NULL, float32_log10},
    {"log1p", 1, BY_LIBM, "log1p", NULL, float32_log1p},
    {"sqrt", 1, BY_INSTRUCTION, "llvm.sqrt", NULL, NULL},
    {"rsqrt", 1, BY_FORMULA, NULL, rsqrt, NULL},
    {"sin", 1, BY_LLVM, "llvm.sin", NULL, float32_sin},
    {"cos", 1, BY_LLVM, "llvm.cos", NULL, float32_cos},
    {"tan", 1, BY_LIBM, "tan", NULL, NULL},
    {"asin", 1, BY_LIBM, "asin", NULL, NULL},
    {"acos", 1, BY_LIBM, "acos", NULL, NULL},
    {"atan", 1, BY_LIBM, "atan", NULL, NULL},
    {"sinh", 1, BY_LIBM, "sinh", NULL, NULL},
    {"cosh", 1, BY_LIBM, "cosh", NULL, NULL},
    {"tanh", 1, BY_LIBM, "tanh", NULL, float32_tanh},
    {"asinh", 1, BY_LIBM, "asinh", NULL, NULL},
    {"acosh", 1, BY_LIBM, "acosh", NULL, NULL},
    {"atanh", 1, BY_LIBM, "atanh", NULL, NULL},
    {"erf", 1, BY_LIBM, "erf", NULL, float32_erf},
    {"sigmoid", 1, BY_FORMULA, NULL, sigmoid, float32_sigmoid},
    {"atan2", 2, BY_LIBM, "atan2", NULL, NULL},
    {"hypot", 2, BY_LIBM, "hypot", NULL, NULL},
    {"copysign", 2, BY_INSTRUCTION, "llvm.copysign", NULL, NULL},
    {"pow", 2, BY_LLVM, "llvm.pow", NULL, float32_pow},
    {"fmod", 2, BY_LIBM, "fmod", NULL, NULL},
    {"fma", 3, BY_INSTRUCTION, "llvm.fma", NULL, NULL},
    {"fabs", 1, BY_INSTRUCTION, "llvm.fabs", NULL, NULL},
    {"floor", 1, BY_INSTRUCTION, "llvm.floor", NULL, NULL},
    {"ceil", 1, BY_INSTRUCTION, "llvm.ceil", NULL, NULL},
    {"trunc", 1, BY_INSTRUCTION, "llvm.trunc", NULL, NULL},
    {"round", 1, BY_INSTRUCTION, "llvm.roundeven", NULL, NULL},
    {"nearbyint", 1, BY_INSTRUCTION, "llvm.roundeven", NULL, NULL},
};

#define MAX_ARGS 3

static int find_function(const char *name) {
  for (int i = 0; i < (int)(sizeof functions / sizeof *functions); i++)
    if (str_same(functions[i].name, name)) return i;
  return -1;
}

/* A function without effects, errno included. */
static LLVMValueRef call_libm_scalar(Gen *g, const char *name, LLVMTypeRef type, int n,
                                     LLVMValueRef *args) {
  bool is_double = LLVMGetTypeKind(type) == LLVMDoubleTypeKind;
  const char *symbol = is_double ? name : str_format("%sf", name);
  bool known = LLVMGetNamedFunction(g->out, symbol) != NULL;
  LLVMValueRef v = gen_c_call(g, symbol, type, n, args);
  LLVMValueRef fn = LLVMGetNamedFunction(g->out, symbol);
  unsigned whole = (unsigned)LLVMAttributeFunctionIndex;
  if (known) return v;
  gen_attribute(g, fn, whole, "nounwind", 0);
  gen_attribute(g, fn, whole, "willreturn", 0);
  gen_attribute(g, fn, whole, "memory", 0);
  return v;
}

static LLVMValueRef call_libm(Gen *g, const char *name, LLVMTypeRef type, int n,
                              LLVMValueRef *args) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return call_libm_scalar(g, name, type, n, args);
  LLVMValueRef out = LLVMGetPoison(type), lane[MAX_ARGS];
  for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
    LLVMValueRef index = const_i32(g, i);
    for (int k = 0; k < n; k++) lane[k] = LLVMBuildExtractElement(g->b, args[k], index, "");
    LLVMValueRef v = call_libm_scalar(g, name, LLVMGetElementType(type), n, lane);
    out = LLVMBuildInsertElement(g->b, out, v, index, "");
  }
  return out;
}

/* Rounding leaves integers as they are, and fabs is the absolute value. */
static LLVMValueRef int_function(Gen *g, Call *n, const char *name) {
  static const char *const identities[] = {"floor", "ceil", "trunc", "round", "nearbyint"};
  DataType t = n->node.dtype;
  LLVMValueRef args[] = {gen_expr(g, n->args.at[0]), LLVMConstNull(type_int(g, 1))};
  for (int i = 0; i < 5; i++)
    if (str_same(name, identities[i])) return args[0];
  if (!str_same(name, "fabs"))
    error_raisef("CompileError", n->node.span, "T.%s needs a float, but got %s", name,
                 dtype_text(t));
  return t.code == DTYPE_INT ? gen_overloaded(g, "llvm.abs", type_of(g, t), 2, args) : args[0];
}

LLVMValueRef gen_math(Gen *g, Call *n, const char *name) {
  int f = find_function(name);
  if (f < 0) return NULL;
  DataType t = n->node.dtype;
  REQUIRE(n->args.len == functions[f].args, "T.%s with %d arguments", name, n->args.len);
  if (!dtype_is_float(t)) return int_function(g, n, name);
  LLVMValueRef args[MAX_ARGS];
  for (int i = 0; i < n->args.len; i++) {
    Node *arg = n->args.at[i];
    args[i] = gen_widen(g, gen_cast(g, gen_expr(g, arg), arg->dtype, t), t);
  }
  LLVMTypeRef type = type_of(g, type_compute(t));
  LLVMValueRef v = NULL;
  bool is_float32 = type_compute(t).bits == 32;
  if (is_float32 && functions[f].float32)
    return gen_narrow(g, functions[f].float32(g, type, args), t);
  if (g->is_device && functions[f].how != BY_INSTRUCTION && functions[f].formula != rsqrt)
    error_raisef("CompileError", n->node.span, "T.%s of %s is not supported by the %s target", name,
                 dtype_text(t), g->target->kind);
  switch (functions[f].how) {
  case BY_INSTRUCTION:
  case BY_LLVM: v = gen_fp(g, gen_overloaded(g, functions[f].by, type, n->args.len, args)); break;
  case BY_LIBM: v = call_libm(g, functions[f].by, type, n->args.len, args); break;
  case BY_FORMULA: v = functions[f].formula(g, type, args); break;
  }
  return gen_narrow(g, v, t);
}
