/* liveness.c -- from where to where in a graph function the memory of each root is needed.
 *
 * Places are numbered in the order of the text: a list of bindings has one at its start and one at
 * its end, a binding one, an `if` one more where its arms meet. Going backwards, a root begins to
 * be live at its last use and ends at its binding. At an `if` all lives are cut into segments, so
 * that what only one arm needs does not meet what the other one makes. */
#include "lower/memory/memory.h"

typedef struct Extent {
  int begin, end, join;
} Extent;

typedef struct Scan {
  Liveness *l;
  Map extents; /* SeqExpr, the binding of an `if`, or a root (of the list it is bound in): Extent */
  int *end;    /* of each root: where its life ends, as far as is known; -1: not live */
} Scan;

/* ---- numbering ---- */

static void number_seq(Scan *s, Node *seq);

static void number_binding(Scan *s, Node *n, Node *seq) {
  Liveness *l = s->l;
  int place = l->places++;
  map_set(&l->names, n, (void *)(intptr_t)(place + 1));
  if (!IS(VarBinding, n)) return;
  Node *value = AS(VarBinding, n)->value, *var = AS(VarBinding, n)->var;
  if (memory_is_root(value)) {
    Life life = {.root = var, .value = value, .sinfo = AS(RelaxCall, value)->sinfo, .at = place};
    vec_push(&l->lives, life);
    map_set(&l->index, var, (void *)(intptr_t)l->lives.len);
    map_set(&s->extents, var, map_get(&s->extents, seq));
  }
  if (!IS(RelaxIf, value)) return;
  number_seq(s, AS(RelaxIf, value)->then);
  number_seq(s, AS(RelaxIf, value)->orelse);
  map_set(&s->extents, n, NEW(Extent, .begin = place, .join = l->places++));
}

static void number_seq(Scan *s, Node *seq) {
  Extent *span = NEW(Extent, .begin = s->l->places++);
  map_set(&s->extents, seq, span);
  for each (Node *, block, &AS(SeqExpr, seq)->blocks)
    for each (Node *, n, &AS(BindingBlock, *block)->bindings) number_binding(s, *n, seq);
  span->end = s->l->places++;
}

/* ---- lives ---- */

static void close_life(Scan *s, int i, int begin) {
  Segment segment = {begin, s->end[i]};
  vec_push(&s->l->lives.at[i].segments, segment);
  s->end[i] = -1;
}

static void push_to(Map *map, Node *key, Node *root) {
  NodeVec *all = map_get(map, key);
  if (!all) map_set(map, key, all = NEW(NodeVec, 0));
  vec_push(all, root);
}

static bool in_scope(Scan *s, int i, int place) {
  Extent *home = map_get(&s->extents, s->l->lives.at[i].root);
  return home->begin <= place && place <= home->end;
}

/* `after`: the binding behind which it is dead, if this is the last use; or NULL. */
static void use(Scan *s, Node *operand, int place, Node *after) {
  NodeVec roots = alias_roots(&s->l->aliases, operand);
  for each (Node *, r, &roots) {
    int i = (int)(intptr_t)map_get(&s->l->index, *r) - 1;
    if (i < 0 || s->end[i] >= 0) continue;
    s->end[i] = place;
    if (after && in_scope(s, i, place)) push_to(&s->l->dead, after, *r);
  }
}

typedef struct Use {
  Scan *scan;
  int place;
  Node *binding;
} Use;

static WalkResult use_vars(Walker *w, Node *n) {
  Use *u = w->context;
  if (IS(RelaxIf, n) || IS(Function, n)) return WALK_PRUNE;
  if (IS(TupleGetItem, n)) {
    use(u->scan, n, u->place, u->binding);
    return WALK_PRUNE;
  }
  if (IS(RelaxVar, n)) use(u->scan, n, u->place, u->binding);
  return WALK_ON;
}

static void scan_seq(Scan *s, Node *seq);

