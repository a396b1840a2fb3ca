/* iteration.c -- range, zip, map, sorted, sum, min, ...: functions over iterables. */
#include "lang/builtin/builtin.h"

static Value call_next(IteratorObject *it, Span span) {
  Value x = value_call_with(it->source, 0, NULL, span);
  return value_equal(x, it->second) ? value_absent() : x;
}

static Value builtin_iter(BuiltinCall *c) {
  if (!c->args[1].type) return value_iter(c->args[0], c->spans[0]);
  if (!value_is_callable(c->args[0]))
    raise("TypeError", c->spans[0], "iter(v, w): v must be callable");
  return value_iterator((IteratorObject){
      .next = call_next, .name = "callable_iterator", .source = c->args[0], .second = c->args[1]});
}

static Value builtin_next(BuiltinCall *c) {
  Value x = value_next(c->args[0], c->spans[0]);
  if (x.type) return x;
  if (c->args[1].type) return c->args[1];
  raise_stop_iteration(c->args[0], c->span);
}

/* ---- lazy ones ---- */

static Value zip_next(IteratorObject *it, Span span) {
  int n = it->many.len;
  bool strict = it->n;
  Value row = n ? value_tuple_new(n) : value_absent();
  for (int i = 0; i < n; i++) {
    Value x = value_next(it->many.at[i], span);
    if (!x.type && strict && i)
      raise("ValueError", span, "zip() argument %d is shorter than argument%s", i + 1,
            i == 1 ? " 1" : "s before it");
    if (!x.type) {
      for (int j = 1; strict && j < n; j++)
        if (value_next(it->many.at[j], span).type)
          raise("ValueError", span, "zip() argument %d is longer than argument%s", j + 1,
                j == 1 ? " 1" : "s before it");
      return x;
    }
    value_items(row)->at[i] = x;
  }
  return row;
}

static ValueVec iterators(const ValueVec *of, Span span) {
  ValueVec out = {0};
  for each (Value, v, of) {
    Value it = value_iter(*v, span);
    vec_push(&out, it);
  }
  return out;
}

static Value builtin_zip(BuiltinCall *c) {
  return value_iterator((IteratorObject){.next = zip_next,
                                         .name = "zip",
                                         .n = value_truth(c->args[1], c->span),
                                         .many = iterators(value_items(c->args[0]), c->span)});
}

static Value enumerate_next(IteratorObject *it, Span span) {
  Value x = value_next(it->source, span);
  return x.type ? value_tuple_of(2, value_int(it->i++), x) : x;
}

static Value builtin_enumerate(BuiltinCall *c) {
  return value_iterator((IteratorObject){.next = enumerate_next,
                                         .name = "enumerate",
                                         .source = value_iter(c->args[0], c->spans[0]),
                                         .i = value_as_int(c->args[1], "start", c->spans[1])});
}

static Value map_next(IteratorObject *it, Span span) {
  int n = it->many.len;
  Value args[n];
  for (int i = 0; i < n; i++) {
    args[i] = value_next(it->many.at[i], span);
    if (!args[i].type) return args[i];
  }
  return value_call_with(it->source, n, args, span);
}

static Value builtin_map(BuiltinCall *c) {
  if (!value_items(c->args[1])->len)
    raise("TypeError", c->span, "map() needs at least one iterable");
  return value_iterator((IteratorObject){.next = map_next,
                                         .name = "map",
                                         .source = c->args[0],
                                         .many = iterators(value_items(c->args[1]), c->span)});
}

static Value filter_next(IteratorObject *it, Span span) {
  for (Value x; (x = value_next(it->source, span)).type;) {
    Value keep = value_is_none(it->second) ? x : value_call_with(it->second, 1, &x, span);
    if (value_truth(keep, span)) return x;
  }
  return value_absent();
}

static Value builtin_filter(BuiltinCall *c) {
  return value_iterator((IteratorObject){.next = filter_next,
                                         .name = "filter",
                                         .second = c->args[0],
                                         .source = value_iter(c->args[1], c->spans[1])});
}

static Value reversed_next(IteratorObject *it, Span span) {
  return it->n > 0 ? value_get_item(it->source, value_int(--it->n), span) : value_absent();
}

