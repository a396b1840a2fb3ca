/* device.c -- tensors on devices as values: what is known of them without their elements, and
 * copies from and to the CPU, where tensors are NumPy's. */
#include "lang/builtin/tensor/tensor_impl.h"

bool tensor_is_elsewhere(const TvmsTensor *t) {
  return tvms_tensor_dl(t)->device.device_type != kDLCPU;
}

TvmsTensor *value_any_tensor(Value v, Span span) {
  if (v.type == &type_device_tensor) return ((TensorObject *)v.object)->tensor;
  return value_as_tensor(v, span);
}

/* ---- devices ---- */

/* A device of tvm, or its text: "opencl:1". */
static DLDevice device_arg(Value v, Span span) {
  DLDevice out;
  const char *text;
  if (v.type == &type_str) text = value_text(v);
  else {
    Value kind = value_get_attr(v, str_intern("type"), span),
          index = value_get_attr(v, str_intern("index"), span);
    text = str_format("%s:%lld", value_as_text(kind, "the kind of a device", span),
                      (long long)value_as_int(index, "the number of a device", span));
  }
  if (tvms_device_parse(text, &out)) raise("ValueError", span, "%s", tvms_last_error());
  return out;
}

static Value device_value(DLDevice device, Span span) {
  char text[32] = "cpu";
  if (device.device_type != kDLCPU) tvms_device_text(device, text, sizeof text);
  Value args[] = {value_str(str_copy_n(text, strcspn(text, ":"))), value_int(device.device_id)};
  return value_call_with(value_get_attr(namespace_import("tvm", span), str_intern("device"), span),
                         2, args, span);
}

Value tensor_device(Value v, Span span) {
  return device_value(tvms_tensor_dl(tensor_object(v)->tensor)->device, span);
}

static Value moved(Value v, DLDevice device, Span span) {
  TvmsTensor *out;
  if (tvms_tensor_copy_to(&out, value_any_tensor(v, span), device))
    raise("RuntimeError", span, "%s", tvms_last_error());
  return value_tensor(out);
}

Value tensor_moved(Value v, Value device, Span span) {
  return moved(v, device_arg(device, span), span);
}

void tensor_copy_elements(Value to, Value from, Span span) {
  TvmsTensor *a = value_any_tensor(to, span), *b = value_any_tensor(from, span), *compact;
  DLDevice cpu = {kDLCPU, 0};
  const DLTensor *x = tvms_tensor_dl(a), *y = tvms_tensor_dl(b);
  bool same = x->ndim == y->ndim && x->dtype.code == y->dtype.code &&
              x->dtype.bits == y->dtype.bits &&
              (!x->ndim || !memcmp(x->shape, y->shape, sizeof(int64_t) * (size_t)x->ndim));
  if (!same)
    raise("ValueError", span, "%s of shape %s can't be copied into %s of shape %s",
          dtype_text(dtype_from_dlpack(y->dtype.code, y->dtype.bits, 1)),
          dims_text(y->ndim, y->shape),
          dtype_text(dtype_from_dlpack(x->dtype.code, x->dtype.bits, 1)),
          dims_text(x->ndim, x->shape));
  if (tvms_tensor_copy_to(&compact, b, cpu)) raise("RuntimeError", span, "%s", tvms_last_error());
  int status = tvms_tensor_set_bytes(a, tvms_tensor_data(compact), tvms_tensor_nbytes(compact));
  tvms_release(compact);
  if (status) raise("RuntimeError", span, "%s", tvms_last_error());
}

/* ---- the value ---- */

static Value shape_of(const DLTensor *t) {
  ValueVec dims = {0};
  for (int i = 0; i < t->ndim; i++) vec_push(&dims, value_int(t->shape[i]));
  return value_tuple(dims);
}

static DataType dtype_of(const DLTensor *t) {
  return dtype_from_dlpack(t->dtype.code, t->dtype.bits, t->dtype.lanes);
}

