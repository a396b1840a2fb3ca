/* iter_simplify.c -- indices written anew from their digits: x // 8 * 8 + x % 8 is x. */
#include "ir/arith/iter_map_impl.h"

static Node *sum_expr(const IterSum *s, DataType t, Span span);

/* The value of a mark, its low included. */
static Node *mark_expr(const IterMark *m, DataType t, Span span) {
  return m->var ? expr_cast(t, m->var, span) : sum_expr(&m->sum, t, span);
}

static Node *split_expr(const IterSplit *x, DataType t, Span span) {
  Node *value = mark_expr(x->source, t, span), *low = expr_cast(t, x->source->low, span);
  Factor end;
  bool top = factor_mul(&x->lower, &x->extent, &end) && factor_equal(&end, &x->source->extent);
  value = expr_floordiv(expr_sub(value, low), factor_expr(&x->lower, t, span));
  if (!top) value = expr_floormod(value, factor_expr(&x->extent, t, span));
  return expr_mul(value, factor_expr(&x->scale, t, span));
}

static Node *sum_expr(const IterSum *s, DataType t, Span span) {
  Node *e = NULL;
  for each (IterSplit, x, &s->splits) {
    Node *term = split_expr(x, t, span);
    e = e ? expr_add(e, term) : term;
  }
  Node *base = expr_cast(t, s->base, span);
  return e ? expr_add(e, base) : base;
}

static WalkResult count_node(Walker *w, Node *n) {
  (void)n;
  ++*(int *)w->context;
  return WALK_ON;
}
static int size_of(Node *e) {
  int n = 0;
  Walker w = {.enter = count_node, .context = &n};
  walk(&w, e);
  return n;
}

Node *iter_simplify(Node *e, const Map *loops, Analyzer *facts) {
  Node *plain = arith_simplify(facts, e);
  IterMap m = iter_map_detect(NODES(plain), loops, NULL, facts);
  if (!m.sums.at[0]) return plain;
  Node *other = arith_simplify(facts, sum_expr(m.sums.at[0], plain->dtype, plain->span));
  return size_of(other) < size_of(plain) ? other : plain;
}
