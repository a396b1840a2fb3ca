/* sequence.c -- what lists and tuples have in common, and the stable sort. */
#include "lang/value/object.h"

void sequence_add_items(Str *out, const ValueVec *items) {
  for (int i = 0; i < items->len; i++) {
    if (i) str_add(out, ", ");
    value_add_repr(items->at[i], out);
  }
}

static bool same_or_equal(Value a, Value b) {
  if (a.type == &type_int && b.type == &type_int) return a.integer == b.integer;
  return value_same(a, b) || value_equal(a, b);
}

bool sequence_equal(const ValueVec *a, const ValueVec *b) {
  if (a->len != b->len) return false;
  for (int i = 0; i < a->len && i < b->len; i++)
    if (!same_or_equal(a->at[i], b->at[i])) return false;
  return true;
}

Value sequence_compare(AstOp op, const ValueVec *a, const ValueVec *b, Span span) {
  int i = 0;
  while (i < a->len && i < b->len && same_or_equal(a->at[i], b->at[i])) i++;
  if (i < a->len && i < b->len) return value_compare(op, a->at[i], b->at[i], span);
  switch (op) {
  case AST_LT: return value_bool(a->len < b->len);
  case AST_LE: return value_bool(a->len <= b->len);
  case AST_GT: return value_bool(a->len > b->len);
  default: return value_bool(a->len >= b->len);
  }
}

ValueVec sequence_slice(const ValueVec *items, Value slice, Span span) {
  SliceBounds b = slice_bounds(slice, items->len, span);
  ValueVec out = {0};
  vec_reserve(&out, (int)b.count);
  for (int64_t i = 0; i < b.count; i++) out.at[out.len++] = items->at[b.start + i * b.step];
  return out;
}

ValueVec sequence_repeat(const ValueVec *items, int64_t n, Span span) {
  ValueVec out = {0};
  if (n <= 0 || !items->len) return out;
  if (n > (1 << 27) / items->len)
    raise("MemoryError", span, "the repeated sequence would have more than %d items", 1 << 27);
  vec_reserve(&out, (int)n * items->len);
  for (int64_t i = 0; i < n; i++)
    for (int j = 0; j < items->len; j++) out.at[out.len++] = items->at[j];
  return out;
}

ValueVec sequence_concat(const ValueVec *a, const ValueVec *b) {
  ValueVec out = {0};
  vec_reserve(&out, a->len + b->len);
  for each (Value, v, a) out.at[out.len++] = *v;
  for each (Value, v, b) out.at[out.len++] = *v;
  return out;
}

bool sequence_contains(const ValueVec *items, Value x) {
  for (int i = 0; i < items->len; i++)
    if (same_or_equal(items->at[i], x)) return true;
  return false;
}

Value sequence_count(BuiltinCall *c) {
  int64_t n = 0;
  ValueVec *items = value_items(c->self);
  for (int i = 0; i < items->len; i++) n += same_or_equal(items->at[i], c->args[0]);
  return value_int(n);
}

Value sequence_index(BuiltinCall *c) {
  ValueVec *items = value_items(c->self);
  SliceBounds b =
      slice_bounds(value_slice(c->args[1], c->args[2], value_none()), items->len, c->span);
  for (int64_t i = b.start; i < b.start + b.count && i < items->len; i++)
    if (same_or_equal(items->at[i], c->args[0])) return value_int(i);
  raise("ValueError", c->span, "%s is not in %s", value_repr(c->args[0]), c->self.type->name);
}

/* ---- sorting: a merge sort of (key, item) pairs ---- */

typedef struct Pair {
  Value key, item;
} Pair;

/* May b stand before a, although it came later? */
static bool goes_first(Value b, Value a, bool reverse, Span span) {
  Value x = reverse ? a : b, y = reverse ? b : a;
  if (x.type == &type_int && y.type == &type_int) return x.integer < y.integer;
  return value_truth(value_compare(AST_LT, x, y, span), span);
}

static void merge_sort(Pair *at, Pair *scratch, int n, bool reverse, Span span) {
  if (n < 2) return;
  int half = n / 2;
  merge_sort(at, scratch, half, reverse, span);
  merge_sort(at + half, scratch, n - half, reverse, span);
  memcpy(scratch, at, sizeof *at * (size_t)half);
  int i = 0, j = half, out = 0;
  while (i < half && j < n)
    at[out++] = goes_first(at[j].key, scratch[i].key, reverse, span) ? at[j++] : scratch[i++];
  while (i < half) at[out++] = scratch[i++];
}

void sequence_sort(ValueVec *items, Value key, bool reverse, Span span) {
  int n = items->len;
  Pair *pairs = NEW_ARRAY(Pair, n + 1), *scratch = NEW_ARRAY(Pair, n / 2 + 1);
  for (int i = 0; i < n && i < items->len; i++) {
    Value x = items->at[i];
    pairs[i] = (Pair){value_is_none(key) ? x : value_call_with(key, 1, &x, span), x};
  }
  if (items->len != n) raise("ValueError", span, "list modified during sort");
  merge_sort(pairs, scratch, n, reverse, span);
  if (items->len != n) raise("ValueError", span, "list modified during sort");
  for (int i = 0; i < n; i++) items->at[i] = pairs[i].item;
}
