/* compute_at.c -- compute_at and reverse_compute_at: a block moves under a loop of those that use
 * its result, or that it uses, and computes there what that step needs. */
#include "passes/schedule/schedule_impl.h"

/* ---- building the nest at its new place ---- */

static Node *new_nest(ScheduleCall *c, Block *b, const Domain *domains, bool keep_unit_loops) {
  NodeVec values = {0}, loops = {0}, extents = {0};
  Node *predicate = int_imm(BOOL, 1, c->span);
  for (int i = 0; i < b->iter_vars.len; i++) {
    Range *own = AS(Range, AS(IterVar, b->iter_vars.at[i])->dom);
    Node *min = domains[i].min ? domains[i].min : own->min;
    Node *extent = domains[i].min ? domains[i].extent : own->extent, *value = min;
    if (keep_unit_loops || !expr_is_one(extent)) {
      Node *ax = var_new(str_format("ax%d", loops.len), extent->dtype, c->span);
      vec_push(&loops, ax);
      vec_push(&extents, extent);
      value = expr_add(min, ax);
    }
    vec_push(&values, value);
    if (!domains[i].guarded) continue;
    Node *low = expr_binary(NK_GE, value, own->min, c->span);
    Node *high = expr_binary(NK_LT, value, expr_add(own->min, own->extent), c->span);
    Node *inside = expr_and(low, high);
    predicate = expr_is_one(predicate) ? inside : expr_and(predicate, inside);
  }
  Node *nest = MAKE(BlockRealize, c->span, VOID_TYPE, .iter_values = values, .predicate = predicate,
                    .block = &b->node);
  for (int i = loops.len - 1; i >= 0; i--)
    nest = MAKE(For, c->span, VOID_TYPE, .min = int_imm(extents.at[i]->dtype, 0, c->span),
                .extent = extents.at[i], .var = loops.at[i], .body = nest);
  return nest;
}

/* The statements of a body, of which one is added before the i-th. */
static Node *with_statement(Node *body, int i, Node *stmt) {
  NodeVec old = IS(SeqStmt, body) ? AS(SeqStmt, body)->stmts : NODES(body), all = {0};
  for (int k = 0; k <= old.len; k++) {
    if (k == i) vec_push(&all, stmt);
    if (k < old.len) vec_push(&all, old.at[k]);
  }
  return stmt_seq(all, body->span);
}

/* Statements of the loop's body that hold a block of the list: the first and the last one. */
static void span_of_blocks(Node *body, NodeVec blocks, int *first, int *last) {
  NodeVec stmts = IS(SeqStmt, body) ? AS(SeqStmt, body)->stmts : NODES(body);
  *first = stmts.len;
  *last = -1;
  for (int i = 0; i < stmts.len; i++)
    for each (Node *, b, &blocks)
      if (node_mentions(stmts.at[i], *b)) {
        if (i < *first) *first = i;
        *last = i;
      }
}

/* ---- the two primitives ---- */

typedef struct Move {
  ScheduleCall *call;
  BlockRef *ref;
  Block *block;
  Place from, to;
  Node *scope, *loop;
  NodeVec related; /* consumers, or producers when `reverse` */
  bool reverse;
} Move;

