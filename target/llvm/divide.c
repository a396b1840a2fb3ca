/* divide.c -- the four divisions: Div and Mod truncate, FloorDiv and FloorMod round down.
 *
 * The processor traps at a zero divisor and at the smallest integer divided by -1. Where the range
 * of the divisor does not exclude them, the divisor is replaced by 1 and the result mended: x / 0
 * and x % 0 are 0, and x / -1 is -x.
 *
 * The greater of 0 and 1 is no select, on purpose: LLVM 19 divides by the arms of a select in its
 * place, and takes a vector arm with one lane of 0 to be impossible in all lanes. */
#include "target/llvm/codegen.h"

typedef struct Division {
  Gen *g;
  DataType t;
  LLVMValueRef a, b;            /* b: safe to divide by */
  LLVMValueRef zero, minus_one; /* of the divisor given: i1, or NULL if excluded */
} Division;

static bool is_signed(DataType t) { return t.code == DTYPE_INT; }

static LLVMValueRef equals(Division *d, LLVMValueRef v, int64_t value) {
  return LLVMBuildICmp(d->g->b, LLVMIntEQ, v, const_int(d->g, d->t, value), "");
}

static LLVMValueRef choose(Division *d, LLVMValueRef cond, LLVMValueRef then, LLVMValueRef orelse) {
  return LLVMBuildSelect(d->g->b, cond, then, orelse, "");
}

static Division guard(Gen *g, Binary *n, LLVMValueRef a, LLVMValueRef b) {
  DataType t = n->node.dtype;
  Division d = {g, t, a, b, NULL, NULL};
  Range64 r = range_of(&g->f->ranges, n->b);
  bool unknown = t.code == DTYPE_UINT && t.bits == 64 && !LLVMIsConstant(b);
  if ((r.lo <= 0 && r.hi >= 0) || unknown) d.zero = equals(&d, b, 0);
  if (is_signed(t) && r.lo <= -1 && r.hi >= -1) d.minus_one = equals(&d, b, -1);
  LLVMValueRef one = const_int(g, t, 1);
  if (d.zero) d.b = gen_overloaded(g, "llvm.umax", LLVMTypeOf(b), 2, (LLVMValueRef[]){b, one});
  if (d.minus_one) d.b = choose(&d, d.minus_one, one, d.b);
  return d;
}

static LLVMValueRef mend(Division *d, LLVMValueRef v, bool is_quotient) {
  /* A remainder by 1 is the remainder by -1: 0. */
  if (d->minus_one && is_quotient) v = choose(d, d->minus_one, LLVMBuildNeg(d->g->b, d->a, ""), v);
  if (d->zero) v = choose(d, d->zero, LLVMConstNull(LLVMTypeOf(v)), v);
  return v;
}

/* i1: must a truncated result be moved down by one divisor? The remainder is not 0 and its sign is
 * not the divisor's. */
static LLVMValueRef must_floor(Division *d, LLVMValueRef remainder) {
  LLVMValueRef zero = const_int(d->g, d->t, 0);
  LLVMValueRef signs = LLVMBuildXor(d->g->b, remainder, d->b, "");
  LLVMValueRef differ = LLVMBuildICmp(d->g->b, LLVMIntSLT, signs, zero, "");
  LLVMValueRef inexact = LLVMBuildICmp(d->g->b, LLVMIntNE, remainder, zero, "");
  return LLVMBuildAnd(d->g->b, differ, inexact, "");
}

static LLVMValueRef divide_signed(Division *d, NodeKind kind) {
  LLVMBuilderRef b = d->g->b;
  bool is_quotient = kind == NK_Div || kind == NK_FloorDiv;
  bool floors = kind == NK_FloorDiv || kind == NK_FloorMod;
  LLVMValueRef q = is_quotient ? LLVMBuildSDiv(b, d->a, d->b, "") : NULL;
  LLVMValueRef r = !is_quotient || floors ? LLVMBuildSRem(b, d->a, d->b, "") : NULL;
  if (!floors) return mend(d, is_quotient ? q : r, is_quotient);
  LLVMValueRef down = must_floor(d, r), zero = const_int(d->g, d->t, 0);
  if (is_quotient) {
    LLVMValueRef one = LLVMBuildZExt(b, down, LLVMTypeOf(q), "");
    return mend(d, LLVMBuildSub(b, q, one, ""), true);
  }
  return mend(d, LLVMBuildAdd(b, r, choose(d, down, d->b, zero), ""), false);
}

