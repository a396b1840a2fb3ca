/* join.c -- tensors put together and taken apart: concatenate, stack, split, tile, repeat, pad. */
#include "lang/builtin/tensor/tensor_impl.h"

/* The part [lo, lo + n) of one axis. */
static View part_of(const View *v, int axis, int64_t lo, int64_t n) {
  View p = *v;
  p.data += lo * p.strides[axis] * dtype_nbytes(p.dtype);
  p.shape[axis] = n;
  return p;
}

static Value concatenated(const ValueVec *parts, int64_t axis, Span span) {
  if (!parts->len) raise("ValueError", span, "need at least one tensor to put together");
  View first = view_of(parts->at[0]), shape = first;
  int at = axis_arg(value_int(axis), first.ndim, span);
  shape.shape[at] = 0;
  for each (Value, p, parts) {
    View v = view_of(*p);
    bool ok = v.ndim == first.ndim;
    for (int i = 0; ok && i < v.ndim; i++) ok = i == at || v.shape[i] == first.shape[i];
    if (!ok)
      raise_code(E0236, span, "tensors of shapes %s and %s can't be put together along axis %d",
                 dims_text(first.ndim, first.shape), dims_text(v.ndim, v.shape), at);
    shape.shape[at] += v.shape[at];
    shape.dtype = promote(shape.dtype, v.dtype);
  }
  Value out = tensor_new(shape.dtype, shape.ndim, shape.shape, span);
  View to = view_of(out);
  int64_t lo = 0;
  for each (Value, p, parts) {
    View from = view_of(*p), into = part_of(&to, at, lo, from.shape[at]);
    view_copy(&into, &from);
    lo += from.shape[at];
  }
  return out;
}

static ValueVec tensors_arg(Value v, Span span) {
  ValueVec given = value_to_vec(v, span), out = {0};
  for each (Value, x, &given) {
    Value t = tensor_of(*x, span);
    vec_push(&out, t);
  }
  return out;
}

static Value with_dim(Value x, int at, Span span) {
  View v = view_of(x);
  if (v.ndim == MAX_DIMS) raise("ValueError", span, "the result would have too many dimensions");
  memmove(v.shape + at + 1, v.shape + at, sizeof *v.shape * (size_t)(v.ndim - at));
  v.shape[at] = 1;
  return tensor_reshaped(x, v.ndim + 1, v.shape, span);
}

static Value np_concatenate(BuiltinCall *c) {
  ValueVec parts = tensors_arg(c->args[0], c->spans[0]);
  bool flat = value_is_none(c->args[1]);
  for (int i = 0; flat && i < parts.len; i++) {
    View v = view_of(parts.at[i]);
    int64_t size = view_size(&v);
    parts.at[i] = tensor_reshaped(tensor_copied(&v, c->span), 1, &size, c->span);
  }
  int64_t axis = flat ? 0 : value_as_int(c->args[1], "the axis", c->spans[1]);
  return concatenated(&parts, axis, c->span);
}

static Value np_stack(BuiltinCall *c) {
  ValueVec parts = tensors_arg(c->args[0], c->spans[0]);
  if (!parts.len) raise("ValueError", c->span, "need at least one tensor to stack");
  int axis = axis_arg(c->args[1], view_of(parts.at[0]).ndim + 1, c->spans[1]);
  for each (Value, p, &parts) {
    View v = view_of(*p);
    if (v.ndim < axis) raise_code(E0236, c->span, "all tensors to stack must have the same shape");
    *p = with_dim(*p, axis, c->span);
  }
  return concatenated(&parts, axis, c->span);
}

static Value np_vstack(BuiltinCall *c) {
  ValueVec parts = tensors_arg(c->args[0], c->spans[0]);
  for each (Value, p, &parts)
    while (view_of(*p).ndim < 2) *p = with_dim(*p, 0, c->span);
  return concatenated(&parts, 0, c->span);
}
static Value np_hstack(BuiltinCall *c) {
  ValueVec parts = tensors_arg(c->args[0], c->spans[0]);
  for each (Value, p, &parts)
    while (view_of(*p).ndim < 1) *p = with_dim(*p, 0, c->span);
  return concatenated(&parts, parts.len && view_of(parts.at[0]).ndim > 1 ? 1 : 0, c->span);
}

