/* layout.c -- transform_layout and set_axis_separator: where the elements of a buffer lie. */
#include "passes/schedule/schedule_impl.h"

typedef struct Relayout {
  Mutator mutator;
  ScheduleCall *call;
  const char *func;
  Node *old, *new; /* buffers */
  const IndexMap *map;
  Analyzer *facts;
  Map domains;       /* of loops and blocks around */
  IndexMap *inverse; /* NULL: not needed */
  Node *padding;     /* on inverse's inputs: no element is here */
  Node *pad;         /* pad_value: an expression, or an IndexMap of the new indices */
} Relayout;

/* ---- accesses ---- */

static NodeVec mapped(Relayout *l, NodeVec indices, Span span) {
  NodeVec out = {0}, at = index_map_apply(l->map, indices, span);
  for each (Node *, i, &indices)
    if ((*i)->dtype.lanes != 1)
      schedule_fail(l->call, NULL, "the buffer '%s' is accessed by vectors",
                    AS(Buffer, l->old)->name);
  for each (Node *, x, &at) vec_push(&out, iter_simplify(*x, &l->domains, l->facts));
  return out;
}

/* The box around where the map puts a region; a dimension that is not known is whole. */
static NodeVec mapped_region(Relayout *l, NodeVec region, Span span) {
  Map ranges = {0};
  NodeVec vars = {0}, out = {0};
  Analyzer *facts = arith_new();
  for each (Node *, r, &region) {
    Range *range = AS(Range, *r);
    Node *v = var_new("r", range->min->dtype, span);
    map_set(&ranges, v, range);
    arith_bind_range(facts, v, range->min, range->extent);
    vec_push(&vars, expr_is_one(range->extent) ? range->min : v);
  }
  NodeVec at = index_map_apply(l->map, vars, span);
  for (int i = 0; i < at.len; i++) {
    Node *lo, *hi, *size = AS(Buffer, l->new)->shape.at[i];
    Node *one = int_imm(size->dtype, 1, span), *min = int_imm(size->dtype, 0, span), *n = size;
    if (arith_bounds_over(at.at[i], &ranges, &lo, &hi)) {
      Node *extent = arith_simplify(l->facts, expr_add(expr_sub(hi, lo), one));
      min = arith_simplify(l->facts, lo);
      n = extent;
    }
    vec_push(&out, MAKE(Range, span, VOID_TYPE, .min = min, .extent = n));
  }
  return out;
}

static void bind_domain(Relayout *l, Node *var, Node *min, Node *extent) {
  arith_bind_range(l->facts, var, min, extent);
  map_set(&l->domains, var, MAKE(Range, var->span, VOID_TYPE, .min = min, .extent = extent));
}

static void bind_domains(Relayout *l, Node *n) {
  if (IS(For, n)) bind_domain(l, AS(For, n)->var, AS(For, n)->min, AS(For, n)->extent);
  if (!IS(Block, n)) return;
  for each (Node *, v, &AS(Block, n)->iter_vars) {
    Range *dom = AS(Range, AS(IterVar, *v)->dom);
    bind_domain(l, AS(IterVar, *v)->var, dom->min, dom->extent);
  }
}

static Node *rewrite(Mutator *m, Node *n) {
  Relayout *l = (Relayout *)(void *)m;
  if (IS(Buffer, n)) return n == l->old ? l->new : n;
  if (IS(Var, n)) return n;
  bind_domains(l, n);
  Node *out = schedule_rewrite_children(l->call, m, n);
  if (IS(BufferLoad, n) && AS(BufferLoad, n)->buffer == l->old) {
    BufferLoad copy = *AS(BufferLoad, out);
    copy.indices = mapped(l, copy.indices, n->span);
    return gc_copy(&copy, sizeof copy);
  }
  if (IS(BufferStore, n) && AS(BufferStore, n)->buffer == l->old) {
    BufferStore copy = *AS(BufferStore, out);
    copy.indices = mapped(l, copy.indices, n->span);
    return gc_copy(&copy, sizeof copy);
  }
  if (IS(BufferRegion, n) && AS(BufferRegion, n)->buffer == l->old) {
    BufferRegion copy = *AS(BufferRegion, out);
    copy.region = mapped_region(l, copy.region, n->span);
    return gc_copy(&copy, sizeof copy);
  }
  return out;
}

/* ---- padding ---- */

static Node *pad_at(Relayout *l, NodeVec indices) {
  Node *value = l->pad;
  if (IS(IndexMap, l->pad))
    value = index_map_apply(AS(IndexMap, l->pad), indices, l->call->span).at[0];
  return expr_cast(AS(Buffer, l->new)->elem, value, l->call->span);
}

