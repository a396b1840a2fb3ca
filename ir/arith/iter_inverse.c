/* iter_inverse.c -- from which step of the loops the indices of a map come. */
#include "ir/arith/iter_map_impl.h"

/* What is known of a mark: the value of one of its digits. */
typedef struct Digit {
  IterSplit split;
  Node *value;
} Digit;

typedef struct Solve {
  VEC(Digit) digits;
  Map done; /* IterMark to its value, without its low */
} Solve;

/* The digits of a sum's splits, of its value without the base. The last place takes what is left.
 */
static bool take_apart(Solve *s, const IterSum *sum, Node *value) {
  Fused f;
  DataType t = value->dtype;
  if (!iter_fuse(sum, false, &f) || (sum->splits.len && !factor_is(&f.scale, 1))) return false;
  Factor at = factor_int(1);
  for (int i = 0; i < f.sum.splits.len; i++) {
    IterSplit x = f.sum.splits.at[i];
    Node *extent = factor_expr(&x.extent, t, value->span);
    Node *v = expr_floordiv(value, factor_expr(&at, t, value->span));
    if (i < f.sum.splits.len - 1) v = expr_floormod(v, extent);
    if (x.scale.k < 0) v = expr_sub(expr_sub(extent, int_imm(t, 1, value->span)), v);
    Digit d = {x, v};
    vec_push(&s->digits, d);
    if (!factor_mul(&at, &x.extent, &at)) return false;
  }
  return true;
}

/* The value of a mark, if its digits are all known. */
static Node *value_of(const Solve *s, const IterMark *m, DataType t, Span span) {
  Factor at = factor_int(1);
  Node *value = int_imm(t, 0, span);
  while (!factor_equal(&at, &m->extent)) {
    const Digit *next = NULL;
    for each (Digit, d, &s->digits)
      if (d->split.source == m && factor_equal(&d->split.lower, &at)) next = d;
    if (!next) return NULL;
    value =
        expr_add(expr_mul(next->value, factor_expr(&at, t, span)), value); /* the widest first */
    if (!factor_mul(&at, &next->split.extent, &at)) return NULL;
  }
  return value;
}

/* The least value of a sum's splits: what falls is greatest there. */
static Node *least_of(const IterSum *sum, DataType t) {
  Fused f;
  if (!iter_fuse(sum, false, &f)) return NULL;
  return expr_neg(expr_cast(t, f.sum.base, sum->base->span), sum->base->span);
}

static bool solve_mark(Solve *s, const IterMark *m, DataType t, Span span) {
  Node *value = value_of(s, m, t, span);
  if (!value) return false;
  map_set(&s->done, m, value);
  if (m->var) return true;
  return take_apart(s, &m->sum, expr_add(value, expr_cast(t, m->low, span)));
}

bool iter_map_inverse(const IterMap *m, NodeVec indices, Map *values) {
  Solve s = {0};
  DataType t = indices.len ? indices.at[0]->dtype : INT32;
  Span span = indices.len ? indices.at[0]->span : (Span){0};
  if (!m->surjective || !m->injective) return false;
  for (int i = 0; i < m->sums.len; i++) {
    Node *y = expr_cast(t, indices.at[i], span), *least = least_of(m->sums.at[i], t);
    if (!least) return false;
    Node *from = expr_add(expr_cast(t, m->sums.at[i]->base, span), least);
    if (!take_apart(&s, m->sums.at[i], expr_sub(y, from))) return false;
  }
  for (bool more = true; more;) {
    more = false;
    for each (IterMark *, mark, &m->marks)
      if (!map_has(&s.done, *mark)) more |= solve_mark(&s, *mark, t, span);
  }
  for each (IterMark *, mark, &m->marks) {
    if (!(*mark)->var) continue;
    Node *value = map_get(&s.done, *mark);
    if (!value) return false;
    DataType vt = (*mark)->var->dtype;
    map_set(values, (*mark)->var,
            expr_cast(vt, expr_add(value, expr_cast(t, (*mark)->low, span)), span));
  }
  return true;
}
