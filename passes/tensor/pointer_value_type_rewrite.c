/* pointer_value_type_rewrite.c -- buffers that are accessed by vectors get vectors as elements.
 *
 * In:  programs without blocks, after VectorizeLoop.
 * Out: a buffer whose vectors all have the same number of lanes, begin at multiples of it and are
 *      the only thing that is stored has elements of that many lanes, `A[i * 4:i * 4 + 4]` is
 *      `A[i]`, and the pointer of an allocation points to such elements. A scalar that is loaded is
 *      a lane, which must be known, of a vector that is loaded. The form says that the vectors are
 *      aligned, which back ends that only see pointers can't find out.
 * Not: memory whose address is taken or handed on, by a pointer of another type. The parameters
 *      themselves: what a function is called with is known to its callers, of which this pass sees
 *      none. It declares a buffer of vectors at a parameter's memory instead; TVM changes the
 *      parameter. */
#include "ir/arith/arith.h"
#include "passes/tensor/tensor.h"

/* What is known of the memory behind a pointer. */
typedef struct Memory {
  DataType elem;
  int lanes;     /* of the vectors; 0: none yet */
  bool stays;    /* as it is */
  bool defined;  /* its Allocate has been passed: mentions from now on are uses */
  NodeVec reads; /* BufferLoads of scalars */
  Node *data;    /* the new pointer, or the old one of a parameter */
} Memory;

typedef struct Rewrite {
  Map memories; /* pointer Var to Memory */
  Map buffers;  /* Buffer to that of vectors */
  Analyzer *facts;
} Rewrite;

/* ---- which memory ---- */

static void add_memory(Rewrite *r, Node *data, DataType elem, bool is_param) {
  bool fits =
      elem.lanes == 1 && elem.bits >= 8 && !dtype_is_handle(elem) && elem.code != DTYPE_BOOL;
  Memory *m = NEW(Memory, .elem = elem, .stays = !fits, .defined = is_param, .data = data);
  map_set(&r->memories, data, m);
}

static bool is_multiple(Rewrite *r, Node *n, int64_t of) {
  Modular m = arith_modular(r->facts, n);
  return m.coeff % of == 0 && m.base % of == 0;
}

/* Rows of whole vectors, as the memory is typed. */
static bool is_plain(Rewrite *r, const Memory *m, Buffer *b, int lanes) {
  bool from_begin = !b->elem_offset || expr_is_zero(b->elem_offset);
  return from_begin && !b->strides.len && !b->layout && b->shape.len &&
         dtype_equal(b->elem, m->elem) && is_multiple(r, b->shape.at[b->shape.len - 1], lanes);
}

/* The first of neighbours, in the last index; NULL: it is none, or something else varies. */
static Node *first_of(NodeVec indices, int *lanes) {
  Node *last = indices.len ? indices.at[indices.len - 1] : NULL;
  for (int i = 0; i + 1 < indices.len; i++)
    if (indices.at[i]->dtype.lanes != 1) return NULL;
  if (!IS(Ramp, last) || !expr_is_one(AS(Ramp, last)->stride)) return NULL;
  *lanes = AS(Ramp, last)->lanes;
  return AS(Ramp, last)->base;
}

static void note_access(Rewrite *r, Node *buffer, NodeVec indices, Node *predicate, Node *load) {
  Buffer *b = AS(Buffer, buffer);
  Memory *m = map_get(&r->memories, b->data);
  int lanes = 0;
  if (!m || m->stays) return;
  Node *first = first_of(indices, &lanes), *last = indices.len ? indices.at[indices.len - 1] : NULL;
  if (!predicate && load && !first && last && last->dtype.lanes == 1 && load->dtype.lanes == 1) {
    vec_push(&m->reads, load);
    return;
  }
  bool fits = first && !predicate && lanes > 1 && is_multiple(r, first, lanes) &&
              is_plain(r, m, b, lanes) && (!m->lanes || m->lanes == lanes);
  m->lanes = lanes, m->stays |= !fits;
}

static void bind_range(Rewrite *r, Node *n) {
  if (IS(For, n)) arith_bind_range(r->facts, AS(For, n)->var, AS(For, n)->min, AS(For, n)->extent);
  if (!is_launch(n)) return;
  Node *var = AS(IterVar, AS(AttrStmt, n)->subject)->var;
  arith_bind_range(r->facts, var, int_imm(var->dtype, 0, n->span), AS(AttrStmt, n)->value);
}

