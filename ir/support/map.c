/* map.c -- an open-addressing index over an array of entries in insertion order (as in Python). */
#include "ir/support/map.h"
#include "ir/support/gc.h"

static uint32_t hash_pointer(const void *key) {
  uint64_t h = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
  return (uint32_t)(h >> 32);
}

/* Up to this many entries are searched one by one, without an index. */
enum { FEW = 8 };

/* The entry's index, or -1. */
static int find(const Map *m, const void *key) {
  if (!m->slot_count) {
    for (int i = 0; i < m->len; i++)
      if (m->at[i].key == key) return key ? i : -1;
    return -1;
  }
  uint32_t mask = (uint32_t)m->slot_count - 1;
  for (uint32_t i = hash_pointer(key) & mask; m->slots[i]; i = (i + 1) & mask)
    if (m->at[m->slots[i] - 1].key == key) return m->slots[i] - 1;
  return -1;
}

static void index_entry(Map *m, int entry) {
  if (!m->slot_count) return;
  uint32_t mask = (uint32_t)m->slot_count - 1, i = hash_pointer(m->at[entry].key) & mask;
  while (m->slots[i]) i = (i + 1) & mask;
  m->slots[i] = entry + 1;
}

static void grow(Map *m) {
  m->cap = m->cap ? m->cap * 2 : 4;
  m->at = gc_grow(m->at, sizeof(MapEntry) * (size_t)m->cap);
  m->slot_count = 0;
  if (m->cap <= FEW) return;
  m->slot_count = 32;
  while (m->slot_count < m->cap * 2) m->slot_count *= 2;
  m->slots = (int32_t *)(void *)NEW_BYTES(sizeof(int32_t) * (size_t)m->slot_count);
}

/* Makes room for entries: in the place of removed ones if these are half of all. */
static void make_room(Map *m) {
  int n = 0;
  if (!m->cap || m->live > m->cap / 2) grow(m);
  else if (m->slot_count) memset(m->slots, 0, sizeof(int32_t) * (size_t)m->slot_count);
  for (int i = 0; i < m->len; i++)
    if (m->at[i].key) m->at[n++] = m->at[i];
  memset(m->at + n, 0, sizeof(MapEntry) * (size_t)(m->len - n)); /* nothing stays reachable */
  m->len = n;
  for (int i = 0; i < n; i++) index_entry(m, i);
}

void *map_get(const Map *m, const void *key) {
  int i = find(m, key);
  return i < 0 ? NULL : m->at[i].value;
}

bool map_has(const Map *m, const void *key) { return find(m, key) >= 0; }

void map_set(Map *m, const void *key, void *value) {
  int i = find(m, key);
  if (i < 0) {
    if (m->len == m->cap) make_room(m);
    i = m->len++;
    m->at[i].key = key;
    m->live++;
    index_entry(m, i);
  }
  m->at[i].value = value;
}

void map_clear(Map *m) {
  if (m->len) memset(m->at, 0, sizeof(MapEntry) * (size_t)m->len);
  if (m->slot_count) memset(m->slots, 0, sizeof(int32_t) * (size_t)m->slot_count);
  m->len = m->live = 0;
}

bool map_remove(Map *m, const void *key) {
  int i = find(m, key);
  if (i < 0) return false;
  /* The slot stays, pointing at an entry whose key matches nothing: a tombstone. */
  m->at[i] = (MapEntry){NULL, NULL};
  m->live--;
  return true;
}
