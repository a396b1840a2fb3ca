/* gcall.c -- calls in graph functions: tensor programs, packed functions, other graph functions,
 * and operators, which are computed by the program that their definition gives. */
#include "target/interp/interp.h"

/* ---- arguments by the packed convention ---- */

typedef struct PackedArgs {
  VEC(TvmsValue) values;
  IntVec types;
} PackedArgs;

static void add_value(GraphFrame *g, PackedArgs *a, const GraphValue *v, Span span) {
  TvmsValue bits;
  int type;
  gvalue_export(g->code->module, v, &bits, &type, span);
  vec_push(&a->values, bits);
  vec_push(&a->types, type);
}

/* For a program of the module, which may see constants as they are. */
static void add_operand(PackedArgs *a, const GraphValue *v, Span span) {
  if (v->type == TVMS_TUPLE || v->type == VALUE_CLOSURE)
    fault(span, "a tensor program can't take %s", gvalue_text(v));
  vec_push(&a->values, v->bits);
  vec_push(&a->types, v->type);
}

/* The operands of call_tir: the fields of a tuple, or a single value. */
static GraphValueVec operands(GraphFrame *g, Node *args) {
  GraphValue v = gframe_eval(g, args, "the operands");
  GraphValueVec out = {0};
  if (v.type != TVMS_TUPLE) {
    vec_push(&out, v);
    return out;
  }
  for (int i = 0; i < v.tuple->n; i++) vec_push(&out, v.tuple->at[i]);
  return out;
}

static GraphValue results(const GraphValueVec *outs) {
  return outs->len == 1 ? outs->at[0] : gvalue_tuple(outs->len, outs->at);
}

static GraphValue new_output(GraphFrame *g, Node *sinfo, const char *what, Span span) {
  NodeVec dims;
  if (!sinfo_tensor_shape(sinfo, &dims))
    fault(span, "%s: the shape of '%s' is not known", g->name, what);
  DataType t = AS(TensorStructInfo, sinfo)->elem;
  if (dtype_is_void(t)) fault(span, "%s: the dtype of '%s' is not known", g->name, what);
  return gvalue_new_tensor(dims.len, gframe_dims(g, dims, span), t, what, span);
}

static GraphValueVec new_outputs(GraphFrame *g, NodeVec infos, const char *what, Span span) {
  GraphValueVec outs = {0};
  for (int i = 0; i < infos.len; i++) {
    const char *name = infos.len > 1 ? str_format("%s_%d", what, i) : what;
    vec_push(&outs, new_output(g, infos.at[i], name, span));
  }
  return outs;
}

/* ---- tensor programs ---- */

static void call_program(GraphFrame *g, RelaxCall *c, const GraphValueVec *values) {
  Node *callee = c->args.at[0];
  Span span = c->node.span;
  if (!IS(GlobalVar, callee)) fault(span, "%s: a tensor program must be named", g->name);
  Program *p = module_program(g->code->module, AS(GlobalVar, callee)->name, span);
  PackedArgs args = {0};
  for each (GraphValue, v, values) add_operand(&args, v, span);
  if (c->args.len > 2) { /* symbolic variables come after the outputs */
    GraphValue shape = gframe_eval(g, c->args.at[2], "tir_vars");
    for (int i = 0; shape.type == TVMS_SHAPE && i < tvms_shape_ndim(shape.bits.p); i++) {
      GraphValue dim = {.type = TVMS_INT, .bits.i = tvms_shape_dims(shape.bits.p)[i]};
      add_operand(&args, &dim, span);
    }
  }
  program_call(p, args.values.at, args.types.at, args.values.len, span);
}

static GraphValue call_tir(GraphFrame *g, RelaxCall *c, const char *what) {
  GraphValueVec values = operands(g, c->args.at[1]);
  GraphValueVec outs = new_outputs(g, c->sinfo_args, what, c->node.span);
  for each (GraphValue, v, &outs) vec_push(&values, *v);
  call_program(g, c, &values);
  return results(&outs);
}

