/* llvm_ops.c -- operators, casts and builtins of the llvm back end against C, over all dtypes. */
#include "tests/unit/llvm_test.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 256 /* elements of a run; a multiple of every number of lanes used */

static const DataType int_types[] = {DTYPE_OF(INT, 8),   DTYPE_OF(INT, 16),  DTYPE_OF(INT, 32),
                                     DTYPE_OF(INT, 64),  DTYPE_OF(UINT, 8),  DTYPE_OF(UINT, 16),
                                     DTYPE_OF(UINT, 32), DTYPE_OF(UINT, 64), DTYPE_OF(INT, 4),
                                     DTYPE_OF(UINT, 4)};
static const DataType float_types[] = {DTYPE_OF(FLOAT, 16),      DTYPE_OF(FLOAT, 32),
                                       DTYPE_OF(FLOAT, 64),      DTYPE_OF(BFLOAT, 16),
                                       DTYPE_OF(FLOAT8_E4M3, 8), DTYPE_OF(FLOAT8_E5M2, 8)};

#define END(list) (list + sizeof list / sizeof *list)

static uint64_t random_state = 88172645463325252u;

static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

/* Corners first, then random ones of all sizes. */
static int64_t sample_int(DataType t, int i) {
  int64_t lo = dtype_min_int(t), hi = dtype_max_int(t);
  int64_t corners[] = {0, 1, -1, 2, -2, lo, hi, lo + 1, hi - 1, 7, -7, 3, -3, 64, -64};
  int64_t v = i < 15 ? corners[i] : (int64_t)(random_bits() >> (random_bits() % 64));
  return dtype_wrap_int(t, i % 3 == 1 && i >= 15 ? -v : v);
}

static double sample_float(DataType t, int i) {
  static const double corners[] = {0.0,  -0.0, 1.0,   -1.0,    0.5,        INFINITY, -INFINITY,
                                   NAN,  2.5,  -2.5,  1e-30,   -1e30,      65504,    448,
                                   1e-8, 3.0,  1e300, 0.00195, 0.00001526, 1.5};
  if (i < 20) return dtype_round_float(t, corners[i]);
  double unit = (double)(random_bits() >> 11) / 9007199254740992.0;
  double v = ldexp(unit + 0.5, (int)(random_bits() % 24) - 12);
  return dtype_round_float(t, random_bits() & 1 ? v : -v);
}

static void fill(DataType t, void *at, int rotate) {
  for (int i = 0; i < N; i++) {
    int k = (i / (rotate ? 16 : 1) + i * rotate) % N;
    if (dtype_is_float(t)) put_float(t, at, i, sample_float(t, k));
    else if (dtype_is_bool(t)) put_int(t, at, i, (int64_t)(random_bits() & 1));
    else put_int(t, at, i, sample_int(t, k));
  }
}

/* c[i] = make(a[i], b[i]) for all i, `lanes` at a time. */
typedef Node *Make(Node *a, Node *b, void *context);

typedef struct Run {
  DataType in, in2, out;
  _Alignas(64) char a[N * 8], b[N * 8], c[N * 8];
} Run;

/* What is computed of the inputs of a run; all tasks of a run are compiled together. */
typedef struct Task {
  Make *make;
  void *context;
  DataType out;
} Task;

#define MAX_TASKS 40

typedef struct Tasks {
  Task at[MAX_TASKS];
  int n;
  _Alignas(64) char memory[MAX_TASKS][N * 8];
} Tasks;

static void add_task(Tasks *tasks, Make *make, const void *context, DataType out) {
  tasks->at[tasks->n++] = (Task){make, (void *)(uintptr_t)context, out};
}

