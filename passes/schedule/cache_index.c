/* cache_index.c -- cache_index: the indices that a block computes again and again are computed
 * before it, into buffers. */
#include "passes/schedule/schedule_impl.h"

/* An index expression, and how often it stands in the block. */
typedef struct Computed {
  Node *expr;
  int count;
  NodeVec iters; /* the block's IterVars in it */
  Node *load;    /* what stands in its place */
} Computed;

typedef struct CacheIndex {
  Mutator mutator;
  ScheduleCall *call;
  Map variables; /* that an index may be made of */
  Block *block;
  VEC(Computed) found;
} CacheIndex;

/* ---- finding ---- */

/* Worth a buffer: more than a variable or a number, and made of the block's variables alone. */
static bool is_computed(const CacheIndex *x, Node *e) {
  if (IS(Var, e) || IS(IntImm, e) || e->dtype.lanes != 1 || !dtype_is_int(e->dtype)) return false;
  if (!is_of_variables(e, &x->variables)) return false;
  for each (Node *, v, &x->block->iter_vars)
    if (node_mentions(e, AS(IterVar, *v)->var)) return true;
  return false;
}

static void note_index(CacheIndex *x, Node *e) {
  if (!is_computed(x, e)) return;
  for each (Computed, c, &x->found)
    if (node_equal(c->expr, e, false, NULL)) {
      c->count++;
      return;
    }
  Computed c = {.expr = e, .count = 1};
  for each (Node *, v, &x->block->iter_vars)
    if (node_mentions(e, AS(IterVar, *v)->var)) vec_push(&c.iters, *v);
  vec_push(&x->found, c);
}

static WalkResult note_load(Walker *w, Node *n) {
  if (IS(BufferLoad, n))
    for each (Node *, i, &AS(BufferLoad, n)->indices) note_index(w->context, *i);
  return WALK_ON;
}

/* ---- replacing ---- */

static Node *replaced(CacheIndex *x, Node *e) {
  for each (Computed, c, &x->found)
    if (c->load && node_equal(c->expr, e, false, NULL)) return c->load;
  return e;
}

static Node *replace_index(Mutator *m, Node *n) {
  CacheIndex *x = (CacheIndex *)(void *)m;
  if (IS(Buffer, n)) return n;
  Node *out = schedule_rewrite_children(x->call, m, n);
  if (!IS(BufferLoad, out)) return out;
  BufferLoad copy = *AS(BufferLoad, out);
  NodeVec indices = {0};
  for each (Node *, i, &copy.indices) vec_push(&indices, replaced(x, *i));
  copy.indices = indices;
  return gc_copy(&copy, sizeof copy);
}

/* ---- the buffers ---- */

/* index_k[v0, ...] = the expression; sets what loads it in the block. */
static Node *computing_nest(CacheIndex *x, Computed *e, int k, const char *scope, Node **buffer,
                            Node **made) {
  ScheduleCall *c = x->call;
  NodeVec extents = {0}, vars = {0};
  for each (Node *, v, &e->iters) {
    Range *dom = AS(Range, AS(IterVar, *v)->dom);
    if (!expr_is_zero(dom->min))
      schedule_fail(c, &x->block->node, "the domain of '%s' must start at 0",
                    AS(Var, AS(IterVar, *v)->var)->name);
    vec_push(&extents, dom->extent);
    vec_push(&vars, AS(IterVar, *v)->var);
  }
  const char *name = str_intern(str_format("index_%d", k));
  *buffer = buffer_new(name, e->expr->dtype, extents, scope, c->span);
  Nest n = nest_begin(c, extents);
  Map map = {0};
  for (int i = 0; i < vars.len; i++) map_set(&map, vars.at[i], n.vars.at[i]);
  Block b = {.name = name, .body = stmt_store(*buffer, n.vars, substitute(e->expr, &map), c->span)};
  e->load = expr_load(*buffer, vars, c->span);
  return nest_end(c, &n, b, NULL, made);
}

void primitive_cache_index(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Place p = place_of(c, ref->func, ref->node);
  CacheIndex x = {.mutator = {.rewrite = replace_index}, .call = c};
  x.block = AS(Block, ref->node);
  x.variables = variables_of(&p, x.block);
  if (!scope_block(&p)) schedule_fail(c, ref->node, "the root block has no scope for buffers");
  const char *scope = scope_arg(c, 1);
  int64_t least = int_arg(c, 2, "cse_thresh");
  Walker w = {.enter = note_load, .context = &x};
  walk(&w, x.block->body);
  NodeVec stmts = {0}, buffers = {0}, blocks = {0};
  for each (Computed, e, &x.found) {
    Node *buffer, *made;
    if (e->count < least) continue;
    vec_push(&stmts, computing_nest(&x, e, buffers.len, scope, &buffer, &made));
    vec_push(&buffers, buffer);
    vec_push(&blocks, made);
  }
  if (!buffers.len) return;
  Block copy = *x.block;
  copy.body = mutate(&x.mutator, copy.body);
  Node *before = ref->node, *after = gc_copy(&copy, sizeof copy), *nest = nest_of(&p);
  if (!block_access_regions(after, NULL, &AS(Block, after)->reads, &AS(Block, after)->writes))
    schedule_fail(c, before, "what block '%s' accesses is opaque", copy.name);
  vec_push(&stmts, nest);
  schedule_renew(c, before, after);
  schedule_replace(c, ref->func, before, after);
  Place now = place_of(c, ref->func, after);
  vec_last(&stmts) = nest_of(&now);
  schedule_replace(c, ref->func, nest_of(&now), stmt_seq(stmts, c->span));
  own_buffers(c, ref->func, after, buffers);
  for each (Node *, b, &blocks) give_block(c, ref->func, *b);
}
