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

void (*tensor_intrin_library)(void);

static void load_library(void) {
  void (*load)(void) = tensor_intrin_library;
  tensor_intrin_library = NULL; /* what it registers looks for names too */
  if (load) load();
}

const TensorIntrin *tensor_intrin_find(const char *name) {
  if (!map_has(&intrinsics, str_intern(name))) load_library();
  return map_get(&intrinsics, str_intern(name));
}

StrVec tensor_intrin_names(void) {
  load_library();
  StrVec names = {0};
  for (int i = 0; i < intrinsics.len; i++)
    if (intrinsics.at[i].key) vec_push(&names, (const char *)intrinsics.at[i].key);
  return names;
}

static const TensorIntrin *need_intrin(ScheduleCall *c, const char *name) {
  const TensorIntrin *t = tensor_intrin_find(name);
  if (t) return t;
  StrVec names = tensor_intrin_names();
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
  Map vars; /* of the description to those here */
  Map own;  /* variables of the block that is matched: offsets may not mention them */
  VEC(Operand) operands;
  Analyzer *facts;
  bool of_indices; /* whose integers may be of any width */
  const char *why; /* the first difference */
  Node *at;        /* what is told of it: a statement */
} Match;

/* Notes a difference, if it is the first: false. */
static bool differs(Match *m, const char *why) {
  if (!m->why) m->why = why;
  return false;
}

static bool unlike(Match *m, Node *described, Node *here) {
  return differs(m, str_format("the description has '%s' where the block has '%s'",
                               described ? ir_print(described, NULL) : "nothing",
                               here ? ir_print(here, NULL) : "nothing"));
}

static bool match(Match *m, Node *d, Node *h);

static bool match_all(Match *m, NodeVec d, NodeVec h, Node *of, Node *of_here) {
  if (d.len != h.len) return unlike(m, of, of_here);
  for (int i = 0; i < d.len; i++)
    if (!match(m, d.at[i], h.at[i])) return false;
  return true;
}

static bool mentions_own(Match *m, Node *n) {
  for (int i = 0; i < m->own.len; i++)
    if (m->own.at[i].key && node_mentions(n, m->own.at[i].key)) return true;
  return false;
}

/* "global" of a description is any memory. */
static bool match_buffer(Match *m, Buffer *d, Buffer *h) {
  const char *names = str_format("of the description where '%s' of the block", h->name);
  if (!dtype_equal(d->elem, h->elem))
    return differs(m, str_format("'%s' %s is %s: it is %s", d->name, names, dtype_text(h->elem),
                                 dtype_text(d->elem)));
  if (h->shape.len < d->shape.len)
    return differs(m, str_format("'%s' %s has %d dimensions: it has %d", d->name, names,
                                 h->shape.len, d->shape.len));
  const char *scope = buffer_scope(&d->node), *scope_here = buffer_scope(&h->node);
  if (str_same(scope, "global") || str_same(scope, scope_here)) return true;
  return differs(m, str_format("'%s' %s is in %s memory: it is in %s memory", d->name, names,
                               scope_here, scope));
}

/* An index of the description in variables of the block, computed in the block's dtype. */
static Node *index_here(const Match *m, Node *n, DataType t) {
  Binary *both = node_is_binary(n->kind) ? (Binary *)(void *)n : NULL;
  if (both && dtype_is_int(n->dtype))
    return expr_binary(n->kind, index_here(m, both->a, t), index_here(m, both->b, t), n->span);
  return expr_cast(t, substitute(n, &m->vars), n->span);
}

/* The same buffer as before, from the same offset on. Leading dimensions that the description does
 * not have stand still. */
