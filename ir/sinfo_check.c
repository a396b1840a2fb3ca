/* sinfo_check.c -- struct info compared and joined: which values belong to both, what covers both.
 *
 * `why` is written where the answer is no: the reason, after the way to it ("field 1: ..."). */
#include "ir/arith/arith.h"
#include "ir/ir.h"

static SinfoCheck both(SinfoCheck a, SinfoCheck b) { return a < b ? a : b; }

static SinfoCheck no(const char **why, const char *text) {
  if (why) *why = text;
  return SINFO_NO;
}

static SinfoCheck no_at(const char **why, const char *what, int i) {
  return no(why, why ? str_format("%s %d: %s", what, i, *why) : NULL);
}

static const char *text_of(Node *n) { return ir_print(n, NULL); }

/* A dim as a shape shows it: numbers without their dtype. */
static const char *dim_text(Node *n) {
  int64_t i;
  return expr_is_const_int(n, &i) ? str_format("%lld", (long long)i) : text_of(n);
}

static SinfoCheck no_dtypes(const char **why, DataType want, DataType have) {
  return no(why, str_format("the dtype is %s, not %s", dtype_text(have), dtype_text(want)));
}

/* As most are: one variable, or one number. */
static bool is_same_dim(const Node *a, const Node *b) {
  int64_t x, y;
  return a == b || (expr_is_const_int(a, &x) && expr_is_const_int(b, &y) && x == y);
}

static SinfoCheck check_dims(NodeVec base, NodeVec derived, const char **why) {
  if (base.len != derived.len)
    return no(why, str_format("the rank is %d, not %d", derived.len, base.len));
  SinfoCheck result = SINFO_YES;
  Analyzer *a = NULL;
  for (int i = 0; i < base.len; i++) {
    Node *want = base.at[i], *have = derived.at[i];
    if (is_same_dim(want, have)) continue;
    if (!a) a = arith_new();
    if (arith_can_prove_equal(a, want, have)) continue;
    if (arith_can_prove_different(a, want, have))
      return no(why, str_format("dimension %d is %s, not %s", i, dim_text(have), dim_text(want)));
    result = SINFO_MAYBE;
  }
  return result;
}

static SinfoCheck check_rank(int want, int have, const char **why) {
  if (want < 0) return SINFO_YES;
  if (have < 0) return SINFO_MAYBE;
  return want == have ? SINFO_YES : no(why, str_format("the rank is %d, not %d", have, want));
}

static SinfoCheck check_place(TensorStructInfo *b, TensorStructInfo *d, const char **why) {
  if (!b->vdevice) return SINFO_YES;
  if (!d->vdevice) return SINFO_MAYBE;
  if (node_equal(b->vdevice, d->vdevice, false, NULL)) return SINFO_YES;
  return no(why, str_format("the device is %s, not %s", text_of(d->vdevice), text_of(b->vdevice)));
}

static SinfoCheck check_placement(TensorStructInfo *b, TensorStructInfo *d, const char **why) {
  if (!b->placement) return SINFO_YES;
  if (!d->placement) return SINFO_MAYBE;
  if (!str_same(b->placement, d->placement))
    return no(why, str_format("the placement is \"%s\", not \"%s\"", d->placement, b->placement));
  if (node_equal(b->mesh, d->mesh, false, NULL)) return SINFO_YES;
  return no(why, str_format("the mesh is %s, not %s", text_of(d->mesh), text_of(b->mesh)));
}

