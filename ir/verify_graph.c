/* verify_graph.c -- well-formedness of graph functions. */
#include "ir/arith/arith.h"
#include "ir/support/stack.h"
#include "ir/verify_impl.h"

static void check_seq(Verifier *v, Node *n);

/* ---- struct info ---- */

typedef struct InfoCheck {
  Verifier *v;
  Node *at;
  const char *name;
} InfoCheck;

static WalkResult check_info_node(Walker *w, Node *n) {
  InfoCheck *c = w->context;
  NodeVec dims;
  if (IS(FuncStructInfo, n)) return WALK_PRUNE; /* its dims are its own */
  if (IS(RelaxVar, n)) verify_need(c->v, n, c->at);
  if (IS(Var, n) && !map_has(&c->v->scope, n)) {
    verify_fault(c->v, E0404, c->at, "the struct info of '%s' mentions '%s', which is not defined",
                 c->name, verify_name(n));
    map_set(&c->v->scope, n, n); /* told once */
  }
  if (IS(TensorStructInfo, n) && sinfo_tensor_shape(n, &dims) &&
      dims.len != AS(TensorStructInfo, n)->ndim)
    verify_fault(c->v, E0405, c->at, "the struct info of '%s' has rank %d, but %d dims", c->name,
                 AS(TensorStructInfo, n)->ndim, dims.len);
  if (IS(ShapeStructInfo, n) && AS(ShapeStructInfo, n)->known &&
      AS(ShapeStructInfo, n)->values.len != AS(ShapeStructInfo, n)->ndim)
    verify_fault(c->v, E0405, c->at, "the struct info of '%s' has rank %d, but %d dims", c->name,
                 AS(ShapeStructInfo, n)->ndim, AS(ShapeStructInfo, n)->values.len);
  return WALK_ON;
}

/* Many variables have one struct info. */
static void check_info(Verifier *v, Node *sinfo, const char *name, Node *at) {
  size_t places = sizeof v->sound / sizeof *v->sound;
  Node **sound = &v->sound[((uintptr_t)sinfo >> 4) % places];
  if (*sound == sinfo) return;
  int faults = v->faults;
  InfoCheck c = {v, at, name};
  Walker w = {.enter = check_info_node, .context = &c};
  walk(&w, sinfo);
  if (v->faults == faults) *sound = sinfo;
}

static void check_var_info(Verifier *v, Node *var, Node *at) {
  Node *sinfo = AS(RelaxVar, var)->sinfo;
  if (!sinfo) verify_fault(v, E0499, at, "'%s' has no struct info", verify_name(var));
  else check_info(v, sinfo, verify_name(var), at);
}

/* ---- normal form: operands are leaves or tuples of them, every other value has a name ---- */

static bool is_operand(Node *n) {
  switch (n->kind) {
  case NK_RelaxCall:
  case NK_RelaxIf:
  case NK_SeqExpr:
  case NK_TupleGetItem:
  case NK_Function: return false;
  case NK_Tuple:
    for each (Node *, f, &AS(Tuple, n)->fields)
      if (!is_operand(*f)) return false;
    return true;
  default: return true;
  }
}

static void need_operand(Verifier *v, Node *n, Node *at) {
  if (!is_operand(n))
    verify_fault(v, E0499, at, "an operand must have a name: bind the %s first",
                 node_kind_name(n->kind));
}

static void check_normal_form(Verifier *v, Node *n) {
  switch (n->kind) {
  case NK_RelaxCall:
    for each (Node *, a, &AS(RelaxCall, n)->args) need_operand(v, *a, n);
    break;
  case NK_Tuple:
    for each (Node *, f, &AS(Tuple, n)->fields) need_operand(v, *f, n);
    break;
  case NK_TupleGetItem: need_operand(v, AS(TupleGetItem, n)->tuple, n); break;
  default: break;
  }
}

/* ---- calls ---- */

/* The struct info of what a call of a tensor program gives it, outputs and scalars included. False:
 * not known. Operands that are written in place are outputs as well, but given once. */
static bool infos_given(RelaxCall *c, NodeVec *out) {
  if (c->args.len < 2) return false;
  Node *info = sinfo_of(c->args.at[1]), *inplace = dict_get(c->attrs, "inplace_indices");
  if (!IS(TupleStructInfo, info)) return false;
  for each (Node *, f, &AS(TupleStructInfo, info)->fields) vec_push(out, *f);
  for (int i = 0; i < c->sinfo_args.len; i++) {
    int64_t operand = -1;
    bool is_operand = IS(Array, inplace) && i < AS(Array, inplace)->items.len &&
                      expr_is_const_int(AS(Array, inplace)->items.at[i], &operand) && operand >= 0;
    if (!is_operand) vec_push(out, c->sinfo_args.at[i]);
  }
  if (c->args.len > 2 && IS(ShapeExpr, c->args.at[2]))
    for each (Node *, x, &AS(ShapeExpr, c->args.at[2])->values)
      vec_push(out, MAKE(PrimStructInfo, (*x)->span, VOID_TYPE, .elem = (*x)->dtype, .value = *x));
  return true;
}

