/* gvalue.c -- the values of graph functions: making them, keeping them. */
#include "target/interp/interp.h"
#include <inttypes.h>

GraphValue gvalue_none(void) { return (GraphValue){.type = TVMS_NONE}; }

GraphValue gvalue_tuple(int n, const GraphValue *fields) {
  GraphTuple *t = NEW(GraphTuple, .n = n, .at = NEW_ARRAY(GraphValue, n + 1));
  for (int i = 0; i < n; i++) t->at[i] = fields[i];
  return (GraphValue){.type = TVMS_TUPLE, .tuple = t};
}

GraphValue gvalue_object(int type, void *object) {
  interp_own(object);
  return (GraphValue){.type = type, .bits.p = object};
}

GraphValue gvalue_shape(int n, const int64_t *dims, Span span) {
  TvmsShape *s;
  if (tvms_shape_new(&s, n, dims)) fault_runtime(span);
  return gvalue_object(TVMS_SHAPE, s);
}

static DLDataType dl_type(DataType t) {
  return (DLDataType){(uint8_t)dtype_dlpack_code(t), t.bits, (uint16_t)t.lanes};
}

GraphValue gvalue_new_tensor(int ndim, const int64_t *shape, DataType t, const char *name,
                             Span span) {
  TvmsTensor *tensor;
  if (tvms_tensor_new(&tensor, ndim, shape, dl_type(t))) fault_runtime(span);
  GraphValue v = gvalue_object(TVMS_TENSOR, tensor);
  size_t nbytes = tvms_tensor_nbytes(tensor);
  if (nbytes) memset(tvms_tensor_data(tensor), 0, nbytes);
  memory_note_tensor(tvms_tensor_dl(tensor), false, name);
  return v;
}

const DLTensor *gvalue_tensor(const GraphValue *v) {
  return v->type == TVMS_TENSOR || v->type == TVMS_DLTENSOR ? v->bits.p : NULL;
}

/* ---- constants: one view of the bytes for all runs ---- */

static TvmsTensor *constant_tensor(const ConstData *d, Span span) {
  TvmsTensor *t;
  DLTensor dl = {.data = (void *)(uintptr_t)d->bytes,
                 .device = {kDLCPU, 0},
                 .ndim = d->ndim,
                 .dtype = dl_type(d->elem),
                 .shape = (int64_t *)(uintptr_t)d->shape};
  int align = scalar_nbytes(d->elem);
  if ((uintptr_t)d->bytes % (uintptr_t)align == 0) {
    if (tvms_tensor_view(&t, &dl)) fault_runtime(span);
    return t;
  }
  if (tvms_tensor_new(&t, d->ndim, d->shape, dl.dtype)) fault_runtime(span);
  if (tvms_tensor_set_bytes(t, d->bytes, d->nbytes)) fault_runtime(span);
  return t;
}

GraphValue gvalue_constant(Module *m, Constant *c) {
  TvmsTensor *t = map_get(&m->constants, c);
  if (!t) map_set(&m->constants, c, t = constant_tensor(c->data, c->node.span));
  memory_note_tensor(tvms_tensor_dl(t), true, "a constant");
  Memory *memory = memory_find(tvms_tensor_data(t));
  if (memory && memory->lo == tvms_tensor_data(t)) memory->is_constant = true;
  return (GraphValue){.type = TVMS_TENSOR, .bits.p = t};
}

/* ---- keeping ---- */

/* What outlives a release: references of its own to the objects, and marks on their memory. */
typedef struct Keep {
  Mark mark;
  VEC(void *) objects;
  VEC(GraphFrame *) frames;
} Keep;

static void keep(Keep *k, const GraphValue *v);

static void keep_memory(Keep *k, const DLTensor *t) {
  Memory *m = memory_find((char *)t->data + t->byte_offset);
  for (int i = interp->made.len - 1; m && i >= k->mark.memory; i--)
    if (interp->made.at[i] == m) m->keep = true;
}

static void keep_frame(Keep *k, GraphFrame *g) {
  if (!g || g->is_kept) return;
  g->is_kept = true;
  vec_push(&k->frames, g);
  for (int i = 0; i < g->value_count; i++)
    if (g->defined[i]) keep(k, &g->values[i]);
}

static void keep_closure(Keep *k, const Closure *c) {
  keep_frame(k, c->captured);
  for (int i = 0; c->last && i < c->last->n; i++) keep(k, &c->last->at[i]);
}

static void keep(Keep *k, const GraphValue *v) {
  interp_check_depth("a value", (Span){0});
  if (v->type == TVMS_TUPLE)
    for (int i = 0; i < v->tuple->n; i++) keep(k, &v->tuple->at[i]);
  else if (v->type == VALUE_CLOSURE) keep_closure(k, v->closure);
  else if (v->type >= TVMS_TENSOR) vec_push(&k->objects, tvms_retain(v->bits.p));
  if (gvalue_tensor(v)) keep_memory(k, gvalue_tensor(v));
}

void gvalue_release_but(const GraphValue *v, Mark mark) {
  Keep k = {.mark = mark};
  keep(&k, v);
  interp_release(mark);
  for each (void *, object, &k.objects) interp_own(*object);
  for each (GraphFrame *, g, &k.frames) (*g)->is_kept = false;
}

/* ---- for messages ---- */

static const char *tensor_text(const DLTensor *t) {
  Str s = {0};
  char dtype[32];
  tvms_dtype_text(t->dtype, dtype, sizeof dtype);
  str_printf(&s, "a %s tensor of shape (", dtype);
  for (int i = 0; i < t->ndim; i++) str_printf(&s, "%s%" PRId64, i ? ", " : "", t->shape[i]);
  str_add(&s, t->ndim == 1 ? ",)" : ")");
  return str_text(&s);
}

static const char *shape_value_text(const TvmsShape *shape) {
  Str s = {0};
  str_add(&s, "the shape (");
  for (int i = 0; i < tvms_shape_ndim(shape); i++)
    str_printf(&s, "%s%" PRId64, i ? ", " : "", tvms_shape_dims(shape)[i]);
  str_add(&s, ")");
  return str_text(&s);
}

const char *gvalue_text(const GraphValue *v) {
  switch (v->type) {
  case TVMS_NONE: return "None";
  case TVMS_INT: return "an int";
  case TVMS_FLOAT: return "a float";
  case TVMS_BOOL: return "a bool";
  case TVMS_STR: return "a string";
  case TVMS_PTR: return "a pointer";
  case TVMS_DTYPE: return "a dtype";
  case TVMS_DLTENSOR:
  case TVMS_TENSOR: return tensor_text(gvalue_tensor(v));
  case TVMS_SHAPE: return shape_value_text(v->bits.p);
  case TVMS_TUPLE:
    return str_format("a tuple of %d field%s", v->tuple->n, v->tuple->n == 1 ? "" : "s");
  case TVMS_MODULE: return "a module";
  default: return "a function";
  }
}
