/* graph_stmt.c -- statements of a graph function: bindings, dataflow blocks, branches, local
 * functions. */
#include "lang/dialect/graph_stmt.h"
#include "lang/builtin/tensor.h"

/* ---- bindings ---- */

typedef struct GraphBinder {
  Binder base;
  Node *annotation; /* struct info written at the target, or NULL */
} GraphBinder;

static void check_annotation(Node *annotation, Node *value, const char *name, Span span) {
  Node *info = sinfo_of(value);
  const char *why = NULL;
  if (!annotation || !info || sinfo_check(annotation, info, &why) != SINFO_NO) return;
  raise_code(E0411, span, "'%s' is annotated with %s, but its value is %s%s%s", name,
             ir_print(annotation, NULL), ir_print(info, NULL), why ? ": " : "", why ? why : "");
}

static bool is_placed(Node *info) {
  return IS(TensorStructInfo, info) && AS(TensorStructInfo, info)->placement;
}

/* The struct info with the placements of an annotation, where it has none of its own. */
static Node *placed_info(Node *info, Node *annotation) {
  if (IS(TupleStructInfo, info) && IS(TupleStructInfo, annotation)) {
    NodeVec fields = {0}, given = AS(TupleStructInfo, annotation)->fields;
    for (int i = 0; i < given.len; i++)
      vec_push(&fields, placed_info(AS(TupleStructInfo, info)->fields.at[i], given.at[i]));
    return sinfo_tuple(fields, info->span);
  }
  if (!is_placed(annotation) || !IS(TensorStructInfo, info) || is_placed(info)) return info;
  TensorStructInfo *placed = gc_copy(info, sizeof *placed);
  placed->mesh = AS(TensorStructInfo, annotation)->mesh;
  placed->placement = AS(TensorStructInfo, annotation)->placement;
  return &placed->node;
}

/* Where the annotation says how a result stands on its mesh, which no rule of an operator knows. */
static Node *with_placement(Node *value, Node *annotation) {
  if (!annotation || !IS(RelaxCall, value)) return value;
  Node *info = sinfo_of(value), *placed = placed_info(info, annotation);
  if (placed == info) return value;
  RelaxCall *call = gc_copy(value, sizeof *call);
  call->sinfo = placed;
  return &call->node;
}

/* y = R.match_cast(x, S): the cast has come without its variable. */
static Node *emit_match_cast(Node *cast, const char *name, Span span) {
  MatchCast *m = AS(MatchCast, cast);
  Node *value = m->value;
  if (!IS(RelaxVar, value) && !IS(Constant, value))
    value = graph_emit(graph_normalize(value), NULL, span);
  Node *var = MAKE(RelaxVar, span, VOID_TYPE, .sinfo = m->sinfo, .name = str_intern(name),
                   .is_dataflow = graph->in_dataflow);
  vec_push(&graph->bindings,
           MAKE(MatchCast, span, VOID_TYPE, .value = value, .var = var, .sinfo = m->sinfo));
  return var;
}

/* Values that become no binding: text, functions of the script, module names, dims, types. */
static bool stays_in_script(Value v) {
  bool number = value_is_integer(v) || v.type == &type_float;
  if (number || v.type == &type_tuple || v.type == &type_tensor) return false;
  if (v.type != &type_node) return true;
  return !IS(MatchCast, v.node) && (!node_is_relax(v.node) || IS(GlobalVar, v.node));
}

static Node *known_dim(const char *name) {
  for (GraphBuilder *g = graph; g; g = g->outer) {
    Node *known = map_get(&g->dims, name);
    if (known) return known;
  }
  return NULL;
}

/* n = T.Var("n", "int64") may stand for the dim of that name. */
static bool names_known_dim(Value v, const char *name) {
  if (!value_is_node(v, NK_Var) || !str_same(AS(Var, v.node)->name, name)) return false;
  Node *known = known_dim(name);
  return known && dtype_equal(known->dtype, v.node->dtype);
}

/* n = T.int64() names a dim of this function or of one around it, or a new one. */
static Value symbolic_var(Value v, const char *name) {
  if (known_dim(name)) return value_node(known_dim(name));
  name_fresh(v, name);
  map_set(&graph->dims, name, v.node);
  return v;
}

