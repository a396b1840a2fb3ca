/* unary.c -- functions of one tensor, element by element; where and clip. */
#include "lang/builtin/tensor/tensor_impl.h"
#include <math.h>

typedef struct UnaryKernel {
  const char *name;
  double (*real)(double x);
  int64_t (*whole)(int64_t x); /* NULL: ints become float64 */
  bool gives_bool;
} UnaryKernel;

static double k_negative(double x) { return -x; }
static double k_positive(double x) { return x; }
static double k_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static double k_square(double x) { return x * x; }
static double k_reciprocal(double x) { return 1 / x; }
static double k_rsqrt(double x) { return 1 / sqrt(x); }
static double k_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double k_relu(double x) { return x != x || x > 0 ? x : 0; }
static double k_isnan(double x) { return isnan(x); }
static double k_isinf(double x) { return isinf(x); }
static double k_isfinite(double x) { return isfinite(x); }
static double k_logical_not(double x) { return x == 0; }
static double k_degrees(double x) { return x * (180 / M_PI); }
static double k_radians(double x) { return x * (M_PI / 180); }
static int64_t w_negative(int64_t x) { return (int64_t)(0 - (uint64_t)x); }
static int64_t w_positive(int64_t x) { return x; }
static int64_t w_abs(int64_t x) { return x < 0 ? w_negative(x) : x; }
static int64_t w_sign(int64_t x) { return (x > 0) - (x < 0); }
static int64_t w_square(int64_t x) { return (int64_t)((uint64_t)x * (uint64_t)x); }
static int64_t w_relu(int64_t x) { return x > 0 ? x : 0; }
static int64_t w_not(int64_t x) { return x == 0; }
static int64_t w_invert(int64_t x) { return ~x; }
static int64_t w_false(int64_t x) { return (void)x, 0; }
static int64_t w_true(int64_t x) { return (void)x, 1; }

