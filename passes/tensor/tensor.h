/* tensor.h -- questions about statements that several passes of this folder ask. */
#ifndef PASSES_TENSOR_TENSOR_H
#define PASSES_TENSOR_TENSOR_H

#include "passes/passes.h"

/* The function with another body; itself if that is its own. */
Node *prim_func_with_body(Node *f, Node *body);

/* Is it as computes are written, so that a rule may schedule it? (apply_default_schedule.c) */
bool prim_func_wants_schedule(Node *f);

/* Does it hold a break or continue of a loop around it, or a return? */
bool stmt_jumps_out(Node *n);

/* Adds the variables that are defined in a node: those of loops with their Range, others with
 * themselves. */
void add_definitions(Node *n, Map *vars);
/* Does the node mention one of the keys (variables, buffers)? */
bool mentions_any(Node *n, const Map *keys);
bool mentions_node(Node *n, Node *what);

/* May it fail, where a condition around it might have kept it from running? Loads may be out of
 * bounds, divisors 0. */
bool expr_may_fail(Node *n);
/* Is it a division of integers by what may be 0? */
bool divides_by_unknown(Node *n);

/* What a condition is without T.likely around it. */
Node *without_likely(Node *cond);

#endif
