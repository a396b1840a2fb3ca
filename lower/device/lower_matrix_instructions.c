/* lower_matrix_instructions.c -- instructions of tensor cores and asynchronous copies, as what the
 * threads of a warp do, for a simulated GPU.
 *
 * In:  launches in flat programs: T.ptx_mma, T.ptx_ldmatrix, T.mma_fill, T.mma_store, copies by
 * T.ptx_cp_async and T.ptx_cp_async_bulk; T.tvm_fill_fragment, T.tvm_load_matrix_sync,
 * T.tvm_store_matrix_sync, T.tvm_mma_sync, whose fragments lie in memory of scope wmma.*.
 *
 * Out: loads and stores, memory of the warp, barriers of the warp.
 *
 * Which element of a matrix a thread holds in which place is told by NVIDIA's PTX ISA, "Warp-level
 * matrix instructions": a thread is of group lane / 4, and number lane % 4 in it; a register holds
 * `pack` neighbours of a row (A) or a column (B). Fragments of wmma have no layout of their own:
 * here the warp has the whole matrix, row by row. A barrier of copies (mbarrier) is waited for by
 * all threads of the block, so it is one of these.
 *
 * Not: targets that are not simulated; sparse, 4-bit and 1-bit operands, mma.m8n8k4 of float16. */
#include "lower/device/wmma.h"

enum { WARP = 32, ANY_EXTENT = INT32_MAX };

typedef struct Fragment {
  int m, n, k;
  char matrix; /* 'a', 'b', 'c' */
} Fragment;

typedef struct Matrix {
  const char *kernel;
  Node *vars[3]; /* of threadIdx */
  int64_t extents[3];
  Map fragments; /* pointer of wmma memory to its WmmaFragment */
  NodeVec memory;
  bool checks; /* a kernel that is run to find its faults: all threads of a warp must come */
} Matrix;

static Node *number(int64_t n, Span span) { return int_imm(INT32, n, span); }
static Node *times(Node *a, int64_t b) { return expr_mul(a, number(b, a->span)); }
static Node *over(Node *a, int64_t b) { return expr_floordiv(a, number(b, a->span)); }
static Node *modulo(Node *a, int64_t b) { return expr_floormod(a, number(b, a->span)); }

static _Noreturn void refuse(Matrix *m, Node *n, const char *what) {
  error_raisef("LowerError", n->span, "kernel %s: the simulated GPU has no %s", m->kernel, what);
}

/* ---- threads ---- */

static Node *lane_of(const Matrix *m, Span span) { return warp_lane(m->vars, m->extents, span); }

/* The threads of the warp wait for each other; all must come. */
static void meet(Matrix *m, NodeVec *out, Span span) {
  if (m->checks) {
    NodeVec args = NODES(int_imm(DTYPE_OF(UINT, 32), (int64_t)UINT32_MAX, span), number(0, span),
                         number(0, span), number(WARP, span), number(WARP, span));
    vec_push(out, stmt_evaluate(expr_call("tvm_warp_shuffle", INT32, args, span), span));
  }
  Node *sync = expr_call("tvm_storage_sync", INT32, NODES(string_imm("warp", span)), span);
  vec_push(out, stmt_evaluate(sync, span));
}

static Node *repeat(Node *var, int64_t n, Node *body) {
  return MAKE(For, body->span, VOID_TYPE, .min = number(0, body->span),
              .extent = number(n, body->span), .var = var, .loop_kind = LOOP_SERIAL, .body = body);
}

/* ---- memory ---- */

/* Elements of a dtype from a place on. */
typedef struct View {
  Node *buffer, *first;
} View;

/* The pointer is a variable, T.tvm_access_ptr or T.address_of; the offset counts its elements. */
static View view_of(Matrix *m, Node *pointer, Node *offset, DataType elem) {
  DataType of = VOID_TYPE;
  Node *data = pointer;
  if (is_intrin_call(pointer, "tvm_access_ptr")) {
    Call *c = AS(Call, pointer);
    data = c->args.at[1];
    of = c->args.at[0]->dtype;
    offset = expr_add(expr_cast(INT32, c->args.at[2], pointer->span), offset);
  } else if (is_intrin_call(pointer, "address_of") &&
             IS(BufferLoad, AS(Call, pointer)->args.at[0])) {
    BufferLoad *load = AS(BufferLoad, AS(Call, pointer)->args.at[0]);
    Node *index = load->indices.at[0];
    if (IS(Ramp, index)) index = AS(Ramp, index)->base;
    data = AS(Buffer, load->buffer)->data;
    of = AS(Buffer, load->buffer)->elem;
    offset = expr_add(expr_cast(INT32, index, pointer->span), offset);
  }
  if (!IS(Var, data)) refuse(m, pointer, "matrix instructions on a pointer of this form");
  if (!dtype_is_void(AS(Var, data)->elem)) of = AS(Var, data)->elem;
  int64_t from = dtype_is_void(of) ? dtype_nbytes(elem) : dtype_nbytes(of), to = dtype_nbytes(elem);
  View v = {MAKE(Buffer, pointer->span, VOID_TYPE, .name = AS(Var, data)->name, .elem = elem,
                 .data = data, .align = (int)to, .shape = NODES(number(ANY_EXTENT, pointer->span)),
                 .offset_factor = 1),
            from == to ? offset : over(times(offset, from), to)};
  return v;
}

