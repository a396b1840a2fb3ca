/* merge_shared_memory_allocations.c -- arrays of shared memory that are not needed at the same time
 * get the same place.
 *
 * In:  flat launches, whose arrays of scope shared and shared.dyn have constant sizes.
 * Out: where that saves memory, each of them has the annotation "tvms.shared_offset", in bytes:
 * they are parts of one piece whose size is told at launch (lower_dynamic_shared). Where the back
 * end has no such piece, the annotation is no more than a hint. Not: barriers between who had a
 * place and who gets it: they are for ThreadSync, which comes later.
 *
 * An array is needed from the first statement that mentions it to the last one; in a loop that
 * stands inside its scope, from the loop's first to its last. The largest are placed first, each as
 * low as those that are needed at the same time allow. Arrays of two scopes do not share a place:
 * ThreadSync looks at one scope at a time. */
#include "lower/device/device.h"
#include <stdlib.h>

typedef struct SharedArray {
  Allocate *alloc;
  int64_t nbytes, offset;
  int first, last, depth; /* statements that need it, by number; loops around it */
} SharedArray;

typedef struct Merge {
  VEC(SharedArray) arrays;
  int64_t min_bytes; /* smaller ones are needed all the time */
  int now;
  IntVec loops; /* the number of the statement at which each open one begins */
} Merge;

static SharedArray *find(Merge *m, const Node *var) {
  for each (SharedArray, a, &m->arrays)
    if (a->alloc->var == var) return a;
  return NULL;
}

static void note_array(Merge *m, Allocate *n) {
  const char *scope = AS(Var, n->var)->scope;
  if (!scope || !str_begins(scope, "shared")) return;
  SharedArray a = {.alloc = n, .nbytes = shared_array_bytes(n), .depth = m->loops.len};
  vec_push(&m->arrays, a);
}

static void note_use(Merge *m, const Node *var) {
  SharedArray *a = find(m, var);
  if (!a) return;
  if (!a->first) a->first = m->now;
  a->last = m->now;
}

static bool is_loop(Node *n) { return IS(For, n) || IS(While, n); }

/* An array, or a view of one, where it is made, is no use. */
static WalkResult enter(Walker *w, Node *n) {
  Merge *m = w->context;
  if (IS(Buffer, n)) note_use(m, AS(Buffer, n)->data);
  if (IS(Var, n)) note_use(m, n);
  if (node_is_expr(n) || IS(Buffer, n)) return WALK_ON;
  m->now++;
  if (is_loop(n)) vec_push(&m->loops, m->now);
  if (IS(Allocate, n)) note_array(m, AS(Allocate, n));
  if (!IS(Allocate, n) && !IS(DeclBuffer, n)) return WALK_ON;
  walk(w, IS(Allocate, n) ? AS(Allocate, n)->body : AS(DeclBuffer, n)->body);
  return WALK_PRUNE;
}

static void leave(Walker *w, Node *n) {
  Merge *m = w->context;
  if (!is_loop(n)) return;
  int first = vec_pop(&m->loops);
  for each (SharedArray, a, &m->arrays) {
    if (a->last < first || a->depth > m->loops.len) continue;
    if (a->first > first) a->first = first;
    a->last = m->now;
  }
}

/* ---- places ---- */

static int by_size(const void *x, const void *y) {
  const SharedArray *a = *(SharedArray *const *)x, *b = *(SharedArray *const *)y;
  if (a->nbytes != b->nbytes) return a->nbytes > b->nbytes ? -1 : 1;
  return a < b ? -1 : 1; /* as they stand */
}

static bool is_in_the_way(const Merge *m, const SharedArray *a, const SharedArray *b,
                          int64_t offset) {
  bool is_small = a->nbytes < m->min_bytes || b->nbytes < m->min_bytes;
  bool is_alike = str_same(AS(Var, a->alloc->var)->scope, AS(Var, b->alloc->var)->scope);
  bool together = is_small || !is_alike || (a->first <= b->last && b->first <= a->last);
  return together && offset < b->offset + b->nbytes && b->offset < offset + a->nbytes;
}

/* As low as it goes: at the start, or behind one that is in the way. */
static void place(const Merge *m, SharedArray **sorted, int n) {
  SharedArray *a = sorted[n];
  for (int i = 0; i < n;) {
    if (!is_in_the_way(m, a, sorted[i], a->offset)) {
      i++;
      continue;
    }
    int64_t align = lower_shared_align(a->alloc), end = sorted[i]->offset + sorted[i]->nbytes;
    a->offset = (end + align - 1) / align * align;
    i = 0;
  }
}

/* Is that less than one behind the other? */
static bool plan(Merge *m) {
  int64_t sum = 0, end = 0;
  SharedArray **sorted = NEW_ARRAY(SharedArray *, m->arrays.len);
  for (int i = 0; i < m->arrays.len; i++) sorted[i] = &m->arrays.at[i];
  qsort(sorted, (size_t)m->arrays.len, sizeof *sorted, by_size);
  for (int i = 0; i < m->arrays.len; i++) {
    place(m, sorted, i);
    sum += sorted[i]->nbytes;
    if (sorted[i]->offset + sorted[i]->nbytes > end) end = sorted[i]->offset + sorted[i]->nbytes;
  }
  return end < sum;
}

static Node *annotate(Mutator *mu, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  SharedArray *a = IS(Allocate, n) ? find(mu->context, AS(Allocate, n)->var) : NULL;
  if (!a) return mutate_children(mu, n);
  Allocate copy = *AS(Allocate, n);
  Node *before = copy.annotations ? copy.annotations : dict_new();
  copy.annotations = dict_with(before, SHARED_OFFSET, int_imm(INT64, a->offset, n->span));
  copy.body = mutate(mu, copy.body);
  return gc_copy(&copy, sizeof copy);
}

static Node *rewrite(Mutator *mu, Node *n) {
  if (node_is_expr(n)) return n;
  if (!is_launch(n)) return mutate_children(mu, n);
  Merge m = {.min_bytes = *(const int64_t *)mu->context};
  Walker w = {.enter = enter, .leave = leave, .context = &m};
  walk(&w, n);
  Mutator notes = {.rewrite = annotate, .context = &m};
  return plan(&m) ? mutate(&notes, n) : n;
}

Node *pass_merge_shared_memory_allocations(Node *n, const PassContext *context) {
  bool has_piece = target_gpu_number(target_gpu(context->target)) > 0;
  int64_t min_bytes = pass_option_int(context, "min_bytes");
  Mutator m = {.rewrite = rewrite, .context = &min_bytes};
  return has_piece ? mutate_children(&m, n) : n;
}
