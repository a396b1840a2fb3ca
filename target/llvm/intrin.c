/* intrin.c -- the other builtins of intrin.def: one table from names to functions.
 *
 * Mathematics is in math.c. What is in neither table has no meaning on a CPU. */
#include "target/llvm/codegen.h"

typedef LLVMValueRef Handler(Gen *g, Call *n);

enum { LINE = 64, MOST_PREFETCHED = 4096 }; /* bytes */

static LLVMValueRef arg(Gen *g, Call *n, int i) { return gen_expr(g, n->args.at[i]); }

/* An argument in the dtype of the call. */
static LLVMValueRef same(Gen *g, Call *n, int i) {
  return gen_cast(g, arg(g, n, i), n->args.at[i]->dtype, n->node.dtype);
}

static const char *text_arg(Call *n) {
  if (n->args.len && IS(StringImm, n->args.at[0])) return AS(StringImm, n->args.at[0])->value;
  error_raisef("CompileError", n->node.span, "T.%s needs a name as its first argument",
               AS(Op, n->op)->name + strlen("tir."));
}

/* ---- bits ---- */

/* The count, modulo the width. */
static LLVMValueRef shift_count(Gen *g, Call *n) {
  DataType t = n->node.dtype;
  return LLVMBuildAnd(g->b, same(g, n, 1), const_int(g, t, t.bits - 1), "");
}

static LLVMValueRef do_shift_left(Gen *g, Call *n) {
  return LLVMBuildShl(g->b, same(g, n, 0), shift_count(g, n), "");
}

static LLVMValueRef do_shift_right(Gen *g, Call *n) {
  LLVMValueRef a = same(g, n, 0), count = shift_count(g, n);
  return n->node.dtype.code == DTYPE_INT ? LLVMBuildAShr(g->b, a, count, "")
                                         : LLVMBuildLShr(g->b, a, count, "");
}

static LLVMValueRef do_and(Gen *g, Call *n) {
  return LLVMBuildAnd(g->b, same(g, n, 0), same(g, n, 1), "");
}
static LLVMValueRef do_or(Gen *g, Call *n) {
  return LLVMBuildOr(g->b, same(g, n, 0), same(g, n, 1), "");
}
static LLVMValueRef do_xor(Gen *g, Call *n) {
  return LLVMBuildXor(g->b, same(g, n, 0), same(g, n, 1), "");
}
static LLVMValueRef do_not(Gen *g, Call *n) { return LLVMBuildNot(g->b, same(g, n, 0), ""); }

static LLVMValueRef do_popcount(Gen *g, Call *n) {
  LLVMValueRef v = arg(g, n, 0);
  DataType t = n->args.at[0]->dtype;
  return gen_cast(g, gen_overloaded(g, "llvm.ctpop", LLVMTypeOf(v), 1, &v), t, n->node.dtype);
}

static LLVMValueRef do_clz(Gen *g, Call *n) {
  LLVMValueRef args[] = {arg(g, n, 0), LLVMConstNull(type_int(g, 1))};
  LLVMValueRef v = gen_overloaded(g, "llvm.ctlz", LLVMTypeOf(args[0]), 2, args);
  DataType t = n->args.at[0]->dtype;
  t.code = DTYPE_UINT;
  return gen_cast(g, v, t, dtype_with_lanes(n->node.dtype, t.lanes));
}

/* Same bits, other type; pointers by way of int64. */
static LLVMValueRef do_reinterpret(Gen *g, Call *n) {
  DataType from = n->args.at[0]->dtype, to = n->node.dtype;
  LLVMValueRef v = arg(g, n, 0);
  if (IS(StringImm, n->args.at[0]) || IS(GlobalVar, n->args.at[0])) from = HANDLE;
  if (from.bits * from.lanes != to.bits * to.lanes || dtype_is_bool(from) || dtype_is_bool(to))
    error_raisef("CompileError", n->node.span, "T.reinterpret: %s and %s differ in size",
                 dtype_text(to), dtype_text(from));
  if (dtype_is_handle(from)) v = gen_cast(g, v, from, dtype_with_lanes(INT64, from.lanes));
  if (!dtype_is_handle(to)) return LLVMBuildBitCast(g->b, v, type_of(g, to), "");
  DataType word = dtype_with_lanes(INT64, to.lanes);
  return gen_cast(g, LLVMBuildBitCast(g->b, v, type_of(g, word), ""), word, to);
}

