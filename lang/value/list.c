/* list.c -- the type list. */
#include "lang/value/big_int.h"
#include "lang/value/object.h"

Value value_list(ValueVec items) { return value_of(&type_list, NEW(ListObject, .items = items)); }

static void repr(Value v, Str *out) {
  str_add(out, "[");
  sequence_add_items(out, value_items(v));
  str_add(out, "]");
}

static int64_t length(Value v, Span span) { return (void)span, value_items(v)->len; }

static Value get_item(Value v, Value index, Span span) {
  ValueVec *items = value_items(v);
  index = index_settled(index, span);
  if (index.type == &type_slice) return value_list(sequence_slice(items, index, span));
  return items->at[index_in_range(index, items->len, "list", span)];
}

/* v[lo:lo+n] = with: the tail moves. */
static void splice(ValueVec *items, int lo, int n, const ValueVec *with) {
  int tail = items->len - lo - n, len = lo + with->len + tail;
  vec_reserve(items, len);
  if (tail) memmove(items->at + lo + with->len, items->at + lo + n, sizeof(Value) * (size_t)tail);
  if (with->len) memcpy(items->at + lo, with->at, sizeof(Value) * (size_t)with->len);
  for (int i = len; i < items->len; i++) items->at[i] = value_absent();
  items->len = len;
}

static void set_item(Value v, Value index, Value x, Span span) {
  ValueVec *items = value_items(v);
  index = index_settled(index, span);
  if (index.type != &type_slice) {
    int64_t i = index_in_range(index, items->len, "list", span);
    items->at[i] = x;
    return;
  }
  ValueVec with = value_to_vec(x, span);
  SliceBounds b = slice_bounds(index, items->len, span);
  if (b.step == 1) return splice(items, (int)b.start, (int)b.count, &with);
  if (with.len != b.count)
    raise("ValueError", span,
          "attempt to assign sequence of size %d to extended slice of size %lld", with.len,
          (long long)b.count);
  for (int64_t i = 0; i < b.count; i++) items->at[b.start + i * b.step] = with.at[i];
}

static void del_item(Value v, Value index, Span span) {
  static const ValueVec nothing = {0};
  ValueVec *items = value_items(v);
  index = index_settled(index, span);
  if (index.type != &type_slice)
    return splice(items, (int)index_in_range(index, items->len, "list", span), 1, &nothing);
  SliceBounds b = slice_bounds(index, items->len, span);
  if (b.step < 0) b.start += (b.count - 1) * b.step, b.step = -b.step;
  for (int64_t i = b.count; i-- > 0;) splice(items, (int)(b.start + i * b.step), 1, &nothing);
}

static Value binary(AstOp op, Value a, Value b, Span span) {
  if (op == AST_ADD && a.type == &type_list && b.type == &type_list)
    return value_list(sequence_concat(value_items(a), value_items(b)));
  if (op == AST_ADD && a.type == &type_list && b.type == &type_tuple)
    raise("TypeError", span, "can only concatenate list (not \"tuple\") to list");
  if (op != AST_MUL) return value_absent();
  Value list = a.type == &type_list ? a : b, n = a.type == &type_list ? b : a;
  if (!value_is_integer(n)) return value_absent();
  return value_list(sequence_repeat(value_items(list), value_as_int(n, "", span), span));
}

static void extend(ValueVec *items, Value more, Span span) {
  ValueVec with = value_to_vec(more, span);
  for each (Value, x, &with) vec_push(items, *x);
}

static Value inplace(AstOp op, Value a, Value b, Span span) {
  if (op == AST_ADD) {
    extend(value_items(a), b, span);
    return a;
  }
  if (op != AST_MUL || !value_is_integer(b)) return value_absent();
  *value_items(a) = sequence_repeat(value_items(a), value_as_int(b, "", span), span);
  return a;
}

static bool equal(Value a, Value b) {
  return b.type == &type_list && sequence_equal(value_items(a), value_items(b));
}

static Value compare(AstOp op, Value a, Value b, Span span) {
  if (a.type != b.type || op == AST_EQ || op == AST_NE) return value_absent();
  return sequence_compare(op, value_items(a), value_items(b), span);
}

