/* kernel_copies.c -- kernels that only copy: what reshape, split, slices along the outer axis and
 * concat along it come down to.
 *
 * Proved on the tensor program, whatever operator it came from: its loops visit each element of the
 * output once, and each store takes an element whose place in its buffer, in row-major order, is
 * that of the stored one plus something that no loop changes. */
#include "lower/memory/memory.h"
#include "ir/arith/iter_map.h"

/* ---- the form of a nest ---- */

typedef struct Nest {
  Node *store;  /* its one statement */
  NodeVec vars; /* block variables, in the order of the loops */
  Map ranges;   /* of them: Var to Range */
} Nest;

static Node *without_root(Node *body) {
  while (IS(BlockRealize, body)) {
    Block *b = AS(Block, AS(BlockRealize, body)->block);
    if (b->iter_vars.len || b->match_buffers.len || b->init) break;
    body = b->body;
  }
  return body;
}

/* Loops from 0 around one spatial block whose variables are these loops one by one. */
static bool nest_of(Node *n, Nest *out) {
  Map loops = {0};
  *out = (Nest){0};
  for (; IS(For, n); n = AS(For, n)->body) {
    For *f = AS(For, n);
    if (!expr_is_zero(f->min)) return false;
    map_set(&loops, f->var, f->extent);
  }
  if (!IS(BlockRealize, n)) return false;
  BlockRealize *r = AS(BlockRealize, n);
  Block *b = AS(Block, r->block);
  int64_t always = 0;
  if (b->init || b->match_buffers.len || b->alloc_buffers.len) return false;
  if (!expr_is_const_int(r->predicate, &always) || !always) return false;
  for (int i = 0; i < b->iter_vars.len; i++) {
    IterVar *v = AS(IterVar, b->iter_vars.at[i]);
    Node *loop = r->iter_values.at[i];
    if (v->iter_kind != ITER_SPATIAL || !IS(Var, loop) || !map_has(&loops, loop)) return false;
    map_remove(&loops, loop);
    vec_push(&out->vars, v->var);
    map_set(&out->ranges, v->var, v->dom);
  }
  out->store = b->body;
  return loops.live == 0 && IS(BufferStore, b->body);
}

/* Does the nest store each element of its buffer once: at its own variables, over the whole shape?
 */
static bool covers_buffer(const Nest *nest, Analyzer *a) {
  BufferStore *s = AS(BufferStore, nest->store);
  Buffer *b = AS(Buffer, s->buffer);
  if (b->strides.len || s->predicate || nest->vars.len != s->indices.len) return false;
  Map seen = {0};
  for (int i = 0; i < s->indices.len; i++) {
    Node *index = s->indices.at[i], *range = map_get(&nest->ranges, index);
    if (!range || map_has(&seen, index)) return false;
    map_set(&seen, index, index);
    if (!arith_can_prove_equal(a, AS(Range, range)->extent, b->shape.at[i])) return false;
  }
  return true;
}

/* In the dtype of the indices: casts would hide what cancels. */
static Node *flat_index(Buffer *b, NodeVec indices) {
  DataType t = indices.len ? indices.at[0]->dtype : INT64;
  Node *at = int_imm(t, 0, b->node.span);
  for (int i = 0; i < indices.len; i++) at = expr_add(expr_mul(at, b->shape.at[i]), indices.at[i]);
  return at;
}

static Node *count_of(Buffer *b) {
  Node *n = int_imm(INT64, 1, b->node.span);
  for each (Node *, d, &b->shape) n = expr_mul(n, expr_cast(INT64, *d, b->node.span));
  return n;
}

/* ---- copies ---- */

typedef struct Copies {
  PrimFunc *f;
  Analyzer *arith;
  const Nest *nest;
  KernelParts *parts;
} Copies;

/* What a loop changes, and what only the kernel knows. */
static WalkResult stop_at_unknown(Walker *w, Node *n) {
  bool moves = IS(Var, n) && map_has(&((const Nest *)w->context)->ranges, n);
  return moves || IS(BufferLoad, n) || IS(Call, n) ? WALK_STOP : WALK_ON;
}

static bool moves(const Copies *c, Node *shift) {
  Walker w = {.enter = stop_at_unknown, .context = (void *)(uintptr_t)c->nest};
  return !walk(&w, shift);
}

