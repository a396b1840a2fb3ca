/* set.c -- set and frozenset: iterate in insertion order. */
#include "lang/value/object.h"

static Value new_of(const ValueType *type) {
  return value_of(type, NEW(SetObject, .frozen = type == &type_frozenset));
}
Value value_set(void) { return new_of(&type_set); }

void set_add(Value set, Value x, Span span) { table_add(value_table(set), x, value_hash(x, span)); }

static bool is_set(Value v) { return v.type == &type_set || v.type == &type_frozenset; }

/* Any iterable as a set; sets as they are. */
static Value as_set(Value v, Span span) {
  if (is_set(v)) return v;
  Value set = value_set(), it = value_iter(v, span);
  for (Value x; (x = value_next(it, span)).type;) set_add(set, x, span);
  return set;
}

static Value copy_of(Value set) {
  Value copy = new_of(set.type);
  *value_table(copy) = table_copy(value_table(set));
  return copy;
}

static void repr(Value v, Str *out) {
  Table *t = value_table(v);
  bool frozen = v.type == &type_frozenset;
  if (!t->live) return str_printf(out, "%s()", v.type->name);
  str_add(out, frozen ? "frozenset({" : "{");
  int i = 0, n = 0;
  for (TableEntry *e; (e = table_next(t, &i)); n++) {
    if (n) str_add(out, ", ");
    value_add_repr(e->key, out);
  }
  str_add(out, frozen ? "})" : "}");
}

static int64_t length(Value v, Span span) { return (void)span, value_table(v)->live; }

static bool has(Value set, const TableEntry *e) {
  return table_find(value_table(set), e->key, e->hash) != NULL;
}

static bool contains(Value v, Value x, Span span) {
  return table_find(value_table(v), x, value_hash(x, span)) != NULL;
}

static Value next_item(IteratorObject *it, Span span) {
  Table *t = value_table(it->source);
  if (t->live != it->n) raise("RuntimeError", span, "Set changed size during iteration");
  int i = (int)it->i;
  TableEntry *e = table_next(t, &i);
  it->i = i;
  return e ? e->key : value_absent();
}
static Value iter(Value v, Span span) {
  (void)span;
  return value_iterator((IteratorObject){
      .next = next_item, .name = "set_iterator", .source = v, .n = value_table(v)->live});
}

static bool is_subset(Value a, Value b) {
  int i = 0;
  for (TableEntry *e; (e = table_next(value_table(a), &i));)
    if (!has(b, e)) return false;
  return true;
}

static bool equal(Value a, Value b) {
  return is_set(b) && value_table(a)->live == value_table(b)->live && is_subset(a, b);
}

static uint64_t hash(Value v) {
  uint64_t h = 0x736574;
  int i = 0;
  for (TableEntry *e; (e = table_next(value_table(v), &i));) h += e->hash * 0x9e3779b97f4a7c15u;
  return h;
}

static Value compare(AstOp op, Value a, Value b, Span span) {
  (void)span;
  if (!is_set(a) || !is_set(b)) return value_absent();
  int x = value_table(a)->live, y = value_table(b)->live;
  switch (op) {
  case AST_LE: return value_bool(is_subset(a, b));
  case AST_LT: return value_bool(x < y && is_subset(a, b));
  case AST_GE: return value_bool(is_subset(b, a));
  case AST_GT: return value_bool(x > y && is_subset(b, a));
  default: return value_absent();
  }
}

/* ---- arithmetic ---- */

static void add_all(Value set, Value from) {
  Table t = table_copy(value_table(from));
  int i = 0;
  for (TableEntry *e; (e = table_next(&t, &i));) table_add(value_table(set), e->key, e->hash);
}

/* The items of a that are in b, or that are not. */
static Value select_items(Value a, Value b, bool in) {
  Value r = new_of(a.type);
  int i = 0;
  for (TableEntry *e; (e = table_next(value_table(a), &i));) {
    TableEntry item = *e; /* an __eq__ may remove the entry */
    if (has(b, &item) == in) table_add(value_table(r), item.key, item.hash);
  }
  return r;
}

static Value combine(AstOp op, Value a, Value b) {
  Value r;
  switch (op) {
  case AST_BITOR:
    r = copy_of(a);
    add_all(r, b);
    return r;
  case AST_BITAND: return select_items(a, b, true);
  case AST_SUB: return select_items(a, b, false);
  case AST_BITXOR:
    r = select_items(a, b, false);
    add_all(r, select_items(b, a, false));
    return r;
  default: return value_absent();
  }
}

static Value binary(AstOp op, Value a, Value b, Span span) {
  (void)span;
  return is_set(a) && is_set(b) ? combine(op, a, b) : value_absent();
}

static Value inplace(AstOp op, Value a, Value b, Span span) {
  (void)span;
  if (a.type != &type_set || !is_set(b)) return value_absent();
  Value r = combine(op, a, b);
  if (!r.type) return r;
  *value_table(a) = *value_table(r);
  return a;
}

/* ---- methods ---- */

