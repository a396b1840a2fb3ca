/* format.c -- writes a text anew in the project's layout: `tvms fmt`.
 *
 * Works on tokens, not on the tree: literals stay as they were written, and comments keep their
 * places. Each logical line that fits becomes one line; one that doesn't is broken at its last
 * bracket, whose content goes on a line of its own or, with a comma behind each, on several. A
 * comma that stands before a closing bracket asks for the latter. Blocks are indented by four. */
#include "parser/format_impl.h"

enum { WIDTH = 100, STEP = 4, BLANKS_MAX = 2 };

typedef struct Formatter {
  Str out;
  PieceVec pieces;
  CommentVec comments;
  const char *text; /* of the source, from `base` on */
  uint32_t base;
} Formatter;

/* ---- reading ---- */

static const char *text_at(const Formatter *f, uint32_t place) {
  return f->text + (place - f->base);
}

static bool is_continued(const Formatter *f, Span span) {
  const char *at = text_at(f, span.lo);
  while (at > f->text && strchr(" \t", at[-1])) at--;
  return at > f->text + 1 && at[-1] == '\n' && at[-2] == '\\';
}

static void read_pieces(Formatter *f, const Source *source) {
  Layout l;
  VEC(int) open = {0};
  layout_start(&l, source->text, source->len, source->base, false);
  for (Token t = layout_next(&l); t.kind; t = layout_next(&l)) {
    Piece p = {.kind = t.kind, .span = t.span, .mate = -1, .text = text_at(f, t.span.lo)};
    p.len = (int)(t.span.hi - t.span.lo);
    p.continued = is_continued(f, t.span);
    if (format_opens(t.kind)) vec_push(&open, f->pieces.len);
    if (format_closes(t.kind) && open.len) {
      p.mate = vec_pop(&open);
      f->pieces.at[p.mate].mate = f->pieces.len;
    }
    vec_push(&f->pieces, p);
  }
  f->comments = l.comments;
}

static bool is_layout(int kind) {
  return kind == T_NEWLINE || kind == T_INDENT || kind == T_DEDENT;
}

/* ---- comments inside logical lines ---- */

/* Gives a comment to the piece that it stands behind or above. Comments between logical lines are
 * left for place_comments. */
static CommentVec attach_comments(Formatter *f) {
  CommentVec between = {0};
  int at = 0, last = -1; /* the next piece; the last one that is no layout */
  bool in_line = false;
  for each (Comment, c, &f->comments) {
    for (; at < f->pieces.len && f->pieces.at[at].span.lo < c->span.lo; at++) {
      int kind = f->pieces.at[at].kind;
      if (!is_layout(kind)) last = at, in_line = true;
      if (kind == T_NEWLINE) in_line = false;
    }
    bool inside = in_line && at < f->pieces.len && f->pieces.at[at].kind != T_NEWLINE;
    if (!c->own_line && last >= 0) f->pieces.at[last].after = *c;
    else if (inside) vec_push(&f->pieces.at[at].above, *c);
    else vec_push(&between, *c);
  }
  return between;
}

/* ---- writing ---- */

static void add_comment(Formatter *f, const Comment *c) {
  const char *text = text_at(f, c->span.lo);
  size_t n = c->span.hi - c->span.lo;
  while (n && strchr(" \t\r", text[n - 1])) n--;
  str_add_n(&f->out, text, n);
}

static void add_indent(Formatter *f, int indent) {
  for (int i = 0; i < indent; i++) str_add_char(&f->out, ' ');
}

static void add_line_of_comment(Formatter *f, const Comment *c, int indent) {
  add_indent(f, indent);
  add_comment(f, c);
  str_add_char(&f->out, '\n');
}

static bool has_after(const Piece *p) { return p->after.span.hi > p->after.span.lo; }

/* Comments inside [lo, hi) that its one line has no place for go above it. */
static void hoist(Formatter *f, int lo, int hi, int indent) {
  for (int i = lo; i < hi; i++) {
    Piece *p = &f->pieces.at[i];
    for each (Comment, c, &p->above) add_line_of_comment(f, c, indent);
    if (i < hi - 1 && has_after(p)) add_line_of_comment(f, &p->after, indent);
  }
}

