/* tensor_names.c -- names under T. that act on blocks, loops, buffers and scopes. */
#include "lang/dialect/tensor_names.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

TensorBuilder *need_tensor(const char *what, Span span) {
  if (!tensor) raise_code(E0506, span, "T.%s stands only inside a prim_func", what);
  return tensor;
}

BlockBuilder *need_block(const char *what, Span span) {
  BlockBuilder *b = need_tensor(what, span)->block;
  if (!b->outer) raise_code(E0506, span, "T.%s stands only inside a block", what);
  return b;
}

/* ---- loops ---- */

static Node *int_expr(Value v, const char *what, Span span) {
  Node *e = to_expr(v, span);
  if (!dtype_is_int(e->dtype))
    raise_code(E0319, span, "%s must be an integer, found %s", what, dtype_text(e->dtype));
  return e;
}

static Node *annotations_dict(Value v, Span span) {
  return value_is_none(v) ? NULL : to_attr(v, span);
}

/* start, stop=None: the second number is the end, not the extent. */
static Frame *range_frame(BuiltinCall *call, LoopKind kind) {
  Node *first = int_expr(ARG(0), "the start of a loop", SPAN(0));
  Node *min = int_imm(first->dtype, 0, call->span), *extent = first;
  if (!value_is_none(ARG(1))) {
    Node *stop = int_expr(ARG(1), "the end of a loop", SPAN(1));
    Range *r = AS(Range, range_between(first, stop, call->span));
    min = r->min;
    extent = r->extent;
  }
  return NEW(Frame, .kind = FRAME_FOR, .mins = NODES(min), .extents = NODES(extent),
             .loop_kind = kind);
}

/* The variable's dtype, if it is given. */
static void retype_loop(Frame *f, Value dtype, Span span) {
  if (value_is_none(dtype)) return;
  DataType t = to_dtype(dtype, span);
  for each (Node *, m, &f->mins) *m = expr_cast(t, *m, span);
  for each (Node *, e, &f->extents) *e = expr_cast(t, *e, span);
}

static Value loop_of_kind(BuiltinCall *call, LoopKind kind) {
  Frame *f = range_frame(call, kind);
  f->annotations = annotations_dict(ARG(3), SPAN(3));
  if (!value_is_none(ARG(4)))
    f->annotations =
        dict_with(f->annotations ? f->annotations : dict_new(), "unroll", to_attr(ARG(4), SPAN(4)));
  retype_loop(f, ARG(5), SPAN(5));
  if (value_is_none(ARG(2))) return value_frame(f);
  f->step =
      expr_cast(f->mins.at[0]->dtype, int_expr(ARG(2), "the step of a loop", SPAN(2)), SPAN(2));
  int64_t step;
  if (expr_is_const_int(f->step, &step) && step < 1)
    raise("ValueError", SPAN(2), "the step of a loop must be positive, found %lld",
          (long long)step);
  if (expr_is_one(f->step)) f->step = NULL;
  return value_frame(f);
}
Value t_serial(BuiltinCall *call) { return loop_of_kind(call, LOOP_SERIAL); }
Value t_parallel(BuiltinCall *call) { return loop_of_kind(call, LOOP_PARALLEL); }
Value t_vectorized(BuiltinCall *call) { return loop_of_kind(call, LOOP_VECTORIZED); }
Value t_unroll(BuiltinCall *call) { return loop_of_kind(call, LOOP_UNROLLED); }

/* start, stop=None, thread=None: with two positional arguments the second may be the tag. */
Value t_thread_binding(BuiltinCall *call) {
  if (ARG(1).type == &type_str && value_is_none(ARG(2))) ARG(2) = ARG(1), ARG(1) = value_none();
  if (value_is_none(ARG(2)))
    raise("TypeError", call->span, "T.thread_binding needs a thread such as \"threadIdx.x\"");
  Frame *f = range_frame(call, LOOP_THREAD);
  f->thread_tag = value_as_text(ARG(2), "the thread of T.thread_binding", SPAN(2));
  f->annotations = annotations_dict(ARG(3), SPAN(3));
  return value_frame(f);
}

