/* rolling_buffer.c -- rolling_buffer: a buffer that is computed at a loop, step after step a window
 * further, keeps just one window: what is new takes the place of what is not needed any more. */
#include "passes/schedule/schedule_impl.h"

typedef struct Rolling {
  Mutator mutator;
  ScheduleCall *call;
  BlockRef *ref;
  Block *block;
  BlockRealize *realize;
  Place place;
  For *loop;       /* that moves the window: the innermost one around the block and its consumers */
  Node *old, *new; /* buffers */
  int dim;         /* along which it moves */
  int64_t size, step;
  Touched window; /* what the block writes in one step of the loop */
} Rolling;

static NodeVec users_of(const Rolling *r, Node *stmt, bool writers) {
  NodeVec realizes = child_realizes(stmt), out = {0};
  for each (Node *, n, &realizes) {
    Block *b = AS(Block, AS(BlockRealize, *n)->block);
    if (writers ? block_writes(b, r->old) : block_reads(b, r->old)) vec_push(&out, &b->node);
  }
  return out;
}

/* The loops around the block that hold a consumer too, innermost first; each must hold all. */
static NodeVec shared_loops(const Rolling *r) {
  ScheduleCall *c = r->call;
  NodeVec consumers = users_of(r, scope_block(&r->place), false), out = {0};
  if (users_of(r, scope_block(&r->place), true).len != 1)
    schedule_fail(c, r->ref->node, "'%s' has other writers", AS(Buffer, r->old)->name);
  NodeVec loops = loops_around(&r->place);
  for (int i = loops.len - 1; i >= 0; i--) {
    int n = users_of(r, loops.at[i], false).len;
    if (n && n != consumers.len)
      schedule_fail(c, loops.at[i], "the loop does not hold all consumers of '%s'",
                    AS(Buffer, r->old)->name);
    if (n && !expr_is_one(AS(For, loops.at[i])->extent)) vec_push(&out, loops.at[i]);
  }
  if (!out.len)
    schedule_fail(c, r->ref->node, "block '%s' is not computed at a loop of its consumers",
                  r->block->name);
  return out;
}

static Touched touched_in_step(const Rolling *r, Node *block, NodeVec regions, Analyzer *facts) {
  Touched t = {.buffer = r->old};
  Place p = place_of(r->call, r->ref->func, block);
  for each (Node *, region, &regions)
    if (AS(BufferRegion, *region)->buffer == r->old)
      touch(&t, AS(BlockRealize, realize_of(&p)), *region, loops_inside(&p, &r->loop->node), facts);
  return t;
}

/* The dimension that moves with the loop, by a constant step that is less than the window; else why
 * there is none. */
static const char *find_dim(Rolling *r, Analyzer *facts) {
  Map next = {0};
  Node *one = int_imm(r->loop->var->dtype, 1, r->call->span);
  const char *name = AS(Buffer, r->old)->name;
  map_set(&next, r->loop->var, expr_add(r->loop->var, one));
  r->dim = -1;
  if (r->loop->loop_kind != LOOP_SERIAL || !expr_is_zero(r->loop->min))
    return "the steps of the loop must run in order, from 0 on";
  for (int i = 0; i < r->window.lo.len; i++) {
    Node *lo = r->window.lo.at[i];
    if (!lo) return "what one step of the loop writes is not understood";
    if (!node_mentions(lo, r->loop->var)) continue;
    if (!r->window.exact) return "one step of the loop is not known to write all of its window";
    Node *size = expr_add(expr_sub(r->window.hi.at[i], lo), one);
    Node *step = expr_sub(substitute(lo, &next), lo);
    bool moves = expr_is_const_int(arith_simplify(facts, size), &r->size) &&
                 expr_is_const_int(arith_simplify(facts, step), &r->step);
    if (!moves || r->dim >= 0 || r->step < 1 || r->step >= r->size)
      return str_format("the window of '%s' must move along one dimension, by less than its size",
                        name);
    r->dim = i;
  }
  return r->dim < 0 ? str_format("no dimension of '%s' moves with the loop", name) : NULL;
}

/* The innermost loop that moves the window so, of those around the block and its consumers: loops
 * inside of it take other parts of each window. Facts at its body. */