/* Output i overwrites operand inplace_indices[i]; -1 is a new tensor. */
static GraphValue call_tir_inplace(GraphFrame *g, RelaxCall *c, const char *what) {
  GraphValueVec values = operands(g, c->args.at[1]), outs = {0};
  Node *attr = dict_get(c->attrs, "inplace_indices");
  NodeVec indices = IS(Array, attr) ? AS(Array, attr)->items : (NodeVec){0};
  int given = values.len;
  for (int i = 0; i < indices.len; i++) {
    int64_t at = -1;
    expr_is_const_int(indices.at[i], &at);
    if (at >= given)
      fault(c->node.span, "%s: there is no operand %d to overwrite", g->name, (int)at);
    GraphValue v = at >= 0 ? values.at[at] : new_output(g, c->sinfo_args.at[i], what, c->node.span);
    if (at < 0) vec_push(&values, v);
    vec_push(&outs, v);
  }
  call_program(g, c, &values);
  return results(&outs);
}

/* ---- packed functions ---- */

static TvmsFunc *find_callee(GraphFrame *g, Node *callee) {
  if (IS(ExternFunc, callee)) {
    TvmsFunc *f;
    if (tvms_func_find(&f, AS(ExternFunc, callee)->symbol)) fault_runtime(callee->span);
    interp_own(f);
    return f;
  }
  GraphValue v = gframe_eval(g, callee, "the callee");
  TvmsValue bits;
  int type;
  gvalue_export(g->code->module, &v, &bits, &type, callee->span);
  if (type != TVMS_FUNC) fault(callee->span, "%s: %s can't be called", g->name, gvalue_text(&v));
  return bits.p;
}

static GraphValue call_object(GraphFrame *g, TvmsFunc *f, const GraphValueVec *values, Span span) {
  PackedArgs args = {0};
  TvmsValue ret = {0};
  int type = TVMS_NONE;
  for each (GraphValue, v, values) add_value(g, &args, v, span);
  if (tvms_func_call(f, args.values.at, args.types.at, args.values.len, &ret, &type))
    fault_runtime(span);
  for (int i = 0; i < args.values.len; i++)
    if (args.types.at[i] == TVMS_TENSOR || args.types.at[i] == TVMS_DLTENSOR)
      memory_written(tvms_tensor_address(args.values.at[i].p));
  return gvalue_import(type, ret, true, span);
}

static GraphValueVec arguments(GraphFrame *g, NodeVec args, int from) {
  GraphValueVec out = {0};
  for (int i = from; i < args.len; i++) vec_push(&out, gframe_eval(g, args.at[i], "an argument"));
  return out;
}

static GraphValue call_packed(GraphFrame *g, RelaxCall *c, const char *what) {
  TvmsFunc *f = find_callee(g, c->args.at[0]);
  GraphValueVec values = arguments(g, c->args, 1);
  GraphValue v = call_object(g, f, &values, c->node.span);
  match_one(g, &v, c->sinfo, what, c->node.span);
  return v;
}

static GraphValue call_dps_packed(GraphFrame *g, RelaxCall *c, const char *what) {
  TvmsFunc *f = find_callee(g, c->args.at[0]);
  GraphValueVec values = operands(g, c->args.at[1]);
  GraphValueVec outs = new_outputs(g, c->sinfo_args, what, c->node.span);
  for each (GraphValue, v, &outs) vec_push(&values, *v);
  call_object(g, f, &values, c->node.span);
  return results(&outs);
}

/* ---- operators ---- */

/* A value as struct info with numbers for dims. */
static Node *info_of_value(const GraphValue *v, Span span) {
  const DLTensor *t = gvalue_tensor(v);
  NodeVec parts = {0};
  if (t) {
    for (int i = 0; i < t->ndim; i++) vec_push(&parts, int_imm(INT64, t->shape[i], span));
    return sinfo_tensor(parts, dtype_from_dlpack(t->dtype.code, t->dtype.bits, t->dtype.lanes),
                        span);
  }
  if (v->type == TVMS_TUPLE) {
    for (int i = 0; i < v->tuple->n; i++) vec_push(&parts, info_of_value(&v->tuple->at[i], span));
    return sinfo_tuple(parts, span);
  }
  return sinfo_object();
}

