/* equal.c -- structural equality up to the names of bound variables.
 *
 * A DEF opens a renaming: the two variables stand for each other from there on. What a definition itself mentions
 * for the first time (the dims in a buffer's shape, in a parameter's struct info) is defined with it. */
#include "ir/ir.h"

typedef struct Equal {
  Map left, right;   /* variables and buffers of one side to those of the other */
  Map same;          /* pairs known equal: left node to right node, of nodes without free variables left to bind */
  int defining;      /* inside a definition: unmapped variables are mapped */
  bool map_free_vars;
  StrVec path;       /* to where we are, outermost first */
  bool want_path;
  const char *why;   /* the first difference */
} Equal;

static bool equal(Equal *e, Node *a, Node *b);

static const char *short_text(Node *n) {
  if (!n) return "nothing";
  const char *text = ir_print(n, NULL);
  size_t len = strcspn(text, "\n");
  return len <= 60 && !text[len] ? text : str_format("%.*s...", (int)(len < 57 ? len : 57), text);
}

static bool differ(Equal *e, Node *a, Node *b) {
  if (!e->want_path || e->why) return false;
  Str s = {0};
  for each (const char *, part, &e->path) str_printf(&s, "%s%s", s.len && **part != '[' ? "." : "", *part);
  str_printf(&s, "%s%s and %s", s.len ? ": " : "", short_text(a), short_text(b));
  e->why = str_text(&s);
  return false;
}

static bool differ_value(Equal *e, const char *a, const char *b) {
  if (!e->want_path || e->why) return false;
  Str s = {0};
  for each (const char *, part, &e->path) str_printf(&s, "%s%s", s.len && **part != '[' ? "." : "", *part);
  str_printf(&s, "%s%s and %s", s.len ? ": " : "", a, b);
  e->why = str_text(&s);
  return false;
}

static void enter(Equal *e, const char *part) {
  if (e->want_path) vec_push(&e->path, part);
}
static bool leave(Equal *e, bool result) {
  if (e->want_path) e->path.len--;
  return result;
}

static bool equal_vec(Equal *e, NodeVec a, NodeVec b, const char *field) {
  if (a.len != b.len) {
    enter(e, field);
    return leave(e, differ_value(e, str_format("%d elements", a.len), str_format("%d", b.len)));
  }
  for (int i = 0; i < a.len; i++) {
    enter(e, e->want_path ? str_format("%s[%d]", field, i) : field);
    if (!leave(e, equal(e, a.at[i], b.at[i]))) return false;
  }
  return true;
}

static bool equal_strs(StrVec a, StrVec b) {
  if (a.len != b.len) return false;
  for (int i = 0; i < a.len; i++)
    if (!str_same(a.at[i], b.at[i])) return false;
  return true;
}

static bool equal_data(const ConstData *a, const ConstData *b) {
  if (a == b) return true;
  return dtype_equal(a->elem, b->elem) && a->ndim == b->ndim && a->nbytes == b->nbytes &&
         memcmp(a->shape, b->shape, sizeof(int64_t) * (size_t)a->ndim) == 0 && memcmp(a->bytes, b->bytes, a->nbytes) == 0;
}

static bool define(Equal *e, Node *a, Node *b);

/* The fields of two nodes of one kind. */
static bool equal_fields(Equal *e, Node *node, Node *other) {
#define FIELD_EQUAL(x, test) enter(e, #x); if (!leave(e, (test) || differ(e, node, other))) return false;
#define EQUAL_SUB(x)    enter(e, #x); if (!leave(e, equal(e, a->x, b->x))) return false;
#define EQUAL_SUBS(x)   if (!equal_vec(e, a->x, b->x, #x)) return false;
#define EQUAL_DEF(x)    enter(e, #x); if (!leave(e, define(e, a->x, b->x))) return false;
#define EQUAL_DEFS(x)   e->defining++; if (!equal_vec(e, a->x, b->x, #x)) return e->defining--, false; e->defining--;
#define EQUAL_USE(x)    EQUAL_SUB(x)
#define EQUAL_INFO(x)
#define EQUAL_VAL(x)    FIELD_EQUAL(x, memcmp(&a->x, &b->x, sizeof a->x) == 0)
#define EQUAL_INTS(x)   FIELD_EQUAL(x, a->x.len == b->x.len && (!a->x.len || memcmp(a->x.at, b->x.at, sizeof(int) * (size_t)a->x.len) == 0))
#define EQUAL_STR(x)    FIELD_EQUAL(x, str_same(a->x, b->x))
#define EQUAL_STRS(x)   FIELD_EQUAL(x, equal_strs(a->x, b->x))
#define EQUAL_NAME(x)
#define EQUAL_TENSOR(x) FIELD_EQUAL(x, equal_data(a->x, b->x))
  switch (node->kind) {
#define NODE(Kind, family, spelling) case NK_##Kind: { Kind *a = (Kind *)(void *)node, *b = (Kind *)(void *)other; (void)a, (void)b;
#define FIELD(type, name, role)      EQUAL_##role(name)
#define END(Kind)                    return true; }
#include "ir/node.def"
  }
  BUG("no node kind %d", node->kind);
}

