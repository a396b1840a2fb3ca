/* node_field.c -- fields of IR nodes as values of the language, and back: by their C type, and on
 * the way in by a sort that tells what may stand there. */
#include "lang/dialect/node_class.h"

static void *place(const Node *n, const NodeField *f) { return (char *)(uintptr_t)n + f->offset; }

/* ---- out ---- */

static Value node_or_none(Node *n) {
  if (!n) return value_none();
  return node_family(n->kind) == FAMILY_ATTR ? from_attr(n) : value_node(n);
}

static Value text_or_none(const char *text) { return text ? value_str(text) : value_none(); }

static Value get_node(const void *at) { return node_or_none(*(Node *const *)at); }
static Value get_nodes(const void *at) {
  ValueVec items = {0};
  for each (Node *, n, (const NodeVec *)at) vec_push(&items, node_or_none(*n));
  return value_list(items);
}
static Value get_text(const void *at) { return text_or_none(*(const char *const *)at); }
static Value get_texts(const void *at) {
  ValueVec items = {0};
  for each (const char *, t, (const StrVec *)at) vec_push(&items, text_or_none(*t));
  return value_list(items);
}
static Value get_ints(const void *at) {
  ValueVec items = {0};
  for each (int, i, (const IntVec *)at) vec_push(&items, value_int(*i));
  return value_list(items);
}
static Value get_dtype(const void *at) {
  DataType t = *(const DataType *)at;
  return value_str(dtype_is_void(t) ? "void" : dtype_text(t));
}
static Value get_bool(const void *at) { return value_bool(*(const bool *)at); }
static Value get_int(const void *at) { return value_int(*(const int *)at); }
static Value get_int64(const void *at) { return value_int(*(const int64_t *)at); }
static Value get_double(const void *at) { return value_float(*(const double *)at); }
static Value get_enum(const void *at) { return value_int((int64_t) * (const unsigned *)at); }
static Value get_data(const void *at) { return constant_value(*(const ConstData *const *)at); }

/* ---- in: sorts of nodes ---- */

typedef struct Sort {
  const char *name, *doc;
  NodeKind kind; /* NK_COUNT: by `family` or `convert` */
  Node *(*convert)(Value v, Span span);
} Sort;

static Node *as_stmt(Value v, Span span) {
  (void)span;
  bool is = v.type == &type_node && node_family(v.node->kind) == FAMILY_STMT;
  return is ? v.node : NULL;
}
static Node *as_binding(Value v, Span span) {
  (void)span;
  return value_is_node(v, NK_VarBinding) || value_is_node(v, NK_MatchCast) ? v.node : NULL;
}
static Node *as_axis(Value v, Span span) {
  (void)span;
  return v.type == &type_node && node_is_axis(v.node) ? v.node : NULL;
}
static Node *as_any(Value v, Span span) { return v.type == &type_node ? v.node : to_expr(v, span); }

static const Sort sorts[] = {
    {"expr", "a scalar expression", NK_COUNT, to_expr},
    {"stmt", "a statement", NK_COUNT, as_stmt},
    {"relax", "a graph expression", NK_COUNT, to_relax},
    {"sinfo", "struct info", NK_COUNT, to_sinfo},
    {"dict", "a dict", NK_COUNT, dict_from_value},
    {"binding", "a binding", NK_COUNT, as_binding},
    {"any", "a node", NK_COUNT, as_any},
    {"var", "a variable", NK_Var, NULL},
    {"relax_var", "a graph variable", NK_RelaxVar, NULL},
    {"buffer", "a buffer", NK_Buffer, NULL},
    {"range", "a Range", NK_Range, NULL},
    {"region", "a BufferRegion", NK_BufferRegion, NULL},
    {"match", "a MatchBufferRegion", NK_MatchBufferRegion, NULL},
    {"axis", "an IterVar with a domain ('dom')", NK_COUNT, as_axis},
    {"block", "a Block", NK_Block, NULL},
    {"index_map", "an IndexMap", NK_IndexMap, NULL},
};

static const Sort *find_sort(const char *name, size_t len) {
  for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++)
    if (strlen(sorts[i].name) == len && memcmp(sorts[i].name, name, len) == 0) return &sorts[i];
  BUG("there is no sort '%.*s'", (int)len, name);
}

