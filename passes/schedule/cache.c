/* cache.c -- cache_read and cache_write: a copy of what a block reads or writes in a buffer of its
 * own, which may lie in another scope of memory. */
#include "passes/schedule/schedule_impl.h"

/* ---- buffers ---- */

static Node *buffer_at(ScheduleCall *c, Block *b, NodeVec regions, const char *kind) {
  int64_t i = int_arg(c, 1, "the index of a buffer");
  if (i < 0 || i >= regions.len)
    schedule_fail(c, &b->node, "block '%s' has %d buffers that it %s, but the index is %lld",
                  b->name, regions.len, kind, (long long)i);
  return AS(BufferRegion, regions.at[i])->buffer;
}

static Node *cache_buffer(ScheduleCall *c, const Node *of, const char *scope) {
  const Buffer *b = (const Buffer *)(const void *)of;
  return buffer_new(str_intern(str_format("%s_%s", b->name, scope)), b->elem, b->shape, scope,
                    c->span);
}

/* ---- regions ---- */

/* Adds the regions of a buffer that a block reads, or writes, below a level of its place. */
static void touch_below(Touched *t, const Place *p, int level, NodeVec regions, Analyzer *facts) {
  NodeVec loops = {0};
  for (int i = level; i < p->path.len; i++)
    if (IS(For, p->path.at[i])) vec_push(&loops, p->path.at[i]);
  for each (Node *, r, &regions)
    if (AS(BufferRegion, *r)->buffer == t->buffer)
      touch(t, AS(BlockRealize, realize_of(p)), *r, loops, facts);
}

/* ---- the copying block ---- */

/* for ax0, ax1: a block `name` that copies to[v0, v1] = from[v0, v1] over the region, as far as it
 * lies in the buffer. */
static Node *copy_nest(ScheduleCall *c, const char *name, Node *from, Node *to, NodeVec region,
                       Analyzer *facts, Node **block) {
  NodeVec iters = {0}, values = {0}, at = {0}, reads = {0}, loops = {0};
  Node *predicate = int_imm(BOOL, 1, c->span);
  for (int i = 0; i < region.len; i++) {
    Range *r = AS(Range, region.at[i]);
    Node *size = AS(Buffer, from)->shape.at[i];
    Node *ax = var_new(str_format("ax%d", i), r->extent->dtype, c->span);
    Node *v = var_new(str_format("v%d", i), size->dtype, c->span);
    Node *dom =
        MAKE(Range, c->span, VOID_TYPE, .min = int_imm(size->dtype, 0, c->span), .extent = size);
    vec_push(&iters,
             MAKE(IterVar, c->span, VOID_TYPE, .dom = dom, .var = v, .iter_kind = ITER_SPATIAL));
    Node *value = expr_add(r->min, ax), *end = expr_add(r->min, r->extent);
    vec_push(&values, value);
    Node *low = expr_binary(NK_GE, value, int_imm(value->dtype, 0, c->span), c->span);
    Node *high = expr_binary(NK_LT, value, size, c->span);
    Node *starts_inside = expr_binary(NK_GE, r->min, int_imm(size->dtype, 0, c->span), c->span);
    if (!arith_can_prove(facts, starts_inside)) predicate = expr_and(predicate, low);
    if (!arith_can_prove(facts, expr_binary(NK_LE, end, size, c->span)))
      predicate = expr_and(predicate, high);
    vec_push(&at, v);
    vec_push(&reads,
             MAKE(Range, c->span, VOID_TYPE, .min = v, .extent = int_imm(size->dtype, 1, c->span)));
    vec_push(&loops, ax);
  }
  Node *body = stmt_store(to, at, expr_load(from, at, c->span), c->span);
  *block =
      MAKE(Block, c->span, VOID_TYPE, .name = name, .iter_vars = iters,
           .reads = NODES(MAKE(BufferRegion, c->span, VOID_TYPE, .buffer = from, .region = reads)),
           .writes = NODES(MAKE(BufferRegion, c->span, VOID_TYPE, .buffer = to, .region = reads)),
           .body = body);
  Node *nest = MAKE(BlockRealize, c->span, VOID_TYPE, .iter_values = values, .predicate = predicate,
                    .block = *block);
  for (int i = loops.len - 1; i >= 0; i--)
    nest = MAKE(For, c->span, VOID_TYPE, .min = int_imm(loops.at[i]->dtype, 0, c->span),
                .extent = AS(Range, region.at[i])->extent, .var = loops.at[i], .body = nest);
  return nest;
}

