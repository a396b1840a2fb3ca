/* decompose_reduction.c -- the init of a reduction becomes a block of its own, before the loops
 * that only reduce.
 *
 * In:  blocks with init, in loops. Out: where the innermost loops around a block bind nothing but
 * its reduction variables, the init stands before them: so it runs once, without a branch, and also
 * if the reduction is over nothing. Not: other blocks keep their init, for LowerInitBlock. */
#include "ir/arith/iter_map.h"
#include "lower/lower_impl.h"

typedef struct Chain {
  NodeVec loops; /* outermost first */
  Node *realize;
} Chain;

/* The perfect nest from a loop down to a block with init. */
static bool find_chain(Node *n, Chain *c) {
  while (IS(For, n) &&
         (AS(For, n)->loop_kind == LOOP_SERIAL || AS(For, n)->loop_kind == LOOP_UNROLLED)) {
    vec_push(&c->loops, n);
    n = AS(For, n)->body;
  }
  c->realize = n;
  return c->loops.len && IS(BlockRealize, n) && AS(Block, AS(BlockRealize, n)->block)->init;
}

static WalkResult find_loop_var(Walker *w, Node *n) {
  for each (Node *, loop, &((Chain *)w->context)->loops)
    if (AS(For, *loop)->var == n) return WALK_STOP;
  return WALK_ON;
}

static bool mentions_loops(Chain *c, Node *e) {
  Walker w = {.enter = find_loop_var, .context = c};
  return e && !walk(&w, e);
}

static WalkResult find_other_var(Walker *w, Node *n) {
  if (!IS(Var, n)) return WALK_ON;
  for each (Node *, loop, &((Chain *)w->context)->loops)
    if (AS(For, *loop)->var == n) return WALK_ON;
  return WALK_STOP;
}

/* A loop further out, or a variable of a block around, takes part: the init must not run for each
 * of its steps. */
static bool mentions_outer(Chain *c, Node *e) {
  Walker w = {.enter = find_other_var, .context = c};
  return !walk(&w, e);
}

/* Loops whose steps the bindings don't tell apart run the whole block again, its init included. */
static bool repeats(Chain *c) {
  Map ranges = {0};
  for each (Node *, loop, &c->loops) {
    For *f = AS(For, *loop);
    map_set(&ranges, f->var,
            MAKE(Range, f->node.span, VOID_TYPE, .min = f->min, .extent = f->extent));
  }
  return !iter_is_injective(AS(BlockRealize, c->realize)->iter_values, &ranges, arith_new());
}

/* Do the loops of the chain bind reduction variables only, and no others bind them? What the block
 * owns can't leave it. */
static bool only_reduces(Chain *c) {
  BlockRealize *r = AS(BlockRealize, c->realize);
  Block *b = AS(Block, r->block);
  if (b->alloc_buffers.len || b->match_buffers.len || repeats(c)) return false;
  if (mentions_loops(c, r->predicate) || mentions_loops(c, b->init)) return false;
  for each (Node *, x, &b->writes)
    if (mentions_loops(c, *x)) return false;
  for (int i = 0; i < r->iter_values.len; i++) {
    IterVar *v = AS(IterVar, b->iter_vars.at[i]);
    bool reduces = v->iter_kind == ITER_REDUCE;
    Node *value = r->iter_values.at[i];
    if (reduces ? node_mentions(b->init, v->var) || mentions_outer(c, value)
                : mentions_loops(c, value))
      return false;
  }
  return true;
}

static Node *init_block(Chain *c) {
  BlockRealize r = *AS(BlockRealize, c->realize);
  Block b = *AS(Block, r.block);
  NodeVec vars = {0}, values = {0}, none = {0};
  for (int i = 0; i < b.iter_vars.len; i++) {
    if (AS(IterVar, b.iter_vars.at[i])->iter_kind == ITER_REDUCE) continue;
    vec_push(&vars, b.iter_vars.at[i]);
    vec_push(&values, r.iter_values.at[i]);
  }
  b.name = str_intern(str_format("%s_init", b.name));
  b.iter_vars = vars;
  b.reads = b.alloc_buffers = b.match_buffers = none;
  b.annotations = NULL;
  b.body = b.init;
  b.init = NULL;
  r.iter_values = values;
  r.block = gc_copy(&b, sizeof b);
  return copy_with_fresh_vars(gc_copy(&r, sizeof r));
}

/* The loops without the init; what the block reads now is also what it updates. */
static Node *update_loops(Chain *c) {
  BlockRealize r = *AS(BlockRealize, c->realize);
  Block b = *AS(Block, r.block);
  NodeVec reads = {0};
  for each (Node *, w, &b.writes) vec_push(&reads, *w);
  for each (Node *, x, &b.reads) vec_push(&reads, *x);
  b.reads = reads;
  b.init = NULL;
  r.block = gc_copy(&b, sizeof b);
  Node *body = gc_copy(&r, sizeof r);
  for (int i = c->loops.len - 1; i >= 0; i--) {
    For f = *AS(For, c->loops.at[i]);
    f.body = body;
    body = gc_copy(&f, sizeof f);
  }
  return body;
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n)) return n;
  Chain c = {0};
  if (!IS(For, n) || !find_chain(n, &c) || !only_reduces(&c)) return mutate_children(m, n);
  return stmt_seq(NODES(init_block(&c), update_loops(&c)), n->span);
}

Node *pass_decompose_reduction(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return mutate_children(&m, n);
}
