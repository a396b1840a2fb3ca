/* ptx_call.c -- instructions of PTX that no intrinsic of LLVM's has for all shapes: products of
 * fragments (mma), loads of fragments (ldmatrix), copies that a thread does not wait for
 * (cp.async).
 *
 * Operands are as the PTX ISA has them. A fragment lies in an array of its thread, register by
 * register from the offset on; once loops are unrolled LLVM keeps it in registers. */
#include "target/llvm/codegen.h"
#include "ir/arith/arith.h"
#include "target/ptx.h"

/* ---- assembly ---- */

/* `pure`: of its operands alone; else it may touch memory. All threads of the warp come to it. */
static LLVMValueRef assemble(Gen *g, const char *text, const char *constraints, LLVMTypeRef result,
                             int n, LLVMValueRef *args, bool pure) {
  LLVMTypeRef types[PTX_MOST_REGISTERS];
  for (int i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
  LLVMTypeRef type = LLVMFunctionType(result, types, (unsigned)n, false);
  LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints),
                                       !pure, false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef call = LLVMBuildCall2(g->b, type, code, args, (unsigned)n, "");
  unsigned kind = LLVMGetEnumAttributeKindForName("convergent", strlen("convergent"));
  LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                           LLVMCreateEnumAttribute(g->context, kind, 0));
  return call;
}

static LLVMValueRef register_at(Gen *g, LLVMTypeRef type, LLVMValueRef pointer, int i) {
  LLVMValueRef index = const_i32(g, i);
  return LLVMBuildInBoundsGEP2(g->b, type, pointer, &index, 1, "");
}

static void load_registers(Gen *g, LLVMTypeRef type, LLVMValueRef pointer, int n,
                           LLVMValueRef *out) {
  for (int i = 0; i < n; i++)
    out[i] = LLVMBuildLoad2(g->b, type, register_at(g, type, pointer, i), "");
}

static void store_registers(Gen *g, LLVMTypeRef type, LLVMValueRef pointer, int n,
                            LLVMValueRef whole) {
  for (int i = 0; i < n; i++) {
    LLVMValueRef v = n == 1 ? whole : LLVMBuildExtractValue(g->b, whole, (unsigned)i, "");
    LLVMBuildStore(g->b, v, register_at(g, type, pointer, i));
  }
}

static LLVMTypeRef registers_type(Gen *g, LLVMTypeRef type, int n) {
  LLVMTypeRef types[PTX_MOST_REGISTERS];
  if (n == 1) return type;
  for (int i = 0; i < n; i++) types[i] = type;
  return LLVMStructTypeInContext(g->context, types, (unsigned)n, false);
}

/* An address of shared memory as its instructions take it. */
static LLVMValueRef shared_address(Gen *g, Call *n, LLVMValueRef pointer) {
  if (LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) != SPACE_SHARED) ptx_raise_not_shared(n);
  return LLVMBuildPtrToInt(g->b, pointer, type_int(g, 32), "");
}

/* ---- mma ---- */

static LLVMValueRef do_mma(Gen *g, Call *n) {
  PtxMma m = ptx_mma(g->target, n, '$');
  LLVMTypeRef bits = type_int(g, 32), tc = m.is_float ? type_of(g, FLOAT32) : bits;
  LLVMValueRef regs[PTX_MOST_REGISTERS], pointers[3];
  for (int i = 0; i < 3; i++)
    pointers[i] = gen_pointer_at(g, n->args.at[6 + 2 * i], n->args.at[7 + 2 * i], n->node.dtype);
  load_registers(g, bits, pointers[0], m.a, regs);
  load_registers(g, bits, pointers[1], m.b, regs + m.a);
  load_registers(g, tc, pointers[2], m.c, regs + m.a + m.b);
  Str constraints = {0};
  const char *of_c = m.is_float ? "f" : "r";
  for (int i = 0; i < m.c; i++) str_printf(&constraints, "=%s,", of_c);
  for (int i = 0; i < m.a + m.b; i++) str_add(&constraints, "r,");
  for (int i = 0; i < m.c; i++) str_printf(&constraints, "%d%s", i, i + 1 < m.c ? "," : "");
  LLVMValueRef out = assemble(g, m.text, str_text(&constraints), registers_type(g, tc, m.c),
                              m.a + m.b + m.c, regs, true);
  store_registers(g, tc, pointers[2], m.c, out);
  return NULL;
}

