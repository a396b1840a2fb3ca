/* format_calls.c -- str.format and the % operator: texts with fields to be filled in. */
#include "lang/value/format.h"
#include "lang/value/big_int.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

/* ---- "..." % args ---- */

typedef struct Percent {
  const char *at, *end;
  Value args; /* a tuple, or the only one */
  int next;
  Str out;
  bool of_bytes;
  Span span;
} Percent;

static Value next_arg(Percent *p) {
  if (p->args.type == &type_tuple) {
    ValueVec *items = value_items(p->args);
    if (p->next < items->len) return items->at[p->next++];
  } else if (p->next++ == 0) {
    return p->args;
  }
  raise("TypeError", p->span, "not enough arguments for format string");
}

static int star_or_number(Percent *p) {
  if (p->at < p->end && *p->at == '*') {
    p->at++;
    int64_t n = value_as_int(next_arg(p), "the * of a format", p->span);
    if (n < -(1 << 20) || n > 1 << 20) raise("ValueError", p->span, "the width is too large");
    return (int)n;
  }
  int64_t n = 0;
  while (p->at < p->end && isdigit((unsigned char)*p->at))
    if ((n = n * 10 + (*p->at++ - '0')) > 1 << 20)
      raise("ValueError", p->span, "the width is too large");
  return (int)n;
}

static void percent_flags(Percent *p, FormatSpec *s) {
  s->align = '>';
  for (; p->at < p->end && strchr("-+ #0", *p->at); p->at++) {
    switch (*p->at) {
    case '-': s->align = '<'; break;
    case '+': s->sign = '+'; break;
    case ' ': s->sign = s->sign ? s->sign : ' '; break;
    case '#': s->alternate = true; break;
    default: s->zero = true;
    }
  }
  s->width = star_or_number(p);
  if (s->width < 0) s->align = '<', s->width = -s->width;
  if (p->at < p->end && *p->at == '.') {
    p->at++;
    s->precision = star_or_number(p);
    if (s->precision < 0) s->precision = 0;
  }
  while (p->at < p->end && strchr("hlL", *p->at)) p->at++;
}

static void percent_int(Percent *p, FormatSpec *s, Value v) {
  v = value_plain(v);
  if (v.type == &type_float && s->type == 'd') {
    if (!isfinite(v.real))
      raise("OverflowError", p->span, "cannot convert %s to integer", value_repr(v));
    v = big_from_double(trunc(v.real));
  }
  if (!value_is_integer(v))
    raise("TypeError", p->span, "%%%c format: %s is required, not %s", s->type,
          s->type == 'd' ? "a real number" : "an integer", value_type_text(v));
  if (s->precision >= 0) { /* at least that many digits */
    FormatSpec digits = {.fill = "0",
                         .fill_len = 1,
                         .align = '=',
                         .type = s->type,
                         .width = s->precision,
                         .precision = -1};
    Str text = {0};
    Value size = int_is_negative(v) ? value_unary(AST_NEG, v, p->span) : v;
    format_add_int(&text, size, &digits);
    return format_add_number(&p->out, int_is_negative(v), "", str_text(&text), text.len, "", s);
  }
  format_add_int(&p->out, v, s);
}

static void percent_char(Percent *p, FormatSpec *s, Value v) {
  v = value_plain(v);
  s->precision = -1;
  if (p->of_bytes && value_is_integer(v)) {
    if (v.type != &type_int || v.integer < 0 || v.integer > 255)
      raise("OverflowError", p->span, "%%c arg not in range(256)");
    char byte = (char)v.integer;
    v = value_bytes(&byte, 1);
  }
  if (p->of_bytes) v = bytes_as_text(v, p->span);
  if (v.type == &type_str && str_length(v.object) == 1)
    return format_add_text(&p->out, value_text(v), value_str_object(v)->len, s);
  if (!value_is_integer(v)) raise("TypeError", p->span, "%%c requires int or char");
  if (v.type != &type_int || v.integer < 0 || v.integer > 0x10ffff)
    raise("OverflowError", p->span, "%%c arg not in range(0x110000)");
  char text[4];
  format_add_text(&p->out, text, utf8_encode((uint32_t)v.integer, text), s);
}

static void percent_convert(Percent *p, FormatSpec *s, Value v) {
  Str text = {0};
  if (s->zero && s->align == '>' && !strchr("bsrac", s->type)) s->align = '=', s->fill[0] = '0';
  switch (s->type) {
  case 'i':
  case 'u':
  case 'd': s->type = 'd'; return percent_int(p, s, v);
  case 'o':
  case 'x':
  case 'X': return percent_int(p, s, v);
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
    return format_add_float(&p->out, value_as_float(v, "the value of a float format", p->span), s);
  case 'c': return percent_char(p, s, v);
  case 'b':
    if (!p->of_bytes) raise("ValueError", p->span, "unsupported format character 'b'");
    /* fall through */
  case 's': value_add_str(p->of_bytes ? bytes_as_text(v, p->span) : v, &text); break;
  case 'r':
    if (!p->of_bytes) {
      value_add_repr(v, &text);
      break;
    }
    /* fall through */
  case 'a': value_add_ascii(v, &text); break;
  default: raise("ValueError", p->span, "unsupported format character '%c'", s->type);
  }
  format_add_text(&p->out, str_text(&text), text.len, s);
}

/* The key of "%(key)s"; absent without one. */
static Value percent_key(Percent *p) {
  if (p->at >= p->end || *p->at != '(') return value_absent();
  const char *start = ++p->at;
  while (p->at < p->end && *p->at != ')') p->at++;
  if (p->at == p->end) raise("ValueError", p->span, "incomplete format key");
  if (value_plain(p->args).type != &type_dict)
    raise("TypeError", p->span, "format requires a mapping");
  p->at++;
  Value key = value_str_n(start, (size_t)(p->at - 1 - start));
  return value_get_item(p->args, p->of_bytes ? bytes_of_text(key) : key, p->span);
}

