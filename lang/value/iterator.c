/* iterator.c -- the one type of all iterators made in C: a step function and its state. */
#include "lang/value/object.h"

Value value_iterator(IteratorObject it) {
  return value_of(&type_iterator, gc_copy(&it, sizeof it));
}

static Value vec_next(IteratorObject *it, Span span) {
  (void)span;
  const ValueVec *items = it->state;
  return it->i < items->len ? items->at[it->i++] : value_absent();
}

Value iter_over_vec(const ValueVec *items, const char *name) {
  return value_iterator(
      (IteratorObject){.next = vec_next, .name = name, .state = (void *)(uintptr_t)items});
}

static Value iterator_next(Value v, Span span) {
  IteratorObject *it = v.object;
  if (!it->next) return value_absent();
  Value x = it->next(it, span);
  if (!x.type) it->next = NULL; /* once at the end, always at the end */
  return x;
}

static Value iterator_iter(Value v, Span span) { return (void)span, v; }

static void iterator_repr(Value v, Str *out) {
  str_printf(out, "<%s object>", value_iterator_object(v)->name);
}

static uint64_t iterator_hash(Value v) { return (uint64_t)(uintptr_t)v.object >> 4; }

const ValueType type_iterator = {.name = "iterator",
                                 .repr = iterator_repr,
                                 .iter = iterator_iter,
                                 .next = iterator_next,
                                 .hash = iterator_hash};
