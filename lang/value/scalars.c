/* scalars.c -- None, Ellipsis, bool, int and float.
 *
 * int // and % round to the floor. Comparisons of ints with floats are exact. What 64 bits do not
 * hold goes to big_int.c. */
#include "lang/value/big_int.h"
#include "lang/value/object.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

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
                             .binary = class_binary,
                             .truth = none_truth,
                             .repr = none_repr,
                             .equal = same_type,
                             .hash = none_hash};
const ValueType type_ellipsis = {
    .name = "ellipsis", .repr = ellipsis_repr, .equal = same_type, .hash = none_hash};

/* ---- numbers: what bool, int and float have in common ---- */

static bool is_small(Value v) { return v.type == &type_int || v.type == &type_bool; }
static bool is_number(Value v) { return value_is_integer(v) || v.type == &type_float; }
static int64_t integer_of(Value v) { return v.type == &type_bool ? v.boolean : v.integer; }
static double real_of(Value v, Span span) {
  if (v.type == &type_float) return v.real;
  return v.type == &type_big ? big_to_double(v, span) : (double)integer_of(v);
}

_Noreturn static void division_by_zero(const char *what, Span span) {
  raise("ZeroDivisionError", span, "%s by zero", what);
}

static Value int_power(int64_t base, int64_t exponent) {
  int64_t result = 1, factor = base;
  if (exponent < 0) return value_absent();
  for (int64_t e = exponent; e; e >>= 1) {
    if ((e & 1) && __builtin_mul_overflow(result, factor, &result)) return value_absent();
    if (e > 1 && __builtin_mul_overflow(factor, factor, &factor)) return value_absent();
  }
  return value_int(result);
}

static Value int_shift(AstOp op, int64_t a, int64_t b) {
  if (b < 0 || (op == AST_SHL && b > 62)) return value_absent();
  if (op == AST_SHR) return value_int(b > 63 ? (a < 0 ? -1 : 0) : a >> b);
  int64_t shifted = (int64_t)((uint64_t)a << b);
  return shifted >> b == a ? value_int(shifted) : value_absent();
}

static Value int_divide(AstOp op, int64_t a, int64_t b) {
  enum { EXACT = 53 }; /* bits that a float holds */
  int64_t largest = (int64_t)1 << EXACT;
  if (!b || b == -1) return value_absent();
  if (op == AST_DIV) {
    bool exact = a >= -largest && a <= largest && b >= -largest && b <= largest;
    return exact ? value_float((double)a / (double)b) : value_absent();
  }
  int64_t q = a / b, r = a % b;
  if (r && (r < 0) != (b < 0)) q--, r += b;
  return value_int(op == AST_MOD ? r : q);
}

/* Absent where the result, or what it takes to compute it, may not fit in 64 bits. */
static Value int_binary(AstOp op, int64_t a, int64_t b) {
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
  case AST_MOD: return int_divide(op, a, b);
  case AST_POW: return int_power(a, b);
  case AST_SHL:
  case AST_SHR: return int_shift(op, a, b);
  default: return value_absent();
  }
  return bad ? value_absent() : value_int(r);
}

static Value integer_binary(AstOp op, Value a, Value b, Span span) {
  Value r = value_absent();
  if (is_small(a) && is_small(b)) r = int_binary(op, integer_of(a), integer_of(b));
  return r.type ? r : big_binary(op, a, b, span);
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
  if (value_is_integer(a) && value_is_integer(b)) return integer_binary(op, a, b, span);
  return float_binary(op, real_of(a, span), real_of(b, span), span);
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
  if (a.type == &type_big)
    return b.type == &type_float ? big_compare_real(a, b.real) : big_compare(a, b);
  if (b.type == &type_big) return -compare_numbers(b, a);
  if (is_small(a) && is_small(b)) {
    int64_t x = integer_of(a), y = integer_of(b);
    return (x > y) - (x < y);
  }
  if (is_small(a)) return compare_int_float(integer_of(a), b.real);
  if (is_small(b)) return -compare_int_float(integer_of(b), a.real);
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
  if (is_small(v)) return mix((uint64_t)integer_of(v));
  if (v.type == &type_big) return big_hash(v);
  double x = v.real;
  if (x == floor(x) && x >= -9223372036854775808.0 && x < 9223372036854775808.0)
    return mix((uint64_t)(int64_t)x);
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return mix(bits + 1);
}

static bool number_truth(Value v, Span span) {
  (void)span;
  if (v.type == &type_big) return true;
  return v.type == &type_float ? v.real != 0 : integer_of(v) != 0;
}

