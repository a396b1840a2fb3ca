/* sinfo_call.c -- the struct info of calls: dims of parameters are matched with those of arguments.
 *
 * A dim of a parameter that is a variable is what the first argument says that knows it. Then the
 * parameters, with these dims, are compared with the arguments. */
#include "ir/arith/arith.h"
#include "ir/ir.h"

/* ---- matching ---- */

static void match_dim(Map *dims, Node *param, Node *arg) {
  if (IS(Var, param) && !map_has(dims, param))
    map_set(dims, param, expr_cast(param->dtype, arg, arg->span));
}

static void match_dims(Map *dims, NodeVec params, NodeVec args) {
  for (int i = 0; params.len == args.len && i < params.len; i++)
    match_dim(dims, params.at[i], args.at[i]);
}

/* What the argument says about the variables of the parameter. */
static void match_info(Map *dims, Node *param, Node *arg) {
  NodeVec p, a;
  if (!param || !arg || param->kind != arg->kind) return;
  if (IS(TensorStructInfo, param)) {
    if (sinfo_tensor_shape(param, &p) && sinfo_tensor_shape(arg, &a)) match_dims(dims, p, a);
  } else if (IS(ShapeStructInfo, param)) {
    ShapeStructInfo *x = AS(ShapeStructInfo, param), *y = AS(ShapeStructInfo, arg);
    if (x->known && y->known) match_dims(dims, x->values, y->values);
  } else if (IS(PrimStructInfo, param)) {
    PrimStructInfo *x = AS(PrimStructInfo, param), *y = AS(PrimStructInfo, arg);
    if (x->value && y->value && dtype_equal(x->elem, y->elem)) match_dim(dims, x->value, y->value);
  } else if (IS(TupleStructInfo, param)) {
    p = AS(TupleStructInfo, param)->fields, a = AS(TupleStructInfo, arg)->fields;
    for (int i = 0; i < p.len && i < a.len; i++) match_info(dims, p.at[i], a.at[i]);
  }
}

/* ---- results ---- */

static Node *simplify_dims(Mutator *m, Node *n) {
  if (node_is_expr(n)) return arith_simplify(m->context, n);
  return IS(RelaxVar, n) ? n : mutate_children(m, n);
}

/* Struct info with variables replaced, and its dims computed. */
static Node *with_dims(Node *sinfo, const Map *dims) {
  Node *out = substitute(sinfo, dims);
  if (out == sinfo) return sinfo;
  Mutator m = {.rewrite = simplify_dims, .context = arith_new()};
  return mutate(&m, out);
}

static WalkResult note_var(Walker *w, Node *n) {
  if (IS(Var, n)) map_set(w->context, n, n);
  return WALK_ON;
}

/* Variables of the parameters that no argument told are not known to the caller; others that the
 * result mentions come from around the function. */
static Node *result_of(FuncStructInfo *f, const Map *dims) {
  Map own = {0}, known = {0};
  Walker w = {.enter = note_var, .context = &own, .once = true};
  for each (Node *, p, &f->params) walk(&w, *p);
  w.context = &known;
  walk(&w, f->ret);
  for (int i = 0; i < own.len; i++)
    if (own.at[i].key && !map_has(dims, own.at[i].key)) map_remove(&known, own.at[i].key);
  return with_dims(sinfo_erase_vars(f->ret, &known), dims);
}

static void check_argument(int i, Node *param, Node *arg, const Map *dims, Span span) {
  const char *why = NULL;
  if (!param || !arg) return;
  Node *want = with_dims(param, dims);
  if (sinfo_check(want, arg, &why) != SINFO_NO) return;
  bool renamed = want != param;
  error_raise_code(E0407, span, "argument %d is %s, but the parameter is %s%s%s: %s", i + 1,
                   ir_print(arg, NULL), ir_print(param, NULL), renamed ? ", here " : "",
                   renamed ? ir_print(want, NULL) : "", why ? why : "they differ");
}

