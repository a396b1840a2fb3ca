/* epilogue.c -- fuse_reduction_epilogue: what is combined with the result of a reduction becomes
 * its start, as in C = sum(...); D = C + bias. */
#include "passes/schedule/schedule_impl.h"

typedef struct Epilogue {
  ScheduleCall *call;
  BlockRef *reduction, *ref;
  Block *reduce, *block;
  Place from, place;
  Node *scope;
  Reduction by;
  BufferStore *store; /* of the epilogue */
  Node *operand;      /* what it combines the result with */
  Map vars;           /* its variables to those of the reduction */
} Epilogue;

/* Each data-parallel variable of the reduction is an index of the result, and nothing else is. */
static void need_plain_result(Epilogue *e) {
  ScheduleCall *c = e->call;
  int spatial = 0;
  for each (Node *, v, &e->reduce->iter_vars) spatial += AS(IterVar, *v)->iter_kind == ITER_SPATIAL;
  Map seen = {0};
  for each (Node *, i, &e->by.store->indices) {
    IterVar *iv = NULL;
    for each (Node *, v, &e->reduce->iter_vars)
      if (AS(IterVar, *v)->var == *i) iv = AS(IterVar, *v);
    if (!iv || map_has(&seen, *i))
      schedule_fail(c, e->reduction->node, "the index %s of '%s' is no variable of its own",
                    ir_print(*i, NULL), AS(Buffer, e->by.store->buffer)->name);
    map_set(&seen, *i, *i);
  }
  if (seen.live != spatial)
    schedule_fail(c, e->reduction->node, "block '%s' has variables that tell no element of '%s'",
                  e->reduce->name, AS(Buffer, e->by.store->buffer)->name);
}

/* The epilogue takes each element of the result once, by its own variables, over the same domains.
 */
static void match_variables(Epilogue *e, NodeVec indices) {
  ScheduleCall *c = e->call;
  NodeVec result = e->by.store->indices;
  for (int i = 0; i < indices.len; i++) {
    IterVar *own = NULL, *theirs = NULL;
    for each (Node *, v, &e->block->iter_vars)
      if (AS(IterVar, *v)->var == indices.at[i]) own = AS(IterVar, *v);
    for each (Node *, v, &e->reduce->iter_vars)
      if (AS(IterVar, *v)->var == result.at[i]) theirs = AS(IterVar, *v);
    bool same = own && !map_has(&e->vars, own->var) &&
                arith_can_prove_equal(arith_new(), AS(Range, own->dom)->extent,
                                      AS(Range, theirs->dom)->extent) &&
                expr_is_zero(AS(Range, own->dom)->min) && expr_is_zero(AS(Range, theirs->dom)->min);
    if (!same)
      schedule_fail(c, e->ref->node, "block '%s' does not run over just the elements of '%s'",
                    e->block->name, AS(Buffer, e->by.store->buffer)->name);
    map_set(&e->vars, own->var, theirs->var);
  }
  if (e->vars.live != e->block->iter_vars.len)
    schedule_fail(c, e->ref->node, "block '%s' runs several times for an element of '%s'",
                  e->block->name, AS(Buffer, e->by.store->buffer)->name);
}

static bool reads_result(const Epilogue *e, Node *n) {
  NodeVec reads, writes;
  Block probe = *e->block;
  probe.body = stmt_evaluate(n, n->span);
  if (!block_access_regions(gc_copy(&probe, sizeof probe), NULL, &reads, &writes)) return true;
  for each (Node *, r, &reads)
    if (AS(BufferRegion, *r)->buffer == e->by.store->buffer) return true;
  return false;
}

/* D[..] = C[..] op operand */
static void find_operand(Epilogue *e) {
  ScheduleCall *c = e->call;
  bool plain = IS(BufferStore, e->block->body) && !e->block->init && !e->block->alloc_buffers.len &&
               !e->block->match_buffers.len;
  if (!plain)
    schedule_fail(c, e->ref->node, "the body of block '%s' must be one store", e->block->name);
  e->store = AS(BufferStore, e->block->body);
  Node *value = e->store->value;
  Binary *sides = node_is_binary((NodeKind)value->kind) ? (Binary *)(void *)value : NULL;
  Node *load = NULL;
  for (int i = 0; sides && i < 2; i++) {
    Node *side = i ? sides->b : sides->a;
    if (!IS(BufferLoad, side) || AS(BufferLoad, side)->buffer != e->by.store->buffer) continue;
    load = side;
    e->operand = i ? sides->a : sides->b;
  }
  if (!load || value->kind != e->by.op || reads_result(e, e->operand))
    schedule_fail(
        c, e->ref->node,
        "block '%s' does not combine an element of '%s' by the operation of the reduction",
        e->block->name, AS(Buffer, e->by.store->buffer)->name);
  match_variables(e, AS(BufferLoad, load)->indices);
}

