/* index_map.c -- index maps: where they put an element, the shape they make, and their inverses. */
#include "ir/arith/iter_map_impl.h"

typedef struct PutIn {
  Map at; /* inputs to the indices that are put in */
  DataType from, to;
} PutIn;

/* Operators are built anew, as the indices that are put in may have another dtype; numbers of the
 * map's dtype are of theirs, where they fit. */
static Node *put_in(Mutator *m, Node *n) {
  const PutIn *p = m->context;
  if (IS(Var, n)) {
    Node *to = map_get(&p->at, n);
    return to ? to : n;
  }
  if (IS(IntImm, n) && dtype_equal(n->dtype, p->from)) {
    Node *number = expr_cast(p->to, n, n->span);
    return IS(IntImm, number) ? number : n;
  }
  if (!node_is_binary((NodeKind)n->kind)) return mutate_children(m, n);
  Node *a = mutate(m, as_binary(n)->a), *b = mutate(m, as_binary(n)->b);
  return expr_binary((NodeKind)n->kind, a, b, n->span);
}

NodeVec index_map_apply(const IndexMap *m, NodeVec indices, Span span) {
  NodeVec out = {0};
  PutIn p = {.from = VOID_TYPE, .to = VOID_TYPE};
  for (int i = 0; i < indices.len; i++) map_set(&p.at, m->inputs.at[i], indices.at[i]);
  if (indices.len && dtype_is_int(indices.at[0]->dtype))
    p.from = m->inputs.at[0]->dtype, p.to = indices.at[0]->dtype;
  for each (Node *, x, &m->outputs) {
    Mutator put = {.rewrite = put_in, .context = &p};
    Node *y = mutate(&put, *x);
    bool number = IS(IntImm, y) && indices.len && dtype_is_int(y->dtype);
    vec_push(&out, number ? expr_cast(indices.at[0]->dtype, y, span) : y);
  }
  return out;
}

Node *index_map_of_dtype(const IndexMap *m, DataType t) {
  NodeVec inputs = {0};
  for each (Node *, v, &m->inputs) vec_push(&inputs, var_new(AS(Var, *v)->name, t, (*v)->span));
  return MAKE(IndexMap, m->node.span, VOID_TYPE, .inputs = inputs,
              .outputs = index_map_apply(m, inputs, m->node.span));
}

/* The domain of a map's inputs. */
static Map domain_of(const IndexMap *m, NodeVec shape, Analyzer *facts) {
  Map ranges = {0};
  for (int i = 0; i < shape.len; i++) {
    Node *v = m->inputs.at[i], *zero = int_imm(v->dtype, 0, v->span);
    Node *extent = expr_cast(v->dtype, shape.at[i], v->span);
    map_set(&ranges, v, MAKE(Range, v->span, VOID_TYPE, .min = zero, .extent = extent));
    arith_bind_range(facts, v, zero, extent);
  }
  return ranges;
}

/* One more than the greatest value of an output. */
static Node *output_extent(Node *e, const IterSum *sum, const Map *ranges, Analyzer *facts) {
  Node *least = NULL, *n = NULL, *unused, *most;
  Node *one = int_imm(e->dtype, 1, e->span);
  if (sum && iter_sum_range(sum, e->dtype, &least, &n)) n = expr_add(least, n);
  else {
    ConstBound b = arith_const_bound(facts, e);
    if (!arith_bounds_over(e, ranges, &least, &unused)) least = int_imm(e->dtype, b.lo, e->span);
    if (b.hi != ARITH_POS_INF && bound_fits((ConstBound){b.hi, b.hi}, e->dtype))
      most = int_imm(e->dtype, b.hi, e->span);
    else if (!arith_bounds_over(e, ranges, &unused, &most)) return NULL;
    n = expr_add(most, one);
  }
  Node *zero = int_imm(least->dtype, 0, e->span);
  if (!arith_can_prove(facts, expr_binary(NK_GE, least, zero, e->span))) return NULL;
  return arith_simplify(facts, n);
}

