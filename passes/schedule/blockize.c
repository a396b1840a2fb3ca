/* blockize.c -- blockize: the loops below a loop, with the block in them, become one block, whose
 * variables count tiles. */
#include "passes/schedule/schedule_impl.h"

typedef struct Blockize {
  ScheduleCall *call;
  Block *block;
  BlockRealize *realize;
  NodeVec loops; /* from the given loop down to the block */
  Map ranges;    /* of their variables */
  Analyzer *facts;
  Map tiles; /* variables of the block to outer * extent + inner */
  NodeVec outer_iters, outer_values, inner_iters, inner_values;
  Map inner_ranges; /* of the inner block's variables */
  bool keep_units;  /* also variables of a block that have one value */
} Blockize;

/* ---- dividing a binding ---- */

static bool mentions_inner(const Blockize *z, Node *n) {
  for each (Node *, l, &z->loops)
    if (mentions(n, AS(For, *l)->var)) return true;
  return false;
}

/* A binding as outer + inner: inner of the loops that go into the block. */
static void parts_of(Blockize *z, Node *value, Node **outer, Node **inner) {
  Linear form = {0};
  ScheduleCall *c = z->call;
  if (!arith_linear(value, &form))
    schedule_fail(c, &z->block->node, "the binding %s is not linear", ir_print(value, NULL));
  *outer = int_imm(value->dtype, form.constant, c->span);
  *inner = NULL;
  for (int i = 0; i < form.terms.len; i++) {
    Node *k = int_imm(value->dtype, form.coeffs.at[i], c->span);
    Node *term = expr_mul(expr_cast(value->dtype, form.terms.at[i], c->span), k);
    if (!mentions_inner(z, form.terms.at[i])) *outer = expr_add(*outer, term);
    else *inner = *inner ? expr_add(*inner, term) : term;
  }
}

static Node *tile_var(Blockize *z, IterVar *iv, const char *suffix, Node *extent, NodeVec *iters) {
  const char *name = str_format("%s%s", AS(Var, iv->var)->name, suffix);
  IterVar copy = *iv;
  copy.var = var_new(str_intern(name), iv->var->dtype, z->call->span);
  copy.dom = MAKE(Range, z->call->span, VOID_TYPE, .min = int_imm(extent->dtype, 0, z->call->span),
                  .extent = extent);
  vec_push(iters, gc_copy(&copy, sizeof copy));
  return copy.var;
}

/* The variable as tiles: `inner` of its value goes into the block, as the sum says. */
static void divide(Blockize *z, IterVar *iv, Node *value, Node *outer, Node *inner,
                   const IterSum *sum) {
  ScheduleCall *c = z->call;
  const char *name = AS(Var, iv->var)->name;
  Range *dom = AS(Range, iv->dom);
  Node *least, *count;
  bool whole = sum && iter_sum_range(sum, inner->dtype, &least, &count) &&
               expr_is_zero(arith_simplify(z->facts, least));
  int64_t tile = 0, rest = 0;
  if (!whole || !expr_is_const_int(count, &tile) || !expr_is_zero(dom->min))
    schedule_fail(c, &z->block->node,
                  "the loops below do not make a whole tile of '%s', which is %s", name,
                  ir_print(value, NULL));
  if (!expr_is_const_int(arith_simplify(z->facts, expr_floormod(dom->extent, count)), &rest) ||
      rest != 0)
    schedule_fail(c, &z->block->node, "tiles of %lld do not divide '%s', which runs to %s",
                  (long long)tile, name, ir_print(dom->extent, NULL));
  Node *size = int_imm(value->dtype, tile, c->span);
  Node *steps = arith_simplify(z->facts, expr_floordiv(outer, size));
  if (!arith_can_prove_equal(z->facts, expr_mul(steps, size), outer))
    schedule_fail(c, &z->block->node,
                  "'%s', which is %s, does not go in steps of whole tiles of %lld", name,
                  ir_print(value, NULL), (long long)tile);
  Node *tiles = arith_simplify(z->facts, expr_floordiv(dom->extent, size)), *vo = NULL;
  if (tile == 1 && !z->keep_units) {
    vec_push(&z->outer_iters, &iv->node);
    vec_push(&z->outer_values, steps);
    return;
  }
  if (!expr_is_one(tiles) || z->keep_units) {
    vo = tile_var(z, iv, "o", tiles, &z->outer_iters);
    vec_push(&z->outer_values, steps);
  }
  Node *vi = tile_var(z, iv, "i", size, &z->inner_iters);
  vec_push(&z->inner_values, inner);
  map_set(&z->inner_ranges, vi, AS(IterVar, vec_last(&z->inner_iters))->dom);
  bool is_only = expr_is_one(tiles); /* then its number is 0 */
  map_set(&z->tiles, iv->var, is_only ? vi : expr_add(expr_mul(vo, size), vi));
}

