/* pattern_graph.c -- see pattern_graph.h. A search with going back: for one pattern after the other
 * the variables that fit it and its edges to what is found already. */
#include "passes/graph/pattern_graph.h"

typedef struct Search {
  const PatternGraph *graph;
  NodeVec vars; /* candidates: operands from outside, then those that the block binds, in order */
  Map users;    /* RelaxVar to a NodeVec * of the variables whose values mention it */
  PatternMatch *match;
} Search;

/* ---- uses ---- */

typedef struct UseFinder {
  Search *search;
  Node *user;
} UseFinder;

static WalkResult note_use(Walker *w, Node *n) {
  UseFinder *f = w->context;
  if (!IS(RelaxVar, n)) return WALK_ON;
  NodeVec *users = map_get(&f->search->users, n);
  if (!users) {
    map_set(&f->search->users, n, users = NEW(NodeVec, 0));
    if (!map_has(f->search->match->values, n)) vec_push(&f->search->vars, n);
  }
  if (!users->len || vec_last(users) != f->user) vec_push(users, f->user);
  return WALK_ON;
}

static void add_bindings(Search *s, BindingBlock *block) {
  for each (Node *, b, &block->bindings) {
    bool is_cast = IS(MatchCast, *b);
    UseFinder f = {s, is_cast ? AS(MatchCast, *b)->var : AS(VarBinding, *b)->var};
    Walker w = {.enter = note_use, .context = &f};
    walk(&w, is_cast ? AS(MatchCast, *b)->value : AS(VarBinding, *b)->value);
  }
  for each (Node *, b, &block->bindings)
    vec_push(&s->vars, IS(MatchCast, *b) ? AS(MatchCast, *b)->var : AS(VarBinding, *b)->var);
}

/* The operands of a call as its operator sees them: those of a call_tir are its tuple's fields. */
static NodeVec operands_of(Node *value) {
  if (!IS(RelaxCall, value)) return (NodeVec){0};
  RelaxCall *c = AS(RelaxCall, value);
  bool in_tuple = IS(Op, c->op) && relax_is_call_form(AS(Op, c->op)->name) && c->args.len > 1 &&
                  IS(Tuple, c->args.at[1]);
  return in_tuple ? AS(Tuple, c->args.at[1])->fields : c->args;
}

static bool uses(Search *s, Node *user, Node *var, int index) {
  if (index >= 0) {
    NodeVec operands = operands_of(map_get(s->match->values, user));
    return index < operands.len && operands.at[index] == var;
  }
  NodeVec *users = map_get(&s->users, var);
  for (int i = 0; users && i < users->len; i++)
    if (users->at[i] == user) return true;
  return false;
}

static bool is_used_only_by(Search *s, Node *var, Node *user) {
  NodeVec *users = map_get(&s->users, var);
  return users && users->len == 1 && users->at[0] == user && IS(RelaxVar, var) &&
         AS(RelaxVar, var)->is_dataflow;
}

/* ---- the search ---- */

static bool edges_hold(Search *s) {
  for (int i = 0; i < s->graph->edges.len; i++) {
    const PatternEdge *e = &s->graph->edges.at[i];
    Node *from = pattern_found(s->match, e->producer), *to = pattern_found(s->match, e->consumer);
    if (!from || !to) continue;
    if (!uses(s, to, from, e->index) || (e->only && !is_used_only_by(s, from, to))) return false;
  }
  return true;
}

static bool is_taken(Search *s, int before, Node *var) {
  for (int i = 0; i < before; i++)
    if (s->graph->nodes.at[i] != s->graph->nodes.at[before] &&
        pattern_found(s->match, s->graph->nodes.at[i]) == var)
      return true;
  return false;
}

static bool search(Search *s, int k);

typedef struct Next {
  Search *search;
  int k; /* the number of the node to go on with */
} Next;

static bool search_next(void *context, PatternMatch *m) {
  Next *next = context;
  (void)m;
  return edges_hold(next->search) && search(next->search, next->k);
}

static bool search(Search *s, int k) {
  if (k == s->graph->nodes.len) return pattern_holds(s->match);
  Pattern *p = s->graph->nodes.at[k];
  Next next = {s, k + 1};
  if (pattern_found(s->match, p)) return search_next(&next, s->match);
  for each (Node *, var, &s->vars)
    if (!is_taken(s, k, *var) && pattern_match_then(p, *var, s->match, search_next, &next))
      return true;
  return false;
}

bool pattern_match_block(const PatternGraph *g, BindingBlock *block, const Map *values,
                         PatternMatch *m) {
  *m = (PatternMatch){.values = values};
  for each (Pattern *, p, &g->conditions) vec_push(&m->pending, *p);
  Search s = {.graph = g, .match = m};
  add_bindings(&s, block);
  return search(&s, 0);
}
