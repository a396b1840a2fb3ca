/* lower_auto_copy.c -- copies that blocks with the annotation "auto_copy" hold are shared out to
 * the threads of the kernel.
 *
 * In:  opaque blocks that hold loops around one store, or stand in such loops (after
 *      LowerMatchBuffer; TVM runs it before). Without the pass each thread that comes to such a
 *      block does the whole copy.
 * Out: each thread copies a part: neighbours in global memory go to neighbouring threads,
 *      "vector_bytes" at a time; with "local_stage" all of its part goes to registers first, so
 * that the loads do not wait for the stores. Copies between memory and matrices of wmma are done by
 *      the instructions for them (copy_matrices.c). These annotations go.
 * Not: which barriers that takes: ThreadSync. "double_buffer_scope" stays: InjectSoftwarePipeline
 *      sees by itself how many versions of a buffer it needs.
 *
 * A copy is shared out over the axes of threadIdx by which it does not differ, so that a tile of
 * each warp is brought by the threads of that warp. It stays as it is, which is right for whatever
 * it is, where threads have nothing to share: they hold the memory for themselves, or do not all
 * come there; where elements are written twice, or are global and touched by other statements, too,
 * for which no barrier waits; and outside of kernels. */
#include "ir/arith/iter_map.h"
#include "lower/device/wmma.h"
#include "lower/tensor/auto_copy.h"
#include "passes/tensor/tensor.h"

#define AUTO_COPY    "auto_copy"
#define VECTOR_BYTES "vector_bytes"
#define LOCAL_STAGE  "local_stage"
#define WARP_WIDE    "warp_execution"

enum { AXES = 3, ALL = (1 << AXES) - 1, WARP = 32, FIRST_THREAD = 3 /* launch_axis of .x */ };

static const char *const tags[AXES] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};

typedef struct AutoCopy {
  Node *body;            /* of the function */
  Map fragments;         /* as wmma_fragments gives them */
  Map differs;           /* Var to a bit for each axis that its value may differ by */
  unsigned around;       /* the same of loops and conditions around */
  NodeVec outer;         /* For: the loops around, in the kernel */
  bool in_kernel, warp;  /* "warp_execution" was asked for */
  int64_t extents[AXES]; /* of the kernel's threads; 0: there is no such axis, or it isn't known */
  bool lacks_lanes;      /* threadIdx.x is there by "warp_execution" only */
  Analyzer *facts;
} AutoCopy;

void auto_copy_refuse(const Block *b, const char *why) {
  error_raisef("LowerError", b->node.span, "block '%s': auto_copy: %s", b->name, why);
}

static bool is_set(Node *block, const char *key) {
  Node *value = IS(Block, block) ? dict_get(AS(Block, block)->annotations, key) : NULL;
  return value && !IS(None, value) && !expr_is_zero(value);
}

/* ---- indices ---- */

Node *element_offset(Node *buffer, NodeVec indices) {
  Buffer *b = AS(Buffer, buffer);
  Node *offset = int_imm(INT32, 0, buffer->span);
  for (int i = 0; i < indices.len; i++)
    offset = b->strides.len ? expr_add(offset, expr_mul(indices.at[i], b->strides.at[i]))
                            : expr_add(expr_mul(offset, b->shape.at[i]), indices.at[i]);
  return b->elem_offset ? expr_add(b->elem_offset, offset) : offset;
}

Node *step_of(Analyzer *facts, Node *index, Node *var) {
  Map map = {0};
  map_set(&map, var, expr_add(var, int_imm(var->dtype, 1, var->span)));
  index = arith_simplify(facts, index);
  Node *step = arith_simplify(facts, expr_sub(substitute(index, &map), index));
  return node_mentions(step, var) ? NULL : step;
}

/* ---- by which axes values differ ---- */

static WalkResult note_axes(Walker *w, Node *n) {
  AutoCopy *c = ((void **)w->context)[0];
  unsigned *axes = ((void **)w->context)[1];
  if (IS(Var, n)) *axes |= (unsigned)(uintptr_t)map_get(&c->differs, n);
  if (IS(BufferLoad, n)) {
    const char *scope = buffer_scope(AS(BufferLoad, n)->buffer);
    bool is_common = str_same(scope, "global") || str_begins(scope, "shared");
    if (!is_common) *axes |= ALL;
  }
  if (IS(Call, n) && (!intrin_of(AS(Call, n)->op) || expr_effect(n) == EFFECT_STATE)) *axes |= ALL;
  return IS(Buffer, n) ? WALK_PRUNE : WALK_ON;
}

