/* built_module.c -- compiled modules as values: their functions, and the files and texts that they
 * can be written as. */
#include "lang/dialect/packed.h"
#include "lower/lower.h"

typedef struct BuiltModule {
  Handle handle;
  Node *source; /* NULL: loaded from a file */
  const Target *target;
} BuiltModule;

static Value built_function(Value v, const char *name) {
  TvmsFunc *f;
  if (tvms_module_function(&f, handle_object(v), name)) return value_absent();
  return value_packed(f);
}

static void built_names(Value v, StrVec *out) {
  TvmsModule *m = handle_object(v);
  for (int i = 0; i < tvms_module_function_count(m); i++)
    vec_push(out, tvms_module_function_name(m, i));
}

static Value built_get_item(Value v, Value index, Span span) {
  const char *name = value_as_text(index, "the name of a function", span);
  Value f = built_function(v, name);
  if (f.type) return f;
  StrVec names = {0};
  built_names(v, &names);
  const char *near = str_near(name, names.at, names.len);
  raise("KeyError", span, "the module has no function '%s'%s%s%s", name,
        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* A module of one function, or its `main`, may be called itself. */
static const char *entry_name(Value v, Span span) {
  TvmsModule *m = handle_object(v);
  if (tvms_module_function_count(m) == 1) return tvms_module_function_name(m, 0);
  if (!built_function(v, "main").type)
    raise("TypeError", span, "which function? The module has several and no 'main'");
  return "main";
}

static Value built_entry(Value v, Span span) { return built_function(v, entry_name(v, span)); }

static Value built_call(Value v, CallArgs *args) {
  return value_call(built_entry(v, args->span), args);
}

/* ---- as files and texts ---- */

static BuiltModule *with_source(BuiltinCall *call) {
  BuiltModule *m = call->self.object;
  if (!m->source)
    raise("ValueError", call->span, "the module was loaded from a file, which is what to look at");
  return m;
}

static Node *lowered_again(BuiltModule *m) {
  return backend_find(m->target->kind)->takes_any_stage ? m->source
                                                        : lower_module(m->source, m->target);
}

/* The file that `tvms build` would write; its ending says what. */
static Value built_export(BuiltinCall *call) {
  BuiltModule *m = with_source(call);
  Value path_value = value_str(value_to_str(call->args[0]));
  const char *path = value_text(path_value);
  const EmitForm *form = emit_form_of_path(path);
  if (!form)
    raise("ValueError", call->spans[0], "the file's name ends in one of %s, not as in '%s'",
          emit_form_endings(), path);
  const Backend *backend = backend_that_writes(m->target);
  if (form->kind == EMIT_LOWERED)
    raise("ValueError", call->spans[0],
          "a text of the lowered module is no library; see inspect_source");
  backend->emit(lowered_again(m), m->target, form->kind, path);
  return value_none();
}

/* Text of the forms that are text; "" is what the target's code is printed as. */
static Value built_inspect_source(BuiltinCall *call) {
  BuiltModule *m = with_source(call);
  const char *word = value_as_text(call->args[0], "a form", call->spans[0]);
  const EmitForm *form = *word ? emit_form(word) : emit_form_of_target(m->target->kind);
  if (!form || !form->is_text)
    raise("ValueError", call->spans[0], "'%s' is no form of text; there are: %s",
          *word ? word : m->target->kind, emit_form_texts());
  return value_str(emit_form_text(lowered_again(m), m->target, form));
}

/* ---- as a value ---- */

static Value built_get_function(BuiltinCall *call) {
  const char *name = value_as_text(call->args[0], "the name of a function", call->spans[0]);
  Value f = built_function(call->self, name);
  if (f.type) return f;
  raise("AttributeError", call->spans[0], "the module has no function '%s'", name);
}

static Value built_implements(BuiltinCall *call) {
  const char *name = value_as_text(call->args[0], "the name of a function", call->spans[0]);
  return value_bool(built_function(call->self, name).type);
}

static Value built_time_evaluator(BuiltinCall *call) {
  Value make = library_attr("tvm.measure", "time_evaluator");
  Value args[] = {built_get_item(call->self, call->args[0], call->spans[0]), call->args[1],
                  call->args[2], call->args[3], call->args[4]};
  return value_call_with(make, 5, args, call->span);
}

static const Builtin built_methods[] = {
    {"export_library", "file_name, *, addons=None, workspace_dir=None, **options", built_export,
     "writes the module as a library"},
    {"inspect_source", "fmt=''", built_inspect_source, "its text in a form of `tvms build --emit`"},
    {"get_source", "fmt=''", built_inspect_source, "as inspect_source"},
    {"implements_function", "name, query_imports=False", built_implements,
     "is there a function of that name?"},
    {"get_function", "name, query_imports=False", built_get_function, "a function by its name"},
    {"time_evaluator", "func_name, dev=None, number=10, repeat=1, min_repeat_ms=0, **options",
     built_time_evaluator, "a function whose call measures that of the compiled one"},
};
enum { BUILT_METHODS = sizeof built_methods / sizeof *built_methods };

/* The parts of a module for devices: in ours they are texts in the host's part. */
static Value built_imports(Value v) {
  const BuiltModule *m = v.object;
  ValueVec parts = {0};
  if (m->source && !str_same(m->target->device, "cpu")) vec_push(&parts, v);
  return value_list(parts);
}

static Value built_get_attr(Value v, const char *name, Span span) {
  Value f = built_function(v, name);
  if (!f.type) f = builtin_method(built_methods, BUILT_METHODS, v, name);
  if (f.type) return f;
  if (str_same(name, "entry_func")) return built_entry(v, span);
  if (str_same(name, "entry_name")) return value_str(entry_name(v, span));
  if (str_same(name, "imported_modules") || str_same(name, "imports")) return built_imports(v);
  return f;
}

const ValueType type_built_module = {.name = "built module",
                                     .call = built_call,
                                     .get_item = built_get_item,
                                     .get_attr = built_get_attr,
                                     .attr_names = built_names};

Value value_compiled_module(TvmsModule *m, Node *source, const Target *target) {
  BuiltModule *built = NEW(BuiltModule, .handle = {m}, .source = source, .target = target);
  gc_finalizer(built, release_handle);
  return value_of(&type_built_module, built);
}

Value value_built_module(TvmsModule *m) { return value_compiled_module(m, NULL, NULL); }
