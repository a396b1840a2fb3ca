/* str.c -- the type str: immutable UTF-8 text, indexed by character.
 *
 * Texts that are all ASCII (one byte a character) are indexed in constant time. */
#include "lang/value/big_int.h"
#include "lang/value/object.h"

static Value str_object(const char *text, size_t len) {
  return value_of(&type_str, NEW(StrObject, .text = text, .len = len, .length = -1));
}

Value value_str_n(const char *text, size_t len) { return str_object(str_copy_n(text, len), len); }
Value value_str(const char *text) { return value_str_n(text, strlen(text)); }
Value value_str_take(Str *built) { return str_object(str_text(built), built->len); }
const char *value_text(Value str) { return value_str_object(str)->text; }

/* ---- UTF-8 ---- */

static size_t char_size(unsigned char c) { return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4; }

int64_t str_length(StrObject *s) {
  if (s->length >= 0) return s->length;
  int64_t n = 0;
  for (size_t i = 0; i < s->len; i++) n += (s->text[i] & 0xc0) != 0x80;
  return s->length = n;
}

/* The byte where character `i` begins, searching from byte `from`. */
static size_t char_offset(StrObject *s, int64_t i) {
  if (str_length(s) == (int64_t)s->len) return (size_t)i;
  size_t at = 0;
  while (i-- > 0) at += char_size((unsigned char)s->text[at]);
  return at < s->len ? at : s->len;
}

