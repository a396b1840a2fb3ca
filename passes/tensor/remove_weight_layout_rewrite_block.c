/* remove_weight_layout_rewrite_block.c -- programs take weights as they lay them out.
 *
 * In:  blocks marked meta_schedule.layout_rewrite_preproc that copy a parameter, which nothing else
 * uses, to a buffer of the program. Out: the parameter has the shape of that buffer, which is gone;
 * the block does nothing. Who calls the program hands over what the block would have made
 * (SplitLayoutRewritePreproc does both for a module). */
#include "ir/analysis/first_write.h"
#include "passes/tensor/tensor.h"

typedef struct Remove {
  PrimFunc *f;
  Map parameters; /* buffers to what they become */
  Map copies;     /* allocated buffers, and their pointers, to the same */
  Map blocks;     /* that copied */
} Remove;

static bool is_marked(const Block *b) {
  return dict_get_int(b->annotations, "meta_schedule.layout_rewrite_preproc", 0) != 0;
}

typedef struct Uses {
  const Node *buffer, *except;
} Uses;
static WalkResult find_use(Walker *w, Node *n) {
  const Uses *u = w->context;
  if (n == u->except) return WALK_PRUNE;
  return n == u->buffer ? WALK_STOP : WALK_ON;
}

static bool is_used_beside(const PrimFunc *f, const Node *buffer, const Node *block) {
  Uses u = {buffer, block};
  Walker w = {.enter = find_use, .context = &u};
  return !walk(&w, f->body);
}

static WalkResult find_store(Walker *w, Node *n) {
  const Uses *u = w->context;
  if (n == u->except || node_is_expr(n)) return WALK_PRUNE;
  return IS(BufferStore, n) && AS(BufferStore, n)->buffer == u->buffer ? WALK_STOP : WALK_ON;
}

static bool is_written_beside(const PrimFunc *f, Node *buffer, const Node *block) {
  Uses u = {buffer, block};
  Walker w = {.enter = find_store, .context = &u};
  return !walk(&w, f->body) || is_accessed_otherwise(f->body, buffer);
}

static bool is_parameter(const PrimFunc *f, const Node *buffer) {
  for each (Node *, b, &f->buffers)
    if (*b == buffer) return true;
  return false;
}

/* Is it one load, stored at another place? */
static bool copies_alone(const Block *b) {
  return IS(BufferStore, b->body) && IS(BufferLoad, AS(BufferStore, b->body)->value) &&
         !AS(BufferStore, b->body)->predicate && !b->init;
}

static WalkResult note_block(Walker *w, Node *n) {
  Remove *r = w->context;
  if (node_is_expr(n)) return WALK_PRUNE;
  if (!IS(Block, n) || !is_marked(AS(Block, n)) || !copies_alone(AS(Block, n))) return WALK_ON;
  BufferStore *store = AS(BufferStore, AS(Block, n)->body);
  Node *from = AS(BufferLoad, store->value)->buffer, *to = store->buffer;
  if (!is_parameter(r->f, from) || is_parameter(r->f, to) || is_used_beside(r->f, from, n) ||
      is_written_beside(r->f, to, n))
    return WALK_PRUNE;
  Buffer b = *AS(Buffer, from);
  b.shape = AS(Buffer, to)->shape;
  Node *laid_out = gc_copy(&b, sizeof b);
  map_set(&r->parameters, from, laid_out);
  map_set(&r->copies, to, laid_out);
  map_set(&r->copies, AS(Buffer, to)->data, b.data);
  map_set(&r->blocks, n, n);
  return WALK_PRUNE;
}

static Node *rewrite(Mutator *m, Node *n) {
  Remove *r = m->context;
  Node *known = IS(Buffer, n) || IS(Var, n) ? map_get(&r->copies, n) : NULL;
  if (known || IS(Buffer, n) || IS(Var, n)) return known ? known : n;
  if (!IS(Block, n)) return mutate_children(m, n);
  Block b = *AS(Block, n);
  b.alloc_buffers = (NodeVec){0};
  for each (Node *, a, &AS(Block, n)->alloc_buffers)
    if (!map_has(&r->copies, *a)) vec_push(&b.alloc_buffers, *a);
  if (map_has(&r->blocks, n)) {
    b.reads = b.writes = (NodeVec){0};
    b.body = stmt_evaluate(int_imm(INT32, 0, n->span), n->span);
  }
  return mutate_children(m, gc_copy(&b, sizeof b));
}

Node *pass_remove_weight_layout_rewrite_block(Node *n, const PassContext *context) {
  (void)context;
  Remove r = {.f = AS(PrimFunc, n)};
  Walker w = {.enter = note_block, .context = &r};
  walk(&w, r.f->body);
  if (!r.blocks.live) return n;
  PrimFunc f = *r.f;
  f.buffers = (NodeVec){0};
  for each (Node *, b, &r.f->buffers) {
    Node *now = *b ? map_get(&r.parameters, *b) : NULL;
    vec_push(&f.buffers, now ? now : *b);
  }
  Mutator m = {.rewrite = rewrite, .context = &r};
  f.body = mutate(&m, f.body);
  return gc_copy(&f, sizeof f);
}
