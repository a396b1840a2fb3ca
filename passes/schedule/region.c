/* region.c -- which part of a buffer blocks touch while the loops around them run. */
#include "passes/schedule/schedule_impl.h"

/* ---- what a condition says ---- */

bool is_domain_bound(const BlockRealize *r, Node *cond) {
  if (expr_is_one(cond)) return true;
  if (IS(And, cond))
    return is_domain_bound(r, AS(And, cond)->a) && is_domain_bound(r, AS(And, cond)->b);
  if (!IS(LT, cond) && !IS(GE, cond)) return false;
  Binary *sides = (Binary *)(void *)cond;
  for (int i = 0; i < r->iter_values.len; i++) {
    Range *dom = AS(Range, AS(IterVar, AS(Block, r->block)->iter_vars.at[i])->dom);
    Node *bound = IS(LT, cond) ? expr_add(dom->min, dom->extent) : dom->min;
    if (node_equal(sides->a, r->iter_values.at[i], false, NULL) &&
        node_equal(sides->b, bound, false, NULL))
      return true;
  }
  return false;
}

/* ---- what is touched ---- */

static void join(Touched *t, NodeVec lo, NodeVec hi, Analyzer *facts) {
  if (!t->lo.len) {
    t->lo = lo;
    t->hi = hi;
    return;
  }
  t->exact = false; /* between two parts there may be a gap */
  for (int i = 0; i < lo.len; i++) {
    bool known = t->lo.at[i] && lo.at[i];
    Node *least = known ? expr_binary(NK_Min, t->lo.at[i], lo.at[i], lo.at[i]->span) : NULL;
    Node *most = known ? expr_binary(NK_Max, t->hi.at[i], hi.at[i], hi.at[i]->span) : NULL;
    t->lo.at[i] = known ? arith_simplify(facts, least) : NULL;
    t->hi.at[i] = known ? arith_simplify(facts, most) : NULL;
  }
}

/* A block that runs under a condition may not reach the ends that its loops do: what it accesses is
 * within what its variables' domains allow. */
static void clip(const Block *b, Node *min, Node *last, Node **least, Node **greatest,
                 Analyzer *facts) {
  Map domains = {0};
  Node *lo, *hi, *unused;
  for each (Node *, v, &b->iter_vars) map_set(&domains, AS(IterVar, *v)->var, AS(IterVar, *v)->dom);
  if (arith_bounds_over(min, &domains, &lo, &unused) &&
      arith_can_prove(facts, expr_binary(NK_GE, lo, *least, lo->span)))
    *least = lo;
  if (arith_bounds_over(last, &domains, &unused, &hi) &&
      arith_can_prove(facts, expr_binary(NK_LE, hi, *greatest, hi->span)))
    *greatest = hi;
}

void touch(Touched *t, const BlockRealize *r, Node *region, NodeVec loops, Analyzer *facts) {
  const Block *b = AS(Block, r->block);
  Map bindings = {0}, ranges = {0};
  for (int i = 0; i < r->iter_values.len; i++)
    map_set(&bindings, AS(IterVar, b->iter_vars.at[i])->var, r->iter_values.at[i]);
  for each (Node *, l, &loops) {
    For *f = AS(For, *l);
    map_set(&ranges, f->var,
            MAKE(Range, f->node.span, VOID_TYPE, .min = f->min, .extent = f->extent));
  }
  NodeVec lo = {0}, hi = {0}, mins = {0};
  bool exact = is_domain_bound(r, r->predicate);
  for each (Node *, d, &AS(BufferRegion, region)->region) {
    Node *min = substitute(AS(Range, *d)->min, &bindings);
    Node *extent = substitute(AS(Range, *d)->extent, &bindings);
    Node *last = expr_sub(expr_add(min, extent), int_imm(extent->dtype, 1, extent->span));
    Node *least, *greatest, *unused;
    bool known = arith_bounds_over(min, &ranges, &least, &unused) &&
                 arith_bounds_over(last, &ranges, &unused, &greatest) && !loads_anything(min) &&
                 !loads_anything(last);
    exact = exact && known && expr_is_one(extent);
    vec_push(&mins, min);
    if (known && !expr_is_one(r->predicate)) {
      Node *from = AS(Range, *d)->min, *one = int_imm(extent->dtype, 1, extent->span);
      Node *end = expr_sub(expr_add(from, AS(Range, *d)->extent), one);
      clip(b, from, end, &least, &greatest, facts);
    }
    vec_push(&lo, known ? least : NULL);
    vec_push(&hi, known ? greatest : NULL);
  }
  exact = exact && iter_map_detect(mins, &ranges, NULL, facts).surjective;
  t->exact = exact && (t->exact || !t->lo.len);
  join(t, lo, hi, facts);
}

NodeVec loops_inside(const Place *p, const Node *loop) {
  NodeVec loops = {0};
  bool inside = false;
  for each (Node *, s, &p->path) {
    if (inside && IS(For, *s)) vec_push(&loops, *s);
    inside |= *s == loop;
  }
  return loops;
}

NodeVec touched_ranges(const Touched *t, Analyzer *facts) {
  NodeVec out = {0}, shape = AS(Buffer, t->buffer)->shape;
  for (int i = 0; i < shape.len; i++) {
    Node *lo = t->lo.at[i], *size = shape.at[i], *n = NULL;
    if (lo) {
      n = expr_add(expr_sub(t->hi.at[i], lo), int_imm(lo->dtype, 1, lo->span));
      n = arith_simplify(facts, n);
      if (!arith_can_prove(facts, expr_binary(NK_LE, n, size, n->span))) n = NULL;
    }
    Node *start = n ? arith_simplify(facts, lo) : int_imm(size->dtype, 0, size->span);
    vec_push(&out, MAKE(Range, size->span, VOID_TYPE, .min = start, .extent = n ? n : size));
  }
  return out;
}
