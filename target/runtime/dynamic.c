/* dynamic.c -- operators whose result has a shape that only values tell: relax.tensor_to_shape,
 * relax.nonzero, relax.dynamic_strided_slice. They are the packed functions of their names. */
#include "target/runtime/device.h"
#include <string.h>

/* ---- operands: compact and on the CPU ---- */

typedef struct Operand {
  TvmsTensor *tensor; /* a copy */
  const DLTensor *dl;
  const char *data;
  DLDevice device; /* of what was given */
} Operand;

static void *index_of(const int64_t *index, const DLTensor *t, size_t element) {
  int64_t at = 0;
  for (int i = 0; i < t->ndim; i++) at += index[i] * t->strides[i];
  return (char *)t->data + t->byte_offset + at * (int64_t)element;
}

/* Copies elements between a tensor with strides and memory without gaps; to_strided tells which
 * way. */
static void copy_strided(const DLTensor *t, char *flat, bool to_strided) {
  size_t element = tvms__dtype_element_bytes(t->dtype);
  int64_t index[MAX_NDIM] = {0}, size = tvms__dl_size(t);
  for (int64_t k = 0; k < size; k++, flat += element) {
    void *place = index_of(index, t, element);
    memcpy(to_strided ? place : flat, to_strided ? flat : place, element);
    for (int i = t->ndim - 1; i >= 0 && ++index[i] == t->shape[i]; i--) index[i] = 0;
  }
}

static int operand_read(Operand *out, const char *function, const TvmsValue *args, const int *types,
                        int n, int i) {
  if (i >= n || (types[i] != TVMS_TENSOR && types[i] != TVMS_DLTENSOR))
    return tvms_set_error("%s: argument %d must be a tensor, found %s", function, i,
                          i < n ? tvms__type_text(types[i]) : "nothing");
  const DLTensor *given = args[i].p;
  out->device = given->device;
  if (given->device.device_type != kDLCPU) {
    if (types[i] != TVMS_TENSOR ||
        tvms_tensor_copy_to(&out->tensor, args[i].p, (DLDevice){kDLCPU, 0}))
      return -1;
  } else {
    if (tvms_tensor_new(&out->tensor, given->ndim, given->shape, given->dtype)) return -1;
    char *to = tvms_tensor_data(out->tensor);
    if (tvms__dl_is_compact(given))
      memcpy(to, (const char *)given->data + given->byte_offset, tvms_tensor_nbytes(out->tensor));
    else copy_strided(given, to, false);
  }
  out->dl = tvms_tensor_dl(out->tensor);
  out->data = tvms_tensor_data(out->tensor);
  return 0;
}

/* Gives the caller a tensor, on the device of the operand. */
static int give(TvmsTensor *made, DLDevice device, TvmsTensor **out) {
  if (device.device_type == kDLCPU) return *out = made, 0;
  int status = tvms_tensor_copy_to(out, made, device);
  tvms_release(made);
  return status;
}

static int give_tensor(TvmsTensor *made, DLDevice device, TvmsValue *ret, int *ret_type) {
  TvmsTensor *out = NULL;
  if (give(made, device, &out)) return -1;
  ret->p = out;
  *ret_type = TVMS_TENSOR;
  return 0;
}

/* ---- elements as numbers that are ordered as they are ---- */

static uint64_t order_key(DLDataType t, const char *at) {
  size_t nbytes = tvms__dtype_element_bytes(t);
  uint64_t x = 0, sign = 1ull << (8 * nbytes - 1);
  memcpy(&x, at, nbytes);
  if (t.code == kDLUInt || t.code == kDLBool) return x;
  if (t.code == kDLInt) return x ^ sign;
  if (!(x & (sign - 1))) return sign; /* zeros are one */
  return x & sign ? (sign << 1) - 1 - x : x | sign;
}

static bool is_nonzero(DLDataType t, const char *at) {
  static const char zero[8];
  return order_key(t, at) != order_key(t, zero);
}

/* ---- tensor_to_shape(tensor) ---- */

PACKED(tensor_to_shape) {
  (void)self;
  Operand x = {0};
  if (operand_read(&x, "tensor_to_shape", args, types, n, 0)) return -1;
  bool fits = x.dl->ndim == 1 && tvms__dtype_same(x.dl->dtype, (DLDataType){kDLInt, 64, 1});
  TvmsShape *out = NULL;
  int status =
      !fits ? tvms_set_error("tensor_to_shape: a vector of int64 is expected")
      : x.dl->shape[0] > MAX_NDIM
          ? tvms_set_error("tensor_to_shape: a shape has at most %d dims, found %lld", MAX_NDIM,
                           (long long)x.dl->shape[0])
          : tvms_shape_new(&out, (int)x.dl->shape[0], (const int64_t *)(const void *)x.data);
  tvms_release(x.tensor);
  if (status) return -1;
  ret->p = out;
  *ret_type = TVMS_SHAPE;
  return 0;
}