static Analyzer *find_loop(Rolling *r) {
  NodeVec loops = shared_loops(r);
  const char *first = NULL;
  for each (Node *, l, &loops) {
    r->loop = AS(For, *l);
    Place under = place_of(r->call, r->ref->func, *l);
    vec_push(&under.path, r->loop->body);
    Analyzer *facts = facts_at(&under);
    r->window = touched_in_step(r, r->ref->node, r->block->writes, facts);
    const char *why = find_dim(r, facts);
    if (!why) return facts;
    if (!first) first = why;
  }
  schedule_fail(r->call, loops.at[0], "%s", first);
}

/* Consumers read in a step what is in its window. */
static void need_reads_in_window(Rolling *r, Analyzer *facts) {
  NodeVec consumers = users_of(r, &r->loop->node, false);
  for each (Node *, b, &consumers) {
    Touched t = touched_in_step(r, *b, AS(Block, *b)->reads, facts);
    Node *lo = t.lo.at[r->dim], *hi = t.hi.at[r->dim];
    bool inside =
        lo && arith_can_prove(facts, expr_binary(NK_GE, lo, r->window.lo.at[r->dim], lo->span)) &&
        arith_can_prove(facts, expr_binary(NK_LE, hi, r->window.hi.at[r->dim], lo->span));
    if (!inside)
      schedule_fail(r->call, *b,
                    "block '%s' is not known to read just what one step of the loop "
                    "writes",
                    AS(Block, *b)->name);
  }
}

/* ---- accesses in turns ---- */

static Node *rolled(const Rolling *r, Node *index) {
  return expr_floormod(index, int_imm(index->dtype, r->size, index->span));
}

static NodeVec rolled_all(const Rolling *r, NodeVec indices) {
  NodeVec out = {0};
  for (int i = 0; i < indices.len; i++)
    vec_push(&out, i == r->dim ? rolled(r, indices.at[i]) : indices.at[i]);
  return out;
}

/* A region of several elements may go round the end: then it is all of the window. */
static Node *rolled_region(const Rolling *r, BufferRegion *region) {
  BufferRegion copy = *region;
  Range *old = AS(Range, copy.region.at[r->dim]);
  DataType t = old->min->dtype;
  bool one = expr_is_one(old->extent);
  Node *min = one ? rolled(r, old->min) : int_imm(t, 0, old->node.span);
  Node *extent = one ? old->extent : int_imm(t, r->size, old->node.span);
  NodeVec dims = {0};
  for (int i = 0; i < copy.region.len; i++)
    vec_push(&dims, i == r->dim
                        ? MAKE(Range, old->node.span, VOID_TYPE, .min = min, .extent = extent)
                        : copy.region.at[i]);
  copy.region = dims;
  return gc_copy(&copy, sizeof copy);
}

/* Of the window, just what the step before did not make. */
static Node *guarded(const Rolling *r, BlockRealize *out) {
  Span span = r->call->span;
  Map bindings = {0};
  BufferRegion *w = NULL;
  for (int i = 0; i < r->realize->iter_values.len; i++)
    map_set(&bindings, AS(IterVar, r->block->iter_vars.at[i])->var, r->realize->iter_values.at[i]);
  for each (Node *, x, &r->block->writes)
    if (AS(BufferRegion, *x)->buffer == r->old) w = AS(BufferRegion, *x);
  Node *at = substitute(AS(Range, w->region.at[r->dim])->min, &bindings);
  Node *lo = r->window.lo.at[r->dim], *kept = int_imm(lo->dtype, r->size - r->step, span);
  Node *first = expr_binary(NK_LT, r->loop->var, int_imm(r->loop->var->dtype, 1, span), span);
  Node *is_new = arith_simplify(arith_new(), expr_binary(NK_LE, expr_add(lo, kept), at, span));
  Node *cond = expr_binary(NK_Or, first, is_new, span);
  BlockRealize copy = *out;
  copy.predicate = expr_is_one(copy.predicate) ? cond : expr_and(copy.predicate, cond);
  return gc_copy(&copy, sizeof copy);
}

