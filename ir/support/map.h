/* map.h -- a hash map from pointers to pointers that iterates in insertion order.
 *
 * Keys are compared as pointers: intern strings first. Order never depends on addresses, so
 * nothing printed from a map changes from run to run. Zero is an empty map. */
#ifndef IR_SUPPORT_MAP_H
#define IR_SUPPORT_MAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct MapEntry {
  const void *key; /* NULL: removed */
  void *value;
} MapEntry;

typedef struct Map {
  MapEntry *at; /* in insertion order; skip those whose key is NULL */
  int len;      /* entries in `at`, removed ones included */
  int cap, live;
  int32_t *slots; /* hash to index + 1, 0 if free */
  int slot_count;
} Map;

void *map_get(const Map *m, const void *key); /* NULL if absent */
bool map_has(const Map *m, const void *key);
void map_set(Map *m, const void *key, void *value); /* keeps the place of a key already there */
bool map_remove(Map *m, const void *key);           /* false if absent */
void map_clear(Map *m);                             /* keeps its memory for the next entries */

#endif
