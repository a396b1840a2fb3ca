/* inject_permuted_layout.c -- shared memory that blocks with the annotation "permuted_layout"
 * touch is stored with the columns of its rows exchanged.
 *
 * T.ptx_ldmatrix reads 16 bytes of each of eight rows at once; where rows are a multiple of 128
 * bytes long, all eight lie in the same banks. So the parts of 16 bytes of a row are exchanged by
 * the number of the row: part p of row r lies at p ^ (r % 8) or, in rows that are only a multiple
 * of 64 bytes long, of which two share the banks, at p ^ (r % 8 // 2).
 *
 * In:  opaque blocks with buffers of their own shape (after LowerMatchBuffer, before
 *      InjectSoftwarePipeline gives them versions), scalar and vectorized loops.
 * Out: the annotation goes. All accesses of such a buffer follow its layout, those of blocks
 *      without the annotation too: what they read and write stays the same.
 * Not: buffers of scopes such as shared.swizzle128. There the scope asks for an exchange, which
 *      SwizzleSharedMemory does by the address, for hardware that has the same one; to do both
 *      would only mix up the banks again. The arithmetic (exchanged_column) is the same. */
#include "ir/arith/arith.h"
#include "lower/device/device.h"

#define PERMUTED "permuted_layout"

enum { PART = 16, BANKS = 128, TURNS = 8 /* bytes, and rows until it begins anew */ };

/* How a buffer is laid out, in elements. */
typedef struct Rows {
  Node *buffer;
  int part;
  int64_t width, pitch, count; /* of elements in a row, from row to row; of rows, or 0: unknown */
  int share;                   /* rows that lie in the same banks together: 1 or 2 */
} Rows;

typedef struct Permute {
  Map buffers; /* data pointer to the Buffer that is allocated there */
  Map rows;    /* data pointer to Rows, of the buffers that are permuted */
  int depth;   /* of blocks with the annotation */
  Analyzer *facts;
} Permute;

static bool is_asked(Node *block) {
  Node *value = IS(Block, block) ? dict_get(AS(Block, block)->annotations, PERMUTED) : NULL;
  int64_t number;
  if (!value || (expr_is_const_int(value, &number) && !number)) return false;
  return !IS(StringImm, value) || *AS(StringImm, value)->value;
}

static bool has_annotation(Node *n) {
  return IS(Block, n) && dict_get(AS(Block, n)->annotations, PERMUTED);
}

/* ---- which buffers, and their rows ---- */

static _Noreturn void refuse(Node *at, Node *buffer, const char *why) {
  error_raisef("LowerError", at->span, "buffer '%s' can't have a permuted layout: %s",
               AS(Buffer, buffer)->name, why);
}

static int64_t stride_of(Buffer *b, int axis, int64_t compact) {
  int64_t stride = -1;
  if (!b->strides.len) return compact;
  return expr_is_const_int(b->strides.at[axis], &stride) ? stride : -1;
}

/* A pointer tells rows by its offset alone: they must follow each other. */
static bool is_dense(Buffer *b, int64_t pitch, int64_t count) {
  int64_t extent, step = pitch * count;
  for (int i = b->shape.len - 3; i >= 0; i--) {
    if (b->strides.len && stride_of(b, i, -1) != step) return false;
    if (!expr_is_const_int(b->shape.at[i], &extent)) return i == 0;
    step *= extent;
  }
  return true;
}

