/* equal.c -- structural equality up to the names of bound variables.
 *
 * A definition (DEF) pairs the two variables: they stand for each other from there on. What a
 * definition itself mentions for the first time (the dims in a buffer's shape, in a parameter's
 * struct info) is defined with it. Pairs of shared parts are compared once. */
#include "ir/ir_impl.h"
#include "ir/support/stack.h"

/* The way from the root to where we are: fields on the C stack, innermost first. */
typedef struct Path {
  const struct Path *outer;
  const char *field; /* NULL: a key */
  const char *key;
  int index; /* -1: not an element of a vector */
} Path;

typedef struct Pair {
  Node *a, *b;
} Pair;

/* A set of pairs: open addressing. */
typedef struct PairSet {
  Pair *at;
  size_t len, cap;
} PairSet;

typedef struct Equal {
  Map left, right; /* variables and buffers of one side to those of the other */
  PairSet same;    /* large parts that are known to be equal */
  long steps;
  int defining; /* inside a definition: unmapped variables are mapped */
  bool map_free_vars, tell;
  const Path *path;
  const char *why; /* the first difference, if `tell` */
} Equal;

static bool equal(Equal *e, Node *a, Node *b);

/* ---- pairs known to be equal ---- */

static Pair *pair_slot(PairSet *s, Node *a, Node *b) {
  uint64_t h = (uint64_t)(uintptr_t)a * 0x9e3779b97f4a7c15u + (uint64_t)(uintptr_t)b;
  h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
  size_t i = (size_t)(h >> 20) & (s->cap - 1);
  while (s->at[i].a && !(s->at[i].a == a && s->at[i].b == b)) i = (i + 1) & (s->cap - 1);
  return &s->at[i];
}

static bool pair_has(PairSet *s, Node *a, Node *b) {
  return s->len && pair_slot(s, a, b)->a != NULL;
}

static void pair_add(PairSet *s, Node *a, Node *b) {
  if (s->len * 2 >= s->cap) {
    PairSet more = {.cap = s->cap ? s->cap * 2 : 256, .len = s->len};
    more.at = NEW_ARRAY(Pair, more.cap);
    for (size_t i = 0; i < s->cap; i++)
      if (s->at[i].a) *pair_slot(&more, s->at[i].a, s->at[i].b) = s->at[i];
    *s = more;
  }
  Pair *slot = pair_slot(s, a, b);
  s->len += slot->a == NULL;
  *slot = (Pair){a, b};
}

/* ---- telling the difference ---- */

static const char *path_text(const Path *p) {
  VEC(const Path *) parts = {0};
  Str s = {0};
  for (; p; p = p->outer) vec_push(&parts, p);
  while (parts.len) {
    p = vec_pop(&parts);
    if (p->field) str_printf(&s, "%s%s", s.len ? "." : "", p->field);
    else str_printf(&s, "[%s]", text_of_string(p->key));
    if (p->index >= 0) str_printf(&s, "[%d]", p->index);
  }
  return str_text(&s);
}

static bool differ_text(Equal *e, const char *a, const char *b) {
  if (!e->tell || e->why) return false;
  const char *path = path_text(e->path);
  e->why = str_format("%s%s%s and %s", path, *path ? ": " : "", a, b);
  return false;
}

static WalkResult count_node(Walker *w, Node *n) {
  enum { MANY = 200 };
  (void)n;
  return ++*(int *)w->context > MANY ? WALK_STOP : WALK_ON;
}

/* One line of at most 60 characters. Functions, statements and what is large by their kinds. */
static const char *short_text(Node *n) {
  enum { WIDTH = 60 };
  if (!n) return "nothing";
  int count = 0;
  Walker w = {.enter = count_node, .context = &count};
  NodeFamily f = node_family(n->kind);
  bool printed = f != FAMILY_STMT && f != FAMILY_FUNC && f != FAMILY_PART && !IS(Function, n) &&
                 !IS(SeqExpr, n) && !IS(RelaxIf, n) && walk(&w, n);
  if (!printed) return str_format("a %s", node_kind_name(n->kind));
  const char *text = ir_print(n, NULL);
  size_t len = strcspn(text, "\n");
  bool whole = len <= WIDTH && (!text[len] || !text[len + 1]);
  return whole ? str_copy_n(text, len)
               : str_format("%.*s...", (int)(len < WIDTH - 3 ? len : WIDTH - 3), text);
}

static bool differ(Equal *e, Node *a, Node *b) {
  if (!e->tell || e->why) return false;
  if (a && b && a->kind == b->kind && !dtype_equal(a->dtype, b->dtype))
    return differ_text(e, str_format("%s of %s", short_text(a), dtype_text(a->dtype)),
                       str_format("%s of %s", short_text(b), dtype_text(b->dtype)));
  return differ_text(e, short_text(a), short_text(b));
}

