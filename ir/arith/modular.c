/* modular.c -- e == coeff * k + base: what is known of an expression modulo some number. */
#include "ir/arith/arith_impl.h"
#include "ir/support/stack.h"

static const Modular unknown = {1, 0};

int64_t gcd_of(int64_t a, int64_t b) {
  if (a == INT64_MIN || b == INT64_MIN) return 1;
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

static Modular add(Modular x, Modular y) {
  return normal(gcd_of(x.coeff, y.coeff), (__int128)x.base + y.base);
}

static bool small(__int128 x) { return x < INT64_MAX && x > -(__int128)INT64_MAX; }

/* (a k + b)(c l + d): every product but b d has a factor a c, a d or c b. */
static Modular multiply(Modular x, Modular y) {
  __int128 p = (__int128)x.coeff * y.coeff, q = (__int128)x.coeff * y.base,
           r = (__int128)y.coeff * x.base;
  if (!small(p) || !small(q) || !small(r)) return unknown;
  return normal(gcd_of(gcd_of((int64_t)p, (int64_t)q), (int64_t)r), (__int128)x.base * y.base);
}

Modular modular_join(Modular x, Modular y) {
  __int128 distance = (__int128)x.base - y.base;
  if (!small(distance)) return unknown;
  return normal(gcd_of(gcd_of(x.coeff, y.coeff), (int64_t)distance), x.base);
}

/* Both hold: the one that tells more. */
static Modular better(Modular x, Modular y) {
  if (!x.coeff || !y.coeff) return x.coeff ? y : x;
  return x.coeff >= y.coeff ? x : y;
}

/* What wraps changes by multiples of 2^bits: of the rest only powers of two are sure. */
static Modular wrapped(Modular m, DataType t) {
  int bits = t.bits < 62 ? t.bits : 62;
  return normal(gcd_of(m.coeff, (int64_t)1 << bits), m.base);
}

Modular linear_modular(Analyzer *a, const Linear *l) {
  Modular sum = {0, l->constant};
  for (int i = 0; i < l->terms.len; i++)
    sum = add(sum, multiply(arith_modular(a, l->terms.at[i]), (Modular){0, l->coeffs.at[i]}));
  return sum;
}

static Modular modular_of_ring(Analyzer *a, Node *e) {
  Linear l;
  if (!linear_of(a, e, false, &l)) return unknown;
  bool itself = l.terms.len == 1 && l.terms.at[0] == e; /* a product of two variables */
  if (!itself) {
    Modular m = linear_modular(a, &l);
    return linear_is_exact(a, &l, e->dtype) ? m : wrapped(m, e->dtype);
  }
  Node *x = as_binary(e)->a, *y = as_binary(e)->b;
  Modular m = multiply(arith_modular(a, x), arith_modular(a, y));
  return product_is_exact(a, e) ? m : wrapped(m, e->dtype);
}

static Modular modular_of_division(Analyzer *a, Node *e) {
  Binary *b = as_binary(e);
  int64_t c;
  Modular x = arith_modular(a, b->a);
  if (!expr_is_const_int(b->b, &c) || c <= 0) return unknown;
  if (e->kind == NK_FloorMod) return normal(gcd_of(x.coeff, c), floor_mod(x.base, c));
  if (x.coeff % c) return unknown;
  /* Truncation is floor where the dividend is a multiple or not negative. */
  bool floors = e->kind == NK_FloorDiv || x.base % c == 0 || arith_const_bound(a, b->a).lo >= 0;
  return floors ? normal(x.coeff / c, floor_div(x.base, c)) : unknown;
}

static Modular modular_of_cast(Analyzer *a, Node *e) {
  Node *value = AS(Cast, e)->value;
  if (!is_signed_index(value->dtype)) return unknown;
  Modular m = arith_modular(a, value);
  bool widens = value->dtype.bits <= e->dtype.bits;
  return widens || bound_fits(arith_const_bound(a, value), e->dtype) ? m : wrapped(m, e->dtype);
}

static Modular modular_of_call(Analyzer *a, Node *e) {
  NodeVec args = AS(Call, e)->args;
  int64_t by;
  if (is_intrin_call(e, "if_then_else"))
    return modular_join(arith_modular(a, args.at[1]), arith_modular(a, args.at[2]));
  bool shifts = is_intrin_call(e, "shift_left") && expr_is_const_int(args.at[1], &by) && by >= 0 &&
                by < e->dtype.bits && by < 62;
  if (shifts)
    return wrapped(multiply(arith_modular(a, args.at[0]), (Modular){0, (int64_t)1 << by}),
                   e->dtype);
  return unknown;
}

static Modular modular_of_var(Analyzer *a, Node *e) {
  VarInfo *info = var_info(a, e);
  bool same = info && info->value && dtype_equal(info->value->dtype, e->dtype);
  return same ? arith_modular(a, info->value) : unknown;
}

static Modular modular_of(Analyzer *a, Node *e) {
  if (is_ring(e->kind)) return modular_of_ring(a, e);
  switch (e->kind) {
  case NK_Var: return modular_of_var(a, e);
  case NK_FloorMod:
  case NK_FloorDiv:
  case NK_Div: return modular_of_division(a, e);
  case NK_Min:
  case NK_Max:
    return modular_join(arith_modular(a, as_binary(e)->a), arith_modular(a, as_binary(e)->b));
  case NK_Select:
    return modular_join(arith_modular(a, AS(Select, e)->then),
                        arith_modular(a, AS(Select, e)->orelse));
  case NK_Cast: return modular_of_cast(a, e);
  case NK_Call: return modular_of_call(a, e);
  default: return unknown;
  }
}

Modular arith_modular(Analyzer *a, Node *e) {
  int64_t value;
  if (!is_signed_index(e->dtype) || stack_is_low()) return unknown;
  if (expr_is_const_int(e, &value)) return (Modular){0, value};
  Known *k = known_of(a, e);
  if (k->has_modular) return k->modular;
  Modular m = modular_of(a, e);
  for each (Fact, f, &a->facts)
    if (!f->dead && f->about && same_term(f->about, e)) m = better(m, f->modular);
  k = known_of(a, e);
  k->has_modular = true;
  return k->modular = m;
}
