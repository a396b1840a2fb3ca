/* itertools.c -- the iterators of the module itertools that programs use most; the others are
 * written in the language. */
#include "lang/builtin/builtin.h"

static Value chain_next(IteratorObject *it, Span span) {
  while (1) {
    if (it->second.type) {
      Value x = value_next(it->second, span);
      if (x.type) return x;
    }
    Value inner = value_next(it->source, span);
    if (!inner.type) return inner;
    it->second = value_iter(inner, span);
  }
}
static Value chain_over(Value iterables, Span span) {
  return value_iterator(
      (IteratorObject){.next = chain_next, .name = "chain", .source = value_iter(iterables, span)});
}
static Value chain(BuiltinCall *c) { return chain_over(c->args[0], c->span); }

static Value count_next(IteratorObject *it, Span span) {
  Value x = it->source;
  it->source = value_binary(AST_ADD, x, it->second, span);
  return x;
}
static Value count(BuiltinCall *c) {
  return value_iterator((IteratorObject){
      .next = count_next, .name = "count", .source = c->args[0], .second = c->args[1]});
}

static Value cycle_next(IteratorObject *it, Span span) {
  (void)span;
  return it->many.len ? it->many.at[it->i++ % it->many.len] : value_absent();
}
static Value cycle(BuiltinCall *c) {
  return value_iterator((IteratorObject){
      .next = cycle_next, .name = "cycle", .many = value_to_vec(c->args[0], c->spans[0])});
}

static Value repeat_next(IteratorObject *it, Span span) {
  (void)span;
  if (it->n == 0) return value_absent();
  if (it->n > 0) it->n--;
  return it->source;
}
static Value repeat(BuiltinCall *c) {
  int64_t n = value_is_none(c->args[1]) ? -1 : value_as_int(c->args[1], "times", c->spans[1]);
  return value_iterator((IteratorObject){
      .next = repeat_next, .name = "repeat", .source = c->args[0], .n = n < -1 ? 0 : n});
}

static Value islice_next(IteratorObject *it, Span span) {
  int64_t *bounds = it->state; /* next, stop, step */
  if (bounds[1] >= 0 && bounds[0] >= bounds[1]) return value_absent();
  while (it->i < bounds[0]) {
    if (!value_next(it->source, span).type) return value_absent();
    it->i++;
  }
  it->i++;
  bounds[0] += bounds[2];
  return value_next(it->source, span);
}
static Value islice(BuiltinCall *c) {
  int64_t *b = NEW_ARRAY(int64_t, 3);
  b[1] = -1;
  b[2] = 1;
  bool two = c->args[2].type != NULL;
  Value given[] = {two ? c->args[1] : value_none(), two ? c->args[2] : c->args[1],
                   c->args[3].type ? c->args[3] : value_none()};
  for (int i = 0; i < 3; i++)
    if (!value_is_none(given[i])) b[i] = value_as_int(given[i], "a bound of islice()", c->span);
  if (b[0] < 0 || b[2] < 1)
    raise("ValueError", c->span,
          "islice() takes bounds that are not negative, and a step of 1 or more");
  return value_iterator((IteratorObject){.next = islice_next,
                                         .name = "islice",
                                         .state = b,
                                         .source = value_iter(c->args[0], c->spans[0])});
}

static Value while_next(IteratorObject *it, Span span) { /* n: 0 take, 1 drop, 2 dropped */
  for (Value x; (x = value_next(it->source, span)).type;) {
    if (it->n == 2) return x;
    bool yes = value_truth(value_call_with(it->second, 1, &x, span), span);
    if (it->n == 0) return yes ? x : value_absent();
    if (!yes) {
      it->n = 2;
      return x;
    }
  }
  return value_absent();
}
static Value take_or_drop(BuiltinCall *c, int64_t how) {
  return value_iterator((IteratorObject){.next = while_next,
                                         .name = c->builtin->name,
                                         .second = c->args[0],
                                         .n = how,
                                         .source = value_iter(c->args[1], c->spans[1])});
}
static Value takewhile(BuiltinCall *c) { return take_or_drop(c, 0); }
static Value dropwhile(BuiltinCall *c) { return take_or_drop(c, 1); }

static Value starmap_next(IteratorObject *it, Span span) {
  Value x = value_next(it->source, span);
  if (!x.type) return x;
  ValueVec args = value_to_vec(x, span);
  return value_call_with(it->second, args.len, args.at, span);
}
static Value starmap(BuiltinCall *c) {
  return value_iterator((IteratorObject){.next = starmap_next,
                                         .name = "starmap",
                                         .second = c->args[0],
                                         .source = value_iter(c->args[1], c->spans[1])});
}

/* ---- products: odometers over pools of items ---- */

typedef struct Odometer {
  VEC(ValueVec) pools;
  int *index;
  bool done;
} Odometer;

static Value product_next(IteratorObject *it, Span span) {
  (void)span;
  Odometer *o = it->state;
  if (o->done) return value_absent();
  ValueVec row = {0};
  for (int i = 0; i < o->pools.len; i++) vec_push(&row, o->pools.at[i].at[o->index[i]]);
  int i = o->pools.len - 1;
  while (i >= 0 && ++o->index[i] == o->pools.at[i].len) o->index[i--] = 0;
  o->done = i < 0;
  return value_tuple(row);
}
static Value product(BuiltinCall *c) {
  Odometer *o = NEW(Odometer, .done = false);
  int64_t times = value_as_int(c->args[1], "repeat", c->spans[1]);
  if (times < 0 || times > 1000) raise("ValueError", c->spans[1], "repeat must be from 0 to 1000");
  ValueVec *given = value_items(c->args[0]);
  for (int i = 0; i < given->len; i++)
    given->at[i] = value_list(value_to_vec(given->at[i], c->span));
  for (int64_t k = 0; k < times; k++)
    for each (Value, v, given) {
      vec_push(&o->pools, *value_items(*v));
      o->done |= !value_items(*v)->len;
    }
  o->index = (int *)(void *)NEW_BYTES(sizeof(int) * (size_t)(o->pools.len + 1));
  return value_iterator((IteratorObject){.next = product_next, .name = "product", .state = o});
}

static const Builtin rows[] = {
    {"chain", "*iterables", chain, "the items of one after the other"},
    {"count", "start=0, step=1", count, "start, start + step, ... without end"},
    {"cycle", "iterable, /", cycle, "the items again and again"},
    {"repeat", "object, times=None", repeat, "one object, so many times or without end"},
    {"islice", "iterable, start, stop?, step?, /", islice, "a part of an iterable"},
    {"takewhile", "predicate, iterable, /", takewhile, "the items up to the first that fails"},
    {"dropwhile", "predicate, iterable, /", dropwhile, "the items from the first that fails"},
    {"starmap", "function, iterable, /", starmap, "function(*item) of each item"},
    {"product", "*iterables, repeat=1", product, "all rows with one item of each"},
};

Value itertools_load(void) {
  Value ns = value_namespace("_itertools");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  return ns;
}