static Node *need_dim(GraphFrame *g, int axis, int64_t dim, Span span) {
  if (dim < 0) fault(span, "%s: dim %d of a shape is %lld", g->name, axis, (long long)dim);
  return int_imm(INT64, dim, span);
}

static Node *shape_of(NodeVec dims, Span span) {
  Node *info =
      MAKE(ShapeStructInfo, span, VOID_TYPE, .known = true, .values = dims, .ndim = dims.len);
  return MAKE(ShapeExpr, span, VOID_TYPE, .sinfo = info, .values = dims);
}

/* A dim that is written as -1 is to be inferred. */
static Node *concrete_shape(GraphFrame *g, NodeVec dims, Span span) {
  NodeVec values = {0};
  int64_t number;
  for (int i = 0; i < dims.len; i++) {
    bool is_number = expr_is_const_int(dims.at[i], &number);
    Node *dim = is_number ? dims.at[i] : need_dim(g, i, gframe_dim(g, dims.at[i], span), span);
    vec_push(&values, dim);
  }
  return shape_of(values, span);
}

/* A scalar of which only the dtype was known. */
static Node *prim_of_value(const GraphValue *v, PrimStructInfo *info, Span span) {
  Node *number = v->type == TVMS_FLOAT ? float_imm(info->elem, v->bits.f, span)
                                       : int_imm(info->elem, v->bits.i, span);
  Node *known = MAKE(PrimStructInfo, span, VOID_TYPE, .elem = info->elem, .value = number);
  return MAKE(PrimValue, span, VOID_TYPE, .sinfo = known, .value = number);
}

/* What an operand is now. Numbers that stand in a tuple keep their values: rules ask for these. */
static Node *concrete_operand(GraphFrame *g, Node *n, Span span) {
  if (IS(ShapeExpr, n)) return concrete_shape(g, AS(ShapeExpr, n)->values, span);
  if (IS(PrimValue, n) || !node_is_relax(n) || IS(StringValue, n) || IS(DataTypeImm, n)) return n;
  if (IS(Tuple, n)) {
    NodeVec fields = {0}, infos = {0};
    for each (Node *, f, &AS(Tuple, n)->fields) {
      vec_push(&fields, concrete_operand(g, *f, span));
      vec_push(&infos, sinfo_of(fields.at[fields.len - 1]));
    }
    return MAKE(Tuple, span, VOID_TYPE, .sinfo = sinfo_tuple(infos, span), .fields = fields);
  }
  GraphValue v = gframe_eval(g, n, "an operand");
  NodeVec dims = {0};
  for (int i = 0; v.type == TVMS_SHAPE && i < tvms_shape_ndim(v.bits.p); i++)
    vec_push(&dims, need_dim(g, i, tvms_shape_dims(v.bits.p)[i], span));
  if (v.type == TVMS_SHAPE) return shape_of(dims, span);
  if (IS(PrimStructInfo, sinfo_of(n)))
    return prim_of_value(&v, AS(PrimStructInfo, sinfo_of(n)), span);
  return MAKE(RelaxVar, span, VOID_TYPE, .sinfo = info_of_value(&v, span), .name = "x");
}

/* The call with what its operands are now in place of what is known of them. */
static RelaxCall *concrete_call(GraphFrame *g, RelaxCall *c, const OpInfo *info) {
  RelaxCall *copy = AS(RelaxCall, gc_copy(c, sizeof *c));
  Span span = c->node.span;
  copy->args = (NodeVec){0};
  for each (Node *, a, &c->args) vec_push(&copy->args, concrete_operand(g, *a, span));
  copy->sinfo = info->infer(info, &copy->node);
  return copy;
}

