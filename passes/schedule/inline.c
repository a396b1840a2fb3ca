/* inline.c -- compute_inline and reverse_compute_inline: an elementwise block becomes part of those
 * around it. */
#include "ir/arith/iter_map.h"
#include "passes/schedule/schedule_impl.h"

/* ---- taking a block out ---- */

/* The outermost statement that holds nothing but the last of the place: what goes with it. */
Node *removed_with(const Place *p) {
  Node *gone = vec_last(&p->path);
  for (int i = p->path.len - 2; i >= 0; i--) {
    Node *s = p->path.at[i];
    if (!IS(BlockRealize, s) && !IS(For, s)) break;
    gone = s;
  }
  return gone;
}

typedef struct Takeout {
  Mutator mutator;
  ScheduleCall *call;
  Node *gone, *scope; /* a statement, and the block that owned `buffer` */
  Node *buffer;       /* NULL: none */
} Takeout;

static NodeVec regions_without(NodeVec regions, const Node *buffer) {
  NodeVec kept = {0};
  for each (Node *, r, &regions)
    if (AS(BufferRegion, *r)->buffer != buffer) vec_push(&kept, *r);
  return kept;
}

static Node *take_out_node(Mutator *m, Node *n) {
  Takeout *t = (Takeout *)(void *)m;
  if (n == t->gone) return NULL;
  if (node_family(n->kind) != FAMILY_STMT) return n;
  Node *out = schedule_rewrite_children(t->call, m, n);
  if (!IS(Block, out) || !t->buffer) return out;
  Block copy = *AS(Block, out);
  NodeVec kept = {0};
  for each (Node *, b, &copy.alloc_buffers)
    if (*b != t->buffer) vec_push(&kept, *b);
  bool owns = kept.len != copy.alloc_buffers.len;
  if (!owns && !block_reads(&copy, t->buffer) && !block_writes(&copy, t->buffer)) return out;
  copy.alloc_buffers = kept;
  copy.reads = regions_without(copy.reads, t->buffer);
  copy.writes = regions_without(copy.writes, t->buffer);
  Node *smaller = gc_copy(&copy, sizeof copy);
  schedule_renew(t->call, out, smaller);
  return smaller;
}

void take_out(ScheduleCall *c, const Place *p, Node *buffer) {
  Takeout t = {
      .mutator = {.rewrite = take_out_node}, .call = c, .gone = removed_with(p), .buffer = buffer};
  PrimFunc f = *AS(PrimFunc, prim_func_of(c, p->func));
  f.body = mutate(&t.mutator, f.body);
  schedule_set_function(c, p->func, gc_copy(&f, sizeof f));
}

/* ---- elementwise blocks ---- */

typedef struct Elementwise {
  Block *block;
  BufferStore *store;
  Node *buffer;    /* that it writes */
  Node *prim_func; /* that it stands in */
} Elementwise;

/* One store and nothing else, whatever condition it runs under. */
static Elementwise need_one_store(ScheduleCall *c, const Place *p) {
  Block *b = AS(Block, vec_last(&p->path));
  if (b->init || b->match_buffers.len || b->alloc_buffers.len || !IS(BufferStore, b->body))
    schedule_fail(c, &b->node, "the body of block '%s' must be one store", b->name);
  BufferStore *store = AS(BufferStore, b->body);
  if (store->predicate) schedule_fail(c, &b->node, "the store of '%s' is predicated", b->name);
  return (Elementwise){b, store, store->buffer, p->prim_func};
}

/* The block of a place, which is complete and one store. */
static Elementwise need_elementwise(ScheduleCall *c, Node *scope, const Place *p) {
  Node *block = vec_last(&p->path);
  const char *why = why_not_complete(scope, block);
  if (why) schedule_fail(c, block, "'%s' is no complete block: %s", AS(Block, block)->name, why);
  return need_one_store(c, p);
}

/* Indices that are the block's variables, each once, or 0 in a dim of extent 1; the positions of
 * variables in *map (Var to index + 1). */
static void need_permutation(ScheduleCall *c, const Block *b, NodeVec indices, Map *map,
                             const Buffer *buffer) {
  for (int i = 0; i < indices.len; i++) {
    Node *v = indices.at[i];
    bool own = false;
    if (expr_is_zero(v) && expr_is_one(buffer->shape.at[i])) continue;
    for each (Node *, iv, &b->iter_vars) own |= AS(IterVar, *iv)->var == v;
    if (!own || map_has(map, v))
      schedule_fail(
          c, (Node *)(uintptr_t)&b->node,
          "block '%s' must access '%s' by its own variables, each once, but index %d is %s",
          b->name, buffer->name, i, ir_print(v, NULL));
    map_set(map, v, (void *)(intptr_t)(i + 1));
  }
}

