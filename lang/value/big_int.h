/* big_int.h -- ints of any size. An int that fits in 64 bits is a value of type_int; only one that
 * does not is of type_big. Both are `int` to a script, and no two values are the same number. */
#ifndef LANG_VALUE_BIG_INT_H
#define LANG_VALUE_BIG_INT_H

#include "lang/value/value.h"
#include <gmp.h>

void big_start(void); /* before any other */

/* The number of an int or bool, in an mpz_t that is new; and back. */
void big_load(mpz_t out, Value v);
Value big_value(const mpz_t n);

Value big_from_digits(const char *digits, size_t n, int base, bool negative); /* "_" are skipped */
Value big_from_double(double whole);        /* of a whole, finite number */
Value big_from_uint64(uint64_t n);          /* an int, of type_int if it fits */
bool big_as_uint64(Value v, uint64_t *out); /* false if it does not fit */
/* Rounded to nearest, ties to even; raises OverflowError "int too large to convert to float". */
double big_to_double(Value v, Span span);
/* v = m * 2**exponent with m in [0.5, 1): for logarithms. */
double big_fraction(Value v, long *exponent);

/* The digits of |v|, in lower case. */
const char *int_digits(Value v, int base);
bool int_is_negative(Value v);

/* Operations on ints that 64 bits may not hold. */
Value big_binary(AstOp op, Value a, Value b, Span span); /* absent: not an operator of ints */
Value big_unary(AstOp op, Value a);
int big_compare(Value a, Value b);
int big_compare_real(Value a, double b); /* b is not NaN */
Value big_power_modulo(Value base, Value exponent, Value modulus, Span span);
uint64_t big_hash(Value v);

#endif