/* ---- fields ---- */

static bool equal_at(Equal *e, const char *field, int index, Node *a, Node *b) {
  Path here = {e->path, field, NULL, index};
  e->path = &here;
  bool same = equal(e, a, b);
  e->path = here.outer;
  return same;
}

static bool differ_at(Equal *e, const char *field, const char *a, const char *b) {
  Path here = {e->path, field, NULL, -1};
  e->path = &here;
  differ_text(e, a, b);
  e->path = here.outer;
  return false;
}

static bool differ_length(Equal *e, const char *field, int a, int b) {
  if (!e->tell) return false;
  return differ_at(e, field, str_format("%d element%s", a, a == 1 ? "" : "s"), text_of_int(b));
}

static bool equal_vec(Equal *e, const char *field, NodeVec a, NodeVec b) {
  if (a.len != b.len) return differ_length(e, field, a.len, b.len);
  for (int i = 0; i < a.len; i++)
    if (!equal_at(e, field, i, a.at[i], b.at[i])) return false;
  return true;
}

static bool define(Equal *e, const char *field, int index, Node *a, Node *b);

static bool define_vec(Equal *e, const char *field, NodeVec a, NodeVec b) {
  if (a.len != b.len) return differ_length(e, field, a.len, b.len);
  for (int i = 0; i < a.len; i++)
    if (!define(e, field, i, a.at[i], b.at[i])) return false;
  return true;
}

static bool equal_ints(Equal *e, const char *field, IntVec a, IntVec b) {
  if (a.len != b.len) return differ_length(e, field, a.len, b.len);
  bool same = !a.len || memcmp(a.at, b.at, sizeof *a.at * (size_t)a.len) == 0;
  return same || differ_at(e, field, "some integers", "others");
}

static bool equal_texts(Equal *e, const char *field, StrVec a, StrVec b) {
  if (a.len != b.len) return differ_length(e, field, a.len, b.len);
  for (int i = 0; i < a.len; i++)
    if (!str_same(a.at[i], b.at[i]))
      return differ_at(e, field, text_of_string(a.at[i]), text_of_string(b.at[i]));
  return true;
}

/* All NaN are one, as for immediates: text has no others. */
static bool same_numbers(const ConstData *a, const ConstData *b) {
  size_t size = (size_t)dtype_nbytes(a->elem);
  if (!dtype_is_float(a->elem) || a->elem.lanes != 1) return false;
  for (size_t i = 0; i < a->nbytes; i += size)
    if (const_element_bits(a, i) != const_element_bits(b, i)) return false;
  return true;
}

static bool equal_data(Equal *e, const char *field, const ConstData *a, const ConstData *b) {
  if (a == b) return true;
  bool same =
      a && b && dtype_equal(a->elem, b->elem) && a->ndim == b->ndim && a->nbytes == b->nbytes;
  if (same && a->ndim) same = memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->ndim) == 0;
  if (!same) return differ_at(e, field, "data of one dtype and shape", "of another");
  if (!a->nbytes || memcmp(a->bytes, b->bytes, a->nbytes) == 0) return true;
  if (same_numbers(a, b)) return true;
  return differ_at(e, field, "some numbers", "others");
}

