/* loop.c -- For and While as canonical loops. */
#include "target/llvm/codegen.h"
#include "target/work.h"
#include <llvm-c/DebugInfo.h>

/* llvm.loop metadata with one property, on the branch back. */
static void annotate_loop(Gen *g, LLVMValueRef branch, const char *property) {
  LLVMMetadataRef name = LLVMMDStringInContext2(g->context, property, strlen(property));
  LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, &name, 1);
  LLVMMetadataRef self = LLVMTemporaryMDNode(g->context, NULL, 0);
  LLVMMetadataRef loop = LLVMMDNodeInContext2(g->context, (LLVMMetadataRef[]){self, node}, 2);
  LLVMMetadataReplaceAllUsesWith(self, loop);
  unsigned kind = LLVMGetMDKindIDInContext(g->context, "llvm.loop", 9);
  LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(g->context, loop));
}

static WalkResult find_vector_store(Walker *w, Node *n) {
  (void)w;
  if (node_is_expr(n)) return WALK_PRUNE;
  return IS(BufferStore, n) && AS(BufferStore, n)->value->dtype.lanes > 1 ? WALK_STOP : WALK_ON;
}

/* A schedule has chosen how much a step does. */
static bool has_vectors(For *n) {
  Walker w = {.enter = find_vector_store};
  return !walk(&w, n->body);
}

static const char *loop_property(For *n) {
  if (n->loop_kind == LOOP_UNROLLED)
    return IS(IntImm, n->extent) ? "llvm.loop.unroll.full" : "llvm.loop.unroll.enable";
  if (n->loop_kind == LOOP_VECTORIZED) return "llvm.loop.vectorize.enable";
  return has_vectors(n) ? "llvm.loop.unroll.disable" : NULL;
}

/* The test is before the body; LLVM rotates it. */
void gen_loop(Gen *g, For *n, LLVMValueRef begin, LLVMValueRef end, Range64 range) {
  DataType t = n->var->dtype;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), head = gen_block(g, "loop");
  LLVMBasicBlockRef body = gen_block(g, "body"), next = gen_block(g, "next");
  LLVMBasicBlockRef exit = gen_block(g, "exit");
  LLVMBuildBr(g->b, head);
  LLVMPositionBuilderAtEnd(g->b, head);
  LLVMValueRef var = LLVMBuildPhi(g->b, type_of(g, t), AS(Var, n->var)->name);
  LLVMBuildCondBr(g->b, gen_compare(g, NK_LT, t, var, end), body, exit);
  LLVMPositionBuilderAtEnd(g->b, body);
  range_bind(&g->f->ranges, n->var, range);
  gen_bind(g, n->var, var);
  vec_push(&g->f->loops, ((LoopScope){next, exit, g->f->heap.len}));
  gen_stmt(g, n->body);
  (void)vec_pop(&g->f->loops);
  LLVMBuildBr(g->b, next);
  LLVMPositionBuilderAtEnd(g->b, next);
  debug_place(g, n->node.span);
  LLVMValueRef step = LLVMBuildNSWAdd(g->b, var, const_int(g, t, 1), "");
  if (range.lo >= 0) LLVMSetNUW(step, true);
  LLVMValueRef back = LLVMBuildBr(g->b, head);
  if (loop_property(n)) annotate_loop(g, back, loop_property(n));
  LLVMAddIncoming(var, (LLVMValueRef[]){begin, step}, (LLVMBasicBlockRef[]){before, next}, 2);
  LLVMPositionBuilderAtEnd(g->b, exit);
}

/* Twice: with stores past the caches, and without. */
static void gen_streamed(Gen *g, For *n, LLVMValueRef aligned, LLVMValueRef min, LLVMValueRef end,
                         Range64 range) {
  LLVMBasicBlockRef yes = gen_block(g, "streams"), no = gen_block(g, "stays"),
                    done = gen_block(g, "done");
  LLVMBuildCondBr(g->b, aligned, yes, no);
  LLVMPositionBuilderAtEnd(g->b, yes);
  g->f->streams = g->f->has_streamed = true;
  gen_loop(g, n, min, end, range);
  g->f->streams = false;
  LLVMBuildBr(g->b, done);
  LLVMPositionBuilderAtEnd(g->b, no);
  gen_loop(g, n, min, end, range);
  LLVMBuildBr(g->b, done);
  LLVMPositionBuilderAtEnd(g->b, done);
}

static void gen_serial(Gen *g, For *n) {
  DataType t = n->var->dtype;
  LLVMValueRef min = gen_cast(g, gen_expr(g, n->min), n->min->dtype, t);
  LLVMValueRef extent = gen_cast(g, gen_expr(g, n->extent), n->extent->dtype, t);
  LLVMValueRef end = expr_is_zero(n->min) ? extent : LLVMBuildNSWAdd(g->b, min, extent, "end");
  Range64 range = range_of_loop(&g->f->ranges, n);
  LLVMValueRef aligned = stream_condition(g, n);
  if (aligned) gen_streamed(g, n, aligned, min, end, range);
  else gen_loop(g, n, min, end, range);
}

void gen_for(Gen *g, For *n) {
  if (n->loop_kind == LOOP_THREAD) gen_unsupported(g, &n->node, "a loop bound to a thread");
  bool may_split = g->f->sort == FUNC_KERNEL || g->f->sort == FUNC_PACKED;
  bool is_parallel = n->loop_kind == LOOP_PARALLEL && may_split && !work_is_small(n);
  if (is_parallel) gen_parallel(g, n);
  else gen_serial(g, n);
}

void gen_while(Gen *g, While *n) {
  LLVMBasicBlockRef head = gen_block(g, "while"), body = gen_block(g, "body"),
                    exit = gen_block(g, "exit");
  LLVMBuildBr(g->b, head);
  LLVMPositionBuilderAtEnd(g->b, head);
  LLVMBuildCondBr(g->b, gen_condition(g, n->cond), body, exit);
  LLVMPositionBuilderAtEnd(g->b, body);
  vec_push(&g->f->loops, ((LoopScope){head, exit, g->f->heap.len}));
  gen_stmt(g, n->body);
  (void)vec_pop(&g->f->loops);
  LLVMBuildBr(g->b, head);
  LLVMPositionBuilderAtEnd(g->b, exit);
}
