/* scalars.c -- None, Ellipsis, bool, int (64 bits, never wraps) and float.
 *
 * int // and % round to the floor. Comparisons of ints with floats are exact. */
#include "lang/value/object.h"
#include <math.h>

/* ---- None, Ellipsis ---- */

static bool none_truth(Value v, Span span) { return (void)v, (void)span, false; }
static void none_repr(Value v, Str *out) {
  (void)v;
  str_add(out, "None");
}
static bool same_type(Value a, Value b) { return a.type == b.type; }
static uint64_t none_hash(Value v) { return (void)v, 0x6e6f6e65; }
static void ellipsis_repr(Value v, Str *out) {
  (void)v;
  str_add(out, "Ellipsis");
}

const ValueType type_none = {.name = "NoneType",
                             .truth = none_truth,
                             .repr = none_repr,
                             .equal = same_type,
                             .hash = none_hash};
const ValueType type_ellipsis = {
    .name = "ellipsis", .repr = ellipsis_repr, .equal = same_type, .hash = none_hash};

/* ---- numbers: what bool, int and float have in common ---- */

static bool is_integer(Value v) { return v.type == &type_int || v.type == &type_bool; }
static bool is_number(Value v) { return is_integer(v) || v.type == &type_float; }
static int64_t integer_of(Value v) { return v.type == &type_bool ? v.boolean : v.integer; }
static double real_of(Value v) { return v.type == &type_float ? v.real : (double)integer_of(v); }

_Noreturn static void overflow(AstOp op, int64_t a, int64_t b, Span span) {
  raise("OverflowError", span, "%lld %s %lld does not fit in a 64-bit int", (long long)a,
        ast_op_text(op), (long long)b);
}

_Noreturn static void division_by_zero(const char *what, Span span) {
  raise("ZeroDivisionError", span, "%s by zero", what);
}

static Value int_power(int64_t base, int64_t exponent, Span span) {
  if (exponent < 0) {
    if (!base) raise("ZeroDivisionError", span, "0.0 cannot be raised to a negative power");
    return value_float(pow((double)base, (double)exponent));
  }
  int64_t result = 1, factor = base;
  for (int64_t e = exponent; e; e >>= 1) {
    if ((e & 1) && __builtin_mul_overflow(result, factor, &result))
      overflow(AST_POW, base, exponent, span);
    if (e > 1 && __builtin_mul_overflow(factor, factor, &factor))
      overflow(AST_POW, base, exponent, span);
  }
  return value_int(result);
}

static Value int_shift(AstOp op, int64_t a, int64_t b, Span span) {
  if (b < 0) raise("ValueError", span, "negative shift count");
  if (op == AST_SHR) return value_int(b > 63 ? (a < 0 ? -1 : 0) : a >> b);
  if (!a) return value_int(0);
  int64_t shifted = b > 62 ? 0 : (int64_t)((uint64_t)a << b);
  if (b > 62 ? !(a == -1 && b == 63) : shifted >> b != a) overflow(op, a, b, span);
  return value_int(b == 63 ? INT64_MIN : shifted);
}

static Value int_divide(AstOp op, int64_t a, int64_t b, Span span) {
  if (!b) division_by_zero(op == AST_DIV ? "division" : "integer division or modulo", span);
  if (op == AST_DIV) return value_float((double)a / (double)b);
  if (b == -1) {
    if (op == AST_MOD) return value_int(0);
    if (a == INT64_MIN) overflow(op, a, b, span);
    return value_int(-a);
  }
  int64_t q = a / b, r = a % b;
  if (r && (r < 0) != (b < 0)) q--, r += b;
  return value_int(op == AST_MOD ? r : q);
}

static Value int_binary(AstOp op, int64_t a, int64_t b, Span span) {
  int64_t r;
  bool bad = false;
  switch (op) {
  case AST_ADD: bad = __builtin_add_overflow(a, b, &r); break;
  case AST_SUB: bad = __builtin_sub_overflow(a, b, &r); break;
  case AST_MUL: bad = __builtin_mul_overflow(a, b, &r); break;
  case AST_BITAND: r = a & b; break;
  case AST_BITOR: r = a | b; break;
  case AST_BITXOR: r = a ^ b; break;
  case AST_DIV:
  case AST_FLOORDIV:
  case AST_MOD: return int_divide(op, a, b, span);
  case AST_POW: return int_power(a, b, span);
  case AST_SHL:
  case AST_SHR: return int_shift(op, a, b, span);
  default: return value_absent();
  }
  if (bad) overflow(op, a, b, span);
  return value_int(r);
}

