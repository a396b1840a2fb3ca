/* timing.h -- what the C programs of tests/bench share: the clock, and medians. */
#ifndef TESTS_BENCH_TIMING_H
#define TESTS_BENCH_TIMING_H

#include <stdlib.h>
#include <time.h>

/* Seconds. */
static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds that this thread ran: for what one thread does while others want the core. */
static inline double now_of_thread(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of several threads: until those that look for more work gave up. OpenBLAS's and OpenMP's take the core from who comes next. */
static inline void rest(int threads) {
  if (threads > 1) nanosleep(&(struct timespec){.tv_nsec = 80000000}, NULL);
}

static inline int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Sorts the times. */
static inline double median(double *t, int n) {
  qsort(t, (size_t)n, sizeof *t, by_size);
  return t[n / 2];
}

#endif
