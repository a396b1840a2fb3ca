/* cudnn.c -- the shim of NVIDIA's cuDNN: convolutions on the GPU, and what follows them.
 *
 * cudnn.conv(data, weight, more..., strides, padding, dilation, groups, layout, post, out): two or
 * three dims of space, "NCHW", "NHWC", "NCDHW" or "NDHWC"; weights have the layout "OIHW", or for
 * NHWC "OHWI". Padding is the same before and after. All tensors are float16, bfloat16, float32 or
 * float64; halves are added up in float32, and float32 is not rounded before products. `post` is
 * "bias", "bias,sum", "bias,relu" or "bias,sum,relu", or "": the bias has one number for each
 * channel, and what is summed the shape of the result; these are the tensors of `more`.
 *
 * No headers of cuDNN are needed; the functions are those that versions 8 and 9 share. What was
 * made for one set of shapes is kept, and used again. */
#include "target/lib/shim_args.h"
#include <pthread.h>
#include <stdlib.h>

/* ---- of cuDNN's headers ---- */

enum { DATA_FLOAT = 0, DATA_DOUBLE = 1, DATA_HALF = 2, DATA_BFLOAT16 = 9 };
enum { FORMAT_NCHW = 0, FORMAT_NHWC = 1, CROSS_CORRELATION = 1 };
enum { TENSOR_OP_MATH = 1, FMA_MATH = 3 };
enum { ACTIVATION_RELU = 1, ACTIVATION_IDENTITY = 5, PROPAGATE_NAN = 1 };
enum { PRECOMP_GEMM = 1 }; /* the algorithm that may go without activation after a bias */

typedef struct Perf {
  int algorithm, status;
  float time;
  size_t memory;
  int determinism, math, reserved[3];
} Perf;

static const char *(*cudnnGetErrorString)(int status);
static int (*cudnnCreate)(void **handle);
static int (*cudnnSetStream)(void *handle, void *stream);
static int (*cudnnCreateTensorDescriptor)(void **d);
static int (*cudnnDestroyTensorDescriptor)(void *d);
static int (*cudnnSetTensorNdDescriptor)(void *d, int type, int n, const int *dims,
                                         const int *strides);
static int (*cudnnCreateFilterDescriptor)(void **d);
static int (*cudnnDestroyFilterDescriptor)(void *d);
static int (*cudnnSetFilterNdDescriptor)(void *d, int type, int format, int n, const int *dims);
static int (*cudnnCreateConvolutionDescriptor)(void **d);
static int (*cudnnDestroyConvolutionDescriptor)(void *d);
static int (*cudnnSetConvolutionNdDescriptor)(void *d, int n, const int *pad, const int *strides,
                                              const int *dilation, int mode, int type);
static int (*cudnnSetConvolutionGroupCount)(void *d, int groups);
static int (*cudnnSetConvolutionMathType)(void *d, int math);
static int (*cudnnCreateActivationDescriptor)(void **d);
static int (*cudnnDestroyActivationDescriptor)(void *d);
static int (*cudnnSetActivationDescriptor)(void *d, int mode, int nan, double coefficient);
static int (*cudnnGetConvolutionForwardAlgorithm_v7)(void *handle, void *x, void *w, void *conv,
                                                     void *y, int most, int *n, Perf *out);
static int (*cudnnGetConvolutionForwardWorkspaceSize)(void *handle, void *x, void *w, void *conv,
                                                      void *y, int algorithm, size_t *n);
static int (*cudnnConvolutionForward)(void *handle, const void *alpha, void *x_desc, const void *x,
                                      void *w_desc, const void *w, void *conv, int algorithm,
                                      void *workspace, size_t n, const void *beta, void *y_desc,
                                      void *y);
static int (*cudnnConvolutionBiasActivationForward)(
    void *handle, const void *alpha, void *x_desc, const void *x, void *w_desc, const void *w,
    void *conv, int algorithm, void *workspace, size_t n, const void *beta, void *z_desc,
    const void *z, void *bias_desc, const void *bias, void *activation, void *y_desc, void *y);

