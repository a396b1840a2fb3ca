/* tensor.c -- the value type tensor: over TvmsTensor, shaped like NumPy's ndarray. */
#include "lang/builtin/tensor/tensor_impl.h"
#include <unistd.h>

static void release(void *p) {
  TensorObject *o = p;
  gc_foreign(-(ptrdiff_t)o->nbytes);
  tvms_release(o->tensor);
  o->tensor = NULL;
}

Value value_tensor(TvmsTensor *owned) {
  TensorObject *o = NEW(TensorObject, .tensor = owned, .nbytes = tvms_tensor_nbytes(owned));
  gc_finalizer(o, release);
  gc_foreign((ptrdiff_t)o->nbytes);
  return value_of(tensor_is_elsewhere(owned) ? &type_device_tensor : &type_tensor, o);
}

TvmsTensor *value_as_tensor(Value v, Span span) {
  if (v.type == &type_device_tensor)
    raise("TypeError", span, "expected a tensor on the CPU, found %s; x.numpy() is a copy there",
          value_text(value_str(value_to_str(v))));
  if (v.type != &type_tensor)
    raise("TypeError", span, "expected a tensor, found '%s'", value_type_text(v));
  return ((TensorObject *)v.object)->tensor;
}

Value tensor_new(DataType t, int ndim, const int64_t *shape, Span span) {
  if (!is_storable(t))
    raise("TypeError", span, "tensors of dtype %s are not supported", dtype_text(t));
  double bytes = dtype_nbytes(t);
  for (int i = 0; i < ndim; i++) bytes *= (double)shape[i];
  if (bytes > (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE))
    raise("MemoryError", span, "a tensor of shape %s needs %.1f GB, more than this machine has",
          dims_text(ndim, shape), bytes * 1e-9);
  DLDataType dl = {(uint8_t)dtype_dlpack_code(t), t.bits, 1};
  TvmsTensor *out;
  if (tvms_tensor_new(&out, ndim, shape, dl) != 0)
    raise("ValueError", span, "%s", tvms_last_error());
  return value_tensor(out);
}

DataType tensor_dtype(Value tensor) {
  DLDataType t = tvms_tensor_dl(((TensorObject *)tensor.object)->tensor)->dtype;
  return dtype_from_dlpack(t.code, t.bits, t.lanes);
}

/* ---- one element ---- */

static Value only_element(Value v, const char *what, const char *kind, Span span) {
  View x = view_of(v);
  if (view_size(&x) != 1)
    raise(kind, span, "%s of a tensor of shape %s: only one of size 1 has a value", what,
          dims_text(x.ndim, x.shape));
  return load_value(x.dtype, x.data);
}

static bool truth(Value v, Span span) {
  View x = view_of(v);
  if (view_size(&x) != 1)
    raise("ValueError", span,
          "the truth value of a tensor of shape %s is ambiguous: use a.any() or a.all()",
          dims_text(x.ndim, x.shape));
  return value_truth(load_value(x.dtype, x.data), span);
}

static void format(Value v, const char *spec, Str *out, Span span) {
  if (!*spec) return tensor_str(v, out);
  value_format(only_element(v, "the formatted value", "TypeError", span), spec, out, span);
}

static Value method_item(BuiltinCall *c) {
  ValueVec *index = value_items(c->args[0]);
  if (!index->len) return only_element(c->self, "item()", "ValueError", c->span);
  View x = view_of(c->self);
  Value i = index->len == 1 ? index->at[0] : c->args[0];
  if (index->len == 1 && x.ndim != 1 && i.type == &type_int) { /* a flat index */
    int64_t size = view_size(&x), flat = index_in_range(i, size, "tensor", c->span), at[MAX_DIMS];
    for (int d = x.ndim; d-- > 0;) at[d] = flat % x.shape[d], flat /= x.shape[d];
    return load_value(x.dtype, view_at(&x, at));
  }
  return only_element(tensor_get_item(c->self, i, c->span), "item()", "ValueError", c->span);
}

static Value method_float(BuiltinCall *c) {
  Value x = only_element(c->self, "float()", "TypeError", c->span);
  return value_float(value_as_float(x, "the element", c->span));
}
static Value method_int(BuiltinCall *c) {
  Value x = only_element(c->self, "int()", "TypeError", c->span);
  return value_call_with(value_type(&type_int), 1, &x, c->span);
}
static Value method_index(BuiltinCall *c) {
  if (is_real(tensor_dtype(c->self)))
    raise("TypeError", c->span, "only tensors of integers can be an index");
  return value_int(
      value_as_int(only_element(c->self, "the index", "TypeError", c->span), "the index", c->span));
}

