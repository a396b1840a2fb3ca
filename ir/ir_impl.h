/* ir_impl.h -- what the files of ir/ share and nobody else sees. */
#ifndef IR_IR_IMPL_H
#define IR_IR_IMPL_H

#include "ir/ir.h"

/* The value of `a op b` if it is known now and no run could give another one: constants, and identities such as
 * x + 0. NULL: keep the node. Operands have one dtype. (fold.c) */
Node *fold_binary(NodeKind kind, Node *a, Node *b, Span span);
Node *fold_cast(DataType t, Node *value, Span span); /* of an immediate; NULL if it does not fit */

/* Floor division that needs no wider type; b is not 0, and not -1 where a is the least integer. */
static inline int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

#endif
