/* rfactor.c -- rfactor: a reduction in two steps. The first makes a partial result for each step of
 * one loop, the second reduces the partial results. */
#include "passes/schedule/schedule_impl.h"

typedef struct Rfactor {
  ScheduleCall *call;
  BlockRef *ref;
  Block *block;
  BlockRealize *realize;
  NodeVec loops; /* around the block */
  For *factor;   /* the loop whose steps get partial results */
  int axis;      /* of the partial results, where that loop's index goes */
  Reduction by;
  Node *partial;            /* Buffer */
  NodeVec spatial, reduced; /* conditions of the block: on other loops, on those of the reduction */
} Rfactor;

/* ---- the partial results ---- */

static NodeVec with_index(NodeVec v, int at, Node *n) {
  NodeVec out = {0};
  for (int i = 0; i <= v.len; i++) {
    if (i == at) vec_push(&out, n);
    if (i < v.len) vec_push(&out, v.at[i]);
  }
  return out;
}

static Node *iter_var(Node *like, Node *var, Node *extent, IterKind kind) {
  Node *dom = MAKE(Range, like->span, VOID_TYPE, .min = int_imm(extent->dtype, 0, like->span),
                   .extent = extent);
  return MAKE(IterVar, like->span, VOID_TYPE, .dom = dom, .var = var, .iter_kind = kind);
}

static bool is_reduction_loop(const Rfactor *r, const For *loop) {
  for (int i = 0; i < r->realize->iter_values.len; i++)
    if (AS(IterVar, r->block->iter_vars.at[i])->iter_kind == ITER_REDUCE &&
        node_mentions(r->realize->iter_values.at[i], loop->var))
      return true;
  return false;
}

/* Steps that the block did not take add nothing: so every partial result is made. */
static Node *guarded_operand(Rfactor *r, const Map *vars, const Map *loops) {
  Node *operand = substitute(r->by.operand, vars), *cond = NULL;
  for each (Node *, x, &r->reduced) {
    Node *now = substitute(*x, loops);
    cond = cond ? expr_and(cond, now) : now;
  }
  if (!cond) return operand;
  Span span = operand->span;
  Node *nothing = expr_cast(operand->dtype, r->by.identity, span);
  return expr_call("if_then_else", operand->dtype, NODES(cond, operand, nothing), span);
}

static Node *all_of(NodeVec conditions, const Map *vars, Span span) {
  Node *out = int_imm(BOOL, 1, span);
  for each (Node *, x, &conditions) {
    Node *now = vars ? substitute(*x, vars) : *x;
    out = expr_is_one(out) ? now : expr_and(out, now);
  }
  return out;
}

/* The block that was, with the loop's variable data-parallel. Reduction variables are bound anew,
 * one to each loop of the reduction. */
static Node *partial_block(Rfactor *r, NodeVec *values) {
  Block *b = r->block;
  Node *v = var_new(str_format("v%s", AS(Var, r->factor->var)->name), r->factor->var->dtype,
                    b->node.span);
  Map loops = {0}, vars = {0};
  NodeVec iters = {0}, reduce = {0}, reduce_values = {0};
  map_set(&loops, r->factor->var, v);
  vec_push(&iters, iter_var(&b->node, v, r->factor->extent, ITER_SPATIAL));
  vec_push(values, r->factor->var);
  for each (Node *, l, &r->loops) {
    For *f = AS(For, *l);
    if (f == r->factor || !is_reduction_loop(r, f)) continue;
    Node *w = var_new(str_format("v%s", AS(Var, f->var)->name), f->var->dtype, b->node.span);
    map_set(&loops, f->var, w);
    vec_push(&reduce, iter_var(&b->node, w, f->extent, ITER_REDUCE));
    vec_push(&reduce_values, f->var);
  }
  for (int i = 0; i < b->iter_vars.len; i++) {
    IterVar *iv = AS(IterVar, b->iter_vars.at[i]);
    Node *value = r->realize->iter_values.at[i];
    if (iv->iter_kind == ITER_REDUCE) {
      map_set(&vars, iv->var, expr_cast(iv->var->dtype, substitute(value, &loops), b->node.span));
      continue;
    }
    vec_push(&iters, &iv->node);
    vec_push(values, value);
  }
  for each (Node *, iv, &reduce) vec_push(&iters, *iv);
  for each (Node *, value, &reduce_values) vec_push(values, *value);
  NodeVec at = with_index(r->by.store->indices, r->axis, v);
  Node *old = expr_load(r->partial, at, b->node.span), *operand = guarded_operand(r, &vars, &loops);
  Block copy = *b;
  copy.name = str_intern(str_format("%s_rf", b->name));
  copy.iter_vars = iters;
  copy.init = stmt_store(r->partial, at, r->by.identity, b->node.span);
  copy.body =
      stmt_store(r->partial, at, expr_binary(r->by.op, old, operand, b->node.span), b->node.span);
  copy.writes = NODES(point_region(r->partial, at));
  copy.reads = (NodeVec){0};
  for each (Node *, region, &b->reads) vec_push(&copy.reads, substitute(*region, &vars));
  return gc_copy(&copy, sizeof copy);
}

