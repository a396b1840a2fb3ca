/* simplify.c -- expressions by what loops and conditions around them tell. */
#include "ir/arith/arith.h"
#include "passes/tensor/tensor.h"

static Node *rewrite(Mutator *m, Node *n);

static Node *simplify_for(Mutator *m, Node *n) {
  Analyzer *a = m->context;
  For f = *AS(For, n);
  f.min = arith_simplify(a, f.min);
  f.extent = arith_simplify(a, f.extent);
  int mark = arith_enter(a, int_imm(BOOL, 1, n->span));
  arith_bind_range(a, f.var, f.min, f.extent);
  f.body = mutate(m, f.body);
  arith_leave(a, mark);
  For *old = AS(For, n);
  bool same = f.min == old->min && f.extent == old->extent && f.body == old->body;
  return same ? n : gc_copy(&f, sizeof f);
}

static Node *simplify_under(Mutator *m, Node *cond, Node *body) {
  Analyzer *a = m->context;
  int mark = arith_enter(a, cond);
  Node *out = mutate(m, body);
  arith_leave(a, mark);
  return out;
}

static Node *simplify_if(Mutator *m, Node *n) {
  IfThenElse *i = AS(IfThenElse, n);
  Node *cond = arith_simplify(m->context, i->cond);
  int64_t truth;
  if (expr_is_const_int(cond, &truth)) {
    Node *arm = truth ? i->then : i->orelse;
    return arm ? mutate(m, arm) : stmt_evaluate(int_imm(INT32, 0, n->span), n->span);
  }
  Node *then = simplify_under(m, cond, i->then);
  Node *orelse = i->orelse ? simplify_under(m, expr_not(cond, cond->span), i->orelse) : NULL;
  if (cond == i->cond && then == i->then && orelse == i->orelse) return n;
  return MAKE(IfThenElse, n->span, VOID_TYPE, .cond = cond, .then = then, .orelse = orelse);
}

/* The variables of a block range over their domains. */
static Node *simplify_block(Mutator *m, Node *n) {
  Analyzer *a = m->context;
  int mark = arith_enter(a, int_imm(BOOL, 1, n->span));
  for each (Node *, v, &AS(Block, n)->iter_vars) {
    Range *dom = AS(Range, AS(IterVar, *v)->dom);
    arith_bind_range(a, AS(IterVar, *v)->var, dom->min, dom->extent);
  }
  Node *out = mutate_children(m, n);
  arith_leave(a, mark);
  return out;
}

/* What T.assume says of values that do not change holds for the statements after it. */
static Node *simplify_seq(Mutator *m, Node *n) {
  NodeVec stmts = AS(SeqStmt, n)->stmts, out = {0};
  bool changed = false;
  int mark = arith_enter(m->context, int_imm(BOOL, 1, n->span));
  for each (Node *, s, &stmts) {
    Node *now = mutate(m, *s);
    changed |= now != *s;
    vec_push(&out, now);
    Node *value = IS(Evaluate, now) ? AS(Evaluate, now)->value : NULL;
    if (!is_intrin_call(value, "assume")) continue;
    Node *cond = AS(Call, value)->args.at[0];
    if (expr_effect(cond) == EFFECT_PURE) arith_enter(m->context, cond);
  }
  arith_leave(m->context, mark);
  return changed ? stmt_seq(out, n->span) : n;
}

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(Var, n) || IS(Buffer, n)) return n;
  if (node_is_expr(n)) return arith_simplify(m->context, n);
  switch (n->kind) {
  case NK_For: return simplify_for(m, n);
  case NK_IfThenElse: return simplify_if(m, n);
  case NK_SeqStmt: return simplify_seq(m, n);
  case NK_Block: return simplify_block(m, n);
  case NK_LetStmt: {
    LetStmt l = *AS(LetStmt, n);
    l.value = arith_simplify(m->context, l.value);
    arith_bind_value(m->context, l.var, l.value);
    l.body = mutate(m, l.body);
    bool same = l.value == AS(LetStmt, n)->value && l.body == AS(LetStmt, n)->body;
    return same ? n : gc_copy(&l, sizeof l);
  }
  default: return mutate_children(m, n);
  }
}

Node *pass_simplify(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite, .context = arith_of_function(n)};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
