/* cache.c -- cache_read, cache_write and cache_inplace: a copy of what a block reads or writes in a
 * buffer of its own, which may lie in another scope of memory; read_at and write_at place it too.
 */
#include "passes/schedule/schedule_impl.h"

/* ---- buffers ---- */

static Node *cache_buffer(ScheduleCall *c, const Node *of, const char *scope) {
  const Buffer *b = (const Buffer *)(const void *)of;
  return buffer_new(str_intern(str_format("%s_%s", b->name, scope)), b->elem, b->shape, scope,
                    c->span);
}

/* ---- regions ---- */

/* Adds the regions of a buffer that a block reads, or writes, below a level of its place. */
static void touch_below(Touched *t, const Place *p, int level, NodeVec regions, Analyzer *facts) {
  NodeVec loops = {0};
  for (int i = level; i < p->path.len; i++)
    if (IS(For, p->path.at[i])) vec_push(&loops, p->path.at[i]);
  for each (Node *, r, &regions)
    if (AS(BufferRegion, *r)->buffer == t->buffer)
      touch(t, AS(BlockRealize, realize_of(p)), *r, loops, facts);
}

/* ---- the copying block ---- */

/* The predicate, and that a value of the range is neither before `first` nor behind `last` (NULL:
 * anything), unless that is known. */
static Node *between(Node *predicate, Node *value, const Range *r, Node *first, Node *last,
                     Analyzer *facts) {
  if (first && !arith_can_prove(facts, expr_binary(NK_GE, r->min, first, value->span)))
    predicate = expr_and(predicate, expr_binary(NK_GE, value, first, value->span));
  if (!last) return predicate;
  Node *one = int_imm(last->dtype, 1, value->span);
  Node *past = arith_simplify(facts, expr_add(last, one)), *end = expr_add(r->min, r->extent);
  return arith_can_prove(facts, expr_binary(NK_LE, end, past, value->span))
             ? predicate
             : expr_and(predicate, expr_binary(NK_LT, value, past, value->span));
}

/* for ax0, ax1: a block `name` that copies to[v0, v1] = from[v0, v1] over what is touched, as far
 * as it lies in the buffer and the predicate holds. */
static Node *copy_nest(ScheduleCall *c, const char *name, Node *from, Node *to,
                       const Touched *touched, Analyzer *facts, Node *predicate, Node **block) {
  NodeVec iters = {0}, values = {0}, at = {0}, reads = {0}, loops = {0};
  NodeVec region = touched_ranges(touched, facts);
  for (int i = 0; i < region.len; i++) {
    Range *r = AS(Range, region.at[i]);
    Node *size = AS(Buffer, from)->shape.at[i];
    Node *ax = var_new(str_format("ax%d", i), r->extent->dtype, c->span);
    Node *v = var_new(str_format("v%d", i), size->dtype, c->span);
    Node *dom =
        MAKE(Range, c->span, VOID_TYPE, .min = int_imm(size->dtype, 0, c->span), .extent = size);
    vec_push(&iters,
             MAKE(IterVar, c->span, VOID_TYPE, .dom = dom, .var = v, .iter_kind = ITER_SPATIAL));
    Node *value = expr_add(r->min, ax);
    vec_push(&values, value);
    Node *one = int_imm(size->dtype, 1, c->span), *zero = int_imm(size->dtype, 0, c->span);
    predicate = between(predicate, value, r, touched->first.at[i], touched->last.at[i], facts);
    predicate = between(predicate, value, r, zero, expr_sub(size, one), facts);
    vec_push(&at, v);
    vec_push(&reads,
             MAKE(Range, c->span, VOID_TYPE, .min = v, .extent = int_imm(size->dtype, 1, c->span)));
    vec_push(&loops, ax);
  }
  Node *body = stmt_store(to, at, expr_load(from, at, c->span), c->span);
  *block =
      MAKE(Block, c->span, VOID_TYPE, .name = name, .iter_vars = iters,
           .reads = NODES(MAKE(BufferRegion, c->span, VOID_TYPE, .buffer = from, .region = reads)),
           .writes = NODES(MAKE(BufferRegion, c->span, VOID_TYPE, .buffer = to, .region = reads)),
           .body = body);
  Node *nest = MAKE(BlockRealize, c->span, VOID_TYPE, .iter_values = values, .predicate = predicate,
                    .block = *block);
  for (int i = loops.len - 1; i >= 0; i--)
    nest = MAKE(For, c->span, VOID_TYPE, .min = int_imm(loops.at[i]->dtype, 0, c->span),
                .extent = AS(Range, region.at[i])->extent, .var = loops.at[i], .body = nest);
  return nest;
}

