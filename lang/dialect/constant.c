/* constant.c -- constant tensors of the IR from numbers, nested lists and tensors of the script,
 * and back. */
#include "lang/builtin/tensor.h"
#include "lang/dialect/tensor_names.h"

typedef VEC(int64_t) DimVec;

/* ---- lists ---- */

static bool is_list(Value v) { return v.type == &type_list || v.type == &type_tuple; }

enum { MAX_DIMS = 64, MAX_ITEMS = 1 << 27 }; /* a list may hold itself, or one list many times */

/* By the first item of each list; list_dtype checks the others. */
static DimVec list_shape(Value v, Span span) {
  DimVec dims = {0};
  for (int64_t total = 1; is_list(v); v = value_items(v)->at[0]) {
    int n = value_items(v)->len;
    if (dims.len == MAX_DIMS)
      raise("ValueError", span, "the lists of a constant are nested too deeply");
    vec_push(&dims, n);
    if (n == 0) break;
    if ((total *= n) > MAX_ITEMS)
      raise("MemoryError", span, "the constant would have more than %d elements", MAX_ITEMS);
  }
  return dims;
}

/* The dtype of a list of numbers: float32 if there is any float, else int32, or bool. */
static DataType list_dtype(Value v, const DimVec *dims, int axis, Span span) {
  if (is_list(v) ? axis == dims->len || value_items(v)->len != dims->at[axis] : axis < dims->len)
    raise("ValueError", span, "the lists of a constant have different lengths");
  if (v.type == &type_node) return v.node->dtype;
  if (!is_list(v)) return v.type == &type_bool ? BOOL : v.type == &type_float ? FLOAT32 : INT32;
  DataType t = BOOL;
  for each (Value, x, value_items(v)) {
    DataType e = list_dtype(*x, dims, axis + 1, span);
    if (dtype_is_float(e) || (dtype_is_int(e) && dtype_is_bool(t))) t = e;
  }
  return value_items(v)->len ? t : FLOAT32;
}

/* One number as the bytes of its dtype. */
static void put_number(DataType t, Value v, char *at, Span span) {
  double x;
  if (v.type == &type_node && IS(FloatImm, v.node)) v = value_float(AS(FloatImm, v.node)->value);
  if (v.type == &type_node && IS(IntImm, v.node)) v = value_int(AS(IntImm, v.node)->value);
  if (dtype_is_float(t)) {
    x = dtype_round_float(t, value_as_float(v, "an element of a constant", span));
    if (t.bits == 64) memcpy(at, &x, 8);
    else if (t.bits == 32) {
      float f = (float)x;
      memcpy(at, &f, 4);
    } else {
      uint32_t bits = dtype_float_to_bits(t, x);
      memcpy(at, &bits, (size_t)dtype_nbytes(t));
    }
    return;
  }
  int64_t i = v.type == &type_bool ? v.boolean : value_as_int(v, "an element of a constant", span);
  check_int_fits(t, i, span);
  if (dtype_is_bool(t)) i = i != 0;
  memcpy(at, &i, (size_t)dtype_nbytes(t)); /* little-endian */
}

static void put_list(DataType t, Value v, char **at, Span span) {
  if (is_list(v)) {
    for each (Value, x, value_items(v)) put_list(t, *x, at, span);
    return;
  }
  put_number(t, v, *at, span);
  *at += dtype_nbytes(t);
}

/* Whose bytes are to be written, all of them. */
static ConstData *new_data(DataType t, int ndim, const int64_t *shape) {
  size_t size = (size_t)dtype_nbytes(t);
  int64_t *dims = (int64_t *)(void *)NEW_BYTES(sizeof(int64_t) * (size_t)(ndim ? ndim : 1));
  for (int i = 0; i < ndim; i++) dims[i] = shape[i], size *= (size_t)shape[i];
  return NEW(ConstData, .elem = t, .ndim = ndim, .shape = dims,
             .bytes = gc_alloc_raw(size ? size : 1), .nbytes = size);
}

static Node *node_of_data(const ConstData *d, Span span) {
  NodeVec dims = {0};
  for (int i = 0; i < d->ndim; i++) vec_push(&dims, int_imm(INT64, d->shape[i], span));
  return MAKE(Constant, span, VOID_TYPE, .sinfo = sinfo_tensor(dims, d->elem, span), .data = d);
}

Node *constant_of_bytes(DataType t, int ndim, const int64_t *shape, const void *bytes, Span span) {
  ConstData *d = new_data(t, ndim, shape);
  memcpy((char *)(uintptr_t)d->bytes, bytes, d->nbytes);
  return node_of_data(d, span);
}

Node *constant_from_list(Value list, DataType t, Span span) {
  DimVec dims = list_shape(list, span);
  DataType own = list_dtype(list, &dims, 0, span);
  if (dtype_is_void(t)) t = own;
  ConstData *d = new_data(t, dims.len, dims.at);
  char *at = (char *)(uintptr_t)d->bytes;
  put_list(t, list, &at, span);
  return node_of_data(d, span);
}

/* ---- tensors ---- */

static const DLTensor *compact_tensor(Value v, TvmsTensor **copy, Span span) {
  TvmsTensor *t = value_as_tensor(v, span);
  *copy = NULL;
  if (!tvms_tensor_is_compact(t)) {
    if (tvms_tensor_copy(copy, t)) raise("RuntimeError", span, "%s", tvms_last_error());
    t = *copy;
  }
  return tvms_tensor_dl(t);
}

Node *constant_node(Value tensor_value, Span span) {
  TvmsTensor *copy;
  const DLTensor *dl = compact_tensor(tensor_value, &copy, span);
  ConstData *d = new_data(dtype_from_dlpack(dl->dtype.code, dl->dtype.bits, dl->dtype.lanes),
                          dl->ndim, dl->shape);
  memcpy((char *)(uintptr_t)d->bytes, (const char *)dl->data + dl->byte_offset, d->nbytes);
  tvms_release(copy);
  return node_of_data(d, span);
}

Value constant_value(const ConstData *d) {
  DLDataType t = {(uint8_t)dtype_dlpack_code(d->elem), d->elem.bits, (uint16_t)d->elem.lanes};
  TvmsTensor *out;
  if (tvms_tensor_new(&out, d->ndim, d->shape, t) ||
      tvms_tensor_set_bytes(out, d->bytes, d->nbytes))
    raise("RuntimeError", (Span){0}, "%s", tvms_last_error());
  return value_tensor(out);
}

Node *constant_of_value(Value v, DataType t, Span span) {
  bool keeps_dtype = dtype_is_void(t);
  if (v.type == &type_tensor) {
    if (keeps_dtype) return constant_node(v, span);
    CallArgs args = {.positional = {.at = (Value[]){value_str(dtype_text(t))}, .len = 1},
                     .span = span};
    return constant_node(value_call(value_get_attr(v, str_intern("astype"), span), &args), span);
  }
  if (value_is_node(v, NK_Constant)) return v.node;
  return constant_from_list(v, t, span);
}
