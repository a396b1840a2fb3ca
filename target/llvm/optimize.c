/* optimize.c -- LLVM's own pipeline, tuned to the machine. */
#include "target/llvm/codegen.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/Transforms/PassBuilder.h>

/* A module that LLVM finds ill-formed is our fault, unless an intrinsic was called by name. */
static void verify(Gen *g) {
  char *message = NULL;
  if (!LLVMVerifyModule(g->out, LLVMReturnStatusAction, &message)) {
    LLVMDisposeMessage(message);
    return;
  }
  if (g->used_raw_intrinsic) raise_llvm("T.call_llvm_intrin", message);
  const char *text = str_copy_n(message, strlen(message));
  LLVMDisposeMessage(message);
  BUG("LLVM rejects the module: %s", text);
}

int optimize_level(Gen *g) {
  verify(g);
  return (int)target_option_int(g->target, "opt-level");
}

LLVMErrorRef optimize_run(Gen *g, int level) {
  char passes[] = "default<O0>";
  passes[sizeof passes - 3] = (char)('0' + level);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopInterleaving(options, level >= 2 && !g->is_device);
  LLVMPassBuilderOptionsSetLoopUnrolling(options, level >= 2);
  LLVMErrorRef error = LLVMRunPasses(g->out, passes, g->machine, options);
  LLVMDisposePassBuilderOptions(options);
  return error;
}

void optimize_check(LLVMErrorRef error) {
  if (!error) return;
  char *message = LLVMGetErrorMessage(error);
  const char *text = str_copy_n(message, strlen(message));
  LLVMDisposeErrorMessage(message);
  BUG("LLVM's passes fail: %s", text);
}

void optimize_module(Gen *g) { optimize_check(optimize_run(g, optimize_level(g))); }
