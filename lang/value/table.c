/* table.c -- the hash table of dicts and sets: an index over entries in insertion order. */
#include "lang/value/object.h"

static uint32_t slot_of(const Table *t, uint64_t hash) {
  return (uint32_t)((hash * 0x9e3779b97f4a7c15u) >> 32) & ((uint32_t)t->slot_count - 1);
}

static void index_entry(Table *t, int entry) {
  uint32_t mask = (uint32_t)t->slot_count - 1, i = slot_of(t, t->at[entry].hash);
  while (t->slots[i]) i = (i + 1) & mask;
  t->slots[i] = entry + 1;
}

/* Drops removed entries and makes room for twice the live ones. */
static void rebuild(Table *t) {
  int cap = t->live < 4 ? 8 : t->live * 2, n = 0;
  gc_check_growth(sizeof(TableEntry) * (size_t)cap);
  TableEntry *at = NEW_ARRAY(TableEntry, cap);
  for (int i = 0; i < t->len; i++)
    if (t->at[i].key.type) at[n++] = t->at[i];
  t->at = at;
  t->len = n;
  t->cap = cap;
  t->slot_count = 16;
  while (t->slot_count < cap * 2) t->slot_count *= 2;
  t->slots = (int32_t *)(void *)NEW_BYTES(sizeof(int32_t) * (size_t)t->slot_count);
  for (int i = 0; i < n; i++) index_entry(t, i);
}

TableEntry *table_find(const Table *t, Value key, uint64_t hash) {
  if (!t->live) return NULL;
  const int32_t *slots = t->slots;
  uint32_t mask = (uint32_t)t->slot_count - 1;
  for (uint32_t i = slot_of(t, hash); slots[i]; i = (i + 1) & mask) {
    TableEntry *e = &t->at[slots[i] - 1];
    if (!e->key.type || e->hash != hash) continue;
    if (value_same(e->key, key)) return e;
    bool equal = value_equal(e->key, key);
    /* An __eq__ may have changed the table: moved its entries, or removed this one. */
    if (t->slots != slots) return table_find(t, key, hash);
    if (equal && e->key.type) return e;
  }
  return NULL;
}

TableEntry *table_add(Table *t, Value key, uint64_t hash) {
  TableEntry *e = table_find(t, key, hash);
  if (e) return e;
  if (t->len == t->cap) rebuild(t);
  t->at[t->len] = (TableEntry){.key = key, .hash = hash};
  t->live++;
  index_entry(t, t->len);
  return &t->at[t->len++];
}

bool table_remove(Table *t, Value key, uint64_t hash) {
  TableEntry *e = table_find(t, key, hash);
  if (!e) return false;
  /* The slot stays: it points at an entry whose key matches nothing. */
  e->key = e->value = value_absent();
  t->live--;
  return true;
}

void table_clear(Table *t) { *t = (Table){0}; }

Table table_copy(const Table *t) {
  Table copy = *t;
  if (!t->live) return (Table){0};
  rebuild(&copy);
  return copy;
}

TableEntry *table_next(const Table *t, int *i) {
  while (*i < t->len) {
    TableEntry *e = &t->at[(*i)++];
    if (e->key.type) return e;
  }
  return NULL;
}
