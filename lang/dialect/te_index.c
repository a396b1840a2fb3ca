/* te_index.c -- the indices of a tensor program in one dtype: variables of loops and blocks,
 * shapes, and what is computed from them. A value that is computed from an index keeps its dtype.
 */
#include "lang/dialect/te.h"

typedef struct Retype {
  DataType to;
  Map vars; /* Var to the one that it becomes */
} Retype;

static bool is_other_int(const Retype *r, DataType t) {
  return t.code == DTYPE_INT && t.lanes == 1 && !dtype_equal(t, r->to);
}

/* What the variable of a loop or block, or a dim, becomes where it is defined; in values it is cast
 * to the dtype that it had. Variables of lets stay. */
static Node *index_var(Mutator *m, Node *var) {
  Retype *r = m->context;
  if (!is_other_int(r, var->dtype)) return var;
  Node *new = map_get(&r->vars, var);
  if (new) return new;
  Var copy = *AS(Var, var);
  copy.node.dtype = r->to;
  new = gc_copy(&copy, sizeof copy);
  map_set(&r->vars, var, new);
  map_set(&m->identities, var, expr_cast(var->dtype, new, var->span));
  return new;
}

/* Made of variables and numbers alone? */
static bool is_index(const Node *n) {
  if (n->dtype.code != DTYPE_INT || n->dtype.lanes != 1) return false;
  if (IS(Cast, n)) return is_index(AS(Cast, n)->value);
  if (!node_is_binary(n->kind)) return IS(Var, n) || IS(IntImm, n);
  const Binary *b = (const Binary *)(const void *)n;
  return is_index(b->a) && is_index(b->b);
}

static Node *in_dtype(Mutator *m, Node *n) {
  Retype *r = m->context;
  if (IS(Cast, n) && is_index(n)) return in_dtype(m, AS(Cast, n)->value);
  if (IS(IntImm, n)) return int_imm(r->to, AS(IntImm, n)->value, n->span);
  if (IS(Var, n)) {
    Node *new = map_get(&r->vars, n);
    return new ? new : expr_cast(r->to, n, n->span);
  }
  if (!node_is_binary(n->kind)) return expr_cast(r->to, mutate(m, n), n->span);
  Binary *b = (Binary *)(void *)n;
  return expr_binary(n->kind, in_dtype(m, b->a), in_dtype(m, b->b), n->span);
}

static NodeVec all_in_dtype(Mutator *m, NodeVec indices) {
  NodeVec out = {0};
  for each (Node *, i, &indices) vec_push(&out, in_dtype(m, *i));
  return out;
}

static Node *retype_buffer(Mutator *m, Node *n) {
  Buffer b = *AS(Buffer, n);
  for each (Node *, d, &b.shape)
    if (IS(Var, *d)) index_var(m, *d);
  b.shape = all_in_dtype(m, b.shape);
  b.strides = all_in_dtype(m, b.strides);
  b.elem_offset = b.elem_offset ? in_dtype(m, b.elem_offset) : NULL;
  return gc_copy(&b, sizeof b);
}

static Node *retype_loop(Mutator *m, Node *n) {
  For f = *AS(For, n);
  f.var = index_var(m, f.var);
  f.min = in_dtype(m, f.min);
  f.extent = in_dtype(m, f.extent);
  f.body = mutate(m, f.body);
  return gc_copy(&f, sizeof f);
}

static Node *rewrite(Mutator *m, Node *n) {
  switch (n->kind) {
  case NK_Buffer: return retype_buffer(m, n);
  case NK_For: return retype_loop(m, n);
  case NK_Range: {
    Range *r = AS(Range, n);
    return MAKE(Range, n->span, VOID_TYPE, .min = in_dtype(m, r->min),
                .extent = in_dtype(m, r->extent));
  }
  case NK_IterVar: {
    IterVar v = *AS(IterVar, n);
    v.var = index_var(m, v.var);
    v.dom = mutate(m, v.dom);
    return gc_copy(&v, sizeof v);
  }
  case NK_BlockRealize: {
    BlockRealize r = *AS(BlockRealize, n);
    r.iter_values = all_in_dtype(m, r.iter_values);
    r.predicate = mutate(m, r.predicate);
    r.block = mutate(m, r.block);
    return gc_copy(&r, sizeof r);
  }
  case NK_BufferLoad: {
    BufferLoad l = *AS(BufferLoad, n);
    l.buffer = mutate(m, l.buffer);
    l.indices = all_in_dtype(m, l.indices);
    l.predicate = mutate(m, l.predicate);
    return gc_copy(&l, sizeof l);
  }
  case NK_BufferStore: {
    BufferStore s = *AS(BufferStore, n);
    s.buffer = mutate(m, s.buffer);
    s.indices = all_in_dtype(m, s.indices);
    s.value = mutate(m, s.value);
    s.predicate = mutate(m, s.predicate);
    return gc_copy(&s, sizeof s);
  }
  default: break;
  }
  Binary *b = (Binary *)(void *)n;
  if (n->kind >= NK_EQ && n->kind <= NK_GE && is_index(b->a) && is_index(b->b))
    return expr_binary(n->kind, in_dtype(m, b->a), in_dtype(m, b->b), n->span);
  return mutate_children(m, n);
}

Node *te_with_index_dtype(Node *prim_func, DataType to) {
  Retype r = {.to = to};
  Mutator m = {.rewrite = rewrite, .context = &r};
  return mutate(&m, prim_func);
}
