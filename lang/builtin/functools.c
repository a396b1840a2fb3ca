/* functools.c -- the module _functools, which stdlib/module/functools.tvms takes over: reduce,
 * partial, lru_cache, wraps, cmp_to_key. */
#include "lang/builtin/builtin.h"

static Value reduce(BuiltinCall *c) {
  Value it = value_iter(c->args[1], c->spans[1]);
  Value total = c->args[2].type ? c->args[2] : value_next(it, c->span);
  if (!total.type) raise("TypeError", c->span, "reduce() of empty iterable with no initial value");
  for (Value x; (x = value_next(it, c->span)).type;) {
    Value args[] = {total, x};
    total = value_call_with(c->args[0], 2, args, c->span);
  }
  return total;
}

/* ---- partial ---- */

typedef struct PartialObject {
  Value function, args, named;
} PartialObject;

static Value partial_call(Value v, CallArgs *args) {
  PartialObject *p = v.object;
  CallArgs more = {.span = args->span, .env = args->env};
  for each (Value, x, value_items(p->args)) vec_push(&more.positional, *x);
  for each (Value, x, &args->positional) vec_push(&more.positional, *x);
  for (int i = 0; i < value_dict_len(p->named); i++) {
    Value key, x;
    value_dict_entry(p->named, i, &key, &x);
    const char *name = str_intern(value_text(key));
    bool replaced = false;
    for each (const char *, n, &args->names) replaced |= *n == name;
    if (replaced) continue;
    vec_push(&more.names, name);
    vec_push(&more.named, x);
  }
  for (int i = 0; i < args->names.len; i++) {
    vec_push(&more.names, args->names.at[i]);
    vec_push(&more.named, args->named.at[i]);
  }
  return value_call(p->function, &more);
}

static Value partial_attr(Value v, const char *name, Span span) {
  (void)span;
  PartialObject *p = v.object;
  if (strcmp(name, "func") == 0) return p->function;
  if (strcmp(name, "args") == 0) return p->args;
  if (strcmp(name, "keywords") == 0) return p->named;
  return value_absent();
}

static const ValueType type_partial = {
    .name = "partial", .call = partial_call, .get_attr = partial_attr};

static Value partial(BuiltinCall *c) {
  if (!value_is_callable(c->args[0]))
    raise("TypeError", c->spans[0], "the first argument of partial() must be callable");
  return value_of(&type_partial, NEW(PartialObject, .function = c->args[0], .args = c->args[1],
                                     .named = c->args[2]));
}

/* ---- lru_cache: keeps the results that were asked for last ---- */

typedef struct CacheObject {
  Value function, results; /* of a key made of the arguments */
  int64_t most;            /* results to keep; below 0: all */
  int64_t hits, misses;
} CacheObject;

static Value cache_call(Value v, CallArgs *args) {
  CacheObject *o = v.object;
  ValueVec key = value_to_vec(value_list(args->positional), args->span);
  for (int i = 0; i < args->names.len; i++) {
    Value name = value_str(args->names.at[i]);
    vec_push(&key, name);
    vec_push(&key, args->named.at[i]);
  }
  Value k = value_tuple(key);
  value_hash(k, args->span);
  Value known = value_dict_get(o->results, k);
  bool all = o->most < 0;
  if (known.type) {
    o->hits++;
    if (all) return known;
    value_del_item(o->results, k, args->span); /* it is the last that was asked for now */
    value_dict_set(o->results, k, known, args->span);
    return known;
  }
  o->misses++;
  Value r = value_call(o->function, args);
  value_dict_set(o->results, k, r, args->span);
  if (all || value_dict_len(o->results) <= o->most) return r;
  Value oldest, ignored;
  value_dict_entry(o->results, 0, &oldest, &ignored);
  value_del_item(o->results, oldest, args->span);
  return r;
}

