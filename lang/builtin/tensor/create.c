/* create.c -- new tensors: array, zeros, full, arange, linspace, eye, tril, ... */
#include "lang/builtin/tensor/tensor_impl.h"
#include "lang/value/big_int.h"
#include <math.h>

/* ---- arguments ---- */

Shape shape_arg(Value v, Span span) {
  Shape s = {0};
  int64_t dim;
  bool is_line = v.type == &type_tensor && view_of(v).ndim > 0;
  bool one = v.type != &type_tuple && v.type != &type_list && !is_line &&
             (value_to_index(v, &dim, span) || !v.type->iter);
  ValueVec dims = {0};
  if (one) vec_push(&dims, v);
  else dims = value_to_vec(v, span);
  if (dims.len > MAX_DIMS)
    raise("ValueError", span, "a tensor has at most %d dimensions, not %d", MAX_DIMS, dims.len);
  for each (Value, d, &dims) s.dims[s.ndim++] = value_as_int(*d, "a dimension", span);
  return s;
}

static Shape new_shape_arg(Value v, Span span) {
  Shape s = shape_arg(v, span);
  for (int i = 0; i < s.ndim; i++)
    if (s.dims[i] < 0)
      raise("ValueError", span, "negative dimensions are not allowed: %s",
            dims_text(s.ndim, s.dims));
  return s;
}

int axis_arg(Value v, int ndim, Span span) {
  int64_t axis = value_as_int(v, "the axis", span);
  if (axis < -ndim || axis >= ndim)
    raise("ValueError", span, "axis %lld is out of bounds for a tensor of %d dimension%s",
          (long long)axis, ndim, ndim == 1 ? "" : "s");
  return (int)(axis < 0 ? axis + ndim : axis);
}

static Value filled(DataType t, const Shape *s, Value x, Span span) {
  Value out = tensor_new(t, s->ndim, s->dims, span);
  View to = view_of(out), from = view_of(tensor_scalar(t, x, span));
  view_broadcast(&from, s->ndim, s->dims, "the value", span);
  view_copy(&to, &from);
  return out;
}

Value tensor_scalar(DataType t, Value v, Span span) {
  Value out = tensor_new(t, 0, NULL, span);
  View to = view_of(out);
  store_value(t, to.data, v, span);
  return out;
}

/* ---- array: from nested sequences ---- */

static bool is_sequence(Value v) {
  return v.type == &type_list || v.type == &type_tuple || v.type == &type_range;
}

typedef struct Nest {
  Shape shape;
  DataType dtype; /* void: nothing seen yet */
  Span span;
} Nest;

static DataType scalar_dtype(Value v, Span span) {
  if (v.type == &type_bool) return BOOL;
  if (v.type == &type_int) return INT64;
  if (v.type == &type_big) return DTYPE_OF(UINT, 64); /* which may be too small as well */
  if (v.type == &type_float) return FLOAT64;
  if (v.type == &type_device_tensor) value_as_tensor(v, span); /* tells how to read it */
  raise("TypeError", span, "a tensor is made of numbers and tensors, not of '%s'",
        value_type_text(v));
}

static void note_dtype(Nest *n, DataType t) {
  n->dtype = dtype_is_void(n->dtype) ? t : promote(n->dtype, t);
}

/* Finds shape and dtype; every part at one depth must have the same shape. */
static void measure(Nest *n, Value v, int depth) {
  View part = {0};
  bool leaf = !is_sequence(v);
  if (v.type == &type_tensor) {
    part = view_of(v);
    note_dtype(n, part.dtype);
  } else if (leaf) {
    note_dtype(n, scalar_dtype(v, n->span));
  } else {
    if (depth == MAX_DIMS) raise("ValueError", n->span, "lists are nested too deeply for a tensor");
    part.ndim = 1;
    part.shape[0] = value_length(v, n->span);
  }
  for (int i = 0; i < part.ndim; i++) {
    if (depth + i >= MAX_DIMS)
      raise("ValueError", n->span, "lists are nested too deeply for a tensor");
    if (n->shape.ndim == depth + i) n->shape.dims[n->shape.ndim++] = part.shape[i];
    if (n->shape.dims[depth + i] != part.shape[i])
      raise("ValueError", n->span,
            "parts of the nested lists have different shapes: %lld and %lld items",
            (long long)n->shape.dims[depth + i], (long long)part.shape[i]);
  }
  if (leaf) return;
  for (int64_t i = 0; i < part.shape[0]; i++)
    measure(n, value_get_item(v, value_int(i), n->span), depth + 1);
}

