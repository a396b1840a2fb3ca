/* thread_access.c -- which elements of a block's memory a statement touches, by thread, and whether
 * two threads may meet there.
 *
 * Accesses are apart if no two threads can meet: their indices are the same but for a part that is
 * worked out for each thread of the block, or they are the same and known to be other ones in other
 * threads. A thread for which a condition around it fails is not there. Of the matrix instructions
 * it is known which elements a thread touches; a pointer that another call is given may lead
 * anywhere. */
#include "lower/tensor/thread_access.h"
#include "ir/arith/iter_map.h"
#include "passes/tensor/tensor.h"
#include <stdlib.h>

/* ---- places: what of an index differs by thread ---- */

enum { MOST_THREADS = 1024, FAR = 1 << 28, WIDEST = 1 << 20 };

/* The value of an index, whose variables are those of threads; false: it has others, or is large.
 */
static bool evaluate(const Map *values, Node *n, int64_t *out) {
  int64_t a, b;
  if (IS(Cast, n)) return n->dtype.bits >= 32 && evaluate(values, AS(Cast, n)->value, out);
  if (IS(Var, n) && map_has(values, n)) return *out = (intptr_t)map_get(values, n), true;
  if (expr_is_const_int(n, out)) return llabs(*out) < FAR;
  if (IS(Not, n)) return evaluate(values, AS(Not, n)->a, &a) && (*out = !a, true);
  if (is_intrin_call(n, "bitwise_xor")) {
    NodeVec args = AS(Call, n)->args;
    return evaluate(values, args.at[0], &a) && evaluate(values, args.at[1], &b) &&
           (*out = a ^ b, llabs(*out) < FAR);
  }
  if (!node_is_binary(n->kind)) return false;
  Binary *both = (Binary *)(void *)n;
  if (!evaluate(values, both->a, &a) || !evaluate(values, both->b, &b)) return false;
  DataType type = n->kind == NK_And || n->kind == NK_Or ? BOOL : INT64;
  Node *x = int_imm(type, a, n->span), *y = int_imm(type, b, n->span);
  return expr_is_const_int(expr_binary(n->kind, x, y, n->span), out) && llabs(*out) < FAR;
}

/* The number of threads, if it is known and not more than a block may have; else 0. */
static int thread_count(const Map *threads) {
  int64_t count = 1, extent;
  for each (MapEntry, e, threads) {
    if (!e->key) continue;
    bool known = expr_is_const_int(AS(Range, e->value)->extent, &extent) && extent > 0;
    if (!known || extent > MOST_THREADS / count) return 0;
    count *= extent;
  }
  return (int)count;
}

static void set_thread(const Map *threads, int number, Map *values) {
  int64_t extent;
  for each (MapEntry, e, threads) {
    if (!e->key || !expr_is_const_int(AS(Range, e->value)->extent, &extent)) continue;
    map_set(values, e->key, (void *)(intptr_t)(number % extent));
    number /= (int)extent;
  }
}

/* Does a condition around the access fail for the thread? */
static bool is_elsewhere(const NodeVec *conditions, const Map *values) {
  int64_t holds;
  for each (Node *, c, conditions)
    if (evaluate(values, *c, &holds) && !holds) return true;
  return false;
}

static void find_places(const ThreadSpace *s, Access *a) {
  const Map *threads = &s->threads;
  Map zeros = {0}, values = {0};
  for each (MapEntry, e, threads)
    if (e->key) {
      Node *var = (Node *)(uintptr_t)e->key;
      map_set(&zeros, var, int_imm(var->dtype, 0, var->span));
    }
  a->rest = arith_simplify(s->facts, substitute(a->index, &zeros));
  Node *moving = arith_simplify(s->facts, expr_sub(a->index, a->rest));
  for (int t = 0, n = thread_count(threads); t < n; t++) {
    int64_t place;
    set_thread(threads, t, &values);
    if (is_elsewhere(&s->conditions, &values)) place = NOT_HERE;
    else if (!evaluate(&values, moving, &place)) {
      a->place.len = 0;
      return;
    }
    vec_push(&a->place, (int)place);
  }
}

static void add_condition(ThreadSpace *s, Node *cond) {
  if (!IS(And, cond)) {
    vec_push(&s->conditions, cond);
    return;
  }
  Binary *both = (Binary *)(void *)cond;
  add_condition(s, both->a);
  add_condition(s, both->b);
}

int enter_branch(ThreadSpace *s, Node *cond) {
  int before = s->conditions.len;
  add_condition(s, substitute(cond, &s->lets));
  return before;
}

void leave_branch(ThreadSpace *s, int before) { s->conditions.len = before; }

/* ---- accesses ---- */

typedef struct Collect {
  ThreadSpace *space;
  AccessVec *out;
} Collect;

