/* arith.c -- arithmetic, comparisons and conversions in WGSL.
 *
 * Sums and products of 32 bits wrap there as they do here. Operators on two literals would be
 * evaluated when the text is compiled, where overflow is an error: they are calls. */
#include "target/webgpu/webgpu.h"

static CText call1(CGen *g, const char *helper, DataType t, DataType from, CText v) {
  return c_text(BINDS_ATOM, "%s(%s)", c_helper(g, helper, t, from), v.at);
}

static CText call2(CGen *g, const char *helper, DataType t, CText a, CText b) {
  return c_text(BINDS_ATOM, "%s(%s, %s)", c_helper(g, helper, t, VOID_TYPE), a.at, b.at);
}

static CText infix(const char *op, Binding binds, CText a, CText b) {
  Binding left = binds == BINDS_COMPARE ? BINDS_ADD : binds == BINDS_LOGIC ? BINDS_UNARY : binds;
  Binding right = binds == BINDS_ADD ? BINDS_MUL : binds == BINDS_COMPARE ? BINDS_ADD : BINDS_UNARY;
  if (b.at[0] == '-') right = BINDS_ATOM;
  return c_text(binds, "%s %s %s", c_within(a, left), op, c_within(b, right));
}

CText wgsl_fit(CGen *g, DataType t, CText v) {
  return dtype_is_int(t) && t.bits < 32 ? call1(g, "fit", t, VOID_TYPE, v) : v;
}

/* ---- conversions ---- */

static CText convert(CGen *g, DataType to, CText v) {
  return c_text(BINDS_ATOM, "%s(%s)", c_type(g, to), v.at);
}

static CText to_bool(CGen *g, CText v, DataType from) {
  if (wgsl_is_wide(from))
    return c_text(BINDS_ATOM, "any(%s != vec2<u32>())", c_within(v, BINDS_ADD));
  if (!dtype_is_float(from)) return c_text(BINDS_COMPARE, "%s != 0", c_within(v, BINDS_ADD));
  return c_text(BINDS_UNARY, "!(%s == 0.0f)", c_within(c_widen(g, v, from), BINDS_ADD));
}

static CText widen_int(CGen *g, CText v, DataType from) {
  if (from.code == DTYPE_INT) return call1(g, "extend", from, VOID_TYPE, v);
  return c_text(BINDS_ATOM, "vec2<u32>(%s, 0u)",
                dtype_is_bool(from) ? convert(g, DTYPE_OF(UINT, 32), v).at : v.at);
}

static CText int_to_int(CGen *g, CText v, DataType from, DataType to) {
  if (wgsl_is_wide(to)) return wgsl_is_wide(from) ? v : widen_int(g, v, from);
  bool stays = from.bits < to.bits && (from.code != DTYPE_INT || to.code == DTYPE_INT);
  if (wgsl_is_wide(from)) {
    v = c_text(BINDS_ATOM, "%s.x", c_within(v, BINDS_ATOM));
    from = DTYPE_OF(UINT, 64);
  }
  if (!str_same(c_type(g, from.bits == 64 ? DTYPE_OF(UINT, 32) : from), c_type(g, to)))
    v = convert(g, to, v);
  return dtype_is_bool(from) || stays ? v : wgsl_fit(g, to, v);
}

CText wgsl_cast(CGen *g, CText v, DataType from, DataType to) {
  if (dtype_is_bool(to)) return to_bool(g, v, from);
  if (dtype_is_float(from) && dtype_is_float(to)) return c_narrow(g, c_widen(g, v, from), to);
  if (dtype_is_float(from)) return call1(g, "to_int", to, FLOAT32, c_widen(g, v, from));
  if (!dtype_is_float(to)) return int_to_int(g, v, from, to);
  if (c_rounds_twice(from, to)) return c_narrow(g, call1(g, "int_to_odd", from, VOID_TYPE, v), to);
  return c_narrow(
      g, wgsl_is_wide(from) ? call1(g, "to_float", from, VOID_TYPE, v) : convert(g, FLOAT32, v),
      to);
}

/* ---- operators ---- */

static const char *const comparisons[] = {"==", "!=", "<", "<=", ">", ">="};

