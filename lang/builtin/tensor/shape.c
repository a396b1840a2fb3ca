/* shape.c -- the same elements in another shape: reshape, transpose, squeeze, broadcast_to, ...
 *
 * The results are views: they share the memory of the tensor. */
#include "lang/builtin/tensor/tensor_impl.h"

/* As function the tensor is the first argument, as method it is self. */
static Value subject(BuiltinCall *c) {
  return c->self.type ? c->self : tensor_of(c->args[0], c->spans[0]);
}
static Value *others(BuiltinCall *c) { return c->self.type ? c->args : c->args + 1; }

Value tensor_reshaped(Value x, int ndim, const int64_t *shape, Span span) {
  View v = view_of(x);
  if (view_reshape(&v, ndim, shape)) return tensor_view(&v, span);
  v = view_of(tensor_copied(&v, span));
  view_reshape(&v, ndim, shape);
  return tensor_view(&v, span);
}

static Value reshape_to(Value x, Shape s, Span span) {
  View v = view_of(x);
  int64_t size = view_size(&v), known = 1;
  int unknown = -1;
  const char *asked = dims_text(s.ndim, s.dims);
  for (int i = 0; i < s.ndim; i++) {
    if (s.dims[i] == -1 && unknown >= 0)
      raise("ValueError", span, "only one dimension can be -1: %s", asked);
    if (s.dims[i] == -1) unknown = i;
    else if (s.dims[i] < 0)
      raise("ValueError", span, "negative dimensions are not allowed: %s", asked);
    else if (__builtin_mul_overflow(known, s.dims[i], &known)) known = INT64_MAX;
  }
  if (unknown >= 0 && known && size % known == 0) s.dims[unknown] = size / known, known = size;
  if (known != size || (unknown >= 0 && s.dims[unknown] < 0))
    raise_code(E0236, span, "cannot reshape a tensor of size %lld into shape %s", (long long)size,
               asked);
  return tensor_reshaped(x, s.ndim, s.dims, span);
}

/* Dims given as one sequence or one by one: the tuple of *args. */
static Value spread(Value args) {
  ValueVec *items = value_items(args);
  bool one = items->len == 1 && items->at[0].type != &type_int;
  return one ? items->at[0] : args;
}

static Value method_reshape(BuiltinCall *c) {
  return reshape_to(c->self, shape_arg(spread(c->args[0]), c->span), c->span);
}
static Value np_reshape(BuiltinCall *c) {
  return reshape_to(subject(c), shape_arg(c->args[1], c->spans[1]), c->span);
}

static Value np_ravel(BuiltinCall *c) {
  Value x = subject(c);
  View v = view_of(x);
  int64_t size = view_size(&v);
  return tensor_reshaped(view_is_compact(&v) ? x : tensor_copied(&v, c->span), 1, &size, c->span);
}

static Value method_flatten(BuiltinCall *c) {
  View v = view_of(c->self);
  int64_t size = view_size(&v);
  return tensor_reshaped(tensor_copied(&v, c->span), 1, &size, c->span);
}

static Value transpose_by(Value x, Value axes, Span span) {
  View v = view_of(x);
  int order[MAX_DIMS];
  bool used[MAX_DIMS] = {false};
  for (int i = 0; i < v.ndim; i++) order[i] = v.ndim - 1 - i;
  if (!value_is_none(axes)) {
    ValueVec list = value_to_vec(axes, span);
    if (list.len != v.ndim)
      raise("ValueError", span, "%d axes for a tensor of %d dimensions", list.len, v.ndim);
    for (int i = 0; i < v.ndim; i++) {
      order[i] = axis_arg(list.at[i], v.ndim, span);
      if (used[order[i]]) raise("ValueError", span, "axis %d is given twice", order[i]);
      used[order[i]] = true;
    }
  }
  view_permute(&v, order);
  return tensor_view(&v, span);
}
static Value np_transpose(BuiltinCall *c) { return transpose_by(subject(c), c->args[1], c->span); }
static Value method_transpose(BuiltinCall *c) {
  Value axes = spread(c->args[0]);
  bool none = axes.type == &type_tuple && !value_items(axes)->len;
  return transpose_by(c->self, none ? value_none() : axes, c->span);
}

static Value np_swapaxes(BuiltinCall *c) {
  View v = view_of(subject(c));
  int order[MAX_DIMS];
  for (int i = 0; i < v.ndim; i++) order[i] = i;
  int a = axis_arg(others(c)[0], v.ndim, c->span), b = axis_arg(others(c)[1], v.ndim, c->span);
  order[a] = b;
  order[b] = a;
  view_permute(&v, order);
  return tensor_view(&v, c->span);
}

static Value np_moveaxis(BuiltinCall *c) {
  View v = view_of(subject(c));
  int from = axis_arg(others(c)[0], v.ndim, c->span), to = axis_arg(others(c)[1], v.ndim, c->span);
  int order[MAX_DIMS], n = 0;
  for (int i = 0; i < v.ndim; i++)
    if (i != from) order[n++] = i;
  memmove(order + to + 1, order + to, sizeof *order * (size_t)(v.ndim - 1 - to));
  order[to] = from;
  view_permute(&v, order);
  return tensor_view(&v, c->span);
}

