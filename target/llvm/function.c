/* function.c -- the frame of a function: its type, parameters and ways out. */
#include "target/llvm/codegen.h"

/* ---- declaring ---- */

void gen_attribute(Gen *g, LLVMValueRef function, unsigned index, const char *name,
                   uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  REQUIRE(kind, "LLVM has no attribute '%s'", name);
  LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(g->context, kind, value));
}

/* Pointers of kernels do not alias and are not kept. */
static void pointer_attributes(Gen *g, LLVMValueRef fn, unsigned index, PrimFunc *f, Var *param) {
  bool aligned = dict_get_int(f->attrs, "tvms.aligned", 0) != 0;
  if (dict_get_int(f->attrs, "tir.noalias", 1)) gen_attribute(g, fn, index, "noalias", 0);
  gen_attribute(g, fn, index, "nocapture", 0);
  if (!dtype_is_void(param->elem))
    gen_attribute(g, fn, index, "align", aligned ? 64 : (uint64_t)lowered_nbytes(param->elem));
}

static WalkResult find_loop(Walker *w, Node *n) {
  (void)w;
  return IS(For, n) || IS(While, n) ? WALK_STOP : WALK_ON;
}

static bool has_loop(Node *body) {
  Walker w = {.enter = find_loop};
  return !walk(&w, body);
}

void gen_declare_function(Gen *g, const char *name, PrimFunc *f) {
  int n = f->params.len;
  bool packed = lowered_is_packed(f), has_result = !packed && !dtype_is_void(f->ret_dtype);
  LLVMTypeRef *params = NEW_ARRAY(LLVMTypeRef, n + 1);
  for (int i = 0; i < n; i++) {
    type_check(f->params.at[i]->dtype, f->node.span);
    params[i] = type_of(g, f->params.at[i]->dtype);
  }
  if (has_result) params[n] = type_ptr(g);
  const char *symbol = packed ? func_symbol(&f->node) : NULL;
  const char *label = symbol ? str_format(EXPORT_PREFIX "%s", symbol)
                             : str_format("%s.%s", name, packed ? "packed" : "kernel");
  LLVMTypeRef type = LLVMFunctionType(type_int(g, 32), params, (unsigned)(n + has_result), false);
  LLVMValueRef fn = LLVMAddFunction(g->out, label, type);
  if (!symbol && !g->is_cut) LLVMSetLinkage(fn, LLVMInternalLinkage);
  else if (!symbol) LLVMSetVisibility(fn, LLVMHiddenVisibility);
  gen_attribute(g, fn, (unsigned)LLVMAttributeFunctionIndex, "nounwind", 0);
  for (int i = 0; i < n && !packed; i++)
    if (dtype_is_handle(f->params.at[i]->dtype))
      pointer_attributes(g, fn, (unsigned)i + 1, f, AS(Var, f->params.at[i]));
  if (has_result) gen_attribute(g, fn, (unsigned)n + 1, "noalias", 0);
  /* What the parameters' attributes promise is lost in part when a kernel is inlined. */
  if (!packed && has_loop(f->body))
    gen_attribute(g, fn, (unsigned)LLVMAttributeFunctionIndex, "noinline", 0);
  map_set(&g->functions, str_intern(name), fn);
}

/* ---- writing ---- */

void func_begin(Gen *g, Func *f, LLVMValueRef llvm) {
  f->llvm = llvm;
  g->f = f;
  f->entry = gen_block(g, "entry");
  LLVMPositionBuilderAtEnd(g->b, gen_block(g, "start"));
}

void func_end(Gen *g) {
  LLVMBuildUnreachable(g->b); /* the block behind the last return */
  LLVMPositionBuilderAtEnd(g->entry_builder, g->f->entry);
  LLVMBuildBr(g->entry_builder, LLVMGetNextBasicBlock(g->f->entry));
}

static void bind_params(Gen *g, PrimFunc *f) {
  bool distinct = g->f->sort == FUNC_KERNEL && dict_get_int(f->attrs, "tir.noalias", 1);
  for (int i = 0; i < f->params.len; i++) {
    Node *param = f->params.at[i];
    gen_bind(g, param, LLVMGetParam(g->f->llvm, (unsigned)i));
    if (distinct && dtype_is_handle(param->dtype)) map_set(&g->f->distinct, param, param);
  }
}

static WalkResult count_node(Walker *w, Node *n) {
  (void)n;
  ++*(int64_t *)w->context;
  return WALK_ON;
}

int64_t gen_size(Node *function) {
  int64_t n = 0;
  Walker w = {.enter = count_node, .context = &n};
  walk(&w, function);
  return n;
}

/* From so many nodes on, some 2,000 calls, a host function is left as it is written: LLVM's passes
 * over one function take more than linear time, and find nothing there that a call would notice. */
enum { LARGE_HOST = 40000 };

static void leave_large_host(Gen *g, LLVMValueRef fn, PrimFunc *f) {
  if (gen_size(&f->node) < LARGE_HOST) return;
  gen_attribute(g, fn, (unsigned)LLVMAttributeFunctionIndex, "optnone", 0);
  gen_attribute(g, fn, (unsigned)LLVMAttributeFunctionIndex, "noinline", 0);
}

