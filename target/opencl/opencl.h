/* opencl.h -- private to target/opencl/: device functions as OpenCL C, by the printer of target/c.
 */
#ifndef TARGET_OPENCL_OPENCL_H
#define TARGET_OPENCL_OPENCL_H

#include "target/c/c.h"

/* All device functions of a lowered module as one text. */
const char *opencl_source(Node *module, const Target *target);
/* One of them, added to g->functions. */
void opencl_kernel(CGen *g, const char *name, PrimFunc *f);

extern const CDialect opencl_dialect;

#endif
