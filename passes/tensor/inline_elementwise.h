/* inline_elementwise.h -- what rules need not do block by block. */
#ifndef PASSES_TENSOR_INLINE_ELEMENTWISE_H
#define PASSES_TENSOR_INLINE_ELEMENTWISE_H

#include "ir/ir.h"

/* A PrimFunc as computes are written, in which blocks that compute each element by itself, for one
 * other such block, have become part of it. What is read more than once is written out as often
 * only if it is small. */
Node *inline_elementwise(Node *prim_func);

#endif
