/* binary.c -- operators and functions of two tensors, element by element, with broadcasting. */
#include "lang/builtin/tensor/tensor_impl.h"
#include "lang/value/big_int.h"
#include <math.h>

/* ---- promotion of dtypes, as NumPy does it ---- */

static DataType promote_int(DataType a, DataType b) {
  if (a.code == b.code) return a.bits >= b.bits ? a : b;
  DataType s = a.code == DTYPE_INT ? a : b, u = a.code == DTYPE_INT ? b : a;
  if (s.bits > u.bits) return s;
  return u.bits >= 64 ? FLOAT64 : DTYPE_OF(INT, (uint8_t)(u.bits * 2));
}

static bool is_ieee(DataType t) { return t.code == DTYPE_FLOAT; }

static DataType promote_real(DataType a, DataType b) {
  if (is_ieee(a) && is_ieee(b)) return a.bits >= b.bits ? a : b;
  if (is_ieee(a) && a.bits >= 32) return a;
  if (is_ieee(b) && b.bits >= 32) return b;
  return FLOAT32; /* two kinds of short float */
}

DataType promote(DataType a, DataType b) {
  if (dtype_equal(a, b)) return a;
  if (dtype_is_bool(a)) return b;
  if (dtype_is_bool(b)) return a;
  if (!is_real(a) && !is_real(b)) return promote_int(a, b);
  if (is_real(a) && is_real(b)) return promote_real(a, b);
  DataType real = is_real(a) ? a : b, whole = is_real(a) ? b : a;
  if (!is_ieee(real) || real.bits == 64 || whole.bits <= 8) return real;
  if (real.bits == 16) return whole.bits == 16 ? FLOAT32 : FLOAT64;
  return whole.bits <= 16 ? real : FLOAT64;
}

bool operand_of(Value v, Operand *out, Span span) {
  *out = (Operand){0};
  if (value_is_integer(v) || v.type == &type_float) out->scalar = v;
  else if (v.type == &type_tensor) out->view = view_of(v);
  else if (v.type == &type_list || v.type == &type_tuple) out->view = view_of(tensor_of(v, span));
  else return false;
  return true;
}

/* The dtype that a weak number gives beside a tensor of dtype t. */
static DataType weak_dtype(Value scalar, DataType t) {
  if (scalar.type == &type_bool) return t;
  if (scalar.type == &type_float) return is_real(t) ? t : FLOAT64;
  return dtype_is_bool(t) ? INT64 : t;
}

static DataType strong_dtype(Value scalar) {
  return scalar.type == &type_bool  ? BOOL
         : scalar.type == &type_int ? INT64
         : scalar.type == &type_big ? DTYPE_OF(UINT, 64)
                                    : FLOAT64;
}

DataType promote_operands(const Operand *a, const Operand *b, Span span) {
  (void)span;
  if (a->scalar.type && b->scalar.type)
    return promote(strong_dtype(a->scalar), strong_dtype(b->scalar));
  if (a->scalar.type) return weak_dtype(a->scalar, b->view.dtype);
  if (b->scalar.type) return weak_dtype(b->scalar, a->view.dtype);
  return promote(a->view.dtype, b->view.dtype);
}

/* ---- kernels ---- */

struct BinaryKernel {
  const char *name;
  void (*real)(int n, const double *a, const double *b, double *out);
  void (*whole)(int n, const int64_t *a, const int64_t *b, int64_t *out);   /* NULL: goes by real */
  void (*natural)(int n, const int64_t *a, const int64_t *b, int64_t *out); /* of uint64; or NULL */
  enum { GIVES_PROMOTED, GIVES_BOOL, GIVES_REAL } gives;
};

#define REAL(name, expression)                                                                     \
  static void real_##name(int n, const double *a, const double *b, double *out) {                  \
    for (int i = 0; i < n; i++) {                                                                  \
      double x = a[i], y = b[i];                                                                   \
      out[i] = expression;                                                                         \
    }                                                                                              \
  }
#define WHOLE(name, type, expression)                                                              \
  static void name(int n, const int64_t *a, const int64_t *b, int64_t *out) {                      \
    for (int i = 0; i < n; i++) {                                                                  \
      type x = (type)a[i], y = (type)b[i];                                                         \
      out[i] = (int64_t)(expression);                                                              \
    }                                                                                              \
  }

