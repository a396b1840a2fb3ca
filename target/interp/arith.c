/* arith.c -- arithmetic and comparison on two scalars of one dtype.
 *
 * Integers wrap to their width. Floats of less than 32 bits are computed in float32 and rounded,
 * which gives the bits of correctly rounded arithmetic. */
#include "target/interp/interp.h"
#include <math.h>

/* ---- integers: int64, int32, all others ---- */

#define UNUSED_CODE (void)c

static Scalar wrapped(const Code *c, uint64_t v) {
  return scalar_int(dtype_wrap_int(c->t, (int64_t)v));
}

#define WRAPPING(name, op)                                                                         \
  static Scalar name##_int(const Code *c, Scalar a, Scalar b) {                                    \
    return wrapped(c, (uint64_t)a.i op(uint64_t) b.i);                                             \
  }                                                                                                \
  static Scalar name##_i64(const Code *c, Scalar a, Scalar b) {                                    \
    UNUSED_CODE;                                                                                   \
    return scalar_int((int64_t)((uint64_t)a.i op(uint64_t) b.i));                                  \
  }                                                                                                \
  static Scalar name##_i32(const Code *c, Scalar a, Scalar b) {                                    \
    UNUSED_CODE;                                                                                   \
    return scalar_int((int32_t)(uint32_t)((uint64_t)a.i op(uint64_t) b.i));                        \
  }
WRAPPING(add, +)
WRAPPING(sub, -)
WRAPPING(mul, *)

static _Noreturn void division_by_zero(const Code *c) { fault(c->span, "division by zero"); }

static Scalar div_int(const Code *c, Scalar a, Scalar b) {
  if (!b.i) division_by_zero(c);
  if (b.i == -1) return wrapped(c, 0 - (uint64_t)a.i); /* the least integer has no negative */
  return scalar_int(a.i / b.i);
}
static Scalar mod_int(const Code *c, Scalar a, Scalar b) {
  if (!b.i) division_by_zero(c);
  return scalar_int(b.i == -1 ? 0 : a.i % b.i);
}
static Scalar floordiv_int(const Code *c, Scalar a, Scalar b) {
  if (!b.i) division_by_zero(c);
  if (b.i == -1) return wrapped(c, 0 - (uint64_t)a.i);
  return scalar_int(a.i / b.i - (a.i % b.i != 0 && (a.i < 0) != (b.i < 0)));
}
static Scalar floormod_int(const Code *c, Scalar a, Scalar b) {
  if (!b.i) division_by_zero(c);
  if (b.i == -1) return scalar_int(0);
  int64_t r = a.i % b.i;
  return scalar_int(r && (r < 0) != (b.i < 0) ? r + b.i : r);
}
static Scalar div_u64(const Code *c, Scalar a, Scalar b) {
  if (!b.i) division_by_zero(c);
  return scalar_int((int64_t)((uint64_t)a.i / (uint64_t)b.i));
}
static Scalar mod_u64(const Code *c, Scalar a, Scalar b) {
  if (!b.i) division_by_zero(c);
  return scalar_int((int64_t)((uint64_t)a.i % (uint64_t)b.i));
}

#define COMPARING(name, op)                                                                        \
  static Scalar name##_int(const Code *c, Scalar a, Scalar b) {                                    \
    UNUSED_CODE;                                                                                   \
    return scalar_int(a.i op b.i);                                                                 \
  }                                                                                                \
  static Scalar name##_u64(const Code *c, Scalar a, Scalar b) {                                    \
    UNUSED_CODE;                                                                                   \
    return scalar_int((uint64_t)a.i op(uint64_t) b.i);                                             \
  }                                                                                                \
  static Scalar name##_f32(const Code *c, Scalar a, Scalar b) {                                    \
    UNUSED_CODE;                                                                                   \
    return scalar_int(a.s op b.s);                                                                 \
  }                                                                                                \
  static Scalar name##_f64(const Code *c, Scalar a, Scalar b) {                                    \
    UNUSED_CODE;                                                                                   \
    return scalar_int(a.d op b.d);                                                                 \
  }
