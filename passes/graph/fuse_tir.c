/* fuse_tir.c -- each function with the attribute Primitive becomes one private tensor program, and
 * calls of it call_tirs; programs that only it called are gone.
 *
 * In:  what FuseOps makes, or the same by hand. Out: see merged_program.h. Not: a function that is
 * not merged, or is used in another way than by calls, stays as it is. */
#include "passes/graph/dead_code.h"
#include "passes/graph/merged_program.h"

typedef struct FuseTir {
  Node *module;
  Map merged;  /* interned name to MergedProgram * */
  Map blocked; /* interned names */
  Map globals; /* interned name to the GlobalVar of the program */
} FuseTir;

static MergedProgram *program_for(FuseTir *p, Node *callee) {
  return IS(GlobalVar, callee) ? map_get(&p->merged, str_intern(AS(GlobalVar, callee)->name))
                               : NULL;
}

/* ---- arguments ---- */

static Node *field_of(Node *tuple, int i) {
  if (IS(Tuple, tuple)) return AS(Tuple, tuple)->fields.at[i];
  Node *info = AS(TupleStructInfo, sinfo_of(tuple))->fields.at[i];
  return MAKE(TupleGetItem, tuple->span, VOID_TYPE, .sinfo = info, .tuple = tuple, .index = i);
}

/* Adds an argument to the tensors and scalars that are handed over, or its values to the dims.
 * False where these are not known. */
static bool push_argument(Node *arg, NodeVec *args, NodeVec *dims) {
  Node *info = sinfo_of(arg);
  switch (info->kind) {
  case NK_ShapeStructInfo: {
    Node *values = IS(ShapeExpr, arg) ? arg : sinfo_value(info, arg->span);
    if (!values) return false;
    for each (Node *, v, &AS(ShapeExpr, values)->values) vec_push(dims, *v);
    return true;
  }
  case NK_TupleStructInfo:
    for (int i = 0; i < AS(TupleStructInfo, info)->fields.len; i++)
      if (!push_argument(field_of(arg, i), args, dims)) return false;
    return true;
  default: vec_push(args, arg); return true;
  }
}

static bool call_arguments(RelaxCall *c, NodeVec *args, NodeVec *dims) {
  for each (Node *, a, &c->args)
    if (!push_argument(*a, args, dims)) return false;
  return true;
}

/* ---- functions that can't be replaced ---- */

static bool push_tensor_infos(Node *info, NodeVec *out) {
  if (IS(TupleStructInfo, info)) {
    for each (Node *, f, &AS(TupleStructInfo, info)->fields) {
      if (!IS(TensorStructInfo, *f)) return false;
      vec_push(out, *f);
    }
    return true;
  }
  vec_push(out, info);
  return IS(TensorStructInfo, info);
}

static bool is_replaceable(RelaxCall *c) {
  NodeVec args = {0}, dims = {0}, outs = {0}, shape;
  if (!call_arguments(c, &args, &dims) || !push_tensor_infos(c->sinfo, &outs)) return false;
  for each (Node *, o, &outs)
    if (!sinfo_tensor_shape(*o, &shape)) return false;
  return true;
}

static WalkResult find_blocked(Walker *w, Node *n) {
  FuseTir *p = w->context;
  if (IS(RelaxCall, n) && program_for(p, AS(RelaxCall, n)->op)) {
    RelaxCall *c = AS(RelaxCall, n);
    if (!is_replaceable(c)) map_set(&p->blocked, str_intern(AS(GlobalVar, c->op)->name), n);
    for each (Node *, a, &c->args)
      if (!walk(w, *a)) return WALK_STOP;
    return WALK_PRUNE;
  }
  if (program_for(p, n)) map_set(&p->blocked, str_intern(AS(GlobalVar, n)->name), n);
  return WALK_ON;
}

