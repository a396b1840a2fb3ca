/* thread_sync.c -- barriers where a thread of a block may touch what another one wrote, or write
 * what another one touched.
 *
 * In:  flat functions (after FlattenBuffer), with memory of one storage scope in view. Out: the
 * same with T.tvm_storage_sync before statements that conflict with what was done since the last
 * one.
 *
 * A function with attribute tvms.manual_sync has its barriers by hand, and gets none.
 *
 * The walk is in the order of execution; what accesses may meet is for thread_access.c to say.
 * Loops are walked twice, so that a step meets what the step before it left, and once more behind
 * what stood before them: that asks for one barrier before the loop. A barrier stands only
 * where all threads come: in branches and loops that depend on the thread none can, and they are
 * refused if one is needed inside. What InjectSoftwarePipeline marks as "async_pipeline" has its
 * barriers, and is one step. */
#include "lower/tensor/thread_access.h"
#include "passes/tensor/tensor.h"

typedef struct Sync {
  ThreadSpace space;
  Agreement agreement;
  Map before; /* statements that a barrier stands before */
  AccessVec pending;
  intptr_t step; /* of loops, so far */
} Sync;

static bool conflicts(Sync *s, const AccessVec *before, const AccessVec *now) {
  for each (const Access, a, before)
    for each (const Access, b, now)
      if (accesses_may_meet(&s->space, a, b)) return true;
  return false;
}

/* A step that all threads come to. */
static void meet(Sync *s, Node *stmt, const AccessVec *now) {
  if (map_has(&s->before, stmt)) s->pending.len = 0;
  if (conflicts(s, &s->pending, now)) {
    map_set(&s->before, stmt, stmt);
    s->pending = (AccessVec){0};
  }
  add_accesses(&s->pending, now);
}

/* ---- statements ---- */

static bool is_barrier(const Sync *s, Node *n) {
  if (!IS(Evaluate, n) || !is_intrin_call(AS(Evaluate, n)->value, "tvm_storage_sync")) return false;
  return !is_of_warp(AS(Call, AS(Evaluate, n)->value)) || str_same(s->space.scope, "warp");
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

/* The barriers that the steps of a loop need among themselves; then, where the first step meets
 * what was before the loop, one before it: not one in each step. var: NULL of a T.While. */
static void sync_steps(Sync *s, Node *loop, Node *var, Node *body, bool comes) {
  AccessVec before = s->pending, after;
  s->pending = (AccessVec){0};
  for (int pass = 0; pass < 2; pass++) {
    if (var) map_set(&s->space.steps, var, (void *)++s->step);
    sync_stmt(s, body);
  }
  after = s->pending;
  s->pending = (AccessVec){0};
  add_accesses(&s->pending, &before);
  Map inside = copy_of(&s->before);
  if (var) map_set(&s->space.steps, var, (void *)++s->step);
  sync_stmt(s, body);
  bool meets = s->before.len > inside.len;
  s->before = inside;
  if (meets) {
    map_set(&s->before, loop, loop);
    s->pending = (AccessVec){0};
  }
  add_accesses(&s->pending, &after);
  if (!meets && !comes) add_accesses(&s->pending, &before);
}

static void sync_loop(Sync *s, For *f) {
  AccessVec bounds = accesses_of(&s->space, f->min), more = accesses_of(&s->space, f->extent);
  add_accesses(&bounds, &more);
  meet(s, &f->node, &bounds);
  map_set(&s->space.loops, f->var,
          MAKE(Range, f->node.span, VOID_TYPE, .min = f->min, .extent = f->extent));
  sync_steps(s, &f->node, f->var, f->body, runs(f->extent));
  map_remove(&s->space.steps, f->var);
}

/* Do all threads come to each step, with the same variable? No barrier can stand before a condition
 * that reads the memory in view, in later steps. */
static bool is_together(Sync *s, Node *n) {
  if (threads_part(&s->agreement, n)) return false;
  if (IS(For, n)) return !may_differ(&s->agreement, AS(For, n)->min);
  return !IS(While, n) || !accesses_of(&s->space, AS(While, n)->cond).len;
}

static void sync_branch(Sync *s, IfThenElse *n) {
  AccessVec cond = accesses_of(&s->space, n->cond), before = {0}, then;
  meet(s, &n->node, &cond);
  add_accesses(&before, &s->pending);
  int outside = enter_branch(&s->space, n->cond);
  sync_stmt(s, n->then);
  leave_branch(&s->space, outside);
  then = s->pending;
  s->pending = before;
  enter_branch(&s->space, expr_not(n->cond, n->node.span));
  if (n->orelse) sync_stmt(s, n->orelse);
  leave_branch(&s->space, outside);
  add_accesses(&s->pending, &then);
}

/* Where not all threads come. What its own steps do to each other can't be put right. */
static void sync_divergent(Sync *s, Node *n) {
  AccessVec all = accesses_of(&s->space, n);
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
                 s->space.scope, IS(IfThenElse, n) ? "branch" : "loop");
  s->pending = pending;
  s->before = before;
}