/* (size, pointer, offset): zeroes a fragment */
static LLVMValueRef do_mma_fill(Gen *g, Call *n) {
  LLVMTypeRef type = type_in_memory(g, n->node.dtype);
  LLVMValueRef p = gen_pointer_at(g, n->args.at[1], n->args.at[2], n->node.dtype);
  for (int i = 0; i < ptx_constant(n, 0); i++)
    LLVMBuildStore(g->b, LLVMConstNull(type), register_at(g, type, p, i));
  return NULL;
}

/* Do pairs of neighbours begin at multiples of their size, in each row? */
static unsigned alignment_of_pairs(Gen *g, Node *pointer, Node *pitch, DataType t) {
  unsigned one = (unsigned)lowered_nbytes(t), align = one;
  Modular m = arith_modular(arith_new(), pitch);
  if (is_intrin_call(pointer, "tvm_access_ptr"))
    align = gen_alignment(g, AS(Call, pointer)->args.at[1], AS(Call, pointer)->args.at[2], t);
  return align >= 2 * one && m.coeff % 2 == 0 && m.base % 2 == 0 ? 2 * one : one;
}

/* (rows, columns, memory, fragment, offset, pitch): of 16 x 16, two fragments of 8 columns. A
 * thread has neighbours in row lane / 4, and in the row 8 further on. */
static LLVMValueRef do_mma_store(Gen *g, Call *n) {
  DataType t = n->node.dtype;
  ptx_check_store(n);
  LLVMTypeRef type = type_in_memory(g, t), pair = LLVMVectorType(type, 2);
  unsigned align = alignment_of_pairs(g, n->args.at[2], n->args.at[5], t);
  LLVMValueRef to = gen_expr(g, n->args.at[2]);
  LLVMValueRef from = gen_pointer_at(g, n->args.at[3], n->args.at[4], t);
  LLVMValueRef pitch = gen_cast(g, gen_expr(g, n->args.at[5]), n->args.at[5]->dtype, INT32);
  LLVMValueRef lane = gen_intrinsic(g, "llvm.nvvm.read.ptx.sreg.laneid", 0, NULL);
  LLVMValueRef row = LLVMBuildLShr(g->b, lane, const_i32(g, 2), "");
  LLVMValueRef column =
      LLVMBuildAnd(g->b, LLVMBuildShl(g->b, lane, const_i32(g, 1), ""), const_i32(g, 6), "");
  for (int i = 0; i < 4; i++) { /* the ith pair */
    LLVMValueRef y = LLVMBuildAdd(g->b, row, const_i32(g, i % 2 * 8), "");
    LLVMValueRef x = LLVMBuildAdd(g->b, column, const_i32(g, i / 2 * 8), "");
    LLVMValueRef at = LLVMBuildNSWAdd(g->b, LLVMBuildNSWMul(g->b, y, pitch, ""), x, "");
    LLVMValueRef v = LLVMBuildLoad2(g->b, pair, register_at(g, pair, from, i), "");
    LLVMSetAlignment(v, (unsigned)lowered_nbytes(t));
    LLVMValueRef address = LLVMBuildInBoundsGEP2(g->b, type, to, &at, 1, "");
    LLVMSetAlignment(LLVMBuildStore(g->b, v, address), align);
  }
  return NULL;
}

/* ---- ldmatrix ---- */

