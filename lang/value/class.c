/* class.c -- classes made by `class` statements and by the table of exceptions; super(). */
#include "lang/value/object.h"

ClassObject object_class = {.name = "object", .is_builtin = true};

Value value_class(ClassObject *c) { return value_of(&type_class, c); }
static ClassObject *class_of(Value v) { return v.object; }

Value class_lookup(const ClassObject *c, const char *name) {
  for each (ClassObject *, at, &c->line) {
    Value *x = names_get(&(*at)->attrs, name);
    if (x) return *x;
  }
  return value_absent();
}

bool class_sets_plainly(const ClassObject *c) {
  for each (ClassObject *, at, &c->line)
    if ((*at)->has_setters) return false;
  return true;
}

bool class_is_subclass(const ClassObject *c, const ClassObject *base) {
  if (base == &object_class) return true;
  for each (ClassObject *, at, &c->line)
    if (*at == base) return true;
  return false;
}

void class_set(ClassObject *c, const char *name, Value x) {
  names_set(&c->attrs, name, x);
  bool sets = x.type == &type_instance &&
              class_lookup(((InstanceObject *)x.object)->class, INTERNED("__set__")).type;
  c->has_setters |= sets || x.type == &type_descriptor || name == INTERNED("__setattr__");
}

static Value bound(Value function, Value self) {
  return value_of(&type_bound_method, NEW(MethodObject, .self = self, .function = function));
}

Value class_bind(Value found, Value self, ClassObject *c, Span span) {
  if (found.type->is_method) return self.type ? bound(found, self) : found;
  if (found.type == &type_instance) { /* an object that is a descriptor */
    Value args[] = {self.type ? self : value_none(), value_class(c)};
    Value r = instance_special(found, INTERNED("__get__"), 2, args, span);
    return r.type ? r : found;
  }
  if (found.type != &type_descriptor) return found;
  DescriptorObject *d = found.object;
  switch (d->kind) {
  case DESCRIPTOR_STATIC: return d->get;
  case DESCRIPTOR_CLASS: return bound(d->get, value_class(c));
  default: return self.type ? value_call_with(d->get, 1, &self, span) : found;
  }
}

static Value class_new_object(ClassObject *c, CallArgs *args);

/* ---- what every object and every exception can do, reached through super() ---- */

/* Of a builtin with `*args, **kwargs` from parameter i on: the arguments of its call. */
static CallArgs args_of_call(BuiltinCall *c, int i) {
  CallArgs args = {.positional = *value_items(c->args[i]), .span = c->span, .env = c->env};
  for (int k = 0, n = value_dict_len(c->args[i + 1]); k < n; k++) {
    Value name, x;
    value_dict_entry(c->args[i + 1], k, &name, &x);
    vec_push(&args.names, str_intern(value_text(name)));
    vec_push(&args.named, x);
  }
  return args;
}

static Value object_init(BuiltinCall *c) {
  InstanceObject *o = c->self.object;
  CallArgs args = args_of_call(c, 0);
  const TypeObject *inner = o->class->inner_type;
  if (o->class->is_exception) instance_set(o, INTERNED("args"), c->args[0]);
  else if (inner && inner->as_base == FILLED_BASE)
    o->inner = value_call(value_builtin(inner->constructor), &args);
  else if (!inner && value_items(c->args[0])->len)
    raise("TypeError", c->span, "object.__init__() takes no arguments");
  return value_none();
}

static Value object_repr(BuiltinCall *c) {
  Str out = {0};
  InstanceObject *o = c->self.object;
  str_printf(&out, "<%s object>", o->class->name);
  return value_str_take(&out);
}

static Value object_str(BuiltinCall *c) {
  Str out = {0};
  InstanceObject *o = c->self.object;
  if (!o->class->is_exception) return object_repr(c);
  exception_add_text(o, &out);
  return value_str_take(&out);
}

static Value object_setattr(BuiltinCall *c) {
  instance_set(c->self.object, str_intern(value_as_text(c->args[0], "the name", c->span)),
               c->args[1]);
  return value_none();
}

static Value object_delattr(BuiltinCall *c) {
  instance_delete(c->self.object, str_intern(value_as_text(c->args[0], "the name", c->span)),
                  c->span);
  return value_none();
}

static Value object_eq(BuiltinCall *c) {
  return value_same(c->self, c->args[0]) ? value_bool(true)
                                         : (Value){.type = &type_not_implemented};
}

static Value object_hash(BuiltinCall *c) {
  return value_int((int64_t)((uint64_t)(uintptr_t)c->self.object >> 4));
}