/* A block with another body: its regions follow from it. */
static Node *with_body(ScheduleCall *c, Block *b, Node *body) {
  Block copy = *b;
  copy.body = body;
  Node *out = gc_copy(&copy, sizeof copy);
  NodeVec reads, writes;
  if (!block_access_regions(out, NULL, &reads, &writes))
    schedule_fail(c, &b->node, "what block '%s' accesses is opaque", b->name);
  AS(Block, out)->reads = reads;
  AS(Block, out)->writes = writes;
  schedule_renew(c, &b->node, out);
  return out;
}

/* ---- compute_inline ---- */

typedef struct Inline {
  Mutator mutator;
  ScheduleCall *call;
  Elementwise what;
  NodeVec order; /* the variable of each index of the buffer */
} Inline;

/* The value for an element: variables that tell none of it take one step only. */
static Node *inlined_load(Inline *in, Mutator *m, BufferLoad *load) {
  Map map = {0};
  for each (Node *, v, &in->what.block->iter_vars)
    map_set(&map, AS(IterVar, *v)->var, AS(Range, AS(IterVar, *v)->dom)->min);
  for (int i = 0; i < load->indices.len; i++)
    if (IS(Var, in->order.at[i])) map_set(&map, in->order.at[i], mutate(m, load->indices.at[i]));
  return substitute(in->what.store->value, &map);
}

static Node *inline_node(Mutator *m, Node *n) {
  Inline *in = (Inline *)(void *)m;
  if (n == &in->what.block->node) return n;
  if (IS(BufferLoad, n) && AS(BufferLoad, n)->buffer == in->what.buffer)
    return inlined_load(in, m, AS(BufferLoad, n));
  if (!IS(Block, n)) return mutate_children(m, n);
  Block *b = AS(Block, n);
  if (!block_reads(b, in->what.buffer)) return schedule_rewrite_children(in->call, m, n);
  Block parts = *b;
  parts.init = mutate(m, b->init);
  return with_body(in->call, (Block *)gc_copy(&parts, sizeof parts), mutate(m, b->body));
}

/* Blocks that are rewritten are renewed under the block that they were. */
static Node *inline_block(Mutator *m, Node *n) {
  Node *out = inline_node(m, n);
  if (IS(Block, n) && out != n) schedule_renew(((Inline *)(void *)m)->call, n, out);
  return out;
}

/* The elementwise block of argument 0 in its scope. */
static Elementwise begin_inline(ScheduleCall *c, BlockRef *ref, Place *p, Node **scope) {
  *p = place_of(c, ref->func, ref->node);
  *scope = scope_block(p);
  if (!*scope) schedule_fail(c, ref->node, "the root block can't be inlined");
  if (!expr_is_one(AS(BlockRealize, realize_of(p))->predicate))
    schedule_fail(c, ref->node, "the block '%s' runs under a condition",
                  AS(Block, ref->node)->name);
  return need_elementwise(c, *scope, p);
}

typedef struct Overwrite {
  Block *producer;
  bool after;   /* the producer has been met */
  Node *writer; /* the first block after it that writes what it reads */
  bool found;   /* ... and no later than a block that reads what it writes */
} Overwrite;

static WalkResult find_overwrite(Walker *w, Node *n) {
  Overwrite *o = w->context;
  if (n == &o->producer->node) o->after = true;
  if (!IS(Block, n) || !o->after || n == &o->producer->node)
    return node_is_expr(n) ? WALK_PRUNE : WALK_ON;
  for each (Node *, r, &o->producer->reads)
    if (!o->writer && block_writes(AS(Block, n), AS(BufferRegion, *r)->buffer)) o->writer = n;
  for each (Node *, r, &o->producer->writes)
    o->found |= o->writer && block_reads(AS(Block, n), AS(BufferRegion, *r)->buffer);
  return o->found ? WALK_STOP : WALK_ON;
}

/* Consumers that compute the value themselves find what the producer found. */
static void need_same_operands(ScheduleCall *c, const Place *p, Node *scope) {
  Block *producer = AS(Block, vec_last(&p->path));
  Overwrite o = {.producer = producer};
  Walker w = {.enter = find_overwrite, .context = &o};
  walk(&w, AS(Block, scope)->body);
  if (o.found)
    schedule_fail(c, &producer->node, "block '%s' overwrites what block '%s' reads",
                  AS(Block, o.writer)->name, producer->name);
  NodeVec consumers = consumers_of(scope, &producer->node);
  for each (Node *, consumer, &consumers) need_lasting_producers(c, p, *consumer);
}

