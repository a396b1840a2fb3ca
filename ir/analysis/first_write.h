/* first_write.h -- does each step of a loop write what it reads of a buffer? */
#ifndef IR_ANALYSIS_FIRST_WRITE_H
#define IR_ANALYSIS_FIRST_WRITE_H

#include "ir/arith/arith.h"

/* Is every element of `buffer` that the statement reads known to be written by it before, so that
 * nothing is carried into it from outside or from an earlier step of a loop around it? `outside`
 * is known of the variables that are not the statement's own. */
bool writes_before_reading(Node *stmt, Node *buffer, Analyzer *outside);

#endif