static unsigned axes_of(AutoCopy *c, Node *n) {
  unsigned axes = 0;
  void *context[] = {c, &axes};
  Walker w = {.enter = note_axes, .context = context};
  if (n) walk(&w, n);
  return axes;
}

static void differ(AutoCopy *c, Node *var, unsigned axes) {
  map_set(&c->differs, var, (void *)(uintptr_t)axes);
}

static unsigned axes_of_copy(AutoCopy *c, const Copy *copy) {
  unsigned axes = axes_of(c, &copy->store->node);
  for each (Node *, x, &copy->conditions) axes |= axes_of(c, *x);
  for each (Node *, x, &copy->loops)
    axes |= axes_of(c, AS(For, *x)->min) | axes_of(c, AS(For, *x)->extent);
  return axes;
}

/* ---- what a block holds ---- */

static bool is_true(Node *n) {
  int64_t value;
  return !n || (expr_is_const_int(n, &value) && value);
}

/* Loops, conditions and blocks down to a store. False: it is something else, or bound to threads
 * already. */
static bool take_apart(Node *n, Copy *out) {
  for (;;) {
    if (IS(For, n)) {
      if (AS(For, n)->loop_kind == LOOP_THREAD) return false;
      vec_push(&out->loops, n);
      n = AS(For, n)->body;
    } else if (IS(IfThenElse, n) && !AS(IfThenElse, n)->orelse) {
      vec_push(&out->conditions, AS(IfThenElse, n)->cond);
      n = AS(IfThenElse, n)->then;
    } else if (IS(BlockRealize, n)) {
      BlockRealize *r = AS(BlockRealize, n);
      Block *b = AS(Block, r->block);
      if (b->iter_vars.len || b->init || b->match_buffers.len || b->alloc_buffers.len) return false;
      if (!is_true(r->predicate)) vec_push(&out->conditions, r->predicate);
      n = b->body;
    } else {
      if (IS(BufferStore, n)) out->store = AS(BufferStore, n);
      return out->store;
    }
  }
}

/* The block in a nest of plain loops, or NULL. */
static BlockRealize *annotated_in(Node *n) {
  while (IS(For, n) && AS(For, n)->loop_kind != LOOP_THREAD &&
         !(AS(For, n)->annotations && AS(Dict, AS(For, n)->annotations)->keys.len))
    n = AS(For, n)->body;
  return IS(BlockRealize, n) && is_set(AS(BlockRealize, n)->block, AUTO_COPY) ? AS(BlockRealize, n)
                                                                              : NULL;
}

static WalkResult find_one_more(Walker *w, Node *n) {
  int *stores = w->context;
  if (node_is_expr(n)) return WALK_PRUNE;
  *stores += IS(BufferStore, n);
  return WALK_ON;
}

/* More than one store is no copy; none is one that instructions do already. */
static void check_stores(Block *b) {
  int stores = 0;
  Walker w = {.enter = find_one_more, .context = &stores};
  walk(&w, b->body);
  if (stores > 1) auto_copy_refuse(b, "it is for a block that holds one store, in loops");
}

/* ---- may it be shared out? ---- */

typedef struct Toucher {
  Node *data;
  const Node *except; /* the copy's own store */
} Toucher;

static WalkResult find_toucher(Walker *w, Node *n) {
  Toucher *r = w->context;
  if (n == r->except) return WALK_PRUNE;
  Node *buffer = accessed_buffer(n);
  if (IS(MatchBufferRegion, n)) buffer = AS(BufferRegion, AS(MatchBufferRegion, n)->source)->buffer;
  if (buffer && AS(Buffer, buffer)->data == r->data) return WALK_STOP;
  if (IS(Call, n))
    for each (Node *, x, &AS(Call, n)->args)
      if (*x == r->data) return WALK_STOP;
  return IS(Buffer, n) ? WALK_PRUNE : WALK_ON;
}

static bool touches(Node *n, Node *data, const Node *except) {
  Toucher r = {data, except};
  Walker w = {.enter = find_toucher, .context = &r};
  return n && !walk(&w, n);
}

