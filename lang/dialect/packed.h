/* packed.h -- script values and packed functions: calling compiled code, and being called by it. */
#ifndef LANG_DIALECT_PACKED_H
#define LANG_DIALECT_PACKED_H

#include "lang/dialect/dialect_impl.h"
#include "target/target.h"

/* Values that own a runtime object hold it in collected memory; the collector releases it. */
typedef struct Handle {
  void *object;
} Handle;
void *handle_object(Value v);
void release_handle(void *handle); /* the finalizer */

/* A script function as a packed function (the caller releases it): its arguments come as tensors,
 * ints, floats, tuples; what it returns goes back likewise. A raised exception becomes the call's
 * error. */
TvmsFunc *packed_of_value(Value f, Span span);
/* A packed function as a callable value; takes the reference over. */
extern const ValueType type_packed, type_built_module;
Value value_packed(TvmsFunc *f);
/* How long `number` calls of a function take, one after the other, with the same arguments. */
double packed_seconds(Value function, const ValueVec *args, int64_t number, Span span);
/* A compiled module: mod["name"], mod.name; takes the reference over. */
Value value_built_module(TvmsModule *m);
/* The same, compiled here from this: it can be written as a library. */
Value value_compiled_module(TvmsModule *m, Node *source, const Target *target);

Node *to_module(Value v, Span span);
/* Lowered as the target's back end asks, and compiled for this process. Raises. */
TvmsModule *build_module(Node *m, const Target *target);

#endif
