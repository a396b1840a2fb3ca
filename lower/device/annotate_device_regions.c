/* annotate_device_regions.c -- what touches tensors outside of launches gets a launch, so that all
 * of a tensor program's work is done on the device.
 *
 * In:  flat programs (after UnifyThreadBinding) for a target with a device.
 * Out: every access of a buffer in a launch. A parallel loop becomes blocks of threads; anything
 * else runs in one thread. Programs without buffers (of shapes) stay on the CPU, and so do calls of
 * packed functions, and local memory around launches that follows from sizes alone: the host keeps
 * it. */
#include "lower/device/device.h"

enum { THREADS = 64 }; /* of a block, for a parallel loop */

typedef struct Regions {
  Map kept; /* pointers to memory that the host keeps */
} Regions;

static Node *accessed(Node *n) {
  Node *buffer = accessed_buffer(n);
  return buffer ? AS(Buffer, buffer)->data : NULL;
}

static WalkResult find_access(Walker *w, Node *n) {
  const Regions *r = w->context;
  Node *data = accessed(n);
  return data && !map_has(&r->kept, data) ? WALK_STOP : WALK_ON;
}

/* Does it access what lies on the device? */
static bool touches(const Regions *r, Node *n) {
  Walker w = {.enter = find_access, .context = (void *)(uintptr_t)r};
  return n && !walk(&w, n);
}

/* ---- what the host keeps ---- */

static WalkResult note_local(Walker *w, Node *n) {
  Regions *r = w->context;
  if (node_is_expr(n) || !has_launch(n) || is_launch(n)) return WALK_PRUNE;
  const char *scope = IS(Allocate, n) ? AS(Var, AS(Allocate, n)->var)->scope : NULL;
  if (scope && str_same(scope, "local")) map_set(&r->kept, AS(Allocate, n)->var, n);
  return WALK_ON;
}

typedef struct Taint {
  Regions *r;
  int launches;    /* around */
  Node *allocated; /* by the statement that the walk is in */
  bool more;
} Taint;

/* What a call gets may be where it writes. */
static void taint_arguments(Taint *t, Call *c) {
  if (expr_effect(&c->node) != EFFECT_STATE && !is_intrin_call(&c->node, "address_of")) return;
  for each (Node *, a, &c->args)
    if (accessed(*a)) t->more |= map_remove(&t->r->kept, accessed(*a));
}

static WalkResult enter_taint(Walker *w, Node *n) {
  Taint *t = w->context;
  if (IS(Call, n)) taint_arguments(t, AS(Call, n));
  t->launches += is_launch(n);
  if (IS(Buffer, n)) return WALK_PRUNE;
  if (IS(Allocate, n)) t->allocated = AS(Allocate, n)->var;
  if (IS(Var, n) && n != t->allocated) t->more |= map_remove(&t->r->kept, n); /* by itself */
  if (IS(Var, n)) t->allocated = NULL;
  if (!IS(BufferStore, n)) return WALK_ON;
  BufferStore *store = AS(BufferStore, n);
  bool on_device = t->launches || touches(t->r, store->value);
  for each (Node *, i, &store->indices) on_device |= touches(t->r, *i);
  if (on_device) t->more |= map_remove(&t->r->kept, AS(Buffer, store->buffer)->data);
  return WALK_ON;
}

static void leave_taint(Walker *w, Node *n) {
  Taint *t = w->context;
  t->launches -= is_launch(n);
}

/* All local memory that has launches in its scope, but for what gets something from a launch. */
static void find_kept(Regions *r, Node *body) {
  Walker note = {.enter = note_local, .context = r};
  walk(&note, body);
  Taint t = {.r = r, .more = r->kept.live > 0};
  Walker w = {.enter = enter_taint, .leave = leave_taint, .context = &t};
  while (t.more) {
    t.more = false;
    walk(&w, body);
  }
}

/* ---- regions ---- */

