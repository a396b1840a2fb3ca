/* pad.c -- pad_einsum: a product of tensors runs over multiples of sizes, on padded copies;
 * decompose_padding: a padded copy becomes a fill and a copy of what is inside. */
#include "passes/schedule/schedule_impl.h"

/* ---- pad_einsum ---- */

typedef struct Einsum {
  ScheduleCall *call;
  BlockRef *ref;
  Block *block;
  Place place;
  Reduction by;
  NodeVec loads;       /* of the product */
  NodeVec old, padded; /* extents of the block's variables */
  Map buffers;         /* that are padded, to their copies */
  NodeVec copies, front, behind;
} Einsum;

static int iter_number(const Block *b, const Node *var) {
  for (int i = 0; i < b->iter_vars.len; i++)
    if (AS(IterVar, b->iter_vars.at[i])->var == var) return i;
  return -1;
}

/* An index is a variable of the block, or the only one that there is. */
static void need_own_indices(Einsum *e, NodeVec indices, Node *buffer) {
  Buffer *b = AS(Buffer, buffer);
  for (int i = 0; i < indices.len; i++)
    if (iter_number(e->block, indices.at[i]) < 0 && !expr_is_one(b->shape.at[i]))
      schedule_fail(e->call, e->ref->node, "the index %s of '%s' is no variable of block '%s'",
                    ir_print(indices.at[i], NULL), b->name, e->block->name);
}

/* The operand is a product of loads and numbers. */
static void find_factors(Einsum *e, Node *n) {
  if (IS(Mul, n)) {
    find_factors(e, AS(Mul, n)->a);
    find_factors(e, AS(Mul, n)->b);
  } else if (IS(Cast, n)) find_factors(e, AS(Cast, n)->value);
  else if (IS(BufferLoad, n)) {
    need_own_indices(e, AS(BufferLoad, n)->indices, AS(BufferLoad, n)->buffer);
    vec_push(&e->loads, n);
  } else if (!IS(IntImm, n) && !IS(FloatImm, n))
    schedule_fail(e->call, e->ref->node, "%s is no factor of a product of tensors",
                  ir_print(n, NULL));
}

static void find_extents(Einsum *e) {
  ScheduleCall *c = e->call;
  NodeVec padding = list_arg(c, 1);
  if (padding.len != e->block->iter_vars.len)
    schedule_fail(c, e->ref->node, "block '%s' has %d variables, but there are %d paddings",
                  e->block->name, e->block->iter_vars.len, padding.len);
  for (int i = 0; i < padding.len; i++) {
    int64_t p;
    Node *n = AS(Range, AS(IterVar, e->block->iter_vars.at[i])->dom)->extent;
    if (!expr_is_const_int(expr_value(c, padding.at[i]), &p) || p < 1)
      schedule_fail(c, e->ref->node, "a padding must be a positive integer");
    Node *by = int_imm(n->dtype, p, c->span);
    Node *up = expr_sub(expr_add(n, by), int_imm(n->dtype, 1, c->span));
    vec_push(&e->old, n);
    vec_push(&e->padded, arith_simplify(arith_new(), expr_mul(expr_floordiv(up, by), by)));
  }
}

static bool is_padded(const Einsum *e, int i) {
  return i >= 0 && !arith_can_prove_equal(arith_new(), e->old.at[i], e->padded.at[i]);
}

static bool is_among(NodeVec nodes, const Node *n) {
  for each (Node *, x, &nodes)
    if (*x == n) return true;
  return false;
}

/* A step that is padded has an element of its own; or each factor is 0 in it, so that what is added
 * is. */
static void need_padded_factors(Einsum *e) {
  for (int i = 0; i < e->block->iter_vars.len; i++) {
    IterVar *iv = AS(IterVar, e->block->iter_vars.at[i]);
    if (!is_padded(e, i)) continue;
    if (iv->iter_kind != ITER_REDUCE) {
      if (is_among(e->by.store->indices, iv->var)) continue;
      schedule_fail(e->call, e->ref->node,
                    "'%s' has no index '%s': more steps of it would add up again",
                    AS(Buffer, e->by.store->buffer)->name, AS(Var, iv->var)->name);
    }
    for each (Node *, l, &e->loads)
      if (!node_mentions(*l, iv->var))
        schedule_fail(e->call, e->ref->node,
                      "'%s' does not depend on '%s': 0 times what it holds may be no 0",
                      AS(Buffer, AS(BufferLoad, *l)->buffer)->name, AS(Var, iv->var)->name);
  }
}

