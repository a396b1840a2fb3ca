/* test_output.c -- tests that say what their text prints, by CHECK lines. */
#include "lang/tool/test.h"
#include "lang/value/object.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- capturing standard output, whoever writes to it ---- */

const char *test_capture(void (*body)(void *), void *context) {
  fflush(stdout);
  FILE *file = tmpfile();
  int saved = dup(STDOUT_FILENO);
  if (!file || saved < 0 || dup2(fileno(file), STDOUT_FILENO) < 0)
    raise("OSError", (Span){0}, "cannot capture standard output: %s", "no temporary file");
  Error *e = eval_protect(body, context);
  fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  rewind(file);
  Str out = {0};
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, file));) str_add_n(&out, part, n);
  fclose(file);
  if (e) error_raise(e);
  return str_text(&out);
}

/* ---- CHECK lines ---- */

typedef enum { CHECK_ANY, CHECK_NEXT, CHECK_NOT } CheckKind;
typedef struct Check {
  CheckKind kind;
  const char *text;
  Span span;
} Check;
typedef VEC(Check) CheckVec;

static const struct {
  const char *mark;
  CheckKind kind;
} marks[] = {{"# CHECK:", CHECK_ANY}, {"# CHECK-NEXT:", CHECK_NEXT}, {"# CHECK-NOT:", CHECK_NOT}};

/* Is the line a CHECK line? *text is what follows the mark and one blank. */
static bool read_check(const char *at, const char *stop, CheckKind *kind, const char **text) {
  while (at < stop && *at == ' ') at++;
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    size_t n = strlen(marks[i].mark);
    if ((size_t)(stop - at) < n || memcmp(at, marks[i].mark, n) != 0) continue;
    at += n;
    if (at < stop && *at == ' ') at++;
    while (stop > at && isspace((unsigned char)stop[-1])) stop--;
    *kind = marks[i].kind;
    *text = str_copy_n(at, (size_t)(stop - at));
    return true;
  }
  return false;
}

static CheckVec read_checks(const Source *s) {
  CheckVec out = {0};
  const char *end = s->text + s->len;
  for (const char *at = s->text, *stop; at < end; at = stop + 1) {
    stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop) stop = end;
    Check c;
    if (!read_check(at, stop, &c.kind, &c.text)) continue;
    c.span = (Span){s->base + (uint32_t)(at - s->text), s->base + (uint32_t)(stop - s->text)};
    vec_push(&out, c);
  }
  return out;
}

/* ---- matching ---- */

static StrVec split_lines(const char *text) {
  StrVec lines = {0};
  while (*text) {
    size_t n = strcspn(text, "\n");
    vec_push(&lines, str_copy_n(text, n));
    text += n + (text[n] == '\n');
  }
  return lines;
}

/* An empty CHECK text asks for an empty line. */
static bool holds(const char *line, const char *text) {
  return *text ? strstr(line, text) != NULL : line[strspn(line, " ")] == '\0';
}

static void show(Diag *d, const StrVec *lines, int from) {
  enum { SHOWN = 12 };
  if (from < 0) from = 0;
  if (from >= lines->len)
    diag_note(d, (Span){0}, "the output has ended there, after %d lines", lines->len);
  for (int i = from; i < lines->len && i < from + SHOWN; i++)
    diag_note(d, (Span){0}, "output line %d: %s", i + 1, lines->at[i]);
}

/* None of the CHECK-NOT texts waiting may be in lines [from, to). */
static bool check_absent(const CheckVec *waiting, const StrVec *lines, int from, int to) {
  for each (Check, c, waiting)
    for (int i = from; i < to; i++)
      if (holds(lines->at[i], c->text)) {
        show(diag_error(c->span, "the output holds this text"), lines, i);
        return false;
      }
  return true;
}

static bool match(const CheckVec *checks, const StrVec *lines) {
  CheckVec waiting = {0};
  int at = 0;
  for each (Check, c, checks) {
    if (c->kind == CHECK_NOT) {
      vec_push(&waiting, *c);
      continue;
    }
    int i = at;
    while (c->kind == CHECK_ANY && i < lines->len && !holds(lines->at[i], c->text)) i++;
    if (i >= lines->len || !holds(lines->at[i], c->text)) {
      show(diag_error(c->span, c->kind == CHECK_NEXT
                                   ? "the next line of the output is another"
                                   : "the output has no such line after the last match"),
           lines, at);
      return false;
    }
    if (!check_absent(&waiting, lines, at, i)) return false;
    waiting.len = 0;
    at = i + 1;
  }
  return check_absent(&waiting, lines, at, lines->len);
}

/* ---- the test ---- */

typedef struct Run {
  Session *session;
  const Source *source;
  bool ok;
} Run;

static void run_text(void *context) {
  Run *r = context;
  r->ok = session_run(r->session, r->source, NULL);
}

bool test_output(const TestCase *t, const char **actual) {
  Run r = {.session = session_new(t->path), .source = test_source(t)};
  CheckVec checks = read_checks(r.source);
  *actual = test_capture(run_text, &r);
  if (!r.ok) return *actual = NULL, false;
  if (!checks.len) {
    diag_error((Span){r.source->base, r.source->base}, "%s has no CHECK line", t->path);
    return false;
  }
  StrVec lines = split_lines(*actual);
  return match(&checks, &lines);
}

/* ---- updating ---- */

static void add_checks(Str *out, const char *actual) {
  StrVec lines = split_lines(actual);
  for (int i = 0; i < lines.len; i++) {
    bool empty = !lines.at[i][strspn(lines.at[i], " ")];
    str_printf(out, "# CHECK%s:%s%s\n", i ? "-NEXT" : "", empty ? "" : " ",
               empty ? "" : lines.at[i]);
  }
}

const char *test_updated(const char *text, size_t len, const char *actual) {
  Str out = {0};
  bool put = false;
  for (const char *at = text, *end = text + len, *stop; at < end; at = stop) {
    stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop ? stop + 1 : end;
    CheckKind kind;
    const char *what;
    if (!read_check(at, stop, &kind, &what) || kind == CHECK_NOT) {
      str_add_n(&out, at, (size_t)(stop - at));
      continue;
    }
    if (!put) add_checks(&out, actual);
    put = true;
  }
  if (!put) add_checks(&out, actual);
  return str_text(&out);
}
