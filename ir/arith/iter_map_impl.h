/* iter_map_impl.h -- what the files of iteration maps share. */
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

/* Does a loop variable stand in the expression? */
bool iter_moves(const Detect *d, Node *e);
/* The mark of a loop variable; NULL if its range is not known, or moves itself. */
IterMark *iter_mark_of_var(Detect *d, Node *var);
/* The mark of a sum from iter_fuse, which is 0 at its least. */
IterMark *iter_mark_of_sum(Detect *d, const Fused *f);
/* Do the two move without regard to each other? */
bool iter_marks_apart(const IterMark *a, const IterMark *b);
bool iter_same_splits(const IterSum *a, const IterSum *b);
bool iter_all_apart(const IterSum *s);

/* False on overflow. */
bool iter_add_split(IterSum *s, IterSplit x);
bool iter_add_scaled(Detect *d, IterSum *s, const IterSum *x, const Factor *k); /* s += k * x */
IterSum iter_copy(const IterSum *s);
/* The least and greatest value, if all is constant. */
bool iter_const_range(const IterSum *s, __int128 *lo, __int128 *hi);
/* A sum that is known to wrap in its dtype is not what the form says. */
bool iter_is_exact(const IterSum *s, DataType t);

/* False if the sum is none such. With gaps, the splits' values only need to tell from the sum's;
 * the form is then of no use. */
bool iter_fuse(const IterSum *s, bool gaps, Fused *f);

#endif
