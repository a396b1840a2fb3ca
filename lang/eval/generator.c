/* generator.c -- functions with yield, run step by step.
 *
 * A suspended body must not live on the C stack, so here the statements around a yield are kept as
 * a stack of activations; statements without a yield run as everywhere else. A yield inside an
 * expression is made one that is the whole right side of an assignment (yield.c). */
#include "lang/eval/eval_impl.h"

typedef enum { ACT_BLOCK, ACT_FOR, ACT_WHILE, ACT_WITH, ACT_TRY, ACT_FROM, ACT_HEAD } ActKind;
typedef enum { PHASE_BODY, PHASE_AFTER, PHASE_FINALLY } TryPhase; /* AFTER: a handler, or else */

typedef struct Act {
  ActKind kind;
  Ast *s;
  const AstVec *body; /* of a block */
  int next;           /* in the block; the item of a with statement */
  Value it;           /* iterator; context manager */
  TryPhase phase;
  Error *handled; /* by the handler that runs */
  Flow flow;      /* how the part before `finally` ended ... */
  Error *error;   /* ... or what it raised */
  Ast *target;    /* of an assignment whose right side is a `yield from`, or NULL */
} Act;

typedef struct Generator {
  Exec x;
  AstDef *def;
  VEC(Act) acts;
  Ast *target; /* of the assignment whose yield is waiting, or NULL */
  Value sent;  /* on the way to the generator that a `yield from` waits for */
  int hidden;  /* names that hold parts of the statement whose head yields */
  bool started, running, finished;
} Generator;

static const ValueType type_generator_object;
static Value run(Generator *g, Value sent, Error *thrown, Span span);

Value generator_new(Env *env, AstDef *def) {
  Generator *g = NEW(Generator, .x = {.env = env}, .def = def);
  Act body = {.kind = ACT_BLOCK, .body = &def->body};
  vec_push(&g->acts, body);
  return value_of(&type_generator_object, g);
}

Value eval_yield(Env *env, Ast *e) {
  (void)env;
  raise("SyntaxError", e->span, "a yield cannot stand here");
}

static void push_block(Generator *g, const AstVec *body) {
  Act a = {.kind = ACT_BLOCK, .body = body};
  if (body->len) vec_push(&g->acts, a);
}

/* ---- leaving activations: by break, continue, return, or an error ---- */

static bool start_handler(Generator *g, Act *a, Error *e) {
  for each (Ast *, h, &AST_AS(Try, a->s)->handlers) {
    AstHandler *handler = AST_AS(Handler, *h);
    if (!try_handler_matches(g->x.env, handler, e)) continue;
    a->phase = PHASE_AFTER;
    a->handled = e;
    if (handler->name) env_assign(g->x.env, handler->name, exception_of(e));
    push_block(g, &handler->body);
    return true;
  }
  return false;
}

/* True if the try statement takes over: its handler, or its finally, runs next. */
static bool deliver_to_try(Generator *g, Flow flow, Error *e) {
  Act *a = &vec_last(&g->acts);
  if (e && a->phase == PHASE_BODY && start_handler(g, a, e)) return true;
  if (a->phase == PHASE_FINALLY || !AST_AS(Try, a->s)->finally.len) return false;
  a->phase = PHASE_FINALLY;
  a->handled = NULL;
  a->flow = flow;
  a->error = e;
  push_block(g, &AST_AS(Try, a->s)->finally);
  return true;
}

static void deliver(Generator *g, Flow flow, Error *e) {
  while (g->acts.len) {
    Act *a = &vec_last(&g->acts), left;
    bool is_loop = a->kind == ACT_FOR || a->kind == ACT_WHILE;
    if (is_loop && !e && flow == FLOW_CONTINUE) return;
    if (a->kind == ACT_TRY && deliver_to_try(g, flow, e)) return;
    left = vec_pop(&g->acts);
    if (is_loop && !e && flow == FLOW_BREAK) return;
    if (left.kind == ACT_WITH && left.it.type->leave &&
        left.it.type->leave(left.it, e, left.s->span) && e)
      return; /* swallowed */
  }
  if (e) error_raise(e);
  g->finished = true;
}

/* ---- going on when what is above has ended ---- */

