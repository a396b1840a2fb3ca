/* machine.c -- from a target's options to an LLVM target machine.
 *
 * LLVM ignores processors and features that it does not know, but for a line on standard error, and
 * it ends the process where a processor can't run code for its architecture. So a choice that a
 * user made is tried first in a child process, whose last words become the error. */
#include "target/llvm/codegen.h"
#include <errno.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The last resort: LLVM's own handler would abort. */
static void give_up(const char *reason) {
  fprintf(stderr, "tvms: error: LLVM gives up: %s\n", reason);
  _exit(70);
}

void machine_start(void) {
  static bool started;
  if (started) return;
  started = true;
  LLVMInstallFatalErrorHandler(give_up);
  /* LLVM 19.1 gives wrong results where it makes vectors of scalars that stand side by side: of
   * written-out products with operands in common, on AVX-512 ("padding" of the tests of
   * MatmulTensorCore, simulated). Rules give programs their vectors; without that pass networks
   * take up to a twentieth longer, and half the time to compile. "default<O3>" overrides the option
   * of pipelines for it; this one it heeds.
   *
   * In long blocks of instructions, which unrolled loops make, the scheduler compares each access
   * of memory with up to so many before it, 1000 if it is not told: a tenth of the time of
   * compiling resnet50 goes into that, and its code is no faster for it. */
  static const char *const arguments[] = {
      "tvms", "-vectorize-slp=false", "-dag-maps-huge-region=200", "-dag-maps-reduction-size=100"};
  LLVMParseCommandLineOptions(sizeof arguments / sizeof *arguments, arguments, NULL);
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

/* ---- what was chosen ---- */

typedef struct Choice {
  const char *triple, *cpu, *features;
  LLVMTargetRef llvm;
  LLVMCodeGenOptLevel level;
  bool is_own; /* the processor and its features are this machine's: they need no trial */
} Choice;

static const char *architecture(const char *triple) {
  return str_copy_n(triple, strcspn(triple, "-"));
}

/* Bytes in this order, which constants have. Features: those that Linux on such a machine, and
 * every browser since 2023, can be counted on for and LLVM does not, where the target names no
 * processor and no features. */
static const struct {
  const char *name, *features;
} architectures[] = {{"x86_64", ""},      {"aarch64", ""},       {"riscv64", "+m,+a,+f,+d,+c"},
                     {"powerpc64le", ""}, {"loongarch64", "+d"}, {"wasm32", "+simd128"}};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

/* Its place in the table; "arm64" and its like are other names of rows. */
static int find_architecture(const char *triple) {
  static const char *const others[][2] = {
      {"arm64", "aarch64"}, {"amd64", "x86_64"}, {"ppc64le", "powerpc64le"}};
  const char *name = architecture(triple);
  Str known = {0};
  for (int i = 0; i < 3; i++)
    if (str_same(others[i][0], name)) name = others[i][1];
  for (int i = 0; i < ARCHITECTURES; i++) {
    if (str_same(architectures[i].name, name)) return i;
    bool is_last = i == ARCHITECTURES - 1;
    str_printf(&known, "%s%s", i == 0 ? "" : is_last ? " and " : ", ", architectures[i].name);
  }
  error_raisef("TargetError", (Span){0},
               "option -mtriple: the llvm target makes code for %s, not for '%s'", str_text(&known),
               name);
}

static LLVMCodeGenOptLevel level_of(const Target *target) {
  int64_t level = target_option_int(target, "opt-level");
  if (level > 3)
    error_raisef("TargetError", (Span){0}, "option -opt-level is 0 to 3, not %lld",
                 (long long)level);
  return (LLVMCodeGenOptLevel)level;
}

static const char *joined(const char *a, const char *b) {
  return *a && *b ? str_format("%s,%s", a, b) : *a ? a : b;
}

/* What LLVM does not know of a processor. Zen 4 takes twice as long for a scatter as for stores of
 * the lanes. */
static const char *tuning_of(const char *cpu) {
  return str_begins(cpu, "znver") ? "+prefer-no-scatter" : "";
}

/* AVX-512 that is asked for beside a processor without it has registers of 512 bits: LLVM takes
 * them for not there, and then has no instruction for what it makes. */
static const char *wide_registers(const char *more) {
  return strstr(more, "+avx512") && !strstr(more, "evex512") ? "+evex512" : "";
}

static Choice choose(const Target *target) {
  const char *triple = target_option(target, "mtriple"), *cpu = target_option(target, "mcpu");
  const char *host = take(LLVMGetDefaultTargetTriple()), *more = target_option(target, "mattr");
  Choice c = {.level = level_of(target)};
  c.triple = *triple ? take(LLVMNormalizeTargetTriple(triple)) : host;
  int arch = find_architecture(c.triple);
  char *message = NULL;
  if (LLVMGetTargetFromTriple(c.triple, &c.llvm, &message))
    raise_llvm(str_format("option -mtriple=%s", c.triple), message);
  bool native = str_same(cpu, "native");
  bool is_host = machine_is_host(c.triple);
  c.cpu = !native ? cpu : is_host ? take(LLVMGetHostCPUName()) : "";
  const char *own = native && is_host ? take(LLVMGetHostCPUFeatures()) : "";
  c.features = joined(joined(tuning_of(c.cpu), own), joined(wide_registers(more), more));
  if (native && !is_host && !*more) c.features = architectures[arch].features;
  c.is_own = native && !*more;
  return c;
}

/* WebAssembly has no shared libraries that its hosts agree on: its objects are linked statically.
 */
static LLVMTargetMachineRef create(const Choice *c) {
  bool is_static = str_same(architecture(c->triple), "wasm32");
  return LLVMCreateTargetMachine(c->llvm, c->triple, c->cpu, c->features, c->level,
                                 is_static ? LLVMRelocStatic : LLVMRelocPIC, LLVMCodeModelDefault);
}

/* ---- the trial ---- */

/* Compiles an empty function. Runs in the child, and does not return. */
static _Noreturn void run_trial(const Choice *c, int words) {
  dup2(words, 2);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  LLVMTargetMachineRef machine = create(c);
  if (!machine) _exit(1);
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("trial", context);
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, false);
  LLVMValueRef fn = LLVMAddFunction(module, "f", type);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(context, fn, "entry"));
  LLVMBuildRetVoid(b);
  char *message = NULL;
  LLVMMemoryBufferRef object = NULL;
  _exit(LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object));
}

