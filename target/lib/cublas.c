/* cublas.c -- the shim of NVIDIA's cuBLAS, by its part cublasLt: products on the GPU, and what
 * follows them.
 *
 * cublas.matmul(a, b, bias?, transpose_a, transpose_b, post, out): products of float16, bfloat16,
 * float32 or float64 matrices, as in product.h; halves are added up in float32, and the result may
 * be float32. `post` names in order what is done to it: "bias", a number for each column, which is
 * the third tensor, and an activation, "relu" or "gelu_tanh"; not for float64.
 *
 * cublasLt has columns next to each other, so it is given out^T = b^T a^T. No headers of CUDA are
 * needed. Which algorithm it takes for a product of some shape is asked once. */
#include "target/lib/product.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- of cublasLt's headers ---- */

enum { R_32F = 0, R_64F = 1, R_16F = 2, R_16BF = 14 }; /* cudaDataType */
enum { COMPUTE_32F = 68, COMPUTE_64F = 70 };           /* cublasComputeType_t */
enum { DESC_TRANS_A = 3, DESC_TRANS_B = 4, DESC_EPILOGUE = 7, DESC_BIAS_POINTER = 8 };
enum { LAYOUT_BATCH_COUNT = 5, LAYOUT_BATCH_STRIDE = 6 };
enum { PREF_WORKSPACE = 1, PREF_ALIGN_A = 5, PREF_ALIGN_B, PREF_ALIGN_C, PREF_ALIGN_D };
enum { EPILOGUE_DEFAULT = 1, EPILOGUE_RELU = 2, EPILOGUE_BIAS = 4, EPILOGUE_GELU = 32 };

typedef struct Algorithm {
  uint64_t data[8];
} Algorithm;
typedef struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} Heuristic;

static int (*cublasLtCreate)(void **handle);
static int (*cublasLtMatmulDescCreate)(void **desc, int compute, int scale);
static int (*cublasLtMatmulDescDestroy)(void *desc);
static int (*cublasLtMatmulDescSetAttribute)(void *desc, int key, const void *value, size_t n);
static int (*cublasLtMatrixLayoutCreate)(void **layout, int type, uint64_t rows, uint64_t cols,
                                         int64_t ld);
static int (*cublasLtMatrixLayoutDestroy)(void *layout);
static int (*cublasLtMatrixLayoutSetAttribute)(void *layout, int key, const void *value, size_t n);
static int (*cublasLtMatmulPreferenceCreate)(void **preference);
static int (*cublasLtMatmulPreferenceDestroy)(void *preference);
static int (*cublasLtMatmulPreferenceSetAttribute)(void *preference, int key, const void *value,
                                                   size_t n);
static int (*cublasLtMatmulAlgoGetHeuristic)(void *handle, void *desc, void *a, void *b, void *c,
                                             void *d, void *preference, int most, Heuristic *out,
                                             int *n);
static int (*cublasLtMatmul)(void *handle, void *desc, const void *alpha, const void *a,
                             void *a_layout, const void *b, void *b_layout, const void *beta,
                             const void *c, void *c_layout, void *d, void *d_layout,
                             const Algorithm *algorithm, void *workspace, size_t workspace_size,
                             void *stream);

static const TvmsShimSymbol symbols[] = {TVMS_SHIM_SYMBOL(cublasLtCreate),
                                         TVMS_SHIM_SYMBOL(cublasLtMatmulDescCreate),
                                         TVMS_SHIM_SYMBOL(cublasLtMatmulDescDestroy),
                                         TVMS_SHIM_SYMBOL(cublasLtMatmulDescSetAttribute),
                                         TVMS_SHIM_SYMBOL(cublasLtMatrixLayoutCreate),
                                         TVMS_SHIM_SYMBOL(cublasLtMatrixLayoutDestroy),
                                         TVMS_SHIM_SYMBOL(cublasLtMatrixLayoutSetAttribute),
                                         TVMS_SHIM_SYMBOL(cublasLtMatmulPreferenceCreate),
                                         TVMS_SHIM_SYMBOL(cublasLtMatmulPreferenceDestroy),
                                         TVMS_SHIM_SYMBOL(cublasLtMatmulPreferenceSetAttribute),
                                         TVMS_SHIM_SYMBOL(cublasLtMatmulAlgoGetHeuristic),
                                         TVMS_SHIM_SYMBOL(cublasLtMatmul),
                                         {NULL, NULL}};

static const char name[] = "cublas.matmul";

