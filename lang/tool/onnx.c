/* onnx.c -- ONNX models on the command line: `tvms import`, `tvms inspect`, `tvms run MODEL.onnx`;
 * and as what other commands read in place of a text. stdlib/import/onnx/command.tvms does it. */
#include "lang/tool/tool.h"
#include "lang/dialect/build_target.h"
#include "lang/dialect/dialect.h"
#include "lang/value/object.h"

#define COMMANDS "tvm.relax.frontend.onnx.command"

bool is_onnx(const char *path) { return str_ends(path, ".onnx"); }

/* A function of command.tvms and its arguments, which are texts or lists of them. */
typedef struct CommandCall {
  const char *function;
  Value args[5];
  int n;
  Value result;
} CommandCall;

static void call_body(void *context) {
  CommandCall *c = context;
  Value module = namespace_import(COMMANDS, (Span){0});
  Value f = value_get_attr(module, str_intern(c->function), (Span){0});
  c->result = value_call_with(f, c->n, c->args, (Span){0});
}

/* False: it failed, which was told without the way into the library. */
static bool call_command(CommandCall *c) {
  Error *e = eval_protect(call_body, c);
  if (!e) return true;
  if (e->kind && str_same(e->kind, ERROR_INTERNAL)) error_raise(e);
  diag_error((Span){0}, "%s", e->text);
  return false;
}

/* The call of a function that takes a model and what is told of it. */
static CommandCall model_call(const char *function, const char *path, const ModelOptions *m) {
  return (CommandCall){.function = function,
                       .args = {value_str(path), value_str(m->dims ? m->dims : ""),
                                value_str(m->values ? m->values : "")},
                       .n = 3};
}

Session *onnx_definitions(const char *path, const ModelOptions *model) {
  CommandCall c = model_call("module_of", path, model);
  if (!call_command(&c)) return NULL;
  Session *s = session_new(path);
  env_set(s->globals, str_intern("Module"), c.result);
  return s;
}

/* ---- import ----  */

typedef struct ImportJob {
  const char *path, *output;
  ModelOptions model;
} ImportJob;

/* "model.tvms" -> "model.safetensors" */
static const char *weights_path(const char *output) {
  const char *dot = strrchr(output, '.'), *slash = strrchr(output, '/');
  bool has_ending = dot && (!slash || dot > slash);
  return str_format("%s.safetensors",
                    has_ending ? str_copy_n(output, (size_t)(dot - output)) : output);
}

static void run_import(void *context) {
  const ImportJob *job = context;
  CommandCall c = model_call("as_script", job->path, &job->model);
  if (!call_command(&c)) return;
  const ValueVec *parts = value_items(c.result);
  const StrObject *text = parts->at[0].object, *weights = parts->at[1].object;
  tool_write_file(weights_path(job->output), weights->text, weights->len);
  tool_write_file(job->output, text->text, text->len);
}

int tool_import(int argc, char **argv) {
  ImportJob job = {0};
  const Option options[] = {{"--output", 'o', &job.output, NULL,
                             "the script to write; beside it the weights, .safetensors"},
                            MODEL_OPTIONS(job.model)};
  int status;
  if (!options_parse(options, sizeof options / sizeof *options, &argc, argv, &status))
    return status;
  if (argc != 2) return usage_error("import", argc < 2 ? "which file?" : "one file at a time");
  if (!job.output) return usage_error("import", "where to? give -o FILE.tvms");
  job.path = argv[1];
  return tool_protected(run_import, &job);
}

/* ---- inspect ---- */

typedef struct InspectJob {
  const char *path;
  const ModelOptions *model;
} InspectJob;

static void run_inspect(void *context) {
  InspectJob *job = context;
  CommandCall c = model_call("inspect", job->path, job->model);
  if (call_command(&c)) puts(value_text(c.result));
}

int onnx_inspect(const char *path, const ModelOptions *model) {
  InspectJob job = {path, model};
  return tool_protected(run_inspect, &job);
}

/* ---- run ---- */

typedef struct RunJob {
  const char *path, *output, *target, *format;
  ValueVec inputs;
} RunJob;

static void run_model(void *context) {
  RunJob *job = context;
  CommandCall c = {.function = "run",
                   .args = {value_str(job->path), value_list(job->inputs), value_str(job->output),
                            value_str(job->target), value_str(job->format)},
                   .n = 5};
  if (call_command(&c)) puts(value_text(c.result));
}

/* Takes "--input X" and "--input=X", which may be given several times, out of argv. */
static void take_inputs(RunJob *job, int *argc, char **argv) {
  int kept = 1;
  for (int i = 1; i < *argc; i++) {
    bool separate =
        (strcmp(argv[i], "--input") == 0 || strcmp(argv[i], "-i") == 0) && i + 1 < *argc;
    if (separate) vec_push(&job->inputs, value_str(argv[++i]));
    else if (strncmp(argv[i], "--input=", 8) == 0) vec_push(&job->inputs, value_str(argv[i] + 8));
    else argv[kept++] = argv[i];
  }
  *argc = kept;
}

int onnx_run(int argc, char **argv) {
  RunJob job = {.output = ".", .target = "llvm", .format = "npy"};
  const char *inputs = NULL;
  const Option options[] = {
      {"--input", 'i', &inputs, NULL, "\"x=x.npy\": an input from a file; once for each"},
      {"--output", 'o', &job.output, NULL, "the folder to write outputs to, as NAME.npy (.)"},
      {"--format", 0, &job.format, NULL, "of outputs: npy, or pb as in the format's test data"},
      {"--target", 't', &job.target, NULL, "what to build for (llvm)"},
      {"--sanitize", 0, NULL, &build_defaults.sanitizes,
       "run kernels on a simulated GPU that reports races, divergent barriers, bad accesses"},
  };
  int status;
  take_inputs(&job, &argc, argv);
  if (!options_parse(options, sizeof options / sizeof *options, &argc, argv, &status))
    return status;
  if (argc != 2) return usage_error("run", "one model at a time");
  if (!str_same(job.format, "npy") && !str_same(job.format, "pb"))
    return usage_error("run", "--format %s: there are npy and pb", job.format);
  job.path = argv[1];
  return tool_protected(run_model, &job);
}
