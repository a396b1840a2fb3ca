/* iter_map.c -- indices as sums of splits of marks, and what follows from that. */
#include "ir/arith/iter_map_impl.h"

/* ---- division ---- */

/* The parts of the sum whose scale c divides, and the rest of it with the base. */
static bool partition(Detect *d, const IterSum *s, const Factor *c, IterSum *whole, IterSum *rest) {
  DataType t = s->base->dtype;
  Node *by = factor_expr(c, t, s->base->span);
  *whole = *rest = (IterSum){0};
  for each (IterSplit, x, &s->splits) {
    IterSplit q = *x;
    if (!factor_divide(&x->scale, c, &q.scale)) vec_push(&rest->splits, *x);
    else vec_push(&whole->splits, q);
  }
  whole->base = arith_simplify(d->facts, expr_floordiv(s->base, by));
  rest->base = arith_simplify(d->facts, expr_floormod(s->base, by));
  int64_t base;
  return !rest->splits.len || expr_is_const_int(rest->base, &base);
}

/* 0 <= rest < c? */
static bool is_small(const IterSum *rest, const Factor *c) {
  __int128 lo, hi;
  if (iter_const_range(rest, &lo, &hi)) return lo >= 0 && !c->terms.len && hi < c->k;
  Fused f;
  Factor reach, q;
  if (!expr_is_zero(rest->base) || !iter_fuse(rest, false, &f) || !expr_is_zero(f.sum.base))
    return false;
  return factor_mul(&f.scale, &f.extent, &reach) && factor_divide(c, &reach, &q) && q.k > 0;
}

/* The domain of the mark must be a multiple of n, with `front` steps in front of it. */
static bool want_padding(Detect *d, IterMark *m, int64_t n, int64_t front) {
  if (!d->pads || !m->var || n < 1) return false;
  Padding *p = map_get(&d->paddings, m->var);
  if (!p) {
    p = NEW(Padding, .multiple = 1);
    map_set(&d->paddings, m->var, p);
  }
  int64_t scaled, g = gcd_of(p->multiple, n);
  if (__builtin_mul_overflow(p->multiple / g, n, &scaled) || scaled > INT32_MAX) return false;
  if (scaled != p->multiple || front) d->again = true;
  p->multiple = scaled;
  if (front > p->more) p->more = front;
  return false; /* this time; the next one finds it */
}

/* rest = scale * split with all of rest's base in it; the split may be of a new mark. */
static bool as_split(Detect *d, const IterSum *rest, const Factor *c, IterSplit *out) {
  Fused f;
  int64_t base;
  if (!iter_fuse(rest, false, &f) || f.scale.terms.len || !expr_is_const_int(rest->base, &base))
    return false;
  if (f.sum.splits.len == 1 && expr_is_zero(f.sum.base)) *out = f.sum.splits.at[0];
  else {
    IterMark *m = iter_mark_of_sum(d, &f);
    *out = (IterSplit){m, factor_int(1), m->extent, factor_int(1)};
    int64_t fall, low, shift;
    if (!expr_is_const_int(f.sum.base, &fall) || !expr_is_const_int(m->low, &low)) return false;
    if (__builtin_sub_overflow(low, fall, &shift) ||
        __builtin_mul_overflow(shift, f.scale.k, &shift) ||
        __builtin_add_overflow(base, shift, &base))
      return false;
  }
  out->scale = f.scale;
  if (!base) return true;
  bool is_var = out->source->var && factor_is(&out->lower, 1) && factor_is(&f.scale, 1) &&
                factor_equal(&out->extent, &out->source->extent);
  if (is_var && base > 0 && !c->terms.len) want_padding(d, out->source, c->k, base % c->k);
  return false;
}

/* Of a domain that may grow, a digit takes all its values, also where the variable has less. */
static bool fills_no_digit(const Detect *d, const IterSplit *x, const Factor *c) {
  return d->pads && x->source->var && factor_is(&x->scale, 1) && !c->terms.len &&
         factor_equal(&x->extent, &x->source->extent) && !x->extent.terms.len && x->extent.k < c->k;
}

