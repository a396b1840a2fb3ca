/* binary.c -- arithmetic, comparison and logic on two operands. */
#include "lower/device/device.h"
#include "target/llvm/codegen.h"

LLVMValueRef gen_fp(Gen *g, LLVMValueRef v) {
  bool takes_flags = LLVMIsAInstruction(v) && LLVMCanValueUseFastMathFlags(v);
  if (g->f->fp_flags && takes_flags) LLVMSetFastMathFlags(v, g->f->fp_flags);
  return v;
}

/* ---- comparisons ---- */

static LLVMRealPredicate real_predicate(NodeKind kind) {
  switch (kind) {
  case NK_EQ: return LLVMRealOEQ;
  case NK_NE: return LLVMRealUNE;
  case NK_LT: return LLVMRealOLT;
  case NK_LE: return LLVMRealOLE;
  case NK_GT: return LLVMRealOGT;
  case NK_GE: return LLVMRealOGE;
  default: BUG("%s is no comparison", node_kind_name(kind));
  }
}

static LLVMIntPredicate int_predicate(NodeKind kind, bool is_signed) {
  switch (kind) {
  case NK_EQ: return LLVMIntEQ;
  case NK_NE: return LLVMIntNE;
  case NK_LT: return is_signed ? LLVMIntSLT : LLVMIntULT;
  case NK_LE: return is_signed ? LLVMIntSLE : LLVMIntULE;
  case NK_GT: return is_signed ? LLVMIntSGT : LLVMIntUGT;
  case NK_GE: return is_signed ? LLVMIntSGE : LLVMIntUGE;
  default: BUG("%s is no comparison", node_kind_name(kind));
  }
}

LLVMValueRef gen_compare(Gen *g, NodeKind kind, DataType t, LLVMValueRef a, LLVMValueRef b) {
  if (!dtype_is_float(t))
    return LLVMBuildICmp(g->b, int_predicate(kind, t.code == DTYPE_INT), a, b, "");
  a = gen_widen(g, a, t);
  b = gen_widen(g, b, t);
  return LLVMBuildFCmp(g->b, real_predicate(kind), a, b, "");
}

/* ---- and, or ---- */

/* The second operand is evaluated only where the first leaves the answer open: it may load from
 * memory that the first says is not there. */
static LLVMValueRef short_circuit(Gen *g, NodeKind kind, LLVMValueRef a, Node *second) {
  LLVMBasicBlockRef more = gen_block(g, "more"), done = gen_block(g, "done");
  LLVMBasicBlockRef from_a = LLVMGetInsertBlock(g->b);
  LLVMBuildCondBr(g->b, a, kind == NK_And ? more : done, kind == NK_And ? done : more);
  LLVMPositionBuilderAtEnd(g->b, more);
  LLVMValueRef b = gen_condition(g, second);
  LLVMBasicBlockRef from_b = LLVMGetInsertBlock(g->b);
  LLVMBuildBr(g->b, done);
  LLVMPositionBuilderAtEnd(g->b, done);
  LLVMValueRef v = LLVMBuildPhi(g->b, type_int(g, 1), "");
  LLVMValueRef known = LLVMConstInt(type_int(g, 1), kind == NK_Or, false);
  LLVMAddIncoming(v, (LLVMValueRef[]){known, b}, (LLVMBasicBlockRef[]){from_a, from_b}, 2);
  return v;
}

static LLVMValueRef gen_logic(Gen *g, Binary *n) {
  NodeKind kind = n->node.kind;
  int lanes = n->node.dtype.lanes;
  LLVMValueRef a = gen_to_bool(g, gen_expr(g, n->a), n->a->dtype);
  if (lanes == 1 && expr_effect(n->b) != EFFECT_PURE) return short_circuit(g, kind, a, n->b);
  LLVMValueRef b = gen_to_bool(g, gen_expr(g, n->b), n->b->dtype);
  if (n->a->dtype.lanes == 1) a = gen_splat(g, a, lanes);
  if (n->b->dtype.lanes == 1) b = gen_splat(g, b, lanes);
  return kind == NK_And ? LLVMBuildAnd(g->b, a, b, "") : LLVMBuildOr(g->b, a, b, "");
}

