/* library.c -- loads shared libraries by name, and finds their functions. */
#include "lang/builtin/library.h"
#include "lang/value/value.h"
#include <dlfcn.h>
#include <string.h>

void library_load(Library *library, Span span) {
  if (library->handle) return;
  void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    raise("ImportError", span, "%s needs the library %s (package %s)", library->user, library->file,
          library->package);
  for (int i = 0; i < library->n; i++) {
    const LibraryFunction *f = &library->functions[i];
    void *address = dlsym(handle, f->name);
    if (!address) raise("ImportError", span, "%s has no function %s", library->file, f->name);
    memcpy(f->pointer, &address, sizeof address);
  }
  library->handle = handle;
}
