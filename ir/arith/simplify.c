/* simplify.c -- expressions in a simpler form, wherever the facts hold.
 *
 * Bottom up: operands first, then the rules of the node. Sums and products become canonical linear
 * forms; divisions and moduli split off what is divisible; comparisons, minima and choices are
 * decided where bounds or facts decide them. Every rule makes the expression smaller, or canonical
 * once, so the rewriting ends. */
#include "ir/arith/arith_impl.h"

static Node *simplify(Mutator *m, Node *n);

static Node *simplify_linear(Node *e) {
  Linear l;
  if (!is_signed_index(e->dtype) || !arith_linear(e, &l)) return e;
  Node *out = linear_expr(&l, e->dtype, e->span);
  return node_equal(out, e, false, NULL) ? e : out;
}

/* The dividend as divisor * quotient + rest: terms and constant that the divisor divides go to the
 * quotient. */
static void split_by(const Linear *l, int64_t divisor, Linear *quotient, Linear *rest) {
  *quotient = *rest = (Linear){0};
  for (int i = 0; i < l->terms.len; i++) {
    Linear *to = l->coeffs.at[i] % divisor == 0 ? quotient : rest;
    vec_push(&to->terms, l->terms.at[i]);
    vec_push(&to->coeffs, to == quotient ? l->coeffs.at[i] / divisor : l->coeffs.at[i]);
  }
  rest->constant = floor_mod(l->constant, divisor);
  quotient->constant = floor_div(l->constant, divisor);
}

static int64_t common_factor(const Linear *l, int64_t g) {
  for (int i = -1; i < l->terms.len; i++) {
    int64_t k = i < 0 ? l->constant : l->coeffs.at[i];
    k = k < 0 ? -k : k;
    while (k) {
      int64_t r = g % k;
      g = k;
      k = r;
    }
  }
  return g;
}

static Node *nonzero_sum(Node *a, const Linear *b, DataType t, Span span) {
  if (!b->terms.len && !b->constant) return a;
  return expr_binary(NK_Add, linear_expr(b, t, span), a, span);
}

/* x // c and x % c with a positive constant c. */
static Node *divide_by_const(Analyzer *a, Node *e, int64_t c) {
  Binary *b = (Binary *)(void *)e;
  Linear l, quotient, rest;
  if (!arith_linear(b->a, &l)) return e;
  bool is_div = e->kind == NK_FloorDiv;
  split_by(&l, c, &quotient, &rest);
  ConstBound r = linear_bound(a, &rest);
  if (r.lo >= 0 && r.hi < c)
    return is_div ? linear_expr(&quotient, e->dtype, e->span)
                  : linear_expr(&rest, e->dtype, e->span);
  int64_t g = common_factor(&rest, c);
  Linear small = {.constant = rest.constant / g};
  for (int i = 0; i < rest.terms.len; i++) {
    vec_push(&small.terms, rest.terms.at[i]);
    vec_push(&small.coeffs, rest.coeffs.at[i] / g);
  }
  Node *inner = linear_expr(&small, e->dtype, e->span);
  Binary *nested = (Binary *)(void *)inner;
  int64_t d, product;
  if (is_div) {
    /* (x // d) // c is x // (d * c) */
    bool chain = inner->kind == NK_FloorDiv && expr_is_const_int(nested->b, &d) && d > 0 &&
                 !__builtin_mul_overflow(d, c / g, &product) && product <= dtype_max_int(e->dtype);
    Node *part =
        chain ? expr_binary(NK_FloorDiv, nested->a, int_imm(e->dtype, product, e->span), e->span)
              : expr_binary(NK_FloorDiv, inner, int_imm(e->dtype, c / g, e->span), e->span);
    return nonzero_sum(part, &quotient, e->dtype, e->span);
  }
  Node *mod = expr_binary(NK_FloorMod, inner, int_imm(e->dtype, c / g, e->span), e->span);
  return g == 1 ? mod : expr_binary(NK_Mul, mod, int_imm(e->dtype, g, e->span), e->span);
}

