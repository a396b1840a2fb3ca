/* tvm_names.c -- the namespace tvm: building and running modules, the registry of packed functions,
 * passes (tvm.transform), comparing, and the small names scripts use (tvm.cpu, tvm.nd). */
#include "lang/dialect/packed.h"
#include "lang/dialect/te.h"
#include "lower/lower.h"
#include "passes/passes.h"
#include "target/target.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

/* A module, or a single function as a module of its own name. */
Node *to_module(Value v, Span span) {
  if (value_is_node(v, NK_IRModule)) return v.node;
  if (v.type == &type_poison) raise(ERROR_POISONED, span, "an earlier error");
  if (!value_is_node(v, NK_PrimFunc) && !value_is_node(v, NK_Function))
    raise("TypeError", span, "expected a module or a function, found %s", value_type_name(v));
  const char *name = func_symbol(v.node) ? func_symbol(v.node) : "main";
  Node *global = MAKE(GlobalVar, span, VOID_TYPE, .sinfo = sinfo_object(), .name = name);
  return module_with(module_new(), global, v.node);
}

/* tvm.build(mod, target): lowered and compiled for this process. */
static Value tvm_build(BuiltinCall *call) {
  Node *m = to_module(ARG(0), SPAN(0));
  const char *text = value_is_none(ARG(1)) ? "llvm" : value_to_str(ARG(1));
  return value_built_module(build_module(m, target_parse(text, SPAN(1))));
}

TvmsModule *build_module(Node *m, const Target *target) {
  const Backend *backend = backend_find(target->kind);
  REQUIRE(backend, "target kind %s has a back end", target->kind);
  if (!backend->takes_any_stage) m = lower_module(m, target);
  return backend->load(m, target);
}

static Value tvm_load_module(BuiltinCall *call) {
  TvmsModule *m;
  if (tvms_module_load(&m, value_as_text(ARG(0), "the path of a module", SPAN(0))))
    raise("RuntimeError", call->span, "%s", tvms_last_error());
  return value_built_module(m);
}

/* ---- the registry ---- */

static Value register_as(const char *name, Value f, bool override, Span span) {
  TvmsFunc *packed = packed_of_value(f, span);
  int status = tvms_func_register(name, packed, override);
  tvms_release(packed);
  if (status) raise("ValueError", span, "%s", tvms_last_error());
  return f;
}

static Value register_decorator(BuiltinCall *call) {
  ListObject *name = call->self.object;
  return register_as(value_text(name->items.at[0]), ARG(0),
                     value_truth(name->items.at[1], call->span), call->span);
}
static const Builtin register_with_name = {"register", "function", register_decorator,
                                           "registers the function"};

/* tvm.register_func("name", f), or @tvm.register_func("name") above a def. */
static Value tvm_register_func(BuiltinCall *call) {
  if (ARG(0).type != &type_str) { /* @tvm.register_func: under its own name */
    Value name = value_get_attr(ARG(0), str_intern("__name__"), SPAN(0));
    return register_as(value_text(name), ARG(0), false, call->span);
  }
  const char *name = value_text(ARG(0));
  bool override = value_truth(ARG(2), SPAN(2));
  if (!value_is_none(ARG(1))) return register_as(name, ARG(1), override, call->span);
  return value_method(&register_with_name, value_tuple_of(2, ARG(0), value_bool(override)));
}

static Value tvm_get_global_func(BuiltinCall *call) {
  TvmsFunc *f;
  if (tvms_func_find(&f, value_as_text(ARG(0), "the name of a function", SPAN(0)))) {
    if (value_truth(ARG(1), SPAN(1))) return value_none();
    raise("ValueError", call->span, "%s", tvms_last_error());
  }
  return value_packed(f);
}

static void note_name(void *names, const char *name) {
  vec_push((ValueVec *)names, value_str(name));
}
static Value tvm_list_global_func_names(BuiltinCall *call) {
  (void)call;
  ValueVec names = {0};
  tvms_func_each(note_name, &names);
  return value_list(names);
}

/* ---- modules and comparing ---- */

