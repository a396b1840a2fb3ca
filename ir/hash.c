/* hash.c -- structural hash: equal nodes (map_free_vars) have equal hashes.
 *
 * A variable is the number of variables met before it, so its name and place in memory don't matter. */
#include "ir/ir.h"

typedef struct Hash {
  Map numbers; /* variable or buffer to its number + 1 */
} Hash;

static uint64_t mix(uint64_t h, uint64_t x) {
  h ^= x + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdu;
}

static uint64_t mix_bytes(uint64_t h, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 1099511628211u;
  return mix(h, n);
}

static uint64_t mix_text(uint64_t h, const char *text) { return text ? mix_bytes(h, text, strlen(text)) : mix(h, 0); }

static uint64_t mix_dtype(uint64_t h, DataType t) {
  return mix(h, (uint64_t)t.code << 32 | (uint64_t)t.bits << 16 | (uint16_t)t.lanes);
}

static uint64_t hash(Hash *s, uint64_t h, Node *n);

static uint64_t hash_vec(Hash *s, uint64_t h, NodeVec v) {
  h = mix(h, (uint64_t)v.len);
  for each (Node *, n, &v) h = hash(s, h, *n);
  return h;
}

static uint64_t hash_data(uint64_t h, const ConstData *d) {
  h = mix_bytes(mix_dtype(h, d->elem), d->shape, sizeof(int64_t) * (size_t)d->ndim);
  return mix_bytes(h, d->bytes, d->nbytes);
}

static uint64_t hash_fields(Hash *s, uint64_t h, Node *node) {
#define HASH_SUB(x)    h = hash(s, h, n->x);
#define HASH_SUBS(x)   h = hash_vec(s, h, n->x);
#define HASH_DEF(x)    HASH_SUB(x)
#define HASH_DEFS(x)   HASH_SUBS(x)
#define HASH_USE(x)    HASH_SUB(x)
#define HASH_INFO(x)
#define HASH_VAL(x)    h = mix_bytes(h, &n->x, sizeof n->x);
#define HASH_INTS(x)   h = mix_bytes(h, n->x.at, sizeof(int) * (size_t)n->x.len);
#define HASH_STR(x)    h = mix_text(h, n->x);
#define HASH_STRS(x)   for each (const char *, text, &n->x) h = mix_text(h, *text);
#define HASH_NAME(x)
#define HASH_TENSOR(x) h = hash_data(h, n->x);
  switch (node->kind) {
#define NODE(Kind, family, spelling) case NK_##Kind: { Kind *n = (Kind *)(void *)node; (void)n;
#define FIELD(type, name, role)      HASH_##role(name)
#define END(Kind)                    return h; }
#include "ir/node.def"
  }
  BUG("no node kind %d", node->kind);
}

static uint64_t hash_bindable(Hash *s, uint64_t h, Node *n) {
  intptr_t number = (intptr_t)map_get(&s->numbers, n);
  if (number) return mix(h, (uint64_t)number);
  map_set(&s->numbers, n, (void *)(intptr_t)(s->numbers.live + 1));
  if (IS(RelaxVar, n)) h = hash(s, h, AS(RelaxVar, n)->sinfo);
  return hash_fields(s, mix_dtype(h, n->dtype), n);
}

/* Sums over functions and keys: their order does not matter. */
static uint64_t hash_module(uint64_t h, IRModule *m) {
  uint64_t sum = 0;
  for (int i = 0; i < m->functions.len; i++)
    sum += mix(node_hash(m->functions.at[i]), mix_text(1, AS(GlobalVar, m->globals.at[i])->name));
  return mix(mix(h, sum), mix(node_hash(m->attrs), node_hash(m->global_infos)));
}

static uint64_t hash_dict(uint64_t h, Dict *d) {
  uint64_t sum = 0;
  for (int i = 0; i < d->keys.len; i++) sum += mix(node_hash(d->values.at[i]), mix_text(1, d->keys.at[i]));
  return mix(h, sum);
}

static uint64_t hash(Hash *s, uint64_t h, Node *n) {
  if (!n) return mix(h, 0);
  h = mix_dtype(mix(h, n->kind + 1u), n->dtype);
  switch (n->kind) {
  case NK_Var: case NK_Buffer: case NK_RelaxVar: return hash_bindable(s, h, n);
  case NK_GlobalVar: return mix_text(h, AS(GlobalVar, n)->name);
  case NK_IRModule: return hash_module(h, AS(IRModule, n));
  case NK_Dict: return hash_dict(h, AS(Dict, n));
  default: return hash_fields(s, h, n);
  }
}

uint64_t node_hash(Node *n) {
  Hash s = {0};
  return hash(&s, 14695981039346656037u, n);
}
