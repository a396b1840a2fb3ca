/* dtype.c -- dtypes as values: np.dtype("float32") is one, np.float32 the class of its scalars.
 *
 * Both are equal to each other and to the name, so that `x.dtype == np.float32` and
 * `x.dtype == "float32"` hold; a dtype has the methods of its name as well. np.floating and the
 * like are classes of scalars without a dtype of their own. */
#include "lang/builtin/tensor/tensor_impl.h"
#include "lang/dialect/dialect.h"

/* A dtype's object is the DataType itself, which is what a class begins with. */
typedef struct ScalarClass {
  DataType t;               /* void: an abstract class */
  const char *name, *kinds; /* the letters of the dtypes below an abstract class */
} ScalarClass;

static const ScalarClass abstract_classes[] = {
    {VOID_TYPE, "generic", "biuf"},      {VOID_TYPE, "number", "iuf"},
    {VOID_TYPE, "integer", "iu"},        {VOID_TYPE, "signedinteger", "i"},
    {VOID_TYPE, "unsignedinteger", "u"}, {VOID_TYPE, "inexact", "f"},
    {VOID_TYPE, "floating", "f"},
};
enum { ABSTRACT_CLASSES = sizeof abstract_classes / sizeof *abstract_classes };

static DataType dtype_of(Value v) { return *(DataType *)v.object; }
static ScalarClass *class_of(Value v) { return v.object; }

static char kind_of(DataType t) {
  return is_real(t) ? 'f' : dtype_is_bool(t) ? 'b' : t.code == DTYPE_UINT ? 'u' : 'i';
}

/* ---- what both have in common ---- */

bool value_is_numpy_dtype(Value v, DataType *t) {
  bool is_class = v.type == &type_scalar_class && !class_of(v)->kinds;
  if (v.type != &type_numpy_dtype && !is_class) return false;
  *t = dtype_of(v);
  return true;
}

/* The dtype that a value names in a comparison. */
static bool named_by(Value v, DataType *t) {
  if (v.type == &type_str) return dtype_parse(value_text(v), t);
  if (v.type == &type_dtype) return *t = dtype_of(v), true;
  if (v.type == &type_type) {
    const ValueType *type = ((TypeObject *)v.object)->type;
    *t = type == &type_float ? FLOAT64 : type == &type_int ? INT64 : BOOL;
    return type == &type_float || type == &type_int || type == &type_bool;
  }
  return value_is_numpy_dtype(v, t);
}

static bool equal(Value a, Value b) {
  DataType x, y;
  if (a.object == b.object) return a.type == b.type;
  return named_by(a, &x) && named_by(b, &y) && dtype_equal(x, y);
}

static const char *class_name(Value v) {
  return class_of(v)->kinds ? class_of(v)->name : dtype_text(dtype_of(v));
}
static uint64_t hash(Value v) {
  const char *name = v.type == &type_scalar_class ? class_name(v) : dtype_text(dtype_of(v));
  return value_hash(value_str(name), (Span){0});
}

/* ---- dtypes ---- */

static void dtype_repr(Value v, Str *out) {
  str_printf(out, "dtype('%s')", dtype_text(dtype_of(v)));
}
static void dtype_str(Value v, Str *out) { str_add(out, dtype_text(dtype_of(v))); }

static const char *const dtype_attributes[] = {"name", "itemsize", "kind",      "char",     "str",
                                               "type", "num",      "isbuiltin", "alignment"};

/* "<f4": byte order, kind and size. */
static const char *code_of(DataType t) {
  return str_format("%c%c%d", dtype_nbytes(t) == 1 ? '|' : '<', kind_of(t), (int)dtype_nbytes(t));
}

