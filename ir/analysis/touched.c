/* touched.c -- which part of a buffer is touched while the loops around an access run. */
#include "ir/analysis/touched.h"
#include "ir/arith/iter_map.h"

/* ---- what a condition says ---- */

/* The condition as it is, or as simplification has left it. */
static bool is_same_condition(Node *a, Node *b, Analyzer *facts) {
  return node_equal(a, b, false, NULL) ||
         node_equal(arith_simplify(facts, a), arith_simplify(facts, b), false, NULL);
}

/* Does the condition say no more than that the value of a block's variable is in its domain? */
static bool is_bound_of(const BlockRealize *r, int i, Node *cond, Analyzer *facts) {
  Range *dom = AS(Range, AS(IterVar, AS(Block, r->block)->iter_vars.at[i])->dom);
  Node *value = r->iter_values.at[i], *end = expr_add(dom->min, dom->extent);
  return is_same_condition(cond, expr_binary(NK_LT, value, end, cond->span), facts) ||
         is_same_condition(cond, expr_binary(NK_GE, value, dom->min, cond->span), facts);
}

bool is_domain_bound(const BlockRealize *r, Node *cond, Analyzer *facts) {
  if (expr_is_one(cond)) return true;
  if (IS(And, cond))
    return is_domain_bound(r, AS(And, cond)->a, facts) &&
           is_domain_bound(r, AS(And, cond)->b, facts);
  for (int i = 0; i < r->iter_values.len; i++)
    if (is_bound_of(r, i, cond, facts)) return true;
  return false;
}

/* ---- what is touched ---- */

/* Is the second part inside the first? */
static bool covers(NodeVec lo, NodeVec hi, NodeVec lo2, NodeVec hi2, Analyzer *facts) {
  for (int i = 0; i < lo.len; i++)
    if (!lo.at[i] || !lo2.at[i] ||
        !arith_can_prove(facts, expr_binary(NK_LE, lo.at[i], lo2.at[i], lo.at[i]->span)) ||
        !arith_can_prove(facts, expr_binary(NK_LE, hi2.at[i], hi.at[i], hi.at[i]->span)))
      return false;
  return true;
}

static bool are_same(NodeVec a, NodeVec b, Analyzer *facts) {
  for (int i = 0; i < a.len; i++)
    if (a.at[i] != b.at[i] &&
        (!a.at[i] || !b.at[i] || !arith_can_prove_equal(facts, a.at[i], b.at[i])))
      return false;
  return true;
}

/* Does the first part have all of the second? */
static bool has_part(const Touched *t, const Touched *other, Analyzer *facts) {
  return t->exact && covers(t->lo, t->hi, other->lo, other->hi, facts) &&
         are_same(t->first, other->first, facts) && are_same(t->last, other->last, facts);
}

static void widen(NodeVec *bounds, NodeVec others, NodeKind kind, Analyzer *facts) {
  for (int i = 0; i < others.len; i++) {
    Node *a = bounds->at[i], *b = others.at[i];
    bounds->at[i] = a && b ? arith_simplify(facts, expr_binary(kind, a, b, a->span)) : NULL;
  }
}

/* Between two parts there may be a gap, unless one has all of the other. */
static void join(Touched *t, const Touched *part, Analyzer *facts) {
  if (t->lo.len && has_part(t, part, facts)) return;
  if (!t->lo.len || has_part(part, t, facts)) {
    *t = *part;
    return;
  }
  t->exact = false;
  widen(&t->lo, part->lo, NK_Min, facts);
  widen(&t->hi, part->hi, NK_Max, facts);
  widen(&t->first, part->first, NK_Min, facts);
  widen(&t->last, part->last, NK_Max, facts);
}

/* A block that runs under a condition may not reach the ends that its loops do: what it accesses is
 * within what its variables' domains allow. */
