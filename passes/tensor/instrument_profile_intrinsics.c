/* instrument_profile_intrinsics.c -- marks around functions and loops, for a handler of the target
 * to take the time: T.start_profile_intrinsic(id) and T.end_profile_intrinsic(id), where id counts
 * the marked parts of a module from 0 on, outer ones before inner ones.
 *
 * In:  functions without blocks (after LowerOpaqueBlock).
 * Out: marked loops are those that have others beside them (instr_siblings), or stand in no more
 *      than lwp_max_depth others; of these, those with lwp_min_height levels of loops in them.
 * Not: loops in parallel loops and in threads: many would tell the same id at once. A return or a
 *      break leaves a part without its end. Back ends that have no handler pass over marks. */
#include "passes/tensor/tensor.h"

typedef struct Loop {
  int depth;       /* loops around it */
  int height;      /* levels of loops in it */
  int inner;       /* loops right below it */
  bool is_shared;  /* several threads come to it */
  bool has_shared; /* several threads come to those in it */
  struct Loop *around;
} Loop;

typedef struct Marks {
  Map loops;    /* For to Loop * */
  Loop *around; /* of the place of the walk */
  bool siblings;
  int64_t max_depth, min_height;
  int next;
} Marks;

static WalkResult enter_loop(Walker *w, Node *n) {
  Marks *m = w->context;
  if (node_is_expr(n) || IS(Buffer, n)) return WALK_PRUNE;
  if (!IS(For, n)) return WALK_ON;
  LoopKind kind = AS(For, n)->loop_kind;
  Loop *outer = m->around;
  Loop *own = NEW(Loop, .depth = outer->depth + 1, .around = outer,
                  .is_shared = outer->has_shared || kind == LOOP_THREAD,
                  .has_shared = outer->has_shared || kind == LOOP_THREAD || kind == LOOP_PARALLEL);
  outer->inner++;
  map_set(&m->loops, n, own);
  m->around = own;
  return WALK_ON;
}

static void leave_loop(Walker *w, Node *n) {
  Marks *m = w->context;
  if (!IS(For, n)) return;
  Loop *own = m->around, *outer = own->around;
  if (outer->height <= own->height) outer->height = own->height + 1;
  m->around = outer;
}

static Node *mark(const char *name, int id, Span span) {
  return stmt_evaluate(expr_call(name, HANDLE, NODES(int_imm(INT32, id, span)), span), span);
}

static Node *marked(Node *stmt, int id) {
  return stmt_seq(NODES(mark("start_profile_intrinsic", id, stmt->span), stmt,
                        mark("end_profile_intrinsic", id, stmt->span)),
                  stmt->span);
}

static bool is_marked(const Marks *m, const Loop *l) {
  bool chosen = m->siblings ? l->around->inner > 1 : l->depth <= m->max_depth;
  return chosen && !l->is_shared && l->height >= m->min_height;
}

static Node *rewrite(Mutator *mutator, Node *n) {
  Marks *m = mutator->context;
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  if (!IS(For, n) || !is_marked(m, map_get(&m->loops, n))) return mutate_children(mutator, n);
  int id = m->next++;
  return marked(mutate_children(mutator, n), id);
}

static Node *marked_function(Marks *m, Node *f, bool whole) {
  Mutator mutator = {.rewrite = rewrite, .context = m};
  Walker finder = {.enter = enter_loop, .leave = leave_loop, .context = m};
  Node *body = AS(PrimFunc, f)->body;
  int id = whole ? m->next++ : 0;
  m->loops = (Map){0};
  m->around = NEW(Loop, .depth = -1);
  walk(&finder, body);
  body = mutate(&mutator, body);
  return prim_func_with_body(f, whole ? marked(body, id) : body);
}

Node *pass_instrument_profile_intrinsics(Node *n, const PassContext *context) {
  Marks m = {.siblings = pass_option_int(context, "instr_siblings"),
             .max_depth = pass_option_int(context, "lwp_max_depth"),
             .min_height = pass_option_int(context, "lwp_min_height")};
  bool whole = !pass_option_int(context, "lwp_disable_func_prof");
  IRModule copy = *AS(IRModule, n);
  copy.functions = (NodeVec){0};
  for each (Node *, f, &AS(IRModule, n)->functions)
    vec_push(&copy.functions, IS(PrimFunc, *f) ? marked_function(&m, *f, whole) : *f);
  return gc_copy(&copy, sizeof copy);
}