/* ---- where it goes ---- */

/* The statement of a place that is an element of the innermost sequence which `other` (a statement,
 * or NULL) is no part of the same element of; of the scope's body if there is none. And the loops
 * of the place below it. */
int level_of(const Place *p, Node *scope, NodeVec apart) {
  int level = 0;
  for (int i = 0; i < p->path.len; i++)
    if (p->path.at[i] == scope) level = i + 1;
  for (int i = level; i < p->path.len - 1; i++) {
    bool shared = false;
    for each (Node *, o, &apart) shared |= node_mentions(p->path.at[i], *o);
    if (!shared) return IS(SeqStmt, p->path.at[i]) ? i + 1 : i;
    level = i + 1;
  }
  return level;
}

Place place_prefix(const Place *p, int n) {
  Place q = {.func = p->func, .prim_func = p->prim_func};
  for (int i = 0; i < n; i++) vec_push(&q.path, p->path.at[i]);
  return q;
}

/* The blocks that read what `block` does: no writer stands between them. */
static NodeVec readers_beside(Node *scope, const Node *block, Node *buffer) {
  NodeVec realizes = child_realizes(scope), out = {0};
  bool found = false;
  for each (Node *, r, &realizes) {
    Block *b = AS(Block, AS(BlockRealize, *r)->block);
    if (block_writes(b, buffer) && found) break;
    if (block_writes(b, buffer)) out = (NodeVec){0};
    else if (block_reads(b, buffer)) vec_push(&out, &b->node);
    found |= &b->node == block;
  }
  return out;
}

/* In their order in the program: the copy stands before the first. */
static NodeVec chosen_consumers(ScheduleCall *c, Node *scope, const Node *of, Node *buffer) {
  NodeVec out = readers_beside(scope, of, buffer);
  Node *given = c->args.at[3];
  if (!given) return out;
  NodeVec named = IS(Array, given) ? AS(Array, given)->items : NODES(given), some = {0};
  Map chosen = {0};
  for each (Node *, g, &named) {
    ScheduleCall one = *c;
    one.args = NODES(*g);
    Node *block = block_arg(&one, 0)->node;
    bool reads = false;
    for each (Node *, o, &out) reads |= *o == block;
    if (!reads)
      schedule_fail(c, block, "block '%s' does not read what block '%s' reads of '%s'",
                    AS(Block, block)->name, AS(Block, (Node *)(uintptr_t)of)->name,
                    AS(Buffer, buffer)->name);
    map_set(&chosen, block, block);
  }
  for each (Node *, o, &out)
    if (map_has(&chosen, *o)) vec_push(&some, *o);
  return some;
}

typedef struct Cache {
  BlockRef *ref;
  Place place;   /* of the block */
  Node *scope;   /* the block that will own the cache */
  Node *buffer;  /* what is cached */
  Node *to;      /* the cache */
  NodeVec apart; /* BlockRealize statements that the copy must not stand in one element with */
} Cache;

static Cache begin_cache(ScheduleCall *c, bool reads) {
  Cache k = {.ref = block_arg(c, 0)};
  Block *b = AS(Block, k.ref->node);
  k.buffer = reads ? buffer_arg(c, b, b->reads, "reads") : buffer_arg(c, b, b->writes, "writes");
  k.place = place_of(c, k.ref->func, k.ref->node);
  k.scope = scope_block(&k.place);
  if (!k.scope) schedule_fail(c, k.ref->node, "the root block has no scope to put the cache in");
  k.to = cache_buffer(c, k.buffer, scope_arg(c, 2));
  return k;
}

