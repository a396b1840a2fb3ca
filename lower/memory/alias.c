/* alias.c -- which variables of a graph function may name the same memory, and what leaves it. */
#include "lower/memory/memory.h"

static Alias *leaf(Node *root) {
  Alias *a = NEW(Alias, 0);
  if (root) vec_push(&a->roots, root);
  return a;
}

static void add_roots(NodeVec *out, const Alias *a) {
  for each (Node *, r, &a->roots) {
    bool known = false;
    for each (Node *, o, out) known |= *o == *r;
    if (!known) vec_push(out, *r);
  }
  for each (Alias *, f, &a->fields) add_roots(out, *f);
}

/* What is known of all fields as one, where they can't be told apart. */
static Alias *flat(const Alias *a) {
  Alias *out = leaf(NULL);
  add_roots(&out->roots, a);
  return out;
}

static Alias *merge(const Alias *a, const Alias *b) {
  Alias *out = leaf(NULL);
  if (a->is_tuple && b->is_tuple && a->fields.len == b->fields.len) {
    out->is_tuple = true;
    for (int i = 0; i < a->fields.len; i++)
      vec_push(&out->fields, merge(a->fields.at[i], b->fields.at[i]));
    return out;
  }
  add_roots(&out->roots, a);
  add_roots(&out->roots, b);
  return out;
}

static Alias *alias_of(Aliases *a, Node *n) {
  Alias *known = IS(RelaxVar, n) ? map_get(&a->of, n) : NULL;
  if (known) return known;
  if (IS(Tuple, n)) {
    Alias *out = NEW(Alias, .is_tuple = true);
    for each (Node *, f, &AS(Tuple, n)->fields) vec_push(&out->fields, alias_of(a, *f));
    return out;
  }
  if (IS(TupleGetItem, n)) {
    TupleGetItem *t = AS(TupleGetItem, n);
    Alias *whole = alias_of(a, t->tuple);
    return whole->is_tuple && t->index < whole->fields.len ? whole->fields.at[t->index]
                                                           : flat(whole);
  }
  return leaf(NULL);
}

NodeVec alias_roots(Aliases *a, Node *operand) {
  NodeVec out = {0};
  add_roots(&out, alias_of(a, operand));
  return out;
}

bool memory_call_borrows(Node *module, Node *call) {
  Node *op = AS(RelaxCall, call)->op;
  if (IS(GlobalVar, op)) return !IS(ExternFunc, module_find(module, AS(GlobalVar, op)->name));
  if (!IS(Op, op)) return false;
  const char *name = AS(Op, op)->name;
  return str_same(name, "relax.call_dps_packed") || str_same(name, "relax.call_tir") ||
         str_begins(name, "relax.memory.") || str_same(name, "relax.builtin.alloc_tensor");
}

static void note(Aliases *a, Map *set, Node *operand) {
  NodeVec roots = alias_roots(a, operand);
  for each (Node *, r, &roots) map_set(set, *r, *r);
}

static void visit_seq(Aliases *a, SeqExpr *s);

static Alias *visit_call(Aliases *a, Node *var, RelaxCall *c) {
  if (is_op_call(&c->node, "relax.memory.view")) return flat(alias_of(a, c->args.at[0]));
  if (!memory_call_borrows(a->module, &c->node))
    for each (Node *, arg, &c->args) note(a, &a->opaque, *arg);
  return leaf(var);
}

static Alias *visit_value(Aliases *a, Node *var, Node *value) {
  if (IS(RelaxCall, value)) return visit_call(a, var, AS(RelaxCall, value));
  if (!IS(RelaxIf, value)) return alias_of(a, value);
  SeqExpr *then = AS(SeqExpr, AS(RelaxIf, value)->then),
          *orelse = AS(SeqExpr, AS(RelaxIf, value)->orelse);
  visit_seq(a, then);
  visit_seq(a, orelse);
  return merge(alias_of(a, then->body), alias_of(a, orelse->body));
}

static void visit_seq(Aliases *a, SeqExpr *s) {
  for each (Node *, block, &s->blocks)
    for each (Node *, n, &AS(BindingBlock, *block)->bindings) {
      if (IS(MatchCast, *n)) {
        map_set(&a->of, AS(MatchCast, *n)->var, alias_of(a, AS(MatchCast, *n)->value));
        continue;
      }
      VarBinding *b = AS(VarBinding, *n);
      map_set(&a->of, b->var, visit_value(a, b->var, b->value));
    }
}

Aliases memory_aliases(Node *module, Node *function) {
  Aliases a = {.module = module};
  Function *f = AS(Function, function);
  for each (Node *, p, &f->params) map_set(&a.of, *p, leaf(*p));
  visit_seq(&a, AS(SeqExpr, f->body));
  note(&a, &a.leaves, AS(SeqExpr, f->body)->body);
  return a;
}