static Node *in_one_thread(Node *n) {
  Node *one = int_imm(INT32, 1, n->span);
  Node *thread = launch_new("threadIdx.x", var_new("thread", INT32, n->span), one, n);
  return launch_new("blockIdx.x", var_new("block", INT32, n->span), one, thread);
}

static Node *in_threads(For *f) {
  Span span = f->node.span;
  DataType t = f->var->dtype;
  Node *block = var_new("block", t, span), *thread = var_new("thread", t, span);
  Node *size = int_imm(t, THREADS, span);
  Node *step = expr_add(expr_mul(block, size), thread);
  Node *blocks = expr_floordiv(expr_add(f->extent, int_imm(t, THREADS - 1, span)), size);
  Node *body = MAKE(LetStmt, span, VOID_TYPE, .value = expr_add(f->min, step), .var = f->var,
                    .body = f->body);
  body = MAKE(IfThenElse, span, VOID_TYPE, .cond = expr_binary(NK_LT, step, f->extent, span),
              .then = body);
  return launch_new("blockIdx.x", block, blocks, launch_new("threadIdx.x", thread, size, body));
}

static Node *on_device(const Regions *r, Node *n) {
  bool is_parallel = IS(For, n) && AS(For, n)->loop_kind == LOOP_PARALLEL &&
                     !touches(r, AS(For, n)->min) && !touches(r, AS(For, n)->extent);
  if (is_parallel && expr_is_zero(AS(For, n)->extent)) return stmt_seq((NodeVec){0}, n->span);
  return is_parallel ? in_threads(AS(For, n)) : in_one_thread(n);
}

static void check_host_expr(const Regions *r, Node *n, Node *stmt, const char *what) {
  if (touches(r, n))
    error_raisef("LowerError", stmt->span,
                 "%s reads a tensor, which lies on the device, to decide what is launched: bind "
                 "the loops around it to threads too",
                 what);
}

static Node *region(const Regions *r, Node *n);

static Node *region_seq(const Regions *r, SeqStmt *s) {
  NodeVec out = {0}, run = {0};
  for (int i = 0; i <= s->stmts.len; i++) {
    Node *stmt = i < s->stmts.len ? s->stmts.at[i] : NULL;
    bool parallel = IS(For, stmt) && AS(For, stmt)->loop_kind == LOOP_PARALLEL;
    if (stmt && !has_launch(stmt) && !parallel && touches(r, stmt) && !stmt_rest(stmt)) {
      vec_push(&run, stmt);
      continue;
    }
    if (run.len) vec_push(&out, in_one_thread(stmt_seq(run, run.at[0]->span)));
    run = (NodeVec){0};
    if (stmt) vec_push(&out, region(r, stmt));
  }
  return stmt_seq(out, s->node.span);
}

/* A statement whose body is the rest of its scope keeps its place where it can. */
static Node *with_rest(Node *n, Node *rest) {
  Node *copy = gc_copy(n, node_size(n->kind));
  *stmt_rest(copy) = rest;
  return copy;
}

/* ---- memory of a thread that is allocated around a launch ---- */

typedef struct Sink {
  Allocate *allocation;
  int users; /* launches */
} Sink;

static WalkResult find_use(Walker *w, Node *n) {
  return n == w->context                                      ? WALK_STOP
         : IS(Buffer, n) && AS(Buffer, n)->data == w->context ? WALK_STOP
                                                              : WALK_ON;
}

static bool uses(Node *n, Node *data) {
  Walker w = {.enter = find_use, .context = data};
  return !walk(&w, n);
}

static Node *allocate_inside(Mutator *m, Node *n) {
  Sink *s = m->context;
  if (node_is_expr(n)) return n;
  if (IS(DeclBuffer, n) && AS(Buffer, AS(DeclBuffer, n)->buffer)->data == s->allocation->var)
    return mutate(m, AS(DeclBuffer, n)->body);
  if (!is_launch(n)) return mutate_children(m, n);
  AttrStmt copy = *AS(AttrStmt, n);
  if (is_launch(copy.body)) {
    copy.body = mutate(m, copy.body);
    return gc_copy(&copy, sizeof copy);
  }
  if (!uses(copy.body, s->allocation->var)) return n;
  Allocate a = *s->allocation;
  a.body = copy.body;
  copy.body = gc_copy(&a, sizeof a);
  s->users++;
  return gc_copy(&copy, sizeof copy);
}

