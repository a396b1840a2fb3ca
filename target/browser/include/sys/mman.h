/* mman.h -- memory can't be mapped; what is given are addresses that nothing can read, as the
 * runtime wants them for memory of devices (addresses.c). */
#ifndef TARGET_BROWSER_SYS_MMAN_H
#define TARGET_BROWSER_SYS_MMAN_H

#include <stddef.h>
#include <stdint.h>

#define PROT_NONE     0
#define PROT_READ     1
#define MAP_PRIVATE   2
#define MAP_ANONYMOUS 32
#define MAP_NORESERVE 64
#define MAP_FAILED    ((void *)-1)

void *mmap(void *where, size_t size, int protection, int flags, int file, int64_t offset);
int munmap(void *base, size_t size);

#endif