/* round(x * y * 2 ** (s - q)) in 64 bits; halves are rounded up. */
static LLVMValueRef do_q_multiply_shift(Gen *g, Call *n) {
  DataType t = n->node.dtype, wide = dtype_with_lanes(INT64, t.lanes);
  LLVMValueRef v[4], zero = const_int(g, wide, 0), one = const_int(g, wide, 1);
  for (int i = 0; i < 4; i++) v[i] = gen_cast(g, arg(g, n, i), n->args.at[i]->dtype, wide);
  LLVMValueRef up = LLVMBuildICmp(g->b, LLVMIntSGT, v[3], zero, "");
  LLVMValueRef left = LLVMBuildSelect(g->b, up, v[3], zero, "");
  LLVMValueRef right = LLVMBuildSelect(g->b, up, zero, LLVMBuildNeg(g->b, v[3], ""), "");
  LLVMValueRef mask = const_int(g, wide, 63);
  right = LLVMBuildAnd(g->b, LLVMBuildAdd(g->b, right, v[2], ""), mask, "");
  left = LLVMBuildAnd(g->b, left, mask, "");
  LLVMValueRef product = LLVMBuildMul(g->b, LLVMBuildShl(g->b, v[0], left, ""), v[1], "");
  LLVMValueRef any = LLVMBuildICmp(g->b, LLVMIntNE, right, zero, "");
  LLVMValueRef last = LLVMBuildAnd(g->b, LLVMBuildSub(g->b, right, one, ""), mask, "");
  LLVMValueRef half = LLVMBuildSelect(g->b, any, LLVMBuildShl(g->b, one, last, ""), zero, "");
  LLVMValueRef sum = LLVMBuildAdd(g->b, product, half, "");
  return gen_cast(g, LLVMBuildAShr(g->b, sum, right, ""), wide, t);
}

/* ---- floats ---- */

typedef enum { IS_NAN, IS_INF, IS_FINITE } FloatClass;

static LLVMValueRef test_float(Gen *g, Call *n, FloatClass class) {
  DataType t = n->args.at[0]->dtype;
  LLVMValueRef v = arg(g, n, 0);
  if (!dtype_is_float(t)) {
    DataType truth = dtype_with_lanes(BOOL, t.lanes);
    return const_int(g, truth, class == IS_FINITE);
  }
  v = gen_widen(g, v, t);
  if (class == IS_NAN) return LLVMBuildFCmp(g->b, LLVMRealUNO, v, v, "");
  LLVMValueRef size = gen_overloaded(g, "llvm.fabs", LLVMTypeOf(v), 1, &v);
  LLVMValueRef infinity = const_float(g, type_compute(t), __builtin_inf());
  return LLVMBuildFCmp(g->b, class == IS_INF ? LLVMRealOEQ : LLVMRealOLT, size, infinity, "");
}

static LLVMValueRef do_isnan(Gen *g, Call *n) { return test_float(g, n, IS_NAN); }
static LLVMValueRef do_isinf(Gen *g, Call *n) { return test_float(g, n, IS_INF); }
static LLVMValueRef do_isfinite(Gen *g, Call *n) { return test_float(g, n, IS_FINITE); }

/* The exponent is an integer, or a float that holds one. */
static LLVMValueRef do_ldexp(Gen *g, Call *n) {
  DataType t = n->node.dtype, i32 = dtype_with_lanes(INT32, t.lanes);
  if (!dtype_is_float(t))
    error_raisef("CompileError", n->node.span, "T.ldexp needs a float, but got %s", dtype_text(t));
  LLVMValueRef args[] = {gen_widen(g, same(g, n, 0), t),
                         gen_cast(g, arg(g, n, 1), n->args.at[1]->dtype, i32)};
  LLVMTypeRef on[] = {LLVMTypeOf(args[0]), LLVMTypeOf(args[1])};
  unsigned id = LLVMLookupIntrinsicID("llvm.ldexp", strlen("llvm.ldexp"));
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->out, id, on, 2);
  LLVMValueRef v = LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, 2, "");
  return gen_narrow(g, v, t);
}

