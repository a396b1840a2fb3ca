/* device_frame.c -- what host code of a module for a device makes there, and its calls of functions
 * that work on the CPU. */
#include "target/runtime/device.h"
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

void *tvms_device_tensor(void *frame, int32_t device_type, int32_t device_id, int32_t ndim,
                         void *shape, int32_t code, int32_t bits, int32_t lanes) {
  DLDevice device = {(DLDeviceType)device_type, device_id};
  DLDataType dtype = {(uint8_t)code, (uint8_t)bits, (uint16_t)lanes};
  TvmsTensor *t = NULL;
  if (tvms_tensor_new_on(&t, device, ndim, shape, dtype)) return NULL;
  return tvms__frame_own(frame, TVMS_TENSOR, t);
}

void *tvms_device_alloc(void *frame, int32_t device_type, int32_t device_id, int64_t nbytes) {
  if (nbytes < 0)
    return tvms_set_error("can't allocate a workspace of %lld bytes", (long long)nbytes), NULL;
  void *t = tvms_device_tensor(frame, device_type, device_id, 1, &nbytes, kDLUInt, 8, 1);
  return t ? tvms_tensor_address(t) : NULL;
}

void *tvms_device_view(void *frame, int32_t device_type, int32_t device_id, void *data,
                       int32_t ndim, void *shape, int32_t code, int32_t bits, int32_t lanes) {
  DLTensor *t = tvms_frame_view(frame, data, ndim, shape, code, bits, lanes);
  if (t) t->device = (DLDevice){(DLDeviceType)device_type, device_id};
  return t;
}

/* ---- calls of functions on the CPU ---- */

/* Values of one call with tensors of devices copied; `from` are those that they were copied from.
 */
typedef struct Copies {
  void *frame;
  TvmsTensor **at;
  const DLTensor **from;
  int len, cap;
} Copies;

static int copy_value(Copies *c, TvmsValue *value, int *type);

static int note_copy(Copies *c, TvmsTensor *copy, const DLTensor *from) {
  if (c->len == c->cap) {
    int cap = c->cap ? c->cap * 2 : 16;
    TvmsTensor **at = realloc(c->at, sizeof *at * (size_t)cap);
    if (at) c->at = at;
    const DLTensor **sources = realloc(c->from, sizeof *sources * (size_t)cap);
    if (sources) c->from = sources;
    if (!at || !sources) return tvms__error_no_memory(sizeof *at * (size_t)cap);
    c->cap = cap;
  }
  c->at[c->len] = copy;
  c->from[c->len++] = from;
  return 0;
}

static int copy_tensor(Copies *c, TvmsValue *value, int *type) {
  const DLTensor *t = value->p;
  TvmsTensor *view = NULL, *copy = NULL;
  if (t->device.device_type == kDLCPU) return 0;
  if (tvms_tensor_view(&view, t)) return -1;
  int status = tvms_tensor_copy_to(&copy, view, (DLDevice){kDLCPU, 0});
  tvms_release(view);
  if (status || !tvms__frame_own(c->frame, TVMS_TENSOR, copy) || note_copy(c, copy, t)) return -1;
  value->p = copy;
  *type = TVMS_TENSOR;
  return 0;
}

static int copy_tuple(Copies *c, TvmsValue *value) {
  int n = tvms_tuple_size(value->p), status = 0, before = c->len;
  TvmsValue *values = calloc((size_t)n + 1, sizeof *values);
  int *types = calloc((size_t)n + 1, sizeof *types);
  TvmsTuple *t = NULL;
  if (!values || !types) status = tvms__error_no_memory(sizeof *values * (size_t)n);
  for (int i = 0; i < n && !status; i++) {
    values[i] = tvms_tuple_get(value->p, i, &types[i]);
    status = copy_value(c, &values[i], &types[i]);
  }
  if (!status && c->len > before) {
    status = tvms_tuple_new(&t, n, values, types);
    if (!status && !tvms__frame_own(c->frame, TVMS_TUPLE, t)) status = -1;
    if (!status) value->p = t;
  }
  free(values);
  free(types);
  return status;
}

static int copy_value(Copies *c, TvmsValue *value, int *type) {
  bool is_tensor = *type == TVMS_TENSOR || *type == TVMS_DLTENSOR;
  if (is_tensor && value->p) return copy_tensor(c, value, type);
  return *type == TVMS_TUPLE && value->p ? copy_tuple(c, value) : 0;
}

static int copy_back(const Copies *c) {
  for (int i = 0; i < c->len; i++) {
    void *to = tvms_tensor_address((void *)(uintptr_t)c->from[i]);
    if (tvms__bytes_copy(to, tvms_tensor_data(c->at[i]), tvms_tensor_nbytes(c->at[i]))) return -1;
  }
  return 0;
}

typedef int Call(void *frame, void *callee, void *args, void *types, int32_t n, void *ret,
                 void *ret_type);

static int call_on_cpu(Call *call, void *frame, void *callee, void *args, void *types, int32_t n,
                       void *ret, void *ret_type, int32_t writes) {
  Copies c = {.frame = frame};
  int status = 0;
  for (int i = 0; i < n && !status; i++)
    status = copy_value(&c, (TvmsValue *)args + i, (int *)types + i);
  if (!status) status = call(frame, callee, args, types, n, ret, ret_type);
  if (!status && writes) status = copy_back(&c);
  free(c.at);
  free(c.from);
  return status;
}

int tvms_call_packed_from_device(void *frame, void *name, void *args, void *types, int32_t n,
                                 void *ret, void *ret_type, int32_t writes) {
  TvmsFunc *f = NULL;
  if (tvms_func_find(&f, name)) return -1;
  bool takes_them = f->device != kDLCPU;
  tvms_release(f);
  if (takes_them) return tvms_call_packed(frame, name, args, types, n, ret, ret_type);
  return call_on_cpu(tvms_call_packed, frame, name, args, types, n, ret, ret_type, writes);
}

int tvms_call_func_from_device(void *frame, void *func, void *args, void *types, int32_t n,
                               void *ret, void *ret_type, int32_t writes) {
  bool compiled = ((TvmsFunc *)func)->module != NULL;
  if (compiled) return tvms_call_func(frame, func, args, types, n, ret, ret_type);
  return call_on_cpu(tvms_call_func, frame, func, args, types, n, ret, ret_type, writes);
}
