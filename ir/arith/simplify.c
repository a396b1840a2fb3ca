/* simplify.c -- expressions in a simpler form, wherever the facts hold.
 *
 * Bottom up: operands first, then the node by what it is. Sums and products of indices become
 * canonical linear forms, once for the whole sum; divisions split off what is divisible;
 * comparisons, minima and choices are decided where bounds or facts decide them; then come the
 * identities of rule.def. Each step gives the canonical form of its kind or something smaller, and
 * none is repeated on its own result, so the rewriting ends. Expressions with effects keep their
 * form: only what is below them is simplified. */
#include "ir/arith/arith_impl.h"
#include "ir/support/stack.h"

static Node *simplify(Mutator *m, Node *n);

/* ---- sums ---- */

static bool is_sum(const Node *n) { return is_ring(n->kind) && is_signed_index(n->dtype); }

/* The same sum with its terms simplified. */
static Node *simplify_terms(Mutator *m, Node *n) {
  if (!is_sum(n) || stack_is_low()) return simplify(m, n);
  Analyzer *analyzer = m->context;
  Node *known = map_get(&analyzer->sums, n), *out = n;
  if (known) return known;
  Node *a = simplify_terms(m, as_binary(n)->a), *b = simplify_terms(m, as_binary(n)->b);
  Node *folded = fold_binary(n->kind, a, b, n->span);
  if (folded) out = folded;
  else if (a != as_binary(n)->a || b != as_binary(n)->b) out = arith_binary(n->kind, a, b, n->span);
  map_set(&analyzer->sums, n, out);
  return out;
}

static Node *simplify_whole_sum(Mutator *m, Node *n) {
  n = simplify_terms(m, n);
  return is_sum(n) && !content_of(m->context, n).state ? simplify_sum(m->context, n) : n;
}

/* ---- logic and choices: parts are simplified where other parts are known ---- */

/* `eager`: n is evaluated where the condition does not hold, too, and must not fail there because
 * of what was done to it. */
static Node *simplify_under(Mutator *m, Node *cond, Node *n, bool eager) {
  Analyzer *a = m->context;
  if (content_of(a, cond).state || (eager && content_of(a, n).traps)) return simplify(m, n);
  Map cache = a->cache, simplified = a->simplified, sums = a->sums, known = m->identities;
  forget_answers(a);
  int mark = arith_enter(a, cond);
  m->identities = (Map){0}; /* what is found out under the condition is not so elsewhere */
  Node *out = simplify(m, n);
  arith_leave(a, mark);
  m->identities = known; /* and what was known before is so again */
  a->cache = cache, a->simplified = simplified, a->sums = sums;
  return out;
}

/* The second operand counts only where the first leaves the answer open. */
static Node *simplify_logic(Mutator *m, Node *n) {
  Node *a = simplify(m, as_binary(n)->a);
  Node *where = IS(And, n) ? a : expr_not(a, a->span);
  Node *b = n->dtype.lanes == 1 ? simplify_under(m, simplify_by_rules(where), as_binary(n)->b, true)
                                : simplify(m, as_binary(n)->b);
  if (a != as_binary(n)->a || b != as_binary(n)->b) n = arith_binary(n->kind, a, b, n->span);
  return n->kind == NK_And || n->kind == NK_Or ? simplify_by_rules(n) : n;
}

typedef struct Choice {
  Node *cond, *then, *orelse;
} Choice;

/* Returns the arm that is sure to be chosen, or NULL. */
static Node *simplify_choice(Mutator *m, Choice *c, bool eager) {
  int64_t truth;
  c->cond = simplify(m, c->cond);
  if (expr_is_const_int(c->cond, &truth)) return simplify(m, truth ? c->then : c->orelse);
  if (c->cond->dtype.lanes == 1) {
    Node *not = simplify_by_rules(expr_not(c->cond, c->cond->span));
    c->then = simplify_under(m, c->cond, c->then, eager);
    c->orelse = simplify_under(m, not, c->orelse, eager);
  } else {
    c->then = simplify(m, c->then);
    c->orelse = simplify(m, c->orelse);
  }
  bool same = node_equal(c->then, c->orelse, false, NULL) && expr_effect(c->cond) < EFFECT_STATE;
  return same && expr_effect(c->then) < EFFECT_STATE ? c->then : NULL;
}

