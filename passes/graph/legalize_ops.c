/* legalize_ops.c -- calls of operators become calls of tensor programs, made from the operators'
 * definitions. What the struct info of a call tells already, such as the shape of a tensor, takes
 * its place.
 *
 * Calls alike share one program. An operator without a compute, or on a tensor of unknown shape,
 * stays. */
#include "passes/graph/shared_functions.h"

typedef struct Legalize {
  SharedFunctions programs;
  Map by_call; /* hash of a call's key to an ExpansionVec * */
  const PassContext *context;
} Legalize;

/* What became of calls with one key: of one operator, with the same struct info of operands and the
 * same attributes. */
typedef struct Expansion {
  Node *key;
  Node *global;  /* of the program; NULL: there is none */
  NodeVec extra; /* variables that the call hands over */
} Expansion;
typedef VEC(Expansion *) ExpansionVec;

typedef struct DimVars {
  Map seen, defined;
  NodeVec vars;
} DimVars;

static void define(DimVars *d, Node *var) { map_set(&d->defined, var, var); }

static WalkResult note_var(Walker *w, Node *n) {
  DimVars *d = w->context;
  switch (n->kind) {
  case NK_For: define(d, AS(For, n)->var); break;
  case NK_LetStmt: define(d, AS(LetStmt, n)->var); break;
  case NK_Let: define(d, AS(Let, n)->var); break;
  case NK_IterVar: define(d, AS(IterVar, n)->var); break;
  case NK_CommReducer: return WALK_PRUNE;
  case NK_Var:
    if (!dtype_is_int(n->dtype) || map_has(&d->seen, n)) break;
    map_set(&d->seen, n, n);
    vec_push(&d->vars, n);
    break;
  default: break;
  }
  return WALK_ON;
}

/* Variables of the program that are no parameter, and that no buffer has as a whole dim: the call
 * must hand them over. */
static NodeVec extra_vars(PrimFunc *f) {
  DimVars d = {0};
  Walker w = {.enter = note_var, .context = &d};
  for each (Node *, p, &f->params) define(&d, *p);
  for each (Node *, b, &f->buffers) {
    if (!*b) continue;
    for each (Node *, dim, &AS(Buffer, *b)->shape) {
      walk(&w, *dim);
      if (IS(Var, *dim)) define(&d, *dim);
    }
  }
  walk(&w, f->body);
  NodeVec extra = {0};
  for each (Node *, v, &d.vars)
    if (!map_has(&d.defined, *v)) vec_push(&extra, *v);
  return extra;
}

/* The program with its own variables, and scalar parameters for `extra`. */
static Node *own_program(Node *program, NodeVec extra) {
  PrimFunc f = *AS(PrimFunc, program);
  for each (Node *, v, &extra) {
    NodeVec params = {0}, buffers = {0};
    for (int i = 0; i < f.params.len; i++)
      vec_push(&params, f.params.at[i]), vec_push(&buffers, f.buffers.at[i]);
    vec_push(&params, *v);
    vec_push(&buffers, (Node *)NULL);
    f.params = params;
    f.buffers = buffers;
  }
  return copy_with_fresh_vars(gc_copy(&f, sizeof f));
}

static bool shapes_are_known(Node *n) {
  Node *info = sinfo_of(n);
  NodeVec dims;
  if (IS(TupleStructInfo, info)) {
    for each (Node *, f, &AS(TupleStructInfo, info)->fields)
      if (IS(TensorStructInfo, *f) &&
          (!sinfo_tensor_shape(*f, &dims) || dtype_is_void(AS(TensorStructInfo, *f)->elem)))
        return false;
    return true;
  }
  return !IS(TensorStructInfo, info) ||
         (sinfo_tensor_shape(info, &dims) && !dtype_is_void(AS(TensorStructInfo, info)->elem));
}

/* Tensor operands, those inside tuples too, and scalars whose value nothing tells, in the order the
 * program takes them. */
static bool program_operands(NodeVec args, NodeVec *out) {
  for each (Node *, a, &args) {
    if (!shapes_are_known(*a)) return false;
    Node *info = sinfo_of(*a);
    bool scalar = IS(PrimStructInfo, info) && !AS(PrimStructInfo, info)->value;
    if (IS(TensorStructInfo, info) || scalar) vec_push(out, *a);
    else if (IS(Tuple, *a)) {
      if (!program_operands(AS(Tuple, *a)->fields, out)) return false;
    } else if (IS(TupleStructInfo, info))
      for (int i = 0; i < AS(TupleStructInfo, info)->fields.len; i++)
        vec_push(out,
                 MAKE(TupleGetItem, (*a)->span, VOID_TYPE,
                      .sinfo = AS(TupleStructInfo, info)->fields.at[i], .tuple = *a, .index = i));
  }
  return true;
}

