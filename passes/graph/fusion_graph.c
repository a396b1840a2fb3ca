/* fusion_graph.c -- see fusion_graph.h. Post-dominators by walking the block backwards, each node's
 * from those of its users, as the graph has no cycles. */
#include "passes/graph/fusion_graph.h"

/* ---- nodes and edges ---- */

typedef struct GraphBuilder {
  FusionGraph graph;
  Node *module;
  Map numbers; /* RelaxVar to its node's number + 1 */
} GraphBuilder;

/* The tensor program that a call_tir calls, or NULL. */
static Node *called_program(GraphBuilder *b, Node *value) {
  if (!IS(RelaxCall, value)) return NULL;
  RelaxCall *c = AS(RelaxCall, value);
  if (c->op != op_get("relax.call_tir") || c->args.len < 2 || !IS(GlobalVar, c->args.at[0]))
    return NULL;
  Node *f = module_find(b->module, AS(GlobalVar, c->args.at[0])->name);
  return IS(PrimFunc, f) ? f : NULL;
}

static bool same_shape(Node *a, Node *b) {
  NodeVec x, y;
  if (!sinfo_tensor_shape(a, &x) || !sinfo_tensor_shape(b, &y) || x.len != y.len) return false;
  for (int i = 0; i < x.len; i++)
    if (!node_equal(x.at[i], y.at[i], false, NULL)) return false;
  return true;
}

static bool has_result_of_shape(Node *info, Node *operand) {
  if (!IS(TupleStructInfo, info)) return same_shape(info, operand);
  for each (Node *, f, &AS(TupleStructInfo, info)->fields)
    if (same_shape(*f, operand)) return true;
  return false;
}

typedef struct EdgeFinder {
  GraphBuilder *builder;
  int user;
} EdgeFinder;

static WalkResult add_edge(Walker *w, Node *n) {
  EdgeFinder *e = w->context;
  int from = IS(RelaxVar, n) ? (int)(intptr_t)map_get(&e->builder->numbers, n) - 1 : -1;
  if (from < 0) return WALK_ON;
  FusionNode *user = &e->builder->graph.nodes.at[e->user];
  FusionEdge edge = {e->user, user->pattern};
  if (edge.pattern == PATTERN_BROADCAST && has_result_of_shape(sinfo_of(user->var), sinfo_of(n)))
    edge.pattern = PATTERN_ELEMENTWISE;
  vec_push(&e->builder->graph.nodes.at[from].users, edge);
  return WALK_ON;
}

static void add_node(GraphBuilder *b, Node *binding) {
  bool is_cast = IS(MatchCast, binding);
  Node *value = is_cast ? AS(MatchCast, binding)->value : AS(VarBinding, binding)->value;
  Node *var = is_cast ? AS(MatchCast, binding)->var : AS(VarBinding, binding)->var;
  Node *program = is_cast ? NULL : called_program(b, value);
  bool is_field = !is_cast && IS(TupleGetItem, value) && IS(TensorStructInfo, sinfo_of(var));
  int number = b->graph.nodes.len;
  FusionNode n = {.binding = binding,
                  .var = var,
                  .pattern = program    ? op_pattern_of(program)
                             : is_field ? PATTERN_ELEMENTWISE
                                        : PATTERN_OPAQUE,
                  .is_call = program != NULL,
                  .escapes = !AS(RelaxVar, var)->is_dataflow,
                  .dominator = -1,
                  .group = number,
                  .calls = program != NULL};
  n.group_pattern = n.pattern;
  vec_push(&b->graph.nodes, n);
  EdgeFinder e = {b, number};
  Walker w = {.enter = add_edge, .context = &e};
  walk(&w, value);
  map_set(&b->numbers, var, (void *)(intptr_t)(number + 1));
}

/* ---- post-dominators ---- */

static OpPattern worse(OpPattern a, OpPattern b) { return a > b ? a : b; }

/* The nearest node that both lead through, or -1; the patterns on the ways there join. */
static int common_dominator(FusionGraph *g, int a, int b, OpPattern *pattern) {
  while (a != b) {
    if (a < 0 || b < 0) return -1;
    int *deeper = g->nodes.at[a].depth >= g->nodes.at[b].depth ? &a : &b;
    FusionNode *n = &g->nodes.at[*deeper];
    *pattern = worse(*pattern, n->to_dominator);
    *deeper = n->dominator;
  }
  return a;
}

static void find_dominator(FusionGraph *g, FusionNode *n) {
  if (n->escapes || !n->users.len) return;
  int at = n->users.at[0].user;
  OpPattern pattern = n->users.at[0].pattern;
  for each (FusionEdge, e, &n->users) {
    pattern = worse(pattern, e->pattern);
    at = common_dominator(g, at, e->user, &pattern);
  }
  n->dominator = at;
  n->to_dominator = pattern;
  n->depth = at < 0 ? 0 : g->nodes.at[at].depth + 1;
}

FusionGraph fusion_graph(Node *module, BindingBlock *block) {
  GraphBuilder b = {.module = module};
  for each (Node *, binding, &block->bindings) add_node(&b, *binding);
  for (int i = b.graph.nodes.len - 1; i >= 0; i--) find_dominator(&b.graph, &b.graph.nodes.at[i]);
  return b.graph;
}

/* ---- groups ---- */

FusionNode *fusion_group(FusionGraph *g, int i) {
  FusionNode *nodes = g->nodes.at;
  while (nodes[i].group != i) i = nodes[i].group = nodes[nodes[i].group].group;
  return &nodes[i];
}

void fusion_merge(FusionGraph *g, int i, int into) {
  FusionNode *from = fusion_group(g, i), *to = fusion_group(g, into);
  if (from == to) return;
  to->calls += from->calls;
  to->group_pattern = worse(to->group_pattern, from->group_pattern);
  from->group = to->group;
}