/* The steps of the loop must run in order from now on: what moves with them is not data-parallel.
 */
static Node *in_order(const Rolling *r, BlockRealize *out) {
  Block block = *AS(Block, out->block);
  block.iter_vars = (NodeVec){0};
  for (int i = 0; i < out->iter_values.len; i++) {
    IterVar *v = AS(IterVar, AS(Block, out->block)->iter_vars.at[i]), copy = *v;
    copy.iter_kind = ITER_OPAQUE;
    bool moves =
        v->iter_kind == ITER_SPATIAL && node_mentions(out->iter_values.at[i], r->loop->var);
    vec_push(&block.iter_vars, moves ? gc_copy(&copy, sizeof copy) : &v->node);
  }
  BlockRealize copy = *out;
  copy.block = gc_copy(&block, sizeof block);
  schedule_renew(r->call, out->block, copy.block);
  return gc_copy(&copy, sizeof copy);
}

static bool uses_window(const Rolling *r, const Block *b) {
  return block_reads(b, r->old) || block_writes(b, r->old);
}

static Node *roll_node(Mutator *m, Node *n) {
  Rolling *r = (Rolling *)(void *)m;
  if (IS(Buffer, n)) return n == r->old ? r->new : n;
  if (IS(Var, n)) return n;
  Node *out = schedule_rewrite_children(r->call, m, n);
  if (IS(BlockRealize, n) && uses_window(r, AS(Block, AS(BlockRealize, n)->block)))
    out = in_order(r, AS(BlockRealize, out));
  if (n == &r->realize->node) return guarded(r, AS(BlockRealize, out));
  if (IS(BufferLoad, n) && AS(BufferLoad, n)->buffer == r->old) {
    BufferLoad copy = *AS(BufferLoad, out);
    copy.indices = rolled_all(r, copy.indices);
    return gc_copy(&copy, sizeof copy);
  }
  if (IS(BufferStore, n) && AS(BufferStore, n)->buffer == r->old) {
    BufferStore copy = *AS(BufferStore, out);
    copy.indices = rolled_all(r, copy.indices);
    return gc_copy(&copy, sizeof copy);
  }
  if (!IS(BufferRegion, n) || AS(BufferRegion, n)->buffer != r->old) return out;
  return rolled_region(r, AS(BufferRegion, out));
}

void primitive_rolling_buffer(ScheduleCall *c) {
  Rolling r = {.mutator = {.rewrite = roll_node}, .call = c, .ref = block_arg(c, 0)};
  r.block = AS(Block, r.ref->node);
  r.old = buffer_arg(c, r.block, r.block->writes, "writes");
  r.place = place_of(c, r.ref->func, r.ref->node);
  Node *scope = scope_block(&r.place);
  if (!scope) schedule_fail(c, r.ref->node, "the root block has no loops");
  const char *why = why_not_complete_in_order(scope, r.ref->node);
  const char *nor = why ? why_not_reduction_in_order(scope, r.ref->node) : NULL;
  if (nor)
    schedule_fail(c, r.ref->node, "'%s' is no complete block (%s) and no reduction (%s)",
                  r.block->name, why, nor);
  need_local_buffer(c, &r.place, r.old);
  need_plain_buffer(c, r.ref->func, r.old, r.ref->node);
  r.realize = AS(BlockRealize, realize_of(&r.place));
  if (!is_domain_bound(r.realize, r.realize->predicate, facts_at(&r.place)))
    schedule_fail(c, r.ref->node, "the block '%s' runs under a condition", r.block->name);
  Analyzer *facts = find_loop(&r);
  need_reads_in_window(&r, facts);
  Buffer copy = *AS(Buffer, r.old);
  copy.shape = (NodeVec){0};
  for (int i = 0; i < AS(Buffer, r.old)->shape.len; i++) {
    Node *n = AS(Buffer, r.old)->shape.at[i];
    vec_push(&copy.shape, i == r.dim ? int_imm(n->dtype, r.size, c->span) : n);
  }
  r.new = gc_copy(&copy, sizeof copy);
  schedule_set_function(c, r.ref->func, mutate(&r.mutator, prim_func_of(c, r.ref->func)));
}
