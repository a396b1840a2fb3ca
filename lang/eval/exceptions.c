/* exceptions.c -- the classes of exceptions, and how C errors and exception values become each
 * other. An Error carries the class's name in `kind` and, once there is one, the instance. */
#include "lang/eval/eval_impl.h"

static Map classes; /* interned name to ClassObject * */
Error *handling;
Span eval_span;

/* base: NULL of BaseException. */
static ClassObject *new_class(const char *name, ClassObject *base) {
  ClassObject *c = NEW(ClassObject, .name = name, .is_exception = true, .is_builtin = true);
  if (base) vec_push(&c->bases, base);
  class_set_line(c, (Span){0});
  map_set(&classes, name, c);
  return c;
}

void exceptions_start(void) {
  static const struct {
    const char *name, *base, *doc;
  } rows[] = {
#define EXCEPTION(name, base, doc) {#name, #base, doc},
#include "lang/eval/exception.def"
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *name = str_intern(rows[i].name);
    ClassObject *c = new_class(name, map_get(&classes, str_intern(rows[i].base)));
    c->doc = rows[i].doc;
    env_set(env_builtins(), name, value_class(c));
  }
  static const char *const os_error_names[] = {"IOError", "EnvironmentError"};
  for (int i = 0; i < 2; i++)
    env_set(env_builtins(), str_intern(os_error_names[i]), value_class(exception_class("OSError")));
}

ClassObject *exception_class(const char *kind) {
  const char *name = str_intern(kind);
  ClassObject *c = map_get(&classes, name);
  if (c) return c;
  return new_class(name, map_get(&classes, str_intern("RuntimeError")));
}

Value exception_new(const char *kind, int n, const Value *args) {
  Value e = value_instance(exception_class(kind));
  ValueVec items = {0};
  for (int i = 0; i < n; i++) vec_push(&items, args[i]);
  instance_set(e.object, str_intern("args"), value_tuple(items));
  return e;
}

static const ValueVec *args_of(const InstanceObject *o) {
  static const ValueVec none;
  Value args = instance_get(o, INTERNED("args"));
  return args.type == &type_tuple ? value_items(args) : &none;
}

/* OSError(errno, text[, filename]) */
static bool is_os_error(const InstanceObject *o) {
  return args_of(o)->len >= 2 && class_is_subclass(o->class, exception_class("OSError"));
}

void exception_add_text(const InstanceObject *o, Str *out) {
  const ValueVec *args = args_of(o);
  if (!args->len) return;
  if (is_os_error(o)) {
    str_printf(out, "[Errno %s] %s", value_to_str(args->at[0]), value_to_str(args->at[1]));
    if (args->len > 2) str_printf(out, ": %s", value_repr(args->at[2]));
  } else if (args->len > 1) value_add_repr(value_tuple(*args), out);
  else if (class_is_subclass(o->class, exception_class("KeyError")))
    value_add_repr(args->at[0], out);
  else value_add_str(args->at[0], out);
}

/* Attributes that exceptions have from the start. */
static Value argument(const InstanceObject *o, int i) {
  return i < args_of(o)->len ? args_of(o)->at[i] : value_none();
}

static Value context_value(const InstanceObject *o, bool cause) {
  if (!o->context || (cause && !o->context_is_cause)) return value_none();
  return exception_of((Error *)(uintptr_t)o->context);
}

static Value add_note(BuiltinCall *c) {
  InstanceObject *o = c->self.object;
  Value notes = instance_get(o, INTERNED("__notes__"));
  if (!notes.type) instance_set(o, INTERNED("__notes__"), notes = value_list((ValueVec){0}));
  vec_push(value_items(notes), c->args[0]);
  return value_none();
}
static Value with_traceback(BuiltinCall *c) { return c->self; }

static const Builtin exception_methods[] = {
    {"add_note", "note, /", add_note, "adds a text to what is told of the exception"},
    {"with_traceback", "tb, /", with_traceback, "the exception itself: places are kept anyway"},
};