/* One line, with something before and behind it: "", a comma, a bracket. */
static void add_line(Formatter *f, const char *before, int lo, int hi, const char *behind,
                     int indent) {
  hoist(f, lo, hi, indent);
  add_indent(f, indent);
  str_add(&f->out, before);
  for (int i = lo; i < hi; i++) {
    Piece *p = &f->pieces.at[i];
    if (p->space && (i > lo || *before)) str_add_char(&f->out, ' ');
    str_add_n(&f->out, p->text, (size_t)p->len);
  }
  str_add(&f->out, behind);
  if (hi > lo && has_after(&f->pieces.at[hi - 1])) {
    str_add(&f->out, "  ");
    add_comment(f, &f->pieces.at[hi - 1].after);
  }
  str_add_char(&f->out, '\n');
}

static void add_flat(Formatter *f, int lo, int hi, int indent, bool comma) {
  add_line(f, "", lo, hi, comma ? "," : "", indent);
}

/* ---- measuring ---- */

static int characters(const char *text, int n) {
  int count = 0;
  for (int i = 0; i < n; i++) count += (text[i] & 0xc0) != 0x80;
  return count;
}

/* The widest line of [lo, hi) on one line; a string may hold line ends of its own. */
static bool fits(const Formatter *f, int lo, int hi, int indent, int extra) {
  int column = indent, widest = indent;
  for (int i = lo; i < hi; i++) {
    const Piece *p = &f->pieces.at[i];
    const char *newline = memchr(p->text, '\n', (size_t)p->len);
    column += i > lo && p->space;
    if (newline) {
      int head = column + characters(p->text, (int)(newline - p->text));
      if (head > widest) widest = head;
      const char *tail = memrchr(p->text, '\n', (size_t)p->len);
      column = characters(tail + 1, (int)(p->text + p->len - tail - 1));
    } else {
      column += characters(p->text, p->len);
    }
    if (column > widest) widest = column;
    if (widest > WIDTH) return false;
  }
  return (column + extra > widest ? column + extra : widest) <= WIDTH;
}

/* Is the bracket at `close` that of a call or a definition's parameters? */
static bool is_call(const Formatter *f, int close, int first) {
  int open = f->pieces.at[close].mate;
  return f->pieces.at[close].kind == T_RPAR && open > first &&
         format_ends_operand(&f->pieces.at[open - 1]);
}

/* A comma before a closing bracket, but for that of a tuple or index of one. */
static bool asks_for_lines(const Formatter *f, int close, int first) {
  int open = f->pieces.at[close].mate, commas = 0;
  if (close == first || open < 0 || f->pieces.at[close - 1].kind != T_COMMA) return false;
  if (is_call(f, close, first) || f->pieces.at[close].kind == T_RBRACE) return true;
  for (int i = open + 1; i < close; i++) {
    if (f->pieces.at[i].mate > i) i = f->pieces.at[i].mate;
    commas += f->pieces.at[i].kind == T_COMMA;
  }
  bool list = f->pieces.at[close].kind == T_RSQB &&
              !(open > first && format_ends_operand(&f->pieces.at[open - 1]));
  return commas > 1 || list || (first < open && f->pieces.at[first].kind == T_FROM);
}

/* May [lo, hi) be one line at all: no comment in the middle, no comma that asks for several? */
static bool may_be_flat(const Formatter *f, int lo, int hi) {
  for (int i = lo; i < hi; i++) {
    const Piece *p = &f->pieces.at[i];
    if ((i > lo && p->above.len) || (i < hi - 1 && has_after(p))) return false;
    if (format_closes(p->kind) && p->mate >= lo && asks_for_lines(f, i, lo)) return false;
  }
  return true;
}

/* ---- breaking at delimiters ---- */

typedef enum {
  SPLIT_NONE,
  SPLIT_TERM,      /* + - */
  SPLIT_COMPARE,   /* < in is */
  SPLIT_STRING,    /* adjacent literals */
  SPLIT_LOGIC,     /* and, or */
  SPLIT_CONDITION, /* a if b else c */
  SPLIT_COMMA,     /* behind it; all others before */
  SPLIT_COMPREHENSION
} Split;

typedef struct Scan {
  int lambdas, fors; /* whose ':' and `in` are still to come */
  bool comprehension;
} Scan;

