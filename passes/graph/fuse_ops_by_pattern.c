/* fuse_ops_by_pattern.c -- bindings that look like patterns become private functions with the
 * attribute Composite: what a library or a code generator takes as one.
 *
 * In:  dataflow blocks of operators; patterns in the order of preference. Out: calls of functions
 * that hold the bindings; with annotate_codegen, of functions with the attribute Codegen around
 * them. Not: where a value inside is used outside, or the check of a pattern says no. */
#include "passes/graph/fuse_ops_by_pattern.h"
#include "passes/graph/codegen_function.h"
#include "passes/graph/group_function.h"
#include "passes/graph/pattern_rewrite.h"

FusionPatternVec (*fusion_patterns_hook)(const char *names, Span span);
bool (*fusion_check_hook)(const FusionPattern *p, Node *expr, const PatternMatch *m,
                          NodeVec bindings, Node *func);

typedef struct ByPattern {
  SharedFunctions functions;
  FusionPattern pattern;
  bool keep_constants, annotate;
  Node *func; /* that is being rewritten */
  Map values;
} ByPattern;

/* ---- the bindings of a match ---- */

typedef struct FoundGroup {
  int root;
  NodeVec members;
} FoundGroup;

typedef struct BlockBindings {
  NodeVec bindings;
  Map numbers;            /* variable to its binding's number + 1 */
  Map taken;              /* bindings that end a group */
  VEC(FoundGroup) groups; /* from the last to the first */
} BlockBindings;

static int number_of(const BlockBindings *b, Node *var) {
  return (int)(intptr_t)map_get(&b->numbers, var) - 1;
}

static bool is_computed(const Pattern *p) {
  return p->kind == PATTERN_IS_CALL || p->kind == PATTERN_IS_GET_ITEM ||
         p->kind == PATTERN_IS_TUPLE || p->kind == PATTERN_IS_UNORDERED_TUPLE;
}

/* The numbers of the bindings that the match is about, as flags; false if one is not of the block.
 */
static bool find_members(const BlockBindings *b, const PatternMatch *m, int root, bool *is_member) {
  is_member[root] = true;
  for (int i = 0; i < m->patterns.len; i++) {
    if (!is_computed(m->patterns.at[i]) || !IS(RelaxVar, m->exprs.at[i])) continue;
    int k = number_of(b, m->exprs.at[i]);
    if (k < 0 || k > root || map_has(&b->taken, b->bindings.at[k])) return false;
    is_member[k] = true;
  }
  return true;
}

typedef struct OutsideUse {
  const BlockBindings *block;
  const bool *is_member;
  int root;
} OutsideUse;

static WalkResult find_inner(Walker *w, Node *n) {
  OutsideUse *u = w->context;
  int k = IS(RelaxVar, n) ? number_of(u->block, n) : -1;
  return k >= 0 && k != u->root && u->is_member[k] ? WALK_STOP : WALK_ON;
}

static bool is_closed(const BlockBindings *b, const bool *is_member, int root) {
  OutsideUse u = {b, is_member, root};
  Walker w = {.enter = find_inner, .context = &u};
  for (int i = 0; i < b->bindings.len; i++) {
    Node *x = b->bindings.at[i];
    if (is_member[i]) {
      if (i != root && !AS(RelaxVar, AS(VarBinding, x)->var)->is_dataflow) return false;
      continue;
    }
    if (!walk(&w, IS(MatchCast, x) ? AS(MatchCast, x)->value : AS(VarBinding, x)->value))
      return false;
  }
  return true;
}

/* ---- functions ---- */

static void add_name(Str *s, Node *value) {
  if (!IS(RelaxCall, value) || !IS(Op, AS(RelaxCall, value)->op)) return;
  str_add_char(s, '_');
  for (const char *c = AS(Op, AS(RelaxCall, value)->op)->name; *c; c++)
    str_add_char(s, *c == '.' ? '_' : *c);
}

static Node *composite_call(ByPattern *p, NodeVec members) {
  Span span = members.at[0]->span;
  Node *attrs = dict_with(dict_new(), "Composite", string_imm(p->pattern.name, span));
  if (!p->annotate) attrs = dict_with(attrs, "Primitive", int_imm(BOOL, 1, span));
  Str name = {0};
  str_add(&name, "fused");
  for each (Node *, b, &members) add_name(&name, AS(VarBinding, *b)->value);
  BindingGroup group = {.bindings = members,
                        .outputs = NODES(AS(VarBinding, vec_last(&members))->var),
                        .keep_constants = p->keep_constants,
                        .attrs = attrs,
                        .name = str_text(&name)};
  if (!p->annotate) return group_call(&p->functions, &group);
  CompositeCall one = {.var = group.outputs.at[0], .name = group.name};
  one.func = group_function(&group, &one.args);
  CompositeCallVec calls = {0};
  vec_push(&calls, one);
  return codegen_call(&p->functions, calls, group.outputs);
}

