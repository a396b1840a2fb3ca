/* schedule_value.c -- tvm.tir.Schedule: schedules and their traces as values of the language. The
 * methods are the rows of primitive.def, and those below. */
#include "lang/dialect/trace_value.h"
#include "lang/dialect/node_class.h"
#include "lang/dialect/packed.h"
#include "lang/dialect/schedule_place.h"
#include "lang/value/object.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

/* ---- arguments ---- */

static Node *to_argument(Value v, Span span) {
  stack_check(span);
  if (value_is_none(v)) return NULL;
  if (v.type == &type_node) return v.node;
  if (v.type != &type_list && v.type != &type_tuple) return to_attr(v, span);
  NodeVec items = {0};
  for each (Value, x, value_items(v)) {
    Node *n = to_argument(*x, span);
    vec_push(&items, n ? n : MAKE(None, span, VOID_TYPE));
  }
  return MAKE(Array, span, VOID_TYPE, .items = items, .is_tuple = v.type == &type_tuple);
}

/* A call of a primitive, while its arguments are gathered. */
typedef struct Gather {
  const Schedule *schedule;
  const Primitive *primitive;
  NodeVec nodes;
  Node *decision;
  IntVec separators; /* where a map of a layout ends physical dimensions */
} Gather;

/* What the lambda of a parameter takes if it takes any number: the indices of the buffer before it,
 * the variables of the block, or what the map before it gives. */
static int inputs_of(const Gather *g, const char *param, Span span) {
  if (str_same(param, "pad_value")) return AS(IndexMap, g->nodes.at[2])->outputs.len;
  bool of_buffer = str_same(g->primitive->name, "transform_layout");
  return schedule_rank(g->schedule, g->primitive, g->nodes.at[0], of_buffer ? g->nodes.at[1] : NULL,
                       span);
}

/* lambda i: [(i, i + 4), 0] as a map to the begin and the end of each range. */
static Node *ranges_map(Gather *g, Value f, Span span) {
  int n = schedule_rank(g->schedule, g->primitive, g->nodes.at[0], NULL, span);
  NodeVec inputs = {0}, ends = {0};
  ValueVec args = {0};
  if (function_arity(f, n) != n)
    raise("TypeError", span, "the map must take the %d variables of the block", n);
  for (int i = 0; i < n; i++) {
    vec_push(&inputs, var_new(str_intern(str_format("i%d", i)), INT32, span));
    vec_push(&args, value_node(inputs.at[i]));
  }
  ValueVec dims = value_to_vec(value_call_with(f, n, args.at, span), span);
  for each (Value, d, &dims) {
    bool is_range = d->type == &type_tuple || d->type == &type_list;
    NodeVec pair = is_range ? to_exprs(*d, span) : NODES(to_expr(*d, span));
    if (pair.len > 2) raise("TypeError", span, "a range is (begin, end)");
    vec_push(&ends, pair.at[0]);
    vec_push(&ends, pair.len == 2 ? pair.at[1] : expr_add(pair.at[0], int_imm(INT32, 1, span)));
  }
  return MAKE(IndexMap, span, VOID_TYPE, .inputs = inputs, .outputs = ends);
}

static Node *argument(Gather *g, const char *param, Value v, Span span) {
  if (str_same(param, "gen_new_ranges") && function_arity(v, 0) >= 0) return ranges_map(g, v, span);
  bool is_map = str_same(param, "index_map") || str_same(param, "pad_value");
  if (!is_map || function_arity(v, 0) < 0) return to_argument(v, span);
  IntVec separators = {0};
  Node *map = index_map_from(v, inputs_of(g, param, span), INT32, &separators, span);
  if (separators.len && !str_same(g->primitive->name, "transform_layout"))
    raise("TypeError", span, "axis separators are of layouts: use transform_layout");
  if (str_same(param, "index_map")) g->separators = separators;
  return map;
}

/* The separators that the map of transform_layout had, as a step of their own: of the buffer as
 * that step names it. */
static void set_separators(Schedule *s, const Gather *g, Span span) {
  NodeVec items = {0}, before = vec_last(schedule_trace(s)).args;
  for each (int, at, &g->separators) vec_push(&items, int_imm(INT32, *at, span));
  NodeVec args = NODES(before.at[0], before.at[1], MAKE(Array, span, VOID_TYPE, .items = items));
  schedule_apply(s, primitive_find("set_axis_separator"), args, NULL, span);
}

static Value results_value(const Primitive *p, NodeVec results) {
  if (p->gives == GIVES_NONE) return value_none();
  if (p->gives == GIVES_ONE) return value_node(results.at[0]);
  ValueVec items = {0};
  for each (Node *, r, &results) vec_push(&items, value_node(*r));
  return value_list(items);
}

