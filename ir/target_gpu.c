/* target_gpu.c -- the GPUs of target_gpu.def, and how fast those of target_speed.def are. */
#include "ir/target.h"
#include <stdlib.h>

static const TargetGpu gpus[] = {
#define GPU(name, ptx, threads, warp, shared, grid_x, grid_yz, block_xy, block_z, doc)             \
  {#name, ptx, threads, warp, shared, {grid_x, grid_yz, grid_yz}, {block_xy, block_xy, block_z},   \
   doc},
#include "ir/target_gpu.def"
};
enum { GPUS = sizeof gpus / sizeof *gpus };

const TargetGpu *target_gpus(int *n) {
  *n = GPUS;
  return gpus;
}

const TargetGpu *target_gpu_find(const char *name) {
  if (str_same(name, "cuda")) name = "sm_80";
  for (int i = 0; i < GPUS; i++)
    if (str_same(gpus[i].name, name)) return &gpus[i];
  return NULL;
}

const TargetGpu *target_gpu(const Target *t) {
  if (!t) return NULL;
  const char *name = map_get(&t->options, str_intern("arch"));
  if (!name) name = map_get(&t->options, str_intern("model"));
  return target_gpu_find(name ? name : t->kind);
}

int target_gpu_number(const TargetGpu *g) {
  return g && g->ptx ? atoi(g->name + strlen("sm_")) : 0;
}

int64_t target_gpu_limit(const TargetGpu *g, const char *option) {
  if (str_same(option, "max_threads_per_block")) return g->threads;
  if (str_same(option, "thread_warp_size")) return g->warp;
  if (str_same(option, "max_shared_memory_per_block")) return g->shared;
  return 0;
}

static const TargetSpeed speeds[] = {
#define SPEED(gpu, sms, mhz, floats, tensor, threads, blocks, shared, dram, l2, l2_bytes, chip)    \
  {#gpu, sms, mhz, floats, tensor, threads, blocks, shared, dram, l2, l2_bytes, chip},
#include "ir/target_speed.def"
};

const TargetSpeed *target_speed(const Target *t) {
  const TargetGpu *gpu = target_gpu(t);
  for (size_t i = 0; gpu && i < sizeof speeds / sizeof *speeds; i++)
    if (str_same(speeds[i].gpu, gpu->name)) return &speeds[i];
  return NULL;
}