/* ---- lists ---- */

static Value nested_list(const View *v, int dim, char *at) {
  if (dim == v->ndim) return load_value(v->dtype, at);
  ValueVec items = {0};
  for (int64_t i = 0; i < v->shape[dim]; i++, at += v->strides[dim] * dtype_nbytes(v->dtype)) {
    Value x = nested_list(v, dim + 1, at);
    vec_push(&items, x);
  }
  return value_list(items);
}

static Value method_tolist(BuiltinCall *c) {
  View v = view_of(c->self);
  return nested_list(&v, 0, v.data);
}

static Value method_astype(BuiltinCall *c) {
  View v = view_of(c->self);
  DataType t = dtype_arg(c->args[0], c->spans[0]);
  bool same = dtype_equal(t, v.dtype) && !value_truth(c->args[1], c->span);
  if (same) return c->self;
  Value out = tensor_cast(&v, t, c->span);
  return tensor_object(c->self)->is_scalar ? tensor_as_scalar(out) : out;
}
static Value method_copy(BuiltinCall *c) {
  View v = view_of(c->self);
  return tensor_copied(&v, c->span);
}
static Value method_numpy(BuiltinCall *c) { return c->self; }
/* a.copyto(b), b.copyfrom(a): by the names of runtime arrays. */
static Value copied_into(Value to, Value from, BuiltinCall *c) {
  if (to.type != &type_tensor)
    raise("TypeError", c->span, "expected a tensor, found '%s'", value_type_text(to));
  tensor_set_item(to, (Value){.type = &type_ellipsis}, from, c->span);
  return to;
}
static Value method_copyto(BuiltinCall *c) {
  if (c->args[0].type == &type_tensor) return copied_into(c->args[0], c->self, c);
  if (c->args[0].type != &type_device_tensor) return tensor_moved(c->self, c->args[0], c->span);
  tensor_copy_elements(c->args[0], c->self, c->span);
  return c->args[0];
}
static Value method_copyfrom(BuiltinCall *c) {
  if (c->args[0].type != &type_device_tensor) return copied_into(c->self, c->args[0], c);
  tensor_check_writable(c->self, c->span);
  tensor_copy_elements(c->self, c->args[0], c->span);
  return c->self;
}
static Value method_to(BuiltinCall *c) { return tensor_moved(c->self, c->args[0], c->span); }

static Value method_fill(BuiltinCall *c) {
  tensor_set_item(c->self, (Value){.type = &type_ellipsis}, c->args[0], c->span);
  return value_none();
}

/* The same memory, with its bits read as another dtype. */
static Value method_view(BuiltinCall *c) {
  View v = view_of(c->self);
  if (!c->args[0].type) return tensor_view(&v, c->span);
  DataType t = dtype_arg(c->args[0], c->spans[0]);
  if (dtype_nbytes(t) != dtype_nbytes(v.dtype))
    raise("ValueError", c->span, "%s and %s are not of the same size", dtype_text(v.dtype),
          dtype_text(t));
  v.dtype = t;
  return tensor_view(&v, c->span);
}

/* The same memory from a byte on, in another shape and dtype. */
static Value method_create_view(BuiltinCall *c) {
  View v = view_of(c->self);
  if (!view_is_compact(&v))
    raise("ValueError", c->span, "the tensor being viewed is not compact in memory");
  Shape s = shape_arg(c->args[0], c->spans[0]);
  int64_t there = view_size(&v) * dtype_nbytes(v.dtype), stride = 1, nbytes, end;
  int64_t begin = value_as_int(c->args[2], "relative_byte_offset", c->spans[2]);
  if (!value_is_none(c->args[1])) v.dtype = dtype_arg(c->args[1], c->spans[1]);
  bool fits = begin >= 0;
  v.ndim = s.ndim;
  for (int i = s.ndim; i-- > 0;) {
    v.shape[i] = s.dims[i];
    v.strides[i] = stride;
    fits &= !__builtin_mul_overflow(stride, s.dims[i], &stride);
  }
  fits &= !__builtin_mul_overflow(stride, dtype_nbytes(v.dtype), &nbytes) &&
          !__builtin_add_overflow(begin, nbytes, &end);
  if (!fits || end > there)
    raise("ValueError", c->span,
          "the view of shape %s would occupy bytes %lld <= i_byte < %lld, and the Tensor being "
          "viewed only contains %lld bytes",
          dims_text(s.ndim, s.dims), (long long)begin, (long long)(fits ? end : INT64_MAX),
          (long long)there);
  v.data += begin;
  return tensor_view(&v, c->span);
}

