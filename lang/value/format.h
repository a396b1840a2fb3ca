/* format.h -- a parsed format specification, for format specs and for the % operator. */
#ifndef LANG_VALUE_FORMAT_H
#define LANG_VALUE_FORMAT_H

#include "lang/value/object.h"

typedef struct FormatSpec {
  char fill[5]; /* one character */
  size_t fill_len;
  char align; /* '<', '>', '^', '=' or 0 */
  char sign;  /* '+', '-', ' ' or 0 */
  bool no_negative_zero, alternate, zero;
  int width;
  char grouping; /* ',' or '_' or 0 */
  int precision; /* -1: none */
  char type;     /* 0: none */
} FormatSpec;

/* Raises ValueError for a bad spec. */
FormatSpec format_parse(const char *spec, const char *type_name, Span span);
void format_add_text(Str *out, const char *text, size_t len, const FormatSpec *s);
void format_add_int(Str *out, Value x, const FormatSpec *s);
void format_add_float(Str *out, double x, const FormatSpec *s);
void format_add_number(Str *out, bool negative, const char *prefix, const char *whole,
                       size_t whole_len, const char *rest, const FormatSpec *s);

#endif
