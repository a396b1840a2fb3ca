/* call.c -- calls: of kernels, of the runtime (abi.def), of C functions, of LLVM intrinsics. */
#include "target/llvm/codegen.h"
#include <llvm-c/IRReader.h>
#include "target/abi_table.h"
#include <dlfcn.h>

void gen_unsupported(Gen *g, Node *n, const char *what) {
  error_raisef("CompileError", n->span, "%s is not supported by the %s target", what,
               g->target->kind);
}

/* ---- the runtime ---- */

static LLVMValueRef declare_runtime(Gen *g, const RuntimeFunction *function) {
  const char *name = function->name;
  LLVMValueRef fn = LLVMGetNamedFunction(g->out, name);
  if (fn) return fn;
  DataType params[RUNTIME_PARAMS_MAX];
  LLVMTypeRef types[RUNTIME_PARAMS_MAX];
  int n = runtime_function_params(function, params);
  for (int i = 0; i < n; i++) types[i] = type_of(g, params[i]);
  LLVMTypeRef ret = type_of(g, runtime_function_result(function));
  fn = LLVMAddFunction(g->out, name, LLVMFunctionType(ret, types, (unsigned)n, false));
  gen_attribute(g, fn, (unsigned)LLVMAttributeFunctionIndex, "nounwind", 0);
  if (str_same(name, "tvms_frame_alloc")) {
    gen_attribute(g, fn, LLVMAttributeReturnIndex, "noalias", 0);
    gen_attribute(g, fn, LLVMAttributeReturnIndex, "align", 64);
  }
  return fn;
}

LLVMValueRef gen_runtime_call(Gen *g, const char *name, int n, LLVMValueRef *args) {
  const RuntimeFunction *function = runtime_function_find(name);
  REQUIRE(function, "no function %s", name);
  LLVMValueRef fn = declare_runtime(g, function);
  return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, (unsigned)n, "");
}

/* A call_extern of a function of abi.def: integers take the width that it wants. */
static LLVMValueRef gen_runtime_extern(Gen *g, Call *n, const RuntimeFunction *function) {
  const char *name = function->name;
  DataType want[RUNTIME_PARAMS_MAX], ret = runtime_function_result(function);
  LLVMValueRef args[RUNTIME_PARAMS_MAX];
  int count = runtime_function_params(function, want), given = n->args.len - 1;
  if (given != count)
    error_raisef("CompileError", n->node.span, "%s takes %d arguments, %d given", name, count,
                 given);
  for (int i = 0; i < count; i++) {
    Node *arg = n->args.at[i + 1];
    bool is_text = IS(StringImm, arg), is_function = IS(GlobalVar, arg);
    DataType have = is_text || is_function ? HANDLE : arg->dtype;
    if (dtype_is_handle(have) != dtype_is_handle(want[i]))
      error_raisef("CompileError", n->node.span, "argument %d of %s must be %s, but is %s", i + 1,
                   name, dtype_text(want[i]), dtype_text(have));
    args[i] = gen_cast(g, gen_expr(g, arg), have, want[i]);
  }
  LLVMValueRef v = gen_runtime_call(g, name, count, args);
  return dtype_is_void(ret) ? NULL : gen_cast(g, v, ret, n->node.dtype);
}

/* ---- C functions ---- */

/* C passes small integers widened: the caller says how. */
static void widening_attribute(Gen *g, LLVMValueRef call, unsigned index, DataType t) {
  bool is_small = dtype_is_bool(t) || (dtype_is_int(t) && t.bits < 32);
  if (!is_small || t.lanes != 1) return;
  const char *name = t.code == DTYPE_INT ? "signext" : "zeroext";
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddCallSiteAttribute(call, index, LLVMCreateEnumAttribute(g->context, kind, 0));
}

static LLVMValueRef declare_c(Gen *g, const char *name, LLVMTypeRef type) {
  LLVMValueRef fn = LLVMGetNamedFunction(g->out, name);
  return fn ? fn : LLVMAddFunction(g->out, name, type);
}

/* A function of a library, whose address stays in a slot of the module. */
static LLVMValueRef library_function(Gen *g, const char *name) {
  LLVMValueRef args[] = {gen_pointer_slot(g, str_format("extern.%s", name)), const_text(g, name)};
  LLVMValueRef fn = gen_runtime_call(g, "tvms_extern_function", 2, args);
  gen_fail_if(g, LLVMBuildIsNull(g->b, fn, ""));
  return fn;
}

