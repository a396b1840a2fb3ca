/* small_float.c -- see small_float.h. */
#include "target/small_float.h"
#include "ir/ir.h"

static const struct {
  DTypeCode code;
  uint32_t bits, mantissa, bias;
} formats[] = {{DTYPE_FLOAT, 16, 10, 15},
               {DTYPE_BFLOAT, 16, 7, 127},
               {DTYPE_FLOAT8_E3M4, 8, 4, 3},
               {DTYPE_FLOAT8_E4M3_IEEE, 8, 3, 7},
               {DTYPE_FLOAT8_E4M3B11FNUZ, 8, 3, 11},
               {DTYPE_FLOAT8_E4M3, 8, 3, 7},
               {DTYPE_FLOAT8_E4M3FNUZ, 8, 3, 8},
               {DTYPE_FLOAT8_E5M2, 8, 2, 15},
               {DTYPE_FLOAT8_E5M2FNUZ, 8, 2, 16},
               {DTYPE_FLOAT8_E8M0, 8, 0, 127},
               {DTYPE_FLOAT6_E2M3, 6, 3, 1},
               {DTYPE_FLOAT6_E3M2, 6, 2, 3},
               {DTYPE_FLOAT4_E2M1, 4, 1, 1}};
enum { FORMATS = sizeof formats / sizeof *formats };

static int find(DataType t) {
  for (int i = 0; i < FORMATS; i++)
    if (formats[i].code == (DTypeCode)t.code && formats[i].bits == t.bits) return i;
  return -1;
}

bool small_float_known(DataType t) { return find(t) >= 0; }

SmallFloat small_float_of(DataType t) {
  int i = find(t);
  REQUIRE(i >= 0, "%s has a format", dtype_text(t));
  DataType one = dtype_element(t);
  if (formats[i].code == DTYPE_FLOAT8_E8M0)
    return (SmallFloat){.bits = 8,
                        .bias = 127,
                        .size = 0xff,
                        .last = 0xfe,
                        .over = 0xff,
                        .nan = 0xff,
                        .drop = 23,
                        .is_power = true};
  uint32_t bits = formats[i].bits, mantissa = formats[i].mantissa, bias = formats[i].bias;
  uint32_t sign = 1u << (bits - 1), nan = dtype_float_to_bits(one, __builtin_nan(""));
  return (SmallFloat){.bits = bits,
                      .mantissa = mantissa,
                      .bias = bias,
                      .sign = sign,
                      .size = sign - 1,
                      .up = 32 - bits,
                      .last = dtype_float_to_bits(one, dtype_max_float(one)),
                      .over = dtype_float_to_bits(one, __builtin_inf()),
                      .nan = nan == sign ? nan : nan & (sign - 1),
                      .zero_is_nan = nan == sign,
                      .drop = 23 - mantissa,
                      .scale = (254 - bias) << 23,
                      .half = (1u << (22 - mantissa)) - 1,
                      .rebias = (127 - bias) << mantissa,
                      .normal = (128 - bias) << 23,
                      .magic = (127 - bias + 24 - mantissa) << 23};
}
