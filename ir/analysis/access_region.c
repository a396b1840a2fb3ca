/* access_region.c -- the regions that a block reads and writes, as text leaves them out.
 *
 * Indices are taken over the ranges of the loops inside the block; the block's own variables stay
 * symbols. Accesses of one buffer are joined to one region. What can't be bounded takes the whole
 * dimension. */
#include "ir/arith/arith.h"
#include "ir/ir.h"

/* The region of one buffer so far: least and greatest index of each dimension, NULL for the whole
 * dimension. */
typedef struct Access {
  Node *buffer;
  NodeVec lo, hi;
} Access;
typedef VEC(Access *) AccessVec;

typedef struct Scan {
  AccessVec reads, writes;
  Map ranges;         /* variables of loops inside the block to their Range */
  Map lets;           /* variables of lets inside the block to their values */
  Map stores;         /* buffers to their only BufferStore, or to themselves if there are more */
  Map pure;           /* values of these: what stands in others is not looked through again */
  Map scalars;        /* buffers of one element that get one value, to it */
  Node *asked;        /* by block_writes_by_memory: a buffer, or NULL */
  bool by_memory;     /* memory says where that is written */
  Map local;          /* buffers allocated inside, which nobody outside sees */
  Map matched;        /* buffers of matched regions to their MatchBufferRegion */
  Map pointers;       /* those made inside: what they point to nobody outside sees */
  const Map *visible; /* of block_access_regions */
  Analyzer *analyzer;
  bool opaque;
} Scan;

/* ---- joining ---- */

static Node *extreme(Scan *s, NodeKind kind, Node *a, Node *b) {
  if (a == b || !a || !b) return a == b ? a : NULL;
  return arith_simplify(s->analyzer, expr_binary(kind, a, b, a->span));
}

static Access *find_access(AccessVec *v, Node *buffer) {
  for each (Access *, a, v)
    if ((*a)->buffer == buffer) return *a;
  Access *fresh = NEW(Access, .buffer = buffer);
  vec_push(v, fresh);
  return fresh;
}

/* Does a matched buffer have the last dimensions of its region, one to one? */
static bool has_dims_of_region(Scan *s, Buffer *b, NodeVec region) {
  int skipped = region.len - b->shape.len;
  for (int i = 0; i < b->shape.len && skipped >= 0; i++) {
    Node *extent = AS(Range, region.at[skipped + i])->extent;
    if (!arith_can_prove_equal(s->analyzer, b->shape.at[i], extent)) return false;
  }
  return skipped >= 0;
}

/* An access of a matched buffer as one of its source: the start of the region added. */
static void to_source(Scan *s, MatchBufferRegion *m, NodeVec *lo, NodeVec *hi) {
  NodeVec region = AS(BufferRegion, m->source)->region, a = {0}, b = {0};
  bool aligned = has_dims_of_region(s, AS(Buffer, m->buffer), region);
  int skipped = region.len - lo->len;
  for (int i = 0; i < region.len; i++) {
    Range *r = AS(Range, region.at[i]);
    Node *x = aligned && i >= skipped ? lo->at[i - skipped] : NULL;
    Node *y = aligned && i >= skipped ? hi->at[i - skipped] : NULL;
    Node *last = expr_sub(r->extent, int_imm(r->extent->dtype, 1, r->node.span));
    bool known = x && y;
    x = known ? expr_add(r->min, x) : r->min;
    y = expr_add(r->min, known ? y : last);
    vec_push(&a, arith_simplify(s->analyzer, x));
    vec_push(&b, arith_simplify(s->analyzer, y));
  }
  *lo = a;
  *hi = b;
}

static void join(Scan *s, AccessVec *v, Node *buffer, NodeVec lo, NodeVec hi) {
  Node *match = map_get(&s->matched, buffer);
  if (match) {
    to_source(s, AS(MatchBufferRegion, match), &lo, &hi);
    buffer = AS(BufferRegion, AS(MatchBufferRegion, match)->source)->buffer;
  }
  Node *data = AS(Buffer, buffer)->data;
  if (map_has(&s->local, buffer) || map_has(&s->pointers, data) || map_has(&s->lets, data)) return;
  Access *a = find_access(v, buffer);
  if (!a->lo.len) {
    a->lo = lo;
    a->hi = hi;
    return;
  }
  for (int i = 0; i < lo.len; i++) {
    a->lo.at[i] = extreme(s, NK_Min, a->lo.at[i], lo.at[i]);
    a->hi.at[i] = extreme(s, NK_Max, a->hi.at[i], hi.at[i]);
  }
}

