/* static_plan_block_memory.c -- the tensors of a function get their places in one storage.
 *
 * In:  roots bound by R.builtin.alloc_tensor, everything else that names their memory (memory.h).
 * Out: one R.memory.alloc_storage at the start, R.memory.alloc_tensor at an offset in it for each
 *      root that stays inside the function, R.memory.kill_tensor behind its last use. Tensors whose
 *      dims are known only behind a match_cast have a storage of their own, which is made there.
 *
 * Sizes in symbolic dims: dims with an upper bound (attribute tir_var_upper_bound of the function)
 * count as that. For others the plan is made for a typical size; of the plan only the order of
 * neighbours is kept, and an offset is the largest end of those that lie below: so it holds for
 * every size. */
#include "lower/memory/memory.h"
#include <stdlib.h>

/* A storage, and what lies in it: tensors whose dims are all known from one place on. */
typedef struct Region {
  Node *after; /* the match_cast that tells the last of the dims; NULL: the parameters do */
  PlanItems items;
  NodeVec sizes, offsets; /* beside items: int64 expressions */
  NodeVec lets;           /* bindings of variables that stand for long offsets */
  Node *storage, *total;
} Region;

typedef struct Place {
  Region *region;
  int item;
} Place;

typedef struct Plan {
  Function *f;
  Liveness *live;
  Map dims; /* variables to the number of the region from which on they are known + 1 */
  VEC(Region *) regions; /* in the order of their places; the first is that of the parameters */
  Map at;                /* match_cast to its Region */
  Map places;            /* root to its Place */
  Analyzer *arith;
  int64_t align; /* of tensors on the target */
} Plan;

/* ---- sizes ---- */

/* New variables are known from the last region on. */
static WalkResult note_var(Walker *w, Node *n) {
  Plan *p = w->context;
  if (IS(Var, n) && !map_has(&p->dims, n)) map_set(&p->dims, n, (void *)(intptr_t)p->regions.len);
  return WALK_ON;
}

static void note_vars(Plan *p, Node *sinfo) {
  Walker w = {.enter = note_var, .context = p};
  walk(&w, sinfo);
}

static Region *add_region(Plan *p, Node *after) {
  vec_push(&p->regions, NEW(Region, .after = after));
  return vec_last(&p->regions);
}

static WalkResult find_new(Walker *w, Node *n) {
  return IS(Var, n) && !map_has(&((Plan *)w->context)->dims, n) ? WALK_STOP : WALK_ON;
}

/* A match_cast that tells new dims begins a region. Arms of an `if` come in between: what they tell
 * is used in them alone. */
static WalkResult find_regions(Walker *w, Node *n) {
  Plan *p = w->context;
  Walker any = {.enter = find_new, .context = p};
  if (!IS(MatchCast, n) || walk(&any, AS(MatchCast, n)->sinfo)) return WALK_ON;
  map_set(&p->at, n, add_region(p, n));
  note_vars(p, AS(MatchCast, n)->sinfo);
  return WALK_ON;
}

static void find_dims(Plan *p) {
  add_region(p, NULL);
  for each (Node *, param, &p->f->params) note_vars(p, sinfo_of(*param));
  Walker w = {.enter = find_regions, .context = p};
  walk(&w, p->f->body);
}

typedef struct Latest {
  Plan *plan;
  int region;
} Latest;

static WalkResult note_latest(Walker *w, Node *n) {
  Latest *l = w->context;
  int known = IS(Var, n) ? (int)(intptr_t)map_get(&l->plan->dims, n) : 1;
  if (known > l->region) l->region = known;
  return known ? WALK_ON : WALK_STOP;
}

/* From which region on an expression is known; NULL: it never is. */
static Region *region_of(Plan *p, Node *n) {
  Latest latest = {.plan = p, .region = 1};
  Walker w = {.enter = note_latest, .context = &latest};
  return walk(&w, n) ? p->regions.at[latest.region - 1] : NULL;
}