/* Of a user's condition what is known at a level of its place: where it does not hold, nothing is
 * copied. */
static Node *condition_at(const Place *user, int level) {
  Node *out = int_imm(BOOL, 1, (Span){0});
  NodeVec all = conjuncts(AS(BlockRealize, realize_of(user))->predicate);
  for each (Node *, x, &all) {
    bool inside = false;
    for (int i = level; i < user->path.len; i++)
      inside |= IS(For, user->path.at[i]) && node_mentions(*x, AS(For, user->path.at[i])->var);
    if (!inside) out = expr_is_one(out) ? *x : expr_and(out, *x);
  }
  return out;
}

/* All of the buffer is only there once the loops of its writers are done. */
static void need_known_region(ScheduleCall *c, const Cache *k, const Place *p, int level,
                              const Touched *t) {
  bool known = true;
  for each (Node *, lo, &t->lo) known &= *lo != NULL;
  for (int i = 0; i < level && !known; i++) {
    if (!IS(For, p->path.at[i])) continue;
    NodeVec below = child_realizes(p->path.at[i]);
    for each (Node *, r, &below)
      if (block_writes(AS(Block, AS(BlockRealize, *r)->block), k->buffer))
        schedule_fail(c, k->ref->node,
                      "what is used of '%s' in a step of the loop '%s', which writes it, is not "
                      "understood",
                      AS(Buffer, k->buffer)->name, AS(Var, AS(For, p->path.at[i])->var)->name);
  }
}

/* Puts the nest that copies `region` beside the statement of `p` at `level`. */
static void finish_cache(ScheduleCall *c, const Cache *k, const Place *p, int level,
                         const Touched *touched, NodeVec blocks, bool after, Analyzer *facts) {
  Node *from = after ? k->to : k->buffer, *to = after ? k->buffer : k->to, *copy;
  Place user = place_of(c, k->ref->func, blocks.at[0]);
  Node *cond = blocks.len == 1 ? condition_at(&user, level) : int_imm(BOOL, 1, c->span);
  Node *nest = copy_nest(c, AS(Buffer, k->to)->name, from, to, touched, facts, cond, &copy);
  Map redirected = {0};
  for each (Node *, b, &blocks) map_set(&redirected, *b, *b);
  Patch patching = {.call = c,
                    .scope = k->scope,
                    .alloc = k->to,
                    .beside = p->path.at[level],
                    .front = after ? NULL : nest,
                    .behind = after ? nest : NULL,
                    .blocks = &redirected,
                    .from = k->buffer,
                    .to = k->to};
  patch(&patching, k->ref->func);
  give_block(c, k->ref->func, copy);
}

/* The loop around the copy that writes the buffer, and that one of the users stands behind; NULL:
 * none. */
static Node *loop_before_user(const Cache *k, const Place *p, int level, NodeVec users,
                              Node **user) {
  for (int i = 0; i < level; i++) {
    Node *loop = p->path.at[i];
    bool writes = false;
    for each (Node *, r, &k->apart) writes |= IS(For, loop) && node_mentions(loop, *r);
    for each (Node *, u, &users)
      if (writes && !node_mentions(loop, *u)) {
        *user = *u;
        return loop;
      }
  }
  return NULL;
}

/* What readers behind the loop need is copied in the loop too: each step copies all that it has
 * written. */
static void touch_written(ScheduleCall *c, const Cache *k, const Place *p, int level, Touched *t,
                          Node *user, Analyzer *facts) {
  for each (Node *, w, &k->apart) {
    Node *block = AS(BlockRealize, *w)->block;
    if (!node_mentions(p->path.at[level - 1], *w))
      schedule_fail(c, user,
                    "block '%s' reads '%s' behind the loop in which it would be copied, but block "
                    "'%s' writes it outside of that loop",
                    AS(Block, user)->name, AS(Buffer, k->buffer)->name, AS(Block, block)->name);
    need_all_written(c, block, k->buffer);
    Place writer = place_of(c, k->ref->func, block);
    touch_below(t, &writer, level, AS(Block, block)->writes, facts);
  }
  if (!t->exact)
    schedule_fail(c, user,
                  "block '%s' reads '%s' behind a loop of whose steps it is not known which region "
                  "they write as a whole",
                  AS(Block, user)->name, AS(Buffer, k->buffer)->name);
}