static int failed(const char *what, int status) {
  static const struct {
    int status;
    const char *text;
  } rows[] = {{1, "not initialized"},     {3, "out of memory"},     {7, "invalid value"},
              {8, "architecture"},        {13, "execution failed"}, {14, "internal error"},
              {15, "it is not supported"}};
  const char *text = "unknown";
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].status == status) text = rows[i].text;
  return tvms_set_error("%s: %s failed (status %d: %s)", name, what, status, text);
}

/* ---- a product of some shape, and the algorithm for it ---- */

enum { MOST_ALIGN = 256 };
#define MOST_WORKSPACE ((size_t)32 << 20)

/* All that the choice depends on. */
typedef struct Shape {
  int64_t m, n, k, batches;
  int64_t a_stride, b_stride; /* elements from one matrix to the next; 0: it is the same */
  int32_t device, type, out_type, swap_a, swap_b, epilogue;
  uint32_t a_align, b_align, out_align, unused; /* no padding: shapes are compared by their bytes */
} Shape;

typedef struct Choice {
  Shape shape;
  Algorithm algorithm;
  size_t workspace;
} Choice;

/* A handle may be used by several threads at once. */
static struct {
  pthread_mutex_t lock;
  void *handle[SHIM_MOST_DEVICES];
  Choice *at; /* a ring of the last ones */
  int len, next;
} lt = {.lock = PTHREAD_MUTEX_INITIALIZER};
enum { MOST_CHOICES = 512 };

/* What describes a product to cublasLt. */
typedef struct Described {
  void *desc, *a, *b, *out;
} Described;

static void undescribe(Described *d) {
  if (d->desc) cublasLtMatmulDescDestroy(d->desc);
  void *layouts[] = {d->a, d->b, d->out};
  for (int i = 0; i < 3; i++)
    if (layouts[i]) cublasLtMatrixLayoutDestroy(layouts[i]);
}

static int describe_matrix(void **layout, int type, int64_t rows, int64_t cols, int64_t batches,
                           int64_t stride) {
  int32_t count = (int32_t)batches;
  int status = cublasLtMatrixLayoutCreate(layout, type, (uint64_t)rows, (uint64_t)cols, rows);
  if (!status)
    status = cublasLtMatrixLayoutSetAttribute(*layout, LAYOUT_BATCH_COUNT, &count, sizeof count);
  if (!status)
    status = cublasLtMatrixLayoutSetAttribute(*layout, LAYOUT_BATCH_STRIDE, &stride, sizeof stride);
  return status;
}

/* Their first operand is our second one. */
static int describe(const Shape *s, const void *bias, Described *d) {
  bool wide = s->type == R_64F;
  int32_t first = s->swap_b, second = s->swap_a, epilogue = s->epilogue;
  int status =
      cublasLtMatmulDescCreate(&d->desc, wide ? COMPUTE_64F : COMPUTE_32F, wide ? R_64F : R_32F);
  if (!status) status = cublasLtMatmulDescSetAttribute(d->desc, DESC_TRANS_A, &first, sizeof first);
  if (!status)
    status = cublasLtMatmulDescSetAttribute(d->desc, DESC_TRANS_B, &second, sizeof second);
  if (!status)
    status = cublasLtMatmulDescSetAttribute(d->desc, DESC_EPILOGUE, &epilogue, sizeof epilogue);
  if (!status && epilogue & EPILOGUE_BIAS)
    status = cublasLtMatmulDescSetAttribute(d->desc, DESC_BIAS_POINTER, &bias, sizeof bias);
  if (!status)
    status = describe_matrix(&d->b, s->type, first ? s->k : s->n, first ? s->n : s->k, s->batches,
                             s->b_stride);
  if (!status)
    status = describe_matrix(&d->a, s->type, second ? s->m : s->k, second ? s->k : s->m, s->batches,
                             s->a_stride);
  if (!status) status = describe_matrix(&d->out, s->out_type, s->n, s->m, s->batches, s->n * s->m);
  return status ? failed("describing the product", status) : 0;
}

