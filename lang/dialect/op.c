/* op.c -- graph operators as stdlib defines them: @op("relax.add", infer=..., ...) above a def.
 *
 * The def's parameters are the signature; what they are annotated with (op.h) tells operands from
 * attributes. Its body computes the result with te; without one but for the docstring the operator
 * has no compute. packed=True: a call is one of the packed function of its name, which the runtime
 * has (target/runtime/operators.c). infer= gives the struct info from that of the operands,
 * normalize= and sugar= the normal form of a call (op_call.c). pattern=, commutes=,
 * mixed_precision=, layout= and gradient= are for passes: stdlib/pass/ says what its functions are
 * called with. A file of stdlib is read when one of its names is first asked for. */
#include "lang/dialect/op.h"
#include "lang/dialect/packed.h"
#include "lang/dialect/stdlib.h"
#include "lang/dialect/te.h"
#include "lang/lang.h"

static const struct {
  const char *name;
  OpParamKind kind;
} param_kinds[] = {
    {"Tensor", PARAM_TENSOR},
    {"TensorOrPrim", PARAM_TENSOR_OR_PRIM},
    {"Tensors", PARAM_TENSORS},
    {"Shape", PARAM_SHAPE},
    {"OpenShape", PARAM_OPEN_SHAPE},
    {"Prim", PARAM_PRIM},
    {"Prims", PARAM_PRIMS},
    {"DTypeValue", PARAM_DTYPE_VALUE},
    {"Any", PARAM_ANY},
    {"Attr", PARAM_ATTR},
    {"Int", PARAM_INT},
    {"Ints", PARAM_INTS},
    {"Float", PARAM_FLOAT},
    {"Bool", PARAM_BOOL},
    {"Text", PARAM_TEXT},
    {"DType", PARAM_DTYPE},
    {"IndexMap", PARAM_INDEX_MAP},
};
enum { PARAM_KINDS = sizeof param_kinds / sizeof *param_kinds };

/* ---- the standard library ---- */

static Env *library_env; /* of stdlib/prelude/: what every file of the library sees */

static void read_library_file(const StdlibFile *f, Env *env) {
  const Source *source = source_add(f->path, f->text, (size_t)(f->end - f->text - 1));
  AstModule *tree = parse_module(source);
  exec_block(env, &tree->body);
}

extern Value op_definition_attr(const Node *op, const char *name) {
  const OpInfo *info = op_info_of(op);
  if (str_same(name, "is_pure") && str_begins(AS(Op, op)->name, "relax.")) {
    NodeVec infos = NODES(sinfo_object());
    Node *call =
        MAKE(RelaxCall, op->span, VOID_TYPE, .op = (Node *)(uintptr_t)op, .sinfo_args = infos);
    return value_bool(!relax_call_has_effects(call));
  }
  if (!info) return value_absent();
  if (str_same(name, "pattern")) return value_str(info->pattern);
  if (str_same(name, "mixed_precision")) return value_str(info->mixed_precision);
  if (str_same(name, "layout")) return definition_of(info)->layout;
  if (str_same(name, "gradient")) return definition_of(info)->gradient;
  return value_absent();
}

const TreeDecorator decorate_op;

static Env *library_scope(void) {
  if (library_env) return library_env;
  Env *base = env_new(env_builtins());
  dialect_add_names(base);
  env_set(base, str_intern("te"), te_namespace());
  env_set(base, str_intern("op"), value_of(&type_tree_decorator, (void *)(uintptr_t)&decorate_op));
  for (int i = 0; i < PARAM_KINDS; i++)
    env_set(base, str_intern(param_kinds[i].name), value_str(param_kinds[i].name));
  library_env = env_new(base);
  for (int i = 0; i < stdlib_file_count; i++)
    if (strstr(stdlib_files[i].path, "stdlib/prelude/"))
      read_library_file(&stdlib_files[i], library_env);
  return library_env;
}

