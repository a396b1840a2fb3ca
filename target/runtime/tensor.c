/* tensor.c -- tensors: a DLTensor with a count, and exchange by DLPack. */
#include "target/runtime/device.h"
#include <stdlib.h>
#include <string.h>

int tvms__shape_measure(int ndim, const int64_t *shape, DLDataType t, int64_t *size,
                        size_t *nbytes) {
  char text[SHAPE_TEXT_SIZE];
  if (ndim < 0 || ndim > MAX_NDIM)
    return tvms_set_error("a tensor can't have %d dimensions (at most %d)", ndim, MAX_NDIM);
  if (ndim && !shape) return tvms_set_error("the shape of a tensor is NULL");
  int64_t product = 1, bytes = 0, element = (int64_t)tvms__dtype_element_bytes(t);
  bool empty = false, overflow = false;
  for (int i = 0; i < ndim; i++) {
    if (shape[i] < 0) {
      tvms__shape_text(ndim, shape, text);
      return tvms_set_error("dimension %d of shape %s is negative", i, text);
    }
    if (shape[i] == 0) empty = true;
    else overflow |= __builtin_mul_overflow(product, shape[i], &product);
  }
  overflow |= __builtin_mul_overflow(product, element, &bytes);
  if (overflow) {
    tvms__shape_text(ndim, shape, text);
    return tvms_set_error("a tensor of shape %s is too large", text);
  }
  *size = empty ? 0 : product;
  *nbytes = empty ? 0 : (size_t)bytes;
  return 0;
}

int64_t tvms__dl_size(const DLTensor *t) {
  int64_t size = 1;
  for (int i = 0; i < t->ndim; i++) size *= t->shape[i];
  return size;
}

/* Strides of dims of extent 1, and of empty tensors, don't matter. */
bool tvms__dl_is_compact(const DLTensor *t) {
  if (!t->strides || tvms__dl_size(t) == 0) return true;
  int64_t want = 1;
  for (int i = t->ndim - 1; i >= 0; i--) {
    if (t->shape[i] != 1 && t->strides[i] != want) return false;
    want *= t->shape[i];
  }
  return true;
}

static void tensor_destroy(void *self) {
  TvmsTensor *t = self;
  tvms_release(t->source);
  if (t->owns_memory) tvms__device_free(t->dl.data);
  if (t->managed && t->managed->deleter) t->managed->deleter(t->managed);
}

static int check_dtype(DLDataType t) {
  if (t.bits && t.lanes && t.lanes <= INT16_MAX) return 0;
  return tvms_set_error("a tensor can't have elements of %d bits and %d lanes", t.bits, t.lanes);
}

/* A tensor of that type and shape with `tail` bytes behind it and no data yet. */
static TvmsTensor *tensor_alloc(int ndim, const int64_t *shape, const int64_t *strides,
                                DLDataType dtype, bool own_data) {
  int64_t size;
  size_t nbytes, dims = sizeof(int64_t) * (size_t)(ndim > 0 ? ndim : 0);
  if (check_dtype(dtype) || tvms__shape_measure(ndim, shape, dtype, &size, &nbytes)) return NULL;
  size_t head = sizeof(TvmsTensor) + dims * (strides ? 2 : 1);
  size_t tail = own_data ? (nbytes ? nbytes : 1) : 0;
  TvmsTensor *t = tvms__object_new(TVMS_TENSOR, head, tail, tensor_destroy);
  if (!t) return NULL;
  t->dl = (DLTensor){.device = {kDLCPU, 0}, .ndim = ndim, .dtype = dtype, .shape = t->dims};
  t->size = size;
  t->nbytes = nbytes;
  if (dims) memcpy(t->dims, shape, dims);
  if (strides && dims) {
    t->dl.strides = t->dims + ndim;
    memcpy(t->dl.strides, strides, dims);
  }
  if (own_data) t->dl.data = tvms__object_tail(t, head);
  return t;
}

int tvms_tensor_new(TvmsTensor **out, int ndim, const int64_t *shape, DLDataType dtype) {
  TvmsTensor *t = tensor_alloc(ndim, shape, NULL, dtype, true);
  if (!t) return -1;
  *out = t;
  return 0;
}

