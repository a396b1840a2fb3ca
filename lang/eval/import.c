/* import.c -- import of namespaces and of .tvms files.
 *
 * A registered namespace comes first. A file is looked for beside the importing file (in the
 * current folder for the REPL), then in the folders of sys.path: that of the script that is run,
 * and those of $TVMS_PATH, separated by colons. `a.b` is the file a/b.tvms; a folder is a module
 * too, whose text is __init__.tvms if there is one. A file may end in .py as well. Each is run
 * once. */
#include "lang/builtin/builtin.h"
#include "lang/eval/eval_impl.h"
#include "lang/lang.h"
#include <stdlib.h>
#include <unistd.h>

typedef struct FileModule {
  Namespace ns;
  Env *env;
  bool running;
  bool is_library; /* its text is carried by the program */
} FileModule;

static Map modules; /* interned path to FileModule * */

/* A module below this one comes before a module of that name that it uses itself. */
static Value file_module_find(Namespace *ns, const char *name) {
  Value *x = names_get(&((FileModule *)(void *)ns)->env->names, name);
  if (x && x->type == &type_namespace) {
    const char *below = str_intern(str_format("%s.%s", ns->name, name));
    if (namespace_is_registered(below)) return namespace_import(below, (Span){0});
  }
  return x ? *x : value_absent();
}

/* T, R, tvm, ... are there in every module: they are no module's to give. */
static bool is_given_to_all(const char *name, Value v) {
  static Env *fresh;
  if (!fresh) fresh = session_of_module("", NULL)->globals;
  Value *given = names_get(&fresh->names, name);
  return given && value_same(*given, v);
}

/* Of what a module of the library uses: other modules, and classes of another package. */
static bool is_foreign(const char *module, Value v) {
  if (v.type == &type_namespace) return !str_begins(((Namespace *)v.object)->name, module);
  const char *home = v.type == &type_class ? ((ClassObject *)v.object)->module : NULL;
  if (!home || str_same(home, "builtins")) return false;
  size_t root = strcspn(module, ".");
  return strcspn(home, ".") != root || memcmp(home, module, root) != 0;
}

/* A module of the library keeps to itself how it is made: its names with _, and modules that it
 * imports. A file of the user's has all of its names, as in Python. */
static void file_module_names(Namespace *ns, StrVec *out) {
  FileModule *m = (FileModule *)(void *)ns;
  StrVec all = {0};
  names_list(&m->env->names, &all);
  for each (const char *, name, &all) {
    Value v = *names_get(&m->env->names, *name);
    if (is_given_to_all(*name, v)) continue;
    if (!m->is_library || (!name_is_private(*name) && !is_foreign(ns->name, v)))
      vec_push(out, *name);
  }
}

static void file_module_set(Namespace *ns, const char *name, Value x) {
  env_set(((FileModule *)(void *)ns)->env, name, x);
}

#define HALF_READ "it is still being read: the modules import each other"

static bool is_half_read(Value v) {
  return v.type == &type_namespace && ((Namespace *)v.object)->find == file_module_find &&
         ((FileModule *)v.object)->running;
}

static const char *file_module_elsewhere(const Namespace *ns, const char *name) {
  (void)name;
  return ((const FileModule *)(const void *)ns)->running ? HALF_READ : NULL;
}

typedef struct FileRun {
  Env *env;
  AstModule *tree;
} FileRun;

static void run_tree(void *context) {
  FileRun *r = context;
  exec_block(r->env, &r->tree->body);
}

/* source NULL: the file at `path`, read now. */
static void run_file(FileModule *m, const char *path, const Source *source, const char *key,
                     Span span) {
  DiagVec *old = diag_capture();
  if (!source) source = source_read(path);
  AstModule *tree = source ? parse_module(source) : NULL;
  bool bad = diag_error_count() > 0;
  diag_append(diag_restore(old));
  if (bad) {
    map_remove(&modules, key);
    raise("ImportError", span, "the file %s has errors", path);
  }
  FileRun run = {m->env, tree};
  m->running = true;
  Error *e = eval_protect(run_tree, &run);
  m->running = false;
  if (!e) return;
  map_remove(&modules, key); /* a later import tries again */
  error_raise(e);
}

/* One file is one module, whatever way leads to it. */
static const char *key_of(const char *path) {
  char *real = realpath(path, NULL);
  const char *key = str_intern(real ? real : path);
  free(real);
  return key;
}

