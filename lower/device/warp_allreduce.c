/* warp_allreduce.c -- reductions by exchanges of registers within warps.
 *
 * A thread takes in the value of the thread `step` numbers on, for steps that halve, until the
 * first one of its warp has all; the order is that of a tree, the same in every run. Groups larger
 * than a warp put one value for each warp into shared memory, and every warp reduces these again.
 * At last the first thread of a group of neighbours gives its values to the others. */
#include "lower/device/allreduce.h"

static bool is_power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

/* All threads that a mask names must be there: the last warp of a block is whole, or the only one.
 */
bool allreduce_fits_warps(const Allreduce *a) {
  int64_t threads = a->count * a->groups;
  if (a->warp < 2 || a->warp > 32 || a->count < 2 || !a->in_a_row) return false;
  if (threads > a->warp && threads % a->warp) return false;
  if (a->count <= a->warp) return is_power_of_two(a->count);
  return a->count % a->warp == 0 && a->count / a->warp <= a->warp;
}

typedef struct Exchange {
  Allreduce *a;
  NodeVec lets;   /* LetStmts in order */
  NodeVec values; /* what each thread has now */
  Node *mask;
} Exchange;

static Node *bind(Exchange *x, const char *name, Node *value) {
  Node *var = var_new(name, value->dtype, x->a->span);
  vec_push(&x->lets, MAKE(LetStmt, x->a->span, VOID_TYPE, .value = value, .var = var));
  return var;
}

static Node *exchanged(Exchange *x, const char *how, Node *value, int64_t which, int64_t width) {
  Allreduce *a = x->a;
  NodeVec args = NODES(x->mask, value, allreduce_int(a, which), allreduce_int(a, width),
                       allreduce_int(a, a->warp));
  return expr_call(how, value->dtype, args, a->span);
}

/* The lets that were made, around what stands behind them. */
static Node *close(Exchange *x, Node *body) {
  for (int i = x->lets.len - 1; i >= 0; i--) {
    *stmt_rest(x->lets.at[i]) = body;
    body = x->lets.at[i];
  }
  x->lets = (NodeVec){0};
  return body;
}

static void take_in(Exchange *x, int64_t step, int64_t width) {
  CommReducer *by = x->a->by;
  Map bound = {0};
  for (int i = 0; i < x->values.len; i++) {
    Node *other = exchanged(x, "tvm_warp_shuffle_down", x->values.at[i], step, width);
    map_set(&bound, by->lhs.at[i], x->values.at[i]);
    map_set(&bound, by->rhs.at[i], bind(x, "other", other));
  }
  for (int i = 0; i < x->values.len; i++)
    x->values.at[i] = bind(x, "combined", substitute(by->results.at[i], &bound));
}

/* Of `width` neighbours, a power of two: all get what the first has at the end, if `share`. */
static void reduce(Exchange *x, int64_t width, bool share) {
  for (int64_t step = width / 2; step > 0; step /= 2) take_in(x, step, width);
  for (int i = 0; i < x->values.len && share; i++)
    x->values.at[i] = bind(x, "all", exchanged(x, "tvm_warp_shuffle", x->values.at[i], 0, width));
}

static Node *give_all(Exchange *x) {
  NodeVec stmts = {0};
  for (int i = 0; i < x->values.len; i++)
    vec_push(&stmts, allreduce_give(x->a, i, x->values.at[i]));
  return stmt_seq(stmts, x->a->span);
}

/* The first thread of each warp puts the values of its warp into shared memory. */
static Node *put_warps(Exchange *x, Node *slot, Node *lane) {
  Allreduce *a = x->a;
  NodeVec stmts = {0};
  for (int i = 0; i < x->values.len; i++)
    vec_push(&stmts, stmt_store(a->memory.at[i], NODES(slot), x->values.at[i], a->span));
  return MAKE(IfThenElse, a->span, VOID_TYPE,
              .cond = expr_binary(NK_EQ, lane, allreduce_int(a, 0), a->span),
              .then = stmt_seq(stmts, a->span));
}

/* Of the warps, by each group of `width` neighbours: so every thread has all at the end. */
static void get_warps(Exchange *x, Node *first, Node *lane, int64_t warps, int64_t width) {
  Allreduce *a = x->a;
  lane = expr_floormod(lane, allreduce_int(a, width));
  Node *is_one = expr_binary(NK_LT, lane, allreduce_int(a, warps), a->span);
  for (int i = 0; i < x->values.len; i++) {
    DataType t = x->values.at[i]->dtype;
    Node *value = expr_load(a->memory.at[i], NODES(expr_add(first, lane)), a->span);
    if (warps < width)
      value =
          expr_call("if_then_else", t,
                    NODES(is_one, value, expr_cast(t, a->by->identity.at[i], a->span)), a->span);
    x->values.at[i] = bind(x, "of_warp", value);
  }
}

Node *allreduce_by_warps(Allreduce *a) {
  int64_t threads = a->count * a->groups, warps = a->count / a->warp, width = 1;
  uint32_t mask = threads < 32 ? ((uint32_t)1 << threads) - 1 : UINT32_MAX;
  Exchange x = {.a = a, .mask = int_imm(DTYPE_OF(UINT, 32), mask, a->span)};
  for (int i = 0; i < a->sources.len; i++)
    vec_push(&x.values, bind(&x, "value", allreduce_source(a, i)));
  if (a->count <= a->warp) {
    reduce(&x, a->count, true);
    return close(&x, give_all(&x));
  }
  allreduce_allocate(a, warps * a->groups);
  Node *size = allreduce_int(a, a->warp), *first = expr_mul(a->group, allreduce_int(a, warps));
  Node *lane = expr_floormod(a->number, size);
  Node *slot = expr_add(first, expr_floordiv(a->number, size));
  reduce(&x, a->warp, false);
  Node *put = close(&x, put_warps(&x, slot, lane));
  while (width < warps) width *= 2;
  get_warps(&x, first, lane, warps, width);
  reduce(&x, width, true);
  Node *get = close(&x, give_all(&x));
  NodeVec stmts = NODES(put, allreduce_barrier(a->span), get);
  allreduce_end(a, &stmts);
  return stmt_seq(stmts, a->span);
}
