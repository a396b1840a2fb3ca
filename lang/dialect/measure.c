/* measure.c -- what the module tvm.measure stands on: calls timed without the interpreter between
 * them, the arithmetic of a function counted, the number of threads. */
#include "lang/dialect/packed.h"
#include "ir/analysis/flops.h"
#include "passes/passes.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

static Value measure_seconds(BuiltinCall *call) {
  ValueVec args = value_to_vec(ARG(1), SPAN(1));
  int64_t number = value_as_int(ARG(2), "the number of calls", SPAN(2));
  return value_float(packed_seconds(ARG(0), &args, number, call->span));
}

/* (operations, multiply-adds), or None. */
static Value measure_flops(BuiltinCall *call) {
  Node *m = to_module(ARG(0), SPAN(0));
  Node *func = module_find(m, value_as_text(ARG(1), "the name of a function", SPAN(1)));
  if (!func) raise("ValueError", SPAN(1), "the module has no function '%s'", value_text(ARG(1)));
  Map sizes = {0};
  for each (Value, pair, value_items(ARG(2))) {
    ValueVec *p = value_items(*pair);
    map_set(&sizes, p->at[0].node, to_expr(p->at[1], SPAN(2)));
  }
  Flops f = flops_of(m, func, &sizes);
  if (!f.known) return value_none();
  return value_tuple_of(2, value_float(f.operations), value_float(f.multiply_adds));
}

/* The passes of a pipeline, each as the text of a pipeline of one. */
static Value measure_passes(BuiltinCall *call) {
  Pipeline p = pipeline_parse(value_as_text(ARG(0), "a pipeline", SPAN(0)), SPAN(0));
  ValueVec out = {0};
  for (int i = 0; i < p.len; i++)
    vec_push(&out, value_str(pipeline_text(&(Pipeline){.at = &p.at[i], .len = 1})));
  return value_list(out);
}

static Value measure_threads(BuiltinCall *call) {
  (void)call;
  return value_int(tvms_num_threads());
}

static Value measure_set_threads(BuiltinCall *call) {
  int64_t n = value_as_int(ARG(0), "the number of threads", SPAN(0));
  if (n < 0 || n > INT32_MAX)
    raise("ValueError", SPAN(0), "the number of threads must not be negative (0: one for a core)");
  tvms_set_num_threads((int)n);
  return value_none();
}

static const Builtin builtins[] = {
    {"seconds", "function, args, number", measure_seconds, "how long so many calls take"},
    {"flops", "module, name, sizes", measure_flops, "what one call computes"},
    {"passes", "pipeline", measure_passes, "the passes of a pipeline, one by one"},
    {"threads", "", measure_threads, "how many threads parallel loops use"},
    {"set_threads", "n", measure_set_threads, "changes that; 0: one for each core"},
};

Value measure_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = value_namespace("_measure");
  namespace_add_builtins(ns, builtins, sizeof builtins / sizeof *builtins);
  return ns;
}
