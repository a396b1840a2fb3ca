/* arith_impl.h -- what the analyses share. */
#ifndef IR_ARITH_ARITH_IMPL_H
#define IR_ARITH_ARITH_IMPL_H

#include "ir/arith/arith.h"
#include "ir/ir_impl.h"

/* A linear form that is known to be >= 0. */
typedef struct Fact {
  Linear form;
} Fact;

struct Analyzer {
  Map bounds; /* Var to its ConstBound * */
  Map values; /* Var to the expression that it is */
  VEC(Fact) facts;
  int depth; /* of nested questions: they end at a limit */
};

static inline bool is_signed_index(DataType t) { return t.code == DTYPE_INT && t.lanes == 1; }

/* Extended integers: the least and greatest values of int64 stand for the infinities. */
int64_t ext_clamp(__int128 x);
ConstBound bound_add(ConstBound a, ConstBound b);
ConstBound bound_scale(ConstBound a, int64_t k);
ConstBound linear_bound(Analyzer *a, const Linear *l);

bool linear_sub(const Linear *x, const Linear *y, Linear *out); /* false on overflow */
/* The form as an expression of dtype t. */
Node *linear_expr(const Linear *l, DataType t, Span span);

/* Is the form >= 0 wherever the facts hold? */
bool linear_is_nonneg(Analyzer *a, const Linear *l);

#endif
