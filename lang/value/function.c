/* function.c -- functions of the language as values, and methods bound to an object. */
#include "lang/value/object.h"

static FunctionObject *function_of(Value v) { return v.object; }

static void repr(Value v, Str *out) { str_printf(out, "<function %s>", function_of(v)->name); }

static Value get_attr(Value v, const char *name, Span span) {
  (void)span;
  FunctionObject *f = function_of(v);
  Value *own = names_get(&f->attrs, name);
  if (own) return *own;
  if (strcmp(name, "__name__") == 0) return value_str(f->name);
  if (strcmp(name, "__qualname__") == 0) return value_str(f->qualname);
  if (strcmp(name, "__doc__") == 0) return value_none();
  return value_absent();
}

static bool set_attr(Value v, const char *name, Value x, Span span) {
  (void)span;
  FunctionObject *f = function_of(v);
  if (strcmp(name, "__name__") == 0 && x.type == &type_str) f->name = value_text(x);
  else names_set(&f->attrs, name, x);
  return true;
}

static void attr_names(Value v, StrVec *out) {
  vec_push(out, "__name__");
  vec_push(out, "__doc__");
  names_list(&function_of(v)->attrs, out);
}

static uint64_t hash(Value v) { return (uint64_t)(uintptr_t)v.object >> 4; }

const ValueType type_function = {.name = "function",
                                 .repr = repr,
                                 .get_attr = get_attr,
                                 .set_attr = set_attr,
                                 .attr_names = attr_names,
                                 .call = function_call,
                                 .is_method = true,
                                 .hash = hash};

/* ---- bound methods ---- */

static Value method_call(Value v, CallArgs *args) {
  MethodObject *m = v.object;
  return value_call_first(m->function, m->self, args);
}

static void method_repr(Value v, Str *out) {
  MethodObject *m = v.object;
  Value name = value_find_attr(m->function, str_intern("__name__"), (Span){0});
  str_printf(out, "<bound method %s.%s>",
             m->self.type == &type_class ? ((ClassObject *)m->self.object)->name
                                         : value_type_text(m->self),
             name.type == &type_str ? value_text(name) : "?");
}

static Value method_attr(Value v, const char *name, Span span) {
  MethodObject *m = v.object;
  if (strcmp(name, "__self__") == 0) return m->self;
  if (strcmp(name, "__func__") == 0) return m->function;
  return value_find_attr(m->function, name, span);
}

static bool method_equal(Value a, Value b) {
  if (b.type != &type_bound_method) return false;
  MethodObject *x = a.object, *y = b.object;
  return value_same(x->self, y->self) && value_same(x->function, y->function);
}

static uint64_t method_hash(Value v) {
  MethodObject *m = v.object;
  return (uint64_t)(uintptr_t)m->self.object * 31 + (uint64_t)(uintptr_t)m->function.object;
}

const ValueType type_bound_method = {.name = "method",
                                     .repr = method_repr,
                                     .get_attr = method_attr,
                                     .call = method_call,
                                     .equal = method_equal,
                                     .hash = method_hash};
