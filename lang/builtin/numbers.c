/* numbers.c -- abs, round, divmod, pow, and text forms of ints. */
#include "lang/builtin/builtin.h"
#include "lang/value/big_int.h"
#include <math.h>
#include <stdlib.h>

static Value builtin_abs(BuiltinCall *c) {
  Value x = c->args[0];
  if (x.type == &type_float) return value_float(fabs(x.real));
  if (x.type == &type_bool) return value_int(x.boolean);
  if (value_is_integer(x)) return int_is_negative(x) ? value_unary(AST_NEG, x, c->span) : x;
  if (x.type == &type_instance) {
    Value r = instance_special(x, INTERNED("__abs__"), 0, NULL, c->span);
    if (r.type) return r;
    if (value_plain(x).type != x.type)
      return value_call_with(value_builtin(c->builtin), 1, (Value[]){value_plain(x)}, c->span);
  }
  Value method = value_find_attr(x, INTERNED("__abs__"), c->span);
  if (method.type) return value_call_with(method, 0, NULL, c->span);
  raise("TypeError", c->spans[0], "bad operand type for abs(): '%s'", value_type_text(x));
}

/* To a multiple of 10**-digits, half to even. */
static Value round_int(Value x, int64_t digits, Span span) {
  if (digits >= 0) return big_binary(AST_ADD, x, value_int(0), span);
  Value unit = value_binary(AST_POW, value_int(10), value_int(-digits), span);
  Value rest = value_binary(AST_MOD, x, unit, span);
  Value down = value_binary(AST_SUB, x, rest, span);
  Value twice = value_binary(AST_MUL, rest, value_int(2), span);
  Value count = value_binary(AST_FLOORDIV, down, unit, span);
  int half = big_compare(twice, unit);
  bool odd = value_truth(value_binary(AST_BITAND, count, value_int(1), span), span);
  return half > 0 || (half == 0 && odd) ? value_binary(AST_ADD, down, unit, span) : down;
}

static Value builtin_round(BuiltinCall *c) {
  Value x = c->args[0];
  bool whole = value_is_none(c->args[1]);
  int64_t digits = whole ? 0 : value_as_int(c->args[1], "the number of digits", c->spans[1]);
  if (x.type == &type_instance) {
    Value r = instance_special(x, INTERNED("__round__"), whole ? 0 : 1, &c->args[1], c->span);
    if (r.type) return r;
    x = value_plain(x);
  }
  Value method = x.type == &type_instance ? value_absent()
                                          : value_find_attr(x, INTERNED("__round__"), c->span);
  if (method.type) return value_call_with(method, whole ? 0 : 1, &c->args[1], c->span);
  if (value_is_integer(x)) return round_int(x, digits, c->span);
  if (x.type != &type_float)
    raise("TypeError", c->spans[0], "type %s doesn't define __round__ method", value_type_text(x));
  if (whole) {
    double r = nearbyint(x.real);
    if (isnan(r)) raise("ValueError", c->span, "cannot convert float NaN to integer");
    if (isinf(r)) raise("OverflowError", c->span, "cannot convert float infinity to integer");
    return big_from_double(r);
  }
  if (!isfinite(x.real) || digits > 340) return x;
  if (digits < -320) return value_float(copysign(0, x.real));
  if (digits >= 0) return value_float(strtod(str_format("%.*f", (int)digits, x.real), NULL));
  double unit = pow(10, (double)-digits);
  return value_float(nearbyint(x.real / unit) * unit);
}

static Value builtin_divmod(BuiltinCall *c) {
  for (int i = 0; i < 2; i++) {
    if (c->args[i].type != &type_instance) continue;
    const char *name = i ? INTERNED("__rdivmod__") : INTERNED("__divmod__");
    Value r = instance_special(c->args[i], name, 1, &c->args[1 - i], c->span);
    if (r.type) return r;
  }
  Value q = value_binary(AST_FLOORDIV, c->args[0], c->args[1], c->span);
  return value_tuple_of(2, q, value_binary(AST_MOD, c->args[0], c->args[1], c->span));
}

static Value builtin_pow(BuiltinCall *c) {
  if (value_is_none(c->args[2])) return value_binary(AST_POW, c->args[0], c->args[1], c->span);
  for (int i = 0; i < 3; i++)
    if (!value_is_integer(c->args[i] = value_plain(c->args[i])))
      raise("TypeError", c->spans[i], "pow() with a modulus takes ints, not '%s'",
            value_type_text(c->args[i]));
  return big_power_modulo(c->args[0], c->args[1], c->args[2], c->span);
}

static Value in_base(BuiltinCall *c, const char *spec) {
  Str out = {0};
  Value x = c->args[0];
  if (!value_is_integer(x)) x = value_int(value_as_int(x, "the argument", c->spans[0]));
  format_int(&out, x, spec, c->span);
  return value_str_take(&out);
}
static Value builtin_hex(BuiltinCall *c) { return in_base(c, "#x"); }
static Value builtin_oct(BuiltinCall *c) { return in_base(c, "#o"); }
static Value builtin_bin(BuiltinCall *c) { return in_base(c, "#b"); }

static Value builtin_ord(BuiltinCall *c) {
  value_as_text(c->args[0], "the argument of ord()", c->spans[0]);
  StrObject *s = value_plain(c->args[0]).object;
  if (str_length(s) != 1)
    raise("TypeError", c->spans[0], "ord() expected a character, but string of length %lld found",
          (long long)str_length(s));
  size_t n;
  return value_int(utf8_decode(s->text, &n));
}

static Value builtin_chr(BuiltinCall *c) {
  int64_t code = value_as_int(c->args[0], "the argument of chr()", c->spans[0]);
  if (code < 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    raise("ValueError", c->spans[0], "chr() arg not in range(0x110000), or half of a pair");
  char text[4];
  return value_str_n(text, utf8_encode((uint32_t)code, text));
}

static const Builtin rows[] = {
    {"abs", "x, /", builtin_abs, "the absolute value"},
    {"round", "number, ndigits=None", builtin_round, "rounded half to even"},
    {"divmod", "x, y, /", builtin_divmod, "(x // y, x % y)"},
    {"pow", "base, exp, mod=None", builtin_pow, "base ** exp, or that modulo mod"},
    {"hex", "number, /", builtin_hex, "in base 16, with 0x"},
    {"oct", "number, /", builtin_oct, "in base 8, with 0o"},
    {"bin", "number, /", builtin_bin, "in base 2, with 0b"},
    {"ord", "c, /", builtin_ord, "the code of a character"},
    {"chr", "i, /", builtin_chr, "the character of a code"},
};
const BuiltinTable number_builtins = {rows, sizeof rows / sizeof *rows};
