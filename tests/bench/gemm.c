/* gemm.c -- a compiled matrix product beside OpenBLAS: the same sizes, in turns, in one process.
 *   gemm MODULE.so M N K
 * The module has a function mm(A: (M, K), B: (K, N), C: (M, N)) of float32. Prints the medians of both in
 * GFLOP/s, the ratio, and the share of the peak that one core reaches on multiply-adds in registers. */
#include "timing.h"
#include "tvms.h"
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 15 };

/* GFLOP/s of multiply-adds on vectors in registers: 12 chains, more than any core has in flight. */
typedef float Vector __attribute__((vector_size(32)));
static double peak(void) {
  enum { STEPS = 2000000, CHAINS = 12 };
  double best = 0;
  for (int run = 0; run < 5; run++) {
    Vector acc[CHAINS], x, y;
    for (int i = 0; i < 8; i++) x[i] = 1.0f + 1e-7f * (float)i, y[i] = 1e-9f;
    for (int c = 0; c < CHAINS; c++) acc[c] = x * (float)(c + 1); /* equal ones would become one */
    double start = now();
    for (int s = 0; s < STEPS; s++)
#pragma GCC unroll 12
      for (int c = 0; c < CHAINS; c++) acc[c] = acc[c] * x + y;
    double rate = 2.0 * 8 * CHAINS * STEPS / (now() - start) / 1e9;
    for (int c = 1; c < CHAINS; c++) acc[0] += acc[c];
    if (acc[0][0] != 0 && rate > best) best = rate;
  }
  return best;
}

static TvmsTensor *matrix(int64_t rows, int64_t columns) {
  TvmsTensor *t = NULL;
  if (tvms_tensor_new(&t, 2, (int64_t[]){rows, columns}, (DLDataType){kDLFloat, 32, 1})) exit(1);
  float *data = tvms_tensor_data(t);
  for (int64_t i = 0; i < rows * columns; i++) data[i] = (float)rand() / (float)RAND_MAX - 0.5f;
  return t;
}

static void run_ours(TvmsFunc *mm, TvmsTensor **t) {
  const TvmsValue args[] = {{.p = t[0]}, {.p = t[1]}, {.p = t[2]}};
  const int types[] = {TVMS_TENSOR, TVMS_TENSOR, TVMS_TENSOR};
  TvmsValue result;
  int type;
  if (tvms_func_call(mm, args, types, 3, &result, &type)) {
    fprintf(stderr, "gemm: %s\n", tvms_last_error());
    exit(1);
  }
}

static void run_theirs(TvmsTensor **t, float *out, int m, int n, int k) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, tvms_tensor_data(t[0]), k,
              tvms_tensor_data(t[1]), n, 0, out, n);
}

static void check(const float *a, const float *b, int64_t count, int k) {
  for (int64_t i = 0; i < count; i++)
    if (fabsf(a[i] - b[i]) > 1e-5f * (float)k) {
      fprintf(stderr, "gemm: element %lld is %g, and of OpenBLAS %g\n", (long long)i, a[i], b[i]);
      exit(1);
    }
}

int main(int argc, char **argv) {
  if (argc != 5) return fprintf(stderr, "usage: gemm MODULE.so M N K\n"), 2;
  int m = atoi(argv[2]), n = atoi(argv[3]), k = atoi(argv[4]);
  TvmsModule *module = NULL;
  TvmsFunc *mm = NULL;
  if (tvms_module_load(&module, argv[1]) || tvms_module_function(&mm, module, "mm"))
    return fprintf(stderr, "gemm: %s\n", tvms_last_error()), 1;
  TvmsTensor *t[] = {matrix(m, k), matrix(k, n), matrix(m, n)};
  float *out = malloc(sizeof *out * (size_t)m * (size_t)n);
  run_ours(mm, t);
  run_theirs(t, out, m, n, k);
  check(tvms_tensor_data(t[2]), out, (int64_t)m * n, k);
  int repeat = 1 + (int)(2e8 / (2.0 * m * n * k));
  double ours[RUNS], theirs[RUNS], flops = 2.0 * m * n * k * repeat / 1e9;
  for (int r = 0; r < RUNS; r++) {
    rest(tvms_num_threads());
    run_ours(mm, t); /* wakes threads */
    double a = now();
    for (int i = 0; i < repeat; i++) run_ours(mm, t);
    ours[r] = now() - a;
    rest(tvms_num_threads());
    run_theirs(t, out, m, n, k);
    double b = now();
    for (int i = 0; i < repeat; i++) run_theirs(t, out, m, n, k);
    theirs[r] = now() - b;
  }
  double mine = flops / median(ours, RUNS), other = flops / median(theirs, RUNS);
  printf("%d x %d x %d: tvms %.1f, OpenBLAS %.1f GFLOP/s, ratio %.2f, %.0f %% of the peak of a core\n",
         m, n, k, mine, other, mine / other, 100 * mine / peak());
  return 0;
}