static int ask(void *handle, const Shape *s, const Described *d, Choice *out) {
  void *preference = NULL;
  Heuristic found = {.state = 0};
  int n = 0, status = cublasLtMatmulPreferenceCreate(&preference);
  const struct {
    int key;
    uint32_t value;
  } aligns[] = {{PREF_ALIGN_A, s->b_align},
                {PREF_ALIGN_B, s->a_align},
                {PREF_ALIGN_C, s->out_align},
                {PREF_ALIGN_D, s->out_align}};
  size_t most = MOST_WORKSPACE;
  if (!status)
    status = cublasLtMatmulPreferenceSetAttribute(preference, PREF_WORKSPACE, &most, sizeof most);
  for (int i = 0; i < 4 && !status; i++)
    status = cublasLtMatmulPreferenceSetAttribute(preference, aligns[i].key, &aligns[i].value,
                                                  sizeof(uint32_t));
  if (!status)
    status = cublasLtMatmulAlgoGetHeuristic(handle, d->desc, d->b, d->a, d->out, d->out, preference,
                                            1, &found, &n);
  if (preference) cublasLtMatmulPreferenceDestroy(preference);
  if (!status && (!n || found.state)) status = n ? found.state : 15;
  *out = (Choice){*s, found.algorithm, found.workspace};
  return status ? failed("choosing an algorithm", status) : 0;
}

static bool recall(const Shape *s, Choice *out) {
  for (int i = 0; i < lt.len; i++) {
    if (memcmp(&lt.at[i].shape, s, sizeof *s)) continue;
    *out = lt.at[i];
    return true;
  }
  return false;
}

static void remember(const Choice *c) {
  if (!lt.at) lt.at = calloc(MOST_CHOICES, sizeof *lt.at);
  if (!lt.at) return;
  lt.at[lt.next] = *c;
  lt.next = (lt.next + 1) % MOST_CHOICES;
  if (lt.len < MOST_CHOICES) lt.len++;
}

static int choose(const Shape *s, const Described *d, void **handle, Choice *out) {
  int status = 0;
  pthread_mutex_lock(&lt.lock);
  if (!lt.handle[s->device]) status = cublasLtCreate(&lt.handle[s->device]);
  if (status) status = failed("cublasLtCreate", status);
  *handle = lt.handle[s->device];
  if (!status && !recall(s, out)) {
    status = ask(*handle, s, d, out);
    if (!status) remember(out);
  }
  pthread_mutex_unlock(&lt.lock);
  return status;
}

/* ---- one call ---- */

typedef struct Operands {
  char *a, *b, *out, *bias; /* addresses of the GPU */
  ShimDevice device;
} Operands;

static int run(const Shape *s, Operands *o) {
  const void *one = shim_factor(1, s->type == R_64F), *zero = shim_factor(0, s->type == R_64F);
  Described d = {.desc = NULL};
  Choice c;
  void *handle = NULL, *workspace = NULL;
  TvmsTensor *memory = NULL;
  int status = describe(s, o->bias, &d);
  if (!status) status = choose(s, &d, &handle, &c);
  if (!status) workspace = shim_workspace(name, &o->device, c.workspace, &memory);
  if (!status && c.workspace && !workspace) status = -1;
  if (!status) {
    status = cublasLtMatmul(handle, d.desc, one, o->b, d.b, o->a, d.a, zero, o->out, d.out, o->out,
                            d.out, &c.algorithm, workspace, c.workspace, o->device.queue);
    if (status) status = failed("cublasLtMatmul", status);
  }
  undescribe(&d);
  tvms_release(memory);
  return status;
}

/* ---- arguments ---- */

/* As the library calls the elements; -1: it has no such. */
static int type_of(const DLTensor *t) {
  static const int types[] = {R_16F, R_16BF, R_32F, R_64F};
  int kind = shim_float_kind(t);
  return kind < 0 ? -1 : types[kind];
}

static int read_post(const char *post, int *epilogue) {
  static const struct {
    const char *text;
    int epilogue;
  } rows[] = {{"", EPILOGUE_DEFAULT},
              {"bias", EPILOGUE_BIAS},
              {"relu", EPILOGUE_RELU},
              {"gelu_tanh", EPILOGUE_GELU},
              {"bias,relu", EPILOGUE_BIAS | EPILOGUE_RELU},
              {"bias,gelu_tanh", EPILOGUE_BIAS | EPILOGUE_GELU}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].text, post) == 0) return *epilogue = rows[i].epilogue, 0;
  return tvms_set_error("%s can't do '%s' after the product", name, post);
}

/* How many elements lie between the matrices of an operand, if that is the same everywhere; -1. */
static int64_t batch_stride(const DLTensor *t, const DLTensor *out, int64_t matrix) {
  int64_t own = shim_product(t->shape, t->ndim - 2), all = shim_product(out->shape, out->ndim - 2);
  return own == 1 ? 0 : own == all ? matrix : -1;
}

static uint32_t alignment(const void *address) {
  uintptr_t bits = (uintptr_t)address | MOST_ALIGN;
  return (uint32_t)(bits & -bits);
}

