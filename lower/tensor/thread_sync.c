/* thread_sync.c -- barriers where a thread of a block may touch what another one wrote, or write
 * what another one touched.
 *
 * In:  flat functions (after FlattenBuffer), with memory of one storage scope in view. Out: the
 * same with T.tvm_storage_sync before statements that conflict with what was done since the last
 * one.
 *
 * A function with attribute tvms.manual_sync has its barriers by hand, and gets none.
 *
 * The walk is in the order of execution. Accesses are apart if no two threads can meet there: their
 * indices are the same but for a part that is worked out for each thread of the block, or they are
 * the same and known to be other ones in other threads.
 * Loops are walked twice, so that a step meets what the step before it left, and once more behind
 * what stood before them: that asks for one barrier before the loop. A barrier stands only
 * where all threads come: in branches and loops that depend on the thread none can, and they are
 * refused if one is needed inside. What InjectSoftwarePipeline marks as "async_pipeline" has its
 * barriers, and is one step. */
#include "ir/arith/iter_map.h"
#include "lower/lower_impl.h"
#include "passes/tensor/tensor.h"
#include <stdlib.h>

typedef struct Access {
  Node *data, *index; /* index NULL: anywhere */
  bool writes;
  Node *rest;   /* of the index, without its places: where all variables of threads are 0 */
  IntVec place; /* index - rest in each thread of the block; empty: not known */
  Map steps;    /* variables of loops in the index to the number of the step */
} Access;
typedef VEC(Access) AccessVec;

typedef struct Sync {
  const char *scope;
  Map threads; /* Var of each dimension of the block to its Range */
  Map differs; /* variables that may differ by thread */
  Map steps;   /* variable of an open loop to the number of its step */
  Map loops;   /* variables of loops to their Range */
  Map lets;    /* variables to their values, which load nothing */
  Map before;  /* statements that a barrier stands before */
  AccessVec pending;
  Analyzer *facts;
  intptr_t step; /* of loops, so far */
} Sync;

/* ---- places: what of an index differs by thread ---- */

enum { MOST_THREADS = 1024, FAR = 1 << 28, WIDEST = 1 << 20 };

/* The value of an index, whose variables are those of threads; false: it has others, or is large.
 */