/* ---- a primitive of a schedule, to be called ---- */

typedef struct BoundPrimitive {
  Schedule *schedule;
  const Primitive *primitive;
} BoundPrimitive;

static Value call_primitive(Value f, CallArgs *args) {
  const BoundPrimitive *b = f.object;
  const Signature *signature = signature_parse(b->primitive->signature);
  Value *values = gc_alloc(sizeof *values * (size_t)(signature->params.len + 1));
  Span *spans = gc_alloc(sizeof *spans * (size_t)(signature->params.len + 1));
  signature_bind(signature, b->primitive->name, args, NULL, values, spans);
  Gather g = {.schedule = b->schedule, .primitive = b->primitive};
  for (int i = 0; i < signature->params.len; i++) {
    const char *param = signature->params.at[i].name;
    Node *n = argument(&g, param, values[i], spans[i]);
    if (str_same(param, "decision")) g.decision = n;
    else vec_push(&g.nodes, n);
  }
  NodeVec results = schedule_apply(b->schedule, b->primitive, g.nodes, g.decision, args->span);
  if (g.separators.len) set_separators(b->schedule, &g, args->span);
  return results_value(b->primitive, results);
}

static void primitive_repr(Value v, Str *out) {
  str_printf(out, "<schedule primitive %s>", ((BoundPrimitive *)v.object)->primitive->name);
}
static const ValueType type_primitive = {
    .name = "schedule primitive", .call = call_primitive, .repr = primitive_repr};

/* ---- schedules ---- */

static Schedule *schedule_of(BuiltinCall *call) { return call->self.object; }
static Value value_schedule(Schedule *s) { return value_of(&type_schedule, s); }

static Node *random_arg_at(BuiltinCall *call, int i) {
  if (ARG(i).type != &type_node)
    raise("TypeError", SPAN(i), "expected a random variable, found %s", value_type_text(ARG(i)));
  return ARG(i).node;
}
static Node *random_arg(BuiltinCall *call) { return random_arg_at(call, 0); }

static Value work_on(BuiltinCall *call) {
  schedule_work_on(schedule_of(call), value_as_text(ARG(0), "the name of a function", SPAN(0)),
                   call->span);
  return value_none();
}
static Value copy(BuiltinCall *call) { return value_schedule(schedule_copy(schedule_of(call))); }
static Value seed(BuiltinCall *call) {
  schedule_set_seed(schedule_of(call), (uint64_t)value_as_int(ARG(0), "a seed", SPAN(0)));
  return value_none();
}
static Value fork_seed(BuiltinCall *call) {
  return value_int((int64_t)(schedule_fork_seed(schedule_of(call)) >> 33));
}
static Value get(BuiltinCall *call) {
  if (ARG(0).type == &type_sref) return value_node(sref_stmt(ARG(0)));
  Node *n = schedule_get(schedule_of(call), random_arg(call), call->span);
  int64_t i;
  return expr_is_const_int(n, &i) ? value_int(i) : value_node(n);
}
/* Of a random variable, or of a statement that was got before. */
static Value get_sref(BuiltinCall *call) {
  Schedule *s = schedule_of(call);
  Node *n = random_arg(call);
  return value_sref(s, IS(Block, n) || IS(For, n) ? n : schedule_get(s, n, call->span), call->span);
}
static Value remove_rv(BuiltinCall *call) {
  schedule_remove(schedule_of(call), random_arg(call), call->span);
  return value_none();
}
static Value can_decompose_padding(BuiltinCall *call) {
  NodeVec args = NODES(to_argument(ARG(0), SPAN(0)), random_arg_at(call, 1));
  return value_bool(schedule_would_apply(schedule_of(call), primitive_find("decompose_padding"),
                                         args, call->span));
}
static Value show(BuiltinCall *call) {
  fputs(ir_print(schedule_module(schedule_of(call)), NULL), stdout);
  printf("\n# trace\n%s", trace_text(schedule_trace(schedule_of(call))));
  return value_none();
}

static const Builtin schedule_methods[] = {
    {"work_on", "func_name", work_on, "the function that blocks are looked up in"},
    {"copy", "", copy,
     "another schedule in the same state; the random variables are valid in both"},
    {"seed", "seed", seed, "sets the seed of sampling"},
    {"fork_seed", "", fork_seed, "draws a seed for another schedule"},
    {"get", "rand_var_or_sref", get,
     "the block, loop or integer that a random variable stands for"},
    {"get_sref", "rand_var_or_stmt", get_sref,
     "where a block or loop stands: stmt, parent, seq_index"},
    {"remove_rv", "rand_var", remove_rv, "forgets a random variable"},
    {"can_decompose_padding", "block, loop", can_decompose_padding,
     "would decompose_padding be done?"},
    {"show", "*rest, **more", show, "prints the module and the trace"},
};