static Move begin_move(ScheduleCall *c, bool reverse) {
  Move m = {.call = c, .ref = block_arg(c, 0), .to = loop_arg(c, 1), .reverse = reverse};
  m.block = AS(Block, m.ref->node);
  m.from = place_of(c, m.ref->func, m.ref->node);
  m.loop = vec_last(&m.to.path);
  m.scope = scope_block(&m.from);
  const char *name = m.block->name;
  if (!m.scope) schedule_fail(c, m.ref->node, "the root block can't be moved");
  if (scope_block(&m.to) != m.scope)
    schedule_fail(c, m.loop, "the loop '%s' is not in the block that '%s' stands in",
                  AS(Var, AS(For, m.loop)->var)->name, name);
  for each (Node *, s, &m.from.path)
    if (*s == m.loop)
      schedule_fail(c, m.loop, "the loop '%s' is around block '%s' already",
                    AS(Var, AS(For, m.loop)->var)->name, name);
  const char *why = why_not_complete(m.scope, m.ref->node);
  const char *nor = why ? why_not_reduction(m.scope, m.ref->node) : NULL;
  if (nor)
    schedule_fail(c, m.ref->node, "'%s' is no complete block (%s) and no reduction (%s)", name, why,
                  nor);
  if (!expr_is_one(AS(BlockRealize, realize_of(&m.from))->predicate))
    schedule_fail(c, m.ref->node, "the block '%s' runs under a condition", name);
  m.related = reverse ? producers_of(m.scope, m.ref->node) : consumers_of(m.scope, m.ref->node);
  if (!m.related.len)
    schedule_fail(c, m.ref->node, "block '%s' has no %s", name,
                  reverse ? "producers" : "consumers");
  return m;
}

static void need_under_loop(const Move *m) {
  for each (Node *, b, &m->related)
    if (!node_mentions(AS(For, m->loop)->body, *b))
      schedule_fail(m->call, *b, "the %s '%s' of block '%s' is not under the loop '%s'",
                    m->reverse ? "producer" : "consumer", AS(Block, *b)->name, m->block->name,
                    AS(Var, AS(For, m->loop)->var)->name);
}

/* Moving over another block must not change what either of them sees: a consumer that moves forward
 * must not write what one before it uses, a producer that moves back must not read what one behind
 * it writes. */
static void need_no_conflict(const Move *m) {
  NodeVec realizes = child_realizes(m->scope);
  bool before = true;
  for each (Node *, r, &realizes) {
    Block *other = AS(Block, AS(BlockRealize, *r)->block);
    if (other == m->block) {
      before = false;
      continue;
    }
    if (before != m->reverse) continue;
    NodeVec regions = m->reverse ? m->block->writes : m->block->reads;
    for each (Node *, region, &regions) {
      Node *buffer = AS(BufferRegion, *region)->buffer;
      if (block_writes(other, buffer) || (m->reverse && block_reads(other, buffer)))
        schedule_fail(m->call, &other->node, "block '%s' stands between and %s '%s'", other->name,
                      block_writes(other, buffer) ? "writes" : "reads", AS(Buffer, buffer)->name);
    }
  }
}

/* The block, or one that it takes values from, that writes elements again with other values, step
 * after step of a loop around them; or NULL. `seen`: blocks that were asked. */
static Node *rewriting(ScheduleCall *c, const Place *at, Node *block, Node *loop, Map *seen) {
  if (!node_mentions(loop, block) || map_has(seen, block)) return NULL;
  map_set(seen, block, block);
  Node *scope = scope_block(at);
  Place place = place_of(c, at->func, loop);
  bool apart = true;
  for each (Node *, w, &AS(Block, block)->writes)
    apart &= steps_are_apart(c, &place, AS(BufferRegion, *w)->buffer);
  if (apart) return NULL;
  if (why_not_complete(scope, block) && why_not_reduction(scope, block)) return block;
  NodeVec producers = producers_of(scope, block);
  for each (Node *, p, &producers) {
    Node *found = rewriting(c, at, *p, loop, seen);
    if (found) return found;
  }
  return NULL;
}

void need_lasting_producers(ScheduleCall *c, const Place *at, Node *target) {
  Node *scope = scope_block(at), *block = vec_last(&at->path);
  NodeVec producers = producers_of(scope, block), loops = loops_around(at);
  for each (Node *, p, &producers)
    for each (Node *, s, &loops) {
      if (node_mentions(*s, target)) continue;
      Map seen = {0};
      Node *found = rewriting(c, at, *p, *s, &seen);
      if (!found) continue;
      const char *buffer =
          AS(Buffer, AS(BufferRegion, AS(Block, found)->writes.at[0])->buffer)->name;
      schedule_fail(
          c, found, "the block '%s' would leave the loop '%s', where '%s' writes '%s' again",
          AS(Block, block)->name, AS(Var, AS(For, *s)->var)->name, AS(Block, found)->name, buffer);
    }
}

