/* module.c -- a whole module: declarations first, then bodies, then the table of exports.
 *
 * A function with a global_symbol is exported as __tvms_<symbol>, so that no name of a program
 * meets one of the C library. Who loads a module finds its functions by the table tvms_module_info
 * (abi.h). */
#include "target/llvm/codegen.h"
#include "target/describe.h"
#include "lower/lower.h"
#include "target/params.h"
#include "target/runtime/abi.h"
#include <llvm-c/Target.h>

/* ---- tvms_module_info ---- */

/* Seen from outside. Weak: a program may be linked from several modules. */
static void gen_exported(Gen *g, LLVMValueRef value, const char *name) {
  LLVMValueRef global = LLVMAddGlobal(g->out, LLVMTypeOf(value), name);
  LLVMSetInitializer(global, value);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMWeakAnyLinkage);
}

/* Found in the file by its first bytes: nobody refers to it. */
static void gen_description(Gen *g) {
  const char *text = module_description(g->module, g->target, LLVMGetTarget(g->out));
  gen_exported(g, LLVMConstStringInContext2(g->context, text, strlen(text), false),
               "tvms_module_text");
}

static LLVMValueRef constant_global(Gen *g, LLVMValueRef value, const char *name) {
  LLVMValueRef global = LLVMAddGlobal(g->out, LLVMTypeOf(value), name);
  LLVMSetInitializer(global, value);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  return global;
}

static LLVMValueRef pointer_table(Gen *g, int n, LLVMValueRef *pointers, const char *name) {
  LLVMValueRef array = LLVMConstArray2(type_ptr(g), pointers, (uint64_t)n);
  return constant_global(g, array, name);
}

static void gen_module_info(Gen *g, const NodeVec *exports) {
  int n = exports->len;
  LLVMValueRef *names = NEW_ARRAY(LLVMValueRef, n + 1), *functions = NEW_ARRAY(LLVMValueRef, n + 1);
  LLVMValueRef *signatures = NEW_ARRAY(LLVMValueRef, n + 1);
  for (int i = 0; i < n; i++) {
    const char *symbol = func_symbol(exports->at[i]);
    PrimFunc *f = AS(PrimFunc, exports->at[i]);
    names[i] = const_text(g, symbol);
    functions[i] = LLVMGetNamedFunction(g->out, str_format(EXPORT_PREFIX "%s", symbol));
    signatures[i] = const_text(g, dict_get_str(f->attrs, "tvms.signature", ""));
  }
  LLVMValueRef fields[] = {const_i32(g, TVMS_ABI_VERSION),
                           const_i32(g, n),
                           pointer_table(g, n, names, "names"),
                           pointer_table(g, n, functions, "functions"),
                           pointer_table(g, n, signatures, "signatures"),
                           const_text(g, target_module_text(g->target))};
  LLVMValueRef info = LLVMConstStructInContext(g->context, fields, 6, false);
  gen_exported(g, info, "tvms_module_info");
}

/* The parameters that lie in a file beside the module (abi.h: TvmsModuleParams). */
static void gen_params(Gen *g) {
  ParamVec params = params_of(g->module);
  int n = params.len;
  if (!n) return;
  LLVMValueRef *rows = NEW_ARRAY(LLVMValueRef, n + 1);
  for (int i = 0; i < n; i++) {
    const ConstData *d = params.at[i].data;
    LLVMValueRef fields[] = {const_text(g, params.at[i].name), const_text(g, param_dtype(d->elem)),
                             const_i64(g, (int64_t)d->nbytes),
                             const_i32(g, lowered_nbytes(d->elem)),
                             gen_param_slot(g, params.at[i].name)};
    rows[i] = LLVMConstStructInContext(g->context, fields, 5, false);
  }
  LLVMValueRef table = LLVMConstArray2(LLVMTypeOf(rows[0]), rows, (uint64_t)n);
  LLVMValueRef info[] = {const_i32(g, n), const_text(g, params_file(g->module)),
                         constant_global(g, table, "params")};
  gen_exported(g, LLVMConstStructInContext(g->context, info, 3, false), "tvms_module_params");
}

/* ---- the module ---- */

static void gen_begin(Gen *g, const Target *target) {
  if (target_option_int(target, "fp-contract")) g->fp_flags = LLVMFastMathAllowContract;
  if (target_option_int(target, "fast-math"))
    g->fp_flags = LLVMFastMathAllowReassoc | LLVMFastMathAllowContract |
                  LLVMFastMathAllowReciprocal | LLVMFastMathNoSignedZeros;
  g->context = LLVMContextCreate();
  g->out = LLVMModuleCreateWithNameInContext("tvms", g->context);
  g->b = LLVMCreateBuilderInContext(g->context);
  g->entry_builder = LLVMCreateBuilderInContext(g->context);
  char *triple = LLVMGetTargetMachineTriple(g->machine);
  LLVMSetTarget(g->out, triple);
  LLVMDisposeMessage(triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(g->machine);
  LLVMSetModuleDataLayout(g->out, layout);
  LLVMDisposeTargetData(layout);
}

void gen_module(Gen *g, Node *module, const Target *target, bool in_process) {
  *g = (Gen){.target = target,
             .module = module,
             .in_process = in_process,
             .part = g->part,
             .is_cut = g->is_cut,
             .bodies = g->bodies,
             .weights = g->weights};
  g->machine = machine_new(target, in_process);
  g->half_by_bits = !machine_converts_half(g->machine);
  gen_begin(g, target);
  if (target_option_int(target, "debug-info") || (in_process && jit_has_listeners()))
    debug_begin(g);
  IRModule *m = AS(IRModule, module);
  NodeVec exports = lowered_exports(module);
  for (int i = 0; i < m->functions.len; i++)
    if (IS(PrimFunc, m->functions.at[i]))
      gen_declare_function(g, AS(GlobalVar, m->globals.at[i])->name,
                           AS(PrimFunc, m->functions.at[i]));
  for each (int, i, &g->bodies)
    gen_function(g, AS(GlobalVar, m->globals.at[*i])->name, AS(PrimFunc, m->functions.at[*i]));
  if (!g->part) {
    gen_module_info(g, &exports);
    gen_params(g);
    if (!in_process) gen_description(g);
  }
  debug_end(g);
}

void gen_device_module(Gen *g, Node *module, const Target *target) {
  *g = (Gen){.target = target, .module = module, .is_device = true};
  g->machine = machine_new_nvptx(target);
  gen_begin(g, target);
  IRModule *m = AS(IRModule, module);
  for (int i = 0; i < m->functions.len; i++)
    if (is_device_function(m->functions.at[i]))
      gen_declare_kernel(g, AS(GlobalVar, m->globals.at[i])->name,
                         AS(PrimFunc, m->functions.at[i]));
  for (int i = 0; i < m->functions.len; i++)
    if (is_device_function(m->functions.at[i]))
      gen_kernel(g, AS(GlobalVar, m->globals.at[i])->name, AS(PrimFunc, m->functions.at[i]));
  optimize_module(g);
}

void gen_dispose(Gen *g) {
  debug_dispose(g);
  if (g->b) LLVMDisposeBuilder(g->b);
  if (g->entry_builder) LLVMDisposeBuilder(g->entry_builder);
  if (g->out) LLVMDisposeModule(g->out);
  if (g->context) LLVMContextDispose(g->context);
  if (g->machine) LLVMDisposeTargetMachine(g->machine);
  *g = (Gen){0};
}
