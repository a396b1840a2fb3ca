/* matmul.c -- matrix products: a @ b, dot, outer. Floats accumulate in double, ints in 64 bits. */
#include "lang/builtin/tensor/tensor_impl.h"

/* Rows of a matrix view as numbers of one kind, compact. */
static void load_matrix(const View *v, bool real, void *out) {
  int64_t rows = v->shape[0], columns = v->shape[1];
  int size = dtype_nbytes(v->dtype);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j += INT16_MAX) {
      int n = columns - j < INT16_MAX ? (int)(columns - j) : INT16_MAX;
      const char *at = v->data + (i * v->strides[0] + j * v->strides[1]) * size;
      if (real) load_reals(v->dtype, at, v->strides[1], n, (double *)out + i * columns + j);
      else load_ints(v->dtype, at, v->strides[1], n, (int64_t *)out + i * columns + j);
    }
}

/* out[i, :] += a[i, k] * b[k, :], so that the inner loop runs along rows. */
static void multiply_reals(int64_t m, int64_t k, int64_t n, const double *a, const double *b,
                           double *out) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t p = 0; p < k; p++) {
      double x = a[i * k + p];
      const double *row = b + p * n;
      double *to = out + i * n;
      for (int64_t j = 0; j < n; j++) to[j] += x * row[j];
    }
}
static void multiply_ints(int64_t m, int64_t k, int64_t n, const uint64_t *a, const uint64_t *b,
                          uint64_t *out) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t p = 0; p < k; p++)
      for (int64_t j = 0; j < n; j++) out[i * n + j] += a[i * k + p] * b[p * n + j];
}

static void store_matrix(const View *to, bool real, const void *from) {
  int64_t rows = to->shape[0], columns = to->shape[1];
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j += INT16_MAX) {
      int n = columns - j < INT16_MAX ? (int)(columns - j) : INT16_MAX;
      char *at = to->data + (i * to->strides[0] + j * to->strides[1]) * dtype_nbytes(to->dtype);
      if (real)
        store_reals(to->dtype, at, to->strides[1], n, (const double *)from + i * columns + j);
      else store_ints(to->dtype, at, to->strides[1], n, (const int64_t *)from + i * columns + j);
    }
}

/* A bool product is "any of both". */
static void product(const View *out, const View *a, const View *b) {
  int64_t m = a->shape[0], k = a->shape[1], n = b->shape[1];
  bool real = is_real(out->dtype);
  size_t size = sizeof(double);
  void *x = NEW_BYTES(size * (size_t)(m * k) + 1), *y = NEW_BYTES(size * (size_t)(k * n) + 1);
  void *z = NEW_BYTES(size * (size_t)(m * n) + 1);
  load_matrix(a, real, x);
  load_matrix(b, real, y);
  if (real) multiply_reals(m, k, n, x, y, z);
  else multiply_ints(m, k, n, x, y, z);
  store_matrix(out, real, z);
}

static View matrix_of(const View *v, const int64_t *index) {
  View m = {.dtype = v->dtype, .ndim = 2, .data = v->data, .owner = v->owner};
  int batch = v->ndim - 2;
  int64_t offset = 0;
  for (int i = 0; i < batch; i++) offset += index[i] * v->strides[i];
  m.data += offset * dtype_nbytes(v->dtype);
  memcpy(m.shape, v->shape + batch, sizeof *m.shape * 2);
  memcpy(m.strides, v->strides + batch, sizeof *m.strides * 2);
  return m;
}

/* A vector becomes a matrix of one row (left) or one column (right). */
static void as_matrix(View *v, bool left) {
  if (v->ndim != 1) return;
  int at = left ? 1 : 0;
  int64_t extent = v->shape[0], stride = v->strides[0];
  v->ndim = 2;
  v->shape[at] = extent, v->strides[at] = stride;
  v->shape[1 - at] = 1, v->strides[1 - at] = 0;
}

static Value drop_dim(Value t, int dim, Span span) {
  View v = view_of(t);
  memmove(v.shape + dim, v.shape + dim + 1, sizeof *v.shape * (size_t)(v.ndim - dim - 1));
  return tensor_reshaped(t, v.ndim - 1, v.shape, span);
}

