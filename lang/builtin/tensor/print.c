/* print.c -- tensors as text, the way NumPy writes arrays.
 *
 * All elements have one width. Floats have the fewest digits that tell the dtype's values apart, at
 * most 8 after the point; very large or small ones make all use exponents. Over 1000 elements, only
 * three at each end of a dimension are shown. Lines break at 75 columns. */
#include "lang/builtin/tensor/tensor_impl.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
  int precision, threshold, edge, width;
  bool suppress; /* exponents */
} options = {.precision = 8, .threshold = 1000, .edge = 3, .width = 75};

typedef struct Printer {
  const View *v;
  bool summarised, exponents;
  double least, greatest; /* of the absolute values of finite elements that are not zero */
  int before, after;      /* characters before and after the point, of all elements */
  int digits;             /* after the point at most, in exponent form */
  const char *separator;
  Str *out;
  int column; /* where the present line is */
} Printer;

/* ---- one float ---- */

/* The fewest significant digits that read back as the same value of the dtype, in "%.*e" form. */
static const char *shortest(DataType t, double x) {
  for (int digits = 0; digits < 17; digits++) {
    const char *text = str_format("%.*e", digits, x);
    if (dtype_round_float(t, strtod(text, NULL)) == x) return text;
  }
  return str_format("%.16e", x);
}

/* Digits after the point, without trailing zeros, of "d.ddde+xx". */
static int mantissa_digits(const char *text) {
  const char *point = strchr(text, '.'), *e = strchr(text, 'e');
  if (!point) return 0;
  int n = (int)(e - point - 1);
  while (n > 0 && point[n] == '0') n--;
  return n;
}

/* In positional form: the shortest digits, cut to 8 after the point; "1." for whole numbers. */
static const char *positional(DataType t, double x) {
  const char *text = shortest(t, x);
  int exponent = atoi(strchr(text, 'e') + 1), digits = mantissa_digits(text) - exponent;
  if (digits < 0) digits = 0;
  if (digits > options.precision) digits = options.precision;
  text = str_format("%#.*f", digits,
                    digits < options.precision && digits > 0 ? strtod(text, NULL) : x);
  size_t n = strlen(text);
  while (n && text[n - 1] == '0' && strchr(text, '.')) n--;
  return str_copy_n(text, n);
}

static const char *exponential(DataType t, double x, int digits) {
  if (digits < 0) {
    const char *text = shortest(t, x);
    digits = mantissa_digits(text);
    return str_format("%#.*e", digits > options.precision ? options.precision : digits, x);
  }
  return str_format("%#.*e", digits, x);
}

/* ---- which elements are shown ---- */

static bool is_cut(const Printer *p, int dim) {
  return p->summarised && p->v->shape[dim] > 2 * options.edge;
}

/* Calls visit for every element that is shown. */
static void each_shown(Printer *p, int dim, const char *at,
                       void (*visit)(Printer *, const char *)) {
  const View *v = p->v;
  if (dim == v->ndim) return visit(p, at);
  int64_t n = v->shape[dim], step = v->strides[dim] * dtype_nbytes(v->dtype);
  for (int64_t i = 0; i < n; i++) {
    if (is_cut(p, dim) && i == options.edge) i = n - options.edge;
    each_shown(p, dim + 1, at + i * step, visit);
  }
}

/* ---- how wide they are ---- */

static void measure_range(Printer *p, const char *at) {
  double x = fabs(load_value(p->v->dtype, at).real);
  if (!isfinite(x) || x == 0) return;
  if (x < p->least) p->least = x;
  if (x > p->greatest) p->greatest = x;
}

static void measure_text(Printer *p, const char *text) {
  const char *point = strchr(text, '.');
  int before = point ? (int)(point - text) : (int)strlen(text),
      after = point ? (int)strlen(point) : 0;
  if (before > p->before) p->before = before;
  if (after > p->after) p->after = after;
}

/* Digits that all need, so that exponents stand below each other. */
static void measure_digits(Printer *p, const char *at) {
  double x = load_value(p->v->dtype, at).real;
  if (!isfinite(x)) return;
  int n = mantissa_digits(shortest(p->v->dtype, x));
  if (n > options.precision) n = options.precision;
  if (n > p->digits) p->digits = n;
}