void primitive_compute_inline(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Place p;
  Node *scope;
  Elementwise e = begin_inline(c, ref, &p, &scope);
  need_local_buffer(c, &p, e.buffer);
  need_direct_accesses(c, p.func, e.buffer, ref->node);
  Map positions = {0};
  need_permutation(c, e.block, e.store->indices, &positions, AS(Buffer, e.buffer));
  need_same_operands(c, &p, scope);
  Inline in = {
      .mutator = {.rewrite = inline_block}, .call = c, .what = e, .order = e.store->indices};
  PrimFunc f = *AS(PrimFunc, prim_func_of(c, ref->func));
  f.body = mutate(&in.mutator, f.body);
  schedule_set_function(c, ref->func, gc_copy(&f, sizeof f));
  Place now = place_of(c, ref->func, ref->node);
  take_out(c, &now, e.buffer);
  schedule_renew(c, ref->node, NULL);
}

/* ---- reverse_compute_inline ---- */

static Node *replace_load(Mutator *m, Node *n) {
  Inline *in = (Inline *)(void *)m;
  if (IS(BufferLoad, n) && AS(BufferLoad, n)->buffer == in->what.buffer)
    return in->what.store->value;
  return mutate_children(m, n);
}

typedef struct Loads {
  const Node *buffer;
  NodeVec found;
} Loads;
static WalkResult note_load(Walker *w, Node *n) {
  Loads *l = w->context;
  if (IS(BufferLoad, n) && AS(BufferLoad, n)->buffer == l->buffer) vec_push(&l->found, n);
  return WALK_ON;
}

/* Every load of the buffer has the same indices. */
static void need_one_load(ScheduleCall *c, const Block *b, const Node *buffer, NodeVec *indices) {
  Loads l = {buffer, {0}};
  Walker w = {.enter = note_load, .context = &l, .once = true};
  walk(&w, b->body);
  REQUIRE(l.found.len, "the consumer reads the buffer");
  for each (Node *, n, &l.found)
    if (!node_equal(*n, l.found.at[0], false, NULL))
      schedule_fail(c, (Node *)(uintptr_t)&b->node,
                    "block '%s' reads more than one element of '%s'", b->name,
                    AS(Buffer, buffer)->name);
  *indices = AS(BufferLoad, l.found.at[0])->indices;
}

static Map domains_of(const Block *b, Analyzer *facts) {
  Map domains = {0};
  for each (Node *, v, &b->iter_vars) {
    Range *dom = AS(Range, AS(IterVar, *v)->dom);
    map_set(&domains, AS(IterVar, *v)->var, dom);
    arith_bind_range(facts, AS(IterVar, *v)->var, dom->min, dom->extent);
  }
  return domains;
}

/* What the consumer's variables are in the step of the producer that writes the element which they
 * read: the inverse of `read`, an iteration map, of the indices of that element. Variables that are
 * in no index take one step only. */
static Map variables_of_producer(ScheduleCall *c, const Elementwise *producer,
                                 const Elementwise *consumer, NodeVec read, IterMap *map) {
  Block *b = consumer->block;
  Analyzer *facts = arith_of_function(producer->prim_func);
  Map domains = domains_of(b, facts), vars = {0};
  *map = iter_map_detect(read, &domains, NULL, facts);
  if (!iter_map_inverse(map, producer->store->indices, &vars)) {
    Str indices = {0};
    for each (Node *, i, &read)
      str_printf(&indices, "%s%s", indices.len ? ", " : "", ir_print(*i, NULL));
    schedule_fail(
        c, &b->node,
        "block '%s' must read '%s' by all of its own variables, so that the element tells "
        "the step, but it reads [%s]",
        b->name, AS(Buffer, producer->buffer)->name, str_text(&indices));
  }
  for each (Node *, v, &b->iter_vars) {
    Range *dom = AS(Range, AS(IterVar, *v)->dom);
    if (!map_has(&vars, AS(IterVar, *v)->var)) map_set(&vars, AS(IterVar, *v)->var, dom->min);
  }
  return vars;
}

static Node *both(Node *a, Node *b) { return a ? expr_and(a, b) : b; }

/* Each element that the consumer reads is one that the producer writes. Where the producer writes
 * others too, the condition under which its element is read; NULL: all are. */
