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
bool assign_side_by_side(Env *env, const AstVec *targets, const AstVec *values);
void aug_assign(Env *env, AstAugAssign *s);
void delete_target(Env *env, Ast *target);

Value eval_comprehension(Env *env, Ast *e);
Value eval_call(Env *env, Ast *e);
Value eval_yield(Env *env, Ast *e);

/* ---- yield.c: statements with a yield inside an expression ---- */

typedef struct YieldPlace {
  AstYield *yield; /* the first one left; NULL: none */
  Ast *target;     /* the name that takes its place */
} YieldPlace;
bool yield_in_head(Ast *s); /* in an expression that is evaluated before any body */
/* A copy in which everything before its first yield is evaluated, and that yield. *names counts the
 * hidden names that hold what was evaluated. */
Ast *yield_settle(Env *env, Ast *statement, int *names, YieldPlace *found);
void yield_forget(Env *env, int names);

bool has_starred(const AstVec *items);

/* ---- the commonest operations, without a look into the tables of types ----
 *
 * Each gives no value where the operands are of other types or the result is not that simple. */

static inline Value arith_at_once(AstOp op, Value x, Value y) {
  int64_t r;
  if (x.type == &type_int && y.type == &type_int) {
    int64_t a = x.integer, b = y.integer;
    switch (op) {
    case AST_ADD: return __builtin_add_overflow(a, b, &r) ? value_absent() : value_int(r);
    case AST_SUB: return __builtin_sub_overflow(a, b, &r) ? value_absent() : value_int(r);
    case AST_MUL: return __builtin_mul_overflow(a, b, &r) ? value_absent() : value_int(r);
    case AST_MOD: return a >= 0 && b > 0 ? value_int(a % b) : value_absent();
    case AST_FLOORDIV: return a >= 0 && b > 0 ? value_int(a / b) : value_absent();
    case AST_BITAND: return value_int(a & b);
    default: return value_absent();
    }
  }
  bool floats = x.type == &type_float && y.type == &type_float;
  if (!floats) return value_absent();
  switch (op) {
  case AST_ADD: return value_float(x.real + y.real);
  case AST_SUB: return value_float(x.real - y.real);
  case AST_MUL: return value_float(x.real * y.real);
  case AST_DIV: return y.real != 0 ? value_float(x.real / y.real) : value_absent();
  default: return value_absent();
  }
}

#define COMPARE(op, a, b)                                                                          \
  switch (op) {                                                                                    \
  case AST_EQ: return value_bool((a) == (b));                                                      \
  case AST_NE: return value_bool((a) != (b));                                                      \
  case AST_LT: return value_bool((a) < (b));                                                       \
  case AST_LE: return value_bool((a) <= (b));                                                      \
  case AST_GT: return value_bool((a) > (b));                                                       \
  case AST_GE: return value_bool((a) >= (b));                                                      \
  default: return value_absent();                                                                  \
  }

static inline Value compare_at_once(AstOp op, Value a, Value b) {
  if (a.type == &type_int && b.type == &type_int) COMPARE(op, a.integer, b.integer)
  if (a.type == &type_float && b.type == &type_float) COMPARE(op, a.real, b.real)
  return value_absent();
}

/* An item of a list or tuple at an int; NULL for all else. */
static inline Value *item_at_once(Value v, Value index) {
  if ((v.type != &type_list && v.type != &type_tuple) || index.type != &type_int) return NULL;
  ValueVec *items = value_items(v);
  int64_t i = index.integer < 0 ? index.integer + items->len : index.integer;
  return i >= 0 && i < items->len ? &items->at[i] : NULL;
}

/* What is known about a def or lambda before it runs, made once for each. */
typedef struct FunctionPlan {
  Signature signature; /* without default values */
  bool simple;         /* plain parameters only */
  bool keeps;          /* something in it may outlive a call and see its names */
  Names scope;         /* names it assigns, parameters first, without values */
  StrVec globals, nonlocals;
  const char *doc; /* or NULL */
} FunctionPlan;
const FunctionPlan *function_plan(Ast *def_or_lambda);

/* ---- names in trees: each remembers where it was found last ----
 *
 * A hint is the number of scopes to go outwards (8 bits) and the place + 1 in that scope (24 bits).
 * Only scopes whose names are fixed by the text (calls, comprehensions) are skipped, so a hint that
 * finds the name finds the right one. */

static inline Value *name_at(Env *env, uint32_t hint, const char *name) {
  for (uint32_t hops = hint >> 24; hops && env; hops--) env = env->outer;
  uint32_t place = (hint & 0xffffff) - 1;
  if (!env || place >= (uint32_t)env->names.len || env->names.at[place].name != name) return NULL;
  return &env->names.at[place].value;
}

Value eval_name(Env *env, Ast *name);
void assign_name(Env *env, Ast *name, Value x);    /* as the statement name = x */
void bind_name_here(Env *env, Ast *name, Value x); /* in this very scope */

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

#endif
