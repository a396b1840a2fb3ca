/* fold.c -- constant folding: only what every run of the program would compute too.
 *
 * Integers fold unless the result would leave the dtype. Floats are computed in the dtype they have; x + 0.0 stays,
 * for x may be -0.0, and x * 0.0 stays, for x may be NaN. */
#include "ir/ir_impl.h"
#include <math.h>

static bool is_uint64(DataType t) { return t.code == DTYPE_UINT && t.bits == 64; }

static Node *checked_int(DataType t, __int128 value, Span span) {
  __int128 lo = dtype_min_int(t), hi = is_uint64(t) ? (__int128)UINT64_MAX : (__int128)dtype_max_int(t);
  return value < lo || value > hi ? NULL : int_imm(t, (int64_t)value, span);
}

static __int128 wide(DataType t, int64_t value) { return is_uint64(t) ? (__int128)(uint64_t)value : (__int128)value; }

static __int128 wide_floor_div(__int128 a, __int128 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* Two integer constants of dtype t. */
static Node *fold_ints(NodeKind kind, DataType t, int64_t x, int64_t y, Span span) {
  __int128 a = wide(t, x), b = wide(t, y);
  switch (kind) {
  case NK_Add: return checked_int(t, a + b, span);
  case NK_Sub: return checked_int(t, a - b, span);
  case NK_Mul: return checked_int(t, a * b, span);
  case NK_Div: return b ? checked_int(t, a / b, span) : NULL;
  case NK_Mod: return b ? checked_int(t, a % b, span) : NULL;
  case NK_FloorDiv: return b ? checked_int(t, wide_floor_div(a, b), span) : NULL;
  case NK_FloorMod: return b ? checked_int(t, a - wide_floor_div(a, b) * b, span) : NULL;
  case NK_Min: return checked_int(t, a < b ? a : b, span);
  case NK_Max: return checked_int(t, a > b ? a : b, span);
  case NK_EQ: return int_imm(BOOL, a == b, span);
  case NK_NE: return int_imm(BOOL, a != b, span);
  case NK_LT: return int_imm(BOOL, a < b, span);
  case NK_LE: return int_imm(BOOL, a <= b, span);
  case NK_GT: return int_imm(BOOL, a > b, span);
  case NK_GE: return int_imm(BOOL, a >= b, span);
  case NK_And: return int_imm(BOOL, a && b, span);
  case NK_Or: return int_imm(BOOL, a || b, span);
  default: return NULL;
  }
}

/* One operation in the dtype: float32 arithmetic is done in float, narrow formats in double and rounded once, which
 * is exact for + - * / (the double has more than twice their digits). */
static double float_op(DataType t, NodeKind kind, double a, double b) {
  if (t.code == DTYPE_FLOAT && t.bits == 32) {
    float x = (float)a, y = (float)b;
    return kind == NK_Add ? (double)(x + y) : kind == NK_Sub ? (double)(x - y) : kind == NK_Mul ? (double)(x * y) : (double)(x / y);
  }
  return kind == NK_Add ? a + b : kind == NK_Sub ? a - b : kind == NK_Mul ? a * b : a / b;
}

static Node *fold_floats(NodeKind kind, DataType t, double a, double b, Span span) {
  switch (kind) {
  case NK_Add: case NK_Sub: case NK_Mul: case NK_Div: {
    double r = float_op(t, kind, a, b);
    return isnan(r) ? NULL : float_imm(t, r, span); /* the sign of a NaN is the machine's choice */
  }
  case NK_Min: return isnan(a) || isnan(b) || a == b ? NULL : float_imm(t, a < b ? a : b, span);
  case NK_Max: return isnan(a) || isnan(b) || a == b ? NULL : float_imm(t, a > b ? a : b, span);
  case NK_EQ: return int_imm(BOOL, a == b, span);
  case NK_NE: return int_imm(BOOL, a != b, span);
  case NK_LT: return int_imm(BOOL, a < b, span);
  case NK_LE: return int_imm(BOOL, a <= b, span);
  case NK_GT: return int_imm(BOOL, a > b, span);
  case NK_GE: return int_imm(BOOL, a >= b, span);
  default: return NULL;
  }
}

/* Scalars only: a Broadcast of the constant would be needed for vectors. */
static Node *fold_identity(NodeKind kind, Node *a, Node *b, Span span) {
  bool ints = dtype_is_int(a->dtype), bools = dtype_is_bool(a->dtype);
  int64_t x = 0, y = 0;
  bool ca = expr_is_const_int(a, &x), cb = expr_is_const_int(b, &y);
  switch (kind) {
  case NK_Add: return ints && ca && x == 0 ? b : ints && cb && y == 0 ? a : NULL;
  case NK_Sub: return ints && cb && y == 0 ? a : NULL;
  case NK_Mul:
    if (ints && ca) return x == 1 ? b : x == 0 && expr_effect(b) == EFFECT_PURE ? a : NULL;
    if (ints && cb) return y == 1 ? a : y == 0 && expr_effect(a) == EFFECT_PURE ? b : NULL;
    return NULL;
  case NK_FloorDiv: case NK_Div: return ints && cb && y == 1 ? a : NULL;
  case NK_FloorMod: case NK_Mod: return ints && cb && y == 1 && expr_effect(a) == EFFECT_PURE ? int_imm(a->dtype, 0, span) : NULL;
  case NK_And: return bools && ca ? (x ? b : a) : bools && cb && y ? a : NULL;
  case NK_Or: return bools && ca ? (x ? a : b) : bools && cb && !y ? a : NULL;
  default: return NULL;
  }
}

Node *fold_binary(NodeKind kind, Node *a, Node *b, Span span) {
  if (a->dtype.lanes != 1) return NULL;
  int64_t x, y;
  if (expr_is_const_int(a, &x) && expr_is_const_int(b, &y)) {
    Node *r = fold_ints(kind, a->dtype, x, y, span);
    if (r) return r;
  }
  if (IS(FloatImm, a) && IS(FloatImm, b)) return fold_floats(kind, a->dtype, AS(FloatImm, a)->value, AS(FloatImm, b)->value, span);
  return fold_identity(kind, a, b, span);
}

Node *fold_cast(DataType t, Node *value, Span span) {
  if (t.lanes != 1) return NULL;
  int64_t i;
  if (expr_is_const_int(value, &i)) {
    if (dtype_is_float(t)) {
      double x = is_uint64(value->dtype) ? (double)(uint64_t)i : (double)i;
      return float_imm(t, t.code == DTYPE_FLOAT && t.bits == 32 ? (double)(is_uint64(value->dtype) ? (float)(uint64_t)i : (float)i) : x, span);
    }
    return dtype_is_int(t) || dtype_is_bool(t) ? int_imm(t, i, span) : NULL;
  }
  if (!IS(FloatImm, value)) return NULL;
  double x = AS(FloatImm, value)->value;
  if (dtype_is_float(t)) return float_imm(t, x, span);
  if (dtype_is_bool(t)) return int_imm(t, x != 0, span);
  bool fits = dtype_is_int(t) && x >= (double)dtype_min_int(t) && x <= (double)dtype_max_int(t) && fabs(x) < 9.2e18;
  return fits ? int_imm(t, (int64_t)x, span) : NULL;
}
