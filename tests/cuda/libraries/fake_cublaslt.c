/* fake_cublaslt.c -- stands for libcublasLt.so.12: plain loops over matrices whose columns lie next
 * to each other, with the rules that NVIDIA's documentation tells. What it would not take is
 * refused. */
#include "fake.h"
#include <math.h>

enum { NOT_INITIALIZED = 1, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };

typedef struct Desc {
  int compute, scale, trans_a, trans_b, epilogue;
  const void *bias;
} Desc;
typedef struct Layout {
  int type, batches;
  uint64_t rows, cols;
  int64_t ld, stride;
} Layout;
typedef struct Preference {
  uint64_t workspace;
  uint32_t align[4];
} Preference;
typedef struct Algorithm {
  uint64_t data[8]; /* a mark, the alignment that it counts on, the workspace */
} Algorithm;
typedef struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} Heuristic;

static char handle[1];
enum { MARK = 0x17 };

static int read_attribute(void *slot, size_t room, const void *value, size_t n) {
  if (n != room) return INVALID_VALUE;
  memcpy(slot, value, n);
  return 0;
}

int cublasLtCreate(void **out) {
  note("cublasLtCreate");
  *out = handle;
  return planned("cublasLtCreate");
}

int cublasLtMatmulDescCreate(Desc **out, int compute, int scale) {
  *out = calloc(1, sizeof **out);
  **out = (Desc){.compute = compute, .scale = scale, .epilogue = 1};
  return 0;
}
int cublasLtMatmulDescDestroy(Desc *d) { return free(d), 0; }
int cublasLtMatmulDescSetAttribute(Desc *d, int key, const void *value, size_t n) {
  switch (key) {
  case 3: return read_attribute(&d->trans_a, sizeof d->trans_a, value, n);
  case 4: return read_attribute(&d->trans_b, sizeof d->trans_b, value, n);
  case 7: return read_attribute(&d->epilogue, sizeof d->epilogue, value, n);
  case 8: return read_attribute(&d->bias, sizeof d->bias, value, n);
  default: return INVALID_VALUE;
  }
}

int cublasLtMatrixLayoutCreate(Layout **out, int type, uint64_t rows, uint64_t cols, int64_t ld) {
  *out = calloc(1, sizeof **out);
  **out = (Layout){.type = type, .batches = 1, .rows = rows, .cols = cols, .ld = ld};
  return 0;
}
int cublasLtMatrixLayoutDestroy(Layout *l) { return free(l), 0; }
int cublasLtMatrixLayoutSetAttribute(Layout *l, int key, const void *value, size_t n) {
  switch (key) {
  case 5: return read_attribute(&l->batches, sizeof l->batches, value, n);
  case 6: return read_attribute(&l->stride, sizeof l->stride, value, n);
  default: return INVALID_VALUE;
  }
}

int cublasLtMatmulPreferenceCreate(Preference **out) {
  *out = calloc(1, sizeof **out);
  for (int i = 0; i < 4; i++) (*out)->align[i] = 256;
  return 0;
}
int cublasLtMatmulPreferenceDestroy(Preference *p) { return free(p), 0; }
int cublasLtMatmulPreferenceSetAttribute(Preference *p, int key, const void *value, size_t n) {
  if (key == 1) return read_attribute(&p->workspace, sizeof p->workspace, value, n);
  if (key < 5 || key > 8) return INVALID_VALUE;
  return read_attribute(&p->align[key - 5], sizeof p->align[0], value, n);
}

/* 0: they fit each other. */
static int check(const Desc *d, const Layout *a, const Layout *b, const Layout *c) {
  uint64_t m = d->trans_a ? a->cols : a->rows, k = d->trans_a ? a->rows : a->cols;
  uint64_t kb = d->trans_b ? b->cols : b->rows, n = d->trans_b ? b->rows : b->cols;
  int wide = a->type == 1, half = a->type == 2 || a->type == 14;
  const Layout *all[] = {a, b, c};
  if (!m || !n || !k || kb != k || c->rows != m || c->cols != n) return INVALID_VALUE;
  for (int i = 0; i < 3; i++)
    if (all[i]->ld < (int64_t)all[i]->rows || all[i]->batches != c->batches) return INVALID_VALUE;
  if (a->type != b->type || (c->type != a->type && !(half && c->type == 0))) return NOT_SUPPORTED;
  if (d->compute != (wide ? 70 : 68) || d->scale != (wide ? 1 : 0)) return NOT_SUPPORTED;
  return wide && d->epilogue != 1 ? NOT_SUPPORTED : 0;
}

