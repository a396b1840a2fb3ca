/* graph.c -- @R.function: the signature, and bindings in A-normal form. Statements: graph_stmt.c.
 */
#include "lang/dialect/graph_stmt.h"

GraphBuilder *graph;

GraphBuilder *need_graph(const char *what, Span span) {
  if (!graph) raise_code(E0506, span, "R.%s stands only inside a graph function", what);
  return graph;
}

/* ---- normal form: operands are leaves, every other value has a name ---- */

bool graph_is_leaf(Node *n) {
  switch (n->kind) {
  case NK_RelaxVar:
  case NK_Constant:
  case NK_MetadataRef:
  case NK_GlobalVar:
  case NK_ShapeExpr:
  case NK_PrimValue:
  case NK_DataTypeImm:
  case NK_StringValue:
  case NK_Op:
  case NK_ExternFunc: return true;
  default: return !node_is_relax(n);
  }
}

static Node *as_operand(Node *n);

/* The vector itself where its elements are leaves. */
static NodeVec as_operands(NodeVec v) {
  NodeVec out = {0};
  bool leaves = true;
  for each (Node *, n, &v) leaves &= graph_is_leaf(*n);
  if (leaves) return v;
  vec_reserve(&out, v.len);
  for each (Node *, n, &v) vec_push(&out, as_operand(*n));
  return out;
}

/* A leaf, or a tuple of such. */
static Node *as_operand(Node *n) {
  if (graph_is_leaf(n)) return n;
  if (IS(Tuple, n)) {
    Tuple *t = AS(Tuple, n);
    return MAKE(Tuple, n->span, VOID_TYPE, .sinfo = t->sinfo, .fields = as_operands(t->fields));
  }
  return graph_emit(graph_normalize(n), NULL, n->span);
}

Node *graph_normalize(Node *n) {
  if (IS(RelaxCall, n)) {
    RelaxCall *c = AS(RelaxCall, n);
    NodeVec args = as_operands(c->args);
    if (args.at == c->args.at && graph_is_leaf(c->op)) return n;
    return MAKE(RelaxCall, n->span, VOID_TYPE, .sinfo = c->sinfo, .op = as_operand(c->op),
                .args = args, .attrs = c->attrs, .sinfo_args = c->sinfo_args);
  }
  if (IS(Tuple, n)) return as_operand(n);
  if (IS(TupleGetItem, n)) {
    TupleGetItem *t = AS(TupleGetItem, n);
    return MAKE(TupleGetItem, n->span, VOID_TYPE, .sinfo = t->sinfo, .tuple = as_operand(t->tuple),
                .index = t->index);
  }
  return n;
}

Node *graph_emit(Node *value, const char *hint, Span span) {
  GraphBuilder *g = need_graph("function", span);
  const char *name = str_intern(hint ? hint : g->in_dataflow ? "lv" : "gv");
  Node *info = sinfo_of(value) ? sinfo_of(value) : sinfo_object();
  Node *var =
      MAKE(RelaxVar, span, VOID_TYPE, .sinfo = info, .name = name, .is_dataflow = g->in_dataflow);
  vec_push(&g->bindings, MAKE(VarBinding, span, VOID_TYPE, .value = value, .var = var));
  if (IS(RelaxCall, value) && relax_call_has_effects(value)) {
    g->is_pure = false;
    if (g->in_dataflow && !is_unchecked())
      raise_code(E0402, span,
                 "a call with effects can't stand in a dataflow block: move it after the block");
    if (g->must_be_pure && !is_unchecked())
      raise_code(E0403, span, "a call with effects in a function marked pure=True");
  }
  return var;
}

void graph_end_block(void) {
  if (graph->bindings.len)
    vec_push(&graph->blocks, MAKE(BindingBlock, graph->bindings.at[0]->span, VOID_TYPE,
                                  .is_dataflow = graph->in_dataflow, .bindings = graph->bindings));
  graph->bindings = (NodeVec){0};
}

Node *graph_seq(Node *body, Span span) {
  body = as_operand(body);
  graph_end_block();
  return MAKE(SeqExpr, span, VOID_TYPE, .sinfo = sinfo_of(body), .blocks = graph->blocks,
              .body = body);
}

/* ---- calls ---- */

