/* vectorize_expr.c -- expressions in all lanes of a vectorized loop at once.
 *
 * A choice evaluates both arms, so what an arm must not do in the lanes that did not choose it is
 * masked: loads get a predicate, divisors become 1. */
#include "passes/tensor/tensor.h"
#include "passes/tensor/vectorize.h"

enum { MAX_VECTOR = 256 }; /* lanes of vectors in a vectorized loop */

/* ---- lanes ---- */

static Node *broadcast(Node *n, int lanes) {
  if (lanes == 1) return n;
  return MAKE(Broadcast, n->span, dtype_with_lanes(n->dtype, lanes), .value = n, .lanes = lanes);
}

/* A vector of so many lanes: number `l * step + k` is that of `pick`. */
static Node *shuffled(Vectorize *v, Node *n, int step, bool by_step) {
  NodeVec pick = {0};
  for (int l = 0; l < v->lanes; l++)
    for (int k = 0; k < step; k++) vec_push(&pick, int_imm(INT32, by_step ? l : k, n->span));
  return MAKE(Shuffle, n->span, dtype_with_lanes(n->dtype, v->lanes * step), .vectors = NODES(n),
              .indices = pick);
}

Node *vector_widen(Vectorize *v, Node *old, Node *now, int step) {
  if (v->lanes * step > MAX_VECTOR) return vector_fail(v, now);
  bool varies = now->dtype.lanes != old->dtype.lanes;
  if (varies) return old->dtype.lanes == step ? now : shuffled(v, now, step, true);
  return old->dtype.lanes == 1 ? broadcast(now, v->lanes * step) : shuffled(v, now, step, false);
}

static int most_lanes(NodeVec args) {
  int lanes = 1;
  for each (Node *, a, &args)
    if (node_is_expr(*a) && (*a)->dtype.lanes > lanes) lanes = (*a)->dtype.lanes;
  return lanes;
}

static bool has_changed(NodeVec a, NodeVec b) {
  for (int i = 0; i < a.len; i++)
    if (a.at[i] != b.at[i]) return true;
  return false;
}

/* The operands as vectors, if any of them is one by now. */
static NodeVec operands(Mutator *m, NodeVec args) {
  NodeVec now = {0}, out = {0};
  for each (Node *, a, &args) vec_push(&now, node_is_expr(*a) ? mutate(m, *a) : *a);
  if (!has_changed(now, args)) return args;
  for (int i = 0; i < args.len; i++)
    vec_push(&out, node_is_expr(args.at[i])
                       ? vector_widen(m->context, args.at[i], now.at[i], most_lanes(args))
                       : now.at[i]);
  return out;
}

static DataType wide_type(Vectorize *v, Node *n) {
  return dtype_with_lanes(n->dtype, n->dtype.lanes * v->lanes);
}

/* ---- masks ---- */

Node *vector_mask(Vectorize *v, int step) {
  return !v->mask || step == 1 ? v->mask : shuffled(v, v->mask, step, true);
}

Node *vector_mask_and(Vectorize *v, Node *cond) {
  return v->mask ? expr_binary(NK_And, v->mask, cond, cond->span) : cond;
}

bool vector_may_run(Vectorize *v, Node *n) {
  return !v->mask || v->some || expr_effect(n) == EFFECT_PURE;
}

/* The expression where `cond` holds: what must not happen elsewhere is masked. */
static Node *under(Mutator *m, Node *cond, Node *n) {
  Vectorize *v = m->context;
  Node *outer = v->mask;
  bool some = v->some;
  v->mask = vector_mask_and(v, cond);
  v->some = false;
  Node *out = mutate(m, n);
  v->mask = outer;
  v->some = some;
  return out;
}

static Node *inverse(Node *cond) { return MAKE(Not, cond->span, cond->dtype, .a = cond); }

/* ---- operators ---- */

