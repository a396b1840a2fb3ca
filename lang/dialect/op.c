/* op.c -- graph operators as stdlib defines them: @op("relax.add", infer=..., ...) above a def.
 *
 * The def's parameters are the signature: annotated Tensor, Tensors, Shape, Prim or Any they are
 * operands; annotated Ints, DType or not at all, attributes. Its body computes the result with te;
 * the function given as infer= tells the struct info. A file of stdlib is read when one of its
 * names is first asked for. */
#include "lang/dialect/te.h"
#include "lang/dialect/stdlib.h"
#include "lang/lang.h"

typedef enum {
  PARAM_TENSOR,
  PARAM_TENSORS,
  PARAM_SHAPE,
  PARAM_PRIM,
  PARAM_ANY,
  PARAM_REST, /* operands up to here */
  PARAM_ATTR,
  PARAM_INTS,
  PARAM_DTYPE
} OpParamKind;

static const struct {
  const char *name;
  OpParamKind kind;
} param_kinds[] = {
    {"Tensor", PARAM_TENSOR}, {"Tensors", PARAM_TENSORS}, {"Shape", PARAM_SHAPE},
    {"Prim", PARAM_PRIM},     {"Any", PARAM_ANY},         {"Ints", PARAM_INTS},
    {"DType", PARAM_DTYPE},   {"Attr", PARAM_ATTR},
};
enum { PARAM_KINDS = sizeof param_kinds / sizeof *param_kinds };

typedef struct OpParam {
  const char *name;
  OpParamKind kind;
  Value otherwise; /* absent: required */
} OpParam;
typedef VEC(OpParam) OpParamVec;

typedef struct OpDefinition {
  OpInfo info;
  OpParamVec params;
  Value infer, compute; /* functions of the library; compute may be None */
} OpDefinition;

static OpDefinition *definition_of(const OpInfo *info) { return info->definition; }

/* ---- the standard library ---- */

static Env *library_env; /* of prelude.tvms: what every file of the library sees */

static Env *read_library_file(const StdlibFile *f, Env *outer) {
  const Source *source = source_add(f->path, f->text, (size_t)(f->end - f->text - 1));
  Env *env = env_new(outer);
  AstModule *tree = parse_module(source);
  exec_block(env, &tree->body);
  return env;
}

static const StdlibFile *find_library_file(const char *name) {
  for (int i = 0; i < stdlib_file_count; i++)
    if (strstr(stdlib_files[i].path, name)) return &stdlib_files[i];
  BUG("the standard library has no file %s", name);
}

extern const TreeDecorator decorate_op;

static Env *library_scope(void) {
  if (library_env) return library_env;
  Env *base = env_new(env_builtins());
  dialect_add_names(base);
  env_set(base, str_intern("te"), te_namespace());
  env_set(base, str_intern("op"), value_of(&type_tree_decorator, (void *)(uintptr_t)&decorate_op));
  for (int i = 0; i < PARAM_KINDS; i++)
    env_set(base, str_intern(param_kinds[i].name), value_str(param_kinds[i].name));
  return library_env = read_library_file(find_library_file("prelude.tvms"), base);
}

/* Runs a step outside the functions being read: what the library defines is no part of them. */
static void run_outside(void (*step)(void *), void *context) {
  TensorBuilder *t = tensor;
  GraphBuilder *g = graph;
  tensor = NULL;
  graph = NULL;
  Error *e = protect(step, context);
  tensor = t;
  graph = g;
  if (e) error_raise(e);
}

static void read_ops(void *context) {
  const StdlibFile *f = context;
  read_library_file(f, library_scope());
}

static bool load_op(const char *name) {
  static Map read; /* files that were read */
  for (int i = 0; i < stdlib_name_count; i++) {
    if (!str_same(stdlib_names[i].name, name)) continue;
    const StdlibFile *f = &stdlib_files[stdlib_names[i].file];
    if (map_has(&read, f)) return false;
    map_set(&read, f, (void *)(uintptr_t)f);
    run_outside(read_ops, (void *)(uintptr_t)f);
    return true;
  }
  return false;
}

/* ---- struct info and compute of a call ---- */

typedef struct OpCall {
  Value function;
  ValueVec args;
  Span span;
  Value result;
} OpCall;

static void run_op_call(void *context) {
  OpCall *c = context;
  c->result = value_call_with(c->function, c->args.len, c->args.at, c->span);
}

