/* metal.h -- private to target/metal/: device functions as MSL, the Metal Shading Language, which
 * is a C++14, by the printer of target/c. */
#ifndef TARGET_METAL_METAL_H
#define TARGET_METAL_METAL_H

#include "target/c/c.h"

/* All device functions of a lowered module as one text. */
const char *metal_source(Node *module, const Target *target);
/* One of them, added to g->functions. */
void metal_kernel(CGen *g, const char *name, PrimFunc *f);

extern const CHelper metal_helpers[];
extern const CDialect metal_dialect;

#endif