/* new = old where it is inside, else 0; or, of the result, old = new. */
static void pad_buffer(Einsum *e, Node *old, NodeVec indices, bool is_result) {
  ScheduleCall *c = e->call;
  Buffer *b = AS(Buffer, old);
  NodeVec shape = {0}, inner = {0};
  bool any = false;
  for (int k = 0; k < indices.len; k++) {
    int i = iter_number(e->block, indices.at[k]);
    any |= is_padded(e, i);
    vec_push(&shape, i < 0 ? b->shape.at[k] : e->padded.at[i]);
    vec_push(&inner, i < 0 ? b->shape.at[k] : e->old.at[i]);
  }
  if (!any || map_has(&e->buffers, old)) return;
  Node *new = buffer_new(str_intern(str_format("%s_pad", b->name)), b->elem, shape,
                         buffer_scope(old), c->span);
  Nest n = nest_begin(c, is_result ? inner : shape);
  Node *cond = NULL, *made, *to = is_result ? old : new;
  for (int i = 0; !is_result && i < indices.len; i++) {
    if (!is_padded(e, iter_number(e->block, indices.at[i]))) continue;
    Node *in = expr_binary(NK_LT, n.vars.at[i], inner.at[i], c->span);
    cond = cond ? expr_and(cond, in) : in;
  }
  Node *value = expr_load(is_result ? new : old, n.vars, c->span);
  Node *zero = expr_cast(b->elem, int_imm(INT32, 0, c->span), c->span);
  if (cond) value = expr_call("if_then_else", b->elem, NODES(cond, value, zero), c->span);
  Block block = {.name =
                     is_result ? str_intern(str_format("%s_crop", b->name)) : AS(Buffer, new)->name,
                 .body = stmt_store(to, n.vars, value, c->span)};
  vec_push(is_result ? &e->behind : &e->front, nest_end(c, &n, block, NULL, &made));
  map_set(&e->buffers, old, new);
  vec_push(&e->copies, new);
}

/* The block over the padded domains, on the copies. */
static Node *padded_nest(Einsum *e, Node **made) {
  ScheduleCall *c = e->call;
  NodeVec loops = loops_around(&e->place), iters = {0};
  BlockRealize r = *AS(BlockRealize, realize_of(&e->place));
  Block b = *AS(Block, schedule_substituted(c, e->ref->node, &e->buffers));
  for (int i = 0; i < b.iter_vars.len; i++) {
    IterVar copy = *AS(IterVar, b.iter_vars.at[i]);
    copy.dom =
        MAKE(Range, c->span, VOID_TYPE, .min = AS(Range, copy.dom)->min, .extent = e->padded.at[i]);
    vec_push(&iters, gc_copy(&copy, sizeof copy));
  }
  b.iter_vars = iters;
  *made = r.block = gc_copy(&b, sizeof b);
  Node *nest = gc_copy(&r, sizeof r);
  for (int k = loops.len - 1; k >= 0; k--) {
    For copy = *AS(For, loops.at[k]);
    for (int i = 0; i < r.iter_values.len; i++)
      if (r.iter_values.at[i] == copy.var) copy.extent = e->padded.at[i];
    copy.body = nest;
    nest = gc_copy(&copy, sizeof copy);
  }
  return nest;
}

void primitive_pad_einsum(ScheduleCall *c) {
  Einsum e = {.call = c, .ref = block_arg(c, 0)};
  e.block = AS(Block, e.ref->node);
  e.place = place_of(c, e.ref->func, e.ref->node);
  Node *scope = scope_block(&e.place), *made;
  const char *why = scope ? why_not_reduction(scope, e.ref->node) : "it is the root";
  if (why) schedule_fail(c, e.ref->node, "'%s' is no reduction block: %s", e.block->name, why);
  why = why_no_plain_nest(&e.place);
  if (why) schedule_fail(c, e.ref->node, "block '%s' is no plain nest: %s", e.block->name, why);
  e.by = reduction_of(c, e.block);
  if (e.by.op != NK_Add) schedule_fail(c, e.ref->node, "block '%s' is no sum", e.block->name);
  find_factors(&e, e.by.operand);
  need_own_indices(&e, e.by.store->indices, e.by.store->buffer);
  find_extents(&e);
  need_padded_factors(&e);
  for each (Node *, l, &e.loads)
    pad_buffer(&e, AS(BufferLoad, *l)->buffer, AS(BufferLoad, *l)->indices, false);
  pad_buffer(&e, e.by.store->buffer, e.by.store->indices, true);
  Node *old = nest_of(&e.place), *nest = padded_nest(&e, &made);
  NodeVec all = {0};
  for each (Node *, n, &e.front) vec_push(&all, *n);
  vec_push(&all, nest);
  for each (Node *, n, &e.behind) vec_push(&all, *n);
  schedule_renew(c, e.ref->node, made); /* which rewriting has followed so far */
  schedule_replace(c, e.ref->func, old, stmt_seq(all, c->span));
  own_buffers(c, e.ref->func, made, e.copies);
}