static WalkResult note_step(Walker *w, Node *n) {
  Access *a = ((void **)w->context)[0];
  ThreadSpace *s = ((void **)w->context)[1];
  void *step = IS(Var, n) ? map_get(&s->steps, n) : NULL;
  if (step) map_set(&a->steps, n, step);
  return WALK_ON;
}

static WalkResult find_xor(Walker *w, Node *n) {
  (void)w;
  return is_intrin_call(n, "bitwise_xor") ? WALK_STOP : WALK_ON;
}

static bool exchanges_columns(Node *index) {
  Walker w = {.enter = find_xor};
  return !walk(&w, index);
}

/* From the index on; NULL: anywhere. */
static void add_access(Collect *c, Node *data, Node *index, int width, bool writes) {
  ThreadSpace *s = c->space;
  if (!IS(Var, data) || !str_same(AS(Var, data)->scope, s->scope)) return;
  Access a = {.data = data, .writes = writes, .width = width};
  void *context[] = {&a, s};
  Walker w = {.enter = note_step, .context = context};
  if (index) {
    a.index = substitute(index, &s->lets);
    walk(&w, a.index);
    find_places(s, &a);
    if (exchanges_columns(a.index))
      for each (Node *, x, &s->conditions) vec_push(&a.conditions, *x);
  }
  vec_push(c->out, a);
}

/* A scalar, or neighbours; other vectors are anywhere. */
static void add_element(Collect *c, Node *buffer, NodeVec indices, bool writes) {
  Node *data = AS(Buffer, buffer)->data, *index = indices.len == 1 ? indices.at[0] : NULL;
  int width = 1;
  if (index && IS(Ramp, index) && expr_is_one(AS(Ramp, index)->stride)) {
    width = AS(Ramp, index)->lanes;
    index = AS(Ramp, index)->base;
  }
  add_access(c, data, index && index->dtype.lanes == 1 ? index : NULL, width, writes);
}

/* Pointers that calls are given are read and written, wherever they like. */
static void add_pointer(Collect *c, Node *pointer) {
  bool reads_only = false;
  if (is_intrin_call(pointer, "address_of") && IS(BufferLoad, AS(Call, pointer)->args.at[0]))
    pointer = AS(Buffer, AS(BufferLoad, AS(Call, pointer)->args.at[0])->buffer)->data;
  if (is_intrin_call(pointer, "tvm_access_ptr")) {
    int64_t mask = 0;
    reads_only = expr_is_const_int(AS(Call, pointer)->args.at[4], &mask) && mask == 1;
    pointer = AS(Call, pointer)->args.at[1];
  }
  if (IS(Var, pointer)) add_access(c, pointer, NULL, 1, !reads_only);
}

/* The number of the thread in its warp of 32; NULL: not known. */
static Node *lane_of(const ThreadSpace *s, Span span) {
  int64_t extents[3] = {1, 1, 1};
  for (int d = 0; d < 3; d++) {
    Range *range = s->axes[d] ? map_get(&s->threads, s->axes[d]) : NULL;
    if (range && !expr_is_const_int(range->extent, &extents[d])) return NULL;
  }
  return warp_lane(s->axes, extents, span);
}

/* T.ptx_ldmatrix: each thread names 16 bytes. */
static void add_ldmatrix(Collect *c, NodeVec args) {
  Node *data = args.at[5];
  int nbytes = IS(Var, data) ? dtype_nbytes(AS(Var, data)->elem) : 0;
  if (nbytes) add_access(c, data, args.at[6], 16 / nbytes, false);
  else add_pointer(c, data);
}

static void add_mma_store(Collect *c, Call *n) {
  Node *pointer = n->args.at[2];
  bool is_known = is_intrin_call(pointer, "tvm_access_ptr");
  Node *lane = is_known ? lane_of(c->space, pointer->span) : NULL;
  if (!lane) return add_pointer(c, pointer);
  for (int i = 0; i < MMA_STORE_PAIRS; i++)
    add_access(c, AS(Call, pointer)->args.at[1], mma_store_pair(n, lane, i), 2, true);
}

/* T.ptx_wgmma reads operands in shared memory. */
static void add_wgmma(Collect *c, NodeVec args) {
  add_access(c, args.at[6], NULL, 1, false);
  add_access(c, args.at[10], NULL, 1, false);
}

static void add_call(Collect *c, Call *n) {
  bool reduces = is_intrin_call(&n->node, "tvm_thread_allreduce");
  if (is_intrin_call(&n->node, "tvm_access_ptr")) return add_pointer(c, &n->node);
  if (is_intrin_call(&n->node, "ptx_wgmma")) return add_wgmma(c, n->args);
  for each (Node *, x, &n->args) {
    if (reduces && IS(BufferLoad, *x)) /* its results are among them */
      add_access(c, AS(Buffer, AS(BufferLoad, *x)->buffer)->data, NULL, 1, true);
    add_pointer(c, *x);
  }
}

