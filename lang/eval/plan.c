/* plan.c -- what can be known of a function before it runs: its parameters, and which names are
 * its own. A name that is assigned anywhere in a function is local everywhere in it. */
#include "lang/eval/eval_impl.h"

typedef struct Scan {
  FunctionPlan *plan;
} Scan;

static void add_local(Scan *s, const char *name) {
  if (names_find(&s->plan->scope, name) < 0) names_set(&s->plan->scope, name, value_absent());
}

static void scan(void *context, Ast *n);

static void scan_target(Scan *s, Ast *t) {
  switch (t->kind) {
  case AST_KIND_Name: add_local(s, AST_AS(Name, t)->name); break;
  case AST_KIND_Starred: scan_target(s, AST_AS(Starred, t)->value); break;
  case AST_KIND_Tuple:
    for each (Ast *, x, &AST_AS(Tuple, t)->items) scan_target(s, *x);
    break;
  case AST_KIND_List:
    for each (Ast *, x, &AST_AS(List, t)->items) scan_target(s, *x);
    break;
  default: break;
  }
}

static void scan_aliases(Scan *s, const AstVec *names) {
  for each (Ast *, n, names) {
    AstAlias *a = AST_AS(Alias, *n);
    const char *dot = strchr(a->name, '.');
    if (a->as) add_local(s, a->as);
    else if (dot) add_local(s, str_intern_n(a->name, (size_t)(dot - a->name)));
    else if (strcmp(a->name, "*") != 0) add_local(s, a->name);
  }
}

static void scan_names(StrVec *out, const AstVec *names) {
  for each (Ast *, n, names) vec_push(out, AST_AS(Name, *n)->name);
}

static void scan(void *context, Ast *n) {
  Scan *s = context;
  switch (n->kind) {
  case AST_KIND_Assign:
    for each (Ast *, t, &AST_AS(Assign, n)->targets) scan_target(s, *t);
    break;
  case AST_KIND_AugAssign: scan_target(s, AST_AS(AugAssign, n)->target); break;
  case AST_KIND_AnnAssign: scan_target(s, AST_AS(AnnAssign, n)->target); break;
  case AST_KIND_NamedExpr: scan_target(s, AST_AS(NamedExpr, n)->target); break;
  case AST_KIND_For: scan_target(s, AST_AS(For, n)->target); break;
  case AST_KIND_WithItem:
    if (AST_AS(WithItem, n)->target) scan_target(s, AST_AS(WithItem, n)->target);
    break;
  case AST_KIND_Handler:
    if (AST_AS(Handler, n)->name) add_local(s, AST_AS(Handler, n)->name);
    break;
  case AST_KIND_Delete:
    for each (Ast *, t, &AST_AS(Delete, n)->targets) scan_target(s, *t);
    break;
  case AST_KIND_Import: scan_aliases(s, &AST_AS(Import, n)->names); return;
  case AST_KIND_ImportFrom: scan_aliases(s, &AST_AS(ImportFrom, n)->names); return;
  case AST_KIND_Global: scan_names(&s->plan->globals, &AST_AS(Global, n)->names); return;
  case AST_KIND_Nonlocal: scan_names(&s->plan->nonlocals, &AST_AS(Nonlocal, n)->names); return;
  case AST_KIND_Def:
    s->plan->keeps = true;
    add_local(s, AST_AS(Def, n)->name);
    return;
  case AST_KIND_Class:
    s->plan->keeps = true;
    add_local(s, AST_AS(Class, n)->name);
    return;
  case AST_KIND_Lambda: s->plan->keeps = true; return;
  case AST_KIND_Comprehension:
    s->plan->keeps |= AST_AS(Comprehension, n)->display == AST_GENERATOR;
    break;
  default: break;
  }
  ast_each_child(n, scan, s);
}

static void plan_params(FunctionPlan *plan, const AstVec *params) {
  Signature *s = &plan->signature;
  s->star = s->double_star = -1;
  plan->simple = true;
  for each (Ast *, p, params) {
    AstParam *a = AST_AS(Param, *p);
    plan->simple &= a->kind == PARAM_PLAIN;
    if (a->kind == PARAM_SLASH)
      for each (Param, q, &s->params) q->positional_only = true;
    if (!a->name) continue;
    Param q = {.name = a->name, .kind = a->kind};
    if (a->kind == PARAM_STAR) s->star = s->params.len;
    if (a->kind == PARAM_DOUBLE_STAR) s->double_star = s->params.len;
    if (a->kind == PARAM_PLAIN) s->positional++;
    if (names_find(&plan->scope, a->name) >= 0)
      raise("SyntaxError", a->ast.span, "two parameters are named '%s'", a->name);
    names_set(&plan->scope, a->name, value_absent());
    vec_push(&s->params, q);
  }
}

static const char *docstring(const AstVec *body) {
  if (!body->len || body->at[0]->kind != AST_KIND_ExprStmt) return NULL;
  Ast *value = AST_AS(ExprStmt, body->at[0])->value;
  return value->kind == AST_KIND_Str ? AST_AS(Str, value)->text : NULL;
}

static FunctionPlan *make_plan(Ast *def) {
  FunctionPlan *plan = NEW(FunctionPlan, .simple = true);
  Scan s = {.plan = plan};
  if (def->kind == AST_KIND_Lambda) {
    plan_params(plan, &AST_AS(Lambda, def)->params);
    scan(&s, AST_AS(Lambda, def)->body);
  } else {
    plan_params(plan, &AST_AS(Def, def)->params);
    for each (Ast *, st, &AST_AS(Def, def)->body) scan(&s, *st);
    plan->doc = docstring(&AST_AS(Def, def)->body);
    plan->keeps |= AST_AS(Def, def)->generator;
  }
  for each (const char *, name, &plan->globals) names_remove(&plan->scope, *name);
  for each (const char *, name, &plan->nonlocals) names_remove(&plan->scope, *name);
  return plan;
}

const FunctionPlan *function_plan(Ast *def) {
  static Map plans;
  FunctionPlan *plan = map_get(&plans, def);
  if (!plan) {
    plan = make_plan(def);
    map_set(&plans, def, plan);
  }
  return plan;
}

const Signature *function_signature(const FunctionObject *f) { return &f->plan->signature; }
