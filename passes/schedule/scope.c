/* scope.c -- blocks and the blocks that they stand in: who reads what whom writes, and which blocks
 * compute each element once and for itself (complete), or by steps that commute (reduction). */
#include "passes/schedule/schedule_impl.h"

Node *scope_block(const Place *p) {
  for (int i = p->path.len - 2; i >= 0; i--)
    if (IS(Block, p->path.at[i])) return p->path.at[i];
  return NULL;
}

NodeVec loops_around(const Place *p) {
  NodeVec loops = {0};
  for (int i = 0; i < p->path.len - 1; i++) {
    if (IS(Block, p->path.at[i])) loops.len = 0;
    else if (IS(For, p->path.at[i])) vec_push(&loops, p->path.at[i]);
  }
  return loops;
}

NodeVec loops_inside(const Place *p, const Node *loop) {
  NodeVec loops = {0};
  bool inside = false;
  for each (Node *, s, &p->path) {
    if (inside && IS(For, *s)) vec_push(&loops, *s);
    inside |= *s == loop;
  }
  return loops;
}

Node *realize_of(const Place *p) {
  REQUIRE(p->path.len >= 2 && IS(BlockRealize, p->path.at[p->path.len - 2]), "a place of a block");
  return p->path.at[p->path.len - 2];
}

static WalkResult note_realize(Walker *w, Node *n) {
  if (IS(BlockRealize, n)) vec_push((NodeVec *)w->context, n);
  return IS(BlockRealize, n) || node_family(n->kind) != FAMILY_STMT ? WALK_PRUNE : WALK_ON;
}

NodeVec child_realizes(Node *stmt) {
  NodeVec found = {0};
  Walker w = {.enter = note_realize, .context = &found};
  walk(&w, IS(Block, stmt) ? AS(Block, stmt)->body : stmt);
  return found;
}

static bool has_region_of(NodeVec regions, const Node *buffer) {
  for each (Node *, r, &regions)
    if (AS(BufferRegion, *r)->buffer == buffer) return true;
  return false;
}
bool block_reads(const Block *b, const Node *buffer) { return has_region_of(b->reads, buffer); }
bool block_writes(const Block *b, const Node *buffer) { return has_region_of(b->writes, buffer); }

/* Blocks of the scope that have in `theirs` a buffer that `block` has in `ours`. */
static NodeVec related(Node *scope, Node *block, bool producers) {
  NodeVec found = {0}, realizes = child_realizes(scope);
  const Block *b = AS(Block, block);
  for each (Node *, r, &realizes) {
    Node *other = AS(BlockRealize, *r)->block;
    const Block *o = AS(Block, other);
    bool is = false;
    if (producers)
      for each (Node *, region, &b->reads) is |= block_writes(o, AS(BufferRegion, *region)->buffer);
    else
      for each (Node *, region, &b->writes) is |= block_reads(o, AS(BufferRegion, *region)->buffer);
    if (is && other != block) vec_push(&found, other);
  }
  return found;
}
Map variables_of(const Place *p, const Block *b) {
  Map variables = {0};
  NodeVec of_function = ir_undefined(AS(PrimFunc, p->prim_func)->body);
  for each (Node *, v, &of_function) map_set(&variables, *v, *v);
  for each (Node *, v, &b->iter_vars) map_set(&variables, AS(IterVar, *v)->var, *v);
  return variables;
}

static WalkResult stop_at_other(Walker *w, Node *n) {
  bool is_other = IS(Var, n) && !map_has(w->context, n);
  return is_other || node_effect(n) != EFFECT_PURE ? WALK_STOP : WALK_ON;
}

bool is_of_variables(Node *e, const Map *variables) {
  Walker w = {.enter = stop_at_other, .context = (void *)(uintptr_t)variables, .once = true};
  return walk(&w, e);
}

NodeVec producers_of(Node *scope, Node *block) { return related(scope, block, true); }
NodeVec consumers_of(Node *scope, Node *block) { return related(scope, block, false); }

