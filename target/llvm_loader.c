/* llvm_loader.c -- the llvm back end, in a library of its own that is loaded on first use.
 *
 * libLLVM takes some 25 ms to load, which only who compiles should pay for. The library is looked
 * for beside the program, where the build leaves it, then in ../lib/tvms, where it is installed. */
#include "target/target.h"
#include <dlfcn.h>
#include <unistd.h>

#define LIBRARY "libtvms_llvm.so"

/* The folder of the running program, with a '/' at the end. */
static const char *program_folder(void) {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0 || n == (ssize_t)sizeof path) return "./";
  while (n > 0 && path[n - 1] != '/') n--;
  return str_copy_n(path, (size_t)n);
}

static void *open_library(void) {
  const char *folder = program_folder();
  const char *paths[] = {str_format("%s" LIBRARY, folder),
                         str_format("%s../lib/tvms/" LIBRARY, folder)};
  for (int i = 0; i < 2; i++) {
    if (access(paths[i], R_OK)) continue;
    void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
      error_raisef("CompileError", (Span){0}, "can't load the llvm back end: %s", dlerror());
    return library;
  }
  error_raisef("CompileError", (Span){0},
               "the llvm back end is not installed: there is no %s and no %s", paths[0], paths[1]);
}

static const Backend *plugin(void) {
  static const Backend *backend;
  if (backend) return backend;
  backend = dlsym(open_library(), "tvms_llvm_backend");
  if (!backend)
    error_raisef("CompileError", (Span){0}, LIBRARY " is not the llvm back end of this program");
  return backend;
}

static TvmsModule *load(Node *module, const Target *target) {
  return plugin()->load(module, target);
}

static void emit(Node *module, const Target *target, EmitKind kind, const char *path) {
  plugin()->emit(module, target, kind, path);
}

static const char *device_code(Node *module, const Target *target) {
  return plugin()->device_code(module, target);
}

const Backend backend_llvm = {.name = "llvm",
                              .doc = "machine code of the host or another CPU, through LLVM",
                              .load = load,
                              .emit = emit,
                              .device_code = device_code,
                              .device_text = EMIT_PTX};
