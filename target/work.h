/* work.h -- how much a loop does, so that threads are woken only where they bring more than they
 * cost. */
#ifndef TARGET_WORK_H
#define TARGET_WORK_H

#include "ir/ir.h"

/* So many steps of a parallel loop are worth a thread: an int64 of at least 1, made of what is
 * known before the loop. Estimated from the operations of a step and the extents of loops in it;
 * one step is enough if it calls what is not known. */
Node *work_grain(For *loop);
/* Is the loop known to have too little work for two threads? */
bool work_is_small(For *loop);

#endif