/* Why the parameter can't be what it is given; NULL if it may. */
static const char *why_not_param(PrimFunc *f, int i, Node *info) {
  Node *param = f->params.at[i], *buffer = f->buffers.at[i];
  if (IS(PrimStructInfo, info)) return buffer ? "it is a buffer" : NULL;
  if (!IS(TensorStructInfo, info)) return NULL;
  if (!buffer)
    return dtype_is_handle(param->dtype)
               ? NULL
               : str_format("it is a scalar, %s", dtype_text(param->dtype));
  TensorStructInfo *t = AS(TensorStructInfo, info);
  int ndim = AS(Buffer, buffer)->shape.len;
  if (t->ndim >= 0 && t->ndim != ndim) return str_format("its rank is %d", ndim);
  if (!dtype_is_void(t->elem) && !dtype_equal(t->elem, AS(Buffer, buffer)->elem))
    return str_format("its dtype is %s", dtype_text(AS(Buffer, buffer)->elem));
  return NULL;
}

/* What the operands say of the dims of the parameters; each is told by the first that has it. */
static void bind_dims(Map *dims, PrimFunc *f, NodeVec given) {
  for (int i = 0; i < given.len; i++) {
    Node *info = given.at[i], *param = f->params.at[i];
    NodeVec have;
    if (IS(PrimStructInfo, info) && AS(PrimStructInfo, info)->value && IS(Var, param))
      map_set(dims, param, expr_cast(param->dtype, AS(PrimStructInfo, info)->value, info->span));
    if (!f->buffers.at[i] || !sinfo_tensor_shape(info, &have)) continue;
    NodeVec shape = AS(Buffer, f->buffers.at[i])->shape;
    for (int k = 0; k < shape.len; k++)
      if (IS(Var, shape.at[k]) && !map_has(dims, shape.at[k]))
        map_set(dims, shape.at[k], expr_cast(shape.at[k]->dtype, have.at[k], info->span));
  }
}

static bool dims_differ(Node *want, Node *have) {
  int64_t a, b;
  if (want == have) return false;
  if (expr_is_const_int(want, &a) && expr_is_const_int(have, &b)) return a != b;
  return arith_can_prove_different(arith_new(), expr_cast(INT64, want, want->span),
                                   expr_cast(INT64, have, have->span));
}

/* Shapes of operands and outputs against those of the buffers. */
static void check_call_dims(Verifier *v, RelaxCall *c, PrimFunc *f, NodeVec given,
                            const char *name) {
  Map dims = {0};
  NodeVec have;
  bind_dims(&dims, f, given);
  for (int i = 0; i < given.len; i++) {
    if (!f->buffers.at[i] || !sinfo_tensor_shape(given.at[i], &have)) continue;
    NodeVec shape = AS(Buffer, f->buffers.at[i])->shape;
    for (int k = 0; k < shape.len; k++) {
      Node *want = substitute(shape.at[k], &dims);
      if (!dims_differ(want, have.at[k])) continue;
      verify_fault(v, E0407, &c->node,
                   "parameter '%s' of '%s' is given %s, but its dimension %d is %s",
                   AS(Var, f->params.at[i])->name, name, ir_print(given.at[i], NULL), k,
                   ir_print(want, NULL));
      return;
    }
  }
}

/* Why operand `at` can't be what output `info` is written to; NULL if it may. */
static const char *why_not_inplace(NodeVec operands, int64_t at, Node *info) {
  if (at < -1 || at >= operands.len) return str_format("there are %d operands", operands.len);
  const char *why = NULL;
  if (at < 0 || sinfo_check(info, operands.at[at], &why) != SINFO_NO)
    return at < 0 || IS(TensorStructInfo, operands.at[at]) ? NULL : "it is no tensor";
  return IS(TensorStructInfo, operands.at[at]) ? why : "it is no tensor";
}