static double floor_divide(double x, double y) {
  if (y == 0) return x / y;
  double r = fmod(x, y), q = (x - r) / y;
  if (r != 0 && (r < 0) != (y < 0)) q -= 1;
  return q == 0 ? copysign(0, x / y) : floor(q + 0.5) - q > 0.5 ? floor(q) : rint(q);
}
static double floor_modulo(double x, double y) {
  double r = fmod(x, y);
  if (r == 0) return copysign(0, y);
  return (r < 0) != (y < 0) ? r + y : r;
}
/* Division by zero gives 0, as in NumPy. */
static int64_t int_divide(int64_t x, int64_t y) {
  if (y == 0) return 0;
  if (y == -1) return (int64_t)(0 - (uint64_t)x);
  int64_t q = x / y;
  return x % y && (x % y < 0) != (y < 0) ? q - 1 : q;
}
static int64_t int_modulo(int64_t x, int64_t y) {
  if (y == 0 || y == -1) return 0;
  int64_t r = x % y;
  return r && (r < 0) != (y < 0) ? r + y : r;
}
static int64_t int_power(int64_t x, int64_t y) {
  uint64_t r = 1, f = (uint64_t)x;
  for (uint64_t e = (uint64_t)y; e; e >>= 1, f *= f)
    if (e & 1) r *= f;
  return (int64_t)r;
}

REAL(add, x + y)
REAL(subtract, x - y)
REAL(multiply, x *y)
REAL(divide, x / y)
REAL(floor_divide, floor_divide(x, y))
REAL(mod, floor_modulo(x, y))
REAL(power, pow(x, y))
REAL(fmod, fmod(x, y))
REAL(maximum, x != x || x > y ? x : y)
REAL(minimum, x != x || x < y ? x : y)
REAL(atan2, atan2(x, y))
REAL(hypot, hypot(x, y))
REAL(copysign, copysign(x, y))
REAL(equal, x == y)
REAL(not_equal, x != y)
REAL(less, x < y)
REAL(less_equal, x <= y)
REAL(greater, x > y)
REAL(greater_equal, x >= y)
REAL(logical_and, x != 0 && y != 0)
REAL(logical_or, x != 0 || y != 0)
REAL(logical_xor, (x != 0) != (y != 0))

WHOLE(whole_add, uint64_t, x + y)
WHOLE(whole_subtract, uint64_t, x - y)
WHOLE(whole_multiply, uint64_t, x *y)
WHOLE(whole_floor_divide, int64_t, int_divide(x, y))
WHOLE(whole_mod, int64_t, int_modulo(x, y))
WHOLE(whole_power, int64_t, int_power(x, y))
WHOLE(whole_fmod, int64_t, y == 0 || y == -1 ? 0 : x % y)
WHOLE(whole_maximum, int64_t, x > y ? x : y)
WHOLE(whole_minimum, int64_t, x < y ? x : y)
WHOLE(whole_equal, int64_t, x == y)
WHOLE(whole_not_equal, int64_t, x != y)
WHOLE(whole_less, int64_t, x < y)
WHOLE(whole_less_equal, int64_t, x <= y)
WHOLE(whole_greater, int64_t, x > y)
WHOLE(whole_greater_equal, int64_t, x >= y)
WHOLE(whole_logical_and, int64_t, x &&y)
WHOLE(whole_logical_or, int64_t, x || y)
WHOLE(whole_logical_xor, int64_t, !x != !y)
WHOLE(whole_and, uint64_t, x &y)
WHOLE(whole_or, uint64_t, x | y)
WHOLE(whole_xor, uint64_t, x ^ y)
WHOLE(whole_left_shift, uint64_t, y > 63 ? 0 : x << y)
WHOLE(whole_right_shift, int64_t, (uint64_t)y > 63 ? (x < 0 ? -1 : 0) : x >> y)
WHOLE(natural_floor_divide, uint64_t, y ? x / y : 0)
WHOLE(natural_mod, uint64_t, y ? x % y : 0)
WHOLE(natural_maximum, uint64_t, x > y ? x : y)
WHOLE(natural_minimum, uint64_t, x < y ? x : y)
WHOLE(natural_less, uint64_t, x < y)
WHOLE(natural_less_equal, uint64_t, x <= y)
WHOLE(natural_greater, uint64_t, x > y)
WHOLE(natural_greater_equal, uint64_t, x >= y)
WHOLE(natural_right_shift, uint64_t, y > 63 ? 0 : x >> y)

