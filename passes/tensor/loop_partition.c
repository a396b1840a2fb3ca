/* loop_partition.c -- a loop is cut where a condition in it becomes constant, so that the middle
 * part runs without it.
 *
 * In:  loops with conditions (of branches, in T.likely) that compare what is linear in the loop's
 *      variable.
 * Out: up to three loops one after the other: before the conditions hold, where all of them hold
 *      whatever the inner loops do, and after. The first step is cut off for `k == first`.
 * Not: conditions in T.ignore_loop_partition; loops that jumps leave; unless partition_const_loop
 * or the annotation pragma_loop_partition_hint asks for it, loops of constant extent, and
 *      conditions of T.if_then_else (as of padding), which cost less than more code. */
#include "ir/arith/arith.h"
#include "passes/tensor/tensor.h"

enum { MAX_CUTS = 32 }; /* of a function: each adds up to two copies of a loop */

typedef struct Partition {
  bool const_loops, keep_extent_one;
  int cuts;
  Analyzer *analyzer;
} Partition;

/* The part of a loop where conditions are constant. */
typedef struct Middle {
  For *loop;
  Map moving;        /* variables defined in the loop */
  NodeVec low, high; /* it begins at the greatest, ends before the least */
  Map known;         /* condition to what it is there */
  bool choices;      /* of T.if_then_else count, too */
  Analyzer *analyzer;
} Middle;

/* ---- conditions ---- */

/* x - y as coefficient * var + rest; 0 if it isn't linear in the loop's variable. */
static int64_t coefficient(Middle *m, Node *x, Node *y, Node **rest) {
  Linear l;
  Node *var = m->loop->var;
  DataType t = var->dtype;
  int64_t coeff = 0;
  if (!dtype_equal(x->dtype, t) || !arith_linear(expr_sub(x, y), &l)) return 0;
  *rest = int_imm(t, l.constant, x->span);
  for (int i = 0; i < l.terms.len; i++) {
    if (l.terms.at[i] == var) coeff = l.coeffs.at[i];
    else if (mentions_node(l.terms.at[i], var)) return 0;
    else *rest = expr_add(*rest, expr_mul(l.terms.at[i], int_imm(t, l.coeffs.at[i], x->span)));
  }
  return expr_may_fail(*rest) || coeff == INT64_MIN ? 0 : coeff;
}

/* `cond` says x < y: the steps where it does, whatever inner loops do. */
static void note_less(Middle *m, Node *cond, Node *x, Node *y) {
  Node *rest, *least, *most;
  DataType t = m->loop->var->dtype;
  int64_t c = coefficient(m, x, y, &rest);
  if (!c || !arith_bounds_over(rest, &m->moving, &least, &most) || mentions_any(most, &m->moving))
    return;
  Node *one = int_imm(t, 1, cond->span), *by = int_imm(t, c < 0 ? -c : c, cond->span);
  if (c > 0) { /* var <= (-most - 1) // c */
    Node *last = expr_floordiv(expr_sub(int_imm(t, -1, cond->span), most), by);
    vec_push(&m->high, expr_add(last, one));
  } else vec_push(&m->low, expr_add(expr_floordiv(most, by), one));
  map_set(&m->known, cond, int_imm(BOOL, 1, cond->span));
}

/* `cond` says whether x == y: known from the second step on, if that is so in the first one. */
static void note_first_step(Middle *m, Node *cond, Node *x, Node *y) {
  Node *rest;
  For *f = m->loop;
  int64_t c = coefficient(m, x, y, &rest);
  if ((c != 1 && c != -1) || mentions_any(rest, &m->moving)) return;
  Node *at = c == 1 ? expr_neg(rest, cond->span) : rest;
  if (!arith_can_prove_equal(m->analyzer, at, f->min)) return;
  vec_push(&m->low, expr_add(f->min, int_imm(f->var->dtype, 1, cond->span)));
  map_set(&m->known, cond, int_imm(BOOL, cond->kind == NK_NE, cond->span));
}

static void note_condition(Middle *m, Node *cond) {
  cond = without_likely(cond);
  Binary *b = (Binary *)(void *)cond;
  if (map_has(&m->known, cond) || is_intrin_call(cond, "ignore_loop_partition")) return;
  if (!node_is_binary(cond->kind) || b->a->dtype.lanes != 1) return;
  Node *one = int_imm(dtype_element(b->a->dtype), 1, cond->span);
  if (cond->kind != NK_And && b->a->dtype.code != DTYPE_INT) return;
  switch (cond->kind) {
  case NK_And:
    note_condition(m, b->a);
    note_condition(m, b->b);
    break;
  case NK_LT: note_less(m, cond, b->a, b->b); break;
  case NK_LE: note_less(m, cond, b->a, expr_add(b->b, one)); break;
  case NK_GT: note_less(m, cond, b->b, b->a); break;
  case NK_GE: note_less(m, cond, b->b, expr_add(b->a, one)); break;
  case NK_EQ:
  case NK_NE: note_first_step(m, cond, b->a, b->b); break;
  default: break;
  }
}

static WalkResult find_condition(Walker *w, Node *n) {
  Middle *m = w->context;
  if (IS(IfThenElse, n)) note_condition(m, AS(IfThenElse, n)->cond);
  if (is_intrin_call(n, "likely") || (m->choices && is_intrin_call(n, "if_then_else")))
    note_condition(m, AS(Call, n)->args.at[0]);
  return WALK_ON;
}

/* ---- the parts ---- */

