/* convert_to_dataflow.c -- bindings without effects that stand side by side become a dataflow
 * block.
 *
 * In:  graph functions, the local ones and branches in them too. Out: blocks of at least min_size
 * bindings, joined with dataflow blocks next to them; variables that only their block uses are
 * local to it. Not: branches, and what a local function uses, which stays visible. */
#include "passes/graph/binding_order.h"
#include "passes/passes.h"

typedef struct Run {
  NodeVec bindings;
  bool is_dataflow; /* becomes a block of dataflow, or stays one of plain bindings */
} Run;
typedef VEC(Run) RunVec;

typedef struct Converter {
  int64_t min_size;
  Map total; /* RelaxVar to the number of its mentions in the function, as a pointer */
  Map local; /* RelaxVar to the dataflow variable that stands for it */
} Converter;

/* ---- mentions of variables ---- */

static void add_mention(Map *count, Node *var) {
  map_set(count, var, (char *)map_get(count, var) + 1);
}

static WalkResult count_mention(Walker *w, Node *n) {
  if (IS(RelaxVar, n)) add_mention(w->context, n);
  return WALK_ON;
}

static WalkResult count_outside_of_functions(Walker *w, Node *n) {
  return IS(Function, n) ? WALK_PRUNE : count_mention(w, n);
}

/* Variables of the run that nothing else mentions become local. */
static void find_local(Converter *c, const Run *run) {
  Map inside = {0};
  Walker w = {.enter = count_outside_of_functions, .context = &inside};
  for each (Node *, b, &run->bindings) walk(&w, *b);
  for each (Node *, b, &run->bindings) {
    RelaxVar v = *AS(RelaxVar, binding_var(*b));
    if (v.is_dataflow || map_get(&inside, binding_var(*b)) != map_get(&c->total, binding_var(*b)))
      continue;
    v.is_dataflow = true;
    map_set(&c->local, binding_var(*b), gc_copy(&v, sizeof v));
  }
}

/* ---- runs of bindings ---- */

static bool is_pure(Node *binding) {
  Node *value = binding_value(binding);
  return !IS(RelaxIf, value) && !(IS(RelaxCall, value) && relax_call_has_effects(value));
}

static void end_run(Converter *c, Run *run, bool had_dataflow, RunVec *out) {
  if (!run->bindings.len) return;
  run->is_dataflow = had_dataflow || run->bindings.len >= c->min_size;
  if (run->is_dataflow) find_local(c, run);
  vec_push(out, *run);
  *run = (Run){0};
}

static RunVec runs_of(Converter *c, NodeVec blocks) {
  RunVec out = {0};
  Run run = {0};
  bool had_dataflow = false;
  for each (Node *, n, &blocks) {
    BindingBlock *block = AS(BindingBlock, *n);
    for each (Node *, b, &block->bindings) {
      if (block->is_dataflow || is_pure(*b)) {
        vec_push(&run.bindings, *b);
        had_dataflow |= block->is_dataflow;
        continue;
      }
      end_run(c, &run, had_dataflow, &out);
      had_dataflow = false;
      vec_push(&out, (Run){.bindings = NODES(*b)});
    }
  }
  end_run(c, &run, had_dataflow, &out);
  return out;
}

/* ---- the function ---- */

static bool is_same(const RunVec *runs, NodeVec blocks) {
  if (runs->len != blocks.len) return false;
  for (int i = 0; i < blocks.len; i++) {
    BindingBlock *b = AS(BindingBlock, blocks.at[i]);
    if (b->is_dataflow != runs->at[i].is_dataflow || b->bindings.len != runs->at[i].bindings.len)
      return false;
  }
  return true;
}

static Node *convert(Mutator *m, Node *n) {
  Converter *c = m->context;
  if (IS(Var, n)) return n;
  if (IS(RelaxVar, n)) return map_has(&c->local, n) ? map_get(&c->local, n) : n;
  if (!IS(SeqExpr, n)) return mutate_children(m, n);
  SeqExpr s = *AS(SeqExpr, n);
  RunVec runs = runs_of(c, s.blocks);
  if (!is_same(&runs, s.blocks)) {
    NodeVec blocks = {0};
    for each (Run, r, &runs)
      vec_push(&blocks, MAKE(BindingBlock, r->bindings.at[0]->span, VOID_TYPE,
                             .is_dataflow = r->is_dataflow, .bindings = r->bindings));
    s.blocks = blocks_normal(blocks);
    n = gc_copy(&s, sizeof s);
  }
  return mutate_children(m, n);
}

Node *pass_convert_to_dataflow(Node *n, const PassContext *context) {
  Converter c = {.min_size = pass_option_int(context, "min_size")};
  Walker w = {.enter = count_mention, .context = &c.total};
  walk(&w, n);
  Mutator m = {.rewrite = convert, .context = &c};
  return mutate_children(&m, n);
}
