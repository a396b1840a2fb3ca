/* stmt.c -- runs statements. break, continue and return are results, not jumps. */
#include "lang/eval/eval_impl.h"

Flow exec_statements(Exec *x, const AstVec *statements) {
  for each (Ast *, s, statements) {
    Flow flow = exec_statement(x, *s);
    if (flow != FLOW_NEXT) return flow;
  }
  return FLOW_NEXT;
}

void exec_block(Env *env, const AstVec *statements) {
  Exec x = {.env = env};
  Span at = eval_span; /* whoever runs it from C goes on there */
  for each (Ast *, s, statements) {
    Flow flow = exec_statement(&x, *s);
    if (flow == FLOW_NEXT) continue;
    raise("SyntaxError", (*s)->span, "'%s' outside %s",
          flow == FLOW_RETURN  ? "return"
          : flow == FLOW_BREAK ? "break"
                               : "continue",
          flow == FLOW_RETURN ? "a function" : "a loop");
  }
  eval_span = at;
}

/* ---- simple statements ---- */

static Flow exec_expr(Exec *x, Ast *s) {
  eval(x->env, AST_AS(ExprStmt, s)->value);
  return FLOW_NEXT;
}

static Flow exec_assign(Exec *x, Ast *s) {
  AstAssign *a = AST_AS(Assign, s);
  Ast *target = a->targets.at[0];
  if (target->kind == AST_KIND_Tuple && a->value->kind == AST_KIND_Tuple && a->targets.len == 1 &&
      assign_side_by_side(x->env, &AST_AS(Tuple, target)->items, &AST_AS(Tuple, a->value)->items))
    return FLOW_NEXT;
  Value v = eval(x->env, a->value);
  for each (Ast *, t, &a->targets) assign_target(x->env, *t, v, a->value->span);
  return FLOW_NEXT;
}

static Flow exec_aug_assign(Exec *x, Ast *s) {
  aug_assign(x->env, AST_AS(AugAssign, s));
  return FLOW_NEXT;
}

/* The annotation is for people: it is not evaluated. Of the names of a class the text is kept. */
static void note_annotation(Env *env, AstAnnAssign *a) {
  const char *key = str_intern("__annotations__");
  Span span = a->annotation->span;
  const Source *source = source_locate(span.lo).source;
  Value *all = names_get(&env->names, key);
  Value dict = all ? *all : value_dict();
  if (!all) env_set(env, key, dict);
  value_dict_set(dict, value_str(AST_AS(Name, a->target)->name),
                 value_str_n(source->text + (span.lo - source->base), span.hi - span.lo), span);
}

static Flow exec_ann_assign(Exec *x, Ast *s) {
  AstAnnAssign *a = AST_AS(AnnAssign, s);
  if (x->env->is_class && a->target->kind == AST_KIND_Name) note_annotation(x->env, a);
  if (a->value) assign_target(x->env, a->target, eval(x->env, a->value), a->value->span);
  return FLOW_NEXT;
}

static Flow exec_return(Exec *x, Ast *s) {
  Ast *value = AST_AS(Return, s)->value;
  x->result = value ? eval(x->env, value) : value_none();
  return FLOW_RETURN;
}

static Flow exec_raise_statement(Exec *x, Ast *s) {
  exec_raise(x->env, AST_AS(Raise, s));
  return FLOW_NEXT;
}

static const char *shortened(Value v) {
  const char *text = value_repr(v);
  size_t n = strlen(text);
  if (n <= 400) return text;
  n = 400;
  while ((text[n] & 0xc0) == 0x80) n--;
  return str_format("%.*s...", (int)n, text);
}

/* Without a message, a comparison that fails shows both of its sides. */
static Flow exec_assert(Exec *x, Ast *s) {
  AstAssert *a = AST_AS(Assert, s);
  const char *sides = "assertion failed";
  Value truth;
  if (a->cond->kind == AST_KIND_Compare && AST_AS(Compare, a->cond)->ops.len == 1) {
    AstCompare *c = AST_AS(Compare, a->cond);
    Value left = eval(x->env, c->left), right = eval(x->env, c->rights.at[0]);
    truth = value_compare(c->ops.at[0], left, right, a->cond->span);
    if (value_truth(truth, a->cond->span)) return FLOW_NEXT;
    if (!a->message)
      sides = str_format("not true: %s %s %s", shortened(left), ast_op_text(c->ops.at[0]),
                         shortened(right));
  } else {
    truth = eval(x->env, a->cond);
    if (value_truth(truth, a->cond->span)) return FLOW_NEXT;
  }
  Value message = a->message ? eval(x->env, a->message) : value_absent();
  Value e = exception_new("AssertionError", a->message ? 1 : 0, &message);
  if (a->message) exception_raise(e, a->cond->span);
  error_raise(NEW(Error, .kind = str_intern("AssertionError"), .text = sides, .span = a->cond->span,
                  .value = e.object));
}

static Flow exec_delete(Exec *x, Ast *s) {
  for each (Ast *, t, &AST_AS(Delete, s)->targets) delete_target(x->env, *t);
  return FLOW_NEXT;
}

static Flow exec_pass(Exec *x, Ast *s) { return (void)x, (void)s, FLOW_NEXT; }
static Flow exec_break(Exec *x, Ast *s) { return (void)x, (void)s, FLOW_BREAK; }
static Flow exec_continue(Exec *x, Ast *s) { return (void)x, (void)s, FLOW_CONTINUE; }

static Flow exec_def_statement(Exec *x, Ast *s) {
  exec_def(x->env, s);
  return FLOW_NEXT;
}
static Flow exec_class_statement(Exec *x, Ast *s) {
  exec_class(x->env, s);
  return FLOW_NEXT;
}
static Flow exec_import_statement(Exec *x, Ast *s) {
  if (s->kind == AST_KIND_Import) exec_import(x->env, s);
  else exec_import_from(x->env, s);
  return FLOW_NEXT;
}

