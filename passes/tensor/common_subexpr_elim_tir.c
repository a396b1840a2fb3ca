/* common_subexpr_elim_tir.c -- what is computed more than once is computed once, into a variable.
 *
 * In:  functions without blocks (after LowerOpaqueBlock).
 * Out: an expression that a statement holds twice, all told, and whose variables are defined
 * outside it, stands in a let before the statement: as far out as its variables allow, so also
 * before a loop. Larger expressions come first. Not: loads, and what may fail (divisions by what
 * may be 0), but for those that the statement itself computes in any case: they must not move out
 * of a branch, a loop or an arm of T.if_then_else, and what a load gives changes with memory.
 * Ramps, by which machine code knows contiguous accesses; the shapes of buffers and allocations. */
#include "ir/support/stack.h"
#include "passes/tensor/tensor.h"
#include <stdlib.h>

enum { MAX_VISITS = 2000000 }; /* of expressions of a function: then the rest stays as it is */

/* What is known of an expression. */
typedef struct Info {
  uint64_t hash;
  int size;
  bool inner;  /* mentions what is defined in the statement */
  bool risky;  /* loads, or may fail: only what the statement itself computes */
  bool opaque; /* has effects, or is not for us to move */
} Info;

/* Expressions that are equal. */
typedef struct Group {
  Node *expr;
  int count, size;
  bool certain; /* one of them is computed in any case */
  bool risky;
  Node *var; /* what stands for them, once that is decided */
  int order; /* of choice */
  struct Group *next;
} Group;

typedef struct Cse {
  Node *stmt;
  Map inner;  /* defined in it */
  Map infos;  /* Node to Info */
  Map groups; /* hash to Group */
  VEC(Group *) chosen;
  bool own; /* in an expression of the statement itself */
  int *visits;
} Cse;

/* ---- expressions ---- */

