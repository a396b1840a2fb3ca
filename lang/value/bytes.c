/* bytes.c -- the type bytes: immutable sequences of ints from 0 to 255. */
#include "lang/value/object.h"
#include <ctype.h>

typedef StrObject BytesObject; /* `length` is not used */

static BytesObject *bytes_of(Value v) { return v.object; }

Value value_bytes(const void *data, size_t n) {
  return value_of(&type_bytes, NEW(BytesObject, .text = str_copy_n(data, n), .len = n));
}

bool value_is_bytes_like(Value v) {
  return v.type == &type_bytes || v.type == &type_bytearray || v.type == &type_memoryview;
}

StrObject *value_as_bytes(Value v, Span span) {
  if (v.type == &type_memoryview) return memoryview_bytes(v, span).object;
  if (v.type != &type_bytes && v.type != &type_bytearray) /* which begins as bytes do */
    raise("TypeError", span, "a bytes-like object is required, not '%s'", value_type_text(v));
  return v.object;
}

static Value take(Str *built) { return value_bytes(str_text(built), built->len); }

static uint8_t byte_of(Value v, Span span) {
  int64_t i = value_as_int(v, "a byte", span);
  if (i < 0 || i > 255) raise("ValueError", span, "bytes must be in range(0, 256)");
  return (uint8_t)i;
}

/* ---- as a sequence ---- */

static void add_repr(const BytesObject *b, Str *out) {
  char quote = memchr(b->text, '\'', b->len) && !memchr(b->text, '"', b->len) ? '"' : '\'';
  str_printf(out, "b%c", quote);
  for (size_t i = 0; i < b->len; i++) {
    unsigned char c = (unsigned char)b->text[i];
    if (c == '\\' || c == (unsigned char)quote) str_printf(out, "\\%c", c);
    else if (c == '\n') str_add(out, "\\n");
    else if (c == '\r') str_add(out, "\\r");
    else if (c == '\t') str_add(out, "\\t");
    else if (c < 0x20 || c > 0x7e) str_printf(out, "\\x%02x", c);
    else str_add_char(out, (char)c);
  }
  str_add_char(out, quote);
}
static void repr(Value v, Str *out) { add_repr(v.object, out); }

static int64_t length(Value v, Span span) { return (void)span, (int64_t)bytes_of(v)->len; }

static Value byte_at(const BytesObject *b, int64_t i) { return value_int((uint8_t)b->text[i]); }

static Value get_item(Value v, Value index, Span span) {
  BytesObject *b = bytes_of(v);
  if (index.type != &type_slice)
    return byte_at(b, index_in_range(index, (int64_t)b->len, "bytes", span));
  SliceBounds s = slice_bounds(index, (int64_t)b->len, span);
  Str out = {0};
  for (int64_t i = 0; i < s.count; i++) str_add_char(&out, b->text[s.start + i * s.step]);
  return take(&out);
}

static Value next_byte(IteratorObject *it, Span span) {
  (void)span;
  BytesObject *b = bytes_of(it->source);
  return it->i < (int64_t)b->len ? byte_at(b, it->i++) : value_absent();
}
static Value iter(Value v, Span span) {
  (void)span;
  return value_iterator((IteratorObject){.next = next_byte, .name = "bytes_iterator", .source = v});
}

static bool contains(Value v, Value x, Span span) {
  BytesObject *b = bytes_of(v);
  if (value_is_bytes_like(x)) {
    StrObject *part = value_as_bytes(x, span);
    return !part->len || memmem(b->text, b->len, part->text, part->len);
  }
  return memchr(b->text, byte_of(x, span), b->len) != NULL;
}

