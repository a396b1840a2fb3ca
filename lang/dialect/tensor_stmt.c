/* tensor_stmt.c -- statements of a prim_func's body to IR statements.
 *
 * A suite is gathered as a list. Some statements (a let, T.allocate, T.attr, ...) scope over the
 * rest of their suite: they stand in the list without a body and take what follows when the suite
 * ends. */
#include "lang/dialect/tensor_names.h"
#include "lang/dialect/tensor_stmt.h"

void suite_add(Suite *s, Node *stmt, bool open) {
  vec_push(&s->items, stmt);
  vec_push(&s->open, open);
}

static Node *close_suite(Suite *s, Span span) {
  NodeVec reversed = {0};
  for (int i = s->items.len - 1; i >= 0; i--) {
    if (!s->open.at[i]) {
      vec_push(&reversed, s->items.at[i]);
      continue;
    }
    NodeVec rest = {0};
    for (int k = reversed.len - 1; k >= 0; k--) vec_push(&rest, reversed.at[k]);
    reversed = (NodeVec){0};
    vec_push(&reversed, wrap_body(s->items.at[i], stmt_seq(rest, span)));
  }
  NodeVec all = {0};
  for (int k = reversed.len - 1; k >= 0; k--) vec_push(&all, reversed.at[k]);
  return stmt_seq(all, span);
}

/* ---- expression statements ---- */

static void expression_statement(Suite *s, AstExprStmt *e) {
  Value v = eval(s->env, e->value);
  Span span = e->ast.span;
  if (value_is_none(v) || v.type == &type_str || v.type == &type_ellipsis || v.type == &type_poison)
    return;
  if (v.type == &type_frame && ((Frame *)v.object)->kind == FRAME_WRAP)
    return suite_add(s, ((Frame *)v.object)->wrapper, true);
  if (v.type == &type_frame)
    raise("SyntaxError", span, "%s needs %s", value_repr(v),
          ((Frame *)v.object)->kind == FRAME_FOR ? "'for ... in'" : "'with'");
  if (v.type == &type_node && node_family(v.node->kind) == FAMILY_STMT)
    return suite_add(s, v.node, false);
  if (v.type == &type_node && (IS(Buffer, v.node) || is_fresh_var(v)))
    return; /* T.alloc_buffer without a name */
  suite_add(s, stmt_evaluate(to_expr(v, span), span), false);
}

/* Remembers the names of a scope that ends, for the message about a use after it. */
static void end_scope(Env *env) {
  for each (NameEntry, e, &env->names)
    if (e->value.type == &type_node)
      map_set(&tensor->ended, e->name, gc_copy(&e->value.node->span, sizeof(Span)));
}

/* ---- loops ---- */

static const char *target_name(Ast *target) {
  return target->kind == AST_KIND_Name ? AST_AS(Name, target)->name : NULL;
}

static void bind_loop_name(Binder *binder, Ast *target, Value v) {
  const char *name = AST_AS(Name, target)->name;
  name_fresh(v, name);
  env_set(binder->env, name, v);
}

/* Fors without bodies for a frame, outermost first; their variables are known to T.axis.remap. */
static NodeVec make_loops(Frame *f, Span span) {
  NodeVec loops = {0};
  for (int i = 0; i < f->extents.len; i++) {
    Node *min = f->mins.at[i], *extent = f->extents.at[i];
    DataType t = min->dtype.bits > extent->dtype.bits ? min->dtype : extent->dtype;
    Node *var = MAKE(Var, span, t, .elem = VOID_TYPE);
    Node *loop = MAKE(For, span, VOID_TYPE, .min = expr_cast(t, min, span),
                      .extent = expr_cast(t, extent, span), .var = var, .loop_kind = f->loop_kind,
                      .thread_tag = f->thread_tag, .annotations = f->annotations);
    map_set(&tensor->loops, var, loop);
    vec_push(&loops, loop);
  }
  return loops;
}

