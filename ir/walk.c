/* walk.c -- visits a node and all below it, parents first.
 *
 * What is still to be visited waits in a list of our own, so that no tree is too deep and no
 * sequence too long for the C stack. */
#include "ir/ir.h"

typedef enum { STEP_ENTER, STEP_TELL, STEP_LEAVE } Step;

typedef struct Todo {
  Node *node;
  Step step;
} Todo;

/* Small walks, which are most, need no memory beyond `first`. */
typedef struct Pending {
  Todo first[64], *at;
  int len, cap;
} Pending;

/* What was visited, of a walk that visits nodes once. Looking up costs more than visiting a small
 * part again: only what follows the first nodes is kept. */
typedef struct Seen {
  Map nodes;
  int visits;
} Seen;

static bool seen_before(Seen *s, Node *n) {
  enum { FIRST = 100 };
  if (++s->visits <= FIRST) return false;
  if (map_has(&s->nodes, n)) return true;
  map_set(&s->nodes, n, n);
  return false;
}

static void push(Pending *p, Node *n, Step step) {
  if (!n) return;
  if (p->len == p->cap) {
    Todo *more = NEW_ARRAY(Todo, p->cap * 2);
    memcpy(more, p->at, sizeof *more * (size_t)p->len);
    p->at = more;
    p->cap *= 2;
  }
  p->at[p->len++] = (Todo){n, step};
}

static void push_all(Pending *p, NodeVec v) {
  for each (Node *, n, &v) push(p, *n, STEP_ENTER);
}

static void push_children(Pending *p, Node *node) {
#define PUSH_SUB(x)  push(p, n->x, STEP_ENTER);
#define PUSH_SUBS(x) push_all(p, n->x);
#define PUSH_DEF(x)  PUSH_SUB(x)
#define PUSH_DEFS(x) PUSH_SUBS(x)
#define PUSH_USE(x)  push(p, n->x, STEP_TELL);
#define PUSH_INFO(x)
#define PUSH_VAL(x)
#define PUSH_INTS(x)
#define PUSH_STR(x)
#define PUSH_STRS(x)
#define PUSH_NAME(x)
#define PUSH_TENSOR(x)
  switch (node->kind) {
#define NODE(Kind, family, spelling)                                                               \
  case NK_##Kind: {                                                                                \
    Kind *n = (Kind *)(void *)node;                                                                \
    (void)n;
#define FIELD(type, name, role) PUSH_##role(name)
#define END(Kind)                                                                                  \
  break;                                                                                           \
  }
#include "ir/node.def"
  }
}

/* The children in the list's last places, first child on top. */
static void push_reversed(Pending *p, Node *n) {
  int lo = p->len;
  push_children(p, n);
  for (int hi = p->len - 1; lo < hi; lo++, hi--) {
    Todo t = p->at[lo];
    p->at[lo] = p->at[hi];
    p->at[hi] = t;
  }
}

bool walk(Walker *w, Node *n) {
  Pending p;
  Seen seen = {0};
  p.at = p.first;
  p.len = 0;
  p.cap = sizeof p.first / sizeof *p.first;
  push(&p, n, STEP_ENTER);
  while (p.len) {
    Todo now = p.at[--p.len];
    if (now.step == STEP_LEAVE) {
      w->leave(w, now.node);
      continue;
    }
    if (w->once && seen_before(&seen, now.node)) continue;
    WalkResult r = w->enter(w, now.node);
    if (r == WALK_STOP) return false;
    if (now.step == STEP_TELL) continue;
    if (r == WALK_PRUNE) continue;
    if (w->leave) push(&p, now.node, STEP_LEAVE);
    push_reversed(&p, now.node);
  }
  return true;
}

typedef struct Mention {
  const Node *part;
} Mention;

static WalkResult stop_at_part(Walker *w, Node *n) {
  return n == ((Mention *)w->context)->part ? WALK_STOP : WALK_ON;
}

bool node_mentions(Node *n, const Node *part) {
  Mention m = {part};
  Walker w = {.enter = stop_at_part, .context = &m, .once = true};
  return n && !walk(&w, n);
}

void node_each_child(Node *n, void (*visit)(void *context, Node *child), void *context) {
  Pending p;
  p.at = p.first;
  p.len = 0;
  p.cap = sizeof p.first / sizeof *p.first;
  push_children(&p, n);
  for (int i = 0; i < p.len; i++) visit(context, p.at[i].node);
}
