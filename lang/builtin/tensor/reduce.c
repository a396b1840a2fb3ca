/* reduce.c -- sum, mean, max, argmax, ...: over all elements or over some axes.
 *
 * Floats are summed in double whatever the dtype, ints in 64 bits. */
#include "lang/builtin/tensor/tensor_impl.h"
#include <math.h>

typedef struct Total {
  double real;
  int64_t whole, best, n; /* best: place of the extreme; n: elements so far */
  double mean;            /* of the second pass of var */
} Total;

typedef struct Reduction {
  const char *name;
  void (*add_reals)(Total *t, int n, const double *x);
  void (*add_ints)(Total *t, int n, const int64_t *x); /* NULL: ints are taken as float64 */
  double real_start;
  int64_t whole_start;
  enum { DTYPE_SAME, DTYPE_SUM, DTYPE_MEAN, DTYPE_BOOL_, DTYPE_PLACE } result;
  bool needs_one; /* of nothing there is no maximum */
} Reduction;

static void add_sum(Total *t, int n, const double *x) {
  for (int i = 0; i < n; i++) t->real += x[i];
}
static void add_product(Total *t, int n, const double *x) {
  for (int i = 0; i < n; i++) t->real *= x[i];
}
static void add_squares(Total *t, int n, const double *x) {
  for (int i = 0; i < n; i++) t->real += (x[i] - t->mean) * (x[i] - t->mean);
}
/* NaN wins, and the first place of the extreme counts. */
static void add_max(Total *t, int n, const double *x) {
  for (int i = 0; i < n; i++)
    if (!(x[i] <= t->real) && t->real == t->real) t->real = x[i], t->best = t->n + i;
}
static void add_min(Total *t, int n, const double *x) {
  for (int i = 0; i < n; i++)
    if (!(x[i] >= t->real) && t->real == t->real) t->real = x[i], t->best = t->n + i;
}
static void add_all(Total *t, int n, const double *x) {
  for (int i = 0; i < n; i++) t->real = t->real != 0 && x[i] != 0;
}
static void add_any(Total *t, int n, const double *x) {
  for (int i = 0; i < n; i++) t->real = t->real != 0 || x[i] != 0;
}
static void add_int_sum(Total *t, int n, const int64_t *x) {
  uint64_t s = (uint64_t)t->whole;
  for (int i = 0; i < n; i++) s += (uint64_t)x[i];
  t->whole = (int64_t)s;
}
static void add_int_product(Total *t, int n, const int64_t *x) {
  uint64_t s = (uint64_t)t->whole;
  for (int i = 0; i < n; i++) s *= (uint64_t)x[i];
  t->whole = (int64_t)s;
}
static void add_int_max(Total *t, int n, const int64_t *x) {
  for (int i = 0; i < n; i++)
    if (x[i] > t->whole || t->n + i == 0) t->whole = x[i], t->best = t->n + i;
}
static void add_int_min(Total *t, int n, const int64_t *x) {
  for (int i = 0; i < n; i++)
    if (x[i] < t->whole || t->n + i == 0) t->whole = x[i], t->best = t->n + i;
}

static const Reduction reductions[] = {
    {"sum", add_sum, add_int_sum, 0, 0, DTYPE_SUM, false},
    {"prod", add_product, add_int_product, 1, 1, DTYPE_SUM, false},
    {"mean", add_sum, NULL, 0, 0, DTYPE_MEAN, false},
    {"var", add_squares, NULL, 0, 0, DTYPE_MEAN, false},
    {"std", add_squares, NULL, 0, 0, DTYPE_MEAN, false},
    {"max", add_max, add_int_max, -INFINITY, 0, DTYPE_SAME, true},
    {"min", add_min, add_int_min, INFINITY, 0, DTYPE_SAME, true},
    {"amax", add_max, add_int_max, -INFINITY, 0, DTYPE_SAME, true},
    {"amin", add_min, add_int_min, INFINITY, 0, DTYPE_SAME, true},
    {"argmax", add_max, add_int_max, -INFINITY, 0, DTYPE_PLACE, true},
    {"argmin", add_min, add_int_min, INFINITY, 0, DTYPE_PLACE, true},
    {"all", add_all, NULL, 1, 0, DTYPE_BOOL_, false},
    {"any", add_any, NULL, 0, 0, DTYPE_BOOL_, false},
};

static const Reduction *find_reduction(const char *name) {
  for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
    if (strcmp(reductions[i].name, name) == 0) return &reductions[i];
  BUG("no reduction %s", name);
}

static DataType result_dtype(const Reduction *r, DataType t) {
  switch (r->result) {
  case DTYPE_SUM:
    if (is_real(t)) return t;
    return t.code == DTYPE_UINT ? DTYPE_OF(UINT, 64) : INT64;
  case DTYPE_MEAN: return is_real(t) ? t : FLOAT64;
  case DTYPE_BOOL_: return BOOL;
  case DTYPE_PLACE: return INT64;
  default: return t;
  }
}

