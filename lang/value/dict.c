/* dict.c -- the type dict: insertion ordered, any hashable key; and its views. */
#include "lang/value/object.h"

Value value_dict(void) { return value_of(&type_dict, NEW(DictObject, .table = {0})); }
Value value_attrs(void) { return value_of(&type_dict, NEW(DictObject, .is_attrs = true)); }

Value value_dict_get(Value dict, Value key) {
  TableEntry *e = table_find(value_table(dict), key, value_hash(key, (Span){0}));
  return e ? e->value : value_absent();
}

void value_dict_set(Value dict, Value key, Value x, Span span) {
  table_add(value_table(dict), key, value_hash(key, span))->value = x;
}

int value_dict_len(Value dict) { return value_table(dict)->live; }

void value_dict_entry(Value dict, int i, Value *key, Value *x) {
  Table *t = value_table(dict);
  int at = i;
  if (t->live != t->len) { /* some were removed: count */
    int next = 0;
    while (i-- >= 0) table_next(t, &next);
    at = next - 1;
  }
  *key = t->at[at].key;
  *x = t->at[at].value;
}

static void repr(Value v, Str *out) {
  int i = 0, n = 0;
  str_add(out, "{");
  for (TableEntry *e; (e = table_next(value_table(v), &i)); n++) {
    if (n) str_add(out, ", ");
    Value x = e->value;
    value_add_repr(e->key, out);
    str_add(out, ": ");
    value_add_repr(x, out);
  }
  str_add(out, "}");
}

static int64_t length(Value v, Span span) { return (void)span, value_table(v)->live; }

static Value get_item(Value v, Value key, Span span) {
  TableEntry *e = table_find(value_table(v), key, value_hash(key, span));
  if (!e) raise_key_error(key, span);
  return e->value;
}

static void del_item(Value v, Value key, Span span) {
  if (!table_remove(value_table(v), key, value_hash(key, span))) raise_key_error(key, span);
}

static bool contains(Value v, Value key, Span span) {
  return table_find(value_table(v), key, value_hash(key, span)) != NULL;
}

static bool equal(Value a, Value b) {
  if (b.type != &type_dict) return false;
  Table *x = value_table(a), *y = value_table(b);
  if (x->live != y->live) return false;
  int i = 0;
  for (TableEntry *e; (e = table_next(x, &i));) {
    Value mine = e->value; /* an __eq__ may remove the entry */
    TableEntry *other = table_find(y, e->key, e->hash);
    if (!other || !(value_same(mine, other->value) || value_equal(mine, other->value)))
      return false;
  }
  return true;
}

/* ---- iteration and views: keys, values, items ---- */

static Value next_entry(IteratorObject *it, Span span) {
  Table *t = value_table(it->source);
  if (t->live != it->n) raise("RuntimeError", span, "dictionary changed size during iteration");
  int i = (int)it->i;
  TableEntry *e = table_next(t, &i);
  it->i = i;
  if (!e) return value_absent();
  switch (it->name[5]) {
  case 'k': return e->key;
  case 'v': return e->value;
  default: return value_tuple_of(2, e->key, e->value);
  }
}

static Value iter_named(Value dict, const char *name) {
  return value_iterator((IteratorObject){
      .next = next_entry, .name = name, .source = dict, .n = value_table(dict)->live});
}

static Value iter(Value v, Span span) { return (void)span, iter_named(v, "dict_keyiterator"); }

typedef struct ViewObject {
  Value dict;
  const char *iterator; /* the name of its iterators */
} ViewObject;

static Value dict_of(Value view) { return ((ViewObject *)view.object)->dict; }

static Value view_iter(Value v, Span span) {
  (void)span;
  return iter_named(dict_of(v), ((ViewObject *)v.object)->iterator);
}
static int64_t view_length(Value v, Span span) { return (void)span, value_table(dict_of(v))->live; }
static void view_repr(Value v, Str *out) {
  ValueVec items = value_to_vec(v, (Span){0});
  str_printf(out, "%s([", v.type->name);
  sequence_add_items(out, &items);
  str_add(out, "])");
}
static bool keys_contain(Value v, Value x, Span span) { return contains(dict_of(v), x, span); }

