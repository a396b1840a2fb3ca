/* buffer_names.c -- attributes and methods of buffers: .data, .shape, .vload, views, parts. */
#include "ir/arith/arith.h"
#include "lang/dialect/tensor_names.h"

static Value dims_value_of(NodeVec dims) { return dims_value(dims, INT32); }

/* ---- methods of buffers ---- */

static Value buffer_scope_method(BuiltinCall *call) {
  return value_str(buffer_scope(call->self.node));
}

/* mask: "r", "w", "rw" or their numbers 1, 2, 3. */
static Node *access_mask(Value v, Span span) {
  if (v.type != &type_str) return to_expr(v, span);
  const char *text = value_text(v);
  return int_imm(INT32, (strchr(text, 'r') ? 1 : 0) | (strchr(text, 'w') ? 2 : 0), span);
}

/* How many elements the axes from `begin` to `end` span in memory. */
static Node *size_of_axes(const Buffer *b, int begin, int end, Span span) {
  if (b->strides.len && begin < end) return expr_mul(b->strides.at[begin], b->shape.at[begin]);
  Node *size = int_imm(INT32, 1, span);
  for (int i = begin; i < end; i++) size = expr_mul(size, b->shape.at[i]);
  return size;
}

static Value buffer_access_ptr(BuiltinCall *call) {
  Buffer *b = AS(Buffer, call->self.node);
  Node *offset = to_expr(call->args[3], call->spans[3]);
  Node *rest = expr_sub(size_of_axes(b, 0, b->shape.len, call->span), offset);
  Node *extent = value_is_none(call->args[4]) ? arith_simplify(arith_new(), rest)
                                              : to_expr(call->args[4], call->spans[4]);
  if (b->elem_offset) offset = expr_binary(NK_Add, b->elem_offset, offset, call->span);
  Node *type = expr_call("type_annotation", b->elem, (NodeVec){0}, call->span);
  return value_node(expr_call(
      "tvm_access_ptr", HANDLE,
      NODES(type, b->data, offset, extent, access_mask(call->args[0], call->span)), call->span));
}

/* Indices of the first element, the last of them a ramp if the dtype has lanes. */
static NodeVec vector_indices(Value indices, DataType t, Span span) {
  NodeVec at = to_exprs(indices, span);
  if (t.lanes != 1 && at.len && at.at[at.len - 1]->dtype.lanes == 1) {
    Node *base = at.at[at.len - 1];
    at.at[at.len - 1] = MAKE(Ramp, span, dtype_with_lanes(base->dtype, t.lanes), .base = base,
                             .stride = int_imm(base->dtype, 1, span), .lanes = t.lanes);
  }
  return at;
}

static Value buffer_vload(BuiltinCall *call) {
  DataType t = AS(Buffer, call->self.node)->elem;
  if (!value_is_none(call->args[1])) t = to_dtype(call->args[1], call->spans[1]);
  Node *load = expr_load(call->self.node, vector_indices(call->args[0], t, call->span), call->span);
  if (!value_is_none(call->args[2]))
    AS(BufferLoad, load)->predicate = to_expr(call->args[2], call->spans[2]);
  return value_node(load);
}

static Value buffer_vstore(BuiltinCall *call) {
  Node *x = to_expr_for(call->args[1], AS(Buffer, call->self.node)->elem, call->spans[1]);
  NodeVec at = vector_indices(call->args[0], x->dtype, call->span);
  Node *store = stmt_store(call->self.node, at, x, call->span);
  return value_node(predicated_store(store, call->args[2], call->spans[2]));
}

/* The place of an element among all of a compact buffer. */
static Node *flat_offset(Buffer *b, Value indices, Span span) {
  NodeVec at = to_exprs(indices, span);
  if (at.len != b->shape.len)
    raise("IndexError", span, "buffer '%s' has %d dimensions, but %d indices are given", b->name,
          b->shape.len, at.len);
  Node *offset = int_imm(INT32, 0, span);
  for (int i = 0; i < at.len; i++)
    offset = b->strides.len ? expr_add(offset, expr_mul(at.at[i], b->strides.at[i]))
                            : expr_add(expr_mul(offset, b->shape.at[i]), at.at[i]);
  if (b->elem_offset) offset = expr_add(b->elem_offset, offset);
  return arith_simplify(arith_new(), offset);
}

static Value buffer_elem_offset_of(BuiltinCall *call) {
  return value_node(flat_offset(AS(Buffer, call->self.node), call->args[0], call->span));
}

