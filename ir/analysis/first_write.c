/* first_write.c -- a walk in the order of execution, with the stores passed so far.
 *
 * A load must lie in what one store before it wrote: in the steps of all loops around the store
 * that have ended, and in this step alone of those that stand around both. That counts if all
 * between its least and greatest index is written, in every run of the statement: not if it stands
 * in a loop that may have no step, or under a condition that says more than that the index is
 * inside the buffer, or that a loop is in its first step. A view of a region is taken for a load of
 * it all; one that is only handed on by its pointer, to who writes, is taken for what the block
 * declares. Else blocks are looked into: what they declare may be more than what they do. What both
 * branches of a condition write is written.
 *
 * Threads that share the buffer all come to a statement before one goes on to the next that needs
 * it (ThreadSync): what any of them wrote counts. */
#include "ir/analysis/first_write.h"
#include "ir/analysis/touched.h"

/* What a store has written, in terms of the loops that stand around the walk now. */
typedef struct Written {
  Node *region;  /* BufferRegion of the one step, in variables of loops */
  NodeVec loops; /* For, that stood around it */
  NodeVec once;  /* of them, whose first step alone wrote: it counts when they have ended */
  int depth;     /* how many of them `all` is told in terms of */
  Touched all;   /* over the others */
} Written;
typedef VEC(Written) WrittenVec;

typedef struct Order {
  Node *buffer;
  Analyzer *facts;
  WrittenVec written;
  NodeVec loops;   /* For, of the statement, around the place of the walk */
  NodeVec conds;   /* around it too, in variables of loops */
  Map bindings;    /* variables of blocks and lets to their values */
  int unsure;      /* depth of what may not run at all */
  bool is_carried; /* the answer is no */
  bool only_writes;
} Order;

static void order_stmt(Order *o, Node *n);

/* ---- regions ---- */

static Node *point(const Order *o, NodeVec indices, Span span) {
  NodeVec region = {0};
  for each (Node *, i, &indices)
    vec_push(&region,
             MAKE(Range, span, VOID_TYPE, .min = *i, .extent = int_imm((*i)->dtype, 1, span)));
  return MAKE(BufferRegion, span, VOID_TYPE, .buffer = o->buffer, .region = region);
}

static bool known(Order *o, NodeKind kind, Node *a, Node *b) {
  return arith_can_prove(o->facts, expr_binary(kind, a, b, a->span));
}

/* Indices outside of the buffer are never accessed. */
static bool lies_within(Order *o, const Touched *part, const Touched *whole) {
  NodeVec shape = AS(Buffer, o->buffer)->shape;
  for (int i = 0; i < shape.len; i++) {
    Node *from = whole->lo.at[i], *to = whole->hi.at[i], *lo = part->lo.at[i], *hi = part->hi.at[i];
    Node *zero = int_imm(shape.at[i]->dtype, 0, shape.at[i]->span);
    bool low = known(o, NK_LE, from, zero) || (lo && known(o, NK_LE, from, lo));
    if (!low) return false;
    bool high = known(o, NK_LT, expr_sub(shape.at[i], int_imm(zero->dtype, 1, zero->span)),
                      expr_add(to, int_imm(to->dtype, 1, to->span))) ||
                (hi && known(o, NK_LE, hi, to));
    if (!high) return false;
  }
  return true;
}

/* ---- loads and stores ---- */

/* Every loop has a step, or the region is empty without one. */
static bool has_steps(Order *o, NodeVec loops, Node *region) {
  for each (Node *, l, &loops) {
    For *f = AS(For, *l);
    bool some = known(o, NK_GT, f->extent, int_imm(f->extent->dtype, 0, f->node.span));
    if (!some && !node_mentions(region, f->var)) return false;
  }
  return true;
}

static NodeVec copy_of(NodeVec loops) {
  NodeVec copy = {0};
  for each (Node *, l, &loops) vec_push(&copy, *l);
  return copy;
}

/* Do the steps of the loop, threads of a block, share the buffer? */
static bool is_together(const Order *o, const For *f) {
  return f->loop_kind == LOOP_THREAD && str_begins(f->thread_tag, "threadIdx") &&
         str_begins(buffer_scope(o->buffer), "shared");
}

/* The loops from the depth on, and those before whose steps are done together. */
static NodeVec loops_over(const Order *o, NodeVec loops, int depth) {
  NodeVec out = {0};
  for (int i = 0; i < loops.len; i++)
    if (i >= depth || is_together(o, AS(For, loops.at[i]))) vec_push(&out, loops.at[i]);
  return out;
}

