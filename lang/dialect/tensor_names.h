/* tensor_names.h -- the functions behind the rows T of dialect.def, and what they share. */
#ifndef LANG_DIALECT_TENSOR_NAMES_H
#define LANG_DIALECT_TENSOR_NAMES_H

#include "lang/dialect/dialect_impl.h"

Node *buffer_from_args(BuiltinCall *call, int at);
/* A Constant of a (nested) list of numbers. */
Node *constant_from_list(Value list, DataType t, Span span);

#define NAME(ns, name, signature, fn, doc)       Value fn(BuiltinCall *call);
#define ANNOTATION(ns, name, signature, fn, doc) Value fn(BuiltinCall *call);
#define ALIAS(ns, name, of)
#include "lang/dialect/dialect.def"

#endif
