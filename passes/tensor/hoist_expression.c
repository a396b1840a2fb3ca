/* hoist_expression.c -- branches, lets and choices that a loop does not change stand around it.
 *
 * Out: `for: if c: S` is `if c: for: S`; `for: x = e; S` is `x = e; for: S`; a T.if_then_else(c, a,
 * b) in a loop becomes a branch with one loop for each arm. Only what can't fail moves: a loop may
 * have no step at all. */
#include "passes/tensor/hoist.h"

/* Is it the same before the loop? */
static bool is_invariant(Node *e, const Map *defined) {
  return expr_effect(e) == EFFECT_PURE && !mentions_any(e, defined);
}

/* Is what the loop evaluates first harmless before it, too? */
static bool may_go_first(Node *e, const For *f) {
  int64_t steps = 0;
  return (expr_is_const_int(f->extent, &steps) && steps > 0) || !expr_may_fail(e);
}

static Node *loop_over(For *f, Node *body) {
  For out = *f;
  out.body = body;
  return gc_copy(&out, sizeof out);
}

static Node *loop_anew(For *f, Node *body) { return copy_with_fresh_vars(loop_over(f, body)); }

/* ---- choices ---- */

typedef struct Choice {
  const Map *defined;
  Node *cond; /* found, or to be replaced */
  bool truth;
} Choice;

static WalkResult find_choice(Walker *w, Node *n) {
  Choice *c = w->context;
  if (!is_intrin_call(n, "if_then_else")) return WALK_ON;
  Node *cond = AS(Call, n)->args.at[0];
  if (IS(IntImm, cond) || expr_may_fail(cond) || !is_invariant(cond, c->defined)) return WALK_ON;
  c->cond = cond;
  return WALK_STOP;
}

static Node *choose(Mutator *m, Node *n) {
  Choice *c = m->context;
  bool same = is_intrin_call(n, "if_then_else") &&
              node_equal(AS(Call, n)->args.at[0], c->cond, false, NULL);
  return same ? mutate(m, AS(Call, n)->args.at[c->truth ? 1 : 2]) : mutate_children(m, n);
}

static Node *with_choice(Node *body, Choice c, bool truth) {
  c.truth = truth;
  Mutator m = {.rewrite = choose, .context = &c};
  return mutate(&m, body);
}

/* Statements one after the other would be written twice, and more of them each time. */
static bool is_single(Node *n) { return IS(BufferStore, n) || IS(Evaluate, n); }

static Node *hoist_choice(For *f, const Map *defined) {
  Choice c = {.defined = defined};
  Walker w = {.enter = find_choice, .context = &c};
  Node *inner = f->body;
  while (IS(For, inner)) inner = AS(For, inner)->body;
  if (!is_single(inner) || walk(&w, inner)) return NULL;
  return MAKE(IfThenElse, f->node.span, VOID_TYPE, .cond = c.cond,
              .then = loop_anew(f, with_choice(f->body, c, true)),
              .orelse = loop_anew(f, with_choice(f->body, c, false)));
}

/* ---- statements ---- */

static Node *hoist_branch(For *f) {
  IfThenElse *i = AS(IfThenElse, f->body);
  Node *orelse = i->orelse ? loop_anew(f, i->orelse) : NULL;
  return MAKE(IfThenElse, f->node.span, VOID_TYPE, .cond = i->cond, .then = loop_over(f, i->then),
              .orelse = orelse);
}

static Node *hoist_let(For *f) {
  LetStmt l = *AS(LetStmt, f->body);
  l.body = loop_over(f, l.body);
  return gc_copy(&l, sizeof l);
}

static Node *rewrite(Mutator *m, Node *n);

/* The loop with what is invariant around it; what has moved out may move on, and so may what comes
 * after it. */
static Node *hoist_from(Mutator *m, Node *n) {
  const Hoist *what = m->context;
  For *f = AS(For, n);
  Map defined = {0};
  add_definitions(n, &defined);
  Node *first = IS(IfThenElse, f->body)              ? AS(IfThenElse, f->body)->cond
                : what->lets && IS(LetStmt, f->body) ? AS(LetStmt, f->body)->value
                                                     : NULL;
  bool moves = first && is_invariant(first, &defined) && may_go_first(first, f);
  bool branch = moves && IS(IfThenElse, f->body), let = moves && !branch;
  if (!branch && !let) {
    Node *choice = what->choices ? hoist_choice(f, &defined) : NULL;
    return choice ? choice : n;
  }
  Node *out = branch ? hoist_branch(f) : hoist_let(f);
  if (let) {
    LetStmt l = *AS(LetStmt, out);
    l.body = hoist_from(m, l.body);
    return gc_copy(&l, sizeof l);
  }
  IfThenElse i = *AS(IfThenElse, out);
  i.then = hoist_from(m, i.then);
  if (i.orelse) i.orelse = hoist_from(m, i.orelse);
  return gc_copy(&i, sizeof i);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  bool moves = IS(For, n) && AS(For, n)->loop_kind != LOOP_THREAD;
  return moves ? hoist_from(m, n) : n;
}

Node *hoist_from_loops(Node *prim_func, Hoist what) {
  Mutator m = {.rewrite = rewrite, .context = &what};
  return prim_func_with_body(prim_func, mutate(&m, AS(PrimFunc, prim_func)->body));
}

Node *pass_hoist_expression(Node *n, const PassContext *context) {
  return hoist_from_loops(n, (Hoist){.lets = pass_option_int(context, "let_stmts"),
                                     .choices = pass_option_int(context, "if_then_else_exprs")});
}
