/* cuda.h -- private to target/cuda/: device functions as CUDA C++, by the printer of target/c. */
#ifndef TARGET_CUDA_CUDA_H
#define TARGET_CUDA_CUDA_H

#include "target/c/c.h"

/* All device functions of a lowered module as one text. They take what those of the PTX take. */
const char *cuda_source(Node *module, const Target *target);
/* One of them, added to g->functions. */
void cuda_kernel(CGen *g, const char *name, PrimFunc *f);

/* A builtin that only GPUs have; false: it is none. (call.c, ptx_call.c) */
bool cuda_call(CGen *g, Call *n, const char *name, CText *out);
bool cuda_ptx_call(CGen *g, Call *n, const char *name);

extern const CDialect cuda_dialect;

#endif
