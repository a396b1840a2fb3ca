/* check.c -- what compiled functions ask of their arguments, and the messages when it does not
 * hold.
 */
#include "target/runtime/device.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tvms_arg_count(void *func, int32_t given, int32_t expected) {
  if (given == expected) return 0;
  return tvms_set_error("%s: %d argument%s expected, %d given", (char *)func, expected,
                        expected == 1 ? "" : "s", given);
}

/* ---- tensors ---- */

#define DESCRIPTION_SIZE 160

/* "a float32 tensor of 2 dimensions"; dtype code 255 and ndim -1 are left open. */
static void describe_tensor(int ndim, DLDataType t, char *out) {
  char dtype[32] = "", rank[48] = "";
  if (t.code != 255) tvms_dtype_text(t, dtype, sizeof dtype);
  if (ndim >= 0) snprintf(rank, sizeof rank, " of %d dimension%s", ndim, ndim == 1 ? "" : "s");
  const char *article = dtype[0] == 'i' ? "an" : "a";
  snprintf(out, DESCRIPTION_SIZE, "%s %s%stensor%s", article, dtype, *dtype ? " " : "", rank);
}

/* "int64 of 3", or "an int". */
static void describe_found(int type, const DLTensor *t, char *out) {
  char dtype[32];
  if (!t) {
    snprintf(out, DESCRIPTION_SIZE, "%s", tvms__type_text(type));
    return;
  }
  tvms_dtype_text(t->dtype, dtype, sizeof dtype);
  snprintf(out, DESCRIPTION_SIZE, "%s of %d", dtype, t->ndim);
}

static int wrong_tensor(const char *what, int ndim, DLDataType dtype, int type, const DLTensor *t) {
  char want[DESCRIPTION_SIZE], found[DESCRIPTION_SIZE];
  describe_tensor(ndim, dtype, want);
  describe_found(type, t, found);
  return tvms_set_error("%s must be %s, but is %s", what, want, found);
}

static int check_device(const char *what, DLDevice have, DLDevice want) {
  char have_text[DEVICE_TEXT_SIZE], want_text[DEVICE_TEXT_SIZE];
  bool same = have.device_type == want.device_type &&
              (want.device_type == kDLCPU || have.device_id == want.device_id);
  if (same) return 0;
  return tvms_set_error("%s must be on %s, but is on %s", what, tvms__device_text(want, want_text),
                        tvms__device_text(have, have_text));
}

static int check_layout(const char *what, const DLTensor *t, DLDevice want) {
  char shape[SHAPE_TEXT_SIZE], strides[SHAPE_TEXT_SIZE];
  if (check_device(what, t->device, want)) return -1;
  if (!tvms__dl_is_compact(t)) {
    tvms__shape_text(t->ndim, t->shape, shape);
    tvms__shape_text(t->ndim, t->strides, strides);
    return tvms_set_error("%s must be compact and row-major, but has shape %s and strides %s", what,
                          shape, strides);
  }
  uintptr_t address = (uintptr_t)tvms_tensor_address((void *)(uintptr_t)t);
  size_t align = tvms__dtype_element_bytes((DLDataType){t->dtype.code, t->dtype.bits, 1});
  if (!address && tvms__dl_size(t)) return tvms_set_error("%s has no data", what);
  if (align && address % align)
    return tvms_set_error("%s must begin at a multiple of %zu bytes", what, align);
  return 0;
}

/* Memory that the caller describes is not taken at its word. */
static int check_sound(const char *what, const DLTensor *t) {
  int64_t size;
  size_t nbytes;
  if (!tvms__shape_measure(t->ndim, t->shape, t->dtype, &size, &nbytes)) return 0;
  char why[600];
  snprintf(why, sizeof why, "%s", tvms_last_error());
  return tvms_set_error("%s: %s", what, why);
}

/* `t` as a tensor of this rank and dtype, or NULL with the error set. */
static void *check_tensor(const char *what, TvmsValue value, int type, int ndim, DLDataType want,
                          DLDevice device) {
  bool is_tensor = (type == TVMS_TENSOR || type == TVMS_DLTENSOR) && value.p;
  DLTensor *t = is_tensor ? value.p : NULL;
  if (!t) return wrong_tensor(what, ndim, want, type, NULL), NULL;
  if (type == TVMS_DLTENSOR && check_sound(what, t)) return NULL;
  bool same =
      (ndim < 0 || t->ndim == ndim) && (want.code == 255 || tvms__dtype_same(want, t->dtype));
  if (!same) return wrong_tensor(what, ndim, want, type, t), NULL;
  return check_layout(what, t, device) ? NULL : t;
}

#define WHAT_SIZE 300
#define NAME_SIZE 200
static const DLDevice cpu = {kDLCPU, 0};

static const char *argument_text(char *out, const char *func, const char *param) {
  snprintf(out, WHAT_SIZE, "%s: argument '%s'", func, param);
  return out;
}

static const char *text_within(char *out, const char *func, const char *what) {
  snprintf(out, WHAT_SIZE, "%s: %s", func, what);
  return out;
}