/* The view with the axes moved to the end; *kept of its dims stay. */
static View axes_last(const View *v, Value axes, int *kept, bool *reduced, Span span) {
  ValueVec list = {0};
  memset(reduced, value_is_none(axes), MAX_DIMS * sizeof *reduced);
  if (axes.type == &type_tuple || axes.type == &type_list) list = *value_items(axes);
  else if (!value_is_none(axes)) vec_push(&list, axes);
  for each (Value, a, &list) {
    int axis = axis_arg(*a, v->ndim, span);
    if (reduced[axis]) raise("ValueError", span, "axis %d is given twice", axis);
    reduced[axis] = true;
  }
  int order[MAX_DIMS], n = 0;
  for (int i = 0; i < v->ndim; i++)
    if (!reduced[i]) order[n++] = i;
  *kept = n;
  for (int i = 0; i < v->ndim; i++)
    if (reduced[i]) order[n++] = i;
  View out = *v;
  view_permute(&out, order);
  return out;
}

static void total_part(const Reduction *r, Total *t, const View *part) {
  const View *views[] = {part};
  Rows rows;
  rows_start(&rows, 1, views);
  bool whole = r->add_ints && !is_real(part->dtype);
  while (rows_next(&rows)) {
    double x[CHUNK];
    int64_t w[CHUNK];
    if (whole) {
      load_ints(part->dtype, rows.at[0], rows.stride[0], rows.n, w);
      /* The order of unsigned numbers is that of ints with the first bit turned. */
      for (int i = 0; i < rows.n && is_uint64(part->dtype) && r->needs_one; i++) w[i] ^= INT64_MIN;
      r->add_ints(t, rows.n, w);
    } else {
      load_reals(part->dtype, rows.at[0], rows.stride[0], rows.n, x);
      r->add_reals(t, rows.n, x);
    }
    t->n += rows.n;
  }
  if (whole && is_uint64(part->dtype) && r->needs_one) t->whole ^= INT64_MIN;
}

static void store_total(const Reduction *r, const Total *t, const View *part, DataType to, char *at,
                        int64_t ddof) {
  int64_t n = view_size(part);
  double x = t->real;
  if (r->result == DTYPE_PLACE) return store_ints(to, at, 1, 1, &t->best);
  if (r->add_ints && !is_real(part->dtype)) return store_ints(to, at, 1, 1, &t->whole);
  if (r->result == DTYPE_MEAN) x /= (double)(n - ddof);
  if (strcmp(r->name, "std") == 0) x = sqrt(x);
  store_reals(to, at, 1, 1, &x);
}

static Total fresh(const Reduction *r) {
  return (Total){.real = r->real_start, .whole = r->whole_start};
}

static Total total_of(const Reduction *r, const View *part) {
  Total t = fresh(r);
  if (r->add_reals == add_squares) {
    Total mean = {0};
    total_part(find_reduction("mean"), &mean, part);
    t.mean = mean.real / (double)view_size(part);
  }
  total_part(r, &t, part);
  return t;
}

static Value reduce(const Reduction *r, Value x, Value axes, bool keepdims, int64_t ddof,
                    Span span) {
  View v = view_of(x);
  bool reduced[MAX_DIMS];
  int kept;
  View moved = axes_last(&v, axes, &kept, reduced, span);
  View part = {.dtype = v.dtype, .ndim = v.ndim - kept};
  memcpy(part.shape, moved.shape + kept, sizeof *part.shape * (size_t)part.ndim);
  memcpy(part.strides, moved.strides + kept, sizeof *part.strides * (size_t)part.ndim);
  View outer = moved;
  outer.ndim = kept;
  if (r->needs_one && !view_size(&part))
    raise("ValueError", span, "%s() of no elements, and it has no identity", r->name);
  DataType t = result_dtype(r, v.dtype);
  Value out = tensor_new(t, kept, moved.shape, span);
  char *to = view_of(out).data;
  int64_t index[MAX_DIMS] = {0}, n = view_size(&outer);
  for (int64_t i = 0; i < n; i++, to += dtype_nbytes(t)) {
    part.data = view_at(&outer, index);
    Total total = total_of(r, &part);
    store_total(r, &total, &part, t, to, ddof);
    for (int d = kept; d-- > 0 && ++index[d] == outer.shape[d];) index[d] = 0;
  }
  if (!keepdims) return tensor_as_scalar(out);
  int64_t shape[MAX_DIMS];
  for (int i = 0; i < v.ndim; i++) shape[i] = reduced[i] ? 1 : v.shape[i];
  return tensor_reshaped(out, v.ndim, shape, span);
}

/* ---- as functions and as methods: the tensor is self, or the first argument ---- */

static Value np_reduce(BuiltinCall *c) {
  Value *args = c->self.type ? c->args : c->args + 1;
  Value x = c->self.type ? c->self : tensor_of(c->args[0], c->spans[0]);
  const Reduction *r = find_reduction(c->builtin->name);
  return reduce(r, x, args[0], value_truth(args[1], c->span), 0, c->span);
}

