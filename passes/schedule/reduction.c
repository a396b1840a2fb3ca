/* reduction.c -- what a block reduces by; decompose_reduction: the init of a reduction as a block
 * of its own. */
#include "passes/schedule/schedule_impl.h"

/* ---- the operation ---- */

static bool is_identity(NodeKind op, const Node *n) {
  double x = IS(FloatImm, n) ? ((const FloatImm *)(const void *)n)->value : 0;
  int64_t i = 0;
  bool is_int = expr_is_const_int(n, &i), number = is_int || IS(FloatImm, n);
  switch (op) {
  case NK_Add: return number && (is_int ? i == 0 : x == 0);
  case NK_Mul: return number && (is_int ? i == 1 : x == 1);
  case NK_Max: return is_int ? i == dtype_min_int(n->dtype) : IS(FloatImm, n) && x < -3e38;
  default: return is_int ? i == dtype_max_int(n->dtype) : IS(FloatImm, n) && x > 3e38;
  }
}

static bool loads_stored(const Node *n, const BufferStore *store) {
  if (!IS(BufferLoad, n)) return false;
  const BufferLoad *l = (const BufferLoad *)(const void *)n;
  if (l->buffer != store->buffer) return false;
  for (int i = 0; i < l->indices.len; i++)
    if (!node_equal(l->indices.at[i], store->indices.at[i], false, NULL)) return false;
  return true;
}

Node *beside_load(const BufferStore *of, Node *value, NodeKind *op) {
  *op = (NodeKind)value->kind;
  if (*op != NK_Add && *op != NK_Mul && *op != NK_Min && *op != NK_Max) return NULL;
  Binary *sides = (Binary *)(void *)value;
  if (loads_stored(sides->a, of)) return sides->b;
  return loads_stored(sides->b, of) ? sides->a : NULL;
}

const char *block_reduction(Block *b, Reduction *out) {
  bool plain = IS(BufferStore, b->body) && IS(BufferStore, b->init) && !b->alloc_buffers.len &&
               !b->match_buffers.len;
  if (!plain)
    return str_format("the body and the init of block '%s' must be one store each", b->name);
  out->store = AS(BufferStore, b->body);
  out->operand = beside_load(out->store, out->store->value, &out->op);
  out->identity = AS(BufferStore, b->init)->value;
  if (out->operand && is_identity(out->op, out->identity)) return NULL;
  return str_format("block '%s' is no sum, product, minimum or maximum from its identity", b->name);
}

Reduction reduction_of(ScheduleCall *c, Block *b) {
  Reduction r;
  const char *why = block_reduction(b, &r);
  if (why) schedule_fail(c, &b->node, "%s", why);
  return r;
}

/* ---- decompose_reduction ---- */

NodeVec conjuncts(Node *cond) {
  if (!IS(And, cond)) return NODES(cond);
  NodeVec out = conjuncts(AS(And, cond)->a), more = conjuncts(AS(And, cond)->b);
  for each (Node *, n, &more) vec_push(&out, *n);
  return out;
}

typedef struct Decompose {
  ScheduleCall *call;
  Block *block;
  BlockRealize *realize;
  NodeVec loops; /* from the given loop inwards */
  Map vars;      /* variables of the block and of loops to those of the new nest */
} Decompose;

static Node *init_block(Decompose *d) {
  Block *b = d->block;
  NodeVec iters = {0};
  for each (Node *, v, &b->iter_vars) {
    IterVar *iv = AS(IterVar, *v);
    if (iv->iter_kind != ITER_SPATIAL) continue;
    IterVar copy = *iv;
    copy.var = var_new(str_format("%s_init", AS(Var, iv->var)->name), iv->var->dtype, b->node.span);
    map_set(&d->vars, iv->var, copy.var);
    vec_push(&iters, gc_copy(&copy, sizeof copy));
  }
  Block init = {.node = b->node,
                .name = str_intern(str_format("%s_init", b->name)),
                .iter_vars = iters,
                .annotations = b->annotations};
  init.body = substitute(b->init, &d->vars);
  for each (Node *, w, &b->writes) vec_push(&init.writes, substitute(*w, &d->vars));
  return gc_copy(&init, sizeof init);
}

static bool uses_loop_of_reduction(Decompose *d, Node *n) {
  for each (Node *, l, &d->loops)
    if (!map_has(&d->vars, AS(For, *l)->var) && node_mentions(n, AS(For, *l)->var)) return true;
  return false;
}