static Value cache_clear(BuiltinCall *c) {
  CacheObject *o = c->self.object;
  o->results = value_dict();
  o->hits = o->misses = 0;
  return value_none();
}
/* (hits, misses, maxsize, currsize), as functools names them */
static Value cache_counts(BuiltinCall *c) {
  CacheObject *o = c->self.object;
  return value_tuple_of(4, value_int(o->hits), value_int(o->misses),
                        o->most < 0 ? value_none() : value_int(o->most),
                        value_int(value_dict_len(o->results)));
}
static Value cache_info(BuiltinCall *c) {
  Value module = namespace_import("functools", c->span);
  Value named = value_get_attr(module, str_intern("CacheInfo"), c->span), counts = cache_counts(c);
  return value_call_with(named, 4, value_items(counts)->at, c->span);
}
static const Builtin cache_methods[] = {
    {"cache_clear", "", cache_clear, "forgets all results"},
    {"cache_info", "", cache_info, "hits, misses, maxsize, currsize"},
};

static Value cache_attr(Value v, const char *name, Span span) {
  CacheObject *o = v.object;
  if (strcmp(name, "__wrapped__") == 0) return o->function;
  Value method = builtin_method(cache_methods, 2, v, name);
  return method.type ? method : value_find_attr(o->function, name, span);
}

static const ValueType type_cache = {
    .name = "lru_cache_wrapper", .call = cache_call, .get_attr = cache_attr};

static Value make_cache(Value function, int64_t most) {
  return value_of(&type_cache,
                  NEW(CacheObject, .function = function, .results = value_dict(), .most = most));
}
static Value cache(BuiltinCall *c) { return make_cache(c->args[0], -1); }
static Value sized_cache(BuiltinCall *c) { return make_cache(c->args[0], c->self.integer); }
static const Builtin sized_cache_row = {"lru_cache", "function, /", sized_cache,
                                        "keeps the last results of a function"};
static Value lru_cache(BuiltinCall *c) {
  enum { USUAL = 128 };
  if (value_is_callable(c->args[0])) return make_cache(c->args[0], USUAL);
  int64_t most = value_is_none(c->args[0]) ? -1 : value_as_int(c->args[0], "maxsize", c->spans[0]);
  return value_method(&sized_cache_row,
                      value_int(most < 0 && !value_is_none(c->args[0]) ? 0 : most));
}

/* ---- wraps, cmp_to_key ---- */

static Value wrap(BuiltinCall *c) {
  static const char *const names[] = {"__name__", "__doc__"};
  if (c->args[0].type == &type_function)
    value_set_attr(c->args[0], str_intern("__wrapped__"), c->self, c->span);
  if (c->args[0].type == &type_function)
    for (int i = 0; i < 2; i++) {
      Value x = value_find_attr(c->self, str_intern(names[i]), c->span);
      if (x.type) value_set_attr(c->args[0], str_intern(names[i]), x, c->span);
    }
  return c->args[0];
}
static const Builtin wrap_row = {"wrapper", "function, /", wrap, "takes over name and doc"};
static Value wraps(BuiltinCall *c) { return value_method(&wrap_row, c->args[0]); }

typedef struct KeyObject {
  Value compare, x;
} KeyObject;
static Value key_compare(AstOp op, Value a, Value b, Span span) {
  if (a.type != b.type) return value_absent();
  KeyObject *x = a.object, *y = b.object;
  Value args[] = {x->x, y->x};
  Value r = value_call_with(x->compare, 2, args, span);
  return value_compare(op, r, value_int(0), span);
}
static const ValueType type_key = {.name = "key", .compare = key_compare};
static Value make_key(BuiltinCall *c) {
  return value_of(&type_key, NEW(KeyObject, .compare = c->self, .x = c->args[0]));
}
static const Builtin key_row = {"key", "x, /", make_key, "a key that compares by a function"};
static Value cmp_to_key(BuiltinCall *c) { return value_method(&key_row, c->args[0]); }

static const Builtin rows[] = {
    {"reduce", "function, iterable, initial?, /", reduce, "folds the items from the left"},
    {"partial", "func, /, *args, **keywords", partial, "a function with some arguments given"},
    {"lru_cache", "maxsize=128, typed=False", lru_cache, "keeps the last results of a function"},
    {"cache", "function, /", cache, "keeps the results of a function"},
    {"wraps", "wrapped, /", wraps, "a decorator that takes over name and doc"},
    {"cmp_to_key", "compare, /", cmp_to_key, "a sort key of a comparison function"},
};

Value functools_load(void) {
  Value ns = value_namespace("_functools");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  return ns;
}
