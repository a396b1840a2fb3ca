/* topi.c -- tvm.topi: what graph operators compute, as functions of te.
 *
 * topi.f(A, ...) binds and checks its arguments as R.f does, with a graph variable in the place of
 * each tensor of te; the call that this gives is then computed on the tensors. */
#include "lang/dialect/op.h"
#include "lang/dialect/te.h"

/* The tensors of the call that is being computed: RelaxVar to a Value *. */
static Map *tensors;

static const struct {
  const char *topi, *op;
} other_names[] = {
    {"transpose", "permute_dims"}, {"concatenate", "concat"}, {"cast", "astype"},
    {"nn.dense", "linear"},        {"nn.matmul", "matmul"},   {"elemwise_sum", "add"}};

/* ---- arguments ---- */

typedef struct Arguments {
  Map vars;      /* RelaxVar to a Value * of te */
  TeTensor *one; /* the first tensor */
} Arguments;

static Node *var_of(Arguments *a, Value operand, Span span) {
  Buffer *b = AS(Buffer, te_of(operand)->buffer);
  NodeVec dims = {0};
  for each (Node *, d, &b->shape) vec_push(&dims, expr_cast(INT64, *d, span));
  Node *var =
      MAKE(RelaxVar, span, VOID_TYPE, .name = b->name, .sinfo = sinfo_tensor(dims, b->elem, span));
  map_set(&a->vars, var, gc_copy(&operand, sizeof operand));
  if (!a->one) a->one = te_of(operand);
  return var;
}

static Value without_te(Arguments *a, Value v, Span span) {
  if (v.type == &type_te) return value_node(var_of(a, v, span));
  if (v.type != &type_list && v.type != &type_tuple) return v;
  ValueVec items = {0};
  for each (Value, x, value_items(v)) {
    Value item = without_te(a, *x, span);
    vec_push(&items, item);
  }
  return v.type == &type_list ? value_list(items) : value_tuple(items);
}

/* A number beside a tensor has its dtype. */
static Value beside_tensor(const Arguments *a, const OpParam *p, Value v, Span span) {
  bool number = v.type == &type_int || v.type == &type_float ||
                (v.type == &type_node && node_is_expr(v.node));
  if (p->kind != PARAM_TENSOR_OR_PRIM || !number || !a->one) return v;
  return value_node(expr_cast(AS(Buffer, a->one->buffer)->elem, to_expr(v, span), span));
}

static CallArgs graph_args(const OpDefinition *d, const CallArgs *args, Arguments *a) {
  CallArgs out = *args_copy(args);
  Span span = args->span;
  for each (Value, v, &out.positional) *v = without_te(a, *v, span);
  for each (Value, v, &out.named) *v = without_te(a, *v, span);
  for (int i = 0; i < out.positional.len && i < d->params.len; i++)
    out.positional.at[i] = beside_tensor(a, &d->params.at[i], out.positional.at[i], span);
  return out;
}

/* ---- computing ---- */

static Value computed(Node *n);

static Value operand(const OpParam *p, Node *n) {
  Node *info = n ? sinfo_of(n) : NULL;
  if (IS(RelaxVar, n) || IS(RelaxCall, n)) return computed(n);
  if (IS(Tuple, n) && p->kind == PARAM_TENSORS) {
    ValueVec items = {0};
    for each (Node *, f, &AS(Tuple, n)->fields) {
      Value item = computed(*f);
      vec_push(&items, item);
    }
    return value_list(items);
  }
  bool scalar = IS(PrimStructInfo, info) && AS(PrimStructInfo, info)->value;
  if (scalar && p->kind == PARAM_TENSOR_OR_PRIM) return value_node(AS(PrimStructInfo, info)->value);
  return op_operand_info(p, n);
}

static Value computed(Node *n) {
  Value *given = map_get(tensors, n);
  if (given) return *given;
  if (!IS(RelaxCall, n) || !IS(Op, AS(RelaxCall, n)->op))
    raise("TypeError", n->span, "'%s' is no tensor of te", ir_print(n, NULL));
  const OpInfo *info = op_info(AS(Op, AS(RelaxCall, n)->op)->name);
  OpDefinition *d = definition_of(info);
  if (value_is_none(d->compute))
    raise("NotImplementedError", n->span, "R.%s has no compute", op_short_name(info));
  ValueVec args = op_library_args(d, AS(RelaxCall, n), operand);
  Value out = value_call_with(d->compute, args.len, args.at, n->span);
  map_set(tensors, n, gc_copy(&out, sizeof out));
  return out;
}

