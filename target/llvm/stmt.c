/* stmt.c -- statements.
 *
 * A statement whose body is the rest of its scope does not recurse into it: chains of lets are as
 * long as functions. Only heap memory, to be freed when the scope ends, makes a scope. */
#include "target/llvm/codegen.h"

LLVMBasicBlockRef gen_block(Gen *g, const char *name) {
  return LLVMAppendBasicBlockInContext(g->context, g->f->llvm, name);
}

static void gen_if(Gen *g, IfThenElse *n) {
  if (g->f->frame && !n->orelse && lowered_is_failure(n->then)) {
    gen_fail_if(g, gen_condition(g, n->cond));
    return;
  }
  LLVMBasicBlockRef yes = gen_block(g, "then"), done = gen_block(g, "done");
  LLVMBasicBlockRef no = n->orelse ? gen_block(g, "else") : done;
  LLVMBuildCondBr(g->b, gen_condition(g, n->cond), yes, no);
  LLVMPositionBuilderAtEnd(g->b, yes);
  gen_stmt(g, n->then);
  LLVMBuildBr(g->b, done);
  if (n->orelse) {
    LLVMPositionBuilderAtEnd(g->b, no);
    gen_stmt(g, n->orelse);
    LLVMBuildBr(g->b, done);
  }
  LLVMPositionBuilderAtEnd(g->b, done);
}

static void gen_assert(Gen *g, AssertStmt *n) {
  if (g->is_device) gen_unsupported(g, &n->node, "an assertion in device code");
  LLVMBasicBlockRef bad = gen_block(g, "failed"), good = gen_block(g, "holds");
  LLVMValueRef not = LLVMBuildNot(g->b, gen_condition(g, n->cond), "");
  gen_unlikely(g, LLVMBuildCondBr(g->b, not, bad, good));
  LLVMPositionBuilderAtEnd(g->b, bad);
  gen_raise(g, lowered_assert_kind(n), lowered_assert_text(n));
  gen_fail(g);
  LLVMPositionBuilderAtEnd(g->b, good);
}

static void gen_let_stmt(Gen *g, LetStmt *n) {
  LLVMValueRef value = gen_cast(g, gen_expr(g, n->value), n->value->dtype, n->var->dtype);
  if (lowered_begins_frame(n->value)) g->f->frame = value;
  range_bind(&g->f->ranges, n->var, range_of(&g->f->ranges, n->value));
  gen_bind(g, n->var, value);
}

/* AttrStmts that the machine has no use for are passed over, threads of a GPU are not. */
static void gen_attr(Gen *g, AttrStmt *n) {
  bool launches = str_same(n->key, "thread_extent");
  if (launches && g->is_device) gen_launch(g, n);
  else if (launches || str_same(n->key, "virtual_thread"))
    error_raisef("CompileError", n->node.span,
                 "a loop bound to a thread is not supported by the llvm target: sim runs it on a "
                 "simulated GPU");
}

/* The rest of a heap allocation's scope, then the end of the scope. */
static void gen_heap_scope(Gen *g, Node *body) {
  int depth = g->f->heap.len - 1;
  gen_stmt(g, body);
  gen_free_heap(g, depth);
  g->f->heap.len = depth;
}

/* Does one statement and returns what is left to do in its scope, or NULL. */
static Node *gen_step(Gen *g, Node *n) {
  debug_place(g, n->span);
  switch (n->kind) {
  case NK_LetStmt: return gen_let_stmt(g, AS(LetStmt, n)), AS(LetStmt, n)->body;
  case NK_AttrStmt: return gen_attr(g, AS(AttrStmt, n)), AS(AttrStmt, n)->body;
  case NK_AssertStmt: return gen_assert(g, AS(AssertStmt, n)), AS(AssertStmt, n)->body;
  case NK_DeclBuffer: return AS(DeclBuffer, n)->body;
  case NK_Allocate:
    if (!gen_allocate(g, AS(Allocate, n))) return AS(Allocate, n)->body;
    return gen_heap_scope(g, AS(Allocate, n)->body), NULL;
  case NK_AllocateConst:
    return gen_allocate_const(g, AS(AllocateConst, n)), AS(AllocateConst, n)->body;
  case NK_For: return gen_for(g, AS(For, n)), NULL;
  case NK_While: return gen_while(g, AS(While, n)), NULL;
  case NK_IfThenElse: return gen_if(g, AS(IfThenElse, n)), NULL;
  case NK_BufferStore: return gen_store(g, AS(BufferStore, n)), NULL;
  case NK_Evaluate: return gen_expr(g, AS(Evaluate, n)->value), NULL;
  default: break;
  }
  gen_unsupported(g, n, str_format("%s in a lowered function", node_kind_name(n->kind)));
}

void gen_stmt(Gen *g, Node *n) {
  while (n) {
    if (!IS(SeqStmt, n)) {
      n = gen_step(g, n);
      continue;
    }
    NodeVec stmts = AS(SeqStmt, n)->stmts;
    for (int i = 0; i + 1 < stmts.len; i++) gen_stmt(g, stmts.at[i]);
    n = stmts.len ? vec_last(&stmts) : NULL;
  }
}
