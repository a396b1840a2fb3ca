/* target_gpu.c -- the numbers of a GPU's architecture (target_gpu.def), and the limits that
 * programs for a device keep to. */
#include "ir/target.h"
#include <stdlib.h>

static const TargetGpu gpus[] = {
#define GPU(name, shared, ptx) {name, ptx, shared},
#include "ir/target_gpu.def"
};
enum { GPUS = sizeof gpus / sizeof *gpus };

const TargetGpu *target_gpu(const Target *t) {
  const char *name = target_option(t, "arch");
  Str known = {0};
  for (int i = 0; i < GPUS; i++) {
    if (str_same(gpus[i].name, name)) return &gpus[i];
    str_printf(&known, "%s%s", i ? ", " : "", gpus[i].name);
  }
  error_raisef("TargetError", (Span){0}, "option -arch: there is no '%s'; there are %s", name,
               str_text(&known));
}

int target_gpu_number(const TargetGpu *g) { return atoi(g->name + strlen("sm_")); }

int64_t target_limit(const Target *t, const char *name) {
  int64_t value = target_option_int(t, name);
  bool of_gpu = value == 0 && str_same(name, "max_shared_memory_per_block");
  return of_gpu ? target_gpu(t)->shared_bytes : value;
}
