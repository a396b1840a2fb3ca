/* define.c -- the modules that a file defines, without running the rest of the script.
 *
 * Imports, functions, classes and assignments of plain values are evaluated; calls for effect, loops and the like are
 * not. So `tvms check`, `opt` and `build` read the same file that `tvms FILE` runs. */
#include "lang/dialect/packed.h"
#include "lang/tool/tool.h"
#include <string.h>

static void find_call(void *found, Ast *node) {
  if (node->kind == AST_KIND_Call) *(bool *)found = true;
  else ast_each_child(node, find_call, found);
}

static bool has_call(Ast *node) {
  bool found = false;
  find_call(&found, node);
  return found;
}

static bool is_definition(Ast *s) {
  switch (s->kind) {
  case AST_KIND_Import: case AST_KIND_ImportFrom: case AST_KIND_Def: case AST_KIND_Class: return true;
  case AST_KIND_Assign:
  case AST_KIND_AnnAssign: return !has_call(s);
  default: return false;
  }
}

typedef struct Definition {
  Env *env;
  Ast *statement;
} Definition;

static void run_definition(void *context) {
  Definition *d = context;
  AstVec one = {.at = &d->statement, .len = 1};
  exec_block(d->env, &one);
}

/* A fault of one definition does not hide those of the next. A name that a statement left out would have defined is no
 * fault here: the script as a whole may be right. */
static void define(Env *env, Ast *s) {
  Definition d = {env, s};
  Error *e = protect(run_definition, &d);
  if (!e) return;
  bool plain = s->kind == AST_KIND_Assign || s->kind == AST_KIND_AnnAssign;
  if (plain && str_same(e->kind, "NameError")) return;
  report_statement_error(e);
}

Session *session_definitions(const Source *source, const char *path) {
  Session *s = session_new(path);
  AstModule *tree = parse_module(source);
  for each (Ast *, statement, &tree->body)
    if (is_definition(*statement)) define(s->globals, *statement);
  return s;
}

/* ---- modules among the globals ---- */

static bool is_function(Value v) { return value_is_node(v, NK_PrimFunc) || value_is_node(v, NK_Function); }

NamedModuleVec session_modules(Session *s) {
  NamedModuleVec out = {0};
  Map *names = &s->globals->names;
  for (int i = 0; i < names->len; i++) {
    if (!names->at[i].key) continue;
    Value v = *(Value *)names->at[i].value;
    NamedModule m = {names->at[i].key, NULL};
    if (value_is_node(v, NK_IRModule)) m.module = v.node;
    else if (is_function(v)) m.module = to_module(v, v.node->span);
    if (m.module) vec_push(&out, m);
  }
  return out;
}

Session *tool_definitions(const char *path) {
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
  if (!all.len) diag_error((Span){0}, "%s: %s defines no module and no function of IR", command, path);
  else if (name) diag_error((Span){0}, "%s: %s has no module '%s'; it has: %s", command, path, name, str_text(&names));
  else diag_error((Span){0}, "%s: %s has several modules; choose one by --module: %s", command, path, str_text(&names));
  return NULL;
}