static void end_try(Generator *g) {
  Act *a = &vec_last(&g->acts);
  AstTry *t = AST_AS(Try, a->s);
  if (a->phase == PHASE_BODY) {
    a->phase = PHASE_AFTER;
    push_block(g, &t->orelse);
  } else if (a->phase == PHASE_AFTER) {
    a->phase = PHASE_FINALLY;
    a->handled = NULL;
    a->flow = FLOW_NEXT;
    a->error = NULL;
    push_block(g, &t->finally);
  } else {
    Act ended = vec_pop(&g->acts);
    if (ended.error || ended.flow != FLOW_NEXT) deliver(g, ended.flow, ended.error);
  }
}

static void next_round(Generator *g) {
  Act *a = &vec_last(&g->acts);
  Env *env = g->x.env;
  interrupt_check(a->s->span);
  bool more;
  if (a->kind == ACT_FOR) {
    AstFor *f = AST_AS(For, a->s);
    Value v = value_next(a->it, f->iter->span);
    more = v.type != NULL;
    if (more) assign_target(env, f->target, v, f->iter->span);
  } else {
    AstWhile *w = AST_AS(While, a->s);
    more = value_truth(eval(env, w->cond), w->cond->span);
  }
  Ast *s = vec_last(&g->acts).s;
  if (!more) g->acts.len--;
  if (s->kind == AST_KIND_For)
    push_block(g, more ? &AST_AS(For, s)->body : &AST_AS(For, s)->orelse);
  else push_block(g, more ? &AST_AS(While, s)->body : &AST_AS(While, s)->orelse);
}

/* Enters the next context manager of the statement, or its body. */
static void next_with(Generator *g, AstWith *w, int item) {
  if (item == w->items.len) return push_block(g, &w->body);
  AstWithItem *i = AST_AS(WithItem, w->items.at[item]);
  Value v = eval(g->x.env, i->context);
  if (!v.type->enter && !v.type->leave)
    raise("TypeError", i->context->span,
          "'%s' object does not support the context manager protocol", value_type_text(v));
  Value bound = v.type->enter ? v.type->enter(v, i->context->span) : v;
  Act a = {.kind = ACT_WITH, .s = &w->ast, .it = v};
  vec_push(&g->acts, a);
  if (i->target) assign_target(g->x.env, i->target, bound, i->context->span);
  next_with(g, w, item + 1);
}

/* ---- steps ---- */

/* True if the generator stops here with a value in *out. */
static bool start_yield(Generator *g, AstYield *y, Ast *target, Value *out) {
  Value v = y->value ? eval(g->x.env, y->value) : value_none();
  if (y->from) {
    Act a = {.kind = ACT_FROM, .s = &y->ast, .it = value_iter(v, y->ast.span), .target = target};
    vec_push(&g->acts, a);
    g->sent = value_none();
    return false;
  }
  g->target = target;
  *out = v;
  return true;
}

/* A yield that is all of a statement but for a target. */
static AstYield *plain_yield(Ast *s, Ast **target) {
  Ast *value = NULL;
  *target = NULL;
  if (s->kind == AST_KIND_ExprStmt) value = AST_AS(ExprStmt, s)->value;
  if (s->kind == AST_KIND_Assign && AST_AS(Assign, s)->targets.len == 1)
    value = AST_AS(Assign, s)->value, *target = AST_AS(Assign, s)->targets.at[0];
  if (!value || value->kind != AST_KIND_Yield) return NULL;
  AstYield *y = AST_AS(Yield, value);
  return y->value && y->value->yields ? NULL : y;
}

static bool start_statement(Generator *g, Ast *s, Value *out) {
  Env *env = g->x.env;
  Act a = {.s = s};
  Ast *target;
  AstYield *plain = plain_yield(s, &target);
  if (plain) return start_yield(g, plain, target, out);
  if (yield_in_head(s)) {
    YieldPlace found = {0};
    a.kind = ACT_HEAD;
    a.s = yield_settle(env, s, &g->hidden, &found);
    vec_push(&g->acts, a);
    return found.yield && start_yield(g, found.yield, found.target, out);
  }
  switch (s->kind) {
  case AST_KIND_If: {
    AstIf *i = AST_AS(If, s);
    push_block(g, value_truth(eval(env, i->cond), i->cond->span) ? &i->body : &i->orelse);
    return false;
  }
  case AST_KIND_For:
    a.kind = ACT_FOR;
    a.it = value_iter(eval(env, AST_AS(For, s)->iter), AST_AS(For, s)->iter->span);
    vec_push(&g->acts, a);
    return false;
  case AST_KIND_While:
    a.kind = ACT_WHILE;
    vec_push(&g->acts, a);
    return false;
  case AST_KIND_With: next_with(g, AST_AS(With, s), 0); return false;
  case AST_KIND_Try:
    a.kind = ACT_TRY;
    vec_push(&g->acts, a);
    push_block(g, &AST_AS(Try, s)->body);
    return false;
  default: break;
  }
  eval_yield(env, s);
  return false;
}

