/* mutate.c -- rewriting: what did not change is shared with the old tree.
 *
 * The rewrite of a caller stands between a node and its children, so trees are rewritten by
 * recursion; stack.h gives it room. Each kind has a small function of its own, for small frames. */
#include "ir/ir.h"
#include "ir/support/stack.h"

static bool is_identity(const Node *n) {
  return n->kind == NK_Var || n->kind == NK_Buffer || n->kind == NK_RelaxVar ||
         n->kind == NK_GlobalVar;
}

typedef struct Errand {
  Mutator *m;
  Node *node;
} Errand;

static void mutate_errand(void *context) {
  Errand *e = context;
  e->node = mutate(e->m, e->node);
}

Node *mutate(Mutator *m, Node *n) {
  if (!n) return NULL;
  if (stack_is_low()) {
    Errand e = {m, n};
    stack_run(mutate_errand, &e);
    return e.node;
  }
  if (!is_identity(n)) return m->rewrite(m, n);
  Node *known = map_get(&m->identities, n);
  if (known || map_has(&m->identities, n)) return known;
  Node *out = m->rewrite(m, n);
  map_set(&m->identities, n, out);
  return out;
}

/* ---- vectors ---- */

static void append(NodeVec *out, Node *n, bool splice) {
  if (splice && IS(SeqStmt, n)) {
    for each (Node *, s, &AS(SeqStmt, n)->stmts) vec_push(out, *s);
  } else if (n || !splice) vec_push(out, n);
}

/* The rewritten elements; `splice` for vectors of statements and bindings, where an element may
 * vanish or become several. */
static NodeVec mutate_elements(Mutator *m, NodeVec v, bool splice) {
  NodeVec out = {0};
  bool changed = false;
  for (int i = 0; i < v.len; i++) {
    Node *x = mutate(m, v.at[i]);
    if (!changed && x == v.at[i] && !(splice && (!x || IS(SeqStmt, x)))) continue;
    if (!changed) { /* from here on it differs: take over what did not */
      changed = true;
      vec_reserve(&out, v.len);
      for (int k = 0; k < i; k++) vec_push(&out, v.at[k]);
    }
    append(&out, x, splice);
  }
  return changed ? out : v;
}

NodeVec mutate_vec(Mutator *m, NodeVec v) { return mutate_elements(m, v, false); }

static bool same_vec(NodeVec a, NodeVec b) { return a.at == b.at && a.len == b.len; }

/* ---- fields ---- */

#define SPLICES(Kind)  (NK_##Kind == NK_SeqStmt || NK_##Kind == NK_BindingBlock)
#define MUTATE_SUB(x)  out.x = mutate(m, n->x), changed |= out.x != n->x;
#define MUTATE_SUBS(x) out.x = mutate_elements(m, n->x, splice), changed |= !same_vec(out.x, n->x);
#define MUTATE_DEF(x)  MUTATE_SUB(x)
#define MUTATE_DEFS(x) MUTATE_SUBS(x)
#define MUTATE_USE(x)  MUTATE_SUB(x)
#define MUTATE_INFO(x) MUTATE_SUB(x)
#define MUTATE_VAL(x)
#define MUTATE_INTS(x)
#define MUTATE_STR(x)
#define MUTATE_STRS(x)
#define MUTATE_NAME(x)
#define MUTATE_TENSOR(x)

#define NODE(Kind, family, spelling)                                                               \
  static Node *mutate_##Kind(Mutator *m, Node *node) {                                             \
    const bool splice = SPLICES(Kind);                                                             \
    bool changed = false;                                                                          \
    Kind *n = (Kind *)(void *)node, out = *n;                                                      \
    (void)m, (void)splice;
#define FIELD(type, name, role) MUTATE_##role(name)
#define END(Kind)                                                                                  \
  return changed ? gc_copy(&out, sizeof out) : node;                                               \
  }
#include "ir/node.def"

static Node *(*const mutate_kind[NK_COUNT])(Mutator *m, Node *node) = {
#define NODE(Kind, family, spelling) [NK_##Kind] = mutate_##Kind,
#define FIELD(type, name, role)
#define END(Kind)
#include "ir/node.def"
};

Node *mutate_children(Mutator *m, Node *node) {
  Node *out = mutate_kind[node->kind](m, node);
  if (out == node) return node;
  if (IS(SeqExpr, out)) AS(SeqExpr, out)->blocks = blocks_normal(AS(SeqExpr, out)->blocks);
  bool shrunk = IS(SeqStmt, out) && AS(SeqStmt, out)->stmts.len < 2;
  return shrunk ? stmt_seq(AS(SeqStmt, out)->stmts, out->span) : out;
}
