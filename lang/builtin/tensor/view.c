/* view.c -- views of tensors: broadcasting, and going over several in step. */
#include "lang/builtin/tensor/tensor_impl.h"

int64_t view_size(const View *v) {
  int64_t n = 1;
  for (int i = 0; i < v->ndim; i++) n *= v->shape[i];
  return n;
}

const char *dims_text(int ndim, const int64_t *shape) {
  Str s = {0};
  str_add(&s, "(");
  for (int i = 0; i < ndim; i++) str_printf(&s, "%s%lld", i ? ", " : "", (long long)shape[i]);
  str_add(&s, ndim == 1 ? ",)" : ")");
  return str_text(&s);
}

View view_of(Value tensor) {
  const DLTensor *t = tvms_tensor_dl(value_as_tensor(tensor, (Span){0}));
  View v = {.dtype = dtype_from_dlpack(t->dtype.code, t->dtype.bits, t->dtype.lanes),
            .data = (char *)t->data + t->byte_offset,
            .ndim = t->ndim,
            .owner = tensor,
            .is_readonly = tensor_object(tensor)->is_readonly};
  int64_t stride = 1;
  for (int i = t->ndim; i-- > 0;) {
    v.shape[i] = t->shape[i];
    v.strides[i] = t->strides ? t->strides[i] : stride;
    stride *= t->shape[i];
  }
  return v;
}

/* ---- broadcasting ---- */

void view_broadcast(View *v, int ndim, const int64_t *shape, const char *what, Span span) {
  int shift = ndim - v->ndim;
  bool ok = true;
  /* Leading dims of extent 1 may fall away. */
  int drop = 0;
  while (shift + drop < 0 && v->shape[drop] == 1) drop++;
  if (drop) {
    for (int i = drop; i < v->ndim; i++)
      v->shape[i - drop] = v->shape[i], v->strides[i - drop] = v->strides[i];
    v->ndim -= drop;
    shift += drop;
  }
  for (int i = 0; ok && i < v->ndim; i++)
    ok = shift >= 0 && (v->shape[i] == shape[i + shift] || v->shape[i] == 1);
  if (!ok)
    raise_code(E0236, span, "could not broadcast %s from shape %s into shape %s", what,
               dims_text(v->ndim, v->shape), dims_text(ndim, shape));
  for (int i = ndim; i-- > 0;) {
    int from = i - shift;
    bool stretched = from < 0 || (v->shape[from] == 1 && shape[i] != 1);
    v->strides[i] = stretched ? 0 : v->strides[from];
    v->shape[i] = shape[i];
  }
  v->ndim = ndim;
}

