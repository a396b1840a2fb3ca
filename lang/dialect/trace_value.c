/* trace_value.c -- tvm.tir.schedule.Trace: the steps of a schedule, as a script, as JSON, and done
 * again. */
#include "lang/dialect/trace_value.h"
#include "lang/value/object.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

static const Trace *self_of(BuiltinCall *call) { return call->self.object; }

/* The trace up to where post-processing starts, if that is not wanted. */
static const Trace *wanted_part(const Trace *t, bool remove_postproc) {
  Trace *part = NEW(Trace, .len = 0);
  if (!remove_postproc) return t;
  for each (Instruction, i, t) {
    if (str_same(i->primitive->name, "enter_postproc")) break;
    vec_push(part, *i);
  }
  return part;
}

static Schedule *schedule_arg(BuiltinCall *call, int i) {
  if (ARG(i).type != &type_schedule)
    raise("TypeError", SPAN(i), "expected a Schedule, found %s", value_type_text(ARG(i)));
  return ARG(i).object;
}

static Value show(BuiltinCall *call) {
  fputs(trace_text(self_of(call)), stdout);
  return value_none();
}

static Value apply_to_schedule(BuiltinCall *call) {
  if (!value_is_none(ARG(2)))
    raise("ValueError", SPAN(2), "decisions are changed in the JSON of a trace");
  trace_replay(wanted_part(self_of(call), value_truth(ARG(1), SPAN(1))), schedule_arg(call, 0),
               true, call->span);
  return value_none();
}

static Value as_json(BuiltinCall *call) {
  return trace_to_json(wanted_part(self_of(call), value_truth(ARG(0), SPAN(0))), call->span);
}

/* The lines of the script. */
static Value as_python(BuiltinCall *call) {
  ValueVec lines = {0};
  const Trace *t = wanted_part(self_of(call), value_truth(ARG(0), SPAN(0)));
  for (const char *at = trace_text(t); *at;) {
    size_t n = strcspn(at, "\n");
    vec_push(&lines, value_str_n(at, n));
    at += n + (at[n] == '\n');
  }
  return value_list(lines);
}

static const Builtin methods[] = {
    {"as_python", "remove_postproc=False", as_python, "the steps as lines of a script"},
    {"show", "*rest, **more", show, "prints the steps as a script"},
    {"apply_to_schedule", "sch, remove_postproc=False, decision_provider=None", apply_to_schedule,
     "runs the steps on another schedule"},
    {"as_json", "remove_postproc=False", as_json, "the steps as data that JSON can hold"},
};
/* What the standard library says of steps. */
static Value trace_attr(Value v, const char *name, Span span) {
  static const char *const values[] = {"insts", "decisions"}, *const functions[] = {
                                                                  "get_decision", "with_decision"};
  for (int i = 0; i < 2; i++) {
    if (str_same(name, values[i]))
      return value_call_with(library_attr("tvm.tir.schedule.trace", name), 1, &v, span);
    if (str_same(name, functions[i])) {
      Value f = library_attr("tvm.tir.schedule.trace", name);
      return value_of(&type_bound_method, NEW(MethodObject, .self = v, .function = f));
    }
  }
  return value_absent();
}

static void trace_str(Value v, Str *out) { str_add(out, trace_text(v.object)); }
const ValueType type_trace = {.name = "Trace",
                              .repr = trace_str,
                              .get_attr = trace_attr,
                              .methods = methods,
                              .method_count = sizeof methods / sizeof *methods};

/* ---- tvm.tir.Trace ---- */

static Value from_json(BuiltinCall *call) {
  return value_of(&type_trace, trace_from_json(ARG(0), SPAN(0)));
}

static Value apply_json(BuiltinCall *call) {
  trace_replay(trace_from_json(ARG(0), SPAN(0)), schedule_arg(call, 1), true, call->span);
  return value_none();
}

static const Builtin trace_builtins[] = {
    {"from_json", "json_obj", from_json, "the trace that as_json gave"},
    {"apply_json_to_schedule", "json_obj, sch", apply_json, "runs the steps of as_json"},
};

static Value trace_static(const char *name) {
  for (size_t i = 0; i < sizeof trace_builtins / sizeof *trace_builtins; i++)
    if (str_same(trace_builtins[i].name, name)) return value_builtin(&trace_builtins[i]);
  return value_absent();
}
const TypeObject trace_class = {.type = &type_trace, .get_static = trace_static};
