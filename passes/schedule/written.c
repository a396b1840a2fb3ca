/* written.c -- what a copy takes must have been written, and what it brings back must be written
 * anew: else it would spread what memory happened to hold. */
#include "passes/schedule/schedule_impl.h"

/* ---- what a block writes ---- */

bool writes_all_declared(Node *block, const Node *buffer) {
  for each (Node *, w, &AS(Block, block)->writes)
    if (AS(BufferRegion, *w)->buffer == buffer && !writes_all(block, *w, arith_new())) return false;
  return true;
}

void need_all_written(ScheduleCall *c, Node *block, const Node *buffer) {
  if (!writes_all_declared(block, buffer))
    schedule_fail(c, block,
                  "block '%s' is not known to write all that it declares of '%s' in each step",
                  AS(Block, block)->name, AS(Buffer, (Node *)(uintptr_t)buffer)->name);
}

/* ---- what a block reads in each run ---- */

typedef struct Loads {
  const Node *buffer;
  NodeVec found; /* BufferLoad that no condition keeps from taking place */
} Loads;

static bool is_choice(Node *n) {
  return IS(IfThenElse, n) || IS(While, n) || IS(For, n) || IS(Select, n) || IS(And, n) ||
         IS(Or, n) || is_intrin_call(n, "if_then_else");
}

static WalkResult note_load(Walker *w, Node *n) {
  Loads *l = w->context;
  if (is_choice(n) || IS(Buffer, n) || IS(Block, n)) return WALK_PRUNE;
  if (IS(BufferLoad, n) && AS(BufferLoad, n)->buffer == l->buffer) vec_push(&l->found, n);
  return WALK_ON;
}

static bool is_loaded(const Loads *l, const BufferRegion *region) {
  for each (Node *, n, &l->found) {
    bool same = true;
    for (int i = 0; i < region->region.len && same; i++) {
      Range *r = AS(Range, region->region.at[i]);
      same = expr_is_one(r->extent) &&
             node_equal(r->min, AS(BufferLoad, *n)->indices.at[i], false, NULL);
    }
    if (same) return true;
  }
  return false;
}

bool reads_all_declared(Node *block, const Node *buffer) {
  Block *b = AS(Block, block);
  Loads l = {.buffer = buffer};
  Walker w = {.enter = note_load, .context = &l};
  walk(&w, b->body);
  for each (Node *, r, &b->reads)
    if (AS(BufferRegion, *r)->buffer == buffer && !is_loaded(&l, AS(BufferRegion, *r)))
      return false;
  return true;
}

/* ---- what was written before ---- */

void touch_below(Touched *t, const Place *p, int level, NodeVec regions, Analyzer *facts) {
  NodeVec loops = {0};
  for (int i = level; i < p->path.len; i++)
    if (IS(For, p->path.at[i])) vec_push(&loops, p->path.at[i]);
  for each (Node *, r, &regions)
    if (AS(BufferRegion, *r)->buffer == t->buffer)
      touch(t, AS(BlockRealize, realize_of(p)), *r, loops, facts);
}

int shared_levels(const Place *a, const Place *b, int level) {
  int shared = 0;
  while (shared < level && a->path.at[shared] == b->path.at[shared]) shared++;
  return shared;
}

static bool is_allocated(const ScheduleCall *c, const char *func, const Node *buffer) {
  NodeVec blocks = all_blocks(AS(PrimFunc, prim_func_of(c, func))->body);
  for each (Node *, b, &blocks)
    for each (Node *, a, &AS(Block, *b)->alloc_buffers)
      if (*a == buffer) return true;
  return false;
}

/* Does a bound keep nothing out of what one of the ends (NULL: none) holds in too? */
static bool is_past(NodeKind kind, Node *bound, NodeVec ends, Analyzer *facts) {
  for each (Node *, e, &ends)
    if (*e && arith_can_prove(facts, expr_binary(kind, bound, *e, bound->span))) return true;
  return false;
}

/* Was all written that is copied of what is touched? */
static bool has_all(const Touched *written, const Touched *touched, Analyzer *facts) {
  if (!written->exact) return false;
  NodeVec region = touched_ranges(touched, facts);
  for (int i = 0; i < region.len; i++) {
    Range *r = AS(Range, region.at[i]);
    Node *size = AS(Buffer, touched->buffer)->shape.at[i],
         *one = int_imm(size->dtype, 1, size->span);
    NodeVec starts = NODES(int_imm(size->dtype, 0, size->span), r->min, touched->first.at[i]);
    NodeVec ends =
        NODES(expr_sub(size, one), expr_sub(expr_add(r->min, r->extent), one), touched->last.at[i]);
    Node *first = written->first.at[i], *last = written->last.at[i];
    if (!is_past(NK_LE, written->lo.at[i], starts, facts) ||
        (first && !is_past(NK_LE, first, starts, facts)) ||
        !is_past(NK_GE, written->hi.at[i], ends, facts) ||
        (last && !is_past(NK_GE, last, ends, facts)))
      return false;
  }
  return true;
}

static bool stands_in(const Place *p, const Node *stmt) {
  for each (Node *, s, &p->path)
    if (*s == stmt) return true;
  return false;
}

static bool has_ends_of_its_own(const Touched *t) {
  bool found = false;
  for (int i = 0; i < t->lo.len; i++) found |= t->first.at[i] || t->last.at[i];
  return found;
}

/* Does what blocks of the scope write before the place, together with `parts`, have all of it? */
static bool is_written_in(ScheduleCall *c, const Place *p, Node *scope, int level,
                          TouchedVec *parts, const Touched *t, Analyzer *facts) {
  NodeVec beside = child_realizes(scope);
  for each (Node *, r, &beside) {
    Node *block = AS(BlockRealize, *r)->block;
    if (stands_in(p, *r)) return false; /* those behind come too late */
    if (!block_writes(AS(Block, block), t->buffer) || !writes_all_declared(block, t->buffer))
      continue;
    Place writer = place_of(c, p->func, block);
    Touched done = {.buffer = t->buffer};
    touch_below(&done, &writer, shared_levels(&writer, p, level), AS(Block, block)->writes, facts);
    if (has_all(&done, t, facts)) return true;
    if (done.exact && !has_ends_of_its_own(&done)) touched_add_part(parts, done, facts);
  }
  return false;
}

void need_all_there(ScheduleCall *c, const Place *p, int level, const Touched *t, Analyzer *facts) {
  TouchedVec parts = {0};
  if (!is_allocated(c, p->func, t->buffer)) return;
  for (int i = 0; i < level; i++)
    if (IS(Block, p->path.at[i]) && is_written_in(c, p, p->path.at[i], level, &parts, t, facts))
      return;
  for each (Touched, part, &parts)
    if (has_all(part, t, facts)) return;
  schedule_fail(c, vec_last(&p->path),
                "not all of the region of '%s' that would be copied is known to be written before",
                AS(Buffer, t->buffer)->name);
}
