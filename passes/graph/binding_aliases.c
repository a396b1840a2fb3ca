/* binding_aliases.c -- see binding_aliases.h. One walk in the order of the bindings, then a choice
 * of the variable that is kept of each class: the one that was bound, unless it is local to a
 * dataflow block and the value is needed outside of it. */
#include "passes/graph/binding_aliases.h"
#include "passes/graph/call_dims.h"

enum { LONG_DIM = 12 }; /* nodes of an expression */

typedef struct Scan {
  BindingAliases out;
  Map dims;       /* as out.dims; those known in another way, to themselves */
  Map values;     /* root to the value bound to it */
  NodeVec blocks; /* the dataflow blocks around */
} Scan;

static AliasClass *class_of(Scan *s, Node *var) {
  AliasClass *c = map_get(&s->out.classes, var);
  if (!c) map_set(&s->out.classes, var, c = NEW(AliasClass, .root = var, .kept = var));
  return c;
}

static bool is_inside(const Scan *s, const Node *block) {
  for each (Node *, b, &s->blocks)
    if (*b == block) return true;
  return !block;
}

static Node *value_of_var(Scan *s, Node *var) {
  AliasClass *c = map_get(&s->out.classes, var);
  return c ? map_get(&s->values, c->root) : NULL;
}

/* May the expression stand here? */
static WalkResult stop_at_hidden(Walker *w, Node *n) {
  Scan *s = w->context;
  if (!IS(RelaxVar, n) || !AS(RelaxVar, n)->is_dataflow) return WALK_ON;
  AliasClass *c = map_get(&s->out.classes, n);
  return c && is_inside(s, c->block) ? WALK_ON : WALK_STOP;
}

static bool is_visible(Scan *s, Node *n) {
  Walker w = {.enter = stop_at_hidden, .context = s};
  return walk(&w, n);
}

/* ---- tuples ---- */

static Node *known_tuple(Scan *s, Node *n) {
  if (IS(Tuple, n)) return n;
  Node *value = value_of_var(s, n), *better = map_get(&s->out.tuples, n);
  if (IS(Tuple, better)) return better;
  return IS(Tuple, value) ? value : NULL;
}

static Node *known_field(Scan *s, Node *n) {
  Node *tuple = known_tuple(s, AS(TupleGetItem, n)->tuple);
  Node *field = tuple ? AS(Tuple, tuple)->fields.at[AS(TupleGetItem, n)->index] : NULL;
  return field && is_visible(s, field) ? field : NULL;
}

/* The variable that all fields were taken from, in order; NULL if there is none. */
static Node *taken_apart(Scan *s, Tuple *t) {
  Node *source = NULL;
  for (int i = 0; i < t->fields.len; i++) {
    Node *value = IS(RelaxVar, t->fields.at[i]) ? value_of_var(s, t->fields.at[i]) : NULL;
    if (!IS(TupleGetItem, value) || AS(TupleGetItem, value)->index != i) return NULL;
    Node *from = AS(TupleGetItem, value)->tuple;
    if (!IS(RelaxVar, from)) return NULL;
    AliasClass *c = class_of(s, from);
    if (source && class_of(s, source) != c) return NULL;
    source = from;
  }
  Node *info = source ? sinfo_of(source) : NULL;
  bool whole = IS(TupleStructInfo, info) && AS(TupleStructInfo, info)->fields.len == t->fields.len;
  return whole && is_visible(s, source) ? source : NULL;
}

/* ---- bindings ---- */

static void add_alias(Scan *s, Node *var, Node *to) {
  AliasClass *c = class_of(s, to);
  map_set(&s->out.classes, var, c);
  map_set(&s->out.dropped, var, to);
  bool is_outer = c->block && !AS(RelaxVar, var)->is_dataflow && !c->outer;
  if (is_outer && s->blocks.len && s->blocks.at[s->blocks.len - 1] == c->block) c->outer = var;
}

static void add_root(Scan *s, Node *var, Node *value, bool in_dataflow) {
  AliasClass *c = class_of(s, var);
  c->block = in_dataflow ? s->blocks.at[s->blocks.len - 1] : NULL;
  map_set(&s->values, var, value);
}

static void scan_value(Scan *s, Node *var, Node *value, bool in_dataflow) {
  Node *field = IS(TupleGetItem, value) ? known_field(s, value) : NULL;
  Node *whole = IS(Tuple, value) ? taken_apart(s, AS(Tuple, value)) : NULL;
  Node *same = field ? field : whole ? whole : value;
  if (IS(RelaxVar, same) && same != var) {
    add_alias(s, var, same);
    return;
  }
  if (IS(Constant, same)) map_set(&s->out.constants, var, same);
  if (IS(Tuple, field)) map_set(&s->out.tuples, var, field);
  add_root(s, var, value, in_dataflow);
}

/* ---- match_cast ---- */

static WalkResult note_known(Walker *w, Node *n) {
  Map *dims = w->context;
  if (IS(Var, n) && !map_has(dims, n)) map_set(dims, n, n);
  return WALK_ON;
}