static bool reads_itself(const Copy *c) {
  BufferStore *s = c->store;
  Node *data = AS(Buffer, s->buffer)->data;
  bool found = touches(s->value, data, NULL) || touches(s->predicate, data, NULL);
  for each (Node *, x, &s->indices) found |= touches(*x, data, NULL);
  for each (Node *, x, &c->conditions) found |= touches(*x, data, NULL);
  for each (Node *, x, &c->loops) found |= touches(AS(For, *x)->extent, data, NULL);
  return found;
}

static Node *range_of(const For *f) {
  return MAKE(Range, f->node.span, VOID_TYPE, .min = f->min, .extent = f->extent);
}

/* Does a loop around have the copy write other elements in each step? */
static bool moves(const Copy *copy, Node *var) {
  for each (Node *, x, &copy->store->indices)
    if (node_mentions(*x, var)) return true;
  return false;
}

/* Rectangular, and no element written twice; in `others` steps of the loops around neither. */
static bool is_one_to_one(AutoCopy *c, const Copy *copy, bool others) {
  Map ranges = {0};
  for each (Node *, x, &c->outer)
    if (others && moves(copy, AS(For, *x)->var))
      map_set(&ranges, AS(For, *x)->var, range_of(AS(For, *x)));
  for each (Node *, x, &copy->loops) {
    For *f = AS(For, *x);
    if (mentions_any(f->extent, &ranges) || mentions_any(f->min, &ranges)) return false;
    map_set(&ranges, f->var, range_of(f));
    arith_bind_range(c->facts, f->var, f->min, f->extent);
  }
  for each (Node *, x, &copy->store->indices)
    if ((*x)->dtype.lanes != 1) return false;
  return iter_is_injective(copy->store->indices, &ranges, c->facts);
}

/* The axes over which the copy may be shared out, as bits. */
static unsigned free_axes(AutoCopy *c, const Copy *copy) {
  Node *buffer = copy->store->buffer;
  bool is_global = str_same(buffer_scope(buffer), "global");
  if (!c->in_kernel || c->around || !(is_global || str_begins(buffer_scope(buffer), "shared")))
    return 0;
  if (reads_itself(copy) || !is_one_to_one(c, copy, is_global)) return 0;
  if (is_global && touches(c->body, AS(Buffer, buffer)->data, &copy->store->node)) return 0;
  unsigned axes = 0, differing = axes_of_copy(c, copy);
  for (int a = 0; a < AXES; a++)
    if (c->extents[a] > 1 && !(differing & 1u << a)) axes |= 1u << a;
  return axes;
}

/* ---- sharing out ---- */

typedef struct Share {
  AutoCopy *c;
  const Copy *copy;
  unsigned axes;
  NodeVec loops; /* in the order of memory */
  int lanes;
  DataType type; /* of counting */
  Node *total;   /* vectors to be copied */
  int64_t threads;
} Share;

static WalkResult find_global(Walker *w, Node *n) {
  BufferLoad **found = w->context;
  bool is_global = IS(BufferLoad, n) && str_same(buffer_scope(AS(BufferLoad, n)->buffer), "global");
  if (!is_global) return WALK_ON;
  *found = AS(BufferLoad, n);
  return WALK_STOP;
}

/* Where the element lies of which neighbours should go to neighbouring threads: in global memory,
 * if any. */
static Node *offset_in_memory(const Copy *copy) {
  BufferStore *s = copy->store;
  BufferLoad *load = NULL;
  Walker w = {.enter = find_global, .context = &load};
  bool stores_global = str_same(buffer_scope(s->buffer), "global");
  if (!stores_global) walk(&w, s->value);
  return load ? element_offset(load->buffer, load->indices) : element_offset(s->buffer, s->indices);
}

/* The loops in the order of their steps through memory; one whose step isn't a number is taken for
 * a long one. */
