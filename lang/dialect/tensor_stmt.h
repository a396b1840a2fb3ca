/* tensor_stmt.h -- statements of a prim_func's body. */
#ifndef LANG_DIALECT_TENSOR_STMT_H
#define LANG_DIALECT_TENSOR_STMT_H

#include "lang/dialect/dialect_impl.h"

/* The statements of one suite as one IR statement, in a scope of their own inside `outer`. Faults
 * are reported, one for a statement. */
Node *tensor_suite(Env *outer, const AstVec *statements, Span span);

#endif
