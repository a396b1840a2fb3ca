/* loop.c -- primitives on loops: split, fuse, reorder, add_unit_loop, and what threads, vectors and
 * unrolling make of them. */
#include "ir/analysis/first_write.h"
#include "passes/schedule/schedule_impl.h"

Node *loop_with_body(const For *loop, Node *body) {
  if (body == loop->body) return (Node *)(uintptr_t)&loop->node;
  For copy = *loop;
  copy.body = body;
  return gc_copy(&copy, sizeof copy);
}

static const char *loop_name(Node *loop) { return AS(Var, AS(For, loop)->var)->name; }

/* ---- what is known ---- */

/* A variable that runs from `min`. One that only has this value is simplified away, unless units
 * are kept: then it is known to be at most one more. */
static void bind_steps(Analyzer *facts, Node *var, Node *min, Node *extent, bool keep_units) {
  if (keep_units && expr_is_one(extent)) extent = int_imm(extent->dtype, 2, extent->span);
  arith_bind_range(facts, var, min, extent);
}

static Analyzer *facts_with(const Place *p, bool keep_units) {
  Analyzer *facts = arith_of_function(p->prim_func);
  for (int i = 0; i < p->path.len; i++) {
    Node *s = p->path.at[i];
    if (IS(For, s) && i < p->path.len - 1)
      bind_steps(facts, AS(For, s)->var, AS(For, s)->min, AS(For, s)->extent, keep_units);
    if (!IS(Block, s) || i == p->path.len - 1) continue;
    for each (Node *, v, &AS(Block, s)->iter_vars) {
      IterVar *iv = AS(IterVar, *v);
      if (iv->dom)
        arith_bind_range(facts, iv->var, AS(Range, iv->dom)->min, AS(Range, iv->dom)->extent);
    }
    if (i && IS(BlockRealize, p->path.at[i - 1]))
      arith_enter(facts, AS(BlockRealize, p->path.at[i - 1])->predicate);
  }
  return facts;
}

Analyzer *facts_at(const Place *p) { return facts_with(p, false); }

typedef struct Simplify {
  Mutator mutator;
  ScheduleCall *call;
  Analyzer *facts;
  bool keep_units;
} Simplify;

static Node *simplify_realize(Simplify *s, BlockRealize *r) {
  BlockRealize copy = *r;
  copy.predicate = arith_simplify(s->facts, r->predicate);
  int mark = arith_enter(s->facts, copy.predicate);
  copy.iter_values = (NodeVec){0};
  bool same = copy.predicate == r->predicate;
  for each (Node *, v, &r->iter_values) {
    Node *x = arith_simplify(s->facts, *v);
    same &= x == *v;
    vec_push(&copy.iter_values, x);
  }
  arith_leave(s->facts, mark);
  return same ? &r->node : gc_copy(&copy, sizeof copy);
}

/* Blocks keep what they do: only how they are bound is rewritten. */
static Node *simplify_node(Mutator *m, Node *n) {
  Simplify *s = (Simplify *)(void *)m;
  if (IS(BlockRealize, n)) return simplify_realize(s, AS(BlockRealize, n));
  if (node_family(n->kind) != FAMILY_STMT) return n;
  if (IS(For, n))
    bind_steps(s->facts, AS(For, n)->var, AS(For, n)->min, AS(For, n)->extent, s->keep_units);
  return mutate_children(m, n);
}

static Node *simplify_with(ScheduleCall *c, Node *stmt, Analyzer *facts, bool keep_units) {
  Simplify s = {
      .mutator = {.rewrite = simplify_node}, .call = c, .facts = facts, .keep_units = keep_units};
  return mutate(&s.mutator, stmt);
}

Node *simplify_bindings(ScheduleCall *c, Node *stmt, Analyzer *facts) {
  return simplify_with(c, stmt, facts, false);
}

/* ---- substituting loop variables ---- */

typedef struct Rebind {
  Mutator mutator;
  ScheduleCall *call;
  const Map *vars;
  Node *condition; /* that blocks get beside their own predicate, or NULL */
} Rebind;

/* Variables of loops stand in bindings of blocks and in bounds of loops; a block's own body knows
 * them only if it has no variables of its own. */
