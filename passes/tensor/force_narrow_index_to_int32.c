/* force_narrow_index_to_int32.c -- loop variables and indices become int32, whether they are known
 * to fit or not. */
#include "passes/tensor/narrow.h"

Node *pass_force_narrow_index_to_int32(Node *n, const PassContext *context) {
  (void)context;
  return narrow_indices(n, 32, true);
}