static const TvmsShimSymbol symbols[] = {TVMS_SHIM_SYMBOL(cudnnGetErrorString),
                                         TVMS_SHIM_SYMBOL(cudnnCreate),
                                         TVMS_SHIM_SYMBOL(cudnnSetStream),
                                         TVMS_SHIM_SYMBOL(cudnnCreateTensorDescriptor),
                                         TVMS_SHIM_SYMBOL(cudnnDestroyTensorDescriptor),
                                         TVMS_SHIM_SYMBOL(cudnnSetTensorNdDescriptor),
                                         TVMS_SHIM_SYMBOL(cudnnCreateFilterDescriptor),
                                         TVMS_SHIM_SYMBOL(cudnnDestroyFilterDescriptor),
                                         TVMS_SHIM_SYMBOL(cudnnSetFilterNdDescriptor),
                                         TVMS_SHIM_SYMBOL(cudnnCreateConvolutionDescriptor),
                                         TVMS_SHIM_SYMBOL(cudnnDestroyConvolutionDescriptor),
                                         TVMS_SHIM_SYMBOL(cudnnSetConvolutionNdDescriptor),
                                         TVMS_SHIM_SYMBOL(cudnnSetConvolutionGroupCount),
                                         TVMS_SHIM_SYMBOL(cudnnSetConvolutionMathType),
                                         TVMS_SHIM_SYMBOL(cudnnCreateActivationDescriptor),
                                         TVMS_SHIM_SYMBOL(cudnnDestroyActivationDescriptor),
                                         TVMS_SHIM_SYMBOL(cudnnSetActivationDescriptor),
                                         TVMS_SHIM_SYMBOL(cudnnGetConvolutionForwardAlgorithm_v7),
                                         TVMS_SHIM_SYMBOL(cudnnGetConvolutionForwardWorkspaceSize),
                                         TVMS_SHIM_SYMBOL(cudnnConvolutionForward),
                                         TVMS_SHIM_SYMBOL(cudnnConvolutionBiasActivationForward),
                                         {NULL, NULL}};

static const char name[] = "cudnn.conv";

static int failed(const char *what, int status) {
  return tvms_set_error("%s: %s failed (%s)", name, what, cudnnGetErrorString(status));
}

/* ---- what a convolution is ---- */

enum { MOST_DIMS = 5, MOST_SPACE = 3 };

/* All that a plan depends on; compared by its bytes. Dims are those of N, C and space. */
typedef struct Shape {
  int32_t device, type, rank, channels_last, groups, has_bias, has_sum, has_relu;
  int32_t x[MOST_DIMS], w[MOST_DIMS], y[MOST_DIMS];
  int32_t strides[MOST_SPACE], padding[MOST_SPACE], dilation[MOST_SPACE];
} Shape;

typedef struct Plan {
  Shape shape;
  void *x, *w, *y, *bias, *conv, *activation;
  int algorithm;
  size_t workspace;
} Plan;

/* A handle is used by one thread at a time. */
static struct {
  pthread_mutex_t lock;
  void *handle[SHIM_MOST_DEVICES];
  Plan *plans; /* a ring of the last ones */
  int len, next;
} nn = {.lock = PTHREAD_MUTEX_INITIALIZER};
enum { MOST_PLANS = 512 };

/* ---- making plans ---- */

static void plan_free(Plan *p) {
  if (p->x) cudnnDestroyTensorDescriptor(p->x);
  if (p->y) cudnnDestroyTensorDescriptor(p->y);
  if (p->bias) cudnnDestroyTensorDescriptor(p->bias);
  if (p->w) cudnnDestroyFilterDescriptor(p->w);
  if (p->conv) cudnnDestroyConvolutionDescriptor(p->conv);
  if (p->activation) cudnnDestroyActivationDescriptor(p->activation);
}

/* Dims stand in the order N, C, space, wherever the channels lie. */
static int describe_tensor(void **d, const Shape *s, const int *dims) {
  int strides[MOST_DIMS], next = 1;
  if (s->channels_last) strides[1] = next, next *= dims[1];
  for (int i = s->rank - 1; i >= 2; i--) strides[i] = next, next *= dims[i];
  if (!s->channels_last) strides[1] = next, next *= dims[1];
  strides[0] = next;
  int status = cudnnCreateTensorDescriptor(d);
  return status ? status : cudnnSetTensorNdDescriptor(*d, s->type, s->rank, dims, strides);
}

static int describe_convolution(void **d, const Shape *s) {
  bool half = s->type == DATA_HALF || s->type == DATA_BFLOAT16;
  int status = cudnnCreateConvolutionDescriptor(d);
  if (!status)
    status = cudnnSetConvolutionNdDescriptor(*d, s->rank - 2, s->padding, s->strides, s->dilation,
                                             CROSS_CORRELATION, half ? DATA_FLOAT : s->type);
  if (!status) status = cudnnSetConvolutionGroupCount(*d, s->groups);
  if (!status) status = cudnnSetConvolutionMathType(*d, half ? TENSOR_OP_MATH : FMA_MATH);
  return status;
}

