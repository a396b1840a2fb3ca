/* op_memo.c -- struct info of calls that was inferred before.
 *
 * What a rule of the library gives depends on nothing but what it sees: of most operands their
 * struct info, the attributes, and the module's global infos, where it looks up devices. So a call
 * that looks as an earlier one did, but for the identity of its symbolic variables, has the same
 * struct info with its own variables in it. */
#include "lang/dialect/op.h"

typedef struct Known {
  uint64_t hash;
  int len, var_count;
  const uint64_t *words; /* of the key; NULL: nothing is known here */
  Node **vars;
  Node *infos; /* the global infos of the key, which must not make place for others */
  Node *info;
} Known;

enum { PLACES = 1024 }; /* a newer call takes the place of an older one */
static Known known[PLACES];

/* What operand_info gives a rule to see. */
static void add_operand(NodeKey *k, const OpParam *p, Node *n) {
  if (!n || IS(None, n)) return node_key_word(k, 0);
  bool is_seen = IS(ShapeExpr, n) || IS(PrimValue, n) || IS(DataTypeImm, n) || IS(StringValue, n);
  k->failed |= op_is_shape(p) && !is_seen;
  node_key_word(k, n->kind);
  node_key_add(k, is_seen ? n : sinfo_of(n));
}

static Node *global_infos(void) { return module ? module->global_infos : NULL; }

static bool make_key(NodeKey *k, const OpDefinition *d, RelaxCall *call) {
  k->len = k->var_count = 0;
  k->failed = false;
  node_key_word(k, (uintptr_t)d);
  node_key_word(k, (uintptr_t)global_infos());
  int at = 0;
  for each (const OpParam, p, &d->params) {
    if (!is_operand_kind(p->kind)) continue;
    int n = p->kind == PARAM_REST ? call->args.len - at : 1;
    node_key_word(k, (uint64_t)n);
    for (; n > 0; n--, at++) add_operand(k, p, at < call->args.len ? call->args.at[at] : NULL);
  }
  node_key_add(k, call->attrs);
  return !k->failed;
}

static bool is_known(const Known *at, const NodeKey *k, uint64_t hash) {
  return at->words && at->hash == hash && at->len == k->len &&
         memcmp(at->words, k->words, sizeof *k->words * (size_t)k->len) == 0;
}

static void remember(Known *at, const NodeKey *k, uint64_t hash, Node *info) {
  size_t words = sizeof *k->words * (size_t)k->len, vars = sizeof *k->vars * (size_t)k->var_count;
  *at = (Known){.hash = hash, .len = k->len, .var_count = k->var_count, .info = info};
  at->infos = global_infos();
  at->words = memcpy(gc_alloc_raw(words), k->words, words);
  at->vars = vars ? gc_copy(k->vars, vars) : NULL;
}

/* The info with the variables of this call, which are those of the next ones, most likely. */
static Node *with_vars(Known *at, const NodeKey *k) {
  Map new_vars = {0};
  for (int i = 0; i < k->var_count; i++)
    if (at->vars[i] != k->vars[i]) map_set(&new_vars, at->vars[i], k->vars[i]);
  if (!new_vars.live) return at->info;
  at->info = substitute(at->info, &new_vars);
  memcpy(at->vars, k->vars, sizeof *k->vars * (size_t)k->var_count);
  return at->info;
}

Node *op_infer(const OpDefinition *d, Node *call,
               Node *(*rule)(const OpDefinition *d, Node *call)) {
  NodeKey key;
  if (!make_key(&key, d, AS(RelaxCall, call))) return rule(d, call);
  uint64_t hash = node_key_hash(&key);
  Known *at = &known[hash % PLACES];
  if (is_known(at, &key, hash)) return with_vars(at, &key);
  Node *info = rule(d, call);
  remember(at, &key, hash, info);
  return info;
}