int cublasLtMatmulAlgoGetHeuristic(void *h, const Desc *d, const Layout *a, const Layout *b,
                                   const Layout *c, const Layout *e, const Preference *p, int most,
                                   Heuristic *out, int *n) {
  int status = planned("cublasLtMatmulAlgoGetHeuristic");
  uint32_t least = 256;
  note("cublasLtMatmulAlgoGetHeuristic");
  if (status) return status;
  if (h != handle || most < 1 || memcmp(c, e, sizeof *c)) return INVALID_VALUE;
  status = check(d, a, b, c);
  for (int i = 0; i < 4; i++) least = p->align[i] < least ? p->align[i] : least;
  *n = status == 0;
  *out = (Heuristic){.workspace = p->workspace < 4096 ? 0 : 4096};
  out->algorithm = (Algorithm){{MARK, least, out->workspace}};
  return status;
}

static Dtype dtype(int type) {
  return type == 0 ? FLOAT : type == 1 ? DOUBLE : type == 2 ? HALF : BFLOAT;
}

static double element(const Layout *l, const void *at, int batch, int transposed, uint64_t row,
                      uint64_t col) {
  uint64_t r = transposed ? col : row, c = transposed ? row : col;
  return number_at(dtype(l->type), at, batch * l->stride + (int64_t)c * l->ld + (int64_t)r);
}

static double finish(const Desc *d, const Layout *c, double x, uint64_t row) {
  if (d->epilogue & 4) x += number_at(dtype(c->type), d->bias, (int64_t)row);
  if (d->epilogue & 2) x = x > 0 ? x : 0;
  if (d->epilogue & 32)
    x = 0.5 * x * (1 + tanh(sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
  return x;
}

int cublasLtMatmul(void *h, const Desc *d, const void *alpha, const void *a, const Layout *al,
                   const void *b, const Layout *bl, const void *beta, const void *c,
                   const Layout *cl, void *out, const Layout *ol, const Algorithm *algorithm,
                   void *workspace, size_t workspace_size, void *stream) {
  int status = planned("cublasLtMatmul");
  uint64_t depth = d->trans_a ? al->rows : al->cols, align = algorithm->data[1];
  const void *all[] = {a, b, c, out};
  double one = d->scale == 1 ? *(const double *)alpha : (double)*(const float *)alpha;
  double zero = d->scale == 1 ? *(const double *)beta : (double)*(const float *)beta;
  note("cublasLtMatmul %llu x %llu x %llu, %d times, epilogue %d", (unsigned long long)ol->rows,
       (unsigned long long)ol->cols, (unsigned long long)depth, ol->batches, d->epilogue);
  if (status) return status;
  for (int i = 0; i < 4; i++)
    if ((uintptr_t)all[i] % align) return INVALID_VALUE;
  if (h != handle || algorithm->data[0] != MARK || workspace_size < algorithm->data[2] || !stream)
    return INVALID_VALUE;
  if (workspace_size) memset(bytes_at(workspace), 0xff, workspace_size);
  if (one != 1 || zero != 0 || check(d, al, bl, ol) || memcmp(cl, ol, sizeof *cl))
    return INVALID_VALUE;
  for (int batch = 0; batch < ol->batches; batch++)
    for (uint64_t col = 0; col < ol->cols; col++)
      for (uint64_t row = 0; row < ol->rows; row++) {
        double sum = 0;
        for (uint64_t k = 0; k < depth; k++)
          sum +=
              element(al, a, batch, d->trans_a, row, k) * element(bl, b, batch, d->trans_b, k, col);
        set_number(dtype(ol->type), out, batch * ol->stride + (int64_t)col * ol->ld + (int64_t)row,
                   finish(d, ol, sum, row));
      }
  return 0;
}
