/* lambda_lift.c -- local functions become private functions of the module (Johnsson, "Lambda
 * lifting", 1985): what they use from around them is handed over as further arguments.
 *
 * In:  functions that are bound to variables, recursive ones too. Out: calls of module functions;
 * what uses nothing from around it may also be used as a value. Not: functions that use variables
 * from around them and are used in another way than by calls stay local. */
#include "passes/passes.h"

typedef struct Lifted {
  Node *global;
  NodeVec extra; /* further arguments, in terms of the place of the definition */
} Lifted;

typedef struct Lift {
  Node *module;
  const char *outer; /* the name of the function around */
  Map lifted;        /* RelaxVar to Lifted * */
  Map as_value;      /* RelaxVars that are used in another way than by calls */
} Lift;

/* ---- uses ---- */

static WalkResult note_value_use(Walker *w, Node *n) {
  if (IS(RelaxVar, n)) map_set(w->context, n, n);
  if (!IS(RelaxCall, n) || !IS(RelaxVar, AS(RelaxCall, n)->op)) {
    if (!IS(VarBinding, n)) return WALK_ON;
    walk(w, AS(VarBinding, n)->value); /* its variable is a definition */
    return WALK_PRUNE;
  }
  for each (Node *, a, &AS(RelaxCall, n)->args) walk(w, *a);
  return WALK_PRUNE;
}

typedef struct Free {
  Lift *lift;
  Map defined; /* RelaxVars and Vars */
  Map seen;
  NodeVec vars, dims; /* graph variables and symbolic ones from around */
} Free;

static WalkResult note_defined(Walker *w, Node *n) {
  Free *f = w->context;
  if (IS(Function, n))
    for each (Node *, p, &AS(Function, n)->params) map_set(&f->defined, *p, n);
  if (IS(VarBinding, n)) map_set(&f->defined, AS(VarBinding, n)->var, n);
  if (IS(MatchCast, n)) map_set(&f->defined, AS(MatchCast, n)->var, n);
  return WALK_ON;
}

static void add_free(Free *f, Node *n) {
  if (map_has(&f->defined, n) || map_has(&f->seen, n)) return;
  map_set(&f->seen, n, n);
  Lifted *known = map_get(&f->lift->lifted, n);
  if (!known) vec_push(IS(Var, n) ? &f->dims : &f->vars, n);
  else /* what it is handed must be at hand */
    for each (Node *, x, &known->extra)
      if (IS(RelaxVar, *x)) add_free(f, *x);
}

static WalkResult find_free(Walker *w, Node *n) {
  if (IS(RelaxVar, n) || IS(Var, n)) add_free(w->context, n);
  return WALK_ON;
}

static void define_dims(Map *defined, Node *info) {
  NodeVec dims = {0};
  if (IS(TensorStructInfo, info)) sinfo_tensor_shape(info, &dims);
  if (IS(ShapeStructInfo, info)) dims = AS(ShapeStructInfo, info)->values;
  for each (Node *, d, &dims)
    if (IS(Var, *d)) map_set(defined, *d, *d);
}

/* What the function uses from around it, apart from itself. */
static Free free_of(Lift *l, Function *f, Node *self) {
  Free out = {.lift = l};
  map_set(&out.defined, self, self);
  Walker definitions = {.enter = note_defined, .context = &out};
  walk(&definitions, &f->node);
  Walker w = {.enter = find_free, .context = &out};
  walk(&w, f->body);
  NodeVec dims = out.dims;
  out.dims = (NodeVec){0};
  Map told = {0};
  for each (Node *, p, &f->params) define_dims(&told, sinfo_of(*p));
  for each (Node *, v, &out.vars) define_dims(&told, sinfo_of(*v));
  for each (Node *, d, &dims)
    if (!map_has(&told, *d)) vec_push(&out.dims, *d);
  return out;
}

/* ---- lifting ---- */

static Node *copy_of(Node *var) {
  RelaxVar v = *AS(RelaxVar, var);
  v.is_dataflow = false;
  return gc_copy(&v, sizeof v);
}

static Node *dims_argument(NodeVec dims, Span span) {
  Node *info =
      MAKE(ShapeStructInfo, span, VOID_TYPE, .known = true, .values = dims, .ndim = dims.len);
  return MAKE(ShapeExpr, span, VOID_TYPE, .sinfo = info, .values = dims);
}