static Value method_numpy(BuiltinCall *c) { return moved(c->self, (DLDevice){kDLCPU, 0}, c->span); }
static Value method_to(BuiltinCall *c) { return tensor_moved(c->self, c->args[0], c->span); }

static bool is_any_tensor(Value v) {
  return v.type == &type_device_tensor || v.type == &type_tensor;
}

static Value method_copyto(BuiltinCall *c) {
  if (!is_any_tensor(c->args[0])) return tensor_moved(c->self, c->args[0], c->span);
  tensor_copy_elements(c->args[0], c->self, c->span);
  return c->args[0];
}
static Value method_copyfrom(BuiltinCall *c) {
  Value from = is_any_tensor(c->args[0]) ? c->args[0] : tensor_of(c->args[0], c->span);
  tensor_copy_elements(c->self, from, c->span);
  return c->self;
}

static const Builtin methods[] = {
    {"numpy", "", method_numpy, "a copy on the CPU"},
    {"asnumpy", "", method_numpy, "a copy on the CPU"},
    {"to", "device", method_to, "a copy on a device"},
    {"copyto", "target, mem_scope=None", method_copyto,
     "its elements into another tensor, or a copy on a device"},
    {"copyfrom", "source, /", method_copyfrom, "the elements of another tensor into it"},
};
enum { METHODS = sizeof methods / sizeof *methods };

static Value get_attr(Value v, const char *name, Span span) {
  const TvmsTensor *tensor = tensor_object(v)->tensor;
  const DLTensor *t = tvms_tensor_dl(tensor);
  if (strcmp(name, "shape") == 0) return shape_of(t);
  if (strcmp(name, "dtype") == 0) return value_numpy_dtype(dtype_of(t));
  if (strcmp(name, "ndim") == 0) return value_int(t->ndim);
  if (strcmp(name, "size") == 0) return value_int(tvms_tensor_size(tensor));
  if (strcmp(name, "nbytes") == 0) return value_int((int64_t)tvms_tensor_nbytes(tensor));
  if (strcmp(name, "device") == 0 || strcmp(name, "ctx") == 0) return tensor_device(v, span);
  return builtin_method(methods, METHODS, v, name);
}

static void attr_names(Value v, StrVec *out) {
  static const char *const names[] = {"shape", "dtype", "ndim", "size", "nbytes", "device"};
  (void)v;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) vec_push(out, names[i]);
  builtin_names(methods, METHODS, out);
}

static void repr(Value v, Str *out) {
  const DLTensor *t = tvms_tensor_dl(tensor_object(v)->tensor);
  char device[32];
  tvms_device_text(t->device, device, sizeof device);
  str_printf(out, "<tensor of shape %s and dtype %s on %s>", dims_text(t->ndim, t->shape),
             dtype_text(dtype_of(t)), device);
}

const ValueType type_device_tensor = {
    .name = "tensor on a device", .repr = repr, .get_attr = get_attr, .attr_names = attr_names};

/* ---- for the library ---- */

static Value device_copy(BuiltinCall *c) {
  Value v = is_any_tensor(c->args[0]) ? c->args[0] : tensor_of(c->args[0], c->spans[0]);
  return tensor_moved(v, c->args[1], c->span);
}

static Value device_count(BuiltinCall *c) {
  DLDevice device = device_arg(c->args[0], c->spans[0]);
  int n = tvms_device_count(device.device_type);
  return value_int(n < 0 ? 0 : n);
}

static Value device_sync(BuiltinCall *c) {
  if (tvms_device_sync(device_arg(c->args[0], c->spans[0])))
    raise("RuntimeError", c->span, "%s", tvms_last_error());
  return value_none();
}

static const Builtin functions[] = {
    {"copy", "tensor, device", device_copy, "a copy on a device"},
    {"count", "device", device_count, "how many devices of the kind there are; 0: no driver"},
    {"sync", "device", device_sync, "waits for a device"},
};

Value device_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = value_namespace("_device");
  namespace_add_builtins(ns, functions, sizeof functions / sizeof *functions);
  return ns;
}