/* ---- putting it there ---- */

typedef struct Patch {
  Mutator mutator;
  ScheduleCall *call;
  Node *scope, *alloc; /* the block that owns the new buffer */
  Node *beside, *nest; /* the statement, and what stands in front of it or */
  bool after;          /* behind it */
  const Map *blocks;   /* whose accesses are redirected */
  Node *from, *to;     /* buffers */
  bool redirecting;
} Patch;

static Node *patch_node(Mutator *m, Node *n);

static Node *patch_below(Patch *p, Mutator *m, Node *n) {
  bool outer = p->redirecting;
  if (IS(Block, n) && map_has(p->blocks, n)) p->redirecting = true;
  Node *out = schedule_rewrite_children(p->call, m, n);
  p->redirecting = outer;
  return out;
}

static Node *patch_buffers(Patch *p, Mutator *m, Node *n) {
  Node *out = mutate_children(m, n);
  if (IS(BufferLoad, out) && AS(BufferLoad, out)->buffer == p->from) {
    BufferLoad copy = *AS(BufferLoad, out);
    copy.buffer = p->to;
    return gc_copy(&copy, sizeof copy);
  }
  if (IS(BufferStore, out) && AS(BufferStore, out)->buffer == p->from) {
    BufferStore copy = *AS(BufferStore, out);
    copy.buffer = p->to;
    return gc_copy(&copy, sizeof copy);
  }
  if (IS(BufferRegion, out) && AS(BufferRegion, out)->buffer == p->from) {
    BufferRegion copy = *AS(BufferRegion, out);
    copy.buffer = p->to;
    return gc_copy(&copy, sizeof copy);
  }
  return out;
}

static Node *patch_node(Mutator *m, Node *n) {
  Patch *p = (Patch *)(void *)m;
  bool access = IS(BufferLoad, n) || IS(BufferStore, n) || IS(BufferRegion, n);
  if (IS(Buffer, n) || IS(Var, n)) return n;
  Node *out = p->redirecting && access ? patch_buffers(p, m, n) : patch_below(p, m, n);
  if (n == p->beside)
    out =
        p->after ? stmt_seq(NODES(out, p->nest), n->span) : stmt_seq(NODES(p->nest, out), n->span);
  if (n != p->scope) return out;
  Block copy = *AS(Block, out);
  copy.alloc_buffers = (NodeVec){0};
  for each (Node *, b, &AS(Block, out)->alloc_buffers) vec_push(&copy.alloc_buffers, *b);
  vec_push(&copy.alloc_buffers, p->alloc);
  Node *larger = gc_copy(&copy, sizeof copy);
  schedule_renew(p->call, out, larger);
  return larger;
}

static void patch(Patch *p, const char *func) {
  p->mutator.rewrite = patch_node;
  PrimFunc f = *AS(PrimFunc, prim_func_of(p->call, func));
  f.body = mutate(&p->mutator, f.body);
  schedule_set_function(p->call, func, gc_copy(&f, sizeof f));
}

/* The statement of a place that is an element of the innermost sequence which `other` (a statement,
 * or NULL) is no part of the same element of; of the scope's body if there is none. And the loops
 * of the place below it. */
static int level_of(const Place *p, Node *scope, NodeVec apart) {
  int level = 0;
  for (int i = 0; i < p->path.len; i++)
    if (p->path.at[i] == scope) level = i + 1;
  for (int i = level; i < p->path.len - 1; i++) {
    bool shared = false;
    for each (Node *, o, &apart) shared |= mentions(p->path.at[i], *o);
    if (!shared) return IS(SeqStmt, p->path.at[i]) ? i + 1 : i;
    level = i + 1;
  }
  return level;
}

