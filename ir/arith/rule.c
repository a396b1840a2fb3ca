/* rule.c -- applies the identities of rule.def: match at the root, then build. */
#include "ir/arith/arith_impl.h"

typedef enum { PAT_ANY, PAT_CONST, PAT_NUMBER, PAT_NODE } PatKind;

typedef struct Pat {
  PatKind pat;
  int index;     /* of PAT_ANY and PAT_CONST */
  bool is_bool;  /* of PAT_NUMBER */
  int64_t value; /* of PAT_NUMBER */
  NodeKind kind; /* of PAT_NODE */
  const struct Pat *a, *b, *c;
} Pat;

enum { VARIABLES = 4, CONSTANTS = 3 };

/* What the names of a pattern stand for. */
typedef struct Match {
  Node *any[VARIABLES];
  Node *constant[CONSTANTS];
  DataType operand; /* dtype of what the root, or the Not under it, works on */
} Match;

static int64_t constant_of(const Match *m, int i) {
  int64_t v = 0;
  if (m->constant[i - 1]) expr_is_splat_int(m->constant[i - 1], &v);
  return v;
}

/* Constants of uint64 are kept as the int64 of the same bits. */
static bool are_ordered(const Match *m, int i, int j) {
  int64_t p = constant_of(m, i), q = constant_of(m, j);
  return m->operand.code == DTYPE_UINT ? (uint64_t)p <= (uint64_t)q : p <= q;
}

/* ---- the rules ---- */

#define INTS          (dtype_is_int(m->operand))
#define BOOLS         (dtype_is_bool(m->operand))
#define c(i)          constant_of(m, i)
#define ORDERED(i, j) are_ordered(m, i, j)
#define RULE(name, from, to, when)                                                                 \
  static bool when_##name(const Match *m) {                                                        \
    (void)m;                                                                                       \
    return when;                                                                                   \
  }
#include "ir/arith/rule.def"
#undef c

#define ANY(i)           (&(const Pat){.pat = PAT_ANY, .index = i})
#define CONSTANT(i)      (&(const Pat){.pat = PAT_CONST, .index = i})
#define NUMBER(v, bool_) (&(const Pat){.pat = PAT_NUMBER, .value = v, .is_bool = bool_})
#define PAT2(Kind, p, q) (&(const Pat){.pat = PAT_NODE, .kind = NK_##Kind, .a = p, .b = q})
#define X                ANY(0)
#define Y                ANY(1)
#define Z                ANY(2)
#define W                ANY(3)
#define C1               CONSTANT(0)
#define C2               CONSTANT(1)
#define C3               CONSTANT(2)
#define ZERO             NUMBER(0, false)
#define FALSE            NUMBER(0, true)
#define TRUE             NUMBER(1, true)
#define not(p) (&(const Pat){.pat = PAT_NODE, .kind = NK_Not, .a = p})
#define select(p, q, r) (&(const Pat){.pat = PAT_NODE, .kind = NK_Select, .a = p, .b = q, .c = r})
/* It takes these for operators: */
/* clang-format off */
#define and(p, q)      PAT2(And, p, q)
#define or(p, q)       PAT2(Or, p, q)
/* clang-format on */
#define eq(p, q)        PAT2(EQ, p, q)
#define ne(p, q)        PAT2(NE, p, q)
#define lt(p, q)        PAT2(LT, p, q)
#define le(p, q)        PAT2(LE, p, q)
#define gt(p, q)        PAT2(GT, p, q)
#define ge(p, q)        PAT2(GE, p, q)
#define add(p, q)       PAT2(Add, p, q)
#define sub(p, q)       PAT2(Sub, p, q)
#define mul(p, q)       PAT2(Mul, p, q)
#define min(p, q)       PAT2(Min, p, q)
#define max(p, q)       PAT2(Max, p, q)
#define div(p, q)       PAT2(Div, p, q)
#define mod(p, q)       PAT2(Mod, p, q)
#define floordiv(p, q)  PAT2(FloorDiv, p, q)
#define floormod(p, q)  PAT2(FloorMod, p, q)

typedef struct Rule {
  const Pat *from, *to;
  bool (*when)(const Match *m);
} Rule;

static const Rule rules[] = {
#define RULE(name, from, to, when) {from, to, when_##name},
#include "ir/arith/rule.def"
};
enum { RULES = sizeof rules / sizeof *rules };

/* ---- matching ---- */