/* A number is a constant tensor of rank 0, or a scalar where the annotation says so. */
static Node *number_value(Value v, Node *annotation, Span span) {
  if (!IS(PrimStructInfo, annotation)) return constant_of_value(v, VOID_TYPE, span);
  Node *scalar = expr_cast(AS(PrimStructInfo, annotation)->elem, to_expr(v, span), span);
  return to_relax(value_node(scalar), span);
}

static void bind_graph_name(Binder *binder, Ast *target, Value v) {
  GraphBinder *b = (GraphBinder *)binder;
  const char *name = AST_AS(Name, target)->name;
  Span span = target->span;
  if (v.type == &type_meta) v = *(Value *)v.object;
  else if (is_fresh_var(v) || names_known_dim(v, name)) v = symbolic_var(v, name);
  else if (value_is_node(v, NK_MatchCast)) v = value_node(emit_match_cast(v.node, name, span));
  else if (!stays_in_script(v)) {
    bool number = value_is_integer(v) || v.type == &type_float;
    Node *value =
        number ? number_value(v, b->annotation, span) : graph_normalize(to_relax(v, span));
    check_annotation(b->annotation, value, name, span);
    value = with_placement(value, b->annotation);
    v = value_node(graph_emit(value, name, span));
  }
  env_set(b->base.env, name, v);
}

static void bind(Env *env, Ast *target, Value v, Node *annotation, Span span) {
  GraphBinder b = {.base = {.bind = bind_graph_name, .env = env}, .annotation = annotation};
  if (target->kind == AST_KIND_Subscript || target->kind == AST_KIND_Attribute)
    raise("SyntaxError", target->span,
          "a graph function binds names only; tensors can't be changed in place");
  bind_target(&b.base, target, v, span);
}

/* ---- statements ---- */

static bool is_empty_tuple(Node *info) {
  return IS(TupleStructInfo, info) && !AS(TupleStructInfo, info)->fields.len;
}

static void expression_statement(Env *env, AstExprStmt *e) {
  Value v = eval(env, e->value);
  Span span = e->ast.span;
  if (v.type != &type_node) return; /* R.func_attr, R.output, a docstring */
  if (value_is_node(v, NK_MatchCast)) {
    emit_match_cast(v.node, "_", span);
    return;
  }
  bool packed = IS(RelaxCall, v.node) && IS(Op, AS(RelaxCall, v.node)->op) &&
                str_same(AS(Op, AS(RelaxCall, v.node)->op)->name, "relax.call_packed");
  if (!packed && !is_empty_tuple(sinfo_of(v.node)))
    raise_code(E0414, span, "the value of this statement is lost; bind it to a name, or to '_'");
  graph_emit(graph_normalize(v.node), "_", span);
}

static void annotated_assignment(Env *env, AstAnnAssign *a) {
  if (!a->value) raise("SyntaxError", a->ast.span, "a binding needs a value");
  Node *annotation = to_sinfo(eval(env, a->annotation), a->annotation->span);
  bind(env, a->target, eval(env, a->value), annotation, a->ast.span);
}

static void exec_graph_statement(Env *env, Ast *statement);

/* Executes statements up to R.output, after which the block that it ends holds no more. */
static void exec_suite(Env *env, const AstVec *statements) {
  for each (Ast *, s, statements) {
    if (graph->in_dataflow && graph->has_output) {
      diag_fault(E0417, (*s)->span, "R.output must be the last statement of its dataflow block");
      return;
    }
    exec_graph_statement(env, *s);
  }
}

/* ---- returning ---- */

static void return_statement(Env *env, AstReturn *r) {
  Value v = r->value ? eval(env, r->value) : value_tuple((ValueVec){0});
  if (v.type == &type_poison) raise(ERROR_POISONED, r->ast.span, "an earlier error");
  Node *result = to_relax(v, r->ast.span);
  graph->result = IS(RelaxVar, result) ? result : graph_normalize(result);
}

static WalkResult give_out(Walker *w, Node *n) {
  (void)w;
  if (!IS(RelaxVar, n)) return WALK_ON;
  AS(RelaxVar, n)->is_dataflow = false;
  return WALK_PRUNE;
}

/* `return` at the end of a dataflow block that ends the function: what it names leaves the block
 * without R.output. */
static void return_from_dataflow(Env *env, AstReturn *r) {
  return_statement(env, r);
  Node *result = graph->result;
  if (!graph_is_leaf(result) && !IS(Tuple, result)) result = graph_emit(result, "gv", r->ast.span);
  Walker w = {.enter = give_out};
  walk(&w, result);
  graph->result = result;
}

