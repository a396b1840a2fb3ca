/* test_load.c -- reads a file of test functions, statement by statement: what one statement lacks
 * fails the tests that use its names, and no others. */
#include "lang/tool/test.h"
#include "lang/dialect/dialect.h"
#include "lang/value/object.h"

/* ---- the names that a statement binds ---- */

static void add_target(Ast *target, StrVec *names) {
  if (target->kind == AST_KIND_Name) vec_push(names, AST_AS(Name, target)->name);
  if (target->kind == AST_KIND_Tuple)
    for each (Ast *, t, &AST_AS(Tuple, target)->items) add_target(*t, names);
}

static void add_aliases(const AstVec *aliases, StrVec *names) {
  for each (Ast *, n, aliases) {
    AstAlias *a = AST_AS(Alias, *n);
    vec_push(names, a->as ? a->as : str_intern_n(a->name, strcspn(a->name, ".")));
  }
}

static StrVec bound_names(Ast *s) {
  StrVec names = {0};
  switch (s->kind) {
  case AST_KIND_Def: vec_push(&names, AST_AS(Def, s)->name); break;
  case AST_KIND_Class: vec_push(&names, AST_AS(Class, s)->name); break;
  case AST_KIND_Import: add_aliases(&AST_AS(Import, s)->names, &names); break;
  case AST_KIND_ImportFrom: add_aliases(&AST_AS(ImportFrom, s)->names, &names); break;
  case AST_KIND_Assign:
    for each (Ast *, t, &AST_AS(Assign, s)->targets) add_target(*t, &names);
    break;
  default: break;
  }
  return names;
}

/* ---- running one ---- */

typedef struct Step {
  Env *env;
  Ast *statement;
} Step;

static void run_step(void *context) {
  Step *s = context;
  AstVec one = {.at = &s->statement, .len = 1};
  exec_block(s->env, &one);
}

/* Names without a value, or with that of a faulty definition, are not there. */
static void forget(Env *env, const StrVec *names) {
  for each (const char *, name, names) {
    Value *v = names_get(&env->names, *name);
    if (v && v->type == &type_poison) names_remove(&env->names, *name);
  }
}

static void run_statement(TestFile *f, Ast *s) {
  Step step = {f->session->globals, s};
  DiagVec *outer = diag_capture();
  Error *e = eval_protect(run_step, &step);
  if (e && str_same(e->kind, "Skipped")) f->skipped = e->text;
  else if (e && !str_same(e->kind, ERROR_POISONED)) error_report_uncaught(e);
  bool failed = diag_error_count() > 0;
  DiagVec *found = diag_restore(outer);
  if (!failed) {
    diag_append(found);
    return;
  }
  TestGap gap = {.statement = s, .names = bound_names(s), .why = found};
  forget(f->session->globals, &gap.names);
  vec_push(&f->gaps, gap);
}

/* `from m import a, b`: name by name, so that one that is missing doesn't take the others along. */
static void run_import(TestFile *f, AstImportFrom *s) {
  for each (Ast *, n, &s->names) {
    AstImportFrom *one = gc_copy(s, sizeof *s);
    one->names = (AstVec){.at = n, .len = 1, .cap = 1};
    run_statement(f, &one->ast);
  }
}

bool test_load(TestFile *f, const Source *source) {
  int before = diag_error_count();
  AstModule *tree = parse_module(source);
  if (diag_error_count() > before) return false;
  for each (Ast *, s, &tree->body) {
    if (f->skipped) break;
    if ((*s)->kind == AST_KIND_ImportFrom) run_import(f, AST_AS(ImportFrom, *s));
    else run_statement(f, *s);
  }
  return true;
}

TestGap *test_gap(TestFile *f, const char *name) {
  for each (TestGap, g, &f->gaps)
    for each (const char *, n, &g->names)
      if (str_same(*n, name)) return g;
  return NULL;
}
