/* scalarize_vectors.c -- statements on vectors become loops over their lanes.
 *
 * In:  flat functions, vectorized. Out: no expression of several lanes, but for the operands of
 * calls that have no meaning lane by lane, which back ends without vectors reject, and for the
 * vectors that stay where the language has them (most_bytes; scalarize_registers.c).
 *
 * A vector is evaluated as a whole before any of it is stored. So where a store may touch what its
 * value is loaded from, its lanes go through an array. Lanes picked by Shuffle and vectorcombine
 * are known only one by one: such statements are written out for each lane. */
#include "lower/tensor/scalarize.h"

static Node *at_lane(Scalarizer *s, Node *n, Node *lane);

Node *scalarize_pick(Scalarizer *s, Node *n, Node *lane) {
  if (!n) return NULL;
  return n->dtype.lanes == 1 ? mutate(&s->mutator, n) : at_lane(s, n, lane);
}

/* ---- accesses ---- */

static Node *scalar_view(Scalarizer *s, Node *buffer) {
  Buffer *b = AS(Buffer, buffer);
  if (b->elem.lanes == 1) return buffer;
  Node *old = map_get(&s->views, buffer);
  if (old) return old;
  Buffer view = *b;
  view.elem = dtype_element(b->elem);
  Node *extent = view.shape.len ? view.shape.at[0] : int_imm(INT64, 1, b->node.span);
  view.shape = NODES(expr_mul(extent, int_imm(extent->dtype, b->elem.lanes, b->node.span)));
  Node *made = gc_copy(&view, sizeof view);
  map_set(&s->views, buffer, made);
  return made;
}

/* Where the lane of an access lies: elements of several lanes are spread. */
static Node *lane_index(Scalarizer *s, Node *buffer, Node *index, Node *lane) {
  int each = AS(Buffer, buffer)->elem.lanes;
  if (each == 1) return scalarize_pick(s, index, lane);
  Node *count = int_imm(INT32, each, index->span);
  Node *element = scalarize_pick(s, index, expr_floordiv(lane, count));
  Node *first = expr_mul(element, int_imm(element->dtype, each, index->span));
  return expr_add(first, expr_cast(element->dtype, expr_floormod(lane, count), index->span));
}

static Node *load_lane(Scalarizer *s, BufferLoad *n, Node *lane) {
  return MAKE(BufferLoad, n->node.span, dtype_element(n->node.dtype),
              .buffer = scalar_view(s, n->buffer),
              .indices = NODES(lane_index(s, n->buffer, n->indices.at[0], lane)),
              .predicate = scalarize_pick(s, n->predicate, lane));
}

/* ---- lanes of expressions ---- */

static _Noreturn void raise_unsupported(Node *n, const char *what) {
  error_raisef("CompileError", n->span, "%s can't be done lane by lane", what);
}

static Node *bits_of(Node *v, DataType t) {
  DataType bits = DTYPE_OF(UINT, t.bits);
  return dtype_equal(v->dtype, bits) ? v : expr_call("reinterpret", bits, NODES(v), v->span);
}

/* The bits of neighbours make one wider lane, or one wide lane has the bits of several. */
static Node *reinterpret_lane(Scalarizer *s, Call *n, Node *lane) {
  Node *from = n->args.at[0];
  DataType to = dtype_element(n->node.dtype);
  Span span = n->node.span;
  int old = from->dtype.bits, new = to.bits;
  if (dtype_is_handle(to) || dtype_is_handle(from->dtype)) raise_unsupported(&n->node, "pointers");
  DataType wide = DTYPE_OF(UINT, new);
  Node *bits = NULL;
  for (int i = 0; i < new / old; i++) {
    Node *at = expr_add(expr_mul(lane, int_imm(INT32, new / old, span)), int_imm(INT32, i, span));
    Node *part = expr_cast(wide, bits_of(scalarize_pick(s, from, at), from->dtype), span);
    if (i) part = expr_call("shift_left", wide, NODES(part, int_imm(wide, i * old, span)), span);
    bits = bits ? expr_call("bitwise_or", wide, NODES(bits, part), span) : part;
  }
  if (old > new) {
    DataType whole = DTYPE_OF(UINT, old);
    Node *count = int_imm(INT32, old / new, span);
    Node *part = bits_of(scalarize_pick(s, from, expr_floordiv(lane, count)), from->dtype);
    Node *shift = expr_mul(expr_floormod(lane, count), int_imm(INT32, new, span));
    bits = expr_call("shift_right", whole, NODES(part, expr_cast(whole, shift, span)), span);
    bits = expr_cast(wide, bits, span);
  }
  return dtype_equal(to, wide) ? bits : expr_call("reinterpret", to, NODES(bits), span);
}