/* A list: a buffer with axis separators would have several. */
static Value buffer_offset_of(BuiltinCall *call) {
  ValueVec one = {0};
  vec_push(&one, buffer_elem_offset_of(call));
  return value_list(one);
}

static Value buffer_ptr_to(BuiltinCall *call) {
  Node *load = expr_load(call->self.node, to_exprs(call->args[0], call->span), call->span);
  return value_node(expr_call("address_of", HANDLE, NODES(load), call->span));
}

/* ---- views: other buffers over the same memory ---- */

static Buffer *view_of(Value buffer, Span span) {
  Buffer *view = gc_copy(AS(Buffer, buffer.node), sizeof(Buffer));
  view->name = NULL;
  view->layout = NULL;
  view->node.span = span;
  if (tensor) map_set(&tensor->views, view, view);
  return view;
}

/* A.view(4, 8), A.view((4, 8), layout=...), A.view("uint16"). */
static Value buffer_view(BuiltinCall *call) {
  Buffer *view = view_of(call->self, call->span);
  ValueVec shape = *value_items(call->args[0]);
  bool is_list =
      shape.len == 1 && (shape.at[0].type == &type_tuple || shape.at[0].type == &type_list);
  if (is_list) shape = *value_items(shape.at[0]);
  if (shape.len == 1 && (shape.at[0].type == &type_str || is_dtype(shape.at[0]))) {
    DataType from = view->elem;
    view->elem = to_dtype(shape.at[0], call->span);
    int last = view->shape.len - 1;
    NodeVec dims = {0};
    for each (Node *, d, &view->shape) vec_push(&dims, *d);
    if (last >= 0)
      dims.at[last] =
          expr_floordiv(expr_mul(dims.at[last], int_imm(INT32, dtype_nbytes(from), call->span)),
                        int_imm(INT32, dtype_nbytes(view->elem), call->span));
    view->shape = dims;
  } else if (shape.len) {
    view->shape = to_exprs(value_tuple(shape), call->span);
  }
  view->strides = (NodeVec){0};
  if (value_is_node(call->args[1], NK_Layout)) view->layout = call->args[1].node;
  return value_node(&view->node);
}

static Value buffer_permute(BuiltinCall *call) {
  Buffer *view = view_of(call->self, call->span), *b = AS(Buffer, call->self.node);
  ValueVec axes = *value_items(call->args[0]);
  NodeVec strides = {0};
  Node *stride = int_imm(INT32, 1, call->span);
  for (int i = b->shape.len - 1; i >= 0; i--) {
    vec_push(&strides, stride);
    stride = expr_mul(stride, b->shape.at[i]);
  }
  if (axes.len != b->shape.len)
    raise("ValueError", call->span, "'%s' has %d dimensions, but %d axes are given", b->name,
          b->shape.len, axes.len);
  view->shape = view->strides = (NodeVec){0};
  for each (Value, a, &axes) {
    int64_t axis = value_as_int(*a, "an axis", call->span);
    if (axis < 0 || axis >= b->shape.len)
      raise("IndexError", call->span, "'%s' has no axis %ld", b->name, (long)axis);
    vec_push(&view->shape, b->shape.at[axis]);
    vec_push(&view->strides,
             b->strides.len ? b->strides.at[axis] : strides.at[b->shape.len - 1 - axis]);
  }
  return value_node(&view->node);
}

/* ---- A.rearrange("(a b) c -> a b c", a=4) ---- */

