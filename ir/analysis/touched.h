/* touched.h -- which part of a buffer is touched while loops run. */
#ifndef IR_ANALYSIS_TOUCHED_H
#define IR_ANALYSIS_TOUCHED_H

#include "ir/arith/arith.h"

/* The least and the greatest index of each dimension of a buffer that is touched; NULL where that
 * is not known. Empty: nothing so far. first and last: what blocks under conditions do not get
 * past, whatever lo and hi say, as the domains of their variables do not; NULL: no more than lo and
 * hi. exact: all between is touched, as far as first and last go. */
typedef struct Touched {
  Node *buffer;
  NodeVec lo, hi, first, last;
  bool exact;
} Touched;

/* Does the condition say no more than that values are in the domains of their variables? `facts`
 * knows the loops around the block. */
bool is_domain_bound(const BlockRealize *r, Node *cond, Analyzer *facts);
/* Adds a BufferRegion over all steps of the loops (For), its variables replaced by `bindings`. */
void touch_region(Touched *t, Node *region, const Map *bindings, NodeVec loops, Analyzer *facts);
/* Adds a BufferRegion of a block. */
void touch(Touched *t, const BlockRealize *r, Node *region, NodeVec loops, Analyzer *facts);
/* As Ranges; a dimension that is not known, or not less than the buffer's, is whole. */
NodeVec touched_ranges(const Touched *t, Analyzer *facts);
/* What each step of the loop (the region is told in terms of its variable) touches is known to be
 * apart from what all other steps do. */
bool touched_apart(const Touched *t, const For *loop, Analyzer *facts);

#endif
