/* dialect.h -- the dialects T, R and I: decorated bodies become IR.
 *
 * The evaluator of lang/eval runs every expression; a dialect walks the statements of a decorated
 * body and gives them meaning. Names under T., R. and I. are rows of dialect.def. */
#ifndef LANG_DIALECT_DIALECT_H
#define LANG_DIALECT_DIALECT_H

#include "lang/eval/eval.h"

/* Registers the namespaces tvm, tvm.script, tvm.tir, ... Reads no file. */
void dialect_start(void);

/* Gives a fresh global scope the names that a text may use without importing them: T, R, I, tvm. */
void dialect_add_names(Env *globals);

/* IR nodes as values: expressions, buffers, graph expressions, struct info, functions, modules. */
extern const ValueType type_node;
static inline Value value_node(Node *n) { return (Value){.type = &type_node, .node = n}; }
static inline bool value_is_node(Value v, NodeKind kind) {
  return v.type == &type_node && v.node->kind == kind;
}

/* Is what is read checked for being well-formed? Off while the text of a module is read back, which
 * was written so as it is. */
extern bool dialect_checks;

/* What stands for a name whose definition failed: operations on it fail without a further report.
 */
extern const ValueType type_poison;
#define ERROR_POISONED "poisoned"

/* T.int32: a dtype as a value: a variable when called with nothing, a constant or cast with one
 * argument. */
extern const ValueType type_dtype;
Value value_dtype(DataType t);

/* The prim_func of a @T.jit template as it stands; NULL if the value is none, or needs the values
 * of its constants to be one. */
Node *jit_generic(Value v);
bool value_is_jit(Value v);

/* The module of the standard library in whose text a decorator declares this name; NULL: none. */
const char *library_home(const char *name);

/* Reports an error that a statement raised, unless it is the echo of one reported before. */
void report_statement_error(const Error *e);

#endif
