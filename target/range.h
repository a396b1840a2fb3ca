/* range.h -- what back ends know of integers: bounds by the loops and sizes around them. */
#ifndef TARGET_RANGE_H
#define TARGET_RANGE_H

#include "ir/ir.h"

typedef struct Range64 {
  int64_t lo, hi; /* both included */
} Range64;

/* Of one function. Zero knows nothing. */
typedef struct Ranges {
  Map vars;    /* Var to Range64 *: integers that are known better than by dtype */
  Map derived; /* Binary to Range64 *, as long as no variable is bound anew */
} Ranges;

Range64 range_of(Ranges *known, Node *n); /* that of its dtype, if no more is known */
void range_bind(Ranges *known, Node *var, Range64 r);
Range64 range_of_loop(Ranges *known, For *n); /* of its variable */
/* Does the range of a signed sum, difference or product show that it did not wrap? */
bool range_cannot_wrap(Ranges *known, Node *n);

#endif
