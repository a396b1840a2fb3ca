/* target_cpu.c -- the numbers of a processor that schedules go by: given as options of the target,
 * or this machine's, or those of the processor that is named. */
#include "ir/target.h"
#include <sched.h>
#include <string.h>
#include <unistd.h>

typedef struct Row {
  const char *name;
  int bits, registers;
} Row;

static const Row cpus[] = {
#define CPU(name, bits, registers) {name, bits, registers},
#define FEATURE(name, bits, registers)
#define ARCH(name, bits, registers)
#include "ir/target_cpu.def"
    {0}};
static const Row features[] = {
#define CPU(name, bits, registers)
#define FEATURE(name, bits, registers) {name, bits, registers},
#define ARCH(name, bits, registers)
#include "ir/target_cpu.def"
    {0}};
static const Row archs[] = {
#define CPU(name, bits, registers)
#define FEATURE(name, bits, registers)
#define ARCH(name, bits, registers) {name, bits, registers},
#include "ir/target_cpu.def"
    {0}};

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static const Row *row_of(const Row *rows, const char *name) {
  for (; rows->name; rows++)
    if (begins(name, rows->name)) return rows;
  return NULL;
}

/* Is +name (or -name) among the features? */
static bool has_feature(const char *list, char sign, const char *name) {
  size_t n = strlen(name);
  for (const char *p = list; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
    if (p[0] == sign && strncmp(p + 1, name, n) == 0 && (p[n + 1] == ',' || !p[n + 1])) return true;
  return false;
}

static const char *host_features(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return "+avx512f";
  if (__builtin_cpu_supports("avx2")) return "+avx2";
  if (__builtin_cpu_supports("avx")) return "+avx";
#endif
  return "";
}

static const char *host_arch(void) {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#elif defined(__riscv)
  return "riscv64";
#else
  return "";
#endif
}

static int core_count(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int64_t cache_bytes(int name, int64_t otherwise) {
  long n = sysconf(name);
  return n > 0 ? n : otherwise;
}

/* Wider features of the list win over what the processor has by itself; removed ones don't count.
 */
static Row registers_of(const Target *t, bool is_host) {
  const char *triple = target_option(t, "mtriple"), *cpu = target_option(t, "mcpu");
  const char *asked = target_option(t, "mattr"), *own = is_host ? host_features() : "";
  const Row *best = row_of(archs, *triple ? triple : host_arch()), *named = row_of(cpus, cpu);
  Row out = best ? *best : (Row){"", 64, 16};
  if (named) out = *named;
  for (const Row *f = features; f->name; f++) {
    bool has = has_feature(asked, '+', f->name) || has_feature(own, '+', f->name);
    if (has && !has_feature(asked, '-', f->name) && f->bits > out.bits) out = *f;
    bool is_lost = has_feature(asked, '-', f->name) && out.bits >= f->bits && best;
    if (is_lost) out = *best;
  }
  return out;
}

TargetCpu target_cpu(const Target *t) {
  const char *triple = target_option(t, "mtriple");
  bool is_host =
      str_same(target_option(t, "mcpu"), "native") && (!*triple || begins(triple, host_arch()));
  Row row = registers_of(t, is_host);
  int64_t cores = target_option_int(t, "num-cores"), bits = target_option_int(t, "vector-width");
  int64_t registers = target_option_int(t, "num-vector-registers");
  int64_t l1 = target_option_int(t, "l1d-size"), l2 = target_option_int(t, "l2-size");
  return (TargetCpu){.cores = cores ? (int)cores : core_count(),
                     .vector_bits = bits ? (int)bits : row.bits,
                     .vector_registers = registers ? (int)registers : row.registers,
                     .l1d_bytes = l1        ? l1
                                  : is_host ? cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10)
                                            : 32 << 10,
                     .l2_bytes = l2        ? l2
                                 : is_host ? cache_bytes(_SC_LEVEL2_CACHE_SIZE, 512 << 10)
                                           : 512 << 10};
}
