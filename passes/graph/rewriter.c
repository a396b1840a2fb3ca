/* rewriter.c -- R.rewriter applied: where the bindings of a block compute all results of the
 * function `pattern`, the results are those of `replacement` instead.
 *
 * In:  bindings in any order that allows it: nothing before the last result may use the others, and
 * none between the first and the last has effects.
 * Parameters of the pattern stand for anything of their struct info, its dims for any dims. Not:
 * patterns with branches or match_cast; what a new binding would match again. */
#include "ir/arith/arith.h"
#include "passes/graph/call_dims.h"
#include "passes/graph/dead_code.h"
#include "passes/graph/normalize.h"
#include "passes/graph/pattern_rewrite.h"
#include "passes/graph/shared_functions.h"

/* ---- the pattern of a function ---- */

typedef struct Reader {
  Map patterns; /* RelaxVar to Pattern * */
} Reader;

static Pattern *pattern_of(Reader *r, Node *n);

static Pattern *part_of(Pattern *p, Node *expr, Reader *r) {
  vec_push(&p->parts, pattern_of(r, expr));
  return p;
}

static Pattern *of_call(Reader *r, RelaxCall *c) {
  Pattern *p = part_of(NEW(Pattern, .kind = PATTERN_IS_CALL), c->op, r);
  for each (Node *, a, &c->args) part_of(p, *a, r);
  if (!c->attrs || !AS(Dict, c->attrs)->keys.len) return p;
  Pattern *attrs = NEW(Pattern, .kind = PATTERN_IS_ATTRS, .node = c->attrs);
  vec_push(&attrs->parts, p);
  return attrs;
}

static Pattern *pattern_of(Reader *r, Node *n) {
  Pattern *p;
  switch (n->kind) {
  case NK_RelaxVar:
    p = map_get(&r->patterns, n);
    if (p) return p;
    break;
  case NK_RelaxCall: return of_call(r, AS(RelaxCall, n));
  case NK_Tuple:
    p = NEW(Pattern, .kind = PATTERN_IS_TUPLE);
    for each (Node *, f, &AS(Tuple, n)->fields) part_of(p, *f, r);
    return p;
  case NK_TupleGetItem:
    return part_of(NEW(Pattern, .kind = PATTERN_IS_GET_ITEM, .index = AS(TupleGetItem, n)->index),
                   AS(TupleGetItem, n)->tuple, r);
  case NK_RelaxIf:
  case NK_Function: break;
  default: return NEW(Pattern, .kind = PATTERN_IS_EXPR, .node = n);
  }
  error_raisef("ValueError", n->span, "a pattern can't hold this: %s", node_kind_name(n->kind));
}

/* Any value of the parameter's struct info. */
static Pattern *parameter_pattern(Node *param) {
  Pattern *p = NEW(Pattern, .kind = PATTERN_IS_INFO, .node = sinfo_of(param));
  vec_push(&p->parts, NEW(Pattern, .kind = PATTERN_IS_WILDCARD));
  return p;
}

/* The patterns of the results, one or the fields of a tuple. */
static PatternVec read_pattern(Function *f, Reader *r) {
  for each (Node *, p, &f->params) map_set(&r->patterns, *p, parameter_pattern(*p));
  SeqExpr *body = AS(SeqExpr, f->body);
  for each (Node *, block, &body->blocks)
    for each (Node *, b, &AS(BindingBlock, *block)->bindings) {
      if (IS(MatchCast, *b))
        error_raisef("ValueError", (*b)->span, "a pattern can't hold a match_cast");
      map_set(&r->patterns, AS(VarBinding, *b)->var, pattern_of(r, AS(VarBinding, *b)->value));
    }
  Pattern *result = pattern_of(r, body->body);
  PatternVec roots = {0};
  if (result->kind == PATTERN_IS_TUPLE) return result->parts;
  vec_push(&roots, result);
  return roots;
}

/* ---- a place in a block ---- */

typedef struct Site {
  Function *pattern, *replacement;
  PatternVec roots;
  Reader reader;
  Map values;
  NodeVec bindings; /* of the block */
  IntVec at;        /* for each root the number of its binding */
  PatternMatch match;
} Site;

static bool find_roots(Site *s, int k);

static bool find_next_root(void *context, PatternMatch *m) {
  Site *s = context;
  (void)m;
  return find_roots(s, s->at.len);
}

static int last_of(IntVec v) {
  int last = 0;
  for each (int, i, &v)
    if (*i > last) last = *i;
  return last;
}