static Node *load(View v, Node *at) {
  return expr_load(v.buffer, NODES(expr_add(v.first, at)), at->span);
}

static Node *store(View v, Node *at, Node *value) {
  Node *cast = expr_cast(AS(Buffer, v.buffer)->elem, value, at->span);
  return stmt_store(v.buffer, NODES(expr_add(v.first, at)), cast, at->span);
}

static Node *load_row(View v, Node *at, int lanes) {
  Node *base = expr_add(v.first, at);
  DataType index = {DTYPE_INT, 32, (int16_t)lanes};
  return expr_load(v.buffer,
                   NODES(MAKE(Ramp, at->span, index, .base = base, .stride = number(1, at->span),
                              .lanes = lanes)),
                   at->span);
}

static Node *store_row(View v, Node *at, Node *value) {
  int lanes = value->dtype.lanes;
  Node *base = expr_add(v.first, at);
  DataType index = {DTYPE_INT, 32, (int16_t)lanes};
  return stmt_store(v.buffer,
                    NODES(MAKE(Ramp, at->span, index, .base = base, .stride = number(1, at->span),
                               .lanes = lanes)),
                    value, at->span);
}

/* Memory for all instructions that ask for as much under that name: they begin and end with the
 * warp's barriers. */
static View scratch(Matrix *m, const char *name, DataType elem, int64_t n, const char *scope,
                    Span span) {
  for each (Node *, b, &m->memory) {
    int64_t have = 0;
    Buffer *x = AS(Buffer, *b);
    bool same = str_same(x->name, name) && dtype_equal(x->elem, elem) &&
                expr_is_const_int(x->shape.at[0], &have) && have == n;
    if (same) return (View){*b, number(0, span)};
  }
  Node *made = buffer_new(str_intern(name), elem, NODES(number(n, span)), scope, span);
  vec_push(&m->memory, made);
  return (View){made, number(0, span)};
}

/* ---- mma ---- */

typedef struct Operand {
  DataType elem;
  bool is_tf32;
} Operand;

static bool operand_of(Node *n, Operand *out) {
  static const struct {
    const char *name, *dtype;
  } names[] = {{"fp16", "float16"},     {"bf16", "bfloat16"},   {"tf32", "float32"},
               {"fp32", "float32"},     {"fp64", "float64"},    {"int8", "int8"},
               {"uint8", "uint8"},      {"int32", "int32"},     {"e4m3", "float8_e4m3fn"},
               {"e5m2", "float8_e5m2"}, {"float16", "float16"}, {"bfloat16", "bfloat16"},
               {"float32", "float32"},  {"float64", "float64"}};
  if (!IS(StringImm, n)) return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (str_same(names[i].name, AS(StringImm, n)->value)) {
      out->is_tf32 = str_same(names[i].name, "tf32");
      return dtype_parse(names[i].dtype, &out->elem);
    }
  return false;
}

static DataType computed_in(DataType t) {
  return dtype_is_int(t) ? INT32 : t.bits == 64 ? FLOAT64 : FLOAT32;
}

/* The last 13 bits of a float32 are not there. */
static Node *as_tf32(Node *value) {
  DataType word = DTYPE_OF(UINT, 32);
  Node *bits = expr_call("reinterpret", word, NODES(value), value->span);
  Node *mask = int_imm(word, 0xffffe000, value->span);
  bits = expr_call("bitwise_and", word, NODES(bits, mask), value->span);
  return expr_call("reinterpret", FLOAT32, NODES(bits), value->span);
}

static int pack_of(DataType t) { return t.bits < 32 ? 32 / t.bits : 1; }

/* Where element i of a thread lies in the matrix. */
static void place_in_a(Node *lane, Node *i, int m, int pack, Node **row, Node **col) {
  Node *reg = over(i, pack), *in = expr_add(times(modulo(lane, 4), pack), modulo(i, pack));
  *row = m == 16 ? expr_add(over(lane, 4), times(modulo(reg, 2), 8)) : over(lane, 4);
  *col = expr_add(in, times(m == 16 ? over(reg, 2) : reg, 4 * pack));
}