/* Floats in order of size have their bits in order: the next one is the next number. */
static LLVMValueRef do_nextafter(Gen *g, Call *n) {
  DataType t = n->node.dtype, word = {DTYPE_UINT, t.bits, t.lanes};
  if (!dtype_is_float(t))
    error_raisef("CompileError", n->node.span, "T.nextafter needs a float, but got %s",
                 dtype_text(t));
  LLVMBuilderRef b = g->b;
  LLVMTypeRef bits = type_of(g, word);
  LLVMValueRef x = same(g, n, 0), y = same(g, n, 1);
  LLVMValueRef ix = LLVMBuildBitCast(b, x, bits, ""), iy = LLVMBuildBitCast(b, y, bits, "");
  LLVMValueRef sign = const_int(g, word, (int64_t)(1ull << (t.bits - 1)));
  LLVMValueRef wide_x = gen_widen(g, x, t), wide_y = gen_widen(g, y, t);
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(wide_x));
  LLVMValueRef is_zero = LLVMBuildFCmp(b, LLVMRealOEQ, wide_x, zero, "");
  LLVMValueRef smallest = LLVMBuildOr(b, LLVMBuildAnd(b, iy, sign, ""), const_int(g, word, 1), "");
  /* Away from zero if y is larger and x positive, or y smaller and x negative. */
  LLVMValueRef larger = LLVMBuildFCmp(b, LLVMRealOGT, wide_y, wide_x, "");
  LLVMValueRef positive = LLVMBuildFCmp(b, LLVMRealOGT, wide_x, zero, "");
  LLVMValueRef outward = LLVMBuildICmp(b, LLVMIntEQ, larger, positive, "");
  LLVMValueRef step =
      LLVMBuildSelect(b, outward, const_int(g, word, 1), const_int(g, word, -1), "");
  LLVMValueRef next = LLVMBuildSelect(b, is_zero, smallest, LLVMBuildAdd(b, ix, step, ""), "");
  LLVMValueRef equal = LLVMBuildFCmp(b, LLVMRealOEQ, wide_x, wide_y, "");
  next = LLVMBuildBitCast(b, LLVMBuildSelect(b, equal, iy, next, ""), LLVMTypeOf(x), "");
  LLVMValueRef sum = gen_narrow(g, LLVMBuildFAdd(b, wide_x, wide_y, ""), t); /* NaN if one is */
  LLVMValueRef unordered = LLVMBuildFCmp(b, LLVMRealUNO, wide_x, wide_y, "");
  return LLVMBuildSelect(b, unordered, sum, next, "");
}

/* ---- conditions ---- */

static LLVMValueRef do_if_then_else(Gen *g, Call *n) {
  Node *cond = n->args.at[0], *then = n->args.at[1], *orelse = n->args.at[2];
  if (cond->dtype.lanes == 1) return gen_branch_value(g, cond, then, orelse);
  if (expr_effect(then) != EFFECT_PURE || expr_effect(orelse) != EFFECT_PURE)
    error_raisef("CompileError", n->node.span,
                 "T.if_then_else: a vector condition can't guard loads and calls; use a predicate");
  LLVMValueRef truth = gen_condition(g, cond);
  return LLVMBuildSelect(g->b, truth, same(g, n, 1), same(g, n, 2), "");
}

static LLVMValueRef do_invariant(Gen *g, Call *n) { return gen_expr(g, n->args.at[0]); }

static LLVMValueRef do_likely(Gen *g, Call *n) {
  LLVMValueRef args[] = {gen_condition(g, n->args.at[0]), LLVMConstInt(type_int(g, 1), 1, false)};
  if (n->node.dtype.lanes > 1) return args[0];
  return gen_overloaded(g, "llvm.expect", type_int(g, 1), 2, args);
}

static LLVMValueRef do_assume(Gen *g, Call *n) {
  Node *cond = n->args.at[0];
  if (expr_effect(cond) != EFFECT_PURE || cond->dtype.lanes != 1) return NULL;
  LLVMValueRef truth = gen_condition(g, cond);
  return gen_overloaded(g, "llvm.assume", NULL, 1, &truth);
}

