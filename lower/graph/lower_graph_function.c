/* lower_graph_function.c -- graph functions become host functions: allocations, kernel calls,
 * control flow.
 *
 * In:  graph functions in normal form whose calls say where they write (after CallTIRRewrite), and
 * whose memory may be planned (lower/memory). Out: PrimFuncs with the calling convention of packed
 * functions (see lower/lower.h). Symbolic dims are scalars read from the arguments; a tensor that
 * never leaves the function is workspace of its frame. */
#include "lower/graph/graph_impl.h"
#include "lower/memory/memory.h"
#include <inttypes.h>

Node *graph_dim(GraphLower *g, Node *dim) {
  Node *out = substitute(dim, &g->bound);
  return expr_cast(INT64, out, dim->span);
}

NodeVec graph_dims(GraphLower *g, NodeVec dims) {
  NodeVec out = {0};
  for each (Node *, d, &dims) vec_push(&out, graph_dim(g, *d));
  return out;
}

/* ---- leaves ---- */

static Node *constant_on_device(Host *h, Node *data, const ConstData *c) {
  Node *nbytes = int_imm(INT64, (int64_t)c->nbytes, h->span);
  Node *there = host_object(
      h, "constant_there",
      host_call(h, "tvms_device_constant", HANDLE, host_on_device(h, 0, NODES(data, nbytes))));
  Node *var = pointer_var_new("constant_data", c->elem, "global", h->span);
  host_let_var(h, var, there);
  return var;
}

static HostValue *constant(GraphLower *g, Constant *c) {
  Host *h = g->host;
  Node *data = pointer_var_new("constant", c->data->elem, "global", c->node.span);
  host_wrap(h, MAKE(AllocateConst, c->node.span, VOID_TYPE, .data = c->data, .var = data));
  if (h->device.is_device) data = constant_on_device(h, data, c->data);
  NodeVec dims = {0};
  for (int i = 0; i < c->data->ndim; i++)
    vec_push(&dims, int_imm(INT64, c->data->shape[i], c->node.span));
  return NEW(HostValue, .kind = HOST_TENSOR, .data = data, .dims = dims, .elem = c->data->elem);
}

/* A pointer in an array whose elements have 64 bits, also where pointers have less. */
static Node *pointer_at(Host *h, Node *array, int index) {
  return expr_call("reinterpret", HANDLE, NODES(host_load(h, array, INT64, index)), h->span);
}

/* A tensor argument, read from the array of arguments where it is used. */
static HostValue *fetched(GraphLower *g, const HostValue *argument, const char *name) {
  Host *h = g->host;
  HostValue *v = gc_copy(argument, sizeof *argument);
  int i = argument->argument - 1;
  v->object = pointer_at(h, h->args, i);
  v->type = host_load(h, h->types, INT32, i);
  v->data = pointer_var_new(str_format("%s_data", name), dtype_is_void(v->elem) ? UINT8 : v->elem,
                            "global", h->span);
  host_let_var(h, v->data, pointer_at(h, g->addresses, i));
  return v;
}

HostValue *graph_operand(GraphLower *g, Node *n) {
  switch (n->kind) {
  case NK_RelaxVar: {
    HostValue *v = map_get(&g->values, n);
    if (!v)
      error_raisef("LowerError", n->span,
                   "'%s' has no value here: functions that capture variables can't be compiled",
                   AS(RelaxVar, n)->name);
    return v->argument ? fetched(g, v, AS(RelaxVar, n)->name) : v;
  }
  case NK_Constant: return constant(g, AS(Constant, n));
  case NK_GlobalVar: return graph_closure(g, n, (HostValueVec){0});
  case NK_PrimValue:
    return NEW(HostValue, .kind = HOST_SCALAR,
               .scalar = substitute(AS(PrimValue, n)->value, &g->bound));
  case NK_StringValue:
    return NEW(HostValue, .kind = HOST_STRING, .text = AS(StringValue, n)->value);
  case NK_DataTypeImm:
    return NEW(HostValue, .kind = HOST_STRING, .text = dtype_text(AS(DataTypeImm, n)->value));
  case NK_ShapeExpr:
    return NEW(HostValue, .kind = HOST_SHAPE, .dims = graph_dims(g, AS(ShapeExpr, n)->values));
  case NK_None: return NEW(HostValue, .kind = HOST_NONE);
  case NK_Tuple: {
    HostValue *v = NEW(HostValue, .kind = HOST_TUPLE);
    for each (Node *, f, &AS(Tuple, n)->fields) vec_push(&v->fields, graph_operand(g, *f));
    return v;
  }
  case NK_MetadataRef:
    error_raisef("LowerError", n->span,
                 "metadata[\"%s\"][%d] is not known: the text came without its metadata",
                 AS(MetadataRef, n)->type_key, AS(MetadataRef, n)->index);
  default:
    error_raisef("LowerError", n->span, "a value of kind %s can't be compiled",
                 node_kind_name(n->kind));
  }
}