static void clip(const Block *b, const Range *d, Touched *part, int dim, Analyzer *facts) {
  Map domains = {0};
  Node *lo = NULL, *hi = NULL, *unused, *one = int_imm(d->extent->dtype, 1, d->node.span);
  Node *last = expr_sub(expr_add(d->min, d->extent), one);
  Node **least = &part->lo.at[dim], **greatest = &part->hi.at[dim];
  for each (Node *, v, &b->iter_vars) map_set(&domains, AS(IterVar, *v)->var, AS(IterVar, *v)->dom);
  if (!arith_bounds_over(d->min, &domains, &lo, &unused)) lo = NULL;
  if (!arith_bounds_over(last, &domains, &unused, &hi)) hi = NULL;
  if (lo && arith_can_prove(facts, expr_binary(NK_GE, lo, *least, lo->span))) *least = lo;
  if (hi && arith_can_prove(facts, expr_binary(NK_LE, hi, *greatest, hi->span))) *greatest = hi;
  bool starts = !lo || arith_can_prove(facts, expr_binary(NK_LE, lo, *least, lo->span));
  bool ends = !hi || arith_can_prove(facts, expr_binary(NK_GE, hi, *greatest, hi->span));
  part->first.at[dim] = starts ? NULL : lo;
  part->last.at[dim] = ends ? NULL : hi;
}

static Node *inner_step(Map *inner, Node *extent) {
  Node *var = var_new("step", extent->dtype, extent->span);
  Node *zero = int_imm(extent->dtype, 0, extent->span);
  map_set(inner, var, MAKE(Range, extent->span, VOID_TYPE, .min = zero, .extent = extent));
  return var;
}

/* Does it say no more than that the element of the region, one of single elements, is inside the
 * buffer? */
static bool is_buffer_bound(Node *region, const Map *bindings, Node *cond, Analyzer *facts) {
  NodeVec dims = AS(BufferRegion, region)->region;
  NodeVec shape = AS(Buffer, AS(BufferRegion, region)->buffer)->shape;
  int mark = arith_enter(facts, int_imm(BOOL, 1, cond->span));
  for (int i = 0; i < dims.len; i++) {
    if (!expr_is_one(AS(Range, dims.at[i])->extent)) continue;
    Node *at = substitute(AS(Range, dims.at[i])->min, bindings);
    arith_enter(facts, expr_binary(NK_GE, at, int_imm(at->dtype, 0, cond->span), cond->span));
    arith_enter(facts, expr_binary(NK_LT, at, shape.at[i], cond->span));
  }
  bool implied = arith_can_prove(facts, cond);
  arith_leave(facts, mark);
  return implied;
}

/* Is the variable the leading digit of the index: do elements of its next value follow behind all
 * of this one's? */
static bool is_leading(const Block *b, Node *index, Node *var, Analyzer *facts) {
  Map next = {0}, none = {0}, domains = {0};
  Node *zero = int_imm(var->dtype, 0, var->span), *one = int_imm(var->dtype, 1, var->span), *lo,
       *hi;
  map_set(&next, var, expr_add(var, one));
  map_set(&none, var, zero);
  for each (Node *, v, &b->iter_vars) map_set(&domains, AS(IterVar, *v)->var, AS(IterVar, *v)->dom);
  Node *step = arith_simplify(facts, expr_sub(substitute(index, &next), index));
  if (node_mentions(step, var) || !arith_bounds_over(substitute(index, &none), &domains, &lo, &hi))
    return false;
  Node *length = expr_sub(hi, lo);
  return arith_can_prove(facts, expr_binary(NK_LT, length, step, var->span)) ||
         arith_can_prove(facts, expr_binary(NK_LT, length, expr_sub(zero, step), var->span));
}

/* Where the values of the variable end early, does what is touched of a region without gaps end
 * early too, and has no gap? */
static bool is_cut_at_end(const Block *b, Node *region, Node *var, Analyzer *facts) {
  int dims = 0;
  for each (Node *, d, &AS(BufferRegion, region)->region) {
    Range *r = AS(Range, *d);
    if (node_mentions(r->extent, var)) return false;
    if (!node_mentions(r->min, var)) continue;
    if (++dims > 1 || !is_leading(b, r->min, var, facts)) return false;
  }
  return true;
}