/* Runs a function of the library; its errors are about the call, not about the library. */
static Value call_library(const OpInfo *info, Value function, ValueVec args, Span span) {
  OpCall call = {.function = function, .args = args, .span = span};
  TensorBuilder *t = tensor;
  tensor = NULL; /* the library's function is no part of the prim_func being read */
  Error *e = protect(run_op_call, &call);
  tensor = t;
  if (!e) return call.result;
  const char *short_name = strncmp(info->name, "relax.", 6) == 0 ? info->name + 6 : info->name;
  raise(str_same(e->kind, ERROR_INTERNAL) ? e->kind : "TypeError", span, "R.%s: %s", short_name,
        e->text);
}

static Value operand_info(OpParamKind kind, Node *n) {
  if (!n || IS(None, n)) return value_none();
  if (IS(Tuple, n) || (kind == PARAM_TENSORS && IS(TupleStructInfo, sinfo_of(n)))) {
    ValueVec items = {0};
    for each (Node *, f, &AS(TupleStructInfo, sinfo_of(n))->fields) vec_push(&items, value_node(*f));
    return value_list(items);
  }
  if (IS(PrimValue, n)) return value_node(AS(PrimValue, n)->value);
  if (IS(ShapeExpr, n) || IS(DataTypeImm, n)) return value_node(n);
  if (IS(StringValue, n)) return value_str(AS(StringValue, n)->value);
  return value_node(sinfo_of(n) ? sinfo_of(n) : sinfo_object());
}

/* Arguments in the order of the parameters: operands through `operand`, attributes as script
 * values. */
static ValueVec library_args(const OpDefinition *d, RelaxCall *call,
                             Value (*operand)(OpParamKind kind, Node *n)) {
  ValueVec args = {0};
  int at = 0;
  for each (const OpParam, p, &d->params) {
    if (p->kind == PARAM_REST)
      while (at < call->args.len) vec_push(&args, operand(PARAM_ANY, call->args.at[at++]));
    else if (p->kind < PARAM_ATTR)
      vec_push(&args, at < call->args.len ? operand(p->kind, call->args.at[at]) : value_none()),
          at++;
    else vec_push(&args, from_attr(dict_get(call->attrs, p->name)));
  }
  return args;
}

static Node *infer_call(const OpInfo *info, Node *node) {
  OpDefinition *d = definition_of(info);
  ValueVec args = library_args(d, AS(RelaxCall, node), operand_info);
  return to_sinfo(call_library(info, d->infer, args, node->span), node->span);
}

/* Operands of the compute: tensors as te operands, gathered in order. */
static ValueVec *placeholders;

static Value operand_tensor(OpParamKind kind, Node *n) {
  Node *info = n ? sinfo_of(n) : NULL;
  NodeVec shape;
  if (IS(TupleStructInfo, info)) {
    ValueVec items = {0};
    NodeVec fields = AS(TupleStructInfo, info)->fields;
    for (int i = 0; i < fields.len; i++) {
      if (!sinfo_tensor_shape(fields.at[i], &shape))
        raise("ValueError", n->span, "the shape of an operand is not known");
      Value v = te_placeholder(str_format("%c%d", 'A' + placeholders->len % 26, i), shape,
                               AS(TensorStructInfo, fields.at[i])->elem, n->span);
      vec_push(placeholders, v);
      vec_push(&items, v);
    }
    return value_list(items);
  }
  if (!IS(TensorStructInfo, info)) return operand_info(kind, n);
  if (!sinfo_tensor_shape(info, &shape) || dtype_is_void(AS(TensorStructInfo, info)->elem))
    raise("ValueError", n->span, "the shape or dtype of an operand is not known");
  Value v = te_placeholder(str_format("%c", 'A' + placeholders->len % 26), shape,
                           AS(TensorStructInfo, info)->elem, n->span);
  vec_push(placeholders, v);
  return v;
}

static Node *legalize_call(const OpInfo *info, Node *node) {
  OpDefinition *d = definition_of(info);
  if (value_is_none(d->compute)) return NULL;
  ValueVec inputs = {0}, *outer = placeholders;
  Map stages = te_scope_begin();
  placeholders = &inputs;
  ValueVec args = library_args(d, AS(RelaxCall, node), operand_tensor);
  placeholders = outer;
  Value result = call_library(info, d->compute, args, node->span);
  ValueVec outputs = {0};
  if (result.type == &type_tuple || result.type == &type_list) outputs = *value_items(result);
  else if (!value_is_none(result)) vec_push(&outputs, result);
  const char *dot = strrchr(info->name, '.');
  Node *f = outputs.len
                ? te_prim_func(str_intern(dot ? dot + 1 : info->name), inputs, outputs, node->span)
                : NULL;
  te_scope_end(stages);
  return f;
}

/* ---- definitions ---- */

