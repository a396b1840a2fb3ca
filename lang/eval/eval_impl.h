/* eval_impl.h -- what the files of lang/eval/ share. */
#ifndef LANG_EVAL_EVAL_IMPL_H
#define LANG_EVAL_EVAL_IMPL_H

#include "lang/value/object.h"

/* How a statement ends. Errors unwind by raise; all else is told by the result. */
typedef enum { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } Flow;

/* One run of a body: its scope, and what `return` gave. */
typedef struct Exec {
  Env *env;
  Value result;
} Exec;

Flow exec_statement(Exec *x, Ast *s);
Flow exec_statements(Exec *x, const AstVec *statements);
Flow exec_try(Exec *x, Ast *s);
Flow exec_with(Exec *x, Ast *s);
bool try_handler_matches(Env *env, AstHandler *h, const Error *e);
void exec_def(Env *env, Ast *s);
void exec_class(Env *env, Ast *s);
void exec_import(Env *env, Ast *s);
void exec_import_from(Env *env, Ast *s);
void exec_raise(Env *env, AstRaise *s);

/* Assigns to any target in host code. */
void assign_target(Env *env, Ast *target, Value x, Span span);
void aug_assign(Env *env, AstAugAssign *s);
void delete_target(Env *env, Ast *target);

Value eval_comprehension(Env *env, Ast *e);
Value eval_call(Env *env, Ast *e);
Value eval_yield(Env *env, Ast *e);

/* What is known about a def or lambda before it runs, made once for each. */
typedef struct FunctionPlan {
  Signature signature; /* without default values */
  bool simple;         /* plain parameters only */
  Map locals;          /* names it assigns, parameters included; to themselves */
  StrVec globals, nonlocals;
  const char *doc; /* or NULL */
} FunctionPlan;
const FunctionPlan *function_plan(Ast *def_or_lambda);

/* A generator that runs the body of a function call step by step. */
Value generator_new(Env *env, AstDef *def);

/* ---- the calls in progress, outermost first ---- */

typedef struct CallFrame {
  const char *name;
  Span span; /* of the call */
} CallFrame;
typedef struct CallStack {
  CallFrame *at;
  int len, cap;
} CallStack;
extern CallStack calls;

/* Of the operation in progress: the place of errors that were raised without one. */
extern Span eval_span;

/* The error that the innermost `except` is handling; NULL outside. */
extern Error *handling;

#endif
