/* partition.c -- loop_partition: one loop becomes several, which run one after the other. Each
 * stands in a block of its own, so that what they have in common does not tie them together. */
#include "passes/schedule/schedule_impl.h"

typedef struct Part {
  Node *start, *extent;
} Part;
typedef VEC(Part) PartVec;

/* ---- the parts ---- */

static Node *part_length(ScheduleCall *c, Node *given, int i, DataType t) {
  int64_t n;
  Node *f = expr_cast(t, expr_value(c, given), c->span);
  if (expr_is_const_int(f, &n) && n < 1)
    schedule_fail(c, NULL, "factor %d must be positive, but is %lld", i, (long long)n);
  return f;
}

/* The lengths as ranges; what is left over is one more, or that which is None. */
static PartVec parts_of(ScheduleCall *c, Node *loop, NodeVec given, Analyzer *facts) {
  Node *extent = AS(For, loop)->extent, *sum = int_imm(extent->dtype, 0, c->span);
  NodeVec lengths = {0};
  int open = -1;
  if (!given.len) schedule_fail(c, loop, "there must be at least one factor");
  for (int i = 0; i < given.len; i++) {
    bool none = !given.at[i] || IS(None, given.at[i]);
    if (none && open >= 0) schedule_fail(c, loop, "only one factor may be None");
    if (none) open = i;
    vec_push(&lengths, none ? NULL : part_length(c, given.at[i], i, extent->dtype));
    if (!none) sum = arith_simplify(facts, expr_add(sum, lengths.at[i]));
  }
  Node *rest = arith_simplify(facts, expr_sub(extent, sum)), *zero = expr_sub(sum, sum);
  zero = int_imm(zero->dtype, 0, c->span);
  if (!arith_can_prove(facts, expr_binary(NK_GE, rest, zero, c->span)))
    schedule_fail(c, loop,
                  "the factors add up to %s, which is not known to be within the extent %s",
                  ir_print(sum, NULL), ir_print(extent, NULL));
  if (open >= 0) lengths.at[open] = rest;
  else if (!expr_is_zero(rest)) vec_push(&lengths, rest);
  PartVec parts = {0};
  Node *at = zero;
  for each (Node *, n, &lengths) {
    Part p = {at, *n};
    vec_push(&parts, p);
    at = arith_simplify(facts, expr_add(at, *n));
  }
  return parts;
}

/* The init of a reduction would run in the first part only; nothing says so to the others. */
static void need_no_reduction(ScheduleCall *c, Node *loop) {
  NodeVec realizes = child_realizes(loop);
  for each (Node *, n, &realizes) {
    BlockRealize *r = AS(BlockRealize, *n);
    Block *b = AS(Block, r->block);
    for (int i = 0; i < r->iter_values.len; i++)
      if (b->init && AS(IterVar, b->iter_vars.at[i])->iter_kind == ITER_REDUCE &&
          node_mentions(r->iter_values.at[i], AS(For, loop)->var))
        schedule_fail(c, loop, "the loop reduces block '%s', whose init must be decomposed first",
                      b->name);
  }
}

/* ---- copies ---- */

typedef struct Rename {
  Mutator mutator;
  const char *suffix;
} Rename;
static Node *rename_blocks(Mutator *m, Node *n) {
  if (node_family(n->kind) != FAMILY_STMT) return n;
  Node *out = mutate_children(m, n);
  if (!IS(Block, out)) return out;
  Block copy = *AS(Block, out);
  copy.name = str_intern(str_format("%s_%s", copy.name, ((Rename *)(void *)m)->suffix));
  return gc_copy(&copy, sizeof copy);
}

/* A block around statements, with variables that are bound to values. */
static Node *wrapped(ScheduleCall *c, const char *name, NodeVec iters, NodeVec values, Node *body) {
  Node *b =
      MAKE(Block, c->span, VOID_TYPE, .name = str_intern(name), .iter_vars = iters, .body = body);
  if (!block_access_regions(b, NULL, &AS(Block, b)->reads, &AS(Block, b)->writes))
    schedule_fail(c, NULL, "what the loop accesses is opaque");
  return MAKE(BlockRealize, c->span, VOID_TYPE, .iter_values = values,
              .predicate = int_imm(BOOL, 1, c->span), .block = b);
}

