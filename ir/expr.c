/* expr.c -- building scalar expressions: dtypes are matched, constants folded, operands checked. */
#include "ir/ir_impl.h"
#include <math.h>

/* ---- leaves ---- */

Node *int_imm(DataType t, int64_t value, Span span) {
  if (t.lanes != 1) return expr_broadcast(int_imm(dtype_element(t), value, span), t.lanes, span);
  return MAKE(IntImm, span, t, .value = dtype_wrap_int(t, value));
}

/* There is one NaN, so that equal texts are equal nodes. */
Node *float_imm(DataType t, double value, Span span) {
  if (t.lanes != 1) return expr_broadcast(float_imm(dtype_element(t), value, span), t.lanes, span);
  value = dtype_round_float(t, value);
  return MAKE(FloatImm, span, t, .value = isnan(value) ? NAN : value);
}

Node *string_imm(const char *value, Span span) {
  return MAKE(StringImm, span, HANDLE, .value = value);
}

Node *var_new(const char *name, DataType t, Span span) {
  return MAKE(Var, span, t, .name = name ? str_intern(name) : NULL, .elem = VOID_TYPE);
}

Node *pointer_var_new(const char *name, DataType elem, const char *scope, Span span) {
  return MAKE(Var, span, HANDLE, .name = name ? str_intern(name) : NULL, .elem = elem,
              .scope = scope ? str_intern(scope) : NULL);
}

bool expr_is_const_int(const Node *n, int64_t *value) {
  if (!IS(IntImm, n)) return false;
  *value = ((const IntImm *)(const void *)n)->value;
  return true;
}

bool expr_is_splat_int(const Node *n, int64_t *value) {
  if (IS(Broadcast, n)) n = ((const Broadcast *)(const void *)n)->value;
  return expr_is_const_int(n, value);
}

bool expr_is_zero(const Node *n) {
  int64_t v;
  return expr_is_const_int(n, &v) && v == 0;
}

bool expr_is_one(const Node *n) {
  int64_t v;
  return expr_is_const_int(n, &v) && v == 1;
}

/* ---- matching dtypes ---- */

Node *expr_broadcast(Node *n, int lanes, Span span) {
  if (n->dtype.lanes == lanes) return n;
  return MAKE(Broadcast, span, dtype_with_lanes(n->dtype, lanes), .value = n, .lanes = lanes);
}

/* How strongly a dtype pulls the other operand to itself; 0: it doesn't. */
static int pull(DataType t) {
  if (t.code == DTYPE_FLOAT) return 3;
  if (t.code == DTYPE_BFLOAT) return 2;
  return dtype_is_mini_float(t) ? 1 : 0;
}

/* The dtype that two scalars of these dtypes meet in; void if there is none. */
static DataType common_dtype(DataType a, DataType b) {
  if (dtype_equal(a, b)) return a;
  if (dtype_is_bool(a)) return common_dtype(INT32, b);
  if (dtype_is_bool(b)) return common_dtype(a, INT32);
  bool numbers = (dtype_is_int(a) || dtype_is_float(a)) && (dtype_is_int(b) || dtype_is_float(b));
  if (!numbers) return VOID_TYPE;
  if (pull(a) != pull(b)) return pull(a) > pull(b) ? a : b;
  if (dtype_is_mini_float(a)) return VOID_TYPE; /* neither of the two holds the other */
  if (a.bits != b.bits) return a.bits > b.bits ? a : b;
  return a.code == DTYPE_UINT ? a : b;
}

/* A number as it is written: an immediate of a default dtype. */
static bool is_literal(const Node *n) {
  return (IS(IntImm, n) && dtype_equal(n->dtype, INT32)) ||
         (IS(FloatImm, n) && dtype_equal(n->dtype, FLOAT32));
}