static bool contains(Value v, Value x, Span span) {
  return (void)span, sequence_contains(value_items(v), x);
}

static Value iter(Value v, Span span) {
  return (void)span, iter_over_vec(value_items(v), "list_iterator");
}

/* ---- methods ---- */

static Value list_append(BuiltinCall *c) {
  ValueVec *items = value_items(c->self);
  vec_push(items, c->args[0]);
  return value_none();
}

static Value list_extend(BuiltinCall *c) {
  extend(value_items(c->self), c->args[0], c->spans[0]);
  return value_none();
}

static Value list_insert(BuiltinCall *c) {
  ValueVec *items = value_items(c->self), one = {.at = &c->args[1], .len = 1};
  int64_t i = value_as_int(c->args[0], "the index", c->spans[0]);
  if (i < 0) i += items->len;
  splice(items, (int)(i < 0 ? 0 : i > items->len ? items->len : i), 0, &one);
  return value_none();
}

static Value list_pop(BuiltinCall *c) {
  ValueVec *items = value_items(c->self);
  Value index = value_is_none(c->args[0]) ? value_int(-1) : index_settled(c->args[0], c->span);
  if (!items->len) raise("IndexError", c->span, "pop from empty list");
  int64_t i = index_in_range(index, items->len, "pop", c->span);
  Value x = items->at[i];
  del_item(c->self, value_int(i), c->span);
  return x;
}

static Value list_remove(BuiltinCall *c) {
  ValueVec *items = value_items(c->self);
  for (int i = 0; i < items->len; i++)
    if (value_same(items->at[i], c->args[0]) || value_equal(items->at[i], c->args[0])) {
      del_item(c->self, value_int(i), c->span);
      return value_none();
    }
  raise("ValueError", c->span, "%s is not in list", value_repr(c->args[0]));
}

static Value list_clear(BuiltinCall *c) {
  *value_items(c->self) = (ValueVec){0};
  return value_none();
}

static Value list_copy(BuiltinCall *c) { return value_list(value_to_vec(c->self, c->span)); }

static Value list_reverse(BuiltinCall *c) {
  ValueVec *items = value_items(c->self);
  for (int i = 0, j = items->len - 1; i < j; i++, j--) {
    Value x = items->at[i];
    items->at[i] = items->at[j];
    items->at[j] = x;
  }
  return value_none();
}

static Value list_sort(BuiltinCall *c) {
  sequence_sort(value_items(c->self), c->args[0], value_truth(c->args[1], c->span), c->span);
  return value_none();
}

static const Builtin methods[] = {
    {"append", "object, /", list_append, "adds one item at the end"},
    {"clear", "", list_clear, "removes all items"},
    {"copy", "", list_copy, "a shallow copy"},
    {"count", "value, /", sequence_count, "how many items equal the value"},
    {"extend", "iterable, /", list_extend, "adds all items of an iterable at the end"},
    {"index", "value, start=None, stop=None, /", sequence_index, "first place of a value"},
    {"insert", "index, object, /", list_insert, "adds one item before the index"},
    {"pop", "index=None, /", list_pop, "removes and gives the item there, the last by default"},
    {"remove", "value, /", list_remove, "removes the first item that equals the value"},
    {"reverse", "", list_reverse, "reverses in place"},
    {"sort", "*, key=None, reverse=False", list_sort, "sorts in place; stable"},
};
enum { METHODS = sizeof methods / sizeof *methods };

const ValueType type_list = {.name = "list",
                             .repr = repr,
                             .methods = methods,
                             .method_count = METHODS,
                             .get_item = get_item,
                             .set_item = set_item,
                             .del_item = del_item,
                             .binary = binary,
                             .compare = compare,
                             .contains = contains,
                             .length = length,
                             .iter = iter,
                             .equal = equal,
                             .inplace = inplace};

static Value new_list(BuiltinCall *c) {
  if (!c->args[0].type) return value_list((ValueVec){0});
  return value_list(value_to_vec(c->args[0], c->spans[0]));
}
static const Builtin constructor = {"list", "iterable?, /", new_list,
                                    "a list of the items of an iterable"};
const TypeObject list_type_object = {
    .type = &type_list, .constructor = &constructor, .as_base = FILLED_BASE};