static Value method_tobytes(BuiltinCall *c) {
  View v = view_of(c->self);
  Value whole = tensor_copied(&v, c->span);
  v = view_of(whole);
  return value_bytes(v.data, (size_t)(view_size(&v) * dtype_nbytes(v.dtype)));
}

static const Builtin methods[] = {
    {"tobytes", "", method_tobytes, "the elements as bytes"},
    {"item", "*index", method_item, "the only element, or the one at the index, as a number"},
    {"tolist", "", method_tolist, "nested lists of numbers"},
    {"astype", "dtype, copy=True", method_astype, "a copy of another dtype"},
    {"copy", "", method_copy, "a copy"},
    {"numpy", "", method_numpy, "itself: tensors are shared with compiled code"},
    {"asnumpy", "", method_numpy, "itself: tensors are shared with compiled code"},
    {"to", "device", method_to, "a copy on a device"},
    {"copyto", "target, mem_scope=None", method_copyto,
     "its elements into another tensor, or a copy on a device"},
    {"copyfrom", "source, /", method_copyfrom, "the elements of another tensor into it"},
    {"__dlpack__", "**options", method_numpy, "itself: what np.from_dlpack takes"},
    {"fill", "value, /", method_fill, "sets every element"},
    {"_create_view", "shape, dtype=None, relative_byte_offset=0", method_create_view,
     "the same memory from a byte on, in another shape and dtype"},
    {"view", "dtype?, /", method_view, "the same memory, its bits as another dtype"},
    {"round", "decimals=0", tensor_round, "rounded half to even"},
    {"__round__", "ndigits=None", tensor_round, "rounded half to even"},
    {"__abs__", "", tensor_abs, "the absolute values"},
    {"__float__", "", method_float, "the only element as a float"},
    {"__int__", "", method_int, "the only element as an int"},
    {"__index__", "", method_index, "the only element, of an integer dtype"},
};
enum { METHODS = sizeof methods / sizeof *methods };

static const BuiltinRows *const method_tables[] = {&(const BuiltinRows){methods, METHODS},
                                                   &reduce_methods, &shape_methods, &sort_methods,
                                                   &index_methods};
enum { TABLES = sizeof method_tables / sizeof *method_tables };

/* ---- attributes ---- */

static Value shape_of(Value v) {
  View x = view_of(v);
  ValueVec dims = {0};
  for (int i = 0; i < x.ndim; i++) vec_push(&dims, value_int(x.shape[i]));
  return value_tuple(dims);
}

static Value strides_of(Value v) {
  View x = view_of(v);
  ValueVec steps = {0};
  for (int i = 0; i < x.ndim; i++)
    vec_push(&steps, value_int(x.strides[i] * dtype_nbytes(x.dtype)));
  return value_tuple(steps);
}

/* Functions of numpy that are methods too: the tensor is their first argument. */
static const char *const functions[] = {"clip",         "dot", "repeat",   "trace", "diagonal",
                                        "searchsorted", "ptp", "compress", "choose"};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static Value function_as_method(Value v, const char *name, Span span) {
  for (int i = 0; i < FUNCTIONS; i++)
    if (strcmp(name, functions[i]) == 0) {
      Value f = value_get_attr(namespace_import("numpy", span), name, span);
      return value_of(&type_bound_method, NEW(MethodObject, .self = v, .function = f));
    }
  return value_absent();
}

static Value transposed(Value v, Span span) {
  View x = view_of(v);
  int order[MAX_DIMS];
  for (int i = 0; i < x.ndim; i++) order[i] = x.ndim - 1 - i;
  view_permute(&x, order);
  return tensor_view(&x, span);
}

static const char *const attributes[] = {"shape",    "dtype",   "ndim", "size", "T",     "nbytes",
                                         "itemsize", "strides", "flat", "base", "flags", "real"};
enum { ATTRIBUTES = sizeof attributes / sizeof *attributes };

static Value get_attr(Value v, const char *name, Span span) {
  View x = view_of(v);
  if (strcmp(name, "shape") == 0) return shape_of(v);
  if (strcmp(name, "dtype") == 0) return value_numpy_dtype(x.dtype);
  if (strcmp(name, "ndim") == 0) return value_int(x.ndim);
  if (strcmp(name, "size") == 0) return value_int(view_size(&x));
  if (strcmp(name, "T") == 0) return transposed(v, span);
  if (strcmp(name, "itemsize") == 0) return value_int(dtype_nbytes(x.dtype));
  if (strcmp(name, "nbytes") == 0) return value_int(view_size(&x) * dtype_nbytes(x.dtype));
  if (strcmp(name, "strides") == 0) return strides_of(v);
  if (strcmp(name, "real") == 0) return v;
  if (strcmp(name, "device") == 0 || strcmp(name, "ctx") == 0) return tensor_device(v, span);
  if (strcmp(name, "flags") == 0) return tensor_flags(v);
  if (strcmp(name, "base") == 0)
    return tensor_object(v)->base.type ? tensor_object(v)->base : value_none();
  if (strcmp(name, "flat") == 0)
    return value_call_with(value_get_attr(v, str_intern("ravel"), span), 0, NULL, span);
  for (int i = 0; i < TABLES; i++) {
    Value m = builtin_method(method_tables[i]->rows, method_tables[i]->n, v, name);
    if (m.type) return m;
  }
  return function_as_method(v, name, span);
}

