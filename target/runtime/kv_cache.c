/* kv_cache.c -- the packed functions of caches of keys and values, which grow by rows from call to
 * call: vm.builtin.attention_kv_cache_create and its kin.
 *
 * A cache is a tuple of its rows, with room for more, and of one int64 that counts those in use. It
 * is overwritten in place while there is room; a cache that had to grow is a new tuple, so callers
 * go on with what append gives. One cache is for one thread at a time. */
#include "target/runtime/device.h"
#include <string.h>

typedef struct Cache {
  TvmsTuple *tuple; /* borrowed */
  TvmsTensor *rows;
  int64_t *used;
} Cache;

static int cache_read(Cache *out, const TvmsValue *args, const int *types, int n) {
  int kinds[2] = {TVMS_NONE, TVMS_NONE};
  if (n > 0 && types[0] == TVMS_TUPLE && tvms_tuple_size(args[0].p) == 2) {
    out->tuple = args[0].p;
    out->rows = tvms_tuple_get(out->tuple, 0, &kinds[0]).p;
    TvmsTensor *used = tvms_tuple_get(out->tuple, 1, &kinds[1]).p;
    if (kinds[0] == TVMS_TENSOR && kinds[1] == TVMS_TENSOR && used->size == 1 &&
        used->dl.dtype.bits == 64 && used->dl.device.device_type == kDLCPU) {
      out->used = used->dl.data;
      return 0;
    }
  }
  return tvms_set_error("a cache of attention_kv_cache_create is expected first, found %s",
                        n > 0 ? tvms__type_text(types[0]) : "nothing");
}

static const DLTensor *tensor_at(const TvmsValue *args, const int *types, int n, int i) {
  if (i < n && (types[i] == TVMS_TENSOR || types[i] == TVMS_DLTENSOR)) return args[i].p;
  tvms_set_error("argument %d is a tensor of rows, found %s", i,
                 i < n ? tvms__type_text(types[i]) : "nothing");
  return NULL;
}

/* The bytes of one row. */
static size_t row_bytes(const DLTensor *t) {
  size_t nbytes = tvms__dtype_element_bytes(t->dtype);
  for (int i = 1; i < t->ndim; i++) nbytes *= (size_t)t->shape[i];
  return nbytes;
}

static int check_rows(const DLTensor *rows, const DLTensor *more) {
  bool fits = more->ndim == rows->ndim && tvms__dtype_same(more->dtype, rows->dtype) &&
              tvms__dl_is_compact(more);
  for (int i = 1; fits && i < rows->ndim; i++) fits = more->shape[i] == rows->shape[i];
  if (fits) return 0;
  char have[SHAPE_TEXT_SIZE], got[SHAPE_TEXT_SIZE], dtype[32], other[32];
  tvms__shape_text(rows->ndim, rows->shape, have);
  tvms__shape_text(more->ndim, more->shape, got);
  tvms_dtype_text(rows->dtype, dtype, sizeof dtype);
  tvms_dtype_text(more->dtype, other, sizeof other);
  return tvms_set_error("rows of shape %s and dtype %s do not fit a cache of shape %s and dtype %s",
                        got, other, have, dtype);
}

static int cache_new(TvmsTuple **out, TvmsTensor *rows, int64_t used) {
  TvmsTensor *count = NULL;
  if (tvms_tensor_new(&count, 0, NULL, (DLDataType){kDLInt, 64, 1})) return -1;
  *(int64_t *)count->dl.data = used;
  TvmsValue values[] = {{.p = rows}, {.p = count}};
  int status = tvms_tuple_new(out, 2, values, (const int[]){TVMS_TENSOR, TVMS_TENSOR});
  tvms_release(count);
  return status;
}

static int rows_new(TvmsTensor **out, const DLTensor *like, int64_t capacity) {
  int64_t shape[MAX_NDIM];
  memcpy(shape, like->shape, sizeof *shape * (size_t)like->ndim);
  shape[0] = capacity;
  return tvms_tensor_new_on(out, like->device, like->ndim, shape, like->dtype);
}

static int copy_rows(TvmsTensor *to, int64_t at, const DLTensor *from, int64_t n) {
  size_t row = row_bytes(from);
  return tvms__bytes_copy((char *)to->dl.data + to->dl.byte_offset + (size_t)at * row,
                          (const char *)from->data + from->byte_offset, (size_t)n * row);
}

/* The tuple to go on with, a new reference: the same one unless it had to grow. */
static int cache_append(TvmsTuple **out, const Cache *c, const DLTensor *more) {
  int64_t capacity = c->rows->dl.shape[0], used = *c->used, n = more->shape[0], room = capacity;
  TvmsTensor *rows = c->rows;
  *out = NULL;
  if (n > INT64_MAX - used) return tvms_set_error("the cache would hold too many rows");
  while (room < used + n) room = room > INT64_MAX / 2 ? used + n : room ? room * 2 : used + n;
  if (room > capacity) {
    if (rows_new(&rows, &c->rows->dl, room)) return -1;
    if (copy_rows(rows, 0, &c->rows->dl, used) || cache_new(out, rows, used + n))
      return tvms_release(rows), -1;
  }
  int status = copy_rows(rows, used, more, n);
  if (!*out && !status) {
    *c->used = used + n;
    *out = tvms_retain(c->tuple);
  } else if (*out) {
    tvms_release(rows);
    if (status) tvms_release(*out);
  }
  return status;
}

