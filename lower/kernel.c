/* kernel.c -- tensor programs as kernels: which variables a call must hand over. */
#include "lower/lower_impl.h"

typedef struct Gather {
  Map seen;
  NodeVec vars;
} Gather;

static WalkResult gather_var(Walker *w, Node *n) {
  Gather *g = w->context;
  if (!IS(Var, n) || map_has(&g->seen, n)) return WALK_ON;
  map_set(&g->seen, n, n);
  vec_push(&g->vars, n);
  return WALK_ON;
}

static void gather_from(Gather *g, NodeVec exprs) {
  Walker w = {.enter = gather_var, .context = g};
  for each (Node *, e, &exprs) walk(&w, *e);
}

NodeVec kernel_params(const PrimFunc *f) {
  Gather g = {0};
  NodeVec params = {0};
  for (int i = 0; i < f->params.len; i++) {
    Node *p = f->buffers.at[i] ? AS(Buffer, f->buffers.at[i])->data : f->params.at[i];
    vec_push(&params, p);
    map_set(&g.seen, p, p);
  }
  for each (Node *, b, &f->buffers) {
    if (!*b) continue;
    Buffer *buffer = AS(Buffer, *b);
    gather_from(&g, buffer->shape);
    gather_from(&g, buffer->strides);
    if (buffer->elem_offset) gather_from(&g, NODES(buffer->elem_offset));
  }
  for each (Node *, v, &g.vars) vec_push(&params, *v);
  return params;
}

void kernel_bind_dims(const PrimFunc *f, DimOf dims, void *context, Map *bound) {
  for (int i = 0; i < f->params.len; i++) {
    if (!f->buffers.at[i]) continue;
    Buffer *b = AS(Buffer, f->buffers.at[i]);
    Node *stride = int_imm(INT64, 1, b->node.span);
    for (int axis = b->shape.len - 1; axis >= 0; axis--) {
      Node *dim = b->shape.at[axis], *extent = dims(context, i, axis);
      if (IS(Var, dim) && !map_has(bound, dim))
        map_set(bound, dim, expr_cast(dim->dtype, extent, b->node.span));
      Node *given = axis < b->strides.len ? b->strides.at[axis] : NULL;
      if (IS(Var, given) && !map_has(bound, given))
        map_set(bound, given, expr_cast(given->dtype, stride, b->node.span));
      stride = expr_mul(stride, expr_cast(INT64, extent, b->node.span));
    }
    if (IS(Var, b->elem_offset) && !map_has(bound, b->elem_offset))
      map_set(bound, b->elem_offset, int_imm(b->elem_offset->dtype, 0, b->node.span));
  }
}
