/* flatten_buffer.c -- N-dimensional buffer accesses become one-dimensional.
 *
 * In:  PrimFuncs without blocks (after LowerOpaqueBlock).
 * Out: each BufferLoad and BufferStore has one index, in elements; allocations have one extent.
 * Not: the buffers beside the parameters keep their shapes: they say what callers must pass. */
#include "ir/arith/arith.h"
#include "lower/lower_impl.h"

typedef struct Flatten {
  Map flat; /* Buffer to its one-dimensional view */
  Analyzer *analyzer;
} Flatten;

static Node *product(NodeVec extents, Span span) {
  Node *n = int_imm(INT32, 1, span);
  for each (Node *, e, &extents) n = expr_mul(n, *e);
  return n;
}

static Node *flat_buffer(Flatten *f, Node *buffer) {
  Node *flat = map_get(&f->flat, buffer);
  if (flat) return flat;
  Buffer b = *AS(Buffer, buffer);
  bool is_flat = b.shape.len == 1 && !b.strides.len && !b.elem_offset && !b.axis_separators.len;
  if (!is_flat) {
    b.shape = NODES(arith_simplify(f->analyzer, product(b.shape, b.node.span)));
    b.strides = (NodeVec){0};
    b.elem_offset = NULL;
    b.axis_separators = (IntVec){0};
    b.offset_factor = 1;
    flat = gc_copy(&b, sizeof b);
  } else flat = buffer;
  map_set(&f->flat, buffer, flat);
  return flat;
}

static NodeVec flat_index(Flatten *f, Node *buffer, NodeVec indices) {
  Buffer *b = AS(Buffer, buffer);
  if (!indices.len && !b->elem_offset) return NODES(int_imm(INT32, 0, b->node.span));
  Node *offset = NULL, *stride = int_imm(INT32, 1, b->node.span);
  for (int i = indices.len - 1; i >= 0; i--) {
    if (b->strides.len) stride = b->strides.at[i];
    Node *part = expr_mul(indices.at[i], stride);
    offset = offset ? expr_add(part, offset) : part;
    if (!b->strides.len) stride = expr_mul(stride, b->shape.at[i]);
  }
  if (b->elem_offset) offset = offset ? expr_add(offset, b->elem_offset) : b->elem_offset;
  return NODES(arith_simplify(f->analyzer, offset));
}

static Node *rewrite(Mutator *m, Node *n) {
  Flatten *f = m->context;
  switch (n->kind) {
  case NK_Var:
  case NK_Buffer: return n;
  case NK_BufferLoad: {
    BufferLoad l = *AS(BufferLoad, n);
    l.indices = flat_index(f, l.buffer, mutate_vec(m, l.indices));
    l.buffer = flat_buffer(f, l.buffer);
    return gc_copy(&l, sizeof l);
  }
  case NK_BufferStore: {
    BufferStore s = *AS(BufferStore, n);
    s.value = mutate(m, s.value);
    s.indices = flat_index(f, s.buffer, mutate_vec(m, s.indices));
    s.buffer = flat_buffer(f, s.buffer);
    return gc_copy(&s, sizeof s);
  }
  case NK_DeclBuffer:
    return MAKE(DeclBuffer, n->span, VOID_TYPE, .buffer = flat_buffer(f, AS(DeclBuffer, n)->buffer),
                .body = mutate(m, AS(DeclBuffer, n)->body));
  case NK_Allocate: {
    Allocate a = *AS(Allocate, n);
    if (a.extents.len != 1)
      a.extents = NODES(arith_simplify(f->analyzer, product(a.extents, n->span)));
    a.body = mutate(m, a.body);
    return gc_copy(&a, sizeof a);
  }
  default: return mutate_children(m, n);
  }
}

Node *pass_flatten_buffer(Node *n, const PassContext *context) {
  (void)context;
  PrimFunc f = *AS(PrimFunc, n);
  Flatten state = {.analyzer = arith_new()};
  Mutator m = {.rewrite = rewrite, .context = &state};
  f.body = mutate(&m, f.body);
  return gc_copy(&f, sizeof f);
}
