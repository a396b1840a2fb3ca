/* scalar.c -- dtypes as the interpreter holds them: in memory, and as each other. */
#include "target/interp/interp.h"
#include <math.h>

Scalar scalar_int(int64_t v) { return (Scalar){.i = v}; }

/* ---- memory: integers of less than 8 bits take a byte, as bool does ---- */

int scalar_nbytes(DataType t) { return t.bits < 8 ? 1 : t.bits / 8; }

#define INT_IN_MEMORY(name, type)                                                                  \
  static Scalar load_##name(const char *at) {                                                      \
    type v;                                                                                        \
    memcpy(&v, at, sizeof v);                                                                      \
    return (Scalar){.i = (int64_t)v};                                                              \
  }                                                                                                \
  static void store_##name(char *at, Scalar s) {                                                   \
    type v = (type)s.i;                                                                            \
    memcpy(at, &v, sizeof v);                                                                      \
  }
INT_IN_MEMORY(i8, int8_t)
INT_IN_MEMORY(i16, int16_t)
INT_IN_MEMORY(i32, int32_t)
INT_IN_MEMORY(i64, int64_t)
INT_IN_MEMORY(u8, uint8_t)
INT_IN_MEMORY(u16, uint16_t)
INT_IN_MEMORY(u32, uint32_t)

static Scalar load_f32(const char *at) {
  Scalar v = {0};
  memcpy(&v.s, at, sizeof v.s);
  return v;
}
static void store_f32(char *at, Scalar v) { memcpy(at, &v.s, sizeof v.s); }
static Scalar load_bool(const char *at) { return scalar_int(*at != 0); }
static Scalar load_i4(const char *at) {
  return scalar_int(dtype_wrap_int(DTYPE_OF(INT, 4), (unsigned char)*at));
}
static Scalar load_u4(const char *at) { return scalar_int(*at & 15); }
static Scalar load_i2(const char *at) {
  return scalar_int(dtype_wrap_int(DTYPE_OF(INT, 2), (unsigned char)*at));
}
static Scalar load_u2(const char *at) { return scalar_int(*at & 3); }
static Scalar load_i1(const char *at) { return scalar_int(*at & 1 ? -1 : 0); }
static Scalar load_u1(const char *at) { return scalar_int(*at & 1); }

static Load *load_narrow(DataType t) {
  bool is_signed = t.code == DTYPE_INT;
  if (t.bits == 4) return is_signed ? load_i4 : load_u4;
  if (t.bits == 2) return is_signed ? load_i2 : load_u2;
  return is_signed ? load_i1 : load_u1;
}

Load *scalar_load(DataType t) {
  if (dtype_is_bool(t)) return load_bool;
  if (t.bits < 8) return is_small_float(t) ? load_u8 : load_narrow(t);
  if (t.code == DTYPE_FLOAT && t.bits == 32) return load_f32;
  bool is_signed = t.code == DTYPE_INT;
  switch (t.bits) {
  case 8: return is_signed ? load_i8 : load_u8;
  case 16: return is_signed ? load_i16 : load_u16;
  case 32: return is_signed ? load_i32 : load_u32;
  default: return load_i64; /* float64 and pointers by their bits */
  }
}

Store *scalar_store(DataType t) {
  if (t.code == DTYPE_FLOAT && t.bits == 32) return store_f32;
  bool is_signed = t.code == DTYPE_INT;
  switch (t.bits) {
  case 16: return is_signed ? store_i16 : store_u16;
  case 32: return is_signed ? store_i32 : store_u32;
  case 64: return store_i64;
  default: return is_signed ? store_i8 : store_u8;
  }
}

/* ---- floats ---- */

double scalar_to_double(DataType t, Scalar v) {
  if (is_small_float(t)) return dtype_float_from_bits(dtype_element(t), (uint32_t)v.i);
  return t.bits == 64 ? v.d : (double)v.s;
}

Scalar scalar_from_double(DataType t, double v) {
  if (is_small_float(t)) return scalar_int(dtype_float_to_bits(dtype_element(t), v));
  return t.bits == 64 ? (Scalar){.d = v} : (Scalar){.s = (float)v};
}

float scalar_to_float(DataType t, Scalar v) {
  return is_small_float(t) ? (float)dtype_float_from_bits(dtype_element(t), (uint32_t)v.i) : v.s;
}

Scalar scalar_from_float(DataType t, float v) {
  return is_small_float(t) ? scalar_int(dtype_float_to_bits(dtype_element(t), (double)v))
                           : (Scalar){.s = v};
}

bool scalar_truth(DataType t, Scalar v) {
  return dtype_is_float(t) ? scalar_to_double(t, v) != 0 : v.i != 0;
}

/* ---- casts ---- */

static Scalar cast_same(DataType from, DataType to, Scalar v) {
  (void)from, (void)to;
  return v;
}

static Scalar cast_int(DataType from, DataType to, Scalar v) {
  (void)from;
  return scalar_int(dtype_wrap_int(to, v.i));
}

static Scalar cast_to_bool(DataType from, DataType to, Scalar v) {
  (void)to;
  return scalar_int(scalar_truth(from, v));
}

static bool is_unsigned_word(DataType t) { return t.code == DTYPE_UINT && t.bits == 64; }

/* float32 is rounded once, from the integer itself. */
static Scalar cast_int_to_float(DataType from, DataType to, Scalar v) {
  bool word = is_unsigned_word(from);
  if (to.code == DTYPE_FLOAT && to.bits == 32)
    return (Scalar){.s = word ? (float)(uint64_t)v.i : (float)v.i};
  return scalar_from_double(to, word ? (double)(uint64_t)v.i : (double)v.i);
}

/* Too large: the nearest end of the range. NaN: 0. */
static Scalar cast_float_to_int(DataType from, DataType to, Scalar v) {
  double x = trunc(scalar_to_double(from, v));
  if (isnan(x)) return scalar_int(0);
  if (is_unsigned_word(to)) return scalar_int(x <= 0 ? 0 : x >= 0x1p64 ? -1 : (int64_t)(uint64_t)x);
  int64_t least = dtype_min_int(to), most = dtype_max_int(to);
  if (x <= (double)least) return scalar_int(least);
  return scalar_int(x >= (double)most ? most : (int64_t)x);
}

static Scalar cast_float(DataType from, DataType to, Scalar v) {
  return scalar_from_double(to, scalar_to_double(from, v));
}

CastOp *scalar_cast(DataType from, DataType to) {
  bool same = from.code == to.code && from.bits == to.bits;
  if (same || dtype_is_void(to)) return cast_same;
  if (dtype_is_bool(to)) return cast_to_bool;
  bool words = dtype_is_handle(from) || dtype_is_handle(to);
  if (words && !dtype_is_float(from) && !dtype_is_float(to)) return cast_int;
  if (dtype_is_float(from)) return dtype_is_float(to) ? cast_float : cast_float_to_int;
  return dtype_is_float(to) ? cast_int_to_float : cast_int;
}