static bool is_known(Node *info) {
  NodeVec dims;
  if (IS(TupleStructInfo, info)) {
    for each (Node *, f, &AS(TupleStructInfo, info)->fields)
      if (!is_known(*f)) return false;
    return true;
  }
  if (IS(ShapeStructInfo, info)) return AS(ShapeStructInfo, info)->known;
  if (IS(PrimStructInfo, info)) return AS(PrimStructInfo, info)->value;
  if (!IS(TensorStructInfo, info)) return !IS(ObjectStructInfo, info);
  return sinfo_tensor_shape(info, &dims) && !dtype_is_void(AS(TensorStructInfo, info)->elem);
}

static bool operands_are_known(RelaxCall *c) {
  for each (Node *, a, &c->args)
    if (node_is_relax(*a) && !is_known(sinfo_of(*a))) return false;
  return is_known(c->sinfo);
}

/* `call` is c, or what concrete_call made of it. */
static Program *operator_program(GraphFrame *g, RelaxCall *c, RelaxCall *call, const OpInfo *info) {
  Program *p = map_get(&g->code->operators, c);
  if (p) return p;
  Node *f = info->legalize ? info->legalize(info, &call->node) : NULL;
  const char *name = str_format("R.%s", info->name + strlen("relax."));
  if (!f) fault(c->node.span, "%s has no compute for these operands", name);
  p = program_new(g->code->module, AS(PrimFunc, f), name, true);
  if (call == c) map_set(&g->code->operators, c, p);
  return p;
}

static GraphValue attr_value(GraphFrame *g, Node *n) {
  GraphValueVec fields = {0};
  switch (n->kind) {
  case NK_StringImm:
    return gframe_eval(g, MAKE(StringValue, n->span, VOID_TYPE, .value = AS(StringImm, n)->value),
                       "a text");
  case NK_IntImm:
  case NK_FloatImm: return gframe_eval(g, n, "a number");
  case NK_Array:
    for each (Node *, x, &AS(Array, n)->items) vec_push(&fields, attr_value(g, *x));
    return gvalue_tuple(fields.len, fields.at);
  default: return gvalue_none();
  }
}

/* An operator that no program computes is the packed function of its name: operands, then
 * attributes. */
static GraphValue call_by_name(GraphFrame *g, RelaxCall *c, const OpInfo *info, const char *what) {
  Span span = c->node.span;
  GraphValueVec values = arguments(g, c->args, 0);
  for each (const char *, key, &info->attrs)
    vec_push(&values, attr_value(g, dict_get(c->attrs, *key)));
  Node *callee = MAKE(ExternFunc, span, VOID_TYPE, .symbol = info->name);
  GraphValue v = call_object(g, find_callee(g, callee), &values, span);
  match_one(g, &v, c->sinfo, what, span);
  return v;
}

/* Tensors among the operands, those inside tuples too, in order. */
static void add_tensors(PackedArgs *a, const GraphValue *v) {
  if (v->type == TVMS_TUPLE)
    for (int i = 0; i < v->tuple->n; i++) add_tensors(a, &v->tuple->at[i]);
  if (!gvalue_tensor(v)) return;
  vec_push(&a->values, v->bits);
  vec_push(&a->types, v->type);
}

/* Symbolic variables of the graph that stand in the program. */
static void hand_over(GraphFrame *g, const Program *p, Frame *f, NodeVec vars, Map *bound) {
  for each (Node *, v, &vars)
    if (!map_has(bound, *v) && gframe_is_bound(g, *v))
      program_set(p, f, bound, *v, gframe_dim(g, *v, (*v)->span));
}