/* ---- the final reduction ---- */

static Node *final_nest(Rfactor *r, Node **final_block) {
  Block *b = r->block;
  Span span = b->node.span;
  Map loops = {0}, vars = {0};
  NodeVec kept = {0}, iters = {0}, values = {0};
  for each (Node *, l, &r->loops) {
    For *f = AS(For, *l);
    if (f != r->factor && is_reduction_loop(r, f)) continue;
    For copy = *f;
    copy.var = var_new(AS(Var, f->var)->name, f->var->dtype, span);
    bool runs_apart = f->loop_kind == LOOP_THREAD || f->loop_kind == LOOP_PARALLEL;
    if (!runs_apart) copy.loop_kind = LOOP_SERIAL;
    copy.annotations = NULL;
    map_set(&loops, f->var, copy.var);
    vec_push(&kept, gc_copy(&copy, sizeof copy));
  }
  Node *v = var_new(str_format("v%s", AS(Var, r->factor->var)->name), r->factor->var->dtype, span);
  vec_push(&iters, iter_var(&b->node, v, r->factor->extent, ITER_REDUCE));
  vec_push(&values, map_get(&loops, r->factor->var));
  for (int i = 0; i < b->iter_vars.len; i++) {
    IterVar copy = *AS(IterVar, b->iter_vars.at[i]);
    if (copy.iter_kind == ITER_REDUCE) continue;
    Node *fresh = var_new(AS(Var, copy.var)->name, copy.var->dtype, span);
    map_set(&vars, copy.var, fresh);
    copy.var = fresh;
    vec_push(&iters, gc_copy(&copy, sizeof copy));
    vec_push(&values, substitute(r->realize->iter_values.at[i], &loops));
  }
  NodeVec at = {0};
  for each (Node *, i, &r->by.store->indices) vec_push(&at, substitute(*i, &vars));
  NodeVec from = with_index(at, r->axis, v);
  Node *sum = expr_binary(r->by.op, expr_load(r->by.store->buffer, at, span),
                          expr_load(r->partial, from, span), span);
  *final_block =
      MAKE(Block, span, VOID_TYPE, .name = b->name, .iter_vars = iters,
           .reads = NODES(point_region(r->partial, from)),
           .writes = NODES(point_region(r->by.store->buffer, at)), .annotations = b->annotations,
           .init = stmt_store(r->by.store->buffer, at, r->by.identity, span),
           .body = stmt_store(r->by.store->buffer, at, sum, span));
  Node *nest = MAKE(BlockRealize, span, VOID_TYPE, .iter_values = values,
                    .predicate = all_of(r->spatial, &loops, span), .block = *final_block);
  for (int i = kept.len - 1; i >= 0; i--) {
    For copy = *AS(For, kept.at[i]);
    copy.min = substitute(copy.min, &loops);
    copy.extent = substitute(copy.extent, &loops);
    copy.body = nest;
    nest = gc_copy(&copy, sizeof copy);
  }
  return nest;
}

/* ---- the primitive ---- */