static Node *init_nest(Decompose *d) {
  NodeVec kept = {0}, values = {0};
  for each (Node *, l, &d->loops) {
    For *f = AS(For, *l);
    bool spatial = false;
    for (int i = 0; i < d->realize->iter_values.len; i++)
      spatial |= AS(IterVar, d->block->iter_vars.at[i])->iter_kind == ITER_SPATIAL &&
                 node_mentions(d->realize->iter_values.at[i], f->var);
    if (!spatial) continue;
    map_set(&d->vars, f->var,
            var_new(str_format("%s_init", AS(Var, f->var)->name), f->var->dtype, f->node.span));
    vec_push(&kept, *l);
  }
  for (int i = 0; i < d->realize->iter_values.len; i++)
    if (AS(IterVar, d->block->iter_vars.at[i])->iter_kind == ITER_SPATIAL)
      vec_push(&values, substitute(d->realize->iter_values.at[i], &d->vars));
  Node *predicate = int_imm(BOOL, 1, d->call->span);
  NodeVec conditions = conjuncts(d->realize->predicate);
  for each (Node *, cond, &conditions) {
    if (expr_is_one(*cond) || uses_loop_of_reduction(d, *cond)) continue;
    Node *now = substitute(*cond, &d->vars);
    predicate = expr_is_one(predicate) ? now : expr_and(predicate, now);
  }
  Node *block = init_block(d);
  Node *nest = MAKE(BlockRealize, d->call->span, VOID_TYPE, .iter_values = values,
                    .predicate = predicate, .block = block);
  for (int i = kept.len - 1; i >= 0; i--) {
    For copy = *AS(For, kept.at[i]);
    copy.var = map_get(&d->vars, copy.var);
    copy.min = substitute(copy.min, &d->vars);
    copy.extent = substitute(copy.extent, &d->vars);
    copy.body = nest;
    nest = gc_copy(&copy, sizeof copy);
  }
  return nest;
}

void primitive_decompose_reduction(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Place p = place_of(c, ref->func, ref->node), at = loop_arg(c, 1);
  Node *scope = scope_block(&p), *loop = vec_last(&at.path);
  Block *b = AS(Block, ref->node);
  const char *why = scope ? why_not_reduction(scope, ref->node) : "it is the root";
  if (why) schedule_fail(c, ref->node, "'%s' is no reduction block: %s", b->name, why);
  need_whole_reduction(c, &p);
  Decompose d = {.call = c, .block = b, .realize = AS(BlockRealize, realize_of(&p))};
  NodeVec loops = loops_around(&p), outside = {0};
  bool below = false;
  for each (Node *, l, &loops) {
    below |= *l == loop;
    vec_push(below ? &d.loops : &outside, *l);
  }
  if (!below)
    schedule_fail(c, loop, "the loop '%s' is not around block '%s'",
                  AS(Var, AS(For, loop)->var)->name, b->name);
  for each (Node *, l, &outside)
    for (int i = 0; i < d.realize->iter_values.len; i++)
      if (AS(IterVar, b->iter_vars.at[i])->iter_kind == ITER_REDUCE &&
          !expr_is_one(AS(For, *l)->extent) &&
          node_mentions(d.realize->iter_values.at[i], AS(For, *l)->var))
        schedule_fail(c, *l,
                      "the loop '%s' of the reduction is around the loop '%s': the init "
                      "would run again and again",
                      AS(Var, AS(For, *l)->var)->name, AS(Var, AS(For, loop)->var)->name);
  Map ranges = {0};
  for each (Node *, l, &d.loops) {
    For *f = AS(For, *l);
    map_set(&ranges, f->var, MAKE(Range, c->span, VOID_TYPE, .min = f->min, .extent = f->extent));
  }
  if (!iter_is_injective(d.realize->iter_values, &ranges, facts_at(&p)))
    schedule_fail(c, ref->node,
                  "the loops from '%s' on are not known to run block '%s' once for each value of "
                  "its variables: its init must run again too",
                  AS(Var, AS(For, loop)->var)->name, b->name);
  Node *nest = init_nest(&d), *init = child_realizes(nest).at[0];
  Block update = *b;
  update.init = NULL;
  update.name = str_intern(str_format("%s_update", b->name));
  NodeVec reads = {0};
  for each (Node *, w, &b->writes) vec_push(&reads, *w);
  for each (Node *, r, &b->reads) vec_push(&reads, *r);
  update.reads = reads;
  Node *after = gc_copy(&update, sizeof update);
  schedule_renew(c, ref->node, after);
  schedule_replace(c, ref->func, &b->node, after);
  at = loop_arg(c, 1);
  loop = vec_last(&at.path);
  schedule_replace(c, ref->func, loop, stmt_seq(NODES(nest, loop), c->span));
  give_block(c, ref->func, AS(BlockRealize, init)->block);
}
