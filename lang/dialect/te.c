/* te.c -- tensor expressions: operands, te.compute, reductions, and facts about dims. */
#include "lang/dialect/te.h"
#include "ir/arith/arith.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

/* Buffer to the Stage that fills it, of every te.compute: how a load leads to its producer. */
static Map all_stages;

/* An operator is being expanded: ints are int64. */
static bool in_operator;
bool te_in_operator(void) { return in_operator; }
bool te_set_in_operator(bool x) {
  bool was = in_operator;
  in_operator = x;
  return was;
}

Stage *te_stage_of(Node *buffer) { return map_get(&all_stages, buffer); }
void te_note_stage(Stage *s) {
  for each (Node *, b, &s->buffers) map_set(&all_stages, *b, s);
}

TeScope te_scope_begin(void) {
  TeScope outer = {.stages = all_stages, .in_operator = in_operator};
  all_stages = (Map){0};
  in_operator = true;
  return outer;
}
void te_scope_end(TeScope outer) {
  all_stages = outer.stages;
  in_operator = outer.in_operator;
}

static Analyzer *dims_analyzer(Node *a, Node *b);

static Node *to_dim(Value v, Span span) {
  Node *n = to_expr(v, span);
  if (!in_operator || !dtype_is_int(n->dtype)) return n;
  n = expr_cast(INT64, n, span);
  return IS(IntImm, n) || IS(Var, n) ? n : arith_simplify(dims_analyzer(n, NULL), n);
}

static NodeVec to_shape_dims(Value v, Span span) {
  NodeVec dims = to_exprs(v, span), out = {0};
  for each (Node *, d, &dims) vec_push(&out, to_dim(value_node(*d), span));
  return out;
}

/* ---- tensors ---- */

Value te_value(Node *buffer, Stage *stage) {
  return value_of(&type_te, NEW(TeTensor, .buffer = buffer, .stage = stage));
}

Value te_placeholder(const char *name, NodeVec shape, DataType t, Span span) {
  return te_value(buffer_new(str_intern(name), t, shape, "global", span), NULL);
}

static Value te_placeholder_fn(BuiltinCall *call) {
  NodeVec shape = to_exprs(ARG(0), SPAN(0));
  return te_placeholder(value_as_text(ARG(2), "the name", SPAN(2)), shape,
                        to_dtype(ARG(1), SPAN(1)), call->span);
}

/* ---- reductions ---- */

static Value te_reduce_axis(BuiltinCall *call) {
  Node *min, *extent;
  if (value_is_node(ARG(0), NK_Range)) {
    min = AS(Range, ARG(0).node)->min;
    extent = AS(Range, ARG(0).node)->extent;
  } else if (ARG(0).type == &type_tuple && value_items(ARG(0))->len == 2) {
    min = to_dim(value_items(ARG(0))->at[0], SPAN(0));
    extent = expr_sub(to_dim(value_items(ARG(0))->at[1], SPAN(0)), min);
  } else {
    extent = to_dim(ARG(0), SPAN(0));
    min = int_imm(extent->dtype, 0, call->span);
  }
  Node *var =
      var_new(value_as_text(ARG(1), "the name of an axis", SPAN(1)), extent->dtype, call->span);
  Node *dom = MAKE(Range, call->span, VOID_TYPE, .min = expr_cast(extent->dtype, min, call->span),
                   .extent = extent);
  return value_node(
      MAKE(IterVar, call->span, VOID_TYPE, .dom = dom, .var = var, .iter_kind = ITER_REDUCE));
}

static NodeVec axes_arg(Value v, Span span) {
  NodeVec axes = {0};
  ValueVec items = {0};
  if (v.type == &type_list || v.type == &type_tuple) items = *value_items(v);
  else vec_push(&items, v);
  for each (Value, x, &items) {
    if (!value_is_node(*x, NK_IterVar))
      raise("TypeError", span, "expected an axis of te.reduce_axis, found %s", value_type_name(*x));
    vec_push(&axes, x->node);
  }
  return axes;
}