bool index_map_shape(const IndexMap *m, NodeVec shape, Analyzer *facts, NodeVec *out) {
  Map ranges = domain_of(m, shape, facts);
  IterMap map = iter_map_detect_padded(m->outputs, &ranges, facts);
  *out = (NodeVec){0};
  for (int i = 0; i < m->outputs.len; i++) {
    Node *n = output_extent(m->outputs.at[i], map.sums.at[i], &ranges, facts);
    if (!n) return false;
    vec_push(out, n);
  }
  return true;
}

/* The condition that an input is outside of its domain. */
static Node *outside(Node *value, Node *extent, Analyzer *facts) {
  Node *zero = int_imm(value->dtype, 0, value->span);
  Node *low = expr_binary(NK_LT, value, zero, value->span);
  Node *high = expr_binary(NK_GE, value, expr_cast(value->dtype, extent, value->span), value->span);
  low = arith_simplify(facts, low);
  high = arith_simplify(facts, high);
  return arith_simplify(facts, expr_binary(NK_Or, low, high, value->span));
}

/* A domain of two negative extents has no step, and a box as large as their product. */
static bool may_be_negative(const IndexMap *m, const Map *ranges, Analyzer *facts) {
  for each (Node *, v, &m->inputs)
    if (arith_const_bound(facts, AS(Range, map_get(ranges, *v))->extent).lo < 0) return true;
  return false;
}

/* Is each place of the box that of an element? */
static bool fills_box(const IndexMap *m, const Map *ranges, NodeVec box, Analyzer *facts) {
  IterMap map = iter_map_detect(m->outputs, ranges, NULL, facts);
  if (!map.injective || !map.surjective || may_be_negative(m, ranges, facts)) return false;
  for (int i = 0; i < box.len; i++) {
    Node *least, *count;
    if (!iter_sum_range(map.sums.at[i], box.at[i]->dtype, &least, &count)) return false;
    if (!expr_is_zero(arith_simplify(facts, least)) ||
        !arith_can_prove_equal(facts, count, box.at[i]))
      return false;
  }
  return true;
}

Node *index_map_inverse(const IndexMap *m, NodeVec shape, Analyzer *facts, Node **padding) {
  Map ranges = domain_of(m, shape, facts), values = {0};
  NodeVec full, inputs = {0}, outputs = {0};
  IterMap map = iter_map_detect_padded(m->outputs, &ranges, facts);
  if (!index_map_shape(m, shape, facts, &full)) return NULL;
  for (int i = 0; i < m->outputs.len; i++) {
    Node *y = var_new(str_format("i%d", i), m->outputs.at[i]->dtype, m->node.span);
    arith_bind_range(facts, y, int_imm(y->dtype, 0, y->span), full.at[i]);
    vec_push(&inputs, y);
  }
  if (!iter_map_inverse(&map, inputs, &values)) return NULL;
  *padding = int_imm(BOOL, 0, m->node.span);
  bool pads = !fills_box(m, &ranges, full, facts);
  for (int i = 0; i < inputs.len; i++) {
    Node *least, *count, *y = inputs.at[i];
    if (!iter_sum_range(map.sums.at[i], y->dtype, &least, &count)) return NULL;
    *padding = expr_binary(NK_Or, *padding, expr_binary(NK_LT, y, least, y->span), y->span);
  }
  for (int i = 0; i < m->inputs.len; i++) {
    Node *x = arith_simplify(facts, map_get(&values, m->inputs.at[i]));
    vec_push(&outputs, x);
    if (pads) *padding = expr_binary(NK_Or, *padding, outside(x, shape.at[i], facts), m->node.span);
  }
  *padding = arith_simplify(facts, *padding);
  return MAKE(IndexMap, m->node.span, VOID_TYPE, .inputs = inputs, .outputs = outputs);
}
