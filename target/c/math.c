/* math.c -- the functions of floating-point mathematics: those of math.h, and helpers.
 *
 * Small floats are computed in float and rounded. */
#include "target/c/c.h"

typedef enum { BY_LIBM, BY_HELPER } How;

static const struct {
  const char *name, *by;
  How how;
} functions[] = {
    {"exp", "exp", BY_LIBM},
    {"exp2", "exp2", BY_LIBM},
    {"exp10", "exp10", BY_HELPER},
    {"log", "log", BY_LIBM},
    {"log2", "log2", BY_LIBM},
    {"log10", "log10", BY_LIBM},
    {"log1p", "log1p", BY_LIBM},
    {"sqrt", "sqrt", BY_LIBM},
    {"rsqrt", "rsqrt", BY_HELPER},
    {"sin", "sin", BY_LIBM},
    {"cos", "cos", BY_LIBM},
    {"tan", "tan", BY_LIBM},
    {"asin", "asin", BY_LIBM},
    {"acos", "acos", BY_LIBM},
    {"atan", "atan", BY_LIBM},
    {"sinh", "sinh", BY_LIBM},
    {"cosh", "cosh", BY_LIBM},
    {"tanh", "tanh", BY_LIBM},
    {"asinh", "asinh", BY_LIBM},
    {"acosh", "acosh", BY_LIBM},
    {"atanh", "atanh", BY_LIBM},
    {"erf", "erf", BY_LIBM},
    {"sigmoid", "sigmoid", BY_HELPER},
    {"atan2", "atan2", BY_LIBM},
    {"hypot", "hypot", BY_LIBM},
    {"copysign", "copysign", BY_LIBM},
    {"pow", "pow", BY_LIBM},
    {"fmod", "fmod", BY_LIBM},
    {"fma", "fma", BY_LIBM},
    {"fabs", "fabs", BY_LIBM},
    {"floor", "floor", BY_LIBM},
    {"ceil", "ceil", BY_LIBM},
    {"trunc", "trunc", BY_LIBM},
    {"round", "nearbyint", BY_LIBM},
    {"nearbyint", "nearbyint", BY_LIBM},
};

const char *c_suffix(CGen *g, DataType t) {
  return g->dialect->has_overloads || c_compute(t).bits == 64 ? "" : "f";
}

/* Compilers of OpenCL were seen to make 0 of floor(NAN): with overloads, rounding is a helper. */
const char *c_libm(CGen *g, const char *name, DataType t) {
  static const char *const rounding[] = {"floor", "ceil", "trunc", "nearbyint"};
  if (c_has_helper(g, name, c_compute(t))) return c_helper(g, name, c_compute(t), VOID_TYPE);
  for (int i = 0; i < 4 && g->dialect->has_overloads; i++)
    if (str_same(name, rounding[i])) return c_helper(g, name, c_compute(t), VOID_TYPE);
  return str_format("%s%s", name, c_suffix(g, t));
}

#define MAX_ARGS 3
enum { FUNCTIONS = sizeof functions / sizeof *functions };

bool c_is_math(const char *name) {
  for (int i = 0; i < FUNCTIONS; i++) {
    bool by_libm = functions[i].how == BY_LIBM;
    if (by_libm &&
        (str_same(functions[i].by, name) || str_same(str_format("%sf", functions[i].by), name)))
      return true;
  }
  static const char *const others[] = {"ldexp", "ldexpf", "nextafter", "nextafterf"};
  for (int i = 0; i < 4; i++)
    if (str_same(others[i], name)) return true;
  return false;
}

/* Rounding leaves integers as they are, and fabs is the absolute value. */
static CText int_function(CGen *g, Call *n, const char *name) {
  static const char *const identities[] = {"floor", "ceil", "trunc", "round", "nearbyint"};
  DataType t = n->node.dtype;
  CText v = c_expr(g, n->args.at[0]);
  for (int i = 0; i < 5; i++)
    if (str_same(name, identities[i])) return v;
  if (!str_same(name, "fabs"))
    error_raisef("CompileError", n->node.span, "T.%s needs a float, but got %s", name,
                 dtype_text(t));
  if (t.code != DTYPE_INT) return v;
  v = c_text(BINDS_ATOM, "%s(%s)", c_helper(g, "abs", t, VOID_TYPE), v.at);
  return t.bits < 8 ? c_fit(g, t, v.at) : v;
}

bool c_math(CGen *g, Call *n, const char *name, CText *out) {
  int f = 0;
  while (f < FUNCTIONS && !str_same(functions[f].name, name)) f++;
  if (f == FUNCTIONS) return false;
  DataType t = n->node.dtype, compute = c_compute(t);
  if (!dtype_is_float(t)) return *out = int_function(g, n, name), true;
  CText args[MAX_ARGS];
  REQUIRE(n->args.len <= MAX_ARGS, "T.%s with %d arguments", name, n->args.len);
  c_operands(g, n->args.len, n->args.at, args);
  for (int i = 0; i < n->args.len; i++)
    args[i] = c_widen(g, c_cast(g, args[i], n->args.at[i]->dtype, t), t);
  const char *by = functions[f].how == BY_LIBM ? c_libm(g, functions[f].by, compute)
                                               : c_helper(g, functions[f].by, compute, VOID_TYPE);
  *out = c_narrow(g, c_text(BINDS_ATOM, "%s(%s)", by, c_join(n->args.len, args)), t);
  return true;
}