static Value binary(AstOp op, Value a, Value b, Span span) {
  Str out = {0};
  if (op == AST_MOD && a.type == &type_bytes) return bytes_percent(a, b, span);
  if (op == AST_ADD && a.type == &type_bytes &&
      (b.type == &type_bytes || b.type == &type_memoryview)) {
    StrObject *more = value_as_bytes(b, span);
    str_add_n(&out, bytes_of(a)->text, bytes_of(a)->len);
    str_add_n(&out, more->text, more->len);
    return take(&out);
  }
  Value bytes = a.type == &type_bytes ? a : b, count = a.type == &type_bytes ? b : a;
  if (op != AST_MUL || !value_is_integer(count)) return value_absent();
  int64_t n = value_as_int(count, "the count", span);
  if (n > 0 && bytes_of(bytes)->len > (size_t)((1 << 30) / n))
    raise("MemoryError", span, "the repeated bytes would be longer than 2**30");
  for (int64_t i = 0; i < n; i++) str_add_n(&out, bytes_of(bytes)->text, bytes_of(bytes)->len);
  return take(&out);
}

static int order(const BytesObject *a, const BytesObject *b) {
  int c = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
  return c ? c : (a->len > b->len) - (a->len < b->len);
}
static bool equal(Value a, Value b) {
  return b.type == &type_bytes && order(bytes_of(a), bytes_of(b)) == 0;
}
static Value compare(AstOp op, Value a, Value b, Span span) {
  (void)span;
  if (a.type != b.type || op == AST_EQ || op == AST_NE) return value_absent();
  int c = order(bytes_of(a), bytes_of(b));
  return value_bool(op == AST_LT ? c < 0 : op == AST_LE ? c <= 0 : op == AST_GT ? c > 0 : c >= 0);
}
static uint64_t hash(Value v) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes_of(v)->len; i++)
    h = (h ^ (unsigned char)bytes_of(v)->text[i]) * 0x100000001b3u;
  return h;
}

const ValueType type_bytes = {.name = "bytes",
                              .repr = repr,
                              .get_item = get_item,
                              .binary = binary,
                              .compare = compare,
                              .contains = contains,
                              .length = length,
                              .iter = iter,
                              .equal = equal,
                              .hash = hash,
                              .methods = bytes_methods,
                              .method_count = BYTES_METHODS};

/* ---- bytes(), bytes.fromhex ---- */

static Value new_bytes(BuiltinCall *c) {
  Value x = c->args[0];
  if (!x.type) return value_bytes("", 0);
  if (x.type == &type_bytes) return x;
  if (x.type == &type_str) {
    if (!c->args[1].type) raise("TypeError", c->span, "string argument without an encoding");
    BuiltinCall encode = *c;
    encode.self = x;
    encode.args = &c->args[1];
    encode.spans = &c->spans[1];
    return str_encode(&encode);
  }
  Str out = {0};
  if (value_is_integer(x)) {
    int64_t n = value_as_int(x, "the size", c->spans[0]);
    if (n < 0 || n > 1 << 30) raise("ValueError", c->spans[0], "the size is 0 to 2**30");
    return value_bytes(NEW_BYTES((size_t)n + 1), (size_t)n);
  }
  ValueVec items = value_to_vec(x, c->spans[0]);
  for each (Value, i, &items) str_add_char(&out, (char)byte_of(*i, c->spans[0]));
  return take(&out);
}

static Value from_hex(BuiltinCall *c) {
  const char *text = value_as_text(c->args[0], "the argument", c->spans[0]);
  Str out = {0};
  for (const char *p = text; *p;) {
    if (isspace((unsigned char)*p)) {
      p++;
      continue;
    }
    unsigned x;
    if (!isxdigit((unsigned char)p[0]) || !isxdigit((unsigned char)p[1]) ||
        sscanf(p, "%2x", &x) != 1)
      raise("ValueError", c->spans[0],
            "non-hexadecimal number found in fromhex() arg at position %d", (int)(p - text));
    str_add_char(&out, (char)x);
    p += 2;
  }
  return take(&out);
}

static Value get_static(const char *name) {
  static const Builtin row = {"fromhex", "string, /", from_hex, "the bytes of hexadecimal digits"};
  return strcmp(name, "fromhex") == 0 ? value_builtin(&row) : value_absent();
}
static const Builtin constructor = {"bytes", "source?, encoding?, errors='strict'", new_bytes,
                                    "of a size, of ints, or of a text"};
const TypeObject bytes_type_object = {
    .type = &type_bytes, .constructor = &constructor, .get_static = get_static};
