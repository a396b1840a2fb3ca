/* narrow_data_type.c -- loop variables and indices of more bits than they need get fewer.
 *
 * Out: a loop whose bounds are known to fit counts in the narrow type; so does an index, and a
 *      comparison of integers, if all that it is computed from is known to fit. Elsewhere the
 *      variable is cast to the type it had. */
#include "ir/arith/arith.h"
#include "passes/tensor/narrow.h"

typedef struct Narrow {
  DataType to;
  bool force, changed;
  Map vars; /* loop variable to its narrow one */
  Analyzer *analyzer;
} Narrow;

static Node *narrow(Narrow *c, Node *n);

static bool is_wide(Narrow *c, DataType t) {
  return t.code == DTYPE_INT && t.bits > c->to.bits && t.lanes >= 1;
}

static bool fits(Narrow *c, Node *n) {
  if (c->force) return true;
  if (n->dtype.lanes != 1) return false;
  ConstBound b = arith_const_bound(c->analyzer, n);
  return b.lo >= dtype_min_int(c->to) && b.hi <= dtype_max_int(c->to);
}

static Node *narrow_constant(Narrow *c, Node *n) {
  int64_t value = AS(IntImm, n)->value;
  if (value >= dtype_min_int(c->to) && value <= dtype_max_int(c->to))
    return int_imm(c->to, value, n->span);
  if (c->force)
    error_raisef("LowerError", n->span, "the constant %ld does not fit in %s", (long)value,
                 dtype_text(c->to));
  return NULL;
}

static Node *narrow_ramp(Narrow *c, Node *n) {
  Ramp *r = AS(Ramp, n);
  Node *steps = int_imm(r->stride->dtype, r->lanes - 1, n->span);
  Node *last = expr_add(r->base, expr_mul(r->stride, steps));
  Node *base = narrow(c, r->base), *stride = narrow(c, r->stride);
  if (!base || !stride || !fits(c, last)) return NULL;
  return MAKE(Ramp, n->span, dtype_with_lanes(c->to, r->lanes), .base = base, .stride = stride,
              .lanes = r->lanes);
}

static Node *narrow_binary(Narrow *c, Node *n) {
  Binary *b = (Binary *)(void *)n;
  bool number = n->kind < NK_EQ;
  if (number && n->dtype.lanes == 1 && !fits(c, n)) return NULL;
  if (number && n->dtype.lanes != 1 && !c->force) return NULL; /* its lanes are not known */
  Node *x = narrow(c, b->a), *y = x ? narrow(c, b->b) : NULL;
  if (!y) return NULL;
  Binary out = {{n->kind, dtype_with_lanes(c->to, n->dtype.lanes), n->span}, x, y};
  return gc_copy(&out, sizeof out);
}

/* The expression in the narrow type, or NULL: it is not known to fit. */
static Node *narrow(Narrow *c, Node *n) {
  if (!is_wide(c, n->dtype)) return dtype_equal(dtype_element(n->dtype), c->to) ? n : NULL;
  Node *x;
  switch (n->kind) {
  case NK_IntImm: return narrow_constant(c, n);
  case NK_Var:
    x = map_get(&c->vars, n);
    return x ? x : fits(c, n) ? expr_cast(c->to, n, n->span) : NULL;
  case NK_Ramp: return narrow_ramp(c, n);
  case NK_Broadcast:
    x = narrow(c, AS(Broadcast, n)->value);
    return x ? MAKE(Broadcast, n->span, dtype_with_lanes(c->to, n->dtype.lanes), .value = x,
                    .lanes = AS(Broadcast, n)->lanes)
             : NULL;
  case NK_Cast:
    x = AS(Cast, n)->value;
    if (dtype_equal(dtype_element(x->dtype), c->to)) return x;
    break;
  default:
    if (node_is_binary(n->kind)) return narrow_binary(c, n);
  }
  return fits(c, n) ? expr_cast(dtype_with_lanes(c->to, n->dtype.lanes), n, n->span) : NULL;
}