/* Threads of a block share some memory: what one step of their loops needs there, all of them do.
 * Virtual ones share it, too, but a consumer can't wait for what another one computes. */
static NodeVec with_thread_loops(const Move *m, NodeVec loops, Node *buffer) {
  if (!str_begins(buffer_scope(buffer), "shared")) return loops;
  NodeVec out = {0};
  for each (Node *, s, &m->to.path)
    if (IS(For, *s) && AS(For, *s)->loop_kind == LOOP_THREAD &&
        (str_begins(AS(For, *s)->thread_tag, "threadIdx.") ||
         (!m->reverse && str_begins(AS(For, *s)->thread_tag, "vthread"))))
      vec_push(&out, *s);
  for each (Node *, l, &loops) vec_push(&out, *l);
  return out;
}

/* What of a buffer these blocks read or write in one step of the loop. */
static Touched touched_in(const Move *m, NodeVec blocks, bool writes, Node *loop, Node *buffer,
                          Analyzer *facts) {
  Touched t = {.buffer = buffer};
  for each (Node *, other, &blocks) {
    Place p = place_of(m->call, m->ref->func, *other);
    NodeVec inner = with_thread_loops(m, loops_inside(&p, loop), buffer);
    NodeVec regions = writes ? AS(Block, *other)->writes : AS(Block, *other)->reads;
    for each (Node *, r, &regions)
      if (AS(BufferRegion, *r)->buffer == buffer)
        touch(&t, AS(BlockRealize, realize_of(&p)), *r, inner, facts);
  }
  return t;
}

static Touched need_of(const Move *m, Node *buffer, Analyzer *facts) {
  return touched_in(m, m->related, m->reverse, m->loop, buffer, facts);
}

/* What the block reads in its part of the domain is done by then: its producers under the loop have
 * touched it in this step. */
static void need_it_done(const Move *m, const Domain *domains, Node *region, Node *loop,
                         const Touched *done, Analyzer *facts) {
  if (!done->exact)
    schedule_fail(m->call, loop,
                  "one step of the loop '%s' is not known to make a whole region of '%s'",
                  AS(Var, AS(For, loop)->var)->name, AS(Buffer, done->buffer)->name);
  Map ranges = {0};
  for (int i = 0; i < m->block->iter_vars.len; i++) {
    IterVar *v = AS(IterVar, m->block->iter_vars.at[i]);
    Node *own = v->dom;
    if (domains[i].min)
      own =
          MAKE(Range, v->node.span, VOID_TYPE, .min = domains[i].min, .extent = domains[i].extent);
    map_set(&ranges, v->var, own);
  }
  NodeVec dims = AS(BufferRegion, region)->region;
  for (int d = 0; d < dims.len; d++) {
    Node *min = AS(Range, dims.at[d])->min, *extent = AS(Range, dims.at[d])->extent;
    Node *last = expr_sub(expr_add(min, extent), int_imm(extent->dtype, 1, extent->span));
    Node *lo, *hi, *unused, *from = done->lo.at[d], *to = done->hi.at[d];
    bool ready = from && arith_bounds_under(facts, min, &ranges, &lo, &unused) &&
                 arith_bounds_under(facts, last, &ranges, &unused, &hi) &&
                 arith_can_prove(facts, expr_binary(NK_GE, lo, from, min->span)) &&
                 arith_can_prove(facts, expr_binary(NK_LE, hi, to, min->span));
    if (!ready)
      schedule_fail(
          m->call, &m->block->node,
          "block '%s' reads dimension %d of '%s', of which one step of the loop '%s' is not "
          "known to make all that is read",
          m->block->name, d, AS(Buffer, done->buffer)->name, AS(Var, AS(For, loop)->var)->name);
  }
}

/* A producer that adds up over a loop has its sums when that loop ends, not in each of its steps.
 */
