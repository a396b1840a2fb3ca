/* names.c -- a map from interned names to values, in insertion order: scopes, attributes, modules.
 *
 * As ir/support/map.h, but the values lie in the entries: a name is set without an allocation, and
 * whoever remembers an index finds the entry again by one comparison. */
#include "lang/value/value.h"

static uint32_t hash_name(const char *name) {
  return (uint32_t)((uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u >> 32);
}

/* Up to this many entries are searched one by one, without an index. */
enum { FEW = 8 };

int names_find(const Names *n, const char *name) {
  if (!n->index_size) {
    for (int i = 0; i < n->len; i++)
      if (n->at[i].name == name) return i;
    return -1;
  }
  uint32_t mask = (uint32_t)n->index_size - 1;
  for (uint32_t i = hash_name(name) & mask; n->index[i]; i = (i + 1) & mask)
    if (n->at[n->index[i] - 1].name == name) return n->index[i] - 1;
  return -1;
}

static void index_entry(Names *n, int entry) {
  if (!n->index_size) return;
  uint32_t mask = (uint32_t)n->index_size - 1, i = hash_name(n->at[entry].name) & mask;
  while (n->index[i]) i = (i + 1) & mask;
  n->index[i] = entry + 1;
}

/* Drops removed entries and makes room for twice the live ones. */
static void rebuild(Names *n) {
  int cap = n->live < 2 ? 4 : n->live * 2, len = 0;
  NameEntry *at = NEW_ARRAY(NameEntry, cap);
  for (int i = 0; i < n->len; i++)
    if (n->at[i].name) at[len++] = n->at[i];
  *n = (Names){.at = at, .len = len, .cap = cap, .live = len};
  if (cap <= FEW) return;
  n->index_size = 32;
  while (n->index_size < cap * 2) n->index_size *= 2;
  n->index = (int32_t *)(void *)NEW_BYTES(sizeof(int32_t) * (size_t)n->index_size);
  for (int i = 0; i < len; i++) index_entry(n, i);
}

Value *names_get(const Names *n, const char *name) {
  int i = names_find(n, name);
  return i < 0 || !n->at[i].value.type ? NULL : &n->at[i].value;
}

int names_set(Names *n, const char *name, Value x) {
  int i = names_find(n, name);
  if (i < 0) {
    if (n->len == n->cap) rebuild(n);
    i = n->len++;
    n->at[i].name = name;
    n->live++;
    index_entry(n, i);
  }
  n->at[i].value = x;
  return i;
}

bool names_remove(Names *n, const char *name) {
  int i = names_find(n, name);
  if (i < 0) return false;
  /* Its place in the index stays, and points at an entry that no name matches. */
  n->at[i] = (NameEntry){0};
  n->live--;
  return true;
}

bool name_is_private(const char *name) { return name[0] == '_' && name[1] != '_'; }

void names_list(const Names *n, StrVec *out) {
  for each (NameEntry, e, n)
    if (e->value.type) vec_push(out, e->name);
}