/* A loop around is data-parallel for the parts if it is so for all blocks in them. */
static IterKind kind_for(const Place *p, Node *loop, const Node *outer_var) {
  NodeVec realizes = child_realizes(loop);
  for each (Node *, n, &realizes) {
    BlockRealize *r = AS(BlockRealize, *n);
    if (why_not_complete(scope_block(p), r->block)) return ITER_OPAQUE;
    for (int i = 0; i < r->iter_values.len; i++)
      if (AS(IterVar, AS(Block, r->block)->iter_vars.at[i])->iter_kind != ITER_SPATIAL &&
          node_mentions(r->iter_values.at[i], outer_var))
        return ITER_OPAQUE;
  }
  return ITER_SPATIAL;
}

/* The block around all parts has a variable for each loop around that they use. */
static Node *common_block(ScheduleCall *c, const Place *p, const char *name, Node *body) {
  NodeVec outer = loops_around(p), iters = {0}, values = {0};
  Map map = {0};
  for each (Node *, l, &outer) {
    For *f = AS(For, *l);
    if (!node_mentions(body, f->var)) continue;
    Node *v =
        var_new(str_intern(str_format("v_%s", AS(Var, f->var)->name)), f->var->dtype, c->span);
    Node *dom = MAKE(Range, c->span, VOID_TYPE, .min = f->min, .extent = f->extent);
    vec_push(&iters, MAKE(IterVar, c->span, VOID_TYPE, .dom = dom, .var = v,
                          .iter_kind = kind_for(p, vec_last(&p->path), f->var)));
    vec_push(&values, f->var);
    map_set(&map, f->var, v);
  }
  return wrapped(c, name, iters, values, substitute(body, &map));
}

/* Part number i of the loop, its blocks with names of their own. *var is its loop variable. */
static Node *part_of(ScheduleCall *c, const For *loop, const Part *p, int i, Node **var) {
  const char *name = str_format("%s%d", AS(Var, loop->var)->name, i);
  Map map = {0};
  *var = var_new(str_intern(name), loop->var->dtype, c->span);
  map_set(&map, loop->var, *var);
  Rename rename = {.mutator = {.rewrite = rename_blocks}, .suffix = name};
  Node *body = mutate(&rename.mutator, copy_with_fresh_vars(substitute(loop->body, &map)));
  return MAKE(For, c->span, VOID_TYPE, .min = p->start, .extent = p->extent, .var = *var,
              .loop_kind = loop->loop_kind, .body = body);
}

void primitive_loop_partition(ScheduleCall *c) {
  Place p = loop_arg(c, 0);
  Node *loop = vec_last(&p.path);
  need_plain_loop(c, loop);
  need_no_reduction(c, loop);
  Analyzer *facts = facts_at(&p);
  PartVec parts = parts_of(c, loop, list_arg(c, 1), facts);
  NodeVec blocks = all_blocks(loop), stmts = {0}, vars = {0}, none = {0};
  const char *of = blocks.len ? AS(Block, blocks.at[0])->name : "loop";
  const char *base = str_format("%s_%s", of, AS(Var, AS(For, loop)->var)->name);
  for (int i = 0; i < parts.len; i++) {
    Node *var, *part = part_of(c, AS(For, loop), &parts.at[i], i, &var);
    if (!flag_arg(c, 2)) part = simplify_bindings(c, part, facts);
    vec_push(&vars, var);
    vec_push(&stmts, wrapped(c, str_format("%s%d_partition", base, i), none, none, part));
  }
  Node *body = stmt_seq(stmts, c->span);
  Node *all = common_block(c, &p, str_format("%s_common", base), body);
  schedule_replace(c, p.func, loop, all);
  for each (Node *, b, &blocks) schedule_renew(c, *b, NULL);
  for each (Node *, v, &vars) give_loop(c, p.func, *v);
}