static bool evaluate(const Map *values, Node *n, int64_t *out) {
  int64_t a, b;
  if (IS(Cast, n)) return n->dtype.bits >= 32 && evaluate(values, AS(Cast, n)->value, out);
  if (IS(Var, n) && map_has(values, n)) return *out = (intptr_t)map_get(values, n), true;
  if (expr_is_const_int(n, out)) return llabs(*out) < FAR;
  if (!node_is_binary(n->kind)) return false;
  Binary *both = (Binary *)(void *)n;
  if (!evaluate(values, both->a, &a) || !evaluate(values, both->b, &b)) return false;
  Node *x = int_imm(INT64, a, n->span), *y = int_imm(INT64, b, n->span);
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

static void find_places(const Map *threads, Analyzer *facts, Access *a) {
  Map zeros = {0}, values = {0};
  for each (MapEntry, e, threads)
    if (e->key) {
      Node *var = (Node *)(uintptr_t)e->key;
      map_set(&zeros, var, int_imm(var->dtype, 0, var->span));
    }
  a->rest = arith_simplify(facts, substitute(a->index, &zeros));
  Node *moving = arith_simplify(facts, expr_sub(a->index, a->rest));
  for (int t = 0, n = thread_count(threads); t < n; t++) {
    int64_t place;
    set_thread(threads, t, &values);
    if (!evaluate(&values, moving, &place)) {
      a->place.len = 0;
      return;
    }
    vec_push(&a->place, (int)place);
  }
}

/* ---- accesses ---- */

static WalkResult note_step(Walker *w, Node *n) {
  Access *a = ((void **)w->context)[0];
  Sync *s = ((void **)w->context)[1];
  void *step = IS(Var, n) ? map_get(&s->steps, n) : NULL;
  if (step) map_set(&a->steps, n, step);
  return WALK_ON;
}

static void add_access(Sync *s, AccessVec *out, Node *data, NodeVec indices, bool writes) {
  if (!IS(Var, data) || !str_same(AS(Var, data)->scope, s->scope)) return;
  Access a = {.data = data, .writes = writes};
  if (indices.len == 1 && indices.at[0]->dtype.lanes == 1)
    a.index = substitute(indices.at[0], &s->lets);
  void *context[] = {&a, s};
  Walker w = {.enter = note_step, .context = context};
  if (a.index) {
    walk(&w, a.index);
    find_places(&s->threads, s->facts, &a);
  }
  vec_push(out, a);
}

typedef struct Collect {
  Sync *sync;
  AccessVec *out;
} Collect;

/* Pointers that calls are given are read and written, wherever they like. */
static WalkResult collect_node(Walker *w, Node *n) {
  Collect *c = w->context;
  NodeVec anywhere = {0};
  if (IS(BufferLoad, n)) {
    BufferLoad *l = AS(BufferLoad, n);
    add_access(c->sync, c->out, AS(Buffer, l->buffer)->data, l->indices, false);
    for each (Node *, i, &l->indices) walk(w, *i);
    return WALK_PRUNE;
  }
  if (IS(BufferStore, n))
    add_access(c->sync, c->out, AS(Buffer, AS(BufferStore, n)->buffer)->data,
               AS(BufferStore, n)->indices, true);
  if (IS(Buffer, n)) return WALK_PRUNE;
  bool reduces = is_intrin_call(n, "tvm_thread_allreduce");
  if (IS(Call, n))
    for each (Node *, x, &AS(Call, n)->args) {
      if (reduces && IS(BufferLoad, *x)) /* its results are among them */
        add_access(c->sync, c->out, AS(Buffer, AS(BufferLoad, *x)->buffer)->data, anywhere, true);
      Node *pointer = *x;
      if (is_intrin_call(pointer, "address_of") && IS(BufferLoad, AS(Call, pointer)->args.at[0]))
        pointer = AS(Buffer, AS(BufferLoad, AS(Call, pointer)->args.at[0])->buffer)->data;
      if (IS(Var, pointer)) add_access(c->sync, c->out, pointer, anywhere, true);
    }
  return WALK_ON;
}

static AccessVec accesses_of(Sync *s, Node *n) {
  AccessVec out = {0};
  Collect c = {s, &out};
  Walker w = {.enter = collect_node, .context = &c};
  if (n) walk(&w, n);
  return out;
}

/* ---- conflicts ---- */

static bool in_same_steps(const Access *a, const Access *b) {
  for each (MapEntry, e, &a->steps)
    if (e->key && map_get(&b->steps, e->key) != e->value) return false;
  return true;
}

/* Does each thread have an index of its own, the same in both, in each step of the loops that may
 * be in another one? */
static bool is_own(Sync *s, const Access *a, const Access *b) {
  if (!expr_is_zero(arith_simplify(s->facts, expr_sub(a->index, b->index)))) return false;
  Map moving = {0};
  for each (MapEntry, e, &s->threads)
    if (e->key) map_set(&moving, e->key, e->value);
  for each (MapEntry, e, &a->steps)
    if (e->key && map_get(&b->steps, e->key) != e->value)
      map_set(&moving, e->key, map_get(&s->loops, e->key));
  return iter_map_detect(NODES(a->index), &moving, NULL, s->facts).injective;
}

/* Does no thread come to the place of another one? By the places of all. */
static bool is_apart(Sync *s, const Access *a, const Access *b) {
  int64_t shift;
  if (!a->place.len || !b->place.len) return false;
  if (!expr_is_const_int(arith_simplify(s->facts, expr_sub(b->rest, a->rest)), &shift))
    return false;
  int low = a->place.at[0], high = low;
  for each (int, p, &a->place) low = *p < low ? *p : low, high = *p > high ? *p : high;
  if (high - low >= WIDEST) return false;
  int *owner = NEW_ARRAY(int, high - low + 1); /* a thread + 1 */
  for (int t = 0; t < a->place.len; t++) {
    int *at = &owner[a->place.at[t] - low];
    if (*at) return false;
    *at = t + 1;
  }
  for (int t = 0; t < b->place.len; t++) {
    int64_t place = b->place.at[t] + shift;
    int other = place < low || place > high ? 0 : owner[place - low];
    if (other && other != t + 1) return false;
  }
  return true;
}

static bool may_meet(Sync *s, const Access *a, const Access *b) {
  if (a->data != b->data || !(a->writes || b->writes)) return false;
  if (!a->index || !b->index) return true;
  if (is_own(s, a, b)) return false;
  return !in_same_steps(a, b) || !in_same_steps(b, a) || !is_apart(s, a, b);
}

static bool conflicts(Sync *s, const AccessVec *before, const AccessVec *now) {
  for each (const Access, a, before)
    for each (const Access, b, now)
      if (may_meet(s, a, b)) return true;
  return false;
}

static void add_all(AccessVec *to, const AccessVec *from) {
  for each (const Access, a, from) vec_push(to, *a);
}

/* A step that all threads come to. */
static void meet(Sync *s, Node *stmt, const AccessVec *now) {
  if (map_has(&s->before, stmt)) s->pending.len = 0;
  if (conflicts(s, &s->pending, now)) {
    map_set(&s->before, stmt, stmt);
    s->pending = (AccessVec){0};
  }
  add_all(&s->pending, now);
}

/* ---- statements ---- */

static WalkResult find_difference(Walker *w, Node *n) {
  Sync *s = w->context;
  return IS(BufferLoad, n) || IS(Call, n) || (IS(Var, n) && map_has(&s->differs, n)) ? WALK_STOP
                                                                                     : WALK_ON;
}

/* Has the expression the same value in all threads of a block? */
static bool is_uniform(Sync *s, Node *n) {
  Walker w = {.enter = find_difference, .context = s};
  return walk(&w, n);
}

static bool is_barrier(const Sync *s, Node *n) {
  if (!IS(Evaluate, n) || !is_intrin_call(AS(Evaluate, n)->value, "tvm_storage_sync")) return false;
  NodeVec args = AS(Call, AS(Evaluate, n)->value)->args;
  bool is_warp =
      args.len && IS(StringImm, args.at[0]) && str_same(AS(StringImm, args.at[0])->value, "warp");
  return !is_warp || str_same(s->scope, "warp");
}

static void sync_stmt(Sync *s, Node *n);

static bool runs(Node *extent) {
  int64_t n;
  return expr_is_const_int(extent, &n) && n > 0;
}

static Map copy_of(const Map *map) {
  Map out = {0};
  for each (MapEntry, e, map)
    if (e->key) map_set(&out, e->key, e->value);
  return out;
}

/* The barriers that the steps need among themselves; then, where the first step meets what was
 * before the loop, one before it: not one in each step. */
static void sync_steps(Sync *s, For *f) {
  AccessVec before = s->pending, after;
  s->pending = (AccessVec){0};
  for (int pass = 0; pass < 2; pass++) {
    map_set(&s->steps, f->var, (void *)++s->step);
    sync_stmt(s, f->body);
  }
  after = s->pending;
  s->pending = (AccessVec){0};
  add_all(&s->pending, &before);
  Map inside = copy_of(&s->before);
  map_set(&s->steps, f->var, (void *)++s->step);
  sync_stmt(s, f->body);
  bool meets = s->before.len > inside.len;
  s->before = inside;
  if (meets) {
    map_set(&s->before, &f->node, f);
    s->pending = (AccessVec){0};
  }
  add_all(&s->pending, &after);
  if (!meets && !runs(f->extent)) add_all(&s->pending, &before);
}

static void sync_loop(Sync *s, For *f) {
  AccessVec bounds = accesses_of(s, f->min), more = accesses_of(s, f->extent);
  add_all(&bounds, &more);
  meet(s, &f->node, &bounds);
  map_set(&s->loops, f->var,
          MAKE(Range, f->node.span, VOID_TYPE, .min = f->min, .extent = f->extent));
  sync_steps(s, f);
  map_remove(&s->steps, f->var);
}

static void sync_branch(Sync *s, IfThenElse *n) {
  AccessVec cond = accesses_of(s, n->cond), before = {0}, then;
  meet(s, &n->node, &cond);
  add_all(&before, &s->pending);
  sync_stmt(s, n->then);
  then = s->pending;
  s->pending = before;
  if (n->orelse) sync_stmt(s, n->orelse);
  add_all(&s->pending, &then);
}

/* Where not all threads come. What its own steps do to each other can't be put right. */
static void sync_divergent(Sync *s, Node *n) {
  AccessVec all = accesses_of(s, n);
  meet(s, n, &all);
  AccessVec pending = s->pending;
  Map before = s->before;
  s->pending = (AccessVec){0};
  s->before = (Map){0};
  if (IS(IfThenElse, n)) sync_branch(s, AS(IfThenElse, n));
  else if (IS(For, n)) sync_loop(s, AS(For, n));
  else
    for (int pass = 0; pass < 2; pass++) sync_stmt(s, AS(While, n)->body);
  if (s->before.len)
    error_raisef("ValueError", n->span,
                 "ThreadSync: a barrier of \"%s\" memory is needed inside this %s, where not all "
                 "threads come",
                 s->scope, IS(IfThenElse, n) ? "branch" : "loop");
  s->pending = pending;
  s->before = before;
}

/* The threads of a dimension; the outermost one begins a block. */
static void sync_threads(Sync *s, Node *var, Node *extent, Node *body) {
  bool outermost = !s->threads.len;
  Node *zero = int_imm(var->dtype, 0, var->span);
  map_set(&s->threads, var, MAKE(Range, var->span, VOID_TYPE, .min = zero, .extent = extent));
  map_set(&s->differs, var, var);
  arith_bind_range(s->facts, var, zero, extent);
  sync_stmt(s, body);
  if (!outermost) return;
  s->threads = (Map){0};
  s->pending = (AccessVec){0};
}

static bool is_thread(const char *tag) { return tag && str_begins(tag, "threadIdx."); }

static void sync_one(Sync *s, Node *n) {
  AttrStmt *a = IS(AttrStmt, n) ? AS(AttrStmt, n) : NULL;
  bool launches = a && str_same(a->key, "thread_extent") && IS(IterVar, a->subject);
  if (launches && is_thread(AS(IterVar, a->subject)->thread_tag) &&
      !map_has(&s->threads, AS(IterVar, a->subject)->var))
    return sync_threads(s, AS(IterVar, a->subject)->var, a->value, a->body);
  if (launches) return sync_stmt(s, a->body);
  if (IS(For, n) && AS(For, n)->loop_kind == LOOP_THREAD && is_thread(AS(For, n)->thread_tag))
    return sync_threads(s, AS(For, n)->var, AS(For, n)->extent, AS(For, n)->body);
  if (is_barrier(s, n)) s->pending = (AccessVec){0};
  else if (IS(For, n) && is_uniform(s, AS(For, n)->min) && is_uniform(s, AS(For, n)->extent))
    sync_loop(s, AS(For, n));
  else if (IS(IfThenElse, n) && is_uniform(s, AS(IfThenElse, n)->cond))
    sync_branch(s, AS(IfThenElse, n));
  else if (IS(For, n) || IS(IfThenElse, n) || IS(While, n)) sync_divergent(s, n);
  else {
    AccessVec now = accesses_of(s, n);
    meet(s, n, &now);
  }
}

static void sync_stmt(Sync *s, Node *n) {
  for (Node **rest; n; n = *rest) {
    if (IS(SeqStmt, n)) {
      for each (Node *, x, &AS(SeqStmt, n)->stmts) sync_stmt(s, *x);
      return;
    }
    rest = stmt_rest(n);
    const char *key = IS(AttrStmt, n) ? AS(AttrStmt, n)->key : "";
    bool is_whole = str_same(key, "thread_extent") || str_same(key, "async_pipeline");
    if (!rest || is_whole) return sync_one(s, n);
    if (IS(LetStmt, n)) {
      AccessVec now = accesses_of(s, AS(LetStmt, n)->value);
      meet(s, n, &now);
      LetStmt *let = AS(LetStmt, n);
      if (!is_uniform(s, let->value)) map_set(&s->differs, let->var, n);
      if (expr_effect(let->value) == EFFECT_PURE)
        map_set(&s->lets, let->var, substitute(let->value, &s->lets));
    }
  }
}

/* ---- the pass ---- */

static Node *insert(Mutator *m, Node *n) {
  Sync *s = m->context;
  if (!map_has(&s->before, n)) return mutate_children(m, n);
  Node *barrier =
      expr_call("tvm_storage_sync", INT32, NODES(string_imm(s->scope, n->span)), n->span);
  return stmt_seq(NODES(stmt_evaluate(barrier, n->span), mutate_children(m, n)), n->span);
}

Node *pass_thread_sync(Node *n, const PassContext *context) {
  PrimFunc *f = AS(PrimFunc, n);
  Sync s = {.scope = pass_option_str(context, "storage_scope"), .facts = arith_new()};
  if (!str_begins(s.scope, "shared") && !str_same(s.scope, "warp"))
    error_raisef(
        "ValueError", n->span,
        "ThreadSync: expected the scope \"shared\", \"shared.dyn\" or \"warp\", found \"%s\"",
        s.scope);
  if (dict_get_int(f->attrs, "tvms.manual_sync", 0)) return n;
  sync_stmt(&s, f->body);
  if (!s.before.len) return n;
  Mutator m = {.rewrite = insert, .context = &s};
  return mutate_children(&m, n);
}
