/* serial.c -- a machine with one thread, without devices and libraries: in place of target/runtime/thread_pool.c, shim.c, device.c and what
 * that one needs. */
#include "target/runtime/device.h"
#include <stdlib.h>

void tvms_set_num_threads(int n) { (void)n; }
int tvms_num_threads(void) { return 1; }

bool tvms__pool_run(Loop *l, int threads) { return (void)l, (void)threads, false; }
void tvms__pool_end(void) {}

/* No other libraries, either. */
int tvms__shim_add(const char *name) {
  return tvms_set_error("packed function '%s' is not registered", name);
}

const char *tvms__device_text(DLDevice device, char *out) { return (void)device, (void)out, "the CPU"; }
void tvms__device_free(void *address) { (void)address, abort(); /* tensors are the CPU's */ }
