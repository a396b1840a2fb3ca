/* nest.c -- nests of one block: building them, and knowing those whose loops are just the domain of
 * their block. */
#include "passes/schedule/schedule_impl.h"

Nest nest_begin(ScheduleCall *c, NodeVec extents) {
  Nest n = {.extents = extents};
  for (int i = 0; i < extents.len; i++) {
    DataType t = extents.at[i]->dtype;
    Node *zero = int_imm(t, 0, c->span), *v = var_new(str_format("v%d", i), t, c->span);
    Node *dom = MAKE(Range, c->span, VOID_TYPE, .min = zero, .extent = extents.at[i]);
    vec_push(&n.loops, var_new(str_format("ax%d", i), t, c->span));
    vec_push(&n.vars, v);
    vec_push(&n.iters,
             MAKE(IterVar, c->span, VOID_TYPE, .dom = dom, .var = v, .iter_kind = ITER_SPATIAL));
  }
  return n;
}

Node *loops_over(NodeVec vars, NodeVec extents, Node *body) {
  for (int i = vars.len - 1; i >= 0; i--)
    body = MAKE(For, body->span, VOID_TYPE, .min = int_imm(extents.at[i]->dtype, 0, body->span),
                .extent = extents.at[i], .var = vars.at[i], .body = body);
  return body;
}

Node *nest_end(ScheduleCall *c, const Nest *n, Block block, Node *predicate, Node **made) {
  block.node = (Node){NK_Block, VOID_TYPE, c->span};
  block.iter_vars = n->iters;
  *made = gc_copy(&block, sizeof block);
  if (!block.reads.len && !block.writes.len &&
      !block_access_regions(*made, NULL, &AS(Block, *made)->reads, &AS(Block, *made)->writes))
    schedule_fail(c, NULL, "what block '%s' accesses is opaque", block.name);
  Node *yes = int_imm(BOOL, 1, c->span);
  return loops_over(n->loops, n->extents,
                    MAKE(BlockRealize, c->span, VOID_TYPE, .iter_values = n->loops,
                         .predicate = predicate ? predicate : yes, .block = *made));
}

Node *point_region(Node *buffer, NodeVec indices) {
  NodeVec region = {0};
  for each (Node *, i, &indices)
    vec_push(&region, MAKE(Range, (*i)->span, VOID_TYPE, .min = *i,
                           .extent = int_imm((*i)->dtype, 1, (*i)->span)));
  return MAKE(BufferRegion, buffer->span, VOID_TYPE, .buffer = buffer, .region = region);
}

/* ---- indices after variables were replaced ---- */

typedef struct Tidy {
  Mutator mutator;
  ScheduleCall *call;
  Analyzer *facts;
  Map domains;
} Tidy;

static NodeVec tidied(Tidy *t, NodeVec indices) {
  NodeVec out = {0};
  for each (Node *, i, &indices) vec_push(&out, iter_simplify(*i, &t->domains, t->facts));
  return out;
}

static Node *tidy_node(Mutator *m, Node *n) {
  Tidy *t = (Tidy *)(void *)m;
  if (IS(Buffer, n)) return n;
  Node *out = schedule_rewrite_children(t->call, m, n);
  if (IS(BufferLoad, out)) {
    BufferLoad copy = *AS(BufferLoad, out);
    copy.indices = tidied(t, copy.indices);
    return gc_copy(&copy, sizeof copy);
  }
  if (IS(BufferStore, out)) {
    BufferStore copy = *AS(BufferStore, out);
    copy.indices = tidied(t, copy.indices);
    return gc_copy(&copy, sizeof copy);
  }
  if (!IS(Range, out)) return out;
  Range copy = *AS(Range, out);
  copy.min = iter_simplify(copy.min, &t->domains, t->facts);
  copy.extent = arith_simplify(t->facts, copy.extent);
  return gc_copy(&copy, sizeof copy);
}

Node *simplify_indices(ScheduleCall *c, Node *stmt, const Nest *n) {
  Tidy t = {.mutator = {.rewrite = tidy_node}, .call = c, .facts = arith_new()};
  for each (Node *, v, &n->iters) {
    IterVar *iv = AS(IterVar, *v);
    map_set(&t.domains, iv->var, iv->dom);
    arith_bind_range(t.facts, iv->var, AS(Range, iv->dom)->min, AS(Range, iv->dom)->extent);
  }
  return mutate(&t.mutator, stmt);
}

/* ---- nests that are the domain of their block ---- */

