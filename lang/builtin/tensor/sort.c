/* sort.c -- sort, argsort, unique, searchsorted along an axis. NaN goes last, as in NumPy. */
#include "lang/builtin/tensor/tensor_impl.h"

/* Elements as keys in one order: reals as they are, ints exactly (uint64 with its first bit
 * turned). */
typedef struct Key {
  double real;
  int64_t whole, place;
} Key;

static int order(const Key *a, const Key *b) {
  bool x = a->real != a->real, y = b->real != b->real;
  if (x || y) return x - y;
  if (a->real != b->real) return a->real < b->real ? -1 : 1;
  return (a->whole > b->whole) - (a->whole < b->whole);
}

static void merge_sort(Key *at, Key *scratch, int64_t n) {
  if (n < 2) return;
  int64_t half = n / 2, i = 0, j = half, out = 0;
  merge_sort(at, scratch, half);
  merge_sort(at + half, scratch, n - half);
  memcpy(scratch, at, sizeof *at * (size_t)half);
  while (i < half && j < n) at[out++] = order(&at[j], &scratch[i]) < 0 ? at[j++] : scratch[i++];
  while (i < half) at[out++] = scratch[i++];
}

static void load_keys(const View *line, Key *keys) {
  for (int64_t i = 0; i < line->shape[0]; i++) {
    const char *at = line->data + i * line->strides[0] * dtype_nbytes(line->dtype);
    keys[i] = (Key){.place = i};
    if (is_real(line->dtype)) load_reals(line->dtype, at, 1, 1, &keys[i].real);
    else load_ints(line->dtype, at, 1, 1, &keys[i].whole);
    if (is_uint64(line->dtype)) keys[i].whole ^= INT64_MIN;
  }
}

static Value sorted_along(Value x, Value axis_value, bool places, Span span) {
  View v = view_of(x);
  if (value_is_none(axis_value)) {
    int64_t size = view_size(&v);
    x = tensor_reshaped(x, 1, &size, span);
    v = view_of(x);
  }
  int axis = value_is_none(axis_value) ? 0 : axis_arg(axis_value, v.ndim, span);
  int64_t extent = v.shape[axis], index[MAX_DIMS] = {0};
  Value out = tensor_new(places ? INT64 : v.dtype, v.ndim, v.shape, span);
  View to = view_of(out), first = v;
  first.shape[axis] = 1;
  Key *keys = (Key *)(void *)NEW_BYTES(sizeof(Key) * (size_t)(extent + 1));
  Key *scratch = (Key *)(void *)NEW_BYTES(sizeof(Key) * (size_t)(extent / 2 + 1));
  int64_t n = extent ? view_size(&first) : 0;
  for (int64_t i = 0; i < n; i++) {
    View line = {.dtype = v.dtype, .ndim = 1, .data = view_at(&v, index)};
    line.shape[0] = extent, line.strides[0] = v.strides[axis];
    load_keys(&line, keys);
    merge_sort(keys, scratch, extent);
    char *at = view_at(&to, index);
    int size = dtype_nbytes(v.dtype), step = places ? 8 : size;
    for (int64_t k = 0; k < extent; k++, at += to.strides[axis] * step) {
      int64_t from = keys[k].place;
      if (places) memcpy(at, &from, sizeof from);
      else memcpy(at, line.data + from * line.strides[0] * size, (size_t)size);
    }
    for (int d = v.ndim; d-- > 0 && ++index[d] == first.shape[d];) index[d] = 0;
  }
  return out;
}

static Value np_sort(BuiltinCall *c) {
  return sorted_along(tensor_of(c->args[0], c->spans[0]), c->args[1], false, c->span);
}
static Value np_argsort(BuiltinCall *c) {
  Value *args = c->self.type ? c->args : c->args + 1;
  Value x = c->self.type ? c->self : tensor_of(c->args[0], c->spans[0]);
  return sorted_along(x, args[0], true, c->span);
}
static Value method_sort(BuiltinCall *c) {
  tensor_check_writable(c->self, c->span);
  Value out = sorted_along(c->self, c->args[0], false, c->span);
  View from = view_of(out), to = view_of(c->self);
  view_copy(&to, &from);
  return value_none();
}

static Value np_unique(BuiltinCall *c) {
  Value all = sorted_along(tensor_of(c->args[0], c->spans[0]), value_none(), false, c->span);
  View v = view_of(all);
  int64_t n = v.shape[0], kept = 0;
  Key *keys = (Key *)(void *)NEW_BYTES(sizeof(Key) * (size_t)(n + 1));
  load_keys(&v, keys);
  int size = dtype_nbytes(v.dtype);
  for (int64_t i = 0; i < n; i++)
    if (!i || order(&keys[i - 1], &keys[i]) != 0)
      memmove(v.data + kept++ * size, v.data + i * size, (size_t)size);
  v.shape[0] = kept;
  return tensor_copied(&v, c->span);
}

static Value np_searchsorted(BuiltinCall *c) {
  View a = view_of(tensor_of(c->args[0], c->spans[0])),
       v = view_of(tensor_of(c->args[1], c->spans[1]));
  bool right = strcmp(value_as_text(c->args[2], "the side", c->spans[2]), "right") == 0;
  if (a.ndim != 1) raise("ValueError", c->spans[0], "the sorted tensor must have one dimension");
  DataType t = promote(a.dtype, v.dtype);
  a = view_of(tensor_cast(&a, t, c->span));
  v = view_of(tensor_cast(&v, t, c->span));
  Value out = tensor_new(INT64, v.ndim, v.shape, c->span);
  int64_t *to = (int64_t *)(void *)view_of(out).data, size = view_size(&v);
  Key *keys = (Key *)(void *)NEW_BYTES(sizeof(Key) * (size_t)(a.shape[0] + 1));
  load_keys(&a, keys);
  for (int64_t i = 0; i < size; i++) {
    View one = {.dtype = t, .ndim = 1, .data = v.data + i * dtype_nbytes(t)};
    one.shape[0] = 1, one.strides[0] = 1;
    Key key;
    load_keys(&one, &key);
    int64_t lo = 0, hi = a.shape[0];
    while (lo < hi) {
      int64_t mid = lo + (hi - lo) / 2;
      int d = order(&keys[mid], &key);
      if (d < 0 || (right && d == 0)) lo = mid + 1;
      else hi = mid;
    }
    to[i] = lo;
  }
  return out;
}

static const Builtin methods[] = {
    {"sort", "axis=-1", method_sort, "sorts in place"},
    {"argsort", "axis=-1", np_argsort, "the places of the elements in order"},
};
const BuiltinRows sort_methods = {methods, sizeof methods / sizeof *methods};
static const Builtin rows[] = {
    {"sort", "a, axis=-1", np_sort, "a sorted copy"},
    {"argsort", "a, axis=-1, kind=None", np_argsort, "the places of the elements in order; stable"},
    {"_unique", "a", np_unique, "the different elements, sorted"},
    {"searchsorted", "a, v, side='left'", np_searchsorted, "where elements would be put in order"},
};
const BuiltinRows sort_rows = {rows, sizeof rows / sizeof *rows};
