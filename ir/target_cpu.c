/* target_cpu.c -- the numbers and features of a processor that schedules go by: given as options of
 * the target, or this machine's, or those of the processor that is named. */
#include "ir/target.h"
#include <sched.h>
#include <string.h>
#include <unistd.h>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#define ARM(bit) ((getauxval(AT_HWCAP) & (bit)) != 0)
#else
#define ARM(bit) false
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#define X86(name) (__builtin_cpu_supports(name) != 0)
#else
#define X86(name) false
#endif

typedef struct Feature {
  const char *name;
  int bits, registers;
  const char *implied; /* other features, separated by commas */
} Feature;
typedef struct Cpu {
  const char *prefix, *features;
} Cpu;
typedef struct Arch {
  const char *prefix;
  int bits, registers, cores;
} Arch;

static const Feature features[] = {
#define FEATURE(name, bits, registers, implied, host) {name, bits, registers, implied},
#define CPU(prefix, features)
#define ARCH(prefix, bits, registers, cores)
#include "ir/target_cpu.def"
};
static const Cpu cpus[] = {
#define FEATURE(name, bits, registers, implied, host)
#define CPU(prefix, features) {prefix, features},
#define ARCH(prefix, bits, registers, cores)
#include "ir/target_cpu.def"
};
static const Arch archs[] = {
#define FEATURE(name, bits, registers, implied, host)
#define CPU(prefix, features)
#define ARCH(prefix, bits, registers, cores) {prefix, bits, registers, cores},
#include "ir/target_cpu.def"
};

#define LENGTH(a) ((int)(sizeof(a) / sizeof *(a)))

/* ---- sets of features: bits, by their rows ---- */

typedef uint32_t FeatureSet;

static FeatureSet set_of(const char *list);

static FeatureSet implied_by(int row) {
  return (FeatureSet)1 << row | set_of(features[row].implied);
}

/* A feature with those that it implies; empty if schedules don't ask for it. */
static FeatureSet set_of_name(const char *name, size_t n) {
  for (int i = 0; i < LENGTH(features); i++)
    if (strlen(features[i].name) == n && strncmp(features[i].name, name, n) == 0)
      return implied_by(i);
  return 0;
}

static FeatureSet set_of(const char *list) {
  FeatureSet set = 0;
  for (const char *end; *list; list = *end ? end + 1 : end) {
    end = strchrnul(list, ',');
    set |= set_of_name(list, (size_t)(end - list));
  }
  return set;
}

/* What is left without a feature: those that imply it go too. */
static FeatureSet without(FeatureSet set, const char *name, size_t n) {
  for (int i = 0; i < LENGTH(features); i++) {
    FeatureSet lost = set_of_name(name, n), all = implied_by(i);
    if (lost && (all & lost) == lost) set &= ~((FeatureSet)1 << i);
  }
  return set;
}

/* Read from CPUID leaf 7, subleaf 1: older compilers don't know the feature by name. */
static bool host_has_avxvnni(void) {
#if defined(__x86_64__)
  unsigned a, b, c, d;
  return X86("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 4);
#else
  return false;
#endif
}

static FeatureSet host_features(void) {
  FeatureSet set = 0;
  int row = 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
#endif
#define FEATURE(name, bits, registers, implied, host) set |= (FeatureSet)(host) << row++;
#define CPU(prefix, features)
#define ARCH(prefix, bits, registers, cores)
#include "ir/target_cpu.def"
  return set;
}

/* ---- of a target ---- */

/* Other kinds than llvm run on this machine. */
static const Target *compiled_for(const Target *t) {
  return str_same(t->kind, "llvm") ? t : target_parse("llvm", (Span){0});
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

static bool is_host(const Target *t) {
  const char *triple = target_option(t, "mtriple");
  return str_same(target_option(t, "mcpu"), "native") &&
         (!*triple || str_begins(triple, host_arch()));
}

/* Those of the processor, with what -mattr=+a,-b adds and takes away. */
static FeatureSet features_of(const Target *t) {
  FeatureSet set = 0;
  const char *cpu = target_option(t, "mcpu"), *end;
  if (is_host(t)) set = host_features();
  else
    for (int i = 0; !set && i < LENGTH(cpus); i++)
      if (str_begins(cpu, cpus[i].prefix)) set = set_of(cpus[i].features);
  for (const char *p = target_option(t, "mattr"); *p; p = *end ? end + 1 : end) {
    end = strchrnul(p, ',');
    if (*p == '-') set = without(set, p + 1, (size_t)(end - p - 1));
    else set |= set_of_name(p + (*p == '+'), (size_t)(end - p - (*p == '+')));
  }
  return set;
}

/* The widest registers that the architecture or a feature brings. */
static Arch registers_of(const Target *t) {
  const char *triple = target_option(t, "mtriple");
  Arch out = {"", 64, 16, 0};
  for (int i = 0; i < LENGTH(archs); i++)
    if (str_begins(*triple ? triple : host_arch(), archs[i].prefix)) out = archs[i];
  FeatureSet set = features_of(t);
  for (int i = 0; i < LENGTH(features); i++)
    if (set >> i & 1 && features[i].bits > out.bits)
      out.bits = features[i].bits, out.registers = features[i].registers;
  return out;
}

static int core_count(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* What the option says, or this machine, or `otherwise`. */
static int64_t cache_bytes(const Target *t, const char *option, int name, int64_t otherwise) {
  int64_t told = target_option_int(t, option);
  long n = told || !is_host(t) ? 0 : sysconf(name);
  return told ? told : n > 0 ? n : otherwise;
}

TargetCpu target_cpu(const Target *t) {
  t = compiled_for(t);
  Arch a = registers_of(t);
  int64_t cores = target_option_int(t, "num-cores"), bits = target_option_int(t, "vector-width");
  int64_t registers = target_option_int(t, "num-vector-registers");
  int64_t l2 = cache_bytes(t, "l2-size", _SC_LEVEL2_CACHE_SIZE, 512 << 10);
  /* Cores share the third cache, also with those of other systems on the machine. */
  int64_t most = 16 * l2, l3 = cache_bytes(t, "l3-size", _SC_LEVEL3_CACHE_SIZE, most);
  if (!cores) cores = a.cores ? a.cores : core_count();
  return (TargetCpu){.cores = (int)cores,
                     .vector_bits = bits ? (int)bits : a.bits,
                     .vector_registers = registers ? (int)registers : a.registers,
                     .l1d_bytes = cache_bytes(t, "l1d-size", _SC_LEVEL1_DCACHE_SIZE, 32 << 10),
                     .l2_bytes = l2,
                     .l3_bytes = target_option_int(t, "l3-size") || l3 < most ? l3 : most};
}

bool target_has(const Target *t, const char *feature, Span span) {
  FeatureSet wanted = set_of_name(feature, strlen(feature));
  if (wanted) return (features_of(compiled_for(t)) & wanted) == wanted;
  StrVec known = {0};
  for (int i = 0; i < LENGTH(features); i++) vec_push(&known, features[i].name);
  const char *near = str_near(feature, known.at, known.len);
  error_raisef("ValueError", span, "no schedule asks for a feature '%s' of processors%s", feature,
               near ? str_format("; did you mean '%s'?", near) : "");
}
