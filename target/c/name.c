/* name.c -- names of C for the names of programs. */
#include "target/c/c.h"
#include <ctype.h>

/* Words of C, and what the headers of the prelude or a compiler may define as macros. */
static const char *const reserved[] = {"auto",
                                       "break",
                                       "case",
                                       "char",
                                       "const",
                                       "continue",
                                       "default",
                                       "do",
                                       "double",
                                       "else",
                                       "enum",
                                       "extern",
                                       "float",
                                       "for",
                                       "goto",
                                       "if",
                                       "inline",
                                       "int",
                                       "long",
                                       "register",
                                       "restrict",
                                       "return",
                                       "short",
                                       "signed",
                                       "sizeof",
                                       "static",
                                       "struct",
                                       "switch",
                                       "typedef",
                                       "union",
                                       "unsigned",
                                       "void",
                                       "volatile",
                                       "while",
                                       "bool",
                                       "true",
                                       "false",
                                       "asm",
                                       "typeof",
                                       "constexpr",
                                       "nullptr",
                                       "alignas",
                                       "alignof",
                                       "thread_local",
                                       "static_assert",
                                       "NULL",
                                       "NAN",
                                       "INFINITY",
                                       "HUGE_VAL",
                                       "HUGE_VALF",
                                       "HUGE_VALL",
                                       "RAND_MAX",
                                       "EXIT_FAILURE",
                                       "EXIT_SUCCESS",
                                       "MB_CUR_MAX",
                                       "linux",
                                       "unix",
                                       "i386",
                                       "sun",
                                       "errno",
                                       "math_errhandling",
                                       "free",
                                       "aligned_alloc",
                                       "memcpy"};

/* Helpers and the runtime begin so or end in a type; types and macros of integers, in capitals. */
static bool is_reserved(const char *name) {
  static const char *const prefixes[] = {"__",  "tvms", "Tvms", "INT",   "UINT",
                                         "FP_", "M_",   "FLT_", "MATH_", "_"};
  for (int i = 0; i < (int)(sizeof reserved / sizeof *reserved); i++)
    if (str_same(reserved[i], name)) return true;
  for (int i = 0; i < (int)(sizeof prefixes / sizeof *prefixes); i++)
    if (str_begins(name, prefixes[i])) return true;
  size_t n = strlen(name);
  DataType t;
  const char *tail = strrchr(name, '_');
  return (n > 2 && strcmp(name + n - 2, "_t") == 0) || (tail && dtype_parse(tail + 1, &t));
}

bool c_is_identifier(const char *name) {
  size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  return n && !name[n] && !isdigit((unsigned char)name[0]);
}

static const char *spelled(const char *hint) {
  Str s = {0};
  if (!hint || !*hint || isdigit((unsigned char)hint[0])) str_add(&s, "v");
  for (const char *c = hint ? hint : ""; *c; c++)
    str_add_char(&s, isascii((unsigned char)*c) && isalnum((unsigned char)*c) ? *c : '_');
  const char *name = str_text(&s);
  return is_reserved(name) || c_is_math(name) ? str_format("v_%s_", name) : name;
}

/* "x1" beside "x", "x1_1" beside "x1". */
const char *c_name(const char *hint, Map *taken, const Map *outer) {
  const char *base = spelled(hint), *name = str_intern(base);
  const char *link = isdigit((unsigned char)base[strlen(base) - 1]) ? "_" : "";
  for (int i = 1; map_has(taken, name) || (outer && map_has(outer, name)); i++)
    name = str_intern(str_format("%s%s%d", base, link, i));
  map_set(taken, name, (void *)(uintptr_t)name);
  return name;
}

static const char *space_of(CGen *g, const char *scope) {
  if (!scope || !*scope || str_same(scope, "global")) return g->dialect->spaces[0];
  return g->dialect->spaces[str_begins(scope, "shared") ? 1 : 2];
}

CVar *c_bind(CGen *g, Node *var) {
  Var *v = AS(Var, var);
  CVar *made = NEW(CVar, .name = c_name(v->name, &g->f->names, &g->names),
                   .elem = dtype_is_handle(var->dtype) ? dtype_element(v->elem) : VOID_TYPE);
  if (dtype_is_handle(var->dtype) && g->dialect->spaces[0]) made->space = space_of(g, v->scope);
  map_set(&g->f->values, var, made);
  return made;
}

const char *c_temporary(CGen *g) {
  return c_name(str_format("t%d", ++g->f->temporaries), &g->f->names, &g->names);
}