/* What a value is being set, for messages. */
typedef struct Setting {
  const Sort *sort; /* NULL for fields that hold no nodes */
  const char *class, *field;
  Span span;
} Setting;

static Node *node_of_sort(const Setting *s, Value v) {
  const Sort *sort = s->sort;
  Node *n = sort->convert                                        ? sort->convert(v, s->span)
            : v.type == &type_node && v.node->kind == sort->kind ? v.node
                                                                 : NULL;
  if (n) return n;
  if (v.type == &type_poison) raise(ERROR_POISONED, s->span, "an earlier error");
  bool lacks_dom = value_is_node(v, NK_IterVar);
  raise("TypeError", s->span, "'%s' of %s must be %s, found %s%s", s->field, s->class, sort->doc,
        value_type_name(v), lacks_dom && sort->convert == as_axis ? " without one" : "");
}

static const char *what(const Setting *s) { return str_format("'%s' of %s", s->field, s->class); }

static void set_node(void *at, const Setting *s, Value v) { *(Node **)at = node_of_sort(s, v); }
static void set_nodes(void *at, const Setting *s, Value v) {
  NodeVec out = {0};
  if (!value_is_none(v)) {
    ValueVec items = value_to_vec(v, s->span);
    for each (Value, x, &items) vec_push(&out, node_of_sort(s, *x));
  }
  *(NodeVec *)at = out;
}
static void set_text(void *at, const Setting *s, Value v) {
  if (value_is_node(v, NK_IterVar)) { /* the thread of a loop */
    const char *tag = AS(IterVar, v.node)->thread_tag;
    if (!tag) raise("TypeError", s->span, "%s must be a str, found IterVar without one", what(s));
    v = value_str(tag);
  }
  *(const char **)at = str_intern(value_as_text(v, what(s), s->span));
}
static void set_dtype(void *at, const Setting *s, Value v) {
  *(DataType *)at = to_dtype(v, s->span);
}
static void set_bool(void *at, const Setting *s, Value v) { *(bool *)at = value_truth(v, s->span); }
static int64_t int_between(const Setting *s, Value v, int64_t min, int64_t max) {
  int64_t i = value_as_int(v, what(s), s->span);
  if (i < min || i > max)
    raise("ValueError", s->span, "%s must be from %lld to %lld, found %lld", what(s),
          (long long)min, (long long)max, (long long)i);
  return i;
}
static void set_int(void *at, const Setting *s, Value v) {
  *(int *)at = (int)int_between(s, v, INT32_MIN, INT32_MAX);
}
static void set_iter_kind(void *at, const Setting *s, Value v) {
  *(IterKind *)at = (IterKind)int_between(s, v, ITER_SPATIAL, ITER_OPAQUE);
}
static void set_loop_kind(void *at, const Setting *s, Value v) {
  *(LoopKind *)at = (LoopKind)int_between(s, v, LOOP_SERIAL, LOOP_THREAD);
}

/* ---- the C types of node.def ---- */

static const struct {
  const char *type;
  Value (*get)(const void *at);
  void (*set)(void *at, const Setting *s, Value v); /* NULL: no class is made with it */
} types[] = {
    {"Node *", get_node, set_node},
    {"NodeVec", get_nodes, set_nodes},
    {"const char *", get_text, set_text},
    {"StrVec", get_texts, NULL},
    {"IntVec", get_ints, NULL},
    {"DataType", get_dtype, set_dtype},
    {"bool", get_bool, set_bool},
    {"int", get_int, set_int},
    {"int64_t", get_int64, NULL},
    {"double", get_double, NULL},
    {"IterKind", get_enum, set_iter_kind},
    {"LoopKind", get_enum, set_loop_kind},
    {"const ConstData *", get_data, NULL},
};

static size_t type_row(const NodeField *f) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].type, f->type) == 0) return i;
  BUG("fields of type %s have no values", f->type);
}

Value field_get(const Node *n, const NodeField *f) { return types[type_row(f)].get(place(n, f)); }

void field_set(Node *n, const NodeField *f, const char *sort, size_t len, Value v,
               const char *class, Span span) {
  size_t row = type_row(f);
  Setting s = {len ? find_sort(sort, len) : NULL, class, f->name, span};
  REQUIRE(types[row].set, "a field of type %s can be set", f->type);
  types[row].set(place(n, f), &s, v);
}