static LLVMValueRef do_ldmatrix(Gen *g, Call *n) {
  int number;
  const char *text = ptx_ldmatrix(g->target, n, '$', &number);
  LLVMTypeRef bits = type_int(g, 32);
  LLVMValueRef to = gen_pointer_at(g, n->args.at[3], n->args.at[4], n->node.dtype);
  LLVMValueRef from = gen_pointer_at(g, n->args.at[5], n->args.at[6], n->node.dtype);
  from = shared_address(g, n, from);
  Str constraints = {0};
  for (int i = 0; i < number; i++) str_add(&constraints, "=r,");
  str_add(&constraints, "r,~{memory}");
  LLVMValueRef out =
      assemble(g, text, str_text(&constraints), registers_type(g, bits, number), 1, &from, false);
  store_registers(g, bits, to, number, out);
  return NULL;
}

/* ---- wmma ---- */

static LLVMTypeRef register_type(Gen *g, PtxRegisters r) {
  return r.kind == 'r' ? type_int(g, 32) : type_of(g, r.kind == 'd' ? FLOAT64 : FLOAT32);
}

static void add_constraints(Str *s, const char *prefix, PtxRegisters r) {
  for (int i = 0; i < r.n; i++) str_printf(s, "%s%s%c", s->len ? "," : "", prefix, r.kind);
}

/* What a matrix is loaded from or stored to: the address as the instruction takes it. */
typedef struct Place {
  LLVMValueRef address;
  const char *space, *constraint;
} Place;

static Place place_of(Gen *g, Call *n, Node *pointer) {
  LLVMValueRef p = gen_expr(g, pointer);
  unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(p));
  if (space == SPACE_SHARED) return (Place){shared_address(g, n, p), ".shared", "r"};
  if (space == SPACE_GLOBAL) return (Place){p, ".global", "l"};
  error_raisef("CompileError", n->node.span,
               "a matrix of wmma is loaded from, and stored to, shared and global memory");
}

static LLVMValueRef do_wmma_load(Gen *g, Call *n) {
  PtxRegisters r;
  NodeVec x = n->args;
  LLVMValueRef to = gen_pointer_at(g, x.at[3], x.at[4], n->node.dtype);
  Place from = place_of(g, n, x.at[5]);
  const char *text = ptx_wmma_load(g->target, n, '$', from.space, &r);
  LLVMTypeRef type = register_type(g, r);
  LLVMValueRef args[] = {from.address, gen_cast(g, gen_expr(g, x.at[6]), x.at[6]->dtype, INT32)};
  Str constraints = {0};
  add_constraints(&constraints, "=", r);
  str_printf(&constraints, ",%s,r,~{memory}", from.constraint);
  LLVMValueRef out =
      assemble(g, text, str_text(&constraints), registers_type(g, type, r.n), 2, args, false);
  store_registers(g, type, to, r.n, out);
  return NULL;
}

static LLVMValueRef do_wmma_store(Gen *g, Call *n) {
  PtxRegisters r;
  NodeVec x = n->args;
  Place to = place_of(g, n, x.at[2]);
  const char *text = ptx_wmma_store(g->target, n, '$', to.space, &r);
  LLVMValueRef from = gen_pointer_at(g, x.at[4], x.at[5], n->node.dtype);
  LLVMValueRef args[PTX_MOST_REGISTERS] = {to.address};
  Str constraints = {0};
  str_add(&constraints, to.constraint);
  add_constraints(&constraints, "", r);
  str_add(&constraints, ",r,~{memory}");
  load_registers(g, register_type(g, r), from, r.n, args + 1);
  args[1 + r.n] = gen_cast(g, gen_expr(g, x.at[3]), x.at[3]->dtype, INT32);
  assemble(g, text, str_text(&constraints), LLVMVoidTypeInContext(g->context), 2 + r.n, args,
           false);
  return NULL;
}