size_t utf8_encode(uint32_t c, char out[4]) {
  if (c < 0x80) return out[0] = (char)c, 1;
  size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = n - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
  out[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
  return n;
}

uint32_t utf8_decode(const char *text, size_t *size) {
  unsigned char c = (unsigned char)text[0];
  *size = char_size(c);
  if (*size == 1) return c;
  uint32_t code = c & (0x7fu >> *size);
  for (size_t i = 1; i < *size; i++) code = code << 6 | ((unsigned char)text[i] & 0x3f);
  return code;
}

/* No character is written longer than it must be, nor is half of a pair of UTF-16 one. */
bool utf8_may_follow(unsigned char first, size_t i, unsigned char next) {
  if ((next & 0xc0) != 0x80) return false;
  if (i > 1) return true;
  return first == 0xe0   ? next >= 0xa0
         : first == 0xed ? next < 0xa0
         : first == 0xf0 ? next >= 0x90
         : first == 0xf4 ? next < 0x90
                         : true;
}

size_t utf8_valid_length(const char *text, size_t n) {
  size_t i = 0;
  while (i < n) {
    unsigned char c = (unsigned char)text[i];
    size_t size = c < 0x80                ? 1
                  : c >= 0xc2 && c < 0xe0 ? 2
                  : c >= 0xe0 && c < 0xf0 ? 3
                  : c >= 0xf0 && c < 0xf5 ? 4
                                          : 0;
    if (!size || i + size > n) return i;
    for (size_t k = 1; k < size; k++)
      if (!utf8_may_follow(c, k, (unsigned char)text[i + k])) return i;
    i += size;
  }
  return n;
}

/* ---- sequence ---- */

static int64_t length(Value v, Span span) { return (void)span, str_length(v.object); }

Value str_slice_chars(StrObject *s, int64_t start, int64_t count) {
  size_t lo = char_offset(s, start), hi = char_offset(s, start + count);
  return value_str_n(s->text + lo, hi - lo);
}

static Value get_item(Value v, Value index, Span span) {
  StrObject *s = v.object;
  if (index.type != &type_slice)
    return str_slice_chars(s, index_in_range(index, str_length(s), "string", span), 1);
  SliceBounds b = slice_bounds(index, str_length(s), span);
  if (b.step == 1) return str_slice_chars(s, b.start, b.count);
  Str out = {0};
  for (int64_t i = 0; i < b.count; i++) {
    size_t at = char_offset(s, b.start + i * b.step);
    str_add_n(&out, s->text + at, char_size((unsigned char)s->text[at]));
  }
  return value_str_take(&out);
}

static bool contains(Value v, Value x, Span span) {
  x = value_plain(x);
  if (x.type != &type_str)
    raise("TypeError", span, "'in <string>' requires string as left operand, not %s",
          value_type_text(x));
  StrObject *s = v.object, *part = x.object;
  return !part->len || memmem(s->text, s->len, part->text, part->len) != NULL;
}

static Value next_char(IteratorObject *it, Span span) {
  (void)span;
  StrObject *s = it->source.object;
  if ((size_t)it->i >= s->len) return value_absent();
  size_t n = char_size((unsigned char)s->text[it->i]);
  Value c = value_str_n(s->text + it->i, n);
  it->i += (int64_t)n;
  return c;
}

static Value iter(Value v, Span span) {
  (void)span;
  return value_iterator((IteratorObject){.next = next_char, .name = "str_iterator", .source = v});
}

/* ---- comparison ---- */

static int compare_text(StrObject *a, StrObject *b) {
  int c = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
  return c ? c : (a->len > b->len) - (a->len < b->len);
}

static bool equal(Value a, Value b) {
  if (b.type != &type_str) return false;
  StrObject *x = a.object, *y = b.object;
  return x == y || (x->len == y->len && memcmp(x->text, y->text, x->len) == 0);
}

static Value compare(AstOp op, Value a, Value b, Span span) {
  (void)span;
  if (a.type != &type_str || b.type != &type_str) return value_absent();
  if (op == AST_EQ || op == AST_NE) return value_bool(equal(a, b) == (op == AST_EQ));
  int c = compare_text(a.object, b.object);
  switch (op) {
  case AST_LT: return value_bool(c < 0);
  case AST_LE: return value_bool(c <= 0);
  case AST_GT: return value_bool(c > 0);
  default: return value_bool(c >= 0);
  }
}

static uint64_t hash(Value v) {
  StrObject *s = v.object;
  if (s->hash) return s->hash;
  uint64_t h = 1469598103934665603u; /* FNV-1a */
  for (size_t i = 0; i < s->len; i++) h = (h ^ (unsigned char)s->text[i]) * 1099511628211u;
  return s->hash = h | 1;
}

/* ---- operators ---- */

static Value repeat(StrObject *s, int64_t n, Span span) {
  if (n <= 0 || !s->len) return value_str("");
  if ((uint64_t)n > STR_LEN_MAX / s->len)
    raise("MemoryError", span, "the repeated string would be longer than 2 GB");
  size_t len = s->len * (size_t)n, done = s->len;
  char *text = NEW_BYTES(len + 1);
  memcpy(text, s->text, s->len);
  for (; done < len; done *= 2) memcpy(text + done, text, done < len - done ? done : len - done);
  return str_object(text, len);
}

Value str_binary(AstOp op, Value a, Value b, Span span) {
  if (op == AST_MOD && a.type == &type_str) return format_percent(a, b, false, span);
  if (op == AST_MUL && a.type == &type_str && value_is_integer(b))
    return repeat(a.object, value_as_int(b, "", span), span);
  if (op == AST_MUL && value_is_integer(a))
    return repeat(b.object, value_as_int(a, "", span), span);
  if (op != AST_ADD || a.type != &type_str || b.type != &type_str) return value_absent();
  StrObject *x = a.object, *y = b.object;
  if (x->len + y->len > STR_LEN_MAX)
    raise("MemoryError", span, "the string would be longer than 2 GB");
  char *text = NEW_BYTES(x->len + y->len + 1);
  memcpy(text, x->text, x->len);
  memcpy(text + x->len, y->text, y->len);
  return str_object(text, x->len + y->len);
}

/* ---- text ---- */

void str_add_code_escape(Str *out, uint32_t code) {
  str_printf(out, code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
}

static void add_escape(Str *out, unsigned char c, char quote) {
  switch (c) {
  case '\n': str_add(out, "\\n"); break;
  case '\t': str_add(out, "\\t"); break;
  case '\r': str_add(out, "\\r"); break;
  case '\\': str_add(out, "\\\\"); break;
  default:
    if (c == (unsigned char)quote) str_printf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7f) str_printf(out, "\\x%02x", c);
    else str_add_char(out, (char)c);
  }
}

void str_add_python_repr(Str *out, const char *text, size_t len) {
  char quote = memchr(text, '\'', len) && !memchr(text, '"', len) ? '"' : '\'';
  str_add_char(out, quote);
  size_t n = 1;
  for (size_t i = 0; i < len; i += n) {
    n = char_size((unsigned char)text[i]);
    if (n == 1) {
      add_escape(out, (unsigned char)text[i], quote);
      continue;
    }
    uint32_t code = i + n <= len ? utf8_decode(text + i, &n) : 0;
    if (code && !unicode_is_printable(code)) str_add_code_escape(out, code);
    else str_add_n(out, text + i, i + n <= len ? n : len - i);
  }
  str_add_char(out, quote);
}

static void repr(Value v, Str *out) {
  StrObject *s = v.object;
  str_add_python_repr(out, s->text, s->len);
}

static void add_text(Value v, Str *out) {
  StrObject *s = v.object;
  str_add_n(out, s->text, s->len);
}

static bool truth(Value v, Span span) { return (void)span, value_str_object(v)->len != 0; }

static void format(Value v, const char *spec, Str *out, Span span) {
  StrObject *s = v.object;
  format_text(out, s->text, s->len, spec, span);
}

const ValueType type_str = {.name = "str",
                            .truth = truth,
                            .repr = repr,
                            .str = add_text,
                            .methods = str_methods,
                            .method_count = STR_METHODS,
                            .get_item = get_item,
                            .binary = str_binary,
                            .compare = compare,
                            .contains = contains,
                            .length = length,
                            .iter = iter,
                            .equal = equal,
                            .hash = hash,
                            .format = format};