static Value dtype_attr(Value v, const char *name, Span span) {
  DataType t = dtype_of(v);
  (void)span;
  if (strcmp(name, "name") == 0) return value_str(dtype_text(t));
  if (strcmp(name, "itemsize") == 0 || strcmp(name, "alignment") == 0)
    return value_int(dtype_nbytes(t));
  if (strcmp(name, "kind") == 0) return value_str_n((char[]){kind_of(t)}, 1);
  if (strcmp(name, "str") == 0) return value_str(code_of(t));
  if (strcmp(name, "type") == 0) return scalar_class_of(t);
  return builtin_method(str_methods, STR_METHODS, value_str(dtype_text(t)), name);
}

static void dtype_attr_names(Value v, StrVec *out) {
  (void)v;
  for (size_t i = 0; i < sizeof dtype_attributes / sizeof *dtype_attributes; i++)
    vec_push(out, dtype_attributes[i]);
  builtin_names(str_methods, STR_METHODS, out);
}

/* `"float" in x.dtype`, as of a text. */
static bool dtype_contains(Value v, Value x, Span span) {
  return value_contains(value_str(dtype_text(dtype_of(v))), x, span);
}

const ValueType type_numpy_dtype = {.name = "dtype",
                                    .repr = dtype_repr,
                                    .str = dtype_str,
                                    .get_attr = dtype_attr,
                                    .attr_names = dtype_attr_names,
                                    .contains = dtype_contains,
                                    .equal = equal,
                                    .hash = hash};

Value value_numpy_dtype(DataType t) { return value_of(&type_numpy_dtype, gc_copy(&t, sizeof t)); }

static Value new_dtype(BuiltinCall *c) {
  return value_numpy_dtype(dtype_arg(c->args[0], c->spans[0]));
}
static const Builtin dtype_constructor = {"dtype", "dtype, /", new_dtype, "a dtype"};
const TypeObject numpy_dtype_object = {.type = &type_numpy_dtype,
                                       .constructor = &dtype_constructor};

/* ---- classes of scalars ---- */

static void class_repr(Value v, Str *out) { str_printf(out, "<class 'numpy.%s'>", class_name(v)); }

/* np.float32(x): a scalar, or a tensor of what has dimensions. */
static Value class_call(Value v, CallArgs *args) {
  if (class_of(v)->kinds)
    raise("TypeError", args->span, "cannot create '%s' instances", class_name(v));
  if (args->positional.len > 1 || args->names.len)
    raise("TypeError", args->span, "%s() takes one argument", class_name(v));
  DataType t = dtype_of(v);
  if (!args->positional.len) return tensor_as_scalar(tensor_scalar(t, value_int(0), args->span));
  Value given = args->positional.at[0];
  if (given.type == &type_str)
    given =
        value_call_with(value_type(is_real(t) ? &type_float : &type_int), 1, &given, args->span);
  View x = view_of(tensor_of(given, args->span));
  return tensor_as_scalar(tensor_cast(&x, t, args->span));
}

static Value class_attr(Value v, const char *name, Span span) {
  (void)span;
  if (strcmp(name, "__name__") == 0 || strcmp(name, "__qualname__") == 0)
    return value_str(class_name(v));
  if (strcmp(name, "__module__") == 0) return value_str("numpy");
  if (class_of(v)->kinds) return value_absent();
  if (strcmp(name, "dtype") == 0) return value_numpy_dtype(dtype_of(v));
  return value_absent();
}

static bool is_below(DataType t, Value class) {
  const char *kinds = class_of(class)->kinds;
  return kinds ? strchr(kinds, kind_of(t)) != NULL : dtype_equal(t, dtype_of(class));
}

/* Of two abstract classes all kinds of the one are of the other. */
bool scalar_class_is_below(Value a, Value b) {
  const char *below = class_of(a)->kinds, *above = class_of(b)->kinds;
  if (!below) return is_below(dtype_of(a), b);
  return above && strspn(below, above) == strlen(below);
}

static bool class_has(Value class, Value x) {
  return x.type == &type_tensor && tensor_object(x)->is_scalar && is_below(tensor_dtype(x), class);
}

const ValueType type_scalar_class = {.name = "type",
                                     .repr = class_repr,
                                     .get_attr = class_attr,
                                     .equal = equal,
                                     .hash = hash,
                                     .has_instance = class_has,
                                     .call = class_call};