static bool match_access(Match *m, Node *described, NodeVec d, Node *here, NodeVec h, Node *of,
                         Node *of_here) {
  if (!match_buffer(m, AS(Buffer, described), AS(Buffer, here))) return false;
  if (h.len < d.len) return unlike(m, of, of_here);
  NodeVec offset = {0};
  int extra = h.len - d.len;
  for (int i = 0; i < h.len; i++) {
    Node *o = h.at[i];
    if (i >= extra) o = expr_sub(o, index_here(m, d.at[i - extra], o->dtype));
    o = arith_simplify(m->facts, o);
    if (mentions_own(m, o)) return unlike(m, of, of_here);
    vec_push(&offset, o);
  }
  for each (Operand, x, &m->operands) {
    if (x->described != described && x->here != here) continue;
    bool same = x->described == described && x->here == here;
    for (int i = 0; same && i < offset.len; i++)
      same = arith_can_prove_equal(m->facts, x->offset.at[i], offset.at[i]);
    if (x->described == described && !same) return unlike(m, of, of_here);
    if (same) return true;
  }
  Operand fresh = {described, here, offset};
  vec_push(&m->operands, fresh);
  return true;
}

static bool pair_var(Match *m, Node *d, Node *h) {
  if (!dtype_is_int(d->dtype) || !dtype_is_int(h->dtype)) return unlike(m, d, h);
  map_set(&m->vars, d, h);
  map_set(&m->own, h, h);
  return true;
}

static bool match_loop(Match *m, For *d, For *h) {
  int64_t x, y;
  bool same = expr_is_const_int(d->extent, &x) && expr_is_const_int(h->extent, &y) && x == y &&
              expr_is_zero(d->min) && expr_is_zero(h->min);
  if (!same) {
    m->at = &h->node;
    return differs(m, str_format("the loop '%s' has %s steps, but '%s' of the description %s",
                                 AS(Var, h->var)->name, ir_print(h->extent, NULL),
                                 AS(Var, d->var)->name, ir_print(d->extent, NULL)));
  }
  return pair_var(m, d->var, h->var) && match(m, d->body, h->body);
}

static bool match_init(Match *m, Block *d, Block *h) {
  if (!d->init == !h->init) return !d->init || match(m, d->init, h->init);
  return differs(m, d->init ? "the description has an init, and the block has none"
                            : "the block has an init, and the description has none: take it out "
                              "with decompose_reduction");
}

static bool match_iter(Match *m, IterVar *d, IterVar *h, Node *value, Node *value_here) {
  static const char *const kinds[ITER_KINDS] = {"spatial", "of threads", "reduce", "scan",
                                                "opaque"};
  if (d->iter_kind == h->iter_kind) {
    m->of_indices = true;
    bool same = match(m, value, value_here);
    m->of_indices = false;
    Range *dom = AS(Range, h->dom);
    arith_bind_range(m->facts, h->var, dom->min, dom->extent);
    return same && pair_var(m, d->var, h->var);
  }
  return differs(m, str_format("'%s' of the block is %s, but '%s' of the description is %s",
                               AS(Var, h->var)->name, kinds[h->iter_kind], AS(Var, d->var)->name,
                               kinds[d->iter_kind]));
}

static bool match_block(Match *m, BlockRealize *d, BlockRealize *h) {
  Block *a = AS(Block, d->block), *b = AS(Block, h->block);
  m->at = &b->node;
  if (a->iter_vars.len != b->iter_vars.len)
    return differs(m, str_format("the block '%s' has %d variables, but the description's %d",
                                 b->name, b->iter_vars.len, a->iter_vars.len));
  for (int i = 0; i < a->iter_vars.len; i++)
    if (!match_iter(m, AS(IterVar, a->iter_vars.at[i]), AS(IterVar, b->iter_vars.at[i]),
                    d->iter_values.at[i], h->iter_values.at[i]))
      return false;
  if (!expr_is_one(d->predicate) || !expr_is_one(h->predicate))
    return unlike(m, d->predicate, h->predicate);
  return match_init(m, a, b) && match(m, a->body, b->body);
}

