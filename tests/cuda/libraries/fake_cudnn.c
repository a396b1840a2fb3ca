/* fake_cudnn.c -- stands for libcudnn.so.9: plain loops over tensors as their descriptors tell,
 * with the rules of NVIDIA's documentation. What it would not take is refused. */
#include "fake.h"
#include <math.h>

enum { BAD_PARAM = 2000, NOT_SUPPORTED = 3000 };
enum { MOST = 5 };

typedef struct Tensor {
  int type, n, dims[MOST], strides[MOST];
} Tensor;
typedef struct Filter {
  int type, format, n, dims[MOST];
} Filter;
typedef struct Convolution {
  int n, pad[3], strides[3], dilation[3], mode, type, groups, math;
} Convolution;
typedef struct Activation {
  int mode, nan;
  double coefficient;
} Activation;
typedef struct Perf {
  int algorithm, status;
  float time;
  size_t memory;
  int determinism, math, reserved[3];
} Perf;

static void *stream;
static char handle[1];
enum { WORKSPACE = 1000 };

const char *cudnnGetErrorString(int status) {
  return status == BAD_PARAM       ? "CUDNN_STATUS_BAD_PARAM"
         : status == NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED"
                                   : "CUDNN_STATUS_EXECUTION_FAILED";
}

int cudnnCreate(void **out) {
  note("cudnnCreate");
  *out = handle;
  return planned("cudnnCreate");
}
int cudnnSetStream(void *h, void *s) { return stream = s, h == handle ? 0 : BAD_PARAM; }

#define DESCRIPTOR(Kind, create, destroy)                                                          \
  int create(Kind **out) { return *out = calloc(1, sizeof **out), 0; }                             \
  int destroy(Kind *d) { return free(d), 0; }
DESCRIPTOR(Tensor, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor)
DESCRIPTOR(Filter, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor)
DESCRIPTOR(Convolution, cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor)
DESCRIPTOR(Activation, cudnnCreateActivationDescriptor, cudnnDestroyActivationDescriptor)

int cudnnSetTensorNdDescriptor(Tensor *d, int type, int n, const int *dims, const int *strides) {
  if (n < 4 || n > MOST) return NOT_SUPPORTED;
  *d = (Tensor){type, n, {0}, {0}};
  for (int i = 0; i < n; i++) {
    if (dims[i] < 1 || strides[i] < 1) return BAD_PARAM;
    d->dims[i] = dims[i], d->strides[i] = strides[i];
  }
  return 0;
}

int cudnnSetFilterNdDescriptor(Filter *d, int type, int format, int n, const int *dims) {
  *d = (Filter){type, format, n, {0}};
  for (int i = 0; i < n; i++) d->dims[i] = dims[i];
  return format > 1 ? BAD_PARAM : 0;
}

int cudnnSetConvolutionNdDescriptor(Convolution *d, int n, const int *pad, const int *strides,
                                    const int *dilation, int mode, int type) {
  *d = (Convolution){.n = n, .mode = mode, .type = type, .groups = 1};
  for (int i = 0; i < n; i++)
    d->pad[i] = pad[i], d->strides[i] = strides[i], d->dilation[i] = dilation[i];
  return mode == 1 ? 0 : NOT_SUPPORTED;
}
int cudnnSetConvolutionGroupCount(Convolution *d, int groups) { return d->groups = groups, 0; }
int cudnnSetConvolutionMathType(Convolution *d, int math) { return d->math = math, 0; }

int cudnnSetActivationDescriptor(Activation *d, int mode, int nan, double coefficient) {
  *d = (Activation){mode, nan, coefficient};
  return 0;
}

/* The element strides of a filter, in the order O, I, space. */
static void filter_strides(const Filter *w, int64_t *out) {
  int64_t next = 1;
  if (w->format == 1) out[1] = next, next *= w->dims[1];
  for (int i = w->n - 1; i >= 2; i--) out[i] = next, next *= w->dims[i];
  if (w->format == 0) out[1] = next, next *= w->dims[1];
  out[0] = next;
}

static int check(const Tensor *x, const Filter *w, const Convolution *c, const Tensor *y) {
  int half = x->type == 2 || x->type == 9;
  if (w->type != x->type || y->type != x->type || w->n != x->n || y->n != x->n || c->n != x->n - 2)
    return BAD_PARAM;
  if (c->type != (half ? 0 : x->type) || c->math != (half ? 1 : 3)) return NOT_SUPPORTED;
  if (x->dims[1] != w->dims[1] * c->groups || y->dims[1] != w->dims[0] || y->dims[0] != x->dims[0])
    return BAD_PARAM;
  for (int i = 0; i < c->n; i++) {
    int taps = c->dilation[i] * (w->dims[2 + i] - 1) + 1;
    if (y->dims[2 + i] != (x->dims[2 + i] + 2 * c->pad[i] - taps) / c->strides[i] + 1)
      return BAD_PARAM;
  }
  return 0;
}

int cudnnGetConvolutionForwardAlgorithm_v7(void *h, const Tensor *x, const Filter *w,
                                           const Convolution *c, const Tensor *y, int most, int *n,
                                           Perf *out) {
  int status = planned("cudnnGetConvolutionForwardAlgorithm_v7");
  note("cudnnGetConvolutionForwardAlgorithm_v7");
  if (status) return status;
  if (h != handle || most < 3) return BAD_PARAM;
  *n = 3;
  out[0] = (Perf){.algorithm = 6, .status = NOT_SUPPORTED};
  out[1] = (Perf){.algorithm = 1, .memory = WORKSPACE};
  out[2] = (Perf){.algorithm = 0};
  return check(x, w, c, y);
}