/* for i in T.serial(a, b, step=k): a loop that counts, with a let of i in its body. */
static void loop_in_steps(Suite *s, AstFor *a, Frame *f, Node *counting) {
  const char *name = target_name(a->target);
  if (!name) raise("TypeError", a->target->span, "the loop has one variable");
  For *loop = AS(For, counting);
  Span span = counting->span;
  Node *last = expr_binary(NK_Sub, f->step, int_imm(INT32, 1, span), span);
  Node *begin = loop->min;
  loop->extent =
      expr_binary(NK_FloorDiv, expr_binary(NK_Add, loop->extent, last, span), f->step, span);
  loop->min = int_imm(begin->dtype, 0, span);
  name_fresh(value_node(loop->var), str_format("%s_n", name));
  Node *at = expr_binary(NK_Add, begin, expr_binary(NK_Mul, loop->var, f->step, span), span);
  Node *var = var_new(name, at->dtype, span);
  Env *env = env_new(s->env);
  env_set(env, name, value_node(var));
  loop->body = MAKE(LetStmt, span, VOID_TYPE, .value = at, .var = var,
                    .body = tensor_suite(env, &a->body, span));
  end_scope(env);
  suite_add(s, counting, false);
}

static void loop_over_frame(Suite *s, AstFor *a, Frame *f) {
  Span span = span_join(a->target->span, a->iter->span);
  NodeVec loops = make_loops(f, span);
  ValueVec vars = {0};
  for each (Node *, loop, &loops) vec_push(&vars, value_node(AS(For, *loop)->var));
  if (f->step) return loop_in_steps(s, a, f, loops.at[0]);
  bool many = a->target->kind == AST_KIND_Tuple || a->target->kind == AST_KIND_List;
  if (many && vars.len == 1 && !f->is_grid)
    raise("TypeError", a->target->span, "the loop has one variable, found several names");
  Env *env = env_new(s->env);
  Binder binder = {.bind = bind_loop_name, .env = env};
  Value value = vars.len == 1 && !many ? vars.at[0] : value_tuple(vars);
  bind_target(&binder, a->target, value, a->target->span);
  if (!many && target_name(a->target)) name_fresh(value, target_name(a->target));
  Node *body = tensor_suite(env, &a->body, span);
  end_scope(env);
  for (int i = loops.len - 1; i >= 0; i--) {
    AS(For, loops.at[i])->body = body;
    body = loops.at[i];
  }
  suite_add(s, body, false);
}

/* A loop of the script around the program: its body is built once for each value. */
static void loop_over_values(Suite *s, AstFor *a, Value iterable) {
  ValueVec values = value_to_vec(iterable, a->iter->span);
  for each (Value, v, &values) {
    Env *env = env_new(s->env);
    Binder binder = {.bind = bind_loop_name, .env = env};
    bind_target(&binder, a->target, *v, a->target->span);
    suite_add(s, tensor_suite(env, &a->body, a->ast.span), false);
  }
}

/* range(...) in a `for` is T.serial, and may run over expressions. */
static Value loop_iterable(Env *env, Ast *iter) {
  if (iter->kind == AST_KIND_Call && target_name(AST_AS(Call, iter)->func) &&
      str_same(target_name(AST_AS(Call, iter)->func), "range")) {
    CallArgs args = {.span = iter->span, .env = env};
    eval_args(env, &AST_AS(Call, iter)->args, &args);
    return value_call(value_get_attr(tensor_namespace(), str_intern("serial"), iter->span), &args);
  }
  return eval(env, iter);
}

static void for_statement(Suite *s, AstFor *a) {
  if (a->orelse.len) raise_code(E0510, a->ast.span, "a loop of a prim_func has no 'else'");
  Value iterable = loop_iterable(s->env, a->iter);
  if (iterable.type == &type_frame && ((Frame *)iterable.object)->kind == FRAME_FOR)
    loop_over_frame(s, a, iterable.object);
  else loop_over_values(s, a, iterable);
}

