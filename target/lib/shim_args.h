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

static inline bool shim_is_float(const DLTensor *t, int bits) {
  return t->dtype.code == kDLFloat && t->dtype.bits == bits && t->dtype.lanes == 1;
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
