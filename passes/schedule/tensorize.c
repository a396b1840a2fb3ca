/* tensorize.c -- tensorize: a block that computes what a tensor intrinsic is described to compute
 * is replaced by the intrinsic's implementation. */
#include "passes/schedule/schedule_impl.h"

/* ---- the intrinsics ---- */

static Map intrinsics; /* interned name to TensorIntrin */

static const char *why_no_block(Node *f) {
  Node *body = AS(PrimFunc, f)->body;
  if (!IS(BlockRealize, body)) return "its body must be one block";
  for each (Node *, b, &AS(PrimFunc, f)->buffers)
    if (!*b) return "its parameters must be buffers";
  return NULL;
}

void tensor_intrin_register(const char *name, Node *description, Node *implementation,
                            bool override, Span span) {
  PrimFunc *d = AS(PrimFunc, description), *i = AS(PrimFunc, implementation);
  name = str_intern(name);
  const char *why = why_no_block(description), *part = "description";
  if (!why) why = why_no_block(implementation), part = "implementation";
  if (why) error_raisef("ValueError", span, "the %s of '%s': %s", part, name, why);
  bool alike = d->buffers.len == i->buffers.len;
  for (int k = 0; alike && k < d->buffers.len; k++) {
    Buffer *a = AS(Buffer, d->buffers.at[k]), *b = AS(Buffer, i->buffers.at[k]);
    alike = dtype_equal(a->elem, b->elem) && a->shape.len == b->shape.len;
    for (int x = 0; alike && x < a->shape.len; x++)
      alike = node_equal(a->shape.at[x], b->shape.at[x], true, NULL);
  }
  if (!alike)
    error_raisef("ValueError", span,
                 "description and implementation of '%s' must take the same buffers", name);
  if (map_has(&intrinsics, name) && !override)
    error_raisef("ValueError", span, "there is a tensor intrinsic '%s' already", name);
  map_set(&intrinsics, name,
          NEW(TensorIntrin, .name = name, .description = description,
              .implementation = implementation));
}

const TensorIntrin *tensor_intrin_find(const char *name) {
  return map_get(&intrinsics, str_intern(name));
}

static const TensorIntrin *need_intrin(ScheduleCall *c, const char *name) {
  const TensorIntrin *t = tensor_intrin_find(name);
  if (t) return t;
  StrVec names = {0};
  for (int i = 0; i < intrinsics.len; i++)
    if (intrinsics.at[i].key) vec_push(&names, (const char *)intrinsics.at[i].key);
  const char *near = str_near(name, names.at, names.len);
  schedule_fail(c, NULL, "there is no tensor intrinsic '%s'%s", name,
                near ? str_format("; did you mean '%s'?", near) : "");
}

/* ---- matching ---- */

/* A buffer of the description and what it is here: a buffer, from an offset on. */
typedef struct Operand {
  Node *described, *here;
  NodeVec offset; /* beside the dimensions of `here` */
} Operand;

typedef struct Match {
  ScheduleCall *call;
  Node *at; /* what is told if it does not match */
  Map vars; /* of the description to those here */
  Map own;  /* variables of the block that is matched: offsets may not mention them */
  VEC(Operand) operands;
  Analyzer *facts;
} Match;

static _Noreturn void differs(Match *m, Node *described, Node *here) {
  schedule_fail(m->call, m->at, "the description has '%s' where the block has '%s'",
                described ? ir_print(described, NULL) : "nothing",
                here ? ir_print(here, NULL) : "nothing");
}

static void match(Match *m, Node *d, Node *h);

static void match_all(Match *m, NodeVec d, NodeVec h, Node *of, Node *of_here) {
  if (d.len != h.len) differs(m, of, of_here);
  for (int i = 0; i < d.len; i++) match(m, d.at[i], h.at[i]);
}

static bool mentions_own(Match *m, Node *n) {
  for (int i = 0; i < m->own.len; i++)
    if (m->own.at[i].key && mentions(n, m->own.at[i].key)) return true;
  return false;
}

/* The same buffer as before, from the same offset on. Leading dimensions that the description does
 * not have stand still. */