static Rows *rows_of(Node *at, Node *buffer) {
  Buffer *b = AS(Buffer, buffer);
  int last = b->shape.len - 1, nbytes = dtype_nbytes(b->elem);
  int64_t width, count = 0;
  if (b->elem.lanes != 1 || !nbytes || PART % nbytes)
    refuse(at, buffer,
           str_format("elements of %s do not fill parts of 16 bytes", dtype_text(b->elem)));
  if (!expr_is_const_int(b->shape.at[last], &width) || width <= 0 ||
      width * nbytes % (BANKS / 2) != 0)
    refuse(at, buffer,
           str_format("its rows have %s elements of %s, which is no multiple of 64 bytes",
                      ir_print(b->shape.at[last], NULL), dtype_text(b->elem)));
  int64_t pitch = stride_of(b, last - 1, width);
  expr_is_const_int(b->shape.at[last - 1], &count);
  if (stride_of(b, last, 1) != 1 || pitch < width || !is_dense(b, pitch, count) ||
      (b->elem_offset && !expr_is_zero(b->elem_offset)))
    refuse(at, buffer, "it has strides or an offset that do not make rows of neighbours");
  return NEW(Rows, .buffer = buffer, .part = PART / nbytes, .width = width, .pitch = pitch,
             .count = count, .share = width * nbytes % BANKS ? 2 : 1);
}

static void note(Permute *p, Node *at, Node *data) {
  Node *buffer = IS(Var, data) ? map_get(&p->buffers, data) : NULL;
  if (!p->depth || !buffer || map_has(&p->rows, data)) return;
  const char *scope = buffer_scope(buffer);
  bool fits = str_begins(scope, "shared") && !str_begins(scope, "shared.swizzle");
  if (fits && AS(Buffer, buffer)->shape.len >= 2) map_set(&p->rows, data, rows_of(at, buffer));
}

static Node *pointer_in(Node *n) {
  return is_intrin_call(n, "tvm_access_ptr") ? AS(Call, n)->args.at[1] : n;
}

static WalkResult find_buffers(Walker *w, Node *n) {
  Permute *p = w->context;
  Node *data = IS(Buffer, n) ? AS(Buffer, n)->data : NULL;
  if (data && !map_has(&p->buffers, data)) map_set(&p->buffers, data, n);
  return WALK_ON;
}

static WalkResult find_rows(Walker *w, Node *n) {
  Permute *p = w->context;
  p->depth += is_asked(n);
  Node *buffer = accessed_buffer(n);
  if (buffer) note(p, n, AS(Buffer, buffer)->data);
  if (IS(Call, n))
    for each (Node *, x, &AS(Call, n)->args) note(p, n, pointer_in(*x));
  return WALK_ON;
}

static void leave_block(Walker *w, Node *n) { ((Permute *)w->context)->depth -= is_asked(n); }

/* ---- places ---- */

static Node *column_at(Permute *p, const Rows *r, Node *row, Node *column) {
  DataType t = column->dtype;
  Node *turn = expr_floormod(row, int_imm(row->dtype, TURNS, row->span));
  turn = expr_floordiv(turn, int_imm(row->dtype, r->share, row->span));
  turn = arith_simplify(p->facts, expr_cast(t, turn, row->span));
  Node *there = exchanged_column(column, turn, r->part);
  return arith_simplify(p->facts, there);
}

static bool is_multiple(Permute *p, Node *n, int64_t of) {
  Modular m = arith_modular(p->facts, n);
  return m.coeff % of == 0 && m.base % of == 0;
}

/* Indices of an element, or of neighbours within one part. */
static NodeVec indices_at(Permute *p, Node *access, const Rows *r, Node *buffer, NodeVec indices) {
  Node *column = indices.at[indices.len - 1], *row = indices.at[indices.len - 2];
  if (buffer != r->buffer && !node_equal(buffer, r->buffer, true, NULL))
    refuse(access, r->buffer,
           str_format("its memory is accessed as '%s', too", AS(Buffer, buffer)->name));
  NodeVec out = {0};
  for each (Node *, i, &indices) vec_push(&out, *i);
  if (column->dtype.lanes == 1 && row->dtype.lanes == 1) {
    out.at[out.len - 1] = column_at(p, r, row, column);
    return out;
  }
  Ramp *ramp = IS(Ramp, column) ? AS(Ramp, column) : NULL;
  bool fits = ramp && row->dtype.lanes == 1 && expr_is_one(ramp->stride) && ramp->lanes > 0 &&
              r->part % ramp->lanes == 0 && is_multiple(p, ramp->base, ramp->lanes);
  if (!fits)
    refuse(access, r->buffer,
           str_format("a vector of it must be of neighbours within %d elements, and begin at a "
                      "multiple of its size",
                      r->part));
  Ramp copy = *ramp;
  copy.base = column_at(p, r, row, ramp->base);
  out.at[out.len - 1] = gc_copy(&copy, sizeof copy);
  return out;
}

