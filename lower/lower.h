/* lower.h -- the door of lower/: from an IRModule to flat functions that a back end can emit.
 *
 * After lowering every function is a PrimFunc of one of two sorts.
 *   kernel   parameters are pointers to data (Var of dtype handle with an element type; they do not
 *            alias unless attr "tir.noalias" is false) and scalars. No `buffers`, no result or a
 * scalar one. packed   attr "tvms.packed" = 1: the calling convention of TvmsPackedFunc: (self:
 * handle, args: handle, types: handle, n: int32, ret: handle, ret_type: handle) -> int32. Exported
 * under its global_symbol if it has one; attr "tvms.signature" tells people how to call it. Bodies
 * hold no Block, BlockRealize, MatchBufferRegion or BufferRealize: LetStmt, AttrStmt, AssertStmt,
 * Allocate, AllocateConst, DeclBuffer, For, While, IfThenElse, SeqStmt, BufferStore, Evaluate.
 * Buffers have one dimension, no strides, elem_offset 0; a Ramp index makes a vector access. Loops
 * are serial, parallel (outermost parallel one only) or unrolled by a pragma; vectorized ones are
 * gone. Calls are intrinsics that back ends know, GlobalVars of kernels, and C functions by
 * call_extern (functions of abi.def among them). A packed function passes another one's address as
 * Call tir.address_of(GlobalVar). */
#ifndef LOWER_LOWER_H
#define LOWER_LOWER_H

#include "ir/ir.h"
#include "ir/target.h"
#include "passes/passes.h"

/* Buffers of constant size with at most so many bytes lie on the stack of a kernel. */
enum { LOWER_STACK_BUFFER = 16 << 10 };

/* Memory that the threads of a block share has a fixed place in a kernel if it is of scope
 * "shared", up to this many bytes. What is more, all of scope "shared.dyn", and arrays that share
 * places (MergeSharedMemoryAllocations), lie in one piece whose size is told at launch: arrays
 * (Vars) at offsets in bytes. */
enum { LOWER_STATIC_SHARED = 48 << 10 };
typedef struct DynamicShared {
  NodeVec vars;
  VEC(int64_t) offsets;
  int64_t nbytes; /* 0: there is none */
} DynamicShared;
DynamicShared lower_dynamic_shared(PrimFunc *kernel);
/* Bytes that the place of such an array is a multiple of: 128, or more if it asks for it; never
 * more than LOWER_MOST_ALIGN. */
enum { LOWER_MOST_ALIGN = 1024 };
int64_t lower_shared_align(const Allocate *array);

/* Is it a function for a device, which SplitHostDevice made? */
bool is_device_function(Node *f);

/* Runs the pipeline of the target's kind. Raises on what can't be lowered, with its span. */
Node *lower_module(Node *module, const Target *target);
Node *lower_module_watched(Node *module, const Target *target, const Instruments *instruments);

/* The passes and pipelines of this folder; once, at start. */
void lower_start(void);

#endif