void primitive_cache_read(ScheduleCall *c) {
  Cache k = begin_cache(c, true);
  Block *b = AS(Block, k.ref->node);
  if (block_writes(b, k.buffer))
    schedule_fail(c, k.ref->node, "block '%s' also writes '%s'", b->name,
                  AS(Buffer, k.buffer)->name);
  NodeVec users = chosen_consumers(c, k.scope, k.ref->node, k.buffer),
          realizes = child_realizes(k.scope);
  if (!users.len) schedule_fail(c, k.ref->node, "no block is given that shall read the cache");
  for each (Node *, r, &realizes)
    if (block_writes(AS(Block, AS(BlockRealize, *r)->block), k.buffer)) vec_push(&k.apart, *r);
  Place first = place_of(c, k.ref->func, users.at[0]);
  int level = level_of(&first, k.scope, k.apart);
  Place outer = place_prefix(&first, level + 1);
  Analyzer *facts = facts_at(&outer);
  Touched touched = {.buffer = k.buffer};
  Node *behind, *loop = loop_before_user(&k, &first, level, users, &behind);
  if (loop) touch_written(c, &k, &first, level, &touched, behind, facts);
  for each (Node *, u, &users) {
    if (loop) break;
    Place user = place_of(c, k.ref->func, *u);
    int shared = 0; /* statements around both it and the copy */
    while (shared < level && user.path.at[shared] == first.path.at[shared]) shared++;
    touch_below(&touched, &user, shared, AS(Block, *u)->reads, facts);
  }
  need_known_region(c, &k, &first, level, &touched);
  finish_cache(c, &k, &first, level, &touched, users, false, facts);
}

/* Is the buffer the scope's own, and copied back when all steps of its writer, which leave out
 * nothing, are done? Then what lies between the elements is nobody's. */
static bool is_copied_at_once(const Cache *k, int level, Analyzer *facts) {
  const BlockRealize *r = AS(BlockRealize, realize_of(&k->place));
  bool own = false;
  if (!is_domain_bound(r, r->predicate, facts)) return false;
  for each (Node *, a, &AS(Block, k->scope)->alloc_buffers) own |= *a == k->buffer;
  for (int i = level - 1; own && k->place.path.at[i] != k->scope; i--)
    own = !IS(For, k->place.path.at[i]);
  return own;
}

void primitive_cache_write(ScheduleCall *c) {
  Cache k = begin_cache(c, false);
  Block *b = AS(Block, k.ref->node);
  if (!b->init && block_reads(b, k.buffer) &&
      !writes_before_reading(b->body, k.buffer, facts_at(&k.place)))
    schedule_fail(c, k.ref->node, "block '%s' goes on with what is in '%s': use cache_inplace",
                  b->name, AS(Buffer, k.buffer)->name);
  need_whole_reduction(c, &k.place);
  NodeVec realizes = child_realizes(k.scope);
  for each (Node *, r, &realizes) {
    Block *other = AS(Block, AS(BlockRealize, *r)->block);
    if (other == b) continue;
    if (block_writes(other, k.buffer))
      schedule_fail(c, &other->node, "block '%s' writes '%s' too", other->name,
                    AS(Buffer, k.buffer)->name);
    if (block_reads(other, k.buffer)) vec_push(&k.apart, *r);
  }
  int level = level_of(&k.place, k.scope, k.apart);
  Place outer = place_prefix(&k.place, level + 1);
  Analyzer *facts = facts_at(&outer);
  Touched touched = {.buffer = k.buffer};
  touch_below(&touched, &k.place, level, b->writes, facts);
  if (!touched.exact && !is_copied_at_once(&k, level, facts))
    schedule_fail(c, k.ref->node, "block '%s' is not known to write all of a region of '%s' here",
                  b->name, AS(Buffer, k.buffer)->name);
  need_all_written(c, k.ref->node, k.buffer);
  finish_cache(c, &k, &k.place, level, &touched, NODES(k.ref->node), true, facts);
}