/* A reduction without its number: where: NULL for everywhere; init: empty for the identity. */
static Reduce reduction(BuiltinCall *call, NodeVec axes, int where) {
  Reduce r = {.axes = axes, .cond = int_imm(BOOL, 1, call->span)};
  if (!value_is_none(ARG(where))) r.cond = to_expr(ARG(where), SPAN(where));
  if (!value_is_none(ARG(where + 1))) r.init = to_exprs(ARG(where + 1), SPAN(where + 1));
  return r;
}

static Node *reduce_node(Reduce r, Node *reducer, NodeVec sources, int index, Span span) {
  if (r.init.len && r.init.len != sources.len)
    raise("ValueError", span, "a reduction of %d values starts from as many, found %d", sources.len,
          r.init.len);
  return MAKE(Reduce, span, sources.at[index]->dtype, .reducer = reducer, .axes = r.axes,
              .sources = sources, .cond = r.cond, .init = r.init, .value_index = index);
}

static bool is_empty(NodeVec axes) {
  for each (Node *, a, &axes)
    if (expr_is_zero(AS(Range, AS(IterVar, *a)->dom)->extent)) return true;
  return false;
}

/* te.min(a, b), te.max(a, b, c): values rather than axes, all of which are combined. */
static bool has_axes(Value v) {
  return v.type == &type_list || v.type == &type_tuple || value_is_node(v, NK_IterVar);
}
static Value combined(BuiltinCall *call, NodeKind kind) {
  Value x = ARG(0);
  for (int i = 1; i < 4; i++) {
    if (value_is_none(ARG(i))) continue;
    NodeVec pair = to_operands(2, (Value[]){x, ARG(i)}, call->span);
    x = value_node(expr_binary(kind, pair.at[0], pair.at[1], call->span));
  }
  return x;
}

/* A reduction by a binary operator from its identity. No axes: the value itself; no elements: the
 * identity. */
static Value reduce_by(BuiltinCall *call, NodeKind kind, Node *identity) {
  if (!has_axes(ARG(1))) return combined(call, kind);
  Node *x = to_expr(ARG(0), SPAN(0));
  NodeVec axes = axes_arg(ARG(1), SPAN(1));
  Reduce r = reduction(call, axes, 2);
  if (!axes.len) return value_node(x);
  if (is_empty(axes)) return value_node(r.init.len ? r.init.at[0] : identity);
  Node *a = var_new("x", x->dtype, call->span), *b = var_new("y", x->dtype, call->span);
  Node *reducer =
      MAKE(CommReducer, call->span, VOID_TYPE, .lhs = NODES(a), .rhs = NODES(b),
           .results = NODES(expr_binary(kind, a, b, call->span)), .identity = NODES(identity));
  return value_node(reduce_node(r, reducer, NODES(x), 0, call->span));
}

static DataType source_dtype(BuiltinCall *call) { return to_expr(ARG(0), SPAN(0))->dtype; }

/* The identity of max (low) or min: an infinity where the dtype has one. */
static Node *extreme(DataType t, bool low, Span span) {
  if (dtype_is_float(t)) {
    double most = dtype_has_infinity(t) ? __builtin_inf() : dtype_max_float(t);
    return float_imm(t, low ? -most : most, span);
  }
  if (dtype_is_bool(t)) return int_imm(t, !low, span);
  if (t.code == DTYPE_UINT && t.bits == 64 && !low) return int_imm(t, -1, span);
  return int_imm(t, low ? dtype_min_int(t) : dtype_max_int(t), span);
}

static Node *number(DataType t, int value, Span span) {
  return dtype_is_float(t) ? float_imm(t, value, span) : int_imm(t, value, span);
}
static Value te_sum(BuiltinCall *call) {
  return reduce_by(call, NK_Add, number(source_dtype(call), 0, call->span));
}
static Value te_prod(BuiltinCall *call) {
  return reduce_by(call, NK_Mul, number(source_dtype(call), 1, call->span));
}
static Value te_max(BuiltinCall *call) {
  return reduce_by(call, NK_Max, extreme(source_dtype(call), true, call->span));
}
static Value te_min(BuiltinCall *call) {
  return reduce_by(call, NK_Min, extreme(source_dtype(call), false, call->span));
}

