/* memory.c -- loads and stores of one-dimensional buffers, of scalars and of vectors.
 *
 * An index that is Ramp(base, 1, lanes) is one access of contiguous memory; any other vector index
 * is a gather or a scatter, element by element where the processor has none. A predicate masks
 * lanes: what is masked out is not touched, and a load gives 0 there.
 *
 * In a small array of this function, which nobody else sees, it may be touched: plain accesses and
 * a select in place of masked ones let LLVM keep the array in registers. */
#include "target/llvm/codegen.h"

static int lanes_of(LLVMValueRef v) {
  LLVMTypeRef type = LLVMTypeOf(v);
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? (int)LLVMGetVectorSize(type) : 1;
}

LLVMValueRef gen_element_pointer(Gen *g, LLVMValueRef base, DataType elem, LLVMValueRef index) {
  if (elem.lanes > 1) {
    LLVMValueRef scale = gen_splat(g, const_i64(g, elem.lanes), lanes_of(index));
    index = LLVMBuildNSWMul(g->b, index, scale, "");
  }
  LLVMTypeRef type = type_in_memory(g, dtype_element(elem));
  return LLVMBuildInBoundsGEP2(g->b, type, base, &index, 1, "");
}

/* The one index, the buffer's offset added. */
static Node *flat_index(Node *n, Buffer *buffer, const NodeVec *indices) {
  if (indices->len != 1 || buffer->strides.len > 0)
    BUG("%s of buffer '%s' with %d indices is not flat", node_kind_name(n->kind), buffer->name,
        indices->len);
  Node *index = indices->at[0];
  if (buffer->elem_offset && !expr_is_zero(buffer->elem_offset))
    index = expr_add(buffer->elem_offset, index);
  return index;
}

LLVMValueRef gen_address(Gen *g, Node *buffer, Node *index) {
  Buffer *b = AS(Buffer, buffer);
  return gen_element_pointer(g, gen_expr(g, b->data), b->elem, gen_index(g, index));
}

/* One access: memory of type `t` (with all its lanes) at `pointer`, or at a vector of pointers. */
typedef struct Access {
  DataType t;
  LLVMValueRef pointer;
  bool contiguous;
  LLVMValueRef mask; /* i1 for each lane, or NULL */
  bool may_touch;    /* all lanes are in an array of this function */
  unsigned align;
} Access;

static bool is_dense_ramp(Node *index) {
  return IS(Ramp, index) && expr_is_one(AS(Ramp, index)->stride);
}

static LLVMValueRef gen_mask(Gen *g, Node *predicate, int lanes) {
  if (!predicate) return NULL;
  int64_t value;
  if (expr_is_const_int(predicate, &value) && value) return NULL;
  LLVMValueRef mask = gen_condition(g, predicate);
  return predicate->dtype.lanes == 1 ? gen_splat(g, mask, lanes) : mask;
}

/* A vector of pointers to the elements of vector elements: those of each index are neighbours. */
static LLVMValueRef spread_pointers(Gen *g, LLVMValueRef pointers, int indices, DataType elem) {
  int lanes = indices * elem.lanes;
  LLVMValueRef *pick = NEW_ARRAY(LLVMValueRef, lanes), *step = NEW_ARRAY(LLVMValueRef, lanes);
  for (int i = 0; i < lanes; i++) {
    pick[i] = const_i32(g, i / elem.lanes);
    step[i] = const_i64(g, i % elem.lanes);
  }
  LLVMValueRef mask = LLVMConstVector(pick, (unsigned)lanes);
  LLVMValueRef steps = LLVMConstVector(step, (unsigned)lanes);
  LLVMValueRef bases =
      LLVMBuildShuffleVector(g->b, pointers, LLVMGetPoison(LLVMTypeOf(pointers)), mask, "");
  LLVMTypeRef type = type_in_memory(g, dtype_element(elem));
  return LLVMBuildInBoundsGEP2(g->b, type, bases, &steps, 1, "");
}

/* Are all lanes from this index on, of the dtype, elements of an array of that dtype on the stack?
 */
