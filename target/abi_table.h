/* abi_table.h -- the functions of runtime/abi.def as data: what a back end must know to call them.
 */
#ifndef TARGET_ABI_TABLE_H
#define TARGET_ABI_TABLE_H

#include "ir/ir.h"

enum { RUNTIME_PARAMS_MAX = 16 };

typedef struct RuntimeFunction {
  const char *name;
  const char *ret, *params; /* as written in abi.def: "p", "(p frame, i64 nbytes)" */
  void (*address)(void);    /* in this process */
} RuntimeFunction;

extern const RuntimeFunction runtime_functions[];
extern const int runtime_function_count;

const RuntimeFunction *runtime_function_find(const char *name); /* NULL if there is none */
DataType runtime_function_result(const RuntimeFunction *f);     /* void for "v" */
/* The types of the parameters, at most RUNTIME_PARAMS_MAX; how many. */
int runtime_function_params(const RuntimeFunction *f, DataType *out);

#endif