static void place_in_b(Node *lane, Node *i, int pack, Node **row, Node **col) {
  Node *in = expr_add(times(modulo(lane, 4), pack), modulo(i, pack));
  *row = expr_add(in, times(over(i, pack), 4 * pack));
  *col = over(lane, 4);
}

static void place_in_c(Node *lane, Node *i, Node **row, Node **col) {
  *row = expr_add(over(lane, 4), times(over(i, 2), 8));
  *col = expr_add(times(modulo(lane, 4), 2), modulo(i, 2));
}

/* Each thread puts what it holds of A or B into the warp's matrix. */
static Node *spread(Matrix *m, Operand o, View from, View whole, const Fragment *f, Span span) {
  bool is_a = f->matrix == 'a';
  Node *i = var_new("i", INT32, span), *lane = lane_of(m, span), *row, *col, *value = load(from, i);
  int cols = is_a ? f->k : f->n, count = (is_a ? f->m : f->n) * f->k / WARP;
  if (is_a) place_in_a(lane, i, f->m, pack_of(o.elem), &row, &col);
  else place_in_b(lane, i, pack_of(o.elem), &row, &col);
  if (o.is_tf32) value = as_tf32(value);
  return repeat(i, count, store(whole, expr_add(times(row, cols), col), value));
}

static Node *clamped(Node *sum, DataType to) {
  Node *most = int_imm(sum->dtype, INT32_MAX, sum->span),
       *least = int_imm(sum->dtype, INT32_MIN, sum->span);
  if (!dtype_equal(sum->dtype, INT64)) return expr_cast(to, sum, sum->span);
  sum = expr_binary(NK_Max, expr_binary(NK_Min, sum, most, sum->span), least, sum->span);
  return expr_cast(to, sum, sum->span);
}

/* An element of C: a row of A by a column of B is added. */
static Node *accumulate(Matrix *m, View a, View b, View c, Node *at, Node *row, Node *col,
                        const Fragment *f, bool saturates, Span span) {
  DataType in = AS(Buffer, a.buffer)->elem, sum_type = saturates ? INT64 : in;
  View sum = scratch(m, "sum", sum_type, 1, "local", span);
  Node *zero = number(0, span), *k = var_new("k", INT32, span);
  Node *x = load(a, expr_add(times(row, f->k), k)), *y = load(b, expr_add(times(k, f->n), col));
  Node *product = expr_mul(expr_cast(sum_type, x, span), expr_cast(sum_type, y, span));
  Node *value = clamped(load(sum, zero), AS(Buffer, c.buffer)->elem);
  return stmt_seq(NODES(store(sum, zero, load(c, at)),
                        repeat(k, f->k, store(sum, zero, expr_add(load(sum, zero), product))),
                        store(c, at, value)),
                  span);
}

static Node *lower_mma(Matrix *m, Call *n) {
  Fragment f = {0};
  Operand a, b, c;
  Span span = n->node.span;
  NodeVec x = n->args;
  const char *shape = x.len && IS(StringImm, x.at[0]) ? AS(StringImm, x.at[0])->value : "";
  bool known = x.len >= 13 && sscanf(shape, "m%dn%dk%d", &f.m, &f.n, &f.k) == 3 &&
               operand_of(x.at[3], &a) && operand_of(x.at[4], &b) && operand_of(x.at[5], &c);
  int steps = known ? f.k / (4 * pack_of(a.elem)) : 0; /* registers along k */
  int most = f.m == 8 ? 1 : a.elem.bits == 64 ? 4 : 2;
  bool fits = known && f.n == 8 && (f.m == 16 || (f.m == 8 && a.elem.bits != 16)) &&
              f.k % (4 * pack_of(a.elem)) == 0 && (steps == 1 || steps == 2 || steps == 4) &&
              steps <= most;
  if (!fits) refuse(m, &n->node, str_format("mma of the shape '%s' and these dtypes", shape));
  NodeVec out = {0};
  bool saturates = dtype_is_int(c.elem) && !expr_is_zero(x.at[12]);
  DataType in = computed_in(a.elem);
  View whole_a = scratch(m, "matrix_a", in, f.m * f.k, "warp", span),
       whole_b = scratch(m, "matrix_b", in, f.k * f.n, "warp", span);
  View vc = view_of(m, x.at[10], expr_cast(INT32, x.at[11], span), c.elem);
  Fragment fa = f, fb = f;
  fa.matrix = 'a', fb.matrix = 'b';
  View va = view_of(m, x.at[6], expr_cast(INT32, x.at[7], span), a.elem),
       vb = view_of(m, x.at[8], expr_cast(INT32, x.at[9], span), b.elem);
  vec_push(&out, spread(m, a, va, whole_a, &fa, span));
  vec_push(&out, spread(m, b, vb, whole_b, &fb, span));
  meet(m, &out, span);
  Node *i = var_new("i", INT32, span), *row, *col;
  place_in_c(lane_of(m, span), i, &row, &col);
  vec_push(&out, repeat(i, f.m * f.n / WARP,
                        accumulate(m, whole_a, whole_b, vc, i, row, col, &f, saturates, span)));
  meet(m, &out, span);
  return stmt_seq(out, span);
}