static void match_access(Match *m, Node *described, NodeVec d, Node *here, NodeVec h, Node *of,
                         Node *of_here) {
  if (!dtype_equal(AS(Buffer, described)->elem, AS(Buffer, here)->elem) || h.len < d.len)
    differs(m, of, of_here);
  NodeVec offset = {0};
  int extra = h.len - d.len;
  for (int i = 0; i < h.len; i++) {
    Node *o = h.at[i];
    if (i >= extra)
      o = expr_sub(o, expr_cast(o->dtype, substitute(d.at[i - extra], &m->vars), o->span));
    o = arith_simplify(m->facts, o);
    if (mentions_own(m, o)) differs(m, of, of_here);
    vec_push(&offset, o);
  }
  for each (Operand, x, &m->operands) {
    if (x->described != described && x->here != here) continue;
    bool same = x->described == described && x->here == here;
    for (int i = 0; same && i < offset.len; i++)
      same = arith_can_prove_equal(m->facts, x->offset.at[i], offset.at[i]);
    if (x->described == described && !same) differs(m, of, of_here);
    if (same) return;
  }
  Operand fresh = {described, here, offset};
  vec_push(&m->operands, fresh);
}

static void pair_var(Match *m, Node *d, Node *h) {
  if (!dtype_is_int(d->dtype) || !dtype_is_int(h->dtype)) differs(m, d, h);
  map_set(&m->vars, d, h);
  map_set(&m->own, h, h);
}

static void match_loop(Match *m, For *d, For *h) {
  int64_t x, y;
  bool same = expr_is_const_int(d->extent, &x) && expr_is_const_int(h->extent, &y) && x == y &&
              expr_is_zero(d->min) && expr_is_zero(h->min);
  if (!same)
    schedule_fail(m->call, &h->node, "the loop '%s' has %s steps, but '%s' of the description %s",
                  AS(Var, h->var)->name, ir_print(h->extent, NULL), AS(Var, d->var)->name,
                  ir_print(d->extent, NULL));
  pair_var(m, d->var, h->var);
  match(m, d->body, h->body);
}

static void match_block(Match *m, BlockRealize *d, BlockRealize *h) {
  Block *a = AS(Block, d->block), *b = AS(Block, h->block);
  if (a->iter_vars.len != b->iter_vars.len)
    schedule_fail(m->call, &b->node, "the block '%s' has %d variables, but the description's %d",
                  b->name, b->iter_vars.len, a->iter_vars.len);
  for (int i = 0; i < a->iter_vars.len; i++) {
    IterVar *x = AS(IterVar, a->iter_vars.at[i]), *y = AS(IterVar, b->iter_vars.at[i]);
    if (x->iter_kind != y->iter_kind) differs(m, x->var, y->var);
    match(m, d->iter_values.at[i], h->iter_values.at[i]);
    pair_var(m, x->var, y->var);
  }
  if (!expr_is_one(d->predicate) || !expr_is_one(h->predicate))
    differs(m, d->predicate, h->predicate);
  if ((a->init != NULL) != (b->init != NULL)) differs(m, a->init, b->init);
  if (a->init) match(m, a->init, b->init);
  match(m, a->body, b->body);
}

/* Any other node: of one kind, alike in what is no child, with children that match. */
static void match_rest(Match *m, Node *d, Node *h) {
  if (IS(Var, d)) {
    if (map_get(&m->vars, d) != h) differs(m, d, h);
    return;
  }
  if (node_is_binary((NodeKind)d->kind)) {
    match(m, ((Binary *)(void *)d)->a, ((Binary *)(void *)h)->a);
    match(m, ((Binary *)(void *)d)->b, ((Binary *)(void *)h)->b);
    return;
  }
  switch (d->kind) {
  case NK_Cast: match(m, AS(Cast, d)->value, AS(Cast, h)->value); return;
  case NK_Not: match(m, AS(Not, d)->a, AS(Not, h)->a); return;
  case NK_Select:
    match(m, AS(Select, d)->cond, AS(Select, h)->cond);
    match(m, AS(Select, d)->then, AS(Select, h)->then);
    match(m, AS(Select, d)->orelse, AS(Select, h)->orelse);
    return;
  case NK_Call:
    if (AS(Call, d)->op != AS(Call, h)->op) differs(m, d, h);
    match_all(m, AS(Call, d)->args, AS(Call, h)->args, d, h);
    return;
  case NK_SeqStmt: match_all(m, AS(SeqStmt, d)->stmts, AS(SeqStmt, h)->stmts, d, h); return;
  case NK_Evaluate: match(m, AS(Evaluate, d)->value, AS(Evaluate, h)->value); return;
  case NK_IfThenElse:
    match(m, AS(IfThenElse, d)->cond, AS(IfThenElse, h)->cond);
    match(m, AS(IfThenElse, d)->then, AS(IfThenElse, h)->then);
    match(m, AS(IfThenElse, d)->orelse, AS(IfThenElse, h)->orelse);
    return;
  default:
    if (!node_equal(d, h, false, NULL)) differs(m, d, h);
  }
}

