/* first_write.h -- what is written of a buffer before it is read, or for sure. */
#ifndef IR_ANALYSIS_FIRST_WRITE_H
#define IR_ANALYSIS_FIRST_WRITE_H

#include "ir/arith/arith.h"

/* Is every element of `buffer` that the statement reads known to be written by it before, so that
 * nothing is carried into it from outside or from an earlier step of a loop around it? `outside`
 * is known of the variables that are not the statement's own. */
bool writes_before_reading(Node *stmt, Node *buffer, Analyzer *outside);

/* Does each run of the block write all of a region (BufferRegion, in terms of its variables)? What
 * it does otherwise than by stores is taken for what it declares. `outside` knows what is around.
 */
bool writes_all(Node *block, Node *region, Analyzer *outside);
/* Does the statement use the buffer by its pointer, or through a view? */
bool is_accessed_otherwise(Node *stmt, Node *buffer);

#endif