/* All at once, or matrix by matrix if operands broadcast in some of several batch dims. */
static int multiply(const ShimProduct *p, Shape *s, Operands *o) {
  size_t bytes = p->a->dtype.bits / 8, out_bytes = p->out->dtype.bits / 8;
  s->a_stride = batch_stride(p->a, p->out, p->m * p->k);
  s->b_stride = batch_stride(p->b, p->out, p->k * p->n);
  bool at_once = p->batches == 1 || (s->a_stride >= 0 && s->b_stride >= 0 && p->batches <= INT_MAX);
  int64_t calls = at_once ? 1 : p->batches;
  s->batches = at_once ? p->batches : 1;
  if (s->batches == 1) s->a_stride = s->b_stride = 0;
  const Operands all = *o;
  for (int64_t i = 0; i < calls; i++) {
    o->a = all.a + (size_t)(shim_matrix_of(p->a, p->out, i) * p->m * p->k) * bytes;
    o->b = all.b + (size_t)(shim_matrix_of(p->b, p->out, i) * p->k * p->n) * bytes;
    o->out = all.out + (size_t)(i * p->m * p->n) * out_bytes;
    s->a_align = alignment(o->a), s->b_align = alignment(o->b), s->out_align = alignment(o->out);
    if (run(s, o)) return -1;
  }
  return 0;
}

static int check_types(const ShimProduct *p, const DLTensor *bias, Shape *s) {
  s->type = type_of(p->a), s->out_type = type_of(p->out);
  bool half = s->type == R_16F || s->type == R_16BF;
  bool known = s->type >= 0 && type_of(p->b) == s->type;
  if (!known || (s->out_type != s->type && !(half && s->out_type == R_32F)))
    return tvms_set_error("%s: the operands must be float16, bfloat16, float32 or float64, both "
                          "alike, and the result like them, or of halves float32",
                          name);
  if (s->type == R_64F && s->epilogue != EPILOGUE_DEFAULT)
    return tvms_set_error("%s: nothing can follow a product of float64", name);
  if (bias && (type_of(bias) != s->out_type || shim_product(bias->shape, bias->ndim) != p->n))
    return tvms_set_error("%s: the bias must have a number for each column, of the result's dtype",
                          name);
  return 0;
}

static int matmul(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                  int *ret_type) {
  (void)self, (void)ret, (void)ret_type;
  ShimArgs s = {name, args, types, n};
  Shape shape = {.device = 0};
  if (n < 6 || n > 7) return tvms_set_error("%s takes 6 or 7 arguments, %d given", name, n);
  if (read_post(shim_text(&s, n - 2), &shape.epilogue)) return -1;
  bool has_bias = shape.epilogue & EPILOGUE_BIAS;
  if (has_bias != (n == 7))
    return tvms_set_error("%s: one tensor is too many, or the bias is missing", name);
  ShimProduct p = {.swap_a = shim_int(&s, n - 4), .swap_b = shim_int(&s, n - 3)};
  p.a = shim_tensor_on(&s, 0, kDLCUDA), p.b = shim_tensor_on(&s, 1, kDLCUDA);
  p.out = shim_tensor_on(&s, n - 1, kDLCUDA);
  const DLTensor *bias = has_bias ? shim_tensor_on(&s, 2, kDLCUDA) : NULL;
  if (!p.a || !p.b || !p.out || (has_bias && !bias)) return -1;
  if (shim_product_read(name, &p) || check_types(&p, bias, &shape)) return -1;
  if (!shim_product(p.out->shape, p.out->ndim)) return 0;
  if (!p.k) return tvms_set_error("%s: the operands have no columns to add up", name);
  Operands o = {.device = {-1, NULL}};
  bool placed = (o.a = shim_address(name, p.a, &o.device)) &&
                (o.b = shim_address(name, p.b, &o.device)) &&
                (o.out = shim_address(name, p.out, &o.device)) &&
                (!bias || (o.bias = shim_address(name, bias, &o.device)));
  if (!placed) return -1;
  shape.m = p.m, shape.n = p.n, shape.k = p.k, shape.device = o.device.id;
  shape.swap_a = p.swap_a, shape.swap_b = p.swap_b;
  return multiply(&p, &shape, &o);
}

static const TvmsShimFunction functions[] = {{name, matmul}, {NULL, NULL}};

SHIM_EXPORT = {TVMS_ABI_VERSION,
               "cublas",
               "libcublasLt.so.12 libcublasLt.so.13 libcublasLt.so.11",
               "it is of NVIDIA's CUDA toolkit, or of pip's nvidia-cublas-cu12",
               symbols,
               functions,
               NULL,
               kDLCUDA};