/* Does the literal take dtype t when it stands beside a value of it? */
static bool adapts(const Node *literal, DataType t) {
  if (IS(FloatImm, literal)) return dtype_is_float(t);
  int64_t v = ((const IntImm *)(const void *)literal)->value;
  return dtype_is_float(t) || (dtype_is_int(t) && v >= dtype_min_int(t) && v <= dtype_max_int(t));
}

static DataType meeting_dtype(const Node *a, const Node *b) {
  DataType ta = dtype_element(a->dtype), tb = dtype_element(b->dtype);
  if (dtype_equal(ta, tb)) return ta;
  if (is_literal(b) && !is_literal(a) && adapts(b, ta)) return ta;
  if (is_literal(a) && !is_literal(b) && adapts(a, tb)) return tb;
  return common_dtype(ta, tb);
}

void expr_match(const char *what, Node **a, Node **b, Span span) {
  DataType t = meeting_dtype(*a, *b);
  if (dtype_is_void(t))
    error_raisef("TypeError", span, "'%s' has no common dtype for %s and %s", what,
                 dtype_text((*a)->dtype), dtype_text((*b)->dtype));
  int la = (*a)->dtype.lanes, lb = (*b)->dtype.lanes;
  if (la != lb && la != 1 && lb != 1)
    error_raisef("TypeError", span, "'%s' has operands of different lanes: %s and %s", what,
                 dtype_text((*a)->dtype), dtype_text((*b)->dtype));
  *a = expr_cast(dtype_with_lanes(t, la), *a, span);
  *b = expr_cast(dtype_with_lanes(t, lb), *b, span);
  if (la == 1) *a = expr_broadcast(*a, lb, span);
  if (lb == 1) *b = expr_broadcast(*b, la, span);
}

/* ---- operators ---- */

static void check_operand(NodeKind kind, const Node *n, Span span) {
  DataType t = n->dtype;
  bool number = dtype_is_int(t) || dtype_is_float(t) || dtype_is_bool(t) || dtype_is_custom(t);
  bool pointer = dtype_is_handle(t) && (kind == NK_EQ || kind == NK_NE) && !IS(StringImm, n);
  if (number || pointer) return;
  const char *found = IS(StringImm, n) ? "a string" : dtype_text(t);
  error_raisef("TypeError", span, "'%s' takes numbers, found %s", node_spelling(kind), found);
}

Node *expr_as_bool(Node *n, Span span) {
  if (dtype_is_bool(n->dtype)) return n;
  if (!dtype_is_int(n->dtype))
    error_raise_code(E0311, span, "expected a bool, found %s", dtype_text(n->dtype));
  return expr_binary(NK_NE, n, int_imm(dtype_element(n->dtype), 0, span), span);
}

/* Arithmetic on bools counts: they become int32. The lesser and the greater of two bools is one. */
static Node *as_number(NodeKind kind, Node *n, Span span) {
  bool counts = kind < NK_Min && dtype_is_bool(n->dtype);
  return counts ? expr_cast(dtype_with_lanes(INT32, n->dtype.lanes), n, span) : n;
}

static Node *make_binary(NodeKind kind, Node *a, Node *b, Span span) {
  int64_t divisor;
  bool by_zero = kind_divides(kind) && dtype_is_int(a->dtype) && expr_is_splat_int(b, &divisor) &&
                 divisor == 0;
  if (by_zero) error_raisef("ZeroDivisionError", span, "division by zero");
  Node *folded = fold_binary(kind, a, b, span);
  if (folded) return folded;
  DataType t = kind_gives_bool(kind) ? dtype_with_lanes(BOOL, a->dtype.lanes) : a->dtype;
  Binary node = {{(uint16_t)kind, t, span}, a, b};
  return gc_copy(&node, sizeof node);
}

static void match_operands(NodeKind kind, Node **a, Node **b, Span span) {
  check_operand(kind, *a, span);
  check_operand(kind, *b, span);
  bool logical = kind == NK_And || kind == NK_Or;
  bool bools = dtype_is_bool((*a)->dtype) && dtype_is_bool((*b)->dtype);
  *a = logical ? expr_as_bool(*a, span) : bools ? as_number(kind, *a, span) : *a;
  *b = logical ? expr_as_bool(*b, span) : bools ? as_number(kind, *b, span) : *b;
  expr_match(node_spelling(kind), a, b, span);
}

