/* device.h -- what back ends for devices share: the text of the device functions goes into the code
 * of the host functions that launch them, which LLVM compiles. */
#ifndef TARGET_DEVICE_H
#define TARGET_DEVICE_H

#include "target/target.h"

/* The `load` and `emit` of a back end that has `device_code`. */
TvmsModule *device_load(Node *module, const Target *target);
void device_emit(Node *module, const Target *target, EmitKind kind, const char *path);

#endif