int tvms_tensor_new_on(TvmsTensor **out, DLDevice device, int ndim, const int64_t *shape,
                       DLDataType dtype) {
  if (device.device_type == kDLCPU) return tvms_tensor_new(out, ndim, shape, dtype);
  TvmsTensor *t = tensor_alloc(ndim, shape, NULL, dtype, false);
  if (!t) return -1;
  t->dl.device = device;
  t->dl.data = tvms__device_alloc(device, t->nbytes);
  if (!t->dl.data) return tvms_release(t), -1;
  t->owns_memory = true;
  *out = t;
  return 0;
}

int tvms_tensor_view(TvmsTensor **out, const DLTensor *memory) {
  if (!memory) return tvms_set_error("the tensor to view is NULL");
  TvmsTensor *t = tensor_alloc(memory->ndim, memory->shape, memory->strides, memory->dtype, false);
  if (!t) return -1;
  if (!memory->data && t->size) {
    tvms_release(t);
    return tvms_set_error("the tensor to view has no data");
  }
  t->dl.data = memory->data;
  t->dl.device = memory->device;
  t->dl.byte_offset = memory->byte_offset;
  *out = t;
  return 0;
}

int tvms_tensor_reshape(TvmsTensor **out, TvmsTensor *source, int ndim, const int64_t *shape) {
  if (!tvms__dl_is_compact(&source->dl))
    return tvms_set_error("a tensor with strides can't be reshaped in place");
  TvmsTensor *t = tensor_alloc(ndim, shape, NULL, source->dl.dtype, false);
  if (!t) return -1;
  if (t->size != source->size) {
    char from[SHAPE_TEXT_SIZE], to[SHAPE_TEXT_SIZE];
    tvms__shape_text(source->dl.ndim, source->dl.shape, from);
    tvms__shape_text(ndim, shape, to);
    tvms_release(t);
    return tvms_set_error("a tensor of shape %s can't become one of shape %s", from, to);
  }
  t->dl.data = source->dl.data;
  t->dl.device = source->dl.device;
  t->dl.byte_offset = source->dl.byte_offset;
  t->source = tvms_retain(source->source ? source->source : source);
  *out = t;
  return 0;
}

/* The bytes from *lo up to *hi that the elements lie in. */
static void reach(const DLTensor *t, const char **lo, const char **hi) {
  int64_t low = 0, high = 0, element = (int64_t)tvms__dtype_element_bytes(t->dtype), compact = 1;
  for (int i = t->ndim - 1; i >= 0; i--) {
    int64_t far = (t->shape[i] - 1) * (t->strides ? t->strides[i] : compact);
    if (far < 0) low += far;
    else high += far;
    compact *= t->shape[i];
  }
  const char *data = (const char *)t->data + t->byte_offset;
  *lo = data + low * element;
  *hi = data + (high + 1) * element;
}

int tvms_tensor_strided(TvmsTensor **out, TvmsTensor *source, const DLTensor *part) {
  const TvmsTensor *root = source->source ? source->source : source;
  bool compact = tvms__dl_is_compact(part);
  const char *lo, *hi, *root_lo, *root_hi;
  reach(part, &lo, &hi);
  reach(&root->dl, &root_lo, &root_hi);
  if (tvms__dl_size(part) && (lo < root_lo || hi > root_hi))
    return tvms_set_error("the part does not lie in the memory of the tensor");
  TvmsTensor *t =
      tensor_alloc(part->ndim, part->shape, compact ? NULL : part->strides, part->dtype, false);
  if (!t) return -1;
  t->dl.data = part->data;
  t->dl.device = source->dl.device;
  t->dl.byte_offset = part->byte_offset;
  t->source = tvms_retain(source->source ? source->source : source);
  *out = t;
  return 0;
}

/* Copies the elements of `from`, row by row in row-major order. */
static void copy_strided(char *to, const DLTensor *from) {
  size_t element = tvms__dtype_element_bytes(from->dtype);
  const char *base = (const char *)from->data + from->byte_offset;
  int64_t index[MAX_NDIM] = {0}, offset = 0;
  for (int64_t left = tvms__dl_size(from); left > 0; left--, to += element) {
    memcpy(to, base + offset * (int64_t)element, element);
    for (int i = from->ndim - 1; i >= 0; i--) {
      offset += from->strides[i];
      if (++index[i] < from->shape[i]) break;
      offset -= from->strides[i] * from->shape[i];
      index[i] = 0;
    }
  }
}

/* Of a tensor with strides that the CPU can read. */
static int copy_compact(TvmsTensor **out, const DLTensor *from) {
  char text[DEVICE_TEXT_SIZE];
  if (from->device.device_type != kDLCPU)
    return tvms_set_error("a tensor with strides on %s can't be copied",
                          tvms__device_text(from->device, text));
  if (tvms_tensor_new(out, from->ndim, from->shape, from->dtype)) return -1;
  copy_strided((*out)->dl.data, from);
  return 0;
}

