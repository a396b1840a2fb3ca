/* sys.c -- the module sys. */
#include "lang/builtin/builtin.h"
#include "lang/builtin/file.h"
#include <float.h>

static int arg_count;
static char **arg_values;

void sys_set_args(int n, char **args) {
  arg_count = n;
  arg_values = args;
}

static Value sys_exit(BuiltinCall *c) {
  exception_raise(exception_new("SystemExit", value_is_none(c->args[0]) ? 0 : 1, c->args), c->span);
}

static Value sys_getrecursionlimit(BuiltinCall *c) { return (void)c, value_int(1000); }
/* The limit is the size of the stack. */
static Value sys_setrecursionlimit(BuiltinCall *c) { return (void)c, value_none(); }

static const Builtin rows[] = {
    {"exit", "status=None, /", sys_exit, "ends the program: 0, a number, or a text to be shown"},
    {"getrecursionlimit", "", sys_getrecursionlimit, "how deep calls may always nest"},
    {"setrecursionlimit", "limit, /", sys_setrecursionlimit, "accepted; the stack is the limit"},
};

static Value sys_module, standard_output;

Value sys_stdout(void) {
  Value *out = sys_module.type
                   ? names_get(&((Namespace *)sys_module.object)->values, INTERNED("stdout"))
                   : NULL;
  return !out || out->object == standard_output.object ? value_absent() : *out;
}

Value sys_load(void) {
  Value ns = sys_module = value_namespace("sys");
  ValueVec args = {0};
  for (int i = 0; i < arg_count; i++) {
    Value v = value_str(arg_values[i]);
    vec_push(&args, v);
  }
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  namespace_set(ns, "argv", value_list(args));
  namespace_set(ns, "maxsize", value_int(INT64_MAX));
  namespace_set(ns, "platform", value_str("linux"));
  namespace_set(ns, "version_info", value_tuple_of(3, value_int(3), value_int(11), value_int(0)));
  namespace_set(ns, "version", value_str("3.11 (the language of tvms)"));
  namespace_set(ns, "path", value_list((ValueVec){0}));
  namespace_set(ns, "executable", value_str("tvms"));
  namespace_set(ns, "byteorder", value_str("little"));
  namespace_set(ns, "stdin", value_file(stdin, "<stdin>", true, false));
  standard_output = value_file(stdout, "<stdout>", false, true);
  namespace_set(ns, "stdout", standard_output);
  namespace_set(ns, "stderr", value_file(stderr, "<stderr>", false, true));
  return ns;
}
