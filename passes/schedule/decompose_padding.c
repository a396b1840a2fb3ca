/* decompose_padding.c -- decompose_padding: a padded copy becomes a fill with the constant, and a
 * copy of what is inside over just that. */
#include "passes/schedule/schedule_impl.h"

typedef struct Inner {
  Node *lo, *hi; /* values of a variable of the block that are inside; NULL: no bound */
} Inner;

typedef struct Decompose {
  ScheduleCall *call;
  BlockRef *ref;
  Block *block;
  BlockRealize *realize;
  Place place;
  NodeVec loops; /* from the given loop inwards */
  Node *cond, *value, *fill;
  Inner inner[16]; /* of the block's variables */
  NodeVec left;    /* conditions that are no such bound */
} Decompose;

/* ---- what is inside ---- */

/* value if cond else constant */
static void find_condition(Decompose *d) {
  ScheduleCall *c = d->call;
  Block *b = d->block;
  Node *v = IS(BufferStore, b->body) ? AS(BufferStore, b->body)->value : NULL;
  if (is_intrin_call(v, "if_then_else")) {
    NodeVec args = AS(Call, v)->args;
    d->cond = args.at[0], d->value = args.at[1], d->fill = args.at[2];
  } else if (IS(Select, v))
    d->cond = AS(Select, v)->cond, d->value = AS(Select, v)->then, d->fill = AS(Select, v)->orelse;
  bool constant = IS(IntImm, d->fill) || IS(FloatImm, d->fill);
  if (b->init || !constant)
    schedule_fail(c, d->ref->node,
                  "the body of block '%s' must be one store of a value, or else a constant",
                  b->name);
}

/* The variable that a condition on one variable is about, as var >= bound or var < bound. */
static int bound_of(const Decompose *d, Node *cond, Node **bound, bool *is_low) {
  if (!IS(LT, cond) && !IS(LE, cond) && !IS(GT, cond) && !IS(GE, cond)) return -1;
  Binary *b = (Binary *)(void *)cond;
  Linear form = {0};
  int found = -1, at = 0;
  if (!dtype_is_int(b->a->dtype) || !arith_linear(expr_sub(b->a, b->b), &form)) return -1;
  for (int k = 0; k < form.terms.len; k++)
    for (int i = 0; i < d->block->iter_vars.len; i++) {
      Node *var = AS(IterVar, d->block->iter_vars.at[i])->var;
      if (!node_mentions(form.terms.at[k], var)) continue;
      bool alone = form.terms.at[k] == var && (form.coeffs.at[k] == 1 || form.coeffs.at[k] == -1);
      if (found >= 0 || !alone) return -1;
      found = i, at = k;
    }
  if (found < 0) return -1;
  Node *var = form.terms.at[at], *rest = int_imm(var->dtype, form.constant, cond->span);
  for (int k = 0; k < form.terms.len; k++)
    if (k != at)
      rest = expr_add(
          rest, expr_mul(form.terms.at[k], int_imm(var->dtype, form.coeffs.at[k], cond->span)));
  bool rises = form.coeffs.at[at] == 1, greater = IS(GT, cond) || IS(GE, cond);
  Node *edge = rises ? expr_neg(rest, cond->span) : rest; /* var is compared with it */
  *is_low = rises == greater;
  bool strict = IS(LT, cond) || IS(GT, cond);
  if (*is_low == strict) edge = expr_add(edge, int_imm(var->dtype, 1, cond->span));
  *bound = edge;
  return found;
}

/* The variable is all of a loop of the nest that holds nothing else: the loop, or NULL. */
static For *loop_of(const Decompose *d, int i) {
  Range *dom = AS(Range, AS(IterVar, d->block->iter_vars.at[i])->dom);
  Node *value = d->realize->iter_values.at[i];
  For *found = NULL;
  for each (Node *, l, &d->loops)
    if (AS(For, *l)->var == value) found = AS(For, *l);
  if (!found || child_realizes(&found->node).len != 1 || !expr_is_zero(found->min) ||
      !expr_is_zero(dom->min) || found->loop_kind == LOOP_THREAD ||
      !arith_can_prove_equal(arith_new(), found->extent, dom->extent))
    return NULL;
  for (int k = 0; k < d->realize->iter_values.len; k++)
    if (k != i && node_mentions(d->realize->iter_values.at[k], value)) return NULL;
  return node_mentions(d->realize->predicate, value) ? NULL : found;
}

static void find_inner(Decompose *d) {
  NodeVec all = conjuncts(d->cond);
  for each (Node *, x, &all) {
    bool is_low;
    Node *bound;
    int i = bound_of(d, *x, &bound, &is_low);
    if (i < 0 || !loop_of(d, i)) {
      vec_push(&d->left, *x);
      continue;
    }
    Node **edge = is_low ? &d->inner[i].lo : &d->inner[i].hi;
    NodeKind stricter = is_low ? NK_Max : NK_Min;
    *edge = *edge ? expr_binary(stricter, *edge, bound, bound->span) : bound;
  }
}

/* ---- the two nests ---- */

static Node *fill_nest(Decompose *d, Node **made) {
  ScheduleCall *c = d->call;
  Block fill = *d->block;
  BlockRealize r = *d->realize;
  fill.name = str_intern(str_format("%s_pad_const", fill.name));
  fill.reads = (NodeVec){0};
  BufferStore *s = AS(BufferStore, fill.body);
  fill.body = stmt_store(s->buffer, s->indices, d->fill, c->span);
  r.block = gc_copy(&fill, sizeof fill);
  Node *nest = gc_copy(&r, sizeof r);
  for (int i = d->loops.len - 1; i >= 0; i--) {
    For copy = *AS(For, d->loops.at[i]);
    copy.body = nest;
    nest = gc_copy(&copy, sizeof copy);
  }
  nest = copy_with_fresh_vars(nest);
  *made = AS(BlockRealize, child_realizes(nest).at[0])->block;
  return nest;
}

