/* build.c -- the pipeline of a target's kind, and the passes of this folder. */
#define PASS_FILE "lower/lower.def"
#include "passes/rows.h"
#include "lower/lower.h"

static const NamedPipeline pipelines[] = {
#define PIPELINE(name, text, doc) {#name, text, doc},
#include "lower/pipeline.def"
};

void lower_start(void) {
  pass_register(rows, ROWS);
  pipeline_register(pipelines, sizeof pipelines / sizeof *pipelines);
}

Node *lower_module(Node *module, const Target *target) {
  return lower_module_watched(module, target, NULL);
}

Node *lower_module_watched(Node *module, const Target *target, const Instruments *instruments) {
  bool checks =
      map_has(&target->options, str_intern("sanitize")) && target_option_int(target, "sanitize");
  const NamedPipeline *p =
      pipeline_find(checks ? str_format("%s_sanitize", target->kind) : target->kind);
  REQUIRE(p, "target kind %s has a pipeline", target->kind);
  Pipeline passes = pipeline_parse(p->text, (Span){0});
  return pipeline_run(&passes, module, target, instruments);
}