/* What piece i, which is in no inner bracket of its range, is a delimiter of. */
static Split split_at(const Formatter *f, int i, int lo, Scan *s) {
  const Piece *p = &f->pieces.at[i];
  bool has_left = i > lo && format_ends_operand(&f->pieces.at[i - 1]);
  switch (p->kind) {
  case T_LAMBDA: s->lambdas++; return SPLIT_NONE;
  case T_COLON: s->lambdas -= s->lambdas > 0; return SPLIT_NONE;
  case T_FOR: s->fors++, s->comprehension = true; return SPLIT_COMPREHENSION;
  case T_COMMA: return s->lambdas || s->fors ? SPLIT_NONE : SPLIT_COMMA;
  case T_IF: return s->comprehension ? SPLIT_COMPREHENSION : SPLIT_CONDITION;
  case T_ELSE: return SPLIT_CONDITION;
  case T_AND:
  case T_OR: return SPLIT_LOGIC;
  case T_STRING: return i > lo && f->pieces.at[i - 1].kind == T_STRING ? SPLIT_STRING : SPLIT_NONE;
  case T_IN:
    if (s->fors) return s->fors--, SPLIT_NONE;
    return has_left ? SPLIT_COMPARE : SPLIT_NONE; /* of `not in` the first word is it */
  case T_NOT:
  case T_IS:
  case T_EQ:
  case T_NE:
  case T_LT:
  case T_LE:
  case T_GT:
  case T_GE: return has_left ? SPLIT_COMPARE : SPLIT_NONE;
  case T_PLUS:
  case T_MINUS: return has_left ? SPLIT_TERM : SPLIT_NONE;
  default: return SPLIT_NONE;
  }
}

static Split strongest_split(const Formatter *f, int lo, int hi) {
  Scan s = {0};
  Split best = SPLIT_NONE;
  for (int i = lo; i < hi; i++) {
    Split here = split_at(f, i, lo, &s);
    if (here > best && (i > lo || here == SPLIT_COMMA)) best = here;
    if (f->pieces.at[i].mate > i) i = f->pieces.at[i].mate;
  }
  return best;
}

static void add_piece(Formatter *f, int lo, int hi, int indent, bool comma, bool inside);

/* A line for each part between delimiters of this kind. */
static void add_parts(Formatter *f, int lo, int hi, int indent, Split split, bool comma) {
  Scan s = {0};
  int start = lo;
  for (int i = lo; i < hi; i++) {
    bool here = split_at(f, i, lo, &s) == split;
    if (here && split == SPLIT_COMMA) {
      add_piece(f, start, i + 1, indent, false, true);
      start = i + 1;
    } else if (here && i > start) {
      add_piece(f, start, i, indent, false, true);
      start = i;
    }
    if (f->pieces.at[i].mate > i) i = f->pieces.at[i].mate;
  }
  if (start < hi) add_piece(f, start, hi, indent, comma || split == SPLIT_COMMA, true);
}

/* ---- breaking at brackets ---- */

/* The bracket at which [lo, hi) is broken: the last one with content, so that what stands before
 * and behind it fits; of a definition that of its parameters. -1: there is none. */
static int choose_bracket(const Formatter *f, int lo, int hi, int indent, int extra) {
  int chosen = -1;
  bool definition = f->pieces.at[lo].kind == T_DEF || f->pieces.at[lo].kind == T_CLASS;
  for (int i = lo; i < hi; i++) {
    int close = f->pieces.at[i].mate;
    if (close < i || close >= hi) continue;
    bool content = close > i + 1 || f->pieces.at[close].above.len || has_after(&f->pieces.at[i]);
    bool good = fits(f, lo, i + 1, indent, 0) && fits(f, close, hi, indent, extra) &&
                may_be_flat(f, lo, i + 1) && may_be_flat(f, close, hi);
    bool better = good || chosen < 0 || !may_be_flat(f, i, close + 1);
    if (content && better) chosen = i;
    if (content && definition && f->pieces.at[i].kind == T_LPAR) return i;
    i = close;
  }
  return chosen;
}

static void add_content(Formatter *f, int lo, int hi, int indent) {
  if (lo == hi) return;
  bool trailing = f->pieces.at[hi - 1].kind == T_COMMA;
  Split split = strongest_split(f, lo, hi);
  bool one_line = may_be_flat(f, lo, hi) && !trailing && fits(f, lo, hi, indent, 0);
  if (one_line && !f->pieces.at[lo].above.len) add_flat(f, lo, hi, indent, false);
  else if (split) add_parts(f, lo, hi, indent, split, false);
  else add_piece(f, lo, hi, indent, false, true);
}

