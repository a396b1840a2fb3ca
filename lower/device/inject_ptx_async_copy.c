/* inject_ptx_async_copy.c -- copies from global to shared memory that a thread does not wait for.
 *
 * In:  "async_scope" around stores to shared memory (InjectSoftwarePipeline), after VectorizeLoop.
 * Out: T.ptx_cp_async for those that bring 4, 8 or 16 bytes from global memory as they are, or
 * zeros where a condition fails. Others stay: who waits for the copies waits for them, too. The
 * mark goes. */
#include "ir/arith/arith.h"
#include "lower/device/device.h"

typedef struct AsyncCopy {
  bool inside;
  Analyzer *facts;
} AsyncCopy;

/* The first of `lanes` neighbours that begin at a multiple of their size; NULL: they are not such.
 */
static Node *first_of(AsyncCopy *c, NodeVec indices, int lanes) {
  Node *index = indices.len == 1 ? indices.at[0] : NULL;
  bool is_dense = IS(Ramp, index) && expr_is_one(AS(Ramp, index)->stride);
  if (!index || index->dtype.lanes != lanes || (lanes > 1 && !is_dense)) return NULL;
  Node *first = lanes > 1 ? AS(Ramp, index)->base : index;
  Modular m = arith_modular(c->facts, first);
  return m.coeff % lanes == 0 && m.base % lanes == 0 ? first : NULL;
}

static bool is_in(Node *buffer, const char *scope) {
  Buffer *b = AS(Buffer, buffer);
  return str_begins(buffer_scope(buffer), scope) && b->elem.lanes == 1 &&
         (!b->elem_offset || expr_is_zero(b->elem_offset));
}

static bool is_zero(Node *n) {
  if (IS(Broadcast, n)) n = AS(Broadcast, n)->value;
  return expr_is_zero(n) || (IS(FloatImm, n) && AS(FloatImm, n)->value == 0);
}

/* The load of what is copied, and the condition that it stands under, or NULL. */
static BufferLoad *source_of(Node *value, Node **cond) {
  *cond = NULL;
  if (is_intrin_call(value, "if_then_else") && is_zero(AS(Call, value)->args.at[2])) {
    *cond = AS(Call, value)->args.at[0];
    value = AS(Call, value)->args.at[1];
  }
  bool fits = IS(BufferLoad, value) && !AS(BufferLoad, value)->predicate &&
              (!*cond || (*cond)->dtype.lanes == 1);
  return fits ? AS(BufferLoad, value) : NULL;
}

static Node *copy(AsyncCopy *c, BufferStore *s) {
  Node *cond;
  BufferLoad *from = source_of(s->value, &cond);
  if (!from || s->predicate || !is_in(s->buffer, "shared") || !is_in(from->buffer, "global"))
    return NULL;
  DataType t = AS(Buffer, s->buffer)->elem;
  int lanes = s->value->dtype.lanes, nbytes = dtype_nbytes(t) * lanes;
  bool same = dtype_equal(t, AS(Buffer, from->buffer)->elem);
  Node *to_first = first_of(c, s->indices, lanes), *first = first_of(c, from->indices, lanes);
  if (!same || !to_first || !first || (nbytes != 4 && nbytes != 8 && nbytes != 16)) return NULL;
  Span span = s->node.span;
  NodeVec args = NODES(AS(Buffer, s->buffer)->data, to_first, AS(Buffer, from->buffer)->data, first,
                       int_imm(INT32, nbytes, span));
  if (cond) vec_push(&args, cond);
  return stmt_evaluate(expr_call("ptx_cp_async", t, args, span), span);
}

static Node *rewrite(Mutator *m, Node *n) {
  AsyncCopy *c = m->context;
  if (node_is_expr(n)) return n;
  Node *done = c->inside && IS(BufferStore, n) ? copy(c, AS(BufferStore, n)) : NULL;
  if (done) return done;
  if (!IS(AttrStmt, n) || !str_same(AS(AttrStmt, n)->key, "async_scope"))
    return mutate_children(m, n);
  bool outside = !c->inside;
  c->inside = true;
  Node *body = mutate(m, AS(AttrStmt, n)->body);
  c->inside = !outside;
  return body;
}

Node *pass_inject_ptx_async_copy(Node *n, const PassContext *context) {
  (void)context;
  AsyncCopy c = {.facts = arith_new()};
  Mutator m = {.rewrite = rewrite, .context = &c};
  return mutate_children(&m, n);
}
