/* range_slice.c -- range and slice, and what a slice selects from a sequence. */
#include "lang/value/big_int.h"
#include "lang/value/object.h"
#include <math.h>
#include <stdlib.h>

/* ---- slices ---- */

Value value_slice(Value start, Value stop, Value step) {
  return value_of(&type_slice, NEW(SliceObject, .start = start, .stop = stop, .step = step));
}

/* One end of a slice, moved into [low, high]. */
static int64_t slice_end(Value v, int64_t otherwise, int64_t length, int64_t low, int64_t high,
                         Span span) {
  if (v.type == &type_none) return otherwise;
  if (v.type == &type_big) return int_is_negative(v) ? low : high;
  int64_t i = value_as_int(v, "a slice bound", span);
  if (i < 0) i += length;
  return i < low ? low : i > high ? high : i;
}

SliceBounds slice_bounds(Value slice, int64_t length, Span span) {
  SliceObject *s = slice.object;
  int64_t step = s->step.type == &type_none ? 1 : value_as_int(s->step, "a slice step", span);
  if (!step) raise("ValueError", span, "slice step cannot be zero");
  if (step == INT64_MIN) step++;
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? length : length - 1;
  int64_t start = slice_end(s->start, step > 0 ? low : high, length, low, high, span);
  int64_t stop = slice_end(s->stop, step > 0 ? high : low, length, low, high, span);
  int64_t count = 0;
  if (step > 0 && start < stop) count = (stop - start - 1) / step + 1;
  if (step < 0 && start > stop) count = (start - stop - 1) / -step + 1;
  return (SliceBounds){start, stop, step, count};
}

static Value settled(Value v, Span span) {
  int64_t i;
  return v.type == &type_instance && value_to_index(v, &i, span) ? value_int(i) : v;
}

Value index_settled(Value index, Span span) {
  if (index.type != &type_slice) return settled(index, span);
  SliceObject *s = index.object;
  return value_slice(settled(s->start, span), settled(s->stop, span), settled(s->step, span));
}

int64_t index_in_range(Value index, int64_t length, const char *what, Span span) {
  int64_t i;
  if (index.type == &type_big)
    raise("IndexError", span, "%s index out of range: it does not fit in 64 bits", what);
  if (!value_to_index(index, &i, span))
    raise("TypeError", span, "%s indices must be integers or slices, not '%s'", what,
          value_type_text(index));
  int64_t at = i < 0 ? i + length : i;
  if (at < 0 || at >= length)
    raise("IndexError", span, "%s index out of range: %lld, the length is %lld", what, (long long)i,
          (long long)length);
  return at;
}

static void slice_repr(Value v, Str *out) {
  SliceObject *s = v.object;
  str_add(out, "slice(");
  value_add_repr(s->start, out);
  str_add(out, ", ");
  value_add_repr(s->stop, out);
  str_add(out, ", ");
  value_add_repr(s->step, out);
  str_add(out, ")");
}

static bool slice_equal(Value a, Value b) {
  if (b.type != &type_slice) return false;
  SliceObject *x = a.object, *y = b.object;
  return value_equal(x->start, y->start) && value_equal(x->stop, y->stop) &&
         value_equal(x->step, y->step);
}

static Value slice_indices(BuiltinCall *c) {
  int64_t length = value_as_int(c->args[0], "the length", c->spans[0]);
  SliceBounds b = slice_bounds(c->self, length, c->span);
  return value_tuple_of(3, value_int(b.start), value_int(b.stop), value_int(b.step));
}

static const Builtin slice_methods[] = {
    {"indices", "length", slice_indices, "(start, stop, step) for a sequence of this length"},
};

static Value slice_attr(Value v, const char *name, Span span) {
  (void)span;
  SliceObject *s = v.object;
  if (strcmp(name, "start") == 0) return s->start;
  if (strcmp(name, "stop") == 0) return s->stop;
  if (strcmp(name, "step") == 0) return s->step;
  return builtin_method(slice_methods, 1, v, name);
}

static void slice_attr_names(Value v, StrVec *out) {
  (void)v;
  vec_push(out, "start");
  vec_push(out, "stop");
  vec_push(out, "step");
  vec_push(out, "indices");
}

const ValueType type_slice = {.name = "slice",
                              .repr = slice_repr,
                              .get_attr = slice_attr,
                              .attr_names = slice_attr_names,
                              .equal = slice_equal};

/* ---- ranges ---- */

