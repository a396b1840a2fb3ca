/* shared_memory.c -- which memory of a kernel's blocks has its size told at launch, and where its
 * arrays lie in it. */
#include "lower/device/device.h"

enum { ALIGN = 128 }; /* of an array */

static int64_t array_bytes(Allocate *a) {
  int64_t nbytes = dtype_nbytes(a->elem), extent = 0;
  for each (Node *, e, &a->extents) nbytes *= expr_is_const_int(*e, &extent) ? extent : 0;
  return (nbytes + ALIGN - 1) / ALIGN * ALIGN;
}

typedef struct Shared {
  NodeVec fixed, dynamic; /* Allocates */
  int64_t fixed_bytes;
} Shared;

static WalkResult find_arrays(Walker *w, Node *n) {
  Shared *s = w->context;
  if (!IS(Allocate, n)) return node_is_expr(n) ? WALK_PRUNE : WALK_ON;
  const char *scope = AS(Var, AS(Allocate, n)->var)->scope;
  if (!scope || !str_begins(scope, "shared")) return WALK_ON;
  if (str_same(scope, "shared.dyn")) return vec_push(&s->dynamic, n), WALK_ON;
  vec_push(&s->fixed, n);
  s->fixed_bytes += array_bytes(AS(Allocate, n));
  return WALK_ON;
}

DynamicShared lower_dynamic_shared(PrimFunc *kernel) {
  Shared s = {0};
  Walker w = {.enter = find_arrays, .context = &s};
  DynamicShared out = {0};
  walk(&w, kernel->body);
  if (s.fixed_bytes > LOWER_STATIC_SHARED)
    for each (Node *, n, &s.fixed) vec_push(&s.dynamic, *n);
  for each (Node *, n, &s.dynamic) {
    vec_push(&out.vars, AS(Allocate, *n)->var);
    vec_push(&out.offsets, out.nbytes);
    out.nbytes += array_bytes(AS(Allocate, *n));
  }
  return out;
}
