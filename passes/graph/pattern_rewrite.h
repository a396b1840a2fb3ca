/* pattern_rewrite.h -- what matches patterns is replaced, all over a graph function. */
#ifndef PASSES_GRAPH_PATTERN_REWRITE_H
#define PASSES_GRAPH_PATTERN_REWRITE_H

#include "passes/graph/pattern.h"

/* The expression to stand for a match: `expr` itself to leave it, or to be asked again for another
 * way to match. */
typedef Node *(*PatternReplace)(void *context, Node *expr, const PatternMatch *m);

/* The function with the value of every binding that looks like the pattern replaced, until none is;
 * what is not used any more is gone. Raises if it does not end. */
Node *pattern_rewrite(Node *func, Pattern *p, PatternReplace replace, void *context);

/* An R.rewriter: a module of the functions `pattern` and `replacement`. All places in the graph
 * functions of a module, or in one function, where bindings compute what `pattern` does; other
 * functions of the rewriter come along into a module. */
Node *rewriter_apply(Node *rewriter, Node *module_or_function);

/* RelaxVar to the value it is bound to, for all bindings of a function. */
Map values_of(Node *func);

#endif