static bool is_in_own_array(Gen *g, LLVMValueRef base, Node *index, DataType lane, int lanes) {
  if (!LLVMIsAAllocaInst(base)) return false;
  LLVMTypeRef array = LLVMGetAllocatedType(base);
  if (LLVMGetTypeKind(array) != LLVMArrayTypeKind ||
      LLVMGetElementType(array) != type_in_memory(g, lane))
    return false;
  Range64 r = range_of(&g->f->ranges, index);
  uint64_t count = LLVMGetArrayLength2(array);
  return r.lo >= 0 && count <= INT32_MAX && r.hi <= (int64_t)count - lanes;
}

static Access access_new(Gen *g, Node *n, Node *buffer, const NodeVec *indices, Node *predicate,
                         DataType value) {
  Buffer *b = AS(Buffer, buffer);
  Node *index = flat_index(n, b, indices);
  DataType elem = b->elem;
  type_check_stored(g, elem, n->span);
  type_check(index->dtype, n->span);
  int lanes = index->dtype.lanes * elem.lanes;
  REQUIRE(value.lanes == lanes, "an access of %d lanes where the index and buffer '%s' make %d",
          value.lanes, b->name, lanes);
  Access a = {.t = dtype_with_lanes(elem, lanes), .align = (unsigned)lowered_nbytes(elem)};
  bool dense = index->dtype.lanes > 1 && is_dense_ramp(index);
  a.contiguous = dense || index->dtype.lanes == 1;
  Node *first = dense ? AS(Ramp, index)->base : index;
  if (a.contiguous) a.align = gen_alignment(g, b->data, first, elem);
  LLVMValueRef at = gen_index(g, first);
  a.pointer = gen_element_pointer(g, gen_expr(g, b->data), elem, at);
  if (!a.contiguous && elem.lanes > 1)
    a.pointer = spread_pointers(g, a.pointer, index->dtype.lanes, elem);
  a.mask = gen_mask(g, predicate, lanes);
  a.may_touch = a.mask && dense && elem.lanes == 1 &&
                is_in_own_array(g, gen_expr(g, b->data), AS(Ramp, index)->base, elem, lanes);
  /* What a predicate masks out may lie outside the buffer. */
  if (a.mask && LLVMIsAGetElementPtrInst(a.pointer)) LLVMSetIsInBounds(a.pointer, false);
  return a;
}

static LLVMValueRef all_lanes(Gen *g, int lanes) {
  return LLVMConstAllOnes(LLVMVectorType(type_int(g, 1), (unsigned)lanes));
}

static LLVMValueRef call_masked(Gen *g, const char *name, LLVMTypeRef value, LLVMValueRef pointer,
                                int n, LLVMValueRef *args) {
  LLVMTypeRef on[] = {value, LLVMTypeOf(pointer)};
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->out, id, on, 2);
  return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, (unsigned)n, "");
}

static LLVMValueRef load_plain(Gen *g, const Access *a) {
  LLVMValueRef v = LLVMBuildLoad2(g->b, type_in_memory(g, a->t), a->pointer, "");
  LLVMSetAlignment(v, a->align);
  return v;
}

static LLVMValueRef load_masked(Gen *g, const Access *a) {
  LLVMTypeRef type = type_in_memory(g, a->t);
  if (a->may_touch)
    return LLVMBuildSelect(g->b, a->mask, load_plain(g, a), LLVMConstNull(type), "");
  LLVMValueRef mask = a->mask ? a->mask : all_lanes(g, a->t.lanes);
  LLVMValueRef args[] = {a->pointer, const_i32(g, a->align), mask, LLVMConstNull(type)};
  return call_masked(g, a->contiguous ? "llvm.masked.load" : "llvm.masked.gather", type, a->pointer,
                     4, args);
}

/* A predicated scalar: by control flow. */
static LLVMValueRef load_if(Gen *g, const Access *a) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), yes = gen_block(g, "load"),
                    done = gen_block(g, "loaded");
  LLVMBuildCondBr(g->b, a->mask, yes, done);
  LLVMPositionBuilderAtEnd(g->b, yes);
  LLVMValueRef v = load_plain(g, a);
  LLVMBuildBr(g->b, done);
  LLVMPositionBuilderAtEnd(g->b, done);
  LLVMValueRef phi = LLVMBuildPhi(g->b, LLVMTypeOf(v), "");
  LLVMAddIncoming(phi, (LLVMValueRef[]){LLVMConstNull(LLVMTypeOf(v)), v},
                  (LLVMBasicBlockRef[]){before, yes}, 2);
  return phi;
}

