/* sys.c -- the module sys. */
#include "lang/builtin/builtin.h"
#include "lang/builtin/file.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

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

static Value sys_exc_info(BuiltinCall *c) {
  (void)c;
  if (!handling) return value_tuple_of(3, value_none(), value_none(), value_none());
  Value e = exception_of(handling);
  return value_tuple_of(3, value_type_of(e), e, value_none());
}

static Value frame(Span span, const char *what) {
  Location at = source_locate(span.lo);
  return value_tuple_of(3, value_str(at.source ? at.source->name : "?"), value_int(at.line),
                        value_str(what));
}

/* Where an exception was raised and the calls it passed through, innermost first. */
static Value sys_frames(BuiltinCall *c) {
  ValueVec out = {0};
  const InstanceObject *o = c->args[0].type == &type_instance ? c->args[0].object : NULL;
  const Error *e = o ? o->raised : NULL;
  if (e) vec_push(&out, frame(e->span, "raised here"));
  for (int i = 0; e && i < e->trace_len; i++)
    vec_push(&out, frame(e->trace[i].span, e->trace[i].what));
  return value_list(out);
}

static const Builtin rows[] = {
    {"exc_info", "", sys_exc_info, "type and value of the exception that is being handled"},
    {"_frames", "exception, /", sys_frames, "places of an exception, innermost first"},
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

/* ---- where modules are looked for ---- */

static const char *home = "."; /* of the script that is run */

static Value first_path(void) {
  ValueVec folders = {0};
  vec_push(&folders, value_str(home));
  for (const char *at = getenv("TVMS_PATH"); at && *at;) {
    const char *end = strchrnul(at, ':');
    if (end > at) vec_push(&folders, value_str_n(at, (size_t)(end - at)));
    at = *end ? end + 1 : end;
  }
  return value_list(folders);
}

void sys_set_home(const char *folder) {
  home = folder;
  if (sys_module.type) namespace_set(sys_module, "path", first_path());
}

Value sys_path(void) {
  return value_find_attr(namespace_import("sys", (Span){0}), INTERNED("path"), (Span){0});
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
  namespace_set(ns, "path", first_path());
  namespace_set(ns, "executable", value_str("tvms"));
  namespace_set(ns, "byteorder", value_str("little"));
  namespace_set(ns, "stdin", value_file(stdin, "<stdin>", true, false));
  standard_output = value_file(stdout, "<stdout>", false, true);
  namespace_set(ns, "stdout", standard_output);
  namespace_set(ns, "stderr", value_file(stderr, "<stderr>", false, true));
  return ns;
}