static bool is_bindable(const Node *n) { return n->kind == NK_Var || n->kind == NK_Buffer || n->kind == NK_RelaxVar; }

static void pair(Equal *e, Node *a, Node *b) {
  map_set(&e->left, a, b);
  map_set(&e->right, b, a);
}

/* A bound thing is equal to what it was paired with; met for the first time in a definition, it is compared and paired. */
static bool equal_bindable(Equal *e, Node *a, Node *b) {
  Node *to = map_get(&e->left, a), *from = map_get(&e->right, b);
  if (to || from) return (to == b && from == a) || differ(e, a, b);
  bool may_pair = e->defining || IS(Buffer, a) || e->map_free_vars;
  if (!may_pair) return a == b || differ(e, a, b);
  if (IS(Buffer, a) || IS(RelaxVar, a)) e->defining++;
  bool same = equal_fields(e, a, b);
  if (same && IS(RelaxVar, a)) {
    enter(e, "struct_info");
    same = leave(e, equal(e, AS(RelaxVar, a)->sinfo, AS(RelaxVar, b)->sinfo));
  }
  if (IS(Buffer, a) || IS(RelaxVar, a)) e->defining--;
  if (same) pair(e, a, b);
  return same;
}

static bool define(Equal *e, Node *a, Node *b) {
  e->defining++;
  bool same = equal(e, a, b);
  e->defining--;
  return same;
}

static bool equal_modules(Equal *e, IRModule *a, IRModule *b) {
  Map index = module_index(&b->node);
  for (int i = 0; i < a->functions.len; i++) {
    const char *name = AS(GlobalVar, a->globals.at[i])->name;
    int at = (int)(intptr_t)map_get(&index, str_intern(name)) - 1;
    if (at < 0) return differ_value(e, str_format("function '%s'", name), "no such function");
    enter(e, str_format("functions[\"%s\"]", name));
    if (!leave(e, equal(e, a->functions.at[i], b->functions.at[at]))) return false;
  }
  if (a->functions.len != b->functions.len)
    return differ_value(e, str_format("%d functions", a->functions.len), str_format("%d", b->functions.len));
  return equal(e, a->attrs, b->attrs) && equal(e, a->global_infos, b->global_infos);
}

/* Dictionaries are equal whatever the order of their keys. */
static bool equal_dicts(Equal *e, Dict *a, Dict *b) {
  for (int i = 0; i < a->keys.len; i++) {
    Node *other = dict_get(&b->node, a->keys.at[i]);
    if (!other) return differ_value(e, str_format("key \"%s\"", a->keys.at[i]), "no such key");
    enter(e, str_format("[\"%s\"]", a->keys.at[i]));
    if (!leave(e, equal(e, a->values.at[i], other))) return false;
  }
  return a->keys.len == b->keys.len || differ(e, &a->node, &b->node);
}

static bool equal(Equal *e, Node *a, Node *b) {
  if (!a || !b) return a == b || differ(e, a, b);
  if (a->kind != b->kind || !dtype_equal(a->dtype, b->dtype)) return differ(e, a, b);
  if (is_bindable(a)) return equal_bindable(e, a, b);
  if (IS(GlobalVar, a)) return str_same(AS(GlobalVar, a)->name, AS(GlobalVar, b)->name) || differ(e, a, b);
  if (IS(IRModule, a)) return equal_modules(e, AS(IRModule, a), AS(IRModule, b));
  if (IS(Dict, a)) return equal_dicts(e, AS(Dict, a), AS(Dict, b));
  /* Shared parts are compared once. The answer holds for the rest of the run: pairings only grow. */
  bool shared = node_family(a->kind) == FAMILY_PRIM_EXPR || node_family(a->kind) == FAMILY_SINFO;
  if (shared && map_get(&e->same, a) == b) return true;
  if (!equal_fields(e, a, b)) return false;
  if (shared) map_set(&e->same, a, b);
  return true;
}

bool node_equal(Node *a, Node *b, bool map_free_vars, const char **why) {
  Equal quick = {.map_free_vars = map_free_vars};
  if (equal(&quick, a, b)) return true;
  if (!why) return false;
  Equal slow = {.map_free_vars = map_free_vars, .want_path = true}; /* paths are built only to be told */
  equal(&slow, a, b);
  *why = slow.why ? slow.why : "the root";
  return false;
}
