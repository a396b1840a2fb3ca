/* merge_composite_functions.c -- calls of composite functions of one code generator that hang
 * together become one call of a function with the attribute Codegen.
 *
 * In:  dataflow blocks with calls of functions with the attribute Composite (FuseOpsByPattern).
 * Out: see codegen_function.h; composite functions that nobody calls any more are gone. Two groups
 * join if one uses a result of the other and nothing outside lies on a way between them: the graph
 * of groups stays free of cycles. */
#include "passes/graph/binding_order.h"
#include "passes/graph/codegen_function.h"
#include "passes/graph/dead_code.h"

typedef struct Member {
  Node *binding, *var;
  Node *func;      /* composite, or NULL */
  IntVec operands; /* numbers of members whose variables it uses */
  int group;       /* the number of a member of its group; its own for the first */
} Member;

typedef struct Graph {
  VEC(Member) all;
  Map numbers; /* variable to its number + 1 */
  const Node *module;
} Graph;

/* ---- the graph ---- */

static WalkResult note_operand(Walker *w, Node *n) {
  Graph *g = w->context;
  int k = IS(RelaxVar, n) ? (int)(intptr_t)map_get(&g->numbers, n) - 1 : -1;
  if (k >= 0) vec_push(&vec_last(&g->all).operands, k);
  return WALK_ON;
}

static void add_member(Graph *g, Node *binding) {
  bool is_cast = IS(MatchCast, binding);
  Node *value = is_cast ? AS(MatchCast, binding)->value : AS(VarBinding, binding)->value;
  Member m = {.binding = binding, .var = binding_var(binding), .group = g->all.len};
  if (IS(RelaxCall, value) && IS(GlobalVar, AS(RelaxCall, value)->op)) {
    Node *f = module_find(g->module, AS(GlobalVar, AS(RelaxCall, value)->op)->name);
    if (IS(Function, f) && codegen_of(f)) m.func = f;
  }
  vec_push(&g->all, m);
  Walker w = {.enter = note_operand, .context = g};
  walk(&w, value);
  map_set(&g->numbers, m.var, (void *)(intptr_t)g->all.len);
}

static int group_of(Graph *g, int i) {
  while (g->all.at[i].group != i) i = g->all.at[i].group;
  return i;
}

/* ---- joining without cycles ---- */

/* Does the group `from` use the group `to`, at any distance? */
static bool reaches(Graph *g, int from, int to, bool *seen) {
  if (from == to) return true;
  if (seen[from]) return false;
  seen[from] = true;
  for (int i = 0; i < g->all.len; i++) {
    if (group_of(g, i) != from) continue;
    for each (int, k, &g->all.at[i].operands) {
      int other = group_of(g, *k);
      if (other != from && reaches(g, other, to, seen)) return true;
    }
  }
  return false;
}

/* Is there a way from group a to group b that leaves both? */
static bool has_detour(Graph *g, int a, int b) {
  bool *seen = (bool *)NEW_BYTES((size_t)g->all.len);
  for (int i = 0; i < g->all.len; i++) {
    if (group_of(g, i) != a) continue;
    for each (int, k, &g->all.at[i].operands) {
      int other = group_of(g, *k);
      if (other != a && other != b && reaches(g, other, b, seen)) return true;
    }
  }
  return false;
}

static void join_with_operands(Graph *g, int i) {
  Member *m = &g->all.at[i];
  for each (int, k, &m->operands) {
    Member *operand = &g->all.at[*k];
    int a = group_of(g, i), b = group_of(g, *k);
    bool fits = operand->func && a != b && codegen_of(operand->func) == codegen_of(m->func);
    if (fits && !has_detour(g, a, b) && !has_detour(g, b, a)) g->all.at[a].group = b;
  }
}

/* ---- calls for the groups ---- */

static bool is_used_outside(Graph *g, int i) {
  if (!AS(RelaxVar, g->all.at[i].var)->is_dataflow) return true;
  for (int u = i + 1; u < g->all.len; u++)
    for each (int, k, &g->all.at[u].operands)
      if (*k == i && group_of(g, u) != group_of(g, i)) return true;
  return false;
}

/* Adds the bindings that stand for a group: its call, and the fields of several results. */
static void add_group(Graph *g, SharedFunctions *functions, int group, NodeVec *out) {
  CompositeCallVec calls = {0};
  NodeVec outputs = {0};
  for (int i = 0; i < g->all.len; i++) {
    Member *m = &g->all.at[i];
    if (group_of(g, i) != group) continue;
    RelaxCall *c = AS(RelaxCall, AS(VarBinding, m->binding)->value);
    CompositeCall call = {m->var, m->func, c->args, AS(GlobalVar, c->op)->name};
    vec_push(&calls, call);
    if (is_used_outside(g, i)) vec_push(&outputs, m->var);
  }
  if (!outputs.len) vec_push(&outputs, vec_last(&calls).var);
  Node *call = codegen_call(functions, calls, outputs), *var = outputs.at[0];
  if (outputs.len > 1)
    var = MAKE(RelaxVar, call->span, VOID_TYPE, .sinfo = sinfo_of(call), .name = str_intern("lv"),
               .is_dataflow = true);
  vec_push(out, MAKE(VarBinding, call->span, VOID_TYPE, .value = call, .var = var));
  for (int i = 0; i < outputs.len && outputs.len > 1; i++) {
    Node *field = MAKE(TupleGetItem, call->span, VOID_TYPE, .sinfo = sinfo_of(outputs.at[i]),
                       .tuple = var, .index = i);
    vec_push(out, MAKE(VarBinding, call->span, VOID_TYPE, .value = field, .var = outputs.at[i]));
  }
}

static Node *merge_block(SharedFunctions *functions, Node *n) {
  BindingBlock b = *AS(BindingBlock, n);
  Graph g = {.module = functions->module};
  bool any = false;
  for each (Node *, x, &b.bindings) add_member(&g, *x);
  for (int i = 0; i < g.all.len; i++) {
    any |= g.all.at[i].func != NULL;
    if (g.all.at[i].func) join_with_operands(&g, i);
  }
  if (!any) return n;
  NodeVec out = {0};
  for (int i = 0; i < g.all.len; i++) {
    if (!g.all.at[i].func) vec_push(&out, g.all.at[i].binding);
    else if (group_of(&g, i) == i) add_group(&g, functions, i, &out);
  }
  b.bindings = bindings_in_order(out);
  return gc_copy(&b, sizeof b);
}

/* ---- the module ---- */

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(RelaxVar, n) || IS(Var, n) || IS(GlobalVar, n)) return n;
  n = mutate_children(m, n);
  bool is_dataflow = IS(BindingBlock, n) && AS(BindingBlock, n)->is_dataflow;
  return is_dataflow ? merge_block(m->context, n) : n;
}

static bool is_composite(const Node *func) { return codegen_of(func) != NULL; }

Node *pass_merge_composite_functions(Node *module, const PassContext *context) {
  (void)context;
  SharedFunctions functions = {.module = module};
  IRModule *m = AS(IRModule, module);
  for (int i = 0; i < m->functions.len; i++) {
    Node *f = m->functions.at[i];
    if (!IS(Function, f) || func_attr(f, "Composite") || func_attr(f, "Codegen")) continue;
    Mutator mutator = {.rewrite = rewrite, .context = &functions};
    Node *merged = mutate(&mutator, f);
    if (merged != f) functions.module = module_with(functions.module, m->globals.at[i], merged);
  }
  return without_unused(functions.module, is_composite);
}
