/* test_worker.c -- the process that runs the tests of one file, and tells how each of them ended.
 */
#include <time.h>
#include <unistd.h>
#include "lang/tool/test.h"
#include "lang/dialect/dialect.h"
#include "lang/value/object.h"
#include <stdio.h>

static struct {
  const char *path;
  const TestOptions *options;
  int from, pipe, number; /* number: of the next test */
  TestFile file;
} w;

/* ---- telling ---- */

/* One line, whatever the text. */
static const char *in_line(const char *text) {
  char *copy = (char *)(uintptr_t)str_copy_n(text, strlen(text));
  for (char *c = copy; *c; c++)
    if (*c == '\n' || *c == '\t') *c = ' ';
  return copy;
}

static void send(const char *line) {
  size_t n = strlen(line);
  if (write(w.pipe, line, n) != (ssize_t)n) _exit(STATUS_INTERNAL); /* nobody listens */
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Is this test to be run here? Then it has begun, at *start. */
static bool begin(const char *name, double *start) {
  if (!test_matches(w.options->pattern, name) || w.number++ < w.from) return false;
  send(str_format("B\t%d\t%s\n", w.number - 1, in_line(name)));
  *start = now();
  return true;
}

static void end(TestOutcome outcome, double start, const char *reason) {
  double seconds = now() - start;
  tool_flush();
  fflush(stdout);
  fflush(stderr);
  long said = (long)lseek(STDERR_FILENO, 0, SEEK_CUR); /* bytes: what follows is the next test's */
  send(str_format("E\t%ld\t%d\t%.6f\t%s\n", said, (int)outcome, seconds, in_line(reason)));
}

/* ---- cases ---- */

static void run_cases(const Source *source, const TestCaseVec *cases) {
  StrVec printed = {0};
  for each (TestCase, t, cases) {
    const char *name = cases->len > 1 ? str_format("%s:%d", t->path, t->first_line) : t->path;
    const char *actual = NULL;
    double start;
    if (begin(name, &start)) {
      DiagVec *outer = diag_capture();
      bool ok = test_case_run(t, &actual), mended = w.options->update && actual;
      DiagVec *found = diag_restore(outer);
      if (!mended) diag_append(found);
      end(ok || mended ? TEST_PASSED : TEST_FAILED, start, "");
    }
    vec_push(&printed, actual);
  }
  if (w.options->update) test_cases_update(source, cases, &printed);
}

/* ---- functions ---- */

/* The name in "name 'x' is not defined", which Python's and the dialects' reports share. */
static const char *undefined_name(const Diag *d) {
  const char *at = strstr(d->text, "name '"), *close = at ? strchr(at + 6, '\'') : NULL;
  if (!close || strncmp(close, "' is not defined", 16) != 0) return NULL;
  return str_intern_n(at + 6, (size_t)(close - at - 6));
}

/* A name that a failed statement of the file was to define: why it did not. */
static void explain_gaps(const DiagVec *found) {
  for each (Diag *, d, found) {
    const char *name = undefined_name(*d);
    TestGap *gap = name ? test_gap(&w.file, name) : NULL;
    if (!gap) continue;
    gap->met = true;
    for each (Diag *, why, gap->why)
      diag_note(*d, (*why)->span, "'%s' is missing: %s", name, (*why)->text);
  }
}

typedef struct ValueCall {
  Value f, result;
  int n;
  Value args[1];
} ValueCall;

static void run_call(void *context) {
  ValueCall *c = context;
  c->result = value_call_with(c->f, c->n, c->args, (Span){0});
}

/* Calls a method of a Test of pytest.tvms. Its result, or absent with the error. */
static Value ask(Value test, const char *method, Error **e) {
  ValueCall c = {.f = value_get_attr(test, str_intern(method), (Span){0})};
  *e = eval_protect(run_call, &c);
  return *e ? value_absent() : c.result;
}

static const char *text_or(Value v, const char *otherwise) {
  return v.type && !value_is_none(v) ? value_to_str(v) : otherwise;
}

static bool is_xfail(Value test, Value *mark) {
  Error *e;
  *mark = ask(test, "xfailed", &e);
  return mark->type && !value_is_none(*mark);
}

/* The outcome of a test that ran; its diagnostics are reported if it failed. */
static TestOutcome outcome_of(Value test, Error *e, const char **reason) {
  Value mark;
  if (e && str_same(e->kind, "Skipped")) return *reason = e->text, TEST_SKIPPED;
  if (e && str_same(e->kind, "XFailed")) return *reason = e->text, TEST_XFAILED;
  bool expected = is_xfail(test, &mark), failed = e || diag_error_count();
  if (e && (!str_same(e->kind, ERROR_POISONED) || !diag_error_count())) error_report_uncaught(e);
  if (!expected) return failed ? TEST_FAILED : TEST_PASSED;
  if (failed) return TEST_XFAILED;
  bool strict = value_truth(ask(test, "is_strict", &e), (Span){0});
  if (strict) diag_error((Span){0}, "the test passed, but is marked xfail(strict=True)");
  return strict ? TEST_FAILED : TEST_XPASSED;
}

static void run_test(Value test) {
  const char *id = value_text(value_get_attr(test, str_intern("id"), (Span){0})), *reason = "";
  double start;
  Error *e;
  if (!begin(str_format("%s::%s", w.path, id), &start)) return;
  Value skipped = ask(test, "skipped", &e);
  if (!e && !value_is_none(skipped)) return end(TEST_SKIPPED, start, text_or(skipped, ""));
  DiagVec *outer = diag_capture();
  if (!e) ask(test, "run", &e);
  TestOutcome o = outcome_of(test, e, &reason);
  DiagVec *found = diag_restore(outer);
  explain_gaps(found);
  if (o == TEST_FAILED || o == TEST_XPASSED) diag_append(found);
  end(o, start, reason);
}

static void collect(void *context) {
  ValueCall *c = context;
  Value pytest = namespace_import("pytest", (Span){0});
  c->f = value_get_attr(pytest, str_intern("collect"), (Span){0});
  c->args[0] = value_dict();
  for each (NameEntry, n, &w.file.session->globals->names)
    if (n->name) value_dict_set(c->args[0], value_str(n->name), n->value, (Span){0});
  run_call(c);
}

/* What fails as a whole: the file, or a statement of it. */
static void tell_failure(const char *name, const DiagVec *why) {
  double start;
  if (!begin(name, &start)) return;
  diag_append(why);
  end(TEST_FAILED, start, "");
}

/* Tests that could not be defined fail now, other statements if no test failed for them. */
static void tell_gaps(bool tests) {
  for each (TestGap, g, &w.file.gaps) {
    const char *name = g->names.len == 1 ? g->names.at[0] : "";
    bool is_test = strncasecmp(name, "test", 4) == 0;
    if (g->met || is_test != tests) continue;
    int line = source_locate(g->statement->span.lo).line;
    tell_failure(is_test ? str_format("%s::%s", w.path, name) : str_format("%s:%d", w.path, line),
                 g->why);
  }
}

static const char *stem_of(const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  return str_copy_n(base, strcspn(base, "."));
}

static void run_functions(const Source *source) {
  double start;
  DiagVec *outer = diag_capture();
  w.file.session = session_new(w.path);
  env_set(w.file.session->globals, str_intern("__name__"), value_str(stem_of(w.path)));
  bool parsed = test_load(&w.file, source);
  ValueCall c = {.n = 1};
  Error *e = parsed && !w.file.skipped ? eval_protect(collect, &c) : NULL;
  if (e) error_report_uncaught(e);
  DiagVec *why = diag_restore(outer);
  if (!parsed || e) return tell_failure(w.path, why);
  if (w.file.skipped) {
    if (begin(w.path, &start)) end(TEST_SKIPPED, start, w.file.skipped);
    return;
  }
  diag_append(why);
  ValueVec tests = *value_items(c.result);
  tell_gaps(true);
  for each (Value, t, &tests) run_test(*t);
  tell_gaps(false);
  if (!tests.len && !w.file.gaps.len && begin(w.path, &start)) end(TEST_PASSED, start, "");
}

static void set_up(const char *path, int from, const TestOptions *options, int pipe) {
  w.path = path;
  w.options = options;
  w.from = from;
  w.pipe = pipe;
}

static void run_model(void *context) {
  ValueCall *c = context;
  Value module = namespace_import("tvm.relax.frontend.onnx.conformance", (Span){0});
  Value run_case = value_get_attr(module, str_intern("run_case"), (Span){0});
  Value args[] = {value_str(w.path), value_str(w.options->target)};
  c->result = value_call_with(run_case, 2, args, (Span){0});
}

/* What went wrong is told by the last lines of the error alone: the case says where to look. */
void test_onnx_worker(const char *path, int from, const TestOptions *options, int pipe) {
  set_up(path, from, options, pipe);
  double start;
  if (!begin(path, &start)) return;
  ValueCall c = {0};
  Error *e = eval_protect(run_model, &c);
  if (e) return end(TEST_FAILED, start, e->text);
  end(TEST_PASSED, start, value_to_str(c.result));
}

void test_worker(const char *path, int from, const TestOptions *options, int pipe) {
  set_up(path, from, options, pipe);
  DiagVec *outer = diag_capture();
  const Source *source = source_read(path);
  DiagVec *why = diag_restore(outer);
  if (!source) return tell_failure(path, why);
  TestCaseVec cases = test_cases(source);
  if (strcmp(cases.at[0].form, "module") == 0) return;
  if (strcmp(cases.at[0].form, "run") == 0) run_functions(source);
  else run_cases(source, &cases);
}
