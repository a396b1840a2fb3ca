/* size_proof.h -- proofs that one size or offset is never larger than another. */
#ifndef LOWER_MEMORY_SIZE_PROOF_H
#define LOWER_MEMORY_SIZE_PROOF_H

#include "lower/memory/memory.h"

enum { SIZE_SAMPLES = 3 };

/* What is known of the sizes of a graph function. */
typedef struct SizeFacts {
  Function *f;
  Analyzer *arith;           /* memory_analyzer(f) */
  Map definitions;           /* Var bound by match_cast to its value */
  Map numbers[SIZE_SAMPLES]; /* for each sample: Var to int64_t * */
  Map evaluated;             /* Node to what it is in the samples */
} SizeFacts;

/* x <= y for all sizes that the function may be given; false: not proved. */
bool size_within(SizeFacts *facts, Node *x, Node *y);

#endif