static Value view_set(Value v, Span span) {
  Value set = value_set();
  Value it = value_iter(v, span);
  for (Value x; (x = value_next(it, span)).type;) set_add(set, x, span);
  return set;
}
/* keys() and items() take part in set arithmetic. */
static Value view_binary(AstOp op, Value a, Value b, Span span) {
  if (op != AST_BITAND && op != AST_BITOR && op != AST_BITXOR && op != AST_SUB)
    return value_absent();
  return value_binary(op, view_set(a, span), view_set(b, span), span);
}
static bool view_equal(Value a, Value b) {
  if (b.type != a.type && b.type != &type_set) return false;
  return value_equal(view_set(a, (Span){0}), view_set(b, (Span){0}));
}

static const ValueType type_keys = {.name = "dict_keys",
                                    .repr = view_repr,
                                    .length = view_length,
                                    .iter = view_iter,
                                    .contains = keys_contain,
                                    .binary = view_binary,
                                    .equal = view_equal};
static const ValueType type_values = {
    .name = "dict_values", .repr = view_repr, .length = view_length, .iter = view_iter};
static const ValueType type_items = {.name = "dict_items",
                                     .repr = view_repr,
                                     .length = view_length,
                                     .iter = view_iter,
                                     .binary = view_binary,
                                     .equal = view_equal};

static Value view(const ValueType *type, Value dict, const char *iterator) {
  return value_of(type, NEW(ViewObject, .dict = dict, .iterator = iterator));
}
static Value dict_keys(BuiltinCall *c) { return view(&type_keys, c->self, "dict_keyiterator"); }
static Value dict_values(BuiltinCall *c) {
  return view(&type_values, c->self, "dict_valueiterator");
}
static Value dict_items(BuiltinCall *c) { return view(&type_items, c->self, "dict_itemiterator"); }

/* ---- methods ---- */

static Value dict_get_or(BuiltinCall *c) {
  TableEntry *e = table_find(value_table(c->self), c->args[0], value_hash(c->args[0], c->span));
  return e ? e->value : c->args[1];
}

static Value dict_setdefault(BuiltinCall *c) {
  TableEntry *e = table_add(value_table(c->self), c->args[0], value_hash(c->args[0], c->span));
  if (!e->value.type) e->value = c->args[1];
  return e->value;
}

static Value dict_pop(BuiltinCall *c) {
  uint64_t hash = value_hash(c->args[0], c->span);
  TableEntry *e = table_find(value_table(c->self), c->args[0], hash);
  if (!e && !c->args[1].type) raise_key_error(c->args[0], c->span);
  Value x = e ? e->value : c->args[1];
  if (e) table_remove(value_table(c->self), c->args[0], hash);
  return x;
}

static Value dict_popitem(BuiltinCall *c) {
  Table *t = value_table(c->self);
  for (int i = t->len; i-- > 0;) {
    TableEntry e = t->at[i];
    if (!e.key.type) continue;
    table_remove(t, e.key, e.hash);
    return value_tuple_of(2, e.key, e.value);
  }
  raise_key_error(value_str("popitem(): dictionary is empty"), c->span);
}

/* From an object with keys() and []. */
static void add_mapping(Value dict, Value from, Span span) {
  Value keys = value_call_with(value_get_attr(from, INTERNED("keys"), span), 0, NULL, span);
  Value it = value_iter(keys, span);
  for (Value key; (key = value_next(it, span)).type;)
    value_dict_set(dict, key, value_get_item(from, key, span), span);
}

static void add_pairs(Value dict, Value from, Span span) {
  int n = 0;
  Value it = value_iter(from, span);
  for (Value pair; (pair = value_next(it, span)).type; n++) {
    ValueVec two = value_to_vec(pair, span);
    if (two.len != 2)
      raise("ValueError", span,
            "dictionary update sequence element #%d has length %d; 2 is required", n, two.len);
    value_dict_set(dict, two.at[0], two.at[1], span);
  }
}