static SinfoCheck check_tensor(Node *base, Node *derived, const char **why) {
  TensorStructInfo *b = AS(TensorStructInfo, base), *d = AS(TensorStructInfo, derived);
  SinfoCheck result = SINFO_YES;
  if (!dtype_is_void(b->elem)) {
    if (dtype_is_void(d->elem)) result = SINFO_MAYBE;
    else if (!dtype_equal(b->elem, d->elem)) return no_dtypes(why, b->elem, d->elem);
  }
  SinfoCheck rank = check_rank(b->ndim, d->ndim, why);
  if (rank == SINFO_NO) return SINFO_NO;
  SinfoCheck place = check_place(b, d, why);
  if (place == SINFO_NO) return SINFO_NO;
  SinfoCheck placement = check_placement(b, d, why);
  if (placement == SINFO_NO) return SINFO_NO;
  result = both(both(both(result, rank), place), placement);
  NodeVec want, have;
  if (!b->shape || b->shape == d->shape) return result;
  if (!sinfo_tensor_shape(base, &want) || !sinfo_tensor_shape(derived, &have))
    return both(result, SINFO_MAYBE);
  return both(result, check_dims(want, have, why));
}

static SinfoCheck check_list(NodeVec base, NodeVec derived, const char *what, const char **why) {
  if (base.len != derived.len)
    return no(why, str_format("it has %d %ss, not %d", derived.len, what, base.len));
  SinfoCheck result = SINFO_YES;
  for (int i = 0; i < base.len; i++) {
    SinfoCheck one = sinfo_check(base.at[i], derived.at[i], why);
    if (one == SINFO_NO) return no_at(why, what, i);
    result = both(result, one);
  }
  return result;
}

/* A function may take more, and give less, than the type asks. */
static SinfoCheck check_func(Node *base, Node *derived, const char **why) {
  FuncStructInfo *b = AS(FuncStructInfo, base), *d = AS(FuncStructInfo, derived);
  if (b->is_pure && !d->is_pure) return no(why, "the function has effects");
  if (!b->known || node_equal(base, derived, true, NULL)) return SINFO_YES;
  if (!d->known) return SINFO_MAYBE;
  SinfoCheck params = check_list(d->params, b->params, "parameter", why);
  if (params == SINFO_NO || !b->ret || !d->ret) return params;
  SinfoCheck ret = sinfo_check(b->ret, d->ret, why);
  if (ret == SINFO_NO) return no(why, why ? str_format("the result: %s", *why) : NULL);
  return both(params, ret);
}

static SinfoCheck check_prim(Node *base, Node *derived, const char **why) {
  PrimStructInfo *b = AS(PrimStructInfo, base), *d = AS(PrimStructInfo, derived);
  if (!dtype_equal(b->elem, d->elem)) return no_dtypes(why, b->elem, d->elem);
  if (!b->value) return SINFO_YES;
  if (!d->value) return SINFO_MAYBE;
  Analyzer *a = arith_new();
  if (arith_can_prove_equal(a, b->value, d->value)) return SINFO_YES;
  if (!arith_can_prove_different(a, b->value, d->value)) return SINFO_MAYBE;
  return no(why, str_format("the value is %s, not %s", text_of(d->value), text_of(b->value)));
}

static SinfoCheck check_shape(Node *base, Node *derived, const char **why) {
  ShapeStructInfo *b = AS(ShapeStructInfo, base), *d = AS(ShapeStructInfo, derived);
  SinfoCheck rank = check_rank(b->ndim, d->ndim, why);
  if (rank == SINFO_NO || !b->known) return rank;
  return d->known ? check_dims(b->values, d->values, why) : SINFO_MAYBE;
}

SinfoCheck sinfo_check(Node *base, Node *derived, const char **why) {
  if (base == derived || IS(ObjectStructInfo, base)) return SINFO_YES;
  if (!base || !derived || IS(ObjectStructInfo, derived)) return SINFO_MAYBE;
  if (base->kind != derived->kind)
    return no(why, str_format("it is %s, not %s", node_spelling(derived->kind),
                              node_spelling(base->kind)));
  switch (base->kind) {
  case NK_TensorStructInfo: return check_tensor(base, derived, why);
  case NK_TupleStructInfo:
    return check_list(AS(TupleStructInfo, base)->fields, AS(TupleStructInfo, derived)->fields,
                      "field", why);
  case NK_FuncStructInfo: return check_func(base, derived, why);
  case NK_PrimStructInfo: return check_prim(base, derived, why);
  case NK_ShapeStructInfo: return check_shape(base, derived, why);
  default: return SINFO_YES;
  }
}

