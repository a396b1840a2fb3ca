/* pattern_graph.h -- several patterns that hang together by uses of values, in one block. */
#ifndef PASSES_GRAPH_PATTERN_GRAPH_H
#define PASSES_GRAPH_PATTERN_GRAPH_H

#include "passes/graph/pattern.h"

/* The consumer's value uses the producer's variable. */
typedef struct PatternEdge {
  Pattern *producer, *consumer;
  int index; /* of the argument; -1: any place */
  bool only; /* nothing else uses it, and nobody sees it outside of the block */
} PatternEdge;

typedef struct PatternGraph {
  PatternVec nodes; /* different ones stand for different variables */
  VEC(PatternEdge) edges;
  PatternVec conditions; /* SAME_SHAPE of two of them */
} PatternGraph;

/* Variables for all nodes, bound in the block or used there. `values` is of the whole function. */
bool pattern_match_block(const PatternGraph *g, BindingBlock *block, const Map *values,
                         PatternMatch *m);

#endif
