/* gmatch.c -- struct info at run time: what arguments, casts and results must be.
 *
 * Arguments are checked by the runtime's own functions, so messages are those of compiled code. */
#include "target/interp/interp.h"

static char *text(const char *s) { return (char *)(uintptr_t)s; }

/* As messages name a value within a function. */
static const char *within(GraphFrame *g, const char *phrase) {
  return str_format("%s: %s", g->name, phrase);
}

/* ---- dims ---- */

/* A variable without a value is bound; everything else is checked later. */
static void match_dim(GraphFrame *g, DimCheck check, DimCheckVec *later) {
  if (IS(Var, check.dim) && !gframe_is_bound(g, check.dim))
    gframe_bind(g, check.dim, check.tensor ? check.tensor->shape[check.axis] : check.actual);
  else vec_push(later, check);
}

static void check_dim(GraphFrame *g, const DimCheck *c, Span span) {
  if (!gframe_is_bound(g, c->dim))
    fault(span, "%s: the dimension '%s' of %s can't be told from what is known", g->name,
          ir_print(c->dim, NULL), c->what);
  int64_t want = gframe_dim(g, c->dim, span);
  int64_t actual = c->tensor ? c->tensor->shape[c->axis] : c->actual;
  if (want == actual) return;
  char *dim = text(ir_print(c->dim, NULL)), *func = text(g->name), *what = text(c->what);
  if (c->tensor) tvms_check_dim(func, what, (void *)(uintptr_t)c->tensor, c->axis, want, dim);
  else tvms_check_value(func, what, want, actual, dim);
  fault_runtime(span);
}

void match_dims(GraphFrame *g, const DimCheckVec *checks, Span span) {
  for each (const DimCheck, c, checks) check_dim(g, c, span);
}

/* ---- kinds of struct info ---- */

/* The dims of a tensor's struct info: written out, or those of a shape variable's value. */
static bool known_dims(GraphFrame *g, TensorStructInfo *t, NodeVec *dims) {
  if (sinfo_tensor_shape(&t->node, dims)) return true;
  if (!IS(RelaxVar, t->shape)) return false;
  GraphValue v = gframe_eval(g, t->shape, "shape");
  if (v.type != TVMS_SHAPE) return false;
  *dims = (NodeVec){0};
  for (int i = 0; i < tvms_shape_ndim(v.bits.p); i++)
    vec_push(dims, int_imm(INT64, tvms_shape_dims(v.bits.p)[i], t->node.span));
  return true;
}

static void match_tensor(GraphFrame *g, GraphValue *v, TensorStructInfo *t, const char *what,
                         DimCheckVec *later, Span span) {
  DataType e = t->elem;
  int code = dtype_is_void(e) ? 255 : dtype_dlpack_code(e), type = v->type;
  if (type == VALUE_CLOSURE) type = TVMS_FUNC;
  DLTensor *tensor =
      tvms_value_tensor(&v->bits, &type, text(within(g, what)), t->ndim, code, e.bits, e.lanes);
  if (!tensor) fault_runtime(span);
  NodeVec dims;
  if (!known_dims(g, t, &dims)) return;
  if (dims.len != tensor->ndim)
    fault(span, "%s: %s must have %d dimensions, but is %s", g->name, what, dims.len,
          gvalue_text(v));
  for (int i = 0; i < dims.len; i++)
    match_dim(g, (DimCheck){.what = what, .tensor = tensor, .axis = i, .dim = dims.at[i]}, later);
}

static void need_type(GraphFrame *g, const GraphValue *v, const char *what, int want, Span span) {
  int type = v->type == VALUE_CLOSURE ? TVMS_FUNC : v->type;
  void *value = (void *)(uintptr_t)&v->bits;
  if (tvms_arg_type(text(g->name), text(what), value, &type, 0, want)) fault_runtime(span);
}

static void match_shape(GraphFrame *g, GraphValue *v, ShapeStructInfo *s, const char *what,
                        DimCheckVec *later, Span span) {
  need_type(g, v, what, TVMS_SHAPE, span);
  if (s->ndim < 0) return;
  if (tvms_check_shape(text(g->name), text(what), v->bits.p, s->ndim)) fault_runtime(span);
  for (int i = 0; s->known && i < s->values.len; i++)
    match_dim(g,
              (DimCheck){.what = str_format("dimension %d of %s", i, what),
                         .actual = tvms_shape_dims(v->bits.p)[i],
                         .axis = i,
                         .dim = s->values.at[i]},
              later);
}

static void match_prim(GraphFrame *g, GraphValue *v, PrimStructInfo *s, const char *what,
                       DimCheckVec *later, Span span) {
  DataType t = s->elem;
  int want = dtype_is_float(t) ? TVMS_FLOAT : dtype_is_bool(t) ? TVMS_BOOL : TVMS_INT;
  need_type(g, v, what, want, span);
  void *value = &v->bits;
  if (want == TVMS_FLOAT) {
    double x = tvms_arg_float(value, &v->type, 0);
    *v = (GraphValue){.type = want, .bits.f = dtype_round_float(t, x)};
    return;
  }
  int64_t x = dtype_wrap_int(t, tvms_arg_int(value, &v->type, 0));
  *v = (GraphValue){.type = want, .bits.i = x};
  if (s->value) match_dim(g, (DimCheck){.what = what, .actual = x, .dim = s->value}, later);
}