static Value load_once(const char *name, const char *path, const Source *source, Span span) {
  const char *key = source ? str_intern(path) : key_of(path);
  path = str_intern(path);
  FileModule *m = map_get(&modules, key);
  if (m) return value_of(&type_namespace, m); /* as far as it has been read */
  m = NEW(FileModule,
          .ns = {.name = name,
                 .find = file_module_find,
                 .names = file_module_names,
                 .set = file_module_set,
                 .elsewhere = file_module_elsewhere},
          .env = session_of_module(name, path)->globals, .is_library = source != NULL);
  map_set(&modules, key, m);
  run_file(m, path, source, key, span);
  return value_of(&type_namespace, m);
}

Value module_load_file(const char *name, const char *path, Span span) {
  if (path[strlen(path) - 1] == '/') return value_namespace(name);
  return load_once(name, path, NULL, span);
}

Value module_load_source(const char *name, const Source *source) {
  return load_once(name, source->name, source, (Span){0});
}

/* ---- finding files ---- */

const char *path_folder(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  return slash ? str_copy_n(path, (size_t)(slash - path)) : ".";
}

/* "folder/a/b/__init__.tvms", "folder/a/b.tvms", the same in .py, or "folder/a/b/" for a folder
 * without the first; NULL if there is none of them. */
static const char *file_in(const char *folder, const char *dotted) {
  static const char *const forms[] = {"/__init__.tvms", ".tvms", "/__init__.py", ".py"};
  char *rest = (char *)(uintptr_t)str_copy_n(dotted, strlen(dotted));
  for (char *p = rest; *p; p++)
    if (*p == '.') *p = '/';
  const char *prefix = strcmp(folder, ".") == 0 ? "" : str_format("%s/", folder);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const char *path = str_format("%s%s%s", prefix, rest, forms[i]);
    if (access(path, R_OK) == 0) return path;
  }
  const char *folder_path = str_format("%s%s/", prefix, rest);
  return access(folder_path, X_OK) == 0 ? folder_path : NULL;
}

static const char *find_file(Env *env, const char *dotted, int level) {
  const char *folder = path_folder(env_module(env)->path);
  for (int i = 1; i < level; i++) folder = str_format("%s/..", folder);
  const char *path = file_in(folder, dotted);
  if (path || level) return path;
  Value folders = sys_path();
  ValueVec *listed = folders.type == &type_list ? value_items(folders) : NULL;
  for (int i = 0; listed && !path && i < listed->len; i++) {
    Value v = listed->at[i];
    if (v.type == &type_str) path = file_in(*value_text(v) ? value_text(v) : ".", dotted);
  }
  return path;
}

static bool is_part(Value v) {
  return v.type == &type_namespace && ((Namespace *)v.object)->is_part;
}

/* a.b.c as attributes of the registered module a; absent if there are none such. */
static Value import_attributes(const char *dotted, Span span) {
  const char *end = strchrnul(dotted, '.'), *first = str_intern_n(dotted, (size_t)(end - dotted));
  if (!*end || !namespace_is_registered(first)) return value_absent();
  Value v = namespace_import(first, span);
  bool part = is_part(v);
  while (*end && v.type) {
    const char *name = end + 1;
    end = strchrnul(name, '.');
    v = value_find_attr(v, str_intern_n(name, (size_t)(end - name)), span);
  }
  return !v.type && part ? value_missing(dotted) : v;
}

static Value import_module(Env *env, const char *dotted, int level, Span span) {
  if (!level && namespace_is_registered(dotted)) return namespace_import(dotted, span);
  const char *path = find_file(env, dotted, level);
  if (path) return module_load_file(dotted, path, span);
  Value v = level ? value_absent() : import_attributes(dotted, span);
  return v.type ? v : namespace_import(dotted, span); /* raises, with a near name */
}

Value module_import(Env *env, const char *dotted, Span span) {
  return import_module(env, dotted, 0, span);
}

/* Makes `child` an attribute of the module it is inside of: for `import a.b`. */
static void attach(Value parent, const char *name, Value child) {
  Namespace *ns = parent.object;
  if (ns->find == file_module_find) env_set(((FileModule *)(void *)ns)->env, name, child);
  else if (!value_find_attr(parent, name, (Span){0}).type) namespace_set(parent, name, child);
}

