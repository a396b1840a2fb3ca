/* math.c -- the functions of floating-point mathematics, by libm in the width of the dtype.
 *
 * Floats of less than 32 bits are computed in float32 and rounded. Of integers, the roundings are
 * the integer itself and fabs is the absolute value. */
#include "target/interp/interp.h"
#include <math.h>

/* name(x) of float32, float64 and smaller floats. */
#define FUNCTION1(name, of_float, of_double)                                                       \
  static float name##_float(float x) { return of_float; }                                          \
  static double name##_double(double x) { return of_double; }                                      \
  static Scalar name##_f32(const Code *c, const Scalar *x) {                                       \
    (void)c;                                                                                       \
    return (Scalar){.s = name##_float(x[0].s)};                                                    \
  }                                                                                                \
  static Scalar name##_f64(const Code *c, const Scalar *x) {                                       \
    (void)c;                                                                                       \
    return (Scalar){.d = name##_double(x[0].d)};                                                   \
  }                                                                                                \
  static Scalar name##_small(const Code *c, const Scalar *x) {                                     \
    return scalar_from_float(c->t, name##_float(scalar_to_float(c->t, x[0])));                     \
  }

#define LIBM1(name) FUNCTION1(name, name##f(x), name(x))

#define FUNCTION2(name)                                                                            \
  static Scalar name##_f32(const Code *c, const Scalar *x) {                                       \
    (void)c;                                                                                       \
    return (Scalar){.s = name##f(x[0].s, x[1].s)};                                                 \
  }                                                                                                \
  static Scalar name##_f64(const Code *c, const Scalar *x) {                                       \
    (void)c;                                                                                       \
    return (Scalar){.d = name(x[0].d, x[1].d)};                                                    \
  }                                                                                                \
  static Scalar name##_small(const Code *c, const Scalar *x) {                                     \
    float a = scalar_to_float(c->t, x[0]), b = scalar_to_float(c->t, x[1]);                        \
    return scalar_from_float(c->t, name##f(a, b));                                                 \
  }

LIBM1(exp)
LIBM1(exp2)
LIBM1(exp10)
LIBM1(log)
LIBM1(log2)
LIBM1(log10)
LIBM1(log1p)
LIBM1(sqrt)
FUNCTION1(rsqrt, 1.0f / sqrtf(x), 1.0 / sqrt(x))
LIBM1(sin)
LIBM1(cos)
LIBM1(tan)
LIBM1(asin)
LIBM1(acos)
LIBM1(atan)
LIBM1(sinh)
LIBM1(cosh)
LIBM1(tanh)
LIBM1(asinh)
LIBM1(acosh)
LIBM1(atanh)
LIBM1(erf)
FUNCTION1(sigmoid, 1.0f / (1.0f + expf(-x)), 1.0 / (1.0 + exp(-x)))
LIBM1(fabs)
LIBM1(floor)
LIBM1(ceil)
LIBM1(trunc)
FUNCTION1(nearest, nearbyintf(x), nearbyint(x)) /* ties to even: the rounding mode is not changed */

FUNCTION2(atan2)
FUNCTION2(hypot)
FUNCTION2(copysign)
FUNCTION2(pow)
FUNCTION2(fmod)

static Scalar fma_f32(const Code *c, const Scalar *x) {
  (void)c;
  return (Scalar){.s = fmaf(x[0].s, x[1].s, x[2].s)};
}
static Scalar fma_f64(const Code *c, const Scalar *x) {
  (void)c;
  return (Scalar){.d = fma(x[0].d, x[1].d, x[2].d)};
}
static Scalar fma_small(const Code *c, const Scalar *x) {
  float a = scalar_to_float(c->t, x[0]), b = scalar_to_float(c->t, x[1]);
  return scalar_from_float(c->t, fmaf(a, b, scalar_to_float(c->t, x[2])));
}

/* ---- integers ---- */

static Scalar int_same(const Code *c, const Scalar *x) {
  (void)c;
  return x[0];
}

static Scalar int_abs(const Code *c, const Scalar *x) {
  bool negative = c->t.code == DTYPE_INT && x[0].i < 0;
  return negative ? scalar_int(dtype_wrap_int(c->t, (int64_t)(0 - (uint64_t)x[0].i))) : x[0];
}

/* ---- the table ---- */

#define ROW(name, function, of_int)                                                                \
  { #name, function##_f32, function##_f64, function##_small, of_int }

static const struct {
  const char *name;
  LaneOp *f32, *f64, *small, *of_int;
} rows[] = {
    ROW(exp, exp, NULL),
    ROW(exp2, exp2, NULL),
    ROW(exp10, exp10, NULL),
    ROW(log, log, NULL),
    ROW(log2, log2, NULL),
    ROW(log10, log10, NULL),
    ROW(log1p, log1p, NULL),
    ROW(sqrt, sqrt, NULL),
    ROW(rsqrt, rsqrt, NULL),
    ROW(sin, sin, NULL),
    ROW(cos, cos, NULL),
    ROW(tan, tan, NULL),
    ROW(asin, asin, NULL),
    ROW(acos, acos, NULL),
    ROW(atan, atan, NULL),
    ROW(sinh, sinh, NULL),
    ROW(cosh, cosh, NULL),
    ROW(tanh, tanh, NULL),
    ROW(asinh, asinh, NULL),
    ROW(acosh, acosh, NULL),
    ROW(atanh, atanh, NULL),
    ROW(erf, erf, NULL),
    ROW(sigmoid, sigmoid, NULL),
    ROW(atan2, atan2, NULL),
    ROW(hypot, hypot, NULL),
    ROW(copysign, copysign, NULL),
    ROW(pow, pow, NULL),
    ROW(fmod, fmod, NULL),
    ROW(fma, fma, NULL),
    ROW(fabs, fabs, int_abs),
    ROW(floor, floor, int_same),
    ROW(ceil, ceil, int_same),
    ROW(trunc, trunc, int_same),
    ROW(round, nearest, int_same),
    ROW(nearbyint, nearest, int_same),
};

LaneOp *math_op(const char *name, DataType t) {
  for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
    if (!str_same(rows[i].name, name)) continue;
    if (!dtype_is_float(t)) return rows[i].of_int;
    return is_small_float(t) ? rows[i].small : t.bits == 64 ? rows[i].f64 : rows[i].f32;
  }
  return NULL;
}
