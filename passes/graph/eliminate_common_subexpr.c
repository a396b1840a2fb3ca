/* eliminate_common_subexpr.c -- equal pure expressions are bound once.
 *
 * In:  graph functions. Out: a later variable of an equal value is the earlier one, where that is
 * visible. Not: across the arms of a branch; calls that overwrite operands; operators on no
 * tensors, which may make something new each time. */
#include "passes/passes.h"

typedef struct Known {
  Node *value, *var;
  bool ended; /* its scope is over */
} Known;
typedef VEC(Known *) KnownVec;

typedef struct Cse {
  Map by_hash;  /* hash of a value (as a pointer) to a KnownVec * */
  KnownVec all; /* in order: scopes end at marks */
  Map replaced; /* RelaxVar to the earlier one */
  bool call_only;
} Cse;

static bool is_pure_call(RelaxCall *c) {
  if (relax_call_has_effects(&c->node) || dict_get(c->attrs, "inplace_indices")) return false;
  if (!IS(Op, c->op) || relax_is_call_form(AS(Op, c->op)->name)) return true;
  for each (Node *, a, &c->args)
    if (IS(TensorStructInfo, sinfo_of(*a)) || IS(TupleStructInfo, sinfo_of(*a))) return true;
  return false;
}

static bool is_candidate(const Cse *c, Node *value) {
  if (IS(RelaxCall, value)) return is_pure_call(AS(RelaxCall, value));
  return !c->call_only && (IS(Tuple, value) || IS(TupleGetItem, value));
}

static Node *earlier(Cse *c, Node *value, Node *var) {
  const void *key = (const void *)(uintptr_t)(node_hash(value) | 1);
  KnownVec *same = map_get(&c->by_hash, key);
  if (same)
    for each (Known *, k, same)
      if (!(*k)->ended && node_equal((*k)->value, value, false, NULL) &&
          node_equal(sinfo_of((*k)->var), sinfo_of(var), false, NULL))
        return (*k)->var;
  if (!same) map_set(&c->by_hash, key, same = NEW(KnownVec, 0));
  Known *k = NEW(Known, .value = value, .var = var);
  vec_push(same, k);
  vec_push(&c->all, k);
  return NULL;
}

static void end_scope(Cse *c, int mark, bool dataflow_only) {
  for (int i = mark; i < c->all.len; i++)
    if (!dataflow_only || AS(RelaxVar, c->all.at[i]->var)->is_dataflow) c->all.at[i]->ended = true;
}

static Node *binding(Mutator *m, Node *n) {
  Cse *c = m->context;
  VarBinding b = *AS(VarBinding, n);
  b.value = mutate(m, b.value);
  Node *found = is_candidate(c, b.value) ? earlier(c, b.value, b.var) : NULL;
  bool hides = found && AS(RelaxVar, found)->is_dataflow && !AS(RelaxVar, b.var)->is_dataflow;
  if (found && !hides) {
    map_set(&c->replaced, b.var, found);
    return NULL;
  }
  if (hides) b.value = found; /* the name that others see */
  return b.value == AS(VarBinding, n)->value ? n : gc_copy(&b, sizeof b);
}

static Node *rewrite(Mutator *m, Node *n) {
  Cse *c = m->context;
  if (IS(Var, n)) return n;
  if (IS(RelaxVar, n)) return map_has(&c->replaced, n) ? map_get(&c->replaced, n) : n;
  if (IS(VarBinding, n)) return binding(m, n);
  if (!IS(SeqExpr, n) && !IS(BindingBlock, n)) return mutate_children(m, n);
  int mark = c->all.len;
  n = mutate_children(m, n);
  end_scope(c, mark, IS(BindingBlock, n));
  return n;
}

Node *pass_eliminate_common_subexpr(Node *n, const PassContext *context) {
  Cse c = {.call_only = pass_option_int(context, "call_only")};
  Mutator m = {.rewrite = rewrite, .context = &c};
  return mutate_children(&m, n);
}