static Value builtin_reversed(BuiltinCall *c) {
  Value v = c->args[0];
  if (v.type == &type_instance) {
    Value r = instance_special(v, INTERNED("__reversed__"), 0, NULL, c->span);
    if (r.type) return r;
  }
  if (v.type == &type_dict) {
    v = value_list(value_to_vec(v, c->span));
  } else if (!v.type->get_item || !v.type->length || v.type == &type_set) {
    raise("TypeError", c->spans[0], "'%s' object is not reversible", value_type_text(v));
  }
  return value_iterator((IteratorObject){
      .next = reversed_next, .name = "reversed", .source = v, .n = value_length(v, c->span)});
}

/* ---- all at once ---- */

static Value builtin_sorted(BuiltinCall *c) {
  ValueVec items = value_to_vec(c->args[0], c->spans[0]);
  sequence_sort(&items, c->args[1], value_truth(c->args[2], c->span), c->span);
  return value_list(items);
}

static Value builtin_any(BuiltinCall *c) {
  Value it = value_iter(c->args[0], c->spans[0]);
  for (Value x; (x = value_next(it, c->span)).type;)
    if (value_truth(x, c->span)) return value_bool(true);
  return value_bool(false);
}

static Value builtin_all(BuiltinCall *c) {
  Value it = value_iter(c->args[0], c->spans[0]);
  for (Value x; (x = value_next(it, c->span)).type;)
    if (!value_truth(x, c->span)) return value_bool(false);
  return value_bool(true);
}

static Value builtin_sum(BuiltinCall *c) {
  Value total = c->args[1], it = value_iter(c->args[0], c->spans[0]);
  if (total.type == &type_str)
    raise("TypeError", c->span, "sum() can't sum strings [use ''.join(seq) instead]");
  for (Value x; (x = value_next(it, c->span)).type;)
    total = value_binary(AST_ADD, total, x, c->span);
  return total;
}

/* The least or greatest of the arguments, or of one iterable. */
static Value extreme(BuiltinCall *c, AstOp better) {
  const char *name = c->builtin->name;
  ValueVec items = *value_items(c->args[0]);
  if (!items.len) raise("TypeError", c->span, "%s() needs at least one argument", name);
  bool several = items.len > 1;
  if (several && c->args[2].type)
    raise("TypeError", c->span, "%s(): a default goes with one iterable only", name);
  if (!several) items = value_to_vec(items.at[0], c->span);
  if (!items.len) {
    if (c->args[2].type) return c->args[2];
    raise("ValueError", c->span, "%s() arg is an empty sequence", name);
  }
  bool keyed = !value_is_none(c->args[1]);
  Value best = items.at[0];
  Value best_key = keyed ? value_call_with(c->args[1], 1, &best, c->span) : best;
  for (int i = 1; i < items.len; i++) {
    Value key = keyed ? value_call_with(c->args[1], 1, &items.at[i], c->span) : items.at[i];
    if (!value_truth(value_compare(better, key, best_key, c->span), c->span)) continue;
    best = items.at[i];
    best_key = key;
  }
  return best;
}
static Value builtin_min(BuiltinCall *c) { return extreme(c, AST_LT); }
static Value builtin_max(BuiltinCall *c) { return extreme(c, AST_GT); }

static const Builtin rows[] = {
    {"iter", "object, sentinel?, /", builtin_iter, "an iterator over it"},
    {"next", "iterator, default?, /", builtin_next, "the next item, or StopIteration"},
    {"zip", "*iterables, strict=False", builtin_zip, "tuples of the items at equal places"},
    {"enumerate", "iterable, start=0", builtin_enumerate, "(index, item) pairs"},
    {"map", "function, *iterables", builtin_map, "the function of each item"},
    {"filter", "function, iterable, /", builtin_filter, "the items for which it is true"},
    {"reversed", "sequence, /", builtin_reversed, "from the last item to the first"},
    {"sorted", "iterable, /, *, key=None, reverse=False", builtin_sorted, "a sorted list; stable"},
    {"any", "iterable, /", builtin_any, "is any item true?"},
    {"all", "iterable, /", builtin_all, "are all items true?"},
    {"sum", "iterable, /, start=0", builtin_sum, "start and all items added"},
    {"min", "*args, key=None, default?", builtin_min, "the least"},
    {"max", "*args, key=None, default?", builtin_max, "the greatest"},
};
const BuiltinTable iteration_builtins = {rows, sizeof rows / sizeof *rows};
