/* device.c -- functions of a device: the frame of a kernel, its threads, and its memory.
 *
 * Pointers come as addresses of global memory, at multiples of 16 bytes: who launches sees to it.
 * Loads and stores of vectors may count on that. */
#include "target/llvm/codegen.h"
#include "ir/arith/arith.h"
#include "lower/lower.h"

enum { PTX_KERNEL = 71 };

/* ---- the frame ---- */

static LLVMTypeRef param_type(Gen *g, DataType t) {
  return dtype_is_handle(t) ? LLVMPointerTypeInContext(g->context, SPACE_GLOBAL)
                            : type_in_memory(g, t);
}

void gen_declare_kernel(Gen *g, const char *name, PrimFunc *f) {
  int n = f->params.len;
  bool distinct = dict_get_int(f->attrs, "tir.noalias", 1) != 0;
  LLVMTypeRef *params = NEW_ARRAY(LLVMTypeRef, n + 1);
  for (int i = 0; i < n; i++) {
    type_check(f->params.at[i]->dtype, f->node.span);
    params[i] = param_type(g, f->params.at[i]->dtype);
  }
  LLVMTypeRef type =
      LLVMFunctionType(LLVMVoidTypeInContext(g->context), params, (unsigned)n, false);
  LLVMValueRef fn = LLVMAddFunction(g->out, name, type);
  LLVMSetFunctionCallConv(fn, PTX_KERNEL);
  gen_attribute(g, fn, (unsigned)LLVMAttributeFunctionIndex, "nounwind", 0);
  for (int i = 0; i < n; i++) {
    if (!dtype_is_handle(f->params.at[i]->dtype)) continue;
    if (distinct) gen_attribute(g, fn, (unsigned)i + 1, "noalias", 0);
    gen_attribute(g, fn, (unsigned)i + 1, "nocapture", 0);
    gen_attribute(g, fn, (unsigned)i + 1, "align", DEVICE_ALIGN);
  }
  map_set(&g->functions, str_intern(name), fn);
}

static void bind_params(Gen *g, PrimFunc *f) {
  for (int i = 0; i < f->params.len; i++) {
    Node *param = f->params.at[i];
    LLVMValueRef v = LLVMGetParam(g->f->llvm, (unsigned)i);
    LLVMSetValueName2(v, AS(Var, param)->name, strlen(AS(Var, param)->name));
    bool is_pointer = dtype_is_handle(param->dtype);
    gen_bind(g, param, is_pointer ? v : gen_from_memory(g, v, param->dtype));
    if (is_pointer) map_set(&g->f->aligned, param, param);
  }
}

/* Arrays at their offsets in the memory whose size is told at launch. */
static void bind_dynamic_shared(Gen *g, PrimFunc *f) {
  DynamicShared shared = lower_dynamic_shared(f);
  if (!shared.nbytes) return;
  const char *name = "dynamic_shared";
  LLVMValueRef memory = LLVMGetNamedGlobal(g->out, name);
  if (!memory) {
    memory =
        LLVMAddGlobalInAddressSpace(g->out, LLVMArrayType2(type_int(g, 8), 0), name, SPACE_SHARED);
    LLVMSetAlignment(memory, LOWER_MOST_ALIGN);
  }
  for (int i = 0; i < shared.vars.len; i++) {
    LLVMValueRef at = const_i32(g, shared.offsets.at[i]);
    gen_bind(g, shared.vars.at[i], LLVMBuildInBoundsGEP2(g->b, type_int(g, 8), memory, &at, 1, ""));
  }
}

/* !{kernel, !"maxntidx", 64}: what is known of launches. */
static void annotate(Gen *g, const char *key, int64_t value) {
  LLVMMetadataRef fields[] = {LLVMValueAsMetadata(g->f->llvm),
                              LLVMMDStringInContext2(g->context, key, strlen(key)),
                              LLVMValueAsMetadata(const_i32(g, value))};
  LLVMAddNamedMetadataOperand(
      g->out, "nvvm.annotations",
      LLVMMetadataAsValue(g->context, LLVMMDNodeInContext2(g->context, fields, 3)));
}