/* The parser has reported it; here for those who run what did parse. */
static Flow exec_error(Exec *x, Ast *s) {
  (void)x;
  raise("SyntaxError", s->span, "this statement did not parse");
}

/* ---- control flow ---- */

static Flow exec_if(Exec *x, Ast *s) {
  AstIf *i = AST_AS(If, s);
  return exec_statements(x,
                         value_truth(eval(x->env, i->cond), i->cond->span) ? &i->body : &i->orelse);
}

/* What a loop does after its body ended so: true to leave it, with *flow as its own result. */
static bool leaves_loop(Flow *flow) {
  if (*flow == FLOW_RETURN) return true;
  bool broke = *flow == FLOW_BREAK;
  *flow = FLOW_NEXT;
  return broke;
}

static Flow exec_while(Exec *x, Ast *s) {
  AstWhile *w = AST_AS(While, s);
  while (value_truth(eval(x->env, w->cond), w->cond->span)) {
    interrupt_check(s->span);
    Flow flow = exec_statements(x, &w->body);
    if (leaves_loop(&flow)) return flow;
  }
  return exec_statements(x, &w->orelse);
}

static Flow for_range(Exec *x, AstFor *f, const RangeObject *r, bool *left) {
  for (int64_t n = 0, i = r->start; n < r->length; n++) {
    interrupt_check(f->iter->span);
    assign_target(x->env, f->target, value_int(i), f->iter->span);
    Flow flow = exec_statements(x, &f->body);
    if (leaves_loop(&flow)) return *left = true, flow;
    i = (int64_t)((uint64_t)i + (uint64_t)r->step);
  }
  return FLOW_NEXT;
}

static Flow for_iterable(Exec *x, AstFor *f, Value iterable, bool *left) {
  Value it = value_iter(iterable, f->iter->span);
  for (Value v; (v = value_next(it, f->iter->span)).type;) {
    interrupt_check(f->iter->span);
    assign_target(x->env, f->target, v, f->iter->span);
    Flow flow = exec_statements(x, &f->body);
    if (leaves_loop(&flow)) return *left = true, flow;
  }
  return FLOW_NEXT;
}

static Flow exec_for(Exec *x, Ast *s) {
  AstFor *f = AST_AS(For, s);
  Value iterable = eval(x->env, f->iter);
  bool left = false;
  Flow flow = iterable.type == &type_range ? for_range(x, f, iterable.object, &left)
                                           : for_iterable(x, f, iterable, &left);
  return left ? flow : exec_statements(x, &f->orelse);
}

/* ---- with ---- */

typedef struct WithBody {
  Exec *x;
  AstWith *w;
  int next; /* item */
  Flow flow;
} WithBody;

static Flow with_items(Exec *x, AstWith *w, int i);

static void run_with_body(void *context) {
  WithBody *b = context;
  b->flow = with_items(b->x, b->w, b->next);
}

static Flow with_items(Exec *x, AstWith *w, int i) {
  if (i == w->items.len) return exec_statements(x, &w->body);
  AstWithItem *item = AST_AS(WithItem, w->items.at[i]);
  Value v = eval(x->env, item->context);
  Span span = item->context->span;
  if (!v.type->enter && !v.type->leave)
    raise("TypeError", span, "'%s' object does not support the context manager protocol",
          value_type_text(v));
  Value bound = v.type->enter ? v.type->enter(v, span) : v;
  if (item->target) assign_target(x->env, item->target, bound, span);
  WithBody b = {.x = x, .w = w, .next = i + 1};
  Error *e = eval_protect(run_with_body, &b);
  bool swallowed = v.type->leave && v.type->leave(v, e, span);
  if (e && !swallowed) error_raise(e);
  return e ? FLOW_NEXT : b.flow;
}

Flow exec_with(Exec *x, Ast *s) { return with_items(x, AST_AS(With, s), 0); }

/* Indexed by AstKind. `global` and `nonlocal` are known from the function's plan. */
static Flow (*const executors[AST_KIND_COUNT])(Exec *x, Ast *s) = {
    [AST_KIND_ExprStmt] = exec_expr,
    [AST_KIND_Assign] = exec_assign,
    [AST_KIND_AugAssign] = exec_aug_assign,
    [AST_KIND_AnnAssign] = exec_ann_assign,
    [AST_KIND_Return] = exec_return,
    [AST_KIND_Raise] = exec_raise_statement,
    [AST_KIND_Assert] = exec_assert,
    [AST_KIND_Delete] = exec_delete,
    [AST_KIND_Pass] = exec_pass,
    [AST_KIND_Break] = exec_break,
    [AST_KIND_Continue] = exec_continue,
    [AST_KIND_Global] = exec_pass,
    [AST_KIND_Nonlocal] = exec_pass,
    [AST_KIND_Import] = exec_import_statement,
    [AST_KIND_ImportFrom] = exec_import_statement,
    [AST_KIND_If] = exec_if,
    [AST_KIND_For] = exec_for,
    [AST_KIND_While] = exec_while,
    [AST_KIND_With] = exec_with,
    [AST_KIND_Try] = exec_try,
    [AST_KIND_Def] = exec_def_statement,
    [AST_KIND_Class] = exec_class_statement,
    [AST_KIND_Error] = exec_error,
};

Flow exec_statement(Exec *x, Ast *s) {
  stack_check(s->span);
  REQUIRE(executors[s->kind], "a statement, found %s", ast_kind_name(s->kind));
  return executors[s->kind](x, s);
}
