/* diff.c -- `tvms diff`: runs a module in two ways on the same arguments, and names the first
 * binding and the first pass at which they part. tvm.compare (stdlib/module/tvm/compare.tvms) does
 * it, and `tvms opt --check-each`. */
#include "lang/tool/tool.h"
#include "lang/dialect/dialect_impl.h"
#include <stdlib.h>

typedef struct DiffJob {
  const char *path, *a, *b, *load, *module, *func, *shapes, *seed, *rtol, *atol;
  ModelOptions model;
  Node *node;
  bool agree;
} DiffJob;

static void add_option(CallArgs *args, const char *name, const char *text, bool is_number) {
  if (!text) return;
  bool whole = str_same(name, "seed");
  vec_push(&args->names, str_intern(name));
  vec_push(&args->named, !is_number ? value_str(text)
                         : whole    ? value_int(strtoll(text, NULL, 10))
                                    : value_float(strtod(text, NULL)));
}

static void print_diff(void *context) {
  DiffJob *job = context;
  CallArgs args = {0};
  vec_push(&args.positional, value_node(job->node));
  vec_push(&args.positional, value_str(job->a));
  vec_push(&args.positional, value_str(job->b));
  add_option(&args, "func", job->func, false);
  add_option(&args, "shapes", job->shapes, false);
  add_option(&args, "seed", job->seed, true);
  add_option(&args, "rtol", job->rtol, true);
  add_option(&args, "atol", job->atol, true);
  ValueVec *found = value_items(value_call(library_attr("tvm.compare", "report"), &args));
  puts(value_text(found->at[0]));
  job->agree = value_truth(found->at[1], (Span){0});
}

static void run_diff(void *context) {
  DiffJob *job = context;
  if (job->load) module_load_file("__passes__", job->load, (Span){0});
  Session *s = tool_definitions(job->path, &job->model);
  if (!s || diag_error_count()) return;
  job->node = tool_one_module("diff", s, job->module, job->path);
  if (!job->node) return;
  Error *e = eval_protect(print_diff, job);
  if (e) diag_error((Span){0}, "diff: %s", e->text);
}

static bool is_number(const char *text) {
  char *end;
  double x = text ? strtod(text, &end) : 0;
  return !text || (end != text && !*end && x >= 0);
}

int tool_diff(int argc, char **argv) {
  DiffJob job = {.agree = true};
  const Option options[] = {
      {"--load", 'l', &job.load, NULL, "a script to run first, for the passes that it defines"},
      {"--module", 'm', &job.module, NULL, "one module of several, by name"},
      {"--func", 0, &job.func, NULL, "one function; else all public ones"},
      {"--shapes", 0, &job.shapes, NULL, "\"128x256,n=4\": as for tvms bench"},
      {"--seed", 0, &job.seed, NULL, "of the random arguments: 0"},
      {"--rtol", 0, &job.rtol, NULL, "how far numbers may differ, of themselves: 1e-4"},
      {"--atol", 0, &job.atol, NULL, "how far they may differ in any case: 1e-5"},
      MODEL_OPTIONS(job.model),
  };
  int status;
  if (!options_parse(options, sizeof options / sizeof *options, &argc, argv, &status))
    return status;
  if (argc != 4)
    return usage_error("diff",
                       "give a file and two ways to run it: targets, pipelines, or .so files");
  if (!is_number(job.seed) || !is_number(job.rtol) || !is_number(job.atol))
    return usage_error("diff", "--seed, --rtol and --atol are numbers from 0 on");
  job.path = argv[1];
  job.a = argv[2];
  job.b = argv[3];
  status = tool_protected(run_diff, &job);
  return status == STATUS_OK && !job.agree ? STATUS_ERROR : status;
}