static double float_modulo(double a, double b) {
  double r = fmod(a, b);
  if (r != 0) return (r < 0) != (b < 0) ? r + b : r;
  return copysign(0.0, b);
}

static double float_floordiv(double a, double b) {
  double r = fmod(a, b), q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) q -= 1;
  if (q == 0) return copysign(0.0, a / b);
  double floor_q = floor(q);
  return q - floor_q > 0.5 ? floor_q + 1 : floor_q;
}

static Value float_power(double a, double b, Span span) {
  if (a == 0 && b < 0) raise("ZeroDivisionError", span, "0.0 cannot be raised to a negative power");
  if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b))
    raise("ValueError", span, "a negative number to a fractional power is complex");
  double r = pow(a, b);
  if (isinf(r) && isfinite(a) && isfinite(b))
    raise("OverflowError", span, "the result of ** is too large for a float");
  return value_float(r);
}

static Value float_binary(AstOp op, double a, double b, Span span) {
  switch (op) {
  case AST_ADD: return value_float(a + b);
  case AST_SUB: return value_float(a - b);
  case AST_MUL: return value_float(a * b);
  case AST_DIV:
    if (b == 0) division_by_zero("float division", span);
    return value_float(a / b);
  case AST_FLOORDIV:
    if (b == 0) division_by_zero("float floor division", span);
    return value_float(float_floordiv(a, b));
  case AST_MOD:
    if (b == 0) division_by_zero("float modulo", span);
    return value_float(float_modulo(a, b));
  case AST_POW: return float_power(a, b, span);
  default: return value_absent();
  }
}

static Value number_binary(AstOp op, Value a, Value b, Span span) {
  if (!is_number(a) || !is_number(b)) return value_absent();
  if (a.type == &type_bool && b.type == &type_bool) {
    if (op == AST_BITAND) return value_bool(a.boolean && b.boolean);
    if (op == AST_BITOR) return value_bool(a.boolean || b.boolean);
    if (op == AST_BITXOR) return value_bool(a.boolean != b.boolean);
  }
  if (is_integer(a) && is_integer(b)) return int_binary(op, integer_of(a), integer_of(b), span);
  return float_binary(op, real_of(a), real_of(b), span);
}

/* Sign of i - x, exactly; x is not NaN. */
static int compare_int_float(int64_t i, double x) {
  if (x >= 9223372036854775808.0) return -1;
  if (x < -9223372036854775808.0) return 1;
  double whole = floor(x);
  int64_t w = (int64_t)whole;
  return i != w ? (i < w ? -1 : 1) : x > whole ? -1 : 0;
}

static int compare_numbers(Value a, Value b) {
  if (is_integer(a) && is_integer(b)) {
    int64_t x = integer_of(a), y = integer_of(b);
    return (x > y) - (x < y);
  }
  if (is_integer(a)) return compare_int_float(integer_of(a), b.real);
  if (is_integer(b)) return -compare_int_float(integer_of(b), a.real);
  return (a.real > b.real) - (a.real < b.real);
}

static bool is_nan(Value v) { return v.type == &type_float && isnan(v.real); }

static Value number_compare(AstOp op, Value a, Value b, Span span) {
  (void)span;
  if (!is_number(a) || !is_number(b)) return value_absent();
  if (is_nan(a) || is_nan(b)) return value_bool(op == AST_NE);
  int c = compare_numbers(a, b);
  switch (op) {
  case AST_EQ: return value_bool(c == 0);
  case AST_NE: return value_bool(c != 0);
  case AST_LT: return value_bool(c < 0);
  case AST_LE: return value_bool(c <= 0);
  case AST_GT: return value_bool(c > 0);
  case AST_GE: return value_bool(c >= 0);
  default: return value_absent();
  }
}

static bool number_equal(Value a, Value b) {
  return is_number(a) && is_number(b) && !is_nan(a) && !is_nan(b) && compare_numbers(a, b) == 0;
}

static uint64_t mix(uint64_t x) { return (x ^ x >> 31) * 0xbf58476d1ce4e5b9u; }

/* Equal numbers have equal hashes: a whole float hashes as its int. */
static uint64_t number_hash(Value v) {
  if (is_integer(v)) return mix((uint64_t)integer_of(v));
  double x = v.real;
  if (x == floor(x) && x >= -9223372036854775808.0 && x < 9223372036854775808.0)
    return mix((uint64_t)(int64_t)x);
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return mix(bits + 1);
}