static NodeVec by_steps(Share *s, Node *offset) {
  NodeVec out = {0};
  VEC(int64_t) steps = {0};
  for each (Node *, n, &s->copy->loops) {
    Node *step = step_of(s->c->facts, offset, AS(For, *n)->var);
    int64_t size = INT64_MAX;
    if (step && expr_is_const_int(step, &size) && size <= 0) size = INT64_MAX;
    int at = out.len;
    vec_push(&out, *n);
    vec_push(&steps, size);
    for (; at > 0 && steps.at[at - 1] < size; at--) {
      out.at[at] = out.at[at - 1], steps.at[at] = steps.at[at - 1];
      out.at[at - 1] = *n, steps.at[at - 1] = size;
    }
  }
  return out;
}

static int64_t asked_bytes(const Block *b) {
  Node *value = dict_get(b->annotations, VECTOR_BYTES);
  int64_t nbytes = 1;
  if (value && (!expr_is_const_int(value, &nbytes) || nbytes <= 0 || nbytes > 1 << 10))
    auto_copy_refuse(b, "\"" VECTOR_BYTES "\" must be a number of bytes from 1 to 1024");
  return nbytes;
}

static bool is_dense(const Share *s, Node *offset, Node *var) {
  Node *step = step_of(s->c->facts, offset, var);
  return step && expr_is_one(step);
}

static WalkResult find_widest(Walker *w, Node *n) {
  int *nbytes = w->context;
  DataType t = IS(BufferLoad, n) ? AS(Buffer, AS(BufferLoad, n)->buffer)->elem : BOOL;
  if (IS(BufferLoad, n) && t.lanes != 1) *nbytes = INT16_MAX; /* is a vector already */
  if (dtype_nbytes(t) > *nbytes) *nbytes = dtype_nbytes(t);
  return WALK_ON;
}

/* As many neighbours as are asked for, if the innermost loop has them side by side, both in global
 * memory and where they are stored: lanes that lie apart would be stored one by one, between which
 * no barrier can stand. */
static int lanes_of(Share *s, Node *offset) {
  DataType elem = AS(Buffer, s->copy->store->buffer)->elem;
  int64_t asked = asked_bytes(s->copy->block), extent;
  int nbytes = dtype_nbytes(elem), lanes = 1;
  if (!s->loops.len || elem.lanes != 1 || nbytes < 1) return 1;
  Walker w = {.enter = find_widest, .context = &nbytes};
  walk(&w, s->copy->store->value);
  For *inner = AS(For, s->loops.at[s->loops.len - 1]);
  if (!is_dense(s, offset, inner->var) || !expr_is_const_int(inner->extent, &extent)) return 1;
  BufferStore *store = s->copy->store;
  if (!is_dense(s, element_offset(store->buffer, store->indices), inner->var)) return 1;
  while (2 * lanes * nbytes <= asked && extent % (2 * lanes) == 0) lanes *= 2;
  return lanes;
}

static Node *number(const Share *s, int64_t n) {
  return int_imm(s->type, n, s->copy->block->node.span);
}

/* Vectors along a loop. */
static Node *count_of(const Share *s, int loop) {
  Node *extent = expr_cast(s->type, AS(For, s->loops.at[loop])->extent, s->copy->block->node.span);
  bool is_inner = loop == s->loops.len - 1;
  return is_inner ? expr_floordiv(extent, number(s, s->lanes)) : extent;
}

static void count_all(Share *s) {
  enum { SMALL = 1 << 30 };
  int64_t all = 1;
  for each (Node *, n, &s->loops) {
    int64_t most = arith_const_bound(s->c->facts, AS(For, *n)->extent).hi;
    if (most < 1) most = 1;
    all = all < SMALL && most < SMALL ? all * most : SMALL;
  }
  s->type = all < SMALL ? INT32 : INT64;
  s->total = number(s, 1);
  for (int i = 0; i < s->loops.len; i++) s->total = expr_mul(s->total, count_of(s, i));
  s->threads = 1;
  for (int a = 0; a < AXES; a++)
    if (s->axes & 1u << a) s->threads *= s->c->extents[a];
}

/* Around a part: the steps of a thread, and the threads. `at` is the vector that is copied, `step`
 * its number among those of the thread. */
typedef struct Nest {
  Node *step, *threads[AXES], *vector, *at;
} Nest;

