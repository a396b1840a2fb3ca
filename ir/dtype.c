/* dtype.c -- names of dtypes, and what integers and floats of each can hold. */
#include "ir/dtype.h"
#include "ir/ir_impl.h"
#include <math.h>
#include <stdlib.h>

static const struct {
  DTypeCode code;
  const char *prefix, *widths;
  int dlpack;
} rows[] = {
#define DTYPE(NAME, prefix, widths, dlpack, doc) {DTYPE_##NAME, prefix, widths, dlpack},
#include "ir/dtype.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- names ---- */

/* Is the width in the set, a list of numbers such as "8 16"? */
static bool has_width(const char *widths, long bits) {
  for (char *end; *widths; widths = end) {
    if (strtol(widths, &end, 10) == bits) return true;
    if (end == widths) break;
  }
  return false;
}

/* Names without a width: "bool", "handle", "float8_e5m2". */
static bool is_whole_name(int row) {
  return !strchr(rows[row].widths, ' ') && rows[row].code != DTYPE_BFLOAT;
}

/* "x4", "xvscalex4" or nothing. */
static bool parse_lanes(const char *text, DataType *t) {
  if (!*text) return true;
  if (*text++ != 'x') return false;
  bool scalable = strncmp(text, "vscalex", 7) == 0;
  if (scalable) text += 7;
  char *end;
  if (*text < '1' || *text > '9') return false;
  long lanes = strtol(text, &end, 10);
  if (lanes > INT16_MAX || *end) return false;
  t->lanes = (int16_t)(scalable ? -lanes : lanes);
  return true;
}

static bool parse_row(int row, const char *text, DataType *out) {
  size_t n = strlen(rows[row].prefix);
  if (strncmp(text, rows[row].prefix, n) != 0) return false;
  *out = (DataType){(uint8_t)rows[row].code, (uint8_t)strtol(rows[row].widths, NULL, 10), 1};
  text += n;
  if (!is_whole_name(row)) {
    char *end;
    if (*text < '1' || *text > '9') return false;
    long bits = strtol(text, &end, 10);
    if (!has_width(rows[row].widths, bits)) return false;
    out->bits = (uint8_t)bits;
    text = end;
  }
  return parse_lanes(text, out);
}

/* Other spellings of the part before the lanes. */
static const struct {
  const char *other, *name;
} spellings[] = {
    {"e4m3_float8", "float8_e4m3fn"},
    {"e5m2_float8", "float8_e5m2"},
    {"float8", "float8_e4m3fn"},
    {"uint1", "bool"},
    {"bf16", "bfloat16"},
    {"f16", "float16"},
    {"f32", "float32"},
    {"f64", "float64"},
    {"i8", "int8"},
    {"i16", "int16"},
    {"i32", "int32"},
    {"i64", "int64"},
    {"u8", "uint8"},
    {"u16", "uint16"},
    {"u32", "uint32"},
    {"u64", "uint64"},
};

bool dtype_parse(const char *text, DataType *out) {
  if (!*text) {
    *out = VOID_TYPE;
    return true;
  }
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
    size_t n = strlen(spellings[i].other);
    if (strncmp(text, spellings[i].other, n) != 0 || (text[n] && text[n] != 'x')) continue;
    text = str_format("%s%s", spellings[i].name, text + n);
    break;
  }
  for (int row = ROWS - 1; row >= 0; row--) /* "float8_e5m2" before "float" */
    if (parse_row(row, text, out)) return true;
  return false;
}

static const char *make_text(DataType t) {
  Str s = {0};
  for (int row = 0; row < ROWS; row++) {
    if (rows[row].code != t.code) continue;
    str_add(&s, rows[row].prefix);
    if (!is_whole_name(row)) str_printf(&s, "%d", t.bits);
  }
  if (t.lanes < 0) str_printf(&s, "xvscalex%d", -t.lanes);
  else if (t.lanes != 1) str_printf(&s, "x%d", t.lanes);
  return str_intern(str_text(&s));
}

const char *dtype_text(DataType t) {
  static const char *scalars[ROWS][65]; /* made when first asked for */
  if (t.lanes != 1 || t.code >= ROWS || t.bits > 64) return make_text(t);
  const char **slot = &scalars[t.code][t.bits];
  if (!*slot) *slot = make_text(t);
  return *slot;
}

DataType dtype_from_dlpack(int code, int bits, int lanes) {
  for (int row = 0; row < ROWS; row++)
    if (rows[row].dlpack == code)
      return (DataType){(uint8_t)rows[row].code, (uint8_t)bits, (int16_t)lanes};
  return VOID_TYPE;
}

int dtype_dlpack_code(DataType t) {
  for (int row = 0; row < ROWS; row++)
    if (rows[row].code == t.code) return rows[row].dlpack;
  return dtype_dlpack_code(VOID_TYPE);
}

/* ---- integers ---- */