static Node *condition(Value v, Span span) {
  Node *cond = to_expr(v, span);
  if (dtype_is_bool(cond->dtype)) return cond;
  if (dtype_is_int(cond->dtype))
    return expr_binary(NK_NE, cond, int_imm(cond->dtype, 0, span), span);
  raise_code(E0311, span, "a condition must be a bool, found %s", dtype_text(cond->dtype));
}

static void while_statement(Suite *s, AstWhile *a) {
  if (a->orelse.len) raise_code(E0510, a->ast.span, "a loop of a prim_func has no 'else'");
  Node *cond = condition(eval(s->env, a->cond), a->cond->span);
  suite_add(s,
            MAKE(While, a->ast.span, VOID_TYPE, .cond = cond,
                 .body = tensor_suite(s->env, &a->body, a->ast.span)),
            false);
}

static void exec_statement(Suite *s, Ast *statement);

static void if_statement(Suite *s, AstIf *a) {
  Value v = eval(s->env, a->cond);
  if (v.type != &type_node) { /* known while the program is read */
    const AstVec *arm = value_truth(v, a->cond->span) ? &a->body : &a->orelse;
    for each (Ast *, statement, arm) exec_statement(s, *statement);
    return;
  }
  Node *cond = condition(v, a->cond->span);
  Node *then = tensor_suite(s->env, &a->body, a->ast.span);
  Node *orelse = a->orelse.len ? tensor_suite(s->env, &a->orelse, a->ast.span) : NULL;
  suite_add(s,
            MAKE(IfThenElse, a->ast.span, VOID_TYPE, .cond = cond, .then = then, .orelse = orelse),
            false);
}

/* ---- with ---- */

/* The predicate stands around the block, where its variables are what they are bound to. */
static Node *outside(BlockBuilder *b, Node *predicate) {
  Map values = {0};
  for (int i = 0; i < b->iter_vars.len && i < b->iter_values.len; i++)
    map_set(&values, AS(IterVar, b->iter_vars.at[i])->var, b->iter_values.at[i]);
  return substitute(predicate, &values);
}

/* The buffers that a block sees, by their pointers. */
static Map visible_buffers(const BlockBuilder *b) {
  Map visible = {0};
  for each (Node *, x, &tensor->buffers)
    if (*x) map_set(&visible, AS(Buffer, *x)->data, *x);
  for (b = b->outer; b; b = b->outer) {
    for each (Node *, x, &b->allocs) map_set(&visible, AS(Buffer, *x)->data, *x);
    for each (Node *, x, &b->matches) {
      Node *buffer = AS(MatchBufferRegion, *x)->buffer;
      map_set(&visible, AS(Buffer, buffer)->data, buffer);
    }
  }
  return visible;
}

static Node *finish_block(BlockBuilder *b, Node *body) {
  Block *block = AS(Block, MAKE(Block, b->span, VOID_TYPE, .name = b->name,
                                .iter_vars = b->iter_vars, .alloc_buffers = b->allocs,
                                .match_buffers = b->matches, .reads = b->reads, .writes = b->writes,
                                .annotations = b->annotations, .init = b->init, .body = body));
  NodeVec reads = {0}, writes = {0};
  if (!b->has_reads || !b->has_writes) {
    Map visible = visible_buffers(b);
    if (!block_access_regions(&block->node, &visible, &reads, &writes))
      raise("TypeError", b->span,
            "what block '%s' reads and writes can't be inferred; give T.reads and T.writes",
            b->name);
    if (!b->has_reads) block->reads = reads;
    if (!b->has_writes) block->writes = writes;
  }
  if (b->no_realize) return &block->node;
  return MAKE(BlockRealize, b->span, VOID_TYPE, .iter_values = b->iter_values,
              .block = &block->node,
              .predicate = b->predicate ? outside(b, b->predicate) : int_imm(BOOL, 1, b->span));
}

