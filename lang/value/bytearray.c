/* bytearray.c -- the type bytearray: bytes that can be changed.
 *
 * A bytearray begins with what a bytes value holds, so that everything that only reads is done by
 * the functions of bytes on the same object. */
#include "lang/value/object.h"

typedef struct ByteArray {
  StrObject bytes;
  size_t cap;
} ByteArray;

static ByteArray *array_of(Value v) { return v.object; }
static Value as_bytes(Value v) { return value_of(&type_bytes, v.object); }
static char *data_of(Value v) { return (char *)(uintptr_t)array_of(v)->bytes.text; }

static Value new_array(const char *data, size_t n) {
  return value_of(&type_bytearray,
                  NEW(ByteArray, .bytes = {.text = str_copy_n(data, n), .len = n}, .cap = n));
}

static void reserve(ByteArray *a, size_t n) {
  if (n <= a->cap) return;
  size_t cap = a->cap * 2 > n ? a->cap * 2 : n;
  gc_check_growth(cap);
  char *grown = gc_alloc_raw(cap + 1);
  memcpy(grown, a->bytes.text, a->bytes.len);
  a->bytes.text = grown;
  a->cap = cap;
}

/* The bytes of a bytes-like value, or of ints. */
static StrObject *bytes_like(Value v, Span span) {
  if (v.type == &type_bytearray || v.type == &type_bytes) return v.object;
  return value_call_with(value_type(&type_bytes), 1, &v, span).object;
}

static char byte_of(Value v, Span span) {
  int64_t i = value_as_int(v, "a byte", span);
  if (i < 0 || i > 255) raise("ValueError", span, "byte must be in range(0, 256)");
  return (char)i;
}

/* Puts `with` in the place of the bytes [start, stop). */
static void replace(Value v, size_t start, size_t stop, const StrObject *with) {
  ByteArray *a = array_of(v);
  size_t n = with->len, rest = a->bytes.len - stop;
  const char *from = str_copy_n(with->text, n); /* which may be the array itself */
  reserve(a, start + n + rest);
  char *at = data_of(v);
  memmove(at + start + n, at + stop, rest);
  memcpy(at + start, from, n);
  a->bytes.len = start + n + rest;
}

/* ---- as a sequence ---- */

static void repr(Value v, Str *out) {
  str_add(out, "bytearray(");
  value_add_repr(as_bytes(v), out);
  str_add(out, ")");
}
static int64_t length(Value v, Span span) { return (void)span, (int64_t)array_of(v)->bytes.len; }
static Value iter(Value v, Span span) { return value_iter(as_bytes(v), span); }

static Value plain(Value v) { return v.type == &type_bytearray ? as_bytes(v) : v; }

static bool contains(Value v, Value x, Span span) {
  return value_contains(as_bytes(v), plain(x), span);
}

static Value get_item(Value v, Value index, Span span) {
  Value x = value_get_item(as_bytes(v), index, span);
  if (x.type != &type_bytes) return x;
  StrObject *part = x.object;
  return new_array(part->text, part->len);
}

static void set_item(Value v, Value index, Value x, Span span) {
  ByteArray *a = array_of(v);
  if (index.type != &type_slice) {
    int64_t i = index_in_range(index, (int64_t)a->bytes.len, "bytearray", span);
    data_of(v)[i] = byte_of(x, span);
    return;
  }
  SliceBounds s = slice_bounds(index, (int64_t)a->bytes.len, span);
  StrObject *with = bytes_like(x, span);
  if (s.step == 1) {
    size_t start = (size_t)s.start;
    return replace(v, start, start + (size_t)s.count, with);
  }
  if ((int64_t)with->len != s.count)
    raise("ValueError", span, "attempt to assign bytes of size %zu to extended slice of size %lld",
          with->len, (long long)s.count);
  for (int64_t i = 0; i < s.count; i++) data_of(v)[s.start + i * s.step] = with->text[i];
}

static void del_item(Value v, Value index, Span span) {
  static const StrObject nothing = {.text = ""};
  int64_t n = length(v, span);
  if (index.type != &type_slice) {
    size_t i = (size_t)index_in_range(index, n, "bytearray", span);
    return replace(v, i, i + 1, &nothing);
  }
  SliceBounds s = slice_bounds(index, n, span);
  for (int64_t i = s.count; i-- > 0;) { /* from the end, whatever the sign of the step */
    size_t at = (size_t)(s.start + (s.step > 0 ? i : s.count - 1 - i) * s.step);
    replace(v, at, at + 1, &nothing);
  }
}

static Value binary(AstOp op, Value a, Value b, Span span) {
  bool bytes = plain(a).type == &type_bytes && plain(b).type == &type_bytes;
  bool viewed = plain(a).type == &type_bytes && b.type == &type_memoryview;
  if (op == AST_MOD && a.type == &type_bytearray) {
    StrObject *made = value_binary(op, plain(a), b, span).object;
    return new_array(made->text, made->len);
  }
  bool repeated = op == AST_MUL && (value_is_integer(a) || value_is_integer(b));
  if (!(op == AST_ADD && (bytes || viewed)) && !repeated) return value_absent();
  StrObject *made = value_binary(op, plain(a), plain(b), span).object;
  return a.type == &type_bytes ? as_bytes(value_of(&type_bytes, made))
                               : new_array(made->text, made->len);
}