Node *expr_binary(NodeKind kind, Node *a, Node *b, Span span) {
  REQUIRE(node_is_binary(kind), "%s", node_kind_name(kind));
  match_operands(kind, &a, &b, span);
  if (kind == NK_Div && !dtype_is_float(a->dtype))
    error_raisef("TypeError", span, "'/' divides floats only, found %s; use '//' or T.truncdiv",
                 dtype_text(a->dtype));
  return make_binary(kind, a, b, span);
}

Node *expr_truncdiv(Node *a, Node *b, Span span) {
  match_operands(NK_Div, &a, &b, span);
  return make_binary(NK_Div, a, b, span);
}

Node *expr_not(Node *a, Span span) {
  a = expr_as_bool(a, span);
  int64_t v;
  if (expr_is_const_int(a, &v)) return int_imm(BOOL, !v, span);
  return MAKE(Not, span, a->dtype, .a = a);
}

/* x * -1, which keeps -0.0 as 0 - x would not; 0 - x for unsigned integers. */
Node *expr_neg(Node *a, Span span) {
  DataType t = dtype_element(a->dtype);
  if (IS(FloatImm, a)) return float_imm(t, -AS(FloatImm, a)->value, span);
  if (IS(IntImm, a) && t.code == DTYPE_INT && AS(IntImm, a)->value > dtype_min_int(t))
    return int_imm(t, -AS(IntImm, a)->value, span);
  if (dtype_is_float(t)) return expr_binary(NK_Mul, a, float_imm(t, -1, span), span);
  if (t.code == DTYPE_UINT) return expr_binary(NK_Sub, int_imm(t, 0, span), a, span);
  return expr_binary(NK_Mul, a, int_imm(dtype_is_int(t) ? t : INT32, -1, span), span);
}

Node *expr_cast(DataType t, Node *value, Span span) {
  DataType from = value->dtype;
  if (dtype_equal(from, t)) return value;
  if (IS(StringImm, value) || dtype_is_void(t) || dtype_is_void(from))
    error_raisef("TypeError", span, "%s can't become %s",
                 IS(StringImm, value) ? "a string" : dtype_text(from), dtype_text(t));
  if (from.lanes == 1 && t.lanes != 1)
    return expr_broadcast(expr_cast(dtype_element(t), value, span), t.lanes, span);
  if (from.lanes != t.lanes)
    error_raisef("TypeError", span, "%s can't become %s: the lanes differ", dtype_text(from),
                 dtype_text(t));
  Node *folded = fold_cast(t, value, span);
  if (folded) return folded;
  if (IS(Broadcast, value)) {
    Node *scalar = expr_cast(dtype_element(t), AS(Broadcast, value)->value, span);
    return expr_broadcast(scalar, t.lanes, span);
  }
  return MAKE(Cast, span, t, .value = value);
}

Node *expr_select(Node *cond, Node *then, Node *orelse, Span span) {
  cond = expr_as_bool(cond, span);
  expr_match("T.Select", &then, &orelse, span);
  int64_t v;
  if (expr_is_const_int(cond, &v)) return v ? then : orelse;
  int lanes = cond->dtype.lanes;
  if (lanes != 1 && then->dtype.lanes == 1) {
    then = expr_broadcast(then, lanes, span);
    orelse = expr_broadcast(orelse, lanes, span);
  }
  if (lanes != 1 && lanes != then->dtype.lanes)
    error_raisef("TypeError", span, "'T.Select' has a condition of %d lanes for values of %d",
                 lanes, then->dtype.lanes);
  return MAKE(Select, span, then->dtype, .cond = cond, .then = then, .orelse = orelse);
}
