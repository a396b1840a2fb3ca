/* remove_no_op.c -- drops statements without effect, empty branches, and loops that never run. */
#include "passes/tensor/tensor.h"

static bool is_no_op(Node *n) {
  return !n || (IS(Evaluate, n) && expr_effect(AS(Evaluate, n)->value) < EFFECT_STATE);
}

static Node *no_op(Span span) { return stmt_evaluate(int_imm(INT32, 0, span), span); }

static Node *cleaned_seq(Node *n) {
  NodeVec kept = {0};
  for each (Node *, s, &AS(SeqStmt, n)->stmts)
    if (!is_no_op(*s)) vec_push(&kept, *s);
  return kept.len == AS(SeqStmt, n)->stmts.len ? n : stmt_seq(kept, n->span);
}

static Node *cleaned_if(Node *n) {
  IfThenElse *i = AS(IfThenElse, n);
  bool no_then = is_no_op(i->then), no_else = is_no_op(i->orelse);
  if (no_then && no_else && expr_effect(i->cond) < EFFECT_STATE) return no_op(n->span);
  if (no_then && !no_else)
    return MAKE(IfThenElse, n->span, VOID_TYPE, .cond = expr_not(i->cond, n->span),
                .then = i->orelse);
  if (no_else && i->orelse)
    return MAKE(IfThenElse, n->span, VOID_TYPE, .cond = i->cond, .then = i->then);
  return n;
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  switch (n->kind) {
  case NK_SeqStmt: return cleaned_seq(n);
  case NK_IfThenElse: return cleaned_if(n);
  case NK_For:
    return is_no_op(AS(For, n)->body) || expr_is_zero(AS(For, n)->extent) ? no_op(n->span) : n;
  case NK_LetStmt:
    return is_no_op(AS(LetStmt, n)->body) && expr_effect(AS(LetStmt, n)->value) < EFFECT_STATE
               ? no_op(n->span)
               : n;
  case NK_AssertStmt: return expr_is_one(AS(AssertStmt, n)->cond) ? AS(AssertStmt, n)->body : n;
  case NK_Allocate: return is_no_op(AS(Allocate, n)->body) ? no_op(n->span) : n;
  case NK_DeclBuffer: return is_no_op(AS(DeclBuffer, n)->body) ? no_op(n->span) : n;
  default: return n;
  }
}

Node *pass_remove_no_op(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