/* Accepts what the class statement gave: a base that wants it takes it. */
static Value object_init_subclass(BuiltinCall *c) { return (void)c, value_none(); }

const Builtin object_methods[] = {
    {"__init__", "*args, **kwargs", object_init,
     "does nothing, or keeps the arguments of an exception"},
    {"__repr__", "", object_repr, "the text of an object without a __repr__"},
    {"__str__", "", object_str, "the text of an object without a __str__"},
    {"__setattr__", "name, value, /", object_setattr, "sets an attribute of the object itself"},
    {"__delattr__", "name, /", object_delattr, "deletes an attribute of the object itself"},
    {"__eq__", "other, /", object_eq, "is it the same object?"},
    {"__hash__", "", object_hash, "a number that is the object's own"},
    {"__init_subclass__", "", object_init_subclass, "called on each class derived from it"},
};
const int object_method_count = sizeof object_methods / sizeof *object_methods;

static Value object_new(BuiltinCall *c) {
  if (c->args[0].type != &type_class)
    raise("TypeError", c->span, "object.__new__(X): X is not a type object (%s)",
          value_type_text(c->args[0]));
  CallArgs args = args_of_call(c, 1);
  return class_new_object(c->args[0].object, &args);
}
static const Builtin object_new_row = {"__new__", "cls, /, *args, **kwargs", object_new,
                                       "a new object of the class, without __init__"};

/* The classes that super() searches. */
static ClassVec super_line(const SuperObject *s) {
  const ClassObject *own = s->self.type == &type_class ? s->self.object
                           : s->self.type == &type_instance
                               ? ((InstanceObject *)s->self.object)->class
                               : s->after;
  if (!class_is_subclass(own, s->after)) own = s->after;
  ClassVec line = own->line;
  while (line.len && line.at[0] != s->after) line.at++, line.len--;
  if (line.len) line.at++, line.len--;
  return line;
}

static Value super_attr(Value v, const char *name, Span span) {
  SuperObject *s = v.object;
  bool of_class = s->self.type == &type_class;
  ClassObject rest = {.line = super_line(s)};
  Value found = class_lookup(&rest, name);
  if (found.type)
    return class_bind(found, of_class ? value_absent() : s->self,
                      of_class ? class_of(s->self) : s->after, span);
  if (name == INTERNED("__new__")) return value_builtin(&object_new_row);
  if (of_class && name != INTERNED("__init_subclass__")) return value_absent();
  Value inner = value_plain(s->self);
  bool init = name == INTERNED("__init__") || name == INTERNED("__setattr__");
  if (inner.type != &type_instance && !of_class && !init) return value_find_attr(inner, name, span);
  return builtin_method(object_methods, object_method_count, s->self, name);
}

static void super_names(Value v, StrVec *out) {
  ClassVec line = super_line(v.object);
  for each (ClassObject *, c, &line) names_list(&(*c)->attrs, out);
  builtin_names(object_methods, object_method_count, out);
}

const ValueType type_super = {.name = "super", .get_attr = super_attr, .attr_names = super_names};

/* ---- classes as values ---- */

static void repr(Value v, Str *out) {
  ClassObject *c = class_of(v);
  str_printf(out, "<class '%s%s%s'>", c->module ? c->module : "", c->module ? "." : "", c->name);
}

static Value bases(const ClassObject *c) {
  ValueVec all = {0};
  bool inherited = false;
  for each (ClassObject *, b, &c->bases) {
    vec_push(&all, value_class(*b));
    inherited |= (*b)->inner_type != NULL;
  }
  if (c->inner_type && !inherited) vec_push(&all, value_type(c->inner_type->type));
  if (!all.len && c != &object_class) vec_push(&all, value_class(&object_class));
  return value_tuple(all);
}

static Value mro(ClassObject *c) {
  ValueVec all = {0};
  for each (ClassObject *, at, &c->line) vec_push(&all, value_class(*at));
  if (c->inner_type) vec_push(&all, value_type(c->inner_type->type));
  vec_push(&all, value_class(&object_class));
  return value_tuple(all);
}