Value t_grid(BuiltinCall *call) {
  Frame *f = NEW(Frame, .kind = FRAME_FOR, .is_grid = true);
  for each (Value, v, value_items(ARG(0))) {
    Node *min, *extent;
    if (v->type == &type_tuple && value_items(*v)->len == 2) { /* (start, extent) */
      min = int_expr(value_items(*v)->at[0], "the start of a loop", call->span);
      extent = int_expr(value_items(*v)->at[1], "the extent of a loop", call->span);
    } else {
      extent = int_expr(*v, "the extent of a loop", call->span);
      min = int_imm(extent->dtype, 0, call->span);
    }
    vec_push(&f->mins, min);
    vec_push(&f->extents, extent);
  }
  retype_loop(f, ARG(1), SPAN(1));
  if (!f->extents.len) raise("TypeError", call->span, "T.grid needs an extent for each loop");
  return value_frame(f);
}

/* ---- blocks ---- */

Value t_block(BuiltinCall *call) {
  const char *suffix = need_tensor("block", call->span)->block_suffix;
  const char *name = value_as_text(ARG(0), "the name of a block", SPAN(0));
  if (suffix && *name) name = str_format("%s%s", name, suffix);
  return value_frame(NEW(Frame, .kind = FRAME_BLOCK, .name = str_intern(name),
                         .no_realize = value_truth(ARG(1), SPAN(1))));
}

Value t_init(BuiltinCall *call) {
  need_block("init", call->span);
  return value_frame(NEW(Frame, .kind = FRAME_INIT));
}

Value t_where(BuiltinCall *call) {
  BlockBuilder *b = need_block("where", call->span);
  if (b->predicate) raise_code(E0508, call->span, "the block has a T.where already");
  b->predicate = to_expr(ARG(0), SPAN(0));
  return value_none();
}

/* An access region: slices as they stand, single indices as ranges of one element. */
Node *to_region(Value v, Span span) {
  if (value_is_node(v, NK_BufferRegion)) return v.node;
  if (value_is_node(v, NK_BufferLoad)) {
    BufferLoad *load = AS(BufferLoad, v.node);
    NodeVec region = {0};
    for each (Node *, i, &load->indices) {
      Node *min = *i;
      int lanes = 1;
      if (IS(Ramp, min)) lanes = AS(Ramp, min)->lanes, min = AS(Ramp, min)->base;
      vec_push(&region, MAKE(Range, span, VOID_TYPE, .min = min,
                             .extent = int_imm(min->dtype, lanes, span)));
    }
    return MAKE(BufferRegion, span, VOID_TYPE, .buffer = load->buffer, .region = region);
  }
  if (value_is_node(v, NK_Buffer))
    raise("TypeError", span, "a whole buffer must be sliced here: %s[...]",
          AS(Buffer, v.node)->name);
  if (v.type == &type_poison) raise(ERROR_POISONED, span, "an earlier error");
  raise("TypeError", span, "expected a region such as A[i, 0:8], found %s", value_type_name(v));
}

static NodeVec to_regions(Value rest, Span span) {
  ValueVec items = *value_items(rest);
  if (items.len == 1 && (items.at[0].type == &type_list || items.at[0].type == &type_tuple))
    items = *value_items(items.at[0]);
  NodeVec out = {0};
  for each (Value, v, &items) vec_push(&out, to_region(*v, span));
  return out;
}

Value t_reads(BuiltinCall *call) {
  BlockBuilder *b = need_block("reads", call->span);
  if (b->has_reads) raise_code(E0508, call->span, "the block has a T.reads already");
  b->reads = to_regions(ARG(0), call->span);
  b->has_reads = true;
  return value_none();
}

Value t_writes(BuiltinCall *call) {
  BlockBuilder *b = need_block("writes", call->span);
  if (b->has_writes) raise_code(E0508, call->span, "the block has a T.writes already");
  b->writes = to_regions(ARG(0), call->span);
  b->has_writes = true;
  return value_none();
}