bool shapes_fit(const View *a, const View *b) {
  for (int i = 1; i <= a->ndim && i <= b->ndim; i++) {
    int64_t x = a->shape[a->ndim - i], y = b->shape[b->ndim - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

void broadcast_shapes(const View *a, const View *b, View *out, Span span) {
  if (!shapes_fit(a, b))
    raise_code(E0236, span, "operands could not be broadcast together with shapes %s and %s",
               dims_text(a->ndim, a->shape), dims_text(b->ndim, b->shape));
  out->ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
  for (int i = 0; i < out->ndim; i++) {
    int at = out->ndim - 1 - i;
    int64_t x = i < a->ndim ? a->shape[a->ndim - 1 - i] : 1;
    int64_t y = i < b->ndim ? b->shape[b->ndim - 1 - i] : 1;
    out->shape[at] = x == 1 ? y : x;
  }
}

void view_permute(View *v, const int *order) {
  View old = *v;
  for (int i = 0; i < v->ndim; i++) {
    v->shape[i] = old.shape[order[i]];
    v->strides[i] = old.strides[order[i]];
  }
}

char *view_at(const View *v, const int64_t *index) {
  int64_t offset = 0;
  for (int i = 0; i < v->ndim; i++) offset += index[i] * v->strides[i];
  return v->data + offset * dtype_nbytes(v->dtype);
}

/* ---- reshaping ---- */

/* Dims [lo, hi) of v are as one dim: each continues the next. */
static bool is_one_run(const View *v, int lo, int hi) {
  for (int i = lo; i + 1 < hi; i++)
    if (v->strides[i] != v->shape[i + 1] * v->strides[i + 1]) return false;
  return true;
}

static View without_ones(const View *v) {
  View out = *v;
  out.ndim = 0;
  for (int i = 0; i < v->ndim; i++) {
    if (v->shape[i] == 1) continue;
    out.shape[out.ndim] = v->shape[i];
    out.strides[out.ndim++] = v->strides[i];
  }
  return out;
}

/* Old and new dims are taken in groups of equal size; the old ones of a group must be one run,
 * which the new ones divide. */
bool view_reshape(View *v, int ndim, const int64_t *shape) {
  View old = without_ones(v), new = *v;
  bool is_empty = view_size(v) == 0;
  new.ndim = ndim;
  for (int i = 0; i < ndim; i++) new.shape[i] = shape[i], new.strides[i] = 1;
  for (int from = 0, to = 0; !is_empty && from < old.ndim;) {
    int lo = from, first = to;
    int64_t have = old.shape[from++], want = new.shape[to++];
    while (have != want) {
      if (have < want) have *= old.shape[from++];
      else want *= new.shape[to++];
    }
    while (from == old.ndim && to < ndim) to++; /* dims of extent 1 at the end */
    if (!is_one_run(&old, lo, from)) return false;
    int64_t stride = old.strides[from - 1];
    for (int i = to; i-- > first; stride *= new.shape[i]) new.strides[i] = stride;
  }
  *v = new;
  return true;
}

/* ---- rows ---- */

/* Dim i is merged into the last one kept if it continues it in every view. */
static bool in_line(const Rows *r, const View *const *views, int i) {
  for (int k = 0; k < r->views; k++)
    if (r->strides[k][r->ndim - 1] != views[k]->strides[i] * views[k]->shape[i]) return false;
  return true;
}

void rows_start(Rows *r, int n, const View *const *views) {
  *r = (Rows){.views = n};
  for (int i = 0; i < views[0]->ndim; i++) {
    int64_t extent = views[0]->shape[i];
    if (extent == 0) r->done = true;
    if (extent == 1) continue;
    if (r->ndim && in_line(r, views, i)) {
      r->shape[r->ndim - 1] *= extent;
      for (int k = 0; k < n; k++) r->strides[k][r->ndim - 1] = views[k]->strides[i];
      continue;
    }
    r->shape[r->ndim] = extent;
    for (int k = 0; k < n; k++) r->strides[k][r->ndim] = views[k]->strides[i];
    r->ndim++;
  }
  if (!r->ndim) r->shape[r->ndim++] = 1; /* one element: a row of one */
  for (int k = 0; k < n; k++) {
    r->nbytes[k] = dtype_nbytes(views[k]->dtype);
    r->row[k] = r->at[k] = views[k]->data;
    r->stride[k] = r->strides[k][r->ndim - 1];
  }
  r->left = r->shape[r->ndim - 1];
}

/* Moves to the next row; false after the last. */
static bool next_row(Rows *r) {
  for (int i = r->ndim - 2; i >= 0; i--) {
    for (int k = 0; k < r->views; k++) r->row[k] += r->strides[k][i] * r->nbytes[k];
    if (++r->index[i] < r->shape[i]) {
      r->left = r->shape[r->ndim - 1];
      return true;
    }
    for (int k = 0; k < r->views; k++) r->row[k] -= r->strides[k][i] * r->shape[i] * r->nbytes[k];
    r->index[i] = 0;
  }
  return false;
}

bool rows_next(Rows *r) {
  if (r->done) return false;
  if (r->n && r->left > 0) {
    for (int k = 0; k < r->views; k++) r->at[k] += r->stride[k] * r->n * r->nbytes[k];
  } else {
    if (r->n && !next_row(r)) return r->done = true, false;
    for (int k = 0; k < r->views; k++) r->at[k] = r->row[k];
  }
  r->n = r->left < CHUNK ? (int)r->left : CHUNK;
  r->left -= r->n;
  return true;
}

/* ---- copying ---- */

static void copy_chunk(const Rows *r, DataType to, DataType from) {
  double reals[CHUNK];
  int64_t ints[CHUNK];
  int size = r->nbytes[0];
  if (dtype_equal(to, from)) {
    if (r->stride[0] == 1 && r->stride[1] == 1)
      memmove(r->at[0], r->at[1], (size_t)size * (size_t)r->n);
    else
      for (int64_t i = 0; i < r->n; i++)
        memcpy(r->at[0] + i * r->stride[0] * size, r->at[1] + i * r->stride[1] * size,
               (size_t)size);
  } else if (is_real(from) || (is_real(to) && is_uint64(from))) {
    load_reals(from, r->at[1], r->stride[1], r->n, reals);
    store_reals(to, r->at[0], r->stride[0], r->n, reals);
  } else {
    load_ints(from, r->at[1], r->stride[1], r->n, ints);
    store_ints(to, r->at[0], r->stride[0], r->n, ints);
  }
}

void view_copy(const View *to, const View *from) {
  const View *views[] = {to, from};
  Rows r;
  rows_start(&r, 2, views);
  while (rows_next(&r)) copy_chunk(&r, to->dtype, from->dtype);
}

Value tensor_cast(const View *v, DataType t, Span span) {
  Value out = tensor_new(t, v->ndim, v->shape, span);
  View to = view_of(out);
  view_copy(&to, v);
  return out;
}

Value tensor_copied(const View *v, Span span) { return tensor_cast(v, v->dtype, span); }
