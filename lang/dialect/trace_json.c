/* trace_json.c -- traces of schedules as data that JSON can hold, and back.
 *
 * A trace is [[step, ...], [[number, decision], ...]], a step [name, [argument, ...], [result,
 * ...]]. Random variables are their names, strings stand in quotes, lists are lists; tuples, dicts
 * and expressions are dicts with one of the keys "tuple", "dict" and "node". */
#include "lang/dialect/trace_value.h"

/* ---- to values ---- */

typedef struct Writer {
  Map bound; /* variables that index maps bind */
  Map vars;  /* of these, those that were met, to their numbers + 1 */
  Span span;
} Writer;

static Value to_json(Writer *w, Node *n);

static Value list_to_json(Writer *w, NodeVec v) {
  ValueVec items = {0};
  for each (Node *, n, &v) vec_push(&items, to_json(w, *n));
  return value_list(items);
}

static Value one_entry(const char *key, Value x, Span span) {
  Value d = value_dict();
  value_dict_set(d, value_str(key), x, span);
  return d;
}

static Value dict_to_json(Writer *w, const Dict *d) {
  Value all = value_dict();
  for (int i = 0; i < d->keys.len; i++)
    value_dict_set(all, value_str(d->keys.at[i]), to_json(w, d->values.at[i]), w->span);
  return one_entry("dict", all, w->span);
}

/* A variable that an index map binds is its number; where it is first met, with name and dtype. */
static Value bound_var(Writer *w, Node *var) {
  intptr_t number = (intptr_t)map_get(&w->vars, var);
  Value d = one_entry("var", value_int((number ? number : w->vars.live + 1) - 1), w->span);
  if (number) return d;
  map_set(&w->vars, var, (void *)(intptr_t)(w->vars.live + 1));
  value_dict_set(d, value_str("name"), value_str(AS(Var, var)->name), w->span);
  value_dict_set(d, value_str("dtype"), value_str(dtype_text(var->dtype)), w->span);
  return d;
}

static Value field_to_json(Writer *w, Node *n, const NodeField *f) {
  char *at = (char *)n + f->offset;
  if (str_same(f->type, "Node *")) return to_json(w, *(Node **)(void *)at);
  if (str_same(f->type, "NodeVec")) return list_to_json(w, *(NodeVec *)(void *)at);
  if (str_same(f->type, "int64_t")) return value_int(*(int64_t *)(void *)at);
  if (str_same(f->type, "int")) return value_int(*(int *)(void *)at);
  if (str_same(f->type, "double")) return value_float(*(double *)(void *)at);
  if (str_same(f->type, "const char *") && *(const char **)(void *)at)
    return value_str(*(const char **)(void *)at);
  raise("TypeError", w->span, "a trace with %s can't be saved", node_kind_name(n->kind));
}

static Value node_to_json(Writer *w, Node *n) {
  bool known = node_is_expr(n) || IS(IndexMap, n) || IS(Op, n);
  if (!known || IS(Var, n))
    raise("TypeError", w->span, "a trace with %s can't be saved", node_kind_name(n->kind));
  Value d = one_entry("node", value_str(node_kind_name(n->kind)), w->span);
  if (!dtype_is_void(n->dtype))
    value_dict_set(d, value_str("dtype"), value_str(dtype_text(n->dtype)), w->span);
  for each (NodeField, f, node_fields((NodeKind)n->kind)) {
    bool derived = str_same(f->name, "sinfo") ||
                   (str_same(f->type, "Node *") && !*(Node **)(void *)((char *)n + f->offset));
    if (!derived) value_dict_set(d, value_str(f->name), field_to_json(w, n, f), w->span);
  }
  return d;
}

static Value to_json(Writer *w, Node *n) {
  if (!n || IS(None, n)) return value_none();
  if (IS(Array, n)) {
    Value items = list_to_json(w, AS(Array, n)->items);
    return AS(Array, n)->is_tuple ? one_entry("tuple", items, w->span) : items;
  }
  if (IS(Dict, n)) return dict_to_json(w, AS(Dict, n));
  if (IS(StringImm, n)) return value_str(str_format("\"%s\"", AS(StringImm, n)->value));
  bool plain = n->dtype.lanes == 1 && IS(IntImm, n) &&
               (dtype_is_bool(n->dtype) || dtype_equal(n->dtype, INT32));
  if (plain && dtype_is_bool(n->dtype)) return value_bool(AS(IntImm, n)->value != 0);
  if (plain) return value_int(AS(IntImm, n)->value);
  if (IS(FloatImm, n) && dtype_equal(n->dtype, FLOAT64)) return value_float(AS(FloatImm, n)->value);
  if (IS(IndexMap, n))
    for each (Node *, v, &AS(IndexMap, n)->inputs) map_set(&w->bound, *v, *v);
  if (IS(Var, n) && map_has(&w->bound, n)) return bound_var(w, n);
  if (IS(Var, n)) return value_str(AS(Var, n)->name);
  return node_to_json(w, n);
}

