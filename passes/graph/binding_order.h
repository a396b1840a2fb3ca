/* binding_order.h -- the order of bindings in a dataflow block. */
#ifndef PASSES_GRAPH_BINDING_ORDER_H
#define PASSES_GRAPH_BINDING_ORDER_H

#include "ir/ir.h"

Node *binding_var(Node *binding);   /* of a VarBinding or MatchCast */
Node *binding_value(Node *binding); /* what its variable is bound to */
/* The same bindings, each after those whose variables it uses, otherwise as they are. */
NodeVec bindings_in_order(NodeVec bindings);

#endif