/* What the pattern computes is computed at one place: no effect may be passed by. */
static bool passes_effect(Site *s) {
  Map found = {0};
  for (int i = 0; i < s->match.exprs.len; i++) {
    const Pattern *p = s->match.patterns.at[i];
    if (p->kind == PATTERN_IS_CALL || p->kind == PATTERN_IS_ATTRS)
      map_set(&found, s->match.exprs.at[i], s);
  }
  bool inside = false;
  int last = last_of(s->at);
  for (int i = 0; i < last; i++) {
    if (!IS(VarBinding, s->bindings.at[i])) continue;
    VarBinding *b = AS(VarBinding, s->bindings.at[i]);
    bool is_part = map_has(&found, b->var);
    if (inside && !is_part && IS(RelaxCall, b->value) && relax_call_has_effects(b->value))
      return true;
    inside |= is_part;
  }
  return false;
}

static bool find_roots(Site *s, int k) {
  if (k == s->roots.len) return pattern_holds(&s->match) && !passes_effect(s);
  for (int i = 0; i < s->bindings.len; i++) {
    bool taken = !IS(VarBinding, s->bindings.at[i]);
    for each (int, j, &s->at) taken |= *j == i;
    if (taken) continue;
    vec_push(&s->at, i);
    if (pattern_match_then(s->roots.at[k], AS(VarBinding, s->bindings.at[i])->var, &s->match,
                           find_next_root, s))
      return true;
    s->at.len = k;
  }
  return false;
}