static GraphValue compute(GraphFrame *g, RelaxCall *c, const OpInfo *info, const char *what) {
  Span span = c->node.span;
  RelaxCall *call = operands_are_known(c) ? c : concrete_call(g, c, info);
  Node *value = sinfo_value(call->sinfo, span);
  if (value) return gframe_eval(g, value, what);
  PackedArgs args = {0};
  GraphValueVec outs = {0};
  Map bound = {0};
  for each (Node *, a, &c->args) {
    if (!node_is_relax(*a)) continue;
    GraphValue v = gframe_eval(g, *a, "an operand");
    add_tensors(&args, &v);
  }
  Program *p = operator_program(g, c, call, info);
  Frame *f = program_frame(p);
  int inputs = args.values.len;
  if (inputs > p->params.len)
    fault(span, "%s takes %d tensors, %d given", p->name, p->params.len, inputs);
  program_bind(p, f, args.values.at, args.types.at, 0, inputs, &bound, span);
  hand_over(g, p, f, p->needed, &bound);
  hand_over(g, p, f, p->given, &bound);
  for (int i = inputs; i < p->params.len; i++) {
    ViewInfo *view = p->params.at[i].view;
    GraphValue v =
        gvalue_new_tensor(view->ndim, program_shape(p, f, i), view->buffer->elem, what, span);
    vec_push(&outs, v);
    add_tensors(&args, &v);
  }
  program_bind(p, f, args.values.at, args.types.at, inputs, args.values.len, &bound, span);
  program_check(p, f, args.values.at, args.values.len, &bound, span);
  program_run(p, f);
  return IS(TupleStructInfo, c->sinfo) ? gvalue_tuple(outs.len, outs.at) : results(&outs);
}

static GraphValue call_operator(GraphFrame *g, RelaxCall *c, const OpInfo *info, const char *what) {
  return info->is_packed ? call_by_name(g, c, info, what) : compute(g, c, info, what);
}

/* A function of the runtime gets its operands from one tuple. */
static GraphValue call_with_tuple(GraphFrame *g, RelaxCall *c, const char *what) {
  TvmsFunc *f = find_callee(g, c->args.at[0]);
  GraphValueVec values = operands(g, c->args.at[1]);
  GraphValue v = call_object(g, f, &values, c->node.span);
  match_one(g, &v, c->sinfo, what, c->node.span);
  return v;
}

/* A method of the module is the packed function of its name. */
static GraphValue call_py_func(GraphFrame *g, RelaxCall *c, const char *what) {
  RelaxCall copy = *c;
  Node *name = c->args.at[0];
  copy.args = NODES(name, c->args.at[1]);
  if (IS(StringValue, name))
    copy.args.at[0] =
        MAKE(ExternFunc, name->span, VOID_TYPE, .symbol = AS(StringValue, name)->value);
  return call_with_tuple(g, &copy, what);
}

/* A function value, called with the fields of a tuple. */
static GraphValue invoke_closure(GraphFrame *g, RelaxCall *c, const char *what) {
  GraphValue f = gframe_eval(g, c->args.at[0], "the closure"), v;
  GraphValueVec values = operands(g, c->args.at[1]);
  if (f.type == TVMS_FUNC) v = call_object(g, f.bits.p, &values, c->node.span);
  else if (f.type == VALUE_CLOSURE)
    v = gframe_call_function(f.closure, values.at, values.len, c->node.span);
  else fault(c->node.span, "%s: %s is no closure", g->name, gvalue_text(&f));
  match_one(g, &v, c->sinfo, what, c->node.span);
  return v;
}

/* A function of the module with its last arguments. */
static GraphValue make_closure(GraphFrame *g, RelaxCall *c, const char *what) {
  (void)what;
  GraphValue f = gframe_eval(g, c->args.at[0], "the function of a closure");
  if (f.type != VALUE_CLOSURE)
    fault(c->node.span, "%s: %s is no graph function", g->name, gvalue_text(&f));
  GraphValueVec kept = operands(g, c->args.at[1]);
  Closure *closure = gc_copy(f.closure, sizeof *f.closure);
  closure->last = gvalue_tuple(kept.len, kept.at).tuple;
  return (GraphValue){.type = VALUE_CLOSURE, .closure = closure};
}

