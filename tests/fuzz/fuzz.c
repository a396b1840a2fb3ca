/* fuzz.c -- what a fuzzer runs: one text, in one of three ways, or one ONNX model.
 *
 *   fuzz parse FILE       the parser: a sound tree, faults reported
 *   fuzz eval FILE        the script, with a second of time and without the file system
 *   fuzz roundtrip FILE   its modules: printed, read again, equal, and printed the same
 *   fuzz onnx FILE        the model: imported, or refused; its module is well-formed
 *
 * A fault of tvms is an abort; what is wrong with the text is none. Under AFL++ the process starts
 * once and forks where the text is about to be read. */
#include <signal.h> /* before value.h, which has another `raise` */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ir/support/gc.h"
#include "lang/builtin/builtin.h"
#include "lang/dialect/dialect.h"
#include "lang/tool/tool.h"
#include "lang/value/object.h"

static _Noreturn void fault(const char *what) {
  fprintf(stderr, "fuzz: %s\n", what);
  abort();
}

/* ---- parse ---- */

typedef struct Checked {
  const Source *source;
  int depth, errors; /* levels above; Error nodes seen */
} Checked;

static void check_node(void *context, Ast *node) {
  Checked *c = context;
  uint32_t end = c->source->base + c->source->len;
  if (node->span.lo > node->span.hi || node->span.lo < c->source->base || node->span.hi > end)
    fault("a span is outside of the text");
  if (node->kind == AST_KIND_Error && node->depth != 1) fault("poison is in the tree");
  if (c->depth > AST_DEPTH_MAX) fault("the tree is too deep");
  c->errors += node->kind == AST_KIND_Error;
  c->depth++;
  ast_each_child(node, check_node, c);
  c->depth--;
}

static void fuzz_parse(const Source *source, const char *path) {
  (void)path;
  AstModule *m = parse_module(source);
  Checked c = {.source = source};
  check_node(&c, &m->ast);
  if (c.errors && !diag_error_count()) fault("an Error node was not reported");
  ast_dump(&m->ast);
  parse_expression(source);
  parse_wants_more(source->text, source->len);
}

/* ---- eval ---- */

static void time_is_up(int signal) {
  (void)signal;
  interrupt_pending = 1;
}

/* No file can be opened or written, no module outside the program be loaded. */
static void leave_the_file_system(void) {
  char folder[] = "/tmp/tvms-fuzz-XXXXXX";
  if (!mkdtemp(folder) || chdir(folder)) exit(2);
  rmdir(folder);
  if (geteuid() == 0 && (chroot(".") || setgid(65534) || setuid(65534))) exit(2);
  setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
  signal(SIGXFSZ, SIG_IGN);
}

static void fuzz_eval(const Source *source, const char *path) {
  (void)path;
  leave_the_file_system();
  signal(SIGALRM, time_is_up);
  alarm(1);
  Session *s = session_new(NULL);
  session_run(s, source, NULL);
  if (s->broken) fault("an internal error");
}

/* ---- roundtrip ---- */

static void fuzz_roundtrip(const Source *source, const char *path) {
  signal(SIGALRM, time_is_up);
  alarm(1);
  Session *s = session_definitions(source, NULL);
  if (diag_error_count()) return;
  const PrintOptions meta = {.constants = CONSTANTS_INLINE};
  NamedModuleVec modules = session_modules(s);
  for each (NamedModule, m, &modules)
    if (!check_roundtrip(path, m, &meta)) {
      diag_flush(stderr, DIAG_PLAIN);
      fault("the round trip failed");
    }
}

/* ---- onnx ---- */

/* Read before the fuzzer's process forks, for they are many. */
static void load_importer(void) { namespace_import("tvm.relax.frontend.onnx.command", (Span){0}); }

static void fuzz_onnx(const Source *source, const char *path) {
  (void)source;
  signal(SIGALRM, time_is_up);
  alarm(2);
  Value module = namespace_import("tvm.relax.frontend.onnx.command", (Span){0});
  Value import = value_get_attr(module, str_intern("module_of"), (Span){0});
  Value made = value_call_with(import, 1, (Value[]){value_str(path)}, (Span){0});
  if (!ir_verify(made.node)) {
    diag_flush(stderr, DIAG_PLAIN);
    fault("the module is not well-formed");
  }
}

/* ---- main ---- */

typedef struct Job {
  void (*run)(const Source *source, const char *path);
  const Source *source;
  const char *path;
} Job;

static void run_job(void *context) {
  Job *j = context;
  j->run(j->source, j->path);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(const Source *source, const char *path);
    void (*prepare)(void); /* of a way that reads no text */
  } ways[] = {{"parse", fuzz_parse, NULL},
              {"eval", fuzz_eval, NULL},
              {"roundtrip", fuzz_roundtrip, NULL},
              {"onnx", fuzz_onnx, load_importer}};
  enum { WAYS = sizeof ways / sizeof *ways };
  gc_start();
  lang_start(argc, argv);
  for (int i = 0; i < WAYS; i++)
    if (argc == 3 && str_same(ways[i].name, argv[1]) && ways[i].prepare) ways[i].prepare();
#ifdef __AFL_HAVE_MANUAL_CONTROL
  __AFL_INIT();
#endif
  for (int i = 0; argc == 3 && i < WAYS; i++) {
    if (strcmp(ways[i].name, argv[1]) != 0) continue;
    Job job = {ways[i].run, ways[i].prepare ? NULL : source_read(argv[2]), argv[2]};
    if (!job.source && !ways[i].prepare) return 1;
    Error *e = eval_protect(run_job, &job);
    if (e && str_same(e->kind, ERROR_INTERNAL)) {
      error_report(e);
      diag_flush(stderr, DIAG_PLAIN);
      fault("an internal error");
    }
    return 0;
  }
  fprintf(stderr, "usage: fuzz parse|eval|roundtrip|onnx FILE\n");
  return 2;
}
