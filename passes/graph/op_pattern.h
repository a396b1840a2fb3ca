/* op_pattern.h -- how a tensor program finds its elements: what fusion goes by.
 *
 * The attribute "op_pattern" of a PrimFunc holds the number, which is the field's; a greater one
 * means that less is known. */
#ifndef PASSES_GRAPH_OP_PATTERN_H
#define PASSES_GRAPH_OP_PATTERN_H

#include "passes/passes.h"

typedef enum OpPattern {
  PATTERN_ELEMENTWISE = 0, /* an element from those at its own place */
  PATTERN_BROADCAST = 1,   /* ... and from those of tensors that lack some of its axes */
  PATTERN_INJECTIVE = 2,   /* an element from elements at any place */
  PATTERN_REDUCE = 3,      /* sums and the like */
  PATTERN_OUT_FUSABLE = 4, /* products, windows, chains of reductions: what follows may join */
  PATTERN_TUPLE = 7,       /* no program: a tuple of results */
  PATTERN_OPAQUE = 8
} OpPattern;

/* What the attribute says; opaque if there is none. */
OpPattern op_pattern_of(const Node *prim_func);

#endif
