/* struct_info.c -- struct info: making, comparing, joining, and the info of calls. */
#include "ir/arith/arith.h"
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

bool sinfo_tensor_shape(Node *sinfo, NodeVec *shape) {
  if (!IS(TensorStructInfo, sinfo)) return false;
  Node *s = AS(TensorStructInfo, sinfo)->shape;
  if (IS(ShapeExpr, s)) return *shape = AS(ShapeExpr, s)->values, true;
  Node *info = s ? sinfo_of(s) : NULL; /* a variable of Shape type whose values are known */
  if (!IS(ShapeStructInfo, info) || !AS(ShapeStructInfo, info)->known) return false;
  *shape = AS(ShapeStructInfo, info)->values;
  return true;
}

/* ---- comparing ---- */

static SinfoCheck both(SinfoCheck a, SinfoCheck b) { return a < b ? a : b; }

static SinfoCheck no(const char **why, const char *text) {
  if (why && !*why) *why = text;
  return SINFO_NO;
}

static SinfoCheck check_dims(NodeVec base, NodeVec derived, const char **why) {
  if (base.len != derived.len)
    return no(why, str_format("the ranks differ: %d and %d", base.len, derived.len));
  SinfoCheck result = SINFO_YES;
  Analyzer *a = arith_new();
  for (int i = 0; i < base.len; i++) {
    if (arith_can_prove_equal(a, base.at[i], derived.at[i])) continue;
    if (arith_can_prove_different(a, base.at[i], derived.at[i]))
      return no(why, str_format("dimension %d is %s, not %s", i, ir_print(derived.at[i], NULL),
                                ir_print(base.at[i], NULL)));
    result = SINFO_MAYBE;
  }
  return result;
}

static SinfoCheck check_tensor(Node *base, Node *derived, const char **why) {
  TensorStructInfo *b = AS(TensorStructInfo, base), *d = AS(TensorStructInfo, derived);
  SinfoCheck result = SINFO_YES;
  if (!dtype_is_void(b->elem)) {
    if (dtype_is_void(d->elem)) result = SINFO_MAYBE;
    else if (!dtype_equal(b->elem, d->elem))
      return no(why, str_format("the dtypes differ: %s and %s", dtype_text(b->elem),
                                dtype_text(d->elem)));
  }
  if (b->ndim < 0) return result;
  if (d->ndim < 0) return SINFO_MAYBE;
  if (b->ndim != d->ndim)
    return no(why, str_format("the ranks differ: %d and %d", b->ndim, d->ndim));
  NodeVec want, have;
  if (!sinfo_tensor_shape(base, &want))
    return b->shape && b->shape != d->shape ? SINFO_MAYBE : result;
  if (!sinfo_tensor_shape(derived, &have)) return SINFO_MAYBE;
  return both(result, check_dims(want, have, why));
}

static SinfoCheck check_fields(NodeVec base, NodeVec derived, const char *what, const char **why) {
  if (base.len != derived.len)
    return no(why, str_format("%d %s, not %d", derived.len, what, base.len));
  SinfoCheck result = SINFO_YES;
  for (int i = 0; i < base.len && result != SINFO_NO; i++)
    result = both(result, sinfo_check(base.at[i], derived.at[i], why));
  return result;
}

static SinfoCheck check_func(FuncStructInfo *b, FuncStructInfo *d, const char **why) {
  if (b->is_pure && !d->is_pure) return no(why, "the function has effects");
  if (!b->known) return SINFO_YES;
  if (!d->known) return SINFO_MAYBE;
  SinfoCheck params = check_fields(d->params, b->params, "parameters", why); /* contravariant */
  return params == SINFO_NO ? SINFO_NO : both(params, sinfo_check(b->ret, d->ret, why));
}

SinfoCheck sinfo_check(Node *base, Node *derived, const char **why) {
  if (IS(ObjectStructInfo, base)) return SINFO_YES;
  if (IS(ObjectStructInfo, derived)) return SINFO_MAYBE;
  if (base->kind != derived->kind)
    return no(why, str_format("one is %s, the other %s", node_spelling(base->kind),
                              node_spelling(derived->kind)));
  switch (base->kind) {
  case NK_TensorStructInfo: return check_tensor(base, derived, why);
  case NK_TupleStructInfo:
    return check_fields(AS(TupleStructInfo, base)->fields, AS(TupleStructInfo, derived)->fields,
                        "fields", why);
  case NK_FuncStructInfo:
    return check_func(AS(FuncStructInfo, base), AS(FuncStructInfo, derived), why);
  case NK_PrimStructInfo: {
    PrimStructInfo *b = AS(PrimStructInfo, base), *d = AS(PrimStructInfo, derived);
    if (!dtype_equal(b->elem, d->elem))
      return no(why, str_format("the dtypes differ: %s and %s", dtype_text(b->elem),
                                dtype_text(d->elem)));
    if (!b->value) return SINFO_YES;
    return d->value ? check_dims(NODES(b->value), NODES(d->value), why) : SINFO_MAYBE;
  }
  case NK_ShapeStructInfo: {
    ShapeStructInfo *b = AS(ShapeStructInfo, base), *d = AS(ShapeStructInfo, derived);
    if (b->ndim < 0) return SINFO_YES;
    if (d->ndim < 0) return SINFO_MAYBE;
    if (b->ndim != d->ndim)
      return no(why, str_format("the ranks differ: %d and %d", b->ndim, d->ndim));
    if (!b->known) return SINFO_YES;
    return d->known ? check_dims(b->values, d->values, why) : SINFO_MAYBE;
  }
  default: return SINFO_YES;
  }
}