/* ---- blocks ---- */

static bool fuse_at(ByPattern *p, BlockBindings *b, int root, bool *is_member) {
  Node *x = b->bindings.at[root];
  if (!IS(VarBinding, x) || map_has(&b->taken, x) || !IS(RelaxCall, AS(VarBinding, x)->value))
    return false;
  PatternMatch m = {.values = &p->values};
  NodeVec members = {0};
  if (!pattern_match(p->pattern.pattern, AS(VarBinding, x)->value, &m) || !pattern_holds(&m) ||
      !find_members(b, &m, root, is_member) || !is_closed(b, is_member, root))
    return false;
  for (int i = 0; i <= root; i++)
    if (is_member[i]) vec_push(&members, b->bindings.at[i]);
  if (fusion_check_hook &&
      !fusion_check_hook(&p->pattern, AS(VarBinding, x)->value, &m, members, p->func))
    return false;
  vec_push(&b->groups, ((FoundGroup){root, members}));
  map_set(&b->taken, x, p);
  return true;
}

/* Functions are numbered in the order of their calls. */
static void add_calls(ByPattern *p, BlockBindings *b) {
  for (int i = b->groups.len - 1; i >= 0; i--) {
    FoundGroup *g = &b->groups.at[i];
    VarBinding fused = *AS(VarBinding, b->bindings.at[g->root]);
    fused.value = composite_call(p, g->members);
    b->bindings.at[g->root] = gc_copy(&fused, sizeof fused);
  }
}

static Node *fuse_block(ByPattern *p, Node *n) {
  BindingBlock block = *AS(BindingBlock, n);
  BlockBindings b = {0};
  bool *is_gone = (bool *)NEW_BYTES((size_t)block.bindings.len + 1);
  for each (Node *, x, &block.bindings) {
    Node *var = IS(MatchCast, *x) ? AS(MatchCast, *x)->var : AS(VarBinding, *x)->var;
    vec_push(&b.bindings, *x);
    map_set(&b.numbers, var, (void *)(intptr_t)b.bindings.len);
  }
  bool changed = false;
  for (int root = b.bindings.len - 1; root >= 0; root--) {
    if (is_gone[root]) continue;
    bool *is_member = (bool *)NEW_BYTES((size_t)b.bindings.len);
    if (!fuse_at(p, &b, root, is_member)) continue;
    changed = true;
    for (int i = 0; i < root; i++) is_gone[i] |= is_member[i];
  }
  if (!changed) return n;
  add_calls(p, &b);
  NodeVec kept = {0};
  for (int i = 0; i < b.bindings.len; i++)
    if (!is_gone[i]) vec_push(&kept, b.bindings.at[i]);
  block.bindings = kept;
  return gc_copy(&block, sizeof block);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(RelaxVar, n) || IS(Var, n) || IS(GlobalVar, n)) return n;
  n = mutate_children(m, n);
  bool is_dataflow = IS(BindingBlock, n) && AS(BindingBlock, n)->is_dataflow;
  return is_dataflow ? fuse_block(m->context, n) : n;
}

static void fuse_function(ByPattern *p, Node *global, Node *f) {
  p->func = f;
  p->values = values_of(f);
  Mutator mutator = {.rewrite = rewrite, .context = p};
  Node *fused = mutate(&mutator, f);
  if (fused != f) p->functions.module = module_with(p->functions.module, global, fused);
}

static bool is_made(Node *f) {
  return func_attr(f, "Primitive") || func_attr(f, "Composite") || func_attr(f, "Codegen");
}

Node *pass_fuse_ops_by_pattern(Node *module, const PassContext *context) {
  const char *entries = pass_option_str(context, "entry_functions");
  ByPattern p = {.functions = {.module = module},
                 .keep_constants = pass_option_int(context, "bind_constants"),
                 .annotate = pass_option_int(context, "annotate_codegen")};
  FusionPatternVec patterns = {0};
  if (fusion_patterns_hook)
    patterns = fusion_patterns_hook(pass_option_str(context, "patterns"), module->span);
  for each (FusionPattern, pattern, &patterns) {
    p.pattern = *pattern;
    IRModule *m = AS(IRModule, p.functions.module);
    for (int i = 0; i < m->functions.len; i++)
      if (IS(Function, m->functions.at[i]) && !is_made(m->functions.at[i]) &&
          str_in_list(entries, AS(GlobalVar, m->globals.at[i])->name))
        fuse_function(&p, m->globals.at[i], m->functions.at[i]);
  }
  return p.functions.module;
}