static bool match_var(Match *m, Node *d, Node *h) {
  Node *paired = map_get(&m->vars, d);
  if (paired == h) return true;
  if (!paired) return unlike(m, d, h);
  return differs(m, str_format("'%s' of the description is '%s' of the block, which has '%s' there",
                               AS(Var, d)->name, AS(Var, paired)->name, AS(Var, h)->name));
}

/* In the order that is written or, if the operator commutes, in the other one. */
static bool match_binary(Match *m, NodeKind kind, Binary *d, Binary *h) {
  int operands = m->operands.len;
  const char *before = m->why;
  if (match(m, d->a, h->a) && match(m, d->b, h->b)) return true;
  bool commutes = kind == NK_Add || kind == NK_Mul || kind == NK_Min || kind == NK_Max ||
                  kind == NK_EQ || kind == NK_NE || kind == NK_And || kind == NK_Or;
  if (!commutes) return false;
  m->operands.len = operands;
  if (!match(m, d->a, h->b) || !match(m, d->b, h->a)) return false;
  m->why = before;
  return true;
}

/* Any other node: of one kind, alike in what is no child, with children that match. */
static bool match_rest(Match *m, Node *d, Node *h) {
  if (IS(Var, d)) return match_var(m, d, h);
  if (node_is_binary((NodeKind)d->kind))
    return match_binary(m, (NodeKind)d->kind, (Binary *)(void *)d, (Binary *)(void *)h);
  switch (d->kind) {
  case NK_Cast: return match(m, AS(Cast, d)->value, AS(Cast, h)->value);
  case NK_Not: return match(m, AS(Not, d)->a, AS(Not, h)->a);
  case NK_Select:
    return match(m, AS(Select, d)->cond, AS(Select, h)->cond) &&
           match(m, AS(Select, d)->then, AS(Select, h)->then) &&
           match(m, AS(Select, d)->orelse, AS(Select, h)->orelse);
  case NK_Call:
    if (AS(Call, d)->op != AS(Call, h)->op) return unlike(m, d, h);
    return match_all(m, AS(Call, d)->args, AS(Call, h)->args, d, h);
  case NK_SeqStmt: return match_all(m, AS(SeqStmt, d)->stmts, AS(SeqStmt, h)->stmts, d, h);
  case NK_Evaluate: return match(m, AS(Evaluate, d)->value, AS(Evaluate, h)->value);
  case NK_IfThenElse:
    return match(m, AS(IfThenElse, d)->cond, AS(IfThenElse, h)->cond) &&
           match(m, AS(IfThenElse, d)->then, AS(IfThenElse, h)->then) &&
           match(m, AS(IfThenElse, d)->orelse, AS(IfThenElse, h)->orelse);
  default: return node_equal(d, h, false, NULL) || unlike(m, d, h);
  }
}

