/* manifest_shared_memory_local_stage.c -- copies to shared memory go by way of registers, as two
 * statements, so that a pipeline may load early and store late.
 *
 * In:  opaque blocks (after ConvertBlocksToOpaque) with the annotation
 *      "tir.manifest_shared_memory_local_stage", whose body is a store to shared memory, with loops
 *      around that hold nothing else.
 * Out: the loops twice: what was to be stored goes to memory of scope local, and from there to
 * where it belongs. The annotation goes. */
#include "lower/lower_impl.h"

#define MANIFEST "tir.manifest_shared_memory_local_stage"

typedef struct Stages {
  NodeVec made; /* buffers for the block that is around */
} Stages;

/* The innermost statement of a nest of loops. */
static Node *inside_of(Node *n) {
  while (IS(For, n)) n = AS(For, n)->body;
  return n;
}

static BlockRealize *staged_copy(Node *n) {
  if (!IS(BlockRealize, n)) return NULL;
  Block *b = AS(Block, AS(BlockRealize, n)->block);
  return dict_get(b->annotations, MANIFEST) ? AS(BlockRealize, n) : NULL;
}

static Node *with_block_body(const BlockRealize *r, Node *body, NodeVec reads, NodeVec writes) {
  BlockRealize copy = *r;
  Block b = *AS(Block, r->block);
  b.body = body, b.reads = reads, b.writes = writes;
  b.annotations = dict_with(b.annotations, MANIFEST, NULL);
  copy.block = gc_copy(&b, sizeof b);
  return gc_copy(&copy, sizeof copy);
}

static Node *with_loops(Node *nest, Node *body) {
  if (!IS(For, nest)) return body;
  For copy = *AS(For, nest);
  copy.body = with_loops(copy.body, body);
  return gc_copy(&copy, sizeof copy);
}

static NodeVec region_of(Node *buffer, NodeVec indices) {
  NodeVec ranges = {0};
  for each (Node *, i, &indices)
    vec_push(&ranges, MAKE(Range, (*i)->span, VOID_TYPE, .min = *i,
                           .extent = int_imm((*i)->dtype, 1, (*i)->span)));
  return NODES(MAKE(BufferRegion, buffer->span, VOID_TYPE, .buffer = buffer, .region = ranges));
}

/* A place for each step of the loops that a thread does by itself. */
static Node *stage_buffer(Node *nest, const BufferStore *s, NodeVec *indices) {
  NodeVec shape = {0};
  for (; IS(For, nest); nest = AS(For, nest)->body) {
    For *f = AS(For, nest);
    if (f->loop_kind == LOOP_THREAD) continue;
    vec_push(&shape, f->extent);
    vec_push(indices, expr_sub(f->var, f->min));
  }
  if (!shape.len) {
    vec_push(&shape, int_imm(INT32, 1, s->node.span));
    vec_push(indices, int_imm(INT32, 0, s->node.span));
  }
  const char *name = str_format("%s_local", AS(Buffer, s->buffer)->name);
  return buffer_new(name, AS(Buffer, s->buffer)->elem, shape, "local", s->node.span);
}

static Node *as_stages(Stages *c, Node *nest, BlockRealize *r) {
  Block *b = AS(Block, r->block);
  Span span = r->node.span;
  if (!IS(BufferStore, b->body) ||
      !str_begins(buffer_scope(AS(BufferStore, b->body)->buffer), "shared"))
    error_raisef("LowerError", span, "block '%s': " MANIFEST " is for a store to shared memory",
                 b->name);
  BufferStore *s = AS(BufferStore, b->body);
  NodeVec at = {0};
  Node *stage = stage_buffer(nest, s, &at), *staged = expr_load(stage, at, span);
  NodeVec there = region_of(stage, at);
  vec_push(&c->made, stage);
  Node *fetch = with_block_body(r, stmt_store(stage, at, s->value, span), b->reads, there);
  Node *put = with_block_body(r, stmt_store(s->buffer, s->indices, staged, span), there, b->writes);
  return stmt_seq(NODES(with_loops(nest, fetch), copy_with_fresh_vars(with_loops(nest, put))),
                  span);
}

static Node *rewrite(Mutator *m, Node *n) {
  Stages *c = m->context;
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  bool is_pipeline = IS(For, n) && dict_get(AS(For, n)->annotations, "software_pipeline_stage");
  BlockRealize *r = is_pipeline ? NULL : staged_copy(inside_of(n));
  if (r) return as_stages(c, n, r);
  if (IS(SeqStmt, n)) {
    NodeVec stmts = mutate_vec(m, AS(SeqStmt, n)->stmts);
    return stmt_seq(stmts, n->span);
  }
  if (!IS(Block, n)) return mutate_children(m, n);
  NodeVec outer = c->made, buffers = {0};
  c->made = (NodeVec){0};
  Block b = *AS(Block, mutate_children(m, n));
  for each (Node *, x, &b.alloc_buffers) vec_push(&buffers, *x);
  for each (Node *, x, &c->made) vec_push(&buffers, *x);
  b.alloc_buffers = buffers;
  c->made = outer;
  return gc_copy(&b, sizeof b);
}

static WalkResult find_copy(Walker *w, Node *n) {
  (void)w;
  return staged_copy(n) ? WALK_STOP : WALK_ON;
}

Node *pass_manifest_shared_memory_local_stage(Node *n, const PassContext *context) {
  (void)context;
  Stages c = {{0}};
  Walker finder = {.enter = find_copy};
  if (walk(&finder, AS(PrimFunc, n)->body)) return n;
  Mutator m = {.rewrite = rewrite, .context = &c};
  return mutate_children(&m, n);
}
