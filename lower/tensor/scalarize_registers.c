/* scalarize_registers.c -- of ScalarizeVectors: vectors that a device's language has.
 *
 * In:  statements on vectors of any number of lanes.
 * Out: loads and stores of neighbours are those of vectors of at most most_bytes, by way of
 *      variables of vector type; what is computed between them is lane by lane again, unless the
 *      language has operators on vectors for all of it.
 * Not: does not ask how memory is aligned: back ends do, and write lane by lane what they can't
 *      prove. Arrays of a thread stay scalar, so that compilers keep them in registers. */
#include "lower/tensor/scalarize.h"

enum { MOST_UNROLLED = 32 }; /* lanes: of longer vectors texts only get longer */

/* A vector, as variables of `lanes` lanes each. */
typedef struct Pieces {
  NodeVec vars;
  int lanes;
} Pieces;

/* Of the pieces that such a vector is cut into; 0: it has none. */
static int piece_lanes(Scalarizer *s, DataType t) {
  bool has_vectors = (dtype_is_int(t) || dtype_is_float(t)) && !dtype_is_bool(t) &&
                     !dtype_is_custom(t) && t.bits >= 8;
  if (!has_vectors || t.lanes > MOST_UNROLLED) return 0;
  for (int lanes = s->most_lanes; lanes > 1; lanes /= 2)
    if (t.lanes % lanes == 0 && lanes * (t.bits / 8) <= s->most_bytes) return lanes;
  return 0;
}

static bool is_dense(Node *buffer, const NodeVec *indices, DataType value) {
  Buffer *b = AS(Buffer, buffer);
  const char *scope = AS(Var, b->data)->scope;
  bool is_memory = !scope || !*scope || str_same(scope, "global") || str_begins(scope, "shared");
  return is_memory && indices->len == 1 && IS(Ramp, indices->at[0]) &&
         expr_is_one(AS(Ramp, indices->at[0])->stride) &&
         dtype_equal(b->elem, dtype_element(value));
}

static Node *ramp_of_piece(Scalarizer *s, Node *index, int piece, int lanes) {
  Node *base = mutate(&s->mutator, AS(Ramp, index)->base);
  base = expr_add(base, int_imm(base->dtype, (int64_t)piece * lanes, index->span));
  return MAKE(Ramp, index->span, dtype_with_lanes(base->dtype, lanes), .base = base,
              .stride = int_imm(base->dtype, 1, index->span), .lanes = lanes);
}

/* ---- variables ---- */

/* Variables and their values, for the statement that follows. */
typedef struct Lets {
  NodeVec vars, values;
} Lets;

static Node *with_lets(const Lets *l, Node *body) {
  for (int i = l->vars.len - 1; i >= 0; i--)
    body = MAKE(LetStmt, body->span, VOID_TYPE, .var = l->vars.at[i], .value = l->values.at[i],
                .body = body);
  return body;
}

static void add_piece(Lets *l, Pieces *p, const char *name, Node *value) {
  Node *var = var_new(name, value->dtype, value->span);
  vec_push(&l->vars, var);
  vec_push(&l->values, value);
  vec_push(&p->vars, var);
}

Node *registers_lane(Scalarizer *s, Node *var, Node *lane) {
  Pieces *p = map_get(&s->registers, var);
  if (!p) return NULL;
  int64_t at;
  REQUIRE(expr_is_const_int(lane, &at), "a lane that is known");
  return MAKE(Shuffle, var->span, dtype_element(var->dtype),
              .vectors = NODES(p->vars.at[at / p->lanes]),
              .indices = NODES(int_imm(INT32, at % p->lanes, var->span)));
}

/* ---- loads ---- */

typedef struct Hoist {
  Mutator mutator;
  Scalarizer *s;
  Lets *lets;
  Map loaded; /* BufferLoad to the variable */
} Hoist;

static Node *load_pieces(Hoist *h, BufferLoad *n, int lanes) {
  Node *old = map_get(&h->loaded, n);
  if (old) return old;
  const char *name = AS(Var, AS(Buffer, n->buffer)->data)->name;
  Pieces *p = NEW(Pieces);
  p->lanes = lanes;
  for (int i = 0; i < n->node.dtype.lanes / lanes; i++)
    add_piece(h->lets, p, str_format("%s_v%d", name, ++h->s->loads),
              MAKE(BufferLoad, n->node.span, dtype_with_lanes(n->node.dtype, lanes),
                   .buffer = n->buffer,
                   .indices = NODES(ramp_of_piece(h->s, n->indices.at[0], i, lanes))));
  Node *var = var_new(name, n->node.dtype, n->node.span);
  map_set(&h->s->registers, var, p);
  map_set(&h->loaded, n, var);
  return var;
}

/* What is not always evaluated stays where it is, and what needs the variable of a let. */
static Node *hoist_loads(Mutator *m, Node *n) {
  Hoist *h = m->context;
  if (n->dtype.lanes == 1) return n;
  switch (n->kind) {
  case NK_Let:
  case NK_And:
  case NK_Or: return n;
  case NK_Call: return is_intrin_call(n, "if_then_else") ? n : mutate_children(m, n);
  case NK_BufferLoad: {
    BufferLoad *load = AS(BufferLoad, n);
    int lanes = piece_lanes(h->s, n->dtype);
    bool whole = lanes && !load->predicate && is_dense(load->buffer, &load->indices, n->dtype);
    return whole ? load_pieces(h, load, lanes) : n;
  }
  default: return mutate_children(m, n);
  }
}

