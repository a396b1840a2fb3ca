/* flops.h -- how much arithmetic tensor programs and graph functions do. */
#ifndef IR_ANALYSIS_FLOPS_H
#define IR_ANALYSIS_FLOPS_H

#include "ir/ir.h"

/* What is computed of values that are stored: an arithmetic operation or a mathematical function is
 * one for each lane, a multiply-add two. Indices, conditions, casts, loads and comparisons are
 * none. */
typedef struct Flops {
  double operations, multiply_adds;
  bool known; /* false: a loop's extent is not, or a call's callee can't be looked into */
} Flops;

/* Of one call of a function of the module: a tensor program, or a graph function whose operators
 * are calls of tensor programs already (LegalizeOps). `sizes` gives variables their values
 * (IntImm). An extent that changes with an outer loop counts as in the middle of that loop, which
 * is exact where it grows evenly; of two arms the longer one is taken, of a while loop one step. */
Flops flops_of(Node *module, Node *func, const Map *sizes);

#endif