/* "'foo' is not a recognized processor for this target (ignoring processor)" */
static _Noreturn void raise_unknown(const Choice *c, const char *words) {
  bool is_cpu = strstr(words, "processor") != NULL;
  const char *quote = strchr(words, '\''), *end = quote ? strchr(quote + 1, '\'') : NULL;
  const char *what = end ? str_copy_n(quote + 1, (size_t)(end - quote - 1)) : "?";
  error_raisef("TargetError", (Span){0}, "option -%s: LLVM knows no %s '%s' of %s",
               is_cpu ? "mcpu" : "mattr", is_cpu ? "processor" : "feature", what,
               architecture(c->triple));
}

static void check_trial(const Choice *c, const char *words, int status) {
  if (strstr(words, "is not a recognized")) raise_unknown(c, words);
  if (!status) return;
  const char *colon = strstr(words, "gives up: ");
  const char *why = colon ? colon + strlen("gives up: ") : "it does not say why";
  error_raisef("TargetError", (Span){0}, "LLVM can't make code for processor '%s' of %s: %s",
               c->cpu, architecture(c->triple), str_copy_n(why, strcspn(why, "\n")));
}

static void try_choice(const Choice *c) {
  static const char *good; /* the last one that passed */
  const char *key = str_intern(str_format("%s %s %s", c->triple, c->cpu, c->features));
  if (key == good) return;
  int words = memfd_create("trial", MFD_CLOEXEC), status = -1;
  pid_t child = words < 0 ? -1 : fork();
  if (child == 0) run_trial(c, words);
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  char text[2048] = "";
  ssize_t n = words < 0 ? 0 : pread(words, text, sizeof text - 1, 0);
  if (words >= 0) close(words);
  if (child < 0)
    error_raisef("TargetError", (Span){0}, "can't try the target: %s", strerror(errno));
  check_trial(c, str_copy_n(text, n > 0 ? (size_t)n : 0), status);
  good = key;
}

bool machine_converts_half(LLVMTargetMachineRef machine) {
  const char *arch = architecture(take(LLVMGetTargetMachineTriple(machine)));
  if (str_same(arch, "x86_64") || str_same(arch, "aarch64") || str_same(arch, "arm64")) return true;
  return strstr(take(LLVMGetTargetMachineFeatureString(machine)), "+zfh") != NULL;
}

bool machine_is_host(const char *triple) {
  return str_same(architecture(triple), architecture(take(LLVMGetDefaultTargetTriple())));
}

LLVMTargetMachineRef machine_new(const Target *target, bool in_process) {
  machine_start();
  Choice c = choose(target);
  if (in_process && !machine_is_host(c.triple))
    error_raisef("TargetError", (Span){0}, "code for %s can't run in this process (%s)", c.triple,
                 take(LLVMGetDefaultTargetTriple()));
  if (!c.is_own) try_choice(&c);
  LLVMTargetMachineRef machine = create(&c);
  if (!machine) error_raisef("TargetError", (Span){0}, "LLVM can't make code for '%s'", c.triple);
  return machine;
}
