/* opt.c -- `tvms opt`: runs passes on the modules of a file and prints the result. */
#include "lang/tool/tool.h"
#include "lang/dialect/dialect_impl.h"
#include "passes/passes.h"
#include "ir/target.h"

typedef struct OptJob {
  const char *passes, *target, *module, *path, *output, *load;
  ModelOptions model;
  Instruments instruments;
  PrintOptions style;
  bool check_each;
} OptJob;

typedef struct CheckEach {
  Node *module;
  const char *passes;
} CheckEach;

/* Re-executes after each pass: tvm.compare does it. */
static void check_each(void *context) {
  CheckEach *c = context;
  CallArgs args = {0};
  vec_push(&args.positional, value_node(c->module));
  vec_push(&args.positional, value_str(c->passes));
  value_call(library_attr("tvm.compare", "check_each"), &args);
}

static void run_opt(void *context) {
  OptJob *job = context;
  if (job->load) module_load_file("__passes__", job->load, (Span){0});
  Session *s = tool_definitions(job->path, &job->model);
  if (!s || diag_error_count()) return;
  const Target *target = job->target ? target_parse(job->target, (Span){0}) : NULL;
  Pipeline pipeline = pipeline_parse(job->passes, (Span){0});
  NamedModuleVec all = session_modules(s);
  if (job->module || !all.len) {
    Node *one = tool_one_module("opt", s, job->module, job->path);
    all = (NamedModuleVec){0};
    if (one) vec_push(&all, ((NamedModule){job->module, one}));
  }
  /* A module may have been read with check_well_formed=False; passes expect what is well-formed. */
  bool well_formed = true;
  for each (NamedModule, m, &all) well_formed &= ir_verify(m->module);
  if (!well_formed) return;
  for each (NamedModule, m, &all) {
    Error *e =
        job->check_each ? eval_protect(check_each, &(CheckEach){m->module, job->passes}) : NULL;
    if (e) diag_error((Span){0}, "opt: %s", e->text);
    if (e) return;
  }
  Str text = {0};
  for each (NamedModule, m, &all)
    str_add(&text,
            ir_print(pipeline_run(&pipeline, m->module, target, &job->instruments), &job->style));
  if (job->output) tool_write_file(job->output, str_text(&text), text.len);
  else fwrite(text.at, 1, text.len, stdout);
}

int tool_opt(int argc, char **argv) {
  OptJob job = {.passes = ""};
  const char *style = "default", *constants = "metadata";
  const Option options[] = {
      {"--passes", 'p', &job.passes, NULL,
       "the pipeline: \"Simplify, UnrollLoop(auto_max_extent=8)\""},
      {"--load", 'l', &job.load, NULL, "a script to run first, for the passes that it defines"},
      {"--target", 't', &job.target, NULL, "a target that passes may ask about"},
      {"--module", 'm', &job.module, NULL, "one module of several, by name"},
      {"--output", 'o', &job.output, NULL, "write the text to a file"},
      {"--print-after", 0, &job.instruments.print_after, NULL, "print the module after this pass"},
      {"--print-after-all", 0, NULL, &job.instruments.print_after_all,
       "print the module after each pass"},
      {"--print-after-change", 0, NULL, &job.instruments.print_after_change,
       "print the module after each pass that changed it"},
      {"--print-before-all", 0, NULL, &job.instruments.print_before_all,
       "print the module before each pass"},
      {"--verify-each", 0, NULL, &job.instruments.verify_each, "verify the module after each pass"},
      {"--check-each", 0, NULL, &job.check_each,
       "run the functions after each pass: one that changes what they give is an error"},
      {"--time", 0, NULL, &job.instruments.timing, "tell how long each pass took"},
      {"--style", 0, &style, NULL, "the spelling to print in: default or tvm"},
      {"--constants", 0, &constants, NULL,
       "large constants: metadata before the text, inline, or by reference only"},
      MODEL_OPTIONS(job.model),
  };
  int status;
  if (!options_parse(options, sizeof options / sizeof *options, &argc, argv, &status))
    return status;
  if (argc != 2) return usage_error("opt", argc < 2 ? "which file?" : "one file at a time");
  if (!print_style_parse(style, &job.style)) return usage_error("opt", "no style '%s'", style);
  if (!print_constants_parse(constants, &job.style))
    return usage_error("opt", "no form of constants '%s'", constants);
  job.path = argv[1];
  return tool_protected(run_opt, &job);
}
