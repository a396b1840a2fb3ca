/* build_target.c -- what modules are built for: the target that a script names, or the command
 * line; with --sanitize a simulated GPU that checks. */
#include "lang/dialect/build_target.h"

BuildDefaults build_defaults;

/* The model of a simulated GPU that stands for a target. */
static const char *model_for(const Target *t) {
  const TargetGpu *gpu = target_gpu(t);
  return gpu ? gpu->name : target_gpu_find(t->kind) ? t->kind : "cuda";
}

/* The GPU that checks in the place of a target. */
static const Target *checking(const Target *t) {
  const char *usual = build_defaults.target ? build_defaults.target : "";
  if (str_same(t->kind, "interp")) return t;
  if (!str_same(t->kind, "sim"))
    t = target_parse(strncmp(usual, "sim", 3) == 0 ? usual
                                                   : str_format("sim -model=%s", model_for(t)),
                     (Span){0});
  t = target_with(t, "sanitize", "1");
  return build_defaults.tells ? target_with(t, "report", "1") : t;
}

const Target *build_target(const char *text, Span span) {
  const char *usual = build_defaults.target ? build_defaults.target : "llvm";
  const Target *t = target_parse(text ? text : usual, span);
  return build_defaults.sanitizes ? checking(t) : t;
}
