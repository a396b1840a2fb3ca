/* annotate_tir_op_pattern.c -- tensor programs say how they find their elements: the attribute
 * op_pattern.
 *
 * In:  blocks as computes are written: one store at the block's own variables, or several that are
 * reduced together. Out: the pattern of op_pattern.h that holds for all blocks. What is not
 * understood, or has a schedule, is opaque. Not: a program that has the attribute keeps it. */
#include "passes/graph/op_pattern.h"
#include "passes/tensor/tensor.h"

OpPattern op_pattern_of(const Node *prim_func) {
  Node *attr = func_attr(prim_func, "op_pattern");
  int64_t value;
  bool known = attr && expr_is_const_int(attr, &value) && value >= 0 && value < PATTERN_OPAQUE;
  return known ? (OpPattern)value : PATTERN_OPAQUE;
}

static OpPattern worse(OpPattern a, OpPattern b) { return a > b ? a : b; }

/* ---- one block ---- */

typedef struct BlockPattern {
  Map spatial, reduce; /* the block's variables */
  Map unit;            /* those that take one step */
  NodeVec stores;      /* BufferStores, all at the same indices */
  NodeVec lets;        /* values that they name */
  OpPattern pattern;
  bool has_window; /* a read along a spatial and a reduction variable at once */
} BlockPattern;

static NodeVec place_of(BlockPattern *p) { return AS(BufferStore, p->stores.at[0])->indices; }