void *tvms_arg_tensor(void *func, void *param, void *args, void *types, int32_t index, int32_t ndim,
                      int32_t code, int32_t bits, int32_t lanes) {
  char what[WHAT_SIZE];
  DLDataType want = {(uint8_t)code, (uint8_t)bits, (uint16_t)lanes};
  return check_tensor(argument_text(what, func, param), ((TvmsValue *)args)[index],
                      ((int *)types)[index], ndim, want, cpu);
}

void *tvms_arg_device_tensor(void *func, void *param, void *args, void *types, int32_t index,
                             int32_t ndim, int32_t code, int32_t bits, int32_t lanes,
                             int32_t device_type, int32_t device_id) {
  char what[WHAT_SIZE];
  DLDataType want = {(uint8_t)code, (uint8_t)bits, (uint16_t)lanes};
  DLDevice device = {(DLDeviceType)device_type, device_id};
  return check_tensor(argument_text(what, func, param), ((TvmsValue *)args)[index],
                      ((int *)types)[index], ndim, want, device);
}

/* ---- all tensors among the arguments ---- */

/* The number at *at, of digits to base 32: the last one from '@' on, those before it from ' ' on.
 */
static int64_t number_at(const char **at) {
  const char *p = *at;
  int64_t n = 0;
  for (; *p < '@'; p++) n = n * 32 + (*p - ' ');
  n = n * 32 + (*p++ - '@');
  *at = p;
  return n - 1;
}

typedef struct Param {
  int index, ndim, name_length;
  DLDataType dtype;
  const char *name;
} Param;

static Param param_at(const char **at) {
  Param p = {.index = (int)number_at(at)};
  p.ndim = (int)number_at(at);
  p.dtype.code = (uint8_t)number_at(at);
  p.dtype.bits = (uint8_t)number_at(at);
  p.dtype.lanes = (uint16_t)number_at(at);
  p.name_length = (int)number_at(at);
  p.name = *at;
  *at += p.name_length;
  return p;
}

/* One that nothing is to be said about: texts are made for the others only. */
static bool is_as_declared(const Param *p, const DLTensor *t, DLDevice device) {
  bool same = t && t->ndim == p->ndim && tvms__dtype_same(p->dtype, t->dtype) &&
              t->device.device_type == device.device_type &&
              t->device.device_id == device.device_id && !t->strides && t->data;
  size_t align =
      same ? tvms__dtype_element_bytes((DLDataType){p->dtype.code, p->dtype.bits, 1}) : 0;
  return align && (uintptr_t)tvms_tensor_address((void *)(uintptr_t)t) % align == 0;
}

/* The arguments that a text of tvms_arg_tensors speaks of. */
typedef struct Arguments {
  const char *func;
  const TvmsValue *values;
  const int *types;
  DLDevice device;
} Arguments;

static int check_declared(const Arguments *a, const Param *p) {
  const DLTensor *plain = a->types[p->index] == TVMS_TENSOR ? a->values[p->index].p : NULL;
  if (is_as_declared(p, plain, a->device)) return 0;
  char name[NAME_SIZE], what[WHAT_SIZE];
  snprintf(name, sizeof name, "%.*s", p->name_length, p->name);
  bool fits = check_tensor(argument_text(what, a->func, name), a->values[p->index],
                           a->types[p->index], p->ndim, p->dtype, a->device);
  return fits ? 0 : -1;
}

static int check_extent(const Arguments *a, const Param *p, int axis, int64_t extent) {
  DLTensor *t = a->values[p->index].p;
  if (extent < 0 || t->shape[axis] == extent) return 0;
  char what[WHAT_SIZE];
  snprintf(what, sizeof what, "argument '%.*s'", p->name_length, p->name);
  return tvms_check_dim((void *)(uintptr_t)a->func, what, t, axis, extent, NULL);
}

void *tvms_arg_tensors(void *frame, void *func, void *params, void *args, void *types, int32_t n,
                       int32_t device_type, int32_t device_id) {
  int64_t *addresses = tvms_frame_alloc(frame, (int64_t)sizeof *addresses * n);
  if (!addresses) return NULL;
  Arguments a = {func, args, types, {(DLDeviceType)device_type, device_id}};
  for (const char *at = params; *at;) {
    Param p = param_at(&at);
    if (check_declared(&a, &p)) return NULL;
    for (int axis = 0; axis < p.ndim; axis++)
      if (check_extent(&a, &p, axis, number_at(&at))) return NULL;
    addresses[p.index] = (int64_t)(uintptr_t)tvms_tensor_address(a.values[p.index].p);
  }
  return addresses;
}

void *tvms_value_tensor(void *value, void *type, void *what, int32_t ndim, int32_t code,
                        int32_t bits, int32_t lanes) {
  DLDataType want = {(uint8_t)code, (uint8_t)bits, (uint16_t)lanes};
  return check_tensor(what, *(TvmsValue *)value, *(int *)type, ndim, want, cpu);
}