/* ---- values with a name: lets, and scalars that are set once ---- */

static WalkResult note_store(Walker *w, Node *n) {
  Map *stores = w->context;
  if (!IS(BufferStore, n)) return node_family(n->kind) == FAMILY_STMT ? WALK_ON : WALK_PRUNE;
  Node *buffer = AS(BufferStore, n)->buffer;
  map_set(stores, buffer, map_has(stores, buffer) ? buffer : n);
  return WALK_PRUNE;
}

static bool sets_scalar(const Scan *s, BufferStore *store) {
  NodeVec shape = AS(Buffer, store->buffer)->shape;
  return map_has(&s->local, store->buffer) && map_get(&s->stores, store->buffer) == &store->node &&
         shape.len == 1 && expr_is_one(shape.at[0]);
}

static Node *value_of_name(Mutator *m, Node *n) {
  const Scan *s = m->context;
  Node *value = IS(Var, n)          ? map_get(&s->lets, n)
                : IS(BufferLoad, n) ? map_get(&s->scalars, AS(BufferLoad, n)->buffer)
                                    : NULL;
  return value ? value : mutate_children(m, n);
}

/* An expression without the names that the block gives to values. */
static Node *without_names(Scan *s, Node *e) {
  if (!s->lets.live && !s->scalars.live) return e;
  Mutator m = {.rewrite = value_of_name, .context = s};
  return mutate(&m, e);
}

static WalkResult stop_at_effect(Walker *w, Node *n) {
  const Scan *s = w->context;
  if (map_has(&s->pure, n)) return WALK_PRUNE;
  return node_effect(n) == EFFECT_PURE ? WALK_ON : WALK_STOP;
}

/* Of a value without names. Those of a chain of lets hold each other: each is walked to the next.
 */
static bool is_pure(Scan *s, Node *value) {
  Walker w = {.enter = stop_at_effect, .context = s, .once = true};
  if (!walk(&w, value)) return false;
  map_set(&s->pure, value, value);
  return true;
}

/* ---- one access ---- */

static WalkResult stop_at_local(Walker *w, Node *n) {
  Scan *s = w->context;
  return IS(BufferLoad, n) && map_has(&s->local, AS(BufferLoad, n)->buffer) ? WALK_STOP : WALK_ON;
}

/* A bound that memory of the block holds means nothing outside of it. */
static Node *seen_outside(Scan *s, Node *bound) {
  Walker w = {.enter = stop_at_local, .context = s, .once = true};
  return bound && s->local.live && !walk(&w, bound) ? NULL : bound;
}

static void bounds_of(Scan *s, Node *index, Node **lo, Node **hi) {
  index = without_names(s, index);
  int64_t lanes = 1;
  Node *base = index;
  if (IS(Ramp, index)) base = AS(Ramp, index)->base, lanes = AS(Ramp, index)->lanes;
  if (!arith_bounds_over(base, &s->ranges, lo, hi)) {
    *lo = *hi = NULL;
    return;
  }
  *lo = seen_outside(s, *lo);
  *hi = seen_outside(s, *hi);
  if (lanes == 1 || !*hi) return;
  Node *last = expr_mul(AS(Ramp, index)->stride, int_imm(base->dtype, lanes - 1, index->span));
  *hi = arith_simplify(s->analyzer, expr_add(*hi, last));
}

static void add_indices(Scan *s, AccessVec *v, Node *buffer, NodeVec indices) {
  NodeVec lo = {0}, hi = {0};
  for each (Node *, i, &indices) {
    Node *a, *b;
    bounds_of(s, *i, &a, &b);
    vec_push(&lo, a);
    vec_push(&hi, b);
  }
  join(s, v, buffer, lo, hi);
}

