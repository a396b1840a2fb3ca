/* conv.c -- a compiled convolution beside oneDNN: the same sizes, in turns, in one process.
 *   conv MODULE.so CHANNELS SIZE FILTERS KERNEL STRIDE GROUPS
 * The module has a graph main(x: (1, C, S, S)) of float32, padded by K / 2; its weights are the constants of conv.tvms. oneDNN
 * chooses the way to compute it and the layouts that it likes best for all tensors, and is given them so. Prints the medians
 * of both in GFLOP/s of a direct convolution and of the time that the thread ran, and the ratio. */
#include "timing.h"
#include "tvms.h"
#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 15 };

static void need(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "conv: %s: %s\n", what, tvms_last_error());
  exit(1);
}

static TvmsTensor *tensor(int64_t a, int64_t b, int64_t c, int64_t d) {
  TvmsTensor *t = NULL;
  need(!tvms_tensor_new(&t, 4, (int64_t[]){a, b, c, d}, (DLDataType){kDLFloat, 32, 1}), "memory");
  float *data = tvms_tensor_data(t);
  for (int64_t i = 0; i < tvms_tensor_size(t); i++) data[i] = (float)rand() / (float)RAND_MAX - 0.5f;
  return t;
}

/* As conv.tvms has them. */
static TvmsTensor *weights(int f, int c, int k) {
  TvmsTensor *t = tensor(f, c, k, k);
  float *data = tvms_tensor_data(t);
  for (int64_t i = 0; i < tvms_tensor_size(t); i++) data[i] = (float)(i * 7919 % 2003) / 2003.0f - 0.5f;
  return t;
}

static TvmsTensor *run_ours(TvmsFunc *f, TvmsTensor *x) {
  const TvmsValue arg = {.p = x};
  const int type = TVMS_TENSOR;
  TvmsValue result;
  int result_type;
  need(!tvms_func_call(f, &arg, &type, 1, &result, &result_type), "call");
  return result.p;
}

/* ---- oneDNN ---- */

typedef struct Theirs {
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_primitive_t conv;
  dnnl_memory_t x, w, y;
} Theirs;

static void check(dnnl_status_t s) { need(s == dnnl_success, "oneDNN refuses"); }

static dnnl_memory_t plain(Theirs *t, const dnnl_memory_desc_t *d, TvmsTensor *data) {
  dnnl_memory_t m;
  check(dnnl_memory_create(&m, d, t->engine, tvms_tensor_data(data)));
  return m;
}

static void reorder(Theirs *t, dnnl_memory_t from, dnnl_memory_t to) {
  const dnnl_memory_desc_t *a, *b;
  dnnl_primitive_desc_t d;
  dnnl_primitive_t p;
  check(dnnl_memory_get_memory_desc(from, &a));
  check(dnnl_memory_get_memory_desc(to, &b));
  check(dnnl_reorder_primitive_desc_create(&d, a, t->engine, b, t->engine, NULL));
  check(dnnl_primitive_create(&p, d));
  dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  check(dnnl_primitive_execute(p, t->stream, 2, args));
  check(dnnl_stream_wait(t->stream));
}

/* Memory in the layout that the primitive wants. */
static dnnl_memory_t liked(Theirs *t, dnnl_primitive_desc_t d, dnnl_query_t what) {
  dnnl_memory_t m;
  check(dnnl_memory_create(&m, dnnl_primitive_desc_query_md(d, what, 0), t->engine, DNNL_MEMORY_ALLOCATE));
  return m;
}

