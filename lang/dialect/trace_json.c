/* trace_json.c -- traces of schedules as data that JSON can hold, and back.
 *
 * A trace is [[step, ...], [[number, decision], ...]], a step [kind, [input, ...], [attribute,
 * ...], [result, ...]] as upstream has it. Random variables are their names; strings stand in
 * quotes, but not in attributes, where random variables are dicts with the key "rv". Lists are
 * lists; tuples, dicts and expressions are dicts with one of the keys "tuple", "dict", "op", ... */
#include "lang/dialect/trace_value.h"

/* ---- to values ---- */

typedef struct Writer {
  Map bound; /* variables that index maps bind */
  Map vars;  /* of these, those that were met, to their numbers + 1 */
  bool in_attrs;
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

static Value operation(Writer *w, Node *n, const char *name, NodeVec args) {
  Value d = one_entry("op", value_str(name), w->span);
  value_dict_set(d, value_str("dtype"), value_str(dtype_text(n->dtype)), w->span);
  value_dict_set(d, value_str("args"), list_to_json(w, args), w->span);
  return d;
}

static Value number_to_json(Writer *w, Node *n) {
  bool is_int = IS(IntImm, n);
  bool plain = dtype_equal(n->dtype, INT32) || dtype_equal(n->dtype, FLOAT64);
  Value x = is_int ? value_int(AS(IntImm, n)->value) : value_float(AS(FloatImm, n)->value);
  if (is_int && dtype_is_bool(n->dtype)) return value_bool(AS(IntImm, n)->value != 0);
  if (plain) return x;
  Value d = one_entry("number", x, w->span);
  value_dict_set(d, value_str("dtype"), value_str(dtype_text(n->dtype)), w->span);
  return d;
}

static Value expr_to_json(Writer *w, Node *n) {
  const char *name = node_kind_name((NodeKind)n->kind);
  Binary *b = (Binary *)(void *)n;
  if (node_is_binary((NodeKind)n->kind)) return operation(w, n, name, NODES(b->a, b->b));
  if (IS(Not, n)) return operation(w, n, name, NODES(AS(Not, n)->a));
  if (IS(Cast, n)) return operation(w, n, name, NODES(AS(Cast, n)->value));
  if (IS(Select, n)) {
    Select *s = AS(Select, n);
    return operation(w, n, name, NODES(s->cond, s->then, s->orelse));
  }
  Call *c = IS(Call, n) ? AS(Call, n) : NULL;
  if (c && intrin_of(c->op)) return operation(w, n, intrin_of(c->op)->name, c->args);
  raise("TypeError", w->span, "a trace with %s can't be saved", name);
}

static Value map_to_json(Writer *w, const IndexMap *m) {
  for each (Node *, v, &m->inputs) map_set(&w->bound, *v, *v);
  Value d = one_entry("map", list_to_json(w, m->inputs), w->span);
  value_dict_set(d, value_str("to"), list_to_json(w, m->outputs), w->span);
  if (m->inverse) value_dict_set(d, value_str("inverse"), to_json(w, m->inverse), w->span);
  return d;
}

static Value to_json(Writer *w, Node *n) {
  if (!n || IS(None, n)) return value_none();
  if (IS(Array, n)) {
    Value items = list_to_json(w, AS(Array, n)->items);
    return AS(Array, n)->is_tuple ? one_entry("tuple", items, w->span) : items;
  }
  if (IS(Dict, n)) return dict_to_json(w, AS(Dict, n));
  if (IS(StringImm, n))
    return value_str(w->in_attrs ? AS(StringImm, n)->value
                                 : str_format("\"%s\"", AS(StringImm, n)->value));
  if (IS(IntImm, n) || IS(FloatImm, n)) return number_to_json(w, n);
  if (IS(IndexMap, n)) return map_to_json(w, AS(IndexMap, n));
  if (IS(Var, n) && map_has(&w->bound, n)) return bound_var(w, n);
  if (!IS(Var, n)) return expr_to_json(w, n);
  Value name = value_str(AS(Var, n)->name);
  return w->in_attrs ? one_entry("rv", name, w->span) : name;
}

static Value step_to_json(const Instruction *in, Span span) {
  StepForm f = step_to_form(in);
  Writer inputs = {.span = span}, attrs = {.in_attrs = true, .span = span};
  ValueVec step = {0};
  vec_push(&step, value_str(f.kind));
  vec_push(&step, list_to_json(&inputs, f.inputs));
  vec_push(&step, list_to_json(&attrs, f.attrs));
  vec_push(&step, list_to_json(&inputs, in->results));
  return value_list(step);
}

Value trace_to_json(const Trace *t, Span span) {
  ValueVec steps = {0}, decisions = {0};
  for (int i = 0; i < t->len; i++) {
    Writer w = {.span = span};
    vec_push(&steps, step_to_json(&t->at[i], span));
    if (!t->at[i].decision) continue;
    ValueVec decision = {0};
    vec_push(&decision, value_int(i));
    vec_push(&decision, to_json(&w, t->at[i].decision));
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
  bool in_attrs;
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
  DataType t = key[0] == 'v' ? INT32 : HANDLE; /* of v0: an integer; b0 and l0: no expressions */
  if (!var) map_set(&l->random, key, var = var_new(key, t, l->span));
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

/* Expressions only: `n` of them, or any number if n < 0. */
static NodeVec exprs_from_json(Loader *l, Value v, int n) {
  NodeVec out = list_from_json(l, v);
  for each (Node *, x, &out)
    if (!node_is_expr(*x) || dtype_is_handle((*x)->dtype)) bad(l, "an expression");
  if (n >= 0 && out.len != n) bad(l, str_format("%d operands", n));
  return out;
}

static Node *number_from_json(Loader *l, Value dict, Value x) {
  DataType t = dtype_entry(l, dict);
  if (dtype_is_int(t) && x.type == &type_int)
    return int_imm(t, value_as_int(x, "a number", l->span), l->span);
  if (dtype_is_void(t) || dtype_is_int(t) || dtype_is_handle(t)) bad(l, "a number of its dtype");
  return float_imm(t, value_as_float(x, "a number", l->span), l->span);
}

/* Built as an author's expression is: operands that don't fit raise TypeError. */
static Node *op_from_json(Loader *l, Value dict, Value op) {
  if (op.type != &type_str) bad(l, "the name of an operator");
  const char *name = value_text(op);
  NodeVec args = exprs_from_json(l, entry(dict, "args"), -1);
  DataType t = dtype_entry(l, dict);
  for (int k = 0; k < NK_COUNT; k++)
    if (node_is_binary((NodeKind)k) && str_same(node_kind_name((NodeKind)k), name) && args.len == 2)
      return expr_binary((NodeKind)k, args.at[0], args.at[1], l->span);
  if (str_same(name, "Not") && args.len == 1) return expr_not(args.at[0], l->span);
  if (str_same(name, "Cast") && args.len == 1) return expr_cast(t, args.at[0], l->span);
  if (str_same(name, "Select") && args.len == 3)
    return expr_select(args.at[0], args.at[1], args.at[2], l->span);
  if (!intrin_find(name)) bad(l, "the name of an operator with its operands");
  return expr_call(name, t, args, l->span);
}

static Node *map_from_json(Loader *l, Value dict, Value inputs) {
  NodeVec vars = list_from_json(l, inputs);
  for each (Node *, v, &vars)
    if (!IS(Var, *v) || !dtype_is_int((*v)->dtype)) bad(l, "the variables of a map");
  Value back = entry(dict, "inverse");
  Node *inverse = back.type ? from_json(l, back) : NULL;
  if (back.type && !IS(IndexMap, inverse)) bad(l, "an inverse map");
  return MAKE(IndexMap, l->span, VOID_TYPE, .inputs = vars,
              .outputs = exprs_from_json(l, entry(dict, "to"), -1), .inverse = inverse);
}

static Node *dict_from_json(Loader *l, Value v) {
  Value tuple = entry(v, "tuple"), dict = entry(v, "dict"), var = entry(v, "var"),
        number = entry(v, "number"), op = entry(v, "op"), map = entry(v, "map"),
        rv = entry(v, "rv");
  if (rv.type == &type_str) return random_var(l, rv);
  if (tuple.type)
    return MAKE(Array, l->span, VOID_TYPE, .items = list_from_json(l, tuple), .is_tuple = true);
  if (var.type) return var_from_json(l, v, var);
  if (number.type) return number_from_json(l, v, number);
  if (op.type) return op_from_json(l, v, op);
  if (map.type) return map_from_json(l, v, map);
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
  if (l->in_attrs) return string_imm(str_intern(text), l->span);
  if (n < 2 || text[0] != '"' || text[n - 1] != '"') return random_var(l, v);
  return string_imm(str_intern(str_copy_n(text + 1, n - 2)), l->span);
}

static Node *from_json(Loader *l, Value v) {
  if (value_is_none(v)) return MAKE(None, l->span, VOID_TYPE);
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
  if (parts->len != 4 || parts->at[0].type != &type_str)
    bad(l, "[kind, inputs, attributes, results]");
  l->vars = (NodeVec){0};
  StepForm f = {.kind = value_text(parts->at[0]), .inputs = list_from_json(l, parts->at[1])};
  l->vars = (NodeVec){0};
  l->in_attrs = true;
  f.attrs = list_from_json(l, parts->at[2]);
  l->in_attrs = false;
  const char *expected = step_from_form(&f, &in, l->span);
  if (expected) bad(l, expected);
  in.results = list_from_json(l, parts->at[3]);
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