static void add_broken(Formatter *f, int lo, int hi, int indent, bool comma, int open) {
  int close = f->pieces.at[open].mate;
  add_piece(f, lo, open + 1, indent, false, false);
  add_content(f, open + 1, close, indent + STEP);
  for each (Comment, c, &f->pieces.at[close].above) add_line_of_comment(f, c, indent + STEP);
  f->pieces.at[close].above.len = 0;
  add_piece(f, close, hi, indent, comma, false);
}

/* ---- breaking in brackets of our own ---- */

static bool is_assignment(int kind) {
  const char *text = token_text(kind);
  if (token_class(kind) != TOKEN_SIGN || text[strlen(text) - 1] != '=') return false;
  return kind != T_EQ && kind != T_NE && kind != T_LE && kind != T_GE && kind != T_WALRUS;
}

/* The place from *at on, outside of brackets, of a piece that `is` holds for; hi if there is none.
 */
static int find_outside(const Formatter *f, int lo, int hi, bool (*is)(int kind)) {
  for (int i = lo; i < hi; i++) {
    if (f->pieces.at[i].kind == T_LAMBDA) return hi;
    if (is(f->pieces.at[i].kind)) return i;
    if (f->pieces.at[i].mate > i) i = f->pieces.at[i].mate;
  }
  return hi;
}

static bool is_comma(int kind) { return kind == T_COMMA; }
static bool is_colon(int kind) { return kind == T_COLON; }

/* The expression of statement [lo, hi) that brackets may be put around: what is returned, assigned
 * or asked. */
static void find_expression(const Formatter *f, int lo, int hi, int *start, int *end) {
  *start = *end = hi;
  switch (f->pieces.at[lo].kind) {
  case T_RETURN: *start = lo + 1; return;
  case T_ASSERT: *start = lo + 1, *end = find_outside(f, lo + 1, hi, is_comma); return;
  case T_IF:
  case T_ELIF:
  case T_WHILE: *start = lo + 1, *end = find_outside(f, lo + 1, hi, is_colon); return;
  default:
    for (int i = lo; i < hi; i++) {
      i = find_outside(f, i, hi, is_assignment);
      if (i < hi) *start = i + 1;
    }
  }
}

/* `x = a if b else c` becomes `x = (`, a part a line, `)`. False if that is nothing for [lo, hi).
 */
static bool add_bracketed(Formatter *f, int lo, int hi, int indent) {
  int start, end;
  find_expression(f, lo, hi, &start, &end);
  if (start >= end || find_outside(f, start, end, is_comma) < end) return false;
  Split split = strongest_split(f, start, end);
  if (split != SPLIT_LOGIC && split != SPLIT_CONDITION && split != SPLIT_STRING) return false;
  if (!may_be_flat(f, lo, start) || !may_be_flat(f, end - 1, hi)) return false;
  add_line(f, "", lo, start, " (", indent);
  if (may_be_flat(f, start, end) && fits(f, start, end, indent + STEP, 0))
    add_flat(f, start, end, indent + STEP, false);
  else add_parts(f, start, end, indent + STEP, split, false);
  add_line(f, ")", end, hi, "", indent);
  return true;
}

/* Where no bracket helps, the line ends at the backslashes that it had. */
static void add_continued(Formatter *f, int lo, int hi, int indent) {
  int start = lo;
  for (int i = lo + 1; i < hi; i++) {
    if (!f->pieces.at[i].continued) continue;
    add_flat(f, start, i, start == lo ? indent : indent + STEP, false);
    f->out.len--;
    str_add(&f->out, " \\\n");
    start = i;
  }
  add_flat(f, start, hi, start == lo ? indent : indent + STEP, false);
}

/* A whole line, or a part of one that begins a line. `inside`: of brackets, so that it may be
 * broken at operators too. */
