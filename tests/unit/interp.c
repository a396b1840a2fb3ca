/* interp.c -- the reference interpreter: 64-bit arithmetic, predicates, lifetimes, the table of
 * back ends. What the language can say is tested in tests/interp/. */
#include "target/target.h"
#include "tests/unit/llvm_test.h"
#include <pthread.h>

static TvmsModule *interpret(Node *module) {
  return backend_interp.load(module, target_parse("interp", NOWHERE));
}

/* The case's kernel and its `run`, interpreted. */
static bool run_interpreted(const Case *c, int64_t n, void **memory) {
  TvmsModule *m = interpret(case_module(c));
  int status = run_case(m, c, n, memory);
  tvms_release(m);
  return status == 0;
}

TEST(interp_is_a_back_end_beside_llvm) {
  int n;
  const Backend *const *list = backend_list(&n);
  CHECK(n > 2 && list[0] == &backend_llvm && list[1] == &backend_c &&
        list[n - 1] == &backend_interp);
  CHECK(backend_find("interp") == &backend_interp);
  CHECK(backend_find("llvm") == &backend_llvm);
  CHECK(!backend_find("z80"));
  CHECK(backend_interp.takes_any_stage && !backend_interp.emit);
}

/* ---- 64-bit integers, against wider arithmetic ---- */

static int64_t floor_div_wide(__int128 a, __int128 b) {
  __int128 q = a / b;
  return (int64_t)(q - (a % b != 0 && (a < 0) != (b < 0)));
}

static int64_t expected(NodeKind kind, bool is_signed, int64_t x, int64_t y) {
  __int128 a = is_signed ? (__int128)x : (__int128)(uint64_t)x;
  __int128 b = is_signed ? (__int128)y : (__int128)(uint64_t)y;
  switch (kind) {
  case NK_Add: return (int64_t)((uint64_t)x + (uint64_t)y);
  case NK_Sub: return (int64_t)((uint64_t)x - (uint64_t)y);
  case NK_Mul: return (int64_t)((uint64_t)x * (uint64_t)y);
  case NK_Div: return (int64_t)(a / b);
  case NK_Mod: return (int64_t)(a % b);
  case NK_FloorDiv: return floor_div_wide(a, b);
  case NK_FloorMod: return (int64_t)(a - (__int128)floor_div_wide(a, b) * b);
  case NK_Min: return a < b ? x : y;
  default: return a > b ? x : y;
  }
}

enum { VALUES = 11 };
static const int64_t values[VALUES] = {INT64_MIN, INT64_MIN + 1, INT64_MAX, -1, 1, 2, -2, 7,
                                       -7,        1ll << 40,     0};

static bool matches(NodeKind kind, DataType t) {
  bool divides = kind == NK_Div || kind == NK_Mod || kind == NK_FloorDiv || kind == NK_FloorMod;
  int64_t a[VALUES * VALUES], b[VALUES * VALUES], out[VALUES * VALUES];
  int n = 0;
  for (int i = 0; i < VALUES; i++)
    for (int j = 0; j < VALUES - divides; j++) a[n] = values[i], b[n++] = values[j];
  Case c = case_new();
  Node *A = case_buffer(&c, "A", t), *B = case_buffer(&c, "B", t), *C = case_buffer(&c, "C", t);
  Node *i = var_new("i", INT64, NOWHERE);
  c.body =
      loop(LOOP_SERIAL, i, c.n, store_at(C, i, raw_binary(kind, load_at(A, i), load_at(B, i))));
  void *memory[] = {a, b, out};
  if (!run_interpreted(&c, n, memory)) return false;
  for (int k = 0; k < n; k++)
    if (out[k] != expected(kind, t.code == DTYPE_INT, a[k], b[k])) return false;
  return true;
}

TEST(interp_wraps_and_divides_64_bit_integers) {
  for (NodeKind kind = NK_Add; kind <= NK_Max; kind++) {
    CHECK(matches(kind, INT64));
    CHECK(matches(kind, DTYPE_OF(UINT, 64)));
  }
}

TEST(interp_compares_unsigned_words_as_unsigned) {
  uint64_t a[] = {0, UINT64_MAX, 1ull << 63}, b[] = {UINT64_MAX, 0, 1};
  unsigned char out[3];
  Case c = case_new();
  DataType t = DTYPE_OF(UINT, 64);
  Node *A = case_buffer(&c, "A", t), *B = case_buffer(&c, "B", t), *C = case_buffer(&c, "C", BOOL);
  Node *i = var_new("i", INT64, NOWHERE);
  c.body =
      loop(LOOP_SERIAL, i, c.n, store_at(C, i, raw_binary(NK_LT, load_at(A, i), load_at(B, i))));
  void *memory[] = {a, b, out};
  CHECK(run_interpreted(&c, 3, memory));
  CHECK(out[0] == 1 && out[1] == 0 && out[2] == 0);
}

