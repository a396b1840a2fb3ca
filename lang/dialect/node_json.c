/* node_json.c -- tvm.ir.save_json and what load_json makes of it: any node of the IR as JSON.
 *
 *   {"tvms_nodes": [{"kind": "Var", "name": "n", ...}, {"kind": "Add", "a": 0, "b": 0}], "crc32":
 * ...}
 *
 * An entry is a node, its fields as node.def names them, or a value of the script around nodes:
 * {"list": [...]}, {"tuple": [...]}, {"dict": [key, value, ...]}, {"value": 1.5}. Entries name
 * others by number, which come before them; the last one is the whole. What is shared is one entry,
 * so that variables stay what they are. The sum tells a file that was cut or changed; what it says
 * may still come from another version or an enemy, so that each node is looked at as it is made. */
#include "ir/print/metadata.h"
#include "lang/dialect/node_class.h"
#include "ir/support/stack.h"
#include <limits.h>
#include <zlib.h>

static Value json_call(const char *name, Value x, Span span) {
  Value f = value_get_attr(namespace_import("json", span), str_intern(name), span);
  return value_call_with(f, 1, &x, span);
}

static Value sum_of(Value entries, Span span) {
  const char *text = value_text(json_call("dumps", entries, span));
  return value_int((int64_t)crc32(0, (const Bytef *)text, (uInt)strlen(text)));
}

/* ---- writing ---- */

typedef struct Writer {
  ValueVec entries;
  Map numbers; /* nodes to the numbers of their entries, from 1 */
  Span span;
} Writer;

static int add_entry(Writer *w, Value entry) {
  vec_push(&w->entries, entry);
  return w->entries.len - 1;
}

static Value entry_of(const char *key, Value x, Span span) {
  Value entry = value_dict();
  value_dict_set(entry, value_str(key), x, span);
  return entry;
}

static int write_node(Writer *w, Node *n);

static Value reference(Writer *w, Node *n) {
  return n ? value_int(write_node(w, n)) : value_none();
}

static Value references(Writer *w, const NodeVec *nodes) {
  ValueVec out = {0};
  for each (Node *, n, nodes) vec_push(&out, reference(w, *n));
  return value_list(out);
}

static Value field_json(Writer *w, Node *n, const NodeField *f) {
  const void *at = (const char *)n + f->offset;
  if (str_same(f->type, "Node *")) return reference(w, *(Node *const *)at);
  if (str_same(f->type, "NodeVec")) return references(w, at);
  if (!str_same(f->type, "const ConstData *")) return field_get(n, f);
  Str text = {0};
  metadata_add_tensor(&text, *(const ConstData *const *)at);
  return value_str_take(&text);
}

static int write_new(Writer *w, Node *n) {
  Value entry = entry_of("kind", value_str(node_kind_name(n->kind)), w->span);
  if (!dtype_is_void(n->dtype))
    value_dict_set(entry, value_str("dtype"), value_str(dtype_text(n->dtype)), w->span);
  for each (NodeField, f, node_fields((NodeKind)n->kind))
    value_dict_set(entry, value_str(f->name), field_json(w, n, f), w->span);
  int number = add_entry(w, entry);
  map_set(&w->numbers, n, (void *)(intptr_t)(number + 1));
  return number;
}

typedef struct Errand {
  Writer *w;
  Node *n;
  int number;
} Errand;

static void write_errand(void *context) {
  Errand *e = context;
  e->number = write_node(e->w, e->n);
}

static int write_node(Writer *w, Node *n) {
  int known = (int)(intptr_t)map_get(&w->numbers, n);
  if (known) return known - 1;
  if (!stack_is_low()) return write_new(w, n);
  Errand e = {w, n, 0};
  stack_run(write_errand, &e);
  return e.number;
}

static int write_value(Writer *w, Value v);

static int write_items(Writer *w, const char *key, Value v) {
  ValueVec numbers = {0};
  for each (Value, x, value_items(v)) vec_push(&numbers, value_int(write_value(w, *x)));
  return add_entry(w, entry_of(key, value_list(numbers), w->span));
}

static int write_dict(Writer *w, Value v) {
  ValueVec numbers = {0};
  for (int i = 0; i < value_dict_len(v); i++) {
    Value key, x;
    value_dict_entry(v, i, &key, &x);
    vec_push(&numbers, value_int(write_value(w, key)));
    vec_push(&numbers, value_int(write_value(w, x)));
  }
  return add_entry(w, entry_of("dict", value_list(numbers), w->span));
}

