/* dtype.h -- scalar and vector types of the IR: a code of dtype.def, a width in bits, lanes. */
#ifndef IR_DTYPE_H
#define IR_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
#define DTYPE(NAME, prefix, widths, dlpack, doc) DTYPE_##NAME,
#include "ir/dtype.def"
  DTYPE_CUSTOM = 128 /* the first of those that users name */
} DTypeCode;

typedef struct DataType {
  uint8_t code; /* a DTypeCode */
  uint8_t bits;
  int16_t lanes; /* negative: -lanes x vscale */
} DataType;

#define DTYPE_OF(CODE, nbits) ((DataType){DTYPE_##CODE, nbits, 1})
#define INT32                 DTYPE_OF(INT, 32)
#define INT64                 DTYPE_OF(INT, 64)
#define UINT8                 DTYPE_OF(UINT, 8)
#define FLOAT32               DTYPE_OF(FLOAT, 32)
#define FLOAT64               DTYPE_OF(FLOAT, 64)
#define BOOL                  DTYPE_OF(BOOL, 8)
#define HANDLE                DTYPE_OF(HANDLE, 64)
#define VOID_TYPE             DTYPE_OF(VOID, 0)

/* Reads "custom[posit]16", "int32", "float16x8", "bool", "handle", "void", "" (void),
 * "e4m3_float8", "float32xvscalex4". False if the text names no dtype. */
bool dtype_parse(const char *text, DataType *out);
const char *dtype_text(DataType t); /* interned; "void" for void */

DataType dtype_from_dlpack(int code, int bits, int lanes);
int dtype_dlpack_code(DataType t);

static inline bool dtype_equal(DataType a, DataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
static inline bool dtype_is_void(DataType t) { return t.code == DTYPE_VOID; }
static inline bool dtype_is_bool(DataType t) { return t.code == DTYPE_BOOL; }
static inline bool dtype_is_handle(DataType t) { return t.code == DTYPE_HANDLE; }
/* A float of 8 bits or less. */
static inline bool dtype_is_mini_float(DataType t) {
  return t.code >= DTYPE_FLOAT8_E3M4 && t.code <= DTYPE_FLOAT4_E2M1;
}
/* custom[posit]16: a type that only its user knows, by name. */
static inline bool dtype_is_custom(DataType t) { return t.code >= DTYPE_CUSTOM; }
static inline bool dtype_is_float(DataType t) {
  return t.code == DTYPE_FLOAT || t.code == DTYPE_BFLOAT || dtype_is_mini_float(t);
}
/* Signed or unsigned; bool is not one. */
static inline bool dtype_is_int(DataType t) { return t.code == DTYPE_INT || t.code == DTYPE_UINT; }
static inline DataType dtype_element(DataType t) { return (DataType){t.code, t.bits, 1}; }
static inline DataType dtype_with_lanes(DataType t, int lanes) {
  return (DataType){t.code, t.bits, (int16_t)lanes};
}
/* Bytes of one value in memory: lanes * bits, rounded up to whole bytes. */
static inline int dtype_nbytes(DataType t) {
  return (t.bits * (t.lanes < 0 ? -t.lanes : t.lanes) + 7) / 8;
}

/* The value as the dtype can hold it: integers wrap to the width, floats round to nearest even
 * (overflow to infinity; to NaN where the dtype has no infinity; to the greatest number where it
 * has neither). */
int64_t dtype_wrap_int(DataType t, int64_t value);
double dtype_round_float(DataType t, double value);

/* Range of an integer dtype (of uint64: its high end is INT64_MAX). */
int64_t dtype_min_int(DataType t);
int64_t dtype_max_int(DataType t);

/* The greatest finite value of a float dtype, and whether it has infinities. */
double dtype_max_float(DataType t);
bool dtype_has_infinity(DataType t);

/* Bits of a float of 16 bits or less, and back. */
uint32_t dtype_float_to_bits(DataType t, double value);
double dtype_float_from_bits(DataType t, uint32_t bits);

#endif