TEST(interp_converts_unsigned_words_and_floats) {
  uint64_t a[] = {UINT64_MAX, 0, (1ull << 63) + 1025};
  double out[3];
  uint64_t back[3];
  Case c = case_new();
  DataType t = DTYPE_OF(UINT, 64);
  Node *A = case_buffer(&c, "A", t), *B = case_buffer(&c, "B", FLOAT64),
       *C = case_buffer(&c, "C", t);
  Node *i = var_new("i", INT64, NOWHERE);
  Node *to = MAKE(Cast, NOWHERE, FLOAT64, .value = load_at(A, i));
  Node *from = MAKE(Cast, NOWHERE, t, .value = load_at(B, i));
  c.body =
      loop(LOOP_SERIAL, i, c.n, stmt_seq(NODES(store_at(B, i, to), store_at(C, i, from)), NOWHERE));
  void *memory[] = {a, out, back};
  CHECK(run_interpreted(&c, 3, memory));
  CHECK(out[0] == 0x1p64 && out[1] == 0 && out[2] == (double)a[2]);
  CHECK(back[0] == UINT64_MAX && back[1] == 0 && back[2] == (uint64_t)out[2]);
}

/* ---- predicates ---- */

static Node *below(Node *base, int64_t limit, int lanes) {
  Node *bound =
      MAKE(Broadcast, NOWHERE, dtype_with_lanes(INT64, lanes), .value = i64(limit), .lanes = lanes);
  return raw_binary(NK_LT, ramp(base, 1, lanes), bound);
}

TEST(interp_leaves_masked_lanes_alone) {
  float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {-1, -1, -1, -1, -1, -1};
  Case c = case_new();
  Node *A = case_buffer(&c, "A", FLOAT32), *B = case_buffer(&c, "B", FLOAT32);
  Node *load = load_vector(A, i64(0), 8), *store = store_at(B, ramp(i64(0), 1, 8), load);
  AS(BufferLoad, load)->predicate = below(i64(0), 4, 8); /* lanes 6 and 7 do not exist */
  AS(BufferStore, store)->predicate = below(i64(0), 5, 8);
  c.body = store;
  void *memory[] = {a, b};
  CHECK(run_interpreted(&c, 6, memory));
  CHECK(b[0] == 1 && b[3] == 4 && b[4] == 0 && b[5] == -1);
  AS(BufferStore, store)->predicate = below(i64(0), 7, 8);
  CHECK(!run_interpreted(&c, 6, memory));
  CHECK(str_same(tvms_last_error(),
                 "store of 'B' is out of bounds: index 6 of dimension 0, whose extent is 6"));
}

TEST(interp_reads_and_writes_vector_elements) {
  int32_t a[8] = {0, 1, 2, 3, 4, 5, 6, 7}, b[8] = {0};
  Case c = case_new();
  DataType t = dtype_with_lanes(INT32, 4);
  Node *A = case_buffer(&c, "A", t), *B = case_buffer(&c, "B", t);
  c.body = stmt_seq(
      NODES(store_at(B, i64(1), load_at(A, i64(0))), store_at(B, i64(0), load_at(A, i64(1)))),
      NOWHERE);
  void *memory[] = {a, b};
  CHECK(run_interpreted(&c, 2, memory));
  for (int i = 0; i < 8; i++) CHECK(b[i] == (i + 4) % 8);
}

/* ---- lifetimes ---- */

static Node *adder(void) {
  Case c = case_new();
  Node *A = case_buffer(&c, "A", FLOAT32), *i = var_new("i", INT64, NOWHERE);
  Node *sum = raw_binary(NK_Add, load_at(A, i), float_imm(FLOAT32, 1, NOWHERE));
  c.body = loop(LOOP_SERIAL, i, c.n, store_at(A, i, sum));
  return case_module(&c);
}

static int call_adder(TvmsFunc *f, float *at, int64_t n) {
  DLTensor t = {
      .data = at, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = &n};
  TvmsValue args[] = {{.p = &t}, {.i = n}}, ret;
  int types[] = {TVMS_DLTENSOR, TVMS_INT}, ret_type;
  return tvms_func_call(f, args, types, 2, &ret, &ret_type);
}

TEST(interp_functions_keep_their_module) {
  float a[3] = {1, 2, 3};
  TvmsModule *m = interpret(adder());
  TvmsFunc *f = NULL;
  CHECK(!tvms_module_function(&f, m, "run"));
  tvms_release(m);
  for (int i = 0; i < 200; i++) (void)NEW_ARRAY(char, 1 << 16); /* let the collector work */
  CHECK(f && call_adder(f, a, 3) == 0);
  CHECK(a[0] == 2 && a[2] == 4);
  tvms_release(f);
}

typedef struct ThreadCall {
  TvmsFunc *f;
  float a[64];
  int status;
} ThreadCall;

static void *call_in_thread(void *context) {
  ThreadCall *c = context;
  for (int i = 0; i < 50 && !c->status; i++) c->status = call_adder(c->f, c->a, 64);
  return NULL;
}

TEST(interp_runs_in_several_threads) {
  enum { THREADS = 4 };
  TvmsModule *m = interpret(adder());
  TvmsFunc *f = NULL;
  pthread_t threads[THREADS];
  static ThreadCall calls[THREADS];
  CHECK(!tvms_module_function(&f, m, "run"));
  calls[0].f = f;
  calls[0].status = call_adder(f, calls[0].a, 64); /* compiled once, by this thread */
  for (int i = 0; i < THREADS; i++) {
    calls[i].f = f;
    pthread_create(&threads[i], NULL, call_in_thread, &calls[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    CHECK(calls[i].status == 0 && calls[i].a[63] == 50 + !i);
  }
  tvms_release(f);
  tvms_release(m);
}