/* Parameters for what is handed over; `inner` tells what stands for it inside. */
static NodeVec all_params(Function *f, NodeVec extra, Map *inner) {
  NodeVec params = {0};
  for each (Node *, p, &f->params) vec_push(&params, *p);
  for each (Node *, x, &extra) {
    Node *param = IS(RelaxVar, *x) ? copy_of(*x)
                                   : MAKE(RelaxVar, (*x)->span, VOID_TYPE, .sinfo = sinfo_of(*x),
                                          .name = str_intern("dims"));
    if (IS(RelaxVar, *x)) map_set(inner, *x, param);
    vec_push(&params, param);
  }
  return params;
}

static Node *info_of(Function *f, NodeVec params) {
  NodeVec infos = {0};
  for each (Node *, p, &params) vec_push(&infos, sinfo_of(*p));
  return MAKE(FuncStructInfo, f->node.span, VOID_TYPE, .known = true, .params = infos,
              .ret = f->ret_sinfo, .is_pure = f->is_pure);
}

/* Puts the function of a binding into the module; false if it must stay. */
static bool lift(Lift *l, Mutator *m, VarBinding *b) {
  Function f = *AS(Function, b->value);
  Free free = free_of(l, &f, b->var);
  Lifted *lifted = NEW(Lifted, .extra = free.vars);
  if (free.dims.len) vec_push(&lifted->extra, dims_argument(free.dims, f.node.span));
  if (lifted->extra.len && map_has(&l->as_value, b->var)) return false;
  Map inner = {0};
  f.params = all_params(&f, lifted->extra, &inner);
  f.node.span = b->value->span;
  f.sinfo = info_of(&f, f.params);
  const char *hint = str_format("%s_%s", l->outer, AS(RelaxVar, b->var)->name);
  lifted->global = MAKE(GlobalVar, f.node.span, VOID_TYPE, .sinfo = f.sinfo,
                        .name = module_fresh_name(l->module, hint));
  map_set(&l->lifted, b->var, lifted);
  l->module = module_with(l->module, lifted->global, b->value); /* takes the name */
  f.body = substitute(mutate(m, f.body), &inner);
  l->module = module_with(l->module, lifted->global, copy_with_fresh_vars(gc_copy(&f, sizeof f)));
  return true;
}

static Node *lifted_call(Lift *l, Mutator *m, RelaxCall *n) {
  Lifted *callee = map_get(&l->lifted, n->op);
  RelaxCall c = *n;
  c.op = callee->global;
  c.args = (NodeVec){0};
  for each (Node *, a, &n->args) vec_push(&c.args, mutate(m, *a));
  for each (Node *, x, &callee->extra) vec_push(&c.args, *x);
  return gc_copy(&c, sizeof c);
}

static Node *rewrite(Mutator *m, Node *n) {
  Lift *l = m->context;
  if (IS(Var, n)) return n;
  if (IS(RelaxVar, n)) {
    Lifted *lifted = map_get(&l->lifted, n);
    return lifted ? lifted->global : n;
  }
  if (IS(VarBinding, n) && IS(Function, AS(VarBinding, n)->value) && lift(l, m, AS(VarBinding, n)))
    return NULL;
  if (IS(RelaxCall, n) && map_has(&l->lifted, AS(RelaxCall, n)->op))
    return lifted_call(l, m, AS(RelaxCall, n));
  return mutate_children(m, n);
}

Node *pass_lambda_lift(Node *module, const PassContext *context) {
  (void)context;
  Lift l = {.module = module};
  IRModule *m = AS(IRModule, module);
  for (int i = 0; i < m->functions.len; i++) {
    Node *f = m->functions.at[i];
    if (!IS(Function, f) || func_attr(f, "Codegen")) continue;
    l.outer = AS(GlobalVar, m->globals.at[i])->name;
    Walker w = {.enter = note_value_use, .context = &l.as_value};
    walk(&w, AS(Function, f)->body);
    Mutator mutator = {.rewrite = rewrite, .context = &l};
    Node *out = mutate_children(&mutator, f);
    if (out != f) l.module = module_with(l.module, m->globals.at[i], out);
  }
  return l.module;
}
