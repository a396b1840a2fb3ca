/* test.c -- `tvms test`: runs test files, tells what failed, and counts. */
#include "lang/tool/test.h"
#include "lang/value/object.h"
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct {
  const char *pattern; /* NULL: all */
  bool update;
  int passed, failed;
} tests;

static bool is_wanted(const char *name) { return !tests.pattern || strstr(name, tests.pattern); }

/* Counts a result, and tells a failure with the diagnostics of the current list. */
static void finish(const char *name, bool ok) {
  if (ok) {
    tests.passed++;
    return;
  }
  tests.failed++;
  fflush(stdout);
  fprintf(stderr, "FAIL %s\n", name);
}

/* ---- cases ---- */

static const char *line_end(const char *at, const char *end) {
  const char *newline = memchr(at, '\n', (size_t)(end - at));
  return newline ? newline : end;
}

static bool is_separator(const char *at, const char *stop) {
  static const char mark[] = "# -----";
  return (size_t)(stop - at) >= sizeof mark - 1 && memcmp(at, mark, sizeof mark - 1) == 0;
}

/* Reads `# TEST: form argument`, if the line is one. */
static void read_form(TestCase *t, const char *at, const char *stop) {
  static const char mark[] = "# TEST:";
  size_t n = sizeof mark - 1;
  if ((size_t)(stop - at) < n || memcmp(at, mark, n) != 0) return;
  at += n;
  while (at < stop && *at == ' ') at++;
  const char *word = at;
  while (at < stop && !isspace((unsigned char)*at)) at++;
  t->form = str_copy_n(word, (size_t)(at - word));
  while (at < stop && *at == ' ') at++;
  while (stop > at && isspace((unsigned char)stop[-1])) stop--;
  t->argument = str_copy_n(at, (size_t)(stop - at));
}

/* A case takes over the form of the one before, unless it names its own. */
static TestCaseVec split_cases(const Source *s) {
  TestCaseVec cases = {0};
  TestCase t = {.path = s->name, .text = s->text, .first_line = 1, .form = "run", .argument = ""};
  const char *end = s->text + s->len;
  int line = 1;
  for (const char *at = s->text, *stop; at < end; at = stop + (stop < end), line++) {
    stop = line_end(at, end);
    if (strcmp(t.form, "run") != 0 && is_separator(at, stop)) {
      t.len = (size_t)(at - t.text);
      vec_push(&cases, t);
      t.text = stop + (stop < end);
      t.first_line = line + 1;
    } else {
      read_form(&t, at, stop);
    }
  }
  t.len = (size_t)(end - t.text);
  vec_push(&cases, t);
  return cases;
}

const Source *test_source(const TestCase *t) {
  Str text = {0};
  for (int i = 1; i < t->first_line; i++) str_add_char(&text, '\n');
  str_add_n(&text, t->text, t->len);
  return source_add(t->path, str_text(&text), text.len);
}

typedef struct CaseRun {
  const TestCase *t;
  bool ok;
  const char *actual;
} CaseRun;

static void run_case(void *context) {
  CaseRun *r = context;
  const char *form = r->t->form;
  if (strcmp(form, "expect-error") == 0) r->ok = test_expect_errors(r->t);
  else if (strcmp(form, "output") == 0) r->ok = test_output(r->t, &r->actual);
  else if (strcmp(form, "pass") == 0) r->ok = test_pass(r->t);
  else if (strcmp(form, "roundtrip") == 0) r->ok = test_roundtrip(r->t);
  else
    diag_error((Span){0},
               "%s: unknown form of test '%s'; the forms are run, expect-error, "
               "output, module, pass and roundtrip",
               r->t->path, form);
}

/* Errors that a case lets out are its failure. */
static bool run_protected(CaseRun *r) {
  Error *e = eval_protect(run_case, r);
  if (e) error_report_uncaught(e);
  return !e && r->ok;
}

static void write_back(const char *path, const char *text) {
  const char *temporary = str_format("%s.tmp", path);
  FILE *f = fopen(temporary, "w");
  bool ok = f && fputs(text, f) >= 0;
  if (f && fclose(f) != 0) ok = false;
  if (!ok || rename(temporary, path) != 0) fprintf(stderr, "tvms test: cannot write %s\n", path);
}

