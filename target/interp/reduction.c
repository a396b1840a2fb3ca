/* reduction.c -- reductions over nothing: the init of a block runs although no instance of it does.
 *
 * So it is where the innermost loops around a block bind nothing but its reduction variables: the
 * same nests whose init DecomposeReduction moves before the loops. */
#include "target/interp/interp.h"

typedef struct Nest {
  Map vars; /* of the loops */
  int loops;
  Node *realize;
} Nest;

static bool find_nest(Node *n, Nest *nest) {
  while (IS(For, n) &&
         (AS(For, n)->loop_kind == LOOP_SERIAL || AS(For, n)->loop_kind == LOOP_UNROLLED)) {
    map_set(&nest->vars, AS(For, n)->var, n);
    nest->loops++;
    n = AS(For, n)->body;
  }
  nest->realize = n;
  return nest->loops && IS(BlockRealize, n) && AS(Block, AS(BlockRealize, n)->block)->init;
}

static WalkResult find_var(Walker *w, Node *n) {
  return map_has(&((Nest *)w->context)->vars, n) ? WALK_STOP : WALK_ON;
}

static bool mentions(Nest *nest, Node *n) {
  Walker w = {.enter = find_var, .context = nest};
  return n && !walk(&w, n);
}

static WalkResult note_var(Walker *w, Node *n) {
  if (IS(Var, n)) map_set(w->context, n, n);
  return WALK_ON;
}

/* All of the loops, that is: another one without a step runs no init. */
static bool only_reduces(Nest *nest) {
  BlockRealize *r = AS(BlockRealize, nest->realize);
  Block *b = AS(Block, r->block);
  Map reducing = {0};
  Walker w = {.enter = note_var, .context = &reducing};
  if (b->match_buffers.len || mentions(nest, r->predicate)) return false;
  for (int i = 0; i < r->iter_values.len && i < b->iter_vars.len; i++) {
    if (AS(IterVar, b->iter_vars.at[i])->iter_kind == ITER_REDUCE) walk(&w, r->iter_values.at[i]);
    else if (mentions(nest, r->iter_values.at[i])) return false;
  }
  for each (MapEntry, e, &nest->vars)
    if (e->key && !map_has(&reducing, e->key)) return false;
  return true;
}

/* The block without its reduction variables, with the init for its body. */
static Node *init_block(Nest *nest) {
  BlockRealize r = *AS(BlockRealize, nest->realize);
  Block b = *AS(Block, r.block);
  NodeVec vars = {0}, values = {0}, none = {0};
  for (int i = 0; i < b.iter_vars.len && i < r.iter_values.len; i++) {
    if (AS(IterVar, b.iter_vars.at[i])->iter_kind == ITER_REDUCE) continue;
    vec_push(&vars, b.iter_vars.at[i]);
    vec_push(&values, r.iter_values.at[i]);
  }
  b.iter_vars = vars;
  b.alloc_buffers = none;
  b.body = b.init;
  b.init = NULL;
  r.iter_values = values;
  r.block = gc_copy(&b, sizeof b);
  return gc_copy(&r, sizeof r);
}

typedef struct ReductionStep {
  Step step;
  const Step *loops, *init;
} ReductionStep;

static Status run_reduction(const Step *s, Frame *f) {
  const ReductionStep *n = (const ReductionStep *)s;
  uint64_t before = interp->blocks;
  Status status = step_run(n->loops, f);
  return status == GO_ON && interp->blocks == before ? step_run(n->init, f) : status;
}

const Step *compile_reduction(Compiler *c, For *n) {
  Nest nest = {0};
  bool starts = find_nest(&n->node, &nest) && !map_has(&c->reductions, nest.realize);
  if (!starts || !only_reduces(&nest)) return NULL;
  map_set(&c->reductions, nest.realize, n);
  ReductionStep *step = NEW(ReductionStep, .step = {run_reduction, c->span, NULL});
  step->init = compile_stmt(c, init_block(&nest));
  step->loops = compile_stmt(c, &n->node);
  return &step->step;
}