/* The cache is filled before the block and copied back behind it. */
void primitive_cache_inplace(ScheduleCall *c) {
  Cache k = begin_cache(c, true);
  Block *b = AS(Block, k.ref->node);
  if (!block_writes(b, k.buffer))
    schedule_fail(c, k.ref->node, "block '%s' does not write '%s'", b->name,
                  AS(Buffer, k.buffer)->name);
  if (writes_before_reading(b->body, k.buffer, facts_at(&k.place)))
    schedule_fail(c, k.ref->node,
                  "block '%s' writes '%s' before it reads it, and there is nothing to begin with: "
                  "use cache_write",
                  b->name, AS(Buffer, k.buffer)->name);
  NodeVec realizes = child_realizes(k.scope);
  for each (Node *, r, &realizes) {
    Block *other = AS(Block, AS(BlockRealize, *r)->block);
    bool uses = block_writes(other, k.buffer) || block_reads(other, k.buffer);
    if (other != b && uses) vec_push(&k.apart, *r);
  }
  int level = level_of(&k.place, k.scope, k.apart);
  Place outer = place_prefix(&k.place, level + 1);
  Analyzer *facts = facts_at(&outer);
  Touched touched = {.buffer = k.buffer};
  touch_below(&touched, &k.place, level, b->reads, facts);
  touch_below(&touched, &k.place, level, b->writes, facts);
  need_known_region(c, &k, &k.place, level, &touched);
  bool is_partial = true;
  for each (Node *, lo, &touched.lo) is_partial &= *lo != NULL;
  if (is_partial && !touched.exact)
    schedule_fail(c, k.ref->node, "block '%s' is not known to use all of a region of '%s' here",
                  b->name, AS(Buffer, k.buffer)->name);
  const char *name = AS(Buffer, k.to)->name;
  Node *in, *out, *cond = condition_at(&k.place, level);
  Node *front = copy_nest(c, name, k.buffer, k.to, &touched, facts, cond, &in);
  Node *behind = copy_nest(c, name, k.to, k.buffer, &touched, facts, cond, &out);
  Map redirected = {0};
  map_set(&redirected, k.ref->node, k.ref->node);
  Patch patching = {.call = c,
                    .scope = k.scope,
                    .alloc = k.to,
                    .beside = k.place.path.at[level],
                    .front = front,
                    .behind = behind,
                    .blocks = &redirected,
                    .from = k.buffer,
                    .to = k.to};
  AS(Block, out)->name = str_intern(str_format("%s_back", name));
  patch(&patching, k.ref->func);
  give_block(c, k.ref->func, in);
  give_block(c, k.ref->func, out);
}

/* ---- caches at a loop ---- */

/* The arguments (loop, block, index, scope) as two steps: a cache of the block, moved there. */
static void cache_at(ScheduleCall *c, void (*cache)(ScheduleCall *), void (*move)(ScheduleCall *),
                     bool names_consumer) {
  Node *loop = c->args.at[0], *block = c->args.at[1], *no = int_imm(BOOL, 0, c->span);
  NodeVec given = c->args;
  c->args = NODES(block, given.at[2], given.at[3], names_consumer ? block : NULL);
  cache(c);
  Node *made = vec_last(&c->results);
  c->args = NODES(made, loop, no, int_imm(INT32, -1, c->span));
  move(c);
  c->args = given;
}

void primitive_read_at(ScheduleCall *c) {
  cache_at(c, primitive_cache_read, primitive_compute_at, true);
}
void primitive_write_at(ScheduleCall *c) {
  cache_at(c, primitive_cache_write, primitive_reverse_compute_at, false);
}
