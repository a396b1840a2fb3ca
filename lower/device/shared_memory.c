/* shared_memory.c -- which memory of a kernel's blocks has its size told at launch, and where its
 * arrays lie in it. */
#include "lower/device/device.h"

enum { ALIGN = 128 }; /* of an array that asks for no more */

static int64_t bytes_of(const Allocate *a) {
  int64_t nbytes = dtype_nbytes(a->elem), extent = 0;
  for each (Node *, e, &a->extents) nbytes *= expr_is_const_int(*e, &extent) ? extent : 0;
  return nbytes;
}

int64_t lower_shared_align(const Allocate *a) {
  return a->annotations ? dict_get_int(a->annotations, SHARED_ALIGN, ALIGN) : ALIGN;
}

static int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

int64_t shared_array_bytes(const Allocate *a) {
  return rounded_up(bytes_of(a), lower_shared_align(a));
}

int64_t shared_array_offset(const Allocate *a) {
  return a->annotations ? dict_get_int(a->annotations, SHARED_OFFSET, -1) : -1;
}

typedef struct Shared {
  NodeVec fixed, dynamic; /* Allocates */
  int64_t fixed_bytes;
  bool is_placed; /* they have their places in one piece */
} Shared;

static WalkResult find_arrays(Walker *w, Node *n) {
  Shared *s = w->context;
  if (!IS(Allocate, n)) return node_is_expr(n) ? WALK_PRUNE : WALK_ON;
  const char *scope = AS(Var, AS(Allocate, n)->var)->scope;
  if (!scope || !str_begins(scope, "shared")) return WALK_ON;
  s->is_placed |= shared_array_offset(AS(Allocate, n)) >= 0;
  if (str_same(scope, "shared.dyn")) return vec_push(&s->dynamic, n), WALK_ON;
  vec_push(&s->fixed, n);
  s->fixed_bytes += shared_array_bytes(AS(Allocate, n));
  return WALK_ON;
}

static DynamicShared in_one_piece(const NodeVec *arrays) {
  DynamicShared out = {0};
  for each (Node *, n, arrays) {
    int64_t offset = shared_array_offset(AS(Allocate, *n));
    if (offset < 0) offset = rounded_up(out.nbytes, lower_shared_align(AS(Allocate, *n)));
    int64_t end = offset + shared_array_bytes(AS(Allocate, *n));
    vec_push(&out.vars, AS(Allocate, *n)->var);
    vec_push(&out.offsets, offset);
    if (end > out.nbytes) out.nbytes = end;
  }
  return out;
}

static Shared arrays_of(Node *body) {
  Shared s = {0};
  Walker w = {.enter = find_arrays, .context = &s};
  walk(&w, body);
  return s;
}

DynamicShared lower_dynamic_shared(PrimFunc *kernel) {
  Shared s = arrays_of(kernel->body);
  if (s.is_placed || s.fixed_bytes > LOWER_STATIC_SHARED)
    for each (Node *, n, &s.fixed) vec_push(&s.dynamic, *n);
  return in_one_piece(&s.dynamic);
}

int64_t shared_bytes(Node *launch) {
  Shared s = arrays_of(launch);
  int64_t sum = 0;
  for each (Node *, n, &s.fixed) vec_push(&s.dynamic, *n);
  for each (Node *, n, &s.dynamic) sum += bytes_of(AS(Allocate, *n));
  return s.is_placed ? in_one_piece(&s.dynamic).nbytes : sum;
}
