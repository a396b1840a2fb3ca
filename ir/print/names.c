/* names.c -- lines, indentation, and unique names. */
#include "ir/print/print.h"
#include <ctype.h>

void line_begin(Printer *p) {
  for (int i = 0; i < p->indent; i++) str_add(&p->out, "    ");
}

void line_end(Printer *p) { str_add_char(&p->out, '\n'); }

void line(Printer *p, const char *format, ...) {
  line_begin(p);
  va_list args;
  va_start(args, format);
  str_add(&p->out, str_vformat(format, args));
  va_end(args);
  line_end(p);
}

int scope_begin(Printer *p) { return p->scope.len; }

void scope_end(Printer *p, int mark) {
  while (p->scope.len > mark) {
    Node *n = vec_pop(&p->scope);
    map_remove(&p->taken, map_get(&p->names, n));
    map_remove(&p->names, n);
  }
}

/* A name as an identifier; what has none is called v. */
static const char *identifier(const char *name) {
  if (!name || !*name) return "v";
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

/* Words that may not name a variable. */
static bool is_reserved(const char *name) {
  static const char *const words[] = {
      "T",     "R",      "I",      "cls",    "and",      "or",      "not",   "if",       "else",
      "elif",  "for",    "while",  "in",     "is",       "def",     "class", "return",   "with",
      "as",    "lambda", "None",   "True",   "False",    "pass",    "break", "continue", "assert",
      "del",   "from",   "import", "global", "nonlocal", "raise",   "try",   "except",   "finally",
      "yield", "range",  "tir",    "tvm",    "relax",    "metadata"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (str_same(name, words[i])) return true;
  return false;
}

const char *name_define(Printer *p, Node *n) {
  const char *base = identifier(own_name(n)), *name = str_intern(base);
  for (int i = 1; map_has(&p->taken, name) || is_reserved(name); i++)
    name = str_intern(str_format("%s_%d", base, i));
  map_set(&p->names, n, (void *)(uintptr_t)name);
  map_set(&p->taken, name, n);
  vec_push(&p->scope, n);
  return name;
}

const char *name_of(Printer *p, Node *n) {
  const char *name = map_get(&p->names, n);
  return name ? name : name_define(p, n);
}
