/* fusion_graph.h -- the bindings of a dataflow block as a graph, with its post-dominators, and
 * groups of its nodes. */
#ifndef PASSES_GRAPH_FUSION_GRAPH_H
#define PASSES_GRAPH_FUSION_GRAPH_H

#include "passes/graph/op_pattern.h"

typedef struct FusionEdge {
  int user;          /* the number of a node */
  OpPattern pattern; /* how the user finds its elements in this operand */
} FusionEdge;

typedef struct FusionNode {
  Node *binding, *var; /* VarBinding or MatchCast */
  OpPattern pattern;
  bool is_call; /* of a tensor program: what counts as an operator */
  bool escapes; /* its value is used outside of the block */
  VEC(FusionEdge) users;
  /* The next node that all ways of the value lead through, or -1; the worst pattern on these ways;
   * how many dominators there are. */
  int dominator, depth;
  OpPattern to_dominator;
  /* Groups: the number of a node of the same group, itself for the group's first; what holds for
   * the group stands there. */
  int group, calls;
  OpPattern group_pattern;
} FusionNode;

typedef struct FusionGraph {
  VEC(FusionNode) nodes; /* in the order of bindings: operands before users */
} FusionGraph;

/* Each node in a group of its own. */
FusionGraph fusion_graph(Node *module, BindingBlock *block);
/* The node that stands for the group of node i. */
FusionNode *fusion_group(FusionGraph *g, int i);
void fusion_merge(FusionGraph *g, int i, int into);

#endif
