/* arith.c -- arithmetic and comparison on two operands. */
#include "target/c/c.h"

static bool is_signed(DataType t) { return t.code == DTYPE_INT; }

static const char *operator_of(NodeKind kind) {
  switch (kind) {
  case NK_Add: return "+";
  case NK_Sub: return "-";
  case NK_Mul: return "*";
  case NK_EQ: return "==";
  case NK_NE: return "!=";
  case NK_LT: return "<";
  case NK_LE: return "<=";
  case NK_GT: return ">";
  case NK_GE: return ">=";
  case NK_Mod:
  case NK_FloorMod: return "%";
  default: return "/";
  }
}

/* a op b in C; the right operand of - and its like needs parentheses where the left does not. */
static CText infix(NodeKind kind, CText a, CText b) {
  bool is_sum = kind == NK_Add || kind == NK_Sub;
  Binding binds = is_sum ? BINDS_ADD : kind >= NK_EQ && kind <= NK_GE ? BINDS_COMPARE : BINDS_MUL;
  Binding left = binds == BINDS_COMPARE ? BINDS_ADD : binds;
  Binding right = binds == BINDS_ADD ? BINDS_MUL : binds == BINDS_MUL ? BINDS_UNARY : BINDS_ADD;
  if (kind == NK_Add && b.at[0] == '-' && b.binds == BINDS_UNARY)
    return c_text(binds, "%s - %s", c_within(a, left), b.at + 1);
  if (kind == NK_Sub && b.at[0] == '-') right = BINDS_ATOM;
  return c_text(binds, "%s %s %s", c_within(a, left), operator_of(kind), c_within(b, right));
}

static CText call2(CGen *g, const char *helper, DataType t, CText a, CText b) {
  return c_text(BINDS_ATOM, "%s(%s, %s)", c_helper(g, helper, t, VOID_TYPE), a.at, b.at);
}

CText c_fit(CGen *g, DataType t, const char *text) {
  if (t.bits >= 8) return c_text(BINDS_UNARY, "(%s)(%s)", c_type(g, t), text);
  const char *helper = is_signed(t) ? "fit" : "fit_unsigned";
  return c_text(BINDS_ATOM, "%s(%s)", c_helper(g, helper, t, VOID_TYPE), text);
}

/* ---- comparisons ---- */

/* What is known without looking, and C compilers warn of: an unsigned number below 0, a number
 * beside itself. */
static bool is_known(Binary *n, bool *answer) {
  NodeKind kind = n->node.kind;
  if (dtype_is_float(n->a->dtype) || dtype_is_handle(n->a->dtype)) return false;
  if (expr_effect(n->a) == EFFECT_STATE || expr_effect(n->b) == EFFECT_STATE) return false;
  bool is_unsigned = !is_signed(n->a->dtype);
  if (is_unsigned && expr_is_zero(n->b) && (kind == NK_GE || kind == NK_LT))
    return *answer = kind == NK_GE, true;
  if (is_unsigned && expr_is_zero(n->a) && (kind == NK_LE || kind == NK_GT))
    return *answer = kind == NK_LE, true;
  if (!node_equal(n->a, n->b, false, NULL)) return false;
  return *answer = kind == NK_EQ || kind == NK_LE || kind == NK_GE, true;
}

static CText compare(CGen *g, Binary *n, DataType t, CText a, CText b) {
  bool answer;
  if (is_known(n, &answer)) {
    c_mark_used(g, n->a, a);
    c_mark_used(g, n->b, b);
    return c_int(g, BOOL, answer, true);
  }
  return infix(n->node.kind, c_widen(g, a, t), c_widen(g, b, t));
}

/* ---- integers ---- */

