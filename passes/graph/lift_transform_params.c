/* lift_transform_params.c -- what depends on parameters alone is computed ahead of time.
 *
 * In:  graph functions with the attribute num_input: so many inputs, then weights. Out: weights
 * used as they are, then values computed from weights, are parameters in the place of the weights;
 * NAME_transform_params takes the tuple of weights and gives the tuple of these. Dims that only
 * weights told come last, as a shape. With shared_transform one function, transform_params, does
 * this for all, or for those in `functions`, whose weights must be the same: it computes what all
 * of them compute. A transform that the module has already goes on with the new one. Not: values
 * with effects, of branches, or of dims that inputs tell; functions that others call. */
#include "passes/graph/call_dims.h"
#include "passes/graph/dead_code.h"
#include "passes/passes.h"

#define TRANSFORM "transform_params"

typedef struct Lifted {
  Node *global; /* GlobalVar of the function */
  Function *func;
  int num_input;
  NodeVec dims;  /* Vars that the struct info of its weights mentions, in order */
  Map canonical; /* its weights, lifted variables and dims, to those of the first function */
  Map own;       /* back */
} Lifted;

typedef struct Group {
  VEC(Lifted) members;
  NodeVec bindings; /* VarBindings of the first member that are lifted */
  NodeVec results;  /* variables of the first member that are handed over */
  NodeVec dims;     /* Vars of the first member that are handed over */
} Group;

static Lifted *first_of(Group *g) { return &g->members.at[0]; }

static int weight_count(const Lifted *l) { return l->func->params.len - l->num_input; }
static Node *weight_at(const Lifted *l, int i) { return l->func->params.at[l->num_input + i]; }

static void stand_for(Lifted *l, Node *own, Node *canonical) {
  map_set(&l->canonical, own, canonical);
  map_set(&l->own, canonical, own);
}

/* ---- what can be lifted ---- */

typedef struct Check {
  const Map *known;
  bool uses_weights;
} Check;

static WalkResult check_known(Walker *w, Node *n) {
  Check *c = w->context;
  if (IS(SeqExpr, n) || IS(Function, n)) return WALK_STOP;
  if ((IS(RelaxVar, n) || IS(Var, n)) && !map_has(c->known, n)) return WALK_STOP;
  if (IS(RelaxCall, n) && relax_call_has_effects(n)) return WALK_STOP;
  c->uses_weights |= IS(RelaxVar, n);
  return WALK_ON;
}

static bool is_liftable(const Lifted *l, Node *binding) {
  if (!IS(VarBinding, binding)) return false;
  Check c = {.known = &l->canonical};
  Walker w = {.enter = check_known, .context = &c};
  return walk(&w, AS(VarBinding, binding)->value) && c.uses_weights &&
         walk(&w, sinfo_of(AS(VarBinding, binding)->var));
}

static void lift_first(Group *g) {
  Lifted *l = first_of(g);
  for each (Node *, block, &AS(SeqExpr, l->func->body)->blocks)
    for each (Node *, b, &AS(BindingBlock, *block)->bindings) {
      if (!is_liftable(l, *b)) continue;
      stand_for(l, AS(VarBinding, *b)->var, AS(VarBinding, *b)->var);
      vec_push(&g->bindings, *b);
    }
}

/* Another member lifts what is equal to a value of the first; the others are lifted no more. */
static void lift_common(Group *g, Lifted *l) {
  NodeVec common = {0};
  for each (Node *, block, &AS(SeqExpr, l->func->body)->blocks)
    for each (Node *, b, &AS(BindingBlock, *block)->bindings) {
      if (!is_liftable(l, *b)) continue;
      Node *value = substitute(AS(VarBinding, *b)->value, &l->canonical);
      for each (Node *, same, &g->bindings)
        if (node_equal(value, AS(VarBinding, *same)->value, false, NULL)) {
          stand_for(l, AS(VarBinding, *b)->var, AS(VarBinding, *same)->var);
          break;
        }
    }
  for each (Node *, b, &g->bindings)
    if (map_has(&l->own, AS(VarBinding, *b)->var)) vec_push(&common, *b);
  g->bindings = common;
}

/* ---- members ---- */