/* Of a profile: there is no handler. */
static LLVMValueRef do_mark(Gen *g, Call *n) { return LLVMConstNull(type_of(g, n->node.dtype)); }

static LLVMValueRef do_undef(Gen *g, Call *n) { return LLVMConstNull(type_of(g, n->node.dtype)); }

/* ---- vectors ---- */

static LLVMValueRef take_lanes(Gen *g, Call *n, LLVMValueRef a, LLVMValueRef b, int first) {
  int lanes = n->node.dtype.lanes;
  LLVMValueRef *pick = NEW_ARRAY(LLVMValueRef, lanes);
  for (int i = 0; i < lanes; i++) pick[i] = const_i32(g, first + i);
  return LLVMBuildShuffleVector(g->b, a, b, LLVMConstVector(pick, (unsigned)lanes), "");
}

static LLVMValueRef half_of(Gen *g, Call *n, bool upper) {
  int lanes = n->node.dtype.lanes;
  LLVMValueRef v = arg(g, n, 0);
  if (n->args.at[0]->dtype.lanes != 2 * lanes)
    error_raisef("CompileError", n->node.span, "%s is not half of %s", dtype_text(n->node.dtype),
                 dtype_text(n->args.at[0]->dtype));
  if (lanes == 1) return LLVMBuildExtractElement(g->b, v, const_i32(g, upper), "");
  return take_lanes(g, n, v, LLVMGetPoison(LLVMTypeOf(v)), upper ? lanes : 0);
}

static LLVMValueRef do_vectorlow(Gen *g, Call *n) { return half_of(g, n, false); }
static LLVMValueRef do_vectorhigh(Gen *g, Call *n) { return half_of(g, n, true); }

static LLVMValueRef do_vectorcombine(Gen *g, Call *n) {
  LLVMValueRef a = arg(g, n, 0), b = arg(g, n, 1);
  int lanes = n->args.at[0]->dtype.lanes;
  if (n->node.dtype.lanes != 2 * lanes || n->args.at[1]->dtype.lanes != lanes)
    error_raisef("CompileError", n->node.span, "T.vectorcombine: %s is not two times %s",
                 dtype_text(n->node.dtype), dtype_text(n->args.at[0]->dtype));
  if (lanes > 1) return take_lanes(g, n, a, b, 0);
  LLVMValueRef v = LLVMGetPoison(type_of(g, n->node.dtype));
  v = LLVMBuildInsertElement(g->b, v, a, const_i32(g, 0), "");
  return LLVMBuildInsertElement(g->b, v, b, const_i32(g, 1), "");
}

/* ---- pointers ---- */

static LLVMValueRef do_isnullptr(Gen *g, Call *n) {
  return LLVMBuildIsNull(g->b, arg(g, n, 0), "");
}

static LLVMValueRef do_address_of(Gen *g, Call *n) {
  Node *of = n->args.at[0];
  if (IS(GlobalVar, of)) return gen_expr(g, of);
  if (!IS(BufferLoad, of))
    error_raisef("CompileError", n->node.span, "T.address_of needs an element of a buffer");
  BufferLoad *load = AS(BufferLoad, of);
  Node *index = load->indices.at[0];
  if (IS(Ramp, index)) index = AS(Ramp, index)->base;
  return gen_address(g, load->buffer, index);
}

/* Of a region of one dimension: each line of the cache that it begins in, to be read and kept. */
static LLVMValueRef do_prefetch(Gen *g, Call *n) {
  if (!IS(BufferRegion, n->args.at[0]))
    error_raisef("CompileError", n->node.span, "T.prefetch needs a region of a buffer");
  BufferRegion *r = AS(BufferRegion, n->args.at[0]);
  Range *range = AS(Range, r->region.at[0]);
  int64_t bytes, extent = 1;
  expr_is_const_int(range->extent, &extent);
  bytes = extent * dtype_nbytes(AS(Buffer, r->buffer)->elem);
  LLVMValueRef start = gen_address(g, r->buffer, range->min), call = NULL;
  for (int64_t at = 0; at < bytes && at < MOST_PREFETCHED; at += LINE) {
    LLVMValueRef offset = const_int(g, INT64, at);
    LLVMValueRef address = LLVMBuildGEP2(g->b, type_int(g, 8), start, &offset, 1, "");
    LLVMValueRef args[] = {address, const_i32(g, 0), const_i32(g, 3), const_i32(g, 1)};
    call = gen_overloaded(g, "llvm.prefetch", LLVMTypeOf(address), 4, args);
  }
  return call;
}