static int describe(Plan *p) {
  const Shape *s = &p->shape;
  const int bias[MOST_DIMS] = {1, s->y[1], 1, 1, 1};
  int mode = s->has_relu ? ACTIVATION_RELU : ACTIVATION_IDENTITY;
  int status = describe_tensor(&p->x, s, s->x);
  if (!status) status = describe_tensor(&p->y, s, s->y);
  if (!status) status = describe_tensor(&p->bias, s, bias);
  if (!status) status = cudnnCreateFilterDescriptor(&p->w);
  if (!status)
    status = cudnnSetFilterNdDescriptor(p->w, s->type, s->channels_last ? FORMAT_NHWC : FORMAT_NCHW,
                                        s->rank, s->w);
  if (!status) status = describe_convolution(&p->conv, s);
  if (!status) status = cudnnCreateActivationDescriptor(&p->activation);
  if (!status) status = cudnnSetActivationDescriptor(p->activation, mode, PROPAGATE_NAN, 0);
  return status ? failed("describing the convolution", status) : 0;
}

/* The first algorithm that cuDNN thinks to be fast and that works. */
static int choose(Plan *p, void *handle) {
  enum { MOST = 8 };
  Perf found[MOST];
  int n = 0, status = 0;
  bool bias_alone = p->shape.has_bias && !p->shape.has_relu;
  p->algorithm = PRECOMP_GEMM;
  if (!bias_alone) {
    status =
        cudnnGetConvolutionForwardAlgorithm_v7(handle, p->x, p->w, p->conv, p->y, MOST, &n, found);
    for (int i = n - 1; i >= 0 && !status; i--)
      if (!found[i].status) p->algorithm = found[i].algorithm;
  }
  if (!status)
    status = cudnnGetConvolutionForwardWorkspaceSize(handle, p->x, p->w, p->conv, p->y,
                                                     p->algorithm, &p->workspace);
  return status ? failed("choosing an algorithm", status) : 0;
}

static const Plan *recall(const Shape *s) {
  for (int i = 0; i < nn.len; i++)
    if (!memcmp(&nn.plans[i].shape, s, sizeof *s)) return &nn.plans[i];
  return NULL;
}

/* NULL and an error. */
static const Plan *plan(const Shape *s, void *handle) {
  const Plan *known = recall(s);
  if (known) return known;
  if (!nn.plans) nn.plans = calloc(MOST_PLANS, sizeof *nn.plans);
  if (!nn.plans) return tvms_set_error("%s: out of memory", name), NULL;
  Plan p = {.shape = *s};
  if (describe(&p) || choose(&p, handle)) return plan_free(&p), NULL;
  Plan *place = &nn.plans[nn.next];
  plan_free(place);
  *place = p;
  nn.next = (nn.next + 1) % MOST_PLANS;
  if (nn.len < MOST_PLANS) nn.len++;
  return place;
}

/* ---- one call ---- */

typedef struct Operands {
  const void *x, *w, *bias, *sum; /* addresses of the GPU; NULL: there is none */
  void *y;
  ShimDevice device;
} Operands;

static int forward(const Plan *p, void *handle, const Operands *o, void *workspace) {
  bool wide = p->shape.type == DATA_DOUBLE;
  const void *one = shim_factor(1, wide), *zero = shim_factor(0, wide);
  if (!p->shape.has_bias)
    return cudnnConvolutionForward(handle, one, p->x, o->x, p->w, o->w, p->conv, p->algorithm,
                                   workspace, p->workspace, zero, p->y, o->y);
  return cudnnConvolutionBiasActivationForward(handle, one, p->x, o->x, p->w, o->w, p->conv,
                                               p->algorithm, workspace, p->workspace,
                                               o->sum ? one : zero, p->y, o->sum ? o->sum : o->y,
                                               p->bias, o->bias, p->activation, p->y, o->y);
}