static void check_depth(Value v, int left, Span span) {
  if (v.type == &type_tensor) return;
  if (!is_sequence(v)) {
    if (left) raise("ValueError", span, "the nested lists are not of one depth");
    return;
  }
  for (int64_t i = 0, n = value_length(v, span); i < n; i++)
    check_depth(value_get_item(v, value_int(i), span), left - 1, span);
}

static void fill(View to, Value v, Span span) {
  if (v.type == &type_tensor) {
    View from = view_of(v);
    view_broadcast(&from, to.ndim, to.shape, "a part", span);
    return view_copy(&to, &from);
  }
  if (!is_sequence(v)) return store_value(to.dtype, to.data, v, span);
  int64_t n = to.shape[0], step = to.strides[0] * dtype_nbytes(to.dtype);
  to.ndim--;
  memmove(to.shape, to.shape + 1, sizeof *to.shape * (size_t)to.ndim);
  memmove(to.strides, to.strides + 1, sizeof *to.strides * (size_t)to.ndim);
  for (int64_t i = 0; i < n; i++, to.data += step)
    fill(to, value_get_item(v, value_int(i), span), span);
}

/* What an object says it is as a tensor; the object itself if it says nothing. */
static Value array_of_object(Value v, Span span) {
  Value r = v.type == &type_instance ? instance_special(v, INTERNED("__array__"), 0, NULL, span)
                                     : value_absent();
  if (!r.type) return v;
  if (r.type != &type_tensor)
    raise("ValueError", span, "__array__ gives '%s', not a tensor", value_type_text(r));
  return r;
}

Value tensor_array(Value v, Value dtype, Span span) {
  v = array_of_object(v, span);
  bool given = dtype.type && !value_is_none(dtype);
  DataType t = given ? dtype_arg(dtype, span) : VOID_TYPE;
  if (v.type == &type_tensor) {
    View from = view_of(v);
    return tensor_cast(&from, given ? t : from.dtype, span);
  }
  if (!is_sequence(v) && !value_is_integer(v) && v.type != &type_float &&
      (v.type->iter || v.type->next))
    v = value_list(value_to_vec(v, span));
  Nest n = {.dtype = VOID_TYPE, .span = span};
  measure(&n, v, 0);
  check_depth(v, n.shape.ndim, span);
  if (!given) t = dtype_is_void(n.dtype) ? FLOAT64 : n.dtype;
  Value out = tensor_new(t, n.shape.ndim, n.shape.dims, span);
  fill(view_of(out), v, span);
  return out;
}

Value tensor_of(Value v, Span span) {
  return v.type == &type_tensor ? v : tensor_array(v, value_absent(), span);
}

static Value np_array(BuiltinCall *c) { return tensor_array(c->args[0], c->args[1], c->spans[0]); }
static Value np_asarray(BuiltinCall *c) {
  bool same = c->args[0].type == &type_tensor && !tensor_object(c->args[0])->is_scalar &&
              (value_is_none(c->args[1]) ||
               dtype_equal(tensor_dtype(c->args[0]), dtype_arg(c->args[1], c->spans[1])));
  return same ? c->args[0] : np_array(c);
}

static Value np_ascontiguousarray(BuiltinCall *c) {
  Value x = np_asarray(c);
  View v = view_of(x);
  return view_is_compact(&v) ? x : tensor_copied(&v, c->span);
}

/* ---- filled with one value ---- */

static Value shaped(BuiltinCall *c, Value x) {
  Shape s = new_shape_arg(c->args[0], c->spans[0]);
  return filled(dtype_arg(c->args[1], c->spans[1]), &s, x, c->span);
}
static Value np_zeros(BuiltinCall *c) { return shaped(c, value_int(0)); }
static Value np_ones(BuiltinCall *c) { return shaped(c, value_int(1)); }

static Value np_full(BuiltinCall *c) {
  Shape s = new_shape_arg(c->args[0], c->spans[0]);
  Value x = tensor_of(c->args[1], c->spans[1]);
  DataType t = value_is_none(c->args[2]) ? tensor_dtype(x) : dtype_arg(c->args[2], c->spans[2]);
  Value out = tensor_new(t, s.ndim, s.dims, c->span);
  View to = view_of(out), from = view_of(x);
  view_broadcast(&from, s.ndim, s.dims, "the value", c->spans[1]);
  view_copy(&to, &from);
  return out;
}

