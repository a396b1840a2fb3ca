/* vectorize_loop.c -- vectorized loops become vector statements: the loop variable is a ramp of
 * lanes.
 *
 * In:  flat accesses (after FlattenBuffer). That its steps do not need each other's results is the
 * promise of a vectorized loop.
 * Out: no vectorized loops. More steps than MAX_LANES are a loop of vectors. Under a condition that
 * differs by lane, accesses are masked. A statement that can't be a vector (a call with effects, an
 * inner loop whose extent differs by lane) runs in a serial loop over the lanes; so does all of a
 * loop whose extent is not constant, that is left by a jump, or that stores to one element in every
 * step. */
#include "passes/tensor/tensor.h"
#include "passes/tensor/vectorize.h"

enum { MAX_LANES = 64 }; /* of longer vectors machine code only gets longer */

/* ---- stores to one element in every step ---- */

typedef struct Steps {
  Map varying; /* variables that differ by step */
  Map own;     /* pointers allocated in the loop */
} Steps;

static WalkResult find_varying(Walker *w, Node *n) {
  Steps *s = w->context;
  bool loads = IS(BufferLoad, n) && map_has(&s->own, AS(Buffer, AS(BufferLoad, n)->buffer)->data);
  return loads || map_has(&s->varying, n) ? WALK_STOP : WALK_ON;
}

static bool varies(Steps *s, Node *n) {
  Walker w = {.enter = find_varying, .context = s, .once = true};
  return !walk(&w, n);
}

static void note_value(Steps *s, Node *var, Node *value) {
  if (varies(s, value)) map_set(&s->varying, var, var);
}

static WalkResult find_ordered_store(Walker *w, Node *n) {
  Steps *s = w->context;
  if (IS(Allocate, n)) map_set(&s->own, AS(Allocate, n)->var, n);
  if (IS(LetStmt, n)) note_value(s, AS(LetStmt, n)->var, AS(LetStmt, n)->value);
  if (IS(Let, n)) note_value(s, AS(Let, n)->var, AS(Let, n)->value);
  if (IS(For, n)) {
    note_value(s, AS(For, n)->var, AS(For, n)->min);
    note_value(s, AS(For, n)->var, AS(For, n)->extent);
  }
  if (!IS(BufferStore, n)) return WALK_ON;
  BufferStore *store = AS(BufferStore, n);
  if (map_has(&s->own, AS(Buffer, store->buffer)->data)) return WALK_ON;
  for each (Node *, i, &store->indices)
    if (varies(s, *i)) return WALK_ON;
  return WALK_STOP;
}

static bool needs_order(For *f) {
  Steps s = {0};
  map_set(&s.varying, f->var, f->var);
  Walker w = {.enter = find_ordered_store, .context = &s};
  return !walk(&w, f->body);
}

/* ---- statements ---- */

static Node *vector_store(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  BufferStore s = *AS(BufferStore, n);
  if (s.indices.len != 1 || AS(Buffer, s.buffer)->elem.lanes != 1) return vector_fail(v, n);
  Node *old = s.indices.at[0], *index = vector_index(m, s.buffer, old);
  int step = old->dtype.lanes;
  if (index->dtype.lanes != v->lanes * step) return vector_fail(v, n);
  Node *value = vector_widen(v, s.value, mutate(m, s.value), step);
  Node *mask = vector_mask(v, step), *wide = map_get(&v->wide, s.buffer);
  if (s.predicate) {
    s.predicate = vector_widen(v, s.predicate, mutate(m, s.predicate), step);
    mask = mask ? expr_and(s.predicate, mask) : s.predicate;
  }
  return MAKE(BufferStore, n->span, VOID_TYPE, .buffer = wide ? wide : s.buffer,
              .indices = NODES(index), .value = value, .predicate = mask);
}

/* Steps that go up are masked from some lane on: then there is one to run exactly if the first lane
 * runs. The condition of that lane, or NULL if the lanes are not known to be so. */
