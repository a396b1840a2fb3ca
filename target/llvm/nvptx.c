/* nvptx.c -- NVIDIA GPUs: the machine of an architecture, and the text of its code. */
#include "target/llvm/codegen.h"
#include <llvm-c/Target.h>

#define TRIPLE "nvptx64-nvidia-cuda"

LLVMTargetMachineRef machine_new_nvptx(const Target *target) {
  machine_start();
  LLVMTargetRef llvm;
  char *message = NULL;
  const TargetGpu *gpu = target_gpu(target);
  int64_t level = target_option_int(target, "opt-level");
  if (level > 3)
    error_raisef("TargetError", (Span){0}, "option -opt-level is 0 to 3, not %lld",
                 (long long)level);
  if (LLVMGetTargetFromTriple(TRIPLE, &llvm, &message)) raise_llvm("the cuda target", message);
  return LLVMCreateTargetMachine(llvm, TRIPLE, gpu->name, str_format("+%s", gpu->ptx),
                                 (LLVMCodeGenOptLevel)level, LLVMRelocDefault,
                                 LLVMCodeModelDefault);
}

typedef struct Ptx {
  Gen gen;
  Node *module;
  const Target *target;
  const char *text;
} Ptx;

static void write_text(void *context) {
  Ptx *p = context;
  char *message = NULL;
  LLVMMemoryBufferRef out = NULL;
  gen_device_module(&p->gen, p->module, p->target);
  if (LLVMTargetMachineEmitToMemoryBuffer(p->gen.machine, p->gen.out, LLVMAssemblyFile, &message,
                                          &out))
    raise_llvm("LLVM can't write PTX", message);
  p->text = str_copy_n(LLVMGetBufferStart(out), LLVMGetBufferSize(out));
  LLVMDisposeMemoryBuffer(out);
}

const char *ptx_of_module(Node *module, const Target *target) {
  Ptx p = {.module = module, .target = target};
  Error *error = protect(write_text, &p);
  gen_dispose(&p.gen);
  if (error) error_raise(error);
  return p.text;
}