static Value like(BuiltinCall *c, Value dtype, Value x) {
  View v = view_of(tensor_of(c->args[0], c->spans[0]));
  Shape s = {.ndim = v.ndim};
  memcpy(s.dims, v.shape, sizeof *v.shape * (size_t)v.ndim);
  return filled(value_is_none(dtype) ? v.dtype : dtype_arg(dtype, c->span), &s, x, c->span);
}
static Value np_zeros_like(BuiltinCall *c) { return like(c, c->args[1], value_int(0)); }
static Value np_ones_like(BuiltinCall *c) { return like(c, c->args[1], value_int(1)); }
static Value np_full_like(BuiltinCall *c) { return like(c, c->args[2], c->args[1]); }

/* ---- sequences of numbers ---- */

static Value np_arange(BuiltinCall *c) {
  Value start = value_int(0), stop = c->args[0];
  if (!value_is_none(c->args[1])) start = c->args[0], stop = c->args[1];
  bool real = false;
  Value three[] = {start, stop, c->args[2]};
  for (int i = 0; i < 3; i++) real |= three[i].type == &type_float;
  DataType t =
      value_is_none(c->args[3]) ? (real ? FLOAT64 : INT64) : dtype_arg(c->args[3], c->spans[3]);
  double x = value_as_float(start, "start", c->span),
         step = value_as_float(c->args[2], "step", c->span);
  if (step == 0) raise("ZeroDivisionError", c->span, "the step of arange() must not be zero");
  double count = ceil((value_as_float(stop, "stop", c->span) - x) / step);
  if (!(count < 1e10)) raise("ValueError", c->span, "arange() would have %g elements", count);
  int64_t n = count > 0 ? (int64_t)count : 0;
  Value out = tensor_new(t, 1, &n, c->span);
  View to = view_of(out);
  for (int64_t i = 0; i < n; i++) {
    char *at = to.data + i * dtype_nbytes(t);
    double value = x + (double)i * step;
    if (real) store_reals(t, at, 1, 1, &value);
    else {
      int64_t whole = (int64_t)((uint64_t)value_as_int(start, "start", c->span) +
                                (uint64_t)i * (uint64_t)value_as_int(c->args[2], "step", c->span));
      store_ints(t, at, 1, 1, &whole);
    }
  }
  return out;
}

static Value np_linspace(BuiltinCall *c) {
  double a = value_as_float(c->args[0], "start", c->spans[0]);
  double b = value_as_float(c->args[1], "stop", c->spans[1]);
  int64_t n = value_as_int(c->args[2], "num", c->spans[2]);
  bool endpoint = value_truth(c->args[3], c->span);
  DataType t = value_is_none(c->args[4]) ? FLOAT64 : dtype_arg(c->args[4], c->spans[4]);
  if (n < 0) raise("ValueError", c->spans[2], "the number of samples must not be negative");
  Value out = tensor_new(t, 1, &n, c->span);
  View to = view_of(out);
  double parts = (double)(endpoint ? n - 1 : n), step = parts > 0 ? (b - a) / parts : 0;
  for (int64_t i = 0; i < n; i++) {
    double x = endpoint && n > 1 && i == n - 1 ? b : a + (double)i * step;
    store_reals(t, to.data + i * dtype_nbytes(t), 1, 1, &x);
  }
  return out;
}

/* ---- diagonals and triangles ---- */

static Value np_eye(BuiltinCall *c) {
  int64_t n = value_as_int(c->args[0], "N", c->spans[0]);
  int64_t m = value_is_none(c->args[1]) ? n : value_as_int(c->args[1], "M", c->spans[1]);
  int64_t k = value_as_int(c->args[2], "k", c->spans[2]), one = 1;
  Shape s = {.ndim = 2, .dims = {n, m}};
  if (n < 0 || m < 0) raise("ValueError", c->span, "negative dimensions are not allowed");
  Value out = filled(dtype_arg(c->args[3], c->spans[3]), &s, value_int(0), c->span);
  View to = view_of(out);
  for (int64_t i = k < 0 ? -k : 0; i < n && i + k < m; i++)
    store_ints(to.dtype, to.data + (i * m + i + k) * dtype_nbytes(to.dtype), 1, 1, &one);
  return out;
}
static Value np_identity(BuiltinCall *c) {
  Value args[] = {c->args[0], value_none(), value_int(0), c->args[1]};
  Span spans[] = {c->spans[0], c->span, c->span, c->spans[1]};
  BuiltinCall eye = {.args = args, .spans = spans, .span = c->span};
  return np_eye(&eye);
}

