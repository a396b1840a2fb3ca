/* refreshed_info.c -- see refreshed_info.h. Calls are inferred anew only where that of an operand
 * changed. */
#include "passes/graph/refreshed_info.h"

static bool has_other_info(Node *before, Node *after) {
  Node *a = sinfo_of(before), *b = sinfo_of(after);
  return a != b && a && b && !node_equal(a, b, false, NULL);
}

static bool has_other_operands(RelaxCall *before, RelaxCall *after) {
  if (before->op != after->op || before->args.len != after->args.len) return true;
  for (int i = 0; i < after->args.len; i++)
    if (has_other_info(before->args.at[i], after->args.at[i])) return true;
  return false;
}

static NodeVec infos_of(NodeVec exprs) {
  NodeVec out = {0};
  for each (Node *, x, &exprs) vec_push(&out, sinfo_of(*x) ? sinfo_of(*x) : sinfo_object());
  return out;
}

/* What the parts tell; NULL if nothing new. */
static Node *found_info(Node *before, Node *after) {
  Node *info;
  switch (after->kind) {
  case NK_RelaxCall:
    if (!has_other_operands(AS(RelaxCall, before), AS(RelaxCall, after))) return NULL;
    return sinfo_infer_call(after);
  case NK_Tuple: return sinfo_tuple(infos_of(AS(Tuple, after)->fields), after->span);
  case NK_TupleGetItem:
    info = sinfo_of(AS(TupleGetItem, after)->tuple);
    return IS(TupleStructInfo, info)
               ? AS(TupleStructInfo, info)->fields.at[AS(TupleGetItem, after)->index]
               : NULL;
  case NK_SeqExpr: return sinfo_of(AS(SeqExpr, after)->body);
  case NK_RelaxIf:
    return sinfo_join(sinfo_of(AS(RelaxIf, after)->then), sinfo_of(AS(RelaxIf, after)->orelse));
  default: return NULL;
  }
}

Node *function_refreshed(Node *n) {
  Function f = *AS(Function, n);
  Node *ret = sinfo_finer(f.ret_sinfo, sinfo_of_result(f.params, f.body));
  if (ret == f.ret_sinfo) return n;
  f.ret_sinfo = ret;
  f.sinfo = sinfo_function(f.params, ret, f.is_pure, n->span);
  return gc_copy(&f, sizeof f);
}

/* A shape with a dim of -1, which its operator infers (OpenShape): it is that of the result. */
static bool is_open_shape(Node *n) {
  int64_t dim;
  if (!IS(ShapeExpr, n)) return false;
  for each (Node *, d, &AS(ShapeExpr, n)->values)
    if (expr_is_const_int(*d, &dim) && dim == -1) return true;
  return false;
}

static void close_shapes(RelaxCall *c) {
  NodeVec args = {0}, dims;
  if (!IS(Op, c->op) || !sinfo_tensor_shape(c->sinfo, &dims)) return;
  Node *info = MAKE(ShapeStructInfo, c->node.span, VOID_TYPE, .known = true, .values = dims,
                    .ndim = dims.len);
  for each (Node *, a, &c->args)
    vec_push(&args, is_open_shape(*a)
                        ? MAKE(ShapeExpr, (*a)->span, VOID_TYPE, .sinfo = info, .values = dims)
                        : *a);
  c->args = args;
}

static Node *with_info(Node *n, Node *info) {
  RelaxExpr *copy = gc_copy(n, node_size(n->kind));
  copy->sinfo = info;
  if (IS(RelaxCall, n)) close_shapes(AS(RelaxCall, &copy->node));
  return &copy->node;
}

Node *info_refreshed(Node *before, Node *after) {
  if (before == after || before->kind != after->kind) return after;
  if (IS(Function, after)) return function_refreshed(after);
  Node *found = found_info(before, after), *given = sinfo_of(after);
  Node *info = found && given ? sinfo_finer(given, found) : given;
  return info == given ? after : with_info(after, info);
}

Node *var_refreshed(Node *var, Node *value) {
  Node *given = sinfo_of(var), *found = sinfo_of(value);
  Node *info = given && found ? sinfo_finer(given, found) : given;
  return info == given ? var : with_info(var, info);
}

static Node *substitute_node(Mutator *m, Node *n) {
  const Map *map = m->context;
  bool replaceable = IS(Var, n) || IS(Buffer, n) || IS(RelaxVar, n) || IS(GlobalVar, n);
  Node *to = replaceable ? map_get(map, n) : NULL;
  if (to) return to;
  if (!IS(VarBinding, n) || IS(Function, AS(VarBinding, n)->value)) /* which may name itself */
    return info_refreshed(n, mutate_children(m, n));
  VarBinding b = *AS(VarBinding, n);
  Node *value = mutate(m, b.value), *var = mutate(m, b.var);
  if (value != b.value) map_set(&m->identities, b.var, var = var_refreshed(var, value));
  if (value == b.value && var == b.var) return n;
  b.value = value;
  b.var = var;
  return gc_copy(&b, sizeof b);
}

Node *substitute_refreshed(Node *n, const Map *map) {
  if (!map->live) return n;
  Mutator m = {.rewrite = substitute_node, .context = (void *)(uintptr_t)map};
  return mutate(&m, n);
}