/* te.reduce(reducer, sources, axis, where, init): a Reduce for each result, as a tuple. */
static Value te_reduce(BuiltinCall *call) {
  if (!value_is_node(ARG(0), NK_CommReducer))
    raise("TypeError", SPAN(0), "expected a T.comm_reducer, found %s", value_type_name(ARG(0)));
  NodeVec sources = to_exprs(ARG(1), SPAN(1));
  Reduce r = reduction(call, axes_arg(ARG(2), SPAN(2)), 3);
  int n = AS(CommReducer, ARG(0).node)->results.len;
  if (sources.len != n)
    raise("ValueError", call->span, "the reducer takes %d values, %d are given", n, sources.len);
  ValueVec out = {0};
  for (int i = 0; i < n; i++)
    vec_push(&out, value_node(reduce_node(r, ARG(0).node, sources, i, call->span)));
  return n == 1 ? out.at[0] : value_tuple(out);
}

/* ---- compute ---- */

/* Axes have the names of the function's parameters; i0, i1, ... where there is one for all. */
static const char *axis_name(Value f, int i) {
  if (f.type != &type_function) return str_format("i%d", i);
  Ast *def = ((FunctionObject *)f.object)->def;
  const AstVec *params =
      def->kind == AST_KIND_Lambda ? &AST_AS(Lambda, def)->params : &AST_AS(Def, def)->params;
  AstParam *p = i < params->len ? AST_AS(Param, params->at[i]) : NULL;
  return p && p->kind == PARAM_PLAIN && p->name ? p->name : str_format("i%d", i);
}

NodeVec te_axes(NodeVec shape, Value f, Span span) {
  NodeVec axes = {0};
  for (int i = 0; i < shape.len; i++) {
    Node *extent = shape.at[i], *var = var_new(axis_name(f, i), extent->dtype, span);
    Node *dom =
        MAKE(Range, span, VOID_TYPE, .min = int_imm(extent->dtype, 0, span), .extent = extent);
    vec_push(&axes,
             MAKE(IterVar, span, VOID_TYPE, .dom = dom, .var = var, .iter_kind = ITER_SPATIAL));
  }
  return axes;
}

static Value te_compute(BuiltinCall *call) {
  NodeVec shape = to_shape_dims(ARG(0), SPAN(0)), axes = te_axes(shape, ARG(1), call->span);
  ValueVec indices = {0}, results = {0}, out = {0};
  for each (Node *, a, &axes) vec_push(&indices, value_node(AS(IterVar, *a)->var));
  Value body = value_call_with(ARG(1), indices.len, indices.at, call->span);
  bool many = body.type == &type_tuple || body.type == &type_list;
  if (many) results = *value_items(body);
  else vec_push(&results, body);
  const char *name = str_intern(value_as_text(ARG(2), "the name", SPAN(2)));
  Stage *stage = NEW(Stage, .name = name, .span = call->span);
  for (int i = 0; i < results.len; i++) {
    Node *x = to_expr(results.at[i], SPAN(1));
    if (!value_is_none(ARG(6)) && !IS(Reduce, x))
      x = expr_cast(to_dtype(ARG(6), SPAN(6)), x, call->span);
    vec_push(&stage->bodies, x);
    vec_push(&stage->buffers, buffer_new(many ? str_intern(str_format("%s_v%d", name, i)) : name,
                                         x->dtype, shape, "global", call->span));
    vec_push(&out, te_value(stage->buffers.at[i], stage));
  }
  te_note_stage(stage);
  if (results.len && IS(Reduce, stage->bodies.at[0]))
    for each (Node *, a, &AS(Reduce, stage->bodies.at[0])->axes) vec_push(&axes, *a);
  stage->axes = axes;
  return many ? value_tuple(out) : out.at[0];
}

