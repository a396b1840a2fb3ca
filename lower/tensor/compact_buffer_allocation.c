/* compact_buffer_allocation.c -- a buffer becomes as large as what is accessed of it where it is
 * allocated.
 *
 * In:  opaque blocks that own buffers. Out: the same accesses at indices that begin at the least
 * one; a dimension whose accesses can't be bounded, or not below its size, stays whole. An
 * alignment that storage_align asked for becomes strides. */
#include "ir/analysis/touched.h"
#include "lower/lower_impl.h"

/* What becomes of a buffer. */
typedef struct Shrink {
  Touched touched;
  int depth;     /* loops around its owner */
  bool is_whole; /* something else than loads, stores and regions uses it */
  Node *align;   /* Array of the annotation buffer_dim_align, or NULL; [_, axis, factor, offset] */
  Node *buffer;  /* in its place, once decided */
  NodeVec start; /* what is taken from each index */
} Shrink;

typedef struct Compact {
  Map shrinks; /* Buffer to Shrink */
  Map owners;  /* data pointer to Shrink */
  NodeVec loops;
  Map lets;    /* to their values */
  Map unknown; /* variables inside that stand for what memory held */
  Analyzer *facts;
  bool is_strict;
} Compact;

/* ---- accesses ---- */

static WalkResult find_unknown(Walker *w, Node *n) {
  return map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

static bool is_known(Compact *c, Node *index) {
  Walker w = {.enter = find_unknown, .context = &c->unknown};
  return expr_effect(index) == EFFECT_PURE && walk(&w, index);
}

/* Do the steps of the loop share what is in the scope? */
static bool is_common(const char *scope, const For *f) {
  if (f->loop_kind != LOOP_THREAD) return false;
  if (str_begins(scope, "warp")) return str_same(f->thread_tag, "threadIdx.x");
  return str_begins(scope, "shared") &&
         (str_begins(f->thread_tag, "threadIdx.") || str_begins(f->thread_tag, "vthread"));
}

/* The loops between the owner and here, and those of threads that share the buffer. */
static NodeVec loops_below(const Compact *c, const Shrink *s) {
  const char *scope = buffer_scope(s->touched.buffer);
  NodeVec inner = {0};
  for (int i = 0; i < c->loops.len; i++)
    if (i >= s->depth || is_common(scope, AS(For, c->loops.at[i])))
      vec_push(&inner, c->loops.at[i]);
  return inner;
}

static void note_region(Compact *c, Shrink *s, NodeVec region, Span span) {
  for each (Node *, r, &region)
    if (!is_known(c, AS(Range, *r)->min) || !is_known(c, AS(Range, *r)->extent)) s->is_whole = true;
  if (s->is_whole) return;
  Node *n = MAKE(BufferRegion, span, VOID_TYPE, .buffer = s->touched.buffer, .region = region);
  touch_region(&s->touched, n, &c->lets, loops_below(c, s), c->facts);
}

/* An index, or the lanes of one. */
static Node *range_of_index(Node *index) {
  Node *min = index, *extent = int_imm(dtype_element(index->dtype), 1, index->span);
  int64_t stride;
  if (IS(Ramp, index) && expr_is_const_int(AS(Ramp, index)->stride, &stride) && stride > 0) {
    min = AS(Ramp, index)->base;
    extent = int_imm(min->dtype, stride * (AS(Ramp, index)->lanes - 1) + 1, index->span);
  } else if (IS(Broadcast, index)) min = AS(Broadcast, index)->value;
  return MAKE(Range, index->span, VOID_TYPE, .min = min, .extent = extent);
}

static void note_access(Compact *c, Node *buffer, NodeVec indices, Span span) {
  Shrink *s = map_get(&c->shrinks, buffer);
  if (!s) return;
  NodeVec region = {0};
  for each (Node *, i, &indices) {
    vec_push(&region, range_of_index(*i));
    if (AS(Range, vec_last(&region))->min->dtype.lanes != 1) s->is_whole = true;
  }
  note_region(c, s, region, span);
}

static void note_let(Compact *c, Node *var, Node *value) {
  if (expr_effect(value) == EFFECT_PURE) map_set(&c->lets, var, substitute(value, &c->lets));
  else map_set(&c->unknown, var, value);
}

/* ---- the walk ---- */

static void note_alignment(Compact *c, Block *b) {
  Node *list = dict_get(b->annotations, "buffer_dim_align");
  if (!IS(Array, list)) return;
  for each (Node *, entry, &AS(Array, list)->items) {
    int64_t which;
    if (!IS(Array, *entry) || AS(Array, *entry)->items.len != 4 ||
        !expr_is_const_int(AS(Array, *entry)->items.at[0], &which) || which < 0 ||
        which >= b->writes.len)
      continue;
    Shrink *s = map_get(&c->shrinks, AS(BufferRegion, b->writes.at[which])->buffer);
    if (s) s->align = *entry;
  }
}

static void enter_block(Compact *c, BlockRealize *r) {
  Block *b = AS(Block, r->block);
  if (r->iter_values.len)
    error_raisef("LowerError", r->node.span,
                 "block '%s' is not opaque: run ConvertBlocksToOpaque first", b->name);
  for each (Node *, x, &b->alloc_buffers) {
    Buffer *buffer = AS(Buffer, *x);
    bool is_plain = !buffer->strides.len && !buffer->elem_offset && !buffer->layout;
    Shrink *s = NEW(Shrink, .touched.buffer = *x, .depth = c->loops.len, .is_whole = !is_plain);
    map_set(&c->shrinks, *x, s);
    map_set(&c->owners, buffer->data, s);
  }
  note_alignment(c, b);
  for each (Node *, m, &b->match_buffers) {
    BufferRegion *source = AS(BufferRegion, AS(MatchBufferRegion, *m)->source);
    Shrink *s = map_get(&c->shrinks, source->buffer);
    if (s) note_region(c, s, source->region, r->node.span);
  }
}

static WalkResult enter(Walker *w, Node *n) {
  Compact *c = w->context;
  Shrink *s;
  switch (n->kind) {
  case NK_BlockRealize: enter_block(c, AS(BlockRealize, n)); return WALK_ON;
  case NK_BufferRegion: return WALK_PRUNE; /* of reads and writes: what is done is told below */
  case NK_For:
    arith_bind_range(c->facts, AS(For, n)->var, AS(For, n)->min, AS(For, n)->extent);
    vec_push(&c->loops, n);
    return WALK_ON;
  case NK_LetStmt: note_let(c, AS(LetStmt, n)->var, AS(LetStmt, n)->value); return WALK_ON;
  case NK_Let: note_let(c, AS(Let, n)->var, AS(Let, n)->value); return WALK_ON;
  case NK_BufferLoad:
    note_access(c, AS(BufferLoad, n)->buffer, AS(BufferLoad, n)->indices, n->span);
    return WALK_ON;
  case NK_BufferStore:
    note_access(c, AS(BufferStore, n)->buffer, AS(BufferStore, n)->indices, n->span);
    return WALK_ON;
  case NK_Buffer: return WALK_PRUNE;
  case NK_DeclBuffer:
    if ((s = map_get(&c->owners, AS(Buffer, AS(DeclBuffer, n)->buffer)->data))) s->is_whole = true;
    return WALK_ON;
  case NK_Var:
    if ((s = map_get(&c->owners, n))) s->is_whole = true;
    return WALK_ON;
  default: return WALK_ON;
  }
}

static Node *decide(Compact *c, Node *buffer);

/* The loops of a block are known when its accesses are: so a buffer is decided when its owner is
 * left. */
static void leave(Walker *w, Node *n) {
  Compact *c = w->context;
  if (IS(For, n)) (void)vec_pop(&c->loops);
  if (IS(Block, n))
    for each (Node *, x, &AS(Block, n)->alloc_buffers) decide(c, *x);
}

/* ---- sizes ---- */

enum { SMALL = 4096 };

/* The size that a dimension gets, or NULL for what it has. Up to SMALL, a number is better than a
 * symbolic size that might be less. */
static Node *smaller(Compact *c, Node *lo, Node *hi, Node *size) {
  Analyzer *a = c->facts;
  Node *n = arith_simplify(a, expr_add(expr_sub(hi, lo), int_imm(lo->dtype, 1, lo->span)));
  Node *none = int_imm(n->dtype, 0, n->span);
  if (!arith_can_prove(a, expr_binary(NK_GE, n, none, n->span))) /* loops without a step */
    n = arith_simplify(a, expr_binary(NK_Max, n, none, n->span));
  int64_t value;
  if (!expr_is_const_int(n, &value)) {
    ConstBound b = arith_const_bound(a, n);
    bool is_bounded = b.lo >= 0 && b.hi <= dtype_max_int(n->dtype) && b.hi != ARITH_POS_INF;
    if (is_bounded) n = int_imm(n->dtype, b.hi, n->span);
  }
  int64_t unused;
  bool is_small =
      expr_is_const_int(n, &value) && value <= SMALL && !expr_is_const_int(size, &unused);
  if (!c->is_strict || is_small) return n;
  if (arith_can_prove(a, expr_binary(NK_LE, n, size, n->span))) return n;
  return NULL;
}

static NodeVec aligned_strides(const Shrink *s, NodeVec shape) {
  int64_t axis = 0, factor = 1, offset = 0;
  NodeVec entry = AS(Array, s->align)->items, strides = {0};
  expr_is_const_int(entry.at[1], &axis);
  expr_is_const_int(entry.at[2], &factor);
  expr_is_const_int(entry.at[3], &offset);
  for each (Node *, e, &shape) vec_push(&strides, *e);
  Node *stride = int_imm(shape.at[0]->dtype, 1, shape.at[0]->span);
  for (int i = shape.len - 1; i >= 0; i--) {
    if (i == axis) { /* the least number from `stride` on that is `offset` modulo `factor` */
      Node *f = int_imm(stride->dtype, factor, stride->span);
      Node *lacks =
          expr_floormod(expr_sub(int_imm(stride->dtype, offset, stride->span), stride), f);
      stride = expr_add(stride, lacks);
    }
    strides.at[i] = stride;
    stride = expr_mul(stride, shape.at[i]);
  }
  return strides;
}

static Node *decide(Compact *c, Node *buffer) {
  Shrink *s = map_get(&c->shrinks, buffer);
  Buffer b = *AS(Buffer, buffer);
  NodeVec shape = {0};
  bool is_same = true;
  for (int i = 0; i < b.shape.len; i++) {
    Node *size = b.shape.at[i], *start = int_imm(size->dtype, 0, size->span), *n = NULL;
    bool known = !s->is_whole && s->touched.lo.len && s->touched.lo.at[i];
    if (known) n = smaller(c, s->touched.lo.at[i], s->touched.hi.at[i], size);
    if (n && !arith_can_prove_equal(c->facts, n, size))
      start = s->touched.lo.at[i], is_same = false;
    else n = size;
    vec_push(&s->start, start);
    vec_push(&shape, expr_cast(size->dtype, n, size->span));
  }
  s->buffer = buffer;
  if (is_same && !s->align) return buffer;
  b.shape = shape;
  if (s->align && shape.len) b.strides = aligned_strides(s, shape);
  return s->buffer = gc_copy(&b, sizeof b);
}

/* ---- rewriting ---- */

static NodeVec from_start(Compact *c, const Shrink *s, NodeVec indices) {
  NodeVec out = {0};
  for (int i = 0; i < indices.len; i++) {
    Node *index = indices.at[i], *start = s->start.at[i];
    vec_push(&out, expr_is_zero(start) ? index : arith_simplify(c->facts, expr_sub(index, start)));
  }
  return out;
}

static NodeVec region_from_start(Mutator *m, const Shrink *s, NodeVec region) {
  NodeVec mins = {0}, out = {0};
  for each (Node *, r, &region) vec_push(&mins, mutate(m, AS(Range, *r)->min));
  mins = from_start(m->context, s, mins);
  for (int i = 0; i < region.len; i++) {
    Node *extent = mutate(m, AS(Range, region.at[i])->extent);
    vec_push(&out, MAKE(Range, extent->span, VOID_TYPE, .min = mins.at[i], .extent = extent));
  }
  return out;
}

static Node *rewrite(Mutator *m, Node *n) {
  Compact *c = m->context;
  Shrink *s;
  switch (n->kind) {
  case NK_Var: return n;
  case NK_Buffer: s = map_get(&c->shrinks, n); return s ? s->buffer : n;
  case NK_BufferLoad: {
    BufferLoad l = *AS(BufferLoad, n);
    if (!(s = map_get(&c->shrinks, l.buffer)) || s->buffer == l.buffer)
      return mutate_children(m, n);
    l.indices = from_start(c, s, mutate_vec(m, l.indices));
    if (l.predicate) l.predicate = mutate(m, l.predicate);
    l.buffer = s->buffer;
    return gc_copy(&l, sizeof l);
  }
  case NK_BufferStore: {
    BufferStore t = *AS(BufferStore, n);
    if (!(s = map_get(&c->shrinks, t.buffer)) || s->buffer == t.buffer)
      return mutate_children(m, n);
    t.indices = from_start(c, s, mutate_vec(m, t.indices));
    t.value = mutate(m, t.value);
    if (t.predicate) t.predicate = mutate(m, t.predicate);
    t.buffer = s->buffer;
    return gc_copy(&t, sizeof t);
  }
  case NK_BufferRegion: {
    BufferRegion r = *AS(BufferRegion, n);
    if (!(s = map_get(&c->shrinks, r.buffer)) || s->buffer == r.buffer)
      return mutate_children(m, n);
    r.region = region_from_start(m, s, r.region);
    r.buffer = s->buffer;
    return gc_copy(&r, sizeof r);
  }
  default: return mutate_children(m, n);
  }
}

Node *pass_compact_buffer_allocation(Node *n, const PassContext *context) {
  Compact c = {.facts = arith_of_function(n), .is_strict = pass_option_int(context, "is_strict")};
  Walker w = {.enter = enter, .leave = leave, .context = &c};
  walk(&w, AS(PrimFunc, n)->body);
  if (!c.shrinks.len) return n;
  Mutator m = {.rewrite = rewrite, .context = &c};
  PrimFunc f = *AS(PrimFunc, n);
  f.body = mutate(&m, f.body);
  return f.body == AS(PrimFunc, n)->body ? n : gc_copy(&f, sizeof f);
}