static WalkResult note_dim(Walker *w, Node *n) {
  NodeVec *dims = w->context;
  if (!IS(Var, n)) return WALK_ON;
  for each (Node *, d, dims)
    if (*d == n) return WALK_ON;
  vec_push(dims, n);
  return WALK_ON;
}

static void note_direct_dims(Node *info, Map *told) {
  NodeVec dims = {0};
  if (IS(TensorStructInfo, info)) sinfo_tensor_shape(info, &dims);
  if (IS(ShapeStructInfo, info)) dims = AS(ShapeStructInfo, info)->values;
  if (IS(PrimStructInfo, info)) vec_push(&dims, AS(PrimStructInfo, info)->value);
  if (IS(TupleStructInfo, info))
    for each (Node *, f, &AS(TupleStructInfo, info)->fields) note_direct_dims(*f, told);
  for each (Node *, d, &dims)
    if (IS(Var, *d)) map_set(told, *d, *d);
}

static void check_same_weights(const Lifted *a, const Lifted *b) {
  const char *x = AS(GlobalVar, a->global)->name, *y = AS(GlobalVar, b->global)->name;
  if (weight_count(a) != weight_count(b))
    error_raisef("ValueError", b->func->node.span,
                 "functions that share a transform take the same weights: '%s' takes %d, '%s' %d",
                 x, weight_count(a), y, weight_count(b));
  for (int i = 0; i < weight_count(a); i++)
    if (!node_equal(sinfo_of(weight_at(a, i)), sinfo_of(weight_at(b, i)), true, NULL))
      error_raisef("ValueError", weight_at(b, i)->span,
                   "functions that share a transform take the same weights: the one at %d is %s in "
                   "'%s', %s in '%s'",
                   i, ir_print(sinfo_of(weight_at(a, i)), NULL), x,
                   ir_print(sinfo_of(weight_at(b, i)), NULL), y);
}

static void add_member(Group *g, Node *global, Node *func) {
  int64_t inputs;
  Lifted l = {.global = global, .func = AS(Function, func)};
  bool known = expr_is_const_int(func_attr(func, "num_input"), &inputs) && inputs >= 0 &&
               inputs <= l.func->params.len;
  if (!known)
    error_raisef("ValueError", func->span, "'num_input' must be from 0 to %d, found %s",
                 l.func->params.len, ir_print(func_attr(func, "num_input"), NULL));
  l.num_input = (int)inputs;
  Map told = {0};
  Walker w = {.enter = note_dim, .context = &l.dims};
  for (int i = 0; i < weight_count(&l); i++) {
    walk(&w, sinfo_of(weight_at(&l, i)));
    note_direct_dims(sinfo_of(weight_at(&l, i)), &told);
  }
  if (g->members.len) check_same_weights(first_of(g), &l);
  const Lifted *first = g->members.len ? first_of(g) : &l;
  for (int i = 0; i < weight_count(&l); i++) stand_for(&l, weight_at(&l, i), weight_at(first, i));
  for (int i = 0; i < l.dims.len && i < first->dims.len; i++)
    if (map_has(&told, l.dims.at[i])) stand_for(&l, l.dims.at[i], first->dims.at[i]);
  vec_push(&g->members, l);
}

/* ---- what is left of a function ---- */

static bool is_lifted(Group *g, Lifted *l, Node *binding) {
  if (!IS(VarBinding, binding)) return false;
  Node *canonical = map_get(&l->canonical, AS(VarBinding, binding)->var);
  for each (Node *, b, &g->bindings)
    if (AS(VarBinding, *b)->var == canonical) return true;
  return false;
}

static Node *without_lifted(Group *g, Lifted *l) {
  SeqExpr s = *AS(SeqExpr, l->func->body);
  NodeVec blocks = {0};
  for each (Node *, n, &s.blocks) {
    BindingBlock b = *AS(BindingBlock, *n);
    NodeVec kept = {0};
    for each (Node *, x, &b.bindings)
      if (!is_lifted(g, l, *x)) vec_push(&kept, *x);
    b.bindings = kept;
    vec_push(&blocks, gc_copy(&b, sizeof b));
  }
  s.blocks = blocks_normal(blocks);
  return gc_copy(&s, sizeof s);
}

static WalkResult note_use(Walker *w, Node *n) {
  if (IS(RelaxVar, n) || IS(Var, n)) map_set(w->context, n, n);
  if (IS(VarBinding, n)) walk(w, sinfo_of(AS(VarBinding, n)->var));
  return WALK_ON;
}

