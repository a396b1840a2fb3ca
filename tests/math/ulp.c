/* ulp.c -- the error of compiled functions of float32, in units in the last place, against double.
 *   ulp LIBRARY.so STEP [FUNCTION]   edge cases, and every STEP-th float32; pairs of two arguments
 * as often ulp --list                       the functions: name:arguments Prints the greatest error
 * of each and where it is. Status 1 if one is too large. A result that is not finite, or a NaN,
 * must be one where the correctly rounded one is, but for neighbours of infinity. */
#include "tvms.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 16 };

typedef struct Function {
  const char *name;
  int args;
  double (*exact)(double x, double y);
  double allowed;
} Function;

#define ONE(name, value, allowed)                                                                  \
  static double exact_##name(double x, double y) { return (void)y, (value); }
#define TWO(name, value, allowed)                                                                  \
  static double exact_##name(double x, double y) { return (value); }
#include "ulp.def"
static const Function functions[] = {
#define ONE(name, value, allowed) {#name, 1, exact_##name, allowed},
#define TWO(name, value, allowed) {#name, 2, exact_##name, allowed},
#include "ulp.def"
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

typedef struct Worst {
  double error;
  float x, y, got;
  double want;
} Worst;

/* The step of float32 at an exact result, that of the last finite number beyond it. */
static double step_at(double want) {
  uint64_t bits;
  memcpy(&bits, &want, sizeof bits);
  int64_t exponent = (int64_t)(bits >> 52 & 0x7ff) - 1023;
  exponent = exponent < -126 ? -126 : exponent > 127 ? 127 : exponent;
  bits = (uint64_t)(exponent - 23 + 1023) << 52;
  memcpy(&want, &bits, sizeof bits);
  return want;
}

static double within(double x, double limit) { return x > limit ? limit : x < -limit ? -limit : x; }

/* The distance in steps; infinity stands one step behind the last number. */
static double error_of(float got, double want) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
  if (got == 0 && !signbit(got) != !signbit(want)) return INFINITY; /* the wrong zero */
  return fabs(within(got, 0x1p128) - within(want, 0x1p128)) / step_at(want);
}

static TvmsTensor *vector(void) {
  TvmsTensor *t = NULL;
  if (tvms_tensor_new(&t, 1, (int64_t[]){N}, (DLDataType){kDLFloat, 32, 1})) exit(2);
  return t;
}

/* NaNs are quiet ones: whether pow(NaN, 0) is 1 depends on that. */
static float from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return isnan(x) ? NAN : x;
}

/* The second argument of a pair: any float, a small integer or half, or one of the size of 1. */
static uint64_t state = 1;
static uint32_t random_bits(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 32);
}
static float second(void) {
  switch (random_bits() % 4) {
  case 0: return from_bits(random_bits());
  case 1: return (float)((int)(random_bits() % 65) - 32) / 2;
  case 2: return ldexpf((float)random_bits(), -32 + (int)(random_bits() % 9) - 2);
  default: return -ldexpf((float)random_bits(), -32 + (int)(random_bits() % 9) - 2);
  }
}

static void compare(const Function *f, TvmsTensor **t, int n, Worst *worst) {
  const float *x = tvms_tensor_data(t[0]), *y = tvms_tensor_data(t[1]),
              *out = tvms_tensor_data(t[2]);
  for (int i = 0; i < n; i++) {
    double want = f->exact(x[i], y[i]), error = error_of(out[i], want);
    if (error > worst->error) *worst = (Worst){error, x[i], y[i], out[i], want};
  }
}

_Noreturn static void fail(const char *what) {
  fprintf(stderr, "ulp: %s: %s\n", what, tvms_last_error());
  exit(2);
}

static void call(TvmsFunc *compiled, const Function *f, TvmsTensor **t) {
  TvmsValue args[3], result;
  int types[] = {TVMS_TENSOR, TVMS_TENSOR, TVMS_TENSOR}, type;
  for (int i = 0; i < f->args; i++) args[i].p = t[i];
  args[f->args].p = t[2];
  if (tvms_func_call(compiled, args, types, f->args + 1, &result, &type)) fail(f->name);
}

/* Every pair of these comes first: where functions have cases of their own. */
static const float edges[] = {0,
                              1,
                              0.5f,
                              2,
                              3,
                              7,
                              1.5f,
                              0x1p-149f,
                              0x1p-126f,
                              0x1p23f,
                              0x1p24f,
                              0x1p25f,
                              8388609,
                              0.33333334f,
                              0.7853982f,
                              1.5707964f,
                              3.1415927f,
                              88.72284f,
                              88.8f,
                              104,
                              0x1.fffffep127f,
                              0x1.fffffep-1f,
                              0x1.000002p0f,
                              INFINITY,
                              NAN};
enum { EDGES = 2 * (sizeof edges / sizeof *edges) };

static float edge(int i) { return i % 2 ? -edges[i / 2] : edges[i / 2]; }

static int fill_edges(float *x, float *y) {
  for (int i = 0; i < EDGES * EDGES; i++) x[i] = edge(i / EDGES), y[i] = edge(i % EDGES);
  return EDGES * EDGES;
}

static Worst measure(TvmsModule *m, const Function *f, uint64_t step) {
  char name[40];
  TvmsFunc *compiled;
  TvmsTensor *t[] = {vector(), vector(), vector()};
  Worst worst = {0};
  snprintf(name, sizeof name, "test_%s", f->name);
  if (tvms_module_function(&compiled, m, name)) fail(name);
  float *x = tvms_tensor_data(t[0]), *y = tvms_tensor_data(t[1]);
  int n = fill_edges(x, y);
  call(compiled, f, t);
  compare(f, t, n, &worst);
  for (uint64_t bits = 0; bits < (uint64_t)1 << 32;) {
    n = 0;
    for (; n < N && bits < (uint64_t)1 << 32; n++, bits += step) {
      x[n] = from_bits((uint32_t)bits);
      y[n] = f->args > 1 ? second() : 0;
    }
    call(compiled, f, t);
    compare(f, t, n, &worst);
  }
  tvms_release(compiled);
  for (int i = 0; i < 3; i++) tvms_release(t[i]);
  return worst;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (int i = 0; i < FUNCTIONS; i++) printf("%s:%d\n", functions[i].name, functions[i].args);
    return 0;
  }
  if (argc < 3) return fprintf(stderr, "usage: ulp LIBRARY.so STEP [FUNCTION]\n"), 2;
  TvmsModule *m = NULL;
  if (tvms_module_load(&m, argv[1])) fail(argv[1]);
  uint64_t step = strtoull(argv[2], NULL, 10);
  int passed = 0, failed = 0;
  for (int i = 0; i < FUNCTIONS && step; i++) {
    const Function *f = &functions[i];
    if (argc > 3 && strcmp(argv[3], f->name) != 0) continue;
    Worst w = measure(m, f, step);
    bool good = w.error <= f->allowed;
    printf("%-4s  %-8s %6.3f ulp at %.9g", good ? "ok" : "FAIL", f->name, w.error, (double)w.x);
    if (f->args > 1) printf(", %.9g", (double)w.y);
    printf(": %.9g, exactly %.12g\n", (double)w.got, w.want);
    fflush(stdout);
    good ? passed++ : failed++;
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
