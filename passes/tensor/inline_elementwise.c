/* inline_elementwise.c -- chains of elementwise blocks become one block each.
 *
 * As compute_inline does, one block after the other, but in one sweep from the last block to the
 * first: long chains would cost the schedule a copy of the function for each. Blocks that reduce
 * are left to the rules. */
#include "passes/tensor/inline_elementwise.h"

/* The most nodes of a value to which another is written out more than once. */
enum { COPIES = 256 };

typedef struct Stage {
  Node *stmt;
  Block *block;    /* the only one, if the stage is elementwise; or NULL */
  NodeVec order;   /* the indices of its store: variables, each once, or 0 */
  Node *buffer;    /* that it stores to */
  Node *value;     /* as it is by now */
  NodeVec written; /* Buffers, of any stage */
  int into;        /* the stage that has taken it; -1: none */
} Stage;

typedef struct Stages {
  VEC(Stage) all;
  Map readers;    /* Buffer to IntVec *: the stages that load it */
  bool is_opaque; /* are buffers used in other ways, too? */
  Map local;      /* Buffers of the root block */
} Stages;

/* ---- what stages do ---- */

static void add_reader(Stages *s, Node *buffer, int stage) {
  IntVec *v = map_get(&s->readers, buffer);
  if (!v) map_set(&s->readers, buffer, v = NEW(IntVec, 0));
  for each (int, i, v)
    if (*i == stage) return;
  vec_push(v, stage);
}

typedef struct AccessFinder {
  Stages *stages;
  int stage;
} AccessFinder;

static WalkResult find_access(Walker *w, Node *n) {
  AccessFinder *f = w->context;
  Stages *s = f->stages;
  switch (n->kind) {
  case NK_BufferLoad: add_reader(s, AS(BufferLoad, n)->buffer, f->stage); break;
  case NK_BufferStore: vec_push(&s->all.at[f->stage].written, AS(BufferStore, n)->buffer); break;
  case NK_MatchBufferRegion: s->is_opaque = true; break;
  case NK_Call: /* pointers, and regions as arguments */
    for each (Node *, a, &AS(Call, n)->args)
      s->is_opaque |= IS(BufferRegion, *a) || dtype_is_handle((*a)->dtype);
    break;
  default: break;
  }
  return WALK_ON;
}

static Node *only_block(Node *s) {
  while (IS(For, s)) s = AS(For, s)->body;
  return IS(BlockRealize, s) ? AS(BlockRealize, s)->block : NULL;
}

static Range *domain_of(const Block *b, const Node *var) {
  for each (Node *, v, &b->iter_vars)
    if (AS(IterVar, *v)->var == var) return AS(Range, AS(IterVar, *v)->dom);
  return NULL;
}

static bool is_whole(const Range *r, Node *dim) {
  int64_t x, y;
  if (!expr_is_zero(r->min)) return false;
  if (expr_is_const_int(r->extent, &x) && expr_is_const_int(dim, &y)) return x == y;
  return node_equal(r->extent, dim, false, NULL);
}

/* Indices that are the block's variables, each once, or 0 in a dim of extent 1; they run over all
 * of the buffer, so that what the value reads elsewhere is never asked for. */
static bool is_own_order(const Block *b, NodeVec indices, const Buffer *buffer) {
  Map seen = {0};
  for (int i = 0; i < indices.len; i++) {
    Node *v = indices.at[i];
    if (expr_is_zero(v) && expr_is_one(buffer->shape.at[i])) continue;
    Range *dom = domain_of(b, v);
    if (!dom || map_has(&seen, v) || !is_whole(dom, buffer->shape.at[i])) return false;
    map_set(&seen, v, v);
  }
  return true;
}

static bool is_elementwise(const Block *b) {
  if (b->init || b->match_buffers.len || b->alloc_buffers.len || !IS(BufferStore, b->body))
    return false;
  BufferStore *store = AS(BufferStore, b->body);
  for each (Node *, v, &b->iter_vars)
    if (AS(IterVar, *v)->iter_kind != ITER_SPATIAL) return false;
  return !store->predicate && expr_effect(store->value) != EFFECT_STATE &&
         is_own_order(b, store->indices, AS(Buffer, store->buffer));
}

static void add_stage(Stages *s, Node *stmt) {
  Node *block = only_block(stmt);
  Stage stage = {.stmt = stmt, .into = -1};
  if (block && is_elementwise(AS(Block, block))) {
    BufferStore *store = AS(BufferStore, AS(Block, block)->body);
    stage.block = AS(Block, block);
    stage.order = store->indices;
    stage.buffer = store->buffer;
    stage.value = store->value;
  }
  vec_push(&s->all, stage);
  AccessFinder f = {s, s->all.len - 1};
  Walker w = {.enter = find_access, .context = &f};
  walk(&w, stmt);
}

/* ---- may a stage go into the one that reads it? ---- */

static bool writes(const Stage *stage, Node *buffer) {
  for each (Node *, b, &stage->written)
    if (*b == buffer) return true;
  return false;
}

typedef struct LoadFinder {
  Node *buffer; /* NULL: all */
  NodeVec found;
  int nodes;
} LoadFinder;

static WalkResult find_load(Walker *w, Node *n) {
  LoadFinder *f = w->context;
  f->nodes++;
  if (IS(BufferLoad, n) && (!f->buffer || AS(BufferLoad, n)->buffer == f->buffer))
    vec_push(&f->found, n);
  return WALK_ON;
}

static LoadFinder loads_in(Node *value, Node *buffer) {
  LoadFinder f = {.buffer = buffer};
  Walker w = {.enter = find_load, .context = &f};
  walk(&w, value);
  return f;
}

