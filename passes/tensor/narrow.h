/* narrow.h -- indices in fewer bits: NarrowDataType and ForceNarrowIndexToInt32. */
#ifndef PASSES_TENSOR_NARROW_H
#define PASSES_TENSOR_NARROW_H

#include "passes/tensor/tensor.h"

/* `bits`: 8, 16 or 32. `force`: also what is not known to fit; a constant that does not fit is an
 * error. */
Node *narrow_indices(Node *prim_func, int bits, bool force);

#endif
