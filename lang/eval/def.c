/* def.c -- functions, lambdas, classes and their decorators. */
#include "lang/eval/eval_impl.h"

/* ---- functions ---- */

static void eval_defaults(FunctionObject *f, Env *env, const AstVec *params) {
  for each (Ast *, p, params) {
    AstParam *a = AST_AS(Param, *p);
    if (!a->name) continue;
    Value x = a->value ? eval(env, a->value) : value_absent();
    vec_push(&f->defaults, x);
  }
}

Value function_new(Env *env, Ast *def) {
  bool lambda = def->kind == AST_KIND_Lambda;
  Env *closure = env;
  while (closure->is_class) closure = closure->outer; /* methods do not see the class's names */
  FunctionObject *f =
      NEW(FunctionObject, .def = def, .closure = closure, .class_scope = env->is_class ? env : NULL,
          .name = lambda ? "<lambda>" : AST_AS(Def, def)->name);
  ClassObject *class = env->is_class ? env->class_object : NULL;
  f->qualname = class ? str_format("%s.%s", class->name, f->name) : f->name;
  eval_defaults(f, env, lambda ? &AST_AS(Lambda, def)->params : &AST_AS(Def, def)->params);
  f->plan = function_plan(def);
  Value v = value_of(&type_function, f);
  if (f->plan->doc) value_set_attr(v, str_intern("__doc__"), value_str(f->plan->doc), def->span);
  return v;
}

/* ---- decorators that want the syntax tree ---- */

static Value tree_call(Value v, CallArgs *args) {
  TreeDecorator *t = v.object;
  return value_of(&type_tree_decorator, NEW(TreeDecorator, .name = t->name, .decorate = t->decorate,
                                            .args = args_copy(args)));
}

static void tree_repr(Value v, Str *out) {
  str_printf(out, "<decorator %s>", ((TreeDecorator *)v.object)->name);
}

static Value tree_attr(Value v, const char *name, Span span) {
  (void)span;
  return strcmp(name, "__name__") == 0 ? value_str(((TreeDecorator *)v.object)->name)
                                       : value_absent();
}

const ValueType type_tree_decorator = {
    .name = "decorator", .repr = tree_repr, .call = tree_call, .get_attr = tree_attr};

typedef struct Decoration {
  Env *env;
  Ast *def;
  TreeDecorator *decorator;
  Value result;
} Decoration;

static void decorate_tree(void *context) {
  Decoration *d = context;
  CallArgs none = {.span = d->def->span, .env = d->env};
  CallArgs *args = d->decorator->args ? d->decorator->args : &none;
  d->result = d->decorator->decorate(d->env, d->def, args);
}

static Diag *first_error(const DiagVec *all) {
  for each (Diag *, d, all)
    if ((*d)->severity == DIAG_ERROR) return *d;
  return NULL;
}

/* At the top of a file all faults are told and the file goes on; in a function they are an
 * exception, which a test may expect. */
static Value give_tree(Env *env, Ast *def, TreeDecorator *t) {
  Decoration d = {.env = env, .def = def, .decorator = t};
  if (!calls.len) return decorate_tree(&d), d.result;
  DiagVec *outer = diag_capture();
  Error *e = eval_protect(decorate_tree, &d);
  DiagVec *told = diag_restore(outer);
  Diag *fault = first_error(told);
  if (!fault || e) diag_append(told);
  if (e) error_raise(e);
  if (fault)
    error_raise(NEW(Error, .kind = str_intern("DiagnosticError"), .text = fault->text,
                    .span = fault->span, .faults = told));
  return d.result;
}

/* The decorators are evaluated from the top, and applied from the bottom. */
static Value decorated(Env *env, Ast *def, const AstVec *decorators,
                       Value (*plain)(Env *env, Ast *def)) {
  ValueVec values = {0};
  for each (Ast *, d, decorators) {
    Value v = eval(env, *d);
    vec_push(&values, v);
  }
  int n = values.len;
  Value x;
  if (n && vec_last(&values).type == &type_tree_decorator)
    x = give_tree(env, def, values.at[--n].object);
  else x = plain(env, def);
  while (n-- > 0) x = value_call_with(values.at[n], 1, &x, decorators->at[n]->span);
  return x;
}

void exec_def(Env *env, Ast *s) {
  AstDef *def = AST_AS(Def, s);
  Value f = def->decorators.len ? decorated(env, s, &def->decorators, function_new)
                                : function_new(env, s);
  env_assign(env, def->name, f);
}

/* ---- classes ---- */

static bool any_below(const ValueVec *bases, const ClassObject *class) {
  for each (Value, b, bases)
    if (b->type == &type_class && class_is_subclass(b->object, class)) return true;
  return false;
}

static Span span_over(const AstVec *nodes, Span otherwise) {
  if (!nodes->len) return otherwise;
  return (Span){nodes->at[0]->span.lo, vec_last(nodes)->span.hi};
}

/* The bases, and the keywords, which are for __init_subclass__. A metaclass can only be
 * abc.ABCMeta: it stands for the base abc.ABC. */
static void eval_bases(Env *env, AstClass *c, ClassObject *class, CallArgs *named) {
  ValueVec bases = {0};
  for each (Ast *, b, &c->bases) {
    bool keyword = (*b)->kind == AST_KIND_Keyword;
    const char *name = keyword ? AST_AS(Keyword, *b)->name : NULL;
    Value v = eval(env, keyword ? AST_AS(Keyword, *b)->value : *b);
    if (keyword && (!name || strcmp(name, "metaclass") != 0)) {
      if (!name) raise("TypeError", (*b)->span, "** among the bases of a class is not supported");
      vec_push(&named->names, name);
      vec_push(&named->named, v);
      continue;
    }
    if (keyword &&
        (v.type != &type_class || !class_lookup(v.object, str_intern("__abstract_base__")).type))
      raise("TypeError", (*b)->span, "metaclasses are not supported, except for abc.ABCMeta");
    if (!keyword || !any_below(&bases, v.object)) vec_push(&bases, v);
  }
  class_set_bases(class, &bases, span_over(&c->bases, c->ast.span));
}

static Value make_class(Env *env, Ast *s) {
  AstClass *c = AST_AS(Class, s);
  ClassObject *class = NEW(ClassObject, .name = c->name, .definition = s);
  CallArgs named = {.span = s->span, .env = env};
  eval_bases(env, c, class, &named);
  Env *outer = env;
  while (outer->is_class) outer = outer->outer;
  Env *body = env_new(outer);
  body->is_class = true;
  body->class_object = class;
  if (c->body.len && c->body.at[0]->kind == AST_KIND_ExprStmt) {
    Ast *doc = AST_AS(ExprStmt, c->body.at[0])->value;
    if (doc->kind == AST_KIND_Str) class->doc = AST_AS(Str, doc)->text;
  }
  Value *module = names_get(&env_module(env)->names, str_intern("__name__"));
  if (module && module->type == &type_str) class->module = value_text(*module);
  exec_block(body, &c->body);
  return class_make(class, &body->names, &named);
}

void exec_class(Env *env, Ast *s) {
  AstClass *c = AST_AS(Class, s);
  Value v = c->decorators.len ? decorated(env, s, &c->decorators, make_class) : make_class(env, s);
  env_assign(env, c->name, v);
}
