/* refreshed_info.h -- struct info that follows what an expression is made of. */
#ifndef PASSES_GRAPH_REFRESHED_INFO_H
#define PASSES_GRAPH_REFRESHED_INFO_H

#include "ir/ir.h"

/* `after`, which a rewrite made of `before` by changing its parts, with struct info as fine as that
 * of its parts makes it: of calls, tuples and their fields, branches, sequences and functions. */
Node *info_refreshed(Node *before, Node *after);
/* The variable, with struct info as fine as that of its value. */
Node *var_refreshed(Node *var, Node *value);
/* The function, with a result as fine as that of its body. */
Node *function_refreshed(Node *func);
/* substitute(), and struct info that follows. */
Node *substitute_refreshed(Node *n, const Map *map);

#endif