static OpParamKind param_kind(Env *env, AstParam *p) {
  if (p->kind == PARAM_STAR) return PARAM_REST;
  if (!p->annotation) return PARAM_ATTR;
  const char *name =
      value_as_text(eval(env, p->annotation), "the kind of a parameter", p->annotation->span);
  for (int i = 0; i < PARAM_KINDS; i++)
    if (str_same(param_kinds[i].name, name)) return param_kinds[i].kind;
  raise("TypeError", p->annotation->span, "'%s' is no kind of parameter", name);
}

static Value keyword(CallArgs *args, const char *name) {
  for (int i = 0; i < args->names.len; i++)
    if (str_same(args->names.at[i], name)) return args->named.at[i];
  return value_none();
}

static const char *docstring(AstDef *def) {
  Ast *first = def->body.len ? def->body.at[0] : NULL;
  bool is_doc = first && first->kind == AST_KIND_ExprStmt &&
                AST_AS(ExprStmt, first)->value->kind == AST_KIND_Str;
  return is_doc ? AST_AS(Str, AST_AS(ExprStmt, first)->value)->text : "";
}

/* Is the body nothing but its docstring? Then the operator has no compute. */
static bool has_compute(AstDef *def) {
  return def->body.len > (*docstring(def) ? 1 : 0) &&
         def->body.at[def->body.len - 1]->kind != AST_KIND_Pass;
}

static void add_param_info(OpDefinition *d, const OpParam *p) {
  if (p->kind < PARAM_ATTR) {
    vec_push(&d->info.args, p->kind == PARAM_REST ? str_format("*%s", p->name) : p->name);
    return;
  }
  vec_push(&d->info.attrs, p->name);
  vec_push(&d->info.attr_defaults, p->otherwise.type ? to_attr(p->otherwise, (Span){0}) : NULL);
}

static Value define_op(Env *env, Ast *definition, CallArgs *args) {
  if (definition->kind != AST_KIND_Def || !args->positional.len)
    raise("TypeError", definition->span, "expected @op(name, ...) above a def");
  AstDef *def = AST_AS(Def, definition);
  Value pattern = keyword(args, "pattern"), pure = keyword(args, "pure");
  OpDefinition *d = NEW(OpDefinition, .infer = keyword(args, "infer"),
                        .compute = has_compute(def) ? function_new(env, definition) : value_none());
  for each (Ast *, item, &def->params) {
    AstParam *p = AST_AS(Param, *item);
    OpParam param = {.name = p->name,
                     .kind = param_kind(env, p),
                     .otherwise = p->value ? eval(env, p->value) : value_absent()};
    vec_push(&d->params, param);
    add_param_info(d, &param);
  }
  d->info.name =
      str_intern(value_as_text(args->positional.at[0], "the operator's name", args->span));
  d->info.doc = docstring(def);
  d->info.is_pure = value_is_none(pure) || value_truth(pure, args->span);
  d->info.pattern = value_is_none(pattern) ? "opaque" : value_text(pattern);
  d->info.infer = infer_call;
  d->info.legalize = legalize_call;
  d->info.definition = d;
  op_register(&d->info);
  return value_none();
}

const TreeDecorator decorate_op = {"op", define_op, NULL};

/* ---- calls: R.add(x, y) ---- */

static Node *attr_of(const OpParam *p, Value v, Span span) {
  if (p->kind == PARAM_INTS && !value_is_none(v) && v.type != &type_list && v.type != &type_tuple &&
      !value_is_node(v, NK_ShapeExpr)) {
    Value one[] = {v};
    return to_attr(value_list((ValueVec){.at = gc_copy(one, sizeof one), .len = 1}), span);
  }
  if (value_is_node(v, NK_ShapeExpr))
    return MAKE(Array, span, VOID_TYPE, .items = AS(ShapeExpr, v.node)->values);
  if (p->kind == PARAM_DTYPE)
    return value_is_none(v) || (v.type == &type_str && !*value_text(v))
               ? to_attr(value_none(), span)
               : string_imm(dtype_text(to_dtype(v, span)), span);
  return to_attr(v, span);
}

static Node *operand_of(const OpParam *p, Value v, Span span) {
  if (value_is_none(v)) return MAKE(None, span, VOID_TYPE);
  if (p->kind == PARAM_SHAPE) return to_shape(v, span);
  if (p->kind == PARAM_TENSOR && v.type != &type_node)
    raise("TypeError", span, "'%s' must be a tensor, found %s; write R.const(value, dtype)",
          p->name, value_type_name(v));
  return to_relax(v, span);
}

static int find_param(const OpDefinition *d, const char *name) {
  for (int i = 0; i < d->params.len; i++)
    if (str_same(d->params.at[i].name, name)) return i;
  return -1;
}

