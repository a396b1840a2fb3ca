/* ir_simplify.c -- what the analyzer makes of index arithmetic: forms that passes rely on. */
#include "ir/arith/arith.h"
#include "tests/unit/unit.h"
#include <stdio.h>

static const Span here;

/* i in [0, 16), j in [0, 4), k in [0, n); n and m are sizes; x is any int32; b is data. */
static Node *i, *j, *k, *n, *m, *x, *b;
static Analyzer *a;

static Node *num(int64_t v) { return int_imm(INT32, v, here); }

static Node *size(const char *name) {
  return MAKE(Var, here, INT32, .name = name, .elem = VOID_TYPE, .is_size = true);
}

static void start(void) {
  a = arith_new();
  i = var_new("i", INT32, here), j = var_new("j", INT32, here), k = var_new("k", INT32, here);
  x = var_new("x", INT32, here), n = size("n"), m = size("m");
  b = expr_load(buffer_new("B", INT32, NODES(num(9)), "global", here), NODES(num(0)), here);
  arith_bind_range(a, i, num(0), num(16));
  arith_bind_range(a, j, num(0), num(4));
  arith_bind_range(a, k, num(0), n);
}

static bool becomes(Node *e, Node *want) {
  Node *out = arith_simplify(a, e);
  if (node_equal(out, want, false, NULL)) return true;
  printf("%s\n  became %s\n  not    %s\n", ir_print(e, NULL), ir_print(out, NULL),
         ir_print(want, NULL));
  return false;
}

static Node *add(Node *p, Node *q) { return expr_add(p, q); }
static Node *sub(Node *p, Node *q) { return expr_sub(p, q); }
static Node *mul(Node *p, Node *q) { return expr_mul(p, q); }
static Node *div_by(Node *p, int64_t c) { return expr_floordiv(p, num(c)); }
static Node *mod_by(Node *p, int64_t c) { return expr_floormod(p, num(c)); }
static Node *compare(NodeKind kind, Node *p, Node *q) { return expr_binary(kind, p, q, here); }
static Node *truth(bool v) { return int_imm(BOOL, v, here); }

TEST(simplify_sums_become_canonical) {
  start();
  CHECK(becomes(sub(add(mul(n, num(4)), i), i), mul(n, num(4))));
  CHECK(becomes(sub(mul(add(i, num(1)), num(4)), num(4)), mul(i, num(4))));
  CHECK(becomes(sub(n, n), num(0)));
  CHECK(becomes(sub(mul(n, m), mul(m, n)), num(0)));
  CHECK(becomes(sub(mul(add(n, num(1)), m), mul(n, m)), m));
  CHECK(becomes(add(mul(div_by(x, 8), num(8)), mod_by(x, 8)), x));
  CHECK(becomes(sub(add(j, num(3)), mul(i, num(2))), add(sub(j, mul(i, num(2))), num(3))));
}

TEST(simplify_division_splits_off_what_is_divisible) {
  start();
  CHECK(becomes(div_by(add(mul(i, num(4)), j), 4), i));
  CHECK(becomes(mod_by(add(mul(i, num(4)), j), 4), j));
  CHECK(becomes(div_by(add(mul(i, num(8)), j), 4), mul(i, num(2))));
  CHECK(becomes(div_by(add(mul(i, num(4)), j), 8), div_by(i, 2)));
  CHECK(becomes(mod_by(add(mul(i, num(4)), j), 8), add(mul(mod_by(i, 2), num(4)), j)));
  CHECK(becomes(div_by(add(i, num(16)), 16), num(1)));
  CHECK(becomes(div_by(div_by(x, 3), 5), div_by(x, 15)));
  CHECK(becomes(mod_by(mod_by(x, 12), 4), mod_by(x, 4)));
  CHECK(becomes(div_by(mod_by(x, 12), 4), mod_by(div_by(x, 4), 3)));
  CHECK(becomes(mod_by(add(mul(mod_by(i, 8), num(2)), j), 4), mod_by(add(mul(i, num(2)), j), 4)));
  CHECK(becomes(expr_truncdiv(i, num(4), here), div_by(i, 4)));
  CHECK(becomes(expr_truncdiv(x, num(4), here), expr_truncdiv(x, num(4), here)));
}