static const BinaryKernel kernels[] = {
#define BINARY(name, real, whole, natural, gives, doc) {#name, real, whole, natural, gives},
#include "lang/builtin/tensor/binary.def"
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

const BinaryKernel *binary_kernel(const char *name) {
  for (int i = 0; i < KERNELS; i++)
    if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
  return NULL;
}

/* ---- running ---- */

/* The dtype in which the kernel computes. */
static DataType compute_dtype(const BinaryKernel *k, DataType common, Span span) {
  if (!k->real && is_real(common))
    raise("TypeError", span, "%s is not defined for %s", k->name, dtype_text(common));
  if (k->gives == GIVES_REAL && !is_real(common)) return FLOAT64;
  bool arithmetic = k->gives == GIVES_PROMOTED && k->real;
  if (arithmetic && dtype_is_bool(common) && k->whole == whole_subtract)
    raise("TypeError", span, "bool tensors can't be subtracted: use ^ or logical_xor");
  bool power_like =
      k->whole == whole_floor_divide || k->whole == whole_mod || k->whole == whole_power;
  return dtype_is_bool(common) && power_like ? DTYPE_OF(INT, 8) : common;
}

/* A weak number as a view of the computing dtype. Ints must fit. */
static View scalar_view(Value scalar, DataType t, Span span) {
  if (scalar.type == &type_int && dtype_is_int(t) && !is_uint64(t) &&
      (scalar.integer < dtype_min_int(t) || scalar.integer > dtype_max_int(t)))
    raise("OverflowError", span, "the int %lld is out of bounds for %s", (long long)scalar.integer,
          dtype_text(t));
  return view_of(tensor_scalar(t, scalar, span));
}

static void run_kernel(const BinaryKernel *k, DataType compute, const View *out, const View *a,
                       const View *b) {
  const View *views[] = {out, a, b};
  Rows r;
  rows_start(&r, 3, views);
  while (rows_next(&r)) {
    if (is_real(compute) || !k->whole) {
      double x[CHUNK], y[CHUNK], z[CHUNK];
      load_reals(a->dtype, r.at[1], r.stride[1], r.n, x);
      load_reals(b->dtype, r.at[2], r.stride[2], r.n, y);
      k->real(r.n, x, y, z);
      store_reals(out->dtype, r.at[0], r.stride[0], r.n, z);
    } else {
      int64_t x[CHUNK], y[CHUNK], z[CHUNK];
      load_ints(a->dtype, r.at[1], r.stride[1], r.n, x);
      load_ints(b->dtype, r.at[2], r.stride[2], r.n, y);
      (is_uint64(compute) ? k->natural : k->whole)(r.n, x, y, z);
      store_ints(out->dtype, r.at[0], r.stride[0], r.n, z);
    }
  }
}

/* Operands of a float dtype are rounded to it first, as float16 + float32 is float32. */
static View converted(const View *v, DataType t, Span span) {
  bool exact = dtype_equal(v->dtype, t) || (!is_real(v->dtype) && !is_real(t)) ||
               (is_real(v->dtype) && is_real(t)) || (t.code == DTYPE_FLOAT && t.bits == 64);
  return exact ? *v : view_of(tensor_cast(v, t, span));
}

static void check_powers(const View *b, Span span) {
  const View *views[] = {b};
  Rows r;
  rows_start(&r, 1, views);
  while (rows_next(&r)) {
    int64_t y[CHUNK];
    load_ints(b->dtype, r.at[0], r.stride[0], r.n, y);
    for (int i = 0; i < r.n; i++)
      if (y[i] < 0)
        raise("ValueError", span, "integers to negative integer powers are not allowed");
  }
}

/* into: the tensor that takes the result, or absent for a new one. */
static Value run_binary(const BinaryKernel *k, Operand *a, Operand *b, Value into, Span span) {
  DataType common = promote_operands(a, b, span), compute = compute_dtype(k, common, span);
  View x =
      a->scalar.type ? scalar_view(a->scalar, compute, span) : converted(&a->view, compute, span);
  View y =
      b->scalar.type ? scalar_view(b->scalar, compute, span) : converted(&b->view, compute, span);
  if (k->whole == whole_power && dtype_is_int(compute)) check_powers(&y, span);
  View shape = {0};
  broadcast_shapes(&x, &y, &shape, span);
  DataType result = k->gives == GIVES_BOOL ? BOOL : compute;
  if (into.type) {
    View to = view_of(into);
    shape.dtype = result;
    View probe = shape;
    view_broadcast(&probe, to.ndim, to.shape, "the result", span);
    if (is_real(result) && !is_real(to.dtype))
      raise("TypeError", span,
            "a result of dtype %s can't be stored into a tensor of %s: use astype",
            dtype_text(result), dtype_text(to.dtype));
  }
  Value out = tensor_new(result, shape.ndim, shape.shape, span);
  View to = view_of(out);
  view_broadcast(&x, to.ndim, to.shape, "an operand", span);
  view_broadcast(&y, to.ndim, to.shape, "an operand", span);
  run_kernel(k, compute, &to, &x, &y);
  if (!into.type) return tensor_as_scalar(out);
  View target = view_of(into);
  view_broadcast(&to, target.ndim, target.shape, "the result", span);
  view_copy(&target, &to);
  return into;
}

Value tensor_binary(const BinaryKernel *k, Value a, Value b, Span span) {
  Operand x, y;
  if (!operand_of(a, &x, span) || !operand_of(b, &y, span))
    raise("TypeError", span, "%s() takes tensors and numbers, not '%s' and '%s'", k->name,
          value_type_text(a), value_type_text(b));
  return run_binary(k, &x, &y, value_absent(), span);
}

/* ---- operators ---- */

static const BinaryKernel *kernel_of(AstOp op) {
  static const char *const names[] = {[AST_ADD] = "add",
                                      [AST_SUB] = "subtract",
                                      [AST_MUL] = "multiply",
                                      [AST_DIV] = "divide",
                                      [AST_FLOORDIV] = "floor_divide",
                                      [AST_MOD] = "mod",
                                      [AST_POW] = "power",
                                      [AST_SHL] = "left_shift",
                                      [AST_SHR] = "right_shift",
                                      [AST_BITAND] = "bitwise_and",
                                      [AST_BITOR] = "bitwise_or",
                                      [AST_BITXOR] = "bitwise_xor",
                                      [AST_EQ] = "equal",
                                      [AST_NE] = "not_equal",
                                      [AST_LT] = "less",
                                      [AST_LE] = "less_equal",
                                      [AST_GT] = "greater",
                                      [AST_GE] = "greater_equal"};
  return (size_t)op < sizeof names / sizeof *names && names[op] ? binary_kernel(names[op]) : NULL;
}

Value tensor_binary_op(AstOp op, Value a, Value b, Span span) {
  Operand x, y;
  if (!operand_of(a, &x, span) || !operand_of(b, &y, span)) return value_absent();
  if (op == AST_MATMUL) return tensor_matmul(a, b, span);
  const BinaryKernel *k = kernel_of(op);
  return k ? run_binary(k, &x, &y, value_absent(), span) : value_absent();
}

Value tensor_compare_op(AstOp op, Value a, Value b, Span span) {
  if (value_is_none(a) || value_is_none(b)) return value_absent();
  return tensor_binary_op(op, a, b, span);
}

Value tensor_inplace_op(AstOp op, Value a, Value b, Span span) {
  Operand x, y;
  const BinaryKernel *k = kernel_of(op);
  if (!k || tensor_object(a)->is_scalar) return value_absent();
  if (!operand_of(a, &x, span) || !operand_of(b, &y, span)) return value_absent();
  tensor_check_writable(a, span);
  return run_binary(k, &x, &y, a, span);
}

static Value np_binary(BuiltinCall *c) {
  return tensor_binary(binary_kernel(c->builtin->name), c->args[0], c->args[1], c->span);
}

static const Builtin rows[] = {
#define BINARY(name, real, whole, natural, gives, doc) {#name, "x1, x2, /", np_binary, doc},
#include "lang/builtin/tensor/binary.def"
};
const BuiltinRows binary_rows = {rows, sizeof rows / sizeof *rows};
