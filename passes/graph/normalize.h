/* normalize.h -- the normal form of graph expressions: what a call takes is a leaf, or a tuple of
 * leaves; everything else is bound to a variable first. */
#ifndef PASSES_GRAPH_NORMALIZE_H
#define PASSES_GRAPH_NORMALIZE_H

#include "passes/passes.h"

typedef struct NormalForm {
  bool is_dataflow; /* are new variables those of a dataflow block? */
  NodeVec bindings; /* VarBindings, which new ones are added to */
  Map bound;        /* expressions that have a variable already: one that stands in two places has
                       one variable */
} NormalForm;

/* The expression as the value of one binding; what stands inside of it is bound before. The same
 * node if nothing does. */
Node *normal_value(NormalForm *f, Node *expr);
/* The same, as what a call may take. */
Node *normal_leaf(NormalForm *f, Node *expr);

#endif