/* Sums a store up over the loops that have ended since. */
static void settle(Order *o, Written *w) {
  int depth = 0;
  while (depth < w->loops.len && depth < o->loops.len && w->loops.at[depth] == o->loops.at[depth])
    depth++;
  if (depth == w->depth) return;
  NodeVec ended = loops_over(o, w->loops, depth);
  w->depth = depth;
  w->all = (Touched){.buffer = o->buffer};
  touch_region(&w->all, w->region, &(Map){0}, ended, o->facts);
  w->all.exact = w->all.exact && has_steps(o, ended, w->region);
}

static bool is_inside_any(const Order *o, const NodeVec *loops) {
  for each (Node *, l, loops)
    for each (Node *, around, &o->loops)
      if (*l == *around) return true;
  return false;
}

static void order_read(Order *o, Node *region) {
  if (o->only_writes) return;
  region = substitute(region, &o->bindings);
  for each (Written, w, &o->written) {
    if (is_inside_any(o, &w->once)) continue;
    settle(o, w);
    Touched read = {.buffer = o->buffer};
    touch_region(&read, region, &(Map){0}, loops_over(o, o->loops, w->depth), o->facts);
    if (w->all.exact && lies_within(o, &read, &w->all)) return;
  }
  o->is_carried = true;
}

static WalkResult find_loads(Walker *w, Node *n) {
  Order *o = w->context;
  if (IS(Var, n) && n == AS(Buffer, o->buffer)->data) o->is_carried = true; /* any access */
  if (IS(BufferLoad, n) && AS(BufferLoad, n)->buffer == o->buffer)
    order_read(o, point(o, AS(BufferLoad, n)->indices, n->span));
  if (IS(Let, n))
    map_set(&o->bindings, AS(Let, n)->var, substitute(AS(Let, n)->value, &o->bindings));
  return o->is_carried ? WALK_STOP : IS(Buffer, n) ? WALK_PRUNE : WALK_ON;
}

static void order_expr(Order *o, Node *n) {
  Walker w = {.enter = find_loads, .context = o};
  if (n && !o->is_carried) walk(&w, n);
}

/* The loop whose first step the condition asks for, or NULL. */
static Node *loop_at_start(const Order *o, Node *cond) {
  if (!IS(EQ, cond)) return NULL;
  Binary *c = (Binary *)(void *)cond;
  for each (Node *, l, &o->loops)
    if (AS(For, *l)->var == c->a && node_equal(AS(For, *l)->min, c->b, false, NULL)) return *l;
  return NULL;
}

static bool is_implied(Order *o, Node *cond, Node *region, NodeVec *once) {
  if (IS(And, cond))
    return is_implied(o, AS(And, cond)->a, region, once) &&
           is_implied(o, AS(And, cond)->b, region, once);
  if (arith_can_prove(o->facts, cond)) return true;
  Node *loop = loop_at_start(o, cond);
  if (!loop || node_mentions(region, AS(For, loop)->var)) return false;
  vec_push(once, loop);
  return true;
}

/* Do the conditions around say no more than that the index is inside the buffer, but for first
 * steps of loops? */
static bool is_unconditional(Order *o, Node *region, NodeVec *once) {
  if (o->unsure) return false;
  if (!o->conds.len) return true;
  NodeVec shape = AS(Buffer, o->buffer)->shape, ranges = AS(BufferRegion, region)->region;
  int mark = arith_enter(o->facts, int_imm(BOOL, 1, o->buffer->span));
  for (int i = 0; i < shape.len; i++) {
    Node *index = AS(Range, ranges.at[i])->min;
    arith_enter(o->facts,
                expr_binary(NK_GE, index, int_imm(index->dtype, 0, index->span), index->span));
    arith_enter(o->facts, expr_binary(NK_LT, index, shape.at[i], index->span));
  }
  bool implied = true;
  for each (Node *, c, &o->conds) implied = implied && is_implied(o, *c, region, once);
  arith_leave(o->facts, mark);
  return implied;
}

static void order_write(Order *o, NodeVec indices, Span span) {
  Written w = {.region = substitute(point(o, indices, span), &o->bindings),
               .loops = copy_of(o->loops),
               .depth = -1};
  if (is_unconditional(o, w.region, &w.once)) vec_push(&o->written, w);
}

