/* memory.c -- memory for tensors and workspace: aligned, and large blocks in huge pages.
 *
 * A large block in pages of 2 MB is first touched three times as fast as in pages of 4 KB, and
 * reading it with large strides misses the TLB less. The system may say no; nothing depends on it.
 */
#include "target/runtime/runtime_impl.h"
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((uintptr_t)2 << 20)

static void advise_huge(void *block, size_t nbytes) {
#ifdef MADV_HUGEPAGE
  uintptr_t begin = ((uintptr_t)block + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
  uintptr_t end = ((uintptr_t)block + nbytes) & ~(HUGE_PAGE - 1);
  if (begin < end) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
  (void)block, (void)nbytes;
#endif
}

void *tvms__memory_new(size_t nbytes) {
  void *block = aligned_alloc(64, nbytes);
  if (block && nbytes >= 2 * HUGE_PAGE) advise_huge(block, nbytes);
  return block;
}
