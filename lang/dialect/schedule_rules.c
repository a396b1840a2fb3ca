/* schedule_rules.c -- the schedules that passes ask for, by the rules of tvm.dlight. */
#include "lang/dialect/packed.h"
#include "passes/passes.h"

static Node *apply_rules(Node *func, const PassContext *context) {
  Value schedule = library_attr("tvm.dlight", "schedule_function");
  const char *target = context->target ? target_text(context->target) : "llvm";
  Value args[] = {value_node(func), value_str(target),
                  value_str(pass_option_str(context, "rules"))};
  Value out = value_call_with(schedule, 3, args, func->span);
  if (!value_is_node(out, NK_PrimFunc))
    raise("TypeError", func->span, "a schedule rule must give a tensor program, found %s",
          value_type_name(out));
  return out.node;
}

static void put(Value dict, const char *key, int64_t value) {
  value_dict_set(dict, value_str(key), value_int(value), (Span){0});
}

static Value target_attrs(BuiltinCall *call) {
  const char *text = value_as_text(call->args[0], "a target", call->spans[0]);
  const Target *target = target_parse(text, call->spans[0]);
  TargetCpu cpu = target_cpu(target);
  Value d = value_dict();
  put(d, "num-cores", cpu.cores);
  put(d, "vector-width", cpu.vector_bits);
  put(d, "num-vector-registers", cpu.vector_registers);
  put(d, "l1d-size", cpu.l1d_bytes);
  put(d, "l2-size", cpu.l2_bytes);
  put(d, "l3-size", cpu.l3_bytes);
  put(d, "winograd", target_option_int(target, "winograd"));
  return d;
}

static Value target_number(BuiltinCall *call) {
  const char *text = value_as_text(call->args[0], "a target", call->spans[0]);
  const char *name = value_as_text(call->args[1], "an option", call->spans[1]);
  const Target *target = target_parse(text, call->spans[0]);
  if (!map_has(&target->options, str_intern(name)))
    raise("ValueError", call->spans[1], "the target '%s' has no option '%s'", text, name);
  return value_int(target_option_int(target, name));
}

static Value target_architecture(BuiltinCall *call) {
  const Target *t =
      target_parse(value_as_text(call->args[0], "a target", call->spans[0]), call->spans[0]);
  return value_int(target_gpu_number(target_gpu(t)));
}

static Value target_gpu_name(BuiltinCall *call) {
  const Target *t =
      target_parse(value_as_text(call->args[0], "a target", call->spans[0]), call->spans[0]);
  const TargetGpu *gpu = target_gpu(t);
  return gpu ? value_str(gpu->name) : value_none();
}

static Value target_feature(BuiltinCall *call) {
  const char *text = value_as_text(call->args[0], "a target", call->spans[0]);
  const char *feature = value_as_text(call->args[1], "a feature", call->spans[1]);
  return value_bool(target_has(target_parse(text, call->spans[0]), feature, call->spans[1]));
}

static Value target_llvm_version(BuiltinCall *call) {
  (void)call;
  return value_int(TVMS_LLVM);
}

static const Builtin target_builtins[] = {
    {"attrs", "target", target_attrs, "the numbers of a processor that schedules go by"},
    {"architecture", "target", target_architecture, "80 of sm_80; 0: it is no GPU of NVIDIA's"},
    {"gpu", "target", target_gpu_name, "sm_80 of a GPU that has this name; or None"},
    {"option", "target, name", target_number, "the number that an option of a target has"},
    {"has", "target, feature", target_feature, "has the processor a feature?"},
    {"llvm_version", "", target_llvm_version, "the major version of LLVM"}};

Value target_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = value_namespace("_target");
  namespace_add_builtins(ns, target_builtins, sizeof target_builtins / sizeof *target_builtins);
  return ns;
}

void schedule_rules_start(void) { schedule_rules_hook = apply_rules; }