/* inplace_indices: for each output an operand, each once, or -1. */
static bool check_inplace(Verifier *v, RelaxCall *c) {
  Node *list = dict_get(c->attrs, "inplace_indices"), *info = sinfo_of(c->args.at[1]);
  if (!IS(Array, list) || !IS(TupleStructInfo, info)) return true;
  NodeVec indices = AS(Array, list)->items, operands = AS(TupleStructInfo, info)->fields;
  if (indices.len != c->sinfo_args.len) {
    verify_fault(v, E0406, &c->node, "there are %d inplace_indices for %d outputs", indices.len,
                 c->sinfo_args.len);
    return false;
  }
  for (int i = 0; i < indices.len; i++) {
    int64_t at = -1, other;
    expr_is_const_int(indices.at[i], &at);
    const char *why = why_not_inplace(operands, at, c->sinfo_args.at[i]);
    for (int k = 0; k < i && at >= 0 && !why; k++)
      if (expr_is_const_int(indices.at[k], &other) && other == at)
        why = str_format("output %d is written there, too", k);
    if (!why) continue;
    verify_fault(v, E0407, &c->node, "output %d can't be written to operand %lld: %s", i,
                 (long long)at, why);
    return false;
  }
  return true;
}

static void check_tensor_call(Verifier *v, RelaxCall *c) {
  Node *callee = c->args.len ? c->args.at[0] : NULL;
  if (c->args.len > 1 && !check_inplace(v, c)) return;
  if (!IS(GlobalVar, callee)) return;
  const char *name = AS(GlobalVar, callee)->name;
  Node *f = verify_global(v, callee);
  NodeVec given = {0};
  if (!IS(PrimFunc, f) || !infos_given(c, &given)) return;
  NodeVec params = AS(PrimFunc, f)->params;
  if (given.len != params.len) {
    verify_fault(v, E0406, &c->node, "'%s' takes %d arguments, but the call gives %d", name,
                 params.len, given.len);
    return;
  }
  for (int i = 0; i < given.len; i++) {
    const char *why = why_not_param(AS(PrimFunc, f), i, given.at[i]);
    if (!why) continue;
    verify_fault(v, E0407, &c->node,
                 "parameter '%s' of '%s' is given %s, but %s: operands come first, then outputs, "
                 "then the scalars of tir_vars",
                 AS(Var, params.at[i])->name, name, ir_print(given.at[i], NULL), why);
    return;
  }
  check_call_dims(v, c, AS(PrimFunc, f), given, name);
}

static void check_call(Verifier *v, RelaxCall *c) {
  bool effects = relax_call_has_effects(&c->node);
  if (effects && v->in_dataflow)
    verify_fault(v, E0402, &c->node, "a call with effects can't stand in a dataflow block");
  else if (effects && v->pure)
    verify_fault(v, E0403, &c->node,
                 "a call with effects can't stand in a pure function; mark it "
                 "@R.function(pure=False)");
  if (IS(Op, c->op) && strncmp(AS(Op, c->op)->name, "relax.call_tir", 14) == 0)
    check_tensor_call(v, c);
  Node *f = IS(GlobalVar, c->op) ? verify_global(v, c->op) : NULL;
  if (IS(Function, f) && AS(Function, f)->params.len != c->args.len)
    verify_fault(v, E0406, &c->node, "'%s' takes %d arguments, but the call gives %d",
                 AS(GlobalVar, c->op)->name, AS(Function, f)->params.len, c->args.len);
}

static void check_tuple_item(Verifier *v, TupleGetItem *n) {
  Node *info = sinfo_of(n->tuple);
  int fields = IS(TupleStructInfo, info) ? AS(TupleStructInfo, info)->fields.len : -1;
  if (n->index < 0 || (fields >= 0 && n->index >= fields))
    verify_fault(v, E0408, &n->node, "index %d is out of range for a tuple of %d", n->index,
                 fields);
}

/* ---- expressions ---- */

static void check_cond(Verifier *v, Node *cond, Node *at) {
  Node *info = sinfo_of(cond);
  NodeVec dims;
  bool scalar = IS(PrimStructInfo, info) && dtype_is_bool(AS(PrimStructInfo, info)->elem);
  if (IS(TensorStructInfo, info)) {
    TensorStructInfo *t = AS(TensorStructInfo, info);
    scalar = (dtype_is_bool(t->elem) || dtype_is_void(t->elem)) && t->ndim <= 0 &&
             (!sinfo_tensor_shape(info, &dims) || !dims.len);
  }
  if (!scalar && !IS(ObjectStructInfo, info))
    verify_fault(v, E0409, at, "the condition of a branch must be a scalar bool, found %s",
                 info ? ir_print(info, NULL) : "no struct info");
}

