/* shape_tuple.c -- shape values and tuples. */
#include "target/runtime/runtime_impl.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The types stand behind the values. */
struct TvmsTuple {
  int n;
  int *types;
  TvmsValue values[];
};

int tvms_shape_new(TvmsShape **out, int ndim, const int64_t *dims) {
  if (ndim < 0) return tvms_set_error("a shape can't have %d dimensions", ndim);
  size_t nbytes = sizeof(int64_t) * (size_t)ndim;
  TvmsShape *s = tvms__object_new(TVMS_SHAPE, sizeof *s + nbytes, 0, NULL);
  if (!s) return -1;
  s->ndim = ndim;
  if (ndim) memcpy(s->dims, dims, nbytes);
  *out = s;
  return 0;
}

int tvms_shape_ndim(const TvmsShape *s) { return s->ndim; }

const int64_t *tvms_shape_dims(const TvmsShape *s) { return s->dims; }

int64_t tvms_shape_dim(void *shape, int32_t axis) { return ((TvmsShape *)shape)->dims[axis]; }

void tvms__shape_text(int ndim, const int64_t *dims, char *out) {
  size_t n = 1;
  out[0] = '(';
  for (int i = 0; i < ndim; i++) {
    if (n > SHAPE_TEXT_SIZE - 32) {
      n += (size_t)snprintf(out + n, SHAPE_TEXT_SIZE - n, ", ...");
      break;
    }
    const char *comma = i ? ", " : "";
    n += (size_t)snprintf(out + n, SHAPE_TEXT_SIZE - n, "%s%" PRId64, comma, dims[i]);
  }
  snprintf(out + n, SHAPE_TEXT_SIZE - n, ndim == 1 ? ",)" : ")");
}

static void tuple_destroy(void *self) {
  TvmsTuple *t = self;
  for (int i = 0; i < t->n; i++) tvms_value_release(t->types[i], t->values[i]);
}

int tvms_tuple_new(TvmsTuple **out, int n, const TvmsValue *values, const int *types) {
  if (n < 0) return tvms_set_error("a tuple can't have %d fields", n);
  size_t each = sizeof(TvmsValue) + sizeof(int);
  TvmsTuple *t = tvms__object_new(TVMS_TUPLE, sizeof *t + each * (size_t)n, 0, tuple_destroy);
  if (!t) return -1;
  t->types = (int *)(void *)(t->values + n);
  for (; t->n < n; t->n++) {
    TvmsValue value = values[t->n];
    int type = types[t->n];
    if (tvms__value_own(&type, &value)) return tvms_release(t), -1;
    t->values[t->n] = value;
    t->types[t->n] = type;
  }
  *out = t;
  return 0;
}

int tvms_tuple_size(const TvmsTuple *t) { return t->n; }

TvmsValue tvms_tuple_get(const TvmsTuple *t, int i, int *type) {
  if (i < 0 || i >= t->n) {
    *type = TVMS_NONE;
    return (TvmsValue){0};
  }
  *type = t->types[i];
  return t->values[i];
}

int tvms_tuple_field(void *tuple, int32_t index, void *value, void *type) {
  TvmsTuple *t = tuple;
  if (index < 0 || index >= t->n)
    return tvms_set_error("a tuple of %d fields has no field %d", t->n, index);
  *(TvmsValue *)value = t->values[index];
  *(int *)type = t->types[index];
  return 0;
}