/* ---- bindings ---- */

static HostValue *field_of(GraphLower *g, HostValue *v, int index, Node *sinfo) {
  if (v->kind == HOST_TUPLE) return v->fields.at[index];
  Host *h = g->host;
  Node *bits = host_array(h, "field", INT64, NODES(int_imm(INT64, 0, h->span))),
       *type = host_array(h, "field_type", INT32, NODES(host_int(h, 0)));
  Node *tuple = expr_call("reinterpret", HANDLE, NODES(v->bits), h->span);
  host_check(h,
             host_call(h, "tvms_tuple_field", INT32, NODES(tuple, host_int(h, index), bits, type)));
  return graph_unpacked(g, bits, type, sinfo, "a field of a tuple");
}

static HostValue *tuple_item(GraphLower *g, TupleGetItem *t) {
  return field_of(g, graph_operand(g, t->tuple), t->index, t->sinfo);
}

static void lower_blocks(GraphLower *g, NodeVec blocks);
static HostValue *lower_if(GraphLower *g, RelaxIf *n, const char *name);

static HostValue *lower_value(GraphLower *g, Node *value, RelaxVar *var) {
  switch (value->kind) {
  case NK_RelaxCall:
    if (map_has(&g->escaping, var)) map_set(&g->escaping, value, value);
    return graph_call(g, AS(RelaxCall, value), AS(RelaxCall, value)->sinfo, var->name);
  case NK_TupleGetItem: return tuple_item(g, AS(TupleGetItem, value));
  case NK_RelaxIf: return lower_if(g, AS(RelaxIf, value), var->name);
  case NK_Function:
    error_raisef("LowerError", value->span,
                 "a local function can't be compiled as it stands: run LambdaLift, or make '%s' a "
                 "function of "
                 "the module",
                 var->name);
  default: return graph_operand(g, value);
  }
}

static void lower_binding(GraphLower *g, Node *n) {
  if (IS(MatchCast, n)) {
    MatchCast *m = AS(MatchCast, n);
    map_set(&g->values, m->var,
            graph_match(g, graph_operand(g, m->value), m->sinfo, AS(RelaxVar, m->var)->name));
    return;
  }
  VarBinding *b = AS(VarBinding, n);
  Span outer = g->host->span;
  g->host->span = n->span.hi ? n->span : outer;
  map_set(&g->values, b->var, lower_value(g, b->value, AS(RelaxVar, b->var)));
  g->host->span = outer;
}

static void lower_blocks(GraphLower *g, NodeVec blocks) {
  for each (Node *, b, &blocks)
    for each (Node *, n, &AS(BindingBlock, *b)->bindings) lower_binding(g, *n);
}

/* ---- branches: each arm leaves its value in slots, those of a tuple field by field ---- */

typedef struct Slots Slots;
struct Slots {
  Node *sinfo, *bits, *type; /* of a leaf */
  bool is_tuple;
  VEC(Slots *) fields;
};

static Slots *slots_new(GraphLower *g, Node *sinfo, const char *name) {
  Host *h = g->host;
  Slots *s = NEW(Slots, .sinfo = sinfo, .is_tuple = IS(TupleStructInfo, sinfo));
  if (s->is_tuple) {
    NodeVec fields = AS(TupleStructInfo, sinfo)->fields;
    for (int i = 0; i < fields.len; i++)
      vec_push(&s->fields, slots_new(g, fields.at[i], str_format("%s_%d", name, i)));
    return s;
  }
  s->bits = host_array(h, str_format("%s_bits", name), INT64, NODES(int_imm(INT64, 0, h->span)));
  s->type = host_array(h, str_format("%s_type", name), INT32, NODES(host_int(h, 0)));
  return s;
}

