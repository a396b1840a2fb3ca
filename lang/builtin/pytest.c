/* pytest.c -- what the modules pytest and tvm.testing (stdlib/module/) ask of the program: names of
 * parameters, attributes of classes, patterns, and tests in a process of their own. */
#include <spawn.h> /* first, and the next: value.h has a macro of the name `raise` */
#include <sys/wait.h>
#include "lang/builtin/builtin.h"
#include "target/target.h"
#include <regex.h>
#include <unistd.h>

extern char **environ;

/* Names of the plain parameters without a default: what a test or fixture asks for. */
static Value pytest_parameters(BuiltinCall *c) {
  Value f = c->args[0];
  bool bound = f.type == &type_bound_method;
  if (bound) f = ((MethodObject *)f.object)->function;
  ValueVec names = {0};
  if (f.type != &type_function) return value_list(names);
  Ast *def = ((FunctionObject *)f.object)->def;
  const AstVec *params =
      def->kind == AST_KIND_Lambda ? &AST_AS(Lambda, def)->params : &AST_AS(Def, def)->params;
  for each (Ast *, p, params) {
    AstParam *a = AST_AS(Param, *p);
    bool plain = a->kind == PARAM_PLAIN || a->kind == PARAM_KEYWORD_ONLY;
    if (plain && a->name && !a->value && !(bound && !names.len && p == params->at))
      vec_push(&names, value_str(a->name));
  }
  return value_list(names);
}

/* A class's attributes as they were defined, those of its bases first; None for what is no class.
 */
static void add_attributes(const ClassObject *class, Value dict, Span span) {
  for (int i = class->line.len; i-- > 0;)
    for each (NameEntry, e, &class->line.at[i]->attrs)
      if (e->name) value_dict_set(dict, value_str(e->name), e->value, span);
}

static Value pytest_attributes(BuiltinCall *c) {
  if (c->args[0].type != &type_class) return value_none();
  Value dict = value_dict();
  add_attributes(c->args[0].object, dict, c->span);
  return dict;
}

static Value pytest_is_exception(BuiltinCall *c) {
  return value_bool(c->args[0].type == &type_class &&
                    ((ClassObject *)c->args[0].object)->is_exception);
}

/* Python's patterns as those of POSIX: \d is a class, groups all capture, nothing is lazy. */
static const char *posix_pattern(const char *text) {
  Str out = {0};
  for (; *text; text++) {
    if (text[0] == '\\' && text[1] == 'd') str_add(&out, "[0-9]"), text++;
    else if (text[0] == '\\' && text[1] == 'n') str_add_char(&out, '\n'), text++;
    else if (text[0] == '\\' && text[1]) str_add_n(&out, text, 2), text++;
    else if (strncmp(text, "(?:", 3) == 0) str_add_char(&out, '('), text += 2;
    else if (text[0] == '?' && out.len && strchr("*+?", out.at[out.len - 1])) continue;
    else str_add_char(&out, *text);
  }
  return str_text(&out);
}

static Value pytest_search(BuiltinCall *c) {
  regex_t pattern;
  const char *text = value_as_text(c->args[0], "the pattern", c->spans[0]);
  if (regcomp(&pattern, posix_pattern(text), REG_EXTENDED | REG_NOSUB))
    raise("ValueError", c->spans[0], "'%s' is no pattern", text);
  bool found = regexec(&pattern, value_to_str(c->args[1]), 0, NULL, 0) == 0;
  regfree(&pattern);
  return value_bool(found);
}

static Value pytest_find_module(BuiltinCall *c) {
  const char *name = value_as_text(c->args[0], "the name of a module", c->spans[0]);
  return namespace_is_registered(name) ? namespace_import(name, c->span) : value_none();
}

static Value pytest_has_backend(BuiltinCall *c) {
  return value_bool(backend_find(value_as_text(c->args[0], "the name of a back end", c->span)));
}

/* A def that is read as if the decorator stood above it, under the name that is given. */
static Value pytest_decorate(BuiltinCall *c) {
  if (c->args[0].type != &type_tree_decorator || c->args[1].type != &type_function)
    raise("TypeError", c->span, "expected a decorator and a function");
  const FunctionObject *f = c->args[1].object;
  AstDef def = *AST_AS(Def, f->def);
  def.name = str_intern(value_as_text(c->args[2], "the name", c->spans[2]));
  CallArgs none = {.span = c->span, .env = f->closure};
  return ((const TreeDecorator *)c->args[0].object)
      ->decorate(f->closure, gc_copy(&def, sizeof def), &none);
}

/* `tvms test FILE...`, by default of the script itself; its exit status. */
static Value pytest_run_files(BuiltinCall *c) {
  ValueVec files = value_to_vec(c->args[0], c->spans[0]);
  if (!files.len) {
    Value argv = value_get_attr(namespace_import("sys", c->span), str_intern("argv"), c->span);
    if (value_items(argv)->len) vec_push(&files, value_items(argv)->at[0]);
  }
  char **argv = gc_alloc(sizeof *argv * (size_t)(files.len + 3));
  int n = 0, status;
  argv[n++] = "tvms";
  argv[n++] = "test";
  for each (Value, f, &files)
    argv[n++] = (char *)(uintptr_t)value_as_text(*f, "the name of a file", c->span);
  pid_t child;
  fflush(stdout);
  int failed = posix_spawn(&child, "/proc/self/exe", NULL, NULL, argv, environ);
  if (failed) raise("OSError", c->span, "cannot run the tests: %s", strerror(failed));
  while (waitpid(child, &status, 0) < 0) {}
  return value_int(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

Value pytest_load(void) {
  static const Builtin rows[] = {
      {"parameters", "function", pytest_parameters, "names of the parameters without a default"},
      {"attributes", "cls", pytest_attributes,
       "a dict of a class's attributes; None if it is none"},
      {"is_exception", "x", pytest_is_exception, "is it a class of exceptions?"},
      {"search", "pattern, text", pytest_search, "is the pattern found in the text?"},
      {"find_module", "name", pytest_find_module, "a built-in module, or None"},
      {"has_backend", "name", pytest_has_backend, "is there such a back end?"},
      {"decorate", "decorator, function, name", pytest_decorate, "the def, decorated"},
      {"run_files", "files", pytest_run_files, "runs `tvms test` on files; its status"},
  };
  Value ns = value_namespace("_pytest");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  return ns;
}