static void measure_float(Printer *p, const char *at) {
  double x = load_value(p->v->dtype, at).real;
  if (!isfinite(x)) return;
  measure_text(p,
               p->exponents ? exponential(p->v->dtype, x, p->digits) : positional(p->v->dtype, x));
}

/* nan and inf are as wide as they need. */
static void measure_special(Printer *p, const char *at) {
  double x = load_value(p->v->dtype, at).real;
  if (isfinite(x)) return;
  int need = (signbit(x) && isinf(x) ? 4 : 3) - p->after;
  if (need > p->before) p->before = need;
}

static const char *whole_text(DataType t, const char *at) {
  Value x = load_value(t, at);
  if (dtype_is_bool(t)) return x.boolean ? " True" : "False";
  return value_repr(x);
}

static void measure_whole(Printer *p, const char *at) {
  measure_text(p, whole_text(p->v->dtype, at));
}

static void measure(Printer *p) {
  if (!is_real(p->v->dtype)) return each_shown(p, 0, p->v->data, measure_whole);
  p->least = INFINITY;
  each_shown(p, 0, p->v->data, measure_range);
  p->exponents = !options.suppress &&
                 (p->greatest >= 1e8 ||
                  (p->greatest > 0 && (p->least < 1e-4 || p->greatest / p->least > 1000)));
  if (p->exponents) each_shown(p, 0, p->v->data, measure_digits);
  each_shown(p, 0, p->v->data, measure_float);
  each_shown(p, 0, p->v->data, measure_special);
}

/* ---- writing ---- */