/* By less and equal. */
static CText compare_wide(CGen *g, NodeKind kind, DataType t, CText a, CText b) {
  if (kind == NK_EQ || kind == NK_NE)
    return c_text(BINDS_ATOM, "%s(%s %s %s)", kind == NK_EQ ? "all" : "any", c_within(a, BINDS_ADD),
                  comparisons[kind - NK_EQ], c_within(b, BINDS_ADD));
  bool swaps = kind == NK_GT || kind == NK_LE;
  CText less = call2(g, "less", t, swaps ? b : a, swaps ? a : b);
  return kind == NK_LT || kind == NK_GT ? less : c_text(BINDS_UNARY, "!%s", less.at);
}

/* Compilers take != of floats to be ordered. */
static CText compare(CGen *g, NodeKind kind, DataType t, CText a, CText b) {
  if (wgsl_is_wide(t)) return compare_wide(g, kind, t, a, b);
  bool is_float = dtype_is_float(t);
  if (is_float) a = c_widen(g, a, t), b = c_widen(g, b, t);
  if (dtype_is_bool(t) && kind > NK_NE)
    a = convert(g, DTYPE_OF(UINT, 32), a), b = convert(g, DTYPE_OF(UINT, 32), b);
  if (is_float && kind == NK_NE)
    return c_text(BINDS_UNARY, "!(%s)", infix("==", BINDS_COMPARE, a, b).at);
  return infix(comparisons[kind - NK_EQ], BINDS_COMPARE, a, b);
}

static const struct {
  NodeKind kind;
  const char *op, *helper;
  Binding binds;
} operators[] = {{NK_Add, "+", "add", BINDS_ADD},           {NK_Sub, "-", "sub", BINDS_ADD},
                 {NK_Mul, "*", "mul", BINDS_MUL},           {NK_Div, "/", "div", BINDS_MUL},
                 {NK_FloorDiv, "/", "floordiv", BINDS_MUL}, {NK_Mod, "%", "mod", BINDS_MUL},
                 {NK_FloorMod, "%", "floormod", BINDS_MUL}};

static int row_of(NodeKind kind) {
  int row = 0;
  while (operators[row].kind != kind) row++;
  return row;
}

/* Are a's and b's values such that the operator does what the IR's division does? */
static bool divides_plainly(CGen *g, Binary *n) {
  Range64 a = range_of(&g->f->ranges, n->a), b = range_of(&g->f->ranges, n->b);
  return (n->node.dtype.code != DTYPE_INT || a.lo >= 0) && b.lo > 0 && !IS(IntImm, n->a);
}

static bool divides(NodeKind kind) {
  return kind == NK_Div || kind == NK_FloorDiv || kind == NK_Mod || kind == NK_FloorMod;
}

static CText int_operator(CGen *g, Binary *n, DataType t, CText a, CText b) {
  NodeKind kind = n->node.kind;
  int row = row_of(kind);
  const char *helper = operators[row].helper;
  if (divides(kind) && t.code != DTYPE_INT)
    helper = kind == NK_Div || kind == NK_FloorDiv ? "div_unsigned" : "mod_unsigned";
  bool folds = IS(IntImm, n->a) && IS(IntImm, n->b);
  if (wgsl_is_wide(t) || folds || (divides(kind) && !divides_plainly(g, n)))
    return call2(g, helper, t, a, b);
  CText v = infix(operators[row].op, operators[row].binds, a, b);
  return divides(kind) ? v : wgsl_fit(g, t, v);
}

/* ---- 64 bits that need only 32 ---- */

bool wgsl_fits(CGen *g, Node *n) {
  Range64 r = range_of(&g->f->ranges, n);
  return r.lo >= INT32_MIN && r.hi <= INT32_MAX;
}

/* Sums and products of low words; other operators where the operands have no more. */
static bool has_low_operator(CGen *g, Node *n) {
  Binary *b = (Binary *)(void *)n;
  if (n->kind == NK_Add || n->kind == NK_Sub || n->kind == NK_Mul) return n->dtype.bits >= 32;
  bool is_other = divides(n->kind) || n->kind == NK_Min || n->kind == NK_Max;
  return is_other && n->dtype.code == DTYPE_INT && n->dtype.bits == 64 && wgsl_fits(g, b->a) &&
         wgsl_fits(g, b->b);
}