static Node *with_items(Env *env, AstWith *a, int item);

static Node *block_suite(Env *env, AstWith *a, int item, Frame *f) {
  BlockBuilder b = {.outer = tensor->block,
                    .name = f->name,
                    .span = a->items.at[item]->span,
                    .no_realize = f->no_realize};
  tensor->saw_block = true;
  tensor->block = &b;
  Node *body = with_items(env, a, item + 1);
  tensor->block = b.outer;
  return finish_block(&b, body);
}

static Node *init_suite(Env *env, AstWith *a, int item) {
  BlockBuilder *b = tensor->block;
  if (b->init) raise_code(E0508, a->items.at[item]->span, "the block has a T.init already");
  b->init = with_items(env, a, item + 1);
  return NULL;
}

/* The items from number `item` on, and the body inside them. NULL: nothing to add. */
static Node *with_items(Env *env, AstWith *a, int item) {
  if (item == a->items.len) return tensor_suite(env, &a->body, a->ast.span);
  AstWithItem *w = AST_AS(WithItem, a->items.at[item]);
  Value v = eval(env, w->context);
  if (v.type == &type_poison) raise(ERROR_POISONED, w->ast.span, "an earlier error");
  if (value_is_node(v, NK_Call)) /* with Tx.compose_op(...): what it holds for */
    v = value_frame(
        NEW(Frame, .kind = FRAME_WRAP,
            .wrapper = MAKE(AttrStmt, w->ast.span, VOID_TYPE, .subject = v.node,
                            .key = str_intern("with"), .value = int_imm(BOOL, 1, w->ast.span))));
  if (v.type != &type_frame)
    raise("TypeError", w->context->span, "'with' in a prim_func takes a block or a scope, found %s",
          value_type_name(v));
  Frame *f = v.object;
  if (w->target && (f->kind != FRAME_WRAP || !f->bound.type))
    raise("SyntaxError", w->target->span, "%s binds nothing: remove 'as'", value_repr(v));
  Env *inner = env_new(env);
  switch (f->kind) {
  case FRAME_BLOCK: return block_suite(inner, a, item, f);
  case FRAME_INIT: return init_suite(inner, a, item);
  case FRAME_WRAP:
    if (w->target) {
      Binder binder = {.bind = bind_loop_name, .env = inner};
      bind_target(&binder, w->target, f->bound, w->target->span);
    }
    return wrap_body(f->wrapper, with_items(inner, a, item + 1));
  default: raise("TypeError", w->context->span, "%s can't stand in 'with' here", value_repr(v));
  }
}

static void with_statement(Suite *s, AstWith *a) {
  BlockBuilder *block = tensor->block;
  Node *stmt = with_items(s->env, a, 0);
  tensor->block = block;
  if (stmt) suite_add(s, stmt, false);
}

/* ---- the rest ---- */

static void assert_statement(Suite *s, AstAssert *a) {
  if (!a->message)
    raise("SyntaxError", a->ast.span,
          "an assert of a prim_func needs a message: assert condition, \"message\"");
  Value cond = eval(s->env, a->cond), message = eval(s->env, a->message), kind = value_none();
  bool in_parts = message.type == &type_tuple && value_items(message)->len == 2;
  if (in_parts) { /* ("ValueError", ["part", "part"]) */
    kind = value_items(message)->at[0];
    message = value_items(message)->at[1];
  }
  Node *stmt = MAKE(AssertStmt, a->ast.span, VOID_TYPE, .cond = condition(cond, a->cond->span));
  set_assert_message(stmt, message, kind, a->message->span);
  suite_add(s, stmt, true);
}

static void return_statement(Suite *s, AstReturn *a) {
  Node *value =
      a->value ? to_expr(eval(s->env, a->value), a->value->span) : int_imm(INT32, 0, a->ast.span);
  suite_add(s,
            stmt_evaluate(expr_call("ret", value->dtype, NODES(value), a->ast.span), a->ast.span),
            false);
}