/* ---- wgmma: four warps have 16 rows each; operands lie in swizzled memory ---- */

/* An operand in shared memory, as the instruction is told of it. */
typedef struct SharedOperand {
  View from;
  bool along_k;            /* what lies together */
  int64_t leading, stride; /* bytes */
  int64_t swizzle;         /* bytes */
} SharedOperand;

/* The element of row or column i, step k, as the PTX ISA says: rows of `swizzle` bytes, eight to a
 * part; parts `stride` apart along the rows, `leading` apart across. */
static Node *shared_element(SharedOperand *o, Node *i, Node *k) {
  int nbytes = dtype_nbytes(AS(Buffer, o->from.buffer)->elem), wide = (int)o->swizzle / nbytes;
  Node *row = o->along_k ? i : k, *column = o->along_k ? k : i;
  Node *at = expr_add(times(over(row, 8), o->stride / nbytes), times(modulo(row, 8), wide));
  at = expr_add(at, expr_add(times(over(column, wide), o->leading / nbytes), modulo(column, wide)));
  View whole = {o->from.buffer, number(0, i->span)};
  return load(whole, swizzled_index(expr_add(o->from.first, at), nbytes, (int)o->swizzle));
}

static SharedOperand shared_operand(Matrix *m, Call *n, int layout, int at, DataType elem) {
  NodeVec x = n->args;
  SharedOperand o = {.from =
                         view_of(m, x.at[at], expr_cast(INT32, x.at[at + 1], n->node.span), elem)};
  o.along_k = IS(StringImm, x.at[layout]) && str_same(AS(StringImm, x.at[layout])->value, "k");
  bool known = expr_is_const_int(x.at[at + 2], &o.leading) &&
               expr_is_const_int(x.at[at + 3], &o.stride) &&
               expr_is_const_int(x.at[5], &o.swizzle) &&
               (o.swizzle == 32 || o.swizzle == 64 || o.swizzle == 128);
  if (!known) refuse(m, &n->node, "wgmma of operands that lie in this way");
  return o;
}

/* A in registers, as for mma: the warp's 16 rows. */
static View registers_of_warp(Matrix *m, Call *n, Operand a, int depth, NodeVec *out) {
  Span span = n->node.span;
  Fragment f = {16, 8, depth, 'a'};
  View whole = scratch(m, "matrix_a", computed_in(a.elem), 16 * depth, "warp", span);
  View from = view_of(m, n->args.at[6], expr_cast(INT32, n->args.at[7], span), a.elem);
  vec_push(out, spread(m, a, from, whole, &f, span));
  meet(m, out, span);
  return whole;
}

static bool is_local(Node *pointer) {
  return IS(Var, pointer) && AS(Var, pointer)->scope && str_same(AS(Var, pointer)->scope, "local");
}

/* Where kernels are checked: the sums are not there before a product was waited for, and registers
 * of C and A only behind a fence. */
enum { PRODUCT_ENDS, PRODUCT_BEGINS, PRODUCT_TAKES };
static void mark_registers(Matrix *m, NodeVec *out, Call *n, int c, int count, int when) {
  Span span = n->node.span;
  NodeVec args = NODES(n->args.at[c], n->args.at[c + 1], number(count, span), number(when, span));
  if (m->checks)
    vec_push(out, stmt_evaluate(expr_call("ptx_wgmma_registers", n->node.dtype, args, span), span));
}