/* The number of the region of a buffer, or -1. `name` in place of a buffer: by its name. */
static int region_of(NodeVec regions, const Node *buffer, const char *name) {
  for (int i = 0; i < regions.len; i++) {
    Node *b = AS(BufferRegion, regions.at[i])->buffer;
    if (b == buffer || (name && str_same(AS(Buffer, b)->name, name))) return i;
  }
  return -1;
}

Node *buffer_arg(ScheduleCall *c, Block *b, NodeVec regions, const char *kind) {
  Node *arg = c->args.at[1];
  const char *name = IS(StringImm, arg) ? AS(StringImm, arg)->value
                     : IS(Buffer, arg)  ? AS(Buffer, arg)->name
                                        : NULL;
  if (name) {
    int n = region_of(regions, arg, IS(Buffer, arg) ? NULL : name);
    if (n < 0) schedule_fail(c, &b->node, "block '%s' %s no buffer '%s'", b->name, kind, name);
    c->args.at[1] = int_imm(INT32, n, c->span);
  }
  int64_t i = int_arg(c, 1, "the index of a buffer");
  if (i < 0 || i >= regions.len)
    schedule_fail(c, &b->node, "block '%s' has %d buffers that it %s, but the index is %lld",
                  b->name, regions.len, kind, (long long)i);
  return AS(BufferRegion, regions.at[i])->buffer;
}

/* ("write", 1) */
static Node *buffer_by_number(ScheduleCall *c, Block *b, NodeVec pair) {
  int64_t i;
  const char *side =
      pair.len == 2 && IS(StringImm, pair.at[0]) ? AS(StringImm, pair.at[0])->value : "";
  bool reads = str_same(side, "read");
  if ((!reads && !str_same(side, "write")) || !expr_is_const_int(pair.at[1], &i))
    schedule_fail(c, &b->node, "expected (\"read\", index) or (\"write\", index)");
  NodeVec regions = reads ? b->reads : b->writes;
  if (i < 0 || i >= regions.len)
    schedule_fail(c, &b->node, "block '%s' has %d buffers that it %ss, but the index is %lld",
                  b->name, regions.len, side, (long long)i);
  return AS(BufferRegion, regions.at[i])->buffer;
}

Node *buffer_named(ScheduleCall *c, Block *b, int i) {
  Node *arg = c->args.at[i];
  if (IS(Array, arg)) return buffer_by_number(c, b, AS(Array, arg)->items);
  const char *name = IS(StringImm, arg) ? AS(StringImm, arg)->value : NULL;
  int n = region_of(b->writes, arg, name);
  const char *side = n >= 0 ? "write" : "read";
  if (n < 0) n = region_of(b->reads, arg, name);
  if (n < 0)
    schedule_fail(c, &b->node, "block '%s' neither reads nor writes %s", b->name,
                  name ? str_format("a buffer '%s'", name) : "that buffer");
  NodeVec pair = NODES(string_imm(side, c->span), int_imm(INT32, n, c->span));
  c->args.at[i] = MAKE(Array, c->span, VOID_TYPE, .items = pair, .is_tuple = true);
  return buffer_by_number(c, b, pair);
}

const IndexMap *index_map_arg(ScheduleCall *c, int i, int inputs, DataType t) {
  Node *arg = c->args.at[i];
  if (!IS(IndexMap, arg)) schedule_fail(c, NULL, "expected an index map");
  if (AS(IndexMap, arg)->inputs.len != inputs)
    schedule_fail(c, NULL, "the index map takes %d indices, but there are %d",
                  AS(IndexMap, arg)->inputs.len, inputs);
  IndexMap map = *AS(IndexMap, arg);
  Map ints = random_ints(c);
  map.outputs = (NodeVec){0};
  for each (Node *, e, &AS(IndexMap, arg)->outputs) vec_push(&map.outputs, substitute(*e, &ints));
  return AS(IndexMap, index_map_of_dtype(gc_copy(&map, sizeof map), t));
}