static void jump_statement(Suite *s, const char *intrin, Span span) {
  suite_add(s, stmt_evaluate(expr_call(intrin, VOID_TYPE, (NodeVec){0}, span), span), false);
}

static void dispatch(Suite *s, Ast *a) {
  switch (a->kind) {
  case AST_KIND_ExprStmt: return expression_statement(s, AST_AS(ExprStmt, a));
  case AST_KIND_Assign: return assign_statement(s, AST_AS(Assign, a));
  case AST_KIND_AnnAssign: return annotated_assignment(s, AST_AS(AnnAssign, a));
  case AST_KIND_AugAssign: return augmented_assignment(s, AST_AS(AugAssign, a));
  case AST_KIND_For: return for_statement(s, AST_AS(For, a));
  case AST_KIND_While: return while_statement(s, AST_AS(While, a));
  case AST_KIND_If: return if_statement(s, AST_AS(If, a));
  case AST_KIND_With: return with_statement(s, AST_AS(With, a));
  case AST_KIND_Assert: return assert_statement(s, AST_AS(Assert, a));
  case AST_KIND_Return: return return_statement(s, AST_AS(Return, a));
  case AST_KIND_Break: return jump_statement(s, "break_loop", a->span);
  case AST_KIND_Continue: return jump_statement(s, "continue_loop", a->span);
  case AST_KIND_Def: return exec_block(s->env, &(AstVec){.at = &a, .len = 1});
  case AST_KIND_Pass:
  case AST_KIND_Nonlocal:
  case AST_KIND_Error: return;
  default: raise_code(E0510, a->span, "a prim_func can't hold this statement");
  }
}

/* ---- faults: one report for a statement, then on with the next ---- */

typedef struct StatementJob {
  Suite *suite;
  Ast *statement;
} StatementJob;

static void run_statement(void *context) {
  StatementJob *job = context;
  dispatch(job->suite, job->statement);
}

static void poison_names(void *env, Ast *target) {
  if (target->kind == AST_KIND_Name && !names_get(&((Env *)env)->names, AST_AS(Name, target)->name))
    env_set(env, AST_AS(Name, target)->name, value_of(&type_poison, NULL));
  else if (target->kind == AST_KIND_Tuple || target->kind == AST_KIND_List)
    ast_each_child(target, poison_names, env);
}

static bool tell_ended(const char *name, Span span) {
  Span *ended = map_get(&tensor->ended, name);
  if (!ended) return false;
  Diag *d = diag_fault(E0302, span, "'%s' is used outside the suite that defines it", name);
  diag_note(d, *ended, "it is defined here; does the use belong inside this suite?");
  return true;
}

static void report(const Error *e, Env *env, Ast *statement) {
  UndefinedNames names = {
      .env = env, .tell_ended = tell_ended, .told = &tensor->told, .ended = &tensor->ended};
  if (!report_undefined_names(&names, e, statement)) report_statement_error(e);
}

static void exec_statement(Suite *s, Ast *statement) {
  StatementJob job = {s, statement};
  BlockBuilder *block = tensor->block;
  Error *e = eval_protect(run_statement, &job);
  if (!e) return;
  tensor->block = block;
  report(e, s->env, statement);
  if (statement->kind == AST_KIND_Assign)
    poison_names(s->env, AST_AS(Assign, statement)->targets.at[0]);
  if (statement->kind == AST_KIND_AnnAssign)
    poison_names(s->env, AST_AS(AnnAssign, statement)->target);
}

Node *tensor_suite(Env *outer, const AstVec *statements, Span span) {
  Suite s = {.env = env_new(outer)};
  for each (Ast *, statement, statements) exec_statement(&s, *statement);
  end_scope(s.env);
  return close_suite(&s, span);
}