static Node *lower_wgmma(Matrix *m, Call *n) {
  enum { A = 6, B = 10, C = 14 };
  Span span = n->node.span;
  int rows = 0, columns = 0, depth = 0;
  NodeVec x = n->args, out = {0};
  Operand in, sum;
  const char *shape = IS(StringImm, x.at[0]) ? AS(StringImm, x.at[0])->value : "";
  bool known = sscanf(shape, "m%dn%dk%d", &rows, &columns, &depth) == 3 && rows == 64 &&
               columns % 8 == 0 && columns <= 256 && operand_of(x.at[1], &in) &&
               operand_of(x.at[2], &sum) && depth == 32 / dtype_nbytes(in.elem);
  if (!known) refuse(m, &n->node, str_format("wgmma of the shape '%s' and these dtypes", shape));
  DataType type = computed_in(in.elem);
  View c = view_of(m, x.at[C], expr_cast(INT32, x.at[C + 1], span), sum.elem),
       total = scratch(m, "sum", type, 1, "local", span), whole = {0};
  SharedOperand a = {0}, b = shared_operand(m, n, 4, B, in.elem);
  bool held = is_local(x.at[A]);
  meet(m, &out, span);
  if (held) whole = registers_of_warp(m, n, in, depth, &out);
  else a = shared_operand(m, n, 3, A, in.elem);
  Node *i = var_new("i", INT32, span), *k = var_new("k", INT32, span), *zero = number(0, span);
  Node *row, *column, *lane = lane_of(m, span);
  place_in_c(lane, modulo(i, 4), &row, &column);
  column = expr_add(column, times(over(i, 4), 8));
  Node *first = times(modulo(over(warp_thread(m->vars, m->extents, span), WARP), 4), 16);
  Node *u = held ? load(whole, expr_add(times(row, depth), k))
                 : shared_element(&a, expr_add(first, row), k),
       *v = shared_element(&b, column, k);
  if (in.is_tf32) u = as_tf32(u), v = as_tf32(v);
  Node *product = expr_mul(expr_cast(type, u, span), expr_cast(type, v, span));
  Node *add = store(total, zero, expr_add(load(total, zero), product));
  Node *one = stmt_seq(
      NODES(store(total, zero, load(c, i)), repeat(k, depth, add), store(c, i, load(total, zero))),
      span);
  if (held) mark_registers(m, &out, n, A, 16 / dtype_nbytes(in.elem), PRODUCT_TAKES);
  mark_registers(m, &out, n, C, columns / 2, PRODUCT_BEGINS);
  vec_push(&out, repeat(i, columns / 2, one));
  mark_registers(m, &out, n, C, columns / 2, PRODUCT_ENDS);
  meet(m, &out, span);
  return stmt_seq(out, span);
}

/* ---- ldmatrix: matrices of 8 x 8 elements of 16 bits, each row at the address of one thread ----
 */

static Node *lower_ldmatrix(Matrix *m, Call *n) {
  Span span = n->node.span;
  DataType word = DTYPE_OF(UINT, 16);
  int64_t transposed = 0, count = 0;
  NodeVec x = n->args, out = {0};
  bool known = expr_is_const_int(x.at[0], &transposed) && expr_is_const_int(x.at[1], &count) &&
               (count == 1 || count == 2 || count == 4);
  if (!known) refuse(m, &n->node, "ldmatrix but of 1, 2 or 4 matrices");
  if (transposed && n->node.dtype.bits == 8)
    refuse(m, &n->node, "ldmatrix.trans of 8-bit elements");
  View to = view_of(m, x.at[3], expr_cast(INT32, x.at[4], span), word),
       from = view_of(m, x.at[5], expr_cast(INT32, x.at[6], span), word),
       rows = scratch(m, "rows", word, 8 * 8 * 4, "warp", span);
  Node *lane = lane_of(m, span), *zero = number(0, span);
  Node *bring = store_row(rows, times(lane, 8), load_row(from, zero, 8));
  if (count < 4)
    bring = MAKE(IfThenElse, span, VOID_TYPE, .then = bring,
                 .cond = expr_binary(NK_LT, lane, number(8 * count, span), span));
  vec_push(&out, bring);
  meet(m, &out, span);
  Node *i = var_new("i", INT32, span);
  Node *group = over(lane, 4), *pair = expr_add(times(modulo(lane, 4), 2), modulo(i, 2));
  Node *place = transposed ? expr_add(times(pair, 8), group) : expr_add(times(group, 8), pair);
  place = expr_add(times(over(i, 2), 64), place);
  vec_push(&out, repeat(i, 2 * count, store(to, i, load(rows, place))));
  meet(m, &out, span);
  return stmt_seq(out, span);
}

/* ---- registers of mma ---- */

static Node *lower_mma_fill(Matrix *m, Call *n) {
  Span span = n->node.span;
  int64_t count = 0;
  if (!expr_is_const_int(n->args.at[0], &count)) refuse(m, &n->node, "mma_fill of unknown size");
  View to = view_of(m, n->args.at[1], expr_cast(INT32, n->args.at[2], span), n->node.dtype);
  Node *i = var_new("i", INT32, span), *zero = int_imm(INT32, 0, span);
  return repeat(i, count, store(to, i, zero));
}