/* The variables that some member still uses: weights first. */
static void find_results(Group *g) {
  Map used = {0};
  for each (Lifted, l, &g->members) {
    Map mine = {0};
    Walker w = {.enter = note_use, .context = &mine};
    walk(&w, without_lifted(g, l));
    for (int i = 0; i < mine.len; i++)
      if (map_has(&l->canonical, mine.at[i].key))
        map_set(&used, map_get(&l->canonical, mine.at[i].key), g);
  }
  for (int i = 0; i < weight_count(first_of(g)); i++)
    if (map_has(&used, weight_at(first_of(g), i))) vec_push(&g->results, weight_at(first_of(g), i));
  for each (Node *, b, &g->bindings)
    if (map_has(&used, AS(VarBinding, *b)->var)) vec_push(&g->results, AS(VarBinding, *b)->var);
}

/* The dims that some member still mentions, and nothing that it takes tells. */
static void find_dims(Group *g) {
  for each (Lifted, l, &g->members) {
    Map used = {0}, told = {0};
    Walker w = {.enter = note_use, .context = &used};
    walk(&w, without_lifted(g, l));
    walk(&w, l->func->ret_sinfo);
    for (int i = 0; i < l->num_input; i++) {
      walk(&w, sinfo_of(l->func->params.at[i]));
      note_direct_dims(sinfo_of(l->func->params.at[i]), &told);
    }
    for each (Node *, r, &g->results) {
      walk(&w, sinfo_of(map_get(&l->own, *r)));
      note_direct_dims(sinfo_of(map_get(&l->own, *r)), &told);
    }
    Walker add = {.enter = note_dim, .context = &g->dims};
    for each (Node *, d, &l->dims)
      if (map_has(&used, *d) && !map_has(&told, *d) && map_has(&l->canonical, *d))
        walk(&add, map_get(&l->canonical, *d));
  }
}

/* ---- the functions ---- */

static Node *shape_info(NodeVec dims, Span span) {
  return MAKE(ShapeStructInfo, span, VOID_TYPE, .known = true, .values = dims, .ndim = dims.len);
}

static Node *with_signature(Function f) {
  NodeVec infos = {0};
  for each (Node *, p, &f.params) vec_push(&infos, sinfo_of(*p));
  f.sinfo = MAKE(FuncStructInfo, f.node.span, VOID_TYPE, .known = true, .params = infos,
                 .ret = f.ret_sinfo, .is_pure = f.is_pure);
  return copy_with_fresh_vars(gc_copy(&f, sizeof f));
}

/* The member, with the results as its parameters. */
static Node *remaining_function(Group *g, Lifted *l) {
  Function f = *l->func;
  Map params = {0};
  NodeVec dims = {0};
  f.params = (NodeVec){0};
  for (int i = 0; i < l->num_input; i++) vec_push(&f.params, l->func->params.at[i]);
  for each (Node *, r, &g->results) {
    RelaxVar v = *AS(RelaxVar, map_get(&l->own, *r));
    v.is_dataflow = false;
    Node *param = gc_copy(&v, sizeof v);
    map_set(&params, map_get(&l->own, *r), param);
    vec_push(&f.params, param);
  }
  for each (Node *, d, &g->dims) vec_push(&dims, map_get(&l->own, *d));
  if (dims.len)
    vec_push(&f.params, MAKE(RelaxVar, f.node.span, VOID_TYPE,
                             .sinfo = shape_info(dims, f.node.span), .name = "dims"));
  f.body = substitute(without_lifted(g, l), &params);
  return with_signature(f);
}

static Node *local_var(Node *var, Map *locals) {
  RelaxVar v = *AS(RelaxVar, var);
  v.is_dataflow = true;
  Node *local = gc_copy(&v, sizeof v);
  map_set(locals, var, local);
  return local;
}

