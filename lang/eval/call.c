/* call.c -- calls: arguments in order, functions of the language run in a new scope. */
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
  Value more = eval(env, inner), key, x;
  if (more.type != &type_dict)
    raise("TypeError", inner->span, "argument after ** must be a mapping, not '%s'",
          value_type_text(more));
  for (int i = 0, n = value_dict_len(more); i < n; i++, ++*count) {
    value_dict_entry(more, i, &key, &x);
    push_named(out, str_intern(value_as_text(key, "a keyword", inner->span)), x);
  }
}

void eval_args(Env *env, const AstVec *args, CallArgs *out) {
  VEC(Span) named_spans = {0};
  out->env = env;
  vec_reserve(&out->positional, args->len);
  vec_reserve(&out->spans, args->len);
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

Value eval_call(Env *env, Ast *e) {
  AstCall *c = AST_AS(Call, e);
  Value f = eval(env, c->func);
  CallArgs args = {.span = e->span};
  eval_args(env, &c->args, &args);
  eval_span = e->span;
  return value_call(f, &args);
}

/* ---- functions of the language ---- */

void function_bind(FunctionObject *f, Env *env, CallArgs *args) {
  const Signature *s = &f->plan->signature;
  int n = s->params.len;
  Value *values = NEW_ARRAY(Value, n + 1);
  if (f->plan->simple && args->positional.len == n && !args->names.len) {
    if (n) memcpy(values, args->positional.at, sizeof(Value) * (size_t)n);
  } else {
    signature_bind(s, f->name, args, f->defaults.at, values, NULL);
  }
  for (int i = 0; i < n; i++) map_set(&env->names, s->params.at[i].name, &values[i]);
}

const char *function_first_param(const FunctionObject *f) {
  const Signature *s = &f->plan->signature;
  return s->params.len ? s->params.at[0].name : NULL;
}

int function_arity(Value f) {
  if (f.type != &type_function) return -1;
  const FunctionObject *o = f.object;
  return o->plan->signature.params.len;
}

static Value run_body(FunctionObject *f, Env *env) {
  if (f->def->kind == AST_KIND_Lambda) return eval(env, AST_AS(Lambda, f->def)->body);
  AstDef *def = AST_AS(Def, f->def);
  if (def->generator) return generator_new(env, def);
  Exec x = {.env = env};
  Flow flow = exec_statements(&x, &def->body);
  return flow == FLOW_RETURN ? x.result : value_none();
}

Value function_call(Value v, CallArgs *args) {
  FunctionObject *f = v.object;
  Env *env = NEW(Env, .outer = f->closure, .is_function = true, .locals = &f->plan->locals,
                 .globals = f->plan->globals, .nonlocals = f->plan->nonlocals, .function = f);
  function_bind(f, env, args);
  CallFrame frame = {f->name, args->span};
  vec_push(&calls, frame);
  Value result = run_body(f, env);
  calls.len--;
  return result;
}