/* Between the two nothing touches the result, or writes what the epilogue reads. */
static void need_nothing_between(Epilogue *e) {
  ScheduleCall *c = e->call;
  NodeVec realizes = child_realizes(e->scope);
  bool between = false;
  for each (Node *, r, &realizes) {
    Block *other = AS(Block, AS(BlockRealize, *r)->block);
    if (other == e->block) break;
    if (between) {
      bool uses = block_reads(other, e->store->buffer) || block_writes(other, e->store->buffer);
      for each (Node *, region, &e->block->reads)
        uses |= block_writes(other, AS(BufferRegion, *region)->buffer);
      if (uses)
        schedule_fail(c, &other->node, "block '%s' stands between and uses what '%s' does",
                      other->name, e->block->name);
    }
    between |= other == e->reduce;
  }
  if (!between)
    schedule_fail(c, e->ref->node, "block '%s' does not follow '%s'", e->block->name,
                  e->reduce->name);
}

static void need_only_consumer(Epilogue *e) {
  ScheduleCall *c = e->call;
  Node *result = e->by.store->buffer;
  NodeVec users = consumers_of(e->scope, e->reduction->node);
  need_local_buffer(c, &e->from, result);
  need_direct_accesses(c, e->from.func, result, e->ref->node);
  if (users.len != 1 || users.at[0] != e->ref->node)
    schedule_fail(c, e->reduction->node, "'%s' has other consumers than '%s'",
                  AS(Buffer, result)->name, e->block->name);
  if (block_reads(e->reduce, e->store->buffer))
    schedule_fail(c, e->reduction->node, "block '%s' reads '%s'", e->reduce->name,
                  AS(Buffer, e->store->buffer)->name);
}

static Node *fused_block(Epilogue *e) {
  ScheduleCall *c = e->call;
  NodeVec at = {0};
  Block b = *e->reduce;
  for each (Node *, i, &e->store->indices) vec_push(&at, substitute(*i, &e->vars));
  Node *old = expr_load(e->store->buffer, at, c->span);
  Node *value = expr_binary(e->by.op, old, expr_cast(old->dtype, e->by.operand, c->span), c->span);
  b.init = stmt_store(e->store->buffer, at, substitute(e->operand, &e->vars), c->span);
  b.body = stmt_store(e->store->buffer, at, value, c->span);
  Node *out = gc_copy(&b, sizeof b);
  if (!block_access_regions(out, NULL, &AS(Block, out)->reads, &AS(Block, out)->writes))
    schedule_fail(c, e->reduction->node, "what block '%s' accesses is opaque", b.name);
  return out;
}

void primitive_fuse_reduction_epilogue(ScheduleCall *c) {
  Epilogue e = {.call = c, .reduction = block_arg(c, 0)};
  ScheduleCall second = *c;
  e.ref = block_arg(&second, 1);
  e.reduce = AS(Block, e.reduction->node);
  e.block = AS(Block, e.ref->node);
  e.from = place_of(c, e.reduction->func, e.reduction->node);
  e.place = place_of(c, e.ref->func, e.ref->node);
  e.scope = scope_block(&e.from);
  if (!e.scope || scope_block(&e.place) != e.scope)
    schedule_fail(c, e.ref->node, "the two blocks do not stand in the same block");
  const char *why = why_not_reduction(e.scope, e.reduction->node);
  if (why)
    schedule_fail(c, e.reduction->node, "'%s' is no reduction block: %s", e.reduce->name, why);
  why = why_not_complete(e.scope, e.ref->node);
  if (why) schedule_fail(c, e.ref->node, "'%s' is no complete block: %s", e.block->name, why);
  why = why_no_plain_nest(&e.place);
  if (why) schedule_fail(c, e.ref->node, "block '%s' is no plain nest: %s", e.block->name, why);
  e.by = reduction_of(c, e.reduce);
  need_plain_result(&e);
  find_operand(&e);
  need_nothing_between(&e);
  need_only_consumer(&e);
  Node *before = e.reduction->node, *after = fused_block(&e), *gone = e.ref->node;
  schedule_renew(c, before, after);
  schedule_replace(c, e.reduction->func, before, after);
  Place now = place_of(c, e.ref->func, gone);
  take_out(c, &now, e.by.store->buffer);
  schedule_renew(c, gone, NULL);
}