static Node *constant_lane(Scalarizer *s, NodeVec vectors, Node *n, int64_t index) {
  for each (Node *, v, &vectors) {
    int lanes = (*v)->dtype.lanes;
    if (index < lanes) return scalarize_pick(s, *v, int_imm(INT32, index, n->span));
    index -= lanes;
  }
  error_raisef("CompileError", n->span, "%s: the vectors have no lane %lld", node_spelling(n->kind),
               (long long)index);
}

static Node *shuffle_lane(Scalarizer *s, Shuffle *n, Node *lane) {
  int64_t at, index;
  REQUIRE(expr_is_const_int(lane, &at), "a lane that is known");
  if (!expr_is_const_int(n->indices.at[at], &index) || index < 0)
    error_raisef("CompileError", n->node.span, "T.Shuffle: index %d is no constant from 0 on",
                 (int)at);
  return constant_lane(s, n->vectors, &n->node, index);
}

static Node *call_lane(Scalarizer *s, Call *n, Node *lane) {
  const Intrin *intrin = intrin_of(n->op);
  Node *call = &n->node;
  if (!intrin || intrin->effect == EFFECT_STATE || is_intrin_call(call, "call_pure_extern") ||
      is_intrin_call(call, "call_llvm_pure_intrin"))
    raise_unsupported(call, intrin ? str_format("T.%s of a vector", intrin->name) : "this call");
  int lanes = call->dtype.lanes, given = n->args.len ? n->args.at[0]->dtype.lanes : 1;
  if (is_intrin_call(call, "vectorlow")) return scalarize_pick(s, n->args.at[0], lane);
  if (is_intrin_call(call, "vectorhigh"))
    return scalarize_pick(s, n->args.at[0], expr_add(lane, int_imm(INT32, lanes, call->span)));
  if (is_intrin_call(call, "vectorcombine"))
    return constant_lane(s, n->args, call, AS(IntImm, lane)->value);
  if (is_intrin_call(call, "reinterpret") && given != lanes) return reinterpret_lane(s, n, lane);
  NodeVec args = {0};
  for each (Node *, a, &n->args) vec_push(&args, scalarize_pick(s, *a, lane));
  return MAKE(Call, call->span, dtype_element(call->dtype), .op = n->op, .args = args,
              .attrs = n->attrs);
}

static Node *ramp_lane(Scalarizer *s, Ramp *n, Node *lane) {
  Node *base = mutate(&s->mutator, n->base), *stride = mutate(&s->mutator, n->stride);
  DataType t = dtype_element(n->node.dtype);
  Node *step = expr_mul(expr_cast(t, stride, n->node.span), expr_cast(t, lane, n->node.span));
  return expr_add(base, step);
}

static Node *let_lane(Scalarizer *s, Let *n, Node *lane) {
  if (n->var->dtype.lanes > 1) {
    map_set(&s->values, n->var, n->value);
    return scalarize_pick(s, n->body, lane);
  }
  Node *value = mutate(&s->mutator, n->value);
  Node *body = scalarize_pick(s, n->body, lane);
  return MAKE(Let, n->node.span, body->dtype, .value = value, .var = n->var, .body = body);
}

static Node *var_lane(Scalarizer *s, Node *n, Node *lane) {
  Node *array = map_get(&s->arrays, n), *value = map_get(&s->values, n);
  Node *held = registers_lane(s, n, lane);
  if (held) return held;
  if (array) return expr_load(array, NODES(lane), n->span);
  if (value) return scalarize_pick(s, value, lane);
  raise_unsupported(n, str_format("'%s', a parameter of several lanes,", AS(Var, n)->name));
}

static Node *binary_lane(Scalarizer *s, Binary *n, Node *lane) {
  Binary out = *n;
  out.node.dtype = dtype_element(n->node.dtype);
  out.a = scalarize_pick(s, n->a, lane);
  out.b = scalarize_pick(s, n->b, lane);
  return gc_copy(&out, sizeof out);
}

