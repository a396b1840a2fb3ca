/* shim.h -- what the runtime and the shims of libraries agree on.
 *
 * A shim makes packed functions of a library's own: "openblas.matmul" is the function matmul of
 * libtvms_openblas.so, which exports a TvmsShim under the name tvms_shim. The library itself is
 * opened when one of its functions is first called. */
#ifndef TARGET_RUNTIME_SHIM_H
#define TARGET_RUNTIME_SHIM_H

#include "target/runtime/tvms.h"

typedef struct TvmsShimSymbol {
  const char *name; /* in the library; NULL ends a list */
  void *slot;       /* a pointer to a function, set before the first call */
} TvmsShimSymbol;

/* The row of a function that has the name of its slot. */
#define TVMS_SHIM_SYMBOL(name)                                                                     \
  { #name, &name }

typedef struct TvmsShimFunction {
  const char *name; /* with that of the library: "openblas.matmul"; NULL ends a list */
  TvmsPackedFunc fn;
} TvmsShimFunction;

typedef struct TvmsShim {
  int32_t abi_version;
  const char *name; /* "openblas" */
  const char
      *files; /* as the loader knows them, the preferred first: "libfast.so.2 libfast.so.1" */
  const char *origin; /* what brings them: "Debian has it in the package libopenblas0" */
  const TvmsShimSymbol *symbols;
  const TvmsShimFunction *functions;
  int (*start)(void);  /* called once, with all symbols known; NULL: nothing to do */
  DLDeviceType device; /* where its functions take tensors; 0: on the CPU */
} TvmsShim;

#endif