/* The address of an element leads to others. */
static void note_address(Rewrite *r, Node *n) {
  for each (Node *, x, &AS(Call, n)->args) {
    Memory *m = IS(BufferLoad, *x)
                    ? map_get(&r->memories, AS(Buffer, AS(BufferLoad, *x)->buffer)->data)
                    : NULL;
    if (m) m->stays = true;
  }
}

static WalkResult collect(Walker *w, Node *n) {
  Rewrite *r = w->context;
  bind_range(r, n);
  if (IS(Allocate, n)) add_memory(r, AS(Allocate, n)->var, AS(Allocate, n)->elem, false);
  if (IS(Var, n) && map_has(&r->memories, n)) {
    Memory *m = map_get(&r->memories, n);
    m->stays |= m->defined, m->defined = true;
  }
  if (IS(BufferLoad, n)) {
    BufferLoad *l = AS(BufferLoad, n);
    note_access(r, l->buffer, l->indices, l->predicate, n);
  }
  if (IS(BufferStore, n)) {
    BufferStore *s = AS(BufferStore, n);
    note_access(r, s->buffer, s->indices, s->predicate, NULL);
  }
  bool keeps_lanes = IS(Call, n) && intrin_of(AS(Call, n)->op) && expr_effect(n) != EFFECT_STATE;
  if (is_intrin_call(n, "address_of") || (IS(Call, n) && !keeps_lanes)) note_address(r, n);
  return IS(Buffer, n) ? WALK_PRUNE : WALK_ON;
}

/* The lane of a scalar that is loaded; -1: it isn't known. */
static int lane_of(Rewrite *r, const Memory *m, BufferLoad *l) {
  Modular at = arith_modular(r->facts, l->indices.at[l->indices.len - 1]);
  if (at.coeff % m->lanes || !is_plain(r, m, AS(Buffer, l->buffer), m->lanes)) return -1;
  return (int)((at.base % m->lanes + m->lanes) % m->lanes);
}

static bool is_for_vectors(const Memory *m) { return m && m->lanes > 1 && !m->stays; }

static bool decide(Rewrite *r) {
  bool any = false;
  for each (MapEntry, e, &r->memories) {
    Memory *m = e->key ? e->value : NULL;
    for (int i = 0; is_for_vectors(m) && i < m->reads.len; i++)
      m->stays = lane_of(r, m, AS(BufferLoad, m->reads.at[i])) < 0;
    any |= is_for_vectors(m);
  }
  return any;
}

/* ---- rewriting ---- */

static Memory *memory_of(Rewrite *r, Node *data) {
  Memory *m = map_get(&r->memories, data);
  return is_for_vectors(m) ? m : NULL;
}

static Node *vectors_in(Rewrite *r, Node *elements, int lanes) {
  Node *count = int_imm(elements->dtype, lanes, elements->span);
  return arith_simplify(r->facts, expr_floordiv(elements, count));
}

static NodeVec by_vectors(Rewrite *r, NodeVec v, Node *last, int lanes) {
  NodeVec out = {0};
  for (int i = 0; i + 1 < v.len; i++) vec_push(&out, v.at[i]);
  vec_push(&out, vectors_in(r, last, lanes));
  return out;
}

static DataType vector_type(const Memory *m) {
  DataType t = m->elem;
  t.lanes = (int16_t)m->lanes;
  return t;
}

static Node *buffer_of_vectors(Rewrite *r, const Memory *m, Node *buffer) {
  Node *made = map_get(&r->buffers, buffer);
  if (made) return made;
  Buffer copy = *AS(Buffer, buffer);
  copy.elem = vector_type(m), copy.data = m->data;
  copy.shape = by_vectors(r, copy.shape, copy.shape.at[copy.shape.len - 1], m->lanes);
  made = gc_copy(&copy, sizeof copy);
  map_set(&r->buffers, buffer, made);
  return made;
}

static Node *load_vector(Rewrite *r, const Memory *m, BufferLoad *l) {
  int lanes;
  Node *first = first_of(l->indices, &lanes), *buffer = buffer_of_vectors(r, m, l->buffer);
  Node *at = first ? first : l->indices.at[l->indices.len - 1];
  Node *vector = MAKE(BufferLoad, l->node.span, vector_type(m), .buffer = buffer,
                      .indices = by_vectors(r, l->indices, at, m->lanes));
  if (first) return vector;
  Node *lane = int_imm(INT32, lane_of(r, m, l), l->node.span);
  return MAKE(Shuffle, l->node.span, m->elem, .vectors = NODES(vector), .indices = NODES(lane));
}

