/* type.c -- types as values: `int`, `str`, what type(x) gives; and isinstance. */
#include "lang/value/big_int.h"
#include "lang/value/object.h"
#include <stddef.h>

static Map definitions; /* const ValueType * to const TypeObject * */

void type_define(const TypeObject *definition) {
  map_set(&definitions, definition->type, (void *)(uintptr_t)definition);
}

Value value_type(const ValueType *type) {
  TypeObject *t = map_get(&definitions, type);
  if (!t) {
    t = NEW(TypeObject, .type = type);
    type_define(t);
  }
  return value_of(&type_type, t);
}

Value value_type_of(Value v) {
  Value class = v.type->class_of ? v.type->class_of(v) : value_absent();
  if (class.type) return class;
  return v.type == &type_instance ? value_class(((InstanceObject *)v.object)->class)
                                  : value_type(v.type == &type_big     ? &type_int
                                               : v.type == &type_class ? &type_type
                                                                       : v.type);
}

/* A class may count others' instances as its own: __instances__ of typing.Sequence. */
static bool is_instance_of(Value v, ClassObject *class, Span span) {
  if (class == &object_class) return true;
  bool is_own =
      v.type == &type_instance && class_is_subclass(((InstanceObject *)v.object)->class, class);
  Value *others = is_own ? NULL : names_get(&class->attrs, INTERNED("__instances__"));
  return is_own || (others && value_is_instance(v, *others, span));
}

bool value_is_instance(Value v, Value type, Span span) {
  if (type.type == &type_tuple) {
    stack_check(span);
    for each (Value, t, value_items(type))
      if (value_is_instance(v, *t, span)) return true;
    return false;
  }
  if (type.type == &type_class) return is_instance_of(v, type.object, span);
  if (type.type->has_instance) return type.type->has_instance(type, v);
  if (type.type == &type_none) return v.type == &type_none;
  if (type.type != &type_type)
    raise("TypeError", span, "isinstance() arg 2 must be a type or a tuple of types, not '%s'",
          value_type_text(type));
  const ValueType *want = ((TypeObject *)type.object)->type;
  v = value_plain(v);
  if (v.type->is_of_type) return v.type->is_of_type(v, want);
  return v.type == want || (want == &type_int && value_is_integer(v)) ||
         (want == &type_type && (v.type == &type_class || v.type->has_instance));
}

static TypeObject *type_of(Value v) { return v.object; }

static void repr(Value v, Str *out) {
  TypeObject *t = type_of(v);
  str_printf(out, "<class '%s'>", t->type->name);
}

static Value call(Value v, CallArgs *args) {
  TypeObject *t = type_of(v);
  if (!t->constructor)
    raise("TypeError", args->span, "cannot create '%s' instances", t->type->name);
  return value_call(value_builtin(t->constructor), args);
}

static Value get_attr(Value v, const char *name, Span span) {
  (void)span;
  TypeObject *t = type_of(v);
  if (strcmp(name, "__name__") == 0 || strcmp(name, "__qualname__") == 0)
    return value_str(t->type->name);
  if (strcmp(name, "__doc__") == 0 && t->constructor) return value_str(t->constructor->doc);
  if (t->get_static) {
    Value x = t->get_static(name);
    if (x.type) return x;
  }
  const Builtin *method = builtin_find(t->type->methods, t->type->method_count, name);
  return method ? value_unbound_method(method, t->type) : value_absent();
}

static void attr_names(Value v, StrVec *out) {
  vec_push(out, "__name__");
  builtin_names(type_of(v)->type->methods, type_of(v)->type->method_count, out);
}

/* list[int], dict[str, int]: what stands in annotations. */
static Value get_item(Value v, Value index, Span span) { return (void)index, (void)span, v; }

static bool is_class(Value v) {
  return v.type == &type_type || v.type == &type_none || v.type == &type_class ||
         v.type->has_instance;
}

