/* node_class.c -- classes of IR nodes: tir.For(...) makes one, isinstance(n, tir.For) tests for it,
 * n.extent takes it apart. node_class.def lists them. */
#include "lang/dialect/node_class.h"
#include "lang/dialect/stdlib.h"

enum { FAMILY_NONE = -1 };

typedef struct NodeClass {
  const char *ns;
  int kind;           /* a NodeKind; NK_COUNT for a whole family */
  int family;         /* FAMILY_NONE: every node */
  const char *fields; /* as in node_class.def */
  Builtin maker;      /* .fn NULL: made from its fields, or by the name `under` */
  const char *under;  /* the namespace whose function of this name makes it, or NULL */
  const char *flag;   /* a field that must be true, or NULL */
} NodeClass;

static const NodeClass classes[] = {
#define CLASS(ns, name, kind, fields)                                                              \
  {#ns, NK_##kind, FAMILY_NONE, fields, {name, NULL, NULL, NULL}, NULL, NULL},
#define CLASS_BY(ns, name, kind, fields, signature, fn)                                            \
  CLASS_IF(ns, name, kind, NULL, fields, signature, fn)
#define CLASS_IF(ns, name, kind, flag, fields, signature, fn)                                      \
  {#ns, NK_##kind, FAMILY_NONE, fields, {name, signature, fn, "makes the node"}, NULL, flag},
#define CLASS_OF(ns, name, kind, fields)                                                           \
  {#ns, NK_##kind, FAMILY_NONE, fields, {name, NULL, NULL, NULL}, #ns, NULL},
#define CLASS_FAMILY(ns, name, family)                                                             \
  {#ns, NK_COUNT, FAMILY_##family, "", {name, NULL, NULL, NULL}, NULL, NULL},
#include "lang/dialect/node_class.def"
};
enum { CLASSES = sizeof classes / sizeof *classes };

/* ---- the fields of a row ---- */

typedef struct ClassField {
  const char *name, *sort; /* not terminated */
  size_t name_len, sort_len;
  const NodeField *field; /* NULL at the end of the row */
  bool optional;
} ClassField;

static const NodeField *find_field(int kind, const char *name, size_t len) {
  for each (NodeField, f, node_fields((NodeKind)kind))
    if (strlen(f->name) == len && memcmp(f->name, name, len) == 0) return f;
  BUG("node_class.def: %s has no field '%.*s'", node_kind_name((NodeKind)kind), (int)len, name);
}

/* The field at *at, which goes on to the next. */
static ClassField next_field(const NodeClass *c, const char **at) {
  const char *p = *at + strspn(*at, ", ");
  ClassField f = {.name = p, .name_len = strcspn(p, "=:?,")};
  if (!*p) return f;
  const char *field = p;
  size_t len = f.name_len;
  p += len;
  if (*p == '=') field = ++p, len = strcspn(p, ":?,"), p += len;
  if (*p == ':') f.sort = ++p, f.sort_len = strcspn(p, "?,"), p += f.sort_len;
  if (*p == '?') f.optional = true, p++;
  f.field = find_field(c->kind, field, len);
  *at = p;
  return f;
}

static bool is_called(const ClassField *f, const char *name) {
  return strlen(name) == f->name_len && memcmp(f->name, name, f->name_len) == 0;
}

static const NodeClass *class_of(const Node *n) {
  for (int i = 0; i < CLASSES; i++)
    if (classes[i].kind == n->kind) return &classes[i];
  return NULL;
}

Value node_field_attr(const Node *n, const char *name) {
  const NodeClass *c = class_of(n);
  if (!c) return value_absent();
  const char *at = c->fields;
  for (ClassField f; (f = next_field(c, &at)).field;)
    if (is_called(&f, name)) return field_get(n, f.field);
  return value_absent();
}

void node_field_names(const Node *n, StrVec *out) {
  const NodeClass *c = class_of(n);
  const char *at = c ? c->fields : "";
  for (ClassField f; c && (f = next_field(c, &at)).field;)
    vec_push(out, str_intern_n(f.name, f.name_len));
}

/* ---- making ---- */

static const char *name_of_field(const ClassField *f) { return str_intern_n(f->name, f->name_len); }

/* The argument for the i-th field: by position or by name; absent if there is none. */
static Value argument(const CallArgs *args, int i, const char *name) {
  if (i < args->positional.len) return args->positional.at[i];
  for (int k = 0; k < args->names.len; k++)
    if (str_same(args->names.at[k], name)) return args->named.at[k];
  return value_absent();
}

static void check_names(const NodeClass *c, const CallArgs *args, int fields) {
  if (args->positional.len > fields)
    raise("TypeError", args->span, "%s takes %d fields, %d are given", c->maker.name, fields,
          args->positional.len);
  for each (const char *, name, &args->names) {
    if (str_same(*name, "span")) continue;
    StrVec names = {0};
    const char *at = c->fields;
    bool known = false;
    for (ClassField f; (f = next_field(c, &at)).field;) {
      known |= is_called(&f, *name);
      vec_push(&names, name_of_field(&f));
    }
    const char *near = str_near(*name, names.at, names.len);
    if (!known)
      raise("TypeError", args->span, "%s has no field '%s'%s", c->maker.name, *name,
            near ? str_format(" (did you mean '%s'?)", near) : "");
  }
}

static Value make_from_fields(const NodeClass *c, CallArgs *args) {
  char room[256] = {0};
  REQUIRE(node_size((NodeKind)c->kind) <= sizeof room, "node %s is small", c->maker.name);
  Node *n = (Node *)(void *)gc_copy(room, node_size((NodeKind)c->kind));
  *n = (Node){(uint16_t)c->kind, VOID_TYPE, args->span};
  const char *at = c->fields;
  int i = 0;
  for (ClassField f; (f = next_field(c, &at)).field; i++) {
    Value v = argument(args, i, name_of_field(&f));
    if (f.optional && (!v.type || value_is_none(v))) continue;
    if (!v.type)
      raise("TypeError", args->span, "%s needs its field '%s'", c->maker.name, name_of_field(&f));
    field_set(n, f.field, f.sort, f.sort_len, v, c->maker.name, args->span);
  }
  check_names(c, args, i);
  return value_node(n);
}

/* A class takes span= everywhere, and says nothing of it. */
static CallArgs without_span(const CallArgs *args) {
  CallArgs out = *args;
  out.names = (StrVec){0};
  out.named = (ValueVec){0};
  out.spans.len = 0;
  for (int i = 0; i < args->names.len; i++) {
    if (str_same(args->names.at[i], "span")) continue;
    vec_push(&out.names, args->names.at[i]);
    vec_push(&out.named, args->named.at[i]);
  }
  return out;
}

static Value make_unchecked(const NodeClass *c, CallArgs *args) {
  if (c->kind == NK_COUNT)
    raise("TypeError", args->span, "%s is a family of classes: make one of them", c->maker.name);
  CallArgs plain = without_span(args);
  if (c->maker.fn) return value_call(value_builtin(&c->maker), &plain);
  if (!c->under) return make_from_fields(c, args);
  Value ns = str_same(c->under, "tir") ? tensor_namespace() : graph_namespace();
  return value_call(value_get_attr(ns, str_intern(c->maker.name), args->span), &plain);
}

/* Passes and the printer take for granted that a node is whole: one that is not is told here. */
static Value make(Value class, CallArgs *args) {
  const NodeClass *c = class.object;
  Value made = make_unchecked(c, args);
  const char *misfit = made.type == &type_node ? node_misfit(made.node) : NULL;
  if (misfit)
    raise("TypeError", args->span, "%s: the field '%s' holds what it must not", c->maker.name,
          misfit);
  return made;
}

/* ---- as values ---- */

static bool has_instance(Value class, Value v) {
  const NodeClass *c = class.object;
  if (v.type != &type_node) return false;
  if (c->kind == NK_COUNT)
    return c->family == FAMILY_NONE || (int)node_family(v.node->kind) == c->family;
  if (v.node->kind != c->kind) return false;
  return !c->flag || value_truth(field_get(v.node, find_field(c->kind, c->flag, strlen(c->flag))),
                                 v.node->span);
}

static void class_repr(Value v, Str *out) {
  const NodeClass *c = v.object;
  str_printf(out, "<class '%s.%s'>", c->ns, c->maker.name);
}

static Value op_names(BuiltinCall *call) {
  (void)call;
  ValueVec names = {0};
  for (int i = 0; i < stdlib_name_count; i++)
    if (str_begins(stdlib_names[i].name, "relax."))
      vec_push(&names, value_str(stdlib_names[i].name));
  return value_list(names);
}

/* Functions of a class rather than of its nodes. */
static const struct {
  const char *class;
  Builtin function;
} statics[] = {
    {"IndexMap",
     {"from_func", "mapping_function, ndim=None, inverse_index_map=None, *, index_dtype='int64'",
      index_map_from_func, "an index map from a lambda"}},
    {"IndexMap",
     {"from_func_with_separators",
      "mapping_function, ndim=None, inverse_index_map=None, *, index_dtype='int64'",
      index_map_from_func_with_separators,
      "an index map from a lambda, and where physical dimensions end"}},
    {"IRModule", {"from_expr", "expr", module_from_expr, "the module of one function"}},
    {"Op", {"get", "op_name", ir_op, "the operator of that name"}},
    {"Op", {"list_op_names", "", op_names, "the names of all operators of graphs"}},
    {"Range", {"from_min_extent", "min_value, extent", range_from_min_extent, "a Range"}},
};

static const struct {
  const char *class, *name;
  int value;
} constants[] = {
    {"IterVar", "DataPar", ITER_SPATIAL},
    {"IterVar", "CommReduce", ITER_REDUCE},
    {"IterVar", "Ordered", ITER_SCAN},
    {"IterVar", "Opaque", ITER_OPAQUE},
    {"IterVar", "ThreadIndex", ITER_THREAD},
    {"Buffer", "READ", 1},
    {"Buffer", "WRITE", 2},
};

static Value class_attr(Value v, const char *name, Span span) {
  (void)span;
  const char *class = ((const NodeClass *)v.object)->maker.name;
  if (str_same(name, "__name__") || str_same(name, "__qualname__")) return value_str(class);
  for (size_t i = 0; i < sizeof statics / sizeof *statics; i++)
    if (str_same(statics[i].class, class) && str_same(statics[i].function.name, name))
      return value_builtin(&statics[i].function);
  if (str_same(class, "IndexMap") && str_same(name, "AXIS_SEPARATOR"))
    return value_str("axis_separator");
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
    if (str_same(constants[i].class, class) && str_same(constants[i].name, name))
      return value_int(constants[i].value);
  return value_absent();
}

static bool class_equal(Value a, Value b) { return a.object == b.object; }
static uint64_t class_hash(Value v) { return (uint64_t)(uintptr_t)v.object >> 3; }

const ValueType type_node_class = {.name = "type",
                                   .repr = class_repr,
                                   .call = make,
                                   .get_attr = class_attr,
                                   .has_instance = has_instance,
                                   .binary = class_binary,
                                   .equal = class_equal,
                                   .hash = class_hash};

static Value class_value(const NodeClass *c) {
  return value_of(&type_node_class, (void *)(uintptr_t)c);
}

/* Asked for every `relax.Call` of a pass that is written in the language: names are compared once,
 * when they are interned. */
Value node_class_find(const char *ns, const char *name) {
  static const char *names[CLASSES];
  if (!names[0])
    for (int i = 0; i < CLASSES; i++) names[i] = str_intern(classes[i].maker.name);
  name = str_intern(name);
  for (int i = 0; i < CLASSES; i++)
    if (names[i] == name && str_same(classes[i].ns, ns)) return class_value(&classes[i]);
  return value_absent();
}

void node_class_names(const char *ns, StrVec *out) {
  for (int i = 0; i < CLASSES; i++)
    if (str_same(classes[i].ns, ns)) vec_push(out, classes[i].maker.name);
}

Value node_class_of(const Node *n) {
  Value found = value_absent();
  for (int i = 0; i < CLASSES; i++) {
    Value class = class_value(&classes[i]);
    if (classes[i].kind == n->kind && has_instance(class, value_node((Node *)(uintptr_t)n)))
      found = class;
  }
  return found;
}