Value scalar_class_of(DataType t) {
  return value_of(&type_scalar_class, NEW(ScalarClass, .t = t, .name = dtype_text(t)));
}

Value scalar_class_named(const char *name) {
  DataType t;
  for (int i = 0; i < ABSTRACT_CLASSES; i++)
    if (strcmp(name, abstract_classes[i].name) == 0)
      return value_of(&type_scalar_class, (void *)(uintptr_t)&abstract_classes[i]);
  if (strcmp(name, "bool_") == 0) name = "bool";
  if (!*name || !dtype_parse(name, &t) || !is_storable(t)) return value_absent();
  return scalar_class_of(t);
}

static Value np_issubdtype(BuiltinCall *c) {
  bool is_class = c->args[1].type == &type_scalar_class;
  bool is_abstract = c->args[0].type == &type_scalar_class && class_of(c->args[0])->kinds;
  if (is_abstract) return value_bool(is_class && scalar_class_is_below(c->args[0], c->args[1]));
  DataType t = dtype_arg(c->args[0], c->spans[0]);
  if (is_class) return value_bool(is_below(t, c->args[1]));
  return value_bool(dtype_equal(t, dtype_arg(c->args[1], c->spans[1])));
}

static const Builtin rows[] = {
    {"issubdtype", "arg1, arg2, /", np_issubdtype, "is a dtype of a kind, such as np.floating?"},
};
const BuiltinRows dtype_rows = {rows, sizeof rows / sizeof *rows};

/* ---- dtypes as arguments ---- */

/* Names and codes of NumPy that are none of the IR: "<f4", "double". */
static bool numpy_name(const char *text, DataType *t) {
  static const struct {
    const char *name;
    DataType t;
  } others[] = {{"half", DTYPE_OF(FLOAT, 16)},
                {"single", FLOAT32},
                {"double", FLOAT64},
                {"float", FLOAT64},
                {"int", INT64},
                {"bool_", BOOL},
                {"uint", DTYPE_OF(UINT, 64)},
                {"?", BOOL}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(text, others[i].name) == 0) return *t = others[i].t, true;
  const char *code = text + (*text && strchr("<|=", *text));
  static const char kinds[] = "fiub";
  static const DTypeCode codes[] = {DTYPE_FLOAT, DTYPE_INT, DTYPE_UINT, DTYPE_BOOL};
  const char *kind = *code ? strchr(kinds, *code) : NULL;
  if (!kind || code[1] < '1' || code[1] > '8' || code[2]) return false;
  int bits = (code[1] - '0') * 8;
  *t = *kind == 'b' ? BOOL
                    : (DataType){.code = codes[kind - kinds], .bits = (uint8_t)bits, .lanes = 1};
  return *kind != 'f' || bits >= 16;
}

static DataType named(Value v, Span span) {
  DataType t;
  if (numpy_name(value_text(v), &t)) return t;
  if (!dtype_parse(value_text(v), &t) || !is_storable(t)) {
    static const char *const names[] = {"bool",    "int8",    "int16",   "int32",  "int64",
                                        "uint8",   "uint16",  "uint32",  "uint64", "float16",
                                        "float32", "float64", "bfloat16"};
    const char *near = str_near(value_text(v), names, sizeof names / sizeof *names);
    raise_code(E0239, span, "'%s' is no dtype of tensors%s", value_text(v),
               near ? str_format(" (did you mean '%s'?)", near) : "");
  }
  return t;
}

DataType dtype_arg(Value v, Span span) {
  DataType t;
  v = value_plain(v);
  if (v.type == &type_str) return named(v, span);
  if (!named_by(v, &t))
    raise_code(E0239, span, "expected a dtype, such as 'float32', found '%s'", value_type_text(v));
  if (!is_storable(t))
    raise_code(E0239, span, "tensors of dtype %s are not supported", dtype_text(t));
  return t;
}