/* Zero where column - row > k (lower) or < k (upper), in the last two dimensions. */
static Value triangle(BuiltinCall *c, bool lower) {
  View from = view_of(tensor_of(c->args[0], c->spans[0]));
  int64_t k = value_as_int(c->args[1], "k", c->spans[1]), zero = 0;
  if (from.ndim < 2) raise("ValueError", c->spans[0], "a triangle needs two dimensions or more");
  Value out = tensor_copied(&from, c->span);
  View to = view_of(out);
  int64_t rows = to.shape[to.ndim - 2], columns = to.shape[to.ndim - 1], size = view_size(&to);
  for (int64_t i = 0; i < size; i++) {
    int64_t column = i % columns, row = i / columns % rows;
    if (lower ? column - row > k : column - row < k)
      store_ints(to.dtype, to.data + i * dtype_nbytes(to.dtype), 1, 1, &zero);
  }
  return out;
}
static Value np_tril(BuiltinCall *c) { return triangle(c, true); }
static Value np_triu(BuiltinCall *c) { return triangle(c, false); }

/* frombuffer(buffer, dtype, count, offset): a count below zero takes all that is left. */
static Value np_frombuffer(BuiltinCall *c) {
  StrObject *b = value_as_bytes(c->args[0], c->spans[0]);
  DataType t = dtype_arg(c->args[1], c->spans[1]);
  int64_t count = value_as_int(c->args[2], "count", c->spans[2]);
  int64_t offset = value_as_int(c->args[3], "offset", c->spans[3]);
  int64_t size = dtype_nbytes(t), len = (int64_t)b->len;
  if (offset < 0 || offset > len)
    raise("ValueError", c->spans[3], "offset must be from 0 to the length of the buffer (%lld)",
          (long long)len);
  int64_t n = count < 0 ? (len - offset) / size : count;
  if (count < 0 && n * size != len - offset)
    raise("ValueError", c->span, "buffer size must be a multiple of element size");
  if (n > (len - offset) / size)
    raise("ValueError", c->span, "buffer is smaller than requested size");
  Value out = tensor_new(t, 1, &n, c->span);
  memcpy(view_of(out).data, b->text + offset, (size_t)(n * size));
  return out;
}

static const Builtin rows[] = {
    {"array", "object, dtype=None, copy=True", np_array,
     "a tensor of numbers, nested lists, tensors"},
    {"asarray", "object, dtype=None", np_asarray, "as array, but a tensor stays itself"},
    {"ascontiguousarray", "object, dtype=None", np_ascontiguousarray,
     "as asarray, but with its elements in a row"},
    {"frombuffer", "buffer, dtype='float64', count=-1, offset=0", np_frombuffer,
     "the elements that bytes hold"},
    {"zeros", "shape, dtype='float64'", np_zeros, "all zero"},
    {"ones", "shape, dtype='float64'", np_ones, "all one"},
    {"empty", "shape, dtype='float64'", np_zeros, "all zero"},
    {"full", "shape, fill_value, dtype=None", np_full, "all one value"},
    {"zeros_like", "a, dtype=None", np_zeros_like, "zeros in the shape of another"},
    {"ones_like", "a, dtype=None", np_ones_like, "ones in the shape of another"},
    {"empty_like", "a, dtype=None", np_zeros_like, "zeros in the shape of another"},
    {"full_like", "a, fill_value, dtype=None", np_full_like, "one value in the shape of another"},
    {"arange", "start, stop=None, step=1, dtype=None", np_arange,
     "start, start + step, ... below stop"},
    {"linspace", "start, stop, num=50, endpoint=True, dtype=None", np_linspace,
     "evenly spaced numbers"},
    {"eye", "N, M=None, k=0, dtype='float64'", np_eye, "ones on a diagonal"},
    {"identity", "n, dtype='float64'", np_identity, "a square with ones on the diagonal"},
    {"tril", "m, k=0", np_tril, "the lower triangle, zero above"},
    {"triu", "m, k=0", np_triu, "the upper triangle, zero below"},
};
const BuiltinRows create_rows = {rows, sizeof rows / sizeof *rows};
