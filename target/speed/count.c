/* count.c -- what a block of threads does, along the statements of a kernel in its lowered form.
 *
 * A loop is looked at once, in the middle of its steps, and counts as often as it has steps.
 * Indices and conditions are worked out for each thread of one block in the middle of the grid, so
 * banks, sectors and idle threads are exact there; what loads tell is not known, and taken for the
 * worst. What an SM is busy with adds up; latencies that no barrier separates overlap. */
#include "target/speed/count.h"
#include <math.h>

/* Clocks, about: of a load from memory, from shared memory, of a product of fragments, of an
 * exchange in a warp; of a barrier. */
const double count_latencies[LATENCIES] = {600, 30, 33, 25};
enum { BARRIER = 25 };

/* Steps of a loop without a barrier whose loads are under way at a time; instructions of a step
 * itself, of an address. */
enum { UNROLLED = 4, OF_STEP = 2, OF_ADDRESS = 1, OF_HALF_OF_ERF = 14 };

/* Instructions of functions of float32, as PTX has them; those of the rest are taken for many. */
enum { OF_OTHERS = 45 };
static const struct {
  const char *name;
  int count;
} functions[] = {{"fabs", 1},   {"floor", 1},    {"ceil", 1},    {"trunc", 1},  {"round", 1},
                 {"fma", 1},    {"copysign", 2}, {"sqrt", 8},    {"rsqrt", 16}, {"nearbyint", 1},
                 {"exp", 23},   {"exp2", 21},    {"exp10", 24},  {"log", 31},   {"log2", 38},
                 {"log10", 39}, {"log1p", 46},   {"sin", 90},    {"cos", 90},   {"tan", 100},
                 {"tanh", 42},  {"erf", 21},     {"sigmoid", 32}};

/* Steps of an innermost loop whose sectors are looked at together: what a later step touches again
 * is in the first cache. */
enum { STEPS = 8 };

/* ---- costs ---- */

Cost cost_nothing(void) { return (Cost){.in_flight = -1}; }

static double under_way(const Cost *c) {
  double sum = 0;
  for (int i = 0; i < LATENCIES; i++) sum += c->latency[i];
  return sum;
}

void cost_busy(Cost *c, Pipe pipe, double clocks) {
  c->busy[pipe] += clocks;
  (c->has_barrier ? c->last : c->first)[pipe] += clocks;
}

void cost_scale(Cost *c, double n) {
  for (int i = 0; i < PIPES; i++) c->busy[i] *= n, c->first[i] *= n;
}

static double most_of(const double pipes[PIPES]) {
  double most = 0;
  for (int i = 0; i < PIPES; i++) most = fmax(most, pipes[i]);
  return most;
}

/* Clocks of a phase that begins after a barrier of one and ends at a barrier of another. */
static double clocks_across(const Cost *a, const Cost *b) {
  double both[PIPES];
  for (int i = 0; i < PIPES; i++) both[i] = a->last[i] + b->first[i];
  return most_of(both);
}

double cost_clocks(const Cost *c) { return most_of(c->first) + c->between + most_of(c->last); }

/* The phases of what comes next. */
static void add_phases(Cost *to, const Cost *more) {
  if (to->has_barrier && more->has_barrier) to->between += clocks_across(to, more);
  for (int i = 0; i < PIPES; i++) {
    to->busy[i] += more->busy[i];
    if (!to->has_barrier) to->first[i] += more->first[i];
    else if (!more->has_barrier) to->last[i] += more->first[i];
    if (more->has_barrier) to->last[i] = more->last[i];
  }
  to->between += more->between;
}

void cost_add(Cost *to, Cost more) {
  add_phases(to, &more);
  if (more.has_barrier) {
    to->waited += under_way(to) + more.waited;
    memcpy(to->latency, more.latency, sizeof to->latency);
    to->has_barrier = true;
  } else {
    for (int i = 0; i < LATENCIES; i++)
      to->latency[i] = i == OF_EXCHANGE ? to->latency[i] + more.latency[i]
                                        : fmax(to->latency[i], more.latency[i]);
  }
  if (more.in_flight >= 0) to->in_flight = more.in_flight;
}

/* Copies that are waited for: in as many steps as may be in flight they have come nearer. */
static double copies_exposed(const Cost *step) {
  if (step->in_flight < 0) return 0;
  double ahead = step->in_flight * (most_of(step->busy) + under_way(step) + step->waited);
  return fmax(0, count_latencies[OF_GLOBAL] - ahead);
}

