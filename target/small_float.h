/* small_float.h -- the formats of floats of less than 32 bits, as numbers by which back ends turn
 * their bits into a float32 and back.
 *
 * Widening: the bits without the sign, shifted left by `drop`, are a float32 that is too small by a
 * power of two, which a product with the float32 of bits `scale` corrects, subnormals included.
 * Narrowing: `half` and the last bit that stays are added to the bits, which then are shifted right
 * by `drop` and moved down by `rebias`. A float32 whose bits are below `normal` has a subnormal
 * result: a sum with the float32 of bits `magic` rounds at its last bit. Formats without -0 have
 * NaN in its place (`zero_is_nan`). Of a format that holds powers of two alone (`is_power`) the
 * code is the exponent of a float32, but for 0, which is half of the least normal one; it has no
 * sign. */
#ifndef TARGET_SMALL_FLOAT_H
#define TARGET_SMALL_FLOAT_H

#include "ir/dtype.h"

typedef struct SmallFloat {
  uint32_t bits, mantissa, bias;
  uint32_t sign, size;      /* the bit of the sign, and all others */
  uint32_t up;              /* from the place of the sign to that of a float32 */
  uint32_t last, over, nan; /* the largest finite code, that of what is larger, and NaN's */
  uint32_t drop, scale, half, rebias, normal, magic;
  bool zero_is_nan, is_power;
} SmallFloat;

bool small_float_known(DataType t); /* has the dtype such a format? */
SmallFloat small_float_of(DataType t);

#endif
