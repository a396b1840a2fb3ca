/* storage_rewrite.c -- allocations whose lifetimes do not meet share their memory.
 *
 * In:  flat allocations (after FlattenBuffer).
 * Out: an allocation inside the scope of another one, of the same dtype and storage scope, takes
 * its memory over where that is not needed any more; the outer one becomes as large as the larger
 *      of them. What `B[i] = f(A[i])` computes from memory that is read for the last time may take
 *      that memory over.
 * Not: memory of one step of a parallel loop and memory around the loop; memory whose address is
 *      kept; small arrays, which machine code keeps in registers.
 *
 * Lifetimes are intervals of the statements that mention an allocation, in their order. A loop that
 * stands inside the scope of an allocation and mentions it needs it from its first statement to its
 * last one. */
#include "ir/arith/iter_map.h"
#include "passes/tensor/tensor.h"

typedef struct Storage {
  Allocate *alloc;
  Node *steps;     /* the innermost loop around it whose steps run side by side, or NULL */
  int depth;       /* loops around it */
  int first, last; /* statements that need it; last 0: none */
  bool fixed;      /* must stay as it is */
  VEC(struct Storage *) guests;
  struct Storage *host; /* whose memory it takes over, or NULL */
  Node *extent;         /* of the host: as large as the largest */
} Storage;

typedef struct LoopRange {
  Node *loop;
  int first; /* number of the first statement in it */
} LoopRange;

typedef struct Plan {
  Map storages; /* pointer Var to Storage, outer ones first */
  VEC(LoopRange) loops;
  NodeVec numbered; /* statements by number, from 1 on */
  Node *now;        /* the statement whose expressions are being visited */
  bool is_numbered; /* it has its number */
  int64_t min_bytes;
} Plan;

/* ---- lifetimes ---- */

static bool keeps_address(Node *stmt) {
  if (IS(AttrStmt, stmt)) return true;
  if (IS(LetStmt, stmt)) return dtype_is_handle(AS(LetStmt, stmt)->var->dtype);
  if (IS(BufferStore, stmt)) return dtype_is_handle(AS(BufferStore, stmt)->value->dtype);
  return IS(Evaluate, stmt) && is_intrin_call(AS(Evaluate, stmt)->value, "tvm_struct_set");
}

static void note_use(Plan *p, Node *var) {
  Storage *s = map_get(&p->storages, var);
  if (!s) return;
  if (!p->is_numbered) vec_push(&p->numbered, p->now);
  p->is_numbered = true;
  s->last = p->numbered.len;
  if (!s->first) s->first = s->last;
  s->fixed |= keeps_address(p->now);
}

static bool runs_side_by_side(Node *n) {
  if (IS(AttrStmt, n))
    return str_same(AS(AttrStmt, n)->key, "thread_extent") ||
           str_same(AS(AttrStmt, n)->key, "virtual_thread");
  return IS(For, n) &&
         (AS(For, n)->loop_kind == LOOP_PARALLEL || AS(For, n)->loop_kind == LOOP_THREAD);
}

static int64_t bytes_of(Allocate *a) {
  int64_t extent, bytes;
  if (a->extents.len != 1 || !expr_is_const_int(a->extents.at[0], &extent)) return INT64_MAX;
  return __builtin_mul_overflow(extent, dtype_nbytes(a->elem), &bytes) ? INT64_MAX : bytes;
}

static void note_allocation(Plan *p, Allocate *a) {
  Storage *s = NEW(Storage, .alloc = a, .depth = p->loops.len);
  for each (LoopRange, l, &p->loops)
    if (runs_side_by_side(l->loop)) s->steps = l->loop;
  s->fixed = a->extents.len != 1 || a->cond || bytes_of(a) < p->min_bytes ||
             (a->annotations && AS(Dict, a->annotations)->keys.len);
  s->extent = s->fixed ? NULL : a->extents.at[0];
  map_set(&p->storages, a->var, s);
}

static bool is_scope(Node *n) { return IS(For, n) || IS(While, n) || runs_side_by_side(n); }

