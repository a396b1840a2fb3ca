/* operators.h -- what the files share that compute operators whose results have a shape known at
 * run time only. */
#ifndef TARGET_RUNTIME_OPERATORS_H
#define TARGET_RUNTIME_OPERATORS_H

#include "target/runtime/runtime_impl.h"

#pragma GCC visibility push(hidden)

typedef struct OperatorCall {
  const char *name; /* for messages */
  const TvmsValue *args;
  const int *types;
  int n;
  TvmsValue *ret;
  int *ret_type;
} OperatorCall;

/* Operand i, compact and on the CPU; NULL and an error. *own, if not NULL, is a copy that the
 * caller releases. */
const DLTensor *tvms__operand(const OperatorCall *c, int i, TvmsTensor **own);
const void *tvms__operand_data(const DLTensor *t);
/* Operand i as an axis, counted from the end if it is negative; -1 and an error. */
int tvms__operand_axis(const OperatorCall *c, int i, int ndim);

/* 0, or -1 and an error. (sets.c) */
int tvms__unique(OperatorCall *c);
int tvms__nonzero(OperatorCall *c);

#pragma GCC visibility pop
#endif
