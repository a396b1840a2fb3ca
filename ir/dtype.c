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

/* ---- dtypes that users name ---- */

static struct {
  const char *names[256 - DTYPE_CUSTOM]; /* interned */
  int len;
} custom;

static int custom_code(const char *name) {
  for (int i = 0; i < custom.len; i++)
    if (custom.names[i] == name) return DTYPE_CUSTOM + i;
  if (custom.len == 256 - DTYPE_CUSTOM) return -1;
  custom.names[custom.len] = name;
  return DTYPE_CUSTOM + custom.len++;
}

/* custom[name]bits */
static bool parse_custom(const char *text, DataType *out) {
  static const char mark[] = "custom[";
  size_t n = sizeof mark - 1;
  const char *close = strchr(text, ']');
  if (strncmp(text, mark, n) != 0 || !close) return false;
  char *end;
  long bits = close[1] >= '1' && close[1] <= '9' ? strtol(close + 1, &end, 10) : 0;
  int code = custom_code(str_intern_n(text + n, (size_t)(close - text) - n));
  if (bits < 1 || bits > 64 || code < 0) return false;
  *out = (DataType){(uint8_t)code, (uint8_t)bits, 1};
  return parse_lanes(end, out);
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
    {"int", "int32"},
    {"uint", "uint32"},
    {"float", "float32"},
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

static bool parse(const char *text, DataType *out) {
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
  return parse_custom(text, out);
}

/* Texts name the same few dtypes again and again. */
bool dtype_parse(const char *text, DataType *out) {
  static Map known; /* text to DataType */
  text = str_intern(text);
  const DataType *t = map_get(&known, text);
  if (!t) {
    if (!parse(text, out)) return false;
    map_set(&known, text, NEW(DataType, out->code, out->bits, out->lanes));
    return true;
  }
  *out = *t;
  return true;
}

static const char *make_text(DataType t) {
  Str s = {0};
  if (dtype_is_custom(t))
    str_printf(&s, "custom[%s]%d", custom.names[t.code - DTYPE_CUSTOM], t.bits);
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

/* ---- floats of 16 bits or less: sign, exponent, mantissa ---- */

/* What the codes that are no numbers mean. */
typedef enum {
  IEEE,     /* the topmost exponent: infinities and NaNs */
  TOP_NAN,  /* all ones is NaN, with either sign */
  ZERO_NAN, /* what would be -0 is NaN */
  FINITE    /* all are numbers */
} Specials;

typedef struct MiniFloat {
  DTypeCode code;
  int exponent_bits, mantissa_bits, bias;
  Specials specials;
  bool is_unsigned;
} MiniFloat;

static const MiniFloat mini_floats[] = {
    {DTYPE_FLOAT, 5, 10, 15, IEEE, false},
    {DTYPE_BFLOAT, 8, 7, 127, IEEE, false},
    {DTYPE_FLOAT8_E3M4, 3, 4, 3, IEEE, false},
    {DTYPE_FLOAT8_E4M3_IEEE, 4, 3, 7, IEEE, false},
    {DTYPE_FLOAT8_E4M3B11FNUZ, 4, 3, 11, ZERO_NAN, false},
    {DTYPE_FLOAT8_E4M3, 4, 3, 7, TOP_NAN, false},
    {DTYPE_FLOAT8_E4M3FNUZ, 4, 3, 8, ZERO_NAN, false},
    {DTYPE_FLOAT8_E5M2, 5, 2, 15, IEEE, false},
    {DTYPE_FLOAT8_E5M2FNUZ, 5, 2, 16, ZERO_NAN, false},
    {DTYPE_FLOAT8_E8M0, 8, 0, 127, TOP_NAN, true},
    {DTYPE_FLOAT6_E2M3, 2, 3, 1, FINITE, false},
    {DTYPE_FLOAT6_E3M2, 3, 2, 3, FINITE, false},
    {DTYPE_FLOAT4_E2M1, 2, 1, 1, FINITE, false},
};

static const MiniFloat *mini_float(DataType t) {
  for (size_t i = 0; i < sizeof mini_floats / sizeof *mini_floats; i++)
    if (mini_floats[i].code == t.code) return &mini_floats[i];
  BUG("%s is no small float", dtype_text(t));
}

static uint32_t top_of(const MiniFloat *f) { return (1u << f->exponent_bits) - 1; }
static uint32_t mantissa_mask(const MiniFloat *f) { return (1u << f->mantissa_bits) - 1; }
static uint32_t all_ones(const MiniFloat *f) {
  return top_of(f) << f->mantissa_bits | mantissa_mask(f);
}
static uint32_t sign_bit(const MiniFloat *f) {
  return f->is_unsigned ? 0 : 1u << (f->exponent_bits + f->mantissa_bits);
}

/* The largest code of a number. */
static uint32_t last_finite(const MiniFloat *f) {
  switch (f->specials) {
  case IEEE: return (top_of(f) << f->mantissa_bits) - 1;
  case TOP_NAN: return all_ones(f) - 1;
  default: return all_ones(f);
  }
}

static uint32_t nan_bits(const MiniFloat *f, uint32_t sign) {
  switch (f->specials) {
  case IEEE: return sign | top_of(f) << f->mantissa_bits | 1u << (f->mantissa_bits - 1);
  case TOP_NAN: return sign | all_ones(f);
  case ZERO_NAN: return sign_bit(f);
  default: return sign | all_ones(f); /* there is none: the greatest number */
  }
}

static uint32_t overflow_bits(const MiniFloat *f, uint32_t sign) {
  return f->specials == IEEE ? sign | top_of(f) << f->mantissa_bits : nan_bits(f, sign);
}

static uint32_t zero_bits(const MiniFloat *f, uint32_t sign) {
  return f->specials == ZERO_NAN ? 0 : sign;
}

uint32_t dtype_float_to_bits(DataType t, double value) {
  const MiniFloat *f = mini_float(t);
  uint32_t sign = signbit(value) ? sign_bit(f) : 0;
  if (isnan(value) || (f->is_unsigned && value < 0)) return nan_bits(f, sign);
  if (isinf(value)) return overflow_bits(f, sign);
  if (value == 0) return zero_bits(f, sign);
  int exponent, least = f->mantissa_bits ? 1 - f->bias : -f->bias;
  frexp(value, &exponent);
  exponent--; /* 1.m * 2^exponent */
  if (exponent < least) exponent = least;
  /* The mantissa as an integer, rounded once, ties to even: scaling a double by a power of two is
   * exact unless it falls below the double's own least numbers, which round to 0 here. */
  double q = rint(ldexp(fabs(value), f->mantissa_bits - exponent));
  if (q >= ldexp(1, f->mantissa_bits + 1)) q /= 2, exponent++;
  bool normal = q >= ldexp(1, f->mantissa_bits);
  if (!f->mantissa_bits)
    return exponent + f->bias > 254 ? overflow_bits(f, 0)
           : q < 1                  ? 0
                                    : (uint32_t)(exponent + f->bias);
  int field = normal ? exponent + f->bias : 0;
  if (field > (int)top_of(f)) return overflow_bits(f, sign);
  uint32_t code = (uint32_t)field << f->mantissa_bits | ((uint32_t)q & mantissa_mask(f));
  if (code > last_finite(f)) return overflow_bits(f, sign);
  return code ? sign | code : zero_bits(f, sign);
}

double dtype_float_from_bits(DataType t, uint32_t bits) {
  const MiniFloat *f = mini_float(t);
  uint32_t code = bits & all_ones(f), mantissa = bits & mantissa_mask(f);
  int field = (int)(code >> f->mantissa_bits);
  double sign = bits & sign_bit(f) ? -1 : 1;
  if (f->specials == ZERO_NAN && sign < 0 && !code) return NAN;
  if (code > last_finite(f)) {
    bool infinite = f->specials == IEEE && !mantissa;
    return infinite ? sign * INFINITY : copysign(NAN, sign);
  }
  if (!f->mantissa_bits) return ldexp(1, field - f->bias);
  if (!field) return sign * ldexp(mantissa, 1 - f->bias - f->mantissa_bits);
  return sign *
         ldexp((double)(mantissa | 1u << f->mantissa_bits), field - f->bias - f->mantissa_bits);
}

double dtype_max_float(DataType t) {
  if (t.code == DTYPE_FLOAT && t.bits == 64) return __DBL_MAX__;
  if (t.code == DTYPE_FLOAT && t.bits == 32) return __FLT_MAX__;
  return dtype_float_from_bits(t, last_finite(mini_float(t)));
}

bool dtype_has_infinity(DataType t) {
  return (t.code == DTYPE_FLOAT && t.bits > 16) || mini_float(t)->specials == IEEE;
}

double dtype_round_float(DataType t, double value) {
  if ((t.code == DTYPE_FLOAT && t.bits == 64) || dtype_is_custom(t)) return value;
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