static WalkResult find_key(Walker *w, Node *n) {
  return map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

static bool mentions(Node *n, Map *keys) {
  Walker w = {.enter = find_key, .context = keys};
  return !walk(&w, n);
}

/* Do the indices name some of the variables of the store, in its order? Zeros stand for axes of
 * extent 1. */
static bool is_part_of(NodeVec load, NodeVec store) {
  int at = 0;
  for each (Node *, index, &load) {
    if (expr_is_zero(*index)) continue;
    while (at < store.len && store.at[at] != *index) at++;
    if (at++ == store.len) return false;
  }
  return true;
}

static bool is_same(BlockPattern *p, NodeVec load, NodeVec store) {
  if (load.len != store.len) return false;
  for (int i = 0; i < load.len; i++) {
    bool both_first = expr_is_zero(load.at[i]) && map_has(&p->unit, store.at[i]);
    if (!both_first && !node_equal(load.at[i], store.at[i], false, NULL)) return false;
  }
  return true;
}

static bool is_stored(BlockPattern *p, Node *buffer) {
  for each (Node *, s, &p->stores)
    if (AS(BufferStore, *s)->buffer == buffer) return true;
  return false;
}

static OpPattern pattern_of_load(BlockPattern *p, BufferLoad *load) {
  NodeVec place = place_of(p);
  bool same = is_same(p, load->indices, place);
  if (is_stored(p, load->buffer)) /* only the sum so far */
    return p->reduce.live && same ? PATTERN_ELEMENTWISE : PATTERN_OPAQUE;
  for each (Node *, index, &load->indices)
    p->has_window |= mentions(*index, &p->spatial) && mentions(*index, &p->reduce);
  if (same) return PATTERN_ELEMENTWISE;
  return is_part_of(load->indices, place) ? PATTERN_BROADCAST : PATTERN_INJECTIVE;
}

static WalkResult see_load(Walker *w, Node *n) {
  BlockPattern *p = w->context;
  if (IS(BufferLoad, n)) p->pattern = worse(p->pattern, pattern_of_load(p, AS(BufferLoad, n)));
  return WALK_ON;
}

static void see_value(BlockPattern *p, Node *value) {
  Walker w = {.enter = see_load, .context = p};
  if (expr_effect(value) == EFFECT_STATE) p->pattern = PATTERN_OPAQUE;
  else walk(&w, value);
}

/* Stores, several of them only where they are reduced together, under lets; nothing else. */
static bool find_stores(BlockPattern *p, Node *s) {
  switch (s->kind) {
  case NK_BufferStore: vec_push(&p->stores, s); return true;
  case NK_LetStmt:
    vec_push(&p->lets, AS(LetStmt, s)->value);
    return find_stores(p, AS(LetStmt, s)->body);
  case NK_SeqStmt:
    for each (Node *, x, &AS(SeqStmt, s)->stmts)
      if (!find_stores(p, *x)) return false;
    return p->reduce.live;
  default: return false;
  }
}

/* At the block's own variables, or zeros? */
static bool is_plain_store(BlockPattern *p, BufferStore *s) {
  for each (Node *, index, &s->indices)
    if (!map_has(&p->spatial, *index) && !expr_is_zero(*index)) return false;
  return !s->predicate && is_same(p, s->indices, place_of(p));
}

/* Is it a product that is added to the sum, with casts around? */
static bool adds_product(Node *value) {
  if (!IS(Add, value)) return false;
  Node *term = AS(Add, value)->b;
  while (IS(Cast, term)) term = AS(Cast, term)->value;
  return IS(Mul, term);
}

static OpPattern pattern_of_block(Block *b) {
  BlockPattern p = {.pattern = PATTERN_ELEMENTWISE};
  for each (Node *, v, &b->iter_vars) {
    IterVar *var = AS(IterVar, *v);
    if (var->iter_kind != ITER_SPATIAL && var->iter_kind != ITER_REDUCE) return PATTERN_OPAQUE;
    map_set(var->iter_kind == ITER_SPATIAL ? &p.spatial : &p.reduce, var->var, var);
    if (expr_is_one(AS(Range, var->dom)->extent)) map_set(&p.unit, var->var, var);
  }
  if (b->match_buffers.len || b->alloc_buffers.len) return PATTERN_OPAQUE;
  if (!find_stores(&p, b->body)) return PATTERN_OPAQUE;
  for each (Node *, let, &p.lets) see_value(&p, *let);
  for each (Node *, s, &p.stores) {
    if (!is_plain_store(&p, AS(BufferStore, *s))) return PATTERN_OPAQUE;
    see_value(&p, AS(BufferStore, *s)->value);
  }
  if (p.pattern == PATTERN_OPAQUE || !p.reduce.live) return p.pattern;
  bool joins = p.has_window || adds_product(AS(BufferStore, p.stores.at[0])->value);
  return joins ? PATTERN_OUT_FUSABLE : PATTERN_REDUCE;
}

/* ---- the program ---- */

typedef struct ProgramPattern {
  OpPattern pattern, last; /* of all blocks so far, of the last one */
} ProgramPattern;

/* Loops, sequences and the blocks in them; nothing else. */
static bool see_stmt(ProgramPattern *p, Node *s) {
  switch (s->kind) {
  case NK_For: return see_stmt(p, AS(For, s)->body);
  case NK_SeqStmt:
    for each (Node *, x, &AS(SeqStmt, s)->stmts)
      if (!see_stmt(p, *x)) return false;
    return true;
  case NK_BlockRealize: {
    Block *b = AS(Block, AS(BlockRealize, s)->block);
    p->last = pattern_of_block(b);
    p->pattern = worse(p->pattern, p->last);
    return p->pattern != PATTERN_OPAQUE;
  }
  default: return false;
  }
}

static OpPattern pattern_of(PrimFunc *f) {
  if (!prim_func_wants_schedule(&f->node)) return PATTERN_OPAQUE;
  for (int i = 0; i < f->params.len; i++)
    if (!f->buffers.at[i] && dtype_is_handle(f->params.at[i]->dtype)) return PATTERN_OPAQUE;
  ProgramPattern p = {PATTERN_ELEMENTWISE, PATTERN_OPAQUE};
  Block *root = IS(BlockRealize, f->body) ? AS(Block, AS(BlockRealize, f->body)->block) : NULL;
  bool is_root = root && !root->iter_vars.len && !root->match_buffers.len;
  if (!see_stmt(&p, is_root ? root->body : f->body)) return PATTERN_OPAQUE;
  /* What a reduction gave has been spread again: softmax, normalizations. */
  bool spreads = p.pattern == PATTERN_REDUCE && p.last < PATTERN_REDUCE;
  return spreads ? PATTERN_OUT_FUSABLE : p.pattern;
}

Node *pass_annotate_tir_op_pattern(Node *n, const PassContext *context) {
  (void)context;
  if (func_attr(n, "op_pattern")) return n;
  return func_with_attr(n, "op_pattern", int_imm(INT32, pattern_of(AS(PrimFunc, n)), n->span));
}
