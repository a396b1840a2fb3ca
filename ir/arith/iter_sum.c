/* iter_sum.c -- marks, and sums of their splits: what iteration maps are computed with. */
#include "ir/arith/iter_map_impl.h"

/* ---- marks ---- */

static WalkResult find_moving(Walker *w, Node *n) {
  return IS(Var, n) && map_has(w->context, n) ? WALK_STOP : WALK_ON;
}
bool iter_moves(const Detect *d, Node *e) {
  Walker w = {.enter = find_moving, .context = (void *)(uintptr_t)d->loops};
  return !walk(&w, e);
}

/* What a domain that is made larger gets: steps in front of it, and an extent that is a multiple.
 */
static void grow_domain(Detect *d, IterMark *m) {
  Padding *p = map_get(&d->paddings, m->var);
  if (!p) return;
  DataType t = m->var->dtype;
  Node *front = int_imm(t, p->front, m->var->span),
       *multiple = int_imm(t, p->multiple, front->span);
  m->low = arith_simplify(d->facts, expr_sub(m->low, front));
  Node *n = expr_add(factor_expr(&m->extent, t, front->span), front);
  Node *up = expr_sub(expr_add(n, multiple), int_imm(t, 1, front->span));
  Factor count = factor_of(d->facts, arith_simplify(d->facts, expr_floordiv(up, multiple)));
  Factor by = factor_int(p->multiple);
  d->failed |= !factor_mul(&count, &by, &m->extent);
}

IterMark *iter_mark_of_var(Detect *d, Node *var) {
  for each (IterMark *, m, &d->marks)
    if ((*m)->var == var) return *m;
  Node *range = map_get(d->loops, var);
  if (!IS(Range, range)) return NULL;
  Range *r = AS(Range, range);
  if (iter_moves(d, r->min) || iter_moves(d, r->extent)) return NULL;
  IterMark *m = NEW(IterMark, .var = var, .low = r->min);
  m->extent = factor_of(d->facts, arith_simplify(d->facts, r->extent));
  grow_domain(d, m);
  if (m->extent.k < 1) return NULL;
  vec_push(&d->marks, m);
  return m;
}

static bool same_split(const IterSplit *a, const IterSplit *b) {
  return a->source == b->source && factor_equal(&a->lower, &b->lower) &&
         factor_equal(&a->extent, &b->extent);
}

bool iter_same_splits(const IterSum *a, const IterSum *b) {
  if (a->splits.len != b->splits.len) return false;
  for (int i = 0; i < a->splits.len; i++)
    if (!same_split(&a->splits.at[i], &b->splits.at[i]) ||
        !factor_equal(&a->splits.at[i].scale, &b->splits.at[i].scale))
      return false;
  return true;
}

IterMark *iter_mark_of_sum(Detect *d, const Fused *f) {
  for each (IterMark *, m, &d->marks)
    if (!(*m)->var && iter_same_splits(&(*m)->sum, &f->sum)) return *m;
  IterMark *m = NEW(IterMark, .sum = f->sum, .low = int_imm(INT64, 0, (Span){0}));
  m->extent = f->extent;
  vec_push(&d->marks, m);
  return m;
}

static void add_vars(const IterMark *m, Map *vars) {
  if (m->var) {
    map_set(vars, m->var, m->var);
    return;
  }
  for each (IterSplit, s, &m->sum.splits) add_vars(s->source, vars);
}

bool iter_marks_apart(const IterMark *a, const IterMark *b) {
  Map left = {0}, right = {0};
  add_vars(a, &left);
  add_vars(b, &right);
  for (int i = 0; i < left.len; i++)
    if (map_has(&right, left.at[i].key)) return false;
  return true;
}

static bool splits_apart(const IterSplit *a, const IterSplit *b) {
  if (a->source != b->source) return iter_marks_apart(a->source, b->source);
  Factor end, q;
  return (factor_mul(&a->lower, &a->extent, &end) && factor_divide(&b->lower, &end, &q)) ||
         (factor_mul(&b->lower, &b->extent, &end) && factor_divide(&a->lower, &end, &q));
}

/* ---- sums ---- */

/* Two digits that stand side by side in both the value and the sum are one. */
static bool join_digits(IterSum *s) {
  for (int i = 0; i < s->splits.len; i++)
    for (int k = 0; k < s->splits.len; k++) {
      IterSplit *low = &s->splits.at[i], *high = &s->splits.at[k];
      Factor end, step, both;
      if (i == k || low->source != high->source) continue;
      bool fits = factor_mul(&low->lower, &low->extent, &end) &&
                  factor_mul(&low->scale, &low->extent, &step) &&
                  factor_mul(&low->extent, &high->extent, &both);
      if (!fits || !factor_equal(&end, &high->lower) || !factor_equal(&step, &high->scale))
        continue;
      low->extent = both;
      *high = vec_pop(&s->splits);
      return true;
    }
  return false;
}