TEST(simplify_division_by_a_size) {
  start();
  int mark = arith_enter(a, compare(NK_GT, m, num(0)));
  CHECK(becomes(expr_floordiv(mul(n, m), m), n));
  CHECK(becomes(expr_floormod(mul(n, m), m), num(0)));
  arith_leave(a, mark);
  CHECK(becomes(expr_floordiv(mul(n, m), m), expr_floordiv(mul(n, m), m))); /* m may be 0 */
  CHECK(becomes(expr_floordiv(add(mul(i, n), k), n), i));
  CHECK(becomes(expr_floormod(add(mul(i, n), k), n), k));
}

TEST(simplify_keeps_what_is_not_so) {
  start();
  Node *t = size("t"), *lane = var_new("lane", INT32, here);
  arith_bind_range(a, lane, num(0), num(8));
  Node *e = mod_by(add(add(mul(t, num(50)), mul(n, num(8))), lane), 20);
  Map values = {0};
  map_set(&values, t, num(1)), map_set(&values, n, num(1)), map_set(&values, lane, num(3));
  int64_t v;
  Node *at = arith_simplify(arith_new(), substitute(arith_simplify(a, e), &values));
  CHECK(expr_is_const_int(at, &v) && v == 1);
  Node *up = add(mul(div_by(add(x, num(15)), 16), num(16)), num(15));
  CHECK(!expr_is_zero(arith_simplify(a, compare(NK_Min, up, num(0)))));
  CHECK(becomes(expr_floordiv(mul(b, num(4)), num(4)),
                expr_floordiv(mul(b, num(4)), num(4)))); /* it may wrap */
  Node *bx = size("bx"), *by = size("by"), *p = var_new("p", INT32, here),
       *q = var_new("q", INT32, here);
  arith_bind_range(a, p, num(0), num(64)), arith_bind_range(a, q, num(0), num(64));
  Node *less = compare(NK_LT, add(mul(bx, num(64)), p), add(add(mul(by, num(64)), q), num(64)));
  map_set(&values, bx, num(1)), map_set(&values, by, num(0)), map_set(&values, p, num(0)),
      map_set(&values, q, num(1));
  at = arith_simplify(arith_new(), substitute(arith_simplify(a, less), &values));
  CHECK(expr_is_one(at));
}

TEST(simplify_comparisons_by_bounds_facts_and_residues) {
  start();
  CHECK(becomes(compare(NK_LT, add(mul(i, num(4)), j), num(64)), truth(true)));
  CHECK(becomes(compare(NK_LT, k, n), truth(true)));
  CHECK(becomes(compare(NK_GE, k, num(0)), truth(true)));
  CHECK(becomes(compare(NK_LE, add(k, num(1)), n), truth(true)));
  Node *odd = add(mul(x, num(2)), num(1));
  CHECK(becomes(compare(NK_EQ, mod_by(odd, 2), num(0)), truth(false)));
  CHECK(becomes(compare(NK_LT, mul(i, num(4)), num(13)), compare(NK_LT, i, num(4))));
  CHECK(becomes(compare(NK_LT, add(n, num(3)), add(m, num(3))), compare(NK_LT, n, m)));
  CHECK(becomes(compare(NK_Min, i, num(20)), i));
  CHECK(becomes(compare(NK_Max, j, i), compare(NK_Max, j, i)));
  int mark = arith_enter(a, compare(NK_LT, add(mul(x, num(4)), j), num(20)));
  CHECK(arith_can_prove(a, compare(NK_LE, x, num(4))));
  arith_leave(a, mark);
  CHECK(!arith_can_prove(a, compare(NK_LE, x, num(4))));
}

TEST(simplify_logic_and_choices) {
  start();
  Node *c = compare(NK_LT, x, num(7));
  CHECK(becomes(expr_and(c, compare(NK_LT, x, num(9))), c));
  CHECK(becomes(expr_not(c, here), compare(NK_GE, x, num(7))));
  CHECK(becomes(expr_binary(NK_Or, c, expr_not(c, here), here), truth(true)));
  CHECK(becomes(expr_and(compare(NK_LT, i, num(16)), c), c));
  CHECK(becomes(expr_select(compare(NK_LT, i, num(16)), x, n, here), x));
  Node *choice =
      expr_call("if_then_else", INT32, NODES(c, compare(NK_Min, x, num(7)), num(0)), here);
  CHECK(becomes(choice, expr_call("if_then_else", INT32, NODES(c, x, num(0)), here)));
  Node *y = expr_call("call_extern", INT32, NODES(string_imm("f", here)), here);
  CHECK(becomes(sub(y, y), sub(y, y))); /* two calls */
}

