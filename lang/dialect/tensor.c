/* tensor.c -- @T.prim_func: the signature and the function around its body (tensor_stmt.c). */
#include "lang/dialect/tensor_stmt.h"
#include "passes/passes.h"

TensorBuilder *tensor;

/* ---- parameters ---- */

/* What an annotation stands for: T.int32, T.handle and T.Buffer give a value when called with
 * nothing. */
static Value parameter_value(Value annotation, Span span) {
  if (annotation.type == &type_annotation || annotation.type == &type_dtype)
    return value_call_with(annotation, 0, NULL, span);
  return annotation;
}

static void add_parameter(TensorBuilder *t, Node *var, Node *buffer) {
  vec_push(&t->params, var);
  vec_push(&t->buffers, buffer);
}

/* Of a parameter that specialize() was given a value for; absent if it is none. */
static Value value_of_fixed(const TensorBuilder *t, const AstParam *p) {
  return t->fixed.type && p->name ? value_dict_get(t->fixed, value_str(p->name)) : value_absent();
}

static void declare_parameter(TensorBuilder *t, Env *env, AstParam *p) {
  Span span = p->ast.span;
  if (p->kind != PARAM_PLAIN && p->kind != PARAM_KEYWORD_ONLY) return; /* as TVM does */
  if (value_of_fixed(t, p).type) return;
  if (!p->annotation)
    raise_code(E0505, span, "parameter '%s' needs an annotation such as T.handle or T.Buffer",
               p->name);
  Value v = parameter_value(eval_annotation(env, p->annotation), p->annotation->span);
  if (value_is_node(v, NK_Buffer)) {
    name_fresh(v, p->name);
    add_parameter(t,
                  MAKE(Var, span, HANDLE, .name = str_intern(str_format("%s_handle", p->name)),
                       .elem = VOID_TYPE),
                  v.node);
  } else if (value_is_node(v, NK_Var)) {
    Node *dim = map_get(&t->dims, p->name); /* a scalar parameter that is a dim of another one */
    if (dim && dtype_equal(dim->dtype, v.node->dtype)) {
      AS(Var, dim)->is_size |= AS(Var, v.node)->is_size;
      v = value_node(dim);
    }
    name_fresh(v, p->name);
    add_parameter(t, v.node, NULL);
  } else {
    raise("TypeError", p->annotation->span, "parameter '%s' can't be annotated with %s", p->name,
          value_type_name(v));
  }
  env_set(env, p->name, v);
}

DataType tensor_return_dtype(Env *env, AstDef *def) {
  if (!def->result || def->result->kind == AST_KIND_None) return VOID_TYPE;
  Value v = parameter_value(eval_annotation(env, def->result), def->result->span);
  if (value_is_node(v, NK_Var)) return v.node->dtype;
  raise("TypeError", def->result->span, "a prim_func returns a scalar dtype or None, found %s",
        value_type_name(v));
}

/* The first value that is returned, but for the 0 of a bare `return`. */
static WalkResult stop_at_return(Walker *w, Node *n) {
  if (!is_intrin_call(n, "ret")) return WALK_ON;
  Node *value = AS(Call, n)->args.at[0];
  if (expr_is_zero(value) && dtype_equal(value->dtype, INT32)) return WALK_ON;
  *(DataType *)w->context = value->dtype;
  return WALK_STOP;
}

DataType returned_dtype(Node *body) {
  DataType t = VOID_TYPE;
  Walker w = {.enter = stop_at_return, .context = &t};
  walk(&w, body);
  return t;
}

/* ---- the function ---- */

/* What @T.jit adds to a signature is told by attributes: which parameters are constants to come,
 * and which may be None. */
static Node *indices_in(const TensorBuilder *t, const Map *marked) {
  NodeVec items = {0};
  for (int i = 0; i < t->params.len; i++) {
    Node *p = t->buffers.at[i] ? t->buffers.at[i] : t->params.at[i];
    if (map_has(marked, p)) vec_push(&items, int_imm(INT32, i, p->span));
  }
  return items.len ? MAKE(Array, (Span){0}, VOID_TYPE, .items = items) : NULL;
}

static Node *with_jit_attrs(const TensorBuilder *t, Node *attrs) {
  Node *constexprs = indices_in(t, &t->constexprs), *optionals = indices_in(t, &t->optionals);
  if (t->is_jit) attrs = dict_with(attrs, "tirx.jit", int_imm(BOOL, 1, (Span){0}));
  if (constexprs) attrs = dict_with(attrs, "tirx.constexpr", constexprs);
  return optionals ? dict_with(attrs, "tirx.optional", optionals) : attrs;
}

typedef struct FunctionJob {
  Env *env;
  AstDef *def;
  CallArgs *args;
  Node *result;
} FunctionJob;

