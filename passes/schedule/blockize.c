/* blockize.c -- blockize: the loops below a loop, with the block in them, become one block, whose
 * variables count tiles; so do blocks that stand side by side, with the loops around each alone. */
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
    if (node_mentions(n, AS(For, *l)->var)) return true;
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

static NodeVec substituted(NodeVec nodes, const Map *map) {
  NodeVec out = {0};
  for each (Node *, n, &nodes) vec_push(&out, substitute(*n, map));
  return out;
}

static NodeVec rewritten(const Blockize *z, NodeVec nodes) { return substituted(nodes, &z->tiles); }

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
    for each (Node *, v, &values) used |= node_mentions(*v, AS(For, *l)->var);
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

/* The loop of a place, and those below it down to the block. */
static void enter_loop(Blockize *z, Node *loop) {
  For *f = AS(For, loop);
  vec_push(&z->loops, loop);
  map_set(&z->ranges, f->var,
          MAKE(Range, loop->span, VOID_TYPE, .min = f->min, .extent = f->extent));
  arith_bind_range(z->facts, f->var, f->min, f->extent);
}

static void enter_block(Blockize *z, Node *realize) {
  z->realize = AS(BlockRealize, realize);
  z->block = AS(Block, z->realize->block);
  if (!expr_is_one(z->realize->predicate))
    schedule_fail(z->call, &z->block->node, "the block '%s' runs under a condition",
                  z->block->name);
  divide_all(z);
}

/* What is inside of the tile: the block, with its loops. */
static Node *inner_nest(Blockize *z, Block *inner) {
  Node *inside = gc_copy(inner, sizeof *inner);
  schedule_renew(z->call, &z->block->node, inside);
  return nest_over(z->loops,
                   MAKE(BlockRealize, z->call->span, VOID_TYPE, .iter_values = z->inner_values,
                        .predicate = int_imm(BOOL, 1, z->call->span), .block = inside));
}

Node *blockize_loop(ScheduleCall *c, const Place *p, bool keep_units) {
  Node *loop = vec_last(&p->path), *n = loop;
  Blockize z = {.call = c, .facts = facts_at(p), .keep_units = keep_units};
  for (; IS(For, n); n = AS(For, n)->body) enter_loop(&z, n);
  if (!IS(BlockRealize, n))
    schedule_fail(c, loop, "the loops from '%s' on must hold one block and nothing else",
                  AS(Var, AS(For, loop)->var)->name);
  enter_block(&z, n);
  Block inner = *z.block, outer = {.node = z.block->node};
  inner.iter_vars = z.inner_iters;
  inner.reads = rewritten(&z, z.block->reads);
  inner.writes = rewritten(&z, z.block->writes);
  inner.match_buffers = rewritten(&z, z.block->match_buffers);
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
  outer.body = inner_nest(&z, &inner);
  Node *tile = gc_copy(&outer, sizeof outer);
  schedule_replace(c, p->func, loop,
                   MAKE(BlockRealize, c->span, VOID_TYPE, .iter_values = z.outer_values,
                        .predicate = int_imm(BOOL, 1, c->span), .block = tile));
  return tile;
}

/* ---- several blocks ---- */

typedef struct Tiles {
  ScheduleCall *call;
  Place place;    /* of the sequence that the blocks stand in */
  int first, end; /* which of its statements */
  NodeVec blocks, iters, values;
  Analyzer *facts;
  bool keep_units;
} Tiles;

static NodeVec statements_at(const Place *p) {
  Node *n = vec_last(&p->path);
  return IS(SeqStmt, n) ? AS(SeqStmt, n)->stmts : NODES(n);
}

static const char *name_of(Node *block) { return AS(Block, block)->name; }

/* The statements around all of the blocks. */
static Place shared_place(ScheduleCall *c, NodeVec given, NodeVec *blocks) {
  Place all = {0};
  for each (Node *, g, &given) {
    ScheduleCall one = *c;
    one.args = NODES(*g);
    BlockRef *ref = block_arg(&one, 0);
    Place p = place_of(c, ref->func, ref->node);
    if (!scope_block(&p)) schedule_fail(c, ref->node, "the root block can't be blockized");
    if (!all.path.len) all = place_prefix(&p, p.path.len - 1);
    if (all.func != ref->func)
      schedule_fail(c, ref->node, "the blocks are not all of one function");
    int n = 0;
    while (n < all.path.len && n < p.path.len - 1 && all.path.at[n] == p.path.at[n]) n++;
    all = place_prefix(&all, n);
    vec_push(blocks, ref->node);
  }
  return all;
}

/* Side by side, each alone in its loops. */
static Tiles side_by_side(ScheduleCall *c, NodeVec given) {
  Tiles t = {.call = c, .first = -1};
  t.place = shared_place(c, given, &t.blocks);
  NodeVec stmts = statements_at(&t.place);
  for (int i = 0; i < stmts.len; i++)
    for each (Node *, b, &t.blocks)
      if (node_mentions(stmts.at[i], *b)) {
        if (t.first < 0) t.first = i;
        t.end = i + 1;
      }
  for (int i = t.first; i < t.end; i++) {
    NodeVec realizes = child_realizes(stmts.at[i]);
    bool is_given = false;
    Node *block = realizes.len ? AS(BlockRealize, realizes.at[0])->block : NULL;
    for each (Node *, b, &t.blocks) is_given |= *b == block;
    if (!is_given)
      schedule_fail(c, block ? block : t.blocks.at[0],
                    "the blocks must stand side by side, but %s stands between them",
                    block ? str_format("block '%s'", name_of(block)) : "a statement");
  }
  return t;
}

