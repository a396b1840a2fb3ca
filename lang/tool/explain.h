/* explain.h -- private to `tvms explain`: of kernels instead of codes. */
#ifndef LANG_TOOL_EXPLAIN_H
#define LANG_TOOL_EXPLAIN_H

#include "lang/tool/tool.h"

typedef struct ExplainKernels {
  const char *target, *kernel, *sizes, *module, *path; /* all but target and path may be NULL */
  ModelOptions model;
  bool json;
} ExplainKernels;
int explain_kernels(ExplainKernels *job);

#endif