/* base + stride * lane, and the like, stays a ramp; NULL if it does not. */
static Node *as_ramp(NodeKind kind, Node *a, Node *b, Span span) {
  bool left = IS(Ramp, a), right = IS(Ramp, b), sums = kind == NK_Add || kind == NK_Sub;
  if (!left && !right) return NULL;
  Ramp *r = AS(Ramp, left ? a : b);
  Node *zero = int_imm(dtype_element(r->node.dtype), 0, span), *base, *stride;
  Node *base_a = left ? AS(Ramp, a)->base : a, *base_b = right ? AS(Ramp, b)->base : b;
  bool fits = base_a->dtype.lanes == 1 && base_b->dtype.lanes == 1;
  if (left && right) fits &= AS(Ramp, a)->lanes == AS(Ramp, b)->lanes && sums;
  if (!fits || (!sums && kind != NK_Mul)) return NULL;
  base = expr_binary(kind, base_a, base_b, span);
  if (sums)
    stride = expr_binary(kind, left ? AS(Ramp, a)->stride : zero,
                         right ? AS(Ramp, b)->stride : zero, span);
  else stride = expr_binary(NK_Mul, r->stride, left ? b : a, span);
  return MAKE(Ramp, span, dtype_with_lanes(base->dtype, r->lanes), .base = base, .stride = stride,
              .lanes = r->lanes);
}

static Node *binary_of(Node *n, DataType t, Node *a, Node *b) {
  Binary out = {{n->kind, t, n->span}, a, b};
  return gc_copy(&out, sizeof out);
}

/* A division whose divisor is 1 in the lanes that do not run. */
static Node *masked_division(Vectorize *v, Node *n, Node *x, Node *y) {
  Binary *b = (Binary *)(void *)n;
  int step = n->dtype.lanes;
  x = vector_widen(v, b->a, x, step);
  y = vector_widen(v, b->b, y, step);
  Node *safe = MAKE(Select, n->span, y->dtype, .cond = vector_mask(v, step), .then = y,
                    .orelse = int_imm(y->dtype, 1, n->span));
  return binary_of(n, wide_type(v, n), x, safe);
}

/* One that is the same in all lanes runs once, also where none of them does. */
static Node *safe_division(Node *n) {
  Binary *b = (Binary *)(void *)n;
  Node *zero = int_imm(b->b->dtype, 0, n->span), *one = int_imm(b->b->dtype, 1, n->span);
  Node *cond = expr_binary(NK_NE, b->b, zero, n->span);
  Node *safe = MAKE(Select, n->span, b->b->dtype, .cond = cond, .then = b->b, .orelse = one);
  return binary_of(n, n->dtype, b->a, safe);
}

static Node *vector_binary(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  Binary *b = (Binary *)(void *)n;
  Node *x = mutate(m, b->a), *y = mutate(m, b->b);
  bool same = x == b->a && y == b->b;
  bool may_fail = divides_by_unknown(n) && v->mask;
  if (same) return may_fail && !v->some && n->dtype.lanes == 1 ? safe_division(n) : n;
  if (may_fail) return masked_division(v, n, x, y);
  Node *ramp = n->dtype.lanes == 1 ? as_ramp(n->kind, x, y, n->span) : NULL;
  if (ramp) return ramp;
  int step = n->dtype.lanes;
  return binary_of(n, wide_type(v, n), vector_widen(v, b->a, x, step),
                   vector_widen(v, b->b, y, step));
}

/* The right operand runs only where the left one does not decide. */
static Node *vector_logic(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  Binary *b = (Binary *)(void *)n;
  int step = n->dtype.lanes;
  Node *x = mutate(m, b->a);
  if (x == b->a) {
    Node *y = mutate(m, b->b);
    if (y == b->b) return n;
    if (expr_effect(b->b) != EFFECT_PURE) return vector_fail(v, n); /* x guards y */
    return binary_of(n, wide_type(v, n), vector_widen(v, x, x, step), y);
  }
  if (step != 1) return vector_fail(v, n);
  Node *y = under(m, n->kind == NK_And ? x : inverse(x), b->b);
  return binary_of(n, wide_type(v, n), x, vector_widen(v, b->b, y, step));
}

/* Each value of a vector that is one in every step as well. */
static Node *vector_broadcast(Mutator *m, Node *n) {
  Broadcast *b = AS(Broadcast, n);
  Node *x = mutate(m, b->value);
  if (x == b->value) return n;
  if (b->value->dtype.lanes != 1 || b->lanes < 0) return vector_fail(m->context, n);
  return shuffled(m->context, x, b->lanes, true);
}