/* ---- arithmetic ---- */

static bool is_product(LLVMValueRef v) {
  return LLVMIsABinaryOperator(v) && LLVMGetInstructionOpcode(v) == LLVMFMul;
}

/* a + b where one of them is a product and sums may be contracted: as one operation here, so that
 * it is rounded alike in the vectors of a loop and in what is left over. NULL: it is no such sum.
 */
static LLVMValueRef contracted(Gen *g, LLVMValueRef a, LLVMValueRef b) {
  if (!(g->f->fp_flags & LLVMFastMathAllowContract)) return NULL;
  LLVMValueRef product = is_product(b) ? b : is_product(a) ? a : NULL;
  if (!product) return NULL;
  LLVMValueRef args[] = {LLVMGetOperand(product, 0), LLVMGetOperand(product, 1),
                         product == b ? a : b};
  return gen_overloaded(g, "llvm.fmuladd", LLVMTypeOf(args[0]), 3, args);
}

static LLVMValueRef float_arithmetic(Gen *g, NodeKind kind, DataType t, LLVMValueRef a,
                                     LLVMValueRef b) {
  a = gen_widen(g, a, t);
  b = gen_widen(g, b, t);
  LLVMValueRef v = kind == NK_Add ? contracted(g, a, b) : NULL;
  if (!v)
    v = kind == NK_Add   ? LLVMBuildFAdd(g->b, a, b, "")
        : kind == NK_Sub ? LLVMBuildFSub(g->b, a, b, "")
                         : LLVMBuildFMul(g->b, a, b, "");
  return gen_narrow(g, gen_fp(g, v), t);
}

static LLVMValueRef int_arithmetic(Gen *g, Node *n, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef v = n->kind == NK_Add   ? LLVMBuildAdd(g->b, a, b, "")
                   : n->kind == NK_Sub ? LLVMBuildSub(g->b, a, b, "")
                                       : LLVMBuildMul(g->b, a, b, "");
  if (LLVMIsABinaryOperator(v) && range_cannot_wrap(&g->f->ranges, n)) LLVMSetNSW(v, true);
  return v;
}

static LLVMValueRef gen_min_max(Gen *g, NodeKind kind, DataType t, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef first = gen_compare(g, kind == NK_Min ? NK_LT : NK_GT, t, a, b);
  return LLVMBuildSelect(g->b, first, a, b, "");
}

static bool is_comparison(NodeKind kind) { return kind >= NK_EQ && kind <= NK_GE; }

static LLVMValueRef gen_one_and_erf(Gen *g, Node *y, double times) {
  LLVMValueRef arg = gen_expr(g, y), half = float32_half_of_erf(g, type_of(g, y->dtype), &arg);
  return times == 1 ? half : LLVMBuildFAdd(g->b, half, half, "");
}

LLVMValueRef gen_binary(Gen *g, Node *node) {
  Binary *n = (Binary *)(void *)node;
  double times;
  Node *y = g->is_device ? one_and_erf(node, &times) : NULL;
  if (y) return gen_one_and_erf(g, y, times);
  NodeKind kind = node->kind;
  if (kind == NK_And || kind == NK_Or) return gen_logic(g, n);
  /* Operands have one dtype but for a scalar beside a vector. */
  DataType t = n->a->dtype.lanes > 1 ? n->a->dtype : n->b->dtype;
  LLVMValueRef a = gen_cast(g, gen_expr(g, n->a), n->a->dtype, t);
  LLVMValueRef b = gen_cast(g, gen_expr(g, n->b), n->b->dtype, t);
  if (is_comparison(kind)) return gen_compare(g, kind, t, a, b);
  switch (kind) {
  case NK_Add:
  case NK_Sub:
  case NK_Mul:
    return dtype_is_float(t) ? float_arithmetic(g, kind, t, a, b) : int_arithmetic(g, node, a, b);
  case NK_Div:
  case NK_Mod:
  case NK_FloorDiv:
  case NK_FloorMod: return gen_divide(g, node, a, b);
  case NK_Min:
  case NK_Max: return gen_min_max(g, kind, t, a, b);
  default: BUG("no code for %s", node_kind_name(kind));
  }
}
