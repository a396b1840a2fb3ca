/* importlib.c -- the module importlib: import_module, for names that are known when it runs. */
#include "lang/builtin/builtin.h"

/* "..b" of the package "a.c" is "a.b": each dot but the first goes a level up. */
static const char *absolute_name(BuiltinCall *c, const char *name) {
  if (*name != '.') return name;
  if (value_is_none(c->args[1]))
    raise("TypeError", c->span, "the 'package' argument is required to import '%s'", name);
  const char *package = value_as_text(c->args[1], "the package", c->spans[1]);
  size_t n = strlen(package);
  for (; name[1] == '.'; name++) {
    while (n && package[n - 1] != '.') n--;
    if (!n)
      raise("ImportError", c->span, "the relative import goes beyond the package '%s'", package);
    n--;
  }
  return name[1] ? str_format("%.*s%s", (int)n, package, name) : str_copy_n(package, n);
}

static Value import_module(BuiltinCall *c) {
  const char *name = value_as_text(c->args[0], "the name of a module", c->spans[0]);
  if (!*name) raise("ValueError", c->spans[0], "the name of a module is empty");
  Env *env = c->env ? c->env : env_builtins();
  return module_import(env, str_intern(absolute_name(c, name)), c->span);
}

static const Builtin row = {"import_module", "name, package=None", import_module,
                            "the module of that name, as an import statement finds it"};

Value importlib_load(void) {
  Value ns = value_namespace("importlib");
  namespace_add_builtins(ns, &row, 1);
  return ns;
}
