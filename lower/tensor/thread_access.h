/* thread_access.h -- private to ThreadSync: which elements of a block's memory a statement touches,
 * by thread. */
#ifndef LOWER_TENSOR_THREAD_ACCESS_H
#define LOWER_TENSOR_THREAD_ACCESS_H

#include "ir/arith/arith.h"
#include "lower/device/device.h"

enum { NOT_HERE = INT32_MIN };

/* Elements from an index on. */
typedef struct Access {
  Node *data, *index; /* index NULL: anywhere */
  int width;          /* elements */
  bool writes;
  Node *rest;   /* of the index, without its places: where all variables of threads are 0 */
  IntVec place; /* index - rest in each thread of the block, NOT_HERE if none; empty: not known */
  Map steps;    /* variables of loops in the index to the number of the step */
  NodeVec conditions; /* around it, of an index with exchanged columns */
} Access;
typedef VEC(Access) AccessVec;

/* What is known where the walk stands. */
typedef struct ThreadSpace {
  const char *scope;  /* of the memory in view */
  Node *axes[3];      /* variables of threadIdx.x, .y, .z; NULL: there is none */
  Map threads;        /* Var of each dimension of the block to its Range */
  Map steps;          /* variable of an open loop to the number of its step */
  Map loops;          /* variables of loops to their Range */
  Map lets;           /* variables to their values, which load nothing */
  NodeVec conditions; /* that hold where the walk stands */
  Map arrays;         /* variables of arrays that have a place in one piece to their Allocates */
  Analyzer *facts;
} ThreadSpace;

/* Into a branch that is taken where the condition holds. Gives what to leave it with. */
int enter_branch(ThreadSpace *s, Node *cond);
void leave_branch(ThreadSpace *s, int before);

/* Of a statement or an expression, in the order in which they are found. */
AccessVec accesses_of(ThreadSpace *s, Node *n);
void add_accesses(AccessVec *to, const AccessVec *from);

/* May two threads touch the same element, one of them to write? */
bool accesses_may_meet(ThreadSpace *s, const Access *a, const Access *b);

#endif