static Value with_all(BuiltinCall *c, AstOp op, bool in_place) {
  Value r = in_place ? c->self : copy_of(c->self);
  for each (Value, other, value_items(c->args[0])) {
    Value next = combine(op, r, as_set(*other, c->span));
    if (in_place) *value_table(r) = *value_table(next);
    else r = next;
  }
  return in_place ? value_none() : r;
}
static Value set_union(BuiltinCall *c) { return with_all(c, AST_BITOR, false); }
static Value set_intersection(BuiltinCall *c) { return with_all(c, AST_BITAND, false); }
static Value set_difference(BuiltinCall *c) { return with_all(c, AST_SUB, false); }
static Value set_update(BuiltinCall *c) { return with_all(c, AST_BITOR, true); }
static Value set_intersection_update(BuiltinCall *c) { return with_all(c, AST_BITAND, true); }
static Value set_difference_update(BuiltinCall *c) { return with_all(c, AST_SUB, true); }
static Value set_symmetric_difference(BuiltinCall *c) {
  return combine(AST_BITXOR, c->self, as_set(c->args[0], c->span));
}
static Value set_symmetric_difference_update(BuiltinCall *c) {
  *value_table(c->self) = *value_table(set_symmetric_difference(c));
  return value_none();
}
static Value set_issubset(BuiltinCall *c) {
  return value_bool(is_subset(c->self, as_set(c->args[0], c->span)));
}
static Value set_issuperset(BuiltinCall *c) {
  return value_bool(is_subset(as_set(c->args[0], c->span), c->self));
}
static Value set_isdisjoint(BuiltinCall *c) {
  Value both = combine(AST_BITAND, c->self, as_set(c->args[0], c->span));
  return value_bool(!value_table(both)->live);
}
static Value set_add_method(BuiltinCall *c) {
  set_add(c->self, c->args[0], c->span);
  return value_none();
}
static Value set_discard(BuiltinCall *c) {
  table_remove(value_table(c->self), c->args[0], value_hash(c->args[0], c->span));
  return value_none();
}
static Value set_remove(BuiltinCall *c) {
  if (!table_remove(value_table(c->self), c->args[0], value_hash(c->args[0], c->span)))
    raise_key_error(c->args[0], c->span);
  return value_none();
}
static Value set_pop(BuiltinCall *c) {
  int i = 0;
  TableEntry *e = table_next(value_table(c->self), &i);
  if (!e) raise_key_error(value_str("pop from an empty set"), c->span);
  Value x = e->key;
  table_remove(value_table(c->self), x, e->hash);
  return x;
}
static Value set_clear(BuiltinCall *c) {
  table_clear(value_table(c->self));
  return value_none();
}
static Value set_copy(BuiltinCall *c) { return copy_of(c->self); }

/* The first FROZEN rows are frozenset's too. */
static const Builtin methods[] = {
    {"copy", "", set_copy, "a shallow copy"},
    {"difference", "*others", set_difference, "items in none of the others"},
    {"intersection", "*others", set_intersection, "items in all of the others"},
    {"isdisjoint", "other, /", set_isdisjoint, "no item in common?"},
    {"issubset", "other, /", set_issubset, "is every item in the other?"},
    {"issuperset", "other, /", set_issuperset, "is every item of the other here?"},
    {"symmetric_difference", "other, /", set_symmetric_difference, "items in exactly one"},
    {"union", "*others", set_union, "items in any"},
    {"add", "item, /", set_add_method, "adds an item"},
    {"clear", "", set_clear, "removes all items"},
    {"difference_update", "*others", set_difference_update, "removes the items of the others"},
    {"discard", "item, /", set_discard, "removes an item if it is there"},
    {"intersection_update", "*others", set_intersection_update, "keeps items of all others"},
    {"pop", "", set_pop, "removes and gives the first item"},
    {"remove", "item, /", set_remove, "removes an item, or KeyError"},
    {"symmetric_difference_update", "other, /", set_symmetric_difference_update,
     "keeps items that are in exactly one"},
    {"update", "*others", set_update, "adds the items of the others"},
};
enum { METHODS = sizeof methods / sizeof *methods, FROZEN = 8 };

const ValueType type_set = {.name = "set",
                            .repr = repr,
                            .methods = methods,
                            .method_count = METHODS,
                            .binary = binary,
                            .compare = compare,
                            .contains = contains,
                            .length = length,
                            .iter = iter,
                            .equal = equal,
                            .inplace = inplace};
const ValueType type_frozenset = {.name = "frozenset",
                                  .repr = repr,
                                  .methods = methods,
                                  .method_count = FROZEN,
                                  .binary = binary,
                                  .compare = compare,
                                  .contains = contains,
                                  .length = length,
                                  .iter = iter,
                                  .equal = equal,
                                  .hash = hash};

static Value construct(BuiltinCall *c, const ValueType *type) {
  Value set = new_of(type);
  if (c->args[0].type) add_all(set, as_set(c->args[0], c->spans[0]));
  return set;
}
static Value new_set(BuiltinCall *c) { return construct(c, &type_set); }
static Value new_frozenset(BuiltinCall *c) { return construct(c, &type_frozenset); }
static const Builtin constructors[] = {
    {"set", "iterable?, /", new_set, "a set of the items of an iterable"},
    {"frozenset", "iterable?, /", new_frozenset, "a set that does not change, and can be a key"},
};
const TypeObject set_type_object = {
    .type = &type_set, .constructor = &constructors[0], .as_base = FILLED_BASE};
const TypeObject frozenset_type_object = {
    .type = &type_frozenset, .constructor = &constructors[1], .as_base = FIXED_BASE};