/* Of what lies so many elements behind the pointer. */
static Node *offset_at(Permute *p, const Rows *r, Node *offset) {
  DataType t = offset->dtype;
  Span span = offset->span;
  Node *pitch = int_imm(t, r->pitch, span);
  Node *row = expr_floordiv(offset, pitch), *column = expr_floormod(offset, pitch);
  Node *begin = expr_sub(offset, column), *number = row;
  bool begins_anew = AS(Buffer, r->buffer)->shape.len > 2 && r->count % TURNS != 0;
  if (begins_anew) number = expr_floormod(row, int_imm(t, r->count, span));
  return arith_simplify(p->facts, expr_add(begin, column_at(p, r, number, column)));
}

/* ---- calls ---- */

/* Instructions of which each thread names up to 16 bytes by a pointer and an offset behind it. */
static const struct {
  const char *name;
  int pointer;
} by_pointer[] = {{"ptx_ldmatrix", 5}, {"ptx_cp_async", 0}};

static Node *with_offset(Permute *p, Node *n, const Rows *r, Node **offset) {
  if (!is_intrin_call(n, "tvm_access_ptr")) {
    *offset = offset_at(p, r, *offset);
    return n;
  }
  Call copy = *AS(Call, n);
  DataType elem = AS(Buffer, r->buffer)->elem;
  if (!IS(Call, copy.args.at[0]) || !dtype_equal(copy.args.at[0]->dtype, elem))
    refuse(n, r->buffer,
           str_format("a pointer to it counts in other elements than %s", dtype_text(elem)));
  Node *all = expr_add(copy.args.at[2], *offset);
  copy.args = NODES(copy.args.at[0], copy.args.at[1], offset_at(p, r, all), copy.args.at[3],
                    copy.args.at[4]);
  *offset = int_imm((*offset)->dtype, 0, n->span);
  return gc_copy(&copy, sizeof copy);
}

static const Rows *rows_behind(Permute *p, Node *pointer) {
  Node *data = pointer_in(pointer);
  return IS(Var, data) ? map_get(&p->rows, data) : NULL;
}

static _Noreturn void refuse_call(Call *n, const Rows *r) {
  const Intrin *i = intrin_of(n->op);
  refuse(&n->node, r->buffer,
         str_format("%s takes its elements as they lie in memory, or may; T.ptx_ldmatrix, "
                    "T.ptx_cp_async, loads and stores follow a layout",
                    i ? str_format("T.%s", i->name) : "a call"));
}

static Node *in_call(Mutator *m, Call *n) {
  Permute *p = m->context;
  Call copy = *n;
  int at = -1;
  for (size_t i = 0; i < sizeof by_pointer / sizeof *by_pointer; i++)
    if (is_intrin_call(&n->node, by_pointer[i].name)) at = by_pointer[i].pointer;
  copy.args = (NodeVec){0};
  bool changed = false;
  for (int i = 0; i < n->args.len; i++) {
    const Rows *r = rows_behind(p, n->args.at[i]);
    if (r && i != at) refuse_call(n, r);
    Node *arg = r ? n->args.at[i] : mutate(m, n->args.at[i]);
    changed |= r || arg != n->args.at[i];
    vec_push(&copy.args, arg);
  }
  const Rows *r = at >= 0 && at + 1 < copy.args.len ? rows_behind(p, copy.args.at[at]) : NULL;
  if (r) copy.args.at[at] = with_offset(p, copy.args.at[at], r, &copy.args.at[at + 1]);
  return changed ? gc_copy(&copy, sizeof copy) : &n->node;
}

/* ---- all ---- */

