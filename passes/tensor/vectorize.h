/* vectorize.h -- what the files of VectorizeLoop share: the loop that becomes lanes, and rewriting
 * of expressions and statements into what they are in all lanes at once.
 *
 * Values that differ by lane get `lanes` times the lanes they had, those of one step of the loop
 * side by side. Values that all steps have in common stay as they are until they meet such a one.
 */
#ifndef PASSES_TENSOR_VECTORIZE_H
#define PASSES_TENSOR_VECTORIZE_H

#include "ir/ir.h"

typedef struct Vectorize {
  Node *var; /* the loop variable */
  int lanes;
  Node *ramp;  /* what stands for it */
  Map vectors; /* variables of lets that became vectors: old to new */
  Map own;     /* pointers allocated in the loop: each lane has its part */
  Map wide;    /* buffers on them: old to new */
  Node *mask;  /* the lanes that run this, or NULL: all */
  bool some;   /* the mask is known to hold for one lane at least */
  int loops;   /* inner loops around this */
  bool failed; /* what was rewritten last can't be a vector */
} Vectorize;

static inline Node *vector_fail(Vectorize *v, Node *n) {
  v->failed = true;
  return n;
}

/* An expression in all lanes; itself if it is the same in all of them. */
Node *vector_expr(Mutator *m, Node *n);
/* A statement in all lanes, those of the mask. */
Node *vector_stmt(Mutator *m, Node *n);

/* The variable of a let whose value became `value`: a new one if that is a vector. */
Node *vector_bind(Mutator *m, Node *var, Node *value);
/* `now` is what `old` became: as a vector of `step` lanes for each step of the loop. */
Node *vector_widen(Vectorize *v, Node *old, Node *now, int step);
/* The index of an access in all lanes: of memory that each lane has its part of, in that part. */
Node *vector_index(Mutator *m, Node *buffer, Node *index);
/* The mask for an access of `step` lanes for each step of the loop; NULL: all. */
Node *vector_mask(Vectorize *v, int step);
/* The mask of what runs only where `cond` holds too. */
Node *vector_mask_and(Vectorize *v, Node *cond);
/* May this, the same in all lanes, be computed although perhaps no lane runs? */
bool vector_may_run(Vectorize *v, Node *n);

#endif