static const UnaryKernel kernels[] = {
#define UNARY(name, real, whole, gives_bool, doc) {#name, real, whole, gives_bool},
#include "lang/builtin/tensor/unary.def"
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static const UnaryKernel *find_kernel(const char *name) {
  for (int i = 0; i < KERNELS; i++)
    if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
  return NULL;
}

/* What functions of floats give for ints: the smallest float that holds them all. */
static DataType float_of_ints(DataType t) {
  return t.bits <= 8 ? DTYPE_OF(FLOAT, 16) : t.bits == 16 ? DTYPE_OF(FLOAT, 32) : FLOAT64;
}

static Value run_unary(const UnaryKernel *k, const View *v, Span span) {
  if (!k->real && is_real(v->dtype))
    raise("TypeError", span, "%s is not defined for %s", k->name, dtype_text(v->dtype));
  bool real = is_real(v->dtype) || !k->whole;
  DataType t = k->gives_bool                ? BOOL
               : real && !is_real(v->dtype) ? float_of_ints(v->dtype)
                                            : v->dtype;
  Value out = tensor_new(t, v->ndim, v->shape, span);
  View to = view_of(out);
  const View *views[] = {&to, v};
  Rows r;
  rows_start(&r, 2, views);
  while (rows_next(&r)) {
    double x[CHUNK];
    int64_t w[CHUNK];
    if (real) {
      load_reals(v->dtype, r.at[1], r.stride[1], r.n, x);
      for (int i = 0; i < r.n; i++) x[i] = k->real(x[i]);
      store_reals(t, r.at[0], r.stride[0], r.n, x);
    } else {
      load_ints(v->dtype, r.at[1], r.stride[1], r.n, w);
      for (int i = 0; i < r.n; i++) w[i] = k->whole(w[i]);
      store_ints(t, r.at[0], r.stride[0], r.n, w);
    }
  }
  return tensor_as_scalar(out);
}

Value tensor_unary_op(AstOp op, Value a, Span span) {
  View v = view_of(a);
  switch (op) {
  case AST_NEG:
    if (dtype_is_bool(v.dtype)) raise("TypeError", span, "bool tensors have no negative: use ~");
    return run_unary(find_kernel("negative"), &v, span);
  case AST_POS: return tensor_copied(&v, span);
  case AST_INVERT:
    return run_unary(find_kernel(dtype_is_bool(v.dtype) ? "logical_not" : "invert"), &v, span);
  default: return value_absent();
  }
}

Value tensor_abs(BuiltinCall *c) {
  View v = view_of(c->self);
  return run_unary(find_kernel("abs"), &v, c->span);
}

static Value np_unary(BuiltinCall *c) {
  View v = view_of(tensor_of(c->args[0], c->spans[0]));
  const UnaryKernel *k = find_kernel(c->builtin->name);
  if (dtype_is_bool(v.dtype) && k->whole == w_invert) k = find_kernel("logical_not");
  return run_unary(k, &v, c->span);
}

/* ---- where, clip, round ---- */

static Value nonzero_of(Value v, Span span) {
  Value f = value_get_attr(v, str_intern("nonzero"), span);
  return value_call_with(f, 0, NULL, span);
}

static Value np_where(BuiltinCall *c) {
  Value cond = tensor_of(c->args[0], c->spans[0]);
  if (!c->args[1].type && !c->args[2].type) return nonzero_of(cond, c->span);
  if (!c->args[1].type || !c->args[2].type)
    raise("TypeError", c->span, "where() takes a condition, or a condition, x and y");
  Operand x, y;
  if (!operand_of(c->args[1], &x, c->span) || !operand_of(c->args[2], &y, c->span))
    raise("TypeError", c->span, "where() takes tensors and numbers");
  DataType t = promote_operands(&x, &y, c->span);
  View a = x.scalar.type ? view_of(tensor_scalar(t, x.scalar, c->span)) : x.view;
  View b = y.scalar.type ? view_of(tensor_scalar(t, y.scalar, c->span)) : y.view;
  View k = view_of(cond), ab = {0}, shape = {0};
  k = view_of(tensor_cast(&k, BOOL, c->span));
  broadcast_shapes(&a, &b, &ab, c->span);
  broadcast_shapes(&ab, &k, &shape, c->span);
  a = view_of(tensor_cast(&a, t, c->span));
  view_broadcast(&a, shape.ndim, shape.shape, "x", c->span);
  view_broadcast(&b, shape.ndim, shape.shape, "y", c->span);
  view_broadcast(&k, shape.ndim, shape.shape, "the condition", c->span);
  Value out = tensor_cast(&b, t, c->span);
  View to = view_of(out);
  const View *views[] = {&to, &a, &k};
  Rows r;
  rows_start(&r, 3, views);
  int size = dtype_nbytes(t);
  while (rows_next(&r))
    for (int64_t i = 0; i < r.n; i++)
      if (r.at[2][i * r.stride[2]])
        memcpy(r.at[0] + i * r.stride[0] * size, r.at[1] + i * r.stride[1] * size, (size_t)size);
  return out;
}

/* The bounds have two names each. */
static Value np_clip(BuiltinCall *c) {
  Value x = tensor_of(c->args[0], c->spans[0]);
  for (int i = 0; i < 2; i++) {
    Value old = c->args[1 + i], bound = value_is_none(old) ? c->args[3 + i] : old;
    if (value_is_none(bound)) continue;
    x = tensor_binary(binary_kernel(i ? "minimum" : "maximum"), x, bound, c->span);
  }
  return x;
}

static Value np_round(BuiltinCall *c) {
  Value x = tensor_of(c->args[0], c->spans[0]);
  int64_t digits = value_as_int(c->args[1], "decimals", c->spans[1]);
  View v = view_of(x);
  if (!is_real(v.dtype)) return tensor_copied(&v, c->span);
  if (!digits) return run_unary(find_kernel("rint"), &v, c->span);
  Value scale = value_float(pow(10, (double)digits));
  Value scaled = value_binary(AST_MUL, x, scale, c->span);
  View s = view_of(scaled);
  return value_binary(AST_DIV, run_unary(find_kernel("rint"), &s, c->span), scale, c->span);
}

Value tensor_round(BuiltinCall *c) {
  Value args[] = {c->self, value_is_none(c->args[0]) ? value_int(0) : c->args[0]};
  Span spans[] = {c->span, c->spans[0]};
  BuiltinCall round = {.args = args, .spans = spans, .span = c->span};
  return np_round(&round);
}

static const Builtin rows[] = {
#define UNARY(name, real, whole, gives_bool, doc) {#name, "x, /", np_unary, doc},
#include "lang/builtin/tensor/unary.def"
    {"where", "condition, x?, y?, /", np_where, "x where the condition holds, y elsewhere"},
    {"clip", "a, a_min=None, a_max=None, *, min=None, max=None", np_clip, "limited to a range"},
    {"round", "a, decimals=0", np_round, "rounded half to even"},
    {"around", "a, decimals=0", np_round, "rounded half to even"},
};
const BuiltinRows unary_rows = {rows, sizeof rows / sizeof *rows};
