/* operators.c -- packed functions of operators that no tensor program computes: of shapes, of what
 * a tensor is, and of slices whose sizes lie in tensors. */
#include "target/runtime/operators.h"
#include <stdlib.h>
#include <string.h>

/* ---- arguments and results ---- */

static const DLTensor *tensor_or_null(const OperatorCall *c, int i) {
  bool is_tensor = i < c->n && (c->types[i] == TVMS_TENSOR || c->types[i] == TVMS_DLTENSOR);
  return is_tensor ? c->args[i].p : NULL;
}

const DLTensor *tvms__operand(const OperatorCall *c, int i, TvmsTensor **own) {
  const DLTensor *t = tensor_or_null(c, i);
  TvmsTensor *view = NULL;
  *own = NULL;
  if (!t)
    return tvms_set_error("%s: operand %d must be a tensor, found %s", c->name, i + 1,
                          i < c->n ? tvms__type_text(c->types[i]) : "nothing"),
           NULL;
  if (t->device.device_type != kDLCPU)
    return tvms_set_error("%s: operand %d must lie on the CPU", c->name, i + 1), NULL;
  if (tvms__dl_is_compact(t)) return t;
  int status = tvms_tensor_view(&view, t);
  if (!status) status = tvms_tensor_copy(own, view);
  tvms_release(view);
  return status ? NULL : tvms_tensor_dl(*own);
}

static const TvmsShape *shape_operand(const OperatorCall *c, int i) {
  if (i < c->n && c->types[i] == TVMS_SHAPE) return c->args[i].p;
  tvms_set_error("%s: operand %d must be a shape, found %s", c->name, i + 1,
                 i < c->n ? tvms__type_text(c->types[i]) : "nothing");
  return NULL;
}

static int give_int(OperatorCall *c, int64_t value) {
  c->ret->i = value;
  *c->ret_type = TVMS_INT;
  return 0;
}

static int give(OperatorCall *c, int type, int status, void *object) {
  if (status) return -1;
  c->ret->p = object;
  *c->ret_type = type;
  return 0;
}

const void *tvms__operand_data(const DLTensor *t) { return (const char *)t->data + t->byte_offset; }

/* ---- shapes ---- */

static int shape_of(OperatorCall *c) {
  const DLTensor *t = tensor_or_null(c, 0);
  TvmsShape *s = NULL;
  if (!t) return tvms_set_error("%s: the operand must be a tensor", c->name);
  int status = tvms_shape_new(&s, t->ndim, t->shape);
  return give(c, TVMS_SHAPE, status, s);
}

static int tensor_to_shape(OperatorCall *c) {
  TvmsTensor *own;
  TvmsShape *s = NULL;
  const DLTensor *t = tvms__operand(c, 0, &own);
  if (!t) return -1;
  bool fits =
      t->ndim == 1 && t->dtype.code == kDLInt && t->dtype.bits == 64 && t->shape[0] <= INT32_MAX;
  int status = fits ? tvms_shape_new(&s, (int)t->shape[0], tvms__operand_data(t))
                    : tvms_set_error("%s: the operand must be a vector of int64", c->name);
  tvms_release(own);
  return give(c, TVMS_SHAPE, status, s);
}

static int new_int64(TvmsTensor **out, int ndim, const int64_t *dims) {
  return tvms_tensor_new(out, ndim, dims, (DLDataType){kDLInt, 64, 1});
}

static int shape_to_tensor(OperatorCall *c) {
  const TvmsShape *s = shape_operand(c, 0);
  TvmsTensor *t = NULL;
  if (!s) return -1;
  int64_t n = tvms_shape_ndim(s);
  int status = new_int64(&t, 1, &n);
  if (!status && n) memcpy(tvms_tensor_data(t), tvms_shape_dims(s), (size_t)n * sizeof n);
  return give(c, TVMS_TENSOR, status, t);
}