static Value inplace(AstOp op, Value a, Value b, Span span) {
  if (op != AST_ADD) return value_absent();
  size_t n = array_of(a)->bytes.len;
  replace(a, n, n, bytes_like(b, span));
  return a;
}

static Value compare(AstOp op, Value a, Value b, Span span) {
  if (plain(a).type != &type_bytes || plain(b).type != &type_bytes) return value_absent();
  return value_compare(op, plain(a), plain(b), span);
}
static bool equal(Value a, Value b) {
  return plain(b).type == &type_bytes && value_equal(plain(a), plain(b));
}
static bool truth(Value v, Span span) { return (void)span, array_of(v)->bytes.len > 0; }

/* ---- methods; those of bytes besides ---- */

static Value append(BuiltinCall *c) {
  char byte = byte_of(c->args[0], c->spans[0]);
  size_t n = array_of(c->self)->bytes.len;
  replace(c->self, n, n, &(StrObject){.text = &byte, .len = 1});
  return value_none();
}
static Value extend(BuiltinCall *c) {
  return inplace(AST_ADD, c->self, c->args[0], c->span), value_none();
}
static Value insert(BuiltinCall *c) {
  int64_t n = length(c->self, c->span), i = value_as_int(c->args[0], "the place", c->spans[0]);
  char byte = byte_of(c->args[1], c->spans[1]);
  if (i < 0) i += n;
  i = i < 0 ? 0 : i > n ? n : i;
  replace(c->self, (size_t)i, (size_t)i, &(StrObject){.text = &byte, .len = 1});
  return value_none();
}
static Value pop(BuiltinCall *c) {
  if (!length(c->self, c->span)) raise("IndexError", c->span, "pop from empty bytearray");
  Value x = get_item(c->self, c->args[0], c->span);
  del_item(c->self, c->args[0], c->span);
  return x;
}
static Value clear(BuiltinCall *c) { return array_of(c->self)->bytes.len = 0, value_none(); }
static Value copy(BuiltinCall *c) {
  return new_array(data_of(c->self), array_of(c->self)->bytes.len);
}
static Value reverse(BuiltinCall *c) {
  char *at = data_of(c->self);
  for (size_t i = 0, k = array_of(c->self)->bytes.len; i + 1 < k; i++) {
    char byte = at[--k];
    at[k] = at[i], at[i] = byte;
  }
  return value_none();
}

static const Builtin methods[] = {
    {"append", "item, /", append, "adds a byte at the end"},
    {"extend", "iterable, /", extend, "adds bytes at the end"},
    {"insert", "index, item, /", insert, "puts a byte at a place"},
    {"pop", "index=-1, /", pop, "takes a byte out, the last by default"},
    {"clear", "", clear, "takes all out"},
    {"copy", "", copy, "another bytearray of the same bytes"},
    {"reverse", "", reverse, "turns the order round"},
};
enum { METHODS = sizeof methods / sizeof *methods };

/* Bytes as bytearrays, also in a list or tuple. */
static Value lifted(Value v) {
  if (v.type == &type_bytes) {
    StrObject *b = v.object;
    return new_array(b->text, b->len);
  }
  if (v.type != &type_list && v.type != &type_tuple) return v;
  ValueVec out = {0};
  for each (Value, x, value_items(v)) vec_push(&out, lifted(*x));
  return v.type == &type_list ? value_list(out) : value_tuple(out);
}

/* A method of bytes, whose results are bytearrays. */
static Value call_lifted(Value f, CallArgs *args) {
  return lifted(value_call(*(Value *)f.object, args));
}
static const ValueType type_lifted_method = {.name = "builtin_function_or_method",
                                             .call = call_lifted};

static Value get_attr(Value v, const char *name, Span span) {
  Value own = builtin_method(methods, METHODS, v, name);
  if (own.type) return own;
  Value method = value_find_attr(as_bytes(v), name, span);
  return method.type ? value_of(&type_lifted_method, gc_copy(&method, sizeof method)) : method;
}
static void attr_names(Value v, StrVec *out) {
  builtin_names(methods, METHODS, out);
  value_attr_names(as_bytes(v), out);
}

const ValueType type_bytearray = {.name = "bytearray",
                                  .truth = truth,
                                  .repr = repr,
                                  .get_attr = get_attr,
                                  .attr_names = attr_names,
                                  .get_item = get_item,
                                  .set_item = set_item,
                                  .del_item = del_item,
                                  .binary = binary,
                                  .inplace = inplace,
                                  .compare = compare,
                                  .contains = contains,
                                  .length = length,
                                  .iter = iter,
                                  .equal = equal};

static Value construct(BuiltinCall *c) {
  CallArgs args = {.span = c->span, .env = c->env};
  for (int i = 0; i < 3 && c->args[i].type; i++) vec_push(&args.positional, plain(c->args[i]));
  StrObject *b = value_call(value_type(&type_bytes), &args).object;
  return new_array(b->text, b->len);
}
static const Builtin constructor = {"bytearray", "source?, encoding?, errors?, /", construct,
                                    "bytes that can be changed"};
static Value get_static(const char *name) {
  Value f = bytes_type_object.get_static(name);
  return f.type ? value_of(&type_lifted_method, gc_copy(&f, sizeof f)) : f;
}
const TypeObject bytearray_type_object = {
    .type = &type_bytearray, .constructor = &constructor, .get_static = get_static};