#define SAME_BYTES(x) (memcmp(&a->x, &b->x, sizeof a->x) == 0)
#define EQUAL_SUB(x)                                                                               \
  if (!equal_at(e, #x, -1, a->x, b->x)) return false;
#define EQUAL_SUBS(x)                                                                              \
  if (!equal_vec(e, #x, a->x, b->x)) return false;
#define EQUAL_DEF(x)                                                                               \
  if (!define(e, #x, -1, a->x, b->x)) return false;
#define EQUAL_DEFS(x)                                                                              \
  if (!define_vec(e, #x, a->x, b->x)) return false;
#define EQUAL_USE(x) EQUAL_SUB(x)
#define EQUAL_INFO(x)
#define EQUAL_NAME(x)
#define EQUAL_VAL(x)                                                                               \
  if (!SAME_BYTES(x)) return e->tell ? differ_at(e, #x, TEXT_OF(a->x), TEXT_OF(b->x)) : false;
#define EQUAL_STR(x)                                                                               \
  if (!str_same(a->x, b->x))                                                                       \
    return e->tell ? differ_at(e, #x, text_of_string(a->x), text_of_string(b->x)) : false;
#define EQUAL_INTS(x)                                                                              \
  if (!equal_ints(e, #x, a->x, b->x)) return false;
#define EQUAL_STRS(x)                                                                              \
  if (!equal_texts(e, #x, a->x, b->x)) return false;
#define EQUAL_TENSOR(x)                                                                            \
  if (!equal_data(e, #x, a->x, b->x)) return false;

#define NODE(Kind, family, spelling)                                                               \
  static bool equal_##Kind(Equal *e, Node *left, Node *right) {                                    \
    Kind *a = (Kind *)(void *)left, *b = (Kind *)(void *)right;                                    \
    (void)e, (void)a, (void)b;
#define FIELD(type, name, role) EQUAL_##role(name)
#define END(Kind)                                                                                  \
  return true;                                                                                     \
  }
#include "ir/node.def"

static bool (*const equal_kind[NK_COUNT])(Equal *e, Node *a, Node *b) = {
#define NODE(Kind, family, spelling) [NK_##Kind] = equal_##Kind,
#define FIELD(type, name, role)
#define END(Kind)
#include "ir/node.def"
};

/* ---- variables, graph variables, buffers ---- */

static bool is_bindable(const Node *n) {
  return n->kind == NK_Var || n->kind == NK_Buffer || n->kind == NK_RelaxVar;
}

/* A pair that replaces another one: what was found equal under the old one is open again. */
static void pair(Equal *e, Node *a, Node *b) {
  Node *to = map_get(&e->left, a), *from = map_get(&e->right, b);
  if ((to && to != b) || (from && from != a)) e->same = (PairSet){0};
  map_set(&e->left, a, b);
  map_set(&e->right, b, a);
}

/* Fields, and struct info, as parts of a definition; then the two are a pair. */
static bool equal_definition(Equal *e, Node *a, Node *b) {
  e->defining++;
  bool same = equal_kind[a->kind](e, a, b);
  if (same && IS(RelaxVar, a))
    same = equal_at(e, "sinfo", -1, AS(RelaxVar, a)->sinfo, AS(RelaxVar, b)->sinfo);
  e->defining--;
  if (same) pair(e, a, b);
  return same;
}

static bool same_head(Node *a, Node *b) {
  return a->kind == b->kind && dtype_equal(a->dtype, b->dtype);
}

/* A mention: what is paired is equal to its partner only. What is met for the first time is paired
 * in a definition, or if free variables may be renamed. A free buffer is equal to another one of
 * the same form over the same pointer. */
static bool equal_mention(Equal *e, Node *a, Node *b) {
  Node *to = map_get(&e->left, a), *from = map_get(&e->right, b);
  if (to || from) return (to == b && from == a) || differ(e, a, b);
  if (!same_head(a, b)) return differ(e, a, b);
  if (e->defining || e->map_free_vars) return equal_definition(e, a, b);
  if (IS(Buffer, a) ? !equal_kind[NK_Buffer](e, a, b) : a != b) return differ(e, a, b);
  pair(e, a, b);
  return true;
}

/* The variable bound at a definition may have been bound before, in another scope. */
static bool define(Equal *e, const char *field, int index, Node *a, Node *b) {
  Path here = {e->path, field, NULL, index};
  e->path = &here;
  bool same;
  if (!a || !b) same = a == b || differ(e, a, b);
  else if (!is_bindable(a) || !same_head(a, b)) same = equal(e, a, b);
  else
    same = (map_get(&e->left, a) == b && map_get(&e->right, b) == a) || equal_definition(e, a, b);
  e->path = here.outer;
  return same;
}

/* ---- kinds with rules of their own ---- */

/* The struct info of a match_cast defines its variables. */
static bool equal_match_cast(Equal *e, MatchCast *a, MatchCast *b) {
  if (!equal_at(e, "value", -1, a->value, b->value) || !define(e, "var", -1, a->var, b->var))
    return false;
  e->defining++;
  bool same = equal_at(e, "sinfo", -1, a->sinfo, b->sinfo);
  e->defining--;
  return same;
}

/* A result type may name dims that the body finds: they are paired when they are met first. */
static bool equal_functions(Equal *e, Function *a, Function *b) {
  if (!define_vec(e, "params", a->params, b->params)) return false;
  e->defining++;
  bool same = equal_at(e, "ret_sinfo", -1, a->ret_sinfo, b->ret_sinfo);
  e->defining--;
  return same && equal_kind[NK_Function](e, &a->node, &b->node);
}

/* A local function may name itself: its variable is bound first. */
static bool equal_binding(Equal *e, VarBinding *a, VarBinding *b) {
  if (!IS(Function, a->value) || !IS(Function, b->value) || !same_head(a->var, b->var))
    return equal_kind[NK_VarBinding](e, &a->node, &b->node);
  pair(e, a->var, b->var);
  return equal_at(e, "value", -1, a->value, b->value);
}

static bool equal_under_key(Equal *e, const char *field, const char *key, Node *a, Node *b) {
  Path outer = {e->path, field, NULL, -1}, here = {field ? &outer : e->path, NULL, key, -1};
  const Path *old = e->path;
  e->path = &here;
  bool same = equal(e, a, b);
  e->path = old;
  return same;
}

/* Functions are matched by name, and share no variables. */
static bool equal_modules(Equal *e, IRModule *a, IRModule *b) {
  Map index = module_index(&b->node);
  for (int i = 0; i < a->functions.len; i++) {
    const char *name = AS(GlobalVar, a->globals.at[i])->name;
    int at = (int)(intptr_t)map_get(&index, str_intern(name)) - 1;
    if (at < 0) return differ_text(e, str_format("function '%s'", name), "no such function");
    if (a->functions.at[i] == b->functions.at[at]) continue;
    e->left = e->right = (Map){0};
    e->same = (PairSet){0};
    if (!equal_under_key(e, "functions", name, a->functions.at[i], b->functions.at[at]))
      return false;
  }
  index = module_index(&a->node);
  for each (Node *, g, &b->globals)
    if (!map_get(&index, str_intern(AS(GlobalVar, *g)->name)))
      return differ_text(e, "no such function",
                         str_format("function '%s'", AS(GlobalVar, *g)->name));
  return equal_at(e, "attrs", -1, a->attrs, b->attrs) &&
         equal_at(e, "global_infos", -1, a->global_infos, b->global_infos);
}

/* Dictionaries are equal whatever the order of their keys. */
static bool equal_dicts(Equal *e, Dict *a, Dict *b) {
  for (int i = 0; i < a->keys.len; i++) {
    Node *other = dict_get(&b->node, a->keys.at[i]);
    if (!other) return differ_text(e, str_format("key \"%s\"", a->keys.at[i]), "no such key");
    if (!equal_under_key(e, NULL, a->keys.at[i], a->values.at[i], other)) return false;
  }
  for (int i = 0; a->keys.len != b->keys.len && i < b->keys.len; i++)
    if (!dict_get(&a->node, b->keys.at[i]))
      return differ_text(e, "no such key", str_format("key \"%s\"", b->keys.at[i]));
  return true;
}

static bool is_empty_dict(const Node *n) {
  return !n || (IS(Dict, n) && !((const Dict *)(const void *)n)->keys.len);
}

/* ---- any two nodes ---- */

typedef struct Errand {
  Equal *e;
  Node *a, *b;
  bool same;
} Errand;

static void equal_errand(void *context) {
  Errand *r = context;
  r->same = equal(r->e, r->a, r->b);
}

/* Nodes of one kind and dtype. An answer "yes" holds for the rest of the run: a part has no
 * variables left to pair. Small parts are faster compared again than looked up. */
static bool equal_nodes(Equal *e, Node *a, Node *b) {
  enum { LARGE = 16 };
  if (pair_has(&e->same, a, b)) return true;
  long before = e->steps;
  bool same = IS(MatchCast, a)    ? equal_match_cast(e, AS(MatchCast, a), AS(MatchCast, b))
              : IS(Function, a)   ? equal_functions(e, AS(Function, a), AS(Function, b))
              : IS(VarBinding, a) ? equal_binding(e, AS(VarBinding, a), AS(VarBinding, b))
                                  : equal_kind[a->kind](e, a, b);
  if (same && e->steps - before >= LARGE) pair_add(&e->same, a, b);
  return same;
}

static bool equal(Equal *e, Node *a, Node *b) {
  e->steps++;
  if (!a || !b) return (is_empty_dict(a) && is_empty_dict(b)) || differ(e, a, b);
  if (stack_is_low()) {
    Errand r = {e, a, b, false};
    stack_run(equal_errand, &r);
    return r.same;
  }
  if (is_bindable(a)) return equal_mention(e, a, b);
  if (!same_head(a, b)) return differ(e, a, b);
  switch (a->kind) {
  case NK_IRModule: return equal_modules(e, AS(IRModule, a), AS(IRModule, b));
  case NK_Dict: return equal_dicts(e, AS(Dict, a), AS(Dict, b));
  default: return equal_nodes(e, a, b);
  }
}

bool node_equal(Node *a, Node *b, bool map_free_vars, const char **why) {
  if (a == b) return true;
  Equal e = {.map_free_vars = map_free_vars, .tell = why != NULL};
  if (equal(&e, a, b)) return true;
  if (why) *why = e.why ? e.why : "the roots";
  return false;
}