static Node *tuple_of(NodeVec fields, Span span) {
  NodeVec infos = {0};
  for each (Node *, f, &fields) vec_push(&infos, sinfo_of(*f));
  return MAKE(Tuple, span, VOID_TYPE, .sinfo = sinfo_tuple(infos, span), .fields = fields);
}

static Node *key_of(RelaxCall *c) {
  NodeVec items = NODES(c->op, c->attrs);
  for each (Node *, a, &c->args) {
    Node *info = sinfo_of(*a);
    vec_push(&items, info && !IS(ObjectStructInfo, info) ? info : *a);
  }
  return MAKE(Array, c->node.span, VOID_TYPE, .items = items);
}

static Expansion *expand(Legalize *l, const OpInfo *info, Node *n) {
  Node *key = key_of(AS(RelaxCall, n));
  const void *hash = (const void *)(uintptr_t)(node_hash(key) | 1);
  ExpansionVec *same = map_get(&l->by_call, hash);
  if (same)
    for each (Expansion *, x, same)
      if (node_equal((*x)->key, key, false, NULL)) return *x;
  Expansion *x = NEW(Expansion, .key = key);
  Node *program = info->legalize(info, n);
  if (program) {
    const char *dot = strrchr(info->name, '.');
    x->extra = extra_vars(AS(PrimFunc, program));
    x->global =
        shared_function(&l->programs, own_program(program, x->extra), dot ? dot + 1 : info->name);
  }
  if (!same) map_set(&l->by_call, hash, same = NEW(ExpansionVec, 0));
  vec_push(same, x);
  return x;
}

static Node *legalized(Legalize *l, Node *n) {
  RelaxCall *c = AS(RelaxCall, n);
  const OpInfo *info = op_info_of(c->op);
  Node *value = info && info->is_pure ? sinfo_value(c->sinfo, n->span) : NULL;
  if (value) return value;
  NodeVec operands = {0};
  if (info && pass_option_lists(l->context, "skip_ops", info->name)) return n;
  bool gives_tensors = IS(TensorStructInfo, c->sinfo) || IS(TupleStructInfo, c->sinfo);
  bool known = info && info->legalize && gives_tensors && shapes_are_known(n) &&
               program_operands(c->args, &operands);
  Expansion *x = known ? expand(l, info, n) : NULL;
  if (!x || !x->global) return n;
  NodeVec args = NODES(x->global, tuple_of(operands, n->span)), outs = {0};
  if (x->extra.len) {
    Node *shape = MAKE(ShapeStructInfo, n->span, VOID_TYPE, .known = true, .values = x->extra,
                       .ndim = x->extra.len);
    vec_push(&args, MAKE(ShapeExpr, n->span, VOID_TYPE, .sinfo = shape, .values = x->extra));
  }
  if (IS(TupleStructInfo, c->sinfo)) outs = AS(TupleStructInfo, c->sinfo)->fields;
  else vec_push(&outs, c->sinfo);
  Node *call = MAKE(RelaxCall, n->span, VOID_TYPE, .sinfo = outs.len == 1 ? outs.at[0] : c->sinfo,
                    .op = op_get("relax.call_tir"), .args = args, .sinfo_args = outs);
  bool is_field = outs.len == 1 && IS(TupleStructInfo, c->sinfo);
  return is_field ? tuple_of(NODES(call), n->span) : call; /* one result is no tuple */
}

static bool is_operator_call(Node *n) {
  return IS(RelaxCall, n) && IS(Op, AS(RelaxCall, n)->op) &&
         strncmp(AS(Op, AS(RelaxCall, n)->op)->name, "relax.call_", 11) != 0;
}

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(Var, n) || IS(RelaxVar, n) || IS(PrimFunc, n)) return n;
  n = mutate_children(m, n);
  return is_operator_call(n) ? legalized(m->context, n) : n;
}

Node *pass_legalize_ops(Node *module, const PassContext *context) {
  Legalize l = {.programs = {.module = module}, .context = context};
  IRModule *m = AS(IRModule, module);
  for (int i = 0; i < m->functions.len; i++) {
    if (!IS(Function, m->functions.at[i])) continue;
    Mutator mutator = {.rewrite = rewrite, .context = &l};
    Node *f = pass_normalize(mutate(&mutator, m->functions.at[i]), NULL);
    if (f != m->functions.at[i])
      l.programs.module = module_with(l.programs.module, m->globals.at[i], f);
  }
  return l.programs.module;
}
