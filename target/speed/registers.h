/* registers.h -- how many registers of 32 bits a thread of a kernel takes, estimated from its
 * PTX. */
#ifndef TARGET_SPEED_REGISTERS_H
#define TARGET_SPEED_REGISTERS_H

#include "ir/support/map.h"
#include "ir/support/vec.h"

typedef struct PtxKernel {
  const char *name;
  int registers;    /* of a thread; an estimate */
  int instructions; /* as they stand in the text */
  int64_t shared;   /* bytes that are told in the text */
} PtxKernel;
typedef VEC(PtxKernel) PtxKernelVec;

/* The kernels of a text that LLVM wrote, in order. */
PtxKernelVec ptx_kernels(const char *text);

#endif