static Nest nest_new(const Share *s) {
  Span span = s->copy->block->node.span;
  Nest n = {.step = var_new("step", s->type, span), .vector = var_new("vec", s->type, span)};
  Node *thread = number(s, 0);
  for (int a = AXES - 1; a >= 0; a--) {
    if (!(s->axes & 1u << a)) continue;
    n.threads[a] = var_new(str_format("t%c", "xyz"[a]), INT32, span);
    thread = expr_add(expr_mul(thread, number(s, s->c->extents[a])),
                      expr_cast(s->type, n.threads[a], span));
  }
  n.at = expr_add(expr_mul(n.step, number(s, s->threads)), thread);
  return n;
}

static Node *steps_of(const Share *s) {
  Node *more = expr_add(s->total, number(s, s->threads - 1));
  return arith_simplify(s->c->facts, expr_floordiv(more, number(s, s->threads)));
}

static Node *loop_new(Node *var, Node *extent, LoopKind kind, const char *tag, Node *body) {
  return MAKE(For, body->span, VOID_TYPE, .var = var, .min = int_imm(var->dtype, 0, body->span),
              .extent = extent, .loop_kind = kind, .thread_tag = tag, .body = body);
}

static Node *under(Node *cond, Node *body) {
  return MAKE(IfThenElse, body->span, VOID_TYPE, .cond = cond, .then = body);
}

/* A thread's steps. */
static Node *steps_around(const Share *s, const Nest *n, Node *body) {
  int64_t total;
  if (s->lanes > 1) body = loop_new(n->vector, number(s, s->lanes), LOOP_VECTORIZED, NULL, body);
  bool all = expr_is_const_int(s->total, &total) && total % s->threads == 0;
  if (!all) body = under(expr_binary(NK_LT, n->at, s->total, body->span), body);
  return loop_new(n->step, steps_of(s), LOOP_SERIAL, NULL, body);
}

static Node *threads_around(const Share *s, const Nest *n, Node *body) {
  for (int a = 0; a < AXES; a++)
    if (n->threads[a])
      body = loop_new(n->threads[a], int_imm(INT32, s->c->extents[a], body->span), LOOP_THREAD,
                      tags[a], body);
  return body;
}

/* The variables of the copy's loops at the vector: digits of its number, of which the first one
 * counts on. */
static Map values_at(const Share *s, const Nest *n) {
  Map out = {0};
  Node *rest = n->at;
  int first = 0;
  while (first + 1 < s->loops.len && expr_is_one(count_of(s, first))) first++;
  for (int i = s->loops.len - 1; i >= 0; i--) {
    For *f = AS(For, s->loops.at[i]);
    Node *count = count_of(s, i);
    Node *digit = i < first ? number(s, 0) : i > first ? expr_floormod(rest, count) : rest;
    if (i > first) rest = expr_floordiv(rest, count);
    if (i == s->loops.len - 1 && s->lanes > 1)
      digit = expr_add(expr_mul(digit, number(s, s->lanes)), n->vector);
    map_set(&out, f->var, expr_add(f->min, expr_cast(f->var->dtype, digit, f->node.span)));
  }
  return out;
}

/* The statement for each element that a thread has. */
static Node *for_each_element(const Share *s, const Nest *n, Node *store) {
  Map values = values_at(s, n);
  for (int i = s->copy->conditions.len - 1; i >= 0; i--)
    store = under(s->copy->conditions.at[i], store);
  return steps_around(s, n, substitute(store, &values));
}

/* All parts of a thread to registers, then to where they belong; thread by thread, so that it is
 * also right where threads run one after the other and have these registers in common. */
static Node *by_stages(const Share *s, Nest n, NodeVec *made) {
  BufferStore put = *s->copy->store;
  Span span = put.node.span;
  DataType elem = AS(Buffer, put.buffer)->elem;
  const char *name = str_format("%s_local", AS(Buffer, put.buffer)->name);
  Node *stage = buffer_new(name, elem, NODES(steps_of(s), number(s, s->lanes)), "local", span);
  NodeVec at = NODES(n.step, s->lanes == 1 ? number(s, 0) : n.vector);
  Node *fetch = for_each_element(s, &n, stmt_store(stage, at, put.value, span));
  put.value = expr_load(stage, at, span);
  Node *store = for_each_element(s, &n, gc_copy(&put, sizeof put));
  vec_push(made, stage);
  return stmt_seq(NODES(fetch, copy_with_fresh_vars(store)), span);
}

