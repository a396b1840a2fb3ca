/* target_model.c -- the GPUs of target_model.def: limits that a target leaves to its model. */
#include "ir/target.h"

static const TargetModel models[] = {
#define MODEL(name, threads, warp, shared, grid_x, grid_yz, block_xy, block_z, doc)                \
  {#name, threads, warp, shared, {grid_x, grid_yz, grid_yz}, {block_xy, block_xy, block_z}, doc},
#include "ir/target_model.def"
};
enum { MODELS = sizeof models / sizeof *models };

const TargetModel *target_model_find(const char *name) {
  for (int i = 0; i < MODELS; i++)
    if (str_same(models[i].name, name)) return &models[i];
  return NULL;
}

const TargetModel *target_models(int *n) {
  *n = MODELS;
  return models;
}

const TargetModel *target_model(const Target *t) {
  const char *name = map_get(&t->options, str_intern("model"));
  return name ? target_model_find(name) : NULL;
}

int64_t target_model_limit(const TargetModel *m, const char *option) {
  if (str_same(option, "max_threads_per_block")) return m->threads;
  if (str_same(option, "thread_warp_size")) return m->warp;
  if (str_same(option, "max_shared_memory_per_block")) return m->shared;
  return 0;
}