/* ---- every second element ---- */

static bool is_every_second(const BufferLoad *n) {
  int64_t stride;
  Node *index = n->indices.len == 1 ? n->indices.at[0] : NULL;
  return index && IS(Ramp, index) && AS(Buffer, n->buffer)->elem.lanes == 1 &&
         expr_is_const_int(AS(Ramp, index)->stride, &stride) && stride == 2 &&
         index->dtype.lanes >= 4 && index->dtype.lanes % 2 == 0;
}

/* Lane i of the result is lane at[i] of the two vectors in a row. */
static LLVMValueRef pick_lanes(Gen *g, LLVMValueRef a, LLVMValueRef b, const int *at, int lanes) {
  LLVMValueRef *picks = NEW_ARRAY(LLVMValueRef, lanes);
  for (int i = 0; i < lanes; i++) picks[i] = const_i32(g, at[i]);
  return LLVMBuildShuffleVector(g->b, a, b, LLVMConstVector(picks, (unsigned)lanes), "");
}

/* Two loads of neighbours, from the first element and up to the last one, instead of a gather. */
static LLVMValueRef load_every_second(Gen *g, const Access *a, LLVMValueRef first) {
  int lanes = a->t.lanes, *low = NEW_ARRAY(int, lanes), *high = NEW_ARRAY(int, lanes),
      *both = NEW_ARRAY(int, lanes);
  for (int i = 0; i < lanes; i++) { /* lane `lanes` of a mask is off */
    low[i] = i % 2 ? lanes : i / 2;
    high[i] = i % 2 ? (lanes + i) / 2 : lanes;
    both[i] = i < lanes / 2 ? 2 * i : 2 * i + 1;
  }
  LLVMTypeRef elem = type_in_memory(g, dtype_element(a->t));
  LLVMValueRef half = const_i64(g, lanes - 1);
  Access one = *a, two = *a;
  one.contiguous = two.contiguous = true;
  one.pointer = first;
  two.pointer = a->mask ? LLVMBuildGEP2(g->b, elem, first, &half, 1, "")
                        : LLVMBuildInBoundsGEP2(g->b, elem, first, &half, 1, "");
  if (!a->mask) return pick_lanes(g, load_plain(g, &one), load_plain(g, &two), both, lanes);
  LLVMValueRef off = LLVMConstNull(LLVMTypeOf(a->mask));
  one.mask = pick_lanes(g, a->mask, off, low, lanes);
  two.mask = pick_lanes(g, a->mask, off, high, lanes);
  return pick_lanes(g, load_masked(g, &one), load_masked(g, &two), both, lanes);
}

static LLVMValueRef first_of_ramp(Gen *g, const BufferLoad *n, bool masked) {
  Buffer *b = AS(Buffer, n->buffer);
  Node *base = AS(Ramp, flat_index((Node *)(uintptr_t)&n->node, b, &n->indices))->base;
  LLVMValueRef at = gen_index(g, base);
  LLVMValueRef p = gen_element_pointer(g, gen_expr(g, b->data), b->elem, at);
  if (masked && LLVMIsAGetElementPtrInst(p)) LLVMSetIsInBounds(p, false);
  return p;
}

LLVMValueRef gen_load(Gen *g, BufferLoad *n) {
  Access a = access_new(g, &n->node, n->buffer, &n->indices, n->predicate, n->node.dtype);
  LLVMValueRef v;
  if (is_every_second(n)) v = load_every_second(g, &a, first_of_ramp(g, n, a.mask != NULL));
  else if (a.mask && a.t.lanes == 1) v = load_if(g, &a);
  else if (a.mask || !a.contiguous) v = load_masked(g, &a);
  else v = load_plain(g, &a);
  /* The buffer may be typed otherwise than the load, for pointers above all. */
  return gen_cast(g, gen_from_memory(g, v, a.t), a.t, n->node.dtype);
}

static LLVMValueRef store_plain(Gen *g, const Access *a, LLVMValueRef v) {
  LLVMValueRef store = LLVMBuildStore(g->b, v, a->pointer);
  LLVMSetAlignment(store, a->align);
  return store;
}