/* What is not a pointer may load. */
static void walk_values(Walker *w, NodeVec args) {
  for each (Node *, x, &args)
    if (is_intrin_call(*x, "tvm_access_ptr")) walk(w, AS(Call, *x)->args.at[2]);
    else if (!IS(Var, *x)) walk(w, *x);
}

static void walk_branch(Walker *w, IfThenElse *n) {
  ThreadSpace *s = ((Collect *)w->context)->space;
  walk(w, n->cond);
  int before = enter_branch(s, n->cond);
  walk(w, n->then);
  leave_branch(s, before);
  enter_branch(s, expr_not(n->cond, n->node.span));
  if (n->orelse) walk(w, n->orelse);
  leave_branch(s, before);
}

static WalkResult collect_node(Walker *w, Node *n) {
  Collect *c = w->context;
  if (IS(IfThenElse, n)) return walk_branch(w, AS(IfThenElse, n)), WALK_PRUNE;
  bool is_ldmatrix = is_intrin_call(n, "ptx_ldmatrix");
  if (is_ldmatrix || is_intrin_call(n, "mma_store")) {
    if (is_ldmatrix) add_ldmatrix(c, AS(Call, n)->args);
    else add_mma_store(c, AS(Call, n));
    walk_values(w, AS(Call, n)->args);
    return WALK_PRUNE;
  }
  if (IS(BufferLoad, n)) {
    BufferLoad *l = AS(BufferLoad, n);
    add_element(c, l->buffer, l->indices, false);
    for each (Node *, i, &l->indices) walk(w, *i);
    return WALK_PRUNE;
  }
  if (IS(BufferStore, n))
    add_element(c, AS(BufferStore, n)->buffer, AS(BufferStore, n)->indices, true);
  if (IS(Call, n)) add_call(c, AS(Call, n));
  return IS(Buffer, n) ? WALK_PRUNE : WALK_ON;
}

AccessVec accesses_of(ThreadSpace *s, Node *n) {
  AccessVec out = {0};
  Collect c = {s, &out};
  Walker w = {.enter = collect_node, .context = &c};
  if (n) walk(&w, n);
  return out;
}

void add_accesses(AccessVec *to, const AccessVec *from) {
  for each (const Access, a, from) vec_push(to, *a);
}

/* ---- conflicts ---- */

static bool in_same_steps(const Access *a, const Access *b) {
  for each (MapEntry, e, &a->steps)
    if (e->key && map_get(&b->steps, e->key) != e->value) return false;
  return true;
}

/* ---- indices that are no sums of digits: exchanged columns ---- */

enum { MOST_TRIES = 1 << 13 };

/* Steps of loops: their number, or 0 if it isn't known or large; of a number the values. */
static int64_t count_steps(const ThreadSpace *s, const Map *moving) {
  int64_t count = 1, min, extent;
  for each (MapEntry, e, moving) {
    Node *var = (Node *)(uintptr_t)e->key;
    if (!var || map_has(&s->threads, var)) continue;
    Range *r = e->value;
    if (!r || !expr_is_const_int(r->min, &min) || !expr_is_const_int(r->extent, &extent)) return 0;
    if (extent < 1 || extent > MOST_TRIES / count) return 0;
    count *= extent;
  }
  return count;
}

static void set_steps(const ThreadSpace *s, const Map *moving, int64_t number, Map *values) {
  int64_t min, extent;
  for each (MapEntry, e, moving) {
    Node *var = (Node *)(uintptr_t)e->key;
    if (!var || map_has(&s->threads, var)) continue;
    Range *r = e->value;
    if (!expr_is_const_int(r->min, &min) || !expr_is_const_int(r->extent, &extent)) continue;
    map_set(values, var, (void *)(intptr_t)(min + number % extent));
    number /= extent;
  }
}

static void add_zeros(Map *zeros, const Map *vars) {
  for each (MapEntry, e, vars) {
    Node *var = (Node *)(uintptr_t)e->key;
    if (var) map_set(zeros, var, int_imm(var->dtype, 0, var->span));
  }
}

/* What the variables add to an index. */
static Node *moving_part(const ThreadSpace *s, Node *index, const Map *moving, const Map *fixed) {
  Map zeros = {0};
  add_zeros(&zeros, moving);
  add_zeros(&zeros, fixed);
  return arith_simplify(s->facts, expr_sub(index, substitute(index, &zeros)));
}

