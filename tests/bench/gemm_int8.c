/* gemm_int8.c -- a compiled matrix product of bytes beside oneDNN: the same sizes, in turns, in one process.
 *   gemm_int8 MODULE.so M N K uint8|int8
 * The module has a function mm(A: (M, K) of that dtype, B: (K, N) of int8, C: (M, N) of int32). oneDNN has two ways, its gemm
 * and its primitive matmul. Prints medians in GOP/s, a multiply-add being two, and of the ratios in each round, with the
 * middle half of the rounds. */
#include "timing.h"
#include "tvms.h"
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 25, WAYS = 3 };

static void need(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "gemm_int8: %s: %s\n", what, tvms_last_error());
  exit(1);
}
static void check(dnnl_status_t s) { need(s == dnnl_success, "oneDNN refuses"); }

typedef struct Job {
  int m, n, k;
  int is_signed;
  TvmsTensor *t[3];
  int32_t *out; /* oneDNN's */
  TvmsFunc *mm;
  dnnl_primitive_t matmul;
  dnnl_stream_t stream;
  dnnl_memory_t memory[3];
} Job;

static TvmsTensor *matrix(int64_t rows, int64_t columns, DLDataType t) {
  TvmsTensor *out = NULL;
  need(!tvms_tensor_new(&out, 2, (int64_t[]){rows, columns}, t), "memory");
  unsigned char *data = tvms_tensor_data(out);
  for (int64_t i = 0; i < rows * columns * t.bits / 8; i++) data[i] = (unsigned char)(rand() >> 7);
  return out;
}

static void run_ours(Job *j) {
  const TvmsValue args[] = {{.p = j->t[0]}, {.p = j->t[1]}, {.p = j->t[2]}};
  const int types[] = {TVMS_TENSOR, TVMS_TENSOR, TVMS_TENSOR};
  TvmsValue result;
  int type;
  need(!tvms_func_call(j->mm, args, types, 3, &result, &type), "call");
}

static void run_gemm(Job *j) {
  int32_t zero = 0;
  void *a = tvms_tensor_data(j->t[0]), *b = tvms_tensor_data(j->t[1]);
  if (j->is_signed)
    check(dnnl_gemm_s8s8s32('N', 'N', 'F', j->m, j->n, j->k, 1, a, j->k, 0, b, j->n, 0, 0, j->out, j->n, &zero));
  else
    check(dnnl_gemm_u8s8s32('N', 'N', 'F', j->m, j->n, j->k, 1, a, j->k, 0, b, j->n, 0, 0, j->out, j->n, &zero));
}

static void run_matmul(Job *j) {
  dnnl_exec_arg_t args[] = {
      {DNNL_ARG_SRC, j->memory[0]}, {DNNL_ARG_WEIGHTS, j->memory[1]}, {DNNL_ARG_DST, j->memory[2]}};
  check(dnnl_primitive_execute(j->matmul, j->stream, 3, args));
  check(dnnl_stream_wait(j->stream));
}

static void set_up(Job *j) {
  dnnl_engine_t engine;
  dnnl_matmul_desc_t desc;
  dnnl_primitive_desc_t pd;
  dnnl_memory_desc_t d[3];
  dnnl_dims_t dims[] = {{j->m, j->k}, {j->k, j->n}, {j->m, j->n}};
  dnnl_data_type_t types[] = {j->is_signed ? dnnl_s8 : dnnl_u8, dnnl_s8, dnnl_s32};
  void *data[] = {tvms_tensor_data(j->t[0]), tvms_tensor_data(j->t[1]), j->out};
  check(dnnl_engine_create(&engine, dnnl_cpu, 0));
  check(dnnl_stream_create(&j->stream, engine, dnnl_stream_default_flags));
  for (int i = 0; i < 3; i++) {
    check(dnnl_memory_desc_init_by_tag(&d[i], 2, dims[i], types[i], dnnl_ab));
    check(dnnl_memory_create(&j->memory[i], &d[i], engine, data[i]));
  }
  check(dnnl_matmul_desc_init(&desc, &d[0], &d[1], NULL, &d[2]));
  check(dnnl_primitive_desc_create(&pd, &desc, NULL, engine, NULL));
  check(dnnl_primitive_create(&j->matmul, pd));
}

int main(int argc, char **argv) {
  if (argc != 6) return fprintf(stderr, "usage: gemm_int8 MODULE.so M N K uint8|int8\n"), 2;
  Job j = {.m = atoi(argv[2]), .n = atoi(argv[3]), .k = atoi(argv[4]), .is_signed = !strcmp(argv[5], "int8")};
  TvmsModule *module = NULL;
  need(!tvms_module_load(&module, argv[1]) && !tvms_module_function(&j.mm, module, "mm"), argv[1]);
  j.t[0] = matrix(j.m, j.k, (DLDataType){j.is_signed ? kDLInt : kDLUInt, 8, 1});
  j.t[1] = matrix(j.k, j.n, (DLDataType){kDLInt, 8, 1});
  j.t[2] = matrix(j.m, j.n, (DLDataType){kDLInt, 32, 1});
  size_t size = sizeof *j.out * (size_t)j.m * (size_t)j.n;
  need((j.out = malloc(size)) != NULL, "memory");
  set_up(&j);
  void (*const ways[WAYS])(Job *) = {run_ours, run_gemm, run_matmul};
  for (int w = 0; w < WAYS; w++) {
    ways[w](&j);
    need(w == 0 || !memcmp(tvms_tensor_data(j.t[2]), j.out, size), "the results differ");
  }
  double work = 2.0 * j.m * j.n * j.k, times[WAYS][RUNS], rate[WAYS];
  int repeat = 1 + (int)(5e8 / work);
  for (int r = 0; r < RUNS; r++)
    for (int w = 0; w < WAYS; w++) {
      rest(tvms_num_threads());
      ways[w](&j); /* wakes threads */
      double start = now();
      for (int i = 0; i < repeat; i++) ways[w](&j);
      times[w][r] = now() - start;
    }
  double ratio[WAYS][RUNS];
  for (int w = 0; w < WAYS; w++)
    for (int r = 0; r < RUNS; r++) ratio[w][r] = times[w][r] / times[0][r];
  for (int w = 0; w < WAYS; w++) rate[w] = work * repeat / 1e9 / median(times[w], RUNS);
  printf("%s %d x %d x %d: tvms %.1f, oneDNN gemm %.1f, matmul %.1f GOP/s", argv[5], j.m, j.n, j.k, rate[0], rate[1],
         rate[2]);
  static const char *const names[WAYS] = {NULL, "gemm", "matmul"};
  for (int w = 1; w < WAYS; w++) {
    double middle = median(ratio[w], RUNS); /* sorts them */
    printf(", ratio to %s %.2f (%.2f to %.2f)", names[w], middle, ratio[w][RUNS / 4], ratio[w][RUNS - 1 - RUNS / 4]);
  }
  printf("\n");
  return 0;
}
