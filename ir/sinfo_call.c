/* sinfo_call.c -- the struct info of calls: dims of parameters are matched with those of arguments.
 */
#include "ir/arith/arith.h"
#include "ir/ir.h"

typedef struct Match {
  Map dims; /* Var of a parameter to the expression of an argument */
  Analyzer *analyzer;
  Span span;
  int arg; /* from 0 */
  Node *param_info, *arg_info;
} Match;

static _Noreturn void mismatch(Match *m, const char *why) {
  error_raisef("TypeError", m->span, "argument %d is %s, but the parameter is %s: %s", m->arg + 1,
               ir_print(m->arg_info, NULL), ir_print(m->param_info, NULL), why);
}

static void match_dim(Match *m, Node *param, Node *arg) {
  if (IS(Var, param) && !map_has(&m->dims, param)) return map_set(&m->dims, param, arg);
  Node *want = substitute(param, &m->dims);
  if (arith_can_prove_different(m->analyzer, want, arg))
    mismatch(m, str_format("%s is %s, not %s", ir_print(param, NULL), ir_print(want, NULL),
                           ir_print(arg, NULL)));
}

static void match_dims(Match *m, NodeVec params, NodeVec args) {
  if (params.len != args.len)
    mismatch(m, str_format("the ranks differ: %d and %d", params.len, args.len));
  for (int i = 0; i < params.len; i++) match_dim(m, params.at[i], args.at[i]);
}

static void match_info(Match *m, Node *param, Node *arg) {
  if (!param || !arg || IS(ObjectStructInfo, param) || IS(ObjectStructInfo, arg)) return;
  if (param->kind != arg->kind)
    mismatch(m, str_format("one is %s, the other %s", node_spelling(param->kind),
                           node_spelling(arg->kind)));
  NodeVec p, a;
  if (IS(TensorStructInfo, param)) {
    TensorStructInfo *x = AS(TensorStructInfo, param), *y = AS(TensorStructInfo, arg);
    if (!dtype_is_void(x->elem) && !dtype_is_void(y->elem) && !dtype_equal(x->elem, y->elem))
      mismatch(
          m, str_format("the dtypes differ: %s and %s", dtype_text(x->elem), dtype_text(y->elem)));
    if (x->ndim >= 0 && y->ndim >= 0 && x->ndim != y->ndim)
      mismatch(m, str_format("the ranks differ: %d and %d", x->ndim, y->ndim));
    if (sinfo_tensor_shape(param, &p) && sinfo_tensor_shape(arg, &a)) match_dims(m, p, a);
  } else if (IS(ShapeStructInfo, param) && AS(ShapeStructInfo, param)->known &&
             AS(ShapeStructInfo, arg)->known) {
    match_dims(m, AS(ShapeStructInfo, param)->values, AS(ShapeStructInfo, arg)->values);
  } else if (IS(PrimStructInfo, param)) {
    if (!dtype_equal(AS(PrimStructInfo, param)->elem, AS(PrimStructInfo, arg)->elem))
      mismatch(m, "the dtypes differ");
    if (AS(PrimStructInfo, param)->value && AS(PrimStructInfo, arg)->value)
      match_dim(m, AS(PrimStructInfo, param)->value, AS(PrimStructInfo, arg)->value);
  } else if (IS(TupleStructInfo, param)) {
    NodeVec x = AS(TupleStructInfo, param)->fields, y = AS(TupleStructInfo, arg)->fields;
    if (x.len != y.len) mismatch(m, "the numbers of fields differ");
    for (int i = 0; i < x.len; i++) match_info(m, x.at[i], y.at[i]);
  }
}

/* Variables that the caller may know: everything that stands in the arguments. */
static WalkResult note_var(Walker *w, Node *n) {
  if (IS(Var, n)) map_set(w->context, n, n);
  return WALK_ON;
}

Node *sinfo_of_call_result(Node *func_sinfo, NodeVec args, Span span) {
  FuncStructInfo *f = AS(FuncStructInfo, func_sinfo);
  if (!f->known) return f->ret ? f->ret : sinfo_object();
  if (args.len != f->params.len)
    error_raisef("TypeError", span, "the function takes %d arguments, %d are given", f->params.len,
                 args.len);
  Match m = {.analyzer = arith_new(), .span = span};
  Map known = {0};
  Walker w = {.enter = note_var, .context = &known};
  for (int i = 0; i < args.len; i++) {
    m.arg = i, m.param_info = f->params.at[i], m.arg_info = args.at[i];
    match_info(&m, f->params.at[i], args.at[i]);
    if (args.at[i]) walk(&w, args.at[i]);
  }
  return sinfo_erase_vars(substitute(f->ret, &m.dims), &known);
}

/* ---- calls ---- */

/* The forms of call whose result is what the call itself says (sinfo_args), and which of them have
 * effects. */
static const struct {
  const char *name;
  bool has_effects;
} call_forms[] = {{"relax.call_tir", false},
                  {"relax.call_tir_inplace", false},
                  {"relax.call_dps_packed", false},
                  {"relax.call_pure_packed", false},
                  {"relax.call_packed", true}};

static int find_form(const char *name) {
  for (int i = 0; i < (int)(sizeof call_forms / sizeof *call_forms); i++)
    if (str_same(name, call_forms[i].name)) return i;
  return -1;
}

bool relax_call_has_effects(Node *call) {
  Node *op = AS(RelaxCall, call)->op;
  if (IS(Op, op)) {
    int form = find_form(AS(Op, op)->name);
    if (form >= 0) return call_forms[form].has_effects;
    const OpInfo *info = op_info(AS(Op, op)->name);
    return !info || !info->is_pure;
  }
  Node *sinfo = sinfo_of(op);
  return !IS(FuncStructInfo, sinfo) || !AS(FuncStructInfo, sinfo)->is_pure;
}

static Node *given_info(RelaxCall *c) {
  if (!c->sinfo_args.len) return sinfo_object();
  return c->sinfo_args.len == 1 ? c->sinfo_args.at[0] : sinfo_tuple(c->sinfo_args, c->node.span);
}

Node *sinfo_infer_call(Node *call) {
  RelaxCall *c = AS(RelaxCall, call);
  if (IS(Op, c->op)) {
    const char *name = AS(Op, c->op)->name;
    if (find_form(name) >= 0) return given_info(c);
    const OpInfo *info = op_info(name);
    if (!info) error_raisef("NameError", call->span, "there is no operator '%s'", name);
    return info->infer(info, call);
  }
  Node *callee = sinfo_of(c->op);
  if (!IS(FuncStructInfo, callee)) {
    if (!callee || IS(ObjectStructInfo, callee)) return sinfo_object();
    error_raisef("TypeError", call->span, "a value of %s can't be called", ir_print(callee, NULL));
  }
  NodeVec args = {0};
  for each (Node *, a, &c->args) vec_push(&args, sinfo_of(*a));
  return sinfo_of_call_result(callee, args, call->span);
}
