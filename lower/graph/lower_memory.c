/* lower_memory.c -- storage of a graph function in host code: workspace of its frame, and pointers
 * into it. */
#include "lower/graph/graph_impl.h"

/* `offset` bytes behind a pointer. */
static Node *pointer_at(GraphLower *g, Node *base, Node *offset) {
  Host *h = g->host;
  Node *bytes =
      MAKE(Buffer, h->span, VOID_TYPE, .name = AS(Var, base)->name, .elem = UINT8, .data = base,
           .align = 1, .shape = NODES(expr_add(offset, host_int(h, 1))), .offset_factor = 1);
  return expr_call("address_of", HANDLE, NODES(expr_load(bytes, NODES(offset), h->span)), h->span);
}

static NodeVec shape_of(GraphLower *g, Node *operand) {
  HostValue *v = graph_operand(g, operand);
  if (v->kind != HOST_SHAPE)
    error_raisef("LowerError", operand->span, "the shape of a tensor must be known dim by dim");
  return v->dims;
}

static DataType dtype_of(Node *operand) {
  if (!IS(DataTypeImm, operand))
    error_raisef("LowerError", operand->span, "the dtype of a tensor must be known");
  return AS(DataTypeImm, operand)->value;
}

static Node *offset_of(GraphLower *g, Node *operand) {
  HostValue *v = graph_operand(g, operand);
  if (v->kind != HOST_SCALAR)
    error_raisef("LowerError", operand->span, "an offset in memory must be a number");
  return expr_cast(INT64, v->scalar, operand->span);
}

static HostValue *tensor_at(GraphLower *g, HostValue *base, Node *offset, NodeVec dims,
                            DataType elem, const char *name) {
  Host *h = g->host;
  HostValue *v = NEW(HostValue, .kind = HOST_TENSOR, .dims = dims, .elem = elem);
  v->data = pointer_var_new(str_format("%s_data", name), elem, "global", h->span);
  host_let_var(h, v->data, pointer_at(g, base->data, offset));
  return v;
}

/* Memory that was not planned: an object if it leaves the function, else workspace. */
HostValue *graph_alloc_tensor(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  (void)sinfo;
  return graph_new_tensor(g, shape_of(g, c->args.at[0]), dtype_of(c->args.at[1]),
                          map_has(&g->escaping, c), name);
}

HostValue *graph_alloc_storage(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  (void)sinfo;
  return graph_new_tensor(g, shape_of(g, c->args.at[0]), UINT8, false, name);
}

HostValue *graph_place_tensor(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  (void)sinfo;
  HostValue *storage = graph_operand(g, c->args.at[0]);
  if (storage->kind != HOST_TENSOR)
    error_raisef("LowerError", c->node.span, "a tensor must be placed in a storage");
  HostValue *v = tensor_at(g, storage, offset_of(g, c->args.at[1]), shape_of(g, c->args.at[2]),
                           dtype_of(c->args.at[3]), name);
  v->is_placed = true;
  return v;
}

HostValue *graph_view(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  HostValue *of = graph_operand(g, c->args.at[0]);
  NodeVec dims;
  if (of->kind != HOST_TENSOR || !sinfo_tensor_shape(sinfo, &dims))
    error_raisef("LowerError", c->node.span, "a view must be of a tensor and have a known shape");
  bool is_moved = c->args.len > 3 && IS(PrimValue, c->args.at[3]);
  Node *offset = is_moved ? offset_of(g, c->args.at[3]) : int_imm(INT64, 0, c->node.span);
  return tensor_at(g, of, offset, graph_dims(g, dims), AS(TensorStructInfo, sinfo)->elem, name);
}

/* All bits set is NaN in every float type. */
HostValue *graph_kill_tensor(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name) {
  (void)sinfo, (void)name;
  Host *h = g->host;
  HostValue *v = graph_operand(g, c->args.at[0]);
  if (g->poison && v->kind == HOST_TENSOR && v->is_placed) {
    Node *nbytes = int_imm(INT64, dtype_nbytes(v->elem), h->span);
    for each (Node *, d, &v->dims) nbytes = expr_mul(nbytes, *d);
    NodeVec args = NODES(v->data, host_int(h, 255), nbytes);
    if (h->device.is_device) host_check(h, host_call(h, "tvms_device_fill", INT32, args));
    else host_add(h, stmt_evaluate(host_call(h, "memset", HANDLE, args), h->span));
  }
  return NEW(HostValue, .kind = HOST_TUPLE);
}
