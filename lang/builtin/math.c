/* math.c -- the module math. Functions raise as Python's do: no NaN comes out of numbers. */
#include "lang/builtin/builtin.h"
#include <math.h>

static double arg(BuiltinCall *c, int i) {
  return value_as_float(c->args[i], "the argument", c->spans[i]);
}

/* A result that is NaN or infinite although the arguments were finite is an error. */
static Value checked(BuiltinCall *c, double r, bool finite) {
  if (finite && isnan(r))
    raise("ValueError", c->span, "math domain error in %s()", c->builtin->name);
  if (finite && isinf(r))
    raise("OverflowError", c->span, "math range error in %s()", c->builtin->name);
  return value_float(r);
}

#define UNARY(name, function)                                                                      \
  static Value math_##name(BuiltinCall *c) {                                                       \
    double x = arg(c, 0);                                                                          \
    return checked(c, function(x), isfinite(x));                                                   \
  }
UNARY(sqrt, sqrt)
UNARY(cbrt, cbrt)
UNARY(exp, exp)
UNARY(exp2, exp2)
UNARY(expm1, expm1)
UNARY(log1p, log1p)
UNARY(sin, sin)
UNARY(cos, cos)
UNARY(tan, tan)
UNARY(asin, asin)
UNARY(acos, acos)
UNARY(atan, atan)
UNARY(sinh, sinh)
UNARY(cosh, cosh)
UNARY(tanh, tanh)
UNARY(asinh, asinh)
UNARY(acosh, acosh)
UNARY(atanh, atanh)
UNARY(erf, erf)
UNARY(erfc, erfc)
UNARY(gamma, tgamma)
UNARY(lgamma, lgamma)
UNARY(fabs, fabs)
#undef UNARY

#define BINARY(name, function)                                                                     \
  static Value math_##name(BuiltinCall *c) {                                                       \
    double x = arg(c, 0), y = arg(c, 1);                                                           \
    return checked(c, function(x, y), isfinite(x) && isfinite(y));                                 \
  }
BINARY(atan2, atan2)
BINARY(fmod, fmod)
BINARY(copysign, copysign)
BINARY(pow, pow)
BINARY(nextafter, nextafter)
BINARY(remainder, remainder)
#undef BINARY

static double positive(BuiltinCall *c) {
  double x = arg(c, 0);
  if (x <= 0)
    raise("ValueError", c->spans[0], "math domain error in %s(): %s is not positive",
          c->builtin->name, value_repr(c->args[0]));
  return x;
}
static Value math_log(BuiltinCall *c) {
  double x = positive(c);
  if (!c->args[1].type) return value_float(log(x));
  double base = arg(c, 1);
  if (base <= 0) raise("ValueError", c->spans[1], "math domain error in log()");
  if (base == 1) raise("ZeroDivisionError", c->spans[1], "float division by zero");
  if (base == 2) return value_float(log2(x));
  if (base == 10) return value_float(log10(x));
  return value_float(log(x) / log(base));
}
static Value math_log2(BuiltinCall *c) { return value_float(log2(positive(c))); }
static Value math_log10(BuiltinCall *c) { return value_float(log10(positive(c))); }

/* ---- to ints ---- */

static Value to_int(BuiltinCall *c, double (*round_to)(double), const char *special) {
  Value x = c->args[0];
  if (x.type == &type_int) return x;
  if (x.type == &type_instance) {
    Value r = instance_special(x, special, 0, NULL, c->span);
    if (r.type) return r;
  }
  double r = round_to(arg(c, 0));
  if (isnan(r)) raise("ValueError", c->spans[0], "cannot convert float NaN to integer");
  if (!(r >= -9223372036854775808.0 && r < 9223372036854775808.0))
    raise("OverflowError", c->spans[0], "the float %s does not fit in a 64-bit int", value_repr(x));
  return value_int((int64_t)r);
}
static Value math_floor(BuiltinCall *c) { return to_int(c, floor, "__floor__"); }
static Value math_ceil(BuiltinCall *c) { return to_int(c, ceil, "__ceil__"); }
static Value math_trunc(BuiltinCall *c) { return to_int(c, trunc, "__trunc__"); }

static int64_t int_arg(BuiltinCall *c, int i) {
  return value_as_int(c->args[i], "the argument", c->spans[i]);
}
static int64_t not_negative(BuiltinCall *c, int i) {
  int64_t n = int_arg(c, i);
  if (n < 0)
    raise("ValueError", c->spans[i], "%s() needs an int that is not negative", c->builtin->name);
  return n;
}
_Noreturn static void too_large(BuiltinCall *c) {
  raise("OverflowError", c->span, "the result of %s() does not fit in a 64-bit int",
        c->builtin->name);
}