Value tensor_matmul(Value a, Value b, Span span) {
  View x = view_of(tensor_of(a, span)), y = view_of(tensor_of(b, span));
  bool row = x.ndim == 1, column = y.ndim == 1;
  if (!x.ndim || !y.ndim)
    raise("ValueError", span, "matmul() needs a dimension in both operands: use *");
  const char *left = dims_text(x.ndim, x.shape), *right = dims_text(y.ndim, y.shape);
  as_matrix(&x, true);
  as_matrix(&y, false);
  if (x.shape[x.ndim - 1] != y.shape[y.ndim - 2])
    raise_code(E0236, span,
               "matmul() of shapes %s and %s: %lld columns on the left, %lld rows on the right",
               left, right, (long long)x.shape[x.ndim - 1], (long long)y.shape[y.ndim - 2]);
  View p = x, q = y, shape = {0};
  p.ndim -= 2;
  q.ndim -= 2;
  broadcast_shapes(&p, &q, &shape, span);
  int batch = shape.ndim;
  int64_t full[MAX_DIMS];
  memcpy(full, shape.shape, sizeof full);
  full[batch] = x.shape[x.ndim - 2], full[batch + 1] = x.shape[x.ndim - 1];
  view_broadcast(&x, batch + 2, full, "the left operand", span);
  full[batch] = y.shape[y.ndim - 2], full[batch + 1] = y.shape[y.ndim - 1];
  view_broadcast(&y, batch + 2, full, "the right operand", span);
  full[batch] = x.shape[batch];
  Value out = tensor_new(promote(x.dtype, y.dtype), batch + 2, full, span);
  View to = view_of(out);
  int64_t index[MAX_DIMS] = {0}, n = view_size(&shape);
  for (int64_t i = 0; i < n; i++) {
    View l = matrix_of(&x, index), r = matrix_of(&y, index), o = matrix_of(&to, index);
    product(&o, &l, &r);
    for (int d = batch; d-- > 0 && ++index[d] == shape.shape[d];) index[d] = 0;
  }
  if (column) out = drop_dim(out, batch + 1, span);
  return tensor_as_scalar(row ? drop_dim(out, batch, span) : out);
}

static Value np_matmul(BuiltinCall *c) { return tensor_matmul(c->args[0], c->args[1], c->span); }

/* As matmul up to two dimensions; else over the last of a and the last but one of b. */
static Value np_dot(BuiltinCall *c) {
  Value a = tensor_of(c->args[0], c->spans[0]), b = tensor_of(c->args[1], c->spans[1]);
  View x = view_of(a), y = view_of(b);
  if (!x.ndim || !y.ndim) return value_binary(AST_MUL, a, b, c->span);
  if (y.ndim > 2)
    raise("ValueError", c->spans[1],
          "dot() takes a right operand of at most two dimensions: use matmul()");
  if (x.ndim <= 2) return tensor_matmul(a, b, c->span);
  int64_t flat[] = {view_size(&x) / (x.shape[x.ndim - 1] ? x.shape[x.ndim - 1] : 1),
                    x.shape[x.ndim - 1]};
  Value out = tensor_matmul(tensor_reshaped(a, 2, flat, c->span), b, c->span);
  int64_t shape[MAX_DIMS];
  memcpy(shape, x.shape, sizeof shape);
  if (y.ndim == 2) shape[x.ndim - 1] = y.shape[1];
  return tensor_reshaped(out, y.ndim == 2 ? x.ndim : x.ndim - 1, shape, c->span);
}

static Value np_outer(BuiltinCall *c) {
  View x = view_of(tensor_of(c->args[0], c->spans[0])),
       y = view_of(tensor_of(c->args[1], c->spans[1]));
  x = view_of(tensor_copied(&x, c->span));
  y = view_of(tensor_copied(&y, c->span));
  x.shape[0] = view_size(&x), x.shape[1] = 1, x.strides[0] = 1, x.strides[1] = 0, x.ndim = 2;
  y.shape[1] = view_size(&y), y.shape[0] = 1, y.strides[1] = 1, y.strides[0] = 0, y.ndim = 2;
  return value_binary(AST_MUL, tensor_copied(&x, c->span), tensor_copied(&y, c->span), c->span);
}

static const Builtin rows[] = {
    {"matmul", "x1, x2, /", np_matmul, "the product of matrices, over leading dimensions"},
    {"dot", "a, b", np_dot, "the product of vectors and matrices"},
    {"outer", "a, b", np_outer, "all products of an element of each"},
};
const BuiltinRows matmul_rows = {rows, sizeof rows / sizeof *rows};
