/* iter_map.h -- iteration maps: indices as sums of digits of loop variables, which tells whether
 * each step of a nest of loops touches an element of its own, whether all elements are touched, and
 * from which step an element comes.
 *
 * An index is understood if it is made of loop variables by +, -, times and floor division and
 * modulo by what does not move (quasi-affine). The method is that of iteration maps in TensorIR
 * (Feng et al., 2023). Factors are products of a number and of symbols, so that nests of symbolic
 * extents are understood where they multiply and divide exactly. All answers are sound: "no" also
 * stands for "not known". */
#ifndef IR_ARITH_ITER_MAP_H
#define IR_ARITH_ITER_MAP_H

#include "ir/arith/arith.h"

/* ---- products (factor.c) ---- */

/* k times the terms, which are symbols or other expressions that can't be taken apart. */
typedef struct Factor {
  int64_t k;
  NodeVec terms;
} Factor;

Factor factor_int(int64_t k);
/* A product of terms that are not known to be >= 0 is one term. */
Factor factor_of(Analyzer *facts, Node *e);
bool factor_is(const Factor *f, int64_t k);
bool factor_equal(const Factor *a, const Factor *b);
bool factor_mul(const Factor *a, const Factor *b, Factor *out);    /* false on overflow */
bool factor_divide(const Factor *a, const Factor *b, Factor *out); /* false if not exact */
/* a >= b, of the same terms, which are >= 0? */
bool factor_at_least(const Factor *a, const Factor *b);
Node *factor_expr(const Factor *f, DataType t, Span span);

/* ---- maps (iter_map.c) ---- */

typedef struct IterMark IterMark;

/* scale * (floor(x / lower) mod extent) of the value x of a mark. lower * extent divides the
 * mark's extent. */
typedef struct IterSplit {
  IterMark *source;
  Factor lower, extent, scale;
} IterSplit;

/* base + the splits; the base does not move. */
typedef struct IterSum {
  Node *base;
  VEC(IterSplit) splits;
} IterSum;

/* What is split: a loop variable, or a sum whose places follow each other without a gap. It is
 * low + x, where x takes all values of [0, extent). */
struct IterMark {
  Node *var; /* NULL: it is `sum` */
  IterSum sum;
  Node *low;
  Factor extent;
  bool constrained; /* by the predicate */
};

typedef struct IterMap {
  VEC(IterSum *) sums; /* of each index; NULL: not understood */
  VEC(IterMark *) marks;
  bool injective;  /* no two steps of the loops give the same indices */
  bool surjective; /* the indices take all values from each one's least to its greatest */
} IterMap;

/* The indices as the loops (Var to Range) run and the predicate (NULL: true) holds. Where a part of
 * the predicate is not understood, the map is not known to be surjective. */
IterMap iter_map_detect(NodeVec indices, const Map *loops, Node *predicate, Analyzer *facts);
/* The same over domains that are made larger, so that all divisions are exact. */
IterMap iter_map_detect_padded(NodeVec indices, const Map *loops, Analyzer *facts);

/* An index runs from *least on, over *count values if it has no gaps. */
bool iter_sum_range(const IterSum *sum, DataType t, Node **least, Node **count);
bool iter_is_injective(NodeVec indices, const Map *loops, Analyzer *facts);

/* An index simplified, also by what its digits make together. (iter_simplify.c) */
Node *iter_simplify(Node *index, const Map *loops, Analyzer *facts);

/* Of a map that is surjective and injective: the loop variables (Var to Node in *values) in terms
 * of the indices. False if that can't be told. (iter_inverse.c) */
bool iter_map_inverse(const IterMap *m, NodeVec indices, Map *values);

/* ---- index maps (index_map.c) ---- */

NodeVec index_map_apply(const IndexMap *m, NodeVec indices, Span span);
Node *index_map_of_dtype(const IndexMap *m, DataType t); /* the same, in fresh variables */
/* The shape that holds all indices that the map gives for a shape. False if it can't be told, or
 * an index may be negative. */
bool index_map_shape(const IndexMap *m, NodeVec shape, Analyzer *facts, NodeVec *out);
/* The inverse over a shape, or NULL. If the map does not fill its shape, *padding is the condition,
 * on the inputs of the inverse, under which an element of that shape is none of the map; else it is
 * False. */
Node *index_map_inverse(const IndexMap *m, NodeVec shape, Analyzer *facts, Node **padding);

#endif