/* What a function on the CPU gave is checked there, and copied. */
void *tvms_value_device_tensor(void *frame, void *value, void *type, void *what, int32_t ndim,
                               int32_t code, int32_t bits, int32_t lanes, int32_t device_type,
                               int32_t device_id) {
  TvmsValue *v = value;
  int *kind = type;
  DLDataType want = {(uint8_t)code, (uint8_t)bits, (uint16_t)lanes};
  DLDevice device = {(DLDeviceType)device_type, device_id};
  bool is_tensor = (*kind == TVMS_TENSOR || *kind == TVMS_DLTENSOR) && v->p;
  if (!is_tensor || ((DLTensor *)v->p)->device.device_type != kDLCPU)
    return check_tensor(what, *v, *kind, ndim, want, device);
  DLTensor *t = check_tensor(what, *v, *kind, ndim, want, cpu);
  if (!t) return NULL;
  v->p = tvms_device_tensor(frame, device_type, device_id, t->ndim, t->shape, t->dtype.code,
                            t->dtype.bits, t->dtype.lanes);
  *kind = TVMS_TENSOR;
  size_t nbytes = (size_t)tvms__dl_size(t) * tvms__dtype_element_bytes(t->dtype);
  if (!v->p || tvms__bytes_copy(tvms_tensor_address(v->p), tvms_tensor_address(t), nbytes))
    return NULL;
  return v->p;
}

/* " (d)", or nothing where the text is the number itself. */
static void aside_text(char *out, size_t size, const char *text, int64_t value) {
  char number[32];
  snprintf(number, sizeof number, "%" PRId64, value);
  out[0] = '\0';
  if (text && *text && strcmp(text, number) != 0) snprintf(out, size, " (%s)", text);
}

int tvms_check_dim(void *func, void *what, void *dltensor, int32_t axis, int64_t expected,
                   void *text) {
  const DLTensor *t = dltensor;
  if (t->shape[axis] == expected) return 0;
  char within[WHAT_SIZE], shape[SHAPE_TEXT_SIZE], aside[200];
  tvms__shape_text(t->ndim, t->shape, shape);
  aside_text(aside, sizeof aside, text, expected);
  return tvms_set_error("%s has shape %s, but dimension %d must be %" PRId64 "%s",
                        text_within(within, func, what), shape, axis, expected, aside);
}

/* ---- scalars and objects ---- */

static bool type_passes(int given, int want) {
  if (given == want) return true;
  switch (want) {
  case TVMS_FLOAT: return given == TVMS_INT || given == TVMS_BOOL;
  case TVMS_INT: return given == TVMS_BOOL;
  case TVMS_TENSOR:
  case TVMS_DLTENSOR: return given == TVMS_TENSOR || given == TVMS_DLTENSOR;
  default: return false;
  }
}

int tvms_arg_type(void *func, void *what, void *args, void *types, int32_t index, int32_t type) {
  int given = ((int *)types)[index];
  bool is_object = given == TVMS_STR || given >= TVMS_DLTENSOR;
  char within[WHAT_SIZE];
  if (!type_passes(given, type))
    return tvms_set_error("%s must be %s, but is %s", text_within(within, func, what),
                          tvms__type_text(type), tvms__type_text(given));
  if (is_object && !((TvmsValue *)args)[index].p)
    return tvms_set_error("%s must be %s, but is NULL", text_within(within, func, what),
                          tvms__type_text(type));
  return 0;
}

int64_t tvms_arg_int(void *args, void *types, int32_t index) {
  TvmsValue value = ((TvmsValue *)args)[index];
  return ((int *)types)[index] == TVMS_BOOL ? value.i != 0 : value.i;
}

double tvms_arg_float(void *args, void *types, int32_t index) {
  TvmsValue value = ((TvmsValue *)args)[index];
  return ((int *)types)[index] == TVMS_FLOAT ? value.f : (double)value.i;
}

void *tvms_arg_object(void *args, int32_t index) { return ((TvmsValue *)args)[index].p; }

int tvms_check_shape(void *func, void *what, void *shape, int32_t ndim) {
  const TvmsShape *s = shape;
  if (s->ndim == ndim) return 0;
  char within[WHAT_SIZE], text[SHAPE_TEXT_SIZE];
  tvms__shape_text(s->ndim, s->dims, text);
  return tvms_set_error("%s must be a shape of %d dimension%s, but is %s",
                        text_within(within, func, what), ndim, ndim == 1 ? "" : "s", text);
}

int tvms_check_value(void *func, void *what, int64_t expected, int64_t actual, void *text) {
  if (expected == actual) return 0;
  char within[WHAT_SIZE], aside[200];
  aside_text(aside, sizeof aside, text, expected);
  return tvms_set_error("%s must be %" PRId64 "%s, but is %" PRId64,
                        text_within(within, func, what), expected, aside, actual);
}

int tvms_check_bound(void *func, void *dim, int64_t value, int64_t bound) {
  if (value <= bound) return 0;
  return tvms_set_error("%s: dimension '%s' is %" PRId64
                        ", but memory was planned for at most %" PRId64 " (tir_var_upper_bound)",
                        (char *)func, (char *)dim, value, bound);
}
