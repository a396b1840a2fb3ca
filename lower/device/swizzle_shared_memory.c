/* swizzle_shared_memory.c -- memory of the scopes shared.swizzle128, .swizzle64 and .swizzle32:
 * rows of so many bytes, whose parts of 16 bytes are exchanged so that the same part of eight rows
 * lies in different banks. It is what wgmma and bulk copies of tensors take.
 *
 * In:  flat programs after VectorizeLoop, which access such memory as if it were plain.
 * Out: memory of scope shared, at a multiple of 1024 bytes, and indices of where the elements are.
 *      T.ptx_wgmma keeps its offsets, for the hardware exchanges the parts itself.
 * See: InjectPermutedLayout, which does the same to the rows of a buffer that blocks ask it for. */
#include "lower/device/device.h"
#include "ir/arith/arith.h"
#include <stdlib.h>

#define SWIZZLED "shared.swizzle"

enum { PART = 16, ROW = 128, PLACE = 1024 /* bytes */ };

static int swizzle_of(Node *data) {
  const char *scope = IS(Var, data) ? AS(Var, data)->scope : NULL;
  return scope && str_begins(scope, SWIZZLED) ? atoi(scope + strlen(SWIZZLED)) : 0;
}

Node *exchanged_column(Node *column, Node *turn, int part) {
  DataType t = column->dtype;
  if (expr_is_zero(turn)) return column;
  Node *size = int_imm(t, part, column->span), *which = expr_floordiv(column, size);
  Node *there = expr_call("bitwise_xor", t, NODES(which, turn), column->span);
  return expr_add(expr_mul(there, size), expr_floormod(column, size));
}

Node *swizzled_index(Node *index, int nbytes, int swizzle) {
  Span span = index->span;
  DataType t = index->dtype;
  Node *row = int_imm(t, ROW / nbytes, span);
  Node *rows = expr_floordiv(index, row);
  Node *turn = expr_floormod(rows, int_imm(t, swizzle / PART, span));
  return expr_add(expr_mul(rows, row),
                  exchanged_column(expr_floormod(index, row), turn, PART / nbytes));
}

typedef struct Swizzle {
  const char *kernel;
  Analyzer *facts;
} Swizzle;

static _Noreturn void refuse(Swizzle *s, Node *n, Node *data, const char *why) {
  error_raisef("LowerError", n->span, "kernel %s: '%s' lies in memory of scope %s: %s", s->kernel,
               AS(Var, data)->name, AS(Var, data)->scope, why);
}

/* Of neighbours, which must lie in one part. */
static Node *swizzled(Swizzle *s, Node *n, Node *buffer, NodeVec indices) {
  Node *data = AS(Buffer, buffer)->data, *index = indices.at[0];
  int nbytes = dtype_nbytes(AS(Buffer, buffer)->elem), swizzle = swizzle_of(data);
  if (indices.len != 1 || AS(Buffer, buffer)->elem.lanes != 1)
    refuse(s, n, data, "it is accessed by one index, and element by element");
  if (index->dtype.lanes == 1)
    return arith_simplify(s->facts, swizzled_index(index, nbytes, swizzle));
  Ramp *r = IS(Ramp, index) ? AS(Ramp, index) : NULL;
  Modular m = arith_modular(s->facts, r ? r->base : index);
  bool fits = r && expr_is_one(r->stride) && r->lanes * nbytes <= PART && m.coeff % r->lanes == 0 &&
              m.base % r->lanes == 0;
  if (!fits)
    refuse(s, n, data,
           "a vector must be of neighbours within 16 bytes: vectorize a loop of "
           "16 bytes that begins at a multiple of them");
  Ramp copy = *r;
  copy.base = arith_simplify(s->facts, swizzled_index(r->base, nbytes, swizzle));
  return gc_copy(&copy, sizeof copy);
}

/* ---- calls with a pointer and an offset ---- */

static Node *in_call(Swizzle *s, Mutator *m, Call *n) {
  static const struct {
    const char *name;
    int pointer;
  } rows[] = {{"ptx_cp_async", 0}, {"ptx_ldmatrix", 5}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Node *data = n->args.len > rows[i].pointer + 1 ? n->args.at[rows[i].pointer] : NULL;
    if (!is_intrin_call(&n->node, rows[i].name) || !data || !swizzle_of(data)) continue;
    int nbytes = dtype_nbytes(AS(Var, data)->elem);
    Call copy = *n;
    copy.args = mutate_vec(m, n->args);
    if (copy.args.at == n->args.at) {
      copy.args = (NodeVec){0};
      for each (Node *, x, &n->args) vec_push(&copy.args, *x);
    }
    Node **offset = &copy.args.at[rows[i].pointer + 1];
    *offset = arith_simplify(s->facts, swizzled_index(*offset, nbytes, swizzle_of(data)));
    return gc_copy(&copy, sizeof copy);
  }
  return NULL;
}

/* ---- all ---- */

static Node *allocate(Mutator *m, Allocate *a) {
  Swizzle *s = m->context;
  int swizzle = swizzle_of(a->var);
  if (swizzle != 32 && swizzle != 64 && swizzle != 128)
    refuse(s, &a->node, a->var, "rows of 32, 64 or 128 bytes are swizzled");
  Allocate copy = *a;
  Node *before = copy.annotations ? copy.annotations : dict_new();
  copy.var = pointer_var_new(AS(Var, a->var)->name, a->elem, "shared", a->var->span);
  copy.annotations = dict_with(before, SHARED_ALIGN, int_imm(INT64, PLACE, a->node.span));
  map_set(&m->identities, a->var, copy.var);
  copy.body = mutate(m, a->body);
  return gc_copy(&copy, sizeof copy);
}

static Node *rewrite(Mutator *m, Node *n) {
  Swizzle *s = m->context;
  if (IS(Allocate, n) && swizzle_of(AS(Allocate, n)->var)) return allocate(m, AS(Allocate, n));
  Node *buffer = accessed_buffer(n), *data = buffer ? AS(Buffer, buffer)->data : NULL;
  if (data && swizzle_of(data)) {
    n = mutate_children(m, n);
    if (IS(BufferStore, n)) {
      BufferStore copy = *AS(BufferStore, n);
      copy.indices = NODES(swizzled(s, n, buffer, copy.indices));
      return gc_copy(&copy, sizeof copy);
    }
    BufferLoad copy = *AS(BufferLoad, n);
    copy.indices = NODES(swizzled(s, n, buffer, copy.indices));
    return gc_copy(&copy, sizeof copy);
  }
  Node *call = IS(Call, n) ? in_call(s, m, AS(Call, n)) : NULL;
  if (call) return call;
  if (is_intrin_call(n, "tvm_access_ptr") && swizzle_of(AS(Call, n)->args.at[1]))
    refuse(s, n, AS(Call, n)->args.at[1], "its address can't be handed on");
  return mutate_children(m, n);
}

static WalkResult find_memory(Walker *w, Node *n) {
  (void)w;
  return IS(Allocate, n) && swizzle_of(AS(Allocate, n)->var) ? WALK_STOP : WALK_ON;
}

Node *pass_swizzle_shared_memory(Node *n, const PassContext *context) {
  (void)context;
  Walker finder = {.enter = find_memory};
  if (walk(&finder, AS(PrimFunc, n)->body)) return n;
  Swizzle s = {.kernel = func_symbol(n) ? func_symbol(n) : "main", .facts = arith_new()};
  Mutator m = {.rewrite = rewrite, .context = &s};
  return mutate_children(&m, n);
}
