/* reindex.c -- reindex, reindex_cache_read and reindex_cache_write: a buffer whose dimensions are
 * made of the variables of the block that uses it, copied from or to the one that there was. */
#include "passes/schedule/schedule_impl.h"

typedef struct Reindex {
  ScheduleCall *call;
  BlockRef *ref;
  Block *block;
  Place place;
  Node *scope;
  bool reads;
  Node *buffer;
  NodeVec indices; /* of the buffer, in all accesses */
  NodeVec at;      /* of the new buffer, in the block's variables */
  NodeVec iters;   /* the block's IterVars that take part */
  NodeVec extents;
  Map domains; /* of their variables */
  NodeVec shape;
} Reindex;

/* ---- how the block accesses the buffer ---- */

typedef struct Accesses {
  const Node *buffer;
  NodeVec *indices; /* of the first access */
  bool differ;
} Accesses;

static WalkResult note_access(Walker *w, Node *n) {
  Accesses *a = w->context;
  NodeVec indices = {0};
  if (IS(BufferLoad, n) && AS(BufferLoad, n)->buffer == a->buffer)
    indices = AS(BufferLoad, n)->indices;
  else if (IS(BufferStore, n) && AS(BufferStore, n)->buffer == a->buffer)
    indices = AS(BufferStore, n)->indices;
  else return WALK_ON;
  if (!a->indices->len) *a->indices = indices;
  for (int i = 0; i < indices.len; i++)
    a->differ |= !node_equal(indices.at[i], a->indices->at[i], false, NULL);
  return WALK_ON;
}

static void find_indices(Reindex *r) {
  ScheduleCall *c = r->call;
  const char *name = AS(Buffer, r->buffer)->name;
  Accesses a = {.buffer = r->buffer, .indices = &r->indices};
  Walker w = {.enter = note_access, .context = &a};
  walk(&w, &r->block->node);
  if (!r->indices.len)
    schedule_fail(c, r->ref->node, "block '%s' accesses '%s' only through views", r->block->name,
                  name);
  if (a.differ)
    schedule_fail(c, r->ref->node, "block '%s' accesses more than one element of '%s'",
                  r->block->name, name);
  Map variables = variables_of(&r->place, r->block);
  for each (Node *, i, &r->indices)
    if ((*i)->dtype.lanes != 1 || !is_of_variables(*i, &variables))
      schedule_fail(c, r->ref->node, "the index %s of '%s' is not made of the variables of '%s'",
                    ir_print(*i, NULL), name, r->block->name);
}

static bool any_mentions(NodeVec exprs, const Node *var) {
  for each (Node *, e, &exprs)
    if (node_mentions(*e, var)) return true;
  return false;
}

/* The variables that tell the element of the new buffer: those of the old one must be among them.
 */
static void find_iters(Reindex *r) {
  ScheduleCall *c = r->call;
  for each (Node *, v, &r->block->iter_vars) {
    IterVar *iv = AS(IterVar, *v);
    Range *dom = AS(Range, iv->dom);
    const char *name = AS(Var, iv->var)->name;
    bool old = any_mentions(r->indices, iv->var), new = any_mentions(r->at, iv->var);
    if (expr_is_one(dom->extent)) old = false;
    if (old && !new)
      schedule_fail(c, r->ref->node, "the map leaves out '%s', of which the index of '%s' is made",
                    name, AS(Buffer, r->buffer)->name);
    if (!new) continue;
    if (!r->reads && (!old && !expr_is_one(dom->extent)))
      schedule_fail(c, r->ref->node, "'%s' does not tell the element of '%s' that is written", name,
                    AS(Buffer, r->buffer)->name);
    if (!r->reads && iv->iter_kind != ITER_SPATIAL)
      schedule_fail(c, r->ref->node, "'%s' is not data-parallel", name);
    if (!expr_is_zero(dom->min))
      schedule_fail(c, r->ref->node, "the domain of '%s' must start at 0", name);
    vec_push(&r->iters, *v);
    vec_push(&r->extents, dom->extent);
    map_set(&r->domains, iv->var, iv->dom);
  }
}

/* ---- where the copy goes ---- */

static NodeVec users_apart(const Reindex *r) {
  NodeVec realizes = child_realizes(r->scope), apart = {0};
  for each (Node *, n, &realizes) {
    Block *other = AS(Block, AS(BlockRealize, *n)->block);
    bool uses = block_writes(other, r->buffer) || (!r->reads && block_reads(other, r->buffer));
    if (other != r->block && uses) vec_push(&apart, *n);
  }
  return apart;
}

/* It writes all of the new buffer, or reads all that is copied. */
static void need_all_run(const Reindex *r) {
  if (!runs_for_all(&r->place, &r->domains))
    schedule_fail(r->call, r->ref->node,
                  "block '%s' is not known to run for all values of its variables", r->block->name);
}

