/* machine.c -- from a target's options to an LLVM target machine.
 *
 * LLVM ignores processors and features that it does not know, but for a line on standard error.
 * Here that line becomes an error: standard error is turned into a file while the machine is made.
 */
#include "target/llvm/codegen.h"
#include <llvm-c/Target.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void start_llvm(void) {
  static bool started;
  if (started) return;
  started = true;
  LLVMInitializeAllTargetInfos();
  LLVMInitializeAllTargets();
  LLVMInitializeAllTargetMCs();
  LLVMInitializeAllAsmPrinters();
  LLVMInitializeAllAsmParsers();
}

/* LLVM's text as collected memory. */
static const char *take(char *message) {
  const char *text = str_copy_n(message, strlen(message));
  LLVMDisposeMessage(message);
  return text;
}

void raise_llvm(const char *doing, char *message) {
  error_raisef("CompileError", (Span){0}, "%s: %s", doing, take(message));
}

/* ---- standard error as a file ---- */

typedef struct Capture {
  int saved, file;
} Capture;

static Capture capture_begin(void) {
  fflush(stderr);
  Capture c = {dup(2), memfd_create("stderr", MFD_CLOEXEC)};
  if (c.saved >= 0 && c.file >= 0) dup2(c.file, 2);
  return c;
}

static const char *capture_end(Capture c) {
  fflush(stderr);
  if (c.saved >= 0 && c.file >= 0) dup2(c.saved, 2);
  char text[4096] = "";
  ssize_t n = c.file >= 0 ? pread(c.file, text, sizeof text - 1, 0) : 0;
  if (c.saved >= 0) close(c.saved);
  if (c.file >= 0) close(c.file);
  return str_copy_n(text, n > 0 ? (size_t)n : 0);
}

/* ---- the machine ---- */

typedef struct Choice {
  const char *triple, *cpu, *features;
  LLVMTargetRef llvm;
  LLVMCodeGenOptLevel level;
} Choice;

static const char *architecture(const char *triple) {
  return str_copy_n(triple, strcspn(triple, "-"));
}

static Choice choose(const Target *target) {
  Choice c = {0};
  const char *triple = target_option(target, "mtriple"), *cpu = target_option(target, "mcpu");
  const char *host = take(LLVMGetDefaultTargetTriple()), *more = target_option(target, "mattr");
  int64_t level = target_option_int(target, "opt-level");
  if (level > 3)
    error_raisef("TargetError", (Span){0}, "option -opt-level is 0 to 3, not %lld",
                 (long long)level);
  c.level = (LLVMCodeGenOptLevel)level;
  c.triple = *triple ? take(LLVMNormalizeTargetTriple(triple)) : host;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(c.triple, &c.llvm, &message))
    raise_llvm(str_format("option -mtriple=%s", c.triple), message);
  bool native = str_same(cpu, "native");
  bool is_host = str_same(architecture(c.triple), architecture(host));
  c.cpu = !native ? cpu : is_host ? take(LLVMGetHostCPUName()) : "";
  const char *own = native && is_host ? take(LLVMGetHostCPUFeatures()) : "";
  c.features = *own && *more ? str_format("%s,%s", own, more) : *own ? own : more;
  return c;
}

/* "'foo' is not a recognized processor for this target (ignoring processor)" */
static void check_complaint(const Choice *c, const char *text) {
  if (!strstr(text, "is not a recognized")) return;
  bool is_cpu = strstr(text, "processor");
  const char *quote = strchr(text, '\''), *end = quote ? strchr(quote + 1, '\'') : NULL;
  const char *what = end ? str_copy_n(quote + 1, (size_t)(end - quote - 1)) : "?";
  error_raisef("TargetError", (Span){0}, "option -%s: LLVM knows no %s '%s' of %s",
               is_cpu ? "mcpu" : "mattr", is_cpu ? "processor" : "feature", what,
               architecture(c->triple));
}

LLVMTargetMachineRef machine_new(const Target *target, bool in_process) {
  start_llvm();
  Choice c = choose(target);
  if (in_process) {
    const char *host = take(LLVMGetDefaultTargetTriple());
    if (!str_same(architecture(c.triple), architecture(host)))
      error_raisef("TargetError", (Span){0}, "code for %s can't run in this process (%s)", c.triple,
                   host);
  }
  Capture capture = capture_begin();
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
      c.llvm, c.triple, c.cpu, c.features, c.level, LLVMRelocPIC, LLVMCodeModelDefault);
  const char *complaint = capture_end(capture);
  if (machine && strstr(complaint, "is not a recognized")) {
    LLVMDisposeTargetMachine(machine);
    check_complaint(&c, complaint);
  }
  if (!machine) error_raisef("TargetError", (Span){0}, "LLVM can't make code for '%s'", c.triple);
  return machine;
}