static int shape_equals(OperatorCall *c) {
  const TvmsShape *a = shape_operand(c, 0), *b = a ? shape_operand(c, 1) : NULL;
  TvmsTensor *t = NULL;
  if (!b) return -1;
  int n = tvms_shape_ndim(a);
  bool same = n == tvms_shape_ndim(b);
  for (int i = 0; i < n && same; i++) same = tvms_shape_dims(a)[i] == tvms_shape_dims(b)[i];
  int status = tvms_tensor_new(&t, 0, NULL, (DLDataType){kDLBool, 8, 1});
  if (!status) *(uint8_t *)tvms_tensor_data(t) = same;
  return give(c, TVMS_TENSOR, status, t);
}

static int null_value(OperatorCall *c) {
  *c->ret_type = TVMS_NONE;
  return 0;
}

/* ---- what a tensor is ---- */

enum { NDIM, DTYPE_CODE, DTYPE_BITS, DTYPE_LANES };

static int inspect(OperatorCall *c, int what) {
  const DLTensor *t = tensor_or_null(c, 0);
  if (!t) return tvms_set_error("%s: the operand must be a tensor", c->name);
  return give_int(c, what == NDIM         ? t->ndim
                     : what == DTYPE_CODE ? t->dtype.code
                     : what == DTYPE_BITS ? t->dtype.bits
                                          : t->dtype.lanes);
}
static int tensor_ndim(OperatorCall *c) { return inspect(c, NDIM); }
static int dtype_code(OperatorCall *c) { return inspect(c, DTYPE_CODE); }
static int dtype_bits(OperatorCall *c) { return inspect(c, DTYPE_BITS); }
static int dtype_lanes(OperatorCall *c) { return inspect(c, DTYPE_LANES); }

int tvms__operand_axis(const OperatorCall *c, int i, int ndim) {
  int64_t axis =
      i < c->n && (c->types[i] == TVMS_INT || c->types[i] == TVMS_BOOL) ? c->args[i].i : 0;
  if (axis >= -ndim && axis < ndim) return (int)(axis < 0 ? axis + ndim : axis);
  return tvms_set_error("%s: the tensor has %d dims, no axis %lld", c->name, ndim, (long long)axis);
}

static int shape_i(OperatorCall *c) {
  const DLTensor *t = tensor_or_null(c, 0);
  if (!t) return tvms_set_error("%s: the first operand must be a tensor", c->name);
  int axis = tvms__operand_axis(c, 1, t->ndim);
  return axis < 0 ? -1 : give_int(c, t->shape[axis]);
}

static int stride_i(OperatorCall *c) {
  const DLTensor *t = tensor_or_null(c, 0);
  int64_t stride = 1;
  if (!t) return tvms_set_error("%s: the first operand must be a tensor", c->name);
  int axis = tvms__operand_axis(c, 1, t->ndim);
  for (int i = axis + 1; axis >= 0 && i < t->ndim; i++) stride *= t->shape[i];
  return axis < 0 ? -1 : give_int(c, stride);
}

/* ---- slices ---- */

typedef struct Slice {
  int64_t begin, step, count;
  size_t stride; /* bytes from one index of the tensor's axis to the next */
} Slice;

static int64_t clamp(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x > high ? high : x;
}

/* begin:end:step of so many elements, as Python reads it; step is not 0. */
static Slice slice_of(int64_t extent, int64_t begin, int64_t end, int64_t step) {
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  begin = clamp(begin < 0 ? begin + extent : begin, low, high);
  end = clamp(end < 0 ? end + extent : end, low, high);
  int64_t room = step > 0 ? end - begin : begin - end;
  uint64_t size = step > 0 ? (uint64_t)step : -(uint64_t)step;
  return (Slice){begin, step, room > 0 ? (int64_t)(((uint64_t)room - 1) / size) + 1 : 0, 0};
}

/* The elements of slices[0, n), the last one's at once where they lie side by side. */
static char *copy_slices(char *to, const char *from, const Slice *slices, int n, size_t element) {
  if (n == 0) return memcpy(to, from, element), to + element;
  from += (size_t)slices->begin * slices->stride;
  if (n == 1 && slices->step == 1) {
    size_t nbytes = (size_t)slices->count * element;
    return memcpy(to, from, nbytes), to + nbytes;
  }
  for (int64_t i = 0; i < slices->count; i++)
    to = copy_slices(to, from + (ptrdiff_t)(i * slices->step) * (ptrdiff_t)slices->stride,
                     slices + 1, n - 1, element);
  return to;
}