/* What two annotations say together; they may not contradict each other. */
static Node *merged(Node *annotations, Node *more, Span span) {
  for (int i = 0; i < AS(Dict, more)->keys.len; i++) {
    const char *key = AS(Dict, more)->keys.at[i];
    Node *x = AS(Dict, more)->values.at[i], *old = dict_get(annotations, key);
    bool both = old && IS(Dict, old) && IS(Dict, x);
    if (old && !both && !node_equal(old, x, false, NULL))
      raise("ValueError", span, "the block has another value for \"%s\" already", key);
    annotations = dict_with(annotations, key, both ? merged(old, x, span) : x);
  }
  return annotations;
}

Value t_block_attr(BuiltinCall *call) {
  BlockBuilder *b = need_block("block_attr", call->span);
  Node *more = to_attr(ARG(0), SPAN(0));
  if (!IS(Dict, more))
    raise("TypeError", SPAN(0), "T.block_attr takes a dict, found %s", value_type_name(ARG(0)));
  b->annotations = merged(b->annotations ? b->annotations : dict_new(), more, call->span);
  return value_none();
}

/* ---- axes ---- */

static DataType wider_int(DataType a, DataType b) { return a.bits >= b.bits ? a : b; }

static Value add_axis(BlockBuilder *b, IterKind kind, Node *min, Node *extent, Node *binding,
                      Span span) {
  DataType t = wider_int(wider_int(min->dtype, extent->dtype), INT32);
  min = expr_cast(t, min, span);
  extent = expr_cast(t, extent, span);
  Node *var = MAKE(Var, span, t, .elem = VOID_TYPE);
  Node *dom = MAKE(Range, span, VOID_TYPE, .min = min, .extent = extent);
  vec_push(&b->iter_vars,
           MAKE(IterVar, span, VOID_TYPE, .dom = dom, .var = var, .iter_kind = kind));
  if (binding) vec_push(&b->iter_values, binding);
  return value_node(var);
}

/* dom: an extent, (begin, end), or a Range. */
static Value axis_of_kind(BuiltinCall *call, IterKind kind) {
  BlockBuilder *b = need_block("axis", call->span);
  Node *min, *extent;
  if (value_is_node(ARG(0), NK_Range)) {
    min = AS(Range, ARG(0).node)->min;
    extent = AS(Range, ARG(0).node)->extent;
  } else if (ARG(0).type == &type_tuple && value_items(ARG(0))->len == 2) {
    Node *begin = int_expr(value_items(ARG(0))->at[0], "the start of an axis", SPAN(0));
    Node *end = int_expr(value_items(ARG(0))->at[1], "the end of an axis", SPAN(0));
    Range *r = AS(Range, range_between(begin, end, SPAN(0)));
    min = r->min;
    extent = r->extent;
  } else {
    extent = int_expr(ARG(0), "the extent of an axis", SPAN(0));
    min = int_imm(extent->dtype, 0, SPAN(0));
  }
  Node *binding =
      value_is_none(ARG(1)) ? NULL : int_expr(ARG(1), "the binding of an axis", SPAN(1));
  if (!binding && !b->no_realize)
    raise_code(E0512, call->span, "the axis needs a binding: T.axis.spatial(extent, value)");
  return add_axis(b, kind, min, extent, binding, call->span);
}
Value t_axis_spatial(BuiltinCall *call) { return axis_of_kind(call, ITER_SPATIAL); }
Value t_axis_reduce(BuiltinCall *call) { return axis_of_kind(call, ITER_REDUCE); }
Value t_axis_scan(BuiltinCall *call) { return axis_of_kind(call, ITER_SCAN); }
Value t_axis_opaque(BuiltinCall *call) { return axis_of_kind(call, ITER_OPAQUE); }