/* The variable of the tile that the outer part of a variable is; NULL: none yet. */
static Node *shared_var(const Tiles *t, const IterVar *v, Node *value, Map *used) {
  for (int i = 0; i < t->iters.len; i++) {
    IterVar *own = AS(IterVar, t->iters.at[i]);
    Range *a = AS(Range, own->dom), *b = AS(Range, v->dom);
    if (!map_has(used, own->var) && arith_can_prove_equal(t->facts, t->values.at[i], value) &&
        arith_can_prove_equal(t->facts, a->min, b->min) &&
        arith_can_prove_equal(t->facts, a->extent, b->extent)) {
      map_set(used, own->var, own->var);
      return own->var;
    }
  }
  return NULL;
}

/* All blocks go through the same tiles: those of the first one. */
static Map shared_outers(Tiles *t, const Blockize *z, bool is_first) {
  Map map = {0}, used = {0};
  for (int i = 0; i < z->outer_iters.len; i++) {
    IterVar *v = AS(IterVar, z->outer_iters.at[i]);
    bool is_unit = expr_is_one(AS(Range, v->dom)->extent);
    if (!is_unit && v->iter_kind != ITER_SPATIAL)
      schedule_fail(t->call, &z->block->node,
                    "the variable '%s' of block '%s' is not data-parallel, and goes on outside of "
                    "the tiles",
                    AS(Var, v->var)->name, z->block->name);
    Node *var = is_first ? NULL : shared_var(t, v, z->outer_values.at[i], &used);
    if (is_first && (!is_unit || (t->keep_units && v->iter_kind == ITER_SPATIAL))) {
      vec_push(&t->iters, &v->node);
      vec_push(&t->values, z->outer_values.at[i]);
      continue;
    }
    if (!var && !is_unit)
      schedule_fail(t->call, &z->block->node,
                    "block '%s' goes through tiles by %s, as block '%s' does not", z->block->name,
                    ir_print(z->outer_values.at[i], NULL), name_of(t->blocks.at[0]));
    map_set(&map, v->var, var ? var : AS(Range, v->dom)->min);
  }
  for (int i = 0; !is_first && i < t->iters.len; i++) {
    IterVar *v = AS(IterVar, t->iters.at[i]);
    if (!map_has(&used, v->var) && !expr_is_one(AS(Range, v->dom)->extent))
      schedule_fail(t->call, &z->block->node,
                    "block '%s' goes through tiles by %s, as block '%s' does not",
                    name_of(t->blocks.at[0]), ir_print(t->values.at[i], NULL), z->block->name);
  }
  return map;
}

/* A statement of the sequence as it is in the tile. */
static Node *tile_statement(Tiles *t, Node *stmt, bool is_first, Str *names) {
  Blockize z = {.call = t->call, .facts = facts_at(&t->place), .keep_units = t->keep_units};
  Node *n = stmt;
  for (; IS(For, n); n = AS(For, n)->body) enter_loop(&z, n);
  if (!IS(BlockRealize, n))
    schedule_fail(t->call, AS(BlockRealize, child_realizes(stmt).at[0])->block,
                  "the loops around block '%s' hold other statements too",
                  name_of(AS(BlockRealize, child_realizes(stmt).at[0])->block));
  enter_block(&z, n);
  Map outers = shared_outers(t, &z, is_first);
  str_printf(names, "%s_", z.block->name);
  Block inner = *z.block;
  inner.iter_vars = z.inner_iters;
  inner.reads = substituted(rewritten(&z, inner.reads), &outers);
  inner.writes = substituted(rewritten(&z, inner.writes), &outers);
  inner.match_buffers = substituted(rewritten(&z, inner.match_buffers), &outers);
  inner.body = substitute(substitute(inner.body, &z.tiles), &outers);
  if (inner.init) inner.init = substitute(substitute(inner.init, &z.tiles), &outers);
  return inner_nest(&z, &inner);
}

static void blockize_blocks(ScheduleCall *c, NodeVec given, bool keep_units) {
  if (!given.len) schedule_fail(c, NULL, "no block is given");
  Tiles t = side_by_side(c, given);
  t.facts = facts_at(&t.place);
  t.keep_units = keep_units;
  NodeVec stmts = statements_at(&t.place), inside = {0}, all = {0};
  Str names = {0};
  str_printf(&names, "outer_");
  for (int i = t.first; i < t.end; i++)
    vec_push(&inside, tile_statement(&t, stmts.at[i], i == t.first, &names));
  Block outer = {.node = {NK_Block, VOID_TYPE, c->span},
                 .name = str_intern(str_text(&names)),
                 .iter_vars = t.iters,
                 .body = stmt_seq(inside, c->span)};
  if (!block_access_regions(&outer.node, NULL, &outer.reads, &outer.writes))
    schedule_fail(c, t.blocks.at[0], "what the blocks access is opaque");
  Node *tile = gc_copy(&outer, sizeof outer);
  for (int i = 0; i <= stmts.len; i++) {
    if (i == t.first)
      vec_push(&all, MAKE(BlockRealize, c->span, VOID_TYPE, .iter_values = t.values,
                          .predicate = int_imm(BOOL, 1, c->span), .block = tile));
    if (i < stmts.len && (i < t.first || i >= t.end)) vec_push(&all, stmts.at[i]);
  }
  schedule_replace(c, t.place.func, vec_last(&t.place.path), stmt_seq(all, c->span));
  give_block(c, t.place.func, tile);
}

/* ---- the primitive ---- */

void primitive_blockize(ScheduleCall *c) {
  if (IS(Array, c->args.at[0])) {
    blockize_blocks(c, list_arg(c, 0), flag_arg(c, 1));
    return;
  }
  Place p = loop_arg(c, 0);
  give_block(c, p.func, blockize_loop(c, &p, flag_arg(c, 1)));
}
