/* tir_mm.c -- the naive matrix product of examples/unity.tvms in C, timed: the peer of tir_mm.tvms.
 * Prints the median of the runs in milliseconds. Built by tir_mm.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) void mm(const float *restrict X, const float *restrict W, float *restrict Y, long n, long d, long m) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      for (long k = 0; k < d; k++) {
        if (k == 0) Y[i * m + j] = 0;
        Y[i * m + j] = Y[i * m + j] + X[i * d + k] * W[k * m + j];
      }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : 1; }

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 256;
  enum { RUNS = 31 };
  float *X = malloc(sizeof(float) * n * n), *W = malloc(sizeof(float) * n * n), *Y = malloc(sizeof(float) * n * n);
  for (long i = 0; i < n * n; i++) X[i] = (float)(i % 7), W[i] = (float)(i % 5);
  double times[RUNS];
  mm(X, W, Y, n, n, n);
  for (int r = 0; r < RUNS; r++) {
    double start = now();
    mm(X, W, Y, n, n, n);
    times[r] = now() - start;
  }
  qsort(times, RUNS, sizeof *times, compare);
  printf("%.3f\n", times[RUNS / 2]);
  return Y[n] < 0;
}