/* A tile of 16 x 16, 8 elements a thread: two tiles of mma's C side by side. */
static Node *lower_mma_store(Matrix *m, Call *n) {
  Span span = n->node.span;
  int64_t rows = 0, cols = 0;
  NodeVec x = n->args;
  bool known = expr_is_const_int(x.at[0], &rows) && expr_is_const_int(x.at[1], &cols);
  if (!known || rows != 16 || cols != 16) refuse(m, &n->node, "mma_store but of 16 x 16");
  View to = view_of(m, x.at[2], number(0, span), n->node.dtype),
       from = view_of(m, x.at[3], expr_cast(INT32, x.at[4], span), n->node.dtype);
  Node *i = var_new("i", INT32, span), *row, *col;
  place_in_c(lane_of(m, span), modulo(i, 4), &row, &col);
  col = expr_add(col, times(over(i, 4), 8));
  Node *at = expr_add(expr_mul(row, expr_cast(INT32, x.at[5], span)), col);
  return repeat(i, rows * cols / WARP, store(to, at, load(from, i)));
}

/* ---- asynchronous copies: at once, which nobody may notice before they have waited ---- */

static Node *lower_cp_async(Matrix *m, Call *n) {
  Span span = n->node.span;
  int64_t nbytes = 0;
  NodeVec x = n->args;
  bool known = x.len >= 5 && expr_is_const_int(x.at[4], &nbytes) &&
               (nbytes == 4 || nbytes == 8 || nbytes == 16);
  if (!known) refuse(m, &n->node, "cp.async but of 4, 8 or 16 bytes");
  View to = view_of(m, x.at[0], expr_cast(INT32, x.at[1], span), UINT8),
       from = view_of(m, x.at[2], expr_cast(INT32, x.at[3], span), UINT8);
  Node *zero = number(0, span);
  Node *copy = store_row(to, zero, load_row(from, zero, (int)nbytes));
  if (x.len == 5) return copy;
  Node *nothing = MAKE(Broadcast, span, ((DataType){DTYPE_UINT, 8, (int16_t)nbytes}),
                       .value = int_imm(UINT8, 0, span), .lanes = (int)nbytes);
  Node *cond = expr_cast(BOOL, x.at[5], span);
  return MAKE(IfThenElse, span, VOID_TYPE, .cond = cond, .then = copy,
              .orelse = store_row(to, zero, nothing));
}

/* Many bytes, which one thread copies. */
static Node *lower_bulk_copy(Matrix *m, Call *n) {
  Span span = n->node.span;
  NodeVec x = n->args;
  View to = view_of(m, x.at[0], expr_cast(INT32, x.at[1], span), UINT8),
       from = view_of(m, x.at[2], expr_cast(INT32, x.at[3], span), UINT8);
  Node *i = var_new("i", INT32, span), *parts = over(expr_cast(INT32, x.at[4], span), 16);
  Node *part = store_row(to, times(i, 16), load_row(from, times(i, 16), 16));
  Node *loop = repeat(i, 0, part);
  AS(For, loop)->extent = parts;
  return loop;
}

static Node *lower_wait_barrier(Matrix *m, Call *n) {
  Span span = n->node.span;
  (void)m;
  return stmt_evaluate(
      expr_call("tvm_storage_sync", INT32, NODES(string_imm("shared", span)), span), span);
}

/* ---- wmma ---- */

static const WmmaFragment *fragment_of(Matrix *m, Node *pointer) {
  const WmmaFragment *f = map_get(&m->fragments, pointer);
  if (!f || !f->m)
    refuse(m, pointer,
           "fragment here: its memory is of scope wmma.matrix_a, .matrix_b or .accumulator");
  return f;
}

/* A matrix of the fragment, by its number. */
static View matrix_of(Matrix *m, Node *pointer, Node *index) {
  const WmmaFragment *f = fragment_of(m, pointer);
  Node *first = times(expr_cast(INT32, index, pointer->span), wmma_rows(f) * wmma_columns(f));
  return view_of(m, pointer, first, AS(Var, pointer)->elem);
}

/* What the threads of a warp do, element by element: `at` is its number. */
static Node *share_out(Matrix *m, int64_t n, Node *at, Node *body, Span span) {
  NodeVec out = {0};
  Node *i = var_new("i", INT32, span);
  Map bound = {0};
  map_set(&bound, at, expr_add(times(i, WARP), lane_of(m, span)));
  meet(m, &out, span);
  vec_push(&out, repeat(i, n / WARP, substitute(body, &bound)));
  meet(m, &out, span);
  return stmt_seq(out, span);
}