COMPARING(eq, ==)
COMPARING(ne, !=)
COMPARING(lt, <)
COMPARING(le, <=)
COMPARING(gt, >)
COMPARING(ge, >=)

#define CHOOSING(name, compare)                                                                    \
  static Scalar name##_int(const Code *c, Scalar a, Scalar b) {                                    \
    return compare##_int(c, a, b).i ? a : b;                                                       \
  }                                                                                                \
  static Scalar name##_u64(const Code *c, Scalar a, Scalar b) {                                    \
    return compare##_u64(c, a, b).i ? a : b;                                                       \
  }                                                                                                \
  static Scalar name##_f32(const Code *c, Scalar a, Scalar b) {                                    \
    return compare##_f32(c, a, b).i ? a : b;                                                       \
  }                                                                                                \
  static Scalar name##_f64(const Code *c, Scalar a, Scalar b) {                                    \
    return compare##_f64(c, a, b).i ? a : b;                                                       \
  }
CHOOSING(min, lt)
CHOOSING(max, gt)

/* ---- floats ---- */

static float floormod_float(float a, float b) {
  float r = fmodf(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static double floormod_double(double a, double b) {
  double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

#define FLOATING(name, of_float, of_double)                                                        \
  static Scalar name##_f32(const Code *c, Scalar x, Scalar y) {                                    \
    UNUSED_CODE;                                                                                   \
    float a = x.s, b = y.s;                                                                        \
    return (Scalar){.s = of_float};                                                                \
  }                                                                                                \
  static Scalar name##_f64(const Code *c, Scalar x, Scalar y) {                                    \
    UNUSED_CODE;                                                                                   \
    double a = x.d, b = y.d;                                                                       \
    return (Scalar){.d = of_double};                                                               \
  }
FLOATING(add, a + b, a + b)
FLOATING(sub, a - b, a - b)
FLOATING(mul, a *b, a *b)
FLOATING(div, a / b, a / b)
FLOATING(mod, fmodf(a, b), fmod(a, b))
FLOATING(floordiv, floorf(a / b), floor(a / b))
FLOATING(floormod, floormod_float(a, b), floormod_double(a, b))

/* ---- the table ---- */

typedef struct Row {
  BinaryOp *any_int, *i32, *i64, *u64, *f32, *f64;
} Row;

#define ARITHMETIC(name)                                                                           \
  { name##_int, name##_i32, name##_i64, name##_int, name##_f32, name##_f64 }
#define DIVISION(name, u64)                                                                        \
  { name##_int, name##_int, name##_int, u64, name##_f32, name##_f64 }
#define COMPARISON(name)                                                                           \
  { name##_int, name##_int, name##_int, name##_u64, name##_f32, name##_f64 }

static const Row rows[] = {
    [NK_Add] = ARITHMETIC(add),
    [NK_Sub] = ARITHMETIC(sub),
    [NK_Mul] = ARITHMETIC(mul),
    [NK_Div] = DIVISION(div, div_u64),
    [NK_Mod] = DIVISION(mod, mod_u64),
    [NK_FloorDiv] = DIVISION(floordiv, div_u64),
    [NK_FloorMod] = DIVISION(floormod, mod_u64),
    [NK_Min] = COMPARISON(min),
    [NK_Max] = COMPARISON(max),
    [NK_EQ] = COMPARISON(eq),
    [NK_NE] = COMPARISON(ne),
    [NK_LT] = COMPARISON(lt),
    [NK_LE] = COMPARISON(le),
    [NK_GT] = COMPARISON(gt),
    [NK_GE] = COMPARISON(ge),
};

static BinaryOp *row_op(const Row *r, DataType t) {
  if (dtype_is_float(t)) return t.bits == 64 ? r->f64 : r->f32;
  if (dtype_is_handle(t) || (t.code == DTYPE_UINT && t.bits == 64)) return r->u64;
  if (t.code == DTYPE_INT && t.bits == 32) return r->i32;
  return t.code == DTYPE_INT && t.bits == 64 ? r->i64 : r->any_int;
}

BinaryOp *arith_op(NodeKind kind, DataType t) {
  if (kind < NK_Add || kind > NK_GE) return NULL;
  return row_op(&rows[kind], t);
}