Value t_axis_remap(BuiltinCall *call) {
  BlockBuilder *b = need_block("axis.remap", call->span);
  const char *kinds = value_as_text(ARG(0), "the kinds of T.axis.remap", SPAN(0));
  ValueVec bindings = value_to_vec(ARG(1), SPAN(1)), vars = {0};
  if ((int)strlen(kinds) != bindings.len)
    raise_code(E0512, call->span, "T.axis.remap has %d kinds in \"%s\" for %d loop variables",
               (int)strlen(kinds), kinds, bindings.len);
  for (int i = 0; i < bindings.len; i++) {
    if (kinds[i] != 'S' && kinds[i] != 'R')
      raise_code(E0512, SPAN(0), "T.axis.remap knows the kinds S and R, found '%c'", kinds[i]);
    Node *var = to_expr(bindings.at[i], SPAN(1)), *loop = map_get(&tensor->loops, var);
    if (!loop)
      raise("TypeError", SPAN(1),
            "T.axis.remap takes loop variables, but '%s' is none; use T.axis.%s(extent, value)",
            ir_print(var, NULL), kinds[i] == 'S' ? "spatial" : "reduce");
    vec_push(&vars, add_axis(b, kinds[i] == 'S' ? ITER_SPATIAL : ITER_REDUCE, AS(For, loop)->min,
                             AS(For, loop)->extent, var, call->span));
  }
  return vars.len == 1 ? vars.at[0] : value_list(vars);
}

/* ---- buffers ---- */

static DataType shape_dtype(NodeVec shape) {
  DataType t = INT32;
  for each (Node *, d, &shape) t = wider_int(t, (*d)->dtype);
  return t;
}

/* ("s0", "s0"): a fresh variable for each name. */
static Node *named_stride(NodeVec *named, const char *name, DataType t, Span span) {
  for each (Node *, s, named)
    if (str_same(AS(Var, *s)->name, name)) return *s;
  vec_push(named, var_new(name, t, span));
  return vec_last(named);
}

/* NULL: by shape and strides. */
static Node *layout_arg(Value v, Span span) {
  bool plain = value_is_none(v) || (v.type == &type_str && str_same(value_text(v), "default"));
  if (!plain && !value_is_node(v, NK_Layout))
    raise("TypeError", span, "expected a layout such as T.TileLayout(T.S[8 : 1]), found %s",
          value_type_name(v));
  return plain ? NULL : v.node;
}

/* A buffer from arguments in the common order: shape, dtype, data, strides, elem_offset, scope,
 * align, offset_factor, buffer_type, axis_separators, layout, allocated_addr, byte_offset; args[at]
 * is the shape. The name comes later. */