static Node *replace_known(Mutator *m, Node *n) {
  Node *known = map_get(m->context, n);
  if (known) return known;
  Node *out = mutate_children(m, n);
  if (out == n) return n;
  int64_t truth;
  if (IS(And, out)) return expr_and(((Binary *)(void *)out)->a, ((Binary *)(void *)out)->b);
  if (is_intrin_call(out, "likely") && expr_is_const_int(AS(Call, out)->args.at[0], &truth))
    return AS(Call, out)->args.at[0];
  if (is_intrin_call(out, "if_then_else") && expr_is_const_int(AS(Call, out)->args.at[0], &truth))
    return AS(Call, out)->args.at[truth ? 1 : 2];
  if (!IS(IfThenElse, out) || !expr_is_const_int(AS(IfThenElse, out)->cond, &truth)) return out;
  Node *arm = truth ? AS(IfThenElse, out)->then : AS(IfThenElse, out)->orelse;
  return arm ? arm : stmt_evaluate(int_imm(INT32, 0, n->span), n->span);
}

static Node *in_loop(Mutator *m, Node *n) {
  Partition *p = m->context;
  For f = *AS(For, n);
  int mark = arith_enter(p->analyzer, int_imm(BOOL, 1, n->span));
  arith_bind_range(p->analyzer, f.var, f.min, f.extent);
  f.body = mutate(m, f.body);
  arith_leave(p->analyzer, mark);
  return f.body == AS(For, n)->body ? n : gc_copy(&f, sizeof f);
}

/* The steps from begin to end. `deeper`: loops in them are cut, too. */
static Node *part(Mutator *m, For *f, Node *begin, Node *end, Node *body, bool deeper) {
  Partition *p = m->context;
  For out = *f;
  out.min = begin;
  out.extent = arith_simplify(p->analyzer, expr_sub(end, begin));
  out.annotations = dict_with(f->annotations, "pragma_loop_partition_hint", NULL);
  if (!AS(Dict, out.annotations)->keys.len) out.annotations = NULL;
  out.body = body;
  if (!expr_is_one(out.extent) || p->keep_extent_one) {
    Node *loop = copy_with_fresh_vars(gc_copy(&out, sizeof out));
    return deeper ? in_loop(m, loop) : loop;
  }
  Map step = {0};
  map_set(&step, f->var, begin);
  Node *one = copy_with_fresh_vars(substitute(body, &step));
  return deeper ? mutate(m, one) : one;
}

static Node *extreme(NodeKind kind, Node *x, NodeVec others) {
  for each (Node *, o, &others) x = expr_binary(kind, x, *o, x->span);
  return x;
}

/* In an edge, loops are cut only if that was asked for: it grows, and has few steps. */
static Node *cut(Mutator *mutator, Middle *m) {
  Analyzer *a = m->analyzer;
  For *f = m->loop;
  Span s = f->node.span;
  Node *all = arith_simplify(a, expr_add(f->min, f->extent));
  Node *begin = f->min, *end = all; /* never past the end; the end never before the begin */
  if (m->low.len) begin = expr_binary(NK_Min, extreme(NK_Max, begin, m->low), all, s);
  begin = arith_simplify(a, begin);
  if (m->high.len) end = expr_binary(NK_Max, extreme(NK_Min, end, m->high), begin, s);
  end = arith_simplify(a, end);
  if (arith_can_prove_equal(a, begin, end)) return NULL; /* they hold in no step */
  Mutator known = {.rewrite = replace_known, .context = &m->known};
  NodeVec parts = {0};
  if (!arith_can_prove_equal(a, f->min, begin))
    vec_push(&parts, part(mutator, f, f->min, begin, f->body, m->choices));
  vec_push(&parts, part(mutator, f, begin, end, mutate(&known, f->body), true));
  if (!arith_can_prove_equal(a, end, all))
    vec_push(&parts, part(mutator, f, end, all, f->body, m->choices));
  return stmt_seq(parts, s);
}

static bool is_asked_for(Partition *p, For *f) {
  return p->const_loops || dict_get_int(f->annotations, "pragma_loop_partition_hint", 0);
}

static bool is_candidate(Partition *p, For *f) {
  bool constant = IS(IntImm, f->min) && IS(IntImm, f->extent);
  bool cuttable = f->loop_kind == LOOP_SERIAL || f->loop_kind == LOOP_PARALLEL;
  return cuttable && (!constant || is_asked_for(p, f)) && p->cuts < MAX_CUTS;
}

static Node *partitioned(Mutator *mutator, For *f) {
  Partition *p = mutator->context;
  if (!is_candidate(p, f)) return NULL;
  Middle m = {.loop = f, .analyzer = p->analyzer, .choices = is_asked_for(p, f)};
  map_set(&m.moving, f->var, f->var);
  add_definitions(f->body, &m.moving);
  Walker w = {.enter = find_condition, .context = &m};
  walk(&w, f->body);
  if (!m.known.live || stmt_jumps_out(f->body)) return NULL;
  p->cuts++;
  return cut(mutator, &m);
}

/* ---- all loops, outer ones first ---- */

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  if (!IS(For, n)) return mutate_children(m, n);
  Node *parts = partitioned(m, AS(For, n));
  return parts ? parts : in_loop(m, n);
}

Node *pass_loop_partition(Node *n, const PassContext *context) {
  Partition p = {.const_loops = pass_option_int(context, "partition_const_loop"),
                 .keep_extent_one = pass_option_int(context, "no_unroll_loop_with_extent_one"),
                 .analyzer = arith_new()};
  Mutator m = {.rewrite = rewrite, .context = &p};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