static bool run_tasks(Run *r, Tasks *tasks, int lanes) {
  Case c = case_new();
  Node *A = case_buffer(&c, "a", r->in), *B = case_buffer(&c, "b", r->in2);
  Node *i = var_new("i", INT64, NOWHERE);
  Node *at = lanes == 1 ? i : ramp(raw_binary(NK_Mul, i, i64(lanes)), 1, lanes);
  Node *extent = raw_binary(NK_Div, c.n, i64(lanes));
  NodeVec loops = {0};
  void *memory[MAX_TASKS + 2] = {r->a, r->b};
  for (int k = 0; k < tasks->n; k++) {
    Node *C = case_buffer(&c, "c", tasks->at[k].out);
    Node *value = tasks->at[k].make(load_at(A, at), load_at(B, at), tasks->at[k].context);
    vec_push(&loops, loop(LOOP_SERIAL, i, extent, store_at(C, at, value)));
    memory[k + 2] = tasks->memory[k];
  }
  c.body = stmt_seq(loops, NOWHERE);
  return compile_and_run(&c, "", N, memory);
}

/* The results of a task as those of the run. */
static void take_task(Run *r, const Tasks *tasks, int k) {
  r->out = tasks->at[k].out;
  memcpy(r->c, tasks->memory[k], sizeof r->c);
}

static bool run_elementwise(Run *r, Make *make, void *context, int lanes) {
  static Tasks tasks;
  tasks.n = 0;
  add_task(&tasks, make, context, r->out);
  bool good = run_tasks(r, &tasks, lanes);
  take_task(r, &tasks, 0);
  return good;
}

