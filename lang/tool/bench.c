/* bench.c -- `tvms bench`: how long the functions of a module take, and how near that is to what
 * the machine can do. tvm.measure (stdlib/module/tvm/measure.tvms) does it. */
#include "lang/tool/tool.h"
#include "lang/dialect/dialect_impl.h"
#include "ir/target.h"
#include <errno.h>
#include <stdlib.h>

/* An option that tvm.measure.report takes as a keyword of this name. */
typedef struct Setting {
  const char *name, *option, *text; /* text NULL: not given */
  int64_t least;                    /* of a number; -1: a text */
  const char *doc;
} Setting;

typedef struct BenchJob {
  const char *path, *module;
  ModelOptions model;
  Setting *settings;
  int count;
  bool json;
} BenchJob;

typedef struct Report {
  const BenchJob *job;
  Node *module;
} Report;

static void print_report(void *context) {
  Report *r = context;
  CallArgs args = {0};
  vec_push(&args.positional, value_node(r->module));
  vec_push(&args.names, str_intern("as_json"));
  vec_push(&args.named, value_bool(r->job->json));
  for (int i = 0; i < r->job->count; i++) {
    const Setting *s = &r->job->settings[i];
    if (!s->text) continue;
    vec_push(&args.names, str_intern(s->name));
    vec_push(&args.named,
             s->least < 0 ? value_str(s->text) : value_int(strtoll(s->text, NULL, 10)));
  }
  puts(value_text(value_call(library_attr("tvm.measure", "report"), &args)));
}

/* Is it about what was asked for? Then it is told without the way into the library. */
static bool is_of_request(const Error *e) {
  return e->kind && (str_same(e->kind, "BenchError") || str_same(e->kind, "MemoryError"));
}

static void run_bench(void *context) {
  const BenchJob *job = context;
  for (int i = 0; i < job->count; i++)
    if (str_same(job->settings[i].name, "target") && job->settings[i].text)
      target_parse(job->settings[i].text, (Span){0});
  Session *s = tool_definitions(job->path, &job->model);
  if (!s || diag_error_count()) return;
  Node *m = tool_one_module("bench", s, job->module, job->path);
  if (!m) return;
  Error *e = eval_protect(print_report, &(Report){job, m});
  if (e && is_of_request(e)) diag_error((Span){0}, "bench: %s", e->text);
  else if (e) error_raise(e);
}

static bool is_number(const Setting *s) {
  char *end;
  errno = 0;
  long long n = strtoll(s->text, &end, 10);
  return !errno && end != s->text && !*end && n >= s->least && n <= INT32_MAX;
}

static const Setting all_settings[] = {
    {"func", "--func", NULL, -1, "which functions, by commas; else all public ones"},
    {"shapes", "--shapes", NULL, -1,
     "\"128x256,n=4\": shapes of its tensors in their order, or values of its variables"},
    {"inputs", "--input", NULL, -1,
     "\"x=x.npy\": an argument from a file; by commas. The others are random"},
    {"target", "--target", NULL, -1, "what to compile for: \"llvm -mcpu=native\""},
    {"threads", "--threads", NULL, 1, "how many threads; else one for each core"},
    {"number", "--number", NULL, 1, "calls in a repetition; else as many as last 20 ms"},
    {"repeat", "--repeat", NULL, 1, "repetitions, of which the median counts: 11"},
    {"seed", "--seed", NULL, 0, "of the random arguments: 0"},
};
enum { SETTINGS = sizeof all_settings / sizeof *all_settings, OWN = 4 /* other options */ };

int tool_bench(int argc, char **argv) {
  Setting settings[SETTINGS];
  BenchJob job = {.settings = memcpy(settings, all_settings, sizeof settings), .count = SETTINGS};
  Option options[SETTINGS + OWN] = {
      {"--module", 'm', &job.module, NULL, "one module of several, by name"},
      {"--json", 0, NULL, &job.json, "print all figures as JSON"},
      MODEL_OPTIONS(job.model),
  };
  for (int i = 0; i < SETTINGS; i++)
    options[i + OWN] = (Option){settings[i].option, 0, &settings[i].text, NULL, settings[i].doc};
  int status;
  if (!options_parse(options, SETTINGS + OWN, &argc, argv, &status)) return status;
  if (argc != 2) return usage_error("bench", argc < 2 ? "which file?" : "one file at a time");
  for (int i = 0; i < SETTINGS; i++)
    if (settings[i].text && settings[i].least >= 0 && !is_number(&settings[i]))
      return usage_error("bench", "%s is a number from %d on, not '%s'", settings[i].option,
                         (int)settings[i].least, settings[i].text);
  job.path = argv[1];
  return tool_protected(run_bench, &job);
}
