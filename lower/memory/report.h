/* report.h -- how well the storage of a planned function is used. */
#ifndef LOWER_MEMORY_REPORT_H
#define LOWER_MEMORY_REPORT_H

#include "lower/memory/memory.h"

typedef struct MemoryUse {
  const char *function;
  int64_t bytes, lower_bound; /* of the storage; live at one place at most */
  PlanItems items;            /* tensors in it */
  int places, unplanned;      /* places in the text; tensors of their own */
  bool typical;               /* dims without an upper bound were taken as MEMORY_TYPICAL_DIM */
} MemoryUse;

/* Of a graph function after StaticPlanBlockMemory; NULL if there is none of this name. */
MemoryUse *memory_use(Node *module, const char *name);
/* Its tensors over time, as SVG. */
const char *memory_use_svg(const MemoryUse *u);

#endif