static void slots_fill(GraphLower *g, Slots *s, HostValue *v, Span span) {
  for (int i = 0; i < s->fields.len; i++)
    slots_fill(g, s->fields.at[i], field_of(g, v, i, s->fields.at[i]->sinfo), span);
  if (s->is_tuple) return;
  Node *bits, *type;
  graph_lent(g, v, &bits, &type, span);
  host_store(g->host, s->bits, INT64, 0, bits);
  host_store(g->host, s->type, INT32, 0, type);
}

static HostValue *slots_value(GraphLower *g, Slots *s, const char *name) {
  if (!s->is_tuple) return graph_unpacked(g, s->bits, s->type, s->sinfo, name);
  HostValue *v = NEW(HostValue, .kind = HOST_TUPLE);
  for (int i = 0; i < s->fields.len; i++)
    vec_push(&v->fields, slots_value(g, s->fields.at[i], str_format("%s_%d", name, i)));
  return v;
}

static Node *lower_arm(GraphLower *g, SeqExpr *arm, Slots *slots) {
  Host *h = g->host;
  Host inner = *h; /* the same function, its own statements */
  inner.items = (NodeVec){0};
  memset(&inner.open, 0, sizeof inner.open);
  g->host = &inner;
  Map bound = g->bound, copy = {0};
  for (int i = 0; i < bound.len; i++)
    if (bound.at[i].key) map_set(&copy, bound.at[i].key, bound.at[i].value);
  g->bound = copy; /* what the arm binds is not known after it */
  lower_blocks(g, arm->blocks);
  slots_fill(g, slots, graph_operand(g, arm->body), arm->node.span);
  g->bound = bound;
  g->host = h;
  return host_body(&inner);
}

/* A bool where the CPU can read it. */
static Node *on_host(GraphLower *g, Node *data) {
  Host *h = g->host;
  if (!h->device.is_device) return data;
  Node *copy = host_array(h, "cond_copy", BOOL, NODES(int_imm(BOOL, 0, h->span)));
  host_check(
      h, host_call(h, "tvms_device_copy", INT32, NODES(copy, data, int_imm(INT64, 1, h->span))));
  return copy;
}

static Node *condition(GraphLower *g, Node *cond) {
  HostValue *v = graph_operand(g, cond);
  if (v->kind == HOST_SCALAR) return expr_cast(BOOL, v->scalar, cond->span);
  if (v->kind != HOST_TENSOR || !dtype_is_bool(v->elem))
    error_raisef("LowerError", cond->span, "the condition of a branch must be a bool");
  return host_let(g->host, "cond", host_load(g->host, on_host(g, v->data), BOOL, 0));
}

static HostValue *lower_if(GraphLower *g, RelaxIf *n, const char *name) {
  Host *h = g->host;
  Slots *slots = slots_new(g, n->sinfo, name);
  Node *cond = condition(g, n->cond);
  Node *then = lower_arm(g, AS(SeqExpr, n->then), slots),
       *orelse = lower_arm(g, AS(SeqExpr, n->orelse), slots);
  host_add(h,
           MAKE(IfThenElse, n->node.span, VOID_TYPE, .cond = cond, .then = then, .orelse = orelse));
  return slots_value(g, slots, name);
}

/* ---- functions ---- */

static const char *signature_text(Function *f) {
  Str s = {0};
  str_add_char(&s, '(');
  for (int i = 0; i < f->params.len; i++)
    str_printf(&s, "%s%s: %s", i ? ", " : "", AS(RelaxVar, f->params.at[i])->name,
               ir_print(sinfo_of(f->params.at[i]), NULL));
  str_printf(&s, ") -> %s", ir_print(f->ret_sinfo, NULL));
  return str_text(&s);
}

static Node *argument_pointer(Host *h, Node *array, int index, int nbytes) {
  Node *base = expr_call("reinterpret", INT64, NODES(array), h->span);
  Node *at = expr_add(base, int_imm(INT64, (int64_t)index * nbytes, h->span));
  return expr_call("reinterpret", HANDLE, NODES(at), h->span);
}

/* The dims of a tensor, a shape or a scalar, as far as they are known. */
static NodeVec dims_of_info(Node *info) {
  NodeVec dims = {0};
  if (IS(ShapeStructInfo, info)) return AS(ShapeStructInfo, info)->values;
  if (IS(PrimStructInfo, info) && AS(PrimStructInfo, info)->value)
    return NODES(AS(PrimStructInfo, info)->value);
  sinfo_tensor_shape(info, &dims);
  return dims;
}