/* Weights in the tuple, and what is computed from them. */
static NodeVec transform_bindings(Group *g, Node *params, Map *locals) {
  Lifted *l = first_of(g);
  NodeVec out = {0};
  Map used = {0};
  Walker w = {.enter = note_use, .context = &used};
  for each (Node *, b, &g->bindings) walk(&w, AS(VarBinding, *b)->value);
  for each (Node *, r, &g->results) map_set(&used, *r, g);
  for (int i = 0; i < weight_count(l); i++) {
    Node *weight = weight_at(l, i);
    if (!map_has(&used, weight)) continue;
    Node *info = AS(TupleStructInfo, sinfo_of(params))->fields.at[i];
    Node *item =
        MAKE(TupleGetItem, weight->span, VOID_TYPE, .sinfo = info, .tuple = params, .index = i);
    RelaxVar v = *AS(RelaxVar, local_var(weight, locals));
    v.sinfo = info;
    Node *var = gc_copy(&v, sizeof v);
    map_set(locals, weight, var);
    vec_push(&out, MAKE(VarBinding, weight->span, VOID_TYPE, .value = item, .var = var));
  }
  for each (Node *, b, &g->bindings) {
    Node *value = substitute(AS(VarBinding, *b)->value, locals);
    vec_push(&out, MAKE(VarBinding, (*b)->span, VOID_TYPE, .value = value,
                        .var = local_var(AS(VarBinding, *b)->var, locals)));
  }
  return out;
}

static Node *transform_function(Group *g) {
  Lifted *l = first_of(g);
  Span span = l->func->node.span;
  NodeVec infos = {0}, fields = {0}, field_infos = {0};
  for (int i = 0; i < weight_count(l); i++)
    vec_push(&infos, sinfo_erase_vars(sinfo_of(weight_at(l, i)), &l->canonical));
  Node *params =
      MAKE(RelaxVar, span, VOID_TYPE, .sinfo = sinfo_tuple(infos, span), .name = "params");
  Map locals = {0};
  NodeVec bindings = transform_bindings(g, params, &locals);
  for each (Node *, r, &g->results) vec_push(&fields, map_get(&locals, *r));
  if (g->dims.len)
    vec_push(&fields, MAKE(ShapeExpr, span, VOID_TYPE, .sinfo = shape_info(g->dims, span),
                           .values = g->dims));
  for each (Node *, f, &fields) vec_push(&field_infos, sinfo_of(*f));
  Node *info = sinfo_tuple(field_infos, span);
  Node *tuple = MAKE(Tuple, span, VOID_TYPE, .sinfo = info, .fields = fields);
  Node *out = MAKE(RelaxVar, span, VOID_TYPE, .sinfo = info, .name = "out");
  vec_push(&bindings, MAKE(VarBinding, span, VOID_TYPE, .value = tuple, .var = out));
  Node *block = MAKE(BindingBlock, span, VOID_TYPE, .is_dataflow = true, .bindings = bindings);
  Node *body = MAKE(SeqExpr, span, VOID_TYPE, .sinfo = info, .blocks = NODES(block), .body = out);
  Node *attrs = dict_with(dict_new(), "num_input", int_imm(INT32, 0, span));
  return with_signature((Function){.node = {NK_Function, VOID_TYPE, span},
                                   .params = NODES(params),
                                   .ret_sinfo = info,
                                   .is_pure = true,
                                   .attrs = attrs,
                                   .body = body});
}

static Node *with_symbol(Node *func, const char *name) {
  Function f = *AS(Function, func);
  f.attrs = dict_with(f.attrs, "global_symbol", string_imm(name, func->span));
  return gc_copy(&f, sizeof f);
}

static Node *with_function(Node *module, const char *name, Node *func) {
  Node *global =
      MAKE(GlobalVar, func->span, VOID_TYPE, .sinfo = sinfo_of(func), .name = str_intern(name));
  return module_with(module, global, func);
}

/* ---- a module that was lifted from before ---- */

/* Is it what this pass makes: a function of a tuple of weights? */
static bool is_transform(const char *name, Node *f) {
  size_t n = strlen(name), end = strlen(TRANSFORM);
  if (n < end || !str_same(name + n - end, TRANSFORM) || (n > end && name[n - end - 1] != '_'))
    return false;
  return AS(Function, f)->params.len == 1 &&
         IS(TupleStructInfo, sinfo_of(AS(Function, f)->params.at[0]));
}

