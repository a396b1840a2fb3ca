/* sim.c -- a GPU simulated by the CPU: functions for a device are loops over blocks and threads by
 * now (LowerThreadsToLoops), which LLVM compiles with the host's part; to be checked, they are
 * interpreted as they are. */
#include "target/target.h"

static TvmsModule *load(Node *module, const Target *target) {
  bool checks = target_option_int(target, "sanitize") != 0;
  return checks ? backend_find("interp")->load(module, target)
                : backend_find("llvm")->load(module, target_host(target));
}

static void emit(Node *module, const Target *target, EmitKind kind, const char *path) {
  if (kind > EMIT_SHARED) backend_refuse("sim", kind);
  if (target_option_int(target, "sanitize"))
    error_raisef("CompileError", (Span){0},
                 "what is built with -sanitize runs in this process only: run it by `tvms run "
                 "--sanitize`");
  backend_find("llvm")->emit(module, target_host(target), kind, path);
}

const Backend backend_sim = {.name = "sim",
                             .doc = "a GPU simulated by the CPU, at the speed of compiled code",
                             .load = load,
                             .emit = emit};
