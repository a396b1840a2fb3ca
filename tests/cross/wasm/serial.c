/* serial.c -- the thread pool of a machine with one thread: in place of target/runtime/thread_pool.c. */
#include "target/runtime/abi.h"

int32_t tvms_parallel(void *fn, void *closure, int64_t min, int64_t extent) {
  TvmsParallelBody body = (TvmsParallelBody)(uintptr_t)fn;
  return extent > 0 ? body(closure, min, min + extent) : 0;
}

void tvms_set_num_threads(int n) { (void)n; }
int tvms_num_threads(void) { return 1; }
