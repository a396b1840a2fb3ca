/* dlfcn.h -- there are no shared libraries. */
#ifndef TARGET_BROWSER_DLFCN_H
#define TARGET_BROWSER_DLFCN_H

#include <stddef.h>

#define RTLD_NOW    1
#define RTLD_LOCAL  2
#define RTLD_GLOBAL 4
#define RTLD_NOLOAD 8

typedef struct Dl_info {
  const char *dli_fname;
} Dl_info;

static inline void *dlopen(const char *path, int how) { return (void)path, (void)how, NULL; }
static inline int dlclose(void *library) { return (void)library, 0; }
static inline void *dlsym(void *library, const char *name) {
  return (void)library, (void)name, NULL;
}
static inline const char *dlerror(void) { return "there are no shared libraries here"; }
static inline int dladdr(const void *address, Dl_info *out) { return (void)address, (void)out, 0; }

#endif
