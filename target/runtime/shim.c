/* shim.c -- packed functions that other shared libraries have, found by their names.
 *
 * "openblas.matmul" is a function of the shim libtvms_openblas.so (shim.h), which is looked for
 * beside the runtime library and the program, where an installation has it, and by the loader.
 * "libmine.so:scale" is the symbol `scale`, a TvmsPackedFunc, of any shared library. What was found
 * is registered, so that it is looked for once. Plain C functions, of T.call_extern, are found by
 * such names too. */
#include "target/runtime/shim.h"
#include "target/runtime/runtime_impl.h"
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, NAME_SIZE = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* libraries are opened one by one */

/* ---- opening ---- */

static const char *loader_error(void) {
  const char *why = dlerror();
  return why ? why : "unknown error";
}

/* The shim in a folder, or in those of an installation next to it. */
static void *open_in(const char *file, size_t n, const char *name) {
  static const char *const places[] = {"", "tvms/", "../lib/tvms/"};
  char path[PATH_SIZE];
  while (n > 0 && file[n - 1] != '/') n--;
  for (size_t i = 0; n > 0 && i < sizeof places / sizeof *places; i++) {
    int len = snprintf(path, sizeof path, "%.*s%slibtvms_%s.so", (int)n, file, places[i], name);
    if (len < (int)sizeof path && !access(path, R_OK)) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return NULL;
}

static void *open_shim(const char *name) {
  char path[PATH_SIZE];
  Dl_info info;
  tvms__make_runtime_global();
  ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  void *shim = n > 0 ? open_in(path, (size_t)n, name) : NULL;
  bool known = !shim && dladdr((const void *)&lock, &info) && info.dli_fname;
  if (known) shim = open_in(info.dli_fname, strlen(info.dli_fname), name);
  if (shim) return shim;
  snprintf(path, sizeof path, "libtvms_%s.so", name);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* What the environment says to open in its place, TVMS_LIB_OPENBLAS=..., or the library's files. */
static const char *library_files(const TvmsShim *s) {
  char key[NAME_SIZE + 16] = "TVMS_LIB_";
  size_t n = strlen(key);
  for (const char *c = s->name; *c && n + 1 < sizeof key; c++)
    key[n++] = (char)toupper((unsigned char)*c);
  key[n] = '\0';
  const char *file = getenv(key);
  return file && *file ? file : s->files;
}

/* The first of the files that can be opened; NULL, and dlerror tells of the first one. */
static void *open_first(const char *files) {
  char file[PATH_SIZE];
  for (const char *at = files; *at; at += strspn(at, " ")) {
    size_t n = strcspn(at, " ");
    snprintf(file, sizeof file, "%.*s", (int)n, at);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
    at += n;
  }
  snprintf(file, sizeof file, "%.*s", (int)strcspn(files, " "), files);
  return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

static int start_shim(const TvmsShim *s, const char *function) {
  const char *files = library_files(s);
  if (s->abi_version != TVMS_ABI_VERSION)
    return tvms_set_error("the shim of %s is of version %d of the ABI, the runtime of %d", s->name,
                          s->abi_version, TVMS_ABI_VERSION);
  void *library = open_first(files);
  int first = (int)strcspn(files, " ");
  if (!library)
    return tvms_set_error("'%s' needs %.*s, which can't be loaded: %s (%s)", function, first, files,
                          loader_error(), s->origin);
  for (const TvmsShimSymbol *y = s->symbols; y->name; y++) {
    void *address = dlsym(library, y->name);
    if (!address)
      return dlclose(library),
             tvms_set_error("'%s' needs the function %s, which %.*s does not have", function,
                            y->name, first, files);
    memcpy(y->slot, &address, sizeof address);
  }
  return s->start ? s->start() : 0;
}

/* ---- names ---- */

static int add_function(const char *name, TvmsPackedFunc fn, DLDeviceType device) {
  TvmsFunc *f = NULL;
  if (tvms_func_new(&f, fn, NULL, NULL)) return -1;
  tvms_func_on_device(f, device);
  int status = tvms_func_register(name, f, 1);
  tvms_release(f);
  return status;
}

static int add_shim(const char *function, const char *name) {
  void *library = open_shim(name);
  const TvmsShim *s = library ? dlsym(library, "tvms_shim") : NULL;
  if (!s)
    return tvms_set_error("packed function '%s' is not registered, and there is no library "
                          "libtvms_%s.so that has it",
                          function, name);
  bool found = false;
  for (const TvmsShimFunction *f = s->functions; f->name; f++)
    found |= strcmp(f->name, function) == 0;
  if (!found)
    return tvms_set_error("packed function '%s' is not registered, and libtvms_%s.so does not have "
                          "it",
                          function, name);
  if (start_shim(s, function)) return -1;
  for (const TvmsShimFunction *f = s->functions; f->name; f++)
    if (add_function(f->name, f->fn, s->device ? s->device : kDLCPU)) return -1;
  return 0;
}

/* The address of "FILE:SYMBOL", whose library stays open; NULL and an error. */
static void *open_symbol(const char *name, const char *colon) {
  char file[PATH_SIZE];
  if (!colon || colon == name || !colon[1] || (size_t)(colon - name) >= sizeof file)
    return tvms_set_error("'%s' is no function of a library: FILE:SYMBOL", name), NULL;
  snprintf(file, sizeof file, "%.*s", (int)(colon - name), name);
  if (strchr(file, '/') && tvms__library_check(file)) return NULL;
  tvms__make_runtime_global();
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) return tvms_set_error("can't load '%s': %s", file, loader_error()), NULL;
  void *address = dlsym(library, colon + 1);
  if (!address) tvms_set_error("'%s' has no function '%s'", file, colon + 1), dlclose(library);
  return address;
}

void *tvms_extern_function(void *slot, void *name) {
  void *address = __atomic_load_n((void **)slot, __ATOMIC_ACQUIRE);
  if (address) return address;
  pthread_mutex_lock(&lock);
  address = open_symbol(name, strrchr(name, ':'));
  pthread_mutex_unlock(&lock);
  __atomic_store_n((void **)slot, address, __ATOMIC_RELEASE);
  return address;
}

static int add_symbol(const char *name, const char *colon) {
  void *address = open_symbol(name, colon);
  if (!address) return -1;
  TvmsPackedFunc fn;
  memcpy(&fn, &address, sizeof fn);
  return add_function(name, fn, kDLCPU);
}

/* The part before the dot as the name of a shim; false if it can't be one. */
static bool shim_name(const char *function, char *out) {
  size_t n = 0;
  while (n < NAME_SIZE - 1 && (isalnum((unsigned char)function[n]) || function[n] == '_'))
    out[n] = function[n], n++;
  out[n] = '\0';
  return n > 0 && function[n] == '.';
}

int tvms__shim_add(const char *name) {
  char shim[NAME_SIZE];
  const char *colon = strrchr(name, ':');
  if (!colon && !shim_name(name, shim))
    return tvms_set_error("packed function '%s' is not registered", name);
  pthread_mutex_lock(&lock);
  int status = colon ? add_symbol(name, colon) : add_shim(name, shim);
  pthread_mutex_unlock(&lock);
  return status;
}