/* Rounded up to whole lines; at least one, so that nothing shares the place of an empty tensor. */
static Node *rounded(Plan *p, Node *nbytes) {
  Node *align = int_imm(INT64, p->align, nbytes->span);
  Node *up = expr_add(nbytes, int_imm(INT64, p->align - 1, nbytes->span));
  Node *whole = arith_simplify(p->arith, expr_mul(expr_floordiv(up, align), align));
  return expr_is_zero(whole) ? align : whole;
}

static int64_t typical_size(Plan *p, Node *size) {
  int64_t value = memory_typical(&p->dims, p->arith, size);
  return value < p->align ? p->align : (value + p->align - 1) & ~(p->align - 1);
}

static bool stays_inside(Plan *p, Node *root) {
  return !map_has(&p->live->aliases.opaque, root) && !map_has(&p->live->aliases.leaves, root);
}

static void find_items(Plan *p) {
  for each (const Life, life, &p->live->lives) {
    if (!is_op_call(life->value, "relax.builtin.alloc_tensor")) continue; /* placed already */
    Node *nbytes = memory_nbytes(life->sinfo);
    Region *r = stays_inside(p, life->root) ? region_of(p, nbytes) : NULL;
    if (!r) continue;
    /* Bounds are checked for the parameters. */
    Node *size = rounded(p, r->after ? nbytes : memory_most(p->f, p->arith, nbytes));
    PlanItem item = {.life = life, .size = typical_size(p, size)};
    vec_push(&r->items, item);
    vec_push(&r->sizes, size);
    map_set(&p->places, life->root, NEW(Place, .region = r, .item = r->items.len - 1));
  }
}

/* ---- offsets ---- */

static bool is_below(const PlanItems *items, int low, int high) {
  return items->at[low].offset < items->at[high].offset &&
         lives_meet(items->at[low].life, items->at[high].life);
}