/* The names of one side, with a NULL after each group: one dimension of the buffer. */
static StrVec pattern_side(const char *text, size_t n) {
  StrVec out = {0};
  bool in_group = false;
  for (size_t i = 0; i < n;) {
    if (text[i] == '(' || text[i] == ')') {
      in_group = text[i++] == '(';
      if (!in_group) vec_push(&out, NULL);
      continue;
    }
    size_t length =
        strspn(text + i, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (length) vec_push(&out, str_intern_n(text + i, length));
    if (length && !in_group) vec_push(&out, NULL);
    i += length ? length : 1;
  }
  return out;
}

/* The extents of all names: those that are given, and in each group one that is the rest. */
static void solve_extents(Map *extents, StrVec side, NodeVec shape, Span span) {
  int dim = 0;
  const char *open = NULL;
  Node *product = int_imm(INT32, 1, span);
  for each (const char *, name, &side) {
    if (*name) {
      Node *known = map_get(extents, *name);
      if (known) product = expr_mul(product, known);
      else if (open)
        raise("ValueError", span, "the extents of '%s' and '%s' are not known", open, *name);
      else open = *name;
      continue;
    }
    if (dim == shape.len)
      raise("ValueError", span, "the pattern has more than %d dimensions", shape.len);
    if (open) map_set(extents, open, expr_floordiv(shape.at[dim], product));
    dim++, open = NULL, product = int_imm(INT32, 1, span);
  }
  if (dim != shape.len)
    raise("ValueError", span, "the pattern has %d dimensions, the buffer %d", dim, shape.len);
}

static Value buffer_rearrange(BuiltinCall *call) {
  Buffer *view = view_of(call->self, call->span);
  const char *pattern = value_as_text(call->args[0], "the pattern", call->span);
  const char *arrow = strstr(pattern, "->");
  if (!arrow) raise("ValueError", call->span, "expected a pattern such as \"a b -> b a\"");
  StrVec from = pattern_side(pattern, (size_t)(arrow - pattern)),
         to = pattern_side(arrow + 2, strlen(arrow + 2));
  Map extents = {0}, strides = {0};
  for (int i = 0; i < value_dict_len(call->args[1]); i++) {
    Value key, x;
    value_dict_entry(call->args[1], i, &key, &x);
    map_set(&extents, str_intern(value_text(key)), to_expr(x, call->span));
  }
  solve_extents(&extents, from, view->shape, call->span);
  Node *stride = int_imm(INT32, 1, call->span);
  for (int i = from.len - 1; i >= 0; i--) {
    if (!from.at[i]) continue;
    map_set(&strides, from.at[i], stride);
    stride = expr_mul(stride, map_get(&extents, from.at[i]));
  }
  view->shape = view->strides = (NodeVec){0};
  Node *extent = int_imm(INT32, 1, call->span), *last = NULL;
  for each (const char *, name, &to) {
    if (!*name) { /* a group ends: its last name tells the stride */
      vec_push(&view->shape, extent);
      vec_push(&view->strides, last ? last : int_imm(INT32, 1, call->span));
      extent = int_imm(INT32, 1, call->span), last = NULL;
      continue;
    }
    if (!map_has(&extents, *name))
      raise("ValueError", call->span, "'%s' stands only after the arrow", *name);
    extent = expr_mul(extent, map_get(&extents, *name));
    last = map_get(&strides, *name);
  }
  return value_node(&view->node);
}

static Value buffer_with_dtype(BuiltinCall *call) {
  Buffer *view = view_of(call->self, call->span);
  view->elem = to_dtype(call->args[0], call->span);
  return value_node(&view->node);
}

/* One dimension, or one for the axes up to each separator. */
static Value buffer_flattened(BuiltinCall *call) {
  const Buffer *b = AS(Buffer, call->self.node);
  NodeVec shape = {0};
  IntVec separators = {0};
  int groups = b->axis_separators.len + 1, begin = 0;
  if (!b->strides.len && b->shape.len == groups) return call->self;
  Buffer *view = view_of(call->self, call->span);
  for (int i = 0; i < groups; i++) {
    int end = i < groups - 1 ? b->axis_separators.at[i] : b->shape.len;
    vec_push(&shape, size_of_axes(b, begin, end, call->span));
    if (i) vec_push(&separators, i);
    begin = end;
  }
  view->shape = shape;
  view->strides = (NodeVec){0};
  view->axis_separators = separators;
  return value_node(&view->node);
}

/* ---- parts: A.sub[0:4], A.tile(4, 4)[0, 1], A.chunk((4, 4))[0] ---- */

typedef struct Parts {
  Node *buffer;
  NodeVec sizes; /* of one part, beside the dimensions */
} Parts;

static Value parts_item(Value v, Value index, Span span) {
  Parts *p = v.object;
  Buffer *b = AS(Buffer, p->buffer);
  if (!p->sizes.len) { /* A.sub */
    Value part = value_get_item(value_node(p->buffer), index, span);
    return value_node(to_region(part, span));
  }
  NodeVec at = to_exprs(index, span), region = {0};
  for (int i = 0; i < b->shape.len; i++) {
    bool given = i < at.len;
    Node *size = i < p->sizes.len ? p->sizes.at[i] : b->shape.at[i];
    Node *min = given ? expr_mul(at.at[i], size) : int_imm(size->dtype, 0, span);
    vec_push(&region,
             MAKE(Range, span, VOID_TYPE, .min = min, .extent = given ? size : b->shape.at[i]));
  }
  return value_node(MAKE(BufferRegion, span, VOID_TYPE, .buffer = p->buffer, .region = region));
}
static const ValueType type_parts = {.name = "parts of a buffer", .get_item = parts_item};

static NodeVec sizes_arg(BuiltinCall *call) {
  ValueVec sizes = *value_items(call->args[0]);
  bool is_list =
      sizes.len == 1 && (sizes.at[0].type == &type_tuple || sizes.at[0].type == &type_list);
  return to_exprs(is_list ? sizes.at[0] : call->args[0], call->span);
}

static Value buffer_tile(BuiltinCall *call) {
  return value_of(&type_parts, NEW(Parts, .buffer = call->self.node, .sizes = sizes_arg(call)));
}

static Value buffer_chunk(BuiltinCall *call) {
  NodeVec counts = sizes_arg(call), sizes = {0};
  Buffer *b = AS(Buffer, call->self.node);
  for (int i = 0; i < counts.len && i < b->shape.len; i++)
    vec_push(&sizes, expr_floordiv(b->shape.at[i], counts.at[i]));
  return value_of(&type_parts, NEW(Parts, .buffer = call->self.node, .sizes = sizes));
}

static const Builtin buffer_methods[] = {
    {"scope", "", buffer_scope_method, "the storage scope"},
    {"access_ptr", "access_mask, ptr_type='handle', content_lanes=1, offset=0, extent=None",
     buffer_access_ptr, "a pointer with offset, extent and access mask"},
    {"vload", "begin, dtype=None, predicate=None", buffer_vload, "a vector load"},
    {"vstore", "begin, value, predicate=None", buffer_vstore, "a vector store"},
    {"offset_of", "indices", buffer_offset_of, "the flat offset of an element, in a list"},
    {"elem_offset_of", "indices", buffer_elem_offset_of, "the flat offset of an element"},
    {"ptr_to", "indices", buffer_ptr_to, "a pointer to an element"},
    {"view", "*shape, layout=None", buffer_view, "the same memory in another shape or dtype"},
    {"local", "*shape, layout=None", buffer_view, "the part of a thread, in a shape of its own"},
    {"permute", "*axes", buffer_permute, "the same memory with its axes in another order"},
    {"rearrange", "pattern, **extents", buffer_rearrange, "the same memory by a pattern of axes"},
    {"with_dtype", "dtype", buffer_with_dtype, "the same memory with elements of another dtype"},
    {"get_flattened_buffer", "", buffer_flattened, "the same memory with one dimension"},
    {"tile", "*sizes", buffer_tile, "tiles of these sizes, to be indexed"},
    {"chunk", "*counts", buffer_chunk, "so many parts of each axis, to be indexed"},
};
enum { BUFFER_METHODS = sizeof buffer_methods / sizeof *buffer_methods };

Value buffer_attr(Value v, const char *name) {
  Buffer *b = AS(Buffer, v.node);
  if (str_same(name, "data")) return value_node(b->data);
  if (str_same(name, "shape")) return dims_value_of(b->shape);
  if (str_same(name, "strides")) return dims_value_of(b->strides);
  if (str_same(name, "dtype")) return value_str(dtype_text(b->elem));
  if (str_same(name, "name")) return value_str(b->name ? b->name : "");
  if (str_same(name, "elem_offset"))
    return value_node(b->elem_offset ? b->elem_offset : int_imm(INT32, 0, v.node->span));
  if (str_same(name, "axis_separators")) {
    ValueVec separators = {0};
    for each (int, at, &b->axis_separators) vec_push(&separators, value_int(*at));
    return value_list(separators);
  }
  if (str_same(name, "byte_offset")) {
    Node *offset = b->elem_offset ? b->elem_offset : int_imm(INT32, 0, v.node->span);
    return value_node(
        expr_mul(offset, int_imm(offset->dtype, dtype_nbytes(b->elem), v.node->span)));
  }
  if (str_same(name, "sub")) return value_of(&type_parts, NEW(Parts, .buffer = v.node));
  return builtin_method(buffer_methods, BUFFER_METHODS, v, name);
}

void buffer_attr_names(StrVec *out) {
  static const char *const names[] = {"data", "shape",       "strides",     "dtype",
                                      "name", "elem_offset", "byte_offset", "sub"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) vec_push(out, names[i]);
  builtin_names(buffer_methods, BUFFER_METHODS, out);
}
