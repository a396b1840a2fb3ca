/* diff.c -- two pieces of IR side by side: their lines, with those that differ marked.
 *
 * Lines are matched by a longest common subsequence; what lies between two matches is paired in
 * order. Long stretches of equal lines are left out. */
#include "ir/ir.h"
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { SAME_SHOWN = 6, CELLS_MAX = 16 << 20 };

typedef struct Side {
  StrVec lines;
  int at; /* of the next one to be printed */
} Side;

typedef struct Diff {
  Side a, b;
  int column; /* width of a side */
  bool marked;
  Str out;
} Diff;

static StrVec lines_of(Node *n) {
  StrVec lines = {0};
  for (const char *at = ir_print(n, NULL); *at;) {
    size_t len = strcspn(at, "\n");
    if (*at != '#') vec_push(&lines, str_intern_n(at, len)); /* so that equal lines are one */
    at += len + (at[len] == '\n');
  }
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

/* ---- matching ---- */

/* length[i][j]: of the longest common subsequence of a[i..] and b[j..], as one array. */
static int *common_lengths(const StrVec *a, const StrVec *b) {
  int m = b->len + 1;
  int *length = gc_alloc_atomic(sizeof *length * (size_t)(a->len + 1) * (size_t)m);
  for (int i = a->len - 1; i >= 0; i--)
    for (int j = b->len - 1; j >= 0; j--) {
      int down = length[(i + 1) * m + j], right = length[i * m + j + 1];
      length[i * m + j] = a->at[i] == b->at[j] ? length[(i + 1) * m + j + 1] + 1
                          : down > right       ? down
                                               : right;
    }
  return length;
}

static void add_all(Diff *d) {
  const StrVec *a = &d->a.lines, *b = &d->b.lines;
  bool small = (int64_t)(a->len + 1) * (b->len + 1) <= CELLS_MAX;
  const int *length = small ? common_lengths(a, b) : NULL;
  int i = 0, j = 0, m = b->len + 1;
  while (i < a->len && j < b->len) {
    int same = 0;
    while (i + same < a->len && j + same < b->len && a->at[i + same] == b->at[j + same]) same++;
    if (same) {
      add_changed(d, i, j);
      add_same(d, same);
      i += same, j += same;
    } else if (!length) { /* too long to match: in step */
      i++, j++;
    } else if (length[(i + 1) * m + j] >= length[i * m + j + 1]) {
      i++;
    } else {
      j++;
    }
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