static int highest_first(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

/* Items below an item, highest first, without those that lie below one of these. `order` gives the
 * items by their offsets, `place` the reverse. */
static IntVec neighbours_below(const PlanItems *items, const int *order, const int *place,
                               int item) {
  IntVec below = {0}, found = {0};
  for each (int, other, &items->at[item].near)
    if (place[*other] < place[item]) vec_push(&below, place[*other]);
  if (below.len) qsort(below.at, (size_t)below.len, sizeof *below.at, highest_first);
  for each (int, at, &below) {
    bool implied = !is_below(items, order[*at], item);
    for (int k = 0; k < found.len && !implied; k++)
      implied = is_below(items, order[*at], found.at[k]);
    if (!implied) vec_push(&found, order[*at]);
  }
  return found;
}

static Node *end_of(const Region *r, int i) { return expr_add(r->offsets.at[i], r->sizes.at[i]); }

static bool surely_within(Plan *p, Node *x, Node *y) {
  return node_equal(x, y, false, NULL) ||
         arith_can_prove(p->arith, expr_binary(NK_LE, x, y, x->span));
}

/* The largest of some ends; what is surely not larger than another is left out. */
static Node *largest(Plan *p, NodeVec ends) {
  NodeVec kept = {0};
  for each (Node *, e, &ends) {
    bool needless = false;
    for (int k = 0; k < kept.len && !needless; k++) needless = surely_within(p, *e, kept.at[k]);
    if (needless) continue;
    NodeVec rest = {0};
    for each (Node *, k, &kept)
      if (!surely_within(p, *k, *e)) vec_push(&rest, *k);
    vec_push(&rest, *e);
    kept = rest;
  }
  Node *most = kept.len ? kept.at[0] : int_imm(INT64, 0, p->f->node.span);
  for (int i = 1; i < kept.len; i++) most = expr_binary(NK_Max, most, kept.at[i], most->span);
  return arith_simplify(p->arith, most);
}

static WalkResult count_node(Walker *w, Node *n) {
  (void)n;
  return ++*(int *)w->context > 12 ? WALK_STOP : WALK_ON;
}

/* A long expression that others build on gets a name: a dim that match_cast binds. */
static Node *named(Region *r, Node *value, const char *name) {
  int size = 0;
  Walker w = {.enter = count_node, .context = &size};
  if (walk(&w, value)) return value;
  for each (Node *, l, &r->lets)
    if (node_equal(AS(ShapeExpr, AS(MatchCast, *l)->value)->values.at[0], value, false, NULL))
      return AS(ShapeStructInfo, AS(MatchCast, *l)->sinfo)->values.at[0];
  Node *var = var_new(name, INT64, value->span), *shape = memory_shape(NODES(value), value->span);
  AS(Var, var)->is_size = true;
  Node *info =
      MAKE(ShapeStructInfo, value->span, VOID_TYPE, .known = true, .values = NODES(var), .ndim = 1);
  vec_push(&r->lets, MAKE(MatchCast, value->span, VOID_TYPE, .value = shape,
                          .var = memory_var(name, info, value->span), .sinfo = info));
  return var;
}

static void find_offsets(Plan *p, Region *r) {
  int n = r->items.len;
  const int *order = plan_order(&r->items);
  for (int i = 0; i < n; i++) vec_push(&r->offsets, (Node *)NULL);
  bool *covered = NEW_ARRAY(bool, n + 1);
  int *place = NEW_ARRAY(int, n + 1);
  for (int i = 0; i < n; i++) place[order[i]] = i;
  for (int i = 0; i < n; i++) {
    IntVec below = neighbours_below(&r->items, order, place, order[i]);
    NodeVec ends = {0};
    for each (int, b, &below) vec_push(&ends, end_of(r, *b)), covered[*b] = true;
    r->offsets.at[order[i]] = named(r, largest(p, ends), "offset");
  }
  NodeVec ends = {0};
  for (int i = 0; i < n; i++)
    if (!covered[i]) vec_push(&ends, end_of(r, i));
  r->total = named(r, largest(p, ends), "bytes");
}

/* Where all sizes are numbers, the plan is taken as it is. */
static bool all_numbers(const Region *r) {
  int64_t value;
  for (int i = 0; i < r->sizes.len; i++)
    if (!expr_is_const_int(r->sizes.at[i], &value)) return false;
  return true;
}

static void place_items(Plan *p, Region *r) {
  if (!r->items.len) return;
  int64_t total = plan_items(&r->items);
  r->storage = memory_var("storage", sinfo_object(), p->f->node.span);
  if (!all_numbers(r)) return find_offsets(p, r);
  for each (const PlanItem, item, &r->items)
    vec_push(&r->offsets, int_imm(INT64, item->offset, item->life->root->span));
  r->total = int_imm(INT64, total, p->f->node.span);
}

/* ---- the function ---- */

static Node *none_of(Span span) { return sinfo_tuple((NodeVec){0}, span); }

static Node *storage_call(const Region *r, Span span) {
  NodeVec args =
      NODES(memory_shape(NODES(r->total), span), memory_number(int_imm(INT64, 0, span), span),
            MAKE(StringValue, span, VOID_TYPE, .sinfo = sinfo_object(), .value = "global"),
            MAKE(DataTypeImm, span, VOID_TYPE, .sinfo = sinfo_object(), .value = UINT8));
  return memory_call("relax.memory.alloc_storage", args, sinfo_object(), span);
}

static void add_storage(const Region *r, NodeVec *out, Span span) {
  if (!r || !r->storage) return;
  for each (Node *, l, &r->lets) vec_push(out, *l);
  vec_push(out, memory_bind(r->storage, storage_call(r, span)));
}

static Node *placed(Node *binding, const Place *place) {
  RelaxCall *c = AS(RelaxCall, AS(VarBinding, binding)->value);
  Span span = c->node.span;
  NodeVec args =
      NODES(place->region->storage, memory_number(place->region->offsets.at[place->item], span),
            c->args.at[0], c->args.at[1], memory_number(int_imm(INT64, 0, span), span));
  return memory_bind(AS(VarBinding, binding)->var,
                     memory_call("relax.memory.alloc_tensor", args, c->sinfo, span));
}

static Node *kill(Node *root, Span span) {
  return memory_bind(memory_var("_", none_of(span), span),
                     memory_call("relax.memory.kill_tensor", NODES(root), none_of(span), span));
}

static void add_kills(Plan *p, const NodeVec *dead, NodeVec *out, Span span) {
  for (int i = 0; dead && i < dead->len; i++)
    if (map_has(&p->places, dead->at[i])) vec_push(out, kill(dead->at[i], span));
}

static Node *place_seq(Plan *p, Node *seq);

static Node *place_arms(Plan *p, Node *n) {
  if (!IS(VarBinding, n) || !IS(RelaxIf, AS(VarBinding, n)->value)) return n;
  RelaxIf i = *AS(RelaxIf, AS(VarBinding, n)->value);
  i.then = place_seq(p, i.then);
  i.orelse = place_seq(p, i.orelse);
  return memory_bind(AS(VarBinding, n)->var, gc_copy(&i, sizeof i));
}

static Node *place_seq(Plan *p, Node *seq) {
  SeqExpr s = *AS(SeqExpr, seq);
  NodeVec blocks = {0}, first = {0};
  add_kills(p, map_get(&p->live->at_start, seq), &first, seq->span);
  if (first.len) vec_push(&blocks, MAKE(BindingBlock, seq->span, VOID_TYPE, .bindings = first));
  for each (Node *, block, &s.blocks) {
    NodeVec out = {0};
    for each (Node *, n, &AS(BindingBlock, *block)->bindings) {
      const Place *place = IS(VarBinding, *n) ? map_get(&p->places, AS(VarBinding, *n)->var) : NULL;
      vec_push(&out, place ? placed(*n, place) : place_arms(p, *n));
      add_storage(map_get(&p->at, *n), &out, (*n)->span);
      add_kills(p, map_get(&p->live->dead, *n), &out, (*n)->span);
    }
    vec_push(&blocks, MAKE(BindingBlock, (*block)->span, VOID_TYPE, .bindings = out));
  }
  s.blocks = blocks_normal(blocks);
  return gc_copy(&s, sizeof s);
}

/* Bounds that are no numbers would be taken for none. */
static void check_bounds(const Node *function, const char *attr) {
  Node *bounds = func_attr(function, attr);
  if (!bounds) return;
  if (!IS(Dict, bounds))
    error_raisef("TypeError", bounds->span,
                 "'%s' must be a dict from names of dims to integers, found %s", attr,
                 ir_print(bounds, NULL));
  Dict *d = AS(Dict, bounds);
  int64_t value;
  for (int i = 0; i < d->keys.len; i++)
    if (!expr_is_const_int(d->values.at[i], &value))
      error_raisef("TypeError", bounds->span, "'%s' of '%s' must be an integer, found %s", attr,
                   d->keys.at[i], ir_print(d->values.at[i], NULL));
}

Node *pass_static_plan_block_memory(Node *function, const PassContext *context) {
  check_bounds(function, "tir_var_upper_bound");
  check_bounds(function, "tir_var_lower_bound");
  Plan p = {.f = AS(Function, function),
            .live = memory_liveness(context->module, function),
            .arith = memory_analyzer(AS(Function, function)),
            .align = memory_align(context->target)};
  find_dims(&p);
  find_items(&p);
  if (!p.places.live) return function;
  for each (Region *, r, &p.regions) place_items(&p, *r);
  Function f = *p.f;
  NodeVec first = {0};
  f.body = place_seq(&p, f.body);
  add_storage(p.regions.at[0], &first, function->span);
  NodeVec blocks = {0};
  if (first.len)
    vec_push(&blocks, MAKE(BindingBlock, function->span, VOID_TYPE, .bindings = first));
  for each (Node *, b, &AS(SeqExpr, f.body)->blocks) vec_push(&blocks, *b);
  Node *out = memory_function(gc_copy(&f, sizeof f), blocks);
  return func_with_attr(out, "relax.force_pure", int_imm(BOOL, 1, function->span));
}