Node *buffer_from_args(BuiltinCall *call, int at) {
  NodeVec shape = {0};
  if (!value_is_none(ARG(at))) shape = to_dims(ARG(at), SPAN(at));
  for each (Node *, d, &shape)
    if (!dtype_is_int((*d)->dtype))
      raise("TypeError", SPAN(at), "a dimension must be an integer, found %s",
            dtype_text((*d)->dtype));
  DataType t = to_dtype(ARG(at + 1), SPAN(at + 1));
  const char *scope = str_intern(value_as_text(ARG(at + 5), "scope", SPAN(at + 5)));
  Node *data = value_is_none(ARG(at + 2))
                   ? MAKE(Var, call->span, HANDLE, .elem = t, .scope = *scope ? scope : "global")
                   : to_expr(ARG(at + 2), SPAN(at + 2));
  int64_t factor =
      value_is_none(ARG(at + 7)) ? 0 : value_as_int(ARG(at + 7), "offset_factor", SPAN(at + 7));
  int64_t align = value_is_none(ARG(at + 6)) ? 0 : value_as_int(ARG(at + 6), "align", SPAN(at + 6));
  NodeVec strides = {0}, named_strides = {0};
  ValueVec given_strides = items_or_one(ARG(at + 3)), given_separators = items_or_one(ARG(at + 9));
  if (!value_is_none(ARG(at + 3)))
    for each (Value, v, &given_strides) {
      bool named = v->type == &type_str;
      vec_push(&strides, named ? named_stride(&named_strides, value_text(*v), shape_dtype(shape),
                                              SPAN(at + 3))
                               : to_expr(*v, SPAN(at + 3)));
    }
  Node *offset = value_is_none(ARG(at + 4)) ? NULL : to_expr(ARG(at + 4), SPAN(at + 4));
  if (!offset && factor) offset = MAKE(Var, call->span, shape_dtype(shape), .elem = VOID_TYPE);
  if (expr_is_zero(offset)) offset = NULL;
  if (!value_is_none(ARG(at + 12))) { /* byte_offset */
    Node *bytes = to_expr(ARG(at + 12), SPAN(at + 12));
    offset = expr_floordiv(bytes, int_imm(INT32, dtype_nbytes(t), call->span));
  }
  IntVec separators = {0};
  if (!value_is_none(ARG(at + 9)))
    for each (Value, v, &given_separators) {
      int64_t i = value_as_int(*v, "axis_separators", SPAN(at + 9));
      if (i < (separators.len ? vec_last(&separators) : 0) || i > shape.len)
        raise("ValueError", SPAN(at + 9), "axis_separators divide %d axes in order, found %lld",
              shape.len, (long long)i);
      vec_push(&separators, (int)i);
    }
  return MAKE(
      Buffer, call->span, VOID_TYPE, .elem = t, .shape = shape, .strides = strides,
      .elem_offset = offset, .data = data, .align = align > 0 ? (int)align : 64,
      .offset_factor = factor ? (int)factor : 1,
      .auto_broadcast = str_same(value_as_text(ARG(at + 8), "buffer_type", SPAN(at + 8)), "auto"),
      .axis_separators = separators, .layout = layout_arg(ARG(at + 10), SPAN(at + 10)),
      .allocated_addr =
          value_is_none(ARG(at + 11)) ? (NodeVec){0} : to_exprs(ARG(at + 11), SPAN(at + 11)));
}

static Value declared_buffer(Node *buffer) {
  Node *wrapper = MAKE(DeclBuffer, buffer->span, VOID_TYPE, .buffer = buffer);
  return value_frame(
      NEW(Frame, .kind = FRAME_WRAP, .wrapper = wrapper, .bound = value_node(buffer)));
}

/* In a body, without `data`, it is memory that nothing in the function allocates. */
Value t_buffer(BuiltinCall *call) {
  Node *buffer = buffer_from_args(call, 0);
  if (!tensor || !tensor->in_body || !value_is_none(ARG(2))) return value_node(buffer);
  return declared_buffer(buffer);
}

/* The parameter, or a region inside a block, as a buffer. */
Value t_match_buffer(BuiltinCall *call) {
  TensorBuilder *t = need_tensor("match_buffer", call->span);
  if (value_is_node(ARG(0), NK_Var)) {
    if (value_is_none(ARG(1)))
      raise("TypeError", call->span, "T.match_buffer needs the shape of the buffer");
    for (int i = 0; i < t->params.len; i++) {
      if (t->params.at[i] != ARG(0).node) continue;
      if (t->buffers.at[i])
        raise("SyntaxError", call->span, "parameter '%s' is matched already",
              AS(Var, ARG(0).node)->name);
      return value_node(t->buffers.at[i] = buffer_from_args(call, 1));
    }
    raise("TypeError", SPAN(0), "T.match_buffer takes a parameter of the function, found '%s'",
          AS(Var, ARG(0).node)->name);
  }
  Node *region = to_region(ARG(0), SPAN(0));
  BlockBuilder *b = need_block("match_buffer of a region", call->span);
  Buffer *source = AS(Buffer, AS(BufferRegion, region)->buffer);
  if (value_is_none(ARG(1))) {
    ValueVec dims = {0};
    for each (Node *, r, &AS(BufferRegion, region)->region)
      vec_push(&dims, value_node(AS(Range, *r)->extent));
    ARG(1) = value_tuple(dims);
    ARG(2) = value_dtype(source->elem);
  }
  Node *buffer = buffer_from_args(call, 1);
  vec_push(&b->matches,
           MAKE(MatchBufferRegion, call->span, VOID_TYPE, .source = region, .buffer = buffer));
  return value_node(buffer);
}