Value exception_attr(InstanceObject *o, const char *name) {
  static const struct {
    const char *name, *class;
    int argument;
  } rows[] = {{"errno", "OSError", 0},
              {"strerror", "OSError", 1},
              {"filename", "OSError", 2},
              {"value", "StopIteration", 0},
              {"code", "SystemExit", 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(name, rows[i].name) == 0 &&
        class_is_subclass(o->class, exception_class(rows[i].class)))
      return argument(o, rows[i].argument);
  if (strcmp(name, "__cause__") == 0) return context_value(o, true);
  if (strcmp(name, "__context__") == 0) return context_value(o, false);
  if (strcmp(name, "__suppress_context__") == 0) return value_bool(o->context_is_cause);
  if (strcmp(name, "__traceback__") == 0) return value_none();
  return builtin_method(exception_methods, 2, value_of(&type_instance, o), name);
}

void exception_raise(Value instance, Span span) {
  InstanceObject *o = instance.object;
  const char *text = value_to_str(instance);
  o->raised =
      NEW(Error, .kind = str_intern(o->class->name), .text = text, .span = span, .value = o);
  error_raise(o->raised);
}

void raise_key_error(Value key, Span span) {
  exception_raise(exception_new("KeyError", 1, &key), span);
}

Value exception_of(Error *e) {
  if (!e->value) {
    Value text = value_str(e->text);
    Value x = exception_new(e->kind ? e->kind : "Exception", 1, &text);
    e->value = x.object;
  }
  ((InstanceObject *)e->value)->raised = e;
  return value_of(&type_instance, e->value);
}

bool exception_matches(const Error *e, const ClassObject *c) {
  if (e->kind && str_same(e->kind, ERROR_INTERNAL)) return false;
  const InstanceObject *o = e->value;
  return class_is_subclass(o ? o->class : exception_class(e->kind), c);
}

/* ---- protect, with the evaluator's state ---- */

/* Is the call made by nobody's text, or by that of the library? */
static bool is_made_by_library(const CallFrame *f) {
  const Source *s = f->span.hi ? source_at(f->span.lo) : NULL;
  return !s || str_begins(s->name, "stdlib/");
}

/* Innermost first; a call that repeats is told once. What the library did before it came to a text
 * of the user (as where it runs tests) is not told. */
static void fill_trace(Error *e) {
  enum { SHOWN = 16 };
  int n = 0, first = 0;
  while (first < calls.len && is_made_by_library(&calls.at[first])) first++;
  e->trace = gc_alloc(sizeof *e->trace * (SHOWN + 1));
  for (int i = calls.len; i-- > first && n < SHOWN; n++) {
    CallFrame *f = &calls.at[i];
    int same = 0;
    while (i > first && calls.at[i - 1].name == f->name && calls.at[i - 1].span.lo == f->span.lo)
      i--, same++;
    e->trace[n].span = f->span;
    e->trace[n].what = same ? str_format("in '%s', called here (%d times)", f->name, same + 1)
                            : str_format("in '%s', called here", f->name);
  }
  e->trace_len = n;
}

static void note_context(Error *e) {
  if (!handling || handling == e || str_same(e->kind, ERROR_INTERNAL)) return;
  InstanceObject *o = exception_of(e).object;
  if (!o->context && !o->context_is_cause && handling->value != o) o->context = handling;
}

Error *eval_protect(void (*body)(void *), void *context) {
  int depth = calls.len;
  Error *was = handling;
  Error *e = protect(body, context);
  if (e) {
    if (!e->span.hi) e->span = eval_span;
    if (!e->trace && calls.len) fill_trace(e);
    note_context(e);
  }
  calls.len = depth;
  handling = was;
  return e;
}

/* ---- raise ---- */

static Value exception_value(Value v, Span span) {
  if (v.type == &type_class && ((ClassObject *)v.object)->is_exception)
    v = value_call_with(v, 0, NULL, span);
  if (v.type != &type_instance || !((InstanceObject *)v.object)->class->is_exception)
    raise("TypeError", span, "exceptions must derive from BaseException, not '%s'",
          value_type_text(v));
  return v;
}

void exec_raise(Env *env, AstRaise *s) {
  Span span = s->ast.span;
  if (!s->value) {
    if (!handling) raise("RuntimeError", span, "No active exception to reraise");
    error_raise(handling);
  }
  Value v = exception_value(eval(env, s->value), s->value->span);
  InstanceObject *o = v.object;
  if (s->cause) {
    Value cause = eval(env, s->cause);
    if (!value_is_none(cause)) cause = exception_value(cause, s->cause->span);
    o->context_is_cause = true;
    o->context = value_is_none(cause) ? NULL : ((InstanceObject *)cause.object)->raised;
    if (!o->context && !value_is_none(cause))
      o->context = NEW(Error, .kind = ((InstanceObject *)cause.object)->class->name,
                       .text = value_to_str(cause), .span = s->cause->span, .value = cause.object);
  }
  if (o->raised) { /* raised before: it keeps the place where it began */
    o->raised->text = value_to_str(v);
    error_raise(o->raised);
  }
  exception_raise(v, span);
}
