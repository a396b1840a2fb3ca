/* gpu_peer.c -- how long cuBLAS and cuDNN take, for gpu.sh. They and NVIDIA's driver are looked for
 * when it runs; nothing of CUDA is needed to compile it. gpu_peer arch sm_80 gpu_peer gemm M N K
 * seconds: cublasGemmEx, float16, sums in float32 gpu_peer conv BATCH CHANNELS SIZE FILTERS KERNEL
 * cudnnConvolutionForward, the fastest algorithm it finds gpu_peer attention BATCH LENGTH HEADS
 * WIDTH       its two products alone, by cublasGemmStridedBatchedEx Status 1, with the reason: a
 * library is not there. */
#include "timing.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 15, CALLS = 10 };

/* Of the libraries' headers. */
enum { DATA_16F = 2, DATA_32F = 0, COMPUTE_32F = 68, OP_N = 0, OP_T = 1, ALGO_DEFAULT = -1 };
enum { CUDNN_HALF = 2, CUDNN_FLOAT = 0, CUDNN_NCHW = 0, CUDNN_CROSS = 1, CUDNN_TENSOR_OPS = 1 };
enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

static void *library(const char *const *names) {
  for (int i = 0; names[i]; i++) {
    void *found = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
    if (found) return found;
  }
  fprintf(stderr, "gpu_peer: there is no %s\n", names[0]);
  exit(1);
}

static void *symbol(void *from, const char *name) {
  void *found = dlsym(from, name);
  if (found) return found;
  fprintf(stderr, "gpu_peer: the library has no %s\n", name);
  exit(1);
}

static void need(int status, const char *what) {
  if (!status) return;
  fprintf(stderr, "gpu_peer: %s: status %d\n", what, status);
  exit(1);
}

/* ---- the driver ---- */

static struct {
  void *lib;
  int (*malloc)(uint64_t *, size_t);
  int (*fill)(uint64_t, unsigned short, size_t);
  int (*synchronize)(void);
  int device;
} gpu;

static void start(void) {
  static const char *const names[] = {"libcuda.so.1", NULL};
  void *context;
  gpu.lib = library(names);
  int (*init)(unsigned) = (int (*)(unsigned))symbol(gpu.lib, "cuInit");
  int (*get)(int *, int) = (int (*)(int *, int))symbol(gpu.lib, "cuDeviceGet");
  int (*retain)(void **, int) = (int (*)(void **, int))symbol(gpu.lib, "cuDevicePrimaryCtxRetain");
  int (*make_current)(void *) = (int (*)(void *))symbol(gpu.lib, "cuCtxSetCurrent");
  need(init(0), "cuInit");
  need(get(&gpu.device, 0), "cuDeviceGet");
  need(retain(&context, gpu.device), "cuDevicePrimaryCtxRetain");
  need(make_current(context), "cuCtxSetCurrent");
}

/* Halves of 1 / 8: what is computed does not matter for the time, but must not be NaN. */
static void *memory(size_t halves) {
  uint64_t at;
  if (!gpu.malloc) {
    gpu.malloc = (int (*)(uint64_t *, size_t))symbol(gpu.lib, "cuMemAlloc_v2");
    gpu.fill = (int (*)(uint64_t, unsigned short, size_t))symbol(gpu.lib, "cuMemsetD16_v2");
    gpu.synchronize = (int (*)(void))symbol(gpu.lib, "cuCtxSynchronize");
  }
  need(gpu.malloc(&at, 2 * halves), "cuMemAlloc");
  need(gpu.fill(at, 0x3000, halves), "cuMemsetD16");
  return (void *)(uintptr_t)at;
}

static void print_arch(void) {
  int (*attribute)(int *, int, int) =
      (int (*)(int *, int, int))symbol(gpu.lib, "cuDeviceGetAttribute");
  int major, minor;
  need(attribute(&major, CAPABILITY_MAJOR, gpu.device), "cuDeviceGetAttribute");
  need(attribute(&minor, CAPABILITY_MINOR, gpu.device), "cuDeviceGetAttribute");
  printf("sm_%d%d\n", major, minor);
}