Node *relax_call(Node *op, NodeVec args, Node *attrs, NodeVec sinfo_args, Span span) {
  Node *call = MAKE(RelaxCall, span, VOID_TYPE, .op = op, .args = args, .attrs = attrs,
                    .sinfo_args = sinfo_args);
  AS(RelaxCall, call)->sinfo = sinfo_infer_call(call);
  return call;
}

/* ---- functions ---- */

typedef struct GraphJob {
  Env *env;
  AstDef *def;
  CallArgs *args;
  Node *result;
} GraphJob;

/* R.Prim("int64", value=None): a scalar that is no dim. */
static bool says_no_value(Ast *annotation) {
  if (annotation->kind != AST_KIND_Call) return false;
  for each (Ast *, arg, &AST_AS(Call, annotation)->args)
    if ((*arg)->kind == AST_KIND_Keyword && str_same(AST_AS(Keyword, *arg)->name, "value"))
      return AST_AS(Keyword, *arg)->value->kind == AST_KIND_None;
  return false;
}

/* n: R.Prim("int64") is the dim n, too, which annotations and the body may name. */
static Node *scalar_info(Node *info, AstParam *p, Map *dims) {
  bool is_open = IS(PrimStructInfo, info) && !AS(PrimStructInfo, info)->value &&
                 dtype_is_int(AS(PrimStructInfo, info)->elem);
  if (!is_open || says_no_value(p->annotation)) return info;
  DataType t = AS(PrimStructInfo, info)->elem;
  Node *dim = map_get(dims, p->name);
  if (!dim) map_set(dims, p->name, dim = var_new(p->name, t, p->ast.span));
  if (!dtype_equal(dim->dtype, t)) return info;
  return MAKE(PrimStructInfo, info->span, VOID_TYPE, .elem = t, .value = dim);
}

Node *graph_scalar(Node *var) {
  Node *info = sinfo_of(var);
  return IS(PrimStructInfo, info) ? AS(PrimStructInfo, info)->value : NULL;
}

/* Annotations are read in `env`, where a dim keeps its name before a parameter that is called so.
 */
static NodeVec declare_parameters(Env *env, AstDef *def, Map *dims) {
  NodeVec params = {0};
  for each (Ast *, item, &def->params) {
    AstParam *p = AST_AS(Param, *item);
    if (p->kind != PARAM_PLAIN) continue; /* as TVM does */
    if (!p->annotation)
      raise("SyntaxError", p->ast.span,
            "parameter '%s' needs an annotation such as R.Tensor((n, 4), \"float32\")", p->name);
    Node *info = to_sinfo(eval_annotation(env, p->annotation), p->annotation->span);
    Node *var = MAKE(RelaxVar, p->ast.span, VOID_TYPE, .sinfo = scalar_info(info, p, dims),
                     .name = p->name);
    vec_push(&params, var);
    if (!map_has(dims, p->name)) env_set(env, p->name, value_node(var));
  }
  return params;
}

Node *graph_signature(Env *outer, AstDef *def, CallArgs *args) {
  Env *env = env_new(outer);
  Map dims = {0};
  declare_dims(env, def, INT64, &dims);
  NodeVec params = declare_parameters(env, def, &dims);
  Node *ret =
      def->result ? to_sinfo(eval_annotation(env, def->result), def->result->span) : sinfo_object();
  return sinfo_function(params, ret, keyword_flag(args, "pure", true), def->name_span);
}

/* In a module, callers see what is written: graph_refine_result comes once all are read. */
static Node *return_info(Env *env, AstDef *def, NodeVec params, Node *body) {
  if (!def->result) return sinfo_of_result(params, body);
  Node *info = sinfo_of(body) ? sinfo_of(body) : sinfo_object();
  Node *given = to_sinfo(eval_annotation(env, def->result), def->result->span);
  const char *why = NULL;
  if (!is_unchecked() &&
      sinfo_check(given, info, &why) == SINFO_NO) /* callers see what is written */
    diag_warning(W0112, def->result->span, "the function returns %s, but is annotated with %s%s%s",
                 ir_print(info, NULL), ir_print(given, NULL), why ? ": " : "", why ? why : "");
  return module ? given : sinfo_finer(given, sinfo_of_result(params, body));
}

void graph_refine_result(Function *f) {
  f->ret_sinfo = sinfo_finer(f->ret_sinfo, sinfo_of_result(f->params, f->body));
  f->sinfo = sinfo_function(f->params, f->ret_sinfo, f->is_pure, f->node.span);
}

