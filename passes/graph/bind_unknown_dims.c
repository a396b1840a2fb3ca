/* bind_unknown_dims.c -- dims that are known at run time only get names.
 *
 * In:  tensors of a known dtype and rank whose dims nothing tells: parameters, and results such as
 *      those of R.unique; shapes of a known rank.
 * Out: a match_cast behind each, whose dims are new variables; uses take what it gives (of a
 *      shape its dims), and the struct info that follows from it.
 * Not: tensors of unknown rank or dtype.
 *
 * Operators become tensor programs only where dims have names. */
#include "passes/graph/refreshed_info.h"
#include "passes/passes.h"

Node *pass_normalize(Node *n, const PassContext *context);

static NodeVec new_dims(const char *name, int ndim, Span span) {
  NodeVec dims = {0};
  for (int i = 0; i < ndim; i++)
    vec_push(&dims, var_new(str_intern(str_format("%s_%d", name, i)), INT64, span));
  return dims;
}

/* The struct info with names for its dims; NULL if it has some, or can't have any. */
static Node *named(Node *info, const char *name, Span span) {
  NodeVec dims;
  if (IS(TensorStructInfo, info)) {
    TensorStructInfo t = *AS(TensorStructInfo, info);
    if (t.ndim < 0 || dtype_is_void(t.elem) || sinfo_tensor_shape(info, &dims)) return NULL;
    dims = new_dims(name, t.ndim, span);
    t.shape = AS(TensorStructInfo, sinfo_tensor(dims, t.elem, span))->shape;
    return gc_copy(&t, sizeof t);
  }
  if (!IS(ShapeStructInfo, info) || AS(ShapeStructInfo, info)->known) return NULL;
  int ndim = AS(ShapeStructInfo, info)->ndim;
  if (ndim < 0) return NULL;
  return MAKE(ShapeStructInfo, span, VOID_TYPE, .known = true, .ndim = ndim,
              .values = new_dims(name, ndim, span));
}

/* The match_cast that names the dims of a variable, whose uses mean its result from here on; NULL
 * if there is nothing to name. `old`: what the variable was before the rewrite. */
static Node *cast_of(Mutator *m, Node *old, Node *var) {
  RelaxVar *v = AS(RelaxVar, var);
  Node *info = named(v->sinfo, v->name, var->span);
  if (!info) return NULL;
  Node *to = MAKE(RelaxVar, var->span, VOID_TYPE, .sinfo = info, .name = v->name,
                  .is_dataflow = v->is_dataflow);
  Node *use = to;
  if (IS(ShapeStructInfo, info))
    use = MAKE(ShapeExpr, var->span, VOID_TYPE, .sinfo = info,
               .values = AS(ShapeStructInfo, info)->values);
  map_set(&m->identities, old, use);
  return MAKE(MatchCast, var->span, VOID_TYPE, .value = var, .sinfo = info, .var = to);
}

static Node *variable_of(Node *binding) {
  return IS(MatchCast, binding) ? AS(MatchCast, binding)->var : AS(VarBinding, binding)->var;
}

static Node *rewrite_block(Mutator *m, BindingBlock *block) {
  BindingBlock b = *block;
  bool changed = false;
  b.bindings = (NodeVec){0};
  for each (Node *, n, &block->bindings) {
    Node *binding = mutate(m, *n), *cast = cast_of(m, variable_of(*n), variable_of(binding));
    changed |= binding != *n || cast;
    vec_push(&b.bindings, binding);
    if (cast) vec_push(&b.bindings, cast);
  }
  return changed ? gc_copy(&b, sizeof b) : &block->node;
}

static Node *rewrite_function(Mutator *m, Node *n) {
  Function f = *AS(Function, n);
  NodeVec casts = {0}, blocks = {0};
  for each (Node *, p, &f.params) {
    Node *cast = cast_of(m, *p, *p);
    if (cast) vec_push(&casts, cast);
  }
  f.body = mutate(m, f.body);
  if (f.body == AS(Function, n)->body) return n;
  if (casts.len) {
    bool is_seq = IS(SeqExpr, f.body);
    SeqExpr s = is_seq ? *AS(SeqExpr, f.body)
                       : (SeqExpr){.node = {.kind = NK_SeqExpr, .span = n->span}, .body = f.body};
    vec_push(&blocks, MAKE(BindingBlock, n->span, VOID_TYPE, .bindings = casts));
    for each (Node *, b, &s.blocks) vec_push(&blocks, *b);
    s.blocks = blocks_normal(blocks);
    s.sinfo = sinfo_of(s.body);
    f.body = gc_copy(&s, sizeof s);
  }
  return function_refreshed(gc_copy(&f, sizeof f));
}

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(Var, n) || IS(RelaxVar, n) || IS(PrimFunc, n)) return n;
  if (IS(Function, n)) return rewrite_function(m, n);
  if (IS(BindingBlock, n)) return rewrite_block(m, AS(BindingBlock, n));
  if (!IS(VarBinding, n)) return info_refreshed(n, mutate_children(m, n));
  VarBinding b = *AS(VarBinding, n);
  b.value = mutate(m, b.value);
  if (b.value == AS(VarBinding, n)->value) return n;
  if (!IS(Function, b.value)) { /* which may name itself */
    b.var = var_refreshed(b.var, b.value);
    map_set(&m->identities, AS(VarBinding, n)->var, b.var);
  }
  return gc_copy(&b, sizeof b);
}

/* Is there anything to name? */
static WalkResult find_unknown(Walker *w, Node *n) {
  (void)w;
  if (!IS(RelaxVar, n)) return WALK_ON;
  return named(AS(RelaxVar, n)->sinfo, "", n->span) ? WALK_STOP : WALK_PRUNE;
}

Node *pass_bind_unknown_dims(Node *n, const PassContext *context) {
  Walker w = {.enter = find_unknown};
  if (walk(&w, n)) return n;
  Mutator m = {.rewrite = rewrite};
  return mutate(&m, pass_normalize(n, context));
}
