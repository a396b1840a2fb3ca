/* region.c -- the elements that a region takes as loops run: a box around them, or one inside. */
#include "ir/arith/arith_impl.h"
#include "ir/arith/int_set.h"
#include "ir/arith/iter_map.h"

static bool moves_with(const Map *loops, Node *e) {
  IntSet point = {0};
  Map sets = {0};
  for (int i = 0; i < loops->len; i++)
    if (loops->at[i].key) map_set(&sets, loops->at[i].key, &point);
  IntSet s = arith_int_set(e, &sets);
  return s.min != s.max || !s.min;
}

IntSetVec region_around(NodeVec region, const Map *loops) {
  IntSetVec box = {0};
  for each (Node *, n, &region) {
    Range *r = AS(Range, *n);
    Node *least, *greatest, *unused, *one = int_imm(dtype_element(r->min->dtype), 1, r->node.span);
    IntSet s = {0};
    if (arith_bounds_over(r->min, loops, &least, &unused)) s.min = least;
    Node *last = expr_sub(expr_add(r->min, r->extent), one);
    if (arith_bounds_over(last, loops, &unused, &greatest)) s.max = greatest;
    vec_push(&box, s);
  }
  return box;
}

/* The start of a dimension as rest + step * index: steps no longer than the extent leave no gap. */
typedef struct Stepped {
  Node *rest, *index;
  int64_t step;
} Stepped;

static bool take_steps(Range *r, const Map *loops, Stepped *out) {
  Linear l, rest = {0}, index = {0};
  DataType t = r->min->dtype;
  int64_t extent, step = 0;
  if (!expr_is_const_int(r->extent, &extent)) extent = 1;
  if (extent < 1 || !arith_linear(r->min, &l) || !linear_fits(&l, t)) return false;
  for (int i = 0; i < l.terms.len; i++)
    if (moves_with(loops, l.terms.at[i])) step = gcd_of(step, l.coeffs.at[i]);
  if (step > extent || step == 0) step = 1;
  rest.constant = l.constant;
  for (int i = 0; i < l.terms.len; i++) {
    bool moving = moves_with(loops, l.terms.at[i]);
    if (!linear_add_term(moving ? &index : &rest, l.terms.at[i],
                         moving ? l.coeffs.at[i] / step : l.coeffs.at[i]))
      return false;
  }
  *out = (Stepped){linear_expr(&rest, t, r->node.span), linear_expr(&index, t, r->node.span), step};
  return true;
}

bool region_exact(NodeVec region, const Map *loops, Node *predicate, Analyzer *facts,
                  IntSetVec *out) {
  NodeVec indices = {0};
  VEC(Stepped) steps = {0};
  for each (Node *, n, &region) {
    Stepped s;
    if (moves_with(loops, AS(Range, *n)->extent) || !take_steps(AS(Range, *n), loops, &s))
      return false;
    vec_push(&steps, s);
    vec_push(&indices, s.index);
  }
  IterMap m = iter_map_detect(indices, loops, predicate, facts);
  if (!m.surjective) return false;
  for (int i = 0; i < region.len; i++) {
    Range *r = AS(Range, region.at[i]);
    DataType t = r->min->dtype;
    Node *least, *count, *one = int_imm(t, 1, r->node.span);
    if (!m.sums.at[i] || !iter_sum_range(m.sums.at[i], t, &least, &count)) return false;
    Node *step = int_imm(t, steps.at[i].step, r->node.span);
    Node *first = expr_add(steps.at[i].rest, expr_mul(least, step));
    Node *moved = expr_mul(expr_sub(count, one), step);
    Node *last = expr_sub(expr_add(expr_add(first, moved), r->extent), one);
    IntSet s = {arith_simplify(facts, first), arith_simplify(facts, last)};
    vec_push(out, s);
  }
  return true;
}