Node *sinfo_of_call_result(Node *func_sinfo, NodeVec args, Span span) {
  FuncStructInfo *f = AS(FuncStructInfo, func_sinfo);
  if (!f->known) return f->ret ? f->ret : sinfo_object();
  if (args.len != f->params.len)
    error_raise_code(E0406, span, "the function takes %d argument%s, %d %s given", f->params.len,
                     f->params.len == 1 ? "" : "s", args.len, args.len == 1 ? "is" : "are");
  Map dims = {0};
  for (int i = 0; i < args.len; i++) match_info(&dims, f->params.at[i], args.at[i]);
  for (int i = 0; i < args.len; i++) check_argument(i, f->params.at[i], args.at[i], &dims, span);
  return f->ret ? result_of(f, &dims) : sinfo_object();
}

/* ---- calls ---- */

/* The forms of call whose result is what the call itself says (sinfo_args), and which of them have
 * effects. */
typedef struct CallForm {
  const char *name;
  bool has_effects;
} CallForm;
static const CallForm call_forms[] = {
    {"relax.call_tir", false},           {"relax.call_tir_inplace", false},
    {"relax.call_tir_with_grad", false}, {"relax.call_dps_packed", false},
    {"relax.call_pure_packed", false},   {"relax.call_inplace_packed", false}, /* by promise */
    {"relax.call_packed", true},         {"relax.dist.call_tir_local_view", false},
    {"relax.call_py_func", false},       {"relax.call_builtin_with_ctx", true},
    {"relax.invoke_closure", true},      {"relax.invoke_pure_closure", false},
};

/* By the node of the operator, of which there is one. */
static const CallForm *form_of(const Node *op) {
  static Map forms;
  if (!forms.live)
    for (size_t i = 0; i < sizeof call_forms / sizeof *call_forms; i++)
      map_set(&forms, op_get(call_forms[i].name), (void *)(uintptr_t)&call_forms[i]);
  return map_get(&forms, op);
}

bool relax_is_call_form(const char *name) { return form_of(op_get(name)) != NULL; }

bool relax_call_has_effects(Node *call) {
  Node *op = AS(RelaxCall, call)->op;
  if (IS(Op, op)) {
    const CallForm *form = form_of(op);
    bool writes = form && str_same(form->name, "relax.call_dps_packed") &&
                  !AS(RelaxCall, call)->sinfo_args.len; /* to its operands */
    if (form) return form->has_effects || writes;
    const OpInfo *info = op_info_of(op);
    return !info || !info->is_pure;
  }
  Node *sinfo = sinfo_of(op);
  return !IS(FuncStructInfo, sinfo) || !AS(FuncStructInfo, sinfo)->is_pure;
}

static Node *given_info(RelaxCall *c) {
  if (!c->sinfo_args.len) return sinfo_object();
  return c->sinfo_args.len == 1 ? c->sinfo_args.at[0] : sinfo_tuple(c->sinfo_args, c->node.span);
}

static Node *info_of_op_call(RelaxCall *c) {
  if (form_of(c->op)) return given_info(c);
  const OpInfo *info = op_info_of(c->op);
  if (!info)
    error_raisef("NameError", c->node.span, "there is no operator '%s'", AS(Op, c->op)->name);
  return info->infer ? info->infer(info, &c->node) : given_info(c);
}

Node *sinfo_infer_call(Node *call) {
  RelaxCall *c = AS(RelaxCall, call);
  if (IS(Op, c->op)) return info_of_op_call(c);
  Node *callee = sinfo_of(c->op);
  if (!callee || IS(ObjectStructInfo, callee)) return given_info(c);
  if (!IS(FuncStructInfo, callee))
    error_raisef("TypeError", call->span, "a value of %s can't be called", ir_print(callee, NULL));
  if (!AS(FuncStructInfo, callee)->known && c->sinfo_args.len) return given_info(c);
  NodeVec args = {0};
  for each (Node *, a, &c->args) vec_push(&args, sinfo_of(*a));
  return sinfo_of_call_result(callee, args, call->span);
}