static CText int_arithmetic(CGen *g, Node *n, bool is_index, CText a, CText b) {
  DataType t = n->dtype;
  bool is_product = n->kind == NK_Mul;
  if (t.bits < 32) {
    if (is_product && t.bits == 16)
      a = c_text(BINDS_UNARY, "(uint32_t)%s", c_within(a, BINDS_UNARY));
    return c_fit(g, t, infix(n->kind, a, b).at);
  }
  if (!is_signed(t) || is_index || range_cannot_wrap(&g->f->ranges, n)) return infix(n->kind, a, b);
  return call2(g, n->kind == NK_Add ? "add" : n->kind == NK_Sub ? "sub" : "mul", t, a, b);
}

/* Where the range of the divisor leaves nothing to be mended, C's own operators do: they truncate,
 * which is to round down where nothing is negative. */
static CText divide_ints(CGen *g, Binary *n, CText a, CText b) {
  DataType t = n->node.dtype;
  NodeKind kind = n->node.kind;
  bool is_quotient = kind == NK_Div || kind == NK_FloorDiv;
  bool floors = kind == NK_FloorDiv || kind == NK_FloorMod;
  Range64 ra = range_of(&g->f->ranges, n->a), rb = range_of(&g->f->ranges, n->b);
  bool is_uint64 = t.code == DTYPE_UINT && t.bits == 64;
  bool no_zero = (rb.lo > 0 || rb.hi < 0) && (!is_uint64 || IS(IntImm, n->b));
  bool plain = no_zero && (!floors || (ra.lo >= 0 && rb.lo > 0)) &&
               (rb.lo > -1 || rb.hi < -1 || !is_signed(t));
  if (plain && t.bits >= 32) return infix(kind, a, b);
  if (!is_signed(t)) return call2(g, is_quotient ? "div_unsigned" : "mod_unsigned", t, a, b);
  const char *helper = floors        ? (is_quotient ? "floordiv" : "floormod")
                       : is_quotient ? "div"
                                     : "mod";
  CText v = call2(g, helper, t, a, b);
  return t.bits < 8 ? c_fit(g, t, v.at) : v;
}

/* ---- floats ---- */

static CText float_arithmetic(CGen *g, NodeKind kind, DataType t, CText a, CText b) {
  a = c_widen(g, a, t);
  b = c_widen(g, b, t);
  if (kind == NK_Mod)
    return c_narrow(g, c_text(BINDS_ATOM, "fmod%s(%s, %s)", c_suffix(g, t), a.at, b.at), t);
  if (kind == NK_FloorMod) return c_narrow(g, call2(g, "floormod_float", c_compute(t), a, b), t);
  CText v = infix(kind, a, b);
  if (kind == NK_FloorDiv) v = c_text(BINDS_ATOM, "%s(%s)", c_libm(g, "floor", t), v.at);
  return c_narrow(g, v, t);
}

CText c_binary(CGen *g, Node *node, bool is_index) {
  Binary *n = (Binary *)(void *)node;
  NodeKind kind = node->kind;
  DataType t = n->a->dtype;
  CText v[2];
  if (g->dialect->binary) return g->dialect->binary(g, n);
  if (is_index) {
    v[0] = c_index(g, n->a);
    v[1] = c_index(g, n->b);
  } else c_operands(g, 2, (Node *[]){n->a, n->b}, v);
  /* Two literals would be of type int, whatever the dtype. */
  if (IS(IntImm, n->a) && IS(IntImm, n->b)) v[0] = c_int(g, t, AS(IntImm, n->a)->value, true);
  v[1] = c_cast(g, v[1], n->b->dtype, t);
  if (kind >= NK_EQ && kind <= NK_GE) return compare(g, n, t, v[0], v[1]);
  if (kind == NK_Min || kind == NK_Max)
    return t.lanes > 1 ? c_vector_choice(g, n, v[0], v[1])
                       : call2(g, kind == NK_Min ? "min" : "max", t, v[0], v[1]);
  if (dtype_is_float(t)) return float_arithmetic(g, kind, t, v[0], v[1]);
  if (kind == NK_Add || kind == NK_Sub || kind == NK_Mul)
    return int_arithmetic(g, node, is_index, v[0], v[1]);
  return divide_ints(g, n, v[0], v[1]);
}
