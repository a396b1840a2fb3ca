/* traffic.c -- what accesses of a block's threads cost: turns at the 32 banks of shared memory, of
 * 4 bytes each, where accesses of 8 and 16 bytes go in two and four parts; sectors of 32 bytes of
 * global memory. */
#include "target/speed/count.h"

enum { BANKS = 32, WORD = 4, SECTOR = 32 };

/* The words in the fullest bank, of threads [from, to); of `wanted`, if banks were all as full. */
static int turns_of(const Touch *t, int from, int to, int *wanted) {
  int64_t words[BANKS][WARP * 4];
  int count[BANKS] = {0}, most = 0;
  for (int i = from; i < to; i++)
    for (int64_t w = t->at[i] / WORD; t->on[i] && w * WORD < t->at[i] + t->nbytes; w++) {
      int bank = (int)(((w % BANKS) + BANKS) % BANKS), k = 0;
      while (k < count[bank] && words[bank][k] != w) k++;
      if (k == count[bank] && k < WARP * 4) words[bank][count[bank]++] = w;
      if (count[bank] > most) most = count[bank];
    }
  *wanted = most > 0 ? (t->nbytes + BANKS * WORD - 1) / (BANKS * WORD) : 0;
  return most;
}

void touch_turns(const Touch *t, double *turns, double *least) {
  int part = t->nbytes > WORD ? WARP * WORD / t->nbytes : WARP, wanted;
  *turns = *least = 0;
  for (int i = 0; i < t->count; i += part < 1 ? 1 : part) {
    int to = i + (part < 1 ? 1 : part);
    *turns += turns_of(t, i, to < t->count ? to : t->count, &wanted);
    *least += wanted;
  }
}

int64_t touch_sectors(const Touch *t, Map *seen) {
  int64_t count = 0;
  for (int i = 0; i < t->count; i++) {
    if (!t->on[i]) continue;
    for (int64_t s = t->at[i] / SECTOR; s * SECTOR < t->at[i] + t->nbytes; s++) {
      const void *key = (const void *)(intptr_t)(s * SECTOR + SECTOR + 1); /* not NULL */
      if (map_has(seen, key)) continue;
      map_set(seen, key, (void *)(intptr_t)1);
      count++;
    }
  }
  return count;
}