static void need_sums_done(const Move *m, const Place *under) {
  NodeVec around = loops_around(under);
  for each (Node *, other, &m->related) {
    Place p = place_of(m->call, m->ref->func, *other);
    BlockRealize *r = AS(BlockRealize, realize_of(&p));
    Block *b = AS(Block, *other);
    for (int i = 0; i < b->iter_vars.len; i++)
      for each (Node *, l, &around)
        if (AS(IterVar, b->iter_vars.at[i])->iter_kind == ITER_REDUCE &&
            !expr_is_one(AS(For, *l)->extent) &&
            node_mentions(r->iter_values.at[i], AS(For, *l)->var))
          schedule_fail(
              m->call, *l,
              "block '%s' adds up over the loop '%s': what it computes is not done in a step "
              "of it",
              b->name, AS(Var, AS(For, *l)->var)->name);
  }
}

/* Does the block run with other values, at its new place, in a step of a loop around it and the
 * producer? It does if it leaves one, or if such a loop is one of its reduction: all of that is
 * done at the new place. */
static bool runs_more(const Move *m, Node *producer) {
  for each (Node *, s, &m->from.path)
    if (IS(For, *s) && node_mentions(*s, producer) && !node_mentions(*s, m->loop)) return true;
  BlockRealize *r = AS(BlockRealize, realize_of(&m->from));
  for (int i = 0; i < r->iter_values.len; i++)
    for each (Node *, s, &m->to.path)
      if (AS(IterVar, m->block->iter_vars.at[i])->iter_kind != ITER_SPATIAL && IS(For, *s) &&
          node_mentions(*s, producer) && node_mentions(r->iter_values.at[i], AS(For, *s)->var))
        return true;
  return false;
}

/* A producer may share loops with the new place: then one step of them makes what is read there. */
static void need_ready_producers(const Move *m, const Domain *domains, Analyzer *facts) {
  NodeVec producers = producers_of(m->scope, m->ref->node);
  for each (Node *, p, &producers) {
    Node *shared = NULL;
    for each (Node *, s, &m->to.path)
      if (IS(For, *s) && node_mentions(*s, *p)) shared = *s;
    if (!shared || !runs_more(m, *p)) continue;
    for each (Node *, r, &m->block->reads) {
      Node *buffer = AS(BufferRegion, *r)->buffer;
      Touched done = touched_in(m, producers, true, shared, buffer, facts);
      if (done.lo.len) need_it_done(m, domains, *r, shared, &done, facts);
    }
  }
}

/* What the variables take whose domain is cut, over all steps of the loops around the nest and in
 * it. */
static Touched steps_of(const Move *m, NodeVec loops, Node *nest, const Domain *domains,
                        Analyzer *facts) {
  NodeVec point = {0};
  for (int i = 0; i < m->block->iter_vars.len; i++) {
    Node *var = AS(IterVar, m->block->iter_vars.at[i])->var;
    Node *one = int_imm(var->dtype, 1, var->span);
    if (domains[i].min)
      vec_push(&point, MAKE(Range, var->span, VOID_TYPE, .min = var, .extent = one));
  }
  for (; IS(For, nest); nest = AS(For, nest)->body) vec_push(&loops, nest);
  Touched all = {0};
  Node *region = MAKE(BufferRegion, m->call->span, VOID_TYPE, .region = point);
  touch(&all, AS(BlockRealize, nest), region, loops, facts);
  return all;
}

/* A consumer that reads other buffers too may have steps that no step of its producers belongs to:
 * all of them must still be run. */
static void need_all_steps(const Move *m, NodeVec loops, Node *nest, const Domain *domains,
                           Analyzer *facts) {
  Touched all = steps_of(m, loops, nest, domains, facts);
  bool whole = all.exact || !all.lo.len;
  for (int i = 0, k = 0; i < m->block->iter_vars.len && whole; i++) {
    if (!domains[i].min) continue;
    Range *own = AS(Range, AS(IterVar, m->block->iter_vars.at[i])->dom);
    Node *lo = all.lo.at[k], *hi = all.hi.at[k++], *one = int_imm(hi->dtype, 1, hi->span);
    Node *end = expr_add(own->min, own->extent);
    whole = arith_can_prove(facts, expr_binary(NK_LE, lo, own->min, lo->span)) &&
            arith_can_prove(facts, expr_binary(NK_GE, expr_add(hi, one), end, hi->span));
  }
  if (!whole)
    schedule_fail(
        m->call, &m->block->node,
        "the loop '%s' and those around it are not known to take block '%s' through all of "
        "its steps",
        AS(Var, AS(For, m->loop)->var)->name, m->block->name);
}