/* Into n parts (equal, unless `uneven`), or at the given places. */
static Value split(BuiltinCall *c, bool uneven) {
  View v = view_of(tensor_of(c->args[0], c->spans[0]));
  int axis = axis_arg(c->args[2], v.ndim, c->spans[2]);
  int64_t extent = v.shape[axis], lo = 0;
  ValueVec out = {0}, places = {0};
  if (c->args[1].type == &type_int) {
    int64_t n = c->args[1].integer;
    if (n < 1 || n > INT32_MAX || (!uneven && extent % n))
      raise("ValueError", c->spans[1], "an extent of %lld can't be split into %lld equal parts",
            (long long)extent, (long long)n);
    for (int64_t i = 1, at = 0; i < n; i++) {
      at += extent / n + (i <= extent % n);
      vec_push(&places, value_int(at));
    }
  } else {
    places = value_to_vec(c->args[1], c->spans[1]);
  }
  for (int i = 0; i <= places.len; i++) {
    int64_t hi = i < places.len ? value_as_int(places.at[i], "a place", c->spans[1]) : extent;
    if (hi < 0) hi += extent;
    hi = hi < 0 ? 0 : hi > extent ? extent : hi;
    View p = part_of(&v, axis, lo, hi > lo ? hi - lo : 0);
    Value t = tensor_view(&p, c->span);
    vec_push(&out, t);
    lo = hi;
  }
  return value_list(out);
}
static Value np_split(BuiltinCall *c) { return split(c, false); }
static Value np_array_split(BuiltinCall *c) { return split(c, true); }

static Value np_tile(BuiltinCall *c) {
  Value x = tensor_of(c->args[0], c->spans[0]);
  Shape reps = shape_arg(c->args[1], c->spans[1]);
  while (view_of(x).ndim < reps.ndim) x = with_dim(x, 0, c->span);
  int ndim = view_of(x).ndim, shift = ndim - reps.ndim;
  for (int i = 0; i < reps.ndim; i++) {
    if (reps.dims[i] < 0 || reps.dims[i] > 1 << 24)
      raise("ValueError", c->spans[1], "a tensor can't be repeated %lld times",
            (long long)reps.dims[i]);
    ValueVec copies = {0};
    for (int64_t k = 0; k < reps.dims[i]; k++) vec_push(&copies, x);
    View none = view_of(x);
    none.shape[i + shift] = 0;
    x = copies.len ? concatenated(&copies, i + shift, c->span) : tensor_copied(&none, c->span);
  }
  return x;
}

static Value np_repeat(BuiltinCall *c) {
  Value x = tensor_of(c->args[0], c->spans[0]);
  View v = view_of(x);
  int64_t n = value_as_int(c->args[1], "repeats", c->spans[1]), size = view_size(&v);
  if (n < 0) raise("ValueError", c->spans[1], "repeats must not be negative");
  if (value_is_none(c->args[2])) x = tensor_reshaped(x, 1, &size, c->span), v = view_of(x);
  int axis = value_is_none(c->args[2]) ? 0 : axis_arg(c->args[2], v.ndim, c->spans[2]);
  View wide = v;
  if (wide.ndim == MAX_DIMS) raise("ValueError", c->span, "the tensor has too many dimensions");
  memmove(wide.shape + axis + 2, v.shape + axis + 1, sizeof *v.shape * (size_t)(v.ndim - axis - 1));
  memmove(wide.strides + axis + 2, v.strides + axis + 1,
          sizeof *v.shape * (size_t)(v.ndim - axis - 1));
  wide.shape[axis + 1] = n;
  wide.strides[axis + 1] = 0;
  wide.ndim++;
  v.shape[axis] *= n;
  return tensor_reshaped(tensor_copied(&wide, c->span), v.ndim, v.shape, c->span);
}

