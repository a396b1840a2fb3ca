/* format.c -- format specifications: [[fill]align][sign][#][0][width][,|_][.precision][type]. */
#include "lang/value/format.h"
#include "lang/value/big_int.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { WIDEST = 1 << 20 };

/* A number of the spec; false if it is too large. */
static bool read_number(const char **at, int *out) {
  int64_t n = 0;
  for (; isdigit((unsigned char)**at); ++*at)
    if ((n = n * 10 + (**at - '0')) > WIDEST) return false;
  *out = (int)n;
  return true;
}

/* Was a fill character given? */
static bool parse_fill(FormatSpec *s, const char **at) {
  size_t n = 0;
  if (**at) utf8_decode(*at, &n);
  if (n && (*at)[n] && strchr("<>=^", (*at)[n])) {
    memcpy(s->fill, *at, n);
    s->fill_len = n;
    s->align = (*at)[n];
    *at += n + 1;
    return true;
  }
  if (**at && strchr("<>=^", **at)) s->align = *(*at)++;
  return false;
}

FormatSpec format_parse(const char *spec, const char *type_name, Span span) {
  FormatSpec s = {.fill = " ", .fill_len = 1, .precision = -1};
  const char *at = spec;
  bool ok = true, filled = parse_fill(&s, &at);
  if (*at && strchr("+- ", *at)) s.sign = *at++;
  if (*at == 'z') s.no_negative_zero = true, at++;
  if (*at == '#') s.alternate = true, at++;
  if (*at == '0') {
    s.zero = true;
    at++;
    if (!filled) s.fill[0] = '0', s.fill_len = 1;
    if (!s.align) s.align = '=';
  }
  ok = read_number(&at, &s.width);
  if (*at == ',' || *at == '_') s.grouping = *at++;
  if (*at == '.') {
    at++;
    ok = ok && isdigit((unsigned char)*at) && read_number(&at, &s.precision);
  }
  if (*at && isalpha((unsigned char)*at)) s.type = *at++;
  else if (*at == '%') s.type = *at++;
  if (!ok || *at)
    raise("ValueError", span, "invalid format specifier '%s' for an object of type '%s'", spec,
          type_name);
  return s;
}

_Noreturn static void unknown_code(char code, const char *type_name, Span span) {
  raise("ValueError", span, "unknown format code '%c' for an object of type '%s'", code, type_name);
}

static void add_fill(Str *out, const FormatSpec *s, int64_t n) {
  for (; n > 0; n--) str_add_n(out, s->fill, s->fill_len);
}

static void no_grouping(const FormatSpec *s, char type, Span span) {
  if (s->grouping) raise("ValueError", span, "Cannot specify '%c' with '%c'.", s->grouping, type);
}

/* Pads `text` (which is `chars` wide) to the width. */
static void add_padded(Str *out, const char *text, size_t len, int64_t chars, const FormatSpec *s,
                       char otherwise) {
  int64_t n = s->width - chars;
  char align = s->align ? s->align : otherwise;
  int64_t before = n <= 0 ? 0 : align == '>' ? n : align == '^' ? n / 2 : 0;
  add_fill(out, s, before);
  str_add_n(out, text, len);
  add_fill(out, s, n - before);
}

void format_add_text(Str *out, const char *text, size_t len, const FormatSpec *s) {
  StrObject o = {.text = text, .len = len, .length = -1};
  int64_t chars = str_length(&o);
  if (s->precision >= 0 && s->precision < chars) {
    size_t at = 0, n;
    for (int i = 0; i < s->precision; i++) utf8_decode(text + at, &n), at += n;
    len = at;
    chars = s->precision;
  }
  add_padded(out, text, len, chars, s, '<');
}

void format_text(Str *out, const char *text, size_t len, const char *spec, Span span) {
  if (!*spec) return str_add_n(out, text, len);
  FormatSpec s = format_parse(spec, "str", span);
  if (s.type && s.type != 's') unknown_code(s.type, "str", span);
  if (s.sign) raise("ValueError", span, "a sign is not allowed in the format of a str");
  no_grouping(&s, 's', span);
  if (s.align == '=' && !s.zero)
    raise("ValueError", span, "'=' alignment is not allowed in the format of a str");
  if (s.align == '=') s.align = '<';
  format_add_text(out, text, len, &s);
}

/* ---- numbers ---- */

/* Digits with a separator after every `every` of them, counted from the right; zeros are put
 * before until `width` characters are there. */
static void group_digits(Str *out, const char *digits, size_t n, char separator, int every,
                         int64_t width) {
  Str reversed = {0};
  int64_t put = 0;
  for (int64_t i = 0; i < (int64_t)n || (int64_t)reversed.len < width; i++) {
    if (separator && put && put % every == 0) str_add_char(&reversed, separator);
    str_add_char(&reversed, i < (int64_t)n ? digits[(int64_t)n - 1 - i] : '0');
    put++;
  }
  for (size_t i = reversed.len; i-- > 0;) str_add_char(out, reversed.at[i]);
}

