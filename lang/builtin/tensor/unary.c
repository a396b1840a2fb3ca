/* unary.c -- functions of one tensor, element by element; where and clip. */
#include "lang/builtin/tensor/tensor_impl.h"
#include <math.h>

typedef struct UnaryKernel {
  const char *name, *doc;
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
    {"negative", "-x", k_negative, w_negative, false},
    {"positive", "x", k_positive, w_positive, false},
    {"abs", "|x|", fabs, w_abs, false},
    {"absolute", "|x|", fabs, w_abs, false},
    {"fabs", "|x|", fabs, NULL, false},
    {"sign", "-1, 0 or 1", k_sign, w_sign, false},
    {"square", "x * x", k_square, w_square, false},
    {"sqrt", "square root", sqrt, NULL, false},
    {"rsqrt", "1 / sqrt(x)", k_rsqrt, NULL, false},
    {"cbrt", "cube root", cbrt, NULL, false},
    {"reciprocal", "1 / x", k_reciprocal, NULL, false},
    {"exp", "e ** x", exp, NULL, false},
    {"exp2", "2 ** x", exp2, NULL, false},
    {"expm1", "exp(x) - 1", expm1, NULL, false},
    {"log", "natural logarithm", log, NULL, false},
    {"log2", "to base 2", log2, NULL, false},
    {"log10", "to base 10", log10, NULL, false},
    {"log1p", "log(1 + x)", log1p, NULL, false},
    {"sin", "sine", sin, NULL, false},
    {"cos", "cosine", cos, NULL, false},
    {"tan", "tangent", tan, NULL, false},
    {"arcsin", "arc sine", asin, NULL, false},
    {"arccos", "arc cosine", acos, NULL, false},
    {"arctan", "arc tangent", atan, NULL, false},
    {"sinh", "hyperbolic sine", sinh, NULL, false},
    {"cosh", "hyperbolic cosine", cosh, NULL, false},
    {"tanh", "hyperbolic tangent", tanh, NULL, false},
    {"arcsinh", "inverse hyperbolic sine", asinh, NULL, false},
    {"arccosh", "inverse hyperbolic cosine", acosh, NULL, false},
    {"arctanh", "inverse hyperbolic tangent", atanh, NULL, false},
    {"erf", "error function", erf, NULL, false},
    {"sigmoid", "1 / (1 + exp(-x))", k_sigmoid, NULL, false},
    {"relu", "max(x, 0)", k_relu, w_relu, false},
    {"degrees", "radians to degrees", k_degrees, NULL, false},
    {"radians", "degrees to radians", k_radians, NULL, false},
    {"floor", "rounded down", floor, w_positive, false},
    {"ceil", "rounded up", ceil, w_positive, false},
    {"trunc", "rounded towards zero", trunc, w_positive, false},
    {"rint", "rounded half to even", nearbyint, NULL, false},
    {"isnan", "NaN?", k_isnan, w_false, true},
    {"isinf", "infinite?", k_isinf, w_false, true},
    {"isfinite", "neither infinite nor NaN?", k_isfinite, w_true, true},
    {"logical_not", "not x", k_logical_not, w_not, true},
    {"invert", "~x", NULL, w_invert, false},
    {"bitwise_not", "~x", NULL, w_invert, false},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static const UnaryKernel *find_kernel(const char *name) {
  for (int i = 0; i < KERNELS; i++)
    if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
  return NULL;
}

static Value run_unary(const UnaryKernel *k, const View *v, Span span) {
  if (!k->real && is_real(v->dtype))
    raise("TypeError", span, "%s is not defined for %s", k->name, dtype_text(v->dtype));
  bool real = is_real(v->dtype) || !k->whole;
  DataType t = k->gives_bool ? BOOL : real && !is_real(v->dtype) ? FLOAT64 : v->dtype;
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
  return out;
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

static Value np_clip(BuiltinCall *c) {
  Value x = tensor_of(c->args[0], c->spans[0]);
  if (!value_is_none(c->args[1])) x = tensor_binary(binary_kernel("maximum"), x, c->args[1], c->span);
  if (!value_is_none(c->args[2])) x = tensor_binary(binary_kernel("minimum"), x, c->args[2], c->span);
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
#define ROW(name, doc) {name, "x, /", np_unary, doc}
    ROW("negative", "-x"), ROW("positive", "x"), ROW("abs", "|x|"), ROW("absolute", "|x|"),
    ROW("fabs", "|x|"), ROW("sign", "-1, 0 or 1"), ROW("square", "x * x"), ROW("sqrt", "square root"),
    ROW("rsqrt", "1 / sqrt(x)"), ROW("cbrt", "cube root"), ROW("reciprocal", "1 / x"),
    ROW("exp", "e ** x"), ROW("exp2", "2 ** x"), ROW("expm1", "exp(x) - 1"), ROW("log", "logarithm"),
    ROW("log2", "to base 2"), ROW("log10", "to base 10"), ROW("log1p", "log(1 + x)"),
    ROW("sin", "sine"), ROW("cos", "cosine"), ROW("tan", "tangent"), ROW("arcsin", "arc sine"),
    ROW("arccos", "arc cosine"), ROW("arctan", "arc tangent"), ROW("sinh", "hyperbolic sine"),
    ROW("cosh", "hyperbolic cosine"), ROW("tanh", "hyperbolic tangent"),
    ROW("arcsinh", "inverse of sinh"), ROW("arccosh", "inverse of cosh"),
    ROW("arctanh", "inverse of tanh"), ROW("erf", "error function"),
    ROW("sigmoid", "1 / (1 + exp(-x))"), ROW("relu", "max(x, 0)"), ROW("degrees", "in degrees"),
    ROW("radians", "in radians"), ROW("floor", "rounded down"), ROW("ceil", "rounded up"),
    ROW("trunc", "rounded towards zero"), ROW("rint", "rounded half to even"),
    ROW("isnan", "NaN?"), ROW("isinf", "infinite?"), ROW("isfinite", "finite?"),
    ROW("logical_not", "not x"), ROW("invert", "~x"), ROW("bitwise_not", "~x"),
#undef ROW
    {"where", "condition, x?, y?, /", np_where, "x where the condition holds, y elsewhere"},
    {"clip", "a, a_min=None, a_max=None", np_clip, "limited to a range"},
    {"round", "a, decimals=0", np_round, "rounded half to even"},
    {"around", "a, decimals=0", np_round, "rounded half to even"},
};
const BuiltinRows unary_rows = {rows, sizeof rows / sizeof *rows};
