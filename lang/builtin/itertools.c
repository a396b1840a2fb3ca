/* itertools.c -- the module itertools. What can be endless is lazy, the rest is made at once. */
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

static Value accumulate(BuiltinCall *c) {
  ValueVec out = {0};
  Value it = value_iter(c->args[0], c->spans[0]), total = c->args[2];
  if (value_is_none(total)) total = value_next(it, c->span);
  for (Value x = total; x.type; x = value_next(it, c->span)) {
    Value args[] = {total, x};
    if (out.len)
      total = value_is_none(c->args[1]) ? value_binary(AST_ADD, total, x, c->span)
                                        : value_call_with(c->args[1], 2, args, c->span);
    vec_push(&out, total);
  }
  return iter_over_vec(gc_copy(&out, sizeof out), "accumulate");
}

static Value zip_longest(BuiltinCall *c) {
  ValueVec its = {0}, rows = {0};
  for each (Value, v, value_items(c->args[0])) {
    Value it = value_iter(*v, c->span);
    vec_push(&its, it);
  }
  while (1) {
    ValueVec row = {0};
    bool any = false;
    for each (Value, it, &its) {
      Value x = value_next(*it, c->span);
      any |= x.type != NULL;
      if (!x.type) x = c->args[1];
      vec_push(&row, x);
    }
    if (!any) break;
    Value tuple = value_tuple(row);
    vec_push(&rows, tuple);
  }
  return iter_over_vec(gc_copy(&rows, sizeof rows), "zip_longest");
}

/* ---- products and choices: odometers over pools of items ---- */

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

/* Rows of r places of a pool; `repeats`: the same place may come again, `ordered`: all orders. */
typedef struct Choices {
  ValueVec pool, out;
  int r;
  int *chosen;
  bool repeats, ordered;
} Choices;

static void choose(Choices *k, int depth, Span span) {
  interrupt_check(span);
  if (depth == k->r) {
    ValueVec row = {0};
    for (int i = 0; i < k->r; i++) vec_push(&row, k->pool.at[k->chosen[i]]);
    Value tuple = value_tuple(row);
    vec_push(&k->out, tuple);
    return;
  }
  int first = k->ordered || !depth ? 0 : k->chosen[depth - 1] + !k->repeats;
  for (int i = first; i < k->pool.len; i++) {
    bool used = false;
    for (int j = 0; j < depth && k->ordered; j++) used |= k->chosen[j] == i;
    if (used) continue;
    k->chosen[depth] = i;
    choose(k, depth + 1, span);
  }
}

static Value choices(BuiltinCall *c, bool repeats, bool ordered) {
  Choices k = {
      .pool = value_to_vec(c->args[0], c->spans[0]), .repeats = repeats, .ordered = ordered};
  int64_t r = value_is_none(c->args[1]) ? k.pool.len : value_as_int(c->args[1], "r", c->spans[1]);
  if (r < 0 || r > 1000) raise("ValueError", c->spans[1], "r must be from 0 to 1000");
  k.r = (int)r;
  k.chosen = (int *)(void *)NEW_BYTES(sizeof(int) * (size_t)(r + 1));
  if (repeats || k.r <= k.pool.len) choose(&k, 0, c->span);
  return iter_over_vec(gc_copy(&k.out, sizeof k.out), c->builtin->name);
}
static Value combinations(BuiltinCall *c) { return choices(c, false, false); }
static Value combinations_with_replacement(BuiltinCall *c) { return choices(c, true, false); }
static Value permutations(BuiltinCall *c) { return choices(c, false, true); }

static Value pairwise(BuiltinCall *c) {
  ValueVec items = value_to_vec(c->args[0], c->spans[0]), out = {0};
  for (int i = 0; i + 1 < items.len; i++) {
    Value pair = value_tuple_of(2, items.at[i], items.at[i + 1]);
    vec_push(&out, pair);
  }
  return iter_over_vec(gc_copy(&out, sizeof out), "pairwise");
}

static Value groupby(BuiltinCall *c) {
  ValueVec out = {0};
  Value it = value_iter(c->args[0], c->spans[0]), last = value_absent();
  for (Value x; (x = value_next(it, c->span)).type;) {
    Value key = value_is_none(c->args[1]) ? x : value_call_with(c->args[1], 1, &x, c->span);
    if (!last.type || !value_equal(last, key)) {
      Value group = value_tuple_of(2, key, value_list((ValueVec){0}));
      vec_push(&out, group);
    }
    vec_push(value_items(value_items(vec_last(&out))->at[1]), x);
    last = key;
  }
  return iter_over_vec(gc_copy(&out, sizeof out), "groupby");
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
    {"accumulate", "iterable, func=None, *, initial=None", accumulate, "running sums"},
    {"zip_longest", "*iterables, fillvalue=None", zip_longest, "zip, to the longest"},
    {"product", "*iterables, repeat=1", product, "all rows with one item of each"},
    {"combinations", "iterable, r", combinations, "r items in order"},
    {"combinations_with_replacement", "iterable, r", combinations_with_replacement,
     "r items in order, with repetition"},
    {"permutations", "iterable, r=None", permutations, "r items in every order"},
    {"pairwise", "iterable, /", pairwise, "(a, b), (b, c), ..."},
    {"groupby", "iterable, key=None", groupby, "(key, list of neighbours with that key)"},
};

Value itertools_load(void) {
  Value ns = value_namespace("_itertools");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  return ns;
}