/* One arm, with what is live behind the `if`. What is live at its start is left in `s->end`. */
static void scan_arm(Scan *s, Node *arm, Node *other, const bool *after) {
  Extent *span = map_get(&s->extents, arm), *elsewhere = map_get(&s->extents, other);
  for (int i = 0; i < s->l->lives.len; i++) {
    int at = s->l->lives.at[i].at;
    bool of_other = elsewhere->begin <= at && at <= elsewhere->end;
    s->end[i] = after[i] && !of_other ? span->end : -1;
  }
  scan_seq(s, arm);
  for (int i = 0; i < s->l->lives.len; i++)
    if (s->end[i] >= 0) {
      close_life(s, i, span->begin);
      s->end[i] = 0; /* live, in a segment that is not known yet */
    }
}

static void scan_if(Scan *s, Node *binding) {
  RelaxIf *n = AS(RelaxIf, AS(VarBinding, binding)->value);
  Extent *span = map_get(&s->extents, binding);
  int count = s->l->lives.len;
  bool *after = NEW_ARRAY(bool, count + 1), *in_then = NEW_ARRAY(bool, count + 1);
  for (int i = 0; i < count; i++)
    if ((after[i] = s->end[i] >= 0)) close_life(s, i, span->join);
  scan_arm(s, n->then, n->orelse, after);
  for (int i = 0; i < count; i++) in_then[i] = s->end[i] >= 0;
  scan_arm(s, n->orelse, n->then, after);
  for (int i = 0; i < count; i++) {
    bool in_else = s->end[i] >= 0;
    if (in_then[i] != in_else && in_scope(s, i, span->begin))
      push_to(&s->l->at_start, in_then[i] ? n->orelse : n->then, s->l->lives.at[i].root);
    s->end[i] = in_then[i] || in_else ? span->begin : -1;
  }
  use(s, n->cond, span->begin, NULL);
}

static void scan_binding(Scan *s, Node *n) {
  int place = (int)(intptr_t)map_get(&s->l->names, n) - 1;
  Node *value = IS(MatchCast, n) ? AS(MatchCast, n)->value : AS(VarBinding, n)->value;
  Node *var = IS(MatchCast, n) ? AS(MatchCast, n)->var : AS(VarBinding, n)->var;
  if (IS(RelaxIf, value)) return scan_if(s, n);
  if (is_op_call(value, "relax.memory.kill_tensor")) return;
  int i = (int)(intptr_t)map_get(&s->l->index, var) - 1;
  if (i >= 0) {
    if (s->end[i] < 0) push_to(&s->l->dead, n, var), s->end[i] = place;
    return close_life(s, i, place);
  }
  Use u = {s, place, n};
  Walker w = {.enter = use_vars, .context = &u};
  walk(&w, value);
}

static void scan_seq(Scan *s, Node *seq) {
  SeqExpr *e = AS(SeqExpr, seq);
  Extent *span = map_get(&s->extents, seq);
  use(s, e->body, span->end, NULL);
  for (int i = e->blocks.len - 1; i >= 0; i--) {
    NodeVec bindings = AS(BindingBlock, e->blocks.at[i])->bindings;
    for (int k = bindings.len - 1; k >= 0; k--) scan_binding(s, bindings.at[k]);
  }
}

Liveness *memory_liveness(Node *module, Node *function) {
  Liveness *l = NEW(Liveness, .aliases = memory_aliases(module, function));
  Scan s = {.l = l};
  number_seq(&s, AS(Function, function)->body);
  s.end = NEW_ARRAY(int, l->lives.len + 1);
  for (int i = 0; i < l->lives.len; i++) s.end[i] = -1;
  scan_seq(&s, AS(Function, function)->body);
  return l;
}

bool lives_meet(const Life *a, const Life *b) {
  for each (const Segment, x, &a->segments)
    for each (const Segment, y, &b->segments)
      if (x->begin <= y->end && y->begin <= x->end) return true;
  return false;
}
