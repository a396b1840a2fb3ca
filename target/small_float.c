/* small_float.c -- see small_float.h. */
#include "target/small_float.h"
#include "ir/ir.h"

static const struct {
  DTypeCode code;
  uint32_t bits, mantissa, bias;
  bool has_infinity; /* else the topmost code alone is NaN */
} formats[] = {{DTYPE_FLOAT, 16, 10, 15, true},
               {DTYPE_BFLOAT, 16, 7, 127, true},
               {DTYPE_FLOAT8_E4M3, 8, 3, 7, false},
               {DTYPE_FLOAT8_E5M2, 8, 2, 15, true}};

SmallFloat small_float_of(DataType t) {
  size_t i = 0, n = sizeof formats / sizeof *formats;
  while (i < n && (formats[i].code != (DTypeCode)t.code || formats[i].bits != t.bits)) i++;
  REQUIRE(i < n, "%s has a format", dtype_text(t));
  uint32_t bits = formats[i].bits, mantissa = formats[i].mantissa, bias = formats[i].bias;
  uint32_t sign = 1u << (bits - 1), infinity = sign - (1u << mantissa);
  uint32_t nan = dtype_float_to_bits(dtype_element(t), __builtin_nan("")) & (sign - 1);
  uint32_t over = formats[i].has_infinity ? infinity : nan;
  return (SmallFloat){.bits = bits,
                      .mantissa = mantissa,
                      .bias = bias,
                      .sign = sign,
                      .size = sign - 1,
                      .up = 32 - bits,
                      .last = over - 1,
                      .over = over,
                      .nan = nan,
                      .drop = 23 - mantissa,
                      .scale = (254 - bias) << 23,
                      .half = (1u << (22 - mantissa)) - 1,
                      .rebias = (127 - bias) << mantissa,
                      .normal = (128 - bias) << 23,
                      .magic = (127 - bias + 24 - mantissa) << 23};
}
