/* work.c -- unit tests of how much work a parallel loop is taken to do. */
#include "target/work.h"
#include "ir/arith/arith.h"
#include "tests/unit/llvm_test.h"
#include <stdio.h>

static Node *variable(const char *name) { return var_new(name, INT64, NOWHERE); }

/* for i in T.parallel(steps): for j in range(inner): A[j] = A[j] + A[j] */
static Node *two_loops(Node *i, Node *steps, Node *inner) {
  Node *A = buffer_new("A", FLOAT32, NODES(i64(1 << 20)), "global", NOWHERE), *j = variable("j");
  Node *sum = raw_binary(NK_Add, load_at(A, j), load_at(A, j));
  return loop(LOOP_PARALLEL, i, steps, loop(LOOP_SERIAL, j, inner, store_at(A, j, sum)));
}

/* The grain, if `var` (or NULL) has this value; -1: it is not a constant. */
static int64_t grain_at(Node *f, Node *var, int64_t value) {
  Map values = {0};
  if (var) map_set(&values, var, i64(value));
  int64_t grain;
  Node *n = arith_simplify(arith_new(), substitute(work_grain(AS(For, f)), &values));
  return expr_is_const_int(n, &grain) ? grain : -1;
}

TEST(work_of_constant_extents) {
  int64_t one = grain_at(two_loops(variable("i"), i64(100), i64(1)), NULL, 0);
  int64_t hundred = grain_at(two_loops(variable("i"), i64(100), i64(100)), NULL, 0);
  CHECK(one > 5000 && one < 20000);
  CHECK(hundred * 50 < one && one < hundred * 200);
  CHECK(grain_at(two_loops(variable("i"), i64(100), i64(1 << 30)), NULL, 0) == 1);
  CHECK(grain_at(two_loops(variable("i"), i64(100), i64(0)), NULL, 0) == 1 << 16);
}

TEST(work_of_symbolic_extents) {
  Node *n = var_new("n", INT64, NOWHERE), *i = variable("i");
  Node *plain = two_loops(i, n, n), *triangle = two_loops(i, n, raw_binary(NK_Sub, n, i));
  for (int64_t k = 0; k < 5000; k = k * 2 + 1) {
    CHECK(grain_at(plain, n, k) == grain_at(two_loops(i, i64(9), i64(k)), NULL, 0));
    CHECK(grain_at(triangle, n, k) == grain_at(plain, n, k));
  }
  CHECK(grain_at(plain, n, -3) == 1 << 16);
  CHECK(grain_at(plain, n, INT64_MAX) == 1);
  CHECK(grain_at(plain, n, INT64_MIN) == 1 << 16);
}

/* An extent from memory is not known before the loop, and no variable of the loop is left. */
TEST(work_of_extents_in_memory) {
  Node *L = buffer_new("L", INT64, NODES(i64(100)), "global", NOWHERE), *i = variable("i");
  int64_t grain = grain_at(two_loops(i, i64(100), load_at(L, i)), NULL, 0);
  CHECK(grain > 100 && grain < 10000);
  Node *let = variable("x");
  Node *inner = AS(For, two_loops(i, i64(100), let))->body;
  Node *body = MAKE(LetStmt, NOWHERE, VOID_TYPE, .value = load_at(L, i), .var = let, .body = inner);
  CHECK(grain_at(loop(LOOP_PARALLEL, i, i64(100), body), NULL, 0) > 100);
}

TEST(work_of_unknown_calls) {
  NodeVec args = NODES(string_imm("anything", NOWHERE));
  Node *stmt = stmt_evaluate(call("call_extern", INT32, args), NOWHERE);
  Node *f = loop(LOOP_PARALLEL, variable("i"), i64(2), stmt);
  CHECK(grain_at(f, NULL, 0) == 1);
  CHECK(!work_is_small(AS(For, f)));
}

TEST(work_that_is_small) {
  Node *i = variable("i"), *n = var_new("n", INT64, NOWHERE);
  CHECK(work_is_small(AS(For, two_loops(i, i64(64), i64(64)))));
  CHECK(!work_is_small(AS(For, two_loops(i, i64(640), i64(640)))));
  CHECK(work_is_small(AS(For, two_loops(i, i64(1), i64(1 << 30))))); /* one thread's work */
  CHECK(!work_is_small(AS(For, two_loops(i, n, i64(1)))));
}
