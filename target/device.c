/* device.c -- see device.h. */
#include "target/device.h"
#include "lower/lower.h"
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
    if (is_device_function(m->functions.at[i])) out = module_without(out, name);
    else if (IS(PrimFunc, m->functions.at[i]))
      out = module_with(out, m->globals.at[i], mutate_children(&mutator, m->functions.at[i]));
  }
  return out;
}

TvmsModule *device_load(Node *module, const Target *target) {
  const char *code = backend_find(target->kind)->device_code(module, target);
  return backend_find("llvm")->load(host_module(module, code), target_host(target));
}

/* A browser has WebAssembly beside WebGPU. */
static const Target *host_of_browser(const Target *target, const Target *host) {
  if (!str_same(target->kind, "webgpu")) backend_refuse(target->kind, EMIT_WASM);
  return target_with(host, "mtriple", "wasm32-wasi");
}

void device_emit(Node *module, const Target *target, EmitKind kind, const char *path) {
  const Backend *b = backend_find(target->kind);
  bool is_source = b->device_source && kind == b->source_text;
  bool is_text = is_source || kind == b->device_text;
  if (kind > EMIT_SHARED && !is_text) backend_refuse(b->name, kind);
  const char *code = (is_source ? b->device_source : b->device_code)(module, target);
  if (!is_text) {
    const Target *host = target_host(target);
    if (kind == EMIT_WASM) host = host_of_browser(target, host);
    backend_find("llvm")->emit(host_module(module, code), host, kind, path);
    return;
  }
  const char *at = output_begin(path);
  output_write(at, code);
  output_end(path, at, NULL);
}