/* Sums and means, whose dtype may be asked for: they are taken of the elements in that dtype. */
static Value np_total(BuiltinCall *c) {
  Value *args = c->self.type ? c->args : c->args + 1;
  Value x = c->self.type ? c->self : tensor_of(c->args[0], c->spans[0]);
  const Reduction *r = find_reduction(c->builtin->name);
  bool typed = !value_is_none(args[1]), deviation = r->add_reals == add_squares;
  DataType t = typed ? dtype_arg(args[1], c->span) : tensor_dtype(x);
  View v = view_of(x);
  int64_t ddof = deviation ? value_as_int(args[3], "ddof", c->span) : 0;
  x = reduce(r, typed ? tensor_cast(&v, t, c->span) : x, args[0], value_truth(args[2], c->span),
             ddof, c->span);
  v = view_of(x);
  return typed && !dtype_equal(v.dtype, t) ? tensor_as_scalar(tensor_cast(&v, t, c->span)) : x;
}

static Value np_ptp(BuiltinCall *c) {
  Value x = tensor_of(c->args[0], c->spans[0]);
  Value high = reduce(find_reduction("max"), x, c->args[1], false, 0, c->span);
  return value_binary(AST_SUB, high,
                      reduce(find_reduction("min"), x, c->args[1], false, 0, c->span), c->span);
}

static void run_reals(DataType t, char *at, int64_t step, int64_t n, bool product) {
  double total = product;
  for (int64_t k = 0; k < n; k++, at += step) {
    double x;
    load_reals(t, at, 1, 1, &x);
    total = product ? total * x : total + x;
    store_reals(t, at, 1, 1, &total);
  }
}

static void run_ints(DataType t, char *at, int64_t step, int64_t n, bool product) {
  uint64_t total = product;
  for (int64_t k = 0; k < n; k++, at += step) {
    int64_t x;
    load_ints(t, at, 1, 1, &x);
    total = product ? total * (uint64_t)x : total + (uint64_t)x;
    store_ints(t, at, 1, 1, (int64_t *)&total);
  }
}

/* Running sums (or products) along an axis, or over all elements in order. */
static Value running(BuiltinCall *c, bool product) {
  Value *args = c->self.type ? c->args : c->args + 1;
  Value x = c->self.type ? c->self : tensor_of(c->args[0], c->spans[0]);
  View v = view_of(x);
  DataType t = result_dtype(find_reduction("sum"), v.dtype);
  Value out = tensor_cast(&v, t, c->span);
  View to = view_of(out);
  int axis = 0;
  if (value_is_none(args[0])) {
    int64_t size = view_size(&v);
    out = tensor_reshaped(out, 1, &size, c->span);
    to = view_of(out);
  } else {
    axis = axis_arg(args[0], v.ndim, c->span);
  }
  int64_t extent = to.shape[axis], step = to.strides[axis] * dtype_nbytes(t);
  View first = to;
  first.shape[axis] = 1;
  int64_t index[MAX_DIMS] = {0}, n = extent ? view_size(&first) : 0;
  for (int64_t i = 0; i < n; i++) {
    (is_real(t) ? run_reals : run_ints)(t, view_at(&first, index), step, extent, product);
    for (int d = to.ndim; d-- > 0 && ++index[d] == first.shape[d];) index[d] = 0;
  }
  return out;
}
static Value np_cumsum(BuiltinCall *c) { return running(c, false); }
static Value np_cumprod(BuiltinCall *c) { return running(c, true); }

#define TOTAL "axis=None, dtype=None, *, keepdims=False"
#define ROWS(first)                                                                                \
  {"sum", first TOTAL, np_total, "the sum"}, {"prod", first TOTAL, np_total, "the product"},       \
      {"mean", first TOTAL, np_total, "the mean"},                                                 \
      {"var", first TOTAL ", ddof=0", np_total, "the variance"},                                   \
      {"std", first TOTAL ", ddof=0", np_total, "the standard deviation"},                         \
      {"max", first "axis=None, keepdims=False", np_reduce, "the greatest"},                       \
      {"min", first "axis=None, keepdims=False", np_reduce, "the least"},                          \
      {"argmax", first "axis=None, keepdims=False", np_reduce, "the place of the greatest"},       \
      {"argmin", first "axis=None, keepdims=False", np_reduce, "the place of the least"},          \
      {"all", first "axis=None, keepdims=False", np_reduce, "are all true?"},                      \
      {"any", first "axis=None, keepdims=False", np_reduce, "is any true?"},                       \
      {"cumsum", first "axis=None", np_cumsum, "running sums"}, {                                  \
    "cumprod", first "axis=None", np_cumprod, "running products"                                   \
  }

static const Builtin methods[] = {ROWS("")};
static const Builtin rows[] = {
    ROWS("a, "),
    {"amax", "a, axis=None, keepdims=False", np_reduce, "the greatest"},
    {"amin", "a, axis=None, keepdims=False", np_reduce, "the least"},
    {"ptp", "a, axis=None", np_ptp, "greatest minus least"},
};
#undef ROWS
#undef TOTAL
const BuiltinRows reduce_methods = {methods, sizeof methods / sizeof *methods};
const BuiltinRows reduce_rows = {rows, sizeof rows / sizeof *rows};
