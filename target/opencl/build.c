/* build.c -- a module for OpenCL: the text of its device functions goes into the code of its host
 * functions, which LLVM compiles. */
#include "target/opencl/opencl.h"
#include "target/output.h"

/* tvms_device_launch(type, id, address_of(kernel), ...): the text in the place of the address. */
static Node *embed(Mutator *m, Node *n) {
  if (!is_intrin_call(n, "call_extern")) return mutate_children(m, n);
  Call *call = AS(Call, n);
  bool launches = call->args.len > 4 && IS(StringImm, call->args.at[0]) &&
                  str_same(AS(StringImm, call->args.at[0])->value, "tvms_device_launch");
  if (!launches) return mutate_children(m, n);
  Call copy = *call;
  copy.args = (NodeVec){0};
  for each (Node *, a, &call->args) vec_push(&copy.args, *a);
  copy.args.at[3] = string_imm(m->context, n->span);
  return gc_copy(&copy, sizeof copy);
}

/* The functions for the CPU. */
static Node *host_module(Node *module, const char *source) {
  IRModule *m = AS(IRModule, module);
  Mutator mutator = {.rewrite = embed, .context = (void *)(uintptr_t)source};
  Node *out = module;
  for (int i = 0; i < m->functions.len; i++) {
    const char *name = AS(GlobalVar, m->globals.at[i])->name;
    if (opencl_is_device(m->functions.at[i])) out = module_without(out, name);
    else if (IS(PrimFunc, m->functions.at[i]))
      out = module_with(out, m->globals.at[i], mutate_children(&mutator, m->functions.at[i]));
  }
  return out;
}

static TvmsModule *load(Node *module, const Target *target) {
  Node *host = host_module(module, opencl_source(module, target));
  return backend_find("llvm")->load(host, target_host(target));
}

static void emit(Node *module, const Target *target, EmitKind kind, const char *path) {
  if (kind == EMIT_C)
    error_raisef("CompileError", (Span){0}, "the opencl target writes no C: use --target c");
  const char *source = opencl_source(module, target);
  if (kind != EMIT_DEVICE) {
    backend_find("llvm")->emit(host_module(module, source), target_host(target), kind, path);
    return;
  }
  const char *at = output_begin(path);
  output_write(at, source);
  output_end(path, at, NULL);
}

const Backend backend_opencl = {.name = "opencl",
                                .doc = "OpenCL C for devices, and the host's part through LLVM",
                                .load = load,
                                .emit = emit};