static int param_of(PrimFunc *f, Node *buffer) {
  for (int i = 0; i < f->params.len; i++)
    if (f->buffers.at[i] == buffer) return i;
  return -1;
}

/* One source: how far its element stands behind (or before) the stored one must not depend on the
 * loops. The first source is read from `from` on; several cover the output one behind the other. */
static bool add_source(Copies *c, Node *value) {
  if (!IS(BufferLoad, value) || AS(BufferLoad, value)->predicate) return false;
  BufferLoad *l = AS(BufferLoad, value);
  BufferStore *s = AS(BufferStore, c->nest->store);
  Buffer *in = AS(Buffer, l->buffer), *out = AS(Buffer, s->buffer);
  KernelPart part = {.param = param_of(c->f, l->buffer), .count = count_of(in)};
  if (part.param < 0 || in->strides.len || !dtype_equal(in->elem, out->elem)) return false;
  for each (KernelPart, p, c->parts)
    if (p->param == part.param) return false;
  Node *read = flat_index(in, l->indices), *written = flat_index(out, s->indices);
  Node *shift = arith_simplify(c->arith, expr_sub(read, written));
  if (moves(c, shift)) { /* digits of a place make it together; bounds would take them apart */
    read = iter_simplify(read, &c->nest->ranges, arith_of_function(&c->f->node));
    shift = arith_simplify(c->arith, expr_sub(read, written));
  }
  if (moves(c, shift)) return false;
  shift = expr_cast(INT64, shift, shift->span);
  part.from = shift;
  part.to = expr_sub(int_imm(INT64, 0, shift->span), shift);
  vec_push(c->parts, part);
  return true;
}

static bool add_sources(Copies *c, Node *value) {
  Call *choice = is_intrin_call(value, "if_then_else") ? AS(Call, value) : NULL;
  if (!choice) return add_source(c, value);
  return add_sources(c, choice->args.at[1]) && add_sources(c, choice->args.at[2]);
}

/* The nest that writes the buffer, if it alone does and nothing reads it. */
static bool only_nest(PrimFunc *f, Node *buffer, Nest *out) {
  Node *body = without_root(f->body);
  NodeVec nests = IS(SeqStmt, body) ? AS(SeqStmt, body)->stmts : NODES(body);
  bool found = false;
  for each (Node *, n, &nests) {
    Nest nest;
    if (!nest_of(*n, &nest)) return false;
    if (AS(BufferStore, nest.store)->buffer != buffer) continue;
    if (found) return false;
    found = true;
    *out = nest;
  }
  return found;
}

/* Several sources must cover the output without gap or overlap: as no source is read outside of
 * itself, what is read of each is all of it. */
static bool parts_tile(Analyzer *a, KernelParts *parts, Node *count) {
  Node *end = int_imm(INT64, 0, count->span);
  for each (KernelPart, p, parts) {
    if (!arith_can_prove_equal(a, p->to, end)) return false;
    p->from = int_imm(INT64, 0, count->span);
    end = arith_simplify(a, expr_add(end, p->count));
  }
  return arith_can_prove_equal(a, end, count);
}

bool kernel_copies(PrimFunc *f, int out, KernelParts *parts) {
  Nest nest;
  Node *buffer = f->buffers.at[out];
  *parts = (KernelParts){0};
  if (!buffer || AS(Buffer, buffer)->elem_offset || !only_nest(f, buffer, &nest)) return false;
  Analyzer *a = arith_of_function(&f->node);
  for (int i = 0; i < nest.ranges.len; i++) {
    Range *r = AS(Range, nest.ranges.at[i].value);
    arith_bind_range(a, (Node *)(uintptr_t)nest.ranges.at[i].key, r->min, r->extent);
  }
  Copies c = {f, a, &nest, parts};
  Node *count = count_of(AS(Buffer, buffer));
  if (!covers_buffer(&nest, a) || !add_sources(&c, AS(BufferStore, nest.store)->value))
    return false;
  if (parts->len > 1) return parts_tile(a, parts, count);
  parts->at[0].to = int_imm(INT64, 0, count->span);
  parts->at[0].count = count;
  return true;
}

/* ---- in place ---- */

typedef struct InPlace {
  Node *in, *out;
  NodeVec indices; /* of the nest's store */
  PrimFunc *f;
  bool reads_in;
} InPlace;

static bool same_indices(NodeVec a, NodeVec b) {
  if (a.len != b.len) return false;
  for (int i = 0; i < a.len; i++)
    if (a.at[i] != b.at[i]) return false;
  return true;
}