Value t_sblock_alloc_buffer(BuiltinCall *call) {
  TensorBuilder *t = need_tensor(call->builtin->name, call->span);
  Node *buffer = buffer_from_args(call, 0);
  vec_push(&t->block->allocs, buffer);
  return value_node(buffer);
}

Value t_alloc_buffer(BuiltinCall *call) {
  bool here = need_tensor("alloc_buffer", call->span)->allocates_here;
  return here ? t_alloc_here(call) : t_sblock_alloc_buffer(call);
}

Value t_decl_buffer(BuiltinCall *call) {
  need_tensor("decl_buffer", call->span);
  if (value_is_none(ARG(2))) return t_alloc_here(call); /* without `data` it allocates too */
  return declared_buffer(buffer_from_args(call, 0));
}

Value t_allocate(BuiltinCall *call) {
  need_tensor("allocate", call->span);
  DataType t = to_dtype(ARG(1), SPAN(1));
  Node *var = MAKE(Var, call->span, HANDLE, .elem = t,
                   .scope = str_intern(value_as_text(ARG(2), "scope", SPAN(2))));
  Node *wrapper =
      MAKE(Allocate, call->span, VOID_TYPE, .extents = to_exprs(ARG(0), SPAN(0)), .elem = t,
           .var = var, .cond = value_is_none(ARG(3)) ? NULL : to_expr(ARG(3), SPAN(3)),
           .annotations = annotations_dict(ARG(4), SPAN(4)));
  return value_frame(NEW(Frame, .kind = FRAME_WRAP, .wrapper = wrapper, .bound = value_node(var)));
}

Value t_allocate_const(BuiltinCall *call) {
  need_tensor("allocate_const", call->span);
  DataType t = to_dtype(ARG(1), SPAN(1));
  Node *data = constant_from_list(ARG(0), t, call->span), *wrapper;
  Node *var = MAKE(Var, call->span, HANDLE, .elem = t, .scope = "global");
  wrapper = MAKE(AllocateConst, call->span, VOID_TYPE, .data = AS(Constant, data)->data, .var = var,
                 .annotations = annotations_dict(ARG(3), SPAN(3)));
  return value_frame(NEW(Frame, .kind = FRAME_WRAP, .wrapper = wrapper, .bound = value_node(var)));
}

Node *mask_of(Value predicate, DataType accessed, Span span) {
  Node *mask = to_expr(predicate, span);
  if (!dtype_is_bool(mask->dtype) || mask->dtype.lanes != accessed.lanes)
    raise("TypeError", span, "a predicate is a bool for each of the lanes of %s, found %s",
          dtype_text(accessed), dtype_text(mask->dtype));
  return mask;
}

/* The store, where the predicate holds. */
Node *predicated_store(Node *store, Value predicate, Span span) {
  BufferStore *s = AS(BufferStore, store);
  if (!value_is_none(predicate)) s->predicate = mask_of(predicate, s->value->dtype, span);
  return store;
}

Value t_buffer_store(BuiltinCall *call) {
  if (!value_is_node(ARG(0), NK_Buffer))
    raise("TypeError", SPAN(0), "expected a buffer, found %s", value_type_name(ARG(0)));
  Node *value = to_expr_for(ARG(1), AS(Buffer, ARG(0).node)->elem, SPAN(1));
  Node *store = stmt_store(ARG(0).node, to_exprs(ARG(2), SPAN(2)), value, call->span);
  return value_node(predicated_store(store, ARG(3), SPAN(3)));
}

