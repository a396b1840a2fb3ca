/* llvm_intrin.c -- the meaning of the LLVM intrinsics that tensor intrinsics use: multiply-adds,
 * and dot products of small integers inside wider lanes. */
#include "target/interp/interp.h"
#include <math.h>

/* ---- multiply-adds ---- */

static Scalar fused_multiply_add(const Code *c, const Scalar *x) {
  if (c->t.bits == 64) return (Scalar){.d = fma(x[0].d, x[1].d, x[2].d)};
  return (Scalar){.s = fmaf(x[0].s, x[1].s, x[2].s)};
}

/* ---- dot products ---- */

/* out[i] = c[i] + sum over k < group of a[i, k] * b[i, k], where a and b are what the bits of the
 * operands are as these elements. */
typedef struct Dot {
  const char *prefix; /* of the name; widths follow */
  int group;
  DataType a, b;
  bool adds; /* has c, the first operand */
} Dot;

static const Dot dots[] = {
    {"llvm.x86.avx512.vpdpbusd.", 4, {DTYPE_UINT, 8, 1}, {DTYPE_INT, 8, 1}, true},
    {"llvm.x86.avx512.vpdpwssd.", 2, {DTYPE_INT, 16, 1}, {DTYPE_INT, 16, 1}, true},
    {"llvm.x86.avx512.pmaddw.d.", 2, {DTYPE_INT, 16, 1}, {DTYPE_INT, 16, 1}, false},
    {"llvm.x86.avx2.pmadd.wd", 2, {DTYPE_INT, 16, 1}, {DTYPE_INT, 16, 1}, false},
    {"llvm.x86.sse2.pmadd.wd", 2, {DTYPE_INT, 16, 1}, {DTYPE_INT, 16, 1}, false},
    {"llvm.aarch64.neon.sdot.", 4, {DTYPE_INT, 8, 1}, {DTYPE_INT, 8, 1}, true},
    {"llvm.aarch64.neon.udot.", 4, {DTYPE_UINT, 8, 1}, {DTYPE_UINT, 8, 1}, true},
};

typedef struct DotCode {
  Code code;
  const Dot *dot;
  const Code *c, *a, *b; /* c: NULL if there is none */
} DotCode;

/* The lanes of an operand as elements of t. */
static void elements_of(const Code *operand, Frame *f, DataType t, int n, Scalar *out) {
  DataType from = operand->t;
  LANES(lanes, from.lanes);
  code_lanes(operand, f, from.lanes, lanes);
  char *bytes = NEW_BYTES(from.lanes * scalar_nbytes(from));
  Store *store = scalar_store(from);
  Load *load = scalar_load(t);
  for (int i = 0; i < from.lanes; i++) store(bytes + i * scalar_nbytes(from), lanes[i]);
  for (int i = 0; i < n; i++) out[i] = load(bytes + i * scalar_nbytes(t));
}

static void lanes_dot(const Code *code, Frame *f, Scalar *out) {
  const DotCode *n = (const DotCode *)code;
  int lanes = code->t.lanes, group = n->dot->group;
  LANES(a, lanes * group);
  LANES(b, lanes * group);
  elements_of(n->a, f, n->dot->a, lanes * group, a);
  elements_of(n->b, f, n->dot->b, lanes * group, b);
  for (int i = 0; i < lanes; i++) out[i] = scalar_int(0);
  if (n->c) code_lanes(n->c, f, lanes, out);
  for (int i = 0; i < lanes; i++) {
    for (int k = 0; k < group; k++) out[i].i += a[i * group + k].i * b[i * group + k].i;
    out[i] = scalar_int(dtype_wrap_int(code->t, out[i].i));
  }
}

static const Code *compile_dot(Compiler *c, Call *n, const Dot *dot, int first, const char *name) {
  int count = n->args.len - first;
  DataType t = n->node.dtype;
  if (count != 2 + dot->adds)
    fault(c->span, "%s takes %d operands, %d given", name, 2 + dot->adds, count);
  if (t.bits != 32 || t.lanes < 2)
    fault(c->span, "%s gives a vector of 32 bits a lane, not %s", name, dtype_text(t));
  const Code *operands[3];
  for (int i = 0; i < count; i++) {
    DataType of = (operands[i] = compile_expr(c, n->args.at[first + i]))->t;
    if (!dtype_is_int(of) || of.bits * of.lanes != t.bits * t.lanes)
      fault(c->span, "%s: %s is no vector of that size", name, dtype_text(of));
  }
  const Code **ab = operands + dot->adds;
  return &NEW(DotCode, .code = {NULL, lanes_dot, t, c->span}, .dot = dot,
              .c = dot->adds ? operands[0] : NULL, .a = ab[0], .b = ab[1])
              ->code;
}

/* Older text has the number of operands, as a constant, before them. */
static int first_operand(const Call *n) {
  bool counted = n->args.len > 2 && IS(IntImm, n->args.at[1]) &&
                 AS(IntImm, n->args.at[1])->value == n->args.len - 2;
  return counted ? 2 : 1;
}

const Code *compile_llvm_intrin(Compiler *c, Call *n) {
  const char *name = compile_text_arg(c, n);
  int first = first_operand(n);
  for (int i = 0; i < (int)(sizeof dots / sizeof *dots); i++)
    if (strncmp(name, dots[i].prefix, strlen(dots[i].prefix)) == 0)
      return compile_dot(c, n, &dots[i], first, name);
  bool is_fma = strncmp(name, "llvm.fma", 8) == 0 && (name[8] == '.' || !name[8]);
  DataType t = n->node.dtype;
  if (!is_fma || !dtype_is_float(t) || t.bits < 32 || n->args.len - first != 3)
    unsupported(c->span, str_format("the LLVM intrinsic '%s'", name));
  const Code *args[3];
  for (int i = 0; i < 3; i++) args[i] = compile_as(c, n->args.at[first + i], t);
  return code_lanewise(t, c->span, fused_multiply_add, 3, args);
}
