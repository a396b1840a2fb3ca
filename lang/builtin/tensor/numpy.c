/* numpy.c -- the namespaces numpy (also np), numpy.random and numpy.testing. */
#include "lang/builtin/tensor/tensor_impl.h"
#include <math.h>

Value numpy_library_find(Namespace *ns, const char *name) {
  if (*name == '_' || !namespace_library) return value_absent();
  return value_find_attr(namespace_library->load(ns->name), name, (Span){0});
}

static Value find(Namespace *ns, const char *name) {
  Value x = scalar_class_named(name);
  return x.type ? x : numpy_library_find(ns, name);
}

static void dtype_names(Namespace *ns, StrVec *out) {
  static const char *const names[] = {"bool",    "int8",    "int16",    "int32",  "int64",
                                      "uint8",   "uint16",  "uint32",   "uint64", "float16",
                                      "float32", "float64", "bfloat16", "random", "testing"};
  (void)ns;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) vec_push(out, names[i]);
}

static Value load_numpy(void) {
  static Value numpy;
  static const BuiltinRows *const tables[] = {
      &create_rows, &unary_rows, &binary_rows, &reduce_rows,  &print_rows,  &shape_rows, &join_rows,
      &matmul_rows, &sort_rows,  &index_rows,  &testing_rows, &memory_rows, &dtype_rows};
  if (numpy.type) return numpy;
  numpy = value_namespace("numpy");
  Namespace *ns = numpy.object;
  ns->find = find;
  ns->names = dtype_names;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    namespace_add_builtins(numpy, tables[i]->rows, tables[i]->n);
  namespace_set(numpy, "pi", value_float(M_PI));
  namespace_set(numpy, "e", value_float(M_E));
  namespace_set(numpy, "inf", value_float(INFINITY));
  namespace_set(numpy, "nan", value_float(NAN));
  namespace_set(numpy, "newaxis", value_none());
  namespace_set(numpy, "ndarray", value_type(&type_tensor));
  namespace_set(numpy, "dtype", value_type(&type_numpy_dtype));
  return numpy;
}

static Value new_tensor(BuiltinCall *c) {
  return tensor_array(c->args[0], c->args[1], c->spans[0]);
}
static const Builtin constructor = {"tensor", "object, dtype=None", new_tensor,
                                    "a tensor of numbers, nested lists, tensors"};
static const TypeObject tensor_type = {.type = &type_tensor, .constructor = &constructor};

void tensor_start(void) {
  type_define(&tensor_type);
  type_define(&numpy_dtype_object);
  namespace_register("numpy", load_numpy);
  namespace_register("_device", device_namespace);
  namespace_register("np", load_numpy);
  namespace_register("numpy.random", random_namespace);
  namespace_register("numpy.testing", testing_namespace);
}