static Value get_attr(Value v, const char *name, Span span) {
  ClassObject *c = class_of(v);
  Value found = class_lookup(c, name);
  if (found.type) return class_bind(found, value_absent(), c, span);
  if (name[0] != '_' || name[1] != '_') return found;
  if (name == INTERNED("__new__")) return value_builtin(&object_new_row);
  if (strcmp(name, "__annotations__") == 0) return value_dict();
  if (strcmp(name, "__module__") == 0) return value_str(c->module ? c->module : "builtins");
  if (strcmp(name, "__dict__") == 0) return names_dict(&c->attrs);
  if (strcmp(name, "__name__") == 0 || strcmp(name, "__qualname__") == 0) return value_str(c->name);
  if (strcmp(name, "__doc__") == 0) return c->doc ? value_str(c->doc) : value_none();
  if (strcmp(name, "__bases__") == 0) return bases(c);
  if (strcmp(name, "__mro__") == 0) return mro(c);
  const Builtin *row = builtin_find(object_methods, object_method_count, name);
  return row ? value_unbound_method(row, &type_instance) : found;
}

static bool set_attr(Value v, const char *name, Value x, Span span) {
  if (class_of(v)->is_builtin)
    raise("TypeError", span, "cannot set attribute '%s' of built-in class '%s'", name,
          class_of(v)->name);
  if (name == INTERNED("__name__") && x.type == &type_str) class_of(v)->name = value_text(x);
  else class_set(class_of(v), name, x);
  return true;
}

static bool del_attr(Value v, const char *name, Span span) {
  (void)span;
  return !class_of(v)->is_builtin && names_remove(&class_of(v)->attrs, name);
}

static void attr_names(Value v, StrVec *out) {
  for each (ClassObject *, c, &class_of(v)->line) names_list(&(*c)->attrs, out);
  vec_push(out, "__name__");
}

Value class_plain_init(const ClassObject *c) {
  bool plain = !c->is_exception && !c->abstract && !c->inner_type &&
               !class_lookup(c, INTERNED("__new__")).type;
  return plain ? class_lookup(c, INTERNED("__init__")) : value_absent();
}

void class_check_init(Value result, Span span) {
  if (value_is_none(result)) return;
  raise("TypeError", span, "__init__() should return None, not '%s'", value_type_text(result));
}

/* Values of a built-in type are made by its constructor; where __init__ fills them, from nothing.
 */
static Value inner_value(const ClassObject *c, CallArgs *args) {
  CallArgs none = {.span = args->span, .env = args->env};
  bool later = c->inner_type->as_base == FILLED_BASE && class_lookup(c, INTERNED("__init__")).type;
  return value_call(value_builtin(c->inner_type->constructor), later ? &none : args);
}

static Value class_new_object(ClassObject *c, CallArgs *args) {
  Span span = args->span;
  if (c->abstract)
    raise("TypeError", span, "Can't instantiate abstract class %s with abstract method %s", c->name,
          c->abstract);
  Value o = value_instance(c);
  if (c->is_exception)
    instance_set(o.object, INTERNED("args"), value_tuple(args_copy(args)->positional));
  if (c->inner_type) ((InstanceObject *)o.object)->inner = inner_value(c, args);
  return o;
}

/* What cls.__new__ gives, of a class or its base that has one. */
static Value made_by_new(Value function, Value class, CallArgs *args) {
  if (function.type == &type_descriptor) function = ((DescriptorObject *)function.object)->get;
  return value_call_first(function, class, args);
}

static bool is_of_class(Value v, const ClassObject *c) {
  return v.type == &type_instance && class_is_subclass(((InstanceObject *)v.object)->class, c);
}

static Value call(Value v, CallArgs *args) {
  ClassObject *c = class_of(v);
  Value new = class_lookup(c, INTERNED("__new__")), o;
  if (new.type) {
    o = made_by_new(new, v, args);
    if (!is_of_class(o, c)) return o;
  } else {
    o = class_new_object(c, args);
  }
  Value init = class_lookup(c, INTERNED("__init__"));
  if (init.type) class_check_init(value_call_first(init, o, args), args->span);
  else if (!new.type && !c->inner_type &&
           ((args->positional.len && !c->is_exception) || args->names.len))
    raise("TypeError", args->span, "%s() takes no %sarguments", c->name,
          c->is_exception ? "keyword " : "");
  return o;
}

/* ---- making classes ---- */

/* A class has the objects of one built-in type at most. */
static void set_inner(ClassObject *c, const TypeObject *inner, Span span) {
  if (inner->as_base == NOT_A_BASE)
    raise("TypeError", span, "the built-in type '%s' cannot be a base class", inner->type->name);
  if (c->inner_type && c->inner_type != inner)
    raise("TypeError", span, "the bases '%s' and '%s' cannot be those of one class",
          c->inner_type->type->name, inner->type->name);
  c->inner_type = inner;
}