/* All variables; what the loops below do not move stays outside. */
static void divide_all(Blockize *z) {
  NodeVec outers = {0}, inners = {0}, moved = {0};
  for each (Node *, v, &z->realize->iter_values) {
    Node *outer, *inner;
    parts_of(z, *v, &outer, &inner);
    vec_push(&outers, outer);
    vec_push(&inners, inner);
    if (inner) vec_push(&moved, inner);
  }
  IterMap map = iter_map_detect(moved, &z->ranges, NULL, z->facts);
  for (int i = 0, k = 0; i < inners.len; i++) {
    IterVar *iv = AS(IterVar, z->block->iter_vars.at[i]);
    Node *value = z->realize->iter_values.at[i];
    if (inners.at[i]) divide(z, iv, value, outers.at[i], inners.at[i], map.sums.at[k++]);
    else {
      vec_push(&z->outer_iters, &iv->node);
      vec_push(&z->outer_values, value);
    }
  }
  if (!map.surjective)
    schedule_fail(z->call, &z->block->node,
                  "the loops below do not make tiles of block '%s': its variables depend on each "
                  "other",
                  z->block->name);
}

/* ---- the two blocks ---- */

static NodeVec rewritten(const Blockize *z, NodeVec regions) {
  NodeVec out = {0};
  for each (Node *, r, &regions) vec_push(&out, substitute(*r, &z->tiles));
  return out;
}

/* Regions over all steps of the inner block. */
static NodeVec relaxed(Blockize *z, NodeVec regions) {
  NodeVec out = {0};
  for each (Node *, r, &regions) {
    BufferRegion *region = AS(BufferRegion, *r);
    NodeVec dims = {0};
    for each (Node *, d, &region->region) {
      Node *min = AS(Range, *d)->min, *extent = AS(Range, *d)->extent, *lo, *hi, *unused;
      Node *one = int_imm(extent->dtype, 1, extent->span);
      Node *last = expr_sub(expr_add(min, extent), one);
      bool known = arith_bounds_over(min, &z->inner_ranges, &lo, &unused) &&
                   arith_bounds_over(last, &z->inner_ranges, &unused, &hi);
      if (!known)
        schedule_fail(z->call, &z->block->node, "the region of '%s' is not understood",
                      AS(Buffer, region->buffer)->name);
      Node *n = arith_simplify(z->facts, expr_add(expr_sub(hi, lo), one));
      vec_push(&dims, MAKE(Range, extent->span, VOID_TYPE, .min = arith_simplify(z->facts, lo),
                           .extent = n));
    }
    vec_push(&out, MAKE(BufferRegion, region->node.span, VOID_TYPE, .buffer = region->buffer,
                        .region = dims));
  }
  return out;
}

static Node *nest_over(NodeVec loops, Node *body) {
  for (int i = loops.len - 1; i >= 0; i--) body = loop_with_body(AS(For, loops.at[i]), body);
  return body;
}