static Node *store_vector(Rewrite *r, const Memory *m, BufferStore *s) {
  int lanes;
  BufferStore copy = *s;
  copy.buffer = buffer_of_vectors(r, m, s->buffer);
  copy.indices = by_vectors(r, s->indices, first_of(s->indices, &lanes), m->lanes);
  return gc_copy(&copy, sizeof copy);
}

static Node *allocate(Mutator *m, Memory *memory, Allocate *a) {
  Allocate copy = *a;
  DataType t = vector_type(memory);
  memory->data = pointer_var_new(AS(Var, a->var)->name, t, AS(Var, a->var)->scope, a->var->span);
  copy.elem = t, copy.var = memory->data;
  copy.extents =
      by_vectors(m->context, a->extents, a->extents.at[a->extents.len - 1], memory->lanes);
  copy.body = mutate(m, a->body);
  return gc_copy(&copy, sizeof copy);
}

static Node *rewrite(Mutator *m, Node *n) {
  Rewrite *r = m->context;
  Memory *memory;
  bind_range(r, n);
  switch (n->kind) {
  case NK_Buffer: return n;
  case NK_Allocate:
    memory = memory_of(r, AS(Allocate, n)->var);
    return memory ? allocate(m, memory, AS(Allocate, n)) : mutate_children(m, n);
  case NK_DeclBuffer: {
    DeclBuffer copy = *AS(DeclBuffer, n);
    memory = memory_of(r, AS(Buffer, copy.buffer)->data);
    if (!memory) return mutate_children(m, n);
    copy.buffer = buffer_of_vectors(r, memory, copy.buffer);
    copy.body = mutate(m, copy.body);
    return gc_copy(&copy, sizeof copy);
  }
  case NK_BufferLoad:
    n = mutate_children(m, n);
    memory = memory_of(r, AS(Buffer, AS(BufferLoad, n)->buffer)->data);
    return memory ? load_vector(r, memory, AS(BufferLoad, n)) : n;
  case NK_BufferStore:
    n = mutate_children(m, n);
    memory = memory_of(r, AS(Buffer, AS(BufferStore, n)->buffer)->data);
    return memory ? store_vector(r, memory, AS(BufferStore, n)) : n;
  default: return mutate_children(m, n);
  }
}

/* An allocation must be made of whole vectors, too, and declared by buffers that are. */
static WalkResult check_declared(Walker *w, Node *n) {
  Rewrite *r = w->context;
  if (IS(Allocate, n)) {
    Allocate *a = AS(Allocate, n);
    Memory *m = memory_of(r, a->var);
    if (m && (!a->extents.len || !is_multiple(r, a->extents.at[a->extents.len - 1], m->lanes)))
      m->stays = true;
  }
  if (IS(DeclBuffer, n)) {
    Buffer *b = AS(Buffer, AS(DeclBuffer, n)->buffer);
    Memory *m = memory_of(r, b->data);
    if (m && !is_plain(r, m, b, m->lanes)) m->stays = true;
  }
  return node_is_expr(n) ? WALK_PRUNE : WALK_ON;
}

static WalkResult find_block(Walker *w, Node *n) {
  (void)w;
  bool is_block = IS(Block, n) || IS(BufferRealize, n);
  return is_block ? WALK_STOP : node_is_expr(n) ? WALK_PRUNE : WALK_ON;
}

Node *pass_pointer_value_type_rewrite(Node *n, const PassContext *context) {
  (void)context;
  PrimFunc *f = AS(PrimFunc, n);
  Rewrite r = {.facts = arith_of_function(n)};
  Walker blocks = {.enter = find_block}, uses = {.enter = collect, .context = &r},
         declared = {.enter = check_declared, .context = &r};
  if (!walk(&blocks, f->body)) return n;
  for (int i = 0; i < f->params.len; i++) {
    Node *buffer = i < f->buffers.len ? f->buffers.at[i] : NULL, *param = f->params.at[i];
    if (buffer) add_memory(&r, AS(Buffer, buffer)->data, AS(Buffer, buffer)->elem, true);
    else if (dtype_is_handle(param->dtype)) add_memory(&r, param, AS(Var, param)->elem, true);
  }
  walk(&uses, f->body);
  walk(&declared, f->body);
  if (!decide(&r)) return n;
  Mutator m = {.rewrite = rewrite, .context = &r};
  return prim_func_with_body(n, mutate(&m, f->body));
}