static Node *rebind_node(Mutator *m, Node *n) {
  Rebind *r = (Rebind *)(void *)m;
  if (IS(Var, n)) {
    Node *to = map_get(r->vars, n);
    return to ? to : n;
  }
  bool guarded = IS(BlockRealize, n) && r->condition;
  Node *condition = r->condition;
  if (guarded) r->condition = NULL; /* blocks inside it are guarded with it */
  Node *out = schedule_rewrite_children(r->call, m, n);
  if (!guarded) return out;
  r->condition = condition;
  BlockRealize copy = *AS(BlockRealize, out);
  copy.predicate = expr_is_one(copy.predicate) ? condition : expr_and(copy.predicate, condition);
  return gc_copy(&copy, sizeof copy);
}

static Node *rebind(ScheduleCall *c, Node *stmt, const Map *vars, Node *condition) {
  Rebind r = {.mutator = {.rewrite = rebind_node}, .call = c, .vars = vars, .condition = condition};
  return mutate(&r.mutator, stmt);
}

/* ---- split ---- */

void need_plain_loop(ScheduleCall *c, Node *loop) {
  For *f = AS(For, loop);
  if (f->annotations && AS(Dict, f->annotations)->keys.len)
    schedule_fail(c, loop, "the loop '%s' has annotations; it must have none", loop_name(loop));
  if (f->loop_kind == LOOP_THREAD)
    schedule_fail(c, loop, "the loop '%s' is bound to %s", loop_name(loop), f->thread_tag);
  if (!expr_is_zero(f->min))
    schedule_fail(c, loop, "the loop '%s' must start at 0, but starts at %s", loop_name(loop),
                  ir_print(f->min, NULL));
}

/* The factors as expressions; the one that is None is what is left of the extent. */
static NodeVec split_factors(ScheduleCall *c, Node *loop, NodeVec given, Analyzer *facts) {
  Node *extent = AS(For, loop)->extent, *product = int_imm(extent->dtype, 1, c->span);
  NodeVec factors = {0};
  int open = -1;
  if (!given.len) schedule_fail(c, loop, "there must be at least one factor");
  for (int i = 0; i < given.len; i++) {
    Node *f = given.at[i];
    if (!f || IS(None, f)) {
      if (open >= 0) schedule_fail(c, loop, "only one factor may be None");
      open = i;
      vec_push(&factors, NULL);
      continue;
    }
    f = expr_cast(extent->dtype, expr_value(c, f), c->span);
    int64_t x;
    if (expr_is_const_int(f, &x) && x <= 0)
      schedule_fail(c, loop, "factor %d must be positive, but is %lld", i, (long long)x);
    vec_push(&factors, f);
    product = arith_simplify(facts, expr_mul(product, f));
  }
  if (open >= 0) {
    Node *one = int_imm(extent->dtype, 1, c->span);
    Node *up = expr_sub(expr_add(extent, product), one);
    factors.at[open] = arith_simplify(facts, expr_floordiv(up, product));
  } else if (!arith_can_prove(facts, expr_binary(NK_GE, product, extent, c->span)))
    schedule_fail(c, loop, "the factors multiply to %s, which is not known to cover the extent %s",
                  ir_print(product, NULL), ir_print(extent, NULL));
  return factors;
}

void primitive_split(ScheduleCall *c) {
  Place p = loop_arg(c, 0);
  Node *node = vec_last(&p.path);
  For *loop = AS(For, node);
  need_plain_loop(c, node);
  bool keep_units = flag_arg(c, 2);
  Analyzer *facts = facts_with(&p, keep_units);
  NodeVec factors = split_factors(c, node, list_arg(c, 1), facts), vars = {0};
  Node *index = int_imm(loop->var->dtype, 0, c->span), *product = NULL;
  for (int i = 0; i < factors.len; i++) {
    Node *f = factors.at[i];
    Node *var = var_new(str_format("%s_%d", loop_name(node), i), loop->var->dtype, c->span);
    vec_push(&vars, var);
    bind_steps(facts, var, int_imm(var->dtype, 0, c->span), f, keep_units);
    index = expr_add(expr_mul(index, f), var);
    product = product ? expr_mul(product, f) : f;
  }
  bool exact = arith_can_prove_equal(facts, product, loop->extent) || flag_arg(c, 3);
  Map map = {0};
  map_set(&map, loop->var, index);
  Node *inside = exact ? NULL : expr_binary(NK_LT, index, loop->extent, c->span);
  Node *body = simplify_with(c, rebind(c, loop->body, &map, inside), facts, keep_units);
  for (int i = factors.len - 1; i >= 0; i--) {
    For part = *loop;
    part.var = vars.at[i];
    part.extent = factors.at[i];
    part.body = body;
    part.loop_kind = LOOP_SERIAL;
    body = gc_copy(&part, sizeof part);
  }
  schedule_replace(c, p.func, node, body);
  for each (Node *, v, &vars) give_loop(c, p.func, *v);
}

