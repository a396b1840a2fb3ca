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

const Backend *const *backend_list(int *n) {
  *n = BACKENDS;
  return backends;
}
