/* ptx.c -- see ptx.h. */
#include "target/ptx.h"
#include <stdio.h>

static const char *word(Call *n, int i) {
  Node *arg = i < n->args.len ? n->args.at[i] : NULL;
  if (IS(StringImm, arg)) return AS(StringImm, arg)->value;
  error_raisef("CompileError", n->node.span, "argument %d of T.%s must be a text", i + 2,
               intrin_of(n->op)->name);
}

int64_t ptx_constant(Call *n, int i) {
  int64_t value;
  if (i < n->args.len && expr_is_const_int(n->args.at[i], &value)) return value;
  error_raisef("CompileError", n->node.span, "argument %d of T.%s must be a constant", i + 2,
               intrin_of(n->op)->name);
}

void ptx_need_gpu(const Target *target, Call *n, int number) {
  const TargetGpu *gpu = target_gpu(target);
  if (target_gpu_number(gpu) >= number) return;
  error_raisef("CompileError", n->node.span,
               "T.%s needs sm_%d, but the code is made for %s: build it for \"cuda -arch=sm_%d\"",
               intrin_of(n->op)->name, number, gpu->name, number);
}

void ptx_raise_not_shared(Call *n) {
  error_raisef("CompileError", n->node.span, "T.%s needs shared memory", intrin_of(n->op)->name);
}

void ptx_check_store(Call *n) {
  if (ptx_constant(n, 0) != 16 || ptx_constant(n, 1) != 16)
    error_raisef("CompileError", n->node.span, "T.mma_store stores 16 x 16 elements");
}