static bool divide(Detect *d, const IterSum *s, const Factor *c, bool quotient, IterSum *out) {
  IterSum whole, rest;
  IterSplit x;
  Factor k, high, low = {.k = 1};
  if (!partition(d, s, c, &whole, &rest)) return false;
  if (rest.splits.len == 1 && !whole.splits.len && fills_no_digit(d, &rest.splits.at[0], c))
    return want_padding(d, rest.splits.at[0].source, c->k, 0);
  bool small = !rest.splits.len || is_small(&rest, c);
  *out = quotient ? whole : rest;
  if (small) return true;
  if (!as_split(d, &rest, c, &x) || !factor_divide(c, &x.scale, &k)) return false;
  if (!factor_divide(&x.extent, &k, &high)) {
    Factor end, step;
    bool top = factor_mul(&x.lower, &x.extent, &end) && factor_equal(&end, &x.source->extent);
    bool steps = factor_mul(&x.lower, &k, &step) && !step.terms.len;
    return top && steps && want_padding(d, x.source, step.k, 0);
  }
  if (!factor_mul(&x.lower, &k, &low)) return false;
  IterSplit part = quotient ? (IterSplit){x.source, low, high, factor_int(1)}
                            : (IterSplit){x.source, x.lower, k, x.scale};
  if (!quotient) {
    *out = (IterSum){.base = int_imm(s->base->dtype, 0, s->base->span)};
    return iter_add_split(out, part);
  }
  return iter_add_split(out, part);
}

/* ---- expressions ---- */

static bool rewrite(Detect *d, Node *e, IterSum *out);

static bool rewrite_var(Detect *d, Node *var, IterSum *out) {
  IterMark *m = iter_mark_of_var(d, var);
  if (!m) return false;
  out->base = expr_cast(var->dtype, m->low, var->span);
  return iter_add_split(out, (IterSplit){m, factor_int(1), m->extent, factor_int(1)});
}

static bool rewrite_product(Detect *d, Node *x, Node *k, IterSum *out) {
  IterSum inner;
  Factor f = factor_of(d->facts, arith_simplify(d->facts, k));
  if (iter_moves(d, k) || !rewrite(d, x, &inner)) return false;
  out->base = int_imm(inner.base->dtype, 0, x->span);
  return iter_add_scaled(d, out, &inner, &f);
}

static bool rewrite_sum(Detect *d, Node *e, IterSum *out) {
  IterSum a, b;
  Factor k = factor_int(IS(Sub, e) ? -1 : 1);
  if (!rewrite(d, as_binary(e)->a, &a) || !rewrite(d, as_binary(e)->b, &b)) return false;
  *out = iter_copy(&a);
  return iter_add_scaled(d, out, &b, &k);
}

/* A divisor that takes part is positive if all its terms are. */
static bool rewrite_division(Detect *d, Node *e, IterSum *out) {
  IterSum inner;
  Node *by = as_binary(e)->b;
  if (iter_moves(d, by) || !rewrite(d, as_binary(e)->a, &inner)) return false;
  Factor c = factor_of(d->facts, by);
  for each (Node *, t, &c.terms)
    if (arith_const_bound(d->facts, *t).lo < 0) return false;
  return c.k > 0 && divide(d, &inner, &c, IS(FloorDiv, e), out);
}

/* A cast to fewer bits keeps a value that is known to fit. */
static bool rewrite_cast(Detect *d, Node *e, IterSum *out) {
  Node *value = AS(Cast, e)->value;
  __int128 lo, hi;
  if (!dtype_is_int(value->dtype) || !rewrite(d, value, out)) return false;
  return value->dtype.bits <= e->dtype.bits || iter_const_range(out, &lo, &hi);
}