int64_t dtype_wrap_int(DataType t, int64_t value) {
  if (t.code == DTYPE_BOOL) return value != 0;
  if (t.bits >= 64) return value;
  uint64_t mask = ((uint64_t)1 << t.bits) - 1, low = (uint64_t)value & mask;
  if (t.code == DTYPE_INT && t.bits && low >> (t.bits - 1)) low |= ~mask;
  return (int64_t)low;
}

int64_t dtype_min_int(DataType t) {
  if (t.code != DTYPE_INT) return 0;
  return t.bits >= 64 ? INT64_MIN : -((int64_t)1 << (t.bits - 1));
}

int64_t dtype_max_int(DataType t) {
  if (t.code == DTYPE_BOOL) return 1;
  int bits = t.code == DTYPE_INT ? t.bits - 1 : t.bits;
  return bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
}

/* ---- floats of 8 and 16 bits: sign, exponent, mantissa ---- */

typedef struct MiniFloat {
  int exponent_bits, mantissa_bits;
  bool has_infinity; /* else the largest exponent holds numbers too, and all ones is NaN */
} MiniFloat;

static MiniFloat mini_float(DataType t) {
  if (t.code == DTYPE_BFLOAT) return (MiniFloat){8, 7, true};
  if (t.code == DTYPE_FLOAT8_E4M3) return (MiniFloat){4, 3, false};
  if (t.code == DTYPE_FLOAT8_E5M2) return (MiniFloat){5, 2, true};
  return (MiniFloat){5, 10, true};
}

static uint32_t nan_bits(MiniFloat f) {
  uint32_t exponent = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
  uint32_t ones = (1u << f.mantissa_bits) - 1;
  return f.has_infinity ? exponent | 1u << (f.mantissa_bits - 1) : exponent | ones;
}

uint32_t dtype_float_to_bits(DataType t, double value) {
  MiniFloat f = mini_float(t);
  int bias = (1 << (f.exponent_bits - 1)) - 1, top = (1 << f.exponent_bits) - 1;
  uint32_t sign = signbit(value) ? 1u << (f.exponent_bits + f.mantissa_bits) : 0;
  uint32_t overflow = f.has_infinity ? (uint32_t)top << f.mantissa_bits : nan_bits(f);
  if (isnan(value)) return sign | nan_bits(f);
  if (isinf(value)) return sign | overflow;
  if (value == 0) return sign;
  int exponent;
  frexp(value, &exponent);
  exponent--; /* 1.m * 2^exponent */
  if (exponent < 1 - bias) exponent = 1 - bias;
  /* The mantissa as an integer, rounded once, ties to even: scaling a double by a power of two is
   * exact unless it falls below the double's own least numbers, which round to 0 here. */
  double q = rint(ldexp(fabs(value), f.mantissa_bits - exponent));
  if (q >= ldexp(1, f.mantissa_bits + 1)) q /= 2, exponent++;
  bool normal = q >= ldexp(1, f.mantissa_bits);
  int field = normal ? exponent + bias : 0;
  if (field > top || (field == top && f.has_infinity)) return sign | overflow;
  uint32_t mantissa = (uint32_t)q & ((1u << f.mantissa_bits) - 1);
  return sign | (uint32_t)field << f.mantissa_bits | mantissa;
}

double dtype_float_from_bits(DataType t, uint32_t bits) {
  MiniFloat f = mini_float(t);
  int bias = (1 << (f.exponent_bits - 1)) - 1, top = (1 << f.exponent_bits) - 1;
  uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
  int field = (int)(bits >> f.mantissa_bits) & top;
  double sign = bits >> (f.exponent_bits + f.mantissa_bits) & 1 ? -1 : 1;
  if (f.has_infinity && field == top) return mantissa ? copysign(NAN, sign) : sign * INFINITY;
  if (!f.has_infinity && (bits & nan_bits(f)) == nan_bits(f)) return copysign(NAN, sign);
  if (!field) return sign * ldexp(mantissa, 1 - bias - f.mantissa_bits);
  return sign * ldexp((double)(mantissa | 1u << f.mantissa_bits), field - bias - f.mantissa_bits);
}

double dtype_round_float(DataType t, double value) {
  if (t.code == DTYPE_FLOAT && t.bits == 64) return value;
  if (t.code == DTYPE_FLOAT && t.bits == 32) return (double)(float)value;
  return dtype_float_from_bits(t, dtype_float_to_bits(t, value));
}

uint64_t const_element_bits(const ConstData *d, size_t at) {
  DataType t = d->elem;
  uint64_t bits = 0;
  memcpy(&bits, (const char *)d->bytes + at, (size_t)dtype_nbytes(t));
  bool is_nan;
  if (t.bits == 64) is_nan = bits << 1 > (uint64_t)0x7ff << 53;
  else if (t.bits == 32) is_nan = (uint32_t)(bits << 1) > 0xffu << 24;
  else is_nan = isnan(dtype_float_from_bits(t, (uint32_t)bits));
  return is_nan ? UINT64_MAX : bits;
}
