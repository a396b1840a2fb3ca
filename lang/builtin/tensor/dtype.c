/* dtype.c -- dtypes as values of numpy: np.float32 names a dtype, and makes scalars when called. */
#include "lang/builtin/tensor/tensor_impl.h"
#include "lang/dialect/dialect.h"

static DataType dtype_of(Value v) { return *(DataType *)v.object; }

static void repr(Value v, Str *out) { str_printf(out, "dtype('%s')", dtype_text(dtype_of(v))); }
static void str(Value v, Str *out) { str_add(out, dtype_text(dtype_of(v))); }

/* Equal to its name, too: x.dtype == np.float32. */
static bool equal(Value a, Value b) {
  DataType t;
  if (b.type == &type_str) return dtype_parse(value_text(b), &t) && dtype_equal(t, dtype_of(a));
  return (b.type == a.type || b.type == &type_dtype) && dtype_equal(dtype_of(a), dtype_of(b));
}

static uint64_t hash(Value v) { return value_hash(value_str(dtype_text(dtype_of(v))), (Span){0}); }

static Value call(Value v, CallArgs *args) {
  if (args->positional.len != 1 || args->names.len)
    raise("TypeError", args->span, "%s() takes one argument", dtype_text(dtype_of(v)));
  View x = view_of(tensor_of(args->positional.at[0], args->span));
  return tensor_cast(&x, dtype_of(v), args->span);
}

static Value get_attr(Value v, const char *name, Span span) {
  (void)span;
  DataType t = dtype_of(v);
  if (strcmp(name, "itemsize") == 0) return value_int(dtype_nbytes(t));
  if (strcmp(name, "name") == 0 || strcmp(name, "__name__") == 0) return value_str(dtype_text(t));
  if (strcmp(name, "kind") == 0)
    return value_str(is_real(t) ? "f" : dtype_is_bool(t) ? "b" : t.code == DTYPE_UINT ? "u" : "i");
  return value_absent();
}

static const ValueType type_numpy_dtype = {.name = "numpy.dtype",
                                           .repr = repr,
                                           .str = str,
                                           .get_attr = get_attr,
                                           .equal = equal,
                                           .hash = hash,
                                           .call = call};

Value dtype_named(const char *name) {
  DataType t;
  if (strcmp(name, "bool_") == 0) name = "bool";
  if (!*name || !dtype_parse(name, &t) || !is_storable(t)) return value_absent();
  return value_of(&type_numpy_dtype, gc_copy(&t, sizeof t));
}

static DataType named(Value v, Span span) {
  DataType t;
  if (!dtype_parse(value_text(v), &t) || !is_storable(t)) {
    static const char *const names[] = {"bool",    "int8",    "int16",   "int32",  "int64",
                                        "uint8",   "uint16",  "uint32",  "uint64", "float16",
                                        "float32", "float64", "bfloat16"};
    const char *near = str_near(value_text(v), names, sizeof names / sizeof *names);
    raise("TypeError", span, "'%s' is no dtype of tensors%s", value_text(v),
          near ? str_format(" (did you mean '%s'?)", near) : "");
  }
  return t;
}

DataType dtype_arg(Value v, Span span) {
  if (v.type == &type_str) return named(v, span);
  if (v.type == &type_numpy_dtype || v.type == &type_dtype) {
    DataType t = dtype_of(v);
    if (is_storable(t)) return t;
    raise("TypeError", span, "tensors of dtype %s are not supported", dtype_text(t));
  }
  if (v.type == &type_type) {
    const ValueType *type = ((TypeObject *)v.object)->type;
    if (type == &type_float) return FLOAT64;
    if (type == &type_int) return INT64;
    if (type == &type_bool) return BOOL;
  }
  raise("TypeError", span, "expected a dtype, such as 'float32', found '%s'", value_type_text(v));
}
