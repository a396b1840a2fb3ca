/* hoist.h -- what moves out of loops that do not change it: HoistIfThenElse and HoistExpression. */
#ifndef PASSES_TENSOR_HOIST_H
#define PASSES_TENSOR_HOIST_H

#include "passes/tensor/tensor.h"

typedef struct Hoist {
  bool lets, choices; /* beside branches */
} Hoist;

Node *hoist_from_loops(Node *prim_func, Hoist what);

#endif
