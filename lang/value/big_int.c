/* big_int.c -- ints of any size, by GMP, whose memory is the collector's.
 *
 * Divisions round to the floor; bits are those of two's complement of infinite width. */
#include "lang/value/big_int.h"
#include "lang/value/object.h"
#include <math.h>

typedef struct BigObject {
  mpz_t n;
} BigObject;

static mpz_srcptr big_of(Value v) { return ((BigObject *)v.object)->n; }

/* ---- memory ----
 *
 * GMP keeps pointers in its temporaries, so these are memory that the collector scans. The limbs of
 * a value are a copy that holds none. */

static void *grow(void *old, size_t old_size, size_t size) {
  (void)old_size;
  return gc_grow(old, size);
}
static void forget(void *p, size_t size) { (void)p, (void)size; }

void big_start(void) { mp_set_memory_functions(gc_alloc, grow, forget); }

/* GMP ends the process where memory runs out: results are bounded before they are computed. */
enum { MOST_BITS = 1 << 28 };

static void check_bits(double bits, Span span) {
  if (bits > MOST_BITS)
    raise("OverflowError", span, "the int would have more than %d bits", MOST_BITS);
}

/* ---- from and to ---- */

static int64_t small_of(Value v) { return v.type == &type_bool ? v.boolean : v.integer; }

static void load_uint64(mpz_t out, uint64_t x) { mpz_import(out, 1, -1, sizeof x, 0, 0, &x); }

void big_load(mpz_t out, Value v) {
  mpz_init(out);
  if (v.type == &type_big) return mpz_set(out, big_of(v));
  int64_t x = small_of(v);
  load_uint64(out, x < 0 ? 0 - (uint64_t)x : (uint64_t)x);
  if (x < 0) mpz_neg(out, out);
}

static uint64_t low_bits(const mpz_t n) { return mpz_size(n) ? mpz_getlimbn(n, 0) : 0; }

Value big_value(const mpz_t n) {
  uint64_t low = low_bits(n);
  bool negative = mpz_sgn(n) < 0;
  if (mpz_size(n) <= 1 && low <= (uint64_t)INT64_MAX + negative)
    return value_int((int64_t)(negative ? 0 - low : low));
  size_t size = mpz_size(n);
  mp_limb_t *limbs = (mp_limb_t *)(void *)NEW_BYTES(size * sizeof *limbs);
  memcpy(limbs, mpz_limbs_read(n), size * sizeof *limbs);
  BigObject *o = gc_alloc(sizeof *o);
  mpz_roinit_n(o->n, limbs, negative ? -(mp_size_t)size : (mp_size_t)size);
  return value_of(&type_big, o);
}

Value big_from_digits(const char *digits, size_t n, int base, bool negative) {
  Str clean = {0};
  for (size_t i = 0; i < n; i++)
    if (digits[i] != '_') str_add_char(&clean, digits[i]);
  mpz_t x;
  mpz_init(x);
  mpz_set_str(x, str_text(&clean), base);
  if (negative) mpz_neg(x, x);
  return big_value(x);
}

Value big_from_double(double whole) {
  mpz_t x;
  mpz_init_set_d(x, whole);
  return big_value(x);
}

Value big_from_uint64(uint64_t n) {
  if (n <= INT64_MAX) return value_int((int64_t)n);
  mpz_t big;
  mpz_init(big);
  load_uint64(big, n);
  return big_value(big);
}

bool big_as_uint64(Value v, uint64_t *out) {
  if (v.type != &type_big) return *out = (uint64_t)small_of(v), small_of(v) >= 0;
  *out = low_bits(big_of(v));
  return mpz_sgn(big_of(v)) > 0 && mpz_size(big_of(v)) == 1;
}

