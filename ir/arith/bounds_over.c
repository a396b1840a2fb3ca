/* bounds_over.c -- the least and greatest value of an expression as some of its variables move over
 * their ranges: how an access inside a loop becomes a region outside it. */
#include "ir/arith/arith_impl.h"

typedef struct Moving {
  const Map *ranges;
  bool found;
} Moving;

static WalkResult find_moving(Walker *w, Node *n) {
  Moving *m = w->context;
  if (IS(Var, n) && map_has(m->ranges, n)) m->found = true;
  return m->found ? WALK_STOP : WALK_ON;
}

static bool moves(Node *e, const Map *ranges) {
  Moving m = {ranges, false};
  Walker w = {.enter = find_moving, .context = &m};
  walk(&w, e);
  return m.found;
}

static Node *last_of(Range *r) {
  return expr_binary(NK_Sub, expr_binary(NK_Add, r->min, r->extent, r->node.span),
                     int_imm(r->extent->dtype, 1, r->node.span), r->node.span);
}

static bool bounds(Node *e, const Map *ranges, Node **lo, Node **hi);

/* A sum of terms: each at its own end, by the sign of its coefficient. */
static bool bounds_of_linear(Node *e, const Linear *l, const Map *ranges, Node **lo, Node **hi) {
  Linear zero = {.constant = l->constant};
  *lo = *hi = linear_expr(&zero, e->dtype, e->span);
  for (int i = 0; i < l->terms.len; i++) {
    Node *a, *b, *k = int_imm(e->dtype, l->coeffs.at[i], e->span);
    if (!bounds(l->terms.at[i], ranges, &a, &b)) return false;
    if (l->coeffs.at[i] < 0) {
      Node *t = a;
      a = b;
      b = t;
    }
    *lo = expr_binary(NK_Add, *lo, expr_binary(NK_Mul, expr_cast(e->dtype, a, e->span), k, e->span),
                      e->span);
    *hi = expr_binary(NK_Add, *hi, expr_binary(NK_Mul, expr_cast(e->dtype, b, e->span), k, e->span),
                      e->span);
  }
  return true;
}

static bool bounds_of_var(Node *e, const Map *ranges, Node **lo, Node **hi) {
  Node *range = map_get(ranges, e), *unused;
  if (!IS(Range, range)) return false; /* it moves in a way that is not known */
  Range *r = AS(Range, range);
  /* The ends of a range may move with outer variables. */
  return bounds(r->min, ranges, lo, &unused) && bounds(last_of(r), ranges, &unused, hi);
}

static bool bounds(Node *e, const Map *ranges, Node **lo, Node **hi) {
  if (!moves(e, ranges)) return *lo = *hi = e, true;
  if (IS(Var, e)) return bounds_of_var(e, ranges, lo, hi);
  Binary *b = (Binary *)(void *)e;
  int64_t c;
  switch (e->kind) {
  case NK_Add:
  case NK_Sub:
  case NK_Mul: {
    Linear l;
    bool itself = !arith_linear(e, &l) || (l.terms.len == 1 && l.terms.at[0] == e);
    return !itself && bounds_of_linear(e, &l, ranges, lo, hi);
  }
  case NK_FloorDiv:
    if (!expr_is_const_int(b->b, &c) || c <= 0 || !bounds(b->a, ranges, lo, hi)) return false;
    *lo = expr_binary(NK_FloorDiv, *lo, b->b, e->span);
    *hi = expr_binary(NK_FloorDiv, *hi, b->b, e->span);
    return true;
  case NK_FloorMod:
    if (!expr_is_const_int(b->b, &c) || c <= 0) return false;
    *lo = int_imm(e->dtype, 0, e->span);
    *hi = int_imm(e->dtype, c - 1, e->span);
    return true;
  case NK_Min:
  case NK_Max: {
    Node *lo2, *hi2;
    if (!bounds(b->a, ranges, lo, hi) || !bounds(b->b, ranges, &lo2, &hi2)) return false;
    *lo = expr_binary(e->kind, *lo, lo2, e->span);
    *hi = expr_binary(e->kind, *hi, hi2, e->span);
    return true;
  }
  case NK_Cast:
    if (!dtype_is_int(AS(Cast, e)->value->dtype) || !bounds(AS(Cast, e)->value, ranges, lo, hi))
      return false;
    *lo = expr_cast(e->dtype, *lo, e->span);
    *hi = expr_cast(e->dtype, *hi, e->span);
    return true;
  default: return false;
  }
}

bool arith_bounds_over(Node *e, const Map *ranges, Node **least, Node **greatest) {
  if (!dtype_is_int(e->dtype) || e->dtype.lanes != 1 || !bounds(e, ranges, least, greatest))
    return false;
  Analyzer *a = arith_new();
  *least = arith_simplify(a, *least);
  *greatest = arith_simplify(a, *greatest);
  return true;
}