static bool rewrite_node(Detect *d, Node *e, IterSum *out) {
  if (!iter_moves(d, e)) {
    out->base = e;
    return true;
  }
  switch (e->kind) {
  case NK_Var: return rewrite_var(d, e, out);
  case NK_Add:
  case NK_Sub: return rewrite_sum(d, e, out);
  case NK_Mul: {
    Node *a = as_binary(e)->a, *b = as_binary(e)->b;
    return iter_moves(d, a) ? rewrite_product(d, a, b, out) : rewrite_product(d, b, a, out);
  }
  case NK_FloorDiv:
  case NK_FloorMod: return rewrite_division(d, e, out);
  case NK_Cast: return rewrite_cast(d, e, out);
  default: return false;
  }
}

static bool rewrite(Detect *d, Node *e, IterSum *out) {
  *out = (IterSum){0};
  if (stack_is_low() || !is_signed_index(e->dtype) || !rewrite_node(d, e, out)) return false;
  if (!iter_is_exact(out, e->dtype)) return false;
  if (!dtype_equal(out->base->dtype, e->dtype)) out->base = expr_cast(e->dtype, out->base, e->span);
  return true;
}

/* ---- predicates ---- */

/* The mark that is all of the sum but its base, with scale 1. */
static IterMark *mark_of_all(Detect *d, const IterSum *s, const Fused *f) {
  if (!factor_is(&f->scale, 1)) return NULL;
  if (s->splits.len > 1) return expr_is_zero(f->sum.base) ? iter_mark_of_sum(d, f) : NULL;
  const IterSplit *x = &s->splits.at[0];
  bool all = factor_is(&x->scale, 1) && factor_equal(&x->extent, &x->source->extent);
  return all ? x->source : NULL;
}

/* low + x of the mark must be from `begin` on (or NULL), and end before `end` (or NULL). */
static void cut(Detect *d, IterMark *m, Node *begin, Node *end) {
  Node *edge = begin ? begin : end;
  DataType t = edge->dtype;
  Node *low = expr_cast(t, m->low, edge->span), *extent = factor_expr(&m->extent, t, edge->span);
  Node *x = arith_simplify(d->facts, expr_sub(edge, low)), *zero = int_imm(t, 0, edge->span);
  NodeKind order = begin ? NK_LE : NK_GE;
  if (arith_can_prove(d->facts, expr_binary(order, x, begin ? zero : extent, edge->span))) return;
  d->failed |= !arith_can_prove(d->facts, expr_binary(NK_GE, x, zero, edge->span)) ||
               !arith_can_prove(d->facts, expr_binary(NK_LE, x, extent, edge->span));
  Node *count = begin ? arith_simplify(d->facts, expr_sub(extent, x)) : x;
  if (begin) m->low = edge;
  m->extent = factor_of(d->facts, count);
  m->constrained = true;
  d->failed |= m->extent.k < 1;
}

static void constrain(Detect *d, Node *cond) {
  if (IS(And, cond)) {
    constrain(d, AS(And, cond)->a);
    constrain(d, AS(And, cond)->b);
    return;
  }
  if (is_intrin_call(cond, "likely")) return constrain(d, AS(Call, cond)->args.at[0]);
  if (!iter_moves(d, cond)) return;
  bool order = IS(LT, cond) || IS(LE, cond) || IS(GT, cond) || IS(GE, cond);
  IterSum s;
  Fused f;
  Binary *b = as_binary(cond);
  bool known = order && rewrite(d, expr_sub(b->a, b->b), &s) && iter_fuse(&s, false, &f);
  IterMark *m = known && s.splits.len ? mark_of_all(d, &s, &f) : NULL;
  if (!m) {
    d->failed = true;
    return;
  }
  /* low + x + (base without the low of a variable) is compared with 0. */
  Node *edge = expr_neg(s.base, s.base->span), *one = int_imm(edge->dtype, 1, edge->span);
  if (m->var) edge = expr_add(edge, expr_cast(edge->dtype, m->low, edge->span));
  edge = arith_simplify(d->facts, edge);
  switch (cond->kind) {
  case NK_LT: cut(d, m, NULL, edge); break;
  case NK_LE: cut(d, m, NULL, expr_add(edge, one)); break;
  case NK_GE: cut(d, m, edge, NULL); break;
  default: cut(d, m, expr_add(edge, one), NULL); break;
  }
}