int cudnnGetConvolutionForwardWorkspaceSize(void *h, const Tensor *x, const Filter *w,
                                            const Convolution *c, const Tensor *y, int algorithm,
                                            size_t *n) {
  *n = algorithm == 1 ? WORKSPACE : 0;
  if (algorithm == 6) return NOT_SUPPORTED;
  return h == handle ? check(x, w, c, y) : BAD_PARAM;
}

static Dtype dtype(int type) {
  return type == 0 ? FLOAT : type == 1 ? DOUBLE : type == 2 ? HALF : BFLOAT;
}

static int64_t offset(const Tensor *t, const int *at) {
  int64_t sum = 0;
  for (int i = 0; i < t->n; i++) sum += (int64_t)at[i] * t->strides[i];
  return sum;
}

/* Goes on to the next position; 0: that was the last one. */
static int step(int *at, const int *dims, int n) {
  for (int i = n - 1; i >= 0; i--) {
    if (++at[i] < dims[i]) return 1;
    at[i] = 0;
  }
  return 0;
}

static double one_output(const Tensor *x, const void *data, const Filter *w, const void *weights,
                         const Convolution *c, const int *at) {
  int taps[MOST] = {0}, per_group = w->dims[0] / c->groups, group = at[1] / per_group;
  int64_t strides[MOST];
  double sum = 0;
  filter_strides(w, strides);
  do {
    int from[MOST] = {at[0], group * w->dims[1] + taps[1]}, inside = 1;
    int64_t weight = at[1] * strides[0] + taps[1] * strides[1];
    for (int i = 0; i < c->n; i++) {
      from[2 + i] = at[2 + i] * c->strides[i] + taps[2 + i] * c->dilation[i] - c->pad[i];
      inside &= from[2 + i] >= 0 && from[2 + i] < x->dims[2 + i];
      weight += taps[2 + i] * strides[2 + i];
    }
    if (inside)
      sum += number_at(dtype(x->type), data, offset(x, from)) *
             number_at(dtype(w->type), weights, weight);
  } while (step(taps + 1, w->dims + 1, w->n - 1));
  return sum;
}

static int run(const Tensor *x, const void *data, const Filter *w, const void *weights,
               const Convolution *c, int algorithm, void *workspace, size_t n,
               const Tensor *bias_desc, const void *bias, const void *sum, const Activation *act,
               const Tensor *y, void *out) {
  int at[MOST] = {0}, status = check(x, w, c, y);
  if (status) return status;
  if (!stream || n < (algorithm == 1 ? WORKSPACE : 0)) return BAD_PARAM;
  if (n) memset(bytes_at(workspace), 0xff, n);
  do {
    int channel[MOST] = {0, at[1]};
    double value = one_output(x, data, w, weights, c, at);
    if (sum) value += number_at(dtype(y->type), sum, offset(y, at));
    if (bias) value += number_at(dtype(bias_desc->type), bias, offset(bias_desc, channel));
    if (act && act->mode == 1 && !(value > 0 || (act->nan && isnan(value)))) value = 0;
    set_number(dtype(y->type), out, offset(y, at), value);
  } while (step(at, y->dims, y->n));
  return 0;
}

int cudnnConvolutionForward(void *h, const void *alpha, const Tensor *x, const void *data,
                            const Filter *w, const void *weights, const Convolution *c,
                            int algorithm, void *workspace, size_t n, const void *beta,
                            const Tensor *y, void *out) {
  int status = planned("cudnnConvolutionForward"), wide = x->type == 1;
  double one = wide ? *(const double *)alpha : (double)*(const float *)alpha;
  double zero = wide ? *(const double *)beta : (double)*(const float *)beta;
  note("cudnnConvolutionForward by %d", algorithm);
  if (status) return status;
  if (h != handle || one != 1 || zero != 0) return BAD_PARAM;
  return run(x, data, w, weights, c, algorithm, workspace, n, NULL, NULL, NULL, NULL, y, out);
}

int cudnnConvolutionBiasActivationForward(void *h, const float *alpha, const Tensor *x,
                                          const void *data, const Filter *w, const void *weights,
                                          const Convolution *c, int algorithm, void *workspace,
                                          size_t n, const float *alpha2, const Tensor *z_desc,
                                          const void *z, const Tensor *bias_desc, const void *bias,
                                          const Activation *act, const Tensor *y, void *out) {
  int status = planned("cudnnConvolutionBiasActivationForward");
  note("cudnnConvolutionBiasActivationForward by %d, sum %g, activation %d", algorithm,
       (double)*alpha2, act->mode);
  if (status) return status;
  if (h != handle || *alpha != 1 || (*alpha2 != 0 && *alpha2 != 1) || memcmp(z_desc, y, sizeof *y))
    return BAD_PARAM;
  if (x->type == 1 || (act->mode == 5 && algorithm != 1) || (act->mode != 5 && act->mode != 1))
    return NOT_SUPPORTED;
  return run(x, data, w, weights, c, algorithm, workspace, n, bias_desc, bias,
             *alpha2 == 1 ? z : NULL, act, y, out);
}