static void add_region(Scan *s, AccessVec *v, Node *region, const Map *bindings) {
  BufferRegion *r = AS(BufferRegion, region);
  NodeVec lo = {0}, hi = {0};
  for each (Node *, range, &r->region) {
    Node *min = substitute(AS(Range, *range)->min, bindings),
         *extent = substitute(AS(Range, *range)->extent, bindings);
    Node *last = expr_sub(expr_add(min, extent), int_imm(extent->dtype, 1, region->span)), *a, *b,
         *unused;
    bounds_of(s, min, &a, &unused);
    bounds_of(s, last, &unused, &b);
    vec_push(&lo, a);
    vec_push(&hi, b);
  }
  join(s, v, r->buffer, lo, hi);
}

/* ---- the scan ---- */

static bool scan(Scan *s, Node *n);

/* A block inside: what it declares, with its variables bound. */
static void scan_realize(Scan *s, BlockRealize *r) {
  Block *b = AS(Block, r->block);
  Map bindings = {0};
  for (int i = 0; i < r->iter_values.len; i++) {
    map_set(&bindings, AS(IterVar, b->iter_vars.at[i])->var, r->iter_values.at[i]);
    scan(s, r->iter_values.at[i]);
  }
  scan(s, r->predicate);
  for each (Node *, x, &b->reads) add_region(s, &s->reads, *x, &bindings);
  for each (Node *, x, &b->writes) add_region(s, &s->writes, *x, &bindings);
}

/* Another pointer may reach what is outside, as far as nothing is known of it. */
static bool is_opaque(Scan *s, Node *pointer) {
  if (!dtype_is_handle(pointer->dtype) || dtype_is_void(AS(Var, pointer)->elem)) return false;
  if (s->visible) return map_has(s->visible, pointer);
  return !map_has(&s->pointers, pointer);
}

/* A.access_ptr("r") or "w" says what is done with the whole buffer. */
static bool scan_access_pointer(Scan *s, Call *c) {
  enum { DATA = 1, MASK = 4, READ = 1, WRITE = 2 };
  int64_t mask;
  if (c->args.len <= MASK || !expr_is_const_int(c->args.at[MASK], &mask)) return false;
  Node *buffer = s->visible ? map_get(s->visible, c->args.at[DATA]) : NULL;
  if (!buffer || (mask != READ && mask != WRITE)) return false;
  NodeVec whole = {0};
  for (int i = 0; i < AS(Buffer, buffer)->shape.len; i++) vec_push(&whole, NULL);
  join(s, mask == READ ? &s->reads : &s->writes, buffer, whole, whole);
  return true;
}

static WalkResult stop_at_memory(Walker *w, Node *n) {
  const Map *ranges = w->context;
  bool unknown_let = IS(Var, n) && IS(LetStmt, (Node *)map_get(ranges, n));
  return IS(BufferLoad, n) || unknown_let ? WALK_STOP : WALK_ON;
}

static bool says_memory(Scan *s, NodeVec indices) {
  Walker w = {.enter = stop_at_memory, .context = &s->ranges, .once = true};
  for each (Node *, i, &indices)
    if (!walk(&w, without_names(s, *i))) return true;
  return false;
}

