/* index.c -- tensors indexed by ints, slices, ..., None, and by lists, tensors and bool masks.
 *
 * Ints and slices give a view (ints alone, a scalar); lists and masks give a copy. Setting assigns
 * in place, with broadcasting. As in NumPy, the dims of
 * lists and masks stand together: where they stood if they are neighbours, else in front. */
#include "lang/builtin/tensor/tensor_impl.h"

/* What an index selects: a view by ints and slices, and lists for some dims of it. */
typedef struct Selection {
  View base;
  int lists, list_dim[MAX_DIMS]; /* which dim of base each list goes over */
  View list[MAX_DIMS];           /* int64, of one shape */
  bool ints_too;                 /* beside lists, ints count as lists of one */
  int position;                  /* of the lists' dims in the result */
  int rest, rest_dim[MAX_DIMS];  /* the other dims of base */
} Selection;

static bool is_list(Value v) {
  return v.type == &type_tensor || v.type == &type_list || v.type == &type_tuple ||
         v.type == &type_range;
}

/* An int, or a tensor without dims that holds one. */
static bool is_int(Value v) {
  if (v.type == &type_int) return true;
  if (v.type != &type_tensor) return false;
  View x = view_of(v);
  return !x.ndim && dtype_is_int(x.dtype);
}

static ValueVec index_parts(Value index) {
  ValueVec parts = {0};
  if (index.type == &type_tuple) return *value_items(index);
  vec_push(&parts, index);
  return parts;
}

/* Dims that the part takes: those of a mask, one for ints, slices and lists, none for None. */
static int dims_taken(Value part, Span span) {
  if (part.type == &type_none || part.type == &type_ellipsis) return 0;
  if (part.type == &type_bool) return 0;
  if (!is_list(part) || is_int(part)) return 1;
  View v = view_of(tensor_of(part, span));
  return dtype_is_bool(v.dtype) ? v.ndim : 1;
}

static void add_dim(View *out, int64_t extent, int64_t stride, Span span) {
  if (out->ndim == MAX_DIMS) raise("IndexError", span, "the result would have too many dimensions");
  out->shape[out->ndim] = extent;
  out->strides[out->ndim++] = stride;
}

/* The last dim of base goes by this list. */
static void add_list(Selection *s, Value list) {
  s->list_dim[s->lists] = s->base.ndim - 1;
  s->list[s->lists++] = view_of(list);
}

/* The places of the true elements, one int64 tensor a dim. */
static ValueVec places_of(const View *mask, Span span) {
  int64_t n = 0, index[MAX_DIMS] = {0}, size = view_size(mask);
  for (int64_t k = 0; k < size; k++) {
    n += *view_at(mask, index) != 0;
    for (int d = mask->ndim; d-- > 0 && ++index[d] == mask->shape[d];) index[d] = 0;
  }
  ValueVec out = {0};
  int64_t *to[MAX_DIMS], at = 0;
  for (int d = 0; d < mask->ndim; d++) {
    Value t = tensor_new(INT64, 1, &n, span);
    to[d] = (int64_t *)(void *)view_of(t).data;
    vec_push(&out, t);
  }
  memset(index, 0, sizeof index);
  for (int64_t k = 0; k < size; k++) {
    if (*view_at(mask, index))
      for (int d = 0; d < mask->ndim; d++) to[d][at] = index[d];
    at += *view_at(mask, index) != 0;
    for (int d = mask->ndim; d-- > 0 && ++index[d] == mask->shape[d];) index[d] = 0;
  }
  return out;
}

static void select_mask(Selection *s, const View *v, int dim, const View *mask, Span span) {
  for (int d = 0; d < mask->ndim; d++)
    if (mask->shape[d] != v->shape[dim + d])
      raise("IndexError", span, "a mask of shape %s does not fit a tensor of shape %s",
            dims_text(mask->ndim, mask->shape), dims_text(v->ndim, v->shape));
  ValueVec places = places_of(mask, span);
  for (int d = 0; d < mask->ndim; d++) {
    add_dim(&s->base, v->shape[dim + d], v->strides[dim + d], span);
    add_list(s, places.at[d]);
  }
}