/* The loops of variables that have bounds run over just those; *values are the new bindings. */
static Node *narrowed(Decompose *d, Node *realize, NodeVec *values) {
  Analyzer *facts = facts_at(&d->place);
  NodeVec extents = {0};
  for each (Node *, l, &d->loops) vec_push(&extents, AS(For, *l)->extent);
  for (int i = 0; i < values->len; i++) {
    Inner *in = &d->inner[i];
    if (!in->lo && !in->hi) continue;
    For *loop = loop_of(d, i);
    Node *zero = int_imm(loop->extent->dtype, 0, d->call->span);
    Node *lo = in->lo ? expr_binary(NK_Max, in->lo, zero, zero->span) : zero;
    Node *hi = in->hi ? expr_binary(NK_Min, in->hi, loop->extent, zero->span) : loop->extent;
    lo = arith_simplify(facts, lo);
    Node *n = arith_simplify(facts, expr_binary(NK_Max, expr_sub(hi, lo), zero, zero->span));
    values->at[i] = expr_add(loop->var, lo);
    for (int k = 0; k < d->loops.len; k++)
      if (d->loops.at[k] == &loop->node) extents.at[k] = n;
  }
  BlockRealize r = *AS(BlockRealize, realize);
  r.iter_values = *values;
  Node *body = gc_copy(&r, sizeof r);
  for (int k = d->loops.len - 1; k >= 0; k--) {
    For copy = *AS(For, d->loops.at[k]);
    copy.extent = extents.at[k];
    copy.body = body;
    body = gc_copy(&copy, sizeof copy);
  }
  return body;
}

/* The block without its condition. */
static Node *inner_block(Decompose *d) {
  Block b = *d->block;
  BufferStore *s = AS(BufferStore, b.body);
  b.body = stmt_store(s->buffer, s->indices, d->value, d->call->span);
  Node *out = gc_copy(&b, sizeof b);
  if (!block_access_regions(out, NULL, &AS(Block, out)->reads, &AS(Block, out)->writes))
    schedule_fail(d->call, d->ref->node, "what block '%s' accesses is opaque", b.name);
  schedule_renew(d->call, d->ref->node, out);
  return out;
}

static Node *inner_nest(Decompose *d) {
  BlockRealize r = *d->realize;
  Map bindings = {0};
  NodeVec values = {0};
  for (int i = 0; i < r.iter_values.len; i++) {
    vec_push(&values, r.iter_values.at[i]);
    map_set(&bindings, AS(IterVar, d->block->iter_vars.at[i])->var, r.iter_values.at[i]);
  }
  for each (Node *, x, &d->left) {
    Node *now = substitute(*x, &bindings);
    r.predicate = expr_is_one(r.predicate) ? now : expr_and(r.predicate, now);
  }
  r.block = inner_block(d);
  return narrowed(d, gc_copy(&r, sizeof r), &values);
}

/* ---- the primitive ---- */

static void need_decomposable(Decompose *d, Node *loop) {
  ScheduleCall *c = d->call;
  Node *scope = scope_block(&d->place);
  Map domains = {0};
  const char *why = scope ? why_not_complete(scope, d->ref->node) : "it is the root";
  if (why) schedule_fail(c, d->ref->node, "'%s' is no complete block: %s", d->block->name, why);
  if (d->block->iter_vars.len > 16) schedule_fail(c, d->ref->node, "the block has too many axes");
  if (!d->loops.len)
    schedule_fail(c, loop, "the loop '%s' is not around block '%s'",
                  AS(Var, AS(For, loop)->var)->name, d->block->name);
  for (int i = 0; i < d->loops.len; i++) {
    Node *inside = i + 1 < d->loops.len ? d->loops.at[i + 1] : &d->realize->node;
    if (AS(For, d->loops.at[i])->body != inside)
      schedule_fail(c, d->loops.at[i], "the loop '%s' holds other statements too",
                    AS(Var, AS(For, d->loops.at[i])->var)->name);
  }
  for each (Node *, v, &d->block->iter_vars)
    map_set(&domains, AS(IterVar, *v)->var, AS(IterVar, *v)->dom);
  find_condition(d);
  if (!iter_is_injective(AS(BufferStore, d->block->body)->indices, &domains, arith_new()))
    schedule_fail(c, d->ref->node, "block '%s' is not known to write each element once",
                  d->block->name);
}

void primitive_decompose_padding(ScheduleCall *c) {
  Decompose d = {.call = c, .ref = block_arg(c, 0)};
  Place at = loop_arg(c, 1);
  Node *loop = vec_last(&at.path), *made;
  d.block = AS(Block, d.ref->node);
  d.place = place_of(c, d.ref->func, d.ref->node);
  if (!scope_block(&d.place)) schedule_fail(c, d.ref->node, "the root block has no loops");
  d.realize = AS(BlockRealize, realize_of(&d.place));
  NodeVec loops = loops_around(&d.place);
  for each (Node *, l, &loops)
    if (*l == loop || d.loops.len) vec_push(&d.loops, *l);
  need_decomposable(&d, loop);
  find_inner(&d);
  Node *front = fill_nest(&d, &made), *inner = inner_nest(&d);
  schedule_replace(c, d.ref->func, loop, stmt_seq(NODES(front, inner), c->span));
  give_block(c, d.ref->func, made);
}
