/* alloc.c -- Allocate and AllocateConst.
 *
 * A small buffer of constant size lives on the stack; every other comes from aligned_alloc and is
 * freed where its scope ends or is left. Without memory the function fails. A condition of an
 * Allocate is not looked at: the memory is there in any case. */
#include "target/llvm/codegen.h"
#include "target/params.h"

LLVMValueRef gen_alloca(Gen *g, LLVMTypeRef type, int64_t n, unsigned align, const char *name) {
  LLVMPositionBuilderAtEnd(g->entry_builder, g->f->entry);
  LLVMTypeRef whole = LLVMArrayType2(type, (uint64_t)n);
  LLVMValueRef place = LLVMBuildAlloca(g->entry_builder, whole, name);
  if (align) LLVMSetAlignment(place, align);
  return place;
}

/* The size in bytes as i64, rounded up to a multiple of STACK_ALIGN and not 0. */
static LLVMValueRef gen_bytes(Gen *g, Allocate *n) {
  LLVMValueRef size = const_i64(g, (int64_t)lowered_nbytes(n->elem) * n->elem.lanes);
  for each (Node *, e, &n->extents)
    size = LLVMBuildNSWMul(g->b, size, gen_cast(g, gen_expr(g, *e), (*e)->dtype, INT64), "");
  size = LLVMBuildAdd(g->b, size, const_i64(g, STACK_ALIGN), "");
  return LLVMBuildAnd(g->b, size, const_i64(g, -STACK_ALIGN), "bytes");
}

static LLVMValueRef gen_heap(Gen *g, Allocate *n) {
  LLVMValueRef bytes = LLVMBuildTrunc(g->b, gen_bytes(g, n), type_size(g), "");
  LLVMValueRef args[] = {LLVMConstInt(type_size(g), STACK_ALIGN, false), bytes};
  LLVMValueRef p = gen_c_call(g, "aligned_alloc", type_ptr(g), 2, args);
  gen_out_of_memory_if(g, LLVMBuildIsNull(g->b, p, ""));
  vec_push(&g->f->heap, p);
  return p;
}

bool gen_allocate(Gen *g, Allocate *n) {
  type_check_stored(g, n->elem, n->node.span);
  if (g->is_device) return gen_allocate_device(g, n), false;
  Func *f = g->f;
  int64_t nbytes = lowered_stack_bytes(n, f->stack_bytes);
  map_set(&f->distinct, n->var, n);
  if (nbytes < 0) {
    gen_bind(g, n->var, gen_heap(g, n));
    return true;
  }
  f->stack_bytes += nbytes;
  LLVMTypeRef type = type_in_memory(g, dtype_element(n->elem));
  int64_t count = nbytes / lowered_nbytes(n->elem);
  LLVMValueRef place = gen_alloca(g, type, count ? count : 1, STACK_ALIGN, AS(Var, n->var)->name);
  gen_bind(g, n->var, place);
  return false;
}

LLVMValueRef gen_pointer_slot(Gen *g, const char *symbol) {
  LLVMValueRef slot = LLVMGetNamedGlobal(g->out, symbol);
  if (slot) return slot;
  slot = LLVMAddGlobal(g->out, type_ptr(g), symbol);
  LLVMSetInitializer(slot, LLVMConstNull(type_ptr(g)));
  LLVMSetLinkage(slot, LLVMInternalLinkage);
  return slot;
}

LLVMValueRef gen_param_slot(Gen *g, const char *name) {
  return gen_pointer_slot(g, str_format("param.%s", name));
}

/* Its address is loaded from a slot, which the loader of the module fills. */
static void gen_param(Gen *g, AllocateConst *n, const char *name) {
  LLVMValueRef at = LLVMBuildLoad2(g->b, type_ptr(g), gen_param_slot(g, name), "");
  gen_missing_if(g, LLVMBuildIsNull(g->b, at, ""), name);
  gen_bind(g, n->var, at);
}

static LLVMValueRef private_bytes(Gen *g, const ConstData *data, const char *name) {
  LLVMValueRef bytes = LLVMConstStringInContext2(g->context, data->bytes, data->nbytes, true);
  LLVMValueRef global = LLVMAddGlobal(g->out, LLVMTypeOf(bytes), name);
  LLVMSetInitializer(global, bytes);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  return global;
}

void gen_allocate_const(Gen *g, AllocateConst *n) {
  const ConstData *data = n->data;
  if (param_name(n)) return gen_param(g, n, param_name(n));
  LLVMValueRef known = map_get(&g->constants, data);
  if (known) return gen_bind(g, n->var, known);
  LLVMValueRef global = weights_add(g, data);
  if (!global) global = private_bytes(g, data, AS(Var, n->var)->name);
  LLVMSetGlobalConstant(global, true);
  LLVMSetAlignment(global, STACK_ALIGN);
  map_set(&g->constants, data, global);
  gen_bind(g, n->var, global);
}
