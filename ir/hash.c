/* hash.c -- structural hash: equal nodes (with map_free_vars) have equal hashes.
 *
 * A variable is the number of definitions and first mentions before it, so its name and its place
 * in memory don't matter. The hash of a part that defines none depends on nothing else: such parts
 * are hashed once where they are shared. */
#include "ir/ir_impl.h"
#include "ir/support/stack.h"

typedef struct Hash {
  Map variables;  /* to their hashes, as pointers to uint64_t */
  Map known;      /* large parts to theirs */
  uint64_t count; /* of definitions and first mentions */
  long steps, definitions;
} Hash;

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9fb21c651e98df25u;
  return h ^ h >> 32;
}

static uint64_t mix_bytes(uint64_t h, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t x;
    memcpy(&x, p, 8);
    h = mix(h, x);
  }
  uint64_t rest = 0;
  if (n) memcpy(&rest, p, n);
  return mix(mix(h, rest), n + 1);
}

static uint64_t mix_text(uint64_t h, const char *text) {
  return text ? mix_bytes(h, text, strlen(text)) : mix(h, 0);
}

static uint64_t mix_dtype(uint64_t h, DataType t) {
  return mix(h, (uint64_t)t.code << 32 | (uint64_t)t.bits << 16 | (uint16_t)t.lanes);
}

static uint64_t hash(Hash *s, Node *n);
static uint64_t define(Hash *s, Node *n);

static uint64_t mix_vec(Hash *s, uint64_t h, NodeVec v, uint64_t (*of)(Hash *s, Node *n)) {
  h = mix(h, (uint64_t)v.len);
  for each (Node *, n, &v) h = mix(h, of(s, *n));
  return h;
}

static uint64_t mix_texts(uint64_t h, StrVec v) {
  h = mix(h, (uint64_t)v.len);
  for each (const char *, text, &v) h = mix_text(h, *text);
  return h;
}

static uint64_t mix_data(uint64_t h, const ConstData *d) {
  if (!d) return mix(h, 0);
  h = mix_bytes(mix_dtype(h, d->elem), d->shape, sizeof *d->shape * (size_t)d->ndim);
  if (!dtype_is_float(d->elem) || d->elem.lanes != 1) return mix_bytes(h, d->bytes, d->nbytes);
  size_t size = (size_t)dtype_nbytes(d->elem);
  for (size_t i = 0; i < d->nbytes; i += size) h = mix(h, const_element_bits(d, i));
  return h;
}

/* ---- fields ---- */

#define HASH_SUB(x)  h = mix(h, hash(s, n->x));
#define HASH_SUBS(x) h = mix_vec(s, h, n->x, hash);
#define HASH_DEF(x)  h = mix(h, define(s, n->x));
#define HASH_DEFS(x) h = mix_vec(s, h, n->x, define);
#define HASH_USE(x)  HASH_SUB(x)
#define HASH_INFO(x)
#define HASH_VAL(x)  h = mix_bytes(h, &n->x, sizeof n->x);
#define HASH_INTS(x) h = mix_bytes(h, n->x.at, sizeof(int) * (size_t)n->x.len);
#define HASH_STR(x)  h = mix_text(h, n->x);
#define HASH_STRS(x) h = mix_texts(h, n->x);
#define HASH_NAME(x)
#define HASH_TENSOR(x) h = mix_data(h, n->x);

#define NODE(Kind, family, spelling)                                                               \
  static uint64_t hash_##Kind(Hash *s, uint64_t h, Node *node) {                                   \
    Kind *n = (Kind *)(void *)node;                                                                \
    (void)s, (void)n;
#define FIELD(type, name, role) HASH_##role(name)
#define END(Kind)                                                                                  \
  return h;                                                                                        \
  }
#include "ir/node.def"

static uint64_t (*const hash_kind[NK_COUNT])(Hash *s, uint64_t h, Node *n) = {
#define NODE(Kind, family, spelling) [NK_##Kind] = hash_##Kind,
#define FIELD(type, name, role)
#define END(Kind)
#include "ir/node.def"
};

/* ---- variables, graph variables, buffers ---- */

static bool is_bindable(const Node *n) {
  return n->kind == NK_Var || n->kind == NK_Buffer || n->kind == NK_RelaxVar;
}

static uint64_t head(Node *n) {
  return mix_dtype(mix(0xcbf29ce484222325u, n->kind + 1u), n->dtype);
}

/* A new number for the variable, with what it is. */
static uint64_t number(Hash *s, Node *n) {
  uint64_t h = hash_kind[n->kind](s, head(n), n);
  if (IS(RelaxVar, n)) h = mix(h, hash(s, AS(RelaxVar, n)->sinfo));
  uint64_t *box = (uint64_t *)(void *)NEW_BYTES(sizeof(uint64_t));
  *box = mix(h, ++s->count);
  map_set(&s->variables, n, box);
  return *box;
}

static uint64_t define(Hash *s, Node *n) {
  if (!n || !is_bindable(n)) return hash(s, n);
  s->definitions++;
  if (map_has(&s->variables, n)) s->known = (Map){0};
  return number(s, n);
}

/* ---- kinds with rules of their own ---- */

/* Sums over functions and keys: their order does not matter. */
static uint64_t hash_module(uint64_t h, IRModule *m) {
  uint64_t sum = 0;
  for (int i = 0; i < m->functions.len; i++)
    sum += mix_text(node_hash(m->functions.at[i]), AS(GlobalVar, m->globals.at[i])->name);
  return mix(mix(h, sum), mix(node_hash(m->attrs), node_hash(m->global_infos)));
}

static uint64_t hash_dict(Dict *d) {
  uint64_t sum = 0;
  for (int i = 0; i < d->keys.len; i++) sum += mix_text(node_hash(d->values.at[i]), d->keys.at[i]);
  return sum; /* an empty one is like none */
}

/* ---- any node ---- */

typedef struct Errand {
  Hash *s;
  Node *n;
  uint64_t h;
} Errand;

static void hash_errand(void *context) {
  Errand *r = context;
  r->h = hash(r->s, r->n);
}

static uint64_t hash_node(Hash *s, Node *n) {
  enum { LARGE = 16 };
  uint64_t *known = map_get(&s->known, n);
  if (known) return *known;
  long steps = s->steps, definitions = s->definitions;
  uint64_t h = hash_kind[n->kind](s, head(n), n);
  /* What binds a variable binds another one each time it is met. */
  if (s->steps - steps < LARGE || s->definitions != definitions) return h;
  uint64_t *box = (uint64_t *)(void *)NEW_BYTES(sizeof h);
  *box = h;
  map_set(&s->known, n, box);
  return h;
}

static uint64_t hash(Hash *s, Node *n) {
  s->steps++;
  if (!n) return 0;
  if (stack_is_low()) {
    Errand r = {s, n, 0};
    stack_run(hash_errand, &r);
    return r.h;
  }
  if (is_bindable(n)) {
    uint64_t *known = map_get(&s->variables, n);
    return known ? *known : number(s, n);
  }
  if (IS(IRModule, n)) return hash_module(head(n), AS(IRModule, n));
  if (IS(Dict, n)) return hash_dict(AS(Dict, n));
  return hash_node(s, n);
}

uint64_t node_hash(Node *n) {
  Hash s = {0};
  return hash(&s, n);
}
