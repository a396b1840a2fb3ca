/* bounds_over.c -- the least and greatest value of an expression as some of its variables move over
 * their ranges: how an access inside a loop becomes a region outside it.
 *
 * An expression that is monotone in what moves has its extremes at the ends of the ranges. */
#include "ir/arith/arith_impl.h"

enum { MAX_DEPTH = 200 }; /* of expressions and of ranges that depend on one another */

typedef struct Moving {
  const Map *ranges;
  Analyzer *analyzer; /* knows the ranges that are constant */
  int depth;
} Moving;

static WalkResult find_moving(Walker *w, Node *n) {
  return IS(Var, n) && map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

static bool moves(Node *e, const Map *ranges) {
  Walker w = {.enter = find_moving, .context = (void *)(uintptr_t)ranges};
  return !walk(&w, e);
}

static bool bounds(Moving *m, Node *e, Node **lo, Node **hi);

static void swap(Node **a, Node **b) {
  Node *t = *a;
  *a = *b;
  *b = t;
}

/* A sum of terms: each at its own end, by the sign of its coefficient. */
static bool bounds_of_linear(Moving *m, Node *e, const Linear *l, Node **lo, Node **hi) {
  *lo = *hi = int_imm(e->dtype, l->constant, e->span);
  for (int i = 0; i < l->terms.len; i++) {
    Node *a, *b, *k = int_imm(e->dtype, l->coeffs.at[i], e->span);
    if (!bounds(m, l->terms.at[i], &a, &b)) return false;
    if (l->coeffs.at[i] < 0) swap(&a, &b);
    *lo = expr_add(*lo, expr_mul(expr_cast(e->dtype, a, e->span), k));
    *hi = expr_add(*hi, expr_mul(expr_cast(e->dtype, b, e->span), k));
  }
  return true;
}

static bool bounds_of_var(Moving *m, Node *e, Node **lo, Node **hi) {
  Node *range = map_get(m->ranges, e), *unused;
  if (!IS(Range, range)) return false; /* it moves in a way that is not known */
  Range *r = AS(Range, range);
  Node *one = int_imm(dtype_element(r->extent->dtype), 1, e->span);
  /* The ends of a range may move with outer variables. */
  if (!bounds(m, r->min, lo, &unused)) return false;
  if (!bounds(m, expr_sub(expr_add(r->min, r->extent), one), &unused, hi)) return false;
  *lo = expr_cast(e->dtype, *lo, e->span);
  *hi = expr_cast(e->dtype, *hi, e->span);
  return true;
}

/* x op y with x moving and y at rest: in order, or reversed, or neither. */
static bool bounds_beside(Moving *m, NodeKind kind, Node *x, Node *y, Node **lo, Node **hi) {
  ConstBound b = arith_const_bound(m->analyzer, y);
  bool up = kind == NK_Mul ? b.lo >= 0 : b.lo > 0, down = kind == NK_Mul && b.hi <= 0;
  if ((!up && !down) || !bounds(m, x, lo, hi)) return false;
  *lo = expr_binary(kind, *lo, y, y->span);
  *hi = expr_binary(kind, *hi, y, y->span);
  if (down) swap(lo, hi);
  return true;
}

static bool bounds_of_product(Moving *m, Node *e, Node **lo, Node **hi) {
  Binary *b = as_binary(e);
  if (!moves(b->b, m->ranges)) return bounds_beside(m, NK_Mul, b->a, b->b, lo, hi);
  return !moves(b->a, m->ranges) && bounds_beside(m, NK_Mul, b->b, b->a, lo, hi);
}

static bool bounds_of_sum(Moving *m, Node *e, Node **lo, Node **hi) {
  Linear l;
  if (!arith_linear(e, &l) || !linear_fits(&l, e->dtype)) return false;
  bool itself = l.terms.len == 1 && l.terms.at[0] == e;
  return itself ? bounds_of_product(m, e, lo, hi) : bounds_of_linear(m, e, &l, lo, hi);
}

static bool bounds_of_mod(Moving *m, Node *e, Node **lo, Node **hi) {
  int64_t c;
  if (!expr_is_const_int(as_binary(e)->b, &c) || c <= 0) return false;
  ConstBound b = arith_const_bound(m->analyzer, e);
  *lo = int_imm(e->dtype, b.lo, e->span);
  *hi = int_imm(e->dtype, b.hi, e->span);
  return true;
}

/* The lesser of the least and the greater of the greatest. */
static bool bounds_of_either(Moving *m, Node *x, Node *y, NodeKind low, NodeKind high, Node **lo,
                             Node **hi) {
  Node *lo2, *hi2;
  if (!bounds(m, x, lo, hi) || !bounds(m, y, &lo2, &hi2)) return false;
  *lo = expr_binary(low, *lo, lo2, x->span);
  *hi = expr_binary(high, *hi, hi2, x->span);
  return true;
}

static bool bounds_of_cast(Moving *m, Node *e, Node **lo, Node **hi) {
  Node *value = AS(Cast, e)->value;
  if (!dtype_is_int(value->dtype) || value->dtype.bits > e->dtype.bits || !bounds(m, value, lo, hi))
    return false;
  *lo = expr_cast(e->dtype, *lo, e->span);
  *hi = expr_cast(e->dtype, *hi, e->span);
  return true;
}

static bool bounds_of_node(Moving *m, Node *e, Node **lo, Node **hi) {
  Binary *b = as_binary(e);
  switch (e->kind) {
  case NK_Var: return bounds_of_var(m, e, lo, hi);
  case NK_Add:
  case NK_Sub:
  case NK_Mul: return bounds_of_sum(m, e, lo, hi);
  case NK_Div: /* truncation too keeps the order */
  case NK_FloorDiv:
    if (moves(b->b, m->ranges) || !bounds(m, b->a, lo, hi) ||
        arith_const_bound(m->analyzer, b->b).lo <= 0)
      return false;
    *lo = arith_binary(e->kind, *lo, b->b, e->span);
    *hi = arith_binary(e->kind, *hi, b->b, e->span);
    return true;
  case NK_FloorMod: return bounds_of_mod(m, e, lo, hi);
  case NK_Min: return bounds_of_either(m, b->a, b->b, NK_Min, NK_Min, lo, hi);
  case NK_Max: return bounds_of_either(m, b->a, b->b, NK_Max, NK_Max, lo, hi);
  case NK_Select:
    return bounds_of_either(m, AS(Select, e)->then, AS(Select, e)->orelse, NK_Min, NK_Max, lo, hi);
  case NK_Call:
    if (!is_intrin_call(e, "if_then_else")) return false;
    return bounds_of_either(m, AS(Call, e)->args.at[1], AS(Call, e)->args.at[2], NK_Min, NK_Max, lo,
                            hi);
  case NK_Cast: return bounds_of_cast(m, e, lo, hi);
  default: return false;
  }
}

static bool bounds(Moving *m, Node *e, Node **lo, Node **hi) {
  if (!moves(e, m->ranges)) return *lo = *hi = e, true;
  if (m->depth == MAX_DEPTH || !dtype_is_int(e->dtype)) return false;
  m->depth++;
  bool known = bounds_of_node(m, e, lo, hi);
  m->depth--;
  return known;
}

static bool is_known_range(const Node *range, int64_t *min, int64_t *extent) {
  if (!IS(Range, range)) return false;
  const Range *r = (const Range *)(const void *)range;
  return expr_is_const_int(r->min, min) && expr_is_const_int(r->extent, extent);
}

/* What moves over a constant range may help to simplify the expression first; other variables are
 * symbols, and facts about them are the caller's. */
static Analyzer *analyzer_of(const Map *ranges) {
  Analyzer *a = arith_new();
  int64_t min, extent;
  for (int i = 0; i < ranges->len; i++) {
    Node *var = (Node *)(uintptr_t)ranges->at[i].key, *range = ranges->at[i].value;
    if (var && is_known_range(range, &min, &extent) && extent > 1)
      arith_bind_range(a, var, AS(Range, range)->min, AS(Range, range)->extent);
  }
  return a;
}

bool arith_bounds_over(Node *e, const Map *ranges, Node **least, Node **greatest) {
  if (!dtype_is_int(e->dtype) || e->dtype.lanes != 1 || expr_effect(e) == EFFECT_STATE)
    return false;
  if (IS(Var, e) && !map_has(ranges, e)) return *least = *greatest = e, true;
  Moving m = {.ranges = ranges, .analyzer = analyzer_of(ranges)};
  if (!bounds(&m, arith_simplify(m.analyzer, e), least, greatest)) return false;
  Analyzer *a = arith_new();
  bool is_point = *least == *greatest;
  *least = arith_simplify(a, *least);
  *greatest = is_point ? *least : arith_simplify(a, *greatest);
  return true;
}
