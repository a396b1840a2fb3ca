/* expr.c -- scalar and vector expressions. */
#include "target/llvm/codegen.h"

static LLVMValueRef gen_var(Gen *g, Node *n) {
  LLVMValueRef v = map_get(&g->f->values, n);
  if (!v)
    error_raisef("CompileError", n->span, "nothing gives '%s' a value in %s",
                 AS(Var, n)->name ? AS(Var, n)->name : "_", g->f->name);
  return v;
}

void gen_bind(Gen *g, Node *var, LLVMValueRef value) {
  map_set(&g->f->values, var, value);
  debug_variable(g, var, value);
}

LLVMValueRef gen_condition(Gen *g, Node *n) { return gen_to_bool(g, gen_expr(g, n), n->dtype); }

LLVMValueRef gen_branch_value(Gen *g, Node *cond, Node *then, Node *orelse) {
  LLVMBasicBlockRef yes = gen_block(g, "then"), no = gen_block(g, "else"),
                    done = gen_block(g, "done");
  LLVMBuildCondBr(g->b, gen_condition(g, cond), yes, no);
  LLVMPositionBuilderAtEnd(g->b, yes);
  LLVMValueRef a = gen_expr(g, then);
  LLVMBasicBlockRef from_a = LLVMGetInsertBlock(g->b);
  LLVMBuildBr(g->b, done);
  LLVMPositionBuilderAtEnd(g->b, no);
  LLVMValueRef b = gen_cast(g, gen_expr(g, orelse), orelse->dtype, then->dtype);
  LLVMBasicBlockRef from_b = LLVMGetInsertBlock(g->b);
  LLVMBuildBr(g->b, done);
  LLVMPositionBuilderAtEnd(g->b, done);
  if (dtype_is_void(then->dtype)) return NULL;
  LLVMValueRef v = LLVMBuildPhi(g->b, LLVMTypeOf(a), "");
  LLVMAddIncoming(v, (LLVMValueRef[]){a, b}, (LLVMBasicBlockRef[]){from_a, from_b}, 2);
  return v;
}

static LLVMValueRef gen_select(Gen *g, Select *n) {
  DataType t = n->node.dtype;
  LLVMValueRef cond = gen_condition(g, n->cond);
  LLVMValueRef then = gen_cast(g, gen_expr(g, n->then), n->then->dtype, t);
  LLVMValueRef orelse = gen_cast(g, gen_expr(g, n->orelse), n->orelse->dtype, t);
  return LLVMBuildSelect(g->b, cond, then, orelse, "");
}

/* base + stride * <0, 1, ..., lanes - 1> */
static LLVMValueRef gen_ramp(Gen *g, Ramp *n) {
  type_check(n->node.dtype, n->node.span);
  DataType t = n->node.dtype, scalar = dtype_element(t);
  LLVMValueRef *steps = NEW_ARRAY(LLVMValueRef, n->lanes);
  for (int i = 0; i < n->lanes; i++) steps[i] = const_int(g, scalar, i);
  LLVMValueRef base = gen_splat(g, gen_expr(g, n->base), n->lanes);
  LLVMValueRef stride = gen_cast(g, gen_expr(g, n->stride), n->stride->dtype, scalar);
  LLVMValueRef offset = LLVMBuildMul(g->b, LLVMConstVector(steps, (unsigned)n->lanes),
                                     gen_splat(g, stride, n->lanes), "");
  return LLVMBuildAdd(g->b, base, offset, "ramp");
}

static LLVMValueRef gen_broadcast(Gen *g, Broadcast *n) {
  type_check(n->node.dtype, n->node.span);
  return gen_splat(g, gen_expr(g, n->value), n->lanes);
}

/* Lanes picked by constant indices from all vectors, one behind the other. */
static int picked(Shuffle *n, int i, int lanes) {
  int64_t index;
  if (!expr_is_const_int(n->indices.at[i], &index) || index < 0 || index >= lanes)
    error_raisef("CompileError", n->node.span, "T.Shuffle: index %d is no constant from 0 to %d", i,
                 lanes - 1);
  return (int)index;
}

/* Of one vector or two of a kind, as the instruction does it: LLVM takes lanes that are put
 * together one by one apart again, and makes several times as many instructions of them. */
static LLVMValueRef shuffle_vectors(Gen *g, Shuffle *n, int lanes) {
  VEC(LLVMValueRef) mask = {0};
  LLVMValueRef a = gen_expr(g, n->vectors.at[0]), b = LLVMGetPoison(LLVMTypeOf(a));
  if (n->vectors.len == 2) b = gen_expr(g, n->vectors.at[1]);
  for (int i = 0; i < n->indices.len; i++) vec_push(&mask, const_i32(g, picked(n, i, lanes)));
  return LLVMBuildShuffleVector(g->b, a, b, LLVMConstVector(mask.at, (unsigned)mask.len), "");
}

