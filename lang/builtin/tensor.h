/* tensor.h -- tensors as values of the language, and the namespaces np and numpy. */
#ifndef LANG_BUILTIN_TENSOR_H
#define LANG_BUILTIN_TENSOR_H

#include "lang/value/value.h"
#include "target/runtime/tvms.h"

extern const ValueType type_tensor;
extern const ValueType
    type_device_tensor; /* of one that is not on the CPU: it has no elements here */
/* np.dtype("float32"), and the class np.float32: both stand for a dtype. */
extern const ValueType type_numpy_dtype, type_scalar_class;
bool scalar_class_is_below(Value a, Value b);    /* issubclass(np.float32, np.floating) */
bool value_is_numpy_dtype(Value v, DataType *t); /* one of the two, with the dtype */

/* A tensor value that owns `owned`: it is released some time after the value is unreachable. */
Value value_tensor(TvmsTensor *owned);
/* The tensor, borrowed; raises TypeError if the value is none. */
TvmsTensor *value_as_tensor(Value v, Span span);
TvmsTensor *value_any_tensor(Value v, Span span); /* wherever it lies */
/* Anything that np.array takes: tensors as they are, numbers and nested lists as new tensors. */
Value tensor_of(Value v, Span span);
/* A new tensor whose elements are not set. */
Value tensor_new(DataType t, int ndim, const int64_t *shape, Span span);
DataType tensor_dtype(Value tensor);
/* Sets the elements in which two compact tensors of its shape differ to those of `now`. */
void tensor_take_changes(Value tensor, TvmsTensor *now, TvmsTensor *before);

void tensor_start(void);

#endif
