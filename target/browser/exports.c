/* exports.c -- what JavaScript calls of a module in a browser: functions of tvms.h whose arguments
 * are numbers and addresses. Those that give an address give NULL, and an error, if they fail. */
#include "target/runtime/abi.h"
#include "target/runtime/device.h"
#include <stdlib.h>

#define EXPORT(name) __attribute__((export_name(#name)))

/* ---- memory, errors ---- */

EXPORT(malloc) void *export_malloc(size_t n) { return malloc(n ? n : 1); }
EXPORT(free) void export_free(void *p) { free(p); }
EXPORT(last_error) const char *export_last_error(void) { return tvms_last_error(); }
EXPORT(set_error) void export_set_error(const char *text) { tvms_set_error("%s", text); }

/* ---- the module ---- */

EXPORT(module) TvmsModule *export_module(void) {
  TvmsModule *m = NULL;
  return tvms_module_linked(&m, &tvms_module_info) ? NULL : m;
}
EXPORT(count) int export_count(void) { return tvms_module_info.count; }
EXPORT(name) const char *export_name(int i) { return tvms_module_info.names[i]; }
EXPORT(signature) const char *export_signature(int i) { return tvms_module_info.signatures[i]; }
EXPORT(target) const char *export_target(void) { return tvms_module_info.target; }
EXPORT(device) int export_device(const TvmsModule *m) {
  return (int)tvms_module_device(m).device_type;
}
EXPORT(function) TvmsFunc *export_function(TvmsModule *m, const char *name) {
  TvmsFunc *f = NULL;
  return tvms_module_function(&f, m, name) ? NULL : f;
}
/* 0 or -1. `ret` and `ret_type` are written. */
EXPORT(call)
int export_call(TvmsFunc *f, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                int *ret_type) {
  *ret_type = TVMS_NONE;
  return tvms_func_call(f, args, types, n, ret, ret_type);
}

/* ---- values ---- */

EXPORT(release) void export_release(void *object) { tvms_release(object); }
EXPORT(retain) void *export_retain(void *object) { return tvms_retain(object); }

EXPORT(tensor)
TvmsTensor *export_tensor(int device, int ndim, const int64_t *dims, int code, int bits,
                          int lanes) {
  TvmsTensor *t = NULL;
  DLDataType dtype = {(uint8_t)code, (uint8_t)bits, (uint16_t)lanes};
  return tvms_tensor_new_on(&t, (DLDevice){(DLDeviceType)device, 0}, ndim, dims, dtype) ? NULL : t;
}
EXPORT(tensor_device) int export_tensor_device(const TvmsTensor *t) {
  return (int)tvms_tensor_dl(t)->device.device_type;
}
EXPORT(tensor_ndim) int export_tensor_ndim(const TvmsTensor *t) { return tvms_tensor_dl(t)->ndim; }
EXPORT(tensor_dims) const int64_t *export_tensor_dims(const TvmsTensor *t) {
  return tvms_tensor_dl(t)->shape;
}
/* The code, the bits from the eighth bit on, the lanes from the sixteenth. */
EXPORT(tensor_dtype) int export_tensor_dtype(const TvmsTensor *t) {
  DLDataType d = tvms_tensor_dl(t)->dtype;
  return d.code | d.bits << 8 | d.lanes << 16;
}
EXPORT(tensor_nbytes) size_t export_tensor_nbytes(const TvmsTensor *t) {
  return tvms_tensor_nbytes(t);
}
/* A compact tensor: the same, or a copy, which is the caller's either way. */
EXPORT(tensor_compact) TvmsTensor *export_tensor_compact(TvmsTensor *t) {
  TvmsTensor *copy = NULL;
  if (tvms_tensor_is_compact(t)) return tvms_retain(t);
  return tvms_tensor_copy(&copy, t) ? NULL : copy;
}
EXPORT(tensor_data) void *export_tensor_data(const TvmsTensor *t) { return tvms_tensor_data(t); }
/* The buffer of a tensor on the GPU, as webgpu.c numbers it, and *begin, the byte in it. */
EXPORT(tensor_buffer) int export_tensor_buffer(const TvmsTensor *t, size_t *begin) {
  DevicePlace place;
  if (!tvms__device_find(tvms_tensor_data(t), &place)) return 0;
  *begin = place.begin;
  return (int)(uintptr_t)place.memory;
}
EXPORT(tensor_set) int export_tensor_set(TvmsTensor *t, const void *from, size_t nbytes) {
  return tvms_tensor_set_bytes(t, from, nbytes);
}

EXPORT(shape) TvmsShape *export_shape(int ndim, const int64_t *dims) {
  TvmsShape *s = NULL;
  return tvms_shape_new(&s, ndim, dims) ? NULL : s;
}
EXPORT(shape_ndim) int export_shape_ndim(const TvmsShape *s) { return tvms_shape_ndim(s); }
EXPORT(shape_dims) const int64_t *export_shape_dims(const TvmsShape *s) {
  return tvms_shape_dims(s);
}

EXPORT(tuple) TvmsTuple *export_tuple(int n, const TvmsValue *values, const int *types) {
  TvmsTuple *t = NULL;
  return tvms_tuple_new(&t, n, values, types) ? NULL : t;
}
EXPORT(tuple_size) int export_tuple_size(const TvmsTuple *t) { return tvms_tuple_size(t); }
/* The type; the value, still the tuple's, is written. */
EXPORT(tuple_get) int export_tuple_get(const TvmsTuple *t, int i, TvmsValue *value) {
  int type;
  *value = tvms_tuple_get(t, i, &type);
  return type;
}