/* What is sent goes to the inner generator, and its result is the value of the `yield from`. */
static bool next_from(Generator *g, Value *out) {
  Act from = vec_last(&g->acts);
  bool inner = from.it.type == &type_generator_object;
  *out =
      inner ? run(from.it.object, g->sent, NULL, from.s->span) : value_next(from.it, from.s->span);
  g->sent = value_none();
  if (out->type) return true;
  g->acts.len--;
  if (from.target) assign_target(g->x.env, from.target, generator_result(from.it), from.s->span);
  return false;
}

/* True if the inner generator takes what is thrown, and yields. */
static bool throw_into_from(Generator *g, Error *e, Value *out) {
  Act from = vec_last(&g->acts);
  if (from.kind != ACT_FROM || from.it.type != &type_generator_object) return false;
  g->acts.len--; /* if the inner one raises, it is here that this goes on */
  *out = run(from.it.object, value_none(), e, from.s->span);
  if (out->type) vec_push(&g->acts, from);
  else if (from.target)
    assign_target(g->x.env, from.target, generator_result(from.it), from.s->span);
  return true;
}

static bool run_statement(Generator *g, Ast *s, Value *out) {
  if (s->yields && s->kind != AST_KIND_Def && s->kind != AST_KIND_Class)
    return start_statement(g, s, out);
  Flow flow = exec_statement(&g->x, s);
  if (flow != FLOW_NEXT) deliver(g, flow, NULL);
  return false;
}

/* Goes on with a statement whose head has got what it yielded for. */
static bool next_head(Generator *g, Value *out) {
  Ast *s = vec_pop(&g->acts).s;
  if (yield_in_head(s)) return start_statement(g, s, out);
  bool yields = run_statement(g, s, out);
  yield_forget(g->x.env, g->hidden);
  g->hidden = 0;
  return yields;
}

/* One step. True if it yields. */
static bool step(Generator *g, Value *out) {
  Act *a = &vec_last(&g->acts);
  switch (a->kind) {
  case ACT_BLOCK: {
    if (a->next == a->body->len) return g->acts.len--, false;
    return run_statement(g, a->body->at[a->next++], out);
  }
  case ACT_FOR:
  case ACT_WHILE: return next_round(g), false;
  case ACT_TRY: return end_try(g), false;
  case ACT_HEAD: return next_head(g, out);
  case ACT_WITH: {
    Act left = vec_pop(&g->acts);
    if (left.it.type->leave) left.it.type->leave(left.it, NULL, left.s->span);
    return false;
  }
  default: return next_from(g, out);
  }
}

typedef struct Resume {
  Generator *g;
  Error *thrown; /* to be raised where the generator stands */
  Value sent, out;
  Span span;
} Resume;

static void set_handling(const Generator *g) {
  for (int i = g->acts.len; i-- > 0;)
    if (g->acts.at[i].kind == ACT_TRY && g->acts.at[i].handled) {
      handling = g->acts.at[i].handled;
      return;
    }
}

static void resume(void *context) {
  Resume *r = context;
  Generator *g = r->g;
  CallFrame frame = {g->def->name, r->span};
  vec_push(&calls, frame);
  if (r->thrown) {
    Error *e = r->thrown;
    r->thrown = NULL;
    g->target = NULL;
    yield_forget(g->x.env, g->hidden);
    g->hidden = 0;
    if (!throw_into_from(g, e, &r->out)) deliver(g, FLOW_NEXT, e);
  } else if (g->target) {
    Ast *target = g->target;
    g->target = NULL;
    assign_target(g->x.env, target, r->sent, target->span);
  } else g->sent = r->sent;
  set_handling(g);
  bool yields = r->out.type != NULL;
  while (!yields && g->acts.len) yields = step(g, &r->out);
  if (!yields) g->finished = true;
  calls.len--;
}