static Node *lower_fill(Matrix *m, Call *n) {
  Span span = n->node.span;
  const WmmaFragment *f = fragment_of(m, n->args.at[0]);
  Node *at = var_new("at", INT32, span);
  View to = matrix_of(m, n->args.at[0], n->args.at[4]);
  return share_out(m, wmma_rows(f) * wmma_columns(f), at, store(to, at, n->args.at[5]), span);
}

static Node *lower_transfer(Matrix *m, Call *n, bool loads) {
  Span span = n->node.span;
  NodeVec x = n->args;
  const WmmaFragment *f = fragment_of(m, x.at[0]);
  DataType elem = AS(Var, x.at[0])->elem;
  View whole = matrix_of(m, x.at[0], x.at[4]), there = view_of(m, x.at[5], number(0, span), elem);
  Node *at = var_new("at", INT32, span), *stride = expr_cast(INT32, x.at[6], span);
  Node *row = over(at, wmma_columns(f)), *col = modulo(at, wmma_columns(f));
  bool by_columns = IS(StringImm, x.at[7]) && str_same(AS(StringImm, x.at[7])->value, "col_major");
  Node *place =
      by_columns ? expr_add(expr_mul(col, stride), row) : expr_add(expr_mul(row, stride), col);
  Node *move = loads ? store(whole, at, load(there, place)) : store(there, place, load(whole, at));
  return share_out(m, wmma_rows(f) * wmma_columns(f), at, move, span);
}

static Node *lower_mma_sync(Matrix *m, Call *n) {
  Span span = n->node.span;
  NodeVec x = n->args;
  const WmmaFragment *f = fragment_of(m, x.at[0]), *of_a = fragment_of(m, x.at[2]);
  View d = matrix_of(m, x.at[0], x.at[1]), a = matrix_of(m, x.at[2], x.at[3]),
       b = matrix_of(m, x.at[4], x.at[5]), c = matrix_of(m, x.at[6], x.at[7]);
  Fragment shape = {f->m, f->n, of_a->k, 'c'};
  DataType in = computed_in(AS(Buffer, a.buffer)->elem);
  View sum = scratch(m, "sum", in, 1, "local", span);
  Node *at = var_new("at", INT32, span), *k = var_new("k", INT32, span), *zero = number(0, span);
  Node *row = over(at, shape.n), *col = modulo(at, shape.n);
  Node *u = expr_cast(in, load(a, expr_add(times(row, shape.k), k)), span),
       *v = expr_cast(in, load(b, expr_add(times(k, shape.n), col)), span);
  Node *body = stmt_seq(
      NODES(store(sum, zero, load(c, at)),
            repeat(k, shape.k, store(sum, zero, expr_add(load(sum, zero), expr_mul(u, v)))),
            store(d, at, load(sum, zero))),
      span);
  return share_out(m, shape.m * shape.n, at, body, span);
}

/* ---- all ---- */

static Node *lower_load_matrix(Matrix *m, Call *n) { return lower_transfer(m, n, true); }
static Node *lower_store_matrix(Matrix *m, Call *n) { return lower_transfer(m, n, false); }

static Node *lower_nothing(Matrix *m, Call *n) {
  (void)m;
  return stmt_seq((NodeVec){0}, n->node.span);
}

static Node *lower_call(Matrix *m, Node *n) {
  static const struct {
    const char *name;
    Node *(*lower)(Matrix *m, Call *n);
  } rows[] = {{"ptx_mma", lower_mma},
              {"ptx_wgmma", lower_wgmma},
              {"ptx_wgmma_fence", lower_nothing},
              {"ptx_wgmma_commit_group", lower_nothing},
              {"ptx_wgmma_wait_group", lower_nothing},
              {"ptx_fence_proxy_async", lower_nothing},
              {"ptx_ldmatrix", lower_ldmatrix},
              {"mma_fill", lower_mma_fill},
              {"mma_store", lower_mma_store},
              {"ptx_cp_async", lower_cp_async},
              {"ptx_commit_group", lower_nothing},
              {"ptx_wait_group", lower_nothing},
              {"ptx_cp_async_bulk", lower_bulk_copy},
              {"create_barriers", lower_nothing},
              {"ptx_init_barrier_thread_count", lower_nothing},
              {"ptx_arrive_barrier", lower_nothing},
              {"ptx_arrive_barrier_expect_tx", lower_nothing},
              {"ptx_cp_async_barrier", lower_nothing},
              {"ptx_wait_barrier", lower_wait_barrier},
              {"tvm_fill_fragment", lower_fill},
              {"tvm_load_matrix_sync", lower_load_matrix},
              {"tvm_store_matrix_sync", lower_store_matrix},
              {"tvm_mma_sync", lower_mma_sync}};
  /* Copies that are checked come when they are waited for (target/interp/async.c). */
  bool is_async = is_intrin_call(n, "ptx_cp_async") || is_intrin_call(n, "ptx_commit_group") ||
                  is_intrin_call(n, "ptx_wait_group") || is_intrin_call(n, "ptx_wgmma_fence") ||
                  is_intrin_call(n, "ptx_wgmma_commit_group") ||
                  is_intrin_call(n, "ptx_wgmma_wait_group");
  if (m->checks && is_async) return NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (is_intrin_call(n, rows[i].name)) return rows[i].lower(m, AS(Call, n));
  return NULL;
}

