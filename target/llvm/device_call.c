/* device_call.c -- the builtins that only devices have: barriers, exchanges within a warp. */
#include "target/llvm/float64.h"
#include "target/atomic.h"

LLVMValueRef gen_intrinsic(Gen *g, const char *name, int n, LLVMValueRef *args) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  REQUIRE(id, "LLVM has no intrinsic %s", name);
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->out, id, NULL, 0);
  return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, (unsigned)n, "");
}

/* ---- small floats ---- */

bool gen_device_narrows(Gen *g, DataType t) {
  bool is_half = t.code == DTYPE_FLOAT && t.bits == 16;
  bool is_known = t.code == DTYPE_BFLOAT || (is_half && t.lanes > 1);
  return g->is_device && is_known && t.lanes % 2 <= (t.lanes == 1) &&
         target_gpu_number(target_gpu(g->target)) >= 80;
}

/* Two floats by an instruction, in 32 bits. */
static LLVMValueRef narrow_pair(Gen *g, LLVMValueRef low, LLVMValueRef high, DataType t) {
  bool is_half = t.code == DTYPE_FLOAT;
  LLVMValueRef args[] = {high, low};
  LLVMValueRef pair =
      gen_intrinsic(g, is_half ? "llvm.nvvm.ff2f16x2.rn" : "llvm.nvvm.ff2bf16x2.rn", 2, args);
  return LLVMBuildBitCast(g->b, pair, type_int(g, 32), "");
}

LLVMValueRef gen_device_narrow(Gen *g, LLVMValueRef v, DataType t) {
  LLVMTypeRef word = type_int(g, 32);
  LLVMTypeRef out = type_of(g, t);
  if (t.lanes == 1) {
    LLVMValueRef pair = narrow_pair(g, v, LLVMConstNull(LLVMTypeOf(v)), t);
    return LLVMBuildTrunc(g->b, pair, out, "");
  }
  LLVMValueRef words = LLVMGetPoison(LLVMVectorType(word, (unsigned)t.lanes / 2));
  for (int i = 0; i < t.lanes; i += 2) {
    LLVMValueRef low = LLVMBuildExtractElement(g->b, v, const_i32(g, i), ""),
                 high = LLVMBuildExtractElement(g->b, v, const_i32(g, i + 1), "");
    words =
        LLVMBuildInsertElement(g->b, words, narrow_pair(g, low, high, t), const_i32(g, i / 2), "");
  }
  return LLVMBuildBitCast(g->b, words, out, "");
}

/* ---- operands ---- */

LLVMValueRef gen_pointer_at(Gen *g, Node *pointer, Node *offset, DataType elem) {
  LLVMValueRef p = gen_expr(g, pointer);
  if (IS(Var, pointer) && !dtype_is_void(AS(Var, pointer)->elem)) elem = AS(Var, pointer)->elem;
  return gen_element_pointer(g, p, elem, gen_index(g, offset));
}

static LLVMValueRef int_arg(Gen *g, Call *n, int i) {
  return gen_cast(g, gen_expr(g, n->args.at[i]), n->args.at[i]->dtype, INT32);
}

/* ---- barriers ---- */

static LLVMValueRef do_sync(Gen *g, Call *n) {
  Node *scope = n->args.len ? n->args.at[0] : NULL;
  bool is_warp = IS(StringImm, scope) && str_same(AS(StringImm, scope)->value, "warp");
  LLVMValueRef all = const_i32(g, -1);
  if (is_warp) gen_intrinsic(g, "llvm.nvvm.bar.warp.sync", 1, &all);
  else gen_intrinsic(g, "llvm.nvvm.barrier0", 0, NULL);
  return const_i32(g, 0);
}

/* ---- exchanges within a warp ---- */

/* A value as words of 32 bits: the instruction exchanges these. */
static LLVMValueRef exchange(Gen *g, const char *how, LLVMValueRef mask, LLVMValueRef v, DataType t,
                             LLVMValueRef which, int clamp) {
  int bits = t.bits * t.lanes, words = (bits + 31) / 32;
  LLVMTypeRef type = LLVMTypeOf(v), whole = type_int(g, (unsigned)bits),
              wide = type_int(g, (unsigned)words * 32);
  LLVMValueRef in = LLVMBuildZExt(g->b, LLVMBuildBitCast(g->b, v, whole, ""), wide, "");
  LLVMValueRef out = LLVMConstNull(wide);
  for (int i = 0; i < words; i++) {
    LLVMValueRef at = LLVMConstInt(wide, (uint64_t)i * 32, false);
    LLVMValueRef word = LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, in, at, ""), type_int(g, 32), "");
    LLVMValueRef args[] = {mask, word, which, const_i32(g, clamp)};
    word = gen_intrinsic(g, str_format("llvm.nvvm.shfl.sync.%s.i32", how), 4, args);
    word = LLVMBuildShl(g->b, LLVMBuildZExt(g->b, word, wide, ""), at, "");
    out = LLVMBuildOr(g->b, out, word, "");
  }
  return LLVMBuildBitCast(g->b, LLVMBuildTrunc(g->b, out, whole, ""), type, "");
}

