/* copy_matrices.c -- annotated copies between memory and matrices of wmma, which the threads of a
 * warp hold together: tiles, by T.tvm_load_matrix_sync and T.tvm_store_matrix_sync.
 *
 * Not: what is computed on the way. TVM has the matrices stored to shared memory of its own for
 * that; here a program says so itself. Fragments of mma have tensor intrinsics. */
#include "lower/device/wmma.h"
#include "lower/tensor/auto_copy.h"

/* Two loops over the rows and columns of matrices, and where a tile lies. */
typedef struct Tiles {
  const Block *block;
  WmmaFragment shape;
  int rows, columns;
  For *i, *j;
  Node *number; /* of the matrix in its buffer */
  Node *memory, *offset, *pitch;
  bool by_columns;
} Tiles;

static bool is_wmma(Node *buffer) { return str_begins(buffer_scope(buffer), "wmma."); }

static WalkResult find_matrices(Walker *w, Node *n) {
  const Copy *c = w->context;
  Node *buffer = accessed_buffer(n);
  if (buffer && scope_is_fragment(buffer_scope(buffer)))
    auto_copy_refuse(c->block, "fragments are copied by the tensor intrinsics for them "
                               "(get_mma_intrin_group)");
  return buffer && is_wmma(buffer) ? WALK_STOP : WALK_ON;
}

bool copies_matrices(const Copy *c) {
  Walker w = {.enter = find_matrices, .context = (void *)(uintptr_t)c};
  return !walk(&w, &c->store->node);
}

/* What the other calls take the matrices for; without any, what there is for the dtype. */
static WmmaFragment shape_of(Node *buffer, const Map *fragments) {
  const WmmaFragment *known = map_get(fragments, AS(Buffer, buffer)->data);
  if (known && known->m) return *known;
  const char *scope = buffer_scope(buffer);
  WmmaFragment f = {.m = 16, .n = 16, .k = 16};
  f.matrix = str_same(scope, "wmma.matrix_a") ? 'a' : str_same(scope, "wmma.matrix_b") ? 'b' : 'c';
  DataType t = AS(Buffer, buffer)->elem;
  if (dtype_equal(t, FLOAT32) && f.matrix != 'c') f.k = 8;
  if (dtype_equal(t, FLOAT64)) f.m = f.n = 8, f.k = 4;
  return f;
}

/* The loop that moves along an axis of the matrices, one element a step. */
static For *loop_along(const Copy *c, Node *index, int tile, Analyzer *facts) {
  int64_t extent;
  for each (Node *, n, &c->loops) {
    For *f = AS(For, *n);
    Node *step = step_of(facts, index, f->var);
    if (!step || !expr_is_one(step)) continue;
    if (!expr_is_const_int(f->extent, &extent) || extent % tile) continue;
    if (expr_is_zero(f->min)) return f;
  }
  return NULL;
}

/* An expression of the copy, where the tile begins. */
static Node *at_tile(const Tiles *t, Node *n) {
  Map map = {0};
  Node *i = t->i->var, *j = t->j->var;
  map_set(&map, i, expr_mul(i, int_imm(i->dtype, t->rows, i->span)));
  map_set(&map, j, expr_mul(j, int_imm(j->dtype, t->columns, j->span)));
  return substitute(n, &map);
}

static bool is_multiple(Analyzer *facts, Node *n, int64_t of) {
  Modular m = arith_modular(facts, n);
  return m.coeff % of == 0 && m.base % of == 0;
}

/* Matrices lie row by row of matrices, as tensor intrinsics have it. */
static Node *number_of(const Tiles *t, Buffer *b, NodeVec indices, Analyzer *facts) {
  int last = b->shape.len - 1;
  int64_t height, width;
  bool known = expr_is_const_int(b->shape.at[last - 1], &height) &&
               expr_is_const_int(b->shape.at[last], &width) && height % t->rows == 0 &&
               width % t->columns == 0 && !b->strides.len;
  Node *row = at_tile(t, indices.at[last - 1]), *column = at_tile(t, indices.at[last]);
  if (!known || !is_multiple(facts, row, t->rows) || !is_multiple(facts, column, t->columns))
    auto_copy_refuse(t->block, str_format("'%s' is not made of whole matrices of %d x %d", b->name,
                                          t->rows, t->columns));
  Span span = b->node.span;
  DataType type = row->dtype;
  Node *number = int_imm(type, 0, span);
  for (int i = 0; i < last - 1; i++)
    number = expr_add(expr_mul(number, b->shape.at[i]), at_tile(t, indices.at[i]));
  number = expr_add(expr_mul(number, int_imm(type, height / t->rows, span)),
                    expr_floordiv(row, int_imm(type, t->rows, span)));
  return expr_add(expr_mul(number, int_imm(type, width / t->columns, span)),
                  expr_floordiv(column, int_imm(type, t->columns, span)));
}

