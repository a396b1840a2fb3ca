/* literal.c -- the values of literals: numbers, and strings with their escapes. */
#include "parser/parser_impl.h"
#include <stdlib.h>

/* ---- numbers ---- */

static unsigned digit_value(char c) {
  return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

/* The lexer has checked the form: only the range is left to see to. */
Ast *ast_int(Parser *p, Token t) {
  const char *at = parse_text(p, t.span), *end = at + (t.span.hi - t.span.lo);
  char mark = end - at > 1 ? (char)(at[1] | 0x20) : '0';
  unsigned base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
  bool too_large = false;
  uint64_t value = 0;
  for (at += base == 10 ? 0 : 2; at < end; at++) {
    if (*at == '_') continue;
    too_large |= __builtin_mul_overflow(value, base, &value);
    too_large |= __builtin_add_overflow(value, digit_value(*at), &value);
  }
  return AST_MAKE(p, Int, t.span, too_large ? UINT64_MAX : value, too_large);
}

Ast *ast_float(Parser *p, Token t) {
  const char *at = parse_text(p, t.span), *end = at + (t.span.hi - t.span.lo);
  char few[40], *digits = end - at < (ptrdiff_t)sizeof few ? few : NEW_BYTES(end - at + 1);
  int n = 0;
  for (; at < end; at++)
    if (*at != '_') digits[n++] = *at;
  digits[n] = '\0';
  return AST_MAKE(p, Float, t.span, strtod(digits, NULL));
}

const char *literal_number_fault(const char *text, size_t n) {
  char mark = n > 1 ? (char)(text[1] | 0x20) : '\0', last = text[n - 1];
  if (text[0] == '0' && mark == 'x') return "malformed hexadecimal number";
  if (text[0] == '0' && mark == 'o') return "malformed octal number: its digits are 0 to 7";
  if (text[0] == '0' && mark == 'b') return "malformed binary number: its digits are 0 and 1";
  size_t digits = 0;
  while (digits < n && ((text[digits] >= '0' && text[digits] <= '9') || text[digits] == '_'))
    digits++;
  if (digits == n && (last == '_' || memmem(text, n, "__", 2)))
    return "an underscore in a number must be between two digits";
  if (digits == n) return "a decimal number cannot begin with 0: write 0o for an octal one";
  if ((last == 'j' || last == 'J') && digits == n - 1) return "complex numbers are not supported";
  return "malformed number: a name cannot follow its digits";
}

/* ---- strings ---- */

StringParts literal_string_parts(const Parser *p, Token t) {
  const char *text = parse_text(p, t.span);
  StringParts s = {.quotes = 1};
  uint32_t at = 0;
  for (; text[at] != '\'' && text[at] != '"'; at++) {
    char letter = (char)(text[at] | 0x20);
    s.raw |= letter == 'r';
    s.bytes |= letter == 'b';
    s.formatted |= letter == 'f';
  }
  bool triple =
      t.span.hi - t.span.lo >= at + 6 && text[at + 1] == text[at] && text[at + 2] == text[at];
  if (triple) s.quotes = 3;
  s.lo = t.span.lo + at + (uint32_t)s.quotes;
  s.hi = t.span.hi - (uint32_t)s.quotes;
  return s;
}

static void add_code_point(Str *out, uint32_t c) {
  if (c < 0x80) {
    str_add_char(out, (char)c);
  } else if (c < 0x800) {
    str_add_char(out, (char)(0xc0 | c >> 6));
    str_add_char(out, (char)(0x80 | (c & 0x3f)));
  } else if (c < 0x10000) {
    str_add_char(out, (char)(0xe0 | c >> 12));
    str_add_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
    str_add_char(out, (char)(0x80 | (c & 0x3f)));
  } else {
    str_add_char(out, (char)(0xf0 | c >> 18));
    str_add_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
    str_add_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
    str_add_char(out, (char)(0x80 | (c & 0x3f)));
  }
}

/* The text that is decoded, and how far it is. */
typedef struct Decoder {
  Parser *p;
  StringParts s;
  Str *out;
  const char *at, *end;
  uint32_t base; /* of `end` */
} Decoder;

static bool escape_fault(Decoder *d, const char *from, const char *text) {
  uint32_t lo = d->base - (uint32_t)(d->end - from), hi = d->base - (uint32_t)(d->end - d->at);
  parse_error(d->p, E0120, (Span){lo, hi}, "%s", text);
  return false;
}

static void add_value(Decoder *d, uint32_t c) {
  if (d->s.bytes) str_add_char(d->out, (char)c);
  else add_code_point(d->out, c);
}

static bool is_hex(char c) {
  return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* \xHH, \uHHHH, \UHHHHHHHH, after the letter: exactly n digits. */
static bool hex_escape(Decoder *d, const char *from, int n) {
  uint32_t c = 0;
  int i = 0;
  for (; i < n && d->at < d->end && is_hex(*d->at); i++) c = c << 4 | digit_value(*d->at++);
  if (i < n)
    return escape_fault(d, from,
                        str_format("expected %d hexadecimal digits after '\\%c'", n, from[1]));
  if (c > 0x10ffff)
    return escape_fault(d, from, "no character has this number: the last is \\U0010ffff");
  if (c >= 0xd800 && c < 0xe000)
    return escape_fault(d, from, "a surrogate is not a character of its own");
  add_value(d, c);
  return true;
}

static bool octal_escape(Decoder *d, const char *from) {
  uint32_t c = 0;
  d->at = from + 1;
  for (int i = 0; i < 3 && d->at < d->end && *d->at >= '0' && *d->at <= '7'; i++)
    c = c << 3 | (uint32_t)(*d->at++ - '0');
  if (c > 0xff) return escape_fault(d, from, "expected an octal escape up to \\377");
  add_value(d, c);
  return true;
}

/* At a backslash. An escape that Python does not know stands for itself, as in Python. */
static bool escape(Decoder *d) {
  static const char letters[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
  const char *from = d->at++;
  if (d->at == d->end) return str_add_char(d->out, '\\'), true;
  char c = *d->at++;
  const char *simple = strchr(letters, c);
  if (simple) return str_add_char(d->out, values[simple - letters]), true;
  switch (c) {
  case '\n': return true;
  case '\r': d->at += d->at < d->end && *d->at == '\n'; return true;
  case 'x': return hex_escape(d, from, 2);
  case '0' ... '7': return octal_escape(d, from);
  case 'u':
  case 'U':
    if (!d->s.bytes) return hex_escape(d, from, c == 'u' ? 4 : 8);
    break;
  case 'N':
    if (!d->s.bytes)
      return escape_fault(d, from, "'\\N' escapes are not supported: write '\\u' and the number");
    break;
  default: break;
  }
  d->at = from + 1;
  str_add_char(d->out, '\\');
  return true;
}

/* One character, or a run of plain ones. A line ends in "\n", however it is written. */
static bool decode_some(Decoder *d) {
  if (*d->at == '\\' && !d->s.raw) return escape(d);
  if (*d->at == '\r') {
    d->at += d->at + 1 < d->end && d->at[1] == '\n' ? 2 : 1;
    str_add_char(d->out, '\n');
    return true;
  }
  const char *run = d->at;
  do {
    if (d->s.bytes && (unsigned char)*d->at >= 0x80) {
      const char *bad = d->at++;
      return escape_fault(d, bad,
                          "bytes can only hold ASCII characters: write '\\x' and the number");
    }
    d->at++;
  } while (d->at < d->end && *d->at != '\r' && (*d->at != '\\' || d->s.raw));
  str_add_n(d->out, run, (size_t)(d->at - run));
  return true;
}

bool literal_decode(Parser *p, Str *out, StringParts s, uint32_t lo, uint32_t hi) {
  const char *text = parse_text(p, (Span){lo, hi});
  Decoder d = {p, s, out, text, text + (hi - lo), hi};
  while (d.at < d.end)
    if (!decode_some(&d)) return false;
  return true;
}

/* ---- the node ---- */

static Ast *make_str(Parser *p, Span span, Str *text, bool bytes) {
  return AST_MAKE(p, Str, span, str_copy_n(str_text(text), text->len), text->len, bytes);
}

/* A single literal without escapes, the usual one, is one copy; short ones say the same again and
 * again. NULL if it is another. */
static Ast *plain_string(Parser *p, Token t, StringParts s) {
  enum { SHORT = 32 };
  size_t n = s.hi - s.lo;
  const char *text = parse_text(p, (Span){s.lo, s.hi});
  bool plain =
      !s.formatted && !s.bytes && !memchr(text, '\r', n) && (s.raw || !memchr(text, '\\', n));
  if (!plain) return NULL;
  const char *copy = n <= SHORT ? str_intern_n(text, n) : str_copy_n(text, n);
  return AST_MAKE(p, Str, t.span, copy, n, false);
}

static Ast *join(Parser *p, const TokenVec *literals, bool bytes) {
  Span span = {literals->at[0].span.lo, vec_last(literals).span.hi}, pending_span = {0, 0};
  AstVec parts = {0};
  Str pending = {0};
  bool formatted = false;
  for each (Token, t, literals) {
    StringParts s = literal_string_parts(p, *t);
    formatted |= s.formatted;
    if (s.bytes != bytes) {
      parse_error(p, E0120, t->span, "cannot join bytes and text literals");
      return ast_poison(span);
    }
    bool good = s.formatted ? fstring_parse(p, s, &parts, &pending, &pending_span)
                            : literal_decode(p, &pending, s, s.lo, s.hi);
    if (!good) return ast_poison(span);
    pending_span = span_join(pending_span, t->span);
  }
  if (!formatted) return make_str(p, span, &pending, bytes);
  fstring_flush(p, &parts, &pending, &pending_span);
  return AST_MAKE(p, FString, span, parts);
}

Ast *ast_strings(Parser *p, TokenVec literals) {
  StringParts s = literal_string_parts(p, literals.at[0]);
  Ast *plain = literals.len == 1 ? plain_string(p, literals.at[0], s) : NULL;
  return plain ? plain : join(p, &literals, s.bytes);
}