static void store_masked(Gen *g, const Access *a, LLVMValueRef v) {
  if (a->may_touch) {
    store_plain(g, a, LLVMBuildSelect(g->b, a->mask, v, load_plain(g, a), ""));
    return;
  }
  LLVMValueRef mask = a->mask ? a->mask : all_lanes(g, a->t.lanes);
  LLVMValueRef args[] = {v, a->pointer, const_i32(g, a->align), mask};
  call_masked(g, a->contiguous ? "llvm.masked.store" : "llvm.masked.scatter", LLVMTypeOf(v),
              a->pointer, 4, args);
}

static void store_if(Gen *g, const Access *a, LLVMValueRef v) {
  LLVMBasicBlockRef yes = gen_block(g, "store"), done = gen_block(g, "stored");
  LLVMBuildCondBr(g->b, a->mask, yes, done);
  LLVMPositionBuilderAtEnd(g->b, yes);
  store_plain(g, a, v);
  LLVMBuildBr(g->b, done);
  LLVMPositionBuilderAtEnd(g->b, done);
}

/* ---- lanes that nobody sees ---- */

/* Does a lane of the result depend on the same lane of the operands alone, whatever is in it? */
static bool is_lanewise(const Node *n) {
  switch (n->kind) {
  case NK_Div: return dtype_is_float(n->dtype); /* a lane of integers could trap */
  case NK_Add:
  case NK_Sub:
  case NK_Mul:
  case NK_Min:
  case NK_Max:
  case NK_EQ:
  case NK_NE:
  case NK_LT:
  case NK_LE:
  case NK_GT:
  case NK_GE:
  case NK_And:
  case NK_Or:
  case NK_Not:
  case NK_Select:
  case NK_Cast: return true;
  case NK_Call: {
    const Intrin *in = intrin_of(AS(Call, n)->op);
    return in && in->takes == TAKES_FLOATS && in->rule == RULE_SAME && in->effect == EFFECT_PURE;
  }
  default: return false;
  }
}

typedef struct FreeLanes {
  Gen *g;
  Node *predicate; /* of the store */
} FreeLanes;

static Node *touch_all_lanes(Mutator *m, Node *n) {
  const FreeLanes *f = m->context;
  if (is_lanewise(n)) return mutate_children(m, n);
  if (!IS(BufferLoad, n)) return n;
  BufferLoad *load = AS(BufferLoad, n);
  Buffer *b = AS(Buffer, load->buffer);
  bool same = load->predicate && node_equal(load->predicate, f->predicate, false, NULL);
  if (!same || b->elem.lanes > 1 || load->indices.len != 1 || !is_dense_ramp(load->indices.at[0]))
    return n;
  Ramp *r = AS(Ramp, flat_index(n, b, &load->indices));
  if (!is_in_own_array(f->g, gen_expr(f->g, b->data), r->base, b->elem, r->lanes)) return n;
  return expr_load(load->buffer, load->indices, n->span);
}

/* The value of a store whose predicate hides some lanes: loads from arrays of this function need
 * not give 0 there. LLVM makes an "expand" of a load and a constant mask, which is slow. */
static Node *value_to_store(Gen *g, BufferStore *n) {
  FreeLanes f = {g, n->predicate};
  if (!n->predicate || n->predicate->dtype.lanes == 1) return n->value;
  return mutate(&(Mutator){.rewrite = touch_all_lanes, .context = &f}, n->value);
}

void gen_store(Gen *g, BufferStore *n) {
  DataType t = n->value->dtype;
  LLVMValueRef v = gen_expr(g, value_to_store(g, n));
  int lanes = n->indices.len == 1 ? n->indices.at[0]->dtype.lanes : 1;
  lanes *= AS(Buffer, n->buffer)->elem.lanes;
  if (t.lanes == 1 && lanes > 1) {
    v = gen_splat(g, v, lanes);
    t.lanes = (int16_t)lanes;
  }
  Access a = access_new(g, &n->node, n->buffer, &n->indices, n->predicate, t);
  v = gen_to_memory(g, gen_cast(g, v, t, a.t), a.t);
  if (a.mask && a.t.lanes == 1) store_if(g, &a, v);
  else if (a.mask || !a.contiguous) store_masked(g, &a, v);
  else {
    unsigned align = g->f->streams ? stream_alignment(g, n) : 0;
    LLVMValueRef store = store_plain(g, &a, v);
    if (align) stream_store(g, store, align);
  }
}