static uint64_t mixed(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

static bool is_movable_call(Node *n) {
  const Intrin *in = intrin_of(AS(Call, n)->op);
  return in && in->effect == EFFECT_PURE && in->takes != TAKES_ANY;
}

static bool is_candidate_kind(Node *n) {
  if (dtype_is_bool(n->dtype)) return false;
  switch (n->kind) {
  case NK_Call: return is_movable_call(n);
  case NK_BufferLoad:
  case NK_Cast:
  case NK_Select: return true;
  default: return node_is_binary(n->kind);
  }
}

static Group *group_of(Cse *c, Node *n, const Info *info) {
  const void *key = (const void *)(uintptr_t)(info->hash | 1);
  for (Group *g = map_get(&c->groups, key); g; g = g->next)
    if (g->size == info->size && node_equal(g->expr, n, false, NULL)) return g;
  Group *g = NEW(Group, .expr = n, .size = info->size, .risky = info->risky,
                 .next = map_get(&c->groups, key));
  map_set(&c->groups, key, g);
  return g;
}

typedef struct Visit {
  Cse *c;
  Info info;
  bool certain;
} Visit;

static Info visit(Cse *c, Node *n, bool certain);

static void visit_child(void *context, Node *child) {
  Visit *v = context;
  Info x = {.hash = (uint64_t)(uintptr_t)child, .size = 1, .inner = map_has(&v->c->inner, child)};
  if (IS(Buffer, child)) x.inner |= map_has(&v->c->inner, AS(Buffer, child)->data);
  else if (node_is_expr(child)) x = visit(v->c, child, v->certain);
  else if (!IS(Op, child)) x.opaque = true;
  v->info.hash = mixed(v->info.hash, x.hash);
  v->info.size += x.size;
  v->info.inner |= x.inner;
  v->info.risky |= x.risky;
  v->info.opaque |= x.opaque;
}

/* The operands that are computed whenever the expression is. */
static void visit_children(Visit *v, Node *n) {
  bool lazy = n->kind == NK_And || n->kind == NK_Or || is_intrin_call(n, "if_then_else");
  if (!lazy) {
    node_each_child(n, visit_child, v);
    return;
  }
  Node *first = IS(Call, n) ? AS(Call, n)->args.at[0] : ((Binary *)(void *)n)->a;
  bool certain = v->certain;
  visit_child(v, first);
  v->certain = false;
  if (!IS(Call, n)) visit_child(v, ((Binary *)(void *)n)->b);
  for (int i = 1; IS(Call, n) && i < 3; i++) visit_child(v, AS(Call, n)->args.at[i]);
  v->certain = certain;
}

static uint64_t leaf_hash(Node *n) {
  if (IS(IntImm, n)) return (uint64_t)AS(IntImm, n)->value;
  if (!IS(FloatImm, n)) return (uint64_t)(uintptr_t)n;
  uint64_t bits;
  memcpy(&bits, &AS(FloatImm, n)->value, sizeof bits);
  return bits;
}

static bool is_leaf(Node *n) {
  return IS(Var, n) || IS(IntImm, n) || IS(FloatImm, n) || IS(StringImm, n);
}

/* Counts the expression and all below it. */
static Info visit(Cse *c, Node *n, bool certain) {
  Visit v = {.c = c, .certain = certain};
  DataType t = n->dtype;
  v.info.hash = mixed(n->kind, (uint64_t)t.code << 32 | (uint64_t)t.bits << 16 | (uint16_t)t.lanes);
  v.info.size = 1;
  if (is_leaf(n)) {
    v.info.hash = mixed(v.info.hash, leaf_hash(n));
    v.info.inner = map_has(&c->inner, n);
    return v.info;
  }
  if (--*c->visits < 0 || stack_is_low()) return (Info){.size = 1, .opaque = true};
  visit_children(&v, n);
  v.info.risky |= IS(BufferLoad, n) || divides_by_unknown(n);
  v.info.opaque |= IS(Let, n) || IS(Reduce, n) ||
                   (IS(Call, n) && !is_movable_call(n) && !is_intrin_call(n, "if_then_else"));
  map_set(&c->infos, n, gc_copy(&v.info, sizeof v.info));
  bool counts = !v.info.inner && !v.info.opaque && (!v.info.risky || c->own);
  if (!counts || !is_candidate_kind(n)) return v.info;
  Group *g = group_of(c, n, &v.info);
  g->count++;
  g->certain |= certain && c->own;
  return v.info;
}

/* ---- what a statement computes twice ---- */

static WalkResult enter(Walker *w, Node *n) {
  Cse *c = w->context;
  if (IS(Buffer, n) || IS(Var, n)) return WALK_PRUNE;
  if (node_is_expr(n)) {
    visit(c, n, true);
    return WALK_PRUNE;
  }
  if (node_family(n->kind) == FAMILY_STMT) c->own = n == c->stmt && !IS(While, n);
  return WALK_ON;
}

/* Is this one to be replaced? */
static Group *chosen_group(Cse *c, Node *n, bool is_own) {
  Info *info = is_leaf(n) ? NULL : map_get(&c->infos, n);
  if (!info || info->inner || info->opaque || !is_candidate_kind(n)) return NULL;
  if (info->risky && !is_own) return NULL;
  Group *g = group_of(c, n, info);
  return g->count > 1 && (g->certain || !g->risky) ? g : NULL;
}

/* The largest ones; what stands in them waits for the next round. */
static WalkResult choose(Walker *w, Node *n) {
  Cse *c = w->context;
  if (IS(Buffer, n) || IS(Var, n)) return WALK_PRUNE;
  if (node_family(n->kind) == FAMILY_STMT) c->own = n == c->stmt && !IS(While, n);
  Group *g = node_is_expr(n) ? chosen_group(c, n, c->own) : NULL;
  if (!g) return WALK_ON;
  if (!g->var) {
    g->order = c->chosen.len;
    g->var = var_new("cse_v", g->expr->dtype, g->expr->span);
    vec_push(&c->chosen, g);
  }
  return WALK_PRUNE;
}

static Node *replace(Mutator *m, Node *n) {
  Cse *c = m->context;
  if (IS(Buffer, n) || IS(Var, n)) return n;
  if (node_is_expr(n)) {
    Group *g = chosen_group(c, n, c->own);
    return g && g->var ? g->var : mutate_children(m, n);
  }
  bool own = c->own;
  if (node_family(n->kind) == FAMILY_STMT) c->own = n == c->stmt && !IS(While, n);
  Node *out = mutate_children(m, n);
  c->own = own;
  return out;
}

static int by_size(const void *a, const void *b) {
  const Group *x = *(Group *const *)a, *y = *(Group *const *)b;
  return x->size != y->size ? y->size - x->size : y->order - x->order;
}

/* The lets of what was chosen, around the statement: what stands in others comes before them. */
static Node *with_lets(Cse *c) {
  Mutator m = {.rewrite = replace, .context = c};
  Node *body = mutate(&m, c->stmt);
  c->own = true;
  qsort(c->chosen.at, (size_t)c->chosen.len, sizeof *c->chosen.at, by_size);
  for each (Group *, g, &c->chosen)
    body = MAKE(LetStmt, (*g)->expr->span, VOID_TYPE, .value = mutate_children(&m, (*g)->expr),
                .var = (*g)->var, .body = body);
  return body;
}

/* The statement with what it computes twice in lets before it; itself if there is nothing. */
static Node *eliminated(Node *stmt, int *visits) {
  Cse c = {.stmt = stmt, .visits = visits};
  add_definitions(stmt, &c.inner);
  Walker w = {.enter = enter, .context = &c};
  walk(&w, stmt);
  bool found = false;
  for each (MapEntry, e, &c.groups)
    for (Group *g = e->value; g; g = g->next) found |= g->count > 1;
  if (!found) return stmt;
  w.enter = choose;
  walk(&w, stmt);
  return c.chosen.len ? with_lets(&c) : stmt;
}

/* ---- all statements, outer ones first ---- */

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  if (IS(DeclBuffer, n) || IS(Allocate, n)) return mutate_children(m, n);
  Node *now = n, *before;
  int *visits = m->context;
  do {
    before = now;
    now = *visits > 0 ? eliminated(before, visits) : before;
  } while (now != before);
  return mutate_children(m, now);
}

static WalkResult find_block(Walker *w, Node *n) {
  (void)w;
  return IS(Block, n) ? WALK_STOP : node_is_expr(n) ? WALK_PRUNE : WALK_ON;
}

Node *pass_common_subexpr_elim_tir(Node *n, const PassContext *context) {
  Walker w = {.enter = find_block};
  int visits = MAX_VISITS;
  if (!pass_option_int(context, "enable_cse_tir") || !walk(&w, AS(PrimFunc, n)->body)) return n;
  Mutator m = {.rewrite = rewrite, .context = &visits};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
