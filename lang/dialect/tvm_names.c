/* tvm_names.c -- the namespace tvm: building and running modules, the registry of packed functions,
 * comparing, and the libraries tvm.ir, tvm.tir and tvm.relax. */
#include "lang/dialect/packed.h"
#include "lang/builtin/tensor.h"
#include "lang/dialect/build_target.h"
#include "target/extern_library.h"
#include "lang/dialect/node_class.h"
#include "lang/dialect/te.h"
#include "lower/lower.h"
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

/* Lowered and compiled for this process. */
static Value build(BuiltinCall *call) {
  Node *m = to_module(ARG(0), SPAN(0));
  Value wanted = ARG(1);
  if (wanted.type == &type_dict) /* {"kind": "llvm", "mcpu": ...} */
    wanted = value_call_with(library_attr("tvm.target", "Target"), 1, &wanted, SPAN(1));
  const char *text = value_is_none(wanted) ? NULL : value_to_str(wanted);
  const Target *target = build_target(text, SPAN(1));
  return value_compiled_module(build_module(m, target), m, target);
}

/* Of what is being built: a variable or buffer gets the name that it has not yet; one of a graph,
 * another name. */
static Value name_value(BuiltinCall *call) {
  const char *name = value_as_text(ARG(1), "a name", SPAN(1));
  name_fresh(ARG(0), name);
  if (value_is_node(ARG(0), NK_RelaxVar)) AS(RelaxVar, ARG(0).node)->name = str_intern(name);
  return ARG(0);
}

static Value give_out(BuiltinCall *call) {
  if (!value_is_node(ARG(0), NK_RelaxVar))
    raise("TypeError", SPAN(0), "expected a variable of the block, found %s",
          value_type_name(ARG(0)));
  AS(RelaxVar, ARG(0).node)->is_dataflow = false;
  return ARG(0);
}

/* What stdlib/module/tvm.tvms and tvm/script/ir_builder.tvms ask for. */
Value build_namespace(void) {
  static const Builtin rows[] = {
      {"build", "mod, target=None", build, "compiles a module for this process"},
      {"name", "value, name", name_value, "names a variable or buffer that is being built"},
      {"give_out", "var", give_out, "the variable is seen after its dataflow block"}};
  Value ns = value_namespace("_build");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  namespace_set(ns, "Module", value_type(&type_built_module));
  namespace_set(ns, "PackedFunc", value_type(&type_packed));
  return ns;
}

TvmsModule *build_module(Node *m, const Target *target) {
  const Backend *backend = backend_find(target->kind);
  REQUIRE(backend, "target kind %s has a back end", target->kind);
  if (backend->prepare) backend->prepare();
  if (!backend->takes_any_stage) m = lower_module(m, target);
  return backend->load(m, target);
}

static Value tvm_load_module(BuiltinCall *call) {
  TvmsModule *m;
  if (tvms_module_load(&m, value_as_text(ARG(0), "the path of a module", SPAN(0))))
    raise("RuntimeError", call->span, "%s", tvms_last_error());
  return value_built_module(m);
}