static Place prefix(const Place *p, int n) {
  Place q = {.func = p->func};
  for (int i = 0; i < n; i++) vec_push(&q.path, p->path.at[i]);
  return q;
}

/* No bound of any dimension is known. */
static NodeVec whole_of(const Node *buffer) {
  NodeVec none = {0};
  for each (Node *, d, &AS(Buffer, buffer)->shape) {
    (void)d;
    vec_push(&none, NULL);
  }
  return none;
}

static NodeVec chosen_consumers(ScheduleCall *c, Node *scope, Node *buffer) {
  NodeVec realizes = child_realizes(scope), out = {0};
  for each (Node *, r, &realizes) {
    Block *b = AS(Block, AS(BlockRealize, *r)->block);
    if (block_reads(b, buffer) && !block_writes(b, buffer)) vec_push(&out, &b->node);
  }
  Node *given = c->args.at[3];
  if (!given) return out;
  NodeVec named = IS(Array, given) ? AS(Array, given)->items : NODES(given), some = {0};
  for each (Node *, g, &named) {
    ScheduleCall one = *c;
    one.args = NODES(*g);
    Node *block = block_arg(&one, 0)->node;
    bool reads = false;
    for each (Node *, o, &out) reads |= *o == block;
    if (!reads)
      schedule_fail(c, block, "block '%s' does not read '%s', or writes it too",
                    AS(Block, block)->name, AS(Buffer, buffer)->name);
    vec_push(&some, block);
  }
  return some;
}

void primitive_cache_read(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Block *b = AS(Block, ref->node);
  Node *buffer = buffer_at(c, b, b->reads, "reads");
  Place p = place_of(c, ref->func, ref->node);
  Node *scope = scope_block(&p);
  if (!scope) schedule_fail(c, ref->node, "the root block has no scope to put the cache in");
  if (block_writes(b, buffer))
    schedule_fail(c, ref->node, "block '%s' also writes '%s'", b->name, AS(Buffer, buffer)->name);
  NodeVec users = chosen_consumers(c, scope, buffer), apart = {0}, realizes = child_realizes(scope);
  for each (Node *, r, &realizes)
    if (block_writes(AS(Block, AS(BlockRealize, *r)->block), buffer)) vec_push(&apart, *r);
  const char *to_scope = text_arg(c, 2, "storage_scope");
  Node *to = cache_buffer(c, buffer, to_scope), *copy;
  Place first = place_of(c, ref->func, users.at[0]);
  int level = level_of(&first, scope, apart);
  Place outer = prefix(&first, level + 1);
  Analyzer *facts = facts_at(&outer);
  Touched touched = {.buffer = buffer};
  for each (Node *, u, &users) {
    Place user = place_of(c, ref->func, *u);
    bool below = false; /* what another block reads elsewhere is not known here: all of it */
    for each (Node *, s, &user.path) below |= *s == first.path.at[level];
    if (below) touch_below(&touched, &user, level, AS(Block, *u)->reads, facts);
    else touched.lo = touched.hi = whole_of(buffer);
  }
  NodeVec region = touched_ranges(&touched, facts);
  Node *nest = copy_nest(c, AS(Buffer, to)->name, buffer, to, region, facts, &copy);
  Map blocks = {0};
  for each (Node *, u, &users) map_set(&blocks, *u, *u);
  Patch patching = {.call = c,
                    .scope = scope,
                    .alloc = to,
                    .beside = first.path.at[level],
                    .nest = nest,
                    .blocks = &blocks,
                    .from = buffer,
                    .to = to};
  patch(&patching, ref->func);
  give_block(c, ref->func, copy);
}