static bool wants_stage(const Share *s) {
  BufferStore *store = s->copy->store;
  BufferLoad *load = NULL;
  Walker w = {.enter = find_global, .context = &load};
  int64_t steps;
  return is_set(&s->copy->block->node, LOCAL_STAGE) && !store->predicate &&
         str_begins(buffer_scope(store->buffer), "shared") && !walk(&w, store->value) &&
         expr_is_const_int(steps_of(s), &steps);
}

static Node *share_out(AutoCopy *c, const Copy *copy, unsigned axes, NodeVec *made) {
  Share s = {.c = c, .copy = copy, .axes = axes};
  Node *offset = offset_in_memory(copy);
  s.loops = by_steps(&s, offset);
  s.lanes = lanes_of(&s, offset);
  count_all(&s);
  Nest n = nest_new(&s);
  Node *body =
      wants_stage(&s) ? by_stages(&s, n, made) : for_each_element(&s, &n, &copy->store->node);
  return threads_around(&s, &n, body);
}

/* ---- blocks ---- */

static Node *without_annotations(Node *dict) {
  static const char *const keys[] = {AUTO_COPY, VECTOR_BYTES, LOCAL_STAGE};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (dict_get(dict, keys[i])) dict = dict_with(dict, keys[i], NULL);
  return dict;
}

/* The block with another body, which stands for the loops around it, too. */
static Node *block_around(BlockRealize *r, Node *nest, Node *body, NodeVec made) {
  BlockRealize copy = *r;
  Block b = *AS(Block, r->block), whole = b;
  whole.body = nest;
  if (nest != &r->node && !block_access_regions(&whole.node, NULL, &b.reads, &b.writes))
    return NULL;
  b.body = body;
  b.annotations = without_annotations(b.annotations);
  if (made.len) b.alloc_buffers = made;
  copy.predicate = int_imm(BOOL, 1, r->node.span);
  copy.block = gc_copy(&b, sizeof b);
  return gc_copy(&copy, sizeof copy);
}

static Node *all_lanes(const AutoCopy *c, Node *body) {
  if (!c->lacks_lanes) return body;
  Node *lane = var_new("tx", INT32, body->span);
  return loop_new(lane, int_imm(INT32, WARP, body->span), LOOP_THREAD, tags[0], body);
}

/* The nest, whose loops and blocks are one copy; NULL: it is none, or stays as it is. */
static Node *lower_copy(AutoCopy *c, Node *nest, BlockRealize *r) {
  Copy copy = {.block = AS(Block, r->block)};
  NodeVec made = {0};
  if (!take_apart(nest, &copy)) return NULL;
  for each (Node *, x, &copy.loops)
    arith_bind_range(c->facts, AS(For, *x)->var, AS(For, *x)->min, AS(For, *x)->extent);
  if (copies_matrices(&copy)) {
    Node *body = all_lanes(c, copy_matrices(&copy, &c->fragments, c->facts));
    return block_around(r, nest, body, made);
  }
  unsigned axes = free_axes(c, &copy);
  return axes ? block_around(r, nest, share_out(c, &copy, axes, &made), made) : NULL;
}

/* ---- around them ---- */

static WalkResult find_threads(Walker *w, Node *n) {
  AutoCopy *c = w->context;
  if (node_is_expr(n)) return WALK_PRUNE;
  c->warp |= is_set(n, WARP_WIDE);
  bool binds = IS(For, n) && AS(For, n)->loop_kind == LOOP_THREAD;
  if (!binds && !is_launch(n)) return WALK_ON;
  int axis = launch_axis(binds ? AS(For, n)->thread_tag : launch_tag(n)) - FIRST_THREAD;
  int64_t extent = 0;
  if (axis < 0) return WALK_ON;
  expr_is_const_int(binds ? AS(For, n)->extent : AS(AttrStmt, n)->value, &extent);
  if (!c->extents[axis]) c->extents[axis] = extent > 0 ? extent : -1;
  return WALK_ON;
}

/* At the outermost loop or launch that is bound: which threads there are in it. */
static void enter_kernel(AutoCopy *c, Node *n) {
  memset(c->extents, 0, sizeof c->extents);
  Walker w = {.enter = find_threads, .context = c};
  walk(&w, n);
  c->in_kernel = true;
  c->lacks_lanes = c->warp && !c->extents[0];
  if (c->lacks_lanes) c->extents[0] = WARP;
}