static Node *with_memory(Matrix *m, Node *body) {
  for (int i = m->memory.len - 1; i >= 0; i--) {
    Buffer *b = AS(Buffer, m->memory.at[i]);
    body = MAKE(DeclBuffer, b->node.span, VOID_TYPE, .buffer = &b->node, .body = body);
    body = MAKE(Allocate, b->node.span, VOID_TYPE, .extents = b->shape, .elem = b->elem,
                .var = b->data, .body = body);
  }
  return body;
}

static Node *rewrite(Mutator *mu, Node *n) {
  Matrix *m = mu->context;
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  if (is_launch(n)) {
    AttrStmt copy = *AS(AttrStmt, n);
    int axis = launch_axis(launch_tag(n));
    if (axis >= 3) m->vars[axis - 3] = AS(IterVar, copy.subject)->var;
    if (axis >= 3) expr_is_const_int(copy.value, &m->extents[axis - 3]);
    copy.body = mutate(mu, copy.body);
    if (!is_launch(AS(AttrStmt, n)->body)) {
      copy.body = with_memory(m, copy.body);
      m->memory = (NodeVec){0};
    }
    return copy.body == AS(AttrStmt, n)->body ? n : gc_copy(&copy, sizeof copy);
  }
  Node *made = IS(Evaluate, n) ? lower_call(m, AS(Evaluate, n)->value) : NULL;
  return made ? made : mutate_children(mu, n);
}

/* Memory of wmma.* becomes the warp's. */
static Node *rename_scopes(Mutator *mu, Node *n) {
  Matrix *m = mu->context;
  if (!IS(Var, n) || !AS(Var, n)->scope || !str_begins(AS(Var, n)->scope, "wmma."))
    return mutate_children(mu, n);
  Node *var = pointer_var_new(AS(Var, n)->name, AS(Var, n)->elem, "warp", n->span);
  map_set(&m->fragments, var, map_get(&m->fragments, n));
  return var;
}

static WalkResult find_instruction(Walker *w, Node *n) {
  static const char *const prefixes[] = {"ptx_",
                                         "mma_",
                                         "create_barriers",
                                         "tvm_fill_fragment",
                                         "tvm_mma_sync",
                                         "tvm_load_matrix_sync",
                                         "tvm_store_matrix_sync"};
  (void)w;
  const Intrin *in = IS(Call, n) ? intrin_of(AS(Call, n)->op) : NULL;
  for (size_t i = 0; in && i < sizeof prefixes / sizeof *prefixes; i++)
    if (str_begins(in->name, prefixes[i])) return WALK_STOP;
  return WALK_ON;
}

Node *pass_lower_matrix_instructions(Node *n, const PassContext *context) {
  PrimFunc *f = AS(PrimFunc, n);
  Walker finder = {.enter = find_instruction};
  if (!target_is(context->target, "sim") || walk(&finder, f->body)) return n;
  Matrix m = {.kernel = func_symbol(n) ? func_symbol(n) : "main",
              .extents = {1, 1, 1},
              .checks = target_option_int(context->target, "sanitize") != 0};
  if (target_option_int(context->target, "thread_warp_size") != WARP)
    error_raisef("LowerError", n->span,
                 "kernel %s: matrix instructions need warps of 32 threads, and this target's have "
                 "%lld: choose -model=cuda",
                 m.kernel, (long long)target_option_int(context->target, "thread_warp_size"));
  Mutator scopes = {.rewrite = rename_scopes, .context = &m},
          calls = {.rewrite = rewrite, .context = &m};
  wmma_fragments(m.kernel, f->body, &m.fragments);
  Node *body = mutate(&scopes, f->body);
  PrimFunc copy = *f;
  copy.body = mutate(&calls, body);
  return gc_copy(&copy, sizeof copy);
}
