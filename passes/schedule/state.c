/* state.c -- the state of a schedule: its module, what its random variables stand for, and the
 * rewriting that keeps them. */
#include "passes/schedule/schedule_impl.h"

typedef enum { RANDOM_BLOCK, RANDOM_LOOP, RANDOM_INT } RandomKind;

typedef struct RandomValue {
  RandomKind kind;
  BlockRef *block;
  const char *func; /* of a loop */
  Node *node;       /* the loop's variable (or a location), or the IntImm */
} RandomValue;

/* ---- the table ---- */

static const Primitive primitives[] = {
#define PRIMITIVE(name, signature, gives, doc)                                                     \
  {#name, signature, GIVES_##gives, primitive_##name, doc},
#define ALIAS(name, of)
#include "passes/schedule/primitive.def"
};
enum { PRIMITIVES = sizeof primitives / sizeof *primitives };

static const struct {
  const char *name, *of;
} aliases[] = {
#define PRIMITIVE(name, signature, gives, doc)
#define ALIAS(name, of) {#name, #of},
#include "passes/schedule/primitive.def"
};

const Primitive *primitive_at(int i) { return i < PRIMITIVES ? &primitives[i] : NULL; }

const Primitive *primitive_find(const char *name) {
  for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
    if (str_same(aliases[i].name, name)) name = aliases[i].of;
  for (int i = 0; i < PRIMITIVES; i++)
    if (str_same(primitives[i].name, name)) return &primitives[i];
  return NULL;
}

/* ---- schedules ---- */

static const char *entry_of(Node *module) {
  const char *found = NULL;
  if (IS(PrimFunc, module_find(module, "main"))) return str_intern("main");
  IRModule *m = AS(IRModule, module);
  for (int i = 0; i < m->functions.len; i++) {
    if (!IS(PrimFunc, m->functions.at[i])) continue;
    if (found) return NULL;
    found = AS(GlobalVar, m->globals.at[i])->name;
  }
  return found ? str_intern(found) : NULL;
}

Schedule *schedule_new(Node *module, ScheduleOptions options) {
  return NEW(Schedule, .module = module, .options = options, .random = options.seed,
             .working_on = entry_of(module));
}

static BlockRef *copied_ref(Map *copies, BlockRef *ref) {
  BlockRef *copy = map_get(copies, ref);
  if (!copy) {
    copy = gc_copy(ref, sizeof *ref);
    map_set(copies, ref, copy);
  }
  return copy;
}

Schedule *schedule_copy(const Schedule *s) {
  Schedule *copy = gc_copy(s, sizeof *s);
  Map copies = {0};
  copy->refs = copy->values = (Map){0};
  copy->trace = (Trace){0};
  for (int i = 0; i < s->refs.len; i++)
    if (s->refs.at[i].key)
      map_set(&copy->refs, s->refs.at[i].key, copied_ref(&copies, s->refs.at[i].value));
  for (int i = 0; i < s->values.len; i++) {
    if (!s->values.at[i].key) continue;
    RandomValue v = *(RandomValue *)s->values.at[i].value;
    if (v.block) v.block = copied_ref(&copies, v.block);
    map_set(&copy->values, s->values.at[i].key, gc_copy(&v, sizeof v));
  }
  for each (Instruction, i, &s->trace) vec_push(&copy->trace, *i);
  return copy;
}

Node *schedule_module(const Schedule *s) { return s->module; }
const Trace *schedule_trace(const Schedule *s) { return &s->trace; }
const char *schedule_working_on(const Schedule *s) { return s->working_on; }

void schedule_work_on(Schedule *s, const char *function, Span span) {
  if (!IS(PrimFunc, module_find(s->module, function)))
    error_raisef("ValueError", span, "the module has no tensor program '%s'", function);
  s->working_on = str_intern(function);
}

/* splitmix64: every seed gives a good sequence. */
static uint64_t next_random(Schedule *s) {
  uint64_t z = s->random += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
void schedule_set_seed(Schedule *s, uint64_t seed) { s->random = seed; }
uint64_t schedule_fork_seed(Schedule *s) { return next_random(s); }

/* ---- running a step ---- */

static void run_step(void *context) {
  ScheduleCall *c = context;
  c->primitive->run(c);
}

/* A step that breaks the module is our fault. */
static void verify_after(const ScheduleCall *c) {
  DiagVec *outer = diag_capture();
  bool good = ir_verify(c->schedule->module);
  DiagVec *found = diag_restore(outer);
  if (good) return;
  diag_append(found);
  BUG("the module is ill-formed after %s", c->primitive->name);
}

NodeVec schedule_apply(Schedule *s, const Primitive *p, NodeVec args, Node *decision, Span span) {
  Schedule before = *schedule_copy(s);
  ScheduleCall call = {.schedule = s, .primitive = p, .decision = decision, .span = span};
  call.before = s->module;
  for each (Node *, a, &args) vec_push(&call.args, *a);
  Error *e = protect(run_step, &call);
  if (e) {
    *s = before;
    error_raise(e);
  }
  if (s->options.verifies && s->module != before.module) verify_after(&call);
  Instruction i = {p, call.args, call.results, call.decision};
  vec_push(&s->trace, i);
  return i.results;
}

bool schedule_would_apply(const Schedule *s, const Primitive *p, NodeVec args, Span span) {
  ScheduleCall call = {.schedule = schedule_copy(s), .primitive = p, .span = span};
  call.schedule->options.render = RENDER_NONE;
  call.before = s->module;
  for each (Node *, a, &args) vec_push(&call.args, *a);
  Error *e = protect(run_step, &call);
  if (e && !str_same(e->kind, "ScheduleError")) error_raise(e);
  return !e;
}

/* ---- places ---- */

Node *prim_func_of(const ScheduleCall *c, const char *func) {
  Node *f = module_find(c->schedule->module, func);
  REQUIRE(IS(PrimFunc, f), "'%s' is a tensor program", func);
  return f;
}

typedef struct Search {
  Node *target; /* a statement, or the Var of a loop */
  NodeVec path;
} Search;

static bool is_target(const Search *s, Node *n) {
  return n == s->target || (IS(For, n) && AS(For, n)->var == s->target);
}

static WalkResult search_enter(Walker *w, Node *n) {
  Search *s = w->context;
  if (node_family(n->kind) != FAMILY_STMT) return WALK_PRUNE;
  vec_push(&s->path, n);
  return is_target(s, n) ? WALK_STOP : WALK_ON;
}
static void search_leave(Walker *w, Node *n) {
  (void)n;
  (void)vec_pop(&((Search *)w->context)->path);
}

Place place_of(const ScheduleCall *c, const char *func, Node *stmt) {
  Search s = {.target = stmt};
  Walker w = {.enter = search_enter, .leave = search_leave, .context = &s};
  Node *f = prim_func_of(c, func);
  bool missing = walk(&w, AS(PrimFunc, f)->body);
  return (Place){func, missing ? (NodeVec){0} : s.path, f};
}

/* ---- rewriting ---- */

void schedule_renew(ScheduleCall *c, Node *old, Node *new) {
  Schedule *s = c->schedule;
  BlockRef *ref = map_get(&s->refs, old);
  if (!ref || old == new) return;
  map_remove(&s->refs, old);
  ref->node = new;
  if (new) map_set(&s->refs, new, ref);
}

Node *schedule_rewrite_children(ScheduleCall *c, Mutator *m, Node *n) {
  Node *out = mutate_children(m, n);
  if (IS(Block, n) && IS(Block, out)) schedule_renew(c, n, out);
  return out;
}

typedef struct Replace {
  Mutator mutator;
  ScheduleCall *call;
  Node *old, *new;
} Replace;

static Node *replace(Mutator *m, Node *n) {
  Replace *r = (Replace *)(void *)m;
  if (n == r->old) return r->new;
  if (node_family(n->kind) != FAMILY_STMT) return n;
  return schedule_rewrite_children(r->call, m, n);
}

void schedule_set_function(ScheduleCall *c, const char *func, Node *prim_func) {
  Schedule *s = c->schedule;
  s->module = module_with(s->module, module_global(s->module, func), prim_func);
}

void schedule_replace(ScheduleCall *c, const char *func, Node *old, Node *new) {
  Replace r = {.mutator = {.rewrite = replace}, .call = c, .old = old, .new = new};
  PrimFunc f = *AS(PrimFunc, prim_func_of(c, func));
  f.body = mutate(&r.mutator, f.body);
  schedule_set_function(c, func, gc_copy(&f, sizeof f));
}

typedef struct SubstituteAll {
  Mutator mutator;
  ScheduleCall *call;
  const Map *map;
} SubstituteAll;

static Node *substitute_everywhere(Mutator *m, Node *n) {
  SubstituteAll *s = (SubstituteAll *)(void *)m;
  Node *to = IS(Var, n) || IS(Buffer, n) ? map_get(s->map, n) : NULL;
  return to ? to : schedule_rewrite_children(s->call, m, n);
}

Node *schedule_substituted(ScheduleCall *c, Node *stmt, const Map *map) {
  SubstituteAll s = {.mutator = {.rewrite = substitute_everywhere}, .call = c, .map = map};
  return mutate(&s.mutator, stmt);
}

void schedule_substitute(ScheduleCall *c, const char *func, const Map *map) {
  schedule_set_function(c, func, schedule_substituted(c, prim_func_of(c, func), map));
}

/* ---- random variables ---- */

static RandomValue *find_value(const Schedule *s, Node *random_var) {
  return random_var ? map_get(&s->values, random_var) : NULL;
}

static RandomValue *need_value(ScheduleCall *c, Node *n, RandomKind kind, const char *what) {
  RandomValue *v = find_value(c->schedule, n);
  if (!v && IS(Var, n))
    schedule_fail(c, NULL, "'%s' is no random variable of this schedule", AS(Var, n)->name);
  if (!v || v->kind != kind) schedule_fail(c, NULL, "expected a %s", what);
  return v;
}

static Node *new_random(ScheduleCall *c, char letter, int *count, DataType t, RandomValue v) {
  Node *var = var_new(str_intern(str_format("%c%d", letter, (*count)++)), t, c->span);
  map_set(&c->schedule->values, var, gc_copy(&v, sizeof v));
  vec_push(&c->results, var);
  return var;
}

BlockRef *block_ref(ScheduleCall *c, const char *func, Node *block) {
  Schedule *s = c->schedule;
  BlockRef *ref = map_get(&s->refs, block);
  if (!ref) {
    ref = NEW(BlockRef, .func = func, .node = block);
    map_set(&s->refs, block, ref);
  }
  return ref;
}

void give_block(ScheduleCall *c, const char *func, Node *block) {
  RandomValue v = {.kind = RANDOM_BLOCK, .block = block_ref(c, func, block)};
  new_random(c, 'b', &c->schedule->blocks, HANDLE, v);
}
void give_loop(ScheduleCall *c, const char *func, Node *loop_var) {
  RandomValue v = {.kind = RANDOM_LOOP, .func = func, .node = loop_var};
  new_random(c, 'l', &c->schedule->loops, HANDLE, v);
}
void give_int(ScheduleCall *c, Node *value) {
  RandomValue v = {.kind = RANDOM_INT, .node = value};
  new_random(c, 'v', &c->schedule->ints, INT32, v);
}

/* ---- arguments ---- */

bool is_block_arg(ScheduleCall *c, int i) {
  RandomValue *v = find_value(c->schedule, c->args.at[i]);
  return IS(StringImm, c->args.at[i]) || (v && v->kind == RANDOM_BLOCK);
}

BlockRef *block_arg(ScheduleCall *c, int i) {
  if (IS(StringImm, c->args.at[i])) return find_block(c, AS(StringImm, c->args.at[i])->value, NULL);
  BlockRef *ref = need_value(c, c->args.at[i], RANDOM_BLOCK, "block")->block;
  if (!ref->node) schedule_fail(c, NULL, "the block is gone: an earlier step removed it");
  return ref;
}

Place loop_place(ScheduleCall *c, Node *random_var) {
  RandomValue *v = need_value(c, random_var, RANDOM_LOOP, "loop");
  int64_t location;
  if (expr_is_const_int(v->node, &location))
    schedule_fail(c, NULL, "'%s' is no loop, but stands for %s", AS(Var, random_var)->name,
                  location == LOCATION_ROOT ? "the root" : "inlining");
  Place p = place_of(c, v->func, v->node);
  if (!p.path.len)
    schedule_fail(c, NULL, "the loop '%s' is gone: an earlier step removed it",
                  AS(Var, v->node)->name);
  return p;
}
Place loop_arg(ScheduleCall *c, int i) { return loop_place(c, c->args.at[i]); }

int location_arg(ScheduleCall *c, int i) {
  RandomValue *v = find_value(c->schedule, c->args.at[i]);
  int64_t location = 0;
  if (v && v->kind == RANDOM_LOOP) expr_is_const_int(v->node, &location);
  return (int)location;
}

bool flag_arg(ScheduleCall *c, int i) {
  int64_t x;
  if (!expr_is_const_int(c->args.at[i], &x)) schedule_fail(c, NULL, "expected True or False");
  return x != 0;
}

int64_t int_arg(ScheduleCall *c, int i, const char *what) {
  Node *n = c->args.at[i] ? expr_value(c, c->args.at[i]) : NULL;
  int64_t x;
  if (!expr_is_const_int(n, &x)) schedule_fail(c, NULL, "%s must be an integer", what);
  return x;
}

const char *text_arg(ScheduleCall *c, int i, const char *what) {
  if (!IS(StringImm, c->args.at[i])) schedule_fail(c, NULL, "%s must be a string", what);
  return AS(StringImm, c->args.at[i])->value;
}

NodeVec list_arg(ScheduleCall *c, int i) {
  if (!IS(Array, c->args.at[i])) schedule_fail(c, NULL, "expected a list");
  return AS(Array, c->args.at[i])->items;
}

Map random_ints(ScheduleCall *c) {
  Map ints = {0};
  Map *values = &c->schedule->values;
  for (int i = 0; i < values->len; i++) {
    RandomValue *v = values->at[i].key ? values->at[i].value : NULL;
    if (v && v->kind == RANDOM_INT) map_set(&ints, values->at[i].key, v->node);
  }
  return ints;
}

Node *expr_value(ScheduleCall *c, Node *n) {
  if (!node_is_expr(n) || !dtype_is_int(n->dtype))
    schedule_fail(c, NULL, "expected an integer, found %s", n ? ir_print(n, NULL) : "None");
  Map ints = random_ints(c);
  return arith_simplify(arith_new(), substitute(n, &ints));
}

Node *schedule_get(const Schedule *s, Node *random_var, Span span) {
  RandomValue *v = find_value(s, random_var);
  if (!v)
    error_raisef("IndexError", span, "'%s' is no random variable of this schedule",
                 ir_print(random_var, NULL));
  if (v->kind == RANDOM_INT || IS(IntImm, v->node)) return v->node;
  Primitive get = {.name = "get"};
  ScheduleCall c = {
      .schedule = (Schedule *)(uintptr_t)s, .primitive = &get, .span = span, .before = s->module};
  if (v->kind == RANDOM_LOOP) {
    Place p = loop_place(&c, random_var);
    return vec_last(&p.path);
  }
  if (!v->block->node) schedule_fail(&c, NULL, "the block is gone: an earlier step removed it");
  return v->block->node;
}

void schedule_remove(Schedule *s, Node *random_var, Span span) {
  if (!find_value(s, random_var))
    error_raisef("IndexError", span, "'%s' is no random variable of this schedule",
                 ir_print(random_var, NULL));
  map_remove(&s->values, random_var);
}

NodeVec schedule_path(const Schedule *s, Node *stmt, Span span) {
  Search search = {.target = stmt};
  Walker w = {.enter = search_enter, .leave = search_leave, .context = &search};
  bool missing = true;
  for each (Node *, f, &AS(IRModule, s->module)->functions)
    if (missing && IS(PrimFunc, *f)) missing = walk(&w, AS(PrimFunc, *f)->body);
  if (missing)
    error_raisef("IndexError", span, "the module of this schedule has no such statement");
  NodeVec path = {0};
  for each (Node *, n, &search.path)
    if (IS(Block, *n) || IS(For, *n)) vec_push(&path, *n);
  return path;
}
