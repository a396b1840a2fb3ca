/* ptx_emulator.h -- runs PTX on the CPU, slowly: what the tests of code for NVIDIA's GPUs stand on.
 */
#ifndef TESTS_CUDA_PTX_EMULATOR_H
#define TESTS_CUDA_PTX_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTX_MOST_PARAMS = 64, PTX_NAME = 256 };

typedef struct PtxModule PtxModule;
typedef struct PtxKernel {
  char name[PTX_NAME];
  int params;
  char types[PTX_MOST_PARAMS][8]; /* "u64" */
  unsigned threads[3];            /* at most, of a block */
  struct PtxCode *code;
  struct PtxKernel *next;
} PtxKernel;

/* NULL: the text is no PTX that is understood; `why` says where. */
PtxModule *ptx_module_new(const char *text, char *why, size_t size);
void ptx_module_free(PtxModule *m);
PtxKernel *ptx_module_kernels(PtxModule *m);

/* Where `nbytes` of global memory lie; NULL: they are not there. */
typedef void *PtxMemory(uint64_t address, size_t nbytes);

/* Runs all blocks, one after the other. False: a fault, and `why`. */
bool ptx_run(PtxKernel *k, const unsigned grid[3], const unsigned block[3], size_t dynamic_shared,
             void **params, PtxMemory *memory, char *why, size_t size);

#endif
