/* normalize.c -- graph functions in normal form: see normalize.h.
 *
 * In:  calls, fields and branches anywhere inside of expressions. Out: each bound to a variable of
 * its own, in the order in which they are evaluated; struct info of calls where it was missing. */
#include "passes/graph/normalize.h"

static Node *with_info(Node *n) {
  if (!IS(RelaxCall, n) || AS(RelaxCall, n)->sinfo) return n;
  RelaxCall c = *AS(RelaxCall, n);
  c.sinfo = sinfo_infer_call(n);
  return gc_copy(&c, sizeof c);
}

static NodeVec normal_leaves(NormalForm *f, NodeVec v) {
  NodeVec out = {0};
  bool changed = false;
  for each (Node *, n, &v) {
    vec_push(&out, normal_leaf(f, *n));
    changed |= vec_last(&out) != *n;
  }
  return changed ? out : v;
}

Node *normal_value(NormalForm *f, Node *expr) {
  switch (expr->kind) {
  case NK_RelaxCall: {
    RelaxCall c = *AS(RelaxCall, expr);
    c.op = normal_leaf(f, c.op);
    c.args = normal_leaves(f, c.args);
    bool same = c.op == AS(RelaxCall, expr)->op && c.args.at == AS(RelaxCall, expr)->args.at;
    return with_info(same ? expr : gc_copy(&c, sizeof c));
  }
  case NK_Tuple: {
    Tuple t = *AS(Tuple, expr);
    t.fields = normal_leaves(f, t.fields);
    return t.fields.at == AS(Tuple, expr)->fields.at ? expr : gc_copy(&t, sizeof t);
  }
  case NK_TupleGetItem: {
    TupleGetItem t = *AS(TupleGetItem, expr);
    t.tuple = normal_leaf(f, t.tuple);
    return t.tuple == AS(TupleGetItem, expr)->tuple ? expr : gc_copy(&t, sizeof t);
  }
  case NK_RelaxIf: {
    RelaxIf i = *AS(RelaxIf, expr);
    i.cond = normal_leaf(f, i.cond);
    return i.cond == AS(RelaxIf, expr)->cond ? expr : gc_copy(&i, sizeof i);
  }
  default: return expr;
  }
}

Node *normal_leaf(NormalForm *f, Node *expr) {
  bool is_bound = IS(RelaxCall, expr) || IS(TupleGetItem, expr) || IS(RelaxIf, expr);
  Node *var = is_bound ? map_get(&f->bound, expr) : NULL;
  if (var) return var;
  Node *value = normal_value(f, expr);
  if (!is_bound) return value;
  var = MAKE(RelaxVar, expr->span, VOID_TYPE, .sinfo = sinfo_of(value), .name = str_intern("lv"),
             .is_dataflow = f->is_dataflow);
  vec_push(&f->bindings, MAKE(VarBinding, expr->span, VOID_TYPE, .value = value, .var = var));
  map_set(&f->bound, expr, var);
  return var;
}

/* ---- the pass ---- */

static Node *normal_binding(NormalForm *f, Node *n) {
  if (IS(MatchCast, n)) {
    MatchCast c = *AS(MatchCast, n);
    c.value = normal_leaf(f, c.value);
    return c.value == AS(MatchCast, n)->value ? n : gc_copy(&c, sizeof c);
  }
  VarBinding v = *AS(VarBinding, n);
  v.value = normal_value(f, v.value);
  return v.value == AS(VarBinding, n)->value ? n : gc_copy(&v, sizeof v);
}

static Node *normal_block(Node *n) {
  BindingBlock b = *AS(BindingBlock, n);
  NormalForm f = {.is_dataflow = b.is_dataflow};
  bool changed = false;
  for each (Node *, x, &b.bindings) {
    Node *binding = normal_binding(&f, *x);
    changed |= binding != *x;
    vec_push(&f.bindings, binding);
  }
  b.bindings = f.bindings;
  return changed ? gc_copy(&b, sizeof b) : n;
}

static Node *normal_seq(Node *n) {
  SeqExpr s = *AS(SeqExpr, n);
  NormalForm f = {0};
  s.body = normal_leaf(&f, s.body);
  if (s.body == AS(SeqExpr, n)->body) return n;
  NodeVec blocks = {0};
  for each (Node *, b, &s.blocks) vec_push(&blocks, *b);
  if (f.bindings.len)
    vec_push(&blocks, MAKE(BindingBlock, n->span, VOID_TYPE, .bindings = f.bindings));
  s.blocks = blocks_normal(blocks);
  return gc_copy(&s, sizeof s);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(Var, n) || IS(RelaxVar, n)) return n;
  n = mutate_children(m, n);
  if (IS(BindingBlock, n)) return normal_block(n);
  return IS(SeqExpr, n) ? normal_seq(n) : n;
}

Node *pass_normalize(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return mutate_children(&m, n);
}
