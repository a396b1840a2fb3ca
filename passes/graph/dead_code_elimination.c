/* dead_code_elimination.c -- drops bindings of pure values that nobody uses, and private functions
 * that nobody reaches. */
#include "passes/graph/dead_code.h"
#include "passes/passes.h"

/* ---- bindings: backwards, so that a chain of dead ones goes in one sweep ---- */

typedef struct Uses {
  Map used; /* RelaxVars and Vars */
} Uses;

static WalkResult note_use(Walker *w, Node *n) {
  if (IS(RelaxVar, n) || IS(Var, n)) map_set(&((Uses *)w->context)->used, n, n);
  return WALK_ON;
}

static void use_all(Uses *u, Node *n) {
  Walker w = {.enter = note_use, .context = u};
  if (n) walk(&w, n);
}

static bool has_effects(Node *value) {
  if (IS(RelaxIf, value)) return true; /* its arms may have some */
  return IS(RelaxCall, value) && relax_call_has_effects(value);
}

static bool is_needed(Uses *u, Node *binding) {
  if (IS(MatchCast, binding)) return true; /* a check, and it may define dims */
  VarBinding *b = AS(VarBinding, binding);
  return map_has(&u->used, b->var) || has_effects(b->value);
}

static Node *sweep_seq(Uses *u, Node *n);

static Node *sweep_value(Uses *u, Node *value) {
  if (!IS(RelaxIf, value)) return value;
  RelaxIf i = *AS(RelaxIf, value);
  i.then = sweep_seq(u, i.then);
  i.orelse = sweep_seq(u, i.orelse);
  return gc_copy(&i, sizeof i);
}

static NodeVec reversed(NodeVec v) {
  NodeVec out = {0};
  for (int i = v.len - 1; i >= 0; i--) vec_push(&out, v.at[i]);
  return out;
}

static Node *sweep_block(Uses *u, Node *n) {
  BindingBlock b = *AS(BindingBlock, n);
  NodeVec kept = {0};
  for (int i = b.bindings.len - 1; i >= 0; i--) {
    Node *binding = b.bindings.at[i];
    if (!is_needed(u, binding)) continue;
    if (IS(VarBinding, binding) && IS(RelaxIf, AS(VarBinding, binding)->value)) {
      VarBinding copy = *AS(VarBinding, binding);
      copy.value = sweep_value(u, copy.value);
      binding = gc_copy(&copy, sizeof copy);
    }
    use_all(u, IS(MatchCast, binding) ? AS(MatchCast, binding)->value
                                      : AS(VarBinding, binding)->value);
    use_all(u, sinfo_of(IS(MatchCast, binding) ? AS(MatchCast, binding)->var
                                               : AS(VarBinding, binding)->var));
    vec_push(&kept, binding);
  }
  if (!kept.len) return NULL;
  b.bindings = reversed(kept);
  return gc_copy(&b, sizeof b);
}

static Node *sweep_seq(Uses *u, Node *n) {
  SeqExpr s = *AS(SeqExpr, n);
  use_all(u, s.body);
  NodeVec kept = {0};
  for (int i = s.blocks.len - 1; i >= 0; i--) {
    Node *b = sweep_block(u, s.blocks.at[i]);
    if (b) vec_push(&kept, b);
  }
  s.blocks = blocks_normal(reversed(kept));
  return gc_copy(&s, sizeof s);
}

Node *without_dead_bindings(Node *func) {
  Function f = *AS(Function, func);
  Uses uses = {0};
  f.body = sweep_seq(&uses, f.body);
  return node_equal(f.body, AS(Function, func)->body, true, NULL) ? func : gc_copy(&f, sizeof f);
}

/* ---- functions ---- */

typedef struct Reach {
  const Node *module;
  Map reached; /* interned name */
} Reach;

static void reach(Reach *r, const char *name);

static WalkResult note_global(Walker *w, Node *n) {
  if (IS(GlobalVar, n)) reach(w->context, AS(GlobalVar, n)->name);
  return WALK_ON;
}

static void reach(Reach *r, const char *name) {
  name = str_intern(name);
  if (map_has(&r->reached, name)) return;
  map_set(&r->reached, name, r);
  Node *f = module_find(r->module, name);
  Walker w = {.enter = note_global, .context = r};
  if (f) walk(&w, f);
}

static WalkResult note_mentioned(Walker *w, Node *n) {
  if (IS(GlobalVar, n)) map_set(w->context, str_intern(AS(GlobalVar, n)->name), n);
  return WALK_ON;
}

Node *without_unused(Node *module, bool (*goes)(const Node *func)) {
  IRModule *m = AS(IRModule, module);
  Map used = {0};
  Walker w = {.enter = note_mentioned, .context = &used};
  for each (Node *, f, &m->functions) walk(&w, *f);
  Node *out = module;
  for (int i = 0; i < m->functions.len; i++) {
    const char *name = AS(GlobalVar, m->globals.at[i])->name;
    Node *f = m->functions.at[i];
    if (!func_symbol(f) && goes(f) && !map_has(&used, str_intern(name)))
      out = module_without(out, name);
  }
  return out;
}

Node *pass_dead_code_elimination(Node *module, const PassContext *context) {
  Node *out = module;
  IRModule *m = AS(IRModule, module);
  for (int i = 0; i < m->functions.len; i++) {
    if (!IS(Function, m->functions.at[i])) continue;
    Node *f = without_dead_bindings(m->functions.at[i]);
    if (f != m->functions.at[i]) out = module_with(out, m->globals.at[i], f);
  }
  Reach r = {.module = out};
  m = AS(IRModule, out);
  for (int i = 0; i < m->functions.len; i++) {
    const char *name = AS(GlobalVar, m->globals.at[i])->name;
    if (func_symbol(m->functions.at[i]) || pass_option_lists(context, "entry_functions", name))
      reach(&r, name);
  }
  for (int i = 0; i < m->functions.len; i++) {
    const char *name = AS(GlobalVar, m->globals.at[i])->name;
    bool is_outside = IS(ExternFunc, m->functions.at[i]);
    if (!is_outside && !map_has(&r.reached, str_intern(name))) out = module_without(out, name);
  }
  return out;
}
