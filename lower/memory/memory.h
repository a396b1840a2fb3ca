/* memory.h -- what the passes that place the tensors of graph functions share.
 *
 * They work on graph functions whose kernels are told where to write (after CallTIRRewrite):
 *     y = R.builtin.alloc_tensor(shape, dtype, ...)
 *     cls.kernel(x, y)
 * The variable bound to such an allocation is the root of its memory; other variables name the same
 * memory by R.memory.view, tuples, match_cast and the arms of an `if`. */
#ifndef LOWER_MEMORY_MEMORY_H
#define LOWER_MEMORY_MEMORY_H

#include "ir/arith/arith.h"
#include "lower/lower_impl.h"

bool is_op_call(const Node *n, const char *name); /* a RelaxCall of this operator */
bool memory_is_root(const Node *value);           /* an allocating call, before or after planning */
Node *memory_call(const char *op, NodeVec args, Node *sinfo, Span span);
Node *memory_view(Node *of, Node *sinfo, Node *byte_offset, Span span);
/* May a tensor of a kernel of this target begin there? Not where its vectors would be torn. */
int64_t memory_align(const Target *target); /* what a plan begins tensors at multiples of */
bool memory_may_begin(const Target *target, Node *byte_offset);
Node *memory_new_tensor(Node *sinfo, Span span); /* R.builtin.alloc_tensor */
Node *memory_var(const char *name, Node *sinfo, Span span);
Node *memory_bind(Node *var, Node *value);
Node *memory_shape(NodeVec dims, Span span);           /* a ShapeExpr */
Node *memory_number(Node *value, Span span);           /* a PrimValue */
Node *memory_nbytes(Node *sinfo);                      /* of a tensor of known shape; int64 */
Node *memory_function(Node *function, NodeVec blocks); /* with another body of the same result */
/* Of a variable of the parameters, by the attribute tir_var_upper_bound; -1: none. */
int64_t memory_upper_bound(Function *f, const char *var);
/* Knows that no dim of the parameters is negative, and the upper bounds. */
Analyzer *memory_analyzer(Function *f);
/* What n is at most: itself with the variables at their upper bounds if it grows with each of them,
 * else n. `a` is memory_analyzer(f). */
Node *memory_most(Function *f, Analyzer *a, Node *n);

/* n where all of `dims` are MEMORY_TYPICAL_DIM; -1 if other things decide. */
int64_t memory_typical(const Map *dims, Analyzer *a, Node *n);

/* Rewrites each list of bindings of a function, inner ones first: `rewrite` pushes to `out` what is
 * to stand there. */
typedef struct Bindings {
  void (*rewrite)(struct Bindings *b, NodeVec bindings, NodeVec *out);
  void *context;
} Bindings;
Node *memory_rewrite(Bindings *b, Node *function);

/* ---- what may share memory (alias.c) ---- */

/* Of a value: the roots whose memory it may lie in, field by field if it is a tuple. */
typedef struct Alias Alias;
struct Alias {
  bool is_tuple;
  VEC(Alias *) fields;
  NodeVec roots;
};

/* What each variable of a function may share memory with. */
typedef struct Aliases {
  Node *module;
  Map of;     /* RelaxVar to its Alias */
  Map opaque; /* roots, and parameters, that reach a call which may keep or change what it is given
               */
  Map leaves; /* those that the function may return */
} Aliases;
Aliases memory_aliases(Node *module, Node *function);
NodeVec alias_roots(Aliases *a, Node *operand); /* of all fields */

/* Calls that only read and write their operands while they run: kernels, functions of the module,
 * and packed functions in destination-passing style. */
bool memory_call_borrows(Node *module, Node *call);

/* ---- when memory is needed (liveness.c) ---- */

typedef struct Segment {
  int begin, end; /* both included; places are numbered in the order of the text */
} Segment;

/* One root. An arm of an `if` that does not use it is no part of its life. */
typedef struct Life {
  Node *root, *value, *sinfo; /* the variable, what it is bound to, its tensor */
  int at;                     /* where it is bound */
  VEC(Segment) segments;
} Life;

typedef struct Liveness {
  Aliases aliases;
  VEC(Life) lives;
  Map index;    /* root to its number + 1 */
  Map dead;     /* binding to NodeVec *: roots not needed after it, in scope there */
  Map at_start; /* SeqExpr of an arm to NodeVec *: the same at its start */
  Map names;    /* binding to its place + 1 */
  int places;
} Liveness;
Liveness *memory_liveness(Node *module, Node *function);
bool lives_meet(const Life *a, const Life *b);

/* ---- where memory lies (plan.c) ---- */

/* MEMORY_TYPICAL_DIM stands for symbolic dims where a plan needs a number. */
enum { MEMORY_ALIGN = 64, MEMORY_TYPICAL_DIM = 64 };

typedef struct PlanItem {
  const Life *life;
  int64_t size;   /* bytes, a multiple of memory_align */
  int64_t offset; /* found by the planner */
  IntVec near;    /* numbers of the items whose lives meet its own: by the planner */
} PlanItem;
typedef VEC(PlanItem) PlanItems;

/* Gives every item an offset so that items whose lives meet do not overlap; the bytes in all. */
int64_t plan_items(PlanItems *items);
/* Numbers of the items, lowest offset first. */
const int *plan_order(const PlanItems *items);
/* The most bytes that are live at one place: no plan can do with less. */
int64_t plan_lower_bound(const PlanItems *items, int places);

/* ---- what kernels do with their buffers (kernel_copies.c, kernel_inplace.c) ---- */

/* Elements [to, to + count) of an output are the same as those from `from` on of the buffer of
 * parameter `param`; expressions of the kernel's own dims. */
typedef struct KernelPart {
  int param;
  Node *from, *to, *count;
} KernelPart;
typedef VEC(KernelPart) KernelParts;
/* Does the kernel do nothing to output `out` but copy whole ranges of other parameters? Then its
 * parts, in order, cover the output. */
bool kernel_copies(PrimFunc *f, int out, KernelParts *parts);

/* May parameter `out` be the memory of `in`? True if every element of `in` is read only to write
 * the same element of `out`. */
bool kernel_writes_in_place(PrimFunc *f, int in, int out);
/* The kernel with one buffer for both, and without the parameter `out`. */
Node *kernel_in_place(PrimFunc *f, int in, int out);

/* What a kernel's own dims are in a call: adds Var to expression. False if a tensor's shape is not
 * known. */
bool kernel_call_dims(PrimFunc *f, NodeVec args, Map *bound);

#endif