/* sign, prefix, whole digits and the rest ("." and what follows), as the spec wants them. */
void format_add_number(Str *out, bool negative, const char *prefix, const char *whole,
                       size_t whole_len, const char *rest, const FormatSpec *s) {
  Str body = {0};
  if (negative) str_add_char(&body, '-');
  else if (s->sign == '+' || s->sign == ' ') str_add_char(&body, s->sign);
  str_add(&body, prefix);
  size_t head = body.len;
  bool zeros = s->align == '=' && s->fill_len == 1 && s->fill[0] == '0';
  int every = s->grouping == '_' && s->type && strchr("bBoxX", s->type) ? 4 : 3;
  int64_t width = zeros ? s->width - (int64_t)head - (int64_t)strlen(rest) : 0;
  group_digits(&body, whole, whole_len, s->grouping, every, width);
  str_add(&body, rest);
  if (s->align == '=' && !zeros) {
    str_add_n(out, str_text(&body), head);
    add_fill(out, s, s->width - (int64_t)body.len);
    str_add_n(out, body.at + head, body.len - head);
  } else {
    add_padded(out, str_text(&body), body.len, (int64_t)body.len, s, '>');
  }
}

static const char *upper_case(const char *text) {
  char *upper = (char *)(uintptr_t)str_copy_n(text, strlen(text));
  for (char *p = upper; *p; p++) *p = (char)toupper((unsigned char)*p);
  return upper;
}

void format_add_int(Str *out, Value x, const FormatSpec *s) {
  static const struct {
    char type;
    int base;
    const char *prefix;
  } kinds[] = {{'b', 2, "0b"}, {'o', 8, "0o"}, {'x', 16, "0x"}, {'X', 16, "0X"}};
  int base = 10;
  const char *prefix = "";
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (s->type == kinds[i].type)
      base = kinds[i].base, prefix = s->alternate ? kinds[i].prefix : "";
  const char *digits = int_digits(x, base);
  if (s->type == 'X') digits = upper_case(digits);
  format_add_number(out, int_is_negative(x), prefix, digits, strlen(digits), "", s);
}

void format_int(Str *out, Value x, const char *spec, Span span) {
  FormatSpec s = format_parse(spec, "int", span);
  if (s.type && strchr("eEfFgG%", s.type))
    return format_float(out, value_as_float(x, "the number", span), spec, span);
  if (s.type && !strchr("bcdnoxX", s.type)) unknown_code(s.type, "int", span);
  if (s.precision >= 0)
    raise("ValueError", span, "a precision is not allowed in the format of an int");
  if (s.no_negative_zero)
    raise("ValueError", span, "'z' is not allowed in the format of an int: it has no -0");
  if (s.type && strchr(s.grouping == '_' ? "cn" : "bcnoxX", s.type)) no_grouping(&s, s.type, span);
  if (s.type != 'c') return format_add_int(out, x, &s);
  int64_t code = x.type == &type_big ? -1 : value_as_int(x, "", span);
  if (code < 0 || code > 0x10ffff) raise("OverflowError", span, "%%c needs a character code");
  char text[4];
  size_t n = utf8_encode((uint32_t)code, text);
  format_add_text(out, text, n, &s);
}

/* The digits of |x| in the C format that the spec's type asks for. */
static const char *float_digits(double x, const FormatSpec *s) {
  int precision = s->precision < 0 ? 6 : s->precision;
  switch (s->type) {
  case 'e':
  case 'E': return str_format(s->alternate ? "%#.*e" : "%.*e", precision, x);
  case 'f':
  case 'F': return str_format(s->alternate ? "%#.*f" : "%.*f", precision, x);
  case '%': return str_format(s->alternate ? "%#.*f%%" : "%.*f%%", precision, x * 100);
  case 'n':
  case 'g':
  case 'G': return str_format(s->alternate ? "%#.*g" : "%.*g", precision ? precision : 1, x);
  default: break;
  }
  Str out = {0};
  if (s->precision < 0) {
    str_add_double(&out, x);
    return str_text(&out);
  }
  /* As 'g', but always with a digit after the point, and an exponent one digit sooner. */
  precision = precision ? precision : 1;
  int exponent = x == 0 ? 0 : atoi(strchr(str_format("%.*e", precision - 1, x), 'e') + 1);
  if (exponent < -4 || exponent >= precision - (s->precision > 0)) {
    const char *text = str_format("%.*e", precision - 1, x), *e = strchr(text, 'e');
    size_t n = (size_t)(e - text);
    while (memchr(text, '.', n) && (text[n - 1] == '0' || text[n - 1] == '.')) n--;
    str_add_n(&out, text, n);
    str_add(&out, e);
    return str_text(&out);
  }
  str_printf(&out, "%.*g", precision, x);
  if (!strchr(str_text(&out), '.')) str_add(&out, ".0");
  return str_text(&out);
}

void format_add_float(Str *out, double x, const FormatSpec *s) {
  bool negative = signbit(x) && !isnan(x);
  double size = fabs(x);
  const char *text;
  if (isnan(x) || isinf(x))
    text = str_format("%s%s", isnan(x) ? "nan" : "inf", s->type == '%' ? "%" : "");
  else text = float_digits(size, s);
  if (s->no_negative_zero && strtod(text, NULL) == 0) negative = false;
  if (s->type && strchr("EFG", s->type)) text = upper_case(text);
  size_t whole = strspn(text, "0123456789");
  if (!whole) whole = strlen(text); /* inf, nan */
  format_add_number(out, negative, "", text, whole, text + whole, s);
}

void format_float(Str *out, double x, const char *spec, Span span) {
  FormatSpec s = format_parse(spec, "float", span);
  if (s.type && !strchr("eEfFgGn%", s.type)) unknown_code(s.type, "float", span);
  if (s.type == 'n') no_grouping(&s, 'n', span);
  if (!*spec) str_add_double(out, x);
  else format_add_float(out, x, &s);
}
