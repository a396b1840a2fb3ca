/* nvptx.c -- NVIDIA GPUs: the machine of an architecture, and the text of its code. */
#include "target/llvm/codegen.h"
#include <llvm-c/Target.h>

#define TRIPLE "nvptx64-nvidia-cuda"

/* With the oldest version of PTX that has all that is used of it: older drivers take it, too. */
static const struct {
  const char *name, *features;
} architectures[] = {{"sm_70", "+ptx64"}, {"sm_72", "+ptx64"}, {"sm_75", "+ptx65"},
                     {"sm_80", "+ptx70"}, {"sm_86", "+ptx71"}, {"sm_87", "+ptx74"},
                     {"sm_89", "+ptx78"}, {"sm_90", "+ptx78"}, {"sm_90a", "+ptx80"}};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

static int find_architecture(const char *name) {
  Str known = {0};
  for (int i = 0; i < ARCHITECTURES; i++) {
    if (str_same(architectures[i].name, name)) return i;
    str_printf(&known, "%s%s", i ? ", " : "", architectures[i].name);
  }
  error_raisef("TargetError", (Span){0}, "option -arch: there is no '%s'; there are %s", name,
               str_text(&known));
}

LLVMTargetMachineRef machine_new_nvptx(const Target *target) {
  machine_start();
  LLVMTargetRef llvm;
  char *message = NULL;
  int arch = find_architecture(target_option(target, "arch"));
  int64_t level = target_option_int(target, "opt-level");
  if (level > 3)
    error_raisef("TargetError", (Span){0}, "option -opt-level is 0 to 3, not %lld",
                 (long long)level);
  if (LLVMGetTargetFromTriple(TRIPLE, &llvm, &message)) raise_llvm("the cuda target", message);
  return LLVMCreateTargetMachine(llvm, TRIPLE, architectures[arch].name,
                                 architectures[arch].features, (LLVMCodeGenOptLevel)level,
                                 LLVMRelocDefault, LLVMCodeModelDefault);
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
