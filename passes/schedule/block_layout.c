/* block_layout.c -- primitives on the variables of a block: transform_block_layout and
 * reorder_block_iter_var. */
#include "passes/schedule/schedule_impl.h"

/* ---- transform_block_layout ---- */

/* Data-parallel if only such variables take part, a reduction if only those do. */
static IterKind kind_of(ScheduleCall *c, const Block *b, const IndexMap *map, Node *output) {
  IterKind kind = ITER_SPATIAL;
  bool any = false;
  for (int i = 0; i < map->inputs.len; i++) {
    IterKind k = AS(IterVar, b->iter_vars.at[i])->iter_kind;
    if (!node_mentions(output, map->inputs.at[i])) continue;
    if (any && k != kind)
      schedule_fail(c, (Node *)(uintptr_t)&b->node,
                    "%s mixes data-parallel and reduction variables of block '%s'",
                    ir_print(output, NULL), b->name);
    any = true;
    kind = k;
  }
  return kind;
}

static NodeVec extents_of(const Block *b) {
  NodeVec out = {0};
  for each (Node *, v, &b->iter_vars) vec_push(&out, AS(Range, AS(IterVar, *v)->dom)->extent);
  return out;
}

void primitive_transform_block_layout(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Place p = place_of(c, ref->func, ref->node);
  Block *b = AS(Block, ref->node);
  if (!scope_block(&p)) schedule_fail(c, ref->node, "the root block has no loops");
  NodeVec extents = extents_of(b), shape;
  const IndexMap *map = index_map_arg(c, 1, b->iter_vars.len, index_dtype(extents));
  const char *why = why_no_plain_nest(&p);
  if (why) schedule_fail(c, ref->node, "block '%s' is no plain nest: %s", b->name, why);
  Analyzer *facts = arith_of_function(p.prim_func);
  Node *padding, *inverse = index_map_inverse(map, extents, facts, &padding);
  if (!inverse || !expr_is_zero(padding) || !index_map_shape(map, extents, facts, &shape))
    schedule_fail(c, ref->node, "the map is not known to be a bijection of the steps of block '%s'",
                  b->name);
  Nest n = nest_begin(c, shape);
  Map at = {0}, vars = {0};
  for (int i = 0; i < n.vars.len; i++) {
    AS(IterVar, n.iters.at[i])->iter_kind = kind_of(c, b, map, map->outputs.at[i]);
    map_set(&at, AS(IndexMap, inverse)->inputs.at[i], n.vars.at[i]);
  }
  for (int i = 0; i < b->iter_vars.len; i++) {
    Node *var = AS(IterVar, b->iter_vars.at[i])->var;
    Node *value = substitute(AS(IndexMap, inverse)->outputs.at[i], &at);
    map_set(&vars, var, expr_cast(var->dtype, value, c->span));
  }
  Block moved = *b;
  moved.iter_vars = (NodeVec){0};
  Node *body = schedule_substituted(c, gc_copy(&moved, sizeof moved), &vars);
  moved = *AS(Block, simplify_indices(c, body, &n));
  Node *made, *nest = nest_end(c, &n, moved, NULL, &made);
  schedule_renew(c, ref->node, made);
  schedule_replace(c, ref->func, nest_of(&p), nest);
}

/* ---- reorder_block_iter_var ---- */

void primitive_reorder_block_iter_var(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Place p = place_of(c, ref->func, ref->node);
  if (!scope_block(&p)) schedule_fail(c, ref->node, "the root block has no variables");
  Node *realize = realize_of(&p);
  BlockRealize r = *AS(BlockRealize, realize);
  Block b = *AS(Block, ref->node);
  NodeVec order = list_arg(c, 1), iters = {0}, values = {0};
  Map seen = {0};
  for each (Node *, o, &order) {
    int64_t i;
    bool good = expr_is_const_int(expr_value(c, *o), &i) && i >= 0 && i < b.iter_vars.len &&
                order.len == b.iter_vars.len;
    if (!good || map_has(&seen, b.iter_vars.at[i]))
      schedule_fail(c, ref->node, "new_order must have each number from 0 to %d once",
                    b.iter_vars.len - 1);
    map_set(&seen, b.iter_vars.at[i], b.iter_vars.at[i]);
    vec_push(&iters, b.iter_vars.at[i]);
    vec_push(&values, r.iter_values.at[i]);
  }
  if (order.len != b.iter_vars.len)
    schedule_fail(c, ref->node, "new_order must have each number from 0 to %d once",
                  b.iter_vars.len - 1);
  b.iter_vars = iters;
  r.iter_values = values;
  r.block = gc_copy(&b, sizeof b);
  schedule_renew(c, ref->node, r.block);
  schedule_replace(c, p.func, realize, gc_copy(&r, sizeof r));
}
