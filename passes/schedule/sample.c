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

/* n factors, of which the last one is at most `most`. */
static void draw_tile(ScheduleCall *c, int64_t extent, int n, int64_t most, int64_t *factors) {
  int64_t last = draw_factor(c, extent, n, n > 1 ? most : extent), rest = extent / last;
  for (int i = 0; i < n - 1; i++) {
    factors[i] = draw_factor(c, rest, n - 1 - i, rest);
    rest /= factors[i];
  }
  factors[n - 1] = last;
}

enum { MOST_FACTORS = 16 };

/* The loop of argument 0 and the number of factors, argument 1. */
static Node *tile_args(ScheduleCall *c, int64_t *extent, int *n) {
  Place p = loop_arg(c, 0);
  Node *loop = vec_last(&p.path);
  int64_t count = int_arg(c, 1, "n");
  if (!expr_is_const_int(AS(For, loop)->extent, extent) || *extent < 1)
    schedule_fail(c, loop, "the extent of the loop must be a positive constant");
  if (count < 1 || count > MOST_FACTORS)
    schedule_fail(c, loop, "n must be from 1 to %d, but is %lld", MOST_FACTORS, (long long)count);
  *n = (int)count;
  return loop;
}

static void read_decision(ScheduleCall *c, Node *loop, int64_t extent, int n, int64_t *factors) {
  int64_t product = 1;
  NodeVec given = IS(Array, c->decision) ? AS(Array, c->decision)->items : (NodeVec){0};
  for (int i = 0; i < given.len && i < n; i++)
    product *= expr_is_const_int(given.at[i], &factors[i]) && factors[i] > 0 ? factors[i] : 0;
  if (given.len != n || product != extent)
    schedule_fail(c, loop, "the decision must be %d factors of %lld", n, (long long)extent);
}

/* The decision is the list of factors. */
static void give_factors(ScheduleCall *c, const int64_t *factors, int n) {
  NodeVec drawn = {0};
  for (int i = 0; i < n; i++) vec_push(&drawn, int_imm(INT32, factors[i], c->span));
  c->decision = MAKE(Array, c->span, VOID_TYPE, .items = drawn);
  for each (Node *, f, &drawn) give_int(c, *f);
}

void primitive_sample_perfect_tile(ScheduleCall *c) {
  int64_t extent, factors[MOST_FACTORS], most = int_arg(c, 2, "max_innermost_factor");
  int n;
  Node *loop = tile_args(c, &extent, &n);
  if (c->decision) read_decision(c, loop, extent, n, factors);
  else if (most < 1) schedule_fail(c, loop, "max_innermost_factor must be positive");
  else draw_tile(c, extent, n, most, factors);
  give_factors(c, factors, n);
}

/* The factors from partition_pos on multiply to a multiple of innerpart_factor. */
void primitive_sample_partitioned_tile(ScheduleCall *c) {
  int64_t extent, factors[MOST_FACTORS], inner = 1;
  int64_t at = int_arg(c, 2, "partition_pos"), multiple = int_arg(c, 3, "innerpart_factor");
  int n;
  Node *loop = tile_args(c, &extent, &n);
  if (at < 0 || at >= n)
    schedule_fail(c, loop, "partition_pos must be from 0 to %d, but is %lld", n - 1, (long long)at);
  if (multiple < 1 || extent % multiple)
    schedule_fail(c, loop, "innerpart_factor must divide the extent %lld, but is %lld",
                  (long long)extent, (long long)multiple);
  if (c->decision) read_decision(c, loop, extent, n, factors);
  else {
    draw_tile(c, extent / multiple, n, extent, factors);
    factors[at] *= multiple;
  }
  for (int64_t i = at; i < n; i++) inner *= factors[i];
  if (inner % multiple)
    schedule_fail(c, loop, "the factors of the decision from %lld on must be a multiple of %lld",
                  (long long)at, (long long)multiple);
  give_factors(c, factors, n);
}

/* ---- where to compute a block ---- */

/* The loops of the first consumer that the block may move to, as numbers; LOCATION_ROOT, and
 * LOCATION_INLINE if it may be inlined. */
static NodeVec locations_of(ScheduleCall *c, NodeVec loops) {
  NodeVec out = {0}, no = NODES(int_imm(BOOL, 0, c->span), int_imm(INT32, -1, c->span));
  Schedule *trial = schedule_copy(c->schedule);
  Node *block = c->args.at[0];
  if (schedule_would_apply(trial, primitive_find("compute_inline"), NODES(block), c->span))
    vec_push(&out, int_imm(INT32, LOCATION_INLINE, c->span));
  vec_push(&out, int_imm(INT32, LOCATION_ROOT, c->span));
  for (int i = 0; i < loops.len; i++) {
    ScheduleCall there = {.schedule = trial, .primitive = c->primitive, .span = c->span};
    give_loop(&there, block_arg(c, 0)->func, AS(For, loops.at[i])->var);
    NodeVec args = NODES(block, there.results.at[0], no.at[0], no.at[1]);
    if (schedule_would_apply(trial, primitive_find("compute_at"), args, c->span))
      vec_push(&out, int_imm(INT32, i, c->span));
  }
  return out;
}

void primitive_sample_compute_location(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Place p = place_of(c, ref->func, ref->node);
  NodeVec consumers = {0}, loops = {0};
  if (scope_block(&p)) consumers = consumers_of(scope_block(&p), ref->node);
  if (consumers.len) {
    Place at = place_of(c, ref->func, consumers.at[0]);
    loops = loops_around(&at);
  }
  NodeVec may = locations_of(c, loops);
  int64_t chosen;
  if (c->decision) {
    bool known = false;
    for each (Node *, m, &may) known |= node_equal(*m, c->decision, false, NULL);
    if (!known) schedule_fail(c, ref->node, "the block can't be computed at the decision's place");
    expr_is_const_int(c->decision, &chosen);
  } else {
    c->decision = may.at[draw(c, (uint64_t)may.len)];
    expr_is_const_int(c->decision, &chosen);
  }
  if (chosen < 0) give_loop(c, ref->func, int_imm(INT32, chosen, c->span));
  else give_loop(c, ref->func, AS(For, loops.at[chosen])->var);
}
