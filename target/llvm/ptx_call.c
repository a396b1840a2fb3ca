/* ptx_call.c -- instructions of PTX that no intrinsic of LLVM's has for all shapes: products of
 * fragments (mma), loads of fragments (ldmatrix), copies that a thread does not wait for
 * (cp.async).
 *
 * Operands are as the PTX ISA has them. A fragment lies in an array of its thread, register by
 * register from the offset on; once loops are unrolled LLVM keeps it in registers. */
#include "target/llvm/codegen.h"
#include "ir/arith/arith.h"

enum { MOST_REGISTERS = 64 };

static const char *word(Call *n, int i) {
  Node *arg = i < n->args.len ? n->args.at[i] : NULL;
  if (IS(StringImm, arg)) return AS(StringImm, arg)->value;
  error_raisef("CompileError", n->node.span, "argument %d of T.%s must be a text", i + 2,
               intrin_of(n->op)->name);
}

static int64_t constant(Call *n, int i) {
  int64_t value;
  if (i < n->args.len && expr_is_const_int(n->args.at[i], &value)) return value;
  error_raisef("CompileError", n->node.span, "argument %d of T.%s must be a constant", i + 2,
               intrin_of(n->op)->name);
}

static void need_gpu(Gen *g, Call *n, int number) {
  const TargetGpu *gpu = target_gpu(g->target);
  if (target_gpu_number(gpu) >= number) return;
  error_raisef("CompileError", n->node.span,
               "T.%s needs sm_%d, but the code is made for %s: build it for \"cuda -arch=sm_%d\"",
               intrin_of(n->op)->name, number, gpu->name, number);
}

/* ---- assembly ---- */

/* `pure`: of its operands alone; else it may touch memory. All threads of the warp come to it. */
static LLVMValueRef assemble(Gen *g, const char *text, const char *constraints, LLVMTypeRef result,
                             int n, LLVMValueRef *args, bool pure) {
  LLVMTypeRef types[MOST_REGISTERS];
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

/* "{$4, $5}" */
static const char *operands(int first, int n) {
  Str s = {0};
  for (int i = 0; i < n; i++) str_printf(&s, "%s$%d", i ? ", " : "{", first + i);
  str_add(&s, "}");
  return str_text(&s);
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
  LLVMTypeRef types[MOST_REGISTERS];
  if (n == 1) return type;
  for (int i = 0; i < n; i++) types[i] = type;
  return LLVMStructTypeInContext(g->context, types, (unsigned)n, false);
}

/* An address of shared memory as its instructions take it. */
static LLVMValueRef shared_address(Gen *g, Call *n, LLVMValueRef pointer) {
  if (LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) != SPACE_SHARED)
    error_raisef("CompileError", n->node.span, "T.%s needs shared memory", intrin_of(n->op)->name);
  return LLVMBuildPtrToInt(g->b, pointer, type_int(g, 32), "");
}

/* ---- mma ---- */

typedef struct Element {
  const char *name, *ptx;
  int bits;
} Element;

static const Element *element(Call *n, int i) {
  static const Element elements[] = {
      {"fp16", "f16", 16}, {"bf16", "bf16", 16}, {"tf32", "tf32", 32}, {"fp32", "f32", 32},
      {"fp64", "f64", 64}, {"int8", "s8", 8},    {"uint8", "u8", 8},   {"int4", "s4", 4},
      {"uint4", "u4", 4},  {"int32", "s32", 32}};
  Str known = {0};
  for (size_t k = 0; k < sizeof elements / sizeof *elements; k++) {
    if (str_same(elements[k].name, word(n, i))) return &elements[k];
    str_printf(&known, "%s%s", k ? ", " : "", elements[k].name);
  }
  error_raisef("CompileError", n->node.span, "T.ptx_mma has no element '%s'; it has %s", word(n, i),
               str_text(&known));
}

static int registers_of(int elements, const Element *e) { return elements * e->bits / 32 / 32; }

