/* format.c -- text from printf formats.
 *
 * Printing a module is mostly %s, %d and the like, which are put together here; from the first
 * other conversion on, the C library does the rest. */
#include "ir/support/str.h"
#include <stdint.h>
#include <stdio.h>

static void add_unsigned(Str *s, unsigned long long x, bool negative) {
  char digits[24], *at = digits + sizeof digits;
  do *--at = (char)('0' + x % 10);
  while (x /= 10);
  if (negative) *--at = '-';
  str_add_n(s, at, (size_t)(digits + sizeof digits - at));
}

void str_add_int(Str *s, long long x) {
  add_unsigned(s, x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x, x < 0);
}

static void add_by_library(Str *s, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, again);
  va_end(again);
  str_reserve(s, (size_t)n);
  vsnprintf(s->at + s->len, (size_t)n + 1, format, args);
  s->len += (size_t)n;
}

static void add_text(Str *s, const char *text) { str_add(s, text ? text : "(null)"); }

/* %.*s: at most so many bytes, fewer if the text ends. */
static void add_part(Str *s, int most, const char *text) {
  str_add_n(s, text, most < 0 ? strlen(text) : strnlen(text, (size_t)most));
}

/* The conversion after a '%', if it is one of those known here: what follows it, else NULL. */
static const char *add_conversion(Str *s, const char *at, va_list *args) {
  if (*at == 's') return add_text(s, va_arg(*args, const char *)), at + 1;
  if (*at == 'd') return str_add_int(s, va_arg(*args, int)), at + 1;
  if (*at == 'c') return str_add_char(s, (char)va_arg(*args, int)), at + 1;
  if (*at == '%') return str_add_char(s, '%'), at + 1;
  if (strncmp(at, "lld", 3) == 0) return str_add_int(s, va_arg(*args, long long)), at + 3;
  if (strncmp(at, "llu", 3) == 0)
    return add_unsigned(s, va_arg(*args, unsigned long long), false), at + 3;
  if (strncmp(at, ".*s", 3) != 0) return NULL;
  int most = va_arg(*args, int);
  return add_part(s, most, va_arg(*args, const char *)), at + 3;
}

void str_vprintf(Str *s, const char *format, va_list given) {
  va_list args;
  va_copy(args, given);
  str_reserve(s, 0);
  while (*format) {
    const char *percent = strchrnul(format, '%');
    str_add_n(s, format, (size_t)(percent - format));
    if (!*percent) break;
    format = add_conversion(s, percent + 1, &args);
    if (format) continue;
    add_by_library(s, percent, args);
    break;
  }
  va_end(args);
}

void str_printf(Str *s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  str_vprintf(s, format, args);
  va_end(args);
}

const char *str_vformat(const char *format, va_list args) {
  char few[200];
  Str s = {.at = few, .cap = sizeof few};
  str_vprintf(&s, format, args);
  return s.at == few ? str_copy_n(few, s.len) : str_text(&s);
}

const char *str_format(const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = str_vformat(format, args);
  va_end(args);
  return text;
}
