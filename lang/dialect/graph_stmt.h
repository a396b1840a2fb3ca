/* graph_stmt.h -- statements of a graph function's body, and the blocks they go to. */
#ifndef LANG_DIALECT_GRAPH_STMT_H
#define LANG_DIALECT_GRAPH_STMT_H

#include "lang/dialect/dialect_impl.h"

/* Runs the statements of a body and gives the returned expression. Faults are reported, one for a
 * statement. */
Node *graph_body(Env *env, const AstVec *statements, Span span);

void graph_end_block(void);  /* closes the binding block being built, if it has bindings */
bool graph_is_leaf(Node *n); /* may be an operand as it stands */
Node *graph_seq(Node *body, Span span); /* all blocks so far and a result, as a SeqExpr */
/* The result is what is written, or what the body gives where that is finer. */
void graph_refine_result(Function *f);

#endif