static LLVMTypeRef register_type(Gen *g, const Element *e) {
  return str_same(e->ptx, "f32") ? type_of(g, FLOAT32) : type_int(g, 32);
}

/* (shape, layouts of A and B, elements of A, B and C, A, offset, B, offset, C, offset, saturate) */
static LLVMValueRef do_mma(Gen *g, Call *n) {
  const Element *a = element(n, 3), *b = element(n, 4), *c = element(n, 5);
  int m, columns, k;
  if (n->args.len < 13 || sscanf(word(n, 0), "m%dn%dk%d", &m, &columns, &k) != 3)
    error_raisef("CompileError", n->node.span,
                 "T.ptx_mma takes a shape such as \"m16n8k16\" and 12 more arguments");
  bool is_tf32_or_bf16 = a->ptx[0] == 't' || a->ptx[0] == 'b';
  need_gpu(g, n, is_tf32_or_bf16 || (m == 16 && k > 8) ? 80 : m == 16 ? 75 : 70);
  int na = registers_of(m * k, a), nb = registers_of(k * columns, b),
      nc = registers_of(m * columns, c);
  if (na < 1 || nb < 1 || nc < 1 || na + nb + nc > MOST_REGISTERS || c->bits == 64)
    error_raisef("CompileError", n->node.span, "T.ptx_mma: no fragments of %s of %s", word(n, 0),
                 a->name);
  LLVMTypeRef tc = register_type(g, c), bits = type_int(g, 32);
  LLVMValueRef regs[MOST_REGISTERS], pointers[3];
  for (int i = 0; i < 3; i++)
    pointers[i] = gen_pointer_at(g, n->args.at[6 + 2 * i], n->args.at[7 + 2 * i], n->node.dtype);
  load_registers(g, bits, pointers[0], na, regs);
  load_registers(g, bits, pointers[1], nb, regs + na);
  load_registers(g, tc, pointers[2], nc, regs + na + nb);
  Str constraints = {0};
  const char *of_c = tc == bits ? "r" : "f";
  for (int i = 0; i < nc; i++) str_printf(&constraints, "=%s,", of_c);
  for (int i = 0; i < na + nb; i++) str_add(&constraints, "r,");
  for (int i = 0; i < nc; i++) str_printf(&constraints, "%d%s", i, i + 1 < nc ? "," : "");
  const char *text =
      str_format("mma.sync.aligned.%s.%s.%s%s.%s.%s.%s.%s %s, %s, %s, %s;", word(n, 0), word(n, 1),
                 word(n, 2), constant(n, 12) ? ".satfinite" : "", c->ptx, a->ptx, b->ptx, c->ptx,
                 operands(0, nc), operands(nc, na), operands(nc + na, nb), operands(0, nc));
  LLVMValueRef out = assemble(g, text, str_text(&constraints), registers_type(g, tc, nc),
                              na + nb + nc, regs, true);
  store_registers(g, tc, pointers[2], nc, out);
  return NULL;
}

