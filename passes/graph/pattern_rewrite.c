/* pattern_rewrite.c -- rewriting by one pattern at a time: see pattern_rewrite.h. */
#include "passes/graph/pattern_rewrite.h"
#include "passes/graph/dead_code.h"
#include "passes/graph/normalize.h"

static WalkResult note_value(Walker *w, Node *n) {
  if (IS(VarBinding, n)) map_set(w->context, AS(VarBinding, n)->var, AS(VarBinding, n)->value);
  return WALK_ON;
}

Map values_of(Node *func) {
  Map values = {0};
  Walker w = {.enter = note_value, .context = &values};
  walk(&w, func);
  return values;
}

/* A replacement that looks like its pattern is replaced again; so many times is taken for ever. */
enum { MOST = 1 << 16 };

typedef struct Rewriting {
  Pattern *pattern;
  PatternReplace replace;
  void *context;
  Map values; /* of the bindings so far, as they are now */
  int count;  /* of replacements */
} Rewriting;

typedef struct Attempt {
  Rewriting *r;
  Node *value, *out;
} Attempt;

/* A way to match that is left as it is has not been found: others may be. */
static bool replaces(void *context, PatternMatch *m) {
  Attempt *a = context;
  if (pattern_holds(m)) a->out = a->r->replace(a->r->context, a->value, m);
  return a->out != a->value;
}

static Node *replaced(Rewriting *r, Node *value) {
  PatternMatch m = {.values = &r->values};
  Attempt a = {r, value, value};
  if (!pattern_match_then(r->pattern, value, &m, replaces, &a)) return value;
  Node *out = a.out;
  if (++r->count > MOST)
    error_raisef("ValueError", value->span,
                 "rewriting does not end: after %d replacements, what was put in still matches",
                 MOST);
  return out;
}

static Node *rewrite_binding(Rewriting *r, NormalForm *f, Node *n) {
  VarBinding b = *AS(VarBinding, n);
  int first = f->bindings.len;
  Node *value = replaced(r, b.value);
  if (value != b.value) b.value = normal_value(f, value);
  for (int i = first; i < f->bindings.len; i++)
    map_set(&r->values, AS(VarBinding, f->bindings.at[i])->var,
            AS(VarBinding, f->bindings.at[i])->value);
  map_set(&r->values, b.var, b.value);
  return b.value == AS(VarBinding, n)->value ? n : gc_copy(&b, sizeof b);
}

static Node *rewrite_block(Mutator *m, Node *n) {
  BindingBlock b = *AS(BindingBlock, n);
  NormalForm f = {.is_dataflow = b.is_dataflow};
  bool changed = false;
  for each (Node *, x, &b.bindings) {
    Node *binding = mutate(m, *x); /* branches inside */
    if (IS(VarBinding, binding)) binding = rewrite_binding(m->context, &f, binding);
    changed |= binding != *x;
    vec_push(&f.bindings, binding);
  }
  b.bindings = f.bindings;
  return changed ? gc_copy(&b, sizeof b) : n;
}

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(Var, n) || IS(RelaxVar, n)) return n;
  return IS(BindingBlock, n) ? rewrite_block(m, n) : mutate_children(m, n);
}

Node *pattern_rewrite(Node *func, Pattern *p, PatternReplace replace, void *context) {
  int count = 0;
  while (true) {
    Rewriting r = {.pattern = p, .replace = replace, .context = context, .count = count};
    Mutator m = {.rewrite = rewrite, .context = &r};
    Node *out = mutate(&m, func);
    if (out == func) return func;
    count = r.count;
    out = without_dead_bindings(pass_canonicalize_bindings(out, NULL));
    if (node_equal(out, func, false, NULL)) return func;
    func = out;
  }
}
