/* llvm_test.h -- building, compiling and running small lowered modules in tests of the llvm back
 * end. */
#ifndef TESTS_UNIT_LLVM_TEST_H
#define TESTS_UNIT_LLVM_TEST_H

#include "ir/ir.h"
#include "ir/target.h"
#include "target/target.h"
#include "tests/unit/unit.h"

#define NOWHERE ((Span){0, 0})

/* A kernel over one-dimensional buffers of any size and the scalar n (int64), called `k`, and the
 * packed function `run` that checks nothing but the arguments' number. */
typedef struct Case {
  NodeVec buffers;
  Node *n;
  Node *body;
  Node *attrs; /* of the kernel, or NULL */
} Case;

Case case_new(void);
Node *case_buffer(Case *c, const char *name, DataType elem);
Node *case_module(const Case *c);

Node *load_at(Node *buffer, Node *index);
Node *store_at(Node *buffer, Node *index, Node *value);
Node *load_vector(Node *buffer, Node *base, int lanes); /* contiguous */
Node *loop(LoopKind kind, Node *var, Node *extent, Node *body);
Node *raw_binary(NodeKind kind, Node *a, Node *b); /* no folding; comparisons give bool */
Node *call(const char *name, DataType t, NodeVec args);
Node *i64(int64_t value);
Node *ramp(Node *base, int64_t stride, int lanes);

/* Tests run on the back end that UNIT_TARGET names, llvm or c. */
bool runs_on(const char *kind);
/* Compiles for this process; the options are those of the llvm target. */
TvmsModule *load_module(Node *module, const char *options);
/* Calls `run` with the memory of each buffer (n elements) and n. 0 or -1. */
int run_case(TvmsModule *m, const Case *c, int64_t n, void **memory);
/* Both; false if the call fails. */
bool compile_and_run(const Case *c, const char *options, int64_t n, void **memory);

/* Is this error raised by compiling? */
bool compile_raises(const Case *c, const char *kind, const char *text);

/* One element as a number. Integers of 64 bits lose nothing by way of get_int. */
double get_float(DataType t, const void *at, int64_t i);
int64_t get_int(DataType t, const void *at, int64_t i);
void put_float(DataType t, void *at, int64_t i, double value);
void put_int(DataType t, void *at, int64_t i, int64_t value);

#endif
