/* merge.c -- merge: nests that stand side by side become one. */
#include "passes/schedule/schedule_impl.h"

typedef struct Merge {
  ScheduleCall *call;
  const char *func;
  VEC(Place) places; /* of the given loops, in the order of the program */
  int level;         /* of the sequence that holds all nests */
  int depth;         /* loops of each nest that are merged */
} Merge;

static const char *name_of_loop(const Node *loop) {
  return AS(Var, AS(For, (Node *)(uintptr_t)loop)->var)->name;
}

/* ---- what is merged ---- */

static int common_level(const Place *a, const Place *b) {
  int i = 0;
  while (i < a->path.len && i < b->path.len && a->path.at[i] == b->path.at[i]) i++;
  return i - 1;
}

static int position_in(const Merge *m, const Place *p) {
  SeqStmt *seq = AS(SeqStmt, p->path.at[m->level]);
  for (int i = 0; i < seq->stmts.len; i++)
    if (seq->stmts.at[i] == p->path.at[m->level + 1]) return i;
  return -1;
}

static void find_places(Merge *m, NodeVec given) {
  ScheduleCall *c = m->call;
  if (given.len < 2) schedule_fail(c, NULL, "at least two loops are needed");
  for (int i = 0; i < given.len; i++) {
    Place p = loop_place(c, given.at[i]);
    Node *loop = vec_last(&p.path);
    if (i && (p.func != m->func || scope_block(&p) != scope_block(&m->places.at[0])))
      schedule_fail(c, loop, "the loop '%s' is in another block than the first one",
                    name_of_loop(loop));
    m->func = p.func;
    int level = i ? common_level(&m->places.at[0], &p) : p.path.len;
    if (!i || level < m->level) m->level = level;
    vec_push(&m->places, p);
  }
  for each (Place, p, &m->places)
    if (p->path.len <= m->level + 1 || !IS(SeqStmt, p->path.at[m->level]))
      schedule_fail(c, vec_last(&p->path), "the loop '%s' stands around or inside another one",
                    name_of_loop(vec_last(&p->path)));
}

static int by_position(const Merge *m, int i, int k) {
  return position_in(m, &m->places.at[i]) - position_in(m, &m->places.at[k]);
}

static void sort_places(Merge *m) {
  for (int i = 1; i < m->places.len; i++)
    for (int k = i; k && by_position(m, k - 1, k) > 0; k--) {
      Place p = m->places.at[k];
      m->places.at[k] = m->places.at[k - 1];
      m->places.at[k - 1] = p;
    }
  for (int i = 1; i < m->places.len; i++)
    if (by_position(m, i, i - 1) != 1)
      schedule_fail(m->call, vec_last(&m->places.at[i].path),
                    "the nests of '%s' and '%s' do not follow one another",
                    name_of_loop(vec_last(&m->places.at[i - 1].path)),
                    name_of_loop(vec_last(&m->places.at[i].path)));
}

/* Each nest is loops around nothing else, of the same extents as those of the first one. */
static void need_alike(Merge *m) {
  ScheduleCall *c = m->call;
  Place *first = &m->places.at[0];
  m->depth = first->path.len - m->level - 1;
  for each (Place, p, &m->places) {
    Node *last = vec_last(&p->path);
    if (p->path.len - m->level - 1 != m->depth)
      schedule_fail(c, last, "the loops '%s' and '%s' are not at the same depth",
                    name_of_loop(vec_last(&first->path)), name_of_loop(last));
    for (int i = m->level + 1; i < p->path.len; i++) {
      Node *loop = p->path.at[i];
      if (!IS(For, loop))
        schedule_fail(c, last, "the loops around '%s' hold other statements too",
                      name_of_loop(last));
      need_plain_loop(c, loop);
      Place outer = place_prefix(p, i);
      if (!arith_can_prove_equal(facts_at(&outer), AS(For, loop)->extent,
                                 AS(For, first->path.at[i])->extent))
        schedule_fail(c, loop, "the loop '%s' has %s steps, but '%s' has %s", name_of_loop(loop),
                      ir_print(AS(For, loop)->extent, NULL), name_of_loop(first->path.at[i]),
                      ir_print(AS(For, first->path.at[i])->extent, NULL));
    }
  }
}

