/* allreduce.h -- private to LowerThreadAllreduce: a call that was read, and the two ways to do it.
 */
#ifndef LOWER_DEVICE_ALLREDUCE_H
#define LOWER_DEVICE_ALLREDUCE_H

#include "lower/device/device.h"

typedef struct Allreduce {
  CommReducer *by;
  NodeVec sources, results;
  Node *cond;
  NodeVec memory;        /* a shared buffer for each value */
  Node *number, *group;  /* of the thread in its group; of the group in the block */
  int64_t count, groups; /* threads of a group, groups of a block */
  bool in_a_row;         /* the threads of a group have neighbouring numbers in the block */
  int warp;              /* threads that exchange registers; 1: none */
  bool by_hand;          /* ThreadSync sees to no barriers in the function */
  Span span;
} Allreduce;

Node *allreduce_barrier(Span span);
/* Before the memory is used again, in another step of a loop: where ThreadSync does not. */
void allreduce_end(Allreduce *a, NodeVec *stmts);
Node *allreduce_source(Allreduce *a, int i); /* what a thread brings: nothing where cond fails */
Node *allreduce_give(Allreduce *a, int i, Node *value); /* to what the call names */
Node *allreduce_int(Allreduce *a, int64_t value);
/* A shared buffer of so many elements for each value, in a->memory. */
void allreduce_allocate(Allreduce *a, int64_t count);

/* By exchanges within warps; through shared memory only from warp to warp. */
bool allreduce_fits_warps(const Allreduce *a);
Node *allreduce_by_warps(Allreduce *a);

#endif