static int give(TvmsValue *ret, int *ret_type, TvmsTuple *cache) {
  ret->p = cache;
  *ret_type = TVMS_TUPLE;
  return 0;
}

/* ---- the packed functions ---- */

/* create(rows, shape, used): room for shape[0] rows; the first `used` of `rows` count. */
PACKED(create) {
  (void)self;
  const DLTensor *first = tensor_at(args, types, n, 0);
  if (!first) return -1;
  if (n != 3 || types[1] != TVMS_SHAPE || types[2] != TVMS_INT)
    return tvms_set_error("attention_kv_cache_create takes a tensor, a shape and a number of rows");
  const TvmsShape *shape = args[1].p;
  int64_t used = args[2].i;
  if (first->ndim < 1 || shape->ndim != first->ndim || !tvms__dl_is_compact(first) || used < 0 ||
      used > first->shape[0] ||
      memcmp(shape->dims + 1, first->shape + 1, sizeof(int64_t) * (size_t)(shape->ndim - 1)) != 0)
    return tvms_set_error("the first rows, their number and the shape of the cache do not fit");
  TvmsTensor *rows = NULL;
  TvmsTuple *cache = NULL;
  if (rows_new(&rows, first, shape->dims[0] > used ? shape->dims[0] : used)) return -1;
  int status = copy_rows(rows, 0, first, used) || cache_new(&cache, rows, used) ? -1 : 0;
  tvms_release(rows);
  return status ? status : give(ret, ret_type, cache);
}

/* append(cache, rows): the cache to go on with */
PACKED(append) {
  (void)self;
  Cache c;
  const DLTensor *more;
  TvmsTuple *next;
  if (cache_read(&c, args, types, n) || !(more = tensor_at(args, types, n, 1))) return -1;
  if (check_rows(&c.rows->dl, more) || cache_append(&next, &c, more)) return -1;
  return give(ret, ret_type, next);
}

/* update(cache, rows): these rows in place of those that there were */
PACKED(update) {
  (void)self;
  Cache c;
  const DLTensor *more;
  TvmsTuple *next;
  if (cache_read(&c, args, types, n) || !(more = tensor_at(args, types, n, 1)) ||
      check_rows(&c.rows->dl, more))
    return -1;
  int64_t used = *c.used;
  *c.used = 0;
  if (cache_append(&next, &c, more)) return *c.used = used, -1;
  return give(ret, ret_type, next);
}

/* view(cache, shape): the rows in use as a tensor, which shares their memory */
PACKED(view) {
  (void)self;
  Cache c;
  if (cache_read(&c, args, types, n)) return -1;
  DLTensor part = c.rows->dl;
  int64_t dims[MAX_NDIM];
  memcpy(dims, part.shape, sizeof *dims * (size_t)part.ndim);
  dims[0] = *c.used;
  part.shape = dims;
  const TvmsShape *shape = n > 1 && types[1] == TVMS_SHAPE ? args[1].p : NULL;
  if (shape && (shape->ndim != part.ndim ||
                memcmp(shape->dims, dims, sizeof *dims * (size_t)part.ndim) != 0)) {
    char have[SHAPE_TEXT_SIZE], asked[SHAPE_TEXT_SIZE];
    tvms__shape_text(part.ndim, dims, have);
    tvms__shape_text(shape->ndim, shape->dims, asked);
    return tvms_set_error("the cache holds rows of shape %s; %s was asked for", have, asked);
  }
  TvmsTensor *seen;
  if (tvms_tensor_strided(&seen, c.rows, &part)) return -1;
  ret->p = seen;
  *ret_type = TVMS_TENSOR;
  return 0;
}

/* Takes the last `count` rows, or all, from each cache of a tuple of them. */
static int drop_rows(const TvmsValue *args, const int *types, int n, int64_t count) {
  if (n < 1 || types[0] != TVMS_TUPLE) return tvms_set_error("a tuple of caches is expected");
  for (int pass = 0; pass < 2; pass++) /* all are checked before any is changed */
    for (int i = 0; i < tvms_tuple_size(args[0].p); i++) {
      int type;
      TvmsValue field = tvms_tuple_get(args[0].p, i, &type);
      Cache c;
      if (cache_read(&c, &field, &type, 1)) return -1;
      int64_t gone = count < 0 ? *c.used : count;
      if (gone > *c.used)
        return tvms_set_error("cache %d has %lld rows; %lld are to go", i, (long long)*c.used,
                              (long long)gone);
      if (pass) *c.used -= gone;
    }
  return 0;
}

/* array_popn(caches, n) */
PACKED(array_popn) {
  (void)self, (void)ret, (void)ret_type;
  if (n != 2 || types[1] != TVMS_INT || args[1].i < 0)
    return tvms_set_error("attention_kv_cache_array_popn takes caches and a number of rows");
  return drop_rows(args, types, n, args[1].i);
}

/* array_clear(caches) */
PACKED(array_clear) {
  (void)self, (void)ret, (void)ret_type;
  return drop_rows(args, types, n, -1);
}

const BuiltinRow tvms__kv_cache_rows[] = {
    {"vm.builtin.attention_kv_cache_create", create},
    {"vm.builtin.attention_kv_cache_append", append},
    {"vm.builtin.attention_kv_cache_update", update},
    {"vm.builtin.attention_kv_cache_view", view},
    {"vm.builtin.attention_kv_cache_array_popn", array_popn},
    {"vm.builtin.attention_kv_cache_array_clear", array_clear},
    {NULL, NULL},
};