/* Where neighbouring lanes lie side by side. */
static Node *lanes_region(const Order *o, NodeVec indices, Span span) {
  NodeVec region = {0};
  for each (Node *, i, &indices) {
    Node *min = IS(Ramp, *i) ? AS(Ramp, *i)->base : *i;
    Node *lanes = int_imm(min->dtype, (*i)->dtype.lanes, span);
    vec_push(&region, MAKE(Range, span, VOID_TYPE, .min = min, .extent = lanes));
  }
  return MAKE(BufferRegion, span, VOID_TYPE, .buffer = o->buffer, .region = region);
}

/* By a vector, or by who is given the pointer of a view. */
static void order_write_region(Order *o, Node *region) {
  Written w = {.region = substitute(region, &o->bindings), .loops = copy_of(o->loops), .depth = -1};
  if (!o->unsure && !o->conds.len) vec_push(&o->written, w);
}

static void order_store(Order *o, BufferStore *s) {
  order_expr(o, s->value);
  order_expr(o, s->predicate);
  for each (Node *, i, &s->indices) order_expr(o, *i);
  if (s->buffer != o->buffer || s->predicate) return;
  bool is_scalar = true, is_dense = true;
  for each (Node *, i, &s->indices) {
    is_scalar = is_scalar && (*i)->dtype.lanes == 1;
    is_dense =
        is_dense && ((*i)->dtype.lanes == 1 || (IS(Ramp, *i) && expr_is_one(AS(Ramp, *i)->stride)));
  }
  if (is_scalar) order_write(o, s->indices, s->node.span);
  else if (is_dense) order_write_region(o, lanes_region(o, s->indices, s->node.span));
}

/* ---- parts of the buffer that are written as a whole ---- */

/* The dimension in which two parts follow each other, all others being the same: -1 if there is
 * none. */
static int joined_at(Order *o, const Touched *a, const Touched *b) {
  int at = -1;
  for (int i = 0; i < a->lo.len; i++) {
    bool same =
        known(o, NK_EQ, a->lo.at[i], b->lo.at[i]) && known(o, NK_EQ, a->hi.at[i], b->hi.at[i]);
    if (same) continue;
    if (at >= 0) return -1;
    at = i;
    Node *next = expr_add(a->hi.at[i], int_imm(a->hi.at[i]->dtype, 1, a->hi.at[i]->span));
    if (!known(o, NK_LE, a->lo.at[i], b->lo.at[i]) || !known(o, NK_LE, b->lo.at[i], next) ||
        !known(o, NK_LE, a->hi.at[i], b->hi.at[i]))
      return -1;
  }
  return at;
}

typedef VEC(Touched) TouchedVec;

static void add_part(Order *o, TouchedVec *parts, Touched part) {
  for (int i = 0; i < parts->len; i++)
    for (int swapped = 0; swapped < 2; swapped++) {
      const Touched *a = swapped ? &part : &parts->at[i], *b = swapped ? &parts->at[i] : &part;
      int at = joined_at(o, a, b);
      if (at < 0) continue;
      Touched both = {.buffer = o->buffer, .lo = a->lo, .exact = true};
      for (int k = 0; k < a->hi.len; k++) vec_push(&both.hi, (k == at ? b : a)->hi.at[k]);
      parts->at[i] = vec_last(parts);
      parts->len--;
      add_part(o, parts, both);
      return;
    }
  vec_push(parts, part);
}

static TouchedVec whole_parts(Order *o, WrittenVec *written) {
  TouchedVec parts = {0};
  for each (Written, w, written) {
    if (is_inside_any(o, &w->once)) continue;
    settle(o, w);
    if (w->all.exact) add_part(o, &parts, w->all);
  }
  return parts;
}

static bool have_all(Order *o, const TouchedVec *parts, const Touched *of) {
  for each (Touched, part, parts)
    if (lies_within(o, of, part)) return true;
  return false;
}

/* ---- accesses that are neither loads nor stores ---- */

static WalkResult find_other_use(Walker *w, Node *n) {
  const Buffer *b = w->context;
  if (n == b->data) return WALK_STOP;
  if (IS(MatchBufferRegion, n)) {
    MatchBufferRegion *m = AS(MatchBufferRegion, n);
    if (m->buffer == &b->node || AS(BufferRegion, m->source)->buffer == &b->node) return WALK_STOP;
  }
  if (!IS(Buffer, n)) return WALK_ON;
  return n != &b->node && AS(Buffer, n)->data == b->data ? WALK_STOP : WALK_PRUNE;
}

