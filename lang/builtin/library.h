/* library.h -- shared libraries of which only a module of the script language has need: loaded when
 * it is first used. */
#ifndef LANG_BUILTIN_LIBRARY_H
#define LANG_BUILTIN_LIBRARY_H

#include "ir/support/source.h"
#include <stddef.h>

/* A function of a library, and the pointer to a function that gets its address. */
typedef struct LibraryFunction {
  const char *name;
  void *pointer;
} LibraryFunction;

typedef struct Library {
  const char *user;    /* the module that needs it */
  const char *file;    /* "libpng16.so.16" */
  const char *package; /* Debian's */
  const LibraryFunction *functions;
  int n;
  void *handle; /* NULL until it is loaded */
} Library;

/* Loads the library and fills in the pointers, unless that was done. ImportError where it lacks. */
void library_load(Library *library, Span span);

#endif