static Node *at_lane(Scalarizer *s, Node *n, Node *lane) {
  DataType t = dtype_element(n->dtype);
  if (node_is_binary(n->kind)) return binary_lane(s, (Binary *)(void *)n, lane);
  switch (n->kind) {
  case NK_Var: return var_lane(s, n, lane);
  case NK_IntImm: return int_imm(t, AS(IntImm, n)->value, n->span);
  case NK_FloatImm: return float_imm(t, AS(FloatImm, n)->value, n->span);
  case NK_Ramp: return ramp_lane(s, AS(Ramp, n), lane);
  case NK_Broadcast: return mutate(&s->mutator, AS(Broadcast, n)->value);
  case NK_BufferLoad: return load_lane(s, AS(BufferLoad, n), lane);
  case NK_Shuffle: return shuffle_lane(s, AS(Shuffle, n), lane);
  case NK_Call: return call_lane(s, AS(Call, n), lane);
  case NK_Let: return let_lane(s, AS(Let, n), lane);
  case NK_Not: return MAKE(Not, n->span, t, .a = scalarize_pick(s, AS(Not, n)->a, lane));
  case NK_Cast: return expr_cast(t, scalarize_pick(s, AS(Cast, n)->value, lane), n->span);
  case NK_Select:
    return MAKE(Select, n->span, t, .cond = scalarize_pick(s, AS(Select, n)->cond, lane),
                .then = scalarize_pick(s, AS(Select, n)->then, lane),
                .orelse = scalarize_pick(s, AS(Select, n)->orelse, lane));
  default: BUG("no lanes of %s", node_kind_name(n->kind));
  }
}

/* ---- statements ---- */

static WalkResult find_picked(Walker *w, Node *n) {
  Scalarizer *s = w->context;
  bool picks = IS(Shuffle, n) || is_intrin_call(n, "vectorcombine") || map_has(&s->registers, n);
  return picks && n->dtype.lanes > 1 ? WALK_STOP : WALK_ON;
}

typedef Node *LaneStmt(Scalarizer *s, void *context, Node *lane);

/* make() for each lane: in a loop, or one by one where `of` has lanes that are picked. */
static Node *each_lane(Scalarizer *s, Node *of, int lanes, LaneStmt *make, void *context) {
  Walker w = {.enter = find_picked, .context = s};
  NodeVec stmts = {0};
  if (walk(&w, of)) {
    Node *lane = var_new("lane", INT32, of->span);
    Node *body = make(s, context, lane);
    return MAKE(For, of->span, VOID_TYPE, .min = int_imm(INT32, 0, of->span),
                .extent = int_imm(INT32, lanes, of->span), .var = lane, .loop_kind = LOOP_SERIAL,
                .body = body);
  }
  for (int i = 0; i < lanes; i++) vec_push(&stmts, make(s, context, int_imm(INT32, i, of->span)));
  return stmt_seq(stmts, of->span);
}

/* An array of so many lanes. */
static Node *array_new(const char *name, DataType t, Span span) {
  return buffer_new(name, dtype_element(t), NODES(int_imm(INT32, t.lanes, span)), "local", span);
}

static Node *allocate(Node *array, Node *body) {
  Buffer *b = AS(Buffer, array);
  return MAKE(Allocate, b->node.span, VOID_TYPE, .extents = b->shape, .elem = b->elem,
              .var = b->data, .body = body);
}

typedef struct Fill {
  Node *array, *value;
} Fill;

static Node *fill_lane(Scalarizer *s, void *context, Node *lane) {
  Fill *f = context;
  return stmt_store(f->array, NODES(lane), scalarize_pick(s, f->value, lane), f->value->span);
}

static Node *fill(Scalarizer *s, Node *array, Node *value) {
  return each_lane(s, value, value->dtype.lanes, fill_lane, &(Fill){array, value});
}

static Node *store_lane(Scalarizer *s, void *context, Node *lane) {
  BufferStore *n = context;
  Node *index = lane_index(s, n->buffer, n->indices.at[0], lane);
  Node *predicate = scalarize_pick(s, n->predicate, lane);
  return MAKE(BufferStore, n->node.span, VOID_TYPE, .buffer = scalar_view(s, n->buffer),
              .indices = NODES(index), .value = scalarize_pick(s, n->value, lane),
              .predicate = predicate);
}

typedef struct Clash {
  Scalarizer *s;
  BufferStore *store;
} Clash;

/* May this load, in a later lane, see what the store did? Not if it is of the same elements, each
 * once. */
static WalkResult find_clash(Walker *w, Node *n) {
  Clash *c = w->context;
  if (!IS(BufferLoad, n)) return WALK_ON;
  BufferLoad *load = AS(BufferLoad, n);
  Buffer *from = AS(Buffer, load->buffer), *to = AS(Buffer, c->store->buffer);
  if (from->data != to->data) return c->s->noalias ? WALK_ON : WALK_STOP;
  Node *index = c->store->indices.at[0];
  bool same = dtype_equal(from->elem, to->elem) && IS(Ramp, index) && to->elem.lanes == 1 &&
              expr_is_one(AS(Ramp, index)->stride) &&
              node_equal(index, load->indices.at[0], false, NULL);
  return same ? WALK_ON : WALK_STOP;
}

/* Puts a part of the store that reads memory into an array, before the store. */
static Node *through_array(Scalarizer *s, Node **part, const char *name, NodeVec *arrays) {
  if (!*part || expr_effect(*part) == EFFECT_PURE) return NULL;
  Node *array = array_new(name, (*part)->dtype, (*part)->span);
  Node *filled = fill(s, array, *part), *var = var_new(name, (*part)->dtype, (*part)->span);
  map_set(&s->arrays, var, array);
  vec_push(arrays, array);
  *part = var;
  return filled;
}