static int write_value(Writer *w, Value v) {
  stack_check(w->span);
  v = value_plain(v);
  if (v.type == &type_node) return write_node(w, v.node);
  if (v.type == &type_list) return write_items(w, "list", v);
  if (v.type == &type_tuple) return write_items(w, "tuple", v);
  if (v.type == &type_dict) return write_dict(w, v);
  if (value_is_none(v) || value_is_integer(v) || v.type == &type_float || v.type == &type_str)
    return add_entry(w, entry_of("value", v, w->span));
  if (value_is_target(v, w->span)) return write_node(w, to_attr(v, w->span));
  raise("TypeError", w->span,
        "save_json takes nodes, targets, and lists, tuples and dicts of nodes, numbers and texts; "
        "found %s",
        value_type_name(v));
}

Value tvm_save_json(BuiltinCall *call) {
  Writer w = {.span = call->span};
  write_value(&w, call->args[0]);
  Value entries = value_list(w.entries), whole = entry_of("tvms_nodes", entries, call->span);
  value_dict_set(whole, value_str("crc32"), sum_of(entries, call->span), call->span);
  return json_call("dumps", whole, call->span);
}

/* ---- reading ---- */

typedef struct Reader {
  ValueVec made; /* what entries became */
  Span span;
} Reader;

static int64_t number(const Reader *r, Value v, int64_t min, int64_t max) {
  int64_t i = value_as_int(v, "a number of the JSON", r->span);
  if (i < min || i > max)
    raise("ValueError", r->span, "the JSON has the number %lld where it must be from %lld to %lld",
          (long long)i, (long long)min, (long long)max);
  return i;
}

static Value made_at(const Reader *r, Value v) {
  return r->made.at[number(r, v, 0, r->made.len - 1)];
}

static Node *node_at(const Reader *r, Value v) {
  if (value_is_none(v)) return NULL;
  Value made = made_at(r, v);
  if (made.type != &type_node)
    raise("ValueError", r->span, "the JSON has a %s where a node must be", value_type_name(made));
  return made.node;
}

static const ValueVec *items(const Reader *r, Value v) {
  if (v.type != &type_list)
    raise("ValueError", r->span, "the JSON has a %s where a list must be", value_type_name(v));
  return value_items(v);
}

static void read_node(const Reader *r, void *at, Value v) { *(Node **)at = node_at(r, v); }
static void read_nodes(const Reader *r, void *at, Value v) {
  NodeVec out = {0};
  for each (Value, x, items(r, v)) vec_push(&out, node_at(r, *x));
  *(NodeVec *)at = out;
}
static const char *text_or_null(const Reader *r, Value v) {
  return value_is_none(v) ? NULL : str_intern(value_as_text(v, "a text of the JSON", r->span));
}
static void read_text(const Reader *r, void *at, Value v) {
  *(const char **)at = text_or_null(r, v);
}
static void read_texts(const Reader *r, void *at, Value v) {
  StrVec out = {0};
  for each (Value, x, items(r, v)) vec_push(&out, text_or_null(r, *x));
  *(StrVec *)at = out;
}
static void read_ints(const Reader *r, void *at, Value v) {
  IntVec out = {0};
  for each (Value, x, items(r, v)) vec_push(&out, (int)number(r, *x, INT_MIN, INT_MAX));
  *(IntVec *)at = out;
}
static void read_dtype(const Reader *r, void *at, Value v) {
  *(DataType *)at = to_dtype(v, r->span);
}
static void read_bool(const Reader *r, void *at, Value v) { *(bool *)at = value_truth(v, r->span); }
static void read_int(const Reader *r, void *at, Value v) {
  *(int *)at = (int)number(r, v, INT_MIN, INT_MAX);
}
static void read_int64(const Reader *r, void *at, Value v) {
  *(int64_t *)at = number(r, v, INT64_MIN, INT64_MAX);
}
static void read_double(const Reader *r, void *at, Value v) {
  *(double *)at = value_as_float(v, "a field", r->span);
}
static void read_enum(const Reader *r, void *at, Value v) {
  *(unsigned *)at = (unsigned)number(r, v, 0, UINT_MAX);
}
static void read_data(const Reader *r, void *at, Value v) {
  *(const ConstData **)at = AS(Constant, tensor_of_text(v, r->span).node)->data;
}