static const char *element_text(const Printer *p, const char *at) {
  DataType t = p->v->dtype;
  if (!is_real(t)) return str_format("%*s", p->before, whole_text(t, at));
  double x = load_value(t, at).real;
  int width = p->before + p->after;
  if (!isfinite(x)) return str_format("%*s", width, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
  const char *text = p->exponents ? exponential(t, x, p->digits) : positional(t, x);
  const char *point = strchr(text, '.');
  int before = point ? (int)(point - text) : (int)strlen(text);
  return str_format("%*s%-*s", p->before - before, "", width - (p->before - before), text);
}

static void put(Printer *p, const char *text) {
  str_add(p->out, text);
  p->column += (int)strlen(text);
}

static void new_line(Printer *p, int indent) {
  str_add_char(p->out, '\n');
  p->column = 0;
  for (int i = 0; i < indent; i++) put(p, " ");
}

static void put_line(Printer *p, const char *at, int indent) {
  const View *v = p->v;
  int64_t n = v->shape[v->ndim - 1], step = v->strides[v->ndim - 1] * dtype_nbytes(v->dtype);
  int room = (int)strlen(p->separator);
  for (int64_t i = 0; i < n; i++) {
    bool dots = is_cut(p, v->ndim - 1) && i == options.edge;
    if (dots) i = n - options.edge - 1;
    const char *text = dots ? "..." : element_text(p, at + i * step);
    bool last = i + 1 == n;
    if (i && p->column + (int)strlen(text) + (last ? 0 : room) > options.width) {
      while (p->out->len && p->out->at[p->out->len - 1] == ' ') p->out->len--;
      new_line(p, indent);
    }
    put(p, text);
    if (!last) put(p, p->separator);
  }
}

static void put_dim(Printer *p, int dim, const char *at, int indent) {
  const View *v = p->v;
  if (dim == v->ndim) return put(p, element_text(p, at));
  put(p, "[");
  if (dim == v->ndim - 1) {
    put_line(p, at, indent + 1);
  } else {
    int64_t n = v->shape[dim], step = v->strides[dim] * dtype_nbytes(v->dtype);
    const char *comma = *p->separator == ',' ? "," : "";
    for (int64_t i = 0; i < n; i++) {
      bool dots = is_cut(p, dim) && i == options.edge;
      if (dots) i = n - options.edge - 1, put(p, "...");
      else put_dim(p, dim + 1, at + i * step, indent + 1);
      if (i + 1 == n) break;
      put(p, comma);
      for (int k = 2; k < v->ndim - dim; k++) new_line(p, 0);
      new_line(p, indent + 1);
    }
  }
  put(p, "]");
}

static void put_tensor(Value v, Str *out, const char *separator, int column, int indent) {
  View x = view_of(v);
  Printer p = {.v = &x, .separator = separator, .out = out, .column = column};
  if (!view_size(&x)) return str_add(out, "[]");
  p.summarised = view_size(&x) > options.threshold;
  measure(&p);
  put_dim(&p, 0, x.data, indent);
}

/* A tensor without dimensions is written as the number. */
static bool put_number(Value v, Str *out) {
  View x = view_of(v);
  if (x.ndim) return false;
  Value n = load_value(x.dtype, x.data);
  if (is_uint64(x.dtype)) str_add(out, whole_text(x.dtype, x.data));
  else if (!is_real(x.dtype) || !isfinite(n.real) || dtype_equal(x.dtype, FLOAT64))
    value_add_repr(n, out);
  else { /* the shortest form that tells values of the dtype apart, as a double's is written */
    value_add_repr(value_float(strtod(shortest(x.dtype, n.real), NULL)), out);
  }
  return true;
}

void tensor_str(Value v, Str *out) {
  if (!put_number(v, out)) put_tensor(v, out, " ", 0, 0);
}

void tensor_repr(Value v, Str *out) {
  View x = view_of(v);
  size_t start = out->len;
  if (tensor_object(v)->is_scalar) {
    str_printf(out, "np.%s", dtype_is_bool(x.dtype) ? "" : dtype_text(x.dtype));
    if (!dtype_is_bool(x.dtype)) str_add(out, "(");
    put_number(v, out);
    return str_add(out, dtype_is_bool(x.dtype) ? "_" : ")");
  }
  str_add(out, "array(");
  if (!put_number(v, out)) put_tensor(v, out, ", ", 6, 6);
  bool cut = view_size(&x) > options.threshold;
  if ((x.ndim > 1 && !view_size(&x)) || cut)
    str_printf(out, ", shape=%s", dims_text(x.ndim, x.shape));
  /* What array() would make of the text anyway is left out. */
  bool usual =
      dtype_equal(x.dtype, INT64) || dtype_equal(x.dtype, FLOAT64) || dtype_is_bool(x.dtype);
  if (usual && view_size(&x)) return str_add(out, ")");
  const char *tail = str_format("dtype=%s)", dtype_text(x.dtype));
  const char *line = memrchr(out->at + start, '\n', out->len - start);
  size_t column = line ? out->len - (size_t)(line + 1 - out->at) : out->len - start;
  bool breaks = (int)(column + strlen(tail)) + 2 > options.width;
  str_add(out, breaks ? ",\n      " : ", ");
  str_add(out, tail);
}

/* ---- options ---- */

static void set_number(BuiltinCall *c, int i, int *option) {
  if (value_is_none(c->args[i])) return;
  int64_t n = value_as_int(c->args[i], "the option", c->spans[i]);
  if (n < 0)
    raise("ValueError", c->spans[i], "the option must not be negative: %lld", (long long)n);
  *option = n > INT32_MAX ? INT32_MAX : (int)n;
}

static Value np_set_printoptions(BuiltinCall *c) {
  set_number(c, 0, &options.precision);
  set_number(c, 1, &options.threshold);
  set_number(c, 2, &options.edge);
  set_number(c, 3, &options.width);
  if (!value_is_none(c->args[4])) options.suppress = value_truth(c->args[4], c->spans[4]);
  return value_none();
}

static Value np_get_printoptions(BuiltinCall *c) {
  const struct {
    const char *name;
    Value value;
  } rows[] = {{"precision", value_int(options.precision)},
              {"threshold", value_int(options.threshold)},
              {"edgeitems", value_int(options.edge)},
              {"linewidth", value_int(options.width)},
              {"suppress", value_bool(options.suppress)}};
  Value dict = value_dict();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    value_dict_set(dict, value_str(rows[i].name), rows[i].value, c->span);
  return dict;
}

static const Builtin rows[] = {
    {"set_printoptions",
     "precision=None, threshold=None, edgeitems=None, linewidth=None, suppress=None",
     np_set_printoptions, "how tensors are written: None leaves an option as it is"},
    {"get_printoptions", "", np_get_printoptions, "how tensors are written, as a dict"},
};
const BuiltinRows print_rows = {rows, sizeof rows / sizeof *rows};
