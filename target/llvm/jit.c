/* jit.c -- code for this process: an object file in memory, linked by LLVM's ORC.
 *
 * With TVMS_JIT_EVENTS=gdb, perf or both ("gdb,perf"), gdb is told of the code, or it is dumped for
 * `perf inject --jit` (into $JITDUMPDIR, or the home folder), with the lines it came from. */
#include "target/llvm/codegen.h"
#include "target/abi_table.h"
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/OrcEE.h>
#include <stdlib.h>

typedef struct Jit {
  Parts parts;
  Node *lowered;
  const Target *target;
  LLVMOrcLLJITRef orc;
  NodeVec exports;
  TvmsModule *module;
} Jit;

static void raise_error(const char *doing, LLVMErrorRef error) {
  if (!error) return;
  char *message = LLVMGetErrorMessage(error);
  const char *text = str_copy_n(message, strlen(message));
  LLVMDisposeErrorMessage(message);
  error_raisef("CompileError", (Span){0}, "%s: %s", doing, text);
}

/* Called by LLVM, so it must not raise: the same error comes back from the look-up. */
static void drop_error(void *context, LLVMErrorRef error) {
  (void)context;
  LLVMConsumeError(error);
}

/* ---- who is told of the code ---- */

typedef LLVMJITEventListenerRef Listener(void);

static const struct {
  const char *word;
  Listener *make;
} listeners[] = {{"gdb", LLVMCreateGDBRegistrationListener},
                 {"perf", LLVMCreatePerfJITEventListener}};

static const char *listener_words(void) {
  const char *words = getenv("TVMS_JIT_EVENTS");
  return words ? words : "";
}

bool jit_has_listeners(void) { return *listener_words(); }

static void check_listeners(void) {
  for (const char *at = listener_words(); *at;) {
    size_t n = strcspn(at, ",");
    const char *word = str_copy_n(at, n);
    if (!str_same(word, "gdb") && !str_same(word, "perf"))
      error_raisef("TargetError", (Span){0}, "TVMS_JIT_EVENTS is gdb, perf or gdb,perf, not '%s'",
                   listener_words());
    at += n + (at[n] == ',');
  }
}

/* Called by LLVM. The listeners live as long as the process, as LLVM has it. */
static LLVMOrcObjectLayerRef layer_with_listeners(void *context, LLVMOrcExecutionSessionRef session,
                                                  const char *triple) {
  (void)context, (void)triple;
  LLVMOrcObjectLayerRef layer =
      LLVMOrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager(session);
  for (size_t i = 0; i < sizeof listeners / sizeof *listeners; i++) {
    bool asked = strstr(listener_words(), listeners[i].word) != NULL;
    LLVMJITEventListenerRef listener = asked ? listeners[i].make() : NULL;
    if (listener) LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(layer, listener);
  }
  return layer;
}

static LLVMOrcLLJITBuilderRef builder_with_listeners(void) {
  if (!jit_has_listeners()) return NULL;
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, layer_with_listeners, NULL);
  return builder;
}

/* ---- what the code may refer to ---- */

/* The runtime by address, everything else by name in the process. */
static void define_symbols(Jit *j) {
  LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(j->orc);
  LLVMOrcCSymbolMapPair *pairs = NEW_ARRAY(LLVMOrcCSymbolMapPair, runtime_function_count);
  for (int i = 0; i < runtime_function_count; i++) {
    LLVMJITSymbolFlags flags = {
        LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0};
    pairs[i] = (LLVMOrcCSymbolMapPair){
        LLVMOrcLLJITMangleAndIntern(j->orc, runtime_functions[i].name),
        {(LLVMOrcExecutorAddress)(uintptr_t)runtime_functions[i].address, flags}};
  }
  raise_error("the runtime's symbols",
              LLVMOrcJITDylibDefine(library,
                                    LLVMOrcAbsoluteSymbols(pairs, (size_t)runtime_function_count)));
  LLVMOrcDefinitionGeneratorRef process = NULL;
  raise_error("the process's symbols",
              LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                  &process, LLVMOrcLLJITGetGlobalPrefix(j->orc), NULL, NULL));
  LLVMOrcJITDylibAddGenerator(library, process);
}

/* ---- loading ---- */

static void add_objects(Jit *j) {
  LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(j->orc);
  for (int i = 0; i < j->parts.n; i++) {
    LLVMMemoryBufferRef object = j->parts.at[i].object;
    j->parts.at[i].object = NULL;
    raise_error("machine code", LLVMOrcLLJITAddObjectFile(j->orc, library, object));
  }
}

static void free_orc(void *orc) {
  LLVMErrorRef error = LLVMOrcDisposeLLJIT(orc);
  if (error) LLVMConsumeError(error);
}

static TvmsExport find_export(Jit *j, const char *symbol) {
  LLVMOrcExecutorAddress address = 0;
  raise_error("linking",
              LLVMOrcLLJITLookup(j->orc, &address, str_format(EXPORT_PREFIX "%s", symbol)));
  return (TvmsExport){symbol, (TvmsPackedFunc)(uintptr_t)address, NULL};
}

static void load(void *context) {
  Jit *j = context;
  check_listeners();
  parts_generate(&j->parts, j->lowered, j->target, true, PARTS_MAX, NULL);
  parts_compile(&j->parts);
  raise_error("the JIT", LLVMOrcCreateLLJIT(&j->orc, builder_with_listeners()));
  LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(j->orc), drop_error,
                                          NULL);
  define_symbols(j);
  add_objects(j);
  int n = j->exports.len;
  TvmsExport *exports = NEW_ARRAY(TvmsExport, n + 1);
  for (int i = 0; i < n; i++) exports[i] = find_export(j, func_symbol(j->exports.at[i]));
  if (tvms_module_new(&j->module, n, exports, j->orc, free_orc))
    error_raisef("CompileError", (Span){0}, "%s", tvms_last_error());
}

TvmsModule *jit_load(Node *module, const Target *target) {
  Jit j = {.lowered = module, .target = target, .exports = lowered_exports(module)};
  /* What LLVM holds is given back, whether or not something raised. */
  Error *error = protect(load, &j);
  parts_dispose(&j.parts);
  if (error && j.orc) free_orc(j.orc);
  if (error) error_raise(error);
  return j.module;
}
