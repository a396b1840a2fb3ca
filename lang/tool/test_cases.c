/* test_cases.c -- the cases of a test file, and running one. */
#include "lang/tool/test.h"
#include "lang/value/object.h"
#include <ctype.h>
#include <stdio.h>

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

TestCaseVec test_cases(const Source *s) {
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

bool test_case_run(const TestCase *t, const char **actual) {
  CaseRun r = {.t = t};
  Error *e = eval_protect(run_case, &r); /* errors that a case lets out are its failure */
  if (e) error_report_uncaught(e);
  *actual = r.actual;
  return !e && r.ok;
}

void test_cases_update(const Source *source, const TestCaseVec *cases, const StrVec *actual) {
  Str updated = {0};
  const char *at = source->text;
  bool changed = false;
  for (int i = 0; i < cases->len; i++) {
    const TestCase *t = &cases->at[i];
    str_add_n(&updated, at, (size_t)(t->text - at));
    at = t->text + t->len;
    if (actual->at[i]) str_add(&updated, test_updated(t->text, t->len, actual->at[i]));
    else str_add_n(&updated, t->text, t->len);
    changed |= actual->at[i] != NULL;
  }
  if (changed) tool_write_file(source->name, str_text(&updated), updated.len);
}
