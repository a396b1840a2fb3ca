/* backend.c -- the table of back ends. */
#include "target/target.h"

static const Backend *const backends[] = {
#define BACKEND(kind) &backend_##kind,
#include "target/backend.def"
};
enum { BACKENDS = sizeof backends / sizeof *backends };

const Backend *backend_find(const char *name) {
  for (int i = 0; i < BACKENDS; i++)
    if (str_same(backends[i]->name, name)) return backends[i];
  return NULL;
}

void backend_refuse(const char *name, EmitKind kind) {
  static const struct {
    const char *what, *target;
  } rows[] = {[EMIT_LLVM] = {"LLVM IR", "llvm"},
              [EMIT_ASM] = {"assembly", "llvm"},
              [EMIT_OBJECT] = {"objects", "llvm"},
              [EMIT_ARCHIVE] = {"archives", "llvm"},
              [EMIT_WASM] = {"WebAssembly", "llvm"},
              [EMIT_SHARED] = {"libraries", "llvm"},
              [EMIT_C] = {"C", "c"},
              [EMIT_OPENCL] = {"OpenCL C", "opencl"},
              [EMIT_PTX] = {"PTX", "cuda"},
              [EMIT_CUDA] = {"CUDA C++", "cuda"},
              [EMIT_METAL] = {"MSL", "metal"},
              [EMIT_WGSL] = {"WGSL", "webgpu"}};
  error_raisef("CompileError", (Span){0}, "the %s target writes no %s: use --target %s", name,
               rows[kind].what, rows[kind].target);
}

const Backend *const *backend_list(int *n) {
  *n = BACKENDS;
  return backends;
}

void backends_finish(void) {
  for (int i = 0; i < BACKENDS; i++)
    if (backends[i]->finish) backends[i]->finish();
}