static Value tvm_load_extern_library(BuiltinCall *call) {
  const char *why = extern_library_load(value_as_text(ARG(0), "the path of a library", SPAN(0)));
  if (why) raise("OSError", call->span, "%s", why);
  return value_none();
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
    Value written = value_dict_get(library_attr("_registry", "functions"), ARG(0));
    if (written.type) return written;
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

/* ---- comparing ---- */

/* A node, or what holds nodes: lists, dicts, numbers, text and tensors as attributes. */
static Node *comparable(Value v, Span span) {
  if (v.type == &type_node) return v.node;
  if (v.type == &type_tensor) return constant_node(v, span);
  if (v.type == &type_list || v.type == &type_tuple) {
    NodeVec items = {0};
    stack_check(span);
    for each (Value, x, value_items(v)) vec_push(&items, comparable(*x, span));
    return MAKE(Array, span, VOID_TYPE, .items = items);
  }
  bool is_plain = value_is_none(v) || value_is_integer(v) || v.type == &type_float ||
                  v.type == &type_str || v.type == &type_dict || is_dtype(v);
  if (!is_plain) raise("TypeError", span, "expected IR to compare, found %s", value_type_name(v));
  return to_attr(v, span);
}

static bool equal_nodes(BuiltinCall *call, Node *sides[2], const char **why) {
  for (int i = 0; i < 2; i++) sides[i] = comparable(ARG(i), SPAN(i));
  return node_equal(sides[0], sides[1], value_truth(ARG(2), SPAN(2)), why);
}
static Value tvm_structural_equal(BuiltinCall *call) {
  Node *sides[2];
  return value_bool(equal_nodes(call, sides, NULL));
}

static Value tvm_assert_structural_equal(BuiltinCall *call) {
  const char *why = NULL;
  Node *sides[2];
  if (!equal_nodes(call, sides, &why))
    raise("ValueError", call->span, "the two differ at %s; left and right:\n%s", why,
          ir_print_diff(sides[0], sides[1]));
  return value_none();
}

static Value tvm_structural_hash(BuiltinCall *call) {
  return value_int((int64_t)(node_hash(comparable(ARG(0), SPAN(0))) >> 1));
}

static Value tvm_verify(BuiltinCall *call) {
  if (ARG(0).type != &type_node)
    raise("TypeError", SPAN(0), "expected IR, found %s", value_type_name(ARG(0)));
  DiagVec *outer = diag_capture();
  bool is_sound = ir_verify(ARG(0).node);
  DiagVec *faults = diag_restore(outer);
  for each (Diag *, d, faults)
    (*d)->severity = DIAG_WARNING; /* the answer tells that there are some */
  diag_append(faults);
  return value_bool(is_sound);
}

static const Builtin tvm_builtins[] = {
    {"register_func", "func_name, f=None, override=False", tvm_register_func,
     "registers a function for call_packed"},
    {"register_global_func", "func_name, f=None, override=False", tvm_register_func,
     "registers a function for call_packed"},
    {"get_global_func", "name, allow_missing=False", tvm_get_global_func, "a registered function"},
    {"list_global_func_names", "", tvm_list_global_func_names, "names of all registered functions"},
    {"load_module", "path", tvm_load_module, "a library made by tvms build"},
    {"load_extern_library", "path", tvm_load_extern_library,
     "opens a shared library whose C functions programs call (T.call_extern)"},
};
static const Builtin ir_builtins[] = {
    {"save_json", "node", tvm_save_json,
     "a node, or lists, tuples and dicts of nodes, numbers and texts, as JSON for load_json"},
    {"load_json", "json_str", tvm_load_json, "what save_json wrote; or metadata of constants"},
    {"structural_equal", "lhs, rhs, map_free_vars=False", tvm_structural_equal,
     "are two pieces of IR equal, but for names?"},
    {"assert_structural_equal", "lhs, rhs, map_free_vars=False", tvm_assert_structural_equal,
     "raises ValueError with the first difference"},
    {"structural_hash", "node, map_free_vars=False", tvm_structural_hash,
     "a hash that equal nodes share"},
    {"verify", "node", tvm_verify, "is the IR well-formed?"},
};
enum { IR_BUILTINS = sizeof ir_builtins / sizeof *ir_builtins };

/* ---- the libraries: tvm.ir, tvm.tir, tvm.relax ---- */

/* A library has its classes of nodes, the names of its script dialect, and what stdlib/module/
 * defines. */
typedef struct Library {
  Namespace ns;
  const char *classes; /* in node_class.def */
  const char *module;  /* of the standard library */
  Value script;        /* T or R; absent for tvm.ir */
} Library;

static Value library_find(Namespace *ns, const char *name) {
  Library *l = (Library *)(void *)ns;
  Value x = node_class_find(l->classes, name);
  if (!x.type) x = library_attr(l->module, name);
  if (!x.type && l->script.type) x = value_find_attr(l->script, str_intern(name), (Span){0});
  return x.type ? x : package_file(l->module, name);
}

static void library_all_names(Namespace *ns, StrVec *out) {
  Library *l = (Library *)(void *)ns;
  node_class_names(l->classes, out);
  library_names(l->module, out);
  if (l->script.type) value_attr_names(l->script, out);
}

static Value library_namespace(const char *classes, Value script) {
  Library *l =
      NEW(Library, .classes = classes, .script = script, .module = str_format("tvm.%s", classes));
  l->ns = (Namespace){
      .name = l->module, .find = library_find, .names = library_all_names, .is_part = true};
  return value_of(&type_namespace, l);
}

static Value ir_library(void) {
  Value ns = library_namespace("ir", value_absent());
  namespace_add_builtins(ns, ir_builtins, IR_BUILTINS);
  namespace_add_builtins(ns, node_visit_names, node_visit_name_count);
  namespace_set(ns, "transform", transform_namespace());
  return ns;
}

static Value tvm_part(const char *name) {
  return value_get_attr(tvm_namespace(), str_intern(name), (Span){0});
}
Value tvm_ir_namespace(void) { return tvm_part("ir"); }
Value tvm_tir_namespace(void) { return tvm_part("tir"); }
Value tvm_relax_namespace(void) { return tvm_part("relax"); }

/* What tvm holds beside its own names: those of tvm.ir, and of the library's module tvm. */
static Value find_in_tvm(Namespace *ns, const char *name) {
  Value *ir = names_get(&ns->values, str_intern("ir"));
  Value x = value_find_attr(*ir, str_intern(name), (Span){0});
  return x.type ? x : library_attr("tvm", name);
}

Value tvm_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = value_namespace("tvm");
  namespace_add_builtins(ns, tvm_builtins, sizeof tvm_builtins / sizeof *tvm_builtins);
  namespace_set(ns, "ir", ir_library());
  Value tir = library_namespace("tir", tensor_namespace());
  namespace_set(ns, "tir", tir);
  namespace_set(ns, "tirx", tir);
  namespace_set(ns, "s_tir", tir);
  Value relax = library_namespace("relax", graph_namespace());
  namespace_set(relax, "op", graph_namespace());
  namespace_set(relax, "transform", transform_namespace());
  namespace_set(tir, "transform", transform_namespace());
  namespace_set_class(tir, "Schedule", &schedule_class);
  Value intrins = value_namespace("tvm.tir.TensorIntrin");
  namespace_add_builtins(intrins, tensor_intrin_builtins, tensor_intrin_builtin_count);
  namespace_set(tir, "TensorIntrin", intrins);
  namespace_set_class(tir, "Trace", &trace_class);
  namespace_set(ns, "relax", relax);
  namespace_set(ns, "te", te_namespace());
  namespace_set(ns, "topi", topi_namespace());
  namespace_set(ns, "transform", transform_namespace());
  namespace_set(ns, "script", namespace_import("tvm.script", (Span){0}));
  ((Namespace *)ns.object)->find = find_in_tvm;
  ((Namespace *)ns.object)->is_part = true;
  return ns;
}