static void finish_move(Move *m) {
  ScheduleCall *c = m->call;
  Place under = m->to;
  vec_push(&under.path, AS(For, m->loop)->body); /* the loop itself is known below it */
  Analyzer *facts = facts_at(&under);
  Domain domains[MAX_VARIABLES] = {{0}};
  if (m->block->iter_vars.len > MAX_VARIABLES)
    schedule_fail(c, &m->block->node, "the block has too many axes");
  NodeVec regions = m->reverse ? m->block->reads : m->block->writes;
  bool is_first = true;
  for each (Node *, r, &regions) {
    Touched need = need_of(m, AS(BufferRegion, *r)->buffer, facts);
    if (!need.lo.len) continue;
    add_domains(m->block, *r, &need, m->reverse, is_first, domains, facts);
    is_first = false;
  }
  for each (Node *, r, &regions) {
    if (!m->reverse) break;
    Touched done = need_of(m, AS(BufferRegion, *r)->buffer, facts);
    if (done.lo.len) need_it_done(m, domains, *r, m->loop, &done, facts);
  }
  if (m->reverse) need_sums_done(m, &under);
  else need_ready_producers(m, domains, facts);
  Node *nest = new_nest(c, m->block, domains, flag_arg(c, 2));
  if (m->reverse) need_all_steps(m, loops_inside(&under, m->scope), nest, domains, facts);
  nest = simplify_bindings(c, nest, facts);
  Node *gone = removed_with(&m->from), *loop = m->loop;
  int first, last, index = (int)int_arg(c, 3, "index");
  Node *body = AS(For, loop)->body;
  span_of_blocks(body, m->related, &first, &last);
  NodeVec stmts = IS(SeqStmt, body) ? AS(SeqStmt, body)->stmts : NODES(body);
  int lowest = m->reverse ? last + 1 : 0, highest = m->reverse ? stmts.len : first;
  int at = index == -1 ? highest : index == -2 ? lowest : index;
  if (at < lowest || at > highest)
    schedule_fail(c, loop, "index must be from %d to %d, or -1 or -2, but is %d", lowest, highest,
                  index);
  if (node_mentions(body, gone)) schedule_fail(c, loop, "the block stands under the loop already");
  take_out(c, &m->from, NULL);
  m->to = loop_arg(c, 1);
  loop = vec_last(&m->to.path);
  schedule_replace(c, m->ref->func, loop,
                   loop_with_body(AS(For, loop), with_statement(AS(For, loop)->body, at, nest)));
}

void primitive_compute_at(ScheduleCall *c) {
  int location = location_arg(c, 1);
  if (location == LOCATION_INLINE) return primitive_compute_inline(c);
  if (location == LOCATION_ROOT) return;
  Move m = begin_move(c, false);
  for each (Node *, w, &m.block->writes) need_local_buffer(c, &m.from, AS(BufferRegion, *w)->buffer);
  need_under_loop(&m);
  need_no_conflict(&m);
  need_lasting_producers(m.call, &m.from, m.loop);
  finish_move(&m);
}

void primitive_reverse_compute_at(ScheduleCall *c) {
  int location = location_arg(c, 1);
  if (location == LOCATION_INLINE) return primitive_reverse_compute_inline(c);
  if (location == LOCATION_ROOT) return;
  Move m = begin_move(c, true);
  need_under_loop(&m);
  need_no_conflict(&m);
  need_lasting_producers(m.call, &m.from, m.loop);
  finish_move(&m);
}