/* ---- joining ---- */

static Node *join_tensor(Node *a, Node *b) {
  TensorStructInfo *x = AS(TensorStructInfo, a), *y = AS(TensorStructInfo, b);
  DataType t = dtype_equal(x->elem, y->elem) ? x->elem : VOID_TYPE;
  NodeVec p, q;
  bool same = x->ndim == y->ndim && sinfo_tensor_shape(a, &p) && sinfo_tensor_shape(b, &q) &&
              check_dims(p, q, NULL) == SINFO_YES;
  if (same) return sinfo_tensor(p, t, a->span);
  return sinfo_tensor_unknown(t, x->ndim == y->ndim ? x->ndim : -1, a->span);
}

Node *sinfo_join(Node *a, Node *b) {
  if (!a || !b || a->kind != b->kind) return sinfo_object();
  if (node_equal(a, b, false, NULL)) return a;
  if (IS(TensorStructInfo, a)) return join_tensor(a, b);
  if (IS(PrimStructInfo, a) &&
      dtype_equal(AS(PrimStructInfo, a)->elem, AS(PrimStructInfo, b)->elem))
    return MAKE(PrimStructInfo, a->span, VOID_TYPE, .elem = AS(PrimStructInfo, a)->elem);
  if (IS(ShapeStructInfo, a)) {
    int n = AS(ShapeStructInfo, a)->ndim;
    return MAKE(ShapeStructInfo, a->span, VOID_TYPE,
                .ndim = n == AS(ShapeStructInfo, b)->ndim ? n : -1);
  }
  if (IS(TupleStructInfo, a) &&
      AS(TupleStructInfo, a)->fields.len == AS(TupleStructInfo, b)->fields.len) {
    NodeVec fields = {0};
    for (int i = 0; i < AS(TupleStructInfo, a)->fields.len; i++)
      vec_push(&fields, sinfo_join(AS(TupleStructInfo, a)->fields.at[i],
                                   AS(TupleStructInfo, b)->fields.at[i]));
    return sinfo_tuple(fields, a->span);
  }
  return sinfo_object();
}

/* ---- erasing variables that are not known outside ---- */

typedef struct Unknown {
  const Map *known;
  bool found;
} Unknown;

static WalkResult find_unknown(Walker *w, Node *n) {
  Unknown *u = w->context;
  if (IS(Var, n) && !map_has(u->known, n)) u->found = true;
  return u->found ? WALK_STOP : WALK_ON;
}

static bool has_unknown(NodeVec exprs, const Map *known) {
  Unknown u = {known, false};
  Walker w = {.enter = find_unknown, .context = &u};
  for each (Node *, e, &exprs) walk(&w, *e);
  return u.found;
}

static Node *erase(Mutator *m, Node *n) {
  const Map *known = m->context;
  if (IS(TensorStructInfo, n)) {
    TensorStructInfo copy = *AS(TensorStructInfo, n);
    NodeVec dims;
    if (!sinfo_tensor_shape(n, &dims) || !has_unknown(dims, known)) return n;
    copy.shape = NULL;
    return gc_copy(&copy, sizeof copy);
  }
  if (IS(ShapeStructInfo, n) && AS(ShapeStructInfo, n)->known &&
      has_unknown(AS(ShapeStructInfo, n)->values, known))
    return MAKE(ShapeStructInfo, n->span, VOID_TYPE, .ndim = AS(ShapeStructInfo, n)->ndim);
  if (IS(PrimStructInfo, n) && AS(PrimStructInfo, n)->value &&
      has_unknown(NODES(AS(PrimStructInfo, n)->value), known))
    return MAKE(PrimStructInfo, n->span, VOID_TYPE, .elem = AS(PrimStructInfo, n)->elem);
  return mutate_children(m, n);
}

Node *sinfo_erase_vars(Node *sinfo, const Map *known) {
  Mutator m = {.rewrite = erase, .context = (void *)(uintptr_t)known};
  return mutate(&m, sinfo);
}
