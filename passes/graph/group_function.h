/* group_function.h -- some bindings of a graph function become a private function and its call. */
#ifndef PASSES_GRAPH_GROUP_FUNCTION_H
#define PASSES_GRAPH_GROUP_FUNCTION_H

#include "passes/graph/shared_functions.h"

typedef struct BindingGroup {
  NodeVec bindings;    /* VarBindings, in order */
  NodeVec outputs;     /* variables among theirs that the function returns; several as a tuple */
  bool keep_constants; /* inside the function; otherwise they are handed over */
  Node *attrs;         /* Dict: of the function */
  const char *name;    /* a hint */
  bool exported;       /* a public function of plain bindings, for what compiles it by its symbol */
} BindingGroup;

/* The function, and what it is to be called with. */
Node *group_function(const BindingGroup *group, NodeVec *args);
/* The call that computes the outputs, in the place of the bindings. Variables of the bindings'
 * struct info that no tensor tells are handed over as a shape. */
Node *group_call(SharedFunctions *functions, const BindingGroup *group);

#endif