static Node *simplify_select(Mutator *m, Node *n) {
  Select *s = AS(Select, n);
  Choice c = {s->cond, s->then, s->orelse};
  Node *chosen = simplify_choice(m, &c, true);
  if (chosen) return expr_broadcast(chosen, n->dtype.lanes, n->span);
  if (c.cond != s->cond || c.then != s->then || c.orelse != s->orelse)
    n = MAKE(Select, n->span, n->dtype, .cond = c.cond, .then = c.then, .orelse = c.orelse);
  return simplify_by_rules(n);
}

static Node *simplify_if_then_else(Mutator *m, Node *n) {
  Call *call = AS(Call, n);
  Choice c = {call->args.at[0], call->args.at[1], call->args.at[2]};
  Node *chosen = simplify_choice(m, &c, false);
  if (chosen) return chosen;
  if (c.cond == call->args.at[0] && c.then == call->args.at[1] && c.orelse == call->args.at[2])
    return n;
  Call copy = *call;
  copy.args = NODES(c.cond, c.then, c.orelse);
  return gc_copy(&copy, sizeof copy);
}

/* ---- other nodes ---- */

static Node *simplify_var(Analyzer *a, Node *n) {
  VarInfo *info = var_info(a, n);
  Node *value = info ? info->value : NULL;
  bool is_leaf = (IS(IntImm, value) || IS(Var, value)) && dtype_equal(value->dtype, n->dtype);
  if (is_leaf) return value;
  ConstBound b = arith_const_bound(a, n);
  bool is_point = dtype_is_int(n->dtype) && n->dtype.lanes == 1 && b.lo == b.hi &&
                  b.lo != ARITH_POS_INF && b.lo != ARITH_NEG_INF;
  return is_point ? int_imm(n->dtype, b.lo, n->span) : n;
}

static Node *simplify_let(Mutator *m, Node *n) {
  Let out = *AS(Let, n);
  out.value = simplify(m, out.value);
  arith_bind_value(m->context, out.var, out.value);
  out.body = simplify(m, out.body);
  bool same = out.value == AS(Let, n)->value && out.body == AS(Let, n)->body;
  return same ? n : gc_copy(&out, sizeof out);
}

/* A cast back over a cast that lost nothing. */
static Node *simplify_cast(Analyzer *a, Node *n) {
  Node *value = AS(Cast, n)->value;
  Node *out = expr_cast(n->dtype, value, n->span);
  if (!IS(Cast, out) || !IS(Cast, value)) return IS(Cast, out) ? n : out;
  Node *inner = AS(Cast, value)->value;
  bool ints = dtype_is_int(n->dtype) && dtype_is_int(value->dtype) && dtype_is_int(inner->dtype) &&
              n->dtype.lanes == 1;
  if (!ints) return n;
  ConstBound b = arith_const_bound(a, inner);
  bool kept = bound_fits(b, value->dtype) ||
              (inner->dtype.code == value->dtype.code && inner->dtype.bits <= value->dtype.bits);
  bool cut_anyway = n->dtype.bits <= value->dtype.bits; /* the low bits are the same */
  if (!kept && !cut_anyway) return n;
  out = expr_cast(n->dtype, inner, n->span);
  return IS(Cast, out) ? simplify_cast(a, out) : out;
}

