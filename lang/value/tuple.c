/* tuple.c -- the type tuple. */
#include "lang/value/big_int.h"
#include "lang/value/object.h"

Value value_tuple(ValueVec items) { return value_of(&type_tuple, NEW(ListObject, .items = items)); }

Value value_tuple_new(int n) {
  ListObject *o = gc_alloc(sizeof *o + sizeof(Value) * (size_t)n);
  o->items.at = (Value *)(o + 1); /* a tuple never grows: its items lie behind it */
  o->items.len = o->items.cap = n;
  return value_of(&type_tuple, o);
}

Value value_tuple_of(int n, ...) {
  Value tuple = value_tuple_new(n);
  va_list args;
  va_start(args, n);
  for (int i = 0; i < n; i++) value_items(tuple)->at[i] = va_arg(args, Value);
  va_end(args);
  return tuple;
}

static void repr(Value v, Str *out) {
  ValueVec *items = value_items(v);
  str_add(out, "(");
  sequence_add_items(out, items);
  str_add(out, items->len == 1 ? ",)" : ")");
}

static int64_t length(Value v, Span span) { return (void)span, value_items(v)->len; }

static Value get_item(Value v, Value index, Span span) {
  ValueVec *items = value_items(v);
  if (index.type == &type_slice) return value_tuple(sequence_slice(items, index, span));
  return items->at[index_in_range(index, items->len, "tuple", span)];
}

static Value binary(AstOp op, Value a, Value b, Span span) {
  if (op == AST_ADD && a.type == &type_tuple && b.type == &type_tuple)
    return value_tuple(sequence_concat(value_items(a), value_items(b)));
  if (op != AST_MUL) return value_absent();
  Value tuple = a.type == &type_tuple ? a : b, n = a.type == &type_tuple ? b : a;
  if (!value_is_integer(n)) return value_absent();
  return value_tuple(sequence_repeat(value_items(tuple), value_as_int(n, "", span), span));
}

static bool equal(Value a, Value b) {
  return b.type == &type_tuple && sequence_equal(value_items(a), value_items(b));
}

static Value compare(AstOp op, Value a, Value b, Span span) {
  if (a.type != b.type || op == AST_EQ || op == AST_NE) return value_absent();
  return sequence_compare(op, value_items(a), value_items(b), span);
}

static bool contains(Value v, Value x, Span span) {
  return (void)span, sequence_contains(value_items(v), x);
}

static Value iter(Value v, Span span) {
  return (void)span, iter_over_vec(value_items(v), "tuple_iterator");
}

static uint64_t hash(Value v) {
  uint64_t h = 0x345678;
  for each (Value, x, value_items(v)) h = (h ^ value_hash(*x, (Span){0})) * 0x9e3779b97f4a7c15u;
  return h;
}

static const Builtin methods[] = {
    {"count", "value, /", sequence_count, "how many items equal the value"},
    {"index", "value, start=None, stop=None, /", sequence_index, "first place of a value"},
};
enum { METHODS = sizeof methods / sizeof *methods };

const ValueType type_tuple = {.name = "tuple",
                              .repr = repr,
                              .methods = methods,
                              .method_count = METHODS,
                              .get_item = get_item,
                              .binary = binary,
                              .compare = compare,
                              .contains = contains,
                              .length = length,
                              .iter = iter,
                              .equal = equal,
                              .hash = hash};

static Value new_tuple(BuiltinCall *c) {
  if (!c->args[0].type) return value_tuple((ValueVec){0});
  if (c->args[0].type == &type_tuple) return c->args[0];
  return value_tuple(value_to_vec(c->args[0], c->spans[0]));
}
static const Builtin constructor = {"tuple", "iterable?, /", new_tuple,
                                    "a tuple of the items of an iterable"};
const TypeObject tuple_type_object = {
    .type = &type_tuple, .constructor = &constructor, .as_base = FIXED_BASE};
