/* call.c -- calls: arguments in order, functions of the language run in a new scope.
 *
 * The scope of a call lies on the C stack unless something in the function may keep it. Where the
 * arguments are plain expressions they are evaluated straight into the callee's scope; otherwise,
 * and for all other callables, into CallArgs, which lie on the C stack too: who keeps them copies
 * them. A method is called without making a bound method first. */
#include "lang/eval/eval_impl.h"

CallStack calls;

/* ---- arguments ---- */

static void push_spread(Env *env, Ast *inner, CallArgs *out) {
  ValueVec more = value_to_vec(eval(env, inner), inner->span);
  for each (Value, x, &more) {
    vec_push(&out->positional, *x);
    vec_push(&out->spans, inner->span);
  }
}

static void push_named(CallArgs *out, const char *name, Value x) {
  vec_push(&out->names, name);
  vec_push(&out->named, x);
}

static void push_mapping(Env *env, Ast *inner, CallArgs *out, int *count) {
  Value more = value_plain(eval(env, inner)), key, x;
  if (more.type != &type_dict)
    raise("TypeError", inner->span, "argument after ** must be a mapping, not '%s'",
          value_type_text(more));
  for (int i = 0, n = value_dict_len(more); i < n; i++, ++*count) {
    value_dict_entry(more, i, &key, &x);
    push_named(out, str_intern(value_as_text(key, "a keyword", inner->span)), x);
  }
}

static int count_keywords(const AstVec *args) {
  int n = 0;
  for each (Ast *, a, args) n += (*a)->kind == AST_KIND_Keyword;
  return n;
}

void eval_args(Env *env, const AstVec *args, CallArgs *out) {
  VEC(Span) named_spans = {0};
  int named = count_keywords(args);
  out->env = env;
  vec_reserve(&out->positional, out->positional.len + args->len - named);
  vec_reserve(&out->spans, out->spans.len + args->len);
  vec_reserve(&out->names, named);
  vec_reserve(&out->named, named);
  vec_reserve(&named_spans, named);
  for each (Ast *, arg, args) {
    Ast *a = *arg;
    if (a->kind == AST_KIND_Starred) {
      push_spread(env, AST_AS(Starred, a)->value, out);
    } else if (a->kind == AST_KIND_Keyword) {
      AstKeyword *k = AST_AS(Keyword, a);
      int n = 1;
      if (k->name) push_named(out, k->name, eval(env, k->value));
      else n = 0, push_mapping(env, k->value, out, &n);
      for (int i = 0; i < n; i++) vec_push(&named_spans, k->value->span);
    } else {
      Value x = eval(env, a);
      vec_push(&out->positional, x);
      vec_push(&out->spans, a->span);
    }
  }
  for each (Span, s, &named_spans) vec_push(&out->spans, *s);
}

/* ---- functions of the language ---- */

const char *function_first_param(const FunctionObject *f) {
  const Signature *s = &f->plan->signature;
  return s->params.len ? s->params.at[0].name : NULL;
}

int function_arity(Value f, int open) {
  if (f.type != &type_function) return -1;
  const Signature *s = &((const FunctionObject *)f.object)->plan->signature;
  return s->star >= 0 ? open : s->params.len;
}

/* A new scope for a call of f, its entries at `at`; `here` and `at` are on the caller's stack and
 * used unless the scope may be kept. */
static Env *open_scope(FunctionObject *f, Env *here, NameEntry *at) {
  const FunctionPlan *plan = f->plan;
  Env *env = here;
  if (plan->keeps) {
    env = gc_alloc(sizeof *env);
    at = NEW_ARRAY(NameEntry, plan->scope.len + 1);
  }
  *env = (Env){.names = plan->scope,
               .outer = f->closure,
               .plan = plan,
               .function = f,
               .on_stack = !plan->keeps};
  if (plan->scope.len) memcpy(at, plan->scope.at, sizeof *at * (size_t)plan->scope.len);
  env->names.at = at;
  env->names.cap = plan->scope.len;
  return env;
}

/* How many entries the caller of open_scope has to have on its stack. */
static int stack_entries(const FunctionPlan *plan) { return plan->keeps ? 1 : plan->scope.len + 1; }

static Value run_body(FunctionObject *f, Env *env) {
  if (f->def->kind == AST_KIND_Lambda) return eval(env, AST_AS(Lambda, f->def)->body);
  AstDef *def = AST_AS(Def, f->def);
  if (def->generator) return generator_new(env, def);
  Exec x = {.env = env};
  Flow flow = exec_statements(&x, &def->body);
  return flow == FLOW_RETURN ? x.result : value_none();
}

static Value run_call(FunctionObject *f, Env *env, Span span) {
  interrupt_check(span);
  stack_check(span);
  CallFrame frame = {f->name, span};
  vec_push(&calls, frame);
  Value result = run_body(f, env);
  calls.len--;
  return result;
}

static void bind_params(FunctionObject *f, Env *env, CallArgs *args) {
  const Signature *s = &f->plan->signature;
  int n = s->params.len;
  Value values[n + 1], *from = values;
  if (f->plan->simple && args->positional.len == n && !args->names.len) from = args->positional.at;
  else signature_bind(s, f->qualname, args, f->defaults.at, values, NULL);
  for (int i = 0; i < n; i++) env->names.at[i].value = from[i];
}

void function_bind(FunctionObject *f, Env *env, CallArgs *args) {
  const Signature *s = &f->plan->signature;
  Value values[s->params.len + 1];
  signature_bind(s, f->qualname, args, f->defaults.at, values, NULL);
  for (int i = 0; i < s->params.len; i++) env_set(env, s->params.at[i].name, values[i]);
}