static Node *is_padding(Relayout *l, NodeVec indices) {
  Map at = {0};
  for (int i = 0; i < indices.len; i++) map_set(&at, l->inverse->inputs.at[i], indices.at[i]);
  return substitute(l->padding, &at);
}

/* for ax0, ...: where it is padding, new[ax0, ...] = pad value; of a parameter that nothing writes,
 * what the caller shall have done is assumed. */
static Node *padding_nest(Relayout *l, bool assumes) {
  ScheduleCall *c = l->call;
  Nest n = nest_begin(c, AS(Buffer, l->new)->shape);
  const char *form = assumes ? "%s_assume_pad" : "%s_pad";
  Block b = {.name = str_intern(str_format(form, AS(Buffer, l->new)->name))};
  Node *made, *value = pad_at(l, n.vars), *element = expr_load(l->new, n.vars, c->span);
  if (!assumes) {
    b.body = stmt_store(l->new, n.vars, value, c->span);
    return nest_end(c, &n, b, is_padding(l, n.loops), &made);
  }
  Node *same = expr_binary(NK_EQ, element, value, c->span);
  Node *elsewhere = expr_not(is_padding(l, n.vars), c->span);
  Node *fact = expr_binary(NK_Or, elsewhere, same, c->span);
  b.reads = NODES(point_region(l->new, n.vars));
  b.body = stmt_evaluate(expr_call("assume", VOID_TYPE, NODES(fact), c->span), c->span);
  return nest_end(c, &n, b, NULL, &made);
}

/* The store of a block that writes each element of the buffer by its own variables, or NULL. */
static BufferStore *plain_store(const Relayout *l, const Place *p) {
  Block *b = AS(Block, vec_last(&p->path));
  if (b->init || b->alloc_buffers.len || b->match_buffers.len || !IS(BufferStore, b->body) ||
      why_not_complete(scope_block(p), &b->node) || why_no_plain_nest(p))
    return NULL;
  BufferStore *s = AS(BufferStore, b->body);
  if (s->buffer != l->old || s->predicate || s->indices.len != b->iter_vars.len) return NULL;
  Map seen = {0};
  for (int i = 0; i < s->indices.len; i++) {
    IterVar *iv = NULL;
    for each (Node *, v, &b->iter_vars)
      if (AS(IterVar, *v)->var == s->indices.at[i]) iv = AS(IterVar, *v);
    if (!iv || map_has(&seen, iv->var)) return NULL;
    map_set(&seen, iv->var, iv);
    Node *size = AS(Buffer, l->old)->shape.at[i];
    if (!arith_can_prove_equal(l->facts, AS(Range, iv->dom)->extent, size)) return NULL;
  }
  return s;
}

/* The writer runs over the new shape, and writes the padding too. */
static void widen_writer(Relayout *l, const Place *p, BufferStore *s) {
  ScheduleCall *c = l->call;
  Node *old = vec_last(&p->path), *made;
  Nest n = nest_begin(c, AS(Buffer, l->new)->shape);
  Map at = {0}, vars = {0};
  for (int i = 0; i < n.vars.len; i++) map_set(&at, l->inverse->inputs.at[i], n.vars.at[i]);
  for (int i = 0; i < s->indices.len; i++)
    map_set(&vars, s->indices.at[i], substitute(l->inverse->outputs.at[i], &at));
  Node *value = expr_call(
      "if_then_else", AS(Buffer, l->new)->elem,
      NODES(is_padding(l, n.vars), pad_at(l, n.vars), substitute(s->value, &vars)), c->span);
  Block b = *AS(Block, old);
  b.reads = b.writes = (NodeVec){0};
  b.body = simplify_indices(c, stmt_store(l->new, n.vars, value, c->span), &n);
  Node *nest = nest_end(c, &n, b, NULL, &made);
  schedule_renew(c, old, made);
  schedule_replace(c, l->func, nest_of(p), nest);
}

static NodeVec writers_of(const Relayout *l) {
  NodeVec out = {0}, blocks = all_blocks(AS(PrimFunc, prim_func_of(l->call, l->func))->body);
  for each (Node *, b, &blocks)
    if (block_writes(AS(Block, *b), l->old)) vec_push(&out, *b);
  return out;
}

/* Before accesses are rewritten: true if the writer will write the padding itself. */
static bool pad_in_writer(Relayout *l, NodeVec writers) {
  if (!writers.len) return false;
  Place p = place_of(l->call, l->func, vec_last(&writers)); /* outer blocks come first */
  BufferStore *s = scope_block(&p) ? plain_store(l, &p) : NULL;
  for each (Node *, w, &writers)
    if (*w != vec_last(&writers) && !node_mentions(*w, vec_last(&writers))) s = NULL;
  if (s) widen_writer(l, &p, s);
  return s != NULL;
}