/* "relax.force_pure": the effects of the body are not seen from outside. */
static bool is_forced_pure(Node *attrs) {
  int64_t flag;
  return expr_is_const_int(dict_get(attrs, "relax.force_pure"), &flag) && flag;
}

bool graph_holds_no_call(const Node *n) {
  return !node_is_relax(n) && node_family(n->kind) != FAMILY_PART;
}

static WalkResult stop_at_effect(Walker *w, Node *n) {
  (void)w;
  if (IS(Function, n)) return WALK_PRUNE; /* its effects are those of calls of it */
  if (graph_holds_no_call(n)) return WALK_PRUNE;
  return IS(RelaxCall, n) && relax_call_has_effects(n) ? WALK_STOP : WALK_ON;
}

bool graph_settle_purity(Function *f) {
  Walker w = {.enter = stop_at_effect};
  if (!f->is_pure || is_forced_pure(f->attrs) || walk(&w, f->body)) return false;
  f->is_pure = false;
  f->sinfo = sinfo_function(f->params, f->ret_sinfo, false, f->node.span);
  return true;
}

/* Names of the body that a TypeVar stands behind are dims of the function. */
static void declare_type_var(void *env, Ast *node) {
  ast_each_child(node, declare_type_var, env);
  if (node->kind != AST_KIND_Name) return;
  const char *name = AST_AS(Name, node)->name;
  Value *v = env_find(env, name);
  if (!v || v->type != &type_type_var) return;
  Node *var = var_new(name, INT64, node->span);
  map_set(&graph->dims, name, var);
  env_set(env, name, value_node(var));
}

static void build_graph_function(void *context) {
  GraphJob *job = context;
  AstDef *def = job->def;
  Span span = def->name_span;
  static const char *const keywords[] = {"private", "pure", "check_well_formed"};
  check_decorator_args("R.function", job->args, 3, keywords);
  bool is_private = keyword_flag(job->args, "private", false) || graph->outer;
  graph->must_be_pure = keyword_flag(job->args, "pure", false);
  Env *env = env_new(job->env);
  declare_dims(env, def, INT64, &graph->dims);
  NodeVec params = declare_parameters(env, def, &graph->dims);
  Env *inner = env_new(env);
  for each (Node *, p, &params) env_set(inner, AS(RelaxVar, *p)->name, value_node(*p));
  if (type_vars_exist)
    for each (Ast *, statement, &def->body) declare_type_var(inner, *statement);
  Node *result = graph_body(inner, &def->body, span);
  Node *body = graph_seq(result, span);
  Node *ret = return_info(env, def, params, body);
  Node *attrs = graph->attrs ? graph->attrs : dict_new();
  bool pure = keyword_flag(job->args, "pure", graph->is_pure || is_forced_pure(attrs));
  if (!is_private && !dict_get(attrs, "global_symbol"))
    attrs = dict_with(attrs, "global_symbol", string_imm(def->name, span));
  job->result =
      MAKE(Function, span, VOID_TYPE, .sinfo = sinfo_function(params, ret, pure, span),
           .params = params, .ret_sinfo = ret, .is_pure = pure, .attrs = attrs, .body = body);
}

Value graph_function(Env *env, AstDef *def, CallArgs *args) {
  GraphBuilder *outer = graph;
  TensorBuilder *outer_tensor = tensor;
  GraphBuilder builder = {.is_pure = true, .outer = outer};
  graph = &builder;
  tensor = NULL;
  int before = diag_error_count();
  GraphJob job = {.env = env, .def = def, .args = args};
  Error *e = eval_protect(build_graph_function, &job);
  graph = outer;
  tensor = outer_tensor;
  if (e) report_statement_error(e);
  if (e || diag_error_count() > before) return value_of(&type_poison, NULL);
  return value_node(job.result);
}

static Value decorate(Env *env, Ast *definition, CallArgs *args) {
  if (definition->kind != AST_KIND_Def)
    raise_code(E0507, definition->span, "@R.function decorates a def");
  Value v = graph_function(env, AST_AS(Def, definition), args);
  return module ? v : well_formed(env, v, args);
}

const TreeDecorator decorate_function = {"R.function", decorate, NULL};