static const struct {
  const char *name;
  GraphValue (*call)(GraphFrame *g, RelaxCall *c, const char *what);
  int args; /* at least */
} call_forms[] = {
    {"relax.call_tir", call_tir, 2},
    {"relax.call_tir_with_grad", call_tir, 2},
    {"relax.call_tir_inplace", call_tir_inplace, 2},
    {"relax.call_dps_packed", call_dps_packed, 2},
    {"relax.call_packed", call_packed, 1},
    {"relax.call_pure_packed", call_packed, 1},
    {"relax.call_inplace_packed", call_packed, 1},
    {"relax.call_builtin_with_ctx", call_with_tuple, 2},
    {"relax.call_py_func", call_py_func, 2},
    {"relax.make_closure", make_closure, 2},
    {"relax.invoke_closure", invoke_closure, 2},
    {"relax.invoke_pure_closure", invoke_closure, 2},
    {"relax.builtin.alloc_tensor", gmemory_new_tensor, 2},
    {"relax.memory.alloc_storage", gmemory_storage, 1},
    {"relax.memory.alloc_tensor", gmemory_tensor, 4},
    {"relax.memory.view", gmemory_view, 1},
    {"relax.memory.kill_tensor", gmemory_kill, 1},
};

static GraphValue call_named(GraphFrame *g, RelaxCall *c, const char *name, const char *what) {
  for (int i = 0; i < (int)(sizeof call_forms / sizeof *call_forms); i++) {
    if (!str_same(call_forms[i].name, name)) continue;
    if (c->args.len < call_forms[i].args) fault(c->node.span, "%s takes more arguments", name);
    return call_forms[i].call(g, c, what);
  }
  const OpInfo *info = op_info(name);
  if (!info) fault(c->node.span, "there is no operator '%s'", name);
  return call_operator(g, c, info, what);
}

/* ---- functions ---- */

static GraphValue call_global(GraphFrame *g, RelaxCall *c, const char *what) {
  Module *m = g->code->module;
  const char *name = AS(GlobalVar, c->op)->name;
  Node *callee = module_function(m, name);
  Span span = c->node.span;
  GraphValueVec values = arguments(g, c->args, 0);
  if (IS(Function, callee))
    return gframe_call_function(module_graph(m, name), values.at, values.len, span);
  if (IS(ExternFunc, callee)) {
    GraphValue v = call_object(g, find_callee(g, callee), &values, span);
    match_one(g, &v, c->sinfo, what, span);
    return v;
  }
  Program *p = module_program(m, name, span);
  PackedArgs args = {0};
  for each (GraphValue, v, &values) add_operand(&args, v, span);
  Scalar v = program_call(p, args.values.at, args.types.at, args.values.len, span);
  DataType t = p->f->ret_dtype;
  if (dtype_is_void(t)) return gvalue_tuple(0, NULL);
  if (dtype_is_float(t)) return (GraphValue){.type = TVMS_FLOAT, .bits.f = scalar_to_double(t, v)};
  return (GraphValue){.type = dtype_is_bool(t) ? TVMS_BOOL : TVMS_INT, .bits.i = v.i};
}

GraphValue gframe_call(GraphFrame *g, RelaxCall *c, const char *what) {
  if (IS(Op, c->op)) return call_named(g, c, AS(Op, c->op)->name, what);
  if (IS(GlobalVar, c->op)) return call_global(g, c, what);
  GraphValueVec values = arguments(g, c->args, 0);
  if (IS(ExternFunc, c->op)) {
    GraphValue v = call_object(g, find_callee(g, c->op), &values, c->node.span);
    match_one(g, &v, c->sinfo, what, c->node.span);
    return v;
  }
  GraphValue f = gframe_eval(g, c->op, "the callee");
  if (f.type == VALUE_CLOSURE)
    return gframe_call_function(f.closure, values.at, values.len, c->node.span);
  if (f.type == TVMS_FUNC) return call_object(g, f.bits.p, &values, c->node.span);
  fault(c->node.span, "%s: %s can't be called", g->name, gvalue_text(&f));
}