/* The median of RUNS times CALLS calls. */
static void measure(void (*call)(void *), void *context) {
  double times[RUNS];
  call(context);
  need(gpu.synchronize(), "cuCtxSynchronize");
  for (int i = 0; i < RUNS; i++) {
    double begin = now();
    for (int k = 0; k < CALLS; k++) call(context);
    need(gpu.synchronize(), "cuCtxSynchronize");
    times[i] = (now() - begin) / CALLS;
  }
  printf("%.9f\n", median(times, RUNS));
}

/* ---- cuBLAS: column by column, so operands change places ---- */

typedef int (*GemmFn)(void *, int, int, int, int, int, const void *, const void *, int, int,
                      long long, const void *, int, int, long long, const void *, void *, int, int,
                      long long, int, int, int);

typedef struct Product {
  GemmFn gemm;
  void *handle, *a, *b, *c;
  int m, n, k, count, turned;
} Product;

static void *blas(GemmFn *gemm) {
  static const char *const names[] = {"libcublas.so", "libcublas.so.13", "libcublas.so.12",
                                      "libcublas.so.11", NULL};
  void *lib = library(names), *handle;
  int (*create)(void **) = (int (*)(void **))symbol(lib, "cublasCreate_v2");
  need(create(&handle), "cublasCreate");
  *gemm = (GemmFn)symbol(lib, "cublasGemmStridedBatchedEx");
  return handle;
}

static void product(void *context) {
  const Product *p = context;
  float one = 1, zero = 0;
  long long a = (long long)p->m * p->k, b = (long long)p->k * p->n, c = (long long)p->m * p->n;
  need(p->gemm(p->handle, p->turned ? OP_T : OP_N, OP_N, p->n, p->m, p->k, &one, p->b, DATA_16F,
               p->turned ? p->k : p->n, b, p->a, DATA_16F, p->k, a, &zero, p->c, DATA_16F, p->n, c,
               p->count, COMPUTE_32F, ALGO_DEFAULT),
       "cublasGemmStridedBatchedEx");
}

static Product product_of(int count, int m, int n, int k, int turned) {
  Product p = {.m = m, .n = n, .k = k, .count = count, .turned = turned};
  size_t times = (size_t)count;
  p.handle = blas(&p.gemm);
  p.a = memory(times * (size_t)m * (size_t)k);
  p.b = memory(times * (size_t)k * (size_t)n);
  p.c = memory(times * (size_t)m * (size_t)n);
  return p;
}

static void both_products(void *context) {
  Product *p = context;
  product(&p[0]);
  product(&p[1]);
}

/* ---- cuDNN ---- */

typedef struct Convolution {
  int (*forward)(void *, const void *, void *, const void *, void *, const void *, void *, int,
                 void *, size_t, const void *, void *, void *);
  void *handle, *x, *w, *y, *of_x, *of_w, *of_y, *how, *workspace;
  int algorithm;
  size_t nbytes;
} Convolution;

/* cudnnConvolutionFwdAlgoPerf_t */
typedef struct Found {
  int algorithm, status;
  float time;
  size_t memory;
  int determinism, math, reserved[3];
} Found;

static void convolve(void *context) {
  const Convolution *c = context;
  float one = 1, zero = 0;
  need(c->forward(c->handle, &one, c->of_x, c->x, c->of_w, c->w, c->how, c->algorithm, c->workspace,
                  c->nbytes, &zero, c->of_y, c->y),
       "cudnnConvolutionForward");
}

static void *made(void *lib, const char *name) {
  int (*create)(void **) = (int (*)(void **))symbol(lib, name);
  void *out;
  need(create(&out), name);
  return out;
}