static void match(Match *m, Node *d, Node *h) {
  if (!d && !h) return;
  bool alike =
      d && h && d->kind == h->kind &&
      (dtype_equal(d->dtype, h->dtype) || (dtype_is_int(d->dtype) && dtype_is_int(h->dtype)));
  if (!alike) differs(m, d, h);
  switch (d->kind) {
  case NK_For: match_loop(m, AS(For, d), AS(For, h)); return;
  case NK_BlockRealize: match_block(m, AS(BlockRealize, d), AS(BlockRealize, h)); return;
  case NK_BufferLoad: {
    BufferLoad *a = AS(BufferLoad, d), *b = AS(BufferLoad, h);
    match_access(m, a->buffer, a->indices, b->buffer, b->indices, d, h);
    return;
  }
  case NK_BufferStore: {
    BufferStore *a = AS(BufferStore, d), *b = AS(BufferStore, h);
    match(m, a->value, b->value);
    match_access(m, a->buffer, a->indices, b->buffer, b->indices, d, h);
    return;
  }
  default: match_rest(m, d, h);
  }
}

/* ---- putting the implementation there ---- */

static Node *source_region(ScheduleCall *c, const Operand *x) {
  NodeVec dims = {0}, shape = AS(Buffer, x->described)->shape;
  int extra = x->offset.len - shape.len;
  for (int i = 0; i < x->offset.len; i++) {
    Node *min = x->offset.at[i];
    Node *extent = i < extra ? int_imm(min->dtype, 1, c->span)
                             : expr_cast(min->dtype, shape.at[i - extra], c->span);
    vec_push(&dims, MAKE(Range, c->span, VOID_TYPE, .min = min, .extent = extent));
  }
  return MAKE(BufferRegion, c->span, VOID_TYPE, .buffer = x->here, .region = dims);
}

static Node *implemented(Match *m, const TensorIntrin *t, Block *tile) {
  ScheduleCall *c = m->call;
  PrimFunc *f = AS(PrimFunc, copy_with_fresh_vars(t->implementation));
  Block *root = AS(Block, AS(BlockRealize, f->body)->block);
  Block copy = *tile;
  copy.body = root->body;
  copy.alloc_buffers = root->alloc_buffers;
  copy.match_buffers = (NodeVec){0};
  for (int i = 0; i < f->buffers.len; i++) {
    Node *described = AS(PrimFunc, t->description)->buffers.at[i];
    const Operand *operand = NULL;
    for each (Operand, x, &m->operands)
      if (x->described == described) operand = x;
    if (!operand)
      schedule_fail(c, &tile->node, "the description of '%s' does not use its parameter '%s'",
                    t->name, AS(Buffer, described)->name);
    vec_push(&copy.match_buffers,
             MAKE(MatchBufferRegion, c->span, VOID_TYPE, .source = source_region(c, operand),
                  .buffer = f->buffers.at[i]));
  }
  return gc_copy(&copy, sizeof copy);
}

void primitive_tensorize(ScheduleCall *c) {
  const TensorIntrin *t = need_intrin(c, text_arg(c, 1, "tensor_intrin"));
  const char *func;
  Node *tile;
  if (is_block_arg(c, 0)) {
    BlockRef *ref = block_arg(c, 0);
    func = ref->func;
    tile = ref->node;
  } else {
    Place p = loop_arg(c, 0);
    func = p.func;
    tile = blockize_loop(c, &p);
  }
  Place at = place_of(c, func, tile);
  Match m = {.call = c, .at = tile, .facts = facts_at(&at)};
  Block *described = AS(Block, AS(BlockRealize, AS(PrimFunc, t->description)->body)->block);
  match(&m, described->body, AS(Block, tile)->body);
  Node *new = implemented(&m, t, AS(Block, tile));
  schedule_renew(c, tile, new);
  schedule_replace(c, func, tile, new);
}
