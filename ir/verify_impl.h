/* verify_impl.h -- what the parts of the verifier share: scopes and reports. */
#ifndef IR_VERIFY_IMPL_H
#define IR_VERIFY_IMPL_H

#include "ir/ir_impl.h"

typedef struct Verifier {
  Map scope;              /* variables and buffers in scope now */
  Map defined;            /* all that were ever defined: a second definition is a fault */
  NodeVec open;           /* in order of definition, so that a scope can end */
  IRModule *module;       /* NULL: a function or statement alone */
  Map globals;            /* interned names of the module's functions to their index + 1 */
  Node *stmt;             /* being checked: the place of faults of variables; NULL outside */
  int loops;              /* around the statement */
  NodeVec threads;        /* loops around it that are bound to threads */
  Map loop_blocks;        /* loop variables in scope to the `blocks` + 1 at their loop */
  int blocks;             /* around the statement, with variables of their own */
  const char *block;      /* the name of the innermost of them */
  bool in_dataflow, pure; /* of graph functions */
  bool met_global;        /* something depends on the module */
  int faults;
  Node *sound[32];   /* struct info that mentions nothing but what is in scope, by address */
  NodeVec undefined; /* variables and buffers that nothing defines, as they were met */
} Verifier;

Diag *verify_fault(Verifier *v, DiagCode code, Node *at, const char *format, ...) PRINTF_LIKE(4, 5);
const char *verify_name(Node *n); /* of a variable or buffer; "_" if it has none */

/* A scope: what is defined after verify_begin ends with verify_end(mark). */
int verify_begin(Verifier *v);
void verify_end(Verifier *v, int mark);
void verify_define(Verifier *v, Node *n, Node *at); /* NULL is nothing */
void verify_open(Verifier *v, Node *n, Node *at);   /* in scope, but not defined yet */
/* Reports, once, a variable or buffer that is not in scope. */
void verify_need(Verifier *v, Node *n, Node *at);
/* The function of that name; reports one that the module lacks. NULL outside a module. */
Node *verify_global(Verifier *v, Node *global);

/* Dims that stand here alone for the first time are defined here; all others must be known. The
 * node is the shape of a buffer, or struct info; NULL is nothing. */
void verify_defining_dims(Verifier *v, Node *n);
void verify_exprs(Verifier *v, NodeVec exprs);
void verify_expr(Verifier *v, Node *n); /* NULL is nothing */

void verify_stmt(Verifier *v, Node *n);
void verify_prim_func(Verifier *v, PrimFunc *f);
void verify_function(Verifier *v, Function *f);

#endif
