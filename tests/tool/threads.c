/* threads.c -- a compiled function called from many threads at once: every call must give what one
 * alone gives. Run under ThreadSanitizer by test_artifacts.sh.
 *   threads MODULE.so */
#include "target/runtime/tvms.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, CALLS = 50, N = 64, D = 16 };

static TvmsFunc *function;
static float expected[THREADS][N * D];

static int call(int seed, float *out) {
  TvmsTensor *x = NULL;
  int64_t shape[] = {N, D};
  float numbers[N * D];
  for (int i = 0; i < N * D; i++) numbers[i] = (float)((i * 7 + seed) % 13) * 0.125f;
  DLDataType float32 = {kDLFloat, 32, 1};
  if (tvms_tensor_new(&x, 2, shape, float32) || tvms_tensor_set_bytes(x, numbers, sizeof numbers))
    return -1;
  TvmsValue arg = {.p = x}, ret;
  int type = TVMS_TENSOR, ret_type, status = tvms_func_call(function, &arg, &type, 1, &ret, &ret_type);
  tvms_release(x);
  if (status) return -1;
  status = tvms_tensor_get_bytes(ret.p, out, sizeof numbers);
  tvms_value_release(ret_type, ret);
  return status;
}

static void *run(void *seed) {
  float found[N * D];
  int i = (int)(intptr_t)seed;
  for (int k = 0; k < CALLS; k++)
    if (call(i, found) || memcmp(found, expected[i], sizeof found) != 0) return seed;
  return NULL;
}

int main(int argc, char **argv) {
  TvmsModule *m = NULL;
  pthread_t threads[THREADS];
  if (argc != 2 || tvms_module_load(&m, argv[1]) || tvms_module_function(&function, m, "main"))
    return fprintf(stderr, "threads: %s\n", tvms_last_error()), 1;
  tvms_release(m);
  for (int i = 1; i < THREADS; i++)
    if (call(i, expected[i])) return fprintf(stderr, "threads: %s\n", tvms_last_error()), 1;
  for (int i = 1; i < THREADS; i++) pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i);
  int wrong = 0;
  for (int i = 1; i < THREADS; i++) {
    void *seed = NULL;
    pthread_join(threads[i], &seed);
    wrong += seed != NULL;
  }
  tvms_release(function);
  printf("%d of %d threads saw other results\n", wrong, THREADS - 1);
  return wrong != 0;
}
