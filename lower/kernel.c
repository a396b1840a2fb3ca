/* kernel.c -- tensor programs as kernels: which variables a call must hand over. */
#include "lower/lower_impl.h"
#include "ir/arith/arith.h"

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

static void bind_once(Map *bound, Node *var, Node *value) {
  if (IS(Var, var) && !map_has(bound, var))
    map_set(bound, var, expr_cast(var->dtype, value, var->span));
}

static const char *number_text(Node *n) {
  int64_t value;
  return expr_is_const_int(n, &value) ? str_format("%lld", (long long)value) : ir_print(n, NULL);
}

/* Tensors come compact, row-major and whole: what says otherwise would lead out of them. */
static void check_place(const Buffer *b, Node *given, Node *stands, const char *what) {
  if (arith_can_prove_equal(arith_new(), given, stands)) return;
  error_raisef("LowerError", b->node.span,
               "buffer '%s' has %s %s, but is given as a compact tensor, which has %s", b->name,
               what, number_text(given), number_text(stands));
}

static void bind_offset(const Buffer *b, Map *bound) {
  Node *zero = int_imm(INT64, 0, b->node.span), *given = b->elem_offset;
  if (!given) return;
  bind_once(bound, given, zero);
  check_place(b, expr_cast(INT64, substitute(given, bound), given->span), zero, "elem_offset");
}

static void bind_strides(const Buffer *b, NodeVec extents, Map *bound) {
  Node *stride = int_imm(INT64, 1, b->node.span);
  for (int axis = b->strides.len - 1; axis >= 0; axis--) {
    Node *given = b->strides.at[axis];
    bind_once(bound, given, stride);
    if (!expr_is_one(b->shape.at[axis]))
      check_place(b, expr_cast(INT64, substitute(given, bound), given->span), stride,
                  str_format("along axis %d the stride", axis));
    stride = expr_mul(stride, expr_cast(INT64, extents.at[axis], b->node.span));
  }
}

void kernel_bind_dims(const PrimFunc *f, DimOf dims, void *context, Map *bound) {
  for (int i = 0; i < f->params.len; i++) {
    if (!f->buffers.at[i]) continue;
    Buffer *b = AS(Buffer, f->buffers.at[i]);
    NodeVec extents = {0};
    for (int axis = 0; axis < b->shape.len; axis++) {
      Node *dim = b->shape.at[axis], *extent = dims(context, i, axis);
      bind_once(bound, dim, extent);
      vec_push(&extents, IS(Var, dim) ? map_get(bound, dim) : IS(IntImm, dim) ? dim : extent);
    }
    bind_strides(b, extents, bound);
    bind_offset(b, bound);
  }
}