/* The function that does what `first` does, and then `then` with the result. */
static Node *composed(Function *first, Function *then) {
  then = AS(Function, copy_with_fresh_vars(&then->node));
  Span span = first->node.span;
  SeqExpr *a = AS(SeqExpr, first->body);
  Node *weights = MAKE(RelaxVar, span, VOID_TYPE, .sinfo = sinfo_of(a->body), .name = "weights");
  Map map = {0};
  map_set(&map, then->params.at[0], weights);
  bind_dims(&map, sinfo_of(then->params.at[0]), sinfo_of(weights));
  SeqExpr *b = AS(SeqExpr, substitute(then->body, &map));
  Node *given = MAKE(VarBinding, span, VOID_TYPE, .value = a->body, .var = weights);
  NodeVec blocks = {0};
  for each (Node *, x, &a->blocks) vec_push(&blocks, *x);
  vec_push(&blocks, MAKE(BindingBlock, span, VOID_TYPE, .bindings = NODES(given)));
  for each (Node *, x, &b->blocks) vec_push(&blocks, *x);
  Function f = *first;
  f.body = MAKE(SeqExpr, span, VOID_TYPE, .sinfo = sinfo_of(b->body),
                .blocks = blocks_normal(blocks), .body = b->body);
  f.ret_sinfo = sinfo_of_result(f.params, f.body);
  return without_dead_bindings(pass_canonicalize_bindings(with_signature(f), NULL));
}

/* What stands for the transform that the module has already by that name; NULL if it has none. */
static Node *continued(Node *module, const char *name, Node *then) {
  Node *first = module_find(module, name);
  if (!IS(Function, first) || !is_transform(name, first)) return NULL;
  Node *gives = sinfo_of(AS(SeqExpr, AS(Function, first)->body)->body),
       *takes = sinfo_of(AS(Function, then)->params.at[0]);
  bool fits = IS(TupleStructInfo, gives) &&
              AS(TupleStructInfo, gives)->fields.len == AS(TupleStructInfo, takes)->fields.len;
  return fits ? composed(AS(Function, first), AS(Function, then)) : NULL;
}

static Node *lift_group(Node *module, Group *g, const char *hint) {
  if (!g->members.len) return module;
  lift_first(g);
  for (int i = 1; i < g->members.len; i++) lift_common(g, &g->members.at[i]);
  find_results(g);
  find_dims(g);
  Node *own = transform_function(g), *whole = continued(module, hint, own);
  const char *name = whole ? hint : module_fresh_name(module, hint);
  for each (Lifted, l, &g->members)
    module = with_function(module, AS(GlobalVar, l->global)->name, remaining_function(g, l));
  return with_function(module, name, whole ? whole : with_symbol(own, name));
}

/* ---- the pass ---- */

static WalkResult note_global(Walker *w, Node *n) {
  if (IS(GlobalVar, n)) map_set(w->context, str_intern(AS(GlobalVar, n)->name), n);
  return WALK_ON;
}

/* Raises if a name in the list of functions is none of those that can be lifted from. */
static void check_functions(const Node *module, const PassContext *context) {
  const char *at = pass_option_str(context, "functions");
  while (*at) {
    size_t n = strcspn(at, ";");
    const char *name = str_intern(str_copy_n(at, n));
    Node *f = module_find(module, name);
    if (!IS(Function, f) || !func_attr(f, "num_input"))
      error_raisef("ValueError", module->span, "'%s' is no graph function with num_input", name);
    at += n + (at[n] == ';');
  }
}

Node *pass_lift_transform_params(Node *module, const PassContext *context) {
  IRModule *m = AS(IRModule, module);
  Map called = {0};
  Walker w = {.enter = note_global, .context = &called};
  for each (Node *, f, &m->functions) walk(&w, *f);
  bool shared = pass_option_int(context, "shared_transform");
  bool all_functions = !*pass_option_str(context, "functions");
  check_functions(module, context);
  Group all = {0};
  Node *out = module;
  for (int i = 0; i < m->functions.len; i++) {
    const char *name = str_intern(AS(GlobalVar, m->globals.at[i])->name);
    if (!IS(Function, m->functions.at[i]) || !func_attr(m->functions.at[i], "num_input") ||
        map_has(&called, name) || is_transform(name, m->functions.at[i]) ||
        !(all_functions || pass_option_lists(context, "functions", name)))
      continue;
    Group one = {0};
    add_member(shared ? &all : &one, m->globals.at[i], m->functions.at[i]);
    if (!shared) out = lift_group(out, &one, str_format("%s_" TRANSFORM, name));
  }
  return lift_group(out, &all, TRANSFORM);
}
