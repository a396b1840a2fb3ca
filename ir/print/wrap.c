/* wrap.c -- lines that are too long.
 *
 * A line is broken inside the brackets that end it: what they hold goes on a line of its own; if
 * that is too long as well, each item does, and is broken in the same way. These are the brackets
 * of a call, a list, a dict or a tuple: not those of a subscript, or those that group an
 * expression, where a comma would make a tuple. A value that does not end in such brackets gets
 * some around it, and is broken before its operators that bind least. */
#include "ir/print/print.h"
#include <ctype.h>

enum { DEFAULT_WIDTH = 100, LEAST_ROOM = 24 };

static int print_width(const Printer *p) {
  return p->options.width ? p->options.width : DEFAULT_WIDTH;
}

/* After the quoted text that begins at `at`. */
static const char *skip_quoted(const char *at) {
  char quote = *at++;
  while (*at && *at != quote) at += *at == '\\' && at[1] ? 2 : 1;
  return *at ? at + 1 : at;
}

/* The items of text[0:n], which lie between brackets. */
static StrVec split_items(const char *text, size_t n) {
  StrVec items = {0};
  const char *end = text + n, *start = text;
  int depth = 0;
  for (const char *at = text; at < end;) {
    if (*at == '"') {
      at = skip_quoted(at);
      continue;
    }
    if (strchr("([{", *at)) depth++;
    if (strchr(")]}", *at)) depth--;
    if (*at == ',' && !depth) {
      vec_push(&items, str_copy_n(start, (size_t)(at - start)));
      while (at + 1 < end && at[1] == ' ') at++;
      start = at + 1;
    }
    at++;
  }
  if (start < end) vec_push(&items, str_copy_n(start, (size_t)(end - start)));
  return items;
}

/* The bracket that matches the last character, or NULL. */
static const char *last_open(const char *text) {
  const char *open = NULL;
  int depth = 0;
  for (const char *at = text + (*text == ')'); *at;) { /* ") -> T" goes on from a line before */
    if (*at == '"') {
      at = skip_quoted(at);
      continue;
    }
    if (strchr("([{", *at) && !depth++) open = at;
    if (strchr(")]}", *at) && --depth == 0 && at[1]) open = NULL;
    at++;
  }
  return open;
}

/* Where the brackets that end the text may be broken open; NULL if they may not. */
static const char *breakable(const char *text) {
  const char *open = last_open(text);
  if (!open || !open[1] || !open[2]) return NULL;
  bool follows = open > text && (isalnum((unsigned char)open[-1]) || strchr("_])", open[-1]));
  if (*open == '[' && follows) return NULL; /* x[0] is not x[0,] */
  if (*open != '(' || follows) return open;
  StrVec items = split_items(open + 1, strlen(open) - 2);
  return items.len > 1 || open[strlen(open) - 2] == ',' ? open : NULL;
}

/* Numbers stand side by side, as many as a line holds. */
static bool are_numbers(const StrVec *items) {
  for each (const char *, item, items)
    if (!isdigit((unsigned char)**item) && **item != '-') return false;
  return true;
}

static void fill(Printer *p, const StrVec *items) {
  Str row = {0};
  int room = print_width(p) - 4 * p->indent;
  for each (const char *, item, items) {
    if (row.len && (int)(row.len + strlen(*item) + 2) > room) {
      line(p, "%s", str_text(&row));
      row = (Str){0};
    }
    str_printf(&row, "%s%s,", row.len ? " " : "", *item);
  }
  line(p, "%s", str_text(&row));
}

/* ---- operators ---- */

/* The rank of the binary operator that is at " +" and the like, and its length without the blanks;
 * 0: there is none. */
static int operator_at(const char *at, size_t *n) {
  static const struct {
    const char *word;
    int rank;
  } rows[] = {{"or", 1}, {"and", 2}, {"<", 3}, {"<=", 3}, {">", 3},  {">=", 3}, {"==", 3},
              {"!=", 3}, {"|", 4},   {"^", 5}, {"&", 6},  {"<<", 7}, {">>", 7}, {"+", 8},
              {"-", 8},  {"*", 9},   {"/", 9}, {"//", 9}, {"%", 9},  {"@", 9},  {"**", 10}};
  if (*at != ' ') return 0;
  size_t length = strcspn(at + 1, " ");
  if (at[1 + length] != ' ') return 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strlen(rows[i].word) == length && strncmp(at + 1, rows[i].word, length) == 0)
      return *n = length, rows[i].rank;
  return 0;
}

/* Calls visit for each place outside of brackets and quotes, until it says true: that place. */
static const char *find_outside(const char *text, bool (*visit)(void *context, const char *at),
                                void *context) {
  int depth = 0;
  for (const char *at = text; *at;) {
    if (*at == '"') {
      at = skip_quoted(at);
      continue;
    }
    if (strchr("([{", *at)) depth++;
    if (strchr(")]}", *at)) depth--;
    if (!depth && visit(context, at)) return at;
    at++;
  }
  return NULL;
}

static bool note_rank(void *context, const char *at) {
  int *lowest = context;
  size_t n;
  int rank = operator_at(at, &n);
  if (rank && (!*lowest || rank < *lowest)) *lowest = rank;
  return strncmp(at, " if ", 4) == 0 ? (*lowest = 0, true) : false;
}

/* The lowest rank of the operators of an expression; 0: it has none to break it at. */
static int lowest_rank(const char *text) {
  int lowest = 0;
  find_outside(text, note_rank, &lowest);
  return lowest;
}

