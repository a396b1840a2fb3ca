/* apply_default_schedule.c -- tensor programs without a schedule get one from rules.
 *
 * In:  blocks in loops as computes are written: serial, each block variable bound to a loop of its
 * own. Out: what the first rule that fits makes of them (stdlib/schedule/). Not: programs that a
 * schedule has touched, that compute nothing, and those with attribute tir.is_scheduled.
 *
 * Loops that go along lines in order say so by the annotation "tvms.lines": they are for the rules
 * of devices. */
#include "passes/tensor/inline_elementwise.h"
#include "passes/tensor/tensor.h"

Node *(*schedule_rules_hook)(Node *func, const PassContext *context);

typedef struct Contents {
  bool blocks, lines; /* with variables; loops along lines */
} Contents;

static WalkResult find_schedule(Walker *w, Node *n) {
  Contents *c = w->context;
  switch (n->kind) {
  case NK_For: {
    For *f = AS(For, n);
    if (f->annotations && dict_get(f->annotations, "tvms.lines"))
      return c->lines = true, WALK_PRUNE;
    bool is_plain = f->loop_kind == LOOP_SERIAL && !f->annotations && !expr_is_zero(f->extent);
    return is_plain ? WALK_ON : WALK_STOP;
  }
  case NK_BlockRealize: {
    BlockRealize *r = AS(BlockRealize, n);
    c->blocks |= r->iter_values.len > 0;
    for each (Node *, v, &r->iter_values)
      if (!IS(Var, *v) && !IS(IntImm, *v)) return WALK_STOP;
    return expr_is_one(r->predicate) ? WALK_ON : WALK_STOP;
  }
  case NK_Block:
    return AS(Block, n)->annotations && AS(Dict, AS(Block, n)->annotations)->keys.len ? WALK_STOP
                                                                                      : WALK_ON;
  default: return node_is_expr(n) ? WALK_PRUNE : WALK_ON;
  }
}

static bool has_schedule(Node *f, Contents *c) {
  Walker w = {.enter = find_schedule, .context = c};
  return dict_get_int(AS(PrimFunc, f)->attrs, "tir.is_scheduled", 0) ||
         !walk(&w, AS(PrimFunc, f)->body);
}

bool prim_func_wants_schedule(Node *f) {
  Contents c = {0};
  return !has_schedule(f, &c) && c.blocks;
}

Node *pass_apply_default_schedule(Node *n, const PassContext *context) {
  Contents c = {0};
  bool is_free = schedule_rules_hook && !has_schedule(n, &c);
  bool wants = is_free && (c.blocks || (c.lines && target_is_gpu(context->target)));
  return wants ? schedule_rules_hook(inline_elementwise(n), context) : n;
}
