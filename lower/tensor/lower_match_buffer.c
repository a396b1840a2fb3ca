/* lower_match_buffer.c -- a buffer matched with a region is the region's source, seen through an
 * offset.
 *
 * In:  opaque blocks. Out: no match_buffers. Dims that the region has beyond the buffer's are its
 * leading ones. */
#include "lower/lower_impl.h"

typedef struct Matches {
  Map regions; /* matched Buffer to its BufferRegion, the source itself not matched */
  Map vars;    /* variables that matching binds: pointers, offsets, strides */
} Matches;

static Node *at_source(Mutator *m, BufferRegion *r, NodeVec indices, int i) {
  int skip = r->region.len - indices.len;
  Node *min = mutate(m, AS(Range, r->region.at[i])->min);
  return i < skip ? min : expr_add(min, mutate(m, indices.at[i - skip]));
}

static NodeVec source_indices(Mutator *m, BufferRegion *r, NodeVec indices) {
  NodeVec out = {0};
  for (int i = 0; i < r->region.len; i++) vec_push(&out, at_source(m, r, indices, i));
  return out;
}

static Node *stride_of(Buffer *b, int axis) {
  if (b->strides.len) return b->strides.at[axis];
  Node *stride = int_imm(INT32, 1, b->node.span);
  for (int i = axis + 1; i < b->shape.len; i++) stride = expr_mul(stride, b->shape.at[i]);
  return stride;
}

/* What the matched buffer's own variables stand for. */
static void bind_vars(Mutator *m, Matches *found, Buffer *target, BufferRegion *r) {
  Buffer *source = AS(Buffer, r->buffer);
  if (IS(Var, target->data)) map_set(&found->vars, target->data, source->data);
  int skip = r->region.len - target->shape.len;
  for (int i = 0; i < target->strides.len; i++)
    if (IS(Var, target->strides.at[i]))
      map_set(&found->vars, target->strides.at[i],
              expr_cast(target->strides.at[i]->dtype, stride_of(source, i + skip), r->node.span));
  if (!IS(Var, target->elem_offset)) return;
  Node *offset = source->elem_offset ? source->elem_offset : int_imm(INT32, 0, r->node.span);
  for (int i = 0; i < r->region.len; i++)
    offset = expr_add(offset,
                      expr_mul(mutate(m, AS(Range, r->region.at[i])->min), stride_of(source, i)));
  map_set(&found->vars, target->elem_offset,
          expr_cast(target->elem_offset->dtype, offset, r->node.span));
}

static void note_match(Mutator *m, Matches *found, MatchBufferRegion *match) {
  BufferRegion *r = AS(BufferRegion, match->source), *outer = map_get(&found->regions, r->buffer);
  if (outer) { /* a match of a match: one region of the first source */
    NodeVec mins = {0}, region = {0};
    for each (Node *, x, &r->region) vec_push(&mins, AS(Range, *x)->min);
    NodeVec at = source_indices(m, outer, mins);
    for (int i = 0; i < at.len; i++)
      vec_push(&region, MAKE(Range, r->node.span, VOID_TYPE, .min = at.at[i],
                             .extent = int_imm(at.at[i]->dtype, 1, r->node.span)));
    r = AS(BufferRegion,
           MAKE(BufferRegion, r->node.span, VOID_TYPE, .buffer = outer->buffer, .region = region));
  }
  map_set(&found->regions, match->buffer, r);
  bind_vars(m, found, AS(Buffer, match->buffer), r);
}

static Node *rewrite(Mutator *m, Node *n) {
  Matches *found = m->context;
  BufferRegion *r;
  switch (n->kind) {
  case NK_Var: {
    Node *value = map_get(&found->vars, n);
    return value ? mutate(m, value) : n;
  }
  case NK_Block: {
    Block b = *AS(Block, n);
    for each (Node *, x, &b.match_buffers) note_match(m, found, AS(MatchBufferRegion, *x));
    b.match_buffers = (NodeVec){0};
    return mutate_children(m, AS(Block, n)->match_buffers.len ? gc_copy(&b, sizeof b) : n);
  }
  case NK_BufferLoad: {
    BufferLoad l = *AS(BufferLoad, n);
    if (!(r = map_get(&found->regions, l.buffer))) return mutate_children(m, n);
    l.buffer = r->buffer;
    l.indices = source_indices(m, r, l.indices);
    l.predicate = mutate(m, l.predicate);
    return gc_copy(&l, sizeof l);
  }
  case NK_BufferStore: {
    BufferStore s = *AS(BufferStore, n);
    if (!(r = map_get(&found->regions, s.buffer))) return mutate_children(m, n);
    s.buffer = r->buffer;
    s.indices = source_indices(m, r, s.indices);
    s.value = mutate(m, s.value);
    s.predicate = mutate(m, s.predicate);
    return gc_copy(&s, sizeof s);
  }
  case NK_BufferRegion: /* of the reads and writes of inner blocks: they matter no more */
    r = map_get(&found->regions, AS(BufferRegion, n)->buffer);
    return mutate_children(m, r ? &r->node : n);
  default: return mutate_children(m, n);
  }
}

Node *pass_lower_match_buffer(Node *n, const PassContext *context) {
  (void)context;
  Matches found = {0};
  Mutator m = {.rewrite = rewrite, .context = &found};
  return mutate_children(&m, n);
}