/* "{$4, $5}" */
static const char *operands(char sign, int first, int n) {
  Str s = {0};
  for (int i = 0; i < n; i++) str_printf(&s, "%s%c%d", i ? ", " : "{", sign, first + i);
  str_add(&s, "}");
  return str_text(&s);
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

/* (shape, layouts of A and B, elements of A, B and C, A, offset, B, offset, C, offset, saturate) */
PtxMma ptx_mma(const Target *target, Call *n, char sign) {
  const Element *a = element(n, 3), *b = element(n, 4), *c = element(n, 5);
  int rows, columns, depth;
  if (n->args.len < 13 || sscanf(word(n, 0), "m%dn%dk%d", &rows, &columns, &depth) != 3)
    error_raisef("CompileError", n->node.span,
                 "T.ptx_mma takes a shape such as \"m16n8k16\" and 12 more arguments");
  bool is_tf32_or_bf16 = a->ptx[0] == 't' || a->ptx[0] == 'b';
  ptx_need_gpu(target, n, is_tf32_or_bf16 || (rows == 16 && depth > 8) ? 80 : rows == 16 ? 75 : 70);
  PtxMma m = {.a = registers_of(rows * depth, a),
              .b = registers_of(depth * columns, b),
              .c = registers_of(rows * columns, c),
              .is_float = str_same(c->ptx, "f32")};
  if (m.a < 1 || m.b < 1 || m.c < 1 || m.a + m.b + m.c > PTX_MOST_REGISTERS || c->bits == 64)
    error_raisef("CompileError", n->node.span, "T.ptx_mma: no fragments of %s of %s", word(n, 0),
                 a->name);
  const char *out = operands(sign, 0, m.c);
  m.text =
      str_format("mma.sync.aligned.%s.%s.%s%s.%s.%s.%s.%s %s, %s, %s, %s;", word(n, 0), word(n, 1),
                 word(n, 2), ptx_constant(n, 12) ? ".satfinite" : "", c->ptx, a->ptx, b->ptx,
                 c->ptx, out, operands(sign, m.c, m.a), operands(sign, m.c + m.a, m.b), out);
  return m;
}

/* ---- ldmatrix ---- */

/* (transposed, number, ".b16", fragment, offset, shared memory, offset) */
const char *ptx_ldmatrix(const Target *target, Call *n, char sign, int *registers) {
  int64_t number = ptx_constant(n, 1);
  ptx_need_gpu(target, n, 75);
  if (number != 1 && number != 2 && number != 4)
    error_raisef("CompileError", n->node.span, "T.ptx_ldmatrix loads 1, 2 or 4 matrices, not %lld",
                 (long long)number);
  *registers = (int)number;
  return str_format("ldmatrix.sync.aligned.m8n8.x%lld%s.shared%s %s, [%c%lld];", (long long)number,
                    ptx_constant(n, 0) ? ".trans" : "", word(n, 2), operands(sign, 0, (int)number),
                    sign, (long long)number);
}

/* ---- cp.async ---- */

/* (shared memory, offset, global memory, offset, bytes[, condition]) */
const char *ptx_cp_async(const Target *target, Call *n, char sign, int *nbytes) {
  int64_t size = ptx_constant(n, 4);
  ptx_need_gpu(target, n, 80);
  if (size != 4 && size != 8 && size != 16)
    error_raisef("CompileError", n->node.span, "T.ptx_cp_async copies 4, 8 or 16 bytes, not %lld",
                 (long long)size);
  *nbytes = (int)size;
  return str_format("cp.async.%s.shared.global [%c0], [%c1], %lld%s;", size == 16 ? "cg" : "ca",
                    sign, sign, (long long)size, n->args.len > 5 ? str_format(", %c2", sign) : "");
}

/* ---- wmma ---- */

typedef struct WmmaShape {
  const char *text;
  int m, n, k;
} WmmaShape;

typedef struct WmmaType {
  DataType t;
  const char *ptx;
  int gpu; /* the oldest that has it */
  bool is_sum;
  const char *shapes;
} WmmaType;

static const WmmaType *wmma_type(Call *n, DataType t, bool is_sum) {
  static const char shapes[] = "m16n16k16, m32n8k16, m8n32k16",
                    all[] = "m16n16k16, m32n8k16, m8n32k16, m16n16k8";
  static const WmmaType types[] = {{{DTYPE_FLOAT, 16, 1}, "f16", 70, false, shapes},
                                   {{DTYPE_BFLOAT, 16, 1}, "bf16", 80, false, shapes},
                                   {{DTYPE_INT, 8, 1}, "s8", 72, false, shapes},
                                   {{DTYPE_UINT, 8, 1}, "u8", 72, false, shapes},
                                   {{DTYPE_FLOAT, 32, 1}, "tf32", 80, false, "m16n16k8"},
                                   {{DTYPE_FLOAT, 64, 1}, "f64", 80, false, "m8n8k4"},
                                   {{DTYPE_FLOAT, 16, 1}, "f16", 70, true, shapes},
                                   {{DTYPE_FLOAT, 32, 1}, "f32", 70, true, all},
                                   {{DTYPE_INT, 32, 1}, "s32", 72, true, shapes},
                                   {{DTYPE_FLOAT, 64, 1}, "f64", 80, true, "m8n8k4"}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].is_sum == is_sum && dtype_equal(types[i].t, t)) return &types[i];
  error_raisef("CompileError", n->node.span, "wmma has no %s of %s; it has %s",
               is_sum ? "sums" : "operands", dtype_text(t),
               is_sum ? "float16, float32, int32, float64"
                      : "float16, bfloat16, int8, uint8, float32 (tf32), float64");
}

/* Argument i, which must be a shape of matrices of the type. */
static WmmaShape wmma_shape(Call *n, int i, const WmmaType *t) {
  WmmaShape s = {.text = word(n, i)};
  for (const char *at = t->shapes; at; at = strstr(at, ", ") ? strstr(at, ", ") + 2 : NULL)
    if (strcspn(at, ",") == strlen(s.text) && str_begins(at, s.text))
      return sscanf(s.text, "m%dn%dk%d", &s.m, &s.n, &s.k), s;
  error_raisef("CompileError", n->node.span,
               "wmma has no matrices of %s of the shape %s; it has %s", dtype_text(t->t), s.text,
               t->shapes);
}

/* A thread has each element of A and B twice if they are float16. */
static PtxRegisters wmma_registers(const WmmaType *t, int rows, int columns) {
  if (!t->is_sum && str_same(t->ptx, "f16")) return (PtxRegisters){8, 'r'};
  int bits = rows * columns * t->t.bits / 32;
  if (t->t.bits == 64) return (PtxRegisters){bits / 64, 'd'};
  return (PtxRegisters){bits / 32, str_same(t->ptx, "f32") ? 'f' : 'r'};
}

