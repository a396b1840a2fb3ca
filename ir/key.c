/* key.c -- a node as a row of words, for tables of what is known about nodes of the same form.
 *
 * Two nodes with one key are the same but for the identity of their variables, which the key
 * numbers in the order of their first mention; variables of one number have one name and dtype. */
#include "ir/ir_impl.h"

void node_key_word(NodeKey *k, uint64_t word) {
  if (k->len < NODE_KEY_WORDS) k->words[k->len++] = word;
  else k->failed = true;
}

static void add_bytes(NodeKey *k, const void *bytes, size_t n) {
  for (size_t i = 0; i < n; i += 8) {
    uint64_t word = 0;
    memcpy(&word, (const char *)bytes + i, n - i < 8 ? n - i : 8);
    node_key_word(k, word);
  }
}

static void add_text(NodeKey *k, const char *text) {
  size_t n = text ? strlen(text) : 0;
  node_key_word(k, text ? n + 1 : 0);
  add_bytes(k, text, n);
}

static void add_texts(NodeKey *k, StrVec v) {
  node_key_word(k, (uint64_t)v.len);
  for each (const char *, text, &v) add_text(k, *text);
}

static void add_nodes(NodeKey *k, NodeVec v) {
  node_key_word(k, (uint64_t)v.len);
  for each (Node *, n, &v) node_key_add(k, *n);
}

/* ---- fields: what binds variables or holds data has no key ---- */

#define KEY_SUB(x)  node_key_add(k, n->x);
#define KEY_SUBS(x) add_nodes(k, n->x);
#define KEY_DEF(x)  k->failed = true;
#define KEY_DEFS(x) k->failed = true;
#define KEY_USE(x)  k->failed = true;
#define KEY_INFO(x)
#define KEY_VAL(x) add_bytes(k, &n->x, sizeof n->x);
#define KEY_INTS(x)                                                                                \
  node_key_word(k, (uint64_t)n->x.len), add_bytes(k, n->x.at, sizeof(int) * (size_t)n->x.len);
#define KEY_STR(x)    add_text(k, n->x);
#define KEY_STRS(x)   add_texts(k, n->x);
#define KEY_NAME(x)   node_key_word(k, (uintptr_t)n->x);
#define KEY_TENSOR(x) k->failed = true;

#define NODE(Kind, family, spelling)                                                               \
  static void add_##Kind(NodeKey *k, Node *node) {                                                 \
    Kind *n = (Kind *)(void *)node;                                                                \
    (void)k, (void)n;
#define FIELD(type, name, role) KEY_##role(name)
#define END(Kind)               }
#include "ir/node.def"

static void (*const add_kind[NK_COUNT])(NodeKey *k, Node *n) = {
#define NODE(Kind, family, spelling) [NK_##Kind] = add_##Kind,
#define FIELD(type, name, role)
#define END(Kind)
#include "ir/node.def"
};

/* ---- nodes ---- */

/* The number of the variable; with what it is, the first time. */
static void add_var(NodeKey *k, Node *var) {
  int i = 0;
  while (i < k->var_count && k->vars[i] != var) i++;
  node_key_word(k, (uint64_t)i);
  if (i < k->var_count) return;
  if (i == NODE_KEY_VARS) {
    k->failed = true;
    return;
  }
  k->vars[k->var_count++] = var;
  add_Var(k, var);
}

void node_key_add(NodeKey *k, Node *n) {
  if (!n || k->failed) return node_key_word(k, NK_COUNT);
  node_key_word(k, n->kind | (uint64_t)n->dtype.code << 16 | (uint64_t)n->dtype.bits << 24 |
                       (uint64_t)(uint16_t)n->dtype.lanes << 32);
  if (IS(Var, n)) add_var(k, n);
  else if (IS(RelaxVar, n) || IS(Buffer, n) || IS(GlobalVar, n)) k->failed = true;
  else add_kind[n->kind](k, n);
}

uint64_t node_key_hash(const NodeKey *k) {
  uint64_t h = (uint64_t)k->len;
  for (int i = 0; i < k->len; i++) {
    h = (h ^ k->words[i]) * 0x9fb21c651e98df25u;
    h ^= h >> 32;
  }
  return h;
}