bool is_accessed_otherwise(Node *stmt, Node *buffer) {
  Walker w = {.enter = find_other_use, .context = buffer};
  return !walk(&w, stmt);
}

/* ---- statements ---- */

static void order_for(Order *o, For *f) {
  order_expr(o, f->min);
  order_expr(o, f->extent);
  int mark = arith_enter(o->facts, int_imm(BOOL, 1, f->node.span));
  For own = *f; /* its range, in variables of loops */
  own.min = substitute(f->min, &o->bindings);
  own.extent = substitute(f->extent, &o->bindings);
  arith_bind_range(o->facts, own.var, own.min, own.extent);
  vec_push(&o->loops, gc_copy(&own, sizeof own));
  order_stmt(o, f->body);
  (void)vec_pop(&o->loops);
  arith_leave(o->facts, mark);
}

static void order_under(Order *o, Node *cond, Node *stmt) {
  if (!stmt) return;
  bool trivial = expr_is_one(cond);
  if (!trivial) vec_push(&o->conds, substitute(cond, &o->bindings));
  order_stmt(o, stmt);
  if (!trivial) (void)vec_pop(&o->conds);
}

/* Do all steps of the reduction run inside the statement? */
static bool reduces_inside(Order *o, const BlockRealize *r) {
  Block *b = AS(Block, r->block);
  Map inner = {0};
  for each (Node *, l, &o->loops) map_set(&inner, AS(For, *l)->var, *l);
  for (int i = 0; i < r->iter_values.len; i++) {
    if (AS(IterVar, b->iter_vars.at[i])->iter_kind == ITER_SPATIAL) continue;
    Node *unknown = substitute(r->iter_values.at[i], &o->bindings), *lo, *hi;
    Map ranges = {0};
    for each (Node *, l, &o->loops)
      map_set(&ranges, AS(For, *l)->var,
              MAKE(Range, unknown->span, VOID_TYPE, .min = AS(For, *l)->min,
                   .extent = AS(For, *l)->extent));
    Range *dom = AS(Range, AS(IterVar, b->iter_vars.at[i])->dom);
    if (!arith_bounds_over(unknown, &ranges, &lo, &hi) || !known(o, NK_LE, lo, dom->min))
      return false;
  }
  return true;
}

static bool names(NodeVec regions, const Node *buffer) {
  for each (Node *, r, &regions)
    if (AS(BufferRegion, *r)->buffer == buffer) return true;
  return false;
}

static WalkResult find_element(Walker *w, Node *n) {
  bool touches = (IS(BufferLoad, n) && AS(BufferLoad, n)->buffer == w->context) ||
                 (IS(BufferStore, n) && AS(BufferStore, n)->buffer == w->context);
  return touches ? WALK_STOP : WALK_ON;
}

/* Is the view for someone who only writes, and as a whole? */
static bool is_handed_on(const Order *o, const Block *b, Node *view) {
  Walker w = {.enter = find_element, .context = view};
  return names(b->writes, o->buffer) && !names(b->reads, o->buffer) && walk(&w, b->body);
}

static void order_realize(Order *o, BlockRealize *r) {
  Block *b = AS(Block, r->block);
  for each (Node *, v, &r->iter_values) order_expr(o, *v);
  order_expr(o, r->predicate);
  for (int i = 0; i < r->iter_values.len; i++)
    map_set(&o->bindings, AS(IterVar, b->iter_vars.at[i])->var,
            substitute(r->iter_values.at[i], &o->bindings));
  for each (Node *, m, &b->match_buffers) {
    Node *source = AS(MatchBufferRegion, *m)->source;
    if (AS(BufferRegion, source)->buffer != o->buffer) continue;
    if (is_handed_on(o, b, AS(MatchBufferRegion, *m)->buffer)) order_write_region(o, source);
    else order_read(o, source);
  }
  if (b->init && reduces_inside(o, r)) order_under(o, r->predicate, b->init);
  order_under(o, r->predicate, b->body);
}

static void order_unsure(Order *o, Node *n) {
  o->unsure++;
  order_stmt(o, n);
  o->unsure--;
}

/* What the statement writes if it runs; it is not noted as written. */
static WrittenVec written_by(Order *o, Node *n) {
  WrittenVec found = {0};
  int before = o->written.len;
  order_stmt(o, n);
  for (int i = before; i < o->written.len; i++) vec_push(&found, o->written.at[i]);
  o->written.len = before;
  return found;
}

