/* library.c -- modules of the standard library that are written in the language: the files of
 * stdlib/module/, imported by their path: stdlib/module/tvm/testing.tvms is tvm.testing; the
 * schedule rules: stdlib/schedule/cpu.tvms is tvm.dlight.cpu; and the tensor intrinsics:
 * stdlib/intrin/x86.tvms is tvm.tir.tensor_intrin.x86; and what importers are made of:
 * stdlib/import/onnx/nn.tvms is tvm.relax.frontend.onnx.nn; and the patterns of libraries:
 * stdlib/library/dnnl.tvms is tvm.relax.backend.contrib.dnnl; and passes. A file is read when it is
 * first imported. */
#include "lang/dialect/dialect_impl.h"
#include "ir/target.h"
#include "lang/dialect/stdlib.h"
#include "passes/passes.h"
#include "passes/schedule/schedule.h"

#define INTRINSICS        "stdlib/intrin/"
#define LIBRARIES         "stdlib/library/"
#define LIBRARIES_PACKAGE "tvm.relax.backend.contrib."

/* Where modules of a package are; the first row that fits. */
static const struct {
  const char *package, *folder;
} places[] = {
    {"tvm.dlight.", "stdlib/schedule/"},
    {"tvm.tir.dlight.", "stdlib/schedule/"},
    {"tvm.tir.dlight", "stdlib/module/tvm/dlight"}, /* by its name of today, tvm.s_tir.dlight */
    {"tvm.relax.frontend.onnx.", "stdlib/import/onnx/"},
    {LIBRARIES_PACKAGE, LIBRARIES},
    {"tvm.tir.tensor_intrin.", INTRINSICS},
    {"tvm.relax.passes.", "stdlib/pass/"},
    {"tvm.tir.tensor_intrin.", INTRINSICS},
    {"tvm.s_tir.tensor_intrin.", INTRINSICS},
    {"", "stdlib/module/"},
};

static const StdlibFile *find_file(const char *dotted) {
  int row = 0;
  while (!str_begins(dotted, places[row].package)) row++;
  const char *folder = places[row].folder;
  dotted += strlen(places[row].package);
  char *path = (char *)(uintptr_t)str_format("%s%s.tvms", folder, dotted);
  for (char *c = path + strlen(folder); c[strlen(".tvms")]; c++)
    if (*c == '.') *c = '/';
  for (int i = 0; i < stdlib_file_count; i++)
    if (str_same(stdlib_files[i].path, path)) return &stdlib_files[i];
  return NULL;
}

static bool library_has(const char *dotted) { return find_file(dotted) != NULL; }

typedef struct Load {
  const char *dotted;
  Value module;
} Load;

static Map sources; /* StdlibFile to Source, of what was loaded */

bool library_is_loaded(const char *dotted) { return map_has(&sources, find_file(dotted)); }

static void load(void *context) {
  Load *l = context;
  const StdlibFile *f = find_file(l->dotted);
  const Source *source = map_get(&sources, f);
  if (!source) {
    source = source_add(f->path, f->text, (size_t)(f->end - f->text - 1));
    map_set(&sources, f, (void *)(uintptr_t)source);
  }
  l->module = module_load_source(l->dotted, source);
  bool of_tvm = str_same(l->dotted, "tvm") || str_begins(l->dotted, "tvm.");
  ((Namespace *)l->module.object)->is_part = of_tvm;
}

static Value library_load(const char *dotted) {
  Load l = {.dotted = dotted};
  run_outside(load, &l);
  return l.module;
}

/* "tvm.relax.frontend.onnx.nn" for "stdlib/import/onnx/nn.tvms"; NULL if it is no module. */
static const char *module_of(const char *path) {
  for (size_t row = 0; row < sizeof places / sizeof *places; row++) {
    if (!str_begins(path, places[row].folder)) continue;
    const char *file = path + strlen(places[row].folder);
    size_t n = strlen(file) - strlen(".tvms");
    return str_intern(str_format("%s%s", places[row].package, str_copy_n(file, n)));
  }
  return NULL;
}