/* A sum that is a constrained mark, or a multiple of it, is written as one. */
static void use_constrained(Detect *d, IterSum *s) {
  Fused f;
  if (s->splits.len < 2 || !iter_fuse(s, false, &f) || !expr_is_zero(f.sum.base)) return;
  for each (IterMark *, m, &d->marks) {
    if (!(*m)->constrained || (*m)->var || !iter_same_splits(&(*m)->sum, &f.sum)) continue;
    DataType t = s->base->dtype;
    Node *low =
        expr_mul(expr_cast(t, (*m)->low, s->base->span), factor_expr(&f.scale, t, s->base->span));
    s->base = arith_simplify(d->facts, expr_add(s->base, low));
    s->splits.len = 0;
    vec_push(&s->splits, ((IterSplit){*m, factor_int(1), (*m)->extent, f.scale}));
    return;
  }
}

/* ---- what the map is ---- */

/* Every index has no gap, and no two of them share what moves. */
static bool is_surjective(const Detect *d, const IterMap *m) {
  IterSum all = {0};
  if (d->failed) return false;
  for each (IterSum *, s, &m->sums) {
    Fused f;
    if (!*s || !iter_fuse(*s, false, &f) || ((*s)->splits.len && !factor_is(&f.scale, 1)))
      return false;
    for each (IterSplit, x, &(*s)->splits) vec_push(&all.splits, *x);
  }
  for (int i = 0; i < d->marks.len; i++) {
    IterMark *c = d->marks.at[i];
    if (!c->constrained) continue;
    for each (IterSplit, x, &all.splits)
      if (x->source != c && !iter_marks_apart(x->source, c)) return false;
    for (int k = 0; k < i; k++)
      if (d->marks.at[k]->constrained && !iter_marks_apart(d->marks.at[k], c)) return false;
  }
  return iter_all_apart(&all);
}

/* Do the known digits of the mark make its value? */
static bool is_determined(const IterSum *known, const IterMark *m) {
  Factor at = factor_int(1);
  for (int steps = 0; steps <= known->splits.len; steps++) {
    if (factor_equal(&at, &m->extent)) return true;
    bool found = false;
    for each (IterSplit, x, &known->splits) {
      if (found || x->source != m || !factor_equal(&x->lower, &at)) continue;
      found = factor_mul(&at, &x->extent, &at);
    }
    if (!found) return false;
  }
  return false;
}

static bool is_injective(const Detect *d, const IterMap *m, int loops) {
  IterSum known = {0};
  Map done = {0};
  for each (IterSum *, s, &m->sums) {
    Fused f;
    if (!*s || !iter_fuse(*s, true, &f)) continue;
    for each (IterSplit, x, &(*s)->splits) vec_push(&known.splits, *x);
  }
  for (bool more = true; more;) {
    more = false;
    for each (IterMark *, mark, &d->marks) {
      if (map_has(&done, *mark) || !is_determined(&known, *mark)) continue;
      map_set(&done, *mark, *mark);
      more = true;
      for each (IterSplit, x, &(*mark)->sum.splits) vec_push(&known.splits, *x);
    }
  }
  int vars = 0;
  for each (IterMark *, mark, &d->marks)
    vars += (*mark)->var && (map_has(&done, *mark) || factor_is(&(*mark)->extent, 1));
  return vars == loops;
}

/* ---- the door ---- */

/* A loop of one step has a mark even if no index uses it. */
static int count_loops(Detect *d) {
  int n = 0;
  for (int i = 0; i < d->loops->len; i++)
    if (d->loops->at[i].key) {
      int64_t extent = 2;
      Node *range = d->loops->at[i].value, *var = (Node *)(uintptr_t)d->loops->at[i].key;
      if (IS(Range, range)) expr_is_const_int(AS(Range, range)->extent, &extent);
      if (extent == 1) iter_mark_of_var(d, var);
      d->failed |= extent < 1;
      n++;
    }
  return n;
}

