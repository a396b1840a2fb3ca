/* flatten_buffer.c -- N-dimensional buffer accesses become one-dimensional.
 *
 * In:  PrimFuncs without blocks (after LowerOpaqueBlock).
 * Out: each BufferLoad and BufferStore has one index, in elements; allocations have one extent.
 *      A shape, stride or offset that reads memory is read where its buffer is declared, into a
 * let: what is stored later doesn't move the buffer. Not: the buffers beside the parameters keep
 * their shapes: they say what callers must pass. */
#include "ir/arith/arith.h"
#include "lower/lower_impl.h"

typedef struct Flatten {
  Map flat;     /* Buffer to its one-dimensional view */
  Map declared; /* Buffer to one whose layout reads no memory */
  Analyzer *analyzer;
} Flatten;

static Node *product(NodeVec extents, Span span) {
  Node *n = int_imm(INT32, 1, span);
  for each (Node *, e, &extents) n = expr_mul(n, *e);
  return n;
}

/* Elements from the start of the memory to the buffer's last one. */
static Node *extent_of(const Buffer *b) {
  Node *n = product(b->shape, b->node.span), *one = int_imm(INT32, 1, b->node.span);
  if (b->strides.len) n = one;
  for (int i = 0; i < b->strides.len; i++)
    n = expr_add(n, expr_mul(expr_sub(b->shape.at[i], one), b->strides.at[i]));
  return b->elem_offset ? expr_add(b->elem_offset, n) : n;
}

/* Without a declaration, a buffer's layout is read at each access. */
static Buffer layout_of(Mutator *m, Node *buffer) {
  Flatten *f = m->context;
  Node *declared = map_get(&f->declared, buffer);
  Buffer b = *AS(Buffer, declared ? declared : buffer);
  if (declared) return b;
  b.shape = mutate_vec(m, b.shape);
  b.strides = mutate_vec(m, b.strides);
  b.elem_offset = mutate(m, b.elem_offset);
  return b;
}

static Node *flat_buffer(Mutator *m, Node *buffer) {
  Flatten *f = m->context;
  Node *flat = map_get(&f->flat, buffer);
  if (flat) return flat;
  Buffer b = layout_of(m, buffer);
  bool is_flat = b.shape.len == 1 && !b.strides.len && !b.elem_offset && !b.axis_separators.len;
  if (!is_flat) {
    b.shape = NODES(arith_simplify(f->analyzer, extent_of(&b)));
    b.strides = (NodeVec){0};
    b.elem_offset = NULL;
    b.axis_separators = (IntVec){0};
    b.offset_factor = 1;
    flat = gc_copy(&b, sizeof b);
  } else flat = buffer;
  map_set(&f->flat, buffer, flat);
  return flat;
}

static NodeVec flat_index(Mutator *m, Node *buffer, NodeVec indices) {
  Flatten *f = m->context;
  Buffer b = layout_of(m, buffer);
  if (!indices.len && !b.elem_offset) return NODES(int_imm(INT32, 0, b.node.span));
  Node *offset = NULL, *stride = int_imm(INT32, 1, b.node.span);
  for (int i = indices.len - 1; i >= 0; i--) {
    if (b.strides.len) stride = b.strides.at[i];
    Node *part = expr_mul(indices.at[i], stride);
    offset = offset ? expr_add(part, offset) : part;
    if (!b.strides.len) stride = expr_mul(stride, b.shape.at[i]);
  }
  if (b.elem_offset) offset = offset ? expr_add(offset, b.elem_offset) : b.elem_offset;
  return NODES(arith_simplify(f->analyzer, offset));
}

/* The value, or a variable to bind to it if memory gives it. */
static Node *read_once(Mutator *m, NodeVec *lets, const char *name, Node *value) {
  Node *now = mutate(m, value);
  if (expr_effect(now) == EFFECT_PURE) return now;
  Node *var = var_new(name, now->dtype, now->span);
  vec_push(lets, MAKE(LetStmt, now->span, VOID_TYPE, .value = now, .var = var));
  return var;
}

static Node *declare(Mutator *m, DeclBuffer *d) {
  Flatten *f = m->context;
  Buffer b = *AS(Buffer, d->buffer);
  NodeVec lets = {0}, shape = {0}, strides = {0};
  for each (Node *, e, &b.shape) vec_push(&shape, read_once(m, &lets, "extent", *e));
  for each (Node *, e, &b.strides) vec_push(&strides, read_once(m, &lets, "stride", *e));
  b.shape = shape, b.strides = strides;
  if (b.elem_offset) b.elem_offset = read_once(m, &lets, "elem_offset", b.elem_offset);
  if (lets.len) map_set(&f->declared, d->buffer, gc_copy(&b, sizeof b));
  Node *body = mutate(m, d->body);
  body =
      MAKE(DeclBuffer, d->node.span, VOID_TYPE, .buffer = flat_buffer(m, d->buffer), .body = body);
  for (int i = lets.len - 1; i >= 0; i--) {
    AS(LetStmt, lets.at[i])->body = body;
    body = lets.at[i];
  }
  return body;
}

static Node *rewrite(Mutator *m, Node *n) {
  Flatten *f = m->context;
  switch (n->kind) {
  case NK_Var:
  case NK_Buffer: return n;
  case NK_BufferLoad: {
    BufferLoad l = *AS(BufferLoad, n);
    l.predicate = mutate(m, l.predicate);
    l.indices = flat_index(m, l.buffer, mutate_vec(m, l.indices));
    l.buffer = flat_buffer(m, l.buffer);
    return gc_copy(&l, sizeof l);
  }
  case NK_BufferStore: {
    BufferStore s = *AS(BufferStore, n);
    s.value = mutate(m, s.value);
    s.predicate = mutate(m, s.predicate);
    s.indices = flat_index(m, s.buffer, mutate_vec(m, s.indices));
    s.buffer = flat_buffer(m, s.buffer);
    return gc_copy(&s, sizeof s);
  }
  case NK_BufferRegion: { /* of T.prefetch: from its first element, a row of it */
    BufferRegion r = *AS(BufferRegion, n);
    NodeVec mins = {0};
    for each (Node *, range, &r.region) vec_push(&mins, mutate(m, AS(Range, *range)->min));
    Node *row = r.region.len ? mutate(m, AS(Range, r.region.at[r.region.len - 1])->extent)
                             : int_imm(INT32, 1, n->span);
    r.region = NODES(
        MAKE(Range, n->span, VOID_TYPE, .min = flat_index(m, r.buffer, mins).at[0], .extent = row));
    r.buffer = flat_buffer(m, r.buffer);
    return gc_copy(&r, sizeof r);
  }
  case NK_DeclBuffer: return declare(m, AS(DeclBuffer, n));
  case NK_Allocate: {
    Allocate a = *AS(Allocate, n);
    a.extents = mutate_vec(m, a.extents);
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