/* A ramp in every step: if one goes on where the other one ends, both are one ramp. */
static Node *vector_ramp(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  Ramp *r = AS(Ramp, n);
  Node *base = mutate(m, r->base);
  if (mutate(m, r->stride) != r->stride || r->lanes < 0) return vector_fail(v, n);
  if (base == r->base) return n;
  Node *whole = expr_mul(r->stride, int_imm(r->stride->dtype, r->lanes, n->span));
  if (IS(Ramp, base) && node_equal(AS(Ramp, base)->stride, whole, false, NULL))
    return MAKE(Ramp, n->span, wide_type(v, n), .base = AS(Ramp, base)->base, .stride = r->stride,
                .lanes = r->lanes * v->lanes);
  Node *steps = MAKE(Ramp, n->span, n->dtype, .base = int_imm(r->base->dtype, 0, n->span),
                     .stride = r->stride, .lanes = r->lanes);
  return MAKE(Add, n->span, wide_type(v, n), .a = shuffled(v, base, r->lanes, true),
              .b = shuffled(v, steps, r->lanes, false));
}

/* ---- calls ---- */

/* The chosen arm only: by lane if the condition differs by lane. */
static Node *vector_choice(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  NodeVec args = AS(Call, n)->args;
  Node *cond = mutate(m, args.at[0]), *old[] = {args.at[1], args.at[2]};
  if (cond == args.at[0]) {
    if (!vector_may_run(v, cond)) return vector_fail(v, n);
    NodeVec arms = operands(m, NODES(old[0], old[1]));
    if (arms.at[0] == old[0] && arms.at[1] == old[1]) return n;
    return MAKE(Call, n->span, wide_type(v, n), .op = AS(Call, n)->op,
                .args = NODES(cond, arms.at[0], arms.at[1]), .attrs = AS(Call, n)->attrs);
  }
  if (n->dtype.lanes != 1) return vector_fail(v, n);
  Node *then = under(m, cond, old[0]), *orelse = under(m, inverse(cond), old[1]);
  return MAKE(Select, n->span, wide_type(v, n), .cond = cond,
              .then = vector_widen(v, old[0], then, 1),
              .orelse = vector_widen(v, old[1], orelse, 1));
}

/* Does the builtin give for vectors what it gives for each of their lanes? */
static bool is_lanewise(const Intrin *in) {
  static const char *const others[] = {"isnan", "isinf", "isfinite", "clz", "reinterpret"};
  if (in->takes != TAKES_ANY) return in->effect == EFFECT_PURE;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (str_same(in->name, others[i])) return true;
  return false;
}

static Node *vector_call(Mutator *m, Node *n) {
  Call out = *AS(Call, n);
  const Intrin *in = intrin_of(out.op);
  if (!in || in->effect == EFFECT_STATE) return vector_fail(m->context, n); /* once for each lane */
  if (str_same(in->name, "if_then_else")) return vector_choice(m, n);
  NodeVec args = operands(m, out.args);
  if (args.at == out.args.at) return n;
  if (!is_lanewise(in)) return vector_fail(m->context, n);
  out.args = args;
  out.node.dtype = wide_type(m->context, n);
  return gc_copy(&out, sizeof out);
}

/* ---- loads ---- */

static bool is_inside(Node *buffer, Node *index) {
  int64_t at, extent;
  NodeVec shape = AS(Buffer, buffer)->shape;
  return shape.len == 1 && expr_is_const_int(index, &at) &&
         expr_is_const_int(shape.at[0], &extent) && at >= 0 && at < extent;
}

Node *vector_index(Mutator *m, Node *buffer, Node *index) {
  Vectorize *v = m->context;
  Node *now = mutate(m, index);
  if (!map_has(&v->own, AS(Buffer, buffer)->data)) return now;
  if (index->dtype.lanes != 1) return vector_fail(v, index);
  DataType t = index->dtype;
  Node *lanes = int_imm(t, v->lanes, index->span), *zero = int_imm(t, 0, index->span);
  Node *lane = MAKE(Ramp, index->span, dtype_with_lanes(t, v->lanes), .base = zero,
                    .stride = int_imm(t, 1, index->span), .lanes = v->lanes);
  Node *part = IS(Ramp, now) ? as_ramp(NK_Mul, now, lanes, index->span) : expr_mul(now, lanes);
  Node *ramp = as_ramp(NK_Add, part, lane, index->span);
  return ramp ? ramp : expr_add(part, lane);
}