/* An allocation, or a buffer, where it is made. */
static bool is_definition(Node *stmt, Node *n) {
  return (IS(Allocate, stmt) && n == AS(Allocate, stmt)->var) ||
         (IS(DeclBuffer, stmt) && n == AS(DeclBuffer, stmt)->buffer);
}

static WalkResult enter(Walker *w, Node *n) {
  Plan *p = w->context;
  if (is_definition(p->now, n)) return WALK_PRUNE;
  if (IS(Buffer, n)) note_use(p, AS(Buffer, n)->data);
  if (IS(Var, n)) note_use(p, n);
  if (IS(Let, n) && dtype_is_handle(AS(Let, n)->var->dtype)) return WALK_STOP; /* an alias */
  if (node_family(n->kind) != FAMILY_STMT || IS(SeqStmt, n)) return WALK_ON;
  p->now = n;
  p->is_numbered = false;
  if (IS(Allocate, n)) note_allocation(p, AS(Allocate, n));
  if (is_scope(n)) vec_push(&p->loops, ((LoopRange){n, p->numbered.len + 1}));
  return WALK_ON;
}

static void leave(Walker *w, Node *n) {
  Plan *p = w->context;
  if (!is_scope(n)) return;
  LoopRange l = vec_pop(&p->loops);
  for each (MapEntry, e, &p->storages) {
    Storage *s = e->value;
    if (s->last < l.first || s->depth > p->loops.len) continue;
    if (s->first > l.first) s->first = l.first;
    s->last = p->numbered.len;
  }
}

/* ---- in place ---- */

typedef struct InPlace {
  Node *from, *index; /* what is read, and where it must be */
} InPlace;

static WalkResult find_other_read(Walker *w, Node *n) {
  InPlace *in = w->context;
  if (n == in->from) return WALK_STOP;
  if (!IS(BufferLoad, n) || AS(Buffer, AS(BufferLoad, n)->buffer)->data != in->from) return WALK_ON;
  BufferLoad *l = AS(BufferLoad, n);
  bool same = l->indices.len == 1 && node_equal(l->indices.at[0], in->index, false, NULL) &&
              dtype_equal(AS(Buffer, l->buffer)->elem, dtype_element(l->node.dtype));
  return same ? WALK_PRUNE : WALK_STOP;
}

/* Collects the loops around a statement. */
typedef struct Around {
  Node *stmt;
  NodeVec loops;
} Around;

static WalkResult enter_around(Walker *w, Node *n) {
  Around *a = w->context;
  if (n == a->stmt) return WALK_STOP;
  if (node_is_expr(n)) return WALK_PRUNE;
  if (IS(For, n) || IS(While, n)) vec_push(&a->loops, n);
  return WALK_ON;
}

static void leave_around(Walker *w, Node *n) {
  Around *a = w->context;
  if (IS(For, n) || IS(While, n)) a->loops.len--;
}

/* Does each step of all loops in `scope` around the store touch elements of its own? */
static bool is_injective(Node *scope, Node *store, Node *index) {
  Around a = {.stmt = store};
  Walker w = {.enter = enter_around, .leave = leave_around, .context = &a};
  Map ranges = {0};
  walk(&w, scope);
  for each (Node *, l, &a.loops) {
    if (!IS(For, *l)) return false;
    For *f = AS(For, *l);
    map_set(&ranges, f->var,
            MAKE(Range, f->node.span, VOID_TYPE, .min = f->min, .extent = f->extent));
  }
  if (IS(Ramp, index)) { /* its lanes are one more loop */
    Ramp *r = AS(Ramp, index);
    Node *lane = var_new("lane", r->base->dtype, index->span);
    map_set(&ranges, lane,
            MAKE(Range, index->span, VOID_TYPE, .min = int_imm(lane->dtype, 0, index->span),
                 .extent = int_imm(lane->dtype, r->lanes, index->span)));
    index = expr_add(r->base, expr_mul(r->stride, lane));
  }
  if (index->dtype.lanes != 1) return false;
  return iter_is_injective(NODES(index), &ranges, arith_new());
}

/* Is the one statement that needs both a store to `b` of what is read from `a` at the same place?
 */