static WalkResult check_graph_node(Walker *w, Node *n) {
  Verifier *v = w->context;
  check_normal_form(v, n);
  switch (n->kind) {
  case NK_RelaxVar:
  case NK_Var: verify_need(v, n, n); return WALK_PRUNE;
  case NK_IndexMap: return WALK_PRUNE;
  case NK_GlobalVar: verify_global(v, n); return WALK_PRUNE;
  case NK_TupleGetItem: check_tuple_item(v, AS(TupleGetItem, n)); return WALK_ON;
  case NK_RelaxCall: check_call(v, AS(RelaxCall, n)); return WALK_ON;
  case NK_Function: verify_function(v, AS(Function, n)); return WALK_PRUNE;
  case NK_RelaxIf: {
    Walker inner = *w;
    walk(&inner, AS(RelaxIf, n)->cond);
    check_cond(v, AS(RelaxIf, n)->cond, n);
    if (v->in_dataflow) verify_fault(v, E0410, n, "a branch can't stand in a dataflow block");
    check_seq(v, AS(RelaxIf, n)->then);
    check_seq(v, AS(RelaxIf, n)->orelse);
    return WALK_PRUNE;
  }
  default: return WALK_ON;
  }
}

static void check_graph_expr(Verifier *v, Node *n) {
  Walker w = {.enter = check_graph_node, .context = v};
  walk(&w, n);
}

/* ---- bindings ---- */

static void check_binding(Verifier *v, Node *n) {
  bool cast = IS(MatchCast, n);
  Node *value = cast ? AS(MatchCast, n)->value : AS(VarBinding, n)->value;
  Node *var = cast ? AS(MatchCast, n)->var : AS(VarBinding, n)->var;
  bool is_function = IS(Function, value);
  if (is_function) verify_define(v, var, n); /* it may call itself */
  check_graph_expr(v, value);
  if (cast) verify_defining_dims(v, AS(MatchCast, n)->sinfo);
  if (cast) check_info(v, AS(MatchCast, n)->sinfo, verify_name(var), n);
  check_var_info(v, var, n);
  if (AS(RelaxVar, var)->is_dataflow && !v->in_dataflow)
    verify_fault(v, E0499, n, "'%s' is a dataflow variable, but is bound outside a dataflow block",
                 verify_name(var));
  if (!is_function) verify_define(v, var, n);
}

static void check_binding_block(Verifier *v, BindingBlock *b) {
  bool outer = v->in_dataflow;
  if (outer) verify_fault(v, E0410, &b->node, "a block of bindings stands in a dataflow block");
  v->in_dataflow = b->is_dataflow;
  int mark = verify_begin(v);
  for each (Node *, n, &b->bindings) check_binding(v, *n);
  v->in_dataflow = outer;
  if (!b->is_dataflow) return;
  NodeVec kept = {0}; /* what the block gives out */
  for (int i = mark; i < v->open.len; i++)
    if (!IS(RelaxVar, v->open.at[i]) || !AS(RelaxVar, v->open.at[i])->is_dataflow)
      vec_push(&kept, v->open.at[i]);
  verify_end(v, mark);
  for each (Node *, n, &kept) map_set(&v->scope, *n, *n), vec_push(&v->open, *n);
}

typedef struct Errand {
  Verifier *v;
  Node *n;
} Errand;

static void seq_errand(void *context) {
  Errand *e = context;
  check_seq(e->v, e->n);
}

static void check_seq(Verifier *v, Node *n) {
  if (stack_is_low()) return stack_run(seq_errand, &(Errand){v, n});
  if (!IS(SeqExpr, n)) {
    verify_fault(v, E0499, n,
                 "the body of a function or branch is a sequence of bindings, found %s",
                 node_kind_name(n->kind));
    return;
  }
  int mark = verify_begin(v);
  bool was_plain = false;
  for each (Node *, b, &AS(SeqExpr, n)->blocks) {
    BindingBlock *block = AS(BindingBlock, *b);
    if (!block->bindings.len) verify_fault(v, E0499, *b, "a block has no bindings");
    if (was_plain && !block->is_dataflow)
      verify_fault(v, E0499, *b, "two plain blocks of bindings stand side by side: they are one");
    was_plain = !block->is_dataflow;
    check_binding_block(v, block);
  }
  check_graph_expr(v, AS(SeqExpr, n)->body);
  need_operand(v, AS(SeqExpr, n)->body, n);
  verify_end(v, mark);
}

/* ---- functions ---- */

/* "relax.force_pure" allows effects that nobody sees from outside. */
static bool is_forced_pure(Function *f) {
  int64_t flag;
  return expr_is_const_int(dict_get(f->attrs, "relax.force_pure"), &flag) && flag;
}

void verify_function(Verifier *v, Function *f) {
  int mark = verify_begin(v);
  bool pure = v->pure, in_dataflow = v->in_dataflow;
  v->pure = f->is_pure && !is_forced_pure(f);
  v->in_dataflow = false;
  for each (Node *, p, &f->params) verify_defining_dims(v, AS(RelaxVar, *p)->sinfo);
  for each (Node *, p, &f->params) {
    check_var_info(v, *p, &f->node);
    verify_define(v, *p, &f->node);
  }
  check_seq(v, f->body);
  v->pure = pure;
  v->in_dataflow = in_dataflow;
  verify_end(v, mark);
}
