/* vectorize_loop.c -- vectorized loops become vector expressions: the loop variable is a ramp of
 * lanes.
 *
 * In:  flat accesses (after FlattenBuffer) give contiguous vectors; others work too.
 * Out: no vectorized loops. A loop whose extent is not constant, or whose body has something that
 * can't be a vector (a branch that depends on the lane, an inner loop over it, a call with
 * effects), runs serially. */
#include "ir/arith/arith.h"
#include "passes/passes.h"

typedef struct Vectorize {
  Node *var; /* the loop variable */
  int lanes;
  Node *ramp;  /* what stands for it */
  Map vectors; /* variables of lets that became vectors: old to new */
  bool failed;
} Vectorize;

static Node *rewrite(Mutator *m, Node *n);

static Node *fail(Vectorize *v, Node *n) {
  v->failed = true;
  return n;
}

static Node *lanes_of(Node *n, int lanes) {
  if (n->dtype.lanes == lanes) return n;
  return MAKE(Broadcast, n->span, dtype_with_lanes(n->dtype, lanes), .value = n, .lanes = lanes);
}

/* base + stride * lane of a sum or product with a ramp stays a ramp. */
static Node *as_ramp(NodeKind kind, Node *a, Node *b, Span span) {
  Ramp *r = IS(Ramp, a) ? AS(Ramp, a) : IS(Ramp, b) && kind != NK_Sub ? AS(Ramp, b) : NULL;
  Node *other = r == (Ramp *)(void *)a ? b : a;
  if (!r || other->dtype.lanes != 1) return NULL;
  Node *base, *stride = r->stride;
  if (kind == NK_Add || kind == NK_Sub) base = expr_binary(kind, r->base, other, span);
  else if (kind == NK_Mul)
    base = expr_binary(NK_Mul, r->base, other, span),
    stride = expr_binary(NK_Mul, stride, other, span);
  else return NULL;
  return MAKE(Ramp, span, dtype_with_lanes(base->dtype, r->lanes), .base = base, .stride = stride,
              .lanes = r->lanes);
}

static Node *vector_binary(Mutator *m, Node *n) {
  Binary *b = (Binary *)(void *)n;
  Node *x = mutate(m, b->a), *y = mutate(m, b->b);
  if (x == b->a && y == b->b) return n;
  Node *ramp = as_ramp(n->kind, x, y, n->span);
  if (ramp) return ramp;
  int lanes = x->dtype.lanes > y->dtype.lanes ? x->dtype.lanes : y->dtype.lanes;
  Binary out = {{n->kind, dtype_with_lanes(n->dtype, lanes), n->span},
                lanes_of(x, lanes),
                lanes_of(y, lanes)};
  return gc_copy(&out, sizeof out);
}

/* Operands as vectors of as many lanes, if any of them is one. */
static NodeVec vector_operands(Mutator *m, NodeVec args, int *lanes) {
  NodeVec out = {0}, wide = {0};
  *lanes = 1;
  for each (Node *, a, &args) {
    Node *x = node_is_expr(*a) ? mutate(m, *a) : *a;
    if (x->dtype.lanes > *lanes) *lanes = x->dtype.lanes;
    vec_push(&out, x);
  }
  for each (Node *, x, &out) vec_push(&wide, node_is_expr(*x) ? lanes_of(*x, *lanes) : *x);
  return wide;
}

static bool changed(NodeVec a, NodeVec b) {
  for (int i = 0; i < a.len; i++)
    if (a.at[i] != b.at[i]) return true;
  return false;
}

static Node *vector_call(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  Call *c = AS(Call, n);
  int lanes;
  NodeVec args = vector_operands(m, c->args, &lanes);
  if (!changed(args, c->args)) return n;
  const Intrin *in = intrin_of(c->op);
  bool lazy = in && str_same(in->name, "if_then_else");
  if (lazy && args.at[0]->dtype.lanes ==
                  lanes) { /* a choice by lane evaluates both arms: only if that is safe */
    if (c->args.at[0]->dtype.lanes == 1 && expr_effect(c->args.at[1]) == EFFECT_PURE &&
        expr_effect(c->args.at[2]) == EFFECT_PURE)
      return MAKE(Select, n->span, dtype_with_lanes(n->dtype, lanes), .cond = args.at[0],
                  .then = args.at[1], .orelse = args.at[2]);
    return fail(v, n);
  }
  if (!in || in->effect != EFFECT_PURE || in->rule == RULE_GIVEN) return fail(v, n);
  Call out = *c;
  out.args = args;
  out.node.dtype = dtype_with_lanes(n->dtype, lanes);
  return gc_copy(&out, sizeof out);
}

/* Lanes come from one index at most: after flattening there is only one. */
static bool one_vector_index(NodeVec indices) {
  int n = 0;
  for each (Node *, i, &indices) n += (*i)->dtype.lanes > 1;
  return n <= 1;
}

/* Is the buffer a view of another form for each lane? */
static bool differs_by_lane(Mutator *m, Node *buffer) {
  Buffer *b = AS(Buffer, buffer);
  return mutate_vec(m, b->shape).at != b->shape.at ||
         mutate_vec(m, b->strides).at != b->strides.at ||
         mutate(m, b->elem_offset) != b->elem_offset;
}

static Node *vector_load(Mutator *m, Node *n) {
  BufferLoad l = *AS(BufferLoad, n);
  if (differs_by_lane(m, l.buffer)) return fail(m->context, n);
  NodeVec old = l.indices;
  l.indices = mutate_vec(m, l.indices);
  if (l.indices.at == old.at) return n;
  if (!one_vector_index(l.indices) || l.predicate || AS(Buffer, l.buffer)->elem.lanes != 1)
    return fail(m->context, n);
  return expr_load(l.buffer, l.indices, n->span);
}

