/* sample.c -- primitives that draw: what was drawn is the step's decision, which a trace keeps. */
#include "passes/schedule/schedule_impl.h"

/* An even draw from 0 to n - 1. */
static int64_t draw(ScheduleCall *c, uint64_t n) {
  return (int64_t)(schedule_fork_seed(c->schedule) % n);
}

static double to_double(ScheduleCall *c, Node *n) {
  int64_t i;
  if (expr_is_const_int(n, &i)) return (double)i;
  if (!IS(FloatImm, n)) schedule_fail(c, NULL, "a probability must be a number");
  return AS(FloatImm, n)->value;
}

/* candidates, probs: one of the integers; the decision is its index. */
void primitive_sample_categorical(ScheduleCall *c) {
  NodeVec candidates = list_arg(c, 0), probs = list_arg(c, 1);
  if (!candidates.len || candidates.len != probs.len)
    schedule_fail(c, NULL, "%d candidates need as many probabilities, but there are %d",
                  candidates.len, probs.len);
  double total = 0, at = 0;
  for each (Node *, p, &probs) total += to_double(c, *p);
  int64_t chosen = candidates.len - 1;
  if (expr_is_const_int(c->decision, &chosen)) {
    if (chosen < 0 || chosen >= candidates.len)
      schedule_fail(c, NULL, "the decision must be from 0 to %d, but is %lld", candidates.len - 1,
                    (long long)chosen);
  } else {
    double x = (double)(schedule_fork_seed(c->schedule) >> 11) * 0x1p-53 * total;
    for (int i = 0; i < probs.len; i++) {
      at += to_double(c, probs.at[i]);
      if (x < at) {
        chosen = i;
        break;
      }
    }
  }
  c->decision = int_imm(INT32, chosen, c->span);
  give_int(c, expr_value(c, candidates.at[chosen]));
}

/* In how many ways `extent` is a product of n factors in order. */
static uint64_t ways(int64_t extent, int n) {
  uint64_t all = 1;
  for (int64_t p = 2; extent > 1; p++) {
    if (p * p > extent) p = extent;
    uint64_t choose = 1;
    for (uint64_t k = 1; extent % p == 0; extent /= p, k++)
      choose = choose * (k + (uint64_t)n - 1) / k;
    all *= choose;
  }
  return n ? all : extent == 1;
}

/* One factor, drawn so that all products are equally likely; the rest has n - 1 factors. */
static int64_t draw_factor(ScheduleCall *c, int64_t extent, int n, int64_t most) {
  uint64_t total = 0;
  if (n == 1) return extent;
  for (int64_t f = 1; f <= extent && f <= most; f++)
    if (extent % f == 0) total += ways(extent / f, n - 1);
  uint64_t x = (uint64_t)draw(c, total);
  for (int64_t f = 1;; f++) {
    if (extent % f) continue;
    uint64_t w = ways(extent / f, n - 1);
    if (x < w) return f;
    x -= w;
  }
}

/* n factors of a loop's extent, the last one at most max_innermost_factor; the decision is the list
 * of them. */
void primitive_sample_perfect_tile(ScheduleCall *c) {
  Place p = loop_arg(c, 0);
  Node *loop = vec_last(&p.path);
  int64_t extent, n = int_arg(c, 1, "n"), most = int_arg(c, 2, "max_innermost_factor");
  if (!expr_is_const_int(AS(For, loop)->extent, &extent) || extent < 1)
    schedule_fail(c, loop, "the extent of the loop must be a positive constant");
  if (n < 1 || n > 16) schedule_fail(c, loop, "n must be from 1 to 16, but is %lld", (long long)n);
  int64_t factors[16], product = 1;
  if (c->decision) {
    NodeVec given = IS(Array, c->decision) ? AS(Array, c->decision)->items : (NodeVec){0};
    for (int i = 0; i < given.len && i < n; i++)
      product *= expr_is_const_int(given.at[i], &factors[i]) && factors[i] > 0 ? factors[i] : 0;
    if (given.len != n || product != extent)
      schedule_fail(c, loop, "the decision must be %lld factors of %lld", (long long)n,
                    (long long)extent);
  } else {
    int64_t rest = extent, last = draw_factor(c, extent, (int)n, n > 1 ? most : extent);
    rest /= last;
    for (int i = 0; i < n - 1; i++) {
      factors[i] = draw_factor(c, rest, (int)n - 1 - i, rest);
      rest /= factors[i];
    }
    factors[n - 1] = last;
  }
  NodeVec drawn = {0};
  for (int i = 0; i < n; i++) vec_push(&drawn, int_imm(INT32, factors[i], c->span));
  c->decision = MAKE(Array, c->span, VOID_TYPE, .items = drawn);
  for each (Node *, f, &drawn) give_int(c, *f);
}
