/* op.h -- what the definition of a graph operator holds, between op.c and op_call.c. */
#ifndef LANG_DIALECT_OP_H
#define LANG_DIALECT_OP_H

#include "lang/dialect/dialect_impl.h"

/* How a parameter is annotated, which says what it takes. Operands come before PARAM_ATTR. */
typedef enum {
  PARAM_TENSOR,
  PARAM_TENSOR_OR_PRIM, /* a scalar stands for a tensor of one element */
  PARAM_TENSORS,        /* a tuple of tensors */
  PARAM_SHAPE,
  PARAM_OPEN_SHAPE, /* a dim may be -1 while that of others is not known */
  PARAM_PRIM,       /* a scalar */
  PARAM_PRIMS,      /* a tuple of scalars */
  PARAM_DTYPE_VALUE,
  PARAM_ANY,
  PARAM_REST, /* *xs: the operands that are left */
  PARAM_ATTR, /* any attribute */
  PARAM_INT,
  PARAM_INTS,
  PARAM_FLOAT,
  PARAM_BOOL,
  PARAM_TEXT,
  PARAM_DTYPE,
  PARAM_INDEX_MAP
} OpParamKind;

typedef struct OpParam {
  const char *name;
  OpParamKind kind;
  Value otherwise; /* absent: required */
} OpParam;

typedef struct OpDefinition {
  OpInfo info;
  Node *op;
  VEC(OpParam) params;
  Value infer, compute;   /* functions of the library; compute may be None */
  Value normalize, sugar; /* None, or: see call_op */
  Value layout, gradient; /* None, or what the passes ConvertLayout and Gradient call */
} OpDefinition;

static inline OpDefinition *definition_of(const OpInfo *info) { return info->definition; }
static inline bool op_is_shape(const OpParam *p) {
  return p->kind == PARAM_SHAPE || p->kind == PARAM_OPEN_SHAPE;
}
static inline bool is_operand_kind(OpParamKind kind) { return kind < PARAM_ATTR; }

/* The name as it is written: "R.nn.relu" (the text after "relax."). */
static inline const char *op_short_name(const OpInfo *info) {
  return strncmp(info->name, "relax.", 6) == 0 ? info->name + 6 : info->name;
}

/* An attribute as its parameter wants it: an int for Ints is a list of one. Raises on other kinds
 * of value. */
Node *op_attr_node(const OpParam *p, Value v, Span span);

/* The struct info of a call: what `rule` gives, or gave for a call of the same form. */
Node *op_infer(const OpDefinition *d, Node *call, Node *(*rule)(const OpDefinition *d, Node *call));

/* A function of an operator runs: the dims of shapes are ints there where they are constant. */
bool op_in_rule(void);
Error *op_run_rule(void (*step)(void *), void *context); /* as eval_protect */

/* What a rule sees of an operand. */
Value op_operand_info(const OpParam *p, Node *n);
/* The arguments of a function of the definition: operands by `operand`, attributes as values. */
ValueVec op_library_args(const OpDefinition *d, RelaxCall *call,
                         Value (*operand)(const OpParam *p, Node *n));

/* What the definition says, for passes in the language: op.pattern, op.mixed_precision, op.layout,
 * op.gradient; absent if the name is none of these or the operator has no definition. */
Value op_definition_attr(const Node *op, const char *name);

/* R.add and the like as a callable value. */
extern const ValueType type_op;

#endif