/* The init of a reduction, for all of a tile: it goes with the outer block. */
static Node *tile_init(Blockize *z) {
  NodeVec iters = {0}, values = {0}, loops = {0};
  for (int i = 0; i < z->inner_iters.len; i++) {
    if (AS(IterVar, z->inner_iters.at[i])->iter_kind != ITER_SPATIAL) continue;
    vec_push(&iters, z->inner_iters.at[i]);
    vec_push(&values, z->inner_values.at[i]);
  }
  for each (Node *, l, &z->loops) {
    bool used = false;
    for each (Node *, v, &values) used |= mentions(*v, AS(For, *l)->var);
    if (used) vec_push(&loops, *l);
  }
  Block init = {.node = z->block->node,
                .name = str_intern(str_format("%s_init", z->block->name)),
                .iter_vars = iters,
                .writes = rewritten(z, z->block->writes),
                .body = substitute(z->block->init, &z->tiles)};
  Node *realize =
      MAKE(BlockRealize, z->call->span, VOID_TYPE, .iter_values = values,
           .predicate = int_imm(BOOL, 1, z->call->span), .block = gc_copy(&init, sizeof init));
  return copy_with_fresh_vars(nest_over(loops, realize));
}

Node *blockize_loop(ScheduleCall *c, const Place *p, bool keep_units) {
  Node *loop = vec_last(&p->path), *n = loop;
  Blockize z = {.call = c, .facts = facts_at(p), .keep_units = keep_units};
  for (; IS(For, n); n = AS(For, n)->body) {
    For *f = AS(For, n);
    vec_push(&z.loops, n);
    map_set(&z.ranges, f->var, MAKE(Range, c->span, VOID_TYPE, .min = f->min, .extent = f->extent));
    arith_bind_range(z.facts, f->var, f->min, f->extent);
  }
  if (!IS(BlockRealize, n))
    schedule_fail(c, loop, "the loops from '%s' on must hold one block and nothing else",
                  AS(Var, AS(For, loop)->var)->name);
  z.realize = AS(BlockRealize, n);
  z.block = AS(Block, z.realize->block);
  if (!expr_is_one(z.realize->predicate))
    schedule_fail(c, &z.block->node, "the block '%s' runs under a condition", z.block->name);
  divide_all(&z);
  Block inner = *z.block, outer = {.node = z.block->node};
  inner.iter_vars = z.inner_iters;
  inner.reads = rewritten(&z, z.block->reads);
  inner.writes = rewritten(&z, z.block->writes);
  inner.body = substitute(z.block->body, &z.tiles);
  inner.init = NULL;
  outer.name = str_intern(str_format("%s_o", z.block->name));
  outer.iter_vars = z.outer_iters;
  outer.reads = relaxed(&z, inner.reads);
  outer.writes = relaxed(&z, inner.writes);
  if (z.block->init) {
    outer.init = tile_init(&z);
    NodeVec updated = {0};
    for each (Node *, w, &inner.writes) vec_push(&updated, *w);
    for each (Node *, r, &inner.reads) vec_push(&updated, *r);
    inner.reads = updated;
  }
  Node *inside = gc_copy(&inner, sizeof inner);
  schedule_renew(c, &z.block->node, inside);
  outer.body =
      nest_over(z.loops, MAKE(BlockRealize, c->span, VOID_TYPE, .iter_values = z.inner_values,
                              .predicate = int_imm(BOOL, 1, c->span), .block = inside));
  Node *tile = gc_copy(&outer, sizeof outer);
  schedule_replace(c, p->func, loop,
                   MAKE(BlockRealize, c->span, VOID_TYPE, .iter_values = z.outer_values,
                        .predicate = int_imm(BOOL, 1, c->span), .block = tile));
  return tile;
}

void primitive_blockize(ScheduleCall *c) {
  Place p = loop_arg(c, 0);
  give_block(c, p.func, blockize_loop(c, &p, flag_arg(c, 1)));
}
