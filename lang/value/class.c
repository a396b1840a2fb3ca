/* class.c -- classes made by `class` statements and by the table of exceptions; super(). */
#include "lang/value/object.h"

ClassObject object_class = {.name = "object", .is_builtin = true};

Value value_class(ClassObject *c) { return value_of(&type_class, c); }
static ClassObject *class_of(Value v) { return v.object; }

Value class_lookup(const ClassObject *c, const char *name) {
  for (; c; c = c->base) {
    Value *x = names_get(&c->attrs, name);
    if (x) return *x;
  }
  return value_absent();
}

bool class_sets_plainly(const ClassObject *c) {
  for (; c; c = c->base)
    if (c->has_setters) return false;
  return true;
}

bool class_is_subclass(const ClassObject *c, const ClassObject *base) {
  if (base == &object_class) return true;
  for (; c; c = c->base)
    if (c == base) return true;
  return false;
}

void class_set(ClassObject *c, const char *name, Value x) {
  names_set(&c->attrs, name, x);
  c->has_setters |= x.type == &type_descriptor || name == INTERNED("__setattr__");
}

static Value bound(Value function, Value self) {
  return value_of(&type_bound_method, NEW(MethodObject, .self = self, .function = function));
}

Value class_bind(Value found, Value self, ClassObject *c, Span span) {
  if (found.type == &type_function) return self.type ? bound(found, self) : found;
  if (found.type != &type_descriptor) return found;
  DescriptorObject *d = found.object;
  switch (d->kind) {
  case DESCRIPTOR_STATIC: return d->get;
  case DESCRIPTOR_CLASS: return bound(d->get, value_class(c));
  default: return self.type ? value_call_with(d->get, 1, &self, span) : found;
  }
}

/* ---- what every object and every exception can do, reached through super() ---- */

static Value object_init(BuiltinCall *c) {
  InstanceObject *o = c->self.object;
  if (o->class->is_exception) instance_set(o, str_intern("args"), c->args[0]);
  else if (value_items(c->args[0])->len)
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

static const Builtin object_methods[] = {
    {"__init__", "*args", object_init, "does nothing, or keeps the arguments of an exception"},
    {"__repr__", "", object_repr, "the text of an object without a __repr__"},
    {"__str__", "", object_str, "the text of an object without a __str__"},
    {"__setattr__", "name, value, /", object_setattr, "sets an attribute of the object itself"},
};
enum { OBJECT_METHODS = sizeof object_methods / sizeof *object_methods };

static Value super_attr(Value v, const char *name, Span span) {
  SuperObject *s = v.object;
  bool of_class = s->self.type == &type_class;
  Value found = class_lookup(s->class, name);
  if (found.type)
    return class_bind(found, of_class ? value_absent() : s->self,
                      of_class ? class_of(s->self) : s->class, span);
  return of_class ? value_absent() : builtin_method(object_methods, OBJECT_METHODS, s->self, name);
}

static void super_names(Value v, StrVec *out) {
  for (const ClassObject *c = ((SuperObject *)v.object)->class; c; c = c->base)
    names_list(&c->attrs, out);
  builtin_names(object_methods, OBJECT_METHODS, out);
}

const ValueType type_super = {.name = "super", .get_attr = super_attr, .attr_names = super_names};

/* ---- classes as values ---- */

static void repr(Value v, Str *out) { str_printf(out, "<class '%s'>", class_of(v)->name); }

static Value bases(const ClassObject *c) {
  Value base = value_class(c->base ? c->base : &object_class);
  return c == &object_class ? value_tuple((ValueVec){0}) : value_tuple_of(1, base);
}

static Value mro(ClassObject *c) {
  ValueVec all = {0};
  for (; c; c = c->base) vec_push(&all, value_class(c));
  if (vec_last(&all).object != &object_class) vec_push(&all, value_class(&object_class));
  return value_tuple(all);
}

static Value get_attr(Value v, const char *name, Span span) {
  ClassObject *c = class_of(v);
  Value found = class_lookup(c, name);
  if (found.type) return class_bind(found, value_absent(), c, span);
  if (name[0] != '_' || name[1] != '_') return found;
  if (strcmp(name, "__name__") == 0 || strcmp(name, "__qualname__") == 0) return value_str(c->name);
  if (strcmp(name, "__doc__") == 0) return c->doc ? value_str(c->doc) : value_none();
  if (strcmp(name, "__bases__") == 0) return bases(c);
  if (strcmp(name, "__mro__") == 0) return mro(c);
  return found;
}

static bool set_attr(Value v, const char *name, Value x, Span span) {
  if (class_of(v)->is_builtin)
    raise("TypeError", span, "cannot set attribute '%s' of built-in class '%s'", name,
          class_of(v)->name);
  class_set(class_of(v), name, x);
  return true;
}

static void attr_names(Value v, StrVec *out) {
  for (const ClassObject *c = class_of(v); c; c = c->base) names_list(&c->attrs, out);
  vec_push(out, "__name__");
}

Value class_plain_init(const ClassObject *c) {
  return c->is_exception ? value_absent() : class_lookup(c, INTERNED("__init__"));
}

void class_check_init(Value result, Span span) {
  if (value_is_none(result)) return;
  raise("TypeError", span, "__init__() should return None, not '%s'", value_type_text(result));
}

static Value call(Value v, CallArgs *args) {
  ClassObject *c = class_of(v);
  Value o = value_instance(c);
  if (c->is_exception)
    instance_set(o.object, str_intern("args"),
                 value_tuple(value_to_vec(value_list(args->positional), args->span)));
  Value init = class_lookup(c, INTERNED("__init__"));
  if (init.type) {
    class_check_init(value_call_first(init, o, args), args->span);
  } else if ((args->positional.len && !c->is_exception) || args->names.len) {
    raise("TypeError", args->span, "%s() takes no %sarguments", c->name,
          c->is_exception ? "keyword " : "");
  }
  return o;
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

const ValueType type_class = {.name = "type",
                              .repr = repr,
                              .get_attr = get_attr,
                              .set_attr = set_attr,
                              .attr_names = attr_names,
                              .get_item = get_item,
                              .call = call,
                              .hash = hash};
