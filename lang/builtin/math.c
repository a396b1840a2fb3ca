/* math.c -- the module math. Functions raise as Python's do: no NaN comes out of numbers. */
#include "lang/builtin/builtin.h"
#include "lang/value/big_int.h"
#include <fenv.h>
#include <math.h>

static double arg(BuiltinCall *c, int i) {
  return value_as_float(c->args[i], "the argument", c->spans[i]);
}

/* NaN out of numbers is an error, and so is what is infinite out of finite ones: a pole, where the
 * processor noted a division by zero, or a number that is too large. */
static Value checked(BuiltinCall *c, double r, double x, double y) {
  bool finite = isfinite(x) && isfinite(y), pole = isinf(r) && fetestexcept(FE_DIVBYZERO);
  if ((isnan(r) && !isnan(x) && !isnan(y)) || (finite && pole))
    raise("ValueError", c->span, "math domain error in %s()", c->builtin->name);
  if (finite && isinf(r))
    raise("OverflowError", c->span, "math range error in %s()", c->builtin->name);
  return value_float(r);
}

#define UNARY(name, function)                                                                      \
  static Value math_##name(BuiltinCall *c) {                                                       \
    double x = arg(c, 0);                                                                          \
    feclearexcept(FE_DIVBYZERO);                                                                   \
    return checked(c, function(x), x, 0);                                                          \
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
    feclearexcept(FE_DIVBYZERO);                                                                   \
    return checked(c, function(x, y), x, y);                                                       \
  }
BINARY(atan2, atan2)
BINARY(fmod, fmod)
BINARY(copysign, copysign)
BINARY(pow, pow)
BINARY(nextafter, nextafter)
BINARY(remainder, remainder)
#undef BINARY

/* A logarithm of a number that may be too large for a float. */
static double logarithm(BuiltinCall *c, int i, double (*log_of)(double)) {
  Value v = c->args[i];
  long exponent = 0;
  bool big = v.type == &type_big && !int_is_negative(v);
  double x = big ? big_fraction(v, &exponent) : value_as_float(v, "the argument", c->spans[i]);
  if (x <= 0)
    raise("ValueError", c->spans[i], "math domain error in %s(): %s is not positive",
          c->builtin->name, value_repr(v));
  return log_of(x) + (double)exponent * log_of(2);
}
static Value math_log(BuiltinCall *c) {
  if (!c->args[1].type) return value_float(logarithm(c, 0, log));
  double base = logarithm(c, 1, log);
  if (base == 0) raise("ZeroDivisionError", c->spans[1], "float division by zero");
  return value_float(logarithm(c, 0, log) / base);
}
static Value math_log2(BuiltinCall *c) { return value_float(logarithm(c, 0, log2)); }
static Value math_log10(BuiltinCall *c) { return value_float(logarithm(c, 0, log10)); }

/* ---- to ints ---- */

static Value to_int(BuiltinCall *c, double (*round_to)(double), const char *special) {
  Value x = c->args[0];
  if (value_is_integer(x)) return big_binary(AST_ADD, x, value_int(0), c->span);
  if (x.type == &type_instance) {
    Value r = instance_special(x, special, 0, NULL, c->span);
    if (r.type) return r;
  }
  double r = round_to(arg(c, 0));
  if (isnan(r)) raise("ValueError", c->spans[0], "cannot convert float NaN to integer");
  if (isinf(r)) raise("OverflowError", c->spans[0], "cannot convert float infinity to integer");
  return big_from_double(r);
}
static Value math_floor(BuiltinCall *c) { return to_int(c, floor, INTERNED("__floor__")); }
static Value math_ceil(BuiltinCall *c) { return to_int(c, ceil, INTERNED("__ceil__")); }
static Value math_trunc(BuiltinCall *c) { return to_int(c, trunc, INTERNED("__trunc__")); }