static Node *hoist(Scalarizer *s, Node *value, Lets *lets) {
  Hoist h = {.s = s, .lets = lets};
  h.mutator = (Mutator){.rewrite = hoist_loads, .context = &h};
  return mutate(&h.mutator, value);
}

/* ---- values ---- */

static bool is_operator(NodeKind kind) {
  return kind == NK_Add || kind == NK_Sub || kind == NK_Mul || kind == NK_Div || kind == NK_Min ||
         kind == NK_Max;
}

/* Can the language say this on vectors of so many lanes? */
static bool is_whole(Scalarizer *s, Node *n, int lanes) {
  Pieces *p = IS(Var, n) ? map_get(&s->registers, n) : NULL;
  if (p) return p->lanes == lanes;
  bool is_native = dtype_is_float(n->dtype) && n->dtype.bits >= 32;
  if (IS(Broadcast, n)) return s->has_operators && AS(Broadcast, n)->value->dtype.lanes == 1;
  if (!s->has_operators || !is_native || !is_operator(n->kind)) return false;
  Binary *b = (Binary *)(void *)n;
  return is_whole(s, b->a, lanes) && is_whole(s, b->b, lanes);
}

static Node *whole_piece(Scalarizer *s, Node *n, int piece, int lanes) {
  if (IS(Var, n)) return ((Pieces *)map_get(&s->registers, n))->vars.at[piece];
  DataType t = dtype_with_lanes(n->dtype, lanes);
  if (IS(Broadcast, n))
    return MAKE(Broadcast, n->span, t, .lanes = lanes,
                .value = mutate(&s->mutator, AS(Broadcast, n)->value));
  Binary out = *(Binary *)(void *)n;
  out.node.dtype = t;
  out.a = whole_piece(s, out.a, piece, lanes);
  out.b = whole_piece(s, out.b, piece, lanes);
  return gc_copy(&out, sizeof out);
}

static Node *piece_of(Scalarizer *s, Node *n, int piece, int lanes) {
  if (is_whole(s, n, lanes)) return whole_piece(s, n, piece, lanes);
  NodeVec scalars = {0}, order = {0};
  for (int i = 0; i < lanes; i++) {
    vec_push(&scalars, scalarize_pick(s, n, int_imm(INT32, piece * lanes + i, n->span)));
    vec_push(&order, int_imm(INT32, i, n->span));
  }
  return MAKE(Shuffle, n->span, dtype_with_lanes(n->dtype, lanes), .vectors = scalars,
              .indices = order);
}

/* ---- statements ---- */

static Node *store_pieces(Scalarizer *s, BufferStore *n, int lanes, Lets *lets) {
  int count = n->value->dtype.lanes / lanes;
  bool is_late = count > 1 && scalarize_clashes(s, n, n->value);
  NodeVec values = {0}, stmts = {0};
  Pieces named = {.lanes = lanes};
  for (int i = 0; i < count; i++) {
    Node *value = piece_of(s, n->value, i, lanes);
    vec_push(&values, value);
    if (is_late) add_piece(lets, &named, "value", value);
  }
  if (is_late) values = named.vars;
  for (int i = 0; i < count; i++)
    vec_push(&stmts, MAKE(BufferStore, n->node.span, VOID_TYPE, .buffer = n->buffer,
                          .indices = NODES(ramp_of_piece(s, n->indices.at[0], i, lanes)),
                          .value = values.at[i]));
  return stmt_seq(stmts, n->node.span);
}

Node *registers_store(Scalarizer *s, BufferStore *n) {
  if (!s->most_bytes || n->predicate) return scalarize_store(s, n);
  Lets lets = {0};
  BufferStore late = *n;
  late.value = hoist(s, n->value, &lets);
  bool whole = is_dense(n->buffer, &n->indices, n->value->dtype) &&
               !scalarize_clashes(s, n, n->indices.at[0]);
  int lanes = whole ? piece_lanes(s, n->value->dtype) : 0;
  Node *stored = lanes ? store_pieces(s, &late, lanes, &lets) : scalarize_store(s, &late);
  return with_lets(&lets, stored);
}

Node *registers_let(Scalarizer *s, LetStmt *n) {
  int lanes = piece_lanes(s, n->var->dtype);
  if (!lanes) return NULL;
  Lets lets = {0};
  Node *value = hoist(s, n->value, &lets);
  Pieces *loaded = IS(Var, value) ? map_get(&s->registers, value) : NULL;
  if (loaded) { /* needs no variables but those of the load, also when the pass runs again */
    map_set(&s->registers, n->var, loaded);
    return with_lets(&lets, mutate(&s->mutator, n->body));
  }
  Pieces *p = NEW(Pieces);
  p->lanes = lanes;
  for (int i = 0; i < n->var->dtype.lanes / lanes; i++)
    add_piece(&lets, p, AS(Var, n->var)->name, piece_of(s, value, i, lanes));
  map_set(&s->registers, n->var, p);
  return with_lets(&lets, mutate(&s->mutator, n->body));
}
