/* threads.h -- private to LowerThreadsToLoops: a function whose threads become loops. */
#ifndef LOWER_DEVICE_THREADS_H
#define LOWER_DEVICE_THREADS_H

#include "lower/device/device.h"

typedef struct Threads {
  const char *kernel;
  const Target *target;
  Node *vars[3]; /* of threadIdx.x, .y, .z; NULL: there is none */
  /* The same of a thread, in indices of what it has for itself: no reason for values to differ. */
  Node *owners[3];
  int64_t extents[3], count;
  Agreement agreement;
  NodeVec memory; /* buffers that a block needs beside the function's own */
  Node *active;   /* the buffer that tells which threads are in the branch; NULL: all are */
} Threads;

/* The number of the thread in its block, int32. */
Node *thread_number(const Threads *t, Span span);
/* A buffer with a place for a value of each thread, and the thread's own place. */
Node *thread_array(Threads *t, const char *name, DataType elem, Span span);
Node *thread_place(const Threads *t, Node *array, Span span);
/* The statement, run by each thread that is active, one after the other. */
Node *each_thread(Threads *t, Node *stmt);

/* Does it hold an exchange of values between the threads of a warp, or a barrier of them? */
bool has_exchange(Node *n);
/* The same without exchanges: what is to be done before it is added to `before`. */
Node *lower_exchanges(Threads *t, Node *n, NodeVec *before);

#endif