/* (a value of the element type, pointer, offset in elements, extent, r/w mask) */
static LLVMValueRef do_access_ptr(Gen *g, Call *n) {
  Node *pointer = n->args.at[1];
  DataType elem = IS(Var, pointer) ? AS(Var, pointer)->elem : VOID_TYPE;
  if (dtype_is_void(elem)) elem = n->args.at[0]->dtype;
  return gen_element_pointer(g, gen_expr(g, pointer), elem, gen_index(g, n->args.at[2]));
}

/* Slots of 8 bytes (values, dims), 4 bytes (type codes) or of a DLTensor. */
static LLVMValueRef do_stack_alloca(Gen *g, Call *n) {
  const char *kind = text_arg(n);
  int64_t count, nbytes = str_same(kind, "arg_tcode") ? 4 : str_same(kind, "array") ? 48 : 8;
  if (!expr_is_const_int(n->args.at[1], &count) || count < 0 || count > 65536)
    error_raisef("CompileError", n->node.span, "T.tvm_stack_alloca needs a constant number");
  return gen_alloca(g, type_int(g, 8), (count ? count : 1) * nbytes, 16, "slots");
}

static LLVMValueRef do_stack_make_shape(Gen *g, Call *n) {
  int count = n->args.len;
  LLVMValueRef place = gen_alloca(g, type_int(g, 64), count ? count : 1, 16, "shape");
  for (int i = 0; i < count; i++) {
    LLVMValueRef index = const_i64(g, i),
                 dim = gen_cast(g, arg(g, n, i), n->args.at[i]->dtype, INT64);
    LLVMBuildStore(g->b, dim, gen_element_pointer(g, place, INT64, index));
  }
  return place;
}

static LLVMValueRef do_stack_make_array(Gen *g, Call *n) {
  LLVMTypeRef i64 = type_int(g, 64);
  LLVMValueRef place = gen_alloca(g, i64, 6, 16, "array"), words[6];
  words[1] = const_i64(g, LOWERED_ON_CPU);
  words[2] = LLVMConstInt(i64, lowered_array_type(n), false);
  static const int operands[] = {0, 0, 0, 1, 2, 5}; /* of the words */
  for (int i = 0; i < 6; i++) {
    Node *operand = n->args.at[operands[i]];
    if (i == 1 || i == 2) continue;
    LLVMValueRef v = arg(g, n, operands[i]);
    words[i] = dtype_is_handle(operand->dtype) ? LLVMBuildPtrToInt(g->b, v, i64, "")
                                               : gen_cast(g, v, operand->dtype, INT64);
  }
  words[5] = LLVMBuildMul(g->b, words[5], const_i64(g, lowered_array_nbytes(n)), "");
  for (int i = 0; i < 6; i++)
    LLVMBuildStore(g->b, words[i], gen_element_pointer(g, place, INT64, const_i64(g, i)));
  return place;
}

/* ---- control ---- */

static LLVMValueRef do_ret(Gen *g, Call *n) { return gen_ret(g, &n->node), NULL; }

static LLVMValueRef leave_loop(Gen *g, Call *n, bool go_on) {
  if (!g->f->loops.len)
    error_raisef("CompileError", n->node.span, "T.%s outside a loop",
                 go_on ? "continue_loop" : "break_loop");
  bool splits = g->f->sort == FUNC_PARALLEL_BODY && g->f->loops.len == 1;
  if (splits && !go_on)
    error_raisef("CompileError", n->node.span, "T.break_loop can't leave a parallel loop");
  LoopScope loop = vec_last(&g->f->loops);
  gen_free_heap(g, loop.heap_depth);
  LLVMBuildBr(g->b, go_on ? loop.next : loop.exit);
  LLVMPositionBuilderAtEnd(g->b, gen_block(g, "dead"));
  return NULL;
}

