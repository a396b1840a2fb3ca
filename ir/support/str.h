/* str.h -- text: interned strings and a string builder. All text is UTF-8, ends in NUL, and is
 * never freed. */
#ifndef IR_SUPPORT_STR_H
#define IR_SUPPORT_STR_H

#include "ir/support/gc.h"
#include <stdarg.h>
#include <stdbool.h>

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/* The one copy of this text: equal texts have equal pointers, so interned names are map keys. */
const char *str_intern(const char *text);
const char *str_intern_n(const char *text, size_t n);

/* New text from a printf format. (format.c) */
const char *str_format(const char *format, ...) PRINTF_LIKE(1, 2);
const char *str_vformat(const char *format, va_list args);
const char *str_copy_n(const char *text, size_t n);

/* Orders `near` by edit distance to `name`: the element of `options` (n of them) that a person may
 * have meant, or NULL if none is close. */
const char *str_near(const char *name, const char *const *options, int n);

/* No text grows longer; a builder that would raises MemoryError. */
#define STR_LEN_MAX ((size_t)1 << 31)

/* A builder. Str s = {0}; str_add(&s, "a"); str_printf(&s, "%d", 1); use str_text(&s). */
typedef struct Str {
  char *at;
  size_t len, cap;
} Str;

void str_add(Str *s, const char *text);
void str_add_n(Str *s, const char *text, size_t n);
void str_add_char(Str *s, char c);
void str_insert(Str *s, size_t place, const char *text); /* before the byte at `place` */
void str_printf(Str *s, const char *format, ...) PRINTF_LIKE(2, 3);
void str_vprintf(Str *s, const char *format, va_list args);
void str_add_int(Str *s, long long x);
void str_reserve(Str *s, size_t more); /* room for so many bytes and the NUL */
const char *str_text(Str *s);          /* ends in NUL; valid until the builder grows */

/* Appends `text` as a Python string literal in double quotes, with escapes where needed. */
void str_add_quoted(Str *s, const char *text, size_t n);

/* Appends `text` as a JSON string. */
void str_add_json(Str *s, const char *text);

/* Appends the shortest decimal form that reads back as the same double ("1.0", "0.1", "1e-05"). */
void str_add_double(Str *s, double x);

static inline bool str_same(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

/* Is the name in the list "f;g", or the list empty? */
bool str_in_list(const char *list, const char *name);

static inline bool str_begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}
static inline bool str_ends(const char *text, const char *with) {
  size_t n = strlen(text), tail = strlen(with);
  return n >= tail && memcmp(text + n - tail, with, tail) == 0;
}

#endif
