/* target.h -- what code is made for: "llvm -mcpu=znver3 -num-cores=2" as a struct (target.def). */
#ifndef IR_TARGET_H
#define IR_TARGET_H

#include "ir/ir.h"

typedef struct Target {
  const char *kind;   /* a row of target.def */
  const char *device; /* "cpu" */
  Map options;        /* interned name to text; all options of the kind, defaults filled in */
  const char
      *whole; /* of a target for the host's part of a module: that of the module; else NULL */
} Target;

/* Raises TargetError for an unknown kind or option or a bad value, with the list of what there is.
 */
const Target *target_parse(const char *text, Span span);
const char *target_text(const Target *t);        /* options that differ from the default only */
const char *target_module_text(const Target *t); /* of the module that code is a part of */

/* The same with another value of an option. */
const Target *target_with(const Target *t, const char *name, const char *value);

/* Raises TargetError if no target is told (t is NULL) or its kind has no such option: passes run
 * for any target, and some need numbers that only GPUs have. */
const char *target_option(const Target *t, const char *name);
int64_t target_option_int(const Target *t, const char *name);
int64_t target_most_buffers(const Target *t); /* of a kernel; 0: as many as it likes */

/* The numbers of an llvm target's processor that schedules go by (target_cpu.c). */
typedef struct TargetCpu {
  int cores, vector_bits, vector_registers;
  int64_t l1d_bytes, l2_bytes; /* of one core */
  int64_t l3_bytes;            /* what one core may count on */
} TargetCpu;
TargetCpu target_cpu(const Target *t);
/* Has it the feature, a FEATURE of target_cpu.def? Raises ValueError for other names. */
bool target_has(const Target *t, const char *feature, Span span);

/* A row of target_gpu.def: a GPU by its limits. */
typedef struct TargetGpu {
  const char *name, *ptx; /* ptx NULL: it is none of NVIDIA's */
  int64_t threads, warp, shared, grid[3], block[3];
  const char *doc;
} TargetGpu;
const TargetGpu *target_gpus(int *n);
const TargetGpu *target_gpu_find(const char *name); /* NULL if there is none */
const TargetGpu *target_gpu(const Target *t); /* that it is for, or simulates; NULL: none is told */
int target_gpu_number(const TargetGpu *g);    /* 80 of sm_80; 0: it is none of NVIDIA's, or NULL */
int64_t target_gpu_limit(const TargetGpu *g, const char *option); /* 0: it sets none */
/* A row of target_speed.def: how fast a chip with the architecture is. */
typedef struct TargetSpeed {
  const char *gpu;
  double sms, mhz, floats, tensor;
  int64_t threads, blocks, shared;
  double dram, l2, l2_bytes;
  const char *chip;
} TargetSpeed;
const TargetSpeed *target_speed(const Target *t); /* NULL: it is not known */
/* Is one told, and of that kind? */
bool target_is(const Target *t, const char *kind);
/* Has it kernels of blocks of threads? */
bool target_is_gpu(const Target *t);
/* What a target with kernels runs the host's part of its modules by: an llvm target. */
const Target *target_host(const Target *t);

typedef struct TargetOption {
  const char *kind, *name, *type, *value, *doc;
} TargetOption;
typedef struct TargetKind {
  const char *name, *device, *keys, *doc;
} TargetKind;
const TargetKind *target_kinds(int *n);
const TargetOption *target_options(int *n);

#endif
