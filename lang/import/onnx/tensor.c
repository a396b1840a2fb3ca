/* tensor.c -- tensors of ONNX files to values and back.
 *
 * Elements are raw bytes (little-endian), one of five repeated fields, or bytes of another file
 * below the model's folder. Elements of 4 bits are stored two in a byte, the first one low; tensors
 * here hold each in a byte of its own. */
#include "lang/import/onnx/onnx_impl.h"
#include "lang/builtin/tensor.h"
#include "lang/value/object.h"
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum { FLOATS, WORDS, LONGS, DOUBLES, ULONGS, STRINGS } Field;

static const struct Element {
  int number;
  const char *dtype;
  Field field;
} elements[] = {
#define ELEMENT(number, dtype, FIELD, name) {number, dtype, FIELD},
#include "lang/import/onnx/element.def"
};
enum { ELEMENTS = sizeof elements / sizeof *elements, MAX_RANK = 64 };

static const struct Element *find_element(int number) {
  for (int i = 0; i < ELEMENTS; i++)
    if (elements[i].number == number) return &elements[i];
  return NULL;
}

const char *onnx_dtype(int element_type) {
  const struct Element *e = find_element(element_type);
  return e ? e->dtype : NULL;
}

int onnx_element_type(const char *dtype) {
  for (int i = 0; i < ELEMENTS; i++)
    if (str_same(elements[i].dtype, dtype)) return elements[i].number;
  return 0;
}

/* ---- reading ---- */

typedef struct Reading {
  const OnnxFile *file;
  const Onnx__Tensor *t;
  const struct Element *element;
  DataType dtype;
  const char *name;
  int64_t size;   /* elements */
  int64_t nbytes; /* that they take in the file, if raw */
} Reading;

static bool is_packed(const Reading *r) { return r->dtype.bits == 4; }

/* The number of elements; raises where a dim is negative or the bytes don't fit in 63 bits. */
static void measure(Reading *r) {
  const Onnx__Tensor *t = r->t;
  if (t->n_dims > MAX_RANK)
    onnx_fault(r->file, "tensor '%s' has %zu dimensions, more than %d", r->name, t->n_dims,
               MAX_RANK);
  int64_t size = 1;
  for (size_t i = 0; i < t->n_dims; i++) {
    if (t->dims[i] < 0)
      onnx_fault(r->file, "tensor '%s' has a negative dim, %lld", r->name, (long long)t->dims[i]);
    if (__builtin_mul_overflow(size, t->dims[i], &size)) size = INT64_MAX;
  }
  for (size_t i = 0; i < t->n_dims; i++)
    if (t->dims[i] == 0) size = 0;
  if (size > INT64_MAX / 16)
    onnx_fault(r->file, "tensor '%s' claims more elements than any memory holds", r->name);
  r->size = size;
  r->nbytes = is_packed(r) ? (size + 1) / 2 : size * dtype_nbytes(r->dtype);
}

static char *new_elements(Reading *r, Value *out) {
  *out = tensor_new(r->dtype, (int)r->t->n_dims, r->t->dims, (Span){0});
  return tvms_tensor_data(value_as_tensor(*out, (Span){0}));
}

/* A value of 4 bits as the byte that holds it: signed ones with their sign. */
static char nibble(DataType t, unsigned bits) {
  bits &= 15;
  return (char)(t.code == DTYPE_INT && bits > 7 ? bits | 0xf0 : bits);
}

static void copy_raw(const Reading *r, char *to, const uint8_t *from) {
  if (!is_packed(r)) {
    if (r->nbytes) memcpy(to, from, (size_t)r->nbytes);
    return;
  }
  for (int64_t i = 0; i < r->size; i++)
    to[i] = nibble(r->dtype, i % 2 ? from[i / 2] >> 4 : from[i / 2]);
}

/* External data is named by a path relative to the folder, which it must not leave, also not by
 * symbolic links. */
static int open_external(const Reading *r, const char *location) {
  if (!location || !*location) onnx_fault(r->file, "tensor '%s' has no location", r->name);
  char *folder = realpath(r->file->folder, NULL);
  const char *asked = str_format("%s/%s", r->file->folder, location);
  char *real = location[0] == '/' ? NULL : realpath(asked, NULL);
  size_t n = folder ? strlen(folder) : 0;
  bool inside = real && folder && strncmp(real, folder, n) == 0 && (real[n] == '/' || n == 1);
  int fd = inside ? open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
  bool exists = real != NULL;
  free(folder);
  free(real);
  if (exists && !inside)
    onnx_fault(r->file, "tensor '%s': '%s' is outside of the model's folder", r->name, location);
  if (fd < 0)
    onnx_fault(r->file, "tensor '%s': can't read '%s' below the model's folder", r->name, location);
  return fd;
}