/* `import a.b.c` binds a, with b and c reachable from it. */
static Value import_chain(Env *env, const char *dotted, Span span) {
  Value first = value_absent(), parent = first;
  for (const char *end = dotted;; end++) {
    end = strchrnul(end, '.');
    const char *name = str_intern_n(dotted, (size_t)(end - dotted));
    const char *last = strrchr(name, '.') ? str_intern(strrchr(name, '.') + 1) : name;
    bool inner = parent.type == &type_namespace;
    Value v = value_absent();
    if (!*end || namespace_is_registered(name) || find_file(env, name, 0) || is_part(parent))
      v = import_module(env, name, 0, span);
    else v = value_namespace(name);
    if (inner) attach(parent, last, v);
    else first = v;
    parent = v;
    if (!*end) return first;
  }
}

void exec_import(Env *env, Ast *s) {
  for each (Ast *, n, &AST_AS(Import, s)->names) {
    AstAlias *a = AST_AS(Alias, *n);
    const char *dot = strchr(a->name, '.');
    if (a->as || !dot) {
      env_assign(env, a->as ? a->as : a->name, import_module(env, a->name, 0, a->ast.span));
      continue;
    }
    env_assign(env, str_intern_n(a->name, (size_t)(dot - a->name)),
               import_chain(env, a->name, a->ast.span));
  }
}

static void import_all(Env *env, Value module, Span span) {
  StrVec names = {0};
  value_attr_names(module, &names);
  Value listed = value_find_attr(module, str_intern("__all__"), span);
  if (listed.type) {
    ValueVec chosen = value_to_vec(listed, span);
    names.len = 0;
    for each (Value, v, &chosen)
      vec_push(&names, str_intern(value_as_text(*v, "an item of __all__", span)));
  }
  for each (const char *, name, &names) {
    if (!listed.type && **name == '_') continue;
    Value v = value_get_attr(module, str_intern(*name), span);
    if (!listed.type && is_given_to_all(str_intern(*name), v)) continue;
    env_assign(env, str_intern(*name), v);
  }
}

/* What `from . import x` looks into: the package of this file, though it may still be read; absent
 * if the folder is none. */
static Value package_of(Env *env, int level, Span span) {
  const char *folder = path_folder(env_module(env)->path);
  for (int i = 1; i < level; i++) folder = str_format("%s/..", folder);
  const char *path = str_format("%s/__init__.tvms", folder);
  if (access(path, R_OK) != 0) path = str_format("%s/__init__.py", folder);
  if (access(path, R_OK) != 0) return value_absent();
  FileModule *m = map_get(&modules, key_of(path));
  return m ? value_of(&type_namespace, m) : module_load_file(folder, path, span);
}

static Value import_name(Env *env, Value module, const char *from, int level, AstAlias *a) {
  bool missing = module.type == &type_missing;
  Value v =
      module.type && !missing ? value_find_attr(module, a->name, a->ast.span) : value_absent();
  if (v.type) return v;
  const char *inner = from ? str_format("%s.%s", from, a->name) : a->name;
  const char *path = find_file(env, inner, level);
  if (path) return module_load_file(inner, path, a->ast.span);
  if (is_half_read(module))
    raise("ImportError", a->ast.span, "cannot import name '%s' from '%s': " HALF_READ, a->name,
          from ? from : ".");
  if (is_part(module) || missing) return value_missing(inner);
  StrVec names = {0};
  if (module.type) value_attr_names(module, &names);
  const char *near = str_near(a->name, names.at, names.len);
  raise("ImportError", a->ast.span, "cannot import name '%s' from '%s'%s", a->name,
        from ? from : ".", near ? str_format(" (did you mean '%s'?)", near) : "");
}

void exec_import_from(Env *env, Ast *s) {
  AstImportFrom *f = AST_AS(ImportFrom, s);
  if (f->module && strcmp(f->module, "__future__") == 0) return;
  Value module = f->module ? import_module(env, f->module, f->level, s->span)
                           : package_of(env, f->level, s->span);
  for each (Ast *, n, &f->names) {
    AstAlias *a = AST_AS(Alias, *n);
    if (strcmp(a->name, "*") == 0) {
      if (!module.type)
        raise("ImportError", s->span, "the folder has no __init__.tvms or __init__.py");
      if (env->plan) raise("SyntaxError", s->span, "import * only allowed at module level");
      import_all(env, module, s->span);
    } else {
      env_assign(env, a->as ? a->as : a->name, import_name(env, module, f->module, f->level, a));
    }
  }
}