static void add_piece(Formatter *f, int lo, int hi, int indent, bool comma, bool inside) {
  if (may_be_flat(f, lo, hi) && fits(f, lo, hi, indent, comma))
    return add_flat(f, lo, hi, indent, comma);
  int open = choose_bracket(f, lo, hi, indent, comma);
  for each (Comment, c, &f->pieces.at[lo].above) add_line_of_comment(f, c, indent);
  f->pieces.at[lo].above.len = 0;
  if (open >= 0) return add_broken(f, lo, hi, indent, comma, open);
  int stop = f->pieces.at[hi - 1].kind == T_COMMA ? hi - 1 : hi;
  Split split = inside ? strongest_split(f, lo, stop) : SPLIT_NONE;
  if (split == SPLIT_NONE || split == SPLIT_COMMA) {
    if (inside || comma) add_flat(f, lo, hi, indent, comma);
    else add_continued(f, lo, hi, indent);
    return;
  }
  add_parts(f, lo, hi, indent, split, comma);
}

static void add_statement(Formatter *f, int lo, int hi, int indent) {
  bool flat = may_be_flat(f, lo, hi) && fits(f, lo, hi, indent, 0);
  if (flat || !add_bracketed(f, lo, hi, indent)) add_piece(f, lo, hi, indent, false, false);
}

/* ---- lines and the comments between them ---- */

typedef struct Lines {
  CommentVec between; /* comments between logical lines */
  int next;           /* of them */
  VEC(int) columns;   /* in the source, of the open blocks; the outermost first */
  uint32_t end;       /* of what was written last, in the source; 0: nothing was */
} Lines;

static int source_column(const Formatter *f, uint32_t place) {
  int column = 0;
  const char *start = text_at(f, place);
  while (start > f->text && start[-1] != '\n') start--;
  for (const char *at = start; at < text_at(f, place); at++)
    column = *at == '\t' ? (column / 8 + 1) * 8 : column + 1;
  return column;
}

/* As many empty lines as the source has, up to two. */
static void add_blank_lines(Formatter *f, Lines *l, uint32_t start) {
  int newlines = 0;
  if (!l->end) return;
  for (uint32_t at = l->end; at < start; at++) newlines += *text_at(f, at) == '\n';
  for (int i = 1; i < newlines && i <= BLANKS_MAX; i++) str_add_char(&f->out, '\n');
}

/* Those before `place`, where the block of depth `depth` goes on: each in the deepest block whose
 * column it reaches. */
static void place_comments(Formatter *f, Lines *l, uint32_t place, int depth) {
  int deepest = l->columns.len - 1;
  if (deepest < depth) deepest = depth;
  for (; l->next < l->between.len && l->between.at[l->next].span.lo < place; l->next++) {
    const Comment *c = &l->between.at[l->next];
    int column = source_column(f, c->span.lo);
    while (deepest > depth && (deepest >= l->columns.len || l->columns.at[deepest] > column))
      deepest--;
    add_blank_lines(f, l, c->span.lo);
    add_line_of_comment(f, c, deepest * STEP);
    l->end = c->span.hi;
  }
}

static uint32_t end_of(const Piece *p) { return has_after(p) ? p->after.span.hi : p->span.hi; }

static void add_lines(Formatter *f, Lines *l) {
  int depth = 0;
  for (int i = 0; i < f->pieces.len; i++) {
    int kind = f->pieces.at[i].kind;
    if (kind == T_INDENT) depth++;
    if (kind == T_DEDENT) depth--;
    if (is_layout(kind)) continue;
    int hi = i;
    while (hi < f->pieces.len && f->pieces.at[hi].kind != T_NEWLINE) hi++;
    uint32_t start = f->pieces.at[i].span.lo;
    place_comments(f, l, start, depth);
    l->columns.len = depth < l->columns.len ? depth : l->columns.len;
    while (l->columns.len <= depth) vec_push(&l->columns, source_column(f, start));
    add_blank_lines(f, l, start);
    format_spaces(&f->pieces, i, hi);
    uint32_t end = end_of(&f->pieces.at[hi - 1]);
    add_statement(f, i, hi, depth * STEP);
    l->end = end;
    i = hi;
  }
  place_comments(f, l, UINT32_MAX, 0);
}

const char *parse_format(const Source *source) {
  Formatter f = {.text = source->text, .base = source->base};
  DiagVec *outer = diag_capture();
  read_pieces(&f, source);
  diag_restore(outer);
  Lines l = {.between = attach_comments(&f)};
  add_lines(&f, &l);
  return f.out.len ? str_text(&f.out) : "";
}
