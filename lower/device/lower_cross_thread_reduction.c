/* lower_cross_thread_reduction.c -- reductions whose steps are shared out among threads.
 *
 * In:  blocks that reduce (one store each, of a sum, product, minimum or maximum), in loops of
 * which some are bound to threadIdx; the innermost loops bind nothing but variables of the
 * reduction. Out: a thread reduces its steps into a register, T.tvm_thread_allreduce does the rest,
 * and one thread writes the result; of a buffer that each thread has for itself, every thread. */
#include "lower/device/device.h"
#include "passes/schedule/schedule_impl.h"

typedef struct Cross {
  NodeVec loops;   /* around the block, outermost first: those of the reduction */
  NodeVec threads; /* of them, bound to threadIdx */
  BlockRealize *realize;
  Block *block;
  Reduction by;
} Cross;

static bool is_thread_loop(const For *f) {
  return f->loop_kind == LOOP_THREAD && str_begins(f->thread_tag, "threadIdx.");
}

/* ---- finding them ---- */

static bool binds(const Cross *c, Node *var, bool reductions) {
  for (int i = 0; i < c->realize->iter_values.len; i++) {
    bool reduces = AS(IterVar, c->block->iter_vars.at[i])->iter_kind == ITER_REDUCE;
    if (reduces == reductions && mentions(c->realize->iter_values.at[i], var)) return true;
  }
  return false;
}

/* The perfect nest from a loop down to a block with init. */
static bool find_nest(Node *n, Cross *c) {
  for (; IS(For, n); n = AS(For, n)->body) vec_push(&c->loops, n);
  if (!c->loops.len || !IS(BlockRealize, n)) return false;
  c->realize = AS(BlockRealize, n);
  c->block = AS(Block, c->realize->block);
  return c->block->init != NULL;
}

/* Is the first loop one of the reduction, and a thread among them? */
static bool is_shared_out(Cross *c) {
  For *first = AS(For, c->loops.at[0]);
  if (!binds(c, first->var, true)) return false;
  for each (Node *, l, &c->loops)
    if (is_thread_loop(AS(For, *l)) && binds(c, AS(For, *l)->var, true)) vec_push(&c->threads, *l);
  if (!c->threads.len) return false;
  for each (Node *, l, &c->loops)
    if (binds(c, AS(For, *l)->var, false))
      error_raisef("LowerError", (*l)->span,
                   "LowerCrossThreadReduction: the loop '%s' of block '%s' is no loop of its "
                   "reduction, but stands inside of one: reorder it outwards",
                   AS(Var, AS(For, *l)->var)->name, c->block->name);
  return true;
}

/* ---- building ---- */

static Node *element(Node *buffer, Span span) {
  return expr_load(buffer, NODES(int_imm(INT32, 0, span)), span);
}

static Node *store_element(Node *buffer, Node *value, Span span) {
  return stmt_store(buffer, NODES(int_imm(INT32, 0, span)), value, span);
}

/* The block, with its result in the register. */
static Node *partial(Cross *c, Node *in_thread) {
  Span span = c->block->node.span;
  Block b = *c->block;
  BlockRealize r = *c->realize;
  Node *zero = int_imm(INT32, 0, span);
  Node *point = MAKE(Range, span, VOID_TYPE, .min = zero, .extent = int_imm(INT32, 1, span));
  Node *region = MAKE(BufferRegion, span, VOID_TYPE, .buffer = in_thread, .region = NODES(point));
  b.name = str_intern(str_format("%s_in_thread", b.name));
  b.init = NULL;
  b.body = store_element(
      in_thread, expr_binary(c->by.op, element(in_thread, span), c->by.operand, span), span);
  b.writes = NODES(region);
  NodeVec reads = NODES(region);
  for each (Node *, x, &c->block->reads)
    if (AS(BufferRegion, *x)->buffer != c->by.store->buffer) vec_push(&reads, *x);
  b.reads = reads;
  r.block = gc_copy(&b, sizeof b);
  Node *body = gc_copy(&r, sizeof r);
  for (int i = c->loops.len - 1; i >= 0; i--) {
    For f = *AS(For, c->loops.at[i]);
    if (is_thread_loop(&f)) continue;
    f.body = body;
    body = gc_copy(&f, sizeof f);
  }
  return copy_with_fresh_vars(body);
}