static const Rows *rows_in(Permute *p, Node *buffer) {
  return buffer ? map_get(&p->rows, AS(Buffer, buffer)->data) : NULL;
}

/* What a block touches of rows, it may touch anywhere in them. */
static Node *whole_rows(Mutator *m, BufferRegion *n) {
  const Rows *r = rows_in(m->context, n->buffer);
  if (!r || n->region.len != AS(Buffer, r->buffer)->shape.len) return mutate_children(m, &n->node);
  BufferRegion copy = *n;
  Range range = *AS(Range, n->region.at[n->region.len - 1]);
  range.min = int_imm(range.min->dtype, 0, n->node.span);
  range.extent = int_imm(range.min->dtype, r->width, n->node.span);
  copy.region = (NodeVec){0};
  for each (Node *, x, &n->region) vec_push(&copy.region, *x);
  copy.region.at[copy.region.len - 1] = gc_copy(&range, sizeof range);
  return gc_copy(&copy, sizeof copy);
}

static Node *in_access(Mutator *m, Node *n, const Rows *r) {
  Permute *p = m->context;
  if (IS(BufferLoad, n)) {
    BufferLoad copy = *AS(BufferLoad, mutate_children(m, n));
    copy.indices = indices_at(p, n, r, copy.buffer, copy.indices);
    return gc_copy(&copy, sizeof copy);
  }
  BufferStore copy = *AS(BufferStore, mutate_children(m, n));
  copy.indices = indices_at(p, n, r, copy.buffer, copy.indices);
  return gc_copy(&copy, sizeof copy);
}

static Node *in_block(Mutator *m, Node *n) {
  Permute *p = m->context;
  for each (Node *, x, &AS(Block, n)->match_buffers) {
    Node *source = AS(BufferRegion, AS(MatchBufferRegion, *x)->source)->buffer;
    if (rows_in(p, source)) refuse(*x, source, "a region of it is matched: LowerMatchBuffer first");
  }
  n = mutate_children(m, n);
  if (!has_annotation(n)) return n;
  Block copy = *AS(Block, n);
  copy.annotations = dict_with(copy.annotations, PERMUTED, NULL);
  return gc_copy(&copy, sizeof copy);
}

static void bind_range(Permute *p, Node *n) {
  if (IS(For, n)) arith_bind_range(p->facts, AS(For, n)->var, AS(For, n)->min, AS(For, n)->extent);
  if (!is_launch(n)) return;
  Node *var = AS(IterVar, AS(AttrStmt, n)->subject)->var;
  arith_bind_range(p->facts, var, int_imm(var->dtype, 0, n->span), AS(AttrStmt, n)->value);
}

static Node *rewrite(Mutator *m, Node *n) {
  Permute *p = m->context;
  if (IS(Buffer, n)) return n;
  const Rows *r = rows_in(p, accessed_buffer(n));
  if (r) return in_access(m, n, r);
  if (IS(Call, n)) return in_call(m, AS(Call, n));
  if (IS(Block, n)) return in_block(m, n);
  if (IS(BufferRegion, n)) return whole_rows(m, AS(BufferRegion, n));
  bind_range(p, n);
  return mutate_children(m, n);
}

static WalkResult find_annotation(Walker *w, Node *n) {
  (void)w;
  return has_annotation(n) ? WALK_STOP : node_is_expr(n) ? WALK_PRUNE : WALK_ON;
}

Node *pass_inject_permuted_layout(Node *n, const PassContext *context) {
  (void)context;
  Walker finder = {.enter = find_annotation};
  if (walk(&finder, AS(PrimFunc, n)->body)) return n;
  Permute p = {.facts = arith_of_function(n)};
  Walker buffers = {.enter = find_buffers, .context = &p};
  walk(&buffers, AS(PrimFunc, n)->body);
  Walker rows = {.enter = find_rows, .leave = leave_block, .context = &p};
  walk(&rows, AS(PrimFunc, n)->body);
  Mutator m = {.rewrite = rewrite, .context = &p};
  return mutate_children(&m, n);
}
