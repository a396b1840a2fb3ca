/* access.c -- primitives on how accesses of a buffer are declared: its dtype, and regions that are
 * taken on the word of who schedules. */
#include "passes/schedule/schedule_impl.h"

/* ---- unsafe_set_dtype ---- */

typedef struct Retype {
  Mutator mutator;
  ScheduleCall *call;
  Node *old, *new; /* buffers */
} Retype;

static Node *retype_node(Mutator *m, Node *n) {
  Retype *r = (Retype *)(void *)m;
  if (n == r->old) return r->new;
  if (n == AS(Buffer, r->old)->data) return AS(Buffer, r->new)->data;
  if (IS(Buffer, n) || IS(Var, n)) return n;
  Node *out = schedule_rewrite_children(r->call, m, n);
  if (IS(BufferLoad, n) && AS(BufferLoad, n)->buffer == r->old) {
    BufferLoad load = *AS(BufferLoad, out);
    load.node.dtype = dtype_with_lanes(AS(Buffer, r->new)->elem, n->dtype.lanes);
    return expr_cast(n->dtype, gc_copy(&load, sizeof load), n->span);
  }
  if (!IS(BufferStore, n) || AS(BufferStore, n)->buffer != r->old) return out;
  BufferStore store = *AS(BufferStore, out);
  DataType t = dtype_with_lanes(AS(Buffer, r->new)->elem, store.value->dtype.lanes);
  store.value = expr_cast(t, store.value, n->span);
  return gc_copy(&store, sizeof store);
}

void primitive_unsafe_set_dtype(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Block *b = AS(Block, ref->node);
  Retype r = {.mutator = {.rewrite = retype_node}, .call = c};
  DataType t;
  const char *name = text_arg(c, 2, "dtype");
  r.old = buffer_arg(c, b, b->writes, "writes");
  Place p = place_of(c, ref->func, ref->node);
  need_internal_buffer(c, &p, r.old);
  need_plain_buffer(c, ref->func, r.old, ref->node);
  if (!dtype_parse(name, &t) || t.lanes != 1)
    schedule_fail(c, ref->node, "there is no dtype '%s'", name);
  Buffer copy = *AS(Buffer, r.old);
  Var data = *AS(Var, copy.data);
  data.elem = copy.elem = t;
  copy.data = gc_copy(&data, sizeof data);
  r.new = gc_copy(&copy, sizeof copy);
  schedule_set_function(c, ref->func, mutate(&r.mutator, prim_func_of(c, ref->func)));
}

/* ---- declared regions ---- */

/* "read" or "write" of argument i. */
static bool is_read_side(ScheduleCall *c, int i) {
  const char *side = text_arg(c, i, "buf_type");
  if (!str_same(side, "read") && !str_same(side, "write"))
    schedule_fail(c, NULL, "buf_type is 'read' or 'write', found '%s'", side);
  return str_same(side, "read");
}

static void need_index(ScheduleCall *c, const Block *b, NodeVec regions, int64_t i, bool reads) {
  if (i < 0 || i >= regions.len)
    schedule_fail(c, (Node *)(uintptr_t)&b->node,
                  "block '%s' has %d buffers that it %s, but the index is %lld", b->name,
                  regions.len, reads ? "reads" : "writes", (long long)i);
}

static void put_block(ScheduleCall *c, BlockRef *ref, const Block *b) {
  Node *before = ref->node, *after = gc_copy(b, sizeof *b);
  schedule_renew(c, before, after);
  schedule_replace(c, ref->func, before, after);
}

void primitive_unsafe_hide_buffer_access(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Block copy = *AS(Block, ref->node);
  bool reads = is_read_side(c, 1);
  NodeVec hidden = list_arg(c, 2), kept = {0}, regions = reads ? copy.reads : copy.writes;
  Map gone = {0};
  for each (Node *, h, &hidden) {
    int64_t i;
    if (!expr_is_const_int(expr_value(c, *h), &i)) schedule_fail(c, NULL, "expected an integer");
    need_index(c, &copy, regions, i, reads);
    map_set(&gone, regions.at[i], regions.at[i]);
  }
  for each (Node *, r, &regions)
    if (!map_has(&gone, *r)) vec_push(&kept, *r);
  *(reads ? &copy.reads : &copy.writes) = kept;
  put_block(c, ref, &copy);
}

/* The numbers of the regions that were declared so, with one more. */
static Node *declared(const Block *b, const char *key, int64_t number, Span span) {
  Node *old = dict_get(b->annotations, key);
  NodeVec numbers = {0};
  int64_t known;
  for (int i = 0; IS(Array, old) && i < AS(Array, old)->items.len; i++)
    if (!expr_is_const_int(AS(Array, old)->items.at[i], &known) || known != number)
      vec_push(&numbers, AS(Array, old)->items.at[i]);
  vec_push(&numbers, int_imm(INT32, number, span));
  return MAKE(Array, span, VOID_TYPE, .items = numbers);
}

/* The map gives begin and end of each dimension. */
void primitive_annotate_buffer_access(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Block copy = *AS(Block, ref->node);
  int64_t number = int_arg(c, 1, "buffer_index");
  bool reads = is_read_side(c, 2);
  NodeVec regions = {0}, old = reads ? copy.reads : copy.writes, vars = {0}, dims = {0};
  need_index(c, &copy, old, number, reads);
  for each (Node *, v, &copy.iter_vars) vec_push(&vars, AS(IterVar, *v)->var);
  NodeVec ends = index_map_apply(index_map_arg(c, 3, vars.len, index_dtype(vars)), vars, c->span);
  Node *buffer = AS(BufferRegion, old.at[number])->buffer;
  int ndim = AS(Buffer, buffer)->shape.len;
  if (ends.len != 2 * ndim)
    schedule_fail(c, ref->node, "the buffer '%s' has %d dimensions, but %d ranges are given",
                  AS(Buffer, buffer)->name, ndim, ends.len / 2);
  for (int i = 0; i < ndim; i++) {
    Node *extent = arith_simplify(arith_new(), expr_sub(ends.at[2 * i + 1], ends.at[2 * i]));
    vec_push(&dims, MAKE(Range, c->span, VOID_TYPE, .min = ends.at[2 * i], .extent = extent));
  }
  for (int i = 0; i < old.len; i++)
    vec_push(&regions,
             i == number ? MAKE(BufferRegion, c->span, VOID_TYPE, .buffer = buffer, .region = dims)
                         : old.at[i]);
  *(reads ? &copy.reads : &copy.writes) = regions;
  const char *key = reads ? "explicit_read_region" : "explicit_write_region";
  copy.annotations = dict_with(copy.annotations, key, declared(&copy, key, number, c->span));
  put_block(c, ref, &copy);
}
