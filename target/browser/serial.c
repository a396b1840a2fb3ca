/* serial.c -- what of the runtime needs threads and other libraries, where there are none: in place
 * of thread_pool.c and shim.c. */
#include "target/runtime/runtime_impl.h"

void tvms_set_num_threads(int n) { (void)n; }
int tvms_num_threads(void) { return 1; }

bool tvms__pool_run(Loop *l, int threads) { return (void)l, (void)threads, false; }
void tvms__pool_end(void) {}

int tvms__shim_add(const char *name) {
  return tvms_set_error("packed function '%s' is not registered", name);
}

void *tvms_extern_function(void *slot, void *name) {
  (void)slot;
  return tvms_set_error("'%s': there are no shared libraries here", (char *)name), NULL;
}