static LLVMValueRef gen_shuffle(Gen *g, Shuffle *n) {
  int total = 0, least = n->vectors.at[0]->dtype.lanes, most = least;
  for each (Node *, v, &n->vectors) {
    int count = (*v)->dtype.lanes;
    total += count;
    if (count < least) least = count;
    if (count > most) most = count;
  }
  if (n->vectors.len <= 2 && least == most && least > 1 && n->indices.len > 1)
    return shuffle_vectors(g, n, total);
  VEC(LLVMValueRef) lanes = {0};
  for each (Node *, v, &n->vectors) {
    LLVMValueRef vector = gen_expr(g, *v);
    int count = (*v)->dtype.lanes;
    for (int i = 0; i < count; i++)
      vec_push(&lanes,
               count == 1 ? vector : LLVMBuildExtractElement(g->b, vector, const_i32(g, i), ""));
  }
  LLVMValueRef out = LLVMGetPoison(type_of(g, n->node.dtype));
  for (int i = 0; i < n->indices.len; i++) {
    LLVMValueRef lane = lanes.at[picked(n, i, total)];
    if (n->indices.len == 1) return lane;
    out = LLVMBuildInsertElement(g->b, out, lane, const_i32(g, i), "");
  }
  return out;
}

static LLVMValueRef gen_let(Gen *g, Let *n) {
  LLVMValueRef value = gen_cast(g, gen_expr(g, n->value), n->value->dtype, n->var->dtype);
  range_bind(&g->f->ranges, n->var, range_of(&g->f->ranges, n->value));
  gen_bind(g, n->var, value);
  return gen_expr(g, n->body);
}

static LLVMValueRef gen_not(Gen *g, Not *n) {
  return LLVMBuildNot(g->b, gen_condition(g, n->a), "");
}

static LLVMValueRef gen_cast_node(Gen *g, Cast *n) {
  type_check(n->node.dtype, n->node.span);
  return gen_cast(g, gen_expr(g, n->value), n->value->dtype, n->node.dtype);
}

static LLVMValueRef gen_function_address(Gen *g, GlobalVar *n) {
  LLVMValueRef fn = map_get(&g->functions, str_intern(n->name));
  if (!fn) BUG("'%s' is no function of the module", n->name);
  return fn;
}

LLVMValueRef gen_expr(Gen *g, Node *n) {
  if (node_is_binary(n->kind)) return gen_binary(g, n);
  switch (n->kind) {
  case NK_Var: return gen_var(g, n);
  case NK_IntImm: return const_int(g, n->dtype, AS(IntImm, n)->value);
  case NK_FloatImm: return const_float(g, n->dtype, AS(FloatImm, n)->value);
  case NK_StringImm: return const_text(g, AS(StringImm, n)->value);
  case NK_Not: return gen_not(g, AS(Not, n));
  case NK_Select: return gen_select(g, AS(Select, n));
  case NK_Cast: return gen_cast_node(g, AS(Cast, n));
  case NK_Ramp: return gen_ramp(g, AS(Ramp, n));
  case NK_Broadcast: return gen_broadcast(g, AS(Broadcast, n));
  case NK_Shuffle: return gen_shuffle(g, AS(Shuffle, n));
  case NK_BufferLoad: return gen_load(g, AS(BufferLoad, n));
  case NK_Let: return gen_let(g, AS(Let, n));
  case NK_Call: return gen_call(g, AS(Call, n));
  case NK_GlobalVar: return gen_function_address(g, AS(GlobalVar, n));
  default: break;
  }
  gen_unsupported(g, n, str_format("%s in a lowered function", node_kind_name(n->kind)));
}

/* ---- indices ---- */

/* Sums and products at the top of an index: an index that wrapped would be out of bounds. */
static LLVMValueRef gen_index_part(Gen *g, Node *n) {
  if (n->kind != NK_Add && n->kind != NK_Sub && n->kind != NK_Mul) return gen_expr(g, n);
  Binary *binary = (Binary *)(void *)n;
  if (n->dtype.lanes > 1 || n->dtype.code != DTYPE_INT) return gen_expr(g, n);
  LLVMValueRef a = gen_index_part(g, binary->a), b = gen_index_part(g, binary->b);
  return n->kind == NK_Add   ? LLVMBuildNSWAdd(g->b, a, b, "")
         : n->kind == NK_Sub ? LLVMBuildNSWSub(g->b, a, b, "")
                             : LLVMBuildNSWMul(g->b, a, b, "");
}

LLVMValueRef gen_index(Gen *g, Node *n) {
  DataType t = n->dtype, wide = dtype_with_lanes(INT64, t.lanes);
  return gen_cast(g, gen_index_part(g, n), t, wide);
}
