/* fmt.c -- `tvms fmt`: files in the project's layout, or what would change in them.
 *
 * Whatever the formatter does, a file is only written if its new text has the same tree and the
 * same comments as the old one, and if formatting it again changes nothing. */
#include "ir/support/match.h"
#include "lang/tool/tool.h"
#include <stdio.h>

static struct {
  bool check, diff;
  int changed; /* files */
} fmt;

/* ---- is it the same program? ---- */

/* Line ends in a text are '\n', whatever they were in the file. */
static const Source *with_plain_ends(const Source *s) {
  Str out = {0};
  if (!memchr(s->text, '\r', s->len)) return s;
  for (uint32_t i = 0; i < s->len; i++) {
    bool end = s->text[i] == '\r';
    if (!end) str_add_char(&out, s->text[i]);
    else if (i + 1 >= s->len || s->text[i + 1] != '\n') str_add_char(&out, '\n');
  }
  return source_add(s->name, out.len ? str_text(&out) : "", out.len);
}

/* A comment's text without the blanks at its end; *n: its length. */
static const char *comment_text(const Comment *c, const Source *s, size_t *n) {
  const char *text = s->text + (c->span.lo - s->base);
  *n = c->span.hi - c->span.lo;
  while (*n && strchr(" \t", text[*n - 1])) --*n;
  return text;
}

static bool same_comments(const CommentVec *a, const Source *in_a, const CommentVec *b,
                          const Source *in_b) {
  if (a->len != b->len) return false;
  for (int i = 0; i < a->len; i++) {
    size_t n, m;
    const char *p = comment_text(&a->at[i], in_a, &n), *q = comment_text(&b->at[i], in_b, &m);
    if (n != m || memcmp(p, q, n) != 0) return false;
  }
  return true;
}

static const char *why_unsafe(const AstModule *before, const Source *original, const char *text) {
  const Source *source = source_add("<formatted>", text, strlen(text));
  int errors = diag_error_count();
  AstModule *after = parse_module(source);
  if (diag_error_count() > errors) return "its new text does not parse";
  if (!str_same(ast_dump(&before->ast), ast_dump(&after->ast)))
    return "its new text is another program";
  if (!same_comments(&before->comments, original, &after->comments, source))
    return "its new text has other comments";
  if (!str_same(parse_format(source), text)) return "formatting it twice changes it again";
  return NULL;
}

/* Formatted until nothing changes: a comment in an odd place may move on in a second round. */
static const char *settled(const Source *source) {
  enum { ROUNDS = 6 };
  const char *text = parse_format(source);
  for (int i = 1; i < ROUNDS; i++) {
    const char *next = parse_format(source_add("<formatted>", text, strlen(text)));
    if (str_same(next, text)) break;
    text = next;
  }
  return text;
}

/* The new text; NULL, with diagnostics, if there is none. */
static const char *formatted(const Source *source) {
  int errors = diag_error_count();
  AstModule *tree = parse_module(source);
  if (diag_error_count() > errors) return NULL;
  const char *text = settled(source), *why = why_unsafe(tree, source, text);
  if (!why) return text;
  Diag *d = diag_error((Span){0}, "%s is left as it is: %s", source->name, why);
  diag_help(d, "this is a fault of tvms, not of the file");
  return NULL;
}

/* ---- what would change ---- */

enum { CONTEXT = 3 };

/* Prints lines a[i, i_end) as gone, b[j, j_end) as new. */
static void print_change(const LineVec *a, int i, int i_end, const LineVec *b, int j, int j_end) {
  for (; i < i_end; i++) printf("-%s\n", a->at[i]);
  for (; j < j_end; j++) printf("+%s\n", b->at[j]);
}

/* The first line from i on that has no match or is matched out of step; j: its match. */
static int next_change(const LineVec *a, const int *match, int i, int *j) {
  while (i < a->len && match[i] == *j) i++, ++*j;
  return i;
}

/* The first match behind a change at a[i], b[j]; the ends if there is none. */
static int next_match(const LineVec *a, const LineVec *b, const int *match, int i, int *j) {
  while (i < a->len && match[i] < 0) i++;
  *j = i < a->len ? match[i] : b->len;
  return i;
}

/* In the form of `diff -u`, but for the lengths in the @@ lines, which nobody needs. */
static void print_diff(const char *name, const char *before, const char *after) {
  LineVec a = match_lines(before), b = match_lines(after);
  const int *match = match_find(&a, &b);
  int shown = 0; /* of a: lines before it were printed */
  printf("--- %s\n+++ %s (formatted)\n", name, name);
  for (int i = 0, j = 0;;) {
    i = next_change(&a, match, i, &j);
    if (i == a.len && j == b.len) return;
    int lead = i - CONTEXT > shown ? i - CONTEXT : shown;
    if (lead > shown || !shown) printf("@@ line %d @@\n", lead + 1);
    for (int k = lead; k < i; k++) printf(" %s\n", a.at[k]);
    int j_end = j, i_end = next_match(&a, &b, match, i, &j_end);
    print_change(&a, i, i_end, &b, j, j_end);
    i = i_end, j = j_end;
    int stop = i + CONTEXT;
    for (shown = i; shown < stop && shown < a.len && match[shown] == j + (shown - i); shown++)
      printf(" %s\n", a.at[shown]);
  }
}

/* ---- files ---- */

static void format_file(void *context) {
  const char *path = context;
  bool standard_input = strcmp(path, "-") == 0;
  const Source *original = source_read(path);
  if (!original) return;
  const Source *source = with_plain_ends(original);
  const char *text = source ? formatted(source) : NULL;
  if (!text) return;
  size_t n = strlen(text);
  bool same = n == original->len && memcmp(text, original->text, n) == 0;
  fmt.changed += !same;
  if (fmt.diff && !same) print_diff(original->name, original->text, text);
  if (fmt.check && !same) printf("%s would change\n", original->name);
  if (fmt.check || fmt.diff) return;
  if (standard_input) fwrite(text, 1, n, stdout);
  else if (!same) tool_write_file(path, text, n);
}

int tool_fmt(int argc, char **argv) {
  const Option options[] = {
      {"--check", 0, NULL, &fmt.check, "write nothing; name the files that would change"},
      {"--diff", 0, NULL, &fmt.diff, "write nothing; show what would change"},
  };
  int status, worst = STATUS_OK;
  if (!options_parse(options, 2, &argc, argv, &status)) return status;
  if (argc < 2) return usage_error("fmt", "which files? - is standard input");
  for (int i = 1; i < argc; i++) {
    status = tool_protected(format_file, argv[i]);
    if (status > worst) worst = status;
  }
  return worst ? worst : fmt.check && fmt.changed ? STATUS_ERROR : STATUS_OK;
}
