/* range.c -- bounds of integer expressions, from the loops and sizes around them.
 *
 * They show which divisions need no care for signs and zeros, and which sums can't overflow. A
 * result that might leave its dtype is the whole dtype: nothing here takes wrapping for granted. */
#include "target/range.h"

/* No size in this world is larger: 2^47 bytes of address space. */
#define LARGEST_SIZE ((int64_t)1 << 47)

static Range64 whole(DataType t) {
  if (dtype_is_bool(t)) return (Range64){0, 1};
  if (!dtype_is_int(t)) return (Range64){INT64_MIN, INT64_MAX};
  if (t.code == DTYPE_UINT && t.bits == 64) return (Range64){0, INT64_MAX};
  return (Range64){dtype_min_int(t), dtype_max_int(t)};
}

/* uint64 has values that an int64 does not: nothing is known of them but the sign. */
static bool is_tracked(DataType t) {
  return dtype_is_int(t) && !(t.code == DTYPE_UINT && t.bits == 64);
}

static Range64 within(DataType t, bool overflow, Range64 r) {
  Range64 all = whole(t);
  return overflow || r.lo < all.lo || r.hi > all.hi ? all : r;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static Range64 range_add(DataType t, Range64 a, Range64 b) {
  Range64 r;
  bool overflow = __builtin_add_overflow(a.lo, b.lo, &r.lo);
  overflow |= __builtin_add_overflow(a.hi, b.hi, &r.hi);
  return within(t, overflow, r);
}

static Range64 range_sub(DataType t, Range64 a, Range64 b) {
  Range64 r;
  bool overflow = __builtin_sub_overflow(a.lo, b.hi, &r.lo);
  overflow |= __builtin_sub_overflow(a.hi, b.lo, &r.hi);
  return within(t, overflow, r);
}

static Range64 range_mul(DataType t, Range64 a, Range64 b) {
  int64_t p[4];
  bool overflow = __builtin_mul_overflow(a.lo, b.lo, &p[0]);
  overflow |= __builtin_mul_overflow(a.lo, b.hi, &p[1]);
  overflow |= __builtin_mul_overflow(a.hi, b.lo, &p[2]);
  overflow |= __builtin_mul_overflow(a.hi, b.hi, &p[3]);
  Range64 r = {smaller(smaller(p[0], p[1]), smaller(p[2], p[3])),
               larger(larger(p[0], p[1]), larger(p[2], p[3]))};
  return within(t, overflow, r);
}

/* Of a quotient by a divisor that is always positive; else nothing. */
static Range64 range_div(DataType t, Range64 a, Range64 b) {
  if (b.lo <= 0) return whole(t);
  int64_t lo = a.lo >= 0 ? a.lo / b.hi : a.lo == INT64_MIN ? INT64_MIN : -((-a.lo - 1) / b.lo) - 1;
  return (Range64){lo, a.hi >= 0 ? a.hi / b.lo : 0};
}

static Range64 range_mod(NodeKind kind, DataType t, Range64 a, Range64 b) {
  if (b.lo <= 0) return whole(t);
  if (a.lo >= 0) return (Range64){0, smaller(a.hi, b.hi - 1)};
  return (Range64){kind == NK_FloorMod ? 0 : 1 - b.hi, b.hi - 1};
}

static Range64 range_binary(Ranges *known, Binary *n) {
  DataType t = n->node.dtype;
  Range64 a = range_of(known, n->a), b = range_of(known, n->b);
  switch (n->node.kind) {
  case NK_Add: return range_add(t, a, b);
  case NK_Sub: return range_sub(t, a, b);
  case NK_Mul: return range_mul(t, a, b);
  case NK_Div:
  case NK_FloorDiv: return range_div(t, a, b);
  case NK_Mod:
  case NK_FloorMod: return range_mod(n->node.kind, t, a, b);
  case NK_Min: return (Range64){smaller(a.lo, b.lo), smaller(a.hi, b.hi)};
  case NK_Max: return (Range64){larger(a.lo, b.lo), larger(a.hi, b.hi)};
  default: return whole(t);
  }
}

static Range64 range_var(Ranges *known, Node *n) {
  Range64 *bound = map_get(&known->vars, n);
  if (bound) return *bound;
  Range64 r = whole(n->dtype);
  if (AS(Var, n)->is_size) r = (Range64){0, smaller(r.hi, LARGEST_SIZE)};
  return r;
}

static Range64 range_ramp(Ranges *known, Ramp *n) {
  Range64 steps = range_mul(INT64, range_of(known, n->stride), (Range64){0, n->lanes - 1});
  return range_add(n->node.dtype, range_of(known, n->base), steps);
}

static Range64 range_union(Range64 a, Range64 b) {
  return (Range64){smaller(a.lo, b.lo), larger(a.hi, b.hi)};
}

/* Every division and sum asks anew about all that is below it. */
static Range64 range_remembered(Ranges *known, Binary *n) {
  Range64 *found = map_get(&known->derived, n);
  if (found) return *found;
  Range64 r = range_binary(known, n);
  map_set(&known->derived, n, NEW(Range64, r.lo, r.hi));
  return r;
}

Range64 range_of(Ranges *known, Node *n) {
  if (!is_tracked(n->dtype)) return whole(n->dtype);
  switch (n->kind) {
  case NK_IntImm: return (Range64){AS(IntImm, n)->value, AS(IntImm, n)->value};
  case NK_Var: return range_var(known, n);
  case NK_Ramp: return range_ramp(known, AS(Ramp, n));
  case NK_Broadcast: return range_of(known, AS(Broadcast, n)->value);
  case NK_Cast: {
    Node *value = AS(Cast, n)->value;
    bool tells = is_tracked(value->dtype) || dtype_is_bool(value->dtype);
    return tells ? within(n->dtype, false, range_of(known, value)) : whole(n->dtype);
  }
  case NK_Select:
    return range_union(range_of(known, AS(Select, n)->then),
                       range_of(known, AS(Select, n)->orelse));
  default:
    return node_is_binary(n->kind) ? range_remembered(known, (Binary *)(void *)n) : whole(n->dtype);
  }
}

void range_bind(Ranges *known, Node *var, Range64 r) {
  if (!is_tracked(var->dtype)) return;
  Range64 *old = map_get(&known->vars, var);
  if (old && old->lo == r.lo && old->hi == r.hi) return;
  /* A variable bound a second time: what was derived from the first is void. */
  if (old) known->derived = (Map){0};
  map_set(&known->vars, var, NEW(Range64, r.lo, r.hi));
}

bool range_cannot_wrap(Ranges *known, Node *n) {
  if (n->dtype.code != DTYPE_INT || n->dtype.bits < 32) return false;
  Range64 r = range_of(known, n);
  return r.lo > dtype_min_int(n->dtype) && r.hi < dtype_max_int(n->dtype);
}

Range64 range_of_loop(Ranges *known, For *n) {
  Range64 min = range_of(known, n->min), extent = range_of(known, n->extent);
  Range64 r = {min.lo, INT64_MAX};
  int64_t most = dtype_max_int(n->var->dtype);
  if (extent.hi <= 0 || __builtin_add_overflow(min.hi, extent.hi - 1, &r.hi) || r.hi > most)
    r.hi = most;
  return r;
}
