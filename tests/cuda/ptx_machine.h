/* ptx_machine.h -- a block of threads as the emulator runs it. */
#ifndef TESTS_CUDA_PTX_MACHINE_H
#define TESTS_CUDA_PTX_MACHINE_H

#include "ptx_parse.h"

struct Machine {
  PtxKernel *kernel;
  PtxCode *code;
  unsigned at[3], block[3];
  int n; /* threads */
  uint64_t *registers;
  char *shared, *local;
  size_t shared_size;
  void **params;
  PtxMemory *memory;
  int *pc;
  bool *here, *waits; /* takes part in this step; is at the barrier */
  bool *held;         /* waits for other lanes of its warp */
  bool *sleeps;       /* found a barrier in shared memory whose phase is not over */
  bool faulty;
  char *why;
  size_t size;
};

bool machine_fault(Machine *m, const Instr *i, const char *what);
uint64_t get(Machine *m, int t, const Operand *o);
void set(Machine *m, int t, const Operand *o, uint64_t value);
bool is_on(const Machine *m, const Instr *i, int t); /* does thread t do it? */
void *address(Machine *m, const Instr *i, int t, const Operand *o, Space space, size_t nbytes);

#define each_thread(m, i, t)                                                                       \
  for (int t = 0; t < (m)->n && !(m)->faulty; t++)                                                 \
    if (is_on(m, i, t))

/* A bulk copy has come (ptx_barrier.c). */
bool barrier_complete(Machine *m, const Instr *i, int t, const Operand *o, size_t nbytes);
Execute thread_barrier;

/* Of warps (ptx_warp.c, ptx_wmma.c, ptx_wgmma.c): instructions that lanes do together. */
Execute warp_shuffle, warp_ldmatrix, warp_mma, warp_wmma, warp_wgmma;

#endif
