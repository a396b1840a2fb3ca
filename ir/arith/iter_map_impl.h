/* iter_map_impl.h -- what iter_map.c and iter_inverse.c share. */
#ifndef IR_ARITH_ITER_MAP_IMPL_H
#define IR_ARITH_ITER_MAP_IMPL_H

#include "ir/arith/arith_impl.h"
#include "ir/arith/iter_map.h"
#include "ir/support/stack.h"

/* How the domain of a variable is made larger. */
typedef struct Padding {
  int64_t front, multiple;
  int64_t more; /* in front, from the next round on */
} Padding;

typedef struct Detect {
  const Map *loops;
  Analyzer *facts;
  VEC(IterMark *) marks;
  bool failed;  /* part of the predicate was not understood */
  bool pads;    /* domains may be made larger: */
  Map paddings; /* Var to Padding */
  bool again;   /* a padding changed */
} Detect;

/* A sum without its base, as scale * sum; sum is from 0 to extent - 1, its splits in the order of
 * their scales. */
typedef struct Fused {
  Factor scale, extent;
  IterSum sum;
} Fused;

/* False if the sum is none such. With gaps, the splits' values only need to tell from the sum's;
 * the form is then of no use. */
bool fuse(const IterSum *s, bool gaps, Fused *f);

#endif
