/* wrap.c -- a line that is too long is broken inside the brackets that end it.
 *
 * What the brackets hold goes on a line of its own; if that is too long as well, each item does,
 * and is broken in the same way. Brackets are those of a call, a list, a dict or a tuple: not those
 * of a subscript, or those that group an expression, where a comma would make a tuple. */
#include "ir/print/print.h"
#include <ctype.h>

enum { DEFAULT_WIDTH = 100 };

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

static void plain_line(Printer *p, const char *text, const char *suffix) {
  line_begin(p);
  str_add(&p->out, text);
  str_add(&p->out, suffix);
  line_end(p);
}

void line_wrapped_before(Printer *p, const char *text, const char *suffix) {
  int room = print_width(p) - 4 * p->indent;
  bool fits = (int)(strlen(text) + strlen(suffix)) <= room;
  const char *open = fits ? NULL : breakable(text);
  if (!open) return plain_line(p, text, suffix);
  size_t inner = strlen(open) - 2;
  char close = open[inner + 1];
  line(p, "%.*s", (int)(open + 1 - text), text);
  p->indent++;
  StrVec items = split_items(open + 1, inner);
  bool comma_ends = open[inner] == ',';
  if ((int)inner <= room - 4 && !comma_ends) line(p, "%.*s", (int)inner, open + 1);
  else if (are_numbers(&items)) fill(p, &items);
  else
    for each (const char *, item, &items) line_wrapped_before(p, *item, ",");
  p->indent--;
  line(p, "%c%s", close, suffix);
}

void line_wrapped(Printer *p, const char *format, ...) {
  va_list args;
  va_start(args, format);
  p->wrapped.len = 0;
  str_vprintf(&p->wrapped, format, args);
  va_end(args);
  line_wrapped_before(p, str_text(&p->wrapped), "");
}
