/* abi.h -- what generated code and the runtime agree on: the functions of abi.def, and the table
 * that every compiled shared library exports under the name tvms_module_info. */
#ifndef TARGET_RUNTIME_ABI_H
#define TARGET_RUNTIME_ABI_H

#include "target/runtime/tvms.h"

struct TvmsModuleInfo {
  int32_t abi_version; /* TVMS_ABI_VERSION */
  int32_t count;
  const char *const *names;
  const TvmsPackedFunc *functions;
  const char *const *signatures; /* text for people: "(x: Tensor((n, d), float32)) -> ..." */
  const char *target;            /* the target text it was built for */
};
extern const TvmsModuleInfo tvms_module_info; /* of an object that is linked with the program */

/* Constants that lie in a .safetensors file beside the library, which exports this under the name
 * tvms_module_params if it has any. */
typedef struct TvmsParam {
  const char *name, *dtype; /* as the file has them: "F32" */
  int64_t nbytes;
  int32_t align;
  const void **slot; /* where the code finds the address */
} TvmsParam;
typedef struct TvmsModuleParams {
  int32_t count;
  const char *file; /* its name, without a folder */
  const TvmsParam *params;
} TvmsModuleParams;

/* Body of a parallel loop: iterations [begin, end). 0, or -1 with the error set. */
typedef int32_t (*TvmsParallelBody)(void *closure, int64_t begin, int64_t end);

/* Prototypes; `types` spelled as abi.def does. */
#define i32                       int32_t
#define i64                       int64_t
#define f64                       double
#define p                         void *
#define v                         void
#define ABI(ret, name, args, doc) ret name args;
#include "target/runtime/abi.def"
#undef i32
#undef i64
#undef f64
#undef p
#undef v

#endif
