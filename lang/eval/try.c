/* try.c -- try, except, else, finally. */
#include "lang/eval/eval_impl.h"

typedef struct Part {
  Exec *x;
  AstTry *t;
  Flow flow;
} Part;

bool try_handler_matches(Env *env, AstHandler *h, const Error *e) {
  if (str_same(e->kind, ERROR_INTERNAL)) return false;
  if (!h->type) return true;
  Value type = eval(env, h->type);
  ValueVec one = {.at = &type, .len = 1};
  for each (Value, t, type.type == &type_tuple ? value_items(type) : &one) {
    if (t->type != &type_class || !((ClassObject *)t->object)->is_exception)
      raise("TypeError", h->type->span,
            "catching classes that do not inherit from BaseException is not allowed: '%s'",
            value_type_text(*t));
    if (exception_matches(e, t->object)) return true;
  }
  return false;
}

static Flow run_handler(Exec *x, AstHandler *h, Error *e) {
  Error *was = handling;
  handling = e;
  if (h->name) env_assign(x->env, h->name, exception_of(e));
  Flow flow = exec_statements(x, &h->body);
  if (h->name && !x->env->is_comprehension) env_remove(x->env, h->name);
  handling = was;
  return flow;
}

static void run_body(void *context) {
  Part *p = context;
  p->flow = exec_statements(p->x, &p->t->body);
}

static void run_without_finally(void *context) {
  Part *p = context;
  if (!p->t->handlers.len) {
    run_body(p);
    return;
  }
  Part body = *p;
  Error *e = eval_protect(run_body, &body);
  p->flow = body.flow;
  if (!e) {
    if (p->flow == FLOW_NEXT) p->flow = exec_statements(p->x, &p->t->orelse);
    return;
  }
  for each (Ast *, h, &p->t->handlers)
    if (try_handler_matches(p->x->env, AST_AS(Handler, *h), e)) {
      p->flow = run_handler(p->x, AST_AS(Handler, *h), e);
      return;
    }
  error_raise(e);
}

Flow exec_try(Exec *x, Ast *s) {
  Part p = {.x = x, .t = AST_AS(Try, s)};
  if (!p.t->finally.len) {
    run_without_finally(&p);
    return p.flow;
  }
  Error *e = eval_protect(run_without_finally, &p);
  Value result = x->result;
  Error *was = handling;
  if (e) handling = e;
  Flow flow = exec_statements(x, &p.t->finally);
  handling = was;
  if (flow != FLOW_NEXT) return flow; /* it wins over an error or a return */
  if (e) error_raise(e);
  x->result = result;
  return p.flow;
}