/* Is a loop of the block also around another one that uses the buffer, and the copy inside? */
static bool stands_in_loop(const Reindex *r, int level) {
  NodeVec loops = loops_around(&r->place);
  for (int i = 0; i < level; i++)
    for each (Node *, l, &loops)
      if (r->place.path.at[i] == *l) return true;
  return false;
}

/* All that is copied back was written in the run of the scope, which owns the new buffer. */
static void need_written(Reindex *r) {
  need_whole_reduction(r->call, &r->place);
  need_all_written(r->call, r->ref->node, r->buffer);
}

/* ---- the copy ---- */

/* An index of the old buffer stays inside it. */
static Node *inside(ScheduleCall *c, NodeVec indices, const Buffer *b, Analyzer *facts) {
  Node *cond = NULL;
  for (int i = 0; i < indices.len; i++) {
    Node *x = indices.at[i], *zero = int_imm(x->dtype, 0, c->span);
    Node *bounds[] = {expr_binary(NK_GE, x, zero, c->span),
                      expr_binary(NK_LT, x, b->shape.at[i], c->span)};
    for (int k = 0; k < 2; k++)
      if (!arith_can_prove(facts, bounds[k])) cond = cond ? expr_and(cond, bounds[k]) : bounds[k];
  }
  return cond;
}

static bool is_used(NodeVec values, Node *predicate, const Node *var) {
  return node_mentions(predicate, var) || any_mentions(values, var);
}

/* The copy for one step of the loop that it stands in, which is also around other users: over what
 * the block uses there, as its own loops below go. */
static Node *nest_of_step(Reindex *r, Node *made, int level) {
  BlockRealize *realize = AS(BlockRealize, realize_of(&r->place));
  NodeVec values = {0};
  for each (Node *, v, &r->iters)
    for (int i = 0; i < r->block->iter_vars.len; i++)
      if (r->block->iter_vars.at[i] == *v) vec_push(&values, realize->iter_values.at[i]);
  Node *nest = MAKE(BlockRealize, r->call->span, VOID_TYPE, .iter_values = values,
                    .predicate = realize->predicate, .block = made);
  for (int i = r->place.path.len - 1; i >= level; i--) {
    Node *s = r->place.path.at[i];
    if (!IS(For, s) || !is_used(values, realize->predicate, AS(For, s)->var)) continue;
    nest = MAKE(For, r->call->span, VOID_TYPE, .min = AS(For, s)->min, .extent = AS(For, s)->extent,
                .var = AS(For, s)->var, .body = nest);
  }
  return nest;
}

/* The same with loops and variables of its own. */
static Node *fresh_nest(Node *nest, Node **made) {
  Node *copy = copy_with_fresh_vars(nest);
  NodeVec realizes = child_realizes(copy);
  *made = AS(BlockRealize, realizes.at[0])->block;
  return copy;
}

/* What lies outside of the old buffer is never used, and 0 in the new one. */
static Node *copying_nest(Reindex *r, Node *new, int level, Node **made) {
  ScheduleCall *c = r->call;
  Nest n = nest_begin(c, r->extents);
  Map vars = {0};
  Analyzer *facts = arith_of_function(r->place.prim_func);
  for (int i = 0; i < n.vars.len; i++) {
    map_set(&vars, AS(IterVar, r->iters.at[i])->var, n.vars.at[i]);
    arith_bind_range(facts, n.vars.at[i], int_imm(n.vars.at[i]->dtype, 0, c->span),
                     n.extents.at[i]);
  }
  NodeVec old_at = {0}, new_at = {0};
  for each (Node *, i, &r->indices) vec_push(&old_at, substitute(*i, &vars));
  for each (Node *, i, &r->at) vec_push(&new_at, substitute(*i, &vars));
  Node *old = r->buffer, *cond = inside(c, old_at, AS(Buffer, old), facts);
  Block b = {.name = AS(Buffer, new)->name};
  if (r->reads) {
    Node *value = expr_load(old, old_at, c->span), *zero = int_imm(INT32, 0, c->span);
    if (cond)
      value = expr_call("if_then_else", value->dtype,
                        NODES(cond, value, expr_cast(value->dtype, zero, c->span)), c->span);
    b.body = stmt_store(new, new_at, value, c->span);
  } else if (cond)
    schedule_fail(c, r->ref->node, "the index of '%s' may lie outside of it",
                  AS(Buffer, old)->name);
  else b.body = stmt_store(old, old_at, expr_load(new, new_at, c->span), c->span);
  Node *nest = nest_end(c, &n, b, NULL, made);
  return stands_in_loop(r, level) ? fresh_nest(nest_of_step(r, *made, level), made) : nest;
}