void gen_kernel(Gen *g, const char *name, PrimFunc *f) {
  Func state = {.sort = FUNC_DEVICE, .name = name, .fp_flags = g->fp_flags, .result = VOID_TYPE};
  if (dict_get_int(f->attrs, "tvms.fp_contract", 0)) state.fp_flags |= LLVMFastMathAllowContract;
  func_begin(g, &state, map_get(&g->functions, str_intern(name)));
  bind_params(g, f);
  bind_dynamic_shared(g, f);
  /* The assembler, where it is not told of at least one block on a multiprocessor, aims at so many
   * that it stores registers to memory. */
  annotate(g, "minctasm", 1);
  gen_stmt(g, f->body);
  gen_return(g, NULL);
  func_end(g);
  g->f = NULL;
}

/* ---- threads ---- */

static void set_range(Gen *g, LLVMValueRef v, int64_t end) {
  LLVMMetadataRef bounds[] = {LLVMValueAsMetadata(const_i32(g, 0)),
                              LLVMValueAsMetadata(const_i32(g, end))};
  LLVMSetMetadata(v, LLVMGetMDKindIDInContext(g->context, "range", 5),
                  LLVMMetadataAsValue(g->context, LLVMMDNodeInContext2(g->context, bounds, 2)));
}

void gen_launch(Gen *g, AttrStmt *n) {
  IterVar *iter = AS(IterVar, n->subject);
  bool is_block = str_begins(iter->thread_tag, "blockIdx.");
  const char *axis = strchr(iter->thread_tag, '.') + 1;
  int64_t extent, most = *axis == 'x' && is_block ? INT32_MAX : is_block ? 65535 : 1024;
  bool known = expr_is_const_int(n->value, &extent);
  if (!known || extent > most) extent = most;
  if (!is_block) annotate(g, str_format("maxntid%s", axis), extent);
  LLVMValueRef v = gen_intrinsic(
      g, str_format("llvm.nvvm.read.ptx.sreg.%s.%s", is_block ? "ctaid" : "tid", axis), 0, NULL);
  if (extent > 0) set_range(g, v, extent);
  range_bind(&g->f->ranges, iter->var, (Range64){0, extent > 0 ? extent - 1 : 0});
  gen_bind(g, iter->var, gen_cast(g, v, INT32, iter->var->dtype));
}

/* ---- memory ---- */

unsigned gen_alignment(Gen *g, Node *data, Node *index, DataType elem) {
  unsigned align = (unsigned)lowered_nbytes(elem);
  int64_t bytes = align;
  if (!g->is_device || !map_has(&g->f->aligned, data) || index->dtype.lanes != 1) return align;
  Modular m = arith_modular(arith_new(), index);
  m.coeff *= elem.lanes, m.base *= elem.lanes; /* in scalars */
  while (bytes < DEVICE_ALIGN && m.coeff % (2 * bytes / align) == 0 &&
         m.base % (2 * bytes / align) == 0)
    bytes *= 2;
  return (unsigned)bytes;
}

static LLVMValueRef shared_array(Gen *g, LLVMTypeRef type, const char *name, int64_t align) {
  LLVMValueRef array = LLVMAddGlobalInAddressSpace(g->out, type, name, SPACE_SHARED);
  LLVMSetInitializer(array, LLVMGetUndef(type));
  LLVMSetLinkage(array, LLVMInternalLinkage);
  LLVMSetAlignment(array, (unsigned)align);
  return array;
}

void gen_allocate_device(Gen *g, Allocate *n) {
  Var *var = AS(Var, n->var);
  int64_t count = n->elem.lanes, extent;
  map_set(&g->f->aligned, n->var, n);
  if (map_has(&g->f->values, n->var)) return; /* dynamic shared memory */
  for each (Node *, e, &n->extents) {
    if (!expr_is_const_int(*e, &extent))
      error_raisef("CompileError", n->node.span,
                   "a thread can't allocate '%s' of %s elements: its size must be a constant",
                   var->name, ir_print(*e, NULL));
    count *= extent;
  }
  LLVMTypeRef type = type_in_memory(g, dtype_element(n->elem));
  if (!count) count = 1;
  map_set(&g->f->distinct, n->var, n);
  bool is_shared = var->scope && str_begins(var->scope, "shared");
  gen_bind(g, n->var,
           is_shared
               ? shared_array(g, LLVMArrayType2(type, (uint64_t)count),
                              str_format("%s_%s", g->f->name, var->name), lower_shared_align(n))
               : gen_alloca(g, type, count, DEVICE_ALIGN, var->name));
}