static Node *need_all_produced(ScheduleCall *c, const Elementwise *producer,
                               const Elementwise *consumer, const IterMap *read) {
  Analyzer *facts = arith_of_function(producer->prim_func);
  Map domains = domains_of(producer->block, facts);
  NodeVec written = producer->store->indices;
  IterMap write = iter_map_detect(written, &domains, NULL, facts);
  Node *condition = NULL;
  for (int i = 0; i < written.len; i++) {
    Node *at = written.at[i], *lo, *extent, *least, *count;
    bool known = write.surjective && iter_sum_range(write.sums.at[i], at->dtype, &lo, &extent) &&
                 iter_sum_range(read->sums.at[i], at->dtype, &least, &count);
    Node *end = known ? expr_add(least, count) : NULL;
    if (!known || !arith_can_prove(facts, expr_binary(NK_LE, lo, least, at->span)) ||
        !arith_can_prove(facts, expr_binary(NK_GE, expr_add(lo, extent), end, at->span)))
      schedule_fail(c, &consumer->block->node,
                    "block '%s' is not known to write dimension %d of '%s' for all steps of block "
                    "'%s'",
                    producer->block->name, i, AS(Buffer, producer->buffer)->name,
                    consumer->block->name);
    Node *after = expr_binary(NK_LE, least, at, at->span),
         *before = expr_binary(NK_LT, at, end, at->span);
    if (!arith_can_prove(facts, after)) condition = both(condition, after);
    if (!arith_can_prove(facts, before)) condition = both(condition, before);
  }
  return condition;
}

/* What must hold for the producer's step, which then does the consumer's too: that its element is
 * one that is read (`read`, in its variables; NULL: all are), and its own condition. That must
 * follow from the first, or leave out no value of its variables. */
static Node *condition_of_both(ScheduleCall *c, const Place *producer, Node *read,
                               const Block *consumer) {
  BlockRealize *r = AS(BlockRealize, realize_of(producer));
  Block *b = AS(Block, r->block);
  Map values = {0};
  for (int i = 0; i < r->iter_values.len; i++)
    map_set(&values, AS(IterVar, b->iter_vars.at[i])->var, r->iter_values.at[i]);
  bool runs = runs_for_all(producer, &values);
  Node *all = read ? substitute(read, &values) : int_imm(BOOL, 1, c->span);
  Place around = place_prefix(producer, producer->path.len - 2);
  Analyzer *facts = facts_at(&around);
  NodeVec own = conjuncts(r->predicate);
  for each (Node *, x, &own) {
    int mark = arith_enter(facts, all);
    bool follows = arith_can_prove(facts, *x);
    arith_leave(facts, mark);
    if (!follows && !runs)
      schedule_fail(c, &b->node,
                    "the producer '%s' runs under the condition %s, which does not follow from "
                    "what '%s' reads of it",
                    b->name, ir_print(*x, NULL), consumer->name);
    if (!follows) all = expr_is_one(all) ? *x : expr_and(*x, all);
  }
  return all;
}

/* The realize of the producer with another block, under a condition. */
static Node *realize_under(Node *realize, Node *block, Node *condition) {
  BlockRealize copy = *AS(BlockRealize, realize);
  copy.block = block;
  copy.predicate = condition;
  return gc_copy(&copy, sizeof copy);
}

void primitive_reverse_compute_inline(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Place p;
  Node *scope;
  Elementwise consumer = begin_inline(c, ref, &p, &scope);
  NodeVec producers = producers_of(scope, ref->node);
  if (producers.len != 1)
    schedule_fail(c, ref->node, "block '%s' must have one producer, but has %d",
                  consumer.block->name, producers.len);
  Place from = place_of(c, ref->func, producers.at[0]);
  Elementwise producer = need_elementwise(c, scope, &from);
  if (consumers_of(scope, producers.at[0]).len != 1)
    schedule_fail(c, producers.at[0], "the producer '%s' has other consumers",
                  producer.block->name);
  need_local_buffer(c, &from, producer.buffer);
  need_direct_accesses(c, from.func, producer.buffer, ref->node);
  NodeVec indices;
  need_one_load(c, consumer.block, producer.buffer, &indices);
  IterMap read;
  Map vars = variables_of_producer(c, &producer, &consumer, indices, &read);
  Node *condition = need_all_produced(c, &producer, &consumer, &read);
  condition = condition_of_both(c, &from, condition, consumer.block);
  Inline in = {.mutator = {.rewrite = replace_load}, .call = c, .what = producer};
  Node *body = mutate(&in.mutator, substitute(consumer.block->body, &vars));
  Node *merged = with_body(c, producer.block, body), *realize = realize_of(&from);
  schedule_replace(c, ref->func, realize, realize_under(realize, merged, condition));
  Place now = place_of(c, ref->func, ref->node);
  take_out(c, &now, producer.buffer);
  schedule_renew(c, ref->node, NULL);
}