static bool add_classes(ValueVec *out, Value v) {
  if (is_class(v)) return vec_push(out, v), true;
  if (v.type != &type_tuple) return false;
  for each (Value, x, value_items(v)) {
    if (!is_class(*x)) return false;
    vec_push(out, *x);
  }
  return true;
}

Value class_binary(AstOp op, Value a, Value b, Span span) {
  (void)span;
  ValueVec all = {0};
  if (op != AST_BITOR || !add_classes(&all, a) || !add_classes(&all, b)) return value_absent();
  return value_tuple(all);
}

static uint64_t hash(Value v) { return (uint64_t)(uintptr_t)v.object >> 4; }

const ValueType type_type = {.name = "type",
                             .repr = repr,
                             .get_attr = get_attr,
                             .attr_names = attr_names,
                             .get_item = get_item,
                             .call = call,
                             .binary = class_binary,
                             .hash = hash};

/* ---- descriptors: property, staticmethod, classmethod ---- */

static Value with_part(BuiltinCall *c, Value get, Value set, Value del) {
  DescriptorObject *d = c->self.object;
  return value_of(&type_descriptor,
                  NEW(DescriptorObject, .kind = d->kind, .get = get, .set = set, .del = del));
}
static Value get_getter(BuiltinCall *c) {
  DescriptorObject *d = c->self.object;
  return with_part(c, c->args[0], d->set, d->del);
}
static Value get_setter(BuiltinCall *c) {
  DescriptorObject *d = c->self.object;
  return with_part(c, d->get, c->args[0], d->del);
}
static Value get_deleter(BuiltinCall *c) {
  DescriptorObject *d = c->self.object;
  return with_part(c, d->get, d->set, c->args[0]);
}
static const Builtin descriptor_methods[] = {
    {"getter", "function, /", get_getter, "the property with a function that reads it"},
    {"setter", "function, /", get_setter, "the property with a function that sets it"},
    {"deleter", "function, /", get_deleter, "the property with a function that deletes it"},
};
enum { DESCRIPTOR_METHODS = sizeof descriptor_methods / sizeof *descriptor_methods };

static Value descriptor_attr(Value v, const char *name, Span span) {
  DescriptorObject *d = v.object;
  static const struct {
    const char *name;
    bool of_property;
    size_t offset;
  } parts[] = {{"fget", true, offsetof(DescriptorObject, get)},
               {"fset", true, offsetof(DescriptorObject, set)},
               {"fdel", true, offsetof(DescriptorObject, del)},
               {"__func__", false, offsetof(DescriptorObject, get)},
               {"__wrapped__", false, offsetof(DescriptorObject, get)}};
  bool property = d->kind == DESCRIPTOR_PROPERTY;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (parts[i].of_property == property && strcmp(name, parts[i].name) == 0) {
      Value part = *(Value *)(void *)((char *)d + parts[i].offset);
      return part.type ? part : value_none();
    }
  bool of_function = strcmp(name, "__doc__") == 0 || strcmp(name, "__name__") == 0 ||
                     strcmp(name, "__isabstractmethod__") == 0;
  return of_function ? value_find_attr(d->get, name, span) : value_absent();
}

static Value descriptor_call(Value v, CallArgs *args) {
  return value_call(((DescriptorObject *)v.object)->get, args);
}

static void descriptor_repr(Value v, Str *out) {
  static const char *const names[] = {"property", "staticmethod", "classmethod"};
  str_printf(out, "<%s object>", names[((DescriptorObject *)v.object)->kind]);
}

const ValueType type_descriptor = {.name = "property",
                                   .repr = descriptor_repr,
                                   .get_attr = descriptor_attr,
                                   .methods = descriptor_methods,
                                   .method_count = DESCRIPTOR_METHODS,
                                   .call = descriptor_call};

static void not_implemented_repr(Value v, Str *out) {
  (void)v;
  str_add(out, "NotImplemented");
}
const ValueType type_not_implemented = {.name = "NotImplementedType", .repr = not_implemented_repr};
