/* pattern.c -- the matcher of dataflow patterns: a list of goals, each of which is met or becomes
 * others. An alternative is tried with all that is left to do, so that the next one has its turn
 * where something later fails. Variables are followed to their values where a pattern is about
 * values. */
#include "passes/graph/pattern.h"
#include "passes/graph/pattern_rewrite.h"

const char *const pattern_kind_names[PATTERN_KINDS] = {
#define PATTERN(NAME, doc) #NAME,
#include "passes/graph/pattern.def"
};

/* ---- what was found ---- */

PatternMark pattern_mark(const PatternMatch *m) {
  return (PatternMark){m->patterns.len, m->vars.len, m->pending.len};
}

bool pattern_undo(PatternMatch *m, PatternMark mark) {
  m->patterns.len = m->exprs.len = mark.found;
  m->vars.len = m->dims.len = mark.dims;
  m->pending.len = mark.pending;
  return false;
}

Node *pattern_found(const PatternMatch *m, const Pattern *p) {
  for (int i = 0; i < m->patterns.len; i++)
    if (m->patterns.at[i] == p) return m->exprs.at[i];
  return NULL;
}

Node *pattern_value(const PatternMatch *m, Node *expr) {
  for (Node *v; IS(RelaxVar, expr) && (v = map_get(m->values, expr)); expr = v) continue;
  return expr;
}

/* ---- dims and struct info ---- */

static Node *dim_found(const PatternMatch *m, Node *var) {
  for (int i = 0; i < m->vars.len; i++)
    if (m->vars.at[i] == var) return m->dims.at[i];
  return NULL;
}

static bool fits_dim(PatternMatch *m, Node *want, Node *dim) {
  if (IS(Var, want)) {
    Node *known = dim_found(m, want);
    if (known) return node_equal(known, dim, false, NULL);
    vec_push(&m->vars, want);
    vec_push(&m->dims, dim);
    return true;
  }
  Map map = {0};
  for (int i = 0; i < m->vars.len; i++) map_set(&map, m->vars.at[i], m->dims.at[i]);
  int64_t x, y;
  if (expr_is_const_int(want, &x) && expr_is_const_int(dim, &y)) return x == y;
  return node_equal(substitute(want, &map), dim, false, NULL);
}

static bool fits_dims(PatternMatch *m, NodeVec want, NodeVec dims) {
  if (want.len != dims.len) return false;
  for (int i = 0; i < want.len; i++)
    if (!fits_dim(m, want.at[i], dims.at[i])) return false;
  return true;
}

static bool fits_tensor(PatternMatch *m, TensorStructInfo *want, Node *info) {
  NodeVec dims, known;
  if (!IS(TensorStructInfo, info)) return false;
  TensorStructInfo *t = AS(TensorStructInfo, info);
  if (!dtype_is_void(want->elem) && !dtype_equal(want->elem, t->elem)) return false;
  if (sinfo_tensor_shape(&want->node, &dims))
    return sinfo_tensor_shape(info, &known) && fits_dims(m, dims, known);
  return want->ndim < 0 || want->ndim == t->ndim;
}

static bool fits_info(PatternMatch *m, Node *want, Node *info) {
  if (!info) return false;
  switch (want->kind) {
  case NK_TensorStructInfo: return fits_tensor(m, AS(TensorStructInfo, want), info);
  case NK_ShapeStructInfo: {
    ShapeStructInfo *w = AS(ShapeStructInfo, want);
    if (!IS(ShapeStructInfo, info)) return false;
    if (!w->known) return w->ndim < 0 || w->ndim == AS(ShapeStructInfo, info)->ndim;
    return AS(ShapeStructInfo, info)->known &&
           fits_dims(m, w->values, AS(ShapeStructInfo, info)->values);
  }
  case NK_TupleStructInfo: {
    if (!IS(TupleStructInfo, info)) return false;
    NodeVec a = AS(TupleStructInfo, want)->fields, b = AS(TupleStructInfo, info)->fields;
    if (a.len != b.len) return false;
    for (int i = 0; i < a.len; i++)
      if (!fits_info(m, a.at[i], b.at[i])) return false;
    return true;
  }
  default: return sinfo_check(want, info, NULL) == SINFO_YES;
  }
}

static bool same_shape(Node *a, Node *b) {
  NodeVec x, y;
  if (!sinfo_tensor_shape(sinfo_of(a), &x) || !sinfo_tensor_shape(sinfo_of(b), &y)) return false;
  for (int i = 0; i < x.len && x.len == y.len; i++)
    if (!node_equal(x.at[i], y.at[i], false, NULL)) return false;
  return x.len == y.len;
}