/* ---- the merged nest ---- */

static Node *merged_nest(Merge *m, NodeVec *vars) {
  ScheduleCall *c = m->call;
  NodeVec bodies = {0};
  Place *first = &m->places.at[0];
  for (int i = m->level + 1; i < first->path.len; i++) {
    Node *old = AS(For, first->path.at[i])->var;
    vec_push(vars,
             var_new(str_intern(str_format("%s_m", AS(Var, old)->name)), old->dtype, c->span));
  }
  for each (Place, p, &m->places) {
    Map map = {0};
    for (int i = 0; i < m->depth; i++) {
      Node *old = AS(For, p->path.at[m->level + 1 + i])->var;
      map_set(&map, old, expr_cast(old->dtype, vars->at[i], c->span));
    }
    vec_push(&bodies, schedule_substituted(c, AS(For, vec_last(&p->path))->body, &map));
  }
  Node *nest = stmt_seq(bodies, c->span);
  for (int i = m->depth - 1; i >= 0; i--) {
    For copy = *AS(For, first->path.at[m->level + 1 + i]);
    copy.var = vars->at[i];
    copy.loop_kind = LOOP_SERIAL;
    copy.body = nest;
    nest = gc_copy(&copy, sizeof copy);
  }
  return nest;
}

/* ---- whether the steps may be taken in turns ---- */

/* The buffers that one nest writes and another one uses. */
static NodeVec shared_buffers(const Merge *m) {
  Map first = {0}, written = {0}; /* buffer to the first nest (+ 1) that uses it */
  NodeVec shared = {0}, all = {0};
  Map several = {0};
  for (int i = 0; i < m->places.len; i++) {
    NodeVec blocks = all_blocks(vec_last(&m->places.at[i].path));
    for each (Node *, b, &blocks) {
      NodeVec regions[] = {AS(Block, *b)->reads, AS(Block, *b)->writes};
      for (int k = 0; k < 2; k++)
        for each (Node *, r, &regions[k]) {
          Node *buffer = AS(BufferRegion, *r)->buffer;
          intptr_t nest = (intptr_t)map_get(&first, buffer);
          if (!nest) map_set(&first, buffer, (void *)(intptr_t)(i + 1)), vec_push(&all, buffer);
          else if (nest != i + 1) map_set(&several, buffer, buffer);
          if (k) map_set(&written, buffer, buffer);
        }
    }
  }
  for each (Node *, b, &all)
    if (map_has(&several, *b) && map_has(&written, *b)) vec_push(&shared, *b);
  return shared;
}

/* A step of a later nest now comes before the next steps of an earlier one: they must have nothing
 * to do with each other, in any of the loops. */
static void need_steps_apart(const Merge *m, NodeVec vars, NodeVec buffers) {
  ScheduleCall *c = m->call;
  for each (Node *, buffer, &buffers)
    for each (Node *, v, &vars) {
      Place p = place_of(c, m->func, *v);
      if (!steps_are_apart(c, &p, *buffer))
        schedule_fail(c, vec_last(&m->places.at[1].path),
                      "the nests share '%s', and the steps of '%s' are not known to use parts of "
                      "it of their own",
                      AS(Buffer, *buffer)->name,
                      name_of_loop(m->places.at[0].path.at[m->level + 1]));
    }
}

void primitive_merge(ScheduleCall *c) {
  Merge m = {.call = c};
  find_places(&m, list_arg(c, 0));
  sort_places(&m);
  need_alike(&m);
  NodeVec vars = {0}, stmts = {0}, buffers = shared_buffers(&m);
  Node *seq = m.places.at[0].path.at[m.level], *nest = merged_nest(&m, &vars);
  int at = position_in(&m, &m.places.at[0]);
  for (int i = 0; i < AS(SeqStmt, seq)->stmts.len; i++)
    if (i == at) vec_push(&stmts, nest);
    else if (i < at || i >= at + m.places.len) vec_push(&stmts, AS(SeqStmt, seq)->stmts.at[i]);
  schedule_replace(c, m.func, seq, stmt_seq(stmts, c->span));
  need_steps_apart(&m, vars, buffers);
  give_loop(c, m.func, vec_last(&vars));
}