/* Is the expression a product that has `factor` in it? *rest gets the others. */
static bool take_factor(Node *e, Node *factor, Node **rest) {
  if (node_equal(e, factor, false, NULL)) return *rest = int_imm(e->dtype, 1, e->span), true;
  if (!IS(Mul, e)) return false;
  Node *inner;
  if (take_factor(AS(Mul, e)->a, factor, &inner))
    return *rest = expr_binary(NK_Mul, inner, AS(Mul, e)->b, e->span), true;
  if (take_factor(AS(Mul, e)->b, factor, &inner))
    return *rest = expr_binary(NK_Mul, AS(Mul, e)->a, inner, e->span), true;
  return false;
}

/* (n * m + i) // m with 0 <= i < m. */
static Node *divide_by_symbol(Analyzer *a, Node *e) {
  Binary *b = (Binary *)(void *)e;
  Linear l, quotient = {0}, rest = {0}, room, divisor;
  if (!arith_linear(b->a, &l) || !arith_linear(b->b, &divisor)) return e;
  rest.constant = l.constant;
  for (int i = 0; i < l.terms.len; i++) {
    Node *others;
    bool divisible = take_factor(l.terms.at[i], b->b, &others);
    vec_push(divisible ? &quotient.terms : &rest.terms, divisible ? others : l.terms.at[i]);
    vec_push(divisible ? &quotient.coeffs : &rest.coeffs, l.coeffs.at[i]);
  }
  if (!linear_sub(&divisor, &rest, &room)) return e;
  room.constant--; /* 0 <= rest <= divisor - 1: so the divisor is positive too */
  if (!linear_is_nonneg(a, &rest) || !linear_is_nonneg(a, &room)) return e;
  return simplify_linear(
      linear_expr(e->kind == NK_FloorDiv ? &quotient : &rest, e->dtype, e->span));
}

static Node *simplify_division(Analyzer *a, Node *e) {
  Binary *b = (Binary *)(void *)e;
  if (!is_signed_index(e->dtype)) return e;
  int64_t c;
  bool floors = e->kind == NK_FloorDiv || e->kind == NK_FloorMod;
  if (!floors) { /* truncation and floor agree on numbers that are not negative */
    if (arith_const_bound(a, b->a).lo < 0 || arith_const_bound(a, b->b).lo < 1) return e;
    Node *floor = expr_binary(e->kind == NK_Div ? NK_FloorDiv : NK_FloorMod, b->a, b->b, e->span);
    return floor->kind == NK_FloorDiv || floor->kind == NK_FloorMod ? simplify_division(a, floor)
                                                                    : floor;
  }
  if (expr_is_const_int(b->b, &c)) return c > 0 ? divide_by_const(a, e, c) : e;
  return divide_by_symbol(a, e);
}

/* 1: holds, 0: does not, -1: not known. x >= y? */
static int compare_forms(Analyzer *a, const Linear *x, const Linear *y, int64_t margin) {
  Linear d, opposite;
  if (!linear_sub(x, y, &d) || __builtin_sub_overflow(d.constant, margin, &d.constant)) return -1;
  if (linear_is_nonneg(a, &d)) return 1;
  Linear zero = {0};
  if (!linear_sub(&zero, &d, &opposite)) return -1;
  opposite.constant--; /* d <= -1 */
  return linear_is_nonneg(a, &opposite) ? 0 : -1;
}

static Node *decided(int truth, Node *e) { return truth < 0 ? e : int_imm(BOOL, truth, e->span); }

static Node *simplify_compare(Analyzer *a, Node *e) {
  Binary *b = (Binary *)(void *)e;
  Linear x, y;
  if (!is_signed_index(b->a->dtype) || !arith_linear(b->a, &x) || !arith_linear(b->b, &y)) return e;
  switch (e->kind) {
  case NK_GE: return decided(compare_forms(a, &x, &y, 0), e);
  case NK_GT: return decided(compare_forms(a, &x, &y, 1), e);
  case NK_LE: return decided(compare_forms(a, &y, &x, 0), e);
  case NK_LT: return decided(compare_forms(a, &y, &x, 1), e);
  default: break;
  }
  int ge = compare_forms(a, &x, &y, 0), le = compare_forms(a, &y, &x, 0);
  int equal = ge == 0 || le == 0 ? 0 : ge == 1 && le == 1 ? 1 : -1;
  return decided(equal < 0 || e->kind == NK_EQ ? equal : !equal, e);
}