static int64_t external_number(const Reading *r, const char *key, const char *text) {
  char *end;
  long long x = strtoll(text, &end, 10);
  if (end == text || *end || x < 0)
    onnx_fault(r->file, "tensor '%s': %s '%s' is no number", r->name, key, text);
  return x;
}

static bool read_all(int fd, char *to, int64_t nbytes, int64_t offset) {
  for (int64_t done = 0; done < nbytes;) {
    ssize_t n = pread(fd, to + done, (size_t)(nbytes - done), offset + done);
    if (n <= 0) return false;
    done += n;
  }
  return true;
}

static Value external(Reading *r) {
  const char *location = NULL;
  int64_t offset = 0, length = -1;
  for (size_t i = 0; i < r->t->n_external_data; i++) {
    const Onnx__Entry *e = r->t->external_data[i];
    const char *key = e->key ? e->key : "", *value = e->value ? e->value : "";
    if (str_same(key, "location")) location = value;
    if (str_same(key, "offset")) offset = external_number(r, key, value);
    if (str_same(key, "length")) length = external_number(r, key, value);
  }
  if (length >= 0 && length != r->nbytes)
    onnx_fault(r->file, "tensor '%s' needs %lld bytes, but its length is %lld", r->name,
               (long long)r->nbytes, (long long)length);
  int fd = open_external(r, location);
  struct stat s;
  bool fits = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && offset <= s.st_size &&
              r->nbytes <= s.st_size - offset;
  if (!fits) close(fd);
  if (!fits)
    onnx_fault(r->file, "tensor '%s' needs %lld bytes from byte %lld of '%s', which has fewer",
               r->name, (long long)r->nbytes, (long long)offset, location);
  char *bytes = NEW_BYTES((size_t)r->nbytes + 1);
  bool read = read_all(fd, bytes, r->nbytes, offset);
  close(fd);
  if (!read) onnx_fault(r->file, "tensor '%s': can't read '%s'", r->name, location);
  Value out;
  copy_raw(r, new_elements(r, &out), (uint8_t *)bytes);
  return out;
}

/* int32_data holds each element of up to 32 bits, or two of 4 bits, as an integer: its low bits. */
static void copy_words(const Reading *r, char *to) {
  int nbytes = dtype_nbytes(r->dtype);
  for (int64_t i = 0; i < r->size; i++) {
    if (is_packed(r)) to[i] = nibble(r->dtype, (unsigned)r->t->int32_data[i / 2] >> (i % 2 * 4));
    else memcpy(to + i * nbytes, &r->t->int32_data[i], (size_t)nbytes);
  }
}

static void copy_ulongs(const Reading *r, char *to) {
  int nbytes = dtype_nbytes(r->dtype);
  for (int64_t i = 0; i < r->size; i++)
    memcpy(to + i * nbytes, &r->t->uint64_data[i], (size_t)nbytes);
}

static size_t field_length(const Onnx__Tensor *t, Field f) {
  const size_t lengths[] = {
      [FLOATS] = t->n_float_data,   [WORDS] = t->n_int32_data,   [LONGS] = t->n_int64_data,
      [DOUBLES] = t->n_double_data, [ULONGS] = t->n_uint64_data, [STRINGS] = t->n_string_data};
  return lengths[f];
}

static Value from_field(Reading *r) {
  const Onnx__Tensor *t = r->t;
  int64_t expected = is_packed(r) ? r->nbytes : r->size;
  size_t found = field_length(t, r->element->field);
  if (found != (size_t)expected)
    onnx_fault(r->file, "tensor '%s' has %zu elements, but its shape asks for %lld", r->name, found,
               (long long)expected);
  Value out;
  char *to = new_elements(r, &out);
  const void *same[] = {[FLOATS] = t->float_data,
                        [LONGS] = t->int64_data,
                        [DOUBLES] = t->double_data,
                        [STRINGS] = NULL};
  if (r->element->field == WORDS) copy_words(r, to);
  else if (r->element->field == ULONGS) copy_ulongs(r, to);
  else if (r->nbytes) memcpy(to, same[r->element->field], (size_t)r->nbytes);
  return out;
}