static Value tvm_irmodule(BuiltinCall *call) {
  Node *m = module_new();
  if (value_is_none(ARG(0))) return value_node(m);
  if (ARG(0).type != &type_dict) return value_node(to_module(ARG(0), SPAN(0)));
  for (int i = 0; i < value_dict_len(ARG(0)); i++) {
    Value key, f;
    value_dict_entry(ARG(0), i, &key, &f);
    const char *name = value_as_text(key, "the name of a function", SPAN(0));
    m = module_with(m,
                    MAKE(GlobalVar, call->span, VOID_TYPE, .sinfo = sinfo_object(), .name = name),
                    to_attr(f, SPAN(0)));
  }
  return value_node(m);
}

static bool equal_nodes(BuiltinCall *call, const char **why) {
  for (int i = 0; i < 2; i++)
    if (ARG(i).type != &type_node)
      raise("TypeError", SPAN(i), "expected IR to compare, found %s", value_type_name(ARG(i)));
  return node_equal(ARG(0).node, ARG(1).node, value_truth(ARG(2), SPAN(2)), why);
}
static Value tvm_structural_equal(BuiltinCall *call) { return value_bool(equal_nodes(call, NULL)); }

static Value tvm_assert_structural_equal(BuiltinCall *call) {
  const char *why = NULL;
  if (!equal_nodes(call, &why))
    raise("AssertionError", call->span, "the two differ at %s; left and right:\n%s", why,
          ir_print_diff(ARG(0).node, ARG(1).node));
  return value_none();
}

static Value tvm_structural_hash(BuiltinCall *call) {
  if (ARG(0).type != &type_node)
    raise("TypeError", SPAN(0), "expected IR, found %s", value_type_name(ARG(0)));
  return value_int((int64_t)(node_hash(ARG(0).node) >> 1));
}

static Value tvm_verify(BuiltinCall *call) {
  if (ARG(0).type != &type_node)
    raise("TypeError", SPAN(0), "expected IR, found %s", value_type_name(ARG(0)));
  return value_bool(ir_verify(ARG(0).node));
}

/* ---- passes: tvm.transform.FuseOps(max_depth=8)(mod) ---- */

typedef struct PassValue {
  Pipeline pipeline;
} PassValue;

static Value run_passes(Value f, CallArgs *args) {
  PassValue *p = f.object;
  if (args->positional.len != 1 || args->names.len)
    raise("TypeError", args->span, "a pass takes one module");
  bool lone = !value_is_node(args->positional.at[0], NK_IRModule);
  Node *out = pipeline_run(&p->pipeline, to_module(args->positional.at[0], args->span), NULL, NULL);
  return value_node(lone ? AS(IRModule, out)->functions.at[0] : out);
}
static void passes_repr(Value v, Str *out) {
  str_add(out, pipeline_text(&((PassValue *)v.object)->pipeline));
}
static const ValueType type_passes = {.name = "pass", .call = run_passes, .repr = passes_repr};

static Value value_passes(Pipeline p) {
  return value_of(&type_passes, NEW(PassValue, .pipeline = p));
}

static Value make_pass(Value f, CallArgs *args) {
  const Pass *p = f.object;
  if (args->positional.len > p->option_count)
    raise("TypeError", args->span, "%s takes %d options", p->name, p->option_count);
  Str text = {0};
  str_printf(&text, "%s(", p->name);
  for (int i = 0; i < args->positional.len; i++)
    str_printf(&text, "%s=%s, ", p->options[i].name, value_repr(args->positional.at[i]));
  for (int i = 0; i < args->names.len; i++)
    str_printf(&text, "%s=%s, ", args->names.at[i], value_repr(args->named.at[i]));
  str_add(&text, ")");
  return value_passes(pipeline_parse(str_text(&text), args->span));
}
static void pass_class_repr(Value v, Str *out) { str_add(out, ((const Pass *)v.object)->name); }
static const ValueType type_pass_class = {
    .name = "pass", .call = make_pass, .repr = pass_class_repr};

