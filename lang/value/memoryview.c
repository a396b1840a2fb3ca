/* memoryview.c -- the type memoryview: a window on the bytes of a bytes or bytearray value.
 *
 * It holds no bytes: what is stored through it is in the bytearray, and what is stored there is
 * seen. A bytearray may shrink under its views; their lost bytes raise BufferError. */
#include "lang/value/object.h"

typedef struct View {
  Value owner; /* no type: released */
  int64_t start, step, len;
} View;

static View *view_of(Value v, Span span) {
  View *w = v.object;
  if (!w->owner.type)
    raise("ValueError", span, "operation forbidden on released memoryview object");
  return w;
}

static char *byte_at(const View *w, int64_t i, Span span) {
  StrObject *b = value_as_bytes(w->owner, span);
  size_t at = (size_t)(w->start + i * w->step);
  if (at >= b->len) raise("BufferError", span, "the bytearray is shorter than its memoryview");
  return (char *)(uintptr_t)b->text + at;
}

Value memoryview_bytes(Value v, Span span) {
  View *w = view_of(v, span);
  Str out = {0};
  for (int64_t i = 0; i < w->len; i++) str_add_char(&out, *byte_at(w, i, span));
  return value_bytes(str_text(&out), out.len);
}

static Value value_byte(const View *w, int64_t i, Span span) {
  return value_int((unsigned char)*byte_at(w, i, span));
}

static Value get_item(Value v, Value index, Span span) {
  index = index_settled(index, span);
  View *w = view_of(v, span);
  if (index.type != &type_slice)
    return value_byte(w, index_in_range(index, w->len, "memoryview", span), span);
  SliceBounds s = slice_bounds(index, w->len, span);
  return value_of(&type_memoryview,
                  NEW(View, .owner = w->owner, .len = s.count,
                      .start = w->start + s.start * w->step, .step = w->step * s.step));
}

static char new_byte(Value x, Span span) {
  int64_t i = value_as_int(x, "a byte", span);
  if (i < 0 || i > 255) raise("ValueError", span, "memoryview: invalid value for format 'B'");
  return (char)i;
}

static void set_item(Value v, Value index, Value x, Span span) {
  View *w = view_of(v, span);
  if (w->owner.type != &type_bytearray) raise("TypeError", span, "cannot modify read-only memory");
  if (index.type != &type_slice) {
    char byte = new_byte(x, span);
    *byte_at(w, index_in_range(index, w->len, "memoryview", span), span) = byte;
    return;
  }
  View *part = get_item(v, index, span).object;
  StrObject *from = value_as_bytes(x, span);
  StrObject *b = value_bytes(from->text, from->len).object; /* x may be what is changed */
  if ((int64_t)b->len != part->len)
    raise("ValueError", span, "memoryview assignment: %zu bytes for %lld", b->len,
          (long long)part->len);
  for (int64_t i = 0; i < part->len; i++) *byte_at(part, i, span) = b->text[i];
}

static int64_t length(Value v, Span span) { return view_of(v, span)->len; }
static Value iter(Value v, Span span) { return value_iter(memoryview_bytes(v, span), span); }
static bool contains(Value v, Value x, Span span) {
  return value_contains(memoryview_bytes(v, span), x, span);
}

static Value plain(Value v) {
  return v.type == &type_memoryview ? memoryview_bytes(v, (Span){0}) : v;
}
static bool equal(Value a, Value b) {
  if (!((View *)a.object)->owner.type) return value_same(a, b);
  return value_equal(plain(a), plain(b));
}

static Value enter(Value v, Span span) { return view_of(v, span), v; }
static bool leave(Value v, Error *raised, Span span) {
  (void)raised, (void)span;
  ((View *)v.object)->owner = value_absent();
  return false;
}

/* ---- attributes and methods ---- */

static Value to_bytes(BuiltinCall *c) { return memoryview_bytes(c->self, c->span); }
static Value to_list(BuiltinCall *c) {
  return value_list(value_to_vec(memoryview_bytes(c->self, c->span), c->span));
}
static Value hex(BuiltinCall *c) {
  Value f = value_get_attr(memoryview_bytes(c->self, c->span), str_intern("hex"), c->span);
  return value_call_with(f, 0, NULL, c->span);
}
static Value release(BuiltinCall *c) { return leave(c->self, NULL, c->span), value_none(); }

static const Builtin methods[] = {
    {"hex", "", hex, "two digits a byte"},
    {"release", "", release, "lets go of the bytes"},
    {"tobytes", "", to_bytes, "a copy, as bytes"},
    {"tolist", "", to_list, "the bytes as ints"},
};
enum { METHODS = sizeof methods / sizeof *methods };

static Value get_attr(Value v, const char *name, Span span) {
  if (builtin_find(methods, METHODS, name)) return value_absent();
  View *w = view_of(v, span);
  if (str_same(name, "obj")) return w->owner;
  if (str_same(name, "nbytes")) return value_int(w->len);
  if (str_same(name, "itemsize") || str_same(name, "ndim")) return value_int(1);
  if (str_same(name, "format")) return value_str("B");
  if (str_same(name, "readonly")) return value_bool(w->owner.type != &type_bytearray);
  if (str_same(name, "contiguous")) return value_bool(w->step == 1 || w->len < 2);
  bool strides = str_same(name, "strides");
  if (!strides && !str_same(name, "shape")) return value_absent();
  Value sizes = value_tuple_new(1);
  value_items(sizes)->at[0] = value_int(strides ? w->step : w->len);
  return sizes;
}
static void attr_names(Value v, StrVec *out) {
  static const char *const names[] = {"obj",      "nbytes",     "itemsize", "ndim",   "format",
                                      "readonly", "contiguous", "shape",    "strides"};
  (void)v;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) vec_push(out, names[i]);
}

static void repr(Value v, Str *out) {
  str_add(out, ((View *)v.object)->owner.type ? "<memory>" : "<released memory>");
}

const ValueType type_memoryview = {.name = "memoryview",
                                   .repr = repr,
                                   .get_attr = get_attr,
                                   .attr_names = attr_names,
                                   .get_item = get_item,
                                   .set_item = set_item,
                                   .contains = contains,
                                   .length = length,
                                   .iter = iter,
                                   .equal = equal,
                                   .enter = enter,
                                   .leave = leave,
                                   .methods = methods,
                                   .method_count = METHODS};

static Value construct(BuiltinCall *c) {
  Value v = c->args[0];
  if (v.type == &type_memoryview)
    return get_item(v, value_slice(value_none(), value_none(), value_none()), c->span);
  if (v.type != &type_bytes && v.type != &type_bytearray)
    raise("TypeError", c->spans[0], "memoryview: a bytes-like object is required, not '%s'",
          value_type_text(v));
  int64_t n = (int64_t)value_as_bytes(v, c->spans[0])->len;
  return value_of(&type_memoryview, NEW(View, .owner = v, .step = 1, .len = n));
}
static const Builtin constructor = {"memoryview", "object", construct,
                                    "the bytes of bytes or a bytearray, without a copy"};
const TypeObject memoryview_type_object = {.type = &type_memoryview, .constructor = &constructor};