static Value math_isqrt(BuiltinCall *c) {
  int64_t n = not_negative(c, 0), r = (int64_t)sqrt((double)n);
  while ((__int128)r * r > n) r--;
  while ((__int128)(r + 1) * (r + 1) <= n) r++;
  return value_int(r);
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}
static uint64_t size_of(Value v, Span span) {
  int64_t x = value_as_int(v, "the argument", span);
  return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}
static Value math_gcd(BuiltinCall *c) {
  uint64_t r = 0;
  for each (Value, v, value_items(c->args[0])) r = common_divisor(r, size_of(*v, c->span));
  if (r > INT64_MAX) too_large(c);
  return value_int((int64_t)r);
}
static Value math_lcm(BuiltinCall *c) {
  uint64_t r = 1;
  for each (Value, v, value_items(c->args[0])) {
    uint64_t x = size_of(*v, c->span);
    if (!x) return value_int(0);
    if (__builtin_mul_overflow(r / common_divisor(r, x), x, &r) || r > INT64_MAX) too_large(c);
  }
  return value_int((int64_t)r);
}
static Value math_factorial(BuiltinCall *c) {
  int64_t n = not_negative(c, 0), r = 1;
  for (int64_t i = 2; i <= n; i++)
    if (__builtin_mul_overflow(r, i, &r)) too_large(c);
  return value_int(r);
}
static Value math_comb(BuiltinCall *c) {
  int64_t n = not_negative(c, 0), k = not_negative(c, 1);
  if (k > n) return value_int(0);
  if (k > n - k) k = n - k;
  unsigned __int128 r = 1;
  for (int64_t i = 1; i <= k; i++) {
    r = r * (unsigned __int128)(n - k + i) / (unsigned __int128)i;
    if (r > INT64_MAX) too_large(c);
  }
  return value_int((int64_t)r);
}
static Value math_perm(BuiltinCall *c) {
  int64_t n = not_negative(c, 0), r = 1;
  int64_t k = value_is_none(c->args[1]) ? n : not_negative(c, 1);
  for (int64_t i = 0; i < k && k <= n; i++)
    if (__builtin_mul_overflow(r, n - i, &r)) too_large(c);
  return value_int(k > n ? 0 : r);
}

/* ---- tests ---- */

static Value math_isnan(BuiltinCall *c) { return value_bool(isnan(arg(c, 0))); }
static Value math_isinf(BuiltinCall *c) { return value_bool(isinf(arg(c, 0))); }
static Value math_isfinite(BuiltinCall *c) { return value_bool(isfinite(arg(c, 0))); }
static Value math_isclose(BuiltinCall *c) {
  double a = arg(c, 0), b = arg(c, 1), relative = arg(c, 2), absolute = arg(c, 3);
  if (relative < 0 || absolute < 0) raise("ValueError", c->span, "tolerances must not be negative");
  if (a == b) return value_bool(true);
  if (isinf(a) || isinf(b)) return value_bool(false);
  double d = fabs(a - b);
  return value_bool(d <= fmax(relative * fmax(fabs(a), fabs(b)), absolute));
}

/* ---- the rest ---- */

static Value math_degrees(BuiltinCall *c) { return value_float(arg(c, 0) * (180 / M_PI)); }
static Value math_radians(BuiltinCall *c) { return value_float(arg(c, 0) * (M_PI / 180)); }
static Value math_ldexp(BuiltinCall *c) {
  int64_t e = int_arg(c, 1);
  double x = arg(c, 0);
  return checked(c, ldexp(x, (int)(e > 5000 ? 5000 : e < -5000 ? -5000 : e)), isfinite(x));
}
static Value math_frexp(BuiltinCall *c) {
  int e = 0;
  double m = frexp(arg(c, 0), &e);
  return value_tuple_of(2, value_float(m), value_int(e));
}
static Value math_modf(BuiltinCall *c) {
  double whole, part = modf(arg(c, 0), &whole);
  return value_tuple_of(2, value_float(part), value_float(whole));
}
static Value math_hypot(BuiltinCall *c) {
  double r = 0;
  for each (Value, v, value_items(c->args[0]))
    r = hypot(r, value_as_float(*v, "the argument", c->span));
  return value_float(r);
}

