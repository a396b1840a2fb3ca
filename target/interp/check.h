/* check.h -- private to target/interp/: kernels that are run to find their faults.
 *
 * The sim target with -sanitize loads a module with a Checker. Then a fault of a kernel is noted,
 * and the kernel goes on: a load that can't be gives 0, a store that can't be does nothing, a
 * barrier that not all threads come to lets those pass that do. When the call from outside is
 * over, what was noted is its error. Without a Checker the first fault ends the call. */
#ifndef TARGET_INTERP_CHECK_H
#define TARGET_INTERP_CHECK_H

#include "target/interp/interp.h"

/* An access in a program, as messages tell of it. */
typedef struct Site {
  Span span;
  const char *doing, *name; /* "load", and of which buffer */
  bool is_atomic, is_shared;
} Site;
uint32_t site_new(Site s);
const Site *site_at(uint32_t number);

typedef struct AsyncCopy AsyncCopy; /* async.c */
typedef struct Product Product;     /* product.c */

/* Where a kernel is: the block that runs, and how many there are. */
struct Checker {
  int64_t at[3], grid[3];  /* blockIdx.x, .y, .z */
  int threads[3];          /* of a block */
  uint32_t block, launch;  /* numbers; launches count from 1 */
  int64_t warp;            /* threads of one */
  bool counts;             /* bank conflicts and transactions */
  VEC(AsyncCopy *) copies; /* begun, not waited for */
  Map groups;              /* thread + 1 to the number of groups it has committed */
  VEC(Product *) products; /* not waited for */
  Product *running;        /* whose steps a thread does; or NULL */
  uint32_t fence;          /* number of the last one */
  Map fences;              /* thread + 1 to the number of its last */
  VEC(Diag *) found;
  Map known; /* texts of what was found, by place */
};

/* "thread (3, 0, 0) of block (1, 0, 0)"; with no Checker "thread 3". */
const char *thread_text(uint32_t block, int thread);
const char *thread_here(void);

/* A fault, once for each pair of places. `other` and `note` tell of the second one; help: what to
 * do; each may be absent. */
void found_fault(DiagCode code, Span span, Span other, const char *note, const char *help,
                 const char *format, ...) PRINTF_LIKE(6, 7);

/* A program begins; one for a device is a launch. */
void check_launch(const PrimFunc *f);
/* What was found in this call: NULL if nothing. */
const DiagVec *check_result(Checker *c);

/* Is a copy to this place begun, and not waited for? */
const char *async_pending(const char *at); /* "copy" or "product"; NULL */

/* ---- product.c: T.ptx_wgmma, which goes on beside the threads ---- */

/* A thread changes what may be registers of a product. */
void product_changed(Memory *m, const char *at, int nbytes);
/* A product takes registers. */
void product_takes(const Memory *m, const char *from, const char *end, uint32_t site);
/* What a thread loads between the two, the product reads. */
void product_begin(uint32_t site);
void product_end(void);
void product_reads(Memory *m, const char *at, int nbytes);
/* A thread writes to memory of which products read. */
void product_overwritten(const Memory *m, const char *at, int nbytes, uint32_t site);
void product_commit(int thread, int64_t group);
void product_wait(int thread, int64_t over); /* for all but the last groups */

/* ---- traffic.c: what accesses cost ---- */

/* A thread touches these bytes of `m`. */
void traffic_note(uint32_t site, const Memory *m, const char *at, int nbytes, bool is_shared);
/* All threads are through with a statement, or a block is over. */
void traffic_end(void);

#endif