bool scalarize_clashes(Scalarizer *s, BufferStore *store, Node *part) {
  Clash clash = {s, store};
  Walker w = {.enter = find_clash, .context = &clash};
  return part && !walk(&w, part);
}

Node *scalarize_store(Scalarizer *s, BufferStore *n) {
  int lanes = n->indices.at[0]->dtype.lanes * AS(Buffer, n->buffer)->elem.lanes;
  if (!scalarize_clashes(s, n, n->value) && !scalarize_clashes(s, n, n->indices.at[0]) &&
      !scalarize_clashes(s, n, n->predicate))
    return each_lane(s, &n->node, lanes, store_lane, n);
  BufferStore late = *n;
  late.indices = NODES(n->indices.at[0]);
  NodeVec stmts = {0}, arrays = {0};
  Node *fills[] = {through_array(s, &late.value, "values", &arrays),
                   through_array(s, &late.indices.at[0], "places", &arrays),
                   through_array(s, &late.predicate, "mask", &arrays)};
  for (int i = 0; i < 3; i++)
    if (fills[i]) vec_push(&stmts, fills[i]);
  vec_push(&stmts, each_lane(s, &late.node, lanes, store_lane, &late));
  Node *body = stmt_seq(stmts, n->node.span);
  for each (Node *, a, &arrays) body = allocate(*a, body);
  return body;
}

static Node *let_vector(Scalarizer *s, LetStmt *n) {
  Node *held = registers_let(s, n);
  if (held) return held;
  Node *array = array_new(AS(Var, n->var)->name, n->var->dtype, n->node.span);
  Node *filled = fill(s, array, n->value);
  map_set(&s->arrays, n->var, array);
  return allocate(array, stmt_seq(NODES(filled, mutate(&s->mutator, n->body)), n->node.span));
}

/* ---- scalars of vectors ---- */

static bool takes_vector(Node *n) {
  for each (Node *, a, &AS(Call, n)->args)
    if ((*a)->dtype.lanes > 1) return true;
  return false;
}

static Node *rewrite(Mutator *m, Node *n) {
  Scalarizer *s = (Scalarizer *)(void *)m;
  Node *first = int_imm(INT32, 0, n->span);
  switch (n->kind) {
  case NK_Var: {
    Node *array = map_get(&s->arrays, n);
    return array && n->dtype.lanes == 1 ? expr_load(array, NODES(first), n->span) : n;
  }
  case NK_BufferStore: {
    BufferStore *store = AS(BufferStore, n);
    bool is_vector = store->indices.len == 1 && (store->indices.at[0]->dtype.lanes > 1 ||
                                                 AS(Buffer, store->buffer)->elem.lanes > 1);
    return is_vector ? registers_store(s, store) : mutate_children(m, n);
  }
  case NK_LetStmt:
    if (AS(LetStmt, n)->var->dtype.lanes > 1) return let_vector(s, AS(LetStmt, n));
    break;
  case NK_Let:
    if (AS(Let, n)->var->dtype.lanes == 1) break;
    map_set(&s->values, AS(Let, n)->var, AS(Let, n)->value);
    return mutate(m, AS(Let, n)->body);
  case NK_Evaluate:
    if (AS(Evaluate, n)->value->dtype.lanes > 1 &&
        expr_effect(AS(Evaluate, n)->value) != EFFECT_STATE)
      return stmt_evaluate(first, n->span);
    break;
  case NK_Shuffle:
    if (n->dtype.lanes == 1) return shuffle_lane(s, AS(Shuffle, n), first);
    break;
  case NK_Call:
    if (n->dtype.lanes == 1 && takes_vector(n) && intrin_of(AS(Call, n)->op) &&
        intrin_of(AS(Call, n)->op)->effect == EFFECT_PURE && !is_intrin_call(n, "address_of"))
      return call_lane(s, AS(Call, n), first);
    break;
  default: break;
  }
  return mutate_children(m, n);
}

Node *pass_scalarize_vectors(Node *func, const PassContext *context) {
  PrimFunc *f = AS(PrimFunc, func);
  Scalarizer s = {.mutator = {.rewrite = rewrite},
                  .most_bytes = (int)pass_option_int(context, "most_bytes"),
                  .most_lanes = (int)pass_option_int(context, "most_lanes"),
                  .has_operators = pass_option_int(context, "operators") != 0,
                  .noalias = dict_get_int(f->attrs, "tir.noalias", 1) != 0};
  return mutate(&s.mutator, func);
}