/* ---- fuse ---- */

void primitive_fuse(ScheduleCall *c) {
  NodeVec given = list_arg(c, 0), loops = {0};
  if (!given.len) schedule_fail(c, NULL, "at least one loop is needed");
  Place first = loop_place(c, given.at[0]);
  for (int i = 0; i < given.len; i++) {
    Place p = loop_place(c, given.at[i]);
    Node *loop = vec_last(&p.path);
    need_plain_loop(c, loop);
    if (i && AS(For, vec_last(&loops))->body != loop)
      schedule_fail(c, vec_last(&loops), "the loop '%s' is not the only statement of the loop '%s'",
                    loop_name(loop), loop_name(vec_last(&loops)));
    for each (Node *, outer, &loops)
      if (node_mentions(AS(For, loop)->extent, AS(For, *outer)->var))
        schedule_fail(c, loop, "the extent of the loop '%s' depends on the loop '%s'",
                      loop_name(loop), loop_name(*outer));
    vec_push(&loops, loop);
  }
  bool keep_units = flag_arg(c, 1);
  Analyzer *facts = facts_with(&first, keep_units);
  Str name = {0};
  For *outermost = AS(For, loops.at[0]);
  Node *extent = outermost->extent;
  for (int i = 0; i < loops.len; i++) {
    str_printf(&name, "%s_", loop_name(loops.at[i]));
    if (i) extent = expr_mul(extent, AS(For, loops.at[i])->extent);
  }
  str_add(&name, "fused");
  extent = arith_simplify(facts, extent);
  Node *var = var_new(str_intern(str_text(&name)), extent->dtype, c->span), *rest = var;
  bind_steps(facts, var, int_imm(var->dtype, 0, c->span), extent, keep_units);
  Map map = {0};
  for (int i = loops.len - 1; i >= 0; i--) {
    For *l = AS(For, loops.at[i]);
    Node *value = i && !expr_is_zero(l->extent) ? expr_floormod(rest, l->extent) : rest;
    map_set(&map, l->var, arith_simplify(facts, expr_cast(l->var->dtype, value, c->span)));
    if (!expr_is_zero(l->extent)) rest = expr_floordiv(rest, l->extent);
  }
  Node *body = rebind(c, AS(For, vec_last(&loops))->body, &map, NULL);
  For fused = *outermost;
  fused.var = var;
  fused.min = int_imm(var->dtype, 0, c->span);
  fused.extent = extent;
  fused.loop_kind = LOOP_SERIAL;
  fused.body = simplify_with(c, body, facts, keep_units);
  schedule_replace(c, first.func, loops.at[0], gc_copy(&fused, sizeof fused));
  give_loop(c, first.func, var);
}

/* ---- reorder ---- */

static int position_of(NodeVec v, const Node *n) {
  for (int i = 0; i < v.len; i++)
    if (v.at[i] == n) return i;
  return -1;
}

/* Reordered steps must commute: those of data-parallel and reduction variables do. */
static void need_commuting_blocks(ScheduleCall *c, Node *stmt) {
  NodeVec realizes = child_realizes(stmt);
  for each (Node *, r, &realizes) {
    Block *b = AS(Block, AS(BlockRealize, *r)->block);
    for each (Node *, v, &b->iter_vars)
      if (AS(IterVar, *v)->iter_kind != ITER_SPATIAL && AS(IterVar, *v)->iter_kind != ITER_REDUCE)
        schedule_fail(c, &b->node,
                      "the variable '%s' of block '%s' is neither data-parallel nor of a reduction",
                      AS(Var, AS(IterVar, *v)->var)->name, b->name);
  }
}

/* The loops from the outermost of the given ones down to the innermost, each the only statement of
 * the one before. */
