/* definitions.c -- what a text defines, without running the rest of the script.
 *
 * Imports, functions, classes and assignments of plain values are evaluated, and what decorated
 * functions and classes depend on (needed.h); other calls for effect, loops and the like are not.
 * So `tvms check`, `opt` and `build` read the same file that `tvms FILE` runs, and a script with a
 * syntax error still tells what is wrong in its modules. */
#include "lang/dialect/dialect.h"
#include "lang/eval/needed.h"
#include "lang/lang.h"
#include "lang/value/object.h"

static void find_call(void *found, Ast *node) {
  if (node->kind == AST_KIND_Call) *(bool *)found = true;
  else ast_each_child(node, find_call, found);
}

static bool has_call(Ast *node) {
  bool found = false;
  find_call(&found, node);
  return found;
}

/* Calls that define something and do nothing else: n = TypeVar("n"), metadata =
 * tvm.ir.load_json(...). */
static bool is_defining_call(Ast *s) {
  Ast *value = s->kind == AST_KIND_Assign ? AST_AS(Assign, s)->value : NULL;
  if (!value || value->kind != AST_KIND_Call) return false;
  Ast *func = AST_AS(Call, value)->func;
  const char *name = func->kind == AST_KIND_Name        ? AST_AS(Name, func)->name
                     : func->kind == AST_KIND_Attribute ? AST_AS(Attribute, func)->name
                                                        : NULL;
  return str_same(name, "TypeVar") || str_same(name, "load_json");
}

static bool is_definition(Ast *s) {
  switch (s->kind) {
  case AST_KIND_Import:
  case AST_KIND_ImportFrom:
  case AST_KIND_Def:
  case AST_KIND_Class: return true;
  case AST_KIND_Assign:
  case AST_KIND_AnnAssign: return !has_call(s) || is_defining_call(s);
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

/* A fault of one definition does not hide those of the next. A name that a statement left out would
 * have defined is no fault here: the script as a whole may be right. */
static void define(Env *env, Ast *s) {
  Definition d = {env, s};
  Error *e = eval_protect(run_definition, &d);
  if (!e) return;
  bool plain = s->kind == AST_KIND_Assign || s->kind == AST_KIND_AnnAssign;
  if (plain && str_same(e->kind, "NameError")) return;
  report_statement_error(e);
}

void session_define(Session *s, const AstModule *tree) {
  int n = tree->body.len;
  bool *wanted = NEW_ARRAY(bool, n + 1);
  for (int i = 0; i < n; i++) wanted[i] = is_definition(tree->body.at[i]);
  needed_statements(&tree->body, wanted);
  for (int i = 0; i < n; i++)
    if (wanted[i]) define(s->globals, tree->body.at[i]);
}
