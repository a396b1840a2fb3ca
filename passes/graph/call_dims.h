/* call_dims.h -- the dims of a function's parameters as those of what it is called with. */
#ifndef PASSES_GRAPH_CALL_DIMS_H
#define PASSES_GRAPH_CALL_DIMS_H

#include "ir/ir.h"

/* Adds to *map what the variables of a parameter's struct info are, as the argument's says. */
void bind_dims(Map *map, Node *param, Node *arg);

#endif
