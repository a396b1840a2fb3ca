/* annotate.c -- primitives that set and remove annotations of loops and blocks, and one that only
 * stands in the trace. */
#include "passes/schedule/schedule_impl.h"

/* Random variables in an annotation stand for their values. */
static Node *annotation_value(ScheduleCall *c, Node *n) {
  if (IS(Array, n)) {
    NodeVec items = {0};
    for each (Node *, x, &AS(Array, n)->items) vec_push(&items, annotation_value(c, *x));
    return MAKE(Array, n->span, VOID_TYPE, .items = items, .is_tuple = AS(Array, n)->is_tuple);
  }
  if (!IS(Dict, n)) return node_is_expr(n) && dtype_is_int(n->dtype) ? expr_value(c, n) : n;
  Dict copy = *AS(Dict, n);
  copy.values = (NodeVec){0};
  for each (Node *, x, &AS(Dict, n)->values) vec_push(&copy.values, annotation_value(c, *x));
  return gc_copy(&copy, sizeof copy);
}

/* Sets the annotation of the block or loop of argument 0; value NULL removes it. */
static void set(ScheduleCall *c, const char *key, Node *value) {
  bool removes = !value;
  if (is_block_arg(c, 0)) {
    BlockRef *ref = block_arg(c, 0);
    Block copy = *AS(Block, ref->node);
    if (removes && !dict_get(copy.annotations, key))
      schedule_fail(c, ref->node, "the block '%s' has no annotation '%s'", copy.name, key);
    copy.annotations = dict_with(copy.annotations, key, value);
    Node *old = ref->node, *new = gc_copy(&copy, sizeof copy);
    schedule_renew(c, old, new);
    return schedule_replace(c, ref->func, old, new);
  }
  Place p = loop_arg(c, 0);
  Node *old = vec_last(&p.path);
  For copy = *AS(For, old);
  if (removes && !dict_get(copy.annotations, key))
    schedule_fail(c, old, "the loop '%s' has no annotation '%s'", AS(Var, copy.var)->name, key);
  copy.annotations = dict_with(copy.annotations, key, value);
  if (!AS(Dict, copy.annotations)->keys.len) copy.annotations = NULL;
  schedule_replace(c, p.func, old, gc_copy(&copy, sizeof copy));
}

void primitive_annotate(ScheduleCall *c) {
  Node *value = c->args.at[2] ? annotation_value(c, c->args.at[2]) : MAKE(None, c->span, VOID_TYPE);
  set(c, dict_key(text_arg(c, 1, "ann_key")), value);
}
void primitive_unannotate(ScheduleCall *c) { set(c, dict_key(text_arg(c, 1, "ann_key")), NULL); }

void primitive_enter_postproc(ScheduleCall *c) { (void)c; }