static Cost cost_times(Cost step, double n) {
  Cost out = step;
  for (int i = 0; i < PIPES; i++) {
    out.busy[i] *= n;
    if (!step.has_barrier) out.first[i] *= n;
  }
  if (step.has_barrier) out.between = n * step.between + (n - 1) * clocks_across(&step, &step);
  if (step.has_barrier) {
    out.waited = n * (step.waited + under_way(&step) + copies_exposed(&step));
    memset(out.latency, 0, sizeof out.latency);
  } else {
    for (int i = 0; i < LATENCIES; i++) out.latency[i] *= i == OF_EXCHANGE ? n : ceil(n / UNROLLED);
  }
  out.in_flight = -1;
  return out;
}

/* ---- threads ---- */

static void set_thread(Count *c, int64_t number) {
  for (int d = 0; d < 3; d++) {
    if (c->threads[d]) value_bind(&c->values, c->threads[d], number % c->out->block[d]);
    number /= c->out->block[d];
  }
}

int count_active(Count *c, bool on[MOST_THREADS]) {
  int active = 0;
  int64_t holds;
  for (int t = 0; t < c->out->threads; t++) {
    if (c->conditions.len) set_thread(c, t);
    on[t] = true;
    for (int i = 0; i < c->conditions.len && on[t]; i++)
      on[t] = !value_of(&c->values, c->conditions.at[i], &holds) || holds;
    active += on[t];
  }
  return active;
}

int count_warps(const Count *c, const bool *on) {
  int warps = 0;
  for (int first = 0; first < c->out->threads; first += WARP) {
    bool any = false;
    for (int t = first; t < first + WARP && t < c->out->threads; t++) any |= on[t];
    warps += any;
  }
  return warps;
}

/* ---- accesses ---- */

/* Of every thread that is active; false: the index is not known. */
static bool find_places(Count *c, Node *index, int unit, Touch *t) {
  for (int i = 0; i < t->count; i++) {
    if (!t->on[i]) continue;
    set_thread(c, i);
    if (!value_of(&c->values, index, &t->at[i])) return false;
    t->at[i] *= unit;
  }
  return true;
}

static void touch_banks(Count *c, Touch *t, bool is_known, bool stores, Cost *cost) {
  double turns, least;
  touch_turns(t, &turns, &least);
  if (!is_known) turns = least = count_warps(c, t->on);
  cost_busy(cost, SHARED_MEMORY, turns);
  c->out->shared_turns += c->times * turns;
  c->out->conflicts += c->times * (turns - least);
  if (!stores) cost->latency[OF_SHARED] = count_latencies[OF_SHARED];
}

/* Sectors of a step, with those of the steps that follow of the innermost loop. */
static double sectors_of(Count *c, Node *index, int unit, Touch *t) {
  int64_t steps = 1, first = 0;
  Map seen = {0};
  int64_t found = touch_sectors(t, &seen);
  bool moves = c->inner && value_mentions(&c->values, index, c->inner->var);
  if (c->inner && value_of(&c->values, c->inner->extent, &steps) && steps > 1) {
    steps = steps < STEPS ? steps : STEPS;
    value_of(&c->values, c->inner->var, &first);
    for (int64_t i = 1; moves && i < steps; i++) {
      value_bind(&c->values, c->inner->var, first + i);
      if (find_places(c, index, unit, t)) found += touch_sectors(t, &seen);
    }
    value_bind(&c->values, c->inner->var, first);
  }
  return (double)found / (double)(steps > 0 ? steps : 1);
}

static void touch_memory(Count *c, Node *data, Node *index, int unit, Touch *t, bool is_known,
                         bool stores, Cost *cost) {
  int active = 0;
  double mark = t->nbytes;
  for (int i = 0; i < t->count; i++) {
    active += t->on[i];
    mark += t->on[i] ? (double)t->at[i] * (i + 1) : 0;
  }
  double sectors = is_known ? sectors_of(c, index, unit, t) : active;
  Stream s = {.data = data, .bytes = c->times * 32 * sectors, .mark = mark, .stores = stores};
  for (int d = 0; d < 3; d++)
    s.along[d] = c->blocks[d] && (!is_known || value_mentions(&c->values, index, c->blocks[d]));
  vec_push(&c->streams, s);
  cost_busy(cost, L2_CACHE, 32 * sectors / c->out->chip->l2);
  c->out->wanted_bytes += c->times * active * t->nbytes;
  c->out->l2_bytes += s.bytes;
  if (!stores) cost->latency[OF_GLOBAL] = count_latencies[OF_GLOBAL];
}

static bool is_global(const char *scope) { return !scope || !*scope || str_same(scope, "global"); }