static void attr_names(Value v, StrVec *out) {
  (void)v;
  for (int i = 0; i < ATTRIBUTES; i++) vec_push(out, attributes[i]);
  for (int i = 0; i < FUNCTIONS; i++) vec_push(out, functions[i]);
  for (int i = 0; i < TABLES; i++) builtin_names(method_tables[i]->rows, method_tables[i]->n, out);
}

/* ---- iteration ---- */

static int64_t length(Value v, Span span) {
  View x = view_of(v);
  if (!x.ndim) raise("TypeError", span, "len() of a tensor without dimensions");
  return x.shape[0];
}

static Value next_part(IteratorObject *it, Span span) {
  return it->i < it->n ? tensor_get_item(it->source, value_int(it->i++), span) : value_absent();
}

static Value iter(Value v, Span span) {
  View x = view_of(v);
  if (!x.ndim) raise("TypeError", span, "iteration over a tensor without dimensions");
  return value_iterator(
      (IteratorObject){.next = next_part, .name = "tensor_iterator", .source = v, .n = x.shape[0]});
}

static bool contains(Value v, Value x, Span span) {
  Value same = tensor_compare_op(AST_EQ, v, x, span);
  if (!same.type) return false;
  return value_truth(value_call_with(value_get_attr(same, str_intern("any"), span), 0, NULL, span),
                     span);
}

/* Equal as a whole: same dtype, shape and elements; without dimensions, the same number. For
 * containers; `==` goes by element. */
static bool equal(Value a, Value b) {
  View x = view_of(a);
  bool number = b.type == &type_int || b.type == &type_float || b.type == &type_bool;
  if (number) return !x.ndim && value_equal(load_value(x.dtype, x.data), b);
  if (b.type != &type_tensor) return false;
  View y = view_of(b);
  if (!x.ndim && !y.ndim)
    return value_equal(load_value(x.dtype, x.data), load_value(y.dtype, y.data));
  if (!dtype_equal(x.dtype, y.dtype) || x.ndim != y.ndim) return false;
  for (int i = 0; i < x.ndim; i++)
    if (x.shape[i] != y.shape[i]) return false;
  const View *views[] = {&x, &y};
  Rows r;
  rows_start(&r, 2, views);
  while (rows_next(&r)) {
    double p[CHUNK], q[CHUNK];
    load_reals(x.dtype, r.at[0], r.stride[0], r.n, p);
    load_reals(y.dtype, r.at[1], r.stride[1], r.n, q);
    for (int i = 0; i < r.n; i++)
      if (!(p[i] == q[i])) return false;
  }
  return true;
}

/* Scalars only: what can change is no key. */
static uint64_t hash(Value v) {
  if (!tensor_object(v)->is_scalar)
    raise("TypeError", (Span){0}, "unhashable type: 'numpy.ndarray'");
  View x = view_of(v);
  return value_hash(load_value(x.dtype, x.data), (Span){0});
}

static Value class_of(Value v) {
  return tensor_object(v)->is_scalar ? scalar_class_of(tensor_dtype(v)) : value_absent();
}

/* A scalar is no ndarray; that of float64 is a float. */
static bool is_of_type(Value v, const ValueType *t) {
  if (!tensor_object(v)->is_scalar) return t == &type_tensor;
  return t == &type_float && dtype_equal(tensor_dtype(v), FLOAT64);
}

const ValueType type_tensor = {.name = "tensor",
                               .is_of_type = is_of_type,
                               .class_of = class_of,
                               .hash = hash,
                               .truth = truth,
                               .repr = tensor_repr,
                               .str = tensor_str,
                               .get_attr = get_attr,
                               .attr_names = attr_names,
                               .get_item = tensor_get_item,
                               .set_item = tensor_set_item,
                               .binary = tensor_binary_op,
                               .compare = tensor_compare_op,
                               .unary = tensor_unary_op,
                               .contains = contains,
                               .length = length,
                               .iter = iter,
                               .equal = equal,
                               .format = format,
                               .inplace = tensor_inplace_op};
