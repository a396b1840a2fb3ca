/* shim_args.h -- the arguments of a packed function as the shims of libraries read them. */
#ifndef TARGET_LIB_SHIM_ARGS_H
#define TARGET_LIB_SHIM_ARGS_H

#include "target/runtime/shim.h"
#include <stdbool.h>
#include <string.h>

/* Exported by every shim; all else is hidden. */
#define SHIM_EXPORT __attribute__((visibility("default"))) const TvmsShim tvms_shim

typedef struct ShimArgs {
  const char *function; /* for messages */
  const TvmsValue *values;
  const int *types;
  int n;
} ShimArgs;

/* Argument i as a compact tensor on such a device, or NULL and an error. */
static inline const DLTensor *shim_tensor_on(const ShimArgs *a, int i, DLDeviceType device) {
  bool is_tensor = i < a->n && (a->types[i] == TVMS_TENSOR || a->types[i] == TVMS_DLTENSOR);
  if (!is_tensor)
    return tvms_set_error("%s: argument %d must be a tensor", a->function, i + 1), NULL;
  const DLTensor *t = a->values[i].p;
  if (t->device.device_type != device) {
    char text[32], other[32];
    tvms_device_text((DLDevice){device, 0}, text, sizeof text);
    tvms_device_text(t->device, other, sizeof other);
    return tvms_set_error("%s: argument %d lies on %s, not on %s", a->function, i + 1, other, text),
           NULL;
  }
  int64_t size = 1;
  for (int d = t->ndim - 1; t->strides && d >= 0; d--) {
    if (t->shape[d] > 1 && t->strides[d] != size)
      return tvms_set_error("%s: argument %d must be compact", a->function, i + 1), NULL;
    size *= t->shape[d];
  }
  return t;
}

static inline const DLTensor *shim_tensor(const ShimArgs *a, int i) {
  return shim_tensor_on(a, i, kDLCPU);
}

static inline void *shim_data(const DLTensor *t) { return (char *)t->data + t->byte_offset; }

/* The device that all tensors of a call lie on, and its queue. */
typedef struct ShimDevice {
  int id; /* -1: none was met yet */
  void *queue;
} ShimDevice;
enum { SHIM_MOST_DEVICES = 64 };

/* Where the data of a device's tensor begins, as a CUDA library takes it; NULL and an error. */
static inline void *shim_address(const char *function, const DLTensor *t, ShimDevice *d) {
  TvmsDeviceMemory m;
  if (tvms_device_memory(shim_data(t), &m)) return NULL;
  int id = m.device.device_id;
  bool same = d->id < 0 || d->id == id;
  if (!same)
    return tvms_set_error("%s: tensors lie on device %d and on %d", function, d->id, id), NULL;
  if (id >= SHIM_MOST_DEVICES)
    return tvms_set_error("%s: device %d is beyond the first %d", function, id, SHIM_MOST_DEVICES),
           NULL;
  *d = (ShimDevice){id, m.queue};
  return (char *)m.memory + m.begin;
}

/* Memory of the device for one call: the owner of `*memory` releases it when the call is queued, as
 * what uses the same memory next comes after it. NULL for no bytes, or with an error. */
static inline void *shim_workspace(const char *function, ShimDevice *d, size_t nbytes,
                                   TvmsTensor **memory) {
  int64_t size = (int64_t)nbytes;
  if (!nbytes ||
      tvms_tensor_new_on(memory, (DLDevice){kDLCUDA, d->id}, 1, &size, (DLDataType){kDLUInt, 8, 1}))
    return NULL;
  return shim_address(function, tvms_tensor_dl(*memory), d);
}

static inline bool shim_is_float(const DLTensor *t, int bits) {
  return t->dtype.code == kDLFloat && t->dtype.bits == bits && t->dtype.lanes == 1;
}

/* 0: float16, 1: bfloat16, 2: float32, 3: float64; -1: something else. */
static inline int shim_float_kind(const DLTensor *t) {
  if (t->dtype.code == kDLBfloat && t->dtype.bits == 16 && t->dtype.lanes == 1) return 1;
  return shim_is_float(t, 16) ? 0 : shim_is_float(t, 32) ? 2 : shim_is_float(t, 64) ? 3 : -1;
}

/* 0 or 1, as libraries of BLAS's kind take their factors. */
static inline const void *shim_factor(int value, bool is_double) {
  static const float floats[] = {0, 1};
  static const double doubles[] = {0, 1};
  return is_double ? (const void *)&doubles[value] : &floats[value];
}

static inline int64_t shim_product(const int64_t *dims, int n) {
  int64_t product = 1;
  for (int i = 0; i < n; i++) product *= dims[i];
  return product;
}

static inline const char *shim_text(const ShimArgs *a, int i) { /* "" if it is something else */
  return i < a->n && a->types[i] == TVMS_STR && a->values[i].s ? a->values[i].s : "";
}

/* An int or bool; 0 if it is something else. */
static inline int64_t shim_int(const ShimArgs *a, int i) {
  return a->types[i] == TVMS_INT || a->types[i] == TVMS_BOOL ? a->values[i].i : 0;
}

#endif