static void bool_repr(Value v, Str *out) { str_add(out, v.boolean ? "True" : "False"); }

static void int_repr(Value v, Str *out) {
  if (int_is_negative(v)) str_add_char(out, '-');
  str_add(out, int_digits(v, 10));
}

static void float_repr(Value v, Str *out) { str_add_double(out, v.real); }

static Value int_unary(AstOp op, Value a, Span span) {
  (void)span;
  if (a.type == &type_big || integer_of(a) == INT64_MIN) return big_unary(op, a);
  int64_t x = integer_of(a);
  switch (op) {
  case AST_NEG: return value_int(-x);
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
  else format_int(out, v, spec, span);
}

static void float_format(Value v, const char *spec, Str *out, Span span) {
  format_float(out, v.real, spec, span);
}

/* ---- methods ---- */

static Value bit_length(BuiltinCall *c) {
  mpz_t n;
  big_load(n, c->self);
  return value_int(mpz_sgn(n) ? (int64_t)mpz_sizeinbase(n, 2) : 0);
}
static Value bit_count(BuiltinCall *c) {
  mpz_t n;
  big_load(n, c->self);
  mpz_abs(n, n);
  return value_int((int64_t)mpz_popcount(n));
}
static Value is_whole(BuiltinCall *c) {
  if (value_is_integer(c->self)) return value_bool(true);
  return value_bool(isfinite(c->self.real) && floor(c->self.real) == c->self.real);
}
static Value itself(BuiltinCall *c) { return big_binary(AST_ADD, c->self, value_int(0), c->span); }

/* The float as a fraction in lowest terms: its denominator is a power of 2. */
static Value as_ratio(BuiltinCall *c) {
  if (value_is_integer(c->self)) return value_tuple_of(2, itself(c), value_int(1));
  double x = c->self.real;
  if (isnan(x)) raise("ValueError", c->span, "cannot convert NaN to integer ratio");
  if (isinf(x)) raise("OverflowError", c->span, "cannot convert Infinity to integer ratio");
  int exponent = 0;
  double m = frexp(x, &exponent);
  for (int i = 0; i < 60 && m != floor(m); i++) m *= 2, exponent--;
  Value numerator = big_from_double(m), power = value_int(exponent < 0 ? -exponent : exponent);
  Value factor = big_binary(AST_SHL, value_int(1), power, c->span);
  if (exponent < 0) return value_tuple_of(2, numerator, factor);
  return value_tuple_of(2, big_binary(AST_MUL, numerator, factor, c->span), value_int(1));
}

/* "0x1.8000000000000p+0": exact, as C writes it. */
static Value float_hex(BuiltinCall *c) {
  double x = c->self.real;
  if (!isfinite(x)) return value_str(value_repr(c->self));
  return value_str(str_format(x == 0 ? "%.1a" : "%.13a", x));
}
static Value from_hex(BuiltinCall *c) {
  const char *text = value_as_text(c->args[0], "the argument", c->spans[0]);
  size_t len = strlen(text);
  while (len && isspace((unsigned char)text[len - 1])) len--;
  const char *digits = text + strspn(text, " \t\n\r\f\v+-");
  bool prefixed = strncasecmp(digits, "0x", 2) == 0, named = !isxdigit((unsigned char)*digits);
  char *end;
  double x = strtod(
      prefixed || named ? text : str_format("%.*s0x%s", (int)(digits - text), text, digits), &end);
  if (!len || strlen(end) != strlen(text) - len || strchr(text, '('))
    raise("ValueError", c->spans[0], "invalid hexadecimal floating-point string: %s",
          value_repr(c->args[0]));
  if (isinf(x) && !named)
    raise("OverflowError", c->spans[0], "hexadecimal value too large to represent as a float");
  return value_float(x);
}
static const Builtin from_hex_row = {"fromhex", "string, /", from_hex,
                                     "the float of hexadecimal digits"};
Value float_static(const char *name) {
  return strcmp(name, "fromhex") == 0 ? value_builtin(&from_hex_row) : value_absent();
}

static bool is_little(BuiltinCall *c, int i) {
  const char *order = value_as_text(c->args[i], "the byte order", c->spans[i]);
  bool little = strcmp(order, "little") == 0;
  if (!little && strcmp(order, "big") != 0)
    raise("ValueError", c->spans[i], "byteorder must be either 'little' or 'big'");
  return little;
}

static Value to_bytes(BuiltinCall *c) {
  int64_t n = value_as_int(c->args[0], "the length", c->spans[0]);
  bool little = is_little(c, 1), is_signed = value_truth(c->args[2], c->span);
  if (n < 0 || n > 1 << 20) raise("ValueError", c->spans[0], "the length is 0 to 2**20");
  Value bits = value_int(8 * n - is_signed), one = value_int(1);
  Value most = n || !is_signed ? big_binary(AST_SHL, one, bits, c->span) : one, x = c->self;
  bool negative = int_is_negative(x);
  if (negative && !is_signed)
    raise("OverflowError", c->span, "can't convert negative int to unsigned");
  Value size = negative ? big_unary(AST_INVERT, x) : x;
  if (big_compare(size, most) >= 0) raise("OverflowError", c->span, "int too big to convert");
  unsigned char *out = (unsigned char *)NEW_BYTES((size_t)n + 1);
  for (int64_t i = 0; i < n; i++) {
    Value byte = big_binary(AST_BITAND, x, value_int(255), c->span);
    out[little ? i : n - 1 - i] = (unsigned char)byte.integer;
    x = big_binary(AST_SHR, x, value_int(8), c->span);
  }
  return value_bytes(out, (size_t)n);
}

static Value from_bytes(BuiltinCall *c) {
  ValueVec bytes = value_to_vec(c->args[0], c->spans[0]);
  bool little = is_little(c, 1), is_signed = value_truth(c->args[2], c->span);
  Value x = value_int(0);
  for (int i = 0; i < bytes.len; i++) {
    Value byte = bytes.at[little ? bytes.len - 1 - i : i];
    x = big_binary(AST_SHL, x, value_int(8), c->span);
    x = big_binary(AST_BITOR, x, value_int(value_as_int(byte, "a byte", c->span) & 255), c->span);
  }
  int64_t bits = 8 * (int64_t)bytes.len;
  if (!is_signed || !bits) return x;
  Value half = big_binary(AST_SHL, value_int(1), value_int(bits - 1), c->span);
  Value whole = big_binary(AST_SHL, half, value_int(1), c->span);
  return big_compare(x, half) >= 0 ? big_binary(AST_SUB, x, whole, c->span) : x;
}
static const Builtin from_bytes_row = {"from_bytes", "bytes, byteorder='big', *, signed=False",
                                       from_bytes, "the int that the bytes hold"};
Value int_static(const char *name) {
  return strcmp(name, "from_bytes") == 0 ? value_builtin(&from_bytes_row) : value_absent();
}

static const Builtin int_methods[] = {
    {"to_bytes", "length=1, byteorder='big', *, signed=False", to_bytes, "the int as bytes"},
    {"bit_length", "", bit_length, "bits of the absolute value, without leading zeros"},
    {"bit_count", "", bit_count, "ones in the absolute value"},
    {"is_integer", "", is_whole, "True"},
    {"conjugate", "", itself, "the int itself"},
    {"as_integer_ratio", "", as_ratio, "(the int, 1)"},
};
static const Builtin float_methods[] = {
    {"is_integer", "", is_whole, "is it a whole number?"},
    {"hex", "", float_hex, "exactly, in base 16"},
    {"as_integer_ratio", "", as_ratio, "(numerator, denominator), in lowest terms"},
};
enum { FLOAT_METHODS = sizeof float_methods / sizeof *float_methods };
enum { INT_METHODS = sizeof int_methods / sizeof *int_methods };

static Value int_attr(Value v, const char *name, Span span) {
  if (strcmp(name, "real") == 0 || strcmp(name, "numerator") == 0)
    return big_binary(AST_ADD, v, value_int(0), span);
  if (strcmp(name, "imag") == 0) return value_int(0);
  if (strcmp(name, "denominator") == 0) return value_int(1);
  return value_absent();
}

/* bool, and ints of both sizes, are numbers alike. */
#define INTEGER_TYPE(type_name, text)                                                              \
  {                                                                                                \
    .name = type_name, .truth = number_truth, .repr = text, .get_attr = int_attr,                  \
    .methods = int_methods, .method_count = INT_METHODS, .binary = number_binary,                  \
    .compare = number_compare, .unary = int_unary, .equal = number_equal, .hash = number_hash,     \
    .format = int_format                                                                           \
  }
const ValueType type_bool = INTEGER_TYPE("bool", bool_repr);
const ValueType type_int = INTEGER_TYPE("int", int_repr), type_big = INTEGER_TYPE("int", int_repr);
const ValueType type_float = {.name = "float",
                              .truth = number_truth,
                              .repr = float_repr,
                              .methods = float_methods,
                              .method_count = FLOAT_METHODS,
                              .binary = number_binary,
                              .compare = number_compare,
                              .unary = float_unary,
                              .equal = number_equal,
                              .hash = number_hash,
                              .format = float_format};