enum { MOST_DIMS = 64 };

static int cut(OperatorCall *c, const DLTensor *t, const DLTensor *const *bounds) {
  Slice slices[MOST_DIMS];
  int64_t dims[MOST_DIMS];
  TvmsTensor *out = NULL;
  for (int b = 0; b < 3; b++)
    if (bounds[b]->ndim != 1 || bounds[b]->shape[0] != t->ndim || bounds[b]->dtype.code != kDLInt ||
        bounds[b]->dtype.bits != 64)
      return tvms_set_error(
          "%s: begin, end and strides must be vectors of %d int64, one for each dim", c->name,
          t->ndim);
  const int64_t *begin = tvms__operand_data(bounds[0]), *end = tvms__operand_data(bounds[1]),
                *step = tvms__operand_data(bounds[2]);
  for (int i = 0; i < t->ndim; i++) {
    if (!step[i]) return tvms_set_error("%s: the stride of axis %d is zero", c->name, i);
    slices[i] = slice_of(t->shape[i], begin[i], end[i], step[i]);
    dims[i] = slices[i].count;
  }
  size_t element = tvms__dtype_element_bytes(t->dtype), stride = element;
  for (int i = t->ndim - 1; i >= 0; i--) slices[i].stride = stride, stride *= (size_t)t->shape[i];
  if (tvms_tensor_new(&out, t->ndim, dims, t->dtype)) return -1;
  if (tvms_tensor_size(out))
    copy_slices(tvms_tensor_data(out), tvms__operand_data(t), slices, t->ndim, element);
  return give(c, TVMS_TENSOR, 0, out);
}

static int dynamic_strided_slice(OperatorCall *c) {
  TvmsTensor *own[4] = {NULL};
  const DLTensor *t[4] = {NULL};
  int status = 0;
  for (int i = 0; i < 4 && !status; i++) status = (t[i] = tvms__operand(c, i, &own[i])) ? 0 : -1;
  if (!status) status = cut(c, t[0], t + 1);
  for (int i = 0; i < 4; i++) tvms_release(own[i]);
  return status;
}

/* ---- the table ---- */

#define ROW(symbol, function)                                                                      \
  static int packed_##function(void *self, const TvmsValue *args, const int *types, int n,         \
                               TvmsValue *ret, int *ret_type) {                                    \
    (void)self;                                                                                    \
    return function(&(OperatorCall){symbol, args, types, n, ret, ret_type});                       \
  }
#define ROWS                                                                                       \
  ROW("relax.shape_of", shape_of)                                                                  \
  ROW("relax.tensor_to_shape", tensor_to_shape)                                                    \
  ROW("relax.shape_to_tensor", shape_to_tensor)                                                    \
  ROW("relax.shape_equals", shape_equals)                                                          \
  ROW("relax.null_value", null_value)                                                              \
  ROW("relax.inspect.tensor_ndim", tensor_ndim)                                                    \
  ROW("relax.inspect.tensor_dtype_code", dtype_code)                                               \
  ROW("relax.inspect.tensor_dtype_bits", dtype_bits)                                               \
  ROW("relax.inspect.tensor_dtype_lanes", dtype_lanes)                                             \
  ROW("relax.inspect.tensor_shape_i", shape_i)                                                     \
  ROW("relax.inspect.tensor_stride_i", stride_i)                                                   \
  ROW("relax.dynamic_strided_slice", dynamic_strided_slice)                                        \
  ROW("relax.unique", tvms__unique)                                                                \
  ROW("relax.nonzero", tvms__nonzero)
ROWS
#undef ROW
#define ROW(symbol, function) {symbol, packed_##function},
    const BuiltinRow tvms__operator_rows[] = {ROWS{NULL, NULL}};
