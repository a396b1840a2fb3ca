/* transform_mma_buffer_layout.c -- fragments of matrices, which the threads of a warp hold
 * together, become the part that each thread holds.
 *
 * In:  flat functions with memory of a scope such as "m16n8k16.matrixA" (.matrixB, .matrixC), which
 *      only tensor intrinsics touch, by its pointer: the elements from e on, e a multiple of what
 *      one instruction takes, lie from element e / 32 on in each thread's part; e / 128 where four
 *      warps hold them, in a scope such as "m64n128.matrixC".
 * Out: memory of scope "local" with each thread's part of the elements. */
#include "lower/lower_impl.h"

static bool is_fragment(Node *data) {
  return IS(Var, data) && scope_is_fragment(AS(Var, data)->scope);
}

/* Memory of each thread in its place. */
static Node *part_of(Mutator *m, Allocate *a) {
  int64_t count = 1, extent;
  Span span = a->node.span;
  for each (Node *, e, &a->extents) {
    if (!expr_is_const_int(*e, &extent))
      error_raisef("LowerError", span,
                   "the size of the fragment '%s' must be a constant, but is %s",
                   AS(Var, a->var)->name, ir_print(*e, NULL));
    count *= extent;
  }
  int threads = scope_threads(AS(Var, a->var)->scope);
  if (count % threads)
    error_raisef("LowerError", span,
                 "the fragment '%s' of %lld elements can't be shared out to %d threads",
                 AS(Var, a->var)->name, (long long)count, threads);
  Allocate copy = *a;
  copy.var = pointer_var_new(AS(Var, a->var)->name, a->elem, "local", a->var->span);
  copy.extents = NODES(int_imm(INT32, count / threads, span));
  map_set(&m->identities, a->var, copy.var);
  copy.body = mutate(m, a->body);
  return gc_copy(&copy, sizeof copy);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(Allocate, n) && is_fragment(AS(Allocate, n)->var)) return part_of(m, AS(Allocate, n));
  if (IS(DeclBuffer, n) && is_fragment(AS(Buffer, AS(DeclBuffer, n)->buffer)->data))
    return mutate(m, AS(DeclBuffer, n)->body);
  Node *buffer = IS(BufferLoad, n)    ? AS(BufferLoad, n)->buffer
                 : IS(BufferStore, n) ? AS(BufferStore, n)->buffer
                                      : NULL;
  if (buffer && is_fragment(AS(Buffer, buffer)->data))
    error_raisef("LowerError", n->span,
                 "an element of the fragment '%s' has no address: only tensor intrinsics touch "
                 "memory of scope %s",
                 AS(Buffer, buffer)->name, AS(Var, AS(Buffer, buffer)->data)->scope);
  return mutate_children(m, n);
}

Node *pass_transform_mma_buffer_layout(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return mutate_children(&m, n);
}