Value trace_to_json(const Trace *t, Span span) {
  ValueVec steps = {0}, decisions = {0};
  for (int i = 0; i < t->len; i++) {
    Writer w = {.span = span};
    const Instruction *in = &t->at[i];
    ValueVec step = {0};
    vec_push(&step, value_str(in->primitive->name));
    vec_push(&step, list_to_json(&w, in->args));
    vec_push(&step, list_to_json(&w, in->results));
    vec_push(&steps, value_list(step));
    if (!in->decision) continue;
    ValueVec decision = {0};
    vec_push(&decision, value_int(i));
    vec_push(&decision, to_json(&w, in->decision));
    vec_push(&decisions, value_list(decision));
  }
  ValueVec both = {0};
  vec_push(&both, value_list(steps));
  vec_push(&both, value_list(decisions));
  return value_list(both);
}

/* ---- from values ---- */

typedef struct Loader {
  Map random;   /* interned names to random variables */
  NodeVec vars; /* bound variables of the step's index maps, by number */
  Span span;
} Loader;

static _Noreturn void bad(const Loader *l, const char *expected) {
  raise("ValueError", l->span, "this is no trace: expected %s", expected);
}

static const ValueVec *items_of(const Loader *l, Value v, const char *expected) {
  if (v.type != &type_list && v.type != &type_tuple) bad(l, expected);
  return value_items(v);
}

static Value entry(Value dict, const char *key) { return value_dict_get(dict, value_str(key)); }

static Node *from_json(Loader *l, Value v);

static NodeVec list_from_json(Loader *l, Value v) {
  NodeVec out = {0};
  for each (Value, x, items_of(l, v, "a list")) vec_push(&out, from_json(l, *x));
  return out;
}

static Node *random_var(Loader *l, Value name) {
  const char *key = str_intern(value_text(name));
  Node *var = map_get(&l->random, key);
  if (!var) map_set(&l->random, key, var = var_new(key, HANDLE, l->span));
  return var;
}

static DataType dtype_entry(const Loader *l, Value dict) {
  DataType t = VOID_TYPE;
  Value name = entry(dict, "dtype");
  if (name.type && (name.type != &type_str || !dtype_parse(value_text(name), &t)))
    bad(l, "a dtype");
  return t;
}

static Node *var_from_json(Loader *l, Value dict, Value number) {
  if (number.type != &type_int) bad(l, "the number of a variable");
  int64_t i = value_as_int(number, "a number", l->span);
  if (i < 0 || i > l->vars.len) bad(l, "the number of a variable");
  Value name = entry(dict, "name");
  if (i == l->vars.len) {
    if (name.type != &type_str) bad(l, "the name of a variable");
    vec_push(&l->vars, var_new(str_intern(value_text(name)), dtype_entry(l, dict), l->span));
  }
  return l->vars.at[i];
}

static void field_from_json(Loader *l, Node *n, const NodeField *f, Value v) {
  char *at = (char *)n + f->offset;
  if (str_same(f->type, "Node *")) *(Node **)(void *)at = from_json(l, v);
  else if (str_same(f->type, "NodeVec")) *(NodeVec *)(void *)at = list_from_json(l, v);
  else if (str_same(f->type, "int64_t")) *(int64_t *)(void *)at = value_as_int(v, f->name, l->span);
  else if (str_same(f->type, "int")) *(int *)(void *)at = (int)value_as_int(v, f->name, l->span);
  else if (str_same(f->type, "double")) *(double *)(void *)at = value_as_float(v, f->name, l->span);
  else if (str_same(f->type, "const char *"))
    *(const char **)(void *)at = str_intern(value_as_text(v, f->name, l->span));
  else bad(l, "a field that can be saved");
}