/* ---- dataflow blocks ---- */

/* Names of the block that R.output has named are seen after it. */
static void keep_outputs(Env *env, Env *inner) {
  for each (NameEntry, e, &inner->names) {
    Value x = e->value;
    if (x.type == &type_poison) env_set(env, e->name, x); /* told already */
    if (x.type != &type_node) continue;
    for each (Node *, v, &graph->outputs)
      if (x.node == *v) env_set(env, e->name, x);
  }
}

static void dataflow_statement(Env *env, AstWith *w) {
  if (w->items.len != 1 || AST_AS(WithItem, w->items.at[0])->target)
    raise("SyntaxError", w->ast.span, "expected 'with R.dataflow():'");
  Value v = eval(env, AST_AS(WithItem, w->items.at[0])->context);
  if (v.type != &type_frame || ((Frame *)v.object)->kind != FRAME_DATAFLOW)
    raise("TypeError", w->items.at[0]->span,
          "'with' in a graph function takes R.dataflow() only, found %s", value_type_name(v));
  if (graph->in_dataflow)
    raise_code(E0410, w->ast.span, "a dataflow block can't stand inside another");
  graph_end_block();
  graph->in_dataflow = true;
  graph->has_output = false;
  graph->outputs = (NodeVec){0};
  Env *inner = env_new(env);
  AstVec body = w->body;
  Ast *last = body.len ? vec_last(&body) : NULL;
  bool returns = last && last->kind == AST_KIND_Return && graph->may_return;
  if (returns) body.len--;
  exec_suite(inner, &body);
  if (returns) return_from_dataflow(inner, AST_AS(Return, last));
  graph_end_block();
  graph->in_dataflow = false;
  keep_outputs(env, inner);
  /* What belongs to the block only: for the message about a use after it. */
  for each (NameEntry, e, &inner->names)
    if (e->value.type == &type_node && !env_find(env, e->name))
      map_set(&graph->ended, e->name, e->value.node);
}

/* ---- branches ---- */

static const char *bound_name(const AstVec *arm) {
  Ast *last = arm->len ? arm->at[arm->len - 1] : NULL;
  Ast *target = !last                              ? NULL
                : last->kind == AST_KIND_Assign    ? AST_AS(Assign, last)->targets.at[0]
                : last->kind == AST_KIND_AnnAssign ? AST_AS(AnnAssign, last)->target
                                                   : NULL;
  if (target && target->kind == AST_KIND_Name) return AST_AS(Name, target)->name;
  if (last && last->kind == AST_KIND_If) return bound_name(&AST_AS(If, last)->body);
  return NULL;
}

/* An arm that ends in `name = leaf` has that leaf as its value, and no binding for it. */
static Node *drop_alias(Node *body) {
  if (!graph->bindings.len) return body;
  Node *last = vec_last(&graph->bindings);
  if (!IS(VarBinding, last) || AS(VarBinding, last)->var != body) return body;
  Node *value = AS(VarBinding, last)->value;
  if (!graph_is_leaf(value)) return body;
  graph->bindings.len--;
  return value;
}

static Node *arm_seq(Env *env, const AstVec *arm, const char *name, Span span) {
  NodeVec blocks = graph->blocks, bindings = graph->bindings;
  graph->blocks = graph->bindings = (NodeVec){0};
  Env *inner = env_new(env);
  for each (Ast *, s, arm) exec_graph_statement(inner, *s);
  Value *result = name ? names_get(&inner->names, name) : NULL;
  Node *body = result                ? to_relax(*result, span)
               : graph->bindings.len ? AS(VarBinding, vec_last(&graph->bindings))->var
                                     : NULL;
  if (!body) raise_code(E0413, span, "each arm must end by binding a name");
  Node *seq = graph_seq(drop_alias(body), span);
  graph->blocks = blocks;
  graph->bindings = bindings;
  return seq;
}

