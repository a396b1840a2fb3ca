/* openblas.c -- the shim of OpenBLAS, and of any library with the functions of CBLAS.
 *
 * openblas.matmul(a, b, transpose_a, transpose_b, out): products of float32 or float64 matrices,
 * the last two dims; those before them are batches, which broadcast. A transposed operand has its
 * last two dims swapped. */
#include "target/lib/product.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };

static void (*cblas_sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                           const float *a, int lda, const float *b, int ldb, float beta, float *c,
                           int ldc);
static void (*cblas_dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                           const double *a, int lda, const double *b, int ldb, double beta,
                           double *c, int ldc);

static int at_least_1(int64_t n) { return n > 0 ? (int)n : 1; }

static void multiply(const ShimProduct *p, const void *a, const void *b, void *c) {
  int m = (int)p->m, n = (int)p->n, k = (int)p->k, ta = p->swap_a ? TRANS : NO_TRANS,
      tb = p->swap_b ? TRANS : NO_TRANS, lda = at_least_1(p->swap_a ? p->m : p->k),
      ldb = at_least_1(p->swap_b ? p->k : p->n), ldc = at_least_1(p->n);
  if (p->out->dtype.bits == 64)
    cblas_dgemm(ROW_MAJOR, ta, tb, m, n, k, 1.0, a, lda, b, ldb, 0.0, c, ldc);
  else cblas_sgemm(ROW_MAJOR, ta, tb, m, n, k, 1.0f, a, lda, b, ldb, 0.0f, c, ldc);
}

static void multiply_all(const ShimProduct *p, size_t bytes) {
  const char *x = shim_data(p->a), *y = shim_data(p->b);
  char *z = shim_data(p->out);
  for (int64_t i = 0; i < p->batches; i++) {
    size_t a = (size_t)(shim_matrix_of(p->a, p->out, i) * p->m * p->k);
    size_t b = (size_t)(shim_matrix_of(p->b, p->out, i) * p->k * p->n);
    multiply(p, x + a * bytes, y + b * bytes, z + (size_t)(i * p->m * p->n) * bytes);
  }
}

static int matmul(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                  int *ret_type) {
  (void)self, (void)ret, (void)ret_type;
  ShimArgs s = {"openblas.matmul", args, types, n};
  if (n != 5) return tvms_set_error("%s takes 5 arguments, %d given", s.function, n);
  ShimProduct p = {.a = shim_tensor(&s, 0), .b = shim_tensor(&s, 1), .out = shim_tensor(&s, 4)};
  if (!p.a || !p.b || !p.out) return -1;
  int bits = p.out->dtype.bits;
  if (!shim_is_float(p.a, bits) || !shim_is_float(p.b, bits) || !shim_is_float(p.out, bits) ||
      (bits != 32 && bits != 64))
    return tvms_set_error("%s: all tensors must be float32, or all float64", s.function);
  p.swap_a = shim_int(&s, 2), p.swap_b = shim_int(&s, 3);
  if (shim_product_read(s.function, &p)) return -1;
  size_t size = (size_t)shim_product(p.out->shape, p.out->ndim), bytes = (size_t)bits / 8;
  if (p.k == 0) memset(shim_data(p.out), 0, size * bytes);
  else if (size) multiply_all(&p, bytes);
  return 0;
}

static const TvmsShimSymbol symbols[] = {
    {"cblas_sgemm", &cblas_sgemm}, {"cblas_dgemm", &cblas_dgemm}, {NULL, NULL}};
static const TvmsShimFunction functions[] = {{"openblas.matmul", matmul}, {NULL, NULL}};

SHIM_EXPORT = {TVMS_ABI_VERSION,
               "openblas",
               "libopenblas.so.0",
               "Debian has it in the package libopenblas0",
               symbols,
               functions,
               NULL,
               0};