static bool has_rank(void *context, const char *at) {
  size_t n;
  return operator_at(at, &n) == *(int *)context;
}

/* ---- lines ---- */

static void plain_line(Printer *p, const char *text, const char *suffix) {
  line_begin(p);
  str_add(&p->out, text);
  str_add(&p->out, suffix);
  line_end(p);
}

/* Or there is so little room that breaking it would not help. */
static bool fits(const Printer *p, const char *text, const char *suffix) {
  int room = print_width(p) - 4 * p->indent;
  return room < LEAST_ROOM || (int)(strlen(text) + strlen(suffix)) <= room;
}

static void break_value(Printer *p, const char *text, const char *suffix);

static void break_operators(Printer *p, const char *text, int rank, const char *suffix) {
  for (const char *rest = text; rest;) {
    const char *next =
        find_outside(rest == text ? rest : rest + 1 + strcspn(rest, " "), has_rank, &rank);
    const char *part = next ? str_copy_n(rest, (size_t)(next - rest)) : rest;
    break_value(p, part, next ? "" : suffix);
    rest = next ? next + 1 : NULL;
  }
}

/* Inside of brackets, where lines may end anywhere. */
static void break_value(Printer *p, const char *text, const char *suffix) {
  int rank = fits(p, text, suffix) ? 0 : lowest_rank(text);
  if (rank) break_operators(p, text, rank, suffix);
  else line_wrapped_before(p, text, suffix);
}

/* "(a + b)", perhaps behind an operator: brackets that group. NULL: it ends in no such. */
static const char *group_of(const char *text) {
  const char *open = last_open(text);
  return open && *open == '(' && (open == text || open[-1] == ' ') ? open : NULL;
}

static void break_brackets(Printer *p, const char *text, const char *open, const char *suffix) {
  size_t inner = strlen(open) - 2;
  char close = open[inner + 1];
  line(p, "%.*s", (int)(open + 1 - text), text);
  p->indent++;
  StrVec items = split_items(open + 1, inner);
  bool comma_ends = open[inner] == ',';
  bool whole = (int)inner <= print_width(p) - 4 * p->indent && !comma_ends;
  if (whole) line(p, "%.*s", (int)inner, open + 1);
  else if (are_numbers(&items)) fill(p, &items);
  else
    for each (const char *, item, &items) break_value(p, *item, ",");
  p->indent--;
  line_wrapped_before(p, str_format("%c%s", close, suffix), ""); /* a value may follow a type */
}

static void break_group(Printer *p, const char *text, const char *open, const char *suffix) {
  line(p, "%.*s", (int)(open + 1 - text), text);
  p->indent++;
  break_value(p, str_copy_n(open + 1, strlen(open) - 2), "");
  p->indent--;
  line(p, ")%s", suffix);
}

void line_wrapped_before(Printer *p, const char *text, const char *suffix) {
  if (fits(p, text, suffix)) return plain_line(p, text, suffix);
  const char *open = breakable(text), *group = open ? NULL : group_of(text);
  if (open) break_brackets(p, text, open, suffix);
  else if (group) break_group(p, text, group, suffix);
  else plain_line(p, text, suffix);
}

/* ---- statements ---- */

static bool is_assignment(void *context, const char *at) {
  (void)context;
  return strncmp(at, " = ", 3) == 0;
}

/* The value of a statement: behind "x = ", "if ", "return "; NULL: it has none. */
static const char *value_of(const char *text) {
  static const char *const words[] = {"if ", "elif ", "while ", "return "};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (str_begins(text, words[i])) return text + strlen(words[i]);
  const char *at = find_outside(text, is_assignment, NULL);
  return at ? at + 3 : NULL;
}

/* x: T(...) = value: the type is broken where not even the beginning of the value fits behind it.
 */
static bool break_type(Printer *p, const char *text, const char *value, const char *suffix) {
  const char *type = str_copy_n(text, (size_t)(value - text) - strlen(" = "));
  const char *open = last_open(type), *end = strpbrk(value, "([{");
  int head = (int)((end ? end + 1 : value) - text);
  if (!open || !strstr(type, ": ") || head <= print_width(p) - 4 * p->indent) return false;
  break_brackets(p, type, open, str_format(" = %s%s", value, suffix));
  return true;
}

static void break_statement(Printer *p, const char *text, const char *suffix) {
  const char *value = value_of(text);
  if (!value || str_begins(text, ")")) return line_wrapped_before(p, text, suffix);
  if (break_type(p, text, value, suffix)) return;
  bool grouped = *value == '(' && last_open(value) == value;
  if (!lowest_rank(value) || grouped) return line_wrapped_before(p, text, suffix);
  line(p, "%.*s(", (int)(value - text), text);
  p->indent++;
  break_value(p, value, "");
  p->indent--;
  line(p, ")%s", suffix);
}

bool line_is_long(const Printer *p) {
  return !p->breaks && (int)(p->out.len - p->line_start) > print_width(p) + 1;
}

void line_break(Printer *p) {
  size_t start = p->line_start + 4 * (size_t)p->indent;
  const char *all = str_copy_n(str_text(&p->out) + start, p->out.len - start - 1);
  bool opens = *all && all[strlen(all) - 1] == ':';
  const char *text = opens ? str_copy_n(all, strlen(all) - 1) : all;
  p->out.len = p->line_start;
  p->breaks = true;
  if (*all == '#' || strchr(all, '\n')) plain_line(p, all, "");
  else break_statement(p, text, opens ? ":" : "");
  p->breaks = false;
}