static Node *vector_store(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  BufferStore *s = AS(BufferStore, n);
  if (differs_by_lane(m, s->buffer)) return fail(v, n);
  NodeVec indices = mutate_vec(m, s->indices);
  Node *value = mutate(m, s->value);
  if (indices.at == s->indices.at && value == s->value) return n;
  int lanes = 1;
  for each (Node *, i, &indices) lanes *= (*i)->dtype.lanes;
  /* The same element from every lane would need an order. */
  if (lanes == 1 || !one_vector_index(indices) || s->predicate ||
      AS(Buffer, s->buffer)->elem.lanes != 1)
    return fail(v, n);
  return stmt_store(s->buffer, indices, lanes_of(value, lanes), n->span);
}

static Node *vector_let(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  LetStmt l = *AS(LetStmt, n);
  l.value = mutate(m, l.value);
  if (l.value->dtype.lanes != l.var->dtype.lanes) {
    Node *var = var_new(AS(Var, l.var)->name, l.value->dtype, l.var->span);
    map_set(&v->vectors, l.var, var);
    l.var = var;
  }
  l.body = mutate(m, l.body);
  return gc_copy(&l, sizeof l);
}

static Node *rewrite(Mutator *m, Node *n) {
  Vectorize *v = m->context;
  if (v->failed) return n;
  if (n == v->var) return v->ramp;
  if (node_is_binary(n->kind)) return vector_binary(m, n);
  switch (n->kind) {
  case NK_Var: return map_has(&v->vectors, n) ? map_get(&v->vectors, n) : n;
  case NK_Buffer:
  case NK_IntImm:
  case NK_FloatImm:
  case NK_StringImm: return n;
  case NK_BufferLoad: return vector_load(m, n);
  case NK_BufferStore: return vector_store(m, n);
  case NK_Call: return vector_call(m, n);
  case NK_LetStmt: return vector_let(m, n);
  case NK_Cast: {
    Node *x = mutate(m, AS(Cast, n)->value);
    return x == AS(Cast, n)->value
               ? n
               : MAKE(Cast, n->span, dtype_with_lanes(n->dtype, x->dtype.lanes), .value = x);
  }
  case NK_Not: {
    Node *x = mutate(m, AS(Not, n)->a);
    return x == AS(Not, n)->a
               ? n
               : MAKE(Not, n->span, dtype_with_lanes(n->dtype, x->dtype.lanes), .a = x);
  }
  case NK_Select: {
    NodeVec parts = NODES(AS(Select, n)->cond, AS(Select, n)->then, AS(Select, n)->orelse);
    int lanes;
    NodeVec wide = vector_operands(m, parts, &lanes);
    if (!changed(wide, parts)) return n;
    return MAKE(Select, n->span, dtype_with_lanes(n->dtype, lanes), .cond = wide.at[0],
                .then = wide.at[1], .orelse = wide.at[2]);
  }
  case NK_SeqStmt:
  case NK_Evaluate:
  case NK_DeclBuffer: return mutate_children(m, n);
  case NK_For: {
    For f = *AS(For, n);
    Node *min = mutate(m, f.min), *extent = mutate(m, f.extent);
    if (min != f.min || extent != f.extent) return fail(v, n);
    f.body = mutate(m, f.body);
    return gc_copy(&f, sizeof f);
  }
  case NK_IfThenElse: {
    IfThenElse i = *AS(IfThenElse, n);
    if (mutate(m, i.cond) != i.cond) return fail(v, n);
    i.then = mutate(m, i.then);
    i.orelse = mutate(m, i.orelse);
    return gc_copy(&i, sizeof i);
  }
  default: return fail(v, n);
  }
}

static Node *vectorized(For *f, int64_t extent) {
  Vectorize v = {.var = f->var, .lanes = (int)extent};
  DataType t = f->var->dtype;
  v.ramp = MAKE(Ramp, f->node.span, dtype_with_lanes(t, v.lanes), .base = f->min,
                .stride = int_imm(t, 1, f->node.span), .lanes = v.lanes);
  Mutator m = {.rewrite = rewrite, .context = &v};
  Node *body = mutate(&m, f->body);
  return v.failed ? NULL : body;
}

typedef struct Job {
  bool enabled;
} Job;

static Node *find_loops(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  if (!IS(For, n) || AS(For, n)->loop_kind != LOOP_VECTORIZED) return n;
  For f = *AS(For, n);
  int64_t extent;
  enum { MAX_LANES = 1024 };
  bool can = ((Job *)m->context)->enabled && expr_is_const_int(f.extent, &extent) && extent > 1 &&
             extent <= MAX_LANES;
  Node *vector = can ? vectorized(&f, extent) : NULL;
  if (vector) return vector;
  f.loop_kind = LOOP_SERIAL;
  return gc_copy(&f, sizeof f);
}

Node *pass_vectorize_loop(Node *n, const PassContext *context) {
  PrimFunc *f = AS(PrimFunc, n);
  Job job = {pass_option_int(context, "enable_vectorize") != 0};
  Mutator m = {.rewrite = find_loops, .context = &job};
  Node *body = mutate(&m, f->body);
  if (body == f->body) return n;
  PrimFunc copy = *f;
  copy.body = body;
  return gc_copy(&copy, sizeof copy);
}
