/* shared_functions.h -- private functions that passes add to a module: equal ones are one. */
#ifndef PASSES_GRAPH_SHARED_FUNCTIONS_H
#define PASSES_GRAPH_SHARED_FUNCTIONS_H

#include "passes/passes.h"

typedef struct SharedFunctions {
  Node *module;
  bool underscore; /* names that are taken: hint_1 instead of hint1 */
  Map by_hash;     /* hash of a function (as a pointer) to a NodeVec * of GlobalVars with it */
} SharedFunctions;

/* Of a module whose private functions count as added before; with underscores. */
SharedFunctions shared_functions_of(Node *module);

/* The GlobalVar of an equal function that was added before, or else of `func` under a name like the
 * hint. A function's struct info, if it is a graph function, is that of the GlobalVar. */
Node *shared_function(SharedFunctions *s, Node *func, const char *hint);
/* Makes such a function public under its name. */
void shared_function_export(SharedFunctions *s, Node *global);

#endif
