/* plan_and_update_buffer_allocation_location.c -- each buffer is allocated in the innermost block
 * or loop that holds all its accesses.
 *
 * In:  blocks that own buffers. Out: the same buffers, owned as far inside as they can be; a loop
 * gets an opaque block around its body for those it owns. A buffer moves into a loop only if each
 * step writes what it reads. Loops over threads do not own what these threads share. */
#include "ir/analysis/first_write.h"
#include "lower/lower_impl.h"
#include <string.h>

/* ---- where a buffer may live ---- */

static WalkResult find_buffer(Walker *w, Node *n) {
  const Buffer *b = w->context;
  return n == &b->node || n == b->data ? WALK_STOP : WALK_ON;
}

static bool uses(Node *n, Node *buffer) {
  Walker w = {.enter = find_buffer, .context = buffer};
  return n && !walk(&w, n);
}

/* Does each step of a loop over threads see its own copy of a buffer of that scope? */
static bool is_private_to(const char *scope, const char *thread_tag) {
  if (str_same(scope, "global")) return str_begins(thread_tag, "vthread");
  if (str_begins(scope, "shared")) return !str_begins(thread_tag, "threadIdx");
  if (str_begins(scope, "warp")) return !str_same(thread_tag, "threadIdx.x");
  return true; /* registers and fragments of them */
}

typedef struct Search {
  Node *buffer;
  Analyzer *facts;
  Node *home; /* For or Block */
} Search;

static void bind_loop(Analyzer *facts, For *f) {
  arith_bind_range(facts, f->var, f->min, f->extent);
}

static bool may_enter(Search *s, For *f) {
  bind_loop(s->facts, f);
  return writes_before_reading(f->body, s->buffer, s->facts);
}

/* Loops over threads that share the buffer do not own it, but may hold a loop that does. */
static bool may_own(Search *s, For *f) {
  return f->loop_kind != LOOP_THREAD || is_private_to(buffer_scope(s->buffer), f->thread_tag);
}

/* The one statement of several that uses the buffer, or NULL. */
static Node *only_user(NodeVec stmts, Node *buffer) {
  Node *found = NULL;
  for each (Node *, n, &stmts) {
    if (!uses(*n, buffer)) continue;
    if (found) return NULL;
    found = *n;
  }
  return found;
}

static void descend(Search *s, Node *n);

static void enter_block(Search *s, BlockRealize *r) {
  Block *b = AS(Block, r->block);
  for each (Node *, v, &r->iter_values)
    if (uses(*v, s->buffer)) return;
  for each (Node *, m, &b->match_buffers)
    if (AS(BufferRegion, AS(MatchBufferRegion, *m)->source)->buffer == s->buffer) return;
  if (uses(r->predicate, s->buffer) || uses(b->init, s->buffer)) return;
  if (!writes_before_reading(b->body, s->buffer, s->facts)) return;
  for each (Node *, v, &b->iter_vars) {
    Range *dom = AS(Range, AS(IterVar, *v)->dom);
    arith_bind_range(s->facts, AS(IterVar, *v)->var, dom->min, dom->extent);
  }
  s->home = &b->node;
  descend(s, b->body);
}

/* A statement below the home that holds all accesses. */
static void descend(Search *s, Node *n) {
  switch (n->kind) {
  case NK_SeqStmt: {
    Node *only = only_user(AS(SeqStmt, n)->stmts, s->buffer);
    if (only) descend(s, only);
    return;
  }
  case NK_BlockRealize: enter_block(s, AS(BlockRealize, n)); return;
  case NK_For: {
    For *f = AS(For, n);
    if (uses(f->min, s->buffer) || uses(f->extent, s->buffer) || !may_enter(s, f)) return;
    if (!may_own(s, f) && str_same(buffer_scope(s->buffer), "global")) return;
    if (may_own(s, f)) s->home = n;
    descend(s, f->body);
    return;
  }
  case NK_IfThenElse: {
    IfThenElse *i = AS(IfThenElse, n);
    if (uses(i->cond, s->buffer)) return;
    Node *only = !i->orelse || !uses(i->orelse, s->buffer) ? i->then
                 : !uses(i->then, s->buffer)               ? i->orelse
                                                           : NULL;
    if (only) descend(s, only);
    return;
  }
  default: return; /* what a let or an attribute makes stays around the accesses */
  }
}

/* ---- the new owners ---- */

typedef struct Plan {
  Map homes; /* For or Block to the Array of buffers that it owns from now on */
  Map moved; /* buffers that got another owner */
  Analyzer *facts;
} Plan;