bool keyword_flag(const CallArgs *args, const char *name, bool otherwise) {
  for (int i = 0; i < args->names.len; i++)
    if (str_same(args->names.at[i], name)) return value_truth(args->named.at[i], args->span);
  return otherwise;
}

void check_decorator_args(const char *decorator, CallArgs *args, int n, const char *const *known) {
  if (args->positional.len)
    raise("TypeError", args->span,
          "@%s takes keyword arguments only, and stands right above a def or class", decorator);
  for each (const char *, name, &args->names) {
    bool found = false;
    for (int i = 0; i < n; i++) found |= str_same(*name, known[i]);
    const char *near = found ? NULL : str_near(*name, known, n);
    if (!found)
      raise_code(E0501, args->span, "@%s has no argument '%s'%s%s%s", decorator, *name,
                 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
}

bool wants_well_formed(Env *env, const CallArgs *args) {
  return dialect_checks && !env_is_library(env) && keyword_flag(args, "check_well_formed", true);
}

Value well_formed(Env *env, Value v, CallArgs *args) {
  bool wanted = v.type == &type_node && wants_well_formed(env, args);
  return wanted && !ir_verify(v.node) ? value_of(&type_poison, NULL) : v;
}

Node *with_root_block(NodeVec allocs, bool has_blocks, Node *body, Span span) {
  bool lone = IS(BlockRealize, body) && !AS(BlockRealize, body)->iter_values.len;
  if (!allocs.len && (!has_blocks || lone)) return body;
  Node *block = MAKE(Block, span, VOID_TYPE, .name = "root", .alloc_buffers = allocs, .body = body);
  return MAKE(BlockRealize, span, VOID_TYPE, .predicate = int_imm(BOOL, 1, span), .block = block);
}

static void build_function(void *context) {
  FunctionJob *job = context;
  AstDef *def = job->def;
  Span span = def->name_span;
  static const char *const keywords[] = {"private", "check_well_formed", "s_tir", "persistent"};
  check_decorator_args(tensor->is_jit ? "T.jit" : "T.prim_func", job->args, 4, keywords);
  tensor->is_private = keyword_flag(job->args, "private", false);
  scan_function(tensor, def, job->args);
  Env *env = env_new(job->env);
  declare_dims(env, def, INT32, &tensor->dims);
  for each (Ast *, p, &def->params) { /* which annotations in front may name */
    Value fixed = value_of_fixed(tensor, AST_AS(Param, *p));
    if (fixed.type) env_set(env, AST_AS(Param, *p)->name, fixed);
  }
  for each (Ast *, p, &def->params) declare_parameter(tensor, env, AST_AS(Param, *p));
  DataType ret = tensor_return_dtype(env, def);
  tensor->in_body = true;
  Node *body = tensor_suite(env, &def->body, span);
  if (!def->result) ret = returned_dtype(body);
  body = with_root_block(tensor->block->allocs, tensor->saw_block, body, span);
  Node *attrs = tensor->attrs ? tensor->attrs : dict_new();
  if (!tensor->is_private && !dict_get(attrs, "global_symbol"))
    attrs = dict_with(attrs, "global_symbol", string_imm(def->name, span));
  if (keyword_flag(job->args, "persistent", false))
    attrs = dict_with(attrs, "persistent", int_imm(BOOL, 1, span));
  attrs = with_jit_attrs(tensor, attrs);
  job->result = MAKE(PrimFunc, span, VOID_TYPE, .params = tensor->params,
                     .buffers = tensor->buffers, .ret_dtype = ret, .attrs = attrs, .body = body);
  if (tensor->relaunches) job->result = pass_find("ConvertSSA")->run(job->result, NULL);
}

Value tensor_function(Env *env, AstDef *def, CallArgs *args) {
  return tensor_function_with(env, def, args, TENSOR_PLAIN, value_absent());
}

Value tensor_function_with(Env *env, AstDef *def, CallArgs *args, TensorForm form, Value fixed) {
  TensorBuilder *outer = tensor;
  BlockBuilder root = {0};
  TensorBuilder builder = {.block = &root, .is_jit = form == TENSOR_JIT, .fixed = fixed};
  tensor = &builder;
  int before = diag_error_count();
  FunctionJob job = {.env = env, .def = def, .args = args};
  Error *e = eval_protect(build_function, &job);
  tensor = outer;
  if (e) report_statement_error(e);
  if (e || diag_error_count() > before) return value_of(&type_poison, NULL);
  return value_node(job.result);
}

static Value decorate(Env *env, Ast *definition, CallArgs *args) {
  if (definition->kind != AST_KIND_Def)
    raise_code(E0507, definition->span, "@T.prim_func decorates a def");
  Value v = tensor_function(env, AST_AS(Def, definition), args);
  return module ? v : well_formed(env, v, args);
}

const TreeDecorator decorate_prim_func = {"T.prim_func", decorate, NULL};
