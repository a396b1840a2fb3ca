/* gmemory.c -- calls of graph functions that give memory: storage, tensors in it, views.
 *
 * What kill_tensor gives up counts as never written: a read of it is a fault. */
#include "target/interp/interp.h"

static int64_t number(GraphFrame *g, Node *n, const char *what) {
  GraphValue v = gframe_eval(g, n, what);
  if (v.type == TVMS_INT) return v.bits.i;
  if (v.type == TVMS_NONE) return 0;
  fault(n->span, "%s: %s must be a number, but is %s", g->name, what, gvalue_text(&v));
}

static TvmsShape *shape(GraphFrame *g, Node *n) {
  GraphValue v = gframe_eval(g, n, "a shape");
  if (v.type != TVMS_SHAPE)
    fault(n->span, "%s: expected a shape, found %s", g->name, gvalue_text(&v));
  return v.bits.p;
}

static DataType dtype(GraphFrame *g, Node *n) {
  if (!IS(DataTypeImm, n)) fault(n->span, "%s: the dtype of a tensor must be known", g->name);
  return AS(DataTypeImm, n)->value;
}

GraphValue gmemory_new_tensor(GraphFrame *g, RelaxCall *c, const char *what) {
  TvmsShape *s = shape(g, c->args.at[0]);
  return gvalue_new_tensor(tvms_shape_ndim(s), tvms_shape_dims(s), dtype(g, c->args.at[1]), what,
                           c->node.span);
}

GraphValue gmemory_storage(GraphFrame *g, RelaxCall *c, const char *what) {
  TvmsShape *s = shape(g, c->args.at[0]);
  if (tvms_shape_ndim(s) != 1)
    fault(c->node.span, "%s: the size of a storage is one number", g->name);
  return gvalue_new_tensor(1, tvms_shape_dims(s), UINT8, what, c->node.span);
}

/* `offset` bytes into the memory of a tensor. */
static GraphValue part(GraphFrame *g, Node *of, int64_t offset, int ndim, const int64_t *dims,
                       DataType t) {
  GraphValue v = gframe_eval(g, of, "a tensor");
  const DLTensor *whole = gvalue_tensor(&v);
  if (!whole) fault(of->span, "%s: expected a tensor, found %s", g->name, gvalue_text(&v));
  DLTensor dl = {.data = (char *)whole->data + whole->byte_offset,
                 .device = {kDLCPU, 0},
                 .ndim = ndim,
                 .dtype = {(uint8_t)dtype_dlpack_code(t), t.bits, (uint16_t)t.lanes},
                 .shape = (int64_t *)(uintptr_t)dims,
                 .byte_offset = (uint64_t)offset};
  TvmsTensor *out;
  int status = v.type == TVMS_TENSOR ? tvms_tensor_strided(&out, v.bits.p, &dl)
                                     : tvms_tensor_view(&out, &dl);
  if (status) fault_runtime(of->span);
  return gvalue_object(TVMS_TENSOR, out);
}

GraphValue gmemory_tensor(GraphFrame *g, RelaxCall *c, const char *what) {
  (void)what;
  TvmsShape *s = shape(g, c->args.at[2]);
  return part(g, c->args.at[0], number(g, c->args.at[1], "an offset"), tvms_shape_ndim(s),
              tvms_shape_dims(s), dtype(g, c->args.at[3]));
}

GraphValue gmemory_view(GraphFrame *g, RelaxCall *c, const char *what) {
  (void)what;
  NodeVec dims;
  if (!sinfo_tensor_shape(c->sinfo, &dims))
    fault(c->node.span, "%s: the shape of a view must be known", g->name);
  int64_t offset = c->args.len > 3 ? number(g, c->args.at[3], "an offset") : 0;
  DataType elem = AS(TensorStructInfo, c->sinfo)->elem;
  if (dtype_is_void(elem)) { /* that of the operand, which is not known before */
    GraphValue v = gframe_eval(g, c->args.at[0], "a tensor");
    const DLTensor *t = gvalue_tensor(&v);
    if (t) elem = dtype_from_dlpack(t->dtype.code, t->dtype.bits, t->dtype.lanes);
  }
  return part(g, c->args.at[0], offset, dims.len, gframe_dims(g, dims, c->node.span), elem);
}

GraphValue gmemory_kill(GraphFrame *g, RelaxCall *c, const char *what) {
  (void)what;
  GraphValue v = gframe_eval(g, c->args.at[0], "a tensor");
  const DLTensor *t = gvalue_tensor(&v);
  if (t) memory_unwritten(t);
  return gvalue_tuple(0, NULL);
}