static Convolution convolution_of(int n, int channels, int size, int filters, int kernel) {
  static const char *const names[] = {"libcudnn.so", "libcudnn.so.9", "libcudnn.so.8", NULL};
  void *lib = library(names);
  Convolution c = {.handle = made(lib, "cudnnCreate"),
                   .of_x = made(lib, "cudnnCreateTensorDescriptor"),
                   .of_y = made(lib, "cudnnCreateTensorDescriptor"),
                   .of_w = made(lib, "cudnnCreateFilterDescriptor"),
                   .how = made(lib, "cudnnCreateConvolutionDescriptor")};
  int (*tensor)(void *, int, int, int, int, int, int) =
      (int (*)(void *, int, int, int, int, int, int))symbol(lib, "cudnnSetTensor4dDescriptor");
  int (*filter)(void *, int, int, int, int, int, int) =
      (int (*)(void *, int, int, int, int, int, int))symbol(lib, "cudnnSetFilter4dDescriptor");
  int (*window)(void *, int, int, int, int, int, int, int, int) =
      (int (*)(void *, int, int, int, int, int, int, int, int))symbol(
          lib, "cudnnSetConvolution2dDescriptor");
  int (*math)(void *, int) = (int (*)(void *, int))symbol(lib, "cudnnSetConvolutionMathType");
  int (*find)(void *, void *, void *, void *, void *, int, int *, Found *) =
      (int (*)(void *, void *, void *, void *, void *, int, int *, Found *))symbol(
          lib, "cudnnFindConvolutionForwardAlgorithm");
  *(void **)&c.forward = symbol(lib, "cudnnConvolutionForward");
  need(tensor(c.of_x, CUDNN_NCHW, CUDNN_HALF, n, channels, size, size), "tensor");
  need(tensor(c.of_y, CUDNN_NCHW, CUDNN_HALF, n, filters, size, size), "tensor");
  need(filter(c.of_w, CUDNN_HALF, CUDNN_NCHW, filters, channels, kernel, kernel), "filter");
  need(window(c.how, kernel / 2, kernel / 2, 1, 1, 1, 1, CUDNN_CROSS, CUDNN_FLOAT), "convolution");
  need(math(c.how, CUDNN_TENSOR_OPS), "cudnnSetConvolutionMathType");
  Found best;
  int count;
  need(find(c.handle, c.of_x, c.of_w, c.how, c.of_y, 1, &count, &best), "no algorithm");
  c.algorithm = best.algorithm;
  c.nbytes = best.memory;
  size_t pixels = (size_t)n * (size_t)size * (size_t)size;
  c.x = memory(pixels * (size_t)channels);
  c.y = memory(pixels * (size_t)filters);
  c.w = memory((size_t)filters * (size_t)channels * (size_t)kernel * (size_t)kernel);
  c.workspace = memory(c.nbytes / 2 + 1);
  return c;
}

/* ---- what is asked for ---- */

int main(int argc, char **argv) {
  int sizes[5] = {0}, n = argc - 2;
  const char *kind = argc > 1 ? argv[1] : "";
  for (int i = 0; i < n && i < 5; i++) sizes[i] = atoi(argv[i + 2]);
  start();
  if (strcmp(kind, "arch") == 0) {
    print_arch();
  } else if (strcmp(kind, "gemm") == 0 && n == 3) {
    Product p = product_of(1, sizes[0], sizes[1], sizes[2], 0);
    measure(product, &p);
  } else if (strcmp(kind, "conv") == 0 && n == 5) {
    Convolution c = convolution_of(sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]);
    measure(convolve, &c);
  } else if (strcmp(kind, "attention") == 0 && n == 4) {
    int heads = sizes[0] * sizes[2], length = sizes[1], width = sizes[3];
    Product p[2] = {product_of(heads, length, length, width, 1),
                    product_of(heads, length, width, length, 0)};
    measure(both_products, p);
  } else {
    fprintf(stderr, "usage: gpu_peer arch | gemm M N K | conv B C S F K | attention B L H W\n");
    return 2;
  }
  return 0;
}
