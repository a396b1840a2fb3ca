/* cast.c -- conversions between dtypes. */
#include "target/c/c.h"

static CText call1(CGen *g, const char *helper, DataType t, DataType from, CText v) {
  return c_text(BINDS_ATOM, "%s(%s)", c_helper(g, helper, t, from), v.at);
}

static CText cast_to(CGen *g, DataType t, CText v) {
  return c_text(BINDS_UNARY, "(%s)%s", c_type(g, t), c_within(v, BINDS_UNARY));
}

CText c_widen(CGen *g, CText v, DataType t) {
  return lowered_is_small_float(t) ? call1(g, "widen", t, VOID_TYPE, v) : v;
}

CText c_narrow(CGen *g, CText v, DataType t) {
  return lowered_is_small_float(t) ? call1(g, "narrow", t, VOID_TYPE, v) : v;
}

static CText to_bool(CGen *g, CText v, DataType from) {
  if (dtype_is_handle(from)) return c_text(BINDS_COMPARE, "%s != NULL", c_within(v, BINDS_ADD));
  return c_text(BINDS_COMPARE, "%s != 0", c_within(c_widen(g, v, from), BINDS_ADD));
}

static CText float_to_float(CGen *g, CText v, DataType from, DataType to) {
  if (lowered_is_small_float(to)) {
    bool is_double = from.bits == 64;
    v = is_double ? call1(g, "to_odd", from, VOID_TYPE, v) : c_widen(g, v, from);
    return c_narrow(g, v, to);
  }
  v = c_widen(g, v, from);
  return c_compute(from).bits == to.bits ? v : cast_to(g, to, v);
}

bool c_rounds_twice(DataType from, DataType to) {
  return lowered_is_small_float(to) && from.bits > 16 && to.code != DTYPE_FLOAT;
}

static CText int_to_float(CGen *g, CText v, DataType from, DataType to) {
  DataType through = to;
  bool no_double = g->dialect->lacks && g->dialect->lacks(FLOAT64);
  if (no_double && c_rounds_twice(from, to)) {
    v = call1(g, "int_to_odd", from, VOID_TYPE, v);
    return float_to_float(g, v, FLOAT32, to);
  }
  if (lowered_is_small_float(to)) through = c_rounds_twice(from, to) ? FLOAT64 : FLOAT32;
  return float_to_float(g, cast_to(g, through, v), through, to);
}

static CText int_to_int(CGen *g, CText v, DataType from, DataType to) {
  bool widens = from.bits < to.bits && (from.code == DTYPE_UINT || to.code == DTYPE_INT);
  if (dtype_is_bool(from) ? to.bits > 1 : to.bits >= 8 || widens) return cast_to(g, to, v);
  return c_fit(g, to,
               from.bits > 32 || (from.bits == 32 && from.code == DTYPE_UINT)
                   ? cast_to(g, INT32, v).at
                   : v.at);
}

static CText cast_handle(CGen *g, CText v, DataType from, DataType to) {
  if (!dtype_is_handle(to))
    return c_cast(g, c_text(BINDS_UNARY, "(int64_t)(uintptr_t)%s", c_within(v, BINDS_UNARY)), INT64,
                  to);
  v = c_cast(g, v, from, INT64);
  return c_text(BINDS_UNARY, "(void *)(uintptr_t)%s", c_within(v, BINDS_UNARY));
}

CText c_cast(CGen *g, CText v, DataType from, DataType to) {
  if (dtype_equal(from, to) || dtype_is_void(to)) return v;
  if (g->dialect->cast) return g->dialect->cast(g, v, from, to);
  if (dtype_is_bool(to)) return to_bool(g, v, from);
  if (dtype_is_handle(from) || dtype_is_handle(to)) return cast_handle(g, v, from, to);
  if (dtype_is_float(from) && dtype_is_float(to)) return float_to_float(g, v, from, to);
  if (dtype_is_float(from)) return call1(g, "to_int", to, c_compute(from), c_widen(g, v, from));
  return dtype_is_float(to) ? int_to_float(g, v, from, to) : int_to_int(g, v, from, to);
}