static Node *in_scope(Mutator *m, Node *n, unsigned around) {
  AutoCopy *c = m->context;
  unsigned before = c->around;
  bool warp = c->warp;
  c->around |= around;
  c->warp |= is_set(n, WARP_WIDE);
  Node *out = mutate_children(m, n);
  c->around = before, c->warp = warp;
  return out;
}

static Node *in_bound(Mutator *m, Node *n, const char *tag, Node *var) {
  AutoCopy *c = m->context;
  int axis = launch_axis(tag);
  bool outermost = axis >= 0 && !c->in_kernel, warp = c->warp;
  if (outermost) enter_kernel(c, n);
  differ(c, var, axis >= FIRST_THREAD ? 1u << (axis - FIRST_THREAD) : 0);
  Node *out = in_scope(m, n, 0);
  c->in_kernel &= !outermost, c->warp = warp;
  return out;
}

static Node *in_loop(Mutator *m, For *f) {
  AutoCopy *c = m->context;
  arith_bind_range(c->facts, f->var, f->min, f->extent);
  if (f->loop_kind == LOOP_THREAD) return in_bound(m, &f->node, f->thread_tag, f->var);
  unsigned axes = axes_of(c, f->min) | axes_of(c, f->extent);
  if (f->loop_kind != LOOP_SERIAL && f->loop_kind != LOOP_UNROLLED) axes = ALL;
  differ(c, f->var, axes);
  vec_push(&c->outer, &f->node);
  Node *out = in_scope(m, &f->node, axes);
  c->outer.len--;
  return out;
}

static Node *in_realize(Mutator *m, BlockRealize *r) {
  AutoCopy *c = m->context;
  Block *b = AS(Block, r->block);
  for (int i = 0; i < b->iter_vars.len && i < r->iter_values.len; i++)
    differ(c, AS(IterVar, b->iter_vars.at[i])->var, axes_of(c, r->iter_values.at[i]));
  return in_scope(m, &r->node, axes_of(c, r->predicate));
}

static Node *in_block(Mutator *m, Node *n) {
  if (is_set(n, AUTO_COPY)) check_stores(AS(Block, n));
  n = in_scope(m, n, 0);
  if (!dict_get(AS(Block, n)->annotations, AUTO_COPY)) return n;
  Block b = *AS(Block, n);
  b.annotations = without_annotations(b.annotations);
  return gc_copy(&b, sizeof b);
}

static Node *rewrite(Mutator *m, Node *n) {
  AutoCopy *c = m->context;
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  BlockRealize *r = annotated_in(n);
  Node *done = r ? lower_copy(c, n, r) : NULL;
  if (done) return done;
  switch (n->kind) {
  case NK_For: return in_loop(m, AS(For, n));
  case NK_IfThenElse: return in_scope(m, n, axes_of(c, AS(IfThenElse, n)->cond));
  case NK_While: return in_scope(m, n, ALL);
  case NK_LetStmt:
    differ(c, AS(LetStmt, n)->var, axes_of(c, AS(LetStmt, n)->value));
    return mutate_children(m, n);
  case NK_BlockRealize: return in_realize(m, AS(BlockRealize, n));
  case NK_Block: return in_block(m, n);
  case NK_AttrStmt:
    if (is_launch(n))
      return in_bound(m, n, launch_tag(n), AS(IterVar, AS(AttrStmt, n)->subject)->var);
    return mutate_children(m, n);
  default: return mutate_children(m, n);
  }
}

static WalkResult find_annotation(Walker *w, Node *n) {
  (void)w;
  if (IS(Block, n) && dict_get(AS(Block, n)->annotations, AUTO_COPY)) return WALK_STOP;
  return node_is_expr(n) ? WALK_PRUNE : WALK_ON;
}

Node *pass_lower_auto_copy(Node *n, const PassContext *context) {
  (void)context;
  Walker finder = {.enter = find_annotation};
  Node *body = AS(PrimFunc, n)->body;
  if (walk(&finder, body)) return n;
  AutoCopy c = {.body = body, .facts = arith_of_function(n)};
  wmma_fragments(func_symbol(n) ? func_symbol(n) : "main", body, &c.fragments);
  Mutator m = {.rewrite = rewrite, .context = &c};
  return mutate_children(&m, n);
}
