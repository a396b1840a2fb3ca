/* extern_library.c -- see extern_library.h. */
#include "target/extern_library.h"
#include <dlfcn.h>

static StrVec *paths; /* NULL: none */

const char *extern_library_load(const char *path) {
  if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL)) {
    const char *why = dlerror();
    return str_format("can't load '%s': %s", path, why ? why : "unknown error");
  }
  if (!paths) gc_root(paths = NEW(StrVec, 0));
  vec_push(paths, str_copy_n(path, strlen(path)));
  return NULL;
}

StrVec extern_libraries(void) { return paths ? *paths : (StrVec){0}; }
