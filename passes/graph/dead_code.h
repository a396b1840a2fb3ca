/* dead_code.h -- what other passes leave behind. */
#ifndef PASSES_GRAPH_DEAD_CODE_H
#define PASSES_GRAPH_DEAD_CODE_H

#include "ir/ir.h"

/* The graph function without bindings of pure values that nobody uses; itself if there are none. */
Node *without_dead_bindings(Node *func);
/* The module without the private functions, of those that `goes` answers true for, that no
 * function mentions. */
Node *without_unused(Node *module, bool (*goes)(const Node *func));

#endif
