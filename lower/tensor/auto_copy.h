/* auto_copy.h -- blocks with the annotation "auto_copy": what LowerAutoCopy takes apart. */
#ifndef LOWER_TENSOR_AUTO_COPY_H
#define LOWER_TENSOR_AUTO_COPY_H

#include "ir/arith/arith.h"
#include "lower/device/device.h"

/* One store, under loops and conditions. */
typedef struct Copy {
  Block *block;
  NodeVec loops, conditions; /* For, outermost first */
  BufferStore *store;
} Copy;

_Noreturn void auto_copy_refuse(const Block *b, const char *why);

/* Where an element lies from its buffer's pointer on, in elements. */
Node *element_offset(Node *buffer, NodeVec indices);
/* What an index gains from one step of a variable to the next; NULL: that is not always the same.
 */
Node *step_of(Analyzer *facts, Node *index, Node *var);

/* Does the copy bring matrices into memory of scope wmma.*, or out of it? Refuses fragments of mma.
 */
bool copies_matrices(const Copy *c);
/* Such a copy by instructions of tensor cores, tile by tile. `fragments`: of wmma_fragments. */
Node *copy_matrices(const Copy *c, const Map *fragments, Analyzer *facts);

#endif