static WalkResult find_key(Walker *w, Node *n) {
  return map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

/* Does a binding before the last result use another result? */
static bool is_used_before(Site *s) {
  Map results = {0}, numbers = {0};
  int last = last_of(s->at);
  for each (int, i, &s->at) {
    map_set(&results, AS(VarBinding, s->bindings.at[*i])->var, s);
    map_set(&numbers, s->bindings.at[*i], s);
  }
  Walker w = {.enter = find_key, .context = &results};
  for (int i = 0; i < last; i++) {
    Node *b = s->bindings.at[i];
    if (map_has(&numbers, b)) continue;
    if (!walk(&w, IS(MatchCast, b) ? AS(MatchCast, b)->value : AS(VarBinding, b)->value))
      return true;
  }
  return false;
}

/* ---- the replacement ---- */

/* Variables of the block; what dims are, in the simplest form. */
static Node *as_local(Mutator *m, Node *n) {
  bool is_dataflow = *(bool *)m->context;
  if (node_is_expr(n)) return arith_simplify(arith_new(), n);
  if (!IS(RelaxVar, n)) return mutate_children(m, n);
  RelaxVar v = *AS(RelaxVar, mutate_children(m, n));
  v.is_dataflow = is_dataflow;
  return gc_copy(&v, sizeof v);
}

static NodeVec fields_of(Node *tuple, int n) {
  if (IS(Tuple, tuple)) return AS(Tuple, tuple)->fields;
  NodeVec out = {0};
  for (int i = 0; i < n; i++)
    vec_push(&out, MAKE(TupleGetItem, tuple->span, VOID_TYPE, .tuple = tuple, .index = i,
                        .sinfo = AS(TupleStructInfo, sinfo_of(tuple))->fields.at[i]));
  return out;
}

/* Adds the replacement's bindings for what was found; its results. */
static NodeVec add_replacement(Site *s, bool is_dataflow, NodeVec *out) {
  Function *f = AS(Function, copy_with_fresh_vars(&s->replacement->node));
  Map map = {0};
  Mutator m = {.rewrite = as_local, .context = &is_dataflow};
  for (int i = 0; i < f->params.len; i++) {
    Node *arg = pattern_found(&s->match, map_get(&s->reader.patterns, s->pattern->params.at[i]));
    if (!arg)
      error_raisef("ValueError", s->pattern->params.at[i]->span,
                   "the pattern does not use its parameter '%s'",
                   AS(RelaxVar, s->pattern->params.at[i])->name);
    map_set(&map, f->params.at[i], arg);
    map_set(&m.identities, arg, arg);
    bind_dims(&map, sinfo_of(f->params.at[i]), sinfo_of(arg));
  }
  for (int i = 0; i < map.len; i++)
    if (map.at[i].value) map_set(&m.identities, map.at[i].value, map.at[i].value);
  SeqExpr *body = AS(SeqExpr, mutate(&m, substitute(f->body, &map)));
  for each (Node *, block, &body->blocks)
    for each (Node *, b, &AS(BindingBlock, *block)->bindings) vec_push(out, *b);
  NormalForm form = {.is_dataflow = is_dataflow, .bindings = *out};
  Node *result = normal_value(&form, body->body);
  *out = form.bindings;
  return s->roots.len == 1 ? NODES(result) : fields_of(result, s->roots.len);
}

static NodeVec with_replacement(Site *s, bool is_dataflow) {
  NodeVec out = {0};
  int last = last_of(s->at);
  for (int i = 0; i < s->bindings.len; i++) {
    bool is_root = false;
    for each (int, k, &s->at) is_root |= *k == i;
    if (!is_root) vec_push(&out, s->bindings.at[i]);
    if (i != last) continue;
    NodeVec results = add_replacement(s, is_dataflow, &out);
    REQUIRE(results.len == s->at.len, "pattern and replacement have one signature");
    for (int k = 0; k < results.len; k++) {
      VarBinding b = *AS(VarBinding, s->bindings.at[s->at.at[k]]);
      b.value = results.at[k];
      vec_push(&out, gc_copy(&b, sizeof b));
    }
  }
  return out;
}

/* ---- functions and modules ---- */

typedef struct Applying {
  Site site;
  bool changed;
} Applying;

static Node *rewrite(Mutator *m, Node *n) {
  Applying *a = m->context;
  if (IS(Var, n) || IS(RelaxVar, n) || a->changed) return n;
  if (!IS(BindingBlock, n)) return mutate_children(m, n);
  BindingBlock b = *AS(BindingBlock, mutate_children(m, n));
  if (a->changed) return gc_copy(&b, sizeof b);
  Site *s = &a->site;
  s->bindings = b.bindings;
  s->at.len = 0;
  s->match = (PatternMatch){.values = &s->values};
  if (!find_roots(s, 0) || is_used_before(s)) return n;
  a->changed = true;
  b.bindings = with_replacement(s, b.is_dataflow);
  return gc_copy(&b, sizeof b);
}

static Node *apply_to_function(Function *pattern, Function *replacement, Node *func) {
  enum { ROUNDS = 1000 };
  for (int round = 0; round < ROUNDS; round++) {
    Applying a = {.site = {.pattern = pattern, .replacement = replacement}};
    a.site.roots = read_pattern(pattern, &a.site.reader);
    a.site.values = values_of(func);
    Mutator m = {.rewrite = rewrite, .context = &a};
    Node *out = mutate(&m, func);
    if (!a.changed) return func;
    func = without_dead_bindings(pass_canonicalize_bindings(out, NULL));
  }
  error_raisef("ValueError", pattern->node.span,
               "rewriting does not end: after %d rounds, the replacement still matches", ROUNDS);
}

/* The other functions of the rewriter, as functions of the module: those that are called. */
typedef struct Helpers {
  IRModule *rewriter;
  SharedFunctions shared;
} Helpers;

static Node *call_helpers(Mutator *m, Node *n) {
  Helpers *h = m->context;
  if (!IS(GlobalVar, n)) return mutate_children(m, n);
  for (int i = 0; i < h->rewriter->globals.len; i++) {
    if (h->rewriter->globals.at[i] != n) continue;
    map_set(&m->identities, n, n); /* it may call itself */
    Node *helper = mutate(m, h->rewriter->functions.at[i]);
    Node *global = shared_function(&h->shared, helper, AS(GlobalVar, n)->name);
    map_set(&m->identities, n, global);
    return global;
  }
  return n;
}

Node *rewriter_apply(Node *rewriter, Node *n) {
  Function *pattern = AS(Function, module_find(rewriter, "pattern")),
           *replacement = AS(Function, module_find(rewriter, "replacement"));
  if (IS(Function, n)) return apply_to_function(pattern, replacement, n);
  IRModule *m = AS(IRModule, n);
  Helpers h = {AS(IRModule, rewriter), shared_functions_of(n)};
  Mutator call = {.rewrite = call_helpers, .context = &h};
  for (int i = 0; i < m->functions.len; i++) {
    if (!IS(Function, m->functions.at[i])) continue;
    Node *f = apply_to_function(pattern, replacement, m->functions.at[i]);
    if (f == m->functions.at[i]) continue;
    f = mutate(&call, f); /* h.shared.module grows */
    h.shared.module = module_with(h.shared.module, m->globals.at[i], f);
  }
  return h.shared.module;
}