/* No thread comes to the place of another one in any of the steps, with what `values` says. */
static bool have_own_places(const ThreadSpace *s, const Access *a, const Access *b, Node *part,
                            const Map *moving, Map *values) {
  int threads = thread_count(&s->threads);
  int64_t steps = count_steps(s, moving), place;
  Map owners = {0}; /* a place + FAR + 1 as a pointer, to a thread + 1 */
  for (int64_t i = 0; i < steps * threads; i++) {
    int thread = (int)(i % threads);
    set_thread(&s->threads, thread, values);
    set_steps(s, moving, i / threads, values);
    if (is_elsewhere(&a->conditions, values) && is_elsewhere(&b->conditions, values)) continue;
    if (!evaluate(values, part, &place)) return false;
    void *key = (void *)(intptr_t)(place + FAR + 1), *other = map_get(&owners, key);
    if (other && (intptr_t)other != thread + 1) return false;
    map_set(&owners, key, (void *)(intptr_t)(thread + 1));
  }
  return true;
}

/* The same for each step of the other loops that an index mentions, by trying all. */
static bool is_own_when_tried(const ThreadSpace *s, const Access *a, const Access *b,
                              const Map *moving) {
  if (!exchanges_columns(a->index)) return false;
  Map fixed = {0}, values = {0};
  for each (MapEntry, e, &a->steps)
    if (e->key && !map_has(moving, e->key)) map_set(&fixed, e->key, map_get(&s->loops, e->key));
  int threads = thread_count(&s->threads);
  int64_t steps = count_steps(s, moving), others = count_steps(s, &fixed);
  if (!threads || !steps || !others || steps > MOST_TRIES / threads / others) return false;
  Node *part = moving_part(s, a->index, moving, &fixed);
  for (int64_t i = 0; i < others; i++) {
    set_steps(s, &fixed, i, &values);
    if (!have_own_places(s, a, b, part, moving, &values)) return false;
  }
  return true;
}

/* Does each thread have an index of its own, the same in both, in each step of the loops that may
 * be in another one? Of vectors, which begin at multiples of their width. */
static bool is_own(ThreadSpace *s, const Access *a, const Access *b) {
  Modular m = arith_modular(s->facts, a->index);
  if (a->width != b->width || m.coeff % a->width != 0 || m.base % a->width != 0) return false;
  if (!expr_is_zero(arith_simplify(s->facts, expr_sub(a->index, b->index)))) return false;
  Map moving = {0};
  for each (MapEntry, e, &s->threads)
    if (e->key) map_set(&moving, e->key, e->value);
  for each (MapEntry, e, &a->steps)
    if (e->key && map_get(&b->steps, e->key) != e->value)
      map_set(&moving, e->key, map_get(&s->loops, e->key));
  return iter_map_detect(NODES(a->index), &moving, NULL, s->facts).injective ||
         is_own_when_tried(s, a, b, &moving);
}

/* Does no thread come to the place of another one? By the places of all. */
static bool is_apart(ThreadSpace *s, const Access *a, const Access *b) {
  int64_t shift;
  if (!a->place.len || !b->place.len) return false;
  if (!expr_is_const_int(arith_simplify(s->facts, expr_sub(b->rest, a->rest)), &shift))
    return false;
  int low = INT32_MAX, high = NOT_HERE;
  for each (int, p, &a->place) {
    if (*p == NOT_HERE) continue;
    low = *p < low ? *p : low, high = *p > high ? *p : high;
  }
  if (high == NOT_HERE) return true;
  high += a->width - 1;
  if (high - low >= WIDEST) return false;
  int *owner = NEW_ARRAY(int, high - low + 1); /* a thread + 1 */
  for (int t = 0; t < a->place.len; t++)
    for (int i = 0; i < a->width && a->place.at[t] != NOT_HERE; i++) {
      int *at = &owner[a->place.at[t] - low + i];
      if (*at && *at != t + 1) return false;
      *at = t + 1;
    }
  for (int t = 0; t < b->place.len; t++)
    for (int i = 0; i < b->width && b->place.at[t] != NOT_HERE; i++) {
      int64_t place = b->place.at[t] + shift + i;
      int other = place < low || place > high ? 0 : owner[place - low];
      if (other && other != t + 1) return false;
    }
  return true;
}

/* Do two arrays lie in the same place? One is needed no more when the other one is written. */
static bool is_same_place(const ThreadSpace *s, const Node *a, const Node *b) {
  const Allocate *x = map_get(&s->arrays, a), *y = map_get(&s->arrays, b);
  if (!x || !y) return false;
  int64_t first = shared_array_offset(x), second = shared_array_offset(y);
  return first < second + shared_array_bytes(y) && second < first + shared_array_bytes(x);
}

bool accesses_may_meet(ThreadSpace *s, const Access *a, const Access *b) {
  if (!(a->writes || b->writes)) return false;
  if (a->data != b->data) return is_same_place(s, a->data, b->data);
  if (!a->index || !b->index) return true;
  if (is_own(s, a, b)) return false;
  return !in_same_steps(a, b) || !in_same_steps(b, a) || !is_apart(s, a, b);
}
