/* tensor_stmt.h -- statements of a prim_func's body. */
#ifndef LANG_DIALECT_TENSOR_STMT_H
#define LANG_DIALECT_TENSOR_STMT_H

#include "lang/dialect/dialect_impl.h"

/* A suite being read. Its statements are gathered as a list. */
typedef struct Suite {
  Env *env;
  NodeVec items;
  VEC(bool) open; /* beside items: a wrapper whose body is the rest */
} Suite;

void suite_add(Suite *s, Node *stmt, bool open);

/* The statements of one suite as one IR statement, in a scope of their own inside `outer`. Faults
 * are reported, one for a statement. */
Node *tensor_suite(Env *outer, const AstVec *statements, Span span);

/* x = e, x: T.int32 = e, x += e, A[i] = e, with the names in the suite's scope (tensor_assign.c).
 */
void assign_statement(Suite *s, AstAssign *a);
void annotated_assignment(Suite *s, AstAnnAssign *a);
void augmented_assignment(Suite *s, AstAugAssign *a);

/* What the text of a function tells before it is read (tensor_scan.c). */
void scan_function(TensorBuilder *t, AstDef *def, const CallArgs *decorator);

#endif
