/* names.c -- lines, indentation, and unique names. */
#include "ir/print/print.h"
#include <ctype.h>
#include <stdlib.h>

size_t text_begin(Printer *p) { return p->out.len; }

const char *text_end(Printer *p, size_t start) {
  const char *text = str_copy_n(str_text(&p->out) + start, p->out.len - start);
  p->out.len = start;
  return text;
}

void line_begin(Printer *p) {
  p->line_start = p->out.len;
  for (int i = 0; i < p->indent; i++) str_add_n(&p->out, "    ", 4);
}

void line_end(Printer *p) {
  str_add_char(&p->out, '\n');
  if (line_is_long(p)) line_break(p);
}

void line(Printer *p, const char *format, ...) {
  line_begin(p);
  va_list args;
  va_start(args, format);
  str_vprintf(&p->out, format, args);
  va_end(args);
  line_end(p);
}

void print_signature(Printer *p, const char *name, StrVec params, const char *result) {
  Str one = {0};
  for (int i = 0; i < params.len; i++) str_printf(&one, "%s%s", i ? ", " : "", params.at[i]);
  const char *arrow = result ? str_format(" -> %s", result) : "";
  size_t length = strlen("    def ():") + strlen(name) + one.len + strlen(arrow);
  size_t width = p->options.width ? (size_t)p->options.width : 100;
  if (length + (size_t)p->indent * 4 <= width + 4 || !params.len)
    return line(p, "def %s(%s)%s:", name, str_text(&one), arrow);
  line(p, "def %s(", name);
  p->indent++;
  for each (const char *, text, &params) line_wrapped_before(p, *text, ",");
  p->indent--;
  line_wrapped_before(p, str_format(")%s", arrow), ":");
}

int scope_begin(Printer *p) { return p->scope.len; }

static bool is_whole_identifier(const char *name) {
  if (isdigit((unsigned char)*name)) return false;
  for (const char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_' && !(*c & 0x80)) return false;
  return true;
}

/* A name as an identifier; what has none is called v. */
static const char *identifier(const char *name) {
  if (!name || !*name) return "v";
  if (is_whole_identifier(name)) return name;
  Str s = {0};
  if (isdigit((unsigned char)*name)) str_add_char(&s, 'v');
  for (const char *c = name; *c; c++)
    str_add_char(&s, isalnum((unsigned char)*c) || (*c & 0x80) ? *c : '_');
  return str_text(&s);
}

static const char *own_name(Node *n) {
  if (IS(Var, n)) return AS(Var, n)->name;
  if (IS(Buffer, n)) return AS(Buffer, n)->name;
  return AS(RelaxVar, n)->name;
}

/* Words that may not name a variable: keywords, and what printed text itself uses. */
static const char *const reserved_words[] = {
    "False",  "None",     "True",  "and",    "as",    "assert", "async",  "await",    "break",
    "class",  "continue", "def",   "del",    "elif",  "else",   "except", "finally",  "for",
    "from",   "global",   "if",    "import", "in",    "is",     "lambda", "nonlocal", "not",
    "or",     "pass",     "raise", "return", "try",   "while",  "with",   "yield",    "T",
    "R",      "I",        "cls",   "float",  "range", "tir",    "tvm",    "relax",    "metadata",
    "Module", "tirx",     "Tx",    "Axis"};

static bool is_reserved(const char *interned_name) {
  static Map words;
  if (!words.live)
    for (size_t i = 0; i < sizeof reserved_words / sizeof *reserved_words; i++)
      map_set(&words, str_intern(reserved_words[i]), &words);
  return map_has(&words, interned_name);
}

const char *name_hint(Node *n) { return identifier(own_name(n)); }

void name_set(Printer *p, Node *n, const char *text) {
  text = str_intern(text);
  if (!map_has(&p->names, n)) vec_push(&p->scope, n);
  map_set(&p->names, n, (void *)(uintptr_t)text);
  map_set(&p->taken, text, n);
  views_note_name(p->views, n);
}

/* Names that clash are counted from where the last one of that name ended. */
const char *name_define(Printer *p, Node *n) {
  if (n == p->arm_var) {
    name_set(p, n, p->arm_name);
    return p->arm_name;
  }
  const char *base = str_intern(identifier(own_name(n))), *name = base;
  int i = (int)(intptr_t)map_get(&p->suffixes, base);
  bool counted = i > 0;
  while (map_has(&p->taken, name) || is_reserved(name)) {
    name = str_intern(str_format("%s_%d", base, counted ? i : 1));
    i = counted ? i + 1 : 2;
    counted = true;
  }
  if (counted) map_set(&p->suffixes, base, (void *)(intptr_t)i);
  name_set(p, n, name);
  return name;
}

/* A name is free again, and with it its number. */
static void free_suffix(Printer *p, Node *n, const char *name) {
  const char *base = str_intern(identifier(own_name(n)));
  int next = (int)(intptr_t)map_get(&p->suffixes, base);
  if (!next) return;
  size_t length = strlen(base);
  bool numbered = strncmp(name, base, length) == 0 && name[length] == '_';
  int i = numbered ? atoi(name + length + 1) : 0;
  if (i < next) map_set(&p->suffixes, base, (void *)(intptr_t)(i ? i : 1));
}

void scope_end(Printer *p, int mark) {
  if (p->scope.len > mark) p->info_texts = (Map){0};
  while (p->scope.len > mark) {
    Node *n = vec_pop(&p->scope);
    const char *name = map_get(&p->names, n);
    /* A dim of a graph function keeps its name to the end: n = T.int64() would mean it again. */
    bool kept = IS(Var, n) && p->local;
    if (map_get(&p->taken, name) == n && !kept) map_remove(&p->taken, name);
    map_remove(&p->names, n);
    if (kept) continue;
    views_note_end(p->views, n);
    free_suffix(p, n, name);
  }
}

const char *name_of(Printer *p, Node *n) {
  const char *name = map_get(&p->names, n);
  return name ? name : name_define(p, n);
}
