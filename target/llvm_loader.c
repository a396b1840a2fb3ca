/* llvm_loader.c -- the llvm back end, in a library of its own that is loaded on first use.
 *
 * libLLVM takes some 25 ms to load, which only who compiles should pay for, and who has something
 * else to do meanwhile does not wait for. The library is looked for beside the program, where the
 * build leaves it, then in ../lib/tvms, where it is installed. */
#include "target/target.h"
#include <dlfcn.h>
#include <pthread.h>
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

/* Where the library is; NULL: nowhere. */
static const char *library_path(void) {
  const char *folder = program_folder();
  const char *paths[] = {str_format("%s" LIBRARY, folder),
                         str_format("%s../lib/tvms/" LIBRARY, folder)};
  for (int i = 0; i < 2; i++)
    if (!access(paths[i], R_OK)) return paths[i];
  return NULL;
}

static void *open_library(void) {
  const char *path = library_path();
  if (!path)
    error_raisef("CompileError", (Span){0},
                 "the llvm back end is not installed: there is no " LIBRARY
                 " beside the program or "
                 "in ../lib/tvms");
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    error_raisef("CompileError", (Span){0}, "can't load the llvm back end: %s", dlerror());
  return library;
}

/* ---- loading ahead ---- */

static struct {
  pthread_t thread;
  bool runs;
  char path[4096]; /* the thread touches no collected memory */
} ahead;

/* Whoever wants the library opens it again, and is told what is wrong. */
static void *load_ahead(void *unused) {
  (void)unused;
  dlopen(ahead.path, RTLD_NOW | RTLD_LOCAL);
  return NULL;
}

static void prepare(void) {
  const char *path = library_path();
  if (*ahead.path || !path || strlen(path) >= sizeof ahead.path) return;
  strcpy(ahead.path, path);
  ahead.runs = !pthread_create(&ahead.thread, NULL, load_ahead, NULL);
}

static const Backend *plugin(void) {
  static const Backend *backend;
  if (backend) return backend;
  if (ahead.runs) pthread_join(ahead.thread, NULL);
  ahead.runs = false;
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
                              .prepare = prepare,
                              .load = load,
                              .emit = emit,
                              .device_code = device_code,
                              .device_text = EMIT_PTX};
