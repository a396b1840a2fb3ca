/* parallel.c -- what a parallel loop costs that does nothing: when it may run anywhere, when its parts must run at the same time
 * in all threads, with workers that still look for work and with workers asleep.
 *   parallel [THREADS]
 * Prints medians in microseconds, and where the tenths below and above begin, of a loop with one part for each thread. */
#include "target/runtime/abi.h"
#include "target/runtime/tvms.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int threads;

enum { RUNS = 10000, WAKES = 300 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int32_t nothing(void *closure, int64_t begin, int64_t end) {
  (void)closure, (void)begin, (void)end;
  return 0;
}

/* Each part waits until all have begun, so none runs two; a thread that is not scheduled holds up all. */
static int32_t meet(void *begun, int64_t begin, int64_t end) {
  atomic_fetch_add((atomic_int *)begun, (int)(end - begin));
  while (atomic_load((atomic_int *)begun) < threads)
    ;
  return 0;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void measure(const char *what, TvmsParallelBody body, int runs, useconds_t pause) {
  double *t = malloc(sizeof *t * (size_t)runs);
  for (int i = 0; i < runs; i++) {
    if (pause) usleep(pause);
    atomic_int begun = 0;
    double start = now();
    tvms_parallel((void *)(uintptr_t)body, &begun, 0, threads, 1);
    t[i] = now() - start;
  }
  qsort(t, (size_t)runs, sizeof *t, by_size);
  printf("%d threads, %s: %.2f us (%.2f to %.2f)\n", threads, what, t[runs / 2], t[runs / 10], t[runs * 9 / 10]);
  free(t);
}

int main(int argc, char **argv) {
  threads = argc > 1 ? atoi(argv[1]) : tvms_num_threads();
  tvms_set_num_threads(threads);
  measure("empty", nothing, RUNS, 0);
  measure("in all threads at once", meet, RUNS, 0);
  measure("empty, after 2 ms of rest", nothing, WAKES, 2000);
  measure("in all threads at once, after 2 ms of rest", meet, WAKES, 2000);
  return 0;
}
