/* fold.c -- constant folding: only what every run of the program would compute too.
 *
 * Integers fold unless the result would leave the dtype. Floats are computed in the dtype they
 * have; x + 0.0 stays, for x may be -0.0, and x * 0.0 stays, for x may be NaN. */
#include "ir/ir_impl.h"
#include <math.h>

/* ---- integers, wide enough for any of them ---- */

static bool is_uint64(DataType t) { return t.code == DTYPE_UINT && t.bits == 64; }

static __int128 wide(DataType t, int64_t value) {
  return is_uint64(t) ? (__int128)(uint64_t)value : (__int128)value;
}

static Node *checked_int(DataType t, __int128 value, Span span) {
  __int128 lo = dtype_min_int(t);
  __int128 hi = is_uint64(t) ? (__int128)UINT64_MAX : (__int128)dtype_max_int(t);
  return value < lo || value > hi ? NULL : int_imm(t, (int64_t)value, span);
}

static __int128 wide_floor_div(__int128 a, __int128 b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static Node *fold_ints(NodeKind kind, DataType t, int64_t x, int64_t y, Span span) {
  __int128 a = wide(t, x), b = wide(t, y), product;
  switch (kind) {
  case NK_Add: return checked_int(t, a + b, span);
  case NK_Sub: return checked_int(t, a - b, span);
  case NK_Mul: return __builtin_mul_overflow(a, b, &product) ? NULL : checked_int(t, product, span);
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

/* ---- floats ---- */

/* One operation in the dtype. Narrow formats are computed in double and rounded once by the
 * caller, which is exact for + - * /: the double has more than twice their digits. */
static double float_op(DataType t, NodeKind kind, double a, double b) {
  if (t.code == DTYPE_FLOAT && t.bits == 32) {
    float x = (float)a, y = (float)b;
    float r = kind == NK_Add ? x + y : kind == NK_Sub ? x - y : kind == NK_Mul ? x * y : x / y;
    return (double)r;
  }
  return kind == NK_Add ? a + b : kind == NK_Sub ? a - b : kind == NK_Mul ? a * b : a / b;
}

static Node *fold_floats(NodeKind kind, DataType t, double a, double b, Span span) {
  bool ordered = !isnan(a) && !isnan(b);
  switch (kind) {
  case NK_Add:
  case NK_Sub:
  case NK_Mul:
  case NK_Div: {
    double r = dtype_round_float(t, float_op(t, kind, a, b));
    return isnan(r) ? NULL : float_imm(t, r, span); /* the sign of a NaN is the machine's choice */
  }
  case NK_Min: return ordered && a != b ? float_imm(t, a < b ? a : b, span) : NULL;
  case NK_Max: return ordered && a != b ? float_imm(t, a > b ? a : b, span) : NULL;
  case NK_EQ: return int_imm(BOOL, a == b, span);
  case NK_NE: return int_imm(BOOL, a != b, span);
  case NK_LT: return int_imm(BOOL, a < b, span);
  case NK_LE: return int_imm(BOOL, a <= b, span);
  case NK_GT: return int_imm(BOOL, a > b, span);
  case NK_GE: return int_imm(BOOL, a >= b, span);
  default: return NULL;
  }
}

/* x op c for every float x, with the same bits. */
static Node *fold_float_identity(NodeKind kind, Node *a, Node *b) {
  Node *x = IS(FloatImm, b) ? a : b, *c = IS(FloatImm, b) ? b : a;
  bool right = c == b;
  double v = AS(FloatImm, c)->value;
  switch (kind) {
  case NK_Add: return v == 0 && signbit(v) ? x : NULL;
  case NK_Sub: return right && v == 0 && !signbit(v) ? x : NULL;
  case NK_Mul: return v == 1 ? x : NULL;
  case NK_Div: return right && v == 1 ? x : NULL;
  default: return NULL;
  }
}

/* ---- identities of integers and bools ---- */

/* May the evaluation of `n` be left out? */
static bool may_drop(Node *n) { return expr_effect(n) < EFFECT_STATE; }

/* x op c with the constant on the right. */
static Node *fold_right(NodeKind kind, Node *x, Node *c, int64_t v, Span span) {
  switch (kind) {
  case NK_Add:
  case NK_Sub: return v == 0 ? x : NULL;
  case NK_Mul: return v == 1 ? x : v == 0 && may_drop(x) ? c : NULL;
  case NK_FloorDiv:
  case NK_Div: return v == 1 ? x : NULL;
  case NK_FloorMod:
  case NK_Mod: return v == 1 && may_drop(x) ? int_imm(x->dtype, 0, span) : NULL;
  case NK_And: return v ? x : may_drop(x) ? c : NULL;
  case NK_Or: return !v ? x : may_drop(x) ? c : NULL;
  default: return NULL;
  }
}

/* c op x with the constant on the left. */
static Node *fold_left(NodeKind kind, Node *c, int64_t v, Node *x) {
  switch (kind) {
  case NK_Add: return v == 0 ? x : NULL;
  case NK_Mul: return v == 1 ? x : v == 0 && may_drop(x) ? c : NULL;
  case NK_FloorDiv:
  case NK_FloorMod:
  case NK_Div:
  case NK_Mod: return v == 0 && may_drop(x) ? c : NULL;
  case NK_And: return v ? x : c;
  case NK_Or: return v ? c : x;
  default: return NULL;
  }
}

Node *fold_binary(NodeKind kind, Node *a, Node *b, Span span) {
  DataType t = a->dtype;
  if (t.lanes != 1 || b->dtype.lanes != 1) return NULL;
  bool extreme = kind == NK_Min || kind == NK_Max;
  if (extreme && may_drop(a) && node_equal(a, b, false, NULL)) return a;
  if (IS(FloatImm, a) && IS(FloatImm, b))
    return fold_floats(kind, t, AS(FloatImm, a)->value, AS(FloatImm, b)->value, span);
  if (dtype_is_float(t))
    return IS(FloatImm, a) || IS(FloatImm, b) ? fold_float_identity(kind, a, b) : NULL;
  bool logical = kind == NK_And || kind == NK_Or;
  if (!dtype_is_int(t) && !(dtype_is_bool(t) && (logical || kind >= NK_Min))) return NULL;
  int64_t x, y;
  bool const_a = expr_is_const_int(a, &x), const_b = expr_is_const_int(b, &y);
  if (const_a && const_b) return fold_ints(kind, t, x, y, span);
  if (const_b) return fold_right(kind, a, b, y, span);
  return const_a ? fold_left(kind, a, x, b) : NULL;
}

/* ---- casts ---- */

static Node *cast_int(DataType t, DataType from, int64_t v, Span span) {
  if (dtype_is_int(t) || dtype_is_bool(t)) return int_imm(t, v, span);
  if (!dtype_is_float(t)) return NULL;
  double x = is_uint64(from) ? (double)(uint64_t)v : (double)v;
  if (t.code == DTYPE_FLOAT && t.bits == 64) return float_imm(t, x, span);
  if (t.code == DTYPE_FLOAT && t.bits == 32)
    return float_imm(t, is_uint64(from) ? (double)(float)(uint64_t)v : (double)(float)v, span);
  /* Beyond 2^53 the double is rounded already, and a second time is one too many. */
  return fabs(x) <= 0x1p53 ? float_imm(t, x, span) : NULL;
}

static Node *cast_float(DataType t, double x, Span span) {
  if (dtype_is_float(t)) return float_imm(t, x, span);
  if (dtype_is_bool(t)) return int_imm(t, x != 0, span);
  if (!dtype_is_int(t)) return NULL;
  bool is_signed = t.code == DTYPE_INT;
  double whole = trunc(x), end = ldexp(1, is_signed ? t.bits - 1 : t.bits);
  if (!(whole >= (is_signed ? -end : 0) && whole < end)) return NULL; /* NaN too */
  return int_imm(t, is_signed ? (int64_t)whole : (int64_t)(uint64_t)whole, span);
}

Node *fold_cast(DataType t, Node *value, Span span) {
  if (t.lanes != 1) return NULL;
  if (IS(IntImm, value)) return cast_int(t, value->dtype, AS(IntImm, value)->value, span);
  return IS(FloatImm, value) ? cast_float(t, AS(FloatImm, value)->value, span) : NULL;
}

/* ---- builtins on bits ---- */

typedef enum { BITS_AND, BITS_OR, BITS_XOR, BITS_LEFT, BITS_RIGHT } BitOp;
static const struct {
  const char *name;
  BitOp op;
} bit_ops[] = {{"bitwise_and", BITS_AND},
               {"bitwise_or", BITS_OR},
               {"bitwise_xor", BITS_XOR},
               {"shift_left", BITS_LEFT},
               {"shift_right", BITS_RIGHT}};

static Node *fold_bits(BitOp op, DataType t, int64_t a, int64_t b, Span span) {
  bool in_range = b >= 0 && b < t.bits;
  switch (op) {
  case BITS_AND: return int_imm(t, a & b, span);
  case BITS_OR: return int_imm(t, a | b, span);
  case BITS_XOR: return int_imm(t, a ^ b, span);
  case BITS_LEFT: return in_range ? int_imm(t, (int64_t)((uint64_t)a << b), span) : NULL;
  default:
    if (!in_range) return NULL;
    return int_imm(t, is_uint64(t) ? (int64_t)((uint64_t)a >> b) : a >> b, span);
  }
}

Node *fold_call(Node *call) {
  Call *c = AS(Call, call);
  const Intrin *in = intrin_of(c->op);
  int64_t a, b;
  if (!in || c->args.len != 2 || !dtype_is_int(call->dtype) || call->dtype.lanes != 1) return NULL;
  if (!expr_is_const_int(c->args.at[0], &a) || !expr_is_const_int(c->args.at[1], &b)) return NULL;
  for (size_t i = 0; i < sizeof bit_ops / sizeof *bit_ops; i++)
    if (str_same(in->name, bit_ops[i].name))
      return fold_bits(bit_ops[i].op, call->dtype, a, b, call->span);
  return NULL;
}