static void match_tuple(GraphFrame *g, GraphValue *v, TupleStructInfo *s, const char *what,
                        DimCheckVec *later, Span span) {
  if (!s->fields.len && v->type == TVMS_NONE) *v = gvalue_tuple(0, NULL);
  need_type(g, v, what, TVMS_TUPLE, span);
  interp_check_depth("a tuple", span);
  if (v->tuple->n != s->fields.len)
    fault(span, "%s: %s must be a tuple of %d field%s, but has %d", g->name, what, s->fields.len,
          s->fields.len == 1 ? "" : "s", v->tuple->n);
  GraphValue copy = gvalue_tuple(v->tuple->n, v->tuple->at);
  for (int i = 0; i < copy.tuple->n; i++)
    match_value(g, &copy.tuple->at[i], s->fields.at[i], str_format("field %d of %s", i, what),
                later, span);
  *v = copy;
}

void match_value(GraphFrame *g, GraphValue *v, Node *sinfo, const char *what, DimCheckVec *later,
                 Span span) {
  if (!sinfo) return;
  switch (sinfo->kind) {
  case NK_TensorStructInfo:
    match_tensor(g, v, AS(TensorStructInfo, sinfo), what, later, span);
    return;
  case NK_ShapeStructInfo: match_shape(g, v, AS(ShapeStructInfo, sinfo), what, later, span); return;
  case NK_PrimStructInfo: match_prim(g, v, AS(PrimStructInfo, sinfo), what, later, span); return;
  case NK_TupleStructInfo: match_tuple(g, v, AS(TupleStructInfo, sinfo), what, later, span); return;
  case NK_FuncStructInfo: need_type(g, v, what, TVMS_FUNC, span); return;
  default: return;
  }
}

void match_one(GraphFrame *g, GraphValue *v, Node *sinfo, const char *what, Span span) {
  DimCheckVec later = {0};
  match_value(g, v, sinfo, value_phrase(what, false), &later, span);
  match_dims(g, &later, span);
}

/* ---- values that were computed ---- */

static _Noreturn void not_as_declared(GraphFrame *g, const GraphValue *v, Node *sinfo,
                                      const char *what, Span span) {
  fault(span, "%s: '%s' is %s, but its struct info is %s", g->name, what, gvalue_text(v),
        ir_print(sinfo, NULL));
}

static bool differs(GraphFrame *g, Node *dim, int64_t actual, Span span) {
  return gframe_is_bound(g, dim) && gframe_dim(g, dim, span) != actual;
}

static bool tensor_fits(GraphFrame *g, const GraphValue *v, TensorStructInfo *s, Span span) {
  const DLTensor *t = gvalue_tensor(v);
  if (!t || (s->ndim >= 0 && t->ndim != s->ndim)) return false;
  DataType e = dtype_from_dlpack(t->dtype.code, t->dtype.bits, t->dtype.lanes);
  if (!dtype_is_void(s->elem) && !dtype_equal(e, s->elem)) return false;
  NodeVec dims;
  if (!sinfo_tensor_shape(&s->node, &dims)) return true;
  for (int i = 0; i < dims.len; i++)
    if (differs(g, dims.at[i], t->shape[i], span)) return false;
  return true;
}

static bool shape_fits(GraphFrame *g, const GraphValue *v, ShapeStructInfo *s, Span span) {
  if (v->type != TVMS_SHAPE) return false;
  if (s->ndim >= 0 && tvms_shape_ndim(v->bits.p) != s->ndim) return false;
  for (int i = 0; s->known && i < s->values.len; i++)
    if (differs(g, s->values.at[i], tvms_shape_dims(v->bits.p)[i], span)) return false;
  return true;
}

static bool prim_fits(GraphFrame *g, const GraphValue *v, PrimStructInfo *s, Span span) {
  if (dtype_is_float(s->elem)) return v->type == TVMS_FLOAT;
  if (v->type != TVMS_INT && v->type != TVMS_BOOL) return false;
  return !s->value || !differs(g, s->value, v->bits.i, span);
}

static bool fits(GraphFrame *g, const GraphValue *v, Node *sinfo, Span span) {
  switch (sinfo->kind) {
  case NK_TensorStructInfo: return tensor_fits(g, v, AS(TensorStructInfo, sinfo), span);
  case NK_ShapeStructInfo: return shape_fits(g, v, AS(ShapeStructInfo, sinfo), span);
  case NK_PrimStructInfo: return prim_fits(g, v, AS(PrimStructInfo, sinfo), span);
  case NK_TupleStructInfo: {
    NodeVec fields = AS(TupleStructInfo, sinfo)->fields;
    if (v->type != TVMS_TUPLE || v->tuple->n != fields.len) return false;
    for (int i = 0; i < fields.len; i++)
      if (!fits(g, &v->tuple->at[i], fields.at[i], span)) return false;
    return true;
  }
  case NK_FuncStructInfo: return v->type == TVMS_FUNC || v->type == VALUE_CLOSURE;
  default: return true;
  }
}

void match_computed(GraphFrame *g, const GraphValue *v, Node *sinfo, const char *what, Span span) {
  if (sinfo && !fits(g, v, sinfo, span)) not_as_declared(g, v, sinfo, what, span);
}
