/* build.c -- `tvms build`: a module to a shared library, an object, assembly or LLVM IR. */
#include "lang/tool/tool.h"
#include "lower/lower.h"
#include "target/target.h"

typedef struct BuildJob {
  const char *target, *module, *path, *output, *emit;
} BuildJob;

static const struct {
  const char *word, *suffix;
  EmitKind kind;
} forms[] = {{"so", ".so", EMIT_SHARED},
             {"obj", ".o", EMIT_OBJECT},
             {"asm", ".s", EMIT_ASM},
             {"llvm-ir", ".ll", EMIT_LLVM},
             {"c", ".c", EMIT_C}};
enum { FORMS = sizeof forms / sizeof *forms };

static bool ends_with(const char *text, const char *suffix) {
  size_t n = strlen(text), m = strlen(suffix);
  return n >= m && strcmp(text + n - m, suffix) == 0;
}

/* By --emit, or by the ending of the output's name. */
static int choose_form(const BuildJob *job) {
  for (int i = 0; i < FORMS; i++)
    if (job->emit ? str_same(job->emit, forms[i].word) : ends_with(job->output, forms[i].suffix))
      return i;
  return -1;
}

static void run_build(void *context) {
  BuildJob *job = context;
  const Target *target = target_parse(job->target, (Span){0});
  const Backend *backend = backend_find(target->kind);
  if (!backend || !backend->emit) {
    diag_error((Span){0}, "build: target %s writes no files", target->kind);
    return;
  }
  Session *s = tool_definitions(job->path);
  if (!s || diag_error_count()) return;
  Node *module = tool_one_module("build", s, job->module, job->path);
  if (module)
    backend->emit(lower_module(module, target), target, forms[choose_form(job)].kind, job->output);
}

int tool_build(int argc, char **argv) {
  BuildJob job = {.target = "llvm"};
  const Option options[] = {
      {"--target", 't', &job.target, NULL, "what to build for: \"llvm -mcpu=native\""},
      {"--output", 'o', &job.output, NULL,
       "the file to write; its ending says what: .so .o .s .ll"},
      {"--emit", 0, &job.emit, NULL, "what to write, whatever the name: so, o, asm, llvm"},
      {"--module", 'm', &job.module, NULL, "one module of several, by name"},
  };
  int status;
  if (!options_parse(options, sizeof options / sizeof *options, &argc, argv, &status))
    return status;
  if (argc != 2) return usage_error("build", argc < 2 ? "which file?" : "one file at a time");
  if (!job.output) return usage_error("build", "where to? give -o FILE.so");
  if (choose_form(&job) < 0)
    return usage_error(
        "build", "what is '%s' to be? end it in .so, .o, .s or .ll, or give --emit so|o|asm|llvm",
        job.output);
  job.path = argv[1];
  return tool_protected(run_build, &job);
}