static void load_int(mpz_t out, Value v, Span span) {
  if (!value_is_integer(v)) v = value_int(value_as_int(v, "the argument", span));
  big_load(out, v);
}
static void load_not_negative(mpz_t out, BuiltinCall *c, int i) {
  load_int(out, c->args[i], c->spans[i]);
  if (mpz_sgn(out) < 0)
    raise("ValueError", c->spans[i], "%s() needs an int that is not negative", c->builtin->name);
}
/* What the result's size grows with. */
static unsigned long bounded(const mpz_t n, BuiltinCall *c, int i) {
  enum { MOST = 10000000 };
  if (mpz_cmp_ui(n, MOST) > 0)
    raise("OverflowError", c->spans[i], "%s() takes at most %d here", c->builtin->name, MOST);
  return mpz_get_ui(n);
}

static Value math_isqrt(BuiltinCall *c) {
  mpz_t n;
  load_not_negative(n, c, 0);
  mpz_sqrt(n, n);
  return big_value(n);
}
static Value fold_ints(BuiltinCall *c, unsigned long first,
                       void (*step)(mpz_ptr, mpz_srcptr, mpz_srcptr)) {
  mpz_t r, x;
  mpz_init_set_ui(r, first);
  for each (Value, v, value_items(c->args[0])) {
    load_int(x, *v, c->span);
    step(r, r, x);
  }
  return big_value(r);
}
static Value math_gcd(BuiltinCall *c) { return fold_ints(c, 0, mpz_gcd); }
static Value math_lcm(BuiltinCall *c) { return fold_ints(c, 1, mpz_lcm); }
static Value math_factorial(BuiltinCall *c) {
  mpz_t n;
  load_not_negative(n, c, 0);
  mpz_fac_ui(n, bounded(n, c, 0));
  return big_value(n);
}
static Value math_comb(BuiltinCall *c) {
  mpz_t n, k, rest;
  load_not_negative(n, c, 0);
  load_not_negative(k, c, 1);
  if (mpz_cmp(k, n) > 0) return value_int(0);
  mpz_init(rest);
  mpz_sub(rest, n, k);
  mpz_bin_ui(n, n, bounded(mpz_cmp(k, rest) < 0 ? k : rest, c, 1));
  return big_value(n);
}
static Value math_perm(BuiltinCall *c) {
  mpz_t n, k, r;
  load_not_negative(n, c, 0);
  if (value_is_none(c->args[1])) return math_factorial(c);
  load_not_negative(k, c, 1);
  if (mpz_cmp(k, n) > 0) return value_int(0);
  mpz_init_set_ui(r, 1);
  for (unsigned long i = bounded(k, c, 1); i; i--) {
    mpz_mul(r, r, n);
    mpz_sub_ui(n, n, 1);
  }
  return big_value(r);
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
  int64_t e = value_as_int(c->args[1], "the exponent", c->spans[1]);
  double x = arg(c, 0);
  feclearexcept(FE_DIVBYZERO);
  return checked(c, ldexp(x, (int)(e > 5000 ? 5000 : e < -5000 ? -5000 : e)), x, 0);
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

static Value math_dist(BuiltinCall *c) {
  ValueVec p = value_to_vec(c->args[0], c->spans[0]), q = value_to_vec(c->args[1], c->spans[1]);
  if (p.len != q.len)
    raise("ValueError", c->span, "both points must have the same number of dimensions");
  double r = 0;
  for (int i = 0; i < p.len; i++)
    r = hypot(r, value_as_float(p.at[i], "a coordinate", c->spans[0]) -
                     value_as_float(q.at[i], "a coordinate", c->spans[1]));
  return value_float(r);
}
static Value math_ulp(BuiltinCall *c) {
  double x = fabs(arg(c, 0));
  return value_float(isfinite(x) ? nextafter(x, INFINITY) - x : x);
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
    {"dist", "p, q, /", math_dist, "the distance of two points"},
    {"ulp", "x, /", math_ulp, "the distance to the next float"},
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