static Value schedule_attr(Value v, const char *name, Span span) {
  (void)span;
  Schedule *s = v.object;
  if (str_same(name, "mod")) return value_node(schedule_module(s));
  if (str_same(name, "state")) return v; /* it is its own state */
  if (str_same(name, "trace")) return value_of(&type_trace, (void *)(uintptr_t)schedule_trace(s));
  if (str_same(name, "func_working_on")) {
    const char *func = schedule_working_on(s);
    return func ? value_node(module_global(schedule_module(s), func)) : value_none();
  }
  const Primitive *p = primitive_find(name);
  if (!p) return value_absent();
  return value_of(&type_primitive, NEW(BoundPrimitive, .schedule = s, .primitive = p));
}

static void schedule_names(Value v, StrVec *out) {
  (void)v;
  vec_push(out, "mod");
  vec_push(out, "trace");
  for (int i = 0; primitive_at(i); i++) vec_push(out, primitive_at(i)->name);
}

const ValueType type_schedule = {.name = "Schedule",
                                 .get_attr = schedule_attr,
                                 .attr_names = schedule_names,
                                 .methods = schedule_methods,
                                 .method_count =
                                     sizeof schedule_methods / sizeof *schedule_methods};

static ErrorRender render_arg(BuiltinCall *call, int i) {
  static const char *const levels[] = {"none", "fast", "detail"};
  const char *level = value_as_text(ARG(i), "error_render_level", SPAN(i));
  for (int k = 0; k < 3; k++)
    if (str_same(levels[k], level)) return (ErrorRender)k;
  raise("ValueError", SPAN(i), "error_render_level is 'none', 'fast' or 'detail', found '%s'",
        level);
}

/* "none", or what is verified after each step: all is the module. Numbers are flags. */
static bool debug_arg(BuiltinCall *call, int i) {
  if (ARG(i).type == &type_int) return value_as_int(ARG(i), "debug_mask", SPAN(i)) != 0;
  const char *mask = value_as_text(ARG(i), "debug_mask", SPAN(i));
  if (str_same(mask, "all") || str_same(mask, "none")) return str_same(mask, "all");
  raise("ValueError", SPAN(i), "debug_mask is 'all', 'none' or a number, found '%s'", mask);
}

static Value new_schedule(BuiltinCall *call) {
  if (ARG(0).type == &type_poison) raise(ERROR_POISONED, SPAN(0), "an earlier error");
  Node *m = to_module(ARG(0), SPAN(0));
  int64_t seed = value_is_none(ARG(1)) ? 0 : value_as_int(ARG(1), "a seed", SPAN(1));
  ScheduleOptions options = {
      .seed = (uint64_t)seed, .verifies = debug_arg(call, 2), .render = render_arg(call, 3)};
  return value_schedule(schedule_new(m, options));
}

/* ---- tensor intrinsics ---- */

static Node *program_arg(BuiltinCall *call, int i) {
  if (value_is_node(ARG(i), NK_PrimFunc)) return ARG(i).node;
  if (ARG(i).type == &type_poison) raise(ERROR_POISONED, SPAN(i), "an earlier error");
  raise("TypeError", SPAN(i), "expected a tensor program, found %s", value_type_text(ARG(i)));
}

static Value intrin_register(BuiltinCall *call) {
  tensor_intrin_register(value_as_text(ARG(0), "the name of an intrinsic", SPAN(0)),
                         program_arg(call, 1), program_arg(call, 2), value_truth(ARG(3), SPAN(3)),
                         call->span);
  return value_none();
}

static Value intrin_get(BuiltinCall *call) {
  const char *name = value_as_text(ARG(0), "the name of an intrinsic", SPAN(0));
  const TensorIntrin *t = tensor_intrin_find(name);
  if (t) return value_tuple_of(2, value_node(t->description), value_node(t->implementation));
  if (value_truth(ARG(1), SPAN(1))) return value_none();
  raise("ValueError", SPAN(0), "there is no tensor intrinsic '%s'", name);
}

const Builtin tensor_intrin_builtins[] = {
    {"register", "name, desc, impl, override=False", intrin_register,
     "declares a tensor intrinsic: a description and an implementation"},
    {"get", "name, allow_missing=False", intrin_get,
     "description and implementation of a tensor intrinsic"},
};
const int tensor_intrin_builtin_count =
    sizeof tensor_intrin_builtins / sizeof *tensor_intrin_builtins;

static const Builtin schedule_builtin = {
    "Schedule", "mod, seed=None, debug_mask='none', error_render_level='detail', enable_check=True",
    new_schedule, "a schedule of the tensor programs of a module"};
const TypeObject schedule_class = {.type = &type_schedule, .constructor = &schedule_builtin};