DataType index_dtype(NodeVec exprs) {
  DataType t = INT32;
  for each (Node *, e, &exprs)
    if ((*e)->dtype.bits > t.bits) t = (*e)->dtype;
  return t;
}

static WalkResult note_any_block(Walker *w, Node *n) {
  if (IS(Block, n)) vec_push((NodeVec *)w->context, n);
  return node_family(n->kind) == FAMILY_STMT ? WALK_ON : WALK_PRUNE;
}
NodeVec all_blocks(Node *stmt) {
  NodeVec found = {0};
  Walker w = {.enter = note_any_block, .context = &found};
  walk(&w, stmt);
  return found;
}

Node *owner_of(PrimFunc *f, const Node *buffer) {
  NodeVec blocks = all_blocks(f->body);
  for each (Node *, b, &blocks)
    for each (Node *, a, &AS(Block, *b)->alloc_buffers)
      if (*a == buffer) return *b;
  return blocks.at[0];
}

void need_direct_accesses(ScheduleCall *c, const char *func, Node *buffer, Node *at) {
  if (is_accessed_otherwise(AS(PrimFunc, prim_func_of(c, func))->body, buffer))
    schedule_fail(c, at, "the buffer '%s' is accessed by its pointer, or through a view",
                  AS(Buffer, buffer)->name);
}

void need_plain_buffer(ScheduleCall *c, const char *func, Node *buffer, Node *at) {
  Buffer *b = AS(Buffer, buffer);
  if (b->strides.len || b->layout || (b->elem_offset && !expr_is_zero(b->elem_offset)))
    schedule_fail(c, at, "the buffer '%s' has strides, an offset or a layout of its own", b->name);
  need_direct_accesses(c, func, buffer, at);
}

static WalkResult find_load(Walker *w, Node *n) {
  (void)w;
  return IS(BufferLoad, n) ? WALK_STOP : WALK_ON;
}
bool loads_anything(Node *n) {
  Walker w = {.enter = find_load};
  return !walk(&w, n);
}

void need_internal_buffer(ScheduleCall *c, const Place *p, Node *buffer) {
  for each (Node *, s, &p->path)
    if (IS(Block, *s))
      for each (Node *, b, &AS(Block, *s)->alloc_buffers)
        if (*b == buffer) return;
  schedule_fail(c, vec_last(&p->path), "the buffer '%s' is seen outside of the function",
                AS(Buffer, buffer)->name);
}

void need_local_buffer(ScheduleCall *c, const Place *p, Node *buffer) {
  need_internal_buffer(c, p, buffer);
  Node *scope = scope_block(p);
  NodeVec blocks = all_blocks(AS(PrimFunc, prim_func_of(c, p->func))->body);
  for each (Node *, b, &blocks) {
    bool around = node_mentions(*b, scope), inside = node_mentions(scope, *b);
    bool uses = block_reads(AS(Block, *b), buffer) || block_writes(AS(Block, *b), buffer);
    if (uses && !around && !inside)
      schedule_fail(c, *b, "block '%s' uses '%s' outside of the block '%s'", AS(Block, *b)->name,
                    AS(Buffer, buffer)->name, AS(Block, scope)->name);
  }
}

/* ---- complete blocks and reductions ---- */

/* Another block of the scope that writes what this one writes, or NULL. */
static const Block *other_writer(Node *scope, Node *block) {
  NodeVec realizes = child_realizes(scope);
  for each (Node *, r, &realizes) {
    const Block *o = AS(Block, AS(BlockRealize, *r)->block);
    if (&o->node == block) continue;
    for each (Node *, region, &AS(Block, block)->writes)
      if (block_writes(o, AS(BufferRegion, *region)->buffer)) return o;
  }
  return NULL;
}

/* Does it tell steps apart, each of which computes for itself; in_order: where their order matters,
 * too? */