static Value checked_list(const View *list, int64_t extent, Span span) {
  if (!dtype_is_int(list->dtype) && view_size(list))
    raise("IndexError", span, "a tensor is indexed by ints or bools, not by %s",
          dtype_text(list->dtype));
  Value out = tensor_cast(list, INT64, span);
  int64_t *at = (int64_t *)(void *)view_of(out).data, n = view_size(list);
  for (int64_t i = 0; i < n; i++) {
    if (at[i] < -extent || at[i] >= extent)
      raise("IndexError", span, "index %lld is out of bounds for a dimension of extent %lld",
            (long long)at[i], (long long)extent);
    if (at[i] < 0) at[i] += extent;
  }
  return out;
}

/* One part of the index, at dim `dim` of v. */
static void select_part(Selection *s, const View *v, int dim, Value part, Span span) {
  int64_t extent = dim < v->ndim ? v->shape[dim] : 0, stride = dim < v->ndim ? v->strides[dim] : 0;
  if (part.type == &type_none) {
    add_dim(&s->base, 1, 0, span);
  } else if (is_int(part) && s->ints_too) {
    View one = view_of(tensor_of(part, span));
    add_dim(&s->base, extent, stride, span);
    add_list(s, checked_list(&one, extent, span));
  } else if (is_int(part)) {
    int64_t i = value_as_int(part, "an index", span), at = i < 0 ? i + extent : i;
    if (at < 0 || at >= extent)
      raise("IndexError", span, "index %lld is out of bounds for dimension %d of extent %lld",
            (long long)i, dim, (long long)extent);
    s->base.data += at * stride * dtype_nbytes(v->dtype);
  } else if (part.type == &type_slice) {
    SliceBounds b = slice_bounds(part, extent, span);
    if (b.count) s->base.data += b.start * stride * dtype_nbytes(v->dtype);
    add_dim(&s->base, b.count, b.step * stride, span);
  } else if (is_list(part)) {
    View list = view_of(tensor_of(part, span));
    if (dtype_is_bool(list.dtype)) return select_mask(s, v, dim, &list, span);
    add_dim(&s->base, extent, stride, span);
    add_list(s, checked_list(&list, extent, span));
  } else {
    raise(
        "IndexError", span,
        "a tensor is indexed by ints, slices, `...`, None, and lists of ints or bools, not by '%s'",
        value_type_text(part));
  }
}

static void finish_lists(Selection *s, Span span) {
  View shape = {0};
  for (int i = 0; i < s->lists; i++) {
    View next = {0}, *list = &s->list[i];
    if (!shapes_fit(&shape, list))
      raise("IndexError", span, "lists of indices of shapes %s and %s do not fit together",
            dims_text(shape.ndim, shape.shape), dims_text(list->ndim, list->shape));
    broadcast_shapes(&shape, list, &next, span);
    shape = next;
  }
  for (int i = 0; i < s->lists; i++)
    view_broadcast(&s->list[i], shape.ndim, shape.shape, "an index", span);
  bool together = s->lists > 0;
  for (int i = 1; i < s->lists; i++) together &= s->list_dim[i] == s->list_dim[i - 1] + 1;
  s->position = together ? s->list_dim[0] : 0;
  for (int d = 0; d < s->base.ndim; d++) {
    bool by_list = false;
    for (int i = 0; i < s->lists; i++) by_list |= s->list_dim[i] == d;
    if (!by_list) s->rest_dim[s->rest++] = d;
  }
}