static NodeVec chain_of(ScheduleCall *c, NodeVec given) {
  Node *top = NULL;
  int depth = 0;
  for each (Node *, g, &given) {
    Place p = loop_place(c, *g);
    if (!top || p.path.len < depth) top = vec_last(&p.path), depth = p.path.len;
  }
  NodeVec chain = {0}, left = {0};
  for each (Node *, g, &given) {
    Place p = loop_place(c, *g);
    if (position_of(left, vec_last(&p.path)) >= 0)
      schedule_fail(c, vec_last(&p.path), "the loop '%s' is given twice",
                    loop_name(vec_last(&p.path)));
    vec_push(&left, vec_last(&p.path));
  }
  int found = 0;
  for (Node *n = top; IS(For, n) && found < given.len; n = AS(For, n)->body) {
    found += position_of(left, n) >= 0;
    vec_push(&chain, n);
  }
  if (found < given.len)
    schedule_fail(c, top,
                  "the loops are not one nest: some of them stand beside another statement");
  return chain;
}

void primitive_reorder(ScheduleCall *c) {
  NodeVec given = list_arg(c, 0), order = {0};
  if (!given.len) schedule_fail(c, NULL, "at least one loop is needed");
  Place first = loop_place(c, given.at[0]);
  for each (Node *, g, &given) {
    Place p = loop_place(c, *g);
    vec_push(&order, vec_last(&p.path));
  }
  NodeVec chain = chain_of(c, given), moved = {0};
  int next = 0;
  for each (Node *, l, &chain) vec_push(&moved, position_of(order, *l) >= 0 ? order.at[next++] : *l);
  for (int i = 0; i < moved.len; i++)
    for (int k = i + 1; k < moved.len; k++)
      if (node_mentions(AS(For, moved.at[i])->extent, AS(For, moved.at[k])->var) ||
          node_mentions(AS(For, moved.at[i])->min, AS(For, moved.at[k])->var))
        schedule_fail(c, moved.at[i],
                      "the bounds of the loop '%s' depend on the loop '%s', which "
                      "would come inside it",
                      loop_name(moved.at[i]), loop_name(moved.at[k]));
  Node *body = AS(For, vec_last(&chain))->body;
  need_commuting_blocks(c, body);
  for (int i = moved.len - 1; i >= 0; i--) body = loop_with_body(AS(For, moved.at[i]), body);
  schedule_replace(c, first.func, chain.at[0], body);
}

/* ---- add_unit_loop ---- */

void primitive_add_unit_loop(ScheduleCall *c) {
  Place p;
  Node *around;
  if (is_block_arg(c, 0)) {
    BlockRef *ref = block_arg(c, 0);
    p = place_of(c, ref->func, ref->node);
    around = realize_of(&p);
  } else {
    p = loop_arg(c, 0);
    around = vec_last(&p.path);
  }
  Node *var = var_new("u", INT32, c->span);
  schedule_replace(c, p.func, around,
                   MAKE(For, c->span, VOID_TYPE, .min = int_imm(INT32, 0, c->span),
                        .extent = int_imm(INT32, 1, c->span), .var = var, .body = around));
  give_loop(c, p.func, var);
}

/* ---- kinds of loops ---- */

/* What is known in the body of the loop that is the last of the place. */
static Analyzer *facts_inside(const Place *p) {
  Place below = {.func = p->func, .prim_func = p->prim_func};
  for each (Node *, s, &p->path) vec_push(&below.path, *s);
  vec_push(&below.path, AS(For, vec_last(&p->path))->body);
  return facts_at(&below);
}

bool steps_are_apart(ScheduleCall *c, const Place *p, Node *buffer) {
  Node *loop = vec_last(&p->path);
  For *f = AS(For, loop);
  Analyzer *facts = facts_inside(p);
  Touched t = {.buffer = buffer};
  NodeVec realizes = child_realizes(f->body);
  for each (Node *, r, &realizes) {
    Block *b = AS(Block, AS(BlockRealize, *r)->block);
    Place at = place_of(c, p->func, &b->node);
    NodeVec loops = loops_inside(&at, loop);
    for each (Node *, region, &b->reads)
      if (AS(BufferRegion, *region)->buffer == buffer)
        touch(&t, AS(BlockRealize, *r), *region, loops, facts);
    for each (Node *, region, &b->writes)
      if (AS(BufferRegion, *region)->buffer == buffer)
        touch(&t, AS(BlockRealize, *r), *region, loops, facts);
  }
  return touched_apart(&t, f, facts);
}

static bool writes_are_apart(ScheduleCall *c, const Place *p, const Block *b) {
  for each (Node *, w, &b->writes)
    if (!steps_are_apart(c, p, AS(BufferRegion, *w)->buffer)) return false;
  return true;
}

/* What a block below reads of another one's result is of its own step: no other step touches it, or
 * the step writes it anew. */
