/* pattern.c -- the matcher of dataflow patterns: a walk over pattern and expression together, which
 * goes back where an alternative fails. Variables are followed to their values where a pattern is
 * about values. */
#include "passes/graph/pattern.h"

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
    Node *a = pattern_found(m, *p), *b = pattern_found(m, (*p)->parts.at[1]);
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

static bool match_each(PatternVec parts, int first, NodeVec exprs, bool open, PatternMatch *m) {
  int n = parts.len - first;
  if (open ? exprs.len < n : exprs.len != n) return false;
  for (int i = 0; i < n; i++)
    if (!pattern_match(parts.at[first + i], exprs.at[i], m)) return false;
  return true;
}

static bool match_unordered(PatternVec parts, int at, NodeVec exprs, uint64_t taken,
                            PatternMatch *m) {
  if (at == parts.len) return true;
  for (int i = 0; i < exprs.len; i++) {
    if (taken >> i & 1) continue;
    PatternMark mark = pattern_mark(m);
    if (pattern_match(parts.at[at], exprs.at[i], m) &&
        match_unordered(parts, at + 1, exprs, taken | (uint64_t)1 << i, m))
      return true;
    pattern_undo(m, mark);
  }
  return false;
}

static bool match_any(const Pattern *p, Node *expr, PatternMatch *m) {
  for each (Pattern *, part, &p->parts)
    if (pattern_match(*part, expr, m)) return true;
  return false;
}

static bool match_all(const Pattern *p, Node *expr, PatternMatch *m) {
  for each (Pattern *, part, &p->parts)
    if (!pattern_match(*part, expr, m)) return false;
  return true;
}

/* Equal expressions; in shapes, variables of the pattern stand for any dims. */
static bool match_expr(Node *want, Node *expr, PatternMatch *m) {
  if (IS(ShapeExpr, want) && IS(ShapeExpr, expr))
    return fits_dims(m, AS(ShapeExpr, want)->values, AS(ShapeExpr, expr)->values);
  if (IS(PrimValue, want) && IS(PrimValue, expr))
    return fits_dim(m, AS(PrimValue, want)->value, AS(PrimValue, expr)->value);
  return node_equal(want, expr, false, NULL);
}

static bool match_not(const Pattern *p, Node *expr, PatternMatch *m) {
  PatternMark mark = pattern_mark(m);
  bool fits = pattern_match(p->parts.at[0], expr, m);
  pattern_undo(m, mark);
  return !fits;
}

static bool match_call(const Pattern *p, Node *value, PatternMatch *m) {
  if (!IS(RelaxCall, value)) return false;
  RelaxCall *c = AS(RelaxCall, value);
  return pattern_match(p->parts.at[0], c->op, m) && match_each(p->parts, 1, c->args, p->open, m);
}

static bool match_tuple(const Pattern *p, Node *value, PatternMatch *m) {
  if (!IS(Tuple, value)) return false;
  NodeVec fields = AS(Tuple, value)->fields;
  if (p->kind == PATTERN_IS_TUPLE) return match_each(p->parts, 0, fields, p->open, m);
  return fields.len == p->parts.len && fields.len < 64 &&
         match_unordered(p->parts, 0, fields, 0, m);
}

static bool match_field(const Pattern *p, Node *value, PatternMatch *m) {
  if (!IS(TupleGetItem, value)) return false;
  TupleGetItem *t = AS(TupleGetItem, value);
  return (p->index < 0 || p->index == t->index) && pattern_match(p->parts.at[0], t->tuple, m);
}

static bool match_property(Pattern *p, Node *expr, PatternMatch *m) {
  NodeVec dims;
  Node *info = sinfo_of(expr);
  if (!pattern_match(p->parts.at[0], expr, m)) return false;
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

static bool match_kind(Pattern *p, Node *expr, PatternMatch *m) {
  Node *value = pattern_value(m, expr);
  switch (p->kind) {
  case PATTERN_IS_WILDCARD: return true;
  case PATTERN_IS_VAR: return IS(RelaxVar, expr) && is_named(p, AS(RelaxVar, expr)->name);
  case PATTERN_IS_DATAFLOW_VAR:
    return IS(RelaxVar, expr) && AS(RelaxVar, expr)->is_dataflow &&
           is_named(p, AS(RelaxVar, expr)->name);
  case PATTERN_IS_GLOBAL_VAR: return IS(GlobalVar, expr) && is_named(p, AS(GlobalVar, expr)->name);
  case PATTERN_IS_EXTERN_FUNC:
    return IS(ExternFunc, expr) && is_named(p, AS(ExternFunc, expr)->symbol);
  case PATTERN_IS_CONST: return IS(Constant, value);
  case PATTERN_IS_EXPR: return match_expr(p->node, value, m);
  case PATTERN_IS_CALL: return match_call(p, value, m);
  case PATTERN_IS_TUPLE:
  case PATTERN_IS_UNORDERED_TUPLE: return match_tuple(p, value, m);
  case PATTERN_IS_GET_ITEM: return match_field(p, value, m);
  case PATTERN_IS_OR: return match_any(p, expr, m);
  case PATTERN_IS_AND: return match_all(p, expr, m);
  case PATTERN_IS_NOT: return match_not(p, expr, m);
  default: return match_property(p, expr, m);
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

bool pattern_match(Pattern *p, Node *expr, PatternMatch *m) {
  Node *before = pattern_found(m, p);
  if (before) return is_same(m, before, expr);
  PatternMark mark = pattern_mark(m);
  if (!match_kind(p, expr, m)) return pattern_undo(m, mark);
  vec_push(&m->patterns, p);
  vec_push(&m->exprs, expr);
  return true;
}
