/* ptx.h -- instructions of PTX that stand as text in code: products of fragments (mma, wmma,
 * wgmma), loads of fragments (ldmatrix), copies that a thread does not wait for (cp.async).
 *
 * What a call says is checked here. Operands are named by their number behind `sign`, which is what
 * the assembly of the text's surroundings wants: "$0" for LLVM, "%0" for C. */
#ifndef TARGET_PTX_H
#define TARGET_PTX_H

#include "ir/ir.h"
#include "ir/target.h"

enum { PTX_MOST_REGISTERS = 140 };

/* Operands: the registers of the result (C), of A, of B; the last ones are read and written. */
typedef struct PtxMma {
  const char *text;
  int a, b, c;   /* registers of each */
  bool is_float; /* a register of C holds a float32; all others hold 32 bits */
} PtxMma;
PtxMma ptx_mma(const Target *target, Call *n, char sign);

/* Operands: the registers, then the address in shared memory. */
const char *ptx_ldmatrix(const Target *target, Call *n, char sign, int *registers);
/* Operands: the address in shared memory, that in global memory, and with six arguments how many
 * bytes are read; the others become 0. */
const char *ptx_cp_async(const Target *target, Call *n, char sign, int *nbytes);

/* Matrices of wmma: their registers, in arrays of these many. */
typedef struct PtxRegisters {
  int n;
  char kind; /* as assembly wants it: 'r' of 32 bits, 'f' of a float32, 'd' of a float64 */
} PtxRegisters;
/* Operands: the registers, then the address and the length of rows (load); the address, the
 * registers, the length (store). `space` is that of the address: ".shared", ".global". */
const char *ptx_wmma_load(const Target *target, Call *n, char sign, const char *space,
                          PtxRegisters *out);
const char *ptx_wmma_store(const Target *target, Call *n, char sign, const char *space,
                           PtxRegisters *out);
/* Operands: the registers of the result, of A, B and C; `out` has them in the order of the call: A,
 * B, C, D. */
const char *ptx_wmma_mma(const Target *target, Call *n, char sign, PtxRegisters out[4]);

/* Operands: the registers of C, read and written; then four of A, if `a_in_registers`, or what
 * tells where A lies; and what tells where B lies. That is an address divided by 16 in the low
 * bits, and the others of `a_place` and `b_place` beside it. */
typedef struct PtxWgmma {
  const char *text;
  PtxRegisters c;
  bool a_in_registers;
  uint64_t a_place, b_place;
} PtxWgmma;
PtxWgmma ptx_wgmma(const Target *target, Call *n, char sign, bool a_in_registers);
/* What has no operands: a statement of PTX for fence, commit_group, wait_group, fence.proxy.async;
 * NULL: the call is none of these. */
const char *ptx_order(const Target *target, Call *n);

/* Of a barrier of bulk copies, after LowerCopyBarriers. Operands: the address of the barrier; with
 * `has_value` argument 1 of the call. */
const char *ptx_barrier(const Target *target, Call *n, char sign, bool *has_value);
/* Operands: the address in shared memory, that in global memory, the bytes, and the address of the
 * barrier. */
const char *ptx_bulk_copy(const Target *target, Call *n, char sign);

int64_t ptx_constant(Call *n, int i); /* the argument, which must be one */
/* Raises if the code is for a GPU older than sm_<number>. */
void ptx_need_gpu(const Target *target, Call *n, int number);
void ptx_check_store(Call *n); /* of T.mma_store: 16 x 16 elements */
_Noreturn void ptx_raise_not_shared(Call *n);

#endif