static IterMap detect(Detect *d, NodeVec indices, Node *predicate) {
  IterMap m = {0};
  int loops = count_loops(d);
  if (predicate) constrain(d, predicate);
  for each (Node *, e, &indices) {
    IterSum s;
    bool good = rewrite(d, *e, &s);
    if (good) use_constrained(d, &s);
    vec_push(&m.sums, good ? gc_copy(&s, sizeof s) : NULL);
  }
  for (int i = 0; i < d->marks.len; i++) vec_push(&m.marks, d->marks.at[i]);
  m.surjective = is_surjective(d, &m);
  m.injective = is_injective(d, &m, loops);
  return m;
}

IterMap iter_map_detect(NodeVec indices, const Map *loops, Node *predicate, Analyzer *facts) {
  Detect d = {.loops = loops, .facts = facts};
  return detect(&d, indices, predicate);
}

IterMap iter_map_detect_padded(NodeVec indices, const Map *loops, Analyzer *facts) {
  enum { ROUNDS = 16 };
  Detect d = {.loops = loops, .facts = facts, .pads = true};
  IterMap m = {0};
  for (int i = 0; i < ROUNDS; i++) {
    Detect round = d;
    m = detect(&round, indices, NULL);
    if (!round.again) return m;
    d.paddings = round.paddings;
    for (int k = 0; k < d.paddings.len; k++) {
      Padding *p = d.paddings.at[k].value;
      p->front += p->more;
      p->more = 0;
    }
  }
  return m;
}

bool iter_sum_range(const IterSum *s, DataType t, Node **least, Node **count) {
  Fused f;
  if (!iter_fuse(s, false, &f) || (s->splits.len && !factor_is(&f.scale, 1))) return false;
  *least = expr_sub(expr_cast(t, s->base, s->base->span), expr_cast(t, f.sum.base, s->base->span));
  *count = factor_expr(&f.extent, t, s->base->span);
  return true;
}

static WalkResult stop_at_loop(Walker *w, Node *n) {
  return map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

static bool stands_still(Node *e, const Map *loops) {
  Walker w = {.enter = stop_at_loop, .context = (void *)(uintptr_t)loops, .once = true};
  return walk(&w, e);
}

/* An index without a summand that no loop moves. */
static Node *moving_part(Node *e, const Map *loops) {
  if (!IS(Add, e)) return e;
  if (stands_still(AS(Add, e)->a, loops)) return AS(Add, e)->b;
  return stands_still(AS(Add, e)->b, loops) ? AS(Add, e)->a : e;
}

/* Of one dividend by one divisor, the same in all steps. */
static bool is_quotient_of(Node *quotient, Node *rest, const Map *loops) {
  return IS(FloorDiv, quotient) && IS(FloorMod, rest) &&
         stands_still(AS(FloorDiv, quotient)->b, loops) &&
         node_equal(AS(FloorDiv, quotient)->a, AS(FloorMod, rest)->a, false, NULL) &&
         node_equal(AS(FloorDiv, quotient)->b, AS(FloorMod, rest)->b, false, NULL);
}

/* x // c and x % c tell x, wherever it begins. */
static NodeVec with_pairs_joined(NodeVec indices, const Map *loops) {
  NodeVec out = {0};
  Map joined = {0}; /* rests whose quotient stands for both */
  for each (Node *, e, &indices) {
    Node *quotient = moving_part(*e, loops), *whole = *e;
    for each (Node *, other, &indices)
      if (is_quotient_of(quotient, moving_part(*other, loops), loops)) {
        map_set(&joined, *other, *other);
        whole = AS(FloorDiv, quotient)->a;
      }
    vec_push(&out, whole);
  }
  NodeVec left = {0};
  for (int i = 0; i < out.len; i++)
    if (!map_has(&joined, indices.at[i])) vec_push(&left, out.at[i]);
  return left;
}

bool iter_is_injective(NodeVec indices, const Map *loops, Analyzer *facts) {
  if (iter_map_detect(indices, loops, NULL, facts).injective) return true;
  NodeVec joined = with_pairs_joined(indices, loops);
  return joined.len < indices.len && iter_map_detect(joined, loops, NULL, facts).injective;
}
