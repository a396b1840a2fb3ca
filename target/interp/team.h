/* team.h -- private to target/interp/: steps that the threads of a block run together. */
#ifndef TARGET_INTERP_TEAM_H
#define TARGET_INTERP_TEAM_H

#include "target/interp/interp.h"

/* One thread of a block. */
typedef struct Lane {
  Frame *f;
  Status status;          /* of the step that it ran last */
  int at[3];              /* threadIdx.x, .y, .z */
  int id;                 /* its number in the block, x fastest */
  bool is_checked;        /* are its races errors? */
  uint32_t warp_interval; /* grows at barriers of its warp */
} Lane;

/* Threads that run a step: all of a block, or those that came to it. */
struct Team {
  Lane **lanes;
  int n;
  int extents[3]; /* of the block */
};

/* Runs a step in each thread; lane->status is what came of it. */
void team_step(const Step *s, Team *t);
void team_steps(const StepVec *steps, Team *t); /* each after the other, while threads go on */
Team team_of(const Team *of, Status status);    /* those whose last step ended so */

/* While a thread runs, what it touches is noted as its own. */
void lane_enter(const Lane *lane);
void team_leave(void);
int64_t lane_eval(const Lane *lane, const Code *c);

typedef struct LoopStep {
  Step step;
  const Code *min, *extent; /* extent: the condition of a while loop */
  const Step *body;
  int slot;
  DataType t;
} LoopStep;
void team_for(const LoopStep *n, Team *t);
void team_while(const LoopStep *n, Team *t);
void team_branch(const Code *cond, const Step *then, const Step *orelse, Team *t);
/* `allocate` for the first thread; the slot and the memory that it sets are those of all. */
void team_share(Team *t, void allocate(const void *context, Frame *f), const void *context,
                int slot, int memory);

int thread_dim(const char *tag); /* 0: threadIdx.x, 1: .y, 2: .z; -1: it is none of a block's */
/* The threads of one dimension; `loop` has no body yet. checked: always as threads, else only if
 * they synchronise. */
const Step *compile_launch(Compiler *c, Node *var, int dim, LoopStep loop, Node *body,
                           bool checked);

/* collective.c */
const Step *compile_barrier(Compiler *c, Call *n);
const Step *compile_allreduce(Compiler *c, Call *n);
/* A step whose expressions made the shuffles from there on. */
const Step *compile_exchange(Compiler *c, const Step *inner, int from);

#endif