static void note_all_known(Scan *s, Node *info) {
  Walker w = {.enter = note_known, .context = &s->dims};
  walk(&w, info);
}

static WalkResult count_node(Walker *w, Node *n) {
  (void)n;
  return ++*(int *)w->context > LONG_DIM ? WALK_STOP : WALK_ON;
}

static bool is_long(Node *dim) {
  int nodes = 0;
  Walker w = {.enter = count_node, .context = &nodes};
  return !walk(&w, dim);
}

/* What the dims of a cast are, as the value's struct info says. One that is a long expression keeps
 * its name: dims made of dims would double in length with every layer. */
static void name_dims(Scan *s, Node *info, Node *have) {
  int known = s->dims.len;
  bind_dims(&s->dims, info, have);
  for (int i = known; i < s->dims.len; i++)
    if (is_long(s->dims.at[i].value)) s->dims.at[i].value = (void *)(uintptr_t)s->dims.at[i].key;
}

/* Dims that the cast finds are those of the value. Is it one that changes nothing? */
static bool scan_cast(Scan *s, MatchCast *cast) {
  Node *have = substitute(sinfo_of(cast->value), &s->dims);
  name_dims(s, cast->sinfo, have);
  Node *want = substitute(cast->sinfo, &s->dims);
  const char *why = NULL;
  if (want != cast->sinfo && sinfo_check(want, have, &why) == SINFO_NO)
    error_raisef("ValueError", cast->node.span,
                 "MatchCast statements must be consistent, but here %s", why);
  note_all_known(s, cast->sinfo);
  return node_equal(want, have, false, NULL);
}

/* ---- the walk ---- */

static void scan_block(Scan *s, BindingBlock *block);

static void note_use(Scan *s, Node *var) {
  AliasClass *c = map_get(&s->out.classes, var);
  if (c && !is_inside(s, c->block)) c->escapes = true;
}

static WalkResult enter(Walker *w, Node *n) {
  Scan *s = w->context;
  Node *whole;
  switch (n->kind) {
  case NK_Function:
    for each (Node *, p, &AS(Function, n)->params) note_all_known(s, sinfo_of(*p));
    return WALK_ON;
  case NK_BindingBlock: scan_block(s, AS(BindingBlock, n)); return WALK_PRUNE;
  case NK_Tuple:
    whole = taken_apart(s, AS(Tuple, n));
    if (!whole || AS(RelaxVar, whole)->is_dataflow) return WALK_ON;
    map_set(&s->out.tuples, n, whole);
    note_use(s, whole);
    return WALK_ON;
  case NK_RelaxVar: note_use(s, n); return WALK_ON;
  default: return WALK_ON;
  }
}

static void scan_block(Scan *s, BindingBlock *block) {
  Walker w = {.enter = enter, .context = s};
  if (block->is_dataflow) vec_push(&s->blocks, &block->node);
  for each (Node *, b, &block->bindings) {
    bool is_cast = IS(MatchCast, *b);
    Node *value = is_cast ? AS(MatchCast, *b)->value : AS(VarBinding, *b)->value,
         *var = is_cast ? AS(MatchCast, *b)->var : AS(VarBinding, *b)->var;
    bool is_plain = !is_cast || scan_cast(s, AS(MatchCast, *b));
    if (is_cast && is_plain) map_set(&s->out.casts, *b, *b);
    if (IS(Function, value)) add_root(s, var, value, block->is_dataflow); /* it may call itself */
    if (IS(Tuple, value)) /* what becomes of it is the variable's affair */
      for each (Node *, f, &AS(Tuple, value)->fields) walk(&w, *f);
    else walk(&w, value);
    if (is_plain) scan_value(s, var, value, block->is_dataflow);
    else add_root(s, var, NULL, block->is_dataflow);
    walk(&w, var); /* an alias may stand outside of the block */
  }
  if (block->is_dataflow) s->blocks.len--;
}

static void choose_kept(AliasClass *c) {
  if (!c->block) return;
  bool is_local = AS(RelaxVar, c->root)->is_dataflow;
  if (c->escapes ? !is_local || !c->outer : is_local) return;
  RelaxVar kept = *AS(RelaxVar, c->root);
  kept.is_dataflow = !c->escapes;
  if (c->escapes) kept.name = AS(RelaxVar, c->outer)->name;
  c->kept = gc_copy(&kept, sizeof kept);
}

BindingAliases binding_aliases(Node *func) {
  Scan s = {0};
  Walker w = {.enter = enter, .context = &s};
  walk(&w, func);
  for (int i = 0; i < s.out.classes.len; i++) {
    AliasClass *c = s.out.classes.at[i].value;
    if (c && c->kept == c->root) choose_kept(c);
  }
  for (int i = 0; i < s.dims.len; i++)
    if (s.dims.at[i].key && s.dims.at[i].key != s.dims.at[i].value)
      map_set(&s.out.dims, s.dims.at[i].key, s.dims.at[i].value);
  return s.out;
}