bool env_is_library(const Env *env) {
  while (env && env != library_env) env = env->outer;
  return env != NULL;
}

void run_outside(void (*step)(void *), void *context) {
  TensorBuilder *t = tensor;
  GraphBuilder *g = graph;
  tensor = NULL;
  graph = NULL;
  Error *e = eval_protect(step, context);
  tensor = t;
  graph = g;
  if (e) error_raise(e);
}

static void read_ops(void *context) {
  const StdlibFile *f = context;
  read_library_file(f, env_new(library_scope()));
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

/* Runs code of the library, which is no part of the prim_func being read. */
static bool in_rule;
bool op_in_rule(void) { return in_rule; }

Error *op_run_rule(void (*step)(void *), void *context) {
  bool was = in_rule;
  in_rule = true;
  Error *e = eval_protect(step, context);
  in_rule = was;
  return e;
}

static Error *run_library(void (*step)(void *), void *context) {
  TensorBuilder *t = tensor;
  tensor = NULL;
  Error *e = op_run_rule(step, context);
  tensor = t;
  return e;
}

/* Errors of the library's functions are about the call, not about the library. */
static _Noreturn void raise_about_call(const OpInfo *info, const Error *e, Span span) {
  if (str_same(e->kind, ERROR_INTERNAL))
    raise(e->kind, span, "R.%s: %s", op_short_name(info), e->text);
  raise_code(E0511, span, "R.%s: %s", op_short_name(info), e->text);
}

static Value infos_of_tuple(const OpParam *p, NodeVec infos, Span span) {
  ValueVec items = {0};
  for each (Node *, f, &infos) {
    if (p->kind == PARAM_TENSORS && !IS(TensorStructInfo, *f))
      raise("TypeError", span, "'%s' must be a tuple of tensors, but field %d is %s", p->name,
            items.len, ir_print(*f, NULL));
    bool scalar = p->kind == PARAM_PRIMS && IS(PrimStructInfo, *f) && AS(PrimStructInfo, *f)->value;
    int64_t i;
    if (scalar && expr_is_const_int(AS(PrimStructInfo, *f)->value, &i))
      vec_push(&items, value_int(i));
    else vec_push(&items, scalar ? value_node(AS(PrimStructInfo, *f)->value) : value_node(*f));
  }
  return value_list(items);
}

static void check_tensor_operand(const OpParam *p, Node *info, Span span) {
  bool fits =
      IS(TensorStructInfo, info) || (p->kind == PARAM_TENSOR_OR_PRIM && IS(PrimStructInfo, info));
  if (!fits)
    raise_code(E0509, span, "'%s' must be a tensor, found a value of %s%s", p->name,
               info ? ir_print(info, NULL) : "no known type",
               IS(ObjectStructInfo, info) ? "; use R.match_cast" : "");
}

/* What a rule sees of an operand: its struct info; of a shape the shape itself, which has .values
 * and .ndim; of scalars, dtypes and texts their values. */
Value op_operand_info(const OpParam *p, Node *n) {
  if (!n || IS(None, n)) return value_none();
  Node *info = sinfo_of(n) ? sinfo_of(n) : sinfo_object();
  if (p->kind == PARAM_TENSOR || p->kind == PARAM_TENSOR_OR_PRIM) {
    check_tensor_operand(p, info, n->span);
    return value_node(info);
  }
  bool tuple = p->kind == PARAM_TENSORS || p->kind == PARAM_PRIMS;
  if (IS(TupleStructInfo, info) && (tuple || IS(Tuple, n)))
    return infos_of_tuple(p, AS(TupleStructInfo, info)->fields, n->span);
  if (tuple)
    raise("TypeError", n->span, "'%s' must be a tuple, found a value of %s", p->name,
          ir_print(info, NULL));
  if (op_is_shape(p)) return value_node(n);
  if (p->kind == PARAM_PRIM && IS(PrimStructInfo, info) && AS(PrimStructInfo, info)->value)
    return from_attr(AS(PrimStructInfo, info)->value);
  if (IS(PrimValue, n)) return from_attr(AS(PrimValue, n)->value);
  if (IS(ShapeExpr, n)) return value_node(n);
  if (IS(DataTypeImm, n)) return value_str(dtype_text(AS(DataTypeImm, n)->value));
  if (IS(StringValue, n)) return value_str(AS(StringValue, n)->value);
  return value_node(info);
}

/* Arguments in the order of the parameters: operands through `operand`, attributes as script
 * values. */
ValueVec op_library_args(const OpDefinition *d, RelaxCall *call,
                         Value (*operand)(const OpParam *p, Node *n)) {
  ValueVec args = {0};
  int at = 0;
  for each (const OpParam, p, &d->params) {
    if (p->kind == PARAM_REST) {
      ValueVec rest = {0};
      while (at < call->args.len) vec_push(&rest, operand(p, call->args.at[at++]));
      vec_push(&args, value_list(rest));
    } else if (is_operand_kind(p->kind)) {
      vec_push(&args, at < call->args.len ? operand(p, call->args.at[at]) : value_none());
      at++;
    } else {
      Node *attr = dict_get(call->attrs, p->name);
      vec_push(&args, attr || !p->otherwise.type ? from_attr(attr) : p->otherwise);
    }
  }
  return args;
}

/* The result stands on the device of the first operand that has one. */
static Node *on_device(Node *info, Node *device) {
  if (IS(TensorStructInfo, info) && !AS(TensorStructInfo, info)->vdevice) {
    TensorStructInfo *placed = gc_copy(info, sizeof *placed);
    placed->vdevice = device;
    return &placed->node;
  }
  if (!IS(TupleStructInfo, info)) return info;
  NodeVec fields = {0};
  for each (Node *, f, &AS(TupleStructInfo, info)->fields) vec_push(&fields, on_device(*f, device));
  return sinfo_tuple(fields, info->span);
}

static Node *device_of_operands(NodeVec operands) {
  for each (Node *, a, &operands) {
    Node *info = sinfo_of(*a);
    Node *found = IS(Tuple, *a)                ? device_of_operands(AS(Tuple, *a)->fields)
                  : IS(TensorStructInfo, info) ? AS(TensorStructInfo, info)->vdevice
                                               : NULL;
    if (found) return found;
  }
  return NULL;
}

typedef struct Inference {
  const OpDefinition *definition;
  Node *call;
  Node *result;
} Inference;

static void infer_with_rule(void *context) {
  Inference *i = context;
  RelaxCall *c = AS(RelaxCall, i->call);
  ValueVec args = op_library_args(i->definition, c, op_operand_info);
  Value info = value_call_with(i->definition->infer, args.len, args.at, c->node.span);
  i->result = to_sinfo(info, c->node.span);
  Node *device = device_of_operands(c->args);
  if (device) i->result = on_device(i->result, device);
}

static Node *run_rule(const OpDefinition *d, Node *node) {
  Inference i = {.definition = d, .call = node};
  Error *e = run_library(infer_with_rule, &i);
  if (e) raise_about_call(&d->info, e, node->span);
  return i.result;
}

/* The rule is run again: what is known of a call is its struct info, not how that was found. */
static NodeVec assumed_by_call(const OpInfo *info, Node *node) {
  NodeVec pairs = {0}, *outer = te_note_assumed(&pairs);
  Inference i = {.definition = definition_of(info), .call = node};
  Error *e = run_library(infer_with_rule, &i);
  te_note_assumed(outer);
  if (e) raise_about_call(info, e, node->span);
  return pairs;
}

static Node *infer_call(const OpInfo *info, Node *node) {
  return op_infer(definition_of(info), node, run_rule);
}

/* Operands of the compute: tensors as te operands, gathered in order. */
static ValueVec *placeholders;
static bool has_unknown_scalar; /* one whose value no expression holds: a parameter */

static Value placeholder_of(const char *name, Node *info, Span span) {
  NodeVec shape;
  if (!IS(TensorStructInfo, info) || !sinfo_tensor_shape(info, &shape) ||
      dtype_is_void(AS(TensorStructInfo, info)->elem))
    raise("ValueError", span, "the shape or dtype of an operand is not known");
  Value v = te_placeholder(name, shape, AS(TensorStructInfo, info)->elem, span);
  vec_push(placeholders, v);
  return v;
}

static Value operand_tensor(const OpParam *p, Node *n) {
  Node *info = n ? sinfo_of(n) : NULL;
  char letter = (char)('A' + placeholders->len % 26);
  if (IS(TensorStructInfo, info)) return placeholder_of(str_format("%c", letter), info, n->span);
  if (IS(PrimStructInfo, info)) {
    Node *value = AS(PrimStructInfo, info)->value;
    if (!value) {
      value = var_new(str_format("%c", letter), AS(PrimStructInfo, info)->elem, n->span);
      vec_push(placeholders, value_node(value));
      has_unknown_scalar = true;
      return value_node(value);
    }
    if (p->kind == PARAM_TENSOR_OR_PRIM) return value_node(value);
  }
  if (p->kind != PARAM_TENSORS || !IS(TupleStructInfo, info)) return op_operand_info(p, n);
  ValueVec items = {0};
  for each (Node *, f, &AS(TupleStructInfo, info)->fields) {
    Value item = placeholder_of(str_format("%c%d", letter, items.len), *f, n->span);
    vec_push(&items, item);
  }
  return value_list(items);
}

typedef struct Expansion {
  const OpInfo *info;
  Node *call, *program;
} Expansion;

static void expand_call(void *context) {
  Expansion *x = context;
  OpDefinition *d = definition_of(x->info);
  ValueVec inputs = {0}, outputs = {0};
  placeholders = &inputs;
  has_unknown_scalar = false;
  ValueVec args = op_library_args(d, AS(RelaxCall, x->call), operand_tensor);
  Value result = value_call_with(d->compute, args.len, args.at, x->call->span);
  if (result.type == &type_tuple || result.type == &type_list) outputs = *value_items(result);
  else if (!value_is_none(result)) vec_push(&outputs, result);
  const char *dot = strrchr(x->info->name, '.');
  if (outputs.len) x->program = te_prim_func(str_intern(dot + 1), inputs, outputs, x->call->span);
}

static Node *legalize_call(const OpInfo *info, Node *node) {
  if (value_is_none(definition_of(info)->compute)) return NULL;
  Expansion x = {.info = info, .call = node};
  ValueVec *outer = placeholders;
  TeScope scope = te_scope_begin();
  Error *e = run_library(expand_call, &x);
  placeholders = outer;
  te_scope_end(scope);
  if (e && has_unknown_scalar) return NULL; /* the form of the program depends on it */
  if (e) raise_about_call(info, e, node->span);
  return x.program;
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
  if (is_operand_kind(p->kind)) {
    vec_push(&d->info.args, p->kind == PARAM_REST ? str_format("*%s", p->name) : p->name);
    return;
  }
  vec_push(&d->info.attrs, p->name);
  vec_push(&d->info.attr_defaults,
           p->otherwise.type ? op_attr_node(p, p->otherwise, (Span){0}) : NULL);
}

static const char *precision_of(Value given, const char *pattern, Span span) {
  static const char *const policies[] = {"always", "follow", "never"};
  if (value_is_none(given)) {
    bool moves_elements = str_same(pattern, "elementwise") || str_same(pattern, "broadcast") ||
                          str_same(pattern, "injective");
    return moves_elements ? "follow" : "never";
  }
  const char *text = value_as_text(given, "mixed_precision", span);
  for (int i = 0; i < 3; i++)
    if (str_same(text, policies[i])) return policies[i];
  raise("ValueError", span, "mixed_precision is 'always', 'follow' or 'never', found '%s'", text);
}

/* False: there is none. Without one it is that of the pattern, of the prelude. */
static Value layout_rule(Env *env, Value given, const char *pattern, Span span) {
  if (given.type == &type_bool && !given.boolean) return value_none();
  if (!value_is_none(given)) return given;
  bool has_one = str_same(pattern, "elementwise") || str_same(pattern, "broadcast");
  return has_one ? env_get(env, str_intern(str_format("%s_layout", pattern)), span) : value_none();
}

static Value define_op(Env *env, Ast *definition, CallArgs *args) {
  if (definition->kind != AST_KIND_Def || !args->positional.len)
    raise("TypeError", definition->span, "expected @op(name, ...) above a def");
  AstDef *def = AST_AS(Def, definition);
  Value pattern = keyword(args, "pattern"), pure = keyword(args, "pure"),
        packed = keyword(args, "packed");
  OpDefinition *d =
      NEW(OpDefinition, .infer = keyword(args, "infer"), .normalize = keyword(args, "normalize"),
          .sugar = keyword(args, "sugar"), .gradient = keyword(args, "gradient"),
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
  Value commutes = keyword(args, "commutes");
  d->info.commutes = !value_is_none(commutes) && value_truth(commutes, args->span);
  d->info.is_packed =
      !d->info.is_pure || (!value_is_none(packed) && value_truth(packed, args->span));
  d->info.pattern = value_is_none(pattern) ? "opaque" : value_text(pattern);
  d->info.mixed_precision =
      precision_of(keyword(args, "mixed_precision"), d->info.pattern, args->span);
  d->layout = layout_rule(env, keyword(args, "layout"), d->info.pattern, args->span);
  d->info.has_layout_rule = !value_is_none(d->layout);
  d->info.has_gradient = !value_is_none(d->gradient);
  d->info.infer = infer_call;
  d->info.assumed = assumed_by_call;
  d->info.legalize = legalize_call;
  d->info.definition = d;
  d->op = op_get(d->info.name);
  op_register(&d->info);
  return value_none();
}

const TreeDecorator decorate_op = {"op", define_op, NULL};

/* ---- R.add, R.nn and other prefixes ---- */

Value op_value(const char *name) {
  const OpInfo *info = op_info(str_intern(str_format("relax.%s", name)));
  return info ? value_of(&type_op, (void *)(uintptr_t)info) : value_absent();
}

/* "R" or "R.nn": what stands before a name of this namespace, without "R.". */
static const char *prefix_of(Namespace *ns) {
  return ns->name[1] ? str_format("%s.", ns->name + 2) : "";
}

Value op_namespace_find(Namespace *ns, const char *name) {
  const char *full = str_format("%s%s", prefix_of(ns), name);
  Value v = op_value(full);
  if (v.type) {
    names_set(&ns->values, str_intern(name), v);
    return v;
  }
  const char *prefix = str_format("relax.%s.", full);
  for (int i = 0; i < stdlib_name_count; i++) {
    if (strncmp(stdlib_names[i].name, prefix, strlen(prefix)) != 0) continue;
    Value inner = value_namespace(str_intern(str_format("R.%s", full)));
    ((Namespace *)inner.object)->find = op_namespace_find;
    ((Namespace *)inner.object)->names = op_namespace_names;
    names_set(&ns->values, str_intern(name), inner);
    return inner;
  }
  return value_absent();
}

void op_namespace_names(Namespace *ns, StrVec *out) { op_names_below(prefix_of(ns), out); }

void op_names_below(const char *prefix, StrVec *out) {
  prefix = str_format("relax.%s", prefix);
  size_t n = strlen(prefix);
  for (int i = 0; i < stdlib_name_count; i++)
    if (strncmp(stdlib_names[i].name, prefix, n) == 0) vec_push(out, stdlib_names[i].name + n);
}

void op_start(void) { op_load_hook = load_op; }