/* n * 2**exponent, rounded once; n >= 0. Its lowest bit is set if bits below it were lost. */
static double scaled(const mpz_t n, long exponent) {
  size_t bits = mpz_sizeinbase(n, 2);
  if (bits <= 64) return ldexp((double)low_bits(n), (int)exponent);
  mpz_t top;
  mpz_init(top);
  mp_bitcnt_t drop = bits - 64;
  mpz_tdiv_q_2exp(top, n, drop);
  uint64_t high = low_bits(top) | (mpz_scan1(n, 0) < drop);
  exponent += (long)drop;
  return exponent > 2000 ? HUGE_VAL : ldexp((double)high, (int)exponent);
}

double big_to_double(Value v, Span span) {
  mpz_t n;
  big_load(n, v);
  bool negative = mpz_sgn(n) < 0;
  mpz_abs(n, n);
  double x = scaled(n, 0);
  if (isinf(x)) raise("OverflowError", span, "int too large to convert to float");
  return negative ? -x : x;
}

double big_fraction(Value v, long *exponent) { return mpz_get_d_2exp(exponent, big_of(v)); }

const char *int_digits(Value v, int base) {
  mpz_t n;
  if (v.type == &type_big) {
    mpz_init(n);
    mpz_abs(n, big_of(v));
    return mpz_get_str(NULL, base, n);
  }
  char text[65], *at = text + sizeof text - 1;
  int64_t x = small_of(v);
  uint64_t rest = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
  *at = '\0';
  do *--at = "0123456789abcdef"[rest % (unsigned)base];
  while (rest /= (unsigned)base);
  return str_copy_n(at, (size_t)(text + sizeof text - 1 - at));
}

bool int_is_negative(Value v) {
  return v.type == &type_big ? mpz_sgn(big_of(v)) < 0 : small_of(v) < 0;
}

/* ---- arithmetic ---- */

/* a / b as a float, rounded once: the quotient has more bits than a float, the last one sticky. */
static Value true_divide(mpz_t a, mpz_t b, Span span) {
  enum { ENOUGH = 66, FINEST = 1076 };
  bool negative = (mpz_sgn(a) < 0) != (mpz_sgn(b) < 0);
  mpz_abs(a, a);
  mpz_abs(b, b);
  long shift = ENOUGH - ((long)mpz_sizeinbase(a, 2) - (long)mpz_sizeinbase(b, 2));
  if (shift > FINEST) shift = FINEST;
  if (shift > 0) mpz_mul_2exp(a, a, (mp_bitcnt_t)shift);
  else mpz_mul_2exp(b, b, (mp_bitcnt_t)-shift);
  mpz_t q, r;
  mpz_init(q);
  mpz_init(r);
  mpz_tdiv_qr(q, r, a, b);
  if (mpz_sgn(r)) mpz_setbit(q, 0);
  double x = scaled(q, -shift);
  if (isinf(x)) raise("OverflowError", span, "integer division result too large for a float");
  return value_float(negative ? -x : x);
}

static Value shift(AstOp op, mpz_t a, Value by, Span span) {
  if (int_is_negative(by)) raise("ValueError", span, "negative shift count");
  bool far = by.type == &type_big || small_of(by) > MOST_BITS;
  if (op == AST_SHL && mpz_sgn(a)) {
    check_bits(far ? INFINITY : (double)mpz_sizeinbase(a, 2) + (double)small_of(by), span);
    mpz_mul_2exp(a, a, (mp_bitcnt_t)small_of(by));
  } else if (op == AST_SHR) {
    if (far) return value_int(mpz_sgn(a) < 0 ? -1 : 0);
    mpz_fdiv_q_2exp(a, a, (mp_bitcnt_t)small_of(by));
  }
  return big_value(a);
}