/* (size, pointer, offset): zeroes a fragment */
static LLVMValueRef do_mma_fill(Gen *g, Call *n) {
  LLVMTypeRef type = type_in_memory(g, n->node.dtype);
  LLVMValueRef p = gen_pointer_at(g, n->args.at[1], n->args.at[2], n->node.dtype);
  for (int i = 0; i < constant(n, 0); i++)
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
  if (constant(n, 0) != 16 || constant(n, 1) != 16)
    error_raisef("CompileError", n->node.span, "T.mma_store stores 16 x 16 elements");
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

/* (transposed, number, ".b16", fragment, offset, shared memory, offset) */
static LLVMValueRef do_ldmatrix(Gen *g, Call *n) {
  int64_t number = constant(n, 1);
  need_gpu(g, n, 75);
  if (number != 1 && number != 2 && number != 4)
    error_raisef("CompileError", n->node.span, "T.ptx_ldmatrix loads 1, 2 or 4 matrices, not %lld",
                 (long long)number);
  LLVMTypeRef bits = type_int(g, 32);
  LLVMValueRef to = gen_pointer_at(g, n->args.at[3], n->args.at[4], n->node.dtype);
  LLVMValueRef from = gen_pointer_at(g, n->args.at[5], n->args.at[6], n->node.dtype);
  from = shared_address(g, n, from);
  Str constraints = {0};
  for (int i = 0; i < number; i++) str_add(&constraints, "=r,");
  str_add(&constraints, "r,~{memory}");
  const char *text = str_format("ldmatrix.sync.aligned.m8n8.x%lld%s.shared%s %s, [$%lld];",
                                (long long)number, constant(n, 0) ? ".trans" : "", word(n, 2),
                                operands(0, (int)number), (long long)number);
  LLVMValueRef out = assemble(g, text, str_text(&constraints), registers_type(g, bits, (int)number),
                              1, &from, false);
  store_registers(g, bits, to, (int)number, out);
  return NULL;
}

/* ---- cp.async ---- */

/* (shared memory, offset, global memory, offset, bytes[, condition]): zeros where it fails */
static LLVMValueRef do_cp_async(Gen *g, Call *n) {
  int64_t nbytes = constant(n, 4);
  need_gpu(g, n, 80);
  if (nbytes != 4 && nbytes != 8 && nbytes != 16)
    error_raisef("CompileError", n->node.span, "T.ptx_cp_async copies 4, 8 or 16 bytes, not %lld",
                 (long long)nbytes);
  LLVMValueRef to = gen_pointer_at(g, n->args.at[0], n->args.at[1], n->node.dtype);
  LLVMValueRef from = gen_pointer_at(g, n->args.at[2], n->args.at[3], n->node.dtype);
  if (LLVMGetPointerAddressSpace(LLVMTypeOf(from)) != SPACE_GLOBAL)
    error_raisef("CompileError", n->node.span, "T.ptx_cp_async copies from global memory");
  LLVMValueRef args[] = {shared_address(g, n, to), from, NULL};
  const char *text =
      str_format("cp.async.%s.shared.global [$0], [$1], %lld%s;", nbytes == 16 ? "cg" : "ca",
                 (long long)nbytes, n->args.len > 5 ? ", $2" : "");
  if (n->args.len > 5)
    args[2] = LLVMBuildSelect(g->b, gen_condition(g, n->args.at[5]), const_i32(g, nbytes),
                              const_i32(g, 0), "");
  int count = args[2] ? 3 : 2;
  assemble(g, text, count == 3 ? "r,l,r,~{memory}" : "r,l,~{memory}",
           LLVMVoidTypeInContext(g->context), count, args, false);
  return NULL;
}

static LLVMValueRef do_commit(Gen *g, Call *n) {
  need_gpu(g, n, 80);
  gen_intrinsic(g, "llvm.nvvm.cp.async.commit.group", 0, NULL);
  return NULL;
}

static LLVMValueRef do_wait(Gen *g, Call *n) {
  LLVMValueRef number = const_i32(g, constant(n, 0));
  need_gpu(g, n, 80);
  gen_intrinsic(g, "llvm.nvvm.cp.async.wait.group", 1, &number);
  return NULL;
}

static const struct {
  const char *name;
  LLVMValueRef (*handler)(Gen *g, Call *n);
} handlers[] = {{"ptx_mma", do_mma},           {"mma_fill", do_mma_fill},
                {"mma_store", do_mma_store},   {"ptx_ldmatrix", do_ldmatrix},
                {"ptx_cp_async", do_cp_async}, {"ptx_commit_group", do_commit},
                {"ptx_wait_group", do_wait}};

LLVMValueRef gen_ptx_call(Gen *g, Call *n, const char *name, bool *found) {
  for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
    if (!str_same(handlers[i].name, name)) continue;
    *found = true;
    return handlers[i].handler(g, n);
  }
  return NULL;
}