bool pattern_holds(const PatternMatch *m) {
  for each (Pattern *, p, &m->pending) {
    Node *a = pattern_found(m, (*p)->parts.at[0]), *b = pattern_found(m, (*p)->parts.at[1]);
    if (!a || !b || !same_shape(a, b)) return false;
  }
  return true;
}

/* ---- attributes ---- */

static bool same_attr(Node *a, Node *b) {
  int64_t x, y;
  if (!a || !b) return a == b;
  if (expr_is_const_int(a, &x) && expr_is_const_int(b, &y)) return x == y;
  if (IS(Array, a) && IS(Array, b)) {
    NodeVec p = AS(Array, a)->items, q = AS(Array, b)->items;
    for (int i = 0; i < p.len && p.len == q.len; i++)
      if (!same_attr(p.at[i], q.at[i])) return false;
    return p.len == q.len;
  }
  return node_equal(a, b, false, NULL);
}

static bool has_attrs(Node *want, Node *expr) {
  Node *attrs = IS(RelaxCall, expr)  ? AS(RelaxCall, expr)->attrs
                : IS(Function, expr) ? AS(Function, expr)->attrs
                                     : NULL;
  Dict *d = AS(Dict, want);
  for (int i = 0; i < d->keys.len; i++)
    if (!same_attr(d->values.at[i], dict_get(attrs, d->keys.at[i]))) return false;
  return true;
}

/* ---- the kinds ---- */

static bool is_named(const Pattern *p, const char *name) {
  return !p->name || str_same(p->name, name);
}

/* Equal expressions; in shapes, variables of the pattern stand for any dims. */
static bool match_expr(Node *want, Node *expr, PatternMatch *m) {
  if (IS(ShapeExpr, want) && IS(ShapeExpr, expr))
    return fits_dims(m, AS(ShapeExpr, want)->values, AS(ShapeExpr, expr)->values);
  if (IS(PrimValue, want) && IS(PrimValue, expr))
    return fits_dim(m, AS(PrimValue, want)->value, AS(PrimValue, expr)->value);
  return node_equal(want, expr, false, NULL);
}

static bool match_leaf(const Pattern *p, Node *expr, PatternMatch *m) {
  switch (p->kind) {
  case PATTERN_IS_WILDCARD: return true;
  case PATTERN_IS_VAR: return IS(RelaxVar, expr) && is_named(p, AS(RelaxVar, expr)->name);
  case PATTERN_IS_DATAFLOW_VAR:
    return IS(RelaxVar, expr) && AS(RelaxVar, expr)->is_dataflow &&
           is_named(p, AS(RelaxVar, expr)->name);
  case PATTERN_IS_GLOBAL_VAR: return IS(GlobalVar, expr) && is_named(p, AS(GlobalVar, expr)->name);
  case PATTERN_IS_EXTERN_FUNC:
    return IS(ExternFunc, expr) && is_named(p, AS(ExternFunc, expr)->symbol);
  case PATTERN_IS_CONST: return IS(Constant, pattern_value(m, expr));
  default: return match_expr(p->node, pattern_value(m, expr), m);
  }
}

/* What a pattern that is about its first part says beyond it. */
static bool has_property(Pattern *p, Node *expr, PatternMatch *m) {
  NodeVec dims;
  Node *info = sinfo_of(expr);
  switch (p->kind) {
  case PATTERN_IS_ATTRS: return has_attrs(p->node, pattern_value(m, expr));
  case PATTERN_IS_INFO: return fits_info(m, p->node, info);
  case PATTERN_IS_DTYPE:
    return IS(TensorStructInfo, info) &&
           dtype_equal(AS(TensorStructInfo, p->node)->elem, AS(TensorStructInfo, info)->elem);
  case PATTERN_IS_SHAPE:
    return info && sinfo_tensor_shape(info, &dims) && fits_dims(m, AS(Array, p->node)->items, dims);
  default: vec_push(&m->pending, p); return true;
  }
}

/* A pattern that stands for an expression already stands for that one only; equal leaves are one.
 */
static bool is_same(const PatternMatch *m, Node *a, Node *b) {
  a = pattern_value(m, a);
  b = pattern_value(m, b);
  bool is_leaf = IS(Op, a) || IS(Constant, a) || IS(GlobalVar, a) || IS(ShapeExpr, a);
  return a == b || (is_leaf && node_equal(a, b, false, NULL));
}

/* ---- goals ---- */