static Value power(mpz_t base, Value exponent, Span span) {
  bool trivial = mpz_cmpabs_ui(base, 1) <= 0;
  if (int_is_negative(exponent)) {
    if (!mpz_sgn(base))
      raise("ZeroDivisionError", span, "0.0 cannot be raised to a negative power");
    return value_float(pow(big_to_double(big_value(base), span), big_to_double(exponent, span)));
  }
  if (trivial) { /* only the parity counts */
    mpz_t e;
    big_load(e, exponent);
    if (!mpz_sgn(e)) return value_int(1);
    return value_int(mpz_sgn(base) < 0 && mpz_even_p(e) ? 1 : mpz_sgn(base));
  }
  bool far = exponent.type == &type_big || small_of(exponent) > MOST_BITS;
  double bits = log2(fabs(mpz_get_d(base)));
  if (isinf(bits)) bits = (double)mpz_sizeinbase(base, 2);
  check_bits(far ? INFINITY : bits * (double)small_of(exponent), span);
  mpz_pow_ui(base, base, (unsigned long)small_of(exponent));
  return big_value(base);
}

Value big_binary(AstOp op, Value x, Value y, Span span) {
  mpz_t a, b;
  big_load(a, x);
  switch (op) {
  case AST_SHL:
  case AST_SHR: return shift(op, a, y, span);
  case AST_POW: return power(a, y, span);
  default: break;
  }
  big_load(b, y);
  bool divides = op == AST_DIV || op == AST_FLOORDIV || op == AST_MOD;
  if (divides && !mpz_sgn(b))
    raise("ZeroDivisionError", span, "%s by zero",
          op == AST_DIV ? "division" : "integer division or modulo");
  switch (op) {
  case AST_ADD: mpz_add(a, a, b); break;
  case AST_SUB: mpz_sub(a, a, b); break;
  case AST_MUL:
    check_bits((double)mpz_sizeinbase(a, 2) + (double)mpz_sizeinbase(b, 2), span);
    mpz_mul(a, a, b);
    break;
  case AST_DIV: return true_divide(a, b, span);
  case AST_FLOORDIV: mpz_fdiv_q(a, a, b); break;
  case AST_MOD: mpz_fdiv_r(a, a, b); break;
  case AST_BITAND: mpz_and(a, a, b); break;
  case AST_BITOR: mpz_ior(a, a, b); break;
  case AST_BITXOR: mpz_xor(a, a, b); break;
  default: return value_absent();
  }
  return big_value(a);
}

Value big_unary(AstOp op, Value x) {
  mpz_t a;
  big_load(a, x);
  if (op == AST_NEG) mpz_neg(a, a);
  else if (op == AST_INVERT) mpz_com(a, a);
  else if (op != AST_POS) return value_absent();
  return big_value(a);
}

int big_compare(Value x, Value y) {
  mpz_t a, b;
  big_load(a, x);
  big_load(b, y);
  return mpz_cmp(a, b);
}

int big_compare_real(Value a, double b) {
  if (isinf(b)) return b > 0 ? -1 : 1;
  return mpz_cmp_d(big_of(a), b);
}

Value big_power_modulo(Value base, Value exponent, Value modulus, Span span) {
  mpz_t b, e, m;
  big_load(b, base);
  big_load(e, exponent);
  big_load(m, modulus);
  if (!mpz_sgn(m)) raise("ValueError", span, "pow() 3rd argument cannot be 0");
  if (mpz_sgn(e) < 0) {
    if (!mpz_invert(b, b, m))
      raise("ValueError", span, "base is not invertible for the given modulus");
    mpz_neg(e, e);
  }
  mpz_powm(b, b, e, m);
  if (mpz_sgn(m) < 0) mpz_fdiv_r(b, b, m); /* the result has the sign of the modulus */
  return big_value(b);
}

/* ---- as a value ---- */

uint64_t big_hash(Value v) {
  double x = mpz_get_d(big_of(v));
  if (!isinf(x) && mpz_cmp_d(big_of(v), x) == 0) return value_hash(value_float(x), (Span){0});
  uint64_t h = (uint64_t)mpz_sgn(big_of(v));
  for (size_t i = 0; i < mpz_size(big_of(v)); i++)
    h = (h ^ mpz_getlimbn(big_of(v), (mp_size_t)i)) * 0x9e3779b97f4a7c15u;
  return h;
}
