/* instrument_bound_checkers.c -- before each statement, asserts that its accesses are inside their
 * buffers: one for each access that is not known to be.
 *
 * In:  functions without blocks (after LowerOpaqueBlock). An access in an arm of T.if_then_else, or
 *      behind "and" and "or", is checked where it takes place; so is one under a predicate.
 * Not: conditions of while loops, lets in expressions; indices that load are checked themselves,
 *      first. least_dims: buffers of fewer dimensions are passed over. */
#include "ir/arith/arith.h"
#include "passes/tensor/tensor.h"

typedef struct Bounds {
  NodeVec checks; /* conditions that hold */
  StrVec texts;   /* beside them: what is said where one does not */
  Node *guard;    /* where the access takes place, or NULL: always */
  int least_dims;
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

static const char *text_of(const Buffer *b, const NodeVec *indices) {
  Str s = {0};
  str_printf(&s, "an access of '%s' is out of bounds: [", b->name ? b->name : "_");
  for (int i = 0; i < indices->len; i++)
    str_printf(&s, "%s%s", i ? ", " : "", ir_print(indices->at[i], NULL));
  str_add(&s, "] of (");
  for (int i = 0; i < b->shape.len; i++)
    str_printf(&s, "%s%s", i ? ", " : "", ir_print(b->shape.at[i], NULL));
  str_add(&s, ")");
  return str_intern(str_text(&s));
}

static bool is_checked(const Bounds *b, Node *holds) {
  for each (Node *, c, &b->checks)
    if (node_equal(*c, holds, false, NULL)) return true;
  return false;
}

static void check_access(Bounds *b, Node *buffer, NodeVec indices, Node *predicate) {
  Node *holds = NULL;
  Buffer *x = AS(Buffer, buffer);
  if (predicate && predicate->dtype.lanes != 1) return; /* lanes that are off may be anywhere */
  if (x->shape.len < b->least_dims) return;
  for (int i = 0; i < indices.len && i < x->shape.len; i++)
    holds = both(holds, inside(indices.at[i], x->shape.at[i]));
  if (!holds) return;
  Node *guard = both(b->guard, predicate);
  holds = arith_simplify(arith_new(), holds);
  if (expr_is_one(holds)) return;
  if (guard) holds = either(not(guard), holds);
  if (is_checked(b, holds)) return;
  vec_push(&b->checks, holds);
  vec_push(&b->texts, text_of(x, &indices));
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

/* The statement behind asserts of what it needs. */
static Node *asserted(Bounds *b, Node *stmt) {
  for (int i = b->checks.len - 1; i >= 0; i--)
    stmt = MAKE(AssertStmt, stmt->span, VOID_TYPE, .cond = b->checks.at[i],
                .message = string_imm(b->texts.at[i], stmt->span),
                .error_kind = str_intern("IndexError"), .body = stmt);
  return stmt;
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  Node *out = mutate_children(m, n);
  Bounds b = {.least_dims = *(int *)m->context};
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
  int least_dims = (int)pass_option_int(context, "least_dims");
  Mutator m = {.rewrite = rewrite, .context = &least_dims};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