static Selection select(Value tensor, Value index, Span span) {
  View v = view_of(tensor);
  ValueVec parts = index_parts(index);
  Selection s = {
      .base = {.dtype = v.dtype, .data = v.data, .owner = tensor, .is_readonly = v.is_readonly}};
  int taken = 0, dots = 0, dim = 0;
  for each (Value, p, &parts) {
    taken += dims_taken(*p, span);
    dots += p->type == &type_ellipsis;
    s.ints_too |= is_list(*p) && !is_int(*p);
  }
  if (dots > 1) raise("IndexError", span, "an index has at most one `...`");
  if (taken > v.ndim)
    raise("IndexError", span, "too many indices: a tensor of %d dimension%s, %d were indexed",
          v.ndim, v.ndim == 1 ? "" : "s", taken);
  for each (Value, p, &parts) {
    if (p->type != &type_ellipsis) {
      int n = dims_taken(*p, span);
      select_part(&s, &v, dim, *p, span);
      dim += n;
      continue;
    }
    for (int k = v.ndim - taken; k > 0; k--, dim++)
      add_dim(&s.base, v.shape[dim], v.strides[dim], span);
  }
  for (; dim < v.ndim; dim++) add_dim(&s.base, v.shape[dim], v.strides[dim], span);
  finish_lists(&s, span);
  return s;
}

/* ---- moving the elements of a selection with lists ---- */

static View result_shape(const Selection *s, Span span) {
  View r = {.dtype = s->base.dtype};
  const View *list = &s->list[0];
  for (int k = 0; k <= s->rest; k++) {
    if (k == s->position)
      for (int d = 0; d < list->ndim; d++) add_dim(&r, list->shape[d], 0, span);
    if (k < s->rest) add_dim(&r, s->base.shape[s->rest_dim[k]], 0, span);
  }
  return r;
}

/* `other` has the shape of the result. For each place that the lists name: the part of base there
 * and the part of other there, one copied to the other. */
static void move_lists(Selection *s, const View *other, bool get) {
  const View *lists = s->list;
  int64_t n = view_size(&lists[0]), index[MAX_DIMS] = {0};
  View part = {.dtype = s->base.dtype, .ndim = s->rest},
       mine = {.dtype = other->dtype, .ndim = s->rest};
  for (int k = 0; k < s->rest; k++) {
    int at = k < s->position ? k : k + lists[0].ndim;
    part.shape[k] = mine.shape[k] = s->base.shape[s->rest_dim[k]];
    part.strides[k] = s->base.strides[s->rest_dim[k]];
    mine.strides[k] = other->strides[at];
  }
  for (int64_t m = 0; m < n; m++) {
    int64_t from = 0, to = 0;
    for (int i = 0; i < s->lists; i++) {
      int64_t place;
      memcpy(&place, view_at(&lists[i], index), sizeof place);
      from += place * s->base.strides[s->list_dim[i]];
    }
    for (int d = 0; d < lists[0].ndim; d++) to += index[d] * other->strides[s->position + d];
    part.data = s->base.data + from * dtype_nbytes(part.dtype);
    mine.data = other->data + to * dtype_nbytes(mine.dtype);
    if (get) view_copy(&mine, &part);
    else view_copy(&part, &mine);
    for (int d = lists[0].ndim; d-- > 0 && ++index[d] == lists[0].shape[d];) index[d] = 0;
  }
}

static bool has_ellipsis(Value index) {
  ValueVec parts = index_parts(index);
  for each (Value, p, &parts)
    if (p->type == &type_ellipsis) return true;
  return false;
}

static bool same_place(const View *a, const View *b) {
  size_t dims = sizeof *a->shape * (size_t)a->ndim;
  return a->data == b->data && a->ndim == b->ndim && !memcmp(a->shape, b->shape, dims) &&
         !memcmp(a->strides, b->strides, dims);
}

Value tensor_get_item(Value v, Value index, Span span) {
  Selection s = select(v, index, span);
  bool is_element = !s.lists && !s.base.ndim && !has_ellipsis(index);
  if (is_element) return tensor_as_scalar(tensor_copied(&s.base, span));
  if (!s.lists) return tensor_view(&s.base, span);
  View shape = result_shape(&s, span);
  Value out = tensor_new(shape.dtype, shape.ndim, shape.shape, span);
  View to = view_of(out);
  move_lists(&s, &to, true);
  return out;
}