bool iter_add_split(IterSum *s, IterSplit x) {
  for (int i = 0; i < s->splits.len; i++) {
    IterSplit *old = &s->splits.at[i];
    Factor a = old->scale, b = x.scale;
    a.k = b.k = 1;
    if (!same_split(old, &x) || !factor_equal(&a, &b)) continue;
    if (__builtin_add_overflow(old->scale.k, x.scale.k, &old->scale.k)) return false;
    if (!old->scale.k) s->splits.at[i] = vec_pop(&s->splits);
    return true;
  }
  if (!factor_is(&x.extent, 1)) vec_push(&s->splits, x);
  return true;
}

IterSum iter_copy(const IterSum *s) {
  IterSum out = {.base = s->base};
  for each (IterSplit, x, &s->splits) vec_push(&out.splits, *x);
  return out;
}

bool iter_add_scaled(Detect *d, IterSum *s, const IterSum *x, const Factor *k) {
  DataType t = s->base->dtype;
  Node *more = expr_mul(expr_cast(t, x->base, x->base->span), factor_expr(k, t, x->base->span));
  s->base = arith_simplify(d->facts, expr_add(s->base, more));
  if (!k->k) return true;
  for each (IterSplit, p, &x->splits) {
    IterSplit scaled = *p;
    if (!factor_mul(&p->scale, k, &scaled.scale) || !iter_add_split(s, scaled)) return false;
  }
  while (join_digits(s)) continue;
  return true;
}

bool iter_const_range(const IterSum *s, __int128 *lo, __int128 *hi) {
  int64_t base;
  if (!expr_is_const_int(s->base, &base)) return false;
  *lo = *hi = base;
  for each (IterSplit, p, &s->splits) {
    if (p->scale.terms.len || p->extent.terms.len) return false;
    *(p->scale.k < 0 ? lo : hi) += (__int128)p->scale.k * (p->extent.k - 1);
  }
  return true;
}

bool iter_is_exact(const IterSum *s, DataType t) {
  __int128 lo, hi;
  if (!iter_const_range(s, &lo, &hi)) return true;
  return lo >= INT64_MIN && hi <= INT64_MAX &&
         bound_fits((ConstBound){(int64_t)lo, (int64_t)hi}, t);
}

/* ---- sums without gaps ---- */

bool iter_all_apart(const IterSum *s) {
  for (int i = 0; i < s->splits.len; i++)
    for (int k = 0; k < i; k++)
      if (!splits_apart(&s->splits.at[i], &s->splits.at[k])) return false;
  return true;
}

static Factor magnitude(Factor f) {
  if (f.k < 0) f.k = -f.k;
  return f;
}

/* The split, of those not taken, whose scale follows next: `want`, or with gaps the least one that
 * is not less; -1: none. want NULL: the least one. */
static int next_split(const IterSum *s, const bool *taken, const Factor *want, bool gaps) {
  int best = -1;
  for (int i = 0; i < s->splits.len; i++) {
    Factor scale = magnitude(s->splits.at[i].scale);
    if (taken[i] || scale.k == INT64_MIN || (!want && scale.terms.len)) continue;
    if (want && factor_equal(&scale, want)) return i;
    if (want && (!gaps || !factor_at_least(&scale, want))) continue;
    if (best < 0 || scale.k < magnitude(s->splits.at[best].scale).k) best = i;
  }
  return best;
}

bool iter_fuse(const IterSum *s, bool gaps, Fused *f) {
  enum { MOST = 16 };
  bool taken[MOST] = {false};
  Factor end = factor_int(1);
  *f = (Fused){.extent = factor_int(1), .scale = factor_int(1)};
  f->sum.base = int_imm(INT64, 0, s->base->span);
  if (s->splits.len > MOST || (!gaps && !iter_all_apart(s))) return false;
  for (int n = 0; n < s->splits.len; n++) {
    int i = next_split(s, taken, n ? &end : NULL, gaps);
    if (i < 0) return false;
    taken[i] = true;
    IterSplit x = s->splits.at[i];
    Factor scale = magnitude(x.scale);
    if (!n) f->scale = scale;
    if (!factor_mul(&scale, &x.extent, &end) || !factor_mul(&f->extent, &x.extent, &f->extent))
      return false;
    if (!gaps && !factor_divide(&x.scale, &f->scale, &x.scale)) return false;
    if (x.scale.k < 0) { /* it falls: 0 is where the others are 0 and this one is greatest */
      Factor most = magnitude(x.scale);
      Node *last =
          expr_sub(factor_expr(&x.extent, INT64, s->base->span), int_imm(INT64, 1, s->base->span));
      f->sum.base = expr_add(f->sum.base, expr_mul(last, factor_expr(&most, INT64, last->span)));
    }
    vec_push(&f->sum.splits, x);
  }
  return true;
}
