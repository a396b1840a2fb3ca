/* arith_impl.h -- what the analyses share.
 *
 * Integers wrap at run time. The value of a sum or product is its value modulo 2^bits, whatever
 * wraps on the way; so linear forms may be regrouped freely. What divides, compares or takes the
 * lesser of values needs more: that a form is *exact*, that the computed value is the mathematical
 * one. A form is exact if its bounds fit the dtype. Arithmetic on symbols (shapes, variables of no
 * known range) is taken to be index arithmetic, which stays far from the ends of its dtype, unless
 * large numbers stand beside the symbols; arithmetic on loaded data is not. */
#ifndef IR_ARITH_ARITH_IMPL_H
#define IR_ARITH_ARITH_IMPL_H

#include "ir/arith/arith.h"
#include "ir/ir_impl.h"

/* Something that holds: a form that is >= 0, a condition, or what is known of a node modulo a
 * number. */
typedef struct Fact {
  Linear form;
  Node *cond;  /* or NULL; of a fact without form */
  Node *about; /* or NULL; `modular` holds for it */
  Modular modular;
  bool dead; /* a variable of it was bound anew */
} Fact;

/* What a Var was bound to. */
typedef struct VarInfo {
  ConstBound bound;
  Node *value; /* the expression that it is, or NULL */
  bool is_symbolic, is_data;
} VarInfo;

/* What an expression contains. */
typedef struct Content {
  bool symbol; /* a variable without constant range */
  bool data;   /* loaded, or computed in other ways than by integer arithmetic */
  bool reads;  /* memory, which may change */
  bool state;  /* has effects: must not be moved, merged or dropped */
  bool traps;  /* divides or loads: may fail for operands that a condition excludes */
  bool large;  /* numbers, or variables of known range, that are too large beside symbols */
} Content;

/* Answers about an expression, while no fact changes. */
typedef struct Known {
  bool has_bound, has_modular, has_content;
  ConstBound bound;
  Modular modular;
  Content content;
} Known;

struct Analyzer {
  Map vars; /* Var to VarInfo */
  VEC(Fact) facts;
  Map cache;      /* Node to Known */
  Map simplified; /* Node to what it became; what was shared stays shared */
  Map sums;       /* sums with their terms simplified */
};

/* ---- small questions ---- */

static inline bool is_signed_index(DataType t) { return t.code == DTYPE_INT && t.lanes == 1; }
static inline bool is_ring(NodeKind kind) {
  return kind == NK_Add || kind == NK_Sub || kind == NK_Mul;
}
static inline Binary *as_binary(Node *n) { return (Binary *)(void *)n; }

Known *known_of(Analyzer *a, Node *e);
void forget_answers(Analyzer *a);
Content content_of(Analyzer *a, Node *e);
VarInfo *var_info(Analyzer *a, const Node *var); /* NULL: never bound */

/* `a op b` of operands that match already, folded where that is safe. */
Node *arith_binary(NodeKind kind, Node *a, Node *b, Span span);

/* ---- intervals: the least and greatest int64 stand for the infinities (interval.c) ---- */

int64_t bound_clamp(__int128 x);
ConstBound bound_add(ConstBound a, ConstBound b);
ConstBound bound_mul(ConstBound a, ConstBound b);
ConstBound bound_scale(ConstBound a, int64_t k);
ConstBound bound_floor_div(ConstBound a, ConstBound b);
ConstBound bound_floor_mod(ConstBound a, ConstBound b);
ConstBound bound_trunc_div(ConstBound a, ConstBound b);
ConstBound bound_trunc_mod(ConstBound a, ConstBound b);
ConstBound bound_join(ConstBound a, ConstBound b);
ConstBound bound_meet(ConstBound a, ConstBound b);
ConstBound bound_of_dtype(DataType t);
/* Can't a result in these bounds have wrapped? */
bool bound_fits(ConstBound b, DataType t);

/* ---- linear forms (linear.c) ---- */

/* The form of `e` that the analyzer's proofs use. `expand`: products of sums are multiplied out and
 * let-bound variables replaced. False on overflow or if there are too many terms. */
bool linear_of(Analyzer *a, Node *e, bool expand, Linear *out);
bool linear_add_term(Linear *l, Node *term, int64_t coeff);
bool linear_combine(const Linear *x, int64_t kx, const Linear *y, int64_t ky, Linear *out);
static inline bool linear_sub(const Linear *x, const Linear *y, Linear *out) {
  return linear_combine(x, 1, y, -1, out);
}
int64_t linear_gcd(const Linear *l); /* of the coefficients; 0 if there is no term */
bool same_term(Node *a, Node *b);    /* products in any order */
Node *linear_expr(const Linear *l, DataType t, Span span); /* as an expression of dtype t */
bool linear_fits(const Linear *l, DataType t); /* constant and coefficients are numbers of t */

ConstBound linear_bound(Analyzer *a, const Linear *l);
Modular linear_modular(Analyzer *a, const Linear *l);
/* Is the mathematical value of the form the one that is computed in dtype t? */
bool linear_is_exact(Analyzer *a, const Linear *l, DataType t);
bool product_is_exact(Analyzer *a, Node *e); /* the same for a Mul */
/* Numbers that stand beside symbols as factors are those of index arithmetic if they take half of
 * the bits, or a little more. */
bool is_index_scale(ConstBound b, DataType t);
/* The same for a form that a rewrite would compute in place of `from`, which is exact: nothing is
 * taken for granted. */
bool derived_is_exact(Analyzer *a, const Linear *l, const Linear *from, DataType t);
/* linear_of, if that form is exact. */
bool exact_form(Analyzer *a, Node *e, bool expand, Linear *out);

/* ---- modular arithmetic (modular.c) ---- */

int64_t gcd_of(int64_t a, int64_t b); /* not negative; of INT64_MIN: 1, which is always a divisor */
Modular modular_join(Modular a, Modular b);

/* ---- proofs (prove.c) ---- */

bool linear_is_nonneg(Analyzer *a, const Linear *l);
/* Never 0: by its own bounds, or as a factor of a product that is not. */
bool is_nonzero(Analyzer *a, Node *e);
/* 1: x - y >= margin holds; 0: it does not; -1: not known. */
int compare_forms(Analyzer *a, const Linear *x, const Linear *y, int64_t margin);
/* Does the condition hold (1) or not (0), by facts that say so literally? -1: no such fact. */
int condition_known(Analyzer *a, Node *cond);

/* ---- simplification: each returns its argument if it has nothing to say ---- */

Node *simplify_by_rules(Node *e);              /* rule.c */
Node *simplify_sum(Analyzer *a, Node *e);      /* sum.c */
Node *simplify_division(Analyzer *a, Node *e); /* divide.c */
Node *simplify_compare(Analyzer *a, Node *e);  /* compare.c */
Node *simplify_extreme(Analyzer *a, Node *e);  /* compare.c */
Node *simplify_vector(Analyzer *a, Node *e);   /* vector.c */

#endif