static bool is_free(const IterVar *v, bool in_order) {
  return v->iter_kind == ITER_SPATIAL || (in_order && v->iter_kind == ITER_OPAQUE);
}

/* A buffer of which an element may be written in several of the data-parallel steps, or NULL. Where
 * memory says which element that is, their being data-parallel is what the author promises. */
static const char *written_again(Block *b, bool in_order) {
  Map domains = {0};
  Analyzer *facts = arith_new();
  for each (Node *, v, &b->iter_vars) {
    IterVar *iv = AS(IterVar, *v);
    if (!is_free(iv, in_order)) continue;
    map_set(&domains, iv->var, iv->dom);
    arith_bind_range(facts, iv->var, AS(Range, iv->dom)->min, AS(Range, iv->dom)->extent);
  }
  for each (Node *, w, &b->writes) {
    NodeVec at = {0};
    for each (Node *, d, &AS(BufferRegion, *w)->region) {
      Range *r = AS(Range, *d);
      Node *tile = expr_is_one(r->extent) ? r->min : expr_floordiv(r->min, r->extent);
      vec_push(&at, arith_simplify(facts, tile));
    }
    Node *buffer = AS(BufferRegion, *w)->buffer;
    if (!iter_is_injective(at, &domains, facts) && !block_writes_by_memory(&b->node, buffer))
      return AS(Buffer, buffer)->name;
  }
  return NULL;
}

static const char *not_alone(Node *scope, Node *block, bool in_order) {
  const Block *other = other_writer(scope, block);
  if (other) return str_format("block '%s' writes the same buffer", other->name);
  const char *again = written_again(AS(Block, block), in_order);
  return again ? str_format("it is not known to write each element of '%s' once", again) : NULL;
}

static const char *why_no_map(Node *scope, Node *block, bool in_order) {
  const Block *b = AS(Block, block);
  for each (Node *, v, &b->iter_vars)
    if (!is_free(AS(IterVar, *v), in_order))
      return str_format("its variable '%s' is not data-parallel",
                        AS(Var, AS(IterVar, *v)->var)->name);
  for each (Node *, r, &b->writes)
    if (block_reads(b, AS(BufferRegion, *r)->buffer))
      return str_format("it both reads and writes buffer '%s'",
                        AS(Buffer, AS(BufferRegion, *r)->buffer)->name);
  return not_alone(scope, block, in_order);
}

const char *why_not_complete(Node *scope, Node *block) { return why_no_map(scope, block, false); }
const char *why_not_complete_in_order(Node *scope, Node *block) {
  return why_no_map(scope, block, true);
}

static const char *why_no_sum(Node *scope, Node *block, bool in_order) {
  const Block *b = AS(Block, block);
  if (!b->init) return "it has no init";
  for each (Node *, v, &b->iter_vars) {
    IterVar *iv = AS(IterVar, *v);
    const char *name = AS(Var, iv->var)->name;
    if (is_free(iv, in_order)) continue;
    if (iv->iter_kind != ITER_REDUCE)
      return str_format("its variable '%s' is neither data-parallel nor of a reduction", name);
    for each (Node *, r, &b->writes)
      if (node_mentions(*r, iv->var))
        return str_format("its reduction variable '%s' tells where it writes", name);
  }
  return not_alone(scope, block, in_order);
}

const char *why_not_reduction(Node *scope, Node *block) { return why_no_sum(scope, block, false); }
const char *why_not_reduction_in_order(Node *scope, Node *block) {
  return why_no_sum(scope, block, true);
}

int schedule_rank(const Schedule *s, const Primitive *p, Node *block, Node *buffer, Span span) {
  ScheduleCall c = {.schedule = schedule_copy(s), .primitive = p, .span = span};
  c.before = c.schedule->module;
  c.args = NODES(block, buffer);
  Block *b = AS(Block, block_arg(&c, 0)->node);
  return buffer ? AS(Buffer, buffer_named(&c, b, 1))->shape.len : b->iter_vars.len;
}