Value value_range(int64_t start, int64_t stop, int64_t step, Span span) {
  if (!step) raise("ValueError", span, "range() step must not be zero");
  uint64_t length = 0, size = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
  if (step > 0 && start < stop) length = ((uint64_t)stop - (uint64_t)start - 1) / size + 1;
  if (step < 0 && start > stop) length = ((uint64_t)start - (uint64_t)stop - 1) / size + 1;
  if (length > INT64_MAX) raise("OverflowError", span, "the range is too long");
  return value_of(&type_range, NEW(RangeObject, .start = start, .stop = stop, .step = step,
                                   .length = (int64_t)length));
}

static RangeObject *range_of(Value v) { return v.object; }

/* The i-th number; i up to the length, where it may lie past the ints. */
static int64_t range_at(const RangeObject *r, int64_t i) {
  return (int64_t)((uint64_t)r->start + (uint64_t)i * (uint64_t)r->step);
}

static void range_repr(Value v, Str *out) {
  RangeObject *r = range_of(v);
  str_printf(out, "range(%lld, %lld", (long long)r->start, (long long)r->stop);
  if (r->step != 1) str_printf(out, ", %lld", (long long)r->step);
  str_add(out, ")");
}

static int64_t range_length(Value v, Span span) { return (void)span, range_of(v)->length; }

static Value range_get_item(Value v, Value index, Span span) {
  RangeObject *r = range_of(v);
  if (index.type == &type_slice) {
    SliceBounds b = slice_bounds(index, r->length, span);
    int64_t step = (int64_t)((uint64_t)b.step * (uint64_t)r->step);
    RangeObject *part =
        NEW(RangeObject, .start = range_at(r, b.start), .step = step ? step : 1, .length = b.count);
    part->stop = range_at(part, b.count);
    return value_of(&type_range, part);
  }
  return value_int(range_at(r, index_in_range(index, r->length, "range", span)));
}

static Value range_next(IteratorObject *it, Span span) {
  (void)span;
  if (it->i >= it->n) return value_absent();
  RangeObject *r = it->source.object;
  return value_int(range_at(r, it->i++));
}

static Value range_iter(Value v, Span span) {
  (void)span;
  return value_iterator((IteratorObject){
      .next = range_next, .name = "range_iterator", .source = v, .n = range_of(v)->length});
}

static bool range_has(const RangeObject *r, int64_t x) {
  if (!r->length) return false;
  int64_t last = range_at(r, r->length - 1);
  int64_t low = r->step > 0 ? r->start : last, high = r->step > 0 ? last : r->start;
  return x >= low && x <= high && ((uint64_t)x - (uint64_t)low) % (uint64_t)llabs(r->step) == 0;
}

static bool range_contains(Value v, Value x, Span span) {
  (void)span;
  if (x.type == &type_bool) x = value_int(x.boolean);
  if (x.type == &type_float && fabs(x.real) < 9e18 && x.real == (double)(int64_t)x.real)
    x = value_int((int64_t)x.real);
  return x.type == &type_int && range_has(range_of(v), x.integer);
}

static bool range_equal(Value a, Value b) {
  if (b.type != &type_range) return false;
  RangeObject *x = range_of(a), *y = range_of(b);
  if (x->length != y->length) return false;
  return !x->length || (x->start == y->start && (x->length == 1 || x->step == y->step));
}

static uint64_t range_hash(Value v) {
  RangeObject *r = range_of(v);
  if (!r->length) return 0x72616e67;
  return ((uint64_t)r->start * 31 + (uint64_t)r->length) * 31 +
         (r->length > 1 ? (uint64_t)r->step : 0);
}

static Value range_index(BuiltinCall *c) {
  RangeObject *r = range_of(c->self);
  Value x = c->args[0];
  if (x.type != &type_int || !range_has(r, x.integer))
    raise("ValueError", c->span, "%s is not in range", value_repr(x));
  return value_int((int64_t)((uint64_t)x.integer - (uint64_t)r->start) / r->step);
}

static Value range_count(BuiltinCall *c) {
  return value_int(range_contains(c->self, c->args[0], c->span));
}

static const Builtin range_methods[] = {
    {"count", "value", range_count, "1 if the value is there, else 0"},
    {"index", "value", range_index, "the place of a value"},
};

static Value range_attr(Value v, const char *name, Span span) {
  (void)span;
  RangeObject *r = range_of(v);
  if (strcmp(name, "start") == 0) return value_int(r->start);
  if (strcmp(name, "stop") == 0) return value_int(r->stop);
  if (strcmp(name, "step") == 0) return value_int(r->step);
  return builtin_method(range_methods, sizeof range_methods / sizeof *range_methods, v, name);
}

const ValueType type_range = {.name = "range",
                              .repr = range_repr,
                              .get_attr = range_attr,
                              .attr_names = slice_attr_names,
                              .get_item = range_get_item,
                              .contains = range_contains,
                              .length = range_length,
                              .iter = range_iter,
                              .equal = range_equal,
                              .hash = range_hash};
