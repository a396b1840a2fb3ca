/* patch.c -- putting a new buffer and the blocks that fill it, or copy it back, into a function,
 * and letting blocks use it; what must be known of blocks whose results are copied back. */
#include "passes/schedule/schedule_impl.h"

static Node *patch_node(Mutator *m, Node *n);

static Node *patch_below(Patch *p, Mutator *m, Node *n) {
  bool outer = p->redirecting;
  if (IS(Block, n) && map_has(p->blocks, n)) p->redirecting = true;
  Node *out = schedule_rewrite_children(p->call, m, n);
  p->redirecting = outer;
  return out;
}

static NodeVec patched_region(const Patch *p, const BufferRegion *r) {
  return p->indices ? AS(BufferRegion, point_region(p->to, *p->indices))->region : r->region;
}

static Node *patch_buffers(Patch *p, Mutator *m, Node *n) {
  Node *out = mutate_children(m, n);
  if (IS(BufferLoad, out) && AS(BufferLoad, out)->buffer == p->from) {
    BufferLoad copy = *AS(BufferLoad, out);
    copy.buffer = p->to;
    if (p->indices) copy.indices = *p->indices;
    return gc_copy(&copy, sizeof copy);
  }
  if (IS(BufferStore, out) && AS(BufferStore, out)->buffer == p->from) {
    BufferStore copy = *AS(BufferStore, out);
    copy.buffer = p->to;
    if (p->indices) copy.indices = *p->indices;
    return gc_copy(&copy, sizeof copy);
  }
  if (IS(BufferRegion, out) && AS(BufferRegion, out)->buffer == p->from) {
    BufferRegion copy = *AS(BufferRegion, out);
    copy.buffer = p->to;
    copy.region = patched_region(p, &copy);
    return gc_copy(&copy, sizeof copy);
  }
  return out;
}

/* What points to the elements points to those of the new buffer, where they stand at the same
 * places: the pointer itself, and other buffers over it. */
static Node *patch_pointer(Patch *p, Node *n) {
  Node *old = AS(Buffer, p->from)->data, *new = AS(Buffer, p->to)->data;
  if (!p->redirecting || p->indices || n == p->from) return n;
  if (IS(Var, n)) return n == old ? new : n;
  if (AS(Buffer, n)->data != old) return n;
  Node *known = map_get(&p->aliases, n);
  if (known) return known;
  Buffer copy = *AS(Buffer, n);
  copy.data = new;
  Node *alias = gc_copy(&copy, sizeof copy);
  map_set(&p->aliases, n, alias);
  return alias;
}

static Node *patch_node(Mutator *m, Node *n) {
  Patch *p = (Patch *)(void *)m;
  bool access = IS(BufferLoad, n) || IS(BufferStore, n) || IS(BufferRegion, n);
  if (IS(Buffer, n) || IS(Var, n)) return patch_pointer(p, n);
  Node *out = p->redirecting && access ? patch_buffers(p, m, n) : patch_below(p, m, n);
  if (n == p->beside && p->front) out = stmt_seq(NODES(p->front, out), n->span);
  if (n == p->beside && p->behind) out = stmt_seq(NODES(out, p->behind), n->span);
  if (n != p->scope) return out;
  Block copy = *AS(Block, out);
  copy.alloc_buffers = (NodeVec){0};
  for each (Node *, b, &AS(Block, out)->alloc_buffers) vec_push(&copy.alloc_buffers, *b);
  vec_push(&copy.alloc_buffers, p->alloc);
  Node *larger = gc_copy(&copy, sizeof copy);
  schedule_renew(p->call, out, larger);
  return larger;
}

void patch(Patch *p, const char *func) {
  p->mutator.rewrite = patch_node;
  PrimFunc f = *AS(PrimFunc, prim_func_of(p->call, func));
  f.body = mutate(&p->mutator, f.body);
  schedule_set_function(p->call, func, gc_copy(&f, sizeof f));
}

/* ---- what is copied back ---- */

void need_all_written(ScheduleCall *c, Node *block, const Node *buffer) {
  for each (Node *, w, &AS(Block, block)->writes)
    if (AS(BufferRegion, *w)->buffer == buffer && !writes_all(block, *w, arith_new()))
      schedule_fail(c, block,
                    "block '%s' is not known to write all that it declares of '%s' in each step",
                    AS(Block, block)->name, AS(Buffer, (Node *)(uintptr_t)buffer)->name);
}

/* Does a loop around the scope, or a variable of a block from the scope on, move the value? */
static bool is_moved_outside(const Place *p, const Node *scope, Node *value) {
  for (int i = 0; i < p->path.len; i++) {
    Node *s = p->path.at[i];
    if (IS(For, s) && !expr_is_one(AS(For, s)->extent) && node_mentions(value, AS(For, s)->var))
      return true;
    if (!IS(Block, s)) continue;
    for each (Node *, v, &AS(Block, s)->iter_vars) {
      Node *dom = AS(IterVar, *v)->dom;
      if (!(dom && expr_is_one(AS(Range, dom)->extent)) &&
          node_mentions(value, AS(IterVar, *v)->var))
        return true;
    }
    if (s == scope) return false;
  }
  return false;
}

void need_whole_reduction(ScheduleCall *c, const Place *p) {
  Node *scope = scope_block(p), *block = vec_last(&p->path);
  Block *b = AS(Block, block);
  BlockRealize *r = AS(BlockRealize, realize_of(p));
  for (int i = 0; i < r->iter_values.len; i++)
    if (AS(IterVar, b->iter_vars.at[i])->iter_kind != ITER_SPATIAL &&
        is_moved_outside(p, scope, r->iter_values.at[i]))
      schedule_fail(
          c, block,
          "the reduction of block '%s' goes on from one run of the block '%s' to the next", b->name,
          AS(Block, scope)->name);
}