static bool is_bound(const BlockRealize *r, Node *region, const Map *bindings, Node *cond,
                     Analyzer *facts) {
  if (IS(And, cond))
    return is_bound(r, region, bindings, AS(And, cond)->a, facts) &&
           is_bound(r, region, bindings, AS(And, cond)->b, facts);
  Block *b = AS(Block, r->block);
  for (int i = 0; i < r->iter_values.len; i++)
    if (is_bound_of(r, i, cond, facts) &&
        is_cut_at_end(b, region, AS(IterVar, b->iter_vars.at[i])->var, facts))
      return true;
  return expr_is_one(cond) || is_buffer_bound(region, bindings, cond, facts);
}

/* Does the condition keep the block from nothing but what lies outside, of the domains of its
 * variables or of the buffer? */
static bool is_always_inside(const BlockRealize *r, Node *region, const Map *bindings,
                             NodeVec loops, Analyzer *facts) {
  int mark = arith_enter(facts, int_imm(BOOL, 1, r->node.span));
  for each (Node *, l, &loops)
    arith_bind_range(facts, AS(For, *l)->var, AS(For, *l)->min, AS(For, *l)->extent);
  bool inside = is_bound(r, region, bindings, r->predicate, facts);
  arith_leave(facts, mark);
  return inside;
}

/* What the indices of a map without gaps run over: bounds may allow more, as those of (a + i) % n
 * do for a few i. False: a dimension is not known. */
static bool tighten(Touched *part, const IterMap *map, Analyzer *facts) {
  for (int i = 0; i < part->lo.len; i++) {
    Node *lo = part->lo.at[i], *hi = part->hi.at[i], *least, *count;
    Node *one = int_imm(lo->dtype, 1, lo->span), *length = expr_add(expr_sub(hi, lo), one);
    if (!map->sums.at[i] || !iter_sum_range(map->sums.at[i], lo->dtype, &least, &count))
      return false;
    if (arith_can_prove_equal(facts, count, length)) continue;
    part->lo.at[i] = arith_simplify(facts, least);
    part->hi.at[i] = arith_simplify(facts, expr_sub(expr_add(least, count), one));
  }
  return true;
}

/* conditional: what runs the block of the access, if under a condition. */
static void add_region(Touched *t, const BlockRealize *conditional, Node *region,
                       const Map *bindings, NodeVec loops, Analyzer *facts) {
  Map ranges = {0};
  for each (Node *, l, &loops) {
    For *f = AS(For, *l);
    map_set(&ranges, f->var,
            MAKE(Range, f->node.span, VOID_TYPE, .min = f->min, .extent = f->extent));
  }
  Map inner = {0}; /* variables that run over what each step touches, to their Range */
  NodeVec mins = {0};
  Touched part = {.buffer = t->buffer};
  bool exact = true;
  for each (Node *, d, &AS(BufferRegion, region)->region) {
    Node *min = substitute(AS(Range, *d)->min, bindings);
    Node *extent = substitute(AS(Range, *d)->extent, bindings);
    Node *last = expr_sub(expr_add(min, extent), int_imm(extent->dtype, 1, extent->span));
    Node *least = NULL, *greatest = NULL, *unused;
    bool fixed = expr_effect(min) == EFFECT_PURE && expr_effect(last) == EFFECT_PURE;
    bool known = fixed && arith_bounds_over(min, &ranges, &least, &unused) &&
                 arith_bounds_over(last, &ranges, &unused, &greatest);
    exact = exact && known;
    vec_push(&mins, expr_is_one(extent) ? min : expr_add(min, inner_step(&inner, extent)));
    vec_push(&part.lo, known ? least : NULL);
    vec_push(&part.hi, known ? greatest : NULL);
    vec_push(&part.first, NULL);
    vec_push(&part.last, NULL);
  }
  for each (MapEntry, e, &inner)
    if (e->key) map_set(&ranges, e->key, e->value);
  if (exact && ranges.live) {
    IterMap map = iter_map_detect(mins, &ranges, NULL, facts);
    exact = map.surjective && tighten(&part, &map, facts);
  }
  NodeVec dims = AS(BufferRegion, region)->region;
  for (int i = 0; i < dims.len && conditional; i++)
    if (part.lo.at[i]) clip(AS(Block, conditional->block), AS(Range, dims.at[i]), &part, i, facts);
  part.exact =
      exact && (!conditional || is_always_inside(conditional, region, bindings, loops, facts));
  join(t, &part, facts);
}

