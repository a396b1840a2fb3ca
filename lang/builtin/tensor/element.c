/* element.c -- elements in memory: every dtype to and from doubles and 64-bit ints. */
#include "lang/builtin/tensor/tensor_impl.h"
#include "lang/value/big_int.h"
#include <math.h>

bool is_storable(DataType t) {
  return t.lanes == 1 && (dtype_is_float(t) || dtype_is_int(t) || dtype_is_bool(t));
}

/* The C type of a dtype that is one: X(type) is expanded for it. Narrow ints of 1, 2 and 4 bits
 * have a byte each. */
#define FOR_DTYPE(t, X)                                                                            \
  switch ((t).code) {                                                                              \
  case DTYPE_FLOAT:                                                                                \
    if ((t).bits == 64) X(double);                                                                 \
    if ((t).bits == 32) X(float);                                                                  \
    break;                                                                                         \
  case DTYPE_INT:                                                                                  \
    if ((t).bits == 64) X(int64_t);                                                                \
    if ((t).bits == 32) X(int32_t);                                                                \
    if ((t).bits == 16) X(int16_t);                                                                \
    if ((t).bits <= 8) X(int8_t);                                                                  \
    break;                                                                                         \
  case DTYPE_UINT:                                                                                 \
    if ((t).bits == 64) X(uint64_t);                                                               \
    if ((t).bits == 32) X(uint32_t);                                                               \
    if ((t).bits == 16) X(uint16_t);                                                               \
    if ((t).bits <= 8) X(uint8_t);                                                                 \
    break;                                                                                         \
  case DTYPE_BOOL: X(uint8_t); break;                                                              \
  default: break;                                                                                  \
  }

static uint32_t small_bits(DataType t, const char *at) {
  uint16_t wide;
  if (t.bits == 8) return (unsigned char)*at;
  memcpy(&wide, at, sizeof wide);
  return wide;
}

static void store_small(DataType t, char *at, double x) {
  uint32_t bits = dtype_float_to_bits(t, x);
  uint16_t wide = (uint16_t)bits;
  if (t.bits == 8) *at = (char)bits;
  else memcpy(at, &wide, sizeof wide);
}

/* Memory may be misaligned for views of others: elements are moved by memcpy. */
#define LOAD(type)                                                                                 \
  {                                                                                                \
    for (int i = 0; i < n; i++, at += step) {                                                      \
      type x;                                                                                      \
      memcpy(&x, at, sizeof x);                                                                    \
      out[i] = CONVERT(x);                                                                         \
    }                                                                                              \
    return;                                                                                        \
  }

void load_reals(DataType t, const char *at, int64_t stride, int n, double *out) {
  int64_t step = stride * dtype_nbytes(t);
#define CONVERT(x) (double)(x)
  FOR_DTYPE(t, LOAD)
#undef CONVERT
  for (int i = 0; i < n; i++, at += step) out[i] = dtype_float_from_bits(t, small_bits(t, at));
}

/* Floats that no int64 can hold become INT64_MIN, as the hardware does it. */
static int64_t real_to_int(double x) {
  return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}

void load_ints(DataType t, const char *at, int64_t stride, int n, int64_t *out) {
  int64_t step = stride * dtype_nbytes(t);
  if (is_real(t)) {
    for (int i = 0; i < n; i++, at += step) {
      double x;
      load_reals(t, at, 1, 1, &x);
      out[i] = real_to_int(x);
    }
    return;
  }
#define CONVERT(x) (int64_t)(x)
  FOR_DTYPE(t, LOAD)
#undef CONVERT
}

#define STORE(type)                                                                                \
  {                                                                                                \
    for (int i = 0; i < n; i++, at += step) {                                                      \
      type x = CONVERT(type, from[i]);                                                             \
      memcpy(at, &x, sizeof x);                                                                    \
    }                                                                                              \
    return;                                                                                        \
  }

void store_reals(DataType t, char *at, int64_t stride, int n, const double *from) {
  int64_t step = stride * dtype_nbytes(t);
  if (!is_real(t)) {
    int64_t whole[CHUNK];
    for (int done = 0; done < n; done += CHUNK) {
      int m = n - done < CHUNK ? n - done : CHUNK;
      for (int i = 0; i < m; i++)
        whole[i] = dtype_is_bool(t) ? from[done + i] != 0
                   : is_uint64(t) && from[done + i] >= 9223372036854775808.0 &&
                           from[done + i] < 18446744073709551616.0
                       ? (int64_t)(uint64_t)from[done + i]
                       : real_to_int(from[done + i]);
      store_ints(t, at + done * step, stride, m, whole);
    }
    return;
  }
#define CONVERT(type, x) (type)(x)
  if (t.code == DTYPE_FLOAT && t.bits == 64) STORE(double)
  if (t.code == DTYPE_FLOAT && t.bits == 32) STORE(float)
#undef CONVERT
  for (int i = 0; i < n; i++, at += step) store_small(t, at, from[i]);
}

void store_ints(DataType t, char *at, int64_t stride, int n, const int64_t *from) {
  int64_t step = stride * dtype_nbytes(t);
  bool narrow = t.bits < 8 || dtype_is_bool(t); /* the width is not the C type's */
  if (is_real(t) && !(t.code == DTYPE_FLOAT && t.bits >= 32)) {
    for (int i = 0; i < n; i++, at += step) store_small(t, at, (double)from[i]);
    return;
  }
  if (narrow) {
    for (int i = 0; i < n; i++, at += step) *at = (char)dtype_wrap_int(t, from[i]);
    return;
  }
#define CONVERT(type, x) (type)(x)
  FOR_DTYPE(t, STORE)
#undef CONVERT
}

Value load_value(DataType t, const char *at) {
  double x;
  int64_t i;
  if (is_real(t)) {
    load_reals(t, at, 1, 1, &x);
    return value_float(x);
  }
  load_ints(t, at, 1, 1, &i);
  if (is_uint64(t)) return big_from_uint64((uint64_t)i);
  return dtype_is_bool(t) ? value_bool(i != 0) : value_int(i);
}

void store_value(DataType t, char *at, Value v, Span span) {
  if (v.type == &type_tensor)
    v = value_call_with(value_get_attr(v, str_intern("item"), span), 0, NULL, span);
  if (is_real(t)) {
    double x = value_as_float(v, "an element of a tensor", span);
    store_reals(t, at, 1, 1, &x);
  } else if (v.type == &type_float) {
    store_reals(t, at, 1, 1, &v.real);
  } else {
    uint64_t bits;
    bool fits = v.type != &type_big || (is_uint64(t) && big_as_uint64(v, &bits));
    if (!fits)
      raise("OverflowError", span, "the int %s is out of bounds for %s", value_repr(v),
            dtype_text(t));
    if (v.type == &type_big) return store_ints(t, at, 1, 1, (int64_t *)&bits);
    int64_t i = value_as_int(v, "an element of a tensor", span);
    if (dtype_is_int(t) && (i < dtype_min_int(t) || i > dtype_max_int(t)))
      raise("OverflowError", span, "%lld is out of bounds for %s", (long long)i, dtype_text(t));
    store_ints(t, at, 1, 1, &i);
  }
}