static Theirs set_up(TvmsTensor *image, TvmsTensor *kernel, int c, int s, int f, int k, int stride, int groups) {
  Theirs d;
  int out = (s + k / 2 * 2 - k) / stride + 1, pad = k / 2;
  dnnl_dims_t xd = {1, c, s, s}, yd = {1, f, out, out}, wd = {f, c, k, k}, gd = {groups, f / groups, c / groups, k, k};
  dnnl_dims_t strides = {stride, stride}, pads = {pad, pad};
  int wn = groups > 1 ? 5 : 4;
  dnnl_memory_desc_t x, w, y, px, pw, py;
  check(dnnl_engine_create(&d.engine, dnnl_cpu, 0));
  check(dnnl_stream_create(&d.stream, d.engine, dnnl_stream_default_flags));
  check(dnnl_memory_desc_init_by_tag(&x, 4, xd, dnnl_f32, dnnl_format_tag_any));
  check(dnnl_memory_desc_init_by_tag(&w, wn, groups > 1 ? gd : wd, dnnl_f32, dnnl_format_tag_any));
  check(dnnl_memory_desc_init_by_tag(&y, 4, yd, dnnl_f32, dnnl_format_tag_any));
  check(dnnl_memory_desc_init_by_tag(&px, 4, xd, dnnl_f32, dnnl_nchw));
  check(dnnl_memory_desc_init_by_tag(&pw, wn, groups > 1 ? gd : wd, dnnl_f32, groups > 1 ? dnnl_goihw : dnnl_oihw));
  check(dnnl_memory_desc_init_by_tag(&py, 4, yd, dnnl_f32, dnnl_nchw));
  dnnl_convolution_desc_t desc;
  dnnl_primitive_desc_t pd;
  check(dnnl_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_auto, &x, &w, NULL, &y,
                                           strides, pads, pads));
  check(dnnl_primitive_desc_create(&pd, &desc, NULL, d.engine, NULL));
  check(dnnl_primitive_create(&d.conv, pd));
  d.x = liked(&d, pd, dnnl_query_src_md);
  d.w = liked(&d, pd, dnnl_query_weights_md);
  d.y = liked(&d, pd, dnnl_query_dst_md);
  reorder(&d, plain(&d, &px, image), d.x);
  reorder(&d, plain(&d, &pw, kernel), d.w);
  return d;
}

static void run_theirs(Theirs *d) {
  dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, d->x}, {DNNL_ARG_WEIGHTS, d->w}, {DNNL_ARG_DST, d->y}};
  check(dnnl_primitive_execute(d->conv, d->stream, 3, args));
  check(dnnl_stream_wait(d->stream));
}

static void compare(Theirs *d, TvmsTensor *ours, int f, int out, int k) {
  dnnl_memory_desc_t plain_desc;
  TvmsTensor *theirs = tensor(1, f, out, out);
  check(dnnl_memory_desc_init_by_tag(&plain_desc, 4, (dnnl_dims_t){1, f, out, out}, dnnl_f32, dnnl_nchw));
  reorder(d, d->y, plain(d, &plain_desc, theirs));
  const float *a = tvms_tensor_data(ours), *b = tvms_tensor_data(theirs);
  for (int64_t i = 0; i < (int64_t)f * out * out; i++)
    if (fabsf(a[i] - b[i]) > 1e-5f * (float)k) {
      fprintf(stderr, "conv: element %lld is %g, and of oneDNN %g\n", (long long)i, a[i], b[i]);
      exit(1);
    }
}

int main(int argc, char **argv) {
  if (argc != 8) return fprintf(stderr, "usage: conv MODULE.so CHANNELS SIZE FILTERS KERNEL STRIDE GROUPS\n"), 2;
  int c = atoi(argv[2]), s = atoi(argv[3]), f = atoi(argv[4]), k = atoi(argv[5]), stride = atoi(argv[6]),
      groups = atoi(argv[7]), out = (s + k / 2 * 2 - k) / stride + 1;
  TvmsModule *module = NULL;
  TvmsFunc *conv = NULL;
  need(!tvms_module_load(&module, argv[1]) && !tvms_module_function(&conv, module, "main"), argv[1]);
  TvmsTensor *x = tensor(1, c, s, s);
  Theirs d = set_up(x, weights(f, c / groups, k), c, s, f, k, stride, groups);
  run_theirs(&d);
  compare(&d, run_ours(conv, x), f, out, c / groups * k * k);
  double work = 2.0 * out * out * f * (c / groups) * k * k, ours[RUNS], theirs[RUNS];
  int repeat = 1 + (int)(1e8 / work);
  for (int r = 0; r < RUNS; r++) {
    double a = now_of_thread();
    for (int i = 0; i < repeat; i++) tvms_value_release(TVMS_TENSOR, (TvmsValue){.p = run_ours(conv, x)});
    double b = now_of_thread();
    for (int i = 0; i < repeat; i++) run_theirs(&d);
    ours[r] = b - a;
    theirs[r] = now_of_thread() - b;
  }
  double mine = work * repeat / 1e9 / median(ours, RUNS), other = work * repeat / 1e9 / median(theirs, RUNS);
  printf("%d x %d x %d, %d filters of %d x %d, stride %d, groups %d: tvms %.1f, oneDNN %.1f GFLOP/s, ratio %.2f\n", c, s, s, f,
         k, k, stride, groups, mine, other, mine / other);
  return 0;
}
