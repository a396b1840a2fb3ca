/* llvm_loader.c -- the llvm back end, in a library of its own that is loaded on first use.
 *
 * libLLVM takes some 25 ms to load, which only who compiles should pay for, and who has something
 * else to do meanwhile does not wait for. */
#include "target/target.h"
#include "target/installed.h"
#include <dlfcn.h>
#include <pthread.h>

#define LIBRARY "libtvms_llvm.so"

static void *open_library(void) {
  const char *path = installed_file(LIBRARY);
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

/* A process must not end meanwhile: what is loaded registers what is to be done at its end, and
 * that would be done to what is half made. */
static void finish(void) {
  if (ahead.runs) pthread_join(ahead.thread, NULL);
  ahead.runs = false;
}

static void prepare(void) {
  const char *path = installed_file(LIBRARY);
  if (*ahead.path || !path || strlen(path) >= sizeof ahead.path) return;
  strcpy(ahead.path, path);
  ahead.runs = !pthread_create(&ahead.thread, NULL, load_ahead, NULL);
}

static const Backend *plugin(void) {
  static const Backend *backend;
  if (backend) return backend;
  finish();
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
                              .finish = finish,
                              .load = load,
                              .emit = emit,
                              .device_code = device_code,
                              .device_text = EMIT_PTX};