static Node *allreduce(Cross *c, Node *in_thread, Node *cross) {
  Span span = c->block->node.span;
  DataType t = AS(Buffer, cross)->elem;
  Node *x = var_new("x", t, span), *y = var_new("y", t, span);
  Node *reducer = MAKE(CommReducer, span, VOID_TYPE, .lhs = NODES(x), .rhs = NODES(y),
                       .results = NODES(expr_binary(c->by.op, x, y, span)),
                       .identity = NODES(expr_cast(t, c->by.identity, span)));
  NodeVec args = NODES(int_imm(DTYPE_OF(UINT, 32), 1, span), element(in_thread, span),
                       int_imm(BOOL, 1, span), element(cross, span));
  for each (Node *, l, &c->threads) vec_push(&args, AS(For, *l)->var);
  Node *call = expr_call("tvm_thread_allreduce", HANDLE, args, span);
  Node *none = expr_call("reinterpret", HANDLE, NODES(int_imm(DTYPE_OF(UINT, 64), 0, span)), span);
  return MAKE(AttrStmt, span, VOID_TYPE, .subject = reducer, .key = str_intern("reduce_scope"),
              .value = none, .body = stmt_evaluate(call, span));
}

static bool mentions_reduction(Cross *c, Node *n) {
  for each (Node *, l, &c->loops)
    if (mentions(n, AS(For, *l)->var)) return true;
  return false;
}

/* By the first thread along each axis, unless each has a copy. */
static Node *write_back(Cross *c, Node *cross) {
  Span span = c->block->node.span;
  Block b = *c->block;
  BlockRealize r = *c->realize;
  NodeVec vars = {0}, values = {0}, conditions = conjuncts(r.predicate);
  for (int i = 0; i < b.iter_vars.len; i++) {
    if (AS(IterVar, b.iter_vars.at[i])->iter_kind == ITER_REDUCE) continue;
    vec_push(&vars, b.iter_vars.at[i]);
    vec_push(&values, r.iter_values.at[i]);
  }
  r.predicate = int_imm(BOOL, 1, span);
  for each (Node *, x, &conditions)
    if (!mentions_reduction(c, *x)) r.predicate = expr_and(r.predicate, *x);
  bool is_private = str_same(buffer_scope(c->by.store->buffer), "local");
  for each (Node *, l, &c->threads)
    if (!is_private)
      r.predicate =
          expr_and(r.predicate, expr_binary(NK_EQ, AS(For, *l)->var, AS(For, *l)->min, span));
  b.name = str_intern(str_format("%s_write_back", b.name));
  b.iter_vars = vars;
  b.reads = (NodeVec){0};
  b.init = NULL;
  b.body = stmt_store(c->by.store->buffer, c->by.store->indices, element(cross, span), span);
  r.iter_values = values;
  r.block = gc_copy(&b, sizeof b);
  return copy_with_fresh_vars(gc_copy(&r, sizeof r));
}

static Node *in_register(Node *buffer, Node *body) {
  Buffer *b = AS(Buffer, buffer);
  Node *decl = MAKE(DeclBuffer, b->node.span, VOID_TYPE, .buffer = buffer, .body = body);
  return MAKE(Allocate, b->node.span, VOID_TYPE, .extents = b->shape, .elem = b->elem,
              .var = b->data, .body = decl);
}

static Node *lower_nest(Cross *c) {
  Span span = c->block->node.span;
  DataType t = AS(Buffer, c->by.store->buffer)->elem;
  NodeVec one = NODES(int_imm(INT32, 1, span));
  const char *name = AS(Buffer, c->by.store->buffer)->name;
  Node *in_thread = buffer_new(str_format("in_thread_%s", name), t, one, "local", span);
  Node *cross = buffer_new(str_format("cross_thread_%s", name), t, one, "local", span);
  Node *body = stmt_seq(NODES(store_element(in_thread, c->by.identity, span), partial(c, in_thread),
                              allreduce(c, in_thread, cross), write_back(c, cross)),
                        span);
  body = in_register(in_thread, in_register(cross, body));
  for (int i = c->loops.len - 1; i >= 0; i--) {
    For f = *AS(For, c->loops.at[i]);
    if (!is_thread_loop(&f)) continue;
    f.body = body;
    body = gc_copy(&f, sizeof f);
  }
  return body;
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n)) return n;
  Cross c = {0};
  if (!IS(For, n) || !find_nest(n, &c) || !is_shared_out(&c)) return mutate_children(m, n);
  const char *why = block_reduction(c.block, &c.by);
  if (why) error_raisef("LowerError", c.block->node.span, "LowerCrossThreadReduction: %s", why);
  return lower_nest(&c);
}

Node *pass_lower_cross_thread_reduction(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return mutate_children(&m, n);
}