static bool match(Match *m, Node *d, Node *h) {
  if (!d && !h) return true;
  if (!d || !h || d->kind != h->kind) return unlike(m, d, h);
  switch (d->kind) {
  case NK_For: return match_loop(m, AS(For, d), AS(For, h));
  case NK_BlockRealize: return match_block(m, AS(BlockRealize, d), AS(BlockRealize, h));
  case NK_BufferLoad: {
    BufferLoad *a = AS(BufferLoad, d), *b = AS(BufferLoad, h);
    return match_access(m, a->buffer, a->indices, b->buffer, b->indices, d, h);
  }
  case NK_BufferStore: { /* what is stored to tells most of a difference */
    BufferStore *a = AS(BufferStore, d), *b = AS(BufferStore, h);
    return match_access(m, a->buffer, a->indices, b->buffer, b->indices, d, h) &&
           match(m, a->value, b->value);
  }
  default: {
    bool both_ints = dtype_is_int(d->dtype) && dtype_is_int(h->dtype);
    bool alike = dtype_equal(d->dtype, h->dtype) || (m->of_indices && both_ints);
    return alike ? match_rest(m, d, h) : unlike(m, d, h);
  }
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

static Node *stride_of(Buffer *b, int axis) {
  if (b->strides.len) return b->strides.at[axis];
  Node *stride = int_imm(INT32, 1, b->node.span);
  for (int i = axis + 1; i < b->shape.len; i++) stride = expr_mul(stride, b->shape.at[i]);
  return stride;
}

/* Stops at an access to the buffer w->context by a vector of more than a row. */
static WalkResult find_rows(Walker *w, Node *n) {
  bool is_load = IS(BufferLoad, n);
  if (!is_load && !IS(BufferStore, n)) return WALK_ON;
  Node *buffer = is_load ? AS(BufferLoad, n)->buffer : AS(BufferStore, n)->buffer;
  NodeVec indices = is_load ? AS(BufferLoad, n)->indices : AS(BufferStore, n)->indices;
  int64_t length;
  if (buffer != w->context || !indices.len) return WALK_ON;
  bool is_known = expr_is_const_int(vec_last(&AS(Buffer, buffer)->shape), &length);
  return is_known && vec_last(&indices)->dtype.lanes > length ? WALK_STOP : WALK_ON;
}

/* Where a buffer of the implementation has strides that are no variables, or vectors of several
 * rows, elements must lie so far apart here too. */
static void need_strides(ScheduleCall *c, const Match *m, Buffer *b, Buffer *here, Node *tile) {
  int extra = here->shape.len - b->shape.len;
  for (int i = 0; i < b->shape.len; i++) {
    if (b->strides.len && IS(Var, b->strides.at[i])) continue;
    if (expr_is_one(b->shape.at[i])) continue;
    Node *wanted = stride_of(b, i), *found = stride_of(here, i + extra);
    if (!arith_can_prove_equal(m->facts, expr_cast(found->dtype, wanted, c->span), found))
      schedule_fail(c, tile,
                    "the implementation takes steps of %s elements in dimension %d of '%s', but in "
                    "'%s' they are %s",
                    ir_print(wanted, NULL), i, b->name, here->name,
                    ir_print(arith_simplify(m->facts, found), NULL));
  }
}

static const Operand *operand_of(const Match *m, const Node *described) {
  for each (Operand, x, &m->operands)
    if (x->described == described) return x;
  return NULL;
}

static Node *implemented(ScheduleCall *c, const Match *m, const TensorIntrin *t, Block *tile) {
  PrimFunc *f = AS(PrimFunc, copy_with_fresh_vars(t->implementation));
  Block *root = AS(Block, AS(BlockRealize, f->body)->block);
  Block copy = *tile;
  copy.body = root->body;
  copy.alloc_buffers = root->alloc_buffers;
  copy.match_buffers = (NodeVec){0};
  for (int i = 0; i < f->buffers.len; i++) {
    Node *described = AS(PrimFunc, t->description)->buffers.at[i];
    const Operand *operand = operand_of(m, described);
    if (!operand)
      schedule_fail(c, &tile->node, "the description of '%s' does not use its parameter '%s'",
                    t->name, AS(Buffer, described)->name);
    Buffer *b = AS(Buffer, f->buffers.at[i]);
    Walker rows = {.enter = find_rows, .context = b};
    if (b->strides.len || !walk(&rows, root->body))
      need_strides(c, m, b, AS(Buffer, operand->here), &tile->node);
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
    tile = blockize_loop(c, &p, flag_arg(c, 2));
  }
  Place at = place_of(c, func, tile);
  Match m = {.at = tile, .facts = facts_at(&at)};
  Block *described = AS(Block, AS(BlockRealize, AS(PrimFunc, t->description)->body)->block);
  if (!match(&m, described->body, AS(Block, tile)->body)) schedule_fail(c, m.at, "%s", m.why);
  Node *new = implemented(c, &m, t, AS(Block, tile));
  schedule_renew(c, tile, new);
  schedule_replace(c, func, tile, new);
}