static Node *first_lane(Node *cond) {
  if (IS(Broadcast, cond)) return AS(Broadcast, cond)->value;
  Binary *b = (Binary *)(void *)cond;
  if (IS(And, cond)) {
    Node *x = first_lane(b->a), *y = x ? first_lane(b->b) : NULL;
    return y ? expr_and(x, y) : NULL;
  }
  bool below = cond->kind == NK_LT || cond->kind == NK_LE;
  if (!below && cond->kind != NK_GT && cond->kind != NK_GE) return NULL;
  Node *up = below ? b->a : b->b, *limit = below ? b->b : b->a;
  int64_t stride;
  if (!IS(Ramp, up) || !IS(Broadcast, limit) || AS(Ramp, up)->base->dtype.lanes != 1 ||
      !expr_is_const_int(AS(Ramp, up)->stride, &stride) || stride < 0)
    return NULL;
  Node *first = AS(Ramp, up)->base, *most = AS(Broadcast, limit)->value;
  return expr_binary(cond->kind, below ? first : most, below ? most : first, cond->span);
}

static Node *under_mask(Mutator *m, Node *mask, bool some, Node *body) {
  Vectorize *v = m->context;
  Node *outer = v->mask;
  bool outer_some = v->some;
  v->mask = mask;
  v->some = some;
  Node *out = mutate(m, body);
  v->mask = outer;
  v->some = outer_some;
  return out;
}

static Node *branch_by_lane(Mutator *m, Node *n, Node *cond) {
  Vectorize *v = m->context;
  IfThenElse *i = AS(IfThenElse, n);
  if (stmt_jumps_out(n) || cond->dtype.lanes != v->lanes) return vector_fail(v, n);
  /* What the branches change does not change who runs them. */
  bool keep = i->orelse || expr_effect(cond) != EFFECT_PURE;
  Node *first = v->mask ? NULL : first_lane(cond);
  Node *held = keep ? var_new("runs", cond->dtype, n->span) : cond;
  Node *then = under_mask(m, vector_mask_and(v, held), first != NULL, i->then);
  if (first) then = MAKE(IfThenElse, n->span, VOID_TYPE, .cond = first, .then = then);
  if (i->orelse) {
    Node *rest = MAKE(Not, n->span, held->dtype, .a = held);
    Node *orelse = under_mask(m, vector_mask_and(v, rest), false, i->orelse);
    then = stmt_seq(NODES(then, orelse), n->span);
  }
  if (!keep) return then;
  return MAKE(LetStmt, n->span, VOID_TYPE, .value = cond, .var = held, .body = then);
}

static Node *vector_if(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  IfThenElse i = *AS(IfThenElse, n);
  Node *cond = mutate(m, i.cond);
  if (cond != i.cond) return branch_by_lane(m, n, cond);
  if (!vector_may_run(v, cond)) return vector_fail(v, n);
  i.then = mutate(m, i.then);
  i.orelse = mutate(m, i.orelse);
  return gc_copy(&i, sizeof i);
}

static Node *vector_for(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  For f = *AS(For, n);
  bool same = mutate(m, f.min) == f.min && mutate(m, f.extent) == f.extent;
  if (!same || !vector_may_run(v, f.min) || !vector_may_run(v, f.extent)) return vector_fail(v, n);
  v->loops++;
  f.body = mutate(m, f.body);
  v->loops--;
  return gc_copy(&f, sizeof f);
}

static Node *vector_while(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  While w = *AS(While, n);
  if (mutate(m, w.cond) != w.cond || !vector_may_run(v, w.cond)) return vector_fail(v, n);
  v->loops++;
  w.body = mutate(m, w.body);
  v->loops--;
  return gc_copy(&w, sizeof w);
}

static Node *vector_let_stmt(Mutator *m, Node *n) {
  LetStmt l = *AS(LetStmt, n);
  l.value = mutate(m, l.value);
  l.var = vector_bind(m, l.var, l.value);
  l.body = mutate(m, l.body);
  return gc_copy(&l, sizeof l);
}