static LLVMValueRef do_wmma_mma(Gen *g, Call *n) {
  PtxRegisters r[4];
  const char *text = ptx_wmma_mma(g->target, n, '$', r);
  LLVMValueRef args[PTX_MOST_REGISTERS], pointers[4];
  Str constraints = {0};
  int count = 0;
  for (int i = 0; i < 4; i++)
    pointers[i] = gen_pointer_at(g, n->args.at[6 + 2 * i], n->args.at[7 + 2 * i], n->node.dtype);
  add_constraints(&constraints, "=", r[3]);
  for (int i = 0; i < 3; count += r[i++].n) {
    load_registers(g, register_type(g, r[i]), pointers[i], r[i].n, args + count);
    add_constraints(&constraints, "", r[i]);
  }
  LLVMTypeRef type = register_type(g, r[3]);
  LLVMValueRef out =
      assemble(g, text, str_text(&constraints), registers_type(g, type, r[3].n), count, args, true);
  store_registers(g, type, pointers[3], r[3].n, out);
  return NULL;
}

/* ---- wgmma ---- */

/* What tells the instruction where an operand lies in shared memory. */
static LLVMValueRef wgmma_place(Gen *g, Call *n, int at, uint64_t rest) {
  LLVMValueRef p = gen_pointer_at(g, n->args.at[at], n->args.at[at + 1], n->node.dtype);
  LLVMValueRef address = shared_address(g, n, p);
  address = LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, address, const_i32(g, 4), ""),
                         const_i32(g, 0x3fff), "");
  address = LLVMBuildZExt(g->b, address, type_int(g, 64), "");
  return LLVMBuildOr(g->b, address, const_i64(g, (int64_t)rest), "");
}

static bool is_shared_pointer(LLVMValueRef p) {
  return LLVMGetPointerAddressSpace(LLVMTypeOf(p)) == SPACE_SHARED;
}

static LLVMValueRef do_wgmma(Gen *g, Call *n) {
  enum { A = 6, B = 10, C = 14 };
  LLVMValueRef from = gen_expr(g, n->args.at[A]), regs[PTX_MOST_REGISTERS];
  PtxWgmma m = ptx_wgmma(g->target, n, '$', !is_shared_pointer(from));
  LLVMTypeRef type = register_type(g, m.c), bits = type_int(g, 32);
  LLVMValueRef c = gen_pointer_at(g, n->args.at[C], n->args.at[C + 1], n->node.dtype);
  int count = 0;
  Str constraints = {0};
  add_constraints(&constraints, "=", m.c);
  if (m.a_in_registers) {
    LLVMValueRef a = gen_pointer_at(g, n->args.at[A], n->args.at[A + 1], n->node.dtype);
    load_registers(g, bits, a, 4, regs);
    str_add(&constraints, ",r,r,r,r");
    count = 4;
  } else {
    regs[count++] = wgmma_place(g, n, A, m.a_place);
    str_add(&constraints, ",l");
  }
  regs[count++] = wgmma_place(g, n, B, m.b_place);
  str_add(&constraints, ",l");
  load_registers(g, type, c, m.c.n, regs + count);
  for (int i = 0; i < m.c.n; i++) str_printf(&constraints, ",%d", i);
  str_add(&constraints, ",~{memory}");
  LLVMValueRef out = assemble(g, m.text, str_text(&constraints), registers_type(g, type, m.c.n),
                              count + m.c.n, regs, false);
  store_registers(g, type, c, m.c.n, out);
  return NULL;
}

static LLVMValueRef do_order(Gen *g, Call *n) {
  assemble(g, ptx_order(g->target, n), "~{memory}", LLVMVoidTypeInContext(g->context), 0, NULL,
           false);
  return NULL;
}

/* ---- cp.async ---- */