static WalkResult scan_node(Walker *w, Node *n) {
  Scan *s = w->context;
  switch (n->kind) {
  case NK_BufferLoad:
    add_indices(s, &s->reads, AS(BufferLoad, n)->buffer, AS(BufferLoad, n)->indices);
    return WALK_ON;
  case NK_BufferStore: {
    BufferStore *store = AS(BufferStore, n);
    scan(s, store->value);
    for each (Node *, i, &store->indices) scan(s, *i);
    if (store->predicate) scan(s, store->predicate);
    if (sets_scalar(s, store)) {
      Node *value = without_names(s, store->value);
      if (is_pure(s, value)) map_set(&s->scalars, store->buffer, value);
    }
    if (store->buffer == s->asked) s->by_memory |= says_memory(s, store->indices);
    add_indices(s, &s->writes, store->buffer, store->indices);
    return WALK_PRUNE;
  }
  case NK_For:
    map_set(&s->ranges, AS(For, n)->var,
            MAKE(Range, n->span, VOID_TYPE, .min = without_names(s, AS(For, n)->min),
                 .extent = without_names(s, AS(For, n)->extent)));
    return WALK_ON;
  case NK_LetStmt: {
    Node *value = without_names(s, AS(LetStmt, n)->value);
    if (is_pure(s, value)) map_set(&s->lets, AS(LetStmt, n)->var, value);
    else map_set(&s->ranges, AS(LetStmt, n)->var, n); /* moves in a way that is not known */
    return WALK_ON;
  }
  case NK_BlockRealize: scan_realize(s, AS(BlockRealize, n)); return WALK_PRUNE;
  case NK_DeclBuffer: map_set(&s->local, AS(DeclBuffer, n)->buffer, n); return WALK_ON;
  case NK_BufferRegion: s->opaque = true; return WALK_ON;
  case NK_Call:
    if (!is_intrin_call(n, "tvm_access_ptr")) return WALK_ON;
    return scan_access_pointer(s, AS(Call, n)) ? WALK_PRUNE : WALK_ON;
  case NK_Var:
    if (is_opaque(s, n)) s->opaque = true;
    return WALK_ON;
  case NK_Allocate: map_set(&s->pointers, AS(Allocate, n)->var, n); return WALK_ON;
  case NK_Buffer: return WALK_PRUNE;
  default: return WALK_ON;
  }
}

static bool scan(Scan *s, Node *n) {
  Walker w = {.enter = scan_node, .context = s, .once = true};
  return walk(&w, n);
}

/* ---- results ---- */

static Node *region_of(Scan *s, Access *a) {
  Buffer *b = AS(Buffer, a->buffer);
  NodeVec region = {0};
  for (int i = 0; i < b->shape.len; i++) {
    Node *min = i < a->lo.len ? a->lo.at[i] : NULL, *extent = b->shape.at[i];
    if (!min || !a->hi.at[i]) min = int_imm(extent->dtype, 0, b->node.span);
    else if (a->hi.at[i] == min) extent = int_imm(min->dtype, 1, min->span);
    else {
      Node *n = expr_add(expr_sub(a->hi.at[i], min), int_imm(min->dtype, 1, min->span));
      extent = arith_simplify(s->analyzer, n);
    }
    vec_push(&region, MAKE(Range, min->span, VOID_TYPE, .min = min, .extent = extent));
  }
  return MAKE(BufferRegion, b->node.span, VOID_TYPE, .buffer = a->buffer, .region = region);
}

static bool is_written(Scan *s, Node *buffer) {
  for each (Access *, a, &s->writes)
    if ((*a)->buffer == buffer) return true;
  return false;
}

static void scan_block(Scan *s, Block *b) {
  for each (Node *, a, &b->alloc_buffers) {
    map_set(&s->local, *a, *a);
    map_set(&s->pointers, AS(Buffer, *a)->data, *a);
  }
  for each (Node *, m, &b->match_buffers)
    map_set(&s->matched, AS(MatchBufferRegion, *m)->buffer, *m);
  Walker w = {.enter = note_store, .context = &s->stores, .once = true};
  walk(&w, b->body);
  if (b->init) scan(s, b->init);
  AccessVec none = {0};
  s->reads = none; /* an init only writes, as far as the outside is concerned */
  scan(s, b->body);
}

bool block_writes_by_memory(Node *block, Node *buffer) {
  Scan s = {.analyzer = arith_new(), .asked = buffer};
  scan_block(&s, AS(Block, block));
  return s.by_memory;
}

bool block_access_regions(Node *block, const Map *visible, NodeVec *reads, NodeVec *writes) {
  Block *b = AS(Block, block);
  Scan s = {.analyzer = arith_new(), .visible = visible};
  scan_block(&s, b);
  if (s.opaque) return false;
  *reads = *writes = (NodeVec){0};
  for each (Access *, a, &s.reads)
    if (!b->init || !is_written(&s, (*a)->buffer)) vec_push(reads, region_of(&s, *a));
  for each (Access *, a, &s.writes) vec_push(writes, region_of(&s, *a));
  return true;
}