void primitive_cache_write(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Block *b = AS(Block, ref->node);
  Node *buffer = buffer_at(c, b, b->writes, "writes");
  Place p = place_of(c, ref->func, ref->node);
  Node *scope = scope_block(&p);
  if (!scope) schedule_fail(c, ref->node, "the root block has no scope to put the cache in");
  NodeVec realizes = child_realizes(scope), readers = {0};
  for each (Node *, r, &realizes) {
    Node *other = AS(BlockRealize, *r)->block;
    if (other == ref->node) continue;
    if (block_writes(AS(Block, other), buffer))
      schedule_fail(c, other, "block '%s' writes '%s' too", AS(Block, other)->name,
                    AS(Buffer, buffer)->name);
    if (block_reads(AS(Block, other), buffer)) vec_push(&readers, *r);
  }
  Node *to = cache_buffer(c, buffer, text_arg(c, 2, "storage_scope")), *copy;
  int level = level_of(&p, scope, readers);
  Place outer = prefix(&p, level + 1);
  Analyzer *facts = facts_at(&outer);
  Touched touched = {.buffer = buffer};
  touch_below(&touched, &p, level, b->writes, facts);
  NodeVec region = touched_ranges(&touched, facts);
  Node *nest = copy_nest(c, AS(Buffer, to)->name, to, buffer, region, facts, &copy);
  Map blocks = {0};
  map_set(&blocks, ref->node, ref->node);
  Patch patching = {.call = c,
                    .scope = scope,
                    .alloc = to,
                    .beside = p.path.at[level],
                    .nest = nest,
                    .after = true,
                    .blocks = &blocks,
                    .from = buffer,
                    .to = to};
  patch(&patching, ref->func);
  give_block(c, ref->func, copy);
}

/* ---- set_scope, storage_align ---- */

void primitive_set_scope(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Block *b = AS(Block, ref->node);
  Node *buffer = buffer_at(c, b, b->writes, "writes");
  const char *to = text_arg(c, 2, "storage_scope");
  PrimFunc f = *AS(PrimFunc, prim_func_of(c, ref->func));
  for each (Node *, param, &f.buffers)
    if (*param == buffer)
      schedule_fail(c, ref->node, "the buffer '%s' is a parameter of the function",
                    AS(Buffer, buffer)->name);
  if (str_same(buffer_scope(buffer), to)) return;
  Buffer copy = *AS(Buffer, buffer);
  Var data = *AS(Var, copy.data);
  data.scope = str_intern(to);
  copy.data = gc_copy(&data, sizeof data);
  Map map = {0};
  map_set(&map, buffer, gc_copy(&copy, sizeof copy));
  map_set(&map, AS(Buffer, buffer)->data, copy.data);
  schedule_substitute(c, ref->func, &map);
}

/* [[buffer_index, axis, factor, offset], ...], one of a buffer and axis. */
void primitive_storage_align(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Block copy = *AS(Block, ref->node);
  Node *buffer = buffer_at(c, &copy, copy.writes, "writes");
  int64_t axis = int_arg(c, 2, "axis"), factor = int_arg(c, 3, "factor");
  int ndim = AS(Buffer, buffer)->shape.len;
  if (axis < 0) axis += ndim;
  if (axis < 0 || axis >= ndim)
    schedule_fail(c, ref->node, "the buffer '%s' has %d axes, but axis is %lld",
                  AS(Buffer, buffer)->name, ndim, (long long)axis);
  if (factor <= 0) schedule_fail(c, ref->node, "factor must be positive");
  NodeVec row = NODES(c->args.at[1], int_imm(INT32, axis, c->span), int_imm(INT32, factor, c->span),
                      int_imm(INT32, int_arg(c, 4, "offset"), c->span)),
          rows = {0};
  Node *old = dict_get(copy.annotations, "buffer_dim_align");
  for (int i = 0; old && i < AS(Array, old)->items.len; i++) {
    NodeVec known = AS(Array, AS(Array, old)->items.at[i])->items;
    bool same = node_equal(known.at[0], row.at[0], false, NULL) &&
                node_equal(known.at[1], row.at[1], false, NULL);
    if (!same) vec_push(&rows, AS(Array, old)->items.at[i]);
  }
  vec_push(&rows, MAKE(Array, c->span, VOID_TYPE, .items = row));
  copy.annotations = dict_with(copy.annotations, "buffer_dim_align",
                               MAKE(Array, c->span, VOID_TYPE, .items = rows));
  Node *before = ref->node, *after = gc_copy(&copy, sizeof copy);
  schedule_renew(c, before, after);
  schedule_replace(c, ref->func, before, after);
}