static Cost count_access(Count *c, Node *data, Node *index, int unit, int nbytes, bool stores) {
  Cost cost = cost_nothing();
  const char *scope = IS(Var, data) ? AS(Var, data)->scope : NULL;
  bool is_shared = scope && str_begins(scope, "shared");
  if (!is_shared && !is_global(scope)) return cost;
  Touch *t = NEW(Touch, .count = (int)c->out->threads, .nbytes = nbytes);
  count_active(c, t->on);
  bool is_known = find_places(c, index, unit, t);
  if (!is_known && IS(Var, data))
    c->out->unknown = str_format("where '%s' is touched", AS(Var, data)->name);
  double parts = nbytes > 16 ? nbytes / 16.0 : 1;
  cost_busy(&cost, ISSUE, count_warps(c, t->on) * (parts + OF_ADDRESS) / SCHEDULERS);
  if (is_shared) touch_banks(c, t, is_known, stores, &cost);
  else touch_memory(c, data, index, unit, t, is_known, stores, &cost);
  return cost;
}

/* What each step of a loop loads from the same place, of memory that the kernel does not change,
 * LLVM loads before the loop, unless a condition stands between. */
static bool is_before_loop(Count *c, Node *data, Node *index, bool stores) {
  return c->inner && !stores && IS(Var, data) && is_global(AS(Var, data)->scope) &&
         !map_get(&c->written, data) && c->conditions.len == c->outside &&
         !value_mentions(&c->values, index, c->inner->var);
}

Cost count_touch(Count *c, Node *data, Node *index, int unit, int nbytes, bool stores) {
  if (!is_before_loop(c, data, index, stores))
    return count_access(c, data, index, unit, nbytes, stores);
  For *loop = c->inner;
  double times = c->times;
  int64_t steps = 1;
  if (value_of(&c->values, loop->extent, &steps)) c->times /= (double)steps;
  c->inner = NULL;
  cost_add(&c->before, count_access(c, data, index, unit, nbytes, stores));
  c->inner = loop;
  c->times = times;
  return cost_nothing();
}

static Cost count_element(Count *c, Node *buffer, NodeVec indices, bool stores) {
  Buffer *b = AS(Buffer, buffer);
  Node *index = indices.at[0];
  Cost cost = cost_nothing();
  int unit = dtype_nbytes(b->elem), lanes = index->dtype.lanes, width = 1;
  const char *scope = IS(Var, b->data) ? AS(Var, b->data)->scope : NULL;
  if (IS(Ramp, index) && expr_is_one(AS(Ramp, index)->stride))
    width = lanes, index = AS(Ramp, index)->base;
  bool on[MOST_THREADS];
  if (scope && str_begins(scope, "shared") && !stores) {
    double bytes = c->times * count_active(c, on) * unit * lanes;
    c->out->shared_load_bytes += bytes;
    if (unit * width >= 8) c->out->wide_load_bytes += bytes;
  }
  for (c->values.lane = 0; c->values.lane < lanes / width; c->values.lane++)
    cost_add(&cost, count_touch(c, b->data, index, unit, unit * width, stores));
  c->values.lane = 0;
  return cost;
}

/* ---- expressions ---- */

static Cost count_expr(Count *c, Node *n);

/* Operations of each thread that is active: they are counted, and done by whole warps. */
static Cost operations(Count *c, double counted, double done) {
  bool on[MOST_THREADS];
  Cost cost = cost_nothing();
  c->out->flops += c->times * counted * count_active(c, on);
  double warps = count_warps(c, on);
  cost_busy(&cost, FLOATS, warps * WARP * done / c->out->chip->floats);
  cost_busy(&cost, ISSUE, warps * done / SCHEDULERS);
  return cost;
}

static bool is_product(Node *n) {
  while (IS(Cast, n)) n = AS(Cast, n)->value;
  return IS(Mul, n) && dtype_is_float(n->dtype);
}

static Cost count_one_and_erf(Count *c, Node *n, Node *y, double times) {
  Cost cost = count_expr(c, y);
  double done = times == 1 ? OF_HALF_OF_ERF : OF_HALF_OF_ERF + 1, counted = times == 1 ? 3 : 2;
  cost_add(&cost, operations(c, counted * n->dtype.lanes, done * n->dtype.lanes));
  return cost;
}

static Cost count_binary(Count *c, Node *n) {
  double times;
  Node *y = one_and_erf(n, &times);
  if (y) return count_one_and_erf(c, n, y, times);
  Node *a = ((Binary *)(void *)n)->a, *b = ((Binary *)(void *)n)->b;
  Cost cost = count_expr(c, a);
  cost_add(&cost, count_expr(c, b));
  if (!dtype_is_float(a->dtype)) return cost;
  bool counts = n->kind < NK_EQ || n->kind > NK_Or;
  bool is_part = c->contracts && (IS(Add, n) || IS(Sub, n)) && (is_product(a) || is_product(b));
  cost_add(&cost, operations(c, counts ? n->dtype.lanes : 0, is_part ? 0 : a->dtype.lanes));
  return cost;
}