static Value find_pass(Namespace *ns, const char *name) {
  (void)ns;
  const Pass *p = pass_find(name);
  return p ? value_of(&type_pass_class, (void *)(uintptr_t)p) : value_absent();
}
static void pass_names(Namespace *ns, StrVec *out) {
  (void)ns;
  for (int i = 0; pass_at(i); i++) vec_push(out, pass_at(i)->name);
}

/* transform.Sequential([p, q]), or a pipeline as text. */
static Value transform_sequential(BuiltinCall *call) {
  if (ARG(0).type == &type_str) return value_passes(pipeline_parse(value_text(ARG(0)), SPAN(0)));
  Pipeline all = {0};
  ValueVec passes = value_to_vec(ARG(0), SPAN(0));
  for each (Value, v, &passes) {
    if (v->type != &type_passes)
      raise("TypeError", SPAN(0), "expected passes, found %s", value_type_name(*v));
    for each (PassCall, c, &((PassValue *)v->object)->pipeline) vec_push(&all, *c);
  }
  return value_passes(all);
}
static const Builtin transform_names[] = {
    {"Sequential", "passes", transform_sequential,
     "passes one after the other: a list, or a pipeline as text"},
};

static Value transform_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = value_namespace("transform");
  namespace_add_builtins(ns, transform_names, 1);
  ((Namespace *)ns.object)->find = find_pass;
  ((Namespace *)ns.object)->names = pass_names;
  return ns;
}

static const Builtin tvm_builtins[] = {
    {"build", "mod, target=None", tvm_build, "compiles a module for this process"},
    {"register_func", "func_name, f=None, override=False", tvm_register_func,
     "registers a function for call_packed"},
    {"get_global_func", "name, allow_missing=False", tvm_get_global_func, "a registered function"},
    {"list_global_func_names", "", tvm_list_global_func_names, "names of all registered functions"},
    {"load_module", "path", tvm_load_module, "a library made by tvms build"},
    {"IRModule", "functions=None", tvm_irmodule, "a module of functions by name"},
};
static const Builtin ir_builtins[] = {
    {"structural_equal", "lhs, rhs, map_free_vars=False", tvm_structural_equal,
     "are two pieces of IR equal, but for names?"},
    {"assert_structural_equal", "lhs, rhs, map_free_vars=False", tvm_assert_structural_equal,
     "raises AssertionError with the first difference"},
    {"structural_hash", "node, map_free_vars=False", tvm_structural_hash,
     "a hash that equal nodes share"},
    {"verify", "node", tvm_verify, "is the IR well-formed?"},
};
enum { IR_BUILTINS = sizeof ir_builtins / sizeof *ir_builtins };

/* tvm.tir and tvm.relax as host libraries: their script names, and transform. */
static Value library_namespace(const char *name, Value script) {
  Value ns = value_namespace(name);
  ((Namespace *)ns.object)->find = ((Namespace *)script.object)->find;
  Map *from = &((Namespace *)script.object)->values;
  for (int i = 0; i < from->len; i++)
    if (from->at[i].key) namespace_set(ns, from->at[i].key, *(Value *)from->at[i].value);
  namespace_set(ns, "transform", transform_namespace());
  return ns;
}

Value tvm_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = value_namespace("tvm");
  namespace_add_builtins(ns, tvm_builtins, sizeof tvm_builtins / sizeof *tvm_builtins);
  Value ir = value_namespace("tvm.ir");
  namespace_add_builtins(ir, ir_builtins, IR_BUILTINS);
  namespace_add_builtins(ns, ir_builtins, IR_BUILTINS);
  namespace_set(ir, "transform", transform_namespace());
  namespace_set(ir, "IRModule", value_find_attr(ns, str_intern("IRModule"), (Span){0}));
  namespace_set(ns, "ir", ir);
  namespace_set(ns, "tir", library_namespace("T", tensor_namespace()));
  namespace_set(ns, "relax", library_namespace("R", graph_namespace()));
  namespace_set(ns, "te", te_namespace());
  namespace_set(ns, "transform", transform_namespace());
  namespace_set(ns, "script", namespace_import("tvm.script", (Span){0}));
  return ns;
}