static Value run(Generator *g, Value sent, Error *thrown, Span span) {
  if (g->running) raise("ValueError", span, "generator already executing");
  if (g->finished) {
    if (thrown) error_raise(thrown);
    return value_absent();
  }
  Resume r = {.g = g, .sent = sent, .thrown = thrown, .span = span};
  g->running = g->started = true;
  Error *was = handling, *e;
  while ((e = eval_protect(resume, &r)) && g->acts.len) r.thrown = e;
  handling = was;
  g->running = false;
  if (!e) return r.out;
  g->finished = true;
  if (exception_matches(e, exception_class("StopIteration"))) {
    Value text = value_str("generator raised StopIteration");
    Value error = exception_new("RuntimeError", 1, &text);
    InstanceObject *o = error.object;
    o->context = e;
    o->context_is_cause = true;
    exception_raise(error, e->span);
  }
  error_raise(e);
}

/* ---- as a value ---- */

static Value next(Value v, Span span) { return run(v.object, value_none(), NULL, span); }
static Value iter(Value v, Span span) { return (void)span, v; }

Value generator_result(Value v) {
  if (v.type != &type_generator_object) return value_none();
  Value result = ((Generator *)v.object)->x.result;
  return result.type ? result : value_none();
}

void raise_stop_iteration(Value iterator, Span span) {
  Value result = generator_result(iterator);
  exception_raise(exception_new("StopIteration", !value_is_none(result), &result), span);
}

static Value or_stop(Value v, BuiltinCall *c) {
  if (!v.type) raise_stop_iteration(c->self, c->span);
  return v;
}

static Value method_send(BuiltinCall *c) {
  Generator *g = c->self.object;
  if (!g->started && !value_is_none(c->args[0]))
    raise("TypeError", c->span, "can't send non-None value to a just-started generator");
  return or_stop(run(g, c->args[0], NULL, c->span), c);
}

static Error *error_of(Value exception, Span span) {
  if (exception.type == &type_class) exception = value_call_with(exception, 0, NULL, span);
  if (exception.type != &type_instance ||
      !((InstanceObject *)exception.object)->class->is_exception)
    raise("TypeError", span, "throw() takes an exception");
  InstanceObject *o = exception.object;
  if (!o->raised)
    o->raised = NEW(Error, .kind = str_intern(value_type_text(exception)),
                    .text = value_to_str(exception), .span = span, .value = o);
  return o->raised;
}

static Value method_throw(BuiltinCall *c) {
  Value e = c->args[0], value = c->args[1];
  if (value.type && !value_is_none(value) && e.type == &type_class) {
    bool made = value.type == &type_instance &&
                class_is_subclass(((InstanceObject *)value.object)->class, e.object);
    bool many = value.type == &type_tuple;
    e = made ? value
             : value_call_with(e, many ? value_items(value)->len : 1,
                               many ? value_items(value)->at : &value, c->span);
  }
  return or_stop(run(c->self.object, value_none(), error_of(e, c->span), c->span), c);
}

static void close_it(void *context) {
  Resume *r = context;
  Error *e = NEW(Error, .kind = str_intern("GeneratorExit"), .text = "", .span = r->span);
  if (run(r->g, value_none(), e, r->span).type)
    raise("RuntimeError", r->span, "generator ignored GeneratorExit");
}

static Value method_close(BuiltinCall *c) {
  Generator *g = c->self.object;
  Resume r = {.g = g, .span = c->span};
  if (!g->started) g->finished = true;
  Error *e = g->finished ? NULL : eval_protect(close_it, &r);
  if (e && !exception_matches(e, exception_class("GeneratorExit"))) error_raise(e);
  return value_none();
}

static const Builtin methods[] = {
    {"send", "value, /", method_send, "goes on, with a value for the yield that waits"},
    {"throw", "exception, value?, traceback?, /", method_throw,
     "goes on by raising at the yield that waits"},
    {"close", "", method_close, "ends the generator; its finally parts run"},
};
enum { METHODS = sizeof methods / sizeof *methods };
static Value get_attr(Value v, const char *name, Span span) {
  return (void)span, builtin_method(methods, METHODS, v, name);
}
static void attr_names(Value v, StrVec *out) {
  (void)v;
  builtin_names(methods, METHODS, out);
}
static void repr(Value v, Str *out) {
  str_printf(out, "<generator object %s>", ((Generator *)v.object)->def->name);
}
static uint64_t hash(Value v) { return (uint64_t)(uintptr_t)v.object >> 4; }

static const ValueType type_generator_object = {.name = "generator",
                                                .repr = repr,
                                                .get_attr = get_attr,
                                                .attr_names = attr_names,
                                                .iter = iter,
                                                .next = next,
                                                .hash = hash};
