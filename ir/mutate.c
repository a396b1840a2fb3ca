/* mutate.c -- rewriting: children first or on the way down, sharing what did not change. */
#include "ir/ir.h"

static bool is_identity(const Node *n) { return n->kind == NK_Var || n->kind == NK_Buffer || n->kind == NK_RelaxVar; }

Node *mutate(Mutator *m, Node *n) {
  if (!n) return NULL;
  if (!is_identity(n)) return m->rewrite(m, n);
  if (map_has(&m->identities, n)) return map_get(&m->identities, n);
  Node *out = m->rewrite(m, n);
  map_set(&m->identities, n, out);
  return out;
}

/* The rewritten elements; `splice` for vectors of statements and bindings, where an element may vanish or
 * become several. */
static NodeVec mutate_elements(Mutator *m, NodeVec v, bool splice) {
  NodeVec out = {0};
  bool changed = false;
  for (int i = 0; i < v.len; i++) {
    Node *x = mutate(m, v.at[i]);
    if (x == v.at[i] && !changed) continue;
    if (!changed) { /* from here on it differs: take over what did not */
      for (int k = 0; k < i; k++) vec_push(&out, v.at[k]);
      changed = true;
    }
    if (splice && IS(SeqStmt, x))
      for each (Node *, s, &AS(SeqStmt, x)->stmts) vec_push(&out, *s);
    else if (x || !splice) vec_push(&out, x);
  }
  return changed ? out : v;
}

NodeVec mutate_vec(Mutator *m, NodeVec v) { return mutate_elements(m, v, false); }

static bool same_vec(NodeVec a, NodeVec b) { return a.at == b.at && a.len == b.len; }

Node *mutate_children(Mutator *m, Node *node) {
  bool changed = false, splice = node->kind == NK_SeqStmt || node->kind == NK_BindingBlock;
#define MUTATE_SUB(x)  out.x = mutate(m, (Node *)(void *)n->x); changed |= out.x != n->x;
#define MUTATE_SUBS(x) out.x = mutate_elements(m, n->x, splice); changed |= !same_vec(out.x, n->x);
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
  switch (node->kind) {
#define NODE(Kind, family, spelling) case NK_##Kind: { Kind *n = (Kind *)(void *)node, out = *n;
#define FIELD(type, name, role)      MUTATE_##role(name)
#define END(Kind)                    return changed ? gc_copy(&out, sizeof out) : node; }
#include "ir/node.def"
  }
  BUG("no node kind %d", node->kind);
}

/* ---- substitution and copies ---- */

static Node *substitute_node(Mutator *m, Node *n) {
  const Map *map = m->context;
  if (is_identity(n) && map_has(map, n)) return map_get(map, n);
  return mutate_children(m, n);
}

Node *substitute(Node *n, const Map *map) {
  if (!map->live) return n;
  Mutator m = {.rewrite = substitute_node, .context = (void *)(uintptr_t)map};
  return mutate(&m, n);
}

/* Variables and buffers that are bound inside the node. */
static WalkResult note_bound(Walker *w, Node *n);

static void bind_fresh(Map *fresh, Node *n) {
  if (!n || map_has(fresh, n)) return;
  if (IS(Var, n)) map_set(fresh, n, gc_copy(n, sizeof(Var)));
  if (IS(RelaxVar, n)) map_set(fresh, n, gc_copy(n, sizeof(RelaxVar)));
  if (IS(Buffer, n)) { /* its pointer, and the dims that appear here first, are bound with it */
    map_set(fresh, n, n);
    bind_fresh(fresh, AS(Buffer, n)->data);
    Walker w = {.enter = note_bound, .context = fresh};
    for each (Node *, d, &AS(Buffer, n)->shape) walk(&w, *d);
    for each (Node *, d, &AS(Buffer, n)->strides) walk(&w, *d);
    if (AS(Buffer, n)->elem_offset) walk(&w, AS(Buffer, n)->elem_offset);
  }
}

static WalkResult note_bound(Walker *w, Node *n) {
  if (IS(Var, n)) bind_fresh(w->context, n);
  return WALK_ON;
}

static void note_vec(Map *fresh, NodeVec v) {
  for each (Node *, n, &v) bind_fresh(fresh, *n);
}

static WalkResult note_definitions(Walker *w, Node *node) {
#define NOTE_SUB(x)
#define NOTE_SUBS(x)
#define NOTE_DEF(x)  bind_fresh(w->context, n->x);
#define NOTE_DEFS(x) note_vec(w->context, n->x);
#define NOTE_USE(x)
#define NOTE_INFO(x)
#define NOTE_VAL(x)
#define NOTE_INTS(x)
#define NOTE_STR(x)
#define NOTE_STRS(x)
#define NOTE_NAME(x)
#define NOTE_TENSOR(x)
  switch (node->kind) {
#define NODE(Kind, family, spelling) case NK_##Kind: { Kind *n = (Kind *)(void *)node; (void)n;
#define FIELD(type, name, role)      NOTE_##role(name)
#define END(Kind)                    break; }
#include "ir/node.def"
  }
  return WALK_ON;
}

/* A buffer that maps to itself was bound here: it is rebuilt around its new variables. */
static Node *rename_node(Mutator *m, Node *n) {
  const Map *fresh = m->context;
  Node *copy = map_get(fresh, n);
  if (IS(Var, n)) return copy ? copy : n;
  if (!IS(RelaxVar, n) || !copy) return mutate_children(m, n);
  AS(RelaxVar, copy)->sinfo = mutate(m, AS(RelaxVar, n)->sinfo);
  return copy;
}

Node *copy_with_fresh_vars(Node *n) {
  Map fresh = {0};
  Walker w = {.enter = note_definitions, .context = &fresh};
  walk(&w, n);
  Mutator m = {.rewrite = rename_node, .context = &fresh};
  return mutate(&m, n);
}