static void run_cases(const Source *source, const TestCaseVec *cases) {
  Str updated = {0};
  const char *at = source->text;
  bool changed = false;
  for each (TestCase, t, cases) {
    const char *name = cases->len > 1 ? str_format("%s:%d", t->path, t->first_line) : t->path;
    CaseRun r = {.t = t};
    if (is_wanted(name)) {
      DiagVec *outer = diag_capture();
      bool ok = run_protected(&r), mended = tests.update && r.actual;
      DiagVec *found = diag_restore(outer);
      if (!mended) diag_append(found);
      finish(name, ok || mended);
      tool_flush();
    }
    str_add_n(&updated, at, (size_t)(t->text - at));
    at = t->text + t->len;
    if (r.actual) str_add(&updated, test_updated(t->text, t->len, r.actual));
    else str_add_n(&updated, t->text, t->len);
    changed |= r.actual != NULL;
  }
  if (tests.update && changed) write_back(source->name, str_text(&updated));
}

/* ---- files of functions ---- */

typedef struct FunctionRun {
  Value function;
  Span span;
} FunctionRun;

static void run_function(void *context) {
  FunctionRun *r = context;
  value_call_with(r->function, 0, NULL, r->span);
}

static void run_functions(Session *s, const char *path) {
  Map names = s->globals->names;
  int found = 0;
  for (int i = 0; i < names.len; i++) {
    const char *name = names.at[i].key;
    if (!name || strncmp(name, "test_", 5) != 0) continue;
    Value f = *(Value *)names.at[i].value;
    if (!value_is_callable(f)) continue;
    found++;
    const char *full = str_format("%s::%s", path, name);
    if (!is_wanted(full)) continue;
    int before = diag_error_count();
    FunctionRun r = {.function = f};
    Error *e = eval_protect(run_function, &r);
    if (e) error_report_uncaught(e);
    finish(full, !e && diag_error_count() == before);
    tool_flush();
  }
  if (!found && is_wanted(path)) finish(path, true);
}

static void run_file(const char *path) {
  const Source *source = source_read(path);
  if (!source) {
    finish(path, false);
    tool_flush();
    return;
  }
  if (tests.pattern && !strstr(path, tests.pattern) && !strstr(source->text, tests.pattern)) return;
  TestCaseVec cases = split_cases(source);
  if (strcmp(cases.at[0].form, "module") == 0) return;
  if (strcmp(cases.at[0].form, "run") != 0) return run_cases(source, &cases);
  Session *s = session_new(path);
  bool ok = session_run(s, source, NULL);
  if (ok) return run_functions(s, path);
  if (s->exited) diag_error((Span){0}, "%s: the text called sys.exit()", path);
  finish(path, false);
  tool_flush();
}

/* ---- the command ---- */

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void run_path(const char *path) {
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return run_file(path);
  DIR *dir = opendir(path);
  VEC(const char *) names = {0};
  for (struct dirent *e; dir && (e = readdir(dir));) {
    if (e->d_name[0] == '.') continue;
    const char *inner = str_format("%s/%s", path, e->d_name);
    bool is_folder = stat(inner, &info) == 0 && S_ISDIR(info.st_mode);
    size_t n = strlen(inner);
    if (is_folder || (n > 5 && strcmp(inner + n - 5, ".tvms") == 0)) vec_push(&names, inner);
  }
  if (dir) closedir(dir);
  if (names.len) qsort(names.at, (size_t)names.len, sizeof *names.at, by_name);
  for each (const char *, name, &names) run_path(*name);
}

int tool_test(int argc, char **argv) {
  const Option options[] = {
      {.name = "--match",
       .letter = 'k',
       .value = &tests.pattern,
       .doc = "only tests whose name holds this"},
      {.name = "--update",
       .flag = &tests.update,
       .doc = "make the CHECK lines say what is printed"},
  };
  int status;
  if (!options_parse(options, 2, &argc, argv, &status)) return status;
  if (argc < 2) return usage_error("test", "which files?");
  for (int i = 1; i < argc; i++) run_path(argv[i]);
  fflush(stderr);
  printf("%d passed, %d failed\n", tests.passed, tests.failed);
  return tests.failed ? STATUS_ERROR : STATUS_OK;
}
