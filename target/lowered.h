/* lowered.h -- what all back ends ask of lowered functions (lower/lower.h). */
#ifndef TARGET_LOWERED_H
#define TARGET_LOWERED_H

#include "ir/ir.h"

/* Of the symbol of an exported function: no name of a program meets one of the C library. */
#define EXPORT_PREFIX "__tvms_"

bool lowered_is_packed(PrimFunc *f);
/* Is a C function "FILE:SYMBOL", of a shared library that is opened when it is called? */
bool lowered_is_in_library(const char *c_function);
/* The packed functions with a symbol, in order. Raises where two have the same. */
NodeVec lowered_exports(Node *module);

/* Bytes of one scalar in memory: a bool is a byte, and so is an integer of less than 8 bits. */
int lowered_nbytes(DataType elem);
bool lowered_is_small_float(DataType t); /* of less than 32 bits: computed in float32 */

/* Buffers of constant size lie on the stack if they have at most LOWER_STACK_BUFFER bytes and the
 * function's buffers have at most STACK_FUNCTION in all. The bytes, with `used` of them taken; -1:
 * the buffer lies on the heap. Raises for a size out of range. */
#define STACK_ALIGN 64
int64_t lowered_stack_bytes(Allocate *n, int64_t used);

/* What an assertion that fails raises: "RuntimeError", and the text. */
const char *lowered_assert_kind(AssertStmt *n);
const char *lowered_assert_text(AssertStmt *n);

/* Is this value the frame of a host function? Then a failure must end it. */
bool lowered_begins_frame(Node *value);
/* Does this statement end the frame and return, and no more? */
bool lowered_is_failure(Node *stmt);

/* The TvmsType of an argument of T.call_packed. Raises for a vector. */
int lowered_value_type(Node *arg);

/* T.tvm_stack_make_array(data, shape, strides, ndim, like, elem_offset) makes a DLTensor; in words
 * of 64 bits it is data, LOWERED_ON_CPU, lowered_array_type, shape, strides, bytes. */
enum { LOWERED_ON_CPU = 1 };
uint64_t lowered_array_type(Call *n); /* ndim and dtype */
int lowered_array_nbytes(Call *n);    /* of an element */

/* The variables of a loop's body that have a value outside (a Map with Vars as keys), in order of
 * first use. */
NodeVec lowered_captures(For *loop, const Map *outside);

#endif
