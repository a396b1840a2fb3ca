/* output.h -- files that back ends write: under a temporary name beside their own, renamed when
 * whole, so that a failure leaves what was there before. */
#ifndef TARGET_OUTPUT_H
#define TARGET_OUTPUT_H

#include "ir/ir.h"

/* The temporary name. Raises where `path` is there and no regular file: to rename onto a device or
 * a pipe would replace it. */
const char *output_begin(const char *path);
/* Renames, or with an error removes and raises it. */
void output_end(const char *path, const char *temporary, Error *error);
void output_write(const char *path, const char *text);

#endif
