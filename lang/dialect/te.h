/* te.h -- tensor expressions: what an operator computes, as stages from operands to outputs.
 *
 * A tensor of this language is a Buffer with the stage that fills it. te_prim_func turns the stages
 * that some outputs need into one PrimFunc with a block for each stage. */
#ifndef LANG_DIALECT_TE_H
#define LANG_DIALECT_TE_H

#include "lang/dialect/dialect_impl.h"

typedef struct Stage {
  const char *name;
  NodeVec buffers; /* that it fills: more than one for a reduction of tuples */
  NodeVec axes;    /* IterVars over the shape, then those of the reduction */
  NodeVec bodies;  /* beside buffers: a scalar, or a Reduce over the last axes */
  Node *program;   /* instead of axes and bodies: a PrimFunc whose parameters are the buffers */
  Span span;
} Stage;

typedef struct TeTensor {
  Node *buffer;
  Stage *stage; /* NULL: an operand */
} TeTensor;

extern const ValueType type_te;
static inline TeTensor *te_of(Value v) { return v.object; }
Stage *te_stage_of(Node *buffer); /* that fills it; NULL: none in this scope */
Value te_value(Node *buffer, Stage *stage);
Value te_placeholder(const char *name, NodeVec shape, DataType t, Span span);

/* The function of `inputs` that fills `outputs` (buffers of both, in order, are its parameters). */
Node *te_prim_func(const char *name, ValueVec inputs, ValueVec outputs, Span span);

/* For one operator's expansion. Tensors made between the two are forgotten at the end. Ints of the
 * script are int64 there in shapes and indices, as the dims of graph tensors are, and constant dims
 * are ints. */
typedef struct TeScope {
  Map stages;
  bool in_operator;
} TeScope;
TeScope te_scope_begin(void);
void te_scope_end(TeScope outer);
bool te_in_operator(void);       /* between the two */
bool te_set_in_operator(bool x); /* gives what it was */

/* te.compute, te.reduce_axis, te.sum, ... */
Value te_namespace(void);

#endif