static bool is_commutative(NodeKind kind) {
  switch (kind) {
  case NK_Add:
  case NK_Mul:
  case NK_Min:
  case NK_Max:
  case NK_EQ:
  case NK_NE:
  case NK_And:
  case NK_Or: return true;
  default: return false;
  }
}

static bool matches(const Pat *p, Node *n, Match *m);

static bool match_slot(Node **slot, Node *n) {
  if (*slot) return node_equal(*slot, n, false, NULL);
  *slot = n;
  return true;
}

static bool match_pair(const Pat *p, const Pat *q, Node *a, Node *b, Match *m) {
  Match before = *m;
  if (matches(p, a, m) && matches(q, b, m)) return true;
  *m = before;
  return false;
}

static bool match_node(const Pat *p, Node *n, Match *m) {
  if (n->kind != p->kind) return false;
  if (IS(Not, n)) return matches(p->a, AS(Not, n)->a, m);
  if (IS(Select, n)) {
    Select *s = AS(Select, n);
    return matches(p->a, s->cond, m) && matches(p->b, s->then, m) && matches(p->c, s->orelse, m);
  }
  Binary *b = as_binary(n);
  if (match_pair(p->a, p->b, b->a, b->b, m)) return true;
  return is_commutative(n->kind) && match_pair(p->a, p->b, b->b, b->a, m);
}

static bool matches(const Pat *p, Node *n, Match *m) {
  int64_t v;
  switch (p->pat) {
  case PAT_ANY: return match_slot(&m->any[p->index], n);
  case PAT_CONST:
    return expr_is_splat_int(n, &v) && dtype_is_int(n->dtype) &&
           match_slot(&m->constant[p->index], n);
  case PAT_NUMBER:
    return expr_is_splat_int(n, &v) && v == p->value && dtype_is_bool(n->dtype) == p->is_bool;
  default: return match_node(p, n, m);
  }
}

/* ---- building ---- */

static Node *build(const Pat *p, const Match *m, const Node *root);

static Node *number(const Pat *p, const Node *root) {
  DataType t = dtype_element(root->dtype);
  return expr_broadcast(int_imm(t, p->value, root->span), root->dtype.lanes, root->span);
}

/* Constants must fold, scalars and splats alike. */
static Node *build_binary(const Pat *p, const Match *m, const Node *root) {
  Node *a = build(p->a, m, root), *b = build(p->b, m, root);
  if (!a || !b) return NULL;
  int64_t x, y;
  if (!expr_is_splat_int(a, &x) || !expr_is_splat_int(b, &y))
    return arith_binary(p->kind, a, b, root->span);
  Node *sa = IS(Broadcast, a) ? AS(Broadcast, a)->value : a,
       *sb = IS(Broadcast, b) ? AS(Broadcast, b)->value : b;
  Node *folded = fold_binary(p->kind, sa, sb, root->span);
  return folded ? expr_broadcast(folded, a->dtype.lanes, root->span) : NULL;
}

static Node *build(const Pat *p, const Match *m, const Node *root) {
  switch (p->pat) {
  case PAT_ANY: return m->any[p->index];
  case PAT_CONST: return m->constant[p->index];
  case PAT_NUMBER: return number(p, root);
  default: break;
  }
  if (p->kind == NK_Not) {
    Node *a = build(p->a, m, root);
    return a ? expr_not(a, root->span) : NULL;
  }
  if (p->kind == NK_Select)
    return expr_select(build(p->a, m, root), build(p->b, m, root), build(p->c, m, root),
                       root->span);
  return build_binary(p, m, root);
}

/* What the conditions INTS and BOOLS are about. */
static DataType operand_dtype(Node *n) {
  if (IS(Not, n)) n = AS(Not, n)->a;
  return node_is_binary(n->kind) ? as_binary(n)->a->dtype : n->dtype;
}

Node *simplify_by_rules(Node *e) {
  for (int i = 0; i < RULES; i++) {
    if (rules[i].from->kind != (NodeKind)e->kind) continue;
    Match m = {.operand = operand_dtype(e)};
    if (!matches(rules[i].from, e, &m) || !rules[i].when(&m)) continue;
    Node *out = build(rules[i].to, &m, e);
    if (!out || !dtype_equal(out->dtype, e->dtype)) continue;
    bool again = node_is_binary(out->kind) || IS(Not, out) || IS(Select, out);
    return again ? simplify_by_rules(out) : out;
  }
  return e;
}
