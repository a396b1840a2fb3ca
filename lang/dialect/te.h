/* te.h -- tensor expressions: what an operator computes, as stages from operands to outputs.
 *
 * A tensor of this language is a Buffer with the stage that fills it. te_prim_func turns the stages
 * that some outputs need into one PrimFunc with a block for each stage. */
#ifndef LANG_DIALECT_TE_H
#define LANG_DIALECT_TE_H

#include "lang/dialect/dialect_impl.h"

/* A recurrence along the first axis: the first rows of a tensor are those of `init`, each other one
 * is what `update` says, which reads rows before it as those of `state`. One of each for a result.
 */
typedef struct Recurrence {
  NodeVec init, update, state; /* buffers */
} Recurrence;

typedef struct Stage {
  const char *name;
  NodeVec buffers; /* that it fills: more than one for a reduction of tuples */
  NodeVec axes;    /* IterVars over the shape, then those of the reduction */
  NodeVec bodies;  /* beside buffers: a scalar, or a Reduce over the last axes */
  Node *program;   /* instead of axes and bodies: a PrimFunc whose parameters are the buffers */
  NodeVec inputs;  /* buffers that the program takes without loads of them */
  Recurrence *recurrence; /* instead of axes and bodies; NULL */
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
/* The program with indices of that dtype (te_index.c). */
Node *te_with_index_dtype(Node *prim_func, DataType to);

/* For one operator's expansion. Tensors made between the two are forgotten at the end. Ints of the
 * script are int64 there in shapes and indices, as the dims of graph tensors are, and constant dims
 * are ints. */
typedef struct TeScope {
  Map stages;
  bool in_operator;
} TeScope;
TeScope te_scope_begin(void);
void te_scope_end(TeScope outer);
/* Pairs of dims that te.differ takes to be equal go there from now on (NULL: nowhere); gives where
 * they went. */
NodeVec *te_note_assumed(NodeVec *pairs);
bool te_in_operator(void);       /* between the two */
bool te_set_in_operator(bool x); /* gives what it was */

/* ---- inside ---- */

/* In which order stages are computed: what one reads comes before it. */
typedef VEC(Stage *) StageVec;
typedef struct Needed {
  Map seen;
  StageVec order;
} Needed;
void te_need_stage(Needed *n, Stage *s);

/* The loops and the block of a te.compute. `time`: the variable of a loop around it, in the place
 * of the first one, from `first` on; NULL: none. */
Node *te_stage_block(Stage *s, Node *time, Node *first);

Value te_scan(BuiltinCall *call);
Value te_extern(BuiltinCall *call);
void te_need_recurrence(Needed *n, Recurrence *r);
/* The statements of a recurrence that fills `s->buffers`; buffers of its steps are added to
 * `allocs`. */
Node *te_recurrence_stmt(Stage *s, NodeVec *allocs);
void te_note_stage(Stage *s); /* of its buffers */
/* IterVars over a shape, named as the parameters of f; i0, i1, ... if it is no function. */
NodeVec te_axes(NodeVec shape, Value f, Span span);

/* te.compute, te.reduce_axis, te.sum, ... */
Value te_namespace(void);

#endif