static const char *why_not_chain(NodeVec loops, const Node *realize) {
  for (int i = 0; i < loops.len; i++) {
    For *f = AS(For, loops.at[i]);
    const Node *inner = i + 1 < loops.len ? loops.at[i + 1] : realize;
    if (f->body != inner)
      return str_format("the loop '%s' holds other statements too", AS(Var, f->var)->name);
  }
  return NULL;
}

const char *why_no_plain_nest(const Place *p) {
  Node *realize = realize_of(p);
  BlockRealize *r = AS(BlockRealize, realize);
  Block *b = AS(Block, r->block);
  NodeVec loops = loops_around(p);
  if (!expr_is_one(r->predicate)) return "it runs under a condition";
  if (loops.len != b->iter_vars.len)
    return str_format("it has %d loops for %d variables", loops.len, b->iter_vars.len);
  Map used = {0};
  for (int i = 0; i < b->iter_vars.len; i++) {
    Range *dom = AS(Range, AS(IterVar, b->iter_vars.at[i])->dom);
    const char *name = AS(Var, AS(IterVar, b->iter_vars.at[i])->var)->name;
    For *loop = NULL;
    for each (Node *, l, &loops)
      if (AS(For, *l)->var == r->iter_values.at[i]) loop = AS(For, *l);
    if (!loop || map_has(&used, loop))
      return str_format("its variable '%s' is bound to %s, which is no loop of its own", name,
                        ir_print(r->iter_values.at[i], NULL));
    map_set(&used, loop, loop);
    bool whole = expr_is_zero(loop->min) && expr_is_zero(dom->min) &&
                 arith_can_prove_equal(arith_new(), loop->extent, dom->extent);
    bool plain = loop->loop_kind == LOOP_SERIAL &&
                 (!loop->annotations || !AS(Dict, loop->annotations)->keys.len);
    if (!whole || !plain)
      return str_format("the loop '%s' is not plainly the domain of '%s'", AS(Var, loop->var)->name,
                        name);
  }
  return why_not_chain(loops, realize);
}

Node *nest_of(const Place *p) {
  NodeVec loops = loops_around(p);
  return loops.len ? loops.at[0] : realize_of(p);
}

void own_buffers(ScheduleCall *c, const char *func, Node *inside, NodeVec buffers) {
  Place at = place_of(c, func, inside);
  Node *old = scope_block(&at);
  Block owner = *AS(Block, old);
  owner.alloc_buffers = (NodeVec){0};
  for each (Node *, b, &AS(Block, old)->alloc_buffers) vec_push(&owner.alloc_buffers, *b);
  for each (Node *, b, &buffers) vec_push(&owner.alloc_buffers, *b);
  Node *new = gc_copy(&owner, sizeof owner);
  schedule_renew(c, old, new);
  schedule_replace(c, func, old, new);
}

bool runs_for_all(const Place *p, const Map *vars) {
  BlockRealize *r = AS(BlockRealize, realize_of(p));
  Block *b = AS(Block, r->block);
  NodeVec loops = loops_around(p), values = {0}, domains = {0};
  Map ranges = {0};
  for each (Node *, l, &loops)
    map_set(
        &ranges, AS(For, *l)->var,
        MAKE(Range, (*l)->span, VOID_TYPE, .min = AS(For, *l)->min, .extent = AS(For, *l)->extent));
  for (int i = 0; i < b->iter_vars.len; i++) {
    IterVar *v = AS(IterVar, b->iter_vars.at[i]);
    if (!map_has(vars, v->var)) continue;
    vec_push(&values, r->iter_values.at[i]);
    vec_push(&domains, v->dom);
  }
  Place around = place_prefix(p, p->path.len - 2);
  Analyzer *facts = facts_at(&around);
  Node *predicate = is_domain_bound(r, r->predicate, facts) ? NULL : r->predicate;
  IterMap m = iter_map_detect(values, &ranges, predicate, facts);
  for (int i = 0; m.surjective && i < values.len; i++) {
    Range *dom = AS(Range, domains.at[i]);
    Node *least, *count, *end = expr_add(dom->min, dom->extent);
    if (!iter_sum_range(m.sums.at[i], values.at[i]->dtype, &least, &count) ||
        !arith_can_prove(facts, expr_binary(NK_LE, least, dom->min, end->span)) ||
        !arith_can_prove(facts, expr_binary(NK_GE, expr_add(least, count), end, end->span)))
      return false;
  }
  return m.surjective;
}
