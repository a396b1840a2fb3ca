/* canonicalize_bindings.c -- one variable for each value: aliases go, fields of tuples that are
 * known, tuples of the fields of one, match_casts that change nothing.
 *
 * Out: `y = x` goes, and y is x; where y is what a dataflow block gives out, its value is bound to
 * it. What is used in its dataflow block only is local to it. Constants stand where they are used.
 * Dims that a match_cast finds are what the value's struct info says. Struct info is as fine as all
 * that makes it. Not: bindings without uses stay (DeadCodeElimination). */
#include "ir/arith/arith.h"
#include "passes/graph/binding_aliases.h"
#include "passes/graph/refreshed_info.h"

typedef struct Canon {
  BindingAliases aliases;
  Map now; /* variables that are kept to what they have become */
} Canon;

static Node *kept_of(const Canon *c, Node *var) {
  AliasClass *of = map_get(&c->aliases.classes, var);
  return of ? of->kept : var;
}

static Node *use(Mutator *m, Node *var) {
  Canon *c = m->context;
  Node *constant = map_get(&c->aliases.constants, var), *kept = kept_of(c, var);
  if (!constant) constant = map_get(&c->aliases.constants, kept);
  if (constant) return constant;
  Node *now = map_get(&c->now, kept);
  return now ? now : mutate_children(m, kept);
}

/* The variable that a value is bound to. */
static Node *define(Mutator *m, Node *var, Node *value) {
  Canon *c = m->context;
  Node *kept = kept_of(c, var), *now = map_get(&c->now, kept);
  if (!now) now = var_refreshed(mutate_children(m, kept), value);
  map_set(&c->now, kept, now);
  return now;
}

static Node *binding(Mutator *m, Node *n, Node *var, Node *value) {
  Canon *c = m->context;
  if (map_has(&c->aliases.dropped, var)) return NULL;
  Node *known = map_get(&c->aliases.tuples, var);
  if (IS(Function, value)) define(m, var, var); /* it may call itself */
  Node *out = mutate(m, known ? known : value);
  Node *to = define(m, var, out);
  if (IS(VarBinding, n) && out == value && to == var) return n;
  return MAKE(VarBinding, n->span, VOID_TYPE, .value = out, .var = to);
}

static Node *match_cast(Mutator *m, Node *n) {
  MatchCast cast = *AS(MatchCast, n);
  cast.value = mutate(m, cast.value);
  cast.sinfo = mutate(m, cast.sinfo);
  cast.var = define(m, cast.var, cast.var);
  MatchCast *old = AS(MatchCast, n);
  bool same = cast.value == old->value && cast.sinfo == old->sinfo && cast.var == old->var;
  return same ? n : gc_copy(&cast, sizeof cast);
}

static Node *scalar(Canon *c, Node *n) {
  Node *out = substitute(n, &c->aliases.dims);
  return out == n ? n : arith_simplify(arith_new(), out);
}

static Node *rewrite(Mutator *m, Node *n) {
  Canon *c = m->context;
  if (node_is_expr(n)) return scalar(c, n);
  switch (n->kind) {
  case NK_VarBinding: return binding(m, n, AS(VarBinding, n)->var, AS(VarBinding, n)->value);
  case NK_MatchCast:
    if (!map_has(&c->aliases.casts, n)) return match_cast(m, n);
    return binding(m, n, AS(MatchCast, n)->var, AS(MatchCast, n)->value);
  case NK_RelaxVar: return use(m, n);
  case NK_Tuple:
    if (map_has(&c->aliases.tuples, n)) return mutate(m, map_get(&c->aliases.tuples, n));
    return info_refreshed(n, mutate_children(m, n));
  default: return info_refreshed(n, mutate_children(m, n));
  }
}

Node *pass_canonicalize_bindings(Node *n, const PassContext *context) {
  (void)context;
  Canon c = {.aliases = binding_aliases(n)};
  Mutator m = {.rewrite = rewrite, .context = &c};
  return info_refreshed(n, mutate_children(&m, n));
}
