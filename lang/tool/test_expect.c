/* test_expect.c -- tests that say which errors their text has, on the lines where they are. */
#include "lang/tool/test.h"
#include <ctype.h>
#include <stdlib.h>

typedef struct Expected {
  Severity severity;
  int line; /* 0: anywhere */
  const char *text;
  Span span; /* of the expectation */
  bool met;
} Expected;
typedef VEC(Expected) ExpectedVec;

/* "@+1", "@-2", "@*" after the word; *at is moved past it. False if it is none of these. */
static bool read_line_shift(const char **at, int line, int *out) {
  *out = line;
  if (**at != '@') return true;
  ++*at;
  if (**at == '*') return ++*at, *out = 0, true;
  if (**at != '+' && **at != '-') return false;
  char *end;
  *out = line + (int)strtol(*at, &end, 10);
  *at = end;
  return true;
}

static const struct {
  const char *word;
  Severity severity;
} words[] = {{"expected-error", DIAG_ERROR},
             {"expected-warning", DIAG_WARNING},
             {"expected-note", DIAG_NOTE},
             {"expected-help", DIAG_HELP}};

/* Reads one expectation at `at`, which begins with "expected-". */
static const char *read_expected(ExpectedVec *out, const Source *s, const char *at, int line) {
  const char *start = at;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t n = strlen(words[i].word);
    if (strncmp(at, words[i].word, n) != 0) continue;
    Expected e = {.severity = words[i].severity};
    at += n;
    bool ok = read_line_shift(&at, line, &e.line);
    while (*at == ' ') at++;
    const char *close = strstr(at, "}}");
    uint32_t lo = s->base + (uint32_t)(start - s->text);
    if (!ok || strncmp(at, "{{", 2) != 0 || !close) {
      diag_error((Span){lo, lo + (uint32_t)n},
                 "expected '%s {{text}}', or @+1, @-1 or @* before the text", words[i].word);
      return start + n;
    }
    e.text = str_copy_n(at + 2, (size_t)(close - at - 2));
    e.span = (Span){lo, s->base + (uint32_t)(close + 2 - s->text)};
    vec_push(out, e);
    return close + 2;
  }
  return at + 1;
}

static ExpectedVec read_all(const Source *s) {
  ExpectedVec out = {0};
  int line = 1;
  bool in_comment = false;
  for (const char *at = s->text; *at;) {
    if (*at == '\n') line++, in_comment = false;
    if (*at == '#') in_comment = true;
    if (in_comment && strncmp(at, "expected-", 9) == 0) at = read_expected(&out, s, at, line);
    else at++;
  }
  return out;
}

static void match(ExpectedVec *expected, const Diag *d, bool *known) {
  Location at = source_locate(d->span.lo);
  for each (Expected, e, expected)
    if (e->severity == d->severity && (!e->line || e->line == at.line) &&
        strstr(d->text, e->text)) {
      *known = e->met = true;
      return;
    }
}

bool test_expect_errors(const TestCase *t) {
  const Source *source = test_source(t);
  ExpectedVec expected = read_all(source);
  if (diag_error_count()) return false;
  DiagVec *outer = diag_capture();
  Session *s = session_new(t->path);
  session_run(s, source, NULL);
  DiagVec *found = diag_restore(outer);
  bool ok = !s->broken;
  for each (Diag *, d, found) {
    bool known = false, ignored = false;
    match(&expected, *d, &known);
    for each (Diag *, note, &(*d)->notes) match(&expected, *note, &ignored);
    if (known || ((*d)->severity != DIAG_ERROR)) continue;
    ok = false;
    DiagVec one = {.at = d, .len = 1};
    diag_append(&one);
    diag_note(*d, (Span){0}, "this error was not expected");
  }
  for each (Expected, e, &expected)
    if (!e->met) {
      ok = false;
      diag_error(e->span, "no such %s: %s", words[e->severity].word + strlen("expected-"), e->text);
    }
  return ok;
}
