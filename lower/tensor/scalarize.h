/* scalarize.h -- what the two halves of ScalarizeVectors share: lanes one by one
 * (scalarize_vectors.c), and vectors that stay (scalarize_registers.c). */
#ifndef LOWER_TENSOR_SCALARIZE_H
#define LOWER_TENSOR_SCALARIZE_H

#include "lower/lower_impl.h"

typedef struct Scalarizer {
  Mutator mutator;
  Map arrays;    /* vector Var to the Buffer with its lanes */
  Map registers; /* vector Var to the Pieces that it became */
  Map values;    /* vector Var of a Let to its value */
  Map views;     /* Buffer of vectors to one of scalars */
  bool noalias;
  int most_bytes, most_lanes; /* of a vector that stays; 0: none does */
  int loads;                  /* that stay: they number variables, whose names printing keeps */
  bool has_operators;         /* the language has arithmetic on vectors of floats */
} Scalarizer;

/* The scalar that `n`, of one lane or more, has in this lane. */
Node *scalarize_pick(Scalarizer *s, Node *n, Node *lane);
/* The statement, stored lane by lane. */
Node *scalarize_store(Scalarizer *s, BufferStore *n);
/* May this part of the store, evaluated late, see what the store did? */
bool scalarize_clashes(Scalarizer *s, BufferStore *store, Node *part);

/* The store with contiguous loads and stores whole. */
Node *registers_store(Scalarizer *s, BufferStore *n);
/* The variable as vectors; NULL: it is of a dtype that has none. */
Node *registers_let(Scalarizer *s, LetStmt *n);
/* A lane, which must be a constant, of a variable that is in registers; NULL: it is not. */
Node *registers_lane(Scalarizer *s, Node *var, Node *lane);

#endif