static void find_programs(FuseTir *p) {
  IRModule *m = AS(IRModule, p->module);
  for (int i = 0; i < m->functions.len; i++) {
    Node *f = m->functions.at[i];
    if (!IS(Function, f) || !dict_get_int(AS(Function, f)->attrs, "Primitive", 0)) continue;
    MergedProgram merged = merged_program(p->module, AS(Function, f));
    if (merged.func)
      map_set(&p->merged, str_intern(AS(GlobalVar, m->globals.at[i])->name),
              gc_copy(&merged, sizeof merged));
  }
  Walker w = {.enter = find_blocked, .context = p};
  for each (Node *, f, &m->functions)
    if (IS(Function, *f)) walk(&w, *f);
  for (int i = 0; i < p->blocked.len; i++) map_remove(&p->merged, p->blocked.at[i].key);
}

/* ---- calls ---- */

static Node *shape_of(NodeVec values, Span span) {
  Node *info =
      MAKE(ShapeStructInfo, span, VOID_TYPE, .known = true, .values = values, .ndim = values.len);
  return MAKE(ShapeExpr, span, VOID_TYPE, .sinfo = info, .values = values);
}

static Node *tuple_of(NodeVec fields, Span span) {
  NodeVec infos = {0};
  for each (Node *, f, &fields) vec_push(&infos, sinfo_of(*f));
  return MAKE(Tuple, span, VOID_TYPE, .sinfo = sinfo_tuple(infos, span), .fields = fields);
}

static Node *global_of(FuseTir *p, const char *name, Span span) {
  name = str_intern(name);
  Node *global = map_get(&p->globals, name);
  if (!global) {
    global = MAKE(GlobalVar, span, VOID_TYPE, .sinfo = sinfo_object(), .name = name);
    map_set(&p->globals, name, global);
  }
  return global;
}

static Node *program_call(FuseTir *p, RelaxCall *c, const MergedProgram *program) {
  NodeVec args = {0}, dims = {0}, outs = {0}, indices = {0};
  Span span = c->node.span;
  bool known = call_arguments(c, &args, &dims) && push_tensor_infos(c->sinfo, &outs);
  REQUIRE(known, "a call that is replaced was found replaceable");
  NodeVec all = NODES(global_of(p, AS(GlobalVar, c->op)->name, span), tuple_of(args, span));
  if (dims.len) vec_push(&all, shape_of(dims, span));
  for each (int, i, &program->inplace) vec_push(&indices, int_imm(INT32, *i, span));
  Node *attrs = NULL;
  if (program->overwrites)
    attrs =
        dict_with(dict_new(), "inplace_indices", MAKE(Array, span, VOID_TYPE, .items = indices));
  const char *form = program->overwrites ? "relax.call_tir_inplace" : "relax.call_tir";
  return MAKE(RelaxCall, span, VOID_TYPE, .sinfo = c->sinfo, .op = op_get(form), .args = all,
              .attrs = attrs, .sinfo_args = outs);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(RelaxVar, n) || IS(Var, n) || IS(GlobalVar, n)) return n;
  n = mutate_children(m, n);
  MergedProgram *program = IS(RelaxCall, n) ? program_for(m->context, AS(RelaxCall, n)->op) : NULL;
  return program ? program_call(m->context, AS(RelaxCall, n), program) : n;
}

static bool is_program(const Node *func) { return IS(PrimFunc, func); }

Node *pass_fuse_tir(Node *module, const PassContext *context) {
  (void)context;
  FuseTir p = {.module = module};
  find_programs(&p);
  if (!p.merged.live) return module;
  IRModule m = *AS(IRModule, module);
  NodeVec globals = {0}, functions = {0};
  Mutator mutator = {.rewrite = rewrite, .context = &p};
  for (int i = 0; i < m.functions.len; i++) {
    MergedProgram *program = program_for(&p, m.globals.at[i]);
    Node *f = m.functions.at[i];
    vec_push(&globals, program ? global_of(&p, AS(GlobalVar, m.globals.at[i])->name, f->span)
                               : m.globals.at[i]);
    if (program) f = program->func;
    else if (IS(Function, f)) f = pass_normalize(mutate(&mutator, f), NULL);
    vec_push(&functions, f);
  }
  m.globals = globals;
  m.functions = functions;
  return without_unused(gc_copy(&m, sizeof m), is_program);
}
