/* extern_library.h -- shared libraries whose C functions programs call (T.call_extern). */
#ifndef TARGET_EXTERN_LIBRARY_H
#define TARGET_EXTERN_LIBRARY_H

#include "ir/ir.h"

/* Opens a library: what runs in this process finds its functions, and shared libraries that are
 * built from now on are linked with it. NULL, or why not. */
const char *extern_library_load(const char *path);

/* The paths, in the order of loading. */
StrVec extern_libraries(void);

#endif
