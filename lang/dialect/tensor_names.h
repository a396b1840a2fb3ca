/* tensor_names.h -- the functions behind the rows T of dialect.def, and what they share. */
#ifndef LANG_DIALECT_TENSOR_NAMES_H
#define LANG_DIALECT_TENSOR_NAMES_H

#include "lang/dialect/dialect_impl.h"

/* A buffer of the arguments from number `at` on, in the order of T.Buffer; of these, so many. */
enum { BUFFER_ARGS_TAKEN = 13 };
Node *buffer_from_args(BuiltinCall *call, int at);
/* An access region: slices as they stand, single indices as ranges of one element. */
Node *to_region(Value v, Span span);
void set_assert_message(Node *assert, Value message, Value kind, Span span);
/* What a reduction runs over: an IterVar with a domain. */
Node *axis_of_reduce(Value v, Span span);
/* The call of a plain C function by a name that tells its signature, as that of a tensor program
 * which joins the module (emit_te.c). */
Value call_c_function(Value func, NodeVec args, NodeVec outs, Env *env, Span span);
/* What says for each lane of an access whether it takes place. */
Node *mask_of(Value predicate, DataType accessed, Span span);
Node *predicated_store(Node *store, Value predicate, Span span);
Value t_alloc_here(BuiltinCall *call); /* T.decl_buffer without data, T.alloc_buffer in a suite */
Value attr_of_dict(Value dict, Span span); /* T.attr({...}) */
Value axis_namespace(void);
Value layout_operator(AstOp op, Value a, Value b, Span span);
/* A Constant of a (nested) list of numbers. */
Node *constant_from_list(Value list, DataType t, Span span);

#define NAME(ns, name, signature, fn, doc)       Value fn(BuiltinCall *call);
#define ANNOTATION(ns, name, signature, fn, doc) Value fn(BuiltinCall *call);
#define ALIAS(ns, name, of)
#define ELSEWHERE(ns, name, instead)
#include "lang/dialect/dialect.def"

#endif