static void if_statement(Env *env, AstIf *a) {
  Value v = eval(env, a->cond);
  Span span = a->ast.span;
  if (v.type != &type_node) { /* known while the program is read */
    exec_suite(env, value_truth(v, a->cond->span) ? &a->body : &a->orelse);
    return;
  }
  if (graph->in_dataflow) raise_code(E0410, span, "a branch can't stand in a dataflow block");
  if (!a->orelse.len) raise_code(E0413, span, "a branch of a graph function needs an 'else'");
  const char *name = bound_name(&a->body), *other = bound_name(&a->orelse);
  if (name != other)
    raise_code(E0413, span, "both arms must end by binding the same name, found '%s' and '%s'",
               name ? name : "nothing", other ? other : "nothing");
  Node *cond = to_relax(v, a->cond->span);
  if (!IS(RelaxVar, cond) && !IS(PrimValue, cond) && !IS(Constant, cond))
    cond = graph_emit(graph_normalize(cond), NULL, span);
  Node *then = arm_seq(env, &a->body, name, span), *orelse = arm_seq(env, &a->orelse, name, span);
  Node *value =
      MAKE(RelaxIf, span, VOID_TYPE, .sinfo = sinfo_join(sinfo_of(then), sinfo_of(orelse)),
           .cond = cond, .then = then, .orelse = orelse);
  Node *var = graph_emit(value, name ? name : "_", span);
  if (name) env_set(env, name, value_node(var));
}

/* ---- loops ---- */

static void bind_loop_name(Binder *b, Ast *name, Value v) {
  env_set(b->env, AST_AS(Name, name)->name, v);
}

/* A loop over values of the script, which its statements are written out for. */
static void for_statement(Env *env, AstFor *a) {
  Value values = eval(env, a->iter);
  Span span = a->iter->span;
  if (values.type == &type_node && node_is_relax(values.node))
    raise_code(E0415, span,
               "a loop of a graph function is written out while the program is read, and this is "
               "known when it runs; call a function recursively");
  Value it = value_iter(values, span);
  for (Value v; (v = value_next(it, span)).type;) {
    interrupt_check(span);
    Binder loop = {.bind = bind_loop_name, .env = env};
    bind_target(&loop, a->target, v, span);
    exec_suite(env, &a->body);
  }
  exec_suite(env, &a->orelse);
}

/* ---- local functions ---- */

static void local_function(Env *env, AstDef *def) {
  Span span = def->name_span;
  CallArgs args = {.span = span, .env = env};
  for each (Ast *, d, &def->decorators)
    if ((*d)->kind == AST_KIND_Call) eval_args(env, &AST_AS(Call, *d)->args, &args);
  if (!def->decorators.len) raise("SyntaxError", span, "a local function needs @R.function");
  /* Its name stands for it inside its own body: recursion. */
  Node *var = MAKE(RelaxVar, span, VOID_TYPE, .sinfo = graph_signature(env, def, &args),
                   .name = def->name, .is_dataflow = graph->in_dataflow);
  Env *inner = env_new(env);
  env_set(inner, def->name, value_node(var));
  Value f = graph_function(inner, def, &args);
  if (f.type != &type_node) raise(ERROR_POISONED, span, "an earlier error");
  AS(RelaxVar, var)->sinfo = sinfo_of(f.node);
  vec_push(&graph->bindings, MAKE(VarBinding, span, VOID_TYPE, .value = f.node, .var = var));
  env_set(env, def->name, value_node(var));
}

/* R.match_shape(x, (n, m)): names known nowhere are dims that the call finds, in the spelling of
 * 2021. */
static void declare_matched_dims(Env *env, Ast *value) {
  AstCall *call = value->kind == AST_KIND_Call ? AST_AS(Call, value) : NULL;
  bool matches = call && call->func->kind == AST_KIND_Attribute && call->args.len == 2 &&
                 str_same(AST_AS(Attribute, call->func)->name, "match_shape");
  if (!matches || call->args.at[1]->kind != AST_KIND_Tuple) return;
  for each (Ast *, item, &AST_AS(Tuple, call->args.at[1])->items) {
    if ((*item)->kind != AST_KIND_Name || env_find(env, AST_AS(Name, *item)->name)) continue;
    const char *name = AST_AS(Name, *item)->name;
    env_set(env, name, symbolic_var(value_node(var_new(name, INT64, (*item)->span)), name));
  }
}