static Node *simplify_extreme(Analyzer *a, Node *e) {
  Binary *b = (Binary *)(void *)e;
  Linear x, y;
  if (!is_signed_index(e->dtype) || !arith_linear(b->a, &x) || !arith_linear(b->b, &y)) return e;
  int ge = compare_forms(a, &x, &y, 0), le = compare_forms(a, &y, &x, 0);
  if (ge == 1) return e->kind == NK_Max ? b->a : b->b;
  if (le == 1) return e->kind == NK_Max ? b->b : b->a;
  return e;
}

/* The arms of a choice are simplified under its condition. */
static Node *simplify_arm(Mutator *m, Node *cond, Node *arm) {
  Analyzer *a = m->context;
  int mark = arith_enter(a, cond);
  Node *out = simplify(m, arm);
  arith_leave(a, mark);
  return out;
}

static Node *simplify_call(Mutator *m, Node *n) {
  if (!is_intrin_call(n, "if_then_else")) return mutate_children(m, n);
  Call *c = AS(Call, n);
  Node *cond = simplify(m, c->args.at[0]);
  int64_t truth;
  if (expr_is_const_int(cond, &truth)) return simplify(m, c->args.at[truth ? 1 : 2]);
  Node *then = simplify_arm(m, cond, c->args.at[1]),
       *orelse = simplify_arm(m, expr_not(cond, cond->span), c->args.at[2]);
  if (cond == c->args.at[0] && then == c->args.at[1] && orelse == c->args.at[2]) return n;
  return expr_call("if_then_else", n->dtype, NODES(cond, then, orelse), n->span);
}

static Node *simplify_binary(Analyzer *a, Node *n) {
  Binary *b = (Binary *)(void *)n;
  bool divides =
      n->kind == NK_Div || n->kind == NK_Mod || n->kind == NK_FloorDiv || n->kind == NK_FloorMod;
  if (divides && expr_is_zero(b->b)) return n; /* stays, to fail where it runs */
  Node *folded = fold_binary(n->kind, b->a, b->b, n->span);
  if (folded) return folded;
  switch (n->kind) {
  case NK_Add:
  case NK_Sub:
  case NK_Mul: return simplify_linear(n);
  case NK_Div:
  case NK_Mod:
  case NK_FloorDiv:
  case NK_FloorMod: return simplify_division(a, n);
  case NK_Min:
  case NK_Max: return simplify_extreme(a, n);
  case NK_And:
  case NK_Or: return n;
  default: return simplify_compare(a, n);
  }
}

static Node *simplify(Mutator *m, Node *n) {
  if (!n || !node_is_expr(n)) return n;
  Analyzer *a = m->context;
  if (IS(Var, n)) {
    Node *value = map_get(&a->values, n);
    return value && (IS(IntImm, value) || IS(Var, value)) ? expr_cast(n->dtype, value, n->span) : n;
  }
  if (IS(Call, n)) return simplify_call(m, n);
  n = mutate_children(m, n);
  if (node_is_binary(n->kind)) return simplify_binary(a, n);
  if (IS(Not, n)) return IS(IntImm, AS(Not, n)->a) ? expr_not(AS(Not, n)->a, n->span) : n;
  if (IS(Cast, n)) return expr_cast(n->dtype, AS(Cast, n)->value, n->span);
  if (IS(Select, n)) {
    int64_t truth;
    if (expr_is_const_int(AS(Select, n)->cond, &truth))
      return truth ? AS(Select, n)->then : AS(Select, n)->orelse;
  }
  return n;
}

Node *arith_simplify(Analyzer *a, Node *e) {
  enum { LIMIT = 8 }; /* nested questions about the same expression end here */
  if (a->depth >= LIMIT) return e;
  a->depth++;
  Mutator m = {.rewrite = simplify, .context = a};
  Node *out = simplify(&m, e);
  a->depth--;
  return out;
}