static LLVMValueRef divide_unsigned(Division *d, NodeKind kind) {
  bool is_quotient = kind == NK_Div || kind == NK_FloorDiv;
  LLVMValueRef v =
      is_quotient ? LLVMBuildUDiv(d->g->b, d->a, d->b, "") : LLVMBuildURem(d->g->b, d->a, d->b, "");
  return mend(d, v, is_quotient);
}

/* By 2^k, rounding down: a shift or a mask, whatever the sign. */
static LLVMValueRef divide_by_power(Gen *g, Binary *n, LLVMValueRef a, int64_t divisor) {
  DataType t = n->node.dtype;
  if (n->node.kind == NK_FloorMod) return LLVMBuildAnd(g->b, a, const_int(g, t, divisor - 1), "");
  LLVMValueRef k = const_int(g, t, __builtin_ctzll((uint64_t)divisor));
  return is_signed(t) ? LLVMBuildAShr(g->b, a, k, "") : LLVMBuildLShr(g->b, a, k, "");
}

/* fmod, with the sign of the divisor where it rounds down, as in Python. */
static LLVMValueRef float_mod(Gen *g, NodeKind kind, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef r = gen_fp(g, LLVMBuildFRem(g->b, a, b, ""));
  if (kind == NK_Mod) return r;
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(r));
  LLVMValueRef inexact = LLVMBuildFCmp(g->b, LLVMRealONE, r, zero, "");
  LLVMValueRef negative = LLVMBuildFCmp(g->b, LLVMRealOLT, r, zero, "");
  LLVMValueRef want = LLVMBuildFCmp(g->b, LLVMRealOLT, b, zero, "");
  LLVMValueRef down = LLVMBuildAnd(g->b, inexact, LLVMBuildXor(g->b, negative, want, ""), "");
  return LLVMBuildSelect(g->b, down, gen_fp(g, LLVMBuildFAdd(g->b, r, b, "")), r, "");
}

static LLVMValueRef divide_floats(Gen *g, Binary *n, LLVMValueRef a, LLVMValueRef b) {
  DataType t = n->node.dtype;
  NodeKind kind = n->node.kind;
  a = gen_widen(g, a, t);
  b = gen_widen(g, b, t);
  LLVMValueRef v;
  if (kind == NK_Mod || kind == NK_FloorMod) v = float_mod(g, kind, a, b);
  else v = gen_fp(g, LLVMBuildFDiv(g->b, a, b, ""));
  if (kind == NK_FloorDiv) v = gen_overloaded(g, "llvm.floor", LLVMTypeOf(v), 1, &v);
  return gen_narrow(g, v, t);
}

LLVMValueRef gen_divide(Gen *g, Node *n, LLVMValueRef a, LLVMValueRef b) {
  Binary *binary = (Binary *)(void *)n;
  if (dtype_is_float(n->dtype)) return divide_floats(g, binary, a, b);
  Range64 ra = range_of(&g->f->ranges, binary->a), rb = range_of(&g->f->ranges, binary->b);
  bool floors = n->kind == NK_FloorDiv || n->kind == NK_FloorMod;
  bool is_power = rb.lo == rb.hi && rb.lo > 0 && (rb.lo & (rb.lo - 1)) == 0;
  if (is_power && (floors || ra.lo >= 0) && n->kind != NK_Div && n->kind != NK_Mod)
    return divide_by_power(g, binary, a, rb.lo);
  Division d = guard(g, binary, a, b);
  bool as_unsigned = !is_signed(n->dtype) || (ra.lo >= 0 && rb.lo >= 0);
  return as_unsigned ? divide_unsigned(&d, n->kind) : divide_signed(&d, n->kind);
}