static int run_planned(const Shape *s, Operands *o) {
  void **handle = &nn.handle[s->device], *workspace = NULL;
  TvmsTensor *memory = NULL;
  int status = *handle ? 0 : cudnnCreate(handle);
  if (!status) status = cudnnSetStream(*handle, o->device.queue);
  if (status) return failed("starting", status);
  const Plan *p = plan(s, *handle);
  if (!p) return -1;
  if (p->workspace) workspace = shim_workspace(name, &o->device, p->workspace, &memory);
  bool has_room = workspace || !p->workspace;
  if (has_room) status = forward(p, *handle, o, workspace);
  tvms_release(memory);
  if (status) return failed("the convolution", status);
  return has_room ? 0 : -1;
}

static int run(const Shape *s, Operands *o) {
  pthread_mutex_lock(&nn.lock);
  int status = run_planned(s, o);
  pthread_mutex_unlock(&nn.lock);
  return status;
}

/* ---- arguments ---- */

/* As the library calls the elements; -1: it has no such. */
static int type_of(const DLTensor *t) {
  static const int types[] = {DATA_HALF, DATA_BFLOAT16, DATA_FLOAT, DATA_DOUBLE};
  int kind = shim_float_kind(t);
  return kind < 0 ? -1 : types[kind];
}

static int read_layout(const ShimArgs *a, int i, int rank, Shape *s) {
  static const struct {
    const char *text;
    int rank, channels_last;
  } rows[] = {{"NCHW", 4, 0}, {"NHWC", 4, 1}, {"NCDHW", 5, 0}, {"NDHWC", 5, 1}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    if (strcmp(rows[r].text, shim_text(a, i)) || rows[r].rank != rank) continue;
    s->rank = rank;
    s->channels_last = rows[r].channels_last;
    return 0;
  }
  return tvms_set_error("%s: tensors of %d dims can't have the layout '%s'", name, rank,
                        shim_text(a, i));
}

static int read_post(const ShimArgs *a, int i, Shape *s) {
  static const struct {
    const char *text;
    int bias, sum, relu;
  } rows[] = {{"", 0, 0, 0},
              {"bias", 1, 0, 0},
              {"bias,sum", 1, 1, 0},
              {"bias,relu", 1, 0, 1},
              {"bias,sum,relu", 1, 1, 1}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    if (strcmp(rows[r].text, shim_text(a, i))) continue;
    s->has_bias = rows[r].bias, s->has_sum = rows[r].sum, s->has_relu = rows[r].relu;
    return 0;
  }
  return tvms_set_error("%s can't do '%s' after a convolution", name, shim_text(a, i));
}

/* Dims in the order N, C, space. */
static int read_dims(const DLTensor *t, const Shape *s, int32_t *out) {
  for (int i = 0; i < s->rank; i++) {
    int from = i == 0 || !s->channels_last ? i : i == 1 ? s->rank - 1 : i - 1;
    if (t->shape[from] > INT32_MAX)
      return tvms_set_error("%s: a dim is above %d, which cuDNN does not take", name, INT32_MAX);
    out[i] = (int32_t)t->shape[from];
  }
  return 0;
}

/* A list of numbers, one for each dim of space, or twice as many, both halves alike. */
static int read_list(const ShimArgs *a, int i, const char *what, bool twice, int space,
                     int32_t *out) {
  bool fits =
      a->types[i] == TVMS_SHAPE && tvms_shape_ndim(a->values[i].p) == space * (twice ? 2 : 1);
  for (int d = 0; fits && d < space; d++) {
    const int64_t *dims = tvms_shape_dims(a->values[i].p);
    fits = dims[d] >= 0 && dims[d] <= INT32_MAX && (!twice || dims[d] == dims[space + d]);
    out[d] = (int32_t)dims[d];
  }
  return fits ? 0
              : tvms_set_error("%s: the %s must be %d numbers%s", name, what,
                               space * (twice ? 2 : 1), twice ? ", the same before and after" : "");
}

/* Do the dims of the result follow from the others? */
static int check_dims(const Shape *s) {
  bool fits = s->y[0] == s->x[0] && s->y[1] == s->w[0] && s->groups > 0 &&
              s->x[1] == s->w[1] * s->groups && s->w[0] % s->groups == 0;
  for (int i = 0; fits && i < s->rank - 2; i++) {
    int64_t taps = (int64_t)s->dilation[i] * (s->w[2 + i] - 1) + 1,
            room = s->x[2 + i] + (int64_t)2 * s->padding[i] - taps;
    fits = s->strides[i] > 0 && s->dilation[i] > 0 && room >= 0 &&
           room / s->strides[i] + 1 == s->y[2 + i];
  }
  return fits ? 0
              : tvms_set_error("%s: the dims of the operands and of the result do not fit", name);
}