static bool is_of_thread(Node *n) {
  const char *scope = IS(Allocate, n) ? AS(Var, AS(Allocate, n)->var)->scope : NULL;
  return scope && *scope && !str_same(scope, "global");
}

static Node *sink(Node *n) {
  Sink s = {.allocation = AS(Allocate, n)};
  Mutator m = {.rewrite = allocate_inside, .context = &s};
  Node *body = mutate(&m, s.allocation->body);
  if (s.users > 1)
    error_raisef("LowerError", n->span,
                 "'%s' of scope %s is used by several kernels: only global memory outlasts one",
                 AS(Var, s.allocation->var)->name, AS(Var, s.allocation->var)->scope);
  return body;
}

/* Of an index: InstrumentBoundCheckers puts it before the access. */
static bool is_bound(const AssertStmt *n) {
  return n->error_kind && str_same(n->error_kind, "IndexError");
}

static Node *region(const Regions *r, Node *n) {
  if (is_launch(n) || !(touches(r, n) || has_launch(n))) return n;
  bool is_kept = IS(Allocate, n) && map_has(&r->kept, AS(Allocate, n)->var);
  if (is_of_thread(n) && !is_kept) return has_launch(n) ? region(r, sink(n)) : on_device(r, n);
  if (IS(SeqStmt, n)) return region_seq(r, AS(SeqStmt, n));
  bool is_memory = IS(Allocate, n) || IS(AllocateConst, n) || IS(DeclBuffer, n) || IS(AttrStmt, n);
  if (is_memory) return with_rest(n, region(r, *stmt_rest(n)));
  if (!has_launch(n) && !IS(AssertStmt, n) && !IS(LetStmt, n)) return on_device(r, n);
  switch (n->kind) {
  case NK_LetStmt:
    if (!has_launch(n) && touches(r, AS(LetStmt, n)->value)) return on_device(r, n);
    check_host_expr(r, AS(LetStmt, n)->value, n, "a value");
    return with_rest(n, region(r, *stmt_rest(n)));
  case NK_AssertStmt:
    if (is_bound(AS(AssertStmt, n)) && !has_launch(n) && touches(r, AS(AssertStmt, n)->cond))
      return on_device(r, n);
    check_host_expr(r, AS(AssertStmt, n)->cond, n, "an assertion");
    return with_rest(n, region(r, *stmt_rest(n)));
  case NK_For: {
    For f = *AS(For, n);
    check_host_expr(r, f.min, n, "a loop");
    check_host_expr(r, f.extent, n, "a loop");
    f.body = region(r, f.body);
    return gc_copy(&f, sizeof f);
  }
  case NK_IfThenElse: {
    IfThenElse f = *AS(IfThenElse, n);
    check_host_expr(r, f.cond, n, "a branch");
    f.then = region(r, f.then);
    f.orelse = f.orelse ? region(r, f.orelse) : NULL;
    return gc_copy(&f, sizeof f);
  }
  default: break;
  }
  check_host_expr(r, n, n, "a loop");
  return n;
}

Node *pass_annotate_device_regions(Node *n, const PassContext *context) {
  PrimFunc f = *AS(PrimFunc, n);
  bool has_buffers = false;
  for each (Node *, b, &f.buffers) has_buffers |= *b != NULL;
  bool applies = target_is_gpu(context->target) && has_buffers &&
                 !dict_get(f.attrs, "tvms.packed") && !is_device_function(n);
  if (!applies) return n;
  Regions r = {0};
  find_kept(&r, f.body);
  Node *body = region(&r, f.body);
  if (body == f.body) return n;
  f.body = body;
  return gc_copy(&f, sizeof f);
}
