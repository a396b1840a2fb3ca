/* struct_info.c -- struct info of graph values: making it, erasing what is not known outside,
 * functions.
 */
#include "ir/ir.h"

Node *sinfo_of(Node *n) {
  if (!n) return NULL;
  if (node_is_relax(n)) return ((RelaxExpr *)(void *)n)->sinfo;
  if (IS(PrimFunc, n)) return AS(PrimFunc, n)->sinfo;
  if (node_is_expr(n))
    return MAKE(PrimStructInfo, n->span, VOID_TYPE, .elem = n->dtype, .value = n);
  return NULL;
}

Node *sinfo_object(void) { return MAKE(ObjectStructInfo, (Span){0}, VOID_TYPE); }

static Node *shape_expr(NodeVec dims, Span span) {
  Node *info =
      MAKE(ShapeStructInfo, span, VOID_TYPE, .known = true, .values = dims, .ndim = dims.len);
  return MAKE(ShapeExpr, span, VOID_TYPE, .sinfo = info, .values = dims);
}

Node *sinfo_tensor(NodeVec shape, DataType elem, Span span) {
  return MAKE(TensorStructInfo, span, VOID_TYPE, .shape = shape_expr(shape, span), .elem = elem,
              .ndim = shape.len);
}

Node *sinfo_tensor_unknown(DataType elem, int ndim, Span span) {
  return MAKE(TensorStructInfo, span, VOID_TYPE, .elem = elem, .ndim = ndim);
}

Node *sinfo_tuple(NodeVec fields, Span span) {
  return MAKE(TupleStructInfo, span, VOID_TYPE, .fields = fields);
}

Node *sinfo_value(Node *sinfo, Span span) {
  if (IS(ShapeStructInfo, sinfo) && AS(ShapeStructInfo, sinfo)->known)
    return MAKE(ShapeExpr, span, VOID_TYPE, .sinfo = sinfo,
                .values = AS(ShapeStructInfo, sinfo)->values);
  if (IS(PrimStructInfo, sinfo) && AS(PrimStructInfo, sinfo)->value)
    return MAKE(PrimValue, span, VOID_TYPE, .sinfo = sinfo,
                .value = AS(PrimStructInfo, sinfo)->value);
  return NULL;
}

bool sinfo_tensor_shape(Node *sinfo, NodeVec *shape) {
  if (!IS(TensorStructInfo, sinfo)) return false;
  Node *s = AS(TensorStructInfo, sinfo)->shape;
  if (IS(ShapeExpr, s)) return *shape = AS(ShapeExpr, s)->values, true;
  Node *info = s ? sinfo_of(s) : NULL; /* a variable of Shape type whose values are known */
  if (!IS(ShapeStructInfo, info) || !AS(ShapeStructInfo, info)->known) return false;
  *shape = AS(ShapeStructInfo, info)->values;
  return true;
}

/* ---- erasing variables that are not known outside ---- */

static WalkResult find_unknown(Walker *w, Node *n) {
  return IS(Var, n) && !map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

static bool all_known(NodeVec exprs, const Map *known) {
  Walker w = {.enter = find_unknown, .context = (void *)(uintptr_t)known, .once = true};
  for each (Node *, e, &exprs)
    if (!walk(&w, *e)) return false;
  return true;
}

/* A shape that is a variable stays if that is known; else its dims are what remains. */
static Node *erase_tensor(const Map *known, Node *n) {
  TensorStructInfo copy = *AS(TensorStructInfo, n);
  NodeVec dims;
  if (!copy.shape || (IS(RelaxVar, copy.shape) && map_has(known, copy.shape))) return n;
  bool kept = sinfo_tensor_shape(n, &dims) && all_known(dims, known);
  if (kept && IS(ShapeExpr, copy.shape)) return n;
  copy.shape = kept ? shape_expr(dims, copy.shape->span) : NULL;
  return gc_copy(&copy, sizeof copy);
}

static WalkResult note_var(Walker *w, Node *n) {
  if (IS(Var, n)) map_set(w->context, n, n);
  return WALK_ON;
}

/* The dims of a function's parameters are its own, and known to its result. */
static Node *erase_func(const Map *known, Node *n) {
  FuncStructInfo copy = *AS(FuncStructInfo, n);
  Map inside = {0};
  Walker w = {.enter = note_var, .context = &inside, .once = true};
  for each (Node *, p, &copy.params) walk(&w, *p);
  for (int i = 0; i < known->len; i++)
    if (known->at[i].key) map_set(&inside, known->at[i].key, known->at[i].value);
  copy.ret = copy.ret ? sinfo_erase_vars(copy.ret, &inside) : NULL;
  return copy.ret == AS(FuncStructInfo, n)->ret ? n : gc_copy(&copy, sizeof copy);
}

static Node *erase(Mutator *m, Node *n) {
  const Map *known = m->context;
  switch (n->kind) {
  case NK_TensorStructInfo: return erase_tensor(known, n);
  case NK_FuncStructInfo: return erase_func(known, n);
  case NK_ShapeStructInfo: {
    ShapeStructInfo *s = AS(ShapeStructInfo, n);
    if (!s->known || all_known(s->values, known)) return n;
    return MAKE(ShapeStructInfo, n->span, VOID_TYPE, .ndim = s->ndim);
  }
  case NK_PrimStructInfo: {
    PrimStructInfo *p = AS(PrimStructInfo, n);
    if (!p->value || all_known(NODES(p->value), known)) return n;
    return MAKE(PrimStructInfo, n->span, VOID_TYPE, .elem = p->elem);
  }
  default: return mutate_children(m, n);
  }
}

Node *sinfo_erase_vars(Node *sinfo, const Map *known) {
  Mutator m = {.rewrite = erase, .context = (void *)(uintptr_t)known};
  return mutate(&m, sinfo);
}

/* ---- functions ---- */

Node *sinfo_function(NodeVec params, Node *ret, bool is_pure, Span span) {
  NodeVec infos = {0};
  for each (Node *, p, &params) vec_push(&infos, sinfo_of(*p));
  return MAKE(FuncStructInfo, span, VOID_TYPE, .known = true, .params = infos, .ret = ret,
              .is_pure = is_pure);
}

Node *sinfo_of_result(NodeVec params, Node *body) {
  Map known = {0}; /* what a caller knows: the variables of the parameters */
  Walker w = {.enter = note_var, .context = &known};
  for each (Node *, p, &params) walk(&w, sinfo_of(*p));
  return sinfo_erase_vars(sinfo_of(body) ? sinfo_of(body) : sinfo_object(), &known);
}

/* A shape that is a variable tells less than dims do. */
static bool has_dims_of_variable(Node *given, Node *found) {
  NodeVec dims;
  return IS(TensorStructInfo, given) && AS(TensorStructInfo, given)->shape &&
         !sinfo_tensor_shape(given, &dims) && sinfo_tensor_shape(found, &dims);
}

Node *sinfo_finer(Node *given, Node *found) {
  if (has_dims_of_variable(given, found)) {
    TensorStructInfo *t = AS(TensorStructInfo, given);
    given = sinfo_tensor_unknown(t->elem, t->ndim, given->span);
  }
  bool is_finer =
      sinfo_check(given, found, NULL) == SINFO_YES && sinfo_check(found, given, NULL) != SINFO_YES;
  return is_finer ? found : given;
}
