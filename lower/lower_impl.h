/* lower_impl.h -- what the files of lower/ share: kernels' signatures, and building of host
 * functions. */
#ifndef LOWER_LOWER_IMPL_H
#define LOWER_LOWER_IMPL_H

#include "lower/lower.h"
#include "passes/passes.h"
#include "target/runtime/tvms.h"

/* ---- kernels ---- */

/* The parameters of a tensor program as a kernel: for each parameter its data pointer or scalar,
 * then every variable of the buffers' shapes, strides and offsets that is no parameter, in order of
 * appearance. */
NodeVec kernel_params(const PrimFunc *f);

/* Matches the buffers' variables with what a call knows: `dims(context, param, axis)` is the extent
 * of an argument as the caller has it. Adds Var to expression in `bound`. Strides and offsets are
 * those of compact tensors. */
typedef Node *(*DimOf)(void *context, int param, int axis);
void kernel_bind_dims(const PrimFunc *f, DimOf dims, void *context, Map *bound);

/* ---- devices (device/device.c) ---- */

/* Where the tensors of a target lie. */
typedef struct LowerDevice {
  bool is_device; /* false: on the CPU */
  DLDeviceType type;
  int id;
  int align;        /* kernels count on it that pointers are multiples of so many bytes */
  bool takes_sizes; /* launches tell how many bytes a kernel sees behind each pointer */
} LowerDevice;
LowerDevice lower_device(const Target *target); /* NULL: the CPU */

/* ---- host functions (host.c) ---- */

/* A host function being written, statement by statement. Lets and allocations scope over what
 * follows. */
typedef struct Host {
  const char *name; /* for messages of run-time checks */
  Span span;
  NodeVec items;
  VEC(bool) open; /* beside items: a wrapper whose body is the rest */
  Node *self, *args, *types, *count, *ret, *ret_type; /* the parameters of a TvmsPackedFunc */
  Node *frame;                                        /* NULL: the function makes nothing */
  LowerDevice device;                                 /* where its tensors are */
} Host;

Host host_new(const char *name, Span span);
void host_add(Host *h, Node *stmt);
void host_wrap(Host *h, Node *wrapper);                 /* its body is the rest */
Node *host_let(Host *h, const char *name, Node *value); /* the variable */
void host_let_var(Host *h, Node *var, Node *value);
/* A C function of abi.def or libc. */
Node *host_call(Host *h, const char *symbol, DataType result, NodeVec args);
void host_check(Host *h, Node *status);                     /* return -1 if it is not 0 */
Node *host_object(Host *h, const char *name, Node *handle); /* a let; return -1 if it is NULL */
/* An array on the stack with these elements: its pointer. */
Node *host_array(Host *h, const char *name, DataType elem, NodeVec values);
Node *host_load(Host *h, Node *pointer, DataType elem, int index);
void host_store(Host *h, Node *pointer, DataType elem, int index, Node *value);
Node *host_bits(Host *h, Node *value); /* as the 64 bits of a TvmsValue */
Node *host_text(Host *h, const char *text);
Node *host_int(Host *h, int64_t value); /* int32 */
/* The arguments with the numbers of the function's device put at `at`. */
NodeVec host_on_device(Host *h, int at, NodeVec args);
/* All statements as one; the builder may not be used after. */
Node *host_body(Host *h);
/* The whole function. symbol NULL: internal to the module. */
Node *host_function(Host *h, Node *body, const char *symbol, const char *signature);

/* Checks of one argument against the dims that its parameter is declared with: a variable not in
 * `bound` is bound to the extent, everything else is compared when all are bound. */
typedef struct DimCheck {
  const char *what; /* as messages name it: value_phrase */
  Node *tensor;     /* the DLTensor *, or NULL for a shape value: `actual` holds the extents */
  NodeVec dims, actual;
  bool is_shape; /* else a scalar, if there is no tensor */
} DimCheck;
typedef VEC(DimCheck) DimCheckVec;
Node *host_tensor_arg(Host *h, int index, const char *param, int ndim, DataType elem);
void host_bind_dims(Host *h, DimCheck check, Map *bound, DimCheckVec *later);
void host_check_dims(Host *h, const DimCheckVec *checks, const Map *bound);

#endif