typedef struct Tensors {
  const DLTensor *x, *w, *bias, *sum, *y;
} Tensors;

static int check_more(const Tensors *t, const Shape *s) {
  const DLTensor *all[] = {t->x, t->w, t->y, t->bias, t->sum};
  for (int i = 0; i < 5; i++)
    if (all[i] && type_of(all[i]) != s->type)
      return tvms_set_error(
          "%s: all tensors must be of one dtype: float16, bfloat16, float32 or float64", name);
  if (s->has_bias && s->type == DATA_DOUBLE)
    return tvms_set_error("%s: nothing can follow a convolution of float64", name);
  if (t->bias && shim_product(t->bias->shape, t->bias->ndim) != s->y[1])
    return tvms_set_error("%s: the bias must have a number for each channel", name);
  bool same = !t->sum || t->sum->ndim == t->y->ndim;
  for (int i = 0; t->sum && same && i < t->y->ndim; i++) same = t->sum->shape[i] == t->y->shape[i];
  return same ? 0 : tvms_set_error("%s: what is summed must have the shape of the result", name);
}

/* The tensors of the call; -1 and an error. */
static int read_tensors(const ShimArgs *a, const Shape *s, Tensors *t) {
  int extra = s->has_bias + s->has_sum;
  if (a->n != 9 + extra)
    return tvms_set_error("%s takes %d arguments for '%s', %d given", name, 9 + extra,
                          shim_text(a, a->n - 2), a->n);
  t->x = shim_tensor_on(a, 0, kDLCUDA), t->w = shim_tensor_on(a, 1, kDLCUDA);
  t->y = shim_tensor_on(a, a->n - 1, kDLCUDA);
  t->bias = s->has_bias ? shim_tensor_on(a, 2, kDLCUDA) : NULL;
  t->sum = s->has_sum ? shim_tensor_on(a, 3, kDLCUDA) : NULL;
  if (!t->x || !t->w || !t->y || (s->has_bias && !t->bias) || (s->has_sum && !t->sum)) return -1;
  if (t->w->ndim != t->x->ndim || t->y->ndim != t->x->ndim)
    return tvms_set_error("%s: the operands must have as many dims as the result", name);
  return 0;
}

static int conv(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                int *ret_type) {
  (void)self, (void)ret, (void)ret_type;
  ShimArgs a = {name, args, types, n};
  Tensors t = {.x = NULL};
  Shape s;
  memset(&s, 0, sizeof s);
  if (n < 9) return tvms_set_error("%s takes 9 to 11 arguments, %d given", name, n);
  if (read_post(&a, n - 2, &s) || read_tensors(&a, &s, &t)) return -1;
  if (read_layout(&a, n - 3, t.x->ndim, &s)) return -1;
  int space = s.rank - 2;
  s.type = type_of(t.x);
  s.groups = (int32_t)shim_int(&a, n - 4);
  if (read_list(&a, n - 7, "strides", false, space, s.strides) ||
      read_list(&a, n - 6, "padding", true, space, s.padding) ||
      read_list(&a, n - 5, "dilation", false, space, s.dilation) || read_dims(t.x, &s, s.x) ||
      read_dims(t.w, &s, s.w) || read_dims(t.y, &s, s.y) || check_dims(&s) || check_more(&t, &s))
    return -1;
  if (!shim_product(t.y->shape, t.y->ndim)) return 0;
  Operands o = {.device = {-1, NULL}};
  bool placed = (o.x = shim_address(name, t.x, &o.device)) &&
                (o.w = shim_address(name, t.w, &o.device)) &&
                (o.y = shim_address(name, t.y, &o.device)) &&
                (!t.bias || (o.bias = shim_address(name, t.bias, &o.device))) &&
                (!t.sum || (o.sum = shim_address(name, t.sum, &o.device)));
  s.device = o.device.id;
  return placed ? run(&s, &o) : -1;
}

static const TvmsShimFunction functions[] = {{name, conv}, {NULL, NULL}};

SHIM_EXPORT = {TVMS_ABI_VERSION,
               "cudnn",
               "libcudnn.so.9 libcudnn.so.8",
               "it is NVIDIA's, or of pip's nvidia-cudnn-cu12",
               symbols,
               functions,
               NULL,
               kDLCUDA};
