/* module.c -- modules: shared libraries that tvms built, and what a compiler made in this process.
 */
#include "target/runtime/device.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct TvmsModule {
  int n;
  char **names;
  TvmsPackedFunc *functions;
  void **selves;
  void *library;                  /* of dlopen, or NULL */
  const TvmsModuleParams *params; /* that were loaded for it, or NULL */
  void *state;
  void (*release)(void *state);
  DLDevice device;
  DeviceState *devices; /* what its code has on devices, or NULL */
};

static void module_destroy(void *self) {
  TvmsModule *m = self;
  for (int i = 0; m->names && i < m->n; i++) free(m->names[i]);
  free(m->names);
  free(m->functions);
  free(m->selves);
  tvms__device_state_free(m->devices);
  if (m->release) m->release(m->state);
  if (m->params) tvms__params_release(m->params);
  if (m->library) dlclose(m->library);
}

DeviceState **tvms__module_devices(void) {
  TvmsModule *m = tvms__current_module();
  return m ? &m->devices : NULL;
}

/* A module with room for n functions, still to be filled in. */
static TvmsModule *module_alloc(int n) {
  if (n < 0) return tvms_set_error("a module can't have %d functions", n), NULL;
  TvmsModule *m = tvms__object_new(TVMS_MODULE, sizeof *m, 0, module_destroy);
  if (!m) return NULL;
  m->device = (DLDevice){kDLCPU, 0};
  size_t room = (size_t)n + 1;
  m->names = calloc(room, sizeof *m->names);
  m->functions = calloc(room, sizeof *m->functions);
  m->selves = calloc(room, sizeof *m->selves);
  if (!m->names || !m->functions || !m->selves) {
    tvms_release(m);
    return tvms__error_no_memory(room * sizeof(void *)), NULL;
  }
  return m;
}

static int module_add(TvmsModule *m, const char *name, TvmsPackedFunc fn, void *self) {
  if (!name || !fn) return tvms_set_error("function %d of a module has no name or address", m->n);
  m->names[m->n] = tvms_string_copy(name);
  if (!m->names[m->n]) return -1;
  m->functions[m->n] = fn;
  m->selves[m->n++] = self;
  return 0;
}

/* After an error `state` is still the caller's. */
int tvms_module_new(TvmsModule **out, int n, const TvmsExport *functions, void *state,
                    void (*release)(void *state)) {
  TvmsModule *m = module_alloc(n);
  if (!m) return -1;
  for (int i = 0; i < n; i++)
    if (module_add(m, functions[i].name, functions[i].fn, functions[i].self))
      return tvms_release(m), -1;
  m->state = state;
  m->release = release;
  *out = m;
  return 0;
}

/* ---- shared libraries ---- */

/* Compiled libraries refer to the functions of abi.def by name. This table makes the linker keep
 * them all in a program that holds the static library. */
#define ABI(ret, name, args, doc) (void (*)(void)) name,
__attribute__((used)) static void (*const abi_functions[])(void) = {
#include "target/runtime/abi.def"
};

void tvms__make_runtime_global(void) {
  Dl_info info;
  if (!dladdr((const void *)&abi_functions, &info) || !info.dli_fname) return;
  void *self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  if (self) dlclose(self);
}

static int check_info(const TvmsModuleInfo *info, const char *path) {
  if (!info)
    return tvms_set_error("'%s' is not a module: it has no tvms_module_info (tvms build makes one)",
                          path);
  if (info->abi_version != TVMS_ABI_VERSION)
    return tvms_set_error("'%s' was built for version %d of the ABI, but this runtime has version "
                          "%d: build it again",
                          path, info->abi_version, TVMS_ABI_VERSION);
  return 0;
}

static int load_failed(const char *path) {
  const char *why = dlerror();
  if (!why) why = "unknown error";
  bool unresolved = strstr(why, "undefined symbol: tvms_");
  return tvms_set_error("can't load '%s': %s%s", path, why,
                        unresolved ? " (a program that holds the static runtime must be linked "
                                     "with -rdynamic)"
                                   : "");
}

