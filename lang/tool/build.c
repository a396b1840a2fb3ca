/* build.c -- `tvms build`: a module to a library, an object, or a text on the way there. */
#include "lang/tool/tool.h"
#include "lower/lower.h"
#include "lower/memory/report.h"
#include "target/describe.h"
#include "target/params.h"
#include "target/target.h"

typedef struct BuildJob {
  const char *target, *module, *path, *output, *emit, *params;
  ModelOptions model;
  bool report, profile;
} BuildJob;

/* By --emit, or by the ending of the output's name. */
static const EmitForm *choose_form(const BuildJob *job) {
  return job->emit ? emit_form(job->emit) : emit_form_of_path(job->output);
}

/* The header of an object or archive lies beside it: net.o, net.h. */
static void write_header(Node *lowered, const Target *target, const char *path) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
  const char *text = module_header(lowered, target, path);
  tool_write_file(str_format("%s.h", str_copy_n(path, stem)), text, strlen(text));
}

/* The constants go to a file; the code gets them by name. */
static Node *write_params(Node *lowered, const char *path) {
  const char *slash = strrchr(path, '/');
  Node *marked = params_mark(lowered, slash ? slash + 1 : path);
  ParamVec params = params_of(marked);
  size_t n;
  const char *text = params_text(&params, &n);
  tool_write_file(path, text, n);
  return marked;
}

/* A line and a picture for each graph function, when its memory is planned. */
static void report_memory(void *context, const Pass *pass, Node *module) {
  BuildJob *job = context;
  IRModule *m = AS(IRModule, module);
  if (!str_same(pass->name, "StaticPlanBlockMemory")) return;
  printf("%-24s %12s %12s %6s %8s  %s\n", "function", "storage", "live at most", "", "tensors",
         "picture");
  for each (Node *, g, &m->globals) {
    MemoryUse *u = memory_use(module, AS(GlobalVar, *g)->name);
    if (!u) continue;
    const char *path = str_format("%s.%s.svg", job->output, u->function);
    const char *svg = memory_use_svg(u);
    tool_write_file(path, svg, strlen(svg));
    printf("%-24s %12lld %12lld %5.1f%% %8d  %s%s\n", u->function, (long long)u->bytes,
           (long long)u->lower_bound,
           u->lower_bound ? 100.0 * (double)u->bytes / (double)u->lower_bound : 100.0, u->items.len,
           path, u->typical ? " (symbolic dims as 64)" : "");
  }
}

static void run_build(void *context) {
  BuildJob *job = context;
  const EmitForm *form = choose_form(job);
  const char *text = job->target ? job->target : form->target;
  if (job->profile) text = str_format("%s -profile", text);
  const Target *target = target_parse(text, (Span){0});
  const Backend *backend = backend_that_writes(target);
  if (backend->prepare && form->kind != EMIT_LOWERED) backend->prepare();
  Session *s = tool_definitions(job->path, &job->model);
  if (!s || diag_error_count()) return;
  Node *module = tool_one_module("build", s, job->module, job->path);
  if (!module) return;
  Instruments report = {.after = report_memory, .context = job};
  Node *lowered = lower_module_watched(module, target, job->report ? &report : NULL);
  if (job->params) lowered = write_params(lowered, job->params);
  bool prints = str_same(job->output, "-");
  if (prints || form->kind == EMIT_LOWERED) {
    const char *written = emit_form_text(lowered, target, form);
    if (prints) fputs(written, stdout);
    else tool_write_file(job->output, written, strlen(written));
  } else {
    backend->emit(lowered, target, form->kind, job->output);
  }
  if (form->kind == EMIT_OBJECT || form->kind == EMIT_ARCHIVE)
    write_header(lowered, target, job->output);
}

int tool_build(int argc, char **argv) {
  BuildJob job = {0};
  const char *words = str_format("what to write, whatever the name: %s", emit_form_words());
  const char *endings =
      str_format("the file to write; its ending says what: %s", emit_form_endings());
  const Option options[] = {
      {"--target", 't', &job.target, NULL, "what to build for: \"llvm -mcpu=native\", \"c\""},
      {"--output", 'o', &job.output, NULL, endings},
      {"--emit", 0, &job.emit, NULL, words},
      {"--module", 'm', &job.module, NULL, "one module of several, by name"},
      {"--params", 0, &job.params, NULL,
       "put the constants of graph functions into a .safetensors file, which a .so finds beside "
       "it"},
      {"--profile", 0, NULL, &job.profile,
       "record how long kernels take: run with TVMS_PROFILE=FILE, or FILE.json for a trace"},
      {"--report", 0, NULL, &job.report,
       "tell how much memory graph functions need, and draw it over time: OUT.FUNCTION.svg"},
      MODEL_OPTIONS(job.model),
  };
  int status;
  if (!options_parse(options, sizeof options / sizeof *options, &argc, argv, &status))
    return status;
  if (argc != 2) return usage_error("build", argc < 2 ? "which file?" : "one file at a time");
  if (!job.output && job.emit) job.output = "-";
  if (!job.output) return usage_error("build", "where to? give -o FILE.so");
  if (!choose_form(&job) && job.emit)
    return usage_error("build", "--emit %s: there are %s", job.emit, emit_form_words());
  if (!choose_form(&job))
    return usage_error("build",
                       "what is '%s' to be? end it in one of %s, or give --emit with one of %s",
                       job.output, emit_form_endings(), emit_form_words());
  if (strcmp(job.output, "-") == 0 && !choose_form(&job)->is_text)
    return usage_error("build", "--emit %s: where to? give -o FILE%s", job.emit,
                       choose_form(&job)->suffix);
  if (job.params && choose_form(&job)->kind != EMIT_SHARED)
    return usage_error("build",
                       "--params is for shared libraries (-o FILE.so): who loads one finds "
                       "the file beside it");
  if (job.params && !str_ends(job.params, ".safetensors"))
    return usage_error("build", "--params %s: the file must end in .safetensors", job.params);
  if (job.report && strcmp(job.output, "-") == 0)
    return usage_error("build", "--report draws beside the output: give -o FILE%s",
                       choose_form(&job)->suffix);
  job.path = argv[1];
  return tool_protected(run_build, &job);
}