/* ---- nonzero(x): indices, a column for each element ---- */

static void write_places(const DLTensor *t, const char *data, int64_t count, int64_t *out) {
  size_t element = tvms__dtype_element_bytes(t->dtype);
  int64_t size = tvms__dl_size(t), found = 0;
  for (int64_t k = 0; k < size; k++) {
    if (!is_nonzero(t->dtype, data + (size_t)k * element)) continue;
    int64_t rest = k;
    for (int i = t->ndim - 1; i >= 0; rest /= t->shape[i--])
      out[i * count + found] = rest % t->shape[i];
    if (t->ndim == 0) out[found] = 0;
    found++;
  }
}

PACKED(nonzero) {
  (void)self;
  Operand x = {0};
  if (operand_read(&x, "nonzero", args, types, n, 0)) return -1;
  size_t element = tvms__dtype_element_bytes(x.dl->dtype);
  int64_t size = tvms__dl_size(x.dl), count = 0;
  for (int64_t k = 0; k < size; k++) count += is_nonzero(x.dl->dtype, x.data + (size_t)k * element);
  int64_t shape[] = {x.dl->ndim ? x.dl->ndim : 1, count};
  TvmsTensor *out = NULL;
  int status = tvms_tensor_new(&out, 2, shape, (DLDataType){kDLInt, 64, 1});
  if (!status) write_places(x.dl, x.data, count, tvms_tensor_data(out));
  tvms_release(x.tensor);
  return status ? -1 : give_tensor(out, x.device, ret, ret_type);
}

/* ---- dynamic_strided_slice(x, begin, end, strides) ---- */

static int64_t clamp(int64_t v, int64_t low, int64_t high) {
  return v < low ? low : v > high ? high : v;
}

/* Cuts one axis of a view as Python's slices do. */
static int cut_axis(DLTensor *view, int axis, int64_t begin, int64_t end, int64_t step) {
  int64_t extent = view->shape[axis], low = step < 0 ? -1 : 0,
          high = step < 0 ? extent - 1 : extent;
  if (step == 0) return tvms_set_error("dynamic_strided_slice: a stride is 0");
  begin = clamp(begin < 0 ? begin + extent : begin, low, high);
  end = clamp(end < 0 ? end + extent : end, low, high);
  int64_t span = step < 0 ? begin - end : end - begin, by = step < 0 ? -step : step;
  view->shape[axis] = span > 0 ? (span - 1) / by + 1 : 0;
  if (span > 0)
    view->byte_offset +=
        (uint64_t)(begin * view->strides[axis]) * tvms__dtype_element_bytes(view->dtype);
  view->strides[axis] *= step;
  return 0;
}

static int slice_of(const Operand *ops, TvmsTensor **out) {
  const DLTensor *x = ops[0].dl;
  int64_t shape[MAX_NDIM], strides[MAX_NDIM];
  DLTensor view = *x;
  view.shape = shape, view.strides = strides;
  int64_t step = 1;
  for (int i = x->ndim - 1; i >= 0; step *= x->shape[i--])
    shape[i] = x->shape[i], strides[i] = step;
  for (int k = 1; k < 4; k++)
    if (ops[k].dl->ndim != 1 || ops[k].dl->shape[0] != x->ndim ||
        !tvms__dtype_same(ops[k].dl->dtype, (DLDataType){kDLInt, 64, 1}))
      return tvms_set_error(
          "dynamic_strided_slice: begin, end and strides are vectors of int64, an "
          "element for each of the %d dims",
          x->ndim);
  for (int i = 0; i < x->ndim; i++) {
    const int64_t *numbers[3];
    for (int k = 0; k < 3; k++) numbers[k] = (const int64_t *)(const void *)ops[k + 1].data;
    if (cut_axis(&view, i, numbers[0][i], numbers[1][i], numbers[2][i])) return -1;
  }
  if (tvms_tensor_new(out, x->ndim, shape, x->dtype)) return -1;
  copy_strided(&view, tvms_tensor_data(*out), false);
  return 0;
}

PACKED(dynamic_strided_slice) {
  (void)self;
  Operand ops[4] = {0};
  TvmsTensor *out = NULL;
  int status = 0;
  for (int i = 0; i < 4 && !status; i++)
    status = operand_read(&ops[i], "dynamic_strided_slice", args, types, n, i);
  if (!status) status = slice_of(ops, &out);
  for (int i = 0; i < 4; i++) tvms_release(ops[i].tensor);
  return status ? -1 : give_tensor(out, ops[0].device, ret, ret_type);
}

const BuiltinRow tvms__dynamic_rows[] = {{"relax.tensor_to_shape", tensor_to_shape},
                                         {"relax.nonzero", nonzero},
                                         {"relax.dynamic_strided_slice", dynamic_strided_slice},
                                         {NULL, NULL}};