typedef struct Computation {
  const OpInfo *info;
  CallArgs *args;
  Value result;
} Computation;

/* Dims of operands in int64, those of graph tensors, give a program in int64. */
static bool is_int64(const TeTensor *t) {
  if (!t) return false;
  for each (Node *, d, &AS(Buffer, t->buffer)->shape)
    if (!dtype_equal((*d)->dtype, INT64)) return false;
  return AS(Buffer, t->buffer)->shape.len > 0;
}

static void compute(void *context) {
  Computation *c = context;
  Arguments a = {0};
  CallArgs args = graph_args(definition_of(c->info), c->args, &a);
  Value call = value_call(value_of(&type_op, (void *)(uintptr_t)c->info), &args);
  Map *outer = tensors;
  tensors = &a.vars;
  bool was = te_set_in_operator(is_int64(a.one));
  c->result = computed(call.node);
  te_set_in_operator(was);
  tensors = outer;
}

static Value topi_call(Value f, CallArgs *args) {
  Computation c = {.info = f.object, .args = args};
  Map *outer = tensors;
  bool was = te_in_operator();
  GraphBuilder *builder = graph; /* the call is of no graph function that is being read */
  graph = NULL;
  Error *e = op_run_rule(compute, &c);
  graph = builder;
  tensors = outer;
  te_set_in_operator(was);
  if (e) error_raise(e);
  return c.result;
}

static void topi_repr(Value v, Str *out) {
  str_printf(out, "<function topi.%s>", op_short_name(v.object));
}
static Value topi_attr(Value v, const char *name, Span span) {
  (void)span;
  const char *full = op_short_name(v.object), *dot = strrchr(full, '.');
  return str_same(name, "__name__") ? value_str(dot ? dot + 1 : full) : value_absent();
}
static const ValueType type_topi = {
    .name = "topi function", .repr = topi_repr, .get_attr = topi_attr, .call = topi_call};

/* ---- the namespaces, which are those of R ---- */

static const char *prefix_of(const Namespace *ns) {
  return str_same(ns->name, "tvm.topi") ? "" : ns->name + strlen("tvm.topi.");
}

static void topi_names(Namespace *ns, StrVec *out);

static Value topi_find(Namespace *ns, const char *name) {
  const char *prefix = prefix_of(ns);
  Value x = library_attr(ns->name, name);
  if (x.type && x.type != &type_namespace) return x;
  const char *full = str_intern(*prefix ? str_format("%s.%s", prefix, name) : name);
  for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
    if (str_same(full, other_names[i].topi)) full = other_names[i].op;
  const OpInfo *info = op_info(str_format("relax.%s", full));
  bool computes = info && (!value_is_none(definition_of(info)->compute) ||
                           !value_is_none(definition_of(info)->sugar));
  if (computes) return value_of(&type_topi, (void *)(uintptr_t)info);
  if (*prefix) return value_absent();
  Value inner = value_find_attr(graph_namespace(), str_intern(name), (Span){0});
  const char *dotted = str_intern(str_format("tvm.topi.%s", name));
  if (inner.type != &type_namespace && !namespace_library->has(dotted)) return value_absent();
  Value v = value_namespace(dotted);
  ((Namespace *)v.object)->find = topi_find;
  ((Namespace *)v.object)->names = topi_names;
  ((Namespace *)v.object)->is_part = true;
  return v;
}

/* Operators without a compute have no function here. */
static void topi_names(Namespace *ns, StrVec *out) {
  StrVec names = {0};
  op_names_below(*prefix_of(ns) ? str_format("%s.", prefix_of(ns)) : "", &names);
  for each (const char *, name, &names)
    if (strchr(*name, '.') || topi_find(ns, *name).type) vec_push(out, *name);
}

Value topi_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = value_namespace("tvm.topi");
  ((Namespace *)ns.object)->find = topi_find;
  ((Namespace *)ns.object)->names = topi_names;
  ((Namespace *)ns.object)->is_part = true;
  return ns;
}