/* Conditions on loops of the reduction, and those on others. */
static void sort_conditions(Rfactor *r) {
  NodeVec all = conjuncts(r->realize->predicate);
  for each (Node *, x, &all) {
    bool reduces = false, other = false;
    for each (Node *, l, &r->loops)
      if (node_mentions(*x, AS(For, *l)->var))
        *(is_reduction_loop(r, AS(For, *l)) ? &reduces : &other) = true;
    if (reduces && other)
      schedule_fail(r->call, &r->block->node, "the condition %s mixes loops of both kinds",
                    ir_print(*x, NULL));
    if (!expr_is_one(*x)) vec_push(reduces ? &r->reduced : &r->spatial, *x);
  }
}

static void need_factor_loop(Rfactor *r) {
  ScheduleCall *c = r->call;
  if (!expr_is_zero(r->factor->min) || r->factor->loop_kind == LOOP_THREAD)
    schedule_fail(c, &r->factor->node, "the loop '%s' must start at 0 and be bound to no thread",
                  AS(Var, r->factor->var)->name);
  Node *outermost = r->loops.at[0];
  if (child_realizes(outermost).len != 1)
    schedule_fail(c, outermost, "the loop '%s' is around other blocks than '%s' too",
                  AS(Var, AS(For, outermost)->var)->name, r->block->name);
  if (!is_reduction_loop(r, r->factor))
    schedule_fail(c, &r->factor->node, "the loop '%s' is no loop of the reduction",
                  AS(Var, r->factor->var)->name);
  for (int i = 0; i < r->realize->iter_values.len; i++) {
    IterVar *iv = AS(IterVar, r->block->iter_vars.at[i]);
    for each (Node *, l, &r->loops)
      if (iv->iter_kind == ITER_SPATIAL && is_reduction_loop(r, AS(For, *l)) &&
          node_mentions(r->realize->iter_values.at[i], AS(For, *l)->var))
        schedule_fail(c, *l, "the loop '%s' binds variables of both kinds",
                      AS(Var, AS(For, *l)->var)->name);
  }
}

void primitive_rfactor(ScheduleCall *c) {
  Place p = loop_arg(c, 0);
  Node *loop = vec_last(&p.path);
  NodeVec below = child_realizes(AS(For, loop)->body);
  if (below.len != 1)
    schedule_fail(c, loop, "there must be one block under the loop, but there are %d", below.len);
  Node *block = AS(BlockRealize, below.at[0])->block;
  Rfactor r = {.call = c,
               .ref = block_ref(c, p.func, block),
               .block = AS(Block, block),
               .factor = AS(For, loop)};
  Place at = place_of(c, p.func, block);
  Node *scope = scope_block(&at);
  r.realize = AS(BlockRealize, realize_of(&at));
  r.loops = loops_around(&at);
  const char *why = scope ? why_not_reduction(scope, block) : "it stands in no block";
  if (why) schedule_fail(c, block, "'%s' is no reduction block: %s", r.block->name, why);
  r.by = reduction_of(c, r.block);
  need_factor_loop(&r);
  sort_conditions(&r);
  Buffer *out = AS(Buffer, r.by.store->buffer);
  int64_t axis = int_arg(c, 1, "factor_axis");
  if (axis < 0) axis += out->shape.len + 1;
  if (axis < 0 || axis > out->shape.len)
    schedule_fail(c, block, "factor_axis must be from 0 to %d, but is %lld", out->shape.len,
                  (long long)axis);
  r.axis = (int)axis;
  r.partial = buffer_new(str_intern(str_format("%s_rf", out->name)), out->elem,
                         with_index(out->shape, r.axis, r.factor->extent), buffer_scope(&out->node),
                         c->span);
  NodeVec values = {0};
  Node *partial = partial_block(&r, &values), *final_block, *nest = final_nest(&r, &final_block);
  Node *realize = MAKE(BlockRealize, block->span, VOID_TYPE, .iter_values = values,
                       .predicate = all_of(r.spatial, NULL, c->span), .block = partial);
  schedule_renew(c, block, final_block); /* the block's name goes on with what it computes */
  schedule_replace(c, p.func, &r.realize->node, realize);
  at = place_of(c, p.func, partial);
  Node *top = loops_around(&at).at[0];
  schedule_replace(c, p.func, top, stmt_seq(NODES(top, nest), c->span));
  own_buffers(c, p.func, partial, NODES(r.partial));
  give_block(c, p.func, partial);
}