CText wgsl_low(CGen *g, Node *n) {
  DataType t = n->dtype;
  if (IS(IntImm, n)) return wgsl_integer(g, INT32, (int32_t)AS(IntImm, n)->value);
  if (IS(Cast, n) && wgsl_is_wide(t) && dtype_is_int(AS(Cast, n)->value->dtype))
    return wgsl_low(g, AS(Cast, n)->value);
  if (!has_low_operator(g, n)) return c_cast(g, c_expr(g, n), t, INT32);
  Binary *b = (Binary *)(void *)n;
  CText x = wgsl_low(g, b->a), y = wgsl_low(g, b->b);
  if (n->kind == NK_Min || n->kind == NK_Max)
    return call2(g, n->kind == NK_Min ? "min" : "max", INT32, x, y);
  return int_operator(g, b, INT32, x, y);
}

static CText float_operator(CGen *g, Binary *n, CText a, CText b) {
  DataType t = n->a->dtype;
  NodeKind kind = n->node.kind;
  int row = row_of(kind);
  a = c_widen(g, a, t);
  b = c_widen(g, b, t);
  CText v;
  if (kind == NK_Mod) v = call2(g, "fmod", FLOAT32, a, b);
  else if (kind == NK_FloorMod) v = call2(g, "floormod_float", FLOAT32, a, b);
  else if (IS(FloatImm, n->a) && IS(FloatImm, n->b))
    v = call2(g, kind == NK_FloorDiv ? "div" : operators[row].helper, FLOAT32, a, b);
  else v = infix(operators[row].op, operators[row].binds, a, b);
  if (kind == NK_FloorDiv) v = call1(g, "floor", FLOAT32, VOID_TYPE, v);
  return c_narrow(g, v, t);
}

/* What its operands and their ranges let be computed in 32 bits; false: nothing. */
static bool narrow(CGen *g, Binary *n, CText *out) {
  NodeKind kind = n->node.kind;
  if (!wgsl_is_wide(n->a->dtype) || n->a->dtype.code != DTYPE_INT) return false;
  if (kind >= NK_EQ && kind <= NK_GE) {
    if (!wgsl_fits(g, n->a) || !wgsl_fits(g, n->b)) return false;
    CText a = wgsl_low(g, n->a);
    return *out = compare(g, kind, INT32, a, wgsl_low(g, n->b)), true;
  }
  if (!wgsl_fits(g, &n->node) || !has_low_operator(g, &n->node)) return false;
  return *out = widen_int(g, wgsl_low(g, &n->node), INT32), true;
}

CText wgsl_binary(CGen *g, Binary *n) {
  NodeKind kind = n->node.kind;
  DataType t = n->a->dtype;
  CText v[2];
  if (expr_effect(&n->node) == EFFECT_PURE && narrow(g, n, v)) return v[0];
  c_operands(g, 2, (Node *[]){n->a, n->b}, v);
  v[1] = c_cast(g, v[1], n->b->dtype, t);
  if (kind >= NK_EQ && kind <= NK_GE) return compare(g, kind, t, v[0], v[1]);
  bool is_min = kind == NK_Min;
  if (dtype_is_bool(t) && (is_min || kind == NK_Max))
    return infix(is_min ? "&&" : "||", BINDS_LOGIC, v[0], v[1]);
  if (is_min || kind == NK_Max) return call2(g, is_min ? "min" : "max", t, v[0], v[1]);
  return dtype_is_float(t) ? float_operator(g, n, v[0], v[1]) : int_operator(g, n, t, v[0], v[1]);
}

const char *wgsl_loop(CGen *g, DataType t, const char *var, const char *end) {
  if (!wgsl_is_wide(t)) return NULL;
  return str_format("%s(%s, %s); %s = %s(%s, %s)", c_helper(g, "less", t, VOID_TYPE), var, end, var,
                    c_helper(g, "add", t, VOID_TYPE), var, wgsl_integer(g, t, 1).at);
}