LLVMValueRef gen_c_call(Gen *g, const char *name, LLVMTypeRef ret, int n, LLVMValueRef *args) {
  LLVMTypeRef *types = NEW_ARRAY(LLVMTypeRef, n + 1);
  for (int i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
  LLVMTypeRef type = LLVMFunctionType(ret, types, (unsigned)n, false);
  LLVMValueRef fn =
      lowered_is_in_library(name) ? library_function(g, name) : declare_c(g, name, type);
  return LLVMBuildCall2(g->b, type, fn, args, (unsigned)n, "");
}

static void check_c_type(Node *n, DataType t) {
  bool is_bits = lowered_is_small_float(t) && t.code != DTYPE_FLOAT;
  if (is_bits)
    error_raisef("CompileError", n->span, "C functions can't take or return %s", dtype_text(t));
}

LLVMValueRef gen_extern(Gen *g, Call *n, const char *name) {
  const RuntimeFunction *function = runtime_function_find(name);
  int count = n->args.len - 1;
  if (function) return gen_runtime_extern(g, n, function);
  if (g->in_process && !lowered_is_in_library(name) && !dlsym(RTLD_DEFAULT, name))
    error_raisef("CompileError", n->node.span, "there is no C function '%s' in this process", name);
  LLVMValueRef *args = NEW_ARRAY(LLVMValueRef, count + 1);
  for (int i = 0; i < count; i++) {
    check_c_type(&n->node, n->args.at[i + 1]->dtype);
    args[i] = gen_expr(g, n->args.at[i + 1]);
  }
  check_c_type(&n->node, n->node.dtype);
  LLVMValueRef v = gen_c_call(g, name, type_of(g, n->node.dtype), count, args);
  for (int i = 0; i < count; i++)
    widening_attribute(g, v, (unsigned)i + 1, n->args.at[i + 1]->dtype);
  widening_attribute(g, v, LLVMAttributeReturnIndex, n->node.dtype);
  return v;
}

/* ---- kernels ---- */

LLVMValueRef gen_kernel_call(Gen *g, Call *n) {
  const char *name = AS(GlobalVar, n->op)->name;
  LLVMValueRef fn = map_get(&g->functions, str_intern(name));
  Node *callee = module_find(g->module, name);
  if (!fn || !IS(PrimFunc, callee)) BUG("'%s' is no function of the module", name);
  PrimFunc *f = AS(PrimFunc, callee);
  int count = f->params.len;
  if (count != n->args.len)
    error_raisef("CompileError", n->node.span, "%s takes %d arguments, %d given", name, count,
                 n->args.len);
  bool packed = lowered_is_packed(f);
  bool has_result = !packed && !dtype_is_void(f->ret_dtype);
  LLVMValueRef *args = NEW_ARRAY(LLVMValueRef, count + 1), result = NULL;
  for (int i = 0; i < count; i++)
    args[i] = gen_cast(g, gen_expr(g, n->args.at[i]), n->args.at[i]->dtype, f->params.at[i]->dtype);
  if (has_result) args[count] = result = gen_alloca(g, type_of(g, f->ret_dtype), 1, 0, "result");
  LLVMTypeRef type = LLVMGlobalGetValueType(fn);
  LLVMValueRef status = LLVMBuildCall2(g->b, type, fn, args, (unsigned)(count + has_result), "");
  gen_fail_if(g, LLVMBuildICmp(g->b, LLVMIntNE, status, const_i32(g, 0), ""));
  if (!has_result) return const_i32(g, 0);
  LLVMValueRef v = LLVMBuildLoad2(g->b, type_of(g, f->ret_dtype), result, "");
  return gen_cast(g, v, f->ret_dtype, n->node.dtype);
}

/* ---- LLVM intrinsics ---- */

LLVMValueRef gen_overloaded(Gen *g, const char *name, LLVMTypeRef on, int n, LLVMValueRef *args) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  REQUIRE(id, "LLVM has no intrinsic %s", name);
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->out, id, &on, LLVMIntrinsicIsOverloaded(id));
  return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, (unsigned)n, "");
}

/* LLVM ends the process where it has no instruction for an intrinsic: what is known to need a
 * processor is refused before. `features`: one of them is needed. */