/* T.realize(A[0:16], "shared"): an attribute of the pointer names the scope. */
Value t_realize(BuiltinCall *call) {
  need_tensor("realize", call->span);
  BufferRegion *region = AS(BufferRegion, to_region(ARG(0), SPAN(0)));
  const char *scope = value_as_text(ARG(1), "the scope", SPAN(1));
  Node *cond = to_expr(ARG(2), SPAN(2)), *named = NULL;
  if (*scope)
    named = MAKE(AttrStmt, call->span, VOID_TYPE, .subject = AS(Buffer, region->buffer)->data,
                 .key = str_intern("realize_scope"), .value = string_imm(scope, SPAN(1)));
  Node *wrapper =
      MAKE(BufferRealize, call->span, VOID_TYPE, .bounds = region->region, .body = named,
           .buffer = region->buffer, .cond = expr_is_one(cond) ? NULL : cond);
  return value_frame(NEW(Frame, .kind = FRAME_WRAP, .wrapper = wrapper));
}

static Node *bound_range(Value v, Span span) {
  if (value_is_node(v, NK_Range)) return v.node;
  ValueVec ends = value_to_vec(v, span);
  if (ends.len != 2) raise("TypeError", span, "expected a range (begin, end)");
  return range_between(to_expr(ends.at[0], span), to_expr(ends.at[1], span), span);
}

Value t_prefetch(BuiltinCall *call) {
  Node *region = NULL;
  if (value_is_none(ARG(1))) region = to_region(ARG(0), SPAN(0));
  else {
    if (!value_is_node(ARG(0), NK_Buffer))
      raise("TypeError", SPAN(0), "expected a buffer, found %s", value_type_name(ARG(0)));
    ValueVec bounds = value_to_vec(ARG(1), SPAN(1));
    NodeVec ranges = {0};
    for each (Value, v, &bounds) vec_push(&ranges, bound_range(*v, SPAN(1)));
    region = MAKE(BufferRegion, call->span, VOID_TYPE, .buffer = ARG(0).node, .region = ranges);
  }
  return value_node(expr_call("prefetch", VOID_TYPE, NODES(region), call->span));
}

/* ---- scopes and effects ---- */

Value t_evaluate(BuiltinCall *call) {
  return value_node(stmt_evaluate(to_expr(ARG(0), SPAN(0)), call->span));
}

static void note_launch(TensorBuilder *t, Node *iter) {
  Node *var = AS(IterVar, iter)->var;
  t->relaunches |= map_has(&t->launched, var);
  map_set(&t->launched, var, iter);
}

/* The iteration variable of a launch has no domain of its own: its extent is the launch's. */
static Node *without_full_dom(Node *iter, Node *extent) {
  Node *dom = AS(IterVar, iter)->dom;
  if (!dom || !expr_is_zero(AS(Range, dom)->min) ||
      !node_equal(AS(Range, dom)->extent, extent, false, NULL))
    return iter;
  IterVar *copy = gc_copy(iter, sizeof *copy);
  copy->dom = NULL;
  return &copy->node;
}

Value t_attr(BuiltinCall *call) {
  TensorBuilder *t = need_tensor("attr", call->span);
  if (ARG(0).type == &type_dict) return attr_of_dict(ARG(0), SPAN(0));
  bool part = value_is_node(ARG(0), NK_Buffer) || value_is_node(ARG(0), NK_IterVar) ||
              (ARG(0).type == &type_node && !node_is_expr(ARG(0).node));
  bool several = ARG(0).type == &type_list || ARG(0).type == &type_tuple; /* [view, buffer] */
  Node *subject = part      ? ARG(0).node
                  : several ? to_attr(ARG(0), SPAN(0))
                            : to_expr(ARG(0), SPAN(0));
  Node *x = ARG(2).type == &type_node ? ARG(2).node : to_attr(ARG(2), SPAN(2));
  const char *key = str_intern(value_as_text(ARG(1), "the key of T.attr", SPAN(1)));
  if (str_same(key, "thread_extent") && IS(IterVar, subject)) {
    note_launch(t, subject);
    subject = without_full_dom(subject, x);
  }
  Node *wrapper = MAKE(AttrStmt, call->span, VOID_TYPE, .subject = subject, .key = key, .value = x);
  return value_frame(NEW(Frame, .kind = FRAME_WRAP, .wrapper = wrapper));
}