void gen_function(Gen *g, const char *name, PrimFunc *f) {
  bool packed = lowered_is_packed(f);
  LLVMValueRef fn = map_get(&g->functions, str_intern(name));
  Func state = {.sort = packed ? FUNC_PACKED : FUNC_KERNEL,
                .name = name,
                .fp_flags = g->fp_flags,
                .result = packed ? VOID_TYPE : f->ret_dtype};
  if (dict_get_int(f->attrs, "tvms.fp_contract", 0)) state.fp_flags |= LLVMFastMathAllowContract;
  if (packed) leave_large_host(g, fn, f);
  func_begin(g, &state, fn);
  debug_function(g, name, f->node.span);
  bind_params(g, f);
  if (!dtype_is_void(state.result)) {
    state.result_at = LLVMGetParam(fn, (unsigned)f->params.len);
    LLVMBuildStore(g->b, const_int(g, state.result, 0), state.result_at);
  }
  gen_stmt(g, f->body);
  gen_return(g, const_i32(g, 0));
  func_end(g);
  debug_no_place(g);
  g->f = NULL;
}

/* ---- ways out ---- */

void gen_free_heap(Gen *g, int down_to) {
  for (int i = g->f->heap.len - 1; i >= down_to; i--)
    gen_c_call(g, "free", LLVMVoidTypeInContext(g->context), 1, &g->f->heap.at[i]);
}

void gen_return(Gen *g, LLVMValueRef status) {
  stream_end(g);
  gen_free_heap(g, 0);
  if (g->is_device) LLVMBuildRetVoid(g->b);
  else LLVMBuildRet(g->b, status);
  LLVMPositionBuilderAtEnd(g->b, gen_block(g, "dead"));
}

void gen_fail(Gen *g) {
  gen_free_heap(g, 0);
  LLVMValueRef status = const_i32(g, -1);
  if (g->f->frame) status = gen_runtime_call(g, "tvms_frame_fail", 1, &g->f->frame);
  LLVMBuildRet(g->b, status);
}

void gen_unlikely(Gen *g, LLVMValueRef branch) {
  LLVMMetadataRef weights[] = {LLVMMDStringInContext2(g->context, "branch_weights", 14),
                               LLVMValueAsMetadata(const_i32(g, 1)),
                               LLVMValueAsMetadata(const_i32(g, 100000))};
  LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, weights, 3);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(g->context, "prof", 4),
                  LLVMMetadataAsValue(g->context, node));
}

/* Opens the block for `failed`; the other one is returned, to go on in. */
static LLVMBasicBlockRef begin_failure(Gen *g, LLVMValueRef failed) {
  LLVMBasicBlockRef bad = gen_block(g, "failed"), good = gen_block(g, "fine");
  gen_unlikely(g, LLVMBuildCondBr(g->b, failed, bad, good));
  LLVMPositionBuilderAtEnd(g->b, bad);
  return good;
}

/* Host functions have thousands of checks: with a block for each, LLVM takes quadratic time. */
static void share_failure(Gen *g, LLVMValueRef failed) {
  LLVMBasicBlockRef good = gen_block(g, "fine");
  if (!g->f->failed) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    g->f->failed = gen_block(g, "failed");
    LLVMPositionBuilderAtEnd(g->b, g->f->failed);
    gen_fail(g);
    LLVMPositionBuilderAtEnd(g->b, here);
  }
  gen_unlikely(g, LLVMBuildCondBr(g->b, failed, g->f->failed, good));
  LLVMPositionBuilderAtEnd(g->b, good);
}

void gen_fail_if(Gen *g, LLVMValueRef failed) {
  if (g->f->frame && !g->f->heap.len) {
    share_failure(g, failed);
    return;
  }
  LLVMBasicBlockRef good = begin_failure(g, failed);
  gen_fail(g);
  LLVMPositionBuilderAtEnd(g->b, good);
}

void gen_raise(Gen *g, const char *kind, const char *message) {
  LLVMValueRef args[] = {const_text(g, kind), const_text(g, message)};
  gen_runtime_call(g, "tvms_raise", 2, args);
}

void gen_out_of_memory_if(Gen *g, LLVMValueRef failed) {
  LLVMBasicBlockRef good = begin_failure(g, failed);
  gen_raise(g, "RuntimeError", str_format("%s: out of memory", g->f->name));
  gen_fail(g);
  LLVMPositionBuilderAtEnd(g->b, good);
}

void gen_missing_if(Gen *g, LLVMValueRef failed, const char *param) {
  LLVMBasicBlockRef good = begin_failure(g, failed);
  LLVMValueRef name = const_text(g, param);
  gen_runtime_call(g, "tvms_params_missing", 1, &name);
  gen_fail(g);
  LLVMPositionBuilderAtEnd(g->b, good);
}

/* In the body of a parallel loop only a failure can leave the function. */
void gen_ret(Gen *g, Node *call) {
  Node *value = AS(Call, call)->args.at[0];
  LLVMValueRef v = gen_expr(g, value);
  bool is_status = g->f->sort != FUNC_KERNEL;
  if (g->f->sort == FUNC_PARALLEL_BODY && expr_is_zero(value))
    error_raisef("CompileError", call->span, "a parallel loop can't return from the function");
  if (is_status) return gen_return(g, gen_cast(g, v, value->dtype, INT32));
  if (g->f->result_at)
    LLVMBuildStore(g->b, gen_cast(g, v, value->dtype, g->f->result), g->f->result_at);
  gen_return(g, const_i32(g, 0));
}
