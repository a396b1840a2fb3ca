/* metadata.h -- the form of a tensor in metadata: what printing and reading it share. */
#ifndef IR_PRINT_METADATA_H
#define IR_PRINT_METADATA_H

#include "ir/ir.h"

/* The header and the elements of a constant, in base64. */
void metadata_add_tensor(Str *out, const ConstData *d);

/* The first eight bytes of a saved tensor. */
#define METADATA_TENSOR_MAGIC 0xDD5E40F096B4A13FULL

#endif