static bool number_truth(Value v, Span span) {
  (void)span;
  return v.type == &type_float ? v.real != 0 : integer_of(v) != 0;
}

static void bool_repr(Value v, Str *out) { str_add(out, v.boolean ? "True" : "False"); }

static void int_repr(Value v, Str *out) {
  char text[24], *at = text + sizeof text;
  uint64_t n = v.integer < 0 ? 0 - (uint64_t)v.integer : (uint64_t)v.integer;
  do *--at = (char)('0' + n % 10);
  while (n /= 10);
  if (v.integer < 0) *--at = '-';
  str_add_n(out, at, (size_t)(text + sizeof text - at));
}

static void float_repr(Value v, Str *out) { str_add_double(out, v.real); }

static Value int_unary(AstOp op, Value a, Span span) {
  int64_t x = integer_of(a);
  switch (op) {
  case AST_NEG:
    if (x == INT64_MIN)
      raise("OverflowError", span, "-(%lld) does not fit in a 64-bit int", (long long)x);
    return value_int(-x);
  case AST_POS: return value_int(x);
  case AST_INVERT: return value_int(~x);
  default: return value_absent();
  }
}

static Value float_unary(AstOp op, Value a, Span span) {
  (void)span;
  if (op == AST_NEG) return value_float(-a.real);
  return op == AST_POS ? a : value_absent();
}

static void int_format(Value v, const char *spec, Str *out, Span span) {
  if (v.type == &type_bool && !*spec) bool_repr(v, out);
  else format_int(out, integer_of(v), spec, span);
}

static void float_format(Value v, const char *spec, Str *out, Span span) {
  format_float(out, v.real, spec, span);
}

/* ---- methods ---- */

static Value bit_length(BuiltinCall *c) {
  int64_t x = integer_of(c->self);
  uint64_t n = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
  return value_int(n ? 64 - __builtin_clzll(n) : 0);
}
static Value bit_count(BuiltinCall *c) {
  int64_t x = integer_of(c->self);
  return value_int(__builtin_popcountll(x < 0 ? 0 - (uint64_t)x : (uint64_t)x));
}
static Value is_whole(BuiltinCall *c) {
  if (is_integer(c->self)) return value_bool(true);
  return value_bool(isfinite(c->self.real) && floor(c->self.real) == c->self.real);
}

static const Builtin int_methods[] = {
    {"bit_length", "", bit_length, "bits of the absolute value, without leading zeros"},
    {"bit_count", "", bit_count, "ones in the absolute value"},
    {"is_integer", "", is_whole, "True"},
};
static const Builtin float_methods[] = {
    {"is_integer", "", is_whole, "is it a whole number?"},
};
enum { INT_METHODS = sizeof int_methods / sizeof *int_methods };

static Value int_attr(Value v, const char *name, Span span) {
  (void)span;
  if (strcmp(name, "real") == 0 || strcmp(name, "numerator") == 0) return value_int(integer_of(v));
  if (strcmp(name, "imag") == 0) return value_int(0);
  if (strcmp(name, "denominator") == 0) return value_int(1);
  return builtin_method(int_methods, INT_METHODS, v, name);
}
static Value float_attr(Value v, const char *name, Span span) {
  (void)span;
  return builtin_method(float_methods, 1, v, name);
}
static void int_attr_names(Value v, StrVec *out) {
  (void)v;
  builtin_names(int_methods, INT_METHODS, out);
}
static void float_attr_names(Value v, StrVec *out) {
  (void)v;
  builtin_names(float_methods, 1, out);
}

const ValueType type_bool = {.name = "bool",
                             .truth = number_truth,
                             .repr = bool_repr,
                             .get_attr = int_attr,
                             .attr_names = int_attr_names,
                             .binary = number_binary,
                             .compare = number_compare,
                             .unary = int_unary,
                             .equal = number_equal,
                             .hash = number_hash,
                             .format = int_format};
const ValueType type_int = {.name = "int",
                            .truth = number_truth,
                            .repr = int_repr,
                            .get_attr = int_attr,
                            .attr_names = int_attr_names,
                            .binary = number_binary,
                            .compare = number_compare,
                            .unary = int_unary,
                            .equal = number_equal,
                            .hash = number_hash,
                            .format = int_format};
const ValueType type_float = {.name = "float",
                              .truth = number_truth,
                              .repr = float_repr,
                              .get_attr = float_attr,
                              .attr_names = float_attr_names,
                              .binary = number_binary,
                              .compare = number_compare,
                              .unary = float_unary,
                              .equal = number_equal,
                              .hash = number_hash,
                              .format = float_format};
