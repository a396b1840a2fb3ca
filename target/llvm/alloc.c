/* alloc.c -- Allocate and AllocateConst.
 *
 * A buffer of constant size lives on the stack if it has at most STACK_BUFFER bytes and the
 * function's buffers have at most STACK_FUNCTION in all; every other comes from aligned_alloc and
 * is freed where its scope ends or is left. Without memory the function fails. A condition of an
 * Allocate is not looked at: the memory is there in any case. */
#include "target/llvm/codegen.h"

#define ALIGN          64
#define STACK_BUFFER   (16 << 10)
#define STACK_FUNCTION (256 << 10)

LLVMValueRef gen_alloca(Gen *g, LLVMTypeRef type, int64_t n, unsigned align, const char *name) {
  LLVMPositionBuilderAtEnd(g->entry_builder, g->f->entry);
  LLVMTypeRef whole = LLVMArrayType2(type, (uint64_t)n);
  LLVMValueRef place = LLVMBuildAlloca(g->entry_builder, whole, name);
  if (align) LLVMSetAlignment(place, align);
  return place;
}

static bool constant_bytes(Allocate *n, int64_t *nbytes) {
  *nbytes = (int64_t)type_nbytes(n->elem) * n->elem.lanes;
  for each (Node *, e, &n->extents) {
    int64_t extent;
    if (!expr_is_const_int(*e, &extent)) return false;
    if (extent < 0 || __builtin_mul_overflow(*nbytes, extent, nbytes))
      error_raisef("CompileError", n->node.span, "T.allocate: the size of '%s' is out of range",
                   AS(Var, n->var)->name);
  }
  return true;
}

/* The size in bytes as i64, rounded up to a multiple of ALIGN and not 0. */
static LLVMValueRef gen_bytes(Gen *g, Allocate *n) {
  LLVMValueRef size = const_i64(g, (int64_t)type_nbytes(n->elem) * n->elem.lanes);
  for each (Node *, e, &n->extents)
    size = LLVMBuildNSWMul(g->b, size, gen_cast(g, gen_expr(g, *e), (*e)->dtype, INT64), "");
  size = LLVMBuildAdd(g->b, size, const_i64(g, ALIGN), "");
  return LLVMBuildAnd(g->b, size, const_i64(g, -ALIGN), "bytes");
}

static LLVMValueRef gen_heap(Gen *g, Allocate *n) {
  LLVMValueRef args[] = {const_i64(g, ALIGN), gen_bytes(g, n)};
  LLVMValueRef p = gen_c_call(g, "aligned_alloc", type_ptr(g), 2, args);
  gen_out_of_memory_if(g, LLVMBuildIsNull(g->b, p, ""));
  vec_push(&g->f->heap, p);
  return p;
}

bool gen_allocate(Gen *g, Allocate *n) {
  type_check(n->elem, n->node.span);
  Func *f = g->f;
  int64_t nbytes;
  bool fits = constant_bytes(n, &nbytes) && nbytes <= STACK_BUFFER &&
              f->stack_bytes + nbytes <= STACK_FUNCTION;
  map_set(&f->distinct, n->var, n);
  if (!fits) {
    gen_bind(g, n->var, gen_heap(g, n));
    return true;
  }
  f->stack_bytes += nbytes;
  LLVMTypeRef type = type_in_memory(g, dtype_element(n->elem));
  int64_t count = nbytes / type_nbytes(n->elem);
  LLVMValueRef place = gen_alloca(g, type, count ? count : 1, ALIGN, AS(Var, n->var)->name);
  gen_bind(g, n->var, place);
  return false;
}

void gen_allocate_const(Gen *g, AllocateConst *n) {
  const ConstData *data = n->data;
  LLVMValueRef bytes = LLVMConstStringInContext2(g->context, data->bytes, data->nbytes, true);
  LLVMValueRef global = LLVMAddGlobal(g->out, LLVMTypeOf(bytes), AS(Var, n->var)->name);
  LLVMSetInitializer(global, bytes);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  LLVMSetAlignment(global, ALIGN);
  gen_bind(g, n->var, global);
}