/* Does nothing between a stage and its reader, or the reader, change what the stage reads? */
static bool stays_the_same(const Stages *s, int from, int to, NodeVec loads) {
  for (int k = from + 1; k <= to; k++)
    for each (Node *, load, &loads)
      if (s->all.at[k].into < 0 && writes(&s->all.at[k], AS(BufferLoad, *load)->buffer))
        return false;
  return true;
}

/* The stage that this one may go into, or -1. */
static int only_reader(Stages *s, int i) {
  Stage *stage = &s->all.at[i];
  IntVec *readers = stage->block ? map_get(&s->readers, stage->buffer) : NULL;
  if (!readers || readers->len != 1 || readers->at[0] <= i || !map_has(&s->local, stage->buffer))
    return -1;
  int to = readers->at[0];
  Stage *reader = &s->all.at[to];
  for (int k = 0; k < s->all.len; k++)
    if (k != i && s->all.at[k].into < 0 && writes(&s->all.at[k], stage->buffer)) return -1;
  if (!reader->block) return -1;
  LoadFinder own = loads_in(stage->value, NULL);
  LoadFinder theirs = loads_in(reader->value, stage->buffer);
  bool grows = theirs.found.len > 1 && theirs.nodes + own.nodes * theirs.found.len > COPIES;
  return !grows && stays_the_same(s, i, to, own.found) ? to : -1;
}

/* ---- one stage into another ---- */

/* The value for an element: variables that tell none of it take one step only. */
static Node *value_at(const Stage *stage, NodeVec indices) {
  Map map = {0};
  for each (Node *, v, &stage->block->iter_vars)
    map_set(&map, AS(IterVar, *v)->var, AS(Range, AS(IterVar, *v)->dom)->min);
  for (int i = 0; i < indices.len; i++)
    if (IS(Var, stage->order.at[i]))
      map_set(&map, stage->order.at[i],
              expr_cast(stage->order.at[i]->dtype, indices.at[i], indices.at[i]->span));
  return substitute(stage->value, &map);
}

static Node *replace_loads(Mutator *m, Node *n) {
  const Stage *stage = m->context;
  if (IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  bool is_load = IS(BufferLoad, n) && AS(BufferLoad, n)->buffer == stage->buffer;
  return is_load ? value_at(stage, AS(BufferLoad, n)->indices) : n;
}

static void inline_stage(Stages *s, int i, int into) {
  Stage *stage = &s->all.at[i], *reader = &s->all.at[into];
  Mutator m = {.rewrite = replace_loads, .context = stage};
  reader->value = mutate(&m, reader->value);
  stage->into = into;
  LoadFinder own = loads_in(stage->value, NULL);
  for each (Node *, load, &own.found) {
    IntVec *readers = map_get(&s->readers, AS(BufferLoad, *load)->buffer);
    IntVec others = {0};
    for each (int, k, readers)
      if (*k != i && *k != into) vec_push(&others, *k);
    vec_push(&others, into);
    *readers = others;
  }
}

/* ---- the function of what is left ---- */

static Node *with_value(Mutator *m, Node *n) {
  const Stage *stage = m->context;
  if (n != &stage->block->node) return node_is_expr(n) ? n : mutate_children(m, n);
  BufferStore store = *AS(BufferStore, stage->block->body);
  Block b = *stage->block;
  store.value = stage->value;
  b.body = gc_copy(&store, sizeof store);
  NodeVec reads, writes;
  bool known = block_access_regions(&b.node, NULL, &reads, &writes);
  REQUIRE(known, "an elementwise block has no opaque accesses");
  b.reads = reads;
  b.writes = writes;
  return gc_copy(&b, sizeof b);
}

static Node *stmt_of(Stage *stage) {
  if (!stage->block || stage->value == AS(BufferStore, stage->block->body)->value)
    return stage->stmt;
  Mutator m = {.rewrite = with_value, .context = stage};
  return mutate(&m, stage->stmt);
}

static Node *rebuilt(PrimFunc *f, Block *root, Stages *s) {
  NodeVec stmts = {0}, allocs = {0};
  Map gone = {0};
  for each (Stage, stage, &s->all) {
    if (stage->into < 0) vec_push(&stmts, stmt_of(stage));
    else map_set(&gone, stage->buffer, stage->buffer);
  }
  if (!gone.live) return &f->node;
  for each (Node *, b, &root->alloc_buffers)
    if (!map_has(&gone, *b)) vec_push(&allocs, *b);
  Block block = *root;
  block.alloc_buffers = allocs;
  block.body = stmt_seq(stmts, root->node.span);
  BlockRealize realize = *AS(BlockRealize, f->body);
  realize.block = gc_copy(&block, sizeof block);
  PrimFunc out = *f;
  out.body = gc_copy(&realize, sizeof realize);
  return gc_copy(&out, sizeof out);
}

Node *inline_elementwise(Node *prim_func) {
  PrimFunc *f = AS(PrimFunc, prim_func);
  Block *root = IS(BlockRealize, f->body) ? AS(Block, AS(BlockRealize, f->body)->block) : NULL;
  if (!root || root->iter_vars.len || !IS(SeqStmt, root->body)) return prim_func;
  Stages s = {0};
  for each (Node *, b, &root->alloc_buffers) map_set(&s.local, *b, *b);
  for each (Node *, x, &AS(SeqStmt, root->body)->stmts) add_stage(&s, *x);
  if (s.is_opaque) return prim_func;
  for (int i = s.all.len - 2; i >= 0; i--) {
    int into = only_reader(&s, i);
    if (into >= 0) inline_stage(&s, i, into);
  }
  return rebuilt(f, root, &s);
}