static const struct {
  const char *type;
  void (*read)(const Reader *r, void *at, Value v);
} types[] = {
    {"Node *", read_node},
    {"NodeVec", read_nodes},
    {"const char *", read_text},
    {"StrVec", read_texts},
    {"IntVec", read_ints},
    {"DataType", read_dtype},
    {"bool", read_bool},
    {"int", read_int},
    {"int64_t", read_int64},
    {"double", read_double},
    {"IterKind", read_enum},
    {"LoopKind", read_enum},
    {"const ConstData *", read_data},
};

static void read_field(const Reader *r, Node *n, const NodeField *f, Value v) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (str_same(types[i].type, f->type)) return types[i].read(r, (char *)n + f->offset, v);
  BUG("fields of type %s are not read", f->type);
}

static int kind_named(const char *name) {
  for (int kind = 0; kind < NK_COUNT; kind++)
    if (str_same(node_kind_name((NodeKind)kind), name)) return kind;
  return NK_COUNT;
}

static Value get(Value entry, const char *key) { return value_dict_get(entry, value_str(key)); }

/* Operators are told from each other by their address: there is one node of each name. */
static Value read_entry_node(const Reader *r, Value entry) {
  const char *name = value_as_text(get(entry, "kind"), "a node's kind", r->span);
  int kind = kind_named(name);
  if (kind == NK_COUNT)
    raise("ValueError", r->span, "there are no nodes of kind '%s' in this version", name);
  if (kind == NK_Op)
    return value_node(op_get(value_as_text(get(entry, "name"), "an operator's name", r->span)));
  Node *n = gc_alloc(node_size((NodeKind)kind));
  Value dtype = get(entry, "dtype");
  *n = (Node){(uint16_t)kind, dtype.type ? to_dtype(dtype, r->span) : VOID_TYPE, r->span};
  for each (NodeField, f, node_fields((NodeKind)kind)) {
    Value v = get(entry, f->name);
    if (!v.type) raise("ValueError", r->span, "%s has a field '%s' in this version", name, f->name);
    read_field(r, n, f, v);
  }
  const char *misfit = node_misfit(n);
  if (misfit)
    raise("ValueError", r->span, "the JSON has a %s whose field '%s' holds what it must not", name,
          misfit);
  return value_node(n);
}

/* For values around nodes: what scripts know as no node is none. */
static Value value_at(const Reader *r, Value number) {
  Value v = made_at(r, number);
  return value_is_node(v, NK_TargetAttr) ? from_attr(v.node) : v;
}

static Value read_dict(const Reader *r, Value numbers) {
  Value out = value_dict();
  const ValueVec *at = items(r, numbers);
  for (int i = 0; i + 1 < at->len; i += 2)
    value_dict_set(out, value_at(r, at->at[i]), value_at(r, at->at[i + 1]), r->span);
  return out;
}

static ValueVec read_items(const Reader *r, Value numbers) {
  ValueVec out = {0};
  for each (Value, x, items(r, numbers)) vec_push(&out, value_at(r, *x));
  return out;
}

static Value read_entry(const Reader *r, Value entry) {
  if (entry.type != &type_dict)
    raise("ValueError", r->span, "the JSON has a %s where an entry must be",
          value_type_name(entry));
  if (get(entry, "kind").type) return read_entry_node(r, entry);
  if (get(entry, "list").type) return value_list(read_items(r, get(entry, "list")));
  if (get(entry, "tuple").type) return value_tuple(read_items(r, get(entry, "tuple")));
  if (get(entry, "dict").type) return read_dict(r, get(entry, "dict"));
  Value v = get(entry, "value");
  if (!v.type) raise("ValueError", r->span, "the JSON has an entry that is nothing");
  return v;
}

Value nodes_from_json(Value entries, Value sum, Span span) {
  if (entries.type != &type_list || !value_items(entries)->len ||
      !value_equal(sum_of(entries, span), sum))
    raise("ValueError", span, "the JSON is not as save_json wrote it: its crc32 differs");
  Reader r = {.span = span};
  for each (Value, e, value_items(entries)) {
    Value v = read_entry(&r, *e);
    vec_push(&r.made, v);
  }
  return value_at(&r, value_int(r.made.len - 1));
}