static void need_own_input(ScheduleCall *c, const Place *p, Block *b) {
  Node *body = AS(For, vec_last(&p->path))->body;
  NodeVec realizes = child_realizes(body);
  for each (Node *, r, &b->reads) {
    Node *buffer = AS(BufferRegion, *r)->buffer;
    bool is_made_here = false;
    for each (Node *, other, &realizes)
      is_made_here |= block_writes(AS(Block, AS(BlockRealize, *other)->block), buffer);
    if (!is_made_here || block_writes(b, buffer) || steps_are_apart(c, p, buffer)) continue;
    if (!writes_before_reading(body, buffer, facts_inside(p)))
      schedule_fail(c, &b->node,
                    "block '%s' reads of '%s' what another step of the loop '%s' may write",
                    b->name, AS(Buffer, buffer)->name, loop_name(vec_last(&p->path)));
  }
}

/* Its steps may run at the same time: each block below does nothing twice, and the loop's variable
 * is bound to data-parallel variables (on threads of one block, also to those of a reduction). */
static void need_parallel(ScheduleCall *c, const Place *p, bool reductions) {
  Node *loop = vec_last(&p->path), *body = AS(For, loop)->body;
  Node *var = AS(For, loop)->var;
  NodeVec realizes = child_realizes(AS(For, loop)->body);
  for each (Node *, node, &realizes) {
    BlockRealize *r = AS(BlockRealize, *node);
    Block *b = AS(Block, r->block);
    const char *why = why_not_complete(body, &b->node);
    const char *nor = why ? why_not_reduction(body, &b->node) : NULL;
    need_own_input(c, p, b);
    if (nor && !writes_are_apart(c, p, b))
      schedule_fail(c, &b->node, "block '%s' is no complete block (%s) and no reduction (%s)",
                    b->name, why, nor);
    for (int i = 0; i < r->iter_values.len; i++) {
      IterVar *iv = AS(IterVar, b->iter_vars.at[i]);
      bool fits = iv->iter_kind == ITER_SPATIAL || (reductions && iv->iter_kind == ITER_REDUCE);
      if (!fits && node_mentions(r->iter_values.at[i], var))
        schedule_fail(c, loop,
                      "the loop '%s' is bound to '%s', the variable of a reduction of "
                      "block '%s'",
                      loop_name(loop), AS(Var, iv->var)->name, b->name);
    }
  }
}

static void set_kind(ScheduleCall *c, const Place *p, LoopKind kind, const char *thread_tag) {
  Node *loop = vec_last(&p->path);
  For copy = *AS(For, loop);
  copy.loop_kind = kind;
  copy.thread_tag = thread_tag;
  schedule_replace(c, p->func, loop, gc_copy(&copy, sizeof copy));
}

void primitive_parallel(ScheduleCall *c) {
  Place p = loop_arg(c, 0);
  need_parallel(c, &p, false);
  set_kind(c, &p, LOOP_PARALLEL, NULL);
}

void primitive_vectorize(ScheduleCall *c) {
  Place p = loop_arg(c, 0);
  need_parallel(c, &p, false);
  set_kind(c, &p, LOOP_VECTORIZED, NULL);
}

void primitive_unroll(ScheduleCall *c) {
  Place p = loop_arg(c, 0);
  set_kind(c, &p, LOOP_UNROLLED, NULL);
}

void primitive_bind(ScheduleCall *c) {
  static const char *const axes[] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z", "threadIdx.x",
                                     "threadIdx.y", "threadIdx.z", "vthread",    "vthread.x",
                                     "vthread.y",   "vthread.z"};
  enum { AXES = sizeof axes / sizeof *axes };
  Place p = loop_arg(c, 0);
  const char *axis = text_arg(c, 1, "thread_axis");
  bool known = false;
  for (int i = 0; i < AXES; i++) known |= str_same(axes[i], axis);
  const char *near = known ? NULL : str_near(axis, axes, AXES);
  if (!known)
    schedule_fail(c, NULL, "there is no thread axis '%s'%s", axis,
                  near ? str_format("; did you mean '%s'?", near) : "");
  int64_t steps;
  if (expr_is_const_int(AS(For, vec_last(&p.path))->extent, &steps) && steps < 1)
    schedule_fail(c, vec_last(&p.path), "the loop '%s' has no step", loop_name(vec_last(&p.path)));
  need_parallel(c, &p, strncmp(axis, "threadIdx", 9) == 0);
  set_kind(c, &p, LOOP_THREAD, str_intern(axis));
}
