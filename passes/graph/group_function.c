/* group_function.c -- see group_function.h. */
#include "passes/graph/group_function.h"

typedef struct Grouping {
  const BindingGroup *group;
  NodeVec args, params; /* what is handed over, and the variables for it */
  Map inner;            /* what stands for a variable or constant inside of the function */
  Map defined;          /* symbolic variables that the parameters tell */
  NodeVec free;         /* those that they do not */
} Grouping;

static Node *relax_var(const char *name, Node *sinfo, bool is_dataflow, Span span) {
  return MAKE(RelaxVar, span, VOID_TYPE, .sinfo = sinfo, .name = name, .is_dataflow = is_dataflow);
}

static bool is_output(const BindingGroup *group, Node *var) {
  for each (Node *, v, &group->outputs)
    if (*v == var) return true;
  return false;
}

/* ---- what the function takes ---- */

static void add_param(Grouping *g, Node *arg) {
  const char *name =
      IS(RelaxVar, arg) ? AS(RelaxVar, arg)->name : str_format("param_%d", g->params.len);
  Node *param = relax_var(name, sinfo_of(arg), false, arg->span);
  vec_push(&g->args, arg);
  vec_push(&g->params, param);
  map_set(&g->inner, arg, param);
}

static WalkResult find_inputs(Walker *w, Node *n) {
  Grouping *g = w->context;
  if (IS(Function, n)) return WALK_PRUNE; /* a local one uses nothing from outside */
  bool is_leaf = IS(RelaxVar, n) || (IS(Constant, n) && !g->group->keep_constants);
  if (is_leaf && !map_has(&g->inner, n)) add_param(g, n);
  return WALK_ON;
}

static void define_dims(Grouping *g, Node *info) {
  NodeVec dims = {0};
  if (IS(TensorStructInfo, info)) sinfo_tensor_shape(info, &dims);
  if (IS(ShapeStructInfo, info)) dims = AS(ShapeStructInfo, info)->values;
  if (IS(PrimStructInfo, info)) vec_push(&dims, AS(PrimStructInfo, info)->value);
  if (IS(TupleStructInfo, info))
    for each (Node *, f, &AS(TupleStructInfo, info)->fields) define_dims(g, *f);
  for each (Node *, d, &dims)
    if (IS(Var, *d)) map_set(&g->defined, *d, *d);
}

static WalkResult find_free(Walker *w, Node *n) {
  Grouping *g = w->context;
  if (IS(Function, n)) return WALK_PRUNE;
  if (!IS(Var, n) || map_has(&g->defined, n)) return WALK_ON;
  map_set(&g->defined, n, n);
  vec_push(&g->free, n);
  return WALK_ON;
}

static void hand_over_dims(Grouping *g) {
  Walker w = {.enter = find_free, .context = g};
  for each (Node *, p, &g->params) define_dims(g, sinfo_of(*p));
  for each (Node *, p, &g->params) walk(&w, sinfo_of(*p));
  for each (Node *, b, &g->group->bindings) {
    walk(&w, AS(VarBinding, *b)->value);
    walk(&w, sinfo_of(AS(VarBinding, *b)->var));
  }
  if (!g->free.len) return;
  Span span = g->group->bindings.at[0]->span;
  Node *info =
      MAKE(ShapeStructInfo, span, VOID_TYPE, .known = true, .values = g->free, .ndim = g->free.len);
  vec_push(&g->args, MAKE(ShapeExpr, span, VOID_TYPE, .sinfo = info, .values = g->free));
  vec_push(&g->params, relax_var("dims", info, false, span));
}

/* ---- the function ---- */

static Node *rename_inside(Mutator *m, Node *n) {
  Grouping *g = m->context;
  Node *inner = IS(RelaxVar, n) || IS(Constant, n) ? map_get(&g->inner, n) : NULL;
  return inner ? inner : mutate_children(m, n);
}

static void find_params(Grouping *g) {
  for each (Node *, b, &g->group->bindings) {
    RelaxVar *v = AS(RelaxVar, AS(VarBinding, *b)->var);
    bool is_result = is_output(g->group, &v->node) && g->group->outputs.len == 1;
    bool is_local = !g->group->exported && !is_result;
    map_set(&g->inner, v, relax_var(v->name, v->sinfo, is_local, v->node.span));
  }
  Walker w = {.enter = find_inputs, .context = g};
  for each (Node *, b, &g->group->bindings) walk(&w, AS(VarBinding, *b)->value);
  hand_over_dims(g);
}

static Node *tuple_of(NodeVec fields, Span span) {
  NodeVec infos = {0};
  for each (Node *, f, &fields) vec_push(&infos, sinfo_of(*f));
  return MAKE(Tuple, span, VOID_TYPE, .sinfo = sinfo_tuple(infos, span), .fields = fields);
}

/* The bindings inside, and the variable that is returned. */
static Node *inner_bindings(Grouping *g, NodeVec *out) {
  Mutator m = {.rewrite = rename_inside, .context = g};
  Span span = g->group->bindings.at[0]->span;
  for each (Node *, b, &g->group->bindings)
    vec_push(out,
             MAKE(VarBinding, (*b)->span, VOID_TYPE, .value = mutate(&m, AS(VarBinding, *b)->value),
                  .var = map_get(&g->inner, AS(VarBinding, *b)->var)));
  NodeVec fields = {0};
  for each (Node *, v, &g->group->outputs) vec_push(&fields, map_get(&g->inner, *v));
  if (fields.len == 1) return fields.at[0];
  Node *tuple = tuple_of(fields, span), *result = relax_var("out", sinfo_of(tuple), false, span);
  vec_push(out, MAKE(VarBinding, span, VOID_TYPE, .value = tuple, .var = result));
  return result;
}

static Node *function_of(Grouping *g) {
  Span span = g->group->bindings.at[0]->span;
  NodeVec bindings = {0}, infos = {0};
  Node *result = inner_bindings(g, &bindings);
  Node *block =
      MAKE(BindingBlock, span, VOID_TYPE, .is_dataflow = !g->group->exported, .bindings = bindings);
  Node *body = MAKE(SeqExpr, span, VOID_TYPE, .sinfo = sinfo_of(result), .blocks = NODES(block),
                    .body = result);
  for each (Node *, p, &g->params) vec_push(&infos, sinfo_of(*p));
  Node *info = MAKE(FuncStructInfo, span, VOID_TYPE, .known = true, .params = infos,
                    .ret = sinfo_of(result), .is_pure = true);
  return copy_with_fresh_vars(MAKE(Function, span, VOID_TYPE, .sinfo = info, .params = g->params,
                                   .ret_sinfo = sinfo_of(result), .is_pure = true,
                                   .attrs = g->group->attrs, .body = body));
}

Node *group_function(const BindingGroup *group, NodeVec *args) {
  Grouping g = {.group = group};
  find_params(&g);
  Node *f = function_of(&g);
  *args = g.args;
  return f;
}

Node *group_call(SharedFunctions *functions, const BindingGroup *group) {
  NodeVec args = {0};
  Node *func = group_function(group, &args);
  Node *global = shared_function(functions, func, group->name);
  if (group->exported) shared_function_export(functions, global);
  Span span = vec_last(&group->bindings)->span;
  Node *result = group->outputs.len == 1 ? group->outputs.at[0] : tuple_of(group->outputs, span);
  return MAKE(RelaxCall, span, VOID_TYPE, .sinfo = sinfo_of(result), .op = global, .args = args);
}
