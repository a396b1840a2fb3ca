/* lower_opaque_block.c -- blocks become their bodies: predicates become branches, their buffers
 * allocations.
 *
 * In:  blocks without variables, init or matched buffers.
 * Out: no blocks. Loops bound to threads stay loops for back ends without threads. */
#include "lower/lower_impl.h"

static Node *with_allocation(Node *buffer, Node *body) {
  Buffer *b = AS(Buffer, buffer);
  NodeVec extents = b->shape;
  if (b->strides.len) extents = NODES(expr_mul(b->strides.at[0], b->shape.at[0]));
  Node *decl = MAKE(DeclBuffer, b->node.span, VOID_TYPE, .buffer = buffer, .body = body);
  return MAKE(Allocate, b->node.span, VOID_TYPE, .extents = extents, .elem = b->elem,
              .var = b->data, .body = decl);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n)) return n;
  if (!IS(BlockRealize, n)) return mutate_children(m, n);
  BlockRealize *r = AS(BlockRealize, n);
  Block *b = AS(Block, r->block);
  if (r->iter_values.len || b->match_buffers.len || b->init)
    error_raisef("LowerError", n->span,
                 "block '%s' is not opaque: run ConvertBlocksToOpaque and LowerMatchBuffer first",
                 b->name);
  Node *body = mutate(m, b->body);
  for (int i = b->alloc_buffers.len - 1; i >= 0; i--)
    body = with_allocation(b->alloc_buffers.at[i], body);
  if (!expr_is_one(r->predicate))
    body = MAKE(IfThenElse, n->span, VOID_TYPE, .cond = r->predicate, .then = body);
  return body;
}

Node *pass_lower_opaque_block(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return mutate_children(&m, n);
}