/* Every lane has its part, side by side with the others' element by element. */
static Node *vector_allocate(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  Allocate a = *AS(Allocate, n);
  bool plain = a.extents.len == 1 && a.elem.lanes == 1 && !a.cond;
  Node *extent = plain ? a.extents.at[0] : NULL;
  if (!plain || mutate(m, extent) != extent || !vector_may_run(v, extent)) return vector_fail(v, n);
  a.extents = NODES(expr_mul(extent, int_imm(extent->dtype, v->lanes, n->span)));
  map_set(&v->own, a.var, n);
  a.body = mutate(m, a.body);
  return gc_copy(&a, sizeof a);
}

static Node *vector_declare(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  DeclBuffer d = *AS(DeclBuffer, n);
  Buffer b = *AS(Buffer, d.buffer);
  if (map_has(&v->own, b.data)) {
    if (b.shape.len != 1 || b.strides.len || b.elem_offset) return vector_fail(v, n);
    b.shape = NODES(expr_mul(b.shape.at[0], int_imm(b.shape.at[0]->dtype, v->lanes, n->span)));
    d.buffer = gc_copy(&b, sizeof b);
    map_set(&v->wide, AS(DeclBuffer, n)->buffer, d.buffer);
  }
  d.body = mutate(m, d.body);
  return gc_copy(&d, sizeof d);
}

static Node *vector_evaluate(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  Node *value = AS(Evaluate, n)->value;
  bool jump = is_intrin_call(value, "break_loop") || is_intrin_call(value, "continue_loop");
  if (jump) return v->loops && !v->mask ? n : vector_fail(v, n);
  return expr_effect(value) == EFFECT_PURE ? n : vector_fail(v, n);
}

/* ---- statements one after the other ---- */

typedef struct Uses {
  Vectorize *v;
  Map inner; /* defined in the statement itself */
} Uses;

static bool is_vector(Uses *u, Node *var) {
  return (map_has(&u->v->vectors, var) || map_has(&u->v->own, var)) && !map_has(&u->inner, var);
}

static WalkResult find_vector(Walker *w, Node *n) {
  Uses *u = w->context;
  Node *var = IS(LetStmt, n)    ? AS(LetStmt, n)->var
              : IS(Let, n)      ? AS(Let, n)->var
              : IS(Allocate, n) ? AS(Allocate, n)->var
                                : NULL;
  if (var) map_set(&u->inner, var, n);
  return is_vector(u, IS(Buffer, n) ? AS(Buffer, n)->data : n) ? WALK_STOP : WALK_ON;
}

/* Can the statement run in a loop of its own? What a lane has must not stand in a vector. */
static bool can_be_serial(Vectorize *v, Node *n) {
  Uses u = {.v = v};
  Walker w = {.enter = find_vector, .context = &u, .once = true};
  return !v->mask && !stmt_jumps_out(n) && walk(&w, n);
}

static Node *serial_lanes(Vectorize *v, Node *n) {
  Node *min = AS(Ramp, v->ramp)->base;
  return copy_with_fresh_vars(MAKE(For, n->span, VOID_TYPE, .min = min,
                                   .extent = int_imm(min->dtype, v->lanes, n->span), .var = v->var,
                                   .loop_kind = LOOP_SERIAL, .body = n));
}

/* Statements that fail run lane by lane, if any of the others is a vector. */
static Node *vector_seq(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  NodeVec out = {0};
  int serial = 0;
  for each (Node *, s, &AS(SeqStmt, n)->stmts) {
    Node *now = mutate(m, *s);
    if (v->failed && !can_be_serial(v, *s)) return n;
    serial += v->failed;
    vec_push(&out, v->failed ? serial_lanes(v, *s) : now);
    v->failed = false;
  }
  return serial < out.len ? stmt_seq(out, n->span) : vector_fail(v, n);
}