/* The path as dlopen takes it: a name without a directory is one of the current directory. Freed by
 * the caller. */
static char *library_path(const char *path) {
  size_t n = strlen(path) + 3;
  char *name = malloc(n);
  if (!name) return tvms__error_no_memory(n), NULL;
  snprintf(name, n, "%s%s", strchr(path, '/') ? "" : "./", path);
  return name;
}

/* "opencl -device-id=1"; targets for a CPU have other names than devices. */
static DLDevice device_of_target(const char *target) {
  static const char id[] = " -device-id=";
  char name[DEVICE_TEXT_SIZE] = "";
  DLDevice device;
  size_t n = strcspn(target, " ");
  const char *number = strstr(target, id);
  if (n + 8 >= sizeof name) n = 0;
  memcpy(name, target, n);
  if (tvms_device_parse(name, &device)) device = (DLDevice){kDLCPU, 0};
  if (number) device.device_id = atoi(number + strlen(id));
  tvms__error_clear();
  return device;
}

/* A module for a device that is not there is of no use: who loads it is told why. */
static int check_device(DLDevice device, const char *path) {
  if (device.device_type == kDLCPU || tvms__device_api(device)) return 0;
  char why[600];
  snprintf(why, sizeof why, "%s", tvms_last_error());
  return tvms_set_error("can't load '%s', which is for a device: %s", path, why);
}

/* A module of what `info` lists; `path` names it. */
static int module_of_info(TvmsModule **out, const TvmsModuleInfo *info, const char *path) {
  if (check_info(info, path)) return -1;
  TvmsModule *m = module_alloc(info->count);
  if (!m) return -1;
  m->device = device_of_target(info->target);
  int status = check_device(m->device, path);
  for (int i = 0; i < info->count && !status; i++)
    status = module_add(m, info->names[i], info->functions[i], NULL);
  if (status) return tvms_release(m), -1;
  *out = m;
  return 0;
}

int tvms_module_linked(TvmsModule **out, const TvmsModuleInfo *info) {
  return module_of_info(out, info, "the module of this program");
}

int tvms_module_load(TvmsModule **out, const char *path) {
  if (!path || !*path) return tvms_set_error("the path of the module to load is empty");
  char *name = library_path(path);
  if (!name) return -1;
  tvms__make_runtime_global();
  if (tvms__library_check(name)) return free(name), -1;
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  free(name);
  if (!library) return load_failed(path);
  TvmsModule *m = NULL;
  if (module_of_info(&m, dlsym(library, "tvms_module_info"), path)) return dlclose(library), -1;
  m->library = library;
  const TvmsModuleParams *params = dlsym(library, "tvms_module_params");
  if (params && tvms__params_load(params, path)) return tvms_release(m), -1;
  m->params = params;
  *out = m;
  return 0;
}

/* ---- looking up ---- */

/* "main, f, g", cut to what fits. */
static void names_text(const TvmsModule *m, char *out, size_t size) {
  size_t n = 0;
  out[0] = '\0';
  for (int i = 0; i < m->n && n < size; i++)
    n += (size_t)snprintf(out + n, size - n, "%s%s", i ? ", " : "", m->names[i]);
  if (n >= size) memcpy(out + size - 4, "...", 4);
}

int tvms_module_function(TvmsFunc **out, TvmsModule *m, const char *name) {
  for (int i = 0; i < m->n; i++) {
    if (strcmp(m->names[i], name) != 0) continue;
    *out = tvms__func_of_module(m, m->functions[i], m->selves[i]);
    return *out ? 0 : -1;
  }
  char names[400];
  names_text(m, names, sizeof names);
  return tvms_set_error("the module has no function '%s'; it has %s", name, m->n ? names : "none");
}

int tvms_module_function_count(const TvmsModule *m) { return m->n; }

DLDevice tvms_module_device(const TvmsModule *m) { return m->device; }

const char *tvms_module_function_name(const TvmsModule *m, int i) {
  return i >= 0 && i < m->n ? m->names[i] : NULL;
}