static void add_all(Value dict, Value from, Span span) {
  from = value_plain(from);
  if (from.type == &type_instance && value_find_attr(from, INTERNED("keys"), span).type)
    return add_mapping(dict, from, span);
  if (from.type != &type_dict) return add_pairs(dict, from, span);
  Table t = table_copy(value_table(from));
  int i = 0;
  for (TableEntry *e; (e = table_next(&t, &i));)
    table_add(value_table(dict), e->key, e->hash)->value = e->value;
}

static Value dict_update(BuiltinCall *c) {
  if (c->args[0].type) add_all(c->self, c->args[0], c->span);
  add_all(c->self, c->args[1], c->span);
  return value_none();
}

static Value dict_clear(BuiltinCall *c) {
  table_clear(value_table(c->self));
  return value_none();
}

static Value copy_of(Value dict) {
  Value copy = value_dict();
  *value_table(copy) = table_copy(value_table(dict));
  return copy;
}
static Value dict_copy(BuiltinCall *c) { return copy_of(c->self); }

static const Builtin methods[] = {
    {"clear", "", dict_clear, "removes all entries"},
    {"copy", "", dict_copy, "a shallow copy"},
    {"get", "key, default=None, /", dict_get_or, "the value of a key, or the default"},
    {"items", "", dict_items, "(key, value) pairs"},
    {"keys", "", dict_keys, "the keys"},
    {"pop", "key, default?, /", dict_pop, "removes a key and gives its value"},
    {"popitem", "", dict_popitem, "removes and gives the last entry"},
    {"setdefault", "key, default=None, /", dict_setdefault, "the value; set to default if absent"},
    {"update", "other?, /, **kwargs", dict_update, "takes entries over from another dict"},
    {"values", "", dict_values, "the values"},
};
enum { METHODS = sizeof methods / sizeof *methods };

static Value get_attr(Value v, const char *name, Span span) {
  (void)span;
  bool is_method = builtin_method(methods, METHODS, v, name).type;
  if (is_method || !((DictObject *)v.object)->is_attrs) return value_absent();
  return value_dict_get(v, value_str(name));
}

static Value binary(AstOp op, Value a, Value b, Span span) {
  if (op != AST_BITOR || a.type != &type_dict || b.type != &type_dict) return value_absent();
  Value r = copy_of(a);
  add_all(r, b, span);
  return r;
}
static Value inplace(AstOp op, Value a, Value b, Span span) {
  if (op != AST_BITOR) return value_absent();
  add_all(a, b, span);
  return a;
}

const ValueType type_dict = {.name = "dict",
                             .repr = repr,
                             .methods = methods,
                             .method_count = METHODS,
                             .get_attr = get_attr,
                             .get_item = get_item,
                             .set_item = value_dict_set,
                             .del_item = del_item,
                             .binary = binary,
                             .contains = contains,
                             .length = length,
                             .iter = iter,
                             .equal = equal,
                             .inplace = inplace};

/* ---- dict(...) ---- */

static Value new_dict(BuiltinCall *c) {
  Value dict = value_dict();
  if (c->args[0].type) add_all(dict, c->args[0], c->span);
  add_all(dict, c->args[1], c->span);
  return dict;
}
static const Builtin constructor = {"dict", "other?, /, **kwargs", new_dict,
                                    "a dict of pairs, of another dict, of keywords"};

static Value fromkeys(BuiltinCall *c) {
  Value dict = value_dict(), it = value_iter(c->args[0], c->spans[0]);
  for (Value x; (x = value_next(it, c->span)).type;) value_dict_set(dict, x, c->args[1], c->span);
  return dict;
}
static const Builtin fromkeys_row = {"fromkeys", "iterable, value=None, /", fromkeys,
                                     "a dict with these keys and one value"};
static Value get_static(const char *name) {
  return strcmp(name, "fromkeys") == 0 ? value_builtin(&fromkeys_row) : value_absent();
}
const TypeObject dict_type_object = {.type = &type_dict,
                                     .constructor = &constructor,
                                     .as_base = FILLED_BASE,
                                     .get_static = get_static};