static NodeVec narrow_all(Mutator *m, NodeVec indices) {
  NodeVec out = {0};
  for each (Node *, i, &indices) {
    Narrow *c = m->context;
    Node *x = is_wide(c, (*i)->dtype) ? narrow(c, *i) : NULL;
    c->changed |= x != NULL;
    vec_push(&out, mutate(m, x ? x : *i));
  }
  return out;
}

static Node *narrow_comparison(Mutator *m, Node *n) {
  Narrow *c = m->context;
  Binary *b = (Binary *)(void *)n;
  Node *x = is_wide(c, b->a->dtype) ? narrow(c, b->a) : NULL, *y = x ? narrow(c, b->b) : NULL;
  if (!y) return mutate_children(m, n);
  c->changed = true;
  Binary out = {{n->kind, n->dtype, n->span}, mutate(m, x), mutate(m, y)};
  return gc_copy(&out, sizeof out);
}

static Node *narrow_loop(Mutator *m, Node *n) {
  Narrow *c = m->context;
  For f = *AS(For, n);
  Node *min = NULL, *extent = NULL;
  if (is_wide(c, f.var->dtype) && fits(c, expr_add(f.min, f.extent))) {
    min = narrow(c, f.min);
    extent = min ? narrow(c, f.extent) : NULL;
  }
  int mark = arith_enter(c->analyzer, int_imm(BOOL, 1, n->span));
  arith_bind_range(c->analyzer, f.var, f.min, f.extent);
  f.min = mutate(m, extent ? min : f.min);
  f.extent = mutate(m, extent ? extent : f.extent);
  if (extent) {
    Node *var = var_new(AS(Var, f.var)->name, c->to, f.var->span);
    map_set(&c->vars, f.var, var);
    map_set(&m->identities, f.var, expr_cast(f.var->dtype, var, f.var->span));
    f.var = var;
    c->changed = true;
  }
  f.body = mutate(m, f.body);
  arith_leave(c->analyzer, mark);
  return gc_copy(&f, sizeof f);
}

/* The number of a thread is known to lie below that of all threads. */
static void note_launch(Narrow *c, AttrStmt *n) {
  if (!str_same(n->key, "thread_extent") || !IS(IterVar, n->subject)) return;
  Node *var = AS(IterVar, n->subject)->var;
  arith_bind_range(c->analyzer, var, int_imm(var->dtype, 0, n->node.span), n->value);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(Buffer, n) || IS(Var, n)) return n;
  switch (n->kind) {
  case NK_AttrStmt: note_launch(m->context, AS(AttrStmt, n)); return mutate_children(m, n);
  case NK_For: return narrow_loop(m, n);
  case NK_BufferLoad: {
    BufferLoad l = *AS(BufferLoad, n);
    l.indices = narrow_all(m, l.indices);
    l.predicate = mutate(m, l.predicate);
    return gc_copy(&l, sizeof l);
  }
  case NK_BufferStore: {
    BufferStore s = *AS(BufferStore, n);
    s.indices = narrow_all(m, s.indices);
    s.value = mutate(m, s.value);
    s.predicate = mutate(m, s.predicate);
    return gc_copy(&s, sizeof s);
  }
  default:
    return n->kind >= NK_EQ && n->kind <= NK_GE ? narrow_comparison(m, n) : mutate_children(m, n);
  }
}

Node *narrow_indices(Node *prim_func, int bits, bool force) {
  Narrow c = {.to = {DTYPE_INT, (uint8_t)bits, 1}, .force = force, .analyzer = arith_new()};
  Mutator m = {.rewrite = rewrite, .context = &c};
  Node *body = mutate(&m, AS(PrimFunc, prim_func)->body);
  return c.changed ? prim_func_with_body(prim_func, body) : prim_func;
}

Node *pass_narrow_data_type(Node *n, const PassContext *context) {
  int64_t bits = pass_option_int(context, "target_bits");
  if (bits != 8 && bits != 16 && bits != 32)
    error_raisef("PipelineError", n->span, "NarrowDataType: target_bits is 8, 16 or 32");
  return narrow_indices(n, (int)bits, false);
}
