/* atomic.h -- calls that are atomic operations on memory. */
#ifndef TARGET_ATOMIC_H
#define TARGET_ATOMIC_H

#include "ir/ir.h"

typedef enum {
  ATOMIC_ADD,
  ATOMIC_SUB,
  ATOMIC_EXCHANGE,
  ATOMIC_AND,
  ATOMIC_OR,
  ATOMIC_XOR,
  ATOMIC_MAX,
  ATOMIC_MIN,
  ATOMIC_CAS
} AtomicOp;

typedef struct Atomic {
  AtomicOp op;
  const char *name;
  Node *pointer, *value, *swapped; /* swapped: what a CAS stores where `value` was found; or NULL */
} Atomic;

/* Is it T.cuda.atomic_add, T.cuda.atomic_cas, or T.call_extern of CUDA's atomicAdd and its like?
 * Raises for a wrong number of arguments. */
bool atomic_of(const Call *n, Atomic *out);
/* Raises if the value is not a number of 32 or 64 bits. */
void atomic_check(const Call *n, const Atomic *a);
/* Device code calls these C functions, and no other. */
_Noreturn void atomic_raise_other(const Call *n);

#endif