/* With the condition for the time. */
static Cost under(Count *c, Node *cond, Node *n, Cost (*count)(Count *c, Node *n)) {
  Map seen = c->seen;
  c->seen = (Map){0};
  vec_push(&c->conditions, cond);
  Cost cost = count(c, n);
  c->conditions.len--;
  c->seen = seen;
  return cost;
}

static int function_count(const char *name) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (str_same(functions[i].name, name)) return functions[i].count;
  return OF_OTHERS;
}

static Cost count_call(Count *c, Node *n) {
  Call *call = AS(Call, n);
  const Intrin *intrin = intrin_of(call->op);
  Cost cost = cost_nothing();
  bool is_one = false;
  Cost matrix = count_matrix_call(c, call, &is_one);
  if (is_one) return matrix;
  if (is_intrin_call(n, "if_then_else")) {
    cost = count_expr(c, call->args.at[0]);
    cost_add(&cost, under(c, call->args.at[0], call->args.at[1], count_expr));
    cost_add(&cost, under(c, expr_not(call->args.at[0], n->span), call->args.at[2], count_expr));
    return cost;
  }
  for each (Node *, x, &call->args) cost_add(&cost, count_expr(c, *x));
  bool is_fma = is_intrin_call(n, "fma");
  if (is_fma) cost_add(&cost, operations(c, 2 * n->dtype.lanes, n->dtype.lanes));
  else if (intrin && intrin->takes == TAKES_FLOATS)
    cost_add(&cost, operations(c, n->dtype.lanes, function_count(intrin->name) * n->dtype.lanes));
  if (intrin && str_begins(intrin->name, "tvm_warp_shuffle")) {
    cost_busy(&cost, SHARED_MEMORY, (double)c->out->threads / WARP);
    cost.latency[OF_EXCHANGE] += count_latencies[OF_EXCHANGE];
  }
  return cost;
}

/* Between floats of different sizes it is an instruction, which narrows two from sm_80 on. */
static Cost count_cast(Count *c, Node *n) {
  Node *value = AS(Cast, n)->value;
  Cost cost = count_expr(c, value);
  if (!dtype_is_float(n->dtype) || !dtype_is_float(value->dtype) ||
      n->dtype.bits == value->dtype.bits)
    return cost;
  bool is_pair = c->narrows_pairs && n->dtype.bits == 16 && n->dtype.lanes % 2 == 0;
  cost_add(&cost, operations(c, 0, n->dtype.lanes / (is_pair ? 2.0 : 1.0)));
  return cost;
}

static Cost count_children(Count *c, Node *n) {
  if (IS(Cast, n)) return count_cast(c, n);
  if (IS(Not, n)) return count_expr(c, AS(Not, n)->a);
  if (IS(Broadcast, n)) return count_expr(c, AS(Broadcast, n)->value);
  Cost cost = cost_nothing();
  if (IS(Select, n)) {
    cost = count_expr(c, AS(Select, n)->cond);
    cost_add(&cost, count_expr(c, AS(Select, n)->then));
    cost_add(&cost, count_expr(c, AS(Select, n)->orelse));
  }
  if (IS(Let, n)) {
    cost = count_expr(c, AS(Let, n)->value);
    map_set(&c->values.lets, AS(Let, n)->var, AS(Let, n)->value);
    cost_add(&cost, count_expr(c, AS(Let, n)->body));
  }
  return cost;
}

/* A value that stands twice in a store is computed once. */
static bool is_seen(Count *c, Node *n) {
  if (!IS(BufferLoad, n) && !IS(Cast, n) && !node_is_binary(n->kind)) return false;
  const void *key = (const void *)(uintptr_t)node_hash(n);
  Node *before = map_get(&c->seen, key);
  map_set(&c->seen, key, n);
  return before && node_equal(before, n, false, NULL);
}

static Cost count_expr(Count *c, Node *n) {
  if (is_seen(c, n)) return cost_nothing();
  if (IS(BufferLoad, n))
    return count_element(c, AS(BufferLoad, n)->buffer, AS(BufferLoad, n)->indices, false);
  if (IS(Call, n)) return count_call(c, n);
  return node_is_binary(n->kind) ? count_binary(c, n) : count_children(c, n);
}

/* ---- statements ---- */

static Cost count_stmt(Count *c, Node *n);

