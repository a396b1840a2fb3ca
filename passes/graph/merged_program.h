/* merged_program.h -- one tensor program for a graph function that only calls tensor programs. */
#ifndef PASSES_GRAPH_MERGED_PROGRAM_H
#define PASSES_GRAPH_MERGED_PROGRAM_H

#include "passes/passes.h"

typedef struct MergedProgram {
  Node *func; /* PrimFunc: tensors and scalars as the function takes them, tuples field by field;
               * the outputs; the values of shapes. NULL: there is none */
  IntVec inplace;  /* for each result, the number of the input that holds it; -1: an output */
  bool overwrites; /* is one of them not -1? */
} MergedProgram;

MergedProgram merged_program(Node *module, Function *f);

#endif
