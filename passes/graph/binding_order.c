/* binding_order.c -- see binding_order.h. Depth first: a binding comes once its operands are there.
 */
#include "passes/graph/binding_order.h"

Node *binding_var(Node *binding) {
  return IS(MatchCast, binding) ? AS(MatchCast, binding)->var : AS(VarBinding, binding)->var;
}

Node *binding_value(Node *binding) {
  return IS(MatchCast, binding) ? AS(MatchCast, binding)->value : AS(VarBinding, binding)->value;
}

typedef struct Reorder {
  Map to_come; /* variable to its binding */
  NodeVec out;
} Reorder;

static void put_after_operands(Reorder *r, Node *binding);

static WalkResult put_operand(Walker *w, Node *n) {
  Reorder *r = w->context;
  Node *binding = IS(RelaxVar, n) ? map_get(&r->to_come, n) : NULL;
  if (binding) put_after_operands(r, binding);
  return WALK_ON;
}

static void put_after_operands(Reorder *r, Node *binding) {
  if (!map_remove(&r->to_come, binding_var(binding))) return;
  Walker w = {.enter = put_operand, .context = r};
  walk(&w, binding_value(binding));
  vec_push(&r->out, binding);
}

NodeVec bindings_in_order(NodeVec bindings) {
  Reorder r = {0};
  for each (Node *, b, &bindings) map_set(&r.to_come, binding_var(*b), *b);
  for each (Node *, b, &bindings) put_after_operands(&r, *b);
  return r.out;
}
