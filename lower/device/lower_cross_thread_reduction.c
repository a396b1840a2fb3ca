/* lower_cross_thread_reduction.c -- reductions whose steps are shared out among threads.
 *
 * In:  blocks that reduce (one store each, of a sum, product, minimum or maximum), in loops of
 * which some are bound to threadIdx; the innermost loops bind nothing but variables of the
 * reduction. Other statements may stand beside the block, in the loops of threads and, if these are
 * outside of them, in those of the reduction. Out: a thread reduces its steps into a register,
 * T.tvm_thread_allreduce does the rest, and one thread writes the result; of a buffer that each
 * thread has for itself, every thread. */
#include "lower/device/device.h"
#include "passes/schedule/schedule_impl.h"

typedef struct Cross {
  NodeVec around;  /* loops around the statement that is lowered */
  NodeVec loops;   /* from there to the block, outermost first: those of the reduction */
  NodeVec threads; /* of all of them, those of the reduction that are bound to threadIdx */
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
    if (reduces == reductions && node_mentions(c->realize->iter_values.at[i], var)) return true;
  }
  return false;
}

/* The perfect nest from a loop down to a block with init. */
static bool find_nest(Node *n, Cross *c) {
  for (; IS(For, n); n = AS(For, n)->body) vec_push(&c->loops, n);
  if (!IS(BlockRealize, n)) return false;
  c->realize = AS(BlockRealize, n);
  c->block = AS(Block, c->realize->block);
  return c->block->init != NULL;
}

static _Noreturn void refuse(const Cross *c, Node *loop, const char *why) {
  error_raisef("LowerError", loop->span,
               "LowerCrossThreadReduction: the loop '%s' of block '%s' %s",
               AS(Var, AS(For, loop)->var)->name, c->block->name, why);
}

static void add_threads(Cross *c, NodeVec loops) {
  for each (Node *, l, &loops)
    if (is_thread_loop(AS(For, *l)) && binds(c, AS(For, *l)->var, true)) vec_push(&c->threads, *l);
}

static void need_loops_of_reduction(const Cross *c) {
  for each (Node *, l, &c->loops)
    if (binds(c, AS(For, *l)->var, false))
      refuse(c, *l, "is no loop of its reduction, but stands inside of one: reorder it outwards");
}

/* Are steps of the reduction those of threads, and all its loops below or of threads? */
static bool is_shared_out(Cross *c) {
  if (c->loops.len && !binds(c, AS(For, c->loops.at[0])->var, true)) return false;
  add_threads(c, c->around);
  add_threads(c, c->loops);
  if (!c->threads.len) return false;
  need_loops_of_reduction(c);
  for each (Node *, l, &c->around)
    if (!is_thread_loop(AS(For, *l)) && !expr_is_one(AS(For, *l)->extent) &&
        binds(c, AS(For, *l)->var, true))
      refuse(c, *l,
             "is of its reduction, and stands outside of threads that share it out, beside other "
             "statements: reorder these threads outwards");
  return true;
}

/* ---- a loop of the reduction that holds other statements too ---- */

typedef struct Holder {
  Cross *cross;
  Node *loop;
  bool found;
} Holder;

static WalkResult find_held(Walker *w, Node *n) {
  Holder *h = w->context;
  if (node_is_expr(n)) return WALK_PRUNE;
  if (!IS(BlockRealize, n) || !AS(Block, AS(BlockRealize, n)->block)->init) return WALK_ON;
  Cross *c = h->cross;
  c->realize = AS(BlockRealize, n);
  c->block = AS(Block, c->realize->block);
  c->threads = (NodeVec){0};
  add_threads(c, c->around);
  h->found = c->threads.len && binds(c, AS(For, h->loop)->var, true);
  return h->found ? WALK_STOP : WALK_ON;
}

static WalkResult note_loop(Walker *w, Node *n) {
  Cross *c = w->context;
  if (IS(For, n) && node_mentions(n, &c->block->node)) vec_push(&c->loops, n);
  return node_is_expr(n) ? WALK_PRUNE : WALK_ON;
}