/* After that: the padding is written, or assumed, in the root block. */
static void pad_beside(Relayout *l, bool is_written) {
  PrimFunc *f = AS(PrimFunc, prim_func_of(l->call, l->func));
  bool is_param = false;
  for each (Node *, b, &f->buffers) is_param |= *b == l->new;
  if (!is_written && !is_param) return;
  Node *owner = owner_of(f, l->new);
  Block copy = *AS(Block, owner);
  Node *nest = padding_nest(l, !is_written);
  copy.body = stmt_seq(NODES(nest, copy.body), l->call->span);
  Node *out = gc_copy(&copy, sizeof copy);
  schedule_renew(l->call, owner, out);
  schedule_replace(l->call, l->func, owner, out);
}

/* ---- the primitives ---- */

static void need_pad_value(Relayout *l, Node *at) {
  ScheduleCall *c = l->call;
  if (!l->pad)
    schedule_fail(c, at, "the map leaves padding in '%s', where %s: a pad_value is needed",
                  AS(Buffer, l->old)->name, ir_print(l->padding, NULL));
  if (IS(IndexMap, l->pad)) {
    IndexMap *m = AS(IndexMap, l->pad);
    if (m->inputs.len != l->map->outputs.len || m->outputs.len != 1)
      schedule_fail(c, at, "pad_value takes the %d new indices and gives one value",
                    l->map->outputs.len);
  } else if (!node_is_expr(l->pad) || IS(StringImm, l->pad))
    schedule_fail(c, at, "pad_value must be a number or a map");
  if (loads_anything(l->pad)) schedule_fail(c, at, "pad_value must not load from buffers");
}

static void begin_layout(Relayout *l, Node *at) {
  ScheduleCall *c = l->call;
  Buffer copy = *AS(Buffer, l->old);
  Node *padding = NULL, *inverse = NULL;
  if (!index_map_shape(l->map, copy.shape, arith_new(), &copy.shape))
    schedule_fail(c, at, "the shape that the map makes of '%s' is not known", copy.name);
  if (!flag_arg(c, 4)) {
    inverse = index_map_inverse(l->map, AS(Buffer, l->old)->shape, arith_new(), &padding);
    if (!inverse)
      schedule_fail(c, at, "the map is not known to put each element of '%s' at a place of its own",
                    copy.name);
    l->padding = padding;
    l->inverse = AS(IndexMap, inverse);
    if (!expr_is_zero(padding)) need_pad_value(l, at);
  }
  copy.axis_separators = (IntVec){0};
  l->new = gc_copy(&copy, sizeof copy);
}

static bool is_identity(const IndexMap *m) {
  for (int i = 0; i < m->inputs.len; i++)
    if (i >= m->outputs.len || m->outputs.at[i] != m->inputs.at[i]) return false;
  return m->outputs.len == m->inputs.len;
}

void primitive_transform_layout(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Relayout l = {
      .mutator = {.rewrite = rewrite}, .call = c, .func = ref->func, .facts = arith_new()};
  l.old = buffer_named(c, AS(Block, ref->node), 1);
  NodeVec shape = AS(Buffer, l.old)->shape;
  l.map = index_map_arg(c, 2, shape.len, index_dtype(shape));
  l.pad = c->args.at[3];
  if (is_identity(l.map)) return;
  need_plain_buffer(c, l.func, l.old, ref->node);
  begin_layout(&l, ref->node);
  bool pads = l.padding && !expr_is_zero(l.padding);
  NodeVec writers = writers_of(&l);
  bool done = pads && pad_in_writer(&l, writers);
  schedule_set_function(c, l.func, mutate(&l.mutator, prim_func_of(c, l.func)));
  if (pads && !done) pad_beside(&l, writers.len > 0);
}

void primitive_set_axis_separator(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Node *buffer = buffer_named(c, AS(Block, ref->node), 1);
  Buffer copy = *AS(Buffer, buffer);
  NodeVec given = list_arg(c, 2);
  copy.axis_separators = (IntVec){0};
  int64_t last = 0;
  for each (Node *, g, &given) {
    int64_t at;
    if (!expr_is_const_int(expr_value(c, *g), &at) || at < last || at > copy.shape.len)
      schedule_fail(c, ref->node, "axis separators must rise from 0 to the %d dimensions of '%s'",
                    copy.shape.len, copy.name);
    last = at;
    vec_push(&copy.axis_separators, (int)at);
  }
  Map map = {0};
  map_set(&map, buffer, gc_copy(&copy, sizeof copy));
  schedule_substitute(c, ref->func, &map);
}
