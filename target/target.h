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
  EMIT_WASM, /* linked with the runtime, for target/browser/tvms.mjs */
  EMIT_SHARED,
  EMIT_C,
  EMIT_OPENCL,
  EMIT_PTX,
  EMIT_CUDA,
  EMIT_METAL,
  EMIT_WGSL,
  EMIT_LOWERED /* the lowered module itself: the work of no back end */
} EmitKind;

/* What a compiled module can be written as: a row of form.def. */
typedef struct EmitForm {
  const char *word;   /* of --emit */
  const char *suffix; /* of files: ".so" */
  const char *target; /* that it is made by if none is named */
  bool is_text;
  EmitKind kind;
} EmitForm;

const EmitForm *
emit_form(const char *word); /* or its suffix without the dot; NULL if there is none */
const EmitForm *emit_form_of_path(const char *path); /* by its ending; NULL */
/* What a target's code is printed as. LLVM's is its IR; NULL: it has no text. */
const EmitForm *emit_form_of_target(const char *kind);
const char *emit_form_texts(void);   /* "asm, llvm-ir, ..." */
const char *emit_form_words(void);   /* "so, obj, archive, ..." */
const char *emit_form_endings(void); /* ".so, .o, .a, ..." */

typedef struct Backend {
  const char *name; /* as in a target's kind */
  const char *doc;
  bool takes_any_stage; /* runs a module at every stage: no lowering before it */
  /* Told that the others will be called soon: starts what takes time, and returns. NULL: nothing
   * does. */
  void (*prepare)(void);
  /* Told that the process ends: waits for what `prepare` started. NULL: nothing was. */
  void (*finish)(void);
  /* Compiles for this process. Raises CompileError. The module holds no collected memory, or roots
   * it. */
  TvmsModule *(*load)(Node *module, const Target *target);
  /* Writes a file: to a temporary name first, renamed when whole. NULL: this back end writes none.
   */
  void (*emit)(Node *module, const Target *target, EmitKind kind, const char *path);
  /* The text of the module's device functions, of kind `device_text`. NULL: this back end makes
   * code for CPUs only. */
  const char *(*device_code)(Node *module, const Target *target);
  EmitKind device_text;
  /* The same in the device's language, of kind `source_text`. NULL: that is `device_code`, or there
   * is none. */
  const char *(*device_source)(Node *module, const Target *target);
  EmitKind source_text;
} Backend;

/* What calls of modules that check themselves ("sim -sanitize") found: of the last call, NULL if
 * nothing, each told once; and with -report a table of what accesses of memory cost, of all. */
const DiagVec *sanitizer_faults(void);
const char *sanitizer_report(void);

const Backend *backend_find(const char *name); /* NULL if there is none */
const Backend *const *backend_list(int *n);
void backends_finish(void);                               /* before the process ends */
const Backend *backend_that_writes(const Target *target); /* raises ValueError if it does not */
/* The text of a lowered module in a form that is one. Raises. */
const char *emit_form_text(Node *lowered, const Target *target, const EmitForm *form);

/* Raises: this back end does not write files of this kind, but another one does. */
_Noreturn void backend_refuse(const char *name, EmitKind kind);

extern const Backend backend_llvm, backend_interp, backend_c, backend_cuda, backend_opencl,
    backend_metal, backend_webgpu, backend_sim;

#endif
