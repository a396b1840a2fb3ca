/* const_bound.c -- the least and greatest value that an expression can take. */
#include "ir/arith/arith_impl.h"
#include "ir/support/stack.h"

/* A result that might leave the dtype wraps to who knows what. */
static ConstBound unless_wrapped(ConstBound b, DataType t) {
  return bound_fits(b, t) ? b : bound_of_dtype(t);
}

/* Facts on the node alone: k * e + c >= 0. */
static ConstBound bound_by_facts(Analyzer *a, Node *e, ConstBound b) {
  for each (Fact, f, &a->facts) {
    if (f->dead || f->form.terms.len != 1 || !same_term(f->form.terms.at[0], e)) continue;
    int64_t k = f->form.coeffs.at[0], c = f->form.constant;
    if (k == INT64_MIN || c == INT64_MIN) continue;
    if (k > 0) b = bound_meet(b, (ConstBound){-floor_div(c, k), ARITH_POS_INF});
    else b = bound_meet(b, (ConstBound){ARITH_NEG_INF, floor_div(c, -k)});
  }
  return b;
}

/* Values that are b modulo g: the ends move inwards to such values. */
static ConstBound bound_by_modular(Modular m, ConstBound b) {
  if (m.coeff <= 1 || b.lo == ARITH_NEG_INF || b.hi == ARITH_POS_INF) return b;
  __int128 lo = (__int128)b.lo + floor_mod(m.base - floor_mod(b.lo, m.coeff), m.coeff);
  __int128 hi = (__int128)b.hi - floor_mod(floor_mod(b.hi, m.coeff) - m.base, m.coeff);
  return lo <= hi ? (ConstBound){bound_clamp(lo), bound_clamp(hi)} : b;
}

/* No array is larger than the memory that a process can address. */
static const ConstBound any_size = {0, (int64_t)1 << 47};

static ConstBound bound_of_var(Analyzer *a, Node *v) {
  VarInfo *info = var_info(a, v);
  ConstBound b = info ? info->bound : bound_of_dtype(v->dtype);
  return AS(Var, v)->is_size ? bound_meet(b, any_size) : b;
}

/* A product of two that are not constant, or a sum or product of unsigned integers. */
static ConstBound bound_of_ring_node(Analyzer *a, Node *e) {
  ConstBound x = arith_const_bound(a, as_binary(e)->a), y = arith_const_bound(a, as_binary(e)->b);
  if (e->kind == NK_Add) return bound_add(x, y);
  return e->kind == NK_Sub ? bound_add(x, bound_scale(y, -1)) : bound_mul(x, y);
}

/* Sums and products by their linear form: what cancels does not widen the bounds. */
static ConstBound bound_of_ring(Analyzer *a, Node *e) {
  Linear l;
  if (!is_signed_index(e->dtype)) return unless_wrapped(bound_of_ring_node(a, e), e->dtype);
  ConstBound all = bound_of_dtype(e->dtype);
  if (!linear_of(a, e, false, &l)) return all;
  bool itself = l.terms.len == 1 && l.terms.at[0] == e;
  bool exact = itself ? product_is_exact(a, e) : linear_is_exact(a, &l, e->dtype);
  ConstBound b = itself ? bound_of_ring_node(a, e) : linear_bound(a, &l);
  bool sane = b.lo < ARITH_POS_INF && b.hi > ARITH_NEG_INF;
  return exact && sane ? bound_meet(all, b) : all;
}

/* A quotient is no larger than its dividend, but for the least integer divided by -1. */
static ConstBound bound_of_quotient(NodeKind kind, ConstBound x, ConstBound y, DataType t) {
  ConstBound all = bound_of_dtype(t);
  bool may_wrap = x.lo == all.lo && y.lo <= -1 && y.hi >= -1;
  if (may_wrap && t.code == DTYPE_INT) return all;
  ConstBound b = kind == NK_Div ? bound_trunc_div(x, y) : bound_floor_div(x, y);
  return bound_meet(all, b);
}