void touch_region(Touched *t, Node *region, const Map *bindings, NodeVec loops, Analyzer *facts) {
  add_region(t, NULL, region, bindings, loops, facts);
}

void touch(Touched *t, const BlockRealize *r, Node *region, NodeVec loops, Analyzer *facts) {
  Block *b = AS(Block, r->block);
  Map bindings = {0};
  for (int i = 0; i < r->iter_values.len; i++)
    map_set(&bindings, AS(IterVar, b->iter_vars.at[i])->var, r->iter_values.at[i]);
  add_region(t, expr_is_one(r->predicate) ? NULL : r, region, &bindings, loops, facts);
}

NodeVec touched_ranges(const Touched *t, Analyzer *facts) {
  NodeVec out = {0}, shape = AS(Buffer, t->buffer)->shape;
  for (int i = 0; i < shape.len; i++) {
    Node *lo = t->lo.at[i], *size = shape.at[i], *n = NULL;
    if (lo) {
      n = expr_add(expr_sub(t->hi.at[i], lo), int_imm(lo->dtype, 1, lo->span));
      n = arith_simplify(facts, n);
      if (arith_can_prove(facts, expr_binary(NK_GE, n, size, n->span))) n = NULL;
    }
    Node *start = n ? arith_simplify(facts, lo) : int_imm(size->dtype, 0, size->span);
    vec_push(&out, MAKE(Range, size->span, VOID_TYPE, .min = start, .extent = n ? n : size));
  }
  return out;
}

/* ---- steps apart ---- */

/* Does what one step touches in some dimension end before what the next one touches begins? */
static bool moves_on(const Touched *t, const For *f, Analyzer *facts) {
  Map next = {0};
  Node *after = expr_add(f->var, int_imm(f->var->dtype, 1, f->node.span));
  map_set(&next, f->var, after);
  int mark =
      arith_enter(facts, expr_binary(NK_LT, after, expr_add(f->min, f->extent), f->node.span));
  bool found = false;
  for (int i = 0; i < t->lo.len && !found; i++) {
    if (!t->lo.at[i]) continue;
    Node *then = substitute(t->lo.at[i], &next);
    found = arith_can_prove(facts, expr_binary(NK_LT, t->hi.at[i], then, f->node.span));
  }
  arith_leave(facts, mark);
  return found;
}

/* Is what is touched in a dimension no longer than each digit's step? */
static bool fits_digits(const IterSum *sum, Node *lo, Node *hi, Analyzer *facts) {
  Node *length = expr_add(expr_sub(hi, lo), int_imm(lo->dtype, 1, lo->span));
  for (int i = 0; i < sum->splits.len; i++) {
    Node *scale = factor_expr(&sum->splits.at[i].scale, lo->dtype, lo->span);
    if (!arith_can_prove(facts, expr_binary(NK_LE, length, scale, lo->span))) return false;
  }
  return true;
}

/* Do the dimensions together count the steps, each by boxes that do not reach the next one? */
static bool counts_boxes(const Touched *t, const For *f, Analyzer *facts) {
  Map ranges = {0};
  NodeVec starts = {0};
  map_set(&ranges, f->var,
          MAKE(Range, f->node.span, VOID_TYPE, .min = f->min, .extent = f->extent));
  for (int i = 0; i < t->lo.len; i++)
    if (t->lo.at[i]) vec_push(&starts, t->lo.at[i]);
  IterMap map = iter_map_detect(starts, &ranges, NULL, facts);
  if (!map.injective) return false;
  for (int i = 0, k = 0; i < t->lo.len; i++)
    if (t->lo.at[i] && !fits_digits(map.sums.at[k++], t->lo.at[i], t->hi.at[i], facts))
      return false;
  return true;
}

bool touched_apart(const Touched *t, const For *loop, Analyzer *facts) {
  return expr_is_one(loop->extent) || moves_on(t, loop, facts) || counts_boxes(t, loop, facts);
}