Value function_call(Value v, CallArgs *args) {
  FunctionObject *f = v.object;
  Env here;
  NameEntry entries[stack_entries(f->plan)];
  Env *env = open_scope(f, &here, entries);
  bind_params(f, env, args);
  Span at = eval_span; /* whoever called from C goes on there */
  Value result = run_call(f, env, args->span);
  eval_span = at;
  return result;
}

/* ---- call expressions ---- */

/* What is called, and the object before its dot if that is to be the first argument. */
typedef struct Callee {
  Value f, self;
  const Builtin *method; /* of self, instead of f */
} Callee;

static Callee eval_callee(Env *env, Ast *func) {
  if (func->kind != AST_KIND_Attribute) return (Callee){.f = eval(env, func)};
  AstAttribute *a = AST_AS(Attribute, func);
  Value v = eval(env, a->value);
  Callee c = {.self = v};
  if (v.type == &type_instance) c.f = instance_method(v.object, a->name);
  else if (v.type->methods) c.method = builtin_find(v.type->methods, v.type->method_count, a->name);
  if (c.f.type || c.method) return c;
  return (Callee){.f = value_get_attr(v, a->name, a->name_span.hi ? a->name_span : func->span)};
}

typedef enum { ARGS_UNKNOWN, ARGS_PLAIN, ARGS_NAMED, ARGS_SPREAD } ArgsForm;

/* Whether keyword=, *spread or **spread are among the arguments. Remembered in the tree. */
static ArgsForm form_of_args(AstCall *c) {
  if (c->ast.hint != ARGS_UNKNOWN) return (ArgsForm)c->ast.hint;
  ArgsForm form = ARGS_PLAIN;
  for each (Ast *, a, &c->args) {
    bool keyword = (*a)->kind == AST_KIND_Keyword;
    bool spread = (*a)->kind == AST_KIND_Starred || (keyword && !AST_AS(Keyword, *a)->name);
    if (spread) form = ARGS_SPREAD;
    else if (keyword && form == ARGS_PLAIN) form = ARGS_NAMED;
  }
  return c->ast.hint = form, form;
}

static bool takes(Value f, int n) {
  if (f.type != &type_function) return false;
  const FunctionPlan *plan = ((FunctionObject *)f.object)->plan;
  return plan->simple && plan->signature.params.len == n;
}

static Value call_into_scope(Env *env, AstCall *c, FunctionObject *f, Value self) {
  Env here;
  NameEntry entries[stack_entries(f->plan)];
  Env *scope = open_scope(f, &here, entries);
  NameEntry *at = scope->names.at;
  if (self.type) at++->value = self;
  for each (Ast *, a, &c->args) at++->value = eval(env, *a);
  eval_span = c->ast.span;
  return run_call(f, scope, c->ast.span);
}

/* A new object of a class whose __init__ takes just these arguments. */
static Value call_class(Env *env, AstCall *c, ClassObject *class, FunctionObject *init) {
  Value o = value_instance(class);
  class_check_init(call_into_scope(env, c, init, o), c->ast.span);
  return o;
}

static Value call_callee(const Callee *c, CallArgs *args) {
  if (!c->method) return value_call(c->f, args);
  stack_check(args->span);
  return builtin_call(c->method, c->self, args);
}

/* Positional arguments come first, as no spread is among them. */
static Value call_without_spread(Env *env, AstCall *c, const Callee *callee) {
  bool with_self = callee->self.type && !callee->method;
  int n = c->args.len + with_self, i = 0, named = 0;
  Value values[n + 1];
  Span spans[n + 1];
  const char *names[n + 1];
  if (with_self) {
    values[i] = callee->self;
    spans[i++] = c->ast.span;
  }
  for each (Ast *, arg, &c->args) {
    Ast *a = *arg;
    if (a->kind == AST_KIND_Keyword) {
      names[named++] = AST_AS(Keyword, a)->name;
      a = AST_AS(Keyword, a)->value;
    }
    values[i] = eval(env, a);
    spans[i++] = a->span;
  }
  CallArgs args = {.span = c->ast.span,
                   .env = env,
                   .positional = {.at = values, .len = n - named, .cap = n - named},
                   .names = {.at = names, .len = named, .cap = named},
                   .named = {.at = values + n - named, .len = named, .cap = named},
                   .spans = {.at = spans, .len = n, .cap = n}};
  eval_span = c->ast.span;
  return call_callee(callee, &args);
}

static Value call_with_spread(Env *env, AstCall *c, const Callee *callee) {
  CallArgs args = {.span = c->ast.span};
  if (callee->self.type && !callee->method) {
    vec_push(&args.positional, callee->self);
    vec_push(&args.spans, c->ast.span);
  }
  eval_args(env, &c->args, &args);
  eval_span = c->ast.span;
  return call_callee(callee, &args);
}

Value eval_call(Env *env, Ast *e) {
  AstCall *c = AST_AS(Call, e);
  Callee callee = eval_callee(env, c->func);
  ArgsForm form = form_of_args(c);
  if (form == ARGS_SPREAD) return call_with_spread(env, c, &callee);
  if (form == ARGS_PLAIN && !callee.method) {
    if (takes(callee.f, c->args.len + (callee.self.type != NULL)))
      return call_into_scope(env, c, callee.f.object, callee.self);
    if (callee.f.type == &type_class) {
      Value init = class_plain_init(callee.f.object);
      if (takes(init, c->args.len + 1)) return call_class(env, c, callee.f.object, init.object);
    }
  }
  return call_without_spread(env, c, &callee);
}
