/* diff.c -- two pieces of IR side by side: their lines, with those that differ marked.
 *
 * What lies between two lines that match is paired in order. Long stretches of equal lines are left
 * out. */
#include "ir/ir.h"
#include "ir/support/match.h"
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { SAME_SHOWN = 6 };

typedef struct Side {
  LineVec lines;
  int at; /* of the next one to be printed */
} Side;

typedef struct Diff {
  Side a, b;
  int column; /* width of a side */
  bool marked;
  Str out;
} Diff;

/* Without the comment on imports that the text begins with. */
static LineVec lines_of(Node *n) {
  LineVec all = match_lines(ir_print(n, NULL)), lines = {0};
  for each (const char *, line, &all)
    if (**line != '#') vec_push(&lines, *line);
  return lines;
}

/* ---- rows ---- */

static int count_characters(const char *text, size_t n) {
  int count = 0;
  for (size_t i = 0; i < n; i++) count += (text[i] & 0xc0) != 0x80;
  return count;
}

/* How many bytes of the text fit in `width` characters. */
static size_t fitting(const char *text, int width) {
  size_t n = 0;
  while (text[n]) {
    size_t next = n + 1;
    while ((text[next] & 0xc0) == 0x80) next++;
    if (count_characters(text, next) > width) break;
    n = next;
  }
  return n;
}

/* One row, and more below it for what does not fit. */
static void add_row(Diff *d, const char *left, const char *right, char mark) {
  bool first = mark != ' ' && !d->marked;
  d->marked |= first;
  do {
    size_t n = fitting(left, d->column), m = fitting(right, d->column);
    int blanks = *right || mark != ' ' ? d->column - count_characters(left, n) : 0;
    str_printf(&d->out, "%s%.*s%*s", first ? "* " : "  ", (int)n, left, blanks, "");
    if (*right || mark != ' ') str_printf(&d->out, " %c %.*s", mark, (int)m, right);
    while (d->out.len && d->out.at[d->out.len - 1] == ' ') d->out.len--;
    str_add_char(&d->out, '\n');
    left += n, right += m, first = false;
  } while (*left || *right);
}

static void add_same(Diff *d, int n) {
  for (int i = 0; i < n; i++) {
    if (n > 2 * SAME_SHOWN + 1 && i == SAME_SHOWN) {
      int skipped = n - 2 * SAME_SHOWN;
      str_printf(&d->out, "  ... %d equal lines\n", skipped);
      d->a.at += skipped, d->b.at += skipped, i += skipped;
    }
    add_row(d, d->a.lines.at[d->a.at++], d->b.lines.at[d->b.at++], ' ');
  }
}

/* What lies before the next match. */
static void add_changed(Diff *d, int a_end, int b_end) {
  while (d->a.at < a_end || d->b.at < b_end) {
    bool left = d->a.at < a_end, right = d->b.at < b_end;
    add_row(d, left ? d->a.lines.at[d->a.at++] : "", right ? d->b.lines.at[d->b.at++] : "",
            left && right ? '|'
            : left        ? '<'
                          : '>');
  }
}

static void add_all(Diff *d) {
  const LineVec *a = &d->a.lines, *b = &d->b.lines;
  const int *match = match_find(a, b);
  for (int i = 0; i < a->len;) {
    int same = 0;
    if (match[i] < 0) {
      i++;
      continue;
    }
    while (i + same < a->len && match[i + same] == match[i] + same) same++;
    add_changed(d, i, match[i]);
    add_same(d, same);
    i += same;
  }
  add_changed(d, a->len, b->len);
}

/* ---- the door ---- */

/* Of the terminal that errors go to; $COLUMNS, if it is set, says otherwise. */
static int terminal_width(void) {
  enum { LEAST = 40, MOST = 400, OTHERWISE = 120 };
  struct winsize size;
  const char *columns = getenv("COLUMNS");
  int n = OTHERWISE;
  if (columns && atoi(columns) > 0) n = atoi(columns);
  else if (isatty(STDERR_FILENO) && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
    n = size.ws_col;
  return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

const char *ir_print_diff(Node *a, Node *b) {
  Diff d = {.a = {lines_of(a), 0}, .b = {lines_of(b), 0}, .column = (terminal_width() - 5) / 2};
  add_all(&d);
  return d.out.len ? str_text(&d.out) : "";
}
