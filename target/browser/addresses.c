/* addresses.c -- ranges of addresses for memory of devices, in place of the operating system's.
 *
 * The program's memory ends below BEGIN (link.c asks for that), so what lies above can't be read
 * and is given out first-fit. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BEGIN 0x80000000u
#define END   0xffff0000u

typedef struct Range {
  uint32_t begin, end;
} Range;

static struct {
  Range *at; /* that are taken, in order */
  int len, cap;
} taken;

static int grow(void) {
  int cap = taken.cap ? taken.cap * 2 : 64;
  Range *at = realloc(taken.at, sizeof *at * (size_t)cap);
  if (!at) return -1;
  taken.at = at;
  taken.cap = cap;
  return 0;
}

void *mmap(void *where, size_t size, int protection, int flags, int file, int64_t offset) {
  (void)where, (void)file, (void)offset;
  uint32_t begin = BEGIN;
  int i = 0;
  if (protection != PROT_NONE || !(flags & MAP_ANONYMOUS) || size > END - BEGIN) return MAP_FAILED;
  while (i < taken.len && taken.at[i].begin - begin < size) begin = taken.at[i++].end;
  if (END - begin < size || (taken.len == taken.cap && grow())) return MAP_FAILED;
  memmove(taken.at + i + 1, taken.at + i, sizeof *taken.at * (size_t)(taken.len - i));
  taken.at[i] = (Range){begin, begin + (uint32_t)size};
  taken.len++;
  return (void *)(uintptr_t)begin;
}

int munmap(void *base, size_t size) {
  (void)size;
  for (int i = 0; i < taken.len; i++) {
    if (taken.at[i].begin != (uintptr_t)base) continue;
    taken.len--;
    memmove(taken.at + i, taken.at + i + 1, sizeof *taken.at * (size_t)(taken.len - i));
    return 0;
  }
  return -1;
}
