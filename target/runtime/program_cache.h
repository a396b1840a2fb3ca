/* program_cache.h -- what drivers compiled, in files, so that a process need not wait for what an
 * earlier one made.
 *
 * They lie in the folder that TVMS_CACHE names (empty: nothing is kept), else in
 * $XDG_CACHE_HOME/tvms or ~/.cache/tvms. Processes share it; what can't be read or written is as if
 * it were not there. */
#ifndef TARGET_RUNTIME_PROGRAM_CACHE_H
#define TARGET_RUNTIME_PROGRAM_CACHE_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* The binary of `*n` bytes that was kept for just this key, for the caller to free(); or NULL. The
 * key tells all that the binary depends on: device, driver, options, source. */
void *tvms__program_cache_get(const char *key, size_t *n);

/* Keeps it. Those that were not used for longest go when all have more than 256 MB. */
void tvms__program_cache_put(const char *key, const void *binary, size_t n);

#pragma GCC visibility pop
#endif