static LLVMValueRef do_cp_async(Gen *g, Call *n) {
  int nbytes;
  const char *text = ptx_cp_async(g->target, n, '$', &nbytes);
  LLVMValueRef to = gen_pointer_at(g, n->args.at[0], n->args.at[1], n->node.dtype);
  LLVMValueRef from = gen_pointer_at(g, n->args.at[2], n->args.at[3], n->node.dtype);
  if (LLVMGetPointerAddressSpace(LLVMTypeOf(from)) != SPACE_GLOBAL)
    error_raisef("CompileError", n->node.span, "T.ptx_cp_async copies from global memory");
  LLVMValueRef args[] = {shared_address(g, n, to), from, NULL};
  if (n->args.len > 5)
    args[2] = LLVMBuildSelect(g->b, gen_condition(g, n->args.at[5]), const_i32(g, nbytes),
                              const_i32(g, 0), "");
  int count = args[2] ? 3 : 2;
  assemble(g, text, count == 3 ? "r,l,r,~{memory}" : "r,l,~{memory}",
           LLVMVoidTypeInContext(g->context), count, args, false);
  return NULL;
}

static LLVMValueRef do_commit(Gen *g, Call *n) {
  ptx_need_gpu(g->target, n, 80);
  gen_intrinsic(g, "llvm.nvvm.cp.async.commit.group", 0, NULL);
  return NULL;
}

static LLVMValueRef do_wait(Gen *g, Call *n) {
  LLVMValueRef number = const_i32(g, ptx_constant(n, 0));
  ptx_need_gpu(g->target, n, 80);
  gen_intrinsic(g, "llvm.nvvm.cp.async.wait.group", 1, &number);
  return NULL;
}

/* ---- bulk copies ---- */

/* Of the barrier whose memory and number a call ends with. */
static LLVMValueRef barrier_address(Gen *g, Call *n) {
  int at = n->args.len - 2;
  return shared_address(g, n, gen_pointer_at(g, n->args.at[at], n->args.at[at + 1], n->node.dtype));
}

static LLVMValueRef int32_arg(Gen *g, Call *n, int i) {
  return gen_cast(g, gen_expr(g, n->args.at[i]), n->args.at[i]->dtype, INT32);
}

static LLVMValueRef do_barrier(Gen *g, Call *n) {
  bool has_value = false;
  const char *text = ptx_barrier(g->target, n, '$', &has_value);
  LLVMValueRef args[] = {barrier_address(g, n), has_value ? int32_arg(g, n, 1) : NULL};
  assemble(g, text, has_value ? "r,r,~{memory}" : "r,~{memory}", LLVMVoidTypeInContext(g->context),
           has_value ? 2 : 1, args, false);
  return NULL;
}

static LLVMValueRef do_bulk_copy(Gen *g, Call *n) {
  const char *text = ptx_bulk_copy(g->target, n, '$');
  LLVMValueRef to = gen_pointer_at(g, n->args.at[0], n->args.at[1], n->node.dtype);
  LLVMValueRef from = gen_pointer_at(g, n->args.at[2], n->args.at[3], n->node.dtype);
  if (LLVMGetPointerAddressSpace(LLVMTypeOf(from)) != SPACE_GLOBAL)
    error_raisef("CompileError", n->node.span, "T.ptx_cp_async_bulk copies from global memory");
  LLVMValueRef args[] = {shared_address(g, n, to), from, int32_arg(g, n, 4), barrier_address(g, n)};
  assemble(g, text, "r,l,r,r,~{memory}", LLVMVoidTypeInContext(g->context), 4, args, false);
  return NULL;
}

static const struct {
  const char *name;
  LLVMValueRef (*handler)(Gen *g, Call *n);
} handlers[] = {
#define PTX_CALL(builtin, handler) {#builtin, do_##handler},
#include "target/ptx_call.def"
};

LLVMValueRef gen_ptx_call(Gen *g, Call *n, const char *name, bool *found) {
  for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
    if (!str_same(handlers[i].name, name)) continue;
    *found = true;
    return handlers[i].handler(g, n);
  }
  return NULL;
}
