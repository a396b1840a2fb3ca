/* speed.h -- how long kernels take on a GPU that is not there: what they do is counted in their
 * lowered form, and set against what a chip can do (target_speed.def). */
#ifndef TARGET_SPEED_SPEED_H
#define TARGET_SPEED_SPEED_H

#include "ir/ir.h"
#include "ir/target.h"

/* What an SM is busy with, in clocks. */
typedef enum Pipe { TENSOR_CORES, FLOATS, SHARED_MEMORY, L2_CACHE, ISSUE, PIPES } Pipe;

/* Of one launch. */
typedef struct KernelSpeed {
  const char *name;
  const TargetSpeed *chip;
  double grid[3];
  int64_t block[3], threads, shared_bytes;
  int registers, instructions; /* of a thread, as its PTX has them; 0: not known */
  const char *assumed;         /* "n = 1024": sizes that were not told; or NULL */
  const char *unknown; /* what could not be worked out, so that the worst is taken; or NULL */

  double flops, tensor_flops; /* operations; those by tensor cores */
  double tensor_rate;         /* of its tensor cores' kind, multiply-adds of an SM in a clock */
  double least_bytes;         /* of tensors that are touched, each element once */
  double wanted_bytes;        /* of global memory, as threads ask for them */
  double l2_bytes, dram_bytes;
  double shared_load_bytes, wide_load_bytes; /* those by ldmatrix, or 8 and more at a time */
  double shared_turns, conflicts; /* of warps at the banks; those beyond one for 128 bytes */
  double barriers;                /* that a block waits at */

  int64_t resident;        /* blocks of an SM at a time */
  const char *resident_by; /* what lets it have no more */
  double occupancy;        /* of the SM's threads */
  double pipes[PIPES];     /* clocks of an SM for a block */
  double alone;            /* clocks of a block by itself */
  double limit, time;      /* seconds: by operations or bytes alone; and in all */
  const char *limit_by, *bound_by;
} KernelSpeed;
typedef VEC(KernelSpeed) KernelSpeedVec;

/* Of the kernels of a lowered module for `target`, in order; `sizes` has numbers (int64_t *) by
 * interned names of variables. Raises if the target's chip is not known. */
KernelSpeedVec speed_of_kernels(Node *lowered, const Target *target, const Map *sizes);

/* "tensor cores" */
const char *speed_pipe_name(Pipe pipe);

#endif