const char *ptx_wmma_load(const Target *target, Call *n, char sign, const char *space,
                          PtxRegisters *out) {
  char which = *word(n, 0);
  const WmmaType *t = wmma_type(n, n->node.dtype, which == 'c');
  WmmaShape s = wmma_shape(n, 1, t);
  ptx_need_gpu(target, n, t->gpu);
  *out = wmma_registers(t, which == 'b' ? s.k : s.m, which == 'a' ? s.k : s.n);
  return str_format("wmma.load.%c.sync.aligned.%s.%s%s.%s %s, [%c%d], %c%d;", which, word(n, 2),
                    s.text, space, t->ptx, operands(sign, 0, out->n), sign, out->n, sign,
                    out->n + 1);
}

const char *ptx_wmma_store(const Target *target, Call *n, char sign, const char *space,
                           PtxRegisters *out) {
  const WmmaType *t = wmma_type(n, n->node.dtype, true);
  WmmaShape s = wmma_shape(n, 0, t);
  ptx_need_gpu(target, n, t->gpu);
  *out = wmma_registers(t, s.m, s.n);
  return str_format("wmma.store.d.sync.aligned.%s.%s%s.%s [%c0], %s, %c%d;", word(n, 1), s.text,
                    space, t->ptx, sign, operands(sign, 1, out->n), sign, out->n + 1);
}

static DataType dtype_word(Call *n, int i) {
  DataType t;
  if (dtype_parse(word(n, i), &t)) return t;
  error_raisef("CompileError", n->node.span, "argument %d of T.%s must be a dtype", i + 2,
               intrin_of(n->op)->name);
}

/* Sums of float16 are of float16 or float32, those of bfloat16 and tf32 of float32, those of
 * integers of int32, those of float64 of float64. */
static bool wmma_sums(const WmmaType *in, const WmmaType *sum) {
  if (dtype_is_int(in->t) || dtype_is_int(sum->t))
    return dtype_is_int(in->t) && dtype_is_int(sum->t);
  if (in->t.bits == 64 || sum->t.bits == 64) return in->t.bits == sum->t.bits;
  return sum->t.bits == 32 || str_same(in->ptx, "f16");
}

const char *ptx_wmma_mma(const Target *target, Call *n, char sign, PtxRegisters out[4]) {
  const WmmaType *in = wmma_type(n, dtype_word(n, 3), false),
                 *c = wmma_type(n, dtype_word(n, 4), true),
                 *d = wmma_type(n, dtype_word(n, 5), true);
  WmmaShape s = wmma_shape(n, 0, in);
  ptx_need_gpu(target, n, in->gpu);
  if (!wmma_sums(in, c) || !wmma_sums(in, d))
    error_raisef("CompileError", n->node.span, "wmma has no products of %s with sums in %s",
                 dtype_text(in->t), dtype_text(wmma_sums(in, c) ? d->t : c->t));
  out[0] = wmma_registers(in, s.m, s.k), out[1] = wmma_registers(in, s.k, s.n);
  out[2] = wmma_registers(c, s.m, s.n), out[3] = wmma_registers(d, s.m, s.n);
  const char *types = str_same(in->ptx, "f16")
                          ? str_format("%s.%s", d->ptx, c->ptx)
                          : str_format("%s.%s.%s.%s", d->ptx, in->ptx, in->ptx, c->ptx);
  int at_a = out[3].n, at_b = at_a + out[0].n, at_c = at_b + out[1].n;
  return str_format("wmma.mma.sync.aligned.%s.%s.%s.%s %s, %s, %s, %s;", word(n, 1), word(n, 2),
                    s.text, types, operands(sign, 0, out[3].n), operands(sign, at_a, out[0].n),
                    operands(sign, at_b, out[1].n), operands(sign, at_c, out[2].n));
}

/* ---- wgmma ---- */

static void need_hopper(const Target *target, Call *n) {
  const TargetGpu *gpu = target_gpu(target);
  if (gpu && str_same(gpu->name, "sm_90a")) return;
  error_raisef("CompileError", n->node.span,
               "T.%s is of sm_90a alone, but the code is made for %s: build it for \"cuda "
               "-arch=sm_90a\"",
               intrin_of(n->op)->name, gpu ? gpu->name : "another one");
}

typedef struct WgmmaType {
  const char *name, *ptx;
  int depth;          /* of a product: 32 bytes */
  const char *sum;    /* as C_dtype names it */
  bool takes_columns; /* what lies together may be along m or n */
} WgmmaType;