/* The parameters in the order of the tensors, with scalars among them. */
static void set_params(PrimFunc *f, const ValueVec *all) {
  Map handles = {0};
  for (int i = 0; i < f->params.len; i++) map_set(&handles, f->buffers.at[i], f->params.at[i]);
  f->params = f->buffers = (NodeVec){0};
  for each (Value, v, all) {
    Node *buffer = v->type == &type_te ? te_of(*v)->buffer : NULL;
    vec_push(&f->params, buffer ? map_get(&handles, buffer) : v->node);
    vec_push(&f->buffers, buffer);
  }
}

static Value te_create_prim_func(BuiltinCall *call) {
  ValueVec all = value_to_vec(ARG(0), SPAN(0)), inputs = {0}, outputs = {0};
  for each (Value, v, &all) {
    if (value_is_node(*v, NK_Var)) continue;
    if (v->type != &type_te)
      raise("TypeError", SPAN(0), "expected tensors of te or scalar variables, found %s",
            value_type_name(*v));
    vec_push(te_of(*v)->stage ? &outputs : &inputs, *v);
  }
  Node *f = te_prim_func("main", inputs, outputs, call->span);
  set_params(AS(PrimFunc, f), &all);
  if (!value_is_none(ARG(1))) {
    DataType t = to_dtype(ARG(1), SPAN(1));
    if (t.code != DTYPE_INT || t.lanes != 1)
      raise("ValueError", SPAN(1), "indices are signed integers, not %s", dtype_text(t));
    f = te_with_index_dtype(f, t);
  }
  return value_node(func_with_attr(f, "global_symbol", string_imm("main", call->span)));
}

/* ---- dims: their variables are never negative, and no dim is larger than any memory ---- */

static WalkResult know_positive(Walker *w, Node *n) {
  if (!IS(Var, n) || !dtype_is_int(n->dtype)) return WALK_ON;
  int64_t limit = n->dtype.bits < 64 ? dtype_max_int(n->dtype) : (int64_t)1 << 48;
  arith_bind_range(w->context, n, int_imm(n->dtype, 0, n->span), int_imm(n->dtype, limit, n->span));
  return WALK_ON;
}

static Analyzer *dims_analyzer(Node *a, Node *b) {
  Analyzer *facts = arith_new();
  Walker w = {.enter = know_positive, .context = facts};
  walk(&w, a);
  if (b) walk(&w, b);
  return facts;
}

typedef enum { DIMS_SAME, DIMS_DIFFER, DIMS_UNKNOWN } DimsAre;

static DimsAre compare_dims(BuiltinCall *call) {
  if (ARG(0).type == &type_int && ARG(1).type == &type_int)
    return ARG(0).integer == ARG(1).integer ? DIMS_SAME : DIMS_DIFFER;
  if (ARG(0).type == &type_node && ARG(0).node == ARG(1).node) return DIMS_SAME;
  Node *a = to_expr(ARG(0), SPAN(0)), *b = to_expr(ARG(1), SPAN(1));
  Analyzer *facts = dims_analyzer(a, b);
  if (arith_can_prove_equal(facts, a, b)) return DIMS_SAME;
  return arith_can_prove_different(facts, a, b) ? DIMS_DIFFER : DIMS_UNKNOWN;
}

/* Are two dims equal? True, False, or None where that can't be told. */
static Value te_same_dim(BuiltinCall *call) {
  DimsAre are = compare_dims(call);
  return are == DIMS_UNKNOWN ? value_none() : value_bool(are == DIMS_SAME);
}

static NodeVec *assumed; /* pairs of dims; NULL: nobody asks */

NodeVec *te_note_assumed(NodeVec *pairs) {
  NodeVec *outer = assumed;
  assumed = pairs;
  return outer;
}