static void add_home(Plan *p, Node *home, Node *buffer) {
  Node *list = map_get(&p->homes, home);
  NodeVec items = {0};
  if (list)
    for each (Node *, b, &AS(Array, list)->items) vec_push(&items, *b);
  vec_push(&items, buffer);
  map_set(&p->homes, home, MAKE(Array, home->span, VOID_TYPE, .items = items));
}

static WalkResult plan_block(Walker *w, Node *n) {
  Plan *p = w->context;
  if (node_is_expr(n)) return WALK_PRUNE;
  if (IS(For, n)) bind_loop(p->facts, AS(For, n));
  if (!IS(Block, n)) return WALK_ON;
  Block *b = AS(Block, n);
  for each (Node *, v, &b->iter_vars) {
    Range *dom = AS(Range, AS(IterVar, *v)->dom);
    arith_bind_range(p->facts, AS(IterVar, *v)->var, dom->min, dom->extent);
  }
  for each (Node *, buffer, &b->alloc_buffers) {
    Search s = {*buffer, p->facts, n};
    if (!uses(b->init, *buffer)) descend(&s, b->body);
    add_home(p, s.home, *buffer);
    if (s.home != n) map_set(&p->moved, *buffer, s.home);
  }
  return WALK_ON;
}

/* ---- rewriting ---- */

static NodeVec owned(Plan *p, Node *home) {
  Node *list = map_get(&p->homes, home);
  return list ? AS(Array, list)->items : (NodeVec){0};
}

/* A buffer that moved is seen only below its new owner. */
static NodeVec visible_regions(Plan *p, NodeVec regions, const Map *inside) {
  NodeVec out = {0};
  for each (Node *, r, &regions) {
    Node *buffer = AS(BufferRegion, *r)->buffer;
    if (!map_has(&p->moved, buffer) || map_has(inside, buffer)) vec_push(&out, *r);
  }
  return out;
}

typedef struct Rewrite {
  Plan *plan;
  Map inside; /* buffers whose owner is around */
} Rewrite;

/* Regions of the blocks right below, of buffers not owned here. */
static void add_regions(NodeVec *all, NodeVec regions, NodeVec own) {
  for each (Node *, r, &regions) {
    bool is_own = false;
    for each (Node *, b, &own) is_own |= AS(BufferRegion, *r)->buffer == *b;
    if (!is_own) vec_push(all, *r);
  }
}

static Node *own_block(Node *body, NodeVec buffers) {
  Block b = {.node = {NK_Block, VOID_TYPE, body->span},
             .name = "",
             .alloc_buffers = buffers,
             .body = body};
  NodeVec reads = {0}, writes = {0};
  if (block_access_regions(&b.node, NULL, &reads, &writes)) {
    add_regions(&b.reads, reads, buffers);
    add_regions(&b.writes, writes, buffers);
  }
  return MAKE(BlockRealize, body->span, VOID_TYPE, .predicate = int_imm(BOOL, 1, body->span),
              .block = gc_copy(&b, sizeof b));
}

static Node *rewrite_block(Mutator *m, Node *n) {
  Rewrite *r = m->context;
  Block b = *AS(Block, n);
  b.alloc_buffers = owned(r->plan, n);
  b.reads = visible_regions(r->plan, b.reads, &r->inside);
  b.writes = visible_regions(r->plan, b.writes, &r->inside);
  for each (Node *, x, &b.alloc_buffers) map_set(&r->inside, *x, n);
  return mutate_children(m, gc_copy(&b, sizeof b));
}

static Node *rewrite(Mutator *m, Node *n) {
  Rewrite *r = m->context;
  if (node_is_expr(n) || IS(BufferRegion, n) || IS(Buffer, n)) return n;
  if (IS(Block, n)) return rewrite_block(m, n);
  NodeVec buffers = owned(r->plan, n);
  if (!IS(For, n) || !buffers.len) return mutate_children(m, n);
  for each (Node *, x, &buffers) map_set(&r->inside, *x, n);
  For f = *AS(For, n);
  f.body = own_block(mutate(m, f.body), buffers);
  return gc_copy(&f, sizeof f);
}

Node *pass_plan_and_update_buffer_allocation_location(Node *n, const PassContext *context) {
  (void)context;
  Plan plan = {.facts = arith_of_function(n)};
  Walker w = {.enter = plan_block, .context = &plan};
  walk(&w, AS(PrimFunc, n)->body);
  if (!plan.moved.len) return n;
  Rewrite state = {.plan = &plan};
  Mutator m = {.rewrite = rewrite, .context = &state};
  PrimFunc f = *AS(PrimFunc, n);
  f.body = mutate(&m, f.body);
  return gc_copy(&f, sizeof f);
}
