/* define.c -- the modules that a file defines, for the subcommands that work on them. */
#include "lang/dialect/packed.h"
#include "lang/eval/warn.h"
#include "lang/tool/tool.h"
#include <string.h>

Session *session_definitions(const Source *source, const char *path) {
  Session *s = session_new(path);
  int before = diag_error_count();
  AstModule *tree = parse_module(source);
  if (diag_error_count() == before) warn_about(tree);
  session_define(s, tree);
  return s;
}

/* ---- modules among the globals ---- */

static bool is_function(Value v) {
  return value_is_node(v, NK_PrimFunc) || value_is_node(v, NK_Function);
}

/* Is it a function of a module that has a name of its own: f = Mod["f"]? */
static bool is_part(Session *s, Value v) {
  for each (NameEntry, e, &s->globals->names) {
    if (!e->name || !is_function(v) || !value_is_node(e->value, NK_IRModule)) continue;
    for each (Node *, f, &AS(IRModule, e->value.node)->functions)
      if (*f == v.node) return true;
  }
  return false;
}

NamedModuleVec session_modules(Session *s) {
  NamedModuleVec out = {0};
  for each (NameEntry, e, &s->globals->names) {
    if (!e->name) continue;
    Value v = e->value;
    NamedModule m = {e->name, NULL};
    if (jit_generic(v)) v = value_node(jit_generic(v));
    if (value_is_node(v, NK_IRModule)) m.module = v.node;
    else if (is_function(v)) m.module = to_module(v, v.node->span);
    if (m.module && !is_part(s, v)) vec_push(&out, m);
  }
  return out;
}

Session *tool_definitions(const char *path, const ModelOptions *model) {
  if (is_onnx(path)) return onnx_definitions(path, model);
  if (model->dims || model->values) {
    diag_error((Span){0}, "%s: --dims and --values are for ONNX models", path);
    return NULL;
  }
  const Source *source = source_read(path);
  return source ? session_definitions(source, path) : NULL;
}

/* The module of the file that is meant: the only one, or the one named. */
Node *tool_one_module(const char *command, Session *s, const char *name, const char *path) {
  NamedModuleVec all = session_modules(s);
  for each (NamedModule, m, &all)
    if (!name ? all.len == 1 : str_same(m->name, name)) return m->module;
  Str names = {0};
  for each (NamedModule, m, &all) str_printf(&names, "%s%s", names.len ? ", " : "", m->name);
  if (!all.len)
    diag_error((Span){0}, "%s: %s defines no module and no function of IR", command, path);
  else if (name)
    diag_error((Span){0}, "%s: %s has no module '%s'; it has: %s", command, path, name,
               str_text(&names));
  else
    diag_error((Span){0}, "%s: %s has several modules; choose one by --module: %s", command, path,
               str_text(&names));
  return NULL;
}
