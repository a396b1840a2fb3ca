/* testing.c -- comparing tensors: allclose, array_equal, testing.assert_allclose. */
#include "lang/builtin/tensor/tensor_impl.h"
#include <math.h>

typedef struct Comparison {
  int64_t size, mismatches, first; /* first: flat place of the first mismatch */
  double worst_absolute, worst_relative, actual, desired; /* the last two at the first mismatch */
  View shape;
} Comparison;

static bool close(double a, double d, double rtol, double atol, bool equal_nan) {
  if (isnan(a) || isnan(d)) return equal_nan && isnan(a) && isnan(d);
  if (isinf(a) || isinf(d)) return a == d;
  return fabs(a - d) <= atol + rtol * fabs(d);
}

static void note(Comparison *c, double a, double d, bool ok) {
  if (!ok) {
    if (!c->mismatches++) c->first = c->size, c->actual = a, c->desired = d;
    double absolute = fabs(a - d), relative = d != 0 ? absolute / fabs(d) : INFINITY;
    if (absolute > c->worst_absolute) c->worst_absolute = absolute;
    if (relative > c->worst_relative) c->worst_relative = relative;
  }
  c->size++;
}

static Comparison compare(Value actual, Value desired, double rtol, double atol, bool equal_nan,
                          Span span) {
  Comparison c = {0};
  View a = view_of(tensor_of(actual, span)), d = view_of(tensor_of(desired, span));
  broadcast_shapes(&a, &d, &c.shape, span);
  view_broadcast(&a, c.shape.ndim, c.shape.shape, "actual", span);
  view_broadcast(&d, c.shape.ndim, c.shape.shape, "desired", span);
  const View *views[] = {&a, &d};
  Rows r;
  rows_start(&r, 2, views);
  bool whole = !is_real(a.dtype) && !is_real(d.dtype);
  while (rows_next(&r)) {
    double x[CHUNK], y[CHUNK];
    int64_t i[CHUNK], j[CHUNK];
    load_reals(a.dtype, r.at[0], r.stride[0], r.n, x);
    load_reals(d.dtype, r.at[1], r.stride[1], r.n, y);
    if (whole)
      load_ints(a.dtype, r.at[0], r.stride[0], r.n, i),
          load_ints(d.dtype, r.at[1], r.stride[1], r.n, j);
    for (int k = 0; k < r.n; k++) {
      bool same = whole && i[k] == j[k] && is_uint64(a.dtype) == is_uint64(d.dtype);
      bool exact = whole && rtol == 0 && atol == 0 && is_uint64(a.dtype) == is_uint64(d.dtype);
      note(&c, x[k], y[k], same || (!exact && close(x[k], y[k], rtol, atol, equal_nan)));
    }
  }
  return c;
}

static double tolerance(BuiltinCall *c, int i) {
  return value_as_float(c->args[i], "the tolerance", c->spans[i]);
}

static Value np_allclose(BuiltinCall *c) {
  Comparison r = compare(c->args[0], c->args[1], tolerance(c, 2), tolerance(c, 3),
                         value_truth(c->args[4], c->span), c->span);
  return value_bool(!r.mismatches);
}

static bool same_shape(Value a, Value b) {
  View x = view_of(a), y = view_of(b);
  if (x.ndim != y.ndim) return false;
  for (int i = 0; i < x.ndim; i++)
    if (x.shape[i] != y.shape[i]) return false;
  return true;
}

static Value np_array_equal(BuiltinCall *c) {
  Value a = tensor_of(c->args[0], c->spans[0]), b = tensor_of(c->args[1], c->spans[1]);
  if (!same_shape(a, b)) return value_bool(false);
  return value_bool(!compare(a, b, 0, 0, value_truth(c->args[2], c->span), c->span).mismatches);
}

/* ---- assertions ---- */

static const char *place_text(const Comparison *c) {
  int64_t index[MAX_DIMS], flat = c->first;
  for (int i = c->shape.ndim; i-- > 0;) {
    index[i] = c->shape.shape[i] ? flat % c->shape.shape[i] : 0;
    flat /= c->shape.shape[i] ? c->shape.shape[i] : 1;
  }
  return dims_text(c->shape.ndim, index);
}

static const char *number(double x) {
  Str s = {0};
  str_add_double(&s, x);
  return str_text(&s);
}

_Noreturn static void fail(const char *text, Span span) {
  Value message = value_str(text);
  exception_raise(exception_new("AssertionError", 1, &message), span);
}

static void check_shapes(Value a, Value d, Span span) {
  View x = view_of(a), y = view_of(d);
  if (x.ndim && y.ndim && !same_shape(a, d))
    fail(str_format("shapes differ: actual %s, desired %s", dims_text(x.ndim, x.shape),
                    dims_text(y.ndim, y.shape)),
         span);
}

static void report(const Comparison *r, const char *head, const char *extra, Span span) {
  if (!r->mismatches) return;
  fail(str_format("%s%s%s\nmismatched elements: %lld / %lld (%.3g%%)\n"
                  "max absolute difference: %s\nmax relative difference: %s\n"
                  "first mismatch at %s: actual %s, desired %s",
                  head, *extra ? ": " : "", extra, (long long)r->mismatches, (long long)r->size,
                  100.0 * (double)r->mismatches / (double)r->size, number(r->worst_absolute),
                  number(r->worst_relative), place_text(r), number(r->actual), number(r->desired)),
       span);
}

static Value assert_allclose(BuiltinCall *c) {
  Value a = tensor_of(c->args[0], c->spans[0]), d = tensor_of(c->args[1], c->spans[1]);
  double rtol = tolerance(c, 2), atol = tolerance(c, 3);
  check_shapes(a, d, c->span);
  Comparison r = compare(a, d, rtol, atol, value_truth(c->args[4], c->span), c->span);
  report(&r, str_format("not equal to tolerance rtol=%s, atol=%s", number(rtol), number(atol)),
         value_as_text(c->args[5], "err_msg", c->spans[5]), c->span);
  return value_none();
}

static Value assert_array_equal(BuiltinCall *c) {
  Value a = tensor_of(c->args[0], c->spans[0]), d = tensor_of(c->args[1], c->spans[1]);
  check_shapes(a, d, c->span);
  Comparison r = compare(a, d, 0, 0, true, c->span);
  report(&r, "tensors are not equal", value_as_text(c->args[2], "err_msg", c->spans[2]), c->span);
  return value_none();
}

static const Builtin assertions[] = {
    {"assert_allclose", "actual, desired, rtol=1e-07, atol=0.0, equal_nan=True, err_msg=''",
     assert_allclose, "AssertionError unless |actual - desired| <= atol + rtol * |desired|"},
    {"assert_array_equal", "actual, desired, err_msg=''", assert_array_equal,
     "AssertionError unless all elements are equal"},
};

Value testing_namespace(void) {
  Value ns = value_namespace("numpy.testing");
  ((Namespace *)ns.object)->find = numpy_library_find;
  namespace_add_builtins(ns, assertions, sizeof assertions / sizeof *assertions);
  return ns;
}

static const Builtin rows[] = {
    {"allclose", "a, b, rtol=1e-05, atol=1e-08, equal_nan=False", np_allclose,
     "is |a - b| <= atol + rtol * |b| everywhere?"},
    {"array_equal", "a1, a2, equal_nan=False", np_array_equal, "same shape, same elements?"},
};
const BuiltinRows testing_rows = {rows, sizeof rows / sizeof *rows};