/* A block in the loop that reduces over it, and over threads around. */
static bool find_in_loop(Node *loop, Cross *c) {
  Holder h = {.cross = c, .loop = loop};
  Walker w = {.enter = find_held, .context = &h}, loops = {.enter = note_loop, .context = c};
  walk(&w, loop);
  if (!h.found) return false;
  c->loops = (NodeVec){0};
  walk(&loops, loop);
  need_loops_of_reduction(c);
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
static Node *partial_block(Cross *c, Node *in_thread) {
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
  return gc_copy(&r, sizeof r);
}

/* The nest of what a thread does. */
static Node *partial(Cross *c, Node *in_thread) {
  Node *body = partial_block(c, in_thread);
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
    if (node_mentions(n, AS(For, *l)->var)) return true;
  for each (Node *, l, &c->threads)
    if (node_mentions(n, AS(For, *l)->var)) return true;
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

/* The registers around what a thread does, the exchange, and the write of the result. part: what a
 * thread does, given its register. */
static Node *with_registers(Cross *c, Node *(*part)(Cross *c, Node *in_thread)) {
  Span span = c->block->node.span;
  const char *why = block_reduction(c->block, &c->by);
  if (why) error_raisef("LowerError", span, "LowerCrossThreadReduction: %s", why);
  DataType t = AS(Buffer, c->by.store->buffer)->elem;
  NodeVec one = NODES(int_imm(INT32, 1, span));
  const char *name = AS(Buffer, c->by.store->buffer)->name;
  Node *in_thread = buffer_new(str_format("in_thread_%s", name), t, one, "local", span);
  Node *cross = buffer_new(str_format("cross_thread_%s", name), t, one, "local", span);
  Node *body = stmt_seq(NODES(store_element(in_thread, c->by.identity, span), part(c, in_thread),
                              allreduce(c, in_thread, cross), write_back(c, cross)),
                        span);
  return in_register(in_thread, in_register(cross, body));
}

static Node *lower_nest(Cross *c) {
  Node *body = with_registers(c, partial);
  for (int i = c->loops.len - 1; i >= 0; i--) {
    For f = *AS(For, c->loops.at[i]);
    if (!is_thread_loop(&f)) continue;
    f.body = body;
    body = gc_copy(&f, sizeof f);
  }
  return body;
}

static Node *lower_loop(Node *loop, NodeVec around);

typedef struct Swap {
  Node *old, *new;
} Swap;

static Node *swap(Mutator *m, Node *n) {
  Swap *s = m->context;
  return n == s->old ? s->new : node_is_expr(n) ? n : mutate_children(m, n);
}

/* The loop with the block in it that reduces into the register; other such blocks are lowered, too.
 */
static Node *partial_loop(Cross *c, Node *in_thread) {
  Swap s = {&c->realize->node, partial_block(c, in_thread)};
  Mutator m = {.rewrite = swap, .context = &s};
  return lower_loop(mutate(&m, c->loops.at[0]), c->around);
}

static bool has_threads(NodeVec loops) {
  for each (Node *, l, &loops)
    if (is_thread_loop(AS(For, *l))) return true;
  return false;
}

/* `loop`, or what it becomes. */
static Node *lower_loop(Node *loop, NodeVec around) {
  Cross c = {.around = around};
  bool found = has_threads(around) && find_in_loop(loop, &c);
  return found ? with_registers(&c, partial_loop) : loop;
}

static Node *rewrite(Mutator *m, Node *n) {
  NodeVec *around = m->context;
  if (node_is_expr(n)) return n;
  Cross c = {.around = *around};
  bool is_nest = IS(For, n) || IS(BlockRealize, n);
  if (is_nest && find_nest(n, &c) && is_shared_out(&c)) return lower_nest(&c);
  if (!IS(For, n)) return mutate_children(m, n);
  if (!is_thread_loop(AS(For, n))) {
    Node *lowered = lower_loop(n, *around);
    if (lowered != n) return lowered;
  }
  vec_push(around, n);
  Node *out = mutate_children(m, n);
  (void)vec_pop(around);
  return out;
}

Node *pass_lower_cross_thread_reduction(Node *n, const PassContext *context) {
  (void)context;
  NodeVec around = {0};
  Mutator m = {.rewrite = rewrite, .context = &around};
  return mutate_children(&m, n);
}