/* The threads of a dimension; the outermost one begins a block. */
static void sync_threads(Sync *s, const char *tag, Node *var, Node *extent, Node *body) {
  bool outermost = !s->space.threads.len;
  Node *zero = int_imm(var->dtype, 0, var->span);
  s->space.axes[launch_axis(tag) - 3] = var;
  map_set(&s->space.threads, var, MAKE(Range, var->span, VOID_TYPE, .min = zero, .extent = extent));
  arith_bind_range(s->space.facts, var, zero, extent);
  sync_stmt(s, body);
  if (!outermost) return;
  s->space.threads = (Map){0};
  memset(s->space.axes, 0, sizeof s->space.axes);
  s->pending = (AccessVec){0};
}

static bool is_thread(const char *tag) { return launch_axis(tag) >= 3; }

static void sync_one(Sync *s, Node *n) {
  AttrStmt *a = IS(AttrStmt, n) ? AS(AttrStmt, n) : NULL;
  bool launches = is_launch(n);
  if (launches && is_thread(AS(IterVar, a->subject)->thread_tag) &&
      !map_has(&s->space.threads, AS(IterVar, a->subject)->var))
    return sync_threads(s, launch_tag(n), AS(IterVar, a->subject)->var, a->value, a->body);
  if (launches) return sync_stmt(s, a->body);
  if (IS(For, n) && AS(For, n)->loop_kind == LOOP_THREAD && is_thread(AS(For, n)->thread_tag))
    return sync_threads(s, AS(For, n)->thread_tag, AS(For, n)->var, AS(For, n)->extent,
                        AS(For, n)->body);
  if (is_barrier(s, n)) s->pending = (AccessVec){0};
  else if (IS(For, n) || IS(IfThenElse, n) || IS(While, n)) {
    if (!is_together(s, n)) sync_divergent(s, n);
    else if (IS(For, n)) sync_loop(s, AS(For, n));
    else if (IS(While, n)) sync_steps(s, n, NULL, AS(While, n)->body, false);
    else sync_branch(s, AS(IfThenElse, n));
  } else {
    AccessVec now = accesses_of(&s->space, n);
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
    if (IS(Allocate, n) && shared_array_offset(AS(Allocate, n)) >= 0)
      map_set(&s->space.arrays, AS(Allocate, n)->var, n);
    const char *key = IS(AttrStmt, n) ? AS(AttrStmt, n)->key : "";
    bool is_whole = str_same(key, "thread_extent") || str_same(key, "async_pipeline");
    if (!rest || is_whole) return sync_one(s, n);
    if (IS(LetStmt, n)) {
      AccessVec now = accesses_of(&s->space, AS(LetStmt, n)->value);
      meet(s, n, &now);
      LetStmt *let = AS(LetStmt, n);
      if (expr_effect(let->value) == EFFECT_PURE)
        map_set(&s->space.lets, let->var, substitute(let->value, &s->space.lets));
    }
  }
}

/* ---- the pass ---- */

static Node *insert(Mutator *m, Node *n) {
  Sync *s = m->context;
  if (!map_has(&s->before, n)) return mutate_children(m, n);
  Node *barrier =
      expr_call("tvm_storage_sync", INT32, NODES(string_imm(s->space.scope, n->span)), n->span);
  return stmt_seq(NODES(stmt_evaluate(barrier, n->span), mutate_children(m, n)), n->span);
}

Node *pass_thread_sync(Node *n, const PassContext *context) {
  PrimFunc *f = AS(PrimFunc, n);
  Sync s = {.space = {.scope = pass_option_str(context, "storage_scope"), .facts = arith_new()}};
  if (!str_begins(s.space.scope, "shared") && !str_same(s.space.scope, "warp"))
    error_raisef(
        "ValueError", n->span,
        "ThreadSync: expected the scope \"shared\", \"shared.dyn\" or \"warp\", found \"%s\"",
        s.space.scope);
  if (dict_get_int(f->attrs, "tvms.manual_sync", 0)) return n;
  agree_in(&s.agreement, f->body);
  sync_stmt(&s, f->body);
  if (!s.before.len) return n;
  Mutator m = {.rewrite = insert, .context = &s};
  return mutate_children(&m, n);
}