/* pad_width: n, (before, after), or such a pair for each dimension. */
static Value np_pad(BuiltinCall *c) {
  View v = view_of(tensor_of(c->args[0], c->spans[0]));
  View widths = view_of(tensor_of(c->args[1], c->spans[1]));
  const char *mode = value_as_text(c->args[2], "the mode", c->spans[2]);
  if (strcmp(mode, "constant") != 0)
    raise("ValueError", c->spans[2], "pad() supports the mode 'constant', not '%s'", mode);
  int64_t pairs[] = {v.ndim, 2}, shape[MAX_DIMS], w[2 * MAX_DIMS];
  view_broadcast(&widths, 2, pairs, "pad_width", c->spans[1]);
  for (int64_t i = 0; i < 2 * v.ndim; i++)
    load_ints(widths.dtype, view_at(&widths, (int64_t[]){i / 2, i % 2}), 1, 1, &w[i]);
  for (int i = 0; i < v.ndim; i++) {
    if (w[2 * i] < 0 || w[2 * i + 1] < 0)
      raise("ValueError", c->spans[1], "pad widths must not be negative");
    shape[i] = w[2 * i] + v.shape[i] + w[2 * i + 1];
  }
  Value out = tensor_new(v.dtype, v.ndim, shape, c->span);
  tensor_set_item(out, (Value){.type = &type_ellipsis}, c->args[3], c->span);
  View to = view_of(out);
  for (int i = 0; i < v.ndim; i++) to = part_of(&to, i, w[2 * i], v.shape[i]);
  view_copy(&to, &v);
  return out;
}

static Value np_roll(BuiltinCall *c) {
  Value x = tensor_of(c->args[0], c->spans[0]);
  View v = view_of(x);
  int64_t size = view_size(&v);
  Value line = value_is_none(c->args[2]) ? tensor_reshaped(x, 1, &size, c->span) : x;
  View from = view_of(line);
  int axis = value_is_none(c->args[2]) ? 0 : axis_arg(c->args[2], v.ndim, c->spans[2]);
  int64_t extent = from.shape[axis];
  if (!size) return tensor_copied(&v, c->span);
  int64_t shift = value_as_int(c->args[1], "the shift", c->spans[1]) % extent;
  if (shift < 0) shift += extent;
  View tail = part_of(&from, axis, extent - shift, shift),
       head = part_of(&from, axis, 0, extent - shift);
  ValueVec parts = {0};
  Value a = tensor_copied(&tail, c->span), b = tensor_copied(&head, c->span);
  vec_push(&parts, a);
  vec_push(&parts, b);
  return tensor_reshaped(concatenated(&parts, axis, c->span), v.ndim, v.shape, c->span);
}

static Value np_meshgrid(BuiltinCall *c) {
  ValueVec *given = value_items(c->args[0]), out = {0};
  bool matrix = strcmp(value_as_text(c->args[1], "indexing", c->spans[1]), "xy") == 0;
  int n = given->len;
  Shape s = {.ndim = n};
  if (n > MAX_DIMS) raise("ValueError", c->span, "too many vectors");
  for (int i = 0; i < n; i++) {
    View v = view_of(tensor_of(given->at[i], c->span));
    s.dims[matrix && n > 1 && i < 2 ? 1 - i : i] = view_size(&v);
  }
  for (int i = 0; i < n; i++) {
    View v = view_of(tensor_of(given->at[i], c->span)), wide = {.dtype = v.dtype, .ndim = n};
    Value compact = tensor_copied(&v, c->span);
    wide.data = view_of(compact).data;
    memcpy(wide.shape, s.dims, sizeof s.dims);
    wide.strides[matrix && n > 1 && i < 2 ? 1 - i : i] = 1;
    wide.owner = compact;
    Value t = tensor_copied(&wide, c->span);
    vec_push(&out, t);
  }
  return value_list(out);
}

static const Builtin rows[] = {
    {"concatenate", "arrays, axis=0", np_concatenate, "one after the other along an axis"},
    {"concat", "arrays, axis=0", np_concatenate, "one after the other along an axis"},
    {"stack", "arrays, axis=0", np_stack, "side by side along a new axis"},
    {"vstack", "arrays", np_vstack, "one below the other"},
    {"hstack", "arrays", np_hstack, "one beside the other"},
    {"split", "a, indices_or_sections, axis=0", np_split, "equal parts, or parts at places"},
    {"array_split", "a, indices_or_sections, axis=0", np_array_split, "parts as equal as can be"},
    {"tile", "a, reps", np_tile, "repeated as a whole"},
    {"_repeat", "a, repeats, axis=None", np_repeat, "each element repeated"},
    {"_pad", "array, pad_width, mode='constant', constant_values=0", np_pad, "with a border"},
    {"roll", "a, shift, axis=None", np_roll, "moved along an axis, round the end"},
    {"meshgrid", "*xi, indexing='xy'", np_meshgrid, "the coordinates of a grid"},
};
const BuiltinRows join_rows = {rows, sizeof rows / sizeof *rows};