/* Takes the fields of a tuple whose dims nothing else tells: that binds these. */
static void bind_tuple_dims(GraphLower *g, HostValue *tuple, Node *sinfo) {
  NodeVec fields = AS(TupleStructInfo, sinfo)->fields;
  for (int i = 0; i < fields.len; i++) {
    bool tells = false;
    if (IS(TupleStructInfo, fields.at[i]))
      bind_tuple_dims(g, field_of(g, tuple, i, fields.at[i]), fields.at[i]);
    NodeVec dims = dims_of_info(fields.at[i]);
    for each (Node *, d, &dims) tells |= IS(Var, *d) && !map_has(&g->bound, *d);
    if (tells) field_of(g, tuple, i, fields.at[i]);
  }
}

/* A number as tvms_arg_tensors reads it without a thought, for it does so in each call. */
static void add_number(Str *params, int64_t number) {
  char digits[16];
  int n = 0;
  for (uint64_t rest = (uint64_t)number + 1; n == 0 || rest; rest /= 32)
    digits[n] = (char)((n ? ' ' : '@') + rest % 32), n++;
  while (n) str_add_char(params, digits[--n]);
}

/* An argument as tvms_arg_tensors reads it: all that no other argument must tell. */
static void declare_tensor(Str *params, RelaxVar *p, int index) {
  TensorStructInfo *t = AS(TensorStructInfo, p->sinfo);
  int code = dtype_is_void(t->elem) ? 255 : dtype_dlpack_code(t->elem);
  const int64_t numbers[] = {index,        t->ndim,       code,
                             t->elem.bits, t->elem.lanes, (int64_t)strlen(p->name)};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) add_number(params, numbers[i]);
  str_add(params, p->name);
  NodeVec dims = {0};
  bool is_known = sinfo_tensor_shape(p->sinfo, &dims);
  for (int k = 0; k < t->ndim; k++) {
    int64_t extent;
    bool is_number = is_known && expr_is_const_int(dims.at[k], &extent);
    add_number(params, is_number ? extent : -1);
  }
}

static void check_tensors(GraphLower *g, Function *f) {
  Host *h = g->host;
  Str params = {0};
  for (int i = 0; i < f->params.len; i++)
    if (IS(TensorStructInfo, sinfo_of(f->params.at[i])))
      declare_tensor(&params, AS(RelaxVar, f->params.at[i]), i);
  if (!params.len) return;
  NodeVec args =
      NODES(h->frame, host_text(h, h->name), host_text(h, str_text(&params)), h->args, h->types,
            host_int(h, f->params.len), host_int(h, h->device.type), host_int(h, h->device.id));
  g->addresses = host_object(h, "addresses", host_call(h, "tvms_arg_tensors", HANDLE, args));
}

/* A tensor argument, whose dims are bound, or checked later where they are no numbers. */
static HostValue *tensor_parameter(GraphLower *g, RelaxVar *p, int i, DimCheckVec *checks) {
  Host *h = g->host;
  TensorStructInfo *t = AS(TensorStructInfo, p->sinfo);
  HostValue *v = NEW(HostValue, .kind = HOST_TENSOR, .elem = t->elem, .argument = i + 1);
  Node *object = pointer_at(h, h->args, i);
  NodeVec dims = {0};
  bool is_known = sinfo_tensor_shape(p->sinfo, &dims);
  for (int k = 0; k < t->ndim; k++) {
    int64_t number;
    Node *extent = host_call(h, "tvms_tensor_dim", INT64, NODES(object, host_int(h, k)));
    if (is_known && expr_is_const_int(dims.at[k], &number)) extent = dims.at[k];
    else if (!is_known) extent = host_let(h, str_format("%s_%d", p->name, k), extent);
    vec_push(&v->dims, extent);
  }
  if (is_known)
    host_bind_dims(
        h,
        (DimCheck){
            .what = value_phrase(p->name, true), .tensor = object, .dims = dims, .actual = v->dims},
        &g->bound, checks);
  return v;
}

/* Dims that stand whole are bound first, for all parameters; the others are checked when all are
 * known. What is checked is known from there on. */
