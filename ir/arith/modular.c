/* modular.c -- e == coeff * k + base: what is known of an expression modulo some number. */
#include "ir/arith/arith_impl.h"

static const Modular unknown = {1, 0};

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return a < 0 ? -a : a;
}

/* coeff is not negative; 0 <= base < coeff, or coeff 0 and any base. Overflow: nothing known. */
static Modular normal(__int128 coeff, __int128 base) {
  if (coeff < 0) coeff = -coeff;
  if (coeff > INT64_MAX || (coeff == 0 && (base > INT64_MAX || base < INT64_MIN))) return unknown;
  if (coeff == 0) return (Modular){0, (int64_t)base};
  __int128 r = base % coeff;
  return (Modular){(int64_t)coeff, (int64_t)(r < 0 ? r + coeff : r)};
}

static Modular add(Modular a, Modular b, int sign) {
  return normal(gcd(a.coeff, b.coeff), (__int128)a.base + sign * (__int128)b.base);
}

/* (a k + b)(c l + d): every product but b d has a factor a d, c b or a c. */
static Modular multiply(Modular x, Modular y) {
  __int128 p = (__int128)x.coeff * y.coeff, q = (__int128)x.coeff * y.base,
           r = (__int128)y.coeff * x.base;
  if (p > INT64_MAX || q > INT64_MAX || q < -INT64_MAX || r > INT64_MAX || r < -INT64_MAX)
    return unknown;
  return normal(gcd(gcd((int64_t)p, (int64_t)q), (int64_t)r), (__int128)x.base * y.base);
}

static Modular join(Modular a, Modular b) {
  __int128 distance = (__int128)a.base - b.base;
  if (distance > INT64_MAX || distance < -INT64_MAX) return unknown;
  return normal(gcd(gcd(a.coeff, b.coeff), (int64_t)distance), a.base);
}

Modular arith_modular(Analyzer *a, Node *e) {
  int64_t value;
  if (expr_is_const_int(e, &value)) return (Modular){0, value};
  if (!is_signed_index(e->dtype)) return unknown;
  Binary *b = (Binary *)(void *)e;
  switch (e->kind) {
  case NK_Var: {
    Node *known = map_get(&a->values, e);
    return known ? arith_modular(a, known) : unknown;
  }
  case NK_Add: return add(arith_modular(a, b->a), arith_modular(a, b->b), 1);
  case NK_Sub: return add(arith_modular(a, b->a), arith_modular(a, b->b), -1);
  case NK_Mul: return multiply(arith_modular(a, b->a), arith_modular(a, b->b));
  case NK_FloorMod: {
    /* x % c keeps what is known of x modulo any divisor of c. */
    if (!expr_is_const_int(b->b, &value) || value <= 0) return unknown;
    Modular x = arith_modular(a, b->a);
    return normal(gcd(x.coeff, value), x.base);
  }
  case NK_FloorDiv: {
    Modular x = arith_modular(a, b->a);
    if (!expr_is_const_int(b->b, &value) || value <= 0 || x.coeff % value) return unknown;
    return normal(x.coeff / value, floor_div(x.base, value));
  }
  case NK_Min:
  case NK_Max: return join(arith_modular(a, b->a), arith_modular(a, b->b));
  case NK_Select:
    return join(arith_modular(a, AS(Select, e)->then), arith_modular(a, AS(Select, e)->orelse));
  case NK_Cast:
    return dtype_is_int(AS(Cast, e)->value->dtype) &&
                   AS(Cast, e)->value->dtype.bits <= e->dtype.bits
               ? arith_modular(a, AS(Cast, e)->value)
               : unknown;
  default: return unknown;
  }
}