static LLVMValueRef do_break_loop(Gen *g, Call *n) { return leave_loop(g, n, false); }
static LLVMValueRef do_continue_loop(Gen *g, Call *n) { return leave_loop(g, n, true); }

static LLVMValueRef do_throw(Gen *g, Call *n) {
  gen_fail(g);
  LLVMPositionBuilderAtEnd(g->b, gen_block(g, "dead"));
  return dtype_is_void(n->node.dtype) ? NULL : LLVMConstNull(type_of(g, n->node.dtype));
}

static LLVMValueRef do_call_extern(Gen *g, Call *n) { return gen_extern(g, n, text_arg(n)); }
static LLVMValueRef do_llvm_intrin(Gen *g, Call *n) {
  return gen_llvm_intrinsic(g, n, text_arg(n));
}

static LLVMValueRef do_call_packed(Gen *g, Call *n) {
  return gen_call_packed(g, n, text_arg(n), false);
}
static LLVMValueRef do_call_cpacked(Gen *g, Call *n) {
  return gen_call_packed(g, n, text_arg(n), true);
}

static const struct {
  const char *name;
  Handler *handler;
} handlers[] = {
    {"isnan", do_isnan},
    {"isinf", do_isinf},
    {"isfinite", do_isfinite},
    {"isnullptr", do_isnullptr},
    {"nextafter", do_nextafter},
    {"ldexp", do_ldexp},
    {"shift_left", do_shift_left},
    {"shift_right", do_shift_right},
    {"bitwise_and", do_and},
    {"bitwise_or", do_or},
    {"bitwise_xor", do_xor},
    {"bitwise_not", do_not},
    {"popcount", do_popcount},
    {"clz", do_clz},
    {"q_multiply_shift", do_q_multiply_shift},
    {"if_then_else", do_if_then_else},
    {"likely", do_likely},
    {"tvm_thread_invariant", do_invariant},
    {"reinterpret", do_reinterpret},
    {"vectorlow", do_vectorlow},
    {"vectorhigh", do_vectorhigh},
    {"vectorcombine", do_vectorcombine},
    {"assume", do_assume},
    {"start_profile_intrinsic", do_mark},
    {"end_profile_intrinsic", do_mark},
    {"undef", do_undef},
    {"ret", do_ret},
    {"break_loop", do_break_loop},
    {"continue_loop", do_continue_loop},
    {"address_of", do_address_of},
    {"prefetch", do_prefetch},
    {"tvm_access_ptr", do_access_ptr},
    {"call_extern", do_call_extern},
    {"call_pure_extern", do_call_extern},
    {"call_packed", do_call_packed},
    {"call_cpacked", do_call_cpacked},
    {"call_llvm_intrin", do_llvm_intrin},
    {"call_llvm_pure_intrin", do_llvm_intrin},
    {"tvm_stack_alloca", do_stack_alloca},
    {"tvm_stack_make_shape", do_stack_make_shape},
    {"tvm_stack_make_array", do_stack_make_array},
    {"tvm_throw_last_error", do_throw},
};

static Handler *find_handler(const char *name) {
  for (int i = 0; i < (int)(sizeof handlers / sizeof *handlers); i++)
    if (str_same(handlers[i].name, name)) return handlers[i].handler;
  return NULL;
}

LLVMValueRef gen_call(Gen *g, Call *n) {
  if (IS(GlobalVar, n->op)) return gen_kernel_call(g, n);
  const Intrin *intrin = intrin_of(n->op);
  LLVMValueRef atomic = gen_atomic(g, n);
  if (atomic) return atomic;
  if (!intrin) gen_unsupported(g, &n->node, "this callee");
  if (intrin->args >= 0 && n->args.len != intrin->args)
    error_raisef("CompileError", n->node.span, "T.%s takes %d arguments, %d given", intrin->name,
                 intrin->args, n->args.len);
  bool found = false;
  LLVMValueRef of_device = g->is_device ? gen_device_call(g, n, intrin->name, &found) : NULL;
  if (found) return of_device;
  Handler *handler = find_handler(intrin->name);
  if (handler) return handler(g, n);
  LLVMValueRef v = gen_math(g, n, intrin->name);
  if (!v) gen_unsupported(g, &n->node, str_format("T.%s", intrin->name));
  return v;
}