int tvms_tensor_copy_to(TvmsTensor **out, const TvmsTensor *source, DLDevice device) {
  const DLTensor *from = &source->dl;
  TvmsTensor *compact = NULL, *t = NULL;
  if (!tvms__dl_is_compact(from)) {
    if (copy_compact(&compact, from)) return -1;
    if (device.device_type == kDLCPU) return *out = compact, 0;
    from = &compact->dl;
  }
  int status = tvms_tensor_new_on(&t, device, from->ndim, from->shape, from->dtype);
  if (!status)
    status = tvms__bytes_copy(t->dl.data, tvms_tensor_address((void *)(uintptr_t)from), t->nbytes);
  tvms_release(compact);
  if (status) return tvms_release(t), -1;
  *out = t;
  return 0;
}

int tvms_tensor_copy(TvmsTensor **out, const TvmsTensor *source) {
  return tvms_tensor_copy_to(out, source, source->dl.device);
}

static int check_bytes(const TvmsTensor *t, size_t nbytes) {
  if (!tvms__dl_is_compact(&t->dl)) return tvms_set_error("the tensor is not compact");
  if (nbytes == t->nbytes) return 0;
  return tvms_set_error("the tensor has %zu bytes, %zu given", t->nbytes, nbytes);
}

int tvms_tensor_set_bytes(TvmsTensor *t, const void *from, size_t nbytes) {
  return check_bytes(t, nbytes) ? -1 : tvms__bytes_copy(tvms_tensor_data(t), from, nbytes);
}

int tvms_tensor_get_bytes(const TvmsTensor *t, void *to, size_t nbytes) {
  return check_bytes(t, nbytes) ? -1 : tvms__bytes_copy(to, tvms_tensor_data(t), nbytes);
}

const DLTensor *tvms_tensor_dl(const TvmsTensor *t) { return &t->dl; }

void *tvms_tensor_data(const TvmsTensor *t) { return tvms_tensor_address((void *)(intptr_t)t); }

int64_t tvms_tensor_size(const TvmsTensor *t) { return t->size; }

size_t tvms_tensor_nbytes(const TvmsTensor *t) { return t->nbytes; }

int tvms_tensor_is_compact(const TvmsTensor *t) { return tvms__dl_is_compact(&t->dl); }

int64_t tvms_tensor_dim(void *dltensor, int32_t axis) {
  return ((const DLTensor *)dltensor)->shape[axis];
}

void *tvms_tensor_address(void *dltensor) {
  const DLTensor *t = dltensor;
  return t->data ? (char *)t->data + t->byte_offset : NULL;
}

static void managed_delete(DLManagedTensor *self) {
  tvms_release(self->manager_ctx);
  free(self);
}

int tvms_tensor_to_dlpack(DLManagedTensor **out, TvmsTensor *t) {
  char text[DEVICE_TEXT_SIZE];
  if (t->dl.device.device_type != kDLCPU)
    return tvms_set_error("a tensor on %s can't be handed over by DLPack: copy it to the CPU first",
                          tvms__device_text(t->dl.device, text));
  DLManagedTensor *managed = malloc(sizeof *managed);
  if (!managed) return tvms__error_no_memory(sizeof *managed);
  *managed = (DLManagedTensor){t->dl, tvms_retain(t), managed_delete};
  *out = managed;
  return 0;
}

/* After an error the managed tensor is still the caller's. */
int tvms_tensor_from_dlpack(TvmsTensor **out, DLManagedTensor *managed) {
  if (!managed) return tvms_set_error("the tensor to take over is NULL");
  char text[DEVICE_TEXT_SIZE];
  if (managed->dl_tensor.device.device_type != kDLCPU)
    return tvms_set_error("a tensor on %s can't be taken over by DLPack",
                          tvms__device_text(managed->dl_tensor.device, text));
  DLDataType dtype = managed->dl_tensor.dtype;
  if ((dtype.bits * dtype.lanes) % 8 != 0)
    return tvms_set_error("a tensor of elements of %d bits can't be taken over: they are packed",
                          dtype.bits * dtype.lanes);
  if (tvms_tensor_view(out, &managed->dl_tensor)) return -1;
  (*out)->managed = managed;
  return 0;
}