static bool moves_with(const Tiles *t, Node *n) {
  return node_mentions(n, t->i->var) || node_mentions(n, t->j->var);
}

/* Rows or columns of the tile lie together in memory, and the others so many elements apart. */
static void find_memory(Tiles *t, Node *buffer, NodeVec indices, Analyzer *facts) {
  Node *offset = element_offset(buffer, indices);
  Node *i = step_of(facts, offset, t->i->var), *j = step_of(facts, offset, t->j->var);
  bool by_rows = j && expr_is_one(j), by_columns = !by_rows && i && expr_is_one(i);
  t->pitch = by_rows ? i : j;
  if (!(by_rows || by_columns) || !t->pitch || moves_with(t, t->pitch))
    auto_copy_refuse(t->block, str_format("neither rows nor columns of the matrices lie together "
                                          "in '%s'",
                                          AS(Buffer, buffer)->name));
  t->memory = buffer, t->by_columns = by_columns, t->offset = at_tile(t, offset);
}

static Node *pointer_to(const Tiles *t, bool writes) {
  Span span = t->memory->span;
  DataType elem = AS(Buffer, t->memory)->elem;
  Node *size = int_imm(INT32, (int64_t)t->rows * t->columns, span);
  return expr_call("tvm_access_ptr", elem,
                   NODES(expr_call("type_annotation", elem, (NodeVec){0}, span),
                         AS(Buffer, t->memory)->data, t->offset, size,
                         int_imm(INT32, writes ? 2 : 1, span)),
                   span);
}

static Node *instruction(const Tiles *t, Node *matrices, bool stores) {
  Span span = matrices->span;
  NodeVec args = NODES(AS(Buffer, matrices)->data, int_imm(INT32, t->shape.m, span),
                       int_imm(INT32, t->shape.n, span), int_imm(INT32, t->shape.k, span),
                       expr_cast(INT32, t->number, span), pointer_to(t, stores),
                       expr_cast(INT32, t->pitch, span),
                       string_imm(t->by_columns ? "col_major" : "row_major", span));
  const char *name = stores ? "tvm_store_matrix_sync" : "tvm_load_matrix_sync";
  return stmt_evaluate(expr_call(name, VOID_TYPE, args, span), span);
}

/* The copy's loops, over tiles where they ran over elements. */
static Node *over_tiles(const Tiles *t, const Copy *c, Node *body) {
  for (int l = c->loops.len - 1; l >= 0; l--) {
    For loop = *AS(For, c->loops.at[l]);
    int tile = loop.var == t->i->var ? t->rows : loop.var == t->j->var ? t->columns : 1;
    int64_t extent;
    if (tile > 1 && expr_is_const_int(loop.extent, &extent))
      loop.extent = int_imm(loop.extent->dtype, extent / tile, loop.node.span);
    loop.body = body, loop.loop_kind = LOOP_SERIAL;
    body = gc_copy(&loop, sizeof loop);
  }
  return body;
}

Node *copy_matrices(const Copy *c, const Map *fragments, Analyzer *facts) {
  bool stores = !is_wmma(c->store->buffer);
  BufferLoad *from = IS(BufferLoad, c->store->value) ? AS(BufferLoad, c->store->value) : NULL;
  if (!from || from->predicate || c->store->predicate || c->conditions.len ||
      is_wmma(from->buffer) != stores ||
      !dtype_equal(AS(Buffer, from->buffer)->elem, AS(Buffer, c->store->buffer)->elem))
    auto_copy_refuse(c->block, "matrices of wmma are copied as they are, from or to other memory, "
                               "and without a condition: compute with what lies in shared memory");
  Node *matrices = stores ? from->buffer : c->store->buffer;
  Node *memory = stores ? c->store->buffer : from->buffer;
  NodeVec inside = stores ? from->indices : c->store->indices;
  NodeVec outside = stores ? c->store->indices : from->indices;
  Tiles t = {.block = c->block, .shape = shape_of(matrices, fragments)};
  t.rows = wmma_rows(&t.shape), t.columns = wmma_columns(&t.shape);
  if (inside.len >= 2) {
    t.i = loop_along(c, inside.at[inside.len - 2], t.rows, facts);
    t.j = loop_along(c, inside.at[inside.len - 1], t.columns, facts);
  }
  if (!t.i || !t.j || t.i == t.j)
    auto_copy_refuse(c->block, str_format("there are no loops over whole matrices of %d x %d in "
                                          "the last two dims of '%s'",
                                          t.rows, t.columns, AS(Buffer, matrices)->name));
  t.number = arith_simplify(facts, number_of(&t, AS(Buffer, matrices), inside, facts));
  find_memory(&t, memory, outside, facts);
  t.offset = arith_simplify(facts, t.offset);
  return over_tiles(&t, c, instruction(&t, matrices, stores));
}