Value format_percent(Value format, Value args, bool of_bytes, Span span) {
  StrObject *f = format.object;
  Percent p = {
      .at = f->text, .end = f->text + f->len, .args = args, .of_bytes = of_bytes, .span = span};
  bool by_key = false;
  while (p.at < p.end) {
    const char *percent = memchr(p.at, '%', (size_t)(p.end - p.at));
    if (!percent) percent = p.end;
    str_add_n(&p.out, p.at, (size_t)(percent - p.at));
    if ((p.at = percent) == p.end) break;
    p.at++;
    FormatSpec s = {.fill = " ", .fill_len = 1, .precision = -1};
    Value v = percent_key(&p);
    by_key |= v.type != NULL;
    percent_flags(&p, &s);
    if (p.at == p.end) raise("ValueError", span, "incomplete format");
    s.type = *p.at++;
    if (s.type == '%') str_add_char(&p.out, '%');
    else percent_convert(&p, &s, v.type ? v : next_arg(&p));
  }
  int given = args.type == &type_tuple ? value_items(args)->len : args.type == &type_dict ? 0 : 1;
  if (!by_key && p.next < given)
    raise("TypeError", span, "not all arguments converted during string formatting");
  return value_str_take(&p.out);
}

/* ---- "...".format(args) ---- */

typedef struct Fields {
  const Value *args;
  int n, next; /* next: of "{}"; -1 once a number was used */
  Value named;
  Span span;
} Fields;

static void fill_fields(Fields *f, const char *at, const char *end, Str *out, int depth);

static Value numbered(Fields *f, int64_t i) {
  if (i >= f->n)
    raise("IndexError", f->span, "replacement index %lld out of range for positional args",
          (long long)i);
  return f->args[i];
}

static Value field_root(Fields *f, const char *name, size_t len) {
  if (!len || isdigit((unsigned char)*name)) {
    if (len ? f->next > 0 : f->next < 0)
      raise("ValueError", f->span, "{} and {0} cannot be used in one format");
    if (!len) return numbered(f, f->next++);
    f->next = -1;
    return numbered(f, strtoll(name, NULL, 10));
  }
  Value key = value_str_n(name, len);
  Value v = f->named.type == &type_dict ? value_dict_get(f->named, key) : value_absent();
  if (!v.type && f->named.type && f->named.type != &type_dict)
    return value_get_item(f->named, key, f->span);
  if (!v.type) raise_key_error(key, f->span);
  return v;
}

/* "0.name[3]" */
static Value field_value(Fields *f, const char *at, const char *end) {
  const char *stop = at;
  while (stop < end && *stop != '.' && *stop != '[') stop++;
  Value v = field_root(f, at, (size_t)(stop - at));
  while ((at = stop) < end) {
    bool attr = *at++ == '.';
    for (stop = at; stop < end && (attr ? *stop != '.' && *stop != '[' : *stop != ']');) stop++;
    if (stop == at || (!attr && stop == end))
      raise("ValueError", f->span, "empty attribute or unclosed '[' in a format field");
    const char *name = str_intern_n(at, (size_t)(stop - at));
    if (attr) v = value_get_attr(v, name, f->span);
    else if (isdigit((unsigned char)*name))
      v = value_get_item(v, value_int(strtoll(name, NULL, 10)), f->span);
    else v = value_get_item(v, value_str(name), f->span);
    if (!attr) stop++;
  }
  return v;
}

static void fill_field(Fields *f, const char *at, const char *end, Str *out, int depth) {
  const char *name_end = at;
  for (int brackets = 0; name_end < end; name_end++) {
    if (*name_end == '[') brackets++;
    if (*name_end == ']') brackets--;
    if (!brackets && (*name_end == ':' || *name_end == '!')) break;
  }
  Value v = field_value(f, at, name_end);
  const char *rest = name_end;
  if (rest < end && *rest == '!') {
    char conversion = rest + 1 < end ? rest[1] : 0;
    if (!conversion || !strchr("rsa", conversion) || (rest + 2 < end && rest[2] != ':'))
      raise("ValueError", f->span, "unknown conversion in a format field: use !r, !s or !a");
    v = value_converted(v, conversion);
    rest += 2;
  }
  Str spec = {0};
  if (rest < end) fill_fields(f, rest + 1, end, &spec, depth + 1);
  value_format(v, str_text(&spec), out, f->span);
}

static void fill_fields(Fields *f, const char *at, const char *end, Str *out, int depth) {
  if (depth > 2) raise("ValueError", f->span, "max string recursion exceeded");
  while (at < end) {
    char c = *at++;
    if ((c == '{' || c == '}') && at < end && *at == c && depth == 0) {
      str_add_char(out, c);
      at++;
    } else if (c == '}') {
      raise("ValueError", f->span, "single '}' encountered in format string");
    } else if (c != '{') {
      str_add_char(out, c);
    } else {
      const char *close = at;
      for (int open = 1; close < end; close++) {
        open += *close == '{' ? 1 : *close == '}' ? -1 : 0;
        if (!open) break;
      }
      if (close == end) raise("ValueError", f->span, "expected '}' before end of string");
      fill_field(f, at, close, out, depth);
      at = close + 1;
    }
  }
}

Value format_call(const char *format, size_t len, const Value *args, int n, Value named,
                  Span span) {
  Fields f = {.args = args, .n = n, .named = named, .span = span};
  Str out = {0};
  fill_fields(&f, format, format + len, &out, 0);
  return value_str_take(&out);
}
