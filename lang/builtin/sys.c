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

Value sys_load(void) {
  Value ns = value_namespace("sys");
  ValueVec args = {0};
  for (int i = 0; i < arg_count; i++) {
    Value v = value_str(arg_values[i]);
    vec_push(&args, v);
  }
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  namespace_set(ns, "argv", value_list(args));
  namespace_set(ns, "maxsize", value_int(INT64_MAX));
  namespace_set(ns, "platform", value_str("linux"));
  namespace_set(ns, "byteorder", value_str("little"));
  namespace_set(ns, "stdin", value_file(stdin, "<stdin>", true, false));
  namespace_set(ns, "stdout", value_file(stdout, "<stdout>", false, true));
  namespace_set(ns, "stderr", value_file(stderr, "<stderr>", false, true));
  return ns;
}