/* ---- joining ---- */

static bool same_dims(NodeVec p, NodeVec q) {
  return p.len == q.len && check_dims(p, q, NULL) == SINFO_YES;
}

static Node *join_tensor(Node *a, Node *b) {
  TensorStructInfo *x = AS(TensorStructInfo, a), *y = AS(TensorStructInfo, b), out = *x;
  NodeVec p, q;
  bool same_shape = x->shape == y->shape ||
                    (sinfo_tensor_shape(a, &p) && sinfo_tensor_shape(b, &q) && same_dims(p, q));
  if (!dtype_equal(x->elem, y->elem)) out.elem = VOID_TYPE;
  if (x->ndim != y->ndim) out.ndim = -1;
  if (!same_shape || out.ndim < 0) out.shape = NULL;
  if (!node_equal(x->vdevice, y->vdevice, false, NULL)) out.vdevice = NULL;
  if (!str_same(x->placement, y->placement) || !node_equal(x->mesh, y->mesh, false, NULL))
    out.mesh = NULL, out.placement = NULL;
  return gc_copy(&out, sizeof out);
}

static Node *join_shape(Node *a, Node *b) {
  ShapeStructInfo *x = AS(ShapeStructInfo, a), *y = AS(ShapeStructInfo, b);
  if (x->known && y->known && same_dims(x->values, y->values)) return a;
  return MAKE(ShapeStructInfo, a->span, VOID_TYPE, .ndim = x->ndim == y->ndim ? x->ndim : -1);
}

static Node *join_prim(Node *a, Node *b) {
  PrimStructInfo *x = AS(PrimStructInfo, a), *y = AS(PrimStructInfo, b);
  if (!dtype_equal(x->elem, y->elem)) return sinfo_object();
  if (x->value && y->value && arith_can_prove_equal(arith_new(), x->value, y->value)) return a;
  return MAKE(PrimStructInfo, a->span, VOID_TYPE, .elem = x->elem);
}

static Node *join_tuple(Node *a, Node *b) {
  NodeVec x = AS(TupleStructInfo, a)->fields, y = AS(TupleStructInfo, b)->fields, out = {0};
  if (x.len != y.len) return sinfo_object();
  for (int i = 0; i < x.len; i++) vec_push(&out, sinfo_join(x.at[i], y.at[i]));
  return sinfo_tuple(out, a->span);
}

/* Functions with different parameters are covered by one whose parameters are not known. */
static Node *join_func(Node *a, Node *b) {
  FuncStructInfo *x = AS(FuncStructInfo, a), *y = AS(FuncStructInfo, b);
  bool pure = x->is_pure && y->is_pure;
  if (node_equal(a, b, true, NULL)) return a;
  Map none = {0};
  Node *ret = sinfo_join(x->ret, y->ret); /* without what the parameters define */
  return MAKE(FuncStructInfo, a->span, VOID_TYPE, .ret = sinfo_erase_vars(ret, &none),
              .is_pure = pure);
}

Node *sinfo_join(Node *a, Node *b) {
  if (!a || !b || a->kind != b->kind) return sinfo_object();
  if (node_equal(a, b, false, NULL)) return a;
  switch (a->kind) {
  case NK_TensorStructInfo: return join_tensor(a, b);
  case NK_ShapeStructInfo: return join_shape(a, b);
  case NK_PrimStructInfo: return join_prim(a, b);
  case NK_TupleStructInfo: return join_tuple(a, b);
  case NK_FuncStructInfo: return join_func(a, b);
  default: return sinfo_object();
  }
}

const char *value_phrase(const char *name, bool is_param) {
  if (strchr(name, ' ')) return name;
  return str_format(is_param ? "argument '%s'" : "'%s'", name);
}