/* Those of one branch that the other one writes too. */
static void order_both(Order *o, WrittenVec *of, const TouchedVec *other) {
  for each (Written, w, of) {
    if (w->once.len) continue;
    settle(o, w);
    if (have_all(o, other, &w->all)) vec_push(&o->written, *w);
  }
}

/* What both branches write is written, and what the condition makes no difference to. */
static void order_if(Order *o, IfThenElse *n) {
  order_expr(o, n->cond);
  if (!n->orelse) {
    order_under(o, n->cond, n->then);
    return;
  }
  WrittenVec then = written_by(o, n->then), orelse = written_by(o, n->orelse);
  TouchedVec first = whole_parts(o, &then), second = whole_parts(o, &orelse);
  order_both(o, &then, &second);
  order_both(o, &orelse, &first);
  vec_push(&o->conds, substitute(n->cond, &o->bindings));
  for each (Written, w, &then)
    if (is_unconditional(o, w->region, &w->once)) vec_push(&o->written, *w);
  (void)vec_pop(&o->conds);
}

static void order_child(void *context, Node *child) {
  if (node_is_expr(child)) order_expr(context, child);
}

static void order_stmt(Order *o, Node *n) {
  if (!n || o->is_carried) return;
  Node **rest = stmt_rest(n);
  switch (n->kind) {
  case NK_SeqStmt:
    for each (Node *, s, &AS(SeqStmt, n)->stmts) order_stmt(o, *s);
    return;
  case NK_For: order_for(o, AS(For, n)); return;
  case NK_BlockRealize: order_realize(o, AS(BlockRealize, n)); return;
  case NK_BufferStore: order_store(o, AS(BufferStore, n)); return;
  case NK_IfThenElse: order_if(o, AS(IfThenElse, n)); return;
  case NK_While:
    order_expr(o, AS(While, n)->cond);
    order_unsure(o, AS(While, n)->body);
    return;
  case NK_DeclBuffer: /* another view of it? */
    if (AS(Buffer, AS(DeclBuffer, n)->buffer)->data == AS(Buffer, o->buffer)->data)
      o->is_carried = true;
    order_stmt(o, *rest);
    return;
  case NK_LetStmt:
    order_expr(o, AS(LetStmt, n)->value);
    if (expr_effect(AS(LetStmt, n)->value) != EFFECT_PURE && node_mentions(*rest, o->buffer))
      o->is_carried = true;
    map_set(&o->bindings, AS(LetStmt, n)->var, substitute(AS(LetStmt, n)->value, &o->bindings));
    order_stmt(o, *rest);
    return;
  case NK_Evaluate: order_expr(o, AS(Evaluate, n)->value); return;
  default:
    if (!rest) o->is_carried = true; /* a statement that says nothing of its order */
    else {
      node_each_child(n, order_child, o);
      order_stmt(o, *rest);
    }
  }
}

/* ---- all of a region ---- */

static bool is_written(Order *o, Node *region) {
  TouchedVec parts = whole_parts(o, &o->written);
  Touched all = {.buffer = o->buffer};
  touch_region(&all, region, &(Map){0}, (NodeVec){0}, o->facts);
  return have_all(o, &parts, &all);
}

bool writes_all(Node *block, Node *region, Analyzer *outside) {
  Block *b = AS(Block, block);
  Order o = {.buffer = AS(BufferRegion, region)->buffer, .facts = outside, .only_writes = true};
  if (is_accessed_otherwise(block, o.buffer)) return true;
  int mark = arith_enter(outside, int_imm(BOOL, 1, block->span));
  for each (Node *, v, &b->iter_vars) {
    Range *dom = AS(Range, AS(IterVar, *v)->dom);
    arith_bind_range(outside, AS(IterVar, *v)->var, dom->min, dom->extent);
  }
  order_stmt(&o, b->body);
  bool written = is_written(&o, region);
  arith_leave(outside, mark);
  return written;
}

bool writes_before_reading(Node *stmt, Node *buffer, Analyzer *outside) {
  Order o = {.buffer = buffer, .facts = outside};
  int mark = arith_enter(outside, int_imm(BOOL, 1, stmt->span));
  order_stmt(&o, stmt);
  arith_leave(outside, mark);
  return !o.is_carried;
}