static bool works_in_place(Plan *p, Storage *a, Storage *b, Storage *host) {
  Node *n = p->numbered.at[b->first - 1];
  if (a->last != b->first || !IS(BufferStore, n)) return false;
  BufferStore *s = AS(BufferStore, n);
  Buffer *target = AS(Buffer, s->buffer);
  if (target->data != b->alloc->var || target->elem.lanes != 1 || s->indices.len != 1) return false;
  InPlace in = {a->alloc->var, s->indices.at[0]};
  Walker w = {.enter = find_other_read, .context = &in};
  bool reads_well = walk(&w, s->value) && !mentions_node(s->indices.at[0], in.from) &&
                    !mentions_node(s->predicate, in.from);
  return reads_well && is_injective(&host->alloc->node, n, s->indices.at[0]);
}

/* ---- the plan ---- */

static bool may_meet(Plan *p, Storage *a, Storage *b, Storage *host) {
  if (!a->last || a->last < b->first || b->last < a->first) return false;
  return !works_in_place(p, a, b, host);
}

static bool inside(Storage *outer, Storage *inner) {
  return inner != outer && mentions_node(outer->alloc->body, &inner->alloc->node);
}

/* The extent that both need, or NULL if that is not known. */
static Node *common_extent(Node *a, Node *b) {
  int64_t x, y;
  if (expr_is_const_int(a, &x) && expr_is_const_int(b, &y)) return x < y ? b : a;
  return node_equal(a, b, false, NULL) ? a : NULL;
}

static bool can_host(Plan *p, Storage *host, Storage *s) {
  const char *x = AS(Var, host->alloc->var)->scope, *y = AS(Var, s->alloc->var)->scope;
  bool same = (x == y || (x && y && str_same(x, y))) && host->steps == s->steps &&
              dtype_equal(host->alloc->elem, s->alloc->elem);
  if (host->fixed || host->host || !same || !common_extent(host->extent, s->extent)) return false;
  if (may_meet(p, host, s, host)) return false;
  for each (Storage *, g, &host->guests)
    if (may_meet(p, *g, s, host)) return false;
  return inside(host, s);
}

/* How much larger or smaller one is than the other; unknown sizes are equal where they match. */
static int64_t misfit(Storage *host, Storage *s) {
  int64_t x = 0, y = 0;
  expr_is_const_int(host->extent, &x);
  expr_is_const_int(s->extent, &y);
  return x < y ? y - x : x - y;
}

static void find_host(Plan *p, Storage *s) {
  Storage *best = NULL;
  if (s->fixed || !s->last) return;
  for each (MapEntry, e, &p->storages) {
    Storage *host = e->value;
    if (host == s) break; /* outer ones come first */
    bool better = !best || misfit(host, s) < misfit(best, s);
    if (better && can_host(p, host, s)) best = host;
  }
  if (!best) return;
  s->host = best;
  best->extent = common_extent(best->extent, s->extent);
  vec_push(&best->guests, s);
}

/* ---- the rewrite ---- */

static Node *rewrite(Mutator *m, Node *n) {
  Plan *p = m->context;
  if (IS(Var, n)) {
    Storage *s = map_get(&p->storages, n);
    return s && s->host ? s->host->alloc->var : n;
  }
  if (!IS(Allocate, n)) return mutate_children(m, n);
  Storage *s = map_get(&p->storages, AS(Allocate, n)->var);
  if (s->host) return mutate(m, AS(Allocate, n)->body);
  Allocate a = *AS(Allocate, n);
  if (s->extent) a.extents = NODES(s->extent);
  a.body = mutate(m, a.body);
  return a.body == AS(Allocate, n)->body ? n : gc_copy(&a, sizeof a);
}

Node *pass_storage_rewrite(Node *n, const PassContext *context) {
  PrimFunc *f = AS(PrimFunc, n);
  Plan p = {.min_bytes = pass_option_int(context, "min_bytes")};
  Walker w = {.enter = enter, .leave = leave, .context = &p};
  /* Host functions hand addresses to the runtime. */
  if (func_attr(n, "tvms.packed") || !walk(&w, f->body)) return n;
  for each (MapEntry, e, &p.storages) find_host(&p, e->value);
  Mutator m = {.rewrite = rewrite, .context = &p};
  return prim_func_with_body(n, mutate(&m, f->body));
}
