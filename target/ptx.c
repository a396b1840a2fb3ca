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