static ConstBound bound_of_binary(Analyzer *a, Node *e) {
  if (is_ring(e->kind)) return bound_of_ring(a, e);
  ConstBound x = arith_const_bound(a, as_binary(e)->a), y = arith_const_bound(a, as_binary(e)->b);
  switch (e->kind) {
  case NK_FloorDiv:
  case NK_Div: return bound_of_quotient(e->kind, x, y, e->dtype);
  case NK_FloorMod: {
    ConstBound b = bound_floor_mod(x, y);
    return y.lo == y.hi && y.lo > 0 ? bound_by_modular(arith_modular(a, e), b)
                                    : bound_meet(bound_of_dtype(e->dtype), b);
  }
  case NK_Mod: return bound_meet(bound_of_dtype(e->dtype), bound_trunc_mod(x, y));
  case NK_Min: return (ConstBound){x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi};
  case NK_Max: return (ConstBound){x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
  default: return bound_of_dtype(e->dtype); /* a bool */
  }
}

static ConstBound bound_of_shift(ConstBound x, ConstBound by, DataType t, bool left) {
  bool known = by.lo == by.hi && by.lo >= 0 && by.lo < t.bits && by.lo < 62;
  if (!known) return bound_of_dtype(t);
  ConstBound power = {(int64_t)1 << by.lo, (int64_t)1 << by.lo};
  return left ? unless_wrapped(bound_mul(x, power), t) : bound_floor_div(x, power);
}

static ConstBound bound_of_call(Analyzer *a, Node *e) {
  NodeVec args = AS(Call, e)->args;
  ConstBound all = bound_of_dtype(e->dtype);
  if (is_intrin_call(e, "if_then_else"))
    return bound_join(arith_const_bound(a, args.at[1]), arith_const_bound(a, args.at[2]));
  if (is_intrin_call(e, "likely")) return arith_const_bound(a, args.at[0]);
  bool left = is_intrin_call(e, "shift_left");
  if (left || is_intrin_call(e, "shift_right"))
    return bound_of_shift(arith_const_bound(a, args.at[0]), arith_const_bound(a, args.at[1]),
                          e->dtype, left);
  if (is_intrin_call(e, "bitwise_and")) {
    ConstBound x = arith_const_bound(a, args.at[0]), y = arith_const_bound(a, args.at[1]);
    if (x.lo >= 0 || y.lo >= 0)
      return (ConstBound){0, x.lo < 0 ? y.hi : y.lo < 0 || x.hi < y.hi ? x.hi : y.hi};
  }
  if (is_intrin_call(e, "clz") || is_intrin_call(e, "popcount"))
    return bound_meet(all, (ConstBound){0, 64});
  return all;
}

static ConstBound bound_of_ramp(Analyzer *a, Ramp *r) {
  if (r->lanes < 1) return bound_of_dtype(r->node.dtype);
  ConstBound base = arith_const_bound(a, r->base), stride = arith_const_bound(a, r->stride);
  ConstBound last = bound_mul(stride, (ConstBound){0, r->lanes - 1});
  ConstBound b = bound_add(base, last), all = bound_of_dtype(r->node.dtype);
  Content c = content_of(a, r->base);
  bool exact =
      bound_fits(b, r->node.dtype) || (r->node.dtype.code == DTYPE_INT && c.symbol && !c.data);
  return exact ? bound_meet(all, b) : all;
}

static ConstBound bound_of_cast(Analyzer *a, Node *e) {
  Node *value = AS(Cast, e)->value;
  DataType from = value->dtype, to = e->dtype;
  if (!dtype_is_int(from) && !dtype_is_bool(from)) return bound_of_dtype(to);
  ConstBound b = arith_const_bound(a, value);
  bool widens =
      from.code == to.code ? from.bits <= to.bits : from.code != DTYPE_INT && from.bits < to.bits;
  return widens ? b : unless_wrapped(b, to);
}

static ConstBound bound_of(Analyzer *a, Node *e) {
  if (node_is_binary(e->kind)) return bound_of_binary(a, e);
  switch (e->kind) {
  case NK_Var: return bound_of_var(a, e);
  case NK_Select:
    return bound_join(arith_const_bound(a, AS(Select, e)->then),
                      arith_const_bound(a, AS(Select, e)->orelse));
  case NK_Broadcast: return arith_const_bound(a, AS(Broadcast, e)->value);
  case NK_Ramp: return bound_of_ramp(a, AS(Ramp, e));
  case NK_Call: return bound_of_call(a, e);
  case NK_Cast: return bound_of_cast(a, e);
  default: return bound_of_dtype(e->dtype);
  }
}

ConstBound arith_const_bound(Analyzer *a, Node *e) {
  int64_t value;
  if (expr_is_const_int(e, &value)) {
    bool beyond = e->dtype.code == DTYPE_UINT && value < 0;
    if (beyond) return bound_of_dtype(e->dtype);
    /* The numbers that stand for infinities are told apart from them. */
    if (value == INT64_MIN) return (ConstBound){ARITH_NEG_INF, INT64_MIN + 1};
    return value == INT64_MAX ? (ConstBound){INT64_MAX - 1, ARITH_POS_INF}
                              : (ConstBound){value, value};
  }
  if ((!dtype_is_int(e->dtype) && !dtype_is_bool(e->dtype)) || stack_is_low())
    return bound_of_dtype(e->dtype);
  Known *k = known_of(a, e);
  if (k->has_bound) return k->bound;
  ConstBound b = bound_of(a, e);
  if (is_signed_index(e->dtype)) b = bound_by_facts(a, e, b);
  k = known_of(a, e);
  k->has_bound = true;
  return k->bound = b;
}