static WalkResult find_in_flight(Walker *w, Node *n) {
  (void)w;
  bool waits = is_intrin_call(n, "ptx_wgmma_wait_group");
  return waits && !expr_is_zero(AS(Call, n)->args.at[0]) ? WALK_STOP : WALK_ON;
}

/* Do products of a step run on in the next one? */
static bool has_products_in_flight(For *f) {
  Walker w = {.enter = find_in_flight};
  return !walk(&w, f->body);
}

static Cost count_loop(Count *c, For *f) {
  int64_t extent = 1, min = 0;
  if (!value_of(&c->values, f->extent, &extent))
    c->out->unknown = str_format("how many steps '%s' has", AS(Var, f->var)->name);
  value_of(&c->values, f->min, &min);
  if (extent < 1) return cost_nothing();
  Count around = *c;
  value_bind(&c->values, f->var, min + extent / 2);
  c->times *= (double)extent;
  c->inner = f;
  c->outside = c->conditions.len;
  c->before = cost_nothing();
  c->overlaps |= has_products_in_flight(f);
  Cost step = count_stmt(c, f->body), all = c->before;
  cost_busy(&step, ISSUE, (double)c->out->threads / WARP * OF_STEP / SCHEDULERS);
  c->times = around.times;
  c->inner = around.inner;
  c->outside = around.outside;
  c->overlaps = around.overlaps;
  c->before = around.before;
  cost_add(&all, cost_times(step, (double)extent));
  return all;
}

static Cost count_if(Count *c, IfThenElse *n) {
  Cost cost = count_expr(c, n->cond);
  cost_add(&cost, under(c, n->cond, n->then, count_stmt));
  if (n->orelse) cost_add(&cost, under(c, expr_not(n->cond, n->node.span), n->orelse, count_stmt));
  return cost;
}

static Cost count_barrier(Count *c) {
  Cost cost = cost_nothing();
  c->out->barriers += c->times;
  cost.has_barrier = true;
  cost.waited = c->overlaps ? 0 : BARRIER;
  return cost;
}

static bool is_barrier(Node *n) {
  if (!is_intrin_call(n, "tvm_storage_sync")) return false;
  NodeVec args = AS(Call, n)->args;
  return !(args.len && IS(StringImm, args.at[0]) &&
           str_same(AS(StringImm, args.at[0])->value, "warp"));
}

static Cost count_stmt(Count *c, Node *n) {
  Cost cost = cost_nothing();
  switch (n->kind) {
  case NK_SeqStmt:
    for each (Node *, s, &AS(SeqStmt, n)->stmts) cost_add(&cost, count_stmt(c, *s));
    return cost;
  case NK_For: return count_loop(c, AS(For, n));
  case NK_While: return count_stmt(c, AS(While, n)->body);
  case NK_IfThenElse: return count_if(c, AS(IfThenElse, n));
  case NK_Evaluate:
    return is_barrier(AS(Evaluate, n)->value) ? count_barrier(c)
                                              : count_expr(c, AS(Evaluate, n)->value);
  case NK_BufferStore:
    c->seen = (Map){0};
    cost = count_expr(c, AS(BufferStore, n)->value);
    cost_add(&cost,
             count_element(c, AS(BufferStore, n)->buffer, AS(BufferStore, n)->indices, true));
    return cost;
  case NK_LetStmt:
    cost = count_expr(c, AS(LetStmt, n)->value);
    map_set(&c->values.lets, AS(LetStmt, n)->var, AS(LetStmt, n)->value);
    cost_add(&cost, count_stmt(c, AS(LetStmt, n)->body));
    return cost;
  default: return stmt_rest(n) && *stmt_rest(n) ? count_stmt(c, *stmt_rest(n)) : cost;
  }
}

/* By stores, or by calls that have its address. */
static WalkResult find_written(Walker *w, Node *n) {
  Node *buffer = IS(BufferStore, n) ? AS(BufferStore, n)->buffer : NULL;
  if (is_intrin_call(n, "address_of") && IS(BufferLoad, AS(Call, n)->args.at[0]))
    buffer = AS(BufferLoad, AS(Call, n)->args.at[0])->buffer;
  if (buffer) map_set(w->context, AS(Buffer, buffer)->data, n);
  for (int i = 0; IS(Call, n) && i < AS(Call, n)->args.len; i++)
    if (IS(Var, AS(Call, n)->args.at[i])) map_set(w->context, AS(Call, n)->args.at[i], n);
  return WALK_ON;
}

Cost count_body(Count *c, Node *n) {
  Walker w = {.enter = find_written, .context = &c->written};
  walk(&w, n);
  return count_stmt(c, n);
}
