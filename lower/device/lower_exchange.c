/* lower_exchange.c -- T.tvm_warp_shuffle and its like, between threads that run one after the
 * other: each puts its value into an array, and then takes what another one has put there. A lane
 * that is not there, or that is beyond the width, gives a thread its own value. */
#include "lower/device/threads.h"

typedef enum { FROM_LANE, FROM_LOWER, FROM_HIGHER, FROM_XOR, NO_EXCHANGE } Exchange;

static Exchange exchange_of(Node *n) {
  static const char *const names[] = {"tvm_warp_shuffle", "tvm_warp_shuffle_up",
                                      "tvm_warp_shuffle_down", "tvm_warp_shuffle_xor"};
  for (int i = 0; i < NO_EXCHANGE; i++)
    if (is_intrin_call(n, names[i])) return (Exchange)i;
  return NO_EXCHANGE;
}

static WalkResult find_exchange(Walker *w, Node *n) {
  (void)w;
  bool found = exchange_of(n) != NO_EXCHANGE || is_intrin_call(n, "tvm_warp_activemask") ||
               (is_intrin_call(n, "tvm_storage_sync") && is_of_warp(AS(Call, n)));
  return found ? WALK_STOP : WALK_ON;
}

bool has_exchange(Node *n) {
  Walker w = {.enter = find_exchange};
  return n && !walk(&w, n);
}

static Node *number(int64_t n, Span span) { return int_imm(INT32, n, span); }

static Node *choose(Node *cond, Node *then, Node *orelse) {
  return expr_select(cond, then, orelse, cond->span);
}

static Node *less(Node *a, Node *b) { return expr_binary(NK_LT, a, b, a->span); }

/* The thread whose value is taken, by its number. */
static Node *source_of(const Threads *t, Exchange kind, Node *which, Node *width, Span span) {
  Node *me = thread_number(t, span), *in = expr_floormod(me, width), *first = expr_sub(me, in);
  Node *from = NULL;
  switch (kind) {
  case FROM_LOWER: from = choose(less(in, which), me, expr_sub(me, which)); break;
  case FROM_HIGHER: from = choose(less(expr_add(in, which), width), expr_add(me, which), me); break;
  case FROM_XOR: {
    Node *other = expr_call("bitwise_xor", INT32, NODES(in, which), span);
    from = choose(less(other, width), expr_add(first, other), me);
    break;
  }
  default: from = expr_add(first, expr_floormod(which, width));
  }
  return choose(less(from, number(t->count, span)), from, me);
}

/* The bits of the warp's threads that are in the branch. */
static Node *active_mask(Threads *t, Span span) {
  int64_t warp = target_option_int(t->target, "thread_warp_size");
  if (warp > 32) warp = 32;
  Node *me = thread_number(t, span), *first = expr_sub(me, expr_floormod(me, number(warp, span)));
  Node *mask = int_imm(DTYPE_OF(UINT, 32), 0, span), *last = number(t->count - 1, span);
  for (int i = 0; i < warp; i++) {
    Node *lane = expr_add(first, number(i, span));
    Node *is_on = less(lane, number(t->count, span));
    if (t->active) {
      Node *safe = expr_binary(NK_Min, lane, last, span);
      is_on = expr_and(is_on, expr_load(t->active, NODES(safe), span));
    }
    Node *bit = choose(is_on, int_imm(DTYPE_OF(UINT, 32), (int64_t)(1u << i), span),
                       int_imm(DTYPE_OF(UINT, 32), 0, span));
    mask = expr_call("bitwise_or", DTYPE_OF(UINT, 32), NODES(mask, bit), span);
  }
  return mask;
}

typedef struct Lowering {
  Threads *threads;
  NodeVec *before;
} Lowering;

static Node *rewrite(Mutator *m, Node *n) {
  Lowering *l = m->context;
  Threads *t = l->threads;
  if (IS(Buffer, n)) return n;
  if (is_intrin_call(n, "tvm_warp_activemask")) return active_mask(t, n->span);
  Exchange kind = exchange_of(n);
  if (kind == NO_EXCHANGE) return mutate_children(m, n);
  Call *call = AS(Call, n);
  if (call->args.len != 5)
    error_raisef("LowerError", n->span, "kernel %s: an exchange between threads takes 5 arguments",
                 t->kernel);
  Node *args[5];
  for (int i = 1; i < 5; i++) args[i] = mutate(m, call->args.at[i]);
  Node *array = thread_array(t, "exchanged", n->dtype, n->span);
  Node *own = stmt_store(array, NODES(thread_number(t, n->span)), args[1], n->span);
  vec_push(l->before, each_thread(t, own));
  Node *from = source_of(t, kind, expr_cast(INT32, args[2], n->span),
                         expr_cast(INT32, args[3], n->span), n->span);
  return expr_load(array, NODES(from), n->span);
}

Node *lower_exchanges(Threads *t, Node *n, NodeVec *before) {
  Lowering l = {t, before};
  Mutator m = {.rewrite = rewrite, .context = &l};
  return mutate(&m, n);
}