static void finish_reindex(Reindex *r, Node *new) {
  ScheduleCall *c = r->call;
  Node *made;
  find_iters(r);
  Analyzer *facts = arith_of_function(r->place.prim_func);
  IterMap map = iter_map_detect(r->at, &r->domains, NULL, facts);
  if (!map.injective)
    schedule_fail(c, r->ref->node,
                  "the map is not known to give each value of the variables an element of its own");
  if (!map.surjective)
    schedule_fail(c, r->ref->node, "the map is not known to fill the new buffer");
  if (!r->reads && !iter_is_injective(r->indices, &r->domains, facts))
    schedule_fail(c, r->ref->node, "block '%s' is not known to write each element of '%s' once",
                  r->block->name, AS(Buffer, r->buffer)->name);
  int level = level_of(&r->place, r->scope, users_apart(r));
  if (!stands_in_loop(r, level)) need_all_run(r);
  if (!r->reads) need_written(r);
  Node *nest = copying_nest(r, new, level, &made);
  Map redirected = {0};
  map_set(&redirected, r->ref->node, r->ref->node);
  Patch p = {.call = c,
             .scope = r->scope,
             .alloc = new,
             .beside = r->place.path.at[level],
             .front = r->reads ? nest : NULL,
             .behind = r->reads ? NULL : nest,
             .blocks = &redirected,
             .from = r->buffer,
             .to = new,
             .indices = &r->at};
  patch(&p, r->ref->func);
  give_block(c, r->ref->func, made);
}

static Reindex begin_reindex(ScheduleCall *c, Node *buffer, bool reads) {
  Reindex r = {.call = c, .ref = block_arg(c, 0), .reads = reads, .buffer = buffer};
  r.block = AS(Block, r.ref->node);
  r.place = place_of(c, r.ref->func, r.ref->node);
  r.scope = scope_block(&r.place);
  if (!r.scope) schedule_fail(c, r.ref->node, "the root block has no scope to put the buffer in");
  const char *why = why_not_complete(r.scope, r.ref->node);
  const char *nor = why ? why_not_reduction(r.scope, r.ref->node) : NULL;
  if (nor && !reads)
    schedule_fail(c, r.ref->node, "'%s' is no complete block (%s) and no reduction (%s)",
                  r.block->name, why, nor);
  if (reads && block_writes(r.block, buffer))
    schedule_fail(c, r.ref->node, "block '%s' also writes '%s'", r.block->name,
                  AS(Buffer, buffer)->name);
  find_indices(&r);
  return r;
}

static Node *new_buffer(const Reindex *r, const char *suffix, const char *scope, NodeVec shape) {
  const Buffer *old = AS(Buffer, r->buffer);
  return buffer_new(str_intern(str_format("%s_%s", old->name, suffix)), old->elem, shape, scope,
                    r->call->span);
}

/* ---- the primitives ---- */

/* One dimension for each variable that the index is made of. */
void primitive_reindex(ScheduleCall *c) {
  Block *b = AS(Block, block_arg(c, 0)->node);
  Node *buffer = buffer_named(c, b, 1), *side = AS(Array, c->args.at[1])->items.at[0];
  Reindex r = begin_reindex(c, buffer, str_same(AS(StringImm, side)->value, "read"));
  NodeVec shape = {0};
  for each (Node *, v, &b->iter_vars) {
    if (!any_mentions(r.indices, AS(IterVar, *v)->var)) continue;
    vec_push(&r.at, AS(IterVar, *v)->var);
    vec_push(&shape, AS(Range, AS(IterVar, *v)->dom)->extent);
  }
  finish_reindex(&r, new_buffer(&r, "reindex", buffer_scope(buffer), shape));
}

static void reindex_cache(ScheduleCall *c, bool reads) {
  Block *b = AS(Block, block_arg(c, 0)->node);
  Node *buffer =
      reads ? buffer_arg(c, b, b->reads, "reads") : buffer_arg(c, b, b->writes, "writes");
  Reindex r = begin_reindex(c, buffer, reads);
  NodeVec vars = {0}, extents = {0}, shape;
  for each (Node *, v, &b->iter_vars) {
    vec_push(&vars, AS(IterVar, *v)->var);
    vec_push(&extents, AS(Range, AS(IterVar, *v)->dom)->extent);
  }
  const IndexMap *map = index_map_arg(c, 3, vars.len, index_dtype(vars));
  if (!index_map_shape(map, extents, arith_new(), &shape))
    schedule_fail(c, r.ref->node, "the shape that the map makes is not known");
  r.at = index_map_apply(map, vars, c->span);
  const char *scope = scope_arg(c, 2);
  finish_reindex(&r, new_buffer(&r, scope, scope, shape));
}

void primitive_reindex_cache_read(ScheduleCall *c) { reindex_cache(c, true); }
void primitive_reindex_cache_write(ScheduleCall *c) { reindex_cache(c, false); }