typedef struct Goal Goal;
struct Goal {
  enum {
    GOAL_MATCH, /* the expression looks like the pattern */
    GOAL_PARTS, /* so do exprs, from number `at` on, like its parts from number `first` + at on */
    GOAL_UNORDERED, /* so do those of exprs that are not taken, in some order, like its parts from
                       `at` on */
    GOAL_PROPERTY,  /* the expression looks like the first part; and the rest? */
    GOAL_NOTE       /* the pattern stands for the expression */
  } kind;
  Pattern *pattern;
  Node *expr;
  NodeVec exprs;
  int first, at;
  uint64_t taken;
  const Goal *next; /* NULL: that is all */
};

typedef struct Search {
  PatternMatch *m;
  PatternThen then;
  void *context;
} Search;

static const Goal *goal_match(Pattern *p, Node *expr, const Goal *next) {
  return NEW(Goal, .kind = GOAL_MATCH, .pattern = p, .expr = expr, .next = next);
}

static const Goal *goal_parts(Pattern *p, int first, NodeVec exprs, const Goal *next) {
  return NEW(Goal, .kind = GOAL_PARTS, .pattern = p, .exprs = exprs, .first = first, .next = next);
}

static bool solve(const Search *s, const Goal *g);

/* One way to go on; what was found on it is forgotten if it leads nowhere. */
static bool attempt(const Search *s, const Goal *g) {
  PatternMark mark = pattern_mark(s->m);
  return solve(s, g) || pattern_undo(s->m, mark);
}

static bool solve_unordered(const Search *s, const Goal *g) {
  for (int i = 0; i < g->exprs.len; i++) {
    if (g->taken >> i & 1) continue;
    Goal rest = *g;
    rest.at++;
    rest.taken |= (uint64_t)1 << i;
    const Goal *left = gc_copy(&rest, sizeof rest);
    if (attempt(s, goal_match(g->pattern->parts.at[g->at], g->exprs.at[i], left))) return true;
  }
  return false;
}

static bool solve_any(const Search *s, Pattern *p, Node *expr, const Goal *next) {
  for each (Pattern *, part, &p->parts)
    if (attempt(s, goal_match(*part, expr, next))) return true;
  return false;
}

static bool fits_nowhere(const Search *s, Pattern *p, Node *expr) {
  PatternMark mark = pattern_mark(s->m);
  Search alone = {.m = s->m};
  bool fits = solve(&alone, goal_match(p, expr, NULL));
  pattern_undo(s->m, mark);
  return !fits;
}

static bool fits_length(const Pattern *p, int first, NodeVec exprs) {
  int n = p->parts.len - first;
  return p->open ? exprs.len >= n : exprs.len == n;
}

/* R.call_packed("f", x) is a call of the function f. */
static const Goal *goals_of_call(Pattern *p, Node *value, const Goal *next, bool swapped) {
  if (!IS(RelaxCall, value)) return NULL;
  Node *op = AS(RelaxCall, value)->op;
  NodeVec args = AS(RelaxCall, value)->args;
  if (p->parts.at[0]->kind == PATTERN_IS_EXTERN_FUNC && IS(Op, op) && args.len &&
      IS(ExternFunc, args.at[0])) {
    op = args.at[0];
    args = (NodeVec){.at = args.at + 1, .len = args.len - 1};
  }
  if (!fits_length(p, 1, args)) return NULL;
  if (swapped) args = NODES(args.at[1], args.at[0]);
  return goal_match(p->parts.at[0], op, goal_parts(p, 1, args, next));
}

/* A sum looks like its pattern with its operands in either order. */
static bool may_swap(const Search *s, const Pattern *p, Node *expr) {
  Node *value = pattern_value(s->m, expr);
  if (p->kind != PATTERN_IS_CALL || p->parts.len != 3 || !IS(RelaxCall, value)) return false;
  Node *op = AS(RelaxCall, value)->op;
  const OpInfo *info = IS(Op, op) ? op_info_of(op) : NULL;
  return info && info->commutes && AS(RelaxCall, value)->args.len == 2;
}

/* Parameters, and what is returned; variables of the function are followed, too. */
static const Goal *goals_of_function(const Search *s, Pattern *p, Node *value, const Goal *next) {
  if (!IS(Function, value)) return NULL;
  Function *f = AS(Function, value);
  if (f->params.len + 1 != p->parts.len) return NULL;
  Map inside = values_of(value), *values = NEW(Map, 0);
  const Map *maps[] = {s->m->values, &inside};
  for (int k = 0; k < 2; k++)
    for (int i = 0; maps[k] && i < maps[k]->len; i++)
      if (maps[k]->at[i].key) map_set(values, maps[k]->at[i].key, maps[k]->at[i].value);
  s->m->values = values;
  NodeVec exprs = {0};
  for each (Node *, x, &f->params) vec_push(&exprs, *x);
  vec_push(&exprs, AS(SeqExpr, f->body)->body);
  return goal_parts(p, 0, exprs, next);
}