static NodeKind kind_named(const Loader *l, Value name) {
  if (name.type == &type_str)
    for (int k = 0; k < NK_COUNT; k++)
      if (str_same(node_kind_name((NodeKind)k), value_text(name)) &&
          (node_family((NodeKind)k) == FAMILY_PRIM_EXPR || k == NK_IndexMap || k == NK_Op))
        return (NodeKind)k;
  bad(l, "the kind of an expression");
}

static Node *node_from_json(Loader *l, Value dict, Value kind) {
  NodeKind k = kind_named(l, kind);
  Value name = entry(dict, "name");
  if (k == NK_Op && name.type == &type_str) return op_get(value_text(name));
  Node *n = gc_alloc(node_size(k));
  *n = (Node){(uint16_t)k, dtype_entry(l, dict), l->span};
  for each (NodeField, f, node_fields(k)) {
    Value v = entry(dict, f->name);
    bool optional = str_same(f->name, "inverse") || str_same(f->name, "attrs");
    if (v.type) field_from_json(l, n, f, v);
    else if (!optional) bad(l, str_format("the field '%s' of %s", f->name, node_kind_name(k)));
  }
  return n;
}

static Node *dict_from_json(Loader *l, Value v) {
  Value tuple = entry(v, "tuple"), dict = entry(v, "dict"), node = entry(v, "node"),
        var = entry(v, "var");
  if (tuple.type)
    return MAKE(Array, l->span, VOID_TYPE, .items = list_from_json(l, tuple), .is_tuple = true);
  if (node.type) return node_from_json(l, v, node);
  if (var.type) return var_from_json(l, v, var);
  if (dict.type != &type_dict) bad(l, "a tuple, a dict or an expression");
  Node *out = dict_new();
  for (int i = 0; i < value_dict_len(dict); i++) {
    Value key, x;
    value_dict_entry(dict, i, &key, &x);
    out = dict_with(out, str_intern(value_as_text(key, "a key", l->span)), from_json(l, x));
  }
  return out;
}

static Node *text_from_json(Loader *l, Value v) {
  const char *text = value_text(v);
  size_t n = strlen(text);
  if (n < 2 || text[0] != '"' || text[n - 1] != '"') return random_var(l, v);
  return string_imm(str_intern(str_copy_n(text + 1, n - 2)), l->span);
}

static Node *from_json(Loader *l, Value v) {
  if (value_is_none(v)) return NULL;
  if (v.type == &type_bool) return int_imm(BOOL, v.boolean, l->span);
  if (v.type == &type_int) return int_imm(INT32, value_as_int(v, "a number", l->span), l->span);
  if (v.type == &type_float)
    return float_imm(FLOAT64, value_as_float(v, "a number", l->span), l->span);
  if (v.type == &type_str) return text_from_json(l, v);
  if (v.type == &type_dict) return dict_from_json(l, v);
  return MAKE(Array, l->span, VOID_TYPE, .items = list_from_json(l, v));
}

static Instruction step_from_json(Loader *l, Value v) {
  const ValueVec *parts = items_of(l, v, "a step");
  Instruction in = {0};
  l->vars = (NodeVec){0};
  if (parts->len != 3 || parts->at[0].type != &type_str) bad(l, "[name, arguments, results]");
  in.primitive = primitive_find(value_text(parts->at[0]));
  if (!in.primitive) bad(l, "the name of a primitive");
  in.args = list_from_json(l, parts->at[1]);
  in.results = list_from_json(l, parts->at[2]);
  return in;
}

Trace *trace_from_json(Value v, Span span) {
  Loader l = {.span = span};
  Trace *t = NEW(Trace, .len = 0);
  const ValueVec *both = items_of(&l, v, "[steps, decisions]");
  if (both->len != 2) bad(&l, "[steps, decisions]");
  for each (Value, s, items_of(&l, both->at[0], "a list of steps"))
    vec_push(t, step_from_json(&l, *s));
  for each (Value, d, items_of(&l, both->at[1], "a list of decisions")) {
    const ValueVec *pair = items_of(&l, *d, "[number, decision]");
    if (pair->len != 2 || pair->at[0].type != &type_int) bad(&l, "[number, decision]");
    int64_t i = value_as_int(pair->at[0], "a number", span);
    if (i < 0 || i >= t->len) bad(&l, "the number of a step");
    t->at[i].decision = from_json(&l, pair->at[1]);
  }
  return t;
}
