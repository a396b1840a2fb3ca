/* undefined.c -- reports of faulty statements; all names of a statement that are not defined, not
 * only the first. */
#include "lang/dialect/dialect_impl.h"

void report_statement_error(const Error *e) {
  if (!str_same(e->kind, ERROR_POISONED)) error_report(e);
}

/* ---- near names: all that are in scope, and those of suites that have ended ---- */

static void tell(UndefinedNames *u, AstName *name) {
  if (map_has(u->told, name->name)) return;
  map_set(u->told, name->name, name);
  if (u->tell_ended(name->name, name->ast.span)) return;
  StrVec options = {0};
  for (int i = 0; i < u->ended->len; i++)
    if (u->ended->at[i].key) vec_push(&options, u->ended->at[i].key);
  env_names(u->env, &options);
  Diag *d = diag_fault(E0201, name->ast.span, "NameError: name '%s' is not defined", name->name);
  diag_near(d, name->name, options.at, options.len);
}

/* ---- the names that a statement reads itself, not those of suites inside it ---- */

static void scan(void *context, Ast *node) {
  UndefinedNames *u = context;
  switch (node->kind) {
  case AST_KIND_Name:
    if (!env_find(u->env, AST_AS(Name, node)->name)) tell(u, AST_AS(Name, node)), u->found = true;
    return;
  case AST_KIND_Lambda:
  case AST_KIND_Comprehension: return; /* they bind names of their own */
  case AST_KIND_For: return scan(u, AST_AS(For, node)->iter);
  case AST_KIND_While: return scan(u, AST_AS(While, node)->cond);
  case AST_KIND_If: return scan(u, AST_AS(If, node)->cond);
  case AST_KIND_With: return scan(u, AST_AS(WithItem, AST_AS(With, node)->items.at[0])->context);
  case AST_KIND_Def:
  case AST_KIND_Class: return;
  case AST_KIND_Keyword: return scan(u, AST_AS(Keyword, node)->value);
  case AST_KIND_Assign: {
    Ast *target = AST_AS(Assign, node)->targets.at[0];
    if (target->kind == AST_KIND_Subscript) scan(u, target);
    return scan(u, AST_AS(Assign, node)->value);
  }
  case AST_KIND_AnnAssign:
    scan(u, AST_AS(AnnAssign, node)->annotation);
    if (AST_AS(AnnAssign, node)->value) scan(u, AST_AS(AnnAssign, node)->value);
    return;
  default: ast_each_child(node, scan, u);
  }
}

bool report_undefined_names(UndefinedNames *u, const Error *e, Ast *statement) {
  if (!str_same(e->kind, "NameError")) return false;
  scan(u, statement);
  return u->found;
}