static Value dims_value(const Reading *r) {
  ValueVec dims = {0};
  for (size_t i = 0; i < r->t->n_dims; i++) vec_push(&dims, value_int(r->t->dims[i]));
  return value_tuple(dims);
}

static Value strings(const Reading *r) {
  if ((int64_t)r->t->n_string_data != r->size)
    onnx_fault(r->file, "tensor '%s' has %zu texts, but its shape asks for %lld", r->name,
               r->t->n_string_data, (long long)r->size);
  ValueVec items = {0};
  for (size_t i = 0; i < r->t->n_string_data; i++)
    vec_push(&items, onnx_bytes(&r->t->string_data[i]));
  return value_tuple_of(3, value_str("strings"), dims_value(r), value_list(items));
}

Value onnx_tensor(const OnnxFile *f, const Onnx__Tensor *t) {
  Reading r = {.file = f, .t = t, .name = t->name ? t->name : "", .element = NULL};
  r.element = find_element(t->has_data_type ? t->data_type : 0);
  if (!r.element)
    onnx_fault(f, "tensor '%s' has element type %d, which there is not", r.name, t->data_type);
  if (t->segment) onnx_fault(f, "tensor '%s' is a segment of one, which is not supported", r.name);
  if (r.element->field != STRINGS && !dtype_parse(r.element->dtype, &r.dtype)) {
    r.dtype = UINT8; /* complex numbers: not counted here, nor read */
    measure(&r);
    return value_tuple_of(3, value_str("complex"), value_str(r.element->dtype), dims_value(&r));
  }
  measure(&r);
  if (r.element->field == STRINGS) return strings(&r);
  if (t->data_location == 1) return external(&r);
  if (!t->has_raw_data) return from_field(&r);
  if (t->raw_data.len != (size_t)r.nbytes)
    onnx_fault(f, "tensor '%s' has %zu bytes, but its shape asks for %lld", r.name, t->raw_data.len,
               (long long)r.nbytes);
  Value out;
  copy_raw(&r, new_elements(&r, &out), t->raw_data.data);
  return out;
}

Value onnx_sparse(const OnnxFile *f, const Onnx__SparseTensor *t) {
  if (!t->values || !t->indices) onnx_fault(f, "a sparse tensor has no values or no indices");
  ValueVec dims = {0};
  for (size_t i = 0; i < t->n_dims; i++) vec_push(&dims, value_int(t->dims[i]));
  return value_tuple_of(4, value_str("sparse"), onnx_tensor(f, t->values),
                        onnx_tensor(f, t->indices), value_tuple(dims));
}

/* ---- writing ---- */

static uint8_t *raw_of(const DLTensor *d, DataType t, int64_t size, size_t *nbytes) {
  const uint8_t *from = (const uint8_t *)d->data + d->byte_offset;
  *nbytes = (size_t)(t.bits == 4 ? (size + 1) / 2 : size * dtype_nbytes(t));
  uint8_t *raw = (uint8_t *)NEW_BYTES(*nbytes + 1);
  if (t.bits != 4) return memcpy(raw, from, *nbytes);
  memset(raw, 0, *nbytes);
  for (int64_t i = 0; i < size; i++) raw[i / 2] |= (uint8_t)((from[i] & 15) << (i % 2 * 4));
  return raw;
}

Value onnx_tensor_message(const char *name, Value tensor, Span span) {
  TvmsTensor *copy;
  if (tvms_tensor_copy(&copy, value_as_tensor(tensor, span)))
    raise("ValueError", span, "%s", tvms_last_error());
  Value kept = value_tensor(copy); /* released with this value */
  DataType t = tensor_dtype(kept);
  const DLTensor *d = tvms_tensor_dl(copy);
  Onnx__Tensor m = ONNX__TENSOR__INIT;
  m.name = (char *)(uintptr_t)name;
  m.n_dims = (size_t)d->ndim;
  m.dims = d->shape;
  m.has_data_type = m.has_raw_data = true;
  m.data_type = onnx_element_type(dtype_text(t));
  if (!m.data_type) raise("ValueError", span, "the format has no elements of %s", dtype_text(t));
  m.raw_data.data = raw_of(d, t, tvms_tensor_size(copy), &m.raw_data.len);
  size_t n = onnx__tensor__get_packed_size(&m);
  uint8_t *bytes = (uint8_t *)NEW_BYTES(n + 1);
  onnx__tensor__pack(&m, bytes);
  return value_bytes(bytes, n);
}