Node *vector_stmt(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  if (v->failed) return n;
  switch (n->kind) {
  case NK_BufferStore: return vector_store(m, n);
  case NK_SeqStmt: return vector_seq(m, n);
  case NK_IfThenElse: return vector_if(m, n);
  case NK_For: return vector_for(m, n);
  case NK_While: return vector_while(m, n);
  case NK_LetStmt: return vector_let_stmt(m, n);
  case NK_Allocate: return vector_allocate(m, n);
  case NK_DeclBuffer: return vector_declare(m, n);
  case NK_Evaluate: return vector_evaluate(m, n);
  case NK_AllocateConst: return mutate_children(m, n);
  case NK_AttrStmt: {
    AttrStmt a = *AS(AttrStmt, n);
    if (mutate(m, a.value) != a.value) return vector_fail(v, n);
    a.body = mutate(m, a.body);
    return gc_copy(&a, sizeof a);
  }
  case NK_AssertStmt: {
    AssertStmt a = *AS(AssertStmt, n);
    if (v->mask || mutate(m, a.cond) != a.cond) return vector_fail(v, n);
    a.body = mutate(m, a.body);
    return gc_copy(&a, sizeof a);
  }
  default: return vector_fail(v, n);
  }
}

/* ---- loops ---- */

static Node *rewrite_lanes(Mutator *m, Node *n) {
  if (IS(Buffer, n)) return n;
  return node_family(n->kind) == FAMILY_STMT ? vector_stmt(m, n) : vector_expr(m, n);
}

/* The steps from `min` on, as many as there are lanes; NULL if nothing in them is a vector. */
static Node *vectorized(For *f, Node *min, int lanes) {
  Vectorize v = {.var = f->var, .lanes = lanes};
  DataType t = f->var->dtype;
  v.ramp = MAKE(Ramp, f->node.span, dtype_with_lanes(t, lanes), .base = min,
                .stride = int_imm(t, 1, f->node.span), .lanes = lanes);
  Mutator m = {.rewrite = rewrite_lanes, .context = &v};
  Node *body = mutate(&m, f->body);
  return v.failed ? NULL : body;
}

/* A loop over vectors, and one more vector of the lanes that are left. */
static Node *long_vectors(For *f, int64_t extent) {
  Span s = f->node.span;
  DataType t = f->var->dtype;
  int64_t whole = extent / MAX_LANES, rest = extent % MAX_LANES;
  Node *var = var_new(AS(Var, f->var)->name, t, f->var->span);
  Node *min = expr_add(f->min, expr_mul(var, int_imm(t, MAX_LANES, s)));
  Node *body = vectorized(f, min, MAX_LANES);
  if (!body) return NULL;
  Node *loop = MAKE(For, s, VOID_TYPE, .min = int_imm(t, 0, s), .extent = int_imm(t, whole, s),
                    .var = var, .loop_kind = LOOP_SERIAL, .body = body);
  if (!rest) return loop;
  Node *at = expr_add(f->min, int_imm(t, whole * MAX_LANES, s));
  For tail = *f;
  tail.min = at;
  tail.extent = int_imm(t, rest, s);
  tail.loop_kind = LOOP_SERIAL;
  Node *last = rest > 1 ? vectorized(f, at, (int)rest) : NULL;
  return stmt_seq(NODES(loop, copy_with_fresh_vars(last ? last : gc_copy(&tail, sizeof tail))), s);
}

/* Inner loops first: a vector in a vectorized loop is one of all their lanes. */
static Node *find_loops(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  if (!IS(For, n) || AS(For, n)->loop_kind != LOOP_VECTORIZED) return n;
  For f = *AS(For, n);
  int64_t extent;
  bool enabled = *(bool *)m->context,
       can = enabled && expr_is_const_int(f.extent, &extent) && extent > 1 && !needs_order(&f);
  Node *vector = !can                  ? NULL
                 : extent <= MAX_LANES ? vectorized(&f, f.min, (int)extent)
                                       : long_vectors(&f, extent);
  if (vector) return vector;
  f.loop_kind = LOOP_SERIAL;
  return gc_copy(&f, sizeof f);
}

Node *pass_vectorize_loop(Node *n, const PassContext *context) {
  bool enabled = pass_option_int(context, "enable_vectorize") != 0;
  Mutator m = {.rewrite = find_loops, .context = &enabled};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