/* Must two dims differ? Where that can't be told they are taken to be equal, which is noted. */
static Value te_differ(BuiltinCall *call) {
  DimsAre are = compare_dims(call);
  if (are == DIMS_UNKNOWN && assumed) {
    vec_push(assumed, to_expr(ARG(0), SPAN(0)));
    vec_push(assumed, to_expr(ARG(1), SPAN(1)));
  }
  return value_bool(are == DIMS_DIFFER);
}

/* A dim in a simpler form; an int if it is a constant. */
static Value te_simplify(BuiltinCall *call) {
  if (ARG(0).type != &type_node) return ARG(0);
  Node *given = to_expr(ARG(0), SPAN(0)), *n = arith_simplify(dims_analyzer(given, NULL), given);
  int64_t value;
  return expr_is_const_int(n, &value) ? value_int(value) : value_node(n);
}

/* te.var("n"), te.var("n", "int64") */
static Value te_var(BuiltinCall *call) {
  Node *var = var_new(value_as_text(ARG(0), "the name of a variable", SPAN(0)),
                      to_dtype(ARG(1), SPAN(1)), call->span);
  AS(Var, var)->is_size = str_same(call->builtin->name, "size_var");
  if (tensor) map_set(&tensor->unbound, var, var); /* in a prim_func: its name is that it gets */
  return value_node(var);
}

static const Builtin te_names[] = {
    {"var", "name='tindex', dtype='int32', span=None", te_var, "a variable"},
    {"size_var", "name='size', dtype='int32', span=None", te_var,
     "a variable that is not negative"},
    {"placeholder", "shape, dtype='float32', name='placeholder'", te_placeholder_fn, "an operand"},
    {"compute",
     "shape, fcompute, name='compute', tag='', attrs=None, varargs_names=None, dtype=None",
     te_compute, "a tensor by its elements"},
    {"scan", "init, update, state_placeholder, inputs=None, name='scan', tag='', attrs=None",
     te_scan, "a recurrence along the first axis"},
    {"extern",
     "shape, inputs=None, fcompute=None, name='extern', dtype=None, in_buffers=None, "
     "out_buffers=None, tag='', attrs=None",
     te_extern, "tensors that a prim_func, or the statement of fcompute(ins, outs), fills"},
    {"reduce_axis", "dom, name='rv', thread_tag='', span=None", te_reduce_axis,
     "an axis to reduce over"},
    {"sum", "expr, axis, where=None, init=None", te_sum, "sum over axes"},
    {"prod", "expr, axis, where=None, init=None", te_prod, "product over axes"},
    {"max", "expr, axis, where=None, init=None", te_max, "maximum over axes"},
    {"min", "expr, axis, where=None, init=None", te_min, "minimum over axes"},
    {"reduce", "reducer, sources, axis, where=None, init=None", te_reduce,
     "reduction by a T.comm_reducer"},
    {"same_dim", "a, b", te_same_dim, "are two dims equal? None: not known"},
    {"differ", "a, b", te_differ,
     "must two dims differ? Else they are taken to be equal, and compared at run time"},
    {"simplify", "expr", te_simplify, "a simpler form of a dim"},
    {"create_prim_func", "ops, index_dtype_override=None", te_create_prim_func,
     "a PrimFunc of operands and results"},
};

/* te.comm_reducer of the library; te.exp, te.const, te.var: names of T under te. */
static Value te_find(Namespace *ns, const char *name) {
  name = str_intern(name);
  Value x = library_attr("tvm.te", name);
  if (!x.type) x = value_find_attr(tvm_tir_namespace(), name, (Span){0});
  if (x.type) names_set(&ns->values, name, x); /* asked for again and again */
  return x;
}

Value te_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = value_namespace("te");
  ((Namespace *)ns.object)->find = te_find;
  ((Namespace *)ns.object)->is_part = true;
  namespace_add_builtins(ns, te_names, sizeof te_names / sizeof *te_names);
  namespace_set(ns, "Tensor", value_type(&type_te));
  return ns;
}