static void lower_parameters(GraphLower *g, Function *f) {
  Host *h = g->host;
  DimCheckVec checks = {0};
  g->later = &checks;
  check_tensors(g, f);
  for (int i = 0; i < f->params.len; i++) {
    RelaxVar *p = AS(RelaxVar, f->params.at[i]);
    HostValue *v = IS(TensorStructInfo, p->sinfo)
                       ? tensor_parameter(g, p, i, &checks)
                       : graph_unpacked(g, argument_pointer(h, h->args, i, 8),
                                        argument_pointer(h, h->types, i, 4), p->sinfo, p->name);
    map_set(&g->values, p, v);
  }
  for each (Node *, p, &f->params)
    if (IS(TupleStructInfo, sinfo_of(*p)))
      bind_tuple_dims(g, map_get(&g->values, *p), sinfo_of(*p));
  g->later = NULL;
  host_check_dims(h, &checks, &g->bound);
  for each (Node *, p, &f->params) {
    HostValue *v = map_get(&g->values, *p);
    Node *info = sinfo_of(*p);
    NodeVec dims;
    if (v->kind == HOST_TENSOR && sinfo_tensor_shape(info, &dims)) v->dims = graph_dims(g, dims);
    if (v->kind == HOST_SHAPE && AS(ShapeStructInfo, info)->known)
      v->dims = graph_dims(g, AS(ShapeStructInfo, info)->values);
  }
}

/* A result that is declared as more than what its value is known to be is checked. */
static HostValue *lower_result(GraphLower *g, Function *f) {
  Node *body = AS(SeqExpr, f->body)->body;
  HostValue *v = graph_operand(g, body);
  const char *why = NULL;
  bool known = !f->ret_sinfo || sinfo_check(f->ret_sinfo, sinfo_of(body), &why) == SINFO_YES;
  return known ? v : graph_match(g, v, f->ret_sinfo, "the return value");
}

/* Memory is planned for no more than the bounds that the function promises. */
static void check_bounds(GraphLower *g, Function *f) {
  Host *h = g->host;
  for (int i = 0; i < g->bound.len; i++) {
    Node *var = (Node *)(uintptr_t)g->bound.at[i].key;
    int64_t bound = memory_upper_bound(f, AS(Var, var)->name);
    if (bound < 0) continue;
    Node *value = expr_cast(INT64, g->bound.at[i].value, h->span);
    host_check(h, host_call(h, "tvms_check_bound", INT32,
                            NODES(host_text(h, h->name), host_text(h, AS(Var, var)->name), value,
                                  int_imm(INT64, bound, h->span))));
  }
}

static void find_escapes(GraphLower *g, Function *f) {
  Aliases a = memory_aliases(g->module, &f->node);
  const Map *sets[] = {&a.opaque, &a.leaves};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < sets[k]->len; i++)
      map_set(&g->escaping, sets[k]->at[i].key, sets[k]->at[i].value);
}

static bool has_option(const Target *t, const char *name) {
  return t && map_has(&t->options, str_intern(name)) && target_option_int(t, name);
}

static Node *lower_function(Node *module, Function *f, const char *name, const Target *target) {
  Host h = host_new(name, f->node.span);
  GraphLower g = {.module = module,
                  .host = &h,
                  .poison = has_option(target, "poison-memory"),
                  .profile = has_option(target, "profile")};
  h.device = lower_device(target);
  find_escapes(&g, f);
  host_check(&h, host_call(&h, "tvms_arg_count", INT32,
                           NODES(host_text(&h, name), h.count, host_int(&h, f->params.len))));
  Node *frame = host_object(&h, "frame", host_call(&h, "tvms_frame_begin", HANDLE, (NodeVec){0}));
  h.frame = frame;
  lower_parameters(&g, f);
  check_bounds(&g, f);
  SeqExpr *body = AS(SeqExpr, f->body);
  lower_blocks(&g, body->blocks);
  Node *bits, *type;
  graph_packed(&g, lower_result(&g, f), &bits, &type, f->node.span);
  Node *end = host_call(&h, "tvms_frame_end", INT32, NODES(frame, h.ret, h.ret_type, bits, type));
  host_add(&h, stmt_evaluate(expr_call("ret", INT32, NODES(end), h.span), h.span));
  return host_function(&h, host_body(&h), func_symbol(&f->node), signature_text(f));
}

Node *pass_lower_graph_function(Node *module, const PassContext *context) {
  IRModule *m = AS(IRModule, module);
  Node *out = module;
  for (int i = 0; i < m->functions.len; i++) {
    const char *name = AS(GlobalVar, m->globals.at[i])->name;
    if (IS(Function, m->functions.at[i]))
      out = module_with(
          out, m->globals.at[i],
          lower_function(module, AS(Function, m->functions.at[i]), name, context->target));
    else if (IS(ExternFunc, m->functions.at[i])) out = module_without(out, name);
  }
  return out;
}
