/* openblas.c -- the shim of OpenBLAS, and of any library with the functions of CBLAS.
 *
 * openblas.matmul(a, b, transpose_a, transpose_b, out): products of float32 or float64 matrices,
 * the last two dims; those before them are batches, which broadcast. A transposed operand has its
 * last two dims swapped. */
#include "target/lib/shim_args.h"
#include <limits.h>

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };

static void (*cblas_sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                           const float *a, int lda, const float *b, int ldb, float beta, float *c,
                           int ldc);
static void (*cblas_dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                           const double *a, int lda, const double *b, int ldb, double beta,
                           double *c, int ldc);

typedef struct Product {
  int64_t m, n, k;
  bool swap_a, swap_b;
  bool is_double;
} Product;

static int at_least_1(int64_t n) { return n > 0 ? (int)n : 1; }

static void multiply(const Product *p, const void *a, const void *b, void *c) {
  int m = (int)p->m, n = (int)p->n, k = (int)p->k, ta = p->swap_a ? TRANS : NO_TRANS,
      tb = p->swap_b ? TRANS : NO_TRANS, lda = at_least_1(p->swap_a ? p->m : p->k),
      ldb = at_least_1(p->swap_b ? p->k : p->n), ldc = at_least_1(p->n);
  if (p->is_double) cblas_dgemm(ROW_MAJOR, ta, tb, m, n, k, 1.0, a, lda, b, ldb, 0.0, c, ldc);
  else cblas_sgemm(ROW_MAJOR, ta, tb, m, n, k, 1.0f, a, lda, b, ldb, 0.0f, c, ldc);
}

/* Which matrix of an operand belongs to matrix `i` of the result, whose batches broadcast. */
static int64_t matrix_of(const DLTensor *t, const DLTensor *out, int64_t i) {
  int64_t index = 0, step = 1;
  for (int d = out->ndim - 3, e = t->ndim - 3; d >= 0; d--, e--) {
    int64_t at = i % out->shape[d];
    i /= out->shape[d];
    if (e < 0) continue;
    if (t->shape[e] > 1) index += at * step;
    step *= t->shape[e];
  }
  return index;
}

static void multiply_all(Product *p, const DLTensor *a, const DLTensor *b, const DLTensor *out) {
  int64_t batches = shim_product(out->shape, out->ndim - 2);
  bool rows_only = shim_product(b->shape, b->ndim - 2) == 1 && !p->swap_a &&
                   shim_product(a->shape, a->ndim - 2) == batches && p->m * batches <= INT_MAX;
  if (rows_only) p->m *= batches, batches = 1; /* one matrix of many rows */
  size_t bytes = p->is_double ? sizeof(double) : sizeof(float);
  const char *x = shim_data(a), *y = shim_data(b);
  char *z = shim_data(out);
  for (int64_t i = 0; i < batches; i++) {
    size_t ia = (size_t)(matrix_of(a, out, i) * p->m * p->k);
    size_t ib = (size_t)(matrix_of(b, out, i) * p->k * p->n);
    multiply(p, x + ia * bytes, y + ib * bytes, z + (size_t)(i * p->m * p->n) * bytes);
  }
}

static bool broadcasts(const DLTensor *t, const DLTensor *out) {
  for (int d = out->ndim - 3, e = t->ndim - 3; e >= 0; d--, e--)
    if (d < 0 || (t->shape[e] != 1 && t->shape[e] != out->shape[d])) return false;
  return true;
}

static int check_operands(const char *name, const Product *p, const DLTensor *a, const DLTensor *b,
                          const DLTensor *out) {
  int64_t kb = b->shape[b->ndim - (p->swap_b ? 1 : 2)];
  int64_t nb = b->shape[b->ndim - (p->swap_b ? 2 : 1)];
  int bits = out->dtype.bits;
  if (!shim_is_float(a, bits) || !shim_is_float(b, bits) || !shim_is_float(out, bits) ||
      (bits != 32 && bits != 64))
    return tvms_set_error("%s: all tensors must be float32, or all float64", name);
  if (out->shape[out->ndim - 2] != p->m || nb != p->n || kb != p->k || !broadcasts(a, out) ||
      !broadcasts(b, out))
    return tvms_set_error("%s: the dims of the operands and of the result do not fit", name);
  if (p->m > INT_MAX || p->n > INT_MAX || p->k > INT_MAX)
    return tvms_set_error("%s: a dim is above %d, which CBLAS does not take", name, INT_MAX);
  return 0;
}

static int matmul(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                  int *ret_type) {
  (void)self, (void)ret, (void)ret_type;
  ShimArgs s = {"openblas.matmul", args, types, n};
  if (n != 5) return tvms_set_error("%s takes 5 arguments, %d given", s.function, n);
  const DLTensor *a = shim_tensor(&s, 0), *b = shim_tensor(&s, 1), *out = shim_tensor(&s, 4);
  if (!a || !b || !out) return -1;
  if (a->ndim < 2 || b->ndim < 2 || out->ndim < 2)
    return tvms_set_error("%s: the operands must have two dims or more", s.function);
  Product p = {.swap_a = shim_int(&s, 2), .swap_b = shim_int(&s, 3)};
  p.m = a->shape[a->ndim - (p.swap_a ? 1 : 2)];
  p.k = a->shape[a->ndim - (p.swap_a ? 2 : 1)];
  p.n = out->shape[out->ndim - 1];
  p.is_double = out->dtype.bits == 64;
  if (check_operands(s.function, &p, a, b, out)) return -1;
  size_t size = (size_t)shim_product(out->shape, out->ndim);
  if (p.k == 0) memset(shim_data(out), 0, size * (p.is_double ? sizeof(double) : sizeof(float)));
  else if (size) multiply_all(&p, a, b, out);
  return 0;
}

static const TvmsShimSymbol symbols[] = {
    {"cblas_sgemm", &cblas_sgemm}, {"cblas_dgemm", &cblas_dgemm}, {NULL, NULL}};
static const TvmsShimFunction functions[] = {{"openblas.matmul", matmul}, {NULL, NULL}};

SHIM_EXPORT = {TVMS_ABI_VERSION, "openblas", "libopenblas.so.0", "libopenblas0", symbols,
               functions,        NULL};
