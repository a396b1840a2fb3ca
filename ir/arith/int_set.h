/* int_set.h -- sets of integers by their two ends, which are expressions. */
#ifndef IR_ARITH_INT_SET_H
#define IR_ARITH_INT_SET_H

#include "ir/arith/arith.h"

/* The values from min to max, both included; NULL: no end there. It is empty if max is less. */
typedef struct IntSet {
  Node *min, *max;
} IntSet;

IntSet int_set_of_range(const Range *r);

/* A set that holds all values of `e` as each variable of `sets` (Var to IntSet *) takes those of
 * its own; the ends of that may move with others. Variables that are not in `sets` are symbols. */
IntSet arith_int_set(Node *e, const Map *sets);
/* The same where facts are known of the symbols. */
IntSet arith_int_set_under(Analyzer *facts, Node *e, const Map *sets);

bool int_set_is_empty(Analyzer *a, IntSet s);          /* surely */
IntSet int_set_union(Analyzer *a, IntSet x, IntSet y); /* and what is between them */
IntSet int_set_intersection(Analyzer *a, IntSet x, IntSet y);

/* ---- regions (region.c) ---- */

typedef VEC(IntSet) IntSetVec;

/* A box that holds every element of a region (Ranges) as the loops (Var to Range) run. */
IntSetVec region_around(NodeVec region, const Map *loops);
/* The box that the region takes element by element while the predicate (NULL: true) holds; false if
 * it is not known to be one. */
bool region_exact(NodeVec region, const Map *loops, Node *predicate, Analyzer *facts,
                  IntSetVec *out);

#endif