static const WgmmaType *wgmma_type(Call *n) {
  static const WgmmaType types[] = {{"fp16", "f16", 16, "fp32", true},
                                    {"bf16", "bf16", 16, "fp32", true},
                                    {"tf32", "tf32", 8, "fp32", false},
                                    {"int8", "s8", 32, "int32", false},
                                    {"uint8", "u8", 32, "int32", false}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (str_same(types[i].name, word(n, 1)) && str_same(types[i].sum, word(n, 2))) return &types[i];
  error_raisef("CompileError", n->node.span,
               "T.ptx_wgmma has no products of %s with sums in %s; it has fp16, bf16 and tf32 in "
               "fp32, int8 and uint8 in int32",
               word(n, 1), word(n, 2));
}

/* 0: what lies together is along k, 1: along m or n. */
static int wgmma_turned(Call *n, int i, const WgmmaType *t) {
  bool along_k = str_same(word(n, i), "k");
  if (!along_k && !str_same(word(n, i), "mn"))
    error_raisef("CompileError", n->node.span,
                 "T.ptx_wgmma: what lies together is along \"k\" or \"mn\", not \"%s\"",
                 word(n, i));
  if (!along_k && !t->takes_columns)
    error_raisef("CompileError", n->node.span, "T.ptx_wgmma: operands of %s must lie along \"k\"",
                 t->name);
  return !along_k;
}

/* All but the address: bytes between parts, and the bytes that are swizzled. */
static uint64_t wgmma_place(Call *n, int leading) {
  int64_t bytes[] = {ptx_constant(n, leading), ptx_constant(n, leading + 1)};
  int64_t swizzle = ptx_constant(n, 5);
  if (bytes[1] < 0)
    error_raisef("CompileError", n->node.span,
                 "T.ptx_wgmma: rows of an operand must be %lld bytes long", (long long)swizzle);
  for (int i = 0; i < 2; i++)
    if (bytes[i] < 0 || bytes[i] % 16 || bytes[i] >= 1 << 18)
      error_raisef("CompileError", n->node.span,
                   "T.ptx_wgmma: bytes between parts must be a multiple of 16 below 2**18, not "
                   "%lld",
                   (long long)bytes[i]);
  if (swizzle != 32 && swizzle != 64 && swizzle != 128)
    error_raisef("CompileError", n->node.span,
                 "T.ptx_wgmma: 32, 64 or 128 bytes are swizzled, not %lld", (long long)swizzle);
  uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
  return (uint64_t)bytes[0] / 16 << 16 | (uint64_t)bytes[1] / 16 << 32 | mode << 62;
}

PtxWgmma ptx_wgmma(const Target *target, Call *n, char sign, bool a_in_registers) {
  int rows = 0, columns = 0, depth = 0;
  need_hopper(target, n);
  const WgmmaType *t = wgmma_type(n);
  bool known = sscanf(word(n, 0), "m%dn%dk%d", &rows, &columns, &depth) == 3 && rows == 64 &&
               columns >= 8 && columns <= 256 && columns % 8 == 0 && depth == t->depth;
  if (!known)
    error_raisef("CompileError", n->node.span,
                 "T.ptx_wgmma: %s has the shapes m64n8k%d to m64n256k%d, not %s", t->name, t->depth,
                 t->depth, word(n, 0));
  PtxWgmma m = {.c = {columns / 2, str_same(t->sum, "fp32") ? 'f' : 'r'},
                .a_in_registers = a_in_registers,
                .b_place = wgmma_place(n, 12)};
  if (!a_in_registers) m.a_place = wgmma_place(n, 8);
  int turned_a = a_in_registers ? 0 : wgmma_turned(n, 3, t), turned_b = wgmma_turned(n, 4, t);
  int at = m.c.n, next = at + (a_in_registers ? 4 : 1);
  const char *a = a_in_registers ? operands(sign, at, 4) : str_format("%c%d", sign, at);
  Str flags = {0};
  if (m.c.kind == 'f') str_add(&flags, ", 1, 1");
  if (t->takes_columns && !a_in_registers) str_printf(&flags, ", %d", turned_a);
  if (t->takes_columns) str_printf(&flags, ", %d", turned_b);
  m.text = str_format("{\n\t.reg .pred wgmma_adds;\n\tsetp.ne.b32 wgmma_adds, 1, 0;\n\t"
                      "wgmma.mma_async.sync.aligned.%s.%s.%s.%s %s, %s, %c%d, wgmma_adds%s;\n\t}",
                      word(n, 0), m.c.kind == 'f' ? "f32" : "s32", t->ptx, t->ptx,
                      operands(sign, 0, m.c.n), a, sign, next, flags.len ? str_text(&flags) : "");
  return m;
}

const char *ptx_order(const Target *target, Call *n) {
  const char *name = intrin_of(n->op)->name;
  bool is_fence = str_same(name, "ptx_wgmma_fence"),
       is_commit = str_same(name, "ptx_wgmma_commit_group"),
       is_wait = str_same(name, "ptx_wgmma_wait_group");
  if (str_same(name, "ptx_fence_proxy_async"))
    return ptx_need_gpu(target, n, 90), "fence.proxy.async;";
  if (!is_fence && !is_commit && !is_wait) return NULL;
  need_hopper(target, n);
  if (is_wait)
    return str_format("wgmma.wait_group.sync.aligned %lld;", (long long)ptx_constant(n, 0));
  return is_fence ? "wgmma.fence.sync.aligned;" : "wgmma.commit_group.sync.aligned;";
}

/* ---- bulk copies ---- */

/* sm_90 has them, in a later PTX than the code for it has. */
static void need_bulk(const Target *target, Call *n) {
  const TargetGpu *gpu = target_gpu(target);
  if (gpu && str_same(gpu->name, "sm_90a")) return;
  error_raisef(
      "CompileError", n->node.span,
      "T.%s needs PTX 8.0, but the code is made for %s: build it for \"cuda -arch=sm_90a\"",
      intrin_of(n->op)->name, gpu ? gpu->name : "another one");
}

/* "#" stands for the sign of operands. What initializes a barrier is seen by copies, too; threads
 * see it behind a barrier of the block. */
static const struct {
  const char *name, *text;
  bool has_value;
} barrier_calls[] = {
    {"ptx_init_barrier_thread_count", "mbarrier.init.shared.b64 [#0], #1;\n\tfence.proxy.async;",
     true},
    {"ptx_arrive_barrier",
     "{\n\t.reg .b64 barrier_state;\n\tmbarrier.arrive.shared.b64 barrier_state, [#0];\n\t}",
     false},
    {"ptx_arrive_barrier_expect_tx",
     "{\n\t.reg .b64 barrier_state;\n\tmbarrier.arrive.expect_tx.shared.b64 barrier_state, [#0], "
     "#1;"
     "\n\t}",
     true},
    {"ptx_cp_async_barrier", "cp.async.mbarrier.arrive.shared.b64 [#0];", false},
    {"ptx_wait_barrier",
     "{\n\t.reg .pred barrier_done;\n@:\n\tmbarrier.try_wait.parity.shared.b64 barrier_done, [#0], "
     "#1;\n\t@!barrier_done bra @;\n\t}",
     true}};

/* Labels are of the braces around them, but LLVM may write a text twice, and names them apart. */
static const char *barrier_text(const char *text, char sign) {
  Str s = {0};
  for (; *text; text++)
    if (*text == '#') str_add_char(&s, sign);
    else if (*text == '@' && text[1] != '!') str_add(&s, sign == '$' ? "$$again${:uid}" : "again");
    else str_add_char(&s, *text);
  return str_text(&s);
}

const char *ptx_barrier(const Target *target, Call *n, char sign, bool *has_value) {
  const char *name = intrin_of(n->op)->name;
  need_bulk(target, n);
  for (size_t i = 0; i < sizeof barrier_calls / sizeof *barrier_calls; i++)
    if (str_same(barrier_calls[i].name, name))
      return *has_value = barrier_calls[i].has_value, barrier_text(barrier_calls[i].text, sign);
  return NULL;
}

const char *ptx_bulk_copy(const Target *target, Call *n, char sign) {
  int64_t nbytes;
  need_bulk(target, n);
  if (expr_is_const_int(n->args.at[4], &nbytes) && (nbytes < 16 || nbytes % 16))
    error_raisef("CompileError", n->node.span,
                 "T.ptx_cp_async_bulk copies a multiple of 16 bytes, not %lld", (long long)nbytes);
  return barrier_text(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [#0], [#1], "
      "#2, [#3];",
      sign);
}