static bool same_float(double a, double b) {
  return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static bool near_float(DataType t, double got, double want, double ulps) {
  if (same_float(got, want) || (got == 0 && want == 0)) return true;
  double digits = t.code == DTYPE_BFLOAT        ? 0x1p-7
                  : t.code == DTYPE_FLOAT8_E4M3 ? 0x1p-3
                  : t.code == DTYPE_FLOAT8_E5M2 ? 0x1p-2
                  : t.bits == 16                ? 0x1p-10
                  : t.bits == 32                ? 0x1p-23
                                                : 0x1p-52;
  double smallest = t.code == DTYPE_FLOAT8_E4M3   ? 0x1p-9
                    : t.code == DTYPE_FLOAT8_E5M2 ? 0x1p-16
                    : t.code == DTYPE_BFLOAT      ? 0x1p-133
                    : t.bits == 16                ? 0x1p-24
                    : t.bits == 32                ? 0x1p-149
                                                  : 0x1p-1074;
  return fabs(got - want) <= ulps * fmax(fabs(want) * digits, smallest);
}

/* ---- binary operators ---- */

static Node *make_binary(Node *a, Node *b, void *kind) {
  return raw_binary((NodeKind)(intptr_t)kind, a, b);
}

static __int128 floor_div(__int128 a, __int128 b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

/* As wide as needed: the value before it wraps. */
static __int128 want_int(NodeKind kind, __int128 a, __int128 b) {
  switch (kind) {
  case NK_Add: return a + b;
  case NK_Sub: return a - b;
  case NK_Mul: return (__int128)((unsigned __int128)a * (unsigned __int128)b);
  case NK_Div: return b ? a / b : 0;
  case NK_Mod: return b ? a % b : 0;
  case NK_FloorDiv: return b ? floor_div(a, b) : 0;
  case NK_FloorMod: return b ? a - floor_div(a, b) * b : 0;
  case NK_Min: return a < b ? a : b;
  case NK_Max: return a > b ? a : b;
  case NK_EQ: return a == b;
  case NK_NE: return a != b;
  case NK_LT: return a < b;
  case NK_LE: return a <= b;
  case NK_GT: return a > b;
  default: return a >= b;
  }
}

static double want_float(NodeKind kind, double a, double b) {
  double r;
  switch (kind) {
  case NK_Add: return a + b;
  case NK_Sub: return a - b;
  case NK_Mul: return a * b;
  case NK_Div: return a / b;
  case NK_Mod: return fmod(a, b);
  case NK_FloorMod: r = fmod(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  case NK_Min: return a < b ? a : b;
  case NK_Max: return a > b ? a : b;
  case NK_EQ: return a == b;
  case NK_NE: return a != b;
  case NK_LT: return a < b;
  case NK_LE: return a <= b;
  case NK_GT: return a > b;
  default: return a >= b;
  }
}

static __int128 as_wide(DataType t, int64_t v) {
  return t.code == DTYPE_UINT && t.bits == 64 ? (__int128)(uint64_t)v : v;
}

static bool check_ints(const Run *r, NodeKind kind) {
  for (int i = 0; i < N; i++) {
    int64_t a = get_int(r->in, r->a, i), b = get_int(r->in, r->b, i),
            got = get_int(r->out, r->c, i);
    int64_t want = (int64_t)want_int(kind, as_wide(r->in, a), as_wide(r->in, b));
    if (!dtype_is_bool(r->out)) want = dtype_wrap_int(r->out, want);
    if (got == want) continue;
    printf("%s of %s: %lld, %lld give %lld, not %lld\n", node_kind_name(kind), dtype_text(r->in),
           (long long)a, (long long)b, (long long)got, (long long)want);
    return false;
  }
  return true;
}

static bool check_floats(const Run *r, NodeKind kind) {
  for (int i = 0; i < N; i++) {
    double a = get_float(r->in, r->a, i), b = get_float(r->in, r->b, i);
    double want = want_float(kind, a, b);
    double got =
        dtype_is_bool(r->out) ? (double)get_int(r->out, r->c, i) : get_float(r->out, r->c, i);
    /* One operation in double rounds twice for float32 and below, to the same result. */
    if (!dtype_is_bool(r->out)) want = dtype_round_float(r->out, want);
    if (same_float(got, want)) continue;
    printf("%s of %s: %g, %g give %g, not %g\n", node_kind_name(kind), dtype_text(r->in), a, b, got,
           want);
    return false;
  }
  return true;
}

/* All operators but those that the mask `skip` names. */
static void test_binary(DataType t, int lanes, unsigned skip) {
  static Run r;
  static Tasks tasks;
  r.in = r.in2 = t;
  fill(t, r.a, 0);
  fill(t, r.b, 1);
  tasks.n = 0;
  for (NodeKind kind = NK_Add; kind <= NK_GE; kind++)
    if (!(skip >> (kind - NK_Add) & 1))
      add_task(&tasks, make_binary, (void *)(intptr_t)kind, kind >= NK_EQ ? BOOL : t);
  CHECK(run_tasks(&r, &tasks, lanes));
  for (int k = 0; k < tasks.n; k++) {
    take_task(&r, &tasks, k);
    NodeKind kind = (NodeKind)(intptr_t)tasks.at[k].context;
    CHECK(dtype_is_float(t) ? check_floats(&r, kind) : check_ints(&r, kind));
  }
}

TEST(llvm_binary_operators_of_integers_agree_with_c) {
  for (const DataType *t = int_types; t < END(int_types); t++) test_binary(*t, 1, 0);
}

TEST(llvm_binary_operators_of_integer_vectors_agree_with_c) {
  test_binary(INT32, 8, 0);
  test_binary(UINT8, 16, 0);
  test_binary(INT64, 4, 0);
}

/* The rounded-down quotient of floats is the floor of the rounded quotient, which C has no word
 * for; in the small ones the remainder is rounded twice here. */
#define SKIP(kind) (1u << (NK_##kind - NK_Add))

TEST(llvm_binary_operators_of_floats_agree_with_c) {
  for (const DataType *t = float_types; t < END(float_types); t++) {
    unsigned skip = SKIP(FloorDiv) | (t->bits < 32 ? SKIP(FloorMod) : 0);
    test_binary(*t, 1, skip);
    test_binary(*t, 8, skip);
  }
}

/* ---- division by what is known ---- */

typedef struct Divisor {
  NodeKind kind;
  int64_t value;
} Divisor;

static Node *make_divide(Node *a, Node *b, void *context) {
  Divisor *d = context;
  (void)b;
  return raw_binary(d->kind, a, int_imm(a->dtype, d->value, NOWHERE));
}

static void test_divisor(int64_t divisor) {
  static Run r;
  static Tasks tasks;
  Divisor d[4];
  r.in = r.in2 = INT32;
  fill(INT32, r.a, 0);
  for (int i = 0; i < N; i++) put_int(INT32, r.b, i, divisor);
  tasks.n = 0;
  for (int k = 0; k < 4; k++) {
    d[k] = (Divisor){(NodeKind)(NK_Div + k), divisor};
    add_task(&tasks, make_divide, &d[k], INT32);
  }
  CHECK(run_tasks(&r, &tasks, 1));
  for (int k = 0; k < 4; k++) {
    take_task(&r, &tasks, k);
    CHECK(check_ints(&r, d[k].kind));
  }
}

TEST(llvm_division_by_constants_agrees_with_c) {
  static const int64_t divisors[] = {1, 2, 3, 4, 5, 7, 8, 64, 100, -1, -2, -3, -8, 0};
  for (int k = 0; k < 14; k++) test_divisor(divisors[k]);
}

/* Divisions of loop variables take the unsigned short cut. */
TEST(llvm_division_of_loop_variables_agrees_with_c) {
  static const int64_t divisors[] = {1, 3, 4, 7};
  for (int k = 0; k < 4; k++) {
    Case c = case_new();
    Node *C = case_buffer(&c, "c", INT32), *i = var_new("i", INT32, NOWHERE);
    Node *shifted = raw_binary(NK_Sub, i, int_imm(INT32, 50, NOWHERE));
    Node *d = int_imm(INT32, divisors[k], NOWHERE);
    Node *q = raw_binary(NK_FloorDiv, shifted, d), *m = raw_binary(NK_FloorMod, i, d);
    Node *value = raw_binary(NK_Add, raw_binary(NK_Mul, q, int_imm(INT32, 10, NOWHERE)), m);
    c.body = loop(LOOP_SERIAL, i, int_imm(INT32, 100, NOWHERE), store_at(C, i, value));
    int32_t out[100];
    void *memory[] = {out};
    CHECK(compile_and_run(&c, "", 100, memory));
    bool good = true;
    for (int x = 0; x < 100; x++)
      good = good && out[x] == (int)floor_div(x - 50, divisors[k]) * 10 + x % divisors[k];
    CHECK(good);
  }
}

/* ---- casts ---- */

static Node *make_cast(Node *a, Node *b, void *to) {
  (void)b;
  DataType t = dtype_with_lanes(*(DataType *)to, a->dtype.lanes);
  return MAKE(Cast, NOWHERE, t, .value = a);
}

static int64_t saturate(DataType t, double v) {
  bool is_unsigned = t.code == DTYPE_UINT;
  double lo = is_unsigned ? 0 : -ldexp(1, t.bits - 1), hi = ldexp(1, t.bits - !is_unsigned);
  if (isnan(v)) return 0;
  if (v <= lo) return is_unsigned ? 0 : t.bits == 64 ? INT64_MIN : (int64_t)lo;
  if (v >= hi) return t.bits == 64 ? (is_unsigned ? -1 : INT64_MAX) : (int64_t)(hi - 1);
  return is_unsigned ? (int64_t)(uint64_t)v : (int64_t)v;
}

static bool check_cast(const Run *r) {
  for (int i = 0; i < N; i++) {
    bool from_float = dtype_is_float(r->in), to_float = dtype_is_float(r->out);
    int64_t n = from_float ? 0 : get_int(r->in, r->a, i);
    bool big = r->in.code == DTYPE_UINT && r->in.bits == 64;
    double x = from_float ? get_float(r->in, r->a, i) : big ? (double)(uint64_t)n : (double)n;
    bool same;
    if (to_float) {
      double want = from_float || r->out.bits < 32 ? dtype_round_float(r->out, x)
                    : r->out.bits == 64            ? x
                    : big                          ? (double)(float)(uint64_t)n
                                                   : (double)(float)n;
      same = same_float(get_float(r->out, r->c, i), want);
    } else {
      int64_t want = dtype_is_bool(r->out) ? (from_float ? x != 0 : n != 0)
                     : from_float          ? saturate(r->out, x)
                                           : dtype_wrap_int(r->out, n);
      same = get_int(r->out, r->c, i) == want;
    }
    if (same) continue;
    printf("cast of %s to %s: element %d, %g (%lld) gives %g (%lld)\n", dtype_text(r->in),
           dtype_text(r->out), i, x, (long long)n, to_float ? get_float(r->out, r->c, i) : 0.0,
           to_float ? 0ll : (long long)get_int(r->out, r->c, i));
    return false;
  }
  return true;
}

static void test_casts(DataType from, int lanes) {
  static Run r;
  static Tasks tasks;
  DataType boolean = BOOL;
  r.in = r.in2 = from;
  fill(from, r.a, 0);
  tasks.n = 0;
  for (const DataType *to = float_types; to < END(float_types); to++)
    add_task(&tasks, make_cast, to, *to);
  for (const DataType *to = int_types; to < END(int_types); to++)
    add_task(&tasks, make_cast, to, *to);
  add_task(&tasks, make_cast, &boolean, BOOL);
  CHECK(run_tasks(&r, &tasks, lanes));
  for (int k = 0; k < tasks.n; k++) {
    take_task(&r, &tasks, k);
    CHECK(check_cast(&r));
  }
}

TEST(llvm_casts_between_all_types_agree_with_c) {
  for (const DataType *t = float_types; t < END(float_types); t++) test_casts(*t, 1);
  for (const DataType *t = int_types; t < END(int_types); t++) test_casts(*t, 1);
  test_casts(BOOL, 1);
}

TEST(llvm_casts_of_vectors_agree_with_c) {
  for (const DataType *t = float_types; t < END(float_types); t++) test_casts(*t, 8);
  test_casts(INT32, 8);
  test_casts(UINT8, 16);
  test_casts(BOOL, 8);
}

/* Every code of the 8- and 16-bit floats, and every rounding to them near a code. */
TEST(llvm_small_floats_convert_exactly) {
  for (const DataType *t = float_types; t < END(float_types); t++) {
    if (t->bits > 16) continue;
    int count = 1 << t->bits;
    Case c = case_new();
    Node *A = case_buffer(&c, "a", *t), *B = case_buffer(&c, "b", FLOAT32);
    Node *X = case_buffer(&c, "x", FLOAT64), *Y = case_buffer(&c, "y", *t);
    Node *i = var_new("i", INT64, NOWHERE);
    Node *widen = MAKE(Cast, NOWHERE, FLOAT32, .value = load_at(A, i));
    Node *narrow = MAKE(Cast, NOWHERE, *t, .value = load_at(X, i));
    c.body = loop(LOOP_SERIAL, i, c.n,
                  stmt_seq(NODES(store_at(B, i, widen), store_at(Y, i, narrow)), NOWHERE));
    char *a = NEW_BYTES(count * 2), *y = NEW_BYTES(count * 2);
    float *b = NEW_ARRAY(float, count);
    double *x = NEW_ARRAY(double, count);
    for (int k = 0; k < count; k++) {
      put_int(DTYPE_OF(UINT, t->bits), a, k, k);
      double v = dtype_float_from_bits(*t, (uint32_t)k);
      double up = dtype_float_from_bits(*t, (uint32_t)(k + 1) % (uint32_t)count);
      x[k] = k % 4 == 0   ? v
             : k % 4 == 1 ? (v + up) / 2
                          : nextafter((v + up) / 2, k % 4 == 2 ? v : up);
    }
    void *memory[] = {a, b, x, y};
    CHECK(compile_and_run(&c, "", count, memory));
    int bad = 0;
    for (int k = 0; k < count; k++) {
      bad += !same_float((double)b[k], dtype_float_from_bits(*t, (uint32_t)k));
      double want = dtype_round_float(*t, x[k]);
      bad += !same_float(get_float(*t, y, k), want);
    }
    if (bad) printf("%s: %d of %d codes differ\n", dtype_text(*t), bad, count);
    CHECK(bad == 0);
  }
}

/* ---- mathematics ---- */

typedef struct MathCase {
  const char *name;
  double (*f)(double);
  double ulps; /* of error allowed in float32 and float64 */
} MathCase;

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double rsqrt(double x) { return 1 / sqrt(x); }

static const MathCase unary[] = {
    {"exp", exp, 2},       {"exp2", exp2, 2},   {"exp10", exp10, 4},     {"log", log, 2},
    {"log2", log2, 2},     {"log10", log10, 3}, {"log1p", log1p, 3},     {"sqrt", sqrt, 0.5},
    {"rsqrt", rsqrt, 1.5}, {"sin", sin, 2},     {"cos", cos, 2},         {"tan", tan, 4},
    {"asin", asin, 4},     {"acos", acos, 4},   {"atan", atan, 4},       {"sinh", sinh, 4},
    {"cosh", cosh, 4},     {"tanh", tanh, 4},   {"asinh", asinh, 4},     {"acosh", acosh, 4},
    {"atanh", atanh, 4},   {"erf", erf, 4},     {"sigmoid", sigmoid, 8}, {"fabs", fabs, 0},
    {"floor", floor, 0},   {"ceil", ceil, 0},   {"trunc", trunc, 0},     {"round", rint, 0},
    {"nearbyint", rint, 0}};

static Node *make_unary(Node *a, Node *b, void *name) {
  (void)b;
  return call(name, a->dtype, NODES(a));
}

static bool check_unary(const Run *r, const MathCase *f) {
  for (int i = 0; i < N; i++) {
    double x = get_float(r->in, r->a, i), got = get_float(r->out, r->c, i);
    double want = dtype_round_float(r->out, f->f(x));
    /* exp(-x) may overflow where its reciprocal does not. */
    if (str_same(f->name, "sigmoid") && fabs(want) < 1e-37 && got == 0) continue;
    /* float32 accuracy before rounding: a small float is off by one at most. */
    if (near_float(r->out, got, want, f->ulps ? fmax(f->ulps, r->out.bits < 32) : 0)) continue;
    printf("%s of %s: %g gives %g, not %g\n", f->name, dtype_text(r->in), x, got, want);
    return false;
  }
  return true;
}

static void test_unary(DataType t, int lanes) {
  static Run r;
  static Tasks tasks;
  r.in = r.in2 = t;
  fill(t, r.a, 0);
  tasks.n = 0;
  for (const MathCase *f = unary; f < END(unary); f++) add_task(&tasks, make_unary, f->name, t);
  CHECK(run_tasks(&r, &tasks, lanes));
  for (int k = 0; k < tasks.n; k++) {
    take_task(&r, &tasks, k);
    CHECK(check_unary(&r, &unary[k]));
  }
}

TEST(llvm_functions_of_one_float_agree_with_libm) {
  for (const DataType *t = float_types; t < END(float_types); t++) test_unary(*t, 1);
  test_unary(FLOAT32, 8);
  test_unary(FLOAT64, 4);
}

typedef struct MathPair {
  const char *name;
  double (*f)(double, double);
  double ulps;
} MathPair;

static const MathPair binary[] = {{"atan2", atan2, 4},
                                  {"hypot", hypot, 2},
                                  {"copysign", copysign, 0},
                                  {"pow", pow, 4},
                                  {"fmod", fmod, 0}};

static Node *make_pair(Node *a, Node *b, void *name) { return call(name, a->dtype, NODES(a, b)); }

static bool check_pair(const Run *r, const MathPair *f) {
  for (int i = 0; i < N; i++) {
    double x = get_float(r->in, r->a, i), y = get_float(r->in, r->b, i);
    double got = get_float(r->out, r->c, i), want = dtype_round_float(r->out, f->f(x, y));
    if (near_float(r->out, got, want, f->ulps ? fmax(f->ulps, r->out.bits < 32) : 0)) continue;
    printf("%s of %s: %g, %g give %g, not %g\n", f->name, dtype_text(r->in), x, y, got, want);
    return false;
  }
  return true;
}

static void test_pairs(DataType t, int lanes) {
  static Run r;
  static Tasks tasks;
  r.in = r.in2 = t;
  fill(t, r.a, 0);
  fill(t, r.b, 1);
  tasks.n = 0;
  for (const MathPair *f = binary; f < END(binary); f++) add_task(&tasks, make_pair, f->name, t);
  CHECK(run_tasks(&r, &tasks, lanes));
  for (int k = 0; k < tasks.n; k++) {
    take_task(&r, &tasks, k);
    CHECK(check_pair(&r, &binary[k]));
  }
}

TEST(llvm_functions_of_two_floats_agree_with_libm) {
  for (const DataType *t = float_types; t < END(float_types); t++) {
    test_pairs(*t, 1);
    test_pairs(*t, 4);
  }
}

TEST(llvm_nextafter_steps_to_the_neighbour) {
  static Run r;
  for (const DataType *t = float_types; t < END(float_types); t++) {
    r.in = r.in2 = r.out = *t;
    fill(*t, r.a, 0);
    fill(*t, r.b, 1);
    CHECK(run_elementwise(&r, make_pair, (void *)(uintptr_t) "nextafter", 1));
    int bad = 0;
    for (int i = 0; i < N; i++) {
      double x = get_float(*t, r.a, i), y = get_float(*t, r.b, i), got = get_float(*t, r.c, i);
      double want = t->bits == 64   ? nextafter(x, y)
                    : t->bits == 32 ? (double)nextafterf((float)x, (float)y)
                    : x == y        ? y
                                    : got;
      bool moves = isnan(x) || isnan(y) ? isnan(got) : x == y || (x < y ? got > x : got < x);
      /* From the largest finite e4m3 number the next one is NaN: that format has no infinity. */
      bool off_the_end = t->code == DTYPE_FLOAT8_E4M3 && fabs(x) == 448;
      bad += (!same_float(got, want) || !moves) && !off_the_end;
    }
    CHECK(bad == 0);
  }
}

/* ---- tests of floats, bits ---- */

static Node *make_test(Node *a, Node *b, void *name) {
  (void)b;
  return call(name, BOOL, NODES(a));
}

TEST(llvm_float_tests_agree_with_c) {
  static Run r;
  static Tasks tasks;
  for (const DataType *t = float_types; t < END(float_types); t++) {
    r.in = r.in2 = *t;
    fill(*t, r.a, 0);
    tasks.n = 0;
    add_task(&tasks, make_test, "isnan", BOOL);
    add_task(&tasks, make_test, "isinf", BOOL);
    add_task(&tasks, make_test, "isfinite", BOOL);
    CHECK(run_tasks(&r, &tasks, 1));
    bool good = true;
    for (int i = 0; i < N; i++) {
      double x = get_float(*t, r.a, i);
      good = good && get_int(BOOL, tasks.memory[0], i) == !!isnan(x);
      good = good && get_int(BOOL, tasks.memory[1], i) == !!isinf(x);
      good = good && get_int(BOOL, tasks.memory[2], i) == !!isfinite(x);
    }
    CHECK(good);
  }
}

static int64_t want_bits(const char *name, DataType t, int64_t a, int64_t b) {
  uint64_t mask = t.bits == 64 ? UINT64_MAX : (1ull << t.bits) - 1, ua = (uint64_t)a & mask;
  int count = (int)((uint64_t)b & (uint64_t)(t.bits - 1));
  if (str_same(name, "shift_left")) return (int64_t)(ua << count);
  if (str_same(name, "shift_right"))
    return t.code == DTYPE_INT ? a >> count : (int64_t)(ua >> count);
  if (str_same(name, "bitwise_and")) return a & b;
  if (str_same(name, "bitwise_or")) return a | b;
  if (str_same(name, "bitwise_xor")) return a ^ b;
  if (str_same(name, "bitwise_not")) return ~a;
  if (str_same(name, "popcount")) return __builtin_popcountll(ua);
  return ua ? __builtin_clzll(ua) - (64 - t.bits) : t.bits;
}

static Node *make_bits(Node *a, Node *b, void *name) {
  const Intrin *intrin = intrin_find(name);
  return call(name, a->dtype, intrin->args == 2 ? NODES(a, b) : NODES(a));
}

static const char *const bit_functions[] = {"shift_left", "shift_right", "bitwise_and",
                                            "bitwise_or", "bitwise_xor", "bitwise_not",
                                            "popcount",   "clz"};

static void test_bits(DataType t) {
  static Run r;
  static Tasks tasks;
  r.in = r.in2 = t;
  fill(t, r.a, 0);
  fill(t, r.b, 1);
  tasks.n = 0;
  for (int k = 0; k < 8; k++) add_task(&tasks, make_bits, bit_functions[k], k == 7 ? INT32 : t);
  CHECK(run_tasks(&r, &tasks, 1));
  for (int k = 0; k < 8; k++) {
    int bad = 0;
    take_task(&r, &tasks, k);
    for (int i = 0; i < N; i++) {
      int64_t a = get_int(t, r.a, i), b = get_int(t, r.b, i);
      int64_t want = want_bits(bit_functions[k], t, a, b);
      bad += get_int(r.out, r.c, i) != dtype_wrap_int(r.out, want);
    }
    if (bad) printf("%s of %s: %d differ\n", bit_functions[k], dtype_text(t), bad);
    CHECK(bad == 0);
  }
}

TEST(llvm_bit_functions_agree_with_c) {
  for (const DataType *t = int_types; t < END(int_types); t++) test_bits(*t);
}

static Node *make_fixed_point(Node *a, Node *b, void *shift) {
  Node *s = int_imm(INT32, *(int *)shift, NOWHERE), *q = int_imm(INT32, 31, NOWHERE);
  return call("q_multiply_shift", INT32, NODES(a, b, q, s));
}

TEST(llvm_fixed_point_product_rounds) {
  static Run r;
  for (int shift = -8; shift <= 2; shift += 5) {
    r.in = r.in2 = r.out = INT32;
    fill(INT32, r.a, 0);
    fill(INT32, r.b, 1);
    CHECK(run_elementwise(&r, make_fixed_point, &shift, 1));
    int bad = 0;
    for (int i = 0; i < N; i++) {
      int64_t left = shift > 0 ? shift : 0, right = 31 + (shift < 0 ? -shift : 0);
      uint64_t a = (uint64_t)get_int(INT32, r.a, i) << left, b = (uint64_t)get_int(INT32, r.b, i);
      int64_t sum = (int64_t)(a * b + (1ull << (right - 1)));
      bad += get_int(INT32, r.c, i) != (int32_t)(sum >> right);
    }
    CHECK(bad == 0);
  }
}

static Node *make_mixed(Node *a, Node *b, void *unused) {
  (void)unused;
  Node *bits = call("reinterpret", INT32, NODES(a)), *ldexp = NULL;
  Node *back = call("reinterpret", FLOAT32, NODES(bits));
  ldexp = call("ldexp", FLOAT32, NODES(back, int_imm(INT32, 3, NOWHERE)));
  Node *fma = call("fma", FLOAT32, NODES(a, b, ldexp));
  Node *cond = call("likely", BOOL, NODES(raw_binary(NK_LT, a, b)));
  return MAKE(Select, NOWHERE, FLOAT32, .cond = cond, .then = fma, .orelse = a);
}

TEST(llvm_reinterpret_ldexp_fma_likely_select) {
  static Run r;
  r.in = r.in2 = r.out = FLOAT32;
  fill(FLOAT32, r.a, 0);
  fill(FLOAT32, r.b, 1);
  CHECK(run_elementwise(&r, make_mixed, NULL, 1));
  bool good = true;
  for (int i = 0; i < N; i++) {
    float a = ((float *)(void *)r.a)[i], b = ((float *)(void *)r.b)[i];
    float want = a < b ? fmaf(a, b, ldexpf(a, 3)) : a;
    good = good && same_float((double)((float *)(void *)r.c)[i], (double)want);
  }
  CHECK(good);
}