TEST(simplify_casts_where_nothing_is_lost) {
  start();
  Node *wide = expr_cast(INT64, i, here);
  CHECK(becomes(expr_cast(INT32, wide, here), i));
  CHECK(becomes(expr_cast(INT32, expr_cast(DTYPE_OF(INT, 8), i, here), here), i));
  Node *cut = expr_cast(INT32, expr_cast(DTYPE_OF(INT, 8), x, here), here);
  CHECK(becomes(cut, cut));
  CHECK(becomes(expr_floordiv(expr_cast(INT64, add(mul(i, num(4)), j), here), num(4)), wide));
}

TEST(simplify_vectors_lane_by_lane) {
  start();
  Node *ramp = MAKE(Ramp, here, dtype_with_lanes(INT32, 4), .base = mul(i, num(4)),
                    .stride = num(1), .lanes = 4);
  Node *fours = MAKE(Broadcast, here, dtype_with_lanes(INT32, 4), .value = num(4), .lanes = 4);
  Node *all_i = MAKE(Broadcast, here, dtype_with_lanes(INT32, 4), .value = i, .lanes = 4);
  Node *lanes =
      MAKE(Ramp, here, dtype_with_lanes(INT32, 4), .base = num(0), .stride = num(1), .lanes = 4);
  CHECK(becomes(expr_floordiv(ramp, fours), all_i));
  CHECK(becomes(expr_floormod(ramp, fours), lanes));
  CHECK(becomes(add(lanes, mul(all_i, fours)), ramp));
  Node *odd = MAKE(Ramp, here, dtype_with_lanes(INT32, 4), .base = j, .stride = num(1), .lanes = 4);
  CHECK(becomes(expr_floormod(odd, fours), expr_floormod(odd, fours)));
}

TEST(arith_bounds_over_ranges) {
  start();
  Map ranges = {0};
  Node *lo, *hi;
  map_set(&ranges, i, MAKE(Range, here, VOID_TYPE, .min = num(0), .extent = num(16)));
  map_set(&ranges, k, MAKE(Range, here, VOID_TYPE, .min = num(0), .extent = n));
  CHECK(arith_bounds_over(add(mul(i, num(4)), m), &ranges, &lo, &hi));
  CHECK(node_equal(lo, m, false, NULL) && node_equal(hi, add(m, num(60)), false, NULL));
  CHECK(arith_bounds_over(sub(m, mul(i, num(4))), &ranges, &lo, &hi));
  CHECK(node_equal(lo, sub(m, num(60)), false, NULL) && node_equal(hi, m, false, NULL));
  CHECK(arith_bounds_over(mul(k, m), &ranges, &lo, &hi) && expr_is_zero(lo));
  CHECK(arith_can_prove_equal(a, hi, mul(sub(n, num(1)), m)));
  CHECK(arith_bounds_over(add(mul(div_by(i, 4), num(4)), mod_by(i, 4)), &ranges, &lo, &hi));
  CHECK(expr_is_zero(lo) && node_equal(hi, num(15), false, NULL));
  CHECK(arith_bounds_over(m, &ranges, &lo, &hi) && lo == m && hi == m);
  CHECK(!arith_bounds_over(mul(k, x), &ranges, &lo, &hi));
}

TEST(arith_dims_are_compared) {
  start();
  CHECK(arith_can_prove_equal(a, mul(n, num(4)), mul(num(4), n)));
  CHECK(arith_can_prove_equal(a, add(n, m), add(m, n)));
  CHECK(arith_can_prove_different(a, n, add(n, num(1))));
  CHECK(arith_can_prove_different(a, mul(n, num(2)), add(mul(m, num(2)), num(1))));
  CHECK(!arith_can_prove_equal(a, n, m) && !arith_can_prove_different(a, n, m));
  CHECK(arith_can_prove_equal(a, num(3), int_imm(INT64, 3, here)));
}

TEST(arith_large_expressions_take_no_time) {
  start();
  Node *chain = x, *shared = x;
  for (int c = 0; c < 5000; c++)
    chain = add(chain, expr_load(AS(BufferLoad, b)->buffer, NODES(num(c)), here));
  for (int c = 0; c < 30; c++) shared = mul(shared, add(shared, n));
  CHECK(dtype_equal(arith_simplify(a, chain)->dtype, INT32));
  CHECK(arith_const_bound(a, shared).lo <= 0);
}