const char *library_home(const char *name) {
  for (int i = 0; i < stdlib_name_count; i++)
    if (str_same(stdlib_names[i].name, name))
      return module_of(stdlib_files[stdlib_names[i].file].path);
  return NULL;
}

/* Names that begin with _ are the file's own. */
Value library_attr(const char *dotted, const char *name) {
  if (*name == '_' || !library_has(dotted)) return value_absent();
  return value_find_attr(library_load(dotted), str_intern(name), (Span){0});
}

void library_names(const char *dotted, StrVec *out) {
  StrVec names = {0};
  if (library_has(dotted)) value_attr_names(library_load(dotted), &names);
  for each (const char *, n, &names)
    if (**n != '_') vec_push(out, *n);
}

/* All intrinsics are declared when one is asked for that is not. */
static void load_intrinsics(void) {
  for (int i = 0; i < stdlib_file_count; i++) {
    const char *path = stdlib_files[i].path;
    if (!str_begins(path, INTRINSICS)) continue;
    size_t n = strlen(path) - strlen(INTRINSICS) - strlen(".tvms");
    const char *name = str_copy_n(path + strlen(INTRINSICS), n);
    library_load(str_intern(str_format("tvm.tir.tensor_intrin.%s", name)));
  }
}

/* ---- what stdlib/module/tvm/relax/backend/library.tvms asks for ---- */

/* The names of the files of patterns. */
static StrVec pattern_files(void) {
  StrVec names = {0};
  for (int i = 0; i < stdlib_file_count; i++) {
    const char *path = stdlib_files[i].path;
    if (!str_begins(path, LIBRARIES)) continue;
    size_t n = strlen(path) - strlen(LIBRARIES) - strlen(".tvms");
    vec_push(&names, str_copy_n(path + strlen(LIBRARIES), n));
  }
  return names;
}

static Value pattern_file_names(BuiltinCall *call) {
  (void)call;
  ValueVec out = {0};
  StrVec names = pattern_files();
  for each (const char *, n, &names) vec_push(&out, value_str(*n));
  return value_list(out);
}

static void load_patterns(const char *name, Span span) {
  const char *dotted = str_intern(str_format(LIBRARIES_PACKAGE "%s", name));
  if (library_has(dotted)) {
    library_load(dotted);
    return;
  }
  Str all = {0};
  StrVec names = pattern_files();
  for each (const char *, n, &names) str_printf(&all, "%s%s", all.len ? ", " : "", *n);
  const char *near = str_near(name, names.at, names.len);
  raise("ValueError", span, "there is no library '%s'; there are: %s%s%s%s", name, str_text(&all),
        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static Value load_pattern_file(BuiltinCall *call) {
  load_patterns(value_as_text(call->args[0], "the name of a library", call->spans[0]), call->span);
  return value_none();
}

static const Builtin library_builtins[] = {
    {"names", "", pattern_file_names, "of the libraries that patterns are written for"},
    {"load", "name", load_pattern_file, "the patterns of a library"}};

Value pattern_files_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = value_namespace("_library");
  namespace_add_builtins(ns, library_builtins, sizeof library_builtins / sizeof *library_builtins);
  return ns;
}

/* For DispatchLibraries. */
static Node *dispatch(Node *mod, const char *libs, const Target *target) {
  const char *text = "llvm", *times = "", *device = "";
  for (const char *at = libs; *at; at += strspn(at, ",")) {
    size_t n = strcspn(at, ",");
    if (n) load_patterns(str_copy_n(at, n), (Span){0});
    at += n;
  }
  if (target) {
    device = target->device;
    times = target_option(target, "lib-times");
    text = target_text(target_with(target_with(target, "libs", ""), "lib-times", ""));
  }
  Value args[] = {value_node(mod), value_str(libs), value_str(text), value_str(device),
                  value_str(times)};
  Value f = library_attr("tvm.relax.backend.library", "dispatch");
  return value_call_with(f, 5, args, mod->span).node;
}

void library_start(void) {
  libraries_hook = dispatch;
  tensor_intrin_library = load_intrinsics;
  static const NamespaceLibrary library = {library_has, library_load};
  namespace_library = &library;
}
