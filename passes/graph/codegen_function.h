/* codegen_function.h -- functions that one code generator compiles: public, with the attribute
 * Codegen; inside, the composite functions as local ones, and their calls. */
#ifndef PASSES_GRAPH_CODEGEN_FUNCTION_H
#define PASSES_GRAPH_CODEGEN_FUNCTION_H

#include "passes/graph/shared_functions.h"

typedef struct CompositeCall {
  Node *var;  /* that the result is bound to */
  Node *func; /* with the attribute Composite */
  NodeVec args;
  const char *name; /* of the function in the module */
} CompositeCall;
typedef VEC(CompositeCall) CompositeCallVec;

/* "dnnl" of "dnnl.conv2d_relu", what the attribute Composite of a function says; NULL if it has
 * none. */
const char *codegen_of(const Node *func);

/* The call that does what these calls do, all of one code generator, for these of their variables.
 */
Node *codegen_call(SharedFunctions *functions, CompositeCallVec calls, NodeVec outputs);

#endif
