/* count_matrix.c -- what matrix instructions and asynchronous copies cost a block. */
#include "target/speed/count.h"
#include <stdio.h>

/* Multiply-adds of an SM in a clock, beside those of float16. */
static double rate_of(Node *kind) {
  static const struct {
    const char *name;
    double rate;
  } rows[] = {{"tf32", 0.5}, {"int8", 2}, {"uint8", 2}, {"e4m3", 2}, {"e5m2", 2}, {"fp64", 0.0625}};
  for (size_t i = 0; IS(StringImm, kind) && i < sizeof rows / sizeof *rows; i++)
    if (str_same(AS(StringImm, kind)->value, rows[i].name)) return rows[i].rate;
  return 1;
}

static int active_warps(Count *c, int *threads) {
  bool on[MOST_THREADS];
  *threads = count_active(c, on);
  return count_warps(c, on);
}

static Cost count_mma(Count *c, Call *n) {
  Cost cost = cost_nothing();
  int rows = 0, columns = 0, depth = 0, threads;
  Node *shape = n->args.at[0];
  if (IS(StringImm, shape))
    sscanf(AS(StringImm, shape)->value, "m%dn%dk%d", &rows, &columns, &depth);
  double warps = active_warps(c, &threads), sums = (double)rows * columns * depth;
  c->out->tensor_rate = c->out->chip->tensor * rate_of(n->args.at[3]);
  cost_busy(&cost, TENSOR_CORES, warps * sums / c->out->tensor_rate);
  cost_busy(&cost, ISSUE, warps / SCHEDULERS);
  cost.latency[OF_TENSOR] = count_latencies[OF_TENSOR];
  c->out->flops += c->times * warps * 2 * sums;
  c->out->tensor_flops += c->times * warps * 2 * sums;
  return cost;
}

/* By four warps, at twice the rate of mma. Operands come from shared memory, without conflicts; no
 * one waits before T.ptx_wgmma_wait_group. */
static Cost count_wgmma(Count *c, Call *n) {
  enum { GROUP = 4, TURN = 128, OF_A = 6 };
  Cost cost = cost_nothing();
  int rows = 0, columns = 0, depth = 0, threads;
  Node *shape = n->args.at[0], *a = n->args.at[OF_A];
  if (IS(StringImm, shape))
    sscanf(AS(StringImm, shape)->value, "m%dn%dk%d", &rows, &columns, &depth);
  double groups = active_warps(c, &threads) / GROUP, sums = (double)rows * columns * depth;
  bool held = IS(Var, a) && AS(Var, a)->scope && str_same(AS(Var, a)->scope, "local");
  double bytes = groups * 32 * ((held ? 0 : rows) + columns); /* 32 along the sums */
  c->out->tensor_rate = 2 * c->out->chip->tensor * rate_of(n->args.at[1]);
  cost_busy(&cost, TENSOR_CORES, groups * sums / c->out->tensor_rate);
  cost_busy(&cost, SHARED_MEMORY, bytes / TURN);
  cost_busy(&cost, ISSUE, groups * GROUP / SCHEDULERS);
  c->out->flops += c->times * groups * 2 * sums;
  c->out->tensor_flops += c->times * groups * 2 * sums;
  c->out->shared_load_bytes += c->times * bytes;
  c->out->wide_load_bytes += c->times * bytes;
  c->out->shared_turns += c->times * bytes / TURN;
  return cost;
}

static Cost count_wgmma_wait(Count *c, Call *n) {
  Cost cost = cost_nothing();
  (void)c;
  if (expr_is_zero(n->args.at[0])) cost.latency[OF_TENSOR] = count_latencies[OF_TENSOR];
  return cost;
}

static int unit_of(Node *pointer) {
  int nbytes = IS(Var, pointer) ? dtype_nbytes(AS(Var, pointer)->elem) : 0;
  return nbytes ? nbytes : 1;
}

/* Each thread names 16 bytes; of less than four matrices, fewer do. */
static Cost count_ldmatrix(Count *c, Call *n) {
  int64_t count = 4;
  int threads;
  expr_is_const_int(n->args.at[1], &count);
  Cost cost = count_touch(c, n->args.at[5], n->args.at[6], unit_of(n->args.at[5]), 16, false);
  cost_scale(&cost, (double)count / 4);
  active_warps(c, &threads);
  double bytes = c->times * threads * 16 * (double)count / 4;
  c->out->shared_load_bytes += bytes;
  c->out->wide_load_bytes += bytes;
  return cost;
}

/* Reads and writes of a copy: (to, its index, from, its index, bytes). */
static Cost count_copy(Count *c, NodeVec x) {
  int64_t nbytes = 0;
  expr_is_const_int(x.at[4], &nbytes);
  Cost cost = count_touch(c, x.at[2], x.at[3], unit_of(x.at[2]), (int)nbytes, false);
  cost_add(&cost, count_touch(c, x.at[0], x.at[1], unit_of(x.at[0]), (int)nbytes, true));
  return cost;
}

/* What nobody waits for has no latency here: that is for the wait. */
static Cost count_cp_async(Count *c, Call *n) {
  Cost cost = count_copy(c, n->args);
  memset(cost.latency, 0, sizeof cost.latency);
  return cost;
}

/* One instruction, however many bytes; those who wait for it wait out its latency. */
static Cost count_bulk_copy(Count *c, Call *n) {
  Cost cost = count_copy(c, n->args);
  cost.busy[ISSUE] = cost.first[ISSUE] = 1.0 / SCHEDULERS;
  cost.latency[OF_GLOBAL] = count_latencies[OF_GLOBAL];
  return cost;
}

static Cost count_wait(Count *c, Call *n) {
  Cost cost = cost_nothing();
  int64_t in_flight = 0;
  (void)c;
  expr_is_const_int(n->args.at[0], &in_flight);
  cost.in_flight = (int)in_flight;
  return cost;
}

static Cost count_mma_store(Count *c, Call *n) {
  Cost cost = cost_nothing();
  Call *pointer = AS(Call, n->args.at[2]);
  Node *data = pointer->args.at[1], *lane = warp_lane(c->threads, c->out->block, n->node.span);
  int unit = dtype_nbytes(n->node.dtype);
  for (int i = 0; i < MMA_STORE_PAIRS; i++)
    cost_add(&cost, count_touch(c, data, mma_store_pair(n, lane, i), unit, 2 * unit, true));
  return cost;
}

Cost count_matrix_call(Count *c, Call *n, bool *is_one) {
  static const struct {
    const char *name;
    Cost (*count)(Count *c, Call *n);
  } rows[] = {{"ptx_mma", count_mma},
              {"ptx_wgmma", count_wgmma},
              {"ptx_wgmma_wait_group", count_wgmma_wait},
              {"ptx_ldmatrix", count_ldmatrix},
              {"ptx_cp_async", count_cp_async},
              {"ptx_cp_async_bulk", count_bulk_copy},
              {"ptx_wait_group", count_wait},
              {"mma_store", count_mma_store}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (is_intrin_call(&n->node, rows[i].name)) return *is_one = true, rows[i].count(c, n);
  return cost_nothing();
}
