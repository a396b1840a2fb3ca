/* count.h -- private to target/speed: what a block of threads does. */
#ifndef TARGET_SPEED_COUNT_H
#define TARGET_SPEED_COUNT_H

#include "lower/device/device.h"
#include "target/speed/speed.h"

enum { WARP = 32, MOST_THREADS = 1024, SCHEDULERS = 4 /* of an SM: a warp each in a clock */ };

/* ---- values (values.c) ---- */

/* Of one thread, in one step of the loops around. */
typedef struct Values {
  Map numbers;  /* Var to int64_t * */
  Map lets;     /* Var to its value */
  int64_t lane; /* of vectors: which element */
} Values;

void value_bind(Values *v, Node *var, int64_t number);
bool value_of(Values *v, Node *n, int64_t *out); /* false: it loads, or has other variables */
bool value_mentions(Values *v, Node *n, Node *var);

/* ---- memory (traffic.c) ---- */

/* Where the threads of a block touch memory at once: byte addresses; threads without are off. */
typedef struct Touch {
  int64_t at[MOST_THREADS];
  bool on[MOST_THREADS];
  int count, nbytes; /* threads; bytes of each */
} Touch;

/* Turns that the warps take at the banks; and how few they could be. */
void touch_turns(const Touch *t, double *turns, double *least);
/* Sectors of 32 bytes that are touched, without those in `seen`, which takes them in. */
int64_t touch_sectors(const Touch *t, Map *seen);

/* ---- counting (count.c) ---- */

typedef enum Latency { OF_GLOBAL, OF_SHARED, OF_TENSOR, OF_EXCHANGE, LATENCIES } Latency;

extern const double count_latencies[LATENCIES]; /* clocks, about */

/* Of a block that does something once. Pipes work side by side between barriers: what stands before
 * the first one, and after the last, is kept apart, since more may come there. */
typedef struct Cost {
  double busy[PIPES];
  double first[PIPES], last[PIPES]; /* up to the first barrier; from the last one on */
  double between;                   /* clocks from the first barrier to the last */
  double waited;                    /* clocks up to the last barrier for which nothing is busy */
  double latency[LATENCIES];        /* since then, of what is under way */
  bool has_barrier;
  int in_flight; /* copies that need not be there when it waits for one; -1: it waits for none */
} Cost;

/* An access of global memory. */
typedef struct Stream {
  Node *data;
  double bytes;  /* of a block, by sectors */
  double mark;   /* the same in accesses of the same elements */
  bool along[3]; /* do blocks along this axis touch other elements? */
  bool stores;
} Stream;

typedef struct Count {
  KernelSpeed *out; /* totals are of a block */
  bool contracts;   /* a * b + c is one instruction */
  Values values;
  Node *blocks[3], *threads[3]; /* variables; NULL */
  NodeVec conditions;
  For *inner;         /* the innermost loop; NULL */
  int outside;        /* conditions that stand around it */
  Cost before;        /* what it does once, before its steps */
  Map written;        /* tensors that the kernel stores to */
  Map seen;           /* of the values of a store, by their hashes */
  bool narrows_pairs; /* of float32 to 16 bits by an instruction */
  bool overlaps;      /* products run on while it waits at barriers */
  double times;       /* how often a block comes here */
  VEC(Stream) streams;
} Count;

/* Of all that a launch does. */
Cost count_body(Count *c, Node *n);
Cost count_matrix_call(Count *c, Call *n, bool *is_one); /* count_matrix.c */

/* What count.c and count_matrix.c share. */
Cost cost_nothing(void);
void cost_add(Cost *to, Cost more); /* one after the other */
void cost_busy(Cost *c, Pipe pipe, double clocks);
void cost_scale(Cost *c, double n); /* the work of it, which has no barrier */
double cost_clocks(const Cost *c);  /* that pipes are busy, one phase after the other */
int count_active(Count *c, bool on[MOST_THREADS]); /* threads for which the conditions hold */
int count_warps(const Count *c, const bool *on);
/* The threads touch `nbytes` from `index` on, in units of `unit` bytes. */
Cost count_touch(Count *c, Node *data, Node *index, int unit, int nbytes, bool stores);

#endif