static Node *simplify_binary(Analyzer *a, Node *n) {
  Binary *b = as_binary(n);
  int64_t divisor;
  if (kind_divides(n->kind) && expr_is_splat_int(b->b, &divisor) && divisor == 0)
    return n; /* fails where it runs */
  Node *folded = fold_binary(n->kind, b->a, b->b, n->span);
  if (folded) return folded;
  Node *ruled = simplify_by_rules(n);
  if (ruled != n)
    return node_is_binary(ruled->kind) && ruled->kind != n->kind ? simplify_binary(a, ruled)
                                                                 : ruled;
  switch (n->kind) {
  case NK_Div:
  case NK_Mod:
  case NK_FloorDiv:
  case NK_FloorMod: return simplify_division(a, n);
  case NK_Min:
  case NK_Max: return simplify_extreme(a, n);
  default: return n->kind >= NK_EQ && n->kind <= NK_GE ? simplify_compare(a, n) : n;
  }
}

static Node *simplify_node(Analyzer *a, Node *n) {
  if (content_of(a, n).state) return n;
  if (n->dtype.lanes != 1) {
    Node *v = simplify_vector(a, n);
    return v == n && (node_is_binary(n->kind) || IS(Not, n)) ? simplify_by_rules(n) : v;
  }
  if (node_is_binary(n->kind)) return simplify_binary(a, n);
  switch (n->kind) {
  case NK_Not:
    return IS(IntImm, AS(Not, n)->a) ? expr_not(AS(Not, n)->a, n->span) : simplify_by_rules(n);
  case NK_Cast: return simplify_cast(a, n);
  case NK_Call: {
    if (is_intrin_call(n, "likely") && IS(IntImm, AS(Call, n)->args.at[0]))
      return AS(Call, n)->args.at[0];
    Node *folded = fold_call(n);
    return folded ? folded : n;
  }
  default: return n;
  }
}

/* A condition that facts state as it stands. */
static Node *simplify_condition(Analyzer *a, Node *n) {
  bool scalar_bool = dtype_is_bool(n->dtype) && n->dtype.lanes == 1 && a->facts.len;
  int truth = scalar_bool ? condition_known(a, n) : -1;
  return truth < 0 ? n : int_imm(BOOL, truth, n->span);
}

static Node *simplify_kind(Mutator *m, Node *n) {
  Analyzer *a = m->context;
  bool choice = n->kind == NK_And || n->kind == NK_Or || n->kind == NK_Select;
  if (choice && content_of(a, n).state) return mutate_children(m, n);
  switch (n->kind) {
  case NK_Var: return simplify_var(a, n);
  case NK_IntImm:
  case NK_FloatImm:
  case NK_StringImm: return n;
  case NK_And:
  case NK_Or: return simplify_logic(m, n);
  case NK_Select: return simplify_select(m, n);
  case NK_Let: return simplify_let(m, n);
  default: break;
  }
  if (is_sum(n)) return simplify_whole_sum(m, n);
  if (is_intrin_call(n, "if_then_else")) return simplify_if_then_else(m, n);
  return simplify_node(a, mutate_children(m, n));
}

typedef struct Errand {
  Mutator *m;
  Node *n;
} Errand;

static void simplify_errand(void *context) {
  Errand *e = context;
  e->n = simplify(e->m, e->n);
}

static Node *simplify(Mutator *m, Node *n) {
  if (!node_is_expr(n)) return IS(BufferRegion, n) || IS(Range, n) ? mutate_children(m, n) : n;
  if (stack_is_low()) {
    Errand e = {m, n};
    stack_run(simplify_errand, &e);
    return e.n;
  }
  Analyzer *a = m->context;
  Node *out = map_get(&a->simplified, n);
  if (out) return out;
  out = simplify_condition(a, simplify_kind(m, n));
  if (!IS(IntImm, n)) map_set(&a->simplified, n, out);
  return out;
}

Node *arith_simplify(Analyzer *a, Node *e) {
  Mutator m = {.rewrite = simplify, .context = a};
  return simplify(&m, e);
}
