/* ir_impl.h -- what the files of ir/ share and nobody else sees. */
#ifndef IR_IR_IMPL_H
#define IR_IR_IMPL_H

#include "ir/ir.h"

/* The value of `a op b` if it is known now and no run could give another one: constants, and
 * identities such as x + 0. NULL: keep the node. Operands have one dtype. (fold.c) */
Node *fold_binary(NodeKind kind, Node *a, Node *b, Span span);
Node *fold_cast(DataType t, Node *value, Span span); /* of an immediate; NULL if it does not fit */
/* shift_left, bitwise_and, ... of constants; NULL if it is another call or not known. */
Node *fold_call(Node *call);

/* Brings two operands to one dtype and as many lanes, by the rules of expr_binary; `what` names the
 * operation in a TypeError. (expr.c) */
void expr_match(const char *what, Node **a, Node **b, Span span);
Node *expr_as_bool(Node *n, Span span);              /* n != 0 for integers */
Node *expr_broadcast(Node *n, int lanes, Span span); /* itself if it has them already */

/* The constant, also where it stands in all lanes of a vector. */
bool expr_is_splat_int(const Node *n, int64_t *value);

/* The dtype that a rule of intrin.def gives to a call with these arguments; void for GIVEN. */
DataType intrin_result(int rule, NodeVec args);
/* What a call of the builtin gives with these arguments; void where the caller gives it. */
DataType intrin_dtype(const Intrin *in, NodeVec args);

static inline bool kind_gives_bool(NodeKind kind) { return kind >= NK_EQ && kind <= NK_Or; }
static inline bool kind_divides(NodeKind kind) {
  return kind == NK_Div || kind == NK_Mod || kind == NK_FloorDiv || kind == NK_FloorMod;
}

/* Floor division that needs no wider type; b is not 0, and not -1 where a is the least integer. */
static inline int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

/* Bits of the number at this byte of constant floats; all NaN have the same. (dtype.c) */
uint64_t const_element_bits(const ConstData *d, size_t at);

/* The text of a plain field (VAL), by its type. (dump.c) */
const char *text_of_int(int64_t x);
const char *text_of_bool(bool x);
const char *text_of_double(double x);
const char *text_of_string(const char *text); /* in quotes; "NULL" */
#define TEXT_OF(x)                                                                                 \
  _Generic((x), bool                                                                               \
           : text_of_bool, double                                                                  \
           : text_of_double, DataType                                                              \
           : dtype_text, default                                                                   \
           : text_of_int)(x)

#endif
