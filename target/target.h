/* target.h -- the door of target/: a back end is a row of backend.def and a struct of functions.
 *
 * In: a module whose functions are all flat PrimFuncs (see lower/lower.h). Out: a TvmsModule that
 * runs in this process, or files. Back ends with heavy libraries load them on first use. */
#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include "ir/ir.h"
#include "ir/target.h"
#include "target/runtime/tvms.h"

typedef enum {
  EMIT_LLVM,
  EMIT_ASM,
  EMIT_OBJECT,
  EMIT_ARCHIVE,
  EMIT_SHARED,
  EMIT_C,
  EMIT_DEVICE
} EmitKind;

typedef struct Backend {
  const char *name; /* as in a target's kind */
  const char *doc;
  bool takes_any_stage; /* runs a module at every stage: no lowering before it */
  /* Compiles for this process. Raises CompileError. The module holds no collected memory, or roots
   * it. */
  TvmsModule *(*load)(Node *module, const Target *target);
  /* Writes a file: to a temporary name first, renamed when whole. NULL: this back end writes none.
   */
  void (*emit)(Node *module, const Target *target, EmitKind kind, const char *path);
} Backend;

const Backend *backend_find(const char *name); /* NULL if there is none */
const Backend *const *backend_list(int *n);

extern const Backend backend_llvm, backend_interp, backend_c, backend_opencl;

#endif