/* message: text, or a list of its parts. */
void set_assert_message(Node *assert, Value message, Value kind, Span span) {
  AssertStmt *a = AS(AssertStmt, assert);
  if (message.type == &type_list || message.type == &type_tuple) {
    Str text = {0};
    for each (Value, part, value_items(message)) str_add(&text, value_to_str(*part));
    message = value_str(str_text(&text));
  }
  a->message = string_imm(value_as_text(message, "the message of an assertion", span), span);
  if (value_is_none(kind)) return;
  const char *name = value_as_text(kind, "the kind of the error", span);
  a->error_kind = str_same(name, "RuntimeError") ? NULL : str_intern(name);
}

Value t_assert(BuiltinCall *call) {
  Node *wrapper = MAKE(AssertStmt, call->span, VOID_TYPE, .cond = to_expr(ARG(0), SPAN(0)));
  set_assert_message(wrapper, ARG(1), ARG(2), SPAN(1));
  return value_frame(NEW(Frame, .kind = FRAME_WRAP, .wrapper = wrapper));
}

Value t_let_stmt(BuiltinCall *call) {
  Node *x = to_expr(ARG(0), SPAN(0));
  Node *var = value_is_none(ARG(2)) ? MAKE(Var, call->span, x->dtype, .elem = VOID_TYPE)
                                    : to_expr(ARG(2), SPAN(2));
  Node *wrapper = MAKE(LetStmt, call->span, VOID_TYPE, .value = x, .var = var);
  return value_frame(NEW(Frame, .kind = FRAME_WRAP, .wrapper = wrapper, .bound = value_node(var)));
}

Value t_return(BuiltinCall *call) {
  Node *x = value_is_none(ARG(0)) ? int_imm(INT32, 0, call->span) : to_expr(ARG(0), SPAN(0));
  return value_node(expr_call("ret", x->dtype, NODES(x), call->span));
}

Value t_static_assert(BuiltinCall *call) {
  if (!value_truth(ARG(0), SPAN(0)))
    raise("AssertionError", call->span, "%s", value_as_text(ARG(1), "the message", SPAN(1)));
  return value_none();
}

static Node *thread_iter_var(const char *tag, DataType t, Span span) {
  Node *var = MAKE(Var, span, t, .elem = VOID_TYPE);
  return MAKE(IterVar, span, VOID_TYPE, .var = var, .iter_kind = ITER_THREAD,
              .thread_tag = str_intern(tag));
}

Value t_env_thread(BuiltinCall *call) {
  const char *tag = value_as_text(ARG(0), "the thread", SPAN(0));
  return value_node(thread_iter_var(tag, to_dtype(ARG(1), SPAN(1)), call->span));
}

Value t_launch_thread(BuiltinCall *call) {
  TensorBuilder *t = need_tensor("launch_thread", call->span);
  Node *extent = int_expr(ARG(1), "the extent of a thread", SPAN(1)), *iter;
  if (value_is_node(ARG(0), NK_IterVar)) iter = ARG(0).node;
  else
    iter = thread_iter_var(value_as_text(ARG(0), "the thread of T.launch_thread", SPAN(0)),
                           extent->dtype, call->span);
  note_launch(t, iter);
  Node *wrapper = MAKE(AttrStmt, call->span, VOID_TYPE, .subject = iter,
                       .key = str_intern("thread_extent"), .value = extent);
  return value_frame(NEW(Frame, .kind = FRAME_WRAP, .wrapper = wrapper,
                         .bound = value_node(AS(IterVar, iter)->var)));
}

Value t_func_attr(BuiltinCall *call) {
  TensorBuilder *t = need_tensor("func_attr", call->span);
  if (t->attrs) raise_code(E0508, call->span, "the function has a T.func_attr already");
  t->attrs = dict_from_value(ARG(0), SPAN(0));
  return value_none();
}