static _Noreturn void unknown_argument(const OpDefinition *d, const char *name, Span span) {
  StrVec names = {0};
  for each (const OpParam, p, &d->params) vec_push(&names, p->name);
  const char *near = str_near(name, names.at, names.len);
  raise("TypeError", span, "R.%s has no argument '%s'%s%s%s", d->info.name + 6, name,
        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* The value given for each parameter; *rest holds what follows the last of them. */
static Value *bind_params(const OpDefinition *d, CallArgs *args, ValueVec *rest) {
  Value *given = NEW_ARRAY(Value, d->params.len + 1);
  int at = 0;
  for each (const OpParam, p, &d->params) {
    if (p->kind == PARAM_REST)
      while (at < args->positional.len) vec_push(rest, args->positional.at[at++]);
    else if (at < args->positional.len) given[p - d->params.at] = args->positional.at[at++];
  }
  if (at < args->positional.len)
    raise("TypeError", args->span, "R.%s takes %d arguments, %d are given", d->info.name + 6,
          d->params.len, args->positional.len);
  for (int i = 0; i < args->names.len; i++) {
    int k = find_param(d, args->names.at[i]);
    if (k < 0) unknown_argument(d, args->names.at[i], args->span);
    if (given[k].type)
      raise("TypeError", args->span, "R.%s: '%s' is given twice", d->info.name + 6,
            args->names.at[i]);
    given[k] = args->named.at[i];
  }
  return given;
}

static Value call_op(Value f, CallArgs *args) {
  OpDefinition *d = definition_of(f.object);
  ValueVec rest = {0};
  Value *given = bind_params(d, args, &rest);
  NodeVec operands = {0};
  Node *attrs = d->info.attrs.len ? dict_new() : NULL;
  for (int i = 0; i < d->params.len; i++) {
    const OpParam *p = &d->params.at[i];
    if (p->kind == PARAM_REST) {
      for each (Value, v, &rest) vec_push(&operands, to_relax(*v, args->span));
      continue;
    }
    Value v = given[i].type ? given[i] : p->otherwise;
    if (!v.type) raise("TypeError", args->span, "R.%s needs '%s'", d->info.name + 6, p->name);
    if (v.type == &type_poison) raise(ERROR_POISONED, args->span, "an earlier error");
    if (p->kind < PARAM_ATTR) vec_push(&operands, operand_of(p, v, args->span));
    else attrs = dict_with(attrs, p->name, attr_of(p, v, args->span));
  }
  while (operands.len && IS(None, vec_last(&operands))) operands.len--;
  return value_node(relax_call(op_get(d->info.name), operands, attrs, (NodeVec){0}, args->span));
}

static void op_repr(Value v, Str *out) {
  str_printf(out, "R.%s", ((const OpInfo *)v.object)->name + 6);
}
static Value op_attr(Value v, const char *name, Span span) {
  (void)span;
  return str_same(name, "__doc__") ? value_str(((const OpInfo *)v.object)->doc) : value_absent();
}
static const ValueType type_op = {
    .name = "operator", .repr = op_repr, .call = call_op, .get_attr = op_attr};

Value op_value(const char *name) {
  const OpInfo *info = op_info(str_intern(str_format("relax.%s", name)));
  return info ? value_of(&type_op, (void *)(uintptr_t)info) : value_absent();
}

/* ---- R.nn and other prefixes ---- */

/* "R" or "R.nn": what stands before a name of this namespace, without "R.". */
static const char *prefix_of(Namespace *ns) {
  return ns->name[1] ? str_format("%s.", ns->name + 2) : "";
}

Value op_namespace_find(Namespace *ns, const char *name) {
  const char *full = str_format("%s%s", prefix_of(ns), name);
  Value v = op_value(full);
  if (v.type) return v;
  const char *prefix = str_format("relax.%s.", full);
  for (int i = 0; i < stdlib_name_count; i++) {
    if (strncmp(stdlib_names[i].name, prefix, strlen(prefix)) != 0) continue;
    Value inner = value_namespace(str_intern(str_format("R.%s", full)));
    ((Namespace *)inner.object)->find = op_namespace_find;
    ((Namespace *)inner.object)->names = op_namespace_names;
    map_set(&ns->values, str_intern(name), gc_copy(&inner, sizeof inner));
    return inner;
  }
  return value_absent();
}

void op_namespace_names(Namespace *ns, StrVec *out) {
  const char *prefix = str_format("relax.%s", prefix_of(ns));
  size_t n = strlen(prefix);
  for (int i = 0; i < stdlib_name_count; i++)
    if (strncmp(stdlib_names[i].name, prefix, n) == 0) vec_push(out, stdlib_names[i].name + n);
}

void op_start(void) { op_load_hook = load_op; }
