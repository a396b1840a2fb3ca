/* arith.h -- symbolic integer arithmetic: what is known about expressions of loop and shape
 * variables.
 *
 * An Analyzer holds facts: ranges of variables and conditions that hold. All answers are sound:
 * "don't know" is the default, and nothing wraps inside the analyses. Variables marked is_size are
 * known not to be negative and to fit the memory that a process can address. Arithmetic of known
 * ranges and of loaded data may wrap, as it does at run time; arithmetic on symbols is taken not
 * to. */
#ifndef IR_ARITH_ARITH_H
#define IR_ARITH_ARITH_H

#include "ir/ir.h"

typedef struct Analyzer Analyzer;
Analyzer *arith_new(void);
/* One that knows the dims of a PrimFunc's buffers: none is negative. */
Analyzer *arith_of_function(Node *prim_func);

/* var lies in [min, min + extent). Binding a variable again replaces what was known. */
void arith_bind_range(Analyzer *a, Node *var, Node *min, Node *extent);
void arith_bind_value(Analyzer *a, Node *var, Node *value); /* var is this expression */

/* `cond` holds until arith_leave is given the mark that this returned. */
int arith_enter(Analyzer *a, Node *cond);
void arith_leave(Analyzer *a, int mark);

/* An expression equal to `e` wherever the facts hold, in a simpler or equal form. Works on
 * statements' expressions only; `e` is scalar or vector. */
Node *arith_simplify(Analyzer *a, Node *e);

/* Every value lies in [lo, hi]; ARITH_NEG_INF and ARITH_POS_INF stand for no bound. */
#define ARITH_NEG_INF INT64_MIN
#define ARITH_POS_INF INT64_MAX
typedef struct ConstBound {
  int64_t lo, hi;
} ConstBound;
ConstBound arith_const_bound(Analyzer *a, Node *e);

/* e == coeff * k + base for some integer k; coeff 0: e is the constant `base`; coeff 1: nothing
 * known. */
typedef struct Modular {
  int64_t coeff, base;
} Modular;
Modular arith_modular(Analyzer *a, Node *e);

bool arith_can_prove(Analyzer *a, Node *cond);
bool arith_can_prove_equal(Analyzer *a, Node *x, Node *y);
/* Surely different for every value of the variables. */
bool arith_can_prove_different(Analyzer *a, Node *x, Node *y);

/* The canonical linear form: constant + sum of coefficient * term, terms distinct and in order of
 * first appearance. Products, divisions and moduli that are not linear are terms themselves. False
 * on overflow. */
typedef struct Linear {
  int64_t constant;
  NodeVec terms;
  VEC(int64_t) coeffs;
} Linear;
bool arith_linear(Node *e, Linear *out);

/* The least and the greatest value of `e` as the variables of `ranges` (Var to Range; any other
 * node: moves in a way that is not known) move; other variables stay symbols. False if e is not
 * monotone in them in a way that is understood. */
bool arith_bounds_over(Node *e, const Map *ranges, Node **least, Node **greatest);
/* The same where facts hold of the symbols. */
bool arith_bounds_under(Analyzer *facts, Node *e, const Map *ranges, Node **least, Node **greatest);

#endif