/* What is to be met for a pattern that has parts, before `next`; NULL if it can't be. */
static const Goal *goals_of_parts(const Search *s, Pattern *p, Node *expr, const Goal *next) {
  Node *value = pattern_value(s->m, expr);
  switch (p->kind) {
  case PATTERN_IS_CALL: return goals_of_call(p, value, next, false);
  case PATTERN_IS_TUPLE:
  case PATTERN_IS_UNORDERED_TUPLE: {
    if (!IS(Tuple, value) || !fits_length(p, 0, AS(Tuple, value)->fields)) return NULL;
    NodeVec fields = AS(Tuple, value)->fields;
    if (p->kind == PATTERN_IS_TUPLE) return goal_parts(p, 0, fields, next);
    if (fields.len >= 64) return NULL;
    return NEW(Goal, .kind = GOAL_UNORDERED, .pattern = p, .exprs = fields, .next = next);
  }
  case PATTERN_IS_GET_ITEM: {
    if (!IS(TupleGetItem, value)) return NULL;
    TupleGetItem *t = AS(TupleGetItem, value);
    bool fits = p->index < 0 || p->index == t->index;
    return fits ? goal_match(p->parts.at[0], t->tuple, next) : NULL;
  }
  case PATTERN_IS_FUNCTION: return goals_of_function(s, p, value, next);
  case PATTERN_IS_AND:
    for (int i = p->parts.len - 1; i >= 0; i--) next = goal_match(p->parts.at[i], expr, next);
    return next;
  default:
    next = NEW(Goal, .kind = GOAL_PROPERTY, .pattern = p, .expr = expr, .next = next);
    return goal_match(p->parts.at[0], expr, next);
  }
}

static const Goal *goal_note(Pattern *p, Node *expr, const Goal *next) {
  return NEW(Goal, .kind = GOAL_NOTE, .pattern = p, .expr = expr, .next = next);
}

static bool solve_match(const Search *s, const Goal *g) {
  Pattern *p = g->pattern;
  Node *before = pattern_found(s->m, p);
  if (before) return is_same(s->m, before, g->expr) && solve(s, g->next);
  switch (p->kind) {
  case PATTERN_IS_WILDCARD:
  case PATTERN_IS_VAR:
  case PATTERN_IS_DATAFLOW_VAR:
  case PATTERN_IS_GLOBAL_VAR:
  case PATTERN_IS_EXTERN_FUNC:
  case PATTERN_IS_CONST:
  case PATTERN_IS_EXPR:
    return match_leaf(p, g->expr, s->m) && solve(s, goal_note(p, g->expr, g->next));
  case PATTERN_IS_OR: return solve_any(s, p, g->expr, goal_note(p, g->expr, g->next));
  case PATTERN_IS_NOT:
    return fits_nowhere(s, p->parts.at[0], g->expr) && solve(s, goal_note(p, g->expr, g->next));
  default: {
    const Goal *note = goal_note(p, g->expr, g->next);
    const Goal *parts = goals_of_parts(s, p, g->expr, note);
    if (!parts || !may_swap(s, p, g->expr)) return parts && solve(s, parts);
    return attempt(s, parts) ||
           solve(s, goals_of_call(p, pattern_value(s->m, g->expr), note, true));
  }
  }
}

static bool solve(const Search *s, const Goal *g) {
  if (!g) return !s->then || s->then(s->context, s->m);
  switch (g->kind) {
  case GOAL_MATCH: return solve_match(s, g);
  case GOAL_PARTS: {
    if (g->first + g->at == g->pattern->parts.len) return solve(s, g->next);
    Goal rest = *g;
    rest.at++;
    const Goal *left = gc_copy(&rest, sizeof rest);
    return solve(s, goal_match(g->pattern->parts.at[g->first + g->at], g->exprs.at[g->at], left));
  }
  case GOAL_UNORDERED:
    return g->at == g->pattern->parts.len ? solve(s, g->next) : solve_unordered(s, g);
  case GOAL_PROPERTY: return has_property(g->pattern, g->expr, s->m) && solve(s, g->next);
  default:
    vec_push(&s->m->patterns, g->pattern);
    vec_push(&s->m->exprs, g->expr);
    return solve(s, g->next);
  }
}

bool pattern_match_then(Pattern *p, Node *expr, PatternMatch *m, PatternThen then, void *context) {
  Search s = {m, then, context};
  return attempt(&s, goal_match(p, expr, NULL));
}

static bool holds(void *context, PatternMatch *m) {
  (void)context;
  return pattern_holds(m);
}

bool pattern_match(Pattern *p, Node *expr, PatternMatch *m) {
  return pattern_match_then(p, expr, m, holds, NULL);
}