/* Every load of the buffer to be overwritten, and of what the program keeps in between, must be of
 * the element that the nest is at: so it stays true however the nests are merged. */
static WalkResult check_load(Walker *w, Node *n) {
  InPlace *p = w->context;
  if (IS(Call, n) && expr_effect(n) == EFFECT_STATE) return WALK_STOP;
  if (n == AS(Buffer, p->in)->data || n == AS(Buffer, p->out)->data) return WALK_STOP;
  if (!IS(BufferLoad, n)) return WALK_ON;
  BufferLoad *l = AS(BufferLoad, n);
  p->reads_in |= l->buffer == p->in;
  bool own = param_of(p->f, l->buffer) < 0 || l->buffer == p->in || l->buffer == p->out;
  return own && !same_indices(l->indices, p->indices) ? WALK_STOP : WALK_ON;
}

static bool same_form(Analyzer *a, Buffer *in, Buffer *out) {
  if (!dtype_equal(in->elem, out->elem) || in->shape.len != out->shape.len) return false;
  if (in->strides.len || out->strides.len || in->elem_offset || out->elem_offset) return false;
  for (int i = 0; i < in->shape.len; i++)
    if (!arith_can_prove_equal(a, in->shape.at[i], out->shape.at[i])) return false;
  return true;
}

bool kernel_writes_in_place(PrimFunc *f, int in, int out) {
  if (in == out || !f->buffers.at[in] || !f->buffers.at[out]) return false;
  InPlace p = {.in = f->buffers.at[in], .out = f->buffers.at[out], .f = f};
  Analyzer *a = arith_of_function(&f->node);
  if (!same_form(a, AS(Buffer, p.in), AS(Buffer, p.out))) return false;
  Node *body = without_root(f->body);
  NodeVec nests = IS(SeqStmt, body) ? AS(SeqStmt, body)->stmts : NODES(body);
  bool written = false;
  for each (Node *, n, &nests) {
    Nest nest;
    if (!nest_of(*n, &nest) || !covers_buffer(&nest, a)) return false;
    BufferStore *s = AS(BufferStore, nest.store);
    if (s->buffer == p.in) return false;
    p.indices = s->indices;
    p.reads_in = false;
    Walker w = {.enter = check_load, .context = &p};
    if (!walk(&w, s->value) || (written && p.reads_in)) return false;
    written |= s->buffer == p.out;
  }
  return written;
}

Node *kernel_in_place(PrimFunc *f, int in, int out) {
  PrimFunc copy = *f;
  Buffer *kept = AS(Buffer, f->buffers.at[in]), *gone = AS(Buffer, f->buffers.at[out]);
  Map same = {0};
  map_set(&same, gone, kept);
  map_set(&same, gone->data, kept->data);
  NodeVec params = {0}, buffers = {0};
  for (int i = 0; i < f->params.len; i++) {
    if (i == out) continue;
    vec_push(&params, f->params.at[i]);
    vec_push(&buffers, f->buffers.at[i]);
  }
  copy.params = params;
  copy.buffers = buffers;
  copy.body = substitute(f->body, &same);
  copy.attrs = dict_with(f->attrs, "global_symbol", NULL);
  copy.sinfo = NULL;
  return copy_with_fresh_vars(gc_copy(&copy, sizeof copy));
}

/* ---- calls ---- */

static Node *dim_of_operand(void *context, int param, int axis) {
  NodeVec *args = context, dims;
  bool known = sinfo_tensor_shape(sinfo_of(args->at[param]), &dims);
  REQUIRE(known && axis < dims.len, "a known shape");
  return dims.at[axis];
}

bool kernel_call_dims(PrimFunc *f, NodeVec args, Map *bound) {
  NodeVec dims;
  for (int i = 0; i < f->params.len; i++)
    if (f->buffers.at[i] && (i >= args.len || !sinfo_tensor_shape(sinfo_of(args.at[i]), &dims) ||
                             dims.len != AS(Buffer, f->buffers.at[i])->shape.len))
      return false;
  for (int i = 0; i < f->params.len && i < args.len; i++)
    if (!f->buffers.at[i] && IS(PrimValue, args.at[i]))
      map_set(bound, f->params.at[i], AS(PrimValue, args.at[i])->value);
  kernel_bind_dims(f, dim_of_operand, &args, bound);
  return true;
}
