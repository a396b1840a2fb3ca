/* instrument_bound_checkers.c -- before each statement, an assert that its accesses are inside
 * their buffers.
 *
 * In:  functions without blocks (after LowerOpaqueBlock). An access in an arm of T.if_then_else, or
 *      behind "and" and "or", is checked where it takes place; so is one under a predicate.
 * Not: conditions of while loops, lets in expressions; indices that load are checked themselves, in
 *      the same assert, first. */
#include "ir/arith/arith.h"
#include "passes/tensor/tensor.h"

typedef struct Bounds {
  Node *check; /* all of it holds, or NULL */
  Node *guard; /* where the access takes place, or NULL: always */
  Node *named; /* the buffer of the last access, for the message */
} Bounds;

static void check_expr(Bounds *b, Node *n);

static Node *both(Node *a, Node *b) {
  if (!a || !b) return a ? a : b;
  return expr_binary(NK_And, a, b, a->span);
}

static Node *either(Node *a, Node *b) { return a ? expr_binary(NK_Or, a, b, b->span) : b; }

static Node * not(Node * n) { return expr_not(n, n->span); }

/* Of a vector, the first and the last lane of a ramp; no check of other vectors. */
static Node *inside(Node *index, Node *extent) {
  Span s = index->span;
  if (IS(Broadcast, index)) index = AS(Broadcast, index)->value;
  if (IS(Ramp, index)) {
    Ramp *r = AS(Ramp, index);
    Node *steps = int_imm(r->stride->dtype, r->lanes - 1, s);
    return both(inside(r->base, extent),
                inside(expr_add(r->base, expr_mul(r->stride, steps)), extent));
  }
  if (index->dtype.lanes != 1) return NULL;
  return both(expr_binary(NK_LE, int_imm(index->dtype, 0, s), index, s),
              expr_binary(NK_LT, index, extent, s));
}

static void check_access(Bounds *b, Node *buffer, NodeVec indices, Node *predicate) {
  Node *holds = NULL;
  Buffer *x = AS(Buffer, buffer);
  if (predicate && predicate->dtype.lanes != 1) return; /* lanes that are off may be anywhere */
  for (int i = 0; i < indices.len && i < x->shape.len; i++)
    holds = both(holds, inside(indices.at[i], x->shape.at[i]));
  if (!holds) return;
  Node *guard = both(b->guard, predicate);
  holds = arith_simplify(arith_new(), holds);
  if (expr_is_one(holds)) return;
  if (guard) holds = either(not(guard), holds);
  b->check = both(b->check, holds);
  b->named = buffer;
}

static void check_under(Bounds *b, Node *guard, Node *n) {
  Node *outer = b->guard;
  b->guard = both(outer, guard);
  check_expr(b, n);
  b->guard = outer;
}

static void check_child(void *context, Node *n) {
  if (node_is_expr(n)) check_expr(context, n);
}

static void check_expr(Bounds *b, Node *n) {
  Binary *x = (Binary *)(void *)n;
  bool scalar = n->dtype.lanes == 1;
  if (IS(Let, n)) return;
  if (scalar && (IS(And, n) || IS(Or, n))) {
    check_expr(b, x->a);
    check_under(b, IS(And, n) ? x->a : not(x->a), x->b);
    return;
  }
  if (is_intrin_call(n, "if_then_else")) {
    NodeVec args = AS(Call, n)->args;
    check_expr(b, args.at[0]);
    if (args.at[0]->dtype.lanes != 1) return;
    check_under(b, args.at[0], args.at[1]);
    check_under(b, not(args.at[0]), args.at[2]);
    return;
  }
  if (is_intrin_call(n, "address_of")) return; /* the end of a buffer has an address, too */
  node_each_child(n, check_child, b);
  if (IS(BufferLoad, n))
    check_access(b, AS(BufferLoad, n)->buffer, AS(BufferLoad, n)->indices,
                 AS(BufferLoad, n)->predicate);
}

/* The statement behind an assert of what it needs. */
static Node *asserted(Bounds *b, Node *stmt) {
  if (!b->check) return stmt;
  const char *name = AS(Buffer, b->named)->name;
  const char *text = str_format("an access of '%s' is out of bounds", name ? name : "_");
  return MAKE(AssertStmt, stmt->span, VOID_TYPE, .cond = b->check,
              .message = string_imm(str_intern(text), stmt->span), .body = stmt);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  Node *out = mutate_children(m, n);
  Bounds b = {0};
  switch (out->kind) {
  case NK_BufferStore: {
    BufferStore *s = AS(BufferStore, out);
    node_each_child(out, check_child, &b);
    check_access(&b, s->buffer, s->indices, s->predicate);
    break;
  }
  case NK_Evaluate: check_expr(&b, AS(Evaluate, out)->value); break;
  case NK_LetStmt: check_expr(&b, AS(LetStmt, out)->value); break;
  case NK_IfThenElse: check_expr(&b, AS(IfThenElse, out)->cond); break;
  case NK_For:
    check_expr(&b, AS(For, out)->min);
    check_expr(&b, AS(For, out)->extent);
    break;
  default: break;
  }
  return asserted(&b, out);
}

Node *pass_instrument_bound_checkers(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