static ValueVec axes_of(Value v) {
  ValueVec list = {0};
  if (v.type == &type_tuple || v.type == &type_list) return *value_items(v);
  vec_push(&list, v);
  return list;
}

static Value np_squeeze(BuiltinCall *c) {
  Value x = subject(c), axes = others(c)[0];
  View v = view_of(x);
  bool drop[MAX_DIMS] = {false};
  for (int i = 0; i < v.ndim; i++) drop[i] = value_is_none(axes) && v.shape[i] == 1;
  ValueVec list = {0};
  if (!value_is_none(axes)) list = axes_of(axes);
  for each (Value, a, &list) {
    int axis = axis_arg(*a, v.ndim, c->span);
    if (v.shape[axis] != 1)
      raise("ValueError", c->span, "axis %d has extent %lld: only 1 can be squeezed away", axis,
            (long long)v.shape[axis]);
    drop[axis] = true;
  }
  int kept = 0;
  for (int i = 0; i < v.ndim; i++)
    if (!drop[i]) v.shape[kept] = v.shape[i], v.strides[kept++] = v.strides[i];
  v.ndim = kept;
  return tensor_view(&v, c->span);
}

static Value np_expand_dims(BuiltinCall *c) {
  Value x = subject(c);
  View v = view_of(x);
  ValueVec list = axes_of(others(c)[0]);
  int ndim = v.ndim + list.len;
  if (ndim > MAX_DIMS) raise("ValueError", c->span, "the result would have too many dimensions");
  bool added[MAX_DIMS] = {false};
  for each (Value, a, &list) added[axis_arg(*a, ndim, c->span)] = true;
  View out = v;
  out.ndim = ndim;
  for (int i = 0, from = 0; i < ndim; i++) {
    bool is_new = added[i] || from == v.ndim;
    out.shape[i] = is_new ? 1 : v.shape[from];
    out.strides[i] = is_new ? 0 : v.strides[from++];
  }
  return tensor_view(&out, c->span);
}

static Value np_broadcast_to(BuiltinCall *c) {
  View v = view_of(tensor_of(c->args[0], c->spans[0]));
  Shape s = shape_arg(c->args[1], c->spans[1]);
  view_broadcast(&v, s.ndim, s.dims, "the tensor", c->span);
  v.is_readonly = true; /* one element stands at several places */
  return tensor_view(&v, c->span);
}

static Value np_flip(BuiltinCall *c) {
  View v = view_of(subject(c));
  bool all = value_is_none(others(c)[0]);
  ValueVec list = {0};
  if (!all) list = axes_of(others(c)[0]);
  for (int i = 0; all && i < v.ndim; i++) vec_push(&list, value_int(i));
  for each (Value, a, &list) {
    int i = axis_arg(*a, v.ndim, c->span);
    if (v.shape[i]) v.data += (v.shape[i] - 1) * v.strides[i] * dtype_nbytes(v.dtype);
    v.strides[i] = -v.strides[i];
  }
  return tensor_view(&v, c->span);
}

static Value np_shape(BuiltinCall *c) {
  return value_get_attr(subject(c), str_intern("shape"), c->span);
}
static Value np_ndim(BuiltinCall *c) {
  return value_get_attr(subject(c), str_intern("ndim"), c->span);
}
static Value np_size(BuiltinCall *c) {
  if (!value_is_none(c->args[1])) {
    View v = view_of(subject(c));
    return value_int(v.shape[axis_arg(c->args[1], v.ndim, c->spans[1])]);
  }
  return value_get_attr(subject(c), str_intern("size"), c->span);
}

static const Builtin methods[] = {
    {"reshape", "*shape", method_reshape, "in another shape; one dimension may be -1"},
    {"ravel", "", np_ravel, "in one dimension"},
    {"flatten", "", method_flatten, "a copy in one dimension"},
    {"transpose", "*axes", method_transpose, "with its axes in another order, reversed by default"},
    {"swapaxes", "axis1, axis2, /", np_swapaxes, "with two axes exchanged"},
    {"squeeze", "axis=None", np_squeeze, "without dimensions of extent 1"},
};
const BuiltinRows shape_methods = {methods, sizeof methods / sizeof *methods};

static const Builtin rows[] = {
    {"reshape", "a, shape", np_reshape, "in another shape; one dimension may be -1"},
    {"ravel", "a", np_ravel, "in one dimension"},
    {"transpose", "a, axes=None", np_transpose, "with its axes in another order"},
    {"permute_dims", "a, axes=None", np_transpose, "with its axes in another order"},
    {"swapaxes", "a, axis1, axis2", np_swapaxes, "with two axes exchanged"},
    {"moveaxis", "a, source, destination", np_moveaxis, "with one axis moved"},
    {"squeeze", "a, axis=None", np_squeeze, "without dimensions of extent 1"},
    {"expand_dims", "a, axis", np_expand_dims, "with dimensions of extent 1 added"},
    {"broadcast_to", "a, shape", np_broadcast_to, "repeated to a shape"},
    {"flip", "m, axis=None", np_flip, "in reverse order along axes"},
    {"shape", "a", np_shape, "the extents"},
    {"ndim", "a", np_ndim, "the number of dimensions"},
    {"size", "a, axis=None", np_size, "the number of elements, or an extent"},
};
const BuiltinRows shape_rows = {rows, sizeof rows / sizeof *rows};
