/* match.h -- which lines of two texts are the same ones: for showing how the texts differ. */
#ifndef IR_SUPPORT_MATCH_H
#define IR_SUPPORT_MATCH_H

#include "ir/support/str.h"
#include "ir/support/vec.h"

typedef VEC(const char *) LineVec;

/* The lines of a text, interned, so that equal lines are one pointer. */
LineVec match_lines(const char *text);

/* For each line of a, the line of b that it is matched with, or -1: a longest common subsequence,
 * where the texts are not too long for one. */
int *match_find(const LineVec *a, const LineVec *b);

#endif