void class_set_bases(ClassObject *c, const ValueVec *bases, Span span) {
  for each (Value, v, bases) {
    if (v->type == &type_type) {
      set_inner(c, v->object, span);
      continue;
    }
    if (v->type != &type_class)
      raise("TypeError", span, "a base class must be a class, not '%s'", value_type_text(*v));
    ClassObject *base = v->object;
    bool for_people = class_lookup(base, INTERNED("__typing_only__")).type; /* Generic[T] */
    if (base == &object_class || for_people) continue;
    for each (ClassObject *, b, &c->bases)
      if (*b == base) raise("TypeError", span, "duplicate base class %s", base->name);
    vec_push(&c->bases, base);
    if (base->inner_type) set_inner(c, base->inner_type, span);
    c->is_exception |= base->is_exception;
  }
  class_set_line(c, span);
}

static bool is_abstract(Value v) {
  Value mark = v.type == &type_function || v.type == &type_descriptor
                   ? value_find_attr(v, INTERNED("__isabstractmethod__"), (Span){0})
                   : value_absent();
  return mark.type && value_truth(mark, (Span){0});
}

/* Of a class below abc.ABC: the first name whose nearest definition is abstract. */
static const char *abstract_method(const ClassObject *c) {
  if (!class_lookup(c, INTERNED("__abstract_base__")).type) return NULL;
  for each (ClassObject *, b, &c->line)
    for each (NameEntry, e, &(*b)->attrs)
      if (e->name && is_abstract(e->value) && is_abstract(class_lookup(c, e->name))) return e->name;
  return NULL;
}

Value class_make(ClassObject *c, const Names *attrs, const CallArgs *named) {
  Value v = value_class(c);
  if (names_get(attrs, INTERNED("__getattribute__")))
    raise("TypeError", named->span, "%s.__getattribute__ is not supported: define __getattr__",
          c->name);
  for each (NameEntry, e, attrs)
    if (e->name) class_set(c, e->name, e->value);
  for each (NameEntry, e, attrs) {
    if (!e->name || e->value.type != &type_instance) continue;
    Value args[] = {v, value_str(e->name)};
    instance_special(e->value, INTERNED("__set_name__"), 2, args, named->span);
  }
  c->abstract = abstract_method(c);
  ClassObject above = {.line = {.at = c->line.at + 1, .len = c->line.len - 1}};
  Value hook = class_lookup(&above, INTERNED("__init_subclass__"));
  if (hook.type == &type_descriptor) hook = ((DescriptorObject *)hook.object)->get;
  if (hook.type) value_call_first(hook, v, named);
  else if (named->names.len)
    raise("TypeError", named->span, "%s.__init_subclass__() takes no keyword arguments", c->name);
  return v;
}

static uint64_t hash(Value v) { return (uint64_t)(uintptr_t)v.object >> 4; }

/* list[int]-like annotations of one's own classes, unless the class says otherwise. */
static Value get_item(Value v, Value index, Span span) {
  Value f = class_lookup(class_of(v), str_intern("__class_getitem__"));
  if (!f.type) return v;
  Value args[] = {v, index};
  return f.type == &type_descriptor
             ? value_call_with(((DescriptorObject *)f.object)->get, 2, args, span)
             : value_call_with(f, 2, args, span);
}

/* What a class as such does, for enum: __class_iter__ and the like stand for a metaclass. */
static Value class_special(Value v, const char *name, int n, const Value *args, const char *what,
                           Span span) {
  Value f = class_lookup(class_of(v), name);
  if (!f.type) raise("TypeError", span, "'type' object %s", what);
  return value_call_with(class_bind(f, value_absent(), class_of(v), span), n, args, span);
}
static Value iter(Value v, Span span) {
  return value_iter(class_special(v, INTERNED("__class_iter__"), 0, NULL, "is not iterable", span),
                    span);
}
static int64_t length(Value v, Span span) {
  Value n = class_special(v, INTERNED("__class_len__"), 0, NULL, "has no len()", span);
  return value_as_int(n, "the length", span);
}
static bool contains(Value v, Value x, Span span) {
  const char *what = "is not a container or iterable";
  return value_truth(class_special(v, INTERNED("__class_contains__"), 1, &x, what, span), span);
}
static bool truth(Value v, Span span) { return (void)v, (void)span, true; }

const ValueType type_class = {.name = "type",
                              .repr = repr,
                              .get_attr = get_attr,
                              .set_attr = set_attr,
                              .del_attr = del_attr,
                              .attr_names = attr_names,
                              .get_item = get_item,
                              .iter = iter,
                              .length = length,
                              .contains = contains,
                              .truth = truth,
                              .call = call,
                              .binary = class_binary,
                              .hash = hash};