void tensor_set_item(Value v, Value index, Value x, Span span) {
  tensor_check_writable(v, span);
  Selection s = select(v, index, span);
  if (s.base.ndim == 0 && !s.lists && x.type != &type_tensor && x.type != &type_list)
    return store_value(s.base.dtype, s.base.data, x, span);
  bool number = x.type == &type_int || x.type == &type_float || x.type == &type_bool;
  View from = view_of(number ? tensor_scalar(s.base.dtype, x, span) : tensor_of(x, span));
  if (!s.lists && same_place(&from, &s.base)) return; /* `a[i:j] += x` has stored it already */
  if (x.type == &type_tensor) from = view_of(tensor_copied(&from, span)); /* may overlap */
  View shape = s.lists ? result_shape(&s, span) : s.base;
  view_broadcast(&from, shape.ndim, shape.shape, "the value", span);
  if (s.lists) move_lists(&s, &from, false);
  else view_copy(&s.base, &from);
}

/* ---- functions of indices ---- */

static Value method_nonzero(BuiltinCall *c) {
  View v = view_of(tensor_of(c->self.type ? c->self : c->args[0], c->span));
  View mask = view_of(tensor_cast(&v, BOOL, c->span));
  return value_tuple(places_of(&mask, c->span));
}
/* Indices as `mode` brings them into 0 .. n - 1: "raise" leaves them as they are. */
static Value taken_places(Value indices, int64_t n, Value mode, Span span) {
  const char *how = value_as_text(mode, "mode", span);
  bool wrap = str_same(how, "wrap");
  if (!wrap && !str_same(how, "clip")) {
    if (!str_same(how, "raise"))
      raise("ValueError", span, "mode is 'raise', 'wrap' or 'clip', not '%s'", how);
    return indices;
  }
  View list = view_of(tensor_of(indices, span));
  Value out = tensor_cast(&list, INT64, span);
  int64_t *at = (int64_t *)(void *)view_of(out).data, count = view_size(&list);
  for (int64_t i = 0; n && i < count; i++)
    at[i] = wrap ? (at[i] % n + n) % n : at[i] < 0 ? 0 : at[i] >= n ? n - 1 : at[i];
  return is_int(indices) ? value_int(at[0]) : out;
}
static Value method_take(BuiltinCall *c) {
  Value x = c->self.type ? c->self : tensor_of(c->args[0], c->span);
  Value *args = c->self.type ? c->args : c->args + 1;
  View v = view_of(x);
  ValueVec parts = {0};
  if (value_is_none(args[1])) {
    int64_t size = view_size(&v);
    View list = view_of(tensor_of(taken_places(args[0], size, args[2], c->span), c->span));
    Value line = tensor_reshaped(x, 1, &size, c->span);
    return tensor_get_item(line, checked_list(&list, size, c->span), c->span);
  }
  int axis = axis_arg(args[1], v.ndim, c->span);
  for (int i = 0; i < axis; i++)
    vec_push(&parts, value_slice(value_none(), value_none(), value_none()));
  Value at = taken_places(args[0], v.shape[axis], args[2], c->span);
  vec_push(&parts, is_int(at) ? at : tensor_of(at, c->span));
  return tensor_get_item(x, value_tuple(parts), c->span);
}

static const Builtin methods[] = {
    {"nonzero", "", method_nonzero, "the indices of what is not zero, a tensor for each dimension"},
    {"take", "indices, axis=None, mode='raise'", method_take,
     "the elements at indices along an axis"},
};
const BuiltinRows index_methods = {methods, sizeof methods / sizeof *methods};
static const Builtin rows[] = {
    {"nonzero", "a", method_nonzero,
     "the indices of what is not zero, a tensor for each dimension"},
    {"take", "a, indices, axis=None, mode='raise'", method_take,
     "the elements at indices along an axis"},
};
const BuiltinRows index_rows = {rows, sizeof rows / sizeof *rows};
