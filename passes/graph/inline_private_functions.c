/* inline_private_functions.c -- calls of private graph functions become what these do.
 *
 * In:  calls that are bound to variables. Out: the blocks of the callee, or in a dataflow block its
 * bindings, with variables of their own and the caller's dims; private functions that nobody calls
 * any more are gone. Not: functions that lead to themselves; those with the attributes Primitive,
 * Composite or Codegen; calls whose arguments do not tell all dims; in dataflow, functions with
 * effects, branches or local functions. */
#include "passes/graph/call_dims.h"
#include "passes/graph/dead_code.h"
#include "passes/passes.h"

typedef struct Inliner {
  const Node *module;
  const char *names; /* "f;g", what may be inlined; all if empty */
  Map done;          /* interned name to the Function with calls inlined */
  Map active;        /* interned names of functions that are being worked on */
  Map recursive;     /* those that were met while they were active */
} Inliner;

static bool is_inlinable(const Node *func) {
  return !func_attr(func, "Primitive") && !func_attr(func, "Composite") &&
         !func_attr(func, "Codegen");
}

/* ---- which calls ---- */

static Function *function_done(Inliner *in, const char *name);

static WalkResult find_unfit(Walker *w, Node *n) {
  (void)w;
  bool unfit = IS(RelaxIf, n) || IS(Function, n) || IS(MatchCast, n) ||
               (IS(RelaxCall, n) && relax_call_has_effects(n));
  return unfit ? WALK_STOP : WALK_ON;
}

static Function *callee_of(Inliner *in, Node *value, bool is_dataflow) {
  if (!IS(RelaxCall, value) || !IS(GlobalVar, AS(RelaxCall, value)->op)) return NULL;
  const char *name = str_intern(AS(GlobalVar, AS(RelaxCall, value)->op)->name);
  Node *f = module_find(in->module, name);
  if (!IS(Function, f) || func_symbol(f) || !is_inlinable(f) || !str_in_list(in->names, name))
    return NULL;
  if (map_has(&in->active, name)) map_set(&in->recursive, name, f);
  Function *callee = map_has(&in->active, name) ? NULL : function_done(in, name);
  if (!callee || map_has(&in->recursive, name)) return NULL;
  Walker w = {.enter = find_unfit};
  bool fits = callee->params.len == AS(RelaxCall, value)->args.len &&
              (!is_dataflow || walk(&w, callee->body));
  return fits ? callee : NULL;
}

static WalkResult find_unbound(Walker *w, Node *n) {
  return IS(Var, n) && !map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

/* The body of a copy of the callee for these arguments, or NULL. */
static SeqExpr *body_for(Function *callee, RelaxCall *c) {
  Function *f = AS(Function, copy_with_fresh_vars(&callee->node));
  Map map = {0};
  for (int i = 0; i < f->params.len; i++)
    bind_dims(&map, sinfo_of(f->params.at[i]), sinfo_of(c->args.at[i]));
  Walker w = {.enter = find_unbound, .context = &map};
  for each (Node *, p, &f->params)
    if (!walk(&w, sinfo_of(*p))) return NULL;
  for (int i = 0; i < f->params.len; i++) map_set(&map, f->params.at[i], c->args.at[i]);
  return AS(SeqExpr, substitute(f->body, &map));
}

/* ---- in blocks ---- */

static Node *as_dataflow(Mutator *m, Node *n) {
  n = mutate_children(m, n);
  if (!IS(RelaxVar, n) || AS(RelaxVar, n)->is_dataflow) return n;
  RelaxVar v = *AS(RelaxVar, n);
  v.is_dataflow = true;
  return gc_copy(&v, sizeof v);
}

/* The callee's bindings as those of a dataflow block around; what comes from outside stays. */
static Node *add_to_dataflow(SeqExpr *body, RelaxCall *c, NodeVec *out) {
  Mutator m = {.rewrite = as_dataflow};
  for each (Node *, a, &c->args) map_set(&m.identities, *a, *a);
  for each (Node *, b, &body->blocks)
    for each (Node *, x, &AS(BindingBlock, *b)->bindings) {
      VarBinding v = *AS(VarBinding, *x);
      v.value = mutate(&m, v.value);
      v.var = mutate(&m, v.var);
      vec_push(out, gc_copy(&v, sizeof v));
    }
  return mutate(&m, body->body);
}

static void end_block(Node *like, NodeVec *bindings, NodeVec *blocks) {
  BindingBlock b = *AS(BindingBlock, like);
  b.bindings = *bindings;
  if (bindings->len) vec_push(blocks, gc_copy(&b, sizeof b));
  *bindings = (NodeVec){0};
}

/* The blocks that stand in the place of one; the same one if it has no such call. */
static void add_blocks(Inliner *in, Node *n, NodeVec *blocks) {
  bool is_dataflow = AS(BindingBlock, n)->is_dataflow;
  NodeVec bindings = {0};
  bool changed = false;
  int before = blocks->len;
  for each (Node *, x, &AS(BindingBlock, n)->bindings) {
    Node *value = IS(VarBinding, *x) ? AS(VarBinding, *x)->value : NULL;
    Function *callee = value ? callee_of(in, value, is_dataflow) : NULL;
    SeqExpr *body = callee ? body_for(callee, AS(RelaxCall, value)) : NULL;
    if (!body) {
      vec_push(&bindings, *x);
      continue;
    }
    changed = true;
    VarBinding b = *AS(VarBinding, *x);
    if (is_dataflow) b.value = add_to_dataflow(body, AS(RelaxCall, value), &bindings);
    else {
      end_block(n, &bindings, blocks);
      for each (Node *, inner, &body->blocks) vec_push(blocks, *inner);
      b.value = body->body;
    }
    vec_push(&bindings, gc_copy(&b, sizeof b));
  }
  if (changed) end_block(n, &bindings, blocks);
  else blocks->len = before, vec_push(blocks, n);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(Var, n) || IS(RelaxVar, n)) return n;
  n = mutate_children(m, n);
  if (!IS(SeqExpr, n)) return n;
  SeqExpr s = *AS(SeqExpr, n);
  NodeVec blocks = {0};
  for each (Node *, b, &s.blocks) add_blocks(m->context, *b, &blocks);
  bool same = blocks.len == s.blocks.len;
  for (int i = 0; same && i < blocks.len; i++) same = blocks.at[i] == s.blocks.at[i];
  if (same) return n;
  s.blocks = blocks_normal(blocks);
  return gc_copy(&s, sizeof s);
}

/* ---- functions ---- */

static Function *function_done(Inliner *in, const char *name) {
  Node *f = map_get(&in->done, name);
  if (f) return AS(Function, f);
  map_set(&in->active, name, in);
  Mutator m = {.rewrite = rewrite, .context = in};
  Node *before = module_find(in->module, name);
  f = mutate(&m, before);
  if (f != before) f = pass_canonicalize_bindings(f, NULL);
  map_remove(&in->active, name);
  map_set(&in->done, name, f);
  return AS(Function, f);
}

Node *pass_inline_private_functions(Node *module, const PassContext *context) {
  Inliner in = {.module = module, .names = pass_option_str(context, "functions")};
  IRModule *m = AS(IRModule, module);
  Node *out = module;
  for (int i = 0; i < m->functions.len; i++) {
    if (!IS(Function, m->functions.at[i])) continue;
    Node *f = &function_done(&in, str_intern(AS(GlobalVar, m->globals.at[i])->name))->node;
    if (f != m->functions.at[i]) out = module_with(out, m->globals.at[i], f);
  }
  return out == module ? module : without_unused(out, is_inlinable);
}
