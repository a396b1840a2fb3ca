/* hoist_if_then_else.c -- a branch that is all of a loop's body, and whose condition the loop does
 * not change, stands around the loop. */
#include "passes/tensor/hoist.h"

Node *pass_hoist_if_then_else(Node *n, const PassContext *context) {
  (void)context;
  return hoist_from_loops(n, (Hoist){0});
}