static const struct {
  const char *prefix, *arch, *features[2];
} needs[] = {
    {"llvm.x86.avx512.vpdp", "x86_64", {"avx512vnni", "avxvnni"}},
    {"llvm.x86.avx512.pmadd", "x86_64", {"avx512bw"}},
    {"llvm.x86.avx512.", "x86_64", {"avx512f"}},
    {"llvm.x86.avx2.", "x86_64", {"avx2"}},
    {"llvm.x86.", "x86_64", {NULL}},
    {"llvm.aarch64.neon.sdot", "aarch64", {"dotprod"}},
    {"llvm.aarch64.neon.udot", "aarch64", {"dotprod"}},
    {"llvm.aarch64.", "aarch64", {NULL}},
    {"llvm.nvvm.", "nvptx64", {NULL}},
};

static void need_processor(Gen *g, Call *n, const char *name) {
  for (int i = 0; i < (int)(sizeof needs / sizeof *needs); i++) {
    if (strncmp(name, needs[i].prefix, strlen(needs[i].prefix)) != 0) continue;
    const char *const *f = needs[i].features;
    if (strncmp(LLVMGetTarget(g->out), needs[i].arch, strlen(needs[i].arch)) != 0)
      error_raisef("CompileError", n->node.span, "'%s' is of processors of %s, not of %s", name,
                   needs[i].arch, LLVMGetTarget(g->out));
    if (!f[0] || target_has(g->target, f[0], n->node.span)) return;
    if (f[1] && target_has(g->target, f[1], n->node.span)) return;
    error_raisef(
        "CompileError", n->node.span,
        "'%s' needs a processor with %s%s%s: name it by -mcpu, or the feature by -mattr=+%s", name,
        f[0], f[1] ? " or " : "", f[1] ? f[1] : "", f[0]);
  }
}

static void add_type(Str *text, LLVMTypeRef t) {
  char *name = LLVMPrintTypeToString(t);
  str_add(text, name);
  LLVMDisposeMessage(name);
}

/* The full name of an overloaded intrinsic, by the types of a call: what LLVM's reader makes of a
 * declaration. NULL: it has no form of these types. */
static const char *overloaded_name(const char *name, LLVMTypeRef ret, int n, LLVMValueRef *args) {
  Str text = {0};
  str_add(&text, "declare ");
  add_type(&text, ret);
  str_printf(&text, " @%s(", name);
  for (int i = 0; i < n; i++) {
    if (i) str_add(&text, ", ");
    add_type(&text, LLVMTypeOf(args[i]));
  }
  str_add(&text, ")\n");
  LLVMContextRef context = LLVMContextCreate();
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(str_text(&text), text.len, "intrinsic");
  LLVMModuleRef module;
  char *why = NULL;
  const char *full = NULL;
  if (LLVMParseIRInContext(context, buffer, &module, &why)) LLVMDisposeMessage(why);
  else {
    size_t length;
    const char *found = LLVMGetValueName2(LLVMGetFirstFunction(module), &length);
    if (length > strlen(name)) full = str_copy_n(found, length);
    LLVMDisposeModule(module);
  }
  LLVMContextDispose(context);
  return full;
}

/* T.call_llvm_intrin: by full name, or by the name without types of one that is overloaded.
 * A constant before the operands that counts the types of the signature, as older text has it, is
 * dropped where there is an operand too many. */
LLVMValueRef gen_llvm_intrinsic(Gen *g, Call *n, const char *name) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  if (!id || strncmp(name, "llvm.", 5) != 0)
    error_raisef("CompileError", n->node.span, "LLVM has no intrinsic '%s'", name);
  need_processor(g, n, name);
  int first = 1, count = n->args.len - 1;
  LLVMTypeRef ret = type_of(g, n->node.dtype);
  if (count > 1 && IS(IntImm, n->args.at[1]) && AS(IntImm, n->args.at[1])->value == count - 1)
    first++, count--;
  LLVMValueRef *args = NEW_ARRAY(LLVMValueRef, count + 1);
  for (int i = 0; i < count; i++) args[i] = gen_expr(g, n->args.at[first + i]);
  size_t length;
  LLVMIntrinsicGetName(id, &length);
  g->used_raw_intrinsic = true;
  if (!LLVMIntrinsicIsOverloaded(id) || strlen(name) != length)
    return gen_c_call(g, name, ret, count, args);
  const char *full = overloaded_name(name, ret, count, args);
  if (!full)
    error_raisef("CompileError", n->node.span, "'%s' has no form of %s with these operands", name,
                 dtype_text(n->node.dtype));
  return gen_c_call(g, full, ret, count, args);
}
