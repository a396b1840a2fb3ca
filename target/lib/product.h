/* product.h -- a product of matrices as the shims of BLAS libraries get it: the last two dims of
 * both operands, those before them as batches, which broadcast. A swapped operand has its last two
 * dims transposed. */
#ifndef TARGET_LIB_PRODUCT_H
#define TARGET_LIB_PRODUCT_H

#include "target/lib/shim_args.h"
#include <limits.h>

typedef struct ShimProduct {
  const DLTensor *a, *b, *out;
  int64_t m, n, k, batches; /* of the result */
  bool swap_a, swap_b;
} ShimProduct;

static inline bool shim_broadcasts(const DLTensor *t, const DLTensor *out) {
  for (int d = out->ndim - 3, e = t->ndim - 3; e >= 0; d--, e--)
    if (d < 0 || (t->shape[e] != 1 && t->shape[e] != out->shape[d])) return false;
  return true;
}

/* Reads the dims of p->a, p->b, p->out, which are compact, as swap_a and swap_b say. Many batches
 * of rows by one matrix become one product. -1 and an error if they do not fit. */
static inline int shim_product_read(const char *function, ShimProduct *p) {
  const DLTensor *a = p->a, *b = p->b, *out = p->out;
  if (a->ndim < 2 || b->ndim < 2 || out->ndim < 2)
    return tvms_set_error("%s: the operands must have two dims or more", function);
  p->m = a->shape[a->ndim - (p->swap_a ? 1 : 2)];
  p->k = a->shape[a->ndim - (p->swap_a ? 2 : 1)];
  p->n = out->shape[out->ndim - 1];
  p->batches = shim_product(out->shape, out->ndim - 2);
  int64_t kb = b->shape[b->ndim - (p->swap_b ? 1 : 2)];
  int64_t nb = b->shape[b->ndim - (p->swap_b ? 2 : 1)];
  if (out->shape[out->ndim - 2] != p->m || nb != p->n || kb != p->k || !shim_broadcasts(a, out) ||
      !shim_broadcasts(b, out))
    return tvms_set_error("%s: the dims of the operands and of the result do not fit", function);
  if (p->m > INT_MAX || p->n > INT_MAX || p->k > INT_MAX)
    return tvms_set_error("%s: a dim is above %d, which the library does not take", function,
                          INT_MAX);
  bool rows_only = shim_product(b->shape, b->ndim - 2) == 1 && !p->swap_a &&
                   shim_product(a->shape, a->ndim - 2) == p->batches;
  if (rows_only && p->m * p->batches <= INT_MAX) p->m *= p->batches, p->batches = 1;
  return 0;
}

/* Which matrix of an operand belongs to matrix `i` of the result. */
static inline int64_t shim_matrix_of(const DLTensor *t, const DLTensor *out, int64_t i) {
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

#endif