/* Neumaier's compensated sum: as good as exact but for extreme cancellation. */
static Value math_fsum(BuiltinCall *c) {
  double sum = 0, lost = 0;
  Value it = value_iter(c->args[0], c->spans[0]);
  for (Value v; (v = value_next(it, c->span)).type;) {
    double x = value_as_float(v, "each item", c->span), t = sum + x;
    lost += fabs(sum) >= fabs(x) ? sum - t + x : x - t + sum;
    sum = t;
  }
  return value_float(isfinite(lost) ? sum + lost : sum);
}

static Value math_prod(BuiltinCall *c) {
  Value r = c->args[1], it = value_iter(c->args[0], c->spans[0]);
  for (Value v; (v = value_next(it, c->span)).type;) r = value_binary(AST_MUL, r, v, c->span);
  return r;
}

#define ROW(name, signature, doc)                                                                  \
  { #name, signature, math_##name, doc }
static const Builtin rows[] = {
    ROW(acos, "x, /", "arc cosine"),
    ROW(acosh, "x, /", "inverse hyperbolic cosine"),
    ROW(asin, "x, /", "arc sine"),
    ROW(asinh, "x, /", "inverse hyperbolic sine"),
    ROW(atan, "x, /", "arc tangent"),
    ROW(atan2, "y, x, /", "the angle of (x, y)"),
    ROW(atanh, "x, /", "inverse hyperbolic tangent"),
    ROW(cbrt, "x, /", "cube root"),
    ROW(ceil, "x, /", "the least int not below x"),
    ROW(comb, "n, k, /", "ways to choose k of n"),
    ROW(copysign, "x, y, /", "|x| with the sign of y"),
    ROW(cos, "x, /", "cosine"),
    ROW(cosh, "x, /", "hyperbolic cosine"),
    ROW(degrees, "x, /", "radians to degrees"),
    ROW(erf, "x, /", "error function"),
    ROW(erfc, "x, /", "1 - erf(x)"),
    ROW(exp, "x, /", "e ** x"),
    ROW(exp2, "x, /", "2 ** x"),
    ROW(expm1, "x, /", "exp(x) - 1"),
    ROW(fabs, "x, /", "|x| as a float"),
    ROW(factorial, "n, /", "n!"),
    ROW(floor, "x, /", "the greatest int not above x"),
    ROW(fmod, "x, y, /", "C's remainder"),
    ROW(frexp, "x, /", "(m, e) with x == m * 2**e"),
    ROW(fsum, "iterable, /", "an accurate sum"),
    ROW(gamma, "x, /", "gamma function"),
    ROW(gcd, "*integers", "greatest common divisor"),
    ROW(hypot, "*coordinates", "length of a vector"),
    ROW(isclose, "a, b, *, rel_tol=1e-09, abs_tol=0.0", "are they close?"),
    ROW(isfinite, "x, /", "neither infinite nor NaN?"),
    ROW(isinf, "x, /", "infinite?"),
    ROW(isnan, "x, /", "NaN?"),
    ROW(isqrt, "n, /", "integer square root"),
    ROW(lcm, "*integers", "least common multiple"),
    ROW(ldexp, "x, i, /", "x * 2**i"),
    ROW(lgamma, "x, /", "log of |gamma|"),
    ROW(log, "x, base?, /", "logarithm"),
    ROW(log10, "x, /", "to base 10"),
    ROW(log1p, "x, /", "log(1 + x)"),
    ROW(log2, "x, /", "to base 2"),
    ROW(modf, "x, /", "(fraction, whole)"),
    ROW(nextafter, "x, y, /", "the next float after x towards y"),
    ROW(perm, "n, k=None, /", "ordered choices of k of n"),
    ROW(pow, "x, y, /", "x ** y as floats"),
    ROW(prod, "iterable, /, *, start=1", "product of the items"),
    ROW(radians, "x, /", "degrees to radians"),
    ROW(remainder, "x, y, /", "IEEE remainder"),
    ROW(sin, "x, /", "sine"),
    ROW(sinh, "x, /", "hyperbolic sine"),
    ROW(sqrt, "x, /", "square root"),
    ROW(tan, "x, /", "tangent"),
    ROW(tanh, "x, /", "hyperbolic tangent"),
    ROW(trunc, "x, /", "towards zero, as an int"),
};
#undef ROW

Value math_load(void) {
  Value ns = value_namespace("math");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  namespace_set(ns, "pi", value_float(M_PI));
  namespace_set(ns, "e", value_float(M_E));
  namespace_set(ns, "tau", value_float(2 * M_PI));
  namespace_set(ns, "inf", value_float(INFINITY));
  namespace_set(ns, "nan", value_float(NAN));
  return ns;
}