static void dispatch(Env *env, Ast *a) {
  switch (a->kind) {
  case AST_KIND_ExprStmt: return expression_statement(env, AST_AS(ExprStmt, a));
  case AST_KIND_Assign: {
    AstAssign *s = AST_AS(Assign, a);
    if (s->targets.len > 1)
      raise("SyntaxError", a->span,
            "a = b = value has no meaning in a graph function; write two bindings");
    declare_matched_dims(env, s->value);
    return bind(env, s->targets.at[0], eval(env, s->value), NULL, a->span);
  }
  case AST_KIND_AnnAssign: return annotated_assignment(env, AST_AS(AnnAssign, a));
  case AST_KIND_With: return dataflow_statement(env, AST_AS(With, a));
  case AST_KIND_If: return if_statement(env, AST_AS(If, a));
  case AST_KIND_Def: return local_function(env, AST_AS(Def, a));
  case AST_KIND_Return:
    raise("SyntaxError", a->span,
          "'return' must be the last statement of a graph function, and stand outside branches");
  case AST_KIND_For: return for_statement(env, AST_AS(For, a));
  case AST_KIND_While:
    raise_code(E0415, a->span,
               "a graph function has no loops at run time; call a function recursively");
  case AST_KIND_Pass:
  case AST_KIND_Nonlocal:
  case AST_KIND_Error: return;
  default: raise_code(E0415, a->span, "a graph function can't hold this statement");
  }
}

typedef struct GraphStatement {
  Env *env;
  Ast *statement;
} GraphStatement;

static void run_graph_statement(void *context) {
  GraphStatement *job = context;
  dispatch(job->env, job->statement);
}

static void poison_target(void *env, Ast *target) {
  if (target->kind == AST_KIND_Name)
    env_set(env, AST_AS(Name, target)->name, value_of(&type_poison, NULL));
  else if (target->kind == AST_KIND_Tuple || target->kind == AST_KIND_List)
    ast_each_child(target, poison_target, env);
}

/* A name of a dataflow block that has ended has a message of its own. */
static bool tell_ended(const char *name, Span span) {
  Node *ended = map_get(&graph->ended, name);
  if (!ended) return false;
  Diag *d = diag_fault(E0401, span,
                       "'%s' is a variable of a dataflow block and is not seen outside it", name);
  diag_note(d, ended->span, "it is bound here");
  diag_help(d, "name it in R.output(...) at the end of the block");
  return true;
}

static void report(const Error *e, Env *env, Ast *statement) {
  UndefinedNames names = {
      .env = env, .tell_ended = tell_ended, .told = &graph->told, .ended = &graph->ended};
  if (!report_undefined_names(&names, e, statement)) report_statement_error(e);
}

static void exec_graph_statement(Env *env, Ast *statement) {
  GraphStatement job = {env, statement};
  bool in_dataflow = graph->in_dataflow;
  Error *e = eval_protect(run_graph_statement, &job);
  if (!e) return;
  graph->in_dataflow = in_dataflow;
  report(e, env, statement);
  if (statement->kind == AST_KIND_Assign)
    poison_target(env, AST_AS(Assign, statement)->targets.at[0]);
  if (statement->kind == AST_KIND_AnnAssign)
    poison_target(env, AST_AS(AnnAssign, statement)->target);
}

static void return_value(void *context) {
  GraphStatement *job = context;
  return_statement(job->env, AST_AS(Return, job->statement));
}

/* `with R.dataflow():` whose last statement is `return`. */
static bool returns_from_dataflow(Ast *s) {
  if (s->kind != AST_KIND_With) return false;
  const AstVec *body = &AST_AS(With, s)->body;
  return body->len && vec_last(body)->kind == AST_KIND_Return;
}

Node *graph_body(Env *env, const AstVec *statements, Span span) {
  int n = statements->len;
  Ast *last = n ? statements->at[n - 1] : NULL;
  bool has_return = last && last->kind == AST_KIND_Return;
  for (int i = 0; i < n - 1; i++) exec_graph_statement(env, statements->at[i]);
  graph->result = NULL;
  graph->may_return = last && returns_from_dataflow(last);
  if (last && !has_return) exec_graph_statement(env, last);
  if (!has_return && !graph->may_return)
    raise_code(E0416, span, "a graph function must end with 'return'");
  graph->may_return = false;
  GraphStatement job = {env, last};
  Error *e = has_return ? eval_protect(return_value, &job) : NULL;
  if (e) report(e, env, job.statement);
  if (graph->result) return graph->result;
  raise(ERROR_POISONED, span, "an earlier error");
}