/* (mask, value, which, width, warp_size): groups of `width` lanes exchange among themselves. */
static LLVMValueRef shuffle(Gen *g, Call *n, const char *how, bool upwards) {
  int64_t width;
  Node *value = n->args.at[1];
  DataType t = value->dtype;
  if (!expr_is_const_int(n->args.at[3], &width) || width < 1 || width > 32 || width & (width - 1))
    error_raisef("CompileError", n->node.span,
                 "the width of an exchange must be a power of two up to 32, but is %s",
                 ir_print(n->args.at[3], NULL));
  LLVMValueRef v = gen_to_memory(g, gen_expr(g, value), t);
  DataType held = dtype_is_bool(t) ? dtype_with_lanes(UINT8, t.lanes) : t;
  int clamp = (32 - (int)width) << 8 | (upwards ? 0 : 31);
  v = exchange(g, how, int_arg(g, n, 0), v, held, int_arg(g, n, 2), clamp);
  return gen_from_memory(g, v, t);
}

static LLVMValueRef do_shuffle(Gen *g, Call *n) { return shuffle(g, n, "idx", false); }
static LLVMValueRef do_shuffle_up(Gen *g, Call *n) { return shuffle(g, n, "up", true); }
static LLVMValueRef do_shuffle_down(Gen *g, Call *n) { return shuffle(g, n, "down", false); }
static LLVMValueRef do_shuffle_xor(Gen *g, Call *n) { return shuffle(g, n, "bfly", false); }

static LLVMValueRef do_activemask(Gen *g, Call *n) {
  (void)n;
  return gen_intrinsic(g, "llvm.nvvm.activemask", 0, NULL);
}

/* In float64, where float32 is not rounded twice. */
static LLVMValueRef do_ldexp(Gen *g, Call *n) {
  DataType t = n->node.dtype, wide = dtype_with_lanes(FLOAT64, t.lanes),
           words = dtype_with_lanes(INT64, t.lanes);
  if (!dtype_is_float(t))
    error_raisef("CompileError", n->node.span, "T.ldexp needs a float, but got %s", dtype_text(t));
  Math m = double_math(g, type_of(g, wide));
  LLVMValueRef x = gen_cast(g, gen_expr(g, n->args.at[0]), n->args.at[0]->dtype, wide);
  LLVMValueRef e = gen_cast(g, gen_expr(g, n->args.at[1]), n->args.at[1]->dtype, words);
  enum { MOST = 2200 };
  e = pick(m, LLVMBuildICmp(g->b, LLVMIntSGT, e, word(m, MOST), ""), word(m, MOST), e);
  e = pick(m, LLVMBuildICmp(g->b, LLVMIntSLT, e, word(m, -MOST), ""), word(m, -MOST), e);
  return gen_cast(g, double_raised(m, x, e), wide, t);
}

static LLVMValueRef do_thread_return(Gen *g, Call *n) {
  (void)n;
  gen_return(g, NULL);
  return NULL;
}

static LLVMValueRef do_extern(Gen *g, Call *n) {
  (void)g;
  atomic_raise_other(n);
}

typedef LLVMValueRef Handler(Gen *g, Call *n);

static const struct {
  const char *name;
  Handler *handler; /* NULL: of hosts only */
} handlers[] = {
    {"tvm_storage_sync", do_sync},
    {"tvm_warp_shuffle", do_shuffle},
    {"tvm_warp_shuffle_up", do_shuffle_up},
    {"tvm_warp_shuffle_down", do_shuffle_down},
    {"tvm_warp_shuffle_xor", do_shuffle_xor},
    {"tvm_warp_activemask", do_activemask},
    {"thread_return", do_thread_return},
    {"ldexp", do_ldexp},
    {"call_extern", do_extern},
    {"call_pure_extern", do_extern},
    {"call_packed", NULL},
    {"call_cpacked", NULL},
    {"tvm_stack_alloca", NULL},
    {"tvm_stack_make_shape", NULL},
    {"tvm_throw_last_error", NULL},
    {"ret", NULL},
};

LLVMValueRef gen_device_call(Gen *g, Call *n, const char *name, bool *found) {
  for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
    if (!str_same(handlers[i].name, name)) continue;
    if (!handlers[i].handler) gen_unsupported(g, &n->node, str_format("T.%s", name));
    *found = true;
    return handlers[i].handler(g, n);
  }
  return gen_ptx_call(g, n, name, found);
}