/* Is the buffer a view of another form for each lane? */
static bool differs_by_lane(Mutator *m, Node *buffer) {
  Buffer *b = AS(Buffer, buffer);
  return mutate_vec(m, b->shape).at != b->shape.at ||
         mutate_vec(m, b->strides).at != b->strides.at ||
         mutate(m, b->elem_offset) != b->elem_offset;
}

static Node *vector_load(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  BufferLoad *l = AS(BufferLoad, n);
  Buffer *b = AS(Buffer, l->buffer);
  if (differs_by_lane(m, l->buffer)) return vector_fail(v, n);
  if (l->indices.len != 1) { /* not flat: only what all lanes have in common */
    NodeVec now = mutate_vec(m, l->indices);
    return now.at == l->indices.at && vector_may_run(v, n) ? n : vector_fail(v, n);
  }
  Node *old = l->indices.at[0], *index = vector_index(m, l->buffer, old);
  Node *predicate = l->predicate ? mutate(m, l->predicate) : NULL;
  if (index == old && predicate == l->predicate &&
      (!v->mask || v->some || is_inside(l->buffer, old)))
    return n;
  int step = n->dtype.lanes;
  if (b->elem.lanes != 1 || old->dtype.lanes != step) return vector_fail(v, n);
  if (predicate) predicate = vector_widen(v, l->predicate, predicate, step);
  Node *mask = vector_mask(v, step);
  if (mask) predicate = predicate ? expr_and(predicate, mask) : mask;
  Node *wide = map_get(&v->wide, l->buffer);
  return MAKE(BufferLoad, n->span, wide_type(v, n), .buffer = wide ? wide : l->buffer,
              .indices = NODES(vector_widen(v, old, index, step)), .predicate = predicate);
}

/* ---- all ---- */

static Node *vector_select(Mutator *m, Node *n) {
  Select *s = AS(Select, n);
  NodeVec parts = NODES(s->cond, s->then, s->orelse), wide = operands(m, parts);
  if (wide.at == parts.at) return n;
  return MAKE(Select, n->span, wide_type(m->context, n), .cond = wide.at[0], .then = wide.at[1],
              .orelse = wide.at[2]);
}

Node *vector_bind(Mutator *m, Node *var, Node *value) {
  Vectorize *v = m->context;
  Node *now = var;
  if (value->dtype.lanes != var->dtype.lanes) {
    now = var_new(AS(Var, var)->name, value->dtype, var->span);
    map_set(&v->vectors, var, now);
  }
  map_set(&m->identities, var, now);
  return now;
}

static Node *vector_let(Mutator *m, Node *n) {
  Let l = *AS(Let, n);
  l.value = mutate(m, l.value);
  l.var = vector_bind(m, l.var, l.value);
  l.body = mutate(m, l.body);
  if (l.value == AS(Let, n)->value && l.body == AS(Let, n)->body) return n;
  l.node.dtype = l.body->dtype;
  return gc_copy(&l, sizeof l);
}

Node *vector_expr(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  if (n == v->var) return v->ramp;
  if (IS(Var, n)) return map_has(&v->own, n) ? vector_fail(v, n) : n; /* own: all lanes' parts */
  if (v->failed) return n;
  if (n->kind == NK_And || n->kind == NK_Or) return vector_logic(m, n);
  if (node_is_binary(n->kind)) return vector_binary(m, n);
  switch (n->kind) {
  case NK_IntImm:
  case NK_FloatImm:
  case NK_StringImm: return n;
  case NK_BufferLoad: return vector_load(m, n);
  case NK_Call: return vector_call(m, n);
  case NK_Let: return vector_let(m, n);
  case NK_Select: return vector_select(m, n);
  case NK_Broadcast: return vector_broadcast(m, n);
  case NK_Ramp: return vector_ramp(m, n);
  case NK_Cast: {
    Node *x = mutate(m, AS(Cast, n)->value);
    return x == AS(Cast, n)->value ? n : MAKE(Cast, n->span, wide_type(v, n), .value = x);
  }
  case NK_Not: {
    Node *x = mutate(m, AS(Not, n)->a);
    return x == AS(Not, n)->a ? n : MAKE(Not, n->span, wide_type(v, n), .a = x);
  }
  default: {
    Node *same = mutate_children(m, n);
    return same == n ? n : vector_fail(v, n);
  }
  }
}
